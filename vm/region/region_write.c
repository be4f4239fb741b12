// Writing a region's result, or a box of it, into memory: in one plan, or,
// where operands are rolled, in boxes between their seams, in each of which all
// strides are plain. Running folds are written as their items come.
//
// Built for size.
#include <string.h>

#include "vm/memory/memory.h"
#include "vm/region/region_internal.h"

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
static bool find_cuts(const tl_region_graph *g, const tl_region_tile *tile,
                      cuts *c) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  for (int i = 0; i < tile->ndim; i++) {
    c->count[i] = 1;
    c->at[i][0] = 0;
    c->at[i][1] = tile->shape[i];
  }
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *use = &g->uses[u];
    if (!use->read || use->wrap == 0)
      continue;
    int more = ndim - tl_ndim(use->value.array);
    for (int i = 0; i < tile->ndim; i++) {
      int axis = tile->axes == NULL ? i : tile->axes[i];
      if (axis < more)
        continue;
      int64_t cut = tl_region_shift(g, use)[axis - more] -
                    (tile->from == NULL ? 0 : tile->from[axis]);
      if (cut > 0 && cut < tile->shape[i] && !add_cut(c, i, cut))
        return false;
    }
  }
  return true;
}

// A box's plan, and where its streams lie: in an operand, at so many bytes, or
// in a node's scalar; the output likewise in the result.
typedef struct tile_plan {
  tl_plan plan;
  int64_t at[TL_PLAN_STREAMS];
  tl_region_origin from[TL_PLAN_STREAMS];
} tile_plan;

// The plans of all boxes, made before one of them runs, and kept with the graph
// for the runs that write as this one does.
enum { TILES = 9, TILES_BYTES = 16 * 1024 };
struct tl_region_tiles {
  size_t nbytes;
  int count;
  tl_dtype dtype;
  int64_t strides[TL_MAX_DIMS];
  tile_plan plans[TILES];
};

// While they are made.
typedef struct prepared {
  tl_region_tiles tiles;
  size_t nbytes;  // of memory
  _Alignas(64) char memory[TILES_BYTES];
} prepared;

static void note_streams(const tl_region_graph *g, const char *out,
                         const tl_region_planned *planned, tile_plan *b) {
  for (int s = 0; s < planned->plan.stream_count; s++) {
    int node = planned->streams[s].node, use = planned->streams[s].operand;
    b->from[s] = planned->streams[s];
    b->at[s] = node >= 0
                   ? 0
                   : planned->plan.streams[s].base -
                         (use >= 0 ? g->uses[use].items.array->data : out);
  }
}

static void point_streams(tl_region_graph *g, char *out, tile_plan *b) {
  for (int s = 0; s < b->plan.stream_count; s++) {
    int node = b->from[s].node, operand = b->from[s].operand;
    b->plan.streams[s].base =
        node >= 0
            ? (char *)&g->nodes[node].items[operand]
            : b->at[s] +
                  (operand >= 0 ? g->uses[operand].items.array->data : out);
  }
}

static size_t plan_nbytes(const tl_plan *plan) {
  return (tl_plan_nbytes(plan) + 63) / 64 * 64;
}

typedef struct writing {
  tl_region_graph *g;
  char *to;
  const int64_t *strides;
  tl_dtype dtype;
  bool may_stop;
  prepared *plans;  // NULL: none are kept
} writing;

static void cache_plan(const writing *w, const tl_region_planned *planned) {
  prepared *p = w->plans;
  size_t nbytes = plan_nbytes(&planned->plan);
  if (p->tiles.count == TILES || nbytes > TILES_BYTES - p->nbytes)
    return;
  tile_plan *b = &p->tiles.plans[p->tiles.count++];
  note_streams(w->g, w->to, planned, b);
  tl_plan_copy(&b->plan, p->memory + p->nbytes, &planned->plan);
  p->nbytes += nbytes;
}

static tl_region_status run_plan(const writing *w, tl_plan *plan) {
  return tl_plan_run(w->g->vm, plan, w->may_stop) ? TL_REGION_DONE
                                                  : TL_REGION_FAILED;
}

// Box number [at]. [run] false: only whether a plan can be made.
static tl_region_status write_tile(const writing *w, const tl_region_tile *tile,
                                   int at, char *to, bool run) {
  tl_region_planned *planned = w->g->fresh;
  if (run && w->plans != NULL && at < w->plans->tiles.count)
    return run_plan(w, &w->plans->tiles.plans[at].plan);
  planned->is_ready = false;
  if (!tl_region_plan(w->g, planned, tile, to, w->dtype, w->strides))
    return TL_REGION_DECLINED;
  if (run)
    return run_plan(w, &planned->plan);
  if (at == w->plans->tiles.count)
    cache_plan(w, planned);
  return TL_REGION_DONE;
}

