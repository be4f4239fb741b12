// Regions that end in a reduction: blocks go to the fold as they are computed,
// and no array is made. The order of the fold is the one of vm/reduce.c, so the
// bits are the same.
#include <string.h>

#include "vm/reduce_internal.h"
#include "vm/region_internal.h"

typedef struct folder {
  tl_region_graph *g;
  tl_reducer r;
  tl_reduction reduction;
  double correction;  // of variances
  tl_dtype dtype;     // that the plan hands out
  int ndim;           // of what is reduced
  const int64_t *lengths;
  int axes[TL_MAX_DIMS];  // those kept, then those reduced
  int kept;               // how many
  int column;             // the last kept one of any length
  int64_t count, length;  // results, and items of each
} folder;

// Kept axes first: then the items of each result follow one another.
static void split_axes(folder *f, uint32_t axes) {
  int n = 0;
  f->count = f->length = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < f->ndim; i++) {
      bool reduced = (axes >> i & 1) != 0;
      if (reduced != (pass == 1))
        continue;
      f->axes[n++] = i;
      *(reduced ? &f->length : &f->count) *= f->lengths[i];
    }
    if (pass == 0)
      f->kept = n;
  }
  f->column = -1;
  for (int i = 0; i < f->kept; i++) {
    if (f->lengths[f->axes[i]] != 1)
      f->column = f->axes[i];
  }
}

// Whether results lie side by side: the last axis is kept.
static bool is_outer(const folder *f, uint32_t axes) {
  for (int i = f->ndim - 1; i >= 0; i--) {
    if (f->lengths[i] != 1)
      return (axes >> i & 1) == 0;
  }
  return false;
}

static bool is_arg(const folder *f) {
  return f->reduction == TL_REDUCE_ARGMIN || f->reduction == TL_REDUCE_ARGMAX;
}

// --- One result after the other ---------------------------------------------

typedef struct feeder {
  tl_fold_feed *feed;
  tl_fold_end *end;
  tl_sum_rows *rows;     // for sums of a few items each, else NULL
  size_t in, out;        // item sizes
  int64_t length, left;  // items of this result to come
  char *to, *from;       // where results go, and the first one
  struct feeder *parts;  // of a single result, for threads
  int64_t part_items;
  // Of variances: the mean of this result's items and the first one's, and how
  // deviations from it are squared; else NULL.
  const char *mean, *means;
  tl_kernel2 *squares;
  tl_fold_state state;
} feeder;

// Items of one result, or the squares of their deviations.
static void feed_items(feeder *f, const char *items, size_t n) {
  if (f->mean == NULL) {
    f->feed(&f->state, items, n);
    return;
  }
  enum { BLOCK = 256 };
  _Alignas(64) char squares[BLOCK * sizeof(double)];
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t count = n - at < BLOCK ? n - at : BLOCK;
    f->squares(squares, items + at * f->in, f->mean, count);
    f->feed(&f->state, squares, count);
  }
}

