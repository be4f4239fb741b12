// Stage "shape": the shapes and dtypes of a region's nodes. What a region would
// compute again for each item of a larger result, sqrt(v + 1e-5) of a row's
// variance in (x - m) / sqrt(v + 1e-5), is computed before it, into arrays of
// the region's own.
//
// Built for size.
#include <math.h>

#include "vm/region/region_internal.h"

// --- Shapes -----------------------------------------------------------------

// Nodes from [at] on read [by] where they read [in].
static void read_instead(tl_region_graph *g, int at, int in, int by) {
  for (int i = at; i <= g->value; i++)
    for (int k = 0; k < g->nodes[i].arity; k++)
      if (g->nodes[i].in[k] == in)
        g->nodes[i].in[k] = by;
}

// The number of a shape, -1 where there are too many. The items of ragged rows
// are like no other shape.
// Shapes are few, so they are compared one by one. Number 0 is left out where
// it stands for the items of rows.
static int add_shape(tl_region_graph *g, int ndim, const int64_t *lengths) {
  size_t nbytes = (size_t)ndim * sizeof *lengths;
  for (int i = g->rows != NULL; i < g->shape_count; i++)
    if (g->shapes[i].ndim == ndim &&
        memcmp(g->shapes[i].lengths, lengths, nbytes) == 0)
      return i;
  if (g->shape_count == g->shape_room)
    return -1;
  g->shapes[g->shape_count].ndim = ndim;
  memcpy(g->shapes[g->shape_count].lengths, lengths, nbytes);
  return g->shape_count++;
}

// Two shapes broadcast; -1: they do not fit.
// By NumPy's rule: aligned at the last axis, where a length of 1 takes any
// other.
static int broadcast(tl_region_graph *g, int a, int b) {
  if (a == b)
    return a;
  if (g->shapes[a].ndim < g->shapes[b].ndim) {
    int other = a;
    a = b;
    b = other;
  }
  int64_t lengths[TL_MAX_DIMS];
  int ndim = g->shapes[a].ndim, more = ndim - g->shapes[b].ndim;
  memcpy(lengths, g->shapes[a].lengths, sizeof lengths);
  for (int i = more; i < ndim; i++) {
    int64_t length = g->shapes[b].lengths[i - more];
    if (lengths[i] == 1)
      lengths[i] = length;
    else if (length != 1 && length != lengths[i])
      return -1;
  }
  return add_shape(g, ndim, lengths);
}

// Ragged rows with another operand: -1 where that is neither ragged nor one
// item for each row.
static int broadcast_rows(const tl_region_graph *g, int in, int one) {
  return one == 0 || (in < 0 && tl_region_is_per_row(g, g->uses[-1 - in].items))
             ? 0
             : -1;
}

// Whether the node works on items of rows: then an array is one item for each
// row, and no other shape fits.
static bool any_ragged(const tl_region_graph *g, const tl_region_node *n) {
  bool ragged = false;
  for (int i = 0; g->rows != NULL && i < n->arity; i++)
    ragged |= n->in[i] >= 0 ? g->nodes[n->in[i]].shape == 0
                            : tl_region_is_ragged(&g->uses[-1 - n->in[i]]);
  return ragged;
}

// From left to right; operands that are numbers have no part in it. A node of
// numbers alone is not there (region_read.c).
static bool node_shape(tl_region_graph *g, tl_region_node *n) {
  int shape = -1;
  bool ragged = any_ragged(g, n);
  for (int i = 0; i < n->arity; i++) {
    int one;
    if (n->in[i] >= 0) {
      one = g->nodes[n->in[i]].shape;
    } else {
      const tl_region_use *u = &g->uses[-1 - n->in[i]];
      if (!tl_region_is_array(u->items))
        continue;
      one = tl_region_is_ragged(u) ? 0
                                   : add_shape(g, tl_ndim(u->items.array),
                                               tl_shape(u->items.array));
      if (one < 0)
        return false;
    }
    shape = ragged      ? broadcast_rows(g, n->in[i], one)
            : shape < 0 ? one
                        : broadcast(g, shape, one);
    if (shape < 0)
      return false;
  }
  n->shape = (int8_t)shape;
  return shape >= 0;
}

// Marks what an operand is: a node to be computed, or a use to be read.
static void need(tl_region_graph *g, int in) {
  if (in >= 0)
    g->nodes[in].needed = true;
  else
    g->uses[-1 - in].read = true;
}

