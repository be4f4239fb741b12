// Pairs of lists or records that were compared already, so that values which
// share parts cost what they hold, not what they would be written out:
//
//     l = (l, l) a hundred times over has 101 lists and 2^100 places
//
// Only pairs that can come again are kept, those with more than one owner each.
#pragma once

#include "vm/vm.h"

// Begins as {.vm = vm}; nothing is allocated before the first pair.
typedef struct tl_pairs {
  tl_vm *vm;
  size_t count, room;  // room: a power of two, or 0
  const tl_object *(*entries)[2];
  uint32_t work;  // comparisons since the last poll
} tl_pairs;

// Whether the two were noted before; else they are noted. Where there is no
// memory for it nothing is noted.
bool tl_pairs_seen(tl_pairs *pairs, const tl_object *a, const tl_object *b);

// Counts one comparison and polls from time to time; false after tl_fail.
static inline bool tl_pairs_poll(tl_pairs *pairs) {
  return (++pairs->work & 1023) != 0 || tl_poll(pairs->vm, 1);
}

void tl_pairs_close(tl_pairs *pairs);
