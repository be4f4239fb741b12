// Statements: assignment in all its forms, definitions, imports and jumps.
//
// Whether an expression is a target is seen only at the `=` behind it. So the
// left side is parsed as an expression and then read again as a place
// (make_target), without going back in the text:
//
//   r.a[3], x = p       LIST (INDEX (FIELD r a) 3, NAME x)
//                       becomes targets PLACE r .a [3] and NAME x

#include "compiler/ast_walk.h"
#include "compiler/parser_internal.h"

// Whether nothing more of a statement can follow before this token.
static bool ends_statement(tl_token_kind kind) {
  return kind == TL_TOKEN_NEWLINE || kind == TL_TOKEN_SEMICOLON ||
         kind == TL_TOKEN_BRACE_END || kind == TL_TOKEN_END;
}

// --- Values ---

// A LIST of several values, from the comma behind the first on. A comma may
// follow the last: x, = y.
static tl_ast *finish_values(tl_parser *parser, tl_ast *first, size_t mark) {
  if (!tl_parser_push(parser, &first, sizeof first))
    return NULL;
  while (tl_parser_accept(parser, TL_TOKEN_COMMA)) {
    // A comma at the end: x, = y takes one item.
    if (ends_statement(parser->kind) || parser->kind == TL_TOKEN_ASSIGN)
      break;
    tl_ast *value = tl_parse_list_item(parser);
    if (!value || !tl_parser_push(parser, &value, sizeof value))
      return NULL;
  }
  tl_ast list = {.kind = TL_AST_LIST};
  return tl_parser_take(parser, mark, sizeof(tl_ast *), &list.items.items,
                        &list.items.count)
             ? tl_parser_node(parser, &list, first->span.begin,
                              first->span.begin)
             : NULL;
}

// One value, or several with commas between them, which make a list: the right
// side of `=`, what `return` gives, and the left side before it is known to be
// one.
static tl_ast *parse_values(tl_parser *parser) {
  size_t mark = parser->scratch_used;
  tl_ast *first = tl_parse_list_item(parser);
  if (!first)
    return NULL;
  // x = ...y: only a list can take the items.
  if (parser->kind != TL_TOKEN_COMMA && first->kind == TL_AST_SPREAD)
    return tl_parser_fail(parser, first->span,
                          "`...` stands among the items of a list or an array, "
                          "(...x, y) or [...x], or before arguments, f(...x)");
  if (parser->kind != TL_TOKEN_COMMA)
    return first;
  return finish_values(parser, first, mark);
}

// --- Targets: expressions, read again as places ---

static const char constant[] = "a constant is no target; `==` compares";

// What was probably meant by an assignment to such a node.
static const char *const no_targets[TL_AST_KIND_COUNT] = {
    [TL_AST_CALL] =
        "a call is no target: a function is defined as fn f(x) = e, an item is "
        "set by x[i] = e",
    [TL_AST_ARRAY] = "several targets are written without brackets: a, b = p",
    [TL_AST_RECORD] = "a record is no target: write x, y = r.x, r.y",
    [TL_AST_BOOL] = constant,
    [TL_AST_NONE] = constant,
    [TL_AST_INT] = constant,
    [TL_AST_FLOAT] = constant,
    [TL_AST_IMAGINARY] = constant,
    [TL_AST_STRING] = constant,
    [TL_AST_INTERPOLATED] = constant,
    [TL_AST_TYPE] = constant,
    [TL_AST_SELECT] = "a selection is no target: set one field at a time",
};

// Reports that an expression cannot be assigned. Returns false.
static bool report_target(tl_parser *parser, const tl_ast *ast) {
  const char *message = no_targets[ast->kind];
  return tl_parser_fail(parser, ast->span, "%s",
                        message
                            ? message
                            : "left of `=` stands a name, an index or a field; "
                              "`==` compares");
}

// The outermost step of a place: an index or a field.
static tl_ast_step step_of(const tl_ast *ast) {
  tl_ast_step step = {.span = ast->span};
  if (ast->kind == TL_AST_FIELD) {
    step.field = ast->field.field;
  } else {
    step.items = ast->index.items;
    step.count = ast->index.count;
  }
  return step;
}

