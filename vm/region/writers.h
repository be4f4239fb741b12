// Which instructions write each slot of a function: the code around a call
// tells by them what it calls.
#ifndef TALLY_VM_REGION_WRITERS_H
#define TALLY_VM_REGION_WRITERS_H

#include "vm/interp/function.h"

typedef struct tl_writers {
  const tl_prototype *p;
  uint32_t *first;  // for each slot, where its pcs begin; NULL: not indexed
  uint32_t *pcs;    // of all slots, in the order of the text
} tl_writers;

// The items of memory that an index of the function takes.
size_t tl_writers_size(const tl_prototype *p);

// An index in [memory], of tl_writers_size items of 0. Without one, as {.p =
// function}, each search goes over the whole code: of short functions.
void tl_writers_index(tl_writers *w, const tl_prototype *p, uint32_t *memory);

// The last instruction before [pc] in the text that writes a slot.
bool tl_writers_find(const tl_writers *w, uint32_t pc, uint32_t slot,
                     uint32_t *at, tl_decoded *writer);

#endif
