// What a VM has for machine code; for this folder alone.
#pragma once

#include "vm/native/code.h"
#include "vm/native/jit.h"
#include "vm/native/typed.h"

// A function that was asked for, with its units: prototype->machine_code. It is
// made when the function first comes to a door or is called by a unit, and goes
// with the function's unit of code, by [kept].
typedef struct tl_jit_function {
  // First, so that the prototype's pointer to it is one to the whole.
  struct tl_kept kept;
  uint64_t number;  // what flow->seen has of a function that is called
  struct tl_jit_function *next, *previous;
  tl_prototype *function;
  tl_jit_flow *flow;  // NULL: it is not compiled
  // The newest first: one of them was asked for a moment ago.
  tl_jit_unit *units;
  // Units that others call were made before something was learned.
  bool is_behind;
  // So were those that are entered.
  bool has_learned;
  // Polls that have to come before its units are made anew: as many as making
  // them has taken the time of.
  int64_t owed;
} tl_jit_function;

// Code that is called: the VM, slots and record of the frame, a unit's code. It
// is compiled C's way into code with registers of its own: what it returns is
// of no use, since vm->frame says where the unit left.
typedef int tl_jit_door(tl_vm *vm, tl_slot *base, tl_frame *frame, void *code);

// What a VM has for machine code, from tl_jit_open to tl_jit_close. It owns the
// chunks, the pieces and the records of functions; units belong to functions.
typedef struct tl_jit {
  tl_code_chunk *chunks;
  struct tl_pieces *pieces;  // pieces.c; NULL: none yet
  // Made by the first entry, so that a VM whose scripts never run long maps no
  // page for code.
  tl_jit_door *door;           // NULL: not made yet
  tl_jit_function *functions;  // the newest first
  uint64_t last_number;
  // Units of functions that are gone, which units of others call, and which go
  // with these. Their functions are NULL and they have no code.
  tl_jit_unit *orphans;
  // Of all functions, bounded by MOST_UNITS in jit.c.
  uint32_t unit_count;
  // Of the calls of all units: the most slots from a caller's base to its
  // callee's, and the most slots of a callee.
  int32_t most_step;
  uint32_t most_slots;
  // Polls until the next look, should nothing run at this one.
  int32_t wait;
  // Functions that are being compiled, each for a call in the one before.
  int nesting;
  // Memory was refused: the interpreter does all from now on.
  bool is_off;
  // A unit has an operation on short arrays, which tells nobody what became of
  // its operands: such are not entered where somebody asks.
  bool has_short;
  // Enters although instructions are counted, and operations are noted: see
  // tl_jit_while_counting.
  bool while_counting, notes;
  // Of the unit under way: it polled, and was refused. Written by C that the
  // unit calls, and read by C that called the unit.
  bool has_polled, is_refused;
  // There are units that are out of date, to be freed at the next door.
  bool has_stale;
  // A unit is under way: its code stays, and no other is entered.
  bool is_running;
  // Of it: an instruction has failed, or has begun a region that went on where
  // the unit does not; and the last one that was done for it.
  bool has_failed, has_gone;
  const tl_ins *did;
} tl_jit;

// Does an instruction for a unit: vm->one, with the fuel where that expects it.
tl_one_fn tl_jit_one;
// The same of an instruction with which a region has begun before, up to where
// that had ended when the unit was made, [words] on (flow->spans then).
tl_one tl_jit_span(tl_vm *vm, tl_slot *base, const tl_ins *ins, int64_t span);

// Looks at what the frame's next instruction is about to read, and keeps its
// tag. Returns whether it is one that was not known; units of the function, and
// those that call them, are then out of date. The frame's slots have to be as
// the interpreter needs them, and its pc within the function's code. Writes to
// flow->seen, and hints of fields; fails nowhere and counts nothing.
//
//     l = (1, 2.5)     `t = getel l, k` has seen int64: a unit leaves at 2.5
//                      before it; float64 is new: true. The next unit has both
//                      types, and a third item's text would not be kept.
bool tl_jit_learn(const tl_jit_flow *flow, const tl_frame *frame);

// Keeps the types of what the function reads of its closure. It fails nowhere.
void tl_jit_learn_captures(const tl_jit_flow *flow, const tl_prototype *p,
                           const tl_closure *closure);

// The same of what [did], which was the last instruction before the frame's pc,
// has made.
bool tl_jit_learn_made(const tl_jit_flow *flow, const tl_frame *frame,
                       const tl_ins *did);

// Whether a region has begun at [did] and ended at the frame's pc, which is
// new.
bool tl_jit_learn_span(const tl_jit_flow *flow, const tl_frame *frame,
                       const tl_ins *did);

// A unit has left at the frame's pc: its next version goes around, if C can do
// the instruction. Returns whether that is new.
bool tl_jit_learn_detour(const tl_jit_flow *flow, const tl_frame *frame);

// Makes the door; NULL: no memory.
void *tl_jit_make_door(tl_vm *vm);
