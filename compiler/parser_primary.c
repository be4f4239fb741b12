// Operands: names, literals and what stands in brackets.
//
// A parenthesis (rule 4 of the grammar) begins many things, which are
// distinguished without backtracking:
//
//   (a, b) => e   lambda, seen by the token behind the `)`
//   (+)           operator, seen by the next two tokens
//   (:)  (x: 1)   record, likewise
//   ()            list
//   (e …          parse e, then: `:` a record with a computed key,
//                 for/if a comprehension, `,` a list, `)` the expression

#include "compiler/parser_internal.h"

// --- Lists of expressions ---

// A node of the items that were pushed since [mark], closed by [closing].
static tl_ast *finish_items(tl_parser *parser, tl_ast_kind kind, size_t mark,
                            tl_token_kind closing, uint32_t opening) {
  uint32_t begin = parser->tokens.items[opening].begin;
  tl_ast node = {.kind = kind};
  if (!tl_parser_take(parser, mark, sizeof(tl_ast *), &node.items.items,
                      &node.items.count) ||
      !tl_parser_close(parser, closing, opening))
    return NULL;
  return tl_parser_node(parser, &node, begin, begin);
}

// An item of a list or an array: an expression or ...expression.
tl_ast *tl_parse_list_item(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  if (!tl_parser_accept(parser, TL_TOKEN_ELLIPSIS))
    return tl_parse_expr(parser);
  tl_ast node = {.kind = TL_AST_SPREAD,
                 .unary = {.operand = tl_parse_expr(parser)}};
  return node.unary.operand ? tl_parser_node(parser, &node, begin, begin)
                            : NULL;
}

// Pushes further items, from the comma behind the first on.
static bool push_rest(tl_parser *parser, tl_token_kind closing) {
  while (tl_parser_accept(parser, TL_TOKEN_COMMA)) {
    if (parser->kind == closing)
      return true;
    tl_ast *item = tl_parse_list_item(parser);
    // (a, b for x in xs)
    if (!item ||
        tl_parser_rejects(parser, TL_TOKEN_FOR,
                          "a comprehension has one item before `for`: put it "
                          "in parentheses, ((a, b) for x in xs)") ||
        !tl_parser_push(parser, &item, sizeof item))
      return false;
  }
  return true;
}

// A list or an array with [first] as its first item; NULL: it is empty.
static tl_ast *parse_items(tl_parser *parser, tl_ast_kind kind, tl_ast *first,
                           tl_token_kind closing, uint32_t opening) {
  size_t mark = parser->scratch_used;
  if (first && (!tl_parser_push(parser, &first, sizeof first) ||
                !push_rest(parser, closing)))
    return NULL;
  return finish_items(parser, kind, mark, closing, opening);
}

// --- Comprehensions ---

// `for names in value` or `if value`. The value is no lambda, and ends before
// the next clause.
static bool parse_clause(tl_parser *parser, tl_clause *clause) {
  uint32_t begin = tl_parser_token(parser)->begin;
  *clause = (tl_clause){.names = NULL};
  if (tl_parser_accept(parser, TL_TOKEN_FOR)) {
    if (!tl_parse_loop_names(parser, &clause->names, &clause->name_count))
      return false;
  } else {
    // At `if`, which has no names.
    tl_parser_advance(parser);
  }
  if (!tl_parser_enter(parser, TL_NESTING_EXPR))
    return false;
  clause->value = tl_parse_pipe(parser);
  parser->depth -= TL_NESTING_EXPR;
  clause->span = tl_parser_span(parser, begin, begin);
  return clause->value != NULL;
}

// Whether `for` or `if` stands here: the items before make a comprehension.
static bool at_clause(const tl_parser *parser) {
  return parser->kind == TL_TOKEN_FOR || parser->kind == TL_TOKEN_IF;
}

// A comprehension from its first clause on; [key] is NULL but for a record's.
static tl_ast *parse_comprehension(tl_parser *parser, tl_ast_kind kind,
                                   tl_ast *key, tl_ast *item,
                                   tl_token_kind closing, uint32_t opening) {
  uint32_t begin = parser->tokens.items[opening].begin;
  size_t mark = parser->scratch_used;
  tl_ast node = {.kind = kind, .comprehension = {.key = key, .item = item}};
  while (at_clause(parser)) {
    tl_clause clause;
    // (a if c else b)
    if (!parse_clause(parser, &clause) ||
        tl_parser_rejects(parser, TL_TOKEN_ELSE,
                          "a choice between values is written if c { a } else "
                          "{ b }") ||
        !tl_parser_push(parser, &clause, sizeof clause))
      return NULL;
  }
  if (!tl_parser_take(parser, mark, sizeof(tl_clause),
                      &node.comprehension.clauses, &node.comprehension.count) ||
      !tl_parser_close(parser, closing, opening))
    return NULL;
  return tl_parser_node(parser, &node, begin, begin);
}

