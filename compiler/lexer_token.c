// The table of tokens, and the list that all parts of the lexer add to.

#include "compiler/lexer_internal.h"
#include "tally.h"

#define OPERATOR(kind, string, in_level, operator, word, as) \
  [TL_TOKEN_##kind] = {.text = string,                       \
                       .level = TL_LEVEL_##in_level,         \
                       .op = TL_OPERATOR_##operator,         \
                       .is_word = word,                      \
                       .shown = TALLY_TOKEN_##as},

// Made from the four tables of lexer.h, so that a new token is one line there.
const tl_token_info tl_token_infos[TL_TOKEN_KIND_COUNT] = {
#define X(kind, string, in, as) \
  [TL_TOKEN_##kind] = {         \
      .text = string, .place = TL_OPERAND_##in, .shown = TALLY_TOKEN_##as},
    TL_TOKEN_MARKS(X)
#undef X
#define X(kind, string, level, op) \
  OPERATOR(kind, string, level, op, false, OPERATOR)
        TL_TOKEN_OPERATORS(X)
#undef X
#define X(kind, string, level, op) \
  OPERATOR(kind, string, level, op, true, KEYWORD)
            TL_TOKEN_WORD_OPERATORS(X)
#undef X
#define X(kind, string, in)                      \
  [TL_TOKEN_##kind] = {.text = string,           \
                       .place = TL_OPERAND_##in, \
                       .is_word = true,          \
                       .shown = TALLY_TOKEN_KEYWORD},
                TL_TOKEN_KEYWORDS(X)
#undef X
};

// The first token on a line is flagged, and one that ## lines can document
// gets their offset.
tl_token *tl_lexer_add(tl_lexer *lexer, tl_token_kind kind, uint32_t begin) {
  tl_tokens *tokens = lexer->tokens;
  // Outside of the arena, since tokens are freed as soon as the tree is built.
  size_t nbytes = (tokens->count + 1) * sizeof *tokens->items;
  if (nbytes > tokens->nbytes && !tl_arena_outside(lexer->arena, &tokens->items,
                                                   &tokens->nbytes, nbytes)) {
    // Without memory there is nothing more to read.
    lexer->is_done = true;
    return NULL;
  }
  tl_token *token = &tokens->items[tokens->count++];
  *token = (tl_token){.kind = (uint8_t)kind, .begin = begin, .end = lexer->at};
  if (lexer->is_first)
    token->flags = TL_TOKEN_IS_FIRST;
  // A definition, an assignment to a name, or the end: there the prompt waits
  // for what the lines document.
  if (lexer->has_doc &&
      (kind == TL_TOKEN_FN || kind == TL_TOKEN_NAME || kind == TL_TOKEN_END)) {
    token->flags |= TL_TOKEN_HAS_DOC;
    token->other = lexer->doc_begin;
  }
  // Lines above belong to this token or to none.
  lexer->is_first = lexer->has_doc = false;
  return token;
}

// An ERROR is never documented, so `other` is free for what the message needs.
void tl_lexer_add_error(tl_lexer *lexer, tl_lex_error error, uint32_t begin,
                        uint32_t other) {
  tl_token *token = tl_lexer_add(lexer, TL_TOKEN_ERROR, begin);
  if (!token)
    return;
  token->code = (uint16_t)error;
  token->other = other;
}

// From the table in operator.h.
const char *tl_operator_text(tl_operator op) {
#define X(name, text, ...) text,
  static const char *const texts[] = {TL_OPERATORS(X)};
#undef X
  return texts[op];
}
