// Lender sets: small sorted arrays.
#include "vm/verify/lenders.h"

#include <string.h>

void tl_state_add(tl_state *state, tl_lender lender) {
  int at = 0;
  while (at < state->count && state->lenders[at] < lender) at++;
  if (at < state->count && state->lenders[at] == lender)
    return;
  if (state->count == TL_MAX_LENDERS) {
    state->full = true;
    return;
  }
  size_t behind = (size_t)(state->count - at) * sizeof(tl_lender);
  memmove(state->lenders + at + 1, state->lenders + at, behind);
  state->lenders[at] = lender;
  state->count++;
}

bool tl_state_has(const tl_state *state, tl_lender lender) {
  for (int i = 0; i < state->count; i++)
    if (state->lenders[i] == lender)
      return true;
  return false;
}

bool tl_state_in(const tl_state *state, tl_relation relation) {
  for (int i = 0; i < state->count; i++)
    if (tl_lender_relation(state->lenders[i]) == relation)
      return true;
  return false;
}

unsigned tl_state_relations(const tl_state *state, uint32_t who) {
  unsigned relations = 0;
  for (int i = 0; i < state->count; i++)
    if (tl_lender_who(state->lenders[i]) == who)
      relations |= 1u << tl_lender_relation(state->lenders[i]);
  return relations;
}

bool tl_state_lent_by(const tl_state *state, uint32_t who) {
  return tl_state_relations(state, who) != 0;
}

void tl_state_remove(tl_state *state, uint32_t who, unsigned relations) {
  int kept = 0;
  for (int i = 0; i < state->count; i++) {
    tl_lender lender = state->lenders[i];
    if (tl_lender_who(lender) != who ||
        (relations >> tl_lender_relation(lender) & 1) == 0)
      state->lenders[kept++] = lender;
  }
  state->count = (uint8_t)kept;
}

void tl_state_strip(tl_state *state, unsigned relations) {
  int kept = 0;
  for (int i = 0; i < state->count; i++) {
    tl_lender lender = state->lenders[i];
    if ((relations >> tl_lender_relation(lender) & 1) == 0)
      state->lenders[kept++] = lender;
  }
  state->count = (uint8_t)kept;
}

void tl_state_share(tl_state *state, uint32_t from, uint32_t to) {
  unsigned relations = tl_state_relations(state, from);
  for (unsigned r = 0; relations >> r != 0; r++)
    if ((relations >> r & 1) != 0)
      tl_state_add(state, tl_lender_of(to, (tl_relation)r));
}

bool tl_state_rename(tl_state *state, uint32_t from, uint32_t to) {
  unsigned relations = tl_state_relations(state, from);
  if (relations == 0)
    return false;
  tl_state_remove(state, from, relations);
  for (unsigned r = 0; relations >> r != 0; r++)
    if ((relations >> r & 1) != 0)
      tl_state_add(state, tl_lender_of(to, (tl_relation)r));
  return true;
}

bool tl_state_needs_lender(const tl_state *state) {
  for (int i = 0; i < state->count; i++)
    if (tl_is_whole(tl_lender_relation(state->lenders[i])))
      return true;
  return false;
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

// The relation of y to l, where y stands in [outer] to x, and x in [inner] to
// l; -1: l means nothing to y (items own their holds). An item of what l lends
// to may be l's.
static int compose(tl_relation outer, tl_relation inner) {
  if (inner == TL_LENDS)
    return outer == TL_PART ? TL_PART : TL_LENDS;
  if (outer == TL_HELD)
    return TL_HELD;
  if (inner == TL_HELD)
    return outer == TL_SAME ? TL_HELD : -1;
  if (outer == TL_LENDS)
    return TL_LENDS;
  return outer == TL_PART || inner == TL_PART ? TL_PART : TL_SAME;
}

void tl_state_derive_lenders(tl_state *out, const tl_state *from,
                             tl_relation relation) {
  for (int i = 0; i < from->count; i++) {
    int composed = compose(relation, tl_lender_relation(from->lenders[i]));
    if (composed >= 0)
      tl_state_add(out, tl_lender_of(tl_lender_who(from->lenders[i]),
                                     (tl_relation)composed));
  }
  out->full |= from->full;
}

void tl_state_derive_items(tl_state *out, const tl_state *from) {
  for (int i = 0; i < from->count; i++)
    if (tl_lender_relation(from->lenders[i]) == TL_LENDS)
      tl_state_add(out, from->lenders[i]);
  out->full |= from->full;
}

void tl_state_derive(tl_state *out, const tl_state *from, uint32_t who,
                     tl_relation relation) {
  if (from->kind != TL_BORROWS)
    tl_state_add(out, tl_lender_of(who, relation));
  tl_state_derive_lenders(out, from, relation);
}
