// Variances: the mean of each lane, then the mean of squared deviations.
#include <math.h>
#include <string.h>

#include "vm/reduce_internal.h"
#include "vm/vm.h"

// The two passes over one lane.
typedef struct lane_passes {
  tl_dtype dtype, real;
  tl_fold_state state;
  tl_c128 mean;
} lane_passes;

enum { BLOCK = 256 };

static void sum_piece(void *context, const void *items, size_t n) {
  lane_passes *p = context;
  tl_kernels()->fold_feed[TL_FOLD_SUM][p->dtype](&p->state, items, n);
}

static void deviation_piece(void *context, const void *items, size_t n) {
  lane_passes *p = context;
  const tl_kernel_table *kernels = tl_kernels();
  _Alignas(64) char squares[BLOCK * sizeof(double)];
  size_t itemsize = tl_itemsize(p->dtype);
  for (size_t at = 0; at < n; at += BLOCK) {
    size_t count = n - at < BLOCK ? n - at : BLOCK;
    kernels->square_deviation[p->dtype](
        squares, (const char *)items + at * itemsize, &p->mean, count);
    kernels->fold_feed[TL_FOLD_SUM][p->real](&p->state, squares, count);
  }
}

// *item /= by, for a real or both parts of a complex item.
static void divide_item(tl_dtype dtype, void *item, double by) {
  switch (dtype) {
    case TL_FLOAT32:
      *(float *)item /= (float)by;
      break;
    case TL_COMPLEX64:
      ((tl_c64 *)item)->re /= (float)by;
      ((tl_c64 *)item)->im /= (float)by;
      break;
    case TL_COMPLEX128:
      ((tl_c128 *)item)->re /= by;
      ((tl_c128 *)item)->im /= by;
      break;
    default:
      *(double *)item /= by;
      break;
  }
}

static void take_root(tl_dtype real, void *item) {
  if (real == TL_FLOAT32) {
    *(float *)item = sqrtf(*(float *)item);
  } else {
    *(double *)item = sqrt(*(double *)item);
  }
}

typedef struct variance {
  double divisor;
  bool root;
} variance;

static bool one_lane(tl_reducer *r, const variance *v, const tl_lane *lane,
                     void *out) {
  const tl_kernel_table *kernels = tl_kernels();
  lane_passes p;  // large: not cleared
  p.dtype = lane->dtype;
  p.real = r->result;
  tl_fold_begin(&p.state);
  if (!tl_lane_walk(r->vm, lane, &r->unpolled, sum_piece, &p)) return false;
  kernels->fold_end[TL_FOLD_SUM][p.dtype](&p.state, &p.mean);
  divide_item(p.dtype, &p.mean, (double)r->split.length);
  tl_fold_begin(&p.state);
  if (!tl_lane_walk(r->vm, lane, &r->unpolled, deviation_piece, &p)) {
    return false;
  }
  kernels->fold_end[TL_FOLD_SUM][p.real](&p.state, out);
  divide_item(p.real, out, v->divisor > 0 ? v->divisor : 0.0);
  if (v->root) take_root(p.real, out);
  return true;
}

static bool lanes(tl_reducer *r, const variance *v) {
  const tl_split *split = &r->split;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter)) {
    tl_lane lane = {counter.at,           split->reduced,
                    split->reduced_shape, split->reduced_strides,
                    r->from,              r->dtype};
    if (!one_lane(r, v, &lane, out)) return false;
    out += tl_itemsize(r->result);
  }
  return true;
}

// Columns: turned into lanes, some at a time, since each has its own mean.
enum { TOGETHER_LEAST = 8, TOGETHER_MOST = 64, TOGETHER_BYTES = 1024 * 1024 };

static bool columns(tl_reducer *r, const variance *v) {
  const tl_split *split = &r->split;
  int last = split->kept - 1;
  size_t itemsize = tl_itemsize(r->from), nrows = (size_t)split->length;
  if (split->reduced != 1 || nrows == 0) return lanes(r, v);
  int64_t together = (int64_t)(TOGETHER_BYTES / (nrows * itemsize));
  if (together > TOGETHER_MOST) together = TOGETHER_MOST;
  if (together < TOGETHER_LEAST) together = TOGETHER_LEAST;
  size_t nbytes = nrows * (size_t)together * itemsize;
  char *buffer = tl_alloc(r->vm, nbytes, "columns to reduce");
  if (buffer == NULL) return false;
  tl_pack_tile *pack = tl_kernels()->pack_tile[tl_move_size(itemsize)];
  int64_t stride = (int64_t)itemsize, ncols = split->kept_shape[last];
  bool ok = true;
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, last, split->kept_shape, split->kept_strides,
                   split->array->data);
  for (; ok && !counter.done; tl_counter_next(&counter)) {
    for (int64_t at = 0; ok && at < ncols; at += together) {
      int64_t n = ncols - at < together ? ncols - at : together;
      pack(buffer, (ptrdiff_t)(nrows * itemsize),
           counter.at + at * split->kept_strides[last],
           split->kept_strides[last], split->reduced_strides[0], (size_t)n,
           nrows);
      for (int64_t j = 0; ok && j < n; j++) {
        tl_lane lane = {buffer + (size_t)j * nrows * itemsize,
                        1,
                        split->reduced_shape,
                        &stride,
                        r->from,
                        r->dtype};
        ok = one_lane(r, v, &lane, out);
        out += tl_itemsize(r->result);
      }
    }
  }
  tl_free(r->vm, buffer, nbytes);
  return ok;
}

bool tl_reduce_variance(tl_reducer *r, double correction, bool root) {
  variance v = {(double)r->split.length - correction, root};
  return r->split.outer && r->split.kept > 0 ? columns(r, &v) : lanes(r, &v);
}
