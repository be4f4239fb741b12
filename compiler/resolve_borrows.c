// The states of one point of a function, and the instructions that the
// ownership analysis adds: making borrowers independent, owning, dropping, and
// what an error finds.
//
// When a slot ends or is overwritten, its borrowers must no longer depend on
// it. By relation that is one of these instructions:
//
//   the same value      SETTLE   the borrower takes the ownership over
//   a part              KEEP     the item gets a count (INHERIT, LEAVE: the
//                                container's own, where that ends too)
//   a view of the block HOLD     the block gets a count; DETACH copies it out
//   items of it         KEEPOF   the container gets counts of its items
//
// Built for speed.

#include "compiler/ownership_internal.h"

// The state of what needs no owner: constants, functions, numbers.
static const tl_state immortal = {
    .kind = TL_BORROWS,
    .count = 1,
    .borrow_owners = {TL_WHO_IMMORTAL << 5 | 1u << TL_PART},
};

const tl_state *tl_state_of(const tl_flow *flow, int32_t slot) {
  return tl_bit(flow->present, slot) ? &flow->now[slot] : &immortal;
}

// The definition, where it stands in this block: temporaries are used again for
// other things.
static bool pin_definition(tl_flow *flow, int32_t slot) {
  const struct tl_defined *d = &flow->defined[slot];
  if (flow->pins_slots || d->iteration != flow->iteration)
    return false;
  bool *is_pinned = &flow->cfg->blocks[flow->block].ins[d->at].is_pinned;
  if (*is_pinned)
    return false;
  return *is_pinned = true;
}

// Makes the slot's definition an owner from now on, and lets the search start
// again.
static void pin(tl_flow *flow, int32_t slot) {
  if (slot >= flow->function->spare || flow->function->pinned[slot])
    return;
  if (!pin_definition(flow, slot))
    flow->function->pinned[slot] = true;
  flow->again = true;
}

// Sets that grow too large are avoided by owning early: the slot itself and
// those that its set names. False: this one is not too large.
static bool pin_large(tl_flow *flow, int32_t slot, const tl_state *state) {
  if (state->count <= TL_BORROW_OWNER_LIMIT && !state->full)
    return false;
  pin(flow, slot);
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (tl_who_is_slot(who))
      pin(flow, (int32_t)who);
  }
  return true;
}

// The same for the current state of a slot.
static void check_size(tl_flow *flow, int32_t slot) {
  // The search begins anew: until then thousands of borrowers of one another
  // would only cost time.
  if (pin_large(flow, slot, &flow->now[slot]) && flow->again) {
    flow->now[slot] = tl_state_new(TL_OWNS);
    tl_bit_clear(flow->borrowers, slot);
  }
}

// The sets `present` and `borrowers` follow from the states; they exist so that
// loops over all slots touch only those that matter.
void tl_note_state(tl_flow *flow, int32_t slot) {
  const tl_state *state = &flow->now[slot];
  tl_bit_set(flow->present, slot);
  if (state->count > 1 ||
      (state->count == 1 &&
       tl_borrow_owner_who(state->borrow_owners[0]) != TL_WHO_IMMORTAL))
    tl_bit_set(flow->borrowers, slot);
  else
    tl_bit_clear(flow->borrowers, slot);
}

void tl_set_state(tl_flow *flow, int32_t slot, const tl_state *state) {
  flow->now[slot] = *state;
  tl_note_state(flow, slot);
  check_size(flow, slot);
}

// What is noted serves pinning: the definition that made a set too large is
// made an owner, and not all definitions of its slot.
void tl_define_state(tl_flow *flow, int32_t slot, const tl_state *state) {
  flow->defined[slot] = (struct tl_defined){flow->iteration, flow->at};
  tl_set_state(flow, slot, state);
}

void tl_forget(tl_flow *flow, int32_t slot) {
  tl_bit_clear(flow->present, slot);
  tl_bit_clear(flow->borrowers, slot);
}

// --- Code -------------------------------------------------------------------

// Where no code is wanted there is no list (flow->out is NULL), and the same
// code decides without writing.
tl_cfg_ins *tl_put_ins(tl_flow *flow, const tl_cfg_ins *ins) {
  tl_ins_list *out = flow->out;
  if (out == NULL || !tl_arena_more(flow->arena, &out->items, &out->capacity,
                                    (uint32_t)out->count, sizeof *out->items))
    return NULL;
  out->items[out->count] = *ins;
  return &out->items[out->count++];
}

