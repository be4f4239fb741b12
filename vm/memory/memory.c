// Blocks and limits: the only caller of the VM's allocator, with large.c.
//
//     up to 8 KiB    cut from chunks in classes of 64 bytes; dead ones wait on
//                    a list for each class, linked through their own memory
//     larger         blocks of their own, cached when they die (large.h)
//
//         chunk     │ block │ block │ dead ─┐ │ fresh … │
//         lists[class] ────────────────▶ dead ─▶ dead ─▶ NULL
//
// Read it from below: tl_alloc and tl_free are near the end, and call what
// stands above them.

#include <stdlib.h>

#include "vm/memory/large.h"
#include "vm/events.h"
#include "vm/memory/reserve.h"

enum {
  FIRST_CHUNK = 32 << 10,
  LARGEST_CHUNK = 1 << 20,
  // In pages of its own, with the note in front two huge ones.
  HUGE_CHUNK = 2 * TL_HUGE_FROM - TL_BLOCK_ALIGNMENT,
  GIGABYTE = 1 << 30,
};

// --- The allocator ----------------------------------------------------------

// The C library's allocator in the form of the host's hook.
void *tl_memory_resize(void *context, void *block, size_t old_size,
                       size_t new_size) {
  (void)context;
  (void)old_size;
  if (new_size != 0)
    return realloc(block, new_size);
  free(block);
  return NULL;
}

// --- Small blocks -----------------------------------------------------------

// The class of a small size: multiples of 64 bytes, from 1.
static size_t class_of(size_t nbytes) {
  TL_CHECK(nbytes <= TL_SMALL_LIMIT);
  return nbytes == 0 ? 1 : (nbytes + TL_SMALL_STEP - 1) / TL_SMALL_STEP;
}

// Puts a dead block on the list of its class.
static void list_add(struct tl_memory *memory, size_t class, void *block) {
  *(void **)block = memory->lists[class];
  memory->lists[class] = block;
}

// Puts what is left of the newest chunk on the lists, before another becomes
// the newest.
// The rest may be of several classes: as many blocks of 8 KiB as fit, then one
// of what is left.
static void retire_fresh(struct tl_memory *memory) {
  size_t left = (size_t)(memory->fresh_end - memory->fresh);
  while (left >= TL_SMALL_STEP) {
    size_t nbytes = left < TL_SMALL_LIMIT ? left : TL_SMALL_LIMIT;
    list_add(memory, nbytes / TL_SMALL_STEP, memory->fresh);
    memory->fresh += nbytes;
    left -= nbytes;
  }
}

// Room for one more entry in the table of chunks.
static bool chunks_reserve(tl_vm *vm) {
  struct tl_memory *memory = vm->memory;
  if (memory->chunk_count < memory->chunk_room)
    return true;
  size_t old = memory->chunk_room * sizeof(tl_memory_chunk);
  size_t room = memory->chunk_room ? 2 * memory->chunk_room : 16;
  tl_memory_chunk *chunks = vm->options.resize(
      vm->options.context, memory->chunks, old, room * sizeof(tl_memory_chunk));
  if (chunks == NULL)
    return false;
  memory->chunks = chunks;
  memory->chunk_room = room;
  return true;
}

// The table is in order of addresses, so that trimming finds a block's chunk by
// binary search.
static void chunk_insert(struct tl_memory *memory, tl_memory_chunk chunk) {
  size_t at = memory->chunk_count++;
  for (; at > 0 && memory->chunks[at - 1].begin > chunk.begin; at--)
    memory->chunks[at] = memory->chunks[at - 1];
  memory->chunks[at] = chunk;
}

// Gives a chunk back to where it came from.
static void chunk_free(tl_vm *vm, tl_memory_chunk chunk) {
  if (chunk.nbytes == HUGE_CHUNK)
    tl_large_free(vm->options.resize, vm->options.context, chunk.raw);
  else
    tl_host_free(vm, chunk.raw, chunk.nbytes);
}

