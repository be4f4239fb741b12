// Operands: names, literals and what stands in brackets.

#include <string.h>

#include "compiler/parser_internal.h"

bool tl_parse_ident(tl_parser *parser, tl_ident *out, const char *what) {
  const tl_token *token = tl_parser_token(parser);
  const char *text = parser->source->text + token->begin;
  size_t nbytes = token->end - token->begin;
  if (parser->kind != TL_TOKEN_NAME) {
    if (tl_token_infos[parser->kind].is_word) {
      tl_parser_fail(parser, tl_token_span(token),
                     "`%s` is a keyword and cannot be %s",
                     tl_token_infos[parser->kind].text, what);
    } else {
      tl_parser_unexpected(parser, what);
    }
    return false;
  }
  // The two names that are signs.
  if (nbytes == 2 && memcmp(text, "π", 2) == 0) {
    out->name = tl_names_get(parser->names, "pi", 2);
  } else if (nbytes == 3 && memcmp(text, "∞", 3) == 0) {
    out->name = tl_names_get(parser->names, "inf", 3);
  } else {
    out->name = tl_names_get_nfc(parser->names, text, nbytes);
  }
  out->span = tl_token_span(token);
  tl_parser_advance(parser);
  return out->name != NULL;
}

static tl_ast *parse_name(tl_parser *parser) {
  tl_ident ident;
  if (tl_parser_peek(parser, 1) == TL_TOKEN_ARROW) {
    return tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                          "a function x => … within an expression stands in "
                          "parentheses");
  }
  if (!tl_parse_ident(parser, &ident, "a name"))
    return NULL;
  tl_ast *node =
      tl_parser_node(parser, TL_AST_NAME, ident.span.begin, ident.span.begin);
  if (node)
    node->name.name = ident.name;
  return node;
}

static tl_ast *parse_constant(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  bool is_none = token->kind == TL_TOKEN_NONE;
  tl_parser_advance(parser);
  tl_ast *node = tl_parser_node(parser, is_none ? TL_AST_NONE : TL_AST_BOOL,
                                token->begin, token->begin);
  if (node && !is_none)
    node->boolean.value = token->kind == TL_TOKEN_TRUE;
  return node;
}

// --- Lists of expressions ---

static bool adopt_all(tl_parser *parser, tl_ast *node) {
  if (!node)
    return false;
  for (uint32_t i = 0; i < node->items.count; i++) {
    if (!tl_parser_adopt(parser, node, node->items.items[i]))
      return false;
  }
  return true;
}

// The items pushed since [mark], closed by [closing].
static tl_ast *finish_items(tl_parser *parser, tl_ast_kind kind, size_t mark,
                            tl_token_kind closing, uint32_t opening) {
  uint32_t begin = parser->tokens.items[opening].begin;
  tl_ast_items items;
  if (!tl_parser_take(parser, mark, sizeof(tl_ast *), &items.items,
                      &items.count) ||
      !tl_parser_close(parser, closing, opening)) {
    return NULL;
  }
  tl_ast *node = tl_parser_node(parser, kind, begin, begin);
  if (!node)
    return NULL;
  node->items = items;
  return adopt_all(parser, node) ? node : NULL;
}

// A clause after several items: (a, b for x in xs).
static bool report_late_clause(tl_parser *parser) {
  if (parser->kind != TL_TOKEN_FOR)
    return false;
  tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                 "a comprehension has one item before `for`: put it in "
                 "parentheses, ((a, b) for x in xs)");
  return true;
}

// Further items, from the comma after the first on.
static bool push_rest(tl_parser *parser, tl_token_kind closing) {
  while (tl_parser_accept(parser, TL_TOKEN_COMMA)) {
    if (parser->kind == closing)
      return true;
    tl_ast *item = tl_parse_expr(parser);
    if (!item || report_late_clause(parser) ||
        !tl_parser_push(parser, &item, sizeof item)) {
      return false;
    }
  }
  return true;
}

