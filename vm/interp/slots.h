// The slot stack and the call records: reserved whole, so that they never
// move, and counted as they grow.
#ifndef TALLY_VM_SLOTS_H
#define TALLY_VM_SLOTS_H

#include "vm/interp/function.h"

// Reserves options.stack_size bytes of slots and their call records. Address
// space alone where the allocator is the default one; false: no memory.
bool tl_slots_open(tl_vm *vm);
void tl_slots_close(tl_vm *vm);

// Makes room for slots below [end] and for the call record [frame]. False
// after tl_fail: kind limit where calls nest too deeply, kind memory where the
// growth would pass the cap.
bool tl_slots_grow(tl_vm *vm, const tl_slot *end, const tl_frame *frame);

static inline bool tl_slots_reserve(tl_vm *vm, const tl_slot *end,
                                    const tl_frame *frame) {
  return (end <= vm->stack_end && frame < vm->frames_end) ||
         tl_slots_grow(vm, end, frame);
}

#endif
