// What the parser says: errors, and the forms it proposes instead of habits
// from other languages.
//
//   tl_parser_lex_error    what the lexer found wrong
//   tl_parser_unexpected   a token that cannot stand where it is
//   tl_parser_bad_end      what cannot follow a whole statement
//
// Each first looks for a habit (&&, ++, elif, f"…"), of which most are lines of
// vm/hints.txt, and only then says what it expected and what it found.

#include <stdio.h>
#include <utf8proc.h>

#include "compiler/parser_internal.h"
#include "vm/hints.h"

// A text in the arena, "" when memory fails: a part of a message.
static TL_PRINTF(2, 3) const
    char *compose(tl_parser *parser, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = tl_arena_format(parser->arena, format, args);
  va_end(args);
  return text ? text : "";
}

// Line and column of an offset, as in "3:14", in the arena.
static const char *spell_place(tl_parser *parser, uint32_t offset) {
  tl_place place = tl_source_place(parser->source, offset);
  return compose(parser, "%u:%u", place.line, place.column);
}

// At most 40 bytes, so that a message stays on one line.
const char *tl_parser_quote(tl_parser *parser, uint32_t begin, uint32_t end,
                            const char *otherwise) {
  const char *text = parser->source->text + begin;
  if (end < begin || end - begin > 40 || memchr(text, '\n', end - begin) ||
      memchr(text, 0, end - begin))
    return otherwise;
  const char *copy = tl_arena_text(parser->arena, text, end - begin);
  return copy ? copy : otherwise;
}

// The token's text, or [otherwise] if it is too long.
static const char *quote_token(tl_parser *parser, const tl_token *token,
                               const char *otherwise) {
  return tl_parser_quote(parser, token->begin, token->end, otherwise);
}

// --- Errors found by the lexer ---

// A character that begins no token. What cannot be seen is given by its number
// alone.
static void *bad_character(tl_parser *parser, const tl_token *token) {
  const char *text = parser->source->text + token->begin;
  size_t nbytes = token->end - token->begin;
  const char *hint = tl_hint("character", text, nbytes);
  tl_span span = tl_token_span(token);
  if (hint)
    return tl_parser_fail(parser, span, "%s", hint);
  utf8proc_int32_t code = 0;
  utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)nbytes,
                   &code);
  bool is_visible = utf8proc_charwidth(code) > 0;
  return tl_parser_fail(
      parser, span, "the character %s%.*s%sU+%04X%s begins nothing here",
      is_visible ? "`" : "", is_visible ? (int)nbytes : 0, text,
      is_visible ? "` (" : "", (unsigned)code, is_visible ? ")" : "");
}

// 2. or 2.e5, with the zero that is missing.
static void *bad_point(tl_parser *parser, const tl_token *token) {
  const char *digits = tl_parser_quote(parser, token->begin, token->other, "2");
  const char *exponent =
      tl_parser_quote(parser, token->other + 1, token->end, "");
  tl_span span = {token->begin, token->end, token->other};
  return tl_parser_fail(parser, span,
                        "a point in a number stands between digits: write "
                        "%s.0%s",
                        digits, exponent);
}

// A number that runs into a name: 2x, 1__0, 2j, 0b1.
static void *bad_number_name(tl_parser *parser, const tl_token *token) {
  const char *number = tl_parser_quote(parser, token->begin, token->other, "2");
  const char *name = tl_parser_quote(parser, token->other, token->end, "x");
  tl_span span = {token->begin, token->end, token->other};
  if (tl_token_begins(parser, token, "0x") ||
      tl_token_begins(parser, token, "0X"))
    return tl_parser_fail(parser, span,
                          "a hexadecimal number is 0x and the digits 0-9, "
                          "a-f, as in 0xff");
  // 1__0 or 1_: the underscore does not stand between two digits.
  if (name[0] == '_')
    return tl_parser_fail(parser, span,
                          "a `_` in a number stands between two digits, as "
                          "in 1_000");
  if (strcmp(name, "j") == 0)
    return tl_parser_fail(parser, span, "the imaginary unit is i: write %si",
                          number);
  if (strcmp(name, "e") == 0 || strcmp(name, "E") == 0)
    return tl_parser_fail(parser, span,
                          "an exponent needs digits, as in %se3; a product "
                          "is written %s * %s",
                          number, number, name);
  if ((name[0] == 'b' || name[0] == 'o') && strcmp(number, "0") == 0)
    return tl_parser_fail(parser, span,
                          "numbers are decimal, or hexadecimal as in 0xff");
  return tl_parser_fail(parser, span,
                        "a name cannot follow a number directly: a product "
                        "is written %s * %s",
                        number, name);
}

