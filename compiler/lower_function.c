// Lowering of functions, each into a graph of its own, and of the blocks that
// their bodies are. Definitions in a row are one group: first its prototypes
// are made, so that the bodies can name one another, then the bodies.

#include "compiler/lower.h"

// The table of functions is by the prototype's number and grows by copying in
// the arena; it doubles, so that what is left behind is no more than what is
// used.
tl_cfg_function *tl_function_new(tl_builder *b, tl_prototype *prototype) {
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
    for (int32_t i = 0; i < program->function_count; i++)
      functions[i] = program->functions[i];
    program->functions = functions;
    b->function_capacity = capacity;
  }
  // The first block is there, so that tl_new_block always has one to give.
  if (!tl_arena_more(b->arena, &f->blocks, &f->block_capacity, 0,
                     sizeof *f->blocks))
    return NULL;
  f->prototype = prototype;
  f->index = index;
  program->functions[index] = f;
  if (index >= program->function_count)
    program->function_count = index + 1;
  return f;
}

// No instruction has a handler at first: -1 is the caller of the function.
void tl_function_begin(tl_lower *l, tl_builder *b, tl_cfg_function *f,
                       tl_scope *scope) {
  *l = (tl_lower){
      .b = b, .f = f, .scope = scope, .group = scope->group, .handler = -1};
  tl_enter_block(l, tl_new_block(l));
}

