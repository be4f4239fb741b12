// Lowering: the tree becomes a control-flow graph. Inside lowering only; the
// entrance is tl_lower_program.
//
//   lower.c           which function lowers which kind of node; the module's
//                     code
//   lower_function.c  functions; blocks of statements
//   lower_assign.c    assignments and updates
//   lower_take.c      an item moved out of its place, changed, put back
//   lower_call.c      calls: arguments bound to parameters
//   lower_order.c     which arguments and items are evaluated last
//   lower_control.c   and, or, if, loops, comprehensions, try, return
//   lower_place.c     indices and places: r.a[3].b
//   lower_expr.c      constants, operators, fields
//   lower_literal.c   arrays, lists, records, strings with values
//   lower_node.c      a node, by its kind: from here all of the above are
//                     reached
//   lower_name.c      variables, what the library has under a name, imports
//   effects.c         what an expression may do; what a name surely is
//   lower_unit.c      constants, names, functions: the tables of the unit
//   lower_emit.c      instructions, blocks, temporaries
//   definite.c        definite assignment, over the finished graph
//
// Each calls those below it.
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
#pragma once

#include "compiler/cfg.h"
#include "compiler/scope.h"
#include "vm/bytecode/module.h"

typedef struct tl_lowering tl_lowering;

// What one unit collects while its functions are lowered and emitted. The
// tables of the unit grow in the arena; their capacities stand here.
typedef struct tl_builder {
  tl_vm *vm;
  tl_arena *arena;
  tl_names *names;
  tl_diagnostics *diagnostics;
  tl_resolver *resolver;
  struct tl_found *check;  // gets errors and warnings as values; NULL: a run
  tl_source *source;
  tl_unit *unit;
  tl_cfg_program *program;
  const tl_lowering *lowerings;  // by kind of node, while lowering
  int32_t function_capacity;
  uint32_t path_capacity, shape_capacity, group_capacity, key_capacity,
      name_capacity, prototype_capacity;
  uint32_t record;     // how many record literals were lowered
  uint32_t item_path;  // + 1: the path of x[i]; 0: not made yet
  bool failed;         // tl_fail was called (memory, a wrong type literal)
  // The text will be debugged: variables live until their function ends, and
  // no lines run together.
  bool debugged;
  bool promises;  // it has a #:peak, so small arrays count as well
} tl_builder;

// The loop that `break` and `continue` leave or repeat.
typedef struct tl_loop {
  struct tl_loop *outer;
  int32_t again, done;  // blocks that continue and break go to
} tl_loop;

// One function being lowered. [top] is a stack pointer: an expression takes
// temporaries from it, and leaves none but its result (tl_lower_expr), a
// statement none at all.
typedef struct tl_lower {
  tl_builder *b;
  tl_cfg_function *f;
  tl_scope *scope;
  tl_closure_group *group;  // NULL for the module's own code
  int32_t block;            // the current one
  int32_t top;              // next free temporary
  // The list that comes next is what a loop walks, or what an item is taken of,
  // and nobody else sees it: so ((0, 1), (1, 0)) may be a constant.
  bool is_unseen;
  // The block to which errors go from here, of a `try` or a landing pad; -1:
  // they leave the function.
  int32_t handler;
  tl_loop *loop;
  // For each variable the block in which it is known to be set, or -1: reads in
  // that block need no CHECKSET.
  int32_t *assigned_in;
  struct tl_taking *taking;  // the place whose old value is being used
  // The block whose statements are lowered, and the next one of them.
  const tl_ast *within;
  uint32_t next;
  // The function's constants by hash: the newest of each bucket, and for each
  // constant the one before it in its chain; -1 ends it.
  int32_t *constant_table;
  int32_t *constant_next;
  uint32_t constant_buckets;
} tl_lower;

// A statement that changes a module variable has its value in a slot, as those
// of the function are, from where it is first read, so that all that holds of
// those holds of it. x[i] = v:
//
//        t = takeg x               x is unset now
//        t = setel t, v, i
//        setg x, t
//        jmp after
//   pad: e = catch; setg x, t; raise e
//   after:
typedef struct tl_taken_global {
  tl_variable *variable;  // NULL: none is taken
  tl_scope *scope;        // its own, outside of the statement
  int32_t global;         // likewise, its index
  int32_t slot, pad, saved;
  bool is_out;
} tl_taken_global;

// Lowers the whole program; fills unit tables. False: see the diagnostics, the
// pending error or the arena.
bool tl_lower_program(tl_builder *builder, tl_ast *program);

// --- A node (lower_node.c) --------------------------------------------------

