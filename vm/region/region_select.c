// Regions that end in a selection by a mask, x[x > 0]: each block's items go,
// through the mask's block, to where the result has come to. Neither the mask
// nor what is selected from is an array.
//
// A dying operand's memory takes the items over those that have been read. Else
// how many they will be is foretold: by the run before, or by the part of the
// mask that was seen; the array grows where it was wrong.
//
// Built for size.

#include "vm/region/region_internal.h"

enum {
  STAGE_BYTES = 16 * 1024,  // on the stack: the most that goes there first
  MORE = 16,  // a part: of an array's items, that it has room for besides
};

// A selection under way: what is chosen from, by its dtype and shape, which is
// the mask's, too. [size] counts items; nothing here is owned.
typedef struct selecting {
  tl_region_graph *g;
  tl_dtype dtype;
  size_t itemsize;
  int ndim;
  const int64_t *shape;
  int64_t size;
} selecting;

// Of a node or a use, -1 - its number.
static tl_dtype dtype_of(const tl_region_graph *g, int in) {
  return in >= 0 ? g->nodes[in].typing.result
                 : tl_array_dtype(g->uses[-1 - in].value.array);
}

// --- Writing ----------------------------------------------------------------

// Where the next items go.
typedef struct packer {
  tl_compress_kernel *kernel;
  size_t itemsize;
  char *to;
  int64_t count;  // items there
  // Of an array that grows
  tl_vm *vm;
  tl_dtype dtype;
  tl_slot made;        // none: the items are on the stack
  int64_t room;        // items
  int64_t seen, size;  // of the mask, so far and all
  bool failed;
} packer;

// blocks[0] are items, blocks[1] their mask.
static void feed_packer(void *context, const void *const *blocks, size_t n) {
  packer *p = context;
  p->count += (int64_t)p->kernel(p->to + (size_t)p->count * p->itemsize,
                                 blocks[0], blocks[1], n);
}

// An array with room for [room] items, of which there are [need].
// The items that are there are moved into it.
static bool hold(packer *p, int64_t need, int64_t room) {
  if (tl_is_array(p->made))
    return tl_array_widen(p->vm, &p->made, need, room - need);
  tl_array *made = tl_array_new(p->vm, p->dtype, 1, &room);
  if (made == NULL)
    return false;
  if (p->count > 0)
    memcpy(made->data, p->to, (size_t)p->count * p->itemsize);
  p->made = tl_own_array(made);
  return true;
}

// Room for [n] more items, and for those that are to come if the rest of the
// mask is as the part that was seen: but at most twice what is needed.
// Doubling bounds the copies to a constant for each item, even where the mask
// misleads.
static bool grow(packer *p, int64_t n) {
  int64_t need = p->count + n;
  int64_t room = (int64_t)((double)need / (double)p->seen * (double)p->size);
  room += room / MORE;
  if (room < need + need / MORE)
    room = need + need / MORE;
  if (room > 2 * need)
    room = 2 * need;
  if (!hold(p, need, room))
    return false;
  p->room = room;
  p->to = p->made.array->data;
  return true;
}

// A block that fits even if all is taken is not counted first.
static void feed_growing(void *context, const void *const *blocks, size_t n) {
  packer *p = context;
  int64_t most = (int64_t)n;
  p->seen += most;
  if (p->failed)
    return;
  if (p->count + most > p->room) {
    most = tl_count_bools(blocks[1], most);
    if (p->count + most > p->room && !grow(p, most)) {
      p->failed = true;
      return;
    }
  }
  feed_packer(p, blocks, n);
}

// Items are moved by their size alone, whatever their dtype.
static packer open_packer(const selecting *s, void *to) {
  return (packer){.kernel = tl_kernels()->compress[tl_move_size(s->itemsize)],
                  .itemsize = s->itemsize,
                  .to = to,
                  .vm = s->g->vm,
                  .dtype = s->dtype,
                  .made = tl_none(),
                  .size = s->size};
}

// Items and mask, block by block, to [consumer].
static tl_region_status pack(const selecting *s, tl_plan_consume *consumer,
                             packer *p, bool may_stop) {
  tl_region_graph *g = s->g;
  tl_region_target targets[2] = {{.node = g->selected, .dtype = s->dtype},
                                 {.node = g->mask, .dtype = TL_BOOL}};
  tl_plan *plan = tl_region_plan_multi(g, targets, 2);
  return tl_region_run_plan(g, plan, consumer, p, may_stop);
}

