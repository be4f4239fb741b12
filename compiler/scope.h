// Scopes as tables: what resolver.c builds and lowering looks up.
#ifndef TALLY_COMPILER_SCOPE_H
#define TALLY_COMPILER_SCOPE_H

#include "compiler/resolver.h"

tl_scope *tl_scope_new(tl_arena *arena, tl_scope_kind kind, tl_scope *parent);
// In this scope alone.
tl_variable *tl_scope_lookup(const tl_scope *scope, const tl_name *name);
// A new variable, hiding an older one of that name in the same scope.
tl_variable *tl_scope_add(tl_arena *arena, tl_scope *scope,
                          const tl_name *name);
// The one that is there, or a new one.
tl_variable *tl_scope_declare(tl_arena *arena, tl_scope *scope,
                              const tl_name *name);
void tl_scope_add_global(tl_arena *arena, tl_scope *scope, const tl_name *name);
bool tl_scope_is_global(const tl_scope *scope, const tl_name *name);
// Puts a variable among a group's captures, once. False: it was there, or
// memory failed.
bool tl_group_capture(tl_arena *arena, tl_closure_group *group,
                      tl_variable *variable);
// The name an import binds: `as`, the module, or the file without its ending.
const tl_name *tl_import_name(tl_names *names, const tl_ast_import *import);
// Whether a call is del(…), which is no function but a form of the language.
bool tl_is_del(const tl_scope *scope, const tl_ast *call);
// A near name that is visible, or NULL.
const char *tl_scope_suggest(const tl_vm *vm, const tl_scope *scope,
                             const tl_name *name);
const char *tl_module_suggest(const tl_vm *vm, const char *module,
                              const tl_name *name);
// A module that has a function of this name, or NULL.
const char *tl_module_with(const tl_vm *vm, const tl_name *name);

#endif
