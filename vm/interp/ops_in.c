// Whether a value is among those of a container: the operator `in`.
//
//     2 in [1, 2, 3]            an item equals it
//     (1, 2) in ((1, 2), 3)     items of lists compare as wholes
//     "key" in record           a key, not a value
//     "ell" in "hello"          a part of the text
//     none in x                 of missing values: whether one is missing

#include "vm/engine/short.h"
#include "vm/index/select.h"
#include "vm/interp/interp.h"
#include "vm/nested/parts.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/nested/raw_bytes.h"
#include "vm/nested/indexed.h"
#include "vm/array/range.h"
#include "vm/values/record.h"

// Whether two items are equal by ==, which for arrays in lists would be an
// array: in_list treats those itself.
static bool is_equal(tl_vm *vm, tl_slot a, tl_slot b, bool *equal) {
  // What most lists hold: a few instructions, not a call of the engine.
  if (tl_class(a) == TL_CLASS_I64 && tl_class(b) == TL_CLASS_I64) {
    *equal = a.i == b.i;
    return true;
  }
  if (tl_compare_at_once(TL_OP_EQUAL, a, b, equal))
    return true;
  if (tl_is_none(a) || tl_is_none(b)) {
    *equal = tl_is_none(a) && tl_is_none(b);
    return true;
  }
  tl_slot operands[2] = {tl_borrow(a), tl_borrow(b)}, result;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &result))
    return false;
  *equal = tl_is_bool(result) && result.i != 0;
  tl_drop(vm, result);
  return true;
}

// Whether a list has the item; arrays are compared as wholes, with tl_same.
static bool in_list(tl_vm *vm, tl_slot item, const tl_list *list, bool *found) {
  for (int64_t i = 0; i < list->length && !*found && tl_poll_at(vm, i); i++) {
    const tl_slot other = list->items[i];
    // Most texts differ in length or by their first byte, which "" has, too.
    if (tl_is_string(item) && tl_is_string(other) &&
        (item.string->length != other.string->length ||
         item.string->text[0] != other.string->text[0]))
      continue;
    // An array among the items is compared as a whole.
    // Dtypes count then: [1.0] is not in ([1],).
    if (tl_is_array(item) || tl_is_array(other))
      *found = tl_same(vm, item, other);
    else if (!is_equal(vm, item, other, found))
      return false;
  }
  return !tl_failed(vm);
}

// As tl_contains, of a container that was made for this and ends here.
static bool in_made(tl_vm *vm, tl_slot item, tl_slot container, bool *found) {
  return tl_drop_after(vm, tl_contains(vm, item, container, found), &container);
}

// Whether an array has the item: a mask of equal items, and whether any is
// true. Of an item with missing values the mask may have missing values, too.
static bool in_array(tl_vm *vm, tl_slot item, tl_slot array, bool *found) {
  tl_slot operands[2] = {tl_borrow(array), tl_borrow(item)}, mask, result;
  if (tl_is_none(item)) {  // only items that may be missing can be none
    *found = false;
    return true;
  }
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &mask))
    return false;
  if (tl_dtype_of(mask) == TL_KIND_NESTED)  // the item has missing values
    return in_made(vm, tl_bool(true), mask, found);
  if (!tl_is_array(mask)) {
    *found = mask.i != 0;
    return true;
  }
  uint32_t axes = (uint32_t)((UINT64_C(1) << tl_ndim(mask.array)) - 1);
  bool ok = tl_reduce(vm, TL_REDUCE_ANY, &mask, axes, false, TL_DTYPE_COUNT, 0,
                      &result);
  tl_drop(vm, mask);
  *found = ok && result.i != 0;
  return ok;
}

// Whether one of the rows of a ragged array has the item.
static bool in_rows(tl_vm *vm, tl_slot item, tl_slot rows, bool *found) {
  tl_slot offsets, items;
  if (!tl_ragged_flat(vm, rows, &offsets, &items))
    return false;
  tl_drop(vm, offsets);
  return in_made(vm, item, items, found);
}

