// Numbers, strings and types as nodes.

#include <string.h>

#include "compiler/literal.h"
#include "compiler/parser_internal.h"

static tl_ast *report_too_large(tl_parser *parser, const tl_token *token) {
  uint32_t nbytes = token->end - token->begin;
  const char *digits =
      tl_parser_quote(parser, token->begin, token->end, "this number");
  bool is_hex = nbytes > 1 && parser->source->text[token->begin + 1] == 'x';
  return tl_parser_fail(parser, tl_token_span(token),
                        "%s does not fit int64, whose largest is "
                        "9223372036854775807%s",
                        digits,
                        is_hex ? ""
                               : ": with a point, as in 1e19 or "
                                 "10.0, it is a float");
}

// 9223372036854775808 is allowed as the operand of a minus alone, which is
// seen only later.
static bool check_size(tl_parser *parser, tl_ast *node, const tl_token *token) {
  uint64_t value = node->integer.value;
  if (value <= INT64_MAX)
    return true;
  const tl_token *before = token - 1;
  bool is_negated = parser->pos > 1 && before->kind == TL_TOKEN_MINUS;
  if (value == (uint64_t)INT64_MAX + 1 && is_negated && !parser->largest) {
    parser->largest = node;
    return true;
  }
  report_too_large(parser, token);
  return false;
}

tl_ast *tl_parse_number(tl_parser *parser) {
  static const tl_ast_kind kinds[] = {
      [TL_LITERAL_INT] = TL_AST_INT,
      [TL_LITERAL_TOO_LARGE] = TL_AST_INT,
      [TL_LITERAL_PAST_FLOAT] = TL_AST_FLOAT,
      [TL_LITERAL_FLOAT] = TL_AST_FLOAT,
      [TL_LITERAL_IMAGINARY] = TL_AST_IMAGINARY,
  };
  const tl_token *token = tl_parser_token(parser);
  tl_literal number = tl_literal_number(parser->source->text + token->begin,
                                        token->end - token->begin);
  tl_parser_advance(parser);
  tl_ast *node =
      tl_parser_node(parser, kinds[number.kind], token->begin, token->begin);
  if (!node)
    return NULL;
  if (number.kind == TL_LITERAL_TOO_LARGE) {
    return report_too_large(parser, token);
  }
  if (number.kind == TL_LITERAL_PAST_FLOAT) {
    return tl_parser_fail(parser, tl_token_span(token),
                          "this does not fit float64, whose largest is "
                          "1.7976931348623157e308: infinity is written inf");
  }
  if (number.kind == TL_LITERAL_INT) {
    node->integer.value = number.integer;
    return check_size(parser, node, token) ? node : NULL;
  }
  node->real.value = number.real;
  return node;
}

// Decodes the source from [begin] to [end]; NULL after a report.
static const char *read_text(tl_parser *parser, uint32_t begin, uint32_t end,
                             uint32_t *nbytes) {
  const char *error;
  size_t at = 0;
  const char *text =
      tl_literal_string(parser->arena, parser->source->text + begin,
                        end - begin, nbytes, &error, &at);
  if (error) {
    uint32_t offset = begin + (uint32_t)at;
    tl_parser_fail(parser, (tl_span){offset, offset + 1, offset}, "%s", error);
  }
  return text;
}

static bool begins_with(const tl_parser *parser, const tl_token *token,
                        const char *text) {
  size_t length = strlen(text);
  return token->end - token->begin >= length &&
         memcmp(parser->source->text + token->begin, text, length) == 0;
}

// The length of the quotes at either end of the string.
static uint32_t quote_length(const tl_parser *parser, const tl_token *token) {
  return begins_with(parser, token, "\"\"\"") ? 3 : 1;
}

const char *tl_parse_string_text(tl_parser *parser, uint32_t *nbytes) {
  const tl_token *token = tl_parser_token(parser);
  uint32_t begin = token->begin, end = token->end;
  tl_parser_advance(parser);
  if (begins_with(parser, token, "r")) {
    uint32_t quotes = begins_with(parser, token, "r\"\"\"") ? 3 : 1;
    *nbytes = end - begin - 2 * quotes - 1;
    return tl_arena_text(parser->arena,
                         parser->source->text + begin + 1 + quotes, *nbytes);
  }
  uint32_t quotes = quote_length(parser, token);
  return read_text(parser, begin + quotes, end - quotes, nbytes);
}

