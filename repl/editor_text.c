// The text that is edited, and all that changes it: see editor_internal.h.
//
//     text      f n   f ( x )   {  \n      x  \0
//               0              cursor       nbytes    capacity
//
// A place is an index of a byte from 0 to nbytes, where nbytes is behind the
// last one. Cursor and places are at the begin of a grapheme, or at the end.
//
// Invariants: text[nbytes] is zero, so that C's functions may read it; two
// more bytes than nbytes are there; undo and redo are copies of the whole
// text, which is short, so no change has to know its inverse.
//
// Order: motions, changes, lines, history.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/editor_internal.h"
#include "repl/keys.h"

// --- Motions ----------------------------------------------------------------

// Across an end of line, which is a sign of its own.
size_t tl_go_left(const tl_editor *e, size_t at) {
  return tl_sign_begin(e->text, at);
}

size_t tl_go_right(const tl_editor *e, size_t at) {
  return tl_sign_end(e->text, e->nbytes, at);
}

// Ends of lines are bytes of their own in UTF-8, so bytes can be compared.
size_t tl_go_line_begin(const tl_editor *e, size_t at) {
  while (at > 0 && e->text[at - 1] != '\n') at--;
  return at;
}

size_t tl_go_line_end(const tl_editor *e, size_t at) {
  while (at < e->nbytes && e->text[at] != '\n') at++;
  return at;
}

// These two take what they do not need, to be of the type motion.
size_t tl_go_begin(const tl_editor *e, size_t at) {
  (void)e, (void)at;
  return 0;
}

size_t tl_go_end(const tl_editor *e, size_t at) {
  (void)at;
  return e->nbytes;
}

// Letters, digits and all that is not ASCII make words.
// By bytes: a letter of several bytes is all within. The rule is no finer than
// that, since γ and 漢 are parts of names, and quotes of other languages, which
// are not, are rare in code. [at] may be nbytes, where the zero is in no word.
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

// Its mirror image: to the end of the word at or behind the place.
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
// Blanks go first, so that the word before them goes with them. A zero byte,
// which an old history may have, counts as a blank for strchr; both loops end
// at 0.
size_t tl_go_blank_left(const tl_editor *e, size_t at) {
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) != NULL) at--;
  while (at > 0 && strchr(" \t\n", e->text[at - 1]) == NULL) at--;
  return at;
}

// Within a line of blanks alone this is behind the last of them, which may be
// behind the cursor: see tl_is_at_front.
size_t tl_go_front(const tl_editor *e, size_t at) {
  at = tl_go_line_begin(e, at);
  return at + strspn(e->text + at, " ");
}

// Whether only blanks stand between the line's begin and the cursor.
bool tl_is_at_front(const tl_editor *e) {
  return tl_go_front(e, e->cursor) >= e->cursor;
}

// --- Changes ----------------------------------------------------------------

// The list is empty and may be filled again.
void tl_edit_free_states(states *s) {
  while (s->count > 0) free(s->items[--s->count].text);
}

// A copy of the text; its text is NULL without memory.
// The caller frees it, or gives it to a list.
static state copy_state(const tl_editor *e) {
  state s = {malloc(e->nbytes + 1), e->nbytes, e->cursor};
  if (s.text != NULL)
    memcpy(s.text, e->text, e->nbytes + 1);
  return s;
}

// Of a full list the oldest is forgotten.
// Without memory for the copy, the change happens and cannot be undone.
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
// Twice what is needed, so that typing allocates a few times for a long text.
// False leaves all as it was.
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
// [with] is none of the text's own bytes, which move. n may be less than what
// it replaces: the unsigned difference wraps round twice, and is right.
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
//
//     e->did   e->does    undone
//     TYPED    TYPED      with the characters before
//     any      other      by itself
//
// What was undone before cannot be redone after a change, as it was made of
// another text.
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

// Its cursor is where it was when that text was left.
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
//
//     begin ▒▒▒▒▒ cursor         deleted to the left: before what is there
//     cursor ▒▒▒▒▒ end           deleted to the right: behind it
//
// So Ctrl-W thrice and Ctrl-Y gives the three words in their order. e->did is
// what the key before did. Without memory the older text stays.
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
// Nothing to delete is no deletion: the next one is not added to the last.
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
// Of the text up to the cursor alone, so that a bracket that is closed behind
// it counts as open. An empty text, or one that is no UTF-8, has none, which
// is not NULL.
tally_token *tl_edit_tokens(const tl_editor *e, size_t *count) {
  *count = tally_tokens(e->vm, e->text, e->cursor, NULL, 0);
  tally_token *tokens = calloc(*count + 1, sizeof *tokens);
  if (tokens != NULL)
    tally_tokens(e->vm, e->text, e->cursor, tokens, *count);
  return tokens;
}

// tally_tokens gives a bracket its own begin for the other half that it lacks.
bool tl_is_open(const tally_token *t) {
  return t->kind == TALLY_TOKEN_OPEN && t->match == t->begin;
}

// The blanks of the line, and some more behind a bracket that it leaves open.
// None within a string.
//
//       if x > 0 {▏         2 blanks, and 2 for the bracket
//       y = [1,             2 and 2
//            2],▏           7, as the line has
//       s = "ab▏            0: they would be the string's
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

// Text that comes faster than keys is pasted, and has its blanks already: so it
// is on terminals that do not send pastes in brackets. Of an indentation of
// more than 254 blanks 254 are taken.
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
// It can be undone like any change. tl_edit_change says that the text is no
// entry's, so e->at is set behind it.
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
// The draft is what stands there when the first arrow is pressed, and comes
// back behind the newest entry:
//
//     count-2   mean(xs)     ◀ up, up
//     count-1   plot(xs)     ◀ up          with "m" typed, straight to count-2
//     count     the draft    ◀ begins here
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
// The column is in cells, so that the cursor goes straight up past wide signs.
// A shorter line has it at its end, and the column is not remembered.
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

// Nothing is sought yet, and the text stays until something is found. The
// draft is what Ctrl-G brings back.
void tl_edit_search(tl_editor *e) {
  free(e->sought);
  free(e->draft.text);
  e->draft = copy_state(e);
  e->sought = calloc(1, 1);
  if (e->sought != NULL && e->draft.text != NULL)
    e->mode = SEARCHING;
}
