// Graphemes and the cells that they take, and writing: see screen.h.

#include "repl/screen.h"

#include <errno.h>
#include <unistd.h>
#include <utf8proc.h>

// Reads a character and returns its bytes; a byte that belongs to none is -1.
// Never 0 bytes, so whoever walks a text by it arrives at the end.
static size_t read_character(const char *text, size_t nbytes, size_t at,
                             utf8proc_int32_t *code) {
  utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                                        (utf8proc_ssize_t)(nbytes - at), code);
  if (n <= 0)
    *code = -1;
  return n <= 0 ? 1 : (size_t)n;
}

// The rule of Unicode Standard Annex 29, whose state (of flags and joined
// pictures) begins anew here: [at] has to be the begin of a cluster. The
// result is greater than [at] for all at < nbytes, which loops rely on.
size_t tl_sign_end(const char *text, size_t nbytes, size_t at) {
  utf8proc_int32_t before, after, state = 0;
  if (at >= nbytes)
    return nbytes;
  at += read_character(text, nbytes, at, &before);
  while (at < nbytes && before >= 0) {
    size_t step = read_character(text, nbytes, at, &after);
    if (after < 0 || utf8proc_grapheme_break_stateful(before, after, &state))
      break;
    at += step;
    before = after;
  }
  return at;
}

// Whether it is no character, or one that controls a terminal.
// Those below 32, DEL, and 0x80 to 0x9f, some of which begin sequences as
// Escape does: a text must not write them to the terminal as they are.
static bool is_control(utf8proc_int32_t code) {
  return code < 32 || (code >= 127 && code < 0xa0);
}

// A picture, such as a flag or a family, takes two cells, a letter with its
// accents what the letter takes. A tab is drawn as two blanks, other control
// characters as one.
// The widest character counts, as accents take no cells. U+FE0F makes a sign a
// picture; two letters from U+1F1E6 on are a flag, which utf8proc counts by
// its letters. A terminal that has it otherwise shows the cursor beside its
// place.
static int sign_width(const char *text, size_t begin, size_t end) {
  utf8proc_int32_t code;
  int width = 0;
  if (text[begin] == '\n')
    return 0;
  if (text[begin] == '\t')
    return 2;
  for (size_t at = begin; at < end;) {
    at += read_character(text, end, at, &code);
    bool is_picture = code == 0xfe0f ||
                      (code >= 0x1f1e6 && code <= 0x1f1ff && end - begin > 4);
    int w = is_control(code) ? 1 : is_picture ? 2 : utf8proc_charwidth(code);
    width = w > width ? w : width;
  }
  return width;
}

int tl_cells(const char *text, size_t nbytes) {
  int width = 0;
  for (size_t at = 0; at < nbytes;) {
    size_t end = tl_sign_end(text, nbytes, at);
    width += sign_width(text, at, end);
    at = end;
  }
  return width;
}

// By write and not by stdout, which a script may have filled: see prompt.c,
// which flushes it before. A terminal that is gone loses the rest, without a
// message: reading keys finds out.
void tl_screen_write(const char *text, size_t nbytes) {
  while (nbytes > 0) {
    ssize_t n = write(STDOUT_FILENO, text, nbytes);
    if (n < 0 && errno != EINTR)
      return;
    text += n < 0 ? 0 : n;
    nbytes -= n < 0 ? 0 : (size_t)n;
  }
}
