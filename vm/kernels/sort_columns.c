// Sorting keys by networks of comparators, so that no branch depends on them: a
// comparator puts two rows in order, all columns at once (Batcher's bitonic
// sort). Sorted runs of p rows are merged in pairs: rows at equal distances
// from the middle are put in order, then those at p / 2, p / 4 … 1 rows from
// each other.
//
//   4 rows     (0 1) (2 3)   (1 2) (0 3)   (0 1) (2 3)
//
// Each comparator moves the lesser key up, so rows behind the last one, whose
// keys would be the greatest, need not exist.
//
// Keys of one lane become rows of vectors, whose columns are sorted first. The
// sorted columns are merged likewise, where a vector's items change places.
#include "vm/kernels/move.h"
#include "vm/kernels/search.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { BLOCK = 8 };  // rows in registers

// The bytes of a vector of the instruction set.
#if defined(__AVX512BW__)
enum { VECTOR = 64 };
#define LESSER(bits, x, y) _mm512_min_epu##bits((__m512i)(x), (__m512i)(y))
#define GREATER(bits, x, y) _mm512_max_epu##bits((__m512i)(x), (__m512i)(y))
#elif defined(__AVX2__)
enum { VECTOR = 32 };
// AVX2 compares 64 bits as signed integers: see turn_sign.
#define TURNS_SIGN 8
#define _mm256_min_epu64(x, y) \
  _mm256_blendv_epi8(x, y, _mm256_cmpgt_epi64(x, y))
#define _mm256_max_epu64(x, y) \
  _mm256_blendv_epi8(y, x, _mm256_cmpgt_epi64(x, y))
#define LESSER(bits, x, y) _mm256_min_epu##bits((__m256i)(x), (__m256i)(y))
#define GREATER(bits, x, y) _mm256_max_epu##bits((__m256i)(x), (__m256i)(y))
#else
enum { VECTOR = 16 };
#define LESSER(bits, x, y) CHOOSE((x) < (y), x, y)
#define GREATER(bits, x, y) CHOOSE((x) < (y), y, x)
#endif
#ifndef TURNS_SIGN
#define TURNS_SIGN 0
#endif
// x where the mask is, else y: the mask is all ones or none in each item.
#define CHOOSE(mask, x, y) (((x) & (mask)) | ((y) & ~(mask)))

// Rows x and y of [r] in order.
#define ORDER(V, bits, x, y)                      \
  do {                                            \
    const V lesser = (V)LESSER(bits, r[x], r[y]); \
    r[y] = (V)GREATER(bits, r[x], r[y]);          \
    r[x] = lesser;                                \
  } while (0)

