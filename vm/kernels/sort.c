// Sorting values: radix sorts of keys; merging where there are few.
#include "vm/kernels/sort.h"

#include <string.h>

#include "vm/kernels/ask.h"
#include "vm/kernels/loop.h"

#define TOP_BIT(U) ((U)((U)1 << (8 * sizeof(U) - 1)))
#define ALL_ONES(U) ((U) ~(U)0)

// X(suffix, word, kind): how an item's bits become a key and back, before the
// key's bits are turned. Integers, signed or not, and bools differ in that.
#define KEY_WORDS(X)            \
  X(word1, tl_word1, INTEGER)   \
  X(word2, tl_word2, INTEGER)   \
  X(word4, tl_word4, INTEGER)   \
  X(word8, tl_word8, INTEGER)   \
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
#define KEY_OF_FLOAT64 KEY_OF_FLOAT32
#define BITS_OF_FLOAT32 BITS_OF_REAL
#define BITS_OF_FLOAT64 BITS_OF_REAL

// The largest finite magnitude's bits, plus one, are infinity's; above is NaN.
#define ARE_NAN_INTEGER(U, bits) false
#define ARE_NAN_FLOAT32(U, bits) (((bits)&0x7fffffffu) > 0x7f800000u)
#define ARE_NAN_FLOAT64(U, bits) \
  (((bits)&0x7fffffffffffffffu) > 0x7ff0000000000000u)
#define NAN_INTEGER 0
#define NAN_FLOAT32 0x7fc00000u
#define NAN_FLOAT64 0x7ff8000000000000u
#define HAS_NAN_INTEGER false
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
  KEY_float32,
  KEY_float64
} key_kind;

static key_kind kind_of(tl_dtype dtype) {
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
  static void keys_##sfx##_##width(K *keys, const void *a, size_t n,           \
                                   uint64_t turned, bool same_zero,            \
                                   tl_stop *stop) {                            \
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
  static void items_##sfx##_##width(void *a, const K *keys, size_t n,          \
                                    uint64_t turned, tl_stop *stop) {          \
    U *items = a;                                                              \
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

void tl_sort_keys(tl_dtype dtype, uint64_t *keys, const void *a, size_t n,
                  bool descending, bool same_zero, tl_stop *stop) {
  const uint64_t turned = turned_bits(dtype, descending);
  switch (kind_of(dtype)) {
#define X(sfx, U, KIND)                                     \
  case KEY_##sfx:                                           \
    keys_##sfx##_wide(keys, a, n, turned, same_zero, stop); \
    break;
    KEY_WORDS(X)
#undef X
  }
}

void tl_sort_to_keys(tl_dtype dtype, void *a, size_t n, bool descending,
                     tl_stop *stop) {
  const uint64_t turned = turned_bits(dtype, descending);
  switch (kind_of(dtype)) {
#define X(sfx, U, KIND)                             \
  case KEY_##sfx:                                   \
    keys_##sfx##_own(a, a, n, turned, false, stop); \
    break;
    KEY_WORDS(X)
#undef X
  }
}

void tl_sort_from_keys(tl_dtype dtype, void *a, const void *keys, size_t n,
                       bool descending, tl_stop *stop) {
  const uint64_t turned = turned_bits(dtype, descending);
  switch (kind_of(dtype)) {
#define X(sfx, U, KIND)                          \
  case KEY_##sfx:                                \
    items_##sfx##_own(a, keys, n, turned, stop); \
    break;
    KEY_WORDS(X)
#undef X
  }
}

void tl_sort_touch(void *block, size_t nbytes, tl_stop *stop) {
  enum { PAGE = 4096, PAGES = 64 };  // a millisecond where all are new
  volatile char *bytes = block;
  for (size_t at = PAGE, count = 0; at < nbytes; at += PAGE) {
    bytes[at] = 0;
    if (++count % PAGES == 0 && !tl_goes_on(stop))
      return;
  }
}

bool tl_radix_starts(size_t *counts, size_t digit_of_first, size_t n) {
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
#define RADIX_SORT(U)                                                 \
  static U *radix_sort_##U(U *a, U *b, size_t n, unsigned shift,      \
                           unsigned passes, tl_radix_counts *counts,  \
                           tl_stop *stop) {                           \
    const bool far = n > CACHED / sizeof(U);                          \
    memset(counts->digit, 0, passes * sizeof counts->digit[0]);       \
    for (size_t i = 0, end; tl_piece(stop, i, n, &end);)              \
      for (; i < end; i++)                                            \
        for (unsigned p = 0; p < passes; p++)                         \
          counts->digit[p][DIGIT(a[i], shift + p * TL_DIGIT_BITS)]++; \
    for (unsigned p = 0; p < passes; p++) {                           \
      const unsigned at = shift + p * TL_DIGIT_BITS;                  \
      size_t *next = counts->digit[p];                                \
      if (!tl_radix_starts(next, DIGIT(a[0], at), n))                 \
        continue;                                                     \
      for (size_t i = 0, end; tl_piece(stop, i, n, &end);)            \
        if (far)                                                      \
          for (; i < end; i++) {                                      \
            U *to = b + next[DIGIT(a[i], at)]++;                      \
            *to = a[i];                                               \
            tl_ask(to, LINE);                                         \
          }                                                           \
        else                                                          \
          for (; i < end; i++) b[next[DIGIT(a[i], at)]++] = a[i];     \
      U *other = a;                                                   \
      a = b;                                                          \
      b = other;                                                      \
    }                                                                 \
    return a;                                                         \
  }
#define DIGIT(key, at) ((size_t)((key) >> (at)) & (TL_DIGITS - 1))
RADIX_SORT(tl_word1)
RADIX_SORT(tl_word2)
RADIX_SORT(tl_word4)
RADIX_SORT(tl_word8)

uint64_t *tl_radix_sort(uint64_t *a, uint64_t *b, size_t n, unsigned shift,
                        unsigned passes, tl_radix_counts *counts,
                        tl_stop *stop) {
  return (uint64_t *)radix_sort_tl_word8((tl_word8 *)a, (tl_word8 *)b, n, shift,
                                         passes, counts, stop);
}

static unsigned bits_of_key(uint64_t key) {
  return key ? 64 - (unsigned)__builtin_clzll(key) : 1;
}

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

// Puts right what a sort by the upper digits left in disorder, if that takes
// few moves. Returns false if it would take more, with the keys still a
// permutation of themselves.
static bool finish_by_insertion(tl_word8 *a, size_t n, tl_stop *stop) {
  size_t moves = n / 4 + 64;
  for (size_t i = 1, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint64_t key = a[i];
      size_t j = i;
      for (; j > 0 && a[j - 1] > key; j--) a[j] = a[j - 1];
      a[j] = key;
      if (i - j > moves)
        return false;
      moves -= i - j;
    }
  }
  return true;
}

