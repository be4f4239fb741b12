// Lowering of functions, blocks and statements, and the module's own code.
//
// tl_lower_program lowers the module's code as function 0. A function in it is
// lowered when its definition is met: first the prototypes of its group, so
// that the bodies can name one another, then the bodies, each in a graph of
// its own.

#include "compiler/lower.h"

#include <string.h>

// --- Functions --------------------------------------------------------------

// A function of the unit, with a number and a name (NULL: none) but without
// code. NULL: no memory.
static tl_prototype *new_prototype(tl_builder *b, const tl_name *name) {
  tl_unit *unit = b->unit;
  tl_prototype *p = tl_unit_alloc(b->vm, unit, sizeof *p);
  if (p == NULL) {
    b->failed = true;
    return NULL;
  }
  p->head.kind = TL_KIND_FUNCTION;
  // Functions live as long as their unit and are never counted.
  p->head.flags = TL_IMMORTAL;
  p->head.count = 1;
  p->unit = unit;
  p->name = name == NULL ? tl_unit_string(b, "", 0)
                         : tl_unit_string(b, name->text, name->nbytes);
  // The table grows in the arena; keep_tables moves it to the unit.
  if (unit->prototype_count == b->prototype_capacity) {
    uint32_t capacity = b->prototype_capacity * 2 + 8;
    tl_prototype **all = TL_ARENA_ARRAY(b->arena, tl_prototype *, capacity);
    if (all == NULL)
      return NULL;
    if (unit->prototype_count > 0) {
      memcpy(all, unit->prototypes, unit->prototype_count * sizeof *all);
    }
    unit->prototypes = all;
    b->prototype_capacity = capacity;
  }
  p->index = unit->prototype_count;
  unit->prototypes[unit->prototype_count++] = p;
  return p;
}

// A graph for [prototype], under the same number.
static tl_cfg_function *new_function(tl_builder *b, tl_prototype *prototype) {
  tl_cfg_program *program = b->program;
  tl_cfg_function *f = TL_ARENA_NEW(b->arena, tl_cfg_function);
  if (f == NULL)
    return NULL;
  // Bodies are lowered in another order than prototypes are made, so the table
  // may have gaps meanwhile.
  int32_t index = (int32_t)prototype->index;
  if (index >= b->function_capacity) {
    int32_t capacity = index * 2 + 8;
    tl_cfg_function **functions =
        TL_ARENA_ARRAY(b->arena, tl_cfg_function *, (size_t)capacity);
    if (functions == NULL)
      return NULL;
    for (int32_t i = 0; i < program->function_count; i++) {
      functions[i] = program->functions[i];
    }
    program->functions = functions;
    b->function_capacity = capacity;
  }
  // The first block is there, so that tl_new_block always has one to give.
  enum { FIRST_BLOCKS = 8 };
  f->blocks = TL_ARENA_ARRAY(b->arena, tl_cfg_block, FIRST_BLOCKS);
  if (f->blocks == NULL)
    return NULL;
  f->block_capacity = FIRST_BLOCKS;
  f->prototype = prototype;
  f->index = index;
  program->functions[index] = f;
  if (index >= program->function_count)
    program->function_count = index + 1;
  return f;
}

// Starts lowering [f], whose variables [scope] has, at its first block.
static void begin(tl_lower *l, tl_builder *b, tl_lower *outer,
                  tl_cfg_function *f, tl_scope *scope) {
  *l = (tl_lower){.b = b,
                  .outer = outer,
                  .f = f,
                  .scope = scope,
                  .group = scope->group,
                  .handler = -1};
  tl_enter_block(l, tl_new_block(l));
}

// Gives slots to the parameters and then to the function's other variables.
// What is only captured or global needs none. Some slots are left for
// temporaries.
static void assign_slots(tl_lower *l, uint32_t param_count) {
  tl_cfg_function *f = l->f;
  int32_t index = 0;
  for (tl_variable *v = l->scope->variables; v != NULL; v = v->next) {
    if (v->is_global)
      continue;
    // Only read here: it is another function's, or the library's.
    if (!v->is_bound && !v->is_updated)
      continue;
    if (index >= TL_MAX_SLOTS - 600) {
      if (l->scope->kind == TL_SCOPE_MODULE) {
        v->is_global = true;  // the rest of a very long script
        continue;
      }
      tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_LIMIT, v->first,
                  "a function has at most %d variables", TL_MAX_SLOTS - 600);
      break;
    }
    v->index = index++;
  }
  f->param_count = (int32_t)param_count;
  f->variable_count = index;
  f->slot_count = index;
  l->top = index;
  l->assigned_in = TL_ARENA_ARRAY(l->b->arena, int32_t, (size_t)index + 1);
  if (l->assigned_in == NULL)
    return;
  // No variable is known to be set in any block yet.
  for (int32_t i = 0; i < index; i++) l->assigned_in[i] = -1;
}