// From the results backward. What nobody needs is neither computed nor read,
// though it has been checked.
static void mark_needed(tl_region_graph *g) {
  for (int i = 0; i < g->node_count; i++)
    g->nodes[i].needed = i <= g->value && tl_region_is_result(g, i);
  if (g->consumer == TL_CONSUMER_SELECT) {
    need(g, g->selected);
    need(g, g->mask);
  }
  for (int i = g->value; i >= 0; i--) {
    const tl_region_node *n = &g->nodes[i];
    for (int k = 0; n->needed && k < n->arity; k++) need(g, n->in[k]);
  }
}

// Node [i] does not fit.
// The reading may stop before it, or begin behind it.
static bool stop_at(tl_region_graph *g, int i) {
  g->stop = g->nodes[i].at;
  g->skip = g->nodes[i].pc;
  return false;
}

// Every node covers the whole result: what would be computed for a row is not
// repeated for each, but computed before.
static bool find_shapes(tl_region_graph *g) {
  if (!tl_region_find_rows(g))
    return stop_at(g, 0);
  for (int i = 0; i <= g->value; i++)
    if (!node_shape(g, &g->nodes[i]))
      return stop_at(g, i);
  mark_needed(g);
  for (int i = 0; i < g->value; i++)
    if (g->nodes[i].needed && g->nodes[i].shape != g->nodes[g->value].shape &&
        !tl_region_compute_hoisted(g, i))
      return stop_at(g, i);
  return true;
}

// What would have to be hoisted was hoisted when the graph was read, and then
// it was not cached.
bool tl_region_shape_again(tl_region_graph *g) {
  g->shape_count = 0;
  for (int i = 0; i <= g->value; i++)
    if (!node_shape(g, &g->nodes[i]))
      return false;
  for (int i = 0; i < g->value; i++)
    if (g->nodes[i].needed && g->nodes[i].shape != g->nodes[g->value].shape)
      return false;
  return tl_region_size(g) > 0 && tl_region_check_types(g);
}

// --- Dtypes -----------------------------------------------------------------

// A stand-in for a node's array, of which only the class is looked at. There is
// always one: without an array no region runs.
static tl_slot any_array(const tl_region_graph *g) {
  int u = 0;
  while (!tl_region_is_array(g->uses[u].items)) u++;
  return tl_borrow(g->uses[u].items);
}

// Some operations look at their operands before the first write. What is
// computed on the way cannot be looked at so early.
// An item at fault must be found before anything is written over: of a node's
// items nobody knows yet.
static bool check(tl_region_graph *g, const tl_region_node *n,
                  const tl_operand *x) {
  if (!tl_dtype_is_integer(n->typing.computed) || !tl_op_looks(n->op))
    return true;
  return n->in[1] < 0 && tl_operands_check(g->vm, n->op, x, &n->typing);
}

// Whether the number that is operand [i] of a node may change without another
// graph: the node's dtypes are the same for all values. Of an array that
// [check] has looked at nothing is known the next time.
static void note_values(tl_region_graph *g, const tl_region_node *n) {
  bool checked = tl_dtype_is_integer(n->typing.computed) && tl_op_looks(n->op);
  for (int i = 0; i < n->arity; i++) {
    if (n->in[i] >= 0)
      continue;
    tl_region_use *u = &g->uses[-1 - n->in[i]];
    bool is_divisor = i == 1 && (checked || n->is_power);
    if (!tl_region_is_array(u->value)) {
      tl_dtype dtype = n->typing.operands[i];
      bool is_safe =
          tl_dtype_is_real(dtype) || (int)dtype == tl_dtype_of(u->value);
      g->uncacheable = g->uncacheable || tl_is_heap(u->value);
      u->exact = u->exact || is_divisor || !is_safe;
    } else if (is_divisor && tl_dtype_is_integer(n->typing.computed)) {
      g->uncacheable = true;
    }
  }
}

// What a cast finds. Several threads look, and none takes back what another
// has found.
typedef struct fitting {
  tl_within *within;
  tl_bounds bounds;
  atomic_bool failed;
} fitting;

static void look_at(void *context, const void *const *items, size_t n) {
  fitting *f = context;
  if (!atomic_load(&f->failed) && !f->within(items[0], n, &f->bounds))
    atomic_store(&f->failed, true);
}

static void *look_on(void *context, int64_t first, void *local) {
  (void)first;
  (void)local;
  return context;
}

