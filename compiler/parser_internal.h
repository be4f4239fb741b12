// What the files of the parser share.
//
// Recursive descent. A function that parses returns NULL after it has
// reported, or where memory failed; its caller returns NULL as well. The first
// report sets [panic]; until the next statement begins all others are dropped,
// so one cause makes one error.

#ifndef TALLY_COMPILER_PARSER_INTERNAL_H
#define TALLY_COMPILER_PARSER_INTERNAL_H

#include "compiler/lexer.h"
#include "compiler/parser.h"

typedef struct tl_parser {
  tl_arena *arena;
  tl_names *names;
  tl_source *source;
  tl_diagnostics *diagnostics;
  tl_tokens tokens;
  uint32_t pos;        // index of the current token
  tl_token_kind kind;  // its kind, or NEWLINE before it
  bool panic;
  bool is_stopped;     // too deep to go on: what follows is no better
  bool failed_at_end;  // the first error lay at the end of the text
  uint32_t depth;
  char *scratch;  // lists in the making, a stack of bytes
  size_t scratch_used, scratch_size;
  tl_ast *largest;  // a literal 9223372036854775808 that awaits its minus
} tl_parser;

// Tokens.
const tl_token *tl_parser_token(const tl_parser *parser);
const tl_token *tl_parser_last(const tl_parser *parser);  // the one before
tl_token_kind tl_parser_peek(const tl_parser *parser, uint32_t ahead);
void tl_parser_advance(tl_parser *parser);
bool tl_parser_accept(tl_parser *parser, tl_token_kind kind);
// Reports unless the current token is [kind]; [what] describes it.
bool tl_parser_expect(tl_parser *parser, tl_token_kind kind, const char *what);
// The closing bracket of the token [opening].
bool tl_parser_close(tl_parser *parser, tl_token_kind kind, uint32_t opening);
// Whether the token is the name [text].
bool tl_token_is(const tl_parser *parser, const tl_token *token,
                 const char *text);

// Reports. All return NULL, for the caller to return.
void *tl_parser_fail(tl_parser *parser, tl_span span, const char *format, ...)
    TL_PRINTF(3, 4);
// The current token cannot stand here; [expected]: "an expression".
void *tl_parser_unexpected(tl_parser *parser, const char *expected);
// At the second sign of `x++` or `x--`, where an operand should come: reports.
bool tl_parser_report_increment(tl_parser *parser);
// The message of an ERROR token.
void *tl_parser_lex_error(tl_parser *parser, const tl_token *token);
tl_span tl_token_span(const tl_token *token);
tl_span tl_parser_span(const tl_parser *parser, uint32_t begin, uint32_t at);
// "3:14", valid until the arena is closed.
const char *tl_parser_place(tl_parser *parser, uint32_t offset);
// The text of [begin, end), or [otherwise] if it is long or has several lines.
const char *tl_parser_quote(tl_parser *parser, uint32_t begin, uint32_t end,
                            const char *otherwise);

// Nodes.
// One of [kind]; its span ends where the last token did.
tl_ast *tl_parser_node(tl_parser *parser, tl_ast_kind kind, uint32_t begin,
                       uint32_t at);
// Makes [parent] at least one higher than [child]; false if that is too high.
bool tl_parser_adopt(tl_parser *parser, tl_ast *parent, const tl_ast *child);
bool tl_parser_adopt_items(tl_parser *parser, tl_ast *parent,
                           const tl_ast_item *items, uint32_t count);
// Counts a level of recursion; to leave one, decrement parser->depth.
bool tl_parser_enter(tl_parser *parser);

// Lists: push from a mark on, then take all at once. Errors leave what was
// pushed; the next statement starts from a clean mark.
bool tl_parser_push(tl_parser *parser, const void *item, size_t nbytes);
bool tl_parser_take(tl_parser *parser, size_t mark, size_t item_size,
                    void *items_out, uint32_t *count_out);

// The grammar. Expressions: parser_expression.c.
tl_ast *tl_parse_expr(tl_parser *parser);
tl_ast *tl_parse_pipe(tl_parser *parser);
// parser_postfix.c
tl_ast *tl_parse_postfix(tl_parser *parser);
// parser_primary.c
tl_ast *tl_parse_primary(tl_parser *parser);
bool tl_parser_at_lambda(const tl_parser *parser);
// parser_literal.c
tl_ast *tl_parse_number(tl_parser *parser);
tl_ast *tl_parse_string(tl_parser *parser);
tl_ast *tl_parse_interpolated(tl_parser *parser);
tl_ast *tl_parse_type(tl_parser *parser);
// Text of a STRING token, and advances; NULL after a report.
const char *tl_parse_string_text(tl_parser *parser, uint32_t *nbytes);
// parser_function.c
tl_ast *tl_parse_lambda(tl_parser *parser);
tl_ast *tl_parse_fn(tl_parser *parser);       // at `fn`, without a name
tl_ast *tl_parse_function(tl_parser *parser,  // at the parameters
                          const tl_name *name, uint32_t begin, uint32_t at);
// parser_control.c
tl_ast *tl_parse_if(tl_parser *parser);
tl_ast *tl_parse_while(tl_parser *parser);
tl_ast *tl_parse_for(tl_parser *parser);
tl_ast *tl_parse_try(tl_parser *parser);
bool tl_parse_loop_names(tl_parser *parser, tl_ident **names, uint32_t *count);
tl_ast *tl_parse_block(tl_parser *parser);
// At `{` and a key: {x: 1}, which is none of Tally's forms.
bool tl_parser_at_braced_record(const tl_parser *parser);
// parser_statement.c
tl_ast *tl_parse_statement(tl_parser *parser);
bool tl_parse_ident(tl_parser *parser, tl_ident *out, const char *what);
// Reports what cannot follow a whole statement.
void *tl_parser_bad_end(tl_parser *parser);
// parser.c: statements up to [end], BRACE_END or END.
tl_ast *tl_parse_program(tl_parser *parser, tl_token_kind end, uint32_t begin);

#endif