// Names of the variables' slots, for messages and listings.
static void name_slots(tl_lower *l) {
  tl_prototype *p = l->f->prototype;
  p->slot_names =
      tl_unit_alloc(l->b->vm, l->b->unit,
                    sizeof *p->slot_names * (size_t)(l->f->variable_count + 1));
  if (p->slot_names == NULL) {
    l->b->failed = true;
    return;
  }
  p->named_count = (uint32_t)l->f->variable_count;
  for (tl_variable *v = l->scope->variables; v != NULL; v = v->next) {
    if (v->is_global || v->index < 0)
      continue;
    p->slot_names[v->index] =
        tl_unit_string(l->b, v->name->text, v->name->nbytes);
  }
}

// Evaluates a parameter's default if the argument is missing. Defaults may
// read the parameters before them.
static void lower_defaults(tl_lower *l, tl_ast_function *function) {
  for (uint32_t i = 0; i < function->count; i++) {
    tl_ast_param *param = &function->params[i];
    // A parameter needs no check: it is set, or its default sets it.
    l->assigned_in[i] = l->block;
    if (param->value == NULL)
      continue;
    int32_t missing = tl_new_block(l), there = tl_new_block(l);
    tl_branch(l, TL_BC_JSET, (int32_t)i, there, missing, param->span);
    tl_enter_block(l, missing);
    int32_t mark = l->top;
    tl_lower_expr(l, param->value, (int32_t)i);
    l->top = mark;
    tl_jump(l, there, param->span);
    tl_enter_block(l, there);
    // What was known of earlier parameters holds in the new block, too.
    for (uint32_t k = 0; k <= i; k++) l->assigned_in[k] = l->block;
  }
}

// Describes the parameters to the VM, which binds arguments where the caller
// does not know its callee; types are checked by an instruction behind the
// defaults.
static void describe_params(tl_lower *l, tl_ast_function *function) {
  tl_prototype *p = l->f->prototype;
  p->param_count = function->count;
  p->plain = true;
  p->params = tl_unit_alloc(l->b->vm, l->b->unit,
                            sizeof *p->params * ((size_t)function->count + 1));
  if (p->params == NULL) {
    l->b->failed = true;
    return;
  }
  bool patterns = false;
  for (uint32_t i = 0; i < function->count; i++) {
    tl_ast_param *param = &function->params[i];
    tl_function_param *out = &p->params[i];
    static const tl_param_kind kinds[] = {
        [TL_AST_PARAM_REQUIRED] = TL_PARAM_REQUIRED,
        [TL_AST_PARAM_DEFAULT] = TL_PARAM_OPTIONAL,
        [TL_AST_PARAM_REST] = TL_PARAM_REST,
        [TL_AST_PARAM_NAMED] = TL_PARAM_NAMED,
    };
    out->kind = kinds[param->kind];
    out->name = tl_unit_string(l->b, param->name->text, param->name->nbytes);
    p->required_count += out->kind == TL_PARAM_REQUIRED;
    p->has_rest = p->has_rest || out->kind == TL_PARAM_REST;
    // plain: all arguments by position, none optional; such calls need no
    // binding.
    p->plain = p->plain && out->kind == TL_PARAM_REQUIRED;
    if (param->pattern != NULL) {
      // A wrong type literal is the script's error, here at compile time.
      out->pattern = tl_type_parse(l->b->vm, param->pattern->string.text,
                                   param->pattern->string.nbytes);
      patterns = true;
      if (out->pattern == NULL) {
        tl_diagnose_pending(l->b, param->pattern->span);
      }
    }
  }
  if (patterns) {
    tl_span span = function->params[0].span;
    tl_emit(l, TL_BC_CHECKTYPES, -1, 0, span);
  }
}

