// Sorting positions by their items, stable: radix sorts of words that hold the
// key's upper bits above the position; merging elsewhere.
#include <string.h>

#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

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
                           unsigned position_bits, tl_stop *stop) {
  const uint64_t position = ((uint64_t)1 << position_bits) - 1;
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) out[i] =
        (int64_t)(packed[i] & position);
  }
}

// Words with the lower [bits] of the keys' distances from `least` on top, cut
// where the positions begin.
static void pack(uint64_t *to, const uint64_t *keys, size_t n, uint64_t least,
                 unsigned bits, unsigned position_bits, tl_stop *stop) {
  const unsigned up = 64 - bits;
  const uint64_t key_part = ~(uint64_t)0 << position_bits;
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) to[i] =
        ((keys[i] - least) << up & key_part) | i;
  }
}

// After a sort by the upper bits: puts words in order of what they have of
// their keys, and those that agree in it by the whole keys, if that takes few
// moves. Equal keys are in order of their positions already.
static bool settle(uint64_t *packed, const uint64_t *keys, size_t n,
                   unsigned position_bits, tl_stop *stop) {
  const uint64_t position = ((uint64_t)1 << position_bits) - 1;
  size_t moves = n;
  for (size_t i = 1, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint64_t word = packed[i];
      size_t j = i;
      for (; j > 0; j--) {
        const uint64_t before = packed[j - 1];
        if ((before ^ word) > position
                ? before < word
                : keys[before & position] <= keys[word & position])
          break;
        packed[j] = before;
      }
      packed[j] = word;
      if (i - j > moves)
        return false;
      moves -= i - j;
    }
  }
  return true;
}

// Sorts by the lower halves of 64-bit keys, then by the upper ones.
static uint64_t *by_halves(const uint64_t *keys, uint64_t *a, uint64_t *b,
                           size_t n, tl_key_span span, tl_radix_counts *counts,
                           tl_stop *stop) {
  pack(a, keys, n, span.least, 32, 32, stop);
  uint64_t *sorted = tl_radix_sort8(a, b, n, 32, passes_for(32), counts, stop);
  for (size_t i = 0, end; tl_piece(stop, i, n, &end);) {
    for (; i < end; i++) {
      const uint32_t position = (uint32_t)sorted[i];
      sorted[i] = (keys[position] - span.least) >> 32 << 32 | position;
    }
  }
  return tl_radix_sort8(sorted, sorted == a ? b : a, n, 32,
                        passes_for(span.bits - 32), counts, stop);
}

// Three passes over the upper bits that vary are nearly always enough: what
// else a word has of its key settles the rest without a look at the keys.
static void argsort_keys(int64_t *out, const uint64_t *keys, uint64_t *buffer,
                         size_t n, tl_radix_counts *counts, tl_stop *stop) {
  enum { UPPER = 3 * TL_DIGIT_BITS };
  const tl_key_span span = tl_keys_span(keys, n, stop);
  const unsigned bits = span.bits;
  unsigned position_bits = 64 - (unsigned)__builtin_clzll(n - 1);
  uint64_t *a = (uint64_t *)out;
  tl_sort_touch(buffer, n * sizeof *buffer, stop);
  pack(a, keys, n, span.least, bits, position_bits, stop);
  const unsigned sorted_bits = bits < UPPER ? bits : UPPER;
  uint64_t *sorted = tl_radix_sort8(a, buffer, n, 64 - sorted_bits,
                                    passes_for(sorted_bits), counts, stop);
  if (bits > sorted_bits && !settle(sorted, keys, n, position_bits, stop)) {
    sorted = by_halves(keys, a, buffer, n, span, counts, stop);
    position_bits = 32;
  }
  take_positions(out, sorted, n, position_bits, stop);
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