// A closing bracket that fits nothing, with the place of the one that is open.
static void *bad_mismatch(tl_parser *parser, const tl_token *token) {
  const char *open = parser->source->text + token->other;
  tl_span span = tl_token_span(token);
  return tl_parser_fail(parser, span,
                        "`%c` does not close the `%c` that stands open at %s",
                        parser->source->text[token->begin], *open,
                        spell_place(parser, token->other));
}

// How many blanks and tabs the line of [offset] begins with.
static uint32_t indentation(tl_parser *parser, uint32_t offset) {
  const char *text = parser->source->text;
  uint32_t begin = offset, count = 0;
  while (begin > 0 && text[begin - 1] != '\n') begin--;
  while (text[begin + count] == ' ' || text[begin + count] == '\t') count++;
  return count;
}

// The first `{` from [token] on whose `}` begins a line further to the left
// than its own line does: the one that most likely lacks its end.
static const tl_token *find_suspect(tl_parser *parser, const tl_token *token) {
  const tl_token *items = parser->tokens.items;
  for (; token->kind != TL_TOKEN_END; token++) {
    if (token->kind != TL_TOKEN_BRACE)
      continue;
    const tl_token *closing = &items[token->other];
    // By indentation: the partner that the lexer found is that of an outer
    // block.
    if (closing->flags & TL_TOKEN_IS_FIRST &&
        indentation(parser, closing->begin) < indentation(parser, token->begin))
      return token;
  }
  return NULL;
}

// The string on the line of [token] that breaks off, and so has swallowed what
// closes a bracket; NULL: there is none.
static const tl_token *find_broken_string(const tl_token *token) {
  for (token++;
       token->kind != TL_TOKEN_END && (token->flags & TL_TOKEN_IS_FIRST) == 0;
       token++)
    if (token->kind == TL_TOKEN_ERROR &&
        (token->code == TL_LEX_STRING || token->code == TL_LEX_HOLE ||
         token->code == TL_LEX_FORMAT))
      return token;
  return NULL;
}

// A bracket without a partner. The cause may be elsewhere: a string that broke
// off, or an inner `{` that took this one's `}`.
static void *bad_unclosed(tl_parser *parser, const tl_token *token) {
  tl_span span = tl_token_span(token);
  char sign = parser->source->text[token->begin];
  const tl_token *broken = find_broken_string(token);
  // The bracket may well be closed, within the string.
  if (broken != NULL)
    return tl_parser_lex_error(parser, broken);
  // Only a `{` has lines whose indentation could tell.
  const tl_token *suspect = sign == '{' ? find_suspect(parser, token) : NULL;
  if (!suspect)
    return tl_parser_fail(parser, span, "this `%c` is never closed", sign);
  const tl_token *closing = &parser->tokens.items[suspect->other];
  return tl_parser_fail(parser, span,
                        "this `{` is never closed, unless the one at %s "
                        "lacks its `}` (that of %s stands further left)",
                        spell_place(parser, suspect->begin),
                        spell_place(parser, closing->begin));
}

// The errors of the lexer whose message is always the same, by the word that it
// has in vm/hints.txt.
static const char *const lex_words[] = {
    [TL_LEX_STRING] = "string", [TL_LEX_TRIPLE_STRING] = "triple",
    [TL_LEX_TYPE] = "type",     [TL_LEX_FORMAT] = "format",
    [TL_LEX_HOLE] = "hole",
};

