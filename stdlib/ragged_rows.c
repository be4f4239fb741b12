// Each row by itself: order, running folds, joining and appending.

#include <inttypes.h>
#include <string.h>

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/nested_reduce.h"
#include "stdlib/ragged.h"
#include "vm/list.h"
#include "vm/nested_elementwise.h"
#include "vm/nested_join.h"
#include "vm/vm.h"

bool tl_fail_ragged_rows(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                         int64_t row) {
  int64_t rows = tl_ragged_rows(a.nested), others = tl_ragged_rows(b.nested);
  if (rows != others) {
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: %" PRId64 " rows against %" PRId64,
                   function, rows, others);
  }
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s: row %" PRId64 " differs in length",
                 function, row);
}

// --- Row by row -------------------------------------------------------------

// The items of x as one dense array that is the caller's to write.
static bool own_items(tl_vm *vm, const char *function, tl_slot x,
                      tl_slot *offsets, tl_array **items) {
  tl_slot flat;
  if (!tl_ragged_flat(vm, x, offsets, &flat))
    return false;
  bool plain = tl_is_array(flat) && tl_ndim(flat.array) == 1;
  if (!plain)
    tl_arg_fail(vm, function, "x", "of rows of plain items", x);
  *items = plain ? tl_array_copy(vm, flat.array) : NULL;
  tl_drop(vm, flat);
  if (*items == NULL)
    tl_drop(vm, *offsets);
  return *items != NULL;
}

// Missing values come last in each row: those that are there are sorted alone.
static bool sort_present(tl_vm *vm, tl_slot x, bool descending, tl_slot *out) {
  tl_slot offsets, items, there, sorted = tl_none(), values, mask;
  if (!tl_ragged_flat(vm, x, &offsets, &items))
    return false;
  int64_t rows = offsets.array->size - 1, total = tl_value_length(items, 0);
  const int64_t *at = tl_offsets_data(offsets.array), *from = NULL;
  tl_array *gaps = NULL, *places = NULL;
  bool ok = tl_present_rows(vm, items, offsets.array, &there) &&
            tl_ragged_sort(vm, there, descending, false, &sorted);
  tl_clear(vm, &there);
  ok = ok && (gaps = tl_array_new(vm, TL_BOOL, 1, &total)) != NULL &&
       (places = tl_positions_new(vm, total)) != NULL;
  if (ok)
    from = tl_ragged_offsets(sorted.nested);
  for (int64_t i = 0; ok && i < rows; i++) {
    int64_t present = from[i + 1] - from[i];
    for (int64_t k = at[i]; k < at[i + 1]; k++) {
      bool gap = k - at[i] >= present;
      gaps->data[k] = gap;
      tl_offsets_data(places)[k] = gap ? 0 : from[i] + k - at[i];
    }
  }
  // Where all are missing there is nothing to take: the values as they are.
  bool none = ok && from[rows] == 0;
  ok = ok && tl_value_take(
                 vm, none ? items.nested->parts[1] : sorted.nested->parts[1],
                 places, &values);
  tl_clear(vm, &sorted);
  tl_drop(vm, items);
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  mask = gaps != NULL ? tl_own_array(gaps) : tl_none();
  if (!ok) {
    tl_clear(vm, &mask);
    tl_drop(vm, offsets);
    return false;
  }
  if (tl_nested_pair(vm, TL_FORM_OPTION, 1, &mask, &values, &items))
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &items, out);
  tl_drop(vm, offsets);
  return false;
}

bool tl_ragged_sort(tl_vm *vm, tl_slot x, bool descending, bool order,
                    tl_slot *out) {
  tl_slot offsets, made;
  if (!order && tl_is_form(x.nested->parts[1], TL_FORM_OPTION))
    return sort_present(vm, x, descending, out);
  tl_array *items, *places = NULL;
  const char *name = order ? "argsort" : "sort";
  if (!own_items(vm, name, x, &offsets, &items))
    return false;
  bool ok = true;
  if (order) {
    places = tl_positions_new(vm, items->size);
    ok = places != NULL;
  }
  const int64_t *at = tl_offsets_data(offsets.array);
  size_t size = tl_itemsize(tl_array_dtype(items));
  for (int64_t i = 0; ok && i < offsets.array->size - 1; i++) {
    char *row = items->data + (size_t)at[i] * size;
    int64_t n = at[i + 1] - at[i];
    if (n == 0)
      continue;
    ok = order ? tl_argsort_items(vm, tl_array_dtype(items),
                                  tl_offsets_data(places) + at[i], row, n,
                                  descending)
               : tl_sort_items(vm, tl_array_dtype(items), row, n, descending);
  }
  made = tl_own_array(order && places != NULL ? places : items);
  if (order && places != NULL)
    tl_drop(vm, tl_own_array(items));
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
  tl_drop(vm, made);
  tl_drop(vm, offsets);
  return false;
}

