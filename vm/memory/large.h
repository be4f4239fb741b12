// Large blocks, from 8 KiB on: the allocator's own, each with a note of its
// capacity before the data, and the cache of those that died.
//
//     raw ──▶ │ padding │ note │ data …         │
//                              ▲ the block, at a multiple of 64
//
// memory.c asks for them and counts them; nothing here counts.
#pragma once

#include "vm/memory/memory_internal.h"
#include "vm/memory/pages.h"

// Under the sanitizers and the auditor each block is the allocator's own, so
// that they see its bounds and its death.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TL_BLOCKS_ALONE 1
#endif
#endif
#if defined(TALLY_AUDIT) || defined(__SANITIZE_ADDRESS__)
#undef TL_BLOCKS_ALONE
#define TL_BLOCKS_ALONE 1
#endif
#ifndef TL_BLOCKS_ALONE
#define TL_BLOCKS_ALONE 0
#endif

enum { TL_BLOCK_ALIGNMENT = 64 };

// Stands in the 16 bytes before the data of a large block.
typedef struct tl_block_note {
  size_t capacity;   // bytes from the data on
  uint32_t padding;  // from the allocator's address to the data
  uint32_t mapped;   // bytes of padding and capacity belong to a mapping
} tl_block_note;
_Static_assert(sizeof(tl_block_note) == 16, "the allocator aligns to 16 alone");

// The note lies right before the block.
static inline tl_block_note *tl_note_of(void *block) {
  return (tl_block_note *)block - 1;
}

// A block of at least [nbytes] from the cache, else a fresh one; NULL: the
// allocator has nothing left.
void *tl_large_new(tl_vm *vm, size_t nbytes);
// The same from the host's allocator alone, without cache and mapping.
void *tl_large_host(tl_vm *vm, size_t nbytes);
// Gives the block another size, with its content: pages are moved, not copied;
// what the allocator copies is its own affair. NULL leaves it as it was.
void *tl_large_resize(tl_vm *vm, void *block, size_t nbytes);
// The block has died: into the cache, or back.
void tl_large_dead(tl_vm *vm, void *block);
// Gives the block back to the system, or to the allocator.
void tl_large_free(tl_resize_fn *resize, void *context, void *block);

// Gives the oldest cached blocks back until at most [keep] bytes are cached;
// returns how many bytes that was.
size_t tl_cache_shrink(tl_vm *vm, size_t keep);
