// Resolving names, in two walks over each function: the first (declare_…)
// finds what it assigns, the second (resolve_…) finds what every name means
// and what closures capture. The first must be complete before the second
// begins, since a name may be read, in a nested function, before the line that
// assigns it.

#include "compiler/resolver.h"
#include "vm/objects.h"

#include "compiler/ast_walk.h"
#include "vm/hints.h"
#include "compiler/scope.h"
#include "vm/bytecode/module.h"
#include "vm/embedded.h"

// --- What a function assigns ------------------------------------------------

static bool declare_in(tl_ast *ast, void *resolver);

// Declares a variable of the module, which a function may assign. Returns
// borrowed, NULL without memory.
static tl_variable *declare_global(tl_resolver *r, const tl_name *name,
                                   tl_span span) {
  tl_variable *global = tl_scope_declare(r->arena, r->module_scope, name);
  if (global == NULL)
    return NULL;
  global->is_read_below = true;
  global->is_shared = true;
  tl_occurs(r->occurrences, TL_OCCURS_WRITTEN, global, name, span);
  return global;
}

// Notes an assignment of [name] in the current function. [whole]: the name
// itself gets a value, not a place below it. Returns borrowed the variable,
// NULL without memory.
static tl_variable *declare_name(tl_resolver *r, const tl_name *name,
                                 tl_span span, bool whole) {
  tl_scope *scope = r->scope->function;
  // It assigns the module's variable, which others read: no known function, no
  // local of the module's code.
  if (scope->kind == TL_SCOPE_FUNCTION && tl_scope_is_global(scope, name)) {
    tl_variable *global = declare_global(r, name, span);
    if (global != NULL)
      global->assigns += 2;  // never a known function
    return global;
  }
  tl_variable *variable = tl_scope_declare(r->arena, scope, name);
  if (variable == NULL)
    return NULL;
  tl_occurs(r->occurrences, TL_OCCURS_WRITTEN, variable, name, span);
  // The first place is where messages about the variable point.
  if (variable->assigns == 0)
    variable->first = span;
  if (whole) {
    variable->assigns++;
    variable->is_bound = true;
  } else {
    variable->is_updated = true;
  }
  return variable;
}

// Looks at a name in a target; [whole] as above.
typedef void target_name(tl_resolver *r, const tl_name *name, tl_span span,
                         bool whole);

// Hands over all names in a target, and what its indices hold. x[i] = v updates
// x; blocks in the index may assign more.
static void walk_target(tl_resolver *r, tl_target *target, bool whole,
                        target_name *look, tl_ast_visitor *visit) {
  if (target->kind == TL_TARGET_LIST) {
    for (uint32_t i = 0; i < target->count; i++)
      walk_target(r, &target->targets[i], whole, look, visit);
    return;
  }
  const bool is_place = target->kind == TL_TARGET_PLACE;
  look(r, target->name, target->name_span, whole && !is_place);
  if (is_place)
    tl_ast_each_in_target(target, visit, r);
}

static void declare_target_name(tl_resolver *r, const tl_name *name,
                                tl_span span, bool whole) {
  declare_name(r, name, span, whole);
}

// Declares the names of a loop, a catch or an import.
static void declare_idents(tl_resolver *r, tl_ident *names, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    declare_name(r, names[i].name, names[i].span, true);
}

// Notes what an import binds. A library module that is bound once is known by
// its name from then on, so that its functions are constants.
static void declare_import(tl_resolver *r, tl_ast *ast) {
  tl_ast_import *import = &ast->import;
  for (uint32_t i = 0; i < import->count; i++) {
    tl_variable *one =
        declare_name(r, import->names[i].name, import->names[i].span, true);
    if (one != NULL && import->path != NULL)
      one->file = import;
  }
  tl_ident ident = tl_import_ident(import);
  if (import->count > 0 || ident.name == NULL)
    return;
  tl_variable *variable = declare_name(r, ident.name, ident.span, true);
  if (variable == NULL)
    return;
  variable->file = import->path != NULL ? import : NULL;
  if (variable->assigns == 1 && import->path == NULL &&
      r->vm->host->find_module(r->vm, import->name->text,
                               import->name->nbytes) != NULL) {
    // Only the library's own modules are known at compile time.
    variable->library = import->name->text;
  }
}

