// Iterations of a loop that are one region each, on columns: several at a time
// (see plan_iterations.h). That is so where nothing but the region is done in
// an iteration, and it assigns a column of an array of which nothing but
// columns is read:
//
//   for j in 2..n { f[:, j] = a * x[:, j] + b * f[:, j - 1] }
//
// Each iteration's values are taken as it would take them, with the loop's
// variable as it will be, so what does not fit ends the row of iterations
// before it. Numbers that are computed with must be the same in all of them.
//
// Built for size.

#include "vm/engine/plan_iterations.h"
#include "vm/region/region_internal.h"
#include "vm/events.h"

enum { WAIT_MOST = 10, BEFORE_MOST = 8 };

// --- The loop around it -----------------------------------------------------

// Whether an instruction before the region says nothing but where the iteration
// is: it loads a constant, or copies the loop's variable, or adds one to that.
static bool is_simple(const tl_decoded *d, const tl_decoded *loop) {
  switch (d->op) {
    case TL_BC_LOADK:
    case TL_BC_LOADI:
      return true;
    case TL_BC_MOVB:
    case TL_BC_ADDI:
    case TL_BC_SUBI:
      return d->operands[0] == (uint16_t)loop->result;
    default:
      return false;
  }
}

// The end of an iteration, where the region ends.
static bool find_loop(const tl_region_cached *k, tl_decoded *loop) {
  const tl_prototype *f = k->graph.function;
  tl_decode(f, k->graph.end, loop);
  if (loop->op != TL_BC_FORR || loop->target > k->pc ||
      k->pc - loop->target > BEFORE_MOST) {
    return false;
  }
  tl_decoded d;
  for (uint32_t pc = (uint32_t)loop->target; pc < k->pc; pc += d.words) {
    tl_decode(f, pc, &d);
    if (!is_simple(&d, loop))
      return false;
  }
  return true;
}

// Whether a slot is set before the region in each iteration.
static bool is_set_before(const tl_region_cached *k, const tl_decoded *loop,
                          uint32_t slot) {
  tl_decoded d;
  for (uint32_t pc = (uint32_t)loop->target; pc < k->pc; pc += d.words) {
    tl_decode(k->graph.function, pc, &d);
    if (tl_decoded_sets(&d, slot))
      return true;
  }
  return false;
}

// Whether an iteration reads a number that the one before it has left.
static bool hands_on(const tl_region_cached *k, const tl_decoded *loop) {
  const tl_region_graph *g = &k->graph;
  for (int i = 0; i < g->binding_count; i++) {
    uint32_t slot = g->bindings[i].slot;
    if ((int32_t)slot == loop->result)
      return true;
    for (int r = 0; r < g->root_count; r++) {
      if (g->roots[r].slot == slot && !is_set_before(k, loop, slot))
        return true;
    }
  }
  return false;
}

// The loop's variable, and what is computed of it before the region.
static void begin_iteration(const tl_region_cached *k, const tl_decoded *loop,
                            int iteration) {
  const tl_prototype *f = k->graph.function;
  tl_slot *base = k->graph.base, *a = &base[loop->operands[0]];
  tl_slot now = tl_weak_int((int64_t)(a->u + (uint64_t)iteration * a[2].u));
  tl_copy_slot(&base[loop->result], &now);
  tl_decoded d;
  for (uint32_t pc = (uint32_t)loop->target; pc < k->pc; pc += d.words) {
    tl_decode(f, pc, &d);
    int64_t number = (int16_t)f->code[pc].c;
    tl_slot value = now;
    if (d.op == TL_BC_LOADK) {
      value = f->constants[d.extra];
    } else if (d.op == TL_BC_LOADI) {
      value = tl_weak_int((int32_t)d.extra);
    } else if (d.op != TL_BC_MOVB) {
      value.u += (uint64_t)(d.op == TL_BC_SUBI ? -number : number);
    }
    tl_copy_slot(&base[d.result], &value);
  }
}

// --- What an iteration may be
// -----------------------------------------------------

// The region writes a part of one array and leaves nothing else behind.
static bool is_plain(const tl_region_graph *g) {
  return g->consumer == TL_CONSUMER_PLACE && g->transfer_count == 0 &&
         g->hoisted_count == 0 && g->rows == NULL && g->wrap_count == 0 &&
         g->result == g->roots[g->target].slot;
}

// Whether it ends nothing but the array, which it writes a part of in place,
// and takes no item of that.
static bool ends_target_alone(const tl_region_graph *g) {
  const tl_region_root *target = &g->roots[g->target];
  if (!target->consumed || !tl_is_unique(target->value) ||
      (target->value.tag & TL_DIRECT) == 0) {
    return false;
  }
  for (int i = 0; i < g->root_count; i++) {
    const tl_region_root *root = &g->roots[i];
    if (i != g->target && root->consumed && tl_is_owned(root->value))
      return false;
  }
  for (int i = 0; i < g->guard_count; i++) {
    const tl_region_guard *f = &g->guards[i];
    if (f->from == TL_FROM_ITEM &&
        tl_arrays_overlap(g->uses[f->of[0]].value.array, target->value.array))
      return false;
  }
  return true;
}

