// Names resolved: which variable each name means, where it lives, and what
// each function captures.
//
// A function's variables are all names that it assigns, wherever in it; any
// other name is looked up in the functions around it, then in the module, then
// in the library. Three data structures say so:
//
//   tl_scope          a table of variables; function -> parent -> module
//   tl_variable       slot or module index, how often assigned
//   tl_closure_group  the functions that capture together, and what
//
//   fn outer(n) {            scope outer: n, add
//     fn add(x) = x + n      scope add: x; its group captures n
//     add
//   }
#pragma once

#include "compiler/ast.h"
#include "compiler/diagnostics.h"
#include "compiler/occurrences.h"
#include "vm/bytecode/function.h"

typedef struct tl_scope tl_scope;
typedef struct tl_closure_group tl_closure_group;

// A variable of a module, a function or a comprehension.
struct tl_variable {
  const tl_name *name;
  tl_scope *scope;
  bool is_global;  // a module variable
  bool is_param;
  // Read by a function inside the scope's function: of a module's variable, it
  // must outlive the module's own code.
  bool is_read_below;
  bool is_shared;  // of a module: some function declares it global
  bool is_read;    // somewhere, by its name
  int32_t index;   // slot, or index of the module variable; -1: not yet
  // Places that assign it as a whole. Whatever makes its value unpredictable
  // counts twice, so that 1 means: this value and no other.
  uint32_t assigns;
  // The DEFINE of a function at the top of the scope's body; it is the
  // variable's only value if assigns is 1.
  tl_ast *definition;
  tl_closure_group *group;    // of the definition
  uint32_t member;            // its index there
  const char *library;        // bound once, to this library module by import
  const tl_ast_import *file;  // bound by this import of a file, or NULL
  tl_ast *closed;             // certain.c: its only value, or NULL
  bool is_bound;              // assigned as a whole somewhere
  bool is_updated;            // x[i] = v or x += e
  bool is_hidden;             // of a comprehension: its clause has not begun
  // Lowering: a statement has this module variable in a slot of its own.
  struct tl_taken_global *taken;
  tl_span first;              // first assignment
  uint32_t home;  // occurrences.c: 1 + begin of its first place; 0: not yet
  struct tl_variable *next;  // in scope order
};

// Local functions that stand side by side and share one environment, so that
// they can name one another; a lambda is a group of one.
struct tl_closure_group {
  tl_ast **functions;  // FUNCTION nodes
  uint32_t count;
  tl_variable **captures;
  uint32_t capture_count, capture_capacity;
  tl_closure_group *next;
  void *lowered;  // lowering's
};

// What a scope belongs to.
typedef enum tl_scope_kind {
  TL_SCOPE_MODULE,
  TL_SCOPE_FUNCTION,
  TL_SCOPE_COMPREHENSION,  // slots in the function around it
} tl_scope_kind;

// The variables of a module, a function or a comprehension.
struct tl_scope {
  tl_scope_kind kind;
  tl_scope *parent;
  tl_scope *function;   // the function or module scope it lies in
  tl_variable **table;  // open addressing by name
  uint32_t capacity, count;
  tl_variable *variables, **last;  // in order
  // Of a function: the group through which it captures. Members of a group
  // share one environment.
  tl_closure_group *group;
  tl_ast *body;             // of a function or module
  const tl_name *of;        // occurrences.c: the module's function, or NULL
  const tl_name **globals;  // declared `global`
  uint32_t global_count, global_capacity;
};

// What a text is compiled for.
typedef enum tl_unit_mode {
  TL_UNIT_SCRIPT,  // the main script: unread top-level names are locals
  TL_UNIT_MODULE,  // imported, or run by a host
  TL_UNIT_EVAL,    // value of the last expression
  TL_UNIT_PROMPT,  // shows each expression
} tl_unit_mode;

// A name that has been reported to mean nothing: it is reported once.
typedef struct tl_unknown {
  const tl_name *name;
  struct tl_unknown *next;
} tl_unknown;

// The state of the two walks. The first part is filled in by the caller of
// tl_resolve; groups, scopes and variables are results for lowering.
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
  tl_unknown *unknown;       // each is reported once
  bool has_abandoned;        // the module has variables that are not declared
  tl_occurrences *occurrences;  // NULL: nobody wants to know
} tl_resolver;

// Declares and resolves every name of [program] (a BLOCK). New module
// variables are added to the VM's module by lowering, not here; those that the
// module has already keep their index. A module variable that has no value,
// because the input that was to give it one failed, does not hide what the
// library has under its name. False: see diagnostics or the arena.
bool tl_resolve(tl_resolver *resolver, tl_ast *program);

// The variable a name means from [scope], or NULL: the library's or unknown.
tl_variable *tl_scope_find(const tl_scope *scope, const tl_name *name);

// What the library or the host has under a name.
typedef enum tl_known_kind {
  TL_KNOWN_NOTHING,
  TL_KNOWN_BUILTIN,
  TL_KNOWN_CONSTANT,
  TL_KNOWN_DTYPE,
  TL_KNOWN_TALLY,  // a global function written in Tally
} tl_known_kind;
// The answer of tl_known_find; which fields count depends on the kind.
typedef struct tl_known {
  tl_known_kind kind;
  const tl_builtin *builtin;  // also for a dtype that is a function too
  double value;
  bool is_none;  // of a constant: none instead of the value
  tl_dtype dtype;
} tl_known;
// Looks a name up in the library: in [module], or with NULL among the names
// that need no import. Kind NOTHING: it is not there.
tl_known tl_known_find(const tl_vm *vm, const char *module,
                       const tl_name *name);
