// Machine code for x86-64, from typed operations.
//
// What an integer's register has is the slot's payload: 64 bits, extended from
// its dtype. A float's register has what is below; above a float32 stands 0, as
// whole slots are moved with it.
//
// Each register of a unit has one place for the whole unit: one of the
// processor's, for those that loops use most, else its home. The home of a
// slot's registers is its payload, the home of a fact is on the stack.
//
//     rbx  the frame's slots     rbp  the VM       r14  the call record
//     r15d the fuel              rax, rcx, rdx, xmm0, xmm1  free
//
// A unit is called. It returns 1 in edx where it left: all live slots, the
// record and vm->frame are then as the interpreter wants them. A function that
// has its result returns 0, and the result in rax or xmm0. So a caller whose
// callee has left completes the callee's record and leaves too, with its own.
//
//     prologue   entry's slots and facts to their registers
//     operations
//     exits      of those that are jumped to; polls, which call C
#include "vm/native/jit_internal.h"

#if TL_JIT_X64

#include "vm/array/array.h"
#include "vm/engine/scalars.h"
#include "vm/kernels/kernels.h"
#include "vm/native/emit.h"
#include "vm/poll.h"

// Cuts an integer in a register to the width of its dtype, and extends it to 64
// bits again, as slots have it: movsx, movsxd, movzx, or a move of 32 bits.
static void cut(emitter *e, tl_dtype dtype, int to, int from) {
  const int wide = TL_X64_W | TL_X64_0F, narrow = TL_X64_0F | TL_X64_BYTE;
  switch (dtype) {
    case TL_INT8:
      tl_x64_rr(&e->as, wide, 0xbe, to, from);
      break;
    case TL_INT16:
      tl_x64_rr(&e->as, wide, 0xbf, to, from);
      break;
    case TL_INT32:
      tl_x64_rr(&e->as, TL_X64_W, 0x63, to, from);
      break;
    case TL_UINT8:
      tl_x64_rr(&e->as, narrow, 0xb6, to, from);
      break;
    case TL_UINT16:
      tl_x64_rr(&e->as, narrow, 0xb7, to, from);
      break;
    case TL_UINT32:
      tl_x64_rr(&e->as, 0, 0x8b, to, from);
      break;
    default:
      tl_x64_move(&e->as, to, from);
  }
}
// Like put, of what was computed in 64 bits. Sums, products and bits have the
// same lowest bits whatever stands above, so one cut at the end is enough.
static void put_cut(emitter *e, const tl_typed *t, int from) {
  cut(e, tl_jit_dtype(t->type), from, from);
  put(e, t->a, from);
}

// The registers that are used most get the processor's. There is no allocation
// over intervals: a place for the whole unit needs no moves at labels, so any
// jump may go to any label, and an exit's code is the same wherever it is
// jumped to from. Facts compete with slots for the integer registers.
static void assign(emitter *e) {
  const float *weights = e->code->weights;
  memset(e->reg, -1, sizeof e->reg);
  for (int k = 0; k < INTS + FLOATS; k++) {
    int best = -1;
    for (int r = 0; r < TL_JIT_REGISTERS; r++)
      if (is_float(r) == (k >= INTS) && e->reg[r] < 0 && weights[r] > 0 &&
          (best < 0 || weights[r] > weights[best]))
        best = r;
    if (best >= 0)
      e->reg[best] =
          (int8_t)(k < INTS ? int_registers[k] : FIRST_FLOAT + k - INTS);
  }
}

// --- Comparisons ------------------------------------------------------------