// Reports (...row for row in rows): the clauses make one item in each
// iteration.
static bool report_spread_clause(tl_parser *parser, const tl_ast *first) {
  if (first->kind != TL_AST_SPREAD || !at_clause(parser))
    return false;
  tl_parser_fail(parser, first->span,
                 "a comprehension makes one item in each turn: two clauses go "
                 "over rows and their items, (v for row in rows for v in row)");
  return true;
}

// --- Arrays ---

// [items], or a comprehension if a clause follows the first item.
static tl_ast *parse_array(tl_parser *parser) {
  uint32_t opening = parser->pos;
  tl_ast *first = NULL;
  tl_parser_advance(parser);
  if (parser->kind != TL_TOKEN_BRACKET_END) {
    first = tl_parse_list_item(parser);
    if (!first || report_spread_clause(parser, first))
      return NULL;
  }
  if (first && at_clause(parser))
    return parse_comprehension(parser, TL_AST_ARRAY_FOR, NULL, first,
                               TL_TOKEN_BRACKET_END, opening);
  // [a:b] for a range, or a dictionary.
  if (tl_parser_rejects(parser, TL_TOKEN_COLON,
                        "`:` slices in an index, as in x[a:b]; a range is "
                        "a..b, and a record (x: 1)"))
    return NULL;
  return parse_items(parser, TL_AST_ARRAY, first, TL_TOKEN_BRACKET_END,
                     opening);
}

// --- Records ---

// Whether a token before a colon is a record's key itself: a name, a string, or
// a keyword, which is reported later. true and false are values.
static bool is_key(tl_token_kind kind) {
  return kind == TL_TOKEN_NAME || kind == TL_TOKEN_STRING ||
         (tl_token_infos[kind].is_word && kind != TL_TOKEN_TRUE &&
          kind != TL_TOKEN_FALSE);
}

// A key that is a name or a string, as a name.
static bool parse_key(tl_parser *parser, tl_entry *entry) {
  tl_ident ident;
  entry->key_span = tl_token_span(tl_parser_token(parser));
  if (tl_token_infos[parser->kind].is_word)
    return tl_parser_fail(parser, entry->key_span,
                          "`%s` is a keyword: as a key it is written \"%s\": …",
                          tl_token_infos[parser->kind].text,
                          tl_token_infos[parser->kind].text);
  // A string key has its bytes as they are; a name its normal form.
  if (parser->kind == TL_TOKEN_STRING
          ? !tl_parse_quoted(parser, &ident)
          : !tl_parse_ident(parser, &ident, "a key, as in (x: 1)"))
    return false;
  entry->key = ident.name;
  return true;
}

// A key that is an expression.
static bool parse_computed(tl_parser *parser, tl_entry *entry) {
  entry->computed = tl_parse_expr(parser);
  if (!entry->computed)
    return false;
  entry->key_span = entry->computed->span;
  return true;
}

// key: value. If its first key was parsed as an expression, [entry] has it
// already.
static bool parse_entry(tl_parser *parser, tl_entry *entry) {
  // {...r, x: 1} of other languages.
  if (tl_parser_rejects(parser, TL_TOKEN_ELLIPSIS,
                        "`...` spreads into lists, arrays and calls, not into "
                        "records"))
    return false;
  bool is_word =
      is_key(parser->kind) && tl_parser_peek(parser, 1) == TL_TOKEN_COLON;
  bool has_key =
      entry->computed != NULL ||
      (is_word ? parse_key(parser, entry) : parse_computed(parser, entry));
  if (!has_key ||
      !tl_parser_expect(parser, TL_TOKEN_COLON, "`:` after a record's key"))
    return false;
  if (tl_parser_rejects(parser, TL_TOKEN_COLON,
                        "a type `::` belongs to a parameter: fn f(x :: `…`) or "
                        "(x :: `…`) => …"))
    return false;
  entry->value = tl_parse_expr(parser);
  return entry->value != NULL;
}

