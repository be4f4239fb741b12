// A region's graph as the streams and steps of a plan.
//
// Built for size.

#include "vm/nested/ragged.h"
#include "vm/region/region_internal.h"

// The state of one plan's making. Numbers in it are the plan's values: of the
// streams by use, of operands that are one number by node and operand, of
// results by node. All is borrowed; the plan itself is [planned]'s.
typedef struct planner {
  const tl_region_graph *g;
  tl_region_planned *planned;
  tl_plan *plan;  // of that
  const tl_region_tile *tile;
  int streams[TL_REGION_USES];
  int scalars[TL_REGION_NODES][3];
  int values[TL_REGION_NODES];
} planner;

// --- Streams ----------------------------------------------------------------

// A stream whose data come from a node's scalar or a use.
static int add_stream(planner *p, int node, int operand, const void *data,
                      size_t itemsize, const int64_t *strides) {
  if (p->plan->stream_count < TL_PLAN_STREAMS) {
    p->planned->streams[p->plan->stream_count].node = (int8_t)node;
    p->planned->streams[p->plan->stream_count].operand = (int8_t)operand;
  }
  return tl_plan_stream(p->plan, data, itemsize, strides);
}

// Where a use's items of a tile begin; [strides] are those of all axes.
// Along a rolled axis item 0 of the result is item -shift of the array, modulo
// its length. A tile lies on one side of the wrap, so one address does for all
// of it.
static char *tile_data(const tl_region_graph *g, const tl_region_use *use,
                       const tl_region_tile *tile, int64_t *strides) {
  const tl_array *a = use->items.array;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  char *data = a->data;
  tl_broadcast_strides(a, shape->ndim, shape->lengths, strides);
  for (int i = 0; i < shape->ndim; i++) {
    int64_t from = tile->from == NULL ? 0 : tile->from[i];
    if (use->wrap > 0 && strides[i] != 0) {
      int axis = i - (shape->ndim - tl_ndim(a));
      from -= tl_region_shift(g, use)[axis];
      if (from < 0)
        from += tl_shape(a)[axis];
    }
    data += from * strides[i];
  }
  return data;
}

// Its strides in the order of the tile's axes; axes along which it is broadcast
// have 0.
static int add_array(planner *p, int u) {
  const tl_region_use *use = &p->g->uses[u];
  const tl_array *a = use->items.array;
  const tl_region_tile *tile = p->tile;
  int64_t strides[TL_MAX_DIMS], walked[TL_MAX_DIMS];
  char *data = tile_data(p->g, use, tile, strides);
  for (int i = 0; i < tile->ndim; i++)
    walked[i] = strides[tile->axes == NULL ? i : tile->axes[i]];
  return add_stream(p, -1, u, data, tl_itemsize(tl_array_dtype(a)), walked);
}

// Whether two uses are the same number in later runs as well.
// Numbers from slots may be equal in this run by chance; only literals stay so.
static bool is_same(const planner *p, int in, int other) {
  const tl_region_use *uses = p->g->uses;
  return in == other || (uses[-1 - in].fixed && uses[-1 - other].fixed);
}

// An array beside ragged rows has an item for each row; all other uses are
// walked by strides.
static int add_use(planner *p, int u) {
  const tl_region_use *use = &p->g->uses[u];
  const tl_array *a = use->items.array;
  if (!tl_region_makes_rows(p->g) || tl_region_is_ragged(use))
    return add_array(p, u);
  return tl_plan_rows(p->plan, a->data, tl_itemsize(tl_array_dtype(a)),
                      tl_strides(a)[0], tl_ragged_offsets(p->g->rows),
                      tl_ragged_rows(p->g->rows));
}

// A scalar that another node has already, as the same bytes of the same dtype:
// a number that is 0 has the bytes of 0.0, but may be another in a later run.
// The search ends at the operand itself, so each number is compared with those
// before it.
static int find_scalar(const planner *p, int at, int i) {
  const tl_region_node *n = &p->g->nodes[at];
  const tl_dtype dtype = n->typing.operands[i];
  for (int k = 0; k <= at; k++) {
    const tl_region_node *other = &p->g->nodes[k];
    for (int j = 0; other->needed && j < other->arity; j++) {
      if (k == at && j == i)
        return -1;
      if (tl_region_is_scalar(p->g, other->in[j]) &&
          is_same(p, n->in[i], other->in[j]) &&
          other->typing.operands[j] == dtype &&
          memcmp(&other->items[j], &n->items[i], tl_itemsize(dtype)) == 0)
        return p->scalars[k][j];
    }
  }
  return -1;
}