static tl_ast *parse_items(tl_parser *parser, tl_ast_kind kind, tl_ast *first,
                           tl_token_kind closing, uint32_t opening) {
  size_t mark = parser->scratch_used;
  if (first && !tl_parser_push(parser, &first, sizeof first))
    return NULL;
  if (first && !push_rest(parser, closing))
    return NULL;
  return finish_items(parser, kind, mark, closing, opening);
}

// --- Comprehensions ---

static bool parse_clause(tl_parser *parser, tl_clause *clause) {
  uint32_t begin = tl_parser_token(parser)->begin;
  *clause = (tl_clause){.names = NULL};
  if (tl_parser_accept(parser, TL_TOKEN_FOR)) {
    if (!tl_parse_loop_names(parser, &clause->names, &clause->name_count)) {
      return false;
    }
  } else {
    tl_parser_advance(parser);
  }
  clause->value = tl_parse_pipe(parser);
  clause->span = tl_parser_span(parser, begin, begin);
  return clause->value != NULL;
}

static bool at_clause(const tl_parser *parser) {
  return parser->kind == TL_TOKEN_FOR || parser->kind == TL_TOKEN_IF;
}

static bool report_ternary(tl_parser *parser) {
  if (parser->kind != TL_TOKEN_ELSE)
    return false;
  tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                 "a choice between values is written if c { a } else { b }");
  return true;
}

static tl_ast *parse_comprehension(tl_parser *parser, tl_ast_kind kind,
                                   tl_ast *item, tl_token_kind closing,
                                   uint32_t opening) {
  uint32_t begin = parser->tokens.items[opening].begin;
  size_t mark = parser->scratch_used;
  tl_ast_comprehension out = {.item = item};
  while (at_clause(parser)) {
    tl_clause clause;
    if (!parse_clause(parser, &clause) || report_ternary(parser) ||
        !tl_parser_push(parser, &clause, sizeof clause)) {
      return NULL;
    }
  }
  if (!tl_parser_take(parser, mark, sizeof(tl_clause), &out.clauses,
                      &out.count) ||
      !tl_parser_close(parser, closing, opening)) {
    return NULL;
  }
  tl_ast *node = tl_parser_node(parser, kind, begin, begin);
  if (!tl_parser_adopt(parser, node, item))
    return NULL;
  node->comprehension = out;
  for (uint32_t i = 0; i < out.count; i++) {
    if (!tl_parser_adopt(parser, node, out.clauses[i].value))
      return NULL;
  }
  return node;
}

// --- Arrays ---

static tl_ast *parse_array(tl_parser *parser) {
  uint32_t opening = parser->pos;
  tl_ast *first = NULL;
  tl_parser_advance(parser);
  if (parser->kind != TL_TOKEN_BRACKET_END) {
    first = tl_parse_expr(parser);
    if (!first)
      return NULL;
  }
  if (first && at_clause(parser)) {
    return parse_comprehension(parser, TL_AST_ARRAY_FOR, first,
                               TL_TOKEN_BRACKET_END, opening);
  }
  if (parser->kind == TL_TOKEN_COLON) {
    return tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                          "`:` slices in an index, as in x[a:b]; a range is "
                          "a..b, and a record (x: 1)");
  }
  return parse_items(parser, TL_AST_ARRAY, first, TL_TOKEN_BRACKET_END,
                     opening);
}

// --- Records ---

static bool parse_key(tl_parser *parser, tl_entry *entry) {
  entry->key_span = tl_token_span(tl_parser_token(parser));
  if (parser->kind == TL_TOKEN_STRING) {
    uint32_t nbytes;
    const char *text = tl_parse_string_text(parser, &nbytes);
    if (!text)
      return false;
    entry->key = tl_names_get(parser->names, text, nbytes);
    return entry->key != NULL;
  }
  if (tl_token_infos[parser->kind].is_word) {
    tl_parser_fail(parser, entry->key_span,
                   "`%s` is a keyword: as a key it is written \"%s\": …",
                   tl_token_infos[parser->kind].text,
                   tl_token_infos[parser->kind].text);
    return false;
  }
  tl_ident ident;
  if (!tl_parse_ident(parser, &ident, "a key, as in (x: 1)"))
    return false;
  entry->key = ident.name;
  return true;
}