// The key of a comprehension, which is an expression even if it is one word:
// as a constant it would be the same key in each iteration.
static tl_ast *key_of_iterations(tl_parser *parser, const tl_entry *entry,
                                 uint32_t at) {
  if (entry->computed)
    return entry->computed;
  // The token says whether the word was a name or a string.
  bool is_name = parser->tokens.items[at].kind == TL_TOKEN_NAME;
  tl_ast node = {.kind = TL_AST_NAME, .name = {entry->key}};
  if (!is_name) {
    node.kind = TL_AST_STRING;
    node.string = (tl_ast_string){entry->key->text, entry->key->nbytes};
  }
  tl_ast *key = tl_parser_node(parser, &node, entry->key_span.begin,
                               entry->key_span.begin);
  if (key)
    key->span = entry->key_span;
  return key;
}

// A record, or a comprehension of one: from its opening parenthesis on, or if
// the first key was parsed as an expression ([key]), from the colon.
static tl_ast *parse_record(tl_parser *parser, tl_ast *key, uint32_t opening) {
  uint32_t begin = parser->tokens.items[opening].begin;
  size_t mark = parser->scratch_used;
  tl_ast node = {.kind = TL_AST_RECORD};
  if (!key) {
    tl_parser_advance(parser);
    tl_parser_accept(parser, TL_TOKEN_COLON);  // (:)
  }
  for (bool is_first = true; parser->kind != TL_TOKEN_PAREN_END;
       is_first = false) {
    tl_entry entry = {.computed = is_first ? key : NULL};
    if (entry.computed)
      entry.key_span = key->span;
    if (!parse_entry(parser, &entry) ||
        (!is_first &&
         tl_parser_rejects(parser, TL_TOKEN_FOR,
                           "a comprehension has one entry before `for`: "
                           "(k: v for k, v in r)")))
      return NULL;
    // One entry and then a clause: a comprehension.
    if (is_first && at_clause(parser)) {
      key = key_of_iterations(parser, &entry, opening + 1);
      return key ? parse_comprehension(parser, TL_AST_RECORD_FOR, key,
                                       entry.value, TL_TOKEN_PAREN_END, opening)
                 : NULL;
    }
    if (!tl_parser_push(parser, &entry, sizeof entry))
      return NULL;
    if (!tl_parser_accept(parser, TL_TOKEN_COMMA))
      break;
  }
  if (!tl_parser_take(parser, mark, sizeof(tl_entry), &node.record.entries,
                      &node.record.count) ||
      !tl_parser_close(parser, TL_TOKEN_PAREN_END, opening))
    return NULL;
  return tl_parser_node(parser, &node, begin, begin);
}

// --- Parentheses (rule 4) ---

// Whether `(+)` stands here, an operator as a function.
static bool at_operator(const tl_parser *parser) {
  tl_token_kind kind = tl_parser_peek(parser, 1);
  return tl_token_infos[kind].level != TL_LEVEL_NONE &&
         tl_parser_peek(parser, 2) == TL_TOKEN_PAREN_END;
}

// An operator in parentheses. The few that stand for no function are reported.
static tl_ast *parse_operator(tl_parser *parser) {
  uint32_t begin = tl_parser_advance(parser);
  const tl_token *token = tl_parser_token(parser);
  const tl_token_info *info = &tl_token_infos[token->kind];
  if (token->kind == TL_TOKEN_NOT || token->kind == TL_TOKEN_DOTS ||
      token->kind == TL_TOKEN_RING || token->kind == TL_TOKEN_NOT_IN)
    return tl_parser_fail(parser, tl_token_span(token),
                          "`%s` does not stand for a function: write one, as "
                          "in x => not x",
                          info->text);
  tl_parser_advance(parser);
  tl_parser_advance(parser);
  tl_ast node = {.kind = TL_AST_OPERATOR, .op = (tl_operator)info->op};
  return tl_parser_node(parser, &node, begin, token->begin);
}

// Whether `(:)` or `(key:` stands here. A key that is another expression is
// seen later (finish_paren).
static bool at_record(const tl_parser *parser) {
  tl_token_kind first = tl_parser_peek(parser, 1);
  return tl_parser_peek(parser, 2) ==
             (first == TL_TOKEN_COLON ? TL_TOKEN_PAREN_END : TL_TOKEN_COLON) &&
         (first == TL_TOKEN_COLON || is_key(first));
}

