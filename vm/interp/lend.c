// Lists, records and closures whose items are borrowed: the compiler knows who
// owns the items and that they outlive the container, which only slots refer
// to. Before it is kept by anything else, or a lender ends, it takes counts of
// its own.
#include "vm/array/array.h"
#include "vm/interp/function.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

tl_slot tl_lend(tl_vm *vm, tl_object *container, tl_slot *item,
                tl_cause cause) {
  if (tl_is_owned(*item) || !tl_is_counted(*item) ||
      (container->flags & TL_KEEPING) != 0)
    return tl_escape(vm, item, cause);
  // What is found in a container is whole by itself.
  tl_hold(vm, *item, TL_CAUSE_VIEW);
  container->flags |= TL_LENT;
  return *item;
}

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

void tl_each_lent(tl_vm *vm, tl_object *container, tl_visit_lent *visit,
                  void *context) {
  tl_slot *item;
  tl_cause cause;
  if ((container->flags & TL_LENT) == 0)
    return;
  for (int64_t i = 0; (item = item_at(container, i, &cause)) != NULL; i++) {
    if (!tl_is_owned(*item))
      visit(vm, item, cause, context);
    else if (is_lent(item))
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
