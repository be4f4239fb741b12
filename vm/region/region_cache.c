// Stage "cache": regions that have run before: their graphs and plans are
// cached beside the code and used again where the operands are of the same
// types, shapes and strides. Reading the instructions, deciding dtypes and
// planning then come down to a few comparisons for each operand.
//
// A graph says how it was read as a list of guards, one for each value that it
// takes from outside. Taking these values again in order, and finding each as
// the graph expects it, shows that reading would give the same graph. Numbers
// may differ, where dtypes do not depend on them; views are moved to where
// their arrays and indices are now.

#include "vm/engine/scalars.h"
#include "vm/region/region_internal.h"

// Graphs of one region differ in their operands' types and shapes; a loop
// seldom sees more than a few, and each is tried in turn.
enum {
  CACHED_MOST = 128,  // in a VM
  CACHED_OF_A_REGION = 4,
};

// --- Taking values again ----------------------------------------------------

// What a graph may see without being another one: who owns.
#define ANY_TAG (TL_OWNED | TL_DIRECT)

// [dims] is ndim, the lengths, then the strides, as cut_dims has written them.
static bool same_dims(const tl_array *a, const int64_t *dims) {
  int ndim = tl_ndim(a);
  if (ndim != dims[0])
    return false;
  for (int i = 0; i < 2 * ndim; i++)
    if (a->dims[i] != dims[i + 1])
      return false;
  return true;
}

// Notes that axes of an array that the graph reads are other ones now than
// [before] says, lengths and then strides. The plan stays good for a vector of
// another length: it says nothing of that but in its size, unless an item is
// repeated for the others.
// A length of 1 is one that is broadcast, or stops being so: strides of 0 come
// or go, and these are in the plan.
static void note_axes(tl_region_cached *k, int ndim, const int64_t *before,
                      const int64_t *lengths, const int64_t *strides) {
  k->is_reshaped = true;
  for (int i = 0; i < ndim; i++)
    if (ndim != 1 || before[ndim + i] != strides[i] || before[i] <= 1 ||
        lengths[i] <= 1)
      k->is_restrided = true;
}

// The array's lengths and strides from now on. [dims] is ndim, then both.
static bool reshape_dims(tl_region_cached *k, const tl_array *a,
                         int64_t *dims) {
  int ndim = tl_ndim(a);
  if (!k->any_length || ndim != dims[0])
    return false;
  note_axes(k, ndim, dims + 1, tl_shape(a), tl_strides(a));
  memcpy(dims + 1, a->dims, (size_t)ndim * 2 * sizeof *dims);
  return true;
}

// Whether the value is of the same type, and of an array of the same shape and
// strides; it is then the use's from now on. A number may differ unless the
// graph is good for the old one alone.
static inline bool take_as(tl_region_cached *k, tl_region_use *u,
                           tl_slot value) {
  if (((value.tag ^ u->value.tag) & ~ANY_TAG) != 0)
    return false;
  if (tl_is_array(value)) {
    if (!same_dims(value.array, u->dims) &&
        !reshape_dims(k, value.array, u->dims))
      return false;
  } else {
    bool differs = value.u != u->value.u;
    if (differs && u->exact)
      return false;
    u->changed = k->is_stale || differs;
  }
  tl_copy_slot(&u->value, &value);
  tl_copy_slot(&u->items, &value);
  return true;
}

// The same by the use's number.
static inline bool take(tl_region_cached *k, int use, tl_slot value) {
  return take_as(k, &k->graph.uses[use], value);
}

// The root of the slot gets the value as well, since memory may be taken over
// from it.
// Without a root there is only a number, whose slot need not be written.
static bool take_slot(tl_region_cached *k, const tl_region_guard *f) {
  tl_region_graph *g = &k->graph;
  tl_slot value = g->base[f->at];
  tl_region_use *u = &g->uses[f->use];
  if (!take_as(k, u, value))
    return false;
  if (u->root >= 0)
    tl_copy_slot(&g->roots[u->root].value, &value);
  return true;
}

// Of an array that the reading saw in two places the second has to have it.
static bool take_variable(tl_region_cached *k, const tl_region_guard *f,
                          tl_slot value) {
  return (!f->again ||
          k->graph.uses[f->of[1]].value.pointer == value.pointer) &&
         take(k, f->use, value);
}

