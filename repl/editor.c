// Inputs edited on a terminal: see editor.h.
//
// Every change of the text goes through change(), which keeps what was before
// for undo. A key leads to an action in one of three tables; a motion, which
// tells a place from a place, serves moving, deleting and vi's operators alike.
//
// Order: text, motions, changes, history, hints, drawing, actions, vi, reading.
#include "repl/editor.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/commands.h"
#include "repl/completion.h"
#include "repl/history.h"
#include "repl/keys.h"
#include "repl/screen.h"
#include "repl/session.h"

enum { UNDO_MOST = 200, INDENT = 2 };

// The text at a time.
typedef struct state {
  char *text;
  size_t nbytes, cursor;
} state;

typedef struct states {
  state items[UNDO_MOST];
  size_t count;
} states;

// What the last key did, where the next one of its kind goes on with it.
typedef enum deed { MOVED, TYPED, KILLED, WENT } deed;

// How the keys are read: vi has two modes, and a search one of its own.
typedef enum mode { TYPING, COMMANDING, SEARCHING } mode;

struct tl_editor {
  tally_vm *vm;
  tl_screen screen;
  tl_history history;
  char *text;  // with room for an end of line and a zero
  size_t nbytes, cursor, capacity;
  states undo, redo;
  char *killed;  // the text that was deleted last; NULL: none
  size_t killed_bytes;
  deed did, does;
  mode mode;
  bool is_vi;
  int pending;    // of vi: an operator that waits for a motion; 0: none
  bool indents;   // the line's blanks came by themselves
  size_t at;      // the entry of the history that is shown, or its count
  state draft;    // what was typed before one was shown
  char *sought;   // what is searched for
  char *list;     // choices, shown until the next key; NULL: none
  char *offered;  // begins the next input; NULL: nothing does
  bool is_over;
  tl_reading reading;  // how it ended
};

// --- Motions ----------------------------------------------------------------

// Where a cursor at [at] goes; the same place where there is nothing to go to.
typedef size_t motion(const tl_editor *e, size_t at);

static size_t sign_left(const tl_editor *e, size_t at) {
  return tl_sign_begin(e->text, at);
}

static size_t sign_right(const tl_editor *e, size_t at) {
  return tl_sign_end(e->text, e->nbytes, at);
}

static size_t line_begin(const tl_editor *e, size_t at) {
  while (at > 0 && e->text[at - 1] != '\n') at--;
  return at;
}

static size_t line_end(const tl_editor *e, size_t at) {
  while (at < e->nbytes && e->text[at] != '\n') at++;
  return at;
}

static size_t text_begin(const tl_editor *e, size_t at) {
  (void)e, (void)at;
  return 0;
}

static size_t text_end(const tl_editor *e, size_t at) {
  (void)at;
  return e->nbytes;
}

// Letters, digits and all that is not ASCII make words.
static bool is_in_word(const tl_editor *e, size_t at) {
  unsigned char c = (unsigned char)e->text[at];
  return c >= 128 || c == '_' || (c >= '0' && c <= '9') ||
         ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static size_t word_left(const tl_editor *e, size_t at) {
  while (at > 0 && !is_in_word(e, at - 1)) at--;
  while (at > 0 && is_in_word(e, at - 1)) at--;
  return at;
}

static size_t word_right(const tl_editor *e, size_t at) {
  while (at < e->nbytes && !is_in_word(e, at)) at++;
  while (at < e->nbytes && is_in_word(e, at)) at++;
  return at;
}

// The begin of the next word, as in vi.
static size_t word_next(const tl_editor *e, size_t at) {
  while (at < e->nbytes && is_in_word(e, at)) at++;
  while (at < e->nbytes && !is_in_word(e, at)) at++;
  return at;
}

// To blanks alone, as Ctrl-W deletes in a shell.
static size_t blank_left(const tl_editor *e, size_t at) {
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) != NULL) at--;
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) == NULL) at--;
  return at;
}

static size_t first_sign(const tl_editor *e, size_t at) {
  at = line_begin(e, at);
  return at + strspn(e->text + at, " ");
}

// Whether only blanks stand between the line's begin and the cursor.
static bool is_at_front(const tl_editor *e) {
  return first_sign(e, e->cursor) >= e->cursor;
}

// --- Changes ----------------------------------------------------------------

static void free_states(states *s) {
  while (s->count > 0) free(s->items[--s->count].text);
}

// A copy of the text; its text is NULL without memory.
static state copy_state(const tl_editor *e) {
  state s = {malloc(e->nbytes + 1), e->nbytes, e->cursor};
  if (s.text != NULL)
    memcpy(s.text, e->text, e->nbytes + 1);
  return s;
}

