// What numbers and strings mean. The lexer finds where they end; the parser
// asks here for their values.

#pragma once

#include "compiler/arena.h"

// What a number turned out to be.
typedef enum tl_literal_kind {
  TL_LITERAL_INT,
  TL_LITERAL_TOO_LARGE,   // an integer past UINT64_MAX
  TL_LITERAL_PAST_FLOAT,  // a decimal that would round to infinity
  TL_LITERAL_FLOAT,
  TL_LITERAL_IMAGINARY,  // 2i, 2.5i: the factor is in real
} tl_literal_kind;

// A number's value: [integer] for an INT, [real] for the others.
typedef struct tl_literal {
  tl_literal_kind kind;
  uint64_t integer;
  double real;
} tl_literal;

// Reads the whole of [text], which is a number as the lexer delimits them,
// with `_` between digits perhaps. Decimal fractions are rounded correctly,
// whatever the locale is. Where memory fails (arena->failed) it has no value.
tl_literal tl_literal_number(tl_arena *arena, const char *text, size_t nbytes);

// Decodes escapes, {{ and }}, and ends of lines \r\n into \n. Returns the text
// with its length in [length], or NULL: then [error] says what is wrong and
// [error_at] at which byte of [text]; error NULL: memory failed.
const char *tl_literal_string(tl_arena *arena, const char *text, size_t nbytes,
                              uint32_t *length, const char **error,
                              size_t *error_at);
