// The axes of any value: in another shape, in another order, as one. Rows that
// come to stand in several axes are rows in a regular order, and back.
//
//   reshape   2 * 6 * {x: float64}   to 3 * 4     each part alike, as views
//             12 * var * float64     to 3 * 4     a grid: places 0 … 11
//             3 * 4 * var            to 12        the rows at those places
//   permute   3 * 4 * var            to 4 * 3     the places, transposed
//
// No item moves unless a plain part is not dense.
#include "vm/nested/parts.h"

#include "vm/nested/ragged.h"

// --- Rows at places ----------------------------------------------------------

// Whether the places are those of all rows, in order.
bool tl_is_in_order(const tl_array *places, const tl_nested *rows) {
  if (!tl_is_contiguous(places) || places->size != tl_ragged_rows(rows))
    return false;
  const int64_t *at = (const int64_t *)(const void *)places->data;
  for (int64_t i = 0; i < places->size; i++)
    if (at[i] != i)
      return false;
  return true;
}

// The common case, all rows as they lie, costs no copy: a reshape of ragged
// rows comes back through here when a grid is read as rows again.
bool tl_rows_at(tl_vm *vm, const tl_array *places, tl_slot rows, tl_slot *out) {
  if (tl_is_in_order(places, rows.nested)) {
    *out = tl_retain(vm, tl_borrow(rows));
    return true;
  }
  tl_slot flat, dense;
  if (!tl_value_flatten(vm, tl_lend_array(places), &flat))
    return false;
  bool ok = tl_array_contiguous(vm, &flat, &dense);
  tl_clear(vm, &flat);
  return ok &&
         tl_drop_after(vm, tl_ragged_take(vm, rows.nested, dense.array, out),
                       &dense);
}

// A number of axes below two is no grid: an index of a grid that takes all
// axes gives the row, and one that leaves a single axis gives ragged rows.
bool tl_grid_of_places(tl_vm *vm, tl_slot places, tl_slot rows, tl_slot *out) {
  if (!tl_is_array(places))
    return tl_nested_at(vm, rows, places.i, out);
  if (tl_ndim(places.array) == 1)
    return tl_rows_at(vm, places.array, rows, out);
  tl_slot first = tl_borrow(places), second = tl_borrow(rows);
  return tl_nested_pair(vm, TL_FORM_GRID, tl_ndim(places.array), &first,
                        &second, out);
}

// The places are the rows' own numbers 0, 1, …: so tl_is_in_order is true of
// the result, and its rows are read without a copy.
bool tl_grid_of_shape(tl_vm *vm, int ndim, const int64_t *shape, tl_slot *rows,
                      tl_slot *out) {
  if (ndim == 1)
    return tl_pass_to(rows, out);
  return tl_places_pair(vm, TL_FORM_GRID, tl_numbers_new(vm, ndim, shape, 0, 1),
                        rows, out);
}

// What is no grid goes through as it is, so that this can be the tl_opener of
// operations on operands of any form.
bool tl_grid_rows(tl_vm *vm, tl_slot s, tl_slot *out) {
  *out = tl_borrow(s);
  return !tl_is_form(s, TL_FORM_GRID) ||
         tl_rows_at(vm, s.nested->parts[0].array, s.nested->parts[1], out);
}

// --- Shapes ------------------------------------------------------------------

// The axes of a reshape, which goes to all parts alike.
// [taken] leading axes become the [ndim] axes of [shape], which has as many
// items.
typedef struct axes {
  int taken, ndim;
  const int64_t *shape;
} axes;

// A tl_part_map: the leading axes of a part are those of the whole.
static bool reshape_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                         tl_slot *out) {
  const axes *a = context;
  (void)i;
  return tl_value_reshape(vm, part, a->taken, a->ndim, a->shape, out);
}

// The last step of a reshape, at a plain array. A shape behind the taken axes
// stays as it is:
//
//   2 * 3 * 8 * uint8, taken 2, to 6     6 * 8 * uint8
//
// The view counts its block, since the tree that it goes into may outlive what
// it was made from.
// Only a part that is not dense is copied, and only that part.
static bool reshape_array(tl_vm *vm, tl_slot s, const axes *to, tl_slot *out) {
  tl_slot dense, borrowed = tl_borrow(s);
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int ndim = to->ndim + tl_ndim(s.array) - to->taken;
  if (ndim > TL_MAX_DIMS)
    return tl_fail_dims(vm, "an array has at most");
  if (!tl_array_contiguous(vm, &borrowed, &dense))
    return false;
  const tl_array *a = dense.array;
  for (int i = 0; i < ndim; i++)
    shape[i] =
        i < to->ndim ? to->shape[i] : tl_shape(a)[i - to->ndim + to->taken];
  tl_shape_strides(ndim, shape, tl_itemsize(tl_array_dtype(a)), strides);
  return tl_drop_after(vm,
                       tl_view(vm, &dense, a->data, ndim, shape, strides, out),
                       &dense) &&
         tl_keep_made(vm, out);
}