void tl_diagnose_pending(tl_builder *b, tl_span span) {
  if (b->vm->error.status == TALLY_ERR_MEMORY) {  // nobody's mistake
    b->failed = true;
    return;
  }
  const char *message =
      b->vm->error.message == NULL ? "no memory" : b->vm->error.message;
  tl_diagnose(b->diagnostics,
              b->vm->error.status == TALLY_ERR_TYPE ? TL_DIAGNOSTIC_TYPE
                                                    : TL_DIAGNOSTIC_VALUE,
              span, "%s", message);
  // From here on it is a diagnostic among others, with a place in the text.
  tl_error_clear(b->vm);
}

// The body of one function, in a graph of its own.
static void lower_body(tl_builder *b, tl_lower *outer, tl_ast *ast,
                       tl_prototype *prototype) {
  tl_ast_function *function = &ast->function;
  tl_cfg_function *f = new_function(b, prototype);
  if (f == NULL || function->scope == NULL)
    return;
  tl_lower l;
  begin(&l, b, outer, f, function->scope);
  assign_slots(&l, function->count);
  if (l.assigned_in == NULL || b->failed)
    return;
  if (function->doc != NULL) {
    prototype->doc = tl_unit_string(b, function->doc, function->doc_nbytes);
  }
  if (function->count > 0) {
    // For the signature in documentation, which quotes the source.
    prototype->params_begin = function->params[0].span.begin;
    prototype->params_end = function->params[function->count - 1].span.end;
  }
  lower_defaults(&l, function);
  describe_params(&l, function);
  // The body's value is the result; `return` has its own RET.
  int32_t value = tl_lower_expr(&l, function->body, -1);
  tl_emit1(&l, TL_BC_RET, -1, value, function->body->span);
  name_slots(&l);
  tl_definite(b, f, function->scope);
}

// The prototypes of a group, made before its bodies, which may name them.
tl_prototype **tl_group_prototypes(tl_builder *b, tl_closure_group *group) {
  if (group->lowered != NULL)
    return group->lowered;
  tl_prototype **members =
      tl_unit_alloc(b->vm, b->unit, sizeof *members * group->count);
  if (members == NULL) {
    b->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < group->count; i++) {
    members[i] = new_prototype(b, group->functions[i]->function.name);
    if (members[i] == NULL)
      return NULL;
    // Members know their place in the group, and that they share captures.
    members[i]->member = i;
    members[i]->capture_count = group->capture_count;
  }
  group->lowered = members;
  return members;
}

// Names of the captured variables, for messages about unset ones.
static void name_captures(tl_builder *b, tl_closure_group *group,
                          tl_prototype **members) {
  if (group->capture_count == 0)
    return;
  tl_string **names =
      tl_unit_alloc(b->vm, b->unit, sizeof *names * group->capture_count);
  if (names == NULL) {
    b->failed = true;
    return;
  }
  for (uint32_t i = 0; i < group->capture_count; i++) {
    const tl_name *name = group->captures[i]->name;
    names[i] = tl_unit_string(b, name->text, name->nbytes);
  }
  for (uint32_t i = 0; i < group->count; i++) {
    members[i]->capture_names = names;
  }
}

// Adds the members of a group to the unit; the CLOSURE instruction names them
// by this index.
static uint32_t add_group(tl_builder *b, tl_closure_group *group,
                          tl_prototype **members) {
  tl_unit *unit = b->unit;
  if (unit->group_count == b->group_capacity) {
    uint32_t capacity = b->group_capacity * 2 + 8;
    tl_group *groups = TL_ARENA_ARRAY(b->arena, tl_group, capacity);
    if (groups == NULL)
      return 0;
    if (unit->group_count > 0) {
      memcpy(groups, unit->groups, unit->group_count * sizeof *groups);
    }
    unit->groups = groups;
    b->group_capacity = capacity;
  }
  unit->groups[unit->group_count] = (tl_group){group->count, members};
  return unit->group_count++;
}

