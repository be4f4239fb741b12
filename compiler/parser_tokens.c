// What every part of the parser uses: the current token, nodes and their
// height, lists whose length is not known before, and reports.

#include "compiler/ast_walk.h"
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
uint32_t tl_parser_advance(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind == TL_TOKEN_NEWLINE) {
    parser->kind = (tl_token_kind)token->kind;
  } else if (token->kind != TL_TOKEN_END) {
    parser->pos++;
    parser->kind = kind_with_newline(token + 1);
  }
  return token->begin;
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

// For tokens whose first bytes tell what they are: r"…", """…""", 0x….
bool tl_token_begins(const tl_parser *parser, const tl_token *token,
                     const char *text) {
  size_t length = strlen(text);
  return token->end - token->begin >= length &&
         memcmp(parser->source->text + token->begin, text, length) == 0;
}

// The lexer has paired the brackets, so recovery can jump over a whole block
// instead of reading tokens whose meaning is no longer known.
void tl_parser_pass_brace(tl_parser *parser, uint32_t opening) {
  uint32_t closing = parser->tokens.items[opening].other;
  if (closing > parser->pos) {
    parser->pos = closing;
    parser->kind = TL_TOKEN_BRACE_END;
  }
  tl_parser_advance(parser);
}

tl_span tl_token_span(const tl_token *token) {
  return (tl_span){token->begin, token->end, token->begin};
}

// Called after the node's last token has been passed over.
tl_span tl_parser_span(const tl_parser *parser, uint32_t begin, uint32_t at) {
  uint32_t end = tl_parser_last(parser)->end;
  // A node without tokens, as an empty program, has an empty span.
  return (tl_span){begin, end > begin ? end : begin, at};
}

// --- Errors ---

// Whether a raw string before the current token, on the same line, ends behind
// a backslash and runs into what follows, as in r"say \"so\"": its writer meant
// it to go on. A ] behind it may end a list, unless a [ is open in the string.
static bool is_cut_short(const tl_parser *parser) {
  const char *text = parser->source->text;
  uint32_t next = tl_parser_token(parser)->begin;
  for (uint32_t i = parser->pos; i-- > 0;) {
    const tl_token *t = &parser->tokens.items[i];
    // An error's token may begin before it, with the string that is not closed.
    if (next > t->begin &&
        memchr(text + t->begin, '\n', next - t->begin) != NULL)
      return false;
    next = t->begin;
    if (t->kind == TL_TOKEN_STRING && text[t->begin] == 'r' &&
        text[t->end - 2] == '\\' && text[t->end] != 0 &&
        strchr(" \t\r\n,;:)}[+.=!", text[t->end]) == NULL &&
        (text[t->end] != ']' ||
         memchr(text + t->begin, '[', t->end - t->begin) != NULL))
      return true;
  }
  return false;
}

static void *fail(tl_parser *parser, tl_span span, const char *format,
                  va_list args) {
  // One cause makes one error; without memory none is reported.
  if (parser->panic || parser->arena->failed)
    return NULL;
  parser->panic = true;
  // The prompt asks whether the first error lay at the end of the text: then
  // more lines may mend it.
  if (!parser->diagnostics->total)
    parser->failed_at_end = tl_parser_token(parser)->kind == TL_TOKEN_END;
  // What is only counted needs no reason, which takes a look at the line.
  if (parser->diagnostics->count < TL_DIAGNOSTICS_MAX && is_cut_short(parser))
    tl_diagnose(parser->diagnostics, TALLY_ERR_SYNTAX, span,
                "a raw string ends at its first quotation mark, also behind a "
                "backslash: r\"\"\"…\"\"\" holds them");
  else
    tl_diagnose_v(parser->diagnostics, TALLY_ERR_SYNTAX, span, format, args);
  return NULL;
}

void *tl_parser_fail(tl_parser *parser, tl_span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(parser, span, format, args);
  va_end(args);
  return NULL;
}

void *tl_parser_fail_here(tl_parser *parser, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(parser, tl_token_span(tl_parser_token(parser)), format, args);
  va_end(args);
  return NULL;
}

// For forms of other languages at a place where Tally never has that token.
bool tl_parser_rejects(tl_parser *parser, tl_token_kind kind,
                       const char *message) {
  if (parser->kind != kind)
    return false;
  tl_parser_fail_here(parser, "%s", message);
  return true;
}

// Reports that the tree would be deeper than later stages can walk, and stops
// the parser: what follows is no better.
static void *fail_depth(tl_parser *parser, tl_span span) {
  parser->is_stopped = true;
  return tl_parser_fail(parser, span,
                        "nested too deeply: give parts of it names of their "
                        "own");
}

// --- Nodes ---

// Bytes of a node, which is as large as the payload of its kind: the trees of
// long array literals are mostly numbers.
static size_t node_size(tl_ast_kind kind) {
#define X(kind, text, type, member, ...) \
  [TL_AST_##kind] = offsetof(tl_ast, member) + sizeof(type),
  static const size_t sizes[] = {TL_AST_KINDS(X)};
#undef X
  return sizes[kind];
}

static bool find_height(tl_ast *child, void *highest) {
  if (child->height > *(uint16_t *)highest)
    *(uint16_t *)highest = child->height;
  return false;
}

// What a node adds to the height of its tree, by the stack that later stages
// take for it.
static unsigned weight_of(tl_ast_kind kind) {
  switch (kind) {
    case TL_AST_CALL:
      return 5;
    case TL_AST_FIELD:
      return 2;
    default:
      return 1;
  }
}

// Later stages recurse over the tree, so its height bounds their stack.
tl_ast *tl_parser_node(tl_parser *parser, const tl_ast *ast, uint32_t begin,
                       uint32_t at) {
  uint16_t highest = ast->height;
  tl_span span = tl_parser_span(parser, begin, at);
  tl_ast_each_child(ast, find_height, &highest);
  const unsigned height = highest + weight_of(ast->kind);
  if (height > TL_TREE_HEIGHT_MAX)
    return fail_depth(parser, span);
  size_t nbytes = node_size(ast->kind);
  tl_ast *node = tl_arena_alloc(parser->arena, nbytes);
  if (!node)
    return NULL;
  memcpy(node, ast, nbytes);
  node->height = (uint16_t)height;
  node->span = span;
  return node;
}

// Bounds the C stack by the same limit as the tree's height: brackets that add
// no node, as in ((((x)))), recurse too.
bool tl_parser_enter(tl_parser *parser, tl_nesting nesting) {
  parser->depth += nesting;
  if (parser->depth <= TL_TREE_HEIGHT_MAX)
    return true;
  fail_depth(parser, tl_token_span(tl_parser_token(parser)));
  return false;
}

// --- Lists ---

// The stack is bytes: items of all sizes share it.
bool tl_parser_push(tl_parser *parser, const void *item, size_t nbytes) {
  size_t needed = parser->scratch_used + nbytes;
  if (needed > parser->scratch_size &&
      !tl_arena_outside(parser->arena, &parser->scratch, &parser->scratch_size,
                        needed))
    return false;
  memcpy(parser->scratch + parser->scratch_used, item, nbytes);
  parser->scratch_used = needed;
  return true;
}

// Lists nest: an inner one is taken off the top before the outer one goes on.
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
