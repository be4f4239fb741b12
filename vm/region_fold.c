// Regions that end in a reduction: blocks go to the fold as they are computed,
// and no array is made. The order of the fold is the one of vm/reduce.c, so the
// bits are the same.
#include <string.h>

#include "vm/region_internal.h"
#include "vm/region_lanes.h"

typedef struct folder {
  tl_region_graph *g;
  tl_reducer r;
  tl_reduction reduction;
  double correction;  // of variances
  tl_dtype dtype;     // that the plan hands out
  int ndim;           // of what is reduced
  const int64_t *lengths;
  int axes[TL_MAX_DIMS];  // those kept, then those reduced
  int kept;               // how many
  int column;             // the last kept one of any length
  int64_t count, length;  // results, and items of each
} folder;

// Kept axes first: then the items of each result follow one another.
static void split_axes(folder *f, uint32_t axes) {
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
static bool is_outer(const folder *f, uint32_t axes) {
  for (int i = f->ndim - 1; i >= 0; i--) {
    if (f->lengths[i] != 1)
      return (axes >> i & 1) == 0;
  }
  return false;
}

static bool is_arg(const folder *f) {
  return f->reduction == TL_REDUCE_ARGMIN || f->reduction == TL_REDUCE_ARGMAX;
}

// One result after the other. With [means] the sums of squared deviations from
// them.
static tl_region_status fold_lanes(folder *f, const char *means) {
  tl_vm *vm = f->g->vm;
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < f->ndim; i++) shape[i] = f->lengths[f->axes[i]];
  tl_region_box box = {f->ndim, shape, f->axes, NULL};
  tl_plan *plan = tl_region_plan_whole(f->g, &box, NULL, f->dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  tl_laned lanes;  // large: not cleared
  tl_lane_feeder parts[TL_LANE_PARTS];
  tl_laned_open(&lanes, &f->r, f->reduction, f->count, f->length, means);
  plan->sink = tl_laned_sink(&lanes);
  plan->context = tl_laned_context(&lanes);
  plan->split = tl_laned_split(&lanes, parts);
  if (!tl_plan_run(vm, plan, true))
    return TL_REGION_FAILED;
  tl_laned_close(&lanes);
  return TL_REGION_DONE;
}

// --- Results side by side ---------------------------------------------------

// Rows are folded in chunks of 8 * 2^n, which are whole subtrees of the tree
// that folds all of them (kernels.h, tl_fold_outer); a binary counter joins
// the chunks as that tree does.
enum {
  STRIP = 1024,              // columns at a time
  CHUNK_BYTES = 128 * 1024,  // computed at a time
  CHUNK_MOST = 1024,         // rows
  LEAST_ITEMS = 8 * 1024,    // of one position of the outer axes
  DEPTH = 40,
};

// The buffers of a strip: computed rows, the fold's scratch, waiting results.
typedef struct strip {
  tl_fold fold;
  tl_fold_outer *kernel;
  tl_kernel2 *join;
  int64_t rows;    // of a chunk
  int64_t width;   // of a full strip
  size_t in, out;  // item sizes
  char *items, *scratch, *waiting;
  size_t nbytes;
  void *block;
  int axis;  // that is reduced
  int64_t from[TL_MAX_DIMS];
} strip;

static size_t round_up(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

static bool open_strip(folder *f, strip *s) {
  s->in = tl_itemsize(f->r.dtype);
  s->out = tl_itemsize(tl_fold_result(s->fold, f->r.dtype));
  int64_t ncols = f->lengths[f->column];
  s->width = ncols < STRIP ? ncols : STRIP;
  s->rows = 8;
  while (s->rows < CHUNK_MOST && s->rows < f->length &&
         2 * s->rows * s->width * (int64_t)s->in <= CHUNK_BYTES) {
    s->rows *= 2;
  }
  size_t items = round_up((size_t)(s->rows * s->width) * s->in);
  size_t scratch = round_up(tl_fold_outer_scratch(
      s->fold, f->r.dtype, (size_t)s->rows, (size_t)s->width));
  size_t waiting = round_up((size_t)s->width * s->out) * DEPTH;
  s->nbytes = items + scratch + waiting + 64;
  s->block = tl_alloc(f->g->vm, s->nbytes, "columns to reduce");
  if (s->block == NULL)
    return false;
  s->items = (char *)round_up((size_t)s->block);
  s->scratch = s->items + items;
  s->waiting = s->scratch + scratch;
  return true;
}

// Computes [rows] rows of [width] columns from s->from on.
static tl_region_status compute_rows(folder *f, const strip *s, int64_t rows,
                                     int64_t width) {
  int64_t shape[2] = {rows, width};
  int64_t strides[2] = {width * (int64_t)s->in, (int64_t)s->in};
  int axes[2] = {s->axis, f->column};
  tl_region_box box = {2, shape, axes, s->from};
  tl_region_planned *planned = f->g->fresh;
  planned->is_ready = false;  // of a part
  if (!tl_region_plan(f->g, planned, &box, s->items, f->dtype, strides))
    return TL_REGION_DECLINED;
  return tl_plan_run(f->g->vm, &planned->plan, true) ? TL_REGION_DONE
                                                     : TL_REGION_FAILED;
}

static tl_region_status fold_strip(folder *f, strip *s, int64_t width,
                                   char *to) {
  size_t row = round_up((size_t)s->width * s->out);
  int64_t chunks = 0;
  int waiting = 0;
  for (int64_t at = 0; at < f->length; at += s->rows) {
    int64_t rows = f->length - at < s->rows ? f->length - at : s->rows;
    s->from[s->axis] = at;
    tl_region_status status = compute_rows(f, s, rows, width);
    if (status != TL_REGION_DONE)
      return status;
    s->kernel(s->waiting + row * (size_t)waiting++, s->items,
              (ptrdiff_t)((size_t)width * s->in), (size_t)rows, (size_t)width,
              s->scratch);
    for (int64_t q = ++chunks; !(q & 1); q >>= 1, waiting--) {
      char *left = s->waiting + row * (size_t)(waiting - 2);
      s->join(left, left, left + row, (size_t)width);
    }
  }
  for (; waiting > 1; waiting--) {
    char *left = s->waiting + row * (size_t)(waiting - 2);
    s->join(left, left, left + row, (size_t)width);
  }
  memcpy(to, s->waiting, (size_t)width * s->out);
  return TL_REGION_DONE;
}

// All strips of one position of the outer axes.
static tl_region_status fold_columns(folder *f, strip *s, char *to) {
  int column = f->column;
  int64_t ncols = f->lengths[column];
  for (int64_t at = 0; at < ncols; at += s->width) {
    int64_t width = ncols - at < s->width ? ncols - at : s->width;
    s->from[column] = at;
    tl_region_status status = fold_strip(f, s, width, to + (size_t)at * s->out);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// The axis that is reduced, where only one has any length; else -1.
static int single_axis(const folder *f) {
  int axis = -1;
  for (int i = f->kept; i < f->ndim; i++) {
    if (f->lengths[f->axes[i]] == 1)
      continue;
    if (axis >= 0)
      return -1;
    axis = f->axes[i];
  }
  return axis;
}

static tl_region_status fold_outer(folder *f) {
  strip s;
  s.fold = tl_reduction_fold(f->reduction);
  s.kernel = tl_kernels()->fold_outer[s.fold][f->r.dtype];
  s.join = tl_fold_join(s.fold, f->r.dtype);
  s.axis = single_axis(f);
  int64_t ncols = f->lengths[f->column];
  if (is_arg(f) || s.axis < 0 || s.join == NULL ||
      (f->count > ncols && f->length * ncols < LEAST_ITEMS)) {
    return TL_REGION_DECLINED;
  }
  if (!open_strip(f, &s))
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DONE;
  char *to = f->r.out;
  memset(s.from, 0, sizeof s.from);
  while (status == TL_REGION_DONE) {
    status = fold_columns(f, &s, to);
    to += (size_t)ncols * s.out;
    int i = f->kept - 1;  // the next position of the outer axes
    for (; i >= 0; i--) {
      int axis = f->axes[i];
      if (axis != f->column && ++s.from[axis] < f->lengths[axis])
        break;
      s.from[axis] = 0;
    }
    if (i < 0)
      break;
  }
  tl_free(f->g->vm, s.block, s.nbytes);
  return status;
}

// --- Variances --------------------------------------------------------------

static bool is_variance(const folder *f) {
  return f->reduction == TL_REDUCE_VAR || f->reduction == TL_REDUCE_STD;
}

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
static tl_region_status fold_variance(folder *f, uint32_t axes, char *to) {
  tl_vm *vm = f->g->vm;
  tl_reduction asked = f->reduction;
  if (is_outer(f, axes) || !tl_region_is_cheap(f->g))
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

static tl_region_status fold_into(folder *f, uint32_t axes, char *to) {
  f->r.out = to;
  if (is_variance(f))
    return fold_variance(f, axes, to);
  tl_region_status status =
      is_outer(f, axes) ? fold_outer(f) : fold_lanes(f, NULL);
  if (status == TL_REGION_DONE && f->reduction == TL_REDUCE_MEAN)
    tl_reduce_divide(f->r.result, to, f->count, (double)f->length);
  return status;
}

static tl_region_status fold_array(folder *f, const tl_fold_call *call,
                                   tl_slot *out) {
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
  folder f;  // large: not cleared
  f.g = g;
  f.ndim = g->shapes[n->shape].ndim;
  f.lengths = g->shapes[n->shape].lengths;
  if (tl_region_has_seam(g))
    return TL_REGION_DECLINED;
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
