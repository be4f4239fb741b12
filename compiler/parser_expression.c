// Expressions, from lambdas down to powers. Binary levels climb by precedence
// in one function, which keeps the C stack flat:
//
//   tl_parse_expr    lambda, or
//   tl_parse_pipe    value |> stage |> stage
//   parse_level      or, and, not, comparisons, .., bits, sums, products
//   parse_unary      signs
//   parse_power      **
//   parse_compose    ∘
//   tl_parse_postfix (parser_postfix.c)

#include "compiler/parser_internal.h"

// A node over two operands; NULL after a report or without memory, and where
// there is no right one, which was reported.
static tl_ast *make_binary(tl_parser *parser, tl_ast_kind kind, tl_operator op,
                           tl_ast *left, tl_ast *right, uint32_t at) {
  tl_ast node = {.kind = kind, .binary = {op, left, right}};
  return right ? tl_parser_node(parser, &node, left->span.begin, at) : NULL;
}

// The same over one operand.
static tl_ast *make_unary(tl_parser *parser, tl_ast_kind kind, tl_operator op,
                          tl_ast *operand, uint32_t at) {
  tl_ast node = {.kind = kind, .unary = {op, operand}};
  return operand ? tl_parser_node(parser, &node, at, at) : NULL;
}

// --- Composition, powers, signs ---

// f ∘ g ∘ h, left to right: composition binds tighter than a power.
static tl_ast *parse_compose(tl_parser *parser) {
  tl_ast *left = tl_parse_postfix(parser);
  while (left && parser->kind == TL_TOKEN_RING) {
    uint32_t at = tl_parser_advance(parser);
    // Operands of ∘ may have calls and indices, but no signs.
    left = make_binary(parser, TL_AST_COMPOSE, TL_OPERATOR_COMPOSE, left,
                       tl_parse_postfix(parser), at);
  }
  return left;
}

static tl_ast *parse_unary(tl_parser *parser);

// base ** exponent. The exponent is read as an operand with signs, so powers
// are right-associative and 2 ** -1 needs no parentheses.
static tl_ast *parse_power(tl_parser *parser) {
  tl_ast *base = parse_compose(parser);
  if (!base || parser->kind != TL_TOKEN_STARS)
    return base;
  uint32_t at = tl_parser_token(parser)->begin;
  // Powers recurse to the right, so their depth counts.
  if (!tl_parser_enter(parser, TL_NESTING_SIGN))
    return NULL;
  tl_parser_advance(parser);
  tl_ast *exponent = parse_unary(parser);
  parser->depth -= TL_NESTING_SIGN;
  return make_binary(parser, TL_AST_BINARY, TL_OPERATOR_POWER, base, exponent,
                     at);
}

// The prefix operators that tokens are; 0: none.
static const tl_operator prefixes[TL_TOKEN_KIND_COUNT] = {
    [TL_TOKEN_MINUS] = TL_OPERATOR_NEGATE,
    [TL_TOKEN_PLUS] = TL_OPERATOR_PLUS,
    [TL_TOKEN_TILDE] = TL_OPERATOR_INVERT,
    [TL_TOKEN_ROOT] = TL_OPERATOR_SQRT,
};

// An operand with signs before it: -x ** 2 is -(x ** 2).
static tl_ast *parse_signs(tl_parser *parser) {
  tl_operator op = prefixes[parser->kind];
  uint32_t at = tl_parser_token(parser)->begin;
  if (op == 0)
    return parse_power(parser);
  if (!tl_parser_enter(parser, TL_NESTING_SIGN))
    return NULL;
  tl_parser_advance(parser);
  tl_ast *operand = parse_signs(parser);
  parser->depth -= TL_NESTING_SIGN;
  // A literal of uint64 has no negative value, which would come out positive.
  if (op == TL_OPERATOR_NEGATE && operand && operand->kind == TL_AST_INT &&
      operand->integer > (uint64_t)INT64_MAX + 1)
    return tl_parser_fail(parser, operand->span,
                          "this number with its minus does not fit int64, "
                          "whose smallest is -9223372036854775808");
  return make_unary(parser, TL_AST_UNARY, op, operand, at);
}

// The operand of an operator: behind that of x++ the expression would go on in
// the next line.
static tl_ast *parse_unary(tl_parser *parser) {
  return tl_parser_report_increment(parser) ? NULL : parse_signs(parser);
}

// --- Binary levels ---

// The source of an expression for a message, or … if it is long.
static const char *quote(tl_parser *parser, const tl_ast *ast) {
  return tl_parser_quote(parser, ast->span.begin, ast->span.end, "…");
}

static bool is_bitwise(const tl_ast *ast) {
  return ast->kind == TL_AST_BINARY && !ast->is_parenthesised &&
         (ast->binary.op == TL_OPERATOR_BIT_AND ||
          ast->binary.op == TL_OPERATOR_BIT_OR);
}