// Whether what is computed of these uses has to be computed again.
static bool any_changed(const tl_region_graph *g, const int8_t *uses,
                        int count) {
  for (int i = 0; i < count; i++)
    if (g->uses[uses[i]].changed)
      return true;
  return false;
}

// The plan is good for views of this shape and these strides, wherever they
// begin.
static bool same_geometry(const tl_array *view, const tl_selection *s) {
  if (tl_ndim(view) != s->ndim)
    return false;
  for (int i = 0; i < s->ndim; i++)
    if (view->dims[i] != s->shape[i] ||
        view->dims[s->ndim + i] != s->strides[i])
      return false;
  return true;
}

// The view's shape and strides from now on. One that an earlier guard has made
// has them already.
static bool reshape_view(tl_region_cached *k, const tl_region_guard *f,
                         const tl_selection *s) {
  tl_region_use *u = &k->graph.uses[f->use];
  tl_array *view = u->value.array;
  const int ndim = tl_ndim(view);
  if (!k->any_length || f->again || ndim != s->ndim)
    return false;
  note_axes(k, ndim, view->dims, s->shape, s->strides);
  tl_set_dims(view, ndim, s->shape, s->strides);
  u->value.tag = u->items.tag = tl_array_tag(view);
  return true;
}

// Where the index selects now; the view must be of the same shape, unless any
// will do.
static bool select_again(tl_region_cached *k, tl_region_guard *f,
                         const tl_array *from) {
  tl_region_graph *g = &k->graph;
  const tl_region_index *index = &g->indices[f->at];
  tl_selection s;
  if (!tl_region_find_index(g, from, index, &s))
    return false;
  f->offset = s.data - from->data;
  return f->from == TL_FROM_ITEM
             ? s.ndim == 0
             : same_geometry(g->uses[f->use].value.array, &s) ||
                   reshape_view(k, f, &s);
}

// The index is applied again only where one of its parts has changed, or
// perhaps the array; otherwise the view is as far from its array's beginning as
// before.
static bool take_part(tl_region_cached *k, tl_region_guard *f) {
  tl_region_graph *g = &k->graph;
  const tl_array *from = g->uses[f->of[0]].value.array;
  if (f->from == TL_FROM_AXES) {
    if (k->is_reshaped)
      return false;
  } else {
    const tl_region_index *index = &g->indices[f->at];
    if ((k->is_reshaped || any_changed(g, index->parts, index->count)) &&
        !select_again(k, f, from))
      return false;
  }
  if (f->from == TL_FROM_ITEM)
    return take(k, f->use,
                tl_scalar_load(tl_array_dtype(from), from->data + f->offset));
  return tl_region_move_view(g, f);
}

// How many uses the guard computes its value of.
static int scalars_of(const tl_region_guard *f) {
  return f->from == TL_FROM_CAST ? 1 : tl_ops[f->at].arity;
}

// Numbers alone, which the engine does without an array. An error may be
// pending where it is false.
bool tl_region_compute_scalars(const tl_region_graph *g,
                               const tl_region_guard *f, tl_slot *out) {
  tl_slot operands[3];
  for (int i = 0; i < scalars_of(f); i++)
    operands[i] = tl_borrow(g->uses[f->of[i]].value);
  if (f->from == TL_FROM_SCALARS && tl_ops[f->at].arity == 2 &&
      tl_is_scalar(operands[0]) && tl_is_scalar(operands[1]) &&
      tl_scalar_binary((tl_op)f->at, &operands[0], &operands[1], out))
    return true;
  bool ok = f->from == TL_FROM_CAST
                ? tl_cast(g->vm, &operands[0], (tl_dtype)f->at, out)
                : tl_elementwise(g->vm, (tl_op)f->at, operands, out);
  if (!ok || !tl_is_heap(*out))
    return ok;
  tl_drop(g->vm, *out);  // complex128: rare enough to go one by one
  return false;
}

// Nothing is computed where the operands are as they were.
static bool take_scalars(tl_region_cached *k, const tl_region_guard *f) {
  tl_region_graph *g = &k->graph;
  tl_slot result;
  if (!any_changed(g, f->of, scalars_of(f))) {
    g->uses[f->use].changed = false;
    return true;
  }
  return tl_region_compute_scalars(g, f, &result) && take(k, f->use, result);
}

