// Reports on a terminal: long lines go on in the next, between words and
// indented by two more. Lines with a source excerpt are left whole, since their
// characters stand below each other.

#include "repl/wrap.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

// Code points, each taken for one column.
static int characters(const char *text, size_t nbytes) {
  int count = 0;
  for (size_t i = 0; i < nbytes; i++)
    count += ((unsigned char)text[i] & 0xc0) != 0x80;
  return count;
}

// "   12 | x = 1" or "      |   ^": lines whose characters stand below each
// other.
static bool is_excerpt(const char *line, size_t nbytes) {
  size_t i = 0;
  while (i < nbytes && (line[i] == ' ' || isdigit((unsigned char)line[i]))) i++;
  return i > 0 && i < nbytes && line[i] == '|';
}

// Writes one line; what goes on in the next is indented by two more.
static void write_line(FILE *to, const char *line, size_t nbytes, int width) {
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
    if (!begins && column + (int)blanks + length > width) {
      fprintf(to, "\n%*s", indent, "");
      column = indent;
    } else {
      fprintf(to, "%*s", (int)blanks, "");
      column += (int)blanks;
    }
    fprintf(to, "%.*s", (int)word, line + at + blanks);
    column += length;
    at += blanks + word;
    begins = false;
  }
}

// A source line and the caret below it would no longer fit each other if they
// were cut, so they stay as they are.
void tl_write_wrapped(FILE *to, const char *text, int width) {
  while (*text != 0) {
    size_t nbytes = strcspn(text, "\n");
    if (width <= 0 || is_excerpt(text, nbytes))
      fprintf(to, "%.*s", (int)nbytes, text);
    else
      write_line(to, text, nbytes, width);
    text += nbytes;
    if (*text == '\n') {
      fputc('\n', to);
      text++;
    }
  }
}
