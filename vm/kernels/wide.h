// The interface between libtally.so and the objects with wider kernels beside
// it: one function, found by name.
#pragma once

#include <stddef.h>

// Returns the table of kernels; NULL unless tables have [nbytes], which a
// library of another version has not.
typedef const void *tl_wide_kernels(size_t nbytes);
#define TL_WIDE_KERNELS "tally_wide_kernels"
