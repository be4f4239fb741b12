// Stage "cache" for short arrays: a graph that ends in a new array of one
// block needs nothing but the array, the streams' places and the kernels. Where
// results might go otherwise, all of that has been asked when the graph was
// cached.
//
// A loop runs such a region with the same numbers each time, and with arrays of
// the same lengths. So the last run's graph is asked first whether all is as it
// was then:
//
//     y = (a * x + b) * x + c      the tags of a, x, b, c and the lengths of x
//                                  are the same, and so are the bits of a, b, c
//
// Then only addresses are new: those of x's items and of y's.

#include "vm/region/region_internal.h"

// Whether the guard's value is compared without computing anything: values of
// the frame and of the function itself, views that lie where they lay in their
// arrays, and what was computed of numbers.
static bool is_simple(const tl_region_guard *f) {
  switch ((tl_region_source)f->from) {
    case TL_FROM_CAPTURE:
    case TL_FROM_VARIABLE:
      return f->of[0] < 0;
    case TL_FROM_SLOT:
    case TL_FROM_VIEW:
    case TL_FROM_AXES:
    case TL_FROM_SCALARS:
    case TL_FROM_CAST:
      return true;
    default:
      return false;
  }
}

// Whether a new array lies as the plan writes it.
static bool is_row_major(const tl_region_planned *planned, int ndim,
                         const int64_t *shape) {
  int64_t strides[TL_MAX_DIMS];
  tl_shape_strides(ndim, shape, tl_itemsize(planned->targets[0].dtype),
                   strides);
  return memcmp(strides, planned->targets[0].strides,
                (size_t)ndim * sizeof *strides) == 0;
}

// Whether a graph makes an array of one block, and does nothing else. Asked of
// each new plan, whose results have another shape.
// All that is tested here stays true while the graph is cached;
// tl_region_runs_short tests the rest.
void tl_region_find_short(tl_region_cached *k) {
  const tl_region_graph *g = &k->graph;
  const tl_region_planned *planned = &k->planned;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  k->model_tag = 0;
  k->is_short = g->consumer == TL_CONSUMER_ARRAY && planned->is_ready &&
                planned->target_count == 1 && planned->targets[0].is_array &&
                planned->plan.delay == NULL && !planned->plan.is_hosts &&
                tl_plan_is_short(&planned->plan) && g->hoisted_count == 0 &&
                g->transfer_count == 0 && !tl_region_has_wrap(g) &&
                is_row_major(planned, shape->ndim, shape->lengths);
  k->is_last = false;
  k->is_placed = planned->plan.register_count == 0 && !planned->plan.packs;
  k->is_simple = k->is_short;
  for (int i = 0; i < g->guard_count; i++)
    k->is_simple = k->is_simple && is_simple(&g->guards[i]);
}

// --- As before ---------------------------------------------------------------

// Whether the slot has what the guard's use had. Of an array only the address
// may differ, and is the use's from now on; the slot owns it as it did. Values
// of captures and variables are borrowed, which tags of uses show.
static inline bool is_alike(tl_region_use *uses, const tl_region_guard *f,
                            const tl_slot *now) {
  tl_region_use *u = &uses[f->use];
  uint64_t differs = now->tag ^ u->value.tag;
  if (differs != 0 && (differs != TL_OWNED || f->from == TL_FROM_SLOT))
    return false;
  if (!tl_is_array(*now))
    return now->u == u->value.u;
  const tl_array *a = now->array;
  if (f->again && uses[f->of[1]].value.array != a)
    return false;
  const int64_t *dim = a->dims, *end = dim + 2 * tl_ndim(a), *of = u->dims;
  while (!f->again && dim != end)
    if (*dim++ != *++of)
      return false;
  u->value.array = u->items.array = now->array;
  return true;
}

// Whether the result may take the memory of what a slot owns, an operand of the
// result's shape: it ends here, and what else is read lies elsewhere.
static bool may_go_over(const tl_region_graph *g, tl_slot s) {
  return tl_is_dying(g->vm, s) && tl_region_is_safe_target(g, s.array);
}

// What is not just compared with a slot.
static inline bool holds(const tl_region_graph *g, const tl_region_guard *f) {
  const bool moves = f->from == TL_FROM_VIEW || f->from == TL_FROM_AXES;
  return !moves || tl_region_move_view(g, f);
}

// Where it is false the values that were taken are still those of one graph, as
// no number is among them, and the general way takes all anew.
static inline bool is_as_before(tl_region_cached *k, tl_slot *base,
                                const tl_ins *at) {
  tl_region_graph *g = &k->graph;
  if (g->function->code + k->pc != at || k->is_busy || k->is_stale ||
      tl_has_contracts(g->vm) || g->vm->no_reuse)
    return false;
  g->base = base;
  const tl_closure *closure = g->vm->frame->closure;
  const tl_slot *from[] = {
      [TL_FROM_SLOT] = base,
      [TL_FROM_CAPTURE] = closure == NULL ? NULL : closure->captures,
      [TL_FROM_VARIABLE] = g->function->unit->module->variables};
  tl_region_use *uses = g->uses;
  const tl_region_guard *end = g->guards + g->guard_count;
  for (const tl_region_guard *f = g->guards; f != end; f++) {
    if (f->from <= TL_FROM_VARIABLE ? !is_alike(uses, f, &from[f->from][f->at])
                                    : !holds(g, f))
      return false;
  }
  return k->over < 0 || may_go_over(g, base[g->roots[k->over].slot]);
}

