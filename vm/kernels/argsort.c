// Sorting positions by their items, stable: radix sorts of words that hold the
// key's upper bits above the position; merging elsewhere.
//
//   [ bits of the key | position ]     64 bits; of 1000 items the lower 10

#include "vm/kernels/prefetch.h"
#include "vm/kernels/loop.h"
#include "vm/kernels/sort.h"

enum { LINE = 64 };

// How many words of 64 bits one item's key takes.
static size_t key_words(tl_dtype dtype) {
  return tl_dtype_is_complex(dtype) ? 2 : 1;
}

// Merging has the keys in an array; radix sorts make them of the items.
static bool merges(tl_dtype dtype, size_t n) {
  return tl_dtype_is_complex(dtype) || n < TL_SMALL_SORT || n > UINT32_MAX;
}

// By the way that the sort will take. A radix sort uses [out] as one of its two
// buffers, unless the items lie there; bytes need only the counters.
size_t tl_argsort_scratch(tl_dtype dtype, size_t n, bool over) {
  const size_t words = tl_align_64(n * sizeof(uint64_t));
  if (n < 2)
    return 0;
  if (merges(dtype, n))
    return key_words(dtype) * words + words;
  if (tl_itemsize(dtype) == 1)
    return sizeof(tl_radix_counts);
  return sizeof(tl_radix_counts) + (over ? 2 : 1) * words;
}

// Positions by merging, for keys of one word or of two.
#define MERGE_SORT merge_places_1
#define ITEM int64_t
#define BEFORE(x, y) (keys[x] < keys[y])
#include "vm/kernels/merge_sort.h"

#define MERGE_SORT merge_places_2
#define ITEM int64_t
#define BEFORE(x, y)                                              \
  (keys[2 * (x)] != keys[2 * (y)] ? keys[2 * (x)] < keys[2 * (y)] \
                                  : keys[2 * (x) + 1] < keys[2 * (y) + 1])
#include "vm/kernels/merge_sort.h"

// Passes of a radix sort over so many bits.
static unsigned passes_for(unsigned bits) {
  return (bits + TL_DIGIT_BITS - 1) / TL_DIGIT_BITS;
}

// The positions are the lower bits of the sorted words; [out] may be the words'
// own memory.
static void take_positions(int64_t *out, const uint64_t *packed, size_t n,
                           unsigned position_bits, tl_stop *stop) {
  const uint64_t position = ((uint64_t)1 << position_bits) - 1;
  for (size_t start = 0, end; tl_piece(stop, start, n, &end); start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) out[i] =
        (int64_t)(packed[i] & position);
  }
}

// The items of a radix sort. Their keys lie where the words will; the few that
// are asked for later are made again.
typedef struct source {
  tl_dtype dtype;
  bool descending;
  const char *items;
  size_t itemsize, n;
  tl_radix_counts *counts;
  tl_stop *stop;
} source;

enum { BLOCK = 512 };

// The keys from item [at] on, as many of them as there are up to [end] and go
// into a block; returns how many.
static size_t keys_at(const source *s, size_t at, size_t end,
                      uint64_t keys[BLOCK]) {
  const size_t n = end - at < BLOCK ? end - at : BLOCK;
  tl_sort_keys(s->dtype, keys, s->items + at * s->itemsize, n, s->descending,
               true, NULL);
  return n;
}

// For a look at all keys at once; block by block elsewhere.
static void all_keys(const source *s, uint64_t *keys) {
  tl_sort_keys(s->dtype, keys, s->items, s->n, s->descending, true, s->stop);
}

// Makes keys words with the lower [bits] of the keys' distances from `least` on
// top, cut where the positions begin.
static void pack(const source *s, uint64_t *words, uint64_t least,
                 unsigned bits, unsigned position_bits) {
  const unsigned up = 64 - bits;
  const uint64_t key_part = ~(uint64_t)0 << position_bits;
  for (size_t start = 0, end; tl_piece(s->stop, start, s->n, &end);
       start = end) {
    TL_LOOP for (size_t i = start; i < end; i++) words[i] =
        ((words[i] - least) << up & key_part) | i;
  }
}

// Keys of one digit: each position goes straight to where it stays.
static void by_digit(const source *s, int64_t *out, uint64_t least) {
  size_t *next = s->counts->digit[0];
  uint64_t keys[BLOCK];
  memset(next, 0, sizeof s->counts->digit[0]);
  for (size_t i = 0, end, n; tl_piece(s->stop, i, s->n, &end);)
    for (; i < end; i += n) {
      n = keys_at(s, i, end, keys);
      for (size_t k = 0; k < n; k++) next[keys[k] - least]++;
    }
  for (size_t digit = 0, start = 0; digit < TL_DIGITS; digit++) {
    const size_t count = next[digit];
    next[digit] = start;
    start += count;
  }
  for (size_t i = 0, end, n; tl_piece(s->stop, i, s->n, &end);)
    for (; i < end; i += n) {
      n = keys_at(s, i, end, keys);
      for (size_t k = 0; k < n; k++) {
        int64_t *to = out + next[keys[k] - least]++;
        *to = (int64_t)(i + k);
        tl_prefetch(to, LINE);
      }
    }
}

// Whether the key of one item, given by its bits, is above that of another.
// Narrower items never come here: words have their whole keys.
static bool is_above(const source *s, uint64_t one, uint64_t other) {
  const uint64_t items[2] = {one, other};
  uint64_t keys[2];
  tl_sort_keys(s->dtype, keys, items, 2, s->descending, true, NULL);
  return keys[0] > keys[1];
}

