// Statements in a row, in a block or a whole text, and how to go on after an
// error.

#include "compiler/parser_internal.h"

// Whether `{` and a key stand here, as in {x: 1} or {"a": 1}: a record of
// other languages, and none of Tally's forms.
static bool at_braced_record(const tl_parser *parser) {
  tl_token_kind first = tl_parser_peek(parser, 1);
  // The key may be on the next line; then a newline comes before it.
  if (first == TL_TOKEN_NEWLINE) {
    const tl_token *token = tl_parser_token(parser) + 1;
    first = (tl_token_kind)token->kind;
  }
  return (first == TL_TOKEN_NAME || first == TL_TOKEN_STRING) &&
         tl_parser_peek(parser, 2) == TL_TOKEN_COLON;
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
  tl_parser_pass_brace(parser, parser->pos);
  return NULL;
}

// Whether a slice stands where a range was meant: for i in 0:n.
static bool is_slice(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  return parser->kind == TL_TOKEN_COLON && parser->pos > 0 &&
         (token[-1].kind == TL_TOKEN_NUMBER ||
          token[1].kind == TL_TOKEN_NUMBER);
}

// Forms of other languages are answered with Tally's: `for i in 0:n`, `if x:`,
// `while x do`.
tl_ast *tl_parser_report_no_block(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (is_slice(parser))
    return tl_parser_fail(parser, tl_token_span(token),
                          "a range is a..b, and a block stands in braces: "
                          "{ … }");
  if (parser->kind == TL_TOKEN_COLON || tl_token_is(parser, token, "then") ||
      tl_token_is(parser, token, "do"))
    return tl_parser_fail(parser, tl_token_span(token),
                          "a block stands in braces: { … }");
  return tl_parser_unexpected(parser, "a block `{ … }`");
}

// { statements }.
tl_ast *tl_parse_block(tl_parser *parser) {
  uint32_t opening = parser->pos, begin = tl_parser_token(parser)->begin;
  if (parser->kind != TL_TOKEN_BRACE)
    return tl_parser_report_no_block(parser);
  if (at_braced_record(parser))
    return report_braced_record(parser);
  if (!tl_parser_enter(parser, TL_NESTING_EXPR))
    return NULL;
  tl_parser_advance(parser);
  tl_ast *block = tl_parse_program(parser, TL_TOKEN_BRACE_END, begin);
  parser->depth -= TL_NESTING_EXPR;
  if (!block || !tl_parser_close(parser, TL_TOKEN_BRACE_END, opening))
    return NULL;
  // The block ends behind its brace.
  block->span.end = tl_parser_last(parser)->end;
  return block;
}

// --- Statements in a row ---

static bool is_separator(tl_token_kind kind) {
  return kind == TL_TOKEN_NEWLINE || kind == TL_TOKEN_SEMICOLON;
}

// Whether to give up: after so many errors that no more are shown, when the
// nesting is too deep, or without memory.
static bool is_over(const tl_parser *parser) {
  return parser->arena->failed || parser->is_stopped ||
         parser->diagnostics->total >= TL_DIAGNOSTICS_MAX;
}

// At a `{` on the way to the next statement: its statements are parsed too,
// for the errors in them, unless it is no block.
static void recover_block(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  // A record of another language, or the names of a selection, p.{…}.
  bool is_block = !at_braced_record(parser) &&
                  (parser->pos == 0 || token[-1].kind != TL_TOKEN_DOT);
  if (is_block && parser->depth < TL_TREE_HEIGHT_MAX) {
    // Errors within the block have causes of their own.
    parser->panic = false;
    parser->depth += TL_NESTING_EXPR;
    tl_parse_block(parser);
    parser->depth -= TL_NESTING_EXPR;
    parser->panic = true;
  } else {
    // No block: go on behind its closing brace.
    tl_parser_pass_brace(parser, parser->pos);
  }
}

// Goes on to the end of the statement that failed. Brackets on the way are
// passed over token by token: newlines within them do not count, and a block
// is parsed as a whole, so the first separator or `}` found belongs to this
// statement.
static void recover(tl_parser *parser) {
  while (!is_over(parser) && !is_separator(parser->kind) &&
         parser->kind != TL_TOKEN_END && parser->kind != TL_TOKEN_BRACE_END)
    if (parser->kind == TL_TOKEN_BRACE)
      recover_block(parser);
    else
      tl_parser_advance(parser);
  parser->panic = false;
}

// One statement and what ends it; NULL after an error.
static tl_ast *statement_with_end(tl_parser *parser, tl_token_kind end) {
  tl_ast *statement = tl_parse_statement(parser);
  if (!statement)
    return NULL;
  if (is_separator(parser->kind) || parser->kind == end)
    return statement;
  return tl_parser_bad_end(parser);
}

static void skip_separators(tl_parser *parser) {
  while (is_separator(parser->kind)) tl_parser_advance(parser);
}

// Blocks and whole texts alike.
tl_ast *tl_parse_program(tl_parser *parser, tl_token_kind end, uint32_t begin) {
  // Items of blocks and lists around this one lie below the mark.
  size_t mark = parser->scratch_used;
  uint32_t depth = parser->depth;
  skip_separators(parser);
  while (parser->kind != end && parser->kind != TL_TOKEN_END &&
         !is_over(parser)) {
    size_t kept = parser->scratch_used;
    bool promises = parser->kind == TL_TOKEN_PEAK;
    tl_ast *peak = promises ? tl_parse_peak(parser, end) : NULL;
    tl_ast *statement =
        promises && peak == NULL ? NULL : statement_with_end(parser, end);
    // A failed statement may have left items on the stack, and levels of
    // recursion that were never left.
    parser->scratch_used = kept;
    parser->depth = depth;
    if (!statement) {
      recover(parser);
      // At the top a stray `}` closes nothing; within a block it would be that
      // block's end.
      if (end == TL_TOKEN_END && parser->kind == TL_TOKEN_BRACE_END)
        tl_parser_advance(parser);
    } else if ((promises && !tl_place_peak(parser, peak, statement)) ||
               !tl_parser_push(parser, &statement, sizeof statement)) {
      return NULL;
    }
    skip_separators(parser);
  }
  tl_ast block = {.kind = TL_AST_BLOCK};
  return tl_parser_take(parser, mark, sizeof(tl_ast *), &block.items.items,
                        &block.items.count)
             ? tl_parser_node(parser, &block, begin, begin)
             : NULL;
}
