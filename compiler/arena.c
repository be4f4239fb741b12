// Blocks of growing size, each filled from its front.

#include "compiler/arena.h"

#include <stdint.h>
#include <string.h>

#define FIRST_BLOCK 4096
#define LARGEST_STEP ((size_t)1 << 20)

struct tl_arena_block {
  tl_arena_block *older;
  size_t nbytes;  // with this header
};

#define UNIT sizeof(max_align_t)
#define HEADER ((sizeof(tl_arena_block) + UNIT - 1) / UNIT * UNIT)

void tl_arena_open(tl_arena *arena, tl_resize_fn *resize, void *context) {
  *arena = (tl_arena){.resize = resize, .context = context};
}

void tl_arena_close(tl_arena *arena) {
  tl_arena_block *block = arena->blocks;
  while (block) {
    tl_arena_block *older = block->older;
    arena->resize(arena->context, block, block->nbytes, 0);
    block = older;
  }
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

void *tl_arena_alloc(tl_arena *arena, size_t nbytes) {
  if (arena->failed)
    return NULL;
  if (nbytes > SIZE_MAX / 2) {
    arena->failed = true;
    return NULL;
  }
  size_t rounded = nbytes ? (nbytes + UNIT - 1) / UNIT * UNIT : UNIT;
  if ((size_t)(arena->end - arena->next) < rounded &&
      !add_block(arena, rounded)) {
    arena->failed = true;
    return NULL;
  }
  void *out = arena->next;
  arena->next += rounded;
  memset(out, 0, rounded);
  return out;
}

void *tl_arena_array(tl_arena *arena, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 2 / size) {
    arena->failed = true;
    return NULL;
  }
  return tl_arena_alloc(arena, count * size);
}

char *tl_arena_text(tl_arena *arena, const char *text, size_t nbytes) {
  char *out = tl_arena_alloc(arena, nbytes + 1);
  if (out && nbytes)
    memcpy(out, text, nbytes);
  return out;
}
