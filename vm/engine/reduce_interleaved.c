// Sums and products of lanes that lie side by side in memory, as the rows of a
// transposed matrix do: in the order of a lane's own fold
// (vm/kernels/reduce.c), but with an item of each of many lanes at a time, so
// that memory is read in order.
//
//   row 0   a0 b0 c0 …  ─▶  accumulator 0 ─┐
//   row 1   a1 b1 c1 …  ─▶  accumulator 1 ─┼─▶ leaves ─▶ nodes ─▶ a b c …
//   …                                      ┘
//
// Built for size.

#include "vm/engine/reduce_internal.h"
#include "vm/kernels/prefetch.h"

enum {
  // With BLOCK_BYTES of lanes all accumulators are 64 KiB, for the second
  // cache. Fewer than LEAST_LANES of float32 do not fill a cache line. LEVELS
  // nodes wait at most, one for each bit of the number of leaves.
  BLOCK_BYTES = 2048,
  LEAST_LANES = 16,
  LEVELS = 64,
  ROWS_AHEAD = 2,
  LINE_BYTES = 64,
};

// Worth it from some lanes on, where the lanes' items are neighbours and those
// of one lane are not. Short real lanes go as rows instead, and complex
// products have an order of their own. Narrow integers are summed in wider ones
// than their own operation.
bool tl_reduce_is_interleaved(const tl_reducer *r) {
  const tl_split *s = &r->split;
  const tl_fold fold = r->method.fold;
  if (s->kept == 0 || s->reduced == 0 || s->length == 0)
    return false;
  const bool is_product = fold == TL_FOLD_PROD && tl_dtype_is_real(r->dtype);
  // Short lanes are rows, of which many go at a time.
  const bool is_rows = s->kept == 1 && s->reduced == 1 &&
                       s->length <= TL_SHORT_ROW && tl_dtype_is_real(r->dtype);
  if ((fold != TL_FOLD_SUM && !is_product) || r->varies || is_rows ||
      tl_fold_result(fold, r->dtype) != r->dtype ||
      s->kept_shape[s->kept - 1] < LEAST_LANES)
    return false;
  return s->kept_strides[s->kept - 1] == (int64_t)tl_itemsize(r->from) &&
         s->reduced_strides[s->reduced - 1] != (int64_t)tl_itemsize(r->from);
}

// The folds of [width] lanes under way, each a row of as many items. Leaves and
// nodes wait as results of runs of rows do, also where the method has no join:
// [method] is the reducer's with one.
typedef struct interleaved {
  tl_method method;
  tl_column_join waiting;
  tl_kernel1 *fill;
  _Alignas(16) char unit[sizeof(tl_c128)];  // changes nothing
  tl_kernel1 *cast;                         // NULL: none
  size_t width, nbytes;
  uint64_t count;  // items of each lane
  char *lanes;     // TL_FOLD_LANES rows, then one for what is cast
  char *partial;   // rows of what waits
} interleaved;

// One operation for each of the lanes side by side.
static void join_row(const interleaved *u, char *to, const char *from) {
  u->method.join(to, to, from, u->width);
}

// Halves, then quarters, as the end of a leaf folds its accumulators; the
// result is in the first row.
static char *fold_lanes(const interleaved *u) {
  for (size_t half = TL_FOLD_LANES / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; k++)
      join_row(u, u->lanes + k * u->nbytes, u->lanes + (k + half) * u->nbytes);
  return u->lanes;
}

// A leaf's result goes behind those that wait.
static void push_leaf(interleaved *u) {
  char *row = u->partial + (size_t)u->waiting.count * u->nbytes;
  memcpy(row, fold_lanes(u), u->nbytes);
  tl_column_join_push(&u->waiting, row);
}

