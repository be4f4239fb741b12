// Scopes as hash tables of variables (open addressing, at most half full), and
// the look-up of names: in scopes outwards, then in the library, with
// proposals for names that are nowhere.

#include "compiler/scope.h"
#include "vm/objects.h"

#include "vm/embedded.h"
#include "vm/suggest.h"

// A comprehension's variables are slots of the function around it, so
// scope->function is that function's.
tl_scope *tl_scope_new(tl_arena *arena, tl_scope_kind kind, tl_scope *parent) {
  tl_scope *scope = TL_ARENA_NEW(arena, tl_scope);
  if (scope == NULL)
    return NULL;
  scope->kind = kind;
  scope->parent = parent;
  scope->function = kind == TL_SCOPE_COMPREHENSION ? parent->function : scope;
  scope->last = &scope->variables;
  return scope;
}

// The place in the table that holds the name, or the empty one where it
// belongs. Names are interned, so they are compared by address.
static tl_variable **find_slot(const tl_scope *scope, const tl_name *name) {
  uint32_t mask = scope->capacity - 1;
  uint32_t i = name->hash & mask;
  while (scope->table[i] != NULL && scope->table[i]->name != name)
    i = (i + 1) & mask;
  return &scope->table[i];
}

// An empty scope has no table, as most comprehensions and blocks of code have
// few names or none.
tl_variable *tl_scope_lookup(const tl_scope *scope, const tl_name *name) {
  return scope->capacity == 0 ? NULL : *find_slot(scope, name);
}

// Doubles the table; the old one stays in the arena.
static bool grow(tl_arena *arena, tl_scope *scope) {
  uint32_t old_capacity = scope->capacity;
  tl_variable **old = scope->table;
  uint32_t capacity = old_capacity == 0 ? 8 : old_capacity * 2;
  tl_variable **table = TL_ARENA_ARRAY(arena, tl_variable *, capacity);
  if (table == NULL)
    return false;
  scope->table = table;
  scope->capacity = capacity;
  for (uint32_t i = 0; i < old_capacity; i++)
    if (old[i] != NULL)
      *find_slot(scope, old[i]->name) = old[i];
  return true;
}

// The list keeps the order of declaration, in which slots are assigned.
tl_variable *tl_scope_add(tl_arena *arena, tl_scope *scope,
                          const tl_name *name) {
  if (2 * scope->count >= scope->capacity && !grow(arena, scope))
    return NULL;
  tl_variable *variable = TL_ARENA_NEW(arena, tl_variable);
  if (variable == NULL)
    return NULL;
  variable->name = name;
  variable->scope = scope;
  variable->index = -1;
  *scope->last = variable;
  scope->last = &variable->next;
  // An older variable of the name stays in the list, but only the new one is
  // found.
  tl_variable **slot = find_slot(scope, name);
  if (*slot == NULL)
    scope->count++;
  *slot = variable;
  return variable;
}

// For assignments: all of a name in one scope are of one variable.
tl_variable *tl_scope_declare(tl_arena *arena, tl_scope *scope,
                              const tl_name *name) {
  tl_variable *variable = tl_scope_lookup(scope, name);
  return variable != NULL ? variable : tl_scope_add(arena, scope, name);
}

// Few names are declared global, so a list does.
void tl_scope_add_global(tl_arena *arena, tl_scope *scope,
                         const tl_name *name) {
  if (tl_arena_more(arena, &scope->globals, &scope->global_capacity,
                    scope->global_count, sizeof *scope->globals))
    scope->globals[scope->global_count++] = name;
}

// Names are interned, so that two are the same where their addresses are.
bool tl_scope_is_global(const tl_scope *scope, const tl_name *name) {
  for (uint32_t i = 0; i < scope->global_count; i++)
    if (scope->globals[i] == name)
      return true;
  return false;
}

// Looks in this scope and those around it; a name that a function declares
// global is looked for in the module at once.
tl_variable *tl_scope_find(const tl_scope *scope, const tl_name *name) {
  for (; scope != NULL; scope = scope->parent) {
    if (tl_scope_is_global(scope, name)) {
      // The module's scope is the outermost.
      while (scope->parent != NULL) scope = scope->parent;
    }
    tl_variable *variable = tl_scope_lookup(scope, name);
    // A name that is updated here but never bound means the outer variable;
    // resolve_update has reported that.
    if (variable != NULL && !variable->is_hidden &&
        (variable->is_bound || scope->parent == NULL))
      return variable;
  }
  return NULL;
}

// Functions capture few variables, so a list is searched.
bool tl_group_capture(tl_arena *arena, tl_closure_group *group,
                      tl_variable *variable) {
  for (uint32_t i = 0; i < group->capture_count; i++)
    if (group->captures[i] == variable)
      return false;
  if (!tl_arena_more(arena, &group->captures, &group->capture_capacity,
                     group->capture_count, sizeof *group->captures))
    return false;
  group->captures[group->capture_count++] = variable;
  return true;
}

// Asked only if no names are listed. Then a file has an alias: the parser has
// reported one without.
tl_ident tl_import_ident(const tl_ast_import *import) {
  return import->alias.name != NULL
             ? import->alias
             : (tl_ident){import->name, import->path_span};
}

