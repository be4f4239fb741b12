// Machine code for x86-64: what computes, and items of arrays. The rest is
// emit.c's.
//
//     rbx  the frame's slots     rbp  the VM       r14  the call record
//     r15d the fuel              rax, rcx, rdx, xmm0, xmm1  free
#include "vm/native/jit_internal.h"

#if TL_JIT_X64

#include "vm/engine/elementwise.h"
#include "vm/native/emit.h"

// Like put, of what was computed in 64 bits. Sums, products and bits have the
// same lowest bits whatever stands above, so one cut at the end is enough.
static void put_cut(emitter *e, const tl_typed *t, int from) {
  cut(e, tl_jit_dtype(t->type), from, from);
  put(e, t->a, from);
}

// --- Comparisons ------------------------------------------------------------

// Whether the constant c fits the 32 bits that instructions have for one.
static bool has_short_constant(const tl_typed *t) {
  return t->c < 0 && t->imm == (int32_t)t->imm;
}

// Whether an operand is a uint64: then the other is not below 0 either, and
// they compare without a sign.
static bool is_unsigned(const tl_typed *t) {
  return t->from[1] == tl_jit_of_dtype(TL_UINT64) ||
         t->from[2] == tl_jit_of_dtype(TL_UINT64);
}

// Compares b with c; returns the condition code for what the operation asks.
// `test b, b` compares with 0 in fewer bytes and sets the flags as cmp does:
// the carry and the overflow are 0.
static int compare_ints(emitter *e, const tl_typed *t) {
  static const uint8_t codes[2][6] = {
      {TL_CC_L, TL_CC_LE, TL_CC_G, TL_CC_GE, TL_CC_E, TL_CC_NE},
      {TL_CC_B, TL_CC_BE, TL_CC_A, TL_CC_AE, TL_CC_E, TL_CC_NE}};
  int b = get(e, t->b, TL_AX);
  if (t->c < 0 && t->imm == 0)
    tl_x64_rr(&e->as, TL_X64_W, 0x85, b, b);
  else if (has_short_constant(t))
    tl_x64_ri(&e->as, 7, b, (int32_t)t->imm);
  else
    tl_x64_rr(&e->as, TL_X64_W, 0x3b, b, get_int(e, t, TL_CX));
  return codes[is_unsigned(t)][t->condition];
}

// A float from its bits. 0.0 needs no constant; others stand behind the code.
// -0.0 has a bit, and is no 0 here. All 8 bytes are read, also of a float32.
static void float_constant(emitter *e, const tl_typed *t, int to) {
  if (t->imm == 0) {
    tl_x64_rr(&e->as, TL_X64_PD, 0x57, to, to);
    return;
  }
  tl_x64_rip(&e->as, TL_X64_SD, 0x10, to);
  add_fix(e, FIX_DATA, (int32_t)(t - e->code->ops));
}

// The prefix of instructions on floats of the operation's width, F3 or F2: the
// opcodes of both widths are the same.
static int width(const tl_typed *t) {
  return t->dtype == TL_FLOAT32 ? TL_X64_SS : TL_X64_SD;
}

// A uint64 as a float: one of 63 bits is converted as it is, another by half,
// with the lost bit put back so that it rounds as the whole does. [from] may be
// rax, but not rdx; rax is written where the number is large.
static void convert_unsigned(emitter *e, const tl_typed *t, int to, int from) {
  tl_assembler *as = &e->as;
  int how = width(t) | TL_X64_W;
  tl_x64_rr(as, TL_X64_W, 0x85, from, from);
  uint32_t large = tl_x64_skip(as, TL_CC_S);
  tl_x64_rr(as, how, 0x2a, to, from);
  tl_as_byte(as, 0xeb);  // jmp over the rest
  tl_as_byte(as, 0);
  uint32_t done = as->size;
  tl_x64_here(as, large);
  tl_x64_move(as, TL_DX, from);
  tl_x64_ri(as, 4, TL_DX, 1);
  tl_x64_move(as, TL_AX, from);
  tl_x64_rr(as, TL_X64_W, 0xd1, 5, TL_AX);
  tl_x64_rr(as, TL_X64_W, 0x0b, TL_AX, TL_DX);
  tl_x64_rr(as, how, 0x2a, to, TL_AX);
  tl_x64_rr(as, width(t), 0x58, to, to);
  tl_x64_here(as, done);
}

