// Joining, stacking and appending arrays that are more than numbers in a box.
//
// Along a fixed axis the items' numbers are joined in their place, and the
// items follow them. Along the axis of ragged rows each row goes on with the
// next array's; below that the items of all rows are joined.

#include <inttypes.h>

#include "stdlib/arguments.h"
#include "stdlib/ragged.h"
#include "vm/nested/grid.h"
#include "vm/values/list.h"
#include "vm/nested/nested_join.h"
#include "vm/vm.h"

// A call of concat (which has the axis already) or stack (which makes it).
typedef struct joining {
  const char *name;
  tl_builtin_fn *plain;  // of arrays without parts
  bool makes_axis;
} joining;

static bool fail_shapes(tl_vm *vm, const joining *j, const tl_slot *items,
                        int64_t i) {
  char a[TL_DESCRIBE], b[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s: array 0 is %s and array %" PRId64
                 " is %s; their shapes do not fit",
                 j->name, tl_describe(items[0], a, sizeof a), i,
                 tl_describe(items[i], b, sizeof b));
}

static void drop_slots(tl_vm *vm, tl_slot *slots, int64_t count,
                       size_t nbytes) {
  while (count > 0) tl_clear(vm, &slots[--count]);
  if (slots != NULL)
    tl_free(vm, slots, nbytes);
}

// --- Fixed axes -------------------------------------------------------------

// The numbers from [first] on in the fixed shape of [s].
static tl_array *number_from(tl_vm *vm, tl_slot s, int64_t first) {
  int64_t shape[TL_MAX_DIMS];
  int ndim = tl_value_ndim(s);
  for (int i = 0; i < ndim; i++) shape[i] = tl_value_length(s, i);
  tl_array *a = tl_array_new(vm, TL_INT64, ndim, shape);
  for (int64_t i = 0; a != NULL && i < a->size; i++)
    tl_offsets_data(a)[i] = first + i;
  return a;
}

// Where each item comes from, among all of them in row-major order.
static bool join_numbers(tl_vm *vm, const joining *j, int64_t count,
                         const tl_slot *items, int axis, tl_slot *out) {
  tl_list *list = tl_list_new(vm, count);
  int64_t first = 0;
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < count; i++) {
    tl_array *numbers = number_from(vm, items[i], first);
    ok = numbers != NULL;
    if (ok) {
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
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_slot);
  tl_slot *flat = tl_alloc(vm, nbytes, j->name), whole, numbers;
  int64_t made = 0;
  bool ok = flat != NULL;
  for (; ok && made < count; made += ok)
    ok = tl_value_flatten(vm, items[made], &flat[made]);
  ok = ok && tl_value_concat(vm, count, flat, &whole);
  drop_slots(vm, flat, made, nbytes);
  if (!ok)
    return false;
  ok = join_numbers(vm, j, count, items, axis, &numbers);
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
  int64_t total = 0;
  tl_slot first = all[0], content;
  int64_t rows = tl_ragged_rows(first.nested);
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(int64_t));
  tl_slot *flat = tl_alloc(vm, nbytes, "concat");
  if (flat == NULL)
    return false;
  int64_t *base = (int64_t *)(void *)(flat + count);
  int64_t made = 0;
  bool ok = true;
  for (; ok && made < count; made += ok) {
    tl_slot at, s = all[made];
    if (tl_ragged_rows(s.nested) != rows) {
      ok = tl_fail_ragged_rows(vm, "concat", first, s, 0);
      continue;
    }
    ok = tl_ragged_flat(vm, s, &at, &flat[made]);
    if (!ok)
      continue;
    tl_drop(vm, at);
    base[made] = total - tl_ragged_offsets(s.nested)[0];
    total += tl_value_length(flat[made], 0);
  }
  ok = ok && tl_value_concat(vm, count, flat, &content);
  while (made > 0) tl_drop(vm, flat[--made]);
  tl_array *offsets = ok ? tl_offsets_new(vm, rows) : NULL;
  tl_array *places = offsets != NULL ? tl_positions_new(vm, total) : NULL;
  int64_t to = 0;
  for (int64_t i = 0; places != NULL && i < rows; i++) {
    for (int64_t k = 0; k < count; k++) {
      const int64_t *at = tl_ragged_offsets(all[k].nested);
      for (int64_t j = at[i]; j < at[i + 1]; j++)
        tl_offsets_data(places)[to++] = base[k] + j;
    }
    tl_offsets_data(offsets)[i + 1] = to;
  }
  tl_free(vm, flat, nbytes);
  tl_slot items;
  bool taken = places != NULL && tl_value_take(vm, content, places, &items);
  if (ok)
    tl_drop(vm, content);
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  if (taken)
    return tl_ragged_new(vm, offsets, &items, out);
  if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return false;
}

