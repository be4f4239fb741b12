// Powers. Whole and half exponents of up to 1024 are products and roots of
// pairs of numbers, at most 0.501 ulp from the truth; others are 2^(y log2 x),
// at most 1 ulp. What an item gets depends on its own exponent alone, and all
// instruction sets give the same bits. What the formulas do not cover (roots of
// negative numbers, results next to the end of the range) the C library
// computes item by item.
#include "vm/kernels/vmath_parts.h"

#include "vm/kernels/vector.h"
#include "vm/kernels/generated/vmath_tables.h"
#include "vm/kernels/vmath_steps.h"

// ---- any exponent -----------------------------------------------------------

// A vector of numbers in two parts.
typedef struct pairs {
  vec high, low;
} pairs;

// x = 2^K m, where K is in steps of 1/32 and c m = 1 + r is next to 1.
typedef struct near_one {
  vec K;
  vec_bits at;
  vec r, rest;  // of two parts
} near_one;

// Splits x, which is positive and normal, by a table of reciprocals.
TL_INLINE near_one bring_near(vec x) {
  const uint64_t bias = UINT64_C(1024) << 52;  // nothing is negative
  const vec_bits above = (vec_bits)x + (bias - POWER_FIRST), at = above >> 47;
  const vec K = (vec)(at | 0x4330000000000000u) - (0x1p52 + 32 * 1024);
  const vec m = (vec)((above & 0x000fffffffffffffu) + POWER_FIRST);
  // 32 bits of m, and the others: both have exact products with c.
  const vec c = look_up_32(power_close, at);
  const vec m_high = (vec)((vec_bits)m & ~(uint64_t)0x1fffff);
  const vec high = multiply_add(m_high, c, all_of(-1)), low = (m - m_high) * c;
  const vec r = high + low;
  return (near_one){K, at, r, (high - r) + low};
}

// log2 x, to 2^-65 of itself: log(1 + r) = r - r^2/2 in two parts + ..., times
// log2 e. Of the sum with the table's the larger part, if any, is the table's.
TL_INLINE pairs log2_pair(vec x) {
  const near_one v = bring_near(x);
  const vec r = v.r, z = r * r, half = 0.5 * z;
  const double *t = power_terms;
  const vec terms = ((t[0] + r * t[1]) + z * (t[2] + r * t[3])) +
                    (z * z) * ((t[4] + r * t[5]) + z * (t[6] + r * t[7]));
  const vec w = r - half;
  const vec lost = ((r - w) - half) +
                   ((v.rest - v.rest * r) - 0.5 * lost_of_product(r, r, z));
  const vec w_low = lost + (r * z) * terms;
  const vec scale = all_of(POWER_SCALE), p = w * scale;
  const vec p_low = lost_of_product(w, scale, p) +
                    (w * POWER_SCALE_LOST + w_low * POWER_SCALE);
  const vec most = v.K * 0.03125 + look_up_32(power_table, v.at);
  const vec first = most + p;
  const vec rest =
      ((most - first) + p) + (p_low + look_up_32(power_table_lost, v.at));
  const vec high = first + rest;
  return (pairs){high, (first - high) + rest};
}

// 2^(y log2 x); infinity where that is not normal.
TL_INLINE vec other_power(vec x, vec y) {
  const pairs log = log2_pair(x);
  const vec high = y * log.high;
  const vec low = lost_of_product(y, log.high, high) + y * log.low;
  steps s = take_steps_of_2(high);
  s.r += low * STEPS_LN2;
  const vec power_of = power(s.k);
  const vec result = power_of + power_of * rest_float64(s);
  const vec size = (vec)((vec_bits)high & ~VEC_SIGN);
  return choose_where(is_less(size, 1021), result, all_of((double)INFINITY));
}

// Of float32: log2 x to 2^-36 of itself.
TL_INLINE vec other_power_short(vec x, vec y) {
  const near_one v = bring_near(x);
  const vec r = v.r, z = r * r;
  const double *t = power_terms_short;
  const vec terms = (t[0] + r * t[1]) + z * ((t[2] + r * t[3]) + z * t[4]);
  const vec most = v.K * 0.03125 + look_up_32(power_table, v.at);
  const vec log = most + (r * POWER_SCALE + z * terms);
  const vec product = at_most(y * log, 200);
  const steps s = take_steps_of_2(-at_most(-product, 200));
  const vec power_of = power(s.k);
  return power_of + power_of * rest_float32(s);
}

