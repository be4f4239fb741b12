// Requests and notifications, a row each in the table at the end. Documents are
// kept as their text; what is known of one is asked of the VM when it is
// needed:
//
//   didOpen, didChange ─ tally_check_source ─ publishDiagnostics
//   completion ─ tally_complete and the document's own names
//   hover, signatureHelp ─ tally_documentation, tally_describe_source
//
// Places of the protocol are lines and UTF-16 units, those of the VM bytes.

#include "repl/lsp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repl/lsp_internal.h"

// --- Errors and warnings ----------------------------------------------------

// Severity 1 is an error and 2 a warning. [finding] has byte offsets. The
// record is one of tally_check_source, with begin, end, kind and message.
static void put_finding(tl_server *s, tl_document *d, tally_value finding) {
  size_t nbytes, kind_nbytes;
  char *message = tl_lsp_text(s, finding, "message", &nbytes);
  char *kind = tl_lsp_text(s, finding, "kind", &kind_nbytes);
  bool is_warning = kind != NULL && strcmp(kind, "warning") == 0;
  tl_json_puts(&s->out, "{");
  tl_lsp_put_range(&s->out, d, (size_t)tl_lsp_int(s, finding, "begin"),
                   (size_t)tl_lsp_int(s, finding, "end"));
  tl_json_puts(&s->out, is_warning ? ",\"severity\":2" : ",\"severity\":1");
  tl_json_puts(&s->out, ",\"source\":\"tally\",\"message\":");
  tl_json_string(&s->out, message == NULL ? "" : message,
                 message == NULL ? 0 : nbytes);
  tl_json_puts(&s->out, "}");
  free(message);
  free(kind);
}

// What is found in the document, in place of what was found before. The
// protocol has it so: each publishDiagnostics is all that a document has, and
// an empty list takes the last ones away.
static void publish(tl_server *s, tl_document *d) {
  tally_value found, item;
  tl_lsp_begin(s);
  tl_json_puts(&s->out,
               "\"method\":\"textDocument/publishDiagnostics\","
               "\"params\":{\"uri\":");
  tl_json_string(&s->out, d->uri, strlen(d->uri));
  tl_json_puts(&s->out, ",\"diagnostics\":[");
  if (tally_check_source(s->vm, d->uri, d->text, d->nbytes, &found) ==
      TALLY_OK) {
    for (size_t i = 0; i < tally_length(s->vm, found); i++) {
      if (tally_item(s->vm, found, i, &item) != TALLY_OK)
        break;
      if (i > 0)
        tl_json_puts(&s->out, ",");
      put_finding(s, d, item);
      tally_release(s->vm, item);
    }
    tally_release(s->vm, found);
  }
  tl_json_puts(&s->out, "]}");
  tl_lsp_end(s);
}

// --- Requests ---------------------------------------------------------------

// What the server can do. textDocumentSync 1 is Full: each change brings the
// whole text. A point begins the completion of members; a parenthesis and a
// comma show the signature of the call. No positionEncoding is given, which
// means UTF-16.
static void initialize(tl_server *s, tally_value message) {
  tl_lsp_begin_result(s, message);
  tl_json_puts(
      &s->out,
      "{\"capabilities\":{\"textDocumentSync\":1,"
      "\"completionProvider\":{\"triggerCharacters\":[\".\"]},"
      "\"signatureHelpProvider\":{\"triggerCharacters\":[\"(\",\",\"]},"
      "\"hoverProvider\":true,\"definitionProvider\":true,"
      "\"documentSymbolProvider\":true,\"referencesProvider\":true,"
      "\"documentHighlightProvider\":true,"
      "\"renameProvider\":{\"prepareProvider\":true},"
      "\"documentFormattingProvider\":true},"
      "\"serverInfo\":{\"name\":\"tally\",\"version\":");
  tl_json_string(&s->out, tally_version(), strlen(tally_version()));
  tl_json_puts(&s->out, "}}");
  tl_lsp_end(s);
}

// Notifications that have to be understood, but change nothing.
static void ignore(tl_server *s, tally_value message) {
  (void)s, (void)message;
}