bool tl_ragged_cumulative(tl_vm *vm, const char *name, tl_reduction reduction,
                          tl_slot x, tl_dtype dtype, tl_slot *out) {
  tl_slot offsets, whole, made = tl_none();
  tl_array *items, *to = NULL;
  if (!own_items(vm, name, x, &offsets, &items))
    return false;
  whole = tl_own_array(items);
  const int64_t *at = tl_offsets_data(offsets.array);
  bool ok = true;
  for (int64_t i = 0; ok && i < offsets.array->size - 1; i++) {
    tl_slot row, sums;
    ok = tl_value_slice(vm, whole, at[i], at[i + 1], &row);
    if (ok) {
      ok = tl_cumulative(vm, reduction, &row, 0, false, dtype, &sums);
      tl_drop(vm, row);
    }
    if (ok && to == NULL) {
      to = tl_array_new(vm, tl_array_dtype(sums.array), 1, &items->size);
      ok = to != NULL;
      if (!ok)
        tl_drop(vm, sums);
    }
    if (ok) {
      size_t size = tl_itemsize(tl_array_dtype(to));
      memcpy(to->data + (size_t)at[i] * size, sums.array->data,
             (size_t)(at[i + 1] - at[i]) * size);
      tl_drop(vm, sums);
    }
    ok = ok && ((i & 0xfff) != 0xfff || tl_poll(vm, 16));
  }
  if (to == NULL)
    made = whole;
  else
    tl_drop(vm, whole), made = tl_own_array(to);
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &made, out);
  tl_drop(vm, made);
  tl_drop(vm, offsets);
  return false;
}

// --- Repeating --------------------------------------------------------------

static bool fail_size(tl_vm *vm, const char *function) {
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s: too many items", function);
}

// The rows with these offsets, of items taken from these places; both arrays,
// which may be NULL unless [ok], are given up.
static bool finish(tl_vm *vm, bool ok, tl_array *offsets, tl_array *places,
                   tl_slot *items, tl_slot *out) {
  if (places != NULL)
    tl_drop(vm, tl_own_array(places));
  if (ok)
    return tl_ragged_new(vm, offsets, items, out);
  if (offsets != NULL)
    tl_drop(vm, tl_own_array(offsets));
  return false;
}

bool tl_ragged_tile(tl_vm *vm, tl_slot x, int64_t rows, int64_t within,
                    tl_slot *out) {
  const tl_nested *n = x.nested;
  const int64_t *at = tl_ragged_offsets(n);
  int64_t own = tl_ragged_rows(n), all, runs, unused;
  if (__builtin_mul_overflow(own, rows, &all) ||
      __builtin_mul_overflow(all, within, &runs) ||
      __builtin_mul_overflow(runs, (int64_t)32, &unused) ||
      __builtin_mul_overflow(at[own], within, &unused) ||
      __builtin_mul_overflow(unused, rows, &unused))
    return fail_size(vm, "tile");
  tl_array *offsets = tl_offsets_new(vm, all);
  tl_array *places = offsets != NULL ? tl_positions_new(vm, 2 * runs) : NULL;
  bool ok = places != NULL;
  int64_t k = 0;
  for (int64_t i = 0; ok && i < all; i++) {
    int64_t row = i % own, *to = tl_offsets_data(offsets);
    to[i + 1] = to[i] + within * (at[row + 1] - at[row]);
    for (int64_t j = 0; j < within; j++, k++) {
      tl_offsets_data(places)[k] = at[row];
      tl_offsets_data(places)[runs + k] = at[row + 1];
    }
  }
  tl_slot items;
  ok = ok && tl_gather_runs(vm, n->parts[1], runs, tl_offsets_data(places),
                            tl_offsets_data(places) + runs, &items);
  return finish(vm, ok, offsets, places, &items, out);
}

