// The prompt's own commands, lines that begin with a colon: `:time e`, `:load
// file` and what else `:help` lists.
#pragma once

#include <stddef.h>

#include "repl/session.h"

// The inputs that ran without an error, one after the other, for `:save`. It
// begins as {0} and is freed by tl_inputs_free. Each of them ends its line, so
// the text is a script as it stands.
typedef struct tl_inputs {
  char *text;
  size_t nbytes, capacity;
  char *last;    // the newest input, whether it ran or failed; NULL: none
  char *edited;  // what `:edit` made of it, for the prompt to go on with; NULL
} tl_inputs;

// Adds an input that ran; without memory for it `:save` lacks it. Borrows the
// text, which need not end with a zero byte. [vm] only compiles it, and runs
// nothing.
void tl_inputs_add(tl_inputs *inputs, tally_vm *vm, const char *text,
                   size_t nbytes);
// Remembers an input for `:edit`. Borrows the text.
void tl_inputs_note(tl_inputs *inputs, const char *text, size_t nbytes);
void tl_inputs_free(tl_inputs *inputs);

// Whether a line is a command. No expression begins with a colon, so nothing
// that could be an input is one.
bool tl_is_command(const char *line, size_t nbytes);

// Whether an input is all there, or the grammar wants another line of it. A
// command and a question (`?name`) are one line.
bool tl_input_is_whole(tally_vm *vm, const char *text, size_t nbytes);

// The names of commands, without the colon; NULL behind the last one. They are
// for completion; the order is that of `:help`.
const char *tl_command_name(int at);

// Runs the command; errors are reported as those of an input are. Returns the
// exit status as tl_session_end does; `:quit` sets session->ended. [line]
// begins with the colon and need not end with a zero byte. Names may be cut
// short as long as one command alone begins so: `:ex x * 2`.
int tl_run_command(tl_session *session, const char *line, size_t nbytes,
                   tl_inputs *inputs);
