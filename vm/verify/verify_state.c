// The verifier's states: what ends, what becomes independent, what joins, and
// what an error finds.
//
// Only slots that own or borrow something are looked at (the busy list): long
// scripts have thousands of plain ones. An error sees the states as they are
// in the middle of an instruction, without what the instruction has consumed;
// the unwind map must drop exactly what is owned then and is not kept for the
// handler.

#include "vm/verify/verify.h"

// A set that is not whole proves nothing.
// The slot may be dropped or overwritten as before, but any read is refused.
static void widen_full(tl_state *state) {
  if (state->full) {
    state->full = false;
    state->invalid = true;
    state->count = 0;
  }
}

// Whether no rule has to look at the slot: it has no state, or borrows
// something immortal.
// Numbers, literals and constants are so, which are most slots of a script.
static bool is_plain(const tl_state *state) {
  return state->kind == TL_ABSENT ||
         (state->kind == TL_BORROWS && !state->invalid && state->count == 1 &&
          tl_borrow_owner_who(state->borrow_owners[0]) == TL_WHO_IMMORTAL);
}

// Neither list ever shrinks within a function: a slot that is plain again is
// passed over, which costs less than to take it out.
static void add_slot(tl_slot_list *list, uint32_t slot) {
  if (list->has[slot])
    return;
  list->has[slot] = true;
  list->slots[list->count++] = slot;
}

void tl_check_busy(tl_checker *c, uint32_t slot) {
  if (is_plain(&c->now[slot]))
    return;
  add_slot(&c->busy, slot);
  if (c->now[slot].count > 0)
    add_slot(&c->borrowers, slot);
}

void tl_check_watch(tl_checker *c, uint32_t slot) {
  add_slot(&c->busy, slot);
  add_slot(&c->borrowers, slot);
}

// The borrowers are not refused here but marked: one that nobody reads again
// does no harm.
void tl_end_borrow_owner(tl_checker *c, tl_state *states, uint32_t who) {
  for (uint32_t i = 0; i < c->borrowers.count; i++) {
    uint32_t y = c->borrowers.slots[i];
    if (states[y].kind != TL_ABSENT && y != who &&
        tl_state_borrowed_by(&states[y], who))
      states[y].invalid = true;
  }
}

void tl_rename_borrow_owners(tl_checker *c, tl_state *states, uint32_t from,
                             uint32_t to) {
  for (uint32_t i = 0; i < c->borrowers.count; i++)
    if (states[c->borrowers.slots[i]].kind != TL_ABSENT)
      tl_state_rename(&states[c->borrowers.slots[i]], from, to);
}

// What is read must have a state and must not borrow from what has ended.
bool tl_check_alive(tl_checker *c, uint32_t slot) {
  const tl_state *state = &c->now[slot];
  if (state->kind == TL_ABSENT)
    return tl_refuse(c, slot, TL_RULE_READ_ABSENT);
  if (state->invalid)
    return tl_refuse(c, slot, TL_RULE_READ_INVALID);
  return true;
}

bool tl_check_read(tl_checker *c, uint32_t slot) {
  if (!tl_check_alive(c, slot))
    return false;
  if (c->now[slot].open != 0)
    return tl_refuse(c, slot, TL_RULE_READ_OPEN);
  return true;
}

// Writing a slot ends what borrows from it. A result whose set is too small is
// remembered as `overflowed` for the one instruction that follows.
bool tl_check_define(tl_checker *c, uint32_t slot, tl_state state) {
  if (tl_state_owns(&c->now[slot]))
    return tl_refuse(c, slot, TL_RULE_OVERWRITTEN);
  tl_end_borrow_owner(c, c->now, slot);
  if (state.full && !state.invalid)
    c->overflowed = slot;
  widen_full(&state);
  c->now[slot] = state;
  tl_check_busy(c, slot);
  return true;
}

// --- Instructions that only move ownership ----------------------------------

