// Reductions of many rows at once, by kernels that take several side by side:
// rows as they lie in memory, or some at a time put one behind the other.
#include "vm/poll.h"
#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  PART_ITEMS = 64 * 1024,  // of a part, for threads and polls,
  PART_ROWS = 4096,        // or so many rows
  TILE_ITEMS = 2048,
};

static int64_t row_stride(const tl_split *split) {
  return split->kept == 0 ? 0 : split->kept_strides[0];
}

// Whether each row begins where the one before it ends.
static bool is_dense(const tl_reducer *r) {
  const tl_split *split = &r->split;
  const int64_t itemsize = (int64_t)tl_itemsize(r->from);
  return r->from == r->dtype && split->reduced_strides[0] == itemsize &&
         (split->count == 1 || row_stride(split) == split->length * itemsize);
}

bool tl_reduce_has_rows(const tl_reducer *r, int64_t least, int64_t most) {
  const tl_split *split = &r->split;
  if (split->kept > 1 || split->reduced != 1 || split->length < 1 ||
      split->length > most || split->count < least ||
      tl_dtype_is_complex(r->from) || tl_dtype_is_complex(r->dtype))
    return false;
  return split->length <= TILE_ITEMS / TL_SIDE_BY_SIDE || is_dense(r);
}

static const char *row_at(const tl_reducer *r, int64_t i) {
  return r->split.array->data + i * row_stride(&r->split);
}

void tl_reduce_dense(const tl_reducer *r, tl_dense_fold *fold,
                     const void *context, int64_t from, int64_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_split *split = &r->split;
  const size_t length = (size_t)split->length, itemsize = tl_itemsize(r->from);
  char *out = r->out + (size_t)from * tl_itemsize(r->result);
  if (is_dense(r)) {
    fold(r, context, row_at(r, from), n, split->count - from, out);
    return;
  }
  _Alignas(64) char tile[TILE_ITEMS * sizeof(uint64_t)];
  _Alignas(64) char converted[TILE_ITEMS * sizeof(uint64_t)];
  const int64_t most = TILE_ITEMS / split->length;
  for (int64_t end = from + n, rows; from < end; from += rows) {
    rows = end - from < most ? end - from : most;
    kernels->pack_tile[tl_move_size(itemsize)](
        tile, (ptrdiff_t)(length * itemsize), row_at(r, from),
        row_stride(split), split->reduced_strides[0], (size_t)rows, length);
    const bool converts = r->from != r->dtype;
    if (converts)
      kernels->cast[r->from][r->dtype](converted, tile, (size_t)rows * length);
    fold(r, context, converts ? converted : tile, rows, rows, out);
    out += (size_t)rows * tl_itemsize(r->result);
  }
}

void tl_reduce_turned(const tl_reducer *r, tl_tile_fold *fold,
                      const void *context, int64_t from, int64_t n) {
  _Alignas(64) char tile[TL_TURNED_ROWS * TL_SHORT_ROW * sizeof(uint64_t)];
  _Alignas(64) char converted[sizeof tile];
  const tl_kernel_table *kernels = tl_kernels();
  const tl_split *split = &r->split;
  const size_t itemsize = tl_itemsize(r->from), length = (size_t)split->length;
  char *out = r->out + (size_t)from * tl_itemsize(r->result);
  for (int64_t end = from + n, rows; from < end; from += rows) {
    rows = end - from < TL_TURNED_ROWS ? end - from : TL_TURNED_ROWS;
    kernels->pack_tile[tl_move_size(itemsize)](
        tile, (ptrdiff_t)((size_t)rows * itemsize), row_at(r, from),
        split->reduced_strides[0], row_stride(split), length, (size_t)rows);
    const bool converts = r->from != r->dtype;
    if (converts)
      kernels->cast[r->from][r->dtype](converted, tile, (size_t)rows * length);
    fold(r, context, out, converts ? converted : tile, (size_t)rows);
    out += (size_t)rows * tl_itemsize(r->result);
  }
}

void tl_reduce_even(tl_fold_spans *spans, const char *items, int64_t length,
                    int64_t n, int64_t readable, size_t itemsize, char *out, size_t step) {
  enum { SOME = 64 };
  int64_t at[SOME + 1];
  for (int64_t i = 0; i <= SOME; i++) at[i] = i * length;
  for (int64_t from = 0; from < n; from += SOME) {
    int64_t rows = n - from < SOME ? n - from : SOME;
    // Offsets count from the first of these rows on.
    spans(out, items, 0, (readable - from) * length, at, (size_t)rows);
    out += (size_t)rows * step;
    items += (size_t)(SOME * length) * itemsize;
  }
}

// --- All of them --------------------------------------------------------------

typedef struct row_spread {
  const tl_reducer *r;
  tl_rows_fold *fold;
  const void *context;
  int64_t rows;  // of a part
} row_spread;

static void fold_rows(void *context, int64_t part) {
  const row_spread *s = context;
  int64_t from = part * s->rows, left = s->r->split.count - from;
  s->fold(s->r, s->context, from, left < s->rows ? left : s->rows);
}

bool tl_reduce_rows(tl_reducer *r, tl_rows_fold *fold, const void *context) {
  const tl_split *split = &r->split;
  row_spread s = {r, fold, context, PART_ROWS};
  if (split->length > PART_ITEMS / PART_ROWS)
    s.rows = (PART_ITEMS / split->length + 7) / 8 * 8;
  int64_t parts = (split->count + s.rows - 1) / s.rows;
  uint64_t cost = (uint64_t)(s.rows * split->length) / 1024;
  if (parts > 1 && tl_reduce_may_spread(r))
    return tl_pool_spread(r->vm, parts, fold_rows, &s, cost);
  for (int64_t i = 0; i < parts; i++) {
    fold_rows(&s, i);
    if (!tl_poll(r->vm, cost))
      return false;
  }
  return true;
}