// Makes a chunk to cut small blocks from; later ones are larger.
static bool chunk_new(tl_vm *vm) {
  struct tl_memory *memory = vm->memory;
  size_t nbytes = FIRST_CHUNK;
  // Chunks double with every doubling of their number, up to a megabyte. Where
  // memory is the system's, the fifth and all that follow are of huge pages,
  // since texts, lists and records lie anywhere in them.
  for (size_t i = memory->chunk_count; i > 0 && nbytes < LARGEST_CHUNK; i /= 2)
    nbytes *= 2;
  if (!chunks_reserve(vm))
    return false;
  const bool huge = memory->system && memory->chunk_count >= 4;
  char *raw = huge ? tl_large_new(vm, HUGE_CHUNK) : NULL;
  // Where those are refused, the next chunk is as small as any.
  if (raw != NULL)
    nbytes = HUGE_CHUNK;
  else if ((raw = tl_host_new(vm, nbytes)) == NULL)
    return false;
  // The rest of the newest chunk goes to the lists, so that no memory is lost.
  retire_fresh(memory);
  char *begin = tl_align_up(raw, TL_BLOCK_ALIGNMENT);
  size_t room = (nbytes - (size_t)(begin - raw)) / TL_BLOCK_ALIGNMENT *
                TL_BLOCK_ALIGNMENT;
  chunk_insert(memory, (tl_memory_chunk){raw, nbytes, begin, begin + room, 0});
  memory->fresh = begin;
  memory->fresh_end = begin + room;
  return true;
}

// A small block: from its class's list, else cut from the newest chunk.
// Blocks of a class are not cut from those of another: a block stays what it
// was made as, but for block_resize, until its chunk is freed.
static void *small_new(tl_vm *vm, size_t nbytes) {
  struct tl_memory *memory = vm->memory;
  size_t class = class_of(nbytes);
  void *block = memory->lists[class];
  if (block != NULL) {
    memory->lists[class] = *(void **)block;
    return block;
  }
  size_t size = class * TL_SMALL_STEP;
  if ((size_t)(memory->fresh_end - memory->fresh) < size && !chunk_new(vm) &&
      (tl_memory_trim(vm) == 0 || !chunk_new(vm)))
    return NULL;
  block = memory->fresh;
  memory->fresh += size;
  return block;
}

// --- Trimming ---------------------------------------------------------------

// The chunk that a small block was cut from.
static tl_memory_chunk *chunk_of(struct tl_memory *memory, const char *block) {
  size_t low = 0, high = memory->chunk_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (memory->chunks[middle].begin <= block)
      low = middle;
    else
      high = middle;
  }
  return &memory->chunks[low];
}

// Whether all blocks of the chunk are dead.
// `dead` is good only right after count_dead.
static bool chunk_is_dead(const tl_memory_chunk *chunk) {
  return chunk->dead == (size_t)(chunk->end - chunk->begin);
}

// Sums up the dead blocks of each chunk.
// Each dead block's chunk is found by its address: the lists mix blocks of all
// chunks.
static void count_dead(struct tl_memory *memory) {
  for (size_t i = 0; i < memory->chunk_count; i++) memory->chunks[i].dead = 0;
  for (size_t class = 1; class <= TL_SMALL_LIMIT / TL_SMALL_STEP; class ++)
    for (void *at = memory->lists[class]; at; at = *(void **)at)
      chunk_of(memory, at)->dead += class * TL_SMALL_STEP;
}

// Takes the blocks of dead chunks off the lists, in one pass over each.
static void unlink_dead(struct tl_memory *memory) {
  for (size_t class = 1; class <= TL_SMALL_LIMIT / TL_SMALL_STEP; class ++) {
    void **link = &memory->lists[class];
    while (*link) {
      if (chunk_is_dead(chunk_of(memory, *link)))
        *link = *(void **)*link;
      else
        link = *link;
    }
  }
}