// Whether the formula holds: x is positive and normal, and the result neither
// subnormal nor infinite.
TL_INLINE bool power_holds(double x, double y, double result) {
  return x >= 0x1p-1022 && x < INFINITY && magnitude(y) < 0x1p64 &&
         result >= 0x1p-1021 && result < INFINITY;
}

// Float32 can only be too large or small for itself.
TL_INLINE bool power_holds_short(float x, float y) {
  return x > 0 && x < INFINITY && y < INFINITY && y > -INFINITY;
}

// Negative numbers have no powers that are not whole, and those of 0 are 0 or
// infinite: often many of the items, and so without the C library.
TL_INLINE bool is_broken_power(double x, double y) {
  const double size = magnitude(y);
  return (x <= 0) & (x > -(double)INFINITY) & (size < 0x1p51) &
         ((size + 0x1p52) - 0x1p52 != size);
}
TL_INLINE double broken_power(double x, double y) {
  return x < 0 ? (double)NAN : y > 0 ? 0 : (double)INFINITY;
}

// Some vectors at a time, as in vector.h: how many items.
enum { POWERS_TOGETHER = 4 };
// Runs a statement for each vector of an iteration, unrolled.
#define EACH_POWER TL_SPELL_OUT for (size_t v = 0; v < POWERS_TOGETHER; v++)
// Powers of any exponents, vectors at a time; items that the formula does not
// cover are set right by the C library in a second pass, if there are any.
#define OTHER_POWERS(sfx, T, Bits, formula, holds, libm)                    \
  static __attribute__((noinline))                                          \
  size_t turn_powers_##sfx(T *to, const T *x, const T *y, size_t n) {       \
    enum { TURN = POWERS_TOGETHER * LANES };                                \
    size_t i = 0;                                                           \
    for (; !TL_SMALL && n - i >= TURN; i += TURN) {                         \
      vec result[POWERS_TOGETHER];                                          \
      EACH_POWER result[v] = formula(load_##sfx(x + i + v * LANES),         \
                                     load_##sfx(y + i + v * LANES));        \
      EACH_POWER store_##sfx(to + i + v * LANES, result[v]);                \
    }                                                                       \
    return i;                                                               \
  }                                                                         \
  static void other_powers_##sfx(T *to, const T *x, const T *y, size_t n) { \
    T rest[2][LANES] = {{0}};                                               \
    for (size_t i = turn_powers_##sfx(to, x, y, n); i < n; i += LANES) {    \
      const T *base = x + i, *exponent = y + i;                             \
      T *put = to + i;                                                      \
      if (n - i < LANES) {                                                  \
        memcpy(rest[0], base, (n - i) * sizeof *x);                         \
        memcpy(rest[1], exponent, (n - i) * sizeof *y);                     \
        base = put = rest[0];                                               \
        exponent = rest[1];                                                 \
      }                                                                     \
      store_##sfx(put, formula(load_##sfx(base), load_##sfx(exponent)));    \
      if (put == rest[0])                                                   \
        memcpy(to + i, rest[0], (n - i) * sizeof *to);                      \
    }                                                                       \
    Bits odd = 0;                                                           \
    for (size_t i = 0; i < n; i++) odd |= !holds;                           \
    if (odd == 0)                                                           \
      return;                                                               \
    odd = 0;                                                                \
    for (size_t i = 0; i < n; i++) {                                        \
      const bool plain = is_broken_power(x[i], y[i]);                       \
      odd |= !holds & !plain;                                               \
      to[i] = plain ? (T)broken_power(x[i], y[i]) : to[i];                  \
    }                                                                       \
    for (size_t i = 0; odd != 0 && i < n; i++)                              \
      if (!holds && !is_broken_power(x[i], y[i]))                           \
        to[i] = libm;                                                       \
  }
OTHER_POWERS(float64, double, uint64_t, other_power,
             power_holds(x[i], y[i], to[i]), pow(x[i], y[i]))
OTHER_POWERS(float32, float, uint32_t, other_power_short,
             power_holds_short(x[i], y[i]),
             (float)pow((double)x[i], (double)y[i]))

// ---- whole and half exponents -----------------------------------------------

// Easy exponents: twice the exponent is whole and no larger than this.
// Ten squarings at most; beyond, most results are infinite or 0.
enum { EASY_TWICE = 2048 };

// Whether an exponent is; NaN and infinities are not. Adding and taking off
// 1.5 * 2^52 rounds to a whole number.
TL_INLINE bool is_easy(double y) {
  const double twice = y + y;
  return (magnitude(twice) <= EASY_TWICE) & ((twice + WHOLE) - WHOLE == twice);
}

