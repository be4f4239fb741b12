// The loop of the language server: each message of the client goes to a program
// in Tally, lsp.tly, and what that answers to the client. The program has a VM
// of its own, as the session's knows the names of documents; what it asks of
// that one goes through the module `analysis`, as texts of JSON.
//
//     tl_run_lsp ─ tl_message_read
//                ─ take_message ─ answer(body, version)    lsp.tly
//                                   analysis.check(…) ─ tally_check_source
//                ─ tl_message_write, of each text in the answer
//
// Nothing of a document runs: the session's VM has no capabilities.

#include "repl/lsp.h"

#include <stdlib.h>
#include <string.h>

#include "repl/lsp_message.h"
#include "repl/program.h"

// --- What the program may ask -----------------------------------------------

enum { FUNCTIONS = 7 };

// A function of the module: the session's VM, and what is called of it.
typedef struct asked {
  tally_status (*of_text)(tally_vm *, const char *name, const char *text,
                          size_t nbytes, tally_value *out);
  tally_vm *vm;
} asked;

// Hands what the session's VM has found to the program, as JSON; none where it
// has found nothing. Takes [found].
static tally_status hand_over(tally_vm *vm, tally_vm *from, tally_status status,
                              tally_value found, tally_value *out) {
  tally_value text;
  size_t nbytes;
  if (status != TALLY_OK)
    return tally_from_none(vm, out);
  status = tally_call(from, "json.format", 1, &found, &text);
  tally_release(from, found);
  if (status != TALLY_OK)
    return tally_from_none(vm, out);
  const char *json = tl_program_text(from, text, &nbytes);
  status = tally_from_string(vm, json, nbytes, out);
  tally_release(from, text);
  return status;
}

// check, describe, format: of a text that has a name. resolve, complete: of one
// that has none.
static tally_status ask_of_text(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  const asked *q = context;
  size_t name_nbytes, nbytes;
  const char *name = tl_program_text(vm, args[0], &name_nbytes);
  const char *text = tl_program_text(vm, args[count - 1], &nbytes);
  tally_value found = {0, 0};
  tally_status status =
      q->of_text(q->vm, count == 1 ? "a document" : name, text, nbytes, &found);
  return hand_over(vm, q->vm, status, found, out);
}

static tally_status complete(tally_vm *vm, const char *name, const char *text,
                             size_t nbytes, tally_value *out) {
  return tally_complete(vm, text, out);
}

// Runs code in the session's VM; its errors are nobody's.
static tally_status evaluate(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  const asked *q = context;
  size_t nbytes;
  tally_eval(q->vm, tl_program_text(vm, args[0], &nbytes), NULL);
  return tally_from_none(vm, out);
}

// --- The program ------------------------------------------------------------

// What the functions are called with, and the VM with the program.
typedef struct server {
  tally_vm *vm;
  asked asked[FUNCTIONS];
} server;

// Loads the program. False after a message.
static bool open_program(server *s, tally_vm *session) {
  static const struct {
    asked asked;
    const char *name, *params;
    tally_function *call;
  } functions[FUNCTIONS] = {
      {{.of_text = tally_check_source}, "check", "name, text", ask_of_text},
      {{.of_text = tally_describe_source},
       "describe",
       "name, text",
       ask_of_text},
      {{.of_text = tally_format_source}, "format", "name, text", ask_of_text},
      {{.of_text = tally_resolve_source}, "resolve", "text", ask_of_text},
      {{.of_text = complete}, "complete", "line", ask_of_text},
      {{.of_text = NULL}, "evaluate", "code", evaluate},
      {{.of_text = NULL}, "tokens", "text", tl_program_tokens},
  };
  tally_native table[FUNCTIONS] = {{.name = NULL}};
  for (int i = 0; i < FUNCTIONS; i++) {
    s->asked[i] = functions[i].asked;
    s->asked[i].vm = session;
    table[i].name = functions[i].name;
    table[i].params = functions[i].params;
    table[i].call = functions[i].call;
    table[i].context = &s->asked[i];
  }
  tally_options options = tally_default_options();
  options.capabilities = 0;
  s->vm = tl_program_open(tl_lsp, &options, NULL, "analysis", table, FUNCTIONS,
                          session);
  return s->vm != NULL;
}

// Whether a variable of the program is true.
static bool is_true(const server *s, const char *name) {
  tally_value value;
  int truth = 0;
  if (tally_get_global(s->vm, name, &value) != TALLY_OK)
    return false;
  tally_to_bool(s->vm, value, &truth);
  tally_release(s->vm, value);
  return truth != 0;
}

// Sends what the program answers. A fault of the program itself, such as for
// want of memory, is told on standard error, and the server goes on.
static void take_message(const server *s, const tl_message *body) {
  tally_vm *vm = s->vm;
  const char *version = tally_version(), *text;
  size_t nbytes;
  tally_value args[2], answers, item;
  tally_frame frame = tally_begin(vm);
  bool ok =
      (tally_from_string(vm, body->text, body->nbytes, &args[0]) == TALLY_OK ||
       tally_from_none(vm, &args[0]) == TALLY_OK) &&
      tally_from_string(vm, version, strlen(version), &args[1]) == TALLY_OK &&
      tally_call(vm, "answer", 2, args, &answers) == TALLY_OK;
  for (size_t i = 0; ok && i < tally_length(vm, answers); i++) {
    ok = tally_item(vm, answers, i, &item) == TALLY_OK &&
         tally_to_string(vm, item, &text, &nbytes) == TALLY_OK;
    if (ok)
      tl_message_write(stdout, text, nbytes);
  }
  if (!ok)
    fprintf(stderr, "tally lsp: %s\n", tally_error(vm)->report);
  tally_end(vm, frame, 0, NULL);
}

// Messages are answered one after the other in the order in which they come, so
// no request is ever pending, and $/cancelRequest, a notification, has nothing
// to cancel. Only a broken header ends the server early, since then nobody
// knows where the next message begins.
int tl_run_lsp(tl_session *session, const tl_command *cmd) {
  server s = {.vm = NULL};
  tl_message body = {0};
  tl_message_status status = TL_MESSAGE_READ;
  if (!open_program(&s, session->vm))
    return TL_FAILED;
  while (!is_true(&s, "is_over") &&
         (status = tl_message_read(stdin, &body)) == TL_MESSAGE_READ)
    take_message(&s, &body);
  if (status == TL_MESSAGE_BROKEN)
    fputs("tally lsp: the input is no message of the protocol\n", stderr);
  bool ended_well = is_true(&s, "was_shut") && status != TL_MESSAGE_BROKEN;
  tally_close(s.vm);
  free(body.text);
  return ended_well ? TL_DONE : TL_FAILED;
}
