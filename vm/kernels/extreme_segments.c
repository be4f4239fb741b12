// Smallest and largest items of rows of different lengths, and where they are,
// with the bits that each row alone gives. As many rows as a register has items
// are compared side by side: neighbours meet first, then pairs of them, so that
// the first of equals stays as where items meet one by one. Lanes of longer
// rows meet by halves, as those of one row alone, and then what is behind them.
// Eight rows among which there is a NaN are left to the kernels of one.
#include "vm/kernels/segments.h"

#ifdef SEGMENTS_TOGETHER
// WIDE, SHORT: the items of a register of 8 and 4 bytes, no more than eight.
#if SEGMENT_MASKS
#define WIDE 8
#define SHORT 8
#elif defined(__AVX2__)
#define WIDE 4
#define SHORT 8
#else
#define WIDE 2
#define SHORT 4
#endif
typedef double float64_some __attribute__((vector_size(WIDE * 8)));
typedef int64_t int64_some __attribute__((vector_size(WIDE * 8)));
typedef int64_t float64_mask __attribute__((vector_size(WIDE * 8)));
typedef int64_t int64_mask __attribute__((vector_size(WIDE * 8)));
typedef float float32_some __attribute__((vector_size(SHORT * 4)));
typedef int32_t float32_mask __attribute__((vector_size(SHORT * 4)));

SEGMENT_ITEMS(float32_items, float, float32_some, int32_t, __m256,
              _mm256_mask_loadu_ps)
SEGMENT_ITEMS(float64_items, double, float64_some, int64_t, __m512d,
              _mm512_mask_loadu_pd)
SEGMENT_ITEMS(int64_items, int64_t, int64_some, int64_t, __m512i,
              _mm512_mask_loadu_epi64)

// JOIN_n: how vectors x[0] to x[n - 1] of n items meet, by STEP(…, i, k, left,
// right): x[i] becomes what stays of items of x[i] and x[k], the left ones and
// those on their right. Last, x[0] has the rows' results in their order.
#define LEFT_2(x, y) SEGMENT_PICK(x, y, 0, 2)
#define RIGHT_2(x, y) SEGMENT_PICK(x, y, 1, 3)
#define JOIN_2(STEP, sfx, beats) STEP(sfx, beats, 0, 1, LEFT_2, RIGHT_2)

#define LEFT_4(x, y) SEGMENT_PICK(x, y, 0, 4, 2, 6)
#define RIGHT_4(x, y) SEGMENT_PICK(x, y, 1, 5, 3, 7)
#define LEFT_PAIRS_4(x, y) SEGMENT_PICK(x, y, 0, 1, 4, 5)
#define RIGHT_PAIRS_4(x, y) SEGMENT_PICK(x, y, 2, 3, 6, 7)
#define JOIN_4(STEP, sfx, beats)          \
  STEP(sfx, beats, 0, 1, LEFT_4, RIGHT_4) \
  STEP(sfx, beats, 2, 3, LEFT_4, RIGHT_4) \
  STEP(sfx, beats, 0, 2, LEFT_PAIRS_4, RIGHT_PAIRS_4)

#define LEFT_8(x, y) SEGMENT_PICK(x, y, 0, 8, 2, 10, 4, 12, 6, 14)
#define RIGHT_8(x, y) SEGMENT_PICK(x, y, 1, 9, 3, 11, 5, 13, 7, 15)
#define LEFT_PAIRS_8(x, y) SEGMENT_PICK(x, y, 0, 1, 8, 9, 4, 5, 12, 13)
#define RIGHT_PAIRS_8(x, y) SEGMENT_PICK(x, y, 2, 3, 10, 11, 6, 7, 14, 15)
#define LEFT_FOURS_8(x, y) SEGMENT_PICK(x, y, 0, 1, 2, 3, 8, 9, 10, 11)
#define RIGHT_FOURS_8(x, y) SEGMENT_PICK(x, y, 4, 5, 6, 7, 12, 13, 14, 15)
#define JOIN_8(STEP, sfx, beats)                      \
  STEP(sfx, beats, 0, 1, LEFT_8, RIGHT_8)             \
  STEP(sfx, beats, 2, 3, LEFT_8, RIGHT_8)             \
  STEP(sfx, beats, 4, 5, LEFT_8, RIGHT_8)             \
  STEP(sfx, beats, 6, 7, LEFT_8, RIGHT_8)             \
  STEP(sfx, beats, 0, 2, LEFT_PAIRS_8, RIGHT_PAIRS_8) \
  STEP(sfx, beats, 4, 6, LEFT_PAIRS_8, RIGHT_PAIRS_8) \
  STEP(sfx, beats, 0, 4, LEFT_FOURS_8, RIGHT_FOURS_8)