// The lexer only marks what it cannot read; the words are made here, where the
// text around the token is at hand. Errors whose message needs no text of the
// source are lines of vm/hints.txt.
void *tl_parser_lex_error(tl_parser *parser, const tl_token *token) {
  tl_span span = tl_token_span(token);
  const char *text = parser->source->text;
  switch ((tl_lex_error)token->code) {
    case TL_LEX_CHARACTER:
      return bad_character(parser, token);
    case TL_LEX_MISMATCH:
      return bad_mismatch(parser, token);
    case TL_LEX_NUMBER_POINT:
      return bad_point(parser, token);
    case TL_LEX_POINT_NUMBER:
      return tl_parser_fail(
          parser, span, "a point in a number stands between digits: write 0%s",
          quote_token(parser, token, ".5"));
    case TL_LEX_NUMBER_NAME:
      return bad_number_name(parser, token);
    case TL_LEX_UNCLOSED:
      return bad_unclosed(parser, token);
    case TL_LEX_STRAY:
      return tl_parser_fail(parser, span,
                            "`%c` closes nothing: no bracket is open",
                            text[token->begin]);
    case TL_LEX_SEMICOLON:
      return tl_parser_fail(parser, span,
                            "`;` parts statements, and cannot stand within "
                            "the `%c` of %s",
                            text[token->other],
                            spell_place(parser, token->other));
    case TL_LEX_DEPTH:
      return tl_parser_fail(parser, span,
                            "more than %d brackets are open: give parts of "
                            "it names of their own",
                            TL_TREE_HEIGHT_MAX);
    case TL_LEX_HOLE:
      // The caret stands at the brace of the hole.
      span.at = token->end - 1;
      break;
    default:
      break;
  }
  const char *word = lex_words[token->code];
  return tl_parser_fail(parser, span, "%s", tl_hint("lex", word, strlen(word)));
}

// --- A token that cannot stand where it is ---

// The token in a message: found …
static const char *describe(tl_parser *parser, const tl_token *token) {
  const tl_token_info *info = &tl_token_infos[token->kind];
  switch (token->kind) {
    case TL_TOKEN_END:
    case TL_TOKEN_STRING:
    case TL_TOKEN_TYPE:
      return info->text;
    case TL_TOKEN_NAME:
      return compose(parser, "the name `%s`", quote_token(parser, token, "…"));
    case TL_TOKEN_NUMBER:
      return compose(parser, "the number %s", quote_token(parser, token, "…"));
    case TL_TOKEN_HEAD:
      return parser->source->text[token->begin] == ':' ? "`:`" : "a string";
    case TL_TOKEN_FORMAT:
      return "`:`";
    case TL_TOKEN_MIDDLE:
    case TL_TOKEN_TAIL:
      return "the `}` of a hole";
    default:
      break;
  }
  if (info->is_word)
    return compose(parser, "the keyword `%s`", info->text);
  return compose(parser, "`%s`", quote_token(parser, token, info->text));
}

// The message for two tokens that touch, or NULL.
static const char *find_pair(const tl_token *first, const tl_token *second) {
  char signs[32];
  int n =
      snprintf(signs, sizeof signs, "%s%s", tl_token_infos[first->kind].text,
               tl_token_infos[second->kind].text);
  return first->end == second->begin ? tl_hint("sign", signs, (size_t)n) : NULL;
}

// The message for a pair whose second sign, or else first, is [token]; sets
// [span] to the pair's first token. NULL: none.
static const char *find_sign_hint(const tl_parser *parser,
                                  const tl_token *token, tl_span *span) {
  const char *message = parser->pos ? find_pair(token - 1, token) : NULL;
  *span = tl_token_span(message ? token - 1 : token);
  bool may_begin_pair =
      token->kind == TL_TOKEN_COLON || token->kind == TL_TOKEN_TILDE;
  if (!message && may_begin_pair)
    message = find_pair(token, token + 1);
  return message;
}

// Whether the second sign of x++ or x-- stands here with nothing to apply to:
// else the expression would go on in the next line.
// Called before a sign is taken as a prefix.
bool tl_parser_report_increment(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->pos == 0 || token[-1].kind != token->kind ||
      token[-1].end != token->begin ||
      (token->kind != TL_TOKEN_PLUS && token->kind != TL_TOKEN_MINUS))
    return false;
  const tl_token *next = token + 1;
  if (!(next->flags & TL_TOKEN_IS_FIRST) && next->kind != TL_TOKEN_END &&
      next->kind != TL_TOKEN_SEMICOLON && next->kind != TL_TOKEN_BRACE_END &&
      next->kind != TL_TOKEN_PAREN_END)
    return false;
  tl_parser_fail(parser, tl_token_span(token - 1), "%s",
                 find_pair(token - 1, token));
  return true;
}

// The message of those [hints] for a name, or NULL: "word" for what is a
// keyword elsewhere, "call" for what is a function here.
static const char *find_name_hint(const tl_parser *parser, const char *hints,
                                  const tl_token *token) {
  return token->kind == TL_TOKEN_NAME
             ? tl_hint(hints, parser->source->text + token->begin,
                       token->end - token->begin)
             : NULL;
}

