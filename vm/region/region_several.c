// Regions with several results: arrays and reductions of values that share
// their operands, computed block by block in one pass (a = x + y; b = x - y).
// Where that would need more memory than one after the other, or anything is
// in the way, nothing has been written and they run apart.
#include <string.h>

#include "vm/error.h"
#include "vm/interp/promise.h"
#include "vm/region/region_internal.h"
#include "vm/region/region_lanes.h"

_Static_assert((int)TL_REGION_RESULTS <= (int)TL_PLAN_RESULTS,
               "a plan makes all results");

typedef struct several {
  tl_region_graph *g;
  tl_slot *results;
  int ndim;
  const int64_t *shape;
  tl_region_target targets[TL_REGION_RESULTS];
  int reused[TL_REGION_RESULTS];  // the use whose memory it is, -1: none
  // Of reductions
  uint32_t axes;
  int64_t count, length;  // lanes, and items of each
  int fold_count;
  tl_reducer reducers[TL_REGION_RESULTS];
  tl_c128 items[TL_REGION_RESULTS];  // single ones
  tl_laned lanes[TL_REGION_RESULTS];
} several;

// --- Arrays -----------------------------------------------------------------

// The dying operand that result [i] may be written into: of several the one
// that ends first, -1: none.
static int find_over(const several *s, int i) {
  const tl_region_graph *g = s->g;
  tl_dtype dtype = s->targets[i].dtype;
  int found = -1;
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *x = &g->uses[u];
    if (x->root < 0 || !x->direct || !g->roots[x->root].consumed ||
        !tl_can_reuse(g->vm, x->value, dtype, s->ndim, s->shape) ||
        !tl_region_is_safe_target(g, x->value.array)) {
      continue;
    }
    if (found < 0 ||
        g->roots[x->root].ended < g->roots[g->uses[found].root].ended)
      found = u;
  }
  return found;
}

// Whether something that no result is written into would have gone before a new
// array is made, one after the other.
static bool keeps_longer(const several *s, int node) {
  for (int i = 0; i < s->g->root_count; i++) {
    const tl_region_root *root = &s->g->roots[i];
    if (root->consumed && tl_is_owned(root->value) && root->ended <= node)
      return true;
  }
  return false;
}

static bool is_fold(const several *s, int i) {
  return s->g->results[i].fold != NULL;
}

static bool choose_arrays(several *s) {
  tl_region_graph *g = s->g;
  for (int i = 0; i < g->result_count; i++) {
    s->reused[i] = -1;
    if (is_fold(s, i))
      continue;
    s->targets[i] =
        (tl_region_target){.node = g->results[i].node,
                           .dtype = g->nodes[g->results[i].node].typing.result};
    int over = s->reused[i] = find_over(s, i);
    if (over < 0)
      continue;
    s->targets[i].last = true;
    s->targets[i].out = g->uses[over].value.array->data;
    g->roots[g->uses[over].root].consumed = false;
  }
  for (int i = 0; i < g->result_count; i++) {
    if (!is_fold(s, i) && s->reused[i] < 0 &&
        keeps_longer(s, g->results[i].node)) {
      return false;
    }
  }
  return true;
}

// --- Reductions -------------------------------------------------------------

// Lanes must follow one another: the axes that are kept before the others.
static bool measure_lanes(several *s, uint32_t axes) {
  s->axes = axes;
  s->count = s->length = 1;
  for (int i = 0; i < s->ndim; i++) {
    bool reduced = (axes >> i & 1) != 0;
    if (!reduced && s->length > 1 && s->shape[i] != 1)
      return false;
    *(reduced ? &s->length : &s->count) *= s->shape[i];
  }
  return true;
}

