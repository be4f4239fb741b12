// Kernels that select items by a mask of bytes 0 and 1.
//
// They look at 64 bytes of the mask at once, as the bits of a word: most words
// of most masks select nearly nothing or nearly all.
//
//   no bit        skipped
//   all bits      one copy
//   few bits      item by item, from the lowest bit on
//   others        by vectors of the set, where it has such instructions
#include "vm/kernels/list.h"
#include "vm/kernels/move.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { WORD = 64 };

// Words with fewer bits than this are done bit by bit.
// From there on a vector's instructions cost less than a step for each bit.
enum { SPARSE = 12 };

// Bit i is mask[i].
TL_INLINE uint64_t word_of(const uint8_t *mask) {
#if defined(__AVX512BW__)
  const __m512i bytes = _mm512_loadu_si512(mask);
  return _mm512_test_epi8_mask(bytes, bytes);
#else
  uint64_t parts[8], any = 0, word = 0;
  memcpy(parts, mask, sizeof parts);
  for (int i = 0; i < 8; i++) any |= parts[i];
  if (any == 0)
    return 0;
  // The product brings the lowest bits of the bytes together in the highest.
  for (int i = 0; i < 8; i++)
    word |= (parts[i] * 0x0102040810204080u >> 56) << (8 * i);
  return word;
#endif
}

// The same of the last bytes, fewer than a word.
TL_INLINE uint64_t end_word(const uint8_t *mask, size_t n) {
  uint64_t word = 0;
  for (size_t i = 0; i < n; i++) word |= (uint64_t)mask[i] << i;
  return word;
}

// The place of the lowest bit, of which there must be one.
TL_INLINE size_t lowest_bit(uint64_t word) {
  return (size_t)__builtin_ctzll(word);
}

// How many items the word selects.
TL_INLINE size_t count_bits(uint64_t word) {
  return (size_t)__builtin_popcountll(word);
}

// How many words at the beginning have so many true items behind them that
// whole vectors of results, of up to 16 items, end before the last one. Only
// the last few words are looked at: no second pass over a rare mask.
TL_INLINE size_t words_followed(const uint8_t *mask, size_t n) {
  size_t items = 0;
  for (size_t words = n / WORD, left = 8; words > 0 && left > 0; left--) {
    items += count_bits(word_of(mask + --words * WORD));
    if (items >= 16)
      return words;
  }
  return 0;
}

// --- Dense words -------------------------------------------------------------

// Items of a word to out and back, bit by bit; nothing is written or read
// behind the last one.
#define PLAIN_PACK(size, T)                                           \
  TL_INLINE void pack_word_##size(T *out, const T *a, uint64_t word,  \
                                  bool over) {                        \
    (void)over;                                                       \
    for (; word != 0; word &= word - 1) *out++ = a[lowest_bit(word)]; \
  }
#define PLAIN_SPREAD(size, T)                                         \
  static void spread_word_##size(T *out, uint64_t word, const T *a) { \
    for (; word != 0; word &= word - 1) out[lowest_bit(word)] = *a++; \
  }
PLAIN_SPREAD(1, tl_word1)
PLAIN_SPREAD(2, tl_word2)

#if defined(__AVX512F__)
// Narrow items are moved to the front as words of 32 bits, 16 at a time.
#define NARROW_WORDS(size, T, vec, load, store, epi)                       \
  TL_INLINE void pack_word_##size(T *out, const T *a, uint64_t word,       \
                                  bool over) {                             \
    for (int i = 0; i < WORD; i += 16, word >>= 16, a += 16) {             \
      const __mmask16 bits = (__mmask16)word;                              \
      const size_t n = count_bits(bits);                                   \
      const __m512i some = _mm512_maskz_compress_epi32(                    \
          bits, _mm512_cvtepu##epi##_epi32(load((const vec *)(void *)a))); \
      if (over)                                                            \
        store((vec *)(void *)out, _mm512_cvtepi32_epi##epi(some));         \
      else                                                                 \
        _mm512_mask_cvtepi32_storeu_epi##epi(                              \
            out, (__mmask16)(((uint32_t)1 << n) - 1), some);               \
      out += n;                                                            \
    }                                                                      \
  }
NARROW_WORDS(1, tl_word1, __m128i, _mm_loadu_si128, _mm_storeu_si128, 8)
NARROW_WORDS(2, tl_word2, __m256i, _mm256_loadu_si256, _mm256_storeu_si256, 16)

// The n lowest bits.
TL_INLINE uint64_t low_bits(size_t n) {
  return ((uint64_t)1 << n) - 1;
}

// Every bit twice: of a mask of items of 16 bytes, for vectors of halves.
TL_INLINE __mmask8 doubled(uint64_t bits) {
  return (__mmask8)(_pdep_u32((unsigned)bits, 0x55) * 3);
}

// The same by vectors of [lanes] items, whose mask has [parts] bits for an
// item. With [over], memory behind the last item is overwritten too: whole
// vectors are stored faster than parts of them.
#define VECTOR_WORDS(size, T, lanes, parts, bits_of, mask_t, epi)              \
  TL_INLINE void pack_word_##size(T *out, const T *a, uint64_t word,           \
                                  bool over) {                                 \
    for (int i = 0; i < WORD / lanes; i++, word >>= lanes, a += lanes) {       \
      const uint64_t bits = word & low_bits(lanes);                            \
      const size_t n = count_bits(bits);                                       \
      const __m512i some = _mm512_maskz_compress_##epi((mask_t)bits_of(bits),  \
                                                       _mm512_loadu_si512(a)); \
      if (over)                                                                \
        _mm512_storeu_si512(out, some);                                        \
      else                                                                     \
        _mm512_mask_storeu_##epi(out, (mask_t)low_bits(n *parts), some);       \
      out += n;                                                                \
    }                                                                          \
  }                                                                            \
  static void spread_word_##size(T *out, uint64_t word, const T *a) {          \
    for (; word != 0; word >>= lanes, out += lanes) {                          \
      const uint64_t bits = word & low_bits(lanes);                            \
      const size_t n = count_bits(bits);                                       \
      const __m512i some =                                                     \
          _mm512_maskz_loadu_##epi((mask_t)low_bits(n * parts), a);            \
      _mm512_mask_storeu_##epi(                                                \
          out, (mask_t)bits_of(bits),                                          \
          _mm512_maskz_expand_##epi((mask_t)bits_of(bits), some));             \
      a += n;                                                                  \
    }                                                                          \
  }
