// Strings cut out of one text, where the same piece often comes again: as the
// words of a text or a column of a table do. A piece that was met lately is the
// same string, so it costs a count instead of memory, and as a key of a record
// it is found by its address.
#ifndef TALLY_STDLIB_INTERNER_H
#define TALLY_STDLIB_INTERNER_H

#include "vm/string.h"

typedef struct tl_interner {
  tl_vm *vm;
  tl_string **met;  // by hash, borrowed; NULL: strings are made one by one
  size_t count;     // places of it, a power of two
  uint32_t asked, found;
} tl_interner;

// For pieces of a text of [nbytes]. Every string that it gives must live until
// it is closed. Never fails.
void tl_interner_open(tl_interner *interner, tl_vm *vm, size_t nbytes);
// Frees the table. To be called before any of the strings is dropped.
void tl_interner_close(tl_interner *interner);
// Returns owned, or NULL after tl_fail. A piece of more than 64 bytes is a new
// string each time.
tl_string *tl_intern(tl_interner *interner, const char *text, size_t nbytes);

#endif