// Of a full list the oldest is forgotten.
static void push_state(states *to, const tl_editor *e) {
  state s = copy_state(e);
  if (s.text == NULL)
    return;
  if (to->count == UNDO_MOST) {
    free(to->items[0].text);
    memmove(to->items, to->items + 1, --to->count * sizeof *to->items);
  }
  to->items[to->count++] = s;
}

// Room for so many bytes, an end of line and a zero.
static bool make_room(tl_editor *e, size_t nbytes) {
  if (e->capacity > nbytes + 2)
    return true;
  size_t capacity = nbytes * 2 + 256;
  char *text = realloc(e->text, capacity);
  if (text == NULL)
    return false;
  e->text = text;
  e->capacity = capacity;
  return true;
}

// Puts [n] bytes in place of [begin, end), for which there is room, and the
// cursor behind them.
static void splice(tl_editor *e, size_t begin, size_t end, const char *with,
                   size_t n) {
  memmove(e->text + begin + n, e->text + end, e->nbytes - end);
  if (n > 0)
    memcpy(e->text + begin, with, n);
  e->nbytes += n - (end - begin);
  e->text[e->nbytes] = 0;
  e->cursor = begin + n;
}

// The one way to change the text. Characters typed in a row are undone at once.
// The text is no longer one of the history.
static void change(tl_editor *e, size_t begin, size_t end, const char *with,
                   size_t n) {
  if (!make_room(e, e->nbytes - (end - begin) + n))
    return;
  if (e->does != TYPED || e->did != TYPED)
    push_state(&e->undo, e);
  free_states(&e->redo);
  splice(e, begin, end, with, n);
  e->at = e->history.count;
}

static void insert(tl_editor *e, const char *text, size_t nbytes) {
  change(e, e->cursor, e->cursor, text, nbytes);
}

static void restore(tl_editor *e, states *from, states *to) {
  if (from->count == 0)
    return;
  push_state(to, e);
  state s = from->items[--from->count];
  if (make_room(e, s.nbytes))
    splice(e, 0, e->nbytes, s.text, s.nbytes);
  e->cursor = s.cursor <= e->nbytes ? s.cursor : e->nbytes;
  free(s.text);
}

static void undo(tl_editor *e) {
  restore(e, &e->undo, &e->redo);
}
static void redo(tl_editor *e) {
  restore(e, &e->redo, &e->undo);
}

// Keeps the bytes for Ctrl-Y. Those deleted in a row are kept together, in
// their order.
static void keep(tl_editor *e, size_t begin, size_t end) {
  size_t n = end - begin, old = e->did == KILLED ? e->killed_bytes : 0;
  char *all = malloc(old + n + 1);
  if (all == NULL)
    return;
  bool is_before = begin < e->cursor;
  if (old > 0)
    memcpy(all + (is_before ? n : 0), e->killed, old);
  memcpy(all + (is_before ? 0 : old), e->text + begin, n);
  free(e->killed);
  e->killed = all;
  e->killed_bytes = old + n;
  e->does = KILLED;
}

// Deletes from the cursor to where the motion goes.
static void kill_to(tl_editor *e, motion *go) {
  size_t to = go(e, e->cursor);
  size_t begin = to < e->cursor ? to : e->cursor;
  size_t end = to < e->cursor ? e->cursor : to;
  if (begin == end)
    return;
  keep(e, begin, end);
  change(e, begin, end, NULL, 0);
}

// At a line's end its end goes.
static void kill_line(tl_editor *e) {
  kill_to(e, e->cursor < e->nbytes && e->text[e->cursor] == '\n' ? sign_right
                                                                 : line_end);
}

static void yank(tl_editor *e) {
  if (e->killed != NULL)
    insert(e, e->killed, e->killed_bytes);
}

// The sign before the cursor, or as many blanks as an indentation has.
static void erase(tl_editor *e) {
  size_t begin = tl_sign_begin(e->text, e->cursor);
  size_t front = line_begin(e, e->cursor);
  if (is_at_front(e) && e->cursor - front >= INDENT)
    begin = e->cursor - INDENT;
  if (begin < e->cursor)
    change(e, begin, e->cursor, NULL, 0);
}

static void erase_next(tl_editor *e) {
  size_t end = sign_right(e, e->cursor);
  if (end > e->cursor)
    change(e, e->cursor, end, NULL, 0);
}

// The two signs around the cursor change places; at the end the last two.
static void transpose(tl_editor *e) {
  size_t middle = e->cursor < e->nbytes ? e->cursor : sign_left(e, e->cursor);
  size_t begin = sign_left(e, middle), end = sign_right(e, middle);
  char both[256];
  if (begin == middle || end == middle || end - begin > sizeof both)
    return;
  memcpy(both, e->text + middle, end - middle);
  memcpy(both + (end - middle), e->text + begin, middle - begin);
  change(e, begin, end, both, end - begin);
}

