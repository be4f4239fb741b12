// e^x and 2^x in steps of a sixteenth: see vmath_exp.c. Files include vector.h
// and vmath_tables.h before it; there is no include guard, since its functions
// depend on those vectors.

// x = k ln(2) / 16 + r.
typedef struct steps {
  vec whole;
  vec_bits k;  // the same, in the low bits
  vec r;
} steps;

// Splits x by the nearest step. Two parts of the step, so that k times the
// first is exact.
TL_INLINE steps take_steps(vec x) {
  const vec shifted = x * EXP_STEPS + VEC_WHOLE, k = shifted - VEC_WHOLE;
  const vec most = multiply_add(k, all_of(-EXP_STEP_1), x);
  return (steps){k, (vec_bits)shifted,
                 multiply_add(k, all_of(-EXP_STEP_2), most)};
}

// e^r - 1, and what the table lost.
TL_INLINE vec rest_float64(steps s) {
  const vec r = s.r, z = r * r;
  const vec low = exp_terms[0] + r * exp_terms[1];
  const vec high = (exp_terms[2] + r * exp_terms[3]) + z * exp_terms[4];
  return r + (look_up(exp_table_lost, s.k) + z * (low + z * high));
}

// e^r - 1 to the digits that float32 needs.
TL_INLINE vec rest_float32(steps s) {
  const vec r = s.r, z = r * r;
  const vec high = exp_terms_short[1] + r * exp_terms_short[2];
  return r + z * (exp_terms_short[0] + r * high);
}

// 2^(k/16): the table lacks its part of the exponent, which k brings.
TL_INLINE vec power(vec_bits k) {
  return (vec)((vec_bits)look_up(exp_table, k) + (k << 48));
}

// 2^x is e^(x ln 2), where the rest of x behind whole steps is exact.
#define STEPS_LN2 0.69314718055994530942
// k is in sixteenths, so that x less k / 16 loses nothing; only its product
// with ln 2 rounds.
TL_INLINE steps take_steps_of_2(vec x) {
  const vec shifted = x * 16 + VEC_WHOLE, k = shifted - VEC_WHOLE;
  return (steps){k, (vec_bits)shifted, (x - k * 0.0625) * STEPS_LN2};
}

// x between low and high; NaN stays NaN.
TL_INLINE vec clamp(vec x, double low, double high) {
  x = vec_choose((vec_bits)(x < low), all_of(low), x);
  return vec_choose((vec_bits)(x > high), all_of(high), x);
}

// For every k: 2^n in two factors, as it or the result may be no normal number.
TL_INLINE vec power_anywhere(steps s) {
  const vec_bits fraction = s.k & 15;
  const vec y = power(fraction);
  // 2^11 more than it is, so as to be positive; in halves, 1024 more.
  const vec_bits n = (s.k - fraction - (VEC_WHOLE_BITS - (1 << 15))) >> 4;
  const vec_bits half = n >> 1, other = n - half;
  const vec scale = (vec)((half - 1) << 52);
  const vec other_scale = (vec)((other - 1) << 52);
  return (y + y * rest_float64(s)) * scale * other_scale;
}
