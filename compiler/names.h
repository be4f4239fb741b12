// Names, each stored once: equal names are equal pointers.
//
// The parser interns identifiers, fields and keys; the resolver, lowering and
// emission compare addresses and index side tables by tl_name.id.

#pragma once

#include "compiler/arena.h"

// One name. Equal names are the same object, so they are compared by address.
typedef struct tl_name {
  const char *text;  // followed by a zero byte
  uint32_t nbytes;
  uint32_t hash;
  uint32_t id;  // 0, 1, 2 … in order of first appearance, for side tables
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
