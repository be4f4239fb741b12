// Lists: any values in a row, in one allocation, which grows at the end when
// the list has one owner.
//
//     tl_list  │ head │ length │ capacity │ item 0 │ item 1 │ … room │
//
// Where items were taken from the front of a list with one owner, its head has
// moved up to those that are left, and its block begins before it:
//
//     block    │ … gap │ head │ length │ capacity │ item 0 │ … room │
//
// Items are heap slots: each owns its object, or refers to something immortal,
// or, in a list marked TL_BORROWED, borrows (value.h). Whoever changes a list
// gets it from tl_list_unique first.
#pragma once

#include "vm/check.h"
#include "vm/memory/memory.h"

// A list object. Capacity is how many items there is room for.
struct tl_list {
  tl_object head;
  int64_t length;
  int64_t capacity;
  tl_slot items[];  // heap slots: owned, immortal or borrowed (TL_BORROWED)
};

// An empty list with room for [capacity] items, owned; NULL after tl_fail.
// Length is 0: items are written at [length], which the caller raises.
tl_list *tl_list_new(tl_vm *vm, int64_t capacity);
// A real number of any dtype without loss.
typedef struct tl_real {
  char kind;  // 'I' an int64, 'U' a uint64 above them, 'F'
  int64_t i;
  uint64_t u;
  double f;
} tl_real;
// Reads a scalar, bools as 0 and 1; false for complex numbers and all else.
bool tl_read_real(tl_slot s, tl_real *out);
// -1, 0 or 1, exactly: 2^53 + 1 is above 2^53 as a float. NaN is greater than
// all numbers and equal to itself.
int tl_compare_reals(tl_real a, tl_real b);
// Compares two values in the order that sort puts them in (order.c): *order is
// below, at or above 0. False after tl_fail (kind type): they have no order.
bool tl_compare(tl_vm *vm, tl_slot a, tl_slot b, int *order);
// Appends to a list that has room and that only the caller has: *item moves in,
// or is retained. A number or an immortal string has no count to write.
static inline void tl_list_put(tl_vm *vm, tl_list *list, tl_slot *item) {
  TL_CHECK(list->length < list->capacity);
  tl_slot kept = *item;
  if (tl_is_heap(kept) && (!tl_is_string(kept) || tl_is_owned(kept) ||
                           (kept.object->flags & TL_IMMORTAL) == 0))
    kept = tl_escape(vm, item, TL_CAUSE_ITEM);
  tl_copy_slot(&list->items[list->length++], &kept);
}
// Appends to a list that only the caller has: *item moves in, or is retained.
// The list may move in memory: *list is updated. On failure nothing has
// changed.
bool tl_list_push(tl_vm *vm, tl_list **list, tl_slot *item);
// The same, except that a value which *item only borrows stays borrowed.
// The list is then marked TL_BORROWED, and good while that value's owner lives.
bool tl_list_push_borrowed(tl_vm *vm, tl_list **list, tl_slot *item);
// Appends an item that the caller owns, and gives it up.
bool tl_list_push_own(tl_vm *vm, tl_list **list, tl_slot item);
// *out owns the list if ok and there is one, else it is dropped (it may be
// NULL). Returns which, so that it can end a function.
bool tl_list_give(tl_vm *vm, tl_list *list, bool ok, tl_slot *out);
// A copy, owned, with room for [room] more items; NULL after tl_fail.
tl_list *tl_list_copy(tl_vm *vm, const tl_list *list, int64_t room);
// Leaves [length] items from [start] on of a list that only the caller has; the
// others end. In constant time on average, but for those that end. The list
// may move in memory: *list is updated. Never fails.
void tl_list_narrow(tl_vm *vm, tl_list **list, int64_t start, int64_t length);
// The list in [s], ready to be changed and with room for [room] more items:
// itself if it has one owner, else a copy with each item retained. Returns
// owned in *out; [s] no longer owns. False after tl_fail (kind memory, also
// where an in-place contract forbids the copy), with [s] as it was.
bool tl_list_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_list **out);
