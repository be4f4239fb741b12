// Fused regions: see region.h. Reading the instructions is in region_read.c,
// deciding shapes and dtypes in region_resolve.c.

#include "vm/region/region.h"

#include <string.h>

#include "vm/error.h"
#include "vm/engine/plan_delay.h"
#include "vm/region/region_internal.h"
#include "vm/events.h"

enum { POLL_ITEMS = 64 * 1024 };

// --- Into an array ----------------------------------------------------------

bool tl_region_is_safe_target(const tl_region_graph *g,
                              const tl_array *target) {
  for (int u = 0; u < g->use_count; u++) {
    if (!g->uses[u].read || !tl_region_is_array(g->uses[u].items))
      continue;
    const tl_array *other = g->uses[u].items.array;
    if (g->uses[u].wrap > 0
            ? tl_arrays_overlap(other, target)
            : other != target && tl_arrays_collide(other, target))
      return false;
  }
  return true;
}

int tl_region_find_target(const tl_region_graph *g, tl_dtype dtype, int ndim,
                          const int64_t *shape,
                          bool (*fits)(const tl_region_graph *,
                                       const tl_array *)) {
  for (int u = 0; u < g->use_count; u++) {
    const tl_region_use *x = &g->uses[u];
    if (x->root >= 0 && x->direct && g->roots[x->root].consumed &&
        tl_is_array(x->value) &&
        tl_can_reuse(g->vm, x->value, dtype, ndim, shape) &&
        fits(g, x->value.array)) {
      return u;
    }
  }
  return -1;
}

int tl_region_arrays(const tl_region_graph *g, const tl_array **arrays) {
  int count = 0;
  for (int u = 0; u < g->use_count; u++) {
    if (g->uses[u].read && tl_region_is_array(g->uses[u].items))
      arrays[count++] = g->uses[u].items.array;
  }
  return count;
}

// --- Small parts of the target, copied first --------------------------------

// Where a row and a column of the target are all that is read at other places,
// they are copied, and the result is written over the rest:
// D = minimum(D, D[:, k, none] + D[none, k, :]).
enum { PARTS_MOST = 4, PART_OF = 8 };

typedef struct small_parts {
  int count;
  int use[PARTS_MOST];
  tl_slot value[PARTS_MOST];  // before
} small_parts;

static bool is_other_place(const tl_region_use *u, const tl_array *target) {
  const tl_array *a = u->items.array;
  return u->read && tl_region_is_array(u->items) && a != target &&
         tl_arrays_collide(a, target);
}

static bool has_small_parts(const tl_region_graph *g, const tl_array *target) {
  int count = 0;
  for (int u = 0; u < g->use_count; u++) {
    if (!is_other_place(&g->uses[u], target))
      continue;
    if (g->uses[u].items.array->size > target->size / PART_OF)
      return false;
    count++;
  }
  return count <= PARTS_MOST && g->rows == NULL && !tl_region_has_wrap(g);
}

static void give_back_parts(tl_region_graph *g, small_parts *p) {
  for (int i = 0; i < p->count; i++) {
    tl_region_use *u = &g->uses[p->use[i]];
    tl_drop(g->vm, tl_own_array(u->items.array));
    u->value = u->items = p->value[i];
  }
}

static bool copy_parts(tl_region_graph *g, const tl_array *target,
                       small_parts *p) {
  p->count = 0;
  for (int u = 0; u < g->use_count; u++) {
    if (!is_other_place(&g->uses[u], target))
      continue;
    tl_array *copy = tl_array_copy(g->vm, g->uses[u].items.array);
    if (copy == NULL) {
      give_back_parts(g, p);
      return false;
    }
    p->use[p->count] = u;
    p->value[p->count++] = g->uses[u].value;
    g->uses[u].value = g->uses[u].items = tl_borrow(tl_own_array(copy));
  }
  return true;
}

// As tl_region_run_into, where the target has small parts. The plan is good
// for the copies alone.
static tl_region_status run_over_parts(tl_region_graph *g, tl_array *to,
                                       tl_dtype dtype) {
  small_parts parts;
  if (!copy_parts(g, to, &parts))
    return TL_REGION_DECLINED;
  tl_region_planned *kept = g->kept;
  g->kept = NULL;
  g->uncacheable = true;
  tl_region_status status = tl_region_run_into(g, to, dtype, false);
  g->kept = kept;
  give_back_parts(g, &parts);
  return status;
}

