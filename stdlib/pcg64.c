// Seeding PCG64 as NumPy does: SeedSequence mixes the words of a seed into a
// pool of 128 bits, from which the state and the increment are hashed. The
// constants are NumPy's.
//
// Built for speed.

#include "stdlib/pcg64.h"

enum { POOL = 4 };  // words of 32 bits

// SeedSequence's hashmix.
static uint32_t hash(uint32_t value, uint32_t *key, uint32_t factor) {
  value ^= *key;
  *key *= factor;
  value *= *key;
  return value ^ value >> 16;
}

// SeedSequence's mix of two words.
static uint32_t mix(uint32_t x, uint32_t y) {
  uint32_t z = x * UINT32_C(0xca01f9dd) - y * UINT32_C(0x4973f715);
  return z ^ z >> 16;
}

// Fills the pool from the seed's words: each hashed in, then all mixed with
// all.
static void mix_in(uint32_t pool[POOL], const uint32_t *words, int count) {
  const uint32_t factor = UINT32_C(0x931e8875);
  uint32_t key = UINT32_C(0x43b0d7e5);
  for (int i = 0; i < POOL; i++)
    pool[i] = hash(i < count ? words[i] : 0, &key, factor);
  for (int from = 0; from < POOL; from++)
    for (int to = 0; to < POOL; to++)
      if (from != to)
        pool[to] = mix(pool[to], hash(pool[from], &key, factor));
  for (int from = POOL; from < count; from++)
    for (int to = 0; to < POOL; to++)
      pool[to] = mix(pool[to], hash(words[from], &key, factor));
}

// NumPy fills up a short seed to the pool's size before a stream's words
// follow.
void tl_pcg64_seed(tl_pcg64 *p, uint64_t seed, uint64_t stream) {
  // As NumPy splits its integers: without leading zeros.
  uint32_t words[POOL + 2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  int count = seed >> 32 ? 2 : 1;
  if (stream > 0) {
    words[POOL] = (uint32_t)(stream - 1);
    words[POOL + 1] = (uint32_t)((stream - 1) >> 32);
    count = (stream - 1) >> 32 ? POOL + 2 : POOL + 1;
  }
  uint32_t pool[POOL], key = UINT32_C(0x8b51f9dd), half[8];
  mix_in(pool, words, count);
  for (int i = 0; i < 8; i++)
    half[i] = hash(pool[i % POOL], &key, UINT32_C(0x58f38ded));
  uint64_t w[4];
  for (int i = 0; i < 4; i++)
    w[i] = (uint64_t)half[2 * i + 1] << 32 | half[2 * i];
  // PCG's own seeding: one step, the state added, another step.
  tl_pcg_word start = (tl_pcg_word)w[0] << 64 | w[1];
  *p = (tl_pcg64){.increment = ((tl_pcg_word)w[2] << 64 | w[3]) << 1 | 1};
  tl_pcg64_step(p);
  p->state += start;
  tl_pcg64_step(p);
}
