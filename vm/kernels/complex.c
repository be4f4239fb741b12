// Complex arithmetic by its plain formulas, and the parts of complex items.
#include <float.h>

#include "vm/kernels/list.h"

#define PAIR(T, real, imaginary)    \
  (T) {                             \
    .re = (real), .im = (imaginary) \
  }

// As TL_BINARY and TL_UNARY, without the cast that pairs cannot have.
#define BINARY(name, T, expr)                                          \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) { \
    T *to = out;                                                       \
    const T *from_a = a, *from_b = b;                                  \
    TL_LOOP for (size_t i = 0; i < n; i++) {                           \
      const T x = from_a[i], y = from_b[i];                            \
      to[i] = expr;                                                    \
    }                                                                  \
  }
#define UNARY(name, T, R, expr)                         \
  void TL_K(name)(void *out, const void *a, size_t n) { \
    R *to = out;                                        \
    const T *from = a;                                  \
    TL_LOOP for (size_t i = 0; i < n; i++) {            \
      const T x = from[i];                              \
      to[i] = expr;                                     \
    }                                                   \
  }

// Quotients scale by the larger part of the divisor (Smith), so that nothing
// overflows in between; a divisor of 0 gives what its real part alone would.
#define X(D, sfx, T, W)                                                       \
  TL_INLINE T quotient_##sfx(T x, T y) {                                      \
    const bool flat = (y.re < 0 ? -y.re : y.re) >= (y.im < 0 ? -y.im : y.im); \
    const W large = flat ? y.re : y.im, small = flat ? y.im : y.re;           \
    const W ratio = large == 0 ? small : small / large;                       \
    const W scale = large + small * ratio;                                    \
    const W p = flat ? x.re : x.im, q = flat ? x.im : x.re;                   \
    const W re = p + q * ratio, im = q - p * ratio;                           \
    return PAIR(T, re / scale, (flat ? im : -im) / scale);                    \
  }                                                                           \
  TL_INLINE T product_##sfx(T x, T y) {                                       \
    return PAIR(T, x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);     \
  }                                                                           \
  BINARY(add_##sfx, T, (PAIR(T, x.re + y.re, x.im + y.im)))                   \
  BINARY(subtract_##sfx, T, (PAIR(T, x.re - y.re, x.im - y.im)))              \
  BINARY(multiply_##sfx, T, product_##sfx(x, y))                              \
  BINARY(divide_##sfx, T, quotient_##sfx(x, y))                               \
  UNARY(negative_##sfx, T, T, (PAIR(T, -x.re, -x.im)))                        \
  UNARY(square_##sfx, T, T, product_##sfx(x, x))                              \
  UNARY(reciprocal_##sfx, T, T, quotient_##sfx(PAIR(T, 1, 0), x))             \
  UNARY(conj_##sfx, T, T, (PAIR(T, x.re, -x.im)))                             \
  UNARY(real_##sfx, T, W, x.re)                                               \
  UNARY(imag_##sfx, T, W, x.im)
TL_COMPLEXES(X)
#undef X

// Absolute values: the root of the sum of squares, in double. Where the sum
// leaves the range in which nothing is lost, the C library does the items.
enum { ABS_BLOCK = 256 };

TL_INLINE double sum_of_squares(double x, double y) {
  return x * x + y * y;
}

// What x * x lost in rounding, by halves whose products are exact (Dekker).
TL_INLINE double lost_in_square(double x) {
  const double wide = x * 0x1.0000002p27, high = wide - (wide - x);
  const double low = x - high;
  return ((high * high - x * x) + 2 * high * low) + low * low;
}

// Rounded to float once more, the plain root is right.
TL_INLINE double size_complex64(double x, double y) {
  return sqrt(sum_of_squares(x, y));
}

// One step of Newton's with all that was lost: right but for rare last bits.
TL_INLINE double size_complex128(double x, double y) {
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
  static bool abs_leaves_range_##sfx(const T *from, size_t n) {      \
    uint64_t outside = 0;                                            \
    for (size_t i = 0; i < n; i++) {                                 \
      const double x = (double)from[i].re, y = (double)from[i].im;   \
      outside |= !in_range(sum_of_squares(x, y), x, y);              \
    }                                                                \
    return outside != 0;                                             \
  }                                                                  \
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
      TL_LOOP for (size_t i = 0; i < block; i++) {                   \
        const double x = (double)from[i].re, y = (double)from[i].im; \
        to[i] = (W)size_##sfx(x, y);                                 \
      }                                                              \
      if (abs_leaves_range_##sfx(from, block))                       \
        abs_outside_##sfx(to, from, block);                          \
      n -= block;                                                    \
    }                                                                \
  }
TL_COMPLEXES(X)
#undef X
