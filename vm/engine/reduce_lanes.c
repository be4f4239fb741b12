// Reductions lane by lane: one result after the other, or one long lane in
// parts; on several threads where that pays. The results
// have the bits of one thread: parts of a lane are whole subtrees of the tree
// that folds it.
#include "vm/poll.h"
#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  SPREAD_ITEMS = 256 * 1024,  // below, one thread does it all
  PART_ITEMS = 16 * 1024,
};

bool tl_reduce_may_spread(const tl_reducer *r) {
  const tl_split *split = &r->split;
  return (split->count * split->length >= SPREAD_ITEMS || r->vm->pool.eager) &&
         split->length > 0 && split->count > 0 && tl_pool_threads(r->vm) > 1;
}

// --- One lane in parts ------------------------------------------------------

typedef struct part_spread {
  const tl_reducer *r;
  const tl_parts *parts;
  tl_lane_fn *piece;
  char *contexts;
  size_t size;  // of a context
} part_spread;

bool tl_reduce_in_parts(const tl_reducer *r, tl_parts *parts) {
  const tl_split *split = &r->split;
  if (split->kept != 0 || split->reduced != 1 || !tl_reduce_may_spread(r))
    return false;
  parts->length = r->vm->pool.eager ? TL_FOLD_LEAF : PART_ITEMS;
  while (parts->length * TL_REDUCE_PARTS < split->length) parts->length *= 2;
  parts->count = (split->length + parts->length - 1) / parts->length;
  return true;
}

static void feed_part(void *context, int64_t part) {
  const part_spread *s = context;
  const tl_split *split = &s->r->split;
  int64_t from = part * s->parts->length, length = split->length - from;
  if (length > s->parts->length)
    length = s->parts->length;
  tl_lane lane = {split->array->data + from * split->reduced_strides[0],
                  1,
                  &length,
                  split->reduced_strides,
                  s->r->from,
                  s->r->dtype};
  int64_t unpolled = 0;
  tl_lane_walk(NULL, &lane, &unpolled, s->piece,
               s->contexts + (size_t)part * s->size);
}

bool tl_reduce_feed_parts(tl_reducer *r, const tl_parts *parts,
                          tl_lane_fn *piece, void *contexts, size_t size) {
  part_spread s = {r, parts, piece, contexts, size};
  return tl_pool_spread(r->vm, parts->count, feed_part, &s,
                        (uint64_t)parts->length / 1024);
}

// --- Many lanes -------------------------------------------------------------

typedef struct lane_spread {
  const tl_reducer *r;
  tl_lane_fold *fold;
  const void *context;
  int64_t part;           // results
  const tl_panel *panel;  // NULL: none
} lane_spread;

static tl_lane lane_at(const tl_reducer *r, const char *base) {
  const tl_split *split = &r->split;
  return (tl_lane){
      base,    split->reduced, split->reduced_shape, split->reduced_strides,
      r->from, r->dtype};
}

// [n] lanes side by side from [base] on. A worker has no VM.
static bool fold_side_by_side(const lane_spread *s, tl_vm *vm,
                              int64_t *unpolled, const tl_panel *panel,
                              const char *base, int64_t n, char *out) {
  const tl_reducer *r = s->r;
  const tl_split *split = &r->split;
  const int64_t item = (int64_t)tl_itemsize(r->from);
  for (int64_t at = 0, count; at < n; at += count) {
    count = n - at < panel->rows ? n - at : panel->rows;
    tl_panel_fill(panel, base + at * item, item, split->reduced_strides[0],
                  count);
    for (int64_t i = 0; i < count; i++, out += tl_itemsize(r->result)) {
      tl_lane lane = {panel->items + i * panel->row,
                      1,
                      &panel->length,
                      &item,
                      r->from,
                      r->dtype};
      if (!s->fold(r, vm, unpolled, s->context, &lane, out))
        return false;
    }
  }
  return true;
}

static void fold_part(void *context, int64_t part) {
  const lane_spread *s = context;
  const tl_split *split = &s->r->split;
  size_t itemsize = tl_itemsize(s->r->result);
  int64_t from = part * s->part, end = from + s->part, unpolled = 0;
  if (end > split->count)
    end = split->count;
  const char *base = split->array->data + from * split->kept_strides[0];
  char *out = s->r->out + (size_t)from * itemsize;
  if (s->panel != NULL) {
    tl_panel own = *s->panel;
    own.items += (size_t)part * own.nbytes;
    fold_side_by_side(s, NULL, &unpolled, &own, base, end - from, out);
    return;
  }
  for (int64_t i = from; i < end; i++, out += itemsize) {
    tl_lane lane = lane_at(s->r, base);
    s->fold(s->r, NULL, &unpolled, s->context, &lane, out);
    base += split->kept_strides[0];
  }
}

static bool spread_lanes(tl_reducer *r, lane_spread *s) {
  const tl_split *split = &r->split;
  s->part = (split->count + TL_REDUCE_PARTS - 1) / TL_REDUCE_PARTS;
  return tl_pool_spread(r->vm, (split->count + s->part - 1) / s->part,
                        fold_part, s,
                        (uint64_t)(s->part * split->length) / 1024);
}

static bool each_lane(tl_reducer *r, const lane_spread *s) {
  const tl_split *split = &r->split;
  const int last = split->kept - 1;
  const int64_t n = s->panel == NULL ? 1 : split->kept_shape[last];
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, s->panel == NULL ? split->kept : last,
                   split->kept_shape, split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter)) {
    tl_lane lane = lane_at(r, counter.at);
    bool ok = s->panel == NULL
                  ? s->fold(r, r->vm, &r->unpolled, s->context, &lane, out)
                  : fold_side_by_side(s, r->vm, &r->unpolled, s->panel,
                                      counter.at, n, out);
    if (!ok)
      return false;
    out += (size_t)n * tl_itemsize(r->result);
  }
  return true;
}

bool tl_reduce_lanes(tl_reducer *r, tl_lane_fold *fold, const void *context) {
  const tl_split *split = &r->split;
  const int last = split->kept - 1;
  const bool spreads = split->kept == 1 && tl_reduce_may_spread(r);
  lane_spread s = {r, fold, context, 0, NULL};
  tl_panel panel;
  if (split->kept > 0 && split->reduced == 1 &&
      tl_panel_open(r->vm, &panel, r->from, split->length,
                    split->kept_shape[last], split->kept_strides[last],
                    split->reduced_strides[0], spreads ? TL_REDUCE_PARTS : 1))
    s.panel = &panel;
  bool ok = spreads ? spread_lanes(r, &s) : each_lane(r, &s);
  if (s.panel != NULL)
    tl_panel_close(r->vm, &panel);
  return ok;
}
