// Reductions along the items of each result: one lane after the other, one long
// lane in parts, or many rows at a time; on several threads where that pays.
// Results have the bits of one thread: parts of a lane are whole subtrees of
// the tree that folds it.
#include <math.h>

#include "vm/engine/reduce_internal.h"

// A pool that is eager spreads anything: tests run small arrays on many threads
// by it.
bool tl_reduce_may_spread(const tl_reducer *r) {
  enum { SPREAD_ITEMS = 256 * 1024 };  // below, one thread does it all
  const tl_split *split = &r->split;
  return (split->count * split->length >= SPREAD_ITEMS || r->vm->pool.eager) &&
         split->length > 0 && split->count > 0 && tl_pool_threads(r->vm) > 1;
}

// --- Variances --------------------------------------------------------------

// A complex number is two real ones that are divided by the same.
void tl_reduce_divide(tl_dtype dtype, char *items, int64_t n, double by) {
  const bool single = dtype == TL_FLOAT32 || dtype == TL_COMPLEX64;
  const tl_dtype real = single ? TL_FLOAT32 : TL_FLOAT64;
  const float narrow = (float)by;
  if (by != 1)
    tl_kernels()->binary_vs[TL_OP_DIVIDE][real](
        items, items, single ? (const void *)&narrow : &by,
        (size_t)(tl_dtype_is_complex(dtype) ? 2 * n : n));
}

// The root in the items' own precision.
void tl_reduce_end_squares(tl_dtype real, char *items, int64_t n,
                           double divisor, bool root) {
  tl_reduce_divide(real, items, n, divisor);
  if (root)
    tl_kernels()->unary[TL_OP_SQRT][real](items, items, (size_t)n);
}

// Without the test a divisor of 0 or below would give infinite or negative
// variances.
double tl_reduce_divisor(int64_t length, double correction) {
  const double divisor = (double)length - correction;
  return divisor > 0 ? divisor : (double)NAN;
}

// Lengths are of sums that are not divided.
double tl_reducer_divisor(const tl_reducer *r, int64_t length) {
  return r->about_zero ? 1 : tl_reduce_divisor(length, r->correction);
}

enum { VARIED_ROWS = 64, VARIED_ITEMS = 2048 };  // together

// Sums of rows of any lengths become their means, or variances.
static void divide_each(const tl_reducer *r, const tl_rows *rows, char *items,
                        bool squares) {
  float *narrow = (float *)(void *)items;
  double *wide = (double *)(void *)items;
  const bool root = squares && r->root;
  for (int64_t i = 0; i < rows->n; i++) {
    const int64_t n = rows->at[i + 1] - rows->at[i];
    const double by = squares ? tl_reduce_divisor(n, r->correction) : (double)n;
    if (r->dtype == TL_FLOAT64)
      wide[i] = root ? sqrt(wide[i] / by) : wide[i] / by;
    else
      narrow[i] = root ? sqrtf(narrow[i] / (float)by) : narrow[i] / (float)by;
  }
}

// Variances of up to VARIED_ROWS rows: their means, then the sums of squares.
// Rows of different lengths have floats.
static void vary_some(const tl_reducer *r, const tl_rows *rows, char *out) {
  _Alignas(64) char means[VARIED_ROWS * sizeof(tl_c128)];
  if (r->about_zero)
    memset(means, 0, sizeof means);
  else
    tl_rows_fold(&r->method, rows, NULL, means);
  if (rows->at != NULL)
    divide_each(r, rows, means, false);
  else
    tl_reduce_divide(r->dtype, means, rows->n, (double)rows->length);
  tl_rows_fold(&r->squares, rows, means, out);
  if (rows->at != NULL)
    divide_each(r, rows, out, true);
  else
    tl_reduce_end_squares(r->result, out, rows->n,
                          tl_reducer_divisor(r, rows->length), r->root);
}

// Both passes use the kernel of segments, one of sums and one of squares.
bool tl_var_rows_fit(tl_dtype dtype) {
  return (dtype == TL_FLOAT32 || dtype == TL_FLOAT64) &&
         tl_kernels()->fold_segments[TL_FOLD_SUM][dtype] != NULL;
}