tl_cfg_ins *tl_put(tl_flow *flow, int op, int32_t result, int32_t x, int32_t y,
                   tl_mode mode) {
  if (flow->out == NULL)
    return NULL;
  if (result >= flow->out->slot_count)
    flow->out->slot_count = result + 1;
  tl_cfg_ins ins = {
      .op = (uint8_t)op,
      .fails = tl_opcodes[op].fails,
      .result = result,
      .operand_count = y >= 0 ? 2 : 1,
      .window = -1,
      .handler = -1,
      .span = flow->span,
  };
  if (!tl_ins_room(flow->arena, &ins, 2))
    return NULL;
  ins.operands[0] = x;
  ins.operands[1] = y;
  ins.modes[0] = (uint8_t)mode;
  return tl_put_ins(flow, &ins);
}

void tl_own(tl_flow *flow, int32_t slot) {
  tl_put(flow, TL_BC_OWN, -1, slot, -1, TL_MODE_BORROW);
  tl_state state = tl_state_new(TL_OWNS);
  tl_set_state(flow, slot, &state);
}

// --- Settling ---------------------------------------------------------------

// Whether [y], an alias of [x], takes the ownership over for certain.
static bool takes_over(const tl_flow *flow, int32_t x, int32_t y) {
  const tl_state *state = &flow->now[y];
  if (flow->now[x].kind != TL_OWNS || state->kind != TL_BORROWS)
    return false;
  bool same = false;
  for (int i = 0; i < state->count; i++) {
    tl_borrow_owner borrow_owner = state->borrow_owners[i];
    unsigned whole = borrow_owner & TL_OF_WHOLE;
    if (whole == 1u << TL_SAME &&
        tl_borrow_owner_who(borrow_owner) == (uint32_t)x)
      same = true;
    else if (whole != 0)
      return false;
  }
  return same;
}

// Everything but [except] that borrowed from [from] borrows from [to] now.
static void rename_others(tl_flow *flow, int32_t from, int32_t to,
                          int32_t except) {
  TL_EACH_BIT(z, flow->borrowers, flow->function->words) {
    if (z != from && z != except &&
        tl_state_rename(&flow->now[z], (uint32_t)from, (uint32_t)to))
      check_size(flow, z);
  }
}

void tl_rename_borrow_owner(tl_flow *flow, int32_t from, int32_t to) {
  rename_others(flow, from, to, -1);
}

// The view in [y] gets its hold on the block, perhaps from [x] itself: then x
// no longer owns, and the owners of y's view object keep x's object alive.
static void pass_block(tl_flow *flow, int32_t x, int32_t y) {
  tl_state *lost = &flow->now[x];
  if (lost->kind == TL_BORROWS)
    return;
  tl_state keepers = tl_state_keepers(&flow->now[y], (uint32_t)y, (uint32_t)x);
  lost->kind = TL_EITHER;
  for (int i = 0; i < keepers.count; i++)
    tl_state_add(lost, keepers.borrow_owners[i]);
  tl_note_state(flow, x);
  check_size(flow, x);
  TL_EACH_BIT(z, flow->borrowers, flow->function->words) {
    if (z != x && z != y &&
        tl_state_let_keep(&flow->now[z], (uint32_t)z, (uint32_t)x, &keepers))
      check_size(flow, z);
  }
}

// The view in [y] gets its own count of the block; where [x] is about to be
// written, a copy of the block instead.
static void resolve_view(tl_flow *flow, int32_t x, int32_t y,
                         const tl_cfg_ins *update) {
  if (update != NULL) {
    tl_cfg_ins *ins = tl_put(flow, TL_BC_DETACH, -1, y, x, TL_MODE_BORROW);
    if (ins != NULL)
      ins->handler = update->handler;
    tl_may_fail(flow, ins, update->handler, NULL);
  } else {
    tl_put(flow, TL_BC_HOLD, -1, y, x, TL_MODE_BORROW);
  }
  tl_state_remove(&flow->now[y], (uint32_t)x, 1u << TL_HELD);
  // DETACH copies or retains, so x keeps what it owns.
  if (update == NULL)
    pass_block(flow, x, y);
}

// The container in [y] gets counts of the items that it borrows from [x], which
// may [leave] then.
static void settle_items(tl_flow *flow, int32_t x, int32_t y, bool leaves) {
  int op = leaves ? TL_BC_LEAVE : TL_BC_KEEPOF;
  tl_put(flow, op, -1, x, y, TL_MODE_BORROW);
  tl_state_remove(&flow->now[y], (uint32_t)x,
                  leaves ? 1u << TL_HELD | TL_TO_ITEMS : TL_TO_ITEMS);
}

