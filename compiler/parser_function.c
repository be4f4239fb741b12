// Functions: parameters and bodies.
//
//   fn(x, y = 1, ...rest, named: 2) = e     fn(x) { … }
//   x => e                                  (x, y) => e
//
// A definition `fn name(…)` is a statement (parser_statement.c), which calls
// tl_parse_function for the rest.

#include "compiler/parser_internal.h"

// A frame has few slots, and names are compared pairwise.
#define PARAMS_MAX 255

// `::` and a type, at the first colon.
static bool parse_pattern(tl_parser *parser, tl_ast_param *param) {
  tl_parser_advance(parser);
  tl_parser_advance(parser);
  if (parser->kind != TL_TOKEN_TYPE)
    return tl_parser_unexpected(parser,
                                "a type such as `N * float64` after `::`");
  param->pattern = tl_parse_type(parser);
  return param->pattern != NULL;
}

// The value behind `=` or `:`, which makes the parameter optional.
static bool parse_default(tl_parser *parser, tl_ast_param *param,
                          tl_ast_param_kind kind) {
  param->kind = kind;
  tl_parser_advance(parser);
  param->value = tl_parse_expr(parser);
  return param->value != NULL;
}

// One parameter: name, ...name, name = value, name: value, name :: type.
static bool parse_param(tl_parser *parser, tl_ast_param *param) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_ident ident;
  *param = (tl_ast_param){.kind = TL_AST_PARAM_REQUIRED};
  if (tl_parser_accept(parser, TL_TOKEN_ELLIPSIS)) {
    param->kind = TL_AST_PARAM_REST;
  } else if (parser->kind == TL_TOKEN_STAR) {
    // *args of other languages.
    return tl_parser_fail_here(
        parser, "a parameter takes the rest of the arguments as ...name");
  }
  if (!tl_parse_ident(parser, &ident, "the name of a parameter"))
    return false;
  param->name = ident.name;
  param->name_span = ident.span;
  // ...rest has neither type nor default.
  bool may_have_value = param->kind == TL_AST_PARAM_REQUIRED;
  if (may_have_value && parser->kind == TL_TOKEN_COLON) {
    // `x :: T` has a type, `x: 1` is given by name.
    if (tl_parser_peek(parser, 1) == TL_TOKEN_COLON) {
      if (!parse_pattern(parser, param))
        return false;
    } else if (!parse_default(parser, param, TL_AST_PARAM_NAMED)) {
      return false;
    }
  }
  // A type and a default may stand together: x :: T = 1.
  if (param->kind == TL_AST_PARAM_REQUIRED && parser->kind == TL_TOKEN_ASSIGN &&
      !parse_default(parser, param, TL_AST_PARAM_DEFAULT))
    return false;
  param->span = tl_parser_span(parser, begin, ident.span.begin);
  return true;
}

// Whether a parameter is `_`: it takes its argument, and nobody reads it.
static bool is_anonymous(const tl_name *name) {
  return name->nbytes == 1 && name->text[0] == '_';
}

// No two parameters have one name, except `_`. False after a report.
static bool check_names(tl_parser *parser, const tl_ast_function *function) {
  for (uint32_t i = 0; i < function->count; i++) {
    const tl_ast_param *param = &function->params[i];
    for (uint32_t j = 0; j < i; j++)
      if (function->params[j].name == param->name && !is_anonymous(param->name))
        return tl_parser_fail(parser, param->span,
                              "two parameters are called `%s`",
                              param->name->text);
  }
  return true;
}

// Parameters come in order of kind, with one ...rest: binding by position
// relies on it. False after a report.
static bool check_order(tl_parser *parser, const tl_ast_function *function) {
  for (uint32_t i = 1; i < function->count; i++) {
    const tl_ast_param *before = &function->params[i - 1];
    const tl_ast_param *param = &function->params[i];
    // Kinds are in the order of the enumeration, but of REST there is one.
    bool is_second_rest =
        param->kind == TL_AST_PARAM_REST && before->kind == TL_AST_PARAM_REST;
    if (param->kind < before->kind || is_second_rest)
      return tl_parser_fail(parser, param->span,
                            "parameters come in this order: required, with a "
                            "default (x = 1), one ...rest, named (x: 1)");
  }
  return true;
}

// What is wrong with the parameters as a whole; false after a report.
static bool check_params(tl_parser *parser, const tl_ast_function *function) {
  if (function->count > PARAMS_MAX)
    return tl_parser_fail(parser, function->params[PARAMS_MAX].span,
                          "a function has at most %d parameters", PARAMS_MAX);
  return check_order(parser, function) && check_names(parser, function);
}

