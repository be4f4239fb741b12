// What the two files of the lexer share.

#ifndef TALLY_COMPILER_LEXER_INTERNAL_H
#define TALLY_COMPILER_LEXER_INTERNAL_H

#include "compiler/lexer.h"

// A bracket or a hole that waits for its end.
typedef struct tl_open {
  uint32_t token;
  uint8_t kind;           // PAREN, BRACKET, BRACE, or HEAD: a hole
  bool is_triple;         // a hole: in a """string
  uint32_t string_begin;  // a hole: where its string begins
} tl_open;

typedef struct tl_lexer {
  const tl_source *source;
  const char *text;
  uint32_t at, nbytes;
  tl_arena *arena;
  tl_tokens *tokens;
  bool is_first;       // on its line: the token to come
  bool is_done;        // nothing more is to be read
  uint32_t doc_begin;  // the ## lines just above
  bool has_doc;
  uint32_t depth;
  tl_open open[TL_TREE_HEIGHT_MAX];
} tl_lexer;

// Adds a token from [begin] to lexer->at; NULL when memory fails.
tl_token *tl_lexer_add(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
void tl_lexer_add_error(tl_lexer *lexer, tl_lex_error error, uint32_t begin,
                        uint32_t other);

// lexer_bracket.c: [begin] is the bracket's offset, lexer->at behind it.
void tl_lexer_open(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
void tl_lexer_close(tl_lexer *lexer, tl_token_kind kind, uint32_t begin);
// The innermost open bracket; NULL: none.
tl_open *tl_lexer_innermost(tl_lexer *lexer);
// Ends the lines: sets AFTER_NEWLINE, and turns what was never closed into
// errors unless [is_partial].
void tl_lexer_lay_out(tl_lexer *lexer, bool is_partial);

// lexer_string.c: at a quote, r", or the } of a hole.
void tl_lexer_string(tl_lexer *lexer);
void tl_lexer_raw_string(tl_lexer *lexer);
void tl_lexer_string_rest(tl_lexer *lexer, uint32_t begin);
void tl_lexer_format(tl_lexer *lexer);
void tl_lexer_type(tl_lexer *lexer);

#endif
