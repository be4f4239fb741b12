// Stage "run": a result over an operand of which other places are read, too.
//
// Paired: what is read there is the operand with its axes reversed or
// exchanged. Then few cells of the result depend on each other, and on nothing
// else: they are computed by themselves and stored together.
//
//   x + x[::-1]      the first cell and the last one, the second and …
//   m.T + m          a cell and the one across the diagonal
//
// Shifted: what is read lies at one distance from what is written, and results
// wait until what they overwrite has been read. Near the ends of a rolled axis
// the other end is read: that margin is computed by itself.
//
//   a[1:-1] = a[:-2] + a[2:]      one item behind, and one ahead
//   roll(x, 1) + roll(x, -1)      so all but the first and the last item
//
#include <math.h>
#include <string.h>

#include "vm/engine/plan_delay.h"
#include "vm/region/region_internal.h"

// Items that are computed by themselves, and stored at [from] when all that is
// read of their place has been.
typedef struct part {
  int64_t from[TL_MAX_DIMS], shape[TL_MAX_DIMS];
  tl_array *made;  // of that shape, or larger
} part;

// --- Paired ------------------------------------------------------------------

// Where an item is read: its index along axis k counts along axis axis[k] of
// the target, from the end if turned[k].
typedef struct turn {
  int8_t axis[TL_MAX_DIMS];
  bool turned[TL_MAX_DIMS];
} turn;

enum { TURNS = 8, CELLS_ITEMS = 8192 };  // of all that are stored together

// The turns of all operands, and those that follow from them one after another:
// what the cells of each other's places are.
typedef struct turns {
  int count;
  turn all[TURNS];
} turns;

// How [a] shows the target: false if not all of it, in other orders of axes.
static bool find_turn(const tl_array *a, const tl_array *target, turn *t) {
  const char *first = a->data;
  unsigned taken = 0;
  if (tl_ndim(a) != tl_ndim(target))
    return false;
  memset(t, 0, sizeof *t);
  for (int k = 0; k < tl_ndim(a); k++) {
    int64_t stride = tl_strides(a)[k], n = tl_shape(a)[k];
    int p = 0;
    while (p < tl_ndim(a) &&
           ((taken >> p & 1) != 0 || n != tl_shape(target)[p] ||
            (n > 1 && stride != tl_strides(target)[p] &&
             stride != -tl_strides(target)[p])))
      p++;
    if (p == tl_ndim(a))
      return false;
    taken |= 1u << p;
    t->axis[k] = (int8_t)p;
    t->turned[k] = n > 1 && stride != tl_strides(target)[p];
    first += t->turned[k] ? (n - 1) * stride : 0;
  }
  return first == target->data;
}

static bool add_turn(turns *t, const turn *one) {
  for (int i = 0; i < t->count; i++)
    if (memcmp(&t->all[i], one, sizeof *one) == 0)
      return true;
  if (t->count == TURNS)
    return false;
  t->all[t->count++] = *one;
  return true;
}

// All turns of the operands, and all that two of them make.
static bool find_turns(const tl_region_graph *g, const tl_array *target,
                       turns *t) {
  turn one;
  t->count = 0;
  if (tl_ndim(target) == 0 || !find_turn(target, target, &one) ||
      !add_turn(t, &one))
    return false;
  for (int u = 0; u < g->use_count; u++) {
    const tl_array *a = tl_region_read_array(&g->uses[u]);
    if (a != NULL && tl_arrays_overlap(a, target) &&
        (!find_turn(a, target, &one) || !add_turn(t, &one)))
      return false;
  }
  for (int i = 1; i < t->count; i++)
    for (int j = 1; j < t->count; j++) {
      memset(&one, 0, sizeof one);
      for (int k = 0; k < tl_ndim(target); k++) {
        int p = t->all[i].axis[k];
        one.axis[k] = t->all[j].axis[p];
        one.turned[k] = t->all[i].turned[k] != t->all[j].turned[p];
      }
      if (!add_turn(t, &one))
        return false;
    }
  return true;
}

bool tl_region_is_paired(const tl_region_graph *g, const tl_array *target) {
  turns t;
  return tl_is_worth_moving(target) && g->rows == NULL &&
         !tl_region_has_wrap(g) && find_turns(g, target, &t);
}

// Each axis is cut from both ends alike, if it has an odd length into an odd
// number of parts: [cells] of them. Where axes are exchanged all are cut alike;
// else rows stay as long as they can.
static void cut_cells(const tl_array *to, const turns *t, int64_t *cells) {
  bool crossed = false;
  int ndim = tl_ndim(to);
  int64_t room = CELLS_ITEMS / t->count, side = 1;
  for (int i = 0; i < t->count; i++)
    for (int k = 0; k < ndim; k++) crossed = crossed || t->all[i].axis[k] != k;
  while (pow((double)side * 2, ndim) <= (double)room) side *= 2;
  for (int k = ndim - 1; k >= 0; k--) {
    int64_t n = tl_shape(to)[k];
    int64_t count = n / (crossed ? side : room);
    count = count < 1 ? 1 : count;
    cells[k] = n % 2 == 0 ? count : count | 1;
    room /= n / cells[k];
    room = room < 1 ? 1 : room;
  }
}

// The first item of cell [i] of [count] along an axis of [n] items.
static int64_t cell_at(int64_t n, int64_t count, int64_t i) {
  return i <= count / 2 ? i * n / count : n - (count - i) * n / count;
}