// After a sort by the upper bits: puts words in order of what they have of
// their keys, and those that agree in it by the whole keys, if that takes few
// moves. Equal keys are in order of their positions already.
// By insertion, with at most as many moves as there are items.
static bool settle(const source *s, uint64_t *packed, unsigned position_bits) {
  const uint64_t position = ((uint64_t)1 << position_bits) - 1;
  const tl_key8 *items = (const void *)s->items;
  size_t moves = s->n;
  for (size_t i = 1, end; tl_piece(s->stop, i, s->n, &end);)
    for (; i < end; i++) {
      const uint64_t word = packed[i];
      size_t j = i;
      for (; j > 0; j--) {
        const uint64_t before = packed[j - 1];
        if ((before ^ word) > position) {
          if (before < word)
            break;
        } else {
          const uint64_t x = items[before & position];
          const uint64_t y = items[word & position];
          if (x == y || !is_above(s, x, y))
            break;
        }
        packed[j] = before;
      }
      packed[j] = word;
      if (i - j > moves)
        return false;
      moves -= i - j;
    }
  return true;
}

// Sorts by the lower halves of 64-bit keys, then by the upper ones.
static uint64_t *by_halves(const source *s, uint64_t *a, uint64_t *b,
                           tl_key_span span) {
  uint64_t items[BLOCK], keys[BLOCK];
  const tl_key8 *from = (const void *)s->items;
  all_keys(s, a);
  pack(s, a, span.least, 32, 32);
  uint64_t *sorted =
      tl_radix_sort8(a, b, s->n, 32, passes_for(32), s->counts, s->stop);
  for (size_t i = 0, end, n; tl_piece(s->stop, i, s->n, &end);)
    for (; i < end; i += n) {
      n = end - i < BLOCK ? end - i : BLOCK;
      for (size_t k = 0; k < n; k++) items[k] = from[(uint32_t)sorted[i + k]];
      tl_sort_keys(s->dtype, keys, items, n, s->descending, true, NULL);
      for (size_t k = 0; k < n; k++)
        sorted[i + k] =
            (keys[k] - span.least) >> 32 << 32 | (uint32_t)sorted[i + k];
    }
  return tl_radix_sort8(sorted, sorted == a ? b : a, s->n, 32,
                        passes_for(span.bits - 32), s->counts, s->stop);
}

// Three passes over the upper bits that vary are nearly always enough: what
// else a word has of its key settles the rest without a look at the keys.
// [room] is one buffer, and a second one where the items lie in [out].
static void argsort_keys(const source *s, int64_t *out, uint64_t *room) {
  enum { UPPER = 3 * TL_DIGIT_BITS };
  const size_t n = s->n;
  const bool over = (const void *)out == (const void *)s->items;
  uint64_t *a = over ? room + tl_align_64(n * sizeof *room) / sizeof *room
                     : (uint64_t *)out;
  all_keys(s, a);
  const tl_key_span span = tl_keys_span(a, n, s->stop);
  const unsigned bits = span.bits;
  // As many as the largest position needs; the key's part has all the others.
  unsigned position_bits = 64 - (unsigned)__builtin_clzll(n - 1);
  if (bits <= TL_DIGIT_BITS && !over) {
    by_digit(s, out, span.least);
    return;
  }
  tl_sort_touch(room, n * sizeof *room, s->stop);
  pack(s, a, span.least, bits, position_bits);
  const unsigned sorted_bits = bits < UPPER ? bits : UPPER;
  uint64_t *sorted =
      tl_radix_sort8(a, room, n, 64 - sorted_bits, passes_for(sorted_bits),
                     s->counts, s->stop);
  if (bits > sorted_bits && !settle(s, sorted, position_bits)) {
    sorted = by_halves(s, a, room, span);
    position_bits = 32;
  }
  take_positions(out, sorted, n, position_bits, s->stop);
}

// Two keys for each item, the real part's first: the parts are ordered as reals
// are.
static void complex_keys(tl_dtype dtype, uint64_t *keys, const void *a,
                         size_t n, bool descending, tl_stop *stop) {
  tl_dtype part = dtype == TL_COMPLEX64 ? TL_FLOAT32 : TL_FLOAT64;
  tl_sort_keys(part, keys, a, 2 * n, descending, true, stop);
}

// Words with a position need n below 2^32. Equal items have equal keys, signs
// of zero included, so that stability is seen.
bool tl_argsort(tl_dtype dtype, int64_t *out, const void *a, size_t n,
                bool descending, void *scratch, tl_stop *stop) {
  if (n < 2) {
    if (n == 1)
      out[0] = 0;
    return true;
  }
  if (!merges(dtype, n)) {
    tl_radix_counts *counts = scratch;
    const source s = {dtype, descending, a,   tl_itemsize(dtype),
                      n,     counts,     stop};
    argsort_keys(&s, out, (void *)(counts + 1));
    return !(stop && stop->stopped);
  }
  uint64_t *keys = scratch;
  int64_t *buffer = (void *)(keys + key_words(dtype) * n), *sorted;
  const bool two = key_words(dtype) == 2;
  if (two)
    complex_keys(dtype, keys, a, n, descending, stop);
  else
    tl_sort_keys(dtype, keys, a, n, descending, true, stop);
  for (size_t at = 0, end; tl_piece(stop, at, n, &end); at = end)
    for (size_t i = at; i < end; i++) out[i] = (int64_t)i;
  if (stop && stop->stopped)
    return false;
  sorted = (two ? merge_places_2 : merge_places_1)(out, buffer, keys, n, stop);
  for (size_t at = 0, end; sorted != out && tl_piece(stop, at, n, &end);
       at = end)
    memcpy(out + at, sorted + at, (end - at) * sizeof *out);
  return !(stop && stop->stopped);
}
