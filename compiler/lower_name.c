// Lowering of names: variables wherever they live, what the library has under
// a name, imports.

#include "compiler/lower.h"
#include "vm/embedded.h"

// --- Reading ----------------------------------------------------------------

// Where a captured variable stands among the function's captures, or -1.
static int32_t capture_index(const tl_closure_group *group,
                             const tl_variable *variable) {
  for (uint32_t i = 0; group != NULL && i < group->capture_count; i++)
    if (group->captures[i] == variable)
      return (int32_t)i;
  return -1;
}

// Checks that a variable is set before it is read, unless that was seen in
// this block already. definite.c removes the checks that cannot fail.
static void check_set(tl_lower *l, const tl_variable *v, tl_span span) {
  if (v->index < 0 || v->index >= l->f->variable_count)
    return;
  // Within a block one check is enough: behind it the variable is set.
  if (l->assigned_in[v->index] == l->block)
    return;
  l->assigned_in[v->index] = l->block;
  tl_emit1x(l, TL_BC_CHECKSET, -1, v->index, tl_unit_name(l->b, v->name), span);
}

// The first read of a module variable that a statement changes. From here to
// tl_global_end every error goes to the landing pad.
static void take_global(tl_lower *l, tl_taken_global *t, tl_span span) {
  t->is_out = true;
  tl_emit_x(l, TL_BC_TAKEG, t->slot, (uint32_t)t->global, span);
  t->pad = tl_new_block(l);
  t->saved = l->handler;
  l->handler = t->pad;
}

// Reads a variable: a known function as a constant, a module variable, a slot,
// a function of the running closure's own group, or a capture. The highest bit
// of GETC's extra says that it may be unset.
static int32_t lower_variable(tl_lower *l, tl_variable *v, tl_span span,
                              int32_t want, bool check) {
  tl_prototype *known;
  if (tl_known_constant(l, v, &known)) {
    want = tl_into(l, want);
    tl_load_function(l, want, known, span);
    return want;
  }
  if (v->is_global) {
    want = tl_into(l, want);
    tl_emit_x(l, TL_BC_GETG, want, (uint32_t)v->index, span);
    return want;
  }
  // A variable of this function: its slot is the value.
  if (v->scope->function == l->scope->function) {
    if (v->taken != NULL && !v->taken->is_out)
      take_global(l, v->taken, span);
    if (check)
      check_set(l, v, span);
    return tl_lower_into(l, want, v->index, span);
  }
  want = tl_into(l, want);
  // A function of the running closure's own group needs no capture: the closure
  // holds its environment.
  if (v->group != NULL && v->group == l->group) {
    tl_emit_x(l, TL_BC_SELF, want, v->member, span);
    return want;
  }
  // Further out: the resolver has made every function between capture it.
  int32_t index = capture_index(l->group, v);
  tl_emit_x(l, TL_BC_GETC, want, (uint32_t)index | (check ? 0u : 1u << 31),
            span);
  return want;
}

// Without a check: a function may capture a variable that is set only later,
// and its own read checks then.
void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t slot,
                      tl_span span) {
  lower_variable(l, variable, span, slot, false);
}

// Imports what [prefix] and [text] say. The first byte of the prefix tells
// IMPORT what follows: a path, a name, or a global function of the library.
static void emit_import(tl_lower *l, int32_t want, const char *prefix,
                        const char *text, size_t nbytes, tl_span span) {
  size_t first = strlen(prefix);
  char *spec = tl_arena_alloc(l->b->arena, first + nbytes + 1);
  if (spec == NULL)
    return;
  memcpy(spec, prefix, first);
  memcpy(spec + first, text, nbytes);
  tl_emit_x(l, TL_BC_IMPORT, want, tl_unit_text(l->b, spec, first + nbytes),
            span);
}

