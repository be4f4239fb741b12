// Lines edited on a terminal: by libedit, which is loaded when a prompt begins,
// so that nothing else waits for it and Tally is built and runs without it.
#ifndef TALLY_REPL_EDITOR_H
#define TALLY_REPL_EDITOR_H

#include <stddef.h>

#include "tally.h"

typedef struct tl_editor tl_editor;

typedef enum tl_reading {
  TL_READ_LINE,
  TL_READ_END,
  TL_READ_INTERRUPTED,
  TL_READ_FAILED,
} tl_reading;

// NULL: there is no libedit here, or no terminal to edit on. Reads the history
// of earlier prompts; closing writes it.
tl_editor *tl_editor_open(tally_vm *vm);
void tl_editor_close(tl_editor *editor);

// Reads a line, or several that were one input before. *line has its end and
// belongs to the editor until the next one.
tl_reading tl_editor_read(tl_editor *editor, const char *prompt,
                          const char **line, size_t *nbytes);
// An input of one line or more, which an arrow brings back as a whole.
void tl_editor_remember(tl_editor *editor, const char *input);

#endif
