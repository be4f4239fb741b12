// Large blocks and the cache of those that died. See large.h.
//
// A block comes from the cache, else from the allocator, or, where that is the
// default one, from 2 MiB on in huge pages of its own. Dead ones of 32 KiB and
// more wait in the cache for some seconds, since fresh pages cost more than the
// arithmetic on them.
//
// Built for size.

#include "vm/memory/large.h"

#include <unistd.h>

#include "vm/poll.h"

// Bytes that may be cached even if only small blocks have died so far.
enum { SMALLEST_CACHE = 64 << 20 };

void *tl_host_new(tl_vm *vm, size_t nbytes) {
  return vm->options.resize(vm->options.context, NULL, 0, nbytes);
}

void tl_host_free(tl_vm *vm, void *block, size_t nbytes) {
  vm->options.resize(vm->options.context, block, nbytes, 0);
}

// The whole pages that hold a block and its note; 0: too many.
// The test has room for a huge page more, as mapping looks for its boundary
// (pages.c).
static size_t pages_for(size_t nbytes) {
  size_t page = 4096, whole;
  if (tl_add_overflows(nbytes, TL_BLOCK_ALIGNMENT + page + TL_HUGE_PAGE,
                       &whole))
    return 0;
  return (nbytes + TL_BLOCK_ALIGNMENT + page - 1) / page * page;
}

// The block in pages from [raw] on, which may be NULL.
static void *in_pages(char *raw, size_t whole) {
  if (raw == NULL)
    return NULL;
  char *block = raw + TL_BLOCK_ALIGNMENT;
  *tl_note_of(block) =
      (tl_block_note){whole - TL_BLOCK_ALIGNMENT, TL_BLOCK_ALIGNMENT, 1};
  return block;
}

// A large block in pages of its own.
static void *large_mapped(size_t nbytes) {
  size_t whole = pages_for(nbytes);
  return whole == 0 ? NULL : in_pages(tl_pages_map(whole), whole);
}

// A block of the allocator's with another size, or with [raw] NULL a new one.
// The new address may have another remainder by 64: then the data are moved
// within the block, and the note is written anew. The allocator aligns to 16,
// so a note of 16 bytes always fits before the next multiple of 64 above.
static void *resize_host(tl_vm *vm, char *raw, tl_block_note n, size_t nbytes) {
  size_t whole, old = raw != NULL ? n.capacity + TL_BLOCK_ALIGNMENT : 0;
  if (tl_add_overflows(nbytes, TL_BLOCK_ALIGNMENT, &whole))
    return NULL;
  raw = vm->options.resize(vm->options.context, raw, old, whole);
  if (raw == NULL)
    return NULL;
  char *block = tl_align_up(raw + 1, TL_BLOCK_ALIGNMENT);
  if (old != 0 && block != raw + n.padding)
    memmove(block, raw + n.padding, nbytes < n.capacity ? nbytes : n.capacity);
  *tl_note_of(block) = (tl_block_note){nbytes, (uint32_t)(block - raw), 0};
  return block;
}

void *tl_large_host(tl_vm *vm, size_t nbytes) {
  return resize_host(vm, NULL, (tl_block_note){0, 0, 0}, nbytes);
}

// Whether a block of so many bytes has pages of its own. Only the default
// allocator may be bypassed: a host with its own wants to see all memory.
static bool maps(const tl_vm *vm, size_t nbytes) {
  return !TL_BLOCKS_ALONE && vm->memory->system && nbytes >= TL_HUGE_FROM;
}

// A large block that is not from the cache.
static void *large_fresh(tl_vm *vm, size_t nbytes) {
  if (maps(vm, nbytes)) {
    void *block = large_mapped(nbytes);
    if (block != NULL)
      return block;
  }
  return tl_large_host(vm, nbytes);
}

// Takes no VM, since a parcel's block may outlive the one that made it. The
// note says whether the pages were mapped, and from where on.
void tl_large_free(tl_resize_fn *resize, void *context, void *block) {
  tl_block_note n = *tl_note_of(block);
  char *raw = (char *)block - n.padding;
  if (n.mapped)
    tl_pages_unmap(raw, n.capacity + n.padding);
  else
    resize(context, raw, n.capacity + TL_BLOCK_ALIGNMENT, 0);
}

// As above, in this VM.
static void large_free(tl_vm *vm, void *block) {
  tl_large_free(vm->options.resize, vm->options.context, block);
}

// --- The cache of dead blocks -----------------------------------------------

// Takes the block at an index out of the cache's list.
static void cache_remove(struct tl_memory *memory, int at) {
  TL_CHECK(at >= 0 && at < memory->cache_count);
  memory->cached_bytes -= memory->cache[at].capacity;
  memory->cache_count--;
  memmove(&memory->cache[at], &memory->cache[at + 1],
          (size_t)(memory->cache_count - at) * sizeof(tl_cached));
}

// The oldest block is at index 0, as blocks are added at the end.
size_t tl_cache_shrink(tl_vm *vm, size_t keep) {
  struct tl_memory *memory = vm->memory;
  size_t before = memory->cached_bytes;
  while (memory->cache_count > 0 && memory->cached_bytes > keep) {
    char *block = memory->cache[0].block;
    cache_remove(memory, 0);
    large_free(vm, block);
  }
  return before - memory->cached_bytes;
}