// Lowers the members' bodies and, if they capture, makes the closure in slot
// [base]; its value is member 0.
static void make_group(tl_lower *l, tl_closure_group *group, int32_t base,
                       tl_span span) {
  tl_builder *b = l->b;
  tl_prototype **members = tl_group_prototypes(b, group);
  if (members == NULL)
    return;
  if (group->capture_count > 0) {
    name_captures(b, group, members);
    int32_t count = (int32_t)group->capture_count;
    if (count > TL_MAX_SLOTS - 600) {
      tl_diagnose(b->diagnostics, TL_DIAGNOSTIC_LIMIT, span,
                  "a function uses at most %d variables of those around it",
                  TL_MAX_SLOTS - 600);
      return;
    }
    // The captured values are copied side by side: the window of CLOSURE.
    int32_t first = tl_temps(l, count);
    for (int32_t i = 0; i < count; i++) {
      tl_lower_capture(l, group->captures[i], first + i, span);
    }
    // One environment serves all members: MEMBER gives the others.
    tl_cfg_ins *ins = tl_emit(l, TL_BC_CLOSURE, base, count, span);
    for (int32_t i = 0; i < count; i++) ins->operands[i] = first + i;
    ins->window = base;
    ins->extra = add_group(b, group, members);
  }
  for (uint32_t i = 0; i < group->count; i++) {
    lower_body(b, l, group->functions[i], members[i]);
  }
}

// A lambda or another function without a name: a constant, or a closure.
int32_t tl_lower_function(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_closure_group *group = ast->function.group;
  if (group == NULL)
    return want < 0 ? tl_temp(l) : want;
  int32_t base = tl_temp(l);
  int32_t mark = l->top;
  make_group(l, group, base, ast->span);
  l->top = mark;
  tl_prototype **members = group->lowered;
  if (members == NULL)
    return base;
  // Without an environment the function is a constant, equal each time.
  if (group->capture_count == 0) {
    tl_load_constant(l, want < 0 ? base : want,
                     (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = members[0]},
                     ast->span);
    return want < 0 ? base : want;
  }
  return tl_lower_into(l, want, base, ast->span);
}

// Functions that capture nothing are constants; where every use knows that,
// they are not even assigned. Of others one closure is made, and MEMBER gives
// each of its functions.
void tl_lower_group(tl_lower *l, tl_ast **defines, uint32_t count) {
  tl_closure_group *group = defines[0]->define.function->function.group;
  if (group == NULL)
    return;
  int32_t mark = l->top;
  int32_t base = tl_temp(l);
  make_group(l, group, base, defines[0]->span);
  tl_prototype **members = group->lowered;
  for (uint32_t i = 0; i < count && members != NULL; i++) {
    const tl_name *name = defines[i]->define.name.name;
    tl_span span = defines[i]->define.name.span;
    tl_variable *variable = tl_scope_find(l->scope, name);
    tl_prototype *known;
    if (variable != NULL && !variable->is_global &&
        tl_known_constant(l, variable, &known)) {
      continue;  // every use is the constant itself
    }
    // One temporary serves all members: a script may define thousands.
    int32_t value = base, after = l->top;
    if (group->capture_count == 0) {
      value = tl_temp(l);
      tl_load_constant(l, value,
                       (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = members[i]},
                       span);
    } else if (i > 0) {
      value = tl_temp(l);
      tl_cfg_ins *ins = tl_emit(l, TL_BC_MEMBER, value, 1, span);
      ins->operands[0] = base;
      ins->extra = i;
    }
    tl_store_name(l, name, value, span);
    l->top = after;
  }
  l->top = mark;
}

// --- Blocks and statements --------------------------------------------------

// How many definitions stand in a row from statement [at] on.
static uint32_t group_length(tl_ast *block, uint32_t at) {
  uint32_t n = 0;
  while (at + n < block->items.count &&
         block->items.items[at + n]->kind == TL_AST_DEFINE) {
    n++;
  }
  return n;
}

// Whether a node gives no value when it is a block's last statement.
static bool is_statement(const tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_ASSIGN:
    case TL_AST_UPDATE:
    case TL_AST_DEFINE:
    case TL_AST_GLOBAL:
    case TL_AST_RETURN:
    case TL_AST_BREAK:
    case TL_AST_CONTINUE:
    case TL_AST_IMPORT:
    case TL_AST_FOR:
    case TL_AST_WHILE:
      return true;
    default:
      return false;
  }
}