// Some slots are left for temporaries.
void tl_function_slots(tl_lower *l, uint32_t param_count) {
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
      tl_diagnose(l->b->diagnostics, TALLY_ERR_LIMIT, v->first,
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

// A copy that nobody reads is a use, so each variable has a value, or is unset,
// up to here.
void tl_use_variables(tl_lower *l, tl_span span) {
  for (int32_t i = 0; i < l->f->variable_count && l->b->debugged; i++) {
    int32_t mark = l->top;
    tl_emit1(l, TL_BC_MOV, tl_into(l, -1), i, span);
    l->top = mark;
  }
}

// Whether all that the function does with a variable is to read the kind or the
// message of the error that it has.
static bool reads_text(const tl_lower *l, int32_t slot) {
  const uint32_t kind = tl_unit_text(l->b, "kind", 4);
  const uint32_t message = tl_unit_text(l->b, "message", 7);
  for (int32_t b = 0; b < l->f->block_count; b++) {
    const tl_cfg_block *block = &l->f->blocks[b];
    for (int32_t i = 0; i < block->count; i++) {
      const tl_cfg_ins *ins = &block->ins[i];
      bool reads = ins->op == TL_BC_GETF &&
                   (ins->extra == kind || ins->extra == message);
      if (!reads && tl_ins_reads(ins, slot))
        return false;
    }
  }
  return true;
}

// Of an error whose kind and message alone are read, its place and trace are
// not looked for.
static void leave_out_places(tl_lower *l) {
  for (int32_t b = 0; b < l->f->block_count; b++) {
    const tl_cfg_block *block = &l->f->blocks[b];
    tl_cfg_ins *catch = block->ins;
    if (block->is_handler && block->count > 0 &&
        catch->extra == TL_CATCHES_NAMED &&
        catch->result < l->f->variable_count && reads_text(l, catch->result))
      catch->extra = TL_CATCHES_TEXT;
  }
}

// Names go to slots only here, when the number of variables is known. A
// variable that lives in the module, or only in captures, has no slot and no
// name in it.
void tl_function_end(tl_lower *l, int32_t value, tl_span span) {
  tl_prototype *p = l->f->prototype;
  // A debugger stops at the brace that ends a function.
  if (l->b->debugged && l->scope->kind != TL_SCOPE_MODULE &&
      span.end > span.begin)
    span.at = span.end - 1;
  tl_use_variables(l, span);
  tl_emit1(l, TL_BC_RET, -1, value, span);
  leave_out_places(l);
  p->slot_names = tl_unit_room(
      l->b, sizeof *p->slot_names * (size_t)(l->f->variable_count + 1));
  if (p->slot_names == NULL)
    return;
  p->named_count = (uint32_t)l->f->variable_count;
  for (tl_variable *v = l->scope->variables; v != NULL; v = v->next) {
    if (v->is_global || v->index < 0)
      continue;
    p->slot_names[v->index] = tl_unit_named(l->b, v->name);
  }
  tl_definite(l->b, l->f, l->scope);
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
    tl_lower_expr(l, param->value, (int32_t)i);
    tl_end_block(l, there, there, param->span);
    // What was known of earlier parameters holds in the new block, too.
    for (uint32_t k = 0; k <= i; k++) l->assigned_in[k] = l->block;
  }
}

// Describes the parameters to the VM, which binds arguments where the caller
// does not know its callee; types are checked by an instruction behind the
// defaults.
static void describe_params(tl_lower *l, tl_ast_function *function) {
  tl_prototype *p = l->f->prototype;
  p->param_count = p->most_count = function->count;
  p->plain = true;
  p->params =
      tl_unit_room(l->b, sizeof *p->params * ((size_t)function->count + 1));
  if (p->params == NULL)
    return;
  bool patterns = false;
  for (uint32_t i = 0; i < function->count; i++) {
    tl_ast_param *param = &function->params[i];
    tl_function_param *out = &p->params[i];
    out->kind = tl_param_kind_of(param);
    out->name = tl_unit_named(l->b, param->name);
    p->has_rest = p->has_rest || out->kind == TL_PARAM_REST;
    if (out->kind == TL_PARAM_REQUIRED)
      p->least_count = i + 1;
    else if (out->kind >= TL_PARAM_REST && i < p->most_count)
      p->most_count = i;
    if (p->has_rest)
      p->least_count = UINT32_MAX;
    // plain: all arguments by position, none optional; such calls need no
    // binding.
    p->plain = p->plain && out->kind == TL_PARAM_REQUIRED;
    if (param->pattern != NULL) {
      // A wrong type literal is the script's error, here at compile time.
      out->pattern = tl_type_parse(l->b->vm, param->pattern->string.text,
                                   param->pattern->string.nbytes);
      patterns = true;
      if (out->pattern == NULL)
        tl_diagnose_pending(l->b, param->pattern->span);
    }
  }
  if (patterns) {
    tl_span span = function->params[0].span;
    tl_emit(l, TL_BC_CHECKTYPES, -1, 0, span);
  }
}

// The body of one function, in a graph of its own.
static void lower_body(tl_builder *b, tl_ast *ast, tl_prototype *prototype) {
  tl_ast_function *function = &ast->function;
  tl_cfg_function *f = tl_function_new(b, prototype);
  if (f == NULL || function->scope == NULL)
    return;
  tl_lower l;
  tl_function_begin(&l, b, f, function->scope);
  tl_function_slots(&l, function->count);
  if (l.assigned_in == NULL || b->failed)
    return;
  if (function->doc != NULL)
    prototype->doc = tl_unit_string(b, function->doc, function->doc_nbytes);
  // For whoever takes the function along as a text.
  prototype->begin = ast->span.begin;
  prototype->end = ast->span.end;
  if (function->count > 0) {
    // For the signature in documentation, which quotes the source.
    prototype->params_begin = function->params[0].span.begin;
    prototype->params_end = function->params[function->count - 1].span.end;
  }
  lower_defaults(&l, function);
  describe_params(&l, function);
  // The body's value is the result; `return` has its own RET.
  int32_t value = tl_lower_expr(&l, function->body, -1);
  tl_function_end(&l, value, function->body->span);
}

// Names of the captured variables, for messages about unset ones.
static void name_captures(tl_builder *b, tl_closure_group *group,
                          tl_prototype **members) {
  tl_string **names = tl_unit_room(b, sizeof *names * group->capture_count);
  if (names == NULL)
    return;
  for (uint32_t i = 0; i < group->capture_count; i++)
    names[i] = tl_unit_named(b, group->captures[i]->name);
  for (uint32_t i = 0; i < group->count; i++) members[i]->capture_names = names;
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
      tl_diagnose(b->diagnostics, TALLY_ERR_LIMIT, span,
                  "a function uses at most %d variables of those around it",
                  TL_MAX_SLOTS - 600);
      return;
    }
    // The captured values are copied side by side: the window of CLOSURE.
    int32_t first = tl_temps(l, count);
    for (int32_t i = 0; i < count; i++)
      tl_lower_capture(l, group->captures[i], first + i, span);
    // One environment serves all members: MEMBER gives the others.
    tl_emit_window(l, TL_BC_CLOSURE, base, NULL, count,
                   tl_unit_group(b, group->count, members), span);
  }
  for (uint32_t i = 0; i < group->count; i++)
    lower_body(b, group->functions[i], members[i]);
}