// Frees the chunks of which every block is dead. It walks all dead blocks, so
// it is done only when someone asks or the allocator has nothing left.
static size_t chunks_trim(tl_vm *vm) {
  struct tl_memory *memory = vm->memory;
  if (memory->chunk_count == 0)
    return 0;
  retire_fresh(memory);
  memory->fresh = memory->fresh_end = NULL;
  count_dead(memory);
  unlink_dead(memory);
  size_t kept = 0, freed = 0;
  for (size_t i = 0; i < memory->chunk_count; i++) {
    tl_memory_chunk chunk = memory->chunks[i];
    if (chunk_is_dead(&chunk)) {
      freed += chunk.nbytes;
      chunk_free(vm, chunk);
    } else {
      memory->chunks[kept++] = chunk;
    }
  }
  memory->chunk_count = kept;
  return freed;
}

// Cached large blocks first, then chunks of which all small blocks are dead.
size_t tl_memory_trim(tl_vm *vm) {
  return tl_cache_shrink(vm, 0) + chunks_trim(vm);
}

// --- Accounting -------------------------------------------------------------

// Whether [nbytes] more would break a promise of peak memory.
static inline bool is_over(tl_vm *vm, size_t nbytes) {
  const struct tl_memory *memory = vm->memory;
  return memory->ceiling != 0 && nbytes + tl_live_now(vm) > memory->ceiling &&
         memory->over(vm, nbytes, NULL, 0);
}

// All that counts under the limit, with so many live bytes. Machine code goes
// where it would pass the limit: values come first, and code never asks for
// memory while it runs.
static uint64_t with_code(tl_vm *vm, uint64_t live, size_t cap) {
  struct tl_memory *memory = vm->memory;
  uint64_t values = live + vm->stats.ext_bytes;
  if (vm->options.memory_limit != 0 && memory->code_bytes > 0 &&
      values + memory->code_bytes > cap)
    memory->drop_code(vm);
  return values + memory->code_bytes;
}

// Whether there is room for [nbytes] more under the limit. Cached blocks count
// as free: they are given back first.
bool tl_account(tl_vm *vm, size_t nbytes) {
  tally_stats *stats = &vm->stats;
  uint64_t live = stats->live_bytes + nbytes;
  size_t cap = vm->options.memory_limit;
  if (is_over(vm, nbytes))
    return false;
  if (cap != 0) {
    if (cap <= SIZE_MAX - vm->memory->reserve)
      cap += vm->memory->reserve;
    uint64_t all = with_code(vm, live, cap);
    if (live < nbytes || all > cap)
      return false;
    if (all + vm->memory->cached_bytes > cap)
      tl_cache_shrink(vm, cap - all);
  }
  stats->live_bytes = live;
  if (live > stats->peak_bytes)
    stats->peak_bytes = live;
  return true;
}

size_t tl_reserve(tl_vm *vm, size_t nbytes) {
  size_t before = vm->memory->reserve;
  vm->memory->reserve = nbytes;
  return before;
}

bool tl_has_promises(const tl_vm *vm) {
  return vm->memory->ceiling != 0;
}

// Their frames may have other code in them next time.
void tl_end_promises(tl_vm *vm) {
  vm->memory->contract_count = 0;
  vm->memory->ceiling = 0;
}

// No block is freed: whoever calls this gives its memory back some other way.
void tl_unaccount(tl_vm *vm, size_t nbytes) {
  TL_CHECK(vm->stats.live_bytes >= nbytes);
  vm->stats.live_bytes -= nbytes;
}

// What cached blocks take is not given back for it: code can be done without.
bool tl_account_code(tl_vm *vm, size_t nbytes) {
  size_t cap = vm->options.memory_limit;
  uint64_t all =
      tl_live_now(vm) + vm->memory->code_bytes + vm->memory->cached_bytes;
  if (cap != 0 && (nbytes > cap || all > cap - nbytes))
    return false;
  vm->memory->code_bytes += nbytes;
  return true;
}