// --- History ----------------------------------------------------------------

// Shows an entry of the history, or the draft again, and stays there until the
// text is changed.
static void show_entry(tl_editor *e, size_t at) {
  const tl_history *h = &e->history;
  if (at < h->count)
    change(e, 0, e->nbytes, h->entries[at].text, h->entries[at].nbytes);
  else
    change(e, 0, e->nbytes, e->draft.text, e->draft.nbytes);
  e->at = at;
  e->does = WENT;
}

// The next entry, in that direction, that begins as the draft does up to where
// its cursor was.
static void go_in_history(tl_editor *e, int step) {
  size_t count = e->history.count;
  if (e->at == count) {
    free(e->draft.text);
    e->draft = copy_state(e);
  }
  if (e->draft.text == NULL || (e->at == count && step > 0))
    return;
  size_t at = tl_history_find(&e->history, e->at, step, e->draft.text,
                              e->draft.cursor, false);
  if (at < count || step > 0)
    show_entry(e, at);
}

static void older(tl_editor *e) {
  go_in_history(e, -1);
}
static void newer(tl_editor *e) {
  go_in_history(e, 1);
}

// To the same column of the line above or below; false: there is none.
static bool go_to_line(tl_editor *e, int step) {
  size_t begin = line_begin(e, e->cursor), end = line_end(e, e->cursor);
  if (step < 0 ? begin == 0 : end == e->nbytes)
    return false;
  int column = tl_cells(e->text + begin, e->cursor - begin);
  size_t at = step < 0 ? line_begin(e, begin - 1) : end + 1;
  size_t stop = line_end(e, at);
  while (at < stop && column > 0) {
    size_t next = sign_right(e, at);
    column -= tl_cells(e->text + at, next - at);
    at = next;
  }
  e->cursor = at;
  return true;
}

static void up(tl_editor *e) {
  if (!go_to_line(e, -1))
    older(e);
}

static void down(tl_editor *e) {
  if (!go_to_line(e, 1))
    newer(e);
}

// --- Hints ------------------------------------------------------------------

// The rest of the newest input that begins as this one; NULL: there is none, or
// no colour to tell it from what was typed.
static const char *hint_of(const tl_editor *e) {
  const tl_history *h = &e->history;
  if (!e->screen.has_colours || e->nbytes == 0 || e->cursor < e->nbytes ||
      e->mode != TYPING || e->is_over)
    return NULL;
  size_t at = h->count;
  do {
    at = tl_history_find(h, at, -1, e->text, e->nbytes, false);
  } while (at < h->count && h->entries[at].nbytes == e->nbytes);
  return at < h->count ? h->entries[at].text + e->nbytes : NULL;
}

// Takes the hint, or moves.
static bool take_hint(tl_editor *e) {
  const char *hint = hint_of(e);
  if (hint != NULL)
    insert(e, hint, strlen(hint));
  return hint != NULL;
}

// The tokens before the cursor; *count are there. NULL: no memory. The caller
// frees them.
static tally_token *tokens_before(const tl_editor *e, size_t *count) {
  *count = tally_tokens(e->vm, e->text, e->cursor, NULL, 0);
  tally_token *tokens = calloc(*count + 1, sizeof *tokens);
  if (tokens != NULL)
    tally_tokens(e->vm, e->text, e->cursor, tokens, *count);
  return tokens;
}

static bool is_open(const tally_token *t) {
  return t->kind == TALLY_TOKEN_OPEN && t->match == t->begin;
}

// The name of the function among whose arguments the cursor stands, such as
// linalg.det; false: it stands among none.
static bool find_call(const tl_editor *e, char *name, size_t size) {
  size_t count, at;
  tally_token *tokens = tokens_before(e, &count);
  if (tokens == NULL)
    return false;
  for (at = count; at > 0 && !is_open(&tokens[at - 1]); at--) {
  }
  bool found = at > 1 && tokens[at - 2].kind == TALLY_TOKEN_CALL;
  if (found) {
    size_t first = at - 2, end = tokens[first].end;
    while (first > 1 && e->text[tokens[first - 1].begin] == '.' &&
           tokens[first - 2].kind == TALLY_TOKEN_NAME)
      first -= 2;
    int n = (int)(end - tokens[first].begin);
    snprintf(name, size, "%.*s", n, e->text + tokens[first].begin);
  }
  free(tokens);
  return found;
}

