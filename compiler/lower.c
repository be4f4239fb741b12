// Lowering of a program: how each kind of node is lowered, and the module's own
// code, which is function 0. A function in it is lowered when its definition is
// met.

#include "compiler/lower.h"

// --- Kinds of nodes ---------------------------------------------------------

// Statements that only name something for the resolver.
static void lower_nothing(tl_lower *l, tl_ast *ast) {
  (void)l, (void)ast;
}

// The files of lowering reach one another through this table where the tree is
// recursive (tl_lower_expr, tl_lower_statement).
static const tl_lowering lowerings[TL_AST_KIND_COUNT] = {
    [TL_AST_BOOL] = {.value = tl_lower_constant},
    [TL_AST_INT] = {.value = tl_lower_constant},
    [TL_AST_FLOAT] = {.value = tl_lower_constant},
    [TL_AST_IMAGINARY] = {.value = tl_lower_constant},
    [TL_AST_NONE] = {.value = tl_lower_constant},
    [TL_AST_STRING] = {.value = tl_lower_string},
    [TL_AST_INTERPOLATED] = {.value = tl_lower_interpolated},
    [TL_AST_TYPE] = {.value = tl_lower_type},
    [TL_AST_NAME] = {.value = tl_lower_variable},
    [TL_AST_LIST] = {.value = tl_lower_items},
    [TL_AST_ARRAY] = {.value = tl_lower_items},
    [TL_AST_RECORD] = {.value = tl_lower_record},
    [TL_AST_LIST_FOR] = {.value = tl_lower_comprehension},
    [TL_AST_ARRAY_FOR] = {.value = tl_lower_comprehension},
    [TL_AST_RECORD_FOR] = {.value = tl_lower_comprehension},
    [TL_AST_FUNCTION] = {.value = tl_lower_function},
    [TL_AST_BLOCK] = {.value = tl_lower_block, .may_drop = true},
    [TL_AST_IF] = {.value = tl_lower_if, .may_drop = true},
    [TL_AST_TRY] = {.value = tl_lower_try, .may_drop = true},
    [TL_AST_CALL] = {.value = tl_lower_call, .walk = tl_lower_walk},
    [TL_AST_INDEX] = {.value = tl_lower_index},
    [TL_AST_FIELD] = {.value = tl_lower_field},
    [TL_AST_SELECT] = {.value = tl_lower_select},
    [TL_AST_UNARY] = {.value = tl_lower_unary},
    [TL_AST_BINARY] = {.value = tl_lower_binary},
    [TL_AST_COMPARE] = {.value = tl_lower_binary},
    [TL_AST_AND] = {.value = tl_lower_logical},
    [TL_AST_OR] = {.value = tl_lower_logical},
    [TL_AST_NOT] = {.value = tl_lower_not},
    [TL_AST_SPREAD] = {.value = tl_lower_operand},
    [TL_AST_RANGE] = {.value = tl_lower_range},
    [TL_AST_OPERATOR] = {.value = tl_lower_operator},
    [TL_AST_COMPOSE] = {.value = tl_lower_compose},
    // Statements.
    [TL_AST_WHILE] = {.run = tl_lower_while},
    [TL_AST_FOR] = {.run = tl_lower_for},
    [TL_AST_ASSIGN] = {.run = tl_lower_assign},
    [TL_AST_UPDATE] = {.run = tl_lower_update},
    [TL_AST_DEFINE] = {.run = tl_lower_define},
    [TL_AST_GLOBAL] = {.run = lower_nothing},
    [TL_AST_RETURN] = {.run = tl_lower_return},
    [TL_AST_PEAK] = {.run = tl_lower_peak},
    [TL_AST_BREAK] = {.run = tl_lower_leave},
    [TL_AST_CONTINUE] = {.run = tl_lower_leave},
    [TL_AST_IMPORT] = {.run = tl_lower_import},
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
