// The slot stack and the call records.
//
// A frame's slots are reached through pointers that C code holds too, so the
// stack may not move. It is reserved at its full size when the VM opens, which
// takes address space and no memory until it is used, and counted against the
// VM's limit by the part that calls have reached.

#define _DEFAULT_SOURCE 1  // for anonymous mappings

#include "vm/bytecode/slots.h"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#endif

#include "vm/memory/memory_internal.h"

enum {
  // Bytes of the reservation, within bounds; slots that are counted at first.
  DEFAULT_SIZE = 1 << 20,
  SMALLEST_SIZE = 64 << 10,
  FIRST_SLOTS = 256,
  SLOTS_PER_FRAME = 4,  // a frame has at least that many
};

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

// Slots of the whole reservation, from the host's option within bounds; a
// multiple of SLOTS_PER_FRAME.
static size_t slot_count(const tl_vm *vm) {
  size_t nbytes = vm->options.stack_size;
  if (nbytes == 0)
    nbytes = DEFAULT_SIZE;
  if (nbytes < SMALLEST_SIZE)
    nbytes = SMALLEST_SIZE;
  if (nbytes > (size_t)1 << 40)
    nbytes = (size_t)1 << 40;
  return nbytes / sizeof(tl_slot) / SLOTS_PER_FRAME * SLOTS_PER_FRAME;
}

// Bytes of so many slots together with the call records that may go with them.
static size_t bytes_of(size_t slots) {
  return slots * sizeof(tl_slot) + slots / SLOTS_PER_FRAME * sizeof(tl_frame);
}

// Reserves memory without using it; a host with an allocator of its own gives
// it from there.
static void *reserve(tl_vm *vm, size_t nbytes) {
#if defined(MAP_ANONYMOUS)
  if (vm->memory->system) {
    void *block = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
  }
#endif
  return tl_host_new(vm, nbytes);
}

// Gives back what reserve returned.
static void give_back(tl_vm *vm, void *block, size_t nbytes) {
#if defined(MAP_ANONYMOUS)
  if (vm->memory->system) {
    munmap(block, nbytes);
    return;
  }
#endif
  tl_host_free(vm, block, nbytes);
}

// How far calls may go before tl_slots_grow is asked again.
static void set_size(tl_vm *vm, size_t slots) {
  vm->stack_end = vm->stack + slots;
  vm->frames_end = vm->frames + slots / SLOTS_PER_FRAME;
}

// Counts the first slots only; the rest as calls reach it.
bool tl_slots_open(tl_vm *vm) {
  size_t slots = slot_count(vm);
  if (!tl_account(vm, bytes_of(FIRST_SLOTS)))
    return false;
  vm->stack = reserve(vm, bytes_of(slots));
  if (vm->stack == NULL) {
    tl_unaccount(vm, bytes_of(FIRST_SLOTS));
    return false;
  }
  // The records lie behind the slots, in the same reservation.
  vm->frames = (tl_frame *)(void *)(vm->stack + slots);
  vm->frame = vm->frames - 1;
  set_size(vm, FIRST_SLOTS);
  return true;
}

// Counted is only what calls have reached; given back is the whole reservation.
void tl_slots_close(tl_vm *vm) {
  if (vm->stack == NULL)
    return;
  tl_unaccount(vm, bytes_of((size_t)(vm->stack_end - vm->stack)));
  give_back(vm, vm->stack, bytes_of(slot_count(vm)));
  vm->stack = NULL;
}

// The reservation stays; what grows is the part that is counted.
bool tl_slots_grow(tl_vm *vm, const tl_slot *end, const tl_frame *frame) {
  size_t now = (size_t)(vm->stack_end - vm->stack), all = slot_count(vm);
  size_t wanted = (size_t)(end - vm->stack), slots = now;
  size_t frames = (size_t)(frame - vm->frames) + 1;
  // The reservation is the limit of recursion.
  if (wanted > all || frames > all / SLOTS_PER_FRAME)
    return tl_fail(vm, TALLY_ERR_LIMIT,
                   "the calls nest too deeply: %lld are open, and the stack "
                   "has no room for one more",
                   (long long)(frame - vm->frames));
  // Doubling keeps the number of calls here small in deep recursion.
  while (slots < wanted || slots / SLOTS_PER_FRAME < frames) slots *= 2;
  if (slots > all)
    slots = all;
  if (!tl_account(vm, bytes_of(slots) - bytes_of(now)))
    return tl_fail_memory(vm, bytes_of(slots), "the stack");
  set_size(vm, slots);
  return true;
}
