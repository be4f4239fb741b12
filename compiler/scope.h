// Scopes as tables: what resolver.c builds and lowering looks up.
#pragma once

#include "compiler/resolver.h"

// A scope without variables; NULL when memory fails, as all that make
// something here.
tl_scope *tl_scope_new(tl_arena *arena, tl_scope_kind kind, tl_scope *parent);
// The variable of that name in this scope alone, or NULL.
tl_variable *tl_scope_lookup(const tl_scope *scope, const tl_name *name);
// A new variable, which hides an older one of that name in the same scope.
tl_variable *tl_scope_add(tl_arena *arena, tl_scope *scope,
                          const tl_name *name);
// The variable that is there, or a new one.
tl_variable *tl_scope_declare(tl_arena *arena, tl_scope *scope,
                              const tl_name *name);
// Notes that the function declares the name global.
void tl_scope_add_global(tl_arena *arena, tl_scope *scope, const tl_name *name);
// Whether it does.
bool tl_scope_is_global(const tl_scope *scope, const tl_name *name);
// Adds a variable to a group's captures, unless it is there. False: it was
// there, or memory failed.
bool tl_group_capture(tl_arena *arena, tl_closure_group *group,
                      tl_variable *variable);
// The name that an import without a list binds: behind `as`, or the module's.
tl_ident tl_import_ident(const tl_ast_import *import);
// Whether a call is del(…), which is no function but a form of the language; a
// variable called del makes it a call.
bool tl_is_del(const tl_scope *scope, const tl_ast *call);
// The library module that a NAME is bound to once, by import; NULL: none.
const char *tl_library_of(const tl_scope *scope, const tl_ast *ast);
// A visible name that is near to an unknown one, or NULL.
const char *tl_scope_suggest(const tl_vm *vm, const tl_scope *scope,
                             const tl_name *name);
// The same among the functions of a library module.
const char *tl_module_suggest(const tl_vm *vm, const char *module,
                              const tl_name *name);
// A library module that has a function of this name, or NULL.
const char *tl_module_with(const tl_vm *vm, const tl_name *name);