// The integer operand c, or the constant, in a register: its own one, or
// [scratch], which then must not hold anything that is still needed.
static int get_int(emitter *e, const tl_typed *t, int scratch) {
  if (t->c >= 0)
    return get(e, t->c, scratch);
  tl_x64_constant(&e->as, scratch, t->imm);
  return scratch;
}

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
static int get_float(emitter *e, const tl_typed *t, int i, int scratch) {
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
  int b = get_float(e, t, 1, 0), c = get_float(e, t, 2, 1);
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
static void count(emitter *e, const tl_typed *t) {
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

// Counts down, moves on and jumps. Where the body begins with the move into the
// variable, one jump does: the hidden value may then go too far at the end,
// where nobody reads it.
//
//     at once:  a += c, --b, jump if b != 0     one jump per iteration
//     else:     --b, jump over if b = 0, a += c, variable = a, jump
static void step(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  bool at_once = t->d < 0 && t->to >= 0;
  int a, b;
  if (!at_once) {
    b = get(e, t->b, TL_AX);
    tl_x64_rr(as, TL_X64_W, 0xff, 1, b);
    put(e, t->b, b);
  }
  uint32_t over = at_once ? 0 : tl_x64_skip(as, TL_CC_E);
  a = get(e, t->a, TL_AX);
  tl_x64_rr(as, TL_X64_W, 0x03, a, get(e, t->c, TL_CX));
  put(e, t->a, a);
  if (at_once) {
    b = get(e, t->b, TL_AX);
    tl_x64_rr(as, TL_X64_W, 0xff, 1, b);
    put(e, t->b, b);  // a move: the flags stay
    jump_to(e, TL_CC_NE, t->to);
    return;
  }
  if (t->d >= 0) {
    int to = into(e, t->d, a);
    tl_x64_move(as, to, a);
    put(e, t->d, to);
  }
  jump(e, t->to < 0 ? FIX_EXIT : FIX_LABEL, t->to < 0 ? -1 - t->to : t->to);
  tl_x64_here(as, over);
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

// Leaves where the dtype [to] does not have an integer that is one of [from].
// Takes rdx. Cutting it to the width changes those that are not there; but
// between uint64 and signed ones the sign says it.
static void check_fit(emitter *e, const tl_typed *t, int has, tl_dtype from,
                      tl_dtype to) {
  bool was_signed = tl_dtypes[from].kind == 'I';
  bool is_signed = tl_dtypes[to].kind == 'I';
  if (from == to)
    return;
  if ((from == TL_UINT64 && is_signed) || (to == TL_UINT64 && was_signed)) {
    tl_x64_rr(&e->as, TL_X64_W, 0x85, has, has);
    leave_if(e, TL_CC_S, t);
  }
  if (tl_itemsize(to) == 8)
    return;
  cut(e, to, TL_DX, has);
  tl_x64_rr(&e->as, TL_X64_W, 0x3b, TL_DX, has);
  leave_if(e, TL_CC_NE, t);
}

// The same integer in another dtype: the register has it already, so there is
// nothing to do but the test.
static void fit(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, TL_AX), b = get(e, t->b, TL_AX);
  check_fit(e, t, b, tl_jit_dtype(t->from[1]), tl_jit_dtype(t->type));
  tl_x64_move(&e->as, a, b);
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
  int b = get_float(e, t, 1, 0), c = reads ? -1 : get_float(e, t, 2, 1);
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
  int b = get_float(e, t, 1, 0), c = get_float(e, t, 2, 1);
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
    int b = get_float(e, t, 1, 1);
    // What stands above a float32 would stay as the register has it.
    if (t->dtype == TL_FLOAT32) {
      tl_x64_move_float(&e->as, a, b);
      b = a;
    }
    tl_x64_rr(&e->as, width(t), 0x51, a, b);
  } else if (t->op == TL_TYPED_FMOVE) {
    tl_x64_move_float(&e->as, a, get_float(e, t, 1, 0));
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

// --- Items and variables ----------------------------------------------------

// Leaves where the index is not below the fact: negative ones too. One unsigned
// comparison does both, since a negative index is above any length as an
// unsigned number.
static void check_index(emitter *e, const tl_typed *t, int index, int fact) {
  if (e->reg[fact] >= 0)
    tl_x64_rr(&e->as, TL_X64_W, 0x3b, index, e->reg[fact]);
  else
    tl_x64_rm(&e->as, TL_X64_W, 0x3b, index, TL_SP, home(fact));
  leave_if(e, TL_CC_AE, t);
}

// Whether both are of the item at the same place of one array: by the same
// slots, which nothing has written in between (keeps_index).
static bool is_same_item(const tl_typed *x, const tl_typed *y) {
  return x->b == y->b && x->c == y->c && x->d == y->d && x->e == y->e;
}

// Whether what the operation makes leaves the index of the item as it was
// checked: x[i] += 1 asks once whether i is below the length. So it writes none
// of its slots, and of several axes not rax, where the index is: its operands
// are in registers, and none is converted.
//
//     t = load x[i, j]      rax = i * columns + j     checked
//     t = add t, 1          in t's register           kept
//     store x[i, j], t      by rax at once
//
// Operations on references use rax and rcx, and end it, as does every label,
// jump and call: only what is listed here is known to keep it.
static bool keeps_index(const emitter *e, const tl_typed *t) {
  const tl_typed *item = e->checked;
  const int16_t operands[] = {t->a, t->b, t->c};
  int a = t->a % TL_JIT_SLOTS;
  bool has_slot = a != item->b && a != item->d && a != item->e;
  if (t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_FSTORE)
    return true;
  if (t->op >= TL_TYPED_FCONST && t->op <= TL_TYPED_FMAX) {
    for (int i = 1; i < 3; i++)
      if (operands[i] >= 0 &&
          (operands[i] < TL_JIT_FLOAT || tl_jit_dtype(t->from[i]) != t->dtype))
        return false;
    return has_slot;
  }
  if (t->op < TL_TYPED_CONST || t->op > TL_TYPED_XOR || !has_slot)
    return false;
  for (int i = 0; i < 3; i++)
    if (item->d >= 0 && operands[i] >= 0 && e->reg[operands[i]] < 0)
      return false;
  return true;
}

// Notes the access behind its instructions: what is read into rax or into a
// slot of the index ends it, and so does a value that is converted, since that
// goes through rax. What is noted is the operation, which stays in its table.
static void note_item(emitter *e, const tl_typed *t) {
  bool reads = t->op == TL_TYPED_LOAD || t->op == TL_TYPED_FLOAD;
  int a = t->a % TL_JIT_SLOTS;
  bool ends = reads ? a == t->b || a == t->d || a == t->e ||
                          (t->op == TL_TYPED_LOAD && e->reg[t->a] < 0)
                    : t->op == TL_TYPED_FSTORE && t->a < TL_JIT_FLOAT;
  e->checked = ends ? NULL : t;
}

// The register with the number of the item. Of several axes that is first *
// columns + second and so on, which cannot overflow: all were compared with
// lengths whose product is that of the items. It is in a slot's register or in
// rax; rcx and rdx are free behind it.
static int item_index(emitter *e, const tl_typed *t, int facts) {
  if (e->checked != NULL && is_same_item(e->checked, t))
    return t->d < 0 ? get(e, t->b, TL_AX) : TL_AX;
  int first = get(e, t->b, TL_AX);
  check_index(e, t, first, facts + 1);
  const int further[] = {t->d, t->e};
  for (int i = 0; i < 2 && further[i] >= 0; i++) {
    int next = get(e, further[i], TL_CX), length = facts + 2 + i;
    check_index(e, t, next, length);
    tl_x64_move(&e->as, TL_AX, first);
    tl_x64_rr(&e->as, TL_X64_W | TL_X64_0F, 0xaf, TL_AX, get(e, length, TL_DX));
    tl_x64_rr(&e->as, TL_X64_W, 0x03, TL_AX, next);
    first = TL_AX;
  }
  return first;
}

// How an item of the dtype is read into a register, extended to 64 bits: movsx
// and movzx of narrow ones, movss, which clears what is above, of a float32. A
// complex64 is 8 bytes in its slot, both halves side by side.
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items,
                      int index) {
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
  tl_x64_rx(&e->as, reads[dtype].how, reads[dtype].opcode, to, items, index,
            (int)tl_itemsize(dtype));
}

// The same back: the lowest bytes of the register. That the item's dtype has
// the number was tested before.
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index) {
  int size = (int)tl_itemsize(dtype);
  int how = dtype == TL_FLOAT32   ? TL_X64_SS
            : dtype == TL_FLOAT64 ? TL_X64_SD
            : size == 8           ? TL_X64_W
            : size == 1           ? TL_X64_BYTE
            : size == 2           ? TL_X64_66
                                  : 0;
  int opcode = tl_dtype_is_real(dtype) ? 0x11 : size == 1 ? 0x88 : 0x89;
  tl_x64_rx(&e->as, how, opcode, from, items, index, size);
}

// No item of the unit's arrays can move: nothing in a unit allocates, and
// whoever else could is not called. So the address that was read at the entry
// is good until the unit leaves, behind calls and polls, too.
static void read_item(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  int index = item_index(e, t, facts), items = get(e, facts, TL_DX);
  int a = into(e, t->a, t->op == TL_TYPED_FLOAD ? 0 : TL_AX);
  tl_jit_load_item(e, (tl_dtype)t->dtype, a, items, index);
  put(e, t->a, a);
  note_item(e, t);
}

// A number that goes into an array of floats is converted on the way; an
// integer has to be one of the array's dtype. The address needs rdx, the index
// rax or rcx, and the value what is left of these.
static void write_item(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  int index = item_index(e, t, facts), a;
  tl_dtype dtype = (tl_dtype)t->dtype;
  if (t->op == TL_TYPED_FSTORE) {
    if (t->a < TL_JIT_FLOAT && index == TL_AX) {
      // Converting takes rax.
      tl_x64_move(&e->as, TL_CX, TL_AX);
      index = TL_CX;
    }
    a = get_float(e, t, 0, 0);
  } else {
    a = get(e, t->a, TL_CX);
    if (tl_dtype_is_integer(dtype))
      check_fit(e, t, a, tl_jit_dtype(t->from[0]), dtype);
  }
  tl_jit_store_item(e, dtype, a, get(e, facts, TL_DX), index);
  note_item(e, t);
}

// rdx = the module's variables, which may have moved. Returns how far behind
// rdx the variable is. The code has the address of the module's field, not of
// the variables: those are moved when the module gets another one.
static int32_t find_variable(emitter *e, const tl_typed *t) {
  const tl_module *module = e->unit->function->unit->module;
  tl_x64_constant(&e->as, TL_DX, (int64_t)(intptr_t)&module->variables);
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, TL_DX, TL_DX, 0);
  return (int32_t)t->imm * 16;
}

