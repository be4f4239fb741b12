// Vectors of doubles, as wide as the instruction set has them, for formulas
// that look values up in small tables: compilers make no such vectors of
// loops.
//
// There is no include guard, as a file that includes this does so once: its
// content depends on the instruction set that the file is compiled for. Every
// function has the same result in each set; where a set lacks an instruction,
// the plain form below it computes the same bits. Files use VECTOR_UNARY at
// the end to make kernels of a formula.
#ifdef __SSE2__
#include <immintrin.h>
#endif

#if defined(__AVX512F__) && defined(__AVX512DQ__)
enum { LANES = 8 };
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif

typedef double vec __attribute__((vector_size(LANES * 8)));
typedef uint64_t vec_bits __attribute__((vector_size(LANES * 8)));
typedef int64_t vec_integers __attribute__((vector_size(LANES * 8)));
typedef float vec_float __attribute__((vector_size(LANES * 4)));

// LANES items from any address; float32 are widened.
TL_INLINE vec load_float64(const double *from) {
  vec x;
  memcpy(&x, from, sizeof x);
  return x;
}

// The same back; float32 are rounded.
TL_INLINE void store_float64(double *to, vec x) {
  memcpy(to, &x, sizeof x);
}

// float32 is computed in double, whose digits make up for the formula's error.
TL_INLINE vec load_float32(const float *from) {
  vec_float x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, vec);
}

// The only rounding to the items' own precision.
TL_INLINE void store_float32(float *to, vec x) {
  const vec_float rounded = __builtin_convertvector(x, vec_float);
  memcpy(to, &rounded, sizeof rounded);
}

// A vector of one number. Subtracting zeros broadcasts in all compilers.
TL_INLINE vec all_of(double x) {
  return x - (vec){0};
}

// `mask` is all ones or all zeros in each lane.
TL_INLINE vec vec_choose(vec_bits mask, vec x, vec y) {
  return (vec)(((vec_bits)x & mask) | ((vec_bits)y & ~mask));
}

// A choice for each lane, made once and used where the next functions stand.
#if defined(__AVX512F__) && defined(__AVX512DQ__)
typedef __mmask8 vec_mask;
#else
typedef vec_bits vec_mask;
#endif

// Where the lowest bit is set.
TL_INLINE vec_mask has_lowest_bit(vec_bits x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_test_epi64_mask((__m512i)x, _mm512_set1_epi64(1));
#else
  return 0 - (x & 1);
#endif
}

// Where x is below the limit; not for NaN.
TL_INLINE vec_mask is_less(vec x, double limit) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_LT_OQ);
#else
  return (vec_bits)(x < limit);
#endif
}

// The smaller one; NaN stays NaN.
TL_INLINE vec at_most(vec x, double limit) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_min_pd(_mm512_set1_pd(limit), (__m512d)x);
#elif defined(__AVX2__)
  return (vec)_mm256_min_pd(_mm256_set1_pd(limit), (__m256d)x);
#else
  return vec_choose((vec_bits)(x > limit), all_of(limit), x);
#endif
}

// x where the mask is, else y.
TL_INLINE vec choose_where(vec_mask mask, vec x, vec y) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_mask_blend_pd(mask, (__m512d)y, (__m512d)x);
#elif defined(__AVX2__)
  return (vec)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)mask);
#else
  return vec_choose(mask, x, y);
#endif
}

// Half of x where the mask is, exactly; else x.
TL_INLINE vec halve_where(vec_mask mask, vec x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_mask_mul_pd((__m512d)x, mask, (__m512d)x,
                                 _mm512_set1_pd(0.5));
#else
  // 1 less half where the mask is.
  return x * (vec)((vec_bits)all_of(1) - (mask & ((uint64_t)1 << 52)));
#endif
}

// The sign bit of a lane.
#define VEC_SIGN 0x8000000000000000u

// Adding it rounds numbers below 2^51 to whole ones, which then are in the low
// bits: no instruction set needs to convert.
#define VEC_WHOLE 0x1.8p52
#define VEC_WHOLE_BITS 0x4338000000000000u