bool tl_region_pay(tl_vm *vm, int64_t size) {
  return size < POLL_ITEMS || tl_poll(vm, (uint64_t)size / 1024);
}

static tl_dtype result_dtype(const tl_region_graph *g) {
  return g->sink == TL_SINK_SCAN ? g->scan_dtype
                                 : g->nodes[g->value].typing.result;
}

static tl_region_status write_result(tl_region_graph *g, tl_array *to,
                                     tl_dtype dtype, bool may_stop) {
  return g->sink == TL_SINK_SCAN ? tl_region_scan_into(g, to, dtype, may_stop)
                                 : tl_region_run_into(g, to, dtype, may_stop);
}

tl_region_status tl_region_make_array(tl_region_graph *g, tl_array **out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype dtype = result_dtype(g);
  const tl_array *arrays[TL_REGION_USES];
  int count = g->sink == TL_SINK_SCAN ? 0 : tl_region_arrays(g, arrays);
  tl_array *made = tl_array_new(g->vm, dtype, g->shapes[n->shape].ndim,
                                g->shapes[n->shape].lengths);
  made = tl_array_ordered(g->vm, made, count, arrays);
  if (made == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = write_result(g, made, dtype, true);
  if (status == TL_REGION_DONE) {
    *out = made;
  } else {
    tl_drop(g->vm, tl_own_array(made));
  }
  return status;
}

// A running fold goes in the order of the items.
static bool is_dense_target(const tl_region_graph *g, const tl_array *target) {
  return tl_is_contiguous(target) && tl_region_is_safe_target(g, target);
}

static tl_region_status to_array(tl_region_graph *g, tl_slot *out) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_dtype dtype = result_dtype(g);
  int ndim = g->shapes[n->shape].ndim;
  const int64_t *shape = g->shapes[n->shape].lengths;
  int reused = tl_region_find_target(
      g, dtype, ndim, shape,
      g->sink == TL_SINK_SCAN ? is_dense_target : tl_region_is_safe_target);
  bool whole = reused >= 0;
  if (!whole && g->sink == TL_SINK_ARRAY)
    reused = tl_region_find_target(g, dtype, ndim, shape, has_small_parts);
  tl_array *target;
  if (reused < 0) {
    // One by one, the instruction at fault says why.
    if (tl_is_under_contract(g->vm))
      return TL_REGION_DECLINED;
    tl_region_status status = tl_region_make_array(g, &target);
    if (status == TL_REGION_DONE)
      *out = tl_own_array(target);
    return status;
  }
  tl_slot owner = g->uses[reused].value;
  if (!tl_region_pay(g->vm, owner.array->size))
    return TL_REGION_FAILED;
  tl_region_status status = whole ? write_result(g, owner.array, dtype, false)
                                  : run_over_parts(g, owner.array, dtype);
  if (status != TL_REGION_DONE)
    return status;
  *out = tl_own_array(tl_reuse(g->vm, &owner, dtype, ndim, shape));
  g->roots[g->uses[reused].root].consumed = false;
  return status;
}

// --- Into a part of an array ------------------------------------------------

// Whether two arrays of one memory are walked by the same steps.
static bool is_shifted(const tl_array *a, const tl_array *b) {
  int ndim = tl_ndim(a);
  if (tl_ndim(b) != ndim)
    return false;
  for (int i = 0; i < ndim; i++) {
    if (tl_shape(a)[i] != tl_shape(b)[i] ||
        (tl_shape(a)[i] > 1 && tl_strides(a)[i] != tl_strides(b)[i])) {
      return false;
    }
  }
  return true;
}

// Where [target] is read at other places, all of them as far from the ones that
// are written: the bytes to the place farthest behind; else -1.
static int64_t find_behind(const tl_region_graph *g, const tl_array *target) {
  int64_t behind = 0;
  for (int u = 0; u < g->use_count; u++) {
    if (!g->uses[u].read || !tl_region_is_array(g->uses[u].items))
      continue;
    const tl_array *other = g->uses[u].items.array;
    if (!tl_arrays_overlap(other, target))
      continue;
    if (g->uses[u].wrap > 0 || !is_shifted(other, target))
      return -1;
    if (target->data - other->data > behind)
      behind = target->data - other->data;
  }
  return behind;
}

