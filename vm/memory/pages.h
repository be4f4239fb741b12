// Fresh pages from the system, huge ones where it offers them.
#ifndef TALLY_VM_PAGES_H
#define TALLY_VM_PAGES_H

#include <stddef.h>

enum { TL_HUGE_PAGE = 2 << 20 };

// [nbytes] of zeros, whole pages, that begin on a huge page's boundary; NULL
// where the system has none or knows no such thing.
char *tl_pages_map(size_t nbytes);
void tl_pages_unmap(char *begin, size_t nbytes);

// The same pages at the beginning of a mapping of another size; NULL: not
// here. A longer one begins on a huge page's boundary again.
char *tl_pages_remap(char *begin, size_t old_nbytes, size_t nbytes);

#endif
