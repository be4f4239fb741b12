// Reports on a terminal: long lines go on in the next, between words and
// indented by two more. Lines with a source excerpt are left whole, since their
// characters stand below each other.
//
//     f.tly:1:7: shape error: arrays of shapes (3) and (4) do
//       not fit each other                      2 more than its line
//         1 | x + y                             an excerpt, whole
//           |   ^                               likewise

#include "repl/wrap.h"

#include <ctype.h>
#include <string.h>

#include "repl/colours.h"

// Code points, each taken for one column.
// Exact for most text of reports; wide characters and accents make a line end
// some columns later or earlier.
static int characters(const char *text, size_t nbytes) {
  int count = 0;
  for (size_t i = 0; i < nbytes; i++)
    count += ((unsigned char)text[i] & 0xc0) != 0x80;
  return count;
}

// "   12 | x = 1" or "      |   ^": lines whose characters stand below each
// other.
// A line of blanks and digits before a bar, so a message that begins with a
// number and a bar would count, too; none does.
static bool is_excerpt(const char *line, size_t nbytes) {
  size_t i = 0;
  while (i < nbytes && (line[i] == ' ' || isdigit((unsigned char)line[i]))) i++;
  return i > 0 && i < nbytes && line[i] == '|';
}

// Part of a line that stands out: [begin, end), in bytes.
typedef struct part {
  size_t begin, end;
} part;

// "shape error:" in "f.tly:1:7: shape error: …"; empty where there is none, as
// in a line of the trace.
// Bytes of [line], the colon included. A line that begins with a blank goes on
// from one before, and has no kind.
static part find_kind(const char *line, size_t nbytes) {
  static const char word[] = "error:";
  size_t at = 0, n = sizeof word - 1;
  while (at + n <= nbytes &&
         (memcmp(line + at, word, n) != 0 || (at > 0 && line[at - 1] != ' ')))
    at++;
  if (nbytes == 0 || line[0] == ' ' || at + n > nbytes)
    return (part){nbytes, nbytes};
  part kind = {at, at + n};
  // The word before it, unless that is a place, which ends with a colon.
  if (at > 1 && line[at - 2] != ':') {
    kind.begin = at - 1;
    while (kind.begin > 0 && line[kind.begin - 1] != ' ') kind.begin--;
  }
  return kind;
}

// Writes one line; what goes on in the next is indented by two more.
// A word that is longer than the line stands alone in its own, uncut. The
// first word is never preceded by a break, so each pass takes a word or the
// blanks at the end, and the loop ends. width 0: no breaks.
static void write_line(FILE *to, const char *line, size_t nbytes, int width,
                       part kind) {
  size_t at = 0;
  while (at < nbytes && line[at] == ' ') at++;
  int indent = (int)at + 2, column = (int)at;
  fprintf(to, "%.*s", (int)at, line);
  bool begins = true;
  while (at < nbytes) {
    size_t blanks = 0, word = 0;
    while (at + blanks < nbytes && line[at + blanks] == ' ') blanks++;
    while (at + blanks + word < nbytes && line[at + blanks + word] != ' ')
      word++;
    int length = characters(line + at + blanks, word);
    if (!begins && width > 0 && column + (int)blanks + length > width) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
    } else {
      fprintf(to, "%*s", (int)blanks, "");
      column += (int)blanks;
    }
    if (at + blanks == kind.begin)
      fputs(TL_RED_BOLD, to);
    fprintf(to, "%.*s", (int)word, line + at + blanks);
    column += length;
    at += blanks + word;
    if (at == kind.end && kind.begin < kind.end)
      fputs(TL_PLAIN, to);
    begins = false;
  }
}

// The line's number is faint; a caret stands out with what is said beside it.
// is_excerpt has found a bar with a blank or a digit before it. With colours
// alone.
static void write_excerpt(FILE *to, const char *line, size_t nbytes) {
  size_t bar = strcspn(line, "|") + 1, at = bar;
  while (at < nbytes && line[at] == ' ') at++;
  bool is_caret = at < nbytes && line[at] == '^' && line[bar - 2] == ' ' &&
                  strspn(line, " ") == bar - 1;
  fprintf(to, TL_GREY "%.*s" TL_PLAIN "%s%.*s%s", (int)bar, line,
          is_caret ? TL_RED_BOLD : "", (int)(nbytes - bar), line + bar,
          is_caret ? TL_PLAIN : "");
}

// A source line and the caret below it would no longer fit each other if they
// were cut, so they stay as they are.
// [text] may end without an end of line, and then so does what is written.
void tl_write_wrapped(FILE *to, const char *text, int width, bool has_colours) {
  while (*text != 0) {
    size_t nbytes = strcspn(text, "\n");
    part none = {nbytes, nbytes};
    bool excerpt = is_excerpt(text, nbytes);
    if (excerpt && has_colours)
      write_excerpt(to, text, nbytes);
    else if (excerpt || (width <= 0 && !has_colours))
      fprintf(to, "%.*s", (int)nbytes, text);
    else
      write_line(to, text, nbytes, width,
                 has_colours ? find_kind(text, nbytes) : none);
    text += nbytes;
    if (*text == '\n') {
      fputc('\n', to);
      text++;
    }
  }
}
