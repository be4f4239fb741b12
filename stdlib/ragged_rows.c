// Each row by itself: order, running folds, repeating.
//
//
// Offsets stay or are computed from those of x, and the items of all rows are
// worked on in one array: so rows cost what their items cost, however short.
//
//   sort       [[2, 1], [3]]     items 2 1 3, each row sorted where it is
//   flip                         items 1 2 3, read row by row from the end

#include <inttypes.h>

#include "stdlib/arrays.h"
#include "stdlib/ragged.h"
#include "vm/bytecode/module.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested_join.h"

// Fails (kind shape) with the numbers of rows where these differ, else with the
// first row whose lengths do.
bool tl_fail_ragged_rows(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                         int64_t row) {
  int64_t rows = tl_ragged_rows(a.nested), others = tl_ragged_rows(b.nested);
  if (rows != others) {
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: %" PRId64 " rows against %" PRId64,
                   function, rows, others);
  }
  const int64_t *x = tl_ragged_offsets(a.nested);
  const int64_t *y = tl_ragged_offsets(b.nested);
  return tl_fail(vm, TALLY_ERR_SHAPE,
                 "%s: row %" PRId64 " has %" PRId64 " items against %" PRId64,
                 function, row, x[row + 1] - x[row], y[row + 1] - y[row]);
}

// --- Row by row -------------------------------------------------------------

// The items of x; both are owned.
static bool plain_items(tl_vm *vm, const char *function, tl_slot x,
                        tl_slot *offsets, tl_slot *items) {
  if (!tl_ragged_flat(vm, x, offsets, items))
    return false;
  if (tl_is_array(*items) && tl_ndim(items->array) == 1)
    return true;
  tl_arg_fail(vm, function, "x", "of rows of plain items", x);
  tl_drop(vm, *items);
  tl_drop(vm, *offsets);
  return false;
}

// The same as one dense array that is the caller's to write.
static bool own_items(tl_vm *vm, const char *function, tl_slot x,
                      tl_slot *offsets, tl_array **items) {
  tl_slot flat;
  if (!plain_items(vm, function, x, offsets, &flat))
    return false;
  *items = tl_array_copy(vm, flat.array);
  tl_drop(vm, flat);
  if (*items == NULL)
    tl_drop(vm, *offsets);
  return *items != NULL;
}

// Rows are sorted one after the other in a copy of all items, in which the
// offsets stay as they are. Where items may be missing, values follow from the
// order: a second choice by it costs less than sorting pairs.
bool tl_ragged_sort(tl_vm *vm, tl_slot x, bool descending, bool order,
                    tl_slot *out) {
  tl_slot offsets, made;
  if (tl_is_form(x.nested->parts[1], TL_FORM_OPTION)) {
    tl_slot given[] = {tl_borrow(x), tl_bool(descending), tl_bool(order)};
    return tl_call_embedded(vm, "inner/nested", "sort_within", 3, given, out);
  }
  tl_array *items, *places = NULL;
  const char *name = order ? "argsort" : "sort";
  if (!own_items(vm, name, x, &offsets, &items))
    return false;
  if (order)
    places = tl_positions_new(vm, items->size);
  bool ok = !order || places != NULL;
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
  if (order)
    tl_array_drop(vm, items);
  ok = tl_array_finish(vm, ok, order ? places : items, &made);
  return tl_rows_close(vm, ok, &offsets, &made, out);
}

// Where the items of rows come from that are turned round.
static void turn_places(int64_t *places, int64_t begin, int64_t end) {
  for (int64_t k = begin; k < end; k++) places[k] = begin + end - 1 - k;
}

