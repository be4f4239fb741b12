// Blocks, if, while, for and try. All of them are expressions, so
// tl_parse_primary calls these; a statement is an expression that stands
// alone.

#include "compiler/parser_internal.h"

// --- Blocks ---

// Whether `{` and a key stand here, as in {x: 1} or {"a": 1}: a record of
// other languages, and none of Tally's forms.
bool tl_parser_at_braced_record(const tl_parser *parser) {
  tl_token_kind first = tl_parser_peek(parser, 1);
  // The key may be on the next line; then a newline comes before it.
  if (first == TL_TOKEN_NEWLINE) {
    const tl_token *token = tl_parser_token(parser) + 1;
    first = (tl_token_kind)token->kind;
  }
  if (first != TL_TOKEN_NAME && first != TL_TOKEN_STRING)
    return false;
  return tl_parser_peek(parser, 2) == TL_TOKEN_COLON;
}

// Reports the record and passes over it, so that its inside is not parsed as
// statements.
static tl_ast *report_braced_record(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  const tl_token *key = token + 1;
  const char *name = tl_parser_quote(parser, key->begin, key->end, "x");
  tl_parser_fail(parser, tl_token_span(token),
                 "a record stands in parentheses: write (%s: …); braces hold "
                 "statements",
                 name);
  // The inside is not parsed as a block as well: its errors would follow from
  // this one.
  if (token->other > parser->pos) {
    parser->pos = token->other;
    parser->kind = TL_TOKEN_BRACE_END;
  }
  tl_parser_advance(parser);
  return NULL;
}

// Whether a slice stands where a range was meant: for i in 0:n.
static bool is_slice(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  return parser->kind == TL_TOKEN_COLON && parser->pos > 0 &&
         (token[-1].kind == TL_TOKEN_NUMBER ||
          token[1].kind == TL_TOKEN_NUMBER);
}

// Reports that a block must begin here, for `:`, `then` and `do` with the form
// that is right.
static tl_ast *report_no_block(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (is_slice(parser)) {
    return tl_parser_fail(parser, tl_token_span(token),
                          "a range is a..b, and a block stands in braces: "
                          "{ … }");
  }
  if (parser->kind == TL_TOKEN_COLON || tl_token_is(parser, token, "then") ||
      tl_token_is(parser, token, "do")) {
    return tl_parser_fail(parser, tl_token_span(token),
                          "a block stands in braces: { … }");
  }
  return tl_parser_unexpected(parser, "a block `{ … }`");
}

// { statements }.
tl_ast *tl_parse_block(tl_parser *parser) {
  uint32_t opening = parser->pos, begin = tl_parser_token(parser)->begin;
  if (parser->kind != TL_TOKEN_BRACE)
    return report_no_block(parser);
  if (tl_parser_at_braced_record(parser))
    return report_braced_record(parser);
  if (!tl_parser_enter(parser))
    return NULL;
  tl_parser_advance(parser);
  tl_ast *block = tl_parse_program(parser, TL_TOKEN_BRACE_END, begin);
  parser->depth--;
  if (!block || !tl_parser_close(parser, TL_TOKEN_BRACE_END, opening)) {
    return NULL;
  }
  // The block ends behind its brace.
  block->span.end = tl_parser_last(parser)->end;
  return block;
}

// --- Headers ---

// An expression that must be followed by a block.
static tl_ast *parse_header(tl_parser *parser) {
  tl_ast *value = tl_parse_expr(parser);
  if (!value)
    return NULL;
  if (parser->kind == TL_TOKEN_BRACE)
    return value;
  return report_no_block(parser);
}

// At an `if`: its condition and block.
static bool parse_arm(tl_parser *parser, tl_arm *arm) {
  tl_parser_advance(parser);
  arm->test = parse_header(parser);
  if (!arm->test)
    return false;
  arm->body = tl_parse_block(parser);
  return arm->body != NULL;
}

// All arms of an if … else if … else, and the last block.
static bool parse_arms(tl_parser *parser, tl_ast_if *out) {
  // How many arms there are is seen at the end.
  size_t mark = parser->scratch_used;
  do {
    tl_arm arm;
    if (!parse_arm(parser, &arm) || !tl_parser_push(parser, &arm, sizeof arm)) {
      return false;
    }
    if (!tl_parser_accept(parser, TL_TOKEN_ELSE))
      break;
    // `else` without `if` is the last.
    if (parser->kind != TL_TOKEN_IF) {
      out->otherwise = tl_parse_block(parser);
      if (!out->otherwise)
        return false;
      break;
    }
  } while (parser->kind == TL_TOKEN_IF);
  return tl_parser_take(parser, mark, sizeof(tl_arm), &out->arms, &out->count);
}

