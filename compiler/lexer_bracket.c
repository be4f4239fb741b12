// Which brackets belong together, and which ends of lines count (rule 1 of the
// grammar).
//
// Two passes: while the text is read, tl_lexer_open and tl_lexer_close match
// brackets on a stack; afterwards tl_lexer_lay_out walks all tokens and flags
// those that a counting newline precedes. It needs the pairs, so it cannot be
// done in the first pass:
//
//   f(a,        the newline is within ( ), so it does not count
//     b)
//   x = {       newlines within { } do

#include "compiler/lexer_internal.h"

tl_open *tl_lexer_innermost(tl_lexer *lexer) {
  return lexer->depth ? &lexer->open[lexer->depth - 1] : NULL;
}

// Pushes the bracket. At the greatest depth the lexer stops: what follows
// could not be matched.
void tl_lexer_open(tl_lexer *lexer, tl_token_kind kind, uint32_t begin) {
  if (lexer->depth == TL_TREE_HEIGHT_MAX) {
    tl_lexer_add_error(lexer, TL_LEX_DEPTH, begin, 0);
    lexer->is_done = true;
    return;
  }
  if (!tl_lexer_add(lexer, kind, begin))
    return;
  lexer->open[lexer->depth++] =
      (tl_open){.token = lexer->tokens->count - 1, .kind = (uint8_t)kind};
}

// Whether [closing] can end what is open: in the table of tokens each bracket
// stands before its end. The } of a hole ends its HEAD.
static bool fits(const tl_open *open, tl_token_kind closing) {
  return open->kind + 1 == (int)closing ||
         (closing == TL_TOKEN_BRACE_END && open->kind == TL_TOKEN_HEAD);
}

// The depth, counted from 1, of the bracket that [closing] ends; 0: none. A
// `)` or `]` does not reach past a brace or a hole: it is more likely one too
// many than that the brace, with all its lines, is not closed.
static uint32_t find_open(const tl_lexer *lexer, tl_token_kind closing) {
  for (uint32_t depth = lexer->depth; depth > 0; depth--) {
    const tl_open *open = &lexer->open[depth - 1];
    if (fits(open, closing))
      return depth;
    if (open->kind == TL_TOKEN_BRACE || open->kind == TL_TOKEN_HEAD)
      return 0;
  }
  return 0;
}

// Each of the two tokens has the index of the other.
static void join(tl_lexer *lexer, uint32_t opening, uint32_t closing) {
  lexer->tokens->items[opening].other = closing;
  lexer->tokens->items[closing].other = opening;
}

// Reports a closing bracket that fits nothing. One that stands where another
// is due is taken for that, so that only one error comes of it.
static void add_misfit(tl_lexer *lexer, uint32_t begin) {
  tl_open *open = tl_lexer_innermost(lexer);
  if (!open) {
    tl_lexer_add_error(lexer, TL_LEX_STRAY, begin, 0);
    return;
  }
  const tl_token *token = &lexer->tokens->items[open->token];
  uint32_t offset = open->kind == TL_TOKEN_HEAD ? token->end - 1 : token->begin;
  uint32_t opening = open->token;
  // A brace or a hole is not given up for it: more may follow in them.
  bool replaces =
      open->kind == TL_TOKEN_PAREN || open->kind == TL_TOKEN_BRACKET;
  if (replaces)
    lexer->depth--;
  tl_lexer_add_error(lexer, TL_LEX_MISMATCH, begin, offset);
  if (replaces)
    lexer->tokens->items[opening].other = lexer->tokens->count - 1;
}

// Closes the bracket that fits, and with it all that stand open within it:
// those have no partner and become errors in tl_lexer_lay_out.
bool tl_lexer_close(tl_lexer *lexer, tl_token_kind kind, uint32_t begin) {
  uint32_t depth = find_open(lexer, kind);
  if (!depth) {
    add_misfit(lexer, begin);
    return false;
  }
  tl_open open = lexer->open[depth - 1];
  if (open.kind == TL_TOKEN_HEAD) {
    lexer->depth = depth;
    return true;
  }
  // What stands open within has no partner: other stays 0.
  lexer->depth = depth - 1;
  if (tl_lexer_add(lexer, kind, begin))
    join(lexer, open.token, lexer->tokens->count - 1);
  return false;
}