// A PLACE from name[…].field …. In the tree the last step is the outermost
// node, so the steps are filled in from the end.
static bool make_place(tl_parser *parser, const tl_ast *ast, tl_target *out) {
  uint32_t count = 0;
  const tl_ast *base = ast;
  for (; tl_ast_object(base); base = tl_ast_object(base)) {
    // (a.b).c = 1 is no place: the parentheses make a value of a.b.
    if (base != ast && base->is_parenthesised)
      break;
    count++;
  }
  if (base->kind != TL_AST_NAME || (count && base->is_parenthesised))
    return report_target(parser, base);
  out->kind = TL_TARGET_PLACE;
  out->name = base->name.name;
  out->name_span = base->span;
  out->step_count = count;
  out->steps = TL_ARENA_ARRAY(parser->arena, tl_ast_step, count);
  if (!out->steps)
    return false;
  for (; count > 0; ast = tl_ast_object(ast))
    out->steps[--count] = step_of(ast);
  return true;
}

static bool make_target(tl_parser *parser, const tl_ast *ast, tl_target *out);

// A LIST of targets; one of them may be ...rest.
static bool make_target_list(tl_parser *parser, const tl_ast *ast,
                             tl_target *out) {
  if (!ast->items.count)
    return report_target(parser, ast);
  out->kind = TL_TARGET_LIST;
  out->count = ast->items.count;
  out->targets = TL_ARENA_ARRAY(parser->arena, tl_target, out->count);
  if (!out->targets)
    return false;
  const tl_ast *rest = NULL;
  for (uint32_t i = 0; i < out->count; i++) {
    const tl_ast *item = ast->items.items[i];
    // ...x takes what the other targets leave.
    bool is_rest = item->kind == TL_AST_SPREAD;
    if (!make_target(parser, is_rest ? item->unary.operand : item,
                     &out->targets[i]))
      return false;
    out->targets[i].is_rest = is_rest;
    if (is_rest && rest != NULL)
      return tl_parser_fail(
          parser, item->span,
          "one target takes the rest: there is ... before already");
    rest = is_rest ? item : rest;
  }
  return true;
}

// Reads an expression again as a target; false after a report.
static bool make_target(tl_parser *parser, const tl_ast *ast, tl_target *out) {
  *out = (tl_target){.kind = TL_TARGET_NAME, .span = ast->span};
  switch (ast->kind) {
    case TL_AST_NAME:
      out->name = ast->name.name;
      out->name_span = ast->span;
      return true;
    case TL_AST_INDEX:
    case TL_AST_FIELD:
      return make_place(parser, ast, out);
    case TL_AST_LIST:
      return make_target_list(parser, ast, out);
    default:
      return report_target(parser, ast);
  }
}

// --- Documentation ---

// Passes over the blanks, the ## and one blank at the start of a line; false
// if no such line begins at [at].
static bool skip_doc_marks(const char *text, uint32_t *at, uint32_t end) {
  while (*at < end && (text[*at] == ' ' || text[*at] == '\t')) (*at)++;
  if (end - *at < 2 || text[*at] != '#')
    return false;
  *at += 2;
  if (*at < end && text[*at] == ' ')
    (*at)++;
  return true;
}

// The text of the ## lines in [begin, end) without their signs, each but the
// last with its newline. NULL: no memory.
static char *read_doc(tl_parser *parser, uint32_t begin, uint32_t end,
                      uint32_t *nbytes) {
  const char *text = parser->source->text;
  // The text without the signs is no longer than the source.
  char *out = tl_arena_alloc(parser->arena, end - begin + 1);
  uint32_t length = 0;
  while (out && begin < end && skip_doc_marks(text, &begin, end)) {
    const char *line = memchr(text + begin, '\n', end - begin);
    uint32_t line_end = line ? (uint32_t)(line - text) : end;
    uint32_t next = line ? line_end + 1 : end;
    // A script with \r\n has the same documentation.
    if (line_end > begin && text[line_end - 1] == '\r')
      line_end--;
    if (length)
      out[length++] = '\n';
    memcpy(out + length, text + begin, line_end - begin);
    length += line_end - begin;
    begin = next;
  }
  *nbytes = length;
  return out;
}