VECTOR_WORDS(4, tl_word4, 16, 1, , __mmask16, epi32)
VECTOR_WORDS(8, tl_word8, 8, 1, , __mmask8, epi64)
VECTOR_WORDS(16, tl_word16, 4, 2, doubled, __mmask8, epi64)
#else
#define PLAIN_WORDS(size, T) PLAIN_PACK(size, T) PLAIN_SPREAD(size, T)
PLAIN_PACK(1, tl_word1)
PLAIN_PACK(2, tl_word2)
PLAIN_WORDS(4, tl_word4)
PLAIN_WORDS(8, tl_word8)
PLAIN_WORDS(16, tl_word16)
#endif

// --- Selection ---------------------------------------------------------------

// Each word by its count of bits: all, few, or by vectors.
#define SELECTIONS(size, T)                                                   \
  TL_INLINE size_t pack_bits_##size(T *out, const T *a, uint64_t word,        \
                                    bool over) {                              \
    const size_t n = count_bits(word);                                        \
    if (n == WORD)                                                            \
      memmove(out, a, WORD * sizeof(T));                                      \
    else if (n < SPARSE)                                                      \
      for (; word != 0; word &= word - 1) *out++ = a[lowest_bit(word)];       \
    else                                                                      \
      pack_word_##size(out, a, word, over);                                   \
    return n;                                                                 \
  }                                                                           \
  TL_INLINE size_t spread_bits_##size(T *out, uint64_t word, const T *a) {    \
    const size_t n = count_bits(word);                                        \
    if (n == WORD)                                                            \
      memcpy(out, a, WORD * sizeof(T));                                       \
    else if (n < SPARSE)                                                      \
      for (; word != 0; word &= word - 1) out[lowest_bit(word)] = *a++;       \
    else                                                                      \
      spread_word_##size(out, word, a);                                       \
    return n;                                                                 \
  }                                                                           \
  size_t TL_K(compress_##size)(void *out, const void *a, const uint8_t *mask, \
                               size_t n) {                                    \
    T *to = out;                                                              \
    const T *from = a;                                                        \
    const size_t last = words_followed(mask, n);                              \
    for (size_t i = 0; n >= WORD;                                             \
         i++, n -= WORD, mask += WORD, from += WORD) {                        \
      const uint64_t word = word_of(mask);                                    \
      if (i < last)                                                           \
        to += pack_bits_##size(to, from, word, true);                         \
      else                                                                    \
        to += pack_bits_##size(to, from, word, false);                        \
    }                                                                         \
    for (uint64_t word = end_word(mask, n); word != 0; word &= word - 1)      \
      *to++ = from[lowest_bit(word)];                                         \
    return (size_t)(to - (T *)out);                                           \
  }                                                                           \
  size_t TL_K(expand_##size)(void *out, const uint8_t *mask, const void *a,   \
                             size_t n) {                                      \
    T *to = out;                                                              \
    const T *from = a;                                                        \
    for (; n >= WORD; n -= WORD, mask += WORD, to += WORD) {                  \
      const uint64_t word = word_of(mask);                                    \
      if (word != 0)                                                          \
        from += spread_bits_##size(to, word, from);                           \
    }                                                                         \
    for (uint64_t word = end_word(mask, n); word != 0; word &= word - 1)      \
      to[lowest_bit(word)] = *from++;                                         \
    return (size_t)(from - (const T *)a);                                     \
  }

SELECTIONS(1, tl_word1)
SELECTIONS(2, tl_word2)
SELECTIONS(4, tl_word4)
SELECTIONS(8, tl_word8)
SELECTIONS(16, tl_word16)

// 64 bytes of the mask become a word of bits, of which only those that are set
// are looked at.
size_t TL_K(true_indices)(int64_t *out, const uint8_t *mask, int64_t base,
                          size_t n) {
  int64_t *to = out;
  for (; n >= WORD; n -= WORD, mask += WORD, base += WORD)
    for (uint64_t word = word_of(mask); word != 0; word &= word - 1)
      *to++ = base + (int64_t)lowest_bit(word);
  for (uint64_t word = end_word(mask, n); word != 0; word &= word - 1)
    *to++ = base + (int64_t)lowest_bit(word);
  return (size_t)(to - out);
}
