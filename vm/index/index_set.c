// Writing to the items of an array that an index selects.
//
//     read_value    the value as an array of the target's dtype
//     fit_value     broadcasts to the place's shape, or an error
//     spread_value  dense and disjoint from the target, for scattering
//     then          one item, a region (a view), chosen items, or a mask
//
// Built for size.
#include <inttypes.h>

#include "vm/array/range.h"
#include "vm/index/select.h"

// --- The value --------------------------------------------------------------

// The error of a value that does not go into items of [dtype]: never a silent
// loss, such as a float into integers.
// Returns false, with what would convert where something does.
static bool fail_kind(tl_vm *vm, tl_slot value, tl_dtype dtype) {
  const char *name = tl_dtypes[dtype].name;
  tl_dtype from = (tl_dtype)tl_dtype_of(value);
  if (tl_is_none(value))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "cannot store none into %s items: items of astype(x, `?%s`) "
                   "may be missing",
                   name, name);
  if (tl_is_array(value) && from != TL_STRING && dtype != TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "cannot store %s into %s items: convert with %s(x)",
                   tl_dtypes[from].name, name, name);
  return tl_fail(vm, TALLY_ERR_TYPE, "cannot store %s into %s items",
                 tl_described(vm, value), name);
}

// Converts a number or string into one item.
static bool store_one(tl_vm *vm, tl_array *a, char *item, tl_slot value) {
  tl_dtype dtype = tl_array_dtype(a);
  if (tl_is_number(value) &&
      (dtype == TL_STRING ||
       tl_kind_rank((tl_dtype)tl_dtype_of(value)) > tl_kind_rank(dtype))) {
    return fail_kind(vm, value, dtype);
  }
  return tl_item_store(vm, a, item, value);
}

// One item for all: an array of rank 0.
// [value] is a number or, for strings, a string.
static bool one_item(tl_vm *vm, tl_dtype dtype, tl_slot value, tl_slot *out) {
  tl_array *item = tl_array_new(vm, dtype, 0, NULL);
  bool ok = item != NULL && store_one(vm, item, item->data, value);
  return tl_array_finish(vm, ok, item, out);
}

// The array itself if it has the dtype, else cast to it where its kind allows.
// Kinds only go up: a bool into integers, integers into floats, floats into
// complex; widths may shrink, much as with NumPy's same_kind casts.
static bool convert_array(tl_vm *vm, tl_dtype dtype, tl_slot value,
                          tl_slot *out) {
  tl_dtype from = tl_array_dtype(value.array);
  if (from == dtype) {
    *out = tl_borrow(value);
    return true;
  }
  if (from == TL_STRING || dtype == TL_STRING ||
      tl_kind_rank(from) > tl_kind_rank(dtype)) {
    return fail_kind(vm, value, dtype);
  }
  return tl_array_give(tl_array_cast(vm, value.array, dtype), out);
}

// A range as an array of [dtype].
// The numbers 0, 1, 2 … are int64, so for narrower items they are cast, too.
static bool convert_range(tl_vm *vm, tl_dtype dtype, tl_slot value,
                          tl_slot *out) {
  tl_slot made;
  if (dtype == TL_INT64)
    return tl_array_give(tl_range_to_array(vm, value.range), out);
  return tl_array_give(tl_range_to_array(vm, value.range), &made) &&
         tl_drop_after(vm, convert_array(vm, dtype, made, out), &made);
}

// The value as an array of [dtype]: borrowed where it is one, else made here.
static bool read_value(tl_vm *vm, tl_dtype dtype, tl_slot value, tl_slot *out) {
  if (tl_is_number(value))
    return one_item(vm, dtype, value, out);
  if (tl_is_array(value))
    return convert_array(vm, dtype, value, out);
  if (tl_is_range(value))
    return convert_range(vm, dtype, value, out);
  if (tl_is_string(value) && dtype == TL_STRING)
    return one_item(vm, dtype, value, out);
  return fail_kind(vm, value, dtype);
}

// --- Shapes -----------------------------------------------------------------

