// Reductions of arrays with missing values and of rows of different lengths.
//
//
//   ragged     all items, across rows (axis 0), within rows (axis 1), below
//   grid       the same of rows that lie in a fixed shape
//   option     without what is missing, or missing where anything is
//
// Each case is brought to rows of plain items, which row_reduce.c reduces.

#include "stdlib/nested_reduce.h"

#include "stdlib/arguments.h"
#include "vm/bytecode/module.h"
#include "vm/nested/ragged.h"
#include "vm/nested/nested_join.h"
#include "vm/values/list.h"

// --- In Tally ---------------------------------------------------------------

bool tl_reduce_in_tally(tl_vm *vm, const char *entry, const char *name,
                        const tl_slot *x, const tl_slot *axis, int ndim,
                        bool keepdims, tl_record *more, tl_slot *out) {
  const tl_builtin *f = tl_builtin_find(vm->library, NULL, name, strlen(name));
  tl_slot given[] = {tl_builtin_slot(f), tl_none(),         tl_borrow(*x),
                     tl_borrow(*axis),   tl_weak_int(ndim), tl_bool(keepdims),
                     tl_none()};
  if (!tl_record_put_end(more, &given[6]))
    return false;
  if (tl_string_give(tl_string_from(vm, name), &given[1]))
    return tl_call_embedded(vm, "inner/reductions", entry, 7, given, out);
  tl_drop(vm, given[6]);
  return false;
}

// What a reduction has beside x, an axis and keepdims; NULL after tl_fail.
static tl_record *other_arguments(tl_vm *vm, const tl_reduce_call *call) {
  const tl_reduction reduction = call->reduction;
  tl_record *more = tl_record_new(vm, 3);
  tl_record_put(vm, &more, "skip_missing", tl_bool(call->skip));
  if (call->dtype != TL_DTYPE_COUNT) {
    tl_type *type = tl_type_of_dtype(vm, call->dtype);
    tl_slot dtype = type != NULL ? tl_type_slot(type) : tl_none();
    tl_record_put_made(vm, &more, "dtype", type != NULL, &dtype);
  }
  if (reduction == TL_REDUCE_VAR || reduction == TL_REDUCE_STD)
    tl_record_put(vm, &more, "correction", tl_weak_float(call->correction));
  return more;
}

// By a function of inner/reductions, along an axis, or of all items (-1).
static bool reduce_by(tl_vm *vm, const tl_reduce_call *call, const char *entry,
                      tl_slot x, int axis, tl_slot *out) {
  const tl_slot along = axis < 0 ? tl_none() : tl_weak_int(axis);
  return tl_reduce_in_tally(vm, entry, call->name, &x, &along, tl_value_axes(x),
                            false, other_arguments(vm, call), out);
}

// --- Rows -------------------------------------------------------------------

// How many rows have an item at each place; the widest row has the last.
static tl_array *count_places(tl_vm *vm, const int64_t *at, int64_t rows) {
  int64_t width = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (at[i + 1] - at[i] > width)
      width = at[i + 1] - at[i];
  }
  tl_array *offsets = tl_offsets_new(vm, width);
  if (offsets == NULL)
    return NULL;
  // First how many rows end before a place, then how many are left.
  int64_t *to = tl_offsets_data(offsets) + 1, left = rows;
  // Rows of full width are not counted: they end behind the last place.
  for (int64_t k = 0; k < width; k++) to[k] = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (at[i + 1] - at[i] < width)
      to[at[i + 1] - at[i]]++;
  }
  for (int64_t k = 0; k < width; k++) {
    left -= to[k];
    to[k] = to[k - 1] + left;
  }
  return offsets;
}

// Offsets and items take the places of those of the rows.
bool tl_rows_across(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot offsets, items, turned;
  if (!tl_ragged_borrow(vm, args[0], &offsets, &items))
    return false;
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  tl_array *begins = count_places(vm, at, rows);
  tl_array *next = begins != NULL ? tl_array_copy(vm, begins) : NULL;
  tl_array *places = next != NULL ? tl_positions_new(vm, at[rows]) : NULL;
  for (int64_t i = 0; places != NULL && i < rows; i++) {
    for (int64_t k = at[i]; k < at[i + 1]; k++)
      tl_offsets_data(places)[tl_offsets_data(next)[k - at[i]]++] = k;
  }
  bool ok = tl_take_at(vm, places != NULL, items, places, &turned);
  tl_array_drop(vm, next);
  tl_drop(vm, offsets);
  tl_drop(vm, items);
  return tl_ragged_close(vm, ok, begins, &turned, out);
}

// Rows of more than plain items, of which each is reduced by itself.
static bool reduce_table(tl_vm *vm, void *call, tl_slot *row, tl_slot *out) {
  tl_reduce_call one = *(const tl_reduce_call *)call;
  one.axis = tl_weak_int(0);
  return tl_is_nested(*row) ? tl_nested_reduce(vm, &one, row, out)
                            : tl_reduce(vm, one.reduction, row, 1, false,
                                        one.dtype, one.correction, out);
}