// [want] of a block, `if` or `try` whose value nobody wants.
enum { TL_NO_VALUE = -2 };

// Evaluates [ast] as tl_lower_expr does; and runs a statement, which has no
// value.
typedef int32_t tl_lower_value(tl_lower *l, tl_ast *ast, int32_t want);
typedef void tl_lower_run(tl_lower *l, tl_ast *ast);

// How the nodes of a kind are lowered.
struct tl_lowering {
  tl_lower_value *value;  // NULL: a statement
  tl_lower_run *run;      // of a statement, else NULL
  // Of a loop over it with so many names: tl_lower_walk; NULL: it has none.
  bool (*walk)(tl_lower *l, tl_ast *ast, uint32_t count, int32_t slots);
  bool may_drop;  // value takes TL_NO_VALUE, and then returns no slot
};

// The functions that the table of kinds names:
//
//   tl_lower_constant       true, none, 3, 2.5, 2i
//   tl_lower_string         "text" without holes
//   tl_lower_interpolated   a string with holes
//   tl_lower_type           `3 * int64`, parsed here; a wrong one is reported
//   tl_lower_variable       a name, as tl_lower_name has it
//   tl_lower_items          a LIST or an ARRAY
//   tl_lower_record         a key that stands there twice is reported
//   tl_lower_comprehension  a list, array or record made by `for`
//   tl_lower_function       as a value, whose body is lowered as well
//   tl_lower_call           one that does not fit a known function's parameters
//                           is reported
//   tl_lower_unary          -x, +x, ~x, √x
//   tl_lower_binary         x + y, x == y, x in y
//   tl_lower_logical        `and` and `or`
//   tl_lower_not            not x
//   tl_lower_operand        ...x: x alone, since the literal around it goes
//                           over the items
//   tl_lower_range          a..b, a..b by c
//   tl_lower_operator       (+): the library's function of the operator
//   tl_lower_compose        f ∘ g
//   tl_lower_index, _field, _select      x[items], x.name, x.{a, b}
//
//   tl_lower_block, _if, _try            the value of the last statement, of
//                           the arm, of the body or the handler; none where
//                           there is none. With TL_NO_VALUE none is wanted, and
//                           the result is no slot. While the body of a `try` is
//                           lowered, l->handler is the block of the handler, so
//                           that each instruction in it that may fail has an
//                           edge to there
//
//   tl_lower_while, _for    over a range of numbers the loop counts in three
//                           hidden slots (FORPREP, FORR); over anything else it
//                           asks for the next item (MORE, NEXT)
//   tl_lower_assign, _update             target = value, and target op= value,
//                           where the indices are evaluated once
//   tl_lower_define         a definition that stands alone
//   tl_lower_return         what follows it in its block is lowered too, into a
//                           block that nothing reaches
//   tl_lower_leave          `break` and `continue`
//   tl_lower_import         runs the module and assigns it, or the members that
//                           are named, to variables
//   tl_lower_peak           the promise of a number of bytes
//   tl_lower_nothing        what only names something for the resolver
#define X(kind, text, type, member, how, lowering) \
  tl_lower_##how tl_lower_##lowering;
TL_AST_KINDS(X)
#undef X

// The lowering of a node's kind.
static inline const tl_lowering *tl_lowering_of(const tl_lower *l,
                                                const tl_ast *ast) {
  return &l->b->lowerings[ast->kind];
}
// Evaluates [ast] into slot [want], or with want -1 into a slot of lowering's
// choice: a variable's own if [ast] is its name, so the caller must not write
// there. Returns the slot.
int32_t tl_lower_expr(tl_lower *l, tl_ast *ast, int32_t want);
// Executes [ast]; an expression without any effect is an error.
void tl_lower_statement(tl_lower *l, tl_ast *ast);

// --- Instructions, blocks, temporaries (lower_emit.c) -----------------------

// Appends an instruction to the current block; the caller sets its operands.
// Never NULL: without memory it is a dummy that nobody reads.
tl_cfg_ins *tl_emit(tl_lower *l, tl_opcode op, int32_t result,
                    int32_t operand_count, tl_span span);
// The same with all operands; the caller sets what else there is.
tl_cfg_ins *tl_emit_operands(tl_lower *l, tl_opcode op, int32_t result,
                             const int32_t *operands, int32_t count,
                             tl_span span);
// The same with one operand or two.
void tl_emit1(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
              tl_span span);
// In all of these [result] is -1 for an instruction that gives none.
void tl_emit2(tl_lower *l, tl_opcode op, int32_t result, int32_t a, int32_t b,
              tl_span span);
// The same with one operand and an extra: a name, an operation.
void tl_emit1x(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
               uint32_t extra, tl_span span);
