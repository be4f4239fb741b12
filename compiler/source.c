// A source text: its check for UTF-8, and on which line an offset is.
//
// tl_source_place counts display cells from the start of the line, since a
// caret below the line must stand under a wide or combining character too.

#include "compiler/source.h"

#include <string.h>
#include <utf8proc.h>

#include "vm/utf8.h"

// Cells of the character at [text]; sets [length] to its bytes.
static uint32_t cell_count(const char *text, size_t left, size_t *length) {
  int32_t code;
  *length = 1;
  // Control characters are printed as one blank each (see diagnostics.c).
  if ((unsigned char)text[0] < 0x80)
    return 1;
  *length = tl_utf8_decode(text, left, &code);
  int width = utf8proc_charwidth(code);
  return width > 0 ? (uint32_t)width : 0;
}

uint32_t tl_source_width(const char *text, size_t nbytes) {
  uint32_t cells = 0;
  size_t length;
  for (size_t i = 0; i < nbytes; i += length)
    cells += cell_count(text + i, nbytes - i, &length);
  return cells;
}

// Where the text is malformed, *bad_offset is its first wrong byte.
tl_source_status tl_source_open(tl_source *source, const char *name,
                                const char *text, size_t nbytes,
                                size_t *bad_offset) {
  *source = (tl_source){.name = name, .text = nbytes ? text : ""};
  // Offsets have 32 bits.
  if (nbytes >= UINT32_MAX)
    return TL_SOURCE_TOO_LONG;
  // Everything behind relies on it: the lexer and the printing of lines decode
  // without checks.
  if (!tl_utf8_check(source->text, nbytes, bad_offset))
    return TL_SOURCE_MALFORMED;
  source->nbytes = (uint32_t)nbytes;
  return TL_SOURCE_OK;
}

// An empty text has one line that is empty, so each offset is on some line.
// Lines are counted for each place anew, as only messages have places and few
// are shown.
tl_place tl_source_place(const tl_source *source, uint32_t offset) {
  const char *text = source->text, *end = text + source->nbytes;
  const char *at = text + (offset < source->nbytes ? offset : source->nbytes);
  // A newline at the very end ends the last line and begins none.
  if (at == end && at > text && at[-1] == '\n')
    at--;
  tl_place place = {.line = 1};
  const char *begin = text;
  for (const char *line = text;
       (line = memchr(line, '\n', (size_t)(at - line))) != NULL; place.line++)
    begin = ++line;
  const char *found = memchr(at, '\n', (size_t)(end - at));
  end = found != NULL ? found : end;
  if (end > begin && end[-1] == '\r')
    end--;
  // An offset at the newline itself is shown behind the line's last character.
  at = at < end ? at : end;
  place.line_begin = (uint32_t)(begin - text);
  place.line_end = (uint32_t)(end - text);
  place.column = tl_source_width(begin, (size_t)(at - begin)) + 1;
  return place;
}
