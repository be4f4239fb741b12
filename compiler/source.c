// A source text: its check for UTF-8, its lines, and where an offset is in
// them.
//
// tl_source_open checks the bytes and notes where the lines start;
// tl_source_place finds the line by bisection and counts display cells from
// its start, since a caret below the line must stand under a wide or combining
// character too.

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
  for (size_t i = 0; i < nbytes; i += length) {
    cells += cell_count(text + i, nbytes - i, &length);
  }
  return cells;
}

// One more than the newlines: an empty text has one line.
static uint32_t count_lines(const char *text, size_t nbytes) {
  uint32_t count = 1;
  const char *end = text + nbytes;
  for (const char *at = text; at < end; count++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at)
      break;
    at++;
  }
  return count;
}

// Fills line_starts. The first line starts at 0, which the arena has set.
static void find_lines(tl_source *source) {
  const char *end = source->text + source->nbytes;
  const char *at = source->text;
  for (uint32_t line = 1; line < source->line_count; line++) {
    at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    source->line_starts[line] = (uint32_t)(at - source->text);
  }
}

// An empty text has one line that is empty, so each offset is on some line.
// Where the text is malformed, *bad_offset is its first wrong byte.
tl_source_status tl_source_open(tl_source *source, tl_arena *arena,
                                const char *name, const char *text,
                                size_t nbytes, size_t *bad_offset) {
  *source = (tl_source){.name = name, .text = nbytes ? text : ""};
  // Offsets have 32 bits.
  if (nbytes >= UINT32_MAX)
    return TL_SOURCE_TOO_LONG;
  // Everything behind relies on it: the lexer and the printing of lines decode
  // without checks.
  if (!tl_utf8_check(source->text, nbytes, bad_offset))
    return TL_SOURCE_MALFORMED;
  source->nbytes = (uint32_t)nbytes;
  source->line_count = count_lines(source->text, nbytes);
  // A newline at the very end ends the last line and begins none.
  if (nbytes && source->text[nbytes - 1] == '\n')
    source->line_count--;
  source->line_starts = TL_ARENA_ARRAY(arena, uint32_t, source->line_count);
  if (!source->line_starts)
    return TL_SOURCE_NO_MEMORY;
  find_lines(source);
  return TL_SOURCE_OK;
}

// The index of the line that [offset] is on.
static uint32_t find_line(const tl_source *source, uint32_t offset) {
  uint32_t low = 0, high = source->line_count;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (source->line_starts[middle] <= offset) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// The offset behind the line that starts at [begin], without its newline and a
// carriage return before that.
static uint32_t line_end(const tl_source *source, uint32_t begin) {
  const char *text = source->text;
  const char *found = memchr(text + begin, '\n', source->nbytes - begin);
  uint32_t end = found ? (uint32_t)(found - text) : source->nbytes;
  if (end > begin && text[end - 1] == '\r')
    end--;
  return end;
}

// Display cells before [offset] on the line that starts at [begin]. Goes on
// from the last answer where that is on the same line and not behind [offset].
static uint32_t cells_before(tl_source *source, uint32_t begin,
                             uint32_t offset) {
  uint32_t from = begin, cells = 0;
  if (source->last_offset >= begin && source->last_offset <= offset) {
    from = source->last_offset;
    cells = source->last_column;
  }
  cells += tl_source_width(source->text + from, offset - from);
  source->last_offset = offset;
  source->last_column = cells;
  return cells;
}

// Messages often ask for places further along one line, so cells_before
// remembers its last answer.
tl_place tl_source_place(tl_source *source, uint32_t offset) {
  if (offset > source->nbytes)
    offset = source->nbytes;
  uint32_t line = find_line(source, offset);
  uint32_t begin = source->line_starts[line];
  tl_place place = {.line = line + 1, .line_begin = begin};
  place.line_end = line_end(source, begin);
  // An offset at the newline itself is shown behind the line's last character.
  if (offset > place.line_end)
    offset = place.line_end;
  place.column = cells_before(source, begin, offset) + 1;
  return place;
}
