// Kept graphs of short arrays: what ends in a new array of one block needs
// nothing but the array, the streams' places and the kernels. Where results
// might go otherwise, all of that has been asked when the graph was kept.
#include <string.h>

#include "vm/region/region_internal.h"

// Whether a new array lies as the plan writes it.
static bool is_row_major(const tl_region_planned *planned, int ndim,
                         const int64_t *shape) {
  int64_t strides[TL_MAX_DIMS];
  tl_shape_strides(ndim, shape, tl_itemsize(planned->dtype), strides);
  return memcmp(strides, planned->out_strides,
                (size_t)ndim * sizeof *strides) == 0;
}

bool tl_region_is_short(const tl_region_kept *k) {
  const tl_region_graph *g = &k->graph;
  const tl_region_planned *planned = &k->planned;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  return g->sink == TL_SINK_ARRAY && planned->is_ready && planned->has_output &&
         planned->target_count == 0 && planned->plan.delay == NULL &&
         !planned->plan.is_hosts && tl_plan_is_short(&planned->plan) &&
         g->early_count == 0 && g->settled_count == 0 &&
         !tl_region_has_seam(g) &&
         is_row_major(planned, shape->ndim, shape->lengths);
}

bool tl_region_runs_short(const tl_region_kept *k) {
  const tl_region_graph *g = &k->graph;
  if (!k->is_short || g->vm->has_promises)
    return false;
  for (int i = 0; i < g->root_count; i++) {
    if (g->roots[i].consumed && tl_is_owned(g->roots[i].value))
      return false;
  }
  return true;
}

bool tl_region_run_short(tl_region_kept *k) {
  tl_region_graph *g = &k->graph;
  tl_vm *vm = g->vm;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  k->is_busy = true;  // where memory is short, what is kept goes
  tl_array *made =
      tl_array_new(vm, k->planned.dtype, shape->ndim, shape->lengths);
  k->is_busy = false;
  if (made == NULL)
    return false;
  tl_plan_run_short(tl_region_plan_to(g, &k->planned, made->data));
  tl_region_bind(g);
  tl_slot result = tl_own_array(made);
  tl_copy_slot(&g->base[g->result], &result);
  vm->stats.fused_ops += k->fused;
  vm->stats.temps_ended += k->fused;
  return true;
}