// Built-ins, constants and dtypes are constants of the code. What the library
// has in Tally is asked of the module that defines it when this runs, since
// that module is compiled only when it is first needed.
int32_t tl_lower_known(tl_lower *l, const char *module, const tl_name *name,
                       tl_span span, int32_t want) {
  tl_known known = tl_known_find(l->b->vm, module, name);
  want = tl_into(l, want);
  switch (known.kind) {
    case TL_KNOWN_BUILTIN:
      tl_load_constant(l, want, tl_builtin_slot(known.builtin), span);
      break;
    case TL_KNOWN_CONSTANT:
      tl_load_constant(l, want,
                       known.is_none ? tl_none() : tl_weak_float(known.value),
                       span);
      break;
    case TL_KNOWN_DTYPE: {
      tl_type *type = tl_type_of_dtype(l->b->vm, known.dtype);
      if (type == NULL) {
        l->b->failed = true;
        break;
      }
      tl_load_constant(l, want, tl_type_slot(type), span);
      break;
    }
    case TL_KNOWN_TALLY:
      // The module that defines it, which gives the function.
      emit_import(l, want, "*" TL_GLOBAL_MODULE, name->text, name->nbytes,
                  span);
      break;
    case TL_KNOWN_NOTHING:
      break;  // the resolver has reported it
  }
  return want;
}

// Variables hide what the library has under their names.
int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want) {
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v != NULL)
    return lower_variable(l, v, span, want, true);
  return tl_lower_known(l, NULL, name, span, want);
}

// A row of the table of expressions, whose functions all take a node.
int32_t tl_lower_variable(tl_lower *l, tl_ast *ast, int32_t want) {
  return tl_lower_name(l, ast->name.name, ast->span, want);
}

// Known functions have no slot: their uses are constants.
bool tl_is_own_variable(tl_lower *l, const tl_ast *ast) {
  if (ast->kind != TL_AST_NAME)
    return false;
  tl_variable *v = tl_own_variable(l, ast->name.name);
  tl_prototype *known;
  return v != NULL && !v->is_global && !tl_known_constant(l, v, &known);
}

// --- Writing ----------------------------------------------------------------

// With a handler, an error in the computation would be seen with the variable
// written halfway (rule 2 of cfg.h).
int32_t tl_direct_slot(tl_lower *l, const tl_name *name) {
  if (l->handler >= 0)
    return -1;
  tl_variable *v = tl_own_variable(l, name);
  return v == NULL || v->is_global || v->taken != NULL ? -1 : v->index;
}

// A value that is made for a local variable is made in its slot; others need a
// temporary, from which tl_store_name takes it.
int32_t tl_bound_slot(tl_lower *l, const tl_name *name) {
  int32_t direct = tl_direct_slot(l, name);
  return direct >= 0 ? direct : tl_temp(l);
}

// A module variable is always stored by SETG, which counts what it stores; for
// a local one the store is a MOV, or nothing if it was the target already.
void tl_store_name(tl_lower *l, const tl_name *name, int32_t value,
                   tl_span span) {
  tl_variable *v = tl_scope_find(l->scope, name);
  if (v == NULL)
    return;
  if (v->is_global) {
    tl_emit1x(l, TL_BC_SETG, -1, value, (uint32_t)v->index, span);
    return;
  }
  // The value may have been computed into the variable's slot already.
  if (v->index != value)
    tl_emit1(l, TL_BC_MOV, v->index, value, span);
  // Reads in this block need no check.
  if (v->index < l->f->variable_count)
    l->assigned_in[v->index] = l->block;
}

// The unit keeps the name's bytes, since those of the arena end with the
// compilation.
void tl_emit_field(tl_lower *l, int32_t result, int32_t object,
                   const tl_name *name, tl_span span) {
  tl_emit1x(l, TL_BC_GETF, result, object, tl_unit_name(l->b, name), span);
}

// Imports a module and assigns it, or the names taken from it.
void tl_lower_import(tl_lower *l, tl_ast *ast) {
  tl_ast_import *import = &ast->import;
  int32_t module = tl_temp(l);
  if (import->path != NULL)
    emit_import(l, module, "\"", import->path, import->path_nbytes,
                import->path_span);
  else
    emit_import(l, module, " ", import->name->text, import->name->nbytes,
                import->path_span);
  // import … as m, or import m: the module itself is the value.
  if (import->count == 0) {
    const tl_name *name = tl_import_ident(import).name;
    if (name != NULL)
      tl_store_name(l, name, module, ast->span);
    return;
  }
  for (uint32_t i = 0; i < import->count; i++) {
    int32_t item = tl_temp(l);
    const tl_ident *ident = &import->names[i];
    tl_emit_field(l, item, module, ident->name, ident->span);
    tl_store_name(l, ident->name, item, ident->span);
  }
}
