// Reductions of rows of different lengths, each to one result.
//
// Built for speed.

#include "stdlib/nested_reduce.h"

#include <inttypes.h>

#include "vm/engine/consumer.h"
#include "vm/nested/nested_join.h"

// Fails (kind value) for an empty row with its number; before anything is
// computed, so that the kernels need not look.
static bool check_rows(tl_vm *vm, const tl_reduce_call *call, const int64_t *at,
                       int64_t rows) {
  if (!tl_reduction_orders(call->reduction))
    return true;
  for (int64_t i = 0; i < rows; i++) {
    if (at[i] == at[i + 1]) {
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: x has no items to choose from: row %" PRId64
                     " is empty",
                     call->name, i);
    }
  }
  return true;
}

// Items between two polls.
enum { MOST = 1 << 18 };

// Runs a kernel of whole rows on some at a time, so that a host can end the
// call. [at] are offsets into all items, which is why the kernel gets them from
// 0.
static bool fold_segments(tl_vm *vm, tl_fold_segments *kernel,
                          const tl_array *items, const int64_t *at,
                          int64_t rows, tl_array *to) {
  enum { ROWS = 1 << 14 };
  size_t step = tl_itemsize(tl_array_dtype(to));
  for (int64_t i = 0, n; i < rows; i += n) {
    // Of rows between two polls; a longer row goes by itself.
    for (n = tl_least(rows - i, ROWS); n > 1 && at[i + n] - at[i] > MOST;)
      n /= 2;
    kernel(to->data + (size_t)i * step, items->data, 0, items->size, at + i,
           (size_t)n);
    if (!tl_poll(vm, (uint64_t)(at[i + n] - at[i]) / 1024 + 1))
      return false;
  }
  return true;
}

// A result for each row into [to], by the kernel of whole rows where there is
// one, else by feeding the fold row by row.
static bool fold_rows(tl_vm *vm, tl_fold fold, const tl_array *items,
                      const int64_t *at, int64_t rows, tl_array *to) {
  tl_dtype dtype = tl_array_dtype(items);
  const tl_kernel_table *kernels = tl_kernels();
  tl_fold_segments *spans = kernels->fold_segments[fold][dtype];
  if (spans != NULL)
    return fold_segments(vm, spans, items, at, rows, to);
  size_t size = tl_itemsize(dtype), step = tl_itemsize(tl_array_dtype(to));
  for (int64_t i = 0; i < rows && tl_poll_at(vm, i); i++) {
    tl_fold_state state;
    tl_fold_begin(&state);
    for (int64_t from = at[i], n; from < at[i + 1]; from += n) {
      n = at[i + 1] - from < MOST ? at[i + 1] - from : MOST;
      kernels->fold_feed[fold][dtype](&state, items->data + (size_t)from * size,
                                      (size_t)n);
      if (!tl_poll_items(vm, n))
        return false;
    }
    kernels->fold_end[fold][dtype](&state, to->data + (size_t)i * step);
  }
  return !tl_failed(vm);
}

// Where the best item of each row is, of dense items.
static bool search_rows(tl_vm *vm, bool largest, const tl_array *items,
                        const int64_t *at, int64_t rows, tl_array *out) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = tl_array_dtype(items);
  tl_fold_segments *spans = largest ? kernels->argmax_segments[dtype]
                                    : kernels->argmin_segments[dtype];
  if (spans != NULL)
    return fold_segments(vm, spans, items, at, rows, out);
  tl_arg_fold *find = largest ? kernels->argmax[dtype] : kernels->argmin[dtype];
  int64_t *to = tl_offsets_data(out);
  size_t size = tl_itemsize(dtype);
  for (int64_t i = 0; i < rows && tl_poll_at(vm, i); i++)
    to[i] = (int64_t)find(items->data + (size_t)at[i] * size,
                          (size_t)(at[i + 1] - at[i]), NULL);
  return !tl_failed(vm);
}

// The items, dense and of that dtype; *out is owned or borrowed.
static bool dense_items(tl_vm *vm, tl_slot items, tl_dtype dtype,
                        tl_slot *out) {
  tl_slot borrowed = tl_borrow(items);
  if (tl_array_dtype(items.array) == dtype)
    return tl_array_contiguous(vm, &borrowed, out);
  *out = tl_none();
  return tl_array_give(tl_array_cast(vm, items.array, dtype), out);
}

