// Machine code that computes with scalars, as far as it is the same for all
// processors: comparisons of integers, ranges, the smaller of two, operands of
// floats. Sums, quotients, shifts and floats are emit_x64.c's and emit_a64.c's.
#include "vm/native/emit.h"

#if TL_HAS_JIT

#include "vm/elementwise.h"

// Of integers and references.
void tl_gen_constant(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, T0);
  set_constant(e, a, t->imm);
  tl_jit_put(e, t->a, a);
}
void tl_gen_lend(emitter *e, const tl_typed *t) {
  tl_jit_put_from(e, t->a, tl_jit_get(e, t->b, T0));
}

// --- Comparisons ------------------------------------------------------------

// Where an operand is a uint64, the other is not below 0 either, and they
// compare without a sign.
int tl_jit_compare_ints(emitter *e, const tl_typed *t) {
  static const uint8_t codes[2][6] = {
      {TL_CC_L, TL_CC_LE, TL_CC_G, TL_CC_GE, TL_CC_E, TL_CC_NE},
      {TL_CC_B, TL_CC_BE, TL_CC_A, TL_CC_AE, TL_CC_E, TL_CC_NE}};
  bool is_unsigned = t->from[1] == tl_jit_of_dtype(TL_UINT64) ||
                     t->from[2] == tl_jit_of_dtype(TL_UINT64);
  int b = tl_jit_get(e, t->b, T0);
  if (t->c < 0 && is_immediate(t->imm))
    compare_constant(e, b, t->imm);
  else
    compare_int(e, b, get_int(e, t, T1));
  return codes[is_unsigned][t->condition];
}

void tl_gen_compare(emitter *e, const tl_typed *t) {
  tl_jit_decide(e, t, tl_jit_compare_ints(e, t));
}

// --- Integers ---------------------------------------------------------------

// Copies, or changes the sign, or negates a bool, which is 0 or 1. The least
// integer of a width is its own negative, as it is cut.
void tl_gen_one_int(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, T0);
  move_int(e, a, tl_jit_get(e, t->b, T0));
  if (t->op != TL_TYPED_MOVE)
    negate(e, a);
  if (t->op == TL_TYPED_NOT)
    add_constant(e, a, 1);
  put_cut(e, t, a);
}

// The smaller or larger of b and c. Both are compared as signed numbers of 64
// bits, which is right for all but uint64.
void tl_gen_extreme(emitter *e, const tl_typed *t) {
  move_int(e, T0, tl_jit_get(e, t->b, T0));
  int c = get_int(e, t, T1);
  compare_int(e, T0, c);
  move_if(e, t->op == TL_TYPED_MIN ? TL_CC_G : TL_CC_L, T0, c);
  tl_jit_put_from(e, t->a, T0);
}

// The magnitude of an integer. False: it is another operation.
static bool magnitude(emitter *e, const tl_typed *t) {
  if (t->condition != TL_OP_ABS || !tl_jit_is_integer(t->type) ||
      t->type != t->from[1])
    return false;
  int b = tl_jit_get(e, t->b, T1), a = into(e, t->a, T0);
  move_int(e, T0, b);
  if (tl_dtypes[tl_jit_dtype(t->type)].kind == 'I') {
    negate(e, T0);
    move_if(e, TL_CC_S, T0, b);
  }
  move_int(e, a, T0);
  put_cut(e, t, a);
  return true;
}

bool tl_jit_emit_math(emitter *e, const tl_typed *t) {
  return tl_jit_round(e, t) || magnitude(e, t);
}

// Cutting an integer to the width changes those that are not there; but between
// uint64 and signed ones the sign says it.
void tl_jit_check_fit(emitter *e, const tl_typed *t, int has, tl_dtype from,
                      tl_dtype to) {
  bool was_signed = tl_dtypes[from].kind == 'I';
  bool is_signed = tl_dtypes[to].kind == 'I';
  if (from == to)
    return;
  if ((from == TL_UINT64 && is_signed) || (to == TL_UINT64 && was_signed)) {
    compare_constant(e, has, 0);
    tl_jit_leave_if(e, TL_CC_S, t);
  }
  if (tl_itemsize(to) == 8)
    return;
  cut(e, to, T2, has);
  compare_int(e, T2, has);
  tl_jit_leave_if(e, TL_CC_NE, t);
}

