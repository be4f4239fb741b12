// Lists, records and closures whose items are borrowed: the compiler knows who
// owns the items and that they outlive the container, which only slots refer
// to. Before it is kept by anything else, or a lender ends, it takes counts of
// its own.
#include "vm/array/array.h"
#include "vm/interp/function.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// The item at [i], counted from the container's start; NULL: there is none.
static tl_slot *item_at(tl_object *container, int64_t i, tl_cause *cause) {
  switch (container->kind) {
    case TL_KIND_LIST: {
      tl_list *list = (tl_list *)container;
      *cause = TL_CAUSE_ITEM;
      return i < list->length ? &list->items[i] : NULL;
    }
    case TL_KIND_RECORD: {
      tl_record *record = (tl_record *)container;
      *cause = TL_CAUSE_FIELD;
      return i < record->length ? &record->fields[i].value : NULL;
    }
    case TL_KIND_CLOSURE: {
      tl_closure *closure = (tl_closure *)container;
      *cause = TL_CAUSE_CAPTURE;
      return i < closure->capture_count ? &closure->captures[i] : NULL;
    }
    default:
      return NULL;
  }
}

static bool is_lent(const tl_slot *item) {
  return tl_is_counted(*item) && (item->object->flags & TL_LENT) != 0;
}

static bool is_small(tl_object *container, int depth, int *left) {
  tl_slot *item;
  tl_cause cause;
  for (int64_t i = 0; (item = item_at(container, i, &cause)) != NULL; i++)
    if (--*left < 0 ||
        (is_lent(item) &&
         (depth == 0 || !is_small(item->object, depth - 1, left))))
      return false;
  return true;
}

bool tl_lends_few(tl_object *container) {
  enum { FEW = 32, DEPTH = 5 };
  int left = FEW;
  return is_small(container, DEPTH, &left);
}

void tl_note_kept(tl_object *container) {
  tl_slot *item;
  tl_cause cause;
  bool lends = false;
  for (int64_t i = 0; (item = item_at(container, i, &cause)) != NULL; i++) {
    if (is_lent(item))
      tl_note_kept(item->object);
    lends |= is_lent(item) || (tl_is_counted(*item) && !tl_is_owned(*item));
  }
  if (!lends)
    container->flags &= (uint8_t)~TL_LENT;
}

tl_slot tl_lend(tl_vm *vm, tl_object *container, tl_slot *item,
                tl_cause cause) {
  if (!tl_is_counted(*item) || (container->flags & TL_KEEPING) != 0)
    return tl_escape(vm, item, cause);
  bool nests = is_lent(item);
  if (nests && !tl_lends_few(item->object)) {
    tl_keep_items(vm, item->object);
    nests = false;
  }
  if (tl_is_owned(*item) && !nests)
    return tl_escape(vm, item, cause);
  tl_slot stored = *item;
  if (tl_is_owned(stored))
    vm->stats.moves += vm->counting;
  else if (!nests)  // what is found in a container is whole by itself
    tl_hold(vm, stored, TL_CAUSE_VIEW);
  item->tag &= ~TL_OWNED;
  container->flags |= TL_LENT;
  return stored;
}

void tl_each_lent(tl_vm *vm, tl_object *container, tl_visit_lent *visit,
                  void *context) {
  tl_slot *item;
  tl_cause cause;
  if ((container->flags & TL_LENT) == 0)
    return;
  for (int64_t i = 0; (item = item_at(container, i, &cause)) != NULL; i++) {
    bool alive = tl_is_owned(*item) || visit(vm, item, cause, context);
    if (alive && is_lent(item))
      tl_each_lent(vm, item->object, visit, context);
  }
}

void tl_keep_items(tl_vm *vm, tl_object *container) {
  tl_slot *item;
  tl_cause cause;
  if ((container->flags & TL_LENT) == 0)
    return;
  // A list that grows is looked through once at most.
  container->flags =
      (uint8_t)((container->flags & ~(unsigned)TL_LENT) | TL_KEEPING);
  for (int64_t i = 0; (item = item_at(container, i, &cause)) != NULL; i++) {
    if (!tl_is_owned(*item))
      *item = tl_escape(vm, item, cause);
    else if (is_lent(item))
      tl_keep_items(vm, item->object);
  }
}
