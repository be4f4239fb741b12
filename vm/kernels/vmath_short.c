// tan, atan, atan2, asin, acos, the hyperbolic functions but tanh, cbrt and
// hypot of float32 as loops that vectorise: see vmath_parts.h.
//
// They compute in double, which has 29 bits more than the result: short
// polynomials do, no number is kept in two parts, and most special values come
// out right by themselves. Within 0.53 ulp.
#include "vm/kernels/vmath_parts.h"
#include "vm/kernels/generated/vmath_shorts.h"
#include "vm/kernels/generated/vmath_tables.h"

// The kernel of a formula in double.
#define SHORT_UNARY(name, formula)                                 \
  VMATH_FORMULA(name##_short, float, (float)formula((double)x[i])) \
  void TL_K(name##_float32)(void *out, const void *a, size_t n) {  \
    vmath_each_short(name##_short_vectors, out, a, NULL, n);       \
  }
#define SHORT_BINARY(name, formula)                                  \
  VMATH_FORMULA(name##_short, float,                                 \
                (float)formula((double)x[i], (double)y[i]))          \
  void TL_K(name##_float32)(void *out, const void *a, const void *b, \
                            size_t n) {                              \
    vmath_each_short(name##_short_vectors, out, a, b, n);            \
  }

// ---- exponentials and logarithms --------------------------------------------

// For |x| < 708.
TL_INLINE double exp_short(double x) {
  const double shifted = x * ONE_OVER_LN2 + WHOLE, k = shifted - WHOLE;
  const double r = (x - k * LN2_1) - k * LN2_2;
  return (1 + (r + r * r * exp_rest_short(r))) * power_of_2(shifted);
}

// log x of x above 0 and normal.
TL_INLINE double log_short(double x) {
  const scaled v = exponent_of(x);
  const double f = v.m - 1, s = f / (2 + f), z = s * s;
  const double half = s + s * (z * log_rest_short(z));
  return v.k * 0.69314718055994530942 + (half + half);
}

// The smaller of both; NaN stays.
TL_INLINE double cut_short(double a, double limit) {
  return a > limit ? limit : a;  // NaN stays
}

// ---- tangents ---------------------------------------------------------------

// As far as the multiple of pi/2 is exact.
#define SHORT_TAN_LIMIT 102942.0f

// The tangent of r, or less its reciprocal, for x = k pi/2 + r.
TL_INLINE double tan_short(double x) {
  const double shifted = x * TWO_OVER_PI + WHOLE, k = shifted - WHOLE;
  const double r = (x - k * HALF_PI_1) - k * HALF_PI_23, z = r * r;
  const double upper = r * tan_upper_short(z), lower = tan_lower_short(z);
  const uint64_t odd = 0 - (bits_of(shifted) & 1);
  return choose_bits(odd, -lower, upper) / choose_bits(odd, upper, lower);
}

// Items beyond the limit by the C library.
VMATH_FORMULA(tan_short, float, (float)tan_short((double)x[i]))
VMATH_BLOCKS(tan_short, float, vmath_each_short,
             __builtin_fabsf(x[i]) < SHORT_TAN_LIMIT, (float)tan((double)x[i]))
void TL_K(tan_float32)(void *out, const void *a, size_t n) {
  tan_short_blocks(out, a, NULL, n);
}

// ---- arcs -------------------------------------------------------------------

#define QUARTER_PI 0.78539816339744830962
#define FULL_PI 3.14159265358979323846

// The angle of (x, y), neither of which is negative, nor both 0. It is that of
// t and 0, 1/4 or 1/2 of pi.
TL_INLINE double angle_short(double y, double x) {
  const uint64_t beyond = all_if(y >= 0.41421356237309503 * x);
  const uint64_t far = all_if(y >= 2.4142135623730950 * x);
  const double c = choose_bits(beyond, 1, 0);
  const double upper = choose_bits(far, -x, y - c * x);
  const double lower = choose_bits(far, y, x + c * y);
  const double t = upper / lower, z = t * t;
  const double base = choose_bits(far, 2 * QUARTER_PI, c * QUARTER_PI);
  return base + (t + t * (z * atan_rest_short(z)));
}

// Large x are cut, so that x times a constant stays finite.
TL_INLINE double atan_short(double x) {
  return with_sign(angle_short(cut_short(magnitude(x), 0x1p300), 1), x);
}

// The angle by quadrants of the first one's angle.
TL_INLINE double atan2_short(double y, double x) {
  const double side = cut_short(magnitude(y), 0x1p300);
  const double along = cut_short(magnitude(x), 0x1p300);
  // The angle of (0, 0) is 0.
  const double angle =
      angle_short(side, choose_bits(all_if(side + along == 0), 1, along));
  const uint64_t left = 0 - (bits_of(x) >> 63);
  return with_sign(choose_bits(left, FULL_PI - angle, angle), y);
}

SHORT_UNARY(atan, atan_short)
SHORT_BINARY(atan2, atan2_short)

// asin a = pi/2 - 2 asin s beyond 1/2, for s^2 = (1 - a) / 2.
typedef struct short_arc {
  uint64_t small;
  double arc;  // of s
} short_arc;

// asin of a small argument: a itself, or that of the half angle.
TL_INLINE short_arc short_arc_of(double a) {
  const uint64_t small = all_if(a < 0.5);
  const double z = choose_bits(small, a * a, (1 - a) * 0.5);
  const double s = choose_bits(small, a, __builtin_sqrt(z));
  return (short_arc){small, s + s * (z * asin_rest_short(z))};
}

// The outer half by the half angle.
TL_INLINE double asin_short(double x) {
  const short_arc s = short_arc_of(magnitude(x));
  const double outer = 2 * QUARTER_PI - 2 * s.arc;
  return with_sign(choose_bits(s.small, s.arc, outer), x);
}

// pi/2 less asin in the inner half; the half angle itself outside.
TL_INLINE double acos_short(double x) {
  const short_arc s = short_arc_of(magnitude(x));
  const double size = choose_bits(s.small, 2 * QUARTER_PI - s.arc, 2 * s.arc);
  const double other =
      choose_bits(s.small, 2 * QUARTER_PI + s.arc, FULL_PI - 2 * s.arc);
  return choose_bits(all_if(x < 0), other, size);
}

SHORT_UNARY(asin, asin_short)
SHORT_UNARY(acos, acos_short)

// ---- hyperbolic functions ---------------------------------------------------

// float32 overflows before 100.
TL_INLINE double sinh_short(double x) {
  const double a = cut_short(magnitude(x), 100), z = a * a;
  const double small = a + a * (z * sinh_rest_short(z)), E = exp_short(a);
  const double large = 0.5 * (E - 1 / E);
  return with_sign(choose_bits(all_if(a < 1), small, large), x);
}

// Both exponentials are positive, so that nothing cancels, small x included.
TL_INLINE double cosh_short(double x) {
  const double E = exp_short(cut_short(magnitude(x), 100));
  return 0.5 * (E + 1 / E);
}

// log(a + sqrt(a^2 + 1)); a series below 1/4, where it would lose digits.
TL_INLINE double asinh_short(double x) {
  const double a = magnitude(x), z = a * a;
  const double small = a + a * (z * asinh_rest_short(z));
  const double large = log_short(a + __builtin_sqrt(z + 1));
  const double y = choose_bits(all_if(a < 0.25), small, large);
  return x != x || a == (double)INFINITY ? x : with_sign(y, x);
}

// log(x + sqrt(x^2 - 1)), which double has digits enough for.
TL_INLINE double acosh_short(double x) {
  const double near = x >= 1 ? x : 1;
  const double y = log_short(near + __builtin_sqrt(near * near - 1));
  const double inside = x >= 1 ? y : (double)NAN;
  return x == (double)INFINITY ? x : inside;
}

// log((1 + a) / (1 - a)) / 2; a series below 1/4.
TL_INLINE double atanh_short(double x) {
  const double a = magnitude(x), z = a * a;
  const double small = a + a * (z * atanh_rest_short(z));
  const double near = a < 1 ? a : 0;
  const double large = 0.5 * log_short((1 + near) / (1 - near));
  const double end = a == 1 ? (double)INFINITY : (double)NAN;
  const double y = choose_bits(all_if(a < 0.25), small, a < 1 ? large : end);
  return with_sign(y, x);
}

SHORT_UNARY(sinh, sinh_short)
SHORT_UNARY(cosh, cosh_short)
SHORT_UNARY(asinh, asinh_short)
SHORT_UNARY(acosh, acosh_short)
SHORT_UNARY(atanh, atanh_short)

// ---- roots ------------------------------------------------------------------

// As in vmath_roots.c, but one of Newton's steps is enough.
TL_INLINE double cbrt_short(double x) {
  const double a = magnitude(x);
  const uint64_t third = ((bits_of(a) >> 32) * UINT64_C(0xAAAAAAAB)) >> 33;
  double t = from_bits((third + UINT64_C(715094163)) << 32);
  t *= cbrt_step(t * t * (t / a));
  const double root = with_sign(t + (a / (t * t) - t) * (1.0 / 3), x);
  return a > 0 && a < (double)INFINITY ? root : x;
}

// Squares of float32 are exact.
TL_INLINE double hypot_short(double x, double y) {
  const double length = __builtin_sqrt(x * x + y * y);
  const bool endless =
      magnitude(x) == (double)INFINITY || magnitude(y) == (double)INFINITY;
  return endless ? (double)INFINITY : length;
}

SHORT_UNARY(cbrt, cbrt_short)
SHORT_BINARY(hypot, hypot_short)
