// Lowering: the tree becomes a control-flow graph. Inside lowering only; the
// entrance is tl_lower_program.
//
//   lower.c          functions, blocks, statements, the module's own code
//   lower_expr.c     names, operators, fields
//   lower_literal.c  arrays, lists, records, strings with values
//   lower_call.c     calls: arguments bound to parameters
//   lower_assign.c   assignments and updates
//   lower_place.c    indices and places: r.a[3].b
//   lower_take.c     an item moved out of its place, changed, put back
//   lower_control.c  if, loops, comprehensions, try
//   lower_column.c   columns that loops read in each iteration
//   lower_emit.c     instructions, blocks, temporaries
//   lower_unit.c     constants and names
//   effects.c        what an expression may do; what a name surely is
//   definite.c       definite assignment, over the finished graph
//
// An expression is evaluated into a slot: the caller says which one it wants,
// or -1 for any. `z = x * y + 1` with x, y, z in slots 0 to 2:
//
//   t3 = mul x, y
//   t4 = loadk 1
//   z = add t3, t4      no handler sees z, so it is computed in place
//
// Variables have slots for good, temporaries are a stack (tl_lower.top). The
// arguments of a call stand side by side, in a window, above its result.
#ifndef TALLY_COMPILER_LOWER_H
#define TALLY_COMPILER_LOWER_H

#include "compiler/cfg.h"
#include "compiler/resolver.h"
#include "compiler/scope.h"
#include "vm/bytecode/module.h"

// What one unit collects while its functions are lowered and emitted. The
// tables of the unit grow in the arena; their capacities stand here.
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
  // For repeated keys: how many record literals were lowered, and for each name
  // (by id) the last of them that has it.
  uint32_t record;
  uint32_t *recorded_in;
  uint32_t recorded_capacity;
  bool failed;  // tl_fail was called (memory, a wrong type literal)
} tl_builder;

typedef struct tl_column tl_column;  // lower_column.c

// The loop that `break` and `continue` leave or repeat.
typedef struct tl_loop {
  struct tl_loop *outer;
  int32_t again, done;  // blocks that continue and break go to
} tl_loop;

// One function being lowered. [top] is a stack pointer: an expression takes
// temporaries from it, and who asked for the expression puts it back.
typedef struct tl_lower {
  tl_builder *b;
  struct tl_lower *outer;
  tl_cfg_function *f;
  tl_scope *scope;
  tl_closure_group *group;  // NULL for the module's own code
  int32_t block;            // the current one
  int32_t top;              // next free temporary
  // The block to which errors go from here, of a `try` or a landing pad; -1:
  // they leave the function.
  int32_t handler;
  tl_loop *loop;
  tl_column *columns;  // read before the loops around, or NULL
  // For each variable the block in which it is known to be set, or -1: reads in
  // that block need no CHECKSET.
  int32_t *assigned_in;
  struct tl_taking *taking;  // the place whose old value is being used
  // The function's constants by hash: the newest of each bucket, and for each
  // constant the one before it in its chain; -1 ends it.
  int32_t *constant_table;
  int32_t *constant_next;
  uint32_t constant_buckets;
} tl_lower;

// Lowers the whole program; fills unit tables. False: see the diagnostics, the
// pending error or the arena.
bool tl_lower_program(tl_builder *builder, tl_ast *program);

// --- Within lowering --------------------------------------------------------

// Appends an instruction to the current block; the caller sets its operands.
// Never NULL: without memory it is a dummy that nobody reads.
tl_cfg_ins *tl_emit(tl_lower *l, tl_opcode op, int32_t result,
                    int32_t operand_count, tl_span span);
// The same with one operand or two.
void tl_emit1(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
              tl_span span);
void tl_emit2(tl_lower *l, tl_opcode op, int32_t result, int32_t a, int32_t b,
              tl_span span);
// Copies [slot] into [want] if a result is wanted there (-1: it is not).
// Returns the slot that has it.
int32_t tl_lower_into(tl_lower *l, int32_t want, int32_t slot, tl_span span);
// An instruction without operands but with an extra: a constant, a name.
void tl_emit_x(tl_lower *l, tl_opcode op, int32_t result, uint32_t extra,
               tl_span span);
// The next item of what slot [walked] holds; the slot behind it has the
// position. [what]: TL_NEXT_ITEM …
void tl_emit_next(tl_lower *l, int32_t result, int32_t walked, uint32_t what,
                  tl_span span);
// A block without instructions; it has no place in the code until it is
// entered.
int32_t tl_new_block(tl_lower *l);
// Makes a block the current one. Blocks are emitted in the order in which they
// are entered.
void tl_enter_block(tl_lower *l, int32_t block);
// Ends the current block with a jump to [target].
void tl_jump(tl_lower *l, int32_t target, tl_span span);
// A landing pad: code in block [pad], to which errors go, that puts back what
// was taken and raises the error again. What is emitted between begin and end
// stands there; when nothing fails it is jumped over.
typedef struct tl_landing {
  int32_t error, after;
  tl_span span;
} tl_landing;
// Jumps over the pad, enters it and catches the error.
tl_landing tl_landing_begin(tl_lower *l, int32_t pad, tl_span span);
// Raises the error again and goes on behind the pad.
void tl_landing_end(tl_lower *l, const tl_landing *landing);
// Ends the block with a test: to [yes] if it holds for [slot], else to [no].
void tl_branch(tl_lower *l, tl_opcode op, int32_t slot, int32_t yes, int32_t no,
               tl_span span);