// Whether any lane of a mask is set.
TL_INLINE bool any_lane(vec_bits mask) {
  uint64_t any = 0;
  for (int i = 0; i < LANES; i++) any |= mask[i];
  return any != 0;
}

// The product of pairs; the product of the low parts is too small to matter.
TL_INLINE pairs pairs_times(pairs a, pairs b) {
  const vec p = a.high * b.high;
  const vec lost =
      lost_of_product(a.high, b.high, p) + (a.high * b.low + a.low * b.high);
  const vec high = p + lost;
  return (pairs){high, (p - high) + lost};
}

// The root of a number as a pair.
TL_INLINE pairs pairs_root(vec x) {
  const vec root = vec_root(x), square = root * root;
  const vec rest = (x - square) - lost_of_product(root, root, square);
  return (pairs){root, rest / (root + root)};
}

// The reciprocal of a pair, rounded.
TL_INLINE vec pairs_inverse(pairs a) {
  const vec q = 1 / a.high, p = q * a.high;
  const vec rest = ((1 - p) - lost_of_product(q, a.high, p)) - q * a.low;
  return q + q * rest;
}

// x to the power of twice / 2 by squaring, all factors as pairs, so that the
// result is rounded once.
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

// x + 0 makes 0.0 of -0.0, whose root would be -0.0.
TL_INLINE float half_power_float32(float x) {
  return x == -INFINITY ? INFINITY : __builtin_sqrtf(x + 0);
}

// Of these the formulas hold everywhere.
TL_INLINE bool is_plain(int twice) {
  return twice == -2 || twice == 0 || twice == 2 || twice == 4;
}

// x to the power of -1, 0, 1 or 2; [twice] is the double of the exponent.
TL_INLINE vec plain_power(vec x, int twice) {
  return twice == -2 ? 1 / x : twice == 0 ? all_of(1) : twice == 2 ? x : x * x;
}

// x to an easy exponent, as pairs unless it is plain.
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

// The same with an exponent for each lane: squares of x are factors where the
// exponent has their bit.

// What there is among easy exponents: twice as much has [bits] bits at most.
typedef struct easy_span {
  int bits;
  bool halves, negatives;
} easy_span;

// All ones in the lanes where bit i is set.
TL_INLINE vec_bits lanes_with(vec_bits bits, int i) {
  return 0 - (bits >> i & 1);
}

// Twice the size of each exponent, a whole number, in the low bits.
TL_INLINE vec_bits twice_of(vec y) {
  const vec size = (vec)((vec_bits)y & ~VEC_SIGN);
  return (vec_bits)(size + size + VEC_WHOLE);
}

// x ** 0.5 as the functions of one number have it: of -0.0 it is 0.0, and of
// -inf inf.
TL_INLINE vec half_power(vec x) {
  return vec_choose((vec_bits)(x == -(double)INFINITY),
                    all_of((double)INFINITY), vec_root(x + 0));
}

// Powers whose formulas hold everywhere, and for the other exponents [y].
TL_INLINE vec plain_or(vec x, vec exponent, vec y, easy_span span) {
  if (span.negatives)
    y = vec_choose((vec_bits)(exponent == -1), 1 / x, y);
  y = vec_choose((vec_bits)(exponent == 0), all_of(1), y);
  if (span.halves)
    y = vec_choose((vec_bits)(exponent == 0.5), half_power(x), y);
  y = vec_choose((vec_bits)(exponent == 1), x, y);
  return vec_choose((vec_bits)(exponent == 2), x * x, y);
}

// Pairs start from 1, whose product with the first factor is that factor: so
// the result has the bits of easy_power.
TL_INLINE vec easy_lanes_float64(vec x, vec y, easy_span span) {
  const vec_bits twice = twice_of(y), half = lanes_with(twice, 0);
  pairs result = {all_of(1), all_of(0)};
  pairs base = {x, all_of(0)};
  if (span.halves) {
    const pairs root = pairs_root(x);
    result.high = vec_choose(half, root.high, result.high);
    result.low = vec_choose(half, root.low, result.low);
  }
  for (int i = 1; i < span.bits; i++) {
    const vec_bits factor = lanes_with(twice, i);
    const pairs product = pairs_times(result, base);
    result.high = vec_choose(factor, product.high, result.high);
    result.low = vec_choose(factor, product.low, result.low);
    base = pairs_times(base, base);
  }
  vec z = result.high;
  if (span.negatives)
    z = vec_choose((vec_bits)(y < 0), pairs_inverse(result), z);
  return plain_or(x, y, z, span);
}

