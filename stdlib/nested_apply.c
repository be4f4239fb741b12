// Functions of one vector on arrays with missing values and on rows of
// different lengths: medians, quantiles, distinct items; their shapes.

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/nested_reduce.h"
#include "vm/nested/nested_elementwise.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/ragged.h"
#include "vm/vm.h"

bool tl_present(tl_vm *vm, tl_slot x, tl_slot *out, int64_t *missing) {
  *missing = 0;
  if (!tl_is_form(x, TL_FORM_OPTION)) {
    *out = tl_retain(vm, tl_borrow(x));
    return true;
  }
  tl_slot there, mask = tl_borrow(x.nested->parts[0]);
  if (!tl_elementwise(vm, TL_OP_LOGICAL_NOT, &mask, &there))
    return false;
  bool ok = tl_value_take(vm, x.nested->parts[1], there.array, out);
  tl_drop(vm, there);
  if (ok)
    *missing = tl_nested_size(x.nested) - tl_value_length(*out, 0);
  return ok;
}

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

static bool apply_to_all(tl_vm *vm, tl_slot x, bool skip, tl_of_vector *each,
                         const void *context, tl_slot *out) {
  int64_t missing;
  tl_slot vector;
  if (!tl_present(vm, x, &vector, &missing))
    return false;
  bool ok = true;
  if (missing > 0 && !skip)
    *out = tl_none();
  else
    ok = each(vm, context, &vector, out);
  tl_clear(vm, &vector);
  return ok;
}

// The results of all rows, stacked.
static bool apply_to_rows(tl_vm *vm, const char *function, const tl_nested *n,
                          bool skip, tl_of_vector *each, const void *context,
                          tl_slot *out) {
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n), made = 0;
  size_t nbytes = ((size_t)rows + 1) * sizeof(tl_slot);
  tl_slot *results = tl_alloc(vm, nbytes, function);
  bool ok = results != NULL;
  for (; ok && made < rows; made += ok) {
    tl_slot row;
    ok = (made & 0xff) != 0xff || tl_poll(vm, 1);
    ok = ok && tl_value_slice(vm, n->parts[1], at[made], at[made + 1], &row);
    if (!ok)
      break;
    ok = apply_to_all(vm, row, skip, each, context, &results[made]);
    tl_drop(vm, row);
  }
  ok = ok && tl_stack_any(vm, rows, results, out);
  while (made > 0) tl_drop(vm, results[--made]);
  if (results != NULL)
    tl_free(vm, results, nbytes);
  return ok;
}

// An array with missing values whose axis [along] is the last, its other axes
// one: rows to apply to. *out is owned.
static bool rows_along(tl_vm *vm, const tl_nested *n, int along, tl_slot *out) {
  int axes[TL_MAX_DIMS], ndim = tl_nested_ndim(n), at = 0;
  for (int i = 0; i < ndim; i++) {
    if (i != along)
      axes[at++] = i;
  }
  axes[at] = along;
  tl_slot parts[2] = {tl_none(), tl_none()}, turned;
  bool ok = true;
  for (int i = 0; ok && i < 2; i++) {
    tl_slot part = tl_borrow(n->parts[i]);
    ok = tl_permute(vm, &part, axes, &parts[i]);
    if (ok)
      tl_hold(vm, parts[i], TL_CAUSE_VIEW);
  }
  if (!ok) {
    tl_clear(vm, &parts[0]);
    return false;
  }
  if (!tl_nested_pair(vm, TL_FORM_OPTION, ndim, &parts[0], &parts[1], &turned))
    return false;
  int64_t length = tl_value_length(turned, ndim - 1);
  int64_t shape[2] = {1, length};
  for (int i = 0; i < ndim - 1; i++) shape[0] *= tl_value_length(turned, i);
  tl_slot table;
  if (!tl_reshape_value(vm, &turned, 2, shape, &table))
    return false;
  ok = tl_ragged_of_regular(vm, table, out);
  tl_drop(vm, table);
  return ok;
}

// The same along one axis of several.
static bool apply_along(tl_vm *vm, const char *function, const tl_nested *n,
                        int along, bool skip, tl_of_vector *each,
                        const void *context, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_nested_ndim(n), at = 0;
  tl_slot x = {.tag = TL_TAG_NESTED, .nested = (tl_nested *)n}, rows, flat;
  for (int i = 0; i < ndim; i++) {
    if (i != along)
      shape[at++] = tl_value_length(x, i);
  }
  if (!rows_along(vm, n, along, &rows))
    return false;
  bool ok =
      apply_to_rows(vm, function, rows.nested, skip, each, context, &flat);
  tl_drop(vm, rows);
  return ok && tl_reshape_value(vm, &flat, ndim - 1, shape, out);
}

