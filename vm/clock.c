// The VM's time, and whether it is up. Below everything that frees: a nest or a
// large block that dies asks here whether somebody waits for control.
#include "vm/poll.h"

#include "vm/memory/mapping.h"

// The host's hook may not use the VM while it runs.
double tl_clock_of(tl_vm *vm) {
  if (vm->options.clock == NULL)
    return tl_clock();
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  double now = vm->options.clock(vm->options.context);
  vm->access = before;
  return now;
}

// Changes nothing and fails nothing, so that it may be asked where no error can
// be raised.
bool tl_is_awaited(tl_vm *vm) {
  if (vm->error.set && vm->error.is_final)
    return true;
  const int why = atomic_load_explicit(&vm->interrupted, memory_order_relaxed);
  return (why & TL_INTERRUPTED) != 0 ||
         (vm->deadline > 0 && tl_clock_of(vm) > vm->deadline);
}