// *count: how many boxes there are.
static tl_region_status write_tiles(const writing *w,
                                    const tl_region_tile *tile, const cuts *c,
                                    bool run, int *count) {
  int part[TL_MAX_DIMS] = {0};
  int64_t from[TL_MAX_DIMS] = {0}, shape[TL_MAX_DIMS];
  int ndim = w->g->shapes[w->g->nodes[w->g->value].shape].ndim;
  if (tile->from != NULL)
    memcpy(from, tile->from, (size_t)ndim * sizeof *from);
  tl_region_tile piece = {tile->ndim, shape, tile->axes, from};
  for (*count = 0;; (*count)++) {
    char *to = w->to;
    for (int i = 0; i < tile->ndim; i++) {
      int axis = tile->axes == NULL ? i : tile->axes[i];
      int64_t at = c->at[i][part[i]];
      from[axis] = at + (tile->from == NULL ? 0 : tile->from[axis]);
      shape[i] = c->at[i][part[i] + 1] - at;
      to += at * w->strides[i];
    }
    tl_region_status status = write_tile(w, &piece, *count, to, run);
    if (status != TL_REGION_DONE)
      return status;
    int i = tile->ndim - 1;
    while (i >= 0 && ++part[i] == c->count[i]) part[i--] = 0;
    if (i < 0)
      break;
  }
  ++*count;
  return TL_REGION_DONE;
}

tl_region_status tl_region_run_tile(tl_region_graph *g,
                                    const tl_region_tile *tile, void *to,
                                    tl_dtype dtype, const int64_t *strides) {
  writing w = {g, to, strides, dtype, true, NULL};
  cuts c;  // large: not cleared
  int count;
  return find_cuts(g, tile, &c) ? write_tiles(&w, tile, &c, true, &count)
                                : TL_REGION_DECLINED;
}

// Keeps the plans of [count] boxes if these are all, and the graph is kept.
static void cache_tiles(const writing *w, int ndim, int count) {
  tl_region_graph *g = w->g;
  const tl_region_tiles *made = &w->plans->tiles;
  if (g->kept == NULL || made->count < count)
    return;
  size_t header = sizeof *made - (size_t)(TILES - count) * sizeof(tile_plan);
  header = (header + 63) / 64 * 64;
  tl_region_tiles *b = tl_spare_alloc(g->vm, header + w->plans->nbytes);
  if (b == NULL)
    return;
  tl_region_drop_tiles(g);
  char *memory = (char *)b + header;
  b->nbytes = header + w->plans->nbytes;
  b->count = count;
  b->dtype = w->dtype;
  memcpy(b->strides, w->strides, (size_t)ndim * sizeof *b->strides);
  for (int i = 0; i < count; i++) {
    b->plans[i] = made->plans[i];
    tl_plan_copy(&b->plans[i].plan, memory, &made->plans[i].plan);
    memory += plan_nbytes(&made->plans[i].plan);
  }
  g->tiles = b;
}

void tl_region_drop_tiles(tl_region_graph *g) {
  if (g->tiles != NULL)
    tl_spare_free(g->vm, g->tiles, g->tiles->nbytes);
  g->tiles = NULL;
}

// The boxes of an earlier run, where they are written as this one's.
static bool has_tiles(const writing *w, int ndim) {
  const tl_region_tiles *b = w->g->tiles;
  return b != NULL && b->dtype == w->dtype &&
         memcmp(b->strides, w->strides, (size_t)ndim * sizeof *b->strides) == 0;
}

static tl_region_status run_cached_tiles(const writing *w) {
  tl_region_tiles *b = w->g->tiles;
  tl_region_status status = TL_REGION_DONE;
  for (int i = 0; i < b->count && status == TL_REGION_DONE; i++) {
    point_streams(w->g, w->to, &b->plans[i]);
    status = run_plan(w, &b->plans[i].plan);
  }
  return status;
}