// DROP: what ends must be owned, or may be by its bit, and all that borrowed
// from it is invalid afterwards.
static bool check_drop(tl_checker *c, uint32_t x, int mode) {
  tl_state *state = &c->now[x];
  if (state->kind == TL_ABSENT)
    return tl_refuse(c, x, TL_RULE_DROPPED_ABSENT);
  if (mode == TL_MODE_CONSUME && state->kind != TL_OWNS)
    return tl_refuse(c, x, TL_RULE_DROPPED_UNOWNED);
  if (mode == TL_MODE_BORROW)
    return tl_refuse(c, x, TL_RULE_DROPPED_MODELESS);
  state->kind = TL_ABSENT;
  tl_end_borrow_owner(c, c->now, x);
  return true;
}

// y, an alias of x, takes over what x owns. Where y is not known to be one it
// may be all the same, with a count of its own on either side.
static void check_settle(tl_checker *c, uint32_t x, uint32_t y) {
  tl_state *from = &c->now[x], *to = &c->now[y];
  // Where y cannot be x, or nothing is there to hand over, SETTLE does nothing
  // at run time, and so nothing here.
  bool is_alias = (tl_state_relations(to, x) & 1u << TL_SAME) != 0;
  if (!is_alias && (!tl_state_owns(from) || to->kind == TL_OWNS))
    return;
  tl_state bare = *to;
  tl_state_strip(&bare, 1u << TL_HELD | TL_TO_ITEMS);
  // That a view in x has lost its block's lender matters to its readers alone.
  bool certain = to->kind == TL_BORROWS && from->kind == TL_OWNS &&
                 bare.count == 1 && tl_state_relations(to, x) == 1u << TL_SAME;
  tl_state_remove(to, x, 1u << TL_SAME);
  if (certain) {
    to->kind = TL_OWNS;
    tl_state_strip(from, 1u << TL_SAME | 1u << TL_PART);
    tl_rename_borrow_owners(c, c->now, x, y);
    tl_state_remove(to, y, ~0u);
    from->kind = TL_BORROWS;
    tl_state_add(from, tl_borrow_owner_of(y, TL_SAME));
    return;
  }
  tl_state_own_unless_borrowed(to);
  if (from->kind == TL_BORROWS)
    return;
  from->kind = TL_EITHER;
  tl_state_add(from, tl_borrow_owner_of(y, TL_SAME));
  widen_full(from);
  for (uint32_t i = 0; i < c->borrowers.count; i++) {
    uint32_t z = c->borrowers.slots[i];
    if (c->now[z].kind == TL_ABSENT || z == x || z == y)
      continue;
    tl_state_share(&c->now[z], x, y);
    widen_full(&c->now[z]);
  }
}

// The view in y holds its block, perhaps with what x owned.
// x may own afterwards or not, as only a run knows whether its count has become
// the view's.
static void check_hold(tl_checker *c, uint32_t y, uint32_t x) {
  tl_state *view = &c->now[y], *from = &c->now[x];
  tl_state_remove(view, x, 1u << TL_HELD);
  if (!tl_state_owns(from))
    return;
  // At run time x's count may have become the view's, if x was just the block's
  // owner. Then x's object lives as long as the view object in y, so whoever
  // keeps that one keeps x's object.
  tl_state keepers = tl_state_keepers(view, y, x);
  from->kind = TL_EITHER;
  for (int i = 0; i < keepers.count; i++)
    tl_state_add(from, keepers.borrow_owners[i]);
  from->full |= keepers.full;
  widen_full(from);
  for (uint32_t k = 0; k < c->borrowers.count; k++) {
    uint32_t z = c->borrowers.slots[k];
    if (c->now[z].kind != TL_ABSENT && z != x && z != y &&
        tl_state_let_keep(&c->now[z], z, x, &keepers))
      widen_full(&c->now[z]);
  }
}

