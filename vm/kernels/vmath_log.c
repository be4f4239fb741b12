// Logarithms over vectors: x = 2^(K/16) m, and log x = K ln(2)/16 + t + log(c
// m), where a table has for the interval that m is in a short c near 1/m, and
// with it t = -log c.
//
// m is cut in two so that high = K ln(2)/16 + t + (c m - 1) is exact but for
// its tail. All else is small: float64 is within 0.75 ulp next to 1 and within
// 0.7 elsewhere; float32 computes in double. What is fused is exact: all
// instruction sets give the same bits. Those to the bases 2 and 10 are within
// 0.8 ulp.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"
#include "vm/kernels/generated/vmath_tables.h"

// x = 2^k m for m from LOG_FIRST to its double, in interval K mod 16 of it.
typedef struct split {
  vec K;        // 16 k and the interval
  vec scaled;   // m / 2^512
  vec_bits at;  // the interval in the low bits
} split;

// 2^-LOG_RANGE < x < 2^LOG_RANGE is inside. So much more than k is positive.
enum { LOG_RANGE = 512 };
#define BIAS ((uint64_t)LOG_RANGE << 52)
// The largest |K| that is inside the range.
#define LIMIT (16 * LOG_RANGE - 1)

// Splits x, which is inside the range; [farthest] notes where it is not.
TL_INLINE split split_exponent(vec x, vec *farthest) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const vec_bits above = (vec_bits)x - LOG_FIRST;
  const vec_integers at = (vec_integers)above >> 48;
  const vec K = __builtin_convertvector(at, vec);
#else  // no shifts of signed integers and no such conversions
  const vec_bits above = (vec_bits)x - (LOG_FIRST - BIAS), at = above >> 48;
  const vec K = (vec)(at | 0x4330000000000000u) - (0x1p52 + 16 * LOG_RANGE);
#endif
  note_distance(K, farthest);
  const vec_bits fraction = above & 0x000fffffffffffffu;
  return (split){K, (vec)(fraction + (LOG_FIRST - BIAS)), (vec_bits)at};
}

// The logarithm: the first terms are exact sums, all others small.
TL_INLINE vec log_of_split(split s) {
  const vec c = look_up(log_close, s.at);
  // 14 bits of m; with the 29 of c they fit into a double.
  const vec_bits half = (vec_bits)s.scaled + ((uint64_t)1 << 37);
  const vec m_high = (vec)(half & ~(((uint64_t)1 << 38) - 1));
  const vec r_high = multiply_add(m_high, c, all_of(-1));
  const vec r_low = (s.scaled - m_high) * c;
  const vec r = r_high + r_low, z = r * r;
  const double *t = log_terms;
  const vec high_terms = (t[4] + r * t[5]) + z * (t[6] + r * t[7]);
  const vec terms =
      (t[0] + r * t[1]) + z * ((t[2] + r * t[3]) + z * high_terms);
  const vec high =
      multiply_add(s.K, all_of(LOG_STEP_1), look_up(log_table, s.at)) + r_high;
  const vec low = multiply_add(s.K, all_of(LOG_STEP_2), r_low);
  return high + (low + z * terms);
}

// The same for float32, in double without the second parts.
TL_INLINE vec log_of_split_short(split s) {
  const vec r = s.scaled * look_up(log_close, s.at) - 1, z = r * r;
  const double *t = log_terms_short;
  const vec terms = (t[0] + r * t[1]) + z * (t[2] + r * t[3]);
  const vec high =
      multiply_add(s.K, all_of(LOG_STEP_1), look_up(log_table, s.at));
  return high + (r + z * terms);
}

// log x of x within the range of the split.
TL_INLINE vec log_inside(vec x, vec *farthest) {
  return log_of_split(split_exponent(x, farthest));
}

// As log_inside, for float32.
TL_INLINE vec log_inside_short(vec x, vec *farthest) {
  return log_of_split_short(split_exponent(x, farthest));
}

// Numbers far from 1, subnormal ones too, are scaled towards it first.
TL_INLINE split split_anywhere(vec x) {
  const vec_bits small = (vec_bits)(x < 0x1p-500),
                 large = (vec_bits)(x > 0x1p500);
  const vec factor = vec_choose(small, all_of(0x1p600),
                                vec_choose(large, all_of(0x1p-600), all_of(1)));
  vec farthest = {0};
  split s = split_exponent(x * factor, &farthest);
  s.K += vec_choose(small, all_of(-16 * 600),
                    vec_choose(large, all_of(16 * 600), all_of(0)));
  return s;
}

// y, or the value of the logarithm where x is no positive number: -inf of 0,
// NaN of negative ones, x of inf and NaN.
TL_INLINE vec log_special(vec x, vec y) {
  y = vec_choose((vec_bits)(x < (double)INFINITY), y, x);
  y = vec_choose((vec_bits)(x > 0), y, all_of((double)NAN));
  y = vec_choose((vec_bits)(x == 0), all_of(-(double)INFINITY), y);
  return vec_choose((vec_bits)(x == x), y, x);
}

// log x of any x.
TL_INLINE vec log_anywhere(vec x) {
  return log_special(x, log_of_split(split_anywhere(x)));
}

