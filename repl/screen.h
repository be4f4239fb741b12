// What an editor shows: prompt, text in colours, a hint, lines below. Each
// drawing goes over the one before.
//
//     tally> fn f(x) {          view.prompt, text
//       ...>   x + mean(x       view.more; the cursor; a hint in grey
//     mean(x, axis: none)       view.below
//
// Text is drawn by graphemes, which take the cells that utf8proc says. Lines
// that do not fit are cut by the drawing itself and never by the terminal, so
// where the cursor is does not depend on what a terminal does at its edge. Of a
// text that is higher than the terminal the rows around the cursor are shown.
#ifndef TALLY_REPL_SCREEN_H
#define TALLY_REPL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "tally.h"

// All is borrowed.
typedef struct tl_view {
  const char *prompt, *more;  // before the first line, and before the others
  const char *text;
  size_t nbytes, cursor;
  const char *hint;               // how the text may go on; NULL: none
  const char *below;              // lines below the text; NULL: none
  size_t wrong_begin, wrong_end;  // what is underlined as an error
  bool is_over;                   // the last drawing of this text
} tl_view;

// What was drawn last, and where its cursor stands. Begins as {.has_colours}.
typedef struct tl_screen {
  bool has_colours;
  int columns, rows;  // of the terminal
  int row, row_count, column;
  int *widths;  // cells of each row that was drawn
} tl_screen;

// Draws over what was drawn before; is_over leaves the cursor in the line
// below. [vm] gives the tokens. Without memory nothing is drawn.
void tl_screen_draw(tl_screen *screen, tally_vm *vm, const tl_view *view);
// The next drawing begins where the cursor is, at the begin of a line.
void tl_screen_forget(tl_screen *screen);
void tl_screen_free(tl_screen *screen);

// Writes to the terminal, also where it takes the bytes in parts.
void tl_screen_write(const char *text, size_t nbytes);

// The end of the grapheme that begins at [at], at most nbytes; what is no UTF-8
// goes by bytes.
size_t tl_sign_end(const char *text, size_t nbytes, size_t at);
// The begin of the one that ends at [at].
size_t tl_sign_begin(const char *text, size_t at);
// Cells that the text takes; ends of lines take none.
int tl_cells(const char *text, size_t nbytes);

#endif