// sums / counts, the dtype kept.
static bool divide_rows(tl_vm *vm, tl_array *sums, const int64_t *at,
                        int64_t rows, tl_slot *out) {
  tl_array *counts = tl_positions_new(vm, rows);
  tl_slot x[2] = {tl_own_array(sums), tl_none()};
  for (int64_t i = 0; counts != NULL && i < rows; i++)
    tl_offsets_data(counts)[i] = at[i + 1] - at[i];
  bool ok =
      counts != NULL &&
      tl_array_give(tl_array_cast(vm, counts, tl_array_dtype(sums)), &x[1]);
  tl_array_drop(vm, counts);
  ok = ok && tl_elementwise(vm, TL_OP_DIVIDE, x, out);
  tl_clear(vm, &x[0]);
  tl_clear(vm, &x[1]);
  return ok;
}

// Rows one by one, for what is no fold.
static bool reduce_row(tl_vm *vm, void *context, tl_slot *row, tl_slot *out) {
  const tl_reduce_call *call = context;
  return tl_reduce(vm, call->reduction, row, 1, false, call->dtype,
                   call->correction, out);
}

// For what no kernel does: one tl_reduce for each row, stacked. No rows give an
// empty vector of float64, as nothing says what a result would be.
static bool each_row(tl_vm *vm, const tl_reduce_call *call, tl_slot items,
                     const int64_t *at, int64_t rows, tl_slot *out) {
  if (rows == 0)
    return tl_array_finish(vm, true, tl_array_new(vm, TL_FLOAT64, 1, &rows),
                           out);
  return tl_each_row(vm, call->name, items, at, rows, reduce_row,
                     (void *)(uintptr_t)call, tl_stack_any, out);
}

// Chooses the kernel:
//
//   argmin, argmax             search_rows, where the dtype has one
//   var, std                   tl_var_rows, in the items' precision
//   sum, prod, min, … mean     fold_rows, mean divided afterwards
//   all else                   each_row
//
// With a dtype of integers that was asked for, rows go one by one, too.
bool tl_reduce_each_row(tl_vm *vm, const tl_reduce_call *call, tl_slot items,
                        const int64_t *at, int64_t rows, tl_slot *out) {
  const tl_reduction reduction = call->reduction;
  const tl_fold fold = tl_reduction_fold(reduction);
  const tl_dtype from = tl_array_dtype(items.array);
  const bool plain = tl_ndim(items.array) == 1 && from < TL_STRING;
  const bool asked = call->dtype != TL_DTYPE_COUNT;
  const bool mean = reduction == TL_REDUCE_MEAN;
  const tl_dtype real = tl_dtype_is_integer(from) ? TL_FLOAT64 : from;
  // A mean of integers is computed in float64.
  tl_dtype dtype = asked                       ? call->dtype
                   : mean && from < TL_FLOAT16 ? TL_FLOAT64
                                               : from;
  if (!check_rows(vm, call, at, rows))
    return false;
  const bool places = plain && tl_reduces_to_place(reduction) &&
                      tl_kernels()->argmax[from] != NULL;
  const bool varies =
      plain && (reduction == TL_REDUCE_VAR || reduction == TL_REDUCE_STD) &&
      !asked && tl_var_rows_fit(real);
  const bool folds = plain && dtype < TL_STRING &&
                     (reduction <= TL_REDUCE_COUNT_NONZERO || mean) &&
                     tl_kernels()->fold_feed[fold][dtype] != NULL &&
                     !(asked && tl_dtype_is_integer(dtype));
  if (!places && !varies && !folds)
    return each_row(vm, call, items, at, rows, out);
  tl_slot dense;
  dtype = places ? from : varies ? real : dtype;
  if (!dense_items(vm, items, dtype, &dense))
    return false;
  tl_array *to = tl_array_new(vm,
                              places   ? TL_INT64
                              : varies ? dtype
                                       : tl_fold_result(fold, dtype),
                              1, &rows);
  const bool ok =
      to != NULL &&
      (places ? search_rows(vm, reduction == TL_REDUCE_ARGMAX, dense.array, at,
                            rows, to)
       : varies ? tl_var_rows(vm, dense.array, at, rows, call->correction,
                              reduction == TL_REDUCE_STD, to)
                : fold_rows(vm, fold, dense.array, at, rows, to));
  tl_drop(vm, dense);
  if (ok && mean)
    return divide_rows(vm, to, at, rows, out);
  return tl_array_finish(vm, ok, to, out);
}