// Whether a token may begin an operand: two in a row lack an operator.
static bool begins_operand(tl_token_kind kind) {
  return (tl_token_infos[kind].place & TL_OPERAND_FIRST) != 0;
}

// Whether a string has a prefix of Python: f"…", b"…".
static bool is_prefixed_string(const tl_parser *parser, const tl_token *last,
                               const tl_token *token) {
  // A name of one or two letters that touches a string.
  bool is_string =
      token->kind == TL_TOKEN_STRING || token->kind == TL_TOKEN_HEAD;
  static const char *const prefixes[] = {"f", "b", "R", "u", "rf", "fr"};
  bool is_prefix = false;
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    is_prefix |= tl_token_is(parser, last, prefixes[i]);
  return is_string && is_prefix && last->end == token->begin;
}

// The message of that kind of hints for a token, or NULL. An update, as +=, is
// an assignment.
static const char *find_misplaced(const char *hints, int kind) {
  if (kind == TL_TOKEN_UPDATE)
    kind = TL_TOKEN_ASSIGN;
  const char *text = tl_token_infos[kind].text;
  return tl_hint(hints, text, strlen(text));
}

// The message for a line within brackets that does not go on with the one
// above (rule 2), or NULL.
static const char *stranded_bracket(tl_parser *parser, const tl_token *token) {
  if (!(token->flags & TL_TOKEN_IS_FIRST))
    return NULL;
  if (token->kind == TL_TOKEN_PAREN || token->kind == TL_TOKEN_BRACKET ||
      token->kind == TL_TOKEN_DOT)
    return compose(parser,
                   "`%s` does not go on with the line above: end that line "
                   "with it, or with a comma",
                   tl_token_infos[token->kind].text);
  return NULL;
}

// Whether an `=` follows in this line.
static bool is_target(const tl_token *token) {
  for (const tl_token *t = token; t->kind != TL_TOKEN_END; t++) {
    if (t->kind == TL_TOKEN_ASSIGN)
      return true;
    if (t != token && t->flags & TL_TOKEN_AFTER_NEWLINE)
      break;
  }
  return false;
}

// A message for the token that is better than what was expected and what was
// found, or NULL. [is_operand_wanted]: an expression should begin here.
static const char *find_message(tl_parser *parser, const tl_token *token,
                                bool is_operand_wanted) {
  const tl_token *last = tl_parser_last(parser);
  const char *hint = NULL;
  if (is_operand_wanted &&
      (last->kind == TL_TOKEN_DOTS || token->kind == TL_TOKEN_DOTS))
    return "a range has two ends, a..b; in an index, a: and :b leave one out";
  // f(*xs) and f(**r) of other languages.
  bool is_argument =
      last->kind == TL_TOKEN_PAREN || last->kind == TL_TOKEN_COMMA;
  if (is_operand_wanted && is_argument &&
      (token->kind == TL_TOKEN_STAR || token->kind == TL_TOKEN_STARS))
    return is_target(token)
               ? "on the left of = there are as many names as values: the "
                 "others are x[1:]"
               : "a list or record is spread over arguments as ...x";
  // From here on the order matters: a message about the token itself comes
  // before one about the words around it.
  hint = find_misplaced("token", token->kind);
  if (hint || is_operand_wanted)
    return hint;
  hint = stranded_bracket(parser, token);
  if (hint)
    return hint;
  if (begins_operand((tl_token_kind)token->kind)) {
    if (is_prefixed_string(parser, last, token))
      return "a string takes values without a prefix, \"{x}\"; only r\"…\" "
             "has one";
    if (tl_token_is(parser, token, "is"))
      return "there is no `is`: write x == none, x != none, or same(a, b)";
    // `} elif c {`: the word is this token; `let x`: it is the one before.
    bool is_after_block = last->kind == TL_TOKEN_BRACE_END;
    hint = find_name_hint(parser, "word", is_after_block ? token : last);
    if (!hint)
      hint = find_name_hint(parser, "call", last);
  }
  return hint;
}

