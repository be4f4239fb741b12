// Sums and products of rows of different lengths, and how many of their items
// are true, with the bits that each row alone gives.
#include "vm/kernels/segments.h"

_Static_assert(SEGMENT_QUARTERS == 4,
               "lanes join by halves: (0 + 2) + (1 + 3)");

// --- Sums and products ------------------------------------------------------

// A row behind whose items nothing may be read.
#define ROW_ALONE(name, sfx, T, op, START)                              \
  static void name##_row_##sfx(T *out, const T *row, size_t n) {        \
    T x[SEGMENT_LANES], last[SEGMENT_LANES];                            \
    if (n > SEGMENT_LONG) {                                             \
      tl_fold_state state;                                              \
      tl_fold_begin(&state);                                            \
      TL_K(feed_##name##_##sfx)(&state, row, n);                        \
      TL_K(end_##name##_##sfx)(&state, out);                            \
      return;                                                           \
    }                                                                   \
    for (size_t i = 0; i < SEGMENT_LANES; i++) x[i] = last[i] = START;  \
    for (; n > SEGMENT_LANES; n -= SEGMENT_LANES, row += SEGMENT_LANES) \
      for (size_t i = 0; i < SEGMENT_LANES; i++) x[i] = x[i] op row[i]; \
    memcpy(last, row, n * sizeof(T));                                   \
    for (size_t i = 0; i < SEGMENT_LANES; i++) x[i] = x[i] op last[i];  \
    for (size_t half = SEGMENT_LANES / 2; half > 0; half /= 2)          \
      for (size_t i = 0; i < half; i++) x[i] = x[i] op x[i + half];     \
    *out = x[0] op START;                                               \
  }

#ifdef SEGMENTS_TOGETHER
// Eight vectors of eight lanes are joined as each alone would be: halves of two
// rows at a time, fourths of four, items of all. START makes a sum of -0.0
// alone 0.0, as the lanes that begin with it do.
#define HALVES(op, x, y)                        \
  (SEGMENT_PICK(x, y, 0, 1, 2, 3, 8, 9, 10, 11) \
       op SEGMENT_PICK(x, y, 4, 5, 6, 7, 12, 13, 14, 15))
#define FOURTHS(op, x, y)                       \
  (SEGMENT_PICK(x, y, 0, 1, 4, 5, 8, 9, 12, 13) \
       op SEGMENT_PICK(x, y, 2, 3, 6, 7, 10, 11, 14, 15))
#define SINGLES(op, x, y)                        \
  (SEGMENT_PICK(x, y, 0, 8, 2, 10, 4, 12, 6, 14) \
       op SEGMENT_PICK(x, y, 1, 9, 3, 11, 5, 13, 7, 15))
typedef double float64_eight __attribute__((vector_size(64)));
typedef float float32_eight __attribute__((vector_size(32)));
typedef uint64_t uint64_eight __attribute__((vector_size(64)));
SEGMENT_ITEMS(float32_items, float, float32_eight, int32_t, __m256,
              _mm256_mask_loadu_ps)
SEGMENT_ITEMS(float64_items, double, float64_eight, int64_t, __m512d,
              _mm512_mask_loadu_pd)
SEGMENT_ITEMS(uint64_items, uint64_t, uint64_eight, int64_t, __m512i,
              _mm512_mask_loadu_epi64)
#define LANES_OF_EIGHT(name, sfx, T, op, START)                                \
  /* The lanes of a row of up to so many quarters, joined to eight. */         \
  TL_INLINE void name##_lanes_##sfx(sfx##_eight *out, const T *row,            \
                                    uint32_t n, int quarters) {                \
    sfx##_eight a, b, c, d;                                                    \
    sfx##_items(&a, row, n, 0, START);                                         \
    if (quarters > 1)                                                          \
      sfx##_items(&b, row, n, SEGMENT_ROWS, START);                            \
    if (quarters > 2) {                                                        \
      sfx##_items(&c, row, n, 2 * SEGMENT_ROWS, START);                        \
      a = a op c;                                                              \
    }                                                                          \
    if (quarters > 3) {                                                        \
      sfx##_items(&d, row, n, 3 * SEGMENT_ROWS, START);                        \
      b = b op d;                                                              \
    }                                                                          \
    if (quarters > 1)                                                          \
      a = a op b;                                                              \
    *out = a;                                                                  \
  }                                                                            \
  /* Of any row up to SEGMENT_LONG. */                                         \
  TL_INLINE void name##_long_##sfx(sfx##_eight *out, const T *row,             \
                                   uint32_t n) {                               \
    T lanes[SEGMENT_LANES];                                                    \
    sfx##_eight x[SEGMENT_QUARTERS], y;                                        \
    for (int k = 0; k < SEGMENT_LANES; k++) lanes[k] = START;                  \
    for (; n >= SEGMENT_LANES; n -= SEGMENT_LANES, row += SEGMENT_LANES)       \
      for (int k = 0; k < SEGMENT_LANES; k++) lanes[k] = lanes[k] op row[k];   \
    memcpy(x, lanes, sizeof lanes);                                            \
    TL_SPELL_OUT                                                               \
    for (int k = 0; k < SEGMENT_QUARTERS; k++) {                               \
      sfx##_items(&y, row, n, k *SEGMENT_ROWS, START);                         \
      x[k] = x[k] op y;                                                        \
    }                                                                          \
    *out = (x[0] op x[2])op(x[1] op x[3]);                                     \
  }                                                                            \
  TL_INLINE void name##_join_##sfx(T *out, const sfx##_eight *x) {             \
    sfx##_eight even, odd;                                                     \
    even = FOURTHS(op, HALVES(op, x[0], x[2]), HALVES(op, x[4], x[6]));        \
    odd = FOURTHS(op, HALVES(op, x[1], x[3]), HALVES(op, x[5], x[7]));         \
    even = SINGLES(op, even, odd) op START;                                    \
    memcpy(out, &even, sizeof even);                                           \
  }                                                                            \
  TL_INLINE void name##_of_quarters_##sfx(T *out, const T *items,              \
                                          int64_t first, const int64_t *at,    \
                                          const uint32_t *n, int quarters) {   \
    sfx##_eight x[SEGMENT_ROWS];                                               \
    TL_SPELL_OUT                                                               \
    for (int i = 0; i < SEGMENT_ROWS; i++)                                     \
      name##_lanes_##sfx(&x[i], items + (at[i] - first), n[i], quarters);      \
    name##_join_##sfx(out, x);                                                 \
  }                                                                            \
  TL_INLINE bool name##_of_eight_##sfx(T *out, const T *items, int64_t first,  \
                                       const int64_t *at,                      \
                                       const segment_group *r) {               \
    if (r->most > SEGMENT_LANES) {                                             \
      sfx##_eight x[SEGMENT_ROWS];                                             \
      for (int i = 0; i < SEGMENT_ROWS; i++) {                                 \
        x[i] = START - (sfx##_eight){0};                                       \
        if (r->n[i] > 0)                                                       \
          name##_long_##sfx(&x[i], items + (at[i] - first), r->n[i]);          \
      }                                                                        \
      name##_join_##sfx(out, x);                                               \
    } else if (r->quarters == 1)                                               \
      name##_of_quarters_##sfx(out, items, first, at, r->n, 1);                \
    else if (r->quarters == 2)                                                 \
      name##_of_quarters_##sfx(out, items, first, at, r->n, 2);                \
    else if (r->quarters == 3)                                                 \
      name##_of_quarters_##sfx(out, items, first, at, r->n, 3);                \
    else                                                                       \
      name##_of_quarters_##sfx(out, items, first, at, r->n, SEGMENT_QUARTERS); \
    return true;                                                               \
  }
#else
#define LANES_OF_EIGHT(name, sfx, T, op, START)
#endif

#define JOINED(name, sfx, T, op, START)                               \
  ROW_ALONE(name, sfx, T, op, START)                                  \
  LANES_OF_EIGHT(name, sfx, T, op, START)                             \
  SEGMENTS_KERNEL(name##_segments_##sfx, T, T, name##_of_eight_##sfx, \
                  name##_row_##sfx)
JOINED(sum, float32, float, +, 0)
JOINED(sum, float64, double, +, 0)
JOINED(prod, float32, float, *, 1)
JOINED(prod, float64, double, *, 1)

// Sums of integers have the same bits in any order.
static void sum_row_uint64(uint64_t *out, const uint64_t *row, size_t n) {
  *out = 0;
  for (size_t i = 0; i < n; i++) *out += row[i];
}
LANES_OF_EIGHT(sum, uint64, uint64_t, +, 0)
SEGMENTS_KERNEL(sum_segments_uint64, uint64_t, uint64_t, sum_of_eight_uint64,
                sum_row_uint64)

// --- Bools ------------------------------------------------------------------

typedef uint64_t words __attribute__((vector_size(SEGMENT_LANES)));

// How many bytes are 1 in a row of up to SEGMENT_LANES, of which the others are
// 0. So many behind its first may be read.
TL_INLINE uint64_t ones_among(const uint8_t *row, size_t n) {
  static const uint8_t masks[2 * SEGMENT_LANES] = {
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  words items, mask;
  memcpy(&items, row, sizeof items);
  memcpy(&mask, masks + SEGMENT_LANES - n, sizeof mask);
  items &= mask;
  const uint64_t sums = items[0] + items[1] + items[2] + items[3];
  return (sums * UINT64_C(0x0101010101010101)) >> 56;
}

// Rows of any length, by the kernel of one sequence.
static uint64_t ones_in(const uint8_t *row, size_t n) {
  tl_fold_state state;
  uint64_t count;
  tl_fold_begin(&state);
  TL_K(feed_count_uint8)(&state, row, n);
  TL_K(end_total)(&state, &count);
  return count;
}

#define OF_BOOLS(name, R, result)                                              \
  void TL_K(name##_segments_uint8)(void *to, const void *a, int64_t first,     \
                                   int64_t end, const int64_t *at,             \
                                   size_t nrows) {                             \
    R *out = to;                                                               \
    for (size_t i = 0; i < nrows; i++) {                                       \
      const uint8_t *row = (const uint8_t *)a + (at[i] - first);               \
      const size_t n = (size_t)(at[i + 1] - at[i]);                            \
      const uint64_t ones = n <= SEGMENT_LANES && at[i] + SEGMENT_LANES <= end \
                                ? ones_among(row, n)                           \
                                : ones_in(row, n);                             \
      out[i] = (R)(result);                                                    \
    }                                                                          \
  }
OF_BOOLS(any, uint8_t, ones > 0)
OF_BOOLS(all, uint8_t, ones == n)
OF_BOOLS(count, uint64_t, ones)
