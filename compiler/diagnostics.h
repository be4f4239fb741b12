// The errors of one compilation.
//
//   lexer ─ ERROR tokens ─> parser ─┐
//                         resolver ─┼─ tl_diagnose ─> list ─> compile.c
//                         lowering ─┘
//
// They are listed by their places.

#pragma once

#include <stdarg.h>

#include "compiler/arena.h"
#include "compiler/source.h"
#include "tally.h"
#include "vm/string.h"

// So many errors are shown in full; the parser gives up at this number.
#define TL_DIAGNOSTICS_MAX 20

// One error, or a warning (kind TALLY_OK). Its message lives in the arena or is
// a literal.
typedef struct tl_diagnostic {
  tally_status kind;
  tl_span span;
  const char *message;  // one line, without place and kind
} tl_diagnostic;

// The list that all stages of one compilation add to.
typedef struct tl_diagnostics {
  tl_arena *arena;
  tl_diagnostic items[TL_DIAGNOSTICS_MAX];
  uint32_t count;  // stored; later ones are only counted in total
  uint32_t total;
} tl_diagnostics;

// Makes the list empty. Messages are formatted in [arena], which must outlive
// it.
void tl_diagnostics_open(tl_diagnostics *list, tl_arena *arena);

#if defined(__GNUC__)
#define TL_PRINTF(format, first) \
  __attribute__((__format__(__printf__, format, first)))
#else
#define TL_PRINTF(format, first)
#endif

// Adds an error at span.at; [kind] is TALLY_ERR_SYNTAX, _NAME, _TYPE, _VALUE,
// _IO, _LIMIT, or _MEMORY of an in-place contract (#:inplace). Once the list is
// full it only counts. Should memory fail, the message is a fixed text.
void tl_diagnose(tl_diagnostics *list, tally_status kind, tl_span span,
                 const char *format, ...) TL_PRINTF(4, 5);

// The same with the arguments of the format as a list.
void tl_diagnose_v(tl_diagnostics *list, tally_status kind, tl_span span,
                   const char *format, va_list args);
// A formatted text in the arena; NULL when memory fails.
const char *tl_arena_format(tl_arena *arena, const char *format, va_list args);

// Whether later errors are only counted: then their messages need not be
// worked out.
static inline bool tl_diagnostics_full(const tl_diagnostics *list) {
  return list->count == TL_DIAGNOSTICS_MAX;
}

// Appends the error as a person reads it, without a newline at the end.
//
//   life.tly:12:5: syntax error: a number ends …
//      12 |   x = 2.
//         |        ^
void tl_diagnostic_render(const tl_diagnostic *diagnostic, tl_source *source,
                          tl_text *out);
