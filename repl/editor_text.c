// The text that is edited, and all that changes it: see editor_internal.h.
//
// Order: motions, changes, lines, history.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/editor_internal.h"
#include "repl/keys.h"

// --- Motions ----------------------------------------------------------------

size_t tl_go_left(const tl_editor *e, size_t at) {
  return tl_sign_begin(e->text, at);
}

size_t tl_go_right(const tl_editor *e, size_t at) {
  return tl_sign_end(e->text, e->nbytes, at);
}

size_t tl_go_line_begin(const tl_editor *e, size_t at) {
  while (at > 0 && e->text[at - 1] != '\n') at--;
  return at;
}

size_t tl_go_line_end(const tl_editor *e, size_t at) {
  while (at < e->nbytes && e->text[at] != '\n') at++;
  return at;
}

size_t tl_go_begin(const tl_editor *e, size_t at) {
  (void)e, (void)at;
  return 0;
}

size_t tl_go_end(const tl_editor *e, size_t at) {
  (void)at;
  return e->nbytes;
}

// Letters, digits and all that is not ASCII make words.
bool tl_is_in_word(const tl_editor *e, size_t at) {
  unsigned char c = (unsigned char)e->text[at];
  return c >= 128 || c == '_' || (c >= '0' && c <= '9') ||
         ((c | 32) >= 'a' && (c | 32) <= 'z');
}

// Blanks and signs before the word are skipped, too.
size_t tl_go_word_left(const tl_editor *e, size_t at) {
  while (at > 0 && !tl_is_in_word(e, at - 1)) at--;
  while (at > 0 && tl_is_in_word(e, at - 1)) at--;
  return at;
}

size_t tl_go_word_right(const tl_editor *e, size_t at) {
  while (at < e->nbytes && !tl_is_in_word(e, at)) at++;
  while (at < e->nbytes && tl_is_in_word(e, at)) at++;
  return at;
}

// The begin of the next word, as in vi.
size_t tl_go_word_next(const tl_editor *e, size_t at) {
  while (at < e->nbytes && tl_is_in_word(e, at)) at++;
  while (at < e->nbytes && !tl_is_in_word(e, at)) at++;
  return at;
}

// To blanks alone, as Ctrl-W deletes in a shell.
size_t tl_go_blank_left(const tl_editor *e, size_t at) {
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) != NULL) at--;
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) == NULL) at--;
  return at;
}

size_t tl_go_front(const tl_editor *e, size_t at) {
  at = tl_go_line_begin(e, at);
  return at + strspn(e->text + at, " ");
}

// Whether only blanks stand between the line's begin and the cursor.
bool tl_is_at_front(const tl_editor *e) {
  return tl_go_front(e, e->cursor) >= e->cursor;
}

// --- Changes ----------------------------------------------------------------

void tl_edit_free_states(states *s) {
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
  if (to->count == TL_UNDO_MOST) {
    free(to->items[0].text);
    memmove(to->items, to->items + 1, --to->count * sizeof *to->items);
  }
  to->items[to->count++] = s;
}