// As many rows together as have VARIED_ITEMS items, but at least one: a longer
// row than that goes by itself.
bool tl_var_rows(tl_vm *vm, const tl_array *items, const int64_t *at,
                 int64_t rows, double correction, bool root, tl_array *to) {
  const tl_dtype dtype = tl_array_dtype(items);
  tl_reducer r = {
      .dtype = dtype, .result = dtype, .correction = correction, .root = root};
  tl_method_choose(&r.method, TL_REDUCE_SUM, dtype);
  tl_method_of_squares(&r.squares, dtype);
  char *out = to->data;
  for (int64_t i = 0, n; i < rows; i += n) {
    n = 1;
    while (n < VARIED_ROWS && i + n < rows &&
           at[i + n + 1] - at[i] <= VARIED_ITEMS)
      n++;
    const tl_rows some = {items->data, at + i, 0, n, items->size, 0};
    vary_some(&r, &some, out);
    out += (size_t)n * tl_itemsize(dtype);
    // Two passes are twice the work of a sum.
    if (!tl_poll(vm, (uint64_t)(at[i + n] - at[i]) / 512 + 1))
      return false;
  }
  return true;
}

// --- One result -------------------------------------------------------------

// Folds all items by a method, once for each pass over them; false where the VM
// was stopped. [mean]: an item of the dtype where squares are folded, else
// NULL.
typedef bool pass_fn(const void *context, const tl_method *method,
                     const void *mean, void *out);

// Variances take two passes, the second with the mean of the first: the sum of
// squares less the square of the sum would lose all digits where the mean is
// large.
static bool make_result(const tl_reducer *r, pass_fn *pass, const void *context,
                        void *out) {
  tl_c128 mean = {0, 0};
  if (!r->about_zero) {
    if (!pass(context, &r->method, NULL, r->varies ? &mean : out))
      return false;
    if (!r->varies)
      return true;
    tl_reduce_divide(r->dtype, (char *)&mean, 1, (double)r->split.length);
  }
  if (!pass(context, &r->squares, &mean, out))
    return false;
  tl_reduce_end_squares(r->result, out, 1,
                        tl_reducer_divisor(r, r->split.length), r->root);
  return true;
}

// A tl_lane_fn for a consumer.
static bool take_piece(void *consumer, const void *items, size_t n) {
  tl_consumer_take(consumer, items, n);
  return !tl_consumer_is_settled(consumer);
}

// --- One lane in parts ------------------------------------------------------

// A long lane of one axis, by a plan: threads take parts of it, as they do of
// what a fused region folds, so that the bits are the same for any number of
// them.
static bool pass_parts(const void *context, const tl_method *method,
                       const void *mean, void *out) {
  const tl_reducer *r = context;
  const tl_split *split = &r->split;
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  tl_row_stream stream;
  tl_consumer parts[TL_STREAM_PARTS];
  tl_plan_open(&plan, &room, 1, split->reduced_shape);
  const int items = tl_plan_stream(
      &plan, split->array->data, tl_itemsize(r->from), split->reduced_strides);
  tl_plan_arrange(&plan, -1);
  plan.consume = tl_row_stream_take;
  plan.context = &stream;
  tl_plan_finish_one(&plan, tl_plan_cast(&plan, items, r->from, r->dtype));
  tl_row_stream_open(&stream, method, 1, split->length, mean, out);
  plan.split = tl_row_stream_split(&stream, r->vm, parts);
  if (!tl_plan_run(r->vm, &plan, true))
    return false;
  tl_row_stream_close(&stream);
  return true;
}

// --- Lanes, one after the other ----------------------------------------------

typedef struct lane_pass {
  tl_vm *vm;  // NULL: a worker's
  tl_lane lane;
} lane_pass;

// One pass over one lane, for make_result.
static bool pass_lane(const void *context, const tl_method *method,
                      const void *mean, void *out) {
  const lane_pass *p = context;
  tl_consumer c;  // large: not cleared
  tl_consumer_begin(&c, method, mean);
  if (!tl_lane_walk(p->vm, &p->lane, take_piece, &c))
    return false;
  tl_consumer_end(&c, out);
  return true;
}

// Results of an array, or of a part of it: one for each of [n] rows whose first
// items are [step] bytes apart, to [out].
typedef struct results {
  const tl_reducer *r;
  tl_vm *vm;  // NULL: a worker's, which polls nothing
  const char *base;
  int64_t step, n;
  char *out;
  bool multi;               // rows are folded several at a time
  const tl_row_tile *tile;  // NULL: they are read as they lie
} results;

// Lane by lane. With a tile the rows are copied into it some at a time, and a
// lane is then a row of the tile, dense and one axis.
static bool fold_lanes(const results *s) {
  const tl_reducer *r = s->r;
  const tl_split *split = &r->split;
  const tl_row_tile *tile = s->tile;
  const int64_t itemsize = (int64_t)tl_itemsize(r->from);
  char *out = s->out;
  lane_pass p = {s->vm,
                 {s->base, split->reduced, split->reduced_shape,
                  split->reduced_strides, r->from, r->dtype}};
  if (tile != NULL) {
    p.lane.shape = &tile->length;
    p.lane.strides = &itemsize;
  }
  for (int64_t i = 0; i < s->n; i++, out += tl_itemsize(r->result)) {
    p.lane.base = s->base + i * s->step;
    if (tile != NULL) {
      // A tile is filled when the first of its rows is reached.
      const int64_t at = i % tile->rows, left = s->n - i;
      if (at == 0)
        tl_row_tile_fill(tile, p.lane.base, s->step, split->reduced_strides[0],
                         left < tile->rows ? left : tile->rows);
      p.lane.base = tile->items + at * tile->row;
    }
    if (!make_result(r, pass_lane, &p, out))
      return false;
  }
  return true;
}