// A new temporary, above those in use.
int32_t tl_temp(tl_lower *l);
// [count] temporaries side by side; returns the first.
int32_t tl_temps(tl_lower *l, int32_t count);

// The index of a constant of the function; equal ones are stored once. Takes
// what [value] owns.
uint32_t tl_add_constant(tl_lower *l, tl_slot value);
// One more constant of a function that has been lowered, which owns nothing.
// Not looked up first.
uint32_t tl_function_constant(tl_builder *b, tl_cfg_function *f, tl_slot value);
// The constant that holds a string.
uint32_t tl_string_constant(tl_lower *l, const char *text, size_t nbytes);
// Loads a constant into a slot. Takes what [value] owns.
void tl_load_constant(tl_lower *l, int32_t into, tl_slot value, tl_span span);
// A string of the unit's names, borrowed, made if need be; NULL without
// memory.
tl_string *tl_unit_string(tl_builder *b, const char *text, size_t nbytes);
// Its index among the names. [text] need not end in a zero byte.
uint32_t tl_unit_name(tl_builder *b, const char *text, size_t nbytes);

// Evaluates [ast] into slot [want], or with want -1 into a slot of lowering's
// choice: a variable's own if [ast] is its name, so the caller must not write
// there. Returns the slot.
int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want);
// Executes [ast]; an expression without any effect is an error.
void tl_lower_statement(tl_lower *l, tl_ast *ast);
// The statements of a block. With [value] the last one's value is the block's,
// none if it has none; returns its slot, -1 without [value].
int32_t tl_lower_block(tl_lower *l, tl_ast *block, int32_t want, bool value);

// Where a value goes: [want], or with -1 a temporary.
static inline int32_t tl_into(tl_lower *l, int32_t want) {
  return want < 0 ? tl_temp(l) : want;
}
// A literal's value if it is one scalar, perhaps with a minus; else unset.
// [negative]: a minus stands before it already.
tl_slot tl_literal_slot(tl_lower *l, const tl_ast *ast, bool negative);
// Whether a LIST or an ARRAY has an item ...x.
bool tl_has_spread(const tl_ast *ast);
// Appends the items of [value] to the list in a slot.
void tl_lower_spread(tl_lower *l, tl_ast *value, int32_t list);
// A LIST or an ARRAY. This and all tl_lower_… of expressions below evaluate
// into [want] as tl_lower_expr does.
int32_t tl_lower_items(tl_lower *l, tl_ast *ast, int32_t want);
// A RECORD; a key that stands there twice is reported.
int32_t tl_lower_record(tl_lower *l, tl_ast *ast, int32_t want);
// record[key] = value, for a record that is being made in its own slot.
void tl_lower_entry(tl_lower *l, int32_t record, tl_ast *key, tl_ast *value);
// The same with the key and the value in slots.
void tl_emit_entry(tl_lower *l, int32_t record, int32_t key, int32_t value,
                   tl_span span);
// The record without fields that a comprehension begins with.
void tl_lower_empty_record(tl_lower *l, int32_t record, tl_span span);
// A string with holes.
int32_t tl_lower_interpolated(tl_lower *l, tl_ast *ast, int32_t want);
// A CALL; one that does not fit a known function's parameters is reported.
int32_t tl_lower_call(tl_lower *l, tl_ast *ast, int32_t want);
// A function as a value, whose body is lowered as well.
int32_t tl_lower_function(tl_lower *l, tl_ast *ast, int32_t want);
// Defines functions that stand side by side.
void tl_lower_group(tl_lower *l, tl_ast **defines, uint32_t count);
// Reads a variable, or what the library has under the name. Where it may be
// unset this is checked.
int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want);
// Assigns the value in a slot to a variable, wherever it lives.
void tl_store_name(tl_lower *l, const tl_name *name, int32_t value,
                   tl_span span);
// The slot of a variable that an assignment may compute into directly, or -1:
// if it is no local, or a handler may see its old value.
int32_t tl_direct_slot(tl_lower *l, const tl_name *name);
// Whether a variable always is one function without an environment, defined
// once; sets [out] to it. Then uses are constants and calls know their callee.
bool tl_known_constant(tl_lower *l, const tl_variable *variable,
                       tl_prototype **out);

