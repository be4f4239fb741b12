// Regions that end in a running fold (vm/engine/scan.c): blocks are folded into
// the result as they are computed, in the order of the items.
#include <string.h>

#include "vm/region/region_internal.h"
#include "vm/region/region_scan.h"

static void begin_lane(tl_scanner *s, const void *first) {
  uint8_t bit = s->fold == TL_FOLD_PROD;
  if (s->fold == TL_FOLD_MIN || s->fold == TL_FOLD_MAX) {
    memcpy(&s->carry, first, s->itemsize);
    return;
  }
  s->carry = (tl_c128){0, 0};
  tl_kernels()->cast[TL_UINT8][s->dtype](&s->carry, &bit, 1);
}

// As many of n items as one kernel takes.
static size_t scan_some(tl_scanner *s, const char *items, size_t n) {
  int64_t end = s->inner == 1 ? s->length : (s->at / s->inner + 1) * s->inner;
  size_t take = (int64_t)n < end - s->at ? n : (size_t)(end - s->at);
  if (s->inner == 1) {
    if (s->at == 0)
      begin_lane(s, items);
    s->lane(s->to, items, &s->carry, take);
  } else if (s->at < s->inner) {
    memcpy(s->to, items, take * s->itemsize);
  } else {
    s->rows(s->to, s->to - (size_t)s->inner * s->itemsize, items, take);
  }
  return take;
}

void tl_scanner_feed(void *context, const void *const *blocks, size_t n) {
  tl_scanner *s = context;
  const char *items = blocks[0];
  while (n > 0) {
    size_t take = scan_some(s, items, n);
    items += take * s->itemsize;
    s->to += take * s->itemsize;
    n -= take;
    s->at += (int64_t)take;
    if (s->at == s->length * s->inner)
      s->at = 0;
  }
}

static bool read_call(tl_region_graph *g, tl_scan_call *call) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  return tl_builtin_scan(g->vm, g->fold, ndim, g->arguments, call);
}

bool tl_region_scan_fits(tl_region_graph *g) {
  tl_scan_call call;
  if (tl_region_has_seam(g) || !read_call(g, &call) || call.initial)
    return false;
  g->scan_dtype =
      tl_cumulative_dtype((tl_reduction)call.reduction,
                          g->nodes[g->value].typing.result, call.dtype);
  return g->scan_dtype != TL_DTYPE_COUNT;
}

static tl_op op_of(tl_fold fold) {
  return fold == TL_FOLD_SUM    ? TL_OP_ADD
         : fold == TL_FOLD_PROD ? TL_OP_MULTIPLY
         : fold == TL_FOLD_MIN  ? TL_OP_MINIMUM
                                : TL_OP_MAXIMUM;
}

void tl_scanner_open(tl_scanner *s, const tl_scan_call *call, tl_dtype dtype,
                     int ndim, const int64_t *shape, void *to) {
  const tl_kernel_table *kernels = tl_kernels();
  *s = (tl_scanner){.fold = tl_reduction_fold((tl_reduction)call->reduction),
                    .dtype = dtype,
                    .itemsize = tl_itemsize(dtype),
                    .length = shape[call->axis],
                    .inner = 1,
                    .to = to};
  s->lane = kernels->scan[s->fold][dtype];
  s->rows = kernels->binary[op_of(s->fold)][dtype];
  for (int i = call->axis + 1; i < ndim; i++) s->inner *= shape[i];
}

tl_region_status tl_region_scan_into(tl_region_graph *g, tl_array *to,
                                     tl_dtype dtype, bool may_stop) {
  tl_scan_call call;
  if (!read_call(g, &call))
    return TL_REGION_DECLINED;
  tl_region_box box = {tl_ndim(to), tl_shape(to), NULL, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &box, NULL, dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  tl_scanner s;
  tl_scanner_open(&s, &call, dtype, tl_ndim(to), tl_shape(to), to->data);
  plan->sink = tl_scanner_feed;
  plan->context = &s;
  return tl_plan_run(g->vm, plan, may_stop) ? TL_REGION_DONE : TL_REGION_FAILED;
}