// Items that are bytes are copied in reverse, row by row; for all others the
// places are written down and taken at once.
bool tl_ragged_flip(tl_vm *vm, tl_slot x, tl_slot *out) {
  tl_slot offsets, items, transposed, from;
  if (!tl_ragged_flat(vm, x, &offsets, &items))
    return false;
  bool plain = tl_is_array(items) && tl_ndim(items.array) == 1 &&
               tl_array_dtype(items.array) < TL_STRING;
  tl_dtype dtype = plain ? tl_array_dtype(items.array) : TL_INT64;
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  const ptrdiff_t size = (ptrdiff_t)tl_itemsize(dtype);
  bool ok = !plain || tl_array_contiguous(vm, &items, &from);
  if (ok && plain)
    tl_replace(vm, &items, from);
  tl_array *to = ok ? tl_array_new(vm, dtype, 1, &at[rows]) : NULL;
  ok = to != NULL;
  for (int64_t i = 0; i < rows && tl_poll_ok(vm, i, &ok); i++) {
    const int64_t n = at[i + 1] - at[i];
    if (plain && n > 0)
      tl_kernels()->pack[tl_move_size((size_t)size)](
          to->data + at[i] * size, items.array->data + (at[i + 1] - 1) * size,
          -size, (size_t)n);
    else
      turn_places(tl_offsets_data(to), at[i], at[i + 1]);
  }
  ok = plain ? tl_array_finish(vm, ok, to, &transposed)
             : tl_take_at(vm, ok, items, to, &transposed);
  tl_clear(vm, &items);
  return tl_rows_close(vm, ok, &offsets, &transposed, out);
}

// Rows of a dtype that has a scan, all within one array: read where they are,
// or cast first and written over.
static tl_array *cumulate_within(tl_vm *vm, tl_reduction reduction,
                                 tl_dtype dtype, const tl_array *items,
                                 const int64_t *at, int64_t rows) {
  bool is_plain = tl_array_dtype(items) == dtype && tl_is_contiguous(items);
  tl_array *to = is_plain ? tl_array_new(vm, dtype, 1, &items->size)
                          : tl_array_cast(vm, items, dtype);
  if (to == NULL ||
      tl_cumulative_rows(vm, reduction, is_plain ? items : to, at, rows, to))
    return to;
  tl_drop(vm, tl_own_array(to));
  return NULL;
}

// What has no scan: each row by itself.
typedef struct running {
  tl_reduction reduction;
  tl_dtype dtype;
} running;

// The running fold of one row, for tl_each_row.
static bool cumulate_row(tl_vm *vm, void *context, tl_slot *row, tl_slot *out) {
  const running *r = context;
  return tl_cumulative(vm, r->reduction, row, 0, false, r->dtype, out);
}

// Where the dtype has a scan, all rows are written to one array and the offsets
// stay; else results of the rows are joined.
bool tl_ragged_cumulative(tl_vm *vm, const char *name, tl_reduction reduction,
                          tl_slot x, tl_dtype dtype, tl_slot *out) {
  tl_slot offsets, items;
  if (!plain_items(vm, name, x, &offsets, &items))
    return false;
  const int64_t *at = tl_offsets_data(offsets.array);
  int64_t rows = offsets.array->size - 1;
  tl_dtype scanned =
      tl_cumulative_dtype(reduction, tl_array_dtype(items.array), dtype);
  tl_slot made;
  bool ok;
  if (scanned == TL_DTYPE_COUNT) {
    running r = {reduction, dtype};
    ok = tl_each_row(vm, name, items, at, rows, cumulate_row, &r,
                     tl_ragged_of_rows, out);
    tl_drop(vm, items);
    tl_drop(vm, offsets);
    return ok;
  }
  ok = tl_array_finish(
      vm, true, cumulate_within(vm, reduction, scanned, items.array, at, rows),
      &made);
  tl_drop(vm, items);
  return tl_rows_close(vm, ok, &offsets, &made, out);
}

// --- Repeating --------------------------------------------------------------

// A single value is repeated once for each item; what has rows already must
// agree with the model's (tl_ragged_spread fails otherwise).
bool tl_ragged_broadcast(tl_vm *vm, tl_slot x, tl_slot model, tl_slot *out) {
  tl_slot offsets, items, spread;
  if (!tl_ragged_borrow(vm, model, &offsets, &items))
    return false;
  int64_t length = tl_value_length(items, 0);
  tl_drop(vm, items);
  bool ok = tl_ragged_spread(vm, x, model, &spread);
  if (ok && tl_value_ndim(spread) == 0) {
    tl_slot one = spread;
    ok = tl_value_repeat(vm, one, 1, &length, &spread);
    tl_clear(vm, &one);
  }
  return tl_rows_close(vm, ok, &offsets, &spread, out);
}
