// An arena: a list of blocks of growing size, each filled from its front.
//
//   arena->blocks ─> newest ─> alone ─> older ─> NULL
//                    next..end is what is still free in the newest
//
// Small items share blocks. A list that has grown large gets a block of its
// own, so that enlarging it leaves no old copy behind in the arena.
//
// Built for speed.

#include "compiler/arena.h"

#include <string.h>

// Most texts are a line at the prompt or a small function: one block serves
// them.
#define FIRST_BLOCK 4096
#define LARGEST_STEP ((size_t)1 << 20)
// A list that grows to this many bytes gets a block of its own.
#define LEAST_ALONE ((size_t)1 << 16)

// The header of one block. The items follow it, at the next multiple of UNIT.
struct tl_arena_block {
  tl_arena_block *older;
  size_t nbytes;  // with this header
};

// Every item begins at a multiple of this, and so does what follows a header:
// an item may be of any type.
#define UNIT sizeof(max_align_t)
#define HEADER ((sizeof(tl_arena_block) + UNIT - 1) / UNIT * UNIT)

void tl_arena_open(tl_arena *arena, tl_resize_fn *resize, void *context) {
  *arena = (tl_arena){.resize = resize, .context = context};
}

// Linear in the number of blocks, not of items.
void tl_arena_close(tl_arena *arena) {
  tl_arena_block *block = arena->blocks;
  while (block) {
    tl_arena_block *older = block->older;
    arena->resize(arena->context, block, block->nbytes, 0);
    block = older;
  }
  // The arena is left as if just opened: it may be used again.
  tl_arena_open(arena, arena->resize, arena->context);
}

// Twice the last block, so that n bytes take log n blocks; at most 1 MB more
// than asked for, so that little is wasted.
static size_t next_block_size(const tl_arena *arena, size_t nbytes) {
  size_t size = arena->blocks ? arena->blocks->nbytes * 2 : FIRST_BLOCK;
  if (size > LARGEST_STEP)
    size = LARGEST_STEP;
  return size < nbytes + HEADER ? nbytes + HEADER : size;
}

// Puts a block with room for [nbytes] before all others and makes it the one
// that is filled. What was left of the block before is given up.
static bool add_block(tl_arena *arena, size_t nbytes) {
  size_t size = next_block_size(arena, nbytes);
  tl_arena_block *block = arena->resize(arena->context, NULL, 0, size);
  if (!block)
    return false;
  *block = (tl_arena_block){.older = arena->blocks, .nbytes = size};
  arena->blocks = block;
  arena->next = (char *)block + HEADER;
  arena->end = (char *)block + size;
  return true;
}

// Bytes that an item of [nbytes] takes; at least one unit, so that an empty
// item has an address of its own.
static size_t round_up(size_t nbytes) {
  return nbytes ? (nbytes + UNIT - 1) / UNIT * UNIT : UNIT;
}

// As tl_arena_alloc, but the bytes are not cleared: tl_arena_grow copies over
// them anyway.
static void *alloc(tl_arena *arena, size_t nbytes) {
  if (arena->failed)
    return NULL;
  // Beyond this, rounding up and adding the header could overflow.
  if (nbytes > SIZE_MAX / 2) {
    arena->failed = true;
    return NULL;
  }
  size_t rounded = round_up(nbytes);
  if ((size_t)(arena->end - arena->next) < rounded &&
      !add_block(arena, rounded)) {
    arena->failed = true;
    return NULL;
  }
  void *out = arena->next;
  arena->next += rounded;
  return out;
}

void *tl_arena_alloc(tl_arena *arena, size_t nbytes) {
  void *out = alloc(arena, nbytes);
  if (out != NULL)
    memset(out, 0, round_up(nbytes));
  return out;
}

// The link that points to the block in which [items] stand alone; NULL if they
// share a block with others. The newest block is never one of these: it is the
// one being filled.
static tl_arena_block **block_of(tl_arena *arena, const void *items) {
  if (arena->blocks == NULL)
    return NULL;
  for (tl_arena_block **at = &arena->blocks->older; *at != NULL;
       at = &(*at)->older)
    if ((const char *)*at + HEADER == items)
      return at;
  return NULL;
}

// Gives [nbytes] a block of their own: a new one behind the newest block,
// which goes on being filled, or with [old] the resized block in its old place
// in the list.
static void *grow_alone(tl_arena *arena, tl_arena_block **old, size_t nbytes) {
  size_t size = HEADER + round_up(nbytes);
  tl_arena_block *block =
      arena->resize(arena->context, old == NULL ? NULL : *old,
                    old == NULL ? 0 : (*old)->nbytes, size);
  if (block == NULL) {
    arena->failed = true;
    return NULL;
  }
  if (old == NULL) {
    block->older = arena->blocks->older;
    arena->blocks->older = block;
  } else {
    *old = block;
  }
  block->nbytes = size;
  return (char *)block + HEADER;
}

// Lists below LEAST_ALONE are copied within the arena; doubling leaves behind
// no more than the list itself. Larger ones are reallocated in place, in a
// block of their own.
void *tl_arena_grow(tl_arena *arena, void *items, size_t old_nbytes,
                    size_t nbytes) {
  if (arena->failed)
    return NULL;
  // What is smaller than LEAST_ALONE cannot have a block of its own, so the
  // list of blocks need not be searched for it.
  bool is_alone = old_nbytes >= LEAST_ALONE;
  tl_arena_block **old = is_alone ? block_of(arena, items) : NULL;
  if (old != NULL && nbytes <= SIZE_MAX / 2)
    return grow_alone(arena, old, nbytes);
  // A block of its own goes behind the newest one, so the first block of all
  // must be one that is shared.
  bool alone =
      nbytes >= LEAST_ALONE && nbytes <= SIZE_MAX / 2 && arena->blocks != NULL;
  void *out = alone ? grow_alone(arena, NULL, nbytes) : alloc(arena, nbytes);
  if (out != NULL && old_nbytes > 0)
    memcpy(out, items, old_nbytes);
  return out;
}

// The caller's pointer has a type of its own; copying its bytes keeps to the
// rules of aliasing.
bool tl_arena_more(tl_arena *arena, void *items, uint32_t *capacity,
                   uint32_t count, size_t size) {
  if (count < *capacity)
    return true;
  uint32_t more = *capacity * 2 + 8;
  void *old;
  memcpy(&old, items, sizeof old);
  void *list = tl_arena_grow(arena, old, *capacity * size, more * size);
  if (list == NULL)
    return false;
  memcpy(items, &list, sizeof list);
  *capacity = more;
  return true;
}

bool tl_arena_outside(tl_arena *arena, void *items, size_t *size,
                      size_t nbytes) {
  size_t more = *size > 0 ? *size : 1024;
  void *old;
  memcpy(&old, items, sizeof old);
  while (more < nbytes) more *= 2;
  void *list = arena->resize(arena->context, old, *size, more);
  if (list == NULL) {
    arena->failed = true;
    return false;
  }
  memcpy(items, &list, sizeof list);
  *size = more;
  return true;
}

// Half of SIZE_MAX is the limit everywhere in here, so that headers and
// alignment can be added without a test.
void *tl_arena_array(tl_arena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) {
    arena->failed = true;
    return NULL;
  }
  return tl_arena_alloc(arena, count * size);
}

// The final zero is there because the arena clears what it gives.
char *tl_arena_text(tl_arena *arena, const char *text, size_t nbytes) {
  char *out = tl_arena_alloc(arena, nbytes + 1);
  if (out && nbytes)
    memcpy(out, text, nbytes);
  return out;
}
