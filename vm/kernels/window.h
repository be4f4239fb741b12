// Sums of an item and its two neighbours: (x + y) + z where the three operands
// are one run of items, one and two places on in any order, as in a stencil.
// Each vector is loaded once and shifted in registers, since of three loads
// from neighbouring places two lie across cache lines.
#ifndef TALLY_VM_KERNELS_WINDOW_H
#define TALLY_VM_KERNELS_WINDOW_H

#include "vm/kernels/loop.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

// Which of the three places is added last.
// Floats round by order, so that it counts, though all three are loaded
// at once.
typedef enum window { WINDOW_NONE, LAST_LEFT, LAST_MIDDLE, LAST_RIGHT } window;

// [a], [b] and [c] are the places in items of some size.
TL_INLINE window find_window(uintptr_t a, uintptr_t b, uintptr_t c,
                             size_t itemsize) {
  const uintptr_t left = a < b ? a : b, right = a < b ? b : a;
  if (right == left + itemsize) {
    return c == right + itemsize  ? LAST_RIGHT
           : left == c + itemsize ? LAST_LEFT
                                  : WINDOW_NONE;
  }
  return right == c + itemsize && c == left + itemsize ? LAST_MIDDLE
                                                       : WINDOW_NONE;
}

#if TL_SHUFFLES && !defined(__OPTIMIZE_SIZE__)
#define HAS_WINDOWS
#endif

#ifdef HAS_WINDOWS
// The items before and after those of a vector, of it and its neighbour.
#define SHIFT_BEFORE_2 1, 2
#define SHIFT_AFTER_2 1, 2
#define SHIFT_BEFORE_4 3, 4, 5, 6
#define SHIFT_AFTER_4 1, 2, 3, 4
#define SHIFT_BEFORE_8 7, 8, 9, 10, 11, 12, 13, 14
#define SHIFT_AFTER_8 1, 2, 3, 4, 5, 6, 7, 8
#define SHIFT_BEFORE_16 \
  15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
#define SHIFT_AFTER_16 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

#if defined(__AVX512BW__)
#define BEFORE_32(x, y) SHUFFLE(x, y, SHIFT_BEFORE_16)
#define AFTER_32(x, y) SHUFFLE(x, y, SHIFT_AFTER_16)
#define BEFORE_64(x, y) SHUFFLE(x, y, SHIFT_BEFORE_8)
#define AFTER_64(x, y) SHUFFLE(x, y, SHIFT_AFTER_8)
#elif defined(__AVX2__)
#define BEFORE_32(x, y) SHUFFLE(x, y, SHIFT_BEFORE_8)
#define AFTER_32(x, y) SHUFFLE(x, y, SHIFT_AFTER_8)
#define BEFORE_64(x, y) SHUFFLE(x, y, SHIFT_BEFORE_4)
#define AFTER_64(x, y) SHUFFLE(x, y, SHIFT_AFTER_4)
#else
#define BEFORE_32(x, y) SHUFFLE(x, y, SHIFT_BEFORE_4)
#define AFTER_32(x, y) SHUFFLE(x, y, SHIFT_AFTER_4)
#define BEFORE_64(x, y) SHUFFLE(x, y, SHIFT_BEFORE_2)
#define AFTER_64(x, y) SHUFFLE(x, y, SHIFT_AFTER_2)
#endif
#define BEFORE_float32 BEFORE_32
#define AFTER_float32 AFTER_32
#define BEFORE_float64 BEFORE_64
#define AFTER_float64 AFTER_64
#define BEFORE_int32 BEFORE_32
#define AFTER_int32 AFTER_32
#define BEFORE_int64 BEFORE_64
#define AFTER_int64 AFTER_64

// Sums of integers wrap, as those of U do.
#define ALL_OF(sfx, x) ((sfx##_item)(x) - (sfx##_window){0})
#define WINDOW_VECTOR(sfx, T, U)                              \
  typedef U sfx##_item;                                       \
  typedef U sfx##_window                                      \
      __attribute__((vector_size(sizeof(T) * TL_LANES(T))));  \
  TL_INLINE sfx##_window load_##sfx##_window(const T *from) { \
    sfx##_window x;                                           \
    memcpy(&x, from, sizeof x);                               \
    return x;                                                 \
  }
WINDOW_VECTOR(float32, float, float)
WINDOW_VECTOR(float64, double, double)
WINDOW_VECTOR(int32, int32_t, uint32_t)
WINDOW_VECTOR(int64, int64_t, uint64_t)

#ifdef __AVX2__
// Bytes are shifted within 16 of them, the 16 before or after beside them.
WINDOW_VECTOR(uint8, uint8_t, uint8_t)
#ifdef __AVX512BW__
// The last byte of x, then y but for its last: [past] has the 16 bytes before
// each 16 of y, as the shift knows no others.
TL_INLINE uint8_window BEFORE_uint8(uint8_window x, uint8_window y) {
  const __m512i past = _mm512_alignr_epi64((__m512i)y, (__m512i)x, 6);
  return (uint8_window)_mm512_alignr_epi8((__m512i)y, past, 15);
}
// x but for its first byte, then the first of y, likewise.
TL_INLINE uint8_window AFTER_uint8(uint8_window x, uint8_window y) {
  const __m512i next = _mm512_alignr_epi64((__m512i)y, (__m512i)x, 2);
  return (uint8_window)_mm512_alignr_epi8(next, (__m512i)x, 1);
}
#else
// The same of vectors of 32 bytes, which have two halves of 16.
TL_INLINE uint8_window BEFORE_uint8(uint8_window x, uint8_window y) {
  const __m256i past = _mm256_permute2x128_si256((__m256i)x, (__m256i)y, 0x21);
  return (uint8_window)_mm256_alignr_epi8((__m256i)y, past, 15);
}
// As above, from the first half of y.
TL_INLINE uint8_window AFTER_uint8(uint8_window x, uint8_window y) {
  const __m256i next = _mm256_permute2x128_si256((__m256i)x, (__m256i)y, 0x21);
  return (uint8_window)_mm256_alignr_epi8(next, (__m256i)x, 1);
}
#endif
#endif

