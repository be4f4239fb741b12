// Indexing nested arrays: an index of the leading axes goes to every part.
#include <inttypes.h>
#include <string.h>

#include "vm/values/category.h"
#include "vm/engine/engine.h"
#include "vm/error.h"
#include "vm/nested/grid.h"
#include "vm/nested/nested.h"
#include "vm/nested/ragged.h"
#include "vm/values/octets.h"
#include "vm/values/pointer.h"
#include "vm/values/record.h"
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

// Indexes the leading [ndim] axes of a part, which may have more: they stay
// whole.
static bool get_part(tl_vm *vm, tl_slot part, int ndim, const tl_step *step,
                     tl_slot *parts, bool ellipsis, tl_slot *out) {
  tl_slot lent = tl_borrow(part);
  int more = tl_value_ndim(part) - ndim;
  if (!ellipsis || more == 0 || step->item_count + more > MOST_ITEMS)
    return tl_index_get(vm, &lent, step, parts, out);
  tl_index_item items[MOST_ITEMS];
  memcpy(items, step->items, step->item_count * sizeof *items);
  for (int i = 0; i < more; i++)
    items[step->item_count + i] = (tl_index_item){.kind = TL_ITEM_SLICE};
  tl_step wider = {.item_count = (uint16_t)(step->item_count + more),
                   .items = items};
  return tl_index_get(vm, &lent, &wider, parts, out);
}

// --- Forms ------------------------------------------------------------------

