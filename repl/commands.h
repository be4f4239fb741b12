// The prompt's own commands, lines that begin with a colon: `:time e`, `:load
// file` and what else `:help` lists.
#ifndef TALLY_REPL_COMMANDS_H
#define TALLY_REPL_COMMANDS_H

#include <stddef.h>

#include "repl/session.h"

// The inputs that ran without an error, one after the other, for `:save`. It
// begins as {0} and is freed by tl_inputs_free.
typedef struct tl_inputs {
  char *text;
  size_t nbytes, capacity;
} tl_inputs;

// Adds an input that ran; without memory for it `:save` lacks it.
void tl_inputs_add(tl_inputs *inputs, tally_vm *vm, const char *text,
                   size_t nbytes);
void tl_inputs_free(tl_inputs *inputs);

// Whether a line is a command.
bool tl_is_command(const char *line, size_t nbytes);

// The names of commands, without the colon; NULL behind the last one.
const char *tl_command_name(int at);

// Runs the command; errors are reported as those of an input are. Returns the
// exit status as tl_session_end does; `:quit` sets session->ended.
int tl_run_command(tl_session *session, const char *line, size_t nbytes,
                   tl_inputs *inputs);

#endif