// One whose operands stand side by side above its result, in slot [base], as
// far as they are not elsewhere. [operands] NULL: all of them do.
void tl_emit_window(tl_lower *l, tl_opcode op, int32_t base,
                    const int32_t *operands, int32_t count, uint32_t extra,
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
// The same, and goes on in the block [next].
void tl_end_block(tl_lower *l, int32_t target, int32_t next, tl_span span);
// A landing pad: code in block [pad], to which errors go, that puts back what
// was taken and raises the error again. What is emitted between begin and end
// stands there; when nothing fails it is jumped over.
typedef struct tl_landing {
  int32_t error, after;
  tl_span span;
} tl_landing;
// Jumps to [after] and enters a handler's block, where [error] gets the error.
void tl_enter_handler(tl_lower *l, int32_t after, int32_t handler,
                      int32_t error, uint32_t catches, tl_span span);
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
// Where a value goes: [want], or with -1 a temporary.
static inline int32_t tl_into(tl_lower *l, int32_t want) {
  return want < 0 ? tl_temp(l) : want;
}
// Exactly [count] items of the value in temporaries side by side, where item
// [rest] takes all that the others leave (count: none does). Returns the first.
int32_t tl_lower_unpack(tl_lower *l, uint32_t count, uint32_t rest,
                        int32_t value, tl_span span);
// The two of what a function of TL_PAIR has returned. It cannot fail, so no
// handler need see what the call has consumed.
int32_t tl_unpack_pair(tl_lower *l, int32_t value, tl_span span);
// An operator on the values in slots [a] and [b].
int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span);

// --- The tables of the unit (lower_unit.c) ----------------------------------

// Memory of the unit, zeroed; NULL and b->failed without memory.
void *tl_unit_room(tl_builder *b, size_t nbytes);
// A copy of [nbytes] in the unit's memory, likewise.
void *tl_unit_keep(tl_builder *b, const void *items, size_t nbytes);

// The index of a constant of the function; equal ones are stored once. Takes
// what [value] owns.
uint32_t tl_add_constant(tl_lower *l, tl_slot value);
// One more constant of a function that has been lowered, which owns nothing.
// Not looked up first.
uint32_t tl_function_constant(tl_builder *b, tl_cfg_function *f, tl_slot value);
// Loads a constant, and returns the slot that has it: [want], or with -1 a
// temporary. Takes what [value] owns.
int32_t tl_load_constant(tl_lower *l, int32_t want, tl_slot value,
                         tl_span span);
// The slot of a value that was diagnosed: it is set, so that no other message
// says that its variable is not.
int32_t tl_lower_failed(tl_lower *l, int32_t want, tl_span span);
// A constant that is a string.
void tl_load_string(tl_lower *l, int32_t into, const char *text, size_t nbytes,
                    tl_span span);
// A new string of the unit's, borrowed; NULL without memory.
tl_string *tl_unit_string(tl_builder *b, const char *text, size_t nbytes);
// The index of a name among those of the unit, made if need be.
uint32_t tl_unit_name(tl_builder *b, const tl_name *name);
// The same of a text, which need not end in a zero byte.
uint32_t tl_unit_text(tl_builder *b, const char *text, size_t nbytes);
// The string of a name in the unit, borrowed; NULL without memory.
tl_string *tl_unit_named(tl_builder *b, const tl_name *name);

// The index of a list of field names in the unit.
uint32_t tl_unit_keys(tl_builder *b, const tl_name *const *names,
                      uint32_t count);
// Likewise of a function.
void tl_load_function(tl_lower *l, int32_t into, tl_prototype *function,
                      tl_span span);
// A function of the unit, with a number and a name (NULL: none) but without
// code. NULL: no memory.
tl_prototype *tl_unit_prototype(tl_builder *b, const tl_name *name);
// The functions of a group, made at the first request, before their bodies.
// NULL: no memory.
tl_prototype **tl_group_prototypes(tl_builder *b, tl_closure_group *group);
// Adds the members of a group to the unit; CLOSURE names them by this index.
uint32_t tl_unit_group(tl_builder *b, uint32_t count, tl_prototype **members);
// Adds a path to the unit and returns its index; the caller fills in its
// steps. [steps] is NULL without memory.
uint32_t tl_unit_path(tl_builder *b, uint32_t step_count, tl_step **steps);
// The path of x[i], which is one for all.
uint32_t tl_unit_item_path(tl_builder *b);
// Sees to it that there is a path of the field alone, by which it may be taken
// where it is loaded; [name] is its number.
void tl_unit_field_path(tl_builder *b, uint32_t name);
// Adds how the arguments of a call are given, for the VM to bind them, and
// returns its index; 0 stands for all by position.
uint32_t tl_unit_shape(tl_builder *b, const tl_ast_call *call);
// Turns the VM's pending error into a diagnostic at [span].
void tl_diagnose_pending(tl_builder *b, tl_span span);

