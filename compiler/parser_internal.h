// What the files of the parser share.
//
// Recursive descent, one function for a rule of the grammar:
//
//   parser.c             the entrances
//   parser_block.c       statements in a row, recovery
//   parser_statement.c   assignments, definitions, imports
//   parser_expression.c  pipes, binary levels by precedence, signs, powers
//   parser_postfix.c     calls, indices, fields behind an operand
//   parser_primary.c     operands, and what stands in brackets
//   parser_function.c    parameters and bodies
//   parser_control.c     if, while, for, try
//   parser_string.c      strings with holes
//   parser_literal.c     names, numbers, strings without holes, types
//   parser_report.c      what errors say
//   parser_tokens.c      the current token, nodes, lists in the making
//
// A function that parses returns NULL after it has reported, or when memory
// failed; its caller returns NULL as well. The first report sets [panic];
// until the next statement begins all others are dropped, so one cause makes
// one error.

#pragma once

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
  bool panic;  // an error of this statement was reported: drop further ones
  bool is_stopped;     // too deep to go on: what follows is no better
  bool failed_at_end;  // the first error lay at the end of the text
  uint32_t depth;
  // Lists in the making: a stack of bytes, outside the arena since it grows
  // and shrinks.
  char *scratch;
  size_t scratch_used, scratch_size;
} tl_parser;

// The current token; at the end it is END, again and again.
const tl_token *tl_parser_token(const tl_parser *parser);
// The token before the current one.
const tl_token *tl_parser_last(const tl_parser *parser);
// The kind of a token further on, or NEWLINE if one that counts precedes it. 1
// is the one behind the current token.
tl_token_kind tl_parser_peek(const tl_parser *parser, uint32_t ahead);
// Goes to the next token, and returns where the current one begins. A newline
// that counts is a step of its own: kind is NEWLINE and then the token's.
uint32_t tl_parser_advance(tl_parser *parser);
// Passes over a token of [kind]; false, and nothing happens, if another stands
// here.
bool tl_parser_accept(tl_parser *parser, tl_token_kind kind);
// Passes over a token of [kind]; else reports that [what] was expected.
bool tl_parser_expect(tl_parser *parser, tl_token_kind kind, const char *what);
// Passes over the closing bracket [kind] of the token with index [opening];
// else the report names that one's place.
bool tl_parser_close(tl_parser *parser, tl_token_kind kind, uint32_t opening);
// Whether the token is the name [text].
bool tl_token_is(const tl_parser *parser, const tl_token *token,
                 const char *text);

// Whether the token's text begins with [text].
bool tl_token_begins(const tl_parser *parser, const tl_token *token,
                     const char *text);
// Goes on behind the `}` that closes the token with index [opening], or behind
// the current token if that `}` is missing.
void tl_parser_pass_brace(tl_parser *parser, uint32_t opening);

// Reports an error, unless one was reported since the statement began (panic).
// Returns NULL, for the caller to return, also as its false; so do all that
// report.
void *tl_parser_fail(tl_parser *parser, tl_span span, const char *format, ...)
    TL_PRINTF(3, 4);
// The same at the current token.
void *tl_parser_fail_here(tl_parser *parser, const char *format, ...)
    TL_PRINTF(2, 3);
// Whether a token of [kind] stands here, where it cannot: then [message] is
// reported.
bool tl_parser_rejects(tl_parser *parser, tl_token_kind kind,
                       const char *message);
// Reports that the current token cannot stand here; [expected] is worded as
// "an expression". A habit from another language gets a message of its own.
void *tl_parser_unexpected(tl_parser *parser, const char *expected);
// Whether the second sign of `x++` or `x--` stands where an operand should
// come: then it is reported.
bool tl_parser_report_increment(tl_parser *parser);
// Reports what is wrong with an ERROR token.
void *tl_parser_lex_error(tl_parser *parser, const tl_token *token);
// The token's place, with the caret at its first byte.
tl_span tl_token_span(const tl_token *token);
// From [begin] to the end of the last token, with the caret at [at].
tl_span tl_parser_span(const tl_parser *parser, uint32_t begin, uint32_t at);
// The text of [begin, end) in the arena, or [otherwise] if it is long, has
// several lines or holds a zero byte.
const char *tl_parser_quote(tl_parser *parser, uint32_t begin, uint32_t end,
                            const char *otherwise);

// A new node like [ast], in memory of just the size that its kind needs. Its
// span goes from [begin] to the end of the last token. Its height follows from
// its children's, which are there already, and is more than ast->height. NULL:
// no memory, or after a report that the tree is too high.
tl_ast *tl_parser_node(tl_parser *parser, const tl_ast *ast, uint32_t begin,
                       uint32_t at);
// Levels of recursion, by the C stack that they take: so many together use less
// than 256 KiB where they are TL_TREE_HEIGHT_MAX, also in a build by -O1.
typedef enum tl_nesting {
  TL_NESTING_SIGN = 1,
  TL_NESTING_NOT = 3,
  TL_NESTING_EXPR = 7,  // brackets, blocks and all else that has expressions
} tl_nesting;

