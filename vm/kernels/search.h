// Declarations of the search and product kernels, and the sizes of the blocks
// of a product, from which its scratch follows.
#pragma once

#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

#define X(D, sfx, T, W)         \
  tl_search TL_K(search_##sfx); \
  tl_gemm TL_K(gemm_##sfx);     \
  tl_gemv TL_K(gemv_##sfx);
TL_INTEGERS(X)
TL_FLOATS(X)
TL_COMPLEXES(X)
#undef X

extern const tl_sort_convert TL_K(sort_converts)[];
tl_sort_columns TL_K(sort_columns_1), TL_K(sort_columns_2),
    TL_K(sort_columns_4), TL_K(sort_columns_8);
tl_sort_lane TL_K(sort_lane_4), TL_K(sort_lane_8);

// Products go in blocks: so many rows, columns and terms are packed at once. A
// tile of the result has at most TALL rows and WIDE bytes of columns.
enum {
  // In float64 M * K items are 256 KiB, for the second cache, and N * K items
  // 6 MiB, for the last one.
  TL_GEMM_M = 128,
  TL_GEMM_N = 3072,
  TL_GEMM_K = 256,
  // A tile of the widest set is 8 rows of three vectors of 64 bytes: 24 of its
  // 32 registers.
  TL_GEMM_TALL = 8,
  TL_GEMM_WIDE = 192,
  // A block of int64 of these is 256 KiB.
  TL_GEMM_PLAIN_K = 64,  // of integers
  TL_GEMM_PLAIN_N = 512,
  TL_GEMM_PART = 512  // columns of complex items whose parts go at once
};

// The items of one part of a piece of a complex product, whole cache lines.
static inline size_t tl_gemm_part_items(size_t m, size_t n) {
  size_t rows = m < TL_GEMM_M ? m : TL_GEMM_M;
  return rows * (((n < TL_GEMM_PART ? n : TL_GEMM_PART) + 15) / 16 * 16);
}

// The number of items of the left operand that are packed, whole cache lines.
// A panel's height more, for the last panel, which zeros fill up.
static inline size_t tl_gemm_rows(size_t m, size_t k) {
  size_t rows = (m < TL_GEMM_M ? m : TL_GEMM_M) + TL_GEMM_TALL;
  return (rows * (k < TL_GEMM_K ? k : TL_GEMM_K) + 15) / 16 * 16;
}

tl_search TL_K(search_float16);