// For instructions that count what the borrower refers to, so that the owner
// may end. Whether the borrower has become an owner for certain depends on
// whether other paths have brought other owners.
void tl_check_kept(tl_checker *c, uint32_t borrow_owner, uint32_t borrower) {
  tl_state_remove(&c->now[borrower], borrow_owner,
                  1u << TL_SAME | 1u << TL_PART);
  tl_state_own_unless_borrowed(&c->now[borrower]);
  tl_check_busy(c, borrower);
}

// These move counts and never look at items: what an item was taken out of may
// be settled.
bool tl_check_ownership(tl_checker *c) {
  uint32_t x = c->ins.operands[0], y = c->ins.operands[1];
  if (c->ins.op == TL_BC_DROP)
    return check_drop(c, x, c->ins.modes[0]);
  if (c->ins.op == TL_BC_OWN) {
    if (c->was_overflowed != (int64_t)x && !tl_check_alive(c, x))
      return false;
    uint32_t open = c->now[x].open;
    c->now[x] = tl_state_new(TL_OWNS);
    c->now[x].open = open;
    tl_check_busy(c, x);
    return true;
  }
  if (c->ins.op == TL_BC_KEEPALL) {
    if (!tl_check_alive(c, x))
      return false;
    tl_state_strip(&c->now[x], TL_TO_ITEMS);
    return true;
  }
  // HOLD y, x and DETACH y, x name the borrower first, all others the owner.
  bool views = c->ins.op == TL_BC_HOLD || c->ins.op == TL_BC_DETACH;
  uint32_t borrow_owner = views ? y : x, borrower = views ? x : y;
  if (borrow_owner == borrower)
    return tl_refuse(c, borrow_owner, TL_RULE_SETTLED_ITSELF);
  if (c->now[borrow_owner].kind == TL_ABSENT)
    return tl_refuse(c, borrow_owner, TL_RULE_SETTLED_ABSENT);
  if (!tl_check_alive(c, borrower))
    return false;
  if (c->ins.op == TL_BC_SETTLE) {
    check_settle(c, borrow_owner, borrower);
  } else if (c->ins.op == TL_BC_KEEPOF) {
    tl_state_remove(&c->now[borrower], borrow_owner, TL_TO_ITEMS);
  } else if (c->ins.op == TL_BC_KEEP || c->ins.op == TL_BC_INHERIT ||
             c->ins.op == TL_BC_LEAVE) {
    tl_check_kept(c, borrow_owner, borrower);
    if (c->ins.op == TL_BC_INHERIT)
      c->container_end = (int64_t)borrow_owner;
    if (c->ins.op == TL_BC_LEAVE) {
      tl_state_remove(&c->now[borrower], borrow_owner,
                      1u << TL_HELD | TL_TO_ITEMS);
      return check_drop(c, borrow_owner, TL_MODE_EITHER);
    }
  } else if (c->ins.op == TL_BC_HOLD) {
    check_hold(c, borrower, borrow_owner);
  } else {
    tl_state_remove(&c->now[borrower], borrow_owner, 1u << TL_HELD);
  }
  tl_check_busy(c, borrow_owner);
  tl_check_busy(c, borrower);
  return true;
}

// --- Joins ------------------------------------------------------------------

// The first path that reaches a leader brings its states.
// One more than there are states is allocated, so that none is a block too.
static bool store_states(tl_checker *c, tl_join_point *point,
                         const tl_state *states) {
  uint32_t count = 0;
  for (uint32_t y = 0; y < c->p->slot_count; y++)
    count += states[y].kind != TL_ABSENT;
  size_t nbytes = (count + 1) * sizeof *point->states;
  point->states = tl_alloc(c->vm, nbytes, "the verifier's states");
  if (point->states == NULL)
    return false;
  point->capacity = count + 1;
  point->count = 0;
  for (uint32_t y = 0; y < c->p->slot_count; y++) {
    if (states[y].kind == TL_ABSENT)
      continue;
    point->states[point->count].slot = y;
    point->states[point->count++].state = states[y];
  }
  return true;
}

