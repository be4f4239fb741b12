// sinh, cosh and the inverses of the hyperbolic functions as loops that
// vectorise: see vmath_parts.h. At most 1 ulp from the truth. For float32 see
// vmath_short.c.
#include "vm/kernels/vmath_parts.h"

// ---- from exponentials ------------------------------------------------------

// e^a = 2^k E and e^-a = 2^k e, in parts; from k = 30 on, e is nothing.
typedef struct both_ways {
  two_parts E, e;
  double k;
} both_ways;

TL_INLINE both_ways exponentials_of(double a) {
  const reduced v = reduce_exp(a > 711 ? 711 : a);
  const double k = v.shifted - WHOLE, near = k < 30 ? k : 30;
  const two_parts p = exp_parts(v);
  const double sum = p.high + p.low;
  const two_parts E = {sum, (p.high - sum) + p.low};
  const double q = 1 / E.high;
  const two_parts back = product_of(q, E.high);
  const double rest = (1 - back.high) - back.low;
  const double scale = power_of_2(WHOLE - 2 * near);
  return (both_ways){E, {scale * q, scale * (q * (rest - q * E.low))}, k};
}

// 2^(k - 1), which alone may be too large, times y.
TL_INLINE double scaled_by_half(double y, double k) {
  const double half = (k - 1) * 0.5 + WHOLE;
  const double other = (k - 1) - (half - WHOLE) + WHOLE;
  return y * power_of_2(half) * power_of_2(other);
}

TL_INLINE double sinh_anywhere(double x) {
  const double a = magnitude(x), z = a * a;
  const both_ways b = exponentials_of(a);
  const double small = a + a * (z * sinh_rest(z));
  const double sum = b.E.high - b.e.high, lost = (b.E.high - sum) - b.e.high;
  const double large = scaled_by_half(sum + (lost + (b.E.low - b.e.low)), b.k);
  const double y = with_sign(choose_bits(all_if(a < 1), small, large), x);
  return x != x ? x : y;
}

TL_INLINE double cosh_anywhere(double x) {
  const both_ways b = exponentials_of(magnitude(x));
  const double sum = b.E.high + b.e.high, lost = (b.E.high - sum) + b.e.high;
  return scaled_by_half(sum + (lost + (b.E.low + b.e.low)), b.k);
}

VMATH_UNARY_DOUBLE(sinh, sinh_anywhere)
VMATH_UNARY_DOUBLE(cosh, cosh_anywhere)

// ---- from logarithms --------------------------------------------------------

// log(a + sqrt(a^2 + 1)); log 2a where 1 is nothing beside a^2.
TL_INLINE double asinh_anywhere(double x) {
  const double a = magnitude(x), z = a * a;
  const double small = a + a * (z * asinh_rest(z));
  const uint64_t far = all_if(a >= 0x1p28);
  const double near = choose_bits(far, 1, a);
  const two_parts square = product_of(near, near);
  two_parts sum = sum_of(square.high, 1);
  sum.low += square.low;
  const two_parts root = root_of(sum);
  two_parts u = sum_of(root.high, near);
  u.low += root.low;
  u.high = choose_bits(far, a, u.high);
  u.low = choose_bits(far, 0, u.low);
  const double large = log_of_pair(u, choose_bits(far, 1, 0));
  const double y = with_sign(choose_bits(all_if(a < 0.5), small, large), x);
  return x != x || a == (double)INFINITY ? x : y;
}

// log(1 + w) for w = t + sqrt(t (t + 2)) and t = x - 1.
TL_INLINE double acosh_anywhere(double x) {
  const uint64_t far = all_if(x >= 0x1p28);
  const double near = choose_bits(far, 2, x);
  const double t = near - 1;
  two_parts square = product_of(near, near);
  // x^2 - 1: the difference is exact next to 1.
  two_parts less = sum_of(square.high, -1);
  less.low += square.low;
  const double some = choose_bits(all_if(less.high > 0), less.high, 1);
  two_parts root = root_of((two_parts){some, less.low});
  root.high = choose_bits(all_if(less.high > 0), root.high, 0);
  root.low = choose_bits(all_if(less.high > 0), root.low, 0);
  const two_parts w = sum_of(t, root.high);
  two_parts u = sum_of(1, w.high);
  u.low += w.low + root.low;
  u.high = choose_bits(far, x, u.high);
  u.low = choose_bits(far, 0, u.low);
  const double y = log_of_pair(u, choose_bits(far, 1, 0));
  const double inside = x >= 1 ? y : (double)NAN;
  return x != x || x == (double)INFINITY ? x : inside;
}

// log((1 + a) / (1 - a)) / 2.
TL_INLINE double atanh_anywhere(double x) {
  const double a = magnitude(x), z = a * a;
  const double small = a + a * (z * atanh_rest(z));
  const uint64_t inside = all_if(a < 1);
  const double near = choose_bits(inside, a, 0);
  const two_parts q = quotient_of(sum_of(1, near), (two_parts){1 - near, 0});
  const double large = 0.5 * log_of_pair(q, 0);
  const double end = a == 1 ? (double)INFINITY : (double)NAN;
  const double size =
      choose_bits(all_if(a < 0.5), small, choose_bits(inside, large, end));
  return x != x ? x : with_sign(size, x);
}

VMATH_UNARY_DOUBLE(asinh, asinh_anywhere)
VMATH_UNARY_DOUBLE(acosh, acosh_anywhere)
VMATH_UNARY_DOUBLE(atanh, atanh_anywhere)