tl_array *tl_region_find_place(tl_region_graph *g, const tl_array *a, int node,
                               const tl_region_index *index) {
  tl_selection s;
  const tl_region_node *n = &g->nodes[node];
  tl_dtype from = n->typing.result, to = tl_array_dtype(a);
  bool fits = from == to || (to >= TL_FLOAT32 && to < TL_STRING &&
                             tl_kind_rank(from) <= tl_kind_rank(to));
  if (!fits)
    return NULL;
  if (!tl_region_find_index(g, a, index, &s))
    return NULL;
  size_t nbytes = (size_t)s.ndim * sizeof *s.shape;
  if (s.ndim != g->shapes[n->shape].ndim ||
      memcmp(s.shape, g->shapes[n->shape].lengths, nbytes) != 0) {
    return NULL;
  }
  return tl_region_view(g, a, to, s.data, s.ndim, s.shape, s.strides);
}

// Where the operands are other places of the target, at one distance each:
// into its memory, results waiting until what they overwrite has been read.
static tl_region_status store_delayed(tl_region_graph *g, tl_array *place) {
  tl_plan_delay delay;
  tl_region_tile tile = {tl_ndim(place), tl_shape(place), NULL, NULL};
  int64_t behind = find_behind(g, place);
  if (behind < 0 || tl_region_has_wrap(g))
    return TL_REGION_DECLINED;
  tl_plan *plan = tl_region_plan_whole(
      g, &tile, place->data, tl_array_dtype(place), tl_strides(place));
  if (plan == NULL || !tl_delay_fits(plan, &delay, behind))
    return TL_REGION_DECLINED;
  if (!tl_region_pay(g->vm, place->size))
    return TL_REGION_FAILED;
  plan->delay = &delay;
  return tl_plan_run(g->vm, plan, false) ? TL_REGION_DONE : TL_REGION_FAILED;
}

// Computed apart, then copied: where the operands are other places of the
// target in other ways.
static tl_region_status store_disjoint(tl_region_graph *g, tl_array *place) {
  const tl_region_node *n = &g->nodes[g->value];
  tl_array *made;
  if (n->typing.result != tl_array_dtype(place))
    return TL_REGION_DECLINED;
  tl_region_status status = tl_region_make_array(g, &made);
  if (status != TL_REGION_DONE)
    return status;
  bool ok = tl_array_assign(g->vm, place, made);
  tl_drop(g->vm, tl_own_array(made));
  return ok ? TL_REGION_DONE : TL_REGION_FAILED;
}

static tl_region_status to_place(tl_region_graph *g, tl_slot *out) {
  tl_region_root *root = &g->roots[g->target];
  tl_array *a = root->value.array;
  bool in_place = root->consumed && tl_is_unique(root->value) &&
                  (root->value.tag & TL_DIRECT) != 0;
  tl_array *place = tl_region_find_place(g, a, g->value, &g->place);
  if (place == NULL)
    return TL_REGION_DECLINED;
  if (!in_place) {
    a = tl_array_copy(g->vm, a);
    place = a == NULL ? NULL : tl_region_find_place(g, a, g->value, &g->place);
  }
  if (a == NULL)
    return TL_REGION_FAILED;
  tl_region_status status = TL_REGION_DECLINED;
  if (place == NULL) {
    status = TL_REGION_DECLINED;
  } else if (in_place && !tl_region_is_safe_target(g, place)) {
    status = store_delayed(g, place);
    if (status == TL_REGION_DECLINED)
      status = store_disjoint(g, place);
  } else if (!in_place || tl_region_pay(g->vm, place->size)) {
    status = tl_region_run_into(g, place, tl_array_dtype(place), !in_place);
  } else {
    status = TL_REGION_FAILED;
  }
  if (status != TL_REGION_DONE) {
    if (!in_place)
      tl_drop(g->vm, tl_own_array(a));
    return status;
  }
  if (in_place) {
    root->consumed = false;
    tl_written_in_place(g->vm, a);
  }
  *out = tl_own_array(a);
  return status;
}

// --- The whole --------------------------------------------------------------

static bool is_result_slot(const tl_region_graph *g, uint32_t slot) {
  for (int i = 0; i < g->result_count; i++) {
    if (g->results[i].slot == slot)
      return true;
  }
  return slot == g->result;
}

static void put_results(tl_region_graph *g, const tl_slot *results) {
  if (g->sink != TL_SINK_MULTI) {
    tl_copy_slot(&g->base[g->result], results);
    return;
  }
  for (int i = 0; i < g->result_count; i++)
    tl_copy_slot(&g->base[g->results[i].slot], &results[i]);
}

