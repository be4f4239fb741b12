// Joining, stacking and appending arrays that are more than numbers in a box.
//
// Along a fixed axis the items' numbers are joined in their place, and the
// items follow them. Along the axis of ragged rows each row goes on with the
// next array's; below that the items of all rows are joined.

#include <inttypes.h>

#include "stdlib/arguments.h"
#include "stdlib/ragged.h"
#include "vm/array/describe.h"
#include "vm/nested/ragged.h"
#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/nested/parts.h"
#include "vm/nested/nested.h"
#include "vm/vm.h"

// A call of concat (which has the axis already) or stack (which makes it).
typedef struct joining {
  const char *name;
  tl_builtin_fn *plain;  // of arrays without parts
  bool makes_axis;
} joining;

// Fails (kind shape) with the first item's type and that of item i.
static bool fail_shapes(tl_vm *vm, const joining *j, const tl_slot *items,
                        int64_t i) {
  char a[TL_DESCRIBE], b[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s: array 0 is %s and array %" PRId64
                 " is %s; their shapes do not fit",
                 j->name, tl_describe(items[0], a, sizeof a), i,
                 tl_describe(items[i], b, sizeof b));
}

// --- Fixed axes -------------------------------------------------------------

// Where each item comes from, among all of them in row-major order.
static bool join_numbers(tl_vm *vm, const joining *j, int64_t count,
                         const tl_slot *items, int axis, tl_slot *out) {
  tl_list *list = tl_list_new(vm, count);
  int64_t first = 0;
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_array *numbers = tl_number_items(vm, items[i], first);
    ok = numbers != NULL;
    if (ok) {
      // Numbers go on where those of the item before end, as the items do.
      first += numbers->size;
      tl_slot one = tl_own_array(numbers);
      ok = tl_list_push(vm, &list, &one);  // there is room
    }
  }
  if (list == NULL)
    return false;
  tl_slot args[2] = {tl_own_list(list), tl_weak_int(axis)};
  ok = ok && j->plain(vm, args, out);
  tl_clear(vm, &args[0]);
  return ok;
}

// Along a fixed axis: items are numbered in the order in which they lie flat,
// the numbers joined as a plain array, and the items taken by them. So one
// function joins masks, fields and rows alike.
//
//   a of 2 * 2    numbers 0 1 / 2 3
//   b of 2 * 1    numbers 4 / 5        along axis 1: 0 1 4 / 2 3 5
static bool join_fixed(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out) {
  int ndim = tl_value_ndim(items[0]);
  for (int64_t i = 1; i < count; i++) {
    bool same = tl_value_ndim(items[i]) == ndim;
    for (int k = 0; same && k < ndim; k++) {
      same = (k == axis && !j->makes_axis) ||
             tl_value_length(items[i], k) == tl_value_length(items[0], k);
    }
    if (!same)
      return fail_shapes(vm, j, items, i);
  }
  tl_slot whole, numbers;
  if (!tl_join_opened(vm, tl_value_flatten, tl_value_concat, count, items,
                      &whole))
    return false;
  bool ok = join_numbers(vm, j, count, items, axis, &numbers);
  if (ok) {
    ok = tl_value_take(vm, whole, numbers.array, out);
    tl_drop(vm, numbers);
  }
  tl_drop(vm, whole);
  return ok;
}

// --- Rows -------------------------------------------------------------------

// Row by row: a of row i, then b of row i.
static bool concat_rows(tl_vm *vm, int64_t count, const tl_slot *all,
                        tl_slot *out) {
  int64_t rows = tl_ragged_rows(all[0].nested);
  for (int64_t i = 1; i < count; i++) {
    if (tl_ragged_rows(all[i].nested) != rows)
      return tl_fail_ragged_rows(vm, "concat", all[0], all[i], 0);
  }
  tl_slot content, items;
  if (!tl_join_opened(vm, tl_ragged_items, tl_value_concat, count, all,
                      &content))
    return false;
  int64_t total = tl_value_length(content, 0), to = 0;
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_array *places = offsets != NULL ? tl_positions_new(vm, total) : NULL;
  for (int64_t i = 0; places != NULL && i < rows; i++) {
    int64_t base = 0;  // of the array's items in the content
    for (int64_t k = 0; k < count; k++) {
      const int64_t *at = tl_ragged_offsets(all[k].nested);
      for (int64_t j = at[i]; j < at[i + 1]; j++)
        tl_offsets_data(places)[to++] = base + j - at[0];
      base += at[rows] - at[0];
    }
    tl_offsets_data(offsets)[i + 1] = to;
  }
  bool ok = tl_take_at(vm, true, content, places, &items);
  tl_drop(vm, content);
  return tl_ragged_close(vm, ok, offsets, &items, out);
}

