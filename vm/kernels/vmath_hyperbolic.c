// sinh and cosh over vectors, from the steps of exp (vmath_exp.c), and the
// inverses of the hyperbolic functions as loops that vectorise: see
// vmath_parts.h. At most 1 ulp from the truth. For float32 see vmath_short.c.
#include "vm/kernels/vmath_parts.h"

#include "vm/kernels/vector.h"
#include "vm/kernels/generated/vmath_tables.h"
#include "vm/kernels/vmath_steps.h"

// ---- from exponentials ------------------------------------------------------

// e^a = up + up_rest and e^-a = down + down_rest, where the first ones are
// powers of 2 in steps of a sixteenth, and so a = k ln(2) / 16 + r: e^r and
// e^-r are the sum and the difference of cosh r and sinh r.
typedef struct both_ways {
  vec up, up_rest, down, down_rest;
} both_ways;

// Both exponentials from one reduction of a, which is not negative.
TL_INLINE both_ways exponentials_of(vec a, vec *farthest) {
  const steps s = take_steps(a);
  note_distance(s.whole, farthest);
  const vec_bits back = 0 - s.k;
  const vec r = s.r, z = r * r;
  const vec even = z * (0.5 + z * (1.0 / 24 + z * (1.0 / 720)));
  const vec odd = r + (r * z) * (1.0 / 6 + z * (1.0 / 120 + z * (1.0 / 5040)));
  const vec up = power(s.k), down = power(back);
  return (both_ways){up, up * ((odd + even) + look_up(exp_table_lost, s.k)),
                     down,
                     down * ((even - odd) + look_up(exp_table_lost, back))};
}

// e^a / 2 for large a, beside which e^-a is too small to count. The half is
// taken from the exponent, so that it does not overflow first.
TL_INLINE vec half_of_far(vec a) {
  steps s = take_steps(clamp(a, 0, 711));
  s.k -= 16;
  return power_anywhere(s);
}

// Of as many steps no power overflows, and beyond e^-a is long nothing.
enum { LIMIT = 1 << 13 };

// sinh of x whose powers are normal: below 1/4 a series, since the difference
// would lose digits there.
TL_INLINE vec sinh_inside(vec x, vec *farthest) {
  const vec a = (vec)((vec_bits)x & ~VEC_SIGN), z = a * a;
  const both_ways b = exponentials_of(a, farthest);
  const vec sum = b.up - b.down, lost = (b.up - sum) - b.down;
  const vec large = 0.5 * (sum + (lost + (b.up_rest - b.down_rest)));
  const vec terms =
      (1.0 / 6 + z * (1.0 / 120)) +
      (z * z) * (1.0 / 5040 + z * (1.0 / 362880 + z * (1.0 / 39916800)));
  const vec y = choose_where(is_less(a, 0.25), a + a * (z * terms), large);
  return (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN));
}

// sinh of any x: the far case where the powers of the near one would overflow.
TL_INLINE vec sinh_anywhere(vec x) {
  vec farthest = {0};
  const vec near = sinh_inside(x, &farthest);
  const vec far = half_of_far((vec)((vec_bits)x & ~VEC_SIGN));
  return choose_where(is_less(farthest, LIMIT), near,
                      (vec)((vec_bits)far | ((vec_bits)x & VEC_SIGN)));
}

// cosh of x whose powers are normal.
TL_INLINE vec cosh_inside(vec x, vec *farthest) {
  const vec a = (vec)((vec_bits)x & ~VEC_SIGN);
  const both_ways b = exponentials_of(a, farthest);
  const vec sum = b.up + b.down, lost = (b.up - sum) + b.down;
  return 0.5 * (sum + (lost + (b.up_rest + b.down_rest)));
}

// cosh of any x: the far case where the powers of the near one would overflow.
TL_INLINE vec cosh_anywhere(vec x) {
  vec farthest = {0};
  const vec near = cosh_inside(x, &farthest);
  return choose_where(is_less(farthest, LIMIT), near,
                      half_of_far((vec)((vec_bits)x & ~VEC_SIGN)));
}

VECTOR_UNARY(sinh, float64, double, sinh_inside, sinh_anywhere, LIMIT - 1)
VECTOR_UNARY(cosh, float64, double, cosh_inside, cosh_anywhere, LIMIT - 1)

// ---- from logarithms --------------------------------------------------------

// log(a + sqrt(a^2 + 1)), as pairs; a series below 1/2; log 2a where 1 is too
// small to count beside a^2.
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

// log(x + sqrt(x^2 - 1)) as log(1 + w) for w = t + root and t = x - 1. x^2 - 1
// is a pair, exact next to 1; log 2x where 1 is too small to count beside x^2.
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

// log((1 + a) / (1 - a)) / 2, the quotient as a pair; a series below 1/2,
// where it would be near 1.
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
