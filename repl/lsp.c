// What the language server's program in Tally, lsp.tly, works with. The program
// has a VM of its own, as the session's knows the names of documents; what it
// asks of that one goes through the module `analysis`, as texts of JSON, and so
// do the lines and bytes of messages.
//
//     tl_run_lsp ─ serve(version)    lsp.tly
//                    analysis.line(), body(n)
//                    analysis.check(…) ─ tally_check_source
//                    analysis.send(text)
//
// Nothing of a document runs: the session's VM has no capabilities.

#include "repl/lsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/program.h"

// --- What the program may ask -----------------------------------------------

enum { FUNCTIONS = 11 };

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

// --- Messages ---------------------------------------------------------------

// A longer body is more likely a broken header than a document. No line of a
// header that clients send comes near its bound.
enum { MOST = 256 << 20, HEADER = 256 };

// Nobody knows where the next message begins.
static tally_status fail_message(tally_vm *vm) {
  return tally_raise(vm, TALLY_ERR_VALUE,
                     "the input is no message of the protocol");
}

// line(): one of a header, without its end; none at the end of the input. It
// waits for as long as the client says nothing.
static tally_status read_line(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  char line[HEADER];
  if (fgets(line, HEADER, stdin) == NULL)
    return tally_from_none(vm, out);
  if (strchr(line, '\n') == NULL)
    return fail_message(vm);
  return tl_program_give(vm, line, strcspn(line, "\r\n"), out);
}

// body(n): so many bytes as a text; none where they are no UTF-8. The length is
// tested before it becomes memory.
static tally_status read_body(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  int64_t n = -1;
  tally_to_int(vm, args[0], &n);
  char *text = n >= 0 && n <= MOST ? malloc((size_t)n + 1) : NULL;
  tally_status status = TALLY_OK;
  if (text == NULL || fread(text, 1, (size_t)n, stdin) != (size_t)n)
    status = fail_message(vm);
  else if (tally_from_string(vm, text, (size_t)n, out) != TALLY_OK)
    status = tally_from_none(vm, out);
  free(text);
  return status;
}

// send(text): a message with this body, at once, as the client waits for it.
static tally_status send_text(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  size_t nbytes;
  const char *text = tl_program_text(vm, args[0], &nbytes);
  printf("Content-Length: %zu\r\n\r\n", nbytes);
  fwrite(text, 1, nbytes, stdout);
  fflush(stdout);
  return tally_from_none(vm, out);
}

// tell(text), on standard error.
static tally_status tell_text(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  size_t nbytes;
  fprintf(stderr, "tally lsp: %s\n", tl_program_text(vm, args[0], &nbytes));
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
      {{.of_text = NULL}, "line", "", read_line},
      {{.of_text = NULL}, "body", "n", read_body},
      {{.of_text = NULL}, "send", "text", send_text},
      {{.of_text = NULL}, "tell", "text", tell_text},
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

// The program reads and answers messages until the client says exit or closes
// the input, and says whether that was well. Only a broken header, or a fault
// of the loop itself, ends it with an error.
int tl_run_lsp(tl_session *session, const tl_command *cmd) {
  server s = {.vm = NULL};
  const char *version = tally_version();
  tally_value text, ended;
  int well = 0;
  if (!open_program(&s, session->vm))
    return TL_FAILED;
  if (tally_from_string(s.vm, version, strlen(version), &text) == TALLY_OK &&
      tally_call(s.vm, "serve", 1, &text, &ended) == TALLY_OK)
    tally_to_bool(s.vm, ended, &well);
  else
    fprintf(stderr, "tally lsp: %s\n", tally_error(s.vm)->message);
  tally_close(s.vm);
  return well ? TL_DONE : TL_FAILED;
}
