// What a statement can do besides giving a value: a script may not drop a
// value that nothing else came with.

#include <string.h>

#include "compiler/ast_walk.h"
#include "compiler/lower.h"

// --- Assigning inside an expression -----------------------------------------

// Whether [ast] is or holds a block, or where [calls] points to true a call.
// A function that stands there runs later.
static bool contains(tl_ast *ast, void *calls) {
  switch (ast->kind) {
    case TL_AST_BLOCK:
    case TL_AST_IF:
    case TL_AST_WHILE:
    case TL_AST_FOR:
    case TL_AST_TRY:
      return true;
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
      return true;  // its item may hold a block; rare enough not to look
    case TL_AST_FUNCTION:
      return false;
    case TL_AST_CALL:
      return *(bool *)calls || tl_ast_each_child(ast, contains, calls);
    default:
      return tl_ast_each_child(ast, contains, calls);
  }
}

bool tl_may_assign(tl_ast *ast) {
  return ast != NULL && contains(ast, &(bool){false});
}

bool tl_may_call(tl_ast *ast) {
  return ast != NULL && contains(ast, &(bool){true});
}

// --- Effects ----------------------------------------------------------------

enum { DEPTH_MAX = 12 };

typedef struct looking {
  tl_lower *l;
  int depth;  // of calls of known functions
} looking;

static bool has_effect(tl_ast *ast, void *context);

// A script function without effects only computes: no output, no error of its
// own, no module variable changed.
static bool function_has_effect(looking *outer, tl_variable *variable) {
  const tl_ast_function *f = &variable->definition->define.function->function;
  if (outer->depth > DEPTH_MAX || f->scope == NULL ||
      f->scope->global_count > 0)
    return true;
  tl_lower l = *outer->l;
  l.scope = f->scope;
  return has_effect(f->body, &(looking){&l, outer->depth + 1});
}

static bool callee_has_effect(looking *s, const tl_ast *ast) {
  tl_lower *l = s->l;
  const tl_ast_call *call = &ast->call;
  const tl_builtin *builtin = tl_called_builtin(l, call->callee);
  if (tl_is_del(l->scope, ast))
    return true;
  if (builtin != NULL) {
    // What calls functions can only do so if it is given one.
    return (builtin->flags & TL_EFFECT) != 0 ||
           ((builtin->flags & TL_CALLS) != 0 && call->count > 1);
  }
  if (call->callee->kind != TL_AST_NAME)
    return true;
  const tl_name *name = call->callee->name.name;
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v == NULL) {
    return tl_known_find(l->b->vm, NULL, name).kind != TL_KNOWN_DTYPE;
  }
  tl_prototype *known;
  return !tl_known_constant(l, v, &known) || function_has_effect(s, v);
}

static bool has_effect(tl_ast *ast, void *context) {
  switch (ast->kind) {
    case TL_AST_INDEX:
      return true;  // may be there to fail
    case TL_AST_TRY:
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_IMPORT:
    case TL_AST_GLOBAL:
      return true;
    case TL_AST_FUNCTION:
    case TL_AST_DEFINE:
      return false;
    case TL_AST_CALL:
      return callee_has_effect(context, ast) ||
             tl_ast_each_child(ast, has_effect, context);
    default:
      return tl_ast_each_child(ast, has_effect, context);
  }
}

bool tl_has_effect(tl_lower *l, tl_ast *ast) {
  return has_effect(ast, &(looking){.l = l});
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
              is_short ? length : (int)strlen("…"), is_short ? text : "…");
}
