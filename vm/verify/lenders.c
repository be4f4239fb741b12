// Lender sets: small sorted arrays.
#include "vm/verify/lenders.h"

#include <string.h>

void tl_state_add(tl_state *state, tl_lender lender) {
  int at = 0;
  uint32_t who = tl_lender_who(lender);
  while (at < state->count && tl_lender_who(state->lenders[at]) < who) at++;
  if (at < state->count && tl_lender_who(state->lenders[at]) == who) {
    state->lenders[at] |= lender;
    return;
  }
  if (state->count == TL_MAX_LENDERS) {
    state->full = true;
    return;
  }
  size_t behind = (size_t)(state->count - at) * sizeof(tl_lender);
  memmove(state->lenders + at + 1, state->lenders + at, behind);
  state->lenders[at] = lender;
  state->count++;
}

// The same in several relations, or none.
static void add_all(tl_state *state, uint32_t who, unsigned relations) {
  if (relations != 0)
    tl_state_add(state, who << 5 | relations);
}

bool tl_state_in(const tl_state *state, unsigned relations) {
  for (int i = 0; i < state->count; i++)
    if ((state->lenders[i] & relations) != 0)
      return true;
  return false;
}

unsigned tl_state_relations(const tl_state *state, uint32_t who) {
  for (int i = 0; i < state->count; i++)
    if (tl_lender_who(state->lenders[i]) == who)
      return tl_lender_relations(state->lenders[i]);
  return 0;
}

bool tl_state_lent_by(const tl_state *state, uint32_t who) {
  return tl_state_relations(state, who) != 0;
}

static void keep_some(tl_state *state, uint32_t who, bool any,
                      unsigned relations) {
  int kept = 0;
  for (int i = 0; i < state->count; i++) {
    tl_lender lender = state->lenders[i];
    if (any || tl_lender_who(lender) == who)
      lender &= ~(relations & 31);
    if (tl_lender_relations(lender) != 0)
      state->lenders[kept++] = lender;
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

bool tl_state_equal(const tl_state *a, const tl_state *b) {
  return a->kind == b->kind && a->count == b->count && a->full == b->full &&
         a->invalid == b->invalid && a->open == b->open &&
         memcmp(a->lenders, b->lenders, a->count * sizeof(tl_lender)) == 0;
}

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
  for (int i = 0; i < other->count; i++) tl_state_add(state, other->lenders[i]);
  state->full |= other->full;
  state->invalid |= other->invalid;
  // Two different paths: neither is known to be the one.
  if (state->open != other->open)
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
static unsigned compose(tl_relation outer, unsigned inner) {
  unsigned composed = 0;
  for (tl_relation r = TL_SAME; r <= TL_INNER; r++)
    if ((inner >> r & 1) != 0)
      composed |= compose_one(outer, r);
  return composed;
}

void tl_state_derive_lenders(tl_state *out, const tl_state *from,
                             tl_relation relation) {
  for (int i = 0; i < from->count; i++) {
    tl_lender lender = from->lenders[i];
    add_all(out, tl_lender_who(lender),
            compose(relation, tl_lender_relations(lender)));
  }
  out->full |= from->full;
}

void tl_state_derive_items(tl_state *out, const tl_state *from) {
  for (int i = 0; i < from->count; i++)
    add_all(out, tl_lender_who(from->lenders[i]),
            from->lenders[i] & TL_TO_ITEMS);
  out->full |= from->full;
}

void tl_state_derive_inner(tl_state *out, const tl_state *from) {
  for (int i = 0; i < from->count; i++)
    if ((from->lenders[i] & TL_TO_ITEMS) != 0)
      add_all(out, tl_lender_who(from->lenders[i]), 1u << TL_INNER);
  out->full |= from->full;
}

void tl_state_derive_stored(tl_state *out, const tl_state *from) {
  tl_state_derive_inner(out, from);
  for (int i = 0; i < from->count; i++) {
    uint32_t who = tl_lender_who(from->lenders[i]);
    if ((from->lenders[i] & TL_OF_WHOLE) != 0)
      add_all(out, who,
              1u << TL_LENDS | (tl_who_is_caller(who) ? 1u << TL_INNER : 0));
  }
}

void tl_state_derive(tl_state *out, const tl_state *from, uint32_t who,
                     tl_relation relation) {
  if (from->kind != TL_BORROWS)
    tl_state_add(out, tl_lender_of(who, relation));
  tl_state_derive_lenders(out, from, relation);
}
