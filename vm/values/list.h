// Lists: any values in a row. One allocation; grows at the end when unique.
#ifndef TALLY_VM_LIST_H
#define TALLY_VM_LIST_H

#include "vm/memory/memory.h"

struct tl_list {
  tl_object head;
  int64_t length;
  int64_t capacity;
  tl_slot items[];  // heap slots: owned, immortal or lent (TL_LENT)
};

// An empty list with room for [capacity] items.
tl_list *tl_list_new(tl_vm *vm, int64_t capacity);
// Appends to a list that only the caller has. Moves *item in (or retains it).
// The list may move in memory: *list is updated. On failure nothing changed.
bool tl_list_push(tl_vm *vm, tl_list **list, tl_slot *item);
// The same, except that what *item only borrows stays lent (lend.c).
bool tl_list_push_lent(tl_vm *vm, tl_list **list, tl_slot *item);
// The list in [s], ready to be changed: itself if unique, else a copy (each
// item retained). Returns owned in *out; s no longer owns.
bool tl_list_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_list **out);

#endif