int tl_region_count_fused(const tl_region_graph *g) {
  int fused = 0;
  for (int i = 0; i <= g->value; i++) fused += g->nodes[i].needed;
  if (g->sink == TL_SINK_ARRAY)
    fused--;
  for (int i = 0; i < g->result_count; i++)
    fused -= g->results[i].fold == NULL && g->results[i].target < 0;
  return fused;
}

void tl_region_bind(const tl_region_graph *g) {
  for (int i = 0; i < g->binding_count; i++) {
    const tl_region_binding *b = &g->bindings[i];
    if (b->kept) {
      tl_slot value = tl_borrow(g->uses[-1 - b->in].value);
      tl_copy_slot(&g->base[b->slot], &value);
    }
  }
}

// Ends what the region has used up and writes what it leaves behind.
static void commit(tl_region_graph *g, tl_slot *results) {
  tl_vm *vm = g->vm;
  tl_region_end_selection(g, &results[0]);
  tl_slot *base = g->base;
  // Settled is what was there before: a slot may have been bound anew since.
  for (int i = 0; i < g->settled_count; i++) {
    base[g->roots[g->settled[i].from].slot].tag &= ~TL_OWNED;
    base[g->roots[g->settled[i].to].slot].tag |= TL_OWNED;
  }
  tl_region_bind(g);
  put_results(g, results);
  for (int i = 0; i < g->root_count; i++) {
    const tl_region_root *root = &g->roots[i];
    if (!root->consumed || !tl_is_owned(root->value))
      continue;
    vm->stats.temps_ended++;
    tl_drop(vm, root->value);
    if (!is_result_slot(g, root->slot) &&
        base[root->slot].pointer == root->value.pointer) {
      base[root->slot].tag &= ~TL_OWNED;
    }
  }
  int fused = tl_region_count_fused(g);
  vm->stats.fused_ops += (uint64_t)fused;
  vm->stats.temps_ended += (uint64_t)fused;
}

static tl_region_status to_value(tl_region_graph *g, tl_slot *out) {
  return tl_region_makes_rows(g) ? tl_region_rows_to_array(g, out)
                                 : to_array(g, out);
}

bool tl_region_lies_otherwise(const tl_region_graph *g) {
  const tl_region_shape *shape = &g->shapes[g->nodes[g->value].shape];
  const tl_array *arrays[TL_REGION_USES];
  return tl_region_size(g) >= POLL_ITEMS &&
         tl_has_other_order(g->vm, shape->ndim, shape->lengths,
                            tl_region_arrays(g, arrays), arrays);
}

static tl_region_status to_sink(tl_region_graph *g, tl_slot *out) {
  bool rows = tl_region_makes_rows(g);
  if (g->sink == TL_SINK_FOLD && tl_region_lies_otherwise(g))
    return TL_REGION_DECLINED;
  if (g->sink == TL_SINK_SCAN) {
    return rows || !tl_region_scan_fits(g) ? TL_REGION_DECLINED
                                           : to_array(g, out);
  }
  if (g->sink == TL_SINK_PLACE)
    return rows ? TL_REGION_DECLINED : to_place(g, out);
  if (g->sink == TL_SINK_SELECT)
    return rows ? TL_REGION_DECLINED : tl_region_select(g, out);
  return rows ? tl_region_fold_rows(g, out) : tl_region_fold(g, out);
}

// One result; several are in out[] in their order.
static tl_region_status compute(tl_region_graph *g, tl_slot *out) {
  if (g->sink == TL_SINK_ARRAY)
    return to_value(g, out);
  if (g->sink == TL_SINK_MULTI)
    return tl_region_multi(g, out);
  tl_region_status status = to_sink(g, out);
  if (status != TL_REGION_DECLINED ||
      (g->node_count < 2 && g->wrap_count == 0)) {
    return status;
  }
  // The operations at least: the sink's own instruction does the rest.
  tl_error_clear(g->vm);
  if (!g->unsinks)
    return status;
  if (g->sink == TL_SINK_PLACE ||
      (g->sink == TL_SINK_SELECT && g->target >= 0)) {
    g->roots[g->target].consumed = false;
    g->roots[g->target].ends = false;
  }
  if (g->before_norm >= 0)
    g->value = g->before_norm;
  g->before_norm = -1;
  g->sink = TL_SINK_ARRAY;
  g->result = g->unsunk;
  g->end = g->sink_pc;
  return to_value(g, out);
}

// The hint in a region of where not to ask again, see tl_region.
static bool is_declined(tl_region *where, uint32_t pc) {
  if (pc <= where->asked_at || pc >= where->skip)
    return false;
  where->asked_at = pc;
  return true;
}

