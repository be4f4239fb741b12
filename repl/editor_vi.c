// Keys of vi: those that are commonly used on one line. See editor_internal.h.
//
//     TYPING ─ Escape ─▶ COMMANDING ─ i a I A o s C cw … ─▶ TYPING
//                            │
//                            ├ h l w b e 0 ^ $       vi_moves[]
//                            ├ d c y  and a motion, or the same key: the line
//                            ├ r      and a character
//                            ├ x X D  p P u Ctrl-R
//                            └ k j /                 lines and history
//
// A command has no count, no register and no repetition by a point: at a
// prompt the text is short, and arrows and Tab do what they do in Emacs' keys.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/editor_internal.h"
#include "repl/keys.h"

// The end of a word, which is within the motion.
// On a word's last sign it goes on to the next word's, hence the look from one
// further. A byte further may be within a sign, which counts as a word's all
// the same. At the end of the text it stays.
static size_t word_last(const tl_editor *e, size_t at) {
  size_t end = tl_go_word_right(e, at + 1 < e->nbytes ? at + 1 : at);
  return end > at ? tl_go_left(e, end) : at;
}

static const struct {
  char key;
  bool includes;  // an operator takes the sign that the motion ends on
  motion *go;
} vi_moves[] = {
    {'h', false, tl_go_left},      {'l', false, tl_go_right},
    {'w', false, tl_go_word_next}, {'b', false, tl_go_word_left},
    {'e', true, word_last},        {'0', false, tl_go_line_begin},
    {'^', false, tl_go_front},     {'$', false, tl_go_line_end},
    {' ', false, tl_go_right},
};

// d, c or y from the cursor to the place.
// e->pending says which: y leaves the text as it is and goes to the begin of
// what it took, c goes on with typing. A motion that goes nowhere takes
// nothing, and what was yanked before is gone, too.
static void vi_operate(tl_editor *e, size_t to) {
  size_t begin = to < e->cursor ? to : e->cursor;
  size_t end = to < e->cursor ? e->cursor : to;
  e->did = MOVED;  // each is kept by itself
  tl_edit_keep(e, begin, end);
  if (e->pending != 'y')
    tl_edit_change(e, begin, end, NULL, 0);
  else
    e->cursor = begin;
  e->mode = e->pending == 'c' ? TYPING : COMMANDING;
}

// The second key of an operator: a motion, or the operator again for the line.
//
//     dd cc yy    the line without its end, whatever the cursor's place
//     r and a     the sign at the cursor becomes an a; the cursor stays
//     d and w     from the cursor to where w goes
//     others      nothing: the operator is given up
//
// rr replaces by an r, as r has no line. A control character gives r up,
// Escape above all.
static void second_key(tl_editor *e, int key) {
  if (key == e->pending && key != 'r') {
    size_t end = tl_go_line_end(e, e->cursor);
    e->cursor = tl_go_line_begin(e, e->cursor);
    vi_operate(e, end);
  } else if (e->pending == 'r') {
    char bytes[4];
    bool is_control = key < 32 || (key >= 127 && key < 0xa0);
    size_t at = e->cursor,
           n = is_control || key >= TL_KEY_UP ? 0 : tl_key_spell(key, bytes);
    if (n > 0 && at < e->nbytes)
      tl_edit_change(e, at, tl_go_right(e, at), bytes, n);
    e->cursor = at;
  }
  for (size_t i = 0; i < sizeof vi_moves / sizeof *vi_moves; i++) {
    if (vi_moves[i].key != key || key == e->pending || e->pending == 'r')
      continue;
    // As vi has it, cw leaves the blanks behind the word.
    bool is_cw = e->pending == 'c' && key == 'w';
    size_t to = (is_cw ? tl_go_word_right : vi_moves[i].go)(e, e->cursor);
    vi_operate(e, vi_moves[i].includes ? tl_go_right(e, to) : to);
  }
  e->pending = 0;
}

// From here on keys are text again.
// What is typed then is one change for undo, and what the command deleted is
// another.
static void vi_type_at(tl_editor *e, size_t at) {
  e->cursor = at;
  e->mode = TYPING;
}

