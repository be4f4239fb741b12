// What follows an operand on its line: calls, indices, fields, ² and ³.
// tl_parse_postfix goes from one to the next, so a[1].f(x)² is read from left
// to right.

#include "compiler/parser_internal.h"

// --- Calls ---

// NAME ':' expr, at the name.
static bool parse_named(tl_parser *parser, tl_argument *out) {
  tl_ident ident;
  if (!tl_parse_ident(parser, &ident, "a name"))
    return false;
  tl_parser_advance(parser);
  // f(x :: T) looks like a parameter.
  if (tl_parser_rejects(
          parser, TL_TOKEN_COLON,
          "a type `::` belongs to a parameter of a definition, not "
          "to an argument"))
    return false;
  out->kind = TL_ARGUMENT_NAMED;
  out->name = ident.name;
  out->span = ident.span;
  out->value = tl_parse_expr(parser);
  return out->value != NULL;
}

// Reports f(x, axis=0), with the colon that it needs. False: no such thing
// stands here.
static bool report_keyword_argument(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind != TL_TOKEN_NAME ||
      tl_parser_peek(parser, 1) != TL_TOKEN_ASSIGN)
    return false;
  const char *name = tl_parser_quote(parser, token->begin, token->end, "name");
  const tl_token *value = token + 2;
  // The proposal repeats a value of one token.
  bool is_short = value->kind == TL_TOKEN_NUMBER ||
                  value->kind == TL_TOKEN_TRUE ||
                  value->kind == TL_TOKEN_FALSE ||
                  value->kind == TL_TOKEN_NONE || value->kind == TL_TOKEN_NAME;
  const char *text =
      is_short ? tl_parser_quote(parser, value->begin, value->end, "…") : "…";
  tl_parser_fail(parser, tl_token_span(token + 1),
                 "an argument is named with a colon: write %s: %s", name, text);
  return true;
}

// One argument: value, ...value or name: value.
static bool parse_argument(tl_parser *parser, tl_argument *out) {
  *out = (tl_argument){.kind = TL_ARGUMENT_POSITIONAL};
  if (parser->kind == TL_TOKEN_NAME &&
      tl_parser_peek(parser, 1) == TL_TOKEN_COLON)
    return parse_named(parser, out);
  if (report_keyword_argument(parser))
    return false;
  if (tl_token_infos[parser->kind].is_word &&
      tl_parser_peek(parser, 1) == TL_TOKEN_COLON)
    return tl_parser_fail_here(parser,
                               "`%s` is a keyword and cannot name an argument",
                               tl_token_infos[parser->kind].text);
  uint32_t begin = tl_parser_token(parser)->begin;
  bool is_spread = tl_parser_accept(parser, TL_TOKEN_ELLIPSIS);
  // The caret of a spread argument is at its points.
  if (is_spread)
    out->kind = TL_ARGUMENT_SPREAD;
  out->value = tl_parse_expr(parser);
  if (!out->value)
    return false;
  out->span = out->value->span;
  if (is_spread)
    out->span.begin = out->span.at = begin;
  return true;
}

// The arguments up to the closing parenthesis.
static bool parse_arguments(tl_parser *parser, tl_ast_call *call,
                            uint32_t opening) {
  size_t mark = parser->scratch_used;
  while (parser->kind != TL_TOKEN_PAREN_END) {
    tl_argument argument;
    if (!parse_argument(parser, &argument) ||
        tl_parser_rejects(parser, TL_TOKEN_FOR,
                          "a comprehension has brackets of its own: f([e for x "
                          "in xs]) or f((e for x in xs))") ||
        !tl_parser_push(parser, &argument, sizeof argument))
      return false;
    // A comma may follow the last argument.
    if (!tl_parser_accept(parser, TL_TOKEN_COMMA))
      break;
  }
  return tl_parser_take(parser, mark, sizeof(tl_argument), &call->arguments,
                        &call->count) &&
         tl_parser_close(parser, TL_TOKEN_PAREN_END, opening);
}

static bool is_number(const tl_ast *ast) {
  return ast->kind == TL_AST_INT || ast->kind == TL_AST_FLOAT ||
         ast->kind == TL_AST_IMAGINARY;
}