// The error of a value that does not broadcast to the place: axis -1 for too
// many dimensions.
static bool fail_shape(tl_vm *vm, const tl_array *value, int ndim,
                       const int64_t *shape, int axis) {
  char place[TL_DESCRIBE];
  tl_text written;
  const char *text = tl_described(vm, tl_lend_array(value));
  tl_text_within(&written, place, sizeof place);
  for (int i = 0; i < ndim; i++)
    tl_text_printf(&written, "%s%" PRId64, i > 0 ? " * " : "", shape[i]);
  place[written.length] = 0;
  if (axis < 0)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "cannot store %s into a place of shape %s: %d %s against %d",
                   text, ndim > 0 ? place : "()", tl_ndim(value),
                   tl_ndim(value) == 1 ? "dimension" : "dimensions", ndim);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "cannot store %s into a place of shape %s: axis %d is %" PRId64
                 " against %" PRId64,
                 text, place, axis,
                 tl_shape(value)[axis - ndim + tl_ndim(value)], shape[axis]);
}

// Makes the value broadcast to the place's shape: leading dimensions of 1 that
// the place does not have are left out.
static bool fit_value(tl_vm *vm, tl_slot *value, int ndim,
                      const int64_t *shape) {
  const tl_array *a = value->array;
  int more = tl_ndim(a) - ndim;
  for (int i = 0; i < more; i++)
    if (tl_shape(a)[i] != 1)
      return fail_shape(vm, a, ndim, shape, -1);
  for (int i = more < 0 ? -more : 0; i < ndim; i++) {
    int64_t dim = tl_shape(a)[i + more];
    if (dim != 1 && dim != shape[i])
      return fail_shape(vm, a, ndim, shape, i);
  }
  if (more <= 0)
    return true;
  return tl_view(vm, value, a->data, ndim, tl_shape(a) + more,
                 tl_strides(a) + more, value);
}

// --- Writing ----------------------------------------------------------------

// The value is broadcast to the whole target.
bool tl_array_store_all(tl_vm *vm, tl_array *target, tl_slot value) {
  tl_slot from;
  if (!read_value(vm, tl_array_dtype(target), value, &from))
    return false;
  return tl_drop_after(
      vm,
      fit_value(vm, &from, tl_ndim(target), tl_shape(target)) &&
          tl_array_assign(vm, target, from.array),
      &from);
}

// The value over all that a view of the target shows.
static bool store_view(tl_vm *vm, tl_array *target, char *data, int ndim,
                       const int64_t *shape, const int64_t *strides,
                       tl_slot value) {
  tl_slot base = tl_lend_array(target), view;
  return tl_view(vm, &base, data, ndim, shape, strides, &view) &&
         tl_drop_after(vm, tl_array_store_all(vm, view.array, value), &view);
}

// Whether the value is a vector of the target's dtype and as long as the place,
// both without gaps, as a row for a row is.
static bool is_run(const tl_array *target, const tl_selection *selection,
                   tl_slot value) {
  enum { MOST = 64 * 1024 };  // bytes: more is polled for
  const tl_dtype dtype = tl_array_dtype(target);
  const int64_t itemsize = (int64_t)tl_itemsize(dtype);
  if (selection->ndim != 1 || !tl_is_array(value) || dtype >= TL_STRING)
    return false;
  const tl_array *a = value.array;
  return tl_array_dtype(a) == dtype && tl_ndim(a) == 1 &&
         tl_shape(a)[0] == selection->shape[0] &&
         tl_shape(a)[0] <= MOST / itemsize && tl_strides(a)[0] == itemsize &&
         selection->strides[0] == itemsize;
}

// Writes to a region that a view can show.
// A row of a matrix set to a row is the common case, and goes by one memmove.
static bool store_region(tl_vm *vm, tl_array *target,
                         const tl_selection *selection, tl_slot value) {
  if (is_run(target, selection, value)) {
    memmove(selection->data, value.array->data,
            (size_t)value.array->size * tl_itemsize(tl_array_dtype(target)));
    return true;
  }
  return store_view(vm, target, selection->data, selection->ndim,
                    selection->shape, selection->strides, value);
}