// Likewise the bits of easy_float32.
TL_INLINE vec easy_lanes_float32(vec x, vec y, easy_span span) {
  const vec_bits twice = twice_of(y), half = lanes_with(twice, 0);
  vec result = all_of(1), base = x;
  if (span.halves) {
    // As pow has it, -0 and -inf have roots.
    const vec end = vec_choose((vec_bits)(x == -(double)INFINITY),
                               all_of((double)INFINITY), x + 0);
    result = vec_choose(half, vec_root(end), result);
    base = vec_choose(half, end, base);
  }
  for (int i = 1; i < span.bits; i++) {
    result = vec_choose(lanes_with(twice, i), result * base, result);
    base = base * base;
  }
  if (span.negatives)
    result = vec_choose((vec_bits)(y < 0), 1 / result, result);
  return plain_or(x, y, result, span);
}

// An item whose pairs lose digits, at the ends of the range, by the C library.
TL_INLINE double settled_float64(double power_of, double x, double y) {
  const int twice = (int)(y + y);
  return is_plain(twice) || twice == 1 ||
                 (easy_holds(x) && easy_holds(power_of))
             ? power_of
             : pow(x, y);
}

// The lanes of which that is known: whose results stay as they are.
TL_INLINE vec_bits are_settled_float64(vec power_of, vec x, vec y) {
  const vec size = (vec)((vec_bits)x & ~VEC_SIGN);
  const vec result = (vec)((vec_bits)power_of & ~VEC_SIGN);
  return (vec_bits)(y == -1) | (vec_bits)(y == 0) | (vec_bits)(y == 0.5) |
         (vec_bits)(y == 1) | (vec_bits)(y == 2) |
         ((vec_bits)(size > 0x1p-900) & (vec_bits)(size < 0x1p900) &
          (vec_bits)(result > 0x1p-900) & (vec_bits)(result < 0x1p900));
}

// Double has range enough for every float32.
TL_INLINE vec_bits are_settled_float32(vec power_of, vec x, vec y) {
  (void)power_of, (void)x;
  return (vec_bits)(y == y);
}
TL_INLINE float settled_float32(float power_of, float x, float y) {
  (void)x, (void)y;
  return power_of;
}

// The same of items with one exponent.
static void settle_float64(double *to, const double *x, double y, size_t n) {
  if (is_plain((int)(y + y)))
    return;
  uint64_t odd = 0;
  for (size_t i = 0; i < n; i++)
    odd |= ~all_if(easy_holds(x[i])) | ~all_if(easy_holds(to[i]));
  for (size_t i = 0; odd != 0 && i < n; i++)
    to[i] = settled_float64(to[i], x[i], y);
}

// Nothing to do.
static void settle_float32(float *to, const float *x, float y, size_t n) {
  (void)to, (void)x, (void)y, (void)n;
}

// ---- both -------------------------------------------------------------------