// --- Reductions -------------------------------------------------------------

// What arguments of reductions are that nobody gives, and correction: 1.
enum { USUAL = 4 };
static tl_slot usual(int64_t which) {
  return which == 0   ? tl_none()
         : which == 1 ? tl_bool(false)
                      : tl_weak_int(which - 2);
}

bool tl_region_usual(const tl_slot *arguments, uint32_t count, int64_t *all) {
  *all = 0;
  for (uint32_t i = 1; i < count; i++) {
    int64_t k = 0;
    while (k < USUAL &&
           (usual(k).tag != arguments[i].tag || usual(k).u != arguments[i].u))
      k++;
    if (k == USUAL)
      return false;
    *all |= k << 2 * i;
  }
  return true;
}

// An array, or a complex number, is not kept.
static bool take_reduction(tl_region_cached *k, const tl_region_guard *f) {
  tl_region_graph *g = &k->graph;
  tl_decoded d;
  tl_slot value, arguments[TL_MAX_PARAMS];
  tl_decode(g->function, f->at, &d);
  const tl_builtin *builtin = g->function->constants[d.extra].pointer;
  arguments[0] = tl_borrow(g->uses[f->of[0]].items);
  for (uint32_t i = 1; i < d.window_count; i++)
    arguments[i] = usual(f->offset >> 2 * i & 3);
  if (!tl_builtin_run(g->vm, builtin, arguments, &value))
    return false;
  bool ok = !tl_is_heap(value) && take(k, f->use, value);
  tl_drop(g->vm, value);
  return ok;
}

// --- All guards --------------------------------------------------------------

// One guard: its value is taken, or what it says is tested. The order of the
// guards is that of the reading, so that a guard finds what it needs taken.
static bool take_guard(tl_region_cached *k, tl_region_guard *f) {
  tl_region_graph *g = &k->graph;
  switch ((tl_region_source)f->from) {
    case TL_FROM_SLOT:
      return take_slot(k, f);
    case TL_FROM_CAPTURE:
    case TL_FROM_VARIABLE:
    case TL_FROM_SELF:
    case TL_FROM_LENGTH:
    case TL_FROM_FIELD:
    case TL_FROM_LIST:
      return take_variable(k, f, tl_region_load(g, f));
    case TL_FROM_REDUCTION:
      return take_reduction(k, f);
    case TL_FROM_CALLEE:
      return tl_function_prototype(g->uses[f->use].value) ==
             g->callees[f->at].function;
    case TL_FROM_BORROWED:
      return take(k, f->use, tl_borrow(g->uses[f->of[0]].value));
    case TL_FROM_VIEW:
    case TL_FROM_ITEM:
    case TL_FROM_AXES:
      return take_part(k, f);
    case TL_FROM_SCALARS:
    case TL_FROM_CAST:
      return take_scalars(k, f);
    default:
      return tl_region_transfer(g, f);
  }
}

// The numbers that nodes read, converted anew where they have changed.
// A float64 for a float64 operand is the common case, and is copied without
// deciding any dtypes.
static bool convert_numbers(tl_region_graph *g) {
  for (int i = 0; i <= g->value; i++) {
    tl_region_node *n = &g->nodes[i];
    bool again = false;
    for (int k = 0; n->needed && k < n->arity; k++) {
      const tl_region_use *u = n->in[k] < 0 ? &g->uses[-1 - n->in[k]] : NULL;
      if (u == NULL || !u->changed)
        continue;
      if ((u->value.tag & 0xff) == TL_CLASS_F64 &&
          n->typing.operands[k] == TL_FLOAT64)
        memcpy(&n->items[k], &u->value.f, sizeof u->value.f);
      else
        again = true;
    }
    if (again && !tl_region_resolve_again(g, i))
      return false;
  }
  return true;
}

