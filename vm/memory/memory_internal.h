// What memory.c has for a VM: its free lists, its cache of dead blocks, and the
// limits of both. Tests and error.c look inside, nobody else. Blocks that
// change VMs (vm/api/parcel.c) have their functions here, too.
#pragma once

#include "vm/memory/memory.h"

enum {
  // Small blocks come in classes of multiples of 64 bytes, up to 8 KiB; larger
  // blocks are the allocator's.
  TL_SMALL_STEP = 64,
  TL_SMALL_LIMIT = 8192,
  // Dead blocks of this size on are cached, but no more of them than
  // TL_CACHE_COUNT.
  TL_CACHE_FROM = 32 * 1024,
  TL_CACHE_COUNT = 128,
  // Fresh blocks of this size on are mapped in huge pages.
  TL_HUGE_FROM = 2 << 20,
};

// The host's allocator (tally_options.resize).
typedef void *tl_resize_fn(void *context, void *block, size_t old_size,
                           size_t new_size);

// Seconds after which a dead block that nobody took is given back.
#define TL_CACHE_IDLE 5.0

// A dead block in the cache: its capacity, and when it died (tl_clock).
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

// A promise of peak memory (vm/observe/peak_contract.h).
typedef struct tl_peak_contract {
  uint64_t most;         // bytes that may be alive
  uint64_t ceiling;      // the least [most] of it and those below
  uint64_t nbytes;       // as it was promised
  const void *function;  // of the frame that made it …
  uint32_t frame;        // … and that frame's number
  uint32_t begin, end;   // of the source that it is for
  uint32_t line;         // where it stands
} tl_peak_contract;

// The memory of one VM: free lists of small blocks, the cache of large ones,
// and what the limits need.
struct tl_memory {
  void *lists[TL_SMALL_LIMIT / TL_SMALL_STEP + 1];  // dead blocks, by class
  // What is left of the newest chunk.
  char *fresh, *fresh_end;
  tl_memory_chunk *chunks;  // by address
  size_t chunk_count, chunk_room;

  tl_cached cache[TL_CACHE_COUNT];  // oldest first
  int cache_count;
  size_t cached_bytes;
  // The largest block that died: it decides how much may be cached.
  size_t largest_freed;
  size_t cache_limit;  // an eighth of memory and of the cap; 0: unknown

  // Pages of machine code: under the limit, and not live. They are done without
  // where a value needs the room, by drop_code.
  size_t code_bytes;
  void (*drop_code)(tl_vm *vm);

  bool system;        // the default allocator: blocks may be mapped
  uint64_t fail_at;   // allocations until one fails; 0: none will
  char message[600];  // of an error that found no memory
  size_t reserve;     // bytes above the limit (reserve.h)

  // Promises of peak memory that may still hold, and bytes that may be alive by
  // them; 0: there are none.
  uint64_t ceiling;
  tl_peak_contract *contracts;
  uint32_t contract_count, contract_room;
  // Whether [nbytes] more would break one; then says so in [message], if that
  // is not NULL.
  bool (*over)(tl_vm *vm, size_t nbytes, char *message, size_t size);
};

// Sets up vm->memory; vm->options are set before. False: no memory, with no
// error set.
bool tl_memory_open(tl_vm *vm);
// Returns everything to the allocator. All blocks have been freed before.
void tl_memory_close(tl_vm *vm);

// Counts [nbytes] as live though they came by another way. False, with no error
// set, where that would pass the limit.
bool tl_account(tl_vm *vm, size_t nbytes);
// Takes such a count back; [nbytes] is what was counted.
void tl_unaccount(tl_vm *vm, size_t nbytes);

// The same for pages of machine code, which no script sees.
bool tl_account_code(tl_vm *vm, size_t nbytes);
void tl_unaccount_code(tl_vm *vm, size_t nbytes);

// Blocks that move from one VM to another (parcel.c). Whether a block of
// [nbytes] stands by itself, so that it may.
bool tl_block_may_leave(const tl_vm *vm, size_t nbytes);
// This VM no longer counts the block; who watches it sees it end.
void tl_block_leave(tl_vm *vm, void *block, size_t nbytes);
// From now on it counts it, and who watches it sees it begin. False, with no
// error set, where that would pass the limit.
bool tl_block_arrive(tl_vm *vm, void *block, size_t nbytes);
// Frees such a block without a VM, by the allocator it came from.
void tl_block_free(tl_resize_fn *resize, void *context, void *block);

// Makes the n-th allocation from now fail, once; 0 calls that off.
void tl_memory_fail_at(tl_vm *vm, uint64_t n);
