// Drawing: see screen.h.
//
//     tl_screen_draw ─ colour_text    a style for each byte, from the tokens
//                    ─ lay_out        rows of text with their styles
//                    ─ show_rows      over what was drawn before, in one write
//
// With 10 columns, where the last one stays empty and the prompt is two cells:
//
//     the text       its rows      widths
//     "漢字" + x     > "漢字"      9, the blank behind it is one
//     y              + x           3
//                    > y           3
//
// Rows of a layout are those of the text; of a screen, those in the window
// that the terminal has room for. Both are counted from 0.
//
// Order: graphemes, styles, rows, the terminal.

#include "repl/screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utf8proc.h>

#include "repl/colours.h"
#include "repl/session.h"

// --- Graphemes --------------------------------------------------------------

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

// Clusters can only be found from their begin, so those of the line are walked.
// An end of line is never within a cluster, so the line is enough. It costs
// the line's length each time, which a person at a prompt does not notice.
size_t tl_sign_begin(const char *text, size_t at) {
  size_t line = at;
  while (line > 0 && text[line - 1] != '\n') line--;
  if (line == at)
    return at > 0 ? at - 1 : 0;
  for (size_t end = line;; line = end) {
    end = tl_sign_end(text, at, line);
    if (end >= at)
      return line;
  }
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

// --- Styles -----------------------------------------------------------------

// What a byte is drawn as: an index of style_codes.
typedef enum style {
  PLAIN,
  KEYWORD,
  CALL,
  NUMBER,
  STRING,
  TYPE,
  COMMENT,
  WRONG,
  MATCHED,
  FAINT,
} style;

static const char *const style_codes[] = {
    [PLAIN] = "",        [KEYWORD] = TL_MAGENTA, [CALL] = TL_BLUE,
    [NUMBER] = TL_CYAN,  [STRING] = TL_GREEN,    [TYPE] = TL_YELLOW,
    [COMMENT] = TL_GREY, [WRONG] = TL_RED_LINE,  [MATCHED] = TL_REVERSE,
    [FAINT] = TL_GREY,
};

// Styles of tokens that have one; others are plain.
static const unsigned char token_styles[] = {
    [TALLY_TOKEN_KEYWORD] = KEYWORD, [TALLY_TOKEN_CALL] = CALL,
    [TALLY_TOKEN_NUMBER] = NUMBER,   [TALLY_TOKEN_STRING] = STRING,
    [TALLY_TOKEN_TYPE] = TYPE,       [TALLY_TOKEN_COMMENT] = COMMENT,
    [TALLY_TOKEN_ERROR] = WRONG,
};

// What is outside of the text, or of no bytes, is left out, so that callers
// need not ask. Later styles go over earlier ones.
static void paint(unsigned char *styles, size_t nbytes, size_t begin,
                  size_t end, style s) {
  if (begin < end && end <= nbytes)
    memset(styles + begin, (int)s, end - begin);
}

// A bracket beside the cursor is shown with its other half: the one before the
// cursor, which was just typed, or else the one behind it.
// A token's match is its own begin where it has no other half.
static void paint_brackets(unsigned char *styles, const tl_view *view,
                           const tally_token *tokens, size_t count) {
  const tally_token *found = NULL;
  for (size_t i = 0; i < count; i++) {
    const tally_token *t = &tokens[i];
    if (t->match == t->begin ||
        (t->kind != TALLY_TOKEN_OPEN && t->kind != TALLY_TOKEN_CLOSE))
      continue;
    if (t->end == view->cursor || (t->begin == view->cursor && found == NULL))
      found = t;
  }
  if (found == NULL || view->is_over)
    return;
  paint(styles, view->nbytes, found->begin, found->begin + 1, MATCHED);
  paint(styles, view->nbytes, found->match, found->match + 1, MATCHED);
}

// The prompt's own signs, `?` and `:name`, are no language: what follows them
// has colours, but no errors.
// One style for each byte, and one behind the last for the text's end. Without
// memory for the tokens the text is plain. Each drawing lexes all of the text
// anew: a prompt's text is short, and a quote changes all that follows it.
static void colour_text(tally_vm *vm, const tl_view *view,
                        unsigned char *styles) {
  size_t nbytes = view->nbytes, begin = 0;
  bool is_own = nbytes > 0 && strchr(":?", view->text[0]) != NULL;
  memset(styles, PLAIN, nbytes + 1);
  if (is_own)
    begin = strcspn(view->text, " ");
  paint(styles, nbytes, 0, begin, KEYWORD);
  // Tokens count from here; their places are moved to the text's below.
  const char *text = view->text + begin;
  size_t count = tally_tokens(vm, text, nbytes - begin, NULL, 0);
  tally_token *tokens = calloc(count + 1, sizeof *tokens);
  if (tokens == NULL)
    return;
  tally_tokens(vm, text, nbytes - begin, tokens, count);
  for (size_t i = 0; i < count; i++) {
    tally_token *t = &tokens[i];
    size_t style_at = t->kind == TALLY_TOKEN_ERROR && is_own
                          ? (size_t)TALLY_TOKEN_OTHER
                          : (size_t)t->kind;
    t->begin += begin, t->end += begin, t->match += begin;
    paint(styles, nbytes, t->begin, t->end,
          (style)(style_at < sizeof token_styles ? token_styles[style_at] : 0));
  }
  paint_brackets(styles, view, tokens, count);
  paint(styles, nbytes, view->wrong_begin, view->wrong_end, WRONG);
  free(tokens);
}

// --- Rows -------------------------------------------------------------------

// Rows as they are laid out: bytes for the terminal, and where each row begins.
typedef struct layout {
  tl_screen *screen;
  FILE *to;      // a stream in memory
  long *begins;  // of each row, its first byte
  size_t row, capacity;
  int column;  // cells of the row so far
  style style;
  size_t cursor_row;
  int cursor_column;
  bool failed;
} layout;

// Styles do not nest: each code is preceded by the plain one, unless plain it
// is. Without colours nothing is written, and the bytes are the same but for
// them.
static void set_style(layout *l, style s) {
  if (!l->screen->has_colours || s == l->style)
    return;
  if (l->style != PLAIN)
    fputs(TL_PLAIN, l->to);
  fputs(style_codes[s], l->to);
  l->style = s;
}

// Makes room for the number of one more row, in both tables.
// The screen's table may be larger from a drawing before, and shrinks here;
// what that one has left in it was read by rows_up already. False: a table may
// have grown, and both are valid.
static bool grow_tables(layout *l) {
  if (l->row + 1 < l->capacity)
    return true;
  size_t capacity = l->capacity * 2 + 64;
  long *begins = realloc(l->begins, capacity * sizeof *begins);
  if (begins != NULL)
    l->begins = begins;
  int *widths = realloc(l->screen->widths, capacity * sizeof *widths);
  if (widths != NULL)
    l->screen->widths = widths;
  if (begins == NULL || widths == NULL)
    return false;
  l->capacity = capacity;
  return true;
}

// Ends the row. Each is written by itself, so its style ends with it.
// Without memory the row goes on, longer than the terminal is wide; l->failed
// says that nothing of it is to be shown. The bytes of row i are [begins[i],
// begins[i + 1]), in the stream as it stands at the end.
static void next_row(layout *l) {
  style s = l->style;
  set_style(l, PLAIN);
  l->failed = l->failed || !grow_tables(l);
  if (l->failed)
    return;
  l->screen->widths[l->row++] = l->column;
  l->begins[l->row] = ftell(l->to);
  l->column = 0;
  set_style(l, s);
}

// Draws one grapheme. The last column stays empty: what terminals do behind it
// differs. What has no sign of its own is drawn as a blank.
//
//     columns 10    012345678·     · the last column: nothing is ever put there
//
// A terminal of 4 columns, the fewest that are reckoned with, has room for 3
// cells, so a sign of two always fits an empty row and no row is empty twice.
static void put_sign(layout *l, const char *text, size_t begin, size_t end) {
  int width = sign_width(text, begin, end);
  utf8proc_int32_t code;
  if (l->column + width > l->screen->columns - 1)
    next_row(l);
  read_character(text, end, begin, &code);
  if (is_control(code))
    fprintf(l->to, "%*s", width, "");
  else
    fwrite(text + begin, 1, end - begin, l->to);
  l->column += width;
}

// Draws a text of one line as far as there is room in the row, in one style.
// [text] has no end of line. The style ends with it.
static void put_cut(layout *l, const char *text, size_t nbytes, style s) {
  set_style(l, s);
  for (size_t at = 0, end; at < nbytes; at = end) {
    end = tl_sign_end(text, nbytes, at);
    if (l->column + sign_width(text, at, end) > l->screen->columns - 1)
      break;
    put_sign(l, text, at, end);
  }
  set_style(l, PLAIN);
}

// Prompts take no style of the text's. At less than 20 columns they are one
// sign, else nothing would be left for the text.
// Of "tally> " and "  ...> " the last two bytes stay, "> ".
static void put_prompt(layout *l, const char *prompt) {
  style s = l->style;
  set_style(l, PLAIN);
  if (l->screen->columns < 20)
    prompt += strlen(prompt) > 2 ? strlen(prompt) - 2 : 0;
  put_cut(l, prompt, strlen(prompt), PLAIN);
  set_style(l, s);
}

// The text with its prompts, then the hint behind it.
// The text's end is a place of its own, where the cursor may stand, so the
// loop has one pass more than there are signs. The cursor's place is where its
// sign is drawn, or within whose bytes it is.
static void lay_out_text(layout *l, const tl_view *view,
                         const unsigned char *styles) {
  put_prompt(l, view->prompt);
  for (size_t at = 0, end; at <= view->nbytes; at = end) {
    bool is_end = at == view->nbytes;
    end = is_end ? at + 1 : tl_sign_end(view->text, view->nbytes, at);
    // A wide sign at the edge stands in the next row, and the cursor on it.
    if (!is_end &&
        l->column + sign_width(view->text, at, end) > l->screen->columns - 1)
      next_row(l);
    if (at <= view->cursor && view->cursor < end) {
      l->cursor_row = l->row;
      l->cursor_column = l->column;
    }
    set_style(l, is_end ? PLAIN : (style)styles[at]);
    if (is_end)
      break;
    if (view->text[at] == '\n') {
      next_row(l);
      put_prompt(l, view->more);
    } else {
      put_sign(l, view->text, at, end);
    }
  }
  if (view->hint != NULL)
    put_cut(l, view->hint, strcspn(view->hint, "\n"), FAINT);
}

// Each line of what stands below, cut where the row ends.
// An empty line is a row, a missing one is none.
static void lay_out_below(layout *l, const char *below) {
  while (below != NULL && *below != 0) {
    size_t nbytes = strcspn(below, "\n");
    next_row(l);
    put_cut(l, below, nbytes, FAINT);
    below += nbytes + (below[nbytes] == '\n');
  }
}

// --- The terminal -----------------------------------------------------------

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

// The column as well: rows_up reckons with it where the window became
// narrower. Widths stay, of no rows.
void tl_screen_forget(tl_screen *screen) {
  screen->row = screen->row_count = screen->column = 0;
}

void tl_screen_free(tl_screen *screen) {
  free(screen->widths);
  screen->widths = NULL;
}

// How far up the first row is. A terminal that became narrower has cut the rows
// that it shows, as most do; one that has not loses lines above the prompt.
//
//     80 columns, cursor in row 1        40 columns: row 0 was cut in two
//     row 0  ▒▒▒▒▒▒▒▒▒▒▒▒▒▒ 60 cells     ▒▒▒▒▒▒▒▒▒▒
//     row 1  ▒▒▒▏                        ▒▒▒▒
//                                        ▒▒▒▏              2 up, not 1
static int rows_up(const tl_screen *screen, int columns) {
  int up = screen->row;
  if (columns >= screen->columns || columns <= 0)
    return up;
  for (int i = 0; i < screen->row; i++)
    up += screen->widths[i] > 0 ? (screen->widths[i] - 1) / columns : 0;
  return up + screen->column / columns;
}

// The rows that are shown where the terminal is not high enough: those around
// the cursor. Lines below the text give way first.
//
//     text_rows > high   the text alone, scrolled so far that the cursor's
//                        row is the last one, or from the begin
//     all > high         the text, and below it what there is room for
//     else               all
//
// Gives rows [*first, *behind), at least one and at most [high], the cursor's
// row among them. l->row is the last row.
static void choose_window(const layout *l, size_t text_rows, size_t high,
                          size_t *first, size_t *behind) {
  size_t all = l->row + 1;
  if (all > high)
    all = text_rows > high ? text_rows : high;
  *first = l->cursor_row >= high ? l->cursor_row - high + 1 : 0;
  *behind = *first + high < all ? *first + high : all;
}

// The cursor is hidden meanwhile, so that it does not flicker.
// Rows that were there before and are no more are erased: each row to its end,
// and behind the last one all of the screen. The cursor then goes up from the
// last row to its own. One write, so that a terminal shows it at once.
static void show_rows(layout *l, const char *bytes, size_t text_rows, int up,
                      bool is_over) {
  tl_screen *s = l->screen;
  char *out = NULL;
  size_t nbytes, first, behind;
  FILE *to = open_memstream(&out, &nbytes);
  if (to == NULL)
    return;
  choose_window(l, text_rows, (size_t)s->rows, &first, &behind);
  fputs("\033[?25l\r", to);
  if (up > 0)
    fprintf(to, "\033[%dA", up);
  for (size_t i = first; i < behind; i++) {
    fwrite(bytes + l->begins[i], 1, (size_t)(l->begins[i + 1] - l->begins[i]),
           to);
    fputs(i + 1 < behind ? "\033[K\r\n" : "\033[J", to);
    s->widths[i - first] = s->widths[i];
  }
  s->row_count = (int)(behind - first);
  s->row = (int)(l->cursor_row - first);
  s->column = l->cursor_column;
  if (is_over)
    fputs("\r\n", to);
  else if (s->row_count - 1 > s->row)
    fprintf(to, "\033[%dA", s->row_count - 1 - s->row);
  if (!is_over)
    fputs("\r", to);
  if (!is_over && s->column > 0)
    fprintf(to, "\033[%dC", s->column);
  fputs("\033[?25h", to);
  fclose(to);
  if (out != NULL)
    tl_screen_write(out, nbytes);
  free(out);
}

// Reads the size anew each time, as a window may have changed; what does not
// say its size has 80 columns.
// Returns how far the first row is up, which depends on the size before.
static int measure(tl_screen *screen) {
  int columns = tl_terminal_width(STDOUT_FILENO);
  int rows = tl_terminal_height(STDOUT_FILENO);
  if (columns <= 0)
    columns = 80;
  int up = rows_up(screen, columns);
  screen->columns = columns < 4 ? 4 : columns;
  screen->rows = rows <= 0 ? 24 : rows;
  return up;
}

// Nothing is written before all of it is laid out: without memory the terminal
// shows what it did. fflush gives [bytes] their value, and says whether any
// write to the stream has failed.
void tl_screen_draw(tl_screen *screen, tally_vm *vm, const tl_view *view) {
  char *bytes = NULL;
  size_t nbytes;
  int up = measure(screen);
  layout l = {.screen = screen, .to = open_memstream(&bytes, &nbytes)};
  unsigned char *styles = malloc(view->nbytes + 1);
  l.failed = l.to == NULL || styles == NULL || !grow_tables(&l);
  if (!l.failed) {
    l.begins[0] = 0;
    if (screen->has_colours)
      colour_text(vm, view, styles);
    else
      memset(styles, PLAIN, view->nbytes + 1);
    lay_out_text(&l, view, styles);
    size_t text_rows = l.row + 1;
    lay_out_below(&l, view->below);
    next_row(&l);
    if (!l.failed && fflush(l.to) == 0) {
      l.row--;
      show_rows(&l, bytes, text_rows, up, view->is_over);
    }
  }
  if (l.to != NULL)
    fclose(l.to);
  if (view->is_over)
    tl_screen_forget(screen);
  free(bytes);
  free(l.begins);
  free(styles);
}