// Looks for a variable of that name first: del may be one.
bool tl_is_del(const tl_scope *scope, const tl_ast *ast) {
  const tl_ast *callee = ast->call.callee;
  return callee->kind == TL_AST_NAME &&
         strcmp(callee->name.name->text, "del") == 0 &&
         tl_scope_find(scope, callee->name.name) == NULL;
}

const char *tl_library_of(const tl_scope *scope, const tl_ast *ast) {
  const tl_variable *v =
      ast->kind == TL_AST_NAME ? tl_scope_find(scope, ast->name.name) : NULL;
  return v != NULL && v->assigns == 1 ? v->library : NULL;
}

// Calls [each] with the module (NULL: none is needed) and the name of every
// function: those of the library, of the host, and those written in Tally.
static void each_function(const tl_vm *vm, tl_each_function *each,
                          void *context) {
  for (const tl_family *f = vm->library->families; f->rows != NULL; f++)
    for (const tl_builtin *row = f->rows; row->name != NULL; row++)
      each(context, f->module, row->name);
  vm->host->each_function(vm, each, context);
  const struct tl_embedded *m = vm->library->embedded->modules;
  for (; m->name != NULL; m++)
    for (size_t i = 0; m->functions[i].name != NULL; i++)
      each(context, m->is_global ? NULL : m->name, m->functions[i].name);
}

// What is near to a name among the functions of a module.
typedef struct proposal {
  tl_suggestion near;
  const char *module;
} proposal;

// Passes on what belongs to the module asked for; NULL stands for names that
// need no import.
static void offer(void *context, const char *module, const char *name) {
  proposal *p = context;
  if (p->module == NULL ? module == NULL
                        : module != NULL && strcmp(module, p->module) == 0)
    tl_suggest_offer(&p->near, name, strlen(name));
}

// All names that could stand there: variables of the scopes outwards, the
// library's, dtypes.
const char *tl_scope_suggest(const tl_vm *vm, const tl_scope *scope,
                             const tl_name *name) {
  proposal p = {.module = NULL};
  tl_suggest_begin(&p.near, name->text, name->nbytes);
  for (; scope != NULL; scope = scope->parent) {
    for (tl_variable *v = scope->variables; v != NULL; v = v->next) {
      // One that is only updated here is the unknown name itself.
      if (v->is_bound)
        tl_suggest_offer(&p.near, v->name->text, v->name->nbytes);
    }
  }
  each_function(vm, offer, &p);
  for (int i = 0; i < TL_DTYPE_COUNT; i++)
    tl_suggest_offer(&p.near, tl_dtypes[i].name, strlen(tl_dtypes[i].name));
  return p.near.best;
}

// The nearest name among the functions of that module alone. It walks over all
// of the library, as only an error asks.
const char *tl_module_suggest(const tl_vm *vm, const char *module,
                              const tl_name *name) {
  proposal p = {.module = module};
  tl_suggest_begin(&p.near, name->text, name->nbytes);
  each_function(vm, offer, &p);
  return p.near.best;
}

// The first module that has a function of a name.
typedef struct owner {
  const char *name, *module;
} owner;

// Names that begin with _ are the library's own.
static void find_owner(void *context, const char *module, const char *name) {
  owner *o = context;
  if (o->module == NULL && module != NULL && module[0] != '_' &&
      strcmp(name, o->name) == 0)
    o->module = module;
}

// For the hint that a module has to be imported; NULL: no module has the name.
const char *tl_module_with(const tl_vm *vm, const tl_name *name) {
  owner o = {.name = name->text};
  each_function(vm, find_owner, &o);
  return o.module;
}

// With [module] NULL a dtype comes before a function of its name, since
// float32(x) is a conversion; the function stays in [builtin].
tl_known tl_known_find(const tl_vm *vm, const char *module,
                       const tl_name *name) {
  tl_known known = {.kind = TL_KNOWN_NOTHING};
  known.builtin = vm->host->find_function(vm, module, name->text, name->nbytes);
  if (known.builtin != NULL)
    known.kind = TL_KNOWN_BUILTIN;
  if (module == NULL) {
    tl_dtype dtype = tl_dtype_find(name->text, name->nbytes);
    if (dtype != TL_DTYPE_COUNT) {
      known.kind = TL_KNOWN_DTYPE;
      known.dtype = dtype;
    }
  }
  for (const tl_constant *c = vm->library->constants; c->name != NULL; c++) {
    if ((c->module == NULL) != (module == NULL))
      continue;
    if (module != NULL && strcmp(c->module, module) != 0)
      continue;
    if (strcmp(c->name, name->text) == 0) {
      known.kind = TL_KNOWN_CONSTANT;
      known.value = c->value;
      known.is_none = c->is_none;
    }
  }
  // A function in C comes before one in Tally of the same name.
  if (module == NULL && known.kind == TL_KNOWN_NOTHING &&
      tl_embedded_global(vm->library, name->text) != NULL)
    known.kind = TL_KNOWN_TALLY;
  return known;
}