// Reports (a = 1), a habit from calls and records elsewhere.
static bool report_equals(tl_parser *parser, const tl_ast *first) {
  if (parser->kind != TL_TOKEN_ASSIGN)
    return false;
  const char *name = "x";
  if (first->kind == TL_AST_NAME)
    name = first->name.name->text;
  tl_parser_fail_here(parser,
                      "`=` is no part of an expression: a record is written "
                      "(%s: …), and `==` compares",
                      name);
  return true;
}

// Behind `(` and an expression: what follows decides whether it is a record, a
// comprehension, a list or just parentheses.
static tl_ast *finish_paren(tl_parser *parser, tl_ast *first,
                            uint32_t opening) {
  if (report_spread_clause(parser, first))
    return NULL;
  if (parser->kind == TL_TOKEN_COLON && first->kind != TL_AST_SPREAD)
    return parse_record(parser, first, opening);
  if (at_clause(parser))
    return parse_comprehension(parser, TL_AST_LIST_FOR, NULL, first,
                               TL_TOKEN_PAREN_END, opening);
  if (parser->kind == TL_TOKEN_COMMA || first->kind == TL_AST_SPREAD)
    return parse_items(parser, TL_AST_LIST, first, TL_TOKEN_PAREN_END, opening);
  if (report_equals(parser, first) ||
      !tl_parser_close(parser, TL_TOKEN_PAREN_END, opening))
    return NULL;
  // Parentheses are no node, but some rules ask whether they were there.
  first->is_parenthesised = true;
  first->span.begin = parser->tokens.items[opening].begin;
  first->span.end = tl_parser_last(parser)->end;
  return first;
}

// Everything that begins with `(`.
static tl_ast *parse_paren(tl_parser *parser) {
  uint32_t opening = parser->pos;
  if (tl_parser_at_lambda(parser))
    return tl_parser_fail_here(
        parser,
        "a function (a, b) => … within an expression stands "
        "in parentheses");
  if (at_operator(parser))
    return parse_operator(parser);
  if (at_record(parser))
    return parse_record(parser, NULL, opening);
  tl_parser_advance(parser);
  // () is the empty list.
  if (parser->kind == TL_TOKEN_PAREN_END)
    return parse_items(parser, TL_AST_LIST, NULL, TL_TOKEN_PAREN_END, opening);
  tl_ast *first = tl_parse_list_item(parser);
  return first ? finish_paren(parser, first, opening) : NULL;
}

// --- All operands ---

// Reports that no expression begins here.
static tl_ast *report_no_operand(tl_parser *parser) {
  if (tl_parser_rejects(parser, TL_TOKEN_NOT,
                        "`not` binds loosely: within an expression it "
                        "stands in parentheses, (not x)"))
    return NULL;
  return tl_parser_unexpected(parser, "an expression");
}

// The first token decides; only a parenthesis needs more (parse_paren), and the
// `:` of a format, which begins nothing.
tl_ast *tl_parse_primary(tl_parser *parser) {
  static tl_parse_rule *const rules[TL_TOKEN_KIND_COUNT] = {
      [TL_TOKEN_NAME] = tl_parse_name,
      [TL_TOKEN_NUMBER] = tl_parse_number,
      [TL_TOKEN_STRING] = tl_parse_string,
      [TL_TOKEN_HEAD] = tl_parse_interpolated,
      [TL_TOKEN_TYPE] = tl_parse_type,
      [TL_TOKEN_TRUE] = tl_parse_constant,
      [TL_TOKEN_FALSE] = tl_parse_constant,
      [TL_TOKEN_NONE] = tl_parse_constant,
      [TL_TOKEN_PAREN] = parse_paren,
      [TL_TOKEN_BRACKET] = parse_array,
      [TL_TOKEN_BRACE] = tl_parse_block,
      [TL_TOKEN_FN] = tl_parse_fn,
      [TL_TOKEN_IF] = tl_parse_if,
      [TL_TOKEN_WHILE] = tl_parse_while,
      [TL_TOKEN_FOR] = tl_parse_for,
      [TL_TOKEN_TRY] = tl_parse_try};
  tl_parse_rule *rule = rules[parser->kind];
  bool begins = rule != NULL && !tl_parser_at_format(parser);
  return begins ? rule(parser) : report_no_operand(parser);
}
