// Pairs of objects in a table with open addressing. See pairs.h.
// None is ever taken out, so that a search may end at the first free place.

#include "vm/values/pairs.h"

enum { FIRST_ROOM = 64 };

static size_t bytes_of(size_t room) {
  return room * sizeof(const tl_object *[2]);
}

// Objects lie 16 bytes apart at least, so the lowest bits say nothing.
static size_t place_of(const tl_pairs *pairs, const tl_object *a,
                       const tl_object *b) {
  uint64_t h = ((uint64_t)(uintptr_t)a >> 4) * UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ ((uint64_t)(uintptr_t)b >> 4)) * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (size_t)(h >> 32) & (pairs->room - 1);
  while (pairs->entries[at][0] != NULL &&
         (pairs->entries[at][0] != a || pairs->entries[at][1] != b))
    at = (at + 1) & (pairs->room - 1);
  return at;
}

// Returns whether the pair was there.
static bool put(tl_pairs *pairs, const tl_object *a, const tl_object *b) {
  const tl_object **entry = pairs->entries[place_of(pairs, a, b)];
  if (entry[0] != NULL)
    return true;
  entry[0] = a;
  entry[1] = b;
  pairs->count++;
  return false;
}

// Twice the room, so that at most half of it is full.
static bool grow(tl_pairs *pairs) {
  tl_pairs more = *pairs;
  more.room = pairs->room == 0 ? FIRST_ROOM : 2 * pairs->room;
  more.count = 0;
  more.entries = tl_alloc_quiet(pairs->vm, bytes_of(more.room));
  if (more.entries == NULL)
    return false;
  for (size_t i = 0; i < more.room; i++) more.entries[i][0] = NULL;
  for (size_t i = 0; i < pairs->room; i++)
    if (pairs->entries[i][0] != NULL)
      put(&more, pairs->entries[i][0], pairs->entries[i][1]);
  tl_pairs_close(pairs);
  *pairs = more;
  return true;
}

bool tl_pairs_seen(tl_pairs *pairs, const tl_object *a, const tl_object *b) {
  if (a->count < 2 || b->count < 2)
    return false;
  // Without memory the pair is taken for a new one: it may be compared again,
  // which costs time and changes no answer.
  if (2 * pairs->count >= pairs->room && !grow(pairs))
    return false;
  return put(pairs, a, b);
}

void tl_pairs_close(tl_pairs *pairs) {
  tl_free(pairs->vm, pairs->entries, bytes_of(pairs->room));
  pairs->entries = NULL;
  pairs->count = pairs->room = 0;
}
