// Machine code for x86-64: sums, quotients, shifts, floats, and how items of
// arrays are reached. The rest is in terms of target_*.h.
//
//     rbx  the frame's slots     rbp  the VM       r14  the call record
//     r15d the fuel              rax, rcx, rdx, xmm0, xmm1  free
#include "vm/native/jit_internal.h"

#if TL_JIT_X64

#include "vm/elementwise.h"
#include "vm/native/emit.h"

// --- Comparisons ------------------------------------------------------------

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

// cvtsi2sd and its like round to nearest, ties to even, as a cast of C does,
// unless the host has changed MXCSR, which would change the interpreter's
// results too. Of a uint64 it takes rdx, too.
void tl_jit_convert(emitter *e, const tl_typed *t, int i, int r, int to) {
  tl_dtype from = tl_jit_dtype(t->from[i]);
  // Clearing it first, so that it does not wait for what was there, and a
  // float32 has nothing above it.
  clear_float(e, to);
  int how = from == TL_FLOAT32 ? TL_X64_SS : TL_X64_SD;
  if (from == TL_UINT64)
    convert_unsigned(e, t, to, tl_jit_get(e, r, TL_AX));
  else if (!is_float(r))
    tl_x64_rr(&e->as, width(t) | TL_X64_W, 0x2a, to, tl_jit_get(e, r, TL_AX));
  else if (e->reg[r] >= 0)
    tl_x64_rr(&e->as, how, 0x5a, to, e->reg[r]);
  else
    tl_x64_rm(&e->as, how, 0x5a, to, home_base(r), home(r));
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

int tl_jit_compare_floats(emitter *e, const tl_typed *t) {
  parity parity;
  return compare_floats(e, t, &parity);
}

// minsd and maxsd give the second operand where neither is less, as where one
// is NaN.
void tl_jit_choose(emitter *e, const tl_typed *t, int condition, bool first) {
  (void)condition;
  bool smaller = (t->condition == TL_IF_NLT) != first;
  int to = e->reg[first ? t->b : t->c], value = get_float(e, t, 1 + first, 0);
  int opcode = smaller ? 0x5d : 0x5f;
  if (__builtin_cpu_supports("avx")) {
    tl_x64_three(&e->as, width(t), opcode, to, value, to);
  } else {
    tl_x64_move_float(&e->as, 0, value);
    tl_x64_rr(&e->as, width(t), opcode, 0, to);
    tl_x64_move_float(&e->as, to, 0);
  }
}

// Equality of floats needs two tests: NaN sets the parity, and is equal to
// nothing. Both jumps of "not equal" go to one target, and stand in this order
// because the flags outlive the first. setcc writes a byte alone, so movzx
// widens it; the operands have been read before al and cl are written.
void tl_gen_fcompare(emitter *e, const tl_typed *t) {
  parity parity;
  int condition = compare_floats(e, t, &parity);
  bool ordered = parity == PARITY_AND_ORDERED;
  if (parity == PARITY_NO) {
    tl_jit_decide(e, t, condition);
  } else if (t->op == TL_TYPED_FIF) {
    uint32_t unordered = ordered ? tl_x64_skip(&e->as, TL_CC_P) : 0;
    if (!ordered)
      tl_jit_jump_to(e, TL_CC_P, t->to);
    tl_jit_jump_to(e, condition, t->to);
    if (ordered)
      tl_x64_here(&e->as, unordered);
  } else {
    const int set = TL_X64_0F | TL_X64_BYTE;
    tl_x64_rr(&e->as, set, 0x90 | condition, 0, TL_AX);
    tl_x64_rr(&e->as, set, 0x90 | (ordered ? TL_CC_NP : TL_CC_P), 0, TL_CX);
    tl_x64_rr(&e->as, TL_X64_BYTE, ordered ? 0x22 : 0x0a, TL_AX, TL_CX);
    int a = into(e, t->a, TL_AX);
    tl_x64_rr(&e->as, TL_X64_0F, 0xb6, a, TL_AX);
    tl_jit_put(e, t->a, a);
  }
}

// --- Integers ---------------------------------------------------------------

// Which instruction is which operation, with a register or a constant: opcodes
// of the form reg, rm, and the digits of 81 and 83.
static const struct {
  uint8_t opcode, digit;
  bool commutes;
} sums[] = {[TL_TYPED_ADD] = {0x03, 0, true}, [TL_TYPED_SUB] = {0x2b, 5, false},
            [TL_TYPED_MUL] = {0xaf, 0, true}, [TL_TYPED_AND] = {0x23, 4, true},
            [TL_TYPED_OR] = {0x0b, 1, true},  [TL_TYPED_XOR] = {0x33, 6, true}};

// a = b op c, where c is in a register. The processor has a op= c only, so b
// moves to a first, and where c is in a's register, it has to give way: the two
// are swapped, or c is copied to rcx. Overflow wraps, as the language says.
static void two_ints(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, TL_AX), b = tl_jit_get(e, t->b, TL_AX);
  int c = get_int(e, t, TL_CX);
  if (a == c && a != b && sums[t->op].commutes) {
    c = b;
  } else if (a == c && a != b) {
    tl_x64_move(&e->as, TL_CX, c);
    c = TL_CX;
    tl_x64_move(&e->as, a, b);
  } else {
    tl_x64_move(&e->as, a, b);
  }
  tl_x64_rr(&e->as, t->op == TL_TYPED_MUL ? TL_X64_W | TL_X64_0F : TL_X64_W,
            sums[t->op].opcode, a, c);
  put_cut(e, t, a);
}

