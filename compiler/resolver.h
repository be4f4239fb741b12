// Names resolved: which variable each name means, where it lives, and what
// each function captures.
#ifndef TALLY_COMPILER_RESOLVER_H
#define TALLY_COMPILER_RESOLVER_H

#include "compiler/ast.h"
#include "compiler/diagnostics.h"
#include "vm/interp/function.h"

typedef struct tl_scope tl_scope;
typedef struct tl_closure_group tl_closure_group;

typedef struct tl_variable {
  const tl_name *name;
  tl_scope *scope;
  bool is_global;  // a module variable
  bool is_param;
  bool is_read_below;  // by a function inside the scope's function
  int32_t index;       // slot, or index of the module variable
  uint32_t assigns;    // places that assign it
  tl_ast *definition;  // DEFINE, if the only assignment is one at block level
  tl_closure_group *group;   // of the definition
  uint32_t member;           // its index there
  const char *library;       // bound once, to this library module by import
  bool is_bound;             // assigned as a whole somewhere
  bool is_updated;           // x[i] = v or x += e
  bool is_hidden;            // of a comprehension: its clause has not begun
  tl_span first;             // first assignment
  struct tl_variable *next;  // in scope order
} tl_variable;

// Local functions that stand side by side and share one environment; a lambda
// is a group of one.
struct tl_closure_group {
  tl_ast **functions;  // FUNCTION nodes
  uint32_t count;
  tl_scope *home;  // where they are made
  tl_variable **captures;
  uint32_t capture_count, capture_capacity;
  tl_closure_group *next;
  void *lowered;  // lowering's
};

typedef enum tl_scope_kind {
  TL_SCOPE_MODULE,
  TL_SCOPE_FUNCTION,
  TL_SCOPE_COMPREHENSION,  // slots in the function around it
} tl_scope_kind;

struct tl_scope {
  tl_scope_kind kind;
  tl_scope *parent;
  tl_scope *function;   // the function or module scope it lies in
  tl_variable **table;  // open addressing by name
  uint32_t capacity, count;
  tl_variable *variables, **last;  // in order
  tl_closure_group *group;         // of a function
  tl_ast *body;                    // of a function or module
  const tl_name **globals;         // declared `global`
  uint32_t global_count, global_capacity;
  const tl_name *name;  // of a function; NULL
  void *lowered;        // lowering's
};

typedef enum tl_unit_mode {
  TL_UNIT_SCRIPT,  // the main script: unread top-level names are locals
  TL_UNIT_MODULE,  // imported, or run by a host
  TL_UNIT_EVAL,    // value of the last expression
  TL_UNIT_PROMPT,  // shows each expression
} tl_unit_mode;

typedef struct tl_resolver {
  tl_vm *vm;
  tl_arena *arena;
  tl_names *names;
  tl_diagnostics *diagnostics;
  tl_module *module;
  tl_unit_mode mode;
  tl_scope *module_scope;
  tl_scope *scope;           // the current one, while walking
  tl_closure_group *groups;  // all
} tl_resolver;

// Declares and resolves every name of [program] (a BLOCK). New module
// variables are added to the VM's module by lowering, not here; those that the
// module has already keep their index. False: see diagnostics or the arena.
bool tl_resolve(tl_resolver *resolver, tl_ast *program);

// The variable a name means from [scope], or NULL: the library's or unknown.
tl_variable *tl_scope_find(const tl_scope *scope, const tl_name *name);

// Whether a function value needs no environment.
bool tl_group_is_constant(const tl_closure_group *group);

// What the library or the host has under a name: a function, a constant, a
// dtype.
typedef enum tl_known_kind {
  TL_KNOWN_NOTHING,
  TL_KNOWN_BUILTIN,
  TL_KNOWN_CONSTANT,
  TL_KNOWN_DTYPE,
  TL_KNOWN_TALLY,  // a global function written in Tally
} tl_known_kind;
typedef struct tl_known {
  tl_known_kind kind;
  const tl_builtin *builtin;  // also for a dtype that is a function too
  double value;
  bool is_none;  // of a constant: none instead of the value
  tl_dtype dtype;
  const char *module;  // of one written in Tally
} tl_known;
tl_known tl_known_find(const tl_vm *vm, const char *module,
                       const tl_name *name);

#endif