// Operand number i of an operation of floats, 0 to 2 for a to c: what has
// another type is converted, none is the constant. cvtsi2sd and its like round
// to nearest, ties to even, as a cast of C does, unless the host has changed
// MXCSR, which would change the interpreter's results too. Takes rax, of a
// uint64 also rdx.
int tl_jit_get_float(emitter *e, const tl_typed *t, int i, int scratch) {
  const int16_t registers[] = {t->a, t->b, t->c};
  int r = registers[i];
  if (r < 0) {
    float_constant(e, t, scratch);
    return scratch;
  }
  tl_dtype from = tl_jit_dtype(t->from[i]);
  if (from == t->dtype)
    return get(e, r, scratch);
  // Clearing it first, so that it does not wait for what was there, and a
  // float32 has nothing above it.
  tl_x64_rr(&e->as, TL_X64_PD, 0x57, scratch, scratch);
  int how = from == TL_FLOAT32 ? TL_X64_SS : TL_X64_SD;
  if (from == TL_UINT64)
    convert_unsigned(e, t, scratch, get(e, r, TL_AX));
  else if (!is_float(r))
    tl_x64_rr(&e->as, width(t) | TL_X64_W, 0x2a, scratch, get(e, r, TL_AX));
  else if (e->reg[r] >= 0)
    tl_x64_rr(&e->as, how, 0x5a, scratch, e->reg[r]);
  else
    tl_x64_rm(&e->as, how, 0x5a, scratch, home_base(r), home(r));
  return scratch;
}

// Whether a comparison of floats has to look at the parity, too, which says
// that one of them is NaN.
typedef enum parity { PARITY_NO, PARITY_AND_ORDERED, PARITY_OR_NOT } parity;

// ucomisd or ucomiss, which has no prefix. Quiet NaNs raise nothing in either.
static void compare_pair(emitter *e, const tl_typed *t, int b, int c) {
  tl_x64_rr(&e->as, t->dtype == TL_FLOAT32 ? TL_X64_0F : TL_X64_PD, 0x2e, b, c);
}

// The same for floats. Below needs the operands the other way round, since for
// NaN all flags are set. ucomisd sets the flags as an unsigned comparison does:
//
//                   ZF PF CF      A  not CF and not ZF     AE  not CF
//     b > c          0  0  0      BE  CF or ZF             B   CF
//     b < c          0  0  1
//     b = c          1  0  0      a NaN fails A and AE, and passes
//     one is NaN     1  1  1      BE and B, which are the "not" ones
static int compare_floats(emitter *e, const tl_typed *t, parity *parity) {
  static const uint8_t codes[] = {TL_CC_A,  TL_CC_AE, TL_CC_A,  TL_CC_AE,
                                  TL_CC_E,  TL_CC_NE, TL_CC_BE, TL_CC_B,
                                  TL_CC_BE, TL_CC_B};
  int b = tl_jit_get_float(e, t, 1, 0), c = tl_jit_get_float(e, t, 2, 1);
  bool swaps = t->condition == TL_IF_LT || t->condition == TL_IF_LE ||
               t->condition == TL_IF_NLT || t->condition == TL_IF_NLE;
  *parity = t->condition == TL_IF_EQ   ? PARITY_AND_ORDERED
            : t->condition == TL_IF_NE ? PARITY_OR_NOT
                                       : PARITY_NO;
  compare_pair(e, t, swaps ? c : b, swaps ? b : c);
  return codes[t->condition];
}

// Equality of floats needs two tests: NaN sets the parity, and is equal to
// nothing. Both jumps of "not equal" go to one target, and stand in this order
// because the flags outlive the first.
static void jump_on_floats(emitter *e, const tl_typed *t) {
  parity parity;
  int condition = compare_floats(e, t, &parity);
  if (parity == PARITY_AND_ORDERED) {
    uint32_t unordered = tl_x64_skip(&e->as, TL_CC_P);
    jump_to(e, condition, t->to);
    tl_x64_here(&e->as, unordered);
    return;
  }
  if (parity == PARITY_OR_NOT)
    jump_to(e, TL_CC_P, t->to);
  jump_to(e, condition, t->to);
}

// The result of a comparison as 0 or 1. setcc writes a byte alone, so movzx
// widens it; the operands have been read before al and cl are written.
static void set_truth(emitter *e, const tl_typed *t) {
  parity parity = PARITY_NO;
  int condition = t->op == TL_TYPED_FSET ? compare_floats(e, t, &parity)
                                         : compare_ints(e, t);
  const int set = TL_X64_0F | TL_X64_BYTE;
  tl_x64_rr(&e->as, set, 0x90 | condition, 0, TL_AX);
  if (parity != PARITY_NO) {
    bool ordered = parity == PARITY_AND_ORDERED;
    tl_x64_rr(&e->as, set, 0x90 | (ordered ? TL_CC_NP : TL_CC_P), 0, TL_CX);
    tl_x64_rr(&e->as, TL_X64_BYTE, ordered ? 0x22 : 0x0a, TL_AX, TL_CX);
  }
  int a = into(e, t->a, TL_AX);
  tl_x64_rr(&e->as, TL_X64_0F, 0xb6, a, TL_AX);
  put(e, t->a, a);
}