// How the function is called, for the line below: "mean(x, axis: none)". False
// where that is not known. What the session defines hides the library's.
static bool spell_call(const tl_editor *e, char *to, size_t size) {
  char name[128];
  tally_value described;
  const char *text;
  size_t nbytes = 0;
  if (!find_call(e, name, sizeof name) ||
      tally_describe(e->vm, name, &described) != TALLY_OK)
    return false;
  if (tally_to_string(e->vm, described, &text, &nbytes) == TALLY_OK)
    snprintf(to, size, "%.*s", (int)strcspn(text, "\n"), text);
  tally_release(e->vm, described);
  if (nbytes > 0)
    return true;
  const char *parameters = tally_signature(e->vm, name);
  if (parameters != NULL)
    snprintf(to, size, "%s(%s)", name, parameters);
  return parameters != NULL;
}

// --- Drawing ----------------------------------------------------------------

static void draw(tl_editor *e) {
  char below[512];
  tl_view view = {.prompt = "tally> ",
                  .more = "  ...> ",
                  .text = e->text,
                  .nbytes = e->nbytes,
                  .cursor = e->cursor,
                  .hint = hint_of(e)};
  if (e->mode == SEARCHING) {
    snprintf(below, sizeof below, "search: %s", e->sought);
    view.below = below;
  } else if (e->list != NULL) {
    view.below = e->list;
  } else if (spell_call(e, below, sizeof below)) {
    view.below = below;
  }
  tl_screen_draw(&e->screen, e->vm, &view);
}

// What the grammar refuses is underlined where it stands, as the report below
// has it: the token at that line and column.
static void find_wrong(tl_editor *e, tl_view *view) {
  tally_value laid_out;
  if (tl_is_command(e->text, e->nbytes) || e->text[0] == '?')
    return;
  if (tally_format_source(e->vm, "<prompt>", e->text, e->nbytes, &laid_out) ==
      TALLY_OK) {
    tally_release(e->vm, laid_out);
    return;
  }
  const tally_error_info *error = tally_error(e->vm);
  size_t at = 0;
  for (int line = 1; line < error->line && at < e->nbytes; line++)
    at = line_end(e, at) + 1;
  for (int column = 1; column < error->column && at < e->nbytes;) {
    size_t next = sign_right(e, at);
    column += tl_cells(e->text + at, next - at);
    at = next;
  }
  view->wrong_begin = at < e->nbytes ? at : e->nbytes;
  view->wrong_end = at < e->nbytes && is_in_word(e, at)
                        ? word_right(e, at)
                        : sign_right(e, view->wrong_begin);
}

// The input as it stays on the screen; the cursor is below it.
static void draw_last(tl_editor *e) {
  tl_view view = {.prompt = "tally> ",
                  .more = "  ...> ",
                  .text = e->text,
                  .nbytes = e->nbytes,
                  .cursor = e->nbytes,
                  .is_over = true};
  if (e->reading == TL_READ_LINE && e->screen.has_colours)
    find_wrong(e, &view);
  tl_screen_draw(&e->screen, e->vm, &view);
}

// --- Actions ----------------------------------------------------------------

typedef void action(tl_editor *e);

static void finish(tl_editor *e, tl_reading reading) {
  e->is_over = true;
  e->reading = reading;
}

static void interrupt(tl_editor *e) {
  finish(e, TL_READ_INTERRUPTED);
}

static void end_or_erase(tl_editor *e) {
  if (e->nbytes == 0)
    finish(e, TL_READ_END);
  else
    erase_next(e);
}

// The blanks of the line, and some more behind a bracket that it leaves open.
// None within a string.
static size_t indentation(const tl_editor *e) {
  size_t begin = line_begin(e, e->cursor), count, first = first_sign(e, begin);
  size_t blanks = (first < e->cursor ? first : e->cursor) - begin;
  tally_token *tokens = tokens_before(e, &count);
  bool opens = false;
  for (size_t i = 0; tokens != NULL && i < count; i++)
    opens = opens || (is_open(&tokens[i]) && tokens[i].begin >= begin);
  if (tokens != NULL && count > 0 && e->text[e->cursor - 1] != '"' &&
      tokens[count - 1].kind == TALLY_TOKEN_STRING &&
      tokens[count - 1].end == e->cursor)
    blanks = 0;
  free(tokens);
  return blanks + (opens ? INDENT : 0);
}

// Text that comes faster than keys is pasted, and has its blanks already.
static void break_line(tl_editor *e) {
  char blanks[256];
  size_t n = tl_keys_pending() ? 0 : indentation(e);
  n = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
  blanks[0] = '\n';
  memset(blanks + 1, ' ', n);
  insert(e, blanks, n + 1);
  e->indents = n > 0;
}

