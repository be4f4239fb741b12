// All that can be reached: each object is met once, and waits until it is
// looked into. The tables come from the host's allocator and are no memory of
// the VM's, so that looking changes no count of bytes.
//
//     meet every root
//     while (tl_reach_next(&reach, &value)) meet whatever value refers to
//     tl_reach_end(&reach)                  reach.failed: some were not met
#pragma once

#include "vm/value.h"

// An object lies anywhere in memory: to look at it takes as long as so many
// items that lie side by side (tl_poll_items).
enum { TL_REACH_WORK = 128 };

// The objects met so far, and those that wait.
typedef struct tl_reach {
  tl_vm *vm;
  const void **met;  // by address
  size_t met_count, met_capacity;
  tl_slot *waiting;
  size_t waiting_count, waiting_capacity;
  bool failed;  // no memory: what follows is not met
} tl_reach;

// Whether the value's object is met for the first time; it waits then.
bool tl_reach_meet(tl_reach *reach, tl_slot value);
// Whether the object was met.
bool tl_reach_has(const tl_reach *reach, const tl_object *object);
// Takes a value that waits; false where none does, or where memory was short.
bool tl_reach_next(tl_reach *reach, tl_slot *out);
// Called with what an object refers to, and its number there; false: stop.
typedef bool tl_part_visit(void *context, int64_t index, tl_slot to);
// Visits what the value's object refers to: items, values of a record, captured
// values, parts of a nested array, the block of a view, texts of an array.
// Keys, and what a resource holds, are not among them. False: stopped.
bool tl_each_part(tl_slot value, tl_part_visit *visit, void *context);

// Frees the tables.
void tl_reach_end(tl_reach *w);

// A block of that memory; 0 bytes: gives it back. NULL is a failure.
void *tl_reach_resize(tl_reach *w, void *block, size_t old, size_t nbytes);