// rdx = the closure, which the frame's record has. Returns how far behind rdx
// the captured value is.
static int32_t find_captured(emitter *e, const tl_typed *t) {
  tl_x64_rm(&e->as, TL_X64_W, 0x8b, TL_DX, TL_R14, offsetof(tl_frame, closure));
  return (int32_t)offsetof(tl_closure, captures) + (int32_t)t->imm * 16;
}

// A variable of the module, or a captured value. Leaves where it has another
// tag than the type says. Tags of scalars fit the 32 bits that cmp extends by
// their sign.
static void get_variable(emitter *e, const tl_typed *t) {
  bool floats = t->op == TL_TYPED_FGET || t->op == TL_TYPED_FCAPTURED;
  bool captured = t->op == TL_TYPED_CAPTURED || t->op == TL_TYPED_FCAPTURED;
  int32_t at = captured ? find_captured(e, t) : find_variable(e, t);
  tl_x64_rm(&e->as, TL_X64_W, 0x81, 7, TL_DX, at);
  tl_as_word(&e->as, (uint32_t)tl_jit_tag(t->type));
  leave_if(e, TL_CC_NE, t);
  int a = into(e, t->a, floats ? 0 : TL_AX);
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x10 : 0x8b, a,
            TL_DX, at + 8);
  put(e, t->a, a);
}

// Leaves where the variable owns what it has, which would have to be dropped.
// The tag is written with the payload: the variable may have had another type,
// which units that read it notice by the tag.
static void put_variable(emitter *e, const tl_typed *t) {
  bool floats = t->op == TL_TYPED_FPUT;
  int32_t at = find_variable(e, t);
  tl_x64_rm(&e->as, 0, 0xf7, 0, TL_DX, at);  // test: does it own?
  tl_as_word(&e->as, (uint32_t)TL_OWNED);
  leave_if(e, TL_CC_NE, t);
  tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, TL_DX, at);
  tl_as_word(&e->as, (uint32_t)tl_jit_tag(t->type));
  tl_x64_rm(&e->as, floats ? TL_X64_SD : TL_X64_W, floats ? 0x11 : 0x89,
            get(e, t->a, floats ? 0 : TL_AX), TL_DX, at + 8);
}

// --- Calls ------------------------------------------------------------------

// Stores to their slots what is in registers of those that the exit names, or
// loads it. What is at home needs no move. Of a slot's two registers that of
// its type is moved; the other one has nothing that anybody reads.
static void move_slots(emitter *e, uint64_t slots, const tl_jit_type *types,
                       bool back) {
  for (; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    int r = tl_jit_register(s, types[s]);
    if (e->reg[r] >= 0)
      back ? load(e, e->reg[r], r) : store(e, e->reg[r], r);
  }
}

// Loads what lies in slots of the entry as references. Those that have been
// written since are loaded again behind it, by their types there; of a slot
// that is dead by now whatever is loaded does no harm.
static void load_pinned(emitter *e) {
  const tl_jit_unit *u = e->unit;
  for (uint64_t slots = u->pinned & u->live; slots != 0; slots &= slots - 1) {
    int s = __builtin_ctzll(slots);
    if (e->reg[s] >= 0 && !tl_jit_is_scalar(tl_jit_type_of(u->tags[s])))
      load(e, e->reg[s], s);
  }
}

// What lives comes back from its slots, and facts from the stack.
static void come_back(emitter *e, const tl_jit_exit *exit) {
  load_pinned(e);
  move_slots(e, exit->slots, exit->types, true);
  for (uint32_t i = 0; i < TL_JIT_FACTS_EACH * e->unit->array_count; i++)
    if (e->reg[TL_JIT_FACTS + i] >= 0)
      load(e, e->reg[TL_JIT_FACTS + i], TL_JIT_FACTS + (int)i);
}

// The tag of a scalar's type, where rdx, rbx or rsp points.
static void store_tag(emitter *e, tl_jit_type type, int base, int32_t at) {
  tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, base, at);
  tl_as_word(&e->as, (uint32_t)tl_jit_tag(type));
}

