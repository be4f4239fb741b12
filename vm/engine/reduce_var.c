// Variances: the mean of each lane or column, then the mean of squared
// deviations, each sum in the order that sums have.
#include <math.h>
#include <string.h>

#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

// The two passes over one lane.
typedef struct lane_passes {
  tl_dtype dtype, real;
  tl_fold_state state;
  tl_c128 mean;
} lane_passes;

enum { BLOCK = 256 };

static void sum_piece(void *context, const void *items, size_t n) {
  lane_passes *p = context;
  tl_kernels()->fold_feed[TL_FOLD_SUM][p->dtype](&p->state, items, n);
}

static void deviation_piece(void *context, const void *items, size_t n) {
  lane_passes *p = context;
  const tl_kernel_table *kernels = tl_kernels();
  _Alignas(64) char squares[BLOCK * sizeof(double)];
  size_t itemsize = tl_itemsize(p->dtype);
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t count = n - at < BLOCK ? n - at : BLOCK;
    kernels->square_deviation[p->dtype](
        squares, (const char *)items + at * itemsize, &p->mean, count);
    kernels->fold_feed[TL_FOLD_SUM][p->real](&p->state, squares, count);
  }
}

// *item /= by, for a real or both parts of a complex item.
static void divide_item(tl_dtype dtype, void *item, double by) {
  switch (dtype) {
    case TL_FLOAT32:
      *(float *)item /= (float)by;
      break;
    case TL_COMPLEX64:
      ((tl_c64 *)item)->re /= (float)by;
      ((tl_c64 *)item)->im /= (float)by;
      break;
    case TL_COMPLEX128:
      ((tl_c128 *)item)->re /= by;
      ((tl_c128 *)item)->im /= by;
      break;
    default:
      *(double *)item /= by;
      break;
  }
}

static void take_root(tl_dtype real, void *item) {
  if (real == TL_FLOAT32) {
    *(float *)item = sqrtf(*(float *)item);
  } else {
    *(double *)item = sqrt(*(double *)item);
  }
}

void tl_reduce_end_squares(tl_dtype real, char *items, int64_t n,
                           double divisor, bool root) {
  tl_reduce_divide(real, items, n, divisor);
  for (int64_t i = 0; root && i < n; i++, items += tl_itemsize(real)) {
    take_root(real, items);
  }
}

double tl_reduce_divisor(int64_t length, double correction) {
  double divisor = (double)length - correction;
  return divisor > 0 ? divisor : (double)NAN;
}

typedef struct variance {
  double divisor, correction;
  bool root;
} variance;

static void end_sum(lane_passes *p, double length) {
  tl_kernels()->fold_end[TL_FOLD_SUM][p->dtype](&p->state, &p->mean);
  divide_item(p->dtype, &p->mean, length);
  tl_fold_begin(&p->state);
}

static void end_squares(lane_passes *p, const variance *v, void *out) {
  tl_kernels()->fold_end[TL_FOLD_SUM][p->real](&p->state, out);
  tl_reduce_end_squares(p->real, out, 1, v->divisor, v->root);
}

static bool one_lane(const tl_reducer *r, tl_vm *vm, int64_t *unpolled,
                     const void *context, const tl_lane *lane, void *out) {
  lane_passes p;  // large: not cleared
  p.dtype = lane->dtype;
  p.real = r->result;
  tl_fold_begin(&p.state);
  if (!tl_lane_walk(vm, lane, unpolled, sum_piece, &p))
    return false;
  end_sum(&p, (double)r->split.length);
  if (!tl_lane_walk(vm, lane, unpolled, deviation_piece, &p))
    return false;
  end_squares(&p, context, out);
  return true;
}

static void merge(lane_passes *p, int64_t count, tl_dtype dtype) {
  for (int64_t i = 1; i < count; i++) {
    tl_kernels()->fold_merge[TL_FOLD_SUM][dtype](&p[0].state, &p[i].state);
  }
}

static bool one_lane_in_parts(tl_reducer *r, const variance *v,
                              const tl_parts *parts) {
  lane_passes p[TL_REDUCE_PARTS];  // large: not cleared
  for (int64_t i = 0; i < parts->count; i++) {
    p[i].dtype = r->dtype;
    p[i].real = r->result;
    tl_fold_begin(&p[i].state);
  }
  if (!tl_reduce_feed_parts(r, parts, sum_piece, p, sizeof p[0]))
    return false;
  merge(p, parts->count, r->dtype);
  end_sum(&p[0], (double)r->split.length);
  for (int64_t i = 1; i < parts->count; i++) {
    p[i].mean = p[0].mean;
    tl_fold_begin(&p[i].state);
  }
  if (!tl_reduce_feed_parts(r, parts, deviation_piece, p, sizeof p[0])) {
    return false;
  }
  merge(p, parts->count, r->result);
  end_squares(&p[0], v, r->out);
  return true;
}

