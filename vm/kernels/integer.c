// Operations that only integers and bools have: floor division and remainder,
// powers, bits and shifts; and the predicates that are asked before those that
// may fail.
//
//   -7 // 2    -4     rounded down, not to zero
//   -7 % 2      1     the sign of the divisor
//
// Everything wraps: no operation of integers has undefined results, since the
// predicates keep zero divisors and negative counts away.
#include "vm/kernels/list.h"

// The caller has seen that no divisor is 0. x // -1 is -x, which wraps where
// the division instruction would trap. is_beyond: the quotient that is cut,
// with r left over, is one more than the floored one.
#define X(D, sfx, T, W)                                 \
  TL_INLINE bool is_beyond_##sfx(T r, T y) {            \
    return (r != 0) & ((r < 0) != (y < 0));             \
  }                                                     \
  TL_INLINE T floor_quotient_##sfx(T x, T y) {          \
    if (y == -1)                                        \
      return (T)((W)0 - (W)x);                          \
    return (T)(x / y - is_beyond_##sfx((T)(x % y), y)); \
  }                                                     \
  TL_INLINE T floor_rest_##sfx(T x, T y) {              \
    if (y == -1)                                        \
      return 0;                                         \
    T r = (T)(x % y);                                   \
    return (T)(is_beyond_##sfx(r, y) ? r + y : r);      \
  }                                                     \
  TL_UNARY(signbit_##sfx, T, uint8_t, x < 0)
TL_SIGNED(X)
#undef X

// Vectors alone ask is_beyond here, and the smallest build has none.
#define X(D, sfx, T, W)                                              \
  __attribute__((unused)) TL_INLINE bool is_beyond_##sfx(T r, T y) { \
    (void)r, (void)y;                                                \
    return false;                                                    \
  }                                                                  \
  TL_INLINE T floor_quotient_##sfx(T x, T y) {                       \
    return (T)(x / y);                                               \
  }                                                                  \
  TL_INLINE T floor_rest_##sfx(T x, T y) {                           \
    return (T)(x % y);                                               \
  }
TL_UNSIGNED(X)
#undef X

