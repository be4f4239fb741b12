// What `tally doc` and ?NAME print, and what `tally doc --check` finds missing.
//
//     tl_run_doc ─ show_file      FILE.tly: its ## lines
//                ─ tl_show_doc    NAME: its text, else what is like it
//                ─ tl_doc_html    --html DIR
//                ─ ask            all names under their topics, --check, --man:
//                                 the program doc.tly prints them

#include <unistd.h>

#include "repl/doc.h"
#include "repl/run.h"
#include "repl/text.h"

// Whether any name begins so.
static bool is_begun(tally_vm *vm, const char *prefix) {
  const char *name;
  for (size_t i = 0; (name = tally_documented(vm, i)) != NULL; i++)
    if (strncmp(name, prefix, strlen(prefix)) == 0)
      return true;
  return false;
}

// --- What is asked ----------------------------------------------------------

// Has the program print; TL_FAILED where it says that nothing was found, or
// that something lacks.
static int ask(tl_session *session, const char *function, const char *text) {
  int answer = 0;
  tl_session_begin();
  int result =
      tl_session_end(session, tl_doc_ask(session->vm, function, text, &answer));
  return result == TL_DONE && !answer ? TL_FAILED : result;
}

// Prints what a script's ## lines say of its functions; the script is not run.
static int show_file(tl_session *session, const char *path) {
  tally_value value;
  tl_session_begin();
  tally_status status =
      tally_describe_source(session->vm, path, NULL, 0, &value);
  int result = tl_session_end(session, status);
  if (status != TALLY_OK || tl_print_text(session->vm, value, 0) > 0)
    return result;
  fprintf(stderr, "%s defines no function\n", path);
  return TL_FAILED;
}

// What the compiler says to an unknown name, until the next call:
// "; did you mean sort?", or "". Nothing runs.
static const char *near_name(tally_vm *vm, const char *name) {
  tally_value ignored;
  tally_status status = tally_compile(vm, name, &ignored);
  if (status == TALLY_OK) {
    tally_release(vm, ignored);
    return "";
  }
  const char *near = strstr(tally_error(vm)->message, "; did you mean");
  return near == NULL ? "" : near;
}

// Has the program look for a text, and says where there is nothing like it.
static int look_for(tally_vm *vm, const char *function, const char *text) {
  int found = 0;
  if (tl_doc_ask(vm, function, text, &found) != TALLY_OK)
    fprintf(stderr, "tally: %s\n", tally_error(vm)->message);
  else if (!found)
    fprintf(stderr, "there is no documentation of %s%s\n", text,
            near_name(vm, text));
  return found ? TL_DONE : TL_FAILED;
}

int tl_search_doc(tally_vm *vm, const char *text) {
  return look_for(vm, "search", text);
}

// From the narrow to the wide: a script's own function, a documented name, a
// module, another language's word, names that contain it, texts that do.
int tl_show_doc(tally_vm *vm, const char *name) {
  tally_value own;
  if (tally_describe(vm, name, &own) == TALLY_OK &&
      tl_print_text(vm, own, 0) > 0)
    return TL_DONE;
  const bool is_known = tally_documentation(vm, name) != NULL;
  return look_for(vm, is_known ? "show" : "find_name", name);
}

// Whether an import of a module finds a file of that ending, here or in
// TALLY_PATH.
static bool has_file(const char *name, size_t n, const char *ending) {
  char path[1024];
  const char *list = getenv("TALLY_PATH");
  snprintf(path, sizeof path, "%.*s%s", (int)n, name, ending);
  bool found = access(path, R_OK) == 0;
  while (!found && list != NULL && *list != 0) {
    size_t length = strcspn(list, ":");
    int size = snprintf(path, sizeof path, "%.*s/%.*s%s", (int)length, list,
                        (int)n, name, ending);
    found = size < (int)sizeof path && access(path, R_OK) == 0;
    list += length + (list[length] == ':');
  }
  return found;
}

// Imports the native module of a name that nobody knows, which adds its
// documentation. A module in Tally is left alone, since documentation runs no
// scripts. Whether it fails is of no interest here; in a function, it leaves no
// name behind, which near_name would find.
static void import_module_of(tally_vm *vm, const char *name) {
  char text[160];
  size_t n = strcspn(name, ".");
  if (tally_documentation(vm, name) != NULL || n == 0 || n > 100 ||
      is_begun(vm, name) || has_file(name, n, ".tly"))
    return;
  snprintf(text, sizeof text, "(fn () { import %.*s })()", (int)n, name);
  tally_eval(vm, text, NULL);
}

//   tally doc            all topics with their names
//   tally doc NAME       what tl_show_doc has
//   tally doc FILE.tly   the documentation in a script
//   tally doc --check    what lacks documentation
//   tally doc --html DIR, --man   the reference
int tl_run_doc(tl_session *session, const tl_command *cmd) {
  if (cmd->html != NULL) {
    tl_session_begin();
    return tl_session_end(session, tl_doc_html(session->vm, cmd->html));
  }
  if (cmd->man)
    return ask(session, "print_man", NULL);
  if (cmd->check)
    return ask(session, "check", cmd->subject == NULL ? "" : cmd->subject);
  if (cmd->subject != NULL && has_ending(cmd->subject, ".tly"))
    return show_file(session, cmd->subject);
  if (cmd->subject != NULL) {
    import_module_of(session->vm, cmd->subject);
    return tl_show_doc(session->vm, cmd->subject);
  }
  return ask(session, "topics", NULL);
}
