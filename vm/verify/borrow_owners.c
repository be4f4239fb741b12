// The set of owners that a slot borrows from: a small sorted array with one
// entry for each owner, which has a bit for each relation.
//
// Relations compose: where y is an item of x, and x is a view of l's block,
// what y means to l follows from both (compose_one). That table is the heart
// of the analysis; the verifier and the compiler share it, and nothing else.
//
// Built for speed.
#include "vm/verify/borrow_owners.h"

#include <string.h>

// The entries are sorted by owner, so that sets can be compared byte by byte.
void tl_state_add(tl_state *state, tl_borrow_owner borrow_owner) {
  int at = 0;
  uint32_t who = tl_borrow_owner_who(borrow_owner);
  while (at < state->count &&
         tl_borrow_owner_who(state->borrow_owners[at]) < who)
    at++;
  if (at < state->count &&
      tl_borrow_owner_who(state->borrow_owners[at]) == who) {
    state->borrow_owners[at] |= borrow_owner;
    return;
  }
  if (state->count == TL_MAX_BORROW_OWNERS) {
    state->full = true;
    return;
  }
  size_t behind = (size_t)(state->count - at) * sizeof(tl_borrow_owner);
  memmove(state->borrow_owners + at + 1, state->borrow_owners + at, behind);
  state->borrow_owners[at] = borrow_owner;
  state->count++;
}

// The same in several relations, or none.
// Without relations there is no entry, as an entry of none would name an owner
// of nothing.
static void add_all(tl_state *state, uint32_t who, unsigned relations) {
  if (relations != 0)
    tl_state_add(state, who << 5 | relations);
}

bool tl_state_in(const tl_state *state, unsigned relations) {
  for (int i = 0; i < state->count; i++)
    if ((state->borrow_owners[i] & relations) != 0)
      return true;
  return false;
}

unsigned tl_state_relations(const tl_state *state, uint32_t who) {
  for (int i = 0; i < state->count; i++)
    if (tl_borrow_owner_who(state->borrow_owners[i]) == who)
      return tl_borrow_owner_relations(state->borrow_owners[i]);
  return 0;
}

bool tl_state_borrowed_by(const tl_state *state, uint32_t who) {
  return tl_state_relations(state, who) != 0;
}

// Removes relations from the owners' entries: from that of [who], or from
// those of all where [any] is set. An entry without relations goes.
// The order of the others stays, so the set is sorted still.
static void keep_some(tl_state *state, uint32_t who, bool any,
                      unsigned relations) {
  int kept = 0;
  for (int i = 0; i < state->count; i++) {
    tl_borrow_owner borrow_owner = state->borrow_owners[i];
    if (any || tl_borrow_owner_who(borrow_owner) == who)
      borrow_owner &= ~(relations & 31);
    if (tl_borrow_owner_relations(borrow_owner) != 0)
      state->borrow_owners[kept++] = borrow_owner;
  }
  state->count = (uint8_t)kept;
}

void tl_state_remove(tl_state *state, uint32_t who, unsigned relations) {
  keep_some(state, who, false, relations);
}

void tl_state_strip(tl_state *state, unsigned relations) {
  keep_some(state, 0, true, relations);
}

void tl_state_share(tl_state *state, uint32_t from, uint32_t to) {
  add_all(state, to, tl_state_relations(state, from));
}

bool tl_state_rename(tl_state *state, uint32_t from, uint32_t to) {
  unsigned relations = tl_state_relations(state, from);
  if (relations == 0)
    return false;
  tl_state_remove(state, from, relations);
  add_all(state, to, relations);
  return true;
}

void tl_state_own_unless_borrowed(tl_state *state) {
  if (state->kind != TL_OWNS)
    state->kind = tl_state_needs_borrow_owner(state) ? TL_EITHER : TL_OWNS;
}

tl_state tl_state_keepers(const tl_state *view, uint32_t y, uint32_t x) {
  tl_state keepers = tl_state_new(TL_OWNS);
  if (tl_state_owns(view))
    tl_state_add(&keepers, tl_borrow_owner_of(y, TL_PART));
  for (int i = 0; i < view->count; i++) {
    uint32_t who = tl_borrow_owner_who(view->borrow_owners[i]);
    if ((view->borrow_owners[i] & TL_OF_WHOLE) != 0 && who != x)
      tl_state_add(&keepers, tl_borrow_owner_of(who, TL_PART));
  }
  return keepers;
}

bool tl_state_let_keep(tl_state *state, uint32_t z, uint32_t x,
                       const tl_state *keepers) {
  unsigned relations = tl_state_relations(state, x);
  unsigned of_keeper = relations & ~(1u << TL_SAME);
  if ((relations & 1u << TL_SAME) != 0)
    of_keeper |= 1u << TL_PART;
  for (int i = 0; relations != 0 && i < keepers->count; i++) {
    uint32_t who = tl_borrow_owner_who(keepers->borrow_owners[i]);
    if (who != z)
      add_all(state, who, of_keeper);
  }
  return relations != 0;
}