// The same with a constant of 32 bits where it fits. A sum into another
// register is one lea, which leaves its operand as it is, and a product one
// instruction, too.
void tl_gen_arithmetic(emitter *e, const tl_typed *t) {
  if (t->c >= 0 || !is_immediate(t->imm)) {
    two_ints(e, t);
    return;
  }
  int a = into(e, t->a, TL_AX), b = tl_jit_get(e, t->b, TL_AX);
  int32_t imm = (int32_t)t->imm;
  if (t->op == TL_TYPED_MUL) {
    tl_x64_rr(&e->as, TL_X64_W, 0x69, a, b);
    tl_as_word(&e->as, (uint32_t)imm);
  } else if (a != b && t->op == TL_TYPED_ADD) {
    tl_x64_rm(&e->as, TL_X64_W, 0x8d, a, b, imm);
  } else {
    tl_x64_move(&e->as, a, b);
    tl_x64_ri(&e->as, sums[t->op].digit, a, imm);
  }
  put_cut(e, t, a);
}

// Which shift it is: 4 is to the left, 7 to the right, and 5 without a sign. To
// the right only a uint64 shifts so: narrower ones have no sign in 64 bits, so
// their sign bit is 0 and both shifts are the same.
static int digit_of(const tl_typed *t) {
  return t->op == TL_TYPED_SHL                   ? 4
         : t->type == tl_jit_of_dtype(TL_UINT64) ? 5
                                                 : 7;
}
static void shift_by(emitter *e, const tl_typed *t, int in) {
  tl_x64_rr(&e->as, TL_X64_W, 0xc1, digit_of(t), in);
  tl_as_byte(&e->as, (int)t->imm);
}

// Shifts by the width or more are not plain; the processor would take them
// modulo 64. The comparison is unsigned, so amounts below 0 leave, too. The
// result is computed in rax because a may be the register of c.
void tl_gen_shift(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, TL_AX);
  if (t->c < 0) {
    tl_x64_move(&e->as, a, tl_jit_get(e, t->b, TL_AX));
    shift_by(e, t, a);
  } else {
    int bits = 8 * (int)tl_itemsize(tl_jit_dtype(t->type));
    tl_x64_move(&e->as, TL_CX, tl_jit_get(e, t->c, TL_CX));
    tl_x64_ri(&e->as, 7, TL_CX, bits - 1);
    tl_jit_leave_if(e, TL_CC_A, t);
    tl_x64_move(&e->as, TL_AX, tl_jit_get(e, t->b, TL_AX));
    tl_x64_rr(&e->as, TL_X64_W, 0xd3, digit_of(t), TL_AX);
    tl_x64_move(&e->as, a, TL_AX);
  }
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
    tl_jit_leave_if(e, TL_CC_E, t);
  }
  tl_x64_move(as, TL_AX, tl_jit_get(e, t->b, TL_AX));
  tl_x64_rr(as, 0, 0x31, TL_DX, TL_DX);
  tl_x64_rr(as, TL_X64_W, 0xf7, 6, TL_CX);
  tl_jit_put_from(e, t->a, t->op == TL_TYPED_MOD ? TL_DX : TL_AX);
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
void tl_gen_divide(emitter *e, const tl_typed *t) {
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
    tl_jit_leave_if(e, TL_CC_BE, t);
  }
  tl_x64_move(as, TL_AX, tl_jit_get(e, t->b, TL_AX));
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

