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

// One item of a list of completions.
static void put_item(tl_server *s, const char *name, size_t nbytes,
                     int *count) {
  if ((*count)++ > 0)
    tl_json_puts(&s->out, ",");
  tl_json_puts(&s->out, "{\"label\":");
  tl_json_string(&s->out, name, nbytes);
  tl_json_puts(&s->out, "}");
}

// All tokens of a document up to a byte, as tally_tokens has them; *count are
// there. To be freed; NULL: no memory.
static tally_token *tokens_before(tl_server *s, const tl_document *d, size_t at,
                                  size_t *count) {
  *count = tally_tokens(s->vm, d->text, at, NULL, 0);
  tally_token *tokens = malloc((*count + 1) * sizeof *tokens);
  if (tokens != NULL)
    *count = tally_tokens(s->vm, d->text, at, tokens, *count);
  return tokens;
}

// A name as it stands in a text.
typedef struct spelled {
  const char *text;
  size_t nbytes;
} spelled;

// For qsort, by bytes; what another begins with comes first.
static int compare_spelled(const void *left, const void *right) {
  const spelled *a = left, *b = right;
  size_t n = a->nbytes < b->nbytes ? a->nbytes : b->nbytes;
  int order = memcmp(a->text, b->text, n);
  return order != 0 ? order : (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

// The document's names that go on from its bytes [begin, at), in order and each
// once.
static void put_own_names(tl_server *s, const tl_document *d, size_t begin,
                          size_t at, int *count) {
  const size_t part = at - begin;
  size_t token_count, n = 0;
  tally_token *tokens = tokens_before(s, d, d->nbytes, &token_count);
  spelled *names = calloc(token_count + 1, sizeof *names);
  for (size_t i = 0; tokens != NULL && names != NULL && i < token_count; i++) {
    const tally_token *t = &tokens[i];
    if ((t->kind == TALLY_TOKEN_NAME || t->kind == TALLY_TOKEN_CALL) &&
        t->end - t->begin > part && t->begin != begin &&
        memcmp(d->text + t->begin, d->text + begin, part) == 0)
      names[n++] = (spelled){d->text + t->begin, t->end - t->begin};
  }
  if (n > 0)
    qsort(names, n, sizeof *names, compare_spelled);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || compare_spelled(&names[i - 1], &names[i]) != 0)
      put_item(s, names[i].text, names[i].nbytes, count);
  free(names);
  free(tokens);
}

// Names of the document come first, then what the prompt would offer for the
// line up to the cursor. Behind a point only the second: members are none of
// the document's names. The list is an array of items, which the client may
// filter further, as nothing says that it is incomplete.
static void complete(tl_server *s, tally_value message) {
  tl_document *d;
  size_t at, begin, end, nbytes;
  tally_value names, item;
  const char *name;
  int count = 0;
  if (!tl_lsp_find_place(s, message, &d, &at))
    return;
  size_t line = at;
  while (line > 0 && d->text[line - 1] != '\n') line--;
  char *text = malloc(at - line + 1);
  tl_lsp_begin_result(s, message);
  tl_json_puts(&s->out, "[");
  if (text != NULL) {
    memcpy(text, d->text + line, at - line);
    text[at - line] = 0;
    begin = end = at;
    while (begin > line && tl_lsp_is_in_name(d->text[begin - 1])) begin--;
    if (begin == line || d->text[begin - 1] != '.')
      put_own_names(s, d, begin, at, &count);
    if (tally_complete(s->vm, text, &names) == TALLY_OK) {
      for (size_t i = 0; i < tally_length(s->vm, names); i++) {
        if (tally_item(s->vm, names, i, &item) != TALLY_OK)
          break;
        if (tally_to_string(s->vm, item, &name, &nbytes) == TALLY_OK)
          put_item(s, name, nbytes, &count);
        tally_release(s->vm, item);
      }
      tally_release(s->vm, names);
    }
  }
  free(text);
  tl_json_puts(&s->out, "]");
  tl_lsp_end(s);
}

// Whether a paragraph of a description is a signature.
static bool is_signature(const char *text) {
  size_t n = 0;
  while (tl_lsp_is_in_name(text[n])) n++;
  return n > 0 && text[n] == '(';
}

// The end of the description that begins here: its signature, and the paragraph
// behind it unless that is the next one's.
//
//     f(x)
//
//     What f does.        no signature: it belongs to f
//
//     g(x, y)             a name with a parenthesis: the next description
static const char *description_end(const char *at) {
  const char *end = strstr(at, "\n\n");
  if (end != NULL && !is_signature(end + 2))
    end = strstr(end + 2, "\n\n");
  return end == NULL ? at + strlen(at) : end;
}

// What the document's own function of that name says of itself. To be freed;
// NULL: nothing.
static char *describe_own(const tl_document *d, const char *name) {
  size_t n = strlen(name);
  const char *at = d->described;
  while (at != NULL && (strncmp(at, name, n) != 0 || at[n] != '(')) {
    at = strstr(at, "\n\n");
    at = at == NULL ? NULL : at + 2;
  }
  return at == NULL ? NULL : strndup(at, (size_t)(description_end(at) - at));
}

// At most so many bytes of a text, none of a character cut in two.
static int whole_bytes(const char *text, size_t most) {
  size_t n = strlen(text);
  if (n <= most)
    return (int)n;
  for (n = most; n > 0 && (text[n] & 0xc0) == 0x80;) n--;
  return (int)n;
}

// The first line of a description: name and parameters, as in Tally. Then comes
// the rest, as Markdown (MarkupContent in the protocol); editors colour what is
// fenced as tally.
static void put_markup(tl_json *to, const char *head, const char *text) {
  tl_json all = {0};
  tl_json_puts(&all, "```tally\n");
  tl_json_puts(&all, head);
  tl_json_puts(&all, "\n```\n");
  tl_json_puts(&all, text);
  tl_json_puts(to, "{\"kind\":\"markdown\",\"value\":");
  tl_json_string(to, all.text == NULL ? "" : all.text, all.nbytes);
  tl_json_puts(to, "}");
  free(all.text);
}

// The document's own function wins over the library's of that name, as it does
// when the script runs. Neither: null, and the editor shows nothing.
static void hover(tl_server *s, tally_value message) {
  tl_document *d;
  size_t at;
  char name[128], head[512];
  if (!tl_lsp_find_place(s, message, &d, &at))
    return;
  tl_lsp_name_at(d, at, name, sizeof name);
  char *own = name[0] == 0 ? NULL : describe_own(d, name);
  const char *text = name[0] == 0 ? NULL : tally_documentation(s->vm, name);
  tl_lsp_begin_result(s, message);
  if (own != NULL) {
    size_t n = strcspn(own, "\n");
    snprintf(head, sizeof head, "%.*s", whole_bytes(own, n < 500 ? n : 500),
             own);
    tl_json_puts(&s->out, "{\"contents\":");
    put_markup(&s->out, head, own + n);
    tl_json_puts(&s->out, "}");
  } else if (text != NULL) {
    const char *params = tally_signature(s->vm, name);
    if (params == NULL)
      snprintf(head, sizeof head, "%s", name);
    else
      snprintf(head, sizeof head, "%s(%.*s)", name, whole_bytes(params, 370),
               params);
    tl_json_puts(&s->out, "{\"contents\":");
    put_markup(&s->out, head, text);
    tl_json_puts(&s->out, "}");
  } else {
    tl_json_puts(&s->out, "null");
  }
  free(own);
  tl_lsp_end(s);
}

// A call whose arguments stand at a byte.
typedef struct open_call {
  size_t paren;   // where its parenthesis is
  int argument;   // how many arguments are before the one at the byte
  char name[64];  // that one's; "" where it is given by position
} open_call;

// Finds the call; false: there is none. Goes backwards over brackets that are
// closed. A list or record that begins in between says that the byte is in none
// of the call's arguments directly.
static bool find_call(tl_server *s, const tl_document *d, size_t at,
                      open_call *out) {
  size_t count;
  tally_token *tokens = tokens_before(s, d, at, &count);
  bool found = false;
  *out = (open_call){.paren = 0};
  int depth = 0;
  for (size_t i = tokens == NULL ? 0 : count; i-- > 0;) {
    const tally_token *t = &tokens[i];
    const char sign = d->text[t->begin];
    if (t->kind == TALLY_TOKEN_CLOSE)
      depth++;
    bool begins = t->kind == TALLY_TOKEN_OPEN && depth-- == 0;
    bool divides = t->kind == TALLY_TOKEN_OTHER && depth == 0;
    if (divides && sign == ';')
      break;
    // Only the last argument's name counts, which is come by first.
    if (divides && sign == ':' && i > 0 && out->argument == 0)
      snprintf(out->name, sizeof out->name, "%.*s",
               (int)(tokens[i - 1].end - tokens[i - 1].begin),
               d->text + tokens[i - 1].begin);
    out->argument += divides && sign == ',';
    if (begins) {
      out->paren = t->begin;
      found = sign == '(';
      break;
    }
  }
  free(tokens);
  return found;
}

// The parameters of a signature, f(x, axis: none), each as it stands there, and
// which of them the argument is; -1: none.
static int put_parameters(tl_server *s, const char *label,
                          const open_call *call) {
  const char *from = strchr(label, '(');
  int count = 0, active = -1, depth = 0;
  tl_json_puts(&s->out, ",\"parameters\":[");
  for (const char *at = from == NULL ? "" : ++from; *at != 0; at++) {
    bool ends = depth == 0 && (*at == ',' || *at == ')');
    // Types stand between backquotes, which open and close alike.
    depth += (strchr("([{", *at) != NULL) - (strchr(")]}", *at) != NULL);
    if (!ends)
      continue;
    size_t n = (size_t)(at - from), named = strcspn(from, " :=,)");
    if (n > 0) {
      bool is_next = active < 0 &&
                     (count == call->argument ||
                      (count < call->argument && strncmp(from, "...", 3) == 0));
      bool is_it = call->name[0] == 0
                       ? is_next
                       : strlen(call->name) == named &&
                             memcmp(from, call->name, named) == 0;
      if (is_it)
        active = count;
      tl_json_puts(&s->out, count++ > 0 ? ",{\"label\":" : "{\"label\":");
      tl_json_string(&s->out, from, n);
      tl_json_puts(&s->out, "}");
    }
    if (*at == ')')
      break;
    from = at + 1 + strspn(at + 1, " ");
  }
  tl_json_puts(&s->out, "]");
  return active;
}

// Where the argument is no parameter's the client shows the first as the active
// one.
static void signature_help(tl_server *s, tally_value message) {
  tl_document *d;
  size_t at;
  char name[128] = "", label[512] = "";
  open_call call;
  if (!tl_lsp_find_place(s, message, &d, &at))
    return;
  if (find_call(s, d, at, &call) && call.paren > 0)
    tl_lsp_name_at(d, call.paren - 1, name, sizeof name);
  const char *params = name[0] == 0 ? NULL : tally_signature(s->vm, name);
  char *own = name[0] == 0 ? NULL : describe_own(d, name);
  if (own != NULL)
    snprintf(
        label, sizeof label, "%.*s",
        whole_bytes(own, strcspn(own, "\n") < 500 ? strcspn(own, "\n") : 500),
        own);
  else if (params != NULL)
    snprintf(label, sizeof label, "%s(%.*s)", name, whole_bytes(params, 370),
             params);
  tl_lsp_begin_result(s, message);
  if (label[0] != 0) {
    tl_json_puts(&s->out, "{\"signatures\":[{\"label\":");
    tl_json_string(&s->out, label, strlen(label));
    int active = put_parameters(s, label, &call);
    tl_json_puts(&s->out, "}]");
    if (active >= 0) {
      tl_json_puts(&s->out, ",\"activeParameter\":");
      tl_json_int(&s->out, active);
    }
    tl_json_puts(&s->out, "}");
  } else {
    tl_json_puts(&s->out, "null");
  }
  free(own);
  tl_lsp_end(s);
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
} methods[] = {
    {"initialize", initialize},
    {"initialized", ignore},
    {"shutdown", shut_down},
    {"exit", leave},
    {"textDocument/didOpen", did_open},
    {"textDocument/didChange", did_change},
    {"textDocument/didClose", did_close},
    {"textDocument/didSave", ignore},
    {"textDocument/completion", complete},
    {"textDocument/hover", hover},
    {"textDocument/signatureHelp", signature_help},
    {"textDocument/definition", tl_lsp_define},
    {"textDocument/references", tl_lsp_references},
    {"textDocument/documentHighlight", tl_lsp_highlight},
    {"textDocument/prepareRename", tl_lsp_prepare_rename},
    {"textDocument/rename", tl_lsp_rename},
    {"textDocument/documentSymbol", tl_lsp_symbols},
    {"textDocument/formatting", format},
};

// A request that is not known is answered with an error, a notification is not
// answered at all. A request has an id, a notification has none (JSON-RPC
// 2.0, "Notification").
static void run_method(tl_server *s, tally_value message, const char *method) {
  tally_value id;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].method, method) == 0) {
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
