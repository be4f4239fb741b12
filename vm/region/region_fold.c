// Regions that end in a reduction: blocks go to the fold as they are computed,
// and no array is made. The order of the fold is the one of vm/engine/reduce.c,
// so the bits are the same.
#include <string.h>

#include "vm/region/region_fold.h"
#include "vm/region/region_lanes.h"

// Kept axes first: then the items of each result follow one another.
static void split_axes(tl_region_folder *f, uint32_t axes) {
  int n = 0;
  f->count = f->length = 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < f->ndim; i++) {
      bool reduced = (axes >> i & 1) != 0;
      if (reduced != (pass == 1))
        continue;
      f->axes[n++] = i;
      *(reduced ? &f->length : &f->count) *= f->lengths[i];
    }
    if (pass == 0)
      f->kept = n;
  }
  f->column = -1;
  for (int i = 0; i < f->kept; i++) {
    if (f->lengths[f->axes[i]] != 1)
      f->column = f->axes[i];
  }
}

// Whether results lie side by side: the last axis is kept.
static bool is_outer(const tl_region_folder *f, uint32_t axes) {
  for (int i = f->ndim - 1; i >= 0; i--) {
    if (f->lengths[i] != 1)
      return (axes >> i & 1) == 0;
  }
  return false;
}

// One result after the other. With [means] the sums of squared deviations from
// them.
static tl_region_status fold_lanes(tl_region_folder *f, const char *means) {
  tl_laned lanes;  // large: not cleared
  tl_lane_feeder parts[TL_LANE_PARTS];
  tl_laned_open(&lanes, &f->r, f->reduction, f->count, f->length, means);
  tl_region_status status =
      tl_region_feed(f->g, f->axes, f->dtype, tl_laned_sink(&lanes),
                     tl_laned_context(&lanes), tl_laned_split(&lanes, parts));
  if (status == TL_REGION_DONE)
    tl_laned_close(&lanes);
  return status;
}

// --- Variances --------------------------------------------------------------

static bool is_costly(tl_op op) {
  return op == TL_OP_POW || op == TL_OP_CBRT ||
         (op >= TL_OP_EXP && op <= TL_OP_LGAMMA);
}

bool tl_region_is_cheap(const tl_region_graph *g) {
  enum { MOST = 6 };
  int count = 0;
  for (int i = 0; i <= g->value; i++) {
    if (g->nodes[i].needed && (is_costly(g->nodes[i].op) || ++count > MOST))
      return false;
  }
  return true;
}

// The means, then the squared deviations, along the last axes.
static tl_region_status fold_variance(tl_region_folder *f, char *to) {
  tl_vm *vm = f->g->vm;
  tl_reduction asked = f->reduction;
  if (!tl_region_is_cheap(f->g))
    return TL_REGION_DECLINED;
  size_t nbytes = (size_t)f->count * tl_itemsize(f->r.dtype);
  char *means = tl_alloc(vm, nbytes, "means");
  if (means == NULL)
    return TL_REGION_FAILED;
  f->reduction = TL_REDUCE_SUM;
  f->r.out = means;
  tl_region_status status = fold_lanes(f, NULL);
  if (status == TL_REGION_DONE) {
    tl_reduce_divide(f->r.dtype, means, f->count, (double)f->length);
    f->r.out = to;
    status = fold_lanes(f, means);
  }
  if (status == TL_REGION_DONE) {
    tl_reduce_end_squares(f->r.result, to, f->count,
                          tl_reduce_divisor(f->length, f->correction),
                          asked == TL_REDUCE_STD);
  }
  f->reduction = asked;
  tl_free(vm, means, nbytes);
  return status;
}

// --- The whole --------------------------------------------------------------

static tl_region_status fold_into(tl_region_folder *f, uint32_t axes,
                                  char *to) {
  f->r.out = to;
  if (!is_outer(f, axes) && tl_region_is_variance(f))
    return fold_variance(f, to);
  tl_region_status status =
      is_outer(f, axes) ? tl_region_fold_columns(f) : fold_lanes(f, NULL);
  if (status == TL_REGION_DONE && f->reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(f->r.result, to, f->count, (double)f->length);
  return status;
}

static tl_region_status fold_array(tl_region_folder *f,
                                   const tl_fold_call *call, tl_slot *out) {
  int64_t shape[TL_MAX_DIMS];
  int ndim =
      tl_reduce_shape(f->ndim, f->lengths, call->axes, call->keepdims, shape);
  if (ndim == 0) {
    tl_c128 item;
    tl_region_status status = fold_into(f, call->axes, (char *)&item);
    if (status == TL_REGION_DONE && !tl_reduce_scalar(&f->r, &item, out))
      status = TL_REGION_FAILED;
    return status;
  }
  tl_array *made = tl_array_new(f->g->vm, f->r.result, ndim, shape);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = fold_into(f, call->axes, made->data);
  if (status == TL_REGION_DONE) {
    *out = tl_own_array(made);
  } else {
    tl_drop(f->g->vm, tl_own_array(made));
  }
  return status;
}

// A norm: what tl_region_resolve has added to the graph is folded.
static tl_region_status fold_norm(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  tl_slot folded;
  double p;
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  if (!tl_builtin_norm(g->vm, g->fold, ndim, g->arguments, &call, &p))
    return TL_REGION_DECLINED;
  tl_region_status status = tl_region_fold_call(g, &call, &folded);
  if (status != TL_REGION_DONE)
    return status;
  tl_dtype given = g->nodes[g->before_norm].typing.result;
  return tl_norm_end(g->vm, p, tl_norm_result(given), folded, out)
             ? TL_REGION_DONE
             : TL_REGION_FAILED;
}

tl_region_status tl_region_fold(tl_region_graph *g, tl_slot *out) {
  tl_fold_call call;
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  if (tl_builtin_is_norm(g->fold))
    return fold_norm(g, out);
  if (tl_builtin_is_intake(g->fold))
    return tl_region_take(g, out);
  if (!tl_builtin_fold(g->vm, g->fold, ndim, g->arguments, &call))
    return TL_REGION_DECLINED;
  return tl_region_fold_call(g, &call, out);
}

bool tl_region_reducer(const tl_region_graph *g, int node,
                       const tl_fold_call *call, tl_reducer *r,
                       tl_dtype *dtype) {
  tl_dtype from = g->nodes[node].typing.result;
  tl_reduction reduction = (tl_reduction)call->reduction;
  r->vm = g->vm;
  r->name = tl_reduction_name(reduction);
  r->from = from;
  if (!tl_reduce_dtypes(r, reduction, call->dtype, tl_none()))
    return false;
  // The bytes of bools order like integers.
  *dtype = from == TL_BOOL && r->from == TL_UINT8 ? TL_BOOL : r->dtype;
  return true;
}

tl_region_status tl_region_fold_call(tl_region_graph *g,
                                     const tl_fold_call *call, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_region_folder f;  // large: not cleared
  f.g = g;
  f.ndim = g->shapes[n->shape].ndim;
  f.lengths = g->shapes[n->shape].lengths;
  f.has_seam = tl_region_has_seam(g);
  f.reduction = (tl_reduction)call->reduction;
  f.correction = call->parameter;
  if (!tl_region_reducer(g, g->value, call, &f.r, &f.dtype))
    return TL_REGION_DECLINED;
  split_axes(&f, call->axes);
  tl_region_status status = fold_array(&f, call, out);
  if (status == TL_REGION_DONE &&
      !tl_reduce_narrow(g->vm, f.reduction, call->dtype, out)) {
    status = TL_REGION_FAILED;
  }
  return status;
}
