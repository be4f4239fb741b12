// What the products with a vector share: the direction through the matrix, and
// blocks that fit the nearest cache.
//
//   rows contiguous      dots: each row with a strip of the vector
//   columns contiguous   columns: out += column * item, four columns at once
//
// Both read the matrix once, in the order of memory.
#pragma once

#include "vm/kernels/search.h"
#include "vm/kernels/strided.h"

// Rows of the matrix are read from one end to the other where they lie, as
// memory is fastest, while a strip of the vector stays in the second cache, or
// a line of the result in the first.
enum {
  // In float64 a leaf is 8 KiB, a strip 128 KiB and a line 16 KiB.
  GEMV_LEAF = TL_GEMV_LEAF,
  GEMV_STRIP = 16 * GEMV_LEAF,
  GEMV_LINE = 2 * GEMV_LEAF
};

// The terms of the next leaf.
TL_INLINE size_t leaf_of(size_t n) {
  return n < GEMV_LEAF ? n : GEMV_LEAF;
}

// How far items of a stride are from each other.
TL_INLINE ptrdiff_t distance(ptrdiff_t stride) {
  return stride < 0 ? -stride : stride;
}

// Defines the kernel of items T from these functions:
//
//   T dot_sfx(const T *a, const T *x, size_t n), with n <= GEMV_LEAF
//   T dot_strided_sfx(const char *a, ptrdiff_t a_step, const char *x,
//                   ptrdiff_t x_step, size_t n): the same of strided items
//   T plus_sfx(T, T)
//   void axpy1_sfx(T *out, const T *a, T x, size_t n): out += a * x
//   void axpy4_sfx(T *out, const T *const a[4], const T *x, size_t n): the same
//     for four columns, in their order
//
// Rows whose items are nearer to one another than the rows are become dots;
// otherwise columns are added up. Strided items are packed.
#define GEMV(sfx, T)                                                           \
  static const T *packed_##sfx(T *buffer, const char *a, ptrdiff_t stride,     \
                               size_t n) {                                     \
    if (stride == (ptrdiff_t)sizeof(T))                                        \
      return (const T *)(const void *)a;                                       \
    gather_items(buffer, a, stride, n, sizeof(T));                             \
    return buffer;                                                             \
  }                                                                            \
  static void one_dot_##sfx(T *out, const char *a, ptrdiff_t a_step,           \
                            const char *x, ptrdiff_t x_step, size_t k) {       \
    for (size_t p = 0; p < k; p += GEMV_LEAF) {                                \
      const size_t n = leaf_of(k - p);                                         \
      const T dot = dot_strided_##sfx(a, a_step, x, x_step, n);                \
      *out = plus_##sfx(*out, dot);                                            \
      a += (ptrdiff_t)n * a_step;                                              \
      x += (ptrdiff_t)n * x_step;                                              \
    }                                                                          \
  }                                                                            \
  static void dots_##sfx(T *out, const char *a, ptrdiff_t a_row,               \
                         ptrdiff_t a_column, const char *x,                    \
                         ptrdiff_t x_stride, size_t m, size_t k) {             \
    T x_buffer[GEMV_LEAF], a_buffer[GEMV_LEAF];                                \
    const bool near = x_stride == (ptrdiff_t)sizeof(T);                        \
    const size_t strip = near ? GEMV_STRIP : GEMV_LEAF;                        \
    for (size_t p = 0; p < k; p += strip) {                                    \
      const size_t width = k - p < strip ? k - p : strip;                      \
      const T *from = packed_##sfx(x_buffer, x, x_stride, width);              \
      const char *row = a;                                                     \
      for (size_t i = 0; i < m; i++, row += a_row) {                           \
        T sum = out[i];                                                        \
        for (size_t q = 0; q < width; q += GEMV_LEAF) {                        \
          const size_t n = leaf_of(width - q);                                 \
          const char *leaf = row + (ptrdiff_t)q * a_column;                    \
          sum = plus_##sfx(                                                    \
              sum, dot_##sfx(packed_##sfx(a_buffer, leaf, a_column, n),        \
                             from + q, n));                                    \
        }                                                                      \
        out[i] = sum;                                                          \
      }                                                                        \
      x += (ptrdiff_t)strip * x_stride;                                        \
      a += (ptrdiff_t)strip * a_column;                                        \
    }                                                                          \
  }                                                                            \
  static void columns_##sfx(T *out, const char *a, ptrdiff_t a_row,            \
                            ptrdiff_t a_column, const char *x,                 \
                            ptrdiff_t x_stride, size_t m, size_t k) {          \
    T buffer[GEMV_LINE];                                                       \
    const bool near = a_row == (ptrdiff_t)sizeof(T);                           \
    for (size_t i = 0; i < m; i += GEMV_LINE, a += GEMV_LINE * a_row) {        \
      const size_t n = m - i < GEMV_LINE ? m - i : GEMV_LINE;                  \
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
    else if (m == 1 && (a_column != (ptrdiff_t)sizeof(T) ||                    \
                        x_stride != (ptrdiff_t)sizeof(T)))                     \
      one_dot_##sfx(out, a, a_column, x, x_stride, k);                         \
    else                                                                       \
      dots_##sfx(out, a, a_row, a_column, x, x_stride, m, k);                  \
  }