// --- Short rows -------------------------------------------------------------

// The squares of some rows take the rows' form and are summed as they are.
static void vary_dense(const tl_reducer *r, const void *context,
                       const char *items, int64_t n, int64_t readable,
                       char *out) {
  enum { ROWS = 64 };
  _Alignas(64) char squares[ROWS * TL_SHORT_ROW * sizeof(double)];
  _Alignas(64) char means[ROWS * sizeof(double)];
  const tl_kernel_table *kernels = tl_kernels();
  const variance *v = context;
  const size_t itemsize = tl_itemsize(r->dtype);
  const size_t length = (size_t)r->split.length, row = length * itemsize;
  (void)readable;
  for (size_t left = (size_t)n, rows; left > 0; left -= rows) {
    rows = left < ROWS ? left : ROWS;
    kernels->sum_rows[r->dtype](means, items, rows, length);
    tl_reduce_divide(r->dtype, means, (int64_t)rows, (double)length);
    for (size_t i = 0; i < rows; i++)
      kernels->square_deviation[r->dtype](squares + i * row, items + i * row,
                                          means + i * itemsize, length);
    kernels->sum_rows[r->dtype](out, squares, rows, length);
    tl_reduce_end_squares(r->dtype, out, (int64_t)rows, v->divisor, v->root);
    items += rows * row;
    out += rows * itemsize;
  }
}

static void vary_rows(const tl_reducer *r, const void *context, int64_t from,
                      int64_t n) {
  tl_reduce_dense(r, vary_dense, context, from, n);
}

// --- Columns ----------------------------------------------------------------

// The means, then what the sums need.
static size_t means_size(const tl_reducer *r, size_t ncols) {
  return (ncols * tl_itemsize(r->dtype) + 63) / 64 * 64;
}

static size_t strip_scratch(const tl_reducer *r, const void *context,
                            size_t nrows, size_t ncols) {
  (void)context;
  size_t sums = tl_fold_outer_scratch(TL_FOLD_SUM, r->dtype, nrows, ncols);
  size_t squares = tl_fold_outer_scratch(TL_FOLD_SUM, r->result, nrows, ncols);
  return means_size(r, ncols) + (sums > squares ? sums : squares);
}

static void one_strip(const tl_reducer *r, const void *context, void *out,
                      const void *a, ptrdiff_t row_stride, size_t nrows,
                      size_t ncols, void *scratch) {
  const tl_kernel_table *kernels = tl_kernels();
  const variance *v = context;
  char *means = scratch, *counter = means + means_size(r, ncols);
  kernels->fold_outer[TL_FOLD_SUM][r->dtype](means, a, row_stride, nrows, ncols,
                                             counter);
  tl_reduce_divide(r->dtype, means, (int64_t)ncols, (double)nrows);
  kernels->outer_squares[r->dtype](out, means, a, row_stride, nrows, ncols,
                                   counter);
  tl_reduce_end_squares(r->result, out, (int64_t)ncols, v->divisor, v->root);
}

// --- Rows of different lengths ----------------------------------------------

enum { SPANS = 256, SPAN_ITEMS = 2048 };  // rows at a time, and their items

// Some rows' means, then the squares of what their items lack of them, side by
// side, then the sums of those.
static void vary_some(tl_dtype dtype, const char *items, const int64_t *at,
                      int64_t rows, double correction, bool root, char *out) {
  _Alignas(64) char squares[SPAN_ITEMS * sizeof(double)];
  const tl_kernel_table *kernels = tl_kernels();
  size_t size = tl_itemsize(dtype);
  int64_t from[SPANS + 1];
  for (int64_t i = 0; i <= rows; i++) from[i] = at[i] - at[0];
  items += (size_t)at[0] * size;
  kernels->fold_spans[TL_FOLD_SUM][dtype](out, items, 0, from[rows], from,
                                          (size_t)rows);
  for (int64_t i = 0; i < rows; i++) {
    int64_t n = from[i + 1] - from[i];
    size_t begin = (size_t)from[i] * size;
    divide_item(dtype, out + (size_t)i * size, (double)n);
    kernels->square_deviation[dtype](squares + begin, items + begin,
                                     out + (size_t)i * size, (size_t)n);
  }
  kernels->fold_spans[TL_FOLD_SUM][dtype](out, squares, 0, from[rows], from,
                                          (size_t)rows);
  // Most are float64: no call for each row.
  double *means = (double *)out;
  for (int64_t i = 0; i < rows; i++, out += size) {
    double divisor = tl_reduce_divisor(from[i + 1] - from[i], correction);
    if (dtype != TL_FLOAT64)
      tl_reduce_end_squares(dtype, out, 1, divisor, root);
    else
      means[i] = root ? sqrt(means[i] / divisor) : means[i] / divisor;
  }
}

