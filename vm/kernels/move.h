// Declarations of the kernels that move items, one set for each item size. An
// X list gives the index in the table (tl_move_size) and the size in bytes:
//
//   TL_MOVES(X)    X(0, 1) X(1, 2) X(2, 4) X(3, 8) X(4, 16)
#pragma once

#include "vm/kernels/loop.h"

// X(index in the table, item size)
#define TL_MOVES(X) X(0, 1) X(1, 2) X(2, 4) X(3, 8) X(4, 16)

#define X(index, size)                      \
  tl_kernel1 TL_K(copy_##size);             \
  tl_kernel1 TL_K(zeros_##size);            \
  tl_kernel1 TL_K(fill_##size);             \
  tl_pack TL_K(pack_##size);                \
  tl_unpack TL_K(unpack_##size);            \
  tl_pack_tile TL_K(pack_tile_##size);      \
  tl_spread TL_K(spread_##size);            \
  tl_compress_kernel TL_K(compress_##size); \
  tl_expand_kernel TL_K(expand_##size);     \
  tl_gather TL_K(take_##size);              \
  tl_gather_far TL_K(take_far_##size);      \
  tl_put_kernel TL_K(put_##size);           \
  tl_kernel3 TL_K(select_##size);
TL_MOVES(X)
#undef X

// For their contracts see the members of the same names in tl_kernel_table.
size_t TL_K(true_indices)(int64_t *out, const uint8_t *mask, int64_t base,
                          size_t n);
bool TL_K(indices_within)(const int64_t *index, int64_t length, size_t n);
size_t TL_K(wrap_indices)(int64_t *out, const int64_t *index, int64_t length,
                          size_t n);
void TL_K(iota)(int64_t *out, int64_t start, int64_t step, size_t n);
void TL_K(spaced)(double *out, double start, double step, double first,
                  size_t n);
bool TL_K(even_bins)(int64_t *out, const tl_even_bins *bins,
                     const double *items, size_t n);
void TL_K(bincount)(int64_t *out, const int64_t *index, size_t n);
void TL_K(bincount_weighted)(double *out, const int64_t *index,
                             const double *weight, size_t n);