// HEAD and MIDDLE open holes, in which newlines do not count.
static bool is_opening(const tl_token *token) {
  return token->kind == TL_TOKEN_PAREN || token->kind == TL_TOKEN_BRACKET ||
         token->kind == TL_TOKEN_BRACE || token->kind == TL_TOKEN_HEAD ||
         token->kind == TL_TOKEN_MIDDLE;
}

// Whether a statement cannot end with the token: behind an operator, a comma or
// an arrow the next line goes on.
bool tl_token_joins_next_line(const tl_token *token) {
  switch (token->kind) {
    case TL_TOKEN_ASSIGN:
    case TL_TOKEN_UPDATE:
    case TL_TOKEN_ARROW:
    case TL_TOKEN_PIPE:
    case TL_TOKEN_COMMA:
    case TL_TOKEN_DOT:
      return true;
    default:
      return tl_token_infos[token->kind].level != TL_LEVEL_NONE;
  }
}

// Whether a newline before the token is dropped: a line may begin with |>,
// else or catch and still continue the one above.
static bool joins_line_above(const tl_token *token) {
  return token->kind == TL_TOKEN_PIPE || token->kind == TL_TOKEN_ELSE ||
         token->kind == TL_TOKEN_CATCH;
}

// Turns a bracket without a partner into the error that it is.
static void mark_unclosed(tl_token *token) {
  bool is_hole = token->kind == TL_TOKEN_HEAD || token->kind == TL_TOKEN_MIDDLE;
  token->kind = TL_TOKEN_ERROR;
  token->code = is_hole ? TL_LEX_HOLE : TL_LEX_UNCLOSED;
  token->other = 0;
}

// A `;` within ( ), [ ] or a hole separates no statements, so it is an error.
static void mark_semicolon(tl_lexer *lexer, tl_token *token) {
  const tl_open *open = tl_lexer_innermost(lexer);
  if (!open || open->kind == TL_TOKEN_BRACE)
    return;
  token->kind = TL_TOKEN_ERROR;
  token->code = TL_LEX_SEMICOLON;
  token->other = lexer->tokens->items[open->token].begin;
}

// Follows the brackets a second time, when the pairs are known: a bracket
// without a partner must not swallow the ends of the lines below it.
static void follow(tl_lexer *lexer, uint32_t index, bool is_partial) {
  tl_token *token = &lexer->tokens->items[index];
  tl_open *open = tl_lexer_innermost(lexer);
  // At the partner of the innermost bracket.
  if (open && lexer->tokens->items[open->token].other == index)
    lexer->depth--;
  if (is_opening(token)) {
    if (!token->other && !is_partial) {
      mark_unclosed(token);
    } else {
      lexer->open[lexer->depth++] =
          (tl_open){.token = index, .kind = token->kind};
    }
  } else if (token->kind == TL_TOKEN_SEMICOLON) {
    mark_semicolon(lexer, token);
  }
}

// Whether the end of a line before the token ends a statement: it does at the
// top and in braces, unless an operator, a comma or the like joins the two
// lines.
static bool newline_counts(tl_lexer *lexer, uint32_t index) {
  const tl_token *token = &lexer->tokens->items[index];
  const tl_open *open = tl_lexer_innermost(lexer);
  // The first token of the text has no line above.
  return (token->flags & TL_TOKEN_IS_FIRST) && index > 0 &&
         (!open || open->kind == TL_TOKEN_BRACE) &&
         !tl_token_joins_next_line(token - 1) && !joins_line_above(token);
}

// A second pass over all tokens, because whether a newline counts depends on
// the token before and the bracket around, and a bracket without a partner is
// known to be one only at the end of the text.
void tl_lexer_lay_out(tl_lexer *lexer, bool is_partial) {
  // The prompt wants another line (parser.c).
  if (lexer->depth)
    lexer->tokens->is_open = true;
  lexer->depth = 0;
  for (uint32_t i = 0; i < lexer->tokens->count; i++) {
    if (newline_counts(lexer, i))
      lexer->tokens->items[i].flags |= TL_TOKEN_AFTER_NEWLINE;
    follow(lexer, i, is_partial);
  }
}