// Expected this, found that; at the end of a line the caret is behind it.
static void *report(tl_parser *parser, const char *expected) {
  const tl_token *token = tl_parser_token(parser);
  tl_span span = tl_token_span(token);
  if (parser->kind == TL_TOKEN_NEWLINE) {
    const tl_token *last = tl_parser_last(parser);
    // Behind the last token, not at the first one of the next line.
    span = (tl_span){last->end, last->end, last->end};
    return tl_parser_fail(parser, span,
                          "expected %s, found the end of the "
                          "line",
                          expected);
  }
  return tl_parser_fail(parser, span, "expected %s, found %s", expected,
                        describe(parser, token));
}

// Tries, in this order: an error of the lexer, a pair of signs, a message for
// the token or the words around it, and what was expected.
void *tl_parser_unexpected(tl_parser *parser, const char *expected) {
  const tl_token *token = tl_parser_token(parser);
  bool is_operand_wanted = strcmp(expected, "an expression") == 0;
  if (parser->kind == TL_TOKEN_ERROR)
    return tl_parser_lex_error(parser, token);
  if (parser->kind != TL_TOKEN_NEWLINE) {
    tl_span span;
    const char *message = find_sign_hint(parser, token, &span);
    if (!message)
      message = find_message(parser, token, is_operand_wanted);
    if (message)
      return tl_parser_fail(parser, span, "%s", message);
  }
  return report(parser, expected);
}

// The report names both the bracket and the comma, as either may be missing.
bool tl_parser_close(tl_parser *parser, tl_token_kind kind, uint32_t opening) {
  if (tl_parser_accept(parser, kind))
    return true;
  // Says which bracket is meant and where it was opened.
  uint32_t offset = parser->tokens.items[opening].begin;
  const char *expected = compose(
      parser, "`,` or `%s` (of the `%s` at %s)", tl_token_infos[kind].text,
      tl_token_infos[parser->tokens.items[opening].kind].text,
      spell_place(parser, offset));
  return tl_parser_unexpected(parser, expected);
}

// --- After a whole statement ---

// The name before the parentheses that end here, as in `f(x) {`.
static const tl_token *called_name(const tl_parser *parser) {
  const tl_token *last = tl_parser_last(parser);
  if (last->kind != TL_TOKEN_PAREN_END || last->other == 0)
    return NULL;
  const tl_token *name = &parser->tokens.items[last->other - 1];
  return name->kind == TL_TOKEN_NAME ? name : NULL;
}

// The message for a `{` behind an expression.
static const char *stray_block(tl_parser *parser) {
  const tl_token *name = called_name(parser);
  const char *hint = name ? find_name_hint(parser, "word", name) : NULL;
  if (!hint)
    hint = find_name_hint(parser, "word", tl_parser_last(parser));
  if (hint)
    return hint;
  // f(x) { without `fn`.
  if (name)
    return "a function is defined as fn name(x) { … }";
  return "a block cannot follow an expression: put it on a line of its own, "
         "or `fn`, `if`, `for` or `while` before it";
}

// The message for a token that cannot follow a statement, or NULL.
static const char *end_message(tl_parser *parser) {
  switch (parser->kind) {
    case TL_TOKEN_COLON:
      if (tl_parser_last(parser)->kind == TL_TOKEN_NUMBER)
        return "a range is a..b, its numbers as an array are arange(a, b)";
      break;
    case TL_TOKEN_BRACE:
      return stray_block(parser);
    case TL_TOKEN_IF:
      return tl_parser_last(parser)->kind == TL_TOKEN_BRACE_END
                 ? "`;` or a new line stands between two statements"
                 : "the condition comes first: write if c { a } else { b }";
    default:
      break;
  }
  return find_misplaced("behind", (int)parser->kind);
}

// Reports what cannot follow a whole statement; returns NULL.
void *tl_parser_bad_end(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  tl_span span;
  if (find_sign_hint(parser, token, &span))
    return tl_parser_unexpected(parser, "the end of the statement");
  const char *message = end_message(parser);
  if (message)
    return tl_parser_fail(parser, tl_token_span(token), "%s", message);
  // Two operands in a row: the operator or the new line is missing.
  if (begins_operand(parser->kind) && !find_message(parser, token, false))
    return tl_parser_unexpected(
        parser, "an operator, or `;` or a new line before the next statement");
  return tl_parser_unexpected(parser, "the end of the statement");
}

bool tl_parser_expect(tl_parser *parser, tl_token_kind kind, const char *what) {
  if (tl_parser_accept(parser, kind))
    return true;
  return tl_parser_unexpected(parser, what);
}