// --- Integers ---------------------------------------------------------------

// a = b op c, where c is in a register. The processor has a op= c only, so b
// moves to a first, and where c is in a's register, it has to give way: the two
// are swapped, or c is copied to rcx. Overflow wraps, as the language says.
static void two_ints(emitter *e, const tl_typed *t, int opcode, bool commutes) {
  int a = into(e, t->a, TL_AX), b = get(e, t->b, TL_AX);
  int c = get_int(e, t, TL_CX);
  if (a == c && a != b && commutes) {
    c = b;
  } else if (a == c && a != b) {
    tl_x64_move(&e->as, TL_CX, c);
    c = TL_CX;
    tl_x64_move(&e->as, a, b);
  } else {
    tl_x64_move(&e->as, a, b);
  }
  tl_x64_rr(&e->as, opcode == 0xaf ? TL_X64_W | TL_X64_0F : TL_X64_W, opcode, a,
            c);
  put_cut(e, t, a);
}

// The same with a constant of 32 bits, by the digit of its short form. A sum
// into another register is one lea, which leaves its operand as it is.
static void with_constant(emitter *e, const tl_typed *t, int digit) {
  int a = into(e, t->a, TL_AX), b = get(e, t->b, TL_AX);
  int32_t imm = (int32_t)t->imm;
  if (a != b && digit == 0) {
    tl_x64_rm(&e->as, TL_X64_W, 0x8d, a, b, imm);
  } else {
    tl_x64_move(&e->as, a, b);
    tl_x64_ri(&e->as, digit, a, imm);
  }
  put_cut(e, t, a);
}

// a = b times a constant of 32 bits, in one instruction.
static void times_constant(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, TL_AX);
  tl_x64_rr(&e->as, TL_X64_W, 0x69, a, get(e, t->b, TL_AX));
  tl_as_word(&e->as, (uint32_t)t->imm);
  put_cut(e, t, a);
}

// Which instruction is which operation, with a register or a constant: opcodes
// of the form reg, rm, and the digits of 81 and 83.
static void arithmetic(emitter *e, const tl_typed *t) {
  bool is_short = has_short_constant(t);
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_ADD:
      is_short ? with_constant(e, t, 0) : two_ints(e, t, 0x03, true);
      break;
    case TL_TYPED_SUB:
      is_short ? with_constant(e, t, 5) : two_ints(e, t, 0x2b, false);
      break;
    case TL_TYPED_MUL:
      is_short ? times_constant(e, t) : two_ints(e, t, 0xaf, true);
      break;
    case TL_TYPED_AND:
      is_short ? with_constant(e, t, 4) : two_ints(e, t, 0x23, true);
      break;
    case TL_TYPED_OR:
      is_short ? with_constant(e, t, 1) : two_ints(e, t, 0x0b, true);
      break;
    default:
      is_short ? with_constant(e, t, 6) : two_ints(e, t, 0x33, true);
      break;
  }
}

// Shifts by a constant amount; digit 4 is to the left, 7 to the right.
static void shift_by(emitter *e, const tl_typed *t, int digit, int amount) {
  int a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, a, get(e, t->b, TL_AX));
  tl_x64_rr(&e->as, TL_X64_W, 0xc1, digit, a);
  tl_as_byte(&e->as, amount);
  put_cut(e, t, a);
}

// To the right only a uint64 shifts without a sign: narrower ones have none in
// 64 bits, so their sign bit is 0 and both shifts are the same.
static int digit_of_right(const tl_typed *t) {
  return t->type == tl_jit_of_dtype(TL_UINT64) ? 5 : 7;
}

// Shifts by the width or more are not plain; the processor would take them
// modulo 64. The comparison is unsigned, so amounts below 0 leave, too. The
// result is computed in rax because a may be the register of c.
static void shift(emitter *e, const tl_typed *t) {
  int digit = t->op == TL_TYPED_SHL ? 4 : digit_of_right(t);
  if (t->c < 0) {
    shift_by(e, t, digit, (int)t->imm);
    return;
  }
  int bits = 8 * (int)tl_itemsize(tl_jit_dtype(t->type));
  tl_x64_move(&e->as, TL_CX, get(e, t->c, TL_CX));
  tl_x64_ri(&e->as, 7, TL_CX, bits - 1);
  leave_if(e, TL_CC_A, t);
  tl_x64_move(&e->as, TL_AX, get(e, t->b, TL_AX));
  tl_x64_rr(&e->as, TL_X64_W, 0xd3, digit, TL_AX);
  int a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, a, TL_AX);
  put_cut(e, t, a);
}