// The call of [callee], at its parenthesis. A number that is called is a
// product with its sign left out.
static tl_ast *parse_call(tl_parser *parser, tl_ast *callee) {
  uint32_t opening = parser->pos;
  tl_ast node = {.kind = TL_AST_CALL, .call = {.callee = callee}};
  // 2(x + 1): the sign of a product was left out.
  if (is_number(callee) && !callee->is_parenthesised)
    return tl_parser_fail_here(
        parser, "a number cannot be called: a product is written %s * (…)",
        tl_parser_quote(parser, callee->span.begin, callee->span.end, "2"));
  tl_parser_advance(parser);
  if (!parse_arguments(parser, &node.call, opening))
    return NULL;
  return tl_parser_node(parser, &node, callee->span.begin, callee->span.at);
}

// --- Indices ---

// Whether a slice's end is left out before this token.
static bool ends_bound(tl_token_kind kind) {
  return kind == TL_TOKEN_COLON || kind == TL_TOKEN_COMMA ||
         kind == TL_TOKEN_BRACKET_END;
}

// One end of a slice; NULL in [out] if it is left out.
static bool parse_bound(tl_parser *parser, tl_ast **out) {
  *out = NULL;
  if (ends_bound(parser->kind))
    return true;
  *out = tl_parse_expr(parser);
  return *out != NULL;
}

// A slice from its first colon on; its start was parsed as a value.
static bool parse_slice(tl_parser *parser, tl_ast_item *item) {
  item->kind = TL_AST_ITEM_SLICE;
  item->start = item->value;
  item->value = NULL;
  tl_parser_advance(parser);
  if (!parse_bound(parser, &item->stop))
    return false;
  // Without a second colon the step is 1.
  return !tl_parser_accept(parser, TL_TOKEN_COLON) ||
         parse_bound(parser, &item->step);
}

// `...` alone stands for all other axes; before a value it spreads that.
static bool parse_ellipsis(tl_parser *parser, tl_ast_item *item) {
  item->kind = TL_AST_ITEM_ELLIPSIS;
  tl_parser_advance(parser);
  if (parser->kind == TL_TOKEN_COMMA || parser->kind == TL_TOKEN_BRACKET_END)
    return true;
  item->kind = TL_AST_ITEM_SPREAD;
  item->value = tl_parse_expr(parser);
  return item->value != NULL;
}

// x[a..b] means x[a:b]: the item becomes a slice. With a step that may be below
// 0 it stays a range, as its stop need not count from the end then: 2..-1 by -1
// runs down to 0.
static void as_slice(tl_ast_item *item) {
  const tl_ast *range = item->value;
  if (range == NULL || range->kind != TL_AST_RANGE)
    return;
  tl_ast *step = range->range.step;
  if (step != NULL && step->kind != TL_AST_INT)
    return;
  *item = (tl_ast_item){.kind = TL_AST_ITEM_SLICE,
                        .start = range->range.start,
                        .stop = range->range.stop,
                        .step = step};
}

// One item of an index: a value, a slice, ... or ...value.
static bool parse_item(tl_parser *parser, tl_ast_item *item) {
  uint32_t begin = tl_parser_token(parser)->begin;
  *item = (tl_ast_item){.kind = TL_AST_ITEM_VALUE};
  if (parser->kind == TL_TOKEN_ELLIPSIS) {
    if (!parse_ellipsis(parser, item))
      return false;
  } else {
    if (parser->kind != TL_TOKEN_COLON) {
      item->value = tl_parse_expr(parser);
      if (!item->value)
        return false;
    }
    if (parser->kind == TL_TOKEN_COLON && !parse_slice(parser, item))
      return false;
    as_slice(item);
  }
  item->span = tl_parser_span(parser, begin, begin);
  return true;
}

// object[items], at the bracket.
static tl_ast *parse_index(tl_parser *parser, tl_ast *object) {
  uint32_t opening = parser->pos, at = tl_parser_token(parser)->begin;
  size_t mark = parser->scratch_used;
  tl_ast node = {.kind = TL_AST_INDEX, .index = {.object = object}};
  tl_parser_advance(parser);
  // x[] means nothing: all of x is x[...].
  if (tl_parser_rejects(parser, TL_TOKEN_BRACKET_END,
                        "an index is missing: x[i], or x[...] for all"))
    return NULL;
  while (parser->kind != TL_TOKEN_BRACKET_END) {
    tl_ast_item item;
    if (!parse_item(parser, &item) ||
        !tl_parser_push(parser, &item, sizeof item))
      return NULL;
    if (!tl_parser_accept(parser, TL_TOKEN_COMMA))
      break;
  }
  if (!tl_parser_take(parser, mark, sizeof(tl_ast_item), &node.index.items,
                      &node.index.count) ||
      !tl_parser_close(parser, TL_TOKEN_BRACKET_END, opening))
    return NULL;
  return tl_parser_node(parser, &node, object->span.begin, at);
}

