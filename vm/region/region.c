// Fused regions: see region.h. Reading the instructions is in region_read.c,
// deciding shapes and dtypes in region_resolve.c.

#include "vm/region/region.h"

#include "vm/bytecode/module.h"
#include "vm/region/region_internal.h"

// --- The whole --------------------------------------------------------------

// Such a slot has got a new value, so what was in it is not to lose its owned
// bit.
static bool is_result_slot(const tl_region_graph *g, uint32_t slot) {
  for (int i = 0; i < g->result_count; i++)
    if (g->results[i].slot == slot)
      return true;
  return slot == g->result;
}

// Each result's slot owns it from now on; what it held before has ended or is
// borrowed.
static void put_results(tl_region_graph *g, const tl_slot *results) {
  if (g->consumer != TL_CONSUMER_MULTI) {
    tl_copy_slot(&g->base[g->result], results);
    return;
  }
  for (int i = 0; i < g->result_count; i++)
    tl_copy_slot(&g->base[g->results[i].slot], &results[i]);
}

// Ends what the region has used up and writes what it leaves behind.
// Transfers come first, then the numbers, then results, then what ends: a
// result may stand in an operand's memory, whose root is then no longer marked
// as consumed.
static void commit(tl_region_graph *g, tl_slot *results) {
  tl_vm *vm = g->vm;
  tl_region_cut(g, &results[0]);
  tl_slot *base = g->base;
  // Ownership went over of what was there before: a slot may have been bound
  // anew since.
  for (int i = 0; i < g->transfer_count; i++) {
    base[g->roots[g->transferred[i].from].slot].tag &= ~TL_OWNED;
    base[g->roots[g->transferred[i].to].slot].tag |= TL_OWNED;
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
        base[root->slot].pointer == root->value.pointer)
      base[root->slot].tag &= ~TL_OWNED;
  }
  int fused = tl_region_count_fused(g);
  vm->stats.fused_ops += (uint64_t)fused;
  vm->stats.temps_ended += (uint64_t)fused;
}

// An array of the region's shape, or ragged rows with the offsets of the
// operands.
static tl_region_status to_value(tl_region_graph *g, tl_slot *out) {
  return tl_region_makes_rows(g) ? tl_region_rows_to_array(g, out)
                                 : tl_region_to_array(g, out);
}

// What cannot be done in rows, or in the order that the consumer needs, is
// declined here, before anything is computed.
static tl_region_status to_consumer(tl_region_graph *g, tl_slot *out) {
  bool rows = tl_region_makes_rows(g);
  if (g->consumer == TL_CONSUMER_FOLD && tl_region_lies_otherwise(g))
    return TL_REGION_DECLINED;
  if (g->consumer == TL_CONSUMER_SCAN)
    return rows || !tl_region_scan_fits(g) ? TL_REGION_DECLINED
                                           : tl_region_to_array(g, out);
  if (g->consumer == TL_CONSUMER_PLACE)
    return rows ? TL_REGION_DECLINED : tl_region_to_place(g, out);
  if (g->consumer == TL_CONSUMER_SELECT)
    return rows ? TL_REGION_DECLINED : tl_region_select(g, out);
  return rows ? tl_region_fold_rows(g, out) : tl_region_fold(g, out);
}

// One result; several are in out[] in their order.
// Without its consumer the region still saves the arrays between the
// operations, so a consumer that declines is not the end of it.
static tl_region_status compute(tl_region_graph *g, tl_slot *out) {
  g->is_longer = false;  // it may have been in the run before
  if (g->consumer == TL_CONSUMER_ARRAY)
    return to_value(g, out);
  if (g->consumer == TL_CONSUMER_MULTI)
    return tl_region_multi(g, out);
  tl_region_status status = to_consumer(g, out);
  if (status != TL_REGION_DECLINED || (g->node_count < 2 && g->wrap_count == 0))
    return status;
  // The operations at least: the consumer's own instruction does the rest.
  tl_error_clear(g->vm);
  if (!g->detaches)
    return status;
  if (g->consumer == TL_CONSUMER_PLACE ||
      (g->consumer == TL_CONSUMER_SELECT && g->target >= 0)) {
    g->roots[g->target].consumed = false;
    g->roots[g->target].ends = false;
  }
  if (g->before_norm >= 0)
    g->value = g->before_norm;
  g->before_norm = -1;
  g->consumer = TL_CONSUMER_ARRAY;
  g->result = g->consumed_slot;
  g->end = g->consumer_pc;
  return to_value(g, out);
}

// The hint in a region of where not to ask again, see tl_region.
// One answer for all instructions of a region in one pass, as each of them
// would ask.
static bool is_declined(tl_region *where, uint32_t pc) {
  if (pc <= where->asked_at || pc >= where->skip)
    return false;
  where->asked_at = pc;
  return true;
}

// Regions are in order of their code and do not overlap.
tl_region *tl_region_at(const tl_prototype *f, uint32_t pc) {
  uint32_t n =
      tl_count_upto(f->regions, f->region_count, sizeof *f->regions, pc);
  return n == 0 || f->regions[n - 1].end <= pc ? NULL : &f->regions[n - 1];
}