void tl_unaccount_code(tl_vm *vm, size_t nbytes) {
  vm->memory->code_bytes -= nbytes;
}

// The limit holds for all kinds of memory together.
bool tl_account_external(tl_vm *vm, const void *what, size_t nbytes) {
  size_t cap = vm->options.memory_limit;
  uint64_t all =
      with_code(vm, vm->stats.live_bytes, cap < nbytes ? 0 : cap - nbytes);
  if ((cap != 0 && (nbytes > cap || all > cap - nbytes)) || is_over(vm, nbytes))
    return tl_fail_memory(vm, nbytes, "memory of the host's");
  vm->stats.ext_bytes += nbytes;
  if (vm->stats.ext_bytes > vm->stats.ext_peak_bytes)
    vm->stats.ext_peak_bytes = vm->stats.ext_bytes;
  if (vm->watch != NULL && nbytes > 0)
    vm->observer->alloc(vm, what, nbytes);
  if (cap != 0 && all + nbytes + vm->memory->cached_bytes > cap)
    tl_cache_shrink(vm, cap - (size_t)all - nbytes);
  return true;
}

// The release of the memory itself is a step of its own.
void tl_unaccount_external(tl_vm *vm, const void *what, size_t nbytes) {
  TL_CHECK(vm->stats.ext_bytes >= nbytes);
  vm->stats.ext_bytes -= nbytes;
  if (vm->watch != NULL && nbytes > 0)
    vm->observer->free(vm, what, nbytes);
}

// Tests run a program with n = 1, 2, 3 … until it no longer fails, and so see
// every failure of memory that it can meet.
void tl_memory_fail_at(tl_vm *vm, uint64_t n) {
  vm->memory->fail_at = n;
}

// --- The door ---------------------------------------------------------------

// A large block. Where the allocator has nothing left, all that is only cached
// goes back first.
static void *large_new(tl_vm *vm, size_t nbytes) {
  void *block = tl_large_new(vm, nbytes);
  if (block == NULL && tl_memory_trim(vm) > 0)
    block = tl_large_new(vm, nbytes);
  return block;
}

// A block of any size, not counted; NULL: none.
static void *block_new(tl_vm *vm, size_t nbytes) {
  if (!TL_BLOCKS_ALONE)
    return nbytes <= TL_SMALL_LIMIT ? small_new(vm, nbytes)
                                    : large_new(vm, nbytes);
  if (!vm->memory->system)
    return tl_large_host(vm, nbytes);
  void *block = NULL;
  if (nbytes == 0)
    nbytes = 1;
  return posix_memalign(&block, TL_BLOCK_ALIGNMENT, nbytes) == 0 ? block : NULL;
}

// The end of a block of any size.
static void block_free(tl_vm *vm, void *block, size_t nbytes) {
  if (TL_BLOCKS_ALONE)
    tl_block_free(vm->options.resize, vm->options.context, block);
  else if (nbytes <= TL_SMALL_LIMIT)
    list_add(vm->memory, class_of(nbytes), block);
  else
    tl_large_dead(vm, block);
}

// Small blocks are parts of a chunk, which belongs to this VM.
bool tl_block_may_leave(const tl_vm *vm, size_t nbytes) {
  (void)vm;
  return nbytes > TL_SMALL_LIMIT;
}

// The block stays as it is: its new VM counts it, or tl_block_free frees it.
void tl_block_leave(tl_vm *vm, void *block, size_t nbytes) {
  vm->stats.live_bytes -= nbytes;
  if (vm->watch != NULL)
    vm->observer->free(vm, block, nbytes);
}