// The cells that [cell] is turned into, itself the first; 0 if one of them
// comes before it in the order of rows, and has been stored with it.
static int find_orbit(const turns *t, const int64_t *cells, const tl_array *to,
                      const int64_t *cell, part *orbit) {
  int count = 0, ndim = tl_ndim(to);
  for (int i = 0; i < t->count; i++) {
    part *other = &orbit[count];
    int same = 0, order = 0;
    for (int k = 0; k < ndim; k++) {
      int p = t->all[i].axis[k];
      int64_t n = tl_shape(to)[p];
      int64_t at = t->all[i].turned[k] ? cells[p] - 1 - cell[k] : cell[k];
      other->from[p] = cell_at(n, cells[p], at);
      other->shape[p] = cell_at(n, cells[p], at + 1) - other->from[p];
    }
    for (int k = 0; k < ndim && order == 0; k++)
      order =
          (other->from[k] > orbit->from[k]) - (other->from[k] < orbit->from[k]);
    if (order < 0)
      return 0;
    while (memcmp(orbit[same].from, other->from,
                  (size_t)ndim * sizeof *other->from) != 0)
      same++;
    count += same == count;
  }
  return count;
}

// Cells are counted through as index positions are, the last axis first. Those
// of an orbit are computed, each into an array of its own, and then stored.
static bool write_cells(tl_region_graph *g, tl_array *to, const turns *t,
                        const int64_t *cells, part *orbit) {
  int64_t cell[TL_MAX_DIMS] = {0};
  int ndim = tl_ndim(to);
  for (;;) {
    int count = find_orbit(t, cells, to, cell, orbit);
    for (int i = 0; i < count; i++) {
      tl_region_tile tile = {ndim, orbit[i].shape, NULL, orbit[i].from};
      tl_plan *plan =
          tl_region_plan_again(g, g->fresh, &tile, orbit[i].made->data);
      if (!tl_plan_run(g->vm, plan, false))
        return false;
    }
    for (int i = 0; i < count; i++)
      tl_array_put(to, orbit[i].from, orbit[i].shape, orbit[i].made);
    int k = ndim - 1;
    while (k >= 0 && ++cell[k] == cells[k]) cell[k--] = 0;
    if (k < 0)
      return true;
  }
}

// One plan, for the longest cell, is good for all.
tl_region_status tl_region_write_paired(tl_region_graph *g, tl_array *to,
                                        tl_dtype dtype) {
  turns t;
  part orbit[TURNS];
  int count = 0, inner = tl_ndim(to) - 1;
  int64_t cells[TL_MAX_DIMS], longest[TL_MAX_DIMS];
  if (!find_turns(g, to, &t))
    return TL_REGION_DECLINED;
  cut_cells(to, &t, cells);
  for (int k = 0; k <= inner; k++)
    longest[k] =
        tl_shape(to)[k] / cells[k] + (tl_shape(to)[k] % cells[k] == 0 ? 0 : 2);
  // An item more to a row: rows are no single run, as those of shorter cells
  // are none.
  longest[inner] += cells[inner] > 1;
  while (count < t.count && (orbit[count].made = tl_array_new(
                                 g->vm, dtype, inner + 1, longest)) != NULL)
    count++;
  longest[inner] -= cells[inner] > 1;
  tl_region_status status = TL_REGION_FAILED;
  if (count == t.count) {
    tl_region_tile tile = {inner + 1, longest, NULL, NULL};
    if (!tl_region_plan(g, g->fresh, &tile, orbit->made->data, dtype,
                        tl_strides(orbit->made)))
      status = TL_REGION_DECLINED;
    else if (tl_poll_items(g->vm, to->size) &&
             write_cells(g, to, &t, cells, orbit))
      status = TL_REGION_DONE;
  }
  while (count > 0) tl_array_drop(g->vm, orbit[--count].made);
  return status;
}

// --- Shifted -----------------------------------------------------------------

enum { MARGIN_OF = 8 };

// Along each axis the first item and the end of what no rolled operand, whether
// of the target or not, reads across its ends; and how far behind its place an
// item is read, in bytes.
typedef struct middle {
  int64_t from[TL_MAX_DIMS], end[TL_MAX_DIMS];
  int64_t behind;
} middle;

// Whether two arrays of one memory are walked by the same steps: then an item
// is always the same number of bytes before or behind the one that is written
// in its place.
static bool is_shifted(const tl_array *a, const tl_array *b) {
  int ndim = tl_ndim(a);
  if (tl_ndim(b) != ndim)
    return false;
  for (int i = 0; i < ndim; i++)
    if (tl_shape(a)[i] != tl_shape(b)[i] ||
        (tl_shape(a)[i] > 1 && tl_strides(a)[i] != tl_strides(b)[i]))
      return false;
  return true;
}

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
  for (int u = 0; u < g->use_count; u++) {
    const tl_array *a = tl_region_read_array(&g->uses[u]);
    bool overlaps = a != NULL && tl_arrays_overlap(a, target);
    if (overlaps && !is_shifted(a, target))
      return false;
    if (a == NULL || (!overlaps && g->uses[u].wrap == 0))
      continue;
    int64_t behind = overlaps ? target->data - a->data : 0;
    int more = ndim - tl_ndim(a);  // axes that the operand does not have
    for (int k = 0; g->uses[u].wrap > 0 && k < tl_ndim(a); k++) {
      int64_t n = tl_shape(a)[k], shift = tl_region_shift(g, &g->uses[u])[k];
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
  return tl_is_worth_moving(target) &&
         items >= target->size - target->size / MARGIN_OF;
}

bool tl_region_is_shifted(const tl_region_graph *g, const tl_array *target) {
  middle m;
  return g->rows == NULL && find_middle(g, target, &m);
}

// The margins in front of the middle and behind it along each axis, but those
// without items: in the middle along the axes before, of whole length along
// those after. Returns how many.
static int find_margins(const middle *m, const tl_array *to, part *margins) {
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
