// Sorting positions by their items, stable: radix sorts of words that hold a
// part of the key above and the position below; merging elsewhere.
#include <string.h>

#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

enum { POSITION_BITS = 32 };

static size_t whole_lines(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

// How many words of 64 bits one item's key takes.
static size_t key_words(tl_dtype dtype) {
  return tl_dtype_is_complex(dtype) ? 2 : 1;
}

size_t tl_argsort_scratch(tl_dtype dtype, size_t n) {
  if (n < 2)
    return 0;
  return sizeof(tl_radix_counts) +
         whole_lines(key_words(dtype) * n * sizeof(uint64_t)) +
         n * sizeof(uint64_t);
}

// Positions by merging, for keys of one word or of two.
#define BEFORE_1(x, y) (keys[x] < keys[y])
#define BEFORE_2(x, y)                                            \
  (keys[2 * (x)] != keys[2 * (y)] ? keys[2 * (x)] < keys[2 * (y)] \
                                  : keys[2 * (x) + 1] < keys[2 * (y) + 1])
#define MERGE_SORT(words, BEFORE)                                            \
  static void runs_##words(int64_t *at, const uint64_t *keys, size_t n) {    \
    for (size_t start = 0; start < n; start += TL_INSERTION_RUN) {           \
      size_t end =                                                           \
          n - start < TL_INSERTION_RUN ? n : start + TL_INSERTION_RUN;       \
      for (size_t i = start; i < end; i++) {                                 \
        size_t j = i;                                                        \
        for (; j > start && BEFORE(i, (size_t)at[j - 1]); j--)               \
          at[j] = at[j - 1];                                                 \
        at[j] = (int64_t)i;                                                  \
      }                                                                      \
    }                                                                        \
  }                                                                          \
  static void merge_##words(int64_t *to, const int64_t *left,                \
                            const int64_t *middle, const int64_t *end,       \
                            const uint64_t *keys, tl_stop *stop) {           \
    const int64_t *right = middle;                                           \
    const size_t n = (size_t)(end - left);                                   \
    for (size_t i = 0, pause; tl_piece(stop, i, n, &pause); i = pause) {     \
      for (size_t k = i; k < pause && left < middle && right < end; k++) {   \
        const bool take_right = BEFORE((size_t)*right, (size_t)*left);       \
        *to++ = take_right ? *right : *left;                                 \
        right += take_right;                                                 \
        left += !take_right;                                                 \
      }                                                                      \
    }                                                                        \
    if (stop && stop->stopped)                                               \
      return;                                                                \
    while (left < middle) *to++ = *left++;                                   \
    while (right < end) *to++ = *right++;                                    \
  }                                                                          \
  static void merge_sort_##words(int64_t *out, const uint64_t *keys,         \
                                 int64_t *buffer, size_t n, tl_stop *stop) { \
    int64_t *a = out, *b = buffer;                                           \
    runs_##words(a, keys, n);                                                \
    for (size_t run = TL_INSERTION_RUN; run < n; run *= 2) {                 \
      for (size_t i = 0; i < n; i += 2 * run) {                              \
        size_t middle = n - i < run ? n : i + run;                           \
        size_t end = n - i < 2 * run ? n : i + 2 * run;                      \
        merge_##words(b + i, a + i, a + middle, a + end, keys, stop);        \
      }                                                                      \
      int64_t *other = a;                                                    \
      a = b;                                                                 \
      b = other;                                                             \
    }                                                                        \
    if (a != out)                                                            \
      memcpy(out, a, n * sizeof *out);                                       \
  }
MERGE_SORT(1, BEFORE_1)
MERGE_SORT(2, BEFORE_2)

static unsigned passes_for(unsigned bits) {
  return (bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS;
}

static void take_positions(int64_t *out, const uint64_t *packed, size_t n,
                           tl_stop *stop) {
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) out[i] =
        (int64_t)(uint32_t)packed[i];
  }
}

// Sorts by the lower 32 bits of the keys, of which [bits] vary; leaves keys'
// positions packed below them.
static uint64_t *by_lower_half(const uint64_t *keys, uint64_t *a, uint64_t *b,
                               size_t n, unsigned bits, tl_radix_counts *counts,
                               tl_stop *stop) {
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++) a[i] = keys[i] << POSITION_BITS | i;
  return tl_radix_sort(a, b, n, POSITION_BITS, passes_for(bits), counts, stop);
}