// The same where halves meet first, then fourths.
#define JOIN_HALVES_2(STEP, sfx, beats) JOIN_2(STEP, sfx, beats)
#define JOIN_HALVES_4(STEP, sfx, beats)               \
  STEP(sfx, beats, 0, 2, LEFT_PAIRS_4, RIGHT_PAIRS_4) \
  STEP(sfx, beats, 1, 3, LEFT_PAIRS_4, RIGHT_PAIRS_4) \
  STEP(sfx, beats, 0, 1, LEFT_4, RIGHT_4)
#define LEFT_TWOS_8(x, y) SEGMENT_PICK(x, y, 0, 1, 4, 5, 8, 9, 12, 13)
#define RIGHT_TWOS_8(x, y) SEGMENT_PICK(x, y, 2, 3, 6, 7, 10, 11, 14, 15)
#define JOIN_HALVES_8(STEP, sfx, beats)               \
  STEP(sfx, beats, 0, 2, LEFT_FOURS_8, RIGHT_FOURS_8) \
  STEP(sfx, beats, 4, 6, LEFT_FOURS_8, RIGHT_FOURS_8) \
  STEP(sfx, beats, 1, 3, LEFT_FOURS_8, RIGHT_FOURS_8) \
  STEP(sfx, beats, 5, 7, LEFT_FOURS_8, RIGHT_FOURS_8) \
  STEP(sfx, beats, 0, 4, LEFT_TWOS_8, RIGHT_TWOS_8)   \
  STEP(sfx, beats, 1, 5, LEFT_TWOS_8, RIGHT_TWOS_8)   \
  STEP(sfx, beats, 0, 1, LEFT_8, RIGHT_8)

#define CHOOSE(type, mask, moves, x, y) \
  (type)(((mask)(x) & (moves)) | ((mask)(y) & ~(moves)))

// What stays of x and of y, which comes after it, in x.
#define MEET(sfx, beats, x, y)                       \
  {                                                  \
    const sfx##_mask moves = y beats x;              \
    x = CHOOSE(sfx##_some, sfx##_mask, moves, y, x); \
  }

#define STEP(sfx, beats, i, k, LEFT, RIGHT)                        \
  {                                                                \
    sfx##_some left = LEFT(x[i], x[k]), right = RIGHT(x[i], x[k]); \
    MEET(sfx, beats, left, right)                                  \
    x[i] = left;                                                   \
  }

#define HAS_NONE(sfx)                                                          \
  TL_INLINE bool sfx##_has_none(const sfx##_mask *found) {                     \
    int64_t words[sizeof *found / 8], any = 0;                                 \
    memcpy(words, found, sizeof words);                                        \
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) any |= words[i]; \
    return any == 0;                                                           \
  }
HAS_NONE(float32)
HAS_NONE(float64)
HAS_NONE(int64)

// Whether one of so many items is equal to one, and which is the first.
#if SEGMENT_MASKS
enum { AT_ONCE = SEGMENT_ROWS };
#define EQUALS(sfx, T, test)                                  \
  TL_INLINE unsigned sfx##_any_equal(const T *items, T one) { \
    sfx##_some x;                                             \
    memcpy(&x, items, sizeof x);                              \
    const sfx##_mask equal = x == one;                        \
    return test;                                              \
  }                                                           \
  TL_INLINE int sfx##_first_equal(const T *items, T one) {    \
    return __builtin_ctz(sfx##_any_equal(items, one));        \
  }
