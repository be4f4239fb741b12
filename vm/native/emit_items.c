// Items of arrays, and their indices.
#include "vm/native/emit.h"

#if TL_HAS_JIT

// Leaves where the index is not below the fact: negative ones too. One unsigned
// comparison does both, since a negative index is above any length as an
// unsigned number.
static void check_index(emitter *e, const tl_typed *t, int index, int fact) {
  compare_fact(e, index, fact);
  tl_jit_leave_if(e, TL_CC_AE, t);
}

// The register with the number of the item. Of several axes that is first *
// columns + second and so on, which cannot overflow: all were compared with
// lengths whose product is that of the items. It is in a slot's register or in
// T0; T1 and T2 are free behind it.
static int item_index(emitter *e, const tl_typed *t, int facts) {
  int first = tl_jit_get(e, t->b, T0);
  check_index(e, t, first, facts + 1);
  const int further[] = {t->d, t->e};
  for (int i = 0; i < 2 && further[i] >= 0; i++) {
    int next = tl_jit_get(e, further[i], T1), length = facts + 2 + i;
    check_index(e, t, next, length);
    move_int(e, T0, first);
    multiply_fact(e, T0, length);
    add_int(e, T0, next);
    first = T0;
  }
  return first;
}

bool tl_jit_compare_owner(emitter *e, int array) {
  const tl_jit_array *of = &e->unit->arrays[array];
  if (!e->unit->has_record || !of->is_written)
    return false;
  read_word(e, T2, SLOTS, of->slot * 16 + 8);
  compare_half(e, T2, offsetof(tl_object, count), 1);
  return true;
}

void tl_jit_read_item(emitter *e, const tl_typed *t, int items, int index,
                      int32_t offset) {
  int a = into(e, t->a, is_float(t->a) ? 0 : T0);
  tl_jit_load_item(e, (tl_dtype)t->dtype, a, items, index, offset);
  tl_jit_put(e, t->a, a);
}

// No item of the unit's arrays can move as long as their slots have the type of
// the entry: what C does may allocate, but changes only what it names. So the
// address that was read at the entry is good behind calls and polls, too.
void tl_gen_load(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  int index = item_index(e, t, facts);
  tl_jit_read_item(e, t, tl_jit_get(e, facts, T2), index, 0);
}

// A number that goes into an array of floats is converted on the way, for which
// T0 is taken; an integer has to be one of the array's dtype. The address needs
// T2, the index T0 or T1, and the value what is left of these.
void tl_gen_store(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  if (tl_jit_compare_owner(e, t->c))
    tl_jit_leave_if(e, TL_CC_NE, t);
  int index = item_index(e, t, facts);
  if (tl_typed_is_of_float(t) && !is_float(t->a) && index == T0) {
    move_int(e, T1, T0);
    index = T1;
  }
  int a = tl_jit_get_stored(e, t, T1);
  tl_jit_store_item(e, (tl_dtype)t->dtype, a, tl_jit_get(e, facts, T2), index,
                    0);
}

#endif