// Of uint64: div, f7 /6, which divides rdx:rax by rcx and traps on 0 alone, as
// the upper half is 0. Quotients and rests are never below 0, so nothing
// rounds.
static void divide_unsigned(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  tl_x64_move(as, TL_CX, get_int(e, t, TL_CX));
  if (t->c >= 0) {
    tl_x64_rr(as, TL_X64_W, 0x85, TL_CX, TL_CX);
    leave_if(e, TL_CC_E, t);
  }
  tl_x64_move(as, TL_AX, get(e, t->b, TL_AX));
  tl_x64_rr(as, 0, 0x31, TL_DX, TL_DX);
  tl_x64_rr(as, TL_X64_W, 0xf7, 6, TL_CX);
  int from = t->op == TL_TYPED_MOD ? TL_DX : TL_AX, a = into(e, t->a, from);
  tl_x64_move(as, a, from);
  put(e, t->a, a);
}

// Towards minus infinity: where the rest is not 0 and has another sign than the
// divisor, the quotient is one less and the rest one divisor more. idiv divides
// rdx:rax by rcx, the quotient in rax, the rest in rdx, and traps on 0 and on
// the one quotient that does not fit, INT64_MIN by -1. Both divisors leave
// beforehand, by one unsigned comparison: c + 1 is at most 1. The sign of `rest
// xor divisor` says whether theirs differ.
//
//          7 // -2:  rax = -3, rdx = 1     →  -4, rest -1
//         -7 // -2:  rax = 3,  rdx = -1    →   3, rest -1
static void divide(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  bool rest = t->op == TL_TYPED_MOD;
  if (t->type == tl_jit_of_dtype(TL_UINT64)) {
    divide_unsigned(e, t);
    return;
  }
  tl_x64_move(as, TL_CX, get_int(e, t, TL_CX));
  if (t->c >= 0) {
    tl_x64_rm(as, TL_X64_W, 0x8d, TL_AX, TL_CX, 1);
    tl_x64_ri(as, 7, TL_AX, 1);
    leave_if(e, TL_CC_BE, t);
  }
  tl_x64_move(as, TL_AX, get(e, t->b, TL_AX));
  tl_as_byte(as, 0x48);  // cqo
  tl_as_byte(as, 0x99);
  tl_x64_rr(as, TL_X64_W, 0xf7, 7, TL_CX);
  tl_x64_rr(as, TL_X64_W, 0x85, TL_DX, TL_DX);
  uint32_t whole = tl_x64_skip(as, TL_CC_E);
  if (rest) {
    tl_x64_move(as, TL_AX, TL_DX);
    tl_x64_rr(as, TL_X64_W, 0x31, TL_CX, TL_AX);
  } else {
    tl_x64_rr(as, TL_X64_W, 0x31, TL_CX, TL_DX);
  }
  uint32_t same = tl_x64_skip(as, TL_CC_NS);
  if (rest)
    tl_x64_rr(as, TL_X64_W, 0x03, TL_DX, TL_CX);
  else
    tl_x64_ri(as, 5, TL_AX, 1);
  tl_x64_here(as, same);
  tl_x64_here(as, whole);
  int from = rest ? TL_DX : TL_AX, a = into(e, t->a, from);
  tl_x64_move(as, a, from);
  put_cut(e, t, a);
}

// By a power of two that is known: both round to minus infinity. An arithmetic
// shift is the quotient and the low bits are the rest, for negative numbers
// too. False: it is no such divisor, and nothing was emitted.
static bool divide_by_power(emitter *e, const tl_typed *t) {
  if (!has_short_constant(t) || t->imm <= 0 || (t->imm & (t->imm - 1)) != 0)
    return false;
  if (t->op == TL_TYPED_FLOORDIV) {
    shift_by(e, t, digit_of_right(t), __builtin_ctzll((uint64_t)t->imm));
    return true;
  }
  tl_typed mask = *t;
  mask.imm--;
  with_constant(e, &mask, 4);
  return true;
}

