// Lowering: the tree becomes a control-flow graph. Inside lowering only; the
// entrance is tl_lower.
#ifndef TALLY_COMPILER_LOWER_H
#define TALLY_COMPILER_LOWER_H

#include "compiler/cfg.h"
#include "compiler/resolver.h"
#include "compiler/scope.h"
#include "vm/interp/module.h"

// What one unit collects while its functions are lowered.
typedef struct tl_builder {
  tl_vm *vm;
  tl_arena *arena;
  tl_names *names;
  tl_diagnostics *diagnostics;
  tl_resolver *resolver;
  tl_source *source;
  tl_unit *unit;
  tl_cfg_program *program;
  int32_t function_capacity;
  uint32_t path_capacity, shape_capacity, group_capacity, key_capacity,
      name_capacity, prototype_capacity;
  uint32_t record;        // how many record literals were lowered
  uint32_t *recorded_in;  // of a name's id: the last of them that has it
  uint32_t recorded_capacity;
  bool failed;  // tl_fail was called (memory, a wrong type literal)
} tl_builder;

typedef struct tl_column tl_column;  // lower_column.c

typedef struct tl_loop {
  struct tl_loop *outer;
  int32_t again, done;  // blocks that continue and break go to
} tl_loop;

// One function being lowered.
typedef struct tl_lower {
  tl_builder *b;
  struct tl_lower *outer;
  tl_cfg_function *f;
  tl_scope *scope;
  tl_closure_group *group;  // NULL for the module's own code
  int32_t block;            // the current one
  int32_t top;              // next free temporary
  int32_t handler;          // -1: errors leave the function
  tl_loop *loop;
  tl_column *columns;        // read before the loops around, or NULL
  int32_t *assigned_in;      // block in which a variable is known to be set
  struct tl_taking *taking;  // the place whose old value is being used
  int32_t *constant_table;   // newest constant of a hash, -1
  int32_t *constant_next;
  uint32_t constant_buckets;
} tl_lower;

// Lowers the whole program; fills unit tables. False: see the diagnostics, the
// pending error or the arena.
bool tl_lower_program(tl_builder *builder, tl_ast *program);

// --- Within lowering --------------------------------------------------------

// Adds an instruction to the current block; operands are set by the caller.
tl_cfg_ins *tl_emit(tl_lower *l, tl_opcode op, int32_t result,
                    int32_t operand_count, tl_span span);
void tl_emit1(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
              tl_span span);
void tl_emit2(tl_lower *l, tl_opcode op, int32_t result, int32_t a, int32_t b,
              tl_span span);
// What is in [slot] where it was wanted: there, or in [slot] itself for -1.
int32_t tl_lower_into(tl_lower *l, int32_t want, int32_t slot, tl_span span);
void tl_emit_x(tl_lower *l, tl_opcode op, int32_t result, uint32_t extra,
               tl_span span);
// The next item of what [walked] holds; the slot behind it is the position.
// [what]: TL_NEXT_ITEM …
void tl_emit_next(tl_lower *l, int32_t result, int32_t walked, uint32_t what,
                  tl_span span);
int32_t tl_new_block(tl_lower *l);
void tl_enter_block(tl_lower *l, int32_t block);  // and gives it its order
void tl_jump(tl_lower *l, int32_t target, tl_span span);
// What lands in block [pad] puts back what was taken, and raises its error
// again: all that is emitted between these two. What goes well jumps over it.
typedef struct tl_landing {
  int32_t error, after;
  tl_span span;
} tl_landing;
tl_landing tl_landing_begin(tl_lower *l, int32_t pad, tl_span span);
void tl_landing_end(tl_lower *l, const tl_landing *landing);
// Ends the block: to [yes] if [slot] is true, else to [no].
void tl_branch(tl_lower *l, tl_opcode op, int32_t slot, int32_t yes, int32_t no,
               tl_span span);
int32_t tl_temp(tl_lower *l);
int32_t tl_temps(tl_lower *l, int32_t count);

uint32_t tl_add_constant(tl_lower *l, tl_slot value);  // takes what it owns
// One more constant of a function that has been lowered.
uint32_t tl_function_constant(tl_builder *b, tl_cfg_function *f, tl_slot value);
uint32_t tl_string_constant(tl_lower *l, const char *text, size_t nbytes);
void tl_load_constant(tl_lower *l, int32_t into, tl_slot value, tl_span span);
tl_string *tl_unit_string(tl_builder *b, const char *text, size_t nbytes);
uint32_t tl_unit_name(tl_builder *b, const char *text, size_t nbytes);

// The value of [ast] in slot [want], or with want -1 in a slot of lowering's
// choice: a variable's own where ast is its name.
int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want);
// [ast] for its effects; refuses what has none. is_last: of a prompt's input.
void tl_lower_statement(tl_lower *l, tl_ast *ast);
int32_t tl_lower_block(tl_lower *l, tl_ast *block, int32_t want, bool value);

