// The children of every kind of node, in the order of evaluation. A kind that
// is added to ast.h has to be added here: the switch has no default, so the
// compiler says so.

#include "compiler/ast_walk.h"

#include <string.h>

// A node visited, or an optional one that is not there passed over.
#define VISIT(child) ((child) != NULL && visit((child), context))

// An item has a value, or the ends of a slice; what is missing is NULL.
bool tl_ast_each_in_items(const tl_ast_item *items, uint32_t count,
                          tl_ast_visitor *visit, void *context) {
  for (uint32_t i = 0; i < count; i++) {
    const tl_ast_item *item = &items[i];
    if (VISIT(item->value) || VISIT(item->start) || VISIT(item->stop) ||
        VISIT(item->step))
      return true;
  }
  return false;
}

// Targets in a list from left to right, and the indices of each.
bool tl_ast_each_in_target(const tl_target *target, tl_ast_visitor *visit,
                           void *context) {
  for (uint32_t i = 0; i < target->count; i++)
    if (tl_ast_each_in_target(&target->targets[i], visit, context))
      return true;
  for (uint32_t i = 0; i < target->step_count; i++) {
    const tl_ast_step *step = &target->steps[i];
    if (tl_ast_each_in_items(step->items, step->count, visit, context))
      return true;
  }
  return false;
}

// The nodes of an array, in order.
static bool each_of(tl_ast **items, uint32_t count, tl_ast_visitor *visit,
                    void *context) {
  for (uint32_t i = 0; i < count; i++)
    if (VISIT(items[i]))
      return true;
  return false;
}

// Tests and bodies of an `if` in turn, then its `else`.
static bool each_arm(const tl_ast_if *condition, tl_ast_visitor *visit,
                     void *context) {
  for (uint32_t i = 0; i < condition->count; i++)
    if (VISIT(condition->arms[i].test) || VISIT(condition->arms[i].body))
      return true;
  return VISIT(condition->otherwise);
}

// The clauses come before the key and the item: they are evaluated first.
static bool each_clause(const tl_ast_comprehension *comprehension,
                        tl_ast_visitor *visit, void *context) {
  for (uint32_t i = 0; i < comprehension->count; i++)
    if (VISIT(comprehension->clauses[i].value))
      return true;
  return VISIT(comprehension->key) || VISIT(comprehension->item);
}

// Arguments in the order in which they are written.
static bool each_argument(const tl_ast_call *call, tl_ast_visitor *visit,
                          void *context) {
  for (uint32_t i = 0; i < call->count; i++)
    if (VISIT(call->arguments[i].value))
      return true;
  return false;
}

// A computed key comes before its value.
static bool each_entry(const tl_ast_record *record, tl_ast_visitor *visit,
                       void *context) {
  for (uint32_t i = 0; i < record->count; i++)
    if (VISIT(record->entries[i].computed) || VISIT(record->entries[i].value))
      return true;
  return false;
}

// The values of an interpolated string, and the formats that have holes
// themselves.
static bool each_hole(const tl_ast_interpolated *text, tl_ast_visitor *visit,
                      void *context) {
  for (uint32_t i = 0; i < text->count; i++)
    if (VISIT(text->parts[i].value) || VISIT(text->parts[i].spec))
      return true;
  return false;
}

// The patterns of parameters are types, which hold no expressions.
static bool each_default(const tl_ast_function *function, tl_ast_visitor *visit,
                         void *context) {
  for (uint32_t i = 0; i < function->count; i++)
    if (VISIT(function->params[i].value))
      return true;
  return false;
}

