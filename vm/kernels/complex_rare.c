// Functions of complex items, computed by the C library item by item: it has
// the special cases of C99's Annex G. complex64 computes in double.
#include <complex.h>

#include "vm/kernels/list.h"

typedef double complex z_t;

// A complex number of two parts, built through memory, as x + y * I would
// change -0.0 and infinities.
static z_t pair(double real, double imaginary) {
  double parts[2] = {real, imaginary};
  z_t z;
  memcpy(&z, parts, sizeof z);
  return z;
}

// An item as C's complex type.
static z_t load(tl_c128 x) {
  return pair(x.re, x.im);
}

// Powers by whole numbers multiply, so that 1i ** 2 is exactly -1.
enum { LARGEST_WHOLE_POWER = 100 };

// The textbook's product, without the C library's cases of infinities.
static z_t product(z_t x, z_t y) {
  double a = creal(x), b = cimag(x), c = creal(y), d = cimag(y);
  return pair(a * c - b * d, a * d + b * c);
}

// x to a power of 1 or more, by squaring.
static z_t whole_power(z_t x, unsigned exponent) {
  z_t result = x;
  for (exponent--; exponent > 0; exponent >>= 1) {
    if (exponent & 1)
      result = product(result, x);
    x = product(x, x);
  }
  return result;
}

// x ** y. 0 ** 0 is 1; other powers of 0 are 0 where the real part is
// positive, else NaN.
static z_t power(z_t x, z_t y) {
  double a = creal(y), b = cimag(y);
  if (a == 0 && b == 0)
    return 1;
  if (creal(x) == 0 && cimag(x) == 0)
    return a > 0 ? pair(0, 0) : pair(NAN, NAN);
  if (b == 0 && a == floor(a) && fabs(a) <= LARGEST_WHOLE_POWER) {
    z_t result = whole_power(x, (unsigned)fabs(a));
    return a > 0 ? result : 1 / result;
  }
  return cpow(x, y);
}

// e^z - 1 without cancellation next to 0: cos(y) - 1 is -2 sin(y/2)^2.
static z_t exp_minus_1(z_t z) {
  double x = creal(z), y = cimag(z);
  if (!isfinite(x) || !isfinite(y) || x > 700) {
    z_t w = cexp(z);
    return pair(creal(w) - 1, cimag(w));
  }
  // cos(y) - 1 without cancellation.
  double half = sin(y / 2);
  return pair(expm1(x) * cos(y) - 2 * half * half,
              y == 0 ? y : exp(x) * sin(y));
}

// log(1 + z) without cancellation next to 0.
static z_t log_plus_1(z_t z) {
  double x = creal(z), y = cimag(z);
  if (!isfinite(x) || !isfinite(y))
    return clog(pair(1 + x, y));
  double size = fabs(x) < 0.5 && fabs(y) < 0.5 ? log1p(x * (2 + x) + y * y) / 2
                                               : creal(clog(pair(1 + x, y)));
  return pair(size, atan2(y, 1 + x));
}

// Logarithms of other bases, by division.
static z_t log_base_2(z_t z) {
  z_t w = clog(z);
  return pair(creal(w) / 0.69314718055994530942,
              cimag(w) / 0.69314718055994530942);
}

// The same for base 10.
static z_t log_base_10(z_t z) {
  z_t w = clog(z);
  return pair(creal(w) / 2.30258509299404568402,
              cimag(w) / 2.30258509299404568402);
}

// tanh. C99 gives the zero of tanh(inf + iy) the sign of sin(2y), the array
// API standard that of y; tan follows by tan(z) = -i tanh(i z).
static z_t tangent_h(z_t z) {
  if (isinf(creal(z)) && isfinite(cimag(z)))
    return pair(copysign(1, creal(z)), copysign(0, cimag(z)));
  return ctanh(z);
}

// tan(x + i inf) is i, and its zero has the sign of x: see tangent_h.
static z_t tangent(z_t z) {
  if (isinf(cimag(z)) && isfinite(creal(z)))
    return pair(copysign(0, creal(z)), copysign(1, cimag(z)));
  return ctan(z);
}

// z / |z|, and 0 of 0.
static z_t sign(z_t z) {
  double size = cabs(z);
  if (size == 0)
    return pair(0, 0);
  return pair(creal(z) / size, cimag(z) / size);
}

// The kernel of a function of the C library.
#define UNARY_OF(name, sfx, T, W, call)                             \
  void tl_rare_##name##_##sfx(void *out, const void *a, size_t n) { \
    T *to = out;                                                    \
    const T *from = a;                                              \
    for (size_t i = 0; i < n; i++) {                                \
      z_t w = call(load((tl_c128){from[i].re, from[i].im}));        \
      to[i] = (T){(W)creal(w), (W)cimag(w)};                        \
    }                                                               \
  }
#define UNARY(name, call)                        \
  UNARY_OF(name, complex64, tl_c64, float, call) \
  UNARY_OF(name, complex128, tl_c128, double, call)

// Both dtypes of a function.
UNARY(sign, sign)
UNARY(sqrt, csqrt)
UNARY(exp, cexp)
UNARY(expm1, exp_minus_1)
UNARY(log, clog)
UNARY(log1p, log_plus_1)
UNARY(log2, log_base_2)
UNARY(log10, log_base_10)
UNARY(sin, csin)
UNARY(cos, ccos)
UNARY(tan, tangent)
UNARY(asin, casin)
UNARY(acos, cacos)
UNARY(atan, catan)
UNARY(sinh, csinh)
UNARY(cosh, ccosh)
UNARY(tanh, tangent_h)
UNARY(asinh, casinh)
UNARY(acosh, cacosh)
UNARY(atanh, catanh)

#define X(D, sfx, T, W)                                                       \
  void tl_rare_pow_##sfx(void *out, const void *a, const void *b, size_t n) { \
    T *to = out;                                                              \
    const T *from_a = a, *from_b = b;                                         \
    for (size_t i = 0; i < n; i++) {                                          \
      z_t w = power(load((tl_c128){from_a[i].re, from_a[i].im}),              \
                    load((tl_c128){from_b[i].re, from_b[i].im}));             \
      to[i] = (T){(W)creal(w), (W)cimag(w)};                                  \
    }                                                                         \
  }
TL_COMPLEXES(X)
#undef X
