// The control-flow graph: three-address code over numbered slots, the data
// structure of the compiler's back end.
//
//   lowering            makes it from the tree
//   definite.c          checks that variables are set where they are read
//   ownership.c         sets modes; inserts drops, counts, new owners
//   emit.c              turns it into bytecode
//
// It is not in SSA form: a slot may be written many times, and the analyses
// follow it through the blocks instead. An example, `while i < n { i += 1 }`:
//
//   b0:  jmp b2
//   b1:  t2 = loadk 1;  i = add i!, t2;  jmp b2
//   b2:  t2 = lt i, n;  jt t2 -> b1, b3
//   b3:  …
#pragma once

#include "compiler/arena.h"
#include "compiler/source.h"
#include "vm/bytecode/function.h"

// The rules that lowering follows, and the analyses rely on:
//
// 1. Evaluation order is explicit. Every expression result is a temporary.
// 2. An instruction that can fail never writes a slot that its own handler
//    sees. If it has no handler, it may write a variable directly: the old
//    value is dead by then.
// 3. An update's result slot is its operand 0.
// 4. Each instruction that can fail has one error edge: [handler], or out.
// 5. A slot read where it may be unassigned is defined as unset (LOADK) at
//    the entry; reading a possibly unset one is CHECKSET.

// A slot that owns a value at a point that can fail; [either]: only the run
// knows whether it does (TL_MODE_EITHER).
typedef struct tl_cfg_owned {
  int32_t slot;
  bool either;
} tl_cfg_owned;

// One instruction: result = op operands. Lowering fills all but the modes and
// the fields that name ownership.
typedef struct tl_cfg_ins {
  uint8_t op;      // tl_opcode
  uint8_t fails;   // tl_fails; lowering copies it from the table
  int32_t result;  // slot, -1: none; the first one where several are written
  int32_t operand_count;
  int32_t *operands;  // slots
  uint8_t *modes;     // tl_mode of each: set by ownership
  bool is_pinned;     // ownership: its result is made an owner
  bool gives_back;    // CALLB: where it fails, operand 0 is back in its slot
  // A call: across it a slot borrows from a module variable that the unit takes
  // for invariant.
  bool depends;
  uint32_t extra;   // constant, global, path, built-in, function index …
  int32_t window;   // slot from which call arguments were laid out, -1
  int32_t handler;  // block that catches, -1: out of the function
  tl_span span;
  // From ownership, for points that can fail: which slots own then, besides
  // those that the handler keeps.
  int32_t owned_count;
  tl_cfg_owned *owned;
} tl_cfg_ins;

// Gives the instruction room for so many operands and their modes, all 0. False:
// no memory.
bool tl_ins_room(tl_arena *arena, tl_cfg_ins *ins, size_t count);
// How many slots the instruction writes, from its result on: those of UNPACK
// are new temporaries, and no operand of it is among them.
static inline int32_t tl_result_count(const tl_cfg_ins *ins) {
  return ins->result < 0           ? 0
         : ins->op == TL_BC_UNPACK ? (int32_t)tl_unpack_count(ins->extra)
                                   : 1;
}
// Whether it writes the slot.
static inline bool tl_ins_sets(const tl_cfg_ins *ins, int32_t slot) {
  return slot >= ins->result && slot - ins->result < tl_result_count(ins);
}

// Whether the slot is an operand.
static inline bool tl_ins_reads(const tl_cfg_ins *ins, int32_t slot) {
  int32_t i = 0;
  while (i < ins->operand_count && ins->operands[i] != slot) i++;
  return i < ins->operand_count;
}

// A basic block: entered at its first instruction only, left at its last. The
// last one is its end:
//
//   JMP           targets[0]
//   JT, JF        targets[0] if taken, else targets[1]
//   JSET          targets[0] if the slot is set, else targets[1]
//   MORE          targets[0] with another item, targets[1] without
//   FORPREP, FORR targets[0] for an iteration, targets[1] when done
//   RET, RAISE    none
//
// Emission makes one compare-and-branch of a comparison whose only use is the
// JT or JF behind it.
typedef struct tl_cfg_block {
  tl_cfg_ins *ins;
  int32_t count;
  uint32_t capacity;
  int32_t targets[2];  // -1: none
  bool is_handler;     // reached by error edges only; begins with CATCH
  // From ownership, for a handler: the slots that the unwinder leaves as they
  // are, and those of them that must be made owners first.
  int32_t kept_count, own_count;
  int32_t *kept, *own;
  int32_t order;  // position in emission; lowering numbers them
} tl_cfg_block;

// The graph of one function. Slots are numbered: parameters, variables,
// temporaries. A temporary's number is used again after its statement.
typedef struct tl_cfg_function {
  tl_prototype *prototype;  // names, params, group: filled in by lowering
  int32_t index;            // in the program; CALLK's extra
  int32_t param_count;
  int32_t variable_count;  // params included
  int32_t slot_count;      // temporaries included
  int32_t block_count;
  uint32_t block_capacity;
  int32_t order_count;         // blocks placed so far, while lowering
  tl_cfg_block *blocks;        // [0] is the entry
  uint32_t constant_capacity;  // of the prototype's constants, while compiling
  bool is_main;                // the module's own code
  // It may be called other than by CALLK: it is a closure, or used as a value,
  // exported, or in a module variable.
  bool may_be_value;
  tl_summary summary;  // from ownership
} tl_cfg_function;

// All functions of a unit, which ownership looks at together: the summary of a
// callee decides what its callers may do with arguments and result.
typedef struct tl_cfg_program {
  tl_arena *arena;
  int32_t function_count;
  tl_cfg_function **functions;  // [0] is the module's own code
  int32_t global_count;         // module variables
  // For ownership: only slots borrow, while containers count their items, and
  // unknown code may assign any module variable. Set when the verifier has
  // rejected the code that was made without it.
  bool is_conservative;
  // From ownership, a bit set over the module variables: those that no function
  // assigns and that are borrowed from across a call of unknown code.
  uint64_t *invariant;
} tl_cfg_program;

// Called with each function once its ownership is final; false ends it all.
typedef bool tl_use_owned(void *context, tl_cfg_function *function,
                          tl_arena *arena);
// Ownership (ownership.c): sets the modes of all operands, inserts DROP,
// SETTLE, KEEP, HOLD, DETACH and OWN, splits edges, and fills owned, kept, own
// and the summaries. docs/how-values-live.md has the rules.
//
// Then calls [use] with each function in turn. The function's final code
// stands in [arena], which is closed afterwards, so the final code of a long
// program is never in memory all at once. With use NULL nobody is called, and
// all code stays. False: no memory, or [use] said so.
bool tl_ownership(tl_cfg_program *program, tl_use_owned *use, void *context);
