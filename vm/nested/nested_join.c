// What joining has to do whatever the form. See nested_join.h.
#include "vm/nested/nested_join.h"

// Why two values are not joined; what they are, where nothing else says it.
static const char *why_apart(tl_slot a, tl_slot b) {
  bool rows = tl_is_form(a, TL_FORM_RAGGED) || tl_is_form(b, TL_FORM_RAGGED);
  if (rows && (tl_value_ndim(a) < 2 || tl_value_ndim(b) < 2) &&
      tl_is_form(a, TL_FORM_RAGGED) != tl_is_form(b, TL_FORM_RAGGED))
    return "rows are joined with rows: [v] is one row of the items of v";
  if (!tl_has_fields(a) || !tl_has_fields(b))
    return "their items differ in type or shape";
  const tl_type *x = a.nested->layout;
  bool same = x->field_count == b.nested->layout->field_count;
  for (int64_t i = 0; same && i < x->field_count; i++)
    same = tl_nested_find(b.nested, x->fields[i].name) >= 0;
  return same ? "their fields come in another order: p.{y, x} orders them"
              : "they have other fields";
}

// Both types and the reason; item 0 is always the one on the left.
bool tl_fail_join(tl_vm *vm, const tl_slot *items, int64_t i) {
  return tl_fail(vm, TALLY_ERR_TYPE, "%s and %s cannot be joined: %s",
                 tl_described(vm, items[0]), tl_described(vm, items[i]),
                 why_apart(items[0], items[i]));
}

// The first value that is not of the first one's kind is named.
bool tl_fail_kinds(tl_vm *vm, int64_t count, const tl_slot *items) {
  for (int64_t i = 1; i < count; i++)
    if (tl_is_array(items[i]) != tl_is_array(items[0]) ||
        !tl_is_nested(items[i]) || !tl_is_nested(items[0]) ||
        tl_nested_form(items[i].nested) != tl_nested_form(items[0].nested))
      return tl_fail_join(vm, items, i);
  return tl_fail_join(vm, items, 0);
}

// Converts and copies each item straight into its place in the whole, through a
// view of it: a cast is the only array made in between. Fails (kind type) where
// axes behind the first differ, or text meets numbers.
bool tl_join_arrays(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out) {
  const tl_array *first = items[0].array;
  tl_dtype dtype = tl_array_dtype(first);
  int64_t shape[TL_MAX_DIMS], total = 0;
  for (int64_t i = 0; i < count; i++) {
    const tl_array *a = items[i].array;
    bool texts = tl_array_dtype(a) == TL_STRING;
    if (!tl_value_agrees(items[i], items[0], 1) ||
        texts != (dtype == TL_STRING))
      return tl_fail_join(vm, items, i);
    if (!tl_poll_at(vm, i))
      return false;
    if (!texts)
      dtype = tl_dtype_promote(dtype, tl_array_dtype(a));
    total += tl_shape(a)[0];
  }
  for (int k = 1; k < tl_ndim(first); k++) shape[k] = tl_shape(first)[k];
  shape[0] = total;
  tl_array *whole = tl_array_new(vm, dtype, tl_ndim(first), shape);
  if (whole == NULL)
    return false;
  char *at = whole->data;
  bool ok = true;
  for (int64_t i = 0; i < count && tl_poll_ok(vm, i, &ok); i++) {
    shape[0] = tl_value_length(items[i], 0);
    ok = tl_assign_part(vm, whole, at, tl_ndim(first), shape, tl_strides(whole),
                        items[i].array);
    at += shape[0] * tl_strides(whole)[0];
  }
  return tl_array_finish(vm, ok, whole, out);
}

// What is joined, for its parts.
typedef struct joined {
  int64_t count;
  const tl_slot *items;
} joined;

// A tl_part_map: part [i] of all items instead of the first one's alone.
static bool join_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                      tl_slot *out) {
  const joined *all = context;
  tl_slot *parts = tl_slots_new(vm, all->count);
  (void)part;
  if (parts == NULL)
    return false;
  bool ok = true;
  for (int64_t k = 0; k < all->count && tl_poll_ok(vm, k, &ok); k++)
    parts[k] = tl_borrow(all->items[k].nested->parts[i]);
  return tl_slots_free_after(
      vm, ok && tl_value_concat(vm, all->count, parts, out), parts, all->count);
}

// The caller has checked that forms and layouts are the same.
bool tl_join_parts(tl_vm *vm, int64_t count, const tl_slot *items,
                   tl_slot *out) {
  const tl_nested *first = items[0].nested;
  joined all = {count, items};
  return tl_nested_map(vm, first, tl_nested_ndim(first), false, join_part, &all,
                       out);
}
