// The slot stack and the call records: both are reserved at full size when the
// VM opens, so that they never move and pointers into them stay good, and are
// counted against the memory limit as far as calls have reached.
//
//     stack ─▶ slots …            stack_end   │ frames ─▶ records … frames_end
//              main │ norm │ …    (so far)    │           main │ norm │ …
#pragma once

#include "vm/bytecode/function.h"

// Reserves options.stack_size bytes of slots and their call records. That takes
// address space alone where the allocator is the default one. False: no memory.
bool tl_slots_open(tl_vm *vm);
// Gives the reservation back; all calls have ended.
void tl_slots_close(tl_vm *vm);

// Makes room for slots below [end] and for the call record [frame]. False
// after tl_fail: kind limit where calls nest too deeply, kind memory where the
// growth would pass the cap.
bool tl_slots_grow(tl_vm *vm, const tl_slot *end, const tl_frame *frame);

// Whether there is room for slots below [end] and the record [frame], after
// growing if need be: a comparison in the usual case.
static inline bool tl_slots_reserve(tl_vm *vm, const tl_slot *end,
                                    const tl_frame *frame) {
  return (end <= vm->stack_end && frame < vm->frames_end) ||
         tl_slots_grow(vm, end, frame);
}