// What the watch is told was written: of rows their items.
static tl_array *written(tl_slot result) {
  if (tl_is_form(result, TL_FORM_RAGGED))
    result = result.nested->parts[1];
  return tl_is_array(result) ? result.array : NULL;
}

// A run that an earlier one was like.
// On success the graph stays good only if it went to the same consumer as
// before, since g->consumer is part of what was cached.
static tl_region_status run_cached(tl_region_cached *k, tl_slot *results) {
  tl_region_graph *g = &k->graph;
  tl_region_planned fresh;
  tl_plan_room room;  // large: not cleared
  fresh.room = &room;
  fresh.is_ready = false;
  g->fresh = &fresh;
  tl_region_consumer consumer = g->consumer;
  k->is_busy = true;
  tl_region_status status = compute(g, results);
  k->is_busy = false;
  if (status == TL_REGION_DONE) {
    tl_region_renew(k);
    commit(g, results);
  }
  k->graph.fresh = NULL;
  // Done without its consumer: as another graph.
  k->is_good = g->consumer == consumer;
  return status;
}

// Of what did not fit together the instructions before the first that did not:
// (b * 255), of uint8(b * 255) where an item may be too large.
static bool fits_before(tl_region_graph *g, uint32_t pc) {
  uint32_t stop = g->stop;
  if (stop <= pc || tl_region_is_stopped(g->vm))
    return false;  // is_small still asks what was hoisted
  tl_region_end_hoisted(g);
  return tl_region_read_before(g, pc, stop) && tl_region_resolve(g);
}

// Whether what was read computes with few items, whatever arrays these are
// parts of: m[i] + m[j] of a large m.
static bool is_small(const tl_region_graph *g) {
  for (int i = 0; i < g->node_count; i++)
    for (int k = 0; k < g->nodes[i].arity; k++) {
      const int in = g->nodes[i].in[k];
      if (in < 0 && tl_items_of(&g->uses[-1 - in].items) >= TL_REGION_LARGE)
        return false;
    }
  return g->node_count > 0;
}

// Reads, resolves, computes and caches; a graph is cached before the commit,
// while the operands that it describes are still there.
// With [keep] the graph is cached if it can be, even where the result is small.
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
  if (!fits) {
    where->small_items = is_small(g) ? g->items : 0;
    return tl_region_is_stopped(g->vm) ? TL_REGION_FAILED : TL_REGION_DECLINED;
  }
  int64_t size = tl_region_size(g);
  bool caches = keep && g->rows == NULL && !g->uncacheable;
  bool small = size < TL_REGION_LARGE;
  where->small_items = small ? g->items : 0;
  if (size == 0 || (small && !caches && !tl_saves_memory(g->vm)) ||
      (g->rows != NULL && tl_region_has_wrap(g)))
    return TL_REGION_DECLINED;
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

// At most 1,024 runs pass without a try: then the operands may have changed for
// good.
enum { WAIT_MOST = 10 };  // as a power of two

