// Strings with holes.
//
// They become INTERPOLATED nodes, whose parts are texts and values in turn. A
// format may have holes itself and then is another INTERPOLATED node:
//
//   "a {x:{w}.2f}"    part "a ", part (value x, spec ({w} ".2f"))

#include "compiler/parser_internal.h"

// Pushes a text as a part, unless it is empty; with [is_raw] as it is written.
static bool push_text(tl_parser *parser, uint32_t begin, uint32_t end,
                      bool is_raw) {
  tl_part part = {.span = {begin, end, begin}, .nbytes = end - begin};
  if (begin == end)
    return true;
  part.text = is_raw ? tl_arena_text(parser->arena,
                                     parser->source->text + begin, part.nbytes)
                     : tl_parser_read_text(parser, begin, end, &part.nbytes);
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

// Pushes all parts, from HEAD to TAIL. [quotes]: the length of the string's
// quotes; 0: these are the parts of a format. There a hole behind a point
// stands for a precision, any other for a width or text; the formats !p and !w
// say so to the formatter.
static bool read_parts(tl_parser *parser, uint32_t quotes) {
  const tl_token *token = tl_parser_token(parser);
  bool is_format = quotes == 0;
  uint32_t begin = token->begin + (is_format ? 1 : quotes);
  for (;;) {
    // HEAD and MIDDLE end in a brace, the TAIL of a string in its quotes.
    bool is_tail = token->kind == TL_TOKEN_TAIL;
    uint32_t end = token->end - (is_tail ? quotes : 1);
    if (!push_text(parser, begin, end, is_format))
      return false;
    tl_parser_advance(parser);
    if (is_tail)
      return true;
    bool is_precision = end > begin && parser->source->text[end - 1] == '.';
    const char *format = is_precision ? "!p" : "!w";
    if (!push_hole(parser, token, is_format ? format : NULL))
      return false;
    token = tl_parser_token(parser);
    begin = token->begin + 1;
  }
}

// The INTERPOLATED node of a string or a format, at its HEAD.
static tl_ast *parse_parts(tl_parser *parser, uint32_t quotes) {
  uint32_t begin = tl_parser_token(parser)->begin;
  size_t mark = parser->scratch_used;
  tl_ast node = {.kind = TL_AST_INTERPOLATED};
  return read_parts(parser, quotes) &&
                 tl_parser_take(parser, mark, sizeof(tl_part),
                                &node.interpolated.parts,
                                &node.interpolated.count)
             ? tl_parser_node(parser, &node, begin, begin)
             : NULL;
}

// The format of a hole, if it has one, into [part].
static bool read_format(tl_parser *parser, tl_part *part) {
  const tl_token *token = tl_parser_token(parser);
  if (!tl_parser_at_format(parser))
    return true;
  // The format has holes itself: it is evaluated like a string.
  if (parser->kind == TL_TOKEN_HEAD) {
    if (!tl_parser_enter(parser, TL_NESTING_EXPR))
      return false;
    part->spec = parse_parts(parser, 0);
    parser->depth -= TL_NESTING_EXPR;
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
      (text[1] != ' ' && strncmp(text + 1, "{\"", 2) != 0))
    return false;
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
  // Strings are shown in quotes, unless a format follows.
  hole->format = "!r";
  hole->format_nbytes = 2;
  return push_text(parser, begin, end, true);
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
  if (parser->kind == TL_TOKEN_TAIL || parser->kind == TL_TOKEN_MIDDLE)
    return tl_parser_fail(
        parser, part.span,
        "a hole is empty: braces as text are written {{ }}, or "
        "r\"…\" holds text without holes");
  if (format == NULL && is_digits(parser, opening->end))
    return tl_parser_fail(
        parser, part.span,
        "a hole of digits: braces as text are written {{ }}, or "
        "r\"…\" holds text without holes, such as r\"[0-9]{2}\"");
  // Any expression, even one with strings that have holes.
  part.value = tl_parse_expr(parser);
  if (!part.value || report_braces(parser, &part) ||
      (parser->kind == TL_TOKEN_ASSIGN &&
       !push_source(parser, opening->end, &part)) ||
      !read_format(parser, &part))
    return false;
  if (parser->kind != TL_TOKEN_TAIL && parser->kind != TL_TOKEN_MIDDLE)
    return tl_parser_unexpected(parser,
                                "`}` or `:` and a format after the value of "
                                "a hole (r\"…\" holds text without holes)");
  part.span.end = tl_parser_token(parser)->begin + 1;
  return tl_parser_push(parser, &part, sizeof part);
}

tl_ast *tl_parse_interpolated(tl_parser *parser) {
  return parse_parts(parser,
                     tl_parser_quote_length(parser, tl_parser_token(parser)));
}
