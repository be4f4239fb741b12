// Sums of rows of different lengths that lie one behind the other, with the
// bits that each row alone gives. Rows of up to as many items as a fold has
// lanes are summed eight side by side, and no branch depends on the length of
// one: what is not the row's is 0, which changes no sum.
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__BMI2__)
#include <immintrin.h>
#define MASKED_LOADS 1
#else
#define MASKED_LOADS 0
#endif

#if TL_SHUFFLES && !TL_SMALL
#define SIDE_BY_SIDE
#endif

// EIGHT: rows side by side, and the items of a vector. A vector is a quarter
// of the lanes.
enum { LANES = TL_FOLD_LANES, EIGHT = 8, QUARTERS = LANES / EIGHT };
_Static_assert(QUARTERS == 4, "lanes join by halves: (0 + 2) + (1 + 3)");

typedef double float64_eight __attribute__((vector_size(64)));
typedef float float32_eight __attribute__((vector_size(32)));

#define PICK(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

// The items of quarter q of a row of n, and zeros behind them. Vectors go by
// address: not every instruction set has registers for them.
#if MASKED_LOADS
// Nothing is read behind the row.
#define QUARTER(sfx, T, load)                                              \
  TL_INLINE void sfx##_quarter(sfx##_eight *out, const T *row, uint32_t n, \
                               int q) {                                    \
    const uint32_t items = _bzhi_u32(UINT32_MAX, n) >> (q * EIGHT);        \
    *out = (sfx##_eight)load((__mmask8)items, row + q * EIGHT);            \
  }
QUARTER(float32, float, _mm256_maskz_loadu_ps)
QUARTER(float64, double, _mm512_maskz_loadu_pd)
#else
#define ONES -1, -1, -1, -1, -1, -1, -1, -1
#define QUARTER(sfx, T, Bits)                                              \
  typedef Bits sfx##_bits __attribute__((vector_size(sizeof(T) * EIGHT))); \
  static const Bits sfx##_masks[2 * LANES] = {ONES, ONES, ONES, ONES};     \
  TL_INLINE void sfx##_quarter(sfx##_eight *out, const T *row, uint32_t n, \
                               int q) {                                    \
    sfx##_bits mask, items;                                                \
    memcpy(&mask, sfx##_masks + LANES - n + q * EIGHT, sizeof mask);       \
    memcpy(&items, row + q * EIGHT, sizeof items);                         \
    *out = (sfx##_eight)(items & mask);                                    \
  }
QUARTER(float32, float, int32_t)
QUARTER(float64, double, int64_t)
#endif

#define ROW_SUMS(sfx, T)                                                      \
  /* The lanes of a row of up to so many quarters, joined to eight. */        \
  TL_INLINE void sfx##_lanes(sfx##_eight *out, const T *row, uint32_t n,      \
                             int quarters) {                                  \
    sfx##_eight a, b, c, d;                                                   \
    sfx##_quarter(&a, row, n, 0);                                             \
    if (quarters > 1)                                                         \
      sfx##_quarter(&b, row, n, 1);                                           \
    if (quarters > 2) {                                                       \
      sfx##_quarter(&c, row, n, 2);                                           \
      a += c;                                                                 \
    }                                                                         \
    if (quarters > 3) {                                                       \
      sfx##_quarter(&d, row, n, 3);                                           \
      b += d;                                                                 \
    }                                                                         \
    if (quarters > 1)                                                         \
      a += b;                                                                 \
    *out = a;                                                                 \
  }                                                                           \
  static T sfx##_of_long(const T *row, size_t n) {                            \
    tl_fold_state state;                                                      \
    T sum;                                                                    \
    tl_fold_begin(&state);                                                    \
    TL_K(feed_sum_##sfx)(&state, row, n);                                     \
    TL_K(end_sum_##sfx)(&state, &sum);                                        \
    return sum;                                                               \
  }                                                                           \
  /* A row behind whose items nothing may be read. */                         \
  static T sfx##_of_row(const T *row, size_t n) {                             \
    T lanes[LANES] = {0}, x[EIGHT];                                           \
    sfx##_eight all;                                                          \
    if (n > LANES)                                                            \
      return sfx##_of_long(row, n);                                           \
    memcpy(lanes, row, n * sizeof(T));                                        \
    sfx##_lanes(&all, lanes, LANES, QUARTERS);                                \
    memcpy(x, &all, sizeof x);                                                \
    x[0] = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); \
    return x[0] + 0;                                                          \
  }
ROW_SUMS(float32, float)
ROW_SUMS(float64, double)

#ifdef SIDE_BY_SIDE
// Eight vectors of eight lanes are joined as each alone would be: halves of two
// rows at a time, fourths of four, items of all. Adding 0 makes a sum of -0.0
// alone 0.0, as the lanes that begin at 0 do.
#define HALVES(x, y)                      \
  (PICK(x, y, 0, 1, 2, 3, 8, 9, 10, 11) + \
   PICK(x, y, 4, 5, 6, 7, 12, 13, 14, 15))