static tl_ast *parse_level(tl_parser *parser, tl_level lowest);

// The level of the binary operator that stands here, or NONE. `not` counts as
// a comparison, since behind an operand it must begin `not in`.
static tl_level current_level(const tl_parser *parser) {
  tl_level level = (tl_level)tl_token_infos[parser->kind].level;
  if (level == TL_LEVEL_NOT)
    return TL_LEVEL_COMPARE;
  return level > TL_LEVEL_PRODUCT ? TL_LEVEL_NONE : level;
}

// Reports a second comparison, `0 <= i < n`, with what to write instead. For
// `a > 0 & b > 0` the reason is another: & binds tighter than >.
static void *report_chain(tl_parser *parser, const tl_ast *first) {
  const tl_token *token = tl_parser_token(parser);
  tl_span span = tl_token_span(token);
  const tl_ast *middle = first->binary.right;
  const char *op = tl_operator_text(first->binary.op);
  const char *op2 = tl_token_infos[token->kind].text;
  // Read on to the last operand, so that the message can show the whole of what
  // was meant.
  tl_parser_advance(parser);
  if (token->kind == TL_TOKEN_NOT) {
    op2 = "not in";
    tl_parser_accept(parser, TL_TOKEN_IN);
  }
  const tl_ast *last = parse_level(parser, TL_LEVEL_RANGE);
  if (!last)
    return NULL;
  const char *left = quote(parser, first->binary.left);
  if (is_bitwise(middle))
    return tl_parser_fail(
        parser, middle->span,
        "`%s` binds tighter than comparisons: write "
        "(%s %s %s) %s (%s %s %s)",
        tl_operator_text(middle->binary.op), left, op,
        quote(parser, middle->binary.left), tl_operator_text(middle->binary.op),
        quote(parser, middle->binary.right), op2, quote(parser, last));
  const char *shared = quote(parser, middle);
  return tl_parser_fail(parser, span,
                        "comparisons are not chained: write %s %s %s and "
                        "%s %s %s",
                        left, op, shared, shared, op2, quote(parser, last));
}

// Whether the left operand of a comparison is ¬ a without parentheses: `¬ a ==
// b` means (¬ a) == b, which nobody expects who writes ¬. Written as ~ it is
// let through.
static bool is_misread_not(const tl_parser *parser, const tl_ast *left) {
  const char *sign = parser->source->text + left->span.begin;
  return left->kind == TL_AST_UNARY && !left->is_parenthesised &&
         left->unary.op == TL_OPERATOR_INVERT && *sign == '\xc2';
}

// Proposes both readings, since only the author knows which was meant: `not`
// for one bool, ¬(…) item by item.
static void *report_misread_not(tl_parser *parser, const tl_ast *compare) {
  const tl_ast *negated = compare->binary.left;
  const char *operand = quote(parser, negated->unary.operand);
  const char *op = tl_operator_text(compare->binary.op);
  const char *right = quote(parser, compare->binary.right);
  return tl_parser_fail(parser, negated->span,
                        "`¬` binds tighter than `%s`: write not %s %s %s, or "
                        "¬(%s %s %s) for arrays",
                        op, operand, op, right, operand, op, right);
}

// A comparison from its right operand on. Comparisons do not associate.
static tl_ast *finish_compare(tl_parser *parser, tl_ast *left, tl_operator op,
                              uint32_t at) {
  tl_ast *right = parse_level(parser, TL_LEVEL_RANGE);
  tl_ast *node = make_binary(parser, TL_AST_COMPARE, op, left, right, at);
  if (!node)
    return NULL;
  // Reported behind the right side, so that the message can quote it.
  if (is_misread_not(parser, left))
    return report_misread_not(parser, node);
  if (current_level(parser) == TL_LEVEL_COMPARE)
    return report_chain(parser, node);
  return node;
}

// A comparison, at its operator, which may be `not in`.
static tl_ast *parse_compare(tl_parser *parser, tl_ast *left) {
  const tl_token *token = tl_parser_token(parser);
  tl_operator op = (tl_operator)tl_token_infos[parser->kind].op;
  tl_parser_advance(parser);
  if (token->kind == TL_TOKEN_NOT) {
    op = TL_OPERATOR_NOT_IN;
    if (parser->kind != TL_TOKEN_IN)
      return tl_parser_fail(parser, tl_token_span(token),
                            "after an operand `not` must be followed by `in`; "
                            "`!=` is unequal");
    tl_parser_advance(parser);
  }
  return finish_compare(parser, left, op, token->begin);
}

