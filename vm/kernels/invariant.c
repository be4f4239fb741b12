// Floor division and remainder of integers where one number divides all items:
// products and shifts in place of divisions (Granlund and Montgomery,
// "Division by invariant integers using multiplication", 1994).
//
// For some multiplier m, the high half of m x, shifted, is x / d for every x.
// Negative x are complemented, as -1 - x goes to -1 - q where q is floored.
#include "vm/kernels/list.h"
#include "vm/kernels/vector.h"

__extension__ typedef unsigned __int128 twice64;

typedef uint8_t lanes_8 __attribute__((vector_size(LANES * 8)));
typedef uint16_t lanes_16 __attribute__((vector_size(LANES * 8)));
typedef uint32_t lanes_32 __attribute__((vector_size(LANES * 8)));
typedef vec_bits lanes_64;
typedef int8_t signed_8 __attribute__((vector_size(LANES * 8)));
typedef int16_t signed_16 __attribute__((vector_size(LANES * 8)));
typedef int32_t signed_32 __attribute__((vector_size(LANES * 8)));
typedef vec_integers signed_64;

// --- High halves of products -------------------------------------------------

// The products of x's even lanes, of 32 bits, and m, below 2^32.
TL_INLINE lanes_64 even_times(lanes_64 x, uint64_t m) {
#if defined(__AVX512F__) && defined(__AVX512DQ__)
  return (lanes_64)_mm512_mul_epu32((__m512i)x,
                                    _mm512_set1_epi64((long long)m));
#elif defined(__AVX2__)
  return (lanes_64)_mm256_mul_epu32((__m256i)x,
                                    _mm256_set1_epi64x((long long)m));
#elif defined(__SSE2__)
  return (lanes_64)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x((long long)m));
#else
  return (x & 0xffffffff) * m;
#endif
}

// The high halves of the products of all lanes and m.
TL_INLINE lanes_16 high_16(lanes_16 x, uint64_t m) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
  return (lanes_16)_mm512_mulhi_epu16((__m512i)x, _mm512_set1_epi16((short)m));
#elif defined(__AVX2__)
  return (lanes_16)_mm256_mulhi_epu16((__m256i)x, _mm256_set1_epi16((short)m));
#elif defined(__SSE2__)
  return (lanes_16)_mm_mulhi_epu16((__m128i)x, _mm_set1_epi16((short)m));
#else
  const lanes_32 pairs = (lanes_32)x;
  const uint32_t by = (uint32_t)m;
  return (lanes_16)((((pairs << 16 >> 16) * by) >> 16) |
                    ((pairs >> 16) * by >> 16 << 16));
#endif
}

// Even and odd lanes by themselves, as products are twice as wide.
TL_INLINE lanes_32 high_32(lanes_32 x, uint64_t m) {
  const lanes_64 pairs = (lanes_64)x;
  return (lanes_32)((even_times(pairs, m) >> 32) |
                    (even_times(pairs >> 32, m) >> 32 << 32));
}

// The schoolbook product of two halves each, of which the high word is kept.
TL_INLINE lanes_64 high_64(lanes_64 x, uint64_t m) {
  const uint64_t low = m & 0xffffffff, high = m >> 32;
  const lanes_64 upper = x >> 32;
  const lanes_64 cross = even_times(upper, low) + (even_times(x, low) >> 32);
  const lanes_64 other = even_times(x, high) + (cross & 0xffffffff);
  return even_times(upper, high) + (cross >> 32) + (other >> 32);
}

// --- Quotients ---------------------------------------------------------------

// A divisor d > 1.
typedef struct invariant {
  uint64_t multiplier;
  unsigned shift;
} invariant;

// The multiplier for items of [width] bits. It has a bit more than they: the
// first, which is left out here. 2^bits is the least power of two that is not
// below d.
//
//   d 7, 32 bits     0x24924925 below the bit that is left out, shift 2
TL_INLINE invariant invariant_of(uint64_t d, int width) {
  const int bits = 64 - __builtin_clzll(d - 1);
  const uint64_t rest = (uint64_t)(((twice64)1 << bits) - d);
  return (invariant){(uint64_t)(((twice64)rest << width) / d + 1),
                     (unsigned)bits - 1};
}

