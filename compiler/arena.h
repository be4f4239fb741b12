// Memory for one compilation: blocks that are freed all at once.
//
// Nothing is freed singly. After a failed allocation [failed] stays true and
// every later request gives NULL, so a stage may go on and check once, at its
// end, whether what it built is complete. tl_compile opens one arena for a
// unit; the tree, the graph and all tables live in it, and what outlives the
// compilation is copied out (compile.c).

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Resizes [block] from [old_size] to [new_size] bytes; NULL allocates, a
// new_size of 0 frees and returns NULL. As in the host's options.
typedef void *tl_resize_fn(void *context, void *block, size_t old_size,
                           size_t new_size);

typedef struct tl_arena_block tl_arena_block;

// One arena. Its owner opens and closes it; every stage of a compilation
// borrows it.
typedef struct tl_arena {
  tl_resize_fn *resize;
  void *context;
  tl_arena_block *blocks;  // newest first
  char *next, *end;        // what is left of the newest
  bool failed;             // sticky: an allocation failed
} tl_arena;

// Allocates nothing yet.
void tl_arena_open(tl_arena *arena, tl_resize_fn *resize, void *context);

// Gives every block back; the arena may be opened again.
void tl_arena_close(tl_arena *arena);

// Returns [nbytes] zero bytes aligned for any type, valid until the arena is
// closed; NULL when memory fails or has failed before. 0 bytes: not NULL.
void *tl_arena_alloc(tl_arena *arena, size_t nbytes);

// The same for [count] items of [size] bytes; NULL also on overflow.
void *tl_arena_array(tl_arena *arena, size_t count, size_t size);

// Returns room for [nbytes] bytes, more than before, that begin with the
// [old_nbytes] of [items], which came from tl_arena_grow (or NULL and 0). The
// new part is not cleared. The items may have moved, so the old pointer is
// invalid. NULL on failure: then the old items are untouched. Lists that
// double use it: large ones have blocks of their own and leave nothing behind.
void *tl_arena_grow(tl_arena *arena, void *items, size_t old_nbytes,
                    size_t nbytes);

// Makes room for one more item of [size] bytes behind the [count] that a list
// has. [items] points to the pointer to the list and [capacity] to its length;
// both change where it grows. False on failure: then they stay as they were.
bool tl_arena_more(tl_arena *arena, void *items, uint32_t *capacity,
                   uint32_t count, size_t size);

// Makes room for [nbytes] bytes outside of the arena, from its resize, for what
// is freed before it: doubles *items, which has fewer, *size bytes (NULL and 0
// at first), until they fit. False on failure: then they stay as they were.
bool tl_arena_outside(tl_arena *arena, void *items, size_t *size,
                      size_t nbytes);

// Returns a copy of [nbytes] bytes of [text], with a zero after it; NULL on
// failure. [text] may be NULL if nbytes is 0.
char *tl_arena_text(tl_arena *arena, const char *text, size_t nbytes);

// One zeroed item of a type, or an array of them, with the cast; NULL as
// tl_arena_alloc.
#define TL_ARENA_NEW(arena, type) ((type *)tl_arena_alloc(arena, sizeof(type)))
#define TL_ARENA_ARRAY(arena, type, count) \
  ((type *)tl_arena_array(arena, count, sizeof(type)))
