// Keys of what is sorted: see sort.h.
#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

#define TOP_BIT(U) ((U)((U)1 << (8 * sizeof(U) - 1)))
#define ALL_ONES(U) ((U) ~(U)0)

// X(suffix, word, kind): how an item's bits become a key and back, before the
// key's bits are turned. Integers, signed or not, and bools differ in that.
#define KEY_WORDS(X)            \
  X(word1, tl_word1, INTEGER)   \
  X(word2, tl_word2, INTEGER)   \
  X(word4, tl_word4, INTEGER)   \
  X(word8, tl_word8, INTEGER)   \
  X(float16, tl_word2, FLOAT16) \
  X(float32, tl_word4, FLOAT32) \
  X(float64, tl_word8, FLOAT64)

#define KEY_OF_INTEGER(U, bits, zero) (U)(bits)
#define BITS_OF_INTEGER(U, key) (U)(key)
// A set sign turns all bits, a clear one the sign alone.
#define KEY_OF_REAL(U, bits) \
  (U)((bits) ^ ((bits)&TOP_BIT(U) ? ALL_ONES(U) : TOP_BIT(U)))
#define BITS_OF_REAL(U, key) \
  (U)((key) ^ ((key)&TOP_BIT(U) ? TOP_BIT(U) : ALL_ONES(U)))
#define KEY_OF_FLOAT32(U, bits, zero) \
  KEY_OF_REAL(U, (zero) && (bits) == TOP_BIT(U) ? (U)0 : (bits))
#define KEY_OF_FLOAT16 KEY_OF_FLOAT32
#define KEY_OF_FLOAT64 KEY_OF_FLOAT32
#define BITS_OF_FLOAT16 BITS_OF_REAL
#define BITS_OF_FLOAT32 BITS_OF_REAL
#define BITS_OF_FLOAT64 BITS_OF_REAL

// The largest finite magnitude's bits, plus one, are infinity's; above is NaN.
#define ARE_NAN_INTEGER(U, bits) false
#define ARE_NAN_FLOAT16(U, bits) (((bits)&0x7fffu) > 0x7c00u)
#define ARE_NAN_FLOAT32(U, bits) (((bits)&0x7fffffffu) > 0x7f800000u)
#define ARE_NAN_FLOAT64(U, bits) \
  (((bits)&0x7fffffffffffffffu) > 0x7ff0000000000000u)
#define NAN_INTEGER 0
#define NAN_FLOAT16 0x7e00u
#define NAN_FLOAT32 0x7fc00000u
#define NAN_FLOAT64 0x7ff8000000000000u
#define HAS_NAN_INTEGER false
#define HAS_NAN_FLOAT16 true
#define HAS_NAN_FLOAT32 true
#define HAS_NAN_FLOAT64 true

// Which bits of a key are turned: the sign's of signed integers, so that
// negative ones come first, and all for descending order.
static uint64_t turned_bits(tl_dtype dtype, bool descending) {
  const bool is_signed = tl_dtypes[dtype].kind == 'I';
  const uint64_t sign = (uint64_t)1 << (8 * tl_itemsize(dtype) - 1);
  return (is_signed ? sign : 0) ^ (descending ? ALL_ONES(uint64_t) : 0);
}

typedef enum {
  KEY_word1,
  KEY_word2,
  KEY_word4,
  KEY_word8,
  KEY_float16,
  KEY_float32,
  KEY_float64
} key_kind;

// Integers of one width are one kind, signed or not, as are bools and bytes.
static key_kind kind_of(tl_dtype dtype) {
  if (dtype == TL_FLOAT16)
    return KEY_float16;
  if (dtype == TL_FLOAT32)
    return KEY_float32;
  if (dtype == TL_FLOAT64)
    return KEY_float64;
  const size_t itemsize = tl_itemsize(dtype);
  return itemsize == 1   ? KEY_word1
         : itemsize == 2 ? KEY_word2
         : itemsize == 4 ? KEY_word4
                         : KEY_word8;
}

// Keys and items may be one array where their widths agree.
#define KEYS(sfx, U, KIND, width, K)                                           \
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
        const U key = (U)(KEY_OF_##KIND(U, bits, same_zero) ^ turn);           \
        keys[i] = ARE_NAN_##KIND(U, bits) ? ALL_ONES(U) : key;                 \
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
        const U key = (U)((U)keys[i] ^ turn);                                  \
        const bool is_nan = HAS_NAN_##KIND && (U)keys[i] == ALL_ONES(U);       \
        items[i] = is_nan ? (U)NAN_##KIND : BITS_OF_##KIND(U, key);            \
      }                                                                        \
    }                                                                          \
  }
#define X(sfx, U, KIND)      \
  KEYS(sfx, U, KIND, own, U) \
  KEYS(sfx, U, KIND, wide, uint64_t)
KEY_WORDS(X)
#undef X

// Out of items or keys [a], the keys or items [out]: each item by a key of its
// own width, or of 64 bits.
typedef void convert(void *out, const void *a, size_t n, uint64_t turned,
                     bool same_zero, tl_stop *stop);
static const struct {
  convert *keys_own, *items_own, *keys_wide, *items_wide;
} converts[] = {
#define X(sfx, U, KIND)                                                  \
  [KEY_##sfx] = {keys_##sfx##_own, items_##sfx##_own, keys_##sfx##_wide, \
                 items_##sfx##_wide},
    KEY_WORDS(X)
#undef X
};

// [same_zero]: -0.0 and 0.0 have one key, which a stable order needs.
void tl_sort_keys(tl_dtype dtype, uint64_t *keys, const void *a, size_t n,
                  bool descending, bool same_zero, tl_stop *stop) {
  converts[kind_of(dtype)].keys_wide(keys, a, n, turned_bits(dtype, descending),
                                     same_zero, stop);
}

void tl_sort_to_keys(tl_dtype dtype, void *a, size_t n, bool descending,
                     tl_stop *stop) {
  converts[kind_of(dtype)].keys_own(a, a, n, turned_bits(dtype, descending),
                                    false, stop);
}

// NaNs all get one payload, since their keys are one.
void tl_sort_from_keys(tl_dtype dtype, void *a, const void *keys, size_t n,
                       bool descending, tl_stop *stop) {
  converts[kind_of(dtype)].items_own(a, keys, n, turned_bits(dtype, descending),
                                     false, stop);
}

// [keys] and [a] are different memory.
void tl_sort_from_wide(tl_dtype dtype, void *a, const uint64_t *keys, size_t n,
                       bool descending, tl_stop *stop) {
  converts[kind_of(dtype)].items_wide(
      a, keys, n, turned_bits(dtype, descending), false, stop);
}