// a b + c where a b is exact, so that it is the same fused or not.
TL_INLINE vec multiply_add(vec a, vec b, vec c) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__) && defined(__FMA__)
  return (vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

// What rounding took from p = a b, exactly, unless it leaves the normal numbers
// (Dekker, by halves of 26 bits, where nothing is fused).
TL_INLINE vec lost_of_product(vec a, vec b, vec p) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)p);
#elif defined(__AVX2__) && defined(__FMA__)
  return (vec)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)p);
#elif defined(__FP_FAST_FMA)
  for (int i = 0; i < LANES; i++) p[i] = __builtin_fma(a[i], b[i], -p[i]);
  return p;
#else
  const uint64_t round = UINT64_C(1) << 26, low_half = (UINT64_C(1) << 27) - 1;
  const vec a_high = (vec)(((vec_bits)a + round) & ~low_half);
  const vec b_high = (vec)(((vec_bits)b + round) & ~low_half);
  const vec a_low = a - a_high, b_low = b - b_high;
  return (((a_high * b_high - p) + a_high * b_low) + a_low * b_high) +
         a_low * b_low;
#endif
}

// The square root of each lane, correctly rounded.
TL_INLINE vec vec_root(vec x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
  return (vec)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
  return (vec)_mm_sqrt_pd((__m128d)x);
#else
  for (int i = 0; i < LANES; i++) x[i] = __builtin_sqrt(x[i]);
  return x;
#endif
}

// 1 - 2 s s where the mask is, rounded once; s elsewhere. |s| is below 1/2.
TL_INLINE vec cosine_where(vec_mask mask, vec s) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_mask_fmadd_pd((__m512d)s, mask, (__m512d)(s * -2),
                                   _mm512_set1_pd(1));
#elif defined(__AVX2__) && defined(__FMA__)
  return choose_where(
      mask,
      (vec)_mm256_fmadd_pd((__m256d)s, (__m256d)(s * -2), _mm256_set1_pd(1)),
      s);
#elif defined(__FP_FAST_FMA)
  for (int i = 0; i < LANES; i++)
    if (mask[i] != 0)
      s[i] = __builtin_fma(s[i], s[i] * -2, 1);
  return s;
#else
  // s s = p + e exactly (Dekker), and so 1 - 2 s s = most + d - 2 e.
  const vec high = (vec)(((vec_bits)s + (1 << 26)) & ~(uint64_t)0x7ffffff);
  const vec low = s - high, p = s * s;
  const vec e = ((high * high - p) + (high + high) * low) + low * low;
  const vec twice = p + p, most = 1 - twice, d = (1 - most) - twice;
  const vec rest = d - (e + e), lost = (d - rest) - (e + e);
  // Halfway between two numbers, what `rest` lost to rounding decides.
  const vec_bits halfway =
      (vec_bits)((vec)((vec_bits)rest & ~VEC_SIGN) == 0x1p-54) &
      (vec_bits)(lost != 0);
  const vec nudge =
      (vec)(((vec_bits)lost & VEC_SIGN) | (vec_bits)all_of(0x1p-60));
  return choose_where(mask, most + (rest + (vec)((vec_bits)nudge & halfway)),
                      s);
#endif
}

// table[index] of each lane, of two or four.
TL_INLINE vec each_of(const double *table, vec_bits index) {
#ifdef __AVX2__
  return (vec){table[index[0]], table[index[1]], table[index[2]],
               table[index[3]]};
#else
  return (vec){table[index[0]], table[index[1]]};
#endif
}

// table[index mod 16] of each lane.
TL_INLINE vec look_up(const double *table, vec_bits index) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)index,
                                     _mm512_loadu_pd(table + 8));
#else
  return each_of(table, index & 15);
#endif
}

// table[index mod 32] of each lane.
TL_INLINE vec look_up_32(const double *table, vec_bits index) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  const __mmask8 upper =
      _mm512_test_epi64_mask((__m512i)index, _mm512_set1_epi64(16));
  return choose_where(upper, look_up(table + 16, index), look_up(table, index));
#else
  return each_of(table, index & 31);
#endif
}

