// The table of names: open addressing with linear probing, at most half full.
//
// Interning makes a comparison of names one of pointers.

#include "compiler/names.h"

#include <string.h>
#include <utf8proc.h>

#define FIRST_CAPACITY 64

void tl_names_open(tl_names *names, tl_arena *arena) {
  *names = (tl_names){.arena = arena};
}

// FNV-1a (Fowler, Noll and Vo): the keys are short, and a hostile source could
// at worst make its own compilation slow.
static uint32_t hash_text(const char *text, size_t nbytes) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < nbytes; i++)
    hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  return hash;
}

// The slot that holds the name, or the empty one where it belongs.
static tl_name **find_slot(const tl_names *names, const char *text,
                           size_t nbytes, uint32_t hash) {
  // The capacity is a power of two.
  uint32_t mask = names->capacity - 1;
  for (uint32_t i = hash & mask;; i = (i + 1) & mask) {
    tl_name *name = names->slots[i];
    if (!name)
      return &names->slots[i];
    if (name->hash == hash && name->nbytes == nbytes &&
        memcmp(name->text, text, nbytes) == 0)
      return &names->slots[i];
  }
}

// Doubles the table. The old one stays in the arena: all old tables together
// are no larger than the new one.
static bool grow(tl_names *names) {
  tl_names old = *names;
  names->capacity = old.capacity ? old.capacity * 2 : FIRST_CAPACITY;
  names->slots = TL_ARENA_ARRAY(names->arena, tl_name *, names->capacity);
  if (!names->slots) {
    *names = old;
    return false;
  }
  for (uint32_t i = 0; i < old.capacity; i++) {
    tl_name *name = old.slots[i];
    if (name)
      *find_slot(names, name->text, name->nbytes, name->hash) = name;
  }
  return true;
}

// A new name with a copy of its text; NULL when memory fails.
static tl_name *add_name(tl_names *names, const char *text, size_t nbytes,
                         uint32_t hash) {
  struct {
    tl_name name;
    tl_name_notes notes;
  } *made = tl_arena_alloc(names->arena, sizeof *made);
  char *copy = tl_arena_text(names->arena, text, nbytes);
  if (!made || !copy)
    return NULL;
  made->name = (tl_name){copy, (uint32_t)nbytes, hash, &made->notes};
  names->count++;
  return &made->name;
}

// The text is copied, so the source need not stay.
const tl_name *tl_names_get(tl_names *names, const char *text, size_t nbytes) {
  if (names->count >= names->capacity / 2 && !grow(names))
    return NULL;
  uint32_t hash = hash_text(text, nbytes);
  tl_name **slot = find_slot(names, text, nbytes, hash);
  if (!*slot)
    *slot = add_name(names, text, nbytes, hash);
  return *slot;
}

// ASCII text is its own normal form, so most names need no normalisation.
static bool is_ascii(const char *text, size_t nbytes) {
  for (size_t i = 0; i < nbytes; i++)
    if ((unsigned char)text[i] >= 0x80)
      return false;
  return true;
}

// Decomposes [text] into code points, at most [capacity] of them in [out].
// Returns how many there are, also where [out] is NULL; negative on an error.
static utf8proc_ssize_t decompose(const char *text, size_t nbytes,
                                  utf8proc_int32_t *out,
                                  utf8proc_ssize_t capacity) {
  return utf8proc_decompose((const utf8proc_uint8_t *)text,
                            (utf8proc_ssize_t)nbytes, out, capacity,
                            UTF8PROC_STABLE | UTF8PROC_COMPOSE);
}

// utf8proc's own utf8proc_NFC allocates with malloc, past the limits of the
// VM; this decomposes into the arena and composes again in place.
const tl_name *tl_names_get_nfc(tl_names *names, const char *text,
                                size_t nbytes) {
  // Most names are ASCII.
  if (is_ascii(text, nbytes))
    return tl_names_get(names, text, nbytes);
  utf8proc_ssize_t count = decompose(text, nbytes, NULL, 0);
  // One more: utf8proc_reencode ends the text with a zero byte.
  size_t room = count < 0 ? 1 : (size_t)count + 1;
  utf8proc_int32_t *codes =
      TL_ARENA_ARRAY(names->arena, utf8proc_int32_t, room);
  if (!codes)
    return NULL;
  if (count >= 0)
    count = decompose(text, nbytes, codes, count);
  if (count >= 0)
    count = utf8proc_reencode(codes, count, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  // Text that utf8proc cannot normalise keeps its bytes: the lexer has let it
  // through as a name, so it still has to mean something.
  return count < 0 ? tl_names_get(names, text, nbytes)
                   : tl_names_get(names, (const char *)codes, (size_t)count);
}