static tl_region *find_region(const tl_prototype *f, uint32_t pc) {
  uint32_t low = 0, high = f->region_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->regions[middle].end <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == f->region_count || f->regions[low].start > pc)
    return NULL;
  return &f->regions[low];
}

// What the watch is told was written: of rows their items.
static tl_array *written(tl_slot result) {
  if (tl_is_form(result, TL_FORM_RAGGED))
    result = result.nested->parts[1];
  return tl_is_array(result) ? result.array : NULL;
}

// A run that an earlier one was like.
static tl_region_status run_cached(tl_region_cached *k, tl_slot *results) {
  tl_region_graph *g = &k->graph;
  tl_region_planned fresh;
  tl_plan_room room;  // large: not cleared
  fresh.room = &room;
  fresh.is_ready = false;
  g->fresh = &fresh;
  tl_region_sink sink = g->sink;
  k->is_busy = true;
  tl_region_status status = compute(g, results);
  k->is_busy = false;
  if (status == TL_REGION_DONE)
    commit(g, results);
  k->graph.fresh = NULL;
  // Done without its sink: as another graph.
  k->is_good = g->sink == sink;
  return status;
}

// Whether what was computed early met an interrupt or the end of a budget: that
// is not told twice.
static bool is_stopped(const tl_vm *vm) {
  return vm->error.set && (vm->error.status == TALLY_ERR_INTERRUPT ||
                           vm->error.status == TALLY_ERR_LIMIT);
}

// Of what did not fit together the instructions before the first that did not:
// (b * 255), of uint8(b * 255) where an item may be too large.
static bool fits_before(tl_region_graph *g, uint32_t pc) {
  uint32_t stop = g->stop;
  tl_region_end_hoisted(g);
  return stop > pc && !is_stopped(g->vm) &&
         tl_region_read_before(g, pc, stop) && tl_region_resolve(g);
}

static tl_region_status run_read(tl_region_graph *g, tl_region *where,
                                 uint32_t pc, bool together, bool keep,
                                 tl_slot *results) {
  tl_region_planned fresh;
  tl_plan_room room;  // large: not cleared
  fresh.room = &room;
  fresh.is_ready = false;
  g->fresh = &fresh;
  bool is_read = together ? tl_region_read_together(g, pc, where->together)
                          : tl_region_read(g, pc, where->end);
  bool fits =
      is_read && (tl_region_resolve(g) || (!together && fits_before(g, pc)));
  if (!fits)
    return is_stopped(g->vm) ? TL_REGION_FAILED : TL_REGION_DECLINED;
  int64_t size = tl_region_size(g);
  bool kept = keep && g->rows == NULL && !g->uncacheable;
  where->was_small = size < TL_REGION_LARGE;
  if (size == 0 || (where->was_small && !kept) ||
      (g->rows != NULL && tl_region_has_wrap(g))) {
    return TL_REGION_DECLINED;
  }
  int view_words = g->view_words;
  tl_region_status status = compute(g, results);
  if (status != TL_REGION_DONE)
    return status;
  g->view_words = view_words;
  if (keep)
    tl_region_cache(g, where, pc);
  commit(g, results);
  return status;
}

// With [together] the region and those behind it.
static tl_region_status run_fresh(tl_region_graph *g, tl_region *where,
                                  uint32_t pc, bool together, bool keep,
                                  tl_slot *results) {
  tl_region_status status = run_read(g, where, pc, together, keep, results);
  tl_region_end_hoisted(g);
  return status;
}

enum { WAIT_MOST = 10 };  // as a power of two

// Whether the region, of which no kept run is good, is to be read and kept
// now: the second time that it runs, and the rarer the more often the operands
// were of other kinds each time.
static bool is_iteration(tl_region *where) {
  if (where->wait > 0 || where->runs == 0) {
    where->wait -= where->wait > 0;
    where->runs += where->runs == 0;
    return false;
  }
  where->wait = 1u << where->runs;
  where->runs += where->runs < WAIT_MOST;
  return true;
}

// Whether it has been seen that nothing runs from [pc] on.
static bool is_refused(tl_region *where, uint32_t pc) {
  if (where->refused_at != pc + 1 || where->refused_wait == 0)
    return false;
  where->refused_wait--;
  return true;
}

static void note_rejection(tl_region *where, uint32_t pc) {
  if (where->refused_at != pc + 1) {
    where->refused_at = pc + 1;
    where->rejections = 0;
  }
  where->refused_wait = 1u << where->rejections;
  where->rejections += where->rejections < WAIT_MOST;
}

