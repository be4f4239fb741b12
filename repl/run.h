// What the command does with a FILE, CODE or NAME. Each returns the exit
// status: TL_DONE, TL_FAILED, or what the script gave to os.exit. Results go to
// standard output, errors to standard error.
#pragma once

#include "repl/session.h"

// Runs a script with its arguments.
int tl_run_file(tl_session *session, const tl_command *cmd);
// -e CODE: runs it and prints its value.
int tl_run_code(tl_session *session, const tl_command *cmd);
// Prints the bytecode of a file.
int tl_run_dis(tl_session *session, const tl_command *cmd);
// Prints what each operation's result lives in, or what became machine code.
int tl_run_explain(tl_session *session, const tl_command *cmd);
// Lays out the files given, or with --check names those that are not.
int tl_run_format(tl_session *session, const tl_command *cmd);
// Prints what is wrong with the files given, errors and warnings.
int tl_run_check(tl_session *session, const tl_command *cmd);
// Debugs a script: reads commands where it stops.
int tl_run_debug(tl_session *session, const tl_command *cmd);
// Prints a string and releases it; returns how many bytes it has. Its lines go
// on in the next behind [width] columns; 0: they are as they are.
size_t tl_print_text(tally_vm *vm, tally_value value, int width);
// Calls [f] with each string of a list, which lives as long as the list does.
typedef void tl_text_hook(void *context, const char *text);
void tl_each_text(tally_vm *vm, tally_value list, tl_text_hook *f,
                  void *context);
// Prints a value as print does.
tally_status tl_print_value(tally_vm *vm, tally_value value);
// Prints documentation, or with --check what it lacks.
int tl_run_doc(tl_session *session, const tl_command *cmd);
// Prints what is known of a name: its documentation, what a module of that name
// has, what another language's word is called here, or else the names and texts
// that contain it.
int tl_show_doc(tally_vm *vm, const char *name);
// The last two of these alone: what is called so elsewhere, or contains it.
int tl_search_doc(tally_vm *vm, const char *text);