int32_t tl_lower_block(tl_lower *l, tl_ast *block, int32_t want, bool value) {
  uint32_t count = block->items.count;
  for (uint32_t i = 0; i < count; i++) {
    tl_ast *statement = block->items.items[i];
    // Definitions in a row are one group, as the resolver made them.
    uint32_t n = group_length(block, i);
    if (n > 0) {
      tl_lower_group(l, &block->items.items[i], n);
      i += n - 1;
      continue;
    }
    // The last expression is the block's value.
    if (value && i + 1 == count && !is_statement(statement)) {
      return tl_lower_expr(l, statement, want);
    }
    // A statement leaves no temporaries behind.
    int32_t mark = l->top;
    tl_lower_statement(l, statement);
    l->top = mark;
  }
  if (!value)
    return -1;
  if (want < 0)
    want = tl_temp(l);
  tl_load_constant(l, want, tl_none(), block->span);
  return want;
}

// The rest of the block cannot be reached, so it goes to a block that nothing
// leads to.
static void lower_return(tl_lower *l, tl_ast *ast) {
  if (l->scope->function->kind == TL_SCOPE_MODULE) {
    tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX, ast->span,
                "return stands outside a function");
    return;
  }
  int32_t value;
  if (ast->result.value == NULL) {
    value = tl_temp(l);
    tl_load_constant(l, value, tl_none(), ast->span);
  } else {
    value = tl_lower_expr(l, ast->result.value, -1);
  }
  tl_emit1(l, TL_BC_RET, -1, value, ast->span);
  tl_enter_block(l, tl_new_block(l));
}

// `break` or `continue`: a jump, then likewise.
static void lower_leave(tl_lower *l, tl_ast *ast) {
  bool is_break = ast->kind == TL_AST_BREAK;
  if (l->loop == NULL) {
    tl_diagnose(l->b->diagnostics, TL_DIAGNOSTIC_SYNTAX, ast->span,
                "%s stands outside a loop", is_break ? "break" : "continue");
    return;
  }
  // Nothing has to be undone: what dies is dropped on the edge.
  tl_jump(l, is_break ? l->loop->done : l->loop->again, ast->span);
  tl_enter_block(l, tl_new_block(l));
}

// Imports a module and assigns it, or the names taken from it.
static void lower_import(tl_lower *l, tl_ast *ast) {
  tl_ast_import *import = &ast->import;
  int32_t module = tl_temp(l);
  const char *text = import->path != NULL ? import->path : import->name->text;
  size_t nbytes =
      import->path != NULL ? import->path_nbytes : import->name->nbytes;
  // The first byte says whether a path or a name follows.
  char *spec = tl_arena_text(l->b->arena, "", 0);
  spec = tl_arena_alloc(l->b->arena, nbytes + 2);
  if (spec == NULL)
    return;
  spec[0] = import->path != NULL ? '"' : ' ';
  memcpy(spec + 1, text, nbytes);
  tl_emit_x(l, TL_BC_IMPORT, module, tl_unit_name(l->b, spec, nbytes + 1),
            import->path_span);
  // import … as m, or import m: the module itself is the value.
  if (import->count == 0) {
    const tl_name *name = tl_import_name(l->b->names, import);
    if (name != NULL)
      tl_store_name(l, name, module, ast->span);
    return;
  }
  for (uint32_t i = 0; i < import->count; i++) {
    int32_t item = tl_temp(l);
    const tl_name *name = import->names[i].name;
    tl_cfg_ins *ins = tl_emit(l, TL_BC_GETF, item, 1, import->names[i].span);
    ins->operands[0] = module;
    ins->extra = tl_unit_name(l->b, name->text, name->nbytes);
    tl_store_name(l, name, item, import->names[i].span);
  }
}