// What only one path brings: a borrow is forgotten, an owner would leak.
static bool check_missing(tl_checker *c, uint32_t slot, const tl_state *state) {
  return !tl_state_owns(state) || tl_refuse(c, slot, TL_RULE_ONE_PATH);
}

// Another path reaches a leader: the states are united, slot by slot.
// No slot is ever added to the point, and a state only grows, so the search
// ends.
static bool join_states(tl_checker *c, tl_join_point *point,
                        const tl_state *states, bool *changed) {
  uint32_t at = 0, kept = 0;
  for (uint32_t y = 0; y < c->p->slot_count; y++) {
    bool stored = at < point->count && point->states[at].slot == y;
    if (!stored) {
      if (states[y].kind != TL_ABSENT && !check_missing(c, y, &states[y]))
        return false;
      continue;
    }
    struct tl_slot_state entry = point->states[at++];
    if (states[y].kind == TL_ABSENT) {
      if (!check_missing(c, y, &entry.state))
        return false;
      *changed = true;
      continue;
    }
    *changed |= tl_state_join(&entry.state, &states[y]);
    widen_full(&entry.state);
    point->states[kept++] = entry;
  }
  point->count = kept;
  return true;
}

// A leader whose states have changed is followed again.
bool tl_check_join(tl_checker *c, uint32_t pc, const tl_state *states) {
  tl_join_point *point = &c->points[pc];
  bool changed = false;
  if (!point->reached) {
    if (!store_states(c, point, states))
      return false;
    point->reached = changed = true;
  } else if (!join_states(c, point, states, &changed)) {
    return false;
  }
  point->dirty |= changed;
  if (changed && pc < c->next)
    c->next = pc;
  return true;
}

// --- Errors -----------------------------------------------------------------

// The handler of the current instruction; NULL: errors leave the function.
// Which handler it is index_handlers has noted for each instruction.
static const tl_handler *find_handler(const tl_checker *c) {
  uint32_t handler = c->points[c->pc].handler;
  return handler == 0 ? NULL : &c->p->handlers[handler - 1];
}

// The states that an error finds, before it is known what of them ends. Plain
// slots matter to a handler alone.
void tl_copy_states(tl_checker *c) {
  if (find_handler(c) != NULL) {
    memcpy(c->error, c->now, c->p->slot_count * sizeof(tl_state));
    return;
  }
  for (uint32_t i = 0; i < c->busy.count; i++)
    c->error[c->busy.slots[i]] = c->now[c->busy.slots[i]];
}

// What the lists of a handler say of a slot.
enum { MARK_KEPT = 1, MARK_MADE_OWN = 2 };

static void mark_list(tl_checker *c, const uint16_t *slots, uint16_t count,
                      uint8_t mark) {
  for (uint16_t i = 0; i < count; i++) c->marks[slots[i]] |= mark;
}

// Marks the slots of the handler's lists, which a `try` of many instructions
// needs for each of them.
static void mark_handler(tl_checker *c, const tl_handler *handler) {
  if (c->marked == handler)
    return;
  memset(c->marks, 0, c->p->slot_count);
  c->marked = handler;
  if (handler == NULL)
    return;
  mark_list(c, handler->kept, handler->kept_count, MARK_KEPT);
  mark_list(c, handler->own, handler->own_count, MARK_MADE_OWN);
}

// Whether the slot is in the list of [mark].
static bool is_marked(const tl_checker *c, uint32_t slot, uint8_t mark) {
  return (c->marks[slot] & mark) != 0;
}

