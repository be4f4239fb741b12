// Excerpts of sources, of errors found when compiling and when running alike.
#include "vm/text/excerpt.h"

// A line is shown up to this many bytes before and after the caret.
enum { BEFORE_CARET = 90, AFTER_CARET = 60 };

// Whether the byte continues a character of UTF-8.
static bool continues_character(char byte) {
  return (byte & 0xc0) == 0x80;
}

// Control characters are printed as blanks: a tab would move the caret's
// column, and others would reach the terminal. The caret stands behind what is
// printed, which is measured in display cells.
void tl_text_excerpt(tl_text *out, const char *text, int line, size_t begin,
                     size_t end, size_t at) {
  size_t from = begin, to = end;
  if (at - from > BEFORE_CARET)
    from = at - BEFORE_CARET;
  if (to - at > AFTER_CARET)
    to = at + AFTER_CARET;
  // Not in the middle of a character.
  while (from < at && continues_character(text[from])) from++;
  while (to > at && to < end && continues_character(text[to])) to--;
  // The number takes five columns, so the bars stand below each other.
  tl_text_printf(out, "%5d | %s", line, from > begin ? "…" : "");
  size_t shown = out->length;
  tl_text_add(out, text + from, to - from);
  for (size_t i = shown; !out->failed && i < out->length; i++) {
    unsigned char c = (unsigned char)out->bytes[i];
    if (c < 0x20 || c == 0x7f)
      out->bytes[i] = ' ';
  }
  int indent = from > begin;
  if (!out->failed)
    indent += tl_display_width(out->bytes + shown, at - from);
  tl_text_printf(out, "%s\n      | %*s^", to < end ? "…" : "", indent, "");
}