static bool apply(tl_vm *vm, const char *function, tl_slot x, tl_slot axis,
                  bool skip, tl_of_vector *each, const void *context,
                  tl_slot *out) {
  bool ragged = tl_is_form(x, TL_FORM_RAGGED);
  int along = -1, ndim = ragged ? 2 : tl_value_ndim(x);
  if (!tl_is_none(axis) && !tl_arg_axis(vm, function, axis, ndim, 0, &along))
    return false;
  bool whole = along < 0 || ndim == 1;
  if (ragged && along == 1)
    return apply_to_rows(vm, function, x.nested, skip, each, context, out);
  if (ragged && whole) {
    tl_slot offsets, items;
    if (!tl_ragged_flat(vm, x, &offsets, &items))
      return false;
    tl_drop(vm, offsets);
    bool ok = apply_to_all(vm, items, skip, each, context, out);
    tl_drop(vm, items);
    return ok;
  }
  if (tl_is_form(x, TL_FORM_OPTION) && whole)
    return apply_to_all(vm, x, skip, each, context, out);
  if (tl_is_form(x, TL_FORM_OPTION) && tl_is_array(x.nested->parts[1])) {
    return apply_along(vm, function, x.nested, along, skip, each, context, out);
  }
  return tl_arg_fail(vm, function, "x",
                     "of numbers, or with missing values or rows of different "
                     "lengths, of which all items or each row are taken",
                     x);
}

bool tl_nested_apply(tl_vm *vm, const char *function, tl_slot x, tl_slot axis,
                     bool keepdims, bool skip, tl_of_vector *each,
                     const void *context, tl_slot *out) {
  tl_slot flat;
  int along = -1, ndim = tl_is_form(x, TL_FORM_RAGGED) ? 2 : tl_value_ndim(x);
  if (!keepdims)
    return apply(vm, function, x, axis, skip, each, context, out);
  if (!tl_is_none(axis) && !tl_arg_axis(vm, function, axis, ndim, 0, &along))
    return false;
  return apply(vm, function, x, axis, skip, each, context, &flat) &&
         tl_keep_axis(vm, along, ndim, &flat, out);
}

// --- Shapes -----------------------------------------------------------------

bool tl_keep_axis(tl_vm *vm, int axis, int ndim, tl_slot *flat, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0, from = 0; i < ndim; i++) {
    shape[i] = axis < 0 || i == axis ? 1 : tl_value_length(*flat, from++);
  }
  if (tl_value_ndim(*flat) > 0)
    return tl_reshape_value(vm, flat, ndim, shape, out);
  tl_slot whole;
  bool ok = tl_stack_any(vm, 1, flat, &whole);
  tl_clear(vm, flat);
  return ok && tl_reshape_value(vm, &whole, ndim, shape, out);
}

bool tl_reshape_value(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                      tl_slot *out) {
  tl_slot parts[2];
  bool option = tl_is_nested(*s);
  for (int k = 0; k <= option; k++) {
    tl_slot part = tl_borrow(option ? s->nested->parts[k] : *s), dense;
    bool ok = tl_array_contiguous(vm, &part, &dense);
    int64_t strides[TL_MAX_DIMS];
    tl_array *view = NULL;
    if (ok) {
      tl_dtype dtype = tl_array_dtype(dense.array);
      tl_shape_strides(ndim, shape, tl_itemsize(dtype), strides);
      view = tl_view_new(vm, &dense, dtype, dense.array->data, ndim, shape,
                         strides);
      tl_drop(vm, dense);
    }
    if (view == NULL) {
      if (k > 0)
        tl_drop(vm, parts[0]);
      tl_clear(vm, s);
      return false;
    }
    parts[k] = tl_own_array(view);
    tl_hold(vm, parts[k], TL_CAUSE_VIEW);
  }
  tl_clear(vm, s);
  if (option) {
    return tl_nested_pair(vm, TL_FORM_OPTION, ndim, &parts[0], &parts[1], out);
  }
  tl_copy_slot(out, &parts[0]);
  return true;
}