// Keys at most 32 bits apart are sorted by words of that size, in the two
// halves of b: half the memory to go through.
static void sort_narrow(tl_word8 *a, tl_word8 *b, size_t n, tl_key_span span,
                        tl_radix_counts *counts, tl_stop *stop) {
  tl_word4 *low = (tl_word4 *)b;
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) low[i] =
        (uint32_t)(a[i] - span.least);
  }
  const tl_word4 *sorted = radix_sort_tl_word4(
      low, low + n, n, 0, (span.bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS,
      counts, stop);
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) a[i] = span.least + sorted[i];
  }
}

static void add_to_keys(tl_word8 *a, size_t n, uint64_t more, tl_stop *stop) {
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) a[i] += more;
  }
}

// Three passes over the top 33 bits that vary, and hardly anything is left to
// do: 64-bit keys mostly differ in their upper half.
static tl_word8 *sort_by_upper(tl_word8 *a, tl_word8 *b, size_t n,
                               unsigned bits, tl_radix_counts *counts,
                               tl_stop *stop) {
  enum { UPPER = 3 * TL_DIGIT_BITS };
  if (bits > UPPER) {
    tl_word8 *sorted =
        radix_sort_tl_word8(a, b, n, bits - UPPER, 3, counts, stop);
    if (finish_by_insertion(sorted, n, stop))
      return sorted;
    if (sorted == b)
      b = a;
    a = sorted;
  }
  return radix_sort_tl_word8(
      a, b, n, 0, (bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS, counts, stop);
}

static tl_word8 *sort_wide(tl_word8 *a, tl_word8 *b, size_t n,
                           tl_radix_counts *counts, tl_stop *stop) {
  const tl_key_span span = tl_keys_span((uint64_t *)a, n, stop);
  if (span.bits <= 32) {
    sort_narrow(a, b, n, span, counts, stop);
    return a;
  }
  if (span.bits == span.varying)
    return sort_by_upper(a, b, n, span.bits, counts, stop);
  add_to_keys(a, n, 0 - span.least, stop);
  a = sort_by_upper(a, b, n, span.bits, counts, stop);
  add_to_keys(a, n, span.least, stop);
  return a;
}

static void insertion_runs(uint64_t *a, size_t n) {
  for (size_t start = 0; start < n; start += TL_INSERTION_RUN) {
    size_t end = n - start < TL_INSERTION_RUN ? n : start + TL_INSERTION_RUN;
    for (size_t i = start + 1; i < end; i++) {
      const uint64_t key = a[i];
      size_t j = i;
      for (; j > start && a[j - 1] > key; j--) a[j] = a[j - 1];
      a[j] = key;
    }
  }
}

static void merge_runs(uint64_t *to, const uint64_t *left,
                       const uint64_t *middle, const uint64_t *end) {
  const uint64_t *right = middle;
  while (left < middle && right < end) {
    const bool take_right = *right < *left;
    *to++ = take_right ? *right : *left;
    right += take_right;
    left += !take_right;
  }
  while (left < middle) *to++ = *left++;
  while (right < end) *to++ = *right++;
}

static uint64_t *sort_few(uint64_t *a, uint64_t *b, size_t n) {
  insertion_runs(a, n);
  for (size_t run = TL_INSERTION_RUN; run < n; run *= 2) {
    for (size_t i = 0; i < n; i += 2 * run) {
      size_t middle = n - i < run ? n : i + run;
      size_t end = n - i < 2 * run ? n : i + 2 * run;
      merge_runs(b + i, a + i, a + middle, a + end);
    }
    uint64_t *other = a;
    a = b;
    b = other;
  }
  return a;
}

static size_t whole_lines(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

size_t tl_sort_scratch(tl_dtype dtype, size_t n) {
  if (n < 2)
    return 0;
  if (tl_dtype_is_complex(dtype))
    return tl_argsort_scratch(dtype, n) + whole_lines(n * sizeof(int64_t)) +
           whole_lines(n * tl_itemsize(dtype));
  if (n < TL_SMALL_SORT)
    return 2 * n * sizeof(uint64_t);
  return sizeof(tl_radix_counts) + n * tl_itemsize(dtype);
}

static void sort_complex(tl_dtype dtype, void *a, size_t n, bool descending,
                         void *scratch, tl_stop *stop) {
  const size_t itemsize = tl_itemsize(dtype);
  int64_t *order = scratch;
  char *copy = (char *)scratch + whole_lines(n * sizeof *order);
  char *rest = copy + whole_lines(n * itemsize);
  if (!tl_argsort(dtype, order, a, n, descending, rest, stop))
    return;
  memcpy(copy, a, n * itemsize);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++)
      memcpy((char *)a + i * itemsize, copy + (size_t)order[i] * itemsize,
             itemsize);
}

#define NARROW_SORT(U, passes)                                      \
  static U *sort_##U(U *a, U *b, size_t n, tl_radix_counts *counts, \
                     tl_stop *stop) {                               \
    return radix_sort_##U(a, b, n, 0, passes, counts, stop);        \
  }
