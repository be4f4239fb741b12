// Regions that end in a reduction down columns: rows are computed some at a
// time into a buffer, and folded in the order of vm/engine/reduce_strips.c.
#include <string.h>

#include "vm/region/region_fold.h"

// Rows are folded in chunks of 8 * 2^n, which are whole subtrees of the tree
// that folds all of them (kernels.h, tl_fold_outer); a binary counter joins
// the chunks as that tree does.
enum {
  STRIP = 1024,              // columns at a time
  CHUNK_BYTES = 128 * 1024,  // computed at a time
  WHOLE_BYTES =
      512 * 1024,          // likewise, for variances: all rows of some columns
  WHOLE_LEAST = 32,        // columns
  CHUNK_MOST = 1024,       // rows
  LEAST_ITEMS = 8 * 1024,  // of one position of the outer axes
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
  tl_arg_outer *find;  // of places; else NULL
  int axis_count;      // those that are reduced, their rows in row-major order
  int axes[TL_MAX_DIMS];
  int64_t from[TL_MAX_DIMS];
  struct {  // of the plan that is there: ndim 0, none is
    int ndim;
    int64_t first;  // its row of the chunk
    int64_t shape[TL_MAX_DIMS];
  } planned;
} strip;

static size_t round_up(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

static bool open_strip(tl_region_folder *f, strip *s) {
  int64_t ncols = f->lengths[f->column];
  s->width = ncols < STRIP ? ncols : STRIP;
  s->planned.ndim = 0;
  s->rows = 8;
  while (s->rows < CHUNK_MOST && s->rows < f->length &&
         2 * s->rows * s->width * (int64_t)s->in <= CHUNK_BYTES) {
    s->rows *= 2;
  }
  size_t rows = (size_t)s->rows, width = (size_t)s->width;
  size_t items = round_up(rows * width * s->in);
  size_t scratch =
      round_up(s->find != NULL
                   ? width * s->in
                   : tl_fold_outer_scratch(s->fold, f->r.dtype, rows, width));
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

// Whether the plan that is there writes such a box to the same place.
static bool is_planned(const strip *s, const tl_region_box *box,
                       int64_t first) {
  return s->planned.ndim == box->ndim && s->planned.first == first &&
         memcmp(s->planned.shape, box->shape,
                (size_t)box->ndim * sizeof *box->shape) == 0;
}

static tl_region_status run_box(tl_region_folder *f, strip *s,
                                const tl_region_found_box *found,
                                int64_t first) {
  tl_region_planned *planned = f->g->fresh;
  tl_region_box box = {found->ndim, found->shape, found->axes, s->from};
  int64_t strides[TL_MAX_DIMS], step = (int64_t)s->in;
  for (int i = box.ndim - 1; i >= 0; i--) {
    strides[i] = step;
    step *= box.shape[i];
  }
  char *to = s->items + (size_t)first * (size_t)box.shape[box.ndim - 1] * s->in;
  if (f->has_seam)
    return tl_region_run_box(f->g, &box, to, f->dtype, strides);
  if (is_planned(s, &box, first)) {
    tl_region_plan_again(f->g, planned, &box);
  } else {
    planned->is_ready = false;  // of a part
    s->planned.ndim = 0;
    if (!tl_region_plan(f->g, planned, &box, to, f->dtype, strides))
      return TL_REGION_DECLINED;
    s->planned.ndim = box.ndim;
    s->planned.first = first;
    memcpy(s->planned.shape, box.shape, (size_t)box.ndim * sizeof *box.shape);
  }
  return tl_plan_run(f->g->vm, &planned->plan, true) ? TL_REGION_DONE
                                                     : TL_REGION_FAILED;
}

// Computes [rows] rows from row [at] on, of [width] columns.
static tl_region_status compute_rows(tl_region_folder *f, strip *s, int64_t at,
                                     int64_t rows, int64_t width) {
  tl_region_found_box box;
  for (int64_t done = 0, take; done < rows; done += take) {
    take = tl_region_find_box(f->lengths, s->axes, s->axis_count, at + done,
                              rows - done, s->from, &box);
    box.axes[box.ndim] = f->column;
    box.shape[box.ndim++] = width;
    tl_region_status status = run_box(f, s, &box, done);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// Places: of two chunks the later one counts where its best item is better than
// the best before, which is found as in two rows.
static tl_region_status search_strip(tl_region_folder *f, strip *s,
                                     int64_t width, int64_t *to) {
  size_t row = round_up((size_t)s->width * s->out), n = (size_t)width;
  int64_t *local = (int64_t *)(void *)s->waiting;
  int64_t *which = (int64_t *)(void *)(s->waiting + row);
  char *best = s->waiting + 2 * row, *best_here = best + row;
  for (int64_t at = 0; at < f->length; at += s->rows) {
    int64_t rows = f->length - at < s->rows ? f->length - at : s->rows;
    tl_region_status status = compute_rows(f, s, at, rows, width);
    if (status != TL_REGION_DONE)
      return status;
    s->find(at == 0 ? to : local, s->scratch, s->items, (ptrdiff_t)(n * s->in),
            (size_t)rows, n);
    memcpy(at == 0 ? best : best_here, s->scratch, n * s->in);
    if (at == 0)
      continue;
    s->find(which, s->scratch, best, (ptrdiff_t)row, 2, n);
    memcpy(best, s->scratch, n * s->in);
    for (size_t i = 0; i < n; i++) {
      if (which[i] == 1)
        to[i] = at + local[i];
    }
  }
  return TL_REGION_DONE;
}

static tl_region_status fold_strip(tl_region_folder *f, strip *s, int64_t width,
                                   char *to) {
  if (s->find != NULL)
    return search_strip(f, s, width, (int64_t *)(void *)to);
  size_t row = round_up((size_t)s->width * s->out);
  int64_t chunks = 0;
  int waiting = 0;
  for (int64_t at = 0; at < f->length; at += s->rows) {
    int64_t rows = f->length - at < s->rows ? f->length - at : s->rows;
    tl_region_status status = compute_rows(f, s, at, rows, width);
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
static tl_region_status fold_columns(tl_region_folder *f, strip *s, char *to) {
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

// The axes that are reduced, but for those of length 1; false: there are none.
static bool find_axes(const tl_region_folder *f, strip *s) {
  s->axis_count = 0;
  for (int i = f->kept; i < f->ndim; i++) {
    if (f->lengths[f->axes[i]] != 1)
      s->axes[s->axis_count++] = f->axes[i];
  }
  return s->axis_count > 0;
}

static bool choose_kernels(const tl_region_folder *f, strip *s) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = f->r.dtype;
  bool largest = f->reduction == TL_REDUCE_ARGMAX;
  s->find = NULL;
  s->in = tl_itemsize(dtype);
  if (tl_region_is_arg(f)) {
    s->find =
        largest ? kernels->argmax_outer[dtype] : kernels->argmin_outer[dtype];
    s->out = sizeof(int64_t);
    return s->find != NULL && s->in <= s->out;
  }
  s->fold = tl_reduction_fold(f->reduction);
  s->kernel = kernels->fold_outer[s->fold][dtype];
  s->join = tl_fold_join(s->fold, dtype);
  s->out = tl_itemsize(tl_fold_result(s->fold, dtype));
  return s->join != NULL && !tl_region_is_variance(f);
}

tl_region_status tl_region_fold_columns(tl_region_folder *f) {
  strip s;
  int64_t ncols = f->lengths[f->column];
  if (!find_axes(f, &s) || !choose_kernels(f, &s) ||
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