static bool parse_entry(tl_parser *parser, tl_entry *entry) {
  *entry = (tl_entry){.key = NULL};
  if (parser->kind == TL_TOKEN_ELLIPSIS) {
    tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                   "`...` spreads into calls alone");
    return false;
  }
  if (!parse_key(parser, entry) ||
      !tl_parser_expect(parser, TL_TOKEN_COLON, "`:` after a record's key")) {
    return false;
  }
  if (parser->kind == TL_TOKEN_COLON) {
    tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                   "a type `::` belongs to a parameter: fn f(x :: `…`) or "
                   "(x :: `…`) => …");
    return false;
  }
  entry->value = tl_parse_expr(parser);
  return entry->value != NULL;
}

static tl_ast *parse_record(tl_parser *parser) {
  uint32_t opening = parser->pos, begin = tl_parser_token(parser)->begin;
  size_t mark = parser->scratch_used;
  tl_ast_record record;
  tl_parser_advance(parser);
  if (parser->kind == TL_TOKEN_COLON)
    tl_parser_advance(parser);  // (:)
  while (parser->kind != TL_TOKEN_PAREN_END) {
    tl_entry entry;
    if (!parse_entry(parser, &entry) ||
        !tl_parser_push(parser, &entry, sizeof entry)) {
      return NULL;
    }
    if (!tl_parser_accept(parser, TL_TOKEN_COMMA))
      break;
  }
  if (!tl_parser_take(parser, mark, sizeof(tl_entry), &record.entries,
                      &record.count) ||
      !tl_parser_close(parser, TL_TOKEN_PAREN_END, opening)) {
    return NULL;
  }
  tl_ast *node = tl_parser_node(parser, TL_AST_RECORD, begin, begin);
  if (!node)
    return NULL;
  node->record = record;
  for (uint32_t i = 0; i < record.count; i++) {
    if (!tl_parser_adopt(parser, node, record.entries[i].value))
      return NULL;
  }
  return node;
}

// --- Parentheses (rule 4) ---

// A `(` whose `)` is followed by `=>`, or NAME and `=>`.
bool tl_parser_at_lambda(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind == TL_TOKEN_NAME) {
    return tl_parser_peek(parser, 1) == TL_TOKEN_ARROW;
  }
  if (parser->kind != TL_TOKEN_PAREN || token->other <= parser->pos) {
    return false;
  }
  return tl_parser_peek(parser, token->other + 1 - parser->pos) ==
         TL_TOKEN_ARROW;
}

static bool at_operator(const tl_parser *parser) {
  tl_token_kind kind = tl_parser_peek(parser, 1);
  return tl_token_infos[kind].level != TL_LEVEL_NONE &&
         tl_parser_peek(parser, 2) == TL_TOKEN_PAREN_END;
}

static tl_ast *parse_operator(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_parser_advance(parser);
  const tl_token *token = tl_parser_token(parser);
  const tl_token_info *info = &tl_token_infos[token->kind];
  if (token->kind == TL_TOKEN_NOT || token->kind == TL_TOKEN_DOTS ||
      token->kind == TL_TOKEN_RING || token->kind == TL_TOKEN_NOT_IN) {
    return tl_parser_fail(parser, tl_token_span(token),
                          "`%s` does not stand for a function: write one, as "
                          "in x => not x",
                          info->text);
  }
  tl_parser_advance(parser);
  tl_parser_advance(parser);
  tl_ast *node = tl_parser_node(parser, TL_AST_OPERATOR, begin, token->begin);
  if (node)
    node->op.op = (tl_operator)info->op;
  return node;
}

static bool is_key(tl_token_kind kind) {
  return kind == TL_TOKEN_NAME || kind == TL_TOKEN_STRING ||
         tl_token_infos[kind].is_word;
}