// The statements of a block. A function defined at the top of its function's
// body is its variable's definition: then a call may know the callee.
static void declare_block(tl_resolver *r, tl_ast *block) {
  for (uint32_t i = 0; i < block->items.count; i++) {
    tl_ast *statement = block->items.items[i];
    declare_in(statement, r);
    if (statement->kind != TL_AST_DEFINE)
      continue;
    tl_scope *scope = r->scope->function;
    tl_variable *variable = tl_scope_lookup(scope, statement->define.name.name);
    // Within an `if` it is defined only sometimes.
    if (variable != NULL && scope->body == block)
      variable->definition = statement;
  }
}

// Notes everything assigned in [ast], without looking into nested functions. A
// visitor of tl_ast_each_child.
static bool declare_in(tl_ast *ast, void *resolver) {
  tl_resolver *r = resolver;
  switch (ast->kind) {
    // Its variables are its own.
    case TL_AST_FUNCTION:
      return false;
    case TL_AST_DEFINE:
      declare_name(r, ast->define.name.name, ast->define.name.span, true);
      return false;
    case TL_AST_BLOCK:
      declare_block(r, ast);
      return false;
    case TL_AST_IMPORT:
      declare_import(r, ast);
      return false;
    // An update alone declares nothing that is bound: see resolve_update.
    case TL_AST_ASSIGN:
    case TL_AST_UPDATE:
      walk_target(r, &ast->assign.target, ast->kind == TL_AST_ASSIGN,
                  declare_target_name, declare_in);
      declare_in(ast->assign.value, r);
      if (ast->assign.fallback != NULL)
        declare_in(ast->assign.fallback, r);
      return false;
    case TL_AST_FOR:
      declare_idents(r, ast->for_loop.names, ast->for_loop.name_count);
      break;
    case TL_AST_TRY:
      declare_in(ast->attempt.body, r);
      if (ast->attempt.error.name != NULL)
        declare_idents(r, &ast->attempt.error, 1);
      declare_in(ast->attempt.handler, r);
      return false;
    default:
      break;
  }
  return tl_ast_each_child(ast, declare_in, r);
}

// Notes the names that a function declares global. `global n` counts for the
// whole function, wherever it stands among its statements.
static void collect_globals(tl_resolver *r, tl_ast *body) {
  // A body that is one expression has no statements.
  if (body->kind != TL_AST_BLOCK)
    return;
  for (uint32_t i = 0; i < body->items.count; i++) {
    tl_ast *statement = body->items.items[i];
    if (statement->kind != TL_AST_GLOBAL)
      continue;
    for (uint32_t k = 0; k < statement->idents.count; k++) {
      const tl_ident *ident = &statement->idents.names[k];
      if (r->scope->kind == TL_SCOPE_MODULE) {
        tl_diagnose(r->diagnostics, TALLY_ERR_NAME, ident->span,
                    "global %s stands outside a function, where every "
                    "variable is the module's already",
                    ident->name->text);
        continue;
      }
      tl_scope_add_global(r->arena, r->scope->function, ident->name);
      // Declared in the module, even if no code there assigns it.
      declare_global(r, ident->name, ident->span);
    }
  }
}

// --- What names mean --------------------------------------------------------

static bool resolve(tl_ast *ast, void *resolver);

// Notes a use of [variable] in the current function: every function from there
// out to the variable's own captures it, so that each can hand it on.
//
//   fn f(n) { fn g() { () => n }; g }     the lambda captures n, and so does g
static void use(tl_resolver *r, tl_variable *variable) {
  variable->is_read = true;
  tl_scope *home = variable->scope->function;
  tl_scope *scope = r->scope->function;
  // Its own variable, or one of a comprehension in it.
  if (scope == home)
    return;
  variable->is_read_below = true;
  // Module variables are reached by their index and not captured; those of
  // comprehensions at the top are slots, so they are.
  if (home->kind == TL_SCOPE_MODULE && variable->scope == home)
    return;
  while (scope != home) {
    tl_closure_group *group = scope->group;
    if (variable->group == group)
      return;  // a member names its own group
    if (!tl_group_capture(r->arena, group, variable))
      return;
    scope = scope->parent->function;
  }
}

// Whether a name is one of a module that could be imported.
static bool is_library_module(const tl_resolver *r, const tl_name *name) {
  const struct tl_embedded *embedded =
      tl_embedded_find(r->vm->library, name->text);
  return r->vm->host->find_module(r->vm, name->text, name->nbytes) != NULL ||
         (embedded != NULL && !embedded->is_global);
}

