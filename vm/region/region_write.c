// A region's result and memory: which memory it may go to, that of an operand
// that ends here or a part of an array; and writing it, or a tile of it, there,
// in one plan, or, where operands are rolled, in tiles between their wraps, in
// each of which all strides are plain. Running folds are written as their items
// come.
//
// Built for size.
#include <limits.h>

#include "vm/region/region_internal.h"

enum { POLL_ITEMS = 64 * 1024 };

// --- Where it may go ---------------------------------------------------------

// The blocks of two arrays are two, but a host's memory may be that of both.
static bool in_other_block(const tl_array *a, const tl_array *b) {
  const tl_array *x = tl_array_owner(a), *y = tl_array_owner(b);
  return x != y && ((x->head.flags | y->head.flags) & TL_EXTERNAL) == 0;
}

// The target itself may be read, item on item; a rolled array may not, since
// its items are read elsewhere.
bool tl_region_is_safe_target(const tl_region_graph *g,
                              const tl_array *target) {
  for (int u = 0; u < g->use_count; u++) {
    const tl_array *other = tl_region_read_array(&g->uses[u]);
    if (other == NULL || in_other_block(other, target))
      continue;
    if (g->uses[u].wrap > 0
            ? tl_arrays_overlap(other, target)
            : other != target && tl_arrays_collide(other, target))
      return false;
  }
  return true;
}

bool tl_region_is_dense_target(const tl_region_graph *g,
                               const tl_array *target) {
  return tl_is_contiguous(target) && tl_region_is_safe_target(g, target);
}

// A slot that ends with the region ends an array that it owns, or that a
// container in it alone has, whatever slot the array was read from. Several
// results would have to be kept apart: each goes over an operand's own.
tl_slot *tl_region_owner(const tl_region_graph *g, int use, int *ended) {
  const tl_region_use *x = &g->uses[use];
  if (!x->direct || !tl_is_array(x->value))
    return NULL;
  for (int i = 0; i < g->root_count; i++) {
    tl_region_root *root = &g->roots[i];
    if (!root->consumed || !tl_is_owned(root->value) ||
        (i != x->root && g->consumer == TL_CONSUMER_MULTI))
      continue;
    *ended = root->ended;
    if (root->value.pointer == x->value.pointer)
      return &root->value;
    tl_slot *item = tl_sole_item(root->value, x->value.object);
    if (item != NULL)
      return item;
  }
  return NULL;
}

// Whether all who count the array end here.
static bool ends_with_all(const tl_region_graph *g, const tl_array *a) {
  uint32_t count = 0;
  for (int i = 0; i < g->root_count; i++)
    count += g->roots[i].consumed && tl_is_owned(g->roots[i].value) &&
             g->roots[i].value.pointer == a;
  return count == a->head.count && g->consumer != TL_CONSUMER_MULTI;
}

void tl_region_take_over(tl_region_graph *g, int use) {
  int ended;
  tl_slot *owner = tl_region_owner(g, use, &ended);
  tl_array *a = owner->array;
  bool in_slot = false;
  for (int i = 0; i < g->root_count; i++) {
    tl_region_root *root = &g->roots[i];
    if (!root->consumed || !tl_is_owned(root->value) ||
        root->value.pointer != a)
      continue;
    root->consumed = false;
    if (in_slot) {  // one of several that count it
      g->base[root->slot].tag &= ~TL_OWNED;
      a->head.count--;
    }
    in_slot = true;
  }
  if (!in_slot)
    *owner = tl_none();
}

// Of the operands that end here, show their whole array, and have the result's
// size and shape, the one that ends first.
int tl_region_find_target(const tl_region_graph *g, tl_dtype dtype, int ndim,
                          const int64_t *shape,
                          bool (*fits)(const tl_region_graph *,
                                       const tl_array *)) {
  int found = -1, first = INT_MAX;
  for (int u = 0; u < g->use_count; u++) {
    int ended;
    const tl_slot *owner = tl_region_owner(g, u, &ended);
    if (owner == NULL || ended >= first)
      continue;
    const uint32_t count = owner->array->head.count;
    if (count > 1 && ends_with_all(g, owner->array))
      owner->array->head.count = 1;  // as if it had one of them alone
    bool ok = tl_can_reuse(g->vm, *owner, dtype, ndim, shape) &&
              fits(g, owner->array);
    owner->array->head.count = count;
    if (!ok)
      continue;
    found = u;
    first = ended;
  }
  return found;
}

