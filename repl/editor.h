// Inputs edited on a terminal, as a whole: lines are added until the input is
// complete, and all of them can be changed until then.
//
//     tl_editor_open ─ tl_editor_read … ─ tl_editor_close
//
//     terminal ─▶ keys.c ─▶ editor.c ─▶ editing.tly: text, cursor, undo
//     terminal ◀─────────────────────── completion, hints, colours, history
//
// It is Tally's own. Of the libraries with a permissive licence, libedit and
// linenoise draw one line in one colour, have no hints or no undo, and take a
// code point for a cell; replxx and isocline do all of this but are packaged by
// none of the systems that Tally is built on. What they would save is less than
// what each would bring: the grammar says when an input is whole, its lexer
// colours it, and utf8proc, which is linked anyway, knows graphemes and cells.
#pragma once

#include <stddef.h>

#include "repl/run.h"

typedef struct tl_editor tl_editor;

// What an editor is used for. All is borrowed.
typedef struct tl_editor_use {
  const char *prompt;   // of as many bytes as "tally> "
  const char *history;  // what the history's file is called behind its name
  // Gives [vm] names of its own that may stand at the text's end, a line each:
  // commands where it has no blank, which go before all others, else variables.
  // NULL: there are none.
  tally_status (*own)(void *context, const char *text, tally_vm *vm,
                      tally_value *out);
  void *context;
} tl_editor_use;

// How reading an input ended.
typedef enum tl_reading {
  TL_READ_LINE,
  TL_READ_END,
  TL_READ_INTERRUPTED,
  TL_READ_FAILED,
} tl_reading;

// Opens an editor for names of [vm].
// NULL: there is no memory, or no terminal on both ends that can move its
// cursor. Keys are those of Emacs, or of vi where TALLY_KEYS is `vi`, ~/.editrc
// says `bind -v` or ~/.inputrc `set editing-mode vi`. The first key opens a
// VM of its own, which takes 3 MB and some 9 ms, and reads the history of
// earlier editors of this use.
tl_editor *tl_editor_open(tally_vm *vm, const tl_editor_use *use);
// Frees the editor; NULL is ignored.
void tl_editor_close(tl_editor *editor);

// Reads an input of one line or more, and adds it to the history. *text ends
// with an end of line and a zero byte; it belongs to the editor until the next
// one. The terminal is as it was before when this returns. TL_READ_FAILED: the
// editor serves no more, and what was typed, without an end of line, is *text;
// NULL: nobody knows.
tl_reading tl_editor_read(tl_editor *editor, const char **text, size_t *nbytes);
// The next input to be read begins with this text, and its cursor stands behind
// it; one that is no UTF-8 is passed over. Borrows it. Of several texts the
// last counts.
void tl_editor_offer(tl_editor *editor, const char *text, size_t nbytes);