// Room on the stack for a call of C, aligned to 16 bytes as the ABI wants it
// (System V, 3.2.2), wherever in the unit's calls this is; the old rsp is in
// it.
//
//     rsp  │ result │ constant │   │ old rsp │    16, 16, 8 and 8 bytes
enum { CONSTANT = 16, OLD = 40, ROOM = 48 };
static void open_room(emitter *e) {
  tl_x64_move(&e->as, TL_AX, TL_SP);
  tl_x64_ri(&e->as, 4, TL_SP, -16);
  tl_x64_ri(&e->as, 5, TL_SP, ROOM);
  tl_x64_rm(&e->as, TL_X64_W, 0x89, TL_AX, TL_SP, OLD);
}

// Calls a function of C, which may write all registers but rbx, rbp, r12 to
// r15. Its arguments are in theirs already; rax is not among them.
static void call_c(emitter *e, intptr_t function) {
  tl_x64_constant(&e->as, TL_AX, (int64_t)function);
  tl_x64_rr(&e->as, 0, 0xff, 2, TL_AX);
}

// The result, which is in rdx: a slot's payload, 0 above a float32.
static void put_result(emitter *e, const tl_typed *t) {
  bool floats = t->op == TL_TYPED_FCOMPUTE;
  int a = into(e, t->a, floats ? 0 : TL_DX);
  floats ? tl_x64_rr(&e->as, TL_X64_PD | TL_X64_W, 0x6e, a, TL_DX)
         : tl_x64_move(&e->as, a, TL_DX);
  put(e, t->a, a);
}

// The kernel of an operation on one float that gives a float of its width,
// which is what tl_scalar_unary calls for it; NULL: it is another one. The
// table of kernels is that of the processor, chosen once, so the address is
// good for the code's life.
static tl_kernel1 *kernel_of(const tl_typed *t) {
  tl_dtype dtype = tl_jit_dtype(t->type);
  return t->op == TL_TYPED_FCOMPUTE && t->from[2] == TL_TYPE_UNKNOWN &&
                 tl_jit_dtype(t->from[1]) == dtype &&
                 tl_op_compute_dtype((tl_op)t->condition, dtype) == dtype
             ? tl_kernels()->unary[t->condition][dtype]
             : NULL;
}

// kernel(&result, &b, 1), which never fails. The result's upper half is 0 where
// it has 32 bits.
static void call_kernel(emitter *e, const tl_typed *t, tl_kernel1 *kernel) {
  tl_assembler *as = &e->as;
  open_room(e);
  tl_x64_constant(as, TL_AX, 0);
  tl_x64_rm(as, TL_X64_W, 0x89, TL_AX, TL_SP, 0);
  tl_x64_move(as, TL_DI, TL_SP);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_SI, TL_BX, home(t->b));
  tl_x64_constant(as, TL_DX, 1);
  call_c(e, (intptr_t)kernel);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_DX, TL_SP, 0);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_SP, TL_SP, OLD);
}

// tl_scalar_binary(op, b, c, a) or tl_scalar_unary(op, b, a), which know no VM.
// Operands get their tags in their slots; a constant stands on the stack.
// Behind it al says whether it was done; rcx and rdx are the result's tag and
// payload.
static void call_scalar(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  bool binary = t->from[2] != TL_TYPE_UNKNOWN;
  store_tag(e, t->from[1], TL_BX, t->b % TL_JIT_SLOTS * 16);
  open_room(e);
  tl_x64_rm(as, TL_X64_W, 0x8d, TL_SI, TL_BX, t->b % TL_JIT_SLOTS * 16);
  if (binary && t->c >= 0) {
    store_tag(e, t->from[2], TL_BX, t->c % TL_JIT_SLOTS * 16);
    tl_x64_rm(as, TL_X64_W, 0x8d, TL_DX, TL_BX, t->c % TL_JIT_SLOTS * 16);
  } else if (binary) {
    store_tag(e, t->from[2], TL_SP, CONSTANT);
    tl_x64_constant(as, TL_AX, t->imm);
    tl_x64_rm(as, TL_X64_W, 0x89, TL_AX, TL_SP, CONSTANT + 8);
    tl_x64_rm(as, TL_X64_W, 0x8d, TL_DX, TL_SP, CONSTANT);
  }
  tl_x64_move(as, binary ? TL_CX : TL_DX, TL_SP);
  tl_x64_constant(as, TL_DI, t->condition);
  call_c(e, binary ? (intptr_t)tl_scalar_binary : (intptr_t)tl_scalar_unary);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_CX, TL_SP, 0);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_DX, TL_SP, 8);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_SP, TL_SP, OLD);
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
  if (mode == 0 || t->op != TL_TYPED_FCOMPUTE ||
      tl_jit_dtype(t->from[1]) != t->dtype || !__builtin_cpu_supports("sse4.1"))
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
  if (t->op != TL_TYPED_COMPUTE || t->condition != TL_OP_ABS ||
      !tl_jit_is_integer(t->type) || t->type != t->from[1])
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

// An operation by a function of C. What lives is in its slots meanwhile. Leaves
// where the function declines, or the result has another tag than was likely.
// The few that have instructions of their own need no call.
//
//     registers ─▶ slots        of all that the exit names
//     tags of the operands      in their slots
//     call                      on an aligned stack
//     slots ─▶ registers        and facts from the unit's frame
//     did it? the right tag?    else by the exit, with all as it was
static void compute(emitter *e, const tl_typed *t) {
  if (round_float(e, t) || magnitude(e, t))
    return;
  const tl_jit_exit *exit = &e->code->exits[t->exit];
  tl_kernel1 *kernel = kernel_of(t);
  move_slots(e, exit->slots, exit->types, false);
  if (kernel != NULL)
    call_kernel(e, t, kernel);
  else
    call_scalar(e, t);
  come_back(e, exit);
  if (kernel == NULL) {
    tl_x64_rr(&e->as, TL_X64_BYTE, 0x84, TL_AX, TL_AX);
    leave_if(e, TL_CC_E, t);
    tl_x64_ri(&e->as, 7, TL_CX, (int32_t)tl_jit_tag(t->type));
    leave_if(e, TL_CC_NE, t);
  }
  put_result(e, t);
}

