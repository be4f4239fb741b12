// What a region would compute again for each item of a larger result,
// sqrt(v + 1e-5) of a row's variance in (x - m) / sqrt(v + 1e-5), is computed
// before it, into arrays of the region's own.
#include "vm/error.h"
#include "vm/region/region_internal.h"

// So much smaller than the result: else it is an array that one by one could
// have stood in an operand's memory.
enum { PART_OF = 8 };

static int64_t size_of(const tl_region_graph *g, const tl_region_node *n) {
  const tl_region_shape *shape = &g->shapes[n->shape];
  int64_t size = 1;
  for (int i = 0; i < shape->ndim; i++) size *= shape->lengths[i];
  return size;
}

static bool is_given(const tl_region_graph *g, const tl_region_node *n) {
  for (int i = 0; i < n->arity; i++) {
    if (n->in[i] >= 0 || g->uses[-1 - n->in[i]].seam > 0)
      return false;
  }
  return n->host == NULL && n->cast == TL_DTYPE_COUNT && g->rows == NULL;
}

// The node's value from here on, wherever it is read.
static void replace(tl_region_graph *g, int node, tl_slot made) {
  tl_slot value = tl_borrow(made);
  g->early[g->early_count++] = made;
  g->uses[g->use_count++] = (tl_region_use){
      .value = value, .items = value, .root = -1, .direct = true, .read = true};
  for (int i = node + 1; i <= g->value; i++) {
    for (int k = 0; k < g->nodes[i].arity; k++) {
      if (g->nodes[i].in[k] == node)
        g->nodes[i].in[k] = -g->use_count;
    }
  }
  g->nodes[node].needed = false;
  g->fleeting = true;
}

bool tl_region_compute_early(tl_region_graph *g, int node) {
  const tl_region_node *n = &g->nodes[node];
  tl_slot operands[3], made;
  if (tl_region_size(g) < TL_REGION_LARGE ||
      size_of(g, n) > tl_region_size(g) / PART_OF || !is_given(g, n) ||
      tl_region_is_result(g, node) || g->early_count == TL_REGION_EARLY ||
      g->use_count == TL_REGION_USES)
    return false;
  for (int i = 0; i < n->arity; i++)
    operands[i] = tl_borrow(g->uses[-1 - n->in[i]].value);
  if (!tl_elementwise(g->vm, n->op, operands, &made))
    return false;
  replace(g, node, made);
  return true;
}

void tl_region_end_early(tl_region_graph *g) {
  for (int i = 0; i < g->early_count; i++) tl_drop(g->vm, g->early[i]);
  g->early_count = 0;
}
