// Reductions across: results that lie side by side, a block of columns at a
// time, whose rows are contiguous; straight from memory, on several threads
// where that pays, or through a buffer.

#include "vm/engine/reduce_internal.h"

enum {
  BLOCK_BYTES = 512 * 1024,  // of a buffer
  POLL_ITEMS = 64 * 1024,
  STREAM_COLUMNS = 64,
  PARTS = 16,   // of columns, for several threads,
  LEAST = 512,  // which have at least so many, and a multiple of 64
};

// --- Kernels ----------------------------------------------------------------

// Variances have room for their means first, which stay while the squares are
// summed behind them.
size_t tl_reduce_columns_scratch(const tl_reducer *r, size_t nrows,
                                 size_t ncols) {
  const size_t sums = tl_columns_scratch(&r->method, nrows, ncols);
  if (!r->varies)
    return sums;
  // The means, and what either sum needs.
  const size_t squares = tl_columns_scratch(&r->squares, nrows, ncols);
  return tl_align_64(ncols * r->method.out) + (sums > squares ? sums : squares);
}

void tl_reduce_columns(const tl_reducer *r, char *out, const char *a,
                       ptrdiff_t row_stride, size_t nrows, size_t ncols,
                       char *scratch) {
  if (!r->varies) {
    tl_columns_fold(&r->method, out, a, row_stride, nrows, ncols, scratch);
    return;
  }
  // Two passes over the same rows, the second with the means of the first.
  char *means = scratch;
  char *sums = scratch + tl_align_64(ncols * r->method.out);
  if (r->about_zero)
    memset(means, 0, ncols * r->method.out);
  else
    tl_columns_fold(&r->method, means, a, row_stride, nrows, ncols, sums);
  tl_reduce_divide(r->dtype, means, (int64_t)ncols, (double)nrows);
  tl_kernels()->outer_squares[r->dtype](out, means, a, row_stride, nrows, ncols,
                                        sums);
  tl_reduce_end_squares(r->result, out, (int64_t)ncols,
                        tl_reducer_divisor(r, (int64_t)nrows), r->root);
}

// Whether columns are folded where they lie.
static bool is_direct(const tl_reducer *r) {
  const tl_split *split = &r->split;
  return split->reduced <= 1 && r->from == r->dtype &&
         split->kept_strides[split->kept - 1] == (int64_t)tl_itemsize(r->from);
}

// --- Blocks of columns
// -----------------------------------------------------------------

// Columns of one position of the outer axes, some at a time.
typedef struct column_blocks {
  tl_reducer *r;
  int64_t width;             // of a block
  char *buffer, *converted;  // for its rows; NULL: they are read as they lie
  char *scratch;
  tl_column_stream *stream;  // of long columns, instead of these; or NULL
} column_blocks;