bool tl_ragged_repeat(tl_vm *vm, tl_slot x, int64_t times, tl_slot *out) {
  const tl_nested *n = x.nested;
  const int64_t *at = tl_ragged_offsets(n);
  int64_t rows = tl_ragged_rows(n), total;
  if (__builtin_mul_overflow(at[rows] - at[0], times, &total))
    return fail_size(vm, "repeat");
  tl_array *offsets = tl_offsets_new(vm, rows);
  tl_array *places = offsets != NULL ? tl_positions_new(vm, total) : NULL;
  bool ok = places != NULL;
  for (int64_t i = 0; ok && i <= rows; i++)
    tl_offsets_data(offsets)[i] = times * (at[i] - at[0]);
  for (int64_t k = 0; ok && k < total; k++)
    tl_offsets_data(places)[k] = at[0] + k / times;
  tl_slot items;
  ok = ok && tl_value_take(vm, n->parts[1], places, &items);
  return finish(vm, ok, offsets, places, &items, out);
}

bool tl_ragged_broadcast(tl_vm *vm, tl_slot x, tl_slot model, tl_slot *out) {
  tl_slot offsets, items, spread;
  if (!tl_ragged_flat(vm, model, &offsets, &items))
    return false;
  int64_t length = tl_value_length(items, 0);
  tl_drop(vm, items);
  bool ok = tl_ragged_spread(vm, x, model, &spread);
  if (ok && tl_value_ndim(spread) == 0) {
    // One value for all.
    tl_slot one;
    tl_array *places = tl_array_zeros(vm, TL_INT64, 1, &length);
    ok = places != NULL && tl_stack_any(vm, 1, &spread, &one);
    tl_clear(vm, &spread);
    if (ok) {
      ok = tl_value_take(vm, one, places, &spread);
      tl_drop(vm, one);
    }
    if (places != NULL)
      tl_drop(vm, tl_own_array(places));
  }
  if (ok)
    return tl_nested_pair(vm, TL_FORM_RAGGED, 1, &offsets, &spread, out);
  tl_drop(vm, offsets);
  return false;
}

// --- concat and append ------------------------------------------------------

// Row by row: a of row i, then b of row i.
static bool concat_rows(tl_vm *vm, const tl_list *list, tl_slot *out) {
  int64_t count = list->length, total = 0;
  tl_slot first = list->items[0], content;
  int64_t rows = tl_ragged_rows(first.nested);
  size_t nbytes = (size_t)count * (sizeof(tl_slot) + sizeof(int64_t));
  tl_slot *flat = tl_alloc(vm, nbytes, "concat");
  if (flat == NULL)
    return false;
  int64_t *base = (int64_t *)(void *)(flat + count);
  int64_t made = 0;
  bool ok = true;
  for (; ok && made < count; made += ok) {
    tl_slot at, s = list->items[made];
    if (!tl_is_form(s, TL_FORM_RAGGED) || tl_ragged_rows(s.nested) != rows) {
      ok = tl_is_form(s, TL_FORM_RAGGED)
               ? tl_fail_ragged_rows(vm, "concat", first, s, 0)
               : tl_arg_fail(vm, "concat", "each item", "a ragged array", s);
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
      const int64_t *at = tl_ragged_offsets(list->items[k].nested);
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

bool tl_nested_concat(tl_vm *vm, const tl_list *list, tl_slot axis,
                      tl_slot *out) {
  int64_t along = 0;
  if (!tl_is_none(axis) && !tl_arg_int(vm, "concat", "axis", axis, &along))
    return false;
  if (along == 0)
    return tl_value_concat(vm, list->length, list->items, out);
  if (along == 1 && tl_is_form(list->items[0], TL_FORM_RAGGED))
    return concat_rows(vm, list, out);
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "concat: nested arrays are joined along axis 0, ragged ones "
                 "also row by row, along axis 1");
}

bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out) {
  tl_slot one;
  bool option = tl_is_form(x, TL_FORM_OPTION);
  if (tl_is_none(item) && (option || tl_is_array(x))) {
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
