// Requests taken apart and answers put together: the members of a message by
// their path, the id, results and errors.

#include "repl/lsp_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The value at a path such as "params.position.line"; false: there is none. On
// true *out is returned owned. Keys longer than 63 bytes are not in the
// protocol.
bool tl_lsp_find(const tl_server *s, tally_value message, const char *path,
                 tally_value *out) {
  char key[64];
  tally_value at = tally_retain(s->vm, message), next;
  while (*path != 0) {
    size_t n = strcspn(path, ".");
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    path += n + (path[n] == '.');
    bool is_there = tally_field(s->vm, at, key, &next) == TALLY_OK;
    tally_release(s->vm, at);
    if (!is_there)
      return false;
    at = next;
  }
  *out = at;
  return true;
}

// The number at a path; 0 where there is none, or it is no number, so that a
// request without a position means the document's beginning.
long long tl_lsp_int(const tl_server *s, tally_value message,
                     const char *path) {
  tally_value value;
  int64_t number = 0;
  if (!tl_lsp_find(s, message, path, &value))
    return 0;
  if (tally_to_int(s->vm, value, &number) != TALLY_OK)
    number = 0;
  tally_release(s->vm, value);
  return number;
}

// Anything else counts as false, as a member that is not there.
bool tl_lsp_is_true(const tl_server *s, tally_value message, const char *path) {
  tally_value value;
  int truth = 0;
  if (!tl_lsp_find(s, message, path, &value))
    return false;
  if (tally_to_bool(s->vm, value, &truth) != TALLY_OK)
    truth = 0;
  tally_release(s->vm, value);
  return truth != 0;
}

// A copy of a string, to be freed; NULL: there is none. *nbytes is set where
// there is a copy, behind which is a zero byte.
char *tl_lsp_text(const tl_server *s, tally_value message, const char *path,
                  size_t *nbytes) {
  tally_value value;
  const char *text;
  char *copy = NULL;
  if (!tl_lsp_find(s, message, path, &value))
    return NULL;
  if (tally_to_string(s->vm, value, &text, nbytes) == TALLY_OK &&
      (copy = malloc(*nbytes + 1)) != NULL) {
    memcpy(copy, text, *nbytes);
    copy[*nbytes] = 0;
  }
  tally_release(s->vm, value);
  return copy;
}

// Between the two calls the members follow, from "id" or "method" on. A message
// for which memory was missing is not sent, as half of one would end the
// protocol.
void tl_lsp_begin(tl_server *s) {
  s->out.nbytes = 0;
  s->out.failed = false;
  tl_json_puts(&s->out, "{\"jsonrpc\":\"2.0\",");
}

// Sent only here, where the length is known that the header has to tell.
void tl_lsp_end(tl_server *s) {
  tl_json_puts(&s->out, "}");
  if (!s->out.failed)
    tl_message_write(stdout, &s->out);
}

// The id of a request as it came, a number or a string. null where it has none,
// as for errors in messages that could not be read (JSON-RPC 2.0, "Response
// object").
static void put_id(tl_server *s, tally_value message) {
  tally_value id, text;
  const char *json;
  size_t nbytes;
  tl_json_puts(&s->out, "\"id\":");
  if (!tl_lsp_find(s, message, "id", &id)) {
    tl_json_puts(&s->out, "null");
    return;
  }
  if (tally_call(s->vm, "json.format", 1, &id, &text) == TALLY_OK) {
    if (tally_to_string(s->vm, text, &json, &nbytes) == TALLY_OK)
      tl_json_put(&s->out, json, nbytes);
    tally_release(s->vm, text);
  } else {
    tl_json_puts(&s->out, "null");
  }
  tally_release(s->vm, id);
}

// Between the two stands the result. Every request has to be answered once,
// with a result or an error; null is the result for "nothing is known".
void tl_lsp_begin_result(tl_server *s, tally_value message) {
  tl_lsp_begin(s);
  put_id(s, message);
  tl_json_puts(&s->out, ",\"result\":");
}

// An error response; [message] is the request, or NULL where it was not
// understood. The codes are those of JSON-RPC 2.0: -32700 no JSON, -32600 no
// request, -32601 no such method.
void tl_lsp_error(tl_server *s, const tally_value *message, int code,
                  const char *text) {
  tl_lsp_begin(s);
  if (message != NULL)
    put_id(s, *message);
  else
    tl_json_puts(&s->out, "\"id\":null");
  tl_json_puts(&s->out, ",\"error\":{\"code\":");
  tl_json_int(&s->out, code);
  tl_json_puts(&s->out, ",\"message\":");
  tl_json_string(&s->out, text, strlen(text));
  tl_json_puts(&s->out, "}");
  tl_lsp_end(s);
}
