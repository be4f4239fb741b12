// What the parts of the editor share. Only they include this.
//
//     editor.c       keys, hints, drawing, reading
//       └ editor_vi.c     the commands of vi
//           └ editor_text.c   text, cursor, motions, changes, history
//
// Every change of the text goes through tl_edit_change, which keeps what was
// before for undo. A motion tells a place from a place, so that it serves
// moving, deleting and vi's operators alike.
#ifndef TALLY_REPL_EDITOR_INTERNAL_H
#define TALLY_REPL_EDITOR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "repl/editor.h"
#include "repl/history.h"
#include "repl/screen.h"

enum { TL_UNDO_MOST = 200, TL_INDENT = 2 };

// The text at a time.
typedef struct state {
  char *text;
  size_t nbytes, cursor;
} state;

typedef struct states {
  state items[TL_UNDO_MOST];
  size_t count;
} states;

// What the last key did, where the next one of its kind goes on with it.
typedef enum deed { MOVED, TYPED, KILLED, WENT } deed;

// How the keys are read: vi has two modes, and a search one of its own.
typedef enum mode { TYPING, COMMANDING, SEARCHING } mode;

struct tl_editor {
  tally_vm *vm;
  const tl_editor_use *use;
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

// --- Motions (editor_text.c) ------------------------------------------------

// Where a cursor at [at] goes; the same place where there is nothing to go to.
typedef size_t motion(const tl_editor *e, size_t at);

motion tl_go_left, tl_go_right;            // by a grapheme
motion tl_go_line_begin, tl_go_line_end;   // of the line
motion tl_go_front;                        // behind the line's blanks
motion tl_go_begin, tl_go_end;             // of the text
motion tl_go_word_left, tl_go_word_right;  // begin before, end behind
motion tl_go_word_next;                    // begin of the next word
motion tl_go_blank_left;                   // words are all but blanks

// Letters, digits and all that is not ASCII make words.
bool tl_is_in_word(const tl_editor *e, size_t at);
// Whether only blanks stand between the line's begin and the cursor.
bool tl_is_at_front(const tl_editor *e);

// --- Changes (editor_text.c) ------------------------------------------------

// Room for so many bytes, an end of line and a zero.
bool tl_edit_make_room(tl_editor *e, size_t nbytes);
// Puts [n] bytes in place of [begin, end), and the cursor behind them. Without
// memory nothing changes.
void tl_edit_change(tl_editor *e, size_t begin, size_t end, const char *with,
                    size_t n);
void tl_edit_insert(tl_editor *e, const char *text, size_t nbytes);
void tl_edit_undo(tl_editor *e);
void tl_edit_redo(tl_editor *e);
// Keeps the bytes for tl_edit_yank. Those deleted in a row are kept together.
void tl_edit_keep(tl_editor *e, size_t begin, size_t end);
// Deletes from the cursor to where the motion goes.
void tl_edit_kill(tl_editor *e, motion *go);
void tl_edit_yank(tl_editor *e);
// A new line, indented as the brackets around say.
void tl_edit_break_line(tl_editor *e);
void tl_edit_free_states(states *s);

// The tokens before the cursor; *count are there. NULL: no memory. The caller
// frees them.
tally_token *tl_edit_tokens(const tl_editor *e, size_t *count);
// Whether it is a bracket that the text leaves open.
bool tl_is_open(const tally_token *token);

// --- History (editor_text.c) ------------------------------------------------

// Shows an entry, or for count the draft, until the text is changed.
void tl_edit_show_entry(tl_editor *e, size_t at);
void tl_edit_older(tl_editor *e);
void tl_edit_newer(tl_editor *e);
// To the line above or below, and from the first or last one into the history.
void tl_edit_up(tl_editor *e);
void tl_edit_down(tl_editor *e);
// From here on keys say what is searched for.
void tl_edit_search(tl_editor *e);

// --- vi (editor_vi.c) -------------------------------------------------------

// A key where no text is typed; e->pending is an operator that it completes.
void tl_vi_key(tl_editor *e, int key);
// Escape: keys are commands from here on. Nothing where vi's keys are not
// wanted.
void tl_vi_leave_text(tl_editor *e);
// Between commands the cursor stands on a sign, not behind the last one.
void tl_vi_stay_on_sign(tl_editor *e);
// Whether the person wants them: see tl_editor_open.
bool tl_vi_is_wanted(void);

#endif
