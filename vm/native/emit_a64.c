// Machine code for AArch64: sums, quotients, shifts, floats, and how items of
// arrays are reached. The rest is in terms of target_*.h.
//
//     x19  the frame's slots     x20  the VM     x21  the call record
//     w22  the fuel              x0 to x2, v0, v1  free
//
// Floats are computed by the instructions that compilers emit for C's
// operators, with the operands in the same order and none contracted, so the
// bits are the interpreter's, of NaNs, too.
#include "vm/native/jit_internal.h"

#if TL_JIT_A64

#include "vm/elementwise.h"
#include "vm/native/emit.h"

// --- Comparisons ------------------------------------------------------------

// An instruction for the width of the operation's floats.
static int wide(const tl_typed *t, int opcode) {
  return t->dtype == TL_FLOAT32 ? opcode ^ TL_A64_DOUBLE : opcode;
}

void tl_jit_convert(emitter *e, const tl_typed *t, int i, int r, int to) {
  tl_dtype from = tl_jit_dtype(t->from[i]);
  int how = is_float(r)
                ? from == TL_FLOAT32 ? TL_A64_WIDEN : TL_A64_NARROW
                : wide(t, from == TL_UINT64 ? TL_A64_UCVTF : TL_A64_SCVTF);
  tl_a64_rr(&e->as, how, to, tl_jit_get(e, r, is_float(r) ? to : T0));
}

// Compares floats, by the flags of a64.h. MI and LS say below, since they
// fail for NaN, and what passes for NaN are their opposites.
int tl_jit_compare_floats(emitter *e, const tl_typed *t) {
  static const uint8_t codes[] = {TL_CC_S,  TL_CC_BE, TL_CC_G,  TL_CC_GE,
                                  TL_CC_E,  TL_CC_NE, TL_CC_NS, TL_CC_A,
                                  TL_CC_LE, TL_CC_L};
  int b = get_float(e, t, 1, 0), c = get_float(e, t, 2, 1);
  tl_a64_rrr(&e->as, wide(t, TL_A64_FCMP), 0, b, c);
  return codes[t->condition];
}

void tl_jit_choose(emitter *e, const tl_typed *t, int condition, bool first) {
  int to = e->reg[first ? t->b : t->c];
  tl_a64_select(&e->as, wide(t, TL_A64_FCSEL), to, to,
                get_float(e, t, 1 + first, 0), condition);
}

void tl_gen_fcompare(emitter *e, const tl_typed *t) {
  tl_jit_decide(e, t, tl_jit_compare_floats(e, t));
}

// --- Integers ---------------------------------------------------------------

// Which instruction is which operation of two registers.
static const int opcodes[] = {
    [TL_TYPED_ADD] = TL_A64_ADD,   [TL_TYPED_SUB] = TL_A64_SUB,
    [TL_TYPED_MUL] = TL_A64_MUL,   [TL_TYPED_AND] = TL_A64_AND,
    [TL_TYPED_OR] = TL_A64_OR,     [TL_TYPED_XOR] = TL_A64_XOR,
    [TL_TYPED_FADD] = TL_A64_FADD, [TL_TYPED_FSUB] = TL_A64_FSUB,
    [TL_TYPED_FMUL] = TL_A64_FMUL, [TL_TYPED_FDIV] = TL_A64_FDIV};

// a = b op c. A sum with a constant has it in the instruction, and the lowest
// bits are one instruction, too. Overflow wraps, as the language says.
void tl_gen_arithmetic(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, T0), b = tl_jit_get(e, t->b, T0),
      opcode = opcodes[t->op];
  uint64_t bits = (uint64_t)t->imm;
  bool is_mask = t->imm > 0 && (bits & (bits + 1)) == 0;
  if (t->c < 0 && (t->op == TL_TYPED_ADD || t->op == TL_TYPED_SUB))
    tl_a64_sum(&e->as, opcode, a, b, t->imm);
  else if (t->c < 0 && t->op == TL_TYPED_AND && is_mask)
    tl_a64_extend(&e->as, TL_A64_UBFM, a, b, 64 - __builtin_clzll(bits));
  else
    tl_a64_rrr(&e->as, opcode, a, b, get_int(e, t, T1));
  put_cut(e, t, a);
}