static bool join_along(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out);

// The rows of the same place have one length: what is in them is joined.
static bool join_within(tl_vm *vm, const joining *j, int64_t count,
                        const tl_slot *items, int axis, tl_slot *out) {
  for (int64_t i = 1; i < count; i++) {
    int64_t row;
    if (!tl_ragged_agree(items[0].nested, items[i].nested, &row))
      return tl_fail_ragged_rows(vm, j->name, items[0], items[i], row);
  }
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_slot);
  tl_slot *flat = tl_alloc(vm, nbytes, j->name), offsets = tl_none(), whole;
  int64_t made = 0;
  bool ok = flat != NULL;
  for (; ok && made < count; made += ok) {
    tl_slot at;
    ok = tl_ragged_flat(vm, items[made], &at, &flat[made]);
    if (ok) {
      tl_clear(vm, &offsets);
      tl_copy_slot(&offsets, &at);
    }
  }
  ok = ok && join_along(vm, j, count, flat, axis - 1, &whole);
  drop_slots(vm, flat, made, nbytes);
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &whole, out);
  tl_clear(vm, &offsets);
  return false;
}

// Grids of one shape: their rows in order, as one axis.
static bool join_grids(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out) {
  int ndim = tl_value_ndim(items[0]);
  int64_t shape[TL_MAX_DIMS];
  for (int k = 0; k < ndim; k++) shape[k] = tl_value_length(items[0], k);
  for (int64_t i = 1; i < count; i++) {
    for (int k = 0; k < ndim; k++) {
      if (tl_value_length(items[i], k) != shape[k])
        return fail_shapes(vm, j, items, i);
    }
  }
  size_t nbytes = ((size_t)count + 1) * sizeof(tl_slot);
  tl_slot *rows = tl_alloc(vm, nbytes, j->name), made;
  int64_t opened = 0;
  bool ok = rows != NULL;
  for (; ok && opened < count; opened += ok)
    ok = tl_grid_rows(vm, items[opened].nested, &rows[opened]);
  ok = ok && join_along(vm, j, count, rows, axis - ndim + 1, &made);
  drop_slots(vm, rows, opened, nbytes);
  return ok && tl_value_split_axis(vm, &made, ndim, shape, out);
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

static bool join_along(tl_vm *vm, const joining *j, int64_t count,
                       const tl_slot *items, int axis, tl_slot *out) {
  int fixed = tl_value_ndim(items[0]);
  if (axis == 0 && !j->makes_axis)
    return tl_value_concat(vm, count, items, out);
  if (axis < fixed + j->makes_axis)
    return join_fixed(vm, j, count, items, axis, out);
  if (are_all(count, items, TL_FORM_GRID))
    return join_grids(vm, j, count, items, axis, out);
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

static bool join_list(tl_vm *vm, const joining *j, const tl_list *list,
                      tl_slot axis, tl_slot *out) {
  size_t nbytes = ((size_t)list->length + 1) * sizeof(tl_slot);
  tl_slot *items = tl_alloc(vm, nbytes, j->name);
  int64_t opened = 0;
  int along;
  bool ok = items != NULL && open_items(vm, j->name, list, items, &opened) &&
            tl_arg_axis(vm, j->name, axis,
                        tl_value_axes(items[0]) + j->makes_axis, 0, &along) &&
            join_along(vm, j, list->length, items, along, out);
  drop_slots(vm, items, opened, nbytes);
  return ok;
}

// concat(axis: none): all items of each, one behind the other.
static bool join_flat(tl_vm *vm, const tl_list *list, tl_slot *out) {
  size_t nbytes = ((size_t)list->length + 1) * sizeof(tl_slot);
  tl_slot *flat = tl_alloc(vm, nbytes, "concat"), next, offsets;
  int64_t made = 0;
  bool ok = flat != NULL;
  for (; ok && made < list->length; made += ok) {
    ok = tl_value_ndim(list->items[made]) > 0
             ? tl_value_flatten(vm, list->items[made], &flat[made])
             : tl_arg_fail(vm, "concat", "each item", "an array",
                           list->items[made]);
    while (ok && tl_is_form(flat[made], TL_FORM_RAGGED)) {
      ok = tl_ragged_flat(vm, flat[made], &offsets, &next);
      tl_clear(vm, &flat[made]);
      if (!ok)
        break;
      tl_drop(vm, offsets);
      ok = tl_value_flatten(vm, next, &flat[made]);
      tl_drop(vm, next);
    }
  }
  ok = ok && tl_value_concat(vm, list->length, flat, out);
  drop_slots(vm, flat, made, nbytes);
  return ok;
}

bool tl_nested_concat(tl_vm *vm, tl_builtin_fn *plain, const tl_list *list,
                      tl_slot axis, tl_slot *out) {
  const joining j = {"concat", plain, false};
  if (tl_is_none(axis))
    return join_flat(vm, list, out);
  return join_list(vm, &j, list, axis, out);
}

bool tl_nested_stack(tl_vm *vm, tl_builtin_fn *plain, const tl_list *list,
                     tl_slot axis, tl_slot *out) {
  const joining j = {"stack", plain, true};
  return join_list(vm, &j, list, axis, out);
}

// --- append ---------------------------------------------------------------

static bool is_tuples(tl_slot x) {
  return tl_value_ndim(x) == 1 &&
         (tl_is_form(x, TL_FORM_STRUCT) || tl_is_form(x, TL_FORM_COLUMNS)) &&
         x.nested->layout->kind == TL_TYPE_TUPLE;
}

bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out) {
  tl_slot one;
  bool option = tl_is_form(x, TL_FORM_OPTION);
  if (tl_is_list(item) && is_tuples(x)) {
    tl_type *type = tl_type_below(vm, x, 1);
    tl_list *list = type != NULL ? tl_list_new(vm, 1) : NULL;
    tl_slot lent = tl_borrow(item), whole;
    if (list == NULL)
      return false;
    bool ok = tl_list_push(vm, &list, &lent);  // there is room
    whole = tl_own_list(list);
    ok = ok && tl_struct_convert(vm, type, whole, &one);
    tl_drop(vm, whole);
    if (!ok)
      return false;
  } else if (tl_is_none(item) && (option || tl_is_array(x))) {
    // One missing item of the array's own type.
    int64_t length = 1;
    tl_array *mask = tl_array_new(vm, TL_BOOL, 1, &length);
    tl_array *value =
        mask != NULL
            ? tl_array_zeros(
                  vm,
                  tl_array_dtype(option ? x.nested->parts[1].array : x.array),
                  1, &length)
            : NULL;
    if (value == NULL) {
      if (mask != NULL)
        tl_drop(vm, tl_own_array(mask));
      return false;
    }
    mask->data[0] = 1;
    tl_slot first = tl_own_array(mask), second = tl_own_array(value);
    if (!tl_nested_pair(vm, TL_FORM_OPTION, 1, &first, &second, &one))
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
