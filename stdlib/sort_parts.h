// Sorting in parts on several threads.
#pragma once

#include "vm/value.h"

// Whether the n items are worth to be sorted in parts.
// False with one thread, for strings and complex numbers, for few items, and
// for keys so narrow that one thread has sorted before others could begin.
// Looks at some of the items.
bool tl_sorts_in_parts(tl_vm *vm, tl_dtype dtype, const void *items, int64_t n);

// As tl_sort and tl_argsort: with the same bits, whatever the parts. False
// after tl_fail.
// On failure the items of tl_sort_parts may be keys still: the caller drops
// them. The order must not lie over the items.
bool tl_sort_parts(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                   bool descending);
bool tl_argsort_parts(tl_vm *vm, tl_dtype dtype, int64_t *out,
                      const void *items, int64_t n, bool descending);
