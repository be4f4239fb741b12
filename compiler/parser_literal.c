// Operands of one token: names, numbers, strings without holes, types.

#include "compiler/literal.h"
#include "compiler/parser_internal.h"

// π and ∞ are names that are signs: they stand for pi and inf.
bool tl_parse_ident(tl_parser *parser, tl_ident *out, const char *what) {
  const tl_token *token = tl_parser_token(parser);
  const char *text = parser->source->text + token->begin;
  size_t nbytes = token->end - token->begin;
  if (parser->kind != TL_TOKEN_NAME) {
    // Naming a variable like a keyword is the most likely mistake.
    if (tl_token_infos[parser->kind].is_word) {
      tl_parser_fail(parser, tl_token_span(token),
                     "`%s` is a keyword and cannot be %s",
                     tl_token_infos[parser->kind].text, what);
    } else {
      tl_parser_unexpected(parser, what);
    }
    return false;
  }
  // The two names that are signs.
  if (nbytes == 2 && memcmp(text, "π", 2) == 0)
    out->name = tl_names_get(parser->names, "pi", 2);
  else if (nbytes == 3 && memcmp(text, "∞", 3) == 0)
    out->name = tl_names_get(parser->names, "inf", 3);
  else
    out->name = tl_names_get_nfc(parser->names, text, nbytes);
  out->span = tl_token_span(token);
  tl_parser_advance(parser);
  return out->name != NULL;
}

// A name. One before `=>` would be a lambda, which within an expression needs
// parentheses.
tl_ast *tl_parse_name(tl_parser *parser) {
  tl_ident ident;
  if (tl_parser_peek(parser, 1) == TL_TOKEN_ARROW)
    return tl_parser_fail_here(
        parser,
        "a function x => … within an expression stands in "
        "parentheses");
  if (!tl_parse_ident(parser, &ident, "a name"))
    return NULL;
  tl_ast node = {.kind = TL_AST_NAME, .name = {ident.name}};
  return tl_parser_node(parser, &node, ident.span.begin, ident.span.begin);
}

// true, false or none.
tl_ast *tl_parse_constant(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  tl_ast node = {.kind = TL_AST_NONE};
  if (token->kind != TL_TOKEN_NONE) {
    node.kind = TL_AST_BOOL;
    node.boolean = token->kind == TL_TOKEN_TRUE;
  }
  tl_parser_advance(parser);
  return tl_parser_node(parser, &node, token->begin, token->begin);
}

// Reports an integer beyond uint64; returns NULL.
static tl_ast *report_too_large(tl_parser *parser, const tl_token *token) {
  uint32_t nbytes = token->end - token->begin;
  const char *digits =
      tl_parser_quote(parser, token->begin, token->end, "this number");
  // A hexadecimal number has no form with a point to propose.
  bool is_hex = nbytes > 1 && parser->source->text[token->begin + 1] == 'x';
  return tl_parser_fail(parser, tl_token_span(token),
                        "%s does not fit uint64, whose largest is "
                        "18446744073709551615%s",
                        digits,
                        is_hex ? ""
                               : ": with a point, as in 1e20 or "
                                 "10.0, it is a float");
}

// The lexer has checked its form, so it can only be too large.
tl_ast *tl_parse_number(tl_parser *parser) {
  static const tl_ast_kind kinds[] = {
      [TL_LITERAL_INT] = TL_AST_INT,
      [TL_LITERAL_FLOAT] = TL_AST_FLOAT,
      [TL_LITERAL_IMAGINARY] = TL_AST_IMAGINARY,
  };
  const tl_token *token = tl_parser_token(parser);
  tl_literal number =
      tl_literal_number(parser->arena, parser->source->text + token->begin,
                        token->end - token->begin);
  tl_parser_advance(parser);
  if (number.kind == TL_LITERAL_TOO_LARGE)
    return report_too_large(parser, token);
  if (number.kind == TL_LITERAL_PAST_FLOAT)
    return tl_parser_fail(parser, tl_token_span(token),
                          "this does not fit float64, whose largest is "
                          "1.7976931348623157e308: infinity is written inf");
  tl_ast out = {.kind = kinds[number.kind]};
  if (number.kind == TL_LITERAL_INT)
    out.integer = number.integer;
  else
    out.real = number.real;
  return tl_parser_node(parser, &out, token->begin, token->begin);
}

// The range is without quotes: a string's text, or a part of it between holes.
const char *tl_parser_read_text(tl_parser *parser, uint32_t begin, uint32_t end,
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

uint32_t tl_parser_quote_length(const tl_parser *parser,
                                const tl_token *token) {
  return tl_token_begins(parser, token, "\"\"\"") ? 3 : 1;
}

// A raw string is copied as it is; escapes of others are decoded.
const char *tl_parse_string_text(tl_parser *parser, uint32_t *nbytes) {
  const tl_token *token = tl_parser_token(parser);
  uint32_t begin = token->begin, end = token->end;
  tl_parser_advance(parser);
  if (tl_token_begins(parser, token, "r")) {
    uint32_t quotes = tl_token_begins(parser, token, "r\"\"\"") ? 3 : 1;
    *nbytes = end - begin - 2 * quotes - 1;
    return tl_arena_text(parser->arena,
                         parser->source->text + begin + 1 + quotes, *nbytes);
  }
  uint32_t quotes = tl_parser_quote_length(parser, token);
  return tl_parser_read_text(parser, begin + quotes, end - quotes, nbytes);
}

bool tl_parse_quoted(tl_parser *parser, tl_ident *out) {
  uint32_t nbytes;
  out->span = tl_token_span(tl_parser_token(parser));
  const char *text = tl_parse_string_text(parser, &nbytes);
  out->name = text ? tl_names_get(parser->names, text, nbytes) : NULL;
  return out->name != NULL;
}

bool tl_parse_names(tl_parser *parser,
                    bool (*parse)(tl_parser *parser, tl_ident *out),
                    tl_token_kind closing, tl_ident **names, uint32_t *count) {
  size_t mark = parser->scratch_used;
  do {
    tl_ident ident;
    if (parser->kind == closing && parser->scratch_used > mark)
      break;
    if (!parse(parser, &ident) || !tl_parser_push(parser, &ident, sizeof ident))
      return false;
  } while (tl_parser_accept(parser, TL_TOKEN_COMMA));
  return tl_parser_take(parser, mark, sizeof(tl_ident), names, count);
}

tl_ast *tl_parse_string(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin, nbytes;
  const char *text = tl_parse_string_text(parser, &nbytes);
  tl_ast node = {.kind = TL_AST_STRING, .string = {text, nbytes}};
  return text ? tl_parser_node(parser, &node, begin, begin) : NULL;
}

// The text between the two ` as it is; lowering parses it.
tl_ast *tl_parse_type(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  tl_parser_advance(parser);
  // Without the ` on either side.
  uint32_t nbytes = token->end - token->begin - 2;
  const char *text = tl_arena_text(
      parser->arena, parser->source->text + token->begin + 1, nbytes);
  tl_ast node = {.kind = TL_AST_TYPE, .string = {text, nbytes}};
  return text ? tl_parser_node(parser, &node, token->begin, token->begin)
              : NULL;
}