// Numbers of indices alone are no operands, and need no conversion. Roots begin
// each run as if nothing had taken their memory over yet.
static bool take_all(tl_region_cached *k) {
  tl_region_graph *g = &k->graph;
  bool changed = false;
  for (int i = 0; i < g->guard_count; i++) {
    tl_region_guard *f = &g->guards[i];
    if (!take_guard(k, f))
      return false;
    changed |= g->uses[f->use].changed && g->uses[f->use].read;
  }
  if (changed && !convert_numbers(g))
    return false;
  for (int i = 0; i < g->root_count; i++)
    g->roots[i].consumed = g->roots[i].ends;
  return true;
}

// Whether arrays of other lengths give the same graph but for its shapes: none
// that a selection has found, or that are transposed or rolled.
static bool may_reshape(const tl_region_cached *k) {
  const tl_region_graph *g = &k->graph;
  return g->consumer != TL_CONSUMER_SELECT && g->wrap_count == 0;
}

// Pieces of a plan that is kept stay with it.
static void hold_pieces(const tl_region_cached *k, int change) {
  const tl_vm *vm = k->graph.vm;
  if (vm->pieces != NULL)
    vm->pieces->hold(&k->planned.plan, change);
}

// The graph is without a plan until a run makes one.
static void drop_plan(tl_region_cached *k) {
  if (k->planned.is_ready)
    hold_pieces(k, -1);
  k->planned.is_ready = k->is_short = false;
}

// The nodes' shapes and the plan after arrays have got other lengths: a plan of
// one axis is cut to the new one, another one is made anew by the run.
// Where a node would have to be hoisted for the new lengths the graph is not
// good.
static bool end_reshape(tl_region_cached *k) {
  tl_region_graph *g = &k->graph;
  tl_plan *plan = &k->planned.plan;
  if (!tl_region_shape_again(g))
    return false;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  if (shape->ndim != 1 || k->is_restrided || !k->planned.is_ready ||
      plan->ndim != 1) {
    drop_plan(k);
  } else {
    plan->shape[0] = plan->size = shape->lengths[0];
    tl_region_find_short(k);
  }
  return true;
}

// Where a guard fails, some values are already of this run: the graph is stale,
// and all its numbers count as changed the next time.
static bool take_again(tl_region_cached *k) {
  k->graph.view_words = k->view_words;
  if (take_all(k) && (!k->is_reshaped || end_reshape(k))) {
    k->any_length = k->is_reshaped;
    k->is_reshaped = k->is_restrided = k->is_stale = false;
    return true;
  }
  k->is_stale = true;
  if (k->graph.vm->error.set && !tl_region_is_stopped(k->graph.vm))
    tl_error_clear(k->graph.vm);
  return false;
}

// The last used is tried first, as loops use one graph over and over.
static void move_to_front(tl_region *where, tl_region_cached *k) {
  tl_region_cached **at = &where->cached;
  if (*at == k)
    return;
  while (*at != k) at = &(*at)->next;
  *at = k->next;
  k->next = where->cached;
  where->cached = k;
}

// Graphs in a row that were read and good for no later run: what comes is of
// other lengths each time.
enum { READ_IN_VAIN = 2 };

// A busy graph belongs to a run further up the stack, of a function that calls
// itself. Of a few lengths in turn each gets a graph of its own; where there
// are ever more of them, the first graph is tried for any, the rest as they
// are.
tl_region_cached *tl_region_find_cached(tl_region *where, uint32_t pc,
                                        tl_slot *base, bool *other) {
  bool any_length = where->wait > 0 && where->runs > READ_IN_VAIN;
  for (tl_region_cached *k = where->cached; k != NULL; k = k->next) {
    if (k->pc != pc || k->is_busy)
      continue;
    k->graph.base = base;
    k->is_last = false;
    k->any_length = any_length && may_reshape(k);
    any_length = false;
    if (take_again(k)) {
      *other = k->any_length;
      move_to_front(where, k);
      return k;
    }
    if (tl_region_is_stopped(k->graph.vm))  // within a reduction
      return NULL;
  }
  return NULL;
}

// --- Keeping ----------------------------------------------------------------

// The memory of a cached graph, cut into its arrays; first without memory, to
// measure.
typedef struct cutter {
  char *at;
  size_t nbytes;
} cutter;

