// Whether a value is among those of a container: the operator in.
#include "vm/array/array.h"
#include "vm/engine/engine.h"
#include "vm/interp/interp.h"
#include "vm/nested/ragged.h"
#include "vm/nested/struct_equal.h"
#include "vm/values/list.h"
#include "vm/values/octets.h"
#include "vm/values/pointer.h"
#include "vm/values/range.h"
#include "vm/values/record.h"

static bool is_equal(tl_vm *vm, tl_slot a, tl_slot b, bool *equal) {
  // What most lists hold: a few instructions, not a call of the engine.
  if (tl_class(a) == TL_CLASS_I64 && tl_class(b) == TL_CLASS_I64) {
    *equal = a.i == b.i;
    return true;
  }
  if (tl_is_string(a) && tl_is_string(b)) {
    *equal = tl_string_equal(a.string, b.string);
    return true;
  }
  tl_slot operands[2] = {tl_borrow(a), tl_borrow(b)}, result;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &result))
    return false;
  *equal = tl_is_bool(result) && result.i != 0;
  tl_drop(vm, result);
  return true;
}

static bool in_list(tl_vm *vm, tl_slot item, const tl_list *list, bool *found) {
  for (int64_t i = 0; i < list->length && !*found; i++) {
    // An array among the items is compared as a whole.
    if (tl_is_array(item) || tl_is_array(list->items[i])) {
      *found = tl_same(vm, item, list->items[i]);
    } else if (!is_equal(vm, item, list->items[i], found)) {
      return false;
    }
  }
  return true;
}

static bool in_array(tl_vm *vm, tl_slot item, tl_slot array, bool *found) {
  tl_slot operands[2] = {tl_borrow(array), tl_borrow(item)}, mask, result;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &mask))
    return false;
  if (tl_dtype_of(mask) == TL_KIND_NESTED) {  // the item has missing values
    bool known = tl_contains(vm, tl_bool(true), mask, found);
    tl_drop(vm, mask);
    return known;
  }
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

static bool in_rows(tl_vm *vm, tl_slot item, tl_slot rows, bool *found) {
  tl_slot offsets, items;
  if (!tl_ragged_flat(vm, rows, &offsets, &items))
    return false;
  tl_drop(vm, offsets);
  bool ok = tl_contains(vm, item, items, found);
  tl_drop(vm, items);
  return ok;
}

// Among the values that are there; none is among those that are not.
static bool in_present(tl_vm *vm, tl_slot item, tl_slot option, bool *found) {
  tl_slot mask = option.nested->parts[0];
  if (tl_is_none(item))
    return in_array(vm, tl_bool(true), mask, found);
  tl_slot operands[2] = {tl_borrow(option.nested->parts[1]), tl_borrow(item)};
  tl_slot equal, known[2] = {tl_none(), tl_borrow(mask)}, hits;
  if (!tl_elementwise(vm, TL_OP_EQUAL, operands, &equal))
    return false;
  known[0] = equal;
  bool ok = tl_elementwise(vm, TL_OP_GREATER, known, &hits);
  tl_clear(vm, &known[0]);
  if (!ok)
    return false;
  ok = in_array(vm, tl_bool(true), hits, found);
  tl_drop(vm, hits);
  return ok;
}

// Some bytes, or one, in bytes; bytes in an array of them.
static bool in_octets(tl_vm *vm, tl_slot item, tl_slot container, bool *found) {
  tl_slot inside = tl_octets_inside(container), octets;
  bool one = tl_is_string(inside);
  if (one ? tl_is_number(item) : tl_is_none(item)) {
    if (!one)
      return tl_contains(vm, item, inside, found);
    if (!tl_octets_items(vm, container, &inside))
      return false;
    bool ok = tl_contains(vm, item, inside, found);
    tl_drop(vm, inside);
    return ok;
  }
  if (!tl_octets_of(vm, item, &octets))
    return false;
  tl_slot sought = tl_octets_inside(octets);
  bool ok = true;
  if (!one || !tl_is_string(sought))
    ok = tl_contains(vm, sought, inside, found);
  else
    *found = tl_string_search(inside.string, 0, sought.string) != NULL;
  tl_drop(vm, octets);
  return ok;
}

bool tl_contains(tl_vm *vm, tl_slot item, tl_slot container, bool *found) {
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
  if (tl_is_list(container))
    return in_list(vm, item, container.list, found);
  if (tl_is_record(container) && tl_is_string(item)) {
    *found = tl_record_find(container.record, item.string) >= 0;
    return true;
  }
  if (tl_is_string(container) && tl_is_string(item)) {
    *found = tl_string_search(container.string, 0, item.string) != NULL;
    return true;
  }
  if (tl_is_range(container) && tl_is_number(item)) {
    const tl_range *r = container.range;
    int64_t i = item.i;
    *found = tl_class(item) == TL_CLASS_I64 && r->length > 0 &&
             (r->step > 0 ? i >= r->start && i < r->stop
                          : i <= r->start && i > r->stop) &&
             (i - r->start) % r->step == 0;
    return true;
  }
  if (tl_is_octets(container))
    return in_octets(vm, item, container, found);
  if (tl_is_array(container) || tl_is_form(container, TL_FORM_CATEGORY) ||
      tl_has_fields(container))
    return in_array(vm, item, container, found);
  if (tl_is_form(container, TL_FORM_POINTER)) {
    tl_slot values;
    if (!tl_pointer_values(vm, container.nested, &values))
      return false;
    bool ok = tl_contains(vm, item, values, found);
    tl_drop(vm, values);
    return ok;
  }
  if (tl_is_form(container, TL_FORM_GRID))
    return tl_contains(vm, item, container.nested->parts[1], found);
  if (tl_is_form(container, TL_FORM_RAGGED))
    return in_rows(vm, item, container, found);
  if (tl_is_form(container, TL_FORM_OPTION))
    return in_present(vm, item, container, found);
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "in asks an array, list, record, range or string: got %s in "
                 "%s",
                 tl_describe(item, left, sizeof left),
                 tl_describe(container, right, sizeof right));
}