bool tl_ast_each_child(const tl_ast *ast, tl_ast_visitor *visit,
                       void *context) {
  switch (ast->kind) {
    // Leaves, and statements that hold names only.
    case TL_AST_BOOL:
    case TL_AST_INT:
    case TL_AST_FLOAT:
    case TL_AST_IMAGINARY:
    case TL_AST_STRING:
    case TL_AST_TYPE:
    case TL_AST_NONE:
    case TL_AST_NAME:
    case TL_AST_OPERATOR:
    case TL_AST_GLOBAL:
    case TL_AST_BREAK:
    case TL_AST_CONTINUE:
    case TL_AST_IMPORT:
    case TL_AST_KIND_COUNT:
      return false;
    case TL_AST_INTERPOLATED:
      return each_hole(&ast->interpolated, visit, context);
    case TL_AST_LIST:
    case TL_AST_ARRAY:
    case TL_AST_BLOCK:
    case TL_AST_PEAK:
      return each_of(ast->items.items, ast->items.count, visit, context);
    case TL_AST_RECORD:
      return each_entry(&ast->record, visit, context);
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_RECORD_FOR:
      return each_clause(&ast->comprehension, visit, context);
    // Whoever must not look into functions handles this kind first.
    case TL_AST_FUNCTION:
      return each_default(&ast->function, visit, context) ||
             VISIT(ast->function.body);
    case TL_AST_IF:
      return each_arm(&ast->condition, visit, context);
    case TL_AST_WHILE:
      return VISIT(ast->while_loop.test) || VISIT(ast->while_loop.body);
    case TL_AST_FOR:
      return VISIT(ast->for_loop.value) || VISIT(ast->for_loop.body);
    case TL_AST_TRY:
      return VISIT(ast->attempt.body) || VISIT(ast->attempt.handler);
    case TL_AST_CALL:
      return VISIT(ast->call.callee) ||
             each_argument(&ast->call, visit, context);
    case TL_AST_INDEX:
      return VISIT(ast->index.object) ||
             tl_ast_each_in_items(ast->index.items, ast->index.count, visit,
                                  context);
    case TL_AST_FIELD:
      return VISIT(ast->field.object);
    case TL_AST_SELECT:
      return VISIT(ast->select.object);
    case TL_AST_UNARY:
    case TL_AST_NOT:
    case TL_AST_SPREAD:
      return VISIT(ast->unary.operand);
    case TL_AST_BINARY:
    case TL_AST_COMPARE:
    case TL_AST_AND:
    case TL_AST_OR:
    case TL_AST_COMPOSE:
      return VISIT(ast->binary.left) || VISIT(ast->binary.right);
    case TL_AST_RANGE:
      return VISIT(ast->range.start) || VISIT(ast->range.stop) ||
             VISIT(ast->range.step);
    // The value is evaluated before the indices of the target.
    case TL_AST_ASSIGN:
    case TL_AST_UPDATE:
      return VISIT(ast->assign.value) || VISIT(ast->assign.fallback) ||
             tl_ast_each_in_target(&ast->assign.target, visit, context);
    case TL_AST_DEFINE:
      return VISIT(ast->define.function);
    case TL_AST_RETURN:
      return VISIT(ast->result);
  }
  return false;
}

// --- Equal trees ------------------------------------------------------------

// The same for expressions that may be missing.
static bool same_or_none(const tl_ast *a, const tl_ast *b) {
  return a == NULL || b == NULL ? a == b : tl_ast_is_same(a, b);
}

// The same for the items of an index.
bool tl_ast_items_are_same(const tl_ast_item *a, uint32_t count,
                           const tl_ast_item *b, uint32_t other_count) {
  if (count != other_count)
    return false;
  for (uint32_t i = 0; i < count; i++)
    if (a[i].kind != b[i].kind || !same_or_none(a[i].value, b[i].value) ||
        !same_or_none(a[i].start, b[i].start) ||
        !same_or_none(a[i].stop, b[i].stop) ||
        !same_or_none(a[i].step, b[i].step))
      return false;
  return true;
}

// Whether two expressions are the same, of the kinds that have no effect:
// evaluated once or twice, they give the same value.
bool tl_ast_is_same(const tl_ast *a, const tl_ast *b) {
  if (a->kind != b->kind)
    return false;
  switch (a->kind) {
    case TL_AST_NONE:
      return true;
    case TL_AST_BOOL:
      return a->boolean == b->boolean;
    case TL_AST_INT:
      return a->integer == b->integer;
    case TL_AST_STRING:
      return a->string.nbytes == b->string.nbytes &&
             memcmp(a->string.text, b->string.text, a->string.nbytes) == 0;
    case TL_AST_NAME:
      return a->name.name == b->name.name;
    case TL_AST_UNARY:
      return a->unary.op == b->unary.op &&
             tl_ast_is_same(a->unary.operand, b->unary.operand);
    case TL_AST_BINARY:
      return a->binary.op == b->binary.op &&
             tl_ast_is_same(a->binary.left, b->binary.left) &&
             tl_ast_is_same(a->binary.right, b->binary.right);
    case TL_AST_RANGE:
      return same_or_none(a->range.start, b->range.start) &&
             same_or_none(a->range.stop, b->range.stop) &&
             same_or_none(a->range.step, b->range.step);
    case TL_AST_FIELD:
      return a->field.field.name == b->field.field.name &&
             tl_ast_is_same(a->field.object, b->field.object);
    case TL_AST_INDEX:
      return tl_ast_is_same(a->index.object, b->index.object) &&
             tl_ast_items_are_same(a->index.items, a->index.count,
                                   b->index.items, b->index.count);
    default:
      return false;
  }
}

bool tl_ast_items_are(const tl_ast_item *items, uint32_t count,
                      tl_ast_item_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i].kind != kind)
      return false;
  return true;
}

bool tl_ast_items_have(const tl_ast_item *items, uint32_t count,
                       tl_ast_item_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    if (items[i].kind == kind)
      return true;
  return false;
}

tl_ast *tl_ast_object(const tl_ast *ast) {
  return ast->kind == TL_AST_INDEX   ? ast->index.object
         : ast->kind == TL_AST_FIELD ? ast->field.object
                                     : NULL;
}

bool tl_ast_is_cut(const tl_ast *ast) {
  return ast->kind == TL_AST_INDEX &&
         tl_ast_items_are(ast->index.items, ast->index.count,
                          TL_AST_ITEM_SLICE);
}