NARROW_SORT(tl_word1, 1)
NARROW_SORT(tl_word2, 2)
NARROW_SORT(tl_word4, 3)
#define sort_tl_word8 sort_wide

#define X(sfx, U, KIND)                                                     \
  static void sort_##sfx(void *a, size_t n, uint64_t turned, void *scratch, \
                         tl_stop *stop) {                                   \
    if (n < TL_SMALL_SORT) {                                                \
      uint64_t *keys = scratch;                                             \
      keys_##sfx##_wide(keys, a, n, turned, false, stop);                   \
      items_##sfx##_wide(a, sort_few(keys, keys + n, n), n, turned, stop);  \
      return;                                                               \
    }                                                                       \
    U *buffer = (void *)((char *)scratch + sizeof(tl_radix_counts));        \
    tl_sort_touch(buffer, n * sizeof(U), stop);                             \
    keys_##sfx##_own(a, a, n, turned, false, stop);                         \
    items_##sfx##_own(a, sort_##U(a, buffer, n, scratch, stop), n, turned,  \
                      stop);                                                \
  }
KEY_WORDS(X)
#undef X

bool tl_sort(tl_dtype dtype, void *a, size_t n, bool descending, void *scratch,
             tl_stop *stop) {
  if (n < 2)
    return true;
  if (tl_dtype_is_complex(dtype)) {
    sort_complex(dtype, a, n, descending, scratch, stop);
    return !(stop && stop->stopped);
  }
  const uint64_t turned = turned_bits(dtype, descending);
  switch (kind_of(dtype)) {
#define X(sfx, U, KIND)                      \
  case KEY_##sfx:                            \
    sort_##sfx(a, n, turned, scratch, stop); \
    break;
    KEY_WORDS(X)
#undef X
  }
  return !(stop && stop->stopped);
}

// Complex items are pairs of reals here.
#define RUN_STARTS(T, same)                               \
  for (size_t i = 0; i < n; i++) {                        \
    const T *x = (const T *)sorted + (i > 0 ? i - 1 : 0); \
    const T *y = (const T *)sorted + i;                   \
    out[count] = (int64_t)i;                              \
    count += i == 0 || !(same);                           \
  }

size_t tl_run_starts(tl_dtype dtype, int64_t *out, const void *sorted,
                     size_t n) {
  size_t count = 0;
  switch ((int)dtype) {
    case TL_FLOAT32:
      RUN_STARTS(float, *x == *y)
      break;
    case TL_FLOAT64:
      RUN_STARTS(double, *x == *y)
      break;
    case TL_COMPLEX64:
      RUN_STARTS(tl_c64, x->re == y->re && x->im == y->im)
      break;
    case TL_COMPLEX128:
      RUN_STARTS(tl_c128, x->re == y->re && x->im == y->im)
      break;
    default:
      switch (tl_itemsize(dtype)) {
        case 1:
          RUN_STARTS(tl_word1, *x == *y)
          break;
        case 2:
          RUN_STARTS(tl_word2, *x == *y)
          break;
        case 4:
          RUN_STARTS(tl_word4, *x == *y)
          break;
        default:
          RUN_STARTS(tl_word8, *x == *y)
      }
  }
  return count;
}
