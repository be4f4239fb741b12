// What the command does with a FILE or CODE; doc.c and format.c have the rest.
// Between tl_session_begin and tl_session_end Ctrl-C stops the script; the
// latter reports the error and gives the exit status.

#include "repl/run.h"

#include <stdio.h>
#include <string.h>

static const char *const *arguments(const tl_command *cmd) {
  return (const char *const *)cmd->argv;
}

int tl_run_file(tl_session *session, const tl_command *cmd) {
  tl_session_begin();
  return tl_session_end(
      session, tally_run(session->vm, cmd->subject, cmd->argc, arguments(cmd)));
}

// --- CODE -------------------------------------------------------------------

// Prints as print does; none, the value of a statement, is not shown.
static tally_status print_value(tally_vm *vm, tally_value value) {
  tally_value shown;
  const char *text;
  size_t nbytes;
  if (strcmp(tally_type(vm, value), "none") == 0)
    return TALLY_OK;
  tally_status status = tally_format(vm, value, &shown);
  if (status != TALLY_OK)
    return status;
  status = tally_to_string(vm, shown, &text, &nbytes);
  if (status == TALLY_OK) {
    fwrite(text, 1, nbytes, stdout);
    putchar('\n');
  }
  tally_release(vm, shown);
  return status;
}

// The code is evaluated in the main module, so that it may have statements and
// a value.
int tl_run_code(tl_session *session, const tl_command *cmd) {
  tally_vm *vm = session->vm;
  tally_value value;
  tl_session_begin();
  // An empty script sets os.args.
  tally_status status =
      tally_run_source(vm, "<code>", "", 0, cmd->argc, arguments(cmd));
  if (status == TALLY_OK)
    status = tally_eval(vm, cmd->subject, &value);
  if (status == TALLY_OK) {
    status = print_value(vm, value);
    tally_release(vm, value);
  }
  return tl_session_end(session, status);
}

// --- dis --------------------------------------------------------------------

// Nothing runs, but compiling a module may take long, so Ctrl-C works.
int tl_run_dis(tl_session *session, const tl_command *cmd) {
  const char *path = cmd->subject;
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  tl_session_begin();
  return tl_session_end(session, tally_disassemble(session->vm, path, NULL, 0));
}

// --- explain ----------------------------------------------------------------

// The explanation is printed even if the script failed: its error is part of
// it.
int tl_run_explain(tl_session *session, const tl_command *cmd) {
  tally_value explained;
  const char *text;
  size_t nbytes;
  tl_session_begin();
  tally_status status = tally_explain(session->vm, cmd->subject, cmd->argc,
                                      arguments(cmd), cmd->explain, &explained);
  if (status == TALLY_OK)
    status = tally_to_string(session->vm, explained, &text, &nbytes);
  if (status == TALLY_OK) {
    fwrite(text, 1, nbytes, stdout);
    tally_release(session->vm, explained);
  }
  return tl_session_end(session, status);
}