// start..stop [by step], at the points. `by` is a keyword only here.
static tl_ast *parse_range(tl_parser *parser, tl_ast *start) {
  uint32_t at = tl_parser_advance(parser);
  tl_ast *stop = parse_level(parser, TL_LEVEL_BIT_OR);
  if (!stop)
    return NULL;
  tl_ast *step = NULL;
  if (parser->kind == TL_TOKEN_NAME &&
      tl_token_is(parser, tl_parser_token(parser), "by")) {
    tl_parser_advance(parser);
    step = parse_level(parser, TL_LEVEL_BIT_OR);
    if (!step)
      return NULL;
  }
  // a..b..s of other languages.
  if (tl_parser_rejects(parser, TL_TOKEN_DOTS,
                        "a range has two ends; a step is written a..b by s"))
    return NULL;
  tl_ast node = {.kind = TL_AST_RANGE, .range = {start, stop, step}};
  return tl_parser_node(parser, &node, start->span.begin, at);
}

// `and` and `or` decide what runs, so they are kinds of their own.
static tl_ast_kind kind_of_level(tl_level level) {
  if (level == TL_LEVEL_OR)
    return TL_AST_OR;
  if (level == TL_LEVEL_AND)
    return TL_AST_AND;
  return TL_AST_BINARY;
}

// One operator of [level], which stands here, and its right operand.
static tl_ast *parse_operator(tl_parser *parser, tl_ast *left, tl_level level) {
  const tl_token_info *info = &tl_token_infos[parser->kind];
  uint32_t at = tl_parser_token(parser)->begin;
  if (level == TL_LEVEL_NOT || level == TL_LEVEL_COMPARE)
    return parse_compare(parser, left);
  if (level == TL_LEVEL_RANGE)
    return parse_range(parser, left);
  tl_parser_advance(parser);
  // Tighter than this level only: a - b - c is (a - b) - c.
  tl_ast *right = parse_level(parser, level + 1);
  return make_binary(parser, kind_of_level(level), (tl_operator)info->op, left,
                     right, at);
}

// `not` before an operand, which may be another `not` or a comparison.
static tl_ast *parse_not(tl_parser *parser) {
  uint32_t at = tl_parser_token(parser)->begin;
  if (!tl_parser_enter(parser, TL_NESTING_NOT))
    return NULL;
  tl_parser_advance(parser);
  tl_ast *operand = parse_level(parser, TL_LEVEL_NOT);
  parser->depth -= TL_NESTING_NOT;
  return make_unary(parser, TL_AST_NOT, TL_OPERATOR_NOT, operand, at);
}

// Precedence climbing: an operand, and then all operators that
// bind at least as tightly as [lowest]. Its right operand takes those that
// bind tighter than the operator, so equal levels associate to the left.
static tl_ast *parse_level(tl_parser *parser, tl_level lowest) {
  // `not` binds looser than a comparison, so it is no operand of one.
  bool is_not = parser->kind == TL_TOKEN_NOT && lowest <= TL_LEVEL_NOT;
  tl_ast *left = is_not ? parse_not(parser) : parse_unary(parser);
  while (left) {
    tl_level level = current_level(parser);
    if (level == TL_LEVEL_NONE || level < lowest)
      break;
    left = parse_operator(parser, left, level);
  }
  return left;
}

// --- Pipes ---

// Rule 7: if a stage ends in a call, the value goes before its arguments, so x
// |> f(2) is f(x, 2); else the stage is called with it.
static tl_ast *apply_stage(tl_parser *parser, tl_ast *value, tl_ast *stage) {
  tl_ast_call call = {.callee = stage};
  if (stage->kind == TL_AST_CALL && !stage->is_parenthesised)
    call = stage->call;
  tl_argument *all =
      TL_ARENA_ARRAY(parser->arena, tl_argument, (size_t)call.count + 1);
  if (!all)
    return NULL;
  all[0] = (tl_argument){
      .kind = TL_ARGUMENT_POSITIONAL, .span = value->span, .value = value};
  for (uint32_t i = 0; i < call.count; i++) all[i + 1] = call.arguments[i];
  tl_ast node = {.kind = TL_AST_CALL,
                 .call = {call.callee, all, call.count + 1, true}};
  return tl_parser_node(parser, &node, value->span.begin, call.callee->span.at);
}

// Pipes are looser than all binary operators; a stage is an operand.
tl_ast *tl_parse_pipe(tl_parser *parser) {
  tl_ast *value = parse_level(parser, TL_LEVEL_OR);
  while (value && parser->kind == TL_TOKEN_PIPE) {
    tl_parser_advance(parser);
    tl_ast *stage = parse_compose(parser);
    value = stage ? apply_stage(parser, value, stage) : NULL;
  }
  return value;
}

// A lambda extends as far as it can, so it stands at the front or in
// parentheses.
tl_ast *tl_parse_expr(tl_parser *parser) {
  if (!tl_parser_enter(parser, TL_NESTING_EXPR))
    return NULL;
  tl_ast *expr = tl_parser_at_lambda(parser) ? tl_parse_lambda(parser)
                                             : tl_parse_pipe(parser);
  parser->depth -= TL_NESTING_EXPR;
  return expr;
}
