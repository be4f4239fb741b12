// Fresh pages from the system, in huge pages where it offers them: what large
// blocks are made of (memory.c). Where the system has no anonymous mappings all
// of these return NULL, and large blocks come from the allocator.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Bytes of a huge page on the machines this is tuned for.
enum { TL_HUGE_PAGE = 2 << 20 };

// The first address from [at] on that is a multiple of [to].
static inline char *tl_align_up(char *at, size_t to) {
  return at + (to - (uintptr_t)at % to) % to;
}

// Returns [nbytes] of zeros, which are whole pages and begin on a huge page's
// boundary; NULL where the system has none.
char *tl_pages_map(size_t nbytes);
// Gives such pages back.
void tl_pages_unmap(char *begin, size_t nbytes);

// Moves the same pages to the beginning of a mapping of another size; NULL: not
// possible here, and nothing has changed. A longer one begins on a huge page's
// boundary again.
char *tl_pages_remap(char *begin, size_t old_nbytes, size_t nbytes);

// Bytes of the whole process that are in memory, whoever uses them; 0: the
// system does not say.
size_t tl_pages_resident(void);