// --- Many rows at a time ----------------------------------------------------

enum { TILE_ITEMS = 2048, SIDE_BY_SIDE = 8, DENSE_ITEMS = 64 * 1024 };

// The rows of one position of the outer axes.
static int64_t rows_of(const tl_split *split) {
  return split->kept == 0 ? 1 : split->kept_shape[split->kept - 1];
}

// Whether each row begins where the one before it ends.
static bool is_dense(const tl_reducer *r) {
  const tl_split *split = &r->split;
  const int64_t itemsize = (int64_t)tl_itemsize(r->from);
  return r->from == r->dtype && split->reduced == 1 &&
         split->reduced_strides[0] == itemsize &&
         (rows_of(split) == 1 ||
          split->kept_strides[split->kept - 1] == split->length * itemsize);
}

// Whether kernels of several rows may take them: enough rows, of few items.
static bool has_rows(const tl_reducer *r) {
  const tl_split *split = &r->split;
  // Of a variance SIDE_BY_SIDE rows have to fit the buffer of their squares.
  const int64_t most = r->varies ? TILE_ITEMS / SIDE_BY_SIDE : TL_FOLD_LEAF;
  // The kernel of short rows pays from the first row on; those of rows of any
  // lengths take SIDE_BY_SIDE rows together.
  const int64_t least =
      r->method.sum_rows != NULL && split->length <= TL_SHORT_ROW
          ? 1
          : SIDE_BY_SIDE;
  if (split->reduced < 1 || split->length < 1 || split->length > most ||
      rows_of(split) < least || tl_dtype_is_complex(r->from) ||
      tl_dtype_is_complex(r->dtype))
    return false;
  // Rows with gaps are packed, and SIDE_BY_SIDE of them have to fit a tile.
  return split->length <= TILE_ITEMS / SIDE_BY_SIDE || is_dense(r);
}

void tl_reduce_rows(const tl_reducer *r, const tl_rows *rows, char *out) {
  if (!r->varies) {
    tl_rows_fold(&r->method, rows, NULL, out);
    return;
  }
  tl_rows some = *rows;
  for (int64_t left = rows->n; left > 0; left -= some.n) {
    some.n = left < VARIED_ROWS ? left : VARIED_ROWS;
    vary_some(r, &some, out);
    out += (size_t)some.n * tl_itemsize(r->result);
    some.items += (size_t)(some.n * some.length) * tl_itemsize(r->dtype);
    some.end -= some.n * some.length;
  }
}

typedef char tile[TILE_ITEMS * sizeof(uint64_t)];

// [n] rows from [at] on, put one behind the other in a tile: of several axes,
// for each position of those outside the last its items of all rows.
static const char *pack_rows(const results *s, const char *at, int64_t n,
                             tile packed, tile converted) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_reducer *r = s->r;
  const tl_split *split = &r->split;
  const int last = split->reduced - 1;
  const size_t length = (size_t)split->length, itemsize = tl_itemsize(r->from),
               inner = (size_t)split->reduced_shape[last];
  char *to = packed;
  tl_counter outer;
  tl_counter_begin(&outer, last, split->reduced_shape, split->reduced_strides,
                   at);
  for (; !outer.done; tl_counter_next(&outer), to += inner * itemsize)
    kernels->pack_tile[tl_move_size(itemsize)](
        to, (ptrdiff_t)(length * itemsize), outer.at, s->step,
        split->reduced_strides[last], (size_t)n, inner);
  if (r->from == r->dtype)
    return packed;
  kernels->cast[r->from][r->dtype](converted, packed, (size_t)n * length);
  return converted;
}

// Rows that have gaps, or another dtype, through buffers on the stack.
static void fold_packed(const results *s, const char *at, int64_t n,
                        char *out) {
  _Alignas(64) tile packed;
  _Alignas(64) tile converted;
  const int64_t length = s->r->split.length;
  const tl_rows rows = {
      pack_rows(s, at, n, packed, converted), NULL, length, n, n * length, 0};
  tl_reduce_rows(s->r, &rows, out);
}