// Arguments that are references have their tags in memory: the callee takes
// what it does not touch for being as at its entry, and its exits leave that
// out. Scalars are written back by every exit, so their tags can wait.
static void write_reference_tags(emitter *e, uint64_t slots,
                                 const tl_jit_type *types) {
  for (; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    if (!tl_jit_is_reference(types[s]))
      continue;
    tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, TL_BX, (int32_t)s * 16);
    tl_as_word(&e->as, (uint32_t)tl_jit_tag_of(e->unit, s, types[s]));
  }
}

// Loads several results, which the callee left in its first slots. Their tags
// are not there: types have them, and exits write them.
static void load_row(emitter *e, const tl_jit_unit *callee, uint32_t first) {
  for (uint32_t i = 0; i < callee->result_count; i++) {
    int r = tl_jit_register(first + i, tl_jit_type_of(callee->result_tags[i]));
    if (e->reg[r] >= 0)
      load(e, e->reg[r], r);
  }
}

// One poll: the fuel counts down; what happens at 0 stands behind the code.
// `dec r15d` is ff /1 and sets the zero flag; comparing is not needed. So a
// poll costs a loop two instructions per iteration.
static void poll(emitter *e, int32_t exit) {
  tl_x64_rr(&e->as, 0, 0xff, 1, TL_R15);
  jump_if(e, TL_CC_E, FIX_POLL, exit);
}

// Its arguments and what lives across it go through their slots. Where there is
// no room for another call, the interpreter makes it, or says so: jit.c has put
// records and slots into one bound, to which each call adds what it takes.
//
//     caller's slots    … │ a │ argument 0 │ argument 1 │ …
//                           ▲   ▲
//         the result's slot ┘   └ the callee's slot 0, its rbx
//
// The callee's registers are the same ones for other slots, so all that lives
// comes back from memory behind the call. Of the record above only its place is
// counted: the callee writes to it when it leaves, and emit_within the rest.
static void call(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  const tl_jit_exit *within = &e->code->exits[t->imm];
  const tl_jit_exit *before = &e->code->exits[t->exit];
  const tl_jit_unit *callee = t->callee;
  bool floats = t->op == TL_TYPED_FCALL, row = t->op == TL_TYPED_ROWCALL;
  int base = (row ? t->to : t->a % TL_JIT_SLOTS) + 1;
  uint64_t arguments = ((UINT64_C(1) << t->d) - 1) << base;
  tl_jit *jit = e->code->vm->jit;
  if (base > jit->most_step)
    jit->most_step = base;
  if (callee->function->slot_count > jit->most_slots)
    jit->most_slots = callee->function->slot_count;
  move_slots(e, within->slots, within->types, false);
  move_slots(e, arguments & before->slots, before->types, false);
  write_reference_tags(e, arguments & before->slots, before->types);
  tl_x64_rm(as, TL_X64_W, 0x3b, TL_R14, TL_BP, offsetof(tl_vm, native_end));
  leave_if(e, TL_CC_AE, t);
  poll(e, t->exit);
  tl_x64_ri(as, 0, TL_BX, base * 16);
  tl_x64_ri(as, 0, TL_R14, (int32_t)sizeof(tl_frame));
  if (callee == e->unit) {
    tl_as_byte(as, 0xe8);
    add_fix(e, FIX_SELF, 0);
  } else {
    tl_x64_constant(as, TL_AX, (int64_t)(intptr_t)&callee->code);
    tl_x64_rm(as, 0, 0xff, 2, TL_AX, 0);
  }
  tl_x64_ri(as, 5, TL_BX, base * 16);
  tl_x64_ri(as, 5, TL_R14, (int32_t)sizeof(tl_frame));
  tl_x64_rr(as, 0, 0x85, TL_DX, TL_DX);
  jump_if(e, TL_CC_NE, FIX_WITHIN, (int32_t)(t - e->code->ops));
  come_back(e, within);
  if (row) {
    load_row(e, callee, (uint32_t)base);
    return;
  }
  int a = into(e, t->a, floats ? 0 : TL_AX);
  floats ? tl_x64_move_float(as, a, 0) : tl_x64_move(as, a, TL_AX);
  put(e, t->a, a);
}

// Ends the unit's own frame on the stack, in which the facts are. The return
// address is the processor's stack's, so returns are predicted.
static void go_back(emitter *e) {
  if (e->frame_size > 0)
    tl_x64_ri(&e->as, 0, TL_SP, (int32_t)e->frame_size);
  tl_as_byte(&e->as, 0xc3);
}

// The result goes where callers look, with 0 for "it has one". What the slot
// owned the caller's slot owns from here on: its type says so.
static void give_result(emitter *e, const tl_typed *t) {
  if (t->op == TL_TYPED_ROWRETURN)
    ;  // they are in their slots
  else if (t->op == TL_TYPED_FRETURN)
    tl_x64_move_float(&e->as, 0, get(e, t->a, 0));
  else
    tl_x64_move(&e->as, TL_AX, get(e, t->a, TL_AX));
  tl_x64_rr(&e->as, 0, 0x31, TL_DX, TL_DX);
  go_back(e);
}

// --- All operations ---------------------------------------------------------