// --- Effects (effects.c) ----------------------------------------------------

// Whether evaluating [ast] may assign a variable of this function: then an
// operand before it has to be copied. [ast] may be NULL.
bool tl_may_assign(tl_ast *ast);
// Whether a statement does anything besides giving a value.
bool tl_has_effect(tl_lower *l, tl_ast *ast);
// Reports a statement whose value is dropped and that can have no effect.
void tl_refuse_useless(tl_lower *l, const tl_ast *ast);
// The library function that a callee is known to be, or NULL.
const tl_builtin *tl_called_builtin(tl_lower *l, const tl_ast *callee);
// The function of the script that [ast] is: it stands there, or is what the
// name always is; else NULL. *known if so, or if it is a name of the library's.
const tl_ast *tl_function_of(tl_lower *l, const tl_ast *ast, bool *known);
// Whether a variable always is one function without an environment, defined
// once; sets [out] to it. Then uses are constants and calls know their callee.
bool tl_known_constant(tl_lower *l, const tl_variable *variable,
                       tl_prototype **out);

// --- Names (lower_name.c) ---------------------------------------------------

// Reads a variable, or what the library has under the name. Where it may be
// unset this is checked. This and all tl_lower_… of expressions below evaluate
// into [want] as tl_lower_expr does.
int32_t tl_lower_name(tl_lower *l, const tl_name *name, tl_span span,
                      int32_t want);
// What the library has under a name in [module], NULL: without one.
int32_t tl_lower_known(tl_lower *l, const char *module, const tl_name *name,
                       tl_span span, int32_t want);
// Loads what a closure captures into a slot; unset if it is not set yet.
void tl_lower_capture(tl_lower *l, tl_variable *variable, int32_t slot,
                      tl_span span);
// Whether an expression is a variable of this function, whose slot can be an
// operand without a copy.
bool tl_is_own_variable(tl_lower *l, const tl_ast *ast);
// The variable that a name means if it is one of this function itself, else
// NULL.
static inline tl_variable *tl_own_variable(const tl_lower *l,
                                           const tl_name *name) {
  tl_variable *v = tl_scope_find(l->scope, name);
  return v != NULL && v->scope->function == l->scope->function ? v : NULL;
}
// Assigns the value in a slot to a variable, wherever it lives.
void tl_store_name(tl_lower *l, const tl_name *name, int32_t value,
                   tl_span span);
// The slot of a variable that an assignment may compute into directly, or -1:
// if it is no local, or a handler may see its old value.
int32_t tl_direct_slot(tl_lower *l, const tl_name *name);
// That slot, or else a temporary.
int32_t tl_bound_slot(tl_lower *l, const tl_name *name);
// result = object.name.
void tl_emit_field(tl_lower *l, int32_t result, int32_t object,
                   const tl_name *name, tl_span span);

// --- Literals (lower_literal.c) ---------------------------------------------

// A literal's value if it is one scalar, perhaps with a minus; else unset.
// [negative]: a minus stands before it already.
tl_slot tl_literal_slot(tl_lower *l, const tl_ast *ast, bool negative);
// Loads a list of literal numbers, or where it [nests] of such lists, into a
// slot as a constant; false, and nothing is done, if [ast] is no such list.
bool tl_constant_list(tl_lower *l, const tl_ast *ast, int32_t into, bool nests);
// Whether a LIST or an ARRAY has an item ...x.
bool tl_has_spread(const tl_ast *ast);
// The call of a function that takes the items of a short LIST or ARRAY one by
// one (tl_builtin.of_few). False: it is none of those.
bool tl_lower_few(tl_lower *l, const tl_builtin *builtin, tl_ast *ast,
                  int32_t *want);
// An instruction whose operands stand in a window above its result. Returns
// the result's slot, or [want].
int32_t tl_lower_window(tl_lower *l, tl_opcode op, tl_ast **items,
                        uint32_t count, uint32_t extra, int32_t want,
                        tl_span span);

// --- Operators (lower_expr.c) -----------------------------------------------

// A left operand: a variable's own slot, or a copy if the right side may
// assign the variable.
int32_t tl_lower_left(tl_lower *l, tl_ast *left, tl_ast *right);

// --- Indices and places (lower_place.c, lower_take.c) ----------------------

