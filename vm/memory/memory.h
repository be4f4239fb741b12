// The door to memory: the only caller of the allocator. Counts live and peak
// bytes exactly, keeps the memory limit, and lets tests make any allocation
// fail.
//
//     tl_object_new, tl_alloc   a block, counted; NULL is an error that is
//                               pending
//     tl_free, tl_object_free   the block goes to a free list or into the cache
//     tl_spare_alloc            a block for caches: not counted, NULL is no
//                               error
//     tl_memory_trim            everything that is only cached goes back
//
// memory.c says how blocks are made; pages.h is where large ones come from,
// mapping.h maps files.
#pragma once

#include "vm/value.h"

struct tl_type_count;  // vm/vm.h

// Returns [nbytes] of uninitialised memory, aligned to 16 bytes (to 64 from 64
// bytes on), or NULL after tl_fail (kind memory): [what] names the thing in the
// message. Sizes are exact to the accounting: tl_free has to get the same
// nbytes.
void *tl_alloc(tl_vm *vm, size_t nbytes, const char *what);
// As tl_alloc, but NULL says no more than that: no error is set.
void *tl_alloc_quiet(tl_vm *vm, size_t nbytes);
// As tl_alloc, with all bytes 0. May poll while it clears a large block, so it
// can also fail with kind interrupt or limit.
void *tl_alloc_zeroed(tl_vm *vm, size_t nbytes, const char *what);
// Gives a block a new size, keeping its content; returns where it then is. On
// failure NULL, and the block is as it was. Only small blocks (up to 8 KiB)
// that grow exist twice for a moment.
void *tl_realloc(tl_vm *vm, void *block, size_t old_nbytes, size_t new_nbytes,
                 const char *what);
// Makes room for one more item of [size] bytes behind [count] of them: a block
// that is full gets twice the *capacity, 16 at least. [items] points to the
// pointer to the block, NULL or of tl_alloc; or, where [first] is not NULL, to
// the items there, which are copied out when they are too many. False after
// tl_fail, with all as it was.
bool tl_make_room(tl_vm *vm, void *items, const void *first, size_t *capacity,
                  size_t count, size_t size, const char *what);
// Gives back what lies behind the first [new_nbytes] of a block of *nbytes, and
// returns where the block then is. Never fails: what cannot be given back
// stays, and *nbytes says how large the block is.
void *tl_shrink(tl_vm *vm, void *block, size_t *nbytes, size_t new_nbytes);
// Frees a block of [nbytes], the size it was made with. NULL is ignored.
void tl_free(tl_vm *vm, void *block, size_t nbytes);

// Memory for things that can be made again, such as cached plans: it does not
// count as live, and where there is none NULL is no error.
void *tl_spare_alloc(tl_vm *vm, size_t nbytes);
// Gives such memory back.
void tl_spare_free(tl_vm *vm, void *block, size_t nbytes);

// A new object with count 1; its header is filled in, the rest uninitialised.
// NULL after tl_fail.
void *tl_object_new(tl_vm *vm, tl_kind kind, size_t nbytes, const char *what);
// Returns an object's memory. What the object refers to is the caller's to
// drop.
void tl_object_free(tl_vm *vm, tl_object *object);

// Sets *out to a * b, or a + b; returns true where that overflows.
static inline bool tl_mul_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_mul_overflow(a, b, out);
}
static inline bool tl_add_overflows(size_t a, size_t b, size_t *out) {
  return __builtin_add_overflow(a, b, out);
}

// Counts memory of the process that is not Tally's against the limit, for
// tl_account_on; [what] stands for it before the observer. False after tl_fail
// (kind memory).
bool tl_account_external(tl_vm *vm, const void *what, size_t nbytes);
// Takes it back.
void tl_unaccount_external(tl_vm *vm, const void *what, size_t nbytes);

// Copies the names and limits of the devices in the options; false where there
// are too many.
bool tl_devices_open(tl_vm *vm);
// The same for memory of a type and device, which counts on that device alone;
// on device 0 as above. False after tl_fail (kind memory): its limit would be
// passed, and nothing is counted.
bool tl_account_on(tl_vm *vm, struct tl_type_count *count, const void *what,
                   size_t nbytes);
// Takes back what was counted, with the same arguments.
void tl_unaccount_on(tl_vm *vm, struct tl_type_count *count, const void *what,
                     size_t nbytes);

// The default of tally_options.resize: realloc and free. Where it is set, large
// blocks come from the system in huge pages instead.
void *tl_memory_resize(void *context, void *block, size_t old_size,
                       size_t new_size);

// Gives cached blocks back to the system; returns how many bytes.
size_t tl_memory_trim(tl_vm *vm);

// Gives back the cached blocks that have waited too long. Cheap; called from
// time to time while code runs and while it waits.
void tl_memory_rest(tl_vm *vm);

// Counts begin anew; what is alive stays counted.
void tl_stats_reset(tl_vm *vm);

// A block from the host's allocator, past all accounting; NULL: none.
void *tl_host_new(tl_vm *vm, size_t nbytes);
// Gives a block back to the host's allocator; [nbytes] as it was asked for.
void tl_host_free(tl_vm *vm, void *block, size_t nbytes);