// Of values that may be missing: among those that are there; `none` is among
// those that are not.
static bool in_present(tl_vm *vm, tl_slot item, tl_slot option, bool *found) {
  tl_slot mask = option.nested->parts[0];
  if (tl_is_none(item))
    return in_array(vm, tl_bool(true), mask, found);
  tl_slot operands[2] = {tl_borrow(option.nested->parts[1]), tl_borrow(item)};
  // The mask is true where a value is missing, so equal > mask is true where
  // the item is equal and there.
  tl_slot equal, known[2] = {tl_none(), tl_borrow(mask)}, hits;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &equal))
    return false;
  known[0] = equal;
  bool ok = tl_elementwise(vm, TL_OP_GREATER, known, &hits);
  tl_clear(vm, &known[0]);
  return ok && in_made(vm, tl_bool(true), hits, found);
}

// Whether some bytes, or one byte as a number, are in bytes; or bytes in an
// array of them.
static bool in_raw_bytes(tl_vm *vm, tl_slot item, tl_slot container,
                         bool *found) {
  tl_slot inside = tl_raw_bytes_inside(container), raw_bytes;
  bool one = tl_is_string(inside);
  if (one ? tl_is_number(item) : tl_is_none(item)) {
    if (!one)
      return tl_contains(vm, item, inside, found);
    return tl_raw_bytes_items(vm, container, &inside) &&
           in_made(vm, item, inside, found);
  }
  if (!tl_raw_bytes_of(vm, item, &raw_bytes))
    return false;
  // Of two texts: whether one is a part of the other.
  return tl_drop_after(
      vm, tl_contains(vm, tl_raw_bytes_inside(raw_bytes), inside, found),
      &raw_bytes);
}

// By the container's kind; each case says for itself what an item of it is.
bool tl_contains(tl_vm *vm, tl_slot item, tl_slot container, bool *found) {
  if (tl_is_list(container))
    return in_list(vm, item, container.list, found);
  if (tl_is_record(container)) {
    if (!tl_key_check(vm, item))
      return false;
    *found = tl_record_find_key(container.record, item) >= 0;
    return true;
  }
  if (tl_is_string(container) && tl_is_string(item)) {
    *found = tl_string_search(vm, container.string, 0, item.string) != NULL;
    return !tl_failed(vm);
  }
  if (tl_is_range(container) && tl_is_number(item)) {
    const tl_range *r = container.range;
    int64_t i = item.i;
    // Computed from start, stop and step, without making the items.
    // Only an int64 can be there: 2.0 is not in 0..5.
    *found = tl_class(item) == TL_CLASS_I64 && r->length > 0 &&
             (r->step > 0 ? i >= r->start && i < r->stop
                          : i <= r->start && i > r->stop) &&
             (i - r->start) % r->step == 0;
    return true;
  }
  if (tl_is_raw_bytes(container))
    return in_raw_bytes(vm, item, container, found);
  if (tl_is_array(container) || tl_is_form(container, TL_FORM_CATEGORY) ||
      tl_has_fields(container))
    return in_array(vm, item, container, found);
  if (tl_is_nested(container) &&
      tl_nested_traits(container.nested)->is_indexed) {
    // The target has more than the array shows of it.
    tl_slot values;
    tl_opener *open =
        tl_is_form(container, TL_FORM_GRID) ? tl_grid_rows : tl_indexed_values;
    return open(vm, container, &values) && in_made(vm, item, values, found);
  }
  if (tl_is_form(container, TL_FORM_RAGGED))
    return in_rows(vm, item, container, found);
  if (tl_is_form(container, TL_FORM_OPTION))
    return in_present(vm, item, container, found);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "in asks an array, list, record, range or string: got %s in "
                 "%s",
                 tl_described(vm, item), tl_described(vm, container));
}
