// What the command does with a FILE, CODE or NAME.

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

int tl_run_dis(tl_session *session, const tl_command *cmd) {
  const char *path = cmd->subject;
  if (strcmp(path, "-") == 0)
    path = "/dev/stdin";
  tl_session_begin();
  return tl_session_end(session, tally_disassemble(session->vm, path, NULL, 0));
}

// --- explain ----------------------------------------------------------------

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

// --- doc --------------------------------------------------------------------

// The first sentence of a documentation, on one line.
static void print_sentence(const char *text) {
  for (const char *c = text; *c != 0; c++) {
    putchar(*c == '\n' ? ' ' : *c);
    if (*c == '.' && (c[1] == ' ' || c[1] == '\n'))
      break;
  }
}

static void print_summary(tally_vm *vm, const char *name) {
  char copy[256];
  snprintf(copy, sizeof copy, "%s", name);  // the next call may reuse it
  const char *text = tally_documentation(vm, copy);
  printf("%-24s ", copy);
  print_sentence(text == NULL ? "" : text);
  putchar('\n');
}

// Lists the names that begin with [prefix], or that contain it.
static bool list_names(tally_vm *vm, const char *part, bool anywhere) {
  bool found = false;
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++) {
    const char *at = strstr(name, part);
    if (at == NULL || (!anywhere && at != name))
      continue;
    print_summary(vm, name);
    found = true;
  }
  return found;
}

// "linalg" lists what begins with "linalg.".
static bool list_module(tally_vm *vm, const char *module) {
  char prefix[256];
  int n = snprintf(prefix, sizeof prefix, "%s.", module);
  return n < (int)sizeof prefix && list_names(vm, prefix, false);
}

int tl_run_doc(tl_session *session, const tl_command *cmd) {
  tally_vm *vm = session->vm;
  const char *name = cmd->subject;
  if (name == NULL) {
    list_names(vm, "", false);
    return TL_DONE;
  }
  const char *text = tally_documentation(vm, name);
  if (text != NULL) {
    const char *parameters = tally_signature(vm, name);
    if (parameters == NULL)
      printf("%s\n\n", name);
    else
      printf("%s(%s)\n\n", name, parameters);
    size_t n = strlen(text);
    printf("%s%s", text, n > 0 && text[n - 1] == '\n' ? "" : "\n");
    return TL_DONE;
  }
  if (list_module(vm, name))
    return TL_DONE;
  fprintf(stderr, "tally doc: there is no documentation of %s\n", name);
  list_names(vm, name, true);
  return TL_FAILED;
}