EQUALS(float32, float, _mm256_test_epi32_mask((__m256i)equal, (__m256i)equal))
EQUALS(float64, double, _mm512_test_epi64_mask((__m512i)equal, (__m512i)equal))
EQUALS(int64, int64_t, _mm512_test_epi64_mask((__m512i)equal, (__m512i)equal))
#else
enum { AT_ONCE = SEGMENT_LANES };
#define EQUALS(sfx, T)                                                      \
  TL_INLINE bool sfx##_any_equal(const T *items, T one) {                   \
    sfx##_mask equal = {0};                                                 \
    for (size_t k = 0; k < SEGMENT_LANES; k += sizeof equal / sizeof one) { \
      sfx##_some x;                                                         \
      memcpy(&x, items + k, sizeof x);                                      \
      equal |= x == one;                                                    \
    }                                                                       \
    return !sfx##_has_none(&equal);                                         \
  }                                                                         \
  TL_INLINE int sfx##_first_equal(const T *items, T one) {                  \
    int k = 0;                                                              \
    while (items[k] != one) k++;                                            \
    return k;                                                               \
  }
EQUALS(float32, float)
EQUALS(float64, double)
EQUALS(int64, int64_t)
#endif

// As many rows as W, from the i-th on. False: there is a NaN.
#define SOME_ROWS(name, sfx, T, W, beats, FILL)                               \
  /* The lanes of whole turns of a row, of at least one. */                   \
  TL_INLINE void name##_lanes_##sfx(sfx##_some *out, sfx##_mask *nan,         \
                                    const T *row, uint32_t turns) {           \
    enum { N = SEGMENT_LANES / W };                                           \
    sfx##_some x[N], y;                                                       \
    sfx##_mask none = {0};                                                    \
    memcpy(x, row, sizeof x);                                                 \
    for (int k = 0; k < N; k++) none |= x[k] != x[k];                         \
    for (; turns > 1; turns--) {                                              \
      row += SEGMENT_LANES;                                                   \
      TL_SPELL_OUT                                                            \
      for (int k = 0; k < N; k++) {                                           \
        memcpy(&y, row + k * W, sizeof y);                                    \
        none |= y != y;                                                       \
        MEET(sfx, beats, x[k], y)                                             \
      }                                                                       \
    }                                                                         \
    for (int half = N / 2; half > 0; half /= 2)                               \
      for (int k = 0; k < half; k++) MEET(sfx, beats, x[k], x[k + half])      \
    *nan |= none;                                                             \
    *out = x[0];                                                              \
  }                                                                           \
  TL_INLINE void name##_load_##sfx(                                           \
      sfx##_some *x, sfx##_mask *nan, const T *items, int64_t first,          \
      const int64_t *at, const uint32_t *n, int from) {                       \
    TL_SPELL_OUT                                                              \
    for (int i = 0; i < W; i++) {                                             \
      sfx##_items(&x[i], items + (at[i] - first), n[i], from, FILL);          \
      *nan |= x[i] != x[i];                                                   \
    }                                                                         \
  }                                                                           \
  /* Some of them have more than SEGMENT_LANES items. */                      \
  static void name##_of_long_##sfx(T *out, sfx##_mask *nan, const T *items,   \
                                   int64_t first, const int64_t *at,          \
                                   const uint32_t *n) {                       \
    sfx##_some x[W], best;                                                    \
    int64_t rest[W];                                                          \
    uint32_t left[W];                                                         \
    int most = 0;                                                             \
    for (int i = 0; i < W; i++) {                                             \
      const T *row = items + (at[i] - first);                                 \
      const uint32_t turns = n[i] / SEGMENT_LANES;                            \
      x[i] = FILL - (sfx##_some){0};                                          \
      if (turns > 0)                                                          \
        name##_lanes_##sfx(&x[i], nan, row, turns);                           \
      rest[i] = at[i] + turns * SEGMENT_LANES;                                \
      left[i] = n[i] % SEGMENT_LANES;                                         \
      most = (int)left[i] > most ? (int)left[i] : most;                       \
    }                                                                         \
    JOIN_HALVES_##W(STEP, sfx, beats) best = x[0];                            \
    for (int from = 0; from < most; from += W) {                              \
      name##_load_##sfx(x, nan, items, first, rest, left, from);              \
      JOIN_##W(STEP, sfx, beats) MEET(sfx, beats, best, x[0])                 \
    }                                                                         \
    memcpy(out, &best, sizeof best);                                          \
  }                                                                           \
  static bool name##_of_eight_##sfx(T *out, const T *items, int64_t first,    \
                                    const int64_t *at,                        \
                                    const segment_group *r) {                 \
    sfx##_mask nan = {0};                                                     \
    for (int i = 0; i < SEGMENT_ROWS; i += W) {                               \
      if (r->most > SEGMENT_LANES) {                                          \
        name##_of_long_##sfx(out + i, &nan, items, first, at + i, r->n + i);  \
        continue;                                                             \
      }                                                                       \
      sfx##_some x[W], best = FILL - (sfx##_some){0};                         \
      for (int from = 0; from < r->quarters * SEGMENT_ROWS; from += W) {      \
        name##_load_##sfx(x, &nan, items, first, at + i, r->n + i, from);     \
        JOIN_##W(STEP, sfx, beats) MEET(sfx, beats, best, x[0])               \
      }                                                                       \
      memcpy(out + i, &best, sizeof best);                                    \
    }                                                                         \
    return sfx##_has_none(&nan);                                              \
  }                                                                           \
  /* The place of the first item that is equal: there is one. */              \
  TL_INLINE int64_t name##_place_##sfx(T best, const T *row, uint32_t n) {    \
    const T *at = row;                                                        \
    for (const T *end = row + n / AT_ONCE * AT_ONCE; at < end; at += AT_ONCE) \
      if (sfx##_any_equal(at, best))                                          \
        return at - row + sfx##_first_equal(at, best);                        \
    while (*at != best) at++;                                                 \
    return at - row;                                                          \
  }                                                                           \
  static bool arg##name##_of_eight_##sfx(int64_t *out, const T *items,        \
                                         int64_t first, const int64_t *at,    \
                                         const segment_group *r) {            \
    T best[SEGMENT_ROWS];                                                     \
    if (!name##_of_eight_##sfx(best, items, first, at, r))                    \
      return false;                                                           \
    for (int i = 0; i < SEGMENT_ROWS; i++)                                    \
      out[i] = r->n[i] == 0 ? 0                                               \
                            : name##_place_##sfx(                             \
                                  best[i], items + (at[i] - first), r->n[i]); \
    return true;                                                              \
  }
