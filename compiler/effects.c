// What evaluating an expression can do besides giving a value. Two
// predicates, the cheaper one first:
//
//   tl_may_assign   holds a block: operands before it are copied
//   tl_has_effect   a statement may stand alone; `sort(x)` may not
//
// Also what a name is known to be: a function without an environment, or a
// function of the library.

#include "compiler/ast_walk.h"
#include "compiler/lower.h"

// --- Assigning inside an expression -----------------------------------------

// Whether [ast] is or holds a block. A function that stands there runs later,
// so its body does not count; a call cannot assign a local of this function.
static bool has_block(tl_ast *ast, void *context) {
  return tl_ast_has_block(ast) || (ast->kind != TL_AST_FUNCTION &&
                                   tl_ast_each_child(ast, has_block, context));
}

bool tl_may_assign(tl_ast *ast) {
  return ast != NULL && has_block(ast, NULL);
}

// --- Effects ----------------------------------------------------------------

enum { DEPTH_MAX = 12 };

// The function that is looked through, and how deep in calls.
typedef struct looking {
  tl_lower *l;
  int depth;  // of calls of known functions
} looking;

static bool has_effect(tl_ast *ast, void *context);

// Whether calling a script's function has an effect. One without effects only
// computes: no output, no error of its own, no module variable changed. Deep
// chains of calls count as having one.
static bool function_has_effect(looking *outer, const tl_ast *f) {
  tl_lower l = *outer->l;
  l.scope = f->function.scope;
  // Recursive functions end here, too: they count as having an effect.
  if (outer->depth > DEPTH_MAX || l.scope == NULL || l.scope->global_count > 0)
    return true;
  // Names in the body and in defaults mean what they mean there.
  return tl_ast_each_child(f, has_effect, &(looking){&l, outer->depth + 1});
}

// Whether an argument is a function that has an effect, if it is called.
static bool is_function_with_effect(looking *s, const tl_ast *argument) {
  const tl_builtin *builtin = tl_called_builtin(s->l, argument);
  bool known;
  const tl_ast *f = tl_function_of(s->l, argument, &known);
  return f != NULL ? function_has_effect(s, f)
                   : builtin != NULL && (builtin->flags & TL_EFFECT) != 0;
}

// Whether a call of a function of the library in Tally has an effect: it names
// a file, which is written then, or is given a function that has one.
static bool is_given_effect(looking *s, const tl_ast_call *call) {
  for (uint32_t i = 0; i < call->count; i++) {
    const tl_name *name = call->arguments[i].name;
    if ((name != NULL && strcmp(name->text, "file") == 0) ||
        is_function_with_effect(s, call->arguments[i].value))
      return true;
  }
  return false;
}

// Whether a call has an effect besides those of its arguments.
static bool callee_has_effect(looking *s, const tl_ast *ast) {
  tl_lower *l = s->l;
  const tl_ast_call *call = &ast->call;
  const tl_builtin *builtin = tl_called_builtin(l, call->callee);
  if (tl_is_del(l->scope, ast))
    return true;
  if (builtin != NULL) {
    // A function that calls others can do so only if it is given one.
    return (builtin->flags & TL_EFFECT) != 0 ||
           (tl_builtin_calls(builtin) && call->count > 1);
  }
  // A callee that is computed may be anything.
  if (call->callee->kind != TL_AST_NAME)
    return true;
  const tl_name *name = call->callee->name.name;
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v == NULL) {
    // A dtype called as a function converts.
    tl_known_kind kind = tl_known_find(l->b->vm, NULL, name).kind;
    return kind == TL_KNOWN_TALLY ? is_given_effect(s, call)
                                  : kind != TL_KNOWN_DTYPE;
  }
  bool known;
  const tl_ast *f = tl_function_of(l, call->callee, &known);
  return f == NULL || function_has_effect(s, f);
}

// Whether evaluating [ast] has an effect. A visitor of tl_ast_each_child.
static bool has_effect(tl_ast *ast, void *context) {
  switch (ast->kind) {
    case TL_AST_INDEX:  // may be there to fail
    case TL_AST_TRY:
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
      return tl_ast_comprehends(ast) ||
             tl_ast_each_child(ast, has_effect, context);
  }
}

// Looks into known functions of the script as well.
bool tl_has_effect(tl_lower *l, tl_ast *ast) {
  return has_effect(ast, &(looking){.l = l});
}

// Once for a cause: nothing if an error was reported within the statement.
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
  // sort(x) alone: the value is new and x stays as it is.
  if (first != NULL && first->kind == TL_AST_NAME && is_short) {
    const char *name = first->name.name->text;
    tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, ast->span,
                "the value of %.*s is not used, and %s itself does not "
                "change: write %s = %.*s",
                length, text, name, name, length, text);
    return;
  }
  tl_diagnose(l->b->diagnostics, TALLY_ERR_SYNTAX, ast->span,
              "the value of %.*s is not used: assign it to a name, or print "
              "it with print(%.*s)",
              is_short ? length : 15, is_short ? text : "this expression",
              is_short ? length : (int)strlen("…"), is_short ? text : "…");
}

// --- What a name is known to be ---------------------------------------------

// After a prompt's input or an evaluated text, a later one may define the
// function anew, so their module variables are never constants.
bool tl_known_constant(tl_lower *l, const tl_variable *variable,
                       tl_prototype **out) {
  // Defined once, at the top of its function or module, and never assigned or
  // updated.
  if (variable->definition == NULL || variable->assigns != 1 ||
      variable->is_updated || variable->group == NULL)
    return false;
  // Without captures every closure of the group would be the same.
  if (variable->group->capture_count > 0)
    return false;
  if (variable->scope->kind == TL_SCOPE_MODULE &&
      l->b->resolver->mode != TL_UNIT_SCRIPT &&
      l->b->resolver->mode != TL_UNIT_MODULE)
    return false;  // a later input may define it anew
  // The prototypes are made here if the group is not lowered yet: calls may
  // come before the definition.
  tl_prototype **members = tl_group_prototypes(l->b, variable->group);
  if (members == NULL)
    return false;
  *out = members[variable->member];
  return true;
}

// A function of no module, or of a module that is bound once by import.
const tl_builtin *tl_called_builtin(tl_lower *l, const tl_ast *callee) {
  if (callee->kind == TL_AST_NAME) {
    if (tl_scope_find(l->scope, callee->name.name) != NULL)
      return NULL;
    return tl_known_find(l->b->vm, NULL, callee->name.name).builtin;
  }
  if (callee->kind != TL_AST_FIELD)
    return NULL;
  const char *module = tl_library_of(l->scope, callee->field.object);
  return module == NULL
             ? NULL
             : tl_known_find(l->b->vm, module, callee->field.field.name)
                   .builtin;
}

const tl_ast *tl_function_of(tl_lower *l, const tl_ast *ast, bool *known) {
  const tl_variable *v =
      ast->kind == TL_AST_NAME ? tl_scope_find(l->scope, ast->name.name) : NULL;
  tl_prototype *constant;
  bool is_constant = v != NULL && tl_known_constant(l, v, &constant);
  *known = is_constant || ast->kind == TL_AST_FUNCTION ||
           (v == NULL && ast->kind == TL_AST_NAME);
  if (is_constant)
    ast = v->definition->define.function;
  return ast->kind == TL_AST_FUNCTION ? ast : NULL;
}
