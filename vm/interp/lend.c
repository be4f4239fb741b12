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

void tl_each_lent(tl_vm *vm, tl_object *container, tl_visit_lent *visit,
                  void *context) {
  if ((container->flags & TL_LENT) == 0)
    return;
  if (container->kind == TL_KIND_LIST) {
    tl_list *list = (tl_list *)container;
    for (int64_t i = 0; i < list->length; i++)
      if (!tl_is_owned(list->items[i]))
        visit(vm, &list->items[i], TL_CAUSE_ITEM, context);
  } else if (container->kind == TL_KIND_RECORD) {
    tl_record *record = (tl_record *)container;
    for (int64_t i = 0; i < record->length; i++)
      if (!tl_is_owned(record->fields[i].value))
        visit(vm, &record->fields[i].value, TL_CAUSE_FIELD, context);
  } else if (container->kind == TL_KIND_CLOSURE) {
    tl_closure *closure = (tl_closure *)container;
    for (uint32_t i = 0; i < closure->capture_count; i++)
      if (!tl_is_owned(closure->captures[i]))
        visit(vm, &closure->captures[i], TL_CAUSE_CAPTURE, context);
  }
}

static void keep(tl_vm *vm, tl_slot *item, tl_cause cause, void *context) {
  (void)context;
  *item = tl_escape(vm, item, cause);
}

void tl_keep_items(tl_vm *vm, tl_object *container) {
  tl_each_lent(vm, container, keep, NULL);
  // A list that grows is looked through once at most.
  if ((container->flags & TL_LENT) != 0)
    container->flags =
        (uint8_t)((container->flags & ~(unsigned)TL_LENT) | TL_KEEPING);
}
