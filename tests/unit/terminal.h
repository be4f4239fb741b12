// A terminal for tests: what a program writes becomes a screen that can be read
// as text, and as the colour of each cell.
//
//     terminal_take(bytes) ─▶ cells ─▶ terminal_text: rows from one on
//
// It knows what Tally's editor sends, and fails on any other sequence. Lines
// that leave it at the top are kept, so rows are counted from the first.
#ifndef TALLY_TESTS_TERMINAL_H
#define TALLY_TESTS_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

enum { TERMINAL_LINES = 1000, TERMINAL_COLUMNS = 200, CELL_BYTES = 40 };

typedef struct cell {
  char sign[CELL_BYTES];  // with what combines with it; "" behind a wide one
  char style;
} cell;

typedef struct terminal {
  int keys;   // the terminal's other side
  int child;  // the process
  int rows, columns, row, column, top, used;
  char style;  // plain p, else the last colour: r g y b m c, d grey, u a line
               // below, R reverse
  bool joins;  // a zero-width joiner came last
  cell cells[TERMINAL_LINES][TERMINAL_COLUMNS];
  char pending[64];  // a sequence or character that is not whole
  int pending_bytes;
  int since;  // the row of the last prompt that was waited for; -1: none
  char text[1 << 16];
} terminal;

// Blanks from the column up to another.
static inline void terminal_clear(terminal *t, int row, int column, int to) {
  for (; column < to; column++) {
    strcpy(t->cells[row][column].sign, " ");
    t->cells[row][column].style = 'p';
  }
}

// The cursor goes one row down; rows below all that was used are empty.
static inline void terminal_line_feed(terminal *t) {
  t->row++;
  if (t->row >= TERMINAL_LINES) {
    fputs("the test writes too many lines\n", stderr);
    exit(1);
  }
  if (t->row >= t->used) {
    terminal_clear(t, t->row, 0, TERMINAL_COLUMNS);
    t->used = t->row + 1;
  }
  if (t->row - t->top >= t->rows)
    t->top = t->row - t->rows + 1;
}

// The colours that Tally uses, each a letter.
static inline void terminal_set_style(terminal *t, const char *codes) {
  static const struct {
    const char *codes;
    char style;
  } known[] = {{"0", 'p'},  {"31", 'r'}, {"32", 'g'},   {"33", 'y'},
               {"34", 'b'}, {"35", 'm'}, {"36", 'c'},   {"90", 'd'},
               {"7", 'R'},  {"1", 'B'},  {"4;31", 'u'}, {"1;31", 'E'}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].codes, codes) == 0) {
      t->style = known[i].style;
      return;
    }
  }
  fprintf(stderr, "an unknown style: %s\n", codes);
  exit(1);
}

// A sequence without its escape: "[2K".
static inline void terminal_obey(terminal *t, char *sequence) {
  size_t last = strlen(sequence) - 1;
  char what = sequence[last];
  sequence[last] = 0;
  const char *codes = sequence + 1;
  int n = codes[0] == 0 ? 1 : atoi(codes);
  if (codes[0] == '?' || strchr(codes, ' ') != NULL)
    return;  // modes, the cursor's shape
  if (what == 'm')
    terminal_set_style(t, codes);
  else if (what == 'A')
    t->row = t->row - n < t->top ? t->top : t->row - n;
  else if (what == 'C')
    t->column = t->column + n < t->columns ? t->column + n : t->columns - 1;
  else if (what == 'H')
    t->row = t->top, t->column = 0;
  if (what == 'K' || what == 'J')
    terminal_clear(t, t->row, t->column, TERMINAL_COLUMNS);
  for (int row = what != 'J'       ? t->used
                 : codes[0] == '2' ? t->top
                                   : t->row + 1;
       row < t->used; row++)
    terminal_clear(t, row, 0, TERMINAL_COLUMNS);
  if (strchr("mACHKJ", what) == NULL) {
    fprintf(stderr, "an unknown sequence: %s%c\n", sequence, what);
    exit(1);
  }
}

// Shows a character at the cursor. One without a width joins the sign before
// it, and so do a second letter of a flag and what follows a joiner.
static inline void terminal_put(terminal *t, const char *sign, int nbytes) {
  utf8proc_int32_t code = 0;
  utf8proc_iterate((const utf8proc_uint8_t *)sign, nbytes, &code);
  int width = utf8proc_charwidth(code);
  bool is_flag = code >= 0x1f1e6 && code <= 0x1f1ff;
  cell *at = &t->cells[t->row][t->column];
  cell *before = at;
  while (before > t->cells[t->row] && (before == at || before->sign[0] == 0))
    before--;
  // A flag is two letters of their own.
  bool second_flag = is_flag && strlen(before->sign) == 4 &&
                     strncmp(before->sign, "\xf0\x9f\x87", 3) == 0;
  if (width == 0 || t->joins || second_flag) {
    strncat(before->sign, sign, (size_t)nbytes);
    t->joins = code == 0x200d;
    return;
  }
  width = is_flag ? 2 : width;
  if (t->column + width > t->columns) {
    t->column = 0;
    terminal_line_feed(t);
    at = &t->cells[t->row][0];
  }
  snprintf(at->sign, sizeof at->sign, "%.*s", nbytes, sign);
  at->style = t->style;
  if (width == 2)
    at[1].sign[0] = 0;
  t->column += width;
}

// Takes what a program writes, byte by byte: characters and sequences may come
// in parts.
static inline void terminal_take_byte(terminal *t, char byte) {
  unsigned char first = (unsigned char)t->pending[0];
  if (t->pending_bytes == 0 && (unsigned char)byte < 0x80 && byte != 27) {
    if (byte == '\r')
      t->column = 0;
    else if (byte == '\n')
      terminal_line_feed(t);
    else if (byte == '\b')
      t->column -= t->column > 0;
    else if (byte >= 32)
      terminal_put(t, &byte, 1);
    return;
  }
  t->pending[t->pending_bytes++] = byte;
  t->pending[t->pending_bytes] = 0;
  if (t->pending_bytes == 1)
    return;
  if (first == 27 && t->pending_bytes > 2 && byte >= 0x40) {
    terminal_obey(t, t->pending + 1);
    t->pending_bytes = 0;
  } else if (first != 27 && t->pending_bytes == (first >= 0xf0   ? 4
                                                 : first >= 0xe0 ? 3
                                                                 : 2)) {
    int n = t->pending_bytes;
    t->pending_bytes = 0;
    terminal_put(t, t->pending, n);
  }
}

// An empty screen of 24 lines of 80 cells.
static inline void terminal_open(terminal *t) {
  memset(t, 0, sizeof *t);
  t->rows = 24;
  t->columns = 80;
  t->style = 'p';
  t->row = t->since = -1;
  terminal_line_feed(t);
}

// The rows from one on, as lines without blanks at their ends; of the cells
// their styles instead of their signs where [styles].
static inline const char *terminal_text(terminal *t, int from, bool styles) {
  size_t n = 0;
  for (int row = from < 0 ? 0 : from; row < t->used; row++) {
    int end = TERMINAL_COLUMNS;
    while (end > 0 && strcmp(t->cells[row][end - 1].sign, " ") == 0) end--;
    t->text[n++] = '\n';
    for (int i = 0; i < end && n < sizeof t->text - CELL_BYTES - 2; i++) {
      const cell *c = &t->cells[row][i];
      n += (size_t)(styles ? sprintf(t->text + n, "%c", c->style)
                           : sprintf(t->text + n, "%s", c->sign));
    }
  }
  t->text[n] = 0;
  return t->text;
}

#endif
