// The building blocks of the formulas of the files vmath*.c: bits, pairs of
// numbers, exponentials and logarithms. Loops over them vectorise.
//
// Everything is multiplication and addition that rounds each time, or is
// exact, and choices are made by masks: so all instruction sets give the same
// bits. Where a result must be nearer than one rounding allows, numbers are
// pairs: the second part is the error of the first.
//
//   high + low    high = the rounded sum or product, low = the rest, exactly
#pragma once

#include "vm/kernels/list.h"
#include "vm/kernels/generated/vmath_data.h"

// Adding it rounds a number below 2^51 to a whole one, which then is in the
// low bits: no instruction set needs to convert.
#define WHOLE 0x1.8p52

// A double's bits as an integer, and back.
TL_INLINE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// The way back; both are moves between registers, and no conversion.
TL_INLINE double from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// `mask` is all ones or all zeros.
TL_INLINE double choose_bits(uint64_t mask, double x, double y) {
  return from_bits((bits_of(x) & mask) | (bits_of(y) & ~mask));
}

// A mask of the condition, for choose_bits.
TL_INLINE uint64_t all_if(bool condition) {
  return (uint64_t)0 - (uint64_t)condition;
}

// |x|.
TL_INLINE double magnitude(double x) {
  return from_bits(bits_of(x) & 0x7fffffffffffffffu);
}

// size, which is not negative, with the sign of x.
TL_INLINE double with_sign(double size, double x) {
  return from_bits(bits_of(size) | (bits_of(x) & 0x8000000000000000u));
}

// 2^k for the whole number that `shifted` is after adding WHOLE.
TL_INLINE double power_of_2(double shifted) {
  return from_bits((bits_of(shifted) + 1023) << 52);
}

// x without its last 32 bits.
TL_INLINE double first_half(double x) {
  return from_bits(bits_of(x) & 0xffffffff00000000u);
}

// ---- pairs ------------------------------------------------------------------

// A number in two parts, of which the second is what rounding took from it.
typedef struct two_parts {
  double high, low;
} two_parts;

// a + b in two parts (Knuth), whichever is larger.
TL_INLINE two_parts sum_of(double a, double b) {
  const double sum = a + b, b_part = sum - a;
  return (two_parts){sum, (a - (sum - b_part)) + (b - b_part)};
}

// a * b, by halves of 26 bits (Dekker), unless it leaves the normal numbers. A
// fused instruction gives the same bits, as the second part is exact.
TL_INLINE two_parts product_of(double a, double b) {
  const double product = a * b;
#ifdef __FMA__
  return (two_parts){product, __builtin_fma(a, b, -product)};
#else
  const uint64_t round = UINT64_C(1) << 26, low_half = (UINT64_C(1) << 27) - 1;
  const double a_high = from_bits((bits_of(a) + round) & ~low_half);
  const double b_high = from_bits((bits_of(b) + round) & ~low_half);
  const double a_low = a - a_high, b_low = b - b_high;
  const double rest = (a_high * b_high - product) + a_high * b_low;
  return (two_parts){product, (rest + a_low * b_high) + a_low * b_low};
#endif
}

// a / b of pairs, to nearly twice the digits.
TL_INLINE two_parts quotient_of(two_parts a, two_parts b) {
  const double quotient = a.high / b.high;
  const two_parts whole = product_of(quotient, b.high);
  const double rest = (a.high - whole.high) - whole.low;
  return (two_parts){quotient, (rest + (a.low - quotient * b.low)) / b.high};
}

// The root of a, which is above 0, to nearly twice the digits.
TL_INLINE two_parts root_of(two_parts a) {
  const double root = __builtin_sqrt(a.high);
  const two_parts square = product_of(root, root);
  const double rest = (a.high - square.high) - square.low;
  return (two_parts){root, (rest + a.low) / (root + root)};
}

// ---- exponentials -----------------------------------------------------------

// x = k ln 2 + r + e, where e is what rounding took from r.
typedef struct reduced {
  double shifted, r, e;  // k + WHOLE
} reduced;

// Reduces x by the nearest multiple of ln 2, in two parts so that the product
// with k is exact.
TL_INLINE reduced reduce_exp(double x) {
  const double shifted = x * ONE_OVER_LN2 + WHOLE, k = shifted - WHOLE;
  const double high = x - k * LN2_1, low = k * LN2_2;
  const double r = high - low;
  return (reduced){shifted, r, (high - r) - low};
}