// Copies [ncols] columns from [at] on, all rows in logical order, as
// contiguous rows of r->dtype.
static void gather(const tl_reducer *r, const char *at, size_t ncols,
                   char *to) {
  const tl_split *split = &r->split;
  const tl_kernel_table *kernels = tl_kernels();
  size_t itemsize = tl_itemsize(r->from);
  tl_pack_tile *pack = kernels->pack_tile[tl_move_size(itemsize)];
  // The innermost reduced axis is the rows of a tile, the others are counted.
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

// [n] long columns from [base] on, a chunk of their rows at a time.
__attribute__((cold, noinline)) static bool stream_block(const column_blocks *s,
                                                         const char *base,
                                                         char *out, int64_t n) {
  const tl_split *split = &s->r->split;
  const size_t itemsize = tl_itemsize(s->r->from);
  const ptrdiff_t row = split->reduced_strides[0],
                  column = split->kept_strides[split->kept - 1];
  tl_column_stream_begin(s->stream, out);
  for (int64_t at = 0, rows; at < split->length; at += rows) {
    const int64_t left = split->length - at;
    rows = left < s->stream->rows ? left : s->stream->rows;
    tl_kernels()->pack_tile[tl_move_size(itemsize)](
        s->stream->items, (ptrdiff_t)((size_t)n * itemsize), base + at * row,
        row, column, (size_t)rows, (size_t)n);
    tl_column_stream_take(s->stream, s->stream->items, rows, n);
    if (!tl_poll_items(s->r->vm, rows * n))
      return false;
  }
  tl_column_stream_end(s->stream, n);
  return true;
}

// [n] columns from [base] on.
static void fold_block(const column_blocks *s, const char *base, char *out,
                       int64_t n) {
  const tl_reducer *r = s->r;
  const tl_split *split = &r->split;
  const size_t nrows = (size_t)split->length, ncols = (size_t)n;
  ptrdiff_t row = split->reduced == 0 ? 0 : split->reduced_strides[0];
  if (s->buffer != NULL) {
    gather(r, base, ncols, s->buffer);
    base = s->buffer;
    row = (ptrdiff_t)(ncols * tl_itemsize(r->dtype));
  }
  if (r->from != r->dtype) {
    tl_kernels()->cast[r->from][r->dtype](s->converted, base, nrows * ncols);
    base = s->converted;
  }
  tl_reduce_columns(r, out, base, row, nrows, ncols, s->scratch);
}

// Polls after each block: their width is chosen so that this is often enough.
static bool fold_blocks(const column_blocks *s, const char *base, char *out) {
  const tl_split *split = &s->r->split;
  const int64_t ncols = split->kept_shape[split->kept - 1];
  const int64_t column = split->kept_strides[split->kept - 1];
  for (int64_t at = 0, n; at < ncols; at += n) {
    n = ncols - at < s->width ? ncols - at : s->width;
    const char *from = base + at * column;
    char *to = out + (size_t)at * tl_itemsize(s->r->result);
    if (s->stream == NULL)
      fold_block(s, from, to, n);
    if (s->stream != NULL ? !stream_block(s, from, to, n)
                          : !tl_poll_items(s->r->vm, n * split->length))
      return false;
  }
  return true;
}

// How many columns go together: whole rows are read faster than parts of them,
// but there is a poll from time to time, after some milliseconds.
static int64_t direct_width(const tl_split *split) {
  int64_t width = 128 * POLL_ITEMS / split->length & ~INT64_C(1023);
  return width < 1024 ? 1024 : width;
}

// Through a buffer.
// As many columns as fit BLOCK_BYTES with all of their rows, but at least 4: of
// very long ones the buffer is larger, where they cannot come in chunks.
static int64_t gathered_width(const tl_reducer *r) {
  const size_t both = tl_itemsize(r->from) + tl_itemsize(r->dtype);
  const size_t width = BLOCK_BYTES / ((size_t)r->split.length * both);
  return width > 1024 ? 1024 : width < 4 ? 4 : (int64_t)width;
}

// One block of memory serves all positions of the outer axes: a buffer for rows
// that are gathered, one for the converted ones, and the kernels' scratch.
static bool all_blocks(tl_reducer *r, bool direct) {
  const tl_split *split = &r->split;
  const int columns = split->kept - 1;
  column_blocks s = {.r = r,
                     .width = direct ? direct_width(split) : gathered_width(r)};
  tl_column_stream stream;
  if (!direct && s.width <= 4 && split->reduced == 1 && r->from == r->dtype &&
      !r->varies && tl_column_stream_fits(&r->method)) {
    s.stream = &stream;
    s.width = STREAM_COLUMNS;
  }
  if (s.width > split->kept_shape[columns])
    s.width = split->kept_shape[columns];
  const size_t width = (size_t)s.width, nrows = (size_t)split->length;
  const size_t items = tl_align_64(nrows * width * tl_itemsize(r->from));
  const size_t converted =
      r->from == r->dtype ? 0
                          : tl_align_64(nrows * width * tl_itemsize(r->dtype));
  const size_t nbytes = s.stream != NULL
                            ? 0
                            : (direct ? 0 : items + converted) +
                                  tl_reduce_columns_scratch(r, nrows, width);
  char *block = NULL;
  if (s.stream != NULL)
    tl_column_stream_open(s.stream, &r->method, s.width, split->length,
                          BLOCK_BYTES);
  if ((s.stream != NULL && !tl_column_stream_alloc(s.stream, r->vm)) ||
      (nbytes > 0 &&
       (block = tl_alloc(r->vm, nbytes, "columns to reduce")) == NULL))
    return false;
  s.scratch = block;
  if (!direct && s.stream == NULL) {
    s.buffer = block;
    s.converted = s.buffer + items;
    s.scratch = s.converted + converted;
  }
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, columns, split->kept_shape, split->kept_strides,
                   split->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    ok = fold_blocks(&s, counter.at, out);
    out += (size_t)split->kept_shape[columns] * tl_itemsize(r->result);
  }
  tl_free(r->vm, block, nbytes);
  if (s.stream != NULL)
    tl_column_stream_free(s.stream, r->vm);
  return ok;
}

// --- On several threads ------------------------------------------------------

// Parts of columns; or, where these are few and long, of rows: then a part is a
// whole subtree of the sums' tree, which the caller completes.
// Parts of rows are multiples of 8, the group that a sum takes by a fixed tree.
enum { FEW_COLUMNS = 8192, PART_ROWS = 64, EAGER_ROWS = 8 };

typedef struct spread {
  tl_reducer *r;
  int64_t step;  // columns or rows of a part
  char *block;   // for each part its results, if it has some, then its scratch
  // Of a part, in bytes: its results, 0 where they go to their place at once,
  // and all that it has.
  size_t results_size, part_size;
} spread;