// The item in [y] has its own count: [x] is no owner of it any more.
static void retain_part(tl_flow *flow, int32_t x, int32_t y) {
  tl_state *state = &flow->now[y];
  tl_state_remove(state, (uint32_t)x, 1u << TL_SAME | 1u << TL_PART);
  tl_state_own_unless_borrowed(state);
}

// The item in [y] gets its own count, or takes over the one that the container
// in [x] has, where that ends here.
static void settle_part(tl_flow *flow, int32_t x, int32_t y) {
  int op = flow->leaves ? TL_BC_LEAVE : flow->ends ? TL_BC_INHERIT : TL_BC_KEEP;
  tl_put(flow, op, -1, x, y, TL_MODE_BORROW);
  retain_part(flow, x, y);
  if (flow->leaves)  // the view that y may be has its hold, too
    tl_state_remove(&flow->now[y], (uint32_t)x, 1u << TL_HELD);
}

// The update itself gives the borrower the item that it replaces, so nothing
// has to be counted.
void tl_settle_successor(tl_flow *flow, int32_t x) {
  retain_part(flow, x, flow->successor);
  flow->successor = -1;
}

// True: y took the ownership over for certain, and nothing names x any more.
static bool settle_same(tl_flow *flow, int32_t x, int32_t y) {
  bool certain = takes_over(flow, x, y);
  tl_put(flow, TL_BC_SETTLE, -1, x, y, TL_MODE_BORROW);
  tl_state *from = &flow->now[x], *to = &flow->now[y];
  tl_state_remove(to, (uint32_t)x, ~0u);
  if (certain) {
    to->kind = TL_OWNS;
    rename_others(flow, x, y, y);
    tl_state_strip(from, 1u << TL_SAME | 1u << TL_PART);
    from->kind = TL_BORROWS;
    tl_state_add(from, tl_borrow_owner_of((uint32_t)y, TL_SAME));
    tl_note_state(flow, x);
    return true;
  }
  tl_state_own_unless_borrowed(to);
  if (from->kind != TL_BORROWS) {
    from->kind = TL_EITHER;
    tl_state_add(from, tl_borrow_owner_of((uint32_t)y, TL_SAME));
    tl_note_state(flow, x);
    check_size(flow, x);
  }
  TL_EACH_BIT(z, flow->borrowers, flow->function->words) {
    if (z == x || z == y || !tl_state_borrowed_by(&flow->now[z], (uint32_t)x))
      continue;
    tl_state_share(&flow->now[z], (uint32_t)x, (uint32_t)y);
    check_size(flow, z);
  }
  return false;
}

// Makes the borrower [y] independent of [x] in all relations in which it
// stands to it. True: it took over x's ownership, and nobody borrows from x
// any more.
static bool settle_one(tl_flow *flow, int32_t x, int32_t y,
                       const tl_cfg_ins *update) {
  unsigned relations = tl_state_relations(&flow->now[y], (uint32_t)x);
  bool inherits =
      flow->leaves && (relations & (1u << TL_PART | TL_TO_ITEMS)) != 0;
  if ((relations & 1u << TL_HELD) != 0 && !inherits)
    resolve_view(flow, x, y, update);
  if ((relations & TL_TO_ITEMS) != 0)
    settle_items(flow, x, y, flow->leaves && (relations & 1u << TL_PART) == 0);
  if ((relations & 1u << TL_PART) != 0) {
    if (y != flow->successor)
      settle_part(flow, x, y);
    return false;
  }
  return (relations & 1u << TL_SAME) != 0 && settle_same(flow, x, y);
}

// Whether [y], which is still needed, borrows from [x].
static bool borrows_from(const tl_flow *flow, int32_t y, int32_t x,
                         const uint64_t *live) {
  return y != x && tl_bit(live, y) &&
         tl_state_borrowed_by(&flow->now[y], (uint32_t)x);
}

// The borrower that may be the item which x[i] = v takes out: the one that was
// loaded last. What the update itself reads is none.
static int32_t find_item(const tl_flow *flow, int32_t x) {
  int32_t found = -1;
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    unsigned relations = tl_state_relations(&flow->now[y], (uint32_t)x);
    if (y != x && flow->uses[y] == 0 && tl_bit(flow->after, y) &&
        (relations & ~(1u << TL_HELD | TL_TO_ITEMS)) == 1u << TL_PART)
      found = y;
  }
  return found;
}