// A float32 is never subnormal as a double; only zeros, negative ones,
// infinities and NaN need the special values.
TL_INLINE vec log_anywhere_short(vec x) {
  return log_special(x, log_of_split_short(split_anywhere(x)));
}

VECTOR_UNARY(log, float64, double, log_inside, log_anywhere, LIMIT)
VECTOR_UNARY(log, float32, float, log_inside_short, log_anywhere_short, LIMIT)

// ---- of other bases ---------------------------------------------------------

// What a logarithm of another base is made of: its table, its terms, the
// logarithm of 2^(1/16) and that of e, each whole and in two parts.
typedef struct log_base {
  const double *close, *table, *terms;
  double step_1, step_2, scale, scale_1, scale_2;
} log_base;

// As log_of_split; r times the logarithm of e is cut in two: the product of 27
// bits of r with 26 of the other is exact, and so is its sum with what stands
// before it, which is larger or nothing.
TL_INLINE vec log_in_base(split s, const log_base b) {
  const vec c = look_up(b.close, s.at);
  const vec_bits half = (vec_bits)s.scaled + ((uint64_t)1 << 37);
  const vec m_high = (vec)(half & ~(((uint64_t)1 << 38) - 1));
  const vec r_high = multiply_add(m_high, c, all_of(-1));
  const vec r_low = (s.scaled - m_high) * c;
  const vec r = r_high + r_low, z = r * r;
  const double *t = b.terms;
  const vec high_terms = (t[4] + r * t[5]) + z * (t[6] + r * t[7]);
  const vec terms =
      (t[0] + r * t[1]) + z * ((t[2] + r * t[3]) + z * high_terms);
  const vec r_first = (vec)((vec_bits)r & ~(((uint64_t)1 << 26) - 1));
  const vec r_rest = (r_high - r_first) + r_low;
  const vec whole = multiply_add(s.K, all_of(b.step_1), look_up(b.table, s.at));
  const vec most = r_first * b.scale_1, high = whole + most;
  const vec lost = (whole - high) + most;
  const vec low =
      lost + ((r_rest * b.scale + r_first * b.scale_2) + s.K * b.step_2);
  return high + (low + z * terms);
}

// The constants of a base by its prefix: tables in small letters, numbers in
// capitals.
#define LOG_BASE(PREFIX, prefix)                                            \
  (log_base) {                                                              \
    prefix##_close, prefix##_table, prefix##_terms, PREFIX##_STEP_1,        \
        PREFIX##_STEP_2, PREFIX##_SCALE, PREFIX##_SCALE_1, PREFIX##_SCALE_2 \
  }
// The kernels of a base, from its tables.
#define LOG_IN_BASE(PREFIX, prefix)                                            \
  TL_INLINE vec prefix##_inside(vec x, vec *farthest) {                        \
    return log_in_base(split_exponent(x, farthest), LOG_BASE(PREFIX, prefix)); \
  }                                                                            \
  TL_INLINE vec prefix##_anywhere(vec x) {                                     \
    return log_special(                                                        \
        x, log_in_base(split_anywhere(x), LOG_BASE(PREFIX, prefix)));          \
  }                                                                            \
  VECTOR_UNARY(prefix, float64, double, prefix##_inside, prefix##_anywhere,    \
               LIMIT)
LOG_IN_BASE(LOG2, log2)
LOG_IN_BASE(LOG10, log10)

// ---- of float32, from the same logarithm ------------------------------------

#define LOG2_E 1.44269504088896340736
#define LOG10_E 0.43429448190325182765

// float32 multiplies the natural logarithm, as double has digits enough.
TL_INLINE vec log2_inside_short(vec x, vec *farthest) {
  return log_inside_short(x, farthest) * LOG2_E;
}
// The special cases are those of the natural logarithm: 0, infinities and NaN
// stay what they are when multiplied.
TL_INLINE vec log2_anywhere_short(vec x) {
  return log_anywhere_short(x) * LOG2_E;
}
// The same for base 10.
TL_INLINE vec log10_inside_short(vec x, vec *farthest) {
  return log_inside_short(x, farthest) * LOG10_E;
}
TL_INLINE vec log10_anywhere_short(vec x) {
  return log_anywhere_short(x) * LOG10_E;
}

// log(1 + x), and the error of the sum, which is all there is of a small x.
// Has its sign, of zeros too.
TL_INLINE vec log1p_inside_short(vec x, vec *farthest) {
  const vec sum = x + 1;
  const vec y = log_inside_short(sum, farthest) + (x - (sum - 1));
  return (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN));
}
// Infinity less itself would be NaN, so it is given back as it came.
TL_INLINE vec log1p_anywhere_short(vec x) {
  const vec sum = x + 1;
  const vec y = log_anywhere_short(sum) + (x - (sum - 1));
  return vec_choose((vec_bits)(x < (double)INFINITY),
                    (vec)((vec_bits)y | ((vec_bits)x & VEC_SIGN)), x);
}

VECTOR_UNARY(log2, float32, float, log2_inside_short, log2_anywhere_short,
             LIMIT)
VECTOR_UNARY(log10, float32, float, log10_inside_short, log10_anywhere_short,
             LIMIT)
VECTOR_UNARY(log1p, float32, float, log1p_inside_short, log1p_anywhere_short,
             LIMIT)
