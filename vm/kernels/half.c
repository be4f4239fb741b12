// Kernels of float16: those of float32 between two conversions, block by block,
// so that each operation rounds once. An operation needs no more here than to
// stand in a list for floats.
//
//     items ─▶ widen ─▶ the kernel of float32 ─▶ narrow ─▶ items, or bools
//
// There are none that fold, scan or multiply matrices: their callers compute in
// float32 throughout, and round what comes out (tl_compute_dtype).
#include "vm/kernels/cast_list.h"
#include "vm/kernels/search.h"
#include "vm/half.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

// Three buffers of so many items stay in the nearest cache.
enum { BLOCK = 256, STEP = 8 };

// The items of the next block; 0: that was all.
static size_t piece(size_t left) {
  return left < BLOCK ? left : BLOCK;
}

// Items as the numbers that they are, eight at a time where the processor can.
static void widen(float *out, const void *a, size_t n) {
  const uint16_t *items = a;
  size_t i = 0;
#ifdef __F16C__
  for (; n - i >= STEP; i += STEP) {
    __m128i halves =
        _mm_loadu_si128((const __m128i *)(const void *)(items + i));
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; i++) out[i] = tl_half_widen(items[i]);
}

// Numbers rounded to items, with the same bits either way.
static void narrow(void *out, const float *a, size_t n) {
  uint16_t *items = out;
  size_t i = 0;
#ifdef __F16C__
  for (; n - i >= STEP; i += STEP) {
    __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(a + i), 0);
    _mm_storeu_si128((__m128i *)(void *)(items + i), halves);
  }
#endif
  for (; i < n; i++) items[i] = tl_half_round(a[i]);
}

// --- Operations -------------------------------------------------------------

// Tests and comparisons write bools, all others items. A block is read before
// any of it is written, so [out] may be an operand.
static void unary(tl_op op, tl_kernel1 *kernel, void *out, const void *a,
                  size_t n) {
  const bool tests = op >= TL_OP_ISNAN && op <= TL_OP_SIGNBIT;
  float x[BLOCK], y[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    widen(x, (const uint16_t *)a + i, m);
    kernel(tests ? (void *)((char *)out + i) : y, x, m);
    if (!tests)
      narrow((uint16_t *)out + i, y, m);
  }
}

// The neighbour in float16, one step of the bits away.
// From 0 it is the least number; a NaN is what both sum up to.
static void next_after(uint16_t *out, const uint16_t *a, const uint16_t *b,
                       size_t n) {
  for (size_t i = 0; i < n; i++) {
    const float x = tl_half_widen(a[i]), y = tl_half_widen(b[i]);
    if (isnan(x) || isnan(y))
      out[i] = tl_half_round(x + y);
    else if (x == 0 || x == y)
      out[i] = (uint16_t)(x == y ? b[i] : (b[i] & 0x8000) | 1);
    else
      out[i] = (uint16_t)(a[i] + ((x < y) == (x > 0) ? 1 : -1));
  }
}

// The same of two operands. The neighbour of a number is the one operation of
// which float32 knows nothing: its neighbours lie 8,192 times as close.
static void binary(tl_op op, tl_kernel2 *kernel, void *out, const void *a,
                   const void *b, size_t n) {
  if (op == TL_OP_NEXTAFTER) {
    next_after(out, a, b, n);
    return;
  }
  const bool compares = op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL;
  float x[BLOCK], y[BLOCK], z[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    widen(x, (const uint16_t *)a + i, m);
    widen(y, (const uint16_t *)b + i, m);
    kernel(compares ? (void *)((char *)out + i) : (void *)z, x, y, m);
    if (!compares)
      narrow((uint16_t *)out + i, z, m);
  }
}