// An item that does not fit has to be found before anything is written over, so
// what is cast is computed twice: it is to be cheap, and as large as what is
// moved to save memory. An error may be pending.
static bool fits_all(tl_region_graph *g, tl_region_node *n, tl_dtype from) {
  static const tl_plan_split split = {.items = 1, .begin = look_on};
  fitting f = {.within = tl_kernels()->within[from]};
  tl_region_node nodes[TL_REGION_NODES];  // large: not cleared
  tl_region_graph part = *g;
  int at = (int)(n - g->nodes);
  if (!tl_cast_bounds(from, n->cast, &f.bounds))
    return true;
  size_t nbytes = (size_t)tl_region_size(g) * tl_itemsize(from);
  if (!tl_is_worth_moving(g->vm, nbytes) || g->rows != NULL)
    return false;
  memcpy(nodes, g->nodes, (size_t)at * sizeof *nodes);
  nodes[at] = (tl_region_node){
      .cast = from,
      .arity = 1,
      .shape = n->shape,
      .in = {n->in[0]},
      .typing = {.operands = {from}, .computed = from, .result = from}};
  part.nodes = nodes;
  part.value = at;
  part.node_count = at + 1;
  part.consumer = TL_CONSUMER_ARRAY;
  part.cached = NULL;
  part.result_count = 0;
  mark_needed(&part);
  g->uncacheable = true;
  return tl_region_is_cheap(&part) &&
         tl_region_feed(&part, NULL, from, look_at, &f, &split) ==
             TL_REGION_DONE &&
         !atomic_load(&f.failed);
}

static bool resolve_cast(tl_region_graph *g, tl_region_node *n) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype from = n->in[0] >= 0
                      ? g->nodes[n->in[0]].typing.result
                      : tl_array_dtype(g->uses[-1 - n->in[0]].items.array);
  n->typing = (tl_typing){
      .operands = {n->cast}, .computed = n->cast, .result = n->cast};
  return kernels->cast[from][n->cast] != NULL && fits_all(g, n, from);
}

// As the operation alone would decide it, with the operands' dtypes and
// weakness; its scalars are converted for this node. A power of a number
// becomes its cheaper form here.
static bool resolve_node(tl_region_graph *g, tl_region_node *n) {
  tl_operand x[3];
  tl_slot slots[3];
  for (int i = 0; i < n->arity; i++) {
    bool is_number = true;
    slots[i] = n->in[i] >= 0 ? any_array(g)  // only that it is an array counts
                             : tl_borrow(g->uses[-1 - n->in[i]].items);
    if (!tl_operand_open(g->vm, &slots[i], &x[i], &is_number) || !is_number)
      return false;
    if (n->in[i] < 0)
      continue;
    // No array is weak, not even the choice between two literals.
    x[i].dtype = g->nodes[n->in[i]].typing.result;
  }
  if (!tl_operands_resolve(g->vm, n->op, x, slots, &n->typing) ||
      !check(g, n, x))
    return false;
  for (int i = 0; i < n->arity; i++)
    if (x[i].array == NULL)
      n->items[i] = x[i].item;
  note_values(g, n);
  if (n->op != TL_OP_POW)
    return true;
  n->op = tl_power_form(&x[1], n->typing.computed);
  n->arity = (int8_t)tl_ops[n->op].arity;
  return true;
}

// The host's loop gets its operands as the dtypes that its signature names,
// where that loses no kind and needs no look at the items.
static bool resolve_host(tl_region_graph *g, tl_region_node *n) {
  n->typing = (tl_typing){.computed = n->host->result->dtype,
                          .result = n->host->result->dtype};
  for (int i = 0; i < n->arity; i++) {
    tl_dtype to = n->host->params[i]->dtype;
    tl_region_use *u = n->in[i] < 0 ? &g->uses[-1 - n->in[i]] : NULL;
    n->typing.operands[i] = to;
    if (u != NULL && !tl_region_is_array(u->value)) {
      u->exact = true;
      if (!tl_scalar_convert(g->vm, u->value, to, &n->items[i]))
        return false;
      continue;
    }
    tl_dtype from = u == NULL ? g->nodes[n->in[i]].typing.result
                              : tl_array_dtype(u->value.array);
    if (!tl_region_is_cast(from, to))
      return false;
  }
  return g->rows == NULL;
}

// The dtypes of a node, and its scalars in them.
static bool resolve_any(tl_region_graph *g, tl_region_node *n) {
  return n->host != NULL             ? resolve_host(g, n)
         : n->cast == TL_DTYPE_COUNT ? resolve_node(g, n)
                                     : resolve_cast(g, n);
}

// The node's plan stays good where its operation and all its dtypes are the
// same as before. Else it is as it was, so that another try does not find what
// this one has left.
bool tl_region_resolve_again(tl_region_graph *g, int at) {
  tl_region_node *n = &g->nodes[at], before = *n;
  bool same = resolve_any(g, n) && before.op == n->op &&
              before.arity == n->arity &&
              before.typing.computed == n->typing.computed &&
              before.typing.result == n->typing.result;
  for (int i = 0; i < n->arity; i++)
    same = same && before.typing.operands[i] == n->typing.operands[i];
  if (!same)
    *n = before;
  return same;
}

