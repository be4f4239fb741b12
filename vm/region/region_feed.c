// Items in an order that is given, to a consumer: by one plan, or, where
// operands are rolled, in chunks that are computed tile by tile into a buffer.
// Histograms and counts take them so, once or several times over.
//
// Built for size.
#include "vm/error.h"
#include "vm/region/region_internal.h"

enum { CHUNK_ITEMS = 16 * 1024 };

// Positions count in row-major order of [axes]; the tile ends where the first
// of its axes does, or before:
//
//   lengths 4 * 3 * 5, at 20, most 22
//   from (1, 1, 0): the axis of 3 is not at its beginning, so the tile is
//   a part of that axis, 2 * 5, and the next call begins at (2, 0, 0)
int64_t tl_region_find_tile(const int64_t *lengths, const int *axes, int count,
                            int64_t at, int64_t most, int64_t *from,
                            tl_region_found_tile *tile) {
  int first = count - 1;
  int64_t whole = 1;
  for (int i = first; i >= 0; i--) {
    from[axes[i]] = at % lengths[axes[i]];
    at /= lengths[axes[i]];
  }
  while (first > 0 && from[axes[first]] == 0 &&
         most >= whole * lengths[axes[first]])
    whole *= lengths[axes[first--]];
  int64_t left = lengths[axes[first]] - from[axes[first]];
  int64_t take = most / whole < left ? most / whole : left;
  tile->ndim = 0;
  for (int i = first; i < count; i++) {
    tile->axes[tile->ndim] = axes[i];
    tile->shape[tile->ndim++] = i == first ? take : lengths[axes[i]];
  }
  return take * whole;
}

// The items of a chunk: whole rows of the last axes, where these are short.
// So that most tiles are whole rows, and few plans are made.
static int64_t chunk_items(const int64_t *lengths, const int *axes, int ndim) {
  int64_t whole = 1;
  for (int i = ndim - 1; i >= 0 && whole * lengths[axes[i]] <= CHUNK_ITEMS; i--)
    whole *= lengths[axes[i]];
  return CHUNK_ITEMS / whole * whole;
}

// [n] items from [at] on, tile by tile, to where they stand in the chunk.
static tl_region_status fill(tl_region_graph *g, const int *axes, int64_t at,
                             int64_t n, tl_dtype dtype, char *to) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  size_t itemsize = tl_itemsize(dtype);
  int64_t from[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  tl_region_found_tile found;
  for (int64_t done = 0, take; done < n; done += take) {
    take = tl_region_find_tile(shape->lengths, axes, shape->ndim, at + done,
                               n - done, from, &found);
    tl_region_tile tile = {found.ndim, found.shape, found.axes, from};
    tl_shape_strides(tile.ndim, tile.shape, itemsize, strides);
    tl_region_status status = tl_region_run_tile(
        g, &tile, to + (size_t)done * itemsize, dtype, strides);
    if (status != TL_REGION_DONE)
      return status;
  }
  return TL_REGION_DONE;
}

// The consumer gets whole chunks in order, and sees nothing of wraps.
static tl_region_status feed_chunks(tl_region_graph *g, const int *axes,
                                    tl_dtype dtype, tl_plan_consume *consumer,
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
      consumer(context, &items, (size_t)n);
  }
  tl_free(g->vm, buffer, nbytes);
  return status;
}

// Declined only before the first item has been handed out, or by a tile that is
// cut too often.
tl_region_status tl_region_feed(tl_region_graph *g, const int *axes,
                                tl_dtype dtype, tl_plan_consume *consumer,
                                void *context, const tl_plan_split *split) {
  const tl_region_shape *of = &g->shapes[g->nodes[g->value].shape];
  int64_t shape[TL_MAX_DIMS];
  int order[TL_MAX_DIMS];
  for (int i = 0; i < of->ndim; i++) {
    order[i] = axes == NULL ? i : axes[i];
    shape[i] = of->lengths[order[i]];
  }
  if (tl_region_has_wrap(g))
    return feed_chunks(g, order, dtype, consumer, context);
  tl_region_tile tile = {of->ndim, shape, axes, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &tile, NULL, dtype, NULL);
  if (plan != NULL)
    plan->split = split;
  return tl_region_run_plan(g, plan, consumer, context, true);
}

// --- Histograms and counts ---------------------------------------------------

// The context of take_block: the consumer, borrowed, and which of its passes
// runs, counted from 0.
typedef struct intaking {
  tl_call_consumer *in;
  int pass;
} intaking;

// What has failed takes no more; the plan goes on to its end.
static void take_block(void *context, const void *const *items, size_t n) {
  intaking *i = context;
  if (!i->in->failed)
    i->in->feed(i->in, i->pass, items[0], n);
}

// A built-in with two passes finds the range of the items first. What fails is
// left to the built-in itself, for its message.
static tl_region_status take_all(tl_region_graph *g, tl_call_consumer *in,
                                 tl_slot *out) {
  for (int pass = 0; pass < in->passes; pass++) {
    intaking i = {in, pass};
    tl_region_status status =
        tl_region_feed(g, NULL, in->dtype, take_block, &i, NULL);
    if (status != TL_REGION_DONE)
      return status;
    if (in->failed || !in->end(in, pass, out)) {
      tl_error_clear(g->vm);
      return TL_REGION_DECLINED;
    }
  }
  return TL_REGION_DONE;
}

// Whether items become the dtype that is taken without a look at them.
static bool is_cast(tl_dtype from, tl_dtype to) {
  const tl_kernel_table *kernels = tl_kernels();
  return from == to ||
         (tl_kind_rank(from) <= tl_kind_rank(to) &&
          kernels->cast[from][to] != NULL && tl_cast_always_fits(from, to));
}

// Everything is computed again for a second pass, so only cheap regions have
// two.
tl_region_status tl_region_take(tl_region_graph *g, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype from = n->typing.result;
  tl_call_consumer in;
  if (g->rows != NULL ||
      !g->vm->library->fused->consumer(
          g->vm, g->fold, from, g->shapes[n->shape].ndim, g->arguments, &in))
    return TL_REGION_DECLINED;
  tl_region_status status = TL_REGION_DECLINED;
  if (is_cast(from, in.dtype) && (in.passes == 1 || tl_region_is_cheap(g)))
    status = take_all(g, &in, out);
  in.close(&in);
  return status;
}