bool tl_state_equal(const tl_state *a, const tl_state *b) {
  return a->kind == b->kind && a->count == b->count && a->full == b->full &&
         a->invalid == b->invalid && a->open == b->open &&
         memcmp(a->borrow_owners, b->borrow_owners,
                a->count * sizeof(tl_borrow_owner)) == 0;
}

// Sets only grow, flags are only set and a kind goes to EITHER at most, so the
// verifier's search ends: each state can change a bounded number of times.
bool tl_state_join(tl_state *state, const tl_state *other) {
  if (other->kind == TL_ABSENT || tl_state_equal(state, other))
    return false;
  if (state->kind == TL_ABSENT) {
    *state = *other;
    return true;
  }
  tl_state before = *state;
  if (state->kind != other->kind)
    state->kind = TL_EITHER;
  for (int i = 0; i < other->count; i++)
    tl_state_add(state, other->borrow_owners[i]);
  state->full |= other->full;
  state->invalid |= other->invalid;
  // Where only one way has taken an item out the place may be read as little.
  // Two different places: neither is known to be the one.
  if (state->open == 0)
    state->open = other->open;
  else if (other->open != 0 && state->open != other->open)
    state->open = UINT32_MAX;
  return !tl_state_equal(&before, state);
}

// The relations of y to l, where y stands in [outer] to x, and x in [inner] to
// l; none: l means nothing to y (items own their holds). An item of what l
// lends to may be l's, or a container that l lends to.
static unsigned compose_one(tl_relation outer, tl_relation inner) {
  enum { PART = 1u << TL_PART, HELD = 1u << TL_HELD, LENDS = 1u << TL_LENDS };
  enum { INNER = 1u << TL_INNER };
  if (inner == TL_INNER)
    return outer == TL_PART    ? PART | LENDS | INNER
           : outer == TL_LENDS ? LENDS | INNER
                               : INNER;
  if (outer == TL_INNER)
    return inner == TL_HELD ? 0 : INNER;
  if (inner == TL_LENDS)
    return outer == TL_PART ? PART : LENDS;
  if (outer == TL_HELD)
    return HELD;
  if (inner == TL_HELD)
    return outer == TL_SAME ? HELD : 0;
  if (outer == TL_LENDS)
    return LENDS;
  return outer == TL_PART || inner == TL_PART ? PART : 1u << TL_SAME;
}

// The same for all that x stands in.
// A union, because the relations of x to one owner are alternatives: each may
// be the true one on some path.
static unsigned compose(tl_relation outer, unsigned inner) {
  unsigned composed = 0;
  for (tl_relation r = TL_SAME; r <= TL_INNER; r++)
    if ((inner >> r & 1) != 0)
      composed |= compose_one(outer, r);
  return composed;
}

void tl_state_derive_borrow_owners(tl_state *out, const tl_state *from,
                                   tl_relation relation) {
  for (int i = 0; i < from->count; i++) {
    tl_borrow_owner borrow_owner = from->borrow_owners[i];
    add_all(out, tl_borrow_owner_who(borrow_owner),
            compose(relation, tl_borrow_owner_relations(borrow_owner)));
  }
  out->full |= from->full;
}

// Of the entries only the bits LENDS and INNER are copied, as they are: for a
// container that takes over the items of another.
void tl_state_derive_items(tl_state *out, const tl_state *from) {
  for (int i = 0; i < from->count; i++)
    add_all(out, tl_borrow_owner_who(from->borrow_owners[i]),
            from->borrow_owners[i] & TL_TO_ITEMS);
  out->full |= from->full;
}

// One level further in there is one relation alone: INNER stands for any depth,
// so that sets stay finite.
void tl_state_derive_inner(tl_state *out, const tl_state *from) {
  for (int i = 0; i < from->count; i++)
    if ((from->borrow_owners[i] & TL_TO_ITEMS) != 0)
      add_all(out, tl_borrow_owner_who(from->borrow_owners[i]), 1u << TL_INNER);
  out->full |= from->full;
}

// A caller's argument gets INNER besides: it may itself be a container that
// borrows, of which this function has seen nothing.
void tl_state_derive_stored(tl_state *out, const tl_state *from) {
  tl_state_derive_inner(out, from);
  for (int i = 0; i < from->count; i++) {
    uint32_t who = tl_borrow_owner_who(from->borrow_owners[i]);
    if ((from->borrow_owners[i] & TL_OF_WHOLE) != 0)
      add_all(out, who,
              1u << TL_LENDS | (tl_who_is_caller(who) ? 1u << TL_INNER : 0));
  }
}

// What surely borrows is no owner itself: then its own owners are all there
// are.
void tl_state_derive(tl_state *out, const tl_state *from, uint32_t who,
                     tl_relation relation) {
  if (from->kind != TL_BORROWS)
    tl_state_add(out, tl_borrow_owner_of(who, relation));
  tl_state_derive_borrow_owners(out, from, relation);
}