// An input that is whole runs wherever its cursor is, else it gets a line more.
static void enter(tl_editor *e) {
  e->text[e->nbytes] = '\n';
  e->text[e->nbytes + 1] = 0;
  bool whole = tl_input_is_whole(e->vm, e->text, e->nbytes + 1);
  e->text[e->nbytes] = 0;
  if (whole)
    finish(e, TL_READ_LINE);
  else
    break_line(e);
}

static void complete(tl_editor *e) {
  tl_choices c;
  if (is_at_front(e)) {
    insert(e, "  ", INDENT);  // Tab at the front indents
    e->indents = true;
    return;
  }
  char behind = e->text[e->cursor];
  e->text[e->cursor] = 0;
  tl_choices_find(&c, e->vm, e->text);
  size_t typed = c.count == 0 ? 0 : tl_choices_typed(&c, e->text);
  e->text[e->cursor] = behind;
  size_t common = c.count == 0 ? 0 : tl_choices_common(&c);
  if (c.sign != NULL)
    change(e, e->cursor - c.replaced, e->cursor, c.sign, strlen(c.sign));
  else if (common > typed)
    insert(e, c.names[0] + typed, common - typed);
  else if (c.count > 1)
    e->list = tl_choices_list(&c, e->screen.columns - 1, e->screen.rows / 2);
  tl_choices_free(&c);
}

// The terminal sends a paste in brackets, and has a cursor for each of vi's
// modes.
static bool take_terminal(tl_editor *e) {
  tl_screen_forget(&e->screen);
  if (!tl_keys_begin())
    return false;
  tl_screen_write("\033[?2004h", 8);
  return true;
}

static void give_terminal(tl_editor *e) {
  if (e->is_vi)
    tl_screen_write("\033[0 q", 5);
  tl_screen_write("\033[?2004l", 8);
  tl_keys_end();
}

// Stops the command as the shell expects; what was typed is drawn again.
static void suspend(tl_editor *e) {
  tl_screen_write("\033[J\r\n", 5);
  give_terminal(e);
  raise(SIGTSTP);
  take_terminal(e);
  tl_keys_were_stopped();
}

// After a stop from outside the terminal has the shell's ways.
static void heed_signal(tl_editor *e) {
  if (tl_session_was_interrupted()) {
    interrupt(e);
  } else if (tl_keys_were_stopped()) {
    give_terminal(e);
    take_terminal(e);
  }
}

static void clear(tl_editor *e) {
  tl_screen_write("\033[H\033[2J", 7);
  tl_screen_forget(&e->screen);
}

static void search(tl_editor *e) {
  free(e->sought);
  free(e->draft.text);
  e->draft = copy_state(e);
  e->sought = calloc(1, 1);
  if (e->sought != NULL && e->draft.text != NULL)
    e->mode = SEARCHING;
}

static void to_commands(tl_editor *e) {
  if (!e->is_vi)
    return;
  if (e->mode == TYPING && e->cursor > line_begin(e, e->cursor))
    e->cursor = sign_left(e, e->cursor);
  e->mode = COMMANDING;
  e->pending = 0;
}

// A character that is typed. A closing bracket at the front goes back by one
// indentation, if the blanks came by themselves.
static void type_key(tl_editor *e, int key) {
  char bytes[4];
  size_t n = tl_key_spell(key, bytes);
  size_t begin = e->cursor, front = line_begin(e, begin);
  if (strchr("]})", key < 0x80 ? key : 'x') != NULL && e->indents &&
      is_at_front(e) && begin - front >= INDENT)
    begin -= INDENT;
  e->does = TYPED;
  change(e, begin, e->cursor, bytes, n);
}

// What is pasted is text, with ends of lines as they are; other control
// characters are left out.
static void paste(tl_editor *e) {
  char *text = NULL, bytes[4];
  size_t nbytes;
  int key = TL_KEY_UNKNOWN;
  FILE *to = open_memstream(&text, &nbytes);
  if (to == NULL)
    return;
  while (key != TL_KEY_PASTED && key != TL_KEY_CLOSED) {
    bool was_return = key == '\r';
    key = tl_keys_next();
    if (key == '\r' || (key == '\n' && !was_return))
      fputc('\n', to);
    else if (key == '\t' || (key >= 32 && key < 127))
      fputc(key, to);
    else if (key >= 0xa0 && key < TL_KEY_UP)
      fwrite(bytes, 1, tl_key_spell(key, bytes), to);
  }
  fclose(to);
  if (text != NULL)
    insert(e, text, nbytes);
  free(text);
}

// --- Search -----------------------------------------------------------------

// Shows the next entry in that direction that holds what is sought.
static void seek(tl_editor *e, size_t from, int step) {
  const tl_history *h = &e->history;
  size_t n = strlen(e->sought);
  size_t at = tl_history_find(h, from, step, e->sought, n, true);
  if (at == h->count)
    return;
  show_entry(e, at);
  for (size_t i = 0; i + n <= e->nbytes; i++) {
    if (memcmp(e->text + i, e->sought, n) == 0)
      e->cursor = i;
  }
}