// Whether a number that is computed with is another one in this iteration, or
// may be: that of an array without axes.
static bool has_new_number(const tl_region_graph *g) {
  for (int i = 0; i <= g->value; i++) {
    const tl_region_node *n = &g->nodes[i];
    for (int k = 0; n->needed && k < n->arity; k++) {
      const tl_region_use *u = n->in[k] < 0 ? &g->uses[-1 - n->in[k]] : NULL;
      if (u != NULL &&
          (tl_is_array(u->value) ? tl_ndim(u->value.array) == 0 : u->changed)) {
        return true;
      }
    }
  }
  return false;
}

// --- Several of them --------------------------------------------------------

// The plan of the iteration whose values are taken; NULL: it is another one.
// Views of the place are made anew for each iteration, in the graph's memory.
static tl_plan *plan_iteration(tl_region_cached *k) {
  tl_region_graph *g = &k->graph;
  tl_array *place = tl_region_find_place(g, g->roots[g->target].value.array,
                                         g->value, &g->place);
  if (place == NULL)
    return NULL;
  tl_region_tile tile = {tl_ndim(place), tl_shape(place), NULL, NULL};
  return tl_region_plan_cached(g, &tile, place->data, tl_array_dtype(place),
                               tl_strides(place));
}

// As many as are left, and have no need to look around.
static int count_iterations(const tl_vm *vm, const tl_slot *a) {
  int most = vm->fuel < TL_ITERATIONS ? vm->fuel : TL_ITERATIONS;
  return a[1].u < (uint64_t)most ? (int)a[1].u : most;
}

// Takes the values of one iteration after the other until one does not fit; the
// slots are those of the last one tried, and run_iterations sets them back.
static void collect(tl_region_cached *k, const tl_decoded *loop, int most,
                    tl_plan_iterations *iterations) {
  tl_region_graph *g = &k->graph;
  tl_array *array = g->roots[g->target].value.array;
  tl_plan *plan = plan_iteration(k);
  iterations->count = 0;
  if (plan == NULL || !tl_iterations_open(iterations, plan, array))
    return;
  while (iterations->count < most) {
    begin_iteration(k, loop, iterations->count);
    if (!tl_region_take_again(k) || has_new_number(g) ||
        plan_iteration(k) == NULL || !tl_iterations_add(iterations)) {
      break;
    }
  }
}

// The rarer the more often it could not be.
static void note_rejection(tl_region_cached *k) {
  k->iterations_wait = 1u << k->iterations_refused;
  if (k->iterations_refused < WAIT_MOST)
    k->iterations_refused++;
}

// The loop stands in the last iteration that has run, as if each had run by
// itself: its variable, its count and the fuel are those.
static int run_iterations(tl_region_cached *k, const tl_decoded *loop, int most,
                          tl_slot *result) {
  tl_region_graph *g = &k->graph;
  tl_vm *vm = g->vm;
  tl_plan_iterations iterations;  // large: not cleared
  collect(k, loop, most, &iterations);
  int count = iterations.count < 2 ? 1 : iterations.count;
  begin_iteration(k, loop, count - 1);
  k->is_stale = true;
  if (!tl_region_take_again(k)) {
    begin_iteration(k, loop, 0);
    return -1;
  }
  if (count < 2) {
    note_rejection(k);
    return 0;
  }
  tl_iterations_run(&iterations);
  tl_slot *a = &g->base[loop->operands[0]];
  a->u += (uint64_t)(count - 1) * a[2].u;
  a[1].u -= (uint64_t)(count - 1);
  vm->fuel -= count - 1;
  tl_region_root *target = &g->roots[g->target];
  target->consumed = false;
  for (int i = 0; i < count; i++) tl_written_in_place(vm, target->value.array);
  *result = tl_own_array(target->value.array);
  k->iterations_refused = 0;
  return count;
}

// What does not depend on values is asked once, here.
bool tl_region_may_iterate(const tl_region_cached *k) {
  tl_decoded loop;
  return is_plain(&k->graph) && find_loop(k, &loop) && !hands_on(k, &loop);
}

// A loop whose iterations never fit is asked ever more rarely.
int tl_region_iterations(tl_region_cached *k, tl_slot *result) {
  const tl_region_graph *g = &k->graph;
  if (k->iterations_wait > 0) {
    k->iterations_wait--;
    return 0;
  }
  tl_decoded loop;
  find_loop(k, &loop);
  int most = count_iterations(g->vm, &g->base[loop.operands[0]]);
  return most < 2 || !ends_target_alone(g)
             ? 0
             : run_iterations(k, &loop, most, result);
}
