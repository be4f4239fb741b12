// Indexing nested arrays: an index of the leading axes goes to every part.
#include <inttypes.h>
#include <string.h>

#include "vm/array/describe.h"
#include "vm/error.h"
#include "vm/nested/forms.h"
#include "vm/nested/nested.h"
#include "vm/nested/parts.h"
#include "vm/index/select.h"
#include "vm/vm.h"

enum { MOST_ITEMS = 2 * TL_MAX_DIMS + 2 };

// --- One part ---------------------------------------------------------------

// The axes that an index takes up, without the ellipsis.
static int axes_taken(const tl_step *step, const tl_slot *parts,
                      bool *ellipsis) {
  int axes = 0;
  *ellipsis = false;
  for (int i = 0; i < step->item_count; i++) {
    tl_index_item item = step->items[i];
    if (item.kind == TL_ITEM_ELLIPSIS) {
      *ellipsis = true;
    } else if (item.kind == TL_ITEM_SLICE) {
      axes++;
      parts += __builtin_popcount(item.given);
    } else {
      bool is_mask = tl_is_array(*parts) && tl_dtype_of(*parts) == TL_BOOL;
      axes += is_mask ? tl_ndim(parts->array) : tl_is_none(*parts) ? 0 : 1;
      parts++;
    }
  }
  return axes;
}

// Indexes the array's leading axes in one of its parts, which may have more:
// they stay whole.
static bool get_part(tl_vm *vm, tl_slot base, int64_t i, const tl_step *step,
                     tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot borrowed = tl_borrow(n->parts[i]);
  int ndim = tl_nested_ndim(n), more = tl_value_ndim(borrowed) - ndim;
  bool ellipsis;
  int axes = axes_taken(step, parts, &ellipsis);
  if (axes > ndim) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%d indices are too many for %s, which has %d %s", axes,
                   tl_describe(base, text, sizeof text), ndim,
                   ndim == 1 ? "axis" : "axes");
  }
  if (!ellipsis || more == 0 || step->item_count + more > MOST_ITEMS)
    return tl_index_get(vm, &borrowed, step, parts, out);
  tl_index_item items[MOST_ITEMS];
  memcpy(items, step->items, step->item_count * sizeof *items);
  for (int k = 0; k < more; k++)
    items[step->item_count + k] = (tl_index_item){.kind = TL_ITEM_SLICE};
  tl_step wider = {.item_count = (uint16_t)(step->item_count + more),
                   .items = items};
  return tl_index_get(vm, &borrowed, &wider, parts, out);
}

// --- Forms ------------------------------------------------------------------

bool tl_struct_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot bytes;
  if (!get_part(vm, base, 0, step, parts, &bytes))
    return false;
  int ndim = tl_ndim(bytes.array) - 1;
  if (ndim == 0) {
    bool ok = tl_struct_show(vm, bytes, 0, n->layout, out);
    tl_drop(vm, bytes);
    return ok;
  }
  if (!tl_nested_pair(vm, TL_FORM_STRUCT, ndim, &bytes, NULL, out))
    return false;
  out->nested->layout = n->layout;
  return true;
}

bool tl_option_get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                   tl_slot *out) {
  tl_slot missing, values;
  if (!get_part(vm, base, 0, step, parts, &missing))
    return false;
  if (tl_is_bool(missing) && missing.i != 0) {
    *out = tl_none();
    return true;
  }
  if (!get_part(vm, base, 1, step, parts, &values)) {
    tl_drop(vm, missing);
    return false;
  }
  if (tl_is_bool(missing)) {
    tl_copy_slot(out, &values);
    return true;
  }
  return tl_indexed_new(vm, TL_FORM_OPTION, &missing, &values, out);
}

// The places are indexed, the target stays whole.
bool tl_indexed_get(tl_vm *vm, tl_slot base, const tl_step *step,
                    tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot places, target = tl_borrow(n->parts[1]);
  if (!get_part(vm, base, 0, step, parts, &places))
    return false;
  if (tl_is_none(places)) {  // a code that is missing
    *out = tl_none();
    return true;
  }
  if (tl_value_ndim(places) == 0)
    return tl_nested_at(vm, target, places.i, out);
  return tl_indexed_new(vm, tl_nested_form(n), &places, &target, out);
}

// Puts the fields at an index together again: a record where no axis is left,
// else columns. Takes the values.
static bool columns_of(tl_vm *vm, const tl_nested *n, tl_slot *values,
                       tl_slot *out) {
  // The index takes as many axes from the array as from any part of it.
  int taken = tl_value_axes(n->parts[0]) - tl_value_axes(values[0]);
  int ndim = tl_nested_ndim(n) - taken;
  if (ndim <= 0)
    return tl_struct_item(vm, n->layout, values, out);
  tl_nested *made =
      tl_nested_new(vm, TL_FORM_COLUMNS, ndim, n->count, n->layout);
  if (made == NULL)
    return false;
  for (int64_t i = 0; i < n->count; i++) tl_nested_put(vm, made, i, &values[i]);
  *out = tl_own_nested(made);
  return true;
}

