// What the library and the host offer by name: for `tally doc`, for completion
// at the prompt, and for tools. Documentation of the library lies packed in the
// program and is unpacked at the first question.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// A function or a constant; module NULL for the global ones.
typedef struct tl_documented {
  const char *module, *name;
  const char *params;  // NULL for a constant
  const char *doc;     // NULL: that many packed texts come before
  size_t docs_before;
  const char *topic;  // NULL: of the host
} tl_documented;

// Calls [visit] with each entry until it gives true; whether it did. First the
// library's rows in order, then its constants, then what its modules have in
// Tally, then the host's functions.
typedef bool tl_documented_visit(void *context, const tl_documented *entry);
bool tl_each_documented(const tally_vm *vm, tl_documented_visit *visit,
                        void *context);

// Frees the unpacked documentation.
void tl_docs_close(tally_vm *vm);