// A cached block that serves [nbytes] without wasting more than a quarter, the
// newest first, since it is most likely in the processor's caches; NULL.
static void *cache_find(tl_vm *vm, size_t nbytes) {
  struct tl_memory *memory = vm->memory;
  for (int i = memory->cache_count - 1; i >= 0; i--) {
    size_t capacity = memory->cache[i].capacity;
    // A block that is much larger than asked for would be memory that nobody
    // counts.
    if (capacity < nbytes || capacity - nbytes > nbytes / 4)
      continue;
    char *block = memory->cache[i].block;
    cache_remove(memory, i);
    vm->stats.cache_hits++;
    return block;
  }
  return NULL;
}

// The machine's memory in bytes; a guess where the system does not say.
static size_t physical_memory(void) {
#ifdef _SC_PHYS_PAGES
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0)
    return (size_t)pages * (size_t)size;
#endif
  return (size_t)1 << 30;
}

// How many bytes may be cached: twice the largest block that died, or what was
// ever live at once, but never more than an eighth of memory and of the limit.
static size_t cache_limit(tl_vm *vm) {
  struct tl_memory *memory = vm->memory;
  if (memory->cache_limit == 0) {
    size_t all = physical_memory(), cap = vm->options.memory_limit;
    if (cap != 0 && cap < all)
      all = cap;
    memory->cache_limit = all / 8 + 1;
  }
  size_t wanted = memory->largest_freed > SMALLEST_CACHE / 2
                      ? 2 * memory->largest_freed
                      : SMALLEST_CACHE;
  // What was live at once may be so again: a table's columns, of which each is
  // small.
  if (wanted < vm->stats.peak_bytes)
    wanted = (size_t)vm->stats.peak_bytes;
  return wanted < memory->cache_limit ? wanted : memory->cache_limit;
}

// Gives back blocks that died more than TL_CACHE_IDLE seconds ago, and what is
// above the limit because somebody waited when it died.
static void cache_age(tl_vm *vm, double now) {
  struct tl_memory *memory = vm->memory;
  tl_cache_shrink(vm, cache_limit(vm));
  while (memory->cache_count > 0 &&
         now - memory->cache[0].died > TL_CACHE_IDLE) {
    tl_cache_shrink(vm, memory->cached_bytes - memory->cache[0].capacity);
  }
}

// The clock is read only where something is cached.
void tl_memory_rest(tl_vm *vm) {
  if (vm->memory->cache_count > 0)
    cache_age(vm, tl_clock());
}

// Order: what waited too long goes, then as much of the oldest as the new block
// needs room for, so that the limit holds at any time.
void tl_large_dead(tl_vm *vm, void *block) {
  struct tl_memory *memory = vm->memory;
  size_t capacity = tl_note_of(block)->capacity;
  if (capacity > memory->largest_freed)
    memory->largest_freed = capacity;
  size_t limit = cache_limit(vm);
  // The system takes 100 ms for a gigabyte of small pages: not while somebody
  // waits for control. The next call into the VM gives them back (cache_age).
  const bool later = capacity >= TL_HUGE_FROM &&
                     memory->cache_count < TL_CACHE_COUNT && tl_is_awaited(vm);
  // Small blocks are cheap to make again; one above the limit would push out
  // all others.
  if (capacity < TL_CACHE_FROM || (capacity > limit && !later)) {
    large_free(vm, block);
    return;
  }
  double now = tl_clock();
  if (!later) {
    cache_age(vm, now);
    tl_cache_shrink(vm, limit - capacity);
  }
  if (memory->cache_count == TL_CACHE_COUNT)
    tl_cache_shrink(vm, memory->cached_bytes - memory->cache[0].capacity);
  memory->cache[memory->cache_count++] = (tl_cached){block, capacity, now};
  memory->cached_bytes += capacity;
}

// Below TL_CACHE_FROM nothing is cached, so there is nothing to look for.
void *tl_large_new(tl_vm *vm, size_t nbytes) {
  void *block = nbytes >= TL_CACHE_FROM ? cache_find(vm, nbytes) : NULL;
  return block != NULL ? block : large_fresh(vm, nbytes);
}

// A mapped block stays one: its pages move. One that shrinks leaves its pages
// to the cache where that has a block for the rest: given back to the system
// they would have to be fresh ones for the next block of the old size, which
// costs more than the copy. One that grows to be large becomes mapped, so that
// no more than that is ever copied. Any other is resized by the allocator.
void *tl_large_resize(tl_vm *vm, void *block, size_t nbytes) {
  tl_block_note n = *tl_note_of(block);
  char *raw = (char *)block - n.padding;
  if (n.mapped) {
    void *other = nbytes < n.capacity ? cache_find(vm, nbytes) : NULL;
    if (other != NULL) {
      memcpy(other, block, nbytes);
      tl_large_dead(vm, block);
      return other;
    }
    size_t whole = pages_for(nbytes);
    return whole == 0
               ? NULL
               : in_pages(tl_pages_remap(raw, n.capacity + n.padding, whole),
                          whole);
  }
  if (maps(vm, nbytes) && nbytes > n.capacity) {
    void *mapped = large_mapped(nbytes);
    if (mapped == NULL)
      return NULL;
    memcpy(mapped, block, n.capacity);
    large_free(vm, block);
    return mapped;
  }
  return resize_host(vm, raw, n, nbytes);
}
