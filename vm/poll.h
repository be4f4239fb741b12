// Polling: interrupt, deadline and budget, looked at every 1,024 turns.
#ifndef TALLY_VM_POLL_H
#define TALLY_VM_POLL_H

#include "vm/kernels/kernels.h"
#include "vm/vm.h"

enum { TL_FUEL = 1024 };

// The fuel ran out: refills vm->fuel, or false after tl_fail.
bool tl_refuel(tl_vm *vm);

// A call into the VM begins: budget and deadline count from here. Nested calls
// share the outer one's.
void tl_poll_begin(tl_vm *vm);

// For kernels that run long: polls the VM. Where it stopped one, tl_fail has
// been called.
tl_stop tl_stop_of(tl_vm *vm);

// Seconds of a clock that never goes back.
double tl_clock(void);
// The host's clock, where it has given one; else tl_clock.
double tl_clock_of(tl_vm *vm);

#endif