// easy_block: all to the power [y], which is easy. easy_items: items with easy
// exponents, which are gathered from among others. An easy exponent gives the
// same bits wherever it stands. The kernel's target may be an operand, so
// results go through a block of their own.
#define POWERS(sfx, T, Bits)                                                  \
  static void easy_block_##sfx(T *to, const T *x, T y, size_t n) {            \
    const int twice = (int)(y + y);                                           \
    if (twice == 1) {                                                         \
      TL_LOOP for (size_t i = 0; i < n; i++) to[i] = half_power_##sfx(x[i]);  \
      return;                                                                 \
    }                                                                         \
    T rest[LANES] = {0}, *put = to;                                           \
    const T *from = x;                                                        \
    for (size_t i = 0; i < n; i += LANES) {                                   \
      if (n - i >= LANES) {                                                   \
        from = x + i;                                                         \
        put = to + i;                                                         \
      } else {                                                                \
        memcpy(rest, x + i, (n - i) * sizeof *x);                             \
        from = put = rest;                                                    \
      }                                                                       \
      store_##sfx(put, easy_##sfx(load_##sfx(from), twice));                  \
    }                                                                         \
    if (put == rest)                                                          \
      memcpy(to + n / LANES * LANES, rest, n % LANES * sizeof *to);           \
    settle_##sfx(to, x, y, n);                                                \
  }                                                                           \
  /* Of n exponents, all easy, and so many lanes fill a vector. */            \
  static easy_span easy_span_##sfx(const T *y, size_t n) {                    \
    vec most = all_of(0);                                                     \
    vec_bits halves = {0}, negatives = {0};                                   \
    for (size_t i = 0; i < n; i += LANES) {                                   \
      const vec some = load_##sfx(y + i);                                     \
      const vec size = (vec)((vec_bits)some & ~VEC_SIGN);                     \
      most = vec_choose((vec_bits)(size > most), size, most);                 \
      halves |= (vec_bits)((size + WHOLE) - WHOLE != size);                   \
      negatives |= (vec_bits)(some < 0);                                      \
    }                                                                         \
    double largest = 0;                                                       \
    for (int i = 0; i < LANES; i++)                                           \
      largest = most[i] > largest ? most[i] : largest;                        \
    return (easy_span){                                                       \
        largest == 0 ? 0 : 32 - __builtin_clz((unsigned)(largest * 2)),       \
        any_lane(halves), any_lane(negatives)};                               \
  }                                                                           \
  static bool all_equal_##sfx(const T *x, size_t n) {                         \
    Bits others = 0;                                                          \
    for (size_t i = 0; i < n; i++) others |= !(x[i] == x[0]);                 \
    return others == 0;                                                       \
  }                                                                           \
  /* The places of items with easy exponents; returns how many. */            \
  static size_t find_easy_##sfx(uint16_t *place, const T *y, size_t n) {      \
    uint8_t easy[VMATH_BLOCK];                                                \
    size_t count = 0;                                                         \
    for (size_t i = 0; i < n; i++) easy[i] = is_easy((double)y[i]);           \
    for (size_t i = 0; i < n; i++) {                                          \
      place[count] = (uint16_t)i;                                             \
      count += easy[i];                                                       \
    }                                                                         \
    return count;                                                             \
  }                                                                           \
  /* Of the items at [count] places. */                                       \
  static void easy_items_##sfx(T *to, const T *x, const T *y,                 \
                               const uint16_t *place, size_t count) {         \
    T base[VMATH_BLOCK], exponent[VMATH_BLOCK], powers[LANES];                \
    for (size_t i = 0; i < count || i % LANES != 0; i++) {                    \
      base[i] = x[place[i < count ? i : 0]];                                  \
      exponent[i] = y[place[i < count ? i : 0]];                              \
    }                                                                         \
    const easy_span span = easy_span_##sfx(exponent, count);                  \
    for (size_t i = 0; i < count; i += LANES) {                               \
      const vec b = load_##sfx(base + i), e = load_##sfx(exponent + i);       \
      const vec power_of = easy_lanes_##sfx(b, e, span);                      \
      const bool settled = !any_lane(~are_settled_##sfx(power_of, b, e));     \
      store_##sfx(powers, power_of);                                          \
      for (size_t k = 0; k < LANES && i + k < count; k++)                     \
        to[place[i + k]] =                                                    \
            settled ? powers[k]                                               \
                    : settled_##sfx(powers[k], base[i + k], exponent[i + k]); \
    }                                                                         \
  }                                                                           \
  static void pow_block_##sfx(T *to, const T *x, const T *y, size_t n) {      \
    const bool one_exponent = all_equal_##sfx(y, n);                          \
    if (one_exponent && is_easy((double)y[0])) {                              \
      easy_block_##sfx(to, x, y[0], n);                                       \
      return;                                                                 \
    }                                                                         \
    uint16_t place[VMATH_BLOCK];                                              \
    const size_t count = one_exponent ? 0 : find_easy_##sfx(place, y, n);     \
    if (count < n)                                                            \
      other_powers_##sfx(to, x, y, n);                                        \
    if (count > 0)                                                            \
      easy_items_##sfx(to, x, y, place, count);                               \
  }                                                                           \
  void TL_K(pow_##sfx)(void *out, const void *a, const void *b, size_t n) {   \
    T *to = out, result[VMATH_BLOCK];                                         \
    const T *x = a, *y = b;                                                   \
    for (size_t at = 0; at < n; at += VMATH_BLOCK) {                          \
      const size_t count = n - at < VMATH_BLOCK ? n - at : VMATH_BLOCK;       \
      pow_block_##sfx(result, x + at, y + at, count);                         \
      memcpy(to + at, result, count * sizeof *to);                            \
    }                                                                         \
  }

POWERS(float64, double, uint64_t)
POWERS(float32, float, uint32_t)