// A block that another VM let go: counted here from now on. False: it would
// pass the limit, and stays the caller's.
bool tl_block_arrive(tl_vm *vm, void *block, size_t nbytes) {
  if (!tl_account(vm, nbytes))
    return false;
  if (vm->watch != NULL)
    vm->observer->alloc(vm, block, nbytes);
  return true;
}

// Must mirror block_free for blocks that may leave; small ones never do.
void tl_block_free(tl_resize_fn *resize, void *context, void *block) {
  if (TL_BLOCKS_ALONE && resize == tl_memory_resize)
    free(block);
  else
    tl_large_free(resize, context, block);
}

// --- Another size -----------------------------------------------------------

// Whether a block serves another size as it is.
static bool block_fits(void *block, size_t old_nbytes, size_t nbytes) {
  if (TL_BLOCKS_ALONE)
    return old_nbytes == nbytes;
  if (old_nbytes <= TL_SMALL_LIMIT || nbytes <= TL_SMALL_LIMIT)
    return old_nbytes <= TL_SMALL_LIMIT && nbytes <= TL_SMALL_LIMIT &&
           class_of(old_nbytes) == class_of(nbytes);
  size_t capacity = tl_note_of(block)->capacity;
  return nbytes <= capacity && capacity - nbytes <= nbytes / 4;
}

// Whether block_resize can change the size: large blocks, and small ones that
// shrink.
static bool resizes(size_t old_nbytes, size_t nbytes) {
  bool was_small = old_nbytes <= TL_SMALL_LIMIT;
  return was_small ? nbytes < old_nbytes : nbytes > TL_SMALL_LIMIT;
}

// Never holds both sizes at once, as the accounting has it. NULL leaves the
// block as it was.
static void *block_resize(tl_vm *vm, void *block, size_t old_nbytes,
                          size_t nbytes) {
  if (block_fits(block, old_nbytes, nbytes))
    return block;
  if (TL_BLOCKS_ALONE) {
    // Under the sanitizer a new size is a new block, so that old pointers are
    // found out.
    void *moved = block_new(vm, nbytes);
    if (moved == NULL)
      return NULL;
    memcpy(moved, block, old_nbytes < nbytes ? old_nbytes : nbytes);
    block_free(vm, block, old_nbytes);
    return moved;
  }
  if (old_nbytes > TL_SMALL_LIMIT) {
    void *moved = tl_large_resize(vm, block, nbytes);
    if (moved == NULL && tl_memory_trim(vm) > 0)
      moved = tl_large_resize(vm, block, nbytes);
    return moved;
  }
  // A small block that shrinks moves to a block of its new class where there is
  // one. Cut off, its rest would be of a class that perhaps nobody asks for,
  // and each iteration of a loop would leave one such piece.
  size_t old_class = class_of(old_nbytes), class = class_of(nbytes);
  void *moved = small_new(vm, nbytes);
  if (moved == NULL) {
    list_add(vm->memory, old_class - class,
             (char *)block + class * TL_SMALL_STEP);
    return block;
  }
  memcpy(moved, block, nbytes);
  list_add(vm->memory, old_class, block);
  return moved;
}

// Takes back what was accounted for a block that the allocator did not give: it
// was never alive, so that the peak is that from before, too.
static void take_back(tl_vm *vm, size_t nbytes, uint64_t peak) {
  vm->stats.live_bytes -= nbytes;
  vm->stats.peak_bytes = peak;
}

// Accounts first, so that a limit is met before the allocator is asked.
void *tl_alloc_quiet(tl_vm *vm, size_t nbytes) {
  struct tl_memory *memory = vm->memory;
  if (memory->fail_at != 0 && --memory->fail_at == 0)
    return NULL;
  // The sanitizer ends the program where an allocator would return NULL.
  size_t most = TL_BLOCKS_ALONE ? 64 * (size_t)GIGABYTE : PTRDIFF_MAX / 2;
  const uint64_t peak = vm->stats.peak_bytes;
  if (nbytes > most || !tl_account(vm, nbytes))
    return NULL;
  void *block = block_new(vm, nbytes);
  if (block == NULL)
    take_back(vm, nbytes, peak);
  else if (vm->watch != NULL)
    vm->observer->alloc(vm, block, nbytes);
  return block;
}