// Where a value goes: [want], or with -1 a temporary.
static inline int32_t tl_into(tl_lower *l, int32_t want) {
  return want < 0 ? tl_temp(l) : want;
}
// A literal's value, where it is one scalar; else unset.
tl_slot tl_literal_slot(tl_lower *l, const tl_ast *ast, bool negative);
int32_t tl_lower_items(tl_lower *l, tl_ast *ast, int32_t want);
int32_t tl_lower_record(tl_lower *l, tl_ast *ast, int32_t want);
int32_t tl_lower_interpolated(tl_lower *l, tl_ast *ast, int32_t want);
int32_t tl_lower_call(tl_lower *l, tl_ast *ast, int32_t want);
int32_t tl_lower_function(tl_lower *l, tl_ast *ast, int32_t want);
void tl_lower_group(tl_lower *l, tl_ast **defines, uint32_t count);
int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want);
void tl_store_name(tl_lower *l, const tl_name *name, int32_t value,
                   tl_span span);
// The slot that an assignment to the name may compute into, or -1.
int32_t tl_direct_slot(tl_lower *l, const tl_name *name);
bool tl_known_constant(tl_lower *l, const tl_variable *variable,
                       tl_prototype **out);

int32_t tl_lower_index(tl_lower *l, tl_ast *ast, int32_t want);
// The same read side by side, for a loop (lower_column.c).
void tl_lower_column(tl_lower *l, tl_ast *ast, int32_t want);
// Reads the columns that [loop], a FOR, reads first in every turn, and puts
// them on l->columns; false: there are none.
bool tl_columns_begin(tl_lower *l, tl_ast *loop);
// The slot of such a column, or -1.
int32_t tl_column_slot(const tl_lower *l, const tl_ast *ast);
// Whether two expressions, of the kinds that have no effect, are the same.
bool tl_is_same_value(const tl_ast *a, const tl_ast *b);
void tl_lower_assign(tl_lower *l, tl_ast *ast);
void tl_lower_update(tl_lower *l, tl_ast *ast);
int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span);

// Whether [ast] is the old value of the place that is being set: then the next
// takes it out of its container.
bool tl_is_taken(const tl_lower *l, const tl_ast *ast);
int32_t tl_lower_taken(tl_lower *l, int32_t want, tl_span span);

// A list that a function takes which may write into its first item, and gives
// back where it fails (TL_GOES_ON). Then a landing pad takes the item out
// again.
typedef struct tl_joining {
  int32_t item, list;
  int32_t pad, saved;  // pad -1: nobody would miss the item
} tl_joining;

// Makes the list; where its first item is one that is taken and an error would
// be seen, opens [j], until the function has been called. Its slot, or -1: the
// argument is no such list.
int32_t tl_joining_begin(tl_lower *l, const tl_builtin *builtin, tl_ast *list,
                         tl_joining *j);
void tl_joining_end(tl_lower *l, const tl_joining *j, tl_span span);

int32_t tl_lower_if(tl_lower *l, tl_ast *ast, int32_t want, bool value);
void tl_lower_while(tl_lower *l, tl_ast *ast);
void tl_lower_for(tl_lower *l, tl_ast *ast);
int32_t tl_lower_try(tl_lower *l, tl_ast *ast, int32_t want, bool value);
int32_t tl_lower_comprehension(tl_lower *l, tl_ast *ast, int32_t want);
void tl_lower_condition(tl_lower *l, tl_ast *ast, int32_t yes, int32_t no);
void tl_lower_targets(tl_lower *l, tl_ident *names, uint32_t count,
                      int32_t item, tl_span span);

// Whether evaluating [ast] may assign a variable of this function.
bool tl_may_assign(tl_ast *ast);
// The same, or call a function.
bool tl_may_call(tl_ast *ast);
// Refuses a statement whose value is dropped and which can have no effect.
bool tl_has_effect(tl_lower *l, tl_ast *ast);
void tl_refuse_useless(tl_lower *l, const tl_ast *ast);

// Removes CHECKSET where a variable is surely set, reports where it surely is
// not, and defines as unset at the entry what the rest needs (definite.c).
bool tl_definite(tl_builder *b, tl_cfg_function *f, tl_scope *scope);

// Loads a list of literal numbers into a slot as a constant; false: [ast] is
// none.
bool tl_constant_list(tl_lower *l, const tl_ast *ast, int32_t into);

// Loads what a closure captures into a slot; unset where it is not yet set.
void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t into,
                      tl_span span);
tl_prototype **tl_group_prototypes(tl_builder *b, tl_closure_group *group);
// An instruction whose operands stand in a window above its result.
int32_t tl_lower_window(tl_lower *l, tl_opcode op, tl_ast **items,
                        uint32_t count, uint32_t extra, int32_t want,
                        tl_span span);
const tl_builtin *tl_called_builtin(tl_lower *l, const tl_ast *callee);
uint32_t tl_prototype_index(const tl_builder *b, const tl_prototype *p);
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right);
uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count);
// Turns the VM's pending error into a diagnostic at [span].
void tl_diagnose_pending(tl_builder *b, tl_span span);

static inline tl_variable *tl_own_variable(const tl_lower *l,
                                           const tl_name *name) {
  tl_variable *v = tl_scope_find(l->scope, name);
  return v != NULL && v->scope->function == l->scope->function ? v : NULL;
}

#endif