// Sorts by the lower halves, then by the upper ones.
static uint64_t *by_halves(const uint64_t *keys, uint64_t *a, uint64_t *b,
                           size_t n, unsigned bits, tl_radix_counts *counts,
                           tl_stop *stop) {
  uint64_t *sorted = by_lower_half(keys, a, b, n, 32, counts, stop);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint32_t position = (uint32_t)sorted[i];
      sorted[i] = keys[position] >> 32 << POSITION_BITS | position;
    }
  }
  return tl_radix_sort(sorted, sorted == a ? b : a, n, POSITION_BITS,
                       passes_for(bits - 32), counts, stop);
}

// After a sort by the upper bits: positions whose packed bits are equal are put
// in order of their whole keys, if that takes few moves.
static bool settle_ties(uint64_t *packed, const uint64_t *keys, size_t n,
                        tl_stop *stop) {
  size_t moves = n;
  for (size_t i = 1, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint64_t word = packed[i];
      const uint64_t key = keys[(uint32_t)word];
      size_t j = i;
      for (; j > 0 && (packed[j - 1] ^ word) >> POSITION_BITS == 0 &&
             keys[(uint32_t)packed[j - 1]] > key;
           j--)
        packed[j] = packed[j - 1];
      packed[j] = word;
      if (i - j > moves)
        return false;
      moves -= i - j;
    }
  }
  return true;
}

// Three passes over the top 33 of [bits] > 32 bits. The first pass sorts by 11
// of them, which need not be kept then: 22 remain to be packed.
static uint64_t *by_upper_bits(const uint64_t *keys, uint64_t *a, uint64_t *b,
                               size_t n, unsigned bits, tl_radix_counts *counts,
                               tl_stop *stop) {
  const unsigned shift = bits - 3 * TL_DIGIT_BITS;
  size_t *next = counts->digit[0];
  memset(next, 0, sizeof counts->digit[0]);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);)
    for (; i < end; i++) next[keys[i] >> shift & (TL_DIGITS - 1)]++;
  const bool mixed =
      tl_radix_starts(next, keys[0] >> shift & (TL_DIGITS - 1), n);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint64_t key = keys[i] >> shift;
      const size_t to = mixed ? next[key & (TL_DIGITS - 1)]++ : i;
      a[to] = key >> TL_DIGIT_BITS << POSITION_BITS | i;
    }
  }
  return tl_radix_sort(a, b, n, POSITION_BITS, 2, counts, stop);
}

static void argsort_keys(int64_t *out, const uint64_t *keys, uint64_t *buffer,
                         size_t n, tl_radix_counts *counts, tl_stop *stop) {
  const uint64_t varying = tl_keys_varying(keys, n, stop);
  const unsigned bits = varying ? 64 - (unsigned)__builtin_clzll(varying) : 1;
  uint64_t *a = (uint64_t *)out, *sorted;
  if (bits <= 32) {
    sorted = by_lower_half(keys, a, buffer, n, bits, counts, stop);
  } else {
    sorted = by_upper_bits(keys, a, buffer, n, bits, counts, stop);
    if (!settle_ties(sorted, keys, n, stop))
      sorted = by_halves(keys, a, buffer, n, bits, counts, stop);
  }
  take_positions(out, sorted, n, stop);
}

static void complex_keys(tl_dtype dtype, uint64_t *keys, const void *a,
                         size_t n, bool descending, tl_stop *stop) {
  tl_dtype part = dtype == TL_COMPLEX64 ? TL_FLOAT32 : TL_FLOAT64;
  tl_sort_keys(part, keys, a, 2 * n, descending, true, stop);
}

bool tl_argsort(tl_dtype dtype, int64_t *out, const void *a, size_t n,
                bool descending, void *scratch, tl_stop *stop) {
  if (n < 2) {
    if (n == 1)
      out[0] = 0;
    return true;
  }
  tl_radix_counts *counts = scratch;
  uint64_t *keys = (void *)(counts + 1);
  uint64_t *buffer =
      (void *)((char *)keys + whole_lines(key_words(dtype) * n * sizeof *keys));
  if (key_words(dtype) == 2) {
    complex_keys(dtype, keys, a, n, descending, stop);
    merge_sort_2(out, keys, (int64_t *)buffer, n, stop);
  } else {
    tl_sort_keys(dtype, keys, a, n, descending, true, stop);
    if (n < TL_SMALL_SORT || n > UINT32_MAX)
      merge_sort_1(out, keys, (int64_t *)buffer, n, stop);
    else
      argsort_keys(out, keys, buffer, n, counts, stop);
  }
  return !(stop && stop->stopped);
}