// The iterations of a range from b to a by c. They are (end - start) divided by
// the step and rounded up, written as (end - start - 1) / step + 1, which
// cannot overflow; and 0 where end is not above start. Down it is the same with
// start and end exchanged. A difference of more
// than 63 bits shows as a sign, and leaves. The division is unsigned (div, f7
// /6): both are positive, and rdx is 0.
static void count_range(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  bool down = t->c < 0 && t->imm < 0;
  tl_typed by = *t;
  by.imm = down ? -t->imm : t->imm;
  int low = get(e, down ? t->a : t->b, TL_AX);
  tl_x64_move(as, TL_CX, get(e, down ? t->b : t->a, TL_CX));
  tl_x64_rr(as, TL_X64_W, 0x3b, TL_CX, low);
  uint32_t some = tl_x64_skip(as, TL_CC_G);
  tl_x64_move(as, TL_CX, low);
  tl_x64_here(as, some);
  tl_x64_rr(as, TL_X64_W, 0x2b, TL_CX, low);
  leave_if(e, TL_CC_S, t);
  if (t->c >= 0 || by.imm != 1) {
    int step = get_int(e, &by, TL_DX);
    if (t->c >= 0) {
      tl_x64_rr(as, TL_X64_W, 0x85, step, step);
      leave_if(e, TL_CC_LE, t);
    }
    tl_x64_rr(as, TL_X64_W, 0x85, TL_CX, TL_CX);
    uint32_t none = tl_x64_skip(as, TL_CC_E);
    tl_x64_rm(as, TL_X64_W, 0x8d, TL_AX, TL_CX, -1);
    tl_x64_move(as, TL_CX, step);
    tl_x64_rr(as, 0, 0x31, TL_DX, TL_DX);
    tl_x64_rr(as, TL_X64_W, 0xf7, 6, TL_CX);
    tl_x64_rm(as, TL_X64_W, 0x8d, TL_CX, TL_AX, 1);
    tl_x64_here(as, none);
  }
  int a = into(e, t->a, TL_CX);
  tl_x64_move(as, a, TL_CX);
  put(e, t->a, a);
}

// Copies, or changes the sign, or negates a bool. A bool is 0 or 1, so `xor 1`
// negates it. The least integer of a width is its own negative, as it is cut.
static void one_int(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, a, get(e, t->b, TL_AX));
  if (t->op == TL_TYPED_NEG)
    tl_x64_rr(&e->as, TL_X64_W, 0xf7, 3, a);
  else if (t->op == TL_TYPED_NOT)
    tl_x64_ri(&e->as, 6, a, 1);
  put_cut(e, t, a);
}

// The smaller or larger of b and c: cmp, and cmovg or cmovl, 0f 4x. Both are
// compared as signed numbers of 64 bits, which is right for all but uint64.
static void extreme(emitter *e, const tl_typed *t) {
  tl_x64_move(&e->as, TL_AX, get(e, t->b, TL_AX));
  int c = get_int(e, t, TL_CX);
  tl_x64_rr(&e->as, TL_X64_W, 0x3b, TL_AX, c);
  tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F,
            0x40 | (t->op == TL_TYPED_MIN ? TL_CC_G : TL_CC_L), TL_AX, c);
  int a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, a, TL_AX);
  put(e, t->a, a);
}

// A float64 cut to an int64, if it is below 2^62 and not below -2^62: then
// twice the result fits, too. cvttsd2si gives INT64_MIN for all that it cannot
// convert, NaN among it, and twice that overflows, too.
static void truncate_float(emitter *e, const tl_typed *t) {
  tl_x64_rr(&e->as, TL_X64_SD | TL_X64_W, 0x2c, TL_AX, get(e, t->b, 0));
  tl_x64_move(&e->as, TL_CX, TL_AX);
  tl_x64_rr(&e->as, TL_X64_W, 0x03, TL_CX, TL_CX);
  leave_if(e, TL_CC_O, t);
  int a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, a, TL_AX);
  put(e, t->a, a);
}

// --- Floats -----------------------------------------------------------------

// a = b op c. The order of operands decides which of two NaNs is the result, so
// they are not swapped where a is c. addsd and its like return the first
// operand where both are NaN, made quiet (Intel's manual, volume 1, table 4-7),
// and compilers emit b op c in the same order for the interpreter.
static void two_floats(emitter *e, const tl_typed *t, int opcode) {
  int a = into(e, t->a, 0);
  // A constant is read by the instruction itself.
  bool reads = t->c < 0 && t->imm != 0;
  int b = tl_jit_get_float(e, t, 1, 0),
      c = reads ? -1 : tl_jit_get_float(e, t, 2, 1);
  if (__builtin_cpu_supports("avx")) {
    tl_x64_three(&e->as, width(t), opcode, a, b, c);
  } else {
    if (a == c && a != b) {
      tl_x64_move_float(&e->as, 1, c);
      c = 1;
    }
    tl_x64_move_float(&e->as, a, b);
    if (reads)
      tl_x64_rip(&e->as, width(t), opcode, a);
    else
      tl_x64_rr(&e->as, width(t), opcode, a, c);
  }
  if (reads)
    add_fix(e, FIX_DATA, (int32_t)(t - e->code->ops));
  put(e, t->a, a);
}

// The smaller or larger of b and c as the kernels have it: b where they are
// equal, and where b is NaN; c where c alone is.
static void extreme_float(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0);
  int b = tl_jit_get_float(e, t, 1, 0), c = tl_jit_get_float(e, t, 2, 1);
  tl_x64_move_float(&e->as, 0, b);
  bool smaller = t->op == TL_TYPED_FMIN;
  compare_pair(e, t, smaller ? c : 0, smaller ? 0 : c);
  uint32_t first = tl_x64_skip(&e->as, TL_CC_AE);
  compare_pair(e, t, 0, 0);
  uint32_t unordered = tl_x64_skip(&e->as, TL_CC_P);
  tl_x64_move_float(&e->as, 0, c);
  tl_x64_here(&e->as, first);
  tl_x64_here(&e->as, unordered);
  tl_x64_move_float(&e->as, a, 0);
  put(e, t->a, a);
}

