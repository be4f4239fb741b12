// e^x over vectors: x = k ln(2) / 16 + r, and e^x = 2^(k/16) e^r, where a table
// has the sixteen fractional powers and a short polynomial e^r - 1.
//
// What the table's values lost to rounding stands beside them, so that float64
// is within 0.64 ulp; float32 computes in double, rounds once and is within
// 0.51. Products and sums are never fused: all instruction sets give the same
// bits.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"
#include "vm/kernels/vmath_tables.h"

typedef struct steps {
  vec_bits k;  // in the low bits
  vec r;
} steps;

TL_INLINE steps take_steps(vec x) {
  const vec shifted = x * EXP_STEPS + VEC_WHOLE, k = shifted - VEC_WHOLE;
  const vec most = multiply_add(k, all_of(-EXP_STEP_1), x);
  return (steps){(vec_bits)shifted, multiply_add(k, all_of(-EXP_STEP_2), most)};
}

// Sets bits above the low `log2_limit + 1` in *odd unless |k| < 2^log2_limit.
TL_INLINE void note_steps(vec_bits k, int log2_limit, vec_bits *odd) {
  *odd |= k - (VEC_WHOLE_BITS - ((uint64_t)1 << log2_limit));
}

// e^r - 1, and what the table lost.
TL_INLINE vec rest_float64(steps s) {
  const vec r = s.r, z = r * r;
  const vec low = exp_terms[0] + r * exp_terms[1];
  const vec high = (exp_terms[2] + r * exp_terms[3]) + z * exp_terms[4];
  return r + (look_up(exp_table_lost, s.k) + z * (low + z * high));
}

TL_INLINE vec rest_float32(steps s) {
  const vec r = s.r, z = r * r;
  const vec high = exp_terms_short[1] + r * exp_terms_short[2];
  return r + z * (exp_terms_short[0] + r * high);
}

// 2^(k/16): the table lacks its part of the exponent, which k brings.
TL_INLINE vec power(vec_bits k) {
  return (vec)((vec_bits)look_up(exp_table, k) + (k << 48));
}

// For |k| < 2^13, so |x| < 354, where no power overflows.
enum { LOG2_LIMIT = 13 };

TL_INLINE vec exp_inside(vec x, vec_bits *odd) {
  const steps s = take_steps(x);
  note_steps(s.k, LOG2_LIMIT, odd);
  const vec y = power(s.k);
  return y + y * rest_float64(s);
}

TL_INLINE vec exp_inside_float32(vec x, vec_bits *odd) {
  const steps s = take_steps(x);
  note_steps(s.k, LOG2_LIMIT, odd);
  const vec y = power(s.k);
  return y + y * rest_float32(s);
}

// NaN stays NaN.
TL_INLINE vec clamp(vec x, double low, double high) {
  x = vec_choose((vec_bits)(x < low), all_of(low), x);
  return vec_choose((vec_bits)(x > high), all_of(high), x);
}

// For every x: 2^n in two factors, as it or the result may be no normal number.
TL_INLINE vec exp_anywhere(vec x) {
  const steps s = take_steps(clamp(x, -746, 710));
  const vec_bits fraction = s.k & 15;
  const vec y = power(fraction);
  // 2^11 more than it is, so as to be positive; in halves, 1024 more.
  const vec_bits n = (s.k - fraction - (VEC_WHOLE_BITS - (1 << 15))) >> 4;
  const vec_bits half = n >> 1, other = n - half;
  const vec scale = (vec)((half - 1) << 52);
  const vec other_scale = (vec)((other - 1) << 52);
  return (y + y * rest_float64(s)) * scale * other_scale;
}

// float32 overflows and vanishes long before 150.
TL_INLINE vec exp_anywhere_float32(vec x) {
  vec_bits odd = {0};
  return exp_inside_float32(clamp(x, -150, 150), &odd);
}

VECTOR_UNARY(exp, float64, double, exp_inside, exp_anywhere,
             (2 << LOG2_LIMIT) - 1)
VECTOR_UNARY(exp, float32, float, exp_inside_float32, exp_anywhere_float32,
             (2 << LOG2_LIMIT) - 1)
