// PCG64: random words in sequence, the same as NumPy's for a seed.
//
// O'Neill: "PCG: a family of simple fast space-efficient statistically good
// algorithms for random number generation", 2014 (XSL-RR 128/64); seeded as
// numpy.random.SeedSequence does (random/bit_generator.pyx).
#pragma once

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 tl_pcg_word;

// A generator; copied freely.
typedef struct tl_pcg64 {
  tl_pcg_word state, increment;
  // NumPy draws small integers from halves of words, the lower one first.
  bool has_half;  // the upper half of a word is left
  uint32_t half;
} tl_pcg64;

// Seeds it as SeedSequence(seed), for a stream above 0 as SeedSequence(seed,
// spawn_key=(stream - 1,)).
void tl_pcg64_seed(tl_pcg64 *p, uint64_t seed, uint64_t stream);

// One step of the linear congruential generator below.
static inline void tl_pcg64_step(tl_pcg64 *p) {
  const tl_pcg_word factor = (tl_pcg_word)UINT64_C(0x2360ed051fc65da4) << 64 |
                             UINT64_C(0x4385df649fccf645);
  p->state = p->state * factor + p->increment;
}

// The next word: the halves of the state xored, and rotated by its highest
// bits.
static inline uint64_t tl_pcg64_next(tl_pcg64 *p) {
  tl_pcg64_step(p);
  uint64_t high = (uint64_t)(p->state >> 64), x = high ^ (uint64_t)p->state;
  unsigned turn = (unsigned)(high >> 58);
  return x >> turn | x << (-turn & 63);
}

// Half a word: the lower one first, the upper one at the next call.
static inline uint32_t tl_pcg64_next_half(tl_pcg64 *p) {
  if (p->has_half) {
    p->has_half = false;
    return p->half;
  }
  uint64_t word = tl_pcg64_next(p);
  p->has_half = true;
  p->half = (uint32_t)(word >> 32);
  return (uint32_t)word;
}
