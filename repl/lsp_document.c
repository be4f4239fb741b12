// Documents as their text, the places in them, and the names around a place.

#include "repl/lsp_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The byte at a line and a UTF-16 unit of it; the end of what is shorter. That
// is the encoding that clients have to know (LSP 3.17, "Position"): a character
// above U+FFFF, 4 bytes of UTF-8, is a surrogate pair, 2 units. A place in the
// middle of a pair is the one behind it.
size_t tl_lsp_byte_at(const tl_document *d, long long line, long long unit) {
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
void tl_lsp_put_place(tl_json *to, tl_document *d, size_t byte) {
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
void tl_lsp_put_range(tl_json *to, tl_document *d, size_t begin, size_t end) {
  tl_json_puts(to, "\"range\":{\"start\":");
  tl_lsp_put_place(to, d, begin);
  tl_json_puts(to, ",\"end\":");
  tl_lsp_put_place(to, d, end);
  tl_json_puts(to, "}");
}

// All bytes above ASCII count, so that a name in any script is one.
bool tl_lsp_is_in_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}

// The name around a byte, with the names and points before it: linalg.norm. The
// range is empty where no name is. Digits alone are a name here: nothing is
// found for them.
static void name_around(const tl_document *d, size_t at, size_t *begin,
                        size_t *end) {
  *begin = *end = at;
  while (*end < d->nbytes && tl_lsp_is_in_name(d->text[*end])) ++*end;
  while (*begin > 0 && (tl_lsp_is_in_name(d->text[*begin - 1]) ||
                        (d->text[*begin - 1] == '.' && *begin < *end)))
    --*begin;
}

// The name at a byte as text, without memory of its own; "" where there is
// none. A name that is longer than the room is no name, since half of one might
// be another's.
void tl_lsp_name_at(const tl_document *d, size_t at, char *name, size_t size) {
  size_t begin, end;
  name_around(d, at, &begin, &end);
  snprintf(name, size, "%.*s", end - begin < size ? (int)(end - begin) : 0,
           d->text + begin);
}

// URIs are compared as they come, not decoded: a client names a document always
// alike. NULL: it is not open.
tl_document *tl_lsp_document_named(const tl_server *s, const char *uri) {
  tl_document *d = uri == NULL ? NULL : s->documents;
  while (d != NULL && strcmp(d->uri, uri) != 0) d = d->next;
  return d;
}

// The document that a message is about; NULL: it is not open.
tl_document *tl_lsp_document_of(const tl_server *s, tally_value message) {
  size_t nbytes;
  char *uri = tl_lsp_text(s, message, "params.textDocument.uri", &nbytes);
  tl_document *d = tl_lsp_document_named(s, uri);
  free(uri);
  return d;
}

// Takes the document, if it is open.
void tl_lsp_close(tl_server *s, tl_document *closed) {
  tl_document **at = &s->documents;
  while (*at != NULL && *at != closed) at = &(*at)->next;
  if (*at == NULL)
    return;
  *at = closed->next;
  free(closed->uri);
  free(closed->text);
  free(closed->described);
  free(closed);
}

// Whether the library has documented members of a module of that name.
static bool is_library_module(const tl_server *s, const char *name) {
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
  while (n < most && tl_lsp_is_in_name(text[n])) n++;
  return n;
}

// Modules of the library that a document imports are imported here, so that
// their names are known; nothing of the document itself runs. Only lines that
// begin with the word and name a documented module of the library are
// evaluated, each as it stands up to 99 bytes; their errors are nobody's, since
// the check reports them by itself. A module that was imported once stays, for
// all documents.
void tl_lsp_import_modules(tl_server *s, const tl_document *d) {
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

size_t tl_lsp_place_of(const tl_server *s, tally_value message,
                       const tl_document *d) {
  return tl_lsp_byte_at(d, tl_lsp_int(s, message, "params.position.line"),
                        tl_lsp_int(s, message, "params.position.character"));
}