// The text that is sought gets one character more, or one less.
static void change_sought(tl_editor *e, int key) {
  char bytes[4];
  size_t old = strlen(e->sought);
  if (key == 127) {
    e->sought[tl_sign_begin(e->sought, old)] = 0;
    return;
  }
  size_t n = tl_key_spell(key, bytes);
  char *longer = realloc(e->sought, old + n + 1);
  if (longer == NULL)
    return;
  memcpy(longer + old, bytes, n);
  longer[old + n] = 0;
  e->sought = longer;
}

// Any other key ends the search, and does what it does. True: it is done.
static bool search_key(tl_editor *e, int key) {
  size_t count = e->history.count;
  if (key == TL_CTRL('r')) {
    seek(e, e->at, -1);
  } else if (key == TL_CTRL('s')) {
    seek(e, e->at, 1);
  } else if (key == 127 || key == 8 || (key >= 32 && key < TL_KEY_UP)) {
    change_sought(e, key == 8 ? 127 : key);
    seek(e, e->at < count ? e->at + 1 : count, -1);
  } else if (key != TL_KEY_SIGNAL) {
    bool gives_up = key == TL_CTRL('c') || key == TL_CTRL('g');
    if (gives_up)
      show_entry(e, count);
    e->mode = TYPING;
    return gives_up || key == TL_KEY_ESCAPE;
  }
  return true;
}

// --- Keys -------------------------------------------------------------------

// At the end of the text these keys take the hint.
static void right_or_hint(tl_editor *e) {
  if (!take_hint(e))
    e->cursor = sign_right(e, e->cursor);
}

static void end_or_hint(tl_editor *e) {
  if (!take_hint(e))
    e->cursor = line_end(e, e->cursor);
}

static void kill_text_before(tl_editor *e) {
  kill_to(e, line_begin);
}
static void kill_blank_left(tl_editor *e) {
  kill_to(e, blank_left);
}
static void kill_word_left(tl_editor *e) {
  kill_to(e, word_left);
}
static void kill_word_right(tl_editor *e) {
  kill_to(e, word_right);
}

// Keys that move the cursor alone, in both modes.
static const struct {
  int key;
  motion *go;
} moves[] = {
    {TL_CTRL('a'), line_begin}, {TL_KEY_HOME, line_begin},
    {TL_CTRL('b'), sign_left},  {TL_KEY_LEFT, sign_left},
    {TL_ALT | 'b', word_left},  {TL_KEY_WORD_LEFT, word_left},
    {TL_ALT | 'f', word_right}, {TL_KEY_WORD_RIGHT, word_right},
    {TL_ALT | '<', text_begin}, {TL_ALT | '>', text_end},
};

static const struct {
  int key;
  action *act;
} actions[] = {
    {TL_KEY_ENTER, enter},
    {TL_CTRL('j'), enter},
    {TL_ALT | TL_KEY_ENTER, break_line},
    {TL_CTRL('c'), interrupt},
    {TL_CTRL('d'), end_or_erase},
    {TL_KEY_CLOSED, interrupt},
    {TL_KEY_SIGNAL, heed_signal},
    {TL_CTRL('z'), suspend},
    {TL_CTRL('l'), clear},
    {TL_CTRL('i'), complete},
    {TL_CTRL('r'), search},
    {TL_KEY_UP, up},
    {TL_KEY_DOWN, down},
    {TL_CTRL('p'), older},
    {TL_CTRL('n'), newer},
    {TL_KEY_RIGHT, right_or_hint},
    {TL_CTRL('f'), right_or_hint},
    {TL_KEY_END, end_or_hint},
    {TL_CTRL('e'), end_or_hint},
    {TL_KEY_DELETE, erase_next},
    {127, erase},
    {TL_CTRL('h'), erase},
    {TL_CTRL('k'), kill_line},
    {TL_CTRL('u'), kill_text_before},
    {TL_CTRL('w'), kill_blank_left},
    {TL_ALT | 127, kill_word_left},
    {TL_ALT | 'd', kill_word_right},
    {TL_CTRL('y'), yank},
    {TL_CTRL('t'), transpose},
    {TL_CTRL('_'), undo},
    {TL_ALT | '_', redo},
    {TL_KEY_PASTE, paste},
    {TL_KEY_ESCAPE, to_commands},
};

// Moves, or acts; false: the key does neither.
static bool bound_key(tl_editor *e, int key) {
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
    if (moves[i].key == key)
      return e->cursor = moves[i].go(e, e->cursor), true;
  }
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (actions[i].key == key)
      return actions[i].act(e), true;
  }
  return false;
}

