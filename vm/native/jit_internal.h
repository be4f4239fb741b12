// What a VM has for machine code; for this folder alone.
#ifndef TALLY_VM_JIT_INTERNAL_H
#define TALLY_VM_JIT_INTERNAL_H

#include "vm/native/code.h"
#include "vm/native/jit.h"
#include "vm/native/typed.h"

// A function that was asked for, with its units: prototype->machine_code.
typedef struct tl_jit_function {
  struct tl_kept kept;
  struct tl_jit_function *next, *previous;
  tl_prototype *function;
  tl_jit_flow *flow;  // NULL: it is not compiled
  tl_jit_unit *units;
} tl_jit_function;

// Code that is called: the VM, slots and record of the frame, a unit's code.
typedef int tl_jit_door(tl_vm *vm, tl_slot *base, tl_frame *frame, void *code);

typedef struct tl_jit {
  tl_code_chunk *chunks;
  tl_jit_door *door;           // NULL: not made yet
  tl_jit_function *functions;  // the newest first
  uint32_t unit_count;
  // Functions that are being compiled, each for a call in the one before.
  int nesting;
  // Memory was refused: the interpreter does all from now on.
  bool is_off;
  bool while_counting;
  // Of the unit under way: it polled, and was refused.
  bool has_polled, is_refused;
} tl_jit;

// Makes the door; NULL: no memory.
void *tl_jit_make_door(tl_vm *vm);

#endif