// Dispatch by operation. A jump to the label that comes next is left out.
static void operation(emitter *e, const tl_typed *t, const tl_typed *next) {
  int a;
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_LABEL:
      e->label_at[t->to] = e->as.size;
      break;
    case TL_TYPED_JUMP:
      if (t->to < 0)
        jump(e, FIX_EXIT, -1 - t->to);
      else if (next == NULL || next->op != TL_TYPED_LABEL || next->to != t->to)
        jump(e, FIX_LABEL, t->to);
      break;
    case TL_TYPED_POLL:
      poll(e, t->exit);
      break;
    case TL_TYPED_EXIT:
      jump(e, FIX_EXIT, t->exit);
      break;
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
    case TL_TYPED_CONST:
      a = into(e, t->a, TL_AX);
      tl_x64_constant(&e->as, a, t->imm);
      put(e, t->a, a);
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
      count(e, t);
      break;
    case TL_TYPED_STEP:
      step(e, t);
      break;
    case TL_TYPED_MIN:
    case TL_TYPED_MAX:
      extreme(e, t);
      break;
    case TL_TYPED_FIT:
      fit(e, t);
      break;
    case TL_TYPED_TRUNC:
      truncate_float(e, t);
      break;
    case TL_TYPED_FMIN:
    case TL_TYPED_FMAX:
      extreme_float(e, t);
      break;
    case TL_TYPED_COMPUTE:
    case TL_TYPED_FCOMPUTE:
      compute(e, t);
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
    case TL_TYPED_LOAD:
    case TL_TYPED_FLOAD:
      read_item(e, t);
      break;
    case TL_TYPED_STORE:
    case TL_TYPED_FSTORE:
      write_item(e, t);
      break;
    case TL_TYPED_GET:
    case TL_TYPED_FGET:
    case TL_TYPED_CAPTURED:
    case TL_TYPED_FCAPTURED:
      get_variable(e, t);
      break;
    case TL_TYPED_PUT:
    case TL_TYPED_FPUT:
      put_variable(e, t);
      break;
    case TL_TYPED_CALL:
    case TL_TYPED_FCALL:
    case TL_TYPED_RCALL:
    case TL_TYPED_ROWCALL:
      call(e, t);
      break;
    case TL_TYPED_ROWRETURN:
      tl_jit_emit_place(e, t);
      give_result(e, t);
      break;
    case TL_TYPED_RETURN:
    case TL_TYPED_FRETURN:
    case TL_TYPED_RRETURN:
      give_result(e, t);
      break;
    case TL_TYPED_COUNT_OF_OPS:
      break;
    default:
      tl_jit_emit_place(e, t);
  }
}

// --- Choices ----------------------------------------------------------------

// A branch over a few operations on one integer becomes a choice: both sides
// are computed, and one is taken. Where nobody could foretell the branch, as in
// a checksum, that is several times as fast.
//
//     if t != 1 -> 17          rax = crc >> 1 ^ 33800
//        crc = crc >> 1 ^ 33800       rdx = crc >> 1
//     17 crc = crc >> 1        cmp t, 1;  cmovne rax, rdx;  crc = rax
enum { MOST_IN_SIDE = 4 };

// One side: operations from [at] on, what they leave in [result] (-1: nothing),
// and the label behind. [written] are all slots that it sets on the way.
typedef struct side {
  uint32_t at, count;
  int result;
  int32_t to;
  uint64_t written;
} side;

// Whether the operation computes one integer of others, in one instruction, and
// never leaves. Both sides are computed whatever the branch, so what could trap
// or takes long is not among them.
static bool is_simple(const tl_typed *t) {
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_MOVE:
    case TL_TYPED_CONST:
    case TL_TYPED_ADD:
    case TL_TYPED_SUB:
    case TL_TYPED_AND:
    case TL_TYPED_OR:
    case TL_TYPED_XOR:
      return true;
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
      return t->c < 0;
    default:
      return false;
  }
}

// Whether a register may be read in the side: it is no slot that the side has
// written.
static bool is_old(const side *s, int r) {
  return r < 0 || r >= TL_JIT_FLOAT || (s->written >> r & 1) == 0;
}

// Reads a side that begins at [at] and ends with a jump. Each operation uses
// what the one before it has made, or nothing that the side has made; constants
// that are not the last stand in the operations already.
static bool read_side(const emitter *e, uint32_t at, side *s) {
  const tl_jit_code *code = e->code;
  *s = (side){.at = at, .result = -1};
  for (uint32_t i = at; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_JUMP) {
      s->to = t->to;
      return t->to >= 0;
    }
    bool follows = t->b >= 0 && t->b == s->result;
    if (!is_simple(t) || s->count == MOST_IN_SIDE ||
        (!follows && !is_old(s, t->b)) || !is_old(s, t->c))
      return false;
    s->written |= UINT64_C(1) << t->a;
    if (t->op != TL_TYPED_CONST || code->ops[i + 1].op == TL_TYPED_JUMP)
      s->result = t->a;
    s->count++;
  }
  return false;
}

// Whether nobody behind the label reads what a side has written but its result.
// The label says UNKNOWN of what is dead there, and the check lets nobody read
// that.
static bool is_dead_behind(const emitter *e, const side *s) {
  const tl_jit_label *label = &e->code->labels[s->to];
  for (uint32_t slot = 0; slot < TL_JIT_SLOTS; slot++)
    if ((s->written >> slot & 1) != 0 && (int)slot != s->result &&
        label->types[slot] != TL_TYPE_UNKNOWN)
      return false;
  return true;
}

// Computes the side in a register, which is rax or rdx; constants may take rcx.
// No slot is written, so the other side finds them all as they were.
static void compute_side(emitter *e, const side *s, int in) {
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

// Whether one operation alone has the label as its target: it goes with the
// branch, and nobody may want to come there in another way.
static bool is_single(const emitter *e, int32_t label) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->code->op_count && count < 2; i++) {
    const tl_typed *t = &e->code->ops[i];
    count += t->op != TL_TYPED_LABEL && t->to == label;
  }
  return count == 1;
}

// The two sides of the branch at [at]: over nothing, or over another side.
// Returns how many operations they are; 0: it is no choice.
//
//     if → E    jump → T    T …  jump → J    E …  jump → J    J
//     if → J    jump → T    T …  jump → J    J
static uint32_t read_choice(const emitter *e, uint32_t at, side *taken,
                            side *other) {
  const tl_typed *ops = e->code->ops, *t = &ops[at];
  if (at + 3 >= e->code->op_count || t->to < 0 ||
      ops[at + 1].op != TL_TYPED_JUMP || ops[at + 2].op != TL_TYPED_LABEL ||
      ops[at + 1].to != ops[at + 2].to || !read_side(e, at + 3, taken) ||
      taken->result < 0 || !is_dead_behind(e, taken))
    return 0;
  uint32_t end = taken->at + taken->count;
  *other = (side){.result = -1, .to = t->to};
  if (taken->to != t->to) {
    if (end + 2 >= e->code->op_count || ops[end + 1].op != TL_TYPED_LABEL ||
        ops[end + 1].to != t->to || !read_side(e, end + 2, other) ||
        other->to != taken->to || other->result != taken->result ||
        !is_dead_behind(e, other) || !is_single(e, t->to))
      return 0;
    end = other->at + other->count;
  }
  return is_single(e, ops[at + 1].to) ? end + 1 - at : 0;
}