// Whether the name was reported before, and notes that it is now: the line
// that was to give it a value is wrong once, however often it is read.
static bool was_reported(tl_resolver *r, const tl_name *name) {
  for (tl_unknown *u = r->unknown; u != NULL; u = u->next)
    if (u->name == name)
      return true;
  if (tl_diagnostics_full(r->diagnostics))
    return false;
  tl_unknown *reported = TL_ARENA_NEW(r->arena, tl_unknown);
  if (reported != NULL) {
    *reported = (tl_unknown){name, r->unknown};
    r->unknown = reported;
  }
  return false;
}

// Reports a name that means nothing, with a habit from elsewhere, a missing
// import, or a near name as the proposal.
static void unknown_name(tl_resolver *r, const tl_name *name, tl_span span) {
  char hint[160];
  if (was_reported(r, name))
    return;
  const char *near = tl_name_hint(NULL, name->text, hint, sizeof hint);
  if (near != NULL) {
    tl_diagnose(r->diagnostics, TALLY_ERR_NAME, span, "%s is not defined: %s",
                name->text, near);
    return;
  }
  if (is_library_module(r, name)) {
    tl_diagnose(r->diagnostics, TALLY_ERR_NAME, span,
                "%s is a module that is not imported: write import %s first",
                name->text, name->text);
    return;
  }
  // Looking for near names is the slow part, and nobody would see the result.
  if (tl_diagnostics_full(r->diagnostics)) {
    r->diagnostics->total++;
    return;
  }
  const char *module = tl_module_with(r->vm, name);
  near = tl_scope_suggest(r->vm, r->scope, name);
  tl_diagnose(r->diagnostics, TALLY_ERR_NAME, span,
              module != NULL
                  ? "%s is not defined: write %s.%s, and import %s first"
              : near != NULL ? "%s is not defined; did you mean %s?"
                             : "%s is not defined",
              name->text, module != NULL ? module : near, name->text, module);
}

// A name that is read: a variable, which the functions between capture, or the
// library's.
static void resolve_name(tl_resolver *r, const tl_name *name, tl_span span) {
  tl_variable *variable = tl_scope_find(r->scope, name);
  if (variable != NULL) {
    use(r, variable);
    tl_occurs(r->occurrences, TL_OCCURS_READ, variable, name, span);
    return;
  }
  if (tl_known_find(r->vm, NULL, name).kind != TL_KNOWN_NOTHING)
    return;
  unknown_name(r, name, span);
}

// x += 1 and x[i] = v need an x of this function, or a declared global; else
// the message says where the x is that was meant.
static void resolve_update(tl_resolver *r, const tl_name *name, tl_span span,
                           bool whole) {
  tl_scope *scope = r->scope->function;
  tl_variable *own = tl_scope_lookup(scope, name);
  // Bound here, so the update is of this variable.
  if (whole || own == NULL || own->is_bound || own->is_param ||
      scope->kind == TL_SCOPE_MODULE) {
    if (!whole && own == NULL)
      resolve_name(r, name, span);
    return;
  }
  tl_variable *outer =
      scope->parent == NULL ? NULL : tl_scope_find(scope->parent, name);
  tl_diagnose(r->diagnostics, TALLY_ERR_NAME, span,
              outer == NULL ? "%s is changed here but never assigned"
              : outer->scope->kind == TL_SCOPE_MODULE
                  ? "%s is a variable of the module: write global %s in the "
                    "function that changes it"
                  : "%s is captured from the function around this one and "
                    "cannot be assigned here: return the new value instead",
              name->text, name->text);
}

// m, m.x = v: names are written last, so what the part gets would be lost.
static void refuse_lost(tl_resolver *r, const tl_target *all) {
  const tl_target *of = all->targets;
  for (uint32_t i = 0; i < all->count; i++)
    for (uint32_t k = 0; k < i && of[i].steps; k++)
      if (of[k].name == of[i].name && of[k].kind == TL_TARGET_NAME)
        tl_diagnose(r->diagnostics, TALLY_ERR_NAME, of[i].name_span,
                    "%s is assigned here, too, so this is lost: assign the "
                    "part in a line below",
                    of[i].name->text);
}

// A variable of the scope that the walk is in, which what opens it has bound,
// as if it were assigned so many times.
static tl_variable *add_bound(tl_resolver *r, uint32_t assigns,
                              const tl_name *name, tl_span first,
                              tl_span written) {
  tl_variable *variable = tl_scope_add(r->arena, r->scope, name);
  if (variable == NULL)
    return NULL;
  variable->is_bound = true;
  variable->assigns = assigns;
  variable->first = first;
  tl_occurs(r->occurrences, TL_OCCURS_WRITTEN, variable, name, written);
  return variable;
}