// An operator with its motion in one key.
// x is dl, X is dh, D is d$, C is c$ and s is cl.
static void vi_short(tl_editor *e, int operator, motion * go) {
  e->pending = operator;
  vi_operate(e, go(e, e->cursor));
  e->pending = 0;
}

// A key that begins a command, most of them the whole of it. Those that nobody
// knows do nothing.
// [at] is the place before the command: motions begin there, and behind the
// switch no command that is a motion has moved the cursor. No key is both.
static void command(tl_editor *e, int key) {
  size_t at = e->cursor;
  switch (key) {
    case 'i':
      vi_type_at(e, at);
      break;
    case 'a':
      vi_type_at(e, at < tl_go_line_end(e, at) ? tl_go_right(e, at) : at);
      break;
    case 'I':
      vi_type_at(e, tl_go_front(e, at));
      break;
    case 'A':
      vi_type_at(e, tl_go_line_end(e, at));
      break;
    case 'o':
      vi_type_at(e, tl_go_line_end(e, at));
      tl_edit_break_line(e);
      break;
    case 'x':
      vi_short(e, 'd', tl_go_right);
      break;
    case 'X':
      vi_short(e, 'd', tl_go_left);
      break;
    case 'D':
      vi_short(e, 'd', tl_go_line_end);
      break;
    case 'C':
      vi_short(e, 'c', tl_go_line_end);
      break;
    case 's':
      vi_short(e, 'c', tl_go_right);
      break;
    case 'P':
      tl_edit_yank(e);
      break;
    case 'p':
      e->cursor = at < tl_go_line_end(e, at) ? tl_go_right(e, at) : at;
      tl_edit_yank(e);
      break;
    case 'u':
      tl_edit_undo(e);
      break;
    case TL_CTRL('r'):
      tl_edit_redo(e);
      break;
    case 'k':
      tl_edit_up(e);
      break;
    case 'j':
      tl_edit_down(e);
      break;
    case '/':
      tl_edit_search(e);
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
  for (size_t i = 0; i < sizeof vi_moves / sizeof *vi_moves; i++)
    if (vi_moves[i].key == key)
      e->cursor = vi_moves[i].go(e, at);
}

// [key] is a character or a control character; e->mode is COMMANDING.
void tl_vi_key(tl_editor *e, int key) {
  if (e->pending != 0)
    second_key(e, key);
  else
    command(e, key);
}

// As in vi the cursor goes one sign to the left, unless it is at the line's
// begin. In COMMANDING it gives an operator up and stays.
void tl_vi_leave_text(tl_editor *e) {
  if (!e->is_vi)
    return;
  if (e->mode == TYPING && e->cursor > tl_go_line_begin(e, e->cursor))
    e->cursor = tl_go_left(e, e->cursor);
  e->mode = COMMANDING;
  e->pending = 0;
}

// Between commands the cursor stands on a sign, not behind the last one.
// An empty line has no sign, and the cursor stands at its begin. While an
// operator waits, the motion that follows counts from where the cursor is.
void tl_vi_stay_on_sign(tl_editor *e) {
  if (e->mode == COMMANDING && e->pending == 0 &&
      e->cursor == tl_go_line_end(e, e->cursor) &&
      e->cursor > tl_go_line_begin(e, e->cursor))
    e->cursor = tl_go_left(e, e->cursor);
}

// vi by TALLY_KEYS, or where a file of libedit's or readline's asks for it.
// Other lines of these files are passed over, as are their conditions by
// program or terminal: a line within `$if` counts. A file of such a name that
// cannot be read asks for nothing. Lines of more than 255 bytes are looked at
// in parts.
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

// TALLY_KEYS alone decides where it is set, so `TALLY_KEYS=emacs` is the way
// back for who has vi in all other programs.
bool tl_vi_is_wanted(void) {
  const char *keys = getenv("TALLY_KEYS");
  if (keys != NULL)
    return strcmp(keys, "vi") == 0;
  return asks_for_vi(".editrc", "bind -v") ||
         asks_for_vi(".inputrc", "set editing-mode vi");
}
