// Between libtally.so and the objects with wider kernels beside it.
#ifndef TALLY_VM_KERNELS_WIDE_H
#define TALLY_VM_KERNELS_WIDE_H

#include <stddef.h>

// The table of kernels; NULL unless tables have [nbytes].
typedef const void *tl_wide_kernels(size_t nbytes);
#define TL_WIDE_KERNELS "tally_wide_kernels"

#endif