// Down the tree to plain arrays. RAGGED has no part with its own axis but the
// offsets, which cannot be reshaped: so it becomes a grid. A grid's places are
// reshaped as an array, and tell then whether the result is still a grid.
bool tl_value_reshape(tl_vm *vm, tl_slot s, int taken, int ndim,
                      const int64_t *shape, tl_slot *out) {
  axes to = {taken, ndim, shape};
  if (tl_is_array(s))
    return reshape_array(vm, s, &to, out);
  if (tl_is_form(s, TL_FORM_RAGGED)) {
    tl_slot rows = tl_retain(vm, tl_borrow(s));
    return tl_grid_of_shape(vm, ndim, shape, &rows, out);
  }
  const tl_nested *n = s.nested;
  if (!tl_is_form(s, TL_FORM_GRID))
    return tl_nested_map(vm, n, tl_nested_ndim(n) - taken + ndim, false,
                         reshape_part, &to, out);
  tl_slot places;
  return reshape_array(vm, n->parts[0], &to, &places) &&
         tl_drop_after(vm, tl_grid_of_places(vm, places, n->parts[1], out),
                       &places);
}

// Two steps: a view with strides of 0 along the repeated axes, which costs
// nothing, then one axis of it, which copies as no stride fits all of that.
bool tl_broadcast_flat(tl_vm *vm, const tl_array *a, int ndim,
                       const int64_t *shape, tl_slot *out) {
  int64_t strides[TL_MAX_DIMS];
  tl_slot base = tl_lend_array(a), view;
  tl_broadcast_strides(a, ndim, shape, strides);
  return tl_view(vm, &base, a->data, ndim, shape, strides, &view) &&
         tl_drop_after(vm, tl_value_flatten(vm, view, out), &view);
}

// One axis into one axis changes nothing, so an owned value is moved: this is
// how results of rows come back from grids that were opened.
bool tl_value_split_axis(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                         tl_slot *out) {
  if (ndim == 1 && tl_is_owned(*s))
    return tl_pass_to(s, out);
  bool ok = tl_value_reshape(vm, *s, 1, ndim, shape, out);
  tl_clear(vm, s);
  return ok;
}

bool tl_value_join_axes(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t length = tl_value_length(s, 0) * tl_value_length(s, 1);
  return tl_value_reshape(vm, s, 2, 1, &length, out);
}

// What has one axis, or none, is itself, retained.
bool tl_value_flatten(tl_vm *vm, tl_slot s, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS], size;
  int ndim = tl_value_shape(s, shape);
  if (ndim < 2) {
    *out = tl_retain(vm, tl_borrow(s));
    return true;
  }
  size = tl_shape_count(ndim, shape);
  return tl_value_reshape(vm, s, ndim, 1, &size, out);
}

// --- Order -------------------------------------------------------------------

// The order of axes, and how many there are.
// Axis i of the result is axis axes[i] of the value.
typedef struct order {
  const int *axes;
  int ndim;
} order;

// A tl_part_map: parts that have the axes get the same order of them.
static bool permute_part(tl_vm *vm, void *context, int64_t i, tl_slot part,
                         tl_slot *out) {
  const order *o = context;
  (void)i;
  return tl_value_permute(vm, part, o->axes, o->ndim, out);
}

// A view of each part, which counts its block since the tree may outlive what
// it was made from. RAGGED has one axis: there is nothing to permute.
bool tl_value_permute(tl_vm *vm, tl_slot s, const int *axes, int ndim,
                      tl_slot *out) {
  order o = {axes, ndim};
  if (tl_is_nested(s))
    return tl_nested_map(vm, s.nested, tl_nested_ndim(s.nested), false,
                         permute_part, &o, out);
  const tl_array *a = s.array;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  for (int i = 0; i < tl_ndim(a); i++) {
    // Behind them a part may have axes of its own.
    int from = i < ndim ? axes[i] : i;
    shape[i] = tl_shape(a)[from];
    strides[i] = tl_strides(a)[from];
  }
  tl_slot base = tl_borrow(s);
  return tl_view(vm, &base, a->data, tl_ndim(a), shape, strides, out) &&
         tl_keep_made(vm, out);
}