// One entry of the unwind map: what it drops must be owned at this
// instruction, and must not be what the handler keeps.
static bool check_range(tl_checker *c, const tl_unwind_range *r,
                        const tl_state *state) {
  // The bit of what borrows is 0, and an entry that tests it drops nothing.
  if (!tl_state_owns(state) && !(r->either && state->kind == TL_BORROWS))
    return tl_refuse(c, r->slot, TL_RULE_MAP_DROPS_UNOWNED);
  if (!r->either && state->kind == TL_EITHER)
    return tl_refuse(c, r->slot, TL_RULE_MAP_TOO_SURE);
  if (is_marked(c, r->slot, MARK_KEPT))
    return tl_refuse(c, r->slot, TL_RULE_MAP_DROPS_KEPT);
  c->mapped[r->slot] = c->round;
  return true;
}

// What the map drops is owned, and what is owned is dropped or kept.
// Instructions are counted: what the last one's ranges named is none of this.
static bool check_map(tl_checker *c, const tl_state *states) {
  uint32_t stretch = c->pc / TL_STRETCH;
  c->round++;
  for (uint32_t i = c->stretch_starts[stretch];
       i < c->stretch_starts[stretch + 1]; i++) {
    const tl_unwind_range *r = &c->p->ranges[c->stretch_ranges[i]];
    if (c->pc >= r->start && c->pc < r->end &&
        !check_range(c, r, &states[r->slot]))
      return false;
  }
  for (uint32_t i = 0; i < c->busy.count; i++) {
    uint32_t y = c->busy.slots[i];
    if (tl_state_owns(&states[y]) && !is_marked(c, y, MARK_KEPT) &&
        c->mapped[y] != c->round)
      return tl_refuse(c, y, TL_RULE_MAP_FORGETS);
  }
  return true;
}

// A slot that the handler keeps must stay good: its owners are kept too, or it
// is made an owner first.
static bool check_kept(tl_checker *c, const tl_state *states, uint32_t slot) {
  const tl_state *state = &states[slot];
  if (state->kind == TL_ABSENT || state->invalid)
    return tl_refuse(c, slot, TL_RULE_KEPT_INVALID);
  if (is_marked(c, slot, MARK_MADE_OWN))
    return true;
  if (state->kind == TL_EITHER)
    return tl_refuse(c, slot, TL_RULE_KEPT_EITHER);
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (tl_who_is_slot(who) && !is_marked(c, who, MARK_KEPT))
      return tl_refuse(c, slot, TL_RULE_KEPT_UNLENT);
  }
  return true;
}

// A borrow that no slot lends is good without being kept: the counters of a
// loop around a `try`.
static bool stays_by_itself(const tl_state *state) {
  return state->kind == TL_BORROWS && !state->invalid &&
         !tl_state_has(state, tl_who_is_slot);
}

// The unwind map and the handler's list are compared with the states. Those may
// still grow during the search: what does not hold is only noted for the leader
// then, and counts if this was its last visit.
// An error brings its states to the handler, as the unwinder would leave them:
// what is not retained has been dropped, what the handler makes its own is an
// owner.
bool tl_check_error(tl_checker *c, tl_state *states) {
  const tl_handler *handler = find_handler(c);
  mark_handler(c, handler);
  c->is_trial = !c->settled;
  bool holds = check_map(c, states);
  for (uint16_t i = 0; holds && handler != NULL && i < handler->kept_count; i++)
    holds = check_kept(c, states, handler->kept[i]);
  c->is_trial = false;
  if (c->settled)  // the search has joined them
    return holds;
  c->leader->refuted |= !holds;
  if (handler == NULL)
    return true;
  for (uint32_t i = 0; i < c->busy.count; i++) {
    uint32_t y = c->busy.slots[i];
    if (!is_marked(c, y, MARK_KEPT) && !stays_by_itself(&states[y]))
      states[y].kind = TL_ABSENT;
  }
  for (uint16_t i = 0; i < handler->own_count; i++)
    if (is_marked(c, handler->own[i], MARK_KEPT)) {
      tl_state *state = &states[handler->own[i]];
      uint32_t open = state->open;
      *state = tl_state_new(TL_OWNS);
      state->open = open;
    }
  return tl_check_join(c, handler->handler, states);
}
