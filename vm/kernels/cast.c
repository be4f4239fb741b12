// Casts between all dtypes, and whether items are within the range of one.
// Integers wrap, floats saturate: a cast itself never fails, so callers that
// must not lose values ask the check first.
#include "vm/kernels/cast_list.h"

// A cast that C does itself.
#define CAST(from, to, T, R, expr) TL_UNARY(cast_##from##_##to, T, R, expr)

// The real or integer x becomes a complex item.
#define CAST_PAIR(from, to, T, R, W)                                  \
  void TL_K(cast_##from##_##to)(void *out, const void *a, size_t n) { \
    R *to_items = out;                                                \
    const T *items = a;                                               \
    TL_LOOP for (size_t i = 0; i < n; i++) {                          \
      const W x = (W)items[i];                                        \
      to_items[i] = (R){.re = x, .im = 0};                            \
    }                                                                 \
  }

#define X(D, sfx, T, W)                       \
  CAST(sfx, bool, T, uint8_t, x != 0)         \
  CAST(sfx, float32, T, float, x)             \
  CAST(sfx, float64, T, double, x)            \
  CAST(sfx, uint8, T, uint8_t, x)             \
  CAST(sfx, uint16, T, uint16_t, x)           \
  CAST(sfx, uint32, T, uint32_t, x)           \
  CAST(sfx, uint64, T, uint64_t, x)           \
  CAST_PAIR(sfx, complex64, T, tl_c64, float) \
  CAST_PAIR(sfx, complex128, T, tl_c128, double)
TL_INTEGERS(X)
#undef X

#define X(D, sfx, T, W)                       \
  CAST(sfx, bool, T, uint8_t, x != 0)         \
  CAST_PAIR(sfx, complex64, T, tl_c64, float) \
  CAST_PAIR(sfx, complex128, T, tl_c128, double)
TL_FLOATS(X)
#undef X
CAST(float32, float64, float, double, x)
CAST(float64, float32, double, float, x)

// Both parts are cast, as twice as many reals.
void TL_K(cast_complex64_complex128)(void *out, const void *a, size_t n) {
  TL_K(cast_float32_float64)(out, a, 2 * n);
}
void TL_K(cast_complex128_complex64)(void *out, const void *a, size_t n) {
  TL_K(cast_float64_float32)(out, a, 2 * n);
}

// One above the largest value of an integer type: a power of two, so exact.
#define END(F, HIGH) ((F)((HIGH) / 2 + 1) * 2)

// The cast of a float: truncated, saturated at the ends. NaN fails both
// comparisons and gives 0.
#define CHOSEN(F, V, LOW, HIGH)                          \
  (x >= (F)(LOW) ? (x < END(F, HIGH) ? (V)x : (V)(HIGH)) \
                 : (x < (F)(LOW) ? (V)(LOW) : (V)0))
// Items of 8 and 16 bits are chosen as floats, in vectors as wide as those that
// are compared, and cut to size a block later.
enum { CAST_BLOCK = 64 };
#define CAST_NARROW(from, to, F, T, LOW, HIGH)                             \
  TL_INLINE void narrow_##from##_##to(T *out, const F *items, size_t n) {  \
    F chosen[CAST_BLOCK];                                                  \
    for (size_t i = 0; i < n; i++) {                                       \
      const F x = items[i];                                                \
      chosen[i] = CHOSEN(F, F, LOW, HIGH);                                 \
    }                                                                      \
    __asm__("" : "+m"(chosen)); /* else compilers choose among integers */ \
    for (size_t i = 0; i < n; i++) out[i] = (T)(int32_t)chosen[i];         \
  }                                                                        \
  void TL_K(cast_##from##_##to)(void *out, const void *a, size_t n) {      \
    T *to_items = out;                                                     \
    const F *items = a;                                                    \
    size_t i = 0;                                                          \
    for (; n - i >= CAST_BLOCK; i += CAST_BLOCK)                           \
      narrow_##from##_##to(to_items + i, items + i, CAST_BLOCK);           \
    narrow_##from##_##to(to_items + i, items + i, n - i);                  \
  }
#define X(FROM, TO, from, to, F, T, LOW, HIGH) \
  CAST_NARROW(from, to, F, T, LOW, HIGH)
TL_FLOAT_TO_NARROW(X, FLOAT32, float32, float)
TL_FLOAT_TO_NARROW(X, FLOAT64, float64, double)
#undef X
#define X(FROM, TO, from, to, F, T, LOW, HIGH) \
  CAST(from, to, F, T, CHOSEN(F, T, LOW, HIGH))
TL_FLOAT_TO_WIDE(X, FLOAT32, float32, float)
TL_FLOAT_TO_WIDE(X, FLOAT64, float64, double)
#undef X

// As the predicates of integer.c: in blocks, to vectorise and still stop
// early.
enum { CHECK_BLOCK = 1024 };

// What was found so far is as wide as an item, as the comparisons are.
typedef uint8_t found_int8, found_uint8;
typedef uint16_t found_int16, found_uint16;
typedef uint32_t found_int32, found_uint32, found_float32;
typedef uint64_t found_int64, found_uint64, found_float64;

// Whether no item of n meets the test, block by block; [setup] is run before.
#define WITHIN(from, T, setup, bad_test)                                       \
  bool TL_K(within_##from)(const void *a, size_t n, const tl_bounds *bounds) { \
    const T *items = a;                                                        \
    setup;                                                                     \
    while (n > 0) {                                                            \
      size_t block = n < CHECK_BLOCK ? n : CHECK_BLOCK;                        \
      found_##from bad = 0;                                                    \
      for (size_t i = 0; i < block; i++) {                                     \
        const T x = items[i];                                                  \
        bad |= (found_##from)(bad_test);                                       \
      }                                                                        \
      if (bad)                                                                 \
        return false;                                                          \
      items += block;                                                          \
      n -= block;                                                              \
    }                                                                          \
    return true;                                                               \
  }

// Of integers those below the least are far above it as unsigned numbers.
#define X(D, sfx, T, W)                                                \
  WITHIN(sfx, T, const found_##sfx least = (found_##sfx)bounds->least, \
         (found_##sfx)((found_##sfx)x - least) > (found_##sfx)bounds->span)
TL_INTEGERS(X)
#undef X
WITHIN(float64, double, const tl_bounds *b = bounds,
       !(x > b->above) | !(x < b->below))
// Of float32 the bounds are, too, each rounded to the side where it excludes
// the same items: twice as many are compared at once.
static float below_or_at(double x) {
  const float y = (float)x;
  return (double)y > x ? nextafterf(y, -INFINITY) : y;
}
WITHIN(float32, float, const float above = below_or_at(bounds->above);
       const float below = -below_or_at(-bounds->below),
       !(x > above) | !(x < below))
