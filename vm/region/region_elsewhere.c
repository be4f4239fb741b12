// Stage "run": a result over an operand of which other places are read, too.
//
// What is read lies at one distance from what is written, and results wait
// until what they overwrite has been read. Near the ends of a rolled axis the
// other end is read: that margin is computed by itself.
//
//   a[1:-1] = a[:-2] + a[2:]      one item behind, and one ahead
//   roll(x, 1) + roll(x, -1)      so all but the first and the last item
//
// Built for size.

#include "vm/engine/plan_delay.h"
#include "vm/region/region_internal.h"

// Items that are computed by themselves, and stored at [from] when all that is
// read of their place has been.
typedef struct part {
  int64_t from[TL_MAX_DIMS], shape[TL_MAX_DIMS];
  tl_array *made;  // of that shape
} part;

// One item in so many may lie in the margins, whose results wait in arrays.
enum { MARGIN_OF = 8 };

// Along each axis the first item and the end of what no rolled operand, whether
// of the target or not, reads across its ends; and how far behind its place an
// item is read, in bytes.
typedef struct middle {
  int64_t from[TL_MAX_DIMS], end[TL_MAX_DIMS];
  int64_t behind;
} middle;

// False where places of the target are read at several distances, or where the
// margins are too much of it. What lies ahead of what is written does no harm:
// it is read before.
static bool find_middle(const tl_region_graph *g, const tl_array *target,
                        middle *m) {
  int ndim = tl_ndim(target);
  bool rolled = tl_region_has_wrap(g);
  m->behind = 0;
  for (int k = 0; rolled && k < ndim; k++) {
    m->from[k] = 0;
    m->end[k] = tl_shape(target)[k];
  }
  const tl_region_use *u = g->uses, *end = u + g->use_count;
  for (; u != end; u++) {
    const tl_array *a = tl_region_read_array(u);
    bool overlaps = a != NULL && tl_arrays_overlap(a, target);
    if (overlaps && !tl_arrays_walk_alike(a, target))
      return false;
    if (a == NULL || (!overlaps && u->wrap == 0))
      continue;
    int64_t behind = overlaps ? target->data - a->data : 0;
    int more = ndim - tl_ndim(a);  // axes that the operand does not have
    for (int k = 0; u->wrap > 0 && k < tl_ndim(a); k++) {
      int64_t n = tl_shape(a)[k], shift = tl_region_shift(g, u)[k];
      shift = shift > n / 2 ? shift - n : shift;
      if (shift > m->from[more + k])
        m->from[more + k] = shift;
      if (n > 1 && n + shift < m->end[more + k])
        m->end[more + k] = n + shift;
      behind += shift * tl_strides(a)[k];
    }
    if (overlaps && behind > m->behind)
      m->behind = behind;
  }
  if (!rolled)
    return true;
  int64_t items = 1;
  for (int k = 0; k < ndim; k++)
    items *= m->end[k] > m->from[k] ? m->end[k] - m->from[k] : 0;
  return tl_is_worth_moving(g->vm, tl_item_bytes(target)) &&
         items >= target->size - target->size / MARGIN_OF;
}

bool tl_region_is_shifted(const tl_region_graph *g, const tl_array *target) {
  middle m;
  return g->rows == NULL && find_middle(g, target, &m);
}

// The margins in front of the middle and behind it along each axis, but those
// without items: in the middle along the axes before, of whole length along
// those after. Returns how many.
__attribute__((cold)) static int find_margins(const middle *m,
                                              const tl_array *to,
                                              part *margins) {
  int count = 0;
  for (int side = 0; side < 2 * tl_ndim(to); side++) {
    part *p = &margins[count];
    int k = side / 2;
    for (int i = 0; i < tl_ndim(to); i++) {
      bool front = i == k && side % 2 == 0;
      int64_t first = i < k ? m->from[i] : 0;
      int64_t end = i < k ? m->end[i] : tl_shape(to)[i];
      p->from[i] = i == k && !front ? m->end[i] : first;
      p->shape[i] = (front ? m->from[i] : end) - p->from[i];
    }
    count += tl_shape_count(tl_ndim(to), p->shape) > 0;
  }
  return count;
}

// All that lies in the middle, where it belongs: what is overwritten has been
// read, as results wait.
static tl_region_status write_middle(tl_region_graph *g, tl_array *to,
                                     tl_dtype dtype, const middle *m) {
  tl_plan_delay delay;
  int64_t shape[TL_MAX_DIMS];
  char *place = to->data;
  tl_plan *plan = &g->fresh->plan;
  bool rolled = tl_region_has_wrap(g);
  for (int k = 0; rolled && k < tl_ndim(to); k++) {
    shape[k] = m->end[k] - m->from[k];
    place += m->from[k] * tl_strides(to)[k];
  }
  tl_region_tile tile = {tl_ndim(to), rolled ? shape : tl_shape(to), NULL,
                         rolled ? m->from : NULL};
  if (!rolled)
    plan = tl_region_plan_whole(g, &tile, place, dtype, tl_strides(to));
  else if (!tl_region_plan(g, g->fresh, &tile, place, dtype, tl_strides(to)))
    return TL_REGION_DECLINED;
  if (plan == NULL || !tl_delay_fits(plan, &delay, m->behind))
    return TL_REGION_DECLINED;
  if (!tl_poll_items(g->vm, to->size))
    return TL_REGION_FAILED;
  plan->delay = &delay;
  return tl_region_run_plan(g, plan, NULL, NULL, false);
}

// The margins first, but to their places last.
tl_region_status tl_region_write_shifted(tl_region_graph *g, tl_array *to,
                                         tl_dtype dtype) {
  middle m;
  part margins[2 * TL_MAX_DIMS];
  int made = 0, count;
  tl_region_status status = TL_REGION_DONE;
  if (g->rows != NULL || !find_middle(g, to, &m))
    return TL_REGION_DECLINED;
  count = tl_region_has_wrap(g) ? find_margins(&m, to, margins) : 0;
  for (; made < count && status == TL_REGION_DONE; made++) {
    part *p = &margins[made];
    p->made = tl_array_new(g->vm, dtype, tl_ndim(to), p->shape);
    tl_region_tile tile = {tl_ndim(to), p->shape, NULL, p->from};
    status = p->made == NULL ? TL_REGION_FAILED
                             : tl_region_run_tile(g, &tile, p->made->data,
                                                  dtype, tl_strides(p->made));
  }
  if (status == TL_REGION_DONE)
    status = write_middle(g, to, dtype, &m);
  for (int i = 0; i < made; i++) {
    if (status == TL_REGION_DONE)
      tl_array_put(to, margins[i].from, margins[i].shape, margins[i].made);
    tl_array_drop(g->vm, margins[i].made);
  }
  return status;
}
