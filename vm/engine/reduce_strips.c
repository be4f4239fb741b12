// Reductions down columns: strips of columns whose results lie side by side, as
// contiguous rows; straight from memory, on several threads where that pays, or
// through a buffer.
#include <string.h>

#include "vm/error.h"
#include "vm/poll.h"
#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  STRIP_BYTES = 512 * 1024,  // of a buffer
  POLL_ITEMS = 64 * 1024,
  PARTS = 16,   // of columns, for several threads,
  LEAST = 512,  // which have at least so many
  STEP = 64,    // and a multiple of so many
};

static size_t round_up(size_t n, size_t to) {
  return (n + to - 1) / to * to;
}

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
static bool gathered_strips(tl_reducer *r, const tl_strip *strip,
                            const char *base, char *out, size_t width,
                            char *buffer, void *scratch) {
  const tl_split *split = &r->split;
  const tl_kernel_table *kernels = tl_kernels();
  int64_t ncols = split->kept_shape[split->kept - 1];
  int64_t column = split->kept_strides[split->kept - 1];
  size_t from = tl_itemsize(r->from), to = tl_itemsize(r->dtype);
  size_t nrows = (size_t)split->length;
  char *converted = buffer + round_up(nrows * width * from, 64);
  for (int64_t at = 0; at < ncols; at += (int64_t)width) {
    size_t n = (size_t)(ncols - at) < width ? (size_t)(ncols - at) : width;
    char *rows = buffer;
    gather(r, base + at * column, n, rows);
    if (r->from != r->dtype) {
      kernels->cast[r->from][r->dtype](converted, rows, nrows * n);
      rows = converted;
    }
    strip->fold(r, strip->context, out + (size_t)at * tl_itemsize(r->result),
                rows, (ptrdiff_t)(n * to), nrows, n, scratch);
    if (!tl_poll(r->vm, nrows * n / 1024))
      return false;
  }
  return true;
}

// Columns [at, at + n) of one position of the outer axes, from memory.
static void direct_strip(const tl_reducer *r, const tl_strip *strip,
                         const char *base, char *out, int64_t at, int64_t n,
                         void *scratch) {
  const tl_split *split = &r->split;
  ptrdiff_t row = split->reduced == 0 ? 0 : split->reduced_strides[0];
  strip->fold(r, strip->context, out + (size_t)at * tl_itemsize(r->result),
              base + (size_t)at * tl_itemsize(r->from), row,
              (size_t)split->length, (size_t)n, scratch);
}

// How many columns go together: whole rows are read faster than parts of them,
// but there is a poll from time to time, after tens of milliseconds.
static int64_t direct_width(const tl_split *split) {
  int64_t width = 512 * POLL_ITEMS / split->length & ~INT64_C(1023);
  return width < 1024 ? 1024 : width;
}

static bool direct_strips(tl_reducer *r, const tl_strip *strip,
                          const char *base, char *out, void *scratch) {
  const tl_split *split = &r->split;
  int64_t ncols = split->kept_shape[split->kept - 1];
  int64_t width = direct_width(split);
  for (int64_t at = 0; at < ncols; at += width) {
    int64_t n = ncols - at < width ? ncols - at : width;
    direct_strip(r, strip, base, out, at, n, scratch);
    r->unpolled += n * split->length;
    if (r->unpolled >= POLL_ITEMS) {
      uint64_t work = (uint64_t)r->unpolled / 1024;
      r->unpolled = 0;
      if (!tl_poll(r->vm, work))
        return false;
    }
  }
  return true;
}

// --- On several threads ------------------------------------------------------

typedef struct spread {
  const tl_reducer *r;
  const tl_strip *strip;
  int64_t width;  // columns of a part
  char *scratch;
  size_t scratch_size;  // of a part
} spread;

static void fold_part(void *context, int64_t part) {
  const spread *s = context;
  const tl_reducer *r = s->r;
  int64_t at = part * s->width, left = r->split.kept_shape[0] - at;
  direct_strip(r, s->strip, r->split.array->data, r->out, at,
               left < s->width ? left : s->width,
               s->scratch + (size_t)part * s->scratch_size);
}

static bool spread_strips(tl_reducer *r, const tl_strip *strip, bool *done) {
  const tl_split *split = &r->split;
  int64_t ncols = split->kept_shape[0];
  spread s = {.r = r, .strip = strip};
  s.width = (int64_t)round_up((size_t)(ncols + PARTS - 1) / PARTS, STEP);
  if (s.width < LEAST && !r->vm->pool.eager)
    s.width = LEAST;
  int64_t parts = (ncols + s.width - 1) / s.width;
  s.scratch_size = round_up(
      strip->scratch(r, strip->context, (size_t)split->length, (size_t)s.width),
      64);
  size_t nbytes = s.scratch_size * (size_t)parts + 64;
  char *block = tl_alloc(r->vm, nbytes, "partial results");
  if (block == NULL) {
    tl_error_clear(r->vm);  // one thread needs less
    return true;
  }
  s.scratch = block + (64 - (uintptr_t)block % 64) % 64;
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
  const tl_strip *strip;
  int64_t nrows;  // of a part
  char *block;    // for each part its results, then its scratch
  size_t results_size, part_size;
} row_spread;

