// Keys of what is sorted: see sort.h.
#include "vm/kernels/search.h"

#define TOP_BIT(U) ((U)((U)1 << (8 * sizeof(U) - 1)))
#define ALL_ONES(U) ((U) ~(U)0)

// X(suffix, word, kind, infinity, NaN): how an item's bits become a key and
// back. Integers, signed or not, and bools differ in which bits are turned.
#define KEY_WORDS(X)                                   \
  X(word1, tl_word1, INTEGER, UINT8_MAX, 0)            \
  X(word2, tl_word2, INTEGER, UINT16_MAX, 0)           \
  X(word4, tl_word4, INTEGER, UINT32_MAX, 0)           \
  X(word8, tl_key8, INTEGER, UINT64_MAX, 0)            \
  X(float16, tl_word2, REAL, 0x7c00u, 0x7e00u)         \
  X(float32, tl_word4, REAL, 0x7f800000u, 0x7fc00000u) \
  X(float64, tl_key8, REAL, 0x7ff0000000000000u, 0x7ff8000000000000u)

// Masks are made by arithmetic: vectors of words of 64 bits are not compared by
// every processor.
#define ONES_IF(U, bit) ((U)(0 - (U)(bit)))
#define SIGN_OF(U, x) ((U)((U)(x) >> (8 * sizeof(U) - 1)))
#define ONES_UNLESS_0(U, x) ONES_IF(U, SIGN_OF(U, (x) | (U)(0 - (U)(x))))

#define KEY_OF_INTEGER(U, bits, zero, turn, INF) (U)((bits) ^ (turn))
#define BITS_OF_INTEGER(U, key, turn, NAN_BITS) (U)((U)(key) ^ (turn))
// A set sign turns all bits, a clear one the sign alone. Where the zeros are
// one, the sign alone is no sign. What lies above INF without its sign is NaN.
#define TURNED(U, bits) \
  (U)((bits) ^ (ONES_IF(U, SIGN_OF(U, bits)) | TOP_BIT(U)))
#define KEY_OF_REAL(U, bits, zero, turn, INF)                      \
  (U)((TURNED(U, (bits) & (ONES_UNLESS_0(U, (bits) ^ TOP_BIT(U)) | \
                           ONES_IF(U, !(zero)))) ^                 \
       (turn)) |                                                   \
      ONES_IF(U, SIGN_OF(U, (U)(INF) - (U)((bits) & (U)~TOP_BIT(U)))))
#define BITS_OF_REAL(U, key, turn, NAN_BITS) \
  (U)((UNTURNED(U, (U)((U)(key) ^ (turn))) & \
       ONES_UNLESS_0(U, (U) ~(U)(key))) |    \
      ((NAN_BITS) & (U)~ONES_UNLESS_0(U, (U) ~(U)(key))))
#define UNTURNED(U, key) (U)((key) ^ ((U)(SIGN_OF(U, key) - 1) | TOP_BIT(U)))

// Keys and items may be one array where their widths agree.
#define KEYS(sfx, U, KIND, INF, NAN_BITS, width, K)                            \
  static void keys_##sfx##_##width(void *out, const void *a, size_t n,         \
                                   uint64_t turned, bool same_zero,            \
                                   tl_stop *stop) {                            \
    K *keys = out;                                                             \
    const U *items = a;                                                        \
    const U turn = (U)turned;                                                  \
    (void)same_zero;                                                           \
    for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) { \
      TL_LOOP for (size_t i = start; i < end; i++) {                           \
        const U bits = items[i];                                               \
        keys[i] = KEY_OF_##KIND(U, bits, same_zero, turn, INF);                \
      }                                                                        \
    }                                                                          \
  }                                                                            \
  static void items_##sfx##_##width(void *out, const void *a, size_t n,        \
                                    uint64_t turned, bool same_zero,           \
                                    tl_stop *stop) {                           \
    const K *keys = a;                                                         \
    U *items = out;                                                            \
    (void)same_zero;                                                           \
    const U turn = (U)turned;                                                  \
    for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) { \
      TL_LOOP for (size_t i = start; i < end; i++) {                           \
        items[i] = BITS_OF_##KIND(U, keys[i], turn, (U)NAN_BITS);              \
      }                                                                        \
    }                                                                          \
  }
#define X(sfx, U, KIND, INF, NAN_BITS)      \
  KEYS(sfx, U, KIND, INF, NAN_BITS, own, U) \
  KEYS(sfx, U, KIND, INF, NAN_BITS, wide, uint64_t)
KEY_WORDS(X)
#undef X

const tl_sort_convert TL_K(sort_converts)[] = {
#define X(sfx, U, KIND, INF, NAN_BITS) \
  {keys_##sfx##_own, items_##sfx##_own, keys_##sfx##_wide, items_##sfx##_wide},
    KEY_WORDS(X)
#undef X
};
