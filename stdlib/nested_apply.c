// Functions of one vector on arrays with missing values and on rows of
// different lengths: medians, quantiles, distinct items; their shapes.
//
//
//   no axis          each(all items that are there)
//   rows             each(row) for every row, results stacked
//   an axis of more  the lanes along it as rows, the results in their shape

#include "stdlib/arguments.h"
#include "stdlib/nested_reduce.h"
#include "vm/array/describe.h"
#include "vm/nested/ragged.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/parts.h"
#include "vm/vm.h"

// A value that is not optional is passed on as a reference of its own, so that
// callers drop *out in either case.
bool tl_present(tl_vm *vm, tl_slot x, tl_slot *out, int64_t *missing) {
  *missing = 0;
  if (!tl_is_form(x, TL_FORM_OPTION)) {
    *out = tl_retain(vm, tl_borrow(x));
    return true;
  }
  if (!tl_option_present(vm, x.nested, out))
    return false;
  *missing = tl_nested_size(x.nested) - tl_value_length(*out, 0);
  return true;
}

// Only borrows go in; what the function replaces in its arguments is given up
// here, so that args stays as it is.
bool tl_call_beneath(tl_vm *vm, tl_builtin_fn *call, const tl_slot *args,
                     int count, unsigned which, tl_slot *out) {
  tl_slot inner[TL_MAX_PARAMS];
  for (int i = 0; i < count; i++) {
    bool beneath = (which >> i & 1) != 0 && tl_is_form(args[i], TL_FORM_OPTION);
    inner[i] = tl_borrow(beneath ? args[i].nested->parts[1] : args[i]);
  }
  bool ok = call(vm, inner, out);
  for (int i = 0; i < count; i++) tl_clear(vm, &inner[i]);
  return ok;
}

// Any value of axes in another shape of as many items. Takes what *s owns on
// every path, which lets calls be chained.
static bool reshape_value(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                          tl_slot *out) {
  bool ok = tl_value_reshape(vm, *s, tl_value_ndim(*s), ndim, shape, out);
  tl_clear(vm, s);
  return ok;
}

// What is done with each vector.
typedef struct application {
  const char *function;
  bool skip;
  tl_of_vector *each;
  const void *context;
} application;

// The function of one vector that may have missing items. Where one is missing
// and none may be skipped, the function is not called at all.
static bool apply_to_all(tl_vm *vm, tl_slot x, const application *how,
                         tl_slot *out) {
  int64_t missing;
  tl_slot vector;
  if (!tl_present(vm, x, &vector, &missing))
    return false;
  bool ok = true;
  if (missing > 0 && !how->skip)
    *out = tl_none();
  else
    ok = how->each(vm, how->context, &vector, out);
  tl_clear(vm, &vector);
  return ok;
}

// The same for tl_each_row.
static bool apply_to_row(tl_vm *vm, void *how, tl_slot *row, tl_slot *out) {
  return apply_to_all(vm, *row, how, out);
}

// The results of all rows, stacked.
static bool apply_to_rows(tl_vm *vm, const tl_nested *n, application how,
                          tl_slot *out) {
  int64_t rows = tl_ragged_rows(n);
  // Of no rows there is no result that would have a type.
  // The second argument is not read.
  if (rows == 0)
    return tl_stack_any(vm, 0, out, out);
  return tl_each_row(vm, how.function, n->parts[1], tl_ragged_offsets(n), rows,
                     apply_to_row, &how, tl_stack_any, out);
}

// The axis goes to the end, and the items are cut into rows of its length:
//
//   x of 2 * 3, along 0    transposed 3 * 2    3 rows of 2
//
bool tl_rows_along(tl_vm *vm, const tl_nested *n, int along, tl_slot *out) {
  int axes[TL_MAX_DIMS], ndim = tl_nested_ndim(n), at = 0;
  int64_t shape[TL_MAX_DIMS], rows = 1, size;
  tl_value_shape(tl_lend_nested(n), shape);
  for (int i = 0; i < ndim; i++) {
    if (i == along)
      continue;
    axes[at++] = i;
    rows *= shape[i];
  }
  axes[at] = along;
  size = rows * shape[along];
  tl_slot transposed, items;
  if (!tl_value_permute(vm, tl_lend_nested(n), axes, ndim, &transposed))
    return false;
  bool ok = tl_value_reshape(vm, transposed, ndim, 1, &size, &items);
  tl_drop(vm, transposed);
  return ok && tl_ragged_of_width(vm, rows, shape[along], &items, out);
}

