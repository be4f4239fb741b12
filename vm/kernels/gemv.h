// What the products with a vector share: which way through the matrix, and
// blocks that fit the nearest cache.
#ifndef TALLY_VM_KERNELS_GEMV_H
#define TALLY_VM_KERNELS_GEMV_H

#include "vm/kernels/search.h"

enum { GEMV_LEAF = TL_GEMV_LEAF };

TL_INLINE size_t leaf_of(size_t n) {
  return n < GEMV_LEAF ? n : GEMV_LEAF;
}

TL_INLINE ptrdiff_t distance(ptrdiff_t stride) {
  return stride < 0 ? -stride : stride;
}

// Defines the kernel of items T from these functions:
//   T dot_sfx(const T *a, const T *x, size_t n), with n <= GEMV_LEAF
//   T plus_sfx(T, T)
//   void axpy1_sfx(T *out, const T *a, T x, size_t n): out += a * x
//   void axpy4_sfx(T *out, const T *const a[4], const T *x, size_t n): the same
//     for four columns, in their order
// Rows whose items are nearer to one another than the rows are become dots;
// else columns are added up. Items apart are packed.
#define GEMV(sfx, T)                                                           \
  static const T *packed_##sfx(T *buffer, const char *a, ptrdiff_t stride,     \
                               size_t n) {                                     \
    if (stride == (ptrdiff_t)sizeof(T))                                        \
      return (const T *)(const void *)a;                                       \
    for (size_t i = 0; i < n; i++, a += stride)                                \
      buffer[i] = *(const T *)(const void *)a;                                 \
    return buffer;                                                             \
  }                                                                            \
  static void dots_##sfx(T *out, const char *a, ptrdiff_t a_row,               \
                         ptrdiff_t a_column, const char *x,                    \
                         ptrdiff_t x_stride, size_t m, size_t k) {             \
    T x_buffer[GEMV_LEAF], a_buffer[GEMV_LEAF];                                \
    for (size_t p = 0; p < k; p += GEMV_LEAF) {                                \
      const size_t n = leaf_of(k - p);                                         \
      const T *leaf = packed_##sfx(x_buffer, x, x_stride, n);                  \
      const char *row = a;                                                     \
      for (size_t i = 0; i < m; i++, row += a_row)                             \
        out[i] = plus_##sfx(                                                   \
            out[i],                                                            \
            dot_##sfx(packed_##sfx(a_buffer, row, a_column, n), leaf, n));     \
      x += GEMV_LEAF * x_stride;                                               \
      a += GEMV_LEAF * a_column;                                               \
    }                                                                          \
  }                                                                            \
  static void columns_##sfx(T *out, const char *a, ptrdiff_t a_row,            \
                            ptrdiff_t a_column, const char *x,                 \
                            ptrdiff_t x_stride, size_t m, size_t k) {          \
    T buffer[GEMV_LEAF];                                                       \
    const bool near = a_row == (ptrdiff_t)sizeof(T);                           \
    for (size_t i = 0; i < m; i += GEMV_LEAF, a += GEMV_LEAF * a_row) {        \
      const size_t n = leaf_of(m - i);                                         \
      const char *from = a, *factor = x;                                       \
      size_t p = 0;                                                            \
      for (; near && k - p >= 4; p += 4, from += 4 * a_column) {               \
        const T *four[4];                                                      \
        T items[4];                                                            \
        for (int q = 0; q < 4; q++, factor += x_stride) {                      \
          four[q] = (const T *)(const void *)(from + q * a_column);            \
          items[q] = *(const T *)(const void *)factor;                         \
        }                                                                      \
        axpy4_##sfx(out + i, four, items, n);                                  \
      }                                                                        \
      for (; p < k; p++, from += a_column, factor += x_stride)                 \
        axpy1_##sfx(out + i, packed_##sfx(buffer, from, a_row, n),             \
                    *(const T *)(const void *)factor, n);                      \
    }                                                                          \
  }                                                                            \
  void TL_K(gemv_##sfx)(void *out, const void *a, ptrdiff_t a_row,             \
                        ptrdiff_t a_column, const void *x, ptrdiff_t x_stride, \
                        size_t m, size_t k) {                                  \
    if (m > 1 && distance(a_row) < distance(a_column))                         \
      columns_##sfx(out, a, a_row, a_column, x, x_stride, m, k);               \
    else                                                                       \
      dots_##sfx(out, a, a_row, a_column, x, x_stride, m, k);                  \
  }

#endif