// Without `else` its value is none.
tl_ast *tl_parse_if(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_ast_if out = {.count = 0};
  if (!parse_arms(parser, &out))
    return NULL;
  tl_ast *node = tl_parser_node(parser, TL_AST_IF, begin, begin);
  if (!tl_parser_adopt(parser, node, out.otherwise))
    return NULL;
  node->condition = out;
  for (uint32_t i = 0; i < out.count; i++) {
    if (!tl_parser_adopt(parser, node, out.arms[i].test) ||
        !tl_parser_adopt(parser, node, out.arms[i].body)) {
      return NULL;
    }
  }
  return node;
}

tl_ast *tl_parse_while(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_parser_advance(parser);
  tl_ast *test = parse_header(parser);
  if (!test)
    return NULL;
  tl_ast *body = tl_parse_block(parser);
  if (!body)
    return NULL;
  tl_ast *node = tl_parser_node(parser, TL_AST_WHILE, begin, begin);
  if (!tl_parser_adopt(parser, node, test) ||
      !tl_parser_adopt(parser, node, body)) {
    return NULL;
  }
  node->while_loop = (tl_ast_while){.test = test, .body = body};
  return node;
}

// NAME (',' NAME)* 'in', where parentheses and `=` are reported with the form
// that is right.
bool tl_parse_loop_names(tl_parser *parser, tl_ident **names, uint32_t *count) {
  size_t mark = parser->scratch_used;
  // for (x in xs) of other languages.
  if (parser->kind == TL_TOKEN_PAREN) {
    tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                   "`for` takes no parentheses: for x in xs { … }, or with "
                   "two names for k, v in r { … }");
    return false;
  }
  do {
    tl_ident ident;
    if (parser->kind == TL_TOKEN_PAREN) {
      tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                     "`for` takes names alone: for i, p in … { a, b = p; … }");
      return false;
    }
    if (!tl_parse_ident(parser, &ident, "a name after `for`") ||
        !tl_parser_push(parser, &ident, sizeof ident)) {
      return false;
    }
  } while (tl_parser_accept(parser, TL_TOKEN_COMMA));
  // for i = 1 … of other languages.
  if (parser->kind == TL_TOKEN_ASSIGN) {
    tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                   "a loop over numbers is for i in 0..n { … }");
    return false;
  }
  return tl_parser_take(parser, mark, sizeof(tl_ident), names, count) &&
         tl_parser_expect(parser, TL_TOKEN_IN, "`in`");
}

tl_ast *tl_parse_for(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_ast_for loop = {.name_count = 0};
  tl_parser_advance(parser);
  if (!tl_parse_loop_names(parser, &loop.names, &loop.name_count))
    return NULL;
  loop.value = parse_header(parser);
  if (!loop.value)
    return NULL;
  loop.body = tl_parse_block(parser);
  if (!loop.body)
    return NULL;
  tl_ast *node = tl_parser_node(parser, TL_AST_FOR, begin, begin);
  if (!tl_parser_adopt(parser, node, loop.value) ||
      !tl_parser_adopt(parser, node, loop.body)) {
    return NULL;
  }
  node->for_loop = loop;
  return node;
}

// try { … } catch [name] { … }.
tl_ast *tl_parse_try(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_ast_try attempt = {.body = NULL};
  tl_parser_advance(parser);
  attempt.body = tl_parse_block(parser);
  if (!attempt.body ||
      !tl_parser_expect(parser, TL_TOKEN_CATCH, "`catch` after `try { … }`")) {
    return NULL;
  }
  if (parser->kind == TL_TOKEN_NAME &&
      !tl_parse_ident(parser, &attempt.error, "a name")) {
    return NULL;
  }
  attempt.handler = tl_parse_block(parser);
  if (!attempt.handler)
    return NULL;
  tl_ast *node = tl_parser_node(parser, TL_AST_TRY, begin, begin);
  if (!tl_parser_adopt(parser, node, attempt.body) ||
      !tl_parser_adopt(parser, node, attempt.handler)) {
    return NULL;
  }
  node->attempt = attempt;
  return node;
}