// Joins [count] items along an axis, rows of ragged arrays included. Items are
// borrowed, *out is owned; false after tl_fail. It calls join_within for an
// axis inside of rows, which calls it: at most as deep as there are axes.
static bool join_along(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out);

// Joins what [open] gives of each item.
static bool join_opened(tl_vm *vm, const joining *j, tl_opener *open,
                        int64_t count, const tl_slot *items, int axis,
                        tl_slot *out) {
  tl_slot *opened = tl_slots_new(vm, count, j->name);
  int64_t made = 0;
  bool ok = opened != NULL;
  for (; ok && made < count; made += ok)
    ok = open(vm, items[made], &opened[made]);
  ok = ok && join_along(vm, j, count, opened, axis, out);
  tl_slots_free(vm, opened, made);
  return ok;
}

// The rows of the same place have one length: what is in them is joined.
static bool join_within(tl_vm *vm, const joining *j, int64_t count,
                        const tl_slot *items, int axis, tl_slot *out) {
  for (int64_t i = 1; i < count; i++) {
    int64_t row;
    if (!tl_ragged_agree(items[0].nested, items[i].nested, &row))
      return tl_fail_ragged_rows(vm, j->name, items[0], items[i], row);
  }
  tl_slot offsets, first, whole;
  if (!tl_ragged_flat(vm, items[0], &offsets, &first))
    return false;
  tl_drop(vm, first);
  bool ok = join_opened(vm, j, tl_ragged_items, count, items, axis - 1, &whole);
  return tl_rows_close(vm, ok, &offsets, &whole, out);
}

// Grids of one shape: their rows in order, as one axis.
static bool join_grids(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_shape(items[0], shape);
  for (int64_t i = 1; i < count; i++) {
    for (int k = 0; k < ndim; k++) {
      if (tl_value_length(items[i], k) != shape[k])
        return fail_shapes(vm, j, items, i);
    }
  }
  tl_slot made;
  return join_opened(vm, j, tl_grid_rows, count, items, axis - ndim + 1,
                     &made) &&
         tl_value_split_axis(vm, &made, ndim, shape, out);
}

// Whether all are of a form with as many fixed axes as the first.
static bool are_all(int64_t count, const tl_slot *items, tl_form form) {
  bool all = true;
  for (int64_t i = 0; all && i < count; i++) {
    all = tl_is_form(items[i], form) &&
          tl_value_ndim(items[i]) == tl_value_ndim(items[0]);
  }
  return all;
}

// Chooses by where the axis lies: a fixed one, or within the rows, of which all
// must have some. Fails (kind shape) where forms do not agree.
static bool join_along(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out) {
  int fixed = tl_value_ndim(items[0]);
  if (axis == 0 && !j->makes_axis)
    return tl_value_concat(vm, count, items, out);
  if (axis < fixed + j->makes_axis)
    return join_fixed(vm, j, count, items, axis, out);
  if (are_all(count, items, TL_FORM_GRID))
    return join_grids(vm, j, count, items, axis, out);
  // The axis lies within rows, which something here has not.
  if (!are_all(count, items, TL_FORM_RAGGED))
    return fail_shapes(vm, j, items, count - 1);
  return axis == 1 ? concat_rows(vm, count, items, out)
                   : join_within(vm, j, count, items, axis, out);
}

// --- The whole --------------------------------------------------------------

// Tables beside ragged arrays become ragged.
static bool open_items(tl_vm *vm, const char *function, const tl_list *list,
                       tl_slot *items, int64_t *opened) {
  bool ragged = false, ok = true;
  for (int64_t i = 0; i < list->length; i++)
    ragged |= tl_is_form(list->items[i], TL_FORM_RAGGED);
  for (*opened = 0; ok && *opened < list->length; *opened += ok) {
    tl_slot *item = &items[*opened], s = list->items[*opened];
    *item = tl_borrow(s);
    if (ragged && tl_is_array(s) && tl_value_ndim(s) > 1)
      ok = tl_ragged_of_regular(vm, s, item);
    else if (tl_value_ndim(s) == 0)
      ok = tl_arg_fail(vm, function, "each item", "an array", s);
  }
  return ok;
}