// The same along one axis of several.
static bool apply_along(tl_vm *vm, const tl_nested *n, int along,
                        const application *how, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_nested_ndim(n), at = 0;
  tl_slot rows, flat;
  for (int i = 0; i < ndim; i++) {
    if (i != along)
      shape[at++] = tl_value_length(tl_lend_nested(n), i);
  }
  if (!tl_rows_along(vm, n, along, &rows))
    return false;
  bool ok = apply_to_rows(vm, rows.nested, *how, &flat);
  tl_drop(vm, rows);
  return ok && reshape_value(vm, &flat, ndim - 1, shape, out);
}

// Chooses the vectors by the axis: all items, each row, or the lanes along one
// of several axes. Fails (kind type) for forms that have no vectors, such as
// rows of rows.
static bool apply(tl_vm *vm, tl_slot x, tl_slot axis, const application *how,
                  tl_slot *out) {
  const char *function = how->function;
  bool ragged = tl_is_form(x, TL_FORM_RAGGED);
  int along = -1, ndim = ragged ? 2 : tl_value_ndim(x);
  if (!tl_is_none(axis) && !tl_arg_axis(vm, function, axis, ndim, 0, &along))
    return false;
  bool whole = along < 0 || ndim == 1;
  if (ragged && along == 1)
    return apply_to_rows(vm, x.nested, *how, out);
  if (ragged && whole) {
    tl_slot items;
    if (!tl_ragged_items(vm, x, &items))
      return false;
    bool ok = apply_to_all(vm, items, how, out);
    tl_drop(vm, items);
    return ok;
  }
  if (tl_is_form(x, TL_FORM_OPTION) && whole)
    return apply_to_all(vm, x, how, out);
  if (tl_is_form(x, TL_FORM_OPTION) && tl_is_array(x.nested->parts[1]))
    return apply_along(vm, x.nested, along, how, out);
  return tl_arg_fail(vm, function, "x",
                     "of numbers, or with missing values or rows of different "
                     "lengths, of which all items or each row are taken",
                     x);
}

// The axes of length 1 are put in afterwards: the functions know nothing of
// them.
bool tl_nested_apply(tl_vm *vm, const char *function, tl_slot x, tl_slot axis,
                     bool keepdims, bool skip, tl_of_vector *each,
                     const void *context, tl_slot *out) {
  tl_slot flat;
  int along = -1, ndim = tl_is_form(x, TL_FORM_RAGGED) ? 2 : tl_value_ndim(x);
  const application how = {function, skip, each, context};
  if (!keepdims)
    return apply(vm, x, axis, &how, out);
  if (!tl_is_none(axis) && !tl_arg_axis(vm, function, axis, ndim, 0, &along))
    return false;
  return apply(vm, x, axis, &how, &flat) &&
         tl_keep_axis(vm, along, ndim, &flat, out);
}

// --- Shapes -----------------------------------------------------------------

// A single value has no axes to reshape; it is stacked to an array of one
// first.
bool tl_keep_axis(tl_vm *vm, int axis, int ndim, tl_slot *flat, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0, from = 0; i < ndim; i++) {
    shape[i] = axis < 0 || i == axis ? 1 : tl_value_length(*flat, from++);
  }
  if (tl_value_ndim(*flat) > 0)
    return reshape_value(vm, flat, ndim, shape, out);
  tl_slot whole;
  bool ok = tl_stack_any(vm, 1, flat, &whole);
  tl_clear(vm, flat);
  return ok && reshape_value(vm, &whole, ndim, shape, out);
}
