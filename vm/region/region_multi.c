// Regions with several results: arrays, parts of arrays, reductions, norms and
// running folds of values that share their operands, computed block by block in
// one pass (a = x + y; b = x - y). Where that would need more memory than one
// after the other, or anything is in the way, nothing has been written and they
// run one by one.
//
// Built for size.

#include "vm/region/region_internal.h"

// --- Consumers --------------------------------------------------------------

// What takes the items of several results as one plan computes them: reductions
// of lanes or down columns, and running folds.

// How the items of one result are taken, and which member of the union is open.
typedef enum tl_consumer_kind {
  TL_CONSUMES_NONE,  // the plan itself writes the items to an array
  TL_CONSUMES_ROWS,
  TL_CONSUMES_COLUMNS,
  TL_CONSUMES_RUNNING,
} tl_consumer_kind;

// Columns: rows are gathered until there are enough of them for a chunk.
typedef struct tl_column_feeder {
  tl_column_stream fold;
  int64_t width, length;  // columns, and rows of each result
  int64_t filled;         // items
  char *to;
} tl_column_feeder;

typedef struct tl_result_consumer {
  tl_consumer_kind kind;
  union {
    tl_row_stream lanes;
    tl_column_feeder columns;
    tl_scanner running;
  };
} tl_result_consumer;

// How [axes] of a shape are reduced: [count] results one after the other, or,
// each of the [count] positions having [width] columns side by side, these.
typedef struct tl_reduced {
  int64_t count, length, width;
} tl_reduced;

// --- Columns ----------------------------------------------------------------

// As in region_fold.c; what waits may be a quarter of the array that is saved.
enum {
  CHUNK_BYTES = 128 * 1024,
  PART_OF = 4,  // of what is computed, that may wait
};

