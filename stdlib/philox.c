// Words of a stream, many at a time: see philox.h. Only this file and the
// inlined functions of philox.h know how a counter is laid out.
//
// Built for speed.
#include "stdlib/philox.h"

#include <string.h>

// Word 2 of the counter is 1 here and 0 in tl_stream_words, so that an item's
// own words never meet those of the stream.
uint64_t tl_draws_more(tl_draws *s) {
  if (s->stream->pcg)
    return tl_pcg64_next(s->stream->pcg);
  uint64_t counter[4] = {s->block++, s->item, 1, s->stream->purpose};
  tl_philox(counter, s->stream->key);
  memcpy(s->words, counter, sizeof counter);
  s->next = s->words + 1;
  s->end = s->words + 4;
  return s->words[0];
}

// Two counters in alternation: the products of one hide the latency of the
// other's.
static void philox_words(const tl_stream *s, uint64_t block, size_t n,
                         uint64_t *out) {
  // The keys of the rounds depend on the stream alone.
  tl_philox_keys keys;
  tl_philox_expand(s->key, keys);
  for (size_t i = 0; i < n; i += 8, block += 2) {
    uint64_t a[4] = {block, 0, 0, s->purpose};
    uint64_t b[4] = {block + 1, 0, 0, s->purpose};
#pragma GCC unroll 10
    for (int r = 0; r < TL_PHILOX_ROUNDS; r++) {
      tl_philox_round(a, keys[r]);
      tl_philox_round(b, keys[r]);
    }
    memcpy(out + i, a, sizeof a);
    memcpy(out + i + 4, b, sizeof b);
  }
}

// PCG64 has a state of its own, which makes words of a place impossible: its
// are the next ones, and [block] is not looked at.
void tl_stream_words(const tl_stream *s, uint64_t block, size_t n,
                     uint64_t *out) {
  if (!s->pcg)
    philox_words(s, block, n, out);
  else
    for (size_t i = 0; i < n; i++) out[i] = tl_pcg64_next(s->pcg);
}
