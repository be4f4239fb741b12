// Reductions lane by lane: one result after the other, many short rows at once,
// or one long lane in parts; on several threads where that pays. The results
// have the bits of one thread: parts of a lane are whole subtrees of the tree
// that folds it.
#include "vm/poll.h"
#include "vm/engine/reduce_internal.h"
#include "vm/vm.h"

enum {
  SPREAD_ITEMS = 256 * 1024,  // below, one thread does it all
  PART_ITEMS = 16 * 1024,
  PART_ROWS = 4096,
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

// --- Short rows -------------------------------------------------------------

bool tl_reduce_has_short_rows(const tl_reducer *r) {
  const tl_split *split = &r->split;
  const tl_array *a = split->array;
  return r->from == r->dtype && split->reduced == 1 && split->length > 0 &&
         split->length <= TL_SHORT_ROW && tl_is_contiguous(a) &&
         split->length == tl_shape(a)[tl_ndim(a) - 1] &&
         split->reduced_strides[0] == (int64_t)tl_itemsize(r->from);
}

void tl_reduce_turned(const tl_reducer *r, tl_tile_fold *fold,
                      const void *context, int64_t from, int64_t n) {
  _Alignas(64) char tile[TL_TURNED_ROWS * TL_SHORT_ROW * sizeof(uint64_t)];
  size_t itemsize = tl_itemsize(r->dtype), length = (size_t)r->split.length;
  const char *items = r->split.array->data + (size_t)from * length * itemsize;
  char *out = r->out + (size_t)from * tl_itemsize(r->result);
  for (size_t left = (size_t)n, rows; left > 0; left -= rows) {
    rows = left < TL_TURNED_ROWS ? left : TL_TURNED_ROWS;
    tl_kernels()->pack_tile[tl_move_size(itemsize)](
        tile, (ptrdiff_t)(rows * itemsize), items, (ptrdiff_t)itemsize,
        (ptrdiff_t)(length * itemsize), length, rows);
    fold(r, context, out, tile, rows);
    items += rows * length * itemsize;
    out += rows * tl_itemsize(r->result);
  }
}

typedef struct row_spread {
  const tl_reducer *r;
  tl_rows_fold *fold;
  const void *context;
} row_spread;

static void fold_rows(void *context, int64_t part) {
  const row_spread *s = context;
  int64_t from = part * PART_ROWS, left = s->r->split.count - from;
  s->fold(s->r, s->context, from, left < PART_ROWS ? left : PART_ROWS);
}

bool tl_reduce_rows(tl_reducer *r, tl_rows_fold *fold, const void *context) {
  row_spread s = {r, fold, context};
  int64_t parts = (r->split.count + PART_ROWS - 1) / PART_ROWS;
  uint64_t cost = (uint64_t)(PART_ROWS * r->split.length) / 1024;
  if (parts > 1 && tl_reduce_may_spread(r))
    return tl_pool_spread(r->vm, parts, fold_rows, &s, cost);
  for (int64_t i = 0; i < parts; i++) {
    fold_rows(&s, i);
    if (!tl_poll(r->vm, cost))
      return false;
  }
  return true;
}

// --- Many lanes -------------------------------------------------------------

typedef struct lane_spread {
  const tl_reducer *r;
  tl_lane_fold *fold;
  const void *context;
  int64_t part;  // results
} lane_spread;

static tl_lane lane_at(const tl_reducer *r, const char *base) {
  const tl_split *split = &r->split;
  return (tl_lane){
      base,    split->reduced, split->reduced_shape, split->reduced_strides,
      r->from, r->dtype};
}

static void fold_part(void *context, int64_t part) {
  const lane_spread *s = context;
  const tl_split *split = &s->r->split;
  size_t itemsize = tl_itemsize(s->r->result);
  int64_t from = part * s->part, end = from + s->part, unpolled = 0;
  if (end > split->count)
    end = split->count;
  for (int64_t i = from; i < end; i++) {
    tl_lane lane =
        lane_at(s->r, split->array->data + i * split->kept_strides[0]);
    s->fold(s->r, NULL, &unpolled, s->context, &lane,
            s->r->out + (size_t)i * itemsize);
  }
}

bool tl_reduce_lanes(tl_reducer *r, tl_lane_fold *fold, const void *context) {
  const tl_split *split = &r->split;
  if (split->kept == 1 && tl_reduce_may_spread(r)) {
    lane_spread s = {r, fold, context, 0};
    s.part = (split->count + TL_REDUCE_PARTS - 1) / TL_REDUCE_PARTS;
    return tl_pool_spread(r->vm, (split->count + s.part - 1) / s.part,
                          fold_part, &s,
                          (uint64_t)(s.part * split->length) / 1024);
  }
  char *out = r->out;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter)) {
    tl_lane lane = lane_at(r, counter.at);
    if (!fold(r, r->vm, &r->unpolled, context, &lane, out))
      return false;
    out += tl_itemsize(r->result);
  }
  return true;
}