// Parts begin at multiples of 16. Without memory it only counts, so that
// measuring and copying cannot differ.
static void *cut(cutter *c, const void *from, int count, size_t itemsize) {
  char *to = c->at == NULL ? NULL : c->at + c->nbytes;
  size_t nbytes = (size_t)count * itemsize;
  c->nbytes += (nbytes + 15) & ~(size_t)15;
  if (to != NULL && from != NULL)
    memcpy(to, from, nbytes);
  return to;
}

// Room for the views of a place, which each run makes anew, twice for a copy of
// the target.
// A view's header, its lengths and strides; the same sum as in tl_region_view.
static int place_words(const tl_region_graph *g) {
  int places = g->consumer == TL_CONSUMER_PLACE ? 2 : 0;
  for (int i = 0; i < g->result_count; i++) places += g->results[i].target >= 0;
  return places * ((int)(sizeof(tl_array) / sizeof(int64_t)) +
                   2 * g->shapes[g->nodes[g->value].shape].ndim + 1);
}

// Of arrays that are no views: a view's header is in the graph itself and is
// compared there.
// A vector has three words, a matrix five.
static void cut_dims(cutter *c, tl_region_use *uses, int count) {
  for (int i = 0; i < count; i++) {
    if (!uses[i].direct || !tl_is_array(uses[i].value))
      continue;
    const tl_array *a = uses[i].value.array;
    int ndim = tl_ndim(a);
    int64_t *dims = cut(c, NULL, 1 + 2 * ndim, sizeof *dims);
    if (dims == NULL)
      continue;
    dims[0] = ndim;
    memcpy(dims + 1, a->dims, (size_t)ndim * 2 * sizeof *dims);
    uses[i].dims = dims;
  }
}

// Of the views' headers in the new memory.
// Views are found at the same distance from the beginning of the views' memory.
static void move_views(tl_region_graph *to, const tl_region_graph *from) {
  for (int i = 0; i < to->use_count; i++) {
    tl_region_use *u = &to->uses[i];
    if (u->direct || !tl_is_array(u->value))
      continue;
    ptrdiff_t at = (int64_t *)(void *)u->value.array - from->views;
    u->value.array = u->items.array = (tl_array *)(void *)(to->views + at);
  }
}

// Copies [g] into the cutter's memory, or measures it.
// Only what a later run asks for: nodes up to the result, bindings that write a
// slot. [view_words] is what the reading has used, without what the run added.
static void copy_graph(cutter *c, const tl_region_graph *g, int view_words,
                       tl_region_graph *to) {
#define CUT(NAME, COUNT) to->NAME = cut(c, g->NAME, COUNT, sizeof *g->NAME)
  CUT(nodes, g->value + 1);
  CUT(uses, g->use_count);
  CUT(roots, g->root_count);
  CUT(guards, g->guard_count);
  CUT(indices, g->index_count);
  CUT(shapes, g->shape_count);
  CUT(wraps, g->wrap_count);
#undef CUT
  to->views = cut(c, NULL, view_words + place_words(g), sizeof *g->views);
  to->bindings = cut(c, NULL, g->binding_count, sizeof *g->bindings);
  cut_dims(c, c->at == NULL ? g->uses : to->uses, g->use_count);
  if (c->at == NULL)
    return;
  memcpy(to->views, g->views, (size_t)view_words * sizeof *g->views);
  to->view_room = view_words + place_words(g);
  to->shape_room = g->shape_count;
  to->binding_count = 0;
  for (int i = 0; i < g->binding_count; i++)
    if (g->bindings[i].binds)
      to->bindings[to->binding_count++] = g->bindings[i];
  move_views(to, g);
}

// Takes a graph out of its region's list and of the VM's, which has all graphs
// from the newest to the oldest.
static void unlink_cached(tl_vm *vm, tl_region_cached *k) {
  tl_region_cached **at = &k->where->cached;
  while (*at != k) at = &(*at)->next;
  *at = k->next;
  *(k->newer != NULL ? &k->newer->older : &vm->regions) = k->older;
  *(k->older != NULL ? &k->older->newer : &vm->oldest_region) = k->newer;
  vm->region_count--;
}

// Memory of cached graphs is spare: it is counted beside that of values and
// goes first where memory is short.
void tl_region_drop_cached(tl_vm *vm, tl_region_cached *k) {
  drop_plan(k);
  unlink_cached(vm, k);
  tl_spare_free(vm, k, k->nbytes);
}

