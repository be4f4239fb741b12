// Lists: making, growing and copying them. See list.h. A list is one block,
// which moves when it grows; so functions that may grow one take the place of
// its pointer.

#include "vm/values/list.h"

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

// --- The gap in front -------------------------------------------------------

// Moves the list [count] places up: its first items are gone. What is not
// moved are the items that are left.
static tl_list *move_up(tl_list *list, int64_t count) {
  size_t nbytes = (size_t)count * sizeof(tl_slot),
         gap = tl_gap_of(&list->head) + nbytes;
  tl_list *up = (tl_list *)(void *)((char *)list + nbytes);
  memmove(up, list, sizeof *list);
  ((size_t *)(void *)up)[-1] = gap;
  up->head.flags |= TL_GAP;
  up->head.nbytes -= nbytes;
  up->capacity -= count;
  return up;
}

// Moves the list down to the start of its block.
static tl_list *move_down(tl_list *list) {
  size_t gap = tl_gap_of(&list->head);
  tl_list *down = (tl_list *)(void *)((char *)list - gap);
  memmove(down, list, sizeof *list + (size_t)list->length * sizeof(tl_slot));
  down->head.flags &= (uint8_t)~TL_GAP;
  down->head.nbytes += gap;
  down->capacity += (int64_t)(gap / sizeof(tl_slot));
  return down;
}

// A gap as large as what is left is closed: half of the block at least has been
// given up since it was opened.
void tl_list_narrow(tl_vm *vm, tl_list **list, int64_t start, int64_t length) {
  tl_list *l = *list;
  int64_t end = start + length, old = l->length;
  for (int64_t i = 0; i < start; i++) tl_drop(vm, l->items[i]);
  for (int64_t i = end; i < old; i++) tl_drop(vm, l->items[i]);
  l->length = end;
  if (start > 0) {
    l = move_up(l, start);
    l->length = length;
    if (tl_gap_of(&l->head) / sizeof(tl_slot) > (size_t)length)
      l = move_down(l);
  }
  *list = l;
}

// --- Growing ----------------------------------------------------------------

// Grows by half, to whole lines of 64 bytes, so that pushing is O(1) on
// average.
static bool grow(tl_vm *vm, tl_list **list, int64_t room) {
  tl_list *old = *list;
  // Half as much room as there are items, or the next gap would be closed soon.
  if (tl_gap_of(&old->head) > 0) {
    *list = old = move_down(old);
    if (old->capacity - old->length >= room + old->length / 2)
      return true;
  }
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

// Makes room for more items.
static inline bool list_reserve(tl_vm *vm, tl_list **list, int64_t room) {
  return (*list)->capacity - (*list)->length >= room || grow(vm, list, room);
}

// A count for whatever has one: numbers are only copied.
static inline void put_item(tl_vm *vm, tl_slot *to, tl_slot *item) {
  tl_slot kept = *item;
  if (tl_is_heap(kept))
    kept = tl_escape(vm, item, TL_CAUSE_ITEM);
  tl_copy_slot(to, &kept);
}

// Room first: once the item has moved nothing can fail. Who makes a long list
// can be interrupted.
bool tl_list_push(tl_vm *vm, tl_list **list, tl_slot *item) {
  if (!tl_poll_at(vm, (*list)->length))
    return false;
  if (!list_reserve(vm, list, 1))
    return false;
  tl_list_put(vm, *list, item);
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

// Each item is counted once more.
tl_list *tl_list_copy(tl_vm *vm, const tl_list *list, int64_t room) {
  tl_list *copy = tl_list_new(vm, list->length + room);
  if (copy == NULL)
    return NULL;
  for (; copy->length < list->length; copy->length++) {
    if (!tl_poll_at(vm, copy->length)) {
      tl_drop(vm, tl_own_list(copy));
      return NULL;
    }
    tl_slot item = tl_borrow(list->items[copy->length]);
    put_item(vm, &copy->items[copy->length], &item);
  }
  return copy;
}

// A list that borrows items counts them first (tl_may_change), since a change
// may end what it borrows from.
bool tl_list_unique(tl_vm *vm, tl_slot *s, int64_t room, tl_list **out) {
  tl_list *list = s->list;
  if (tl_may_change(vm, *s)) {
    tl_changed_in_place(vm, *s);
    if (!list_reserve(vm, &list, room))
      return false;
  } else {
    list = tl_may_copy(vm, *s) ? tl_list_copy(vm, list, room) : NULL;
    if (list == NULL)
      return false;
    tl_made_copy(vm, tl_own_list(list));
    tl_drop(vm, *s);
  }
  s->tag &= ~TL_OWNED;
  *out = list;
  return true;
}

// The list counts the item, so the count of the caller is dropped in any case.
bool tl_list_push_own(tl_vm *vm, tl_list **list, tl_slot item) {
  return tl_drop_after(vm, tl_list_push(vm, list, &item), &item);
}

// A list that is not whole must not be seen.
bool tl_list_give(tl_vm *vm, tl_list *list, bool ok, tl_slot *out) {
  if (ok && list != NULL)
    *out = tl_own_list(list);
  else if (list != NULL)
    tl_drop(vm, tl_own_list(list));
  return ok && list != NULL;
}