static bool choose_fold(several *s, int i) {
  const tl_region_result *result = &s->g->results[i];
  const tl_fold_call *call = &result->call;
  tl_reduction reduction = (tl_reduction)call->reduction;
  // What takes two passes, or may fail at its end, runs apart.
  if (reduction == TL_REDUCE_VAR || reduction == TL_REDUCE_STD ||
      call->dtype != TL_DTYPE_COUNT ||
      (s->fold_count++ > 0 ? call->axes != s->axes
                           : !measure_lanes(s, call->axes))) {
    return false;
  }
  s->targets[i] = (tl_region_target){.node = result->node};
  return tl_region_reducer(s->g, result->node, call, &s->reducers[i],
                           &s->targets[i].dtype) &&
         s->reducers[i].result < TL_COMPLEX128;
}

static bool choose_folds(several *s) {
  s->fold_count = 0;
  for (int i = 0; i < s->g->result_count; i++) {
    if (is_fold(s, i) && !choose_fold(s, i))
      return false;
  }
  return true;
}

// All of them as one sink of the plan.
typedef struct sinks {
  int count;
  tl_plan_sink *feed[TL_REGION_RESULTS];
  void *context[TL_REGION_RESULTS];
  void *(*begin[TL_REGION_RESULTS])(void *context, int64_t first, void *local);
} sinks;

static void feed_all(void *context, const void *const *items, size_t n) {
  const sinks *all = context;
  for (int i = 0; i < all->count; i++)
    all->feed[i](all->context[i], &items[i], n);
}

_Static_assert(sizeof(sinks) <= TL_SINK_BYTES, "sinks fit a part's memory");

static void *begin_all(void *context, int64_t first, void *local) {
  const sinks *all = context;
  sinks *own = local;
  *own = *all;
  for (int i = 0; i < all->count; i++) {
    own->context[i] = all->begin[i](all->context[i], first,
                                    (char *)local + (i + 1) * TL_SINK_BYTES);
  }
  return own;
}

// How threads may share the reductions; false: they may not. [parts] has room
// for each one's, or is NULL.
static bool split_all(several *s, sinks *all, tl_lane_feeder *parts,
                      tl_plan_split *split) {
  int n = 0;
  for (int i = 0; i < s->g->result_count; i++) {
    if (!is_fold(s, i))
      continue;
    const tl_plan_split *one = tl_laned_split(
        &s->lanes[i], parts == NULL ? NULL : parts + n * TL_LANE_PARTS);
    if (one == NULL)
      return false;
    *split = *one;
    all->begin[n++] = one->begin;
  }
  split->begin = begin_all;
  return true;
}

static bool run_folds(several *s, tl_plan *plan, bool may_stop) {
  tl_vm *vm = s->g->vm;
  sinks all = {.count = 0};
  tl_plan_split split;
  for (int i = 0; i < s->g->result_count; i++) {
    if (!is_fold(s, i))
      continue;
    tl_laned *lanes = &s->lanes[i];
    tl_laned_open(lanes, &s->reducers[i],
                  (tl_reduction)s->g->results[i].call.reduction, s->count,
                  s->length, NULL);
    all.feed[all.count] = tl_laned_sink(lanes);
    all.context[all.count++] = tl_laned_context(lanes);
  }
  size_t nbytes = (size_t)all.count * TL_LANE_PARTS * sizeof(tl_lane_feeder);
  tl_lane_feeder *parts = NULL;
  if (s->count == 1 && tl_pool_threads(vm) > 1)
    parts = tl_spare_alloc(vm, nbytes);
  plan->sink = feed_all;
  plan->context = &all;
  plan->split = split_all(s, &all, parts, &split) ? &split : NULL;
  bool ok = tl_plan_run(vm, plan, may_stop);
  for (int i = 0; ok && i < s->g->result_count; i++) {
    if (is_fold(s, i))
      tl_laned_close(&s->lanes[i]);
  }
  if (parts != NULL)
    tl_spare_free(vm, parts, nbytes);
  return ok;
}

// --- The whole --------------------------------------------------------------