// e^(r + e). The rounding error of 1 + r is added: without it the result would
// be off by up to 0.9 ulp, and exp(1) would not be e.
TL_INLINE two_parts exp_parts(reduced v) {
  const double sum = 1 + v.r, lost = (1 - sum) + v.r;
  return (two_parts){sum, lost + (v.e + v.r * v.r * exp_rest(v.r))};
}

// e^(r + e), rounded.
TL_INLINE double exp_of_reduced(reduced v) {
  const two_parts p = exp_parts(v);
  return p.high + p.low;
}

// For every x: 2^k in two factors, so that neither is subnormal or infinite.
TL_INLINE double exp_of_any(double x) {
  x = x < -746 ? -746 : x;
  x = x > 710 ? 710 : x;
  const reduced v = reduce_exp(x);
  const double y = exp_of_reduced(v);
  const double half = (v.shifted - WHOLE) * 0.5 + WHOLE;
  const double other = (v.shifted - WHOLE) - (half - WHOLE) + WHOLE;
  return y * power_of_2(half) * power_of_2(other);
}

// ---- logarithms -------------------------------------------------------------

// x = 2^k m with m from sqrt(1/2) to sqrt(2), x being positive and normal.
typedef struct scaled {
  double k, m;
} scaled;

#define ROOT_HALF_BITS 0x3fe6a09e00000000u

// Splits x; m is near 1, where the logarithm's polynomial is short.
TL_INLINE scaled exponent_of(double x) {
  const uint64_t above = bits_of(x) - ROOT_HALF_BITS;
  // The exponent, biased by 2048 so as not to be negative, is made the low
  // bits of a double.
  const uint64_t biased = (above + 0x8000000000000000u) >> 52;
  const double k = from_bits(biased | 0x4330000000000000u) - (0x1p52 + 2048);
  return (scaled){k, from_bits(bits_of(x) - (above & 0xfff0000000000000u))};
}

// log m = f - f^2/2 + s (f^2/2 + rest) for f = m - 1 and s = f / (2 + f); the
// first two terms carry most of it and the last one the errors.
// [more] is a small term to be added.
TL_INLINE double log_of_scaled(scaled v, double more) {
  const double f = v.m - 1, half_square = 0.5 * f * f, s = f / (2 + f);
  const double z = s * s, rest = z * log_rest(z);
  return v.k * LN2_1 -
         ((half_square - (s * (half_square + rest) + (v.k * LN2_2 + more))) -
          f);
}

// log(a), where a is above 0 and normal, and k times log 2 more.
TL_INLINE double log_of_pair(two_parts a, double k) {
  scaled v = exponent_of(a.high);
  v.k += k;
  return log_of_scaled(v, a.low / a.high);
}

// y, or what x has instead where it is no positive number.
TL_INLINE double log_or_special(double x, double y) {
  y = x < (double)INFINITY ? y : x;
  y = x > 0 ? y : (x == 0 ? -(double)INFINITY : (double)NAN);
  return x != x ? x : y;
}

// log(1 + x) = log u + lost / u, where u is the rounded sum.
TL_INLINE double log1p_anywhere(double x) {
  const double u = 1 + x;
  const double lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const double y = log_of_scaled(exponent_of(u), lost / u);
  return x == 0 ? x : log_or_special(u, y);
}

// For erf: at i / 128 its value, what rounding took from it, and its slope.
extern const double tl_erf_table[769][3];

// ---- loops ------------------------------------------------------------------

// Formulas are long, so each stands once, in a loop over whole vectors of
// double; what is left is one more, and float32 is widened block by block.
enum { VMATH_BLOCK = 256 };

// Defines name##_vectors, which gives the result for x[i] and y[i] over whole
// vectors of x, or of x and y.
#define VMATH_FORMULA(name, T, result)                                         \
  static void name##_vectors(T *to, const T *x, const T *y, size_t n) {        \
    (void)y;                                                                   \
    TL_LOOP for (size_t i = 0; i < n / TL_LANES(T) * TL_LANES(T); i++) to[i] = \
        result;                                                                \
  }

