// Items of arrays, and their indices.
//
// What was found of an index is used again while it holds, so an item that is
// read and written is looked for once.
#include "vm/native/emit.h"

#if TL_HAS_JIT

// Leaves where the index is not below the fact: negative ones too. One unsigned
// comparison does both, since a negative index is above any length as an
// unsigned number.
static void check_index(emitter *e, const tl_typed *t, int index, int fact) {
  compare_fact(e, index, fact);
  leave_if(e, TL_CC_AE, t);
}

// Whether both are of the item at the same place of one array: by the same
// slots, which nothing has written in between (keeps_index).
static bool is_same_item(const tl_typed *x, const tl_typed *y) {
  return x->b == y->b && x->c == y->c && x->d == y->d && x->e == y->e;
}

// Whether what the operation makes leaves the index of the item as it was
// checked: x[i] += 1 asks once whether i is below the length. So it writes none
// of its slots, and of several axes not T0, where the index is: its operands
// are in registers, and none is converted.
//
//     t = load x[i, j]      T0 = i * columns + j     checked
//     t = add t, 1          in t's register           kept
//     store x[i, j], t      by T0 at once
//
// Operations on references use T0 and T1, and end it, as does every label,
// jump and call: only what is listed here is known to keep it.
bool tl_jit_keeps_index(const emitter *e, const tl_typed *t) {
  const tl_typed *item = e->checked;
  const int16_t operands[] = {t->a, t->b, t->c};
  int a = t->a % TL_JIT_SLOTS;
  bool has_slot = a != item->b && a != item->d && a != item->e;
  if (t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_STORE)
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

// Notes the access behind its instructions: what is read into T0 or into a
// slot of the index ends it, and so does a value that is converted, since that
// goes through T0. What is noted is the operation, which stays in its table.
static void note_item(emitter *e, const tl_typed *t) {
  bool reads = t->op == TL_TYPED_LOAD;
  int a = t->a % TL_JIT_SLOTS;
  bool ends = reads ? a == t->b || a == t->d || a == t->e ||
                          (!is_float(t->a) && e->reg[t->a] < 0)
                    : tl_typed_is_of_float(t) && !is_float(t->a);
  e->checked = ends ? NULL : t;
}

// The register with the number of the item. Of several axes that is first *
// columns + second and so on, which cannot overflow: all were compared with
// lengths whose product is that of the items. It is in a slot's register or in
// T0; T1 and T2 are free behind it.
static int item_index(emitter *e, const tl_typed *t, int facts) {
  if (e->checked != NULL && is_same_item(e->checked, t))
    return t->d < 0 ? get(e, t->b, T0) : T0;
  int first = get(e, t->b, T0);
  check_index(e, t, first, facts + 1);
  const int further[] = {t->d, t->e};
  for (int i = 0; i < 2 && further[i] >= 0; i++) {
    int next = get(e, further[i], T1), length = facts + 2 + i;
    check_index(e, t, next, length);
    move_int(e, T0, first);
    multiply_fact(e, T0, length);
    add_int(e, T0, next);
    first = T0;
  }
  return first;
}

// An instruction done by C may have given the array a second owner.
static void check_owner(emitter *e, const tl_typed *t) {
  if (!e->unit->does)
    return;
  read_word(e, T2, SLOTS, e->unit->arrays[t->c].slot * 16 + 8);
  compare_half(e, T2, offsetof(tl_object, count), 1);
  leave_if(e, TL_CC_NE, t);
}

// No item of the unit's arrays can move as long as their slots have the type of
// the entry: what C does may allocate, but changes only what it names. So the
// address that was read at the entry is good behind calls and polls, too.
void tl_gen_load(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  int index = item_index(e, t, facts), items = get(e, facts, T2);
  int a = into(e, t->a, is_float(t->a) ? 0 : T0);
  tl_jit_load_item(e, (tl_dtype)t->dtype, a, items, index, 0);
  put(e, t->a, a);
  note_item(e, t);
}

// A number that goes into an array of floats is converted on the way, for which
// T0 is taken; an integer has to be one of the array's dtype. The address needs
// T2, the index T0 or T1, and the value what is left of these.
void tl_gen_store(emitter *e, const tl_typed *t) {
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * t->c;
  check_owner(e, t);
  int index = item_index(e, t, facts), a;
  tl_dtype dtype = (tl_dtype)t->dtype;
  if (tl_typed_is_of_float(t)) {
    if (!is_float(t->a) && index == T0) {
      move_int(e, T1, T0);
      index = T1;
    }
    a = get_float(e, t, 0, 0);
  } else {
    a = get(e, t->a, T1);
    if (tl_dtype_is_integer(dtype))
      tl_jit_check_fit(e, t, a, tl_jit_dtype(t->from[0]), dtype);
  }
  tl_jit_store_item(e, dtype, a, get(e, facts, T2), index, 0);
  note_item(e, t);
}

#endif
