// What the library and the host offer by name.
#ifndef TALLY_VM_DOCUMENTATION_H
#define TALLY_VM_DOCUMENTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// A function or a constant; module NULL for the global ones.
typedef struct tl_documented {
  const char *module, *name;
  const char *params;  // NULL for a constant
  const char *doc;     // NULL: that many texts of tl_packed_docs come before
  size_t docs_before;
} tl_documented;

// The library's rows in order, then its constants, then what its modules have
// in Tally, then the host's functions. False behind the last.
bool tl_documented_at(const tally_vm *vm, size_t index, tl_documented *out);

void tl_docs_close(tally_vm *vm);

#endif
