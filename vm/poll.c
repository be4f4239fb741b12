// Polling: interrupt, deadline and budget. See poll.h. Loops count the fuel
// down and come here when it is used up; long kernels and built-ins come with
// the work they have done.
//
// Built for size.

#include "vm/poll.h"

#include "vm/memory/mapping.h"
#include "vm/events.h"
#include "vm/objects.h"

enum { LOOKS_TO_REST = 1024 };  // looks between two thoughts about old memory

// How many polls there are until machine code is asked for: all, but for tests.
static int32_t first_polls(const tl_vm *vm) {
  return vm->every_poll ? 1 : TL_FUEL;
}

// An interrupt belongs to the call that it met.
void tl_poll_enter(tl_vm *vm) {
  vm->outside = true;
  if (vm->interrupted != 0)
    atomic_fetch_and(&vm->interrupted, ~(TL_INTERRUPTED | TL_ASKED));
}

// A call into the VM is also a good moment to give old cached memory back.
void tl_poll_begin(tl_vm *vm) {
  vm->outside = false;
  uint64_t limit = vm->options.instruction_limit;
  tl_memory_rest(vm);
  int32_t fuel = limit != 0 && limit < TL_FUEL ? (int32_t)limit : TL_FUEL;
  vm->budget = limit == 0 ? UINT64_MAX : limit - (uint64_t)fuel;
  tl_give_fuel(vm, fuel, first_polls(vm));
  vm->written = 0;
  vm->unpolled = 0;
  vm->deadline =
      vm->options.time_limit > 0 ? tl_clock_of(vm) + vm->options.time_limit : 0;
}

// Ends the script: an error that passes every `catch`, since it is the host's
// wish.
static bool stop(tl_vm *vm, tally_status status, const char *message) {
  tl_fail(vm, status, "%s", message);
  vm->error.is_final = true;
  return false;
}

// Looks at the flag and the deadline, and from time to time gives old cached
// memory back. False after tl_fail.
static bool look(tl_vm *vm) {
  // What the run before left of its budget is none of this call's.
  if (vm->outside)
    tl_poll_begin(vm);
  if (++vm->looks % LOOKS_TO_REST == 0)
    tl_memory_rest(vm);
  // Machine code and long kernels come by here alone.
  if (vm->timed)
    vm->observer->step(vm);
  // Tags of slots are not right while machine code runs: who asks then is
  // answered behind it, which is soon, since it leaves for that.
  int why = atomic_load_explicit(&vm->interrupted, memory_order_relaxed);
  if ((why & TL_ASKED) != 0 && vm->native_end == NULL) {
    atomic_fetch_and(&vm->interrupted, ~TL_ASKED);
    vm->observer->progress(vm);
    why = atomic_load_explicit(&vm->interrupted, memory_order_relaxed);
  }
  // Who asks meanwhile is answered at the next poll. To exchange the flag takes
  // longer than a small kernel, so that it is looked at first.
  if (why != 0)
    why = atomic_fetch_and(&vm->interrupted, TL_ASKED) & ~TL_ASKED;
  if (why != 0) {
    // Only a mapped file was lost: an error that a script may catch.
    if ((why & TL_INTERRUPTED) == 0)
      return tl_mapping_fail(vm);
    vm->file_lost = (why & TL_FILE_LOST) != 0;
    return stop(vm, TALLY_ERR_INTERRUPT, "interrupted");
  }
  if (vm->deadline > 0 && tl_clock_of(vm) > vm->deadline)
    return stop(vm, TALLY_ERR_LIMIT, "the time limit is reached");
  return true;
}

// The fuel is taken from the budget, so that both count down together.
bool tl_refuel(tl_vm *vm) {
  if (vm->fuel_aside > 0) {
    tl_give_fuel(vm, vm->fuel_aside, first_polls(vm));
    return true;
  }
  // With fuel 1 the next poll looks again, if this one fails.
  vm->fuel = 1;
  const bool begins = vm->outside;
  if (!look(vm) || begins)
    return !tl_failed(vm);
  if (vm->budget == 0)
    return stop(vm, TALLY_ERR_LIMIT, "the instruction budget is used up");
  if (vm->budget == UINT64_MAX) {
    tl_give_fuel(vm, TL_FUEL, first_polls(vm));
    return true;
  }
  uint64_t grant = vm->budget < TL_FUEL ? vm->budget : TL_FUEL;
  vm->budget -= grant;
  tl_give_fuel(vm, (int32_t)grant, first_polls(vm));
  return true;
}

