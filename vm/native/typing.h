// What the parts of the typing pass share.
//
//     typing.c ─▶ typing_arithmetic.c ─▶ typing_put.c
//     control flow,   operators,          operations, exits, operands,
//     arrays          conditions          and the room for them
//        ├──────▶ typing_places.c, typing_calls.c, typing_one.c
//        │        references, their items; calls and results; all else
//        └──────▶ typing_edge.c
//                 labels, and jumps to them
//
// The pass stands at one instruction of the bytecode, and knows the types of
// all slots there. It appends typed operations, and changes the types as these
// do:
//
//     x = x + 1.5      before   now[x] = int64
//                      exit     writes x back as int64
//                      fadd x, x, 1.5      from = int64, so x is converted
//                      behind   now[x] = float64
//
// So an exit has the types before the operation that it is of, and an edge
// those behind the last operation of its path.
#pragma once

#include "vm/native/typed.h"

// The pass over one unit. Where it runs out of room it goes on with the last
// place of each table until the block ends, and tl_jit_type_unit returns false:
// so nothing here has to look for failure.
typedef struct tl_typing_pass {
  tl_jit_code *code;
  tl_jit_unit *unit;
  const tl_prototype *p;
  const tl_jit_flow *flow;
  tl_jit_find_callee *find;
  // What is known where the pass stands, of each slot: its type, and, in the
  // set, its value, from where it was made to the block's end.
  tl_jit_type now[TL_JIT_SLOTS];
  // A constant of a loop's header is not known in the body, which begins with a
  // label.
  uint64_t known;
  tl_slot values[TL_JIT_SLOTS];
  uint32_t pc;    // of the instruction under way
  uint32_t then;  // the next one, unless control goes elsewhere
  // Blocks that are reached and not yet typed, as a bit set of their pcs; none
  // lies before the word [first].
  uint64_t *pending;
  uint32_t pending_count, first;
  // The instruction reads an item that nobody has looked at yet.
  bool is_unseen;
  // Blocks that were deferred are typed now.
  bool defers;
  bool is_full;
} tl_typing_pass;

// What became of an instruction. After LEAVES the types are as before it.
typedef enum tl_typing_step {
  // The interpreter has to do it.
  TL_TYPING_LEAVES,
  TL_TYPING_GOES_ON,
  // Control does not go on behind it, or the rest of the block has been said.
  TL_TYPING_ENDS,
  // It calls a function whose result may be known later.
  TL_TYPING_WAITS,
} tl_typing_step;

// An operand: a slot, or a constant, which is known. [value] means something
// where [is_known] alone.
typedef struct tl_typing_operand {
  int slot;  // -1: a constant
  tl_jit_type type;
  bool is_known;
  tl_slot value;
} tl_typing_operand;

// Its register, or TL_JIT_NONE for a constant. A slot whose value is known has
// its register all the same: it was set when the constant was.
static inline int tl_typing_register(const tl_typing_operand *o) {
  return o->slot < 0 ? TL_JIT_NONE
                     : tl_jit_register((uint32_t)o->slot, o->type);
}
// The slot as an operand, with the type that it has where the pass stands.
tl_typing_operand tl_typing_slot(const tl_typing_pass *x, uint32_t slot);
// Constant number k; as the operand of a float, where an integer has its float
// beside it.
tl_typing_operand tl_typing_constant(const tl_typing_pass *x, uint32_t k,
                                     bool with_float);

// Appends an operation. The result is good until the next one; where there is
// no room, it is a place that nobody reads. [a], [b] and [c] are registers, or
// TL_JIT_NONE; d and e are TL_JIT_NONE, to is -1, floats are float64, [from] is
// what the registers hold, [exit] is a new one if the table says that the
// operation has one, else -1, and all else 0, for the caller to set.
tl_typed *tl_typing_put(tl_typing_pass *x, tl_typed_op op, int a, int b, int c);
// The same without registers.
tl_typed *tl_typing_put_plain(tl_typing_pass *x, tl_typed_op op);
// The same, whose result is the slot's; which then has the type. Floats are
// of its width. [slot] is a slot and [b] and [c] are registers.
tl_typed *tl_typing_set(tl_typing_pass *x, tl_typed_op op, uint32_t slot,
                        tl_jit_type type, int b, int c);
// Appends the constant. The value has to be a scalar that units compute with;
// it is known from here on.
void tl_typing_set_constant(tl_typing_pass *x, uint32_t slot, tl_slot value);
// A new exit before the instruction under way; or before that at [pc], where
// the scalars among [live] are written back. Exits are not shared: two
// operations before one instruction may leave different registers to be written
// back.
int32_t tl_typing_exit(tl_typing_pass *x);
int32_t tl_typing_exit_with(tl_typing_pass *x, uint32_t pc, uint64_t live);