// Counts a level of recursion; false after a report. Who leaves the level
// subtracts it from parser->depth; after an error it may be left, since each
// statement restores it.
bool tl_parser_enter(tl_parser *parser, tl_nesting nesting);

// Pushes one item on the scratch stack. Lists whose length is not known before
// are collected there: note scratch_used as the mark, push, then take all at
// once. Errors may leave items behind; the next statement starts from a clean
// mark.
bool tl_parser_push(tl_parser *parser, const void *item, size_t nbytes);
// Moves what was pushed since [mark] into the arena: sets *items_out to it
// (NULL if nothing was) and *count_out to its number of items.
bool tl_parser_take(tl_parser *parser, size_t mark, size_t item_size,
                    void *items_out, uint32_t *count_out);

// The rules of the grammar, each at its first token; NULL after a report:
//
//   tl_parse_expr          an expression, lambdas included
//   tl_parse_pipe          one without a lambda at its front: pipes and all
//                          binary operators
//   tl_parse_postfix       an operand with the calls, indices and fields behind
//                          it
//   tl_parse_primary       a name, a literal, something in brackets, or a
//                          control structure
//   tl_parse_name          as a node, and tl_parse_constant: true, false, none
//   tl_parse_number        and tl_parse_string, tl_parse_interpolated, whose
//                          holes, where they are wrong, are reported there
//   tl_parse_type          between ` `; lowering finds out whether it is one
//   tl_parse_lambda        `x => e` or `(x, y) => e`, where tl_parser_at_lambda
//                          holds
//   tl_parse_fn            a function without a name
//   tl_parse_if            and tl_parse_while, tl_parse_for, tl_parse_try
//   tl_parse_block         at its `{`; anything else is reported
//   tl_parse_statement     one, without what ends it
//   tl_parse_list_item     of a list or an array: an expression, or a SPREAD
typedef tl_ast *tl_parse_rule(tl_parser *parser);
tl_parse_rule tl_parse_expr, tl_parse_pipe, tl_parse_postfix, tl_parse_primary,
    tl_parse_name, tl_parse_constant, tl_parse_number, tl_parse_string,
    tl_parse_interpolated, tl_parse_type, tl_parse_lambda, tl_parse_fn,
    tl_parse_if, tl_parse_while, tl_parse_for, tl_parse_try, tl_parse_block,
    tl_parse_statement, tl_parse_list_item;
// Whether `x =>` or `(…) =>` stands here.
bool tl_parser_at_lambda(const tl_parser *parser);
// Decodes the source from [begin] to [end]; NULL after a report.
const char *tl_parser_read_text(tl_parser *parser, uint32_t begin, uint32_t end,
                                uint32_t *nbytes);
// The length of the quotes at either end of the string: 1 or 3.
uint32_t tl_parser_quote_length(const tl_parser *parser, const tl_token *token);
// Whether the token is the `:` of a hole's format, with holes in it or
// without.
bool tl_parser_at_format(const tl_parser *parser);
// The decoded text of a STRING token, in the arena, and goes to the next token;
// NULL after a report.
const char *tl_parse_string_text(tl_parser *parser, uint32_t *nbytes);
// The same as a name, with its bytes as they are; false after a report.
bool tl_parse_quoted(tl_parser *parser, tl_ident *out);
// The rest of any function, at its parameters. [name] may be NULL; the node
// begins at [begin] and has its caret at [at].
tl_ast *tl_parse_function(tl_parser *parser, const tl_name *name,
                          uint32_t begin, uint32_t at);
// NAME (',' NAME)* 'in': the names of a `for`, into the arena.
bool tl_parse_loop_names(tl_parser *parser, tl_ident **names, uint32_t *count);
// Reports that a block must begin here, for `:`, `then` and `do` with the form
// that is right.
tl_ast *tl_parser_report_no_block(tl_parser *parser);
// At `#:peak`: the number of bytes, up to the statement that it is for; [end]
// is what the block around them ends in. NULL after a report.
tl_ast *tl_parse_peak(tl_parser *parser, tl_token_kind end);
// Puts a promise where it begins: into the body of the function that the
// statement defines, or on the stack before the statement itself. False: no
// memory.
bool tl_place_peak(tl_parser *parser, tl_ast *peak, tl_ast *statement);
// A name, in its normal form; [what] says in a report what it was to be.
bool tl_parse_ident(tl_parser *parser, tl_ident *out, const char *what);
// What [parse] reads, once or more with commas between, up to [closing], before
// which a comma may stand too; into the arena. False after a report.
bool tl_parse_names(tl_parser *parser,
                    bool (*parse)(tl_parser *parser, tl_ident *out),
                    tl_token_kind closing, tl_ident **names, uint32_t *count);
// Reports what cannot follow a whole statement.
void *tl_parser_bad_end(tl_parser *parser);
// Statements up to [end], which is BRACE_END or END and is not passed over, as
// a block. Recovers after each error, so it returns a block even if some
// statement was reported; NULL without memory or if the tree is too high.
tl_ast *tl_parse_program(tl_parser *parser, tl_token_kind end, uint32_t begin);
