// Machine code for loops and functions that run long: where the interpreter
// enters it.
//
//     interp ── poll, and the fuel is 0 ─▶ tl_refuel
//            ── a jump back, or a call ──▶ tl_jit_enter ─▶ unit's code
//                                              │              │ leaves
//            ◀── vm->frame says where ─────────┴──────────────┘
//
// The interpreter's fast ways know nothing of it: only a poll that found no
// fuel asks. So code that never polls 1,024 times is never compiled. A unit
// that leaves sets the rest of the fuel aside (poll.h), so that the next poll
// asks again. A unit is made for the tags that the frame's slots have where it
// is asked; typed.h says how.
//
// What runs does the same as the interpreter, with the same bits, the same
// errors at the same places, and the same number of polls: whatever is not
// plain it leaves to that, or has done by vm->one. Where the system gives no
// executable pages nothing here does anything.
#pragma once

#include "vm/bytecode/function.h"

// Makes machine code possible, where options.native and the system allow it;
// else vm->jit stays NULL. Nothing fails here: without memory for it the
// interpreter does all. Called once, before any code is loaded.
void tl_jit_open(tl_vm *vm);
// All functions have been freed.
void tl_jit_close(tl_vm *vm);
// Whether the system makes pages executable, and there is an emitter.
bool tl_jit_is_available(void);

typedef enum tl_jit_status {
  TL_JIT_NOT,     // nothing ran
  TL_JIT_LEFT,    // vm->frame, and its pc, say where to go on
  TL_JIT_FAILED,  // the same, and an error of the poll there is pending
} tl_jit_status;

// Whether code is entered while instructions are counted, which it does not do:
// for those who watch what becomes of operations, or the time, alone; and
// whether operations are noted, so that all on arrays have to be C's.
void tl_jit_while_counting(tl_vm *vm, bool enters, bool notes);

// The frame is about to go on at frame->pc, behind a poll. vm->jit is not NULL.
// [frame] is vm->frame; its slots and its pc are as the interpreter needs them,
// and are so again when this returns, though vm->frame may then be a frame
// above it: a call that the unit made and that the interpreter goes on with.
// After TL_JIT_FAILED the error unwinds from there. Fuel is taken for the polls
// that ran; the rest is in vm->fuel and vm->fuel_aside.
tl_jit_status tl_jit_enter(tl_vm *vm, tl_frame *frame);

// Whether the call of [builtin] at [ins] gives a list of two that the next
// instruction takes apart and ends: a unit takes both for one.
bool tl_jit_is_pair(const tl_builtin *builtin, const tl_ins *ins);

// Whether the instruction may be done together with the next one: a unit takes
// both for one.
bool tl_jit_is_joined(const tl_ins *ins);

// A region that has begun at [ins], which C does for a unit, went on: the unit
// leaves behind that, and learns where it is.
void tl_jit_goes_on(tl_vm *vm, const tl_ins *ins);

struct tl_jit_code;

// Calls [each] with the typed operations of all units, the oldest function
// first. False where memory was short. Units are typed anew for it, as
// operations are not stored.
bool tl_jit_each_code(tl_vm *vm,
                      void (*each)(void *context, const struct tl_jit_code *),
                      void *context);

// What became of a unit that was entered, for tl_jit_each.
typedef struct tl_jit_report {
  const tl_prototype *function;
  uint32_t pc;
  uint64_t runs;
  bool is_given_up;  // it left too soon, too often
  // Where it left last; the function may be one that was called.
  const tl_prototype *left_in;
  uint32_t left_at;
} tl_jit_report;
// Calls [each] with the report of each unit that was entered. The report is
// borrowed, and valid within the call alone. [each] may not run scripts.
void tl_jit_each(tl_vm *vm,
                 void (*each)(void *context, const tl_jit_report *report),
                 void *context);