// A poll, which leaves before the instruction under way if the VM is to stop.
void tl_typing_poll(tl_typing_pass *x);
// The body of a loop over a range that only its step jumps to begins with the
// move into the variable: the step's instruction, of a block of [pc] to which
// control comes with those types. NULL: the block begins otherwise.
const tl_ins *tl_typing_round(const tl_typing_pass *x, uint32_t pc,
                              const tl_jit_type *types);
// Notes that a block of [pc] is to be typed.
void tl_typing_mark(tl_typing_pass *x, uint32_t pc);
// A new label of [pc], with the types of now. Returns its number.
int32_t tl_typing_label(tl_typing_pass *x, uint32_t pc);
// Where a jump to [pc] goes: to the label there that has the types of now, or
// to a new one; where there are too many, to an exit. The number is what
// typed.h says of [to]: labels from 0 on, exits below.
int32_t tl_typing_edge(tl_typing_pass *x, uint32_t pc);
// Sets where a branch goes that was appended last, whose condition is set. One
// that goes back polls once it is taken, so its condition has to be the
// opposite one, which jumps on.
//
//     forward:  if cond → target          back:  if not cond → behind it
//                                                poll
//                                                jump → target
tl_typing_step tl_typing_branch(tl_typing_pass *x, tl_typed *t, int64_t target);
// Appends a jump to [pc]; returns where it goes.
int32_t tl_typing_jump(tl_typing_pass *x, uint32_t pc);

// The tag of what is in the slot; 0: it is not known. The unit is then one for
// that tag, where the slot was not touched since the entry.
uint64_t tl_typing_tag(tl_typing_pass *x, uint32_t slot);
// The type of a value with that tag; UNKNOWN: it is 0, or there are too many.
tl_jit_type tl_typing_type(tl_typing_pass *x, uint64_t tag);
// Whether the instruction, one on ownership, has nothing to do.
bool tl_typing_is_idle(tl_typing_pass *x, const tl_ins *ins);
// Ends the array in the slot, if that owns one; what stands before it has been
// appended, and what lives behind the instruction has its types.
tl_typing_step tl_typing_end(tl_typing_pass *x, uint32_t slot);
// Types what reads, moves and compares references, and items of them; all else
// leaves.
tl_typing_step tl_typing_place(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d);
// Types what the interpreter's function does for the unit, and fetches what it
// gives. [target] is the pc that it may jump to; -1: none.
tl_typing_step tl_typing_one(tl_typing_pass *x, const tl_ins *ins,
                             int64_t target);
// Where operations from number [start] on are the instruction's and have exits,
// they go around instead; control then ends with a jump. [before] are the types
// before the instruction. Nothing happens where there are no such exits.
void tl_typing_detour(tl_typing_pass *x, uint32_t start,
                      const tl_jit_type *before);
// Fetches what slots have in memory behind the instruction: [changed], which
// have the type MEMORY. [before] are tags of all slots before it.
tl_typing_step tl_typing_fetch(tl_typing_pass *x, const tl_ins *ins,
                               uint64_t changed, const uint64_t *before);
// Types a call of a function, with what takes its results apart, and the end of
// one.
tl_typing_step tl_typing_call(tl_typing_pass *x, const tl_ins *ins);
tl_typing_step tl_typing_give_result(tl_typing_pass *x, const tl_ins *ins);
tl_typing_step tl_typing_give_row(tl_typing_pass *x, const tl_ins *ins);

// Types an operator or a comparison, in the cases that have no errors; for all
// others it appends nothing, and the unit leaves.
tl_typing_step tl_typing_compute(tl_typing_pass *x, const tl_ins *ins,
                                 const tl_decoded *d);
// The operand on the right: a number in the instruction, a constant, or a slot;
// [with_float] as for tl_typing_constant.
tl_typing_operand tl_typing_right(const tl_typing_pass *x, const tl_ins *ins,
                                  bool with_float);
// The bits of a constant operand as a float of the dtype, rounded once.
int64_t tl_typing_bits(const tl_typing_operand *o, tl_dtype dtype);
// Types an operation on short arrays whose result is in the memory of one of
// them, and with it the next instruction where that goes on with it.
tl_typing_step tl_typing_short(tl_typing_pass *x, const tl_ins *ins,
                               const tl_decoded *d);
// Types a call of a built-in that converts a number to a dtype, such as
// float32(x) or int(x), and max((x, y)) and the like of numbers of one type, or
// of int64 and float64; all others leave.
tl_typing_step tl_typing_convert(tl_typing_pass *x, const tl_ins *ins);
// The condition of a comparison or of a jump with two operands, or what holds
// where it does not.
tl_typed_condition tl_typing_condition(int op, bool negated);
// The same condition of what has a total order, as integers and texts have:
// "not a < b" is a >= b there.
tl_typed_condition tl_typing_total(tl_typed_condition condition);
// Types the condition of a jump of two operands into *jump, whose target is not
// set yet; [negated] is for the jump on its opposite. False: not plain. On
// false nothing was appended.
bool tl_typing_condition_of(tl_typing_pass *x, const tl_ins *ins, bool negated,
                            tl_typed **jump);
