// Integer arithmetic that says where a result does not fit its dtype, for calls
// with overflow: "error" or "saturate". All other arithmetic wraps.
#pragma once

#include "vm/kernels/kernels.h"

// out[i] = a[i] op b[i], or the end of the dtype's range that is nearest to it.
// Returns the position of the first item that does not fit, or n. Operations of
// one operand do not read [b].
//
//   int8     100 90 + 20 60      out 120 127, returns 1
//   uint8    3 5 - 2 9           out 1 0, returns 1
//
// [out] may be a or b themselves. No power is negative: the caller has checked.
typedef size_t tl_saturate(void *out, const void *a, const void *b, size_t n);

// The kernel of the operation in that dtype; NULL: its results always fit, or
// are no integers.
tl_saturate *tl_saturate_kernel(tl_op op, tl_dtype dtype);

// The least and the largest number of an integer dtype.
int64_t tl_least_integer(tl_dtype dtype);
uint64_t tl_largest_integer(tl_dtype dtype);

__extension__ typedef __int128 tl_int128;

// A sum or a product of integers under way, which knows its value where no
// dtype has it. Start from {.is_product, .absolute = 1}.
//
//   sum      exact: 128 bits are enough for as many items of 64 as there can be
//   product  its sign, and its magnitude as long as 64 bits have it; [is_over]
//            after that, until an item is 0
typedef struct tl_exact_fold {
  tl_int128 sum;
  uint64_t absolute;
  bool is_product, is_negative, is_over;
} tl_exact_fold;

// Folds n items of int64, or of uint64 if not [is_signed].
void tl_exact_fold_items(tl_exact_fold *fold, const void *items, bool is_signed,
                         size_t n);
// Writes the result, or the nearest number of the integer dtype, to [out].
// False: it does not fit.
bool tl_exact_fold_end(const tl_exact_fold *fold, tl_dtype dtype, void *out);