static bool get_struct(tl_vm *vm, const tl_nested *n, const tl_step *step,
                       tl_slot *parts, bool ellipsis, tl_slot *out) {
  tl_slot bytes;
  if (!get_part(vm, n->parts[0], tl_nested_ndim(n), step, parts, ellipsis,
                &bytes)) {
    return false;
  }
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

static bool get_option(tl_vm *vm, const tl_nested *n, const tl_step *step,
                       tl_slot *parts, bool ellipsis, tl_slot *out) {
  tl_slot missing, values;
  int ndim = tl_nested_ndim(n);
  if (!get_part(vm, n->parts[0], ndim, step, parts, ellipsis, &missing))
    return false;
  if (tl_is_bool(missing) && missing.i != 0) {
    *out = tl_none();
    return true;
  }
  if (!get_part(vm, n->parts[1], ndim, step, parts, ellipsis, &values)) {
    tl_drop(vm, missing);
    return false;
  }
  if (tl_is_bool(missing)) {
    tl_copy_slot(out, &values);
    return true;
  }
  return tl_nested_pair(vm, TL_FORM_OPTION, tl_ndim(missing.array), &missing,
                        &values, out);
}

static bool get_category(tl_vm *vm, const tl_nested *n, const tl_step *step,
                         tl_slot *parts, bool ellipsis, tl_slot *out) {
  tl_slot codes;
  if (!get_part(vm, n->parts[0], tl_nested_ndim(n), step, parts, ellipsis,
                &codes))
    return false;
  if (tl_is_none(codes)) {
    *out = tl_none();
    return true;
  }
  if (tl_value_ndim(codes) == 0)
    return tl_nested_at(vm, n->parts[1], codes.i, out);
  tl_slot categories = tl_borrow(n->parts[1]);
  return tl_category_new(vm, &codes, &categories, out);
}

static bool get_pointer(tl_vm *vm, const tl_nested *n, const tl_step *step,
                        tl_slot *parts, bool ellipsis, tl_slot *out) {
  tl_slot places;
  return get_part(vm, n->parts[0], tl_nested_ndim(n), step, parts, ellipsis,
                  &places) &&
         tl_pointer_of_places(vm, n, &places, out);
}

static bool record_of(tl_vm *vm, const tl_nested *n, tl_slot *values,
                      tl_slot *out) {
  bool ok = tl_struct_item(vm, n->layout, values, out);
  for (int64_t i = 0; i < n->count; i++) tl_clear(vm, &values[i]);
  return ok;
}

static bool get_columns(tl_vm *vm, const tl_nested *n, const tl_step *step,
                        tl_slot *parts, bool ellipsis, tl_slot *out) {
  size_t nbytes = (size_t)n->count * sizeof(tl_slot);
  tl_slot *values = tl_alloc(vm, nbytes, "the fields of an item");
  if (values == NULL)
    return false;
  int64_t made = 0;
  while (made < n->count && get_part(vm, n->parts[made], tl_nested_ndim(n),
                                     step, parts, ellipsis, &values[made])) {
    made++;
  }
  bool ok = made == n->count;
  // The axes that are left are those of the first part but its own.
  int own = tl_value_ndim(n->parts[0]) - tl_nested_ndim(n);
  int ndim = ok ? tl_value_ndim(values[0]) - own : 0;
  if (ok && tl_is_form(n->parts[0], TL_FORM_RAGGED) &&
      !tl_is_form(values[0], TL_FORM_RAGGED)) {
    ndim = 0;  // a row
  }
  if (!ok) {
    while (made > 0) tl_drop(vm, values[--made]);
  } else if (ndim <= 0) {
    ok = record_of(vm, n, values, out);
  } else {
    tl_nested *m =
        tl_nested_new(vm, TL_FORM_COLUMNS, ndim, n->count, n->layout);
    for (int64_t i = 0; i < n->count; i++) {
      if (m != NULL)
        tl_nested_put(vm, m, i, &values[i]);
      else
        tl_drop(vm, values[i]);
    }
    ok = m != NULL;
    if (ok)
      *out = tl_own_nested(m);
  }
  tl_free(vm, values, nbytes);
  return ok;
}

// --- Masks with missing values ----------------------------------------------

// A flag for each chosen item of the leading axes, for all that lies below it.
static bool spread_flags(tl_vm *vm, const tl_array *flags, tl_slot shaped,
                         tl_slot *out) {
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int ndim = tl_value_ndim(shaped);
  for (int i = 0; i < ndim; i++) {
    shape[i] = tl_value_length(shaped, i);
    strides[i] = i == 0 ? tl_strides(flags)[0] : 0;
  }
  tl_slot base = {.tag = tl_array_tag(flags), .array = (tl_array *)flags};
  tl_array *view =
      tl_view_new(vm, &base, TL_BOOL, flags->data, ndim, shape, strides);
  tl_array *copy = view != NULL ? tl_array_copy(vm, view) : NULL;
  if (view != NULL)
    tl_drop(vm, tl_own_array(view));
  if (copy != NULL)
    *out = tl_own_array(copy);
  return copy != NULL;
}

bool tl_option_add(tl_vm *vm, tl_slot *picked, tl_slot flags, tl_slot *out) {
  tl_slot mask = tl_none(), values = tl_none();
  bool option = tl_is_form(*picked, TL_FORM_OPTION);
  bool ok = spread_flags(vm, flags.array, *picked, &mask);
  if (ok && option) {
    tl_slot both[2] = {mask, tl_borrow(picked->nested->parts[0])}, made;
    ok = tl_elementwise(vm, TL_OP_LOGICAL_OR, both, &made);
    tl_clear(vm, &both[0]);
    mask = ok ? made : tl_none();
  }
  if (ok) {
    values = tl_retain(
        vm, option ? tl_borrow(picked->nested->parts[1]) : tl_borrow(*picked));
    ok = tl_nested_pair(vm, TL_FORM_OPTION, tl_value_ndim(*picked), &mask,
                        &values, out);
  }
  tl_clear(vm, &mask);
  tl_clear(vm, picked);
  return ok;
}

bool tl_option_mask_get(tl_vm *vm, tl_slot base, const tl_nested *mask,
                        tl_slot *out) {
  if (tl_is_form(base, TL_FORM_CATEGORY)) {
    tl_slot codes, categories = tl_borrow(base.nested->parts[1]);
    return tl_option_mask_get(vm, base.nested->parts[0], mask, &codes) &&
           tl_category_new(vm, &codes, &categories, out);
  }
  if (!tl_is_array(base) && !tl_is_form(base, TL_FORM_OPTION)) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a mask with missing values chooses numbers and strings, "
                   "not from %s: fill_missing(mask, false) is a mask for all",
                   tl_describe(base, text, sizeof text));
  }
  tl_slot x[2] = {tl_borrow(mask->parts[0]), tl_borrow(mask->parts[1])};
  tl_slot chosen, flags = tl_none(), picked;
  if (!tl_elementwise(vm, TL_OP_LOGICAL_OR, x, &chosen))
    return false;
  bool ok = tl_value_take(vm, mask->parts[0], chosen.array, &flags) &&
            tl_value_take(vm, base, chosen.array, &picked);
  tl_drop(vm, chosen);
  ok = ok && tl_option_add(vm, &picked, flags, out);
  tl_clear(vm, &flags);
  return ok;
}