// Roots are the processor's, correctly rounded. Signs change by masks, as C
// does: the sign alone for xorpd, all but the sign for andpd. So NaNs change
// their sign and nothing else.
static void one_float(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0);
  if (t->op == TL_TYPED_FSQRT) {
    int b = tl_jit_get_float(e, t, 1, 1);
    // What stands above a float32 would stay as the register has it.
    if (t->dtype == TL_FLOAT32) {
      tl_x64_move_float(&e->as, a, b);
      b = a;
    }
    tl_x64_rr(&e->as, width(t), 0x51, a, b);
  } else if (t->op == TL_TYPED_FMOVE) {
    tl_x64_move_float(&e->as, a, tl_jit_get_float(e, t, 1, 0));
  } else {
    bool negates = t->op == TL_TYPED_FNEG, is_short = t->dtype == TL_FLOAT32;
    int64_t sign = is_short ? INT64_C(1) << 31 : INT64_MIN;
    int b = get(e, t->b, 0);
    tl_x64_constant(&e->as, TL_DX, negates ? sign : ~sign);
    tl_x64_rr(&e->as, TL_X64_PD | TL_X64_W, 0x6e, 1, TL_DX);
    tl_x64_move_float(&e->as, a, b);
    tl_x64_rr(&e->as, TL_X64_PD, negates ? 0x57 : 0x54, a, 1);
  }
  put(e, t->a, a);
}

// The rounding of floats has an instruction where the processor has SSE 4.1
// (roundss and roundsd, 66 0f 3a 0a and 0b), which rounds as C's function does
// and raises nothing. False: it has not, or it is another operation.
static bool round_float(emitter *e, const tl_typed *t) {
  // Bit 3 of the mode says that inexact results are no exception.
  int mode = t->condition == TL_OP_ROUND   ? 8
             : t->condition == TL_OP_FLOOR ? 9
             : t->condition == TL_OP_CEIL  ? 10
             : t->condition == TL_OP_TRUNC ? 11
                                           : 0;
  if (mode == 0 || !is_float(t->a) || tl_jit_dtype(t->from[1]) != t->dtype ||
      !__builtin_cpu_supports("sse4.1"))
    return false;
  int a = into(e, t->a, 0), b = get(e, t->b, 0);
  if (t->dtype == TL_FLOAT32) {
    tl_x64_move_float(&e->as, a, b);
    b = a;
  }
  tl_x64_open(&e->as, TL_X64_PD, 0x3a, a, 0, b);
  tl_as_byte(&e->as, t->dtype == TL_FLOAT32 ? 0x0a : 0x0b);
  tl_as_byte(&e->as, 0xc0 | (a & 7) << 3 | (b & 7));
  tl_as_byte(&e->as, mode);
  put(e, t->a, a);
  return true;
}

// The magnitude of an integer: neg, and cmovs where that is below 0. False: it
// is another operation.
static bool magnitude(emitter *e, const tl_typed *t) {
  if (t->condition != TL_OP_ABS || !tl_jit_is_integer(t->type) ||
      t->type != t->from[1])
    return false;
  int b = get(e, t->b, TL_CX), a = into(e, t->a, TL_AX);
  tl_x64_move(&e->as, TL_AX, b);
  if (tl_dtypes[tl_jit_dtype(t->type)].kind == 'I') {
    tl_x64_rr(&e->as, TL_X64_W, 0xf7, 3, TL_AX);
    tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0x40 | TL_CC_S, TL_AX, b);
  }
  tl_x64_move(&e->as, a, TL_AX);
  put_cut(e, t, a);
  return true;
}

bool tl_jit_emit_math(emitter *e, const tl_typed *t) {
  return round_float(e, t) || magnitude(e, t);
}

// --- Items ---------------------------------------------------------------

// The instruction on a register and an item of an array: [offset] items behind
// the index, -1 for none.
static void reach_item(emitter *e, tl_dtype dtype, int how, int opcode, int r,
                       int items, int index, int32_t offset) {
  int size = (int)tl_itemsize(dtype);
  if (index < 0)
    tl_x64_rm(&e->as, how, opcode, r, items, size * offset);
  else
    tl_x64_rxd(&e->as, how, opcode, r, items, index, size, size * offset);
}