// The items before [i] of to[i] = result, where u is the sum and w the item of
// d or the one of it (V or S); the places begin at [left]. What is read lies
// within the operands.
#define WINDOW_LOOP(sfx, T, FIRST, SECOND, LAST, D, result)                    \
  for (; i + 2 * TL_LANES(T) <= n + 1; i += TL_LANES(T)) {                     \
    const sfx##_window next = load_##sfx##_window(left + 1 + i + TL_LANES(T)); \
    const sfx##_window before = BEFORE_##sfx(past, middle),                    \
                       after = AFTER_##sfx(middle, next);                      \
    const sfx##_window u = (FIRST + SECOND) + LAST;                            \
    const sfx##_window w = D##_WINDOW(sfx, i);                                 \
    (void)w;                                                                   \
    const sfx##_window made = result;                                          \
    memcpy(to + i, &made, sizeof made);                                        \
    past = middle;                                                             \
    middle = next;                                                             \
  }
#define V_WINDOW(sfx, i) load_##sfx##_window(from_d + i)
#define S_WINDOW(sfx, i) one
#define N_WINDOW(sfx, i) u

// As many items as are done so: 0 where the operands are no window.
#define WINDOW_SUM(name, sfx, T, D, result)                                    \
  static size_t name(T *to, const T *from_a, const T *from_b, const T *from_c, \
                     const T *from_d, size_t n) {                              \
    const window kind = find_window((uintptr_t)from_a, (uintptr_t)from_b,      \
                                    (uintptr_t)from_c, sizeof(T));             \
    size_t i = 0;                                                              \
    if (kind == WINDOW_NONE || n < 2 * TL_LANES(T))                            \
      return 0;                                                                \
    const T *const left = kind == LAST_LEFT ? from_c                           \
                          : from_a < from_b ? from_a                           \
                                            : from_b;                          \
    const sfx##_window one = D##_ALL(sfx);                                     \
    sfx##_window past = ALL_OF(sfx, left[0]);                                  \
    sfx##_window middle = load_##sfx##_window(left + 1);                       \
    (void)one, (void)from_d;                                                   \
    if (kind == LAST_LEFT) {                                                   \
      WINDOW_LOOP(sfx, T, middle, after, before, D, result)                    \
    } else if (kind == LAST_MIDDLE) {                                          \
      WINDOW_LOOP(sfx, T, before, after, middle, D, result)                    \
    } else {                                                                   \
      WINDOW_LOOP(sfx, T, before, middle, after, D, result)                    \
    }                                                                          \
    return i;                                                                  \
  }
#define V_ALL(sfx) ALL_OF(sfx, 0)
#define S_ALL(sfx) ALL_OF(sfx, from_d[0])
#define N_ALL(sfx) ALL_OF(sfx, 0)

// u alone, and what may follow it.
#define WINDOW_SUMS(sfx, T)                        \
  WINDOW_SUM(NOTHING_window_##sfx, sfx, T, N, u)   \
  WINDOW_SUM(ADD_V_window_##sfx, sfx, T, V, u + w) \
  WINDOW_SUM(SUBTRACT_V_window_##sfx, sfx, T, V, u - w)
#define WINDOW_SCALED(sfx, T) \
  WINDOW_SUM(MULTIPLY_S_window_##sfx, sfx, T, S, u *w)
WINDOW_SUMS(float32, float)
WINDOW_SCALED(float32, float)
WINDOW_SUMS(float64, double)
WINDOW_SCALED(float64, double)
WINDOW_SUM(NOTHING_window_int32, int32, int32_t, N, u)
WINDOW_SUM(NOTHING_window_int64, int64, int64_t, N, u)
#define WINDOW_float32(THIRD, ...) THIRD##_window_float32(__VA_ARGS__)
#define WINDOW_float64(THIRD, ...) THIRD##_window_float64(__VA_ARGS__)
#define WINDOW_int32(THIRD, ...) THIRD##_window_int32(__VA_ARGS__)
#define WINDOW_int64(THIRD, ...) THIRD##_window_int64(__VA_ARGS__)
#ifdef __AVX2__
WINDOW_SUMS(uint8, uint8_t)
#define WINDOW_uint8(THIRD, ...) THIRD##_window_uint8(__VA_ARGS__)
#endif
#else
#define WINDOW_float32(...) 0
#define WINDOW_float64(...) 0
#define WINDOW_int32(...) 0
#define WINDOW_int64(...) 0
#endif
#ifndef WINDOW_uint8
#define WINDOW_uint8(...) 0
#endif

#endif