// --- Norms ------------------------------------------------------------------

// A node that computes [op], or casts, of node [of]; -1: that cannot be.
// Appended behind the last node; its shape is that of [of].
static int add_node(tl_region_graph *g, int of, tl_op op, tl_dtype cast,
                    int other) {
  if (g->node_count == TL_REGION_NODES)
    return -1;
  tl_region_node *n = &g->nodes[g->node_count];
  *n = (tl_region_node){
      .op = op,
      .cast = cast,
      .arity = (int8_t)(cast == TL_DTYPE_COUNT ? tl_ops[op].arity : 1),
      .shape = g->nodes[of].shape,
      .needed = true,
      .is_power = op == TL_OP_POW,
      .in = {of, other},
      .at = g->nodes[of].at,
      .pc = g->nodes[of].pc};
  if (!(cast == TL_DTYPE_COUNT ? resolve_node(g, n) : resolve_cast(g, n)))
    return -1;
  return g->node_count++;
}

// What is folded for the norm of a node: |x|, to the power of p; -1: that
// cannot be.
static int add_norm(tl_region_graph *g, const tl_builtin *norm,
                    const tl_slot *arguments, int node, tl_fold_call *call,
                    double *p) {
  tl_dtype given = g->nodes[node].typing.result, made = tl_norm_items(given);
  if (!g->vm->library->fused->norm(g->vm, norm,
                                   g->shapes[g->nodes[node].shape].ndim,
                                   arguments, call, p) ||
      g->use_count == TL_REGION_USES)
    return -1;
  if (*p == 0)
    return node;
  if (made != given)
    node = add_node(g, node, TL_OP_POSITIVE, made, 0);
  if (node >= 0)
    node = add_node(g, node, TL_OP_ABS, TL_DTYPE_COUNT, 0);
  if (node < 0 || isinf(*p))
    return node;
  tl_slot power = tl_weak_float(*p);
  g->uses[g->use_count++] = (tl_region_use){.value = power,
                                            .items = power,
                                            .root = -1,
                                            .direct = true,
                                            .read = true,
                                            .fixed = true};
  return add_node(g, node, TL_OP_POW, TL_DTYPE_COUNT, -g->use_count);
}

// Of a region that ends in a norm.
static bool end_in_norm(tl_region_graph *g) {
  tl_fold_call call;
  double p;
  // The nodes behind the result are nobody's.
  g->node_count = g->value + 1;
  g->before_norm = g->value;
  g->value = add_norm(g, g->fold, g->arguments, g->value, &call, &p);
  return g->value >= 0;
}

// What the calls among several results ask for.
static bool read_calls(tl_region_graph *g) {
  for (int i = 0; i < g->result_count; i++) {
    tl_region_result *r = &g->results[i];
    const tl_slot *arguments = g->result_arguments[i];
    int ndim = g->shapes[g->nodes[r->node].shape].ndim;
    if (r->fold == NULL)
      continue;
    r->norm_of = TL_DTYPE_COUNT;
    if (r->fold->fused == TL_FUSED_NORM) {
      r->norm_of = g->nodes[r->node].typing.result;
      r->node = add_norm(g, r->fold, arguments, r->node, &r->call, &r->norm);
      if (r->node < 0)
        return false;
      g->value = g->node_count - 1;
    } else if (!(r->fold->fused == TL_FUSED_SCAN
                     ? g->vm->library->fused->scan(g->vm, r->fold, ndim,
                                                   arguments, &r->scan)
                     : g->vm->library->fused->reduction(g->vm, r->fold, ndim,
                                                        arguments, &r->call))) {
      return false;
    }
  }
  return true;
}

// The use before [use] that is the same array; -1: none.
static int find_shared(const tl_region_graph *g, int use) {
  const tl_region_use *u = &g->uses[use];
  for (int i = 0; u->read && tl_is_array(u->value) && i < use; i++)
    if (g->uses[i].read && g->uses[i].direct &&
        g->uses[i].value.pointer == u->value.pointer)
      return i;
  return -1;
}