tl_ast *tl_parse_string(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin, nbytes;
  const char *text = tl_parse_string_text(parser, &nbytes);
  tl_ast *node = tl_parser_node(parser, TL_AST_STRING, begin, begin);
  if (!node || !text)
    return NULL;
  node->string = (tl_ast_string){.text = text, .nbytes = nbytes};
  return node;
}

// Adds the text of a HEAD, MIDDLE or TAIL, unless there is none.
static bool push_text(tl_parser *parser, uint32_t begin, uint32_t end) {
  tl_part part = {.span = {begin, end, begin}};
  if (begin == end)
    return true;
  part.text = read_text(parser, begin, end, &part.nbytes);
  return part.text && tl_parser_push(parser, &part, sizeof part);
}

static bool read_format(tl_parser *parser, tl_part *part) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind != TL_TOKEN_FORMAT)
    return true;
  part->format_nbytes = token->end - token->begin - 1;
  part->format =
      tl_arena_text(parser->arena, parser->source->text + token->begin + 1,
                    part->format_nbytes);
  tl_parser_advance(parser);
  return part->format != NULL;
}

static bool push_hole(tl_parser *parser, const tl_token *opening) {
  tl_part part = {.span = {opening->end - 1, 0, opening->end - 1}};
  if (parser->kind == TL_TOKEN_TAIL || parser->kind == TL_TOKEN_MIDDLE) {
    tl_parser_fail(parser, part.span,
                   "a hole is empty: braces as text are written {{ }}, or "
                   "r\"…\" holds text without holes");
    return false;
  }
  part.value = tl_parse_expr(parser);
  if (!part.value || !read_format(parser, &part))
    return false;
  if (parser->kind != TL_TOKEN_TAIL && parser->kind != TL_TOKEN_MIDDLE) {
    tl_parser_unexpected(parser,
                         "`}` or `:` and a format after the value of "
                         "a hole (r\"…\" holds text without holes)");
    return false;
  }
  part.span.end = tl_parser_token(parser)->begin + 1;
  return tl_parser_push(parser, &part, sizeof part);
}

static bool read_parts(tl_parser *parser, uint32_t quotes) {
  const tl_token *token = tl_parser_token(parser);
  if (!push_text(parser, token->begin + quotes, token->end - 1))
    return false;
  while (token->kind != TL_TOKEN_TAIL) {
    tl_parser_advance(parser);
    if (!push_hole(parser, token))
      return false;
    token = tl_parser_token(parser);
    uint32_t behind = token->kind == TL_TOKEN_TAIL ? quotes : 1;
    if (!push_text(parser, token->begin + 1, token->end - behind)) {
      return false;
    }
  }
  tl_parser_advance(parser);
  return true;
}

tl_ast *tl_parse_interpolated(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  uint32_t begin = token->begin;
  size_t mark = parser->scratch_used;
  tl_ast_interpolated text;
  if (!read_parts(parser, quote_length(parser, token)) ||
      !tl_parser_take(parser, mark, sizeof(tl_part), &text.parts,
                      &text.count)) {
    return NULL;
  }
  tl_ast *node = tl_parser_node(parser, TL_AST_INTERPOLATED, begin, begin);
  if (!node)
    return NULL;
  node->interpolated = text;
  for (uint32_t i = 0; i < text.count; i++) {
    if (!tl_parser_adopt(parser, node, text.parts[i].value))
      return NULL;
  }
  return node;
}

tl_ast *tl_parse_type(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  tl_parser_advance(parser);
  tl_ast *node =
      tl_parser_node(parser, TL_AST_TYPE, token->begin, token->begin);
  if (!node)
    return NULL;
  uint32_t nbytes = token->end - token->begin - 2;
  const char *text = tl_arena_text(
      parser->arena, parser->source->text + token->begin + 1, nbytes);
  if (!text)
    return NULL;
  node->string = (tl_ast_string){.text = text, .nbytes = nbytes};
  return node;
}
