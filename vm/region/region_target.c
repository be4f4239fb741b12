// Stage "run": the memory that a result may go to, and whether it may: that of
// an operand that ends here, or a part of an array.
//
// Built for size.
#include <string.h>

#include "vm/region/region_internal.h"

enum { POLL_ITEMS = 64 * 1024 };

// The blocks of two arrays are two, but a host's memory may be that of both.
static bool in_other_block(const tl_array *a, const tl_array *b) {
  const tl_array *x = tl_array_owner(a), *y = tl_array_owner(b);
  return x != y && ((x->head.flags | y->head.flags) & TL_EXTERNAL) == 0;
}

// The target itself may be read, item on item; a rolled array may not, since
// its items are read elsewhere.
bool tl_region_is_safe_target(const tl_region_graph *g,
                              const tl_array *target) {
  for (int u = 0; u < g->use_count; u++) {
    if (!g->uses[u].read || !tl_region_is_array(g->uses[u].items))
      continue;
    const tl_array *other = g->uses[u].items.array;
    if (in_other_block(other, target))
      continue;
    if (g->uses[u].wrap > 0
            ? tl_arrays_overlap(other, target)
            : other != target && tl_arrays_collide(other, target))
      return false;
  }
  return true;
}

bool tl_region_is_dense_target(const tl_region_graph *g,
                               const tl_array *target) {
  return tl_is_contiguous(target) && tl_region_is_safe_target(g, target);
}

// Of the operands that end here, show their whole array, and have the result's
// size and shape, the one that ends first.
int tl_region_find_target(const tl_region_graph *g, tl_dtype dtype, int ndim,
                          const int64_t *shape,
                          bool (*fits)(const tl_region_graph *,
                                       const tl_array *)) {
  int found = -1;
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *x = &g->uses[u];
    if (x->root < 0 || !x->direct || !g->roots[x->root].consumed ||
        (found >= 0 &&
         g->roots[x->root].ended >= g->roots[g->uses[found].root].ended) ||
        !tl_is_array(x->value) ||
        !tl_can_reuse(g->vm, x->value, dtype, ndim, shape) ||
        !fits(g, x->value.array))
      continue;
    found = u;
  }
  return found;
}

// Floats take in what does not raise the kind; integers only their own dtype,
// since a value may not fit. The shape has to be the region's, without
// broadcasting.
tl_array *tl_region_find_place(tl_region_graph *g, const tl_array *a, int node,
                               const tl_region_index *index) {
  tl_selection s;
  const tl_region_node *n = &g->nodes[node];
  tl_dtype from = n->typing.result, to = tl_array_dtype(a);
  bool fits = from == to || (to >= TL_FLOAT16 && to < TL_STRING &&
                             tl_kind_rank(from) <= tl_kind_rank(to));
  if (!fits)
    return NULL;
  if (!tl_region_find_index(g, a, index, &s))
    return NULL;
  size_t nbytes = (size_t)s.ndim * sizeof *s.shape;
  if (s.ndim != g->shapes[n->shape].ndim ||
      memcmp(s.shape, g->shapes[n->shape].lengths, nbytes) != 0)
    return NULL;
  return tl_region_view(g, a, to, s.data, s.ndim, s.shape, s.strides);
}

// Small passes are polled for by the loop around them.
bool tl_region_pay(tl_vm *vm, int64_t size) {
  return size < POLL_ITEMS || tl_poll(vm, (uint64_t)size / 1024);
}

// Small arrays stay in cache, where the order does not matter.
bool tl_region_lies_otherwise(const tl_region_graph *g) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  const tl_array *arrays[TL_REGION_USES];
  return tl_region_size(g) >= POLL_ITEMS &&
         tl_has_other_order(g->vm, shape->ndim, shape->lengths,
                            tl_region_arrays(g, arrays), arrays);
}