// --- Any --------------------------------------------------------------------

static bool get(tl_vm *vm, tl_slot base, const tl_step *step, tl_slot *parts,
                tl_slot *out) {
  const tl_nested *n = base.nested;
  if (tl_nested_form(n) == TL_FORM_BYTES)
    return tl_octets_get(vm, n, step, parts, out);
  if (tl_is_option_mask(step, parts))
    return tl_option_mask_get(vm, base, parts[0].nested, out);
  if (tl_nested_form(n) == TL_FORM_RAGGED)
    return tl_ragged_get(vm, base, step, parts, out);
  if (tl_nested_form(n) == TL_FORM_GRID)
    return tl_grid_get(vm, n, step, parts, out);
  bool ellipsis;
  int axes = axes_taken(step, parts, &ellipsis);
  if (axes > tl_nested_ndim(n)) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%d indices are too many for %s, which has %d %s", axes,
                   tl_describe(base, text, sizeof text), tl_nested_ndim(n),
                   tl_nested_ndim(n) == 1 ? "axis" : "axes");
  }
  switch (tl_nested_form(n)) {
    case TL_FORM_STRUCT:
      return get_struct(vm, n, step, parts, ellipsis, out);
    case TL_FORM_OPTION:
      return get_option(vm, n, step, parts, ellipsis, out);
    case TL_FORM_CATEGORY:
      return get_category(vm, n, step, parts, ellipsis, out);
    case TL_FORM_POINTER:
      return get_pointer(vm, n, step, parts, ellipsis, out);
    default:
      return get_columns(vm, n, step, parts, ellipsis, out);
  }
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
static const tl_step value_step = {.item_count = 1, .items = &value_item};

bool tl_nested_at(tl_vm *vm, tl_slot base, int64_t i, tl_slot *out) {
  tl_slot part = tl_weak_int(i), lent = tl_borrow(base);
  return tl_index_get(vm, &lent, &value_step, &part, out);
}

bool tl_value_take(tl_vm *vm, tl_slot s, tl_array *places, tl_slot *out) {
  tl_slot part = {.tag = tl_array_tag(places), .array = places};
  tl_slot lent = tl_borrow(s);
  return tl_index_get(vm, &lent, &value_step, &part, out);
}

bool tl_value_slice(tl_vm *vm, tl_slot s, int64_t start, int64_t stop,
                    tl_slot *out) {
  static const tl_index_item item = {.kind = TL_ITEM_SLICE,
                                     .given = TL_SLICE_START | TL_SLICE_STOP};
  static const tl_step step = {.item_count = 1, .items = &item};
  tl_slot parts[2] = {tl_weak_int(start), tl_weak_int(stop)};
  tl_slot lent = tl_borrow(s);
  return tl_index_get(vm, &lent, &step, parts, out);
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
  tl_slot lent = tl_borrow(bytes);
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_index_get(vm, &lent, &wider, parts, out);
}

bool tl_struct_items_store(tl_vm *vm, tl_slot bytes, const tl_step *step,
                           tl_slot *parts, tl_slot from) {
  tl_index_item items[MOST_ITEMS + 1];
  tl_step wider;
  return wider_step(vm, bytes, step, parts, items, &wider) &&
         tl_array_store(vm, bytes.array, &wider, parts, from);
}
