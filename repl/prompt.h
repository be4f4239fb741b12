// The plain prompt: reads lines, runs each whole input, shows its value. It
// serves a terminal, with an editor where there is one, and standard input from
// a file or pipe, where nothing but values and errors is shown.
#pragma once

#include "repl/session.h"

// Runs until the end of standard input. A terminal sees a greeting and prompts.
// Returns the exit status: where standard input is no terminal, 1 if any input
// failed.
int tl_prompt_run(tl_session *session, const tl_command *cmd);
