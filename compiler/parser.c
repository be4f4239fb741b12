// The parser's machinery: tokens, nodes, lists, statements one after another
// and how to go on after an error.

#include "compiler/parser.h"

#include <string.h>

#include "compiler/parser_internal.h"

// --- Tokens ---

const tl_token *tl_parser_token(const tl_parser *parser) {
  return &parser->tokens.items[parser->pos];
}

const tl_token *tl_parser_last(const tl_parser *parser) {
  return &parser->tokens.items[parser->pos ? parser->pos - 1 : 0];
}

static tl_token_kind kind_with_newline(const tl_token *token) {
  bool is_after = token->flags & TL_TOKEN_AFTER_NEWLINE;
  return is_after ? TL_TOKEN_NEWLINE : (tl_token_kind)token->kind;
}

tl_token_kind tl_parser_peek(const tl_parser *parser, uint32_t ahead) {
  uint32_t index = parser->pos + ahead;
  if (index >= parser->tokens.count)
    return TL_TOKEN_END;
  return kind_with_newline(&parser->tokens.items[index]);
}

void tl_parser_advance(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind == TL_TOKEN_NEWLINE) {
    parser->kind = (tl_token_kind)token->kind;
  } else if (token->kind != TL_TOKEN_END) {
    parser->pos++;
    parser->kind = kind_with_newline(token + 1);
  }
}

bool tl_parser_accept(tl_parser *parser, tl_token_kind kind) {
  if (parser->kind != kind)
    return false;
  tl_parser_advance(parser);
  return true;
}

bool tl_parser_expect(tl_parser *parser, tl_token_kind kind, const char *what) {
  if (tl_parser_accept(parser, kind))
    return true;
  tl_parser_unexpected(parser, what);
  return false;
}

bool tl_token_is(const tl_parser *parser, const tl_token *token,
                 const char *text) {
  size_t length = strlen(text);
  return token->kind == TL_TOKEN_NAME && token->end - token->begin == length &&
         memcmp(parser->source->text + token->begin, text, length) == 0;
}

tl_span tl_token_span(const tl_token *token) {
  return (tl_span){token->begin, token->end, token->begin};
}

tl_span tl_parser_span(const tl_parser *parser, uint32_t begin, uint32_t at) {
  uint32_t end = tl_parser_last(parser)->end;
  return (tl_span){begin, end > begin ? end : begin, at};
}

// --- Nodes ---

// A node takes no more than its kind needs: the trees of long array literals
// are mostly numbers.
static size_t node_size(tl_ast_kind kind) {
#define X(kind, text, type, member) \
  [TL_AST_##kind] = offsetof(tl_ast, member) + sizeof(type),
  static const size_t sizes[] = {TL_AST_KINDS(X)};
#undef X
  return sizes[kind];
}

tl_ast *tl_parser_node(tl_parser *parser, tl_ast_kind kind, uint32_t begin,
                       uint32_t at) {
  tl_ast *node = tl_arena_alloc(parser->arena, node_size(kind));
  if (!node)
    return NULL;
  node->kind = kind;
  node->height = 1;
  node->span = tl_parser_span(parser, begin, at);
  return node;
}

static void *fail_depth(tl_parser *parser, tl_span span) {
  parser->is_stopped = true;
  return tl_parser_fail(parser, span,
                        "nested deeper than %d levels: give parts of it names "
                        "of their own",
                        TL_TREE_HEIGHT_MAX);
}

bool tl_parser_adopt(tl_parser *parser, tl_ast *parent, const tl_ast *child) {
  if (!parent)
    return false;
  if (!child || parent->height > child->height)
    return true;
  if (child->height >= TL_TREE_HEIGHT_MAX) {
    fail_depth(parser, parent->span);
    return false;
  }
  parent->height = (uint16_t)(child->height + 1);
  return true;
}

bool tl_parser_adopt_items(tl_parser *parser, tl_ast *parent,
                           const tl_ast_item *items, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tl_ast_item *item = &items[i];
    if (!tl_parser_adopt(parser, parent, item->value) ||
        !tl_parser_adopt(parser, parent, item->start) ||
        !tl_parser_adopt(parser, parent, item->stop) ||
        !tl_parser_adopt(parser, parent, item->step)) {
      return false;
    }
  }
  return true;
}

bool tl_parser_enter(tl_parser *parser) {
  if (++parser->depth <= TL_TREE_HEIGHT_MAX)
    return true;
  fail_depth(parser, tl_token_span(tl_parser_token(parser)));
  return false;
}

// --- Lists ---

static bool grow_scratch(tl_parser *parser, size_t needed) {
  tl_arena *arena = parser->arena;
  size_t size = parser->scratch_size ? parser->scratch_size * 2 : 1024;
  while (size < needed) size *= 2;
  char *scratch = arena->resize(arena->context, parser->scratch,
                                parser->scratch_size, size);
  if (!scratch) {
    arena->failed = true;
    return false;
  }
  parser->scratch = scratch;
  parser->scratch_size = size;
  return true;
}