// First in its region's list and the newest of the VM's.
static void link_cached(tl_vm *vm, tl_region *where, tl_region_cached *k) {
  k->where = where;
  k->next = where->cached;
  where->cached = k;
  k->newer = NULL;
  k->older = vm->regions;
  *(vm->regions != NULL ? &vm->regions->newer : &vm->oldest_region) = k;
  vm->regions = k;
  vm->region_count++;
}

// The last of the region's, where it has enough; or the VM's oldest.
static void make_room(tl_vm *vm, tl_region *where) {
  int count = 0;
  tl_region_cached *last = NULL;
  for (tl_region_cached *k = where->cached; k != NULL; k = k->next, count++)
    last = k;
  if (count < CACHED_OF_A_REGION)
    last = vm->region_count < CACHED_MOST ? NULL : vm->oldest_region;
  if (last != NULL && !last->is_busy)
    tl_region_drop_cached(vm, last);
}

// Copies a plan behind the graph, where it fits.
// A plan that does not fit the memory behind its graph, as one for other
// lengths may not, is made anew in each run.
static void keep_plan(tl_region_cached *k, const tl_region_planned *planned) {
  k->planned.is_ready =
      planned->is_ready && tl_plan_nbytes(&planned->plan) <= k->plan_nbytes;
  if (k->planned.is_ready) {
    k->planned = *planned;
    tl_plan_copy(&k->planned.plan, k->plan_memory, &planned->plan);
    hold_pieces(k, 1);
  }
  k->planned.room = NULL;
}

// The plan is the one that the run has made beside the graph.
void tl_region_renew(tl_region_cached *k) {
  if (k->planned.is_ready || !k->graph.fresh->is_ready)
    return;
  keep_plan(k, k->graph.fresh);
  tl_region_find_short(k);
}

// One block of memory: the header, the graph's arrays, and the plan behind
// them.
void tl_region_cache(tl_region_graph *g, tl_region *where, uint32_t pc) {
  tl_vm *vm = g->vm;
  const tl_region_planned *planned = g->fresh;
  int view_words = g->view_words;
  if (g->uncacheable || g->rows != NULL)
    return;
  cutter c = {NULL, 0};
  tl_region_graph unused;
  copy_graph(&c, g, view_words, &unused);
  size_t header = (sizeof(tl_region_cached) + 15) & ~(size_t)15;
  size_t plan_nbytes = planned->is_ready ? tl_plan_nbytes(&planned->plan) : 0;
  size_t nbytes = header + c.nbytes + plan_nbytes;
  make_room(vm, where);
  tl_region_cached *k = tl_spare_alloc(vm, nbytes);
  if (k == NULL)
    return;
  c = (cutter){(char *)k + header, 0};
  k->graph = *g;
  copy_graph(&c, g, view_words, &k->graph);
  k->view_words = view_words;
  k->plan_memory = c.at + c.nbytes;
  k->plan_nbytes = plan_nbytes;
  keep_plan(k, planned);
  k->graph.cached = &k->planned;
  k->graph.fresh = NULL;
  k->unit = g->function->unit;
  k->pc = pc;
  k->is_busy = k->is_stale = false;
  k->nbytes = nbytes;
  k->any_length = k->is_reshaped = k->is_restrided = false;
  tl_region_find_short(k);
  k->fused = (uint16_t)tl_region_count_fused(&k->graph);
  link_cached(vm, where, k);
}

// Also graphs that have read a callee of the unit's code.
// A callee's code may be of a unit that ends before the graph's own.
static bool is_of(const tl_region_cached *k, const tl_unit *unit) {
  bool found = k->unit == unit;
  for (int i = 0; i < k->graph.callee_count; i++)
    found = found || k->graph.callees[i].function->unit == unit;
  return found;
}

// Busy graphs stay; what they show is used until their run is over.
void tl_region_forget(tl_vm *vm, const tl_unit *unit) {
  for (tl_region_cached *k = vm->regions, *older; k != NULL; k = older) {
    older = k->older;
    if (!k->is_busy && is_of(k, unit))
      tl_region_drop_cached(vm, k);
  }
}