// Whether the region, of which no cached run is good, is to be read and cached
// now: the second time that it runs, and the rarer the more often the operands
// were of other kinds each time. One that is not read otherwise, as it is not
// large, is read the first time, too: one by one more arrays would live at
// once.
//
//     run     1  2  3  4  5  6  7  8  9  10
//     read    ·  x  ·  ·  x  ·  ·  ·  ·  x
static bool is_time_to_read(tl_region *where, bool large) {
  if (where->runs == 0) {
    where->runs = 1;
    return !large;
  }
  if (where->wait > 0) {
    where->wait--;
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

// Each time at the same instruction doubles the number of runs in which it is
// not tried. [numbers]: no operation on arrays was found.
// [pc] + 1 is stored, so that 0 means that nothing was refused.
static void note_rejection(tl_region *where, uint32_t pc, bool numbers) {
  where->refused_numbers = numbers;
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

// Likewise for regions that were tried together.
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
} outcome;

// From the cheapest try to the dearest: a cached graph and its plan; then, if
// it is time, reading anew, with the regions behind this one and without.
// Its frame is large, so that what is as before does without it.
__attribute__((noinline)) static tl_region_status run(
    tl_vm *vm, tl_region *where, int64_t items, const tl_prototype *function,
    tl_slot *base, uint32_t pc, outcome *out) {
  bool other, promised = tl_saves_memory(vm);
  bool large = items >= TL_REGION_LARGE || promised;
  tl_region_cached *cached = tl_region_find_cached(where, pc, base, &other);
  out->together = false;
  if (cached != NULL) {
    if (other) {
      where->wait--;
    } else {
      where->runs = 1;
      where->wait = 0;
    }
    out->end = cached->graph.end;
    // All checks of run_cached have been answered when the graph was cached.
    if (tl_region_runs_short(cached)) {
      if (!tl_region_run_short(cached))
        return TL_REGION_FAILED;
      tl_copy_slot(&out->results[0], &base[cached->graph.result]);
      return TL_REGION_DONE;
    }
    tl_region_status status = run_cached(cached, out->results);
    out->end = cached->graph.end;
    out->together = cached->graph.consumer == TL_CONSUMER_MULTI;
    if (!cached->is_good)
      tl_region_drop_cached(vm, cached);
    if (status != TL_REGION_DECLINED)
      return status;
  } else if (tl_region_is_stopped(vm)) {
    return TL_REGION_FAILED;
  }
  if ((!large || where->refused_numbers) && is_refused(where, pc)) {
    where->skip = pc;
    return TL_REGION_DECLINED;
  }
  bool keep = is_time_to_read(where, large);
  if (!keep && !promised && (!large || items <= where->small_items)) {
    where->skip = where->end;
    return TL_REGION_DECLINED;
  }
  tl_region_graph g;
  tl_region_room room;  // large: not cleared
  tl_region_open(&g, &room, vm, function, base);
  g.items = items;
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
  tl_region_end_inner(&g);
  out->end = g.end;
  out->together = g.consumer == TL_CONSUMER_MULTI;
  if (status == TL_REGION_DECLINED) {
    where->skip = g.skip;
    note_rejection(where, pc, g.node_count == 0);
  }
  return status;
}

// Where it declines, asked_at says so for the instructions up to where->skip:
// none of them asks again in this pass.
tl_region_status tl_region_run(tl_vm *vm, const tl_prototype *function,
                               tl_slot *base, const tl_ins *at, int64_t items,
                               const tl_ins **next) {
  uint32_t pc = (uint32_t)(at - function->code);
  tl_region *where = tl_region_at(function, pc);
  if (where == NULL || vm->no_reuse || is_declined(where, pc))
    return TL_REGION_DECLINED;
  if (where->is_part && where->disjoint > 0) {
    where->disjoint--;
    return TL_REGION_DECLINED;
  }
  // Most regions make no short array, which is seen without a call.
  tl_region_status status = where->cached != NULL && where->cached->is_last
                                ? tl_region_run_again(where, base, at, next)
                                : TL_REGION_DECLINED;
  if (status != TL_REGION_DECLINED)
    return status;
  outcome out;
  status = run(vm, where, items, function, base, pc, &out);
  if (status == TL_REGION_DONE) {
    *next = function->code + out.end;
    if (vm->watch != NULL)
      vm->observer->fused(vm, at, *next, written(out.results[0]), out.together);
  } else if (status == TL_REGION_DECLINED) {
    where->asked_at = pc;
    // The instruction that is wrong says so itself.
    if (vm->error.set)
      tl_error_clear(vm);
  }
  return status;
}

// --- Without code ------------------------------------------------------------

// An operation on ragged rows outside of any region: a graph of one node whose
// operands are the slots.
// Slots that the run has taken the memory of lose their owned bit; others are
// the caller's still.
static tl_region_status rows_apply(tl_vm *vm, tl_op op, int arity,
                                   tl_slot *slots, tl_slot *out) {
  tl_region_graph g;
  tl_region_room room;  // large: not cleared
  tl_region_planned fresh;
  tl_plan_room plan_room;
  tl_region_open(&g, &room, vm, NULL, NULL);
  fresh.room = &plan_room;
  g.fresh = &fresh;
  g.node_count = 1;
  g.use_count = g.root_count = arity;
  g.value = 0;
  tl_region_node *n = &g.nodes[0];
  *n = (tl_region_node){.op = op,
                        .cast = TL_DTYPE_COUNT,
                        .is_power = op == TL_OP_POW,
                        .arity = (int8_t)arity};
  for (int i = 0; i < arity; i++) {
    tl_slot items = tl_region_items(slots[i]);
    if (!tl_is_number(items) &&
        (!tl_is_array(items) || tl_array_dtype(items.array) >= TL_STRING))
      return TL_REGION_DECLINED;
    n->in[i] = -1 - i;
    g.uses[i] = (tl_region_use){
        .value = slots[i], .items = items, .root = i, .direct = true};
    g.roots[i] = (tl_region_root){.value = slots[i], .consumed = true};
  }
  tl_region_status status = TL_REGION_DECLINED;
  if (!vm->no_reuse && tl_region_resolve(&g) && tl_region_makes_rows(&g))
    status = tl_region_rows_to_array(&g, out);
  if (status == TL_REGION_DECLINED)
    tl_error_clear(vm);
  for (int i = 0; status == TL_REGION_DONE && i < arity; i++)
    if (!g.roots[i].consumed)
      slots[i].tag &= ~TL_OWNED;
  return status;
}

// The entry for layers below, without the region's types. *done false: the
// general way is to do it, and nothing has changed.
static bool apply_rows(tl_vm *vm, int op, int arity, tl_slot *slots,
                       tl_slot *out, bool *done) {
  tl_region_status status = rows_apply(vm, (tl_op)op, arity, slots, out);
  *done = status == TL_REGION_DONE;
  return status != TL_REGION_FAILED;
}

const struct tl_fusion_ops tl_fusion_ops = {
    .forget = tl_region_forget,
    .apply_rows = apply_rows,
    .has_taken = tl_has_taken,
};