static void feed(void *context, const void *items, size_t n) {
  feeder *f = context;
  const char *at = items;
  while (n > 0) {
    if (f->rows != NULL && f->left == f->length && (int64_t)n >= f->length) {
      size_t length = (size_t)f->length, nrows = n / length;
      f->rows(f->to, at, nrows, length);
      f->to += nrows * f->out;
      at += nrows * length * f->in;
      n -= nrows * length;
      continue;
    }
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

typedef struct searcher {
  tl_dtype dtype;
  bool largest;
  int64_t length;
  int64_t *to, *from;
  tl_arg_search search;
} searcher;

static void search(void *context, const void *items, size_t n) {
  searcher *s = context;
  const char *at = items;
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
  const feeder *main = context;
  feeder *own = local;
  own->feed = main->feed;
  own->end = main->end;
  own->rows = main->rows;
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
  const searcher *main = context;
  searcher *own = local;
  *own = *main;
  own->to = main->from + first / main->length;
  tl_arg_begin(&own->search, own->dtype, own->largest);
  return own;
}

_Static_assert(sizeof(feeder) <= TL_SINK_BYTES, "a fold fits a part's memory");

static tl_region_status fold_searches(folder *f, tl_plan *plan) {
  searcher s;
  s.dtype = f->r.dtype;
  s.largest = f->reduction == TL_REDUCE_ARGMAX;
  s.length = f->length;
  s.from = s.to = (int64_t *)(void *)f->r.out;
  tl_arg_begin(&s.search, s.dtype, s.largest);
  tl_plan_split split = {f->length, false, begin_searches};
  plan->sink = search;
  plan->context = &s;
  plan->split = f->count > 1 ? &split : NULL;
  return tl_plan_run(f->g->vm, plan, true) ? TL_REGION_DONE : TL_REGION_FAILED;
}

static tl_region_status fold_results(folder *f, tl_plan *plan) {
  tl_plan_split split = {f->length, false, begin_results};
  plan->split = &split;
  return tl_plan_run(f->g->vm, plan, true) ? TL_REGION_DONE : TL_REGION_FAILED;
}

// A single result: parts of a power of two of items are folded apart, and
// merged in order.
enum { PARTS = 16, PART_ITEMS = 16 * 1024 };

static void *begin_part(void *context, int64_t first, void *local) {
  (void)local;
  const feeder *main = context;
  return &main->parts[first / main->part_items];
}

static tl_region_status fold_single(folder *f, tl_plan *plan, feeder *all) {
  tl_vm *vm = f->g->vm;
  int64_t items = vm->pool.eager ? TL_FOLD_LEAF : PART_ITEMS;
  while (items * PARTS < f->length) items *= 2;
  size_t count = (size_t)((f->length + items - 1) / items);
  tl_plan_split split = {items, true, begin_part};
  feeder parts[PARTS];        // large: not cleared
  all->left = f->length + 1;  // ended below
  bool spread = count > 1 && tl_pool_threads(vm) > 1;
  if (spread) {
    all->parts = parts;
    for (size_t i = 0; i < count; i++) {
      all->parts[i].feed = all->feed;
      all->parts[i].rows = NULL;
      all->parts[i].in = all->in;
      all->parts[i].mean = all->mean;
      all->parts[i].squares = all->squares;
      all->parts[i].left = items + 1;
      tl_fold_begin(&all->parts[i].state);
    }
    all->part_items = items;
    plan->split = &split;
  }
  bool ok = tl_plan_run(vm, plan, true);
  tl_fold fold = tl_reduction_fold(f->reduction);
  tl_dtype dtype = all->mean != NULL ? f->r.result : f->r.dtype;
  for (size_t i = 1; spread && i < count; i++) {
    if (all->parts[i].state.count > 0) {
      tl_kernels()->fold_merge[fold][dtype](&all->state, &all->parts[i].state);
    }
  }
  if (ok)
    all->end(&all->state, all->to);
  return ok ? TL_REGION_DONE : TL_REGION_FAILED;
}

// With [means] the sums of squared deviations from them.
static tl_region_status fold_lanes(folder *f, const char *means) {
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < f->ndim; i++) shape[i] = f->lengths[f->axes[i]];
  tl_region_box box = {f->ndim, shape, f->axes, NULL};
  tl_plan *plan = tl_region_plan_whole(f->g, &box, NULL, f->dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  if (is_arg(f))
    return fold_searches(f, plan);
  const tl_kernel_table *kernels = tl_kernels();
  tl_fold fold = tl_reduction_fold(f->reduction);
  tl_dtype dtype = means != NULL ? f->r.result : f->r.dtype;
  feeder all;  // large: not cleared
  all.feed = kernels->fold_feed[fold][dtype];
  all.end = kernels->fold_end[fold][dtype];
  all.in = tl_itemsize(f->r.dtype);
  all.out = tl_itemsize(tl_fold_result(fold, dtype));
  all.mean = all.means = means;
  all.squares = kernels->square_deviation[f->r.dtype];
  bool short_rows = fold == TL_FOLD_SUM && f->count > 1 &&
                    f->length <= TL_SHORT_ROW && means == NULL;
  all.rows = short_rows ? kernels->sum_rows[f->r.dtype] : NULL;
  all.length = all.left = f->length;
  all.from = all.to = f->r.out;
  tl_fold_begin(&all.state);
  plan->sink = feed;
  plan->context = &all;
  return f->count > 1 ? fold_results(f, plan) : fold_single(f, plan, &all);
}

// --- Results side by side ---------------------------------------------------

// Rows are folded in chunks of 8 * 2^n, which are whole subtrees of the tree
// that folds all of them (kernels.h, tl_fold_outer); a binary counter joins
// the chunks as that tree does.
enum {
  STRIP = 1024,              // columns at a time
  CHUNK_BYTES = 128 * 1024,  // computed at a time
  CHUNK_MOST = 1024,         // rows
  LEAST_ITEMS = 8 * 1024,    // of one position of the outer axes
  DEPTH = 40,
};

// The buffers of a strip: computed rows, the fold's scratch, waiting results.
typedef struct strip {
  tl_fold fold;
  tl_fold_outer *kernel;
  tl_kernel2 *join;
  int64_t rows;    // of a chunk
  int64_t width;   // of a full strip
  size_t in, out;  // item sizes
  char *items, *scratch, *waiting;
  size_t nbytes;
  void *block;
  int axis;  // that is reduced
  int64_t from[TL_MAX_DIMS];
} strip;

static size_t round_up(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

static bool open_strip(folder *f, strip *s) {
  s->in = tl_itemsize(f->r.dtype);
  s->out = tl_itemsize(tl_fold_result(s->fold, f->r.dtype));
  int64_t ncols = f->lengths[f->column];
  s->width = ncols < STRIP ? ncols : STRIP;
  s->rows = 8;
  while (s->rows < CHUNK_MOST && s->rows < f->length &&
         2 * s->rows * s->width * (int64_t)s->in <= CHUNK_BYTES) {
    s->rows *= 2;
  }
  size_t items = round_up((size_t)(s->rows * s->width) * s->in);
  size_t scratch = round_up(tl_fold_outer_scratch(
      s->fold, f->r.dtype, (size_t)s->rows, (size_t)s->width));
  size_t waiting = round_up((size_t)s->width * s->out) * DEPTH;
  s->nbytes = items + scratch + waiting + 64;
  s->block = tl_alloc(f->g->vm, s->nbytes, "columns to reduce");
  if (s->block == NULL)
    return false;
  s->items = (char *)round_up((size_t)s->block);
  s->scratch = s->items + items;
  s->waiting = s->scratch + scratch;
  return true;
}

// Computes [rows] rows of [width] columns from s->from on.
static tl_region_status compute_rows(folder *f, const strip *s, int64_t rows,
                                     int64_t width) {
  int64_t shape[2] = {rows, width};
  int64_t strides[2] = {width * (int64_t)s->in, (int64_t)s->in};
  int axes[2] = {s->axis, f->column};
  tl_region_box box = {2, shape, axes, s->from};
  tl_region_planned *planned = f->g->fresh;
  planned->is_ready = false;  // of a part
  if (!tl_region_plan(f->g, planned, &box, s->items, f->dtype, strides))
    return TL_REGION_DECLINED;
  return tl_plan_run(f->g->vm, &planned->plan, true) ? TL_REGION_DONE
                                                     : TL_REGION_FAILED;
}

static tl_region_status fold_strip(folder *f, strip *s, int64_t width,
                                   char *to) {
  size_t row = round_up((size_t)s->width * s->out);
  int64_t chunks = 0;
  int waiting = 0;
  for (int64_t at = 0; at < f->length; at += s->rows) {
    int64_t rows = f->length - at < s->rows ? f->length - at : s->rows;
    s->from[s->axis] = at;
    tl_region_status status = compute_rows(f, s, rows, width);
    if (status != TL_REGION_DONE)
      return status;
    s->kernel(s->waiting + row * (size_t)waiting++, s->items,
              (ptrdiff_t)((size_t)width * s->in), (size_t)rows, (size_t)width,
              s->scratch);
    for (int64_t q = ++chunks; !(q & 1); q >>= 1, waiting--) {
      char *left = s->waiting + row * (size_t)(waiting - 2);
      s->join(left, left, left + row, (size_t)width);
    }
  }
  for (; waiting > 1; waiting--) {
    char *left = s->waiting + row * (size_t)(waiting - 2);
    s->join(left, left, left + row, (size_t)width);
  }
  memcpy(to, s->waiting, (size_t)width * s->out);
  return TL_REGION_DONE;
}

// All strips of one position of the outer axes.
static tl_region_status fold_columns(folder *f, strip *s, char *to) {
  int column = f->column;
  int64_t ncols = f->lengths[column];
  for (int64_t at = 0; at < ncols; at += s->width) {
    int64_t width = ncols - at < s->width ? ncols - at : s->width;
    s->from[column] = at;
    tl_region_status status = fold_strip(f, s, width, to + (size_t)at * s->out);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// The axis that is reduced, where only one has any length; else -1.
static int single_axis(const folder *f) {
  int axis = -1;
  for (int i = f->kept; i < f->ndim; i++) {
    if (f->lengths[f->axes[i]] == 1)
      continue;
    if (axis >= 0)
      return -1;
    axis = f->axes[i];
  }
  return axis;
}

static tl_region_status fold_outer(folder *f) {
  strip s;
  s.fold = tl_reduction_fold(f->reduction);
  s.kernel = tl_kernels()->fold_outer[s.fold][f->r.dtype];
  s.join = tl_fold_join(s.fold, f->r.dtype);
  s.axis = single_axis(f);
  int64_t ncols = f->lengths[f->column];
  if (is_arg(f) || s.axis < 0 || s.join == NULL ||
      (f->count > ncols && f->length * ncols < LEAST_ITEMS)) {
    return TL_REGION_DECLINED;
  }
  if (!open_strip(f, &s))
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DONE;
  char *to = f->r.out;
  memset(s.from, 0, sizeof s.from);
  while (status == TL_REGION_DONE) {
    status = fold_columns(f, &s, to);
    to += (size_t)ncols * s.out;
    int i = f->kept - 1;  // the next position of the outer axes
    for (; i >= 0; i--) {
      int axis = f->axes[i];
      if (axis != f->column && ++s.from[axis] < f->lengths[axis])
        break;
      s.from[axis] = 0;
    }
    if (i < 0)
      break;
  }
  tl_free(f->g->vm, s.block, s.nbytes);
  return status;
}

// --- Variances --------------------------------------------------------------

static bool is_variance(const folder *f) {
  return f->reduction == TL_REDUCE_VAR || f->reduction == TL_REDUCE_STD;
}

static bool is_costly(tl_op op) {
  return op == TL_OP_POW || op == TL_OP_CBRT ||
         (op >= TL_OP_EXP && op <= TL_OP_LGAMMA);
}

// Two passes compute everything twice: worth it for a few simple operations.
static bool is_cheap(const tl_region_graph *g) {
  enum { MOST = 6 };
  int count = 0;
  for (int i = 0; i <= g->value; i++) {
    if (g->nodes[i].needed && (is_costly(g->nodes[i].op) || ++count > MOST))
      return false;
  }
  return true;
}

// The means, then the squared deviations, along the last axes.
static tl_region_status fold_variance(folder *f, uint32_t axes, char *to) {
  tl_vm *vm = f->g->vm;
  tl_reduction asked = f->reduction;
  if (is_outer(f, axes) || !is_cheap(f->g))
    return TL_REGION_DECLINED;
  size_t nbytes = (size_t)f->count * tl_itemsize(f->r.dtype);
  char *means = tl_alloc(vm, nbytes, "means");
  if (means == NULL)
    return TL_REGION_FAILED;
  f->reduction = TL_REDUCE_SUM;
  f->r.out = means;
  tl_region_status status = fold_lanes(f, NULL);
  if (status == TL_REGION_DONE) {
    tl_reduce_divide(f->r.dtype, means, f->count, (double)f->length);
    f->r.out = to;
    status = fold_lanes(f, means);
  }
  if (status == TL_REGION_DONE) {
    tl_reduce_end_squares(f->r.result, to, f->count,
                          tl_reduce_divisor(f->length, f->correction),
                          asked == TL_REDUCE_STD);
  }
  f->reduction = asked;
  tl_free(vm, means, nbytes);
  return status;
}

// --- The whole --------------------------------------------------------------

static tl_region_status fold_into(folder *f, uint32_t axes, char *to) {
  f->r.out = to;
  if (is_variance(f))
    return fold_variance(f, axes, to);
  tl_region_status status =
      is_outer(f, axes) ? fold_outer(f) : fold_lanes(f, NULL);
  if (status == TL_REGION_DONE && f->reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(f->r.result, to, f->count, (double)f->length);
  return status;
}

static tl_region_status fold_array(folder *f, const tl_fold_call *call,
                                   tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim =
      tl_reduce_shape(f->ndim, f->lengths, call->axes, call->keepdims, shape);
  if (ndim == 0) {
    tl_c128 item;
    tl_region_status status = fold_into(f, call->axes, (char *)&item);
    if (status == TL_REGION_DONE && !tl_reduce_scalar(&f->r, &item, out))
      status = TL_REGION_FAILED;
    return status;
  }
  tl_array *made = tl_array_new(f->g->vm, f->r.result, ndim, shape);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = fold_into(f, call->axes, made->data);
  if (status == TL_REGION_DONE) {
    *out = tl_own_array(made);
  } else {
    tl_drop(f->g->vm, tl_own_array(made));
  }
  return status;
}

tl_region_status tl_region_fold(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  if (!tl_builtin_fold(g->vm, g->fold, ndim, g->arguments, &call))
    return TL_REGION_DECLINED;
  return tl_region_fold_call(g, &call, out);
}

tl_region_status tl_region_fold_call(tl_region_graph *g,
                                     const tl_fold_call *call, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  folder f;  // large: not cleared
  f.g = g;
  f.ndim = g->shapes[n->shape].ndim;
  f.lengths = g->shapes[n->shape].lengths;
  if (tl_region_has_seam(g))
    return TL_REGION_DECLINED;
  f.reduction = (tl_reduction)call->reduction;
  f.r.vm = g->vm;
  f.r.name = tl_reduction_name(f.reduction);
  f.r.from = n->typing.result;
  f.correction = call->parameter;
  if (!tl_reduce_dtypes(&f.r, f.reduction, call->dtype, tl_none()))
    return TL_REGION_DECLINED;
  // The bytes of bools order like integers.
  f.dtype =
      n->typing.result == TL_BOOL && f.r.from == TL_UINT8 ? TL_BOOL : f.r.dtype;
  split_axes(&f, call->axes);
  tl_region_status status = fold_array(&f, call, out);
  if (status == TL_REGION_DONE &&
      !tl_reduce_narrow(g->vm, f.reduction, call->dtype, out)) {
    status = TL_REGION_FAILED;
  }
  return status;
}