// [what] names the purpose in the message: "no memory for the display".
void *tl_alloc(tl_vm *vm, size_t nbytes, const char *what) {
  void *block = tl_alloc_quiet(vm, nbytes);
  if (block == NULL)
    tl_fail_memory(vm, nbytes, what);
  return block;
}

// Not counted, and not made to fail: who asks can do without.
void *tl_spare_alloc(tl_vm *vm, size_t nbytes) {
  return block_new(vm, nbytes);
}

// Mirrors tl_spare_alloc: no counts, no event.
void tl_spare_free(tl_vm *vm, void *block, size_t nbytes) {
  block_free(vm, block, nbytes);
}

// Clears a block; a large one in pieces, between which an interrupt is heeded.
// NULL after such an interrupt: the block has been freed.
static void *clear(tl_vm *vm, void *block, size_t nbytes) {
  enum { PIECE = 1 << 19 };
  size_t at = 0;
  for (; nbytes - at > PIECE; at += PIECE) {
    memset((char *)block + at, 0, PIECE);
    if (!tl_poll(vm, PIECE / sizeof(double) / 1024)) {
      tl_free(vm, block, nbytes);
      return NULL;
    }
  }
  memset((char *)block + at, 0, nbytes - at);
  return block;
}

// A mapping made for this block is zero already; anything else is cleared.
void *tl_alloc_zeroed(tl_vm *vm, size_t nbytes, const char *what) {
  uint64_t hits = vm->stats.cache_hits;
  void *block = tl_alloc(vm, nbytes, what);
  if (block == NULL)
    return NULL;
  if (TL_BLOCKS_ALONE || nbytes < TL_HUGE_FROM ||
      vm->stats.cache_hits != hits || !tl_note_of(block)->mapped)
    return clear(vm, block, nbytes);
  return block;
}

// The observer hears of it while the block is still there.
void tl_free(tl_vm *vm, void *block, size_t nbytes) {
  TL_CHECK(block == NULL || vm->stats.live_bytes >= nbytes);
  if (block == NULL)
    return;
  tl_block_leave(vm, block, nbytes);
  block_free(vm, block, nbytes);
}

// Changes the size of a block that resizes; NULL: no memory, with no error set.
static void *resize_quiet(tl_vm *vm, void *block, size_t old_nbytes,
                          size_t new_nbytes) {
  struct tl_memory *memory = vm->memory;
  const uint64_t peak = vm->stats.peak_bytes;
  bool grows = new_nbytes > old_nbytes;
  if (grows && memory->fail_at != 0 && --memory->fail_at == 0)
    return NULL;
  if (grows && !tl_account(vm, new_nbytes - old_nbytes))
    return NULL;
  void *moved = block_resize(vm, block, old_nbytes, new_nbytes);
  if (moved == NULL) {
    if (grows)
      take_back(vm, new_nbytes - old_nbytes, peak);
    return NULL;
  }
  if (!grows)
    vm->stats.live_bytes -= old_nbytes - new_nbytes;
  if (vm->watch != NULL) {
    vm->observer->free(vm, block, old_nbytes);
    vm->observer->alloc(vm, moved, new_nbytes);
  }
  return moved;
}

// Whether nothing but the accounting is left to do where a block is just there:
// one test of three numbers that are nearly always zero.
static inline bool is_plain(const tl_vm *vm) {
  const struct tl_memory *memory = vm->memory;
  return !TL_BLOCKS_ALONE && vm->watch == NULL &&
         (memory->fail_at | vm->options.memory_limit | memory->ceiling) == 0;
}