// A function: its parameters, then what it assigns, then what its names mean.
// Defaults are evaluated in the function, so they belong to it.
static void resolve_function(tl_resolver *r, tl_ast *ast,
                             tl_closure_group *group) {
  tl_ast_function *function = &ast->function;
  tl_scope *scope = tl_scope_new(r->arena, TL_SCOPE_FUNCTION, r->scope);
  if (scope == NULL)
    return;
  function->scope = scope;
  scope->group = group;
  scope->body = function->body;
  r->scope = scope;
  for (uint32_t i = 0; i < function->count; i++) {
    const tl_ast_param *p = &function->params[i];
    // A parameter counts as assigned once, by the call.
    tl_variable *param = add_bound(r, 1, p->name, p->span, p->name_span);
    if (param == NULL)
      break;
    param->is_param = true;
  }
  collect_globals(r, function->body);
  // Everything that the function assigns, before any name in it is looked up.
  declare_in(function->body, r);
  for (uint32_t i = 0; i < function->count; i++)
    if (function->params[i].value != NULL)
      declare_in(function->params[i].value, r);
  tl_ast_each_child(ast, resolve, r);
  r->scope = scope->parent;
}

// Makes a group of functions that stand side by side; [members] are their
// variables, or NULL for a lambda. A name that is assigned again is no member:
// it may mean another function.
//
//   fn even(n) = if n == 0 { true } else { odd(n - 1) }
//   fn odd(n) = if n == 0 { false } else { even(n - 1) }
//
// are one group without captures, so both are constants.
static void resolve_group(tl_resolver *r, tl_ast **functions, uint32_t count,
                          tl_variable **members) {
  tl_closure_group *group = TL_ARENA_NEW(r->arena, tl_closure_group);
  if (group == NULL)
    return;
  group->functions = functions;
  group->count = count;
  group->next = r->groups;
  r->groups = group;
  // Before the bodies, which may name the members.
  for (uint32_t i = 0; i < count && members != NULL; i++) {
    if (members[i] == NULL || members[i]->assigns != 1)
      continue;
    members[i]->group = group;
    members[i]->member = i;
  }
  for (uint32_t i = 0; i < count; i++) {
    functions[i]->function.group = group;
    resolve_function(r, functions[i], group);
  }
}

// Statements in order; definitions in a row make one group.
static void resolve_block(tl_resolver *r, tl_ast *block) {
  tl_ast **items = block->items.items;
  uint32_t count = block->items.count;
  for (uint32_t i = 0; i < count; i++) {
    if (items[i]->kind != TL_AST_DEFINE) {
      resolve(items[i], r);
      continue;
    }
    uint32_t n = 1;
    while (i + n < count && items[i + n]->kind == TL_AST_DEFINE) n++;
    // A run of definitions: they share one environment.
    tl_ast **functions = TL_ARENA_ARRAY(r->arena, tl_ast *, n);
    tl_variable **members = TL_ARENA_ARRAY(r->arena, tl_variable *, n);
    if (functions == NULL || members == NULL)
      return;
    for (uint32_t k = 0; k < n; k++) {
      functions[k] = items[i + k]->define.function;
      members[k] =
          tl_scope_lookup(r->scope->function, items[i + k]->define.name.name);
    }
    resolve_group(r, functions, n, members);
    i += n - 1;
  }
}

// The clauses from left to right: what is walked does not see the names of its
// own clause. Afterwards they are hidden, and lowering reveals each when it
// reaches its clause.
static void resolve_comprehension(tl_resolver *r, tl_ast *ast) {
  tl_ast_comprehension *c = &ast->comprehension;
  tl_scope *scope = tl_scope_new(r->arena, TL_SCOPE_COMPREHENSION, r->scope);
  if (scope == NULL)
    return;
  c->scope = scope;
  r->scope = scope;
  for (uint32_t i = 0; i < c->count; i++) {
    // What is walked first, while the names of the clause are not there yet.
    resolve(c->clauses[i].value, r);
    for (uint32_t k = 0; k < c->clauses[i].name_count; k++) {
      const tl_ident *ident = &c->clauses[i].names[k];
      // Assigned in each iteration, so never taken for a constant.
      if (add_bound(r, 2, ident->name, ident->span, ident->span) == NULL)
        break;
    }
  }
  if (c->key != NULL)
    resolve(c->key, r);
  resolve(c->item, r);
  r->scope = scope->parent;
  for (tl_variable *v = scope->variables; v != NULL; v = v->next)
    v->is_hidden = true;  // until lowering reaches its clause
}

