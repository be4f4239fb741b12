// Statements one after another, how to go on after an error, and the two
// entrances.
//
// tl_parse lexes the text and runs the grammar over it. tl_parser_check does
// the same for the prompt and says whether more lines are wanted.

#include "compiler/parser.h"

#include <string.h>

#include "compiler/parser_internal.h"

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

static void recover(tl_parser *parser);

// At a `{` on the way to the next statement: its statements are parsed too,
// for the errors in them, unless it is no block.
static void recover_block(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  // A record of another language, or the names of a selection, p.{…}.
  bool is_block = !tl_parser_at_braced_record(parser) &&
                  (parser->pos == 0 || token[-1].kind != TL_TOKEN_DOT);
  if (is_block && parser->depth < TL_TREE_HEIGHT_MAX) {
    // Errors within the block have causes of their own.
    parser->panic = false;
    parser->depth++;
    tl_parse_block(parser);
    parser->depth--;
    parser->panic = true;
  } else if (token->other > parser->pos) {
    // No block: go on behind its closing brace.
    parser->pos = token->other;
    parser->kind = (tl_token_kind)tl_parser_token(parser)->kind;
    tl_parser_advance(parser);
  } else {
    tl_parser_advance(parser);
  }
}

// Goes on to the end of the statement that failed. Brackets on the way are
// passed over token by token: newlines within them do not count, and a block
// is parsed as a whole, so the first separator or `}` found belongs to this
// statement.
static void recover(tl_parser *parser) {
  // Its statement is given up, so nothing waits for a minus.
  parser->largest = NULL;
  while (!is_over(parser) && !is_separator(parser->kind) &&
         parser->kind != TL_TOKEN_END && parser->kind != TL_TOKEN_BRACE_END) {
    if (parser->kind == TL_TOKEN_BRACE) {
      recover_block(parser);
    } else {
      tl_parser_advance(parser);
    }
  }
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

// Blocks and whole texts alike. The height of the block is kept by hand, since
// its statements are adopted before the node exists.
tl_ast *tl_parse_program(tl_parser *parser, tl_token_kind end, uint32_t begin) {
  // Items of blocks and lists around this one lie below the mark.
  size_t mark = parser->scratch_used;
  uint32_t depth = parser->depth, highest = 0;
  skip_separators(parser);
  while (parser->kind != end && parser->kind != TL_TOKEN_END &&
         !is_over(parser)) {
    size_t kept = parser->scratch_used;
    tl_ast *statement = statement_with_end(parser, end);
    // A failed statement may have left items on the stack, and levels of
    // recursion that were never left.
    parser->scratch_used = kept;
    parser->depth = depth;
    if (!statement) {
      recover(parser);
      // At the top a stray `}` closes nothing; within a block it would be that
      // block's end.
      if (end == TL_TOKEN_END && parser->kind == TL_TOKEN_BRACE_END) {
        tl_parser_advance(parser);
      }
    } else if (!tl_parser_push(parser, &statement, sizeof statement)) {
      return NULL;
    } else if (statement->height > highest) {
      highest = statement->height;
    }
    skip_separators(parser);
  }
  tl_ast *block = tl_parser_node(parser, TL_AST_BLOCK, begin, begin);
  if (!block || !tl_parser_take(parser, mark, sizeof(tl_ast *),
                                &block->items.items, &block->items.count)) {
    return NULL;
  }
  if (highest >= TL_TREE_HEIGHT_MAX)
    return tl_parser_fail_depth(parser, block->span);
  block->height = (uint16_t)(highest + 1);
  return block;
}

// --- Entry ---

// Frees what the parser holds outside the arena: tokens and scratch.
static void release(tl_parser *parser) {
  tl_tokens_release(&parser->tokens, parser->arena);
  if (parser->scratch) {
    parser->arena->resize(parser->arena->context, parser->scratch,
                          parser->scratch_size, 0);
  }
}

// Parses all tokens; NULL if anything was reported.
static tl_ast *run(tl_parser *parser) {
  const tl_token *first = &parser->tokens.items[0];
  parser->kind = (tl_token_kind)first->kind;
  tl_ast *program = tl_parse_program(parser, TL_TOKEN_END, 0);
  bool is_sound = !parser->arena->failed && !parser->diagnostics->total;
  return is_sound ? program : NULL;
}

// The arena has what is left: nodes, names, messages.
tl_ast *tl_parse(tl_arena *arena, tl_names *names, tl_source *source,
                 tl_diagnostics *diagnostics) {
  tl_parser parser = {.arena = arena,
                      .names = names,
                      .source = source,
                      .diagnostics = diagnostics};
  tl_ast *program = NULL;
  if (tl_lex(&parser.tokens, arena, source, false))
    program = run(&parser);
  release(&parser);
  return program;
}

// Whether some token is wrong for good. A """string that does not end is not:
// the next line may end it.
static bool has_lex_error(const tl_tokens *tokens) {
  for (uint32_t i = 0; i < tokens->count; i++) {
    if (tokens->items[i].kind == TL_TOKEN_ERROR &&
        tokens->items[i].code != TL_LEX_TRIPLE_STRING) {
      return true;
    }
  }
  return false;
}

// The status of a text that is at least UTF-8. While a bracket is open, what
// stands in it cannot be judged: more lines may make parameters of it. But a
// character that begins no token is wrong for good.
static tl_parse_status judge(tl_parser *parser, const tl_source *source) {
  if (!tl_lex(&parser->tokens, parser->arena, source, true)) {
    return TL_PARSE_NO_MEMORY;
  }
  // An unmatched bracket or an unfinished """string.
  if (parser->tokens.is_open) {
    return has_lex_error(&parser->tokens) ? TL_PARSE_ERROR
                                          : TL_PARSE_INCOMPLETE;
  }
  uint32_t count = parser->tokens.count;
  const tl_token *end = &parser->tokens.items[count - 1];
  // Lines that begin with ## document what follows them, so the next statement
  // is still to come.
  if (run(parser)) {
    bool is_doc = (end->flags & TL_TOKEN_HAS_DOC) != 0;
    return is_doc ? TL_PARSE_INCOMPLETE : TL_PARSE_COMPLETE;
  }
  // The parser reports nothing when memory fails.
  if (parser->arena->failed)
    return TL_PARSE_NO_MEMORY;
  // An operator or a comma at the end of the text joins the next line.
  bool is_joined = count > 1 && !(end->flags & TL_TOKEN_AFTER_NEWLINE) &&
                   tl_token_joins_next_line(end - 1);
  return parser->failed_at_end && is_joined ? TL_PARSE_INCOMPLETE
                                            : TL_PARSE_ERROR;
}

// The texts of a prompt are short, so each is parsed again with every line.
tl_parse_status tl_parser_check(tl_resize_fn *resize, void *context,
                                const char *text, size_t nbytes) {
  tl_arena arena;
  tl_names names;
  tl_source source;
  tl_diagnostics diagnostics;
  size_t bad_offset;
  tl_arena_open(&arena, resize, context);
  tl_names_open(&names, &arena);
  tl_diagnostics_open(&diagnostics, &arena);
  tl_parse_status status = TL_PARSE_ERROR;
  switch (tl_source_open(&source, &arena, "", text, nbytes, &bad_offset)) {
    case TL_SOURCE_NO_MEMORY:
      status = TL_PARSE_NO_MEMORY;
      break;
    case TL_SOURCE_OK: {
      tl_parser parser = {.arena = &arena,
                          .names = &names,
                          .source = &source,
                          .diagnostics = &diagnostics};
      status = judge(&parser, &source);
      release(&parser);
      break;
    }
    default:
      break;
  }
  tl_arena_close(&arena);
  return status;
}