// Statements have no value, so what an expression leaves in a slot is unused:
// ownership drops it.
void tl_lower_statement(tl_lower *l, tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_ASSIGN:
      tl_lower_assign(l, ast);
      return;
    case TL_AST_UPDATE:
      tl_lower_update(l, ast);
      return;
    case TL_AST_DEFINE:
      tl_lower_group(l, &ast, 1);
      return;
    case TL_AST_GLOBAL:
      return;
    case TL_AST_RETURN:
      lower_return(l, ast);
      return;
    case TL_AST_BREAK:
    case TL_AST_CONTINUE:
      lower_leave(l, ast);
      return;
    case TL_AST_IMPORT:
      lower_import(l, ast);
      return;
    case TL_AST_IF:
      tl_lower_if(l, ast, -1, false);
      return;
    case TL_AST_WHILE:
      tl_lower_while(l, ast);
      return;
    case TL_AST_FOR:
      tl_lower_for(l, ast);
      return;
    case TL_AST_TRY:
      tl_lower_try(l, ast, -1, false);
      return;
    case TL_AST_BLOCK:
      tl_lower_block(l, ast, -1, false);
      return;
    default:
      if (!tl_has_effect(l, ast)) {
        tl_refuse_useless(l, ast);
        return;
      }
      tl_lower_expr(l, ast, -1);
      return;
  }
}

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
    tl_load_constant(l, value,
                     (tl_slot){.tag = TL_TAG_FUNCTION, .pointer = known},
                     statement->span);
    tl_store_name(l, variable->name, value, statement->span);
    l->top--;
  }
}

// The input of a prompt: the value of each expression is shown.
static void lower_prompt(tl_lower *l, tl_ast *program) {
  for (uint32_t i = 0; i < program->items.count; i++) {
    tl_ast *statement = program->items.items[i];
    uint32_t n = group_length(program, i);
    int32_t mark = l->top;
    if (n > 0) {
      tl_lower_group(l, &program->items.items[i], n);
      i += n - 1;
    } else if (is_statement(statement)) {
      tl_lower_statement(l, statement);
    } else {
      int32_t value = tl_lower_expr(l, statement, -1);
      tl_emit1(l, TL_BC_SHOW, -1, value, statement->span);
    }
    l->top = mark;
  }
  int32_t none = tl_temp(l);
  tl_load_constant(l, none, tl_none(), program->span);
  tl_emit1(l, TL_BC_RET, -1, none, program->span);
}

// Gives the new module variables their index, after those that are there.
static bool add_globals(tl_builder *b, tl_scope *scope) {
  for (tl_variable *v = scope->variables; v != NULL; v = v->next) {
    if (!v->is_global || v->index >= 0)
      continue;
    const tl_name *name = v->name;
    // A forsaken name is in the module already, without a value: it is found
    // instead of added a second time.
    v->index =
        b->resolver->has_forsaken
            ? tl_module_variable(b->vm, b->unit->module, name->text,
                                 name->nbytes)
            : tl_module_add(b->vm, b->unit->module, name->text, name->nbytes);
    if (v->index < 0)
      return false;
  }
  return true;
}

// Lowers the module's own code, and with it all functions in it.
bool tl_lower_program(tl_builder *b, tl_ast *program) {
  tl_resolver *r = b->resolver;
  tl_prototype *prototype = new_prototype(b, NULL);
  if (prototype == NULL)
    return false;
  tl_cfg_function *f = new_function(b, prototype);
  if (f == NULL)
    return false;
  f->is_main = true;
  tl_lower l;
  begin(&l, b, NULL, f, r->module_scope);
  // Known functions become module variables: see hoist_functions.
  for (tl_variable *v = l.scope->variables; v != NULL; v = v->next) {
    tl_prototype *known;
    if (v->definition != NULL && tl_known_constant(&l, v, &known)) {
      v->is_global = true;
    }
  }
  // The other variables of a script get slots.
  assign_slots(&l, 0);
  if (l.assigned_in == NULL || !add_globals(b, l.scope))
    return false;
  hoist_functions(&l, program);
  if (r->mode == TL_UNIT_PROMPT) {
    lower_prompt(&l, program);
  } else {
    bool value = r->mode == TL_UNIT_EVAL;
    int32_t slot = tl_lower_block(&l, program, -1, value);
    // A script or module has no value; EVAL has that of its last expression.
    if (!value) {
      slot = tl_temp(&l);
      tl_load_constant(&l, slot, tl_none(), program->span);
    }
    tl_emit1(&l, TL_BC_RET, -1, slot, program->span);
  }
  name_slots(&l);
  tl_definite(b, f, l.scope);
  // Imports and functions may have added variables until here.
  b->program->global_count = (int32_t)b->unit->module->variable_count;
  return !b->failed && !b->arena->failed && b->diagnostics->total == 0;
}