// The quotients of unsigned lanes: the first bit of the multiplier adds x to
// the high half, which is done without overflow.
#define QUOTIENT(bits)                                                   \
  TL_INLINE lanes_##bits quotient_##bits(lanes_##bits x, invariant by) { \
    const lanes_##bits high = high_##bits(x, by.multiplier);             \
    return (high + ((x - high) >> 1)) >> by.shift;                       \
  }                                                                      \
  TL_INLINE invariant invariant_##bits(uint64_t d) {                     \
    return invariant_of(d, bits);                                        \
  }
QUOTIENT(16)
QUOTIENT(32)
QUOTIENT(64)

// Bytes are words of 16 bits, whose multiplier is short enough to have no
// extra bit.
TL_INLINE invariant invariant_8(uint64_t d) {
  return (invariant){0x10000 / d + 1, 0};
}

// Quotients of bytes, by their words of 16 bits.
TL_INLINE lanes_8 quotient_8(lanes_8 x, invariant by) {
  const lanes_16 pairs = (lanes_16)x;
  return (lanes_8)(high_16(pairs & 0xff, by.multiplier) |
                   high_16(pairs >> 8, by.multiplier) << 8);
}

// Floored quotients: negative x are complemented before and after.
#define FLOORED(bits)                                                       \
  TL_INLINE lanes_##bits floored_uint##bits(lanes_##bits x, invariant by) { \
    return quotient_##bits(x, by);                                          \
  }                                                                         \
  TL_INLINE lanes_##bits floored_int##bits(lanes_##bits x, invariant by) {  \
    const lanes_##bits negative = (lanes_##bits)((signed_##bits)x < 0);     \
    return quotient_##bits(x ^ negative, by) ^ negative;                    \
  }
FLOORED(8)
FLOORED(16)
FLOORED(32)
FLOORED(64)

// --- Kernels -----------------------------------------------------------------

// By 1, and by negative numbers, which are rare: as by an array of them.
#define BY_MANY(name, sfx, T)                                          \
  static void name##_many_##sfx(T *to, const T *from, T y, size_t n) { \
    enum { MANY = 64 };                                                \
    T many[MANY];                                                      \
    for (size_t i = 0; i < MANY; i++) many[i] = y;                     \
    for (size_t i = 0; i < n; i += MANY) {                             \
      const size_t count = n - i < MANY ? n - i : MANY;                \
      TL_K(name##_##sfx)(to + i, from + i, many, count);               \
    }                                                                  \
  }

// The kernel for a divisor above 1. The rest behind whole vectors is one more,
// of which some lanes count.
#define INVARIANT(name, sfx, T, bits, result)                         \
  BY_MANY(name, sfx, T)                                               \
  void TL_K(name##_vs_##sfx)(void *out, const void *a, const void *b, \
                             size_t n) {                              \
    T *to = out;                                                      \
    const T *from = a;                                                \
    const T y = *(const T *)b;                                        \
    if (y <= 1) {                                                     \
      name##_many_##sfx(to, from, y, n);                              \
      return;                                                         \
    }                                                                 \
    const invariant by = invariant_##bits((uint64_t)y);               \
    const uint##bits##_t d = (uint##bits##_t)y;                       \
    lanes_##bits x, z;                                                \
    for (; n >= sizeof x / sizeof y; n -= sizeof x / sizeof y) {      \
      memcpy(&x, from, sizeof x);                                     \
      z = result;                                                     \
      memcpy(to, &z, sizeof z);                                       \
      from += sizeof x / sizeof y;                                    \
      to += sizeof x / sizeof y;                                      \
    }                                                                 \
    x = (lanes_##bits){0};                                            \
    memcpy(&x, from, n * sizeof y);                                   \
    z = result;                                                       \
    memcpy(to, &z, n * sizeof y);                                     \
    (void)d;                                                          \
  }

#define BOTH(sfx, T, bits)                                    \
  INVARIANT(floor_divide, sfx, T, bits, floored_##sfx(x, by)) \
  INVARIANT(remainder, sfx, T, bits, x - floored_##sfx(x, by) * d)
// Both kernels of a dtype.
BOTH(int8, int8_t, 8)
BOTH(uint8, uint8_t, 8)
BOTH(int16, int16_t, 16)
BOTH(uint16, uint16_t, 16)
BOTH(int32, int32_t, 32)
BOTH(uint32, uint32_t, 32)
BOTH(int64, int64_t, 64)
BOTH(uint64, uint64_t, 64)