// --- vi ---------------------------------------------------------------------

// The end of a word, which is within the motion.
static size_t word_last(const tl_editor *e, size_t at) {
  size_t end = word_right(e, at + 1 < e->nbytes ? at + 1 : at);
  return end > at ? sign_left(e, end) : at;
}

static const struct {
  char key;
  bool includes;  // an operator takes the sign that the motion ends on
  motion *go;
} vi_moves[] = {
    {'h', false, sign_left},  {'l', false, sign_right},
    {'w', false, word_next},  {'b', false, word_left},
    {'e', true, word_last},   {'0', false, line_begin},
    {'^', false, first_sign}, {'$', false, line_end},
    {' ', false, sign_right},
};

// d, c or y from the cursor to the place.
static void vi_operate(tl_editor *e, size_t to) {
  size_t begin = to < e->cursor ? to : e->cursor;
  size_t end = to < e->cursor ? e->cursor : to;
  e->did = MOVED;  // each is kept by itself
  keep(e, begin, end);
  if (e->pending != 'y')
    change(e, begin, end, NULL, 0);
  else
    e->cursor = begin;
  e->mode = e->pending == 'c' ? TYPING : COMMANDING;
}

// The second key of an operator: a motion, or the operator again for the line.
static void vi_second(tl_editor *e, int key) {
  if (key == e->pending) {
    size_t end = line_end(e, e->cursor);
    e->cursor = line_begin(e, e->cursor);
    vi_operate(e, end);
  } else if (e->pending == 'r') {
    char bytes[4];
    size_t at = e->cursor,
           n = key < 32 || key >= TL_KEY_UP ? 0 : tl_key_spell(key, bytes);
    if (n > 0 && at < e->nbytes)
      change(e, at, sign_right(e, at), bytes, n);
    e->cursor = at;
  }
  for (size_t i = 0; i < sizeof vi_moves / sizeof *vi_moves; i++) {
    if (vi_moves[i].key != key || key == e->pending || e->pending == 'r')
      continue;
    // As vi has it, cw leaves the blanks behind the word.
    bool is_cw = e->pending == 'c' && key == 'w';
    size_t to = (is_cw ? word_right : vi_moves[i].go)(e, e->cursor);
    vi_operate(e, vi_moves[i].includes ? sign_right(e, to) : to);
  }
  e->pending = 0;
}

static void vi_type_at(tl_editor *e, size_t at) {
  e->cursor = at;
  e->mode = TYPING;
}

// An operator with its motion in one key.
static void vi_short(tl_editor *e, int operator, motion * go) {
  e->pending = operator;
  vi_operate(e, go(e, e->cursor));
  e->pending = 0;
}

static void vi_command(tl_editor *e, int key) {
  size_t at = e->cursor;
  switch (key) {
    case 'i':
      vi_type_at(e, at);
      break;
    case 'a':
      vi_type_at(e, at < line_end(e, at) ? sign_right(e, at) : at);
      break;
    case 'I':
      vi_type_at(e, first_sign(e, at));
      break;
    case 'A':
      vi_type_at(e, line_end(e, at));
      break;
    case 'o':
      vi_type_at(e, line_end(e, at));
      break_line(e);
      break;
    case 'x':
      vi_short(e, 'd', sign_right);
      break;
    case 'X':
      vi_short(e, 'd', sign_left);
      break;
    case 'D':
      vi_short(e, 'd', line_end);
      break;
    case 'C':
      vi_short(e, 'c', line_end);
      break;
    case 's':
      vi_short(e, 'c', sign_right);
      break;
    case 'P':
      yank(e);
      break;
    case 'p':
      e->cursor = at < line_end(e, at) ? sign_right(e, at) : at;
      yank(e);
      break;
    case 'u':
      undo(e);
      break;
    case TL_CTRL('r'):
      redo(e);
      break;
    case 'k':
      up(e);
      break;
    case 'j':
      down(e);
      break;
    case '/':
      search(e);
      break;
    case 'd':
    case 'c':
    case 'y':
    case 'r':
      e->pending = key;
      break;
    default:
      break;
  }
  for (size_t i = 0; i < sizeof vi_moves / sizeof *vi_moves; i++) {
    if (vi_moves[i].key == key)
      e->cursor = vi_moves[i].go(e, at);
  }
}