// To the right only a uint64 shifts without a sign: narrower ones have none in
// 64 bits, so their sign bit is 0 and both shifts are the same.
static bool shifts_unsigned(const tl_typed *t) {
  return t->type == tl_jit_of_dtype(TL_UINT64);
}
// The shift by a constant.
static int shift_opcode(const tl_typed *t) {
  return t->op == TL_TYPED_SHL ? TL_A64_LSL
         : shifts_unsigned(t)  ? TL_A64_UBFM
                               : TL_A64_SBFM;
}

// Shifts by the width or more are not plain; the processor would take them
// modulo 64. The comparison is unsigned, so amounts below 0 leave, too.
void tl_gen_shift(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, T0), bits = 8 * (int)tl_itemsize(tl_jit_dtype(t->type));
  if (t->c < 0) {
    tl_a64_shift(&e->as, shift_opcode(t), a, tl_jit_get(e, t->b, T0),
                 (int)t->imm & 63);
  } else {
    int c = tl_jit_get(e, t->c, T1);
    tl_a64_compare(&e->as, c, bits - 1);
    tl_jit_leave_if(e, TL_CC_A, t);
    tl_a64_rrr(&e->as,
               t->op == TL_TYPED_SHL ? TL_A64_LSL
               : shifts_unsigned(t)  ? TL_A64_LSR
                                     : TL_A64_ASR,
               a, tl_jit_get(e, t->b, T0), c);
  }
  put_cut(e, t, a);
}

// Towards minus infinity: where the rest is not 0 and has another sign than the
// divisor, the quotient is one less and the rest one divisor more. The sign of
// `rest xor divisor` says whether theirs differ. The processor cuts, and traps
// on nothing; but divisors 0 and -1 leave beforehand, by one unsigned
// comparison: c + 1 is at most 1. Of uint64 nothing is below 0.
//
//          7 // -2:  x2 = -3, x1 = 1     →  -4, rest -1
//         -7 // -2:  x2 = 3,  x1 = -1    →   3, rest -1
void tl_gen_divide(emitter *e, const tl_typed *t) {
  tl_assembler *as = &e->as;
  bool is_unsigned = t->type == tl_jit_of_dtype(TL_UINT64);
  int c = get_int(e, t, T1), b, a = into(e, t->a, T0);
  if (t->c >= 0 && is_unsigned) {
    tl_a64_compare(as, c, 0);
    tl_jit_leave_if(e, TL_CC_E, t);
  } else if (t->c >= 0) {
    tl_a64_sum(as, TL_A64_ADD, TL_X16, c, 1);
    tl_a64_compare(as, TL_X16, 1);
    tl_jit_leave_if(e, TL_CC_BE, t);
  }
  b = tl_jit_get(e, t->b, T0);
  tl_a64_rrr(as, is_unsigned ? TL_A64_UDIV : TL_A64_SDIV, T2, b, c);
  tl_a64_rrr(as, TL_A64_MSUB | b << 10, TL_X16, T2, c);
  if (!is_unsigned) {
    tl_a64_compare(as, TL_X16, 0);
    uint32_t whole = tl_a64_skip(as, TL_CC_E);
    tl_a64_rrr(as, TL_A64_XOR, TL_X17, TL_X16, c);
    tl_a64_rrr(as, TL_A64_ANDS, TL_ZERO, TL_X17, TL_X17);
    uint32_t same = tl_a64_skip(as, TL_CC_NS);
    tl_a64_sum(as, TL_A64_SUB, T2, T2, 1);
    tl_a64_rrr(as, TL_A64_ADD, TL_X16, TL_X16, c);
    tl_a64_here(as, same);
    tl_a64_here(as, whole);
  }
  tl_a64_move(as, a, t->op == TL_TYPED_MOD ? TL_X16 : T2);
  put_cut(e, t, a);
}