// How an item of the dtype is read into a register, extended to 64 bits: movsx
// and movzx of narrow ones, movss, which clears what is above, of a float32. A
// complex64 is 8 bytes in its slot, both halves side by side.
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index,
                      int32_t offset) {
  static const struct {
    uint8_t how, opcode;
  } reads[TL_COMPLEX128] = {
      [TL_BOOL] = {TL_X64_0F, 0xb6},
      [TL_INT8] = {TL_X64_W | TL_X64_0F, 0xbe},
      [TL_INT16] = {TL_X64_W | TL_X64_0F, 0xbf},
      [TL_INT32] = {TL_X64_W, 0x63},
      [TL_INT64] = {TL_X64_W, 0x8b},
      [TL_UINT8] = {TL_X64_0F, 0xb6},
      [TL_UINT16] = {TL_X64_0F, 0xb7},
      [TL_UINT32] = {0, 0x8b},
      [TL_UINT64] = {TL_X64_W, 0x8b},
      [TL_FLOAT32] = {TL_X64_SS, 0x10},
      [TL_FLOAT64] = {TL_X64_SD, 0x10},
      [TL_COMPLEX64] = {TL_X64_W, 0x8b},
  };
  reach_item(e, dtype, reads[dtype].how, reads[dtype].opcode, to, items, index,
             offset);
}

// The same back: the lowest bytes of the register. That the item's dtype has
// the number was tested before.
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index, int32_t offset) {
  int size = (int)tl_itemsize(dtype);
  int how = dtype == TL_FLOAT32   ? TL_X64_SS
            : dtype == TL_FLOAT64 ? TL_X64_SD
            : size == 8           ? TL_X64_W
            : size == 1           ? TL_X64_BYTE
            : size == 2           ? TL_X64_66
                                  : 0;
  int opcode = tl_dtype_is_real(dtype) ? 0x11 : size == 1 ? 0x88 : 0x89;
  reach_item(e, dtype, how, opcode, from, items, index, offset);
}

// A number that goes into an array of floats is converted on the way; an
// integer has to be one of the array's dtype. The address needs rdx, the index
// rax or rcx, and the value what is left of these.
static void write_item(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  tl_jit_check_owner(e, t);
  int index = tl_jit_item_index(e, t, facts), a;
  tl_dtype dtype = (tl_dtype)t->dtype;
  if (tl_typed_is_of_float(t)) {
    if (t->a < TL_JIT_FLOAT && index == TL_AX) {
      // Converting takes rax.
      tl_x64_move(&e->as, TL_CX, TL_AX);
      index = TL_CX;
    }
    a = tl_jit_get_float(e, t, 0, 0);
  } else {
    a = get(e, t->a, TL_CX);
    if (tl_dtype_is_integer(dtype))
      tl_jit_check_fit(e, t, a, tl_jit_dtype(t->from[0]), dtype);
  }
  tl_jit_store_item(e, dtype, a, get(e, facts, TL_DX), index, 0);
  tl_jit_note_item(e, t);
}

// --- All operations ---------------------------------------------------------

bool tl_jit_emit_scalar(emitter *e, const tl_typed *t) {
  int a;
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_IF:
      jump_to(e, compare_ints(e, t), t->to);
      break;
    case TL_TYPED_FIF:
      jump_on_floats(e, t);
      break;
    case TL_TYPED_SET:
    case TL_TYPED_FSET:
      set_truth(e, t);
      break;
    case TL_TYPED_FCONST:
      a = into(e, t->a, 0);
      float_constant(e, t, a);
      put(e, t->a, a);
      break;
    case TL_TYPED_MOVE:
    case TL_TYPED_NEG:
    case TL_TYPED_NOT:
      one_int(e, t);
      break;
    case TL_TYPED_ADD:
    case TL_TYPED_SUB:
    case TL_TYPED_MUL:
    case TL_TYPED_AND:
    case TL_TYPED_OR:
    case TL_TYPED_XOR:
      arithmetic(e, t);
      break;
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
      shift(e, t);
      break;
    case TL_TYPED_FLOORDIV:
    case TL_TYPED_MOD:
      if (!divide_by_power(e, t))
        divide(e, t);
      break;
    case TL_TYPED_COUNT:
      count_range(e, t);
      break;
    case TL_TYPED_MIN:
    case TL_TYPED_MAX:
      extreme(e, t);
      break;
    case TL_TYPED_TRUNC:
      truncate_float(e, t);
      break;
    case TL_TYPED_FMIN:
    case TL_TYPED_FMAX:
      extreme_float(e, t);
      break;
    case TL_TYPED_FMOVE:
    case TL_TYPED_FNEG:
    case TL_TYPED_FSQRT:
    case TL_TYPED_FABS:
      one_float(e, t);
      break;
    case TL_TYPED_FADD:
      two_floats(e, t, 0x58);
      break;
    case TL_TYPED_FSUB:
      two_floats(e, t, 0x5c);
      break;
    case TL_TYPED_FMUL:
      two_floats(e, t, 0x59);
      break;
    case TL_TYPED_FDIV:
      two_floats(e, t, 0x5e);
      break;
    case TL_TYPED_STORE:
      write_item(e, t);
      break;
    default:
      return false;
  }
  return true;
}

