// argmin and argmax: the position, in logical order, of each lane's first
// smallest or largest item. NaN is both.
#include <string.h>

#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  PLAIN_ITEMS = 64 * 1024  // at once, without a poll
};

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
  if (n == 0)
    return;
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

// A lane that lies in memory as it is needs no search by pieces.
static bool is_plain(const tl_lane *lane) {
  return lane->ndim == 1 && lane->from == lane->dtype &&
         lane->strides[0] == (int64_t)tl_itemsize(lane->dtype) &&
         lane->shape[0] <= PLAIN_ITEMS;
}

static bool search_lane(const tl_reducer *r, tl_vm *vm, int64_t *unpolled,
                        const void *context, const tl_lane *lane, void *out) {
  tl_arg_search s;
  tl_arg_begin(&s, r->dtype, *(const bool *)context);
  if (is_plain(lane)) {
    *(int64_t *)out = (int64_t)s.find(lane->base, (size_t)lane->shape[0]);
    return tl_lane_poll(vm, unpolled, lane->shape[0]);
  }
  if (!tl_lane_walk(vm, lane, unpolled, search_piece, &s))
    return false;
  *(int64_t *)out = s.best;
  return true;
}

// Each part's best is fed to one more search, in order.
static bool search_parts(tl_reducer *r, bool largest, const tl_parts *parts) {
  tl_arg_search part[TL_REDUCE_PARTS], all;
  for (int64_t i = 0; i < parts->count; i++) {
    tl_arg_begin(&part[i], r->dtype, largest);
  }
  if (!tl_reduce_feed_parts(r, parts, search_piece, part, sizeof part[0])) {
    return false;
  }
  tl_arg_begin(&all, r->dtype, largest);
  for (int64_t i = 0; i < parts->count; i++) {
    tl_arg_feed(&all, part[i].pair, 1);
  }
  *(int64_t *)(void *)r->out = all.best * parts->length + part[all.best].best;
  return true;
}

static size_t strip_scratch(const tl_reducer *r, const void *context,
                            size_t nrows, size_t ncols) {
  (void)context;
  (void)nrows;
  return ncols * tl_itemsize(r->dtype);  // the best items so far
}

static void search_strip(const tl_reducer *r, const void *context, void *out,
                         const void *a, ptrdiff_t row_stride, size_t nrows,
                         size_t ncols, void *scratch) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_arg_outer *find = *(const bool *)context ? kernels->argmax_outer[r->dtype]
                                              : kernels->argmin_outer[r->dtype];
  find(out, scratch, a, row_stride, nrows, ncols);
}

static void search_tile(const tl_reducer *r, const void *context, char *out,
                        char *tile, size_t rows) {
  uint64_t best[TL_TURNED_ROWS];
  search_strip(r, context, out, tile, (ptrdiff_t)(rows * tl_itemsize(r->dtype)),
               (size_t)r->split.length, rows, best);
}

static void search_rows(const tl_reducer *r, const void *context, int64_t from,
                        int64_t n) {
  tl_reduce_turned(r, search_tile, context, from, n);
}

static void search_even(const tl_reducer *r, const void *context,
                        const char *items, int64_t n, int64_t readable,
                        char *out) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_reduce_even(*(const bool *)context ? kernels->argmax_spans[r->dtype]
                                        : kernels->argmin_spans[r->dtype],
                 items, r->split.length, n, readable, tl_itemsize(r->dtype),
                 out, sizeof(int64_t));
}

static void search_even_rows(const tl_reducer *r, const void *context,
                             int64_t from, int64_t n) {
  tl_reduce_dense(r, search_even, context, from, n);
}

// Columns whose items lie side by side are searched as lanes are.
static bool has_columns(const tl_reducer *r) {
  const tl_split *split = &r->split;
  bool upright = split->reduced == 1 && r->from == r->dtype &&
                 split->reduced_strides[0] == (int64_t)tl_itemsize(r->from);
  return split->kept > 0 && !upright && (split->outer || split->reduced == 0);
}

bool tl_reduce_arg(tl_reducer *r, bool largest) {
  if (has_columns(r)) {
    tl_strip strip = {search_strip, strip_scratch, &largest, NULL};
    return tl_reduce_strips(r, &strip);
  }
  if (tl_reduce_has_rows(r, TL_SIDE_BY_SIDE, TL_SHORT_ROW))
    return tl_reduce_rows(r, search_rows, &largest);
  if (tl_kernels()->argmax_spans[r->dtype] != NULL &&
      tl_reduce_has_rows(r, TL_SIDE_BY_SIDE, TL_FOLD_LEAF))
    return tl_reduce_rows(r, search_even_rows, &largest);
  tl_parts parts;
  if (tl_reduce_in_parts(r, &parts))
    return search_parts(r, largest, &parts);
  return tl_reduce_lanes(r, search_lane, &largest);
}
