// Rows of different lengths that lie one behind the other, eight at a time. Up
// to SEGMENT_LANES items each, in quarters of eight, are eight vectors of eight
// items, for which no branch depends on the length of one row, as what is not a
// row's is an item that changes nothing. Rows of up to SEGMENT_LONG go lane by
// lane first, and longer ones are reduced alone.
#pragma once

#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__BMI2__)
#include <immintrin.h>
#define SEGMENT_MASKS 1
#else
#define SEGMENT_MASKS 0
#endif

#if TL_SHUFFLES && !TL_SMALL
#define SEGMENTS_TOGETHER
#endif

// SEGMENT_ROWS: rows side by side, and the items of a vector.
enum {
  SEGMENT_LANES = TL_FOLD_LANES,
  SEGMENT_LONG = TL_FOLD_LEAF,
  SEGMENT_ROWS = 8,
  SEGMENT_QUARTERS = SEGMENT_LANES / SEGMENT_ROWS
};

// What is known of eight rows before any of them is read: it chooses the loop
// that all eight take.
typedef struct segment_group {
  uint32_t n[SEGMENT_ROWS];  // items; 0 where they are more than SEGMENT_LONG
  int64_t most;              // in a row
  int quarters;              // that may have items, at least 1
} segment_group;

#ifdef SEGMENTS_TOGETHER
// False: what lies behind the last row may not be read.
TL_INLINE bool segments_measure(segment_group *r, const int64_t *at,
                                int64_t end) {
  r->most = 0;
  for (int i = 0; i < SEGMENT_ROWS; i++) {
    const int64_t length = at[i + 1] - at[i];
    r->most = length > r->most ? length : r->most;
    r->n[i] = length > SEGMENT_LONG ? 0 : (uint32_t)length;
  }
  r->quarters = r->most <= SEGMENT_ROWS       ? 1
                : r->most <= 2 * SEGMENT_ROWS ? 2
                : r->most <= 3 * SEGMENT_ROWS ? 3
                                              : SEGMENT_QUARTERS;
  const int64_t read = r->most > SEGMENT_LANES
                           ? at[SEGMENT_ROWS] + SEGMENT_LANES
                           : at[SEGMENT_ROWS - 1] + r->quarters * SEGMENT_ROWS;
  return SEGMENT_MASKS || read <= end;
}

#define SEGMENT_PICK(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

// SEGMENT_ITEMS(name, T, V, ...) is a function that gives the items of a row of
// n from the one at `from` on, as many as V has, and `fill` behind the last
// one. Vectors go by address: not every instruction set has registers for them.
#if SEGMENT_MASKS
// Nothing is read behind the row.
#define SEGMENT_ITEMS(name, T, V, Bits, wide, load)                         \
  TL_INLINE void name(V *out, const T *row, uint32_t n, int from, T fill) { \
    const uint32_t items = _bzhi_u32(UINT32_MAX, n) >> from;                \
    const V fills = fill - (V){0};                                          \
    *out = (V)load((wide)fills, (__mmask8)items, row + from);               \
  }
#else
#define SEGMENT_ONES -1, -1, -1, -1, -1, -1, -1, -1
#define SEGMENT_ITEMS(name, T, V, Bits, wide, load)                            \
  TL_INLINE void name(V *out, const T *row, uint32_t n, int from, T fill) {    \
    typedef Bits mask_of __attribute__((vector_size(sizeof(V))));              \
    static const Bits masks[2 * SEGMENT_LANES] = {SEGMENT_ONES, SEGMENT_ONES,  \
                                                  SEGMENT_ONES, SEGMENT_ONES}; \
    const V fills = fill - (V){0};                                             \
    mask_of mask, items;                                                       \
    memcpy(&mask, masks + SEGMENT_LANES - n + from, sizeof mask);              \
    memcpy(&items, row + from, sizeof items);                                  \
    *out = (V)((items & mask) | ((mask_of)fills & ~mask));                     \
  }
#endif
#endif

// The kernel of all rows: of_eight reduces eight, or says that it cannot, alone
// one, behind whose items nothing may be read. Rows that lack in the last group
// are empty ones.
#ifdef SEGMENTS_TOGETHER
#define SEGMENTS_GROUP(kernel, T, R, of_eight, alone)                         \
  static bool kernel##_group(R *out, const T *items, int64_t first,           \
                             int64_t end, const int64_t *at) {                \
    segment_group r;                                                          \
    if (!segments_measure(&r, at, end) ||                                     \
        !of_eight(out, items, first, at, &r))                                 \
      return false;                                                           \
    for (int i = 0; r.most > SEGMENT_LONG && i < SEGMENT_ROWS; i++) {         \
      if (at[i + 1] - at[i] > SEGMENT_LONG)                                   \
        alone(out + i, items + (at[i] - first), (size_t)(at[i + 1] - at[i])); \
    }                                                                         \
    return true;                                                              \
  }
#else
#define SEGMENTS_GROUP(kernel, T, R, of_eight, alone)               \
  static bool kernel##_group(R *out, const T *items, int64_t first, \
                             int64_t end, const int64_t *at) {      \
    (void)out, (void)items, (void)first, (void)end, (void)at;       \
    return false;                                                   \
  }
#endif
#define SEGMENTS_KERNEL(kernel, T, R, of_eight, alone)                      \
  SEGMENTS_GROUP(kernel, T, R, of_eight, alone)                             \
  static void kernel##_some(R *out, const T *items, int64_t first,          \
                            int64_t end, const int64_t *at, size_t nrows) { \
    int64_t places[SEGMENT_ROWS + 1];                                       \
    R found[SEGMENT_ROWS];                                                  \
    for (size_t i = 0; i <= SEGMENT_ROWS; i++)                              \
      places[i] = at[i < nrows ? i : nrows];                                \
    if (nrows > 2 && kernel##_group(found, items, first, end, places)) {    \
      memcpy(out, found, nrows * sizeof(R));                                \
      return;                                                               \
    }                                                                       \
    for (size_t i = 0; i < nrows; i++)                                      \
      alone(out + i, items + (at[i] - first), (size_t)(at[i + 1] - at[i])); \
  }                                                                         \
  void TL_K(kernel)(void *to, const void *a, int64_t first, int64_t end,    \
                    const int64_t *at, size_t nrows) {                      \
    R *out = to;                                                            \
    for (size_t i = 0; i < nrows; i += SEGMENT_ROWS) {                      \
      if (i + SEGMENT_ROWS > nrows ||                                       \
          !kernel##_group(out + i, a, first, end, at + i))                  \
        kernel##_some(out + i, a, first, end, at + i,                       \
                      nrows - i < SEGMENT_ROWS ? nrows - i : SEGMENT_ROWS); \
    }                                                                       \
  }
