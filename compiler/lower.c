// Lowering of a program: how each kind of node is lowered, and the module's own
// code, which is function 0. A function in it is lowered when its definition is
// met.

#include "compiler/lower.h"

// --- Kinds of nodes ---------------------------------------------------------

// Statements that only name something for the resolver.
void tl_lower_nothing(tl_lower *l, tl_ast *ast) {
  (void)l, (void)ast;
}

// The files of lowering reach one another through this table where the tree is
// recursive (tl_lower_expr, tl_lower_statement).
static const tl_lowering lowerings[TL_AST_KIND_COUNT] = {
#define X(kind, text, type, member, how, lowering)                 \
  [TL_AST_##kind] = {                                              \
      .how = tl_lower_##lowering,                                  \
      .walk = TL_AST_##kind == TL_AST_CALL ? tl_lower_walk : NULL, \
      .may_drop = TL_AST_##kind == TL_AST_BLOCK ||                 \
                  TL_AST_##kind == TL_AST_IF || TL_AST_##kind == TL_AST_TRY},
    TL_AST_KINDS(X)
#undef X
};

// --- The module's own code --------------------------------------------------

// Functions of the module that capture nothing are assigned before its first
// statement, for calls from anywhere and for hosts.
static void hoist_functions(tl_lower *l, tl_ast *program) {
  for (uint32_t i = 0; i < program->items.count; i++) {
    tl_ast *statement = program->items.items[i];
    if (statement->kind != TL_AST_DEFINE)
      continue;
    tl_variable *variable =
        tl_scope_lookup(l->scope, statement->define.name.name);
    tl_prototype *known;
    if (variable == NULL || !tl_known_constant(l, variable, &known))
      continue;
    // A slot of the module's own code would end with it.
    variable->is_global = true;
    int32_t value = tl_temp(l);
    tl_load_function(l, value, known, statement->span);
    tl_store_name(l, variable->name, value, statement->span);
    l->top--;
  }
}

// The input of a prompt: the value of each expression is shown.
static void show_each(tl_lower *l, tl_ast *program) {
  for (uint32_t i = 0; i < program->items.count; i++) {
    tl_ast *statement = program->items.items[i];
    uint32_t n = tl_lower_defines(l, program, i);
    int32_t mark = l->top;
    if (n > 0) {
      i += n - 1;
    } else if (tl_lowering_of(l, statement)->value == NULL) {
      tl_lower_statement(l, statement);
    } else {
      int32_t value = tl_lower_expr(l, statement, -1);
      tl_emit1(l, TL_BC_SHOW, -1, value, statement->span);
    }
    l->top = mark;
  }
}

// Gives the new module variables their index, after those that are there.
static bool add_globals(tl_builder *b, tl_scope *scope) {
  for (tl_variable *v = scope->variables; v != NULL; v = v->next) {
    if (!v->is_global || v->index >= 0)
      continue;
    const tl_name *name = v->name;
    // An abandoned name is in the module already, without a value: it is found
    // instead of added a second time.
    v->index =
        b->resolver->has_abandoned
            ? tl_module_variable(b->vm, b->unit->module, name->text,
                                 name->nbytes)
            : tl_module_add(b->vm, b->unit->module, name->text, name->nbytes);
    if (v->index < 0)
      return false;
  }
  return true;
}

// The module's own code is prototype 0, without parameters:
//
//   known functions    become module variables, assigned before anything runs
//   other variables    slots; what functions of the module use is a variable of
//                      the module instead (v->is_global)
//   the prompt         shows the value of each expression
//   EVAL               returns the value of the last one
bool tl_lower_program(tl_builder *b, tl_ast *program) {
  tl_resolver *r = b->resolver;
  b->lowerings = lowerings;
  tl_prototype *prototype = tl_unit_prototype(b, NULL);
  tl_cfg_function *f = prototype ? tl_function_new(b, prototype) : NULL;
  if (f == NULL)
    return false;
  f->is_main = true;
  tl_lower l;
  tl_function_begin(&l, b, f, r->module_scope);
  // Known functions become module variables: see hoist_functions.
  for (tl_variable *v = l.scope->variables; v != NULL; v = v->next) {
    tl_prototype *known;
    if (v->definition != NULL && tl_known_constant(&l, v, &known))
      v->is_global = true;
  }
  // The other variables of a script get slots.
  tl_function_slots(&l, 0);
  if (l.assigned_in == NULL || !add_globals(b, l.scope))
    return false;
  hoist_functions(&l, program);
  // A script or module has no value; EVAL has that of its last expression.
  int32_t value = -1;
  if (r->mode == TL_UNIT_PROMPT)
    show_each(&l, program);
  else
    value =
        tl_lower_block(&l, program, r->mode == TL_UNIT_EVAL ? -1 : TL_NO_VALUE);
  if (value < 0)
    value = tl_load_constant(&l, -1, tl_none(), program->span);
  tl_function_end(&l, value, program->span);
  // Imports and functions may have added variables until here.
  b->program->global_count = (int32_t)b->unit->module->variable_count;
  return !b->failed && !b->arena->failed && b->diagnostics->total == 0;
}
