// Strided items, gathered side by side.
#pragma once

#include "vm/kernels/loop.h"

// gather_size: out[i] is the item at from + i * step. Items of 1, 2 and 16
// bytes go one by one.
#define TL_STRIDED_BY_ONE(size)                                             \
  TL_INLINE void gather_##size(void *out, const char *from, ptrdiff_t step, \
                               size_t n) {                                  \
    tl_word##size *to = out;                                                \
    TL_BY_FOUR for (size_t i = 0; i < n; i++, from += step) to[i] =         \
        *(const tl_word##size *)(const void *)from;                         \
  }

// Four are stored at once: stores are what such a loop waits for.
#define TL_FOUR_STRIDED(size, from, step)                        \
  (const tl_four##size) {                                        \
    *(const tl_word##size *)(const void *)(from),                \
        *(const tl_word##size *)(const void *)(from + step),     \
        *(const tl_word##size *)(const void *)(from + 2 * step), \
        *(const tl_word##size *)(const void *)(from + 3 * step)  \
  }
#define TL_STRIDED_BY_FOUR(size)                                              \
  typedef tl_word##size tl_four##size                                         \
      __attribute__((vector_size(4 * size), aligned(size), may_alias));       \
  TL_INLINE void gather_##size(void *out, const char *from, ptrdiff_t step,   \
                               size_t n) {                                    \
    tl_word##size *to = out;                                                  \
    size_t i = 0;                                                             \
    for (; i + 4 <= n; i += 4, from += 4 * step)                              \
      *(tl_four##size *)(void *)(to + i) = TL_FOUR_STRIDED(size, from, step); \
    for (; i < n; i++, from += step)                                          \
      to[i] = *(const tl_word##size *)(const void *)from;                     \
  }

TL_STRIDED_BY_ONE(1)
TL_STRIDED_BY_ONE(2)
TL_STRIDED_BY_FOUR(4)
TL_STRIDED_BY_FOUR(8)
TL_STRIDED_BY_ONE(16)

// [size] is known where this is called.
TL_INLINE void gather_items(void *out, const char *from, ptrdiff_t step,
                            size_t n, size_t size) {
  if (size == 1) {
    gather_1(out, from, step, n);
  } else if (size == 2) {
    gather_2(out, from, step, n);
  } else if (size == 4) {
    gather_4(out, from, step, n);
  } else if (size == 8) {
    gather_8(out, from, step, n);
  } else {
    gather_16(out, from, step, n);
  }
}