// Defines each(f, to, x, y, n), which runs f, a function over whole vectors,
// over any n: the rest is one more vector, filled with zeros. [y] is NULL where
// there is one operand.
#define VMATH_EACH(each, T)                                                  \
  typedef void each##_function(T *to, const T *x, const T *y, size_t n);     \
  static inline void each(each##_function *f, T *to, const T *x, const T *y, \
                          size_t n) {                                        \
    const size_t whole = n / TL_LANES(T) * TL_LANES(T), left = n - whole;    \
    T rest[2][TL_LANES(T)] = {{0}};                                          \
    memcpy(rest[0], x + whole, left * sizeof *x);                            \
    if (y != NULL)                                                           \
      memcpy(rest[1], y + whole, left * sizeof *y);                          \
    f(to, x, y, whole);                                                      \
    if (left > 0) {                                                          \
      f(rest[0], rest[0], rest[1], TL_LANES(T));                             \
      memcpy(to + whole, rest[0], left * sizeof *to);                        \
    }                                                                        \
  }
VMATH_EACH(vmath_each, double)
VMATH_EACH(vmath_each_short, float)

// From cast.c. The target may not be the source, whose items have another size.
void TL_K(cast_float32_float64)(void *out, const void *a, size_t n);
void TL_K(cast_float64_float32)(void *out, const void *a, size_t n);
// The casts of the same instruction set, for whole blocks.
#define vmath_widen TL_K(cast_float32_float64)
#define vmath_narrow TL_K(cast_float64_float32)

// The same of float32, widened block by block.
static inline void vmath_each_single(vmath_each_function *f, float *to,
                                     const float *x, const float *y, size_t n) {
  double block[2][VMATH_BLOCK];
  for (size_t at = 0; at < n; at += VMATH_BLOCK) {
    const size_t count = n - at < VMATH_BLOCK ? n - at : VMATH_BLOCK;
    vmath_widen(block[0], x + at, count);
    if (y != NULL)
      vmath_widen(block[1], y + at, count);
    vmath_each(f, block[0], block[0], y != NULL ? block[1] : NULL, count);
    vmath_narrow(to + at, block[0], count);
  }
}

// Define the kernels of a function of x, or of x and y, in both dtypes; or of
// float64 alone where float32 has a formula of its own.
#define VMATH_UNARY_DOUBLE(name, formula)                         \
  VMATH_FORMULA(name, double, formula(x[i]))                      \
  void TL_K(name##_float64)(void *out, const void *a, size_t n) { \
    vmath_each(name##_vectors, out, a, NULL, n);                  \
  }
// In both dtypes.
#define VMATH_UNARY(name, formula)                                \
  VMATH_UNARY_DOUBLE(name, formula)                               \
  void TL_K(name##_float32)(void *out, const void *a, size_t n) { \
    vmath_each_single(name##_vectors, out, a, NULL, n);           \
  }
// The same of two operands.
#define VMATH_BINARY_DOUBLE(name, formula)                           \
  VMATH_FORMULA(name, double, formula(x[i], y[i]))                   \
  void TL_K(name##_float64)(void *out, const void *a, const void *b, \
                            size_t n) {                              \
    vmath_each(name##_vectors, out, a, b, n);                        \
  }
#define VMATH_BINARY(name, formula)                                  \
  VMATH_BINARY_DOUBLE(name, formula)                                 \
  void TL_K(name##_float32)(void *out, const void *a, const void *b, \
                            size_t n) {                              \
    vmath_each_single(name##_vectors, out, a, b, n);                 \
  }

// Defines name##_blocks, of which the formula does not hold for all items: the
// others, which are rare, get [otherwise]. Operands are copied block by block,
// as these are looked at again after the result may have been written over
// them.
#define VMATH_BLOCKS(name, T, each, holds, otherwise)                   \
  static void name##_blocks(T *to, const T *a, const T *b, size_t n) {  \
    T x[VMATH_BLOCK], y[VMATH_BLOCK];                                   \
    for (size_t at = 0; at < n; at += VMATH_BLOCK) {                    \
      const size_t count = n - at < VMATH_BLOCK ? n - at : VMATH_BLOCK; \
      uint64_t odd = 0;                                                 \
      memcpy(x, a + at, count * sizeof *x);                             \
      if (b != NULL)                                                    \
        memcpy(y, b + at, count * sizeof *y);                           \
      each(name##_vectors, to + at, x, b != NULL ? y : NULL, count);    \
      for (size_t i = 0; i < count; i++) odd |= ~all_if(holds);         \
      for (size_t i = 0; odd != 0 && i < count; i++)                    \
        if (!(holds))                                                   \
          to[at + i] = otherwise;                                       \
    }                                                                   \
  }
