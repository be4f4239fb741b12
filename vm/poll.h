// Polling: interrupt, deadline and budget, looked at every 1,024 iterations.
//
//     vm->fuel      counted down by loops and calls; at 0 tl_refuel looks
//                   around
//     fuel_aside    more of it, which tl_refuel hands out first: then it was
//                   called for machine code alone, and looks at nothing
//     vm->budget    instructions left beyond the fuel, which is taken from it
//     vm->deadline  a time of the host's clock
//     interrupted   set by another thread or a signal handler, which wants the
//                   run to end or asks what it is at
//
// Whatever runs long calls tl_poll with the work it has done (vm.h), so that a
// kernel of a second counts as much as the loop it replaces.
#pragma once

#include <time.h>

#include "vm/stop.h"
#include "vm/vm.h"

// Iterations or calls between two looks around.
enum { TL_FUEL = 1024 };

// The VM's fuel is [fuel]; all but the [first] polls of it are set aside, so
// that the last of these comes by the entry of machine code.
static inline void tl_give_fuel(tl_vm *vm, int32_t fuel, int32_t first) {
  vm->fuel = first < fuel ? first : fuel;
  vm->fuel_aside = fuel - vm->fuel;
}

// The fuel ran out: looks around and refills vm->fuel. False after tl_fail
// (kind interrupt or limit).
bool tl_refuel(tl_vm *vm);

// The host's outermost call is entered: interrupts count from here, and budget
// and deadline from its first poll, unless tl_poll_begin is before that. Nested
// calls share the outer one's.
void tl_poll_enter(tl_vm *vm);
// Budget and deadline count from here.
void tl_poll_begin(tl_vm *vm);

// A function to be asked by kernels that run long: it polls the VM. If it
// stopped the kernel, tl_fail has been called.
tl_stop tl_stop_of(tl_vm *vm);

// Seconds of a clock that never goes back.
static inline double tl_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The host's clock, where it has given one; else tl_clock.
double tl_clock_of(tl_vm *vm);
