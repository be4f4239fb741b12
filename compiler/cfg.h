// The control-flow graph: three-address code over numbered slots.
//
// Lowering makes it, ownership decides modes and puts in what settles and
// drops, emission turns it into bytecode. Not SSA: a slot may be written many
// times. Slots: parameters first, then variables, then temporaries.
#ifndef TALLY_COMPILER_CFG_H
#define TALLY_COMPILER_CFG_H

#include "compiler/arena.h"
#include "compiler/source.h"
#include "vm/interp/function.h"

// The rules lowering keeps:
// 1. Evaluation order is explicit. Every expression result is a temporary.
// 2. An instruction that can fail never writes a slot that its own handler
//    sees. Where no handler is, it may write a variable directly (which is
//    dead by then: its last use is this instruction or an earlier one).
// 3. An update's result slot is its operand 0.
// 4. Each instruction that can fail has one error edge: [handler], or out.
// 5. A slot read where it may be unassigned is defined as unset (LOADK) at
//    the entry; reading a possibly unset one is CHECKSET.

typedef struct tl_cfg_owned {  // of a point that can fail
  int32_t slot;
  bool either;
} tl_cfg_owned;

typedef struct tl_cfg_ins {
  uint8_t op;      // tl_opcode
  uint8_t fails;   // tl_fails; lowering copies it from the table
  bool is_drain;   // NEXT: modes[0] is ! or ? and items may move out
  int32_t result;  // slot, -1: none
  int32_t operand_count;
  int32_t *operands;  // slots
  uint8_t *modes;     // tl_mode of each: set by ownership
  bool is_pinned;     // ownership: its result is made an owner
  bool gives_back;    // CALLB: where it fails, operand 0 is back in its slot
  bool relies;        // a call across which a steady variable lends
  uint32_t extra;     // constant, global, path, built-in, function index …
  uint32_t extra2;    // a second one (SETPATH's step, NEXT's hidden slot)
  int32_t window;     // slot from which call arguments were laid out, -1
  int32_t handler;    // block that catches, -1: out of the function
  tl_span span;
  // Ownership's answer for points that can fail: who owns then, apart from
  // the slots that the handler keeps.
  int32_t owned_count;
  tl_cfg_owned *owned;
} tl_cfg_ins;

// The last instruction of a block is its end: JMP (targets[0]); JT, JF
// (targets[0] where taken, targets[1] else), JSET, MORE (another item: 0, no
// more: 1), FORPREP, FORR (a turn: 0, done: 1); RET, RAISE: none. Emission
// makes compare-and-branch of a comparison whose only use is the JT or JF.
typedef struct tl_cfg_block {
  tl_cfg_ins *ins;
  int32_t count, capacity;
  int32_t targets[2];  // -1: none
  bool is_handler;     // reached by error edges only; begins with CATCH
  // Of a handler, from ownership: what the unwinder leaves, and what of it
  // must be made an owner first.
  int32_t kept_count, own_count;
  int32_t *kept, *own;
  int32_t order;  // position in emission; lowering numbers them
} tl_cfg_block;

typedef struct tl_cfg_function {
  tl_prototype *prototype;  // names, params, group: filled in by lowering
  int32_t index;            // in the program; CALLK's extra
  int32_t param_count;
  int32_t variable_count;  // params included
  int32_t slot_count;      // temporaries included
  int32_t block_count, block_capacity;
  int32_t order_count;   // blocks placed so far, while lowering
  tl_cfg_block *blocks;  // [0] is the entry
  // Slots that always hold scalars (loop counters): never owned.
  bool *is_scalar;
  uint32_t constant_capacity;  // of the prototype's constants, while compiling
  bool is_main;                // the module's own code
  bool may_be_value;   // called other than by CALLK: a closure, or its function
                       // is used as a value, exported or a module variable's
  tl_summary summary;  // from ownership
} tl_cfg_function;

typedef struct tl_cfg_program {
  tl_arena *arena;
  int32_t function_count;
  tl_cfg_function **functions;  // [0] is the module's own code
  int32_t global_count;         // module variables
  bool is_cautious;             // for ownership: nothing is lent but to slots
  uint64_t *steady;  // from ownership: those that no function assigns and that
                     // lend across a call of code that is not known
} tl_cfg_program;

// Ownership (ownership.c): sets modes, inserts DROP SETTLE KEEP HOLD DETACH
// OWN, splits edges, fills owned, kept, own and the summaries.
//
// Then calls [use] with each function in turn. Its code stands in [arena],
// which is closed after that: so a long program's final code is never all
// there at once. NULL: nobody is called, and all code stays.
// False: no memory, or use said so.
typedef bool tl_use_owned(void *context, tl_cfg_function *function,
                          tl_arena *arena);
bool tl_ownership(tl_cfg_program *program, tl_use_owned *use, void *context);

// The graph as text, for tests.
bool tl_cfg_print(const tl_cfg_function *function, tl_text *out);

#endif
