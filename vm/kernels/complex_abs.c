// Absolute values of complex items. In a file of its own, since complex.c is
// compiled without some instructions.
#include <float.h>

#include "vm/kernels/list.h"

// Absolute values: the root of the sum of squares, in double. Where the sum
// leaves the range in which nothing is lost, the C library does the items.
enum { ABS_BLOCK = 256 };

// The square of the absolute value, rounded.
TL_INLINE double sum_of_squares(double x, double y) {
  return x * x + y * y;
}

// What x * x lost in rounding, by halves whose products are exact (Dekker).
TL_INLINE double lost_in_square(double x) {
  const double wide = x * 0x1.0000002p27, high = wide - (wide - x);
  const double low = x - high;
  return ((high * high - x * x) + 2 * high * low) + low * low;
}

// The plain root is right for complex64, as it is rounded to float once more.
TL_INLINE double size_complex64(double x, double y) {
  return sqrt(sum_of_squares(x, y));
}

// One step of Newton's with all that was lost: right but for rare last bits.
TL_INLINE double size_complex128(double x, double y) {
  // The errors of both squares, of the sum and of the root are gathered in one
  // correction.
  const double p = x * x, q = y * y, sum = p + q, root = sqrt(sum);
  const double back = sum - p;
  const double lost = ((p - (sum - back)) + (q - back)) +
                      (lost_in_square(x) + lost_in_square(y));
  const double rest = (sum - root * root) - lost_in_square(root) + lost;
  const double twice = root > 0 ? root + root : 1;
  return root + rest / twice;
}

// 0 is in the range if the item is 0; NaN is not.
TL_INLINE bool in_range(double sum, double x, double y) {
  return ((sum >= 0x1p-900) & (sum <= DBL_MAX)) | ((x == 0) & (y == 0));
}

#define X(D, sfx, T, W)                                              \
  static void abs_outside_##sfx(W *to, const T *from, size_t n) {    \
    for (size_t i = 0; i < n; i++) {                                 \
      const double x = (double)from[i].re, y = (double)from[i].im;   \
      if (!in_range(sum_of_squares(x, y), x, y))                     \
        to[i] = (W)hypot(x, y);                                      \
    }                                                                \
  }                                                                  \
  void TL_K(abs_##sfx)(void *out, const void *a, size_t n) {         \
    W *to = out;                                                     \
    const T *from = a;                                               \
    for (; n > 0; to += ABS_BLOCK, from += ABS_BLOCK) {              \
      const size_t block = n < ABS_BLOCK ? n : ABS_BLOCK;            \
      uint64_t outside = 0;                                          \
      TL_LOOP for (size_t i = 0; i < block; i++) {                   \
        const double x = (double)from[i].re, y = (double)from[i].im; \
        outside |= !in_range(sum_of_squares(x, y), x, y);            \
        to[i] = (W)size_##sfx(x, y);                                 \
      }                                                              \
      if (outside)                                                   \
        abs_outside_##sfx(to, from, block);                          \
      n -= block;                                                    \
    }                                                                \
  }
TL_COMPLEXES(X)
#undef X
