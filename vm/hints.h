// Names from other languages and libraries, for messages about unknown names:
// whoever writes cumsum(x) gets "write cumulative_sum(x)". hints.c has the
// tables; a new hint is one more row there.
#ifndef TALLY_VM_HINTS_H
#define TALLY_VM_HINTS_H

#include <stddef.h>

// What somebody writes who means [code]; [name] has its module before it, as in
// "random.rand", where it is no global name.
typedef struct tl_hint_code {
  const char *name, *code;
} tl_hint_code;

// All of them, ended by name NULL. A test runs each code.
extern const tl_hint_code tl_hint_codes[];

// What to say of a name that is not there, in [module] or, with NULL, without
// one: "in Tally it is called true", "write cumulative_sum(x)". The text may
// lie in [buffer]. NULL: the name means nothing elsewhere either.
const char *tl_name_hint(const char *module, const char *name, char *buffer,
                         size_t size);

// What to say of a parameter that a function of the library ("unique",
// "io.read_csv") does not have; NULL: nothing.
const char *tl_parameter_hint(const char *function, const char *parameter);

#endif
