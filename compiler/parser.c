// The two entrances of the parser: tl_parse lexes the text and runs the grammar
// over it. tl_parser_check does the same for the prompt and says whether more
// lines are wanted.

#include "compiler/parser.h"

#include "compiler/parser_internal.h"

// --- Entry ---

// Frees what the parser holds outside the arena: tokens and scratch.
static void release(tl_parser *parser) {
  tl_tokens_release(&parser->tokens, parser->arena);
  if (parser->scratch)
    parser->arena->resize(parser->arena->context, parser->scratch,
                          parser->scratch_size, 0);
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
  for (uint32_t i = 0; i < tokens->count; i++)
    if (tokens->items[i].kind == TL_TOKEN_ERROR &&
        tokens->items[i].code != TL_LEX_TRIPLE_STRING)
      return true;
  return false;
}

// Whether the last line that is not blank is a pragma: the statement that it
// stands above is still to come.
static bool ends_in_pragma(const tl_source *source) {
  uint32_t end = source->nbytes;
  while (end > 0 && strchr(" \t\r\n", source->text[end - 1]) != NULL) end--;
  uint32_t begin = end;
  while (begin > 0 && source->text[begin - 1] != '\n') begin--;
  while (begin < end && strchr(" \t", source->text[begin]) != NULL) begin++;
  return end - begin >= 2 && memcmp(source->text + begin, "#:", 2) == 0;
}

// The status of a text that is at least UTF-8. While a bracket is open, what
// stands in it cannot be judged: more lines may make parameters of it. But a
// character that begins no token is wrong for good.
static tl_parse_status judge(tl_parser *parser, const tl_source *source) {
  if (!tl_lex(&parser->tokens, parser->arena, source, true))
    return TL_PARSE_NO_MEMORY;
  // An unmatched bracket or an unfinished """string.
  if (parser->tokens.is_open)
    return has_lex_error(&parser->tokens) ? TL_PARSE_ERROR
                                          : TL_PARSE_INCOMPLETE;
  if (ends_in_pragma(source))
    return TL_PARSE_INCOMPLETE;
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
  bool is_joined = count > 1 && tl_token_joins_next_line(end - 1);
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
  if (tl_source_open(&source, "", text, nbytes, &bad_offset) == TL_SOURCE_OK) {
    tl_parser parser = {.arena = &arena,
                        .names = &names,
                        .source = &source,
                        .diagnostics = &diagnostics};
    status = judge(&parser, &source);
    release(&parser);
  }
  tl_arena_close(&arena);
  return status;
}