// Fuel and budget together are what is left, and are split anew:
//
//     budget 5000, fuel 300, work 1000     left 4300
//     budget 3276, fuel 1024               the fuel is full again
//
// With budget UINT64_MAX there is no limit, and the fuel is not touched.
bool tl_poll(tl_vm *vm, uint64_t work) {
  // A function that must not stop half-way is soon done (TL_STOPS).
  if (vm->finishing)
    return true;
  if (!look(vm))
    return false;
  if (vm->budget == UINT64_MAX)
    return true;
  uint64_t left = vm->budget + (uint64_t)(vm->fuel > 0 ? vm->fuel : 0) +
                  (uint64_t)vm->fuel_aside;
  // The work is paid from budget and fuel together.
  if (work >= left) {
    vm->budget = 0;
    tl_give_fuel(vm, 1, 1);
    return stop(vm, TALLY_ERR_LIMIT, "the instruction budget is used up");
  }
  left -= work;
  int32_t fuel = left < TL_FUEL ? (int32_t)left : TL_FUEL;
  vm->budget = left - (uint64_t)fuel;
  // A poll that was to come by machine code still does.
  bool waits = vm->fuel_aside > 0 && vm->fuel > 0;
  tl_give_fuel(vm, fuel, waits ? vm->fuel : first_polls(vm));
  return true;
}

// A comparison that a poll of its own has stopped cannot say so: this does.
bool tl_poll_gathered(tl_vm *vm) {
  const uint64_t work = (uint64_t)vm->unpolled / 1024;
  vm->unpolled = 0;
  return !tl_failed(vm) && tl_poll(vm, work);
}

bool tl_fill_bytes(tl_vm *vm, char *to, int byte, size_t nbytes) {
  for (size_t at = 0, n; at < nbytes; at += n) {
    n = nbytes - at < TL_COPY_PIECE ? nbytes - at : TL_COPY_PIECE;
    memset(to + at, byte, n);
    if (n == TL_COPY_PIECE && !tl_poll_over(vm))
      return false;
  }
  return true;
}

bool tl_move_pieces(tl_vm *vm, void *to, const void *from, size_t nbytes,
                    bool over) {
  const bool up = (uintptr_t)to > (uintptr_t)from;
  for (size_t left = nbytes, n; left > 0; left -= n) {
    n = left < TL_COPY_PIECE ? left : TL_COPY_PIECE;
    const size_t at = up ? left - n : nbytes - left;
    memmove((char *)to + at, (const char *)from + at, n);
    if (n < left && !(over ? tl_poll_over(vm) : tl_poll(vm, 0)))
      return false;
  }
  return true;
}

// What comes later knows nothing of this operation. Without a total it is
// tl_poll.
bool tl_poll_part(tl_vm *vm, uint64_t work, int64_t done, int64_t total) {
  if (total == 0)
    return tl_poll(vm, work);
  vm->done = done;
  vm->total = total;
  bool ok = tl_poll(vm, work);
  vm->total = 0;
  return ok;
}

//
//  limit 10, written 8     a piece of 2 goes, one of 3 ends the script
//
// What has been written never passes the limit, so that the difference is none
// below 0. A piece goes whole or not at all.
bool tl_output_counts(tl_vm *vm, size_t nbytes) {
  const uint64_t limit = vm->options.output_limit;
  if (limit == 0)
    return true;
  if (nbytes > limit - vm->written)
    return stop(vm, TALLY_ERR_LIMIT, "the output limit is reached");
  vm->written += nbytes;
  return true;
}

// For loops that are nearly done: a stop is heeded only where it is wished and
// nothing would be lost by it.
bool tl_poll_over(tl_vm *vm) {
  return vm->finishing || !tl_is_awaited(vm) || vm->fusion->has_taken(vm) ||
         tl_poll(vm, 0);
}

// tl_poll in the form that kernels ask.
static bool refused(void *context) {
  return !tl_poll(context, 0);
}

// The kernel that asks must be in the VM's own thread.
tl_stop tl_stop_of(tl_vm *vm) {
  return (tl_stop){.ask = refused, .context = vm};
}
