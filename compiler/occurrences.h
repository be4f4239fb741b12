// Where each variable stands, for editors: the resolver notes every name as it
// finds what it means.
//
//   fn f(x) = x + 1     f written; x written and read, one variable
//   x = f(x: 2)         x written, another one; f read; the argument x is the
//                       parameter's

#pragma once

#include "compiler/names.h"
#include "compiler/source.h"
#include "vm/values/list.h"

typedef struct tl_variable tl_variable;

// What a name does where it stands.
typedef enum tl_occurrence_role {
  TL_OCCURS_WRITTEN,
  TL_OCCURS_READ,
  TL_OCCURS_AS_MEMBER,    // of the module that the variable holds
  TL_OCCURS_AS_ARGUMENT,  // of the function that the variable holds
} tl_occurrence_role;

// One place. Of an argument and a member the variable is the function's or the
// module's, and the name its parameter or its variable. [of] is the name of an
// argument's function, else NULL.
typedef struct tl_occurrence {
  tl_occurrence_role role;
  tl_variable *variable;
  const tl_name *name, *of;
  tl_span span;
} tl_occurrence;

// All that was noted, in the order in which the resolver went; empty where all
// but the arena is zero.
typedef struct tl_occurrences {
  tl_arena *arena;
  tl_occurrence *items;
  uint32_t count, capacity;
} tl_occurrences;

// Notes a place; [list] may be NULL, then nobody wants to know. One that finds
// no memory is left out, and the arena has failed.
void tl_occurs(tl_occurrences *list, tl_occurrence_role role,
               tl_variable *variable, const tl_name *name, tl_span span);
// The same of an argument that is named in a call of the function [of].
void tl_occurs_as_argument(tl_occurrences *list, tl_variable *variable,
                           const tl_name *name, const tl_name *of,
                           tl_span span);

// A new list of records of all places in the order of the text, each once:
// begin, end, home, role, file, of and is_global as tally_resolve_source
// describes them (tally.h). Returns owned; after tl_fail some are missing, or
// it is NULL, as where the arena has failed.
tl_list *tl_occurrences_list(tl_vm *vm, tl_occurrences *list);
