// The items of string arrays.
//
// An item is 16 bytes. Up to 12 bytes of text lie in it, with zeros behind; of
// a longer text it has the first four bytes and a count of a string:
//
//   "naïve"              6 'n' 'a' 0xc3 0xaf | 'v' 'e' 0 0 0 0 0 0
//   "no room for this"  16 'n' 'o' ' '  'r'  | string
//
// So most items are equal, ordered and hashed by two words of the array, and an
// array of short texts is one block. A slot's string is an object always:
// reading an item makes one or counts the one that is there. Everything that
// looks at items, counts or moves them goes through these functions.
#pragma once

#include "vm/array/array.h"
#include "vm/string.h"

enum { TL_SHORT_TEXT = 12 };  // bytes that lie in an item

// The items of a dense array of strings, or the first item of any.
static inline tl_string_item *tl_string_items(const tl_array *a) {
  return (tl_string_item *)(void *)a->data;
}
// An address from a walk as the item that lies there.
static inline tl_string_item *tl_string_item_at(const char *item) {
  return (tl_string_item *)(uintptr_t)item;
}

// --- Looking ----------------------------------------------------------------

// Whether the text lies in the item itself.
static inline bool tl_string_item_is_short(const tl_string_item *item) {
  return item->length <= TL_SHORT_TEXT;
}
// The text's length in bytes. Lengths that do not fit 32 bits are read from
// the string.
static inline size_t tl_string_item_length(const tl_string_item *item) {
  return item->length < UINT32_MAX ? item->length : item->string->length;
}
// The bytes, which lie in the item or in the string that it refers to. No NUL
// follows. Borrowed from the item.
static inline const char *tl_string_item_text(const tl_string_item *item) {
  return tl_string_item_is_short(item)
             ? (const char *)item + offsetof(tl_string_item, start)
             : item->string->text;
}
// The string that the item counts, or NULL where the item has its text itself.
// Returns borrowed.
static inline tl_string *tl_string_item_object(const tl_string_item *item) {
  return tl_string_item_is_short(item) ? NULL : item->string;
}
// One of the two words of an item, 0 or 1.
static inline uint64_t tl_string_item_word(const tl_string_item *item,
                                           int index) {
  uint64_t word;
  memcpy(&word, (const char *)item + 8 * index, 8);
  return word;
}
// Whether the texts are equal, byte by byte. The first words differ where the
// lengths or the first four bytes do; of a short text the second word has all
// the rest, and is looked at anyway, as which texts differ is not foreseen.
static inline bool tl_string_item_equal(tl_vm *vm, const tl_string_item *a,
                                        const tl_string_item *b) {
  const uint64_t first = tl_string_item_word(a, 0) ^ tl_string_item_word(b, 0);
  const uint64_t rest = tl_string_item_word(a, 1) ^ tl_string_item_word(b, 1);
  return tl_string_item_is_short(a)
             ? (first | rest) == 0
             : first == 0 && tl_string_same(vm, a->string, b->string);
}
// A word whose bytes are in the order of memory as a number, the first one
// highest.
static inline uint64_t tl_word_in_order(uint64_t word) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  return word;
#else
  return __builtin_bswap64(word);
#endif
}
// The order of two texts of which one may be long.
int tl_string_item_compare_long(tl_vm *vm, const tl_string_item *a,
                                const tl_string_item *b);
// -1, 0 or 1 by code points, as tl_string_compare. The zeros behind a short
// text are not above any byte of another, so they do not disturb the order.
static inline int tl_string_item_compare(tl_vm *vm, const tl_string_item *a,
                                         const tl_string_item *b) {
  // Without the length, which comes first in the word.
  const uint32_t p = (uint32_t)tl_word_in_order(tl_string_item_word(a, 0));
  const uint32_t q = (uint32_t)tl_word_in_order(tl_string_item_word(b, 0));
  if (p != q)
    return p < q ? -1 : 1;
  if (!tl_string_item_is_short(a) || !tl_string_item_is_short(b))
    return tl_string_item_compare_long(vm, a, b);
  const uint64_t x = tl_word_in_order(tl_string_item_word(a, 1));
  const uint64_t y = tl_word_in_order(tl_string_item_word(b, 1));
  return x != y ? (x > y) - (x < y)
                : (a->length > b->length) - (a->length < b->length);
}
// A hash of the text: equal items have the same.
uint64_t tl_string_item_hash(const tl_string_item *item);

// The item as a string: owned (or immortal), or unset after tl_fail.
tl_slot tl_string_item_value(tl_vm *vm, const tl_string_item *item);

// --- Storing ----------------------------------------------------------------

// Copies up to 16 bytes by moves of fixed sizes, which may overlap each other.
static inline void tl_copy_short(char *to, const char *from, size_t n) {
  if (n >= 8) {
    uint64_t low, high;
    memcpy(&low, from, 8);
    memcpy(&high, from + n - 8, 8);
    memcpy(to, &low, 8);
    memcpy(to + n - 8, &high, 8);
  } else if (n >= 4) {
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + n - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + n - 4, &last, 4);
  } else if (n > 0) {
    to[0] = from[0];
    to[n / 2] = from[n / 2];
    to[n - 1] = from[n - 1];
  }
}

// An item that counts nothing, good while the string lives: for comparing with
// the items of an array.
tl_string_item tl_string_item_of(tl_string *string);
// Makes [n] uninitialised items "", which is all zeros.
void tl_string_items_clear(tl_string_item *items, int64_t n);
// Replaces the item by a string, of which it gets a count where the text is
// long.
void tl_string_item_put(tl_vm *vm, tl_string_item *item, tl_string *string);
// The same, but takes the slot's string, owned or not; the slot is empty
// afterwards.
void tl_string_item_take(tl_vm *vm, tl_string_item *item, tl_slot *string);
// Replaces the item by text, which is valid UTF-8. False after tl_fail leaves
// it as it was.
bool tl_string_item_set(tl_vm *vm, tl_string_item *item, const char *text,
                        size_t nbytes);
// Replaces the item by the text of [a] followed by that of [b]; either may be
// the item itself. False after tl_fail leaves it as it was.
bool tl_string_item_join(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *a, const tl_string_item *b);
// Replaces the item by a copy of another, which counts the same string.
void tl_string_item_copy(tl_vm *vm, tl_string_item *item,
                         const tl_string_item *from);

// --- Counting, where items were moved as bytes ------------------------------

// Counts the strings of [n] items that were copied as bytes.
void tl_string_items_keep(tl_vm *vm, const tl_string_item *items, int64_t n);
// Drops the strings of [n] items that are about to vanish or were moved over.
void tl_string_items_drop(tl_vm *vm, const tl_string_item *items, int64_t n);