// Of a block that is just there, or grows where it is.
static inline void count_live(tl_vm *vm, size_t nbytes) {
  uint64_t live = vm->stats.live_bytes += nbytes;
  if (live > vm->stats.peak_bytes)
    vm->stats.peak_bytes = live;
}

// Resizes in place or by moving pages where it can; else a new block and a
// copy. Short texts and lists often have room in their block.
void *tl_realloc(tl_vm *vm, void *block, size_t old_nbytes, size_t new_nbytes,
                 const char *what) {
  TL_CHECK(block != NULL || old_nbytes == 0);
  if (new_nbytes <= TL_SMALL_LIMIT && old_nbytes <= new_nbytes &&
      block != NULL && class_of(old_nbytes) == class_of(new_nbytes) &&
      is_plain(vm)) {
    count_live(vm, new_nbytes - old_nbytes);
    return block;
  }
  if (block != NULL && (resizes(old_nbytes, new_nbytes) ||
                        block_fits(block, old_nbytes, new_nbytes))) {
    void *moved = resize_quiet(vm, block, old_nbytes, new_nbytes);
    if (moved == NULL)
      tl_fail_memory(vm, new_nbytes, what);
    return moved;
  }
  void *moved = tl_alloc(vm, new_nbytes, what);
  if (moved == NULL)
    return NULL;
  if (block != NULL)
    memcpy(moved, block, old_nbytes < new_nbytes ? old_nbytes : new_nbytes);
  tl_free(vm, block, old_nbytes);
  return moved;
}

// Twice as many each time, so that the copying stays linear.
bool tl_make_room(tl_vm *vm, void *items, const void *first, size_t *capacity,
                  size_t count, size_t size, const char *what) {
  const size_t more = *capacity < 8 ? 16 : 2 * *capacity;
  void *old, *moved;
  if (count < *capacity)
    return true;
  memcpy(&old, items, sizeof old);
  if (old == first && old != NULL) {
    moved = tl_alloc(vm, more * size, what);
    if (moved != NULL)
      memcpy(moved, first, count * size);
  } else {
    moved = tl_realloc(vm, old, *capacity * size, more * size, what);
  }
  if (moved == NULL)
    return false;
  memcpy(items, &moved, sizeof moved);
  *capacity = more;
  return true;
}

// Where the two sizes are of different makes (a list's block and an
// allocator's), the rest is copied into a smaller block; if there is none, the
// old one stays.
void *tl_shrink(tl_vm *vm, void *block, size_t *nbytes, size_t new_nbytes) {
  TL_CHECK(block != NULL);
  void *moved = NULL;
  if (new_nbytes >= *nbytes)
    return block;
  if (resizes(*nbytes, new_nbytes)) {
    moved = resize_quiet(vm, block, *nbytes, new_nbytes);
  } else if ((moved = tl_alloc_quiet(vm, new_nbytes)) != NULL) {
    memcpy(moved, block, new_nbytes);
    tl_free(vm, block, *nbytes);
  }
  if (moved == NULL)
    return block;
  *nbytes = new_nbytes;
  return moved;
}

// --- Objects ----------------------------------------------------------------

// The fast path of tl_object_new: a block from its class's list where nothing
// but the accounting is left to do; else NULL. Every small array is made here.
static inline void *listed_block(tl_vm *vm, size_t nbytes) {
  if (nbytes > TL_SMALL_LIMIT || !is_plain(vm))
    return NULL;
  void **list = &vm->memory->lists[class_of(nbytes)], *block = *list;
  if (block == NULL)
    return NULL;
  *list = *(void **)block;
  count_live(vm, nbytes);
  return block;
}

// Every object begins with one count, its maker's.
static inline void *begin_object(tl_vm *vm, tl_kind kind, size_t nbytes,
                                 void *block) {
  tl_object *object = block;
  *object = (tl_object){.count = 1, .kind = (uint8_t)kind, .nbytes = nbytes};
  vm->stats.live++;
  return object;
}