// The client waits for this answer before it sends exit, and may ask for
// nothing in between.
static void shut_down(tl_server *s, tally_value message) {
  s->was_shut = true;
  tl_lsp_begin_result(s, message);
  tl_json_puts(&s->out, "null");
  tl_lsp_end(s);
}

// The exit status is 0 only if shutdown came before (LSP, "Exit Notification");
// tl_run_lsp sees to that.
static void leave(tl_server *s, tally_value message) {
  (void)message;
  s->is_over = true;
}

// Notes what the functions of the text say of themselves. One that does not
// parse, as mostly while a call is typed, leaves what the one before said.
static void describe(tl_server *s, tl_document *d) {
  tally_value described;
  const char *text;
  size_t nbytes;
  if (tally_describe_source(s->vm, d->uri, d->text, d->nbytes, &described) !=
      TALLY_OK)
    return;
  if (tally_to_string(s->vm, described, &text, &nbytes) == TALLY_OK) {
    free(d->described);
    d->described = strndup(text, nbytes);
  }
  tally_release(s->vm, described);
}

// Takes [text], which may be NULL. NULL, for want of memory or of the member,
// leaves the old text.
static void set_text(tl_server *s, tl_document *d, char *text, size_t nbytes) {
  if (text == NULL)
    return;
  free(d->text);
  d->text = text;
  d->nbytes = nbytes;
  d->seen = 0;
  d->line = d->unit = 0;
  tl_lsp_import_modules(s, d);
  describe(s, d);
  publish(s, d);
}

// A document that is open already gets the new text: the protocol forbids that,
// but it costs nothing.
static void did_open(tl_server *s, tally_value message) {
  size_t nbytes;
  tl_document *d = tl_lsp_document_of(s, message);
  if (d == NULL && (d = calloc(1, sizeof *d)) != NULL) {
    d->uri = tl_lsp_text(s, message, "params.textDocument.uri", &nbytes);
    if (d->uri == NULL) {
      free(d);
      return;
    }
    d->next = s->documents;
    s->documents = d;
  }
  if (d != NULL) {
    char *text = tl_lsp_text(s, message, "params.textDocument.text", &nbytes);
    set_text(s, d, text, nbytes);
  }
}

// Changes are whole texts, since that is what textDocumentSync 1 asks for; the
// last one counts. Versions are not compared: messages come in order, over one
// pipe.
static void did_change(tl_server *s, tally_value message) {
  tally_value changes, last;
  size_t nbytes;
  tl_document *d = tl_lsp_document_of(s, message);
  if (d == NULL || !tl_lsp_find(s, message, "params.contentChanges", &changes))
    return;
  size_t count = tally_length(s->vm, changes);
  if (count > 0 && tally_item(s->vm, changes, count - 1, &last) == TALLY_OK) {
    char *text = tl_lsp_text(s, last, "text", &nbytes);
    tally_release(s->vm, last);
    set_text(s, d, text, nbytes);
  }
  tally_release(s->vm, changes);
}

// From here on requests about the document are answered with null.
static void did_close(tl_server *s, tally_value message) {
  tl_document *d = tl_lsp_document_of(s, message);
  if (d == NULL)
    return;
  // What was found in it is gone for the client, too.
  d->nbytes = 0;
  publish(s, d);
  tl_lsp_close(s, d);
}

// One edit for the whole text; none where it does not parse. The client
// computes itself what the edit changes, and keeps the cursor where it is. The
// options of the request, as tabSize, are not heeded: there is one layout.
static void format(tl_server *s, tally_value message) {
  tl_document *d = tl_lsp_document_of(s, message);
  tally_value laid;
  const char *text;
  size_t nbytes;
  tl_lsp_begin_result(s, message);
  tl_json_puts(&s->out, "[");
  if (d != NULL && tally_format_source(s->vm, d->uri, d->text, d->nbytes,
                                       &laid) == TALLY_OK) {
    if (tally_to_string(s->vm, laid, &text, &nbytes) == TALLY_OK) {
      tl_json_puts(&s->out, "{");
      tl_lsp_put_range(&s->out, d, 0, d->nbytes);
      tl_json_puts(&s->out, ",\"newText\":");
      tl_json_string(&s->out, text, nbytes);
      tl_json_puts(&s->out, "}");
    }
    tally_release(s->vm, laid);
  }
  tl_json_puts(&s->out, "]");
  tl_lsp_end(s);
}

