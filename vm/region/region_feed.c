// Items in an order that is given, to a sink: by one plan, or, where operands
// are rolled, in chunks that are computed box by box into a buffer.
#include "vm/region/region_internal.h"

enum { CHUNK_ITEMS = 16 * 1024 };

int64_t tl_region_find_box(const int64_t *lengths, const int *axes, int count,
                           int64_t at, int64_t most, int64_t *from,
                           tl_region_found_box *box) {
  int first = count - 1;
  int64_t whole = 1;
  for (int i = first; i >= 0; i--) {
    from[axes[i]] = at % lengths[axes[i]];
    at /= lengths[axes[i]];
  }
  while (first > 0 && from[axes[first]] == 0 &&
         most >= whole * lengths[axes[first]]) {
    whole *= lengths[axes[first--]];
  }
  int64_t left = lengths[axes[first]] - from[axes[first]];
  int64_t take = most / whole < left ? most / whole : left;
  box->ndim = 0;
  for (int i = first; i < count; i++) {
    box->axes[box->ndim] = axes[i];
    box->shape[box->ndim++] = i == first ? take : lengths[axes[i]];
  }
  return take * whole;
}

// The items of a chunk: whole rows of the last axes, where these are short.
static int64_t chunk_items(const int64_t *lengths, const int *axes, int ndim) {
  int64_t whole = 1;
  for (int i = ndim - 1; i >= 0 && whole * lengths[axes[i]] <= CHUNK_ITEMS; i--)
    whole *= lengths[axes[i]];
  return CHUNK_ITEMS / whole * whole;
}

static tl_region_status fill(tl_region_graph *g, const int *axes, int64_t at,
                             int64_t n, tl_dtype dtype, char *to) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  size_t itemsize = tl_itemsize(dtype);
  int64_t from[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  tl_region_found_box found;
  for (int64_t done = 0, take; done < n; done += take) {
    take = tl_region_find_box(shape->lengths, axes, shape->ndim, at + done,
                              n - done, from, &found);
    tl_region_box box = {found.ndim, found.shape, found.axes, from};
    int64_t step = (int64_t)itemsize;
    for (int i = box.ndim - 1; i >= 0; i--) {
      strides[i] = step;
      step *= box.shape[i];
    }
    tl_region_status status = tl_region_run_box(
        g, &box, to + (size_t)done * itemsize, dtype, strides);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

static tl_region_status feed_chunks(tl_region_graph *g, const int *axes,
                                    tl_dtype dtype, tl_plan_sink *sink,
                                    void *context) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  int64_t size = tl_region_size(g);
  int64_t chunk = chunk_items(shape->lengths, axes, shape->ndim);
  if (chunk > size)
    chunk = size;
  size_t nbytes = (size_t)chunk * tl_itemsize(dtype);
  char *buffer = tl_alloc(g->vm, nbytes, "rolled items");
  if (buffer == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DONE;
  for (int64_t at = 0; at < size && status == TL_REGION_DONE; at += chunk) {
    int64_t n = size - at < chunk ? size - at : chunk;
    const void *items = buffer;
    status = fill(g, axes, at, n, dtype, buffer);
    if (status == TL_REGION_DONE)
      sink(context, &items, (size_t)n);
  }
  tl_free(g->vm, buffer, nbytes);
  return status;
}

tl_region_status tl_region_feed(tl_region_graph *g, const int *axes,
                                tl_dtype dtype, tl_plan_sink *sink,
                                void *context, const tl_plan_split *split) {
  const tl_region_shape *of = &g->shapes[g->nodes[g->value].shape];
  int64_t shape[TL_MAX_DIMS];
  int order[TL_MAX_DIMS];
  for (int i = 0; i < of->ndim; i++) {
    order[i] = axes == NULL ? i : axes[i];
    shape[i] = of->lengths[order[i]];
  }
  if (tl_region_has_seam(g))
    return feed_chunks(g, order, dtype, sink, context);
  tl_region_box box = {of->ndim, shape, axes, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &box, NULL, dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  plan->sink = sink;
  plan->context = context;
  plan->split = split;
  return tl_plan_run(g->vm, plan, true) ? TL_REGION_DONE : TL_REGION_FAILED;
}
