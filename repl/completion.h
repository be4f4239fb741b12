// What Tab offers for the text before the cursor: names of the language and the
// session, signs behind a backslash, commands, files within quotes.
#ifndef TALLY_REPL_COMPLETION_H
#define TALLY_REPL_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// Whole names, as copies.
typedef struct tl_choices {
  char **names;
  size_t count, capacity;
  const char *sign;  // replaces the backslash and the name; NULL: none does
  size_t replaced;   // bytes at the text's end that make way for the sign
} tl_choices;

// Adds a copy of a name, unless it is there; without memory for it there is one
// choice less.
void tl_choices_add(tl_choices *c, const char *name);
// Adds to *c, which tl_choices_free frees. Without memory there are fewer
// choices.
void tl_choices_find(tl_choices *c, tally_vm *vm, const char *text);
void tl_choices_free(tl_choices *c);

// How much of the choices stands at the text's end already.
size_t tl_choices_typed(const tl_choices *c, const char *text);
// How many bytes all choices begin with. There is one at least.
size_t tl_choices_common(const tl_choices *c);

// The choices in columns, from top to bottom, as lines of at most [columns]
// cells; those that [rows] lines do not hold are counted in the last line. The
// caller frees the text; NULL: no memory.
char *tl_choices_list(const tl_choices *c, int columns, int rows);

#endif
