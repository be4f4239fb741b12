// The items of anything that a for loop walks.
//
//     [[1, 2], [3, 4]]    [1, 2], [3, 4]    rows, as views
//     "né"                "n", "é"          grapheme clusters
//     (x: 1, y: 2)        "x", "y"          keys

#include "stdlib/shared.h"
#include "vm/array/range.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"

// The number of items: of an array its rows, of a string its grapheme clusters,
// of a record its fields. Rank 0, of a pointer too, has none and fails (kind
// type).
// *out is what tl_items_get may be asked for, from 0 on. For a string that
// takes a walk, unless it has marks.
bool tl_items_count(tl_vm *vm, const char *function, tl_slot s, int64_t *out) {
  if (tl_is_list(s))
    *out = s.list->length;
  else if (tl_is_array(s) && tl_ndim(s.array) > 0)
    *out = tl_shape(s.array)[0];
  else if (tl_is_range(s))
    *out = s.range->length;
  else if (tl_is_string(s))
    return (*out = tl_string_graphemes(vm, s.string)) >= 0;
  else if (tl_is_record(s))
    *out = s.record->length;
  else if (tl_is_nested(s) &&
           !(tl_is_form(s, TL_FORM_POINTER) && tl_value_ndim(s) == 0))
    *out = tl_value_length(s, 0);
  else
    return tl_arg_fail(vm, function, "what it goes through",
                       "a list, array, range, string or record", s);
  return true;
}

// A row is a view that counts its block, since whoever gets it may store it.
// *out is owned: a number, a string, or a row.
static bool array_item(tl_vm *vm, tl_slot s, int64_t index, tl_slot *out) {
  const tl_array *a = s.array;
  char *data = a->data + index * tl_strides(a)[0];
  if (tl_ndim(a) == 1) {
    *out = tl_item(vm, a, data);
    return !tl_is_unset(*out);
  }
  tl_slot base = tl_borrow(s);
  tl_array *row =
      tl_view_new(vm, &base, tl_array_dtype(a), data, tl_ndim(a) - 1,
                  tl_shape(a) + 1, tl_strides(a) + 1);
  if (row == NULL)
    return false;
  *out = tl_own_array(row);
  tl_hold(vm, *out, TL_CAUSE_VIEW);
  return true;
}

// *out is owned. *at is 0 at first and the byte where the next cluster of a
// string begins: strings are walked in order, other values by [index] alone. Of
// a record, its keys.
bool tl_items_get(tl_vm *vm, tl_slot s, int64_t index, size_t *at,
                  tl_slot *out) {
  // Here, so that no walk has to poll, whatever it does with the items.
  if (!tl_poll_at(vm, index))
    return false;
  if (tl_is_list(s)) {
    *out = tl_retain(vm, s.list->items[index]);
  } else if (tl_is_array(s)) {
    return array_item(vm, s, index, out);
  } else if (tl_is_nested(s)) {
    if (!tl_nested_at(vm, s, index, out))
      return false;
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  } else if (tl_is_range(s)) {
    *out = tl_weak_int(tl_range_item(s.range, index));
  } else if (tl_is_record(s)) {
    *out = tl_retain(vm, tl_key_slot(s.record->fields[index].key));
  } else {
    const tl_string *text = s.string;
    size_t end = tl_grapheme_end(text->text, text->length, *at);
    size_t begin = *at;
    *at = end;
    // Whoever walks counts each item as one, whatever it took to find its end.
    if (end - begin >= 1024 && !tl_poll(vm, (end - begin) / 1024))
      return false;
    return tl_string_part(vm, text->text + begin, end - begin, out);
  }
  return true;
}
