// Bit sets over slots and variables, as words of 64 bits.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// These run for every slot at every instruction, so they are inlined even where
// the compiler is told to make small code.
#define TL_INLINED static inline __attribute__((always_inline))
// Whether [i] is in the set; adds it; takes it out. [i] is not tested against
// the length of the set.
TL_INLINED bool tl_bit(const uint64_t *set, int32_t i) {
  return (set[i >> 6] >> (i & 63) & 1) != 0;
}
TL_INLINED void tl_bit_set(uint64_t *set, int32_t i) {
  set[i >> 6] |= UINT64_C(1) << (i & 63);
}
TL_INLINED void tl_bit_clear(uint64_t *set, int32_t i) {
  set[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}
// The first member from [i] on, or -1. [words]: the length of the set.
TL_INLINED int32_t tl_bit_next(const uint64_t *set, int32_t words, int32_t i) {
  int32_t word = i >> 6;
  if (word >= words)
    return -1;
  uint64_t rest = set[word] & (~UINT64_C(0) << (i & 63));
  while (rest == 0) {
    if (++word == words)
      return -1;
    rest = set[word];
  }
  return word * 64 + __builtin_ctzll(rest);
}
// For each member of a set, in ascending order. The body may change the set
// behind [i].
#define TL_EACH_BIT(i, set, words)                     \
  for (int32_t i = tl_bit_next(set, words, 0); i >= 0; \
       i = tl_bit_next(set, words, i + 1))

// For each member that is not in [without]. break leaves only the innermost of
// the loops that this is made of.
#define TL_EACH_BIT_WITHOUT(i, set, without, words)                           \
  for (int32_t i##_w = 0; i##_w < (words); i##_w++)                           \
    for (uint64_t i##_rest = (set)[i##_w] & ~(without)[i##_w]; i##_rest != 0; \
         i##_rest &= i##_rest - 1)                                            \
      for (int32_t i = i##_w * 64 + __builtin_ctzll(i##_rest), i##_one = 1;   \
           i##_one != 0; i##_one = 0)
