// Vectors of doubles, as wide as the instruction set has them, for formulas
// that look values up in small tables: compilers make no such vectors of loops.
//
// There is no guard, as a file that includes this does so once: what it says
// depends on the instruction set that the file is compiled for.
#ifdef __x86_64__
#ifdef __AVX2__
#include <immintrin.h>
#endif
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
typedef float vec_float __attribute__((vector_size(LANES * 4)));

TL_INLINE vec load_float64(const double *from) {
  vec x;
  memcpy(&x, from, sizeof x);
  return x;
}

TL_INLINE void store_float64(double *to, vec x) {
  memcpy(to, &x, sizeof x);
}

TL_INLINE vec load_float32(const float *from) {
  vec_float x;
  memcpy(&x, from, sizeof x);
  return __builtin_convertvector(x, vec);
}

TL_INLINE void store_float32(float *to, vec x) {
  const vec_float rounded = __builtin_convertvector(x, vec_float);
  memcpy(to, &rounded, sizeof rounded);
}

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

TL_INLINE vec_mask has_lowest_bit(vec_bits x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_test_epi64_mask((__m512i)x, _mm512_set1_epi64(1));
#else
  return 0 - (x & 1);
#endif
}

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

TL_INLINE vec choose_where(vec_mask mask, vec x, vec y) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_mask_blend_pd(mask, (__m512d)y, (__m512d)x);
#elif defined(__AVX2__)
  return (vec)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)mask);
#else
  return vec_choose(mask, x, y);
#endif
}

TL_INLINE vec halve_where(vec_mask mask, vec x) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_mask_mul_pd((__m512d)x, mask, (__m512d)x,
                                 _mm512_set1_pd(0.5));
#else
  // 1 less half where the mask is.
  return x * (vec)((vec_bits)all_of(1) - (mask & ((uint64_t)1 << 52)));
#endif
}

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

// table[index mod 16] of each lane.
TL_INLINE vec look_up(const double *table, vec_bits index) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (vec)_mm512_permutex2var_pd(_mm512_loadu_pd(table), (__m512i)index,
                                     _mm512_loadu_pd(table + 8));
#else
  index &= 15;
#ifdef __AVX2__
  return (vec){table[index[0]], table[index[1]], table[index[2]],
               table[index[3]]};
#else
  return (vec){table[index[0]], table[index[1]]};
#endif
#endif
}

// Whether a lane of x has one of these bits.
TL_INLINE bool has_bits(vec_bits x, uint64_t bits) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return _mm512_test_epi64_mask((__m512i)x,
                                _mm512_set1_epi64((long long)bits)) != 0;
#elif defined(__AVX2__)
  return !_mm256_testz_si256((__m256i)x, _mm256_set1_epi64x((long long)bits));
#else
  return ((x[0] | x[1]) & bits) != 0;
#endif
}

// void name(out, a, n) for items of a dtype: out[i] = inside(a[i]), two vectors
// at a time, so that one's latencies are filled by the other. Where a lane of
// *odd has a bit above the [even] ones, the pair and some items after it are
// computed by `anywhere`, which has the same result for what is inside, so that
// an item's bits do not depend on its neighbours'.
//
// The pairs are a function of their own, which calls nothing: its constants
// stay in registers. It returns how many items it did before odd ones.
enum { BEYOND = 16 * LANES };
#define VECTOR_UNARY(name, sfx, T, inside, anywhere, even)                     \
  static __attribute__((noinline))                                             \
  size_t name##_pairs_##sfx(T *to, const T *from, size_t n) {                  \
    size_t i = 0;                                                              \
    for (; n - i >= 2 * LANES; i += 2 * LANES) {                               \
      vec_bits odd = {0};                                                      \
      const vec first = inside(load_##sfx(from + i), &odd);                    \
      const vec second = inside(load_##sfx(from + i + LANES), &odd);           \
      if (__builtin_expect(has_bits(odd, ~(uint64_t)(even)), 0))               \
        break;                                                                 \
      store_##sfx(to + i, first);                                              \
      store_##sfx(to + i + LANES, second);                                     \
    }                                                                          \
    return i;                                                                  \
  }                                                                            \
  /* Fewer than two vectors, or up to BEYOND items with odd ones. */           \
  static __attribute__((noinline)) void name##_few_##sfx(T *to, const T *from, \
                                                         size_t n) {           \
    size_t i = 0;                                                              \
    for (; n - i >= LANES; i += LANES)                                         \
      store_##sfx(to + i, anywhere(load_##sfx(from + i)));                     \
    if (i == n)                                                                \
      return;                                                                  \
    T rest[LANES] = {0};                                                       \
    for (size_t j = 0; i + j < n; j++) rest[j] = from[i + j];                  \
    store_##sfx(rest, anywhere(load_##sfx(rest)));                             \
    for (size_t j = 0; i + j < n; j++) to[i + j] = rest[j];                    \
  }                                                                            \
  void TL_K(name##_##sfx)(void *out, const void *a, size_t n) {                \
    T *to = out;                                                               \
    const T *from = a;                                                         \
    for (size_t i = 0; i < n;) {                                               \
      i += name##_pairs_##sfx(to + i, from + i, n - i);                        \
      const size_t count = n - i < BEYOND ? n - i : BEYOND;                    \
      if (count > 0)                                                           \
        name##_few_##sfx(to + i, from + i, count);                             \
      i += count;                                                              \
    }                                                                          \
  }
