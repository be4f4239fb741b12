// tally test: golden scripts, examples and documented lines, each file in a
// process of its own. How they are written is in golden.h.
#pragma once

#include "tally.h"

// Runs `tally test` with the arguments after that word. Returns the exit
// status: 0, 1 if an expectation failed, 2 for wrong usage. [native] is of each
// VM.
int tl_test_command(int argc, char **argv, tally_native_code native);
