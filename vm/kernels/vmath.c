// expm1, log1p, logaddexp and erf as loops that vectorise; the functions that
// look up in tables in registers, in float32 the first two too, are beside
// this file (vmath_exp.c, vmath_log.c, vmath_sin.c).
//
// Everything is plain multiplication and addition, never fused, and choices
// are made by masks: so all instruction sets give the same bits, at most 1 ulp
// from the exact result.
//
// float32 computes in double with the same formulas and rounds once.
#include "vm/kernels/vmath_parts.h"

// ---- exponentials -----------------------------------------------------------

// e^x - 1 = (2^k - 1) + 2^k (r + r^2 / 2 + ...), summed as a pair, for x < 708.
// The first term is the larger one, unless k is 0, when it is 0.
TL_INLINE double expm1_inside(double x) {
  const double clamped = x < -60 ? -60 : x;
  const reduced v = reduce_exp(clamped);
  const double scale = power_of_2(v.shifted), first = scale - 1;
  const double square = v.r * v.r, half = 0.5 * square;
  const double w = v.r + half;
  const double lost_w =
      ((v.r - w) + half) + (v.e + square * v.r * exp_cubic(v.r));
  const double lost_first = (scale - first) - 1;
  const double sum = first + scale * w, lost_sum = (first - sum) + scale * w;
  const double y = sum + (lost_sum + (scale * lost_w + lost_first));
  return x == 0 ? x : y;
}

// From 708 on, 1 is too small to count, and e^x may overflow.
VMATH_FORMULA(expm1, double, expm1_inside(x[i] < 708 ? x[i] : 708))
VMATH_BLOCKS(expm1, double, vmath_each, x[i] < 708, exp_of_any(x[i]))
void TL_K(expm1_float64)(void *out, const void *a, size_t n) {
  expm1_blocks(out, a, NULL, n);
}

// ---- logarithms -------------------------------------------------------------

VMATH_UNARY_DOUBLE(log1p, log1p_anywhere)

// log(e^x + e^y), the larger one and log(1 + e^-distance).
TL_INLINE double logaddexp_anywhere(double x, double y) {
  const double larger = x > y ? x : y, distance = magnitude(x - y);
  const double sum = larger + log1p_anywhere(exp_of_any(-distance));
  const double same = x + 0.69314718055994530942;  // infinities too
  return x == y ? same : x != x ? x : y != y ? y : sum;
}

VMATH_BINARY(logaddexp, logaddexp_anywhere)

// ---- error function ---------------------------------------------------------

// Taylor's series at the nearest of the table's places; near 0 a polynomial of
// its own, as there the table would lose digits. Choices are by bits here:
// branches would keep the table from being read for many items at once.
TL_INLINE double erf_anywhere(double x) {
  double a = magnitude(x);
  a = choose_bits(all_if(a < 6), a, 6);  // NaN too: the table ends there
  const double shifted = a * 128 + WHOLE;
  const uint64_t place = bits_of(shifted) & 1023;
  const double at = (shifted - WHOLE) * 0.0078125, d = a - at;
  const double q = at * at, z = a * a;
  const double value = tl_erf_table[place][0], lost = tl_erf_table[place][1];
  const double slope = tl_erf_table[place][2];
  const double c2 = 2.0 / 3 * q - 1.0 / 3, c3 = at * (0.5 - q / 3);
  const double c4 = (2.0 / 15 * q - 0.4) * q + 0.1;
  const double c5 = -at * ((2.0 / 45 * q - 2.0 / 9) * q + 1.0 / 6);
  const double series = d * (-at + d * (c2 + d * (c3 + d * (c4 + d * c5))));
  const uint64_t small = all_if(a < 0.0625);
  const double base = choose_bits(small, a, value);
  const double more = choose_bits(small, a * erf_rest(z),
                                  lost + (slope * d + slope * d * series));
  const double result = with_sign(base + more, x);
  return x != x ? x : result;
}

VMATH_UNARY(erf, erf_anywhere)
