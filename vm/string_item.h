// The items of string arrays.
//
// An array's item and a slot's string differ: reading an item gives a string,
// storing one takes what it needs of it. Everything that looks at items, counts
// or moves them goes through these functions.
#ifndef TALLY_VM_STRING_ITEM_H
#define TALLY_VM_STRING_ITEM_H

#include "vm/array.h"
#include "vm/string.h"

// The items of an array of strings that is dense, or the first one.
static inline tl_string_item *tl_string_items(const tl_array *a) {
  return (tl_string_item *)(void *)a->data;
}
static inline tl_string_item *tl_string_item_at(const char *item) {
  return (tl_string_item *)(uintptr_t)item;
}

// --- Looking ----------------------------------------------------------------

static inline size_t tl_string_item_length(const tl_string_item *item) {
  return item->string->length;  // bytes
}
// The bytes, which lie in the item or in what it refers to. No NUL follows.
static inline const char *tl_string_item_text(const tl_string_item *item) {
  return item->string->text;
}
// The string that the item counts, or NULL.
static inline tl_string *tl_string_item_object(const tl_string_item *item) {
  return item->string;
}
bool tl_string_item_equal(const tl_string_item *a, const tl_string_item *b);
// By code points, as tl_string_compare.
int tl_string_item_compare(const tl_string_item *a, const tl_string_item *b);
// The same for equal items, and of nothing else's hash.
uint64_t tl_string_item_hash(const tl_string_item *item);

// The item as a string: owned, or unset after tl_fail.
tl_slot tl_string_item_value(tl_vm *vm, const tl_string_item *item);

// --- Storing ----------------------------------------------------------------

// An item that counts nothing, good while the string lives: what an array's
// items are compared with.
tl_string_item tl_string_item_of(tl_string *string);
// Makes uninitialised items "", as which all are born.
void tl_string_items_clear(tl_string_item *items, int64_t n);
// Replaces the item by a string, of which it gets a count where it needs one;
// the second takes what the slot owns.
void tl_string_item_put(tl_vm *vm, tl_string_item *item, tl_string *string);
void tl_string_item_take(tl_vm *vm, tl_string_item *item, tl_slot *string);
// Replaces the item by text, valid UTF-8. False after tl_fail leaves it.
bool tl_string_item_set(tl_vm *vm, tl_string_item *item, const char *text,
                        size_t nbytes);
// Replaces the item by the text of one followed by that of another.
bool tl_string_item_join(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *a, const tl_string_item *b);
// Replaces the item by a copy of another.
void tl_string_item_copy(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *from);

// --- Counting, where items were moved as bytes ------------------------------

void tl_string_items_keep(tl_vm *vm, const tl_string_item *items, int64_t n);
void tl_string_items_drop(tl_vm *vm, const tl_string_item *items, int64_t n);

#endif
