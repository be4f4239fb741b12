// What the command does with a FILE, CODE or NAME. Each returns the exit
// status.
#ifndef TALLY_REPL_RUN_H
#define TALLY_REPL_RUN_H

#include "repl/session.h"

int tl_run_file(tl_session *session, const tl_command *cmd);
int tl_run_code(tl_session *session, const tl_command *cmd);
int tl_run_dis(tl_session *session, const tl_command *cmd);
int tl_run_explain(tl_session *session, const tl_command *cmd);
// Lays out the files given, or with --check names those that are not.
int tl_run_format(tl_session *session, const tl_command *cmd);
int tl_run_doc(tl_session *session, const tl_command *cmd);
// Prints what is known of a name; else what has it in its own.
int tl_show_doc(tally_vm *vm, const char *name);

#endif