bool tl_parser_push(tl_parser *parser, const void *item, size_t nbytes) {
  size_t needed = parser->scratch_used + nbytes;
  if (needed > parser->scratch_size && !grow_scratch(parser, needed)) {
    return false;
  }
  memcpy(parser->scratch + parser->scratch_used, item, nbytes);
  parser->scratch_used = needed;
  return true;
}

bool tl_parser_take(tl_parser *parser, size_t mark, size_t item_size,
                    void *items_out, uint32_t *count_out) {
  size_t nbytes = parser->scratch_used - mark;
  void *items = NULL;
  if (nbytes) {
    items = tl_arena_alloc(parser->arena, nbytes);
    if (!items)
      return false;
    memcpy(items, parser->scratch + mark, nbytes);
  }
  memcpy(items_out, &items, sizeof items);
  *count_out = (uint32_t)(nbytes / item_size);
  parser->scratch_used = mark;
  return true;
}

// --- Statements in a row ---

static bool is_separator(tl_token_kind kind) {
  return kind == TL_TOKEN_NEWLINE || kind == TL_TOKEN_SEMICOLON;
}

// Whether to give up: after so many errors, or without memory.
static bool is_over(const tl_parser *parser) {
  return parser->arena->failed || parser->is_stopped ||
         parser->diagnostics->total >= TL_DIAGNOSTICS_MAX;
}

static void recover(tl_parser *parser);

// A `{` on the way to the next statement: its statements are looked at too.
static void recover_block(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  bool is_block = !tl_parser_at_braced_record(parser) &&
                  (parser->pos == 0 || token[-1].kind != TL_TOKEN_DOT);
  if (is_block && parser->depth < TL_TREE_HEIGHT_MAX) {
    parser->panic = false;
    parser->depth++;
    tl_parse_block(parser);
    parser->depth--;
    parser->panic = true;
  } else if (token->other > parser->pos) {
    parser->pos = token->other;
    parser->kind = (tl_token_kind)tl_parser_token(parser)->kind;
    tl_parser_advance(parser);
  } else {
    tl_parser_advance(parser);
  }
}

// Goes on to the end of the statement that failed. Brackets between are
// passed over by tokens: newlines within them are no tokens, and a brace
// is parsed as a whole, so the first separator or `}` is ours.
static void recover(tl_parser *parser) {
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

tl_ast *tl_parse_program(tl_parser *parser, tl_token_kind end, uint32_t begin) {
  size_t mark = parser->scratch_used;
  uint32_t depth = parser->depth, highest = 0;
  skip_separators(parser);
  while (parser->kind != end && parser->kind != TL_TOKEN_END &&
         !is_over(parser)) {
    size_t kept = parser->scratch_used;
    tl_ast *statement = statement_with_end(parser, end);
    parser->scratch_used = kept;
    parser->depth = depth;
    if (!statement) {
      recover(parser);
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
    return fail_depth(parser, block->span);
  block->height = (uint16_t)(highest + 1);
  return block;
}

// --- Entry ---

static void release(tl_parser *parser) {
  tl_tokens_release(&parser->tokens, parser->arena);
  if (parser->scratch) {
    parser->arena->resize(parser->arena->context, parser->scratch,
                          parser->scratch_size, 0);
  }
}

static tl_ast *run(tl_parser *parser) {
  const tl_token *first = &parser->tokens.items[0];
  parser->kind = (tl_token_kind)first->kind;
  tl_ast *program = tl_parse_program(parser, TL_TOKEN_END, 0);
  bool is_sound = !parser->arena->failed && !parser->diagnostics->total;
  return is_sound ? program : NULL;
}

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

static bool has_lex_error(const tl_tokens *tokens) {
  for (uint32_t i = 0; i < tokens->count; i++) {
    if (tokens->items[i].kind == TL_TOKEN_ERROR &&
        tokens->items[i].code != TL_LEX_TRIPLE_STRING) {
      return true;
    }
  }
  return false;
}

// While a bracket is open what stands in it cannot be judged: more lines may
// make parameters of it. But a character that is none is wrong for good.
static tl_parse_status judge(tl_parser *parser, const tl_source *source) {
  if (!tl_lex(&parser->tokens, parser->arena, source, true)) {
    return TL_PARSE_NO_MEMORY;
  }
  if (parser->tokens.is_open) {
    return has_lex_error(&parser->tokens) ? TL_PARSE_ERROR
                                          : TL_PARSE_INCOMPLETE;
  }
  if (run(parser))
    return TL_PARSE_COMPLETE;
  if (parser->arena->failed)
    return TL_PARSE_NO_MEMORY;
  uint32_t count = parser->tokens.count;
  const tl_token *end = &parser->tokens.items[count - 1];
  bool is_joined = count > 1 && !(end->flags & TL_TOKEN_AFTER_NEWLINE) &&
                   tl_token_joins_next_line(end - 1);
  return parser->failed_at_end && is_joined ? TL_PARSE_INCOMPLETE
                                            : TL_PARSE_ERROR;
}

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
