// Polling: interrupt, deadline and budget.

#include "vm/poll.h"

#include <time.h>

#include "vm/memory/mapping.h"
#include "vm/memory/memory_internal.h"

enum { LOOKS_TO_REST = 1024 };  // looks between two thoughts about old memory

double tl_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double tl_clock_of(tl_vm *vm) {
  if (vm->options.clock == NULL)
    return tl_clock();
  tl_access before = vm->access;
  vm->access = TL_ACCESS_NONE;
  double now = vm->options.clock(vm->options.context);
  vm->access = before;
  return now;
}

void tl_poll_begin(tl_vm *vm) {
  uint64_t limit = vm->options.instruction_limit;
  tl_memory_rest(vm);
  vm->fuel = TL_FUEL;
  vm->budget = UINT64_MAX;
  if (limit != 0) {
    vm->fuel = limit < TL_FUEL ? (int32_t)limit : TL_FUEL;
    vm->budget = limit - (uint64_t)vm->fuel;
  }
  vm->deadline =
      vm->options.time_limit > 0 ? tl_clock_of(vm) + vm->options.time_limit : 0;
}

// The host's own errors pass every catch.
static bool stop(tl_vm *vm, tally_status status, const char *message) {
  tl_fail(vm, status, "%s", message);
  vm->error.is_final = true;
  return false;
}

static bool look(tl_vm *vm) {
  if (++vm->looks % LOOKS_TO_REST == 0)
    tl_memory_rest(vm);
  if (atomic_load_explicit(&vm->interrupted, memory_order_relaxed) != 0) {
    int why = atomic_exchange(&vm->interrupted, 0);
    if ((why & TL_INTERRUPTED) == 0)
      return tl_mapping_fail(vm);
    vm->file_lost = (why & TL_FILE_LOST) != 0;
    return stop(vm, TALLY_ERR_INTERRUPT, "interrupted");
  }
  if (vm->deadline > 0 && tl_clock_of(vm) > vm->deadline) {
    return stop(vm, TALLY_ERR_LIMIT, "the time limit is reached");
  }
  return true;
}

bool tl_refuel(tl_vm *vm) {
  vm->fuel = 1;
  if (!look(vm))
    return false;
  if (vm->budget == 0) {
    return stop(vm, TALLY_ERR_LIMIT, "the instruction budget is used up");
  }
  if (vm->budget == UINT64_MAX) {
    vm->fuel = TL_FUEL;
    return true;
  }
  uint64_t grant = vm->budget < TL_FUEL ? vm->budget : TL_FUEL;
  vm->budget -= grant;
  vm->fuel = (int32_t)grant;
  return true;
}

bool tl_poll(tl_vm *vm, uint64_t work) {
  if (vm->finishing)
    return true;
  if (!look(vm))
    return false;
  if (vm->budget == UINT64_MAX)
    return true;
  uint64_t left = vm->budget + (uint64_t)(vm->fuel > 0 ? vm->fuel : 0);
  if (work >= left) {
    vm->budget = 0;
    vm->fuel = 1;
    return stop(vm, TALLY_ERR_LIMIT, "the instruction budget is used up");
  }
  left -= work;
  vm->fuel = left < TL_FUEL ? (int32_t)left : TL_FUEL;
  vm->budget = left - (uint64_t)vm->fuel;
  return true;
}

static bool refused(void *context) {
  return !tl_poll(context, 0);
}

tl_stop tl_stop_of(tl_vm *vm) {
  return (tl_stop){.ask = refused, .context = vm};
}
