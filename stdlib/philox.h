// Philox4x64-10: random words as a function of a key and a counter.
//
//   counter { block, item, own, purpose } + key  --10 rounds-->  4 words
//   own = 0: words of the stream, own = 1: of one item (tl_draws)
//
// Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011. A word depends on its place alone, so numbers are the same however
// many threads make them and in whatever order.
#pragma once

#include <stddef.h>

#include "stdlib/pcg64.h"

__extension__ typedef unsigned __int128 tl_u128;

enum { TL_PHILOX_ROUNDS = 10 };

// The key of each round.
typedef uint64_t tl_philox_keys[TL_PHILOX_ROUNDS][2];

// The keys of all rounds, by adding the constants of the paper.
static inline void tl_philox_expand(const uint64_t key[2], tl_philox_keys out) {
  for (uint64_t r = 0; r < TL_PHILOX_ROUNDS; r++) {
    out[r][0] = key[0] + r * UINT64_C(0x9E3779B97F4A7C15);
    out[r][1] = key[1] + r * UINT64_C(0xBB67AE8584CAA73B);
  }
}

// One round: two products, whose halves change places.
static inline void tl_philox_round(uint64_t c[4], const uint64_t key[2]) {
  tl_u128 a = (tl_u128)UINT64_C(0xD2E7470EE14C6C93) * c[0];
  tl_u128 b = (tl_u128)UINT64_C(0xCA5A826395121157) * c[2];
  c[0] = (uint64_t)(b >> 64) ^ c[1] ^ key[0];
  c[1] = (uint64_t)b;
  c[2] = (uint64_t)(a >> 64) ^ c[3] ^ key[1];
  c[3] = (uint64_t)a;
}

// Makes four words, in place, of a counter of four.
static inline void tl_philox(uint64_t counter[4], const uint64_t key[2]) {
  tl_philox_keys keys;
  tl_philox_expand(key, keys);
  for (int r = 0; r < TL_PHILOX_ROUNDS; r++) tl_philox_round(counter, keys[r]);
}

// All words of one draw. [purpose] keeps two functions with one key from
// sharing words.
typedef struct tl_stream {
  uint64_t key[2];
  uint64_t purpose;
  tl_pcg64 *pcg;  // not NULL: its words in sequence, instead of Philox's
} tl_stream;

// Writes the [n] words of a stream from 4 * block on, and up to a multiple of
// 8, for which [out] has room; those of PCG64 are the next ones, and no more.
void tl_stream_words(const tl_stream *s, uint64_t block, size_t n,
                     uint64_t *out);

// Words of one item's own, as many as its method needs: some that were made
// with others', then another part of the same stream.
typedef struct tl_draws {
  const tl_stream *stream;
  const uint64_t *next, *end;
  // Whose words, and which block of its own comes next.
  uint64_t item, block;
  uint64_t words[4];
} tl_draws;

// A source that begins with [count] given words, which it borrows; NULL: none.
static inline tl_draws tl_draws_from(const tl_stream *stream, uint64_t item,
                                     const uint64_t *words, int count) {
  tl_draws s;
  s.stream = stream;
  s.next = words;
  s.end = words == NULL ? NULL : words + count;
  s.item = item;
  s.block = 0;
  return s;
}

// A source of words of the item's own alone.
static inline tl_draws tl_draws_of(const tl_stream *stream, uint64_t item) {
  return tl_draws_from(stream, item, NULL, 0);
}

// The next word where none is at hand; not in line, as it is long and most
// draws need it seldom.
uint64_t tl_draws_more(tl_draws *s);

// The next word.
static inline uint64_t tl_next(tl_draws *s) {
  return s->next < s->end ? *s->next++ : tl_draws_more(s);
}

// From 0 on and below 1: the 53 high bits of a word.
static inline double tl_unit_float(uint64_t word) {
  return (double)(word >> 11) * 0x1p-53;
}
// The same of the next word.
static inline double tl_next_unit(tl_draws *s) {
  return tl_unit_float(tl_next(s));
}
// Above 0, up to 1: for logarithms.
static inline double tl_next_positive(tl_draws *s) {
  return (double)((tl_next(s) >> 11) + 1) * 0x1p-53;
}

// An integer below [range] (0: below 2^64) from a word, none more often than
// another (Lemire: "Fast random integer generation in an interval", 2019).
// Takes more words where the first would be biased.
static inline uint64_t tl_below(uint64_t word, uint64_t range, tl_draws *s) {
  if (range == 0)
    return word;
  tl_u128 product = (tl_u128)word * range;
  if ((uint64_t)product < range) {
    uint64_t floor = (0 - range) % range;
    while ((uint64_t)product < floor) product = (tl_u128)tl_next(s) * range;
  }
  return (uint64_t)(product >> 64);
}