// --- The two ways ----------------------------------------------------------

// Whether the operand's memory can be cut to the length of the result, and is
// read in order.
static bool resizes(const tl_region_graph *g, const tl_array *target) {
  return (target->head.flags & TL_EXTERNAL) == 0 && tl_is_contiguous(target) &&
         tl_region_is_safe_target(g, target);
}

// Over a dying operand: item i goes to a place before i, or to i.
static tl_region_status select_over(const selecting *s, int use, tl_slot *out) {
  tl_region_graph *g = s->g;
  tl_slot owner = g->uses[use].value;
  packer p = open_packer(s, owner.array->data);
  if (!tl_poll_items(g->vm, s->size))
    return TL_REGION_FAILED;
  tl_region_status status = pack(s, feed_packer, &p, false);
  if (status != TL_REGION_DONE)
    return status;
  *out = tl_own_array(owner.array);
  g->selected_before = p.count;
  g->is_longer = true;
  tl_region_take_over(g, use);
  return status;
}

// Until now the operand had its old shape, by which the graph was cached.
void tl_region_cut(tl_region_graph *g, tl_slot *out) {
  if (!g->is_longer)
    return;
  bool selects = g->consumer == TL_CONSUMER_SELECT;
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  tl_slot owner = *out;
  g->is_longer = false;
  *out = tl_own_array(
      selects ? tl_array_narrow(g->vm, &owner, dtype_of(g, g->selected), 1,
                                &g->selected_before)
              : tl_array_narrow(g->vm, &owner, tl_region_result_dtype(g),
                                shape->ndim, shape->lengths));
}

// An array gives back what it has too much.
// Not for a small remainder, since shrinking may move the block.
static void trim(packer *p) {
  tl_array *a = p->made.array;
  if (p->room - p->count > p->count / (MORE / 2))
    tl_array_cut(p->vm, &p->made, p->count);
  else
    a->size = tl_shape(a)[0] = p->count;
}

// The first items go to the stack; an array is made when they are more. The
// result of an earlier run says how long this one will be.
//
//   known from before     an array of that length and a bit more
//   not known             the stack, then an array that is estimated by the
//                         part of the mask that was seen, then wider ones
static tl_region_status select_fresh(const selecting *s, tl_slot *out) {
  tl_region_graph *g = s->g;
  _Alignas(64) char stage[STAGE_BYTES];
  packer p = open_packer(s, stage);
  int64_t before = g->selected_before;
  p.room = (int64_t)(STAGE_BYTES / s->itemsize);
  if (before > p.room && hold(&p, 0, before + before / MORE)) {
    p.room = before + before / MORE;
    p.to = p.made.array->data;
  }
  tl_error_clear(g->vm);
  tl_region_status status = pack(s, feed_growing, &p, true);
  // Without memory the instructions one by one say so.
  if (status == TL_REGION_DONE &&
      (p.failed || (!tl_is_array(p.made) && !hold(&p, p.count, p.count))))
    status = TL_REGION_DECLINED;
  if (status == TL_REGION_DONE) {
    trim(&p);
    g->selected_before = p.count;
    *out = p.made;
  } else {
    tl_drop(g->vm, p.made);
  }
  return status;
}

// Whether an operand that is not computed has the region's shape.
static bool is_alike(const selecting *s, int in) {
  if (in >= 0)
    return true;
  const tl_array *a = s->g->uses[-1 - in].value.array;
  return tl_has_shape(a, s->ndim, s->shape);
}

// The mask has the shape of the items; other selections are left to the index.
tl_region_status tl_region_select(tl_region_graph *g, tl_slot *out) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  selecting s = {.g = g,
                 .dtype = dtype_of(g, g->selected),
                 .ndim = shape->ndim,
                 .shape = shape->lengths,
                 .size = tl_region_size(g)};
  s.itemsize = tl_itemsize(s.dtype);
  if (tl_region_has_wrap(g) || dtype_of(g, g->mask) != TL_BOOL ||
      !is_alike(&s, g->selected) || !is_alike(&s, g->mask))
    return TL_REGION_DECLINED;
  int over = tl_region_find_target(g, s.dtype, s.ndim, s.shape, resizes);
  if (over >= 0)
    return select_over(&s, over, out);
  // One by one, the instruction at fault says why.
  return tl_is_under_contract(g->vm) ? TL_REGION_DECLINED
                                     : select_fresh(&s, out);
}
