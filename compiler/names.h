// Names, each stored once: equal names are equal pointers.

#ifndef TALLY_COMPILER_NAMES_H
#define TALLY_COMPILER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "compiler/arena.h"

typedef struct tl_name {
  const char *text;  // followed by a zero byte
  uint32_t nbytes;
  uint32_t hash;
  uint32_t id;  // 0, 1, 2 … in order of first appearance, for side tables
} tl_name;

typedef struct tl_names {
  tl_arena *arena;
  tl_name **slots;
  uint32_t capacity, count;
} tl_names;

void tl_names_open(tl_names *names, tl_arena *arena);

// The name that has exactly these bytes; NULL when memory fails. Identifiers
// are looked up by their NFC form (tl_names_get_nfc), string keys as they are.
const tl_name *tl_names_get(tl_names *names, const char *text, size_t nbytes);
const tl_name *tl_names_get_nfc(tl_names *names, const char *text,
                                size_t nbytes);

#endif
