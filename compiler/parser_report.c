// What the parser says: errors, and the forms it proposes instead of habits
// from other languages.

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "compiler/parser_internal.h"

static const char *format_text(tl_parser *parser, const char *format,
                               va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  size_t size = length < 0 ? 1 : (size_t)length + 1;
  char *text = tl_arena_alloc(parser->arena, size);
  if (text)
    vsnprintf(text, size, format, again);
  va_end(again);
  return text;
}

void *tl_parser_fail(tl_parser *parser, tl_span span, const char *format, ...) {
  if (parser->panic || parser->arena->failed)
    return NULL;
  parser->panic = true;
  if (!parser->diagnostics->total) {
    parser->failed_at_end = tl_parser_token(parser)->kind == TL_TOKEN_END;
  }
  va_list args;
  va_start(args, format);
  const char *text = format_text(parser, format, args);
  va_end(args);
  if (text) {
    tl_diagnose(parser->diagnostics, TL_DIAGNOSTIC_SYNTAX, span, "%s", text);
  }
  return NULL;
}

static const char *compose(tl_parser *parser, const char *format, ...)
    TL_PRINTF(2, 3);

static const char *compose(tl_parser *parser, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = format_text(parser, format, args);
  va_end(args);
  return text ? text : "";
}

const char *tl_parser_place(tl_parser *parser, uint32_t offset) {
  tl_place place = tl_source_place(parser->source, offset);
  return compose(parser, "%u:%u", place.line, place.column);
}

const char *tl_parser_quote(tl_parser *parser, uint32_t begin, uint32_t end,
                            const char *otherwise) {
  const char *text = parser->source->text + begin;
  if (end < begin || end - begin > 40 || memchr(text, '\n', end - begin) ||
      memchr(text, 0, end - begin)) {
    return otherwise;
  }
  const char *copy = tl_arena_text(parser->arena, text, end - begin);
  return copy ? copy : otherwise;
}

static const char *quote_token(tl_parser *parser, const tl_token *token,
                               const char *otherwise) {
  return tl_parser_quote(parser, token->begin, token->end, otherwise);
}

// --- Errors found by the lexer ---

typedef struct tl_habit {
  const char *text;
  const char *message;
} tl_habit;