static bool at_record(const tl_parser *parser) {
  tl_token_kind first = tl_parser_peek(parser, 1);
  tl_token_kind second = tl_parser_peek(parser, 2);
  if (first == TL_TOKEN_COLON)
    return second == TL_TOKEN_PAREN_END;
  return is_key(first) && second == TL_TOKEN_COLON;
}

// (a = 1): a habit from calls and records elsewhere.
static bool report_equals(tl_parser *parser, const tl_ast *first) {
  if (parser->kind != TL_TOKEN_ASSIGN)
    return false;
  const char *name = "x";
  if (first->kind == TL_AST_NAME)
    name = first->name.name->text;
  tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                 "`=` is no part of an expression: a record is written "
                 "(%s: …), and `==` compares",
                 name);
  return true;
}

// After `(` and an expression.
static tl_ast *finish_paren(tl_parser *parser, tl_ast *first,
                            uint32_t opening) {
  if (at_clause(parser)) {
    return parse_comprehension(parser, TL_AST_LIST_FOR, first,
                               TL_TOKEN_PAREN_END, opening);
  }
  if (parser->kind == TL_TOKEN_COMMA) {
    return parse_items(parser, TL_AST_LIST, first, TL_TOKEN_PAREN_END, opening);
  }
  if (report_equals(parser, first) ||
      !tl_parser_close(parser, TL_TOKEN_PAREN_END, opening)) {
    return NULL;
  }
  first->is_parenthesised = true;
  first->span.begin = parser->tokens.items[opening].begin;
  first->span.end = tl_parser_last(parser)->end;
  return first;
}

static tl_ast *parse_paren(tl_parser *parser) {
  uint32_t opening = parser->pos;
  if (tl_parser_at_lambda(parser)) {
    return tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                          "a function (a, b) => … within an expression stands "
                          "in parentheses");
  }
  if (at_operator(parser))
    return parse_operator(parser);
  if (at_record(parser))
    return parse_record(parser);
  tl_parser_advance(parser);
  if (parser->kind == TL_TOKEN_PAREN_END) {
    return parse_items(parser, TL_AST_LIST, NULL, TL_TOKEN_PAREN_END, opening);
  }
  if (parser->kind == TL_TOKEN_ELLIPSIS) {
    return tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                          "`...` spreads into calls alone: concat((a, b)) "
                          "joins");
  }
  tl_ast *first = tl_parse_expr(parser);
  return first ? finish_paren(parser, first, opening) : NULL;
}

// --- All operands ---

static tl_ast *report_no_operand(tl_parser *parser) {
  if (parser->kind == TL_TOKEN_NOT) {
    return tl_parser_fail(parser, tl_token_span(tl_parser_token(parser)),
                          "`not` binds loosely: within an expression it "
                          "stands in parentheses, (not x)");
  }
  return tl_parser_unexpected(parser, "an expression");
}

tl_ast *tl_parse_primary(tl_parser *parser) {
  switch (parser->kind) {
    case TL_TOKEN_NAME:
      return parse_name(parser);
    case TL_TOKEN_NUMBER:
      return tl_parse_number(parser);
    case TL_TOKEN_STRING:
      return tl_parse_string(parser);
    case TL_TOKEN_HEAD:
      return tl_parse_interpolated(parser);
    case TL_TOKEN_TYPE:
      return tl_parse_type(parser);
    case TL_TOKEN_TRUE:
    case TL_TOKEN_FALSE:
    case TL_TOKEN_NONE:
      return parse_constant(parser);
    case TL_TOKEN_PAREN:
      return parse_paren(parser);
    case TL_TOKEN_BRACKET:
      return parse_array(parser);
    case TL_TOKEN_BRACE:
      return tl_parse_block(parser);
    case TL_TOKEN_FN:
      return tl_parse_fn(parser);
    case TL_TOKEN_IF:
      return tl_parse_if(parser);
    case TL_TOKEN_WHILE:
      return tl_parse_while(parser);
    case TL_TOKEN_FOR:
      return tl_parse_for(parser);
    case TL_TOKEN_TRY:
      return tl_parse_try(parser);
    default:
      return report_no_operand(parser);
  }
}