// Apart, so that other runs do not need its stack.
__attribute__((noinline)) static tl_region_status run_new_tiles(
    writing *w, const tl_array *to) {
  prepared plans;  // large, as the cuts: not cleared
  plans.tiles.count = 0;
  plans.nbytes = 0;
  w->plans = &plans;
  tl_region_tile tile = {tl_ndim(to), tl_shape(to), NULL, NULL};
  cuts c;
  int count;
  if (!find_cuts(w->g, &tile, &c))
    return TL_REGION_DECLINED;
  // No box is written where a later one would need too large a plan.
  tl_region_status status = write_tiles(w, &tile, &c, false, &count);
  if (status != TL_REGION_DONE)
    return status;
  cache_tiles(w, tile.ndim, count);
  return write_tiles(w, &tile, &c, true, &count);
}

static tl_region_status write_whole(tl_region_graph *g, const tl_array *to,
                                    tl_dtype dtype, bool may_stop) {
  tl_region_tile tile = {tl_ndim(to), tl_shape(to), NULL, NULL};
  tl_plan *plan =
      tl_region_plan_whole(g, &tile, to->data, dtype, tl_strides(to));
  if (plan == NULL)
    return TL_REGION_DECLINED;
  return tl_plan_run(g->vm, plan, may_stop) ? TL_REGION_DONE : TL_REGION_FAILED;
}

static tl_region_status run_into(tl_region_graph *g, tl_array *to,
                                 tl_dtype dtype, bool may_stop) {
  if (!tl_region_has_wrap(g))
    return write_whole(g, to, dtype, may_stop);
  writing w = {g, to->data, tl_strides(to), dtype, may_stop, NULL};
  return has_tiles(&w, tl_ndim(to)) ? run_cached_tiles(&w)
                                    : run_new_tiles(&w, to);
}

// --- Running folds ----------------------------------------------------------

static bool read_call(tl_region_graph *g, tl_scan_call *call) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  return g->vm->library->fused->scan(g->vm, g->fold, ndim, g->arguments, call);
}

bool tl_region_scan_fits(tl_region_graph *g) {
  tl_scan_call call;
  if (tl_region_has_wrap(g) || !read_call(g, &call) || call.initial)
    return false;
  g->scan_dtype =
      tl_cumulative_dtype((tl_reduction)call.reduction,
                          g->nodes[g->value].typing.result, call.dtype);
  return g->scan_dtype != TL_DTYPE_COUNT;
}

void tl_region_open_scanner(tl_scanner *s, const tl_scan_call *call,
                            tl_dtype dtype, int ndim, const int64_t *shape,
                            void *to) {
  int64_t inner = 1;
  for (int i = call->axis + 1; i < ndim; i++) inner *= shape[i];
  tl_scanner_open(s, (tl_reduction)call->reduction, dtype, shape[call->axis],
                  inner, false, to);
}

static tl_region_status scan_into(tl_region_graph *g, tl_array *to,
                                  tl_dtype dtype, bool may_stop) {
  tl_scan_call call;
  if (!read_call(g, &call))
    return TL_REGION_DECLINED;
  tl_region_tile tile = {tl_ndim(to), tl_shape(to), NULL, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &tile, NULL, dtype, NULL);
  if (plan == NULL)
    return TL_REGION_DECLINED;
  tl_scanner s;
  tl_region_open_scanner(&s, &call, dtype, tl_ndim(to), tl_shape(to), to->data);
  plan->sink = tl_scanner_take;
  plan->context = &s;
  return tl_plan_run(g->vm, plan, may_stop) ? TL_REGION_DONE : TL_REGION_FAILED;
}

// --- The result
// ---------------------------------------------------------------

tl_dtype tl_region_result_dtype(const tl_region_graph *g) {
  return g->sink == TL_SINK_SCAN ? g->scan_dtype
                                 : g->nodes[g->value].typing.result;
}

tl_region_status tl_region_write(tl_region_graph *g, tl_array *to,
                                 tl_dtype dtype, bool may_stop) {
  return g->sink == TL_SINK_SCAN ? scan_into(g, to, dtype, may_stop)
                                 : run_into(g, to, dtype, may_stop);
}

tl_region_status tl_region_make_array(tl_region_graph *g, tl_array **out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype dtype = tl_region_result_dtype(g);
  const tl_array *arrays[TL_REGION_USES];
  int count = g->sink == TL_SINK_SCAN ? 0 : tl_region_arrays(g, arrays);
  tl_array *made = tl_array_new(g->vm, dtype, g->shapes[n->shape].ndim,
                                g->shapes[n->shape].lengths);
  made = tl_array_ordered(g->vm, made, count, arrays);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = tl_region_write(g, made, dtype, true);
  if (status == TL_REGION_DONE) {
    *out = made;
  } else {
    tl_drop(g->vm, tl_own_array(made));
  }
  return status;
}
