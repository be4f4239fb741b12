// Reductions across: results that lie side by side, a strip of columns at a
// time, whose rows are contiguous; straight from memory, on several threads
// where that pays, or through a buffer.
#include <string.h>

#include "vm/error.h"
#include "vm/poll.h"
#include "vm/check.h"
#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  STRIP_BYTES = 512 * 1024,  // of a buffer
  POLL_ITEMS = 64 * 1024,
  PARTS = 16,   // of columns, for several threads,
  LEAST = 512,  // which have at least so many, and a multiple of 64
};

// --- Kernels ----------------------------------------------------------------

static size_t scratch_nbytes(const tl_reducer *r, size_t nrows, size_t ncols) {
  const size_t sums = tl_columns_scratch(&r->method, nrows, ncols);
  if (!r->varies)
    return sums;
  // The means, and what either sum needs.
  const size_t squares = tl_columns_scratch(&r->squares, nrows, ncols);
  return tl_align_64(ncols * r->method.out) + (sums > squares ? sums : squares);
}

// Columns that lie side by side: [a] is nrows rows of ncols contiguous items.
static void fold_rows(const tl_reducer *r, char *out, const char *a,
                      ptrdiff_t row_stride, size_t nrows, size_t ncols,
                      char *scratch) {
  if (!r->varies) {
    tl_columns_fold(&r->method, out, a, row_stride, nrows, ncols, scratch);
    return;
  }
  char *means = scratch;
  char *sums = scratch + tl_align_64(ncols * r->method.out);
  tl_columns_fold(&r->method, means, a, row_stride, nrows, ncols, sums);
  tl_reduce_divide(r->dtype, means, (int64_t)ncols, (double)nrows);
  tl_kernels()->outer_squares[r->dtype](out, means, a, row_stride, nrows, ncols,
                                        sums);
  tl_reduce_end_squares(r->result, out, (int64_t)ncols,
                        tl_reduce_divisor((int64_t)nrows, r->correction),
                        r->root);
}

// Sums of long columns whose items lie side by side, as those of a transposed
// matrix do, go one column after the other.
static bool is_upright(const tl_reducer *r) {
  enum { LONG = 64 };
  const tl_split *split = &r->split;
  return r->method.feed != NULL && r->method.fold == TL_FOLD_SUM &&
         !r->varies && tl_dtype_is_real(r->dtype) && r->from == r->dtype &&
         split->reduced == 1 && split->length >= LONG &&
         split->kept_strides[split->kept - 1] !=
             (int64_t)tl_itemsize(r->from) &&
         split->reduced_strides[0] == (int64_t)tl_itemsize(r->from);
}

// Whether columns are folded where they lie.
static bool is_direct(const tl_reducer *r) {
  const tl_split *split = &r->split;
  return (split->reduced <= 1 && r->from == r->dtype &&
          split->kept_strides[split->kept - 1] ==
              (int64_t)tl_itemsize(r->from)) ||
         is_upright(r);
}

// --- Strips -----------------------------------------------------------------

// Copies [ncols] columns from [at] on, all rows in logical order, as
// contiguous rows of r->dtype.
static void gather(tl_reducer *r, const char *at, size_t ncols, char *to) {
  const tl_split *split = &r->split;
  const tl_kernel_table *kernels = tl_kernels();
  size_t itemsize = tl_itemsize(r->from);
  tl_pack_tile *pack = kernels->pack_tile[tl_move_size(itemsize)];
  int last = split->reduced - 1;
  int64_t nrows = last < 0 ? 1 : split->reduced_shape[last];
  int64_t row = last < 0 ? 0 : split->reduced_strides[last];
  int64_t column = split->kept_strides[split->kept - 1];
  tl_counter counter;
  tl_counter_begin(&counter, last < 0 ? 0 : last, split->reduced_shape,
                   split->reduced_strides, at);
  for (; !counter.done; tl_counter_next(&counter)) {
    pack(to, (ptrdiff_t)(ncols * itemsize), counter.at, row, column,
         (size_t)nrows, ncols);
    to += (size_t)nrows * ncols * itemsize;
  }
}