// Keeps in *farthest the largest |k| that it was called with, lane by lane;
// NaN is passed over.
TL_INLINE void note_distance(vec k, vec *farthest) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  *farthest = (vec)_mm512_range_pd((__m512d)k, (__m512d)*farthest, 0xb);
#else
  const vec distance = (vec)((vec_bits)k & ~VEC_SIGN);
#if defined(__AVX2__)
  *farthest = (vec)_mm256_max_pd((__m256d)distance, (__m256d)*farthest);
#elif defined(__SSE2__)
  *farthest = (vec)_mm_max_pd((__m128d)distance, (__m128d)*farthest);
#else
  *farthest = vec_choose((vec_bits)(distance > *farthest), distance, *farthest);
#endif
#endif
}

// Whether a lane of x is above the limit.
TL_INLINE bool any_beyond(vec x, double limit) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(limit), _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_pd((__m256d)(x > limit)) != 0;
#else
  return x[0] > limit || x[1] > limit;
#endif
}

// How many vectors an iteration computes, so that their latencies overlap.
enum { TOGETHER = 4 };
// Runs a statement for each vector of an iteration, unrolled.
#define EACH_VECTOR TL_SPELL_OUT for (size_t v = 0; v < TOGETHER; v++)

// void name(out, a, n) for items of a dtype: out[i] = inside(a[i]), some
// vectors at a time. Where a lane of *farthest is above the limit, these and
// some items after them are computed by `anywhere`, which has the same result
// for what is inside, so that an item's bits do not depend on its neighbours'.
//
// The main loop is a function of its own, which calls nothing: its constants
// stay in registers. It returns how many items it did before those.
enum { STEP = TOGETHER * LANES, BEYOND = 16 * LANES };
#define VECTOR_UNARY(name, sfx, T, inside, anywhere, limit)                    \
  static __attribute__((noinline))                                             \
  size_t name##_most_##sfx(T *to, const T *from, size_t n) {                   \
    size_t i = 0;                                                              \
    for (; n - i >= STEP; i += STEP) {                                         \
      vec farthest = {0};                                                      \
      vec y[TOGETHER];                                                         \
      EACH_VECTOR y[v] = inside(load_##sfx(from + i + v * LANES), &farthest);  \
      if (__builtin_expect(any_beyond(farthest, limit), 0))                    \
        break;                                                                 \
      EACH_VECTOR store_##sfx(to + i + v * LANES, y[v]);                       \
    }                                                                          \
    return i;                                                                  \
  }                                                                            \
  /* Fewer than a turn has, or up to BEYOND items with some beyond. */         \
  static __attribute__((noinline)) void name##_few_##sfx(T *to, const T *from, \
                                                         size_t n) {           \
    T rest[LANES] = {0};                                                       \
    for (size_t i = 0; i < n; i += LANES) {                                    \
      const size_t left = n - i < LANES ? n - i : LANES;                       \
      vec y;                                                                   \
      if (left == 1) {                                                         \
        for (size_t j = 0; j < LANES; j++) y[j] = (double)from[i];             \
      } else {                                                                 \
        for (size_t j = 0; left < LANES && j < left; j++) rest[j] = from[i + j];\
        y = load_##sfx(left < LANES ? rest : from + i);                        \
      }                                                                        \
      y = anywhere(y);                                                         \
      if (left == LANES) {                                                     \
        store_##sfx(to + i, y);                                                \
        continue;                                                              \
      }                                                                        \
      store_##sfx(rest, y);                                                    \
      for (size_t j = 0; j < left; j++) to[i + j] = rest[j];                   \
    }                                                                          \
  }                                                                            \
  void TL_K(name##_##sfx)(void *out, const void *a, size_t n) {                \
    T *to = out;                                                               \
    const T *from = a;                                                         \
    for (size_t i = 0; i < n;) {                                               \
      if (!TL_SMALL && n - i >= STEP)                                          \
        i += name##_most_##sfx(to + i, from + i, n - i);                       \
      const size_t count = TL_SMALL || n - i < BEYOND ? n - i : BEYOND;        \
      if (count > 0)                                                           \
        name##_few_##sfx(to + i, from + i, count);                             \
      i += count;                                                              \
    }                                                                          \
  }