// --- Fields ---

// The name of a field: behind a point keywords are names too.
static bool parse_word(tl_parser *parser, tl_ident *out) {
  const tl_token *token = tl_parser_token(parser);
  const char *text = parser->source->text + token->begin;
  size_t nbytes = token->end - token->begin;
  bool is_word =
      parser->kind == TL_TOKEN_NAME || tl_token_infos[parser->kind].is_word;
  // `∈` is `in` elsewhere, but no field.
  if (!is_word || (parser->kind == TL_TOKEN_IN && *text != 'i'))
    return tl_parser_unexpected(parser, "a field's name after `.`");
  out->name = tl_names_get_nfc(parser->names, text, nbytes);
  out->span = tl_token_span(token);
  tl_parser_advance(parser);
  return out->name != NULL;
}

// A field's name, or any in quotes, as with a record's key: p.{x, "a b"}.
static bool parse_selected(tl_parser *parser, tl_ident *out) {
  return parser->kind == TL_TOKEN_STRING ? tl_parse_quoted(parser, out)
                                         : parse_word(parser, out);
}

// object.{names}, at the brace.
static tl_ast *parse_select(tl_parser *parser, tl_ast *object, uint32_t at) {
  uint32_t opening = parser->pos;
  tl_ast node = {.kind = TL_AST_SELECT, .select = {.object = object}};
  tl_parser_advance(parser);
  if (!tl_parse_names(parser, parse_selected, TL_TOKEN_BRACE_END,
                      &node.select.fields, &node.select.count) ||
      !tl_parser_close(parser, TL_TOKEN_BRACE_END, opening)) {
    // Recovery would take the `}` of the selection for the end of a block.
    if (parser->tokens.items[opening].other > parser->pos)
      tl_parser_pass_brace(parser, opening);
    return NULL;
  }
  return tl_parser_node(parser, &node, object->span.begin, at);
}

// object.name or object.{names}, at the point.
static tl_ast *parse_field(tl_parser *parser, tl_ast *object) {
  tl_ident word;
  uint32_t at = tl_parser_advance(parser);
  // p.{x, y} selects fields.
  if (parser->kind == TL_TOKEN_BRACE)
    return parse_select(parser, object, at);
  if (!parse_word(parser, &word))
    return NULL;
  tl_ast node = {.kind = TL_AST_FIELD, .field = {object, word}};
  return tl_parser_node(parser, &node, object->span.begin, word.span.begin);
}

// --- ² and ³ ---

// x² and x³ are powers with an exponent that nobody wrote.
static tl_ast *parse_superscript(tl_parser *parser, tl_ast *base) {
  tl_ast number = {.kind = TL_AST_INT,
                   .integer = parser->kind == TL_TOKEN_SQUARE ? 2 : 3};
  uint32_t at = tl_parser_advance(parser);
  tl_ast node = {.kind = TL_AST_BINARY,
                 .binary = {TL_OPERATOR_POWER, base,
                            tl_parser_node(parser, &number, at, at)}};
  return node.binary.right ? tl_parser_node(parser, &node, base->span.begin, at)
                           : NULL;
}

// From the inside out: each step takes the operand so far as its object.
tl_ast *tl_parse_postfix(tl_parser *parser) {
  tl_ast *operand = tl_parse_primary(parser);
  while (operand) {
    // Rule 2: brackets and points belong to an operand only on its line,
    // within parentheses too.
    if (tl_parser_token(parser)->flags & TL_TOKEN_IS_FIRST)
      break;
    switch (parser->kind) {
      case TL_TOKEN_PAREN:
        operand = parse_call(parser, operand);
        break;
      case TL_TOKEN_BRACKET:
        operand = parse_index(parser, operand);
        break;
      case TL_TOKEN_DOT:
        operand = parse_field(parser, operand);
        break;
      case TL_TOKEN_SQUARE:
      case TL_TOKEN_CUBE:
        operand = parse_superscript(parser, operand);
        break;
      default:
        return operand;
    }
  }
  return operand;
}