// A float64 cut to an int64, if it is below 2^62 and not below -2^62: then
// twice the result fits, too. The processor gives the nearest integer for what
// it cannot convert, of which twice overflows; and 0 for NaN, which is asked
// for.
void tl_gen_truncate(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, T0), b = tl_jit_get(e, t->b, 0);
  tl_a64_rr(&e->as, TL_A64_FCVTZS, T0, b);
  tl_a64_rrr(&e->as, TL_A64_ADDS, TL_ZERO, T0, T0);
  tl_jit_leave_if(e, TL_CC_O, t);
  tl_a64_rrr(&e->as, TL_A64_FCMP, 0, b, b);
  tl_jit_leave_if(e, TL_CC_O, t);
  tl_a64_move(&e->as, a, T0);
  tl_jit_put(e, t->a, a);
}

// --- Floats -----------------------------------------------------------------

void tl_gen_two_floats(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0);
  int b = get_float(e, t, 1, 0), c = get_float(e, t, 2, 1);
  tl_a64_rrr(&e->as, wide(t, opcodes[t->op]), a, b, c);
  tl_jit_put(e, t->a, a);
}

// The smaller or larger of b and c as the kernels have it: b where they are
// equal, and where b is NaN; c where c alone is.
void tl_gen_fextreme(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0);
  int b = get_float(e, t, 1, 0), c = get_float(e, t, 2, 1);
  bool smaller = t->op == TL_TYPED_FMIN;
  int compare = wide(t, TL_A64_FCMP), select = wide(t, TL_A64_FCSEL);
  tl_a64_rrr(&e->as, compare, 0, smaller ? c : b, smaller ? b : c);
  tl_a64_select(&e->as, select, 1, b, c, TL_CC_GE);
  tl_a64_rrr(&e->as, compare, 0, b, b);
  tl_a64_select(&e->as, select, a, b, 1, TL_CC_O);
  tl_jit_put(e, t->a, a);
}

// Roots are correctly rounded. NaNs change their sign and nothing else.
void tl_gen_one_float(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0), b = get_float(e, t, 1, 0);
  if (t->op == TL_TYPED_FMOVE)
    move_float(e, a, b);
  else
    tl_a64_rr(&e->as,
              wide(t, t->op == TL_TYPED_FSQRT  ? TL_A64_FSQRT
                      : t->op == TL_TYPED_FNEG ? TL_A64_FNEG
                                               : TL_A64_FABS),
              a, b);
  tl_jit_put(e, t->a, a);
}

// The instruction that rounds floats as an operation does; 0: none.
static int rounding(int op) {
  return op == TL_OP_ROUND   ? TL_A64_FRINTN
         : op == TL_OP_FLOOR ? TL_A64_FRINTM
         : op == TL_OP_CEIL  ? TL_A64_FRINTP
         : op == TL_OP_TRUNC ? TL_A64_FRINTZ
                             : 0;
}

bool tl_jit_round(emitter *e, const tl_typed *t) {
  int opcode = rounding(t->condition);
  if (!is_float(t->a) || opcode == 0 || tl_jit_dtype(t->from[1]) != t->dtype)
    return false;
  int a = into(e, t->a, 0);
  tl_a64_rr(&e->as, wide(t, opcode), a, tl_jit_get(e, t->b, 0));
  tl_jit_put(e, t->a, a);
  return true;
}

// --- Items ------------------------------------------------------------------

// How an item of the dtype is read into a register, extended to 64 bits, and
// written back: the lowest bytes of the register. A complex64 is 8 bytes in its
// slot, both halves side by side.
static const struct {
  int read, write;
} accesses[TL_COMPLEX128] = {
    [TL_BOOL] = {TL_A64_LDR_8, TL_A64_STR_8},
    [TL_INT8] = {TL_A64_LDRS_8, TL_A64_STR_8},
    [TL_INT16] = {TL_A64_LDRS_16, TL_A64_STR_16},
    [TL_INT32] = {TL_A64_LDRS_32, TL_A64_STR_32},
    [TL_INT64] = {TL_A64_LDR, TL_A64_STR},
    [TL_UINT8] = {TL_A64_LDR_8, TL_A64_STR_8},
    [TL_UINT16] = {TL_A64_LDR_16, TL_A64_STR_16},
    [TL_UINT32] = {TL_A64_LDR_32, TL_A64_STR_32},
    [TL_UINT64] = {TL_A64_LDR, TL_A64_STR},
    [TL_FLOAT32] = {TL_A64_LDR_S, TL_A64_STR_S},
    [TL_FLOAT64] = {TL_A64_LDR_D, TL_A64_STR_D},
    [TL_COMPLEX64] = {TL_A64_LDR, TL_A64_STR},
};