// vi by TALLY_KEYS, or where a file of libedit's or readline's asks for it.
static bool asks_for_vi(const char *file, const char *phrase) {
  const char *home = getenv("HOME");
  char path[1024], line[256];
  bool asks = false;
  snprintf(path, sizeof path, "%s/%s", home == NULL ? "" : home, file);
  FILE *from = home == NULL ? NULL : fopen(path, "re");
  while (from != NULL && fgets(line, sizeof line, from) != NULL)
    asks = asks ||
           strncmp(line + strspn(line, " \t"), phrase, strlen(phrase)) == 0;
  if (from != NULL)
    fclose(from);
  return asks;
}

static bool wants_vi(void) {
  const char *keys = getenv("TALLY_KEYS");
  if (keys != NULL)
    return strcmp(keys, "vi") == 0;
  return asks_for_vi(".editrc", "bind -v") ||
         asks_for_vi(".inputrc", "set editing-mode vi");
}

// --- Reading ----------------------------------------------------------------

// Between commands the cursor stands on a sign, not behind the last one.
static void stay_on_sign(tl_editor *e) {
  if (e->mode == COMMANDING && e->pending == 0 &&
      e->cursor == line_end(e, e->cursor) &&
      e->cursor > line_begin(e, e->cursor))
    e->cursor = sign_left(e, e->cursor);
}

// What the key leads to.
static void press(tl_editor *e, int key) {
  e->does = MOVED;
  free(e->list);
  e->list = NULL;
  if (e->mode == SEARCHING && search_key(e, key)) {
    e->did = e->does;
    return;
  }
  if (e->mode == COMMANDING && e->pending != 0 && key < TL_KEY_UP) {
    vi_second(e, key);
  } else if (e->mode == COMMANDING &&
             ((key >= 32 && key < 127) || key == TL_CTRL('r'))) {
    vi_command(e, key);
  } else if (!bound_key(e, key) && key >= 32 && key < TL_KEY_UP) {
    type_key(e, key);
  }
  stay_on_sign(e);
  e->did = e->does;
}

// A block for commands, a bar for typing.
static void show_mode(const tl_editor *e) {
  if (e->is_vi)
    tl_screen_write(e->mode == COMMANDING ? "\033[2 q" : "\033[6 q", 5);
}

static void begin(tl_editor *e) {
  free_states(&e->undo);
  free_states(&e->redo);
  e->nbytes = e->cursor = 0;
  e->text[0] = 0;
  e->mode = TYPING;
  e->did = MOVED;
  e->is_over = e->indents = false;
  e->at = e->history.count;
  if (e->offered != NULL)
    insert(e, e->offered, strlen(e->offered));
  free(e->offered);
  e->offered = NULL;
}

// The terminal is taken before the prompt shows, else a quick Ctrl-D is the
// terminal's own. Nothing is drawn while more keys are there already.
tl_reading tl_editor_read(tl_editor *e, const char **text, size_t *nbytes) {
  begin(e);
  if (!take_terminal(e))
    return TL_READ_FAILED;
  draw(e);
  while (!e->is_over) {
    mode old = e->mode;
    int key = tl_keys_next();
    press(e, key);
    if (e->mode != old)
      show_mode(e);
    if (!e->is_over && !tl_keys_pending())
      draw(e);
    if (key == TL_KEY_CLOSED)
      e->reading = TL_READ_END;
  }
  draw_last(e);
  give_terminal(e);
  if (e->reading == TL_READ_LINE)
    tl_history_add(&e->history, e->text, e->nbytes);
  e->text[e->nbytes] = '\n';
  e->text[e->nbytes + 1] = 0;
  *text = e->text;
  *nbytes = e->nbytes + 1;
  return e->reading;
}

void tl_editor_offer(tl_editor *e, const char *text, size_t nbytes) {
  free(e->offered);
  e->offered = malloc(nbytes + 1);
  if (e->offered == NULL)
    return;
  memcpy(e->offered, text, nbytes);
  e->offered[nbytes] = 0;
}

const char *tl_editor_last(const tl_editor *e) {
  const tl_history *h = &e->history;
  return h->count == 0 ? "" : h->entries[h->count - 1].text;
}

tl_editor *tl_editor_open(tally_vm *vm) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !tl_terminal_is_able())
    return NULL;
  tl_editor *e = calloc(1, sizeof *e);
  if (e == NULL || !make_room(e, 0)) {
    free(e);
    return NULL;
  }
  e->vm = vm;
  e->screen.has_colours = tl_has_colours(STDOUT_FILENO);
  e->is_vi = wants_vi();
  tl_history_open(&e->history);
  return e;
}

void tl_editor_close(tl_editor *e) {
  if (e == NULL)
    return;
  free_states(&e->undo);
  free_states(&e->redo);
  tl_history_close(&e->history);
  tl_screen_free(&e->screen);
  free(e->text);
  free(e->killed);
  free(e->draft.text);
  free(e->sought);
  free(e->list);
  free(e->offered);
  free(e);
}