#define DIVIDE_PLAINLY(sfx, T)                                    \
  TL_BINARY(floor_divide_##sfx, T, T, floor_quotient_##sfx(x, y)) \
  TL_BINARY(remainder_##sfx, T, T, floor_rest_##sfx(x, y))

// Vectors divide floats F only. A quotient that is cut is exact so: unless x /
// y is whole, it is further from the next whole number than F rounds, where x
// has fewer digits than F. A block of 64 bits with an x that is `large` is
// divided plainly. I is an integer that holds the quotients.
enum { DIVIDE_BLOCK = 256 };
#define DIVIDE_BY(sfx, T, W, F, I, large)                         \
  static bool any_large_##sfx(const T *items, size_t n) {         \
    W found = 0;                                                  \
    for (size_t i = 0; i < n; i++) {                              \
      const W x = (W)items[i];                                    \
      found |= (W)(large);                                        \
      (void)x;                                                    \
    }                                                             \
    return found != 0;                                            \
  }                                                               \
  TL_INLINE T vector_quotient_##sfx(T x, T y) {                   \
    const T q = (T)(I)((F)x / (F)y), r = (T)((W)x - (W)q * (W)y); \
    return (T)((W)q - is_beyond_##sfx(r, y));                     \
  }                                                               \
  TL_INLINE T vector_rest_##sfx(T x, T y) {                       \
    const T q = (T)(I)((F)x / (F)y), r = (T)((W)x - (W)q * (W)y); \
    return (T)(is_beyond_##sfx(r, y) ? (W)r + (W)y : (W)r);       \
  }                                                               \
  DIVIDE_KERNEL(floor_divide_##sfx, T, sfx, quotient)             \
  DIVIDE_KERNEL(remainder_##sfx, T, sfx, rest)
#define DIVIDE_KERNEL(name, T, sfx, which)                              \
  void TL_K(name)(void *out, const void *a, const void *b, size_t n) {  \
    T *to = out;                                                        \
    const T *x = a, *y = b;                                             \
    for (size_t i = 0; i < n;) {                                        \
      const size_t end = n - i < DIVIDE_BLOCK ? n : i + DIVIDE_BLOCK;   \
      if (any_large_##sfx(x + i, end - i)) {                            \
        for (; i < end; i++) to[i] = floor_##which##_##sfx(x[i], y[i]); \
      } else {                                                          \
        TL_LOOP for (; i < end; i++) to[i] =                            \
            vector_##which##_##sfx(x[i], y[i]);                         \
      }                                                                 \
    }                                                                   \
  }

#if TL_SMALL
#define X(D, sfx, T, W) DIVIDE_PLAINLY(sfx, T)
TL_INTEGERS(X)
#undef X
#else
DIVIDE_BY(int8, int8_t, uint32_t, float, int32_t, 0)
DIVIDE_BY(uint8, uint8_t, uint32_t, float, int32_t, 0)
DIVIDE_BY(int16, int16_t, uint32_t, float, int32_t, 0)
DIVIDE_BY(uint16, uint16_t, uint32_t, float, int32_t, 0)
#ifdef __AVX512DQ__
#define FAR (UINT64_C(1) << 51)
DIVIDE_BY(int32, int32_t, uint32_t, double, int64_t, 0)
DIVIDE_BY(uint32, uint32_t, uint32_t, double, int64_t, 0)
DIVIDE_BY(int64, int64_t, uint64_t, double, int64_t, x + FAR > 2 * FAR)
DIVIDE_BY(uint64, uint64_t, uint64_t, double, int64_t, x > FAR)
#undef FAR
#else  // which converts 64 bits to floats and back
DIVIDE_PLAINLY(int32, int32_t)
DIVIDE_PLAINLY(uint32, uint32_t)
DIVIDE_PLAINLY(int64, int64_t)
DIVIDE_PLAINLY(uint64, uint64_t)
#endif
#endif

// A shift as far as the width, or further, leaves nothing but the sign.
#define X(D, sfx, T, W)                                                \
  TL_INLINE T power_##sfx(T base, T exponent) {                        \
    W result = 1, factor = (W)base;                                    \
    for (; exponent != 0; exponent = (T)(exponent >> 1)) {             \
      if (exponent & 1)                                                \
        result *= factor;                                              \
      factor *= factor;                                                \
    }                                                                  \
    return (T)result;                                                  \
  }                                                                    \
  TL_BINARY(pow_##sfx, T, T, power_##sfx(x, y))                        \
  TL_BINARY(bitwise_and_##sfx, T, T, x &y)                             \
  TL_BINARY(bitwise_or_##sfx, T, T, x | y)                             \
  TL_BINARY(bitwise_xor_##sfx, T, T, x ^ y)                            \
  TL_UNARY(bitwise_invert_##sfx, T, T, ~(W)x)                          \
  TL_BINARY(left_shift_##sfx, T, T,                                    \
            y < 8 * sizeof(T) ? (W)x << (y & (8 * sizeof(T) - 1)) : 0) \
  TL_BINARY(right_shift_##sfx, T, T,                                   \
            y < 8 * sizeof(T) ? (W)x >> (y & (8 * sizeof(T) - 1)) : 0)
TL_UNSIGNED(X)
#undef X

// Bits are counted by adding the counts of halves, quarters and eighths side by
// side, which vectorises where counting an item is no instruction of vectors.
#define OF_BYTE(W, b) ((W)((W) ~(W)0 / 255 * (b)))
#define X(D, sfx, T, W)                                              \
  TL_INLINE int64_t bits_##sfx(W x) {                                \
    x = (W)(x - ((x >> 1) & OF_BYTE(W, 0x55)));                      \
    x = (W)((x & OF_BYTE(W, 0x33)) + ((x >> 2) & OF_BYTE(W, 0x33))); \
    x = (W)((W)(x + (x >> 4)) & OF_BYTE(W, 0x0f));                   \
    return (int64_t)((T)(x * OF_BYTE(W, 1)) >> (8 * sizeof(T) - 8)); \
  }                                                                  \
  TL_UNARY(popcount_##sfx, T, int64_t, bits_##sfx(x))
TL_UNSIGNED(X)
#undef X
#undef OF_BYTE

// The largest shift of an item, which leaves only its sign.
#define LAST_BIT(T) ((T)(8 * sizeof(T) - 1))
#define X(D, sfx, T, W) \
  TL_BINARY(right_shift_##sfx, T, T, x >> (y < LAST_BIT(T) ? y : LAST_BIT(T)))
TL_SIGNED(X)
#undef X

TL_UNARY(logical_not, uint8_t, uint8_t, x ^ 1)

// Predicates look at blocks, so that they vectorise and still stop early.
enum { ASK_BLOCK = 1024 };

// A predicate over all items: true at the first block with one that meets the
// test.
#define ASK(name, T, test)                          \
  bool TL_K(name)(const void *a, size_t n) {        \
    const T *from = a;                              \
    while (n > 0) {                                 \
      size_t block = n < ASK_BLOCK ? n : ASK_BLOCK; \
      unsigned char found = 0;                      \
      for (size_t i = 0; i < block; i++) {          \
        const T x = from[i];                        \
        found = (unsigned char)(found | (test));    \
      }                                             \
      if (found)                                    \
        return true;                                \
      from += block;                                \
      n -= block;                                   \
    }                                               \
    return false;                                   \
  }

#define X(D, sfx, T, W) ASK(any_zero_##sfx, T, x == 0)
TL_UNSIGNED(X)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W) ASK(any_zero_##sfx, T, (x.re == 0) & (x.im == 0))
TL_COMPLEXES(X)
#undef X
#define X(D, sfx, T, W) ASK(any_negative_##sfx, T, x < 0)
TL_SIGNED(X)
TL_FLOATS(X)
#undef X
