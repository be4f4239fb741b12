// if, while, for and try. All of them are expressions, so tl_parse_primary
// calls these; a statement is an expression that stands alone.

#include "compiler/parser_internal.h"

// --- Headers ---

// An expression that must be followed by a block.
static tl_ast *parse_header(tl_parser *parser) {
  tl_ast *value = tl_parse_expr(parser);
  return !value || parser->kind == TL_TOKEN_BRACE
             ? value
             : tl_parser_report_no_block(parser);
}

// At an `if`: its condition and block.
static bool parse_arm(tl_parser *parser, tl_arm *arm) {
  tl_parser_advance(parser);
  arm->test = parse_header(parser);
  arm->body = arm->test ? tl_parse_block(parser) : NULL;
  return arm->body != NULL;
}

// All arms of an if … else if … else, and the last block.
static bool parse_arms(tl_parser *parser, tl_ast_if *out) {
  // How many arms there are is seen at the end.
  size_t mark = parser->scratch_used;
  do {
    tl_arm arm;
    if (!parse_arm(parser, &arm) || !tl_parser_push(parser, &arm, sizeof arm))
      return false;
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
  tl_ast node = {.kind = TL_AST_IF};
  if (!parse_arms(parser, &node.condition))
    return NULL;
  return tl_parser_node(parser, &node, begin, begin);
}

// while test { … }.
tl_ast *tl_parse_while(tl_parser *parser) {
  uint32_t begin = tl_parser_advance(parser);
  tl_ast *test = parse_header(parser);
  tl_ast *body = test ? tl_parse_block(parser) : NULL;
  tl_ast node = {.kind = TL_AST_WHILE, .while_loop = {test, body}};
  return body ? tl_parser_node(parser, &node, begin, begin) : NULL;
}

// One of the names, which are no targets as those of an assignment.
static bool parse_loop_name(tl_parser *parser, tl_ident *out) {
  return !tl_parser_rejects(
             parser, TL_TOKEN_PAREN,
             "`for` takes names alone: for i, p in … { a, b = p; … }") &&
         tl_parse_ident(parser, out, "a name after `for`");
}

// NAME (',' NAME)* 'in', where parentheses and `=` are reported with the form
// that is right.
bool tl_parse_loop_names(tl_parser *parser, tl_ident **names, uint32_t *count) {
  // for (x in xs) of other languages.
  if (tl_parser_rejects(
          parser, TL_TOKEN_PAREN,
          "`for` takes no parentheses: for x in xs { … }, or with "
          "two names for k, v in r { … }"))
    return false;
  // for i = 1 … of other languages.
  return tl_parse_names(parser, parse_loop_name, TL_TOKEN_KIND_COUNT, names,
                        count) &&
         !tl_parser_rejects(parser, TL_TOKEN_ASSIGN,
                            "a loop over numbers is for i in 0..n { … }") &&
         tl_parser_expect(parser, TL_TOKEN_IN, "`in`");
}

// for NAME, NAME … in value { … }.
tl_ast *tl_parse_for(tl_parser *parser) {
  tl_ast node = {.kind = TL_AST_FOR};
  tl_ast_for *loop = &node.for_loop;
  uint32_t begin = tl_parser_advance(parser);
  if (!tl_parse_loop_names(parser, &loop->names, &loop->name_count))
    return NULL;
  loop->value = parse_header(parser);
  loop->body = loop->value ? tl_parse_block(parser) : NULL;
  return loop->body ? tl_parser_node(parser, &node, begin, begin) : NULL;
}

// try { … } catch [name] { … }.
tl_ast *tl_parse_try(tl_parser *parser) {
  tl_ast node = {.kind = TL_AST_TRY};
  tl_ast_try *attempt = &node.attempt;
  uint32_t begin = tl_parser_advance(parser);
  attempt->body = tl_parse_block(parser);
  if (!attempt->body ||
      !tl_parser_expect(parser, TL_TOKEN_CATCH, "`catch` after `try { … }`"))
    return NULL;
  if (parser->kind == TL_TOKEN_NAME &&
      !tl_parse_ident(parser, &attempt->error, "a name"))
    return NULL;
  attempt->handler = tl_parse_block(parser);
  return attempt->handler ? tl_parser_node(parser, &node, begin, begin) : NULL;
}