// Rows are [step] vectors apart.
#define COLUMNS(sfx, U, bits)                                                \
  typedef U vec_##sfx __attribute__((vector_size(VECTOR), may_alias));       \
  /* Before and after the comparators, where these take keys as signed. */   \
  TL_INLINE void turn_sign_##sfx(vec_##sfx *a, size_t n) {                   \
    for (size_t i = 0; TURNS_SIGN == sizeof(U) && i < n; i++)                \
      a[i] ^= (U)((U)1 << (bits - 1));                                       \
  }                                                                          \
  /* A block of rows in order: by all 19 comparators, or, where its keys */  \
  /* fall and rise, those of a merge. */                                     \
  TL_INLINE void sort_block_##sfx(vec_##sfx *a, size_t step, bool merge) {   \
    vec_##sfx r[BLOCK];                                                      \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK; i++) r[i] = a[i * step];      \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK; i++) if (!merge && !(i & 2))  \
        ORDER(vec_##sfx, bits, i, i + 2);                                    \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK / 2; i++)                      \
        ORDER(vec_##sfx, bits, i, i + BLOCK / 2);                            \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK; i++) if (merge && !(i & 2))   \
        ORDER(vec_##sfx, bits, i, i + 2);                                    \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK; i += 2)                       \
        ORDER(vec_##sfx, bits, i, i + 1);                                    \
    if (!merge) {                                                            \
      ORDER(vec_##sfx, bits, 2, 4);                                          \
      ORDER(vec_##sfx, bits, 3, 5);                                          \
      ORDER(vec_##sfx, bits, 1, 4);                                          \
      ORDER(vec_##sfx, bits, 3, 6);                                          \
      ORDER(vec_##sfx, bits, 1, 2);                                          \
      ORDER(vec_##sfx, bits, 3, 4);                                          \
      ORDER(vec_##sfx, bits, 5, 6);                                          \
    }                                                                        \
    TL_SPELL_OUT for (size_t i = 0; i < BLOCK; i++) a[i * step] = r[i];      \
  }                                                                          \
  static void sort_blocks_##sfx(vec_##sfx *a, size_t step, size_t n,         \
                                bool merge) {                                \
    vec_##sfx last[BLOCK];                                                   \
    for (; n >= BLOCK; n -= BLOCK, a += BLOCK * step)                        \
      sort_block_##sfx(a, step, merge);                                      \
    if (n == 0)                                                              \
      return;                                                                \
    /* Rows that do not exist have the greatest keys. */                     \
    memset(last, 0xff, sizeof last);                                         \
    turn_sign_##sfx(last, BLOCK);                                            \
    for (size_t i = 0; i < n; i++) last[i] = a[i * step];                    \
    sort_block_##sfx(last, 1, merge);                                        \
    for (size_t i = 0; i < n; i++) a[i * step] = last[i];                    \
  }                                                                          \
  TL_INLINE void order_##sfx(vec_##sfx *x, vec_##sfx *y) {                   \
    vec_##sfx r[] = {*x, *y};                                                \
    ORDER(vec_##sfx, bits, 0, 1);                                            \
    *x = r[0];                                                               \
    *y = r[1];                                                               \
  }                                                                          \
  TL_INLINE void order_four_##sfx(vec_##sfx *a, size_t step) {               \
    vec_##sfx r[4];                                                          \
    TL_SPELL_OUT for (size_t i = 0; i < 4; i++) r[i] = a[i * step];          \
    ORDER(vec_##sfx, bits, 0, 2);                                            \
    ORDER(vec_##sfx, bits, 1, 3);                                            \
    ORDER(vec_##sfx, bits, 0, 1);                                            \
    ORDER(vec_##sfx, bits, 2, 3);                                            \
    TL_SPELL_OUT for (size_t i = 0; i < 4; i++) a[i * step] = r[i];          \
  }                                                                          \
  /* Each 2 k rows fall and rise; then all are in order. */                  \
  static void merge_##sfx(vec_##sfx *a, size_t step, size_t n, size_t k) {   \
    for (; k >= 2 * BLOCK; k /= 4)                                           \
      for (size_t start = 0; start < n; start += 2 * k)                      \
        for (size_t i = start, h = k / 2; i < start + h && i + h < n; i++) { \
          vec_##sfx *x = a + i * step, *y = x + h * step;                    \
          if (i + k + h < n)                                                 \
            order_four_##sfx(x, h *step);                                    \
          else {                                                             \
            if (i + k < n)                                                   \
              order_##sfx(x, x + k * step);                                  \
            order_##sfx(x, y);                                               \
          }                                                                  \
        }                                                                    \
    for (; k >= BLOCK; k /= 2)                                               \
      for (size_t start = 0; start + k < n; start += 2 * k)                  \
        for (size_t i = start; i < start + k && i + k < n; i++)              \
          order_##sfx(a + i * step, a + (i + k) * step);                     \
    sort_blocks_##sfx(a, step, n, true);                                     \
  }                                                                          \
  static void sort_##sfx(vec_##sfx *a, size_t step, size_t n) {              \
    sort_blocks_##sfx(a, step, n, false);                                    \
    for (size_t p = BLOCK; p < n; p *= 2) {                                  \
      for (size_t middle = p; middle < n; middle += 2 * p)                   \
        for (size_t i = 0; i < p && middle + i < n; i++)                     \
          order_##sfx(a + (middle - 1 - i) * step, a + (middle + i) * step); \
      merge_##sfx(a, step, n, p / 2);                                        \
    }                                                                        \
  }                                                                          \
  void TL_K(sort_columns_##sfx)(void *rows, size_t n) {                      \
    enum { STEP = TL_SORT_ROW / VECTOR };                                    \
    turn_sign_##sfx(rows, n *STEP);                                          \
    for (size_t i = 0; i < STEP; i++)                                        \
      sort_##sfx((vec_##sfx *)rows + i, STEP, n);                            \
    turn_sign_##sfx(rows, n *STEP);                                          \
  }
COLUMNS(1, uint8_t, 8)
COLUMNS(2, uint16_t, 16)
COLUMNS(4, uint32_t, 32)
COLUMNS(8, uint64_t, 64)

// Item index[i] of x at i.
TL_INLINE vec_4 permute_4(vec_4 x, vec_4 index) {
#if defined(__AVX512BW__)
  return (vec_4)_mm512_permutexvar_epi32((__m512i)index, (__m512i)x);
#elif defined(__AVX2__)
  return (vec_4)_mm256_permutevar8x32_epi32((__m256i)x, (__m256i)index);
#else
  vec_4 y;
  for (size_t i = 0; i < (VECTOR / sizeof(uint32_t)); i++) y[i] = x[index[i]];
  return y;
#endif
}

TL_INLINE vec_8 permute_8(vec_8 x, vec_8 index) {
#if defined(__AVX512BW__)
  return (vec_8)_mm512_permutexvar_epi64((__m512i)index, (__m512i)x);
#elif defined(__AVX2__)
  // By halves of items.
  return (vec_8)permute_4(
      (vec_4)x, (vec_4)((index << 1) + (index << 33) + ((uint64_t)1 << 32)));
#else
  vec_8 y;
  for (size_t i = 0; i < (VECTOR / sizeof(uint64_t)); i++) y[i] = x[index[i]];
  return y;
#endif
}

// Sorted columns of nrows rows, a power of two, are merged in pairs, then in
// pairs of pairs: the columns' keys go on where those of the one before end.
#define LANE(sfx, U, bits)                                                    \
  /* Items of x whose places differ in the bits of [across] in order; the */  \
  /* greater one goes where the bit [upper] is set. */                        \
  TL_INLINE vec_##sfx order_within_##sfx(vec_##sfx x, vec_##sfx place, U d) { \
    const vec_##sfx y = permute_##sfx(x, place ^ d);                          \
    const vec_##sfx upper = (vec_##sfx)((place & d) != 0);                    \
    return CHOOSE(upper, (vec_##sfx)GREATER(bits, x, y),                      \
                  (vec_##sfx)LESSER(bits, x, y));                             \
  }                                                                           \
  static void merge_columns_##sfx(vec_##sfx *a, size_t nrows) {               \
    vec_##sfx place;                                                          \
    for (size_t i = 0; i < (VECTOR / sizeof(U)); i++) place[i] = (U)i;        \
    for (U d = 1; d < (VECTOR / sizeof(U)); d *= 2) {                         \
      const vec_##sfx upper = (vec_##sfx)((place & d) != 0);                  \
      const vec_##sfx across = place ^ (2 * d - 1);                           \
      for (size_t i = 0, j = nrows - 1; i < j; i++, j--) {                    \
        const vec_##sfx x = a[i], y = permute_##sfx(a[j], across);            \
        const vec_##sfx lesser = (vec_##sfx)LESSER(bits, x, y);               \
        const vec_##sfx greater = (vec_##sfx)GREATER(bits, x, y);             \
        vec_##sfx low = CHOOSE(upper, greater, lesser);                       \
        vec_##sfx high =                                                      \
            permute_##sfx(CHOOSE(upper, lesser, greater), across);            \
        for (U k = d / 2; k > 0; k /= 2) {                                    \
          low = order_within_##sfx(low, place, k);                            \
          high = order_within_##sfx(high, place, k);                          \
        }                                                                     \
        a[i] = low;                                                           \
        a[j] = high;                                                          \
      }                                                                       \
      merge_##sfx(a, 1, nrows, nrows / 2);                                    \
    }                                                                         \
  }                                                                           \
  void TL_K(sort_lane_##sfx)(void *keys, size_t n, void *rows) {              \
    size_t nrows = BLOCK;                                                     \
    while (nrows * (VECTOR / sizeof(U)) < n) nrows *= 2;                      \
    U *items = keys, *a = rows;                                               \
    memcpy(a, items, n * sizeof(U));                                          \
    memset(a + n, 0xff, nrows * VECTOR - n * sizeof(U));                      \
    turn_sign_##sfx(rows, nrows);                                             \
    sort_##sfx(rows, 1, nrows);                                               \
    merge_columns_##sfx(rows, nrows);                                         \
    turn_sign_##sfx(rows, nrows);                                             \
    TL_K(pack_tile_##sfx)                                                     \
    (items, (ptrdiff_t)(nrows * sizeof(U)), a, sizeof(U), VECTOR, n / nrows,  \
     nrows);                                                                  \
    for (size_t i = n / nrows * nrows; i < n; i++)                            \
      items[i] = a[i % nrows * (VECTOR / sizeof(U)) + i / nrows];             \
  }
LANE(4, uint32_t, 32)
LANE(8, uint64_t, 64)
