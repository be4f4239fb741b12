// What people write who know other languages and libraries, for messages:
// whoever writes cumsum(x) gets "write cumulative_sum(x)". A new hint is one
// more line in hints.txt.
#pragma once

#include <stddef.h>

// The lines of hints.txt, each ended by a zero byte; an empty one ends them
// all. The build writes them (tools/embed).
extern const char tl_hint_lines[];

// What is said to a word of [nbytes] that was written, by its kind: "name",
// "code" (Tally that does the same), "parameter", "character", "sign", "word",
// "call", "token", "behind" (a statement) or "lex". NULL: it means nothing
// elsewhere. Borrowed, for good.
const char *tl_hint(const char *kind, const char *word, size_t nbytes);

// What to say of a name that is not there, in [module] or, with NULL, without
// one: "in Tally it is called true", "write cumulative_sum(x)". The text may
// lie in [buffer]. NULL: the name means nothing elsewhere either.
const char *tl_name_hint(const char *module, const char *name, char *buffer,
                         size_t size);

// What to say of a parameter that a function of the library ("unique",
// "io.read_csv") does not have; NULL: nothing.
const char *tl_parameter_hint(const char *function, const char *parameter);