// A function for each operation of floats, of that of float32.
#define X(OP, DTYPE, function)
#define TL_ON_HALF(X, OP, function, computed)         \
  void function(void *out, const void *a, size_t n) { \
    unary(TL_OP_##OP, computed, out, a, n);           \
  }
TL_UNARY_KERNELS(X)
#undef TL_ON_HALF
#define TL_ON_HALF(X, OP, function, computed)                        \
  void function(void *out, const void *a, const void *b, size_t n) { \
    binary(TL_OP_##OP, computed, out, a, b, n);                      \
  }
TL_BINARY_KERNELS(X)
#undef X
#undef TL_ON_HALF

// --- Casts ------------------------------------------------------------------

// All casts but between floats go by way of float32. An integer that it rounds
// is above the largest item, so that nothing is rounded twice.
// [cast] is the one of float32, [size] that of the other items.
static void from_half(tl_kernel1 *cast, size_t size, void *out, const void *a,
                      size_t n) {
  float x[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    widen(x, (const uint16_t *)a + i, m);
    cast((char *)out + i * size, x, m);
  }
}

// The same to float16.
static void to_half(tl_kernel1 *cast, size_t size, void *out, const void *a,
                    size_t n) {
  float x[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    cast(x, (const char *)a + i * size, m);
    narrow((uint16_t *)out + i, x, m);
  }
}

// As the numbers that they are.
bool TL_K(within_float16)(const void *a, size_t n, const tl_bounds *bounds) {
  float x[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    widen(x, (const uint16_t *)a + i, m);
    if (!TL_K(within_float32)(x, m, bounds))
      return false;
  }
  return true;
}

// Exact: every float16 is a float32.
void TL_K(cast_float16_float32)(void *out, const void *a, size_t n) {
  widen(out, a, n);
}
// To nearest; what is too large becomes infinite.
void TL_K(cast_float32_float16)(void *out, const void *a, size_t n) {
  narrow(out, a, n);
}

// By a float32 that rounds as the double does.
void TL_K(cast_float64_float16)(void *out, const void *a, size_t n) {
  const double *items = a;
  float x[BLOCK];
  for (size_t i = 0, m; (m = piece(n - i)) > 0; i += m) {
    for (size_t k = 0; k < m; k++) x[k] = tl_half_of_double(items[i + k]);
    narrow((uint16_t *)out + i, x, m);
  }
}

#define FROM(D, sfx, T, W)                                            \
  void TL_K(cast_float16_##sfx)(void *out, const void *a, size_t n) { \
    from_half(TL_K(cast_float32_##sfx), sizeof(T), out, a, n);        \
  }
#define TO(D, sfx, T, W)                                                \
  void TL_K(cast_##sfx##_float16)(void *out, const void *a, size_t n) { \
    to_half(TL_K(cast_##sfx##_float32), sizeof(T), out, a, n);          \
  }
TL_INTEGERS(FROM)
TL_INTEGERS(TO)
TL_COMPLEXES(FROM)
FROM(BOOL, bool, uint8_t, )
FROM(FLOAT64, float64, double, )

// --- Search -----------------------------------------------------------------

// Items as integers of their order; both zeros are one, and NaN is last.
static int order_of(uint16_t half) {
  const int rest = half & 0x7fff;
  if (rest > 0x7c00)
    return 0x7fff;
  return (half & 0x8000) != 0 ? -rest : rest;
}

// For each of n queries how many of the m sorted items are before it: those
// below it, and with [right] those equal to it as well (search.h).
void TL_K(search_float16)(int64_t *out, const void *sorted, size_t m,
                          const void *queries, size_t n, bool right) {
  const uint16_t *items = sorted, *query = queries;
  for (size_t i = 0; i < n; i++) {
    const int least = order_of(query[i]) + right;
    size_t at = 0;
    for (size_t left = m; left > 0;) {
      const size_t half = left / 2;
      const bool below = order_of(items[at + half]) < least;
      at += below ? half + 1 : 0;
      left = below ? left - half - 1 : half;
    }
    out[i] = (int64_t)at;
  }
}