// Each use once, and each number once for its bytes, since streams are few. All
// before the plan is arranged.
static void add_streams(planner *p) {
  for (int u = 0; u < p->g->use_count; u++) p->streams[u] = -1;
  for (int i = 0; i <= p->g->value; i++) {
    const tl_region_node *n = &p->g->nodes[i];
    for (int k = 0; n->needed && k < n->arity; k++) {
      if (n->in[k] >= 0)
        continue;
      int u = -1 - n->in[k];
      if (tl_region_is_scalar(p->g, n->in[k])) {
        int same = find_scalar(p, i, k);
        p->scalars[i][k] =
            same >= 0 ? same
                      : add_stream(p, i, k, &n->items[k],
                                   tl_itemsize(n->typing.operands[k]), NULL);
      } else if (p->streams[u] < 0) {
        p->streams[u] = add_use(p, u);
      }
    }
  }
}

// --- Steps ------------------------------------------------------------------

// The value that the node reads, cast to its dtype if need be.
// A cast makes a value of its own, which the caller releases after use.
static int add_operand(planner *p, const tl_region_node *n, int i, int at) {
  tl_dtype to = n->typing.operands[i];
  if (n->in[i] >= 0) {
    const tl_region_node *from = &p->g->nodes[n->in[i]];
    return tl_plan_cast(p->plan, p->values[n->in[i]], from->typing.result, to);
  }
  if (tl_region_is_scalar(p->g, n->in[i]))
    return p->scalars[at][i];
  int u = -1 - n->in[i];
  return tl_plan_cast(p->plan, p->streams[u],
                      tl_array_dtype(p->g->uses[u].items.array), to);
}

// Whether all operands have the dtype that is computed in, and one kernel does
// for the operation. Only then is the step told of (tl_plan_note): operands
// that a kernel widens by itself, as of int64 beside uint64, are no
// instruction's.
static bool is_uniform(const tl_region_node *n) {
  int first = n->op == TL_OP_WHERE ? 1 : 0;
  for (int i = first; i < n->arity; i++)
    if (n->typing.operands[i] != n->typing.computed)
      return false;
  return first == 0 || n->typing.operands[0] == TL_BOOL;
}

// The node by its own kernel, that of the engine's plan of one operation, so
// that the bits are the same.
static int add_node(planner *p, int at) {
  const tl_region_node *n = &p->g->nodes[at];
  int in[3] = {0, 0, 0}, before = p->plan->value_count;
  for (int i = 0; i < n->arity; i++) in[i] = add_operand(p, n, i, at);
  if (n->cast != TL_DTYPE_COUNT) {
    // Cast as an operand is; but a result is a value of its own.
    if (in[0] >= before ||
        (n->in[0] >= 0 && !tl_region_is_result(p->g, n->in[0])))
      return in[0];
    return tl_plan_unary(p->plan, tl_kernels()->cast[n->cast][n->cast], in[0],
                         tl_itemsize(n->cast));
  }
  int value =
      n->host != NULL
          ? tl_plan_host(p->plan, n->host, in, tl_itemsize(n->typing.result))
          : tl_plan_operation(p->plan, n->op, &n->typing, in);
  if (n->host == NULL && is_uniform(n))
    tl_plan_note(p->plan, value, n->op, n->typing.computed);
  for (int i = 0; i < n->arity; i++)  // what was cast for this node alone
    if (in[i] >= before && in[i] != value)
      tl_plan_release(p->plan, in[i]);
  return value;
}

// Whether node [at] reads what node [made] made.
static bool is_read(const planner *p, int at, int made) {
  const tl_region_node *n = &p->g->nodes[at];
  for (int i = 0; i < n->arity; i++)
    if (n->in[i] == made)
      return true;
  return false;
}

// Whether node [made]'s value is a result, or read after node [at].
static bool is_read_after(const planner *p, int at, int made) {
  if (tl_region_is_result(p->g, made))
    return true;
  for (int k = at + 1; k <= p->g->value; k++)
    if (p->g->nodes[k].needed && is_read(p, k, made))
      return true;
  return false;
}