// Resolves the borrows of [x], which ends or is written, for every slot in
// [live] that borrows from it. Once one of them has become the owner for
// certain, all others borrow from that one, and nothing is left to do.
void tl_settle(tl_flow *flow, int32_t x, const uint64_t *live,
               const tl_cfg_ins *update) {
  int32_t words = flow->function->words;
  // One that takes over for certain goes first: then it alone has to.
  TL_EACH_BIT(y, flow->borrowers, words) {
    if (borrows_from(flow, y, x, live) && takes_over(flow, x, y)) {
      if (settle_one(flow, x, y, update))
        return;
      break;
    }
  }
  if (update != NULL && update->op == TL_BC_SETEL)
    flow->successor = find_item(flow, x);
  TL_EACH_BIT(y, flow->borrowers, words) {
    if (borrows_from(flow, y, x, live) && settle_one(flow, x, y, update))
      return;
  }
}

// Whether the container in [y], or the slice, borrows items of [x], and x lends
// nothing but a view's block to it. Only what owns for certain is left as it is
// by LEAVE.
static bool inherits_many(const tl_flow *flow, int32_t x, int32_t y) {
  unsigned relations = tl_state_relations(&flow->now[y], (uint32_t)x);
  return flow->now[y].kind == TL_OWNS && (relations & TL_TO_ITEMS) != 0 &&
         (relations & ~(1u << TL_HELD | TL_TO_ITEMS)) == 0;
}

// The borrower that may take its item out of [x] where that ends, or better its
// many items; -1: none.
static int32_t find_successor(const tl_flow *flow, int32_t x,
                              const uint64_t *live) {
  int32_t one = -1, many = -1;
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    unsigned relations = tl_state_relations(&flow->now[y], (uint32_t)x);
    if (y == x || !tl_bit(live, y) || relations == 0)
      continue;
    if ((relations & 1u << TL_PART) != 0)
      one = y;
    else if (inherits_many(flow, x, y))
      many = y;
  }
  return many >= 0 ? many : one;
}

// Settles what may be [x] itself, which ends: it would still see the items that
// others inherit. True: one of them took over for certain.
static bool settle_aliases(tl_flow *flow, int32_t x, const uint64_t *live) {
  for (int pass = 0; pass < 2; pass++) {
    TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
      bool is_alias =
          (tl_state_relations(&flow->now[y], (uint32_t)x) & 1u << TL_SAME) != 0;
      if (is_alias && borrows_from(flow, y, x, live) &&
          (pass == 1 || takes_over(flow, x, y)) && settle_one(flow, x, y, NULL))
        return true;
    }
  }
  return false;
}

// Whether the container in [y] borrows [x] or its items.
static bool borrows_items(const tl_flow *flow, int32_t x, int32_t y) {
  return (tl_state_relations(&flow->now[y], (uint32_t)x) & TL_TO_ITEMS) != 0;
}

// Settles the borrowers of [x], which ends; they may inherit, the last of them
// all that is left.
static void settle_end(tl_flow *flow, int32_t x, const uint64_t *live) {
  if (settle_aliases(flow, x, live))
    return;
  int32_t successor = find_successor(flow, x, live);
  // So would a container that x is in.
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    if (y != successor && borrows_from(flow, y, x, live) &&
        borrows_items(flow, x, y))
      settle_items(flow, x, y, false);
  }
  flow->ends = successor >= 0 && !borrows_items(flow, x, successor);
  TL_EACH_BIT(y, flow->borrowers, flow->function->words) {
    if (y != successor && borrows_from(flow, y, x, live))
      settle_one(flow, x, y, NULL);
  }
  flow->ends = false;
  if (successor < 0)
    return;
  flow->leaves = true;
  settle_one(flow, x, successor, NULL);
  flow->leaves = false;
  tl_forget(flow, x);
}

// Slots that are not in [live] end here. Order: first owners hand on what live
// slots still borrow from them, then they are dropped; borrows are forgotten
// without code.
void tl_end_dead(tl_flow *flow, const uint64_t *live) {
  int32_t words = flow->function->words;
  // Settle what lives before anything is dropped: then the order of the drops
  // does not matter.
  TL_EACH_BIT_WITHOUT(y, flow->present, live, words) {
    if (tl_bit(flow->present, y) && flow->now[y].kind != TL_BORROWS)
      settle_end(flow, y, live);
  }
  TL_EACH_BIT_WITHOUT(y, flow->present, live, words) {
    if (flow->now[y].kind != TL_BORROWS)
      tl_put(flow, TL_BC_DROP, -1, y, -1, tl_mode_of(&flow->now[y]));
    tl_forget(flow, y);
  }
}

