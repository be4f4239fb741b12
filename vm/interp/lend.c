// Lists, records and closures whose items are borrowed, or show or hold what
// is: the compiler knows who owns that and that it outlives the container,
// which only slots refer to, or others like it. Before it is kept by anything
// else, or a lender ends, it takes counts of its own.
#include "vm/array/array.h"
#include "vm/interp/function.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// How deep containers that borrow stand in it; those of its own items: 0.
static unsigned nest_of(const tl_object *container) {
  return (container->flags & TL_NEST_BITS) / TL_NEST;
}

static bool shows_lent_block(tl_slot s) {
  return tl_is_array(s) && tl_is_view(s.array) &&
         (s.object->flags & TL_HOLD) == 0;
}

static bool has_lent_items(tl_slot s) {
  return tl_is_counted(s) && !tl_is_array(s) &&
         (s.object->flags & TL_LENT) != 0;
}

// Whether the heap slot depends on what nothing in the heap keeps.
static bool is_lent(tl_slot item) {
  return tl_is_owned(item) ? shows_lent_block(item) || has_lent_items(item)
                           : tl_is_counted(item);
}

tl_slot tl_lend(tl_vm *vm, tl_object *container, tl_slot *item,
                tl_cause cause) {
  unsigned nest = nest_of(container);
  if (!is_lent(*item) || (container->flags & TL_KEEPING) != 0)
    return tl_escape(vm, item, cause);
  if (tl_is_owned(*item) && has_lent_items(*item)) {
    unsigned within = nest_of(item->object) + 1;
    if (within > TL_NEST_MOST)
      return tl_escape(vm, item, cause);
    nest = within > nest ? within : nest;
  }
  container->flags = (uint8_t)((container->flags & ~(unsigned)TL_NEST_BITS) |
                               TL_LENT | nest * TL_NEST);
  vm->stats.moves += vm->counting && tl_is_owned(*item);
  return tl_pass_on(item);
}

void tl_each_lent(tl_vm *vm, tl_object *container, tl_visit_lent *visit,
                  void *context) {
  if ((container->flags & TL_LENT) == 0)
    return;
  if (container->kind == TL_KIND_LIST) {
    tl_list *list = (tl_list *)container;
    for (int64_t i = 0; i < list->length; i++)
      if (is_lent(list->items[i]))
        visit(vm, &list->items[i], TL_CAUSE_ITEM, context);
  } else if (container->kind == TL_KIND_RECORD) {
    tl_record *record = (tl_record *)container;
    for (int64_t i = 0; i < record->length; i++)
      if (is_lent(record->fields[i].value))
        visit(vm, &record->fields[i].value, TL_CAUSE_FIELD, context);
  } else if (container->kind == TL_KIND_CLOSURE) {
    tl_closure *closure = (tl_closure *)container;
    for (uint32_t i = 0; i < closure->capture_count; i++)
      if (is_lent(closure->captures[i]))
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
        (uint8_t)((container->flags & ~(unsigned)(TL_LENT | TL_NEST_BITS)) |
                  TL_KEEPING);
}