// The instruction on a register and an item of an array: [offset] items behind
// the index, -1 for none.
static void reach_item(emitter *e, int opcode, int r, int items, int index,
                       int32_t offset) {
  if (index < 0) {
    int size = 1 << ((uint32_t)opcode >> 30);
    tl_a64_memory(&e->as, opcode, r, items, size * offset);
    return;
  }
  if (offset != 0) {
    tl_a64_sum(&e->as, TL_A64_ADD, TL_X16, index, offset);
    index = TL_X16;
  }
  // At the items and the index times the size of the access.
  tl_a64_rrr(&e->as, (opcode ^ 0x01000000) | 0x00207800, r, items, index);
}
void tl_jit_load_item(emitter *e, tl_dtype dtype, int to, int items, int index,
                      int32_t offset) {
  reach_item(e, accesses[dtype].read, to, items, index, offset);
}
void tl_jit_store_item(emitter *e, tl_dtype dtype, int from, int items,
                       int index, int32_t offset) {
  reach_item(e, accesses[dtype].write, from, items, index, offset);
}

// --- Choices ----------------------------------------------------------------

void tl_jit_combine(emitter *e, const tl_typed *t, int in) {
  if (t->op == TL_TYPED_SHL || t->op == TL_TYPED_SAR)
    tl_a64_shift(&e->as, shift_opcode(t), in, in, (int)t->imm & 63);
  else
    tl_a64_rrr(&e->as, opcodes[t->op], in, in, get_int(e, t, T1));
}

// --- The door ---------------------------------------------------------------

// A pair of registers to the stack, and from it: 16 bytes at [sp + at].
static void move_pair(tl_assembler *as, bool back, int first, int second,
                      int at) {
  const int stp = (int)0xa9000000, ldp = (int)0xa9400000;
  tl_a64_rrr(as, (back ? ldp : stp) | at / 8 << 15 | second << 10, first, TL_SP,
             0);
}

// What C keeps goes to the stack (AAPCS64, 6.1.1), the arguments, which come in
// x0 to x3, to their registers; behind the call the fuel goes back.
//
//     vm ─▶ x20    base ─▶ x19    frame ─▶ x21    code ─▶ call    fuel ─▶ w22
void *tl_jit_make_door(tl_vm *vm) {
  enum { FRAME_POINTER = 29, KEPT = 48 };
  tl_assembler as = {.vm = vm};
  tl_a64_sum(&as, TL_A64_SUB, TL_SP, TL_SP, KEPT);
  move_pair(&as, false, FRAME_POINTER, TL_LINK, 0);
  move_pair(&as, false, SLOTS, MACHINE, 16);
  move_pair(&as, false, RECORD, FUEL, 32);
  tl_a64_sum(&as, TL_A64_ADD, FRAME_POINTER, TL_SP, 0);
  tl_a64_move(&as, MACHINE, ARG0);
  tl_a64_move(&as, SLOTS, ARG1);
  tl_a64_move(&as, RECORD, ARG2);
  tl_a64_memory(&as, TL_A64_LDR_32, FUEL, MACHINE, offsetof(tl_vm, fuel));
  tl_a64_rr(&as, TL_A64_BLR, 0, ARG3);
  tl_a64_memory(&as, TL_A64_STR_32, FUEL, MACHINE, offsetof(tl_vm, fuel));
  move_pair(&as, true, FRAME_POINTER, TL_LINK, 0);
  move_pair(&as, true, SLOTS, MACHINE, 16);
  move_pair(&as, true, RECORD, FUEL, 32);
  tl_a64_sum(&as, TL_A64_ADD, TL_SP, TL_SP, KEPT);
  tl_a64_rr(&as, TL_A64_RET, 0, 0);
  void *door =
      as.is_full ? NULL : tl_code_put(vm, &vm->jit->chunks, as.bytes, as.size);
  tl_as_close(&as);
  return door;
}

#endif