// Floats take in what does not raise the kind; integers only their own dtype,
// since a value may not fit. The shape has to be the region's, without
// broadcasting.
tl_array *tl_region_find_place(tl_region_graph *g, const tl_array *a, int node,
                               const tl_region_index *index) {
  tl_selection s;
  const tl_region_node *n = &g->nodes[node];
  tl_dtype from = n->typing.result, to = tl_array_dtype(a);
  bool fits = from == to || (to >= TL_FLOAT16 && to < TL_STRING &&
                             tl_kind_rank(from) <= tl_kind_rank(to));
  if (!fits)
    return NULL;
  if (!tl_region_find_index(g, a, index, &s))
    return NULL;
  size_t nbytes = (size_t)s.ndim * sizeof *s.shape;
  if (s.ndim != g->shapes[n->shape].ndim ||
      memcmp(s.shape, g->shapes[n->shape].lengths, nbytes) != 0)
    return NULL;
  return tl_region_view(g, a, to, s.data, s.ndim, s.shape, s.strides);
}

// Small arrays stay in cache, where the order does not matter.
bool tl_region_lies_otherwise(const tl_region_graph *g) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  const tl_array *arrays[TL_REGION_USES];
  return tl_region_size(g) >= POLL_ITEMS &&
         tl_has_other_order(g->vm, shape->ndim, shape->lengths,
                            tl_region_arrays(g, arrays), arrays);
}

// --- Writing it --------------------------------------------------------------

// Where the tiles begin along each axis of the result, in order; after the last
// one stands the axis's length.
typedef struct cuts {
  int count[TL_MAX_DIMS];
  int64_t at[TL_MAX_DIMS][TL_REGION_CUTS + 2];
} cuts;

// In order, none twice. false: an axis has too many.
// A tile that ends at a cut has plain strides: every item of it lies on one
// side of each wrap.
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

// Where the tile is cut, along each of its axes, from its first item on.
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

typedef struct writing {
  tl_region_graph *g;
  char *to;
  const int64_t *strides;
  bool may_stop;
} writing;

// The longest part of each axis: a plan for a tile of these lengths is one for
// all tiles.
// Its registers and buffers are large enough for all others, which
// tl_region_plan_again cuts to their lengths.
static void find_longest(const tl_region_tile *tile, const cuts *c,
                         int64_t *lengths) {
  for (int i = 0; i < tile->ndim; i++) {
    lengths[i] = 0;
    for (int k = 0; k < c->count[i]; k++) {
      int64_t length = c->at[i][k + 1] - c->at[i][k];
      if (length > lengths[i])
        lengths[i] = length;
    }
  }
}

// Tiles are counted through as index positions are, the last axis first.
//
//   lengths 6, cuts at 2 and 5     tiles [0, 2)  [2, 5)  [5, 6)
static tl_region_status write_tiles(const writing *w,
                                    tl_region_planned *planned,
                                    const tl_region_tile *tile, const cuts *c) {
  int part[TL_MAX_DIMS] = {0};
  int64_t from[TL_MAX_DIMS] = {0}, shape[TL_MAX_DIMS];
  int ndim = w->g->shapes[w->g->nodes[w->g->value].shape].ndim;
  if (tile->from != NULL)
    memcpy(from, tile->from, (size_t)ndim * sizeof *from);
  tl_region_tile piece = {tile->ndim, shape, tile->axes, from};
  for (;;) {
    char *to = w->to;
    for (int i = 0; i < tile->ndim; i++) {
      int axis = tile->axes == NULL ? i : tile->axes[i];
      int64_t at = c->at[i][part[i]];
      from[axis] = at + (tile->from == NULL ? 0 : tile->from[axis]);
      shape[i] = c->at[i][part[i] + 1] - at;
      to += at * w->strides[i];
    }
    tl_plan *plan = tl_region_plan_again(w->g, planned, &piece, to);
    if (!tl_plan_run(w->g->vm, plan, w->may_stop))
      return TL_REGION_FAILED;
    int i = tile->ndim - 1;
    while (i >= 0 && ++part[i] == c->count[i]) part[i--] = 0;
    if (i < 0)
      return TL_REGION_DONE;
  }
}

// Plans a tile of the longest parts, and writes the tile by that. [whole]: it
// is all of the result, so that the plan of an earlier run may do.
static tl_region_status cut_tile(const writing *w, const tl_region_tile *tile,
                                 tl_dtype dtype, bool whole) {
  tl_region_planned *planned = w->g->fresh;
  cuts c;  // large: not cleared
  if (!find_cuts(w->g, tile, &c))
    return TL_REGION_DECLINED;
  int64_t lengths[TL_MAX_DIMS];
  find_longest(tile, &c, lengths);
  tl_region_tile longest = {tile->ndim, lengths, tile->axes, tile->from};
  if (whole) {
    tl_plan *plan =
        tl_region_plan_whole(w->g, &longest, w->to, dtype, w->strides);
    if (plan == NULL)
      return TL_REGION_DECLINED;
    planned = plan == &planned->plan ? planned : w->g->cached;
  } else {
    if (!tl_region_plan(w->g, planned, &longest, w->to, dtype, w->strides))
      return TL_REGION_DECLINED;
  }
  return write_tiles(w, planned, tile, &c);
}

