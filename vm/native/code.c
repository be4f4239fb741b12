// Memory for machine code; see code.h.
//
// Built for size.
#define _DEFAULT_SOURCE 1  // for anonymous mappings

#include "vm/native/code.h"

#include "vm/memory/memory_internal.h"

#if TL_HAS_JIT

#include <string.h>
#include <sys/mman.h>

enum { CHUNK = 64 << 10, PAGE = 4096, MOST = 32 << 20 };

struct tl_code_chunk {
  struct tl_code_chunk *next;
  uint8_t *pages;
  uint32_t size, used;
  uint32_t units;  // that are in use
};

static uint8_t *map(size_t size) {
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

bool tl_code_may_run(void) {
  uint8_t *page = map(PAGE);
  if (page == NULL)
    return false;
  bool may = mprotect(page, PAGE, PROT_READ | PROT_EXEC) == 0;
  munmap(page, PAGE);
  return may;
}

// A new chunk with room for [size] bytes, before the others; NULL: none.
static tl_code_chunk *add_chunk(tl_vm *vm, tl_code_chunk **chunks,
                                uint32_t size) {
  size_t nbytes = size <= CHUNK ? CHUNK : (size + PAGE - 1) / PAGE * PAGE;
  if (nbytes > MOST || vm->memory->code_bytes > MOST - nbytes)
    return NULL;
  tl_code_chunk *chunk = tl_spare_alloc(vm, sizeof *chunk);
  if (chunk == NULL)
    return NULL;
  bool counted = tl_account_code(vm, nbytes);
  uint8_t *pages = counted ? map(nbytes) : NULL;
  if (pages == NULL) {
    if (counted)
      tl_unaccount_code(vm, nbytes);
    tl_spare_free(vm, chunk, sizeof *chunk);
    return NULL;
  }
  *chunk = (tl_code_chunk){
      .next = *chunks, .pages = pages, .size = (uint32_t)nbytes};
  *chunks = chunk;
  return chunk;
}

void *tl_code_put(tl_vm *vm, tl_code_chunk **chunks, const uint8_t *bytes,
                  uint32_t size) {
  tl_code_chunk *chunk = *chunks;
  while (chunk != NULL && chunk->size - chunk->used < size) chunk = chunk->next;
  if (chunk == NULL)
    chunk = add_chunk(vm, chunks, size);
  if (chunk == NULL ||
      mprotect(chunk->pages, chunk->size, PROT_READ | PROT_WRITE) != 0)
    return NULL;
  uint8_t *to = chunk->pages + chunk->used;
  memcpy(to, bytes, size);
  chunk->used = (chunk->used + size + 15) & ~15u;
  chunk->units++;
  if (mprotect(chunk->pages, chunk->size, PROT_READ | PROT_EXEC) == 0)
    return to;
  // Nothing in the chunk runs any more; the caller gives up machine code.
  return NULL;
}

void tl_code_drop(tl_code_chunk *chunks, const void *code) {
  for (tl_code_chunk *c = chunks; c != NULL; c = c->next) {
    const uint8_t *at = code;
    if (at >= c->pages && at < c->pages + c->size && --c->units == 0)
      c->used = 0;
  }
}

void tl_code_close(tl_vm *vm, tl_code_chunk *chunks) {
  while (chunks != NULL) {
    tl_code_chunk *next = chunks->next;
    munmap(chunks->pages, chunks->size);
    tl_unaccount_code(vm, chunks->size);
    tl_spare_free(vm, chunks, sizeof *chunks);
    chunks = next;
  }
}

#else

bool tl_code_may_run(void) {
  return false;
}

void tl_code_close(tl_vm *vm, tl_code_chunk *chunks) {
  (void)vm, (void)chunks;
}

void tl_code_drop(tl_code_chunk *chunks, const void *code) {
  (void)chunks, (void)code;
}

#endif
