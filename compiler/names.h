// Names, each stored once: equal names are equal pointers.
//
// The parser interns identifiers, fields and keys; the resolver and lowering
// compare addresses, and lowering notes in each what it has made of it.

#pragma once

#include "compiler/arena.h"

// What lowering notes of a name; 0: nothing so far.
typedef struct tl_name_notes {
  uint32_t unit;    // its index among the names of the unit, and 1
  uint32_t record;  // the last record literal that has it, counted from 1
} tl_name_notes;

// One name. Equal names are the same object, so they are compared by address.
typedef struct tl_name {
  const char *text;  // followed by a zero byte
  uint32_t nbytes;
  uint32_t hash;
  tl_name_notes *notes;
} tl_name;

// The table of a compilation's names; it lives in [arena].
typedef struct tl_names {
  tl_arena *arena;
  tl_name **slots;
  uint32_t capacity, count;
} tl_names;

// Makes the table empty; nothing is allocated yet.
void tl_names_open(tl_names *names, tl_arena *arena);

// The name that has exactly these bytes, made if need be; NULL when memory
// fails. String keys are looked up like this.
const tl_name *tl_names_get(tl_names *names, const char *text, size_t nbytes);
// The same for the NFC form of the bytes: identifiers and fields, so that é is
// one name however it was typed.
const tl_name *tl_names_get_nfc(tl_names *names, const char *text,
                                size_t nbytes);