// The value as scattering wants it: one item, or dense in the whole shape and
// disjoint from the target.
static bool spread_value(tl_vm *vm, const tl_array *target, int ndim,
                         const int64_t *shape, tl_slot *value) {
  const tl_array *a = value->array;
  bool is_whole =
      a->size == 1 || (tl_is_contiguous(a) && tl_has_shape(a, ndim, shape));
  if (is_whole && !tl_arrays_overlap(a, target))
    return true;
  tl_array *whole = tl_array_new(vm, tl_array_dtype(a), ndim, shape);
  tl_slot before = *value;
  bool ok = whole != NULL && tl_array_assign(vm, whole, a);
  if (!tl_array_finish(vm, ok, whole, value))
    return false;
  tl_drop(vm, before);
  return true;
}

// The value as scattering wants it over places of that shape. *out is borrowed
// or owned; nothing is where this fails.
static bool prepare_value(tl_vm *vm, const tl_array *target, int ndim,
                          const int64_t *shape, tl_slot value, tl_slot *out) {
  if (!read_value(vm, tl_array_dtype(target), value, out))
    return false;
  if (fit_value(vm, out, ndim, shape) &&
      spread_value(vm, target, ndim, shape, out))
    return true;
  tl_drop(vm, *out);
  return false;
}

// Positions that are read from the target itself are copied out first.
static bool part_positions(tl_vm *vm, const tl_array *target,
                           tl_selection *selection) {
  if (selection->positions.length < 0 ||
      !tl_arrays_overlap(selection->keep.array, target)) {
    return true;
  }
  tl_array *copy = tl_array_copy(vm, selection->keep.array);
  if (copy == NULL)
    return false;
  tl_clear(vm, &selection->keep);
  selection->keep = tl_own_array(copy);
  selection->positions.index = (int64_t *)(void *)copy->data;
  return true;
}

// Writes to places chosen by index arrays and masks.
// All that may fail comes before tl_scatter_items: positions are checked, the
// value is converted and made as long as the place.
static bool store_fancy(tl_vm *vm, tl_array *target, tl_selection *selection,
                        tl_slot value) {
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  tl_slot from;
  if (!tl_selection_shape(vm, selection, &ndim, shape) ||
      !tl_positions_check(vm, selection) ||
      !part_positions(vm, target, selection) ||
      !prepare_value(vm, target, ndim, shape, value, &from))
    return false;
  return tl_drop_after(vm, tl_scatter_items(vm, selection, from.array), &from);
}

// Writes to the places of a mask over the whole array.
// The true ones are counted first, as the value must have as many items or one.
static bool store_masked(tl_vm *vm, tl_array *target, const tl_array *mask,
                         tl_slot value) {
  int64_t count = tl_count_true(vm, mask);
  tl_slot from;
  if (count < 0 || !prepare_value(vm, target, 1, &count, value, &from))
    return false;
  return tl_drop_after(
      vm, count == 0 || tl_expand_items(vm, target, mask, from.array), &from);
}

// Writes one item.
// An item that is set to an array goes by a view of no axes, so that an array
// of one item broadcasts to it and others fail in the usual words.
static bool store_item(tl_vm *vm, tl_array *target, char *item, tl_slot value) {
  tl_dtype dtype = tl_array_dtype(target);
  // The usual case: no conversion.
  if (tl_is_scalar(value) && tl_dtype_of(value) == (int)dtype) {
    tl_scalar_store(value, item);
    return true;
  }
  if (tl_is_number(value) || (tl_is_string(value) && dtype == TL_STRING))
    return store_one(vm, target, item, value);
  return store_view(vm, target, item, 0, NULL, NULL, value);
}

// From cheap to general: integers and slices, one item, a mask over the whole,
// then the selection.
bool tl_array_store(tl_vm *vm, tl_array *target, const tl_step *step,
                    const tl_slot *parts, tl_slot value) {
  char *item;
  tl_selection selection;
  if (tl_select_plain(target, step, parts, &selection))
    return selection.ndim == 0 ? store_item(vm, target, selection.data, value)
                               : store_region(vm, target, &selection, value);
  if (tl_index_item_at(target, step, parts, &item))
    return store_item(vm, target, item, value);
  const tl_array *mask = tl_whole_mask(target, step, parts);
  if (mask != NULL && !tl_arrays_overlap(mask, target))
    return store_masked(vm, target, mask, value);
  if (!tl_select(vm, target, step, parts, &selection))
    return false;
  bool ok = selection.is_fancy ? store_fancy(vm, target, &selection, value)
                               : store_region(vm, target, &selection, value);
  tl_selection_close(vm, &selection);
  return ok;
}