// A lambda or another function without a name: a constant, or a closure.
int32_t tl_lower_function(tl_lower *l, tl_ast *ast, int32_t want) {
  tl_closure_group *group = ast->function.group;
  if (group == NULL)
    return tl_into(l, want);
  int32_t base = tl_temp(l);
  make_group(l, group, base, ast->span);
  tl_prototype **members = group->lowered;
  if (members == NULL)
    return base;
  // Without an environment the function is a constant, equal each time.
  if (group->capture_count == 0) {
    want = want < 0 ? base : want;
    tl_load_function(l, want, members[0], ast->span);
    return want;
  }
  return tl_lower_into(l, want, base, ast->span);
}

// Functions that capture nothing are constants; where every use knows that,
// they are not even assigned. Of others one closure is made, and MEMBER gives
// each of its functions.
static void lower_group(tl_lower *l, tl_ast **defines, uint32_t count) {
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
        tl_known_constant(l, variable, &known))
      continue;  // every use is the constant itself
    // One temporary serves all members: a script may define thousands.
    int32_t value = base, after = l->top;
    if (group->capture_count == 0) {
      value = tl_temp(l);
      tl_load_function(l, value, members[i], span);
    } else if (i > 0) {
      value = tl_temp(l);
      tl_emit1x(l, TL_BC_MEMBER, value, base, i, span);
    }
    tl_store_name(l, name, value, span);
    l->top = after;
  }
  l->top = mark;
}

// --- Blocks -----------------------------------------------------------------

// Only definitions that stand directly behind one another are a group: a
// statement in between may call those above it, which then must exist.
uint32_t tl_lower_defines(tl_lower *l, tl_ast *block, uint32_t at) {
  tl_ast **items = &block->items.items[at];
  uint32_t left = block->items.count - at, n = 0;
  while (n < left && items[n]->kind == TL_AST_DEFINE) n++;
  if (n > 0)
    lower_group(l, items, n);
  return n;
}

// A definition that is no statement of a block is a group of its own.
void tl_lower_define(tl_lower *l, tl_ast *ast) {
  lower_group(l, &ast, 1);
}

// Neighbouring definitions are taken as one group, since they may call one
// another. The value of the last statement is not a statement's: it may be
// consumed by whoever wanted the block.
int32_t tl_lower_block(tl_lower *l, tl_ast *block, int32_t want) {
  uint32_t count = block->items.count;
  for (uint32_t i = 0; i < count; i++) {
    tl_ast *statement = block->items.items[i];
    l->within = block;
    l->next = i + 1;
    uint32_t n = tl_lower_defines(l, block, i);
    if (n > 0) {
      i += n - 1;
      continue;
    }
    // The last expression is the block's value.
    if (want != TL_NO_VALUE && i + 1 == count &&
        tl_lowering_of(l, statement)->value != NULL)
      return tl_lower_expr(l, statement, want);
    tl_lower_statement(l, statement);
  }
  return want == TL_NO_VALUE
             ? -1
             : tl_load_constant(l, want, tl_none(), block->span);
}