// As one block of columns, read where it lies; threads write to disjoint
// results.
static void fold_part_columns(void *context, int64_t part) {
  const spread *p = context;
  const tl_split *split = &p->r->split;
  const int64_t at = part * p->step, left = split->kept_shape[0] - at;
  const column_blocks s = {.r = p->r,
                           .scratch = p->block + (size_t)part * p->part_size};
  fold_block(&s, split->array->data + at * split->kept_strides[0],
             p->r->out + (size_t)at * tl_itemsize(p->r->result),
             left < p->step ? left : p->step);
}

// Results of a part of the rows for all columns, behind which its scratch
// stands.
static void fold_part_rows(void *context, int64_t part) {
  const spread *p = context;
  const tl_split *split = &p->r->split;
  const int64_t from = part * p->step, left = split->length - from;
  char *results = p->block + (size_t)part * p->part_size;
  tl_reduce_columns(
      p->r, results, split->array->data + from * split->reduced_strides[0],
      split->reduced_strides[0], (size_t)(left < p->step ? left : p->step),
      (size_t)split->kept_shape[0], results + p->results_size);
}

// Few columns would make parts of a line or two, and threads would share cache
// lines of the results. Needs a join, which variances and float products have
// not.
static bool may_spread_rows(const tl_reducer *r) {
  return !r->varies && r->method.join != NULL &&
         r->split.kept_shape[0] <= FEW_COLUMNS &&
         r->split.length >= 2 * PART_ROWS;
}

// Whole cache lines of results, at least LEAST columns unless the pool is
// eager, as it is in tests.
static int64_t columns_of_part(const tl_reducer *r) {
  const int64_t ncols = r->split.kept_shape[0];
  const int64_t step =
      (int64_t)tl_align_64((size_t)(ncols + PARTS - 1) / PARTS);
  return step < LEAST && !r->vm->pool.eager ? LEAST : step;
}

// PARTS of them at most, each PART_ROWS times a power of two: whole subtrees of
// the tree that one thread would fold.
static int64_t rows_of_part(const tl_reducer *r) {
  int64_t step = r->vm->pool.eager ? EAGER_ROWS : PART_ROWS;
  while (step * PARTS < r->split.length) step *= 2;
  return step;
}

// In order of the rows, in the shape of the tree, so that the sums have the
// bits of one thread.
static void join_parts(const spread *p, int64_t parts) {
  const tl_reducer *r = p->r;
  const size_t ncols = (size_t)r->split.kept_shape[0];
  tl_column_join join = {.method = &r->method, .ncols = ncols};
  for (int64_t i = 0; i < parts; i++)
    tl_column_join_push(&join, p->block + (size_t)i * p->part_size);
  memcpy(r->out, tl_column_join_end(&join), ncols * tl_itemsize(r->result));
}

// *done: there was memory for it. One thread needs less.
static bool spread_columns(tl_reducer *r, bool *done) {
  const tl_split *split = &r->split;
  const bool rows = may_spread_rows(r);
  const int64_t ncols = split->kept_shape[0], nrows = split->length;
  spread p = {.r = r, .step = rows ? rows_of_part(r) : columns_of_part(r)};
  // What is cut into parts, and what each part has all of.
  const int64_t whole = rows ? nrows : ncols, other = rows ? ncols : nrows;
  const int64_t parts = (whole + p.step - 1) / p.step;
  p.results_size =
      rows ? tl_align_64((size_t)ncols * tl_itemsize(r->result)) : 0;
  p.part_size = p.results_size + tl_align_64(tl_reduce_columns_scratch(
                                     r, (size_t)(rows ? p.step : nrows),
                                     (size_t)(rows ? ncols : p.step)));
  const size_t nbytes = p.part_size * (size_t)parts + 64;
  char *block = tl_alloc(r->vm, nbytes, "partial results");
  if (block == NULL) {
    // *done stays false: one thread does it, with less memory.
    tl_error_clear(r->vm);
    return true;
  }
  p.block = (char *)tl_align_64((size_t)block);
  const bool ok =
      tl_pool_spread(r->vm, parts, rows ? fold_part_rows : fold_part_columns,
                     &p, (uint64_t)(p.step * other) / 1024);
  if (ok && rows)
    join_parts(&p, parts);
  tl_free(r->vm, block, nbytes);
  *done = true;
  return ok;
}

// Threads only where columns lie as the kernels read them; else a buffer for
// each thread would be needed.
bool tl_reduce_across(tl_reducer *r) {
  const tl_split *split = &r->split;
  TL_CHECK(split->kept > 0 && split->length > 0);
  const bool direct = is_direct(r);
  bool done = false;
  if (direct && split->kept == 1 && split->reduced == 1 &&
      tl_reduce_may_spread(r) && !spread_columns(r, &done))
    return false;
  return done || all_blocks(r, direct);
}
