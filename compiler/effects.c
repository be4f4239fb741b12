// What a statement can do besides giving a value: a script may not drop a
// value that nothing else came with.

#include <string.h>

#include "compiler/lower.h"

// --- Assigning inside an expression -----------------------------------------

// Whether a block stands in [ast], or with [calls] a call.
static bool contains(const tl_ast *ast, bool calls) {
  if (ast == NULL)
    return false;
  switch (ast->kind) {
    case TL_AST_BLOCK:
    case TL_AST_IF:
    case TL_AST_WHILE:
    case TL_AST_FOR:
    case TL_AST_TRY:
      return true;
    case TL_AST_INTERPOLATED:
      for (uint32_t i = 0; i < ast->interpolated.count; i++) {
        if (contains(ast->interpolated.parts[i].value, calls))
          return true;
      }
      return false;
    case TL_AST_LIST:
    case TL_AST_ARRAY:
      for (uint32_t i = 0; i < ast->items.count; i++) {
        if (contains(ast->items.items[i], calls))
          return true;
      }
      return false;
    case TL_AST_RECORD:
      for (uint32_t i = 0; i < ast->record.count; i++) {
        if (contains(ast->record.entries[i].value, calls))
          return true;
      }
      return false;
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
      return true;  // its item may hold a block; rare enough not to look
    case TL_AST_CALL:
      if (calls)
        return true;
      for (uint32_t i = 0; i < ast->call.count; i++) {
        if (contains(ast->call.arguments[i].value, calls))
          return true;
      }
      return contains(ast->call.callee, calls);
    case TL_AST_INDEX:
      for (uint32_t i = 0; i < ast->index.count; i++) {
        const tl_ast_item *item = &ast->index.items[i];
        if (contains(item->value, calls) || contains(item->start, calls) ||
            contains(item->stop, calls) || contains(item->step, calls)) {
          return true;
        }
      }
      return contains(ast->index.object, calls);
    case TL_AST_FIELD:
      return contains(ast->field.object, calls);
    case TL_AST_SELECT:
      return contains(ast->select.object, calls);
    case TL_AST_UNARY:
    case TL_AST_NOT:
      return contains(ast->unary.operand, calls);
    case TL_AST_BINARY:
    case TL_AST_COMPARE:
    case TL_AST_AND:
    case TL_AST_OR:
    case TL_AST_COMPOSE:
      return contains(ast->binary.left, calls) ||
             contains(ast->binary.right, calls);
    case TL_AST_RANGE:
      return contains(ast->range.start, calls) ||
             contains(ast->range.stop, calls) ||
             contains(ast->range.step, calls);
    default:
      return false;
  }
}

bool tl_may_assign(const tl_ast *ast) {
  return contains(ast, false);
}

bool tl_may_call(const tl_ast *ast) {
  return contains(ast, true);
}

// --- Effects ----------------------------------------------------------------

enum { DEPTH_MAX = 12 };

static bool has_effect(tl_lower *l, const tl_ast *ast, int depth);

static bool any(tl_lower *l, tl_ast **items, uint32_t count, int depth) {
  for (uint32_t i = 0; i < count; i++) {
    if (has_effect(l, items[i], depth))
      return true;
  }
  return false;
}

// A script function without effects only computes: no output, no error of its
// own, no module variable changed.
static bool function_has_effect(tl_lower *l, tl_variable *variable, int depth) {
  const tl_ast_function *f = &variable->definition->define.function->function;
  if (depth > DEPTH_MAX || f->scope == NULL)
    return true;
  for (uint32_t i = 0; i < f->scope->global_count; i++) return true;
  tl_lower inner = *l;
  inner.scope = f->scope;
  return has_effect(&inner, f->body, depth + 1);
}

static bool call_has_effect(tl_lower *l, const tl_ast *ast, int depth) {
  const tl_ast_call *call = &ast->call;
  for (uint32_t i = 0; i < call->count; i++) {
    if (has_effect(l, call->arguments[i].value, depth))
      return true;
  }
  const tl_builtin *builtin = tl_called_builtin(l, call->callee);
  if (tl_is_del(l->scope, ast))
    return true;
  if (builtin != NULL) {
    // What calls functions can only do so if it is given one.
    return (builtin->flags & TL_EFFECT) != 0 ||
           ((builtin->flags & TL_CALLS) != 0 && call->count > 1);
  }
  if (call->callee->kind == TL_AST_NAME) {
    const tl_name *name = call->callee->name.name;
    tl_variable *v = tl_scope_find(l->scope, name);
    tl_prototype *known;
    if (v != NULL && tl_known_constant(l, v, &known)) {
      return function_has_effect(l, v, depth);
    }
    if (v == NULL && tl_known_find(l->b->vm, NULL, name).kind == TL_KNOWN_DTYPE) {
      return false;
    }
  }
  return true;
}

