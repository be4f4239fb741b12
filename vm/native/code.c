// Memory for machine code; see code.h.
//
// Built for size.
#define _DEFAULT_SOURCE 1  // for anonymous mappings

#include "vm/native/code.h"

#include <sys/mman.h>

#include "vm/memory/memory_internal.h"
#include "vm/native/assembler.h"

// A chunk has room for some sixty units of a kilobyte, so that few of the
// system's mappings, of which a process may have 65,530 under Linux, go to
// code. PAGE only rounds sizes up: mprotect takes lengths that are no multiple
// of the system's pages. MOST bounds all chunks of one VM, and with them what a
// script can make the host map as executable.
enum { CHUNK = 64 << 10, PAGE = 4096, MOST = 32 << 20 };

// Pages of one mapping. What is in use lies in [0, used); a unit that is
// dropped leaves a hole there, which is written again only when all units of
// the chunk are gone.
//
//     pages ─▶ │ unit │ pad │ unit │ pad │ free … │
//              0                         used     size
struct tl_code_chunk {
  struct tl_code_chunk *next;
  uint8_t *pages;
  uint32_t size, used;
  uint32_t units;  // that are in use
  bool is_forgone;
};

// Pages to be written, not yet to be run; NULL: the system has none. A mapping
// that is never both also passes where the system refuses pages which can be
// written and run at once, as OpenBSD does.
static uint8_t *map(size_t size) {
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

// Asks by doing what a chunk will do, since the rules differ by system,
// container and security module, and none of them can be read beforehand.
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

// Units begin at multiples of TL_CODE_ALIGN, as the processor's fetch does. On
// AArch64 instructions are fetched from a cache of their own, which has to be
// told. On x86-64 that is nothing: the processor sees its own stores when it
// fetches, once a jump lies between (Intel's manual, volume 3, "Self-Modifying
// Code"), and the door is such a jump.
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
  __builtin___clear_cache((char *)to, (char *)to + size);
  const uint32_t mask = TL_CODE_ALIGN - 1;
  chunk->used = (chunk->used + size + mask) & ~mask;
  chunk->units++;
  if (mprotect(chunk->pages, chunk->size, PROT_READ | PROT_EXEC) == 0)
    return to;
  // Nothing in the chunk runs any more; the caller gives up machine code.
  return NULL;
}

// The bytes stay until the chunk is written anew: nobody jumps to them, as the
// unit that names them is being freed. The chunk of the door (jit.h) never gets
// empty, since the door is never dropped.
void tl_code_drop(tl_code_chunk *chunks, const void *code) {
  for (tl_code_chunk *c = chunks; c != NULL; c = c->next) {
    const uint8_t *at = code;
    if (at >= c->pages && at < c->pages + c->size && --c->units == 0)
      c->used = 0;
  }
}

void tl_code_forgo(tl_vm *vm, tl_code_chunk *chunks) {
  for (tl_code_chunk *c = chunks; c != NULL; c = c->next) {
    if (!c->is_forgone)
      tl_unaccount_code(vm, c->size);
    c->is_forgone = true;
  }
}

// Room doubles from a page on. A full assembler asks for no more memory, so
// that a unit that does not fit costs one refused allocation.
static bool grow(tl_assembler *as) {
  uint32_t more = as->capacity == 0 ? PAGE : 2 * as->capacity;
  uint8_t *to = as->is_full ? NULL : tl_spare_alloc(as->vm, more);
  as->is_full = to == NULL;
  if (to == NULL)
    return false;
  if (as->bytes != NULL) {
    memcpy(to, as->bytes, as->size);
    tl_spare_free(as->vm, as->bytes, as->capacity);
  }
  as->bytes = to;
  as->capacity = more;
  return true;
}

static __attribute__((noinline)) void put_grown(tl_assembler *as,
                                                uint64_t bytes,
                                                uint32_t count) {
  if (grow(as))
    tl_as_put(as, bytes, count);
}

// Called for each piece of each instruction: without a frame where there is
// room.
void tl_as_put(tl_assembler *as, uint64_t bytes, uint32_t count) {
  if (as->capacity - as->size < 8) {
    put_grown(as, bytes, count);
    return;
  }
  memcpy(as->bytes + as->size, &bytes, sizeof bytes);
  as->size += count;
}

void tl_as_close(tl_assembler *as) {
  if (as->bytes != NULL)
    tl_spare_free(as->vm, as->bytes, as->capacity);
  as->bytes = NULL;
}

// Takes all chunks, whether units still stand in them or not: the functions
// that could enter these are gone.
void tl_code_close(tl_vm *vm, tl_code_chunk *chunks) {
  while (chunks != NULL) {
    tl_code_chunk *next = chunks->next;
    munmap(chunks->pages, chunks->size);
    if (!chunks->is_forgone)
      tl_unaccount_code(vm, chunks->size);
    tl_spare_free(vm, chunks, sizeof *chunks);
    chunks = next;
  }
}
