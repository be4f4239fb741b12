// Reductions of lanes that are computed one after the other: see
// region_lanes.h.
#include "vm/region/region_lanes.h"

#include <string.h>

#include "vm/vm.h"

enum { SQUARES = 256 };  // items at a time

// Items of one result, or the squares of their deviations.
static void feed_items(tl_lane_feeder *f, const char *items, size_t n) {
  if (f->mean == NULL) {
    f->feed(&f->state, items, n);
    return;
  }
  _Alignas(64) char squares[SQUARES * sizeof(double)];
  for (size_t at = 0; at < n; at += SQUARES) {
    size_t count = n - at < SQUARES ? n - at : SQUARES;
    f->squares(squares, items + at * f->in, f->mean, count);
    f->feed(&f->state, squares, count);
  }
}

// Whole results from so many items of each, one behind the other.
static void fold_rows(tl_lane_feeder *f, const char *items, size_t count) {
  if (f->rows != NULL)
    f->rows(f->to, items, count, (size_t)f->length);
  else
    tl_reduce_even(f->spans, items, f->length, (int64_t)count, (int64_t)count,
                   f->in, f->to, f->out);
  f->to += count * f->out;
}

static void fold_squares(tl_lane_feeder *f, const char *items, size_t count) {
  _Alignas(64) char squares[SQUARES * sizeof(double)];
  const size_t length = (size_t)f->length, row = length * f->in;
  const size_t most = SQUARES / length;
  for (size_t rows; count > 0; count -= rows, items += rows * row) {
    rows = count < most ? count : most;
    for (size_t i = 0; i < rows; i++, f->mean += f->in)
      f->squares(squares + i * row, items + i * row, f->mean, length);
    fold_rows(f, squares, rows);
  }
}

// Rows of which a block has several: those that lie in it, and what is cut by
// its ends when it has come together.
static void feed_rows(tl_lane_feeder *f, const char *at, size_t n) {
  const size_t length = (size_t)f->length;
  while (n > 0) {
    size_t missing = (size_t)f->left, take = n < missing ? n : missing;
    const char *rows = at;
    if (missing == length && n >= length) {
      take = n - n % length;
    } else {
      memcpy(f->cut + (length - missing) * f->in, at, take * f->in);
      rows = f->cut;
    }
    at += take * f->in;
    n -= take;
    if (take < missing) {
      f->left -= (int64_t)take;
      return;
    }
    f->left = f->length;
    const size_t count = rows == f->cut ? 1 : take / length;
    if (f->mean != NULL)
      fold_squares(f, rows, count);
    else
      fold_rows(f, rows, count);
  }
}

static void feed(void *context, const void *const *blocks, size_t n) {
  tl_lane_feeder *f = context;
  const char *at = blocks[0];
  if (f->rows != NULL || f->spans != NULL) {
    feed_rows(f, at, n);
    return;
  }
  while (n > 0) {
    size_t take = (int64_t)n < f->left ? n : (size_t)f->left;
    feed_items(f, at, take);
    at += take * f->in;
    n -= take;
    f->left -= (int64_t)take;
    if (f->left > 0)
      break;
    f->end(&f->state, f->to);
    f->to += f->out;
    if (f->mean != NULL)
      f->mean += f->in;
    f->left = f->length;
    tl_fold_begin(&f->state);
  }
}

static void search(void *context, const void *const *blocks, size_t n) {
  tl_lane_searcher *s = context;
  const char *at = blocks[0];
  while (n > 0) {
    int64_t left = s->length - s->search.at;
    size_t take = (int64_t)n < left ? n : (size_t)left;
    tl_arg_feed(&s->search, at, take);
    at += take * s->search.itemsize;
    n -= take;
    if ((int64_t)take < left)
      break;
    *s->to++ = s->search.best;
    tl_arg_begin(&s->search, s->dtype, s->largest);
  }
}

// Threads: each takes whole results, with a fold of its own.
static void *begin_results(void *context, int64_t first, void *local) {
  const tl_lane_feeder *main = context;
  tl_lane_feeder *own = local;
  own->feed = main->feed;
  own->end = main->end;
  own->rows = main->rows;
  own->spans = main->spans;
  own->in = main->in;
  own->out = main->out;
  own->length = own->left = main->length;
  own->to = main->from + (size_t)(first / main->length) * main->out;
  own->squares = main->squares;
  own->mean = main->means == NULL
                  ? NULL
                  : main->means + (size_t)(first / main->length) * main->in;
  tl_fold_begin(&own->state);
  return own;
}

static void *begin_searches(void *context, int64_t first, void *local) {
  const tl_lane_searcher *main = context;
  tl_lane_searcher *own = local;
  *own = *main;
  own->to = main->from + first / main->length;
  tl_arg_begin(&own->search, own->dtype, own->largest);
  return own;
}