bool tl_columns_get(tl_vm *vm, tl_slot base, const tl_step *step,
                    tl_slot *parts, tl_slot *out) {
  const tl_nested *n = base.nested;
  tl_slot *values = tl_slots_new(vm, n->count, "the fields of an item");
  int64_t made = 0;
  bool ok = values != NULL;
  for (; ok && made < n->count; made += ok)
    ok = get_part(vm, base, made, step, parts, &values[made]);
  ok = ok && columns_of(vm, n, values, out);
  tl_slots_free(vm, values, made);
  return ok;
}

// --- Masks with missing values ----------------------------------------------

bool tl_option_known(tl_vm *vm, const tl_nested *mask, tl_slot *out) {
  tl_slot there;
  if (!tl_option_there(vm, mask, &there))
    return false;
  bool ok = tl_compute2(vm, TL_OP_LOGICAL_AND, mask->parts[1], there, out);
  tl_drop(vm, there);
  return ok;
}

bool tl_option_mask_get(tl_vm *vm, tl_slot base, const tl_nested *mask,
                        tl_slot *out) {
  tl_slot known;
  if (!tl_option_known(vm, mask, &known))
    return false;
  bool ok = tl_value_choose(vm, base, known, out);
  tl_drop(vm, known);
  return ok;
}

// --- Any --------------------------------------------------------------------

static bool get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                tl_slot *out) {
  if (tl_is_option_mask(step, parts))
    return tl_option_mask_get(vm, base, parts[0].nested, out);
  return tl_forms[tl_nested_form(base.nested)].get(vm, base, step, parts, out);
}

bool tl_nested_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                   tl_slot *parts, tl_slot *out) {
  if (step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
      tl_is_string(parts[0])) {
    int64_t i = tl_nested_find(base->nested, parts[0].string);
    if (i < 0)
      return tl_fail_no_field(vm, *base, parts[0].string);
    return tl_nested_field(vm, base, i, out);
  }
  if (!get(vm, tl_borrow(*base), step, parts, out))
    return false;
  // What dies here does not keep the block for a view.
  if (tl_is_owned(*base)) {
    if (!tl_is_owned(*out))
      *out = tl_retain(vm, *out);
    tl_hold(vm, *out, TL_CAUSE_VIEW);
  }
  return true;
}

static const tl_index_item value_item = {.kind = TL_ITEM_VALUE};
const tl_step tl_index_one = {.item_count = 1, .items = &value_item};

bool tl_value_choose(tl_vm *vm, tl_slot s, tl_slot index, tl_slot *out) {
  tl_slot part = tl_borrow(index), borrowed = tl_borrow(s);
  return tl_index_get(vm, &borrowed, &tl_index_one, &part, out);
}

bool tl_nested_at(tl_vm *vm, tl_slot base, int64_t i, tl_slot *out) {
  return tl_value_choose(vm, base, tl_weak_int(i), out);
}

bool tl_value_take(tl_vm *vm, tl_slot s, tl_array *places, tl_slot *out) {
  tl_slot part = {.tag = tl_array_tag(places), .array = places};
  return tl_value_choose(vm, s, part, out);
}

bool tl_value_slice(tl_vm *vm, tl_slot s, int64_t start, int64_t stop,
                    tl_slot *out) {
  static const tl_index_item item = {.kind = TL_ITEM_SLICE,
                                     .given = TL_SLICE_START | TL_SLICE_STOP};
  static const tl_step step = {.item_count = 1, .items = &item};
  tl_slot parts[2] = {tl_weak_int(start), tl_weak_int(stop)};
  tl_slot borrowed = tl_borrow(s);
  return tl_index_get(vm, &borrowed, &step, parts, out);
}

// --- Blocks -----------------------------------------------------------------

// An index of the axes of a block of structs, with one item more for the bytes
// where an ellipsis would reach them.
static bool wider_step(tl_vm *vm, tl_slot bytes, const tl_step *step,
                       const tl_slot *parts, tl_index_item *items,
                       tl_step *out) {
  bool ellipsis;
  int ndim = tl_ndim(bytes.array) - 1;
  int axes = axes_taken(step, parts, &ellipsis);
  if (axes > ndim || step->item_count + 1 > MOST_ITEMS) {
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%d indices are too many for structs of %d %s", axes, ndim,
                   ndim == 1 ? "axis" : "axes");
  }
  memcpy(items, step->items, step->item_count * sizeof *items);
  items[step->item_count] = (tl_index_item){.kind = TL_ITEM_SLICE};
  *out = (tl_step){.item_count = (uint16_t)(step->item_count + ellipsis),
                   .items = items};
  return true;
}

bool tl_struct_items(tl_vm *vm, tl_slot bytes, const tl_step *step,
                     tl_slot *parts, tl_slot *out) {
  tl_index_item items[MOST_ITEMS + 1];
  tl_step wider;
  tl_slot borrowed = tl_borrow(bytes);
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_index_get(vm, &borrowed, &wider, parts, out);
}

bool tl_struct_items_store(tl_vm *vm, tl_slot bytes, const tl_step *step,
                           tl_slot *parts, tl_slot from) {
  tl_index_item items[MOST_ITEMS + 1];
  tl_step wider;
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_array_store(vm, bytes.array, &wider, parts, from);
}