// The variable that holds a called function, or the module of a file that has
// it, and the function's name; NULL: neither.
static tl_variable *called_variable(const tl_resolver *r, const tl_ast *callee,
                                    const tl_name **name) {
  const tl_ast *object =
      callee->kind == TL_AST_FIELD ? callee->field.object : callee;
  if (object->kind != TL_AST_NAME)
    return NULL;
  *name = object == callee ? callee->name.name : callee->field.field.name;
  tl_variable *variable = tl_scope_find(r->scope, object->name.name);
  bool is_module =
      variable != NULL && variable->file != NULL && variable->file->count == 0;
  return object == callee || is_module ? variable : NULL;
}

// A field of a library module must be there; everything else is known only by
// the run.
static void resolve_field(tl_resolver *r, tl_ast *ast) {
  const tl_ast *object = ast->field.object;
  // A function of the library has no fields, but a module of its name does.
  if (object->kind == TL_AST_NAME &&
      tl_scope_find(r->scope, object->name.name) == NULL &&
      is_library_module(r, object->name.name)) {
    unknown_name(r, object->name.name, object->span);
    return;
  }
  resolve(ast->field.object, r);
  const tl_name *field;
  tl_variable *variable = called_variable(r, ast, &field);
  if (variable != NULL)
    tl_occurs(r->occurrences, TL_OCCURS_AS_MEMBER, variable,
              ast->field.field.name, ast->field.field.span);
  // Only of a module that is known by name.
  const char *module = tl_library_of(r->scope, ast->field.object);
  if (module == NULL)
    return;
  field = ast->field.field.name;
  if (tl_known_find(r->vm, module, field).kind != TL_KNOWN_NOTHING ||
      tl_embedded_member(r->vm->library, module, field->text) != NULL)
    return;
  tl_known_kind kind = tl_known_find(r->vm, NULL, field).kind;
  char hint[160];
  const char *habit = tl_name_hint(module, field->text, hint, sizeof hint);
  const char *near = habit;
  // math.sqrt of other languages, which here needs no module.
  bool is_global = kind == TL_KNOWN_BUILTIN || kind == TL_KNOWN_TALLY;
  if (is_global)
    near = field->text;
  else if (habit == NULL)
    near = tl_module_suggest(r->vm, module, field);
  tl_diagnose(r->diagnostics, TALLY_ERR_NAME, ast->field.field.span,
              is_global ? "the module %s has no %s: %s(…) needs no module"
              : habit != NULL ? "the module %s has no %s: %s"
              : near != NULL  ? "the module %s has no %s; did you mean %s?"
                              : "the module %s has no %s",
              module, field->text, near == NULL ? "" : near);
}

// del(name) is no function, so its name is not looked up.
static void resolve_call(tl_resolver *r, tl_ast *ast) {
  if (!tl_is_del(r->scope, ast))
    resolve(ast->call.callee, r);
  const tl_name *of = NULL;
  tl_variable *callee =
      r->occurrences == NULL ? NULL : called_variable(r, ast->call.callee, &of);
  for (uint32_t i = 0; i < ast->call.count; i++) {
    const tl_argument *argument = &ast->call.arguments[i];
    resolve(argument->value, r);
    if (argument->name != NULL && callee != NULL)
      tl_occurs_as_argument(r->occurrences, callee, argument->name, of,
                            argument->span);
  }
}

// A lambda: a group of one.
static void resolve_closure(tl_resolver *r, tl_ast *ast) {
  tl_ast **functions = TL_ARENA_ARRAY(r->arena, tl_ast *, 1);
  if (functions == NULL)
    return;
  functions[0] = ast;
  resolve_group(r, functions, 1, NULL);
}

