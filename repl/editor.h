// Lines edited on a terminal: by libedit, which is loaded when a prompt begins,
// so that nothing else waits for it and Tally is built and runs without it.
//
//     tl_editor_open ─ tl_editor_read … tl_editor_remember … ─ tl_editor_close
//                        Tab: names by tally_complete, \alpha by signs.c
//                        Ctrl-C: gives the line up
#ifndef TALLY_REPL_EDITOR_H
#define TALLY_REPL_EDITOR_H

#include <stddef.h>

#include "tally.h"

typedef struct tl_editor tl_editor;

// How reading a line ended.
typedef enum tl_reading {
  TL_READ_LINE,
  TL_READ_END,
  TL_READ_INTERRUPTED,
  TL_READ_FAILED,
} tl_reading;

// Opens an editor for names of [vm], and reads the history of earlier prompts;
// closing writes it. NULL: there is no libedit here, or no terminal to edit on.
tl_editor *tl_editor_open(tally_vm *vm);
// Writes the history and frees the editor; NULL is ignored.
void tl_editor_close(tl_editor *editor);

// Reads a line, or several that were one input before. *line has its end and
// belongs to the editor until the next one.
tl_reading tl_editor_read(tl_editor *editor, const char *prompt,
                          const char **line, size_t *nbytes);
// Adds an input of one line or more to the history; an arrow brings it back as
// a whole.
void tl_editor_remember(tl_editor *editor, const char *input);

#endif
