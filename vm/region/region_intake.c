// Regions that end in a call which takes the items block by block, once or
// several times over: a histogram, counts.
#include "vm/error.h"
#include "vm/region/region_internal.h"

typedef struct intaking {
  tl_intake *in;
  int pass;
} intaking;

static void take_block(void *context, const void *const *items, size_t n) {
  intaking *i = context;
  if (!i->in->failed)
    i->in->feed(i->in, i->pass, items[0], n);
}

static tl_region_status take_all(tl_region_graph *g, tl_intake *in,
                                 tl_slot *out) {
  for (int pass = 0; pass < in->passes; pass++) {
    intaking i = {in, pass};
    tl_region_status status =
        tl_region_feed(g, NULL, in->dtype, take_block, &i, NULL);
    if (status != TL_REGION_DONE)
      return status;
    if (in->failed || !in->end(in, pass, out)) {
      tl_error_clear(g->vm);
      return TL_REGION_DECLINED;
    }
  }
  return TL_REGION_DONE;
}

// Whether items become the dtype that is taken without a look at them.
static bool is_cast(tl_dtype from, tl_dtype to) {
  const tl_kernel_table *kernels = tl_kernels();
  return from == to || (tl_kind_rank(from) <= tl_kind_rank(to) &&
                        kernels->cast[from][to] != NULL &&
                        kernels->cast_check[from][to] == NULL);
}

tl_region_status tl_region_take(tl_region_graph *g, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype from = n->typing.result;
  tl_intake in;
  if (g->rows != NULL ||
      !tl_builtin_intake(g->vm, g->fold, from, g->shapes[n->shape].ndim,
                         g->arguments, &in))
    return TL_REGION_DECLINED;
  tl_region_status status = TL_REGION_DECLINED;
  if (is_cast(from, in.dtype) && (in.passes == 1 || tl_region_is_cheap(g)))
    status = take_all(g, &in, out);
  in.close(&in);
  return status;
}
