// The list of errors of one compilation, and how one is shown.
//
// Every stage reports here and goes on where it can, so one run shows several
// errors. compile.c sorts the list by place, makes the first the pending error
// of the VM and joins the rendered texts into its report.

#include "compiler/diagnostics.h"

#include <stdio.h>
#include <string.h>

#include "vm/error.h"

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
  list->items[list->count++] =
      (tl_diagnostic){.kind = kind, .span = span, .message = message};
}

void tl_diagnose(tl_diagnostics *list, tally_status kind, tl_span span,
                 const char *format, ...) {
  va_list args;
  va_start(args, format);
  tl_diagnose_v(list, kind, span, format, args);
  va_end(args);
}

// A source line is shown up to this many bytes before and after the caret.
#define BEFORE_CARET 90
#define AFTER_CARET 60

// Whether a byte is inside a UTF-8 character, behind its first byte.
static bool continues_character(char byte) {
  return (byte & 0xc0) == 0x80;
}

// Sets [begin, end) to the part of the line of [place] that is shown around
// the offset [at], never in the middle of a character.
static void cut_line(const tl_source *source, const tl_place *place,
                     uint32_t at, uint32_t *begin, uint32_t *end) {
  *begin = place->line_begin;
  *end = place->line_end;
  if (at - *begin > BEFORE_CARET)
    *begin = at - BEFORE_CARET;
  if (*end - at > AFTER_CARET)
    *end = at + AFTER_CARET;
  // Not in the middle of a character.
  while (*begin < at && continues_character(source->text[*begin])) (*begin)++;
  while (*end > at && *end < place->line_end &&
         continues_character(source->text[*end])) {
    (*end)--;
  }
}

// Replaces control characters by blanks before a line is printed: a tab would
// move the caret's column, and others would reach the terminal.
static void blank_controls(char *text, size_t nbytes) {
  for (size_t i = 0; i < nbytes; i++) {
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
      text[i] = ' ';
  }
}

// The source line with its number, and the caret below; NULL when memory
// fails.
static const char *render_line(const tl_diagnostic *diagnostic,
                               tl_source *source, tl_arena *arena,
                               const tl_place *place) {
  uint32_t at = diagnostic->span.at, begin, end;
  if (at > place->line_end)
    at = place->line_end;
  cut_line(source, place, at, &begin, &end);
  char *line = tl_arena_text(arena, source->text + begin, end - begin);
  const char *ahead = begin > place->line_begin ? "…" : "";
  const char *behind = end < place->line_end ? "…" : "";
  // Display cells, not bytes: the caret must stand under its character.
  uint32_t indent = tl_source_width(source->text + begin, at - begin);
  if (*ahead)
    indent++;
  size_t size = (end - begin) + indent + 64;
  char *out = tl_arena_alloc(arena, size);
  if (!line || !out)
    return NULL;
  blank_controls(line, end - begin);
  // The number takes five columns, so the bars stand below each other.
  snprintf(out, size, "%5u | %s%s%s\n      | %*s^", place->line, ahead, line,
           behind, (int)indent, "");
  return out;
}

const char *tl_diagnostic_render(const tl_diagnostic *diagnostic,
                                 tl_source *source, tl_arena *arena) {
  tl_place place = tl_source_place(source, diagnostic->span.at);
  const char *line = render_line(diagnostic, source, arena, &place);
  const char *kind = tl_error_kind_name(diagnostic->kind);
  if (!line)
    return NULL;
  size_t size = strlen(source->name) + strlen(kind) +
                strlen(diagnostic->message) + strlen(line) + 64;
  char *out = tl_arena_alloc(arena, size);
  if (!out)
    return NULL;
  snprintf(out, size, "%s:%u:%u: %s error: %s\n%s", source->name, place.line,
           place.column, kind, diagnostic->message, line);
  return out;
}
