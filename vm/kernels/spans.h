// Rows of different lengths that lie one behind the other, eight at a time. Up
// to SPAN_LANES items each, in quarters of eight, are eight vectors of eight
// items, for which no branch depends on the length of one row, as what is not a
// row's is an item that changes nothing. Rows of up to SPAN_LONG go lane by
// lane first, and longer ones are reduced alone.
#ifndef TALLY_VM_KERNELS_SPANS_H
#define TALLY_VM_KERNELS_SPANS_H

#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__BMI2__)
#include <immintrin.h>
#define SPAN_MASKS 1
#else
#define SPAN_MASKS 0
#endif

#if TL_SHUFFLES && !TL_SMALL
#define SPANS_TOGETHER
#endif

// SPAN_ROWS: rows side by side, and the items of a vector.
enum {
  SPAN_LANES = TL_FOLD_LANES,
  SPAN_LONG = TL_FOLD_LEAF,
  SPAN_ROWS = 8,
  SPAN_QUARTERS = SPAN_LANES / SPAN_ROWS
};

typedef struct span_group {
  uint32_t n[SPAN_ROWS];  // items; 0 where they are more than SPAN_LONG
  int64_t most;           // in a row
  int quarters;           // that may have items, at least 1
} span_group;

#ifdef SPANS_TOGETHER
// False: what lies behind the last row may not be read.
TL_INLINE bool spans_measure(span_group *r, const int64_t *at, int64_t end) {
  r->most = 0;
  for (int i = 0; i < SPAN_ROWS; i++) {
    const int64_t length = at[i + 1] - at[i];
    r->most = length > r->most ? length : r->most;
    r->n[i] = length > SPAN_LONG ? 0 : (uint32_t)length;
  }
  r->quarters = r->most <= SPAN_ROWS       ? 1
                : r->most <= 2 * SPAN_ROWS ? 2
                : r->most <= 3 * SPAN_ROWS ? 3
                                           : SPAN_QUARTERS;
  const int64_t read = r->most > SPAN_LANES
                           ? at[SPAN_ROWS] + SPAN_LANES
                           : at[SPAN_ROWS - 1] + r->quarters * SPAN_ROWS;
  return SPAN_MASKS || read <= end;
}

#define SPAN_PICK(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

// SPAN_ITEMS(name, T, V, ...) is a function that gives the items of a row of n
// from the one at `from` on, as many as V has, and `fill` behind the last one.
// Vectors go by address: not every instruction set has registers for them.
#if SPAN_MASKS
// Nothing is read behind the row.
#define SPAN_ITEMS(name, T, V, Bits, wide, load)                            \
  TL_INLINE void name(V *out, const T *row, uint32_t n, int from, T fill) { \
    const uint32_t items = _bzhi_u32(UINT32_MAX, n) >> from;                \
    const V fills = fill - (V){0};                                          \
    *out = (V)load((wide)fills, (__mmask8)items, row + from);               \
  }
#else
#define SPAN_ONES -1, -1, -1, -1, -1, -1, -1, -1
#define SPAN_ITEMS(name, T, V, Bits, wide, load)                            \
  TL_INLINE void name(V *out, const T *row, uint32_t n, int from, T fill) { \
    typedef Bits mask_of __attribute__((vector_size(sizeof(V))));           \
    static const Bits masks[2 * SPAN_LANES] = {SPAN_ONES, SPAN_ONES,        \
                                               SPAN_ONES, SPAN_ONES};       \
    const V fills = fill - (V){0};                                          \
    mask_of mask, items;                                                    \
    memcpy(&mask, masks + SPAN_LANES - n + from, sizeof mask);              \
    memcpy(&items, row + from, sizeof items);                               \
    *out = (V)((items & mask) | ((mask_of)fills & ~mask));                  \
  }
#endif
#endif

// The kernel of all rows: of_eight reduces eight, or says that it cannot, alone
// one, behind whose items nothing may be read. Rows that lack in the last group
// are empty ones.
#ifdef SPANS_TOGETHER
#define SPANS_GROUP(kernel, T, R, of_eight, alone)                            \
  static bool kernel##_group(R *out, const T *items, int64_t first,           \
                             int64_t end, const int64_t *at) {                \
    span_group r;                                                             \
    if (!spans_measure(&r, at, end) || !of_eight(out, items, first, at, &r))  \
      return false;                                                           \
    for (int i = 0; r.most > SPAN_LONG && i < SPAN_ROWS; i++) {               \
      if (at[i + 1] - at[i] > SPAN_LONG)                                      \
        alone(out + i, items + (at[i] - first), (size_t)(at[i + 1] - at[i])); \
    }                                                                         \
    return true;                                                              \
  }
#else
#define SPANS_GROUP(kernel, T, R, of_eight, alone)                  \
  static bool kernel##_group(R *out, const T *items, int64_t first, \
                             int64_t end, const int64_t *at) {      \
    (void)out, (void)items, (void)first, (void)end, (void)at;       \
    return false;                                                   \
  }
#endif
#define SPANS_KERNEL(kernel, T, R, of_eight, alone)                         \
  SPANS_GROUP(kernel, T, R, of_eight, alone)                                \
  static void kernel##_some(R *out, const T *items, int64_t first,          \
                            int64_t end, const int64_t *at, size_t nrows) { \
    int64_t places[SPAN_ROWS + 1];                                          \
    R found[SPAN_ROWS];                                                     \
    for (size_t i = 0; i <= SPAN_ROWS; i++)                                 \
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
    for (size_t i = 0; i < nrows; i += SPAN_ROWS) {                         \
      if (i + SPAN_ROWS > nrows ||                                          \
          !kernel##_group(out + i, a, first, end, at + i))                  \
        kernel##_some(out + i, a, first, end, at + i,                       \
                      nrows - i < SPAN_ROWS ? nrows - i : SPAN_ROWS);       \
    }                                                                       \
  }

#endif