// Reads the ## lines above [token] into [doc], if there are any; false when
// memory fails.
static bool take_doc(tl_parser *parser, const tl_token *token, const char **doc,
                     uint32_t *nbytes) {
  if (!(token->flags & TL_TOKEN_HAS_DOC))
    return true;
  *doc = read_doc(parser, token->other, token->begin, nbytes);
  return *doc != NULL;
}

// --- Assignment ---

// Reports `x = y = 3` with the names and the value that stand there.
static tl_ast *report_chain(tl_parser *parser, const tl_ast *left,
                            const tl_ast *middle) {
  tl_span span = tl_token_span(tl_parser_token(parser));
  // Read on, so that the message can quote the last value.
  tl_parser_advance(parser);
  const tl_ast *last = parse_values(parser);
  if (!last)
    return NULL;
  const char *first =
      tl_parser_quote(parser, left->span.begin, left->span.end, "a");
  const char *second =
      tl_parser_quote(parser, middle->span.begin, middle->span.end, "b");
  const char *value = "…";
  if (parser->kind != TL_TOKEN_ASSIGN)
    value = tl_parser_quote(parser, last->span.begin, last->span.end, "…");
  return tl_parser_fail(parser, span,
                        "an assignment is a statement of its own and has no "
                        "value: write two, %s = %s and then %s = %s",
                        second, value, first, second);
}

// An assignment at its `=`; [first] is the statement's first token, which has
// the documentation.
static tl_ast *parse_assign(tl_parser *parser, const tl_ast *left,
                            const tl_token *first) {
  uint32_t at = tl_parser_token(parser)->begin;
  tl_ast_assign assign = {.value = NULL};
  // Before the value: a wrong target is reported first.
  if (!make_target(parser, left, &assign.target))
    return NULL;
  tl_parser_advance(parser);
  assign.value = parse_values(parser);
  if (assign.value && parser->kind == TL_TOKEN_ASSIGN)
    return report_chain(parser, left, assign.value);
  if (!assign.value ||
      !take_doc(parser, first, &assign.doc, &assign.doc_nbytes))
    return NULL;
  // The tree that was read again as a target counts for the height.
  tl_ast node = {
      .kind = TL_AST_ASSIGN, .height = left->height, .assign = assign};
  return tl_parser_node(parser, &node, left->span.begin, at);
}

// get(r, k, fallback) before an update: the place r[k], with the rest in
// [update]; NULL for anything else.
static tl_ast *place_of_get(tl_parser *parser, const tl_ast *left,
                            tl_ast_assign *update) {
  const tl_ast_call *call = &left->call;
  if (left->kind != TL_AST_CALL || call->callee->kind != TL_AST_NAME ||
      strcmp(call->callee->name.name->text, "get") != 0 || call->count != 3 ||
      call->is_piped)
    return NULL;
  // Named or spread arguments make it an ordinary call, which is no target.
  for (uint32_t i = 0; i < 3; i++)
    if (call->arguments[i].kind != TL_ARGUMENT_POSITIONAL)
      return NULL;
  tl_ast_item *key = TL_ARENA_ARRAY(parser->arena, tl_ast_item, 1);
  if (!key)
    return NULL;
  *key = (tl_ast_item){.kind = TL_AST_ITEM_VALUE,
                       .span = call->arguments[1].value->span,
                       .value = call->arguments[1].value};
  tl_ast node = {.kind = TL_AST_INDEX,
                 .index = {call->arguments[0].value, key, 1}};
  tl_ast *place =
      tl_parser_node(parser, &node, left->span.begin, left->span.begin);
  if (!place)
    return NULL;
  place->span = left->span;
  // Whether `get` is the library's is known in lowering only
  // (tl_lower_place_update).
  update->fallback = call->arguments[2].value;
  update->getter = call->callee->name.name;
  return place;
}

// An update at its operator: target op= value.
static tl_ast *parse_update(tl_parser *parser, const tl_ast *left) {
  const tl_token *token = tl_parser_token(parser);
  tl_ast_assign update = {.op = (tl_operator)token->code};
  if (left->kind == TL_AST_LIST)
    return tl_parser_fail(parser, tl_token_span(token),
                          "an update has one target, not a list");
  const tl_ast *place = place_of_get(parser, left, &update);
  if (!make_target(parser, place ? place : left, &update.target))
    return NULL;
  tl_parser_advance(parser);
  update.value = tl_parse_expr(parser);
  if (!update.value)
    return NULL;
  tl_ast node = {
      .kind = TL_AST_UPDATE, .height = left->height, .assign = update};
  return tl_parser_node(parser, &node, left->span.begin, token->begin);
}

