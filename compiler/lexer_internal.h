// What the files of the lexer share: lexer.c, lexer_bracket.c, lexer_string.c
// and lexer_token.c.
//
// lexer.c reads the text and calls the others at a quote or a bracket; all of
// them add to the list through lexer_token.c.

#pragma once

#include "compiler/lexer.h"

// A bracket or a hole that waits for its end.
typedef struct tl_open {
  uint32_t token;
  uint8_t kind;           // PAREN, BRACKET, BRACE, or HEAD: a hole
  bool is_triple;         // a hole: in a """string
  bool is_format;         // a hole: in the format of a hole
  uint32_t string_begin;  // a hole: where its string begins
} tl_open;

// The state of one pass over a text. The open brackets stand on a stack of
// fixed size: deeper nesting could not be parsed either.
typedef struct tl_lexer {
  const char *text;
  uint32_t at, nbytes;
  tl_arena *arena;
  tl_tokens *tokens;
  bool is_first;       // the next token is the first on its line
  bool is_done;        // nothing more is to be read
  uint32_t doc_begin;  // the ## lines just above
  bool has_doc;
  // For each byte, a sign or keyword that begins with it, and for each of these
  // the next one; 0: none.
  uint8_t first[UINT8_MAX + 1], next[TL_TOKEN_KIND_COUNT];
  uint32_t depth;
  tl_open open[TL_TREE_HEIGHT_MAX];
} tl_lexer;

// Adds a token from [begin] to lexer->at; NULL when memory fails.
tl_token *tl_lexer_add(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
// Adds an ERROR with its code and what else its message needs (see
// tl_lex_error).
void tl_lexer_add_error(tl_lexer *lexer, tl_lex_error error, uint32_t begin,
                        uint32_t other);

// An opening bracket was read: [begin] is its offset, lexer->at behind it.
// Adds its token and puts it on the stack.
void tl_lexer_open(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
// The same for a closing bracket, whose partner is found and noted in both
// tokens. True: it is the } of a hole, so its string goes on.
bool tl_lexer_close(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
// The innermost open bracket or hole; NULL: none.
tl_open *tl_lexer_innermost(tl_lexer *lexer);
// When all is read: flags the tokens that a counting newline precedes
// (AFTER_NEWLINE), and makes errors of brackets that were never closed unless
// [is_partial].
void tl_lexer_lay_out(tl_lexer *lexer, bool is_partial);

// At a quote: adds the string, or its part up to the first hole.
void tl_lexer_string(tl_lexer *lexer);
// At r": adds the string, which has no holes.
void tl_lexer_raw_string(tl_lexer *lexer);
// Behind the } of a hole, which stands at [begin]: adds the part of the string
// up to the next hole or the end.
void tl_lexer_string_rest(tl_lexer *lexer, uint32_t begin);
// At the : of a hole: adds its format.
void tl_lexer_format(tl_lexer *lexer);
// At a `: adds the type.
void tl_lexer_type(tl_lexer *lexer);
