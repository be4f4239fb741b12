// The errors of one compilation, in the order of their places.

#ifndef TALLY_COMPILER_DIAGNOSTICS_H
#define TALLY_COMPILER_DIAGNOSTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/arena.h"
#include "compiler/source.h"

#define TL_DIAGNOSTICS_MAX 20

// The kinds of error that a compiler can find, named as in the language.
typedef enum tl_diagnostic_kind {
  TL_DIAGNOSTIC_SYNTAX,
  TL_DIAGNOSTIC_NAME,
  TL_DIAGNOSTIC_TYPE,
  TL_DIAGNOSTIC_VALUE,
  TL_DIAGNOSTIC_IO,
  TL_DIAGNOSTIC_LIMIT,
  TL_DIAGNOSTIC_MEMORY,  // a promise of #:inplace
} tl_diagnostic_kind;

typedef struct tl_diagnostic {
  tl_diagnostic_kind kind;
  tl_span span;
  const char *message;  // one line, without place and kind
} tl_diagnostic;

typedef struct tl_diagnostics {
  tl_arena *arena;
  tl_diagnostic items[TL_DIAGNOSTICS_MAX];
  uint32_t count;  // stored; later ones are only counted in total
  uint32_t total;
} tl_diagnostics;

void tl_diagnostics_open(tl_diagnostics *list, tl_arena *arena);

#if defined(__GNUC__)
#define TL_PRINTF(format, first) \
  __attribute__((__format__(__printf__, format, first)))
#else
#define TL_PRINTF(format, first)
#endif

// Adds an error at span.at. Once the list is full it only counts. Should
// memory fail, the message is a fixed text.
void tl_diagnose(tl_diagnostics *list, tl_diagnostic_kind kind, tl_span span,
                 const char *format, ...) TL_PRINTF(4, 5);

// Whether later errors are only counted: what they would say is not needed.
static inline bool tl_diagnostics_full(const tl_diagnostics *list) {
  return list->count == TL_DIAGNOSTICS_MAX;
}

// "syntax", "name" …
const char *tl_diagnostic_kind_name(tl_diagnostic_kind kind);

// The error as a person reads it, without a newline at the end; NULL when
// memory fails. Long lines are cut around the caret.
//
//   life.tly:12:5: syntax error: a number ends …
//      12 |   x = 2.
//         |        ^
const char *tl_diagnostic_render(const tl_diagnostic *diagnostic,
                                 tl_source *source, tl_arena *arena);

#endif