#else
#define SOME_ROWS(name, sfx, T, W, beats, FILL)
#endif

#define EXTREME_SEGMENTS(name, sfx, T, W, beats, FILL)                      \
  SOME_ROWS(name, sfx, T, W, beats, FILL)                                   \
  static void name##_row_##sfx(T *out, const T *row, size_t n) {            \
    tl_fold_state state;                                                    \
    tl_fold_begin(&state);                                                  \
    TL_K(feed_##name##_##sfx)(&state, row, n);                              \
    memcpy(out, state.lanes.item, sizeof *out);                             \
  }                                                                         \
  static void arg##name##_row_##sfx(int64_t *out, const T *row, size_t n) { \
    *out = (int64_t)TL_K(arg##name##_##sfx)(row, n, NULL);                  \
  }                                                                         \
  SEGMENTS_KERNEL(name##_segments_##sfx, T, T, name##_of_eight_##sfx,       \
                  name##_row_##sfx)                                         \
  SEGMENTS_KERNEL(arg##name##_segments_##sfx, T, int64_t,                   \
                  arg##name##_of_eight_##sfx, arg##name##_row_##sfx)
EXTREME_SEGMENTS(min, float32, float, SHORT, <, INFINITY)
EXTREME_SEGMENTS(max, float32, float, SHORT, >, -INFINITY)
EXTREME_SEGMENTS(min, float64, double, WIDE, <, (double)INFINITY)
EXTREME_SEGMENTS(max, float64, double, WIDE, >, -(double)INFINITY)
EXTREME_SEGMENTS(min, int64, int64_t, WIDE, <, INT64_MAX)
EXTREME_SEGMENTS(max, int64, int64_t, WIDE, >, INT64_MIN)
