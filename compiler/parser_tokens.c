// What every part of the parser uses: the current token, nodes and their
// height, lists whose length is not known before, and reports.

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "compiler/parser_internal.h"

// --- Tokens ---

const tl_token *tl_parser_token(const tl_parser *parser) {
  return &parser->tokens.items[parser->pos];
}

const tl_token *tl_parser_last(const tl_parser *parser) {
  return &parser->tokens.items[parser->pos ? parser->pos - 1 : 0];
}

// The token's kind, or NEWLINE if a newline that counts stands before it:
// newlines are flags of tokens and are never stored.
static tl_token_kind kind_with_newline(const tl_token *token) {
  bool is_after = token->flags & TL_TOKEN_AFTER_NEWLINE;
  return is_after ? TL_TOKEN_NEWLINE : (tl_token_kind)token->kind;
}

// Behind the end there is only END.
tl_token_kind tl_parser_peek(const tl_parser *parser, uint32_t ahead) {
  uint32_t index = parser->pos + ahead;
  if (index >= parser->tokens.count)
    return TL_TOKEN_END;
  return kind_with_newline(&parser->tokens.items[index]);
}

// Stays at END, so that no caller can run off the tokens.
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

// For words that are keywords only in one place, such as `by`.
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
  // A node without tokens, as an empty program, has an empty span.
  return (tl_span){begin, end > begin ? end : begin, at};
}

// --- Errors ---

// Formats twice: once to measure, once into the arena.
const char *tl_parser_format(tl_parser *parser, const char *format,
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
  // One cause makes one error; without memory none is reported.
  if (parser->panic || parser->arena->failed)
    return NULL;
  parser->panic = true;
  // The prompt asks whether the first error lay at the end of the text: then
  // more lines may mend it.
  if (!parser->diagnostics->total) {
    parser->failed_at_end = tl_parser_token(parser)->kind == TL_TOKEN_END;
  }
  va_list args;
  va_start(args, format);
  const char *text = tl_parser_format(parser, format, args);
  va_end(args);
  if (text) {
    tl_diagnose(parser->diagnostics, TL_DIAGNOSTIC_SYNTAX, span, "%s", text);
  }
  return NULL;
}

// --- Nodes ---

// Bytes of a node, which is as large as the payload of its kind: the trees of
// long array literals are mostly numbers.
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
  // A leaf, until it adopts children.
  node->height = 1;
  node->span = tl_parser_span(parser, begin, at);
  return node;
}

void *tl_parser_fail_depth(tl_parser *parser, tl_span span) {
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
  // Later stages recurse over the tree, so its height bounds their stack.
  if (child->height >= TL_TREE_HEIGHT_MAX) {
    tl_parser_fail_depth(parser, parent->span);
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
  tl_parser_fail_depth(parser, tl_token_span(tl_parser_token(parser)));
  return false;
}

// --- Lists ---

// Doubles the stack for lists in the making until [needed] bytes fit.
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

// The stack is bytes: items of all sizes share it.
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
  // The caller's pointer has a type of its own; copying its bytes keeps to the
  // rules of aliasing.
  memcpy(items_out, &items, sizeof items);
  *count_out = (uint32_t)(nbytes / item_size);
  // The stack is as it was at the mark.
  parser->scratch_used = mark;
  return true;
}