// Finds what the names in [ast] mean; false: it is of a kind that has no names
// of its own. Apart, so that what nests without names takes little stack.
static __attribute__((noinline)) bool resolve_named(tl_resolver *r,
                                                    tl_ast *ast) {
  switch (ast->kind) {
    case TL_AST_NAME:
      resolve_name(r, ast->name.name, ast->span);
      break;
    case TL_AST_BLOCK:
      resolve_block(r, ast);
      break;
    case TL_AST_LIST_FOR:
    case TL_AST_ARRAY_FOR:
    case TL_AST_RECORD_FOR:
      resolve_comprehension(r, ast);
      break;
    case TL_AST_FUNCTION:
      resolve_closure(r, ast);
      break;
    case TL_AST_CALL:
      resolve_call(r, ast);
      break;
    case TL_AST_FIELD:
      resolve_field(r, ast);
      break;
    case TL_AST_ASSIGN:
    case TL_AST_UPDATE:
      resolve(ast->assign.value, r);
      if (ast->assign.fallback != NULL)
        resolve(ast->assign.fallback, r);
      walk_target(r, &ast->assign.target, ast->kind == TL_AST_ASSIGN,
                  resolve_update, resolve);
      refuse_lost(r, &ast->assign.target);
      break;
    default:
      return false;
  }
  return true;
}

// The same of any kind. A visitor of tl_ast_each_child; true, which ends the
// walk, only without memory.
static bool resolve(tl_ast *ast, void *resolver) {
  tl_resolver *r = resolver;
  return r->arena->failed ||
         (!resolve_named(r, ast) && tl_ast_each_child(ast, resolve, r));
}

// A captured function that turns out to need no environment is a constant and
// need not be captured. Removing it may make others constant, so this repeats
// until nothing changes.
static void drop_constant_captures(tl_resolver *r) {
  for (bool changed = true; changed;) {
    changed = false;
    for (tl_closure_group *g = r->groups; g != NULL; g = g->next) {
      uint32_t kept = 0;
      for (uint32_t i = 0; i < g->capture_count; i++) {
        tl_variable *v = g->captures[i];
        // Defined once, and nothing captured by its group: every use is the
        // constant.
        bool constant = v->definition != NULL && v->assigns == 1 &&
                        v->group != NULL && v->group->capture_count == 0;
        if (!constant)
          g->captures[kept++] = v;
      }
      changed = changed || kept != g->capture_count;
      g->capture_count = kept;
    }
  }
}

// An abandoned variable that this text declares anew gets its old index; it
// counts as assigned elsewhere, since older code may assign it, too.
static void readopt_abandoned(tl_resolver *r) {
  tl_variable *v = r->has_abandoned ? r->module_scope->variables : NULL;
  for (; v != NULL; v = v->next) {
    if (v->index >= 0)
      continue;
    v->index = tl_module_find(r->module, v->name->text, v->name->nbytes);
    if (v->index >= 0) {
      v->is_global = true;
      v->assigns += 2;
    }
  }
}

// Declares the module's variables from before, each with its index. They count
// as assigned twice, so none is taken for a known function.
// What has no value and no function that reads it is abandoned, as when the
// statement that was to assign it has failed: the name means what it would if
// it had never been there.
static void declare_existing(tl_resolver *r) {
  for (uint32_t i = 0; i < r->module->variable_count; i++) {
    tl_string *text = r->module->variable_names[i];
    if (tl_is_unset(r->module->variables[i]) && !r->module->is_shared[i]) {
      r->has_abandoned = true;
      continue;
    }
    const tl_name *name = tl_names_get(r->names, text->text, text->length);
    if (name == NULL)
      return;
    tl_variable *variable = tl_scope_add(r->arena, r->module_scope, name);
    if (variable == NULL)
      return;
    variable->is_global = true;
    variable->is_bound = true;
    variable->assigns = 2;
    variable->index = (int32_t)i;
  }
}

// The module is walked like a function; functions in it are walked when they
// are met.
bool tl_resolve(tl_resolver *r, tl_ast *program) {
  r->module_scope = tl_scope_new(r->arena, TL_SCOPE_MODULE, NULL);
  if (r->module_scope == NULL)
    return false;
  r->scope = r->module_scope;
  r->groups = NULL;
  r->unknown = NULL;
  r->has_abandoned = false;
  r->module_scope->body = program;
  declare_existing(r);
  collect_globals(r, program);
  declare_in(program, r);
  readopt_abandoned(r);
  resolve(program, r);
  drop_constant_captures(r);
  // A script's variables are slots of its own code unless a function reads
  // them; those of other units must outlive the code, but _ says of a value
  // that nobody wants it.
  for (tl_variable *v = r->module_scope->variables; v != NULL; v = v->next) {
    bool discards = v->name->nbytes == 1 && v->name->text[0] == '_';
    v->is_global = v->is_global || v->is_read_below ||
                   (r->mode != TL_UNIT_SCRIPT && !discards);
  }
  return !r->arena->failed && r->diagnostics->total == 0;
}