// object[items].
int32_t tl_lower_index(tl_lower *l, tl_ast *ast, int32_t want);
// An index that is the same in all iterations, copied side by side
// (lower_column.c).
void tl_lower_column(tl_lower *l, tl_ast *ast, int32_t want);
// Reads the columns that [loop], a FOR, would read first in every iteration,
// and puts them on l->columns; false: there are none.
bool tl_columns_begin(tl_lower *l, tl_ast *loop);
// The slot of such a column, or -1.
int32_t tl_column_slot(const tl_lower *l, const tl_ast *ast);
// Whether two expressions, of the kinds that have no effect, are the same.
bool tl_is_same_value(const tl_ast *a, const tl_ast *b);
// The statement target = value.
void tl_lower_assign(tl_lower *l, tl_ast *ast);
// The statement target op= value.
void tl_lower_update(tl_lower *l, tl_ast *ast);
// An operator on the values in slots [a] and [b].
int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span);

// Whether [ast] is the old value of the place that is being set: then it is
// moved out of its container by tl_lower_taken instead of read.
bool tl_is_taken(const tl_lower *l, const tl_ast *ast);
// Evaluates the indices of that place and moves its value out; called once,
// where [ast] stands in the order of evaluation.
int32_t tl_lower_taken(tl_lower *l, int32_t want, tl_span span);

// A list for a function that may write into the list's first item and puts it
// back when it fails (TL_FIRST_ITEM). A landing pad then moves the item out of
// the list again.
typedef struct tl_joining {
  int32_t item, list;
  int32_t pad, saved;  // pad -1: nobody would miss the item
} tl_joining;

// Makes the list and returns its slot. If its first item is the one that is
// taken and an error would be seen, opens [j], to be closed after the call of
// the function. -1, and nothing is done: the argument is no such list.
int32_t tl_joining_begin(tl_lower *l, const tl_builtin *builtin, tl_ast *list,
                         tl_joining *j);
// Behind the call: makes the landing pad that tl_joining_begin has opened.
void tl_joining_end(tl_lower *l, const tl_joining *j, tl_span span);

// Control structures. [value]: the value of the arm, or of the body or
// handler, is wanted, in [want] or a temporary; without it the result is -1.
int32_t tl_lower_if(tl_lower *l, tl_ast *ast, int32_t want, bool value);
// Loops have no value.
void tl_lower_while(tl_lower *l, tl_ast *ast);
void tl_lower_for(tl_lower *l, tl_ast *ast);
int32_t tl_lower_try(tl_lower *l, tl_ast *ast, int32_t want, bool value);
// A list, array or record made by `for`.
int32_t tl_lower_comprehension(tl_lower *l, tl_ast *ast, int32_t want);
// Jumps to [yes] or [no] without making a bool of `and`, `or` and `not`.
void tl_lower_condition(tl_lower *l, tl_ast *ast, int32_t yes, int32_t no);
// Assigns an item to the names of a loop; with several names it is unpacked.
void tl_lower_targets(tl_lower *l, tl_ident *names, uint32_t count,
                      int32_t item, tl_span span);

// Whether evaluating [ast] may assign a variable of this function: then an
// operand before it has to be copied. [ast] may be NULL.
bool tl_may_assign(tl_ast *ast);
// The same, or call a function.
bool tl_may_call(tl_ast *ast);
// Whether a statement does anything besides giving a value.
bool tl_has_effect(tl_lower *l, tl_ast *ast);
// Reports a statement whose value is dropped and that can have no effect.
void tl_refuse_useless(tl_lower *l, const tl_ast *ast);

// Removes CHECKSET if a variable is surely set, reports where it surely is
// not, and defines as unset at the entry what the rest needs (definite.c).
// False: no memory.
bool tl_definite(tl_builder *b, tl_cfg_function *f, tl_scope *scope);

// Loads a list of literal numbers into a slot as a constant; false, and
// nothing is done, if [ast] is no such list.
bool tl_constant_list(tl_lower *l, const tl_ast *ast, int32_t into);

// Loads what a closure captures into a slot; unset if it is not set yet.
void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t into,
                      tl_span span);
// The functions of a group, made at the first request, before their bodies.
// NULL: no memory.
tl_prototype **tl_group_prototypes(tl_builder *b, tl_closure_group *group);
// An instruction whose operands stand in a window above its result. Returns
// the result's slot, or [want].
int32_t tl_lower_window(tl_lower *l, tl_opcode op, tl_ast **items,
                        uint32_t count, uint32_t extra, int32_t want,
                        tl_span span);
// The library function that a callee is known to be, or NULL.
const tl_builtin *tl_called_builtin(tl_lower *l, const tl_ast *callee);
// A function's number in the program and in the unit: they are the same.
uint32_t tl_prototype_index(const tl_builder *b, const tl_prototype *p);
// A left operand: a variable's own slot, or a copy if the right side may
// assign the variable.
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right);
// The index of a list of field names in the unit.
uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count);
// Turns the VM's pending error into a diagnostic at [span].
void tl_diagnose_pending(tl_builder *b, tl_span span);

// The variable that a name means if it is one of this function itself, else
// NULL.
static inline tl_variable *tl_own_variable(const tl_lower *l,
                                           const tl_name *name) {
  tl_variable *v = tl_scope_find(l->scope, name);
  return v != NULL && v->scope->function == l->scope->function ? v : NULL;
}

#endif
