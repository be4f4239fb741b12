// Lists: making, growing and copying them. See list.h. A list is one block,
// which moves when it grows; so functions that may grow one take the place of
// its pointer.

#include "vm/values/list.h"

#include <string.h>

#include "vm/events.h"

// The bytes of a list for [capacity] items; false after tl_fail (kind memory):
// too many.
static bool list_bytes(tl_vm *vm, int64_t capacity, size_t *nbytes) {
  size_t items = 0;
  bool fits = capacity >= 0 &&
              !tl_mul_overflows((size_t)capacity, sizeof(tl_slot), &items);
  *nbytes = sizeof(tl_list) + items;
  return (fits && *nbytes > items) || tl_fail_memory(vm, SIZE_MAX, "a list");
}

// The items are uninitialised: length says how many there are.
tl_list *tl_list_new(tl_vm *vm, int64_t capacity) {
  size_t nbytes;
  if (!list_bytes(vm, capacity, &nbytes))
    return NULL;
  tl_list *list = tl_object_new(vm, TL_KIND_LIST, nbytes, "a list");
  if (list == NULL)
    return NULL;
  list->length = 0;
  list->capacity = capacity;
  return list;
}

// Makes room for more items: grows by half, to whole lines of 64 bytes, so that
// pushing is O(1) on average.
static bool list_reserve(tl_vm *vm, tl_list **list, int64_t room) {
  tl_list *old = *list;
  if (old->capacity - old->length >= room)
    return true;
  int64_t capacity = old->capacity + old->capacity / 2;
  if (capacity < old->length + room)
    capacity = old->length + room;
  capacity = (capacity + 1) / 4 * 4 + 2;
  size_t nbytes;
  if (!list_bytes(vm, capacity, &nbytes))
    return false;
  tl_list *grown = tl_realloc(vm, old, old->head.nbytes, nbytes, "a list");
  if (grown == NULL)
    return false;
  grown->head.nbytes = nbytes;
  grown->capacity = capacity;
  *list = grown;
  return true;
}

// Room first: once the item has moved nothing can fail.
bool tl_list_push(tl_vm *vm, tl_list **list, tl_slot *item) {
  if (!list_reserve(vm, list, 1))
    return false;
  tl_slot kept = tl_escape(vm, item, TL_CAUSE_ITEM);
  tl_copy_slot(&(*list)->items[(*list)->length++], &kept);
  return true;
}

// As tl_list_push, with tl_borrow_item in place of tl_escape.
bool tl_list_push_borrowed(tl_vm *vm, tl_list **list, tl_slot *item) {
  if (!list_reserve(vm, list, 1))
    return false;
  tl_slot borrowed = tl_borrow_item(vm, &(*list)->head, item, TL_CAUSE_ITEM);
  tl_copy_slot(&(*list)->items[(*list)->length++], &borrowed);
  return true;
}

// A list that borrows items counts them first (tl_may_change), since a change
// may end what it borrows from.
bool tl_list_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_list **out) {
  tl_list *list = s->list;
  if (tl_may_change(vm, *s)) {
    if (!list_reserve(vm, &list, room))
      return false;
    *out = list;
    s->tag &= ~TL_OWNED;
    tl_changed_in_place(vm, tl_own_list(list));
    return true;
  }
  if (!tl_may_copy(vm, *s))
    return false;
  tl_list *copy = tl_list_new(vm, list->length + room);
  if (copy == NULL)
    return false;
  for (int64_t i = 0; i < list->length; i++) {
    tl_slot item = tl_borrow(list->items[i]);
    copy->items[i] = tl_escape(vm, &item, TL_CAUSE_ITEM);
  }
  copy->length = list->length;
  tl_made_copy(vm, tl_own_list(copy));
  if (tl_is_owned(*s))
    tl_drop(vm, *s);
  s->tag &= ~TL_OWNED;
  *out = copy;
  return true;
}