#define FOURTHS(x, y)                     \
  (PICK(x, y, 0, 1, 4, 5, 8, 9, 12, 13) + \
   PICK(x, y, 2, 3, 6, 7, 10, 11, 14, 15))
#define SINGLES(x, y)                      \
  (PICK(x, y, 0, 8, 2, 10, 4, 12, 6, 14) + \
   PICK(x, y, 1, 9, 3, 11, 5, 13, 7, 15))
#define EIGHT_ROWS(sfx, T)                                                     \
  TL_INLINE void sfx##_of_eight(T *sums, const T *items, int64_t first,        \
                                const int64_t *at, const uint32_t *n,          \
                                int quarters) {                                \
    sfx##_eight x[EIGHT], even, odd;                                           \
    TL_SPELL_OUT                                                               \
    for (int i = 0; i < EIGHT; i++)                                            \
      sfx##_lanes(&x[i], items + (at[i] - first), n[i], quarters);             \
    even = FOURTHS(HALVES(x[0], x[2]), HALVES(x[4], x[6]));                    \
    odd = FOURTHS(HALVES(x[1], x[3]), HALVES(x[5], x[7]));                     \
    even = SINGLES(even, odd) + 0;                                             \
    memcpy(sums, &even, sizeof even);                                          \
  }                                                                            \
  /* False: what lies behind the last row may not be read. */                  \
  static bool sfx##_group(T *sums, const T *items, int64_t first, int64_t end, \
                          const int64_t *at) {                                 \
    uint32_t n[EIGHT];                                                         \
    int64_t most = 0;                                                          \
    for (int i = 0; i < EIGHT; i++) {                                          \
      const int64_t length = at[i + 1] - at[i];                                \
      most = length > most ? length : most;                                    \
      n[i] = length > LANES ? 0 : (uint32_t)length;                            \
    }                                                                          \
    const int quarters = most <= EIGHT       ? 1                               \
                         : most <= 2 * EIGHT ? 2                               \
                         : most <= 3 * EIGHT ? 3                               \
                                             : QUARTERS;                       \
    if (!MASKED_LOADS && at[EIGHT - 1] + (int64_t)quarters * EIGHT > end)      \
      return false;                                                            \
    if (quarters == 1)                                                         \
      sfx##_of_eight(sums, items, first, at, n, 1);                            \
    else if (quarters == 2)                                                    \
      sfx##_of_eight(sums, items, first, at, n, 2);                            \
    else if (quarters == 3)                                                    \
      sfx##_of_eight(sums, items, first, at, n, 3);                            \
    else                                                                       \
      sfx##_of_eight(sums, items, first, at, n, QUARTERS);                     \
    for (int i = 0; most > LANES && i < EIGHT; i++) {                          \
      if (at[i + 1] - at[i] > LANES)                                           \
        sums[i] = sfx##_of_long(items + (at[i] - first),                       \
                                (size_t)(at[i + 1] - at[i]));                  \
    }                                                                          \
    return true;                                                               \
  }
EIGHT_ROWS(float32, float)
EIGHT_ROWS(float64, double)
#define GROUP(sfx) sfx##_group
#else
#define GROUP(sfx) no_group
static bool no_group(void *sums, const void *items, int64_t first, int64_t end,
                     const int64_t *at) {
  (void)sums, (void)items, (void)first, (void)end, (void)at;
  return false;
}
#endif

#define X(D, sfx, T, W)                                                        \
  /* Up to eight rows; those that lack are empty ones. */                      \
  static void sfx##_some(T *sums, const T *items, int64_t first, int64_t end,  \
                         const int64_t *at, size_t nrows) {                    \
    int64_t places[EIGHT + 1];                                                 \
    T found[EIGHT];                                                            \
    for (size_t i = 0; i <= EIGHT; i++) places[i] = at[i < nrows ? i : nrows]; \
    if (GROUP(sfx)(found, items, first, end, places)) {                        \
      memcpy(sums, found, nrows * sizeof(T));                                  \
      return;                                                                  \
    }                                                                          \
    for (size_t i = 0; i < nrows; i++)                                         \
      sums[i] =                                                                \
          sfx##_of_row(items + (at[i] - first), (size_t)(at[i + 1] - at[i]));  \
  }                                                                            \
  void TL_K(sum_spans_##sfx)(void *out, const void *a, int64_t first,          \
                             int64_t end, const int64_t *at, size_t nrows) {   \
    T *sums = out;                                                             \
    for (size_t i = 0; i < nrows; i += EIGHT) {                                \
      if (i + EIGHT > nrows || !GROUP(sfx)(sums + i, a, first, end, at + i))   \
        sfx##_some(sums + i, a, first, end, at + i,                            \
                   nrows - i < EIGHT ? nrows - i : EIGHT);                     \
    }                                                                          \
  }
TL_FLOATS(X)
#undef X