// An expression, or an assignment or update that begins with one.
static tl_ast *parse_values_or_assign(tl_parser *parser) {
  // The token that ## lines above the statement belong to.
  const tl_token *first = tl_parser_token(parser);
  tl_ast *left = parse_values(parser);
  if (!left)
    return NULL;
  if (parser->kind == TL_TOKEN_ASSIGN)
    return parse_assign(parser, left, first);
  if (parser->kind == TL_TOKEN_UPDATE)
    return parse_update(parser, left);
  return left;
}

// --- Definitions ---

// fn name(…) …: the statement, with the documentation above it.
static tl_ast *parse_define(tl_parser *parser) {
  const tl_token *first = tl_parser_token(parser);
  tl_ast node = {.kind = TL_AST_DEFINE};
  tl_ast_define *define = &node.define;
  tl_parser_advance(parser);
  if (!tl_parse_ident(parser, &define->name, "the name of a function"))
    return NULL;
  uint32_t at = define->name.span.begin;
  tl_ast *f = tl_parse_function(parser, define->name.name, first->begin, at);
  define->function = f;
  return f != NULL && take_doc(parser, first, &f->function.doc,
                               &f->function.doc_nbytes)
             ? tl_parser_node(parser, &node, first->begin, at)
             : NULL;
}

// --- global, return, break, continue ---

static bool parse_name(tl_parser *parser, tl_ident *out) {
  return tl_parse_ident(parser, out, "a name");
}

// global a, b: an assignment is a statement of its own.
static tl_ast *parse_global(tl_parser *parser) {
  tl_ast node = {.kind = TL_AST_GLOBAL};
  uint32_t begin = tl_parser_advance(parser);
  return tl_parse_names(parser, parse_name, TL_TOKEN_END, &node.idents.names,
                        &node.idents.count) &&
                 !tl_parser_rejects(
                     parser, TL_TOKEN_ASSIGN,
                     "`global` only names variables: assign to them in a "
                     "statement of its own")
             ? tl_parser_node(parser, &node, begin, begin)
             : NULL;
}

// `return`, with one value, several as a list, or none.
static tl_ast *parse_return(tl_parser *parser) {
  tl_ast node = {.kind = TL_AST_RETURN, .result = NULL};
  uint32_t begin = tl_parser_advance(parser);
  if (!ends_statement(parser->kind)) {
    node.result = parse_values(parser);
    if (!node.result)
      return NULL;
  }
  return tl_parser_node(parser, &node, begin, begin);
}

// `break` or `continue`.
static tl_ast *parse_jump(tl_parser *parser, tl_ast_kind kind) {
  uint32_t begin = tl_parser_advance(parser);
  return tl_parser_node(parser, &(tl_ast){.kind = kind}, begin, begin);
}

// --- import ---

// `as` and a name.
static bool parse_alias(tl_parser *parser, tl_ast_import *import) {
  tl_parser_advance(parser);
  return tl_parse_ident(parser, &import->alias, "a name after `as`");
}

// The names in parentheses that are taken from a file.
static bool parse_imported_names(tl_parser *parser, tl_ast_import *import) {
  uint32_t opening = parser->pos;
  tl_parser_advance(parser);
  return tl_parse_names(parser, parse_name, TL_TOKEN_PAREN_END, &import->names,
                        &import->count) &&
         tl_parser_close(parser, TL_TOKEN_PAREN_END, opening);
}

// import "path" and what it needs: an alias, or names.
static bool parse_file_import(tl_parser *parser, tl_ast_import *import) {
  const tl_token *token = tl_parser_token(parser);
  import->path = tl_parse_string_text(parser, &import->path_nbytes);
  if (!import->path)
    return false;
  if (parser->kind == TL_TOKEN_AS)
    return parse_alias(parser, import);
  if (parser->kind == TL_TOKEN_PAREN)
    return parse_imported_names(parser, import);
  return tl_parser_fail(
      parser, tl_token_span(token),
      "an imported file needs a name, import \"…\" as m, or the "
      "names that are taken from it, import \"…\" (a, b)");
}