// A float64 cut to an int64, if it is below 2^62 and not below -2^62: then
// twice the result fits, too. cvttsd2si gives INT64_MIN for all that it cannot
// convert, NaN among it, and twice that overflows, too.
void tl_gen_truncate(emitter *e, const tl_typed *t) {
  tl_x64_rr(&e->as, TL_X64_SD | TL_X64_W, 0x2c, TL_AX, tl_jit_get(e, t->b, 0));
  tl_x64_move(&e->as, TL_CX, TL_AX);
  tl_x64_rr(&e->as, TL_X64_W, 0x03, TL_CX, TL_CX);
  tl_jit_leave_if(e, TL_CC_O, t);
  tl_jit_put_from(e, t->a, TL_AX);
}

// --- Floats -----------------------------------------------------------------

// The opcodes of both widths.
static const uint8_t float_opcodes[] = {[TL_TYPED_FADD] = 0x58,
                                        [TL_TYPED_FSUB] = 0x5c,
                                        [TL_TYPED_FMUL] = 0x59,
                                        [TL_TYPED_FDIV] = 0x5e};

// a = b op c. The order of operands decides which of two NaNs is the result, so
// they are not swapped where a is c. addsd and its like return the first
// operand where both are NaN, made quiet (Intel's manual, volume 1, table 4-7),
// and compilers emit b op c in the same order for the interpreter.
void tl_gen_two_floats(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0), opcode = float_opcodes[t->op];
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
  tl_jit_put(e, t->a, a);
}

// The smaller or larger of b and c as the kernels have it: b where they are
// equal, and where b is NaN; c where c alone is.
void tl_gen_fextreme(emitter *e, const tl_typed *t) {
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
  tl_jit_put(e, t->a, a);
}

// Roots are the processor's, correctly rounded. Signs change by masks, as C
// does: the sign alone for xorpd, all but the sign for andpd. So NaNs change
// their sign and nothing else.
void tl_gen_one_float(emitter *e, const tl_typed *t) {
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
    int b = tl_jit_get(e, t->b, 0);
    tl_x64_constant(&e->as, TL_DX, negates ? sign : ~sign);
    tl_x64_rr(&e->as, TL_X64_PD | TL_X64_W, 0x6e, 1, TL_DX);
    tl_x64_move_float(&e->as, a, b);
    tl_x64_rr(&e->as, TL_X64_PD, negates ? 0x57 : 0x54, a, 1);
  }
  tl_jit_put(e, t->a, a);
}

// The rounding of floats has an instruction where the processor has SSE 4.1
// (roundss and roundsd, 66 0f 3a 0a and 0b), which rounds as C's function does
// and raises nothing. False: it has not, or it is another operation.
bool tl_jit_round(emitter *e, const tl_typed *t) {
  // Bit 3 of the mode says that inexact results are no exception.
  int mode = t->condition == TL_OP_ROUND   ? 8
             : t->condition == TL_OP_FLOOR ? 9
             : t->condition == TL_OP_CEIL  ? 10
             : t->condition == TL_OP_TRUNC ? 11
                                           : 0;
  if (mode == 0 || !is_float(t->a) || tl_jit_dtype(t->from[1]) != t->dtype ||
      !__builtin_cpu_supports("sse4.1"))
    return false;
  int a = into(e, t->a, 0), b = tl_jit_get(e, t->b, 0);
  if (t->dtype == TL_FLOAT32) {
    tl_x64_move_float(&e->as, a, b);
    b = a;
  }
  tl_x64_open(&e->as, TL_X64_PD, 0x3a, a, 0, b);
  tl_as_byte(&e->as, t->dtype == TL_FLOAT32 ? 0x0a : 0x0b);
  tl_as_byte(&e->as, 0xc0 | (a & 7) << 3 | (b & 7));
  tl_as_byte(&e->as, mode);
  tl_jit_put(e, t->a, a);
  return true;
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

void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index,
                      int32_t offset) {
  reach_item(e, dtype, extensions[dtype].how, extensions[dtype].opcode, to,
             items, index, offset);
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

// --- Choices ----------------------------------------------------------------

void tl_jit_combine(emitter *e, const tl_typed *t, int in) {
  if (t->op == TL_TYPED_SHL || t->op == TL_TYPED_SAR)
    shift_by(e, t, in);
  else if (t->c < 0 && is_immediate(t->imm))
    tl_x64_ri(&e->as, sums[t->op].digit, in, (int32_t)t->imm);
  else
    tl_x64_rr(&e->as, TL_X64_W, sums[t->op].opcode, in, get_int(e, t, TL_CX));
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