// --- Choices ----------------------------------------------------------------

// Computes the side in a register, which is rax or rdx; constants may take rcx.
// No slot is written, so the other side finds them all as they were.
static void compute_side(emitter *e, const tl_jit_side *s, int in) {
  static const uint8_t opcodes[] = {[TL_TYPED_ADD] = 0x03,
                                    [TL_TYPED_SUB] = 0x2b,
                                    [TL_TYPED_AND] = 0x23,
                                    [TL_TYPED_OR] = 0x0b,
                                    [TL_TYPED_XOR] = 0x33};
  int has = -1;
  for (uint32_t i = 0; i < s->count; i++) {
    const tl_typed *t = &e->code->ops[s->at + i];
    if (t->op == TL_TYPED_CONST) {
      if (t->a == s->result && i + 1 == s->count)
        tl_x64_constant(&e->as, in, t->imm);
      continue;
    }
    if (t->b != has)
      tl_x64_move(&e->as, in, get(e, t->b, in));
    if (t->op == TL_TYPED_SHL || t->op == TL_TYPED_SAR) {
      int digit = t->op == TL_TYPED_SHL ? 4 : digit_of_right(t);
      tl_x64_rr(&e->as, TL_X64_W, 0xc1, digit, in);
      tl_as_byte(&e->as, (int)t->imm);
    } else if (t->op != TL_TYPED_MOVE) {
      tl_x64_rr(&e->as, TL_X64_W, opcodes[t->op], in, get_int(e, t, TL_CX));
    }
    cut(e, tl_jit_dtype(t->type), in, in);
    has = t->a;
  }
}

uint32_t tl_jit_emit_choice(emitter *e, uint32_t at) {
  const tl_typed *t = &e->code->ops[at];
  tl_jit_side taken, other;
  if (t->op != TL_TYPED_IF || e->reg[t->b] < 0 ||
      (t->c >= 0 ? e->reg[t->c] < 0 : !has_short_constant(t)))
    return 0;
  uint32_t count = tl_jit_read_choice(e, at, &taken, &other);
  if (count == 0)
    return 0;
  int r = taken.result, result = into(e, r, TL_AX);
  compute_side(e, &taken, TL_AX);
  if (other.count > 0)
    compute_side(e, &other, TL_DX);
  int otherwise = other.count > 0 ? TL_DX : get(e, r, TL_DX);
  int condition = compare_ints(e, t);
  tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0x40 | condition, TL_AX, otherwise);
  tl_x64_move(&e->as, result, TL_AX);
  put(e, r, result);
  return count - 1;
}

// --- The door ---------------------------------------------------------------

// push what C keeps; arguments to their registers; call; the fuel back; pop.
// The arguments come in rdi, rsi, rdx and rcx (System V ABI, 3.2.3), and C
// keeps rbx, rbp and r12 to r15 for its caller. Six pushes and the return
// address make 56 bytes; 8 more align the stack to 16.
//
//     vm ─▶ rbp    base ─▶ rbx    frame ─▶ r14    code ─▶ call    fuel ─▶ r15d
void *tl_jit_make_door(tl_vm *vm) {
  static const uint8_t kept[] = {TL_BX, TL_BP, TL_R12, TL_R13, TL_R14, TL_R15};
  tl_assembler as = {.vm = vm};
  for (int i = 0; i < 6; i++)
    tl_x64_open(&as, 0, 0x50 | (kept[i] & 7), 0, 0, kept[i]);
  tl_x64_ri(&as, 5, TL_SP, 8);
  tl_x64_move(&as, TL_BP, TL_DI);
  tl_x64_move(&as, TL_BX, TL_SI);
  tl_x64_move(&as, TL_R14, TL_DX);
  tl_x64_rm(&as, 0, 0x8b, TL_R15, TL_BP, offsetof(tl_vm, fuel));
  tl_x64_rr(&as, 0, 0xff, 2, TL_CX);
  tl_x64_rm(&as, 0, 0x89, TL_R15, TL_BP, offsetof(tl_vm, fuel));
  tl_x64_ri(&as, 0, TL_SP, 8);
  for (int i = 5; i >= 0; i--)
    tl_x64_open(&as, 0, 0x58 | (kept[i] & 7), 0, 0, kept[i]);
  tl_as_byte(&as, 0xc3);
  void *door =
      as.is_full ? NULL : tl_code_put(vm, &vm->jit->chunks, as.bytes, as.size);
  tl_as_close(&as);
  return door;
}

#endif