// import name [as alias]; dots and lists are reported.
static bool parse_module_import(tl_parser *parser, tl_ast_import *import) {
  tl_ident ident;
  if (!tl_parse_ident(parser, &ident, "a module, a name or a file in quotes"))
    return false;
  import->name = ident.name;
  if (parser->kind == TL_TOKEN_AS)
    return parse_alias(parser, import);
  // import a.b, import a (x) and import a, b of other languages.
  if (parser->kind == TL_TOKEN_DOT || parser->kind == TL_TOKEN_PAREN ||
      parser->kind == TL_TOKEN_COMMA)
    return tl_parser_fail_here(
        parser,
        "a module is imported whole, one a line: import %s, then "
        "%s.name",
        ident.name->text, ident.name->text);
  return true;
}

// The path must be known before the program runs, so it has no holes.
static tl_ast *parse_import(tl_parser *parser) {
  uint32_t begin = tl_parser_token(parser)->begin;
  tl_ast node = {.kind = TL_AST_IMPORT, .import = {.path = NULL}};
  tl_ast_import *import = &node.import;
  tl_parser_advance(parser);
  import->path_span = tl_token_span(tl_parser_token(parser));
  if (parser->kind == TL_TOKEN_HEAD)
    return tl_parser_fail(parser, import->path_span,
                          "the file of an import is known before the program "
                          "runs: its name has no holes");
  bool is_parsed = parser->kind == TL_TOKEN_STRING
                       ? parse_file_import(parser, import)
                       : parse_module_import(parser, import);
  if (!is_parsed)
    return NULL;
  return tl_parser_node(parser, &node, begin, import->path_span.begin);
}

// --- All statements ---

// Whether a binary operator begins the statement (rule 2): it should have
// ended the line above. A minus that touches its operand is a sign.
static bool begins_with_operator(const tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  if (parser->kind == TL_TOKEN_NOT)
    return false;
  if (parser->kind == TL_TOKEN_MINUS)
    return token[1].begin > token->end;
  return parser->kind == TL_TOKEN_PIPE || parser->kind == TL_TOKEN_DOT ||
         parser->kind == TL_TOKEN_ARROW || parser->kind == TL_TOKEN_UPDATE ||
         tl_token_infos[parser->kind].level != TL_LEVEL_NONE;
}

// Reports a statement that begins with an operator: that of the line above, a
// comment of another language, or just wrong.
static tl_ast *report_leading_operator(tl_parser *parser) {
  const tl_token *token = tl_parser_token(parser);
  const char *sign = tl_parser_quote(parser, token->begin, token->end,
                                     tl_token_infos[token->kind].text);
  if (parser->kind == TL_TOKEN_SLASHES)
    return tl_parser_fail(parser, tl_token_span(token),
                          "a line cannot begin with `//`: a comment begins "
                          "with #, and an operator ends the line above");
  if (parser->pos == 0 || token[-1].kind == TL_TOKEN_BRACE)
    return tl_parser_fail(parser, tl_token_span(token),
                          "a statement cannot begin with `%s`", sign);
  return tl_parser_fail(parser, tl_token_span(token),
                        "a statement cannot begin with `%s`: to go on with "
                        "the line above, end that line with `%s`",
                        sign, sign);
}

// Whether a keyword stands before `=`.
static bool at_keyword_target(const tl_parser *parser) {
  tl_token_kind next = tl_parser_peek(parser, 1);
  return tl_token_infos[parser->kind].is_word &&
         (next == TL_TOKEN_ASSIGN || next == TL_TOKEN_UPDATE);
}

// Whether x <- 3 begins the statement, an assignment of R. Who compares with a
// negative number writes x < -3, or has the comparison within something.
static bool at_arrow_to_name(const tl_parser *parser) {
  if (parser->kind != TL_TOKEN_NAME ||
      tl_parser_peek(parser, 1) != TL_TOKEN_LESS ||
      tl_parser_peek(parser, 2) != TL_TOKEN_MINUS)
    return false;
  const tl_token *token = tl_parser_token(parser);
  return token[0].end < token[1].begin && token[1].end == token[2].begin &&
         token[2].end < token[3].begin;
}

