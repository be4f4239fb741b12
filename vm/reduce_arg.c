// argmin and argmax: the position, in logical order, of each lane's first
// smallest or largest item. NaN is both.
#include <string.h>

#include "vm/reduce_internal.h"
#include "vm/vm.h"

// Pieces are searched one by one; the best item so far is compared with each
// piece's by the same kernel, so that ties and NaN mean the same throughout.
void tl_arg_begin(tl_arg_search *s, tl_dtype dtype, bool largest) {
  const tl_kernel_table *kernels = tl_kernels();
  s->find = largest ? kernels->argmax[dtype] : kernels->argmin[dtype];
  s->itemsize = tl_itemsize(dtype);
  s->at = 0;
  s->best = -1;
}

void tl_arg_feed(tl_arg_search *s, const void *items, size_t n) {
  if (n == 0) return;
  size_t found = s->find(items, n);
  const char *item = (const char *)items + found * s->itemsize;
  memcpy(s->pair + s->itemsize, item, s->itemsize);
  if (s->best < 0 || s->find(s->pair, 2) == 1) {
    s->best = s->at + (int64_t)found;
    memcpy(s->pair, item, s->itemsize);
  }
  s->at += (int64_t)n;
}

static void search_piece(void *context, const void *items, size_t n) {
  tl_arg_feed(context, items, n);
}

static bool search_lanes(tl_reducer *r, bool largest) {
  const tl_split *split = &r->split;
  int64_t *out = (int64_t *)(void *)r->out;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter)) {
    tl_lane lane = {counter.at,           split->reduced,
                    split->reduced_shape, split->reduced_strides,
                    r->from,              r->dtype};
    tl_arg_search s;
    tl_arg_begin(&s, r->dtype, largest);
    if (!tl_lane_walk(r->vm, &lane, &r->unpolled, search_piece, &s)) {
      return false;
    }
    *out++ = s.best;
  }
  return true;
}

static bool search_strip(tl_reducer *r, void *context, char *out,
                         const char *a, ptrdiff_t row_stride, size_t nrows,
                         size_t ncols) {
  size_t nbytes = ncols * tl_itemsize(r->dtype);
  void *best = tl_alloc(r->vm, nbytes, "the best items so far");
  if (best == NULL) return false;
  tl_arg_outer *find = *(tl_arg_outer **)context;
  find((int64_t *)(void *)out, best, a, row_stride, nrows, ncols);
  tl_free(r->vm, best, nbytes);
  return true;
}

bool tl_reduce_arg(tl_reducer *r, bool largest) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_split *split = &r->split;
  bool columns = split->kept > 0 && (split->outer || split->reduced == 0);
  if (!columns) {
    return search_lanes(r, largest);
  }
  tl_arg_outer *find = largest ? kernels->argmax_outer[r->dtype]
                               : kernels->argmin_outer[r->dtype];
  return tl_reduce_strips(r, search_strip, &find);
}
