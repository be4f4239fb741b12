// Numbers, strings and types as nodes.
//
// A string with holes becomes an INTERPOLATED node, whose parts are texts and
// values in turn. A format may have holes itself and then is another
// INTERPOLATED node:
//
//   "a {x:{w}.2f}"    part "a ", part (value x, spec ({w} ".2f"))

#include <string.h>

#include "compiler/literal.h"
#include "compiler/parser_internal.h"

// Reports an integer beyond int64; returns NULL.
static tl_ast *report_too_large(tl_parser *parser, const tl_token *token) {
  uint32_t nbytes = token->end - token->begin;
  const char *digits =
      tl_parser_quote(parser, token->begin, token->end, "this number");
  // A hexadecimal number has no form with a point to propose.
  bool is_hex = nbytes > 1 && parser->source->text[token->begin + 1] == 'x';
  return tl_parser_fail(parser, tl_token_span(token),
                        "%s does not fit int64, whose largest is "
                        "9223372036854775807%s",
                        digits,
                        is_hex ? ""
                               : ": with a point, as in 1e19 or "
                                 "10.0, it is a float");
}

// Whether an integer fits int64. 9223372036854775808 is allowed as the operand
// of a minus alone: it is noted in parser->largest until parse_unary has made
// its minus, and reported at the end of the statement if that did not happen.
static bool check_size(tl_parser *parser, tl_ast *node, const tl_token *token) {
  uint64_t value = node->integer.value;
  if (value <= INT64_MAX)
    return true;
  const tl_token *before = token - 1;
  // Only right behind a minus: what the minus applies to is seen in
  // parse_unary.
  bool is_negated = parser->pos > 1 && before->kind == TL_TOKEN_MINUS;
  if (value == (uint64_t)INT64_MAX + 1 && is_negated && !parser->largest) {
    parser->largest = node;
    return true;
  }
  report_too_large(parser, token);
  return false;
}

// The lexer has checked its form, so it can only be too large.
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
  // The caret stands at the escape that is wrong, not at the string.
  if (error) {
    uint32_t offset = begin + (uint32_t)at;
    tl_parser_fail(parser, (tl_span){offset, offset + 1, offset}, "%s", error);
  }
  return text;
}

// Whether the token's text begins with [text].
static bool begins_with(const tl_parser *parser, const tl_token *token,
                        const char *text) {
  size_t length = strlen(text);
  return token->end - token->begin >= length &&
         memcmp(parser->source->text + token->begin, text, length) == 0;
}

// The length of the quotes at either end of the string: 1 or 3.
static uint32_t quote_length(const tl_parser *parser, const tl_token *token) {
  return begins_with(parser, token, "\"\"\"") ? 3 : 1;
}

// A raw string is copied as it is; escapes of others are decoded.
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

// Pushes the text of a HEAD, MIDDLE or TAIL as a part, unless it is empty.
static bool push_text(tl_parser *parser, uint32_t begin, uint32_t end) {
  tl_part part = {.span = {begin, end, begin}};
  if (begin == end)
    return true;
  part.text = read_text(parser, begin, end, &part.nbytes);
  return part.text && tl_parser_push(parser, &part, sizeof part);
}

// A format with holes begins as a HEAD whose first byte is the colon.
bool tl_parser_at_format(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  return parser->kind == TL_TOKEN_FORMAT ||
         (parser->kind == TL_TOKEN_HEAD &&
          parser->source->text[token->begin] == ':');
}

static bool push_hole(tl_parser *parser, const tl_token *opening,
                      const char *format);

// Pushes the text of a format as a part, as it is written, unless it is empty;
// [is_precision]: it ends in a point, so the hole behind it is a precision.
static bool push_format(tl_parser *parser, uint32_t begin, uint32_t end,
                        bool *is_precision) {
  tl_part part = {.span = {begin, end, begin}, .nbytes = end - begin};
  const char *text = parser->source->text;
  *is_precision = begin < end && text[end - 1] == '.';
  if (begin == end)
    return true;
  part.text = tl_arena_text(parser->arena, text + begin, part.nbytes);
  return part.text && tl_parser_push(parser, &part, sizeof part);
}

// The parts of a format that has holes, up to its TAIL. A hole behind a point
// stands for a precision, any other for a width or text; the formats !p and !w
// say so to the formatter.
static bool read_format_parts(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  bool is_precision;
  if (!push_format(parser, token->begin + 1, token->end - 1, &is_precision))
    return false;
  while (token->kind != TL_TOKEN_TAIL) {
    tl_parser_advance(parser);
    if (!push_hole(parser, token, is_precision ? "!p" : "!w"))
      return false;
    token = tl_parser_token(parser);
    // A TAIL has no brace of its own in the format: it ends before the }.
    uint32_t end = token->end - (token->kind == TL_TOKEN_MIDDLE);
    if (!push_format(parser, token->begin + 1, end, &is_precision))
      return false;
  }
  tl_parser_advance(parser);
  return true;
}

// The INTERPOLATED node of the parts that were pushed since [mark].
static tl_ast *finish_parts(tl_parser *parser, uint32_t begin, size_t mark) {
  tl_ast_interpolated text;
  if (!tl_parser_take(parser, mark, sizeof(tl_part), &text.parts, &text.count))
    return NULL;
  tl_ast *node = tl_parser_node(parser, TL_AST_INTERPOLATED, begin, begin);
  if (!node)
    return NULL;
  node->interpolated = text;
  // Texts have no node, so only values and formats count.
  for (uint32_t i = 0; i < text.count; i++) {
    const tl_part *part = &text.parts[i];
    if (!tl_parser_adopt(parser, node, part->value) ||
        !tl_parser_adopt(parser, node, part->spec))
      return NULL;
  }
  return node;
}

