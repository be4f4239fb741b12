// Complex arithmetic by its plain formulas, and the parts of complex items.
// Products are never fused, so that both parts round alike in all instruction
// sets.
#include "vm/kernels/list.h"

// A complex item.
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
// R is the type of the result: T, or its real type.
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
