// Loops behind guards (hoist.c): what is tested before them, and what is not
// tested in them.
#include "vm/native/emit.h"

#if TL_HAS_JIT

// Goes to the guard's label unless [offset] more than the register, which keeps
// what it has, is below the length. A sum that wraps is above every length.
static void guard_below(emitter *e, const tl_typed *t, int r, int32_t offset) {
  if (offset != 0) {
    take_address(e, T2, r, offset);
    r = T2;
  }
  compare_fact(e, r, t->c);
  tl_jit_jump_to(e, TL_CC_AE, t->to);
}

// What lies between two tested values is inside as well: of the least and the
// most that is added, and of the first and the last iteration.
static void guard_both(emitter *e, const tl_typed *t, int r) {
  guard_below(e, t, r, tl_jit_low(t));
  if (tl_jit_high(t) != tl_jit_low(t))
    guard_below(e, t, r, tl_jit_high(t));
}

// T1 = the next value and (iterations left - 1) steps, or the guard fails
// where that is no int64, or no iteration is left.
static void last_value(emitter *e, const tl_typed *t) {
  move_int(e, T1, tl_jit_get(e, t->b + 1, T1));
  count_down(e, T1, 1);
  tl_jit_jump_to(e, TL_CC_S, t->to);
  if (t->e < 0)
    tl_jit_jump_to(e, multiply_checked(e, T1, tl_jit_get(e, t->b + 2, T0)),
                   t->to);
  add_int(e, T1, tl_jit_get(e, t->b, T0));
  tl_jit_jump_to(e, TL_CC_O, t->to);
}

// Two to four comparisons, each of them with a jump to the slow form. A guard
// behind one of the same loop finds the last value in T1. What is written in
// the loop must have one owner before it; in it nobody can become another.
//
//     every t4 -1 to t4 +1 < n:   t4 - 1, t4 + 1, T1 - 1 and T1 + 1 are below n
void tl_gen_guard(emitter *e, const tl_typed *t) {
  int array = (t->c - TL_JIT_FACTS) / TL_JIT_FACTS_EACH;
  const tl_typed *before = t;
  do before--;
  while (before >= e->code->ops && before->op == TL_TYPED_GUARD &&
         (before->c - TL_JIT_FACTS) / TL_JIT_FACTS_EACH != array);
  bool is_asked = before >= e->code->ops && before->op == TL_TYPED_GUARD;
  if (!is_asked && tl_jit_compare_owner(e, array))
    tl_jit_jump_to(e, TL_CC_NE, t->to);
  if (t->b < 0) {
    set_constant(e, T0, tl_jit_high(t));
    guard_below(e, t, T0, 0);
    return;
  }
  bool is_known = t > e->code->ops && t[-1].op == TL_TYPED_GUARD &&
                  t[-1].d == 0 && t[-1].b == t->b;
  if (t->d == 0 && !is_known)
    last_value(e, t);
  guard_both(e, t, tl_jit_get(e, t->b, T0));
  if (t->d == 0)
    guard_both(e, t, T1);
}

// The polls of as many iterations as there are, or as there is fuel for but for
// one poll: they are counted down by the loop alone. Where that is none,
// nothing has been written. An iteration counts as the next power of two, since
// a quotient takes longer than a short loop.
//
//     T1 = (fuel - 1) / imm, at most b     fuel -= T1 imm   d = b - T1   b = T1
void tl_gen_chunk(emitter *e, const tl_typed *t) {
  less_fuel(e, T1);
  if (t->imm > 1) {
    shift_right(e, T1, 64 - __builtin_clzll((uint64_t)t->imm - 1));
    compare_constant(e, T1, 0);
  }
  tl_jit_jump_to(e, TL_CC_E, t->to);
  int b = tl_jit_get(e, t->b, T0), rest = into(e, t->d, T2);
  compare_int(e, T1, b);
  move_if(e, TL_CC_A, T1, b);
  move_int(e, T2, T1);
  if (t->imm > 1)
    multiply_constant(e, T2, (int32_t)t->imm);
  spend_fuel(e, T2);
  move_int(e, rest, b);
  subtract_checked(e, rest, T1);
  tl_jit_put(e, t->d, rest);
  move_int(e, b, T1);
  tl_jit_put(e, t->b, b);
}

// The iterations that a chunk has put aside.
void tl_gen_rest(emitter *e, const tl_typed *t) {
  tl_jit_put_from(e, t->a, tl_jit_get(e, t->d, T0));
}

// The address of a row: items + index * columns * size of an item.
void tl_gen_row(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  if (t->b < 0)
    set_constant(e, T0, t->imm);
  else
    take_address(e, T0, tl_jit_get(e, t->b, T0), (int32_t)t->imm);
  multiply_fact(e, T0, facts + 2);
  int to = into(e, t->d, T0);
  take_item(e, to, tl_jit_get(e, facts, T2), T0,
            (int)tl_itemsize((tl_dtype)t->dtype));
  tl_jit_put(e, t->d, to);
}

// An item, without a test.
void tl_gen_read(emitter *e, const tl_typed *t) {
  int index = t->b < 0 ? -1 : tl_jit_get(e, t->b, T0);
  tl_jit_read_item(e, t, tl_jit_get(e, t->e, T2), index, (int32_t)t->imm);
}

// Converting the value takes T0 and T2, so the address comes last.
void tl_gen_write(emitter *e, const tl_typed *t) {
  tl_dtype dtype = (tl_dtype)t->dtype;
  int a = tl_jit_get_stored(e, t, T0);
  int index = t->b < 0 ? -1 : tl_jit_get(e, t->b, T1);
  tl_jit_store_item(e, dtype, a, tl_jit_get(e, t->e, T2), index,
                    (int32_t)t->imm);
}

#endif