// The parameters in ( ), checked. False after a report.
static bool parse_params(tl_parser *parser, tl_ast_function *function) {
  uint32_t opening = parser->pos;
  size_t mark = parser->scratch_used;
  if (!tl_parser_expect(parser, TL_TOKEN_PAREN, "parameters in `( )`"))
    return false;
  while (parser->kind != TL_TOKEN_PAREN_END) {
    tl_ast_param param;
    if (!parse_param(parser, &param) ||
        !tl_parser_push(parser, &param, sizeof param))
      return false;
    if (!tl_parser_accept(parser, TL_TOKEN_COMMA))
      break;
  }
  return tl_parser_take(parser, mark, sizeof(tl_ast_param), &function->params,
                        &function->count) &&
         tl_parser_close(parser, TL_TOKEN_PAREN_END, opening) &&
         check_params(parser, function);
}

// The FUNCTION node from what was parsed; NULL if the body was not.
static tl_ast *finish_function(tl_parser *parser,
                               const tl_ast_function *function, uint32_t begin,
                               uint32_t at) {
  tl_ast node = {.kind = TL_AST_FUNCTION, .function = *function};
  return function->body ? tl_parser_node(parser, &node, begin, at) : NULL;
}

// = e or { … }; `=>` behind `fn` is reported.
static tl_ast *parse_body(tl_parser *parser) {
  // One expression, or a block, whose last one is the value.
  if (tl_parser_accept(parser, TL_TOKEN_ASSIGN))
    return tl_parse_expr(parser);
  if (tl_parser_rejects(parser, TL_TOKEN_ARROW,
                        "a function that begins with `fn` goes on with "
                        "`= e` or `{ … }`; without `fn`, (x) => e"))
    return NULL;
  if (parser->kind != TL_TOKEN_BRACE)
    return tl_parser_unexpected(parser,
                                "the function's body, `= e` or `{ … }`");
  return tl_parse_block(parser);
}

// [begin] and [at] are where the node's span begins and its caret is.
tl_ast *tl_parse_function(tl_parser *parser, const tl_name *name,
                          uint32_t begin, uint32_t at) {
  tl_ast_function function = {.name = name};
  if (!parse_params(parser, &function))
    return NULL;
  function.body = parse_body(parser);
  return finish_function(parser, &function, begin, at);
}

// A function as a value; one with a name is a statement.
tl_ast *tl_parse_fn(tl_parser *parser) {
  uint32_t begin = tl_parser_advance(parser);
  if (tl_parser_rejects(parser, TL_TOKEN_NAME,
                        "a function within an expression has no name: "
                        "fn(x) = e, or x => e"))
    return NULL;
  return tl_parse_function(parser, NULL, begin, begin);
}

// The one parameter of x => e.
static bool parse_single(tl_parser *parser, tl_ast_function *function) {
  function->count = 1;
  function->params = TL_ARENA_NEW(parser->arena, tl_ast_param);
  return function->params && parse_param(parser, function->params);
}

// A `(` whose `)` is followed by `=>`, or NAME and `=>`. The lexer has matched
// the brackets, so this looks ahead without parsing.
bool tl_parser_at_lambda(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind == TL_TOKEN_NAME)
    return tl_parser_peek(parser, 1) == TL_TOKEN_ARROW;
  // A bracket without a partner has other 0.
  if (parser->kind != TL_TOKEN_PAREN || token->other <= parser->pos)
    return false;
  return tl_parser_peek(parser, token->other + 1 - parser->pos) ==
         TL_TOKEN_ARROW;
}

// At `x =>` or `(…) =>`, which tl_parser_at_lambda has seen.
tl_ast *tl_parse_lambda(tl_parser *parser) {
  tl_ast_function function = {.count = 0};
  uint32_t begin = tl_parser_token(parser)->begin;
  bool is_parsed = parser->kind == TL_TOKEN_NAME
                       ? parse_single(parser, &function)
                       : parse_params(parser, &function);
  if (!is_parsed)
    return NULL;
  uint32_t at = tl_parser_token(parser)->begin;
  if (!tl_parser_expect(parser, TL_TOKEN_ARROW, "`=>`"))
    return NULL;
  function.body = tl_parse_expr(parser);
  return finish_function(parser, &function, begin, at);
}