static void drop_made(several *s, int count) {
  for (int i = 0; i < count; i++) {
    if (s->reused[i] < 0)
      tl_drop(s->g->vm, s->results[i]);
  }
}

// A new array for result [i]; or of a reduction, for a single item, none.
static bool make_result(several *s, int i) {
  tl_region_graph *g = s->g;
  int64_t folded[TL_MAX_DIMS];
  const int64_t *shape = s->shape;
  int ndim = s->ndim;
  tl_dtype dtype = s->targets[i].dtype;
  s->results[i] = tl_none();
  if (s->reused[i] >= 0)
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
  tl_array *made = tl_array_new(g->vm, dtype, ndim, shape);
  if (made == NULL)
    return false;
  s->results[i] = tl_own_array(made);
  if (is_fold(s, i)) {
    s->reducers[i].out = made->data;
  } else {
    s->targets[i].out = made->data;
  }
  return true;
}

static bool make_results(several *s) {
  for (int i = 0; i < s->g->result_count; i++) {
    if (make_result(s, i))
      continue;
    drop_made(s, i);
    return false;
  }
  return true;
}

static void end_result(several *s, int i) {
  tl_region_graph *g = s->g;
  tl_reducer *r = &s->reducers[i];
  if (s->reused[i] >= 0) {
    tl_slot owner = g->uses[s->reused[i]].value;
    s->results[i] = tl_own_array(
        tl_reuse(g->vm, &owner, s->targets[i].dtype, s->ndim, s->shape));
    return;
  }
  if (!is_fold(s, i))
    return;
  if (g->results[i].call.reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(r->result, r->out, s->count, (double)s->length);
  if (!tl_is_array(s->results[i]))
    s->results[i] = tl_scalar_load(r->result, r->out);
}

static tl_region_status run(several *s) {
  tl_region_graph *g = s->g;
  bool may_stop = true;
  tl_plan *plan = tl_region_plan_several(g, s->targets, g->result_count);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  for (int i = 0; i < g->result_count; i++)
    may_stop = may_stop && s->reused[i] < 0;
  if (!may_stop && !tl_region_pay(g->vm, tl_region_size(g)))
    return TL_REGION_FAILED;
  bool ok = s->fold_count > 0 ? run_folds(s, plan, may_stop)
                              : tl_plan_run(g->vm, plan, may_stop);
  return ok ? TL_REGION_DONE : TL_REGION_FAILED;
}

// The arrays that a node is computed of, a bit for each.
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
static bool share(const tl_region_graph *g) {
  uint64_t nodes[TL_REGION_NODES], shared = 0;
  bool joined[TL_REGION_RESULTS] = {false};
  for (int i = 0; i <= g->value; i++)
    nodes[i] = arrays_of(g, nodes, &g->nodes[i]);
  shared = nodes[g->results[0].node];
  int count = 0;
  for (int round = 0; round < g->result_count; round++) {
    for (int i = 0; i < g->result_count; i++) {
      uint64_t own = nodes[g->results[i].node];
      if (joined[i] || (own & shared) == 0)
        continue;
      shared |= own;
      joined[i] = true;
      count++;
    }
  }
  return count == g->result_count;
}

tl_region_status tl_region_several(tl_region_graph *g, tl_slot *results) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  several s;  // large: not cleared
  s.g = g;
  s.results = results;
  s.ndim = shape->ndim;
  s.shape = shape->lengths;
  // One by one, the instruction at fault says why.
  if (g->rows != NULL || tl_region_has_seam(g) || tl_is_promised(g->vm) ||
      !share(g) || !choose_folds(&s) || !choose_arrays(&s) ||
      !make_results(&s)) {
    tl_error_clear(g->vm);  // without memory for all at once
    return TL_REGION_DECLINED;
  }
  tl_region_status status = run(&s);
  if (status != TL_REGION_DONE) {
    drop_made(&s, g->result_count);
    return status;
  }
  for (int i = 0; i < g->result_count; i++) end_result(&s, i);
  return status;
}
