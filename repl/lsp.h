// `tally lsp`: a language server (Language Server Protocol 3.17) over standard
// input and output, for editors: errors and warnings while one types, names,
// what they are, where they come from, and the formatter. Nothing of a document
// is run.
//
//     lsp.c ─ what the program may ask
//           ─ lsp.tly: the loop, and what messages are answered with
#pragma once

#include "repl/session.h"

// Serves until the client says exit or closes the input. Returns TL_DONE after
// an exit that shutdown came before, else TL_FAILED.
int tl_run_lsp(tl_session *session, const tl_command *cmd);
