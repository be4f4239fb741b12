// Regions that end in a reduction down columns: rows are computed some at a
// time into a buffer, and folded in the order of vm/engine/reduce_strips.c.
#include <string.h>

#include "vm/region/region_fold.h"
#include "vm/region/region_strip.h"

enum {
  STRIP = 1024,              // columns at a time
  CHUNK_BYTES = 128 * 1024,  // computed at a time
  LEAST_ITEMS = 8 * 1024,    // of one position of the outer axes
};

// A strip of columns, and the rows that are computed for it.
typedef struct strip {
  tl_strip_fold fold;
  char *items;
  size_t nbytes;
  void *block;
  int axis_count;  // those that are reduced, their rows in row-major order
  int axes[TL_MAX_DIMS];
  int64_t from[TL_MAX_DIMS];
  struct {  // of the plan that is there: ndim 0, none is
    int ndim;
    int64_t first;  // its row of the chunk
    int64_t shape[TL_MAX_DIMS];
  } planned;
} strip;

static bool open_strip(tl_region_folder *f, strip *s) {
  int64_t ncols = f->lengths[f->column];
  s->planned.ndim = 0;
  tl_strip_measure(&s->fold, ncols < STRIP ? ncols : STRIP, f->length,
                   CHUNK_BYTES);
  size_t items =
      tl_strip_round((size_t)s->fold.rows * (size_t)s->fold.width * s->fold.in);
  s->nbytes = items + tl_strip_nbytes(&s->fold, f->length) + 64;
  s->block = tl_alloc(f->g->vm, s->nbytes, "columns to reduce");
  if (s->block == NULL)
    return false;
  s->items = (char *)tl_strip_round((size_t)s->block);
  tl_strip_place(&s->fold, s->items + items);
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
  int64_t strides[TL_MAX_DIMS], step = (int64_t)s->fold.in;
  for (int i = box.ndim - 1; i >= 0; i--) {
    strides[i] = step;
    step *= box.shape[i];
  }
  char *to =
      s->items + (size_t)first * (size_t)box.shape[box.ndim - 1] * s->fold.in;
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

static tl_region_status fold_strip(tl_region_folder *f, strip *s, int64_t width,
                                   char *to) {
  tl_strip_begin(&s->fold, to);
  for (int64_t at = 0; at < f->length; at += s->fold.rows) {
    int64_t rows =
        f->length - at < s->fold.rows ? f->length - at : s->fold.rows;
    tl_region_status status = compute_rows(f, s, at, rows, width);
    if (status != TL_REGION_DONE)
      return status;
    tl_strip_take(&s->fold, s->items, rows, width);
  }
  tl_strip_end(&s->fold, width);
  return TL_REGION_DONE;
}

// All strips of one position of the outer axes.
static tl_region_status fold_columns(tl_region_folder *f, strip *s, char *to) {
  int column = f->column;
  int64_t ncols = f->lengths[column];
  for (int64_t at = 0; at < ncols; at += s->fold.width) {
    int64_t width = ncols - at < s->fold.width ? ncols - at : s->fold.width;
    s->from[column] = at;
    tl_region_status status =
        fold_strip(f, s, width, to + (size_t)at * s->fold.out);
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

tl_region_status tl_region_fold_columns(tl_region_folder *f) {
  strip s;
  int64_t ncols = f->lengths[f->column];
  if (!find_axes(f, &s) ||
      !tl_strip_choose(&s.fold, f->reduction, f->r.dtype) ||
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
    to += (size_t)ncols * s.fold.out;
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
