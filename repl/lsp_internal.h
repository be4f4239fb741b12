// What the files of the language server share: its documents, and requests
// taken apart.
#ifndef TALLY_REPL_LSP_INTERNAL_H
#define TALLY_REPL_LSP_INTERNAL_H

#include "repl/lsp_message.h"
#include "tally.h"

// A document is open from didOpen to didClose. In between its text is what the
// client sent last, and the file is not read: the editor's text may not be
// saved.
typedef struct tl_document {
  struct tl_document *next;
  char *uri, *text;
  size_t nbytes;
  char *described;  // what tally_describe_source said last, or NULL
  // The place that was asked for last: others follow it, mostly. [line] and
  // [unit] are the place of byte [seen]; a new text begins at 0 again.
  //
  //     a = "é"\nb = 1      é is bytes 5 and 6, but one unit
  //                         byte 9 is line 1, unit 0
  size_t seen;
  long long line, unit;
} tl_document;

// [was_shut]: shutdown was answered, so that exit is no failure. [is_over]:
// exit has come, and nothing is read any more.
typedef struct tl_server {
  tally_vm *vm;
  tl_document *documents;
  tl_json out;  // the message being written
  bool was_shut, is_over;
} tl_server;

// --- Messages (lsp_protocol.c) ----------------------------------------------

// The value at a path such as "params.position.line"; false: there is none. On
// true *out is returned owned.
bool tl_lsp_find(const tl_server *s, tally_value message, const char *path,
                 tally_value *out);
// The number at a path; 0: there is none.
long long tl_lsp_int(const tl_server *s, tally_value message, const char *path);
// Whether true stands there.
bool tl_lsp_is_true(const tl_server *s, tally_value message, const char *path);
// A copy of the string at a path, to be freed, with a zero byte behind it;
// NULL: there is none. *nbytes is set where there is a copy.
char *tl_lsp_text(const tl_server *s, tally_value message, const char *path,
                  size_t *nbytes);
// Between the two the members of a message follow, from "id" or "method" on.
void tl_lsp_begin(tl_server *s);
void tl_lsp_end(tl_server *s);
// Begins the answer to a request; its result follows, and tl_lsp_end.
void tl_lsp_begin_result(tl_server *s, tally_value message);
// The whole answer that says why there is no result. [message] is the request,
// or NULL where it was not understood.
void tl_lsp_error(tl_server *s, const tally_value *message, int code,
                  const char *text);

// --- Documents (lsp_document.c) ---------------------------------------------

// The byte at a line and a UTF-16 unit of it; the end of what is shorter.
size_t tl_lsp_byte_at(const tl_document *d, long long line, long long unit);
// Appends {"line": …, "character": …} of a byte.
void tl_lsp_put_place(tl_json *to, tl_document *d, size_t byte);
// Appends the member "range" with the bytes [begin, end).
void tl_lsp_put_range(tl_json *to, tl_document *d, size_t begin, size_t end);
// Whether a byte can belong to a name.
bool tl_lsp_is_in_name(char c);
// The name at a byte, with the names and points before it; "" where there is
// none, or it is longer than the room.
void tl_lsp_name_at(const tl_document *d, size_t at, char *name, size_t size);
// The open document of a URI, or that a message is about; NULL: it is not open.
tl_document *tl_lsp_document_named(const tl_server *s, const char *uri);
tl_document *tl_lsp_document_of(const tl_server *s, tally_value message);
// Takes the document, if it is open.
void tl_lsp_close(tl_server *s, tl_document *closed);
// Imports the modules of the library that a document imports.
void tl_lsp_import_modules(tl_server *s, const tl_document *d);
// The byte of its document that a request is about.
size_t tl_lsp_place_of(const tl_server *s, tally_value message,
                       const tl_document *d);

// Appends the result of a request about a byte of a document; false: nothing is
// appended, and the result is null.
typedef bool tl_lsp_answer(tl_server *s, tally_value message, tl_document *d,
                           size_t at);

// --- Requests about words (lsp_words.c) -------------------------------------

// tl_lsp_complete: names that the word before the place may go on as.
// tl_lsp_hover: the documentation of the name there.
// tl_lsp_signature: the parameters of the call around, and the active one.
tl_lsp_answer tl_lsp_complete, tl_lsp_hover, tl_lsp_signature;

// --- Requests about names (lsp_names.c) -------------------------------------

// [message] is borrowed. The documents are not changed, but for the place that
// they remember.
//
//   tl_lsp_define           the Location where a variable stands first
//   tl_lsp_references       all its Locations, in all open documents
//   tl_lsp_highlight        its ranges in this document, read or written
//   tl_lsp_prepare_rename   the range of the name that would be changed
//   tl_lsp_rename           a WorkspaceEdit for the open documents, or an error
//                           where any name would mean something else after it
//   tl_lsp_symbols          the functions of a document
tl_lsp_answer tl_lsp_define, tl_lsp_references, tl_lsp_highlight,
    tl_lsp_prepare_rename;
// These answer by themselves.
void tl_lsp_rename(tl_server *s, tally_value message);
void tl_lsp_symbols(tl_server *s, tally_value message);

#endif