// The same integer in another dtype: the register has it already, so there is
// nothing to do but the test.
int tl_jit_get_stored(emitter *e, const tl_typed *t, int scratch) {
  tl_dtype dtype = (tl_dtype)t->dtype;
  if (tl_typed_is_of_float(t))
    return get_float(e, t, 0, 0);
  int a = tl_jit_get(e, t->a, scratch);
  if (tl_dtype_is_integer(dtype))
    tl_jit_check_fit(e, t, a, tl_jit_dtype(t->from[0]), dtype);
  return a;
}

void tl_gen_fit(emitter *e, const tl_typed *t) {
  int b = tl_jit_get(e, t->b, T0);
  tl_jit_check_fit(e, t, b, tl_jit_dtype(t->from[1]), tl_jit_dtype(t->type));
  tl_jit_put_from(e, t->a, b);
}

// --- Ranges -----------------------------------------------------------------

// The iterations of a range from b to a by c. They are (end - start) divided by
// the step and rounded up, written as (end - start - 1) / step + 1, which
// cannot overflow; and 0 where end is not above start. Down it is the same with
// start and end exchanged. A difference of more than 63 bits shows as a sign,
// and leaves.
void tl_gen_count(emitter *e, const tl_typed *t) {
  bool down = t->c < 0 && t->imm < 0;
  tl_typed by = *t;
  by.imm = down ? -t->imm : t->imm;
  int low = tl_jit_get(e, down ? t->a : t->b, T0);
  move_int(e, T1, tl_jit_get(e, down ? t->b : t->a, T1));
  compare_int(e, T1, low);
  uint32_t some = skip(e, TL_CC_G);
  move_int(e, T1, low);
  here(e, some);
  subtract_checked(e, T1, low);
  tl_jit_leave_if(e, TL_CC_S, t);
  if (t->c >= 0 || by.imm != 1) {
    int step = get_int(e, &by, T2);
    if (t->c >= 0) {
      compare_constant(e, step, 0);
      tl_jit_leave_if(e, TL_CC_LE, t);
    }
    compare_constant(e, T1, 0);
    uint32_t none = skip(e, TL_CC_E);
    divide_up(e, step);
    here(e, none);
  }
  tl_jit_put_from(e, t->a, T1);
}

// Counts down, moves on and jumps. Where the body begins with the move into the
// variable, one jump does: the hidden value may then go too far at the end,
// where nobody reads it.
//
//     at once:  a += c, --b, jump if b != 0     one jump per iteration
//     else:     --b, jump over if b = 0, a += c, variable = a, jump
void tl_gen_step(emitter *e, const tl_typed *t) {
  bool at_once = t->d < 0 && t->to >= 0;
  int a, b;
  if (!at_once) {
    b = tl_jit_get(e, t->b, T0);
    count_down(e, b, 1);
    tl_jit_put(e, t->b, b);
  }
  uint32_t over = at_once ? 0 : skip(e, TL_CC_E);
  a = tl_jit_get(e, t->a, T0);
  add_step(e, t, a);
  tl_jit_put(e, t->a, a);
  if (at_once) {
    b = tl_jit_get(e, t->b, T0);
    count_down(e, b, 1);
    tl_jit_put(e, t->b, b);  // a move: the flags stay
    tl_jit_jump_to(e, TL_CC_NE, t->to);
    return;
  }
  if (t->d >= 0)
    tl_jit_put_from(e, t->d, a);
  tl_jit_go_to(e, t->to);
  here(e, over);
}

// --- Floats -----------------------------------------------------------------

void tl_gen_fconst(emitter *e, const tl_typed *t) {
  int a = into(e, t->a, 0);
  load_float(e, t, a);
  tl_jit_put(e, t->a, a);
}

#endif
