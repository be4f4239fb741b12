// What the command does with a FILE or CODE; doc.c and format.c have the rest.
// Between tl_session_begin and tl_session_end Ctrl-C stops the script; the
// latter reports the error and gives the exit status.

#include "repl/run.h"

#include <string.h>
#include <unistd.h>

#include "repl/colours.h"
#include "repl/wrap.h"

// The script's own arguments, without a cast at each call: C does not convert
// char ** to pointers to constants by itself.
static const char *const *arguments(const tl_command *cmd) {
  return (const char *const *)cmd->argv;
}

int tl_run_file(tl_session *session, const tl_command *cmd) {
  tl_session_begin();
  return tl_session_end(
      session, tally_run(session->vm, cmd->subject, cmd->argc, arguments(cmd)));
}

// --- CODE -------------------------------------------------------------------

size_t tl_print_text(tally_vm *vm, tally_value value, int width) {
  const char *text;
  size_t nbytes = 0;
  if (tally_to_string(vm, value, &text, &nbytes) != TALLY_OK)
    nbytes = 0;
  else if (width > 0)
    tl_write_wrapped(stdout, text, width, false);
  else
    fwrite(text, 1, nbytes, stdout);
  tally_release(vm, value);
  return nbytes;
}

void tl_each_text(tally_vm *vm, tally_value list, tl_text_hook *f,
                  void *context) {
  tally_value item;
  const char *text;
  for (size_t i = 0; i < tally_length(vm, list); i++) {
    if (tally_item(vm, list, i, &item) != TALLY_OK)
      break;
    if (tally_to_string(vm, item, &text, NULL) == TALLY_OK)
      f(context, text);
    tally_release(vm, item);
  }
}

tally_status tl_print_value(tally_vm *vm, tally_value value) {
  tally_value shown;
  tally_status status = tally_format(vm, value, &shown);
  if (status != TALLY_OK)
    return status;
  tl_print_text(vm, shown, 0);
  putchar('\n');
  return TALLY_OK;
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
    // The value of a statement is none, and not shown.
    if (strcmp(tally_type(vm, value), "none") != 0)
      status = tl_print_value(vm, value);
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
  tl_session_begin();
  tally_status status = tally_explain(session->vm, cmd->subject, cmd->argc,
                                      arguments(cmd), cmd->explain, &explained);
  if (status == TALLY_OK)
    tl_print_text(session->vm, explained, tl_terminal_width(STDOUT_FILENO));
  return tl_session_end(session, status);
}

// --- check ------------------------------------------------------------------

// Prints the report of one finding.
static void print_report(tally_vm *vm, tally_value found, size_t at) {
  tally_value item, report;
  if (tally_item(vm, found, at, &item) != TALLY_OK)
    return;
  if (tally_field(vm, item, "report", &report) == TALLY_OK) {
    tl_print_text(vm, report, 0);
    putchar('\n');
  }
  tally_release(vm, item);
}

// What is found goes to standard output; TL_FAILED where there is anything.
static int check_file(tl_session *session, const char *path) {
  tally_value found;
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  tl_session_begin();
  tally_status status = tally_check_source(session->vm, path, NULL, 0, &found);
  if (status != TALLY_OK)
    return tl_session_end(session, status);
  size_t count = tally_length(session->vm, found);
  for (size_t i = 0; i < count; i++) print_report(session->vm, found, i);
  tally_release(session->vm, found);
  int result = tl_session_end(session, status);
  return count > 0 ? TL_FAILED : result;
}

int tl_run_check(tl_session *session, const tl_command *cmd) {
  int result = TL_DONE;
  for (int i = 0; i < cmd->argc; i++) {
    int status = check_file(session, cmd->argv[i]);
    if (status == TL_INTERRUPTED)
      return status;
    if (status != TL_DONE)
      result = status;
  }
  return result;
}