// One statement, by its first token.
tl_ast *tl_parse_statement(tl_parser *parser) {
  if (at_keyword_target(parser))
    return tl_parser_fail_here(parser, "`%s` is a keyword and cannot be a name",
                               tl_token_infos[parser->kind].text);
  switch (parser->kind) {
    case TL_TOKEN_IMPORT:
      return parse_import(parser);
    case TL_TOKEN_GLOBAL:
      return parse_global(parser);
    case TL_TOKEN_RETURN:
      return parse_return(parser);
    case TL_TOKEN_BREAK:
      return parse_jump(parser, TL_AST_BREAK);
    case TL_TOKEN_CONTINUE:
      return parse_jump(parser, TL_AST_CONTINUE);
    case TL_TOKEN_FN:
      // fn (x) … is a function as a value.
      return tl_parser_peek(parser, 1) == TL_TOKEN_PAREN
                 ? parse_values_or_assign(parser)
                 : parse_define(parser);
    default:
      if (begins_with_operator(parser))
        return report_leading_operator(parser);
      if (at_arrow_to_name(parser))
        return tl_parser_fail(parser,
                              tl_token_span(tl_parser_token(parser) + 1),
                              "`<-` is written `=`");
      return parse_values_or_assign(parser);
  }
}

// --- #:peak ---

static tl_ast *integer_node(tl_parser *parser, uint64_t value, uint32_t at) {
  tl_ast node = {.kind = TL_AST_INT, .integer = value};
  return tl_parser_node(parser, &node, at, at);
}

// `#:peak` and the number of bytes, up to the end of its line. What it is for
// is filled in by place_peak.
tl_ast *tl_parse_peak(tl_parser *parser, tl_token_kind end) {
  tl_ast node = {.kind = TL_AST_PEAK, .items = {.count = 3}};
  uint32_t begin = tl_parser_advance(parser);
  node.items.items = TL_ARENA_ARRAY(parser->arena, tl_ast *, 3);
  tl_ast *nbytes = tl_parse_expr(parser);
  if (nbytes == NULL || node.items.items == NULL)
    return NULL;
  node.items.items[0] = nbytes;
  tl_ast *peak = tl_parser_node(parser, &node, begin, begin);
  while (parser->kind == TL_TOKEN_NEWLINE || parser->kind == TL_TOKEN_SEMICOLON)
    tl_parser_advance(parser);
  if (peak != NULL && (parser->kind == end || parser->kind == TL_TOKEN_END))
    return tl_parser_fail(parser, peak->span,
                          "#:peak stands above no statement");
  return peak;
}

// A promise of a function begins its body; that of another statement stands
// before it, and is for the part of the text that is the statement's.
bool tl_place_peak(tl_parser *parser, tl_ast *peak, tl_ast *statement) {
  bool defines = statement->kind == TL_AST_DEFINE;
  tl_ast_items *parts = &peak->items;
  tl_span span = statement->span;
  parts->items[1] = integer_node(parser, defines ? 0 : span.begin, span.begin);
  parts->items[2] =
      integer_node(parser, defines ? UINT32_MAX : span.end, span.begin);
  if (parts->items[1] == NULL || parts->items[2] == NULL)
    return false;
  if (!defines)
    return tl_parser_push(parser, &peak, sizeof peak);
  // One block with the body's statements: a `global` among them is the
  // function's.
  tl_ast *function = statement->define.function,
         *rest = function->function.body;
  const bool is_block = rest->kind == TL_AST_BLOCK;
  const uint32_t count = is_block ? rest->items.count : 1;
  tl_ast block = {.kind = TL_AST_BLOCK, .items = {.count = count + 1}};
  block.items.items =
      TL_ARENA_ARRAY(parser->arena, tl_ast *, (size_t)count + 1);
  if (block.items.items == NULL)
    return false;
  block.items.items[0] = peak;
  memcpy(block.items.items + 1, is_block ? rest->items.items : &rest,
         count * sizeof rest);
  tl_ast *body = tl_parser_node(parser, &block, span.begin, span.begin);
  if (body == NULL)
    return false;
  body->span = rest->span;
  function->function.body = body;
  return true;
}
