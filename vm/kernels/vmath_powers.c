// Powers. Whole and half exponents of up to 32 are products and roots of pairs
// of numbers, at most 0.501 ulp from the truth; others are 2^(y log2 x), at
// most 1 ulp. What an item gets depends on its own exponent alone, and all
// instruction sets give the same bits. What the formulas do not cover (roots of
// negative numbers, results next to the end of the range) the C library
// computes item by item.
#include "vm/kernels/vmath_parts.h"

#include "vm/kernels/vector.h"

// ---- any exponent -----------------------------------------------------------

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

static void powers_double(double *to, const double *x, const double *y,
                          size_t n) {
  VMATH_LOOP(power_double(x[i], y[i]))
}

static void other_powers_float64(double *to, const double *x, const double *y,
                                 size_t n) {
  uint64_t odd = 0;
  vmath_each_of_two(powers_double, to, x, y, n);
  for (size_t i = 0; i < n; i++) odd |= !power_holds(x[i], y[i], to[i]);
  for (size_t i = 0; odd != 0 && i < n; i++)
    if (!power_holds(x[i], y[i], to[i]))
      to[i] = pow(x[i], y[i]);
}

// ---- whole and half exponents -----------------------------------------------

// Twice the exponent is whole and no larger than this.
enum { EASY_TWICE = 64, EASY_EXPONENTS = 2 * EASY_TWICE + 1 };

TL_INLINE bool is_easy(double y) {
  const double twice = y + y, whole = (twice + WHOLE) - WHOLE;
  return magnitude(twice) <= EASY_TWICE && twice == whole;
}

typedef struct pairs {
  vec high, low;
} pairs;

TL_INLINE pairs pairs_times(pairs a, pairs b) {
  const vec p = a.high * b.high;
  const vec lost =
      lost_of_product(a.high, b.high, p) + (a.high * b.low + a.low * b.high);
  const vec high = p + lost;
  return (pairs){high, (p - high) + lost};
}

TL_INLINE pairs pairs_root(vec x) {
  const vec root = vec_root(x), square = root * root;
  const vec rest = (x - square) - lost_of_product(root, root, square);
  return (pairs){root, rest / (root + root)};
}

// 1 / a, rounded.
TL_INLINE vec pairs_inverse(pairs a) {
  const vec q = 1 / a.high, p = q * a.high;
  const vec rest = ((1 - p) - lost_of_product(q, a.high, p)) - q * a.low;
  return q + q * rest;
}

// x to the power [twice] / 2, which is not 0.
TL_INLINE vec easy_power(vec x, int twice) {
  unsigned whole = (unsigned)(twice < 0 ? -twice : twice);
  bool any = whole % 2 != 0;
  pairs result = any ? pairs_root(x) : (pairs){all_of(1), all_of(0)};
  pairs base = {x, all_of(0)};
  for (whole /= 2; whole > 0; whole /= 2) {
    if (whole % 2 != 0) {
      result = any ? pairs_times(result, base) : base;
      any = true;
    }
    if (whole > 1)
      base = pairs_times(base, base);
  }
  return twice < 0 ? pairs_inverse(result) : result.high;
}

// Far enough from the ends of the range that no part of a pair is lost.
TL_INLINE bool easy_holds(double x) {
  return magnitude(x) > 0x1p-900 && magnitude(x) < 0x1p900;
}

// x ** 0.5 is the root, with a plus before zero and infinity.
TL_INLINE double half_power_float64(double x) {
  return x == -(double)INFINITY ? (double)INFINITY : __builtin_sqrt(x + 0);
}

TL_INLINE float half_power_float32(float x) {
  return x == -INFINITY ? INFINITY : __builtin_sqrtf(x + 0);
}

// Of these the formulas hold everywhere.
TL_INLINE bool is_plain(int twice) {
  return twice == -2 || twice == 0 || twice == 2 || twice == 4;
}

TL_INLINE vec plain_power(vec x, int twice) {
  return twice == -2 ? 1 / x : twice == 0 ? all_of(1) : twice == 2 ? x : x * x;
}

TL_INLINE vec easy_float64(vec x, int twice) {
  return is_plain(twice) ? plain_power(x, twice) : easy_power(x, twice);
}

