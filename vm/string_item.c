// The items of string arrays. See string_item.h.
#include "vm/string_item.h"

#include "vm/vm.h"

// The slot that refers to the string, owning it if it is counted.
static tl_slot string_slot(tl_string *string) {
  bool immortal = (string->head.flags & TL_IMMORTAL) != 0;
  return (tl_slot){.tag = TL_TAG_STRING | (immortal ? 0 : TL_OWNED),
                   .string = string};
}

static void keep(tl_vm *vm, const tl_string_item *item) {
  tl_retain(vm, (tl_slot){.tag = TL_TAG_STRING, .string = item->string});
}

static void drop(tl_vm *vm, const tl_string_item *item) {
  tl_drop(vm, string_slot(item->string));
}

// --- Looking ----------------------------------------------------------------

bool tl_string_item_equal(const tl_string_item *a, const tl_string_item *b) {
  return tl_string_equal(a->string, b->string);
}

int tl_string_item_compare(const tl_string_item *a, const tl_string_item *b) {
  return tl_string_compare(a->string, b->string);
}

uint64_t tl_string_item_hash(const tl_string_item *item) {
  return tl_string_hash(item->string);
}

tl_slot tl_string_item_value(tl_vm *vm, const tl_string_item *item) {
  return tl_retain(vm, (tl_slot){.tag = TL_TAG_STRING, .string = item->string});
}

// --- Storing ----------------------------------------------------------------

tl_string_item tl_string_item_of(tl_string *string) {
  return (tl_string_item){string};
}

void tl_string_items_clear(tl_string_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) items[i].string = tl_empty_string();
}

// The old one last: what it counts may be all that keeps the new one's text.
static void replace(tl_vm *vm, tl_string_item *item, tl_string_item new) {
  tl_string_item old = *item;
  *item = new;
  drop(vm, &old);
}

void tl_string_item_put(tl_vm *vm, tl_string_item *item, tl_string *string) {
  tl_string_item new = tl_string_item_of(string);
  keep(vm, &new);
  replace(vm, item, new);
}

void tl_string_item_take(tl_vm *vm, tl_string_item *item, tl_slot *string) {
  tl_string_item new = tl_string_item_of(string->string);
  if (!tl_is_owned(*string))
    keep(vm, &new);
  *string = tl_none();
  replace(vm, item, new);
}

bool tl_string_item_set(tl_vm *vm, tl_string_item *item, const char *text,
                        size_t nbytes) {
  tl_string *string = tl_string_new(vm, text, nbytes);
  if (string == NULL)
    return false;
  replace(vm, item, tl_string_item_of(string));
  return true;
}

bool tl_string_item_join(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *a, const tl_string_item *b) {
  tl_string *joined = tl_string_concat(vm, a->string, b->string);
  if (joined == NULL)
    return false;
  replace(vm, item, tl_string_item_of(joined));
  return true;
}

void tl_string_item_copy(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *from) {
  keep(vm, from);
  replace(vm, item, *from);
}

// --- Counting ---------------------------------------------------------------

void tl_string_items_keep(tl_vm *vm, const tl_string_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) keep(vm, &items[i]);
}

void tl_string_items_drop(tl_vm *vm, const tl_string_item *items, int64_t n) {
  for (int64_t i = 0; i < n; i++) drop(vm, &items[i]);
}
