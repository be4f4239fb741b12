// The list of errors of one compilation, and how one is shown.
//
// Every stage reports here and goes on where it can, so one run shows several
// errors. compile.c makes the first the pending error of the VM and joins the
// rendered texts into its report.

#include "compiler/diagnostics.h"

#include <stdio.h>
#include "vm/error.h"
#include "vm/text/excerpt.h"

void tl_diagnostics_open(tl_diagnostics *list, tl_arena *arena) {
  *list = (tl_diagnostics){.arena = arena};
}

// Formats twice: once to measure, once into the arena.
const char *tl_arena_format(tl_arena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = tl_arena_alloc(arena, size);
  if (text)
    vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

// Formatted at once, as the arguments may be in buffers of the caller's.
void tl_diagnose_v(tl_diagnostics *list, tally_status kind, tl_span span,
                   const char *format, va_list args) {
  // Errors past the limit still count, so that the report can say how many
  // there are.
  list->total++;
  if (list->count == TL_DIAGNOSTICS_MAX)
    return;
  const char *message = tl_arena_format(list->arena, format, args);
  if (!message)
    message = "an error, and no memory left to describe it";
  // By place: the resolver and lowering each find theirs in an order of their
  // own. Errors at one place stay in the order in which they were found.
  uint32_t k = list->count++;
  for (; k > 0 && list->items[k - 1].span.at > span.at; k--)
    list->items[k] = list->items[k - 1];
  list->items[k] =
      (tl_diagnostic){.kind = kind, .span = span, .message = message};
}

void tl_diagnose(tl_diagnostics *list, tally_status kind, tl_span span,
                 const char *format, ...) {
  va_list args;
  va_start(args, format);
  tl_diagnose_v(list, kind, span, format, args);
  va_end(args);
}

// A caret beyond the line's end, as at the end of the text, stands right behind
// the line.
void tl_diagnostic_render(const tl_diagnostic *diagnostic, tl_source *source,
                          tl_text *out) {
  uint32_t at = diagnostic->span.at;
  tl_place place = tl_source_place(source, at);
  bool is_error = diagnostic->kind != TALLY_OK;
  tl_text_printf(out, "%s:%u:%u: %s%s: %s\n", source->name, place.line,
                 place.column,
                 is_error ? tl_error_kind_name(diagnostic->kind) : "",
                 is_error ? " error" : "warning", diagnostic->message);
  tl_text_excerpt(out, source->text, (int)place.line, place.line_begin,
                  place.line_end, at > place.line_end ? place.line_end : at);
}