static bool has_effect(tl_lower *l, const tl_ast *ast, int depth) {
  if (ast == NULL)
    return false;
  switch (ast->kind) {
    case TL_AST_INDEX:
      return true;  // may be there to fail
    case TL_AST_INTERPOLATED:
      for (uint32_t i = 0; i < ast->interpolated.count; i++) {
        if (has_effect(l, ast->interpolated.parts[i].value, depth)) {
          return true;
        }
      }
      return false;
    case TL_AST_LIST:
    case TL_AST_ARRAY:
    case TL_AST_BLOCK:
      return any(l, ast->items.items, ast->items.count, depth);
    case TL_AST_RECORD:
      for (uint32_t i = 0; i < ast->record.count; i++) {
        if (has_effect(l, ast->record.entries[i].value, depth))
          return true;
      }
      return false;
    case TL_AST_IF:
      for (uint32_t i = 0; i < ast->condition.count; i++) {
        if (has_effect(l, ast->condition.arms[i].test, depth) ||
            has_effect(l, ast->condition.arms[i].body, depth)) {
          return true;
        }
      }
      return has_effect(l, ast->condition.otherwise, depth);
    case TL_AST_FOR:
      return has_effect(l, ast->for_loop.value, depth) ||
             has_effect(l, ast->for_loop.body, depth);
    case TL_AST_WHILE:
      return has_effect(l, ast->while_loop.test, depth) ||
             has_effect(l, ast->while_loop.body, depth);
    case TL_AST_TRY:
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_IMPORT:
    case TL_AST_GLOBAL:
      return true;
    case TL_AST_CALL:
      return call_has_effect(l, ast, depth);
    case TL_AST_FIELD:
      return has_effect(l, ast->field.object, depth);
    case TL_AST_SELECT:
      return has_effect(l, ast->select.object, depth);
    case TL_AST_UNARY:
    case TL_AST_NOT:
      return has_effect(l, ast->unary.operand, depth);
    case TL_AST_BINARY:
    case TL_AST_COMPARE:
    case TL_AST_AND:
    case TL_AST_OR:
    case TL_AST_COMPOSE:
      return has_effect(l, ast->binary.left, depth) ||
             has_effect(l, ast->binary.right, depth);
    case TL_AST_RANGE:
      return has_effect(l, ast->range.start, depth) ||
             has_effect(l, ast->range.stop, depth) ||
             has_effect(l, ast->range.step, depth);
    case TL_AST_ASSIGN:
      return has_effect(l, ast->assign.value, depth);
    case TL_AST_UPDATE:
      return has_effect(l, ast->update.value, depth);
    case TL_AST_RETURN:
      return has_effect(l, ast->result.value, depth);
    default:
      return false;
  }
}

bool tl_has_effect(tl_lower *l, const tl_ast *ast) {
  return has_effect(l, ast, 0);
}

void tl_refuse_useless(tl_lower *l, const tl_ast *ast) {
  const tl_diagnostics *known = l->b->diagnostics;
  for (uint32_t i = 0; i < known->count; i++) {
    uint32_t at = known->items[i].span.at;
    if (at >= ast->span.begin && at < ast->span.end)
      return;  // one a cause
  }
  const tl_source *source = l->b->source;
  int length = (int)(ast->span.end - ast->span.begin);
  const char *text = source->text + ast->span.begin;
  bool is_short = length <= 60 && memchr(text, '\n', (size_t)length) == NULL;
  if (!is_short)
    length = 0;
  const tl_ast *first = ast->kind == TL_AST_CALL && ast->call.count > 0
                            ? ast->call.arguments[0].value
                            : NULL;
  if (first != NULL && first->kind == TL_AST_NAME && is_short) {
    const char *name = first->name.name->text;
    tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX, ast->span,
                "the value of %.*s is not used, and %s itself does not "
                "change: write %s = %.*s",
                length, text, name, name, length, text);
    return;
  }
  tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX, ast->span,
              "the value of %.*s is not used: assign it to a name, or print "
              "it with print(%.*s)",
              is_short ? length : 15, is_short ? text : "this expression",
              is_short ? length : 1, is_short ? text : "…");
}
