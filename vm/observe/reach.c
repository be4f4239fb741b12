// A walk over all that can be reached: a hash table of objects met, and a stack
// of those that wait. See reach.h. It needs no recursion, so that depth is
// bounded by memory alone.
#include "vm/observe/reach.h"

#include "vm/array/string_item.h"
#include "vm/bytecode/function.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// The host's allocator, past the VM's accounting.
void *tl_reach_resize(tl_reach *w, void *block, size_t old, size_t nbytes) {
  const tally_options *host = &w->vm->options;
  void *moved = host->resize(host->context, block, old, nbytes);
  if (moved == NULL && nbytes > 0)
    w->failed = true;
  return moved;
}

// The entry of an object, or the free one where it would be.
// One of the two always ends the search, as half of the table is free. The low
// bits of an address, which are the same for all objects, are left out of the
// hash.
static const void **find(const tl_reach *w, const void *object) {
  // Objects are aligned to 16 bytes at least.
  size_t at = (size_t)((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 20;
  for (;; at++) {
    const void **entry = &w->met[at & (w->met_capacity - 1)];
    if (*entry == object || *entry == NULL)
      return entry;
  }
}

// Keeps the table at most half full, so that a search ends soon.
static bool widen_met(tl_reach *w) {
  if (2 * w->met_count < w->met_capacity)
    return true;
  tl_reach wider = *w;
  wider.met_capacity = w->met_capacity == 0 ? 256 : 2 * w->met_capacity;
  size_t nbytes = wider.met_capacity * sizeof *w->met;
  wider.met = tl_reach_resize(w, NULL, 0, nbytes);
  if (wider.met == NULL)
    return false;
  for (size_t i = 0; !w->failed && i < wider.met_capacity; i++) {
    wider.met[i] = NULL;
    w->failed = !tl_poll_at(w->vm, (int64_t)i);
  }
  for (size_t i = 0; !w->failed && i < w->met_capacity; i++) {
    if (w->met[i] != NULL)
      *find(&wider, w->met[i]) = w->met[i];
    w->failed = !tl_poll_items(w->vm, TL_REACH_WORK);
  }
  if (w->failed) {
    tl_reach_resize(w, wider.met, nbytes, 0);
    return false;
  }
  if (w->met != NULL)
    tl_reach_resize(w, w->met, w->met_capacity * sizeof *w->met, 0);
  *w = wider;
  return true;
}

// Room for one more value that waits.
static bool widen_waiting(tl_reach *w) {
  if (w->waiting_count < w->waiting_capacity)
    return true;
  size_t capacity = 2 * w->waiting_capacity + 64;
  tl_slot *waiting =
      tl_reach_resize(w, w->waiting, w->waiting_capacity * sizeof *waiting,
                      capacity * sizeof *waiting);
  if (waiting == NULL)
    return false;
  w->waiting = waiting;
  w->waiting_capacity = capacity;
  return true;
}

// Room in both tables first, so that a failure leaves them consistent.
//
//  met       a set of addresses       an object is met once
//  waiting   a stack of values        those whose items are to be looked at
//
bool tl_reach_meet(tl_reach *w, tl_slot value) {
  if (w->failed || !widen_met(w) || !widen_waiting(w))
    return false;
  const void **entry = find(w, value.pointer);
  if (*entry != NULL)
    return false;
  *entry = value.pointer;
  w->met_count++;
  w->waiting[w->waiting_count++] = value;
  return true;
}

// Before the first object there is no table to be searched.
bool tl_reach_has(const tl_reach *w, const tl_object *object) {
  return w->met_count > 0 && *find(w, object) != NULL;
}

// The newest first: the order does not matter to any caller, and the list is
// then a stack.
bool tl_reach_next(tl_reach *w, tl_slot *out) {
  if (w->failed || w->waiting_count == 0)
    return false;
  *out = w->waiting[--w->waiting_count];
  return true;
}

// Also after a failure, when one of the tables may be missing.
void tl_reach_end(tl_reach *w) {
  if (w->met != NULL)
    tl_reach_resize(w, w->met, w->met_capacity * sizeof *w->met, 0);
  if (w->waiting != NULL)
    tl_reach_resize(w, w->waiting, w->waiting_capacity * sizeof *w->waiting, 0);
}

// --- Inside objects ---------------------------------------------------------

// Slots that lie side by side.
static bool each_slot(const tl_slot *slots, int64_t count, tl_part_visit *visit,
                      void *context) {
  for (int64_t i = 0; i < count; i++)
    if (!visit(context, i, slots[i]))
      return false;
  return true;
}

// A view refers to its block, an array of strings to long texts.
static bool each_of_array(const tl_array *a, tl_part_visit *visit,
                          void *context) {
  if (tl_is_view(a))
    return visit(context, 0, tl_lend_array(tl_array_owner(a)));
  const tl_string_item *items = tl_string_items(a);
  for (int64_t i = 0; a->head.dtype == TL_STRING && i < a->size; i++) {
    tl_string *text = tl_string_item_object(&items[i]);
    if (text != NULL &&
        !visit(context, i, (tl_slot){.tag = TL_TAG_STRING, .string = text}))
      return false;
  }
  return true;
}

bool tl_each_part(tl_slot s, tl_part_visit *visit, void *context) {
  switch (s.object->kind) {
    case TL_KIND_ARRAY:
      return each_of_array(s.array, visit, context);
    case TL_KIND_LIST:
      return each_slot(s.list->items, s.list->length, visit, context);
    case TL_KIND_RECORD:
      for (int64_t i = 0; i < s.record->length; i++)
        if (!visit(context, i, s.record->fields[i].value))
          return false;
      return true;
    case TL_KIND_CLOSURE: {
      const tl_closure *c = s.pointer;
      return each_slot(c->captures, c->capture_count, visit, context);
    }
    case TL_KIND_NESTED:
      return each_slot(s.nested->parts, s.nested->count, visit, context);
    default:
      return true;
  }
}