// Three ways for the same rows: as they lie, transposed in tiles, or packed.
// DENSE_ITEMS at a time where nothing is copied, which only bounds the time
// between polls.
static bool fold_rows(const results *s) {
  const tl_reducer *r = s->r;
  const int64_t length = r->split.length;
  const bool dense = is_dense(r);
  const bool transposes = !dense && !r->varies && r->split.reduced == 1 &&
                          r->from == r->dtype &&
                          tl_rows_transpose(&r->method, length);
  const int64_t most =
      (dense || transposes ? DENSE_ITEMS : TILE_ITEMS) / length;
  const char *at = s->base;
  char *out = s->out;
  for (int64_t left = s->n, n; left > 0; left -= n, at += n * s->step) {
    n = left < most ? left : most;
    if (dense) {
      const tl_rows rows = {at, NULL, length, n, left * length, 0};
      tl_reduce_rows(r, &rows, out);
    } else if (transposes) {
      tl_rows_fold_transposed(&r->method, at, length,
                              r->split.reduced_strides[0], n, s->step, out);
    } else {
      fold_packed(s, at, n, out);
    }
    out += (size_t)n * tl_itemsize(r->result);
    if (!tl_poll_items(s->vm, n * length))
      return false;
  }
  return true;
}

// --- All results ------------------------------------------------------------

enum { PARTS = 16 };  // of many results, for several threads

// The two ways of a part, be it the whole or a thread's.
static bool fold_results(const results *s) {
  return s->multi ? fold_rows(s) : fold_lanes(s);
}

typedef struct spread {
  const results *all;
  int64_t part;  // results
} spread;

// A thread's share of the results, with a tile of its own out of those that
// were made for all parts.
static void fold_part(void *context, int64_t part) {
  const spread *p = context;
  results s = *p->all;
  const int64_t from = part * p->part, left = s.n - from;
  tl_row_tile own;
  s.vm = NULL;
  s.base += from * s.step;
  s.out += (size_t)from * tl_itemsize(s.r->result);
  s.n = left < p->part ? left : p->part;
  if (s.tile != NULL) {
    own = *s.tile;
    own.items += (size_t)part * own.nbytes;
    s.tile = &own;
  }
  fold_results(&s);
}

// Parts of rows are multiples of 8, as many as the kernels take together. There
// are as many as there are tiles.
static bool spread_results(tl_vm *vm, const results *s) {
  const int64_t length = s->r->split.length;
  const int64_t parts = s->tile != NULL ? s->tile->count : PARTS;
  spread p = {s, (s->n + parts - 1) / parts};
  if (s->multi && p.part * length < DENSE_ITEMS && !vm->pool.eager)
    p.part = (DENSE_ITEMS / length + 7) / 8 * 8;
  return tl_pool_spread(vm, (s->n + p.part - 1) / p.part, fold_part, &p,
                        (uint64_t)(p.part * length) / 1024);
}

// Those of each position of the outer axes.
static bool each_position(results *s) {
  const tl_split *split = &s->r->split;
  bool ok = true;
  if (split->kept <= 1)
    return fold_results(s);
  tl_counter counter;
  tl_counter_begin(&counter, split->kept - 1, split->kept_shape,
                   split->kept_strides, s->base);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    s->base = counter.at;
    ok = fold_results(s);
    s->out += (size_t)s->n * tl_itemsize(s->r->result);
  }
  return ok;
}

// Memory for tiles of rows is made once, here, as many as there are parts.
static bool all_results(tl_reducer *r, bool multi) {
  const tl_split *split = &r->split;
  const int last = split->kept - 1;
  const bool spreads = split->kept == 1 && tl_reduce_may_spread(r);
  results s = {.r = r,
               .vm = r->vm,
               .base = split->array->data,
               .step = last < 0 ? 0 : split->kept_strides[last],
               .n = last < 0 ? 1 : split->kept_shape[last],
               .out = r->out,
               .multi = multi};
  tl_row_tile tile;
  if (!multi && last >= 0 && split->reduced == 1 &&
      tl_row_tile_open(r->vm, &tile, r->from, split->length, s.n, s.step,
                       split->reduced_strides[0], spreads ? PARTS : 1))
    s.tile = &tile;
  const bool ok = spreads ? spread_results(r->vm, &s) : each_position(&s);
  if (s.tile != NULL)
    tl_row_tile_close(r->vm, &tile);
  return ok;
}

// Either many results or parts of the only one: only one of the two can be
// spread over threads.
bool tl_reduce_along(tl_reducer *r) {
  TL_CHECK(r->split.count > 0);
  const tl_split *split = &r->split;
  const bool multi = has_rows(r);
  const bool parts = !multi && split->kept == 0 && split->reduced == 1 &&
                     tl_reduce_may_spread(r);
  return parts ? make_result(r, pass_parts, r, r->out) : all_results(r, multi);
}