// Whether [ast] is the old value of the place that is being set: then it is
// moved out of its container by tl_lower_taken instead of read.
bool tl_is_taken(const tl_lower *l, const tl_ast *ast);
// Evaluates the indices of that place and moves its value out, where [ast]
// stands in the order of evaluation; where it stands again its slot.
int32_t tl_lower_taken(tl_lower *l, int32_t want, tl_span span);
// The slot of an operand, all of whose others have been evaluated: where it is
// an old value that had to wait for them, it is moved out now.
int32_t tl_take_late(tl_lower *l, const tl_ast *operand, int32_t slot);
// The arguments of get(r, k, fallback); NULL: [ast] is no such call, one of
// them assigns, or there is a handler here.
const tl_argument *tl_get_arguments(tl_lower *l, const tl_ast *ast);
// Behind get(r, k, fallback), whose result in [slot] a function may go on in:
// loads the item itself where it is there, for place_flow.c to have it moved
// out. Nothing happens where [ast] is no such call.
void tl_load_got(tl_lower *l, const tl_ast *ast, int32_t slot);

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

// --- Control structures (lower_control.c) -----------------------------------

// Appends the items of [value] to the list in a slot.
void tl_lower_spread(tl_lower *l, tl_ast *value, int32_t list);
// record[key] = value, for a record that is being made in its own slot.
void tl_lower_entry(tl_lower *l, int32_t record, tl_ast *key, tl_ast *value);
// The same with the key and the value in slots.
void tl_emit_entry(tl_lower *l, int32_t record, int32_t key, int32_t value,
                   tl_span span);

// --- Statements -------------------------------------------------------------

// Assigns an item to the names of a loop; with several names it is unpacked.
void tl_lower_targets(tl_lower *l, tl_ident *names, uint32_t count,
                      int32_t item, tl_span span);

// --- Order (lower_order.c) --------------------------------------------------

// Which of [count] values, pointers to nodes [step] bytes apart, goes on in the
// memory of a variable that later ones read, as in append(s[:-1], s[-1] + 1).
// It is evaluated after them, so that nobody reads the variable behind it. That
// shows only where it fails: what the others do has been done then, and of two
// errors it is theirs. Without one the last.
uint32_t tl_find_last(tl_lower *l, const void *first, size_t step,
                      uint32_t count);
// Which of them is evaluated as number [k].
uint32_t tl_in_order(uint32_t k, uint32_t last, uint32_t count);

// --- Calls and functions (lower_call.c, lower_function.c) -------------------

// For a loop with [count] names over [ast]: where that calls a function of the
// library with a walk (tl_builtin) that gives rows of so many items, puts what
// is walked in their place into every second slot from [slots] on. False, and
// nothing is done: it does not.
bool tl_lower_walk(tl_lower *l, tl_ast *ast, uint32_t count, int32_t slots);
// Definitions in a row from statement [at] of a block on, which are one group,
// as the resolver made them. Returns how many they are.
uint32_t tl_lower_defines(tl_lower *l, tl_ast *block, uint32_t at);
// How the VM binds a parameter.
static inline tl_param_kind tl_param_kind_of(const tl_ast_param *param) {
  static const tl_param_kind kinds[] = {
      [TL_AST_PARAM_REQUIRED] = TL_PARAM_REQUIRED,
      [TL_AST_PARAM_DEFAULT] = TL_PARAM_OPTIONAL,
      [TL_AST_PARAM_REST] = TL_PARAM_REST,
      [TL_AST_PARAM_NAMED] = TL_PARAM_NAMED,
  };
  return kinds[param->kind];
}
// A graph for [prototype], under the same number. NULL: no memory.
tl_cfg_function *tl_function_new(tl_builder *b, tl_prototype *prototype);
// Starts lowering [f], whose variables [scope] has, at its first block.
void tl_function_begin(tl_lower *l, tl_builder *b, tl_cfg_function *f,
                       tl_scope *scope);
// Gives slots to the parameters and then to the function's other variables.
// What is only captured or global needs none. l->assigned_in is NULL without
// memory.
void tl_function_slots(tl_lower *l, uint32_t param_count);
// Where the text is debugged: a use of each variable of the function, behind
// which it ends.
void tl_use_variables(tl_lower *l, tl_span span);
// Returns [value], names the slots for messages and listings, and checks that
// variables are set where they are read.
void tl_function_end(tl_lower *l, int32_t value, tl_span span);

// Removes CHECKSET if a variable is surely set, reports where it surely is
// not, and defines as unset at the entry what the rest needs (definite.c).
// [scope] is the function's, for the messages.
// False: no memory.
bool tl_definite(tl_builder *b, tl_cfg_function *f, tl_scope *scope);