// The format of a hole, if it has one, into [part].
static bool read_format(tl_parser *parser, tl_part *part) {
  const tl_token *token = tl_parser_token(parser);
  if (!tl_parser_at_format(parser))
    return true;
  // The format has holes itself: it is evaluated like a string.
  if (parser->kind == TL_TOKEN_HEAD) {
    size_t mark = parser->scratch_used;
    part->spec = read_format_parts(parser)
                     ? finish_parts(parser, token->begin, mark)
                     : NULL;
    return part->spec != NULL;
  }
  part->format_nbytes = token->end - token->begin - 1;
  part->format =
      tl_arena_text(parser->arena, parser->source->text + token->begin + 1,
                    part->format_nbytes);
  tl_parser_advance(parser);
  return part->format != NULL;
}

// Whether a hole holds digits only. That is the count of a pattern, [0-9]{2}
// or a{2,}, whose braces would be lost in silence; nobody needs a hole for a
// known number.
static bool is_digits(const tl_parser *parser, uint32_t at) {
  const char *text = parser->source->text;
  if (text[at] < '0' || text[at] > '9')
    return false;
  while ((text[at] >= '0' && text[at] <= '9') || text[at] == ',' ||
         text[at] == ' ')
    at++;
  return text[at] == '}';
}

// Reports "{"a": 1}": it is not text with braces but the string "a" in a hole,
// with " 1" as its format. A blank begins a format of numbers only, so this is
// always a mistake.
static bool report_braces(tl_parser *parser, const tl_part *part) {
  const char *text = parser->source->text + tl_parser_token(parser)->begin;
  if (!tl_parser_at_format(parser) || part->value->kind != TL_AST_STRING ||
      (text[1] != ' ' && strncmp(text + 1, "{\"", 2) != 0)) {
    return false;
  }
  tl_parser_fail(parser, part->span,
                 "a brace in a string opens a hole: braces as text are "
                 "written {{ }}, or r\"\"\"…\"\"\" holds text without holes");
  return true;
}

// Pushes the text of a hole {x = } up to its value, as it is written, and sets
// the format of [hole] to show strings in quotes unless another follows.
static bool push_source(tl_parser *parser, uint32_t begin, tl_part *hole) {
  tl_parser_advance(parser);
  uint32_t end = tl_parser_token(parser)->begin;
  tl_part part = {.span = {begin, end, begin}, .nbytes = end - begin};
  part.text =
      tl_arena_text(parser->arena, parser->source->text + begin, part.nbytes);
  // Strings are shown in quotes, unless a format follows.
  hole->format = "!r";
  hole->format_nbytes = 2;
  return part.text && tl_parser_push(parser, &part, sizeof part);
}

// Parses and pushes the value of a hole behind the token [opening], and its
// format. [format] is what the hole has if it says nothing of its own; NULL:
// none, as in a string.
static bool push_hole(tl_parser *parser, const tl_token *opening,
                      const char *format) {
  tl_part part = {.span = {opening->end - 1, 0, opening->end - 1}};
  if (format != NULL) {
    part.format = format;
    part.format_nbytes = (uint32_t)strlen(format);
  }
  // The braces hold nothing.
  if (parser->kind == TL_TOKEN_TAIL || parser->kind == TL_TOKEN_MIDDLE) {
    tl_parser_fail(parser, part.span,
                   "a hole is empty: braces as text are written {{ }}, or "
                   "r\"…\" holds text without holes");
    return false;
  }
  if (format == NULL && is_digits(parser, opening->end)) {
    tl_parser_fail(parser, part.span,
                   "a hole of digits: braces as text are written {{ }}, or "
                   "r\"…\" holds text without holes, such as r\"[0-9]{2}\"");
    return false;
  }
  // Any expression, even one with strings that have holes.
  part.value = tl_parse_expr(parser);
  if (!part.value || report_braces(parser, &part) ||
      (parser->kind == TL_TOKEN_ASSIGN &&
       !push_source(parser, opening->end, &part)) ||
      !read_format(parser, &part))
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

// Pushes all parts of a string with holes, from HEAD to TAIL.
static bool read_parts(tl_parser *parser, uint32_t quotes) {
  const tl_token *token = tl_parser_token(parser);
  if (!push_text(parser, token->begin + quotes, token->end - 1))
    return false;
  while (token->kind != TL_TOKEN_TAIL) {
    tl_parser_advance(parser);
    if (!push_hole(parser, token, NULL))
      return false;
    token = tl_parser_token(parser);
    // A MIDDLE ends in a brace, a TAIL in the closing quotes.
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
  return read_parts(parser, quote_length(parser, token))
             ? finish_parts(parser, begin, mark)
             : NULL;
}

// The text between the two ` as it is; lowering parses it.
tl_ast *tl_parse_type(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  tl_parser_advance(parser);
  tl_ast *node =
      tl_parser_node(parser, TL_AST_TYPE, token->begin, token->begin);
  if (!node)
    return NULL;
  // Without the ` on either side.
  uint32_t nbytes = token->end - token->begin - 2;
  const char *text = tl_arena_text(
      parser->arena, parser->source->text + token->begin + 1, nbytes);
  if (!text)
    return NULL;
  node->string = (tl_ast_string){.text = text, .nbytes = nbytes};
  return node;
}