_Static_assert(sizeof(tl_lane_feeder) <= TL_SINK_BYTES,
               "a fold fits a part's memory");

// A single result: parts of a power of two of items are folded apart, and
// merged in order.
enum { PART_ITEMS = 16 * 1024 };

static void *begin_part(void *context, int64_t first, void *local) {
  (void)local;
  const tl_lane_feeder *main = context;
  return &main->parts[first / main->part_items];
}

static void open_parts(tl_laned *lanes, tl_lane_feeder *parts, int64_t items) {
  tl_lane_feeder *all = &lanes->feeder;
  for (size_t i = 0; i < lanes->part_count; i++) {
    parts[i].feed = all->feed;
    parts[i].rows = NULL;
    parts[i].spans = NULL;
    parts[i].in = all->in;
    parts[i].mean = all->mean;
    parts[i].squares = all->squares;
    parts[i].left = items + 1;
    tl_fold_begin(&parts[i].state);
  }
  all->parts = parts;
  all->part_items = items;
}

const tl_plan_split *tl_laned_split(tl_laned *lanes, tl_lane_feeder *parts) {
  tl_vm *vm = lanes->vm;
  if (lanes->count > 1) {
    lanes->split = (tl_plan_split){
        lanes->length, false, lanes->searches ? begin_searches : begin_results};
    return &lanes->split;
  }
  if (lanes->searches || parts == NULL || tl_pool_threads(vm) <= 1)
    return NULL;
  int64_t items = vm->pool.eager ? TL_FOLD_LEAF : PART_ITEMS;
  while (items * TL_LANE_PARTS < lanes->length) items *= 2;
  if (items >= lanes->length)
    return NULL;
  lanes->part_count = (size_t)((lanes->length + items - 1) / items);
  lanes->split = (tl_plan_split){items, true, begin_part};
  open_parts(lanes, parts, items);
  return &lanes->split;
}

// --- The whole --------------------------------------------------------------

static void open_feeder(tl_laned *lanes, const tl_reducer *r,
                        const char *means) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_lane_feeder *f = &lanes->feeder;
  tl_fold fold = lanes->fold;
  f->feed = kernels->fold_feed[fold][lanes->dtype];
  f->end = kernels->fold_end[fold][lanes->dtype];
  f->in = tl_itemsize(r->dtype);
  f->out = tl_itemsize(tl_fold_result(fold, lanes->dtype));
  f->mean = f->means = means;
  f->squares = kernels->square_deviation[r->dtype];
  const bool some = lanes->count > 1 && lanes->length <= SQUARES &&
                    (size_t)lanes->length * f->in <= sizeof f->cut;
  const bool sums = fold == TL_FOLD_SUM && lanes->length <= TL_SHORT_ROW;
  f->rows = some && sums ? kernels->sum_rows[lanes->dtype] : NULL;
  f->spans = some ? kernels->fold_spans[fold][lanes->dtype] : NULL;
  f->length = f->left = lanes->length;
  if (lanes->count == 1)
    f->left = lanes->length + 1;  // ended in tl_laned_close
  f->from = f->to = r->out;
  tl_fold_begin(&f->state);
}

static void open_searcher(tl_laned *lanes, const tl_reducer *r, bool largest) {
  tl_lane_searcher *s = &lanes->searcher;
  s->dtype = r->dtype;
  s->largest = largest;
  s->length = lanes->length;
  s->from = s->to = (int64_t *)(void *)r->out;
  tl_arg_begin(&s->search, s->dtype, s->largest);
}

void tl_laned_open(tl_laned *lanes, const tl_reducer *r, tl_reduction reduction,
                   int64_t count, int64_t length, const char *means) {
  lanes->vm = r->vm;
  lanes->count = count;
  lanes->length = length;
  lanes->fold = tl_reduction_fold(reduction);
  lanes->dtype = means != NULL ? r->result : r->dtype;
  lanes->part_count = 0;
  lanes->searches =
      reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX;
  if (lanes->searches) {
    open_searcher(lanes, r, reduction == TL_REDUCE_ARGMAX);
  } else {
    open_feeder(lanes, r, means);
  }
}

tl_plan_sink *tl_laned_sink(const tl_laned *lanes) {
  return lanes->searches ? search : feed;
}

void *tl_laned_context(tl_laned *lanes) {
  return lanes->searches ? (void *)&lanes->searcher : (void *)&lanes->feeder;
}

void tl_laned_close(tl_laned *lanes) {
  tl_lane_feeder *f = &lanes->feeder;
  if (lanes->searches || lanes->count != 1)
    return;
  for (size_t i = 1; i < lanes->part_count; i++) {
    if (f->parts[i].state.count > 0) {
      tl_kernels()->fold_merge[lanes->fold][lanes->dtype](&f->state,
                                                          &f->parts[i].state);
    }
  }
  f->end(&f->state, f->to);
}