// When a value has been read for the last time its register is free; casts that
// change nothing have the value of what they cast.
// A register is given back once, however many nodes have the same value.
static void release_dead(planner *p, int at) {
  for (int made = 0; made < at; made++) {
    if (!p->g->nodes[made].needed || !is_read(p, at, made))
      continue;
    bool again = false;
    for (int k = 0; k <= at && !again; k++)
      again = p->g->nodes[k].needed && p->values[k] == p->values[made] &&
              (k == at || is_read_after(p, at, k));
    if (!again)
      tl_plan_release(p->plan, p->values[made]);
  }
}

// Up to the streams of the operands; the caller adds those that are written.
static void open_plan(planner *p, const tl_region_graph *g,
                      tl_region_planned *planned, const tl_region_tile *tile) {
  p->g = g;
  p->planned = planned;
  p->plan = &planned->plan;
  p->tile = tile;
  tl_plan_open(p->plan, planned->room, tile->ndim, tile->shape);
  add_streams(p);
}

// All nodes, once the streams are there and arranged.
// Nodes are in an order in which operands come first; each frees the registers
// that it has read for the last time.
static void add_nodes(planner *p) {
  for (int i = 0; i <= p->g->value; i++) {
    if (!p->g->nodes[i].needed)
      continue;
    p->values[i] = add_node(p, i);
    release_dead(p, i);
  }
}

// The streams of the targets that are arrays, into results[]; returns the first
// one.
static int add_targets(planner *p, const tl_region_target *targets, int count,
                       tl_plan_result *results) {
  int first = -1;
  for (int i = 0; i < count; i++) {
    const tl_region_target *t = &targets[i];
    int64_t strides[TL_MAX_DIMS];
    const size_t itemsize = tl_itemsize(t->dtype);
    results[i].stream = -1;
    if (t->out == NULL)
      continue;
    tl_shape_strides(p->tile->ndim, p->tile->shape, itemsize, strides);
    results[i].stream = add_stream(p, -1, -1 - i, t->out, itemsize,
                                   t->strides == NULL ? strides : t->strides);
    if (first < 0)
      first = results[i].stream;
  }
  return first;
}

// Of several results each has to be written where it is: streams that are moved
// through registers have one output only. What the plan cannot have is seen in
// plan->failed at the end.
static bool make_plan(const tl_region_graph *g, tl_region_planned *planned,
                      const tl_region_tile *tile,
                      const tl_region_target *targets, int count) {
  planner p;
  tl_plan_result results[TL_REGION_RESULTS];
  bool consumers = false;
  open_plan(&p, g, planned, tile);
  int first = add_targets(&p, targets, count, results);
  for (int i = 0; i < count; i++) {
    int u = -1 - targets[i].node;
    consumers = consumers || targets[i].out == NULL;
    if (u >= 0 && p.streams[u] < 0)
      p.streams[u] = add_use(&p, u);
  }
  if (p.plan->failed)
    return false;
  tl_plan_arrange(p.plan, consumers ? -1 : first);
  for (int i = 0; count > 1 && i < count; i++) {
    int s = results[i].stream;  // written where it is
    if (s >= 0 && (p.plan->streams[s].packed || p.plan->values[s].single))
      return false;
  }
  add_nodes(&p);
  for (int i = 0; i < count; i++) {
    int node = targets[i].node;
    results[i].last = targets[i].last;
    results[i].value =
        node < 0 ? p.streams[-1 - node]
                 : tl_plan_cast(p.plan, p.values[node],
                                g->nodes[node].typing.result, targets[i].dtype);
  }
  tl_plan_finish(p.plan, results, count);
  if (g->vm->pieces != NULL)
    g->vm->pieces->make(g->vm, p.plan);
  return !p.plan->failed;
}

// The only result: all of the graph's value.
static tl_region_target only_target(const tl_region_graph *g, void *out,
                                    tl_dtype dtype, const int64_t *strides) {
  return (tl_region_target){
      .node = g->value, .dtype = dtype, .out = out, .strides = strides};
}

bool tl_region_plan(const tl_region_graph *g, tl_region_planned *planned,
                    const tl_region_tile *tile, void *out, tl_dtype dtype,
                    const int64_t *out_strides) {
  tl_region_target target = only_target(g, out, dtype, out_strides);
  planned->is_ready = false;  // of a part
  return make_plan(g, planned, tile, &target, 1);
}

// --- Again ------------------------------------------------------------------