// Emits the branch at [at] as a choice, if it is one. Returns how many
// operations that were; 0: nothing was emitted.
static uint32_t choose(emitter *e, uint32_t at) {
  const tl_typed *t = &e->code->ops[at];
  side taken, other;
  if (t->op != TL_TYPED_IF || e->reg[t->b] < 0 ||
      (t->c >= 0 ? e->reg[t->c] < 0 : !has_short_constant(t)))
    return 0;
  uint32_t count = read_choice(e, at, &taken, &other);
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
  const tl_typed *jumps = &e->code->ops[at + count - 1];
  operation(e, jumps,
            jumps + 1 < e->code->ops + e->code->op_count ? jumps + 1 : NULL);
  return count;
}

// --- Entry and exits --------------------------------------------------------

// Facts go home as well as into their registers: after a call they come from
// there. Tags of arrays were compared by C (has_types in jit.c), so their
// descriptors are read unchecked. Slots without a register are at home already.
//
//     slot ─▶ tl_array:  data ─▶ items      facts: data, dims[0] to dims[2]
static void prologue(emitter *e) {
  tl_assembler *as = &e->as;
  const tl_jit_unit *u = e->unit;
  if (e->frame_size > 0)
    tl_x64_ri(as, 5, TL_SP, (int32_t)e->frame_size);
  for (uint32_t k = 0; k < u->array_count; k++) {
    int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * (int)k;
    int rank = (int)(u->arrays[k].tag >> 24 & 7);
    tl_x64_rm(as, TL_X64_W, 0x8b, TL_AX, TL_BX, u->arrays[k].slot * 16 + 8);
    for (int i = 0; i <= rank; i++) {
      int32_t field = i == 0 ? (int32_t)offsetof(tl_array, data)
                             : (int32_t)offsetof(tl_array, dims) + 8 * (i - 1);
      int to = into(e, facts + i, TL_CX);
      tl_x64_rm(as, TL_X64_W, 0x8b, to, TL_AX, field);
      store(e, to, facts + i);
    }
  }
  load_pinned(e);
  for (uint32_t s = 0; s < u->function->slot_count; s++) {
    tl_jit_type type = tl_jit_type_of(u->tags[s]);
    if ((u->live >> s & 1) == 0 || !tl_jit_is_scalar(type))
      continue;
    int r = tl_jit_register(s, type);
    if (e->reg[r] >= 0)
      load(e, e->reg[r], r);
  }
}

// The tags of what an exit writes back, and its payloads unless they are there.
// A slot's tag in memory is that of the entry or older until then, and nobody
// reads it before. The owned bit is part of what is written: a slot that a
// reference moved to owns it from here on. The slot that it left is dead, and
// its tag stays, as behind the interpreter's own moves.
static void write_back(emitter *e, const tl_jit_exit *exit, bool payloads) {
  if (payloads)
    move_slots(e, exit->slots, exit->types, false);
  for (uint64_t slots = exit->slots; slots != 0; slots &= slots - 1) {
    uint32_t s = (uint32_t)__builtin_ctzll(slots);
    tl_x64_rm(&e->as, TL_X64_W, 0xc7, 0, TL_BX, (int32_t)s * 16);
    tl_as_word(&e->as, (uint32_t)tl_jit_tag_of(e->unit, s, exit->types[s]));
  }
}

// The call record stands at the exit's instruction, and the unit ends. The
// address of the instruction stands in the code: a function's bytecode stays
// where it is as long as its units do.
static void leave(emitter *e, const tl_jit_exit *exit) {
  tl_assembler *as = &e->as;
  const tl_ins *pc = &e->unit->function->code[exit->pc];
  tl_x64_constant(as, TL_AX, (int64_t)(intptr_t)pc);
  tl_x64_rm(as, TL_X64_W, 0x89, TL_AX, TL_R14, offsetof(tl_frame, pc));
  tl_x64_rm(as, TL_X64_W, 0x89, TL_BX, TL_R14, offsetof(tl_frame, base));
  tl_x64_constant(as, TL_DX, 1);
  go_back(e);
}

// The exit's code, made when it is first jumped to. Place 0 is that of the
// prologue, or of the first operation, and never an exit's.
static uint32_t emit_exit(emitter *e, int32_t number) {
  uint32_t *at = &e->exit_at[number];
  if (*at != 0)
    return *at;
  *at = e->as.size;
  write_back(e, &e->code->exits[number], true);
  tl_x64_rm(&e->as, TL_X64_W, 0x89, TL_R14, TL_BP, offsetof(tl_vm, frame));
  leave(e, &e->code->exits[number]);
  return *at;
}

// A callee has left: its record lacks who it is. r14 is the caller's own record
// again, and the callee's is the one above it. vm->frame was set by the unit
// that left first, the innermost one, and is not touched here. Payloads are in
// their slots since the call.
static uint32_t emit_within(emitter *e, int32_t op) {
  const tl_typed *t = &e->code->ops[op];
  const tl_jit_exit *exit = &e->code->exits[t->imm];
  const int32_t next = sizeof(tl_frame);
  uint32_t at = e->as.size;
  tl_x64_constant(&e->as, TL_AX, (int64_t)(intptr_t)t->callee->function);
  tl_x64_rm(&e->as, TL_X64_W, 0x89, TL_AX, TL_R14,
            next + (int32_t)offsetof(tl_frame, function));
  tl_x64_constant(&e->as, TL_AX, 0);
  tl_x64_rm(&e->as, TL_X64_W, 0x89, TL_AX, TL_R14,
            next + (int32_t)offsetof(tl_frame, closure));
  tl_x64_rm(&e->as, 0, 0x89, TL_AX, TL_R14,
            next + (int32_t)offsetof(tl_frame, flags));
  write_back(e, exit, false);
  leave(e, exit);
  return at;
}