static void fold_rows(void *context, int64_t part) {
  const row_spread *s = context;
  const tl_split *split = &s->r->split;
  int64_t from = part * s->nrows, left = split->length - from;
  char *results = s->block + (size_t)part * s->part_size;
  s->strip->fold(s->r, s->strip->context, results,
                 split->array->data + from * split->reduced_strides[0],
                 split->reduced_strides[0],
                 (size_t)(left < s->nrows ? left : s->nrows),
                 (size_t)split->kept_shape[0], results + s->results_size);
}

// Equal subtrees are joined at once, the rest from the right.
static void join_rows(const row_spread *s, int64_t parts) {
  const tl_reducer *r = s->r;
  size_t ncols = (size_t)r->split.kept_shape[0];
  char *waiting[PARTS + 1];
  int count = 0;
  for (int64_t i = 0; i < parts; i++) {
    waiting[count++] = s->block + (size_t)i * s->part_size;
    if ((i + 1) * s->nrows > r->split.length)
      break;  // no whole subtree
    for (int64_t q = i + 1; (q & 1) == 0; q >>= 1, count--) {
      s->strip->join(waiting[count - 2], waiting[count - 2], waiting[count - 1],
                     ncols);
    }
  }
  for (; count > 1; count--) {
    s->strip->join(waiting[count - 2], waiting[count - 2], waiting[count - 1],
                   ncols);
  }
  memcpy(r->out, waiting[0], ncols * tl_itemsize(r->result));
}

static bool spread_rows(tl_reducer *r, const tl_strip *strip, bool *done) {
  const tl_split *split = &r->split;
  size_t ncols = (size_t)split->kept_shape[0];
  row_spread s = {.r = r, .strip = strip};
  s.nrows = r->vm->pool.eager ? EAGER_ROWS : PART_ROWS;
  while (s.nrows * PARTS < split->length) s.nrows *= 2;
  int64_t parts = (split->length + s.nrows - 1) / s.nrows;
  s.results_size = round_up(ncols * tl_itemsize(r->result), 64);
  s.part_size =
      s.results_size +
      round_up(strip->scratch(r, strip->context, (size_t)s.nrows, ncols), 64);
  size_t nbytes = s.part_size * (size_t)parts;
  s.block = tl_alloc(r->vm, nbytes, "partial results");
  if (s.block == NULL) {
    tl_error_clear(r->vm);  // one thread needs less
    return true;
  }
  bool ok = tl_pool_spread(r->vm, parts, fold_rows, &s,
                           (uint64_t)(s.nrows * (int64_t)ncols) / 1024);
  if (ok)
    join_rows(&s, parts);
  tl_free(r->vm, s.block, nbytes);
  *done = true;
  return ok;
}

// --- The whole ---------------------------------------------------------------

static bool all_strips(tl_reducer *r, const tl_strip *strip, bool direct) {
  const tl_split *split = &r->split;
  int columns = split->kept - 1;
  size_t itemsize = tl_itemsize(r->from), nrows = (size_t)split->length;
  size_t width = (size_t)direct_width(split), buffer_size = 0;
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
    buffer_size = round_up(nrows * width * itemsize, 64) +
                  round_up(nrows * width * tl_itemsize(r->dtype), 64);
  }
  size_t nbytes = buffer_size + strip->scratch(r, strip->context, nrows, width);
  char *block = NULL;
  if (nbytes > 0) {
    block = tl_alloc(r->vm, nbytes, "columns to reduce");
    if (block == NULL)
      return false;
  }
  void *scratch = block == NULL ? NULL : block + buffer_size;
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, columns, split->kept_shape, split->kept_strides,
                   split->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    ok = direct ? direct_strips(r, strip, counter.at, out, scratch)
                : gathered_strips(r, strip, counter.at, out, width, block,
                                  scratch);
    out += (size_t)split->kept_shape[columns] * tl_itemsize(r->result);
  }
  if (block != NULL)
    tl_free(r->vm, block, nbytes);
  return ok;
}

bool tl_reduce_strips(tl_reducer *r, const tl_strip *strip) {
  const tl_split *split = &r->split;
  bool direct =
      split->reduced <= 1 && r->from == r->dtype &&
      split->kept_strides[split->kept - 1] == (int64_t)tl_itemsize(r->from);
  bool done = false;
  if (direct && split->kept == 1 && split->reduced == 1 &&
      tl_reduce_may_spread(r)) {
    bool rows = strip->join != NULL && split->kept_shape[0] <= FEW_COLUMNS &&
                split->length >= 2 * PART_ROWS;
    bool ok =
        rows ? spread_rows(r, strip, &done) : spread_strips(r, strip, &done);
    if (!ok)
      return false;
  }
  return done || all_strips(r, strip, direct);
}