// Room for so many bytes, an end of line and a zero.
bool tl_edit_make_room(tl_editor *e, size_t nbytes) {
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
void tl_edit_change(tl_editor *e, size_t begin, size_t end, const char *with,
                    size_t n) {
  if (!tl_edit_make_room(e, e->nbytes - (end - begin) + n))
    return;
  if (e->does != TYPED || e->did != TYPED)
    push_state(&e->undo, e);
  tl_edit_free_states(&e->redo);
  splice(e, begin, end, with, n);
  e->at = e->history.count;
}

void tl_edit_insert(tl_editor *e, const char *text, size_t nbytes) {
  tl_edit_change(e, e->cursor, e->cursor, text, nbytes);
}

static void restore(tl_editor *e, states *from, states *to) {
  if (from->count == 0)
    return;
  push_state(to, e);
  state s = from->items[--from->count];
  if (tl_edit_make_room(e, s.nbytes))
    splice(e, 0, e->nbytes, s.text, s.nbytes);
  e->cursor = s.cursor <= e->nbytes ? s.cursor : e->nbytes;
  free(s.text);
}

// Each list gets what the other one gives, so that undoing can be undone.
void tl_edit_undo(tl_editor *e) {
  restore(e, &e->undo, &e->redo);
}
void tl_edit_redo(tl_editor *e) {
  restore(e, &e->redo, &e->undo);
}

// Keeps the bytes for Ctrl-Y. Those deleted in a row are kept together, in
// their order.
void tl_edit_keep(tl_editor *e, size_t begin, size_t end) {
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
void tl_edit_kill(tl_editor *e, motion *go) {
  size_t to = go(e, e->cursor);
  size_t begin = to < e->cursor ? to : e->cursor;
  size_t end = to < e->cursor ? e->cursor : to;
  if (begin == end)
    return;
  tl_edit_keep(e, begin, end);
  tl_edit_change(e, begin, end, NULL, 0);
}

// What was deleted last, as often as is wanted.
void tl_edit_yank(tl_editor *e) {
  if (e->killed != NULL)
    tl_edit_insert(e, e->killed, e->killed_bytes);
}

// --- Lines ------------------------------------------------------------------

// The tokens before the cursor; *count are there. NULL: no memory. The caller
// frees them.
tally_token *tl_edit_tokens(const tl_editor *e, size_t *count) {
  *count = tally_tokens(e->vm, e->text, e->cursor, NULL, 0);
  tally_token *tokens = calloc(*count + 1, sizeof *tokens);
  if (tokens != NULL)
    tally_tokens(e->vm, e->text, e->cursor, tokens, *count);
  return tokens;
}

bool tl_is_open(const tally_token *t) {
  return t->kind == TALLY_TOKEN_OPEN && t->match == t->begin;
}

// The blanks of the line, and some more behind a bracket that it leaves open.
// None within a string.
static size_t indentation(const tl_editor *e) {
  size_t begin = tl_go_line_begin(e, e->cursor), count,
         first = tl_go_front(e, begin);
  size_t blanks = (first < e->cursor ? first : e->cursor) - begin;
  tally_token *tokens = tl_edit_tokens(e, &count);
  bool opens = false;
  for (size_t i = 0; tokens != NULL && i < count; i++)
    opens = opens || (tl_is_open(&tokens[i]) && tokens[i].begin >= begin);
  if (tokens != NULL && count > 0 && e->text[e->cursor - 1] != '"' &&
      tokens[count - 1].kind == TALLY_TOKEN_STRING &&
      tokens[count - 1].end == e->cursor)
    blanks = 0;
  free(tokens);
  return blanks + (opens ? TL_INDENT : 0);
}

// Text that comes faster than keys is pasted, and has its blanks already.
void tl_edit_break_line(tl_editor *e) {
  char blanks[256];
  size_t n = tl_keys_pending() ? 0 : indentation(e);
  n = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
  blanks[0] = '\n';
  memset(blanks + 1, ' ', n);
  tl_edit_insert(e, blanks, n + 1);
  e->indents = n > 0;
}

// --- History ----------------------------------------------------------------

// Shows an entry of the history, or the draft again, and stays there until the
// text is changed.
void tl_edit_show_entry(tl_editor *e, size_t at) {
  const tl_history *h = &e->history;
  if (at < h->count)
    tl_edit_change(e, 0, e->nbytes, h->entries[at].text, h->entries[at].nbytes);
  else
    tl_edit_change(e, 0, e->nbytes, e->draft.text, e->draft.nbytes);
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
    tl_edit_show_entry(e, at);
}

void tl_edit_older(tl_editor *e) {
  go_in_history(e, -1);
}
void tl_edit_newer(tl_editor *e) {
  go_in_history(e, 1);
}

// To the same column of the line above or below; false: there is none.
static bool go_to_line(tl_editor *e, int step) {
  size_t begin = tl_go_line_begin(e, e->cursor),
         end = tl_go_line_end(e, e->cursor);
  if (step < 0 ? begin == 0 : end == e->nbytes)
    return false;
  int column = tl_cells(e->text + begin, e->cursor - begin);
  size_t at = step < 0 ? tl_go_line_begin(e, begin - 1) : end + 1;
  size_t stop = tl_go_line_end(e, at);
  while (at < stop && column > 0) {
    size_t next = tl_go_right(e, at);
    column -= tl_cells(e->text + at, next - at);
    at = next;
  }
  e->cursor = at;
  return true;
}

// The first line's cursor goes on into the history.
void tl_edit_up(tl_editor *e) {
  if (!go_to_line(e, -1))
    tl_edit_older(e);
}

void tl_edit_down(tl_editor *e) {
  if (!go_to_line(e, 1))
    tl_edit_newer(e);
}

void tl_edit_search(tl_editor *e) {
  free(e->sought);
  free(e->draft.text);
  e->draft = copy_state(e);
  e->sought = calloc(1, 1);
  if (e->sought != NULL && e->draft.text != NULL)
    e->mode = SEARCHING;
}
