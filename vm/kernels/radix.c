// Keys of items, radix sorts of words, and what they look at before: see
// sort.h.
#include "vm/kernels/sort.h"

#include "vm/kernels/prefetch.h"
#include "vm/kernels/loop.h"

// --- Keys, by the kernels of this processor ----------------------------------

// Which bits of a key are turned: the sign's of signed integers, so that
// negative ones come first, and all for descending order.
static uint64_t turned_bits(tl_dtype dtype, bool descending) {
  const bool is_signed = tl_dtypes[dtype].kind == 'I';
  const uint64_t sign = (uint64_t)1 << (8 * tl_itemsize(dtype) - 1);
  return (is_signed ? sign : 0) ^ (descending ? UINT64_MAX : 0);
}

// Integers of one width are one kind, signed or not, as are bools and bytes.
static const tl_sort_convert *convert(tl_dtype dtype) {
  return tl_kernels()->sort_converts + (tl_dtype_is_real(dtype)
                                            ? 4 + dtype - TL_FLOAT16
                                            : tl_move_size(tl_itemsize(dtype)));
}

// [same_zero]: -0.0 and 0.0 have one key, which a stable order needs.
void tl_sort_keys(tl_dtype dtype, uint64_t *keys, const void *a, size_t n,
                  bool descending, bool same_zero, tl_stop *stop) {
  convert(dtype)->keys_wide(keys, a, n, turned_bits(dtype, descending),
                            same_zero, stop);
}

void tl_sort_to_keys(tl_dtype dtype, void *a, size_t n, bool descending,
                     tl_stop *stop) {
  convert(dtype)->keys_own(a, a, n, turned_bits(dtype, descending), false,
                           stop);
}

// NaNs all get one payload, since their keys are one.
void tl_sort_from_keys(tl_dtype dtype, void *a, const void *keys, size_t n,
                       bool descending, tl_stop *stop) {
  convert(dtype)->items_own(a, keys, n, turned_bits(dtype, descending), false,
                            stop);
}

// [keys] and [a] are different memory.
void tl_sort_from_wide(tl_dtype dtype, void *a, const uint64_t *keys, size_t n,
                       bool descending, tl_stop *stop) {
  convert(dtype)->items_wide(a, keys, n, turned_bits(dtype, descending), false,
                             stop);
}

// --- Words ------------------------------------------------------------------

// The first page is in use anyway, with what stands before the block.
void tl_sort_touch(void *block, size_t nbytes, tl_stop *stop) {
  enum { PAGE = 4096, PAGES = 64 };  // a millisecond where all are new
  volatile char *bytes = block;
  for (size_t at = PAGE, count = 0; at < nbytes; at += PAGE) {
    bytes[at] = 0;
    if (++count % PAGES == 0 && !tl_goes_on(stop))
      return;
  }
}

// Turns counts into the places where each digit's items begin. False, having
// changed nothing: one digit has all n items, so that the pass is not needed.
//
//   counts 2 0 3, n 5     0 2 2, true
//   counts 0 5 0, n 5     as they were, false
static bool radix_starts(size_t *counts, size_t digit_of_first, size_t n) {
  if (counts[digit_of_first] == n)
    return false;
  size_t start = 0;
  for (size_t i = 0; i < TL_DIGITS; i++) {
    size_t count = counts[i];
    counts[i] = start;
    start += count;
  }
  return true;
}

enum { CACHED = 1 << 19, LINE = 64 };

// Least significant digit first. All digits are counted in one pass; a digit
// that is the same everywhere is left out. Where the words are more than the
// second cache holds, the line that a digit's items come to next is asked for:
// 2,048 of them go on at once, which no processor foresees.
#define RADIX_SORT(scope, name, U, word)                                   \
  scope U *name(U *items, U *buffer, size_t n, unsigned shift,             \
                unsigned passes, tl_radix_counts *counts, tl_stop *stop) { \
    word *a = (word *)items, *b = (word *)buffer;                          \
    const bool far = n > CACHED / sizeof(U);                               \
    memset(counts->digit, 0, passes * sizeof counts->digit[0]);            \
    for (size_t i = 0, end; tl_piece(stop, i, n, &end);)                   \
      for (; i < end; i++)                                                 \
        for (unsigned p = 0; p < passes; p++)                              \
          counts->digit[p][DIGIT(a[i], shift + p * TL_DIGIT_BITS)]++;      \
    for (unsigned p = 0; p < passes; p++) {                                \
      const unsigned at = shift + p * TL_DIGIT_BITS;                       \
      size_t *next = counts->digit[p];                                     \
      if (!radix_starts(next, DIGIT(a[0], at), n))                         \
        continue;                                                          \
      for (size_t i = 0, end; tl_piece(stop, i, n, &end);)                 \
        if (far)                                                           \
          for (; i < end; i++) {                                           \
            word *to = b + next[DIGIT(a[i], at)]++;                        \
            *to = a[i];                                                    \
            tl_prefetch(to, LINE);                                         \
          }                                                                \
        else                                                               \
          for (; i < end; i++) b[next[DIGIT(a[i], at)]++] = a[i];          \
      word *other = a;                                                     \
      a = b;                                                               \
      b = other;                                                           \
    }                                                                      \
    return (U *)a;                                                         \
  }
// Their loops take a tenth longer where they lie across lines of code.
#define LINED __attribute__((aligned(64)))
#define DIGIT(key, at) ((size_t)((key) >> (at)) & (TL_DIGITS - 1))
RADIX_SORT(static, short1, uint8_t, tl_word1)
RADIX_SORT(static, short2, uint16_t, tl_word2)
RADIX_SORT(LINED, tl_radix_sort4, uint32_t, tl_word4)
RADIX_SORT(LINED, tl_radix_sort8, uint64_t, tl_key8)

uint8_t *tl_radix_sort1(uint8_t *a, uint8_t *b, size_t n,
                        tl_radix_counts *counts, tl_stop *stop) {
  return short1(a, b, n, 0, 1, counts, stop);
}

uint16_t *tl_radix_sort2(uint16_t *a, uint16_t *b, size_t n,
                         tl_radix_counts *counts, tl_stop *stop) {
  return short2(a, b, n, 0, 2, counts, stop);
}

// The bits up to the highest one that is set, at least 1.
static unsigned bits_of_key(uint64_t key) {
  return key ? 64 - (unsigned)__builtin_clzll(key) : 1;
}

// One pass over the keys finds both: the bits that differ, and how far keys are
// from the first one. Where the distances are the shorter, the keys are counted
// from below the first by the largest of them.
//
//   keys around 2^63: 0x7f…fe, 0x80…01     64 bits differ, distances need 4
tl_key_span tl_keys_span(const uint64_t *keys, size_t n, tl_stop *stop) {
  const uint64_t first = keys[0];
  uint64_t varying = 0, distances = 0;
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++) {
      const uint64_t distance = keys[i] - first;
      varying |= keys[i] ^ first;
      // All leading bits but one go, zeros or ones.
      distances |= distance ^ distance << 1;
    }
  const unsigned bits = bits_of_key(varying);
  const unsigned near = bits_of_key(distances) + 1;
  if (near < bits) {
    const uint64_t reach = (uint64_t)1 << (near - 1);
    if (first >= reach && first <= UINT64_MAX - reach)
      return (tl_key_span){first - reach, near, bits};
  }
  return (tl_key_span){bits < 64 ? first >> bits << bits : 0, bits, bits};
}