// Everything in registers to the stack, or back from there. In the order of the
// unit's registers, from rsp on: the same both times.
static void move_registers(emitter *e, bool back) {
  int at = 0;
  for (int r = 0; r < TL_JIT_REGISTERS; r++)
    if (e->reg[r] >= 0)
      tl_x64_rm(&e->as, is_float(r) ? TL_X64_SD : TL_X64_W,
                is_float(r) ? (back ? 0x10 : 0x11) : (back ? 0x8b : 0x89),
                e->reg[r], TL_SP, 8 * at++);
}

// More fuel for a unit that ran out of it; 0 after tl_fail. All of it is in one
// place while a unit runs. Of the functions of C that units call it is the
// only one that knows a VM. Nothing in it may run a script, ask for memory or
// look at the slots: their tags are not right.
static int32_t refuel(tl_vm *vm) {
  vm->jit->has_polled = true;
  vm->jit->is_refused = !tl_refuel(vm);
  int32_t fuel = vm->fuel + vm->fuel_aside;
  vm->fuel_aside = 0;
  return vm->jit->is_refused ? 0 : fuel;
}

// The fuel ran out: asks C for more, and goes on behind [after]; where there is
// none, an error is pending. The stack is aligned to 16 bytes for the call, as
// the ABI wants it (System V, 3.2.2), wherever in the unit's calls this is; the
// old rsp is at its upper end. rbx, rbp and r14 are C's to save, and so is r15,
// which is new here anyway.
static uint32_t emit_poll(emitter *e, int32_t exit, uint32_t after) {
  enum { ROOM = 8 * (INTS + FLOATS + 2) };
  tl_assembler *as = &e->as;
  uint32_t at = as->size;
  tl_x64_move(as, TL_AX, TL_SP);
  tl_x64_ri(as, 4, TL_SP, -16);
  tl_x64_ri(as, 5, TL_SP, ROOM);
  tl_x64_rm(as, TL_X64_W, 0x89, TL_AX, TL_SP, ROOM - 8);
  move_registers(e, false);
  tl_x64_move(as, TL_DI, TL_BP);
  tl_x64_constant(as, TL_AX, (int64_t)(intptr_t)refuel);
  tl_x64_rr(as, 0, 0xff, 2, TL_AX);
  tl_x64_move(as, TL_R15, TL_AX);
  move_registers(e, true);
  tl_x64_rm(as, TL_X64_W, 0x8b, TL_SP, TL_SP, ROOM - 8);
  tl_x64_rr(as, 0, 0x85, TL_R15, TL_R15);
  tl_as_byte(as, 0x0f);
  tl_as_byte(as, 0x80 | TL_CC_NE);
  tl_as_word(as, after - (as->size + 4));
  jump(e, FIX_EXIT, exit);
  return at;
}

// The constant of an operation, behind the code: 8 bytes, which pages of code
// let be read. Each has its own copy, as few are used twice.
static uint32_t emit_data(emitter *e, int32_t op) {
  uint32_t at = e->as.size;
  uint64_t bits = (uint64_t)e->code->ops[op].imm;
  tl_as_word(&e->as, (uint32_t)bits);
  tl_as_word(&e->as, (uint32_t)(bits >> 32));
  return at;
}

// Where a fix goes; what is not there yet is made. Exits and polls are appended
// behind all that is there. FIX_SELF is the unit's first byte.
static uint32_t target_of(emitter *e, const fix *f) {
  switch ((fix_kind)f->kind) {
    case FIX_LABEL:
      return e->label_at[f->to];
    case FIX_EXIT:
      return emit_exit(e, f->to);
    case FIX_POLL:
      return emit_poll(e, f->to, f->at + 4);
    case FIX_WITHIN:
      return emit_within(e, f->to);
    case FIX_DATA:
      return emit_data(e, f->to);
    default:
      return 0;
  }
}

// One block for all tables of the emitter; false: no memory. No operation has
// more than 24 jumps: a store into a place of three steps has the most, with
// up to seven tests for each.
static bool open_emitter(emitter *e, tl_jit_code *code) {
  uint32_t labels = code->label_count, exits = code->exit_count;
  *e = (emitter){.code = code,
                 .unit = code->unit,
                 .as = {.vm = code->vm},
                 .fix_capacity = 24 * code->op_count + 8};
  e->frame_size = 8 * TL_JIT_FACTS_EACH * code->unit->array_count;
  e->nbytes =
      (labels + exits) * sizeof(uint32_t) + e->fix_capacity * sizeof(fix);
  e->block = tl_spare_alloc(code->vm, e->nbytes);
  if (e->block == NULL)
    return false;
  memset(e->block, 0, e->nbytes);
  e->label_at = e->block;
  e->exit_at = e->label_at + labels;
  e->fixes = (fix *)(void *)(e->exit_at + exits);
  assign(e);
  return true;
}

// Operations first, then what they jump to that is not there yet. Exits may
// jump to exits, so the table grows while it is walked. The unit's size is set
// even on failure; its code is NULL then.
bool tl_jit_emit(tl_jit_code *code) {
  emitter e;
  if (!open_emitter(&e, code))
    return false;
  prologue(&e);
  for (uint32_t i = 0; i < code->op_count;) {
    if (e.checked != NULL && !keeps_index(&e, &code->ops[i]))
      e.checked = NULL;
    uint32_t chosen = choose(&e, i);
    if (chosen == 0)
      operation(&e, &code->ops[i],
                i + 1 < code->op_count ? &code->ops[i + 1] : NULL);
    i += chosen == 0 ? 1 : chosen;
  }
  // Exits have jumps of their own, so the number grows on the way.
  for (uint32_t i = 0; i < e.fix_count && !e.as.is_full; i++) {
    fix f = e.fixes[i];
    uint32_t distance = target_of(&e, &f) - (f.at + 4);
    if (!e.as.is_full)
      memcpy(e.as.bytes + f.at, &distance, sizeof distance);
  }
  tl_jit *jit = code->vm->jit;
  if (!e.as.is_full)
    code->unit->code =
        tl_code_put(code->vm, &jit->chunks, e.as.bytes, e.as.size);
  code->unit->size = e.as.size;
  tl_as_close(&e.as);
  tl_spare_free(code->vm, e.block, e.nbytes);
  return code->unit->code != NULL;
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