// The list's items, opened, along an axis that counts from the end if it is
// negative: among the axes of the first item, and one more for stack.
static bool join_list(tl_vm *vm, const joining *j, const tl_list *list,
                      tl_slot axis, tl_slot *out) {
  tl_slot *items = tl_slots_new(vm, list->length, j->name);
  int64_t opened = 0;
  int along;
  bool ok = items != NULL && open_items(vm, j->name, list, items, &opened) &&
            tl_arg_axis(vm, j->name, axis,
                        tl_value_axes(items[0]) + j->makes_axis, 0, &along) &&
            join_along(vm, j, list->length, items, along, out);
  tl_slots_free(vm, items, opened);
  return ok;
}

// All items of an array, whatever rows they stand in.
static bool all_items(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_slot next;
  if (tl_value_ndim(s) == 0)
    return tl_arg_fail(vm, "concat", "each item", "an array", s);
  if (!tl_value_flatten(vm, s, out))
    return false;
  if (!tl_is_form(*out, TL_FORM_RAGGED))
    return true;
  bool ok = tl_ragged_items(vm, *out, &next);
  tl_drop(vm, *out);
  if (!ok)
    return false;
  ok = all_items(vm, next, out);
  tl_drop(vm, next);
  return ok;
}

// Without an axis all items are joined, out of whatever rows.
bool tl_nested_concat(tl_vm *vm, tl_builtin_fn *plain, const tl_list *list,
                      tl_slot axis, tl_slot *out) {
  const joining j = {"concat", plain, false};
  if (tl_is_none(axis))
    return tl_join_opened(vm, all_items, tl_value_concat, list->length,
                          list->items, out);
  return join_list(vm, &j, list, axis, out);
}

// Unlike a plain stack it also takes items whose rows differ in length.
bool tl_nested_stack(tl_vm *vm, tl_builtin_fn *plain, const tl_list *list,
                     tl_slot axis, tl_slot *out) {
  const joining j = {"stack", plain, true};
  return join_list(vm, &j, list, axis, out);
}

// --- append ---------------------------------------------------------------

// Whether x is a vector of tuples, to which a list may be appended as one.
static bool is_tuples(tl_slot x) {
  return tl_value_ndim(x) == 1 && tl_has_fields(x) &&
         x.nested->layout->kind == TL_TYPE_TUPLE;
}

// The item becomes an array of one, in the form that x joins with:
//
//   a list, x of tuples         converted to the type of x's items
//   none                        missing, of x's own dtype
//   a table, x a grid           rows of a grid of one
//   all else                    stacked; a row of a ragged x becomes ragged
//
// and is then joined behind x. Borrows both; *out is owned.
bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out) {
  tl_slot one;
  bool option = tl_is_form(x, TL_FORM_OPTION);
  if (tl_is_list(item) && is_tuples(x)) {
    tl_type *type = tl_type_below(vm, x, 1);
    tl_list *list = type != NULL ? tl_list_new(vm, 1) : NULL;
    tl_slot borrowed = tl_borrow(item), whole;
    if (list == NULL)
      return false;
    bool ok = tl_list_push(vm, &list, &borrowed);  // there is room
    whole = tl_own_list(list);
    ok = ok && tl_struct_convert(vm, type, whole, &one);
    tl_drop(vm, whole);
    if (!ok)
      return false;
  } else if (tl_is_none(item) && (option || tl_is_array(x))) {
    // One missing item of the array's own type.
    int64_t length = 1;
    tl_slot values = option ? x.nested->parts[1] : x;
    tl_type type = {.kind = TL_TYPE_OPTION};
    type.of = tl_type_of_dtype(vm, tl_array_dtype(values.array));
    if (!tl_zeros_of_type(vm, "append", &type, 1, &length, &one))
      return false;
  } else if (tl_is_form(x, TL_FORM_GRID) && tl_is_array(item) &&
             tl_ndim(item.array) > 1) {
    tl_slot rows;
    if (!tl_ragged_of_regular(vm, item, &rows))
      return false;
    bool ok = tl_stack_any(vm, 1, &rows, &one);
    tl_drop(vm, rows);
    if (!ok)
      return false;
  } else if (!tl_stack_any(vm, 1, &item, &one)) {
    return false;
  }
  // A row stacks to a regular array of one row.
  if (tl_is_form(x, TL_FORM_RAGGED) && !tl_is_form(one, TL_FORM_GRID) &&
      tl_value_ndim(one) > 1) {
    tl_slot row;
    bool ok = tl_ragged_of_regular(vm, one, &row);
    tl_drop(vm, one);
    if (!ok)
      return false;
    one = row;
  }
  tl_slot both[2] = {tl_borrow(x), one};
  bool ok = tl_value_concat(vm, 2, both, out);
  tl_drop(vm, one);
  return ok;
}