// An object in a block that is not just there. Apart, so that the usual case
// saves no registers.
static __attribute__((noinline)) void *alloc_object(tl_vm *vm, tl_kind kind,
                                                    size_t nbytes,
                                                    const char *what) {
  void *block = tl_alloc(vm, nbytes, what);
  return block == NULL ? NULL : begin_object(vm, kind, nbytes, block);
}

void *tl_object_new(tl_vm *vm, tl_kind kind, size_t nbytes, const char *what) {
  TL_CHECK(nbytes >= sizeof(tl_object));
  void *block = listed_block(vm, nbytes);
  return block != NULL ? begin_object(vm, kind, nbytes, block)
                       : alloc_object(vm, kind, nbytes, what);
}

// Whether the block begins before the object; of other kinds the flag means
// something else.
static inline bool has_gap(const tl_object *object) {
  return (object->flags & TL_GAP) != 0 &&
         (object->kind == TL_KIND_LIST || object->kind == TL_KIND_RECORD);
}

// The end of a container, which may have a gap in front, or of an object that
// somebody watches.
static __attribute__((noinline)) void free_object(tl_vm *vm,
                                                  tl_object *object) {
  const size_t gap = has_gap(object) ? tl_gap_of(object) : 0;
  vm->stats.live--;
  tl_free(vm, (char *)object - gap, object->nbytes + gap);
}

// The size stands in the header, which is read before the block goes: its first
// bytes become the link of the free list.
void tl_object_free(tl_vm *vm, tl_object *object) {
  TL_CHECK(vm->stats.live > 0);
  TL_CHECK(vm->stats.live_bytes >= object->nbytes);
  const size_t nbytes = object->nbytes;
  if (TL_BLOCKS_ALONE || nbytes > TL_SMALL_LIMIT || vm->watch != NULL ||
      has_gap(object)) {
    free_object(vm, object);
    return;
  }
  vm->stats.live--;
  vm->stats.live_bytes -= nbytes;
  list_add(vm->memory, class_of(nbytes), object);
}

// --- Life -------------------------------------------------------------------

// This struct itself is not counted: it is what counts.
bool tl_memory_open(tl_vm *vm) {
  if (vm->options.resize == NULL)
    vm->options.resize = tl_memory_resize;
  struct tl_memory *memory = tl_host_new(vm, sizeof *memory);
  if (memory == NULL)
    return false;
  memset(memory, 0, sizeof *memory);
  memory->system = vm->options.resize == tl_memory_resize;
  vm->memory = memory;
  return true;
}

// Cached blocks and chunks go back; live ones would be a leak of the caller's.
void tl_memory_close(tl_vm *vm) {
  struct tl_memory *memory = vm->memory;
  if (memory == NULL)
    return;
  tl_cache_shrink(vm, 0);
  for (size_t i = 0; i < memory->chunk_count; i++)
    chunk_free(vm, memory->chunks[i]);
  if (memory->chunks != NULL)
    tl_host_free(vm, memory->chunks,
                 memory->chunk_room * sizeof(tl_memory_chunk));
  if (memory->contracts != NULL)
    tl_host_free(vm, memory->contracts,
                 memory->contract_room * sizeof *memory->contracts);
  tl_host_free(vm, memory, sizeof *memory);
  vm->memory = NULL;
}

// Live numbers stay as they are; the peak begins at what is live.
// Bytes on devices likewise: what is there stays counted, and is the new peak.
void tl_stats_reset(tl_vm *vm) {
  tally_stats now = vm->stats;
  memset(&vm->stats, 0, sizeof vm->stats);
  vm->stats.live = now.live;
  vm->stats.live_bytes = vm->stats.peak_bytes = now.live_bytes;
  vm->stats.ext_bytes = vm->stats.ext_peak_bytes = now.ext_bytes;
  for (size_t i = 0; i < vm->options.device_count; i++)
    vm->devices[i].peak = vm->devices[i].bytes;
}
