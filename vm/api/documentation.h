// What the library and the host offer by name: for `tally doc`, for completion
// at the prompt, and for tools. Documentation of the library lies packed in the
// program and is unpacked at the first question.
#ifndef TALLY_VM_DOCUMENTATION_H
#define TALLY_VM_DOCUMENTATION_H

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"
#include "vm/string.h"
#include "vm/value.h"

// A function or a constant; module NULL for the global ones.
typedef struct tl_documented {
  const char *module, *name;
  const char *params;  // NULL for a constant
  const char *doc;     // NULL: that many packed texts come before
  size_t docs_before;
  const char *topic;  // NULL: of the host
} tl_documented;

// The entry at [index]: first the library's rows in order, then its constants,
// then what its modules have in Tally, then the host's functions. False behind
// the last.
bool tl_documented_at(const tally_vm *vm, size_t index, tl_documented *out);

// Frees the unpacked documentation.
void tl_docs_close(tally_vm *vm);

#endif