static const tl_habit character_habits[] = {
    {"!", "`!` alone is no operator: write `not x`, or `!=`"},
    {"'", "a string stands in double quotes: \"text\""},
    {"“", "a string stands in straight double quotes: \"text\""},
    {"”", "a string stands in straight double quotes: \"text\""},
    {"?", "there is no `?`: write if c { a } else { b }"},
    {"\\",
     "a line goes on by itself after an operator, a comma or in "
     "brackets: leave out the backslash"},
    {"$", "there is no `$`: a string takes values as \"{x}\""},
    {"⋅", "the matrix product is written `@` or `·` (U+00B7)"},
    {"•", "the matrix product is written `@` or `·` (U+00B7)"},
    {"∗", "write `*` or `×`"},
    {"–", "this is a dash: write `-` or `−` (U+2212)"},
    {"—", "this is a dash: write `-` or `−` (U+2212)"},
    {"∑", "write sum(x)"},
    {"∏", "write prod(x)"},
    {"⁴", "there are the signs ² and ³; write x ** 4"},
    {"…", "write three points: ..."},
    {"≈", "write isclose(a, b)"},
    {"∅", "an empty list is (), an empty record (:)"},
    {"∪", "write unique(concat((a, b)))"},
    {"∩", "write unique(a[isin(a, b)])"},
    {"≡", "write same(a, b)"},
    {"≔", "write `=`"},
    {"←", "write `=`"},
    {"⇒", "write `=>` or `→`"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *find_habit(const tl_habit *habits, size_t count,
                              const char *text, size_t nbytes) {
  for (size_t i = 0; i < count; i++) {
    if (strlen(habits[i].text) == nbytes &&
        memcmp(habits[i].text, text, nbytes) == 0) {
      return habits[i].message;
    }
  }
  return NULL;
}

static void *bad_character(tl_parser *parser, const tl_token *token) {
  const char *text = parser->source->text + token->begin;
  size_t nbytes = token->end - token->begin;
  const char *habit =
      find_habit(character_habits, COUNT(character_habits), text, nbytes);
  tl_span span = tl_token_span(token);
  if (habit)
    return tl_parser_fail(parser, span, "%s", habit);
  utf8proc_int32_t code = 0;
  utf8proc_iterate((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)nbytes,
                   &code);
  bool is_visible = utf8proc_charwidth(code) > 0;
  return tl_parser_fail(
      parser, span, "the character %s%.*s%sU+%04X%s begins nothing here",
      is_visible ? "`" : "", is_visible ? (int)nbytes : 0, text,
      is_visible ? "` (" : "", (unsigned)code, is_visible ? ")" : "");
}

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

static bool text_begins(const tl_parser *parser, const tl_token *token,
                        const char *text) {
  size_t length = strlen(text);
  return token->end - token->begin >= length &&
         memcmp(parser->source->text + token->begin, text, length) == 0;
}

static void *bad_number_name(tl_parser *parser, const tl_token *token) {
  const char *number = tl_parser_quote(parser, token->begin, token->other, "2");
  const char *name = tl_parser_quote(parser, token->other, token->end, "x");
  tl_span span = {token->begin, token->end, token->other};
  if (text_begins(parser, token, "0x") || text_begins(parser, token, "0X")) {
    return tl_parser_fail(parser, span,
                          "a hexadecimal number is 0x and the digits 0-9, "
                          "a-f, as in 0xff");
  }
  if (name[0] == '_') {
    return tl_parser_fail(parser, span,
                          "a `_` in a number stands between two digits, as "
                          "in 1_000");
  }
  if (strcmp(name, "j") == 0) {
    return tl_parser_fail(parser, span, "the imaginary unit is i: write %si",
                          number);
  }
  if (strcmp(name, "e") == 0 || strcmp(name, "E") == 0) {
    return tl_parser_fail(parser, span,
                          "an exponent needs digits, as in %se3; a product "
                          "is written %s * %s",
                          number, number, name);
  }
  if ((name[0] == 'b' || name[0] == 'o') && strcmp(number, "0") == 0) {
    return tl_parser_fail(parser, span,
                          "numbers are decimal, or hexadecimal as in 0xff");
  }
  return tl_parser_fail(parser, span,
                        "a name cannot follow a number directly: a product "
                        "is written %s * %s",
                        number, name);
}

static void *bad_mismatch(tl_parser *parser, const tl_token *token) {
  const char *open = parser->source->text + token->other;
  tl_span span = tl_token_span(token);
  return tl_parser_fail(parser, span,
                        "`%c` does not close the `%c` that stands open at %s",
                        parser->source->text[token->begin], *open,
                        tl_parser_place(parser, token->other));
}

// The blanks that the line of [offset] begins with.
static uint32_t indentation(tl_parser *parser, uint32_t offset) {
  tl_place place = tl_source_place(parser->source, offset);
  uint32_t at = place.line_begin;
  while (at < place.line_end && (parser->source->text[at] == ' ' ||
                                 parser->source->text[at] == '\t')) {
    at++;
  }
  return at - place.line_begin;
}

// The first `{` after [token] whose `}` begins a line further to the left
// than its own line does: the one that most likely lacks its end.
static const tl_token *find_suspect(tl_parser *parser, const tl_token *token) {
  const tl_token *items = parser->tokens.items;
  for (; token->kind != TL_TOKEN_END; token++) {
    if (token->kind != TL_TOKEN_BRACE)
      continue;
    const tl_token *closing = &items[token->other];
    if (closing->flags & TL_TOKEN_IS_FIRST &&
        indentation(parser, closing->begin) <
            indentation(parser, token->begin)) {
      return token;
    }
  }
  return NULL;
}

static void *bad_unclosed(tl_parser *parser, const tl_token *token) {
  tl_span span = tl_token_span(token);
  char sign = parser->source->text[token->begin];
  const tl_token *suspect = sign == '{' ? find_suspect(parser, token) : NULL;
  if (!suspect) {
    return tl_parser_fail(parser, span, "this `%c` is never closed", sign);
  }
  const tl_token *closing = &parser->tokens.items[suspect->other];
  return tl_parser_fail(parser, span,
                        "this `{` is never closed, unless the one at %s "
                        "lacks its `}` (that of %s stands further left)",
                        tl_parser_place(parser, suspect->begin),
                        tl_parser_place(parser, closing->begin));
}

// The bracket that a message is about; for a hole, its brace.
static void *bad_bracket(tl_parser *parser, const tl_token *token) {
  tl_span span = tl_token_span(token);
  const char *text = parser->source->text;
  switch ((tl_lex_error)token->code) {
    case TL_LEX_UNCLOSED:
      return bad_unclosed(parser, token);
    case TL_LEX_HOLE:
      span.at = token->end - 1;
      return tl_parser_fail(parser, span,
                            "this hole is not closed before its string "
                            "breaks off (a brace as text is written {{)");
    case TL_LEX_STRAY:
      return tl_parser_fail(parser, span,
                            "`%c` closes nothing: no bracket is open",
                            text[token->begin]);
    case TL_LEX_SEMICOLON:
      return tl_parser_fail(parser, span,
                            "`;` parts statements, and cannot stand within "
                            "the `%c` of %s",
                            text[token->other],
                            tl_parser_place(parser, token->other));
    default:
      return tl_parser_fail(parser, span,
                            "more than %d brackets are open: give parts of "
                            "it names of their own",
                            TL_TREE_HEIGHT_MAX);
  }
}

void *tl_parser_lex_error(tl_parser *parser, const tl_token *token) {
  tl_span span = tl_token_span(token);
  switch ((tl_lex_error)token->code) {
    case TL_LEX_CHARACTER:
      return bad_character(parser, token);
    case TL_LEX_STRING:
      return tl_parser_fail(parser, span,
                            "the string that begins here does not end on "
                            "its line: it lacks a \" (\"\"\" begins one of "
                            "several lines)");
    case TL_LEX_TRIPLE_STRING:
      return tl_parser_fail(parser, span,
                            "the string that begins here never ends: it "
                            "lacks \"\"\"");
    case TL_LEX_TYPE:
      return tl_parser_fail(parser, span,
                            "the type that begins here never ends: it lacks "
                            "a `");
    case TL_LEX_FORMAT:
      return tl_parser_fail(parser, span,
                            "a format ends with the hole's }, on the same "
                            "line, and holds neither { nor \": braces as text "
                            "are written {{ }}, or r\"…\" holds text without "
                            "holes");
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
    default:
      return bad_bracket(parser, token);
  }
}

// --- A token that cannot stand where it is ---

static const char *describe(tl_parser *parser, const tl_token *token) {
  const tl_token_info *info = &tl_token_infos[token->kind];
  switch (token->kind) {
    case TL_TOKEN_END:
      return info->text;
    case TL_TOKEN_NAME:
      return compose(parser, "the name `%s`", quote_token(parser, token, "…"));
    case TL_TOKEN_NUMBER:
      return compose(parser, "the number %s", quote_token(parser, token, "…"));
    case TL_TOKEN_STRING:
    case TL_TOKEN_HEAD:
      return "a string";
    case TL_TOKEN_TYPE:
      return "a type";
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

// Two signs in a row, without a blank, that mean something elsewhere.
typedef struct tl_sign_habit {
  tl_token_kind first, second;
  const char *message;
} tl_sign_habit;

static const tl_sign_habit sign_habits[] = {
    {TL_TOKEN_AMPERSAND, TL_TOKEN_AMPERSAND, "there is no `&&`: write `and`"},
    {TL_TOKEN_BAR, TL_TOKEN_BAR, "there is no `||`: write `or`"},
    {TL_TOKEN_EQUAL, TL_TOKEN_ASSIGN,
     "there is no `===`: `==` compares, and same(a, b) gives one bool"},
    {TL_TOKEN_TILDE, TL_TOKEN_ASSIGN, "`~=` is written `!=`"},
    {TL_TOKEN_NOT_EQUAL, TL_TOKEN_ASSIGN, "`!==` is written `!=`"},
    {TL_TOKEN_LESS, TL_TOKEN_GREATER, "`<>` is written `!=`"},
    {TL_TOKEN_ASSIGN, TL_TOKEN_LESS, "`=<` is written `<=`"},
    {TL_TOKEN_MINUS, TL_TOKEN_GREATER, "`->` is written `=>`"},
    {TL_TOKEN_COLON, TL_TOKEN_ASSIGN, "`:=` is written `=`"},
    {TL_TOKEN_PLUS, TL_TOKEN_PLUS, "there is no `++`: write x += 1"},
    {TL_TOKEN_MINUS, TL_TOKEN_MINUS, "there is no `--`: write x -= 1"},
};

static const char *find_pair(const tl_token *first, const tl_token *second) {
  if (first->end != second->begin)
    return NULL;
  for (size_t i = 0; i < COUNT(sign_habits); i++) {
    if (first->kind == sign_habits[i].first &&
        second->kind == sign_habits[i].second) {
      return sign_habits[i].message;
    }
  }
  return NULL;
}

// A pair whose second, or else whose first sign is [token]; sets [span].
static const char *find_sign_habit(const tl_parser *parser,
                                   const tl_token *token, tl_span *span) {
  const char *message = parser->pos ? find_pair(token - 1, token) : NULL;
  *span = tl_token_span(message ? token - 1 : token);
  bool may_begin_pair =
      token->kind == TL_TOKEN_COLON || token->kind == TL_TOKEN_TILDE;
  if (!message && may_begin_pair)
    message = find_pair(token, token + 1);
  return message;
}

// `x++` at the end of a line would read on into the next.
static bool is_increment(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->pos == 0 || token[-1].kind != token->kind ||
      token[-1].end != token->begin) {
    return false;
  }
  if (token->kind != TL_TOKEN_PLUS && token->kind != TL_TOKEN_MINUS) {
    return false;
  }
  const tl_token *next = token + 1;
  return next->flags & TL_TOKEN_IS_FIRST || next->kind == TL_TOKEN_END ||
         next->kind == TL_TOKEN_SEMICOLON || next->kind == TL_TOKEN_BRACE_END ||
         next->kind == TL_TOKEN_PAREN_END;
}

bool tl_parser_report_increment(tl_parser *parser) {
  if (!is_increment(parser))
    return false;
  const tl_token *token = tl_parser_token(parser);
  tl_parser_fail(parser, tl_token_span(token - 1), "%s",
                 find_pair(token - 1, token));
  return true;
}

// Words that are no keywords here, before an operand.
static const tl_habit word_habits[] = {
    {"def", "a function is defined as fn name(x) { … } or fn name(x) = …"},
    {"function", "a function is defined as fn name(x) { … }"},
    {"func", "a function is defined as fn name(x) { … }"},
    {"fun", "a function is defined as fn name(x) { … }"},
    {"let", "a variable takes no keyword: name = value"},
    {"var", "a variable takes no keyword: name = value"},
    {"const", "a variable takes no keyword: name = value"},
    {"local", "a variable takes no keyword: name = value"},
    {"elif", "write `else if`"},
    {"elsif", "write `else if`"},
    {"elseif", "write `else if`"},
    {"lambda", "a function is written x => e or (a, b) => e"},
    {"print", "a call takes parentheses: print(x)"},
    {"del", "a call takes parentheses: del(name)"},
    {"assert", "a call takes parentheses: assert(c, \"text\")"},
    {"raise", "an error is raised by error(\"text\", kind: \"value\")"},
    {"throw", "an error is raised by error(\"text\", kind: \"value\")"},
    {"except", "write try { … } catch e { … }"},
    {"finally", "there is no `finally`: values are released by themselves"},
    {"from", "names are imported as in import \"file.tly\" (a, b)"},
    {"class", "there are no classes: a record (x: 1, y: 2) holds data"},
    {"struct", "a record (x: 1, y: 2) holds data"},
    {"foreach", "write for x in xs { … }"},
    {"switch", "write if … { … } else if … { … }"},
    {"match", "write if … { … } else if … { … }"},
    {"unless", "write if not c { … }"},
    {"until", "write while not c { … }"},
    {"do", "write while c { … }"},
    {"async", "there are no asynchronous functions"},
    {"yield",
     "there are no generators: a list comprehension is "
     "(f(x) for x in xs)"},
};

static const char *find_word_habit(const tl_parser *parser,
                                   const tl_token *token) {
  if (token->kind != TL_TOKEN_NAME)
    return NULL;
  return find_habit(word_habits, COUNT(word_habits),
                    parser->source->text + token->begin,
                    token->end - token->begin);
}

static bool begins_operand(tl_token_kind kind) {
  switch (kind) {
    case TL_TOKEN_NAME:
    case TL_TOKEN_NUMBER:
    case TL_TOKEN_STRING:
    case TL_TOKEN_HEAD:
    case TL_TOKEN_TYPE:
    case TL_TOKEN_PAREN:
    case TL_TOKEN_BRACKET:
    case TL_TOKEN_TRUE:
    case TL_TOKEN_FALSE:
    case TL_TOKEN_NONE:
    case TL_TOKEN_FN:
    case TL_TOKEN_TILDE:
    case TL_TOKEN_ROOT:
      return true;
    default:
      return false;
  }
}

static bool is_prefixed_string(const tl_parser *parser, const tl_token *last,
                               const tl_token *token) {
  bool is_string =
      token->kind == TL_TOKEN_STRING || token->kind == TL_TOKEN_HEAD;
  return is_string && last->end == token->begin &&
         last->end - last->begin <= 2 &&
         (tl_token_is(parser, last, "f") || tl_token_is(parser, last, "b") ||
          tl_token_is(parser, last, "R") || tl_token_is(parser, last, "rf") ||
          tl_token_is(parser, last, "u") || tl_token_is(parser, last, "fr"));
}

static const char *misplaced_word(tl_token_kind kind) {
  switch (kind) {
    case TL_TOKEN_ELSE:
      return "`else` stands after the } of its `if`: if c { a } else { b }";
    case TL_TOKEN_CATCH:
      return "`catch` stands after the } of its `try`: try { … } catch e { … }";
    case TL_TOKEN_RETURN:
    case TL_TOKEN_BREAK:
    case TL_TOKEN_CONTINUE:
    case TL_TOKEN_GLOBAL:
    case TL_TOKEN_IMPORT:
      return "this is a statement: it stands at the beginning of a line or "
             "after `{` or `;`";
    case TL_TOKEN_UPDATE:
    case TL_TOKEN_ASSIGN:
      return "assignment is a statement, and no part of an expression: `==` "
             "compares";
    case TL_TOKEN_ELLIPSIS:
      return "`...` stands before what it spreads, f(...x), or for the other "
             "axes of an index; a range is a..b";
    case TL_TOKEN_PIPE:
      return "`|>` needs a value on its left";
    default:
      return NULL;
  }
}

// A line within brackets that does not go on with the one above (rule 2).
static const char *stranded_bracket(tl_parser *parser, const tl_token *token) {
  if (!(token->flags & TL_TOKEN_IS_FIRST))
    return NULL;
  if (token->kind == TL_TOKEN_PAREN || token->kind == TL_TOKEN_BRACKET ||
      token->kind == TL_TOKEN_DOT) {
    return compose(parser,
                   "`%s` does not go on with the line above: end that line "
                   "with it, or with a comma",
                   tl_token_infos[token->kind].text);
  }
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

static const char *find_message(tl_parser *parser, const tl_token *token,
                                bool is_operand_wanted) {
  const tl_token *last = tl_parser_last(parser);
  const char *habit = NULL;
  if (last->kind == TL_TOKEN_DOTS && is_operand_wanted) {
    return "a range has two ends, a..b; in an index, a: and :b leave one out";
  }
  if (token->kind == TL_TOKEN_DOTS && is_operand_wanted) {
    return "a range has two ends, a..b; in an index, a: and :b leave one out";
  }
  bool is_argument =
      last->kind == TL_TOKEN_PAREN || last->kind == TL_TOKEN_COMMA;
  if (is_operand_wanted && is_argument &&
      (token->kind == TL_TOKEN_STAR || token->kind == TL_TOKEN_STARS))
    return is_target(token)
               ? "on the left of = there are as many names as values: the "
                 "others are x[1:]"
               : "a list or record is spread over arguments as ...x";
  habit = misplaced_word((tl_token_kind)token->kind);
  if (habit || is_operand_wanted)
    return habit;
  habit = stranded_bracket(parser, token);
  if (habit)
    return habit;
  if (begins_operand((tl_token_kind)token->kind)) {
    if (is_prefixed_string(parser, last, token)) {
      return "a string takes values without a prefix, \"{x}\"; only r\"…\" "
             "has one";
    }
    bool is_after_block = last->kind == TL_TOKEN_BRACE_END;
    habit = find_word_habit(parser, is_after_block ? token : last);
  }
  return habit;
}

static void *report(tl_parser *parser, const char *expected) {
  const tl_token *token = tl_parser_token(parser);
  tl_span span = tl_token_span(token);
  if (parser->kind == TL_TOKEN_NEWLINE) {
    const tl_token *last = tl_parser_last(parser);
    span = (tl_span){last->end, last->end, last->end};
    return tl_parser_fail(parser, span,
                          "expected %s, found the end of the "
                          "line",
                          expected);
  }
  return tl_parser_fail(parser, span, "expected %s, found %s", expected,
                        describe(parser, token));
}

void *tl_parser_unexpected(tl_parser *parser, const char *expected) {
  const tl_token *token = tl_parser_token(parser);
  bool is_operand_wanted = strcmp(expected, "an expression") == 0;
  if (parser->panic)
    return NULL;
  if (parser->kind == TL_TOKEN_ERROR)
    return tl_parser_lex_error(parser, token);
  if (parser->kind != TL_TOKEN_NEWLINE) {
    tl_span span;
    const char *message = find_sign_habit(parser, token, &span);
    if (!message)
      message = find_message(parser, token, is_operand_wanted);
    if (message)
      return tl_parser_fail(parser, span, "%s", message);
  }
  return report(parser, expected);
}

bool tl_parser_close(tl_parser *parser, tl_token_kind kind, uint32_t opening) {
  if (tl_parser_accept(parser, kind))
    return true;
  uint32_t offset = parser->tokens.items[opening].begin;
  const char *expected = compose(
      parser, "`,` or `%s` (of the `%s` at %s)", tl_token_infos[kind].text,
      tl_token_infos[parser->tokens.items[opening].kind].text,
      tl_parser_place(parser, offset));
  tl_parser_unexpected(parser, expected);
  return false;
}

// --- After a whole statement ---

// `f(x) {`: the name before the parentheses that end here.
static const tl_token *called_name(const tl_parser *parser) {
  const tl_token *last = tl_parser_last(parser);
  if (last->kind != TL_TOKEN_PAREN_END || last->other == 0)
    return NULL;
  const tl_token *name = &parser->tokens.items[last->other - 1];
  return name->kind == TL_TOKEN_NAME ? name : NULL;
}

static const char *stray_block(tl_parser *parser) {
  const tl_token *name = called_name(parser);
  const char *habit = name ? find_word_habit(parser, name) : NULL;
  if (!habit)
    habit = find_word_habit(parser, tl_parser_last(parser));
  if (habit)
    return habit;
  if (name)
    return "a function is defined as fn name(x) { … }";
  return "a block cannot follow an expression: put it on a line of its own, "
         "or `fn`, `if`, `for` or `while` before it";
}

static const char *end_message(tl_parser *parser) {
  switch (parser->kind) {
    case TL_TOKEN_ASSIGN:
    case TL_TOKEN_UPDATE:
      return "an assignment is a statement of its own and has no value: "
             "write two, b = 0 and then a = b";
    case TL_TOKEN_COLON:
      if (tl_parser_last(parser)->kind == TL_TOKEN_NUMBER)
        return "a range is a..b, its numbers as an array are arange(a, b)";
      return "`:` begins nothing here: a block stands in braces, and a "
             "variable has no declared type";
    case TL_TOKEN_BRACE:
      return stray_block(parser);
    case TL_TOKEN_IF:
      return tl_parser_last(parser)->kind == TL_TOKEN_BRACE_END
                 ? "`;` or a new line stands between two statements"
                 : "the condition comes first: write if c { a } else { b }";
    case TL_TOKEN_ARROW:
      return "left of `=>` stands a name or a list of parameters, as in "
             "(a, b) => a + b";
    default:
      return NULL;
  }
}

void *tl_parser_bad_end(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  const char *message = NULL;
  if (parser->panic)
    return NULL;
  tl_span span;
  if (find_sign_habit(parser, token, &span)) {
    return tl_parser_unexpected(parser, "the end of the statement");
  }
  message = end_message(parser);
  if (message) {
    return tl_parser_fail(parser, tl_token_span(token), "%s", message);
  }
  if (begins_operand(parser->kind) && !find_message(parser, token, false)) {
    return tl_parser_unexpected(
        parser, "an operator, or `;` or a new line before the next statement");
  }
  return tl_parser_unexpected(parser, "the end of the statement");
}
