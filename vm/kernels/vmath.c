// expm1, log1p, logaddexp, erf and pow as loops that vectorise; those that look
// up in tables in registers, in float32 the first two too, are beside this file
// (vmath_exp.c, vmath_log.c, vmath_sin.c).
//
// Everything is plain multiplication and addition, never fused, and choices are
// made by masks: so all instruction sets give the same bits, at most 1 ulp from
// the truth. What the formulas do not cover (powers of negative numbers) is put
// right item by item afterwards with the C library.
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

static void expm1_vectors(double *to, const double *x, size_t n) {
  VMATH_LOOP(expm1_inside(x[i] < 708 ? x[i] : 708))
}

// From 708 on, 1 is nothing.
static void expm1_block(double *to, const double *x, size_t n) {
  uint64_t beyond = 0;
  vmath_each(expm1_vectors, to, x, n);
  for (size_t i = 0; i < n; i++) beyond |= all_if(!(x[i] < 708));
  for (size_t i = 0; beyond != 0 && i < n; i++)
    if (!(x[i] < 708))
      to[i] = exp_of_any(x[i]);
}

VMATH_BLOCKS_DOUBLE(expm1)

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

// ---- powers -----------------------------------------------------------------

// float64 needs the logarithm to more than 64 bits: log2 x = t1 + t2, with t1
// short, so that its product with the first half of y is exact. The method and
// coefficients are fdlibm's (e_pow.c), with x between 1 and 2 brought next to
// 1, 1.5 or 2 by masks.
TL_INLINE two_parts log2_parts(double x) {
  const uint64_t bits = bits_of(x), above = bits - 0x3ff0000000000000u;
  const double exponent =
      from_bits(((above + 0x8000000000000000u) >> 52) | 0x4330000000000000u) -
      (0x1p52 + 2048);
  const double m =
      from_bits((bits & 0x000fffffffffffffu) | 0x3ff0000000000000u);
  const uint64_t past_first = all_if(m >= 0x1.3988e1409212ep0);   // sqrt 1.5
  const uint64_t past_second = all_if(m >= 0x1.bb67ae8584caap0);  // sqrt 3
  const uint64_t middle = past_first & ~past_second;
  const double ax = choose_bits(past_second, 0.5 * m, m);
  const double n = choose_bits(past_second, exponent + 1, exponent);
  const double base = choose_bits(middle, 1.5, 1);
  const double base_high = choose_bits(middle, 5.84962487220764160156e-01, 0);
  const double base_low = choose_bits(middle, 1.35003920212974897128e-08, 0);

  const double u = ax - base, v = 1 / (ax + base), s = u * v;
  const double s_high = first_half(s), sum_high = first_half(ax + base);
  const double sum_low = ax - (sum_high - base);
  const double s_low = v * ((u - s_high * sum_high) - s_high * sum_low);
  const double z = s * s;
  double r = 2.06975017800338417784e-01;
  r = r * z + 2.30660745775561754067e-01;
  r = r * z + 2.72728123808534006489e-01;
  r = r * z + 3.33333329818377432918e-01;
  r = r * z + 4.28571428578550184252e-01;
  r = r * z + 5.99999999999994648725e-01;
  r = z * z * r + s_low * (s_high + s);
  const double square = s_high * s_high;
  const double three = first_half(3.0 + square + r);
  const double three_low = r - ((three - 3.0) - square);
  const double p = s_high * three, q = s_low * three + three_low * s;
  const double p_high = first_half(p + q), p_low = q - (p_high - p);
  const double l_high = 9.61796700954437255859e-01 * p_high;
  const double l_low = -7.02846165095275826516e-09 * p_high +
                       p_low * 9.61796693925975554329e-01 + base_low;
  const double high = first_half(((l_high + l_low) + base_high) + n);
  return (two_parts){high, l_low - (((high - n) - base_high) - l_high)};
}

// 2^(high + low), where the sum is between -1080 and 1030; infinity elsewhere.
TL_INLINE double exp2_parts(double high, double low) {
  const double sum = high + low;
  const double inside = sum < -1080 ? -1080 : sum > 1030 ? 1030 : sum;
  const double shifted = inside + WHOLE, k = shifted - WHOLE;
  const double rest = high - k, t = first_half(low + rest);
  const double u = t * 6.93147182464599609375e-01;
  const double v = (low - (t - rest)) * 6.93147180559945286227e-01 +
                   t * -1.90465429995776804525e-09;
  const double z = u + v, lost = v - (z - u), square = z * z;
  double p = 4.13813679705723846039e-08;
  p = p * square + -1.65339022054652515390e-06;
  p = p * square + 6.61375632143793436117e-05;
  p = p * square + -2.77777777770155933842e-03;
  p = p * square + 1.66666666666666019037e-01;
  const double c = z - square * p;
  const double r = (z * c) / (c - 2) - (lost + z * lost);
  const double half = k * 0.5 + WHOLE;
  const double other = (k - (half - WHOLE)) + WHOLE;
  const double power = (1 - (r - z)) * power_of_2(half) * power_of_2(other);
  return choose_bits(all_if(sum == inside), power, INFINITY);
}

TL_INLINE double power_double(double x, double y) {
  const two_parts log = log2_parts(x);
  const double y_high = first_half(y);
  return exp2_parts(y_high * log.high, (y - y_high) * log.high + y * log.low);
}

// Not what is no logarithm's business, nor what becomes subnormal or infinite.
TL_INLINE bool power_holds(double x, double y, double result) {
  return x >= 0x1p-1022 && x < INFINITY && magnitude(y) < 0x1p64 &&
         result >= 0x1p-1021 && result < INFINITY;
}

// x ** 0.5 is the root, with a plus before zero and infinity.
TL_INLINE double half_power(double x) {
  return x == -(double)INFINITY ? (double)INFINITY : __builtin_sqrt(x + 0);
}

static void half_powers(double *to, const double *x, size_t n) {
  VMATH_LOOP(half_power(x[i]))
}

static void powers_double(double *to, const double *x, const double *y,
                          size_t n) {
  VMATH_LOOP(power_double(x[i], y[i]))
}

static bool are_halves(const double *y, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (y[i] != 0.5)
      return false;
  return true;
}

// [to] is no operand.
static void pow_block(double *to, const double *x, const double *y, size_t n) {
  uint64_t odd = 0;
  if (are_halves(y, n)) {
    vmath_each(half_powers, to, x, n);
    return;
  }
  vmath_each_of_two(powers_double, to, x, y, n);
  for (size_t i = 0; i < n; i++) odd |= !power_holds(x[i], y[i], to[i]);
  for (size_t i = 0; odd != 0 && i < n; i++)
    if (!power_holds(x[i], y[i], to[i]))
      to[i] = pow(x[i], y[i]);
  for (size_t i = 0; i < n; i++)
    if (y[i] == 0.5)
      to[i] = half_power(x[i]);
}

void TL_K(pow_float64)(void *out, const void *a, const void *b, size_t n) {
  const double *x = a, *y = b;
  double result[VMATH_BLOCK];
  for (size_t at = 0; at < n; at += VMATH_BLOCK) {
    const size_t count = n - at < VMATH_BLOCK ? n - at : VMATH_BLOCK;
    pow_block(result, x + at, y + at, count);
    memcpy((double *)out + at, result, count * sizeof *result);
  }
}