// --- The loop ---------------------------------------------------------------

// What initialize declares and what stands here have to be the same.
static const struct {
  const char *method;
  void (*run)(tl_server *, tally_value message);
  tl_lsp_answer *answer;  // in place of run: a request about a place
} methods[] = {
    {"initialize", initialize, NULL},
    {"initialized", ignore, NULL},
    {"shutdown", shut_down, NULL},
    {"exit", leave, NULL},
    {"textDocument/didOpen", did_open, NULL},
    {"textDocument/didChange", did_change, NULL},
    {"textDocument/didClose", did_close, NULL},
    {"textDocument/didSave", ignore, NULL},
    {"textDocument/completion", NULL, tl_lsp_complete},
    {"textDocument/hover", NULL, tl_lsp_hover},
    {"textDocument/signatureHelp", NULL, tl_lsp_signature},
    {"textDocument/definition", NULL, tl_lsp_define},
    {"textDocument/references", NULL, tl_lsp_references},
    {"textDocument/documentHighlight", NULL, tl_lsp_highlight},
    {"textDocument/prepareRename", NULL, tl_lsp_prepare_rename},
    {"textDocument/rename", tl_lsp_rename, NULL},
    {"textDocument/documentSymbol", tl_lsp_symbols, NULL},
    {"textDocument/formatting", format, NULL},
};

// Answers a request about a place: with null where its document is not open.
static void answer_at(tl_server *s, tally_value message,
                      tl_lsp_answer *answer) {
  tl_document *d = tl_lsp_document_of(s, message);
  tl_lsp_begin_result(s, message);
  if (d == NULL || !answer(s, message, d, tl_lsp_place_of(s, message, d)))
    tl_json_puts(&s->out, "null");
  tl_lsp_end(s);
}

// A request that is not known is answered with an error, a notification is not
// answered at all. A request has an id, a notification has none (JSON-RPC
// 2.0, "Notification").
static void run_method(tl_server *s, tally_value message, const char *method) {
  tally_value id;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].method, method) == 0) {
      if (methods[i].answer != NULL)
        answer_at(s, message, methods[i].answer);
      else
        methods[i].run(s, message);
      return;
    }
  }
  if (!tl_lsp_find(s, message, "id", &id))
    return;
  tally_release(s->vm, id);
  tl_lsp_error(s, &message, -32601, "tally lsp does not know this method");
}

// A body that is no JSON or no message is answered, and the server goes on:
// only a broken header ends it, since then nobody knows where the next message
// begins.
static void take_message(tl_server *s, const tl_json *body) {
  tally_value text, message;
  size_t nbytes;
  if (tally_from_string(s->vm, body->text, body->nbytes, &text) != TALLY_OK) {
    tl_lsp_error(s, NULL, -32700, "the message is not UTF-8 text");
    return;
  }
  tally_status status = tally_call(s->vm, "json.parse", 1, &text, &message);
  tally_release(s->vm, text);
  if (status != TALLY_OK) {
    tl_lsp_error(s, NULL, -32700, tally_error(s->vm)->message);
    return;
  }
  char *method = tl_lsp_text(s, message, "method", &nbytes);
  if (method != NULL)
    run_method(s, message, method);
  else
    tl_lsp_error(s, &message, -32600, "the message has no method");
  free(method);
  tally_release(s->vm, message);
}

// Messages are answered one after the other in the order in which they come, so
// no request is ever pending, and $/cancelRequest, a notification, has nothing
// to cancel.
int tl_run_lsp(tl_session *session) {
  tl_server s = {.vm = session->vm};
  tl_json body = {0};
  tl_message_status status = TL_MESSAGE_READ;
  while (!s.is_over &&
         (status = tl_message_read(stdin, &body)) == TL_MESSAGE_READ)
    take_message(&s, &body);
  if (status == TL_MESSAGE_BROKEN)
    fputs("tally lsp: the input is no message of the protocol\n", stderr);
  while (s.documents != NULL) tl_lsp_close(&s, s.documents);
  free(body.text);
  free(s.out.text);
  return s.was_shut && status != TL_MESSAGE_BROKEN ? TL_DONE : TL_FAILED;
}
