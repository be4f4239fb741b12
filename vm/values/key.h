// Keys of records: strings, integers, bools, and lists of such.
//
// A key is one word, whose low three bits say what it is, so that a field with
// a string as its key, as nearly all have, is as small and as quick to find as
// if there were no others:
//
//   000  a string         the pointer itself
//   xx1  an integer       in the other 63 bits
//   010  a bool           in bit 3
//   100  a list           the pointer and 4
//   110  an integer that 63 bits do not hold: a list with it alone, and 6
//
// Integers are equal by value whatever their dtype, and are given back as weak
// int64; a bool equals no integer. Floats are rejected: two that look alike may
// differ. The items of a list that is a key are plain, too: int64, bools,
// strings and lists of such. No key changes while a record has it, since
// whoever writes to a list that others refer to writes to a copy.
#pragma once

#include "vm/string.h"

// One key; of a string, a list or a wide integer it holds a count.
typedef struct tl_key {
  uint64_t word;
} tl_key;

enum {
  TL_KEY_STRING = 0,
  TL_KEY_INTEGER = 1,
  TL_KEY_BOOL = 2,
  TL_KEY_LIST = 4,
  TL_KEY_WIDE = 6,
  TL_KEY_BITS = 7,
};
// Room for a key as text in a message.
enum { TL_KEY_TEXT = 120 };

// The usual kind: its word is the pointer itself.
static inline bool tl_key_is_string(tl_key key) {
  return (key.word & TL_KEY_BITS) == TL_KEY_STRING;
}
// Borrows the string.
static inline tl_key tl_key_of_string(const tl_string *string) {
  return (tl_key){(uint64_t)(uintptr_t)string};
}
// The key's string, borrowed, or NULL for another kind.
static inline tl_string *tl_key_string(tl_key key) {
  return tl_key_is_string(key) ? (tl_string *)(uintptr_t)key.word : NULL;
}
// The object that the key counts, or NULL; it may be immortal.
static inline tl_object *tl_key_object(tl_key key) {
  if ((key.word & 1) != 0 || (key.word & TL_KEY_BITS) == TL_KEY_BOOL)
    return NULL;
  return (tl_object *)(uintptr_t)(key.word & ~(uint64_t)TL_KEY_BITS);
}
// The object as a slot that borrows it, or none, for walks over all objects.
static inline tl_slot tl_key_counted(tl_key key) {
  tl_object *object = tl_key_object(key);
  if (object == NULL)
    return tl_none();
  return (tl_slot){.tag = tl_key_is_string(key) ? TL_TAG_STRING : TL_TAG_LIST,
                   .object = object};
}

// The key as a value, borrowed.
tl_slot tl_key_slot(tl_key key);

// Why a value may be no key: it, or an item of it, is of another kind; or a
// list is larger than what a look-up should walk, which happens on the C stack.
typedef enum tl_key_fault {
  TL_KEY_FINE,
  TL_KEY_OTHER,
  TL_KEY_DEEP,
  TL_KEY_MANY
} tl_key_fault;
// How deep a list that is a key may nest, and how many items it may have in
// all, where a text of TL_LONG_TEXT bytes is one more.
enum { TL_KEY_DEPTH = 32, TL_KEY_ITEMS = 1 << 16 };
// Whether [s] may be a key, and if not why; *wrong is then the value or item at
// fault, borrowed.
tl_key_fault tl_key_fault_of(tl_slot s, tl_slot *wrong);
// Whether [s] is a key for certain that is looked up at once: no list, and no
// long text.
static inline bool tl_key_is_plain(tl_slot s) {
  return (s.tag & (TL_CLASS_I64 | TL_CLASS_BOOL)) != 0 ||
         (tl_is_string(s) && s.string->length < TL_LONG_TEXT);
}
// Whether [s] is a key and no long text, for which tl_key_check
// (vm/index/select.h) polls; that says why it is none. Walks a list.
static inline bool tl_key_allowed(tl_slot s) {
  tl_slot wrong;
  return tl_key_is_plain(s) ||
         (!tl_is_string(s) && tl_key_fault_of(s, &wrong) == TL_KEY_FINE);
}
// Makes the key of a value that may be one. *s moves in, or is retained. False
// after tl_fail (kind memory), with *s intact.
bool tl_key_make(tl_vm *vm, tl_slot *s, tl_key *out);
// Counts the key once more.
void tl_key_retain(tl_vm *vm, tl_key key);
// Gives up one count of the key.
static inline void tl_key_drop(tl_vm *vm, tl_key key) {
  tl_slot s = tl_key_counted(key);
  if (tl_is_none(s) || (s.object->flags & TL_IMMORTAL) != 0)
    return;
  s.tag |= TL_OWNED;
  tl_drop(vm, s);
}

// Whether a value, which may be a key, is this key.
// Integers are compared by value; a bool is no integer.
bool tl_key_is(tl_key key, tl_slot s);
// The hash of a value that may be a key: the same for the same keys.
uint64_t tl_key_hash(tl_slot s);
// The word of an integer of up to 63 bits, or of a bool, which is compared
// alone; false for other values.
bool tl_key_word(tl_slot s, uint64_t *word);
// The hash of such a word.
uint64_t tl_key_word_hash(uint64_t word);

// The key as the language writes it, cut where it is long; a string without
// quotes. Returns [text].
const char *tl_key_text(tl_slot s, char text[TL_KEY_TEXT]);
