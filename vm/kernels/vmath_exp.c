// e^x and tanh x over vectors: x = k ln(2) / 16 + r and e^x = 2^(k/16) e^r,
// where a table has the sixteen fractional powers and a short polynomial e^r
// - 1.
//
// What the table's values lost to rounding stands beside them, so that float64
// is within 0.86 ulp, tanh too; float32 computes in double, rounds once and is
// within 0.51. What is fused is exact: all instruction sets give the same bits.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"
#include "vm/kernels/generated/vmath_tables.h"
#include "vm/kernels/vmath_steps.h"

// For |k| below it, so |x| < 354, no power overflows.
enum { LIMIT = 1 << 13 };

// e^x of x whose power of 2 is normal.
TL_INLINE vec exp_inside(vec x, vec *farthest) {
  const steps s = take_steps(x);
  note_distance(s.whole, farthest);
  const vec y = power(s.k);
  return y + y * rest_float64(s);
}

// The same from given steps, for float32.
TL_INLINE vec power_of_float32(steps s, vec *farthest) {
  note_distance(s.whole, farthest);
  const vec y = power(s.k);
  return y + y * rest_float32(s);
}

// As exp_inside, without what the table's values have lost.
TL_INLINE vec exp_inside_float32(vec x, vec *farthest) {
  return power_of_float32(take_steps(x), farthest);
}

// e^x of any x: beyond the clamp it is 0 or infinity.
TL_INLINE vec exp_anywhere(vec x) {
  return power_anywhere(take_steps(clamp(x, -746, 710)));
}

// float32 overflows and vanishes long before 150, so no case of its own is
// needed.
TL_INLINE vec exp_anywhere_float32(vec x) {
  vec farthest = {0};
  return exp_inside_float32(clamp(x, -150, 150), &farthest);
}

VECTOR_UNARY(exp, float64, double, exp_inside, exp_anywhere, LIMIT - 1)
VECTOR_UNARY(exp, float32, float, exp_inside_float32, exp_anywhere_float32,
             LIMIT - 1)

// ---- powers of 2, and less 1 ------------------------------------------------

// 2^x, as exp_inside.
TL_INLINE vec exp2_inside(vec x, vec *farthest) {
  const steps s = take_steps_of_2(x);
  note_distance(s.whole, farthest);
  const vec y = power(s.k);
  return y + y * rest_float64(s);
}

// 2^x of any x: beyond the clamp it is 0 or infinity.
TL_INLINE vec exp2_anywhere(vec x) {
  return power_anywhere(take_steps_of_2(clamp(x, -1080, 1030)));
}

// As exp2_inside, for float32.
TL_INLINE vec exp2_inside_float32(vec x, vec *farthest) {
  return power_of_float32(take_steps_of_2(x), farthest);
}

// e^x - 1 with the sign of x, of zeros too. Next to 0 the power is 1, so
// nothing is lost.
TL_INLINE vec expm1_inside_float32(vec x, vec *farthest) {
  const steps s = take_steps(x);
  note_distance(s.whole, farthest);
  const vec power_of = power(s.k);
  const vec y = (power_of - 1) + power_of * rest_float32(s);
  return (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN));
}

// The clamps of float32 are inside the range of double, so the plain form
// serves.
TL_INLINE vec exp2_anywhere_float32(vec x) {
  vec farthest = {0};
  return exp2_inside_float32(clamp(x, -160, 150), &farthest);
}

// From 150 on float32 is infinite, below -150 the result is -1.
TL_INLINE vec expm1_anywhere_float32(vec x) {
  vec farthest = {0};
  return expm1_inside_float32(clamp(x, -150, 150), &farthest);
}

VECTOR_UNARY(exp2, float64, double, exp2_inside, exp2_anywhere, LIMIT - 1)
VECTOR_UNARY(exp2, float32, float, exp2_inside_float32, exp2_anywhere_float32,
             LIMIT - 1)
VECTOR_UNARY(expm1, float32, float, expm1_inside_float32,
             expm1_anywhere_float32, LIMIT - 1)

// ---- hyperbolic tangent -----------------------------------------------------

// Below 0.625 x + x^3 p / q; above, 1 - 2 / (e^2x + 1), with the exponential
// and the sum each carried as a pair. One division serves both. From 22 on, 1
// is nearest.
TL_INLINE vec tanh_inside(vec x, vec *farthest) {
  (void)farthest;  // there are none
  const vec a = (vec)((vec_bits)x & ~VEC_SIGN), z = a * a;
  const vec_mask is_small = is_less(a, 0.625);
  const vec limited = at_most(a, 22);
  const steps s = take_steps(limited + limited);
  const vec first = power(s.k), second = first * rest_float64(s);
  const vec e = first + second, lost_e = (first - e) + second;
  const vec d = e + 1, lost_d = ((e - d) + 1) + lost_e;
  const double *u = tanh_upper, *l = tanh_lower;
  const vec upper = (a * z) * (u[0] + z * (u[1] + z * u[2]));
  const vec lower = l[0] + z * (l[1] + z * (l[2] + z));
  const vec t = choose_where(is_small, upper, all_of(-2)) /
                choose_where(is_small, lower, d);
  const vec most = 1 + t, lost_most = (1 - most) + t;
  const vec large = most + (lost_most + (t * t) * (lost_d * 0.5));
  const vec y = choose_where(is_small, a + t, large);
  return (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN));
}

// (e^2x - 1) / (e^2x + 1): double has digits enough for the difference.
TL_INLINE vec tanh_inside_float32(vec x, vec *farthest) {
  (void)farthest;
  const vec a = at_most((vec)((vec_bits)x & ~VEC_SIGN), 22);
  const steps s = take_steps(a + a);
  const vec first = power(s.k), second = first * rest_float32(s);
  const vec y = ((first - 1) + second) / ((first + 1) + second);
  return (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN));
}

// The formula covers all x: there is no case beyond it.
TL_INLINE vec tanh_anywhere(vec x) {
  vec farthest = {0};
  return tanh_inside(x, &farthest);
}

// As tanh_anywhere.
TL_INLINE vec tanh_anywhere_float32(vec x) {
  vec farthest = {0};
  return tanh_inside_float32(x, &farthest);
}

VECTOR_UNARY(tanh, float64, double, tanh_inside, tanh_anywhere, 0)
VECTOR_UNARY(tanh, float32, float, tanh_inside_float32, tanh_anywhere_float32,
             0)