// Axes in order are those before, the reduced ones, and those behind. False:
// they are not in such an order.
//
//   shape 2 * 3 * 4, axis 1 reduced      count 2, length 3, width 4
//   shape 2 * 3 * 4, axes 1 and 2        count 2, length 12, width 1
//   shape 2 * 3 * 4, axes 0 and 2        false
static bool measure_reduced(int ndim, const int64_t *shape, uint32_t axes,
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

// Columns to r->out; without a kernel or much memory for them false.
// Memory that is more than a part of what would be an array is not worth it,
// unless it is little.
static bool columns_open(tl_column_feeder *c, const tl_reducer *r,
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

// How each kind takes items. What does so is a member of a union, and all
// members stand at one place.
static void open_all(tl_result_consumer **from, int count, consumers *all) {
  static tl_plan_consume *const feeds[] = {
      [TL_CONSUMES_ROWS] = tl_row_stream_take,
      [TL_CONSUMES_COLUMNS] = feed_columns,
      [TL_CONSUMES_RUNNING] = tl_scanner_take};
  all->count = count;
  for (int i = 0; i < count; i++) {
    all->feed[i] = feeds[from[i]->kind];
    all->context[i] = &from[i]->lanes;
  }
}

// Runs the plan, whose results go to [count] of these in order; those of lanes
// are open, and end here. Columns are the caller's to close, on every path.
// Without memory for parts one thread does it.
static bool run_consumers(tl_vm *vm, tl_plan *plan, tl_result_consumer **from,
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

// --- Results ----------------------------------------------------------------

_Static_assert((int)TL_REGION_RESULTS <= (int)TL_PLAN_RESULTS,
               "a plan makes all results");

// What one run chooses for each result, all of it before the first block is
// computed.
typedef struct multi {
  tl_region_graph *g;
  tl_slot *results;
  int ndim;
  const int64_t *shape;
  tl_region_target targets[TL_REGION_RESULTS];
  int reused[TL_REGION_RESULTS];  // the use whose memory it is, -1: none
  tl_array
      *places[TL_REGION_RESULTS];  // parts of arrays, in the graph's memory
  // Of reductions
  tl_reduced reduced[TL_REGION_RESULTS];
  tl_reducer reducers[TL_REGION_RESULTS];
  tl_c128 items[TL_REGION_RESULTS];  // single ones
  tl_result_consumer consumers[TL_REGION_RESULTS];
} multi;

// Whether result [i] is a part of an array that the frame has.
static bool is_place(const multi *s, int i) {
  return s->g->results[i].target >= 0;
}

// Whether result [i] is reduced; a running fold is not, since it is an array.
static bool is_fold(const multi *s, int i) {
  return s->consumers[i].kind == TL_CONSUMES_ROWS ||
         s->consumers[i].kind == TL_CONSUMES_COLUMNS;
}

// --- Parts of arrays --------------------------------------------------------

// Only an array that nobody else has, and that ends in its new value.
static bool choose_place(multi *s, int i) {
  tl_region_graph *g = s->g;
  const tl_region_result *result = &g->results[i];
  tl_region_root *root = &g->roots[result->target];
  if (!root->consumed || !tl_is_unique(root->value) ||
      (root->value.tag & TL_DIRECT) == 0)
    return false;
  tl_array *place =
      tl_region_find_place(g, root->value.array, result->node, &result->place);
  if (place == NULL || !tl_region_is_safe_target(g, place))
    return false;
  s->places[i] = place;
  s->targets[i] = (tl_region_target){.node = result->node,
                                     .dtype = tl_array_dtype(place),
                                     .out = place->data,
                                     .strides = tl_strides(place),
                                     .last = true};
  root->consumed = false;
  return true;
}

// A norm may fail when the places have been written.
static bool choose_places(multi *s) {
  const tl_region_graph *g = s->g;
  bool places = false, norms = false;
  for (int i = 0; i < g->result_count; i++) {
    s->reused[i] = -1;
    s->consumers[i].kind = TL_CONSUMES_NONE;
    places = places || is_place(s, i);
    norms = norms || (g->results[i].fold != NULL &&
                      g->results[i].fold->fused == TL_FUSED_NORM);
    if (is_place(s, i) && !choose_place(s, i))
      return false;
  }
  return !places || !norms;
}

// --- Arrays -----------------------------------------------------------------

// Whether something that no result is written into would have gone before a new
// array is made, one after the other.
static bool keeps_longer(const multi *s, int node) {
  for (int i = 0; i < s->g->root_count; i++) {
    const tl_region_root *root = &s->g->roots[i];
    if (root->consumed && tl_is_owned(root->value) && root->ended <= node)
      return true;
  }
  return false;
}

// A running fold takes the items in, and is as long as they are.
static bool choose_running(multi *s, int i) {
  const tl_region_result *result = &s->g->results[i];
  tl_dtype dtype = tl_cumulative_dtype((tl_reduction)result->scan.reduction,
                                       s->g->nodes[result->node].typing.result,
                                       result->scan.dtype);
  s->consumers[i].kind = TL_CONSUMES_RUNNING;
  s->targets[i] = (tl_region_target){.node = result->node, .dtype = dtype};
  return dtype != TL_DTYPE_COUNT && !result->scan.initial;
}

// Each array over the operand that ends first, else into a new one. False where
// a new one would have to be made while an operand is there that one after the
// other would have gone: the peak of memory is no higher than without the
// region.
static bool choose_arrays(multi *s) {
  tl_region_graph *g = s->g;
  for (int i = 0; i < g->result_count; i++) {
    const tl_region_result *r = &g->results[i];
    bool runs = r->fold != NULL && r->fold->fused == TL_FUSED_SCAN;
    if (is_place(s, i) || (r->fold != NULL && !runs))
      continue;
    s->targets[i] = (tl_region_target){
        .node = r->node, .dtype = g->nodes[r->node].typing.result};
    if (runs && !choose_running(s, i))
      return false;
    int over = s->reused[i] = tl_region_find_target(
        g, s->targets[i].dtype, s->ndim, s->shape, tl_region_is_dense_target);
    if (over < 0)
      continue;
    if (!runs) {
      s->targets[i].last = true;
      s->targets[i].out = g->uses[over].value.array->data;
    }
    tl_region_take_over(g, over);
  }
  for (int i = 0; i < g->result_count; i++) {
    bool made = g->results[i].fold == NULL ||
                s->consumers[i].kind == TL_CONSUMES_RUNNING;
    if (made && !is_place(s, i) && s->reused[i] < 0 &&
        keeps_longer(s, g->results[i].node))
      return false;
  }
  return true;
}

// --- Reductions -------------------------------------------------------------

// Measures the axes and chooses a consumer of rows or columns. False: that
// reduction runs by itself.
static bool choose_fold(multi *s, int i) {
  const tl_region_result *result = &s->g->results[i];
  const tl_fold_call *call = &result->call;
  tl_reduction reduction = (tl_reduction)call->reduction;
  // What takes two passes, or may fail at its end, runs by itself.
  if (reduction == TL_REDUCE_VAR || reduction == TL_REDUCE_STD ||
      call->dtype != TL_DTYPE_COUNT ||
      !measure_reduced(s->ndim, s->shape, call->axes, &s->reduced[i]))
    return false;
  s->consumers[i].kind =
      s->reduced[i].width > 1 ? TL_CONSUMES_COLUMNS : TL_CONSUMES_ROWS;
  s->targets[i] = (tl_region_target){.node = result->node};
  return tl_region_reducer(s->g, result->node, call, &s->reducers[i],
                           &s->targets[i].dtype) &&
         s->reducers[i].result < TL_COMPLEX128;
}

// False where one of them cannot be fed, or where items in logical order would
// be read across memory.
static bool choose_folds(multi *s) {
  for (int i = 0; i < s->g->result_count; i++) {
    const tl_builtin *fold = s->g->results[i].fold;
    if (fold != NULL && tl_region_lies_otherwise(s->g))
      return false;
    if (fold != NULL && fold->fused != TL_FUSED_SCAN && !choose_fold(s, i))
      return false;
  }
  return true;
}

// --- The whole --------------------------------------------------------------

// The results that are arrays of their own, up to the one that failed.
static void drop_made(multi *s, int count) {
  for (int i = 0; i < count; i++)
    if (s->reused[i] < 0 && !is_place(s, i))
      tl_drop(s->g->vm, s->results[i]);
}

// A new array for result [i]; or of a reduction, for a single item, none.
static bool make_result(multi *s, int i) {
  tl_region_graph *g = s->g;
  int64_t folded[TL_MAX_DIMS];
  const int64_t *shape = s->shape;
  int ndim = s->ndim;
  tl_dtype dtype = s->targets[i].dtype;
  s->results[i] = tl_none();
  if (s->reused[i] >= 0 || is_place(s, i))
    return true;
  if (is_fold(s, i)) {
    const tl_fold_call *call = &g->results[i].call;
    ndim = tl_reduce_shape(ndim, shape, call->axes, call->keepdims, folded);
    shape = folded;
    dtype = s->reducers[i].result;
    s->reducers[i].out = (char *)&s->items[i];
    if (ndim == 0)
      return true;
  }
  // One by one, the instruction that breaks a contract says why.
  tl_array *made = tl_is_under_contract(g->vm)
                       ? NULL
                       : tl_array_new(g->vm, dtype, ndim, shape);
  if (made == NULL)
    return false;
  if (is_fold(s, i)) {
    s->reducers[i].out = made->data;
  } else if (s->consumers[i].kind == TL_CONSUMES_NONE) {
    const tl_array *arrays[TL_REGION_USES];
    made = tl_array_ordered(g->vm, made, tl_region_arrays(g, arrays), arrays);
    s->targets[i].out = made->data;
    s->targets[i].strides = tl_strides(made);
  }
  s->results[i] = tl_own_array(made);  // its tag says how the items lie
  return true;
}

// Only those of columns have memory of their own; their results stand in the
// reducers' out.
static void close_consumers(multi *s, int count) {
  for (int i = 0; i < count; i++)
    if (s->consumers[i].kind == TL_CONSUMES_COLUMNS)
      tl_column_stream_free(&s->consumers[i].columns.fold, s->g->vm);
}

// Gives result [i]'s consumer the memory that its results go to. False: no
// kernel, or too much memory for its columns.
static bool open_consumer(multi *s, int i) {
  const tl_region_result *result = &s->g->results[i];
  tl_result_consumer *consumer = &s->consumers[i];
  tl_slot to =
      s->reused[i] >= 0 ? s->g->uses[s->reused[i]].value : s->results[i];
  switch (consumer->kind) {
    case TL_CONSUMES_ROWS:
      tl_row_stream_open(&consumer->lanes, &s->reducers[i].method,
                         s->reduced[i].count, s->reduced[i].length, NULL,
                         s->reducers[i].out);
      return true;
    case TL_CONSUMES_COLUMNS:
      return columns_open(&consumer->columns, &s->reducers[i], &s->reduced[i]);
    case TL_CONSUMES_RUNNING:
      tl_region_open_scanner(&consumer->running, &result->scan,
                             s->targets[i].dtype, s->ndim, s->shape,
                             to.array->data);
      return true;
    default:
      return true;
  }
}

// All memory before the first block is computed, so that nothing fails but a
// stop.
static bool make_results(multi *s) {
  for (int i = 0; i < s->g->result_count; i++) {
    if (make_result(s, i))
      continue;
    drop_made(s, i);
    return false;
  }
  for (int i = 0; i < s->g->result_count; i++) {
    if (open_consumer(s, i))
      continue;
    close_consumers(s, i);
    drop_made(s, s->g->result_count);
    return false;
  }
  return true;
}

// What is folded becomes what was asked for. Only a norm may fail.
// A scalar result is loaded from s->items, where its consumer has left it.
static bool end_fold(multi *s, int i) {
  const tl_region_result *result = &s->g->results[i];
  tl_reducer *r = &s->reducers[i];
  if (result->call.reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(r->result, r->out,
                     s->reduced[i].count * s->reduced[i].width,
                     (double)s->reduced[i].length);
  if (!tl_is_array(s->results[i]))
    s->results[i] = tl_scalar_load(r->result, r->out);
  if (result->norm_of == TL_DTYPE_COUNT)
    return true;
  tl_slot folded = s->results[i];
  s->results[i] = tl_none();
  return tl_norm_end(s->g->vm, result->norm, tl_norm_result(result->norm_of),
                     folded, &s->results[i]);
}

// After the plan has run and the consumers are closed.
static bool end_folds(multi *s) {
  for (int i = 0; i < s->g->result_count; i++)
    if (is_fold(s, i) && !end_fold(s, i))
      return false;
  return true;
}

// Nothing fails any more: what was written into goes over.
static void end_arrays(multi *s) {
  tl_region_graph *g = s->g;
  for (int i = 0; i < g->result_count; i++) {
    if (is_place(s, i)) {
      tl_array *a = g->roots[g->results[i].target].value.array;
      tl_written_in_place(g->vm, a);
      s->results[i] = tl_own_array(a);
    } else if (s->reused[i] >= 0) {
      tl_slot owner = g->uses[s->reused[i]].value;
      s->results[i] = tl_own_array(
          tl_reuse(g->vm, &owner, s->targets[i].dtype, s->ndim, s->shape));
    }
  }
}

// Where memory is written that others see, the run is polled for first and may
// not stop.
static tl_region_status run(multi *s) {
  tl_region_graph *g = s->g;
  tl_result_consumer *consumers[TL_REGION_RESULTS];
  int count = 0;
  bool may_stop = true;
  tl_plan *plan = tl_region_plan_multi(g, s->targets, g->result_count);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  for (int i = 0; i < g->result_count; i++) {
    may_stop = may_stop && s->reused[i] < 0 && !is_place(s, i);
    if (s->consumers[i].kind != TL_CONSUMES_NONE)
      consumers[count++] = &s->consumers[i];
  }
  if (!may_stop && !tl_poll_items(g->vm, tl_region_size(g)))
    return TL_REGION_FAILED;
  bool ok = count > 0 ? run_consumers(g->vm, plan, consumers, count, may_stop)
                      : tl_plan_run(g->vm, plan, may_stop);
  return ok ? TL_REGION_DONE : TL_REGION_FAILED;
}

// The arrays that a node is computed of, a bit for each.
// Uses without a root share the bits above those of roots, so two may count as
// one; then more is tried together than needed, which does no harm.
static uint64_t arrays_of(const tl_region_graph *g, const uint64_t *nodes,
                          const tl_region_node *n) {
  uint64_t arrays = 0;
  for (int i = 0; i < n->arity; i++) {
    int u = -1 - n->in[i];
    if (n->in[i] >= 0) {
      arrays |= nodes[n->in[i]];
    } else if (tl_region_is_array(g->uses[u].items)) {
      int root = g->uses[u].root;
      arrays |= UINT64_C(1)
                << (root >= 0 ? root
                              : TL_REGION_ROOTS + u % (64 - TL_REGION_ROOTS));
    }
  }
  return arrays;
}

// Whether all results are of arrays that they share: else one pass gains
// nothing.
// It grows a set from the first result until no other shares with it; as many
// rounds as there are results are enough.
static bool share(const tl_region_graph *g) {
  uint64_t nodes[TL_REGION_NODES], shared = 0;
  bool joined[TL_REGION_RESULTS] = {false};
  for (int i = 0; i <= g->value; i++)
    nodes[i] = arrays_of(g, nodes, &g->nodes[i]);
  shared = nodes[g->results[0].node];
  int count = 0;
  for (int round = 0; round < g->result_count; round++)
    for (int i = 0; i < g->result_count; i++) {
      uint64_t own = nodes[g->results[i].node];
      if (joined[i] || (own & shared) == 0)
        continue;
      shared |= own;
      joined[i] = true;
      count++;
    }
  return count == g->result_count;
}

// Choices first, then memory, then the run. What is declined leaves nothing
// behind but roots that are marked as taken, which the next reading sets anew.
tl_region_status tl_region_multi(tl_region_graph *g, tl_slot *results) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  multi s;  // large: not cleared
  s.g = g;
  s.results = results;
  s.ndim = shape->ndim;
  s.shape = shape->lengths;
  if (g->rows != NULL || tl_region_has_wrap(g) || !share(g) ||
      !choose_places(&s) || !choose_folds(&s) || !choose_arrays(&s) ||
      !make_results(&s)) {
    tl_error_clear(g->vm);  // without memory for all at once
    return TL_REGION_DECLINED;
  }
  tl_region_status status = run(&s);
  close_consumers(&s, g->result_count);
  if (status == TL_REGION_DONE && !end_folds(&s))
    status = TL_REGION_FAILED;
  if (status == TL_REGION_DONE)
    end_arrays(&s);
  else
    drop_made(&s, g->result_count);
  return status;
}
