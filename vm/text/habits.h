// Names from other languages and libraries, for messages about unknown names.
#ifndef TALLY_VM_TEXT_HABITS_H
#define TALLY_VM_TEXT_HABITS_H

#include <stddef.h>

// What somebody writes who means [code]; [name] has its module before it, as
// "random.rand", where it is no global name.
typedef struct tl_habit_code {
  const char *name, *code;
} tl_habit_code;

// Ended by name NULL.
extern const tl_habit_code tl_habit_codes[];

// What to say of a name that is not there, in the module or (NULL) without one:
// "in Tally it is called true", "write cumulative_sum(x)". It may lie in the
// buffer. NULL: the name means nothing elsewhere either.
const char *tl_name_habit(const char *module, const char *name, char *buffer,
                          size_t size);

#endif
