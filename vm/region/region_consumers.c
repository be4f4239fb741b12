// The consumers of several results: see region_consumers.h.
//
// Built for size.
#include "vm/region/region_consumers.h"

#include <string.h>

// --- Columns ----------------------------------------------------------------

// As in region_fold.c; what waits may be a quarter of the array that is saved.
enum {
  CHUNK_BYTES = 128 * 1024,
  PART_OF = 4,  // of what is computed, that may wait
};

// Axes in order are those before, the reduced ones, and those behind:
//
//   shape 2 * 3 * 4, axis 1 reduced      count 2, length 3, width 4
//   shape 2 * 3 * 4, axes 1 and 2        count 2, length 12, width 1
//   shape 2 * 3 * 4, axes 0 and 2        false
bool tl_measure_reduced(int ndim, const int64_t *shape, uint32_t axes,
                        tl_reduced *out) {
  *out = (tl_reduced){1, 1, 1};
  for (int i = 0; i < ndim; i++) {
    bool reduced = (axes >> i & 1) != 0;
    if (shape[i] == 1)
      continue;
    if (reduced && out->width > 1)
      return false;
    *(reduced           ? &out->length
      : out->length > 1 ? &out->width
                        : &out->count) *= shape[i];
  }
  return true;
}

// Memory that is more than a part of what would be an array is not worth it,
// unless it is little.
bool tl_columns_open(tl_column_feeder *c, const tl_reducer *r,
                     const tl_reduced *reduced) {
  if (!tl_column_stream_fits(&r->method))
    return false;
  c->width = reduced->width;
  c->length = reduced->length;
  tl_column_stream_open(&c->fold, &r->method, c->width, c->length, CHUNK_BYTES);
  size_t all = (size_t)reduced->count * (size_t)c->length * (size_t)c->width *
               r->method.in;
  if ((c->fold.nbytes > 2 * CHUNK_BYTES && c->fold.nbytes > all / PART_OF) ||
      !tl_column_stream_alloc(&c->fold, r->vm))
    return false;
  c->to = r->out;
  c->filled = 0;
  tl_column_stream_begin(&c->fold, c->to);
  return true;
}

// The results stand in r->out; only the stream's memory goes.
void tl_columns_close(tl_column_feeder *c, tl_vm *vm) {
  tl_column_stream_free(&c->fold, vm);
}

// After the last chunk of a position its results are complete, and the next
// position's begin behind them.
static void take_chunk(tl_column_feeder *c) {
  tl_column_stream_take(&c->fold, c->fold.items, c->filled / c->width,
                        c->width);
  c->filled = 0;
  if (c->fold.at < c->length)
    return;
  tl_column_stream_end(&c->fold, c->width);
  c->to += (size_t)c->width * c->fold.method->out;
  tl_column_stream_begin(&c->fold, c->to);
}

// Blocks end anywhere, chunks only at rows: items are copied until a chunk is
// full.
static void feed_columns(void *context, const void *const *blocks, size_t n) {
  tl_column_feeder *c = context;
  const char *at = blocks[0];
  while (n > 0) {
    int64_t left = c->length - c->fold.at;
    int64_t chunk = (left < c->fold.rows ? left : c->fold.rows) * c->width;
    size_t take =
        (int64_t)n < chunk - c->filled ? n : (size_t)(chunk - c->filled);
    memcpy(c->fold.items + (size_t)c->filled * c->fold.method->in, at,
           take * c->fold.method->in);
    at += take * c->fold.method->in;
    n -= take;
    c->filled += (int64_t)take;
    if (c->filled == chunk)
      take_chunk(c);
  }
}

// --- All together -----------------------------------------------------------

// All of them as one consumer of the plan.
typedef struct consumers {
  int count;
  tl_plan_consume *feed[TL_REGION_RESULTS];
  void *context[TL_REGION_RESULTS];
  void *(*begin[TL_REGION_RESULTS])(void *context, int64_t first, void *local);
} consumers;

// Result [i] of the plan is consumer [i]'s only block.
static void feed_all(void *context, const void *const *items, size_t n) {
  const consumers *all = context;
  for (int i = 0; i < all->count; i++)
    all->feed[i](all->context[i], &items[i], n);
}

_Static_assert(sizeof(consumers) <= TL_CONSUMER_BYTES,
               "consumers fit a part's memory");

// Each consumer's own part begins in its share of [local], behind this one.
static void *begin_all(void *context, int64_t first, void *local) {
  const consumers *all = context;
  consumers *own = local;
  *own = *all;
  for (int i = 0; i < all->count; i++)
    own->context[i] = all->begin[i](
        all->context[i], first, (char *)local + (i + 1) * TL_CONSUMER_BYTES);
  return own;
}

// How threads may share the reductions; false: they may not. [parts] has room
// for each one's, or is NULL.
// Rows alone can be shared: columns and running folds take their items in
// order.
static bool split_all(tl_vm *vm, tl_result_consumer **from, int count,
                      consumers *all, tl_consumer *parts,
                      tl_plan_split *split) {
  for (int i = 0; i < count; i++) {
    const tl_plan_split *one =
        from[i]->kind != TL_CONSUMES_ROWS
            ? NULL
            : tl_row_stream_split(
                  &from[i]->lanes, vm,
                  parts == NULL ? NULL : parts + i * TL_STREAM_PARTS);
    // A part of one is a part of the others.
    if (one == NULL || (i > 0 && one->items != split->items))
      return false;
    *split = *one;
    all->begin[i] = one->begin;
  }
  split->begin = begin_all;
  return count > 0;
}

// Parts of a single result need memory of their own, those of many results
// none.
static bool is_single(tl_result_consumer **from, int count) {
  for (int i = 0; i < count; i++)
    if (from[i]->kind != TL_CONSUMES_ROWS || from[i]->lanes.count != 1)
      return false;
  return true;
}

// How each kind takes items.
static void open_all(tl_result_consumer **from, int count, consumers *all) {
  all->count = count;
  for (int i = 0; i < count; i++) {
    switch (from[i]->kind) {
      case TL_CONSUMES_COLUMNS:
        all->feed[i] = feed_columns;
        all->context[i] = &from[i]->columns;
        break;
      case TL_CONSUMES_RUNNING:
        all->feed[i] = tl_scanner_take;
        all->context[i] = &from[i]->running;
        break;
      default:
        all->feed[i] = tl_row_stream_take;
        all->context[i] = &from[i]->lanes;
    }
  }
}

// Without memory for parts one thread does it. Columns are closed by the
// caller, which has opened them.
bool tl_run_consumers(tl_vm *vm, tl_plan *plan, tl_result_consumer **from,
                      int count, bool may_stop) {
  consumers all;
  tl_plan_split split = {0};
  open_all(from, count, &all);
  size_t nbytes = (size_t)count * TL_STREAM_PARTS * sizeof(tl_consumer);
  tl_consumer *parts = NULL;
  if (is_single(from, count) && tl_pool_threads(vm) > 1)
    parts = tl_spare_alloc(vm, nbytes);
  plan->consume = feed_all;
  plan->context = &all;
  plan->split = split_all(vm, from, count, &all, parts, &split) ? &split : NULL;
  bool ok = tl_plan_run(vm, plan, may_stop);
  for (int i = 0; ok && i < count; i++)
    if (from[i]->kind == TL_CONSUMES_ROWS)
      tl_row_stream_close(&from[i]->lanes);
  if (parts != NULL)
    tl_spare_free(vm, parts, nbytes);
  return ok;
}