// Of float32 in double, whose products are short and whose range is wide enough
// for every x to a power; as pow has it, -0 and -inf have roots.
TL_INLINE vec easy_float32(vec x, int twice) {
  if (is_plain(twice))
    return plain_power(x, twice);
  unsigned whole = (unsigned)(twice < 0 ? -twice : twice);
  const bool half = whole % 2 != 0;
  vec base = half ? vec_choose((vec_bits)(x == -(double)INFINITY),
                               all_of((double)INFINITY), x + 0)
                  : x;
  vec result = half ? vec_root(base) : all_of(1);
  for (whole /= 2; whole > 0; whole /= 2) {
    if (whole % 2 != 0)
      result = result * base;
    if (whole > 1)
      base = base * base;
  }
  return twice < 0 ? 1 / result : result;
}

static void settle_float64(double *to, const double *x, double y, size_t n) {
  if (is_plain((int)(y + y)))
    return;
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++)
    odd |= ~all_if(easy_holds(x[i])) | ~all_if(easy_holds(to[i]));
  for (size_t i = 0; odd != 0 && i < n; i++)
    if (!easy_holds(x[i]) || !easy_holds(to[i]))
      to[i] = pow(x[i], y);
}

static void settle_float32(float *to, const float *x, float y, size_t n) {
  (void)to, (void)x, (void)y, (void)n;
}

// ---- both -------------------------------------------------------------------

// easy_block: all to the power [y], which is easy. easy_items: items with easy
// exponents among others, those of one exponent at a time. The kernel's target
// may be an operand.
#define POWERS(sfx, T)                                                       \
  static void easy_block_##sfx(T *to, const T *x, T y, size_t n) {           \
    const int twice = (int)(y + y);                                          \
    if (twice == 1) {                                                        \
      TL_LOOP for (size_t i = 0; i < n; i++) to[i] = half_power_##sfx(x[i]); \
      return;                                                                \
    }                                                                        \
    T rest[LANES] = {0}, *put = to;                                          \
    const T *from = x;                                                       \
    for (size_t i = 0; i < n; i += LANES) {                                  \
      if (n - i >= LANES) {                                                  \
        from = x + i;                                                        \
        put = to + i;                                                        \
      } else {                                                               \
        memcpy(rest, x + i, (n - i) * sizeof *x);                            \
        from = put = rest;                                                   \
      }                                                                      \
      store_##sfx(put, easy_##sfx(load_##sfx(from), twice));                 \
    }                                                                        \
    if (put == rest)                                                         \
      memcpy(to + n / LANES * LANES, rest, n % LANES * sizeof *to);          \
    settle_##sfx(to, x, y, n);                                               \
  }                                                                          \
  static void easy_items_##sfx(T *to, const T *x, const T *y, size_t n) {    \
    bool done[EASY_EXPONENTS] = {false};                                     \
    T powers[VMATH_BLOCK];                                                   \
    for (size_t i = 0; i < n; i++) {                                         \
      const T exponent = y[i];                                               \
      if (!is_easy((double)exponent) ||                                      \
          done[(int)(exponent + exponent) + EASY_TWICE])                     \
        continue;                                                            \
      done[(int)(exponent + exponent) + EASY_TWICE] = true;                  \
      easy_block_##sfx(powers, x, exponent, n);                              \
      for (size_t k = i; k < n; k++)                                         \
        to[k] = y[k] == exponent ? powers[k] : to[k];                        \
    }                                                                        \
  }                                                                          \
  static void pow_block_##sfx(T *to, const T *x, const T *y, size_t n) {     \
    size_t same = 0, easy = 0;                                               \
    for (size_t i = 0; i < n; i++) same += y[i] == y[0];                     \
    if (same == n && is_easy((double)y[0])) {                                \
      easy_block_##sfx(to, x, y[0], n);                                      \
      return;                                                                \
    }                                                                        \
    for (size_t i = 0; i < n; i++) easy += is_easy((double)y[i]);            \
    if (easy < n)                                                            \
      other_powers_##sfx(to, x, y, n);                                       \
    if (easy > 0)                                                            \
      easy_items_##sfx(to, x, y, n);                                         \
  }                                                                          \
  void TL_K(pow_##sfx)(void *out, const void *a, const void *b, size_t n) {  \
    T *to = out, result[VMATH_BLOCK];                                        \
    const T *x = a, *y = b;                                                  \
    for (size_t at = 0; at < n; at += VMATH_BLOCK) {                         \
      const size_t count = n - at < VMATH_BLOCK ? n - at : VMATH_BLOCK;      \
      pow_block_##sfx(result, x + at, y + at, count);                        \
      memcpy(to + at, result, count * sizeof *to);                           \
    }                                                                        \
  }

#define other_powers_float32 TL_K(other_powers_float32)
POWERS(float64, double)
POWERS(float32, float)