bool tl_var_rows_fit(tl_dtype dtype) {
  const tl_kernel_table *kernels = tl_kernels();
  return (dtype == TL_FLOAT32 || dtype == TL_FLOAT64) &&
         kernels->fold_spans[TL_FOLD_SUM][dtype] != NULL &&
         kernels->square_deviation[dtype] != NULL;
}

// A row of more items than that.
static void vary_one(tl_dtype dtype, const char *items, int64_t n,
                     const variance *v, char *out) {
  lane_passes p;  // large: not cleared
  p.dtype = p.real = dtype;
  tl_fold_begin(&p.state);
  sum_piece(&p, items, (size_t)n);
  end_sum(&p, (double)n);
  deviation_piece(&p, items, (size_t)n);
  end_squares(&p, v, out);
}

static int64_t count_spans(const int64_t *at, int64_t rows) {
  int64_t count = 0;
  while (count < rows && count < SPANS && at[count + 1] - at[0] <= SPAN_ITEMS)
    count++;
  return count;
}

bool tl_var_rows(tl_vm *vm, const tl_array *items, const int64_t *at,
                 int64_t rows, double correction, bool root, tl_array *to) {
  tl_dtype dtype = tl_array_dtype(items);
  size_t size = tl_itemsize(dtype);
  char *out = to->data;
  for (int64_t i = 0, count; i < rows;
       i += count, out += (size_t)count * size) {
    count = count_spans(at + i, rows - i);
    if (count > 0) {
      vary_some(dtype, items->data, at + i, count, correction, root, out);
    } else {
      count = 1;
      int64_t n = at[i + 1] - at[i];
      variance v = {tl_reduce_divisor(n, correction), correction, root};
      vary_one(dtype, items->data + (size_t)at[i] * size, n, &v, out);
    }
    if (!tl_poll(vm, (uint64_t)(at[i + count] - at[i]) / 512 + 1))
      return false;
  }
  return true;
}

// --- The whole ----------------------------------------------------------------

static void vary_even(const tl_reducer *r, const void *context,
                      const char *items, int64_t n, int64_t readable,
                      char *out) {
  const variance *v = context;
  const int64_t length = r->split.length, most = SPAN_ITEMS / length;
  const size_t itemsize = tl_itemsize(r->dtype);
  int64_t at[SPANS + 1];
  (void)readable;
  for (int64_t i = 0; i <= most; i++) at[i] = i * length;
  for (int64_t rows; n > 0; n -= rows) {
    rows = n < most ? n : most;
    vary_some(r->dtype, items, at, rows, v->correction, v->root, out);
    items += (size_t)(rows * length) * itemsize;
    out += (size_t)rows * itemsize;
  }
}

static void vary_even_rows(const tl_reducer *r, const void *context,
                           int64_t from, int64_t n) {
  tl_reduce_dense(r, vary_even, context, from, n);
}

bool tl_reduce_variance(tl_reducer *r, double correction, bool root) {
  const tl_split *split = &r->split;
  variance v = {tl_reduce_divisor(split->length, correction), correction, root};
  if (split->outer && split->kept > 0 && split->length > 0) {
    tl_strip strip = {one_strip, strip_scratch, &v, NULL};
    return tl_reduce_strips(r, &strip);
  }
  if (tl_kernels()->sum_rows[r->dtype] != NULL &&
      tl_reduce_has_rows(r, 1, TL_SHORT_ROW))
    return tl_reduce_rows(r, vary_rows, &v);
  if (tl_var_rows_fit(r->dtype) &&
      tl_reduce_has_rows(r, TL_SIDE_BY_SIDE, SPAN_ITEMS / TL_SIDE_BY_SIDE))
    return tl_reduce_rows(r, vary_even_rows, &v);
  tl_parts parts;
  if (tl_reduce_in_parts(r, &parts))
    return one_lane_in_parts(r, &v, &parts);
  return tl_reduce_lanes(r, one_lane, &v);
}