// The strips of one position of the outer axes, through a buffer.
static bool gathered_strips(tl_reducer *r, const char *base, char *out,
                            size_t width, char *buffer, char *scratch) {
  const tl_split *split = &r->split;
  int64_t ncols = split->kept_shape[split->kept - 1];
  int64_t column = split->kept_strides[split->kept - 1];
  size_t from = tl_itemsize(r->from), to = tl_itemsize(r->dtype);
  size_t nrows = (size_t)split->length;
  char *converted = buffer + tl_align_64(nrows * width * from);
  for (int64_t at = 0; at < ncols; at += (int64_t)width) {
    size_t n = (size_t)(ncols - at) < width ? (size_t)(ncols - at) : width;
    char *rows = buffer;
    gather(r, base + at * column, n, rows);
    if (r->from != r->dtype) {
      tl_kernels()->cast[r->from][r->dtype](converted, rows, nrows * n);
      rows = converted;
    }
    fold_rows(r, out + (size_t)at * tl_itemsize(r->result), rows,
              (ptrdiff_t)(n * to), nrows, n, scratch);
    if (!tl_poll(r->vm, nrows * n / 1024))
      return false;
  }
  return true;
}

// Columns [at, at + n) of one position of the outer axes, from memory.
static void direct_strip(const tl_reducer *r, const char *base, char *out,
                         int64_t at, int64_t n, char *scratch) {
  const tl_split *split = &r->split;
  const ptrdiff_t row = split->reduced == 0 ? 0 : split->reduced_strides[0];
  const int64_t column = split->kept_strides[split->kept - 1];
  const size_t nrows = (size_t)split->length, step = tl_itemsize(r->result);
  const char *a = base + at * column;
  out += (size_t)at * step;
  if (column == (int64_t)tl_itemsize(r->from)) {
    fold_rows(r, out, a, row, nrows, (size_t)n, scratch);
    return;
  }
  for (; n > 0; n--, a += column, out += step)
    fold_rows(r, out, a, row, nrows, 1, scratch);
}

// How many columns go together: whole rows are read faster than parts of them,
// but there is a poll from time to time, after tens of milliseconds.
static int64_t direct_width(const tl_reducer *r) {
  if (is_upright(r))
    return 1;
  int64_t width = 512 * POLL_ITEMS / r->split.length & ~INT64_C(1023);
  return width < 1024 ? 1024 : width;
}

static bool direct_strips(tl_reducer *r, const char *base, char *out,
                          char *scratch) {
  const tl_split *split = &r->split;
  int64_t ncols = split->kept_shape[split->kept - 1];
  int64_t width = direct_width(r);
  for (int64_t at = 0; at < ncols; at += width) {
    int64_t n = ncols - at < width ? ncols - at : width;
    direct_strip(r, base, out, at, n, scratch);
    if (!tl_lane_poll(r->vm, &r->unpolled, n * split->length))
      return false;
  }
  return true;
}

// --- On several threads ------------------------------------------------------

typedef struct spread {
  const tl_reducer *r;
  int64_t width;  // columns of a part
  char *scratch;
  size_t scratch_size;  // of a part
} spread;

static void fold_part(void *context, int64_t part) {
  const spread *s = context;
  const tl_reducer *r = s->r;
  int64_t at = part * s->width, left = r->split.kept_shape[0] - at;
  direct_strip(r, r->split.array->data, r->out, at,
               left < s->width ? left : s->width,
               s->scratch + (size_t)part * s->scratch_size);
}

static bool spread_strips(tl_reducer *r, bool *done) {
  const tl_split *split = &r->split;
  const int64_t ncols = split->kept_shape[0];
  spread s = {.r = r, .width = (ncols + PARTS - 1) / PARTS};
  if (!is_upright(r)) {
    s.width = (int64_t)tl_align_64((size_t)s.width);
    if (s.width < LEAST && !r->vm->pool.eager)
      s.width = LEAST;
  }
  int64_t parts = (ncols + s.width - 1) / s.width;
  s.scratch_size = tl_align_64(scratch_nbytes(
      r, (size_t)split->length, is_upright(r) ? 1 : (size_t)s.width));
  size_t nbytes = s.scratch_size * (size_t)parts + 64;
  char *block = tl_alloc(r->vm, nbytes, "partial results");
  if (block == NULL) {
    tl_error_clear(r->vm);  // one thread needs less
    return true;
  }
  s.scratch = (char *)tl_align_64((size_t)block);
  bool ok = tl_pool_spread(r->vm, parts, fold_part, &s,
                           (uint64_t)(s.width * split->length) / 1024);
  tl_free(r->vm, block, nbytes);
  *done = true;
  return ok;
}

// Columns are few and long: each part takes all of them for some rows. Parts
// are whole subtrees of the sums' tree, which the caller completes.
enum { FEW_COLUMNS = 8192, PART_ROWS = 64, EAGER_ROWS = 8 };

