// The door to memory: the only caller of the allocator. Counts live and peak
// bytes exactly, keeps the cap, injects faults in tests.
#ifndef TALLY_VM_MEMORY_H
#define TALLY_VM_MEMORY_H

#include "vm/value.h"

// [nbytes] of uninitialised memory, aligned to 16 (to 64 from 64 bytes on), or
// NULL after tl_fail (kind memory): [what] names the thing in the message.
// Sizes are exact to the accounting: give the same nbytes back to tl_free.
void *tl_alloc(tl_vm *vm, size_t nbytes, const char *what);
void *tl_alloc_zeroed(tl_vm *vm, size_t nbytes, const char *what);
// Gives a block a new size, keeping the content; NULL leaves it as it was. Only
// small blocks (8 KiB) that grow are ever there twice.
void *tl_realloc(tl_vm *vm, void *block, size_t old_nbytes, size_t new_nbytes,
                 const char *what);
// Gives back what lies behind the first [new_nbytes], of a block of *nbytes;
// returns it where it then is. What cannot be given back stays: *nbytes says.
void *tl_shrink(tl_vm *vm, void *block, size_t *nbytes, size_t new_nbytes);
void tl_free(tl_vm *vm, void *block, size_t nbytes);

// Memory for what can be made again, like the blocks that are cached: it does
// not count as live, and where there is none NULL is no error.
void *tl_spare_alloc(tl_vm *vm, size_t nbytes);
void tl_spare_free(tl_vm *vm, void *block, size_t nbytes);

// A new object of count 1, its header filled in, the rest uninitialised.
void *tl_object_new(tl_vm *vm, tl_kind kind, size_t nbytes, const char *what);
// Returns an object's memory; what it refers to is the caller's business.
void tl_object_free(tl_vm *vm, tl_object *object);

// out = a * b (+ ...), or true on overflow.
static inline bool tl_mul_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_mul_overflow(a, b, out);
}
static inline bool tl_add_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_add_overflow(a, b, out);
}

// Memory of the host's that the VM is answerable for (arrays from buffers).
bool tl_account_external(tl_vm *vm, size_t nbytes);
void tl_unaccount_external(tl_vm *vm, size_t nbytes);

// The default of tally_options.resize: realloc and free. Where it is set, large
// blocks come from the system in huge pages instead.
void *tl_memory_resize(void *context, void *block, size_t old_size,
                       size_t new_size);

// Gives cached blocks back to the system; returns how many bytes.
size_t tl_memory_trim(tl_vm *vm);

// Gives back the cached blocks that have waited too long. Cheap; called from
// time to time while code runs and while it waits.
void tl_memory_rest(tl_vm *vm);

#endif