// The plan with the places of this run: numbers stand where they did.
static void run_as_before(tl_region_cached *k, char *out) {
  tl_plan *plan = &k->planned.plan;
  const tl_region_use *uses = k->graph.uses;
  const tl_region_origin *from = k->planned.streams;
  tl_plan_value *end = plan->values + plan->stream_count;
  for (tl_plan_value *value = plan->values; value != end; value++, from++)
    if (from->node < 0)
      value->at =
          from->operand < 0 ? out : uses[from->operand].items.array->data;
  tl_plan_run_placed(plan);
}

// --- Running -----------------------------------------------------------------

// The only operand that ends may give its memory to the result. Where it
// cannot, or others end, the general way finds out what becomes of them.
bool tl_region_runs_short(tl_region_cached *k) {
  const tl_region_graph *g = &k->graph;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  k->over = -1;
  if (!k->is_short || tl_has_contracts(g->vm))
    return false;
  for (int i = 0; i < g->root_count; i++) {
    if (!g->roots[i].consumed || !tl_is_owned(g->roots[i].value))
      continue;
    if (k->over >= 0)
      return false;
    k->over = (int8_t)i;
  }
  if (k->over < 0)
    return true;
  const tl_slot ending = g->roots[k->over].value;
  const int use =
      tl_region_find_target(g, k->planned.targets[0].dtype, shape->ndim,
                            shape->lengths, tl_region_is_dense_target);
  return use >= 0 && g->uses[use].root == k->over &&
         g->uses[use].value.pointer == ending.pointer &&
         tl_is_dying(g->vm, ending);
}

// The first array that the region makes. Its header is copied, and those of
// later runs are made as it is: their shape is the same.
__attribute__((cold)) static bool make_first(tl_region_cached *k,
                                             tl_slot *out) {
  const tl_region_graph *g = &k->graph;
  tl_array *model = (tl_array *)(void *)k->model;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  tl_array *made = tl_array_new(g->vm, k->planned.targets[0].dtype, shape->ndim,
                                shape->lengths);
  if (made == NULL)
    return false;
  *out = tl_own_array(made);
  if (shape->ndim != 1 && shape->ndim != 2)
    return true;
  memcpy(model, made,
         sizeof *made + (size_t)shape->ndim * 2 * sizeof *made->dims);
  model->data = (char *)model + (made->data - (char *)made);
  k->model_tag = out->tag;
  return true;
}

// The array that the region makes, or that of the operand which ends here; *out
// owns it. False after tl_fail (kind memory).
static inline __attribute__((always_inline)) bool make_result(
    tl_region_cached *k, tl_slot *out) {
  const tl_region_graph *g = &k->graph;
  if (k->over >= 0) {
    tl_slot taken = tl_take_over(g->vm, &g->base[g->roots[k->over].slot]);
    taken.array->head.dtype = (uint8_t)k->planned.targets[0].dtype;
    *out = tl_own_array(taken.array);
    return true;
  }
  tl_slot model = {.tag = k->model_tag, .array = (tl_array *)(void *)k->model};
  return k->model_tag == 0 ? make_first(k, out)
                           : tl_array_twin(g->vm, model, out);
}

// No poll and no thread: it is one block. Nothing fails once the array is
// there, and what is behind a plan waits for its stores.
static inline __attribute__((always_inline)) bool run_short(tl_region_cached *k,
                                                            bool as_before) {
  tl_region_graph *g = &k->graph;
  tl_vm *vm = g->vm;
  tl_slot result;
  k->is_busy = true;  // where memory is short, what is cached goes
  bool made = make_result(k, &result);
  k->is_busy = false;
  if (!made)
    return false;
  k->is_last = k->is_simple;
  tl_region_bind(g);
  tl_copy_slot(&g->base[g->result], &result);
  vm->stats.fused_ops += k->fused;
  vm->stats.temps_ended += k->fused;
  if (as_before && k->is_placed)
    run_as_before(k, result.array->data);
  else
    tl_plan_run_short(tl_region_plan_to(g, &k->planned, result.array->data));
  return true;
}

bool tl_region_run_short(tl_region_cached *k) {
  return run_short(k, false);
}

tl_region_status tl_region_run_again(tl_region *where, tl_slot *base,
                                     const tl_ins *at, const tl_ins **next) {
  tl_region_cached *k = where->cached;
  if (k == NULL || !k->is_last || (where->is_part && where->disjoint > 0) ||
      !is_as_before(k, base, at))
    return TL_REGION_DECLINED;
  where->runs = 1;
  where->wait = 0;
  if (!run_short(k, true))
    return TL_REGION_FAILED;
  const tl_region_graph *g = &k->graph;
  *next = g->function->code + g->end;
  if (g->vm->watch != NULL)
    g->vm->observer->fused(g->vm, at, *next, base[g->result].array, false);
  return TL_REGION_DONE;
}