// --- Edges ------------------------------------------------------------------

// The entry of the unwind map for this instruction: slots that own, without
// those that the handler keeps and those that the instruction has consumed
// (`gone`).
static void note_owners(tl_flow *flow, tl_cfg_ins *ins, const uint64_t *keep,
                        const uint64_t *gone) {
  int32_t count = 0;
  TL_EACH_BIT(y, flow->present, flow->function->words) {
    if (flow->now[y].kind != TL_BORROWS && !(gone != NULL && tl_bit(gone, y)) &&
        !(keep != NULL && tl_bit(keep, y)))
      flow->owned[count++] = (tl_cfg_owned){y, flow->now[y].kind == TL_EITHER};
  }
  if (count == 0)
    return;
  ins->owned = TL_ARENA_ARRAY(flow->arena, tl_cfg_owned, (size_t)count);
  if (ins->owned == NULL)
    return;
  memcpy(ins->owned, flow->owned, (size_t)count * sizeof *ins->owned);
  ins->owned_count = count;
}

// Whether a slot's state is good in a handler as it is: it owns for certain or
// borrows for certain, and its lenders stay.
static bool stays_good(const tl_state *state, const uint64_t *keep) {
  if (state->kind == TL_EITHER || state->full)
    return false;
  for (int i = 0; i < state->count; i++) {
    uint32_t who = tl_borrow_owner_who(state->borrow_owners[i]);
    if (tl_who_is_slot(who) && !tl_bit(keep, (int32_t)who))
      return false;
  }
  return true;
}

// Notes whether the block has to be looked at again.
static void reach(tl_owned_function *f, int32_t block, bool changed) {
  if (changed || !f->reached[block])
    f->dirty[block] = true;
  f->reached[block] = true;
}

// Notes for the block whether it finds in [y] what TAKE has set; true where
// that is news. What does not show somebody's block need not be known.
static bool join_taken(tl_flow *flow, int32_t block, int32_t y) {
  uint64_t *read =
      flow->function->read + (size_t)block * (size_t)flow->function->words;
  if (tl_bit(flow->taken, y) || tl_bit(read, y) ||
      !tl_state_in(tl_state_of(flow, y), 1u << TL_HELD))
    return false;
  tl_bit_set(read, y);
  return true;
}

// Joins the states at a failing instruction into the handler's entry. What
// would not stay alive there is made an owner by the unwinder.
static void raise_into(tl_flow *flow, int32_t handler) {
  tl_owned_function *f = flow->function;
  const uint64_t *keep = tl_live_at(f, handler);
  uint64_t *must_own = f->must_own + (size_t)handler * (size_t)f->words;
  tl_state *entry = f->entry[handler];
  bool changed = false;
  TL_EACH_BIT(y, keep, f->words) {
    const tl_state *state = tl_state_of(flow, y);
    tl_state before = *entry;
    if (!stays_good(state, keep))
      tl_bit_set(must_own, y);
    else
      tl_state_join(entry, state);
    if (entry->kind == TL_EITHER)
      tl_bit_set(must_own, y);
    if (tl_bit(must_own, y))
      *entry = tl_state_new(TL_OWNS);
    pin_large(flow, y, entry);
    changed |= join_taken(flow, handler, y);
    changed |= !tl_state_equal(&before, entry);
    entry++;
  }
  reach(f, handler, changed);
}

// Called in the middle of an instruction: what it consumes is in [gone], and
// its result is not there yet. [ins] is NULL during the search.
void tl_may_fail(tl_flow *flow, tl_cfg_ins *ins, int32_t handler,
                 const uint64_t *gone) {
  tl_owned_function *f = flow->function;
  if (ins != NULL)
    note_owners(flow, ins, handler >= 0 ? tl_live_at(f, handler) : NULL, gone);
  if (handler >= 0)
    raise_into(flow, handler);
}

// Joins the states into the entry of [block], slot by slot as far as they are
// live there. States of others are left out, so that a block that does not read
// them need not be looked at again.
void tl_flow_into(tl_flow *flow, int32_t block) {
  tl_owned_function *f = flow->function;
  const uint64_t *live = tl_live_at(f, block);
  tl_state *entry = f->entry[block];
  bool changed = false;
  TL_EACH_BIT(y, live, f->words) {
    if (tl_state_join(entry, tl_state_of(flow, y))) {
      changed = true;
      pin_large(flow, y, entry);
    }
    changed |= join_taken(flow, block, y);
    entry++;
  }
  reach(f, block, changed);
}
