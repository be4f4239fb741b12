// Sums of products along two sequences, one of which runs against the other
// (tl_convolve_kernel).
//
// Each sum goes by the order of b, whatever the instruction set; many sums are
// in registers at once, so that each item of b is read once for all of them:
//
//   sums[i] += a[i - k] * b[k]    for all i of a block, then the next k
#include "vm/kernels/list.h"

#define X(sfx, T)                                                              \
  void TL_K(convolve_##sfx)(void *out, const void *a, const void *b, size_t n, \
                            size_t m) {                                        \
    enum { SIDE_BY_SIDE = TL_SMALL ? 1 : 8 * TL_LANES(T) };                    \
    const T *from = a, *by = b;                                                \
    T *to = out;                                                               \
    for (; n >= SIDE_BY_SIDE; n -= SIDE_BY_SIDE) {                             \
      T sums[SIDE_BY_SIDE] = {0};                                              \
      for (size_t k = 0; k < m; k++) {                                         \
        const T *x = from - k, y = by[k];                                      \
        for (size_t i = 0; i < SIDE_BY_SIDE; i++) sums[i] += x[i] * y;         \
      }                                                                        \
      memcpy(to, sums, sizeof sums);                                           \
      from += SIDE_BY_SIDE;                                                    \
      to += SIDE_BY_SIDE;                                                      \
    }                                                                          \
    for (; n > 0; n--, from++, to++) {                                         \
      T sum = 0;                                                               \
      for (size_t k = 0; k < m; k++) sum += *(from - k) * by[k];               \
      *to = sum;                                                               \
    }                                                                          \
  }
X(uint64, uint64_t)
X(float64, double)
#undef X
