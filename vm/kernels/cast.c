// Casts between all dtypes, and whether a cast keeps every value.
#include "vm/kernels/cast_list.h"

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

void TL_K(cast_complex64_complex128)(void *out, const void *a, size_t n) {
  TL_K(cast_float32_float64)(out, a, 2 * n);
}
void TL_K(cast_complex128_complex64)(void *out, const void *a, size_t n) {
  TL_K(cast_float64_float32)(out, a, 2 * n);
}

// One above the largest value of an integer type: a power of two, so exact.
#define END(F, HIGH) ((F)((HIGH) / 2 + 1) * 2)

// NaN fails both comparisons and gives 0.
#define X(FROM, TO, from, to, F, T, LOW, HIGH)               \
  CAST(from, to, F, T,                                       \
       x >= (F)(LOW) ? (x < END(F, HIGH) ? (T)x : (T)(HIGH)) \
                     : (x < (F)(LOW) ? (T)(LOW) : (T)0))
TL_CHECKS_FLOAT(X)
#undef X

// As in questions (integer.c): in blocks, to vectorise and still stop early.
enum { CHECK_BLOCK = 1024 };

#define CHECK(from, to, T, bad_test)                        \
  bool TL_K(check_##from##_##to)(const void *a, size_t n) { \
    const T *items = a;                                     \
    while (n > 0) {                                         \
      size_t block = n < CHECK_BLOCK ? n : CHECK_BLOCK;     \
      unsigned char bad = 0;                                \
      for (size_t i = 0; i < block; i++) {                  \
        const T x = items[i];                               \
        bad = (unsigned char)(bad | (bad_test));            \
      }                                                     \
      if (bad)                                              \
        return false;                                       \
      items += block;                                       \
      n -= block;                                           \
    }                                                       \
    return true;                                            \
  }

#define X(FROM, TO, from, to, T, R, HIGH) CHECK(from, to, T, (T)(R)x != x)
TL_CHECKS_SIGNED(X)
#undef X
#define X(FROM, TO, from, to, T, R, HIGH) \
  CHECK(from, to, T, (x < 0) | ((T)(R)x != x))
TL_CHECKS_SIGN(X)
#undef X
#define X(FROM, TO, from, to, T, R, HIGH) CHECK(from, to, T, x > (T)HIGH)
TL_CHECKS_UNSIGNED(X)
#undef X
// LOW - 1 itself does not fit; where a double cannot tell it from LOW, LOW
// does.
#define X(FROM, TO, from, to, F, T, LOW, HIGH)                              \
  CHECK(from, to, F,                                                        \
        !(((double)x >= (double)(LOW)) | ((double)x > (double)(LOW)-1.0)) | \
            !((double)x < END(double, HIGH)))
TL_CHECKS_FLOAT(X)
#undef X