// Whether the region is to be tried with those behind it: the rarer the more
// often that could not be.
static bool may_join(tl_region *where) {
  if (where->together <= where->end)
    return false;
  if (where->disjoint == 0)
    return true;
  where->disjoint--;
  return false;
}

static void note_disjoint(tl_region *where) {
  if (where->disjoint_runs < WAIT_MOST)
    where->disjoint_runs++;
  where->disjoint = (uint16_t)(1u << where->disjoint_runs);
}

// What a run leaves behind.
typedef struct outcome {
  tl_slot results[TL_REGION_RESULTS];
  uint32_t end;  // where to go on
  bool together;
  int iterations;  // of the loop around it
} outcome;

// The turns from this one on of a loop that does nothing else: how many, 0
// where this one is to run alone.
static int run_iterations(tl_region_cached *k, outcome *out) {
  int iterations = k->iterations ? tl_region_iterations(k, out->results) : 0;
  for (int i = 0; i < iterations; i++) commit(&k->graph, out->results);
  return iterations;
}

static tl_region_status run_short(tl_region_cached *k, outcome *out) {
  if (!tl_region_run_short(k))
    return TL_REGION_FAILED;
  out->results[0] = k->graph.base[k->graph.result];
  return TL_REGION_DONE;
}

static tl_region_status run(tl_vm *vm, tl_region *where, bool large,
                            const tl_prototype *function, tl_slot *base,
                            uint32_t pc, outcome *out) {
  tl_region_cached *kept = tl_region_find_cached(where, pc, base);
  out->iterations = 1;
  out->together = false;
  if (kept != NULL) {
    where->runs = 1;
    where->wait = 0;
    out->end = kept->graph.end;
    if (tl_region_runs_short(kept))
      return run_short(kept, out);
    int iterations = run_iterations(kept, out);
    if (iterations > 0)
      out->iterations = iterations;
    if (iterations != 0)
      return iterations > 0 ? TL_REGION_DONE : TL_REGION_DECLINED;
    tl_region_status status = run_cached(kept, out->results);
    out->end = kept->graph.end;
    out->together = kept->graph.sink == TL_SINK_MULTI;
    if (!kept->is_good)
      tl_region_drop_cached(vm, kept);
    if (status != TL_REGION_DECLINED)
      return status;
  }
  if (!large && is_refused(where, pc)) {
    where->skip = pc;
    return TL_REGION_DECLINED;
  }
  bool keep = is_iteration(where);
  if (!keep && (!large || where->was_small)) {
    where->skip = where->end;
    return TL_REGION_DECLINED;
  }
  tl_region_graph g;
  tl_region_room room;  // large: not cleared
  tl_region_open(&g, &room, vm, function, base);
  tl_region_status status = TL_REGION_DECLINED;
  if (may_join(where)) {
    status = run_fresh(&g, where, pc, true, keep, out->results);
    if (status == TL_REGION_DECLINED) {
      note_disjoint(where);
      tl_error_clear(vm);
    } else {
      where->disjoint_runs = 0;
    }
  }
  if (status == TL_REGION_DECLINED && !where->is_part)
    status = run_fresh(&g, where, pc, false, keep, out->results);
  out->end = g.end;
  out->together = g.sink == TL_SINK_MULTI;
  if (status == TL_REGION_DECLINED) {
    where->skip = g.skip;
    note_rejection(where, pc);
  }
  return status;
}

tl_region_status tl_region_run(tl_vm *vm, const tl_prototype *function,
                               tl_slot *base, const tl_ins *at, bool large,
                               const tl_ins **next) {
  uint32_t pc = (uint32_t)(at - function->code);
  tl_region *where = find_region(function, pc);
  if (where == NULL || vm->no_reuse || is_declined(where, pc))
    return TL_REGION_DECLINED;
  if (where->is_part && where->disjoint > 0) {
    where->disjoint--;
    return TL_REGION_DECLINED;
  }
  outcome out;
  tl_region_status status = run(vm, where, large, function, base, pc, &out);
  if (status == TL_REGION_DONE) {
    *next = function->code + out.end;
    if (vm->watch != NULL)
      vm->observer->fused(vm, at, *next, written(out.results[0]), out.together,
                          (uint64_t)out.iterations);
  } else if (status == TL_REGION_DECLINED) {
    where->asked_at = pc;
    // The instruction that is wrong says so itself.
    if (vm->error.set)
      tl_error_clear(vm);
  }
  return status;
}