// Rows whose items are arrays, structs or rows themselves.
static bool reduce_tables(tl_vm *vm, const tl_reduce_call *call, tl_slot items,
                          const int64_t *at, int64_t rows, tl_slot *out) {
  // Results that may differ in length are rows of their own.
  return tl_each_row(
      vm, call->name, items, at, rows, reduce_table, (void *)(uintptr_t)call,
      tl_is_form(items, TL_FORM_RAGGED) ? tl_ragged_of_rows : tl_stack_any,
      out);
}

// Each row, of any items.
static bool reduce_each(tl_vm *vm, const tl_reduce_call *call, tl_slot items,
                        const tl_array *offsets, tl_slot *out) {
  const int64_t *at = tl_offsets_data((tl_array *)offsets);
  int64_t rows = offsets->size - 1;
  if (tl_is_array(items) && tl_ndim(items.array) == 1)
    return tl_reduce_each_row(vm, call, items, at, rows, out);
  if (tl_is_form(items, TL_FORM_OPTION) && tl_value_ndim(items) == 1) {
    tl_slot shared = tl_own_array((tl_array *)(uintptr_t)offsets);
    tl_slot x, own = tl_retain(vm, tl_borrow(items));
    shared = tl_retain(vm, tl_borrow(shared));
    return tl_rows_close(vm, true, &shared, &own, &x) &&
           tl_drop_after(vm, reduce_by(vm, call, "present_within", x, 1, out),
                         &x);
  }
  return reduce_tables(vm, call, items, at, rows, out);
}

// All items of a ragged array (axis -1), or each row of it.
static bool reduce_rows(tl_vm *vm, const tl_reduce_call *call, tl_slot x,
                        int axis, tl_slot *out) {
  tl_slot offsets, items;
  if (!tl_ragged_borrow(vm, x, &offsets, &items))
    return false;
  bool ok;
  if (axis > 0)
    ok = reduce_each(vm, call, items, offsets.array, out);
  else if (tl_is_nested(items))
    ok = tl_nested_reduce(vm, call, &items, out);
  else
    ok = tl_reduce(vm, call->reduction, &items,
                   (uint32_t)((UINT64_C(1) << tl_ndim(items.array)) - 1), false,
                   call->dtype, call->correction, out);
  tl_drop(vm, offsets);
  tl_drop(vm, items);
  return ok;
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

// --- Any --------------------------------------------------------------------

// Several axes, and those that stay, as a list.
static bool reduce_axes(tl_vm *vm, const tl_reduce_call *call, const tl_slot *x,
                        tl_slot *out) {
  int count = 1, axes[TL_MAX_DIMS];
  tl_slot all;
  if (tl_value_axes(*x) > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: more than %d axes", call->name,
                   TL_MAX_DIMS);
  const bool many = tl_is_list(call->axis) || tl_is_array(call->axis) ||
                    tl_is_none(call->axis);
  if (!(many ? tl_arg_axes_or_all(vm, call->name, call->axis, tl_value_axes(*x),
                                  &count, axes)
             : tl_arg_axis(vm, call->name, call->axis, tl_value_axes(*x), 0,
                           &axes[0])))
    return false;
  tl_list *list = tl_list_new(vm, count);
  for (int i = 0; list != NULL && i < count; i++)
    list->items[list->length++] = tl_weak_int(axes[i]);
  if (!tl_list_give(vm, list, list != NULL, &all))
    return false;
  bool ok = tl_reduce_in_tally(vm, "along_axes", call->name, x, &all,
                               tl_value_axes(*x), call->keepdims,
                               other_arguments(vm, call), out);
  tl_drop(vm, all);
  return ok;
}

// Here are the rows themselves, which are what all else is brought to in
// inner/reductions.tly. Structs have no reductions (kind type).
bool tl_nested_reduce(tl_vm *vm, const tl_reduce_call *call, tl_slot *x,
                      tl_slot *out) {
  int axis = -1;
  const bool rows = tl_is_form(*x, TL_FORM_RAGGED);
  const bool option = tl_is_form(*x, TL_FORM_OPTION);
  if (tl_is_list(call->axis) || tl_is_array(call->axis) || call->keepdims)
    return reduce_axes(vm, call, x, out);
  if (!rows && !option && !tl_is_form(*x, TL_FORM_GRID)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: structs have no %s: reduce a field of %s, as in "
                   "%s(p.x)",
                   call->name, call->name, tl_described(vm, *x), call->name);
  }
  if (!tl_is_none(call->axis) &&
      !tl_arg_axis(vm, call->name, call->axis, tl_value_axes(*x), 0, &axis))
    return false;
  if (rows && (axis < 0 || axis == 1))
    return reduce_rows(vm, call, *x, axis, out);
  if (option && (axis < 0 || tl_value_ndim(*x) == 1))
    return reduce_by(vm, call, "present", *x, -1, out);
  return reduce_by(vm, call, "along", *x, axis, out);
}
