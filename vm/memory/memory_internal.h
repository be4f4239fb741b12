// What memory.c keeps for a VM; tests and error.c look inside, nobody else.
#ifndef TALLY_VM_MEMORY_INTERNAL_H
#define TALLY_VM_MEMORY_INTERNAL_H

#include "vm/memory/memory.h"

enum {
  TL_SMALL_STEP = 64,
  TL_SMALL_LIMIT = 8192,      // larger blocks come from the allocator
  TL_CACHE_FROM = 32 * 1024,  // dead blocks of this size on are kept
  TL_CACHE_COUNT = 128,       // but no more of them than this
  TL_HUGE_FROM = 2 << 20,     // fresh blocks of this size on are mapped
};

// Seconds after which a dead block that nobody took is given back.
#define TL_CACHE_IDLE 5.0

// A dead block that is kept: its capacity, and when it died (tl_clock).
typedef struct tl_cached {
  char *block;
  size_t capacity;
  double died;
} tl_cached;

// A stretch of memory that small blocks are cut from.
typedef struct tl_memory_chunk {
  char *raw;      // as the allocator gave it
  size_t nbytes;  // of raw
  char *begin;    // the first block, aligned
  char *end;
  size_t dead;  // bytes on free lists; used while trimming
} tl_memory_chunk;

struct tl_memory {
  void *lists[TL_SMALL_LIMIT / TL_SMALL_STEP + 1];  // dead blocks, by class
  char *fresh, *fresh_end;  // of the newest chunk, not yet cut
  tl_memory_chunk *chunks;  // by address
  size_t chunk_count, chunk_room;

  tl_cached cache[TL_CACHE_COUNT];  // oldest first
  int cache_count;
  size_t cached_bytes;
  size_t largest_freed;
  size_t cache_limit;  // an eighth of memory and of the cap; 0: unknown

  bool system;        // the default allocator: blocks may be mapped
  uint64_t fail_at;   // allocations until one fails; 0: none will
  char message[256];  // of an error that found no memory
};

bool tl_memory_open(tl_vm *vm);   // vm->options are set; false: no memory
void tl_memory_close(tl_vm *vm);  // everything has been freed before

// Counts memory that came another way as live; false where that would pass the
// cap, with no error set.
bool tl_account(tl_vm *vm, size_t nbytes);
void tl_unaccount(tl_vm *vm, size_t nbytes);

// Blocks that change VMs (parcel.c). Whether one of [nbytes] stands by itself,
// so that it may; the VM no longer counts it; and its end without a VM.
bool tl_block_may_leave(const tl_vm *vm, size_t nbytes);
void tl_block_leave(tl_vm *vm, size_t nbytes);
void tl_block_free(void *(*resize)(void *context, void *block, size_t old_size,
                                   size_t new_size),
                   void *context, void *block, size_t nbytes);

// As tl_alloc, but NULL says no more than that: no error is set.
void *tl_alloc_quiet(tl_vm *vm, size_t nbytes);

// Makes the n-th allocation from now fail, once; 0 calls that off.
void tl_memory_fail_at(tl_vm *vm, uint64_t n);

#endif