// One array may come from two places: x of (a * x + b) * x is in a slot before
// the region begins, and is loaded from the closure within it. It is one stream
// all the same, and the guard says that it is one array in later runs, too.
// Whose memory ends is known of the places, which stay two. Parameters, which
// both come from slots, are one array by chance.
static void share_arrays(tl_region_graph *g) {
  for (int i = 0; i < g->guard_count; i++) {
    tl_region_guard *f = &g->guards[i];
    bool is_loaded = f->from == TL_FROM_CAPTURE || f->from == TL_FROM_VARIABLE;
    int first = is_loaded ? find_shared(g, f->use) : -1;
    if (first < 0)
      continue;
    f->again = true;
    f->of[1] = (int8_t)first;
    read_instead(g, 0, -1 - f->use, -1 - first);
  }
}

// Shapes first, since hoisted nodes become uses; then dtypes in the order of
// the nodes, checks of types, and what the calls among the results ask for.
bool tl_region_resolve(tl_region_graph *g) {
  g->stop = 0;
  if (!find_shapes(g))
    return false;
  for (int i = 0; i <= g->value; i++)
    if (!resolve_any(g, &g->nodes[i]))
      return stop_at(g, i);
  share_arrays(g);
  bool norm =
      g->consumer == TL_CONSUMER_FOLD && g->fold->fused == TL_FUSED_NORM;
  return tl_region_check_types(g) && (norm ? end_in_norm(g) : read_calls(g));
}

// === Parts that are computed first ===========================================

// So much smaller than the result: else it is an array that one by one could
// have stood in an operand's memory.
// An eighth or less: the hoisted array is then small beside what the region
// saves.
enum { PART_OF = 8 };

// Only nodes that values from outside give at once are computed alone, by the
// engine's own operation.
static bool is_given(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < n->arity; i++)
    if (n->in[i] >= 0 || g->uses[-1 - n->in[i]].wrap > 0)
      return false;
  return n->host == NULL && g->rows == NULL;
}

// The node's value from here on, wherever it is read.
// Nodes before it cannot read it, as operands come first.
static void replace(tl_region_graph *g, int node, tl_slot made) {
  tl_slot value = tl_borrow(made);
  g->hoisted[g->hoisted_count++] = made;
  g->uses[g->use_count++] = (tl_region_use){
      .value = value, .items = value, .root = -1, .direct = true, .read = true};
  read_instead(g, node + 1, node, -g->use_count);
  g->nodes[node].needed = false;
  g->uncacheable = true;
}

// The hoisted array that operand [k] of the node shows, if nothing else reads
// it, also as what a cast to its own dtype gave: its number; else -1. Nodes
// before it that were not hoisted themselves run later than it.
static int ends_at(const tl_region_graph *g, int node, int k) {
  const void *array = g->uses[-1 - g->nodes[node].in[k]].value.pointer;
  int readers = 0;
  for (int i = 0; i <= g->value; i++)
    for (int j = 0; g->nodes[i].needed && j < g->nodes[i].arity; j++) {
      int in = g->nodes[i].in[j];
      readers += in < 0 && g->uses[-1 - in].value.pointer == array;
    }
  for (int h = 0; h < g->hoisted_count && readers == 1; h++)
    if (g->hoisted[h].pointer == array)
      return h;
  return -1;
}

// Deeper parts come one after the other: a node that was hoisted is a use of
// the next, and the result may go into the memory of such a one.
bool tl_region_compute_hoisted(tl_region_graph *g, int node) {
  const tl_region_node *n = &g->nodes[node];
  const tl_region_shape *shape = &g->shapes[n->shape];
  tl_slot operands[3], made;
  if (tl_region_size(g) < TL_REGION_LARGE ||
      tl_shape_count(shape->ndim, shape->lengths) >
          tl_region_size(g) / PART_OF ||
      !is_given(g, n) || tl_region_is_result(g, node) ||
      g->hoisted_count == TL_REGION_HOISTED || g->use_count == TL_REGION_USES)
    return false;
  for (int i = 0; i < n->arity; i++) {
    int ends = ends_at(g, node, i);
    operands[i] =
        ends < 0 ? tl_borrow(g->uses[-1 - n->in[i]].value) : g->hoisted[ends];
  }
  if (n->cast == TL_DTYPE_COUNT ? !tl_elementwise(g->vm, n->op, operands, &made)
                                : !tl_cast(g->vm, operands, n->cast, &made))
    return false;
  // What was written over is no array of the graph's any more.
  for (int h = 0; h < g->hoisted_count; h++)
    if (tl_is_owned(made) && g->hoisted[h].pointer == made.pointer)
      g->hoisted[h] = g->hoisted[--g->hoisted_count];
  replace(g, node, made);
  return true;
}

// The arrays are owned by the graph alone.
void tl_region_end_hoisted(tl_region_graph *g) {
  for (int i = 0; i < g->hoisted_count; i++) tl_drop(g->vm, g->hoisted[i]);
  g->hoisted_count = 0;
}