// The addresses of this run: numbers stand in the nodes, arrays where the uses
// show them, results at the targets. What the run before has set for itself is
// taken back.
static tl_plan *use_again(const tl_region_graph *g, tl_region_planned *planned,
                          const tl_region_target *targets) {
  tl_plan *plan = &planned->plan;
  const tl_region_use *uses = g->uses;
  for (int s = 0; s < plan->stream_count; s++) {
    int node = planned->streams[s].node, operand = planned->streams[s].operand;
    plan->streams[s].base = node >= 0 ? (char *)&g->nodes[node].items[operand]
                            : operand >= 0 ? uses[operand].items.array->data
                                           : targets[-1 - operand].out;
  }
  plan->consume = NULL;
  plan->split = NULL;
  plan->delay = NULL;
  return plan;
}

// Shapes, dtypes and strides are as they were, which the caller knows; nothing
// is compared here.
tl_plan *tl_region_plan_to(const tl_region_graph *g, tl_region_planned *planned,
                           void *out) {
  return use_again(g, planned, &(tl_region_target){.out = out});
}

// Numbers stay from tile to tile.
tl_plan *tl_region_plan_again(const tl_region_graph *g,
                              tl_region_planned *planned,
                              const tl_region_tile *tile, void *out) {
  tl_plan *plan = &planned->plan;
  int64_t strides[TL_MAX_DIMS];
  tl_plan_cut(plan, tile->ndim, tile->shape);
  for (int s = 0; s < plan->stream_count; s++) {
    int operand = planned->streams[s].operand;
    if (planned->streams[s].node >= 0)
      continue;
    plan->streams[s].base =
        operand < 0 ? out : tile_data(g, &g->uses[operand], tile, strides);
  }
  return plan;
}

// Whether an earlier run's plan makes the same results in the same order, to
// memory of the same kinds and strides. The graph, the shapes and the operands'
// strides are the same, as the guards have compared them (region_cache.c).
static bool fits(const tl_region_planned *planned,
                 const tl_region_target *targets, int count, int ndim) {
  if (!planned->is_ready || planned->target_count != count)
    return false;
  for (int i = 0; i < count; i++)
    if (planned->targets[i].dtype != targets[i].dtype ||
        planned->targets[i].is_array != (targets[i].out != NULL) ||
        planned->targets[i].last != targets[i].last ||
        (targets[i].strides != NULL &&
         memcmp(planned->targets[i].strides, targets[i].strides,
                (size_t)ndim * sizeof *targets[i].strides) != 0))
      return false;
  return true;
}

// A fresh plan is marked ready once it is complete, and is then cached with the
// graph.
static tl_plan *plan_targets(tl_region_graph *g, const tl_region_tile *tile,
                             const tl_region_target *targets, int count) {
  tl_region_planned *planned = g->cached;
  if (planned != NULL && fits(planned, targets, count, tile->ndim))
    return use_again(g, planned, targets);
  planned = g->fresh;
  planned->is_ready = false;
  if (!make_plan(g, planned, tile, targets, count))
    return NULL;
  planned->is_ready = true;
  planned->target_count = count;
  for (int i = 0; i < count; i++) {
    planned->targets[i].dtype = targets[i].dtype;
    planned->targets[i].is_array = targets[i].out != NULL;
    planned->targets[i].last = targets[i].last;
    if (targets[i].strides != NULL)
      memcpy(planned->targets[i].strides, targets[i].strides,
             (size_t)tile->ndim * sizeof *targets[i].strides);
  }
  return &planned->plan;
}

tl_plan *tl_region_plan_whole(tl_region_graph *g, const tl_region_tile *tile,
                              void *out, tl_dtype dtype,
                              const int64_t *out_strides) {
  tl_region_target target = only_target(g, out, dtype, out_strides);
  return plan_targets(g, tile, &target, 1);
}

// NULL: more streams, steps or registers than one plan has, or a target that
// would be packed.
tl_plan *tl_region_plan_multi(tl_region_graph *g,
                              const tl_region_target *targets, int count) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  tl_region_tile tile = {shape->ndim, shape->lengths, NULL, NULL};
  return plan_targets(g, &tile, targets, count);
}

tl_region_status tl_region_run_plan(const tl_region_graph *g, tl_plan *plan,
                                    tl_plan_consume *consumer, void *context,
                                    bool may_stop) {
  if (plan == NULL)
    return TL_REGION_DECLINED;
  plan->consume = consumer;
  plan->context = context;
  return tl_plan_run(g->vm, plan, may_stop) ? TL_REGION_DONE : TL_REGION_FAILED;
}