// Row number [used] of a leaf goes to accumulator used % TL_FOLD_LANES, as
// items of one lane do in reduce.c's kernels.
static void feed_row(interleaved *u, const char *row) {
  size_t used = u->count % TL_FOLD_LEAF;
  if (used == 0)
    u->fill(u->lanes, u->unit, TL_FOLD_LANES * u->width);
  if (u->cast != NULL) {
    char *to = u->lanes + TL_FOLD_LANES * u->nbytes;
    u->cast(to, row, u->width);
    row = to;
  }
  join_row(u, u->lanes + used % TL_FOLD_LANES * u->nbytes, row);
  u->count++;
  if (used + 1 == TL_FOLD_LEAF)
    push_leaf(u);
}

// Rows lie too far apart for the processor to see what comes next.
static void prefetch_row(const interleaved *u, uintptr_t row) {
  for (size_t at = 0; at < u->nbytes; at += LINE_BYTES)
    tl_prefetch((const void *)row, at);
}

// The folds of [width] lanes from [base] on.
static bool fold_interleaved(tl_reducer *r, interleaved *u, const char *base,
                             char *out) {
  const tl_split *s = &r->split;
  u->count = 0;
  u->waiting = (tl_column_join){.method = &u->method, .ncols = u->width};
  tl_counter counter;
  tl_counter_begin(&counter, s->reduced, s->reduced_shape, s->reduced_strides,
                   base);
  // As a number: behind the last rows the place lies outside of the array.
  const uintptr_t ahead =
      (uintptr_t)s->reduced_strides[s->reduced - 1] * ROWS_AHEAD;
  for (; !counter.done; tl_counter_next(&counter)) {
    prefetch_row(u, (uintptr_t)counter.at + ahead);
    feed_row(u, counter.at);
    if (!tl_poll_items(r->vm, (int64_t)u->width))
      return false;
  }
  if (u->count % TL_FOLD_LEAF != 0)  // the last leaf may be short
    push_leaf(u);
  memcpy(out, tl_column_join_end(&u->waiting), u->nbytes);
  return true;
}

// Columns go BLOCK_BYTES at a time: accumulators of that many columns and the
// rows that wait stay in cache, while each row is still read in long runs.
bool tl_reduce_interleaved(tl_reducer *r) {
  TL_CHECK(tl_reduce_is_interleaved(r));
  const tl_split *s = &r->split;
  int last = s->kept - 1;
  size_t itemsize = tl_itemsize(r->dtype), most = BLOCK_BYTES / itemsize;
  size_t nbytes = (TL_FOLD_LANES + 1 + LEVELS) * (size_t)BLOCK_BYTES;
  char *block = tl_alloc(r->vm, nbytes, "folds side by side");
  if (block == NULL)
    return false;
  const tl_kernel_table *kernels = tl_kernels();
  const bool is_product = r->method.fold == TL_FOLD_PROD;
  interleaved u = {
      .method = r->method,
      .fill = kernels->fill[tl_move_size(itemsize)],
      .cast = r->from == r->dtype ? NULL : kernels->cast[r->from][r->dtype],
      .lanes = block,
      .partial = block + (TL_FOLD_LANES + 1) * (size_t)BLOCK_BYTES};
  u.method.join =
      kernels->binary[is_product ? TL_OP_MULTIPLY : TL_OP_ADD][r->dtype];
  // The unit of a product is 1 in the lanes' dtype; that of a sum is zeros.
  if (is_product)
    kernels->cast[TL_BOOL][r->dtype](u.unit, &is_product, 1);
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, last, s->kept_shape, s->kept_strides,
                   s->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    size_t left = (size_t)s->kept_shape[last];
    for (const char *at = counter.at; ok && left > 0;
         at += u.width * tl_itemsize(r->from)) {
      u.width = left < most ? left : most;
      u.nbytes = u.width * itemsize;
      ok = fold_interleaved(r, &u, at, out);
      out += u.nbytes;
      left -= u.width;
    }
  }
  tl_free(r->vm, block, nbytes);
  return ok;
}