typedef struct row_spread {
  const tl_reducer *r;
  int64_t nrows;  // of a part
  char *block;    // for each part its results, then its scratch
  size_t results_size, part_size;
} row_spread;

static void fold_part_rows(void *context, int64_t part) {
  const row_spread *s = context;
  const tl_split *split = &s->r->split;
  int64_t from = part * s->nrows, left = split->length - from;
  char *results = s->block + (size_t)part * s->part_size;
  fold_rows(
      s->r, results, split->array->data + from * split->reduced_strides[0],
      split->reduced_strides[0], (size_t)(left < s->nrows ? left : s->nrows),
      (size_t)split->kept_shape[0], results + s->results_size);
}

static bool may_spread_rows(const tl_reducer *r) {
  return !r->varies && r->method.join != NULL && !is_upright(r) &&
         r->split.kept_shape[0] <= FEW_COLUMNS &&
         r->split.length >= 2 * PART_ROWS;
}

static bool spread_rows(tl_reducer *r, bool *done) {
  const tl_split *split = &r->split;
  const size_t ncols = (size_t)split->kept_shape[0];
  row_spread s = {.r = r};
  s.nrows = r->vm->pool.eager ? EAGER_ROWS : PART_ROWS;
  while (s.nrows * PARTS < split->length) s.nrows *= 2;
  const int64_t parts = (split->length + s.nrows - 1) / s.nrows;
  s.results_size = tl_align_64(ncols * tl_itemsize(r->result));
  s.part_size =
      s.results_size + tl_align_64(scratch_nbytes(r, (size_t)s.nrows, ncols));
  const size_t nbytes = s.part_size * (size_t)parts;
  s.block = tl_alloc(r->vm, nbytes, "partial results");
  if (s.block == NULL) {
    tl_error_clear(r->vm);  // one thread needs less
    return true;
  }
  const bool ok = tl_pool_spread(r->vm, parts, fold_part_rows, &s,
                                 (uint64_t)(s.nrows * (int64_t)ncols) / 1024);
  tl_column_join join = {.method = &r->method, .ncols = ncols};
  for (int64_t i = 0; ok && i < parts; i++)
    tl_column_join_push(&join, s.block + (size_t)i * s.part_size);
  if (ok)
    memcpy(r->out, tl_column_join_end(&join), ncols * tl_itemsize(r->result));
  tl_free(r->vm, s.block, nbytes);
  *done = true;
  return ok;
}

// --- The whole ---------------------------------------------------------------

static bool all_strips(tl_reducer *r, bool direct) {
  const tl_split *split = &r->split;
  int columns = split->kept - 1;
  size_t itemsize = tl_itemsize(r->from), nrows = (size_t)split->length;
  size_t width = (size_t)direct_width(r), buffer_size = 0;
  if (!direct) {
    size_t both = itemsize + tl_itemsize(r->dtype);
    width = STRIP_BYTES / (nrows * both);
    if (width > 1024)
      width = 1024;
    if (width < 4)
      width = 4;
  }
  if (width > (size_t)split->kept_shape[columns]) {
    width = (size_t)split->kept_shape[columns];
  }
  if (!direct) {
    buffer_size = tl_align_64(nrows * width * itemsize) +
                  tl_align_64(nrows * width * tl_itemsize(r->dtype));
  }
  size_t nbytes = buffer_size + scratch_nbytes(r, nrows, width);
  char *block = NULL;
  if (nbytes > 0) {
    block = tl_alloc(r->vm, nbytes, "columns to reduce");
    if (block == NULL)
      return false;
  }
  char *scratch = block == NULL ? NULL : block + buffer_size;
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, columns, split->kept_shape, split->kept_strides,
                   split->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    ok = direct ? direct_strips(r, counter.at, out, scratch)
                : gathered_strips(r, counter.at, out, width, block, scratch);
    out += (size_t)split->kept_shape[columns] * tl_itemsize(r->result);
  }
  if (block != NULL)
    tl_free(r->vm, block, nbytes);
  return ok;
}

bool tl_reduce_across(tl_reducer *r) {
  const tl_split *split = &r->split;
  TL_CHECK(split->kept > 0 && split->length > 0);
  const bool direct = is_direct(r);
  bool done = false;
  if (direct && split->kept == 1 && split->reduced == 1 &&
      tl_reduce_may_spread(r)) {
    bool ok =
        may_spread_rows(r) ? spread_rows(r, &done) : spread_strips(r, &done);
    if (!ok)
      return false;
  }
  return done || all_strips(r, direct);
}