tl_region_status tl_region_run_tile(tl_region_graph *g,
                                    const tl_region_tile *tile, void *to,
                                    tl_dtype dtype, const int64_t *strides) {
  return cut_tile(&(writing){g, to, strides, true}, tile, dtype, false);
}

// Only rolled operands need tiles; else it is one plan for the whole array, of
// an earlier run where it fits.
static tl_region_status run_into(tl_region_graph *g, tl_array *to,
                                 tl_dtype dtype, bool may_stop) {
  tl_region_tile tile = {tl_ndim(to), tl_shape(to), NULL, NULL};
  if (tl_region_has_wrap(g)) {
    writing w = {g, to->data, tl_strides(to), may_stop};
    return cut_tile(&w, &tile, dtype, true);
  }
  tl_plan *plan =
      tl_region_plan_whole(g, &tile, to->data, dtype, tl_strides(to));
  return tl_region_run_plan(g, plan, NULL, NULL, may_stop);
}

// --- Running folds ----------------------------------------------------------

// The call's arguments, read anew in each run since the graph is cached without
// what they mean.
static bool read_call(tl_region_graph *g, tl_scan_call *call) {
  int ndim = g->shapes[g->nodes[g->value].shape].ndim;
  return g->vm->library->fused->scan(g->vm, g->fold, ndim, g->arguments, call);
}

// Asked before any memory is made for the result.
bool tl_region_scan_fits(tl_region_graph *g) {
  tl_scan_call call;
  if (tl_region_has_wrap(g) || !read_call(g, &call) || call.initial)
    return false;
  g->scan_dtype =
      tl_cumulative_dtype((tl_reduction)call.reduction,
                          g->nodes[g->value].typing.result, call.dtype);
  return g->scan_dtype != TL_DTYPE_COUNT;
}

// Positions behind the axis are the scanner's inner ones; those before it come
// as lanes one after the other.
void tl_region_open_scanner(tl_scanner *s, const tl_scan_call *call,
                            tl_dtype dtype, int ndim, const int64_t *shape,
                            void *to) {
  int64_t inner = tl_shape_count(ndim - call->axis - 1, shape + call->axis + 1);
  tl_scanner_open(s, (tl_reduction)call->reduction, dtype, shape[call->axis],
                  inner, false, to);
}

// The plan hands items to the scanner in row-major order, which is the order
// that lanes need.
static tl_region_status scan_into(tl_region_graph *g, tl_array *to,
                                  tl_dtype dtype, bool may_stop) {
  tl_scan_call call;
  if (!read_call(g, &call))
    return TL_REGION_DECLINED;
  tl_region_tile tile = {tl_ndim(to), tl_shape(to), NULL, NULL};
  tl_plan *plan = tl_region_plan_whole(g, &tile, NULL, dtype, NULL);
  tl_scanner s;
  tl_region_open_scanner(&s, &call, dtype, tl_ndim(to), tl_shape(to), to->data);
  return tl_region_run_plan(g, plan, tl_scanner_take, &s, may_stop);
}

// --- The result -------------------------------------------------------------

// A running sum of narrow integers is wider than its items.
tl_dtype tl_region_result_dtype(const tl_region_graph *g) {
  return g->consumer == TL_CONSUMER_SCAN ? g->scan_dtype
                                         : g->nodes[g->value].typing.result;
}

// With [may_stop] nobody has seen [to]; without, the caller has paid for the
// pass.
tl_region_status tl_region_write(tl_region_graph *g, tl_array *to,
                                 tl_dtype dtype, bool may_stop) {
  return g->consumer == TL_CONSUMER_SCAN ? scan_into(g, to, dtype, may_stop)
                                         : run_into(g, to, dtype, may_stop);
}

// A scan's result is row-major; others lie in memory as the operands do. The
// array is dropped on failure.
tl_region_status tl_region_make_array(tl_region_graph *g, tl_array **out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype dtype = tl_region_result_dtype(g);
  const tl_array *arrays[TL_REGION_USES];
  int count = g->consumer == TL_CONSUMER_SCAN ? 0 : tl_region_arrays(g, arrays);
  tl_array *made = tl_array_new(g->vm, dtype, g->shapes[n->shape].ndim,
                                g->shapes[n->shape].lengths);
  made = tl_array_ordered(g->vm, made, count, arrays);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = tl_region_write(g, made, dtype, true);
  if (status == TL_REGION_DONE)
    *out = made;
  else
    tl_drop(g->vm, tl_own_array(made));
  return status;
}
