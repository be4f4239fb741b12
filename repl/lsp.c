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

#include "repl/lsp_message.h"

// A document is open from didOpen to didClose. In between its text is what the
// client sent last, and the file is not read: the editor's text may not be
// saved.
typedef struct document {
  struct document *next;
  char *uri, *text;
  size_t nbytes;
  // The place that was asked for last: others follow it, mostly. [line] and
  // [unit] are the place of byte [seen]; a new text begins at 0 again.
  //
  //     a = "é"\nb = 1      é is bytes 5 and 6, but one unit
  //                         byte 9 is line 1, unit 0
  size_t seen;
  long long line, unit;
} document;

// [was_shut]: shutdown was answered, so that exit is no failure. [is_over]:
// exit has come, and nothing is read any more.
typedef struct server {
  tally_vm *vm;
  document *documents;
  tl_json out;  // the message being written
  bool was_shut, is_over;
} server;

// --- Values of a message ----------------------------------------------------

// The value at a path such as "params.position.line"; false: there is none. On
// true *out is returned owned. Keys longer than 63 bytes are not in the
// protocol.
static bool find(const server *s, tally_value message, const char *path,
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
static long long find_int(const server *s, tally_value message,
                          const char *path) {
  tally_value value;
  int64_t number = 0;
  if (!find(s, message, path, &value))
    return 0;
  if (tally_to_int(s->vm, value, &number) != TALLY_OK)
    number = 0;
  tally_release(s->vm, value);
  return number;
}

// A copy of a string, to be freed; NULL: there is none. *nbytes is set where
// there is a copy, behind which is a zero byte.
static char *find_text(const server *s, tally_value message, const char *path,
                       size_t *nbytes) {
  tally_value value;
  const char *text;
  char *copy = NULL;
  if (!find(s, message, path, &value))
    return NULL;
  if (tally_to_string(s->vm, value, &text, nbytes) == TALLY_OK &&
      (copy = malloc(*nbytes + 1)) != NULL) {
    memcpy(copy, text, *nbytes);
    copy[*nbytes] = 0;
  }
  tally_release(s->vm, value);
  return copy;
}

// --- Places -----------------------------------------------------------------

// The byte at a line and a UTF-16 unit of it; the end of what is shorter. That
// is the encoding that clients have to know (LSP 3.17, "Position"): a character
// above U+FFFF, 4 bytes of UTF-8, is a surrogate pair, 2 units. A place in the
// middle of a pair is the one behind it.
static size_t byte_at(const document *d, long long line, long long unit) {
  size_t at = 0;
  for (; line > 0 && at < d->nbytes; line--) {
    const char *end = memchr(d->text + at, '\n', d->nbytes - at);
    at = end == NULL ? d->nbytes : (size_t)(end - d->text) + 1;
  }
  while (unit > 0 && at < d->nbytes && d->text[at] != '\n') {
    unsigned char c = (unsigned char)d->text[at++];
    while (at < d->nbytes && (d->text[at] & 0xc0) == 0x80) at++;
    unit -= c >= 0xf0 ? 2 : 1;
  }
  return at;
}

// {"line": …, "character": …} of a byte. It walks on from the place before,
// since findings come in the order of the text; only a place before that one
// starts over from the beginning. Behind the text is its end.
static void put_place(tl_json *to, document *d, size_t byte) {
  if (byte < d->seen) {
    d->seen = 0;
    d->line = d->unit = 0;
  }
  for (; d->seen < byte && d->seen < d->nbytes; d->seen++) {
    unsigned char c = (unsigned char)d->text[d->seen];
    d->unit += (c & 0xc0) != 0x80;
    d->unit += c >= 0xf0;
    if (c == '\n') {
      d->line++;
      d->unit = 0;
    }
  }
  tl_json_puts(to, "{\"line\":");
  tl_json_int(to, d->line);
  tl_json_puts(to, ",\"character\":");
  tl_json_int(to, d->unit);
  tl_json_puts(to, "}");
}

// The member "range" with the bytes [begin, end): the end is exclusive in the
// protocol as it is here.
static void put_range(tl_json *to, document *d, size_t begin, size_t end) {
  tl_json_puts(to, "\"range\":{\"start\":");
  put_place(to, d, begin);
  tl_json_puts(to, ",\"end\":");
  put_place(to, d, end);
  tl_json_puts(to, "}");
}

// All bytes above ASCII count, so that a name in any script is one.
static bool is_in_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

// The name around a byte, with the names and points before it: linalg.norm. The
// range is empty where no name is. Digits alone are a name here: nothing is
// found for them.
static void name_around(const document *d, size_t at, size_t *begin,
                        size_t *end) {
  *begin = *end = at;
  while (*end < d->nbytes && is_in_name(d->text[*end])) ++*end;
  while (*begin > 0 && (is_in_name(d->text[*begin - 1]) ||
                        (d->text[*begin - 1] == '.' && *begin < *end)))
    --*begin;
}

// --- Documents --------------------------------------------------------------

// URIs are compared as they come, not decoded: a client names a document always
// alike. NULL: it is not open.
static document *find_document(const server *s, const char *uri) {
  document *d = uri == NULL ? NULL : s->documents;
  while (d != NULL && strcmp(d->uri, uri) != 0) d = d->next;
  return d;
}

// The document that a message is about; NULL: it is not open.
static document *document_of(const server *s, tally_value message) {
  size_t nbytes;
  char *uri = find_text(s, message, "params.textDocument.uri", &nbytes);
  document *d = find_document(s, uri);
  free(uri);
  return d;
}

// Takes the document, if it is open.
static void close_document(server *s, document *closed) {
  document **at = &s->documents;
  while (*at != NULL && *at != closed) at = &(*at)->next;
  if (*at == NULL)
    return;
  *at = closed->next;
  free(closed->uri);
  free(closed->text);
  free(closed);
}

// Whether the library has documented members of a module of that name.
static bool is_library_module(const server *s, const char *name) {
  const char *documented;
  size_t n = strlen(name);
  for (size_t i = 0; (documented = tally_documented(s->vm, i)) != NULL; i++) {
    if (strncmp(documented, name, n) == 0 && documented[n] == '.')
      return n > 0;
  }
  return false;
}

// How many bytes of a name stand there, at most [most].
static int name_length(const char *text, int most) {
  int n = 0;
  while (n < most && is_in_name(text[n])) n++;
  return n;
}

// Modules of the library that a document imports are imported here, so that
// their names are known; nothing of the document itself runs. Only lines that
// begin with the word and name a documented module of the library are
// evaluated, each as it stands up to 99 bytes; their errors are nobody's, since
// the check reports them by itself. A module that was imported once stays, for
// all documents.
static void import_modules(server *s, const document *d) {
  static const char word[] = "import ";
  char text[100];
  for (size_t i = 0; i < d->nbytes;) {
    const char *line = d->text + i, *end = memchr(line, '\n', d->nbytes - i);
    size_t n = end == NULL ? d->nbytes - i : (size_t)(end - line);
    i += n + 1;
    if (n < sizeof word || strncmp(line, word, sizeof word - 1) != 0)
      continue;
    // Made of names alone, so that nothing behind them is evaluated.
    const char *name = line + sizeof word - 1, *alias;
    int length = name_length(name, 60);
    snprintf(text, sizeof text, "%.*s", length, name);
    if (!is_library_module(s, text))
      continue;
    alias = name + length;
    if (strncmp(alias, " as ", 4) == 0)
      snprintf(text, sizeof text, "import %.*s as %.*s", length, name,
               name_length(alias + 4, 30), alias + 4);
    else
      snprintf(text, sizeof text, "import %.*s", length, name);
    tally_eval(s->vm, text, NULL);
  }
}

// --- Messages to the client -------------------------------------------------

// Between the two calls the members follow, from "id" or "method" on. A message
// for which memory was missing is not sent, as half of one would end the
// protocol.
static void begin_message(server *s) {
  s->out.nbytes = 0;
  s->out.failed = false;
  tl_json_puts(&s->out, "{\"jsonrpc\":\"2.0\",");
}

static void end_message(server *s) {
  tl_json_puts(&s->out, "}");
  if (!s->out.failed)
    tl_message_write(stdout, &s->out);
}

// The id of a request as it came, a number or a string. null where it has none,
// as for errors in messages that could not be read (JSON-RPC 2.0, "Response
// object").
static void put_id(server *s, tally_value message) {
  tally_value id, text;
  const char *json;
  size_t nbytes;
  tl_json_puts(&s->out, "\"id\":");
  if (!find(s, message, "id", &id)) {
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
static void begin_result(server *s, tally_value message) {
  begin_message(s);
  put_id(s, message);
  tl_json_puts(&s->out, ",\"result\":");
}

// An error response; [message] is the request, or NULL where it was not
// understood. The codes are those of JSON-RPC 2.0: -32700 no JSON, -32600 no
// request, -32601 no such method.
static void send_error(server *s, const tally_value *message, int code,
                       const char *text) {
  begin_message(s);
  if (message != NULL)
    put_id(s, *message);
  else
    tl_json_puts(&s->out, "\"id\":null");
  tl_json_puts(&s->out, ",\"error\":{\"code\":");
  tl_json_int(&s->out, code);
  tl_json_puts(&s->out, ",\"message\":");
  tl_json_string(&s->out, text, strlen(text));
  tl_json_puts(&s->out, "}");
  end_message(s);
}

// --- Errors and warnings ----------------------------------------------------

// Severity 1 is an error and 2 a warning. [finding] has byte offsets. The
// record is one of tally_check_source, with begin, end, kind and message.
static void put_finding(server *s, document *d, tally_value finding) {
  size_t nbytes, kind_nbytes;
  char *message = find_text(s, finding, "message", &nbytes);
  char *kind = find_text(s, finding, "kind", &kind_nbytes);
  bool is_warning = kind != NULL && strcmp(kind, "warning") == 0;
  tl_json_puts(&s->out, "{");
  put_range(&s->out, d, (size_t)find_int(s, finding, "begin"),
            (size_t)find_int(s, finding, "end"));
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
static void publish(server *s, document *d) {
  tally_value found, item;
  begin_message(s);
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
  end_message(s);
}

// --- Requests ---------------------------------------------------------------

// What the server can do. textDocumentSync 1 is Full: each change brings the
// whole text. A point begins the completion of members; a parenthesis and a
// comma show the signature of the call. No positionEncoding is given, which
// means UTF-16.
static void initialize(server *s, tally_value message) {
  begin_result(s, message);
  tl_json_puts(
      &s->out,
      "{\"capabilities\":{\"textDocumentSync\":1,"
      "\"completionProvider\":{\"triggerCharacters\":[\".\"]},"
      "\"signatureHelpProvider\":{\"triggerCharacters\":[\"(\",\",\"]},"
      "\"hoverProvider\":true,\"definitionProvider\":true,"
      "\"documentSymbolProvider\":true,"
      "\"documentFormattingProvider\":true},"
      "\"serverInfo\":{\"name\":\"tally\",\"version\":");
  tl_json_string(&s->out, tally_version(), strlen(tally_version()));
  tl_json_puts(&s->out, "}}");
  end_message(s);
}

// Notifications that have to be understood, but change nothing.
static void ignore(server *s, tally_value message) {
  (void)s, (void)message;
}

// The client waits for this answer before it sends exit, and may ask for
// nothing in between.
static void shut_down(server *s, tally_value message) {
  s->was_shut = true;
  begin_result(s, message);
  tl_json_puts(&s->out, "null");
  end_message(s);
}

// The exit status is 0 only if shutdown came before (LSP, "Exit Notification");
// tl_run_lsp sees to that.
static void leave(server *s, tally_value message) {
  (void)message;
  s->is_over = true;
}

// Takes [text], which may be NULL. NULL, for want of memory or of the member,
// leaves the old text.
static void set_text(server *s, document *d, char *text, size_t nbytes) {
  if (text == NULL)
    return;
  free(d->text);
  d->text = text;
  d->nbytes = nbytes;
  d->seen = 0;
  d->line = d->unit = 0;
  import_modules(s, d);
  publish(s, d);
}

// A document that is open already gets the new text: the protocol forbids that,
// but it costs nothing.
static void did_open(server *s, tally_value message) {
  size_t nbytes;
  document *d = document_of(s, message);
  if (d == NULL && (d = calloc(1, sizeof *d)) != NULL) {
    d->uri = find_text(s, message, "params.textDocument.uri", &nbytes);
    if (d->uri == NULL) {
      free(d);
      return;
    }
    d->next = s->documents;
    s->documents = d;
  }
  if (d != NULL) {
    char *text = find_text(s, message, "params.textDocument.text", &nbytes);
    set_text(s, d, text, nbytes);
  }
}

// Changes are whole texts, since that is what textDocumentSync 1 asks for; the
// last one counts. Versions are not compared: messages come in order, over one
// pipe.
static void did_change(server *s, tally_value message) {
  tally_value changes, last;
  size_t nbytes;
  document *d = document_of(s, message);
  if (d == NULL || !find(s, message, "params.contentChanges", &changes))
    return;
  size_t count = tally_length(s->vm, changes);
  if (count > 0 && tally_item(s->vm, changes, count - 1, &last) == TALLY_OK) {
    char *text = find_text(s, last, "text", &nbytes);
    tally_release(s->vm, last);
    set_text(s, d, text, nbytes);
  }
  tally_release(s->vm, changes);
}

// From here on requests about the document are answered with null.
static void did_close(server *s, tally_value message) {
  document *d = document_of(s, message);
  if (d == NULL)
    return;
  // What was found in it is gone for the client, too.
  d->nbytes = 0;
  publish(s, d);
  close_document(s, d);
}

// The document and the byte that a request is about; false: it is answered with
// null. On true the caller answers.
static bool find_place(server *s, tally_value message, document **d,
                       size_t *at) {
  *d = document_of(s, message);
  if (*d == NULL) {
    begin_result(s, message);
    tl_json_puts(&s->out, "null");
    end_message(s);
    return false;
  }
  *at = byte_at(*d, find_int(s, message, "params.position.line"),
                find_int(s, message, "params.position.character"));
  return true;
}

// One item of a list of completions.
static void put_item(server *s, const char *name, size_t nbytes, int *count) {
  if ((*count)++ > 0)
    tl_json_puts(&s->out, ",");
  tl_json_puts(&s->out, "{\"label\":");
  tl_json_string(&s->out, name, nbytes);
  tl_json_puts(&s->out, "}");
}

// The document's names that go on from its bytes [begin, at), each once: those
// of which no other stands before. It compares each name with all before it:
// quadratic, but only for names that begin as the one being typed does.
static void put_own_names(server *s, const document *d, size_t begin, size_t at,
                          int *count) {
  size_t part = at - begin;
  for (size_t i = 0, n; i < d->nbytes; i += n + 1) {
    n = 0;
    while (i + n < d->nbytes && is_in_name(d->text[i + n])) n++;
    if (n <= part || i == begin || part == 0 ||
        memcmp(d->text + i, d->text + begin, part) != 0)
      continue;
    bool is_first = true;
    for (size_t k = 0, m; k < i && is_first; k += m + 1) {
      m = 0;
      while (k + m < i && is_in_name(d->text[k + m])) m++;
      is_first = m != n || memcmp(d->text + k, d->text + i, n) != 0;
    }
    if (is_first)
      put_item(s, d->text + i, n, count);
  }
}

// Names of the document come first, then what the prompt would offer for the
// line up to the cursor. Behind a point only the second: members are none of
// the document's names. The list is an array of items, which the client may
// filter further, as nothing says that it is incomplete.
static void complete(server *s, tally_value message) {
  document *d;
  size_t at, begin, end, nbytes;
  tally_value names, item;
  const char *name;
  int count = 0;
  if (!find_place(s, message, &d, &at))
    return;
  size_t line = at;
  while (line > 0 && d->text[line - 1] != '\n') line--;
  char *text = malloc(at - line + 1);
  begin_result(s, message);
  tl_json_puts(&s->out, "[");
  if (text != NULL) {
    memcpy(text, d->text + line, at - line);
    text[at - line] = 0;
    begin = end = at;
    while (begin > line && is_in_name(d->text[begin - 1])) begin--;
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
  end_message(s);
}

// Whether a paragraph of a description is a signature.
static bool is_signature(const char *text) {
  size_t n = 0;
  while (is_in_name(text[n])) n++;
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

// What the document's own function of that name says of itself, as
// tally_describe_source has it. To be freed; NULL: nothing.
static char *describe_own(server *s, const document *d, const char *name) {
  tally_value described;
  const char *text;
  char *found = NULL;
  size_t n = strlen(name), nbytes;
  if (tally_describe_source(s->vm, d->uri, d->text, d->nbytes, &described) !=
      TALLY_OK)
    return NULL;
  if (tally_to_string(s->vm, described, &text, &nbytes) == TALLY_OK) {
    const char *at = text;
    while (at != NULL && (strncmp(at, name, n) != 0 || at[n] != '(')) {
      at = strstr(at, "\n\n");
      at = at == NULL ? NULL : at + 2;
    }
    if (at != NULL) {
      size_t length = (size_t)(description_end(at) - at);
      found = malloc(length + 1);
      if (found != NULL)
        snprintf(found, length + 1, "%.*s", (int)length, at);
    }
  }
  tally_release(s->vm, described);
  return found;
}

// The name at a byte as text, without memory of its own; "" where there is
// none. A name that is longer than the room is no name, since half of one might
// be another's.
static void name_at(const document *d, size_t at, char *name, size_t size) {
  size_t begin, end;
  name_around(d, at, &begin, &end);
  snprintf(name, size, "%.*s", end - begin < size ? (int)(end - begin) : 0,
           d->text + begin);
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
static void hover(server *s, tally_value message) {
  document *d;
  size_t at;
  char name[128], head[512];
  if (!find_place(s, message, &d, &at))
    return;
  name_at(d, at, name, sizeof name);
  char *own = name[0] == 0 ? NULL : describe_own(s, d, name);
  const char *text = name[0] == 0 ? NULL : tally_documentation(s->vm, name);
  begin_result(s, message);
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
  end_message(s);
}

// Where the call begins whose arguments stand at a byte; false: there is none.
// Goes backwards over brackets that are closed; quotation marks and comments
// are not looked at, so a bracket in a string may hide the call. A list or
// record that begins in between says that the byte is in none of the call's
// arguments directly.
static bool find_call(const document *d, size_t at, size_t *paren) {
  int depth = 0;
  while (at-- > 0 && d->text[at] != ';') {
    if (strchr(")]}", d->text[at]) != NULL)
      depth++;
    else if (strchr("([{", d->text[at]) != NULL && depth-- == 0)
      return *paren = at, d->text[at] == '(';
  }
  return false;
}

// Which parameter is the active one is left to the client's default, the first.
static void signature_help(server *s, tally_value message) {
  document *d;
  size_t at, paren = 0;
  char name[128] = "", label[512] = "";
  if (!find_place(s, message, &d, &at))
    return;
  if (find_call(d, at, &paren) && paren > 0)
    name_at(d, paren - 1, name, sizeof name);
  const char *params = name[0] == 0 ? NULL : tally_signature(s->vm, name);
  char *own = name[0] == 0 ? NULL : describe_own(s, d, name);
  if (own != NULL)
    snprintf(
        label, sizeof label, "%.*s",
        whole_bytes(own, strcspn(own, "\n") < 500 ? strcspn(own, "\n") : 500),
        own);
  else if (params != NULL)
    snprintf(label, sizeof label, "%s(%.*s)", name, whole_bytes(params, 370),
             params);
  begin_result(s, message);
  if (label[0] != 0) {
    tl_json_puts(&s->out, "{\"signatures\":[{\"label\":");
    tl_json_string(&s->out, label, strlen(label));
    tl_json_puts(&s->out, "}]}");
  } else {
    tl_json_puts(&s->out, "null");
  }
  free(own);
  end_message(s);
}

// Where a name is defined: a function's `fn name(`, or else the first place
// that has the name. false: nowhere. A variable is defined where its name
// stands first, as there are no declarations. Names with points are those of
// modules, which have no place in the document: none of its names is equal to
// one.
static bool find_definition(const document *d, const char *name, size_t *at) {
  size_t n = strlen(name);
  bool found = false;
  for (size_t i = 0, m; n > 0 && i < d->nbytes; i += m + 1) {
    m = 0;
    while (i + m < d->nbytes && is_in_name(d->text[i + m])) m++;
    if (m != n || memcmp(d->text + i, name, n) != 0)
      continue;
    if (i >= 3 && memcmp(d->text + i - 3, "fn ", 3) == 0)
      return *at = i, true;
    if (!found)
      *at = i;
    found = true;
  }
  return found;
}

// The answer is one Location: the document's own URI and the range of the name.
static void define(server *s, tally_value message) {
  document *d;
  size_t at, begin;
  char name[128];
  if (!find_place(s, message, &d, &at))
    return;
  name_at(d, at, name, sizeof name);
  begin_result(s, message);
  if (find_definition(d, name, &begin)) {
    tl_json_puts(&s->out, "{\"uri\":");
    tl_json_string(&s->out, d->uri, strlen(d->uri));
    tl_json_puts(&s->out, ",");
    put_range(&s->out, d, begin, begin + strlen(name));
    tl_json_puts(&s->out, "}");
  } else {
    tl_json_puts(&s->out, "null");
  }
  end_message(s);
}

// The functions of a document, as symbols of kind 12. SymbolKind 12 is
// Function. `range` is what the editor folds or highlights, and has to contain
// `selectionRange`, where the cursor goes.
static void list_symbols(server *s, tally_value message) {
  document *d = document_of(s, message);
  bool any = false;
  begin_result(s, message);
  tl_json_puts(&s->out, "[");
  for (size_t i = 0; d != NULL && i + 3 < d->nbytes; i++) {
    bool is_begin = i == 0 || d->text[i - 1] == '\n' || d->text[i - 1] == ' ';
    if (!is_begin || memcmp(d->text + i, "fn ", 3) != 0)
      continue;
    size_t begin = i + 3, end = begin;
    while (end < d->nbytes && is_in_name(d->text[end])) end++;
    if (end == begin || end == d->nbytes || d->text[end] != '(')
      continue;
    tl_json_puts(&s->out, any ? ",{\"name\":" : "{\"name\":");
    tl_json_string(&s->out, d->text + begin, end - begin);
    tl_json_puts(&s->out, ",\"kind\":12,");
    put_range(&s->out, d, i, end);
    tl_json_puts(&s->out, ",\"selectionRange\":{\"start\":");
    put_place(&s->out, d, begin);
    tl_json_puts(&s->out, ",\"end\":");
    put_place(&s->out, d, end);
    tl_json_puts(&s->out, "}}");
    any = true;
  }
  tl_json_puts(&s->out, "]");
  end_message(s);
}

// One edit for the whole text; none where it does not parse. The client
// computes itself what the edit changes, and keeps the cursor where it is. The
// options of the request, as tabSize, are not heeded: there is one layout.
static void format(server *s, tally_value message) {
  document *d = document_of(s, message);
  tally_value laid;
  const char *text;
  size_t nbytes;
  begin_result(s, message);
  tl_json_puts(&s->out, "[");
  if (d != NULL && tally_format_source(s->vm, d->uri, d->text, d->nbytes,
                                       &laid) == TALLY_OK) {
    if (tally_to_string(s->vm, laid, &text, &nbytes) == TALLY_OK) {
      tl_json_puts(&s->out, "{");
      put_range(&s->out, d, 0, d->nbytes);
      tl_json_puts(&s->out, ",\"newText\":");
      tl_json_string(&s->out, text, nbytes);
      tl_json_puts(&s->out, "}");
    }
    tally_release(s->vm, laid);
  }
  tl_json_puts(&s->out, "]");
  end_message(s);
}

// --- The loop ---------------------------------------------------------------

// What initialize declares and what stands here have to be the same.
static const struct {
  const char *method;
  void (*run)(server *, tally_value message);
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
    {"textDocument/definition", define},
    {"textDocument/documentSymbol", list_symbols},
    {"textDocument/formatting", format},
};

// A request that is not known is answered with an error, a notification is not
// answered at all. A request has an id, a notification has none (JSON-RPC
// 2.0, "Notification").
static void run_method(server *s, tally_value message, const char *method) {
  tally_value id;
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    if (strcmp(methods[i].method, method) == 0) {
      methods[i].run(s, message);
      return;
    }
  }
  if (!find(s, message, "id", &id))
    return;
  tally_release(s->vm, id);
  send_error(s, &message, -32601, "tally lsp does not know this method");
}

// A body that is no JSON or no message is answered, and the server goes on:
// only a broken header ends it, since then nobody knows where the next message
// begins.
static void take_message(server *s, const tl_json *body) {
  tally_value text, message;
  size_t nbytes;
  if (tally_from_string(s->vm, body->text, body->nbytes, &text) != TALLY_OK) {
    send_error(s, NULL, -32700, "the message is not UTF-8 text");
    return;
  }
  tally_status status = tally_call(s->vm, "json.parse", 1, &text, &message);
  tally_release(s->vm, text);
  if (status != TALLY_OK) {
    send_error(s, NULL, -32700, tally_error(s->vm)->message);
    return;
  }
  char *method = find_text(s, message, "method", &nbytes);
  if (method != NULL)
    run_method(s, message, method);
  else
    send_error(s, &message, -32600, "the message has no method");
  free(method);
  tally_release(s->vm, message);
}

// Messages are answered one after the other in the order in which they come, so
// no request is ever pending, and $/cancelRequest, a notification, has nothing
// to cancel.
int tl_run_lsp(tl_session *session) {
  server s = {.vm = session->vm};
  tl_json body = {0};
  tl_message_status status = TL_MESSAGE_READ;
  while (!s.is_over &&
         (status = tl_message_read(stdin, &body)) == TL_MESSAGE_READ)
    take_message(&s, &body);
  if (status == TL_MESSAGE_BROKEN)
    fputs("tally lsp: the input is no message of the protocol\n", stderr);
  while (s.documents != NULL) close_document(&s, s.documents);
  free(body.text);
  free(s.out.text);
  return s.was_shut && status != TL_MESSAGE_BROKEN ? TL_DONE : TL_FAILED;
}
