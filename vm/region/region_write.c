// Writing a region's result, or a box of it, into memory: in one plan, or,
// where operands are rolled, in boxes between their seams, in each of which all
// strides are plain.
#include <string.h>

#include "vm/region/region_internal.h"

bool tl_region_has_seam(const tl_region_graph *g) {
  for (int u = 0; u < g->use_count; u++) {
    if (g->uses[u].read && g->uses[u].seam > 0)
      return true;
  }
  return false;
}

// Where the boxes begin along each axis of the result, in order; after the last
// one stands the axis's length.
typedef struct cuts {
  int count[TL_MAX_DIMS];
  int64_t at[TL_MAX_DIMS][TL_REGION_CUTS + 2];
} cuts;

static bool add_cut(cuts *c, int axis, int64_t cut) {
  int64_t *at = c->at[axis];
  int i = 0;
  while (at[i] < cut) i++;
  if (at[i] == cut)
    return true;
  if (c->count[axis] > TL_REGION_CUTS)
    return false;
  memmove(&at[i + 1], &at[i], (size_t)(c->count[axis] - i + 1) * sizeof *at);
  at[i] = cut;
  c->count[axis]++;
  return true;
}

// Where the box is cut, along each of its axes, from its first item on.
static bool find_cuts(const tl_region_graph *g, const tl_region_box *box,
                      cuts *c) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  for (int i = 0; i < box->ndim; i++) {
    c->count[i] = 1;
    c->at[i][0] = 0;
    c->at[i][1] = box->shape[i];
  }
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *use = &g->uses[u];
    if (!use->read || use->seam == 0)
      continue;
    int more = ndim - tl_ndim(use->value.array);
    for (int i = 0; i < box->ndim; i++) {
      int axis = box->axes == NULL ? i : box->axes[i];
      if (axis < more)
        continue;
      int64_t cut = tl_region_shift(g, use)[axis - more] -
                    (box->from == NULL ? 0 : box->from[axis]);
      if (cut > 0 && cut < box->shape[i] && !add_cut(c, i, cut))
        return false;
    }
  }
  return true;
}

// Plans of the first boxes, made when it is asked whether they can be.
enum { PREPARED = 9, PREPARED_BYTES = 16 * 1024 };
typedef struct prepared {
  int count;
  size_t nbytes;
  tl_plan plans[PREPARED];
  _Alignas(64) char memory[PREPARED_BYTES];
} prepared;

static void keep_plan(prepared *p, const tl_plan *plan) {
  size_t nbytes = (tl_plan_nbytes(plan) + 63) / 64 * 64;
  if (p->count == PREPARED || nbytes > PREPARED_BYTES - p->nbytes)
    return;
  tl_plan_copy(&p->plans[p->count++], p->memory + p->nbytes, plan);
  p->nbytes += nbytes;
}

typedef struct writing {
  tl_region_graph *g;
  char *to;
  const int64_t *strides;
  tl_dtype dtype;
  bool may_stop;
  prepared *plans;  // NULL: none are kept
} writing;

static tl_region_status run_plan(const writing *w, tl_plan *plan) {
  return tl_plan_run(w->g->vm, plan, w->may_stop) ? TL_REGION_DONE
                                                  : TL_REGION_FAILED;
}

// Box number [at]. [run] false: only whether a plan can be made.
static tl_region_status write_box(const writing *w, const tl_region_box *box,
                                  int at, char *to, bool run) {
  tl_region_planned *planned = w->g->fresh;
  if (run && w->plans != NULL && at < w->plans->count)
    return run_plan(w, &w->plans->plans[at]);
  planned->is_ready = false;
  if (!tl_region_plan(w->g, planned, box, to, w->dtype, w->strides))
    return TL_REGION_DECLINED;
  if (run)
    return run_plan(w, &planned->plan);
  if (at == w->plans->count)
    keep_plan(w->plans, &planned->plan);
  return TL_REGION_DONE;
}

static tl_region_status write_boxes(const writing *w, const tl_region_box *box,
                                    const cuts *c, bool run) {
  int part[TL_MAX_DIMS] = {0};
  int64_t from[TL_MAX_DIMS] = {0}, shape[TL_MAX_DIMS];
  int ndim = w->g->shapes[w->g->nodes[w->g->value].shape].ndim;
  if (box->from != NULL)
    memcpy(from, box->from, (size_t)ndim * sizeof *from);
  tl_region_box piece = {box->ndim, shape, box->axes, from};
  for (int number = 0;; number++) {
    char *to = w->to;
    for (int i = 0; i < box->ndim; i++) {
      int axis = box->axes == NULL ? i : box->axes[i];
      int64_t at = c->at[i][part[i]];
      from[axis] = at + (box->from == NULL ? 0 : box->from[axis]);
      shape[i] = c->at[i][part[i] + 1] - at;
      to += at * w->strides[i];
    }
    tl_region_status status = write_box(w, &piece, number, to, run);
    if (status != TL_REGION_DONE)
      return status;
    int i = box->ndim - 1;
    while (i >= 0 && ++part[i] == c->count[i]) part[i--] = 0;
    if (i < 0)
      return TL_REGION_DONE;
  }
}

tl_region_status tl_region_run_box(tl_region_graph *g, const tl_region_box *box,
                                   void *to, tl_dtype dtype,
                                   const int64_t *strides) {
  writing w = {g, to, strides, dtype, true, NULL};
  cuts c;  // large: not cleared
  return find_cuts(g, box, &c) ? write_boxes(&w, box, &c, true)
                               : TL_REGION_DECLINED;
}

static tl_region_status write_whole(tl_region_graph *g, const tl_array *to,
                                    tl_dtype dtype, bool may_stop) {
  tl_region_box box = {tl_ndim(to), tl_shape(to), NULL, NULL};
  tl_plan *plan =
      tl_region_plan_whole(g, &box, to->data, dtype, tl_strides(to));
  if (plan == NULL)
    return TL_REGION_DECLINED;
  return tl_plan_run(g->vm, plan, may_stop) ? TL_REGION_DONE : TL_REGION_FAILED;
}

tl_region_status tl_region_run_into(tl_region_graph *g, tl_array *to,
                                    tl_dtype dtype, bool may_stop) {
  if (!tl_region_has_seam(g))
    return write_whole(g, to, dtype, may_stop);
  prepared plans;  // large, as the cuts: not cleared
  plans.count = 0;
  plans.nbytes = 0;
  writing w = {g, to->data, tl_strides(to), dtype, may_stop, &plans};
  tl_region_box box = {tl_ndim(to), tl_shape(to), NULL, NULL};
  cuts c;
  if (!find_cuts(g, &box, &c))
    return TL_REGION_DECLINED;
  // No box is written where a later one would need too large a plan.
  tl_region_status status = write_boxes(&w, &box, &c, false);
  return status == TL_REGION_DONE ? write_boxes(&w, &box, &c, true) : status;
}
