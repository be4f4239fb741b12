// Functions of reals that call the C library item by item. float32 computes in
// double: rounded once, the result is better than the library's own float.
#include "vm/kernels/list.h"

#define UNARY(name, call)                                                \
  void tl_rare_##name##_float64(void *out, const void *a, size_t n) {    \
    double *to = out;                                                    \
    const double *from = a;                                              \
    for (size_t i = 0; i < n; i++) to[i] = call(from[i]);                \
  }                                                                      \
  void tl_rare_##name##_float32(void *out, const void *a, size_t n) {    \
    float *to = out;                                                     \
    const float *from = a;                                               \
    for (size_t i = 0; i < n; i++) to[i] = (float)call((double)from[i]); \
  }

#define BINARY_OF(name, sfx, T, call)                                     \
  void tl_rare_##name##_##sfx(void *out, const void *a, const void *b,    \
                              size_t n) {                                 \
    T *to = out;                                                          \
    const T *from_a = a, *from_b = b;                                     \
    for (size_t i = 0; i < n; i++) to[i] = (T)call(from_a[i], from_b[i]); \
  }
#define BINARY(name, call)              \
  BINARY_OF(name, float32, float, call) \
  BINARY_OF(name, float64, double, call)

static double add_exponentials(double x, double y) {
  if (x == y)
    return x + 0.69314718055994530942;  // infinities too
  double distance = x - y;
  if (distance > 0)
    return x + log1p(exp(-distance));
  if (distance <= 0)
    return y + log1p(exp(distance));
  return distance;  // NaN
}

// The library's cbrt may be off by an ulp, which shows where the root is a
// whole number.
static double whole_cbrt(double x) {
  double root = cbrt(x), whole = rint(root);
  return whole * whole * whole == x && whole != 0 ? whole : root;
}

BINARY(atan2, atan2)
BINARY(hypot, hypot)
BINARY(logaddexp, add_exponentials)
BINARY_OF(nextafter, float32, float, nextafterf)
BINARY_OF(nextafter, float64, double, nextafter)

UNARY(cbrt, whole_cbrt)
UNARY(exp2, exp2)
UNARY(log10, log10)
UNARY(tan, tan)
UNARY(asin, asin)
UNARY(acos, acos)
UNARY(atan, atan)
UNARY(sinh, sinh)
UNARY(cosh, cosh)
UNARY(asinh, asinh)
UNARY(acosh, acosh)
UNARY(atanh, atanh)
UNARY(erfc, erfc)
UNARY(gamma, tgamma)
UNARY(lgamma, lgamma)
