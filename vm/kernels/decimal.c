// Kernels for tables of text: where cells end, and the numbers in them.
//
//   text_places   64 bytes -> a bit for each separator -> list of places
//   decimals      cells -> 16 bytes each -> digits joined by pairs, fours,
//   eights
//                 -> integer / power of ten, which is correctly rounded
//
// All plain decimals take the same instructions, whatever their digits: no
// branch depends on them, so that loops run over many cells at once. Both
// operands of the quotient are exact (2^53, 10^15), so one division rounds
// correctly.
#include "vm/kernels/decimal.h"

#include "vm/kernels/vector.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#define LITTLE_ENDIAN_BYTES 0
#else
#define LITTLE_ENDIAN_BYTES 1
#endif

enum { WORD = 64 };

// --- Where cells end ---------------------------------------------------------

// Bit i is whether byte i of the text is c.
TL_INLINE uint64_t mark(const char *text, char c) {
#if defined(__AVX512BW__)
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8(c));
#else
  uint8_t is[WORD];
  uint64_t parts[8], word = 0;
  for (int i = 0; i < WORD; i++) is[i] = text[i] == c;
  memcpy(parts, is, sizeof parts);
  // The product brings the lowest bits of the bytes together in the highest.
  for (int i = 0; i < 8; i++)
    word |= (parts[i] * 0x0102040810204080u >> 56) << (8 * i);
  return word;
#endif
}

// The place of the lowest bit; any number where there is none.
TL_INLINE uint64_t lowest_bit(uint64_t word) {
  return (uint64_t)__builtin_ctzll(word | (uint64_t)1 << 63);
}

// Writes the places behind the bits of a word, which is that of the text from
// [base] on, and returns the end of the list; may write up to 8 more.
TL_INLINE uint16_t *list_bits(uint16_t *out, uint64_t word, size_t base) {
  const int count = __builtin_popcountll(word);
  const uint64_t bases = (base + 1) * 0x0001000100010001u;
  // Mostly the same number of iterations, which processors predict; four places
  // are written at once.
  for (int i = 0; i < count; i += 8)
    for (int k = 0; k < 8; k += 4) {
      uint64_t places = lowest_bit(word);
      word &= word - 1;
      places |= lowest_bit(word) << 16;
      word &= word - 1;
      places |= lowest_bit(word) << 32;
      word &= word - 1;
      places |= lowest_bit(word) << 48;
      word &= word - 1;
      places += bases;
      memcpy(out + i + k, &places, sizeof places);
    }
  return out + count;
}

// A vector's bytes become three words of bits: ends of cells, ends of lines,
// carriage returns. All lists are written beyond their end, which
// tl_text_places has room for.
void TL_K(text_places)(tl_text_places *out, const char *text, char separator,
                       size_t n) {
  uint16_t *cell = out->cell, *line = out->line, *back = out->back;
  uint64_t odd = 0;
  *cell++ = 0;
  if (!LITTLE_ENDIAN_BYTES)
    n = 0;  // bits would be in the other order
  for (size_t at = 0; at < n && odd == 0; at += WORD) {
    odd = mark(text + at, '"') | mark(text + at, 0);
    // Only places before the first quote or NUL count: from there on another
    // reader goes on.
    const uint64_t before = odd != 0 ? (odd & (0 - odd)) - 1 : ~odd;
    const uint64_t lines = mark(text + at, '\n') & before;
    const uint64_t ends = lines | (mark(text + at, separator) & before);
    const uint64_t backs = mark(text + at, '\r') & before;
    cell = list_bits(cell, ends, at);
    // Rarely more than one, as often none as one: without a branch.
    line[0] = (uint16_t)(at + 1 + lowest_bit(lines));
    line += lines != 0;
    for (uint64_t more = lines & (lines - 1); more != 0; more &= more - 1)
      *line++ = (uint16_t)(at + 1 + lowest_bit(more));
    if (backs != 0)
      back = list_bits(back, backs, at);
  }
  out->cells = (size_t)(cell - out->cell) - 1;
  out->lines = (size_t)(line - out->line);
  out->backs = (size_t)(back - out->back);
}

// --- Decimals ----------------------------------------------------------------

// A word of eight equal bytes.
#define EACH(byte) (0x0101010101010101u * (byte))

// A vector has room for LANES cells.
typedef vec_bits words;
typedef vec doubles;

// All bits where the condition holds.
#define WHERE(condition) ((words)(condition))

#if defined(__AVX512BW__)
#define PACKED(name) _mm512_##name
#define PACKED_VECTOR __m512i
// The highest bit of each byte of x that is [byte].
TL_INLINE words bytes_equal(words x, uint64_t byte) {
  const __mmask64 equal =
      _mm512_cmpeq_epi8_mask((PACKED_VECTOR)x, _mm512_set1_epi8((char)byte));
  return (words)_mm512_maskz_set1_epi8(equal, (char)0x80);
}
#elif defined(__AVX2__)
#define PACKED(name) _mm256_##name
#define PACKED_VECTOR __m256i
// The comparison gives all bits of a byte, of which the highest stays.
TL_INLINE words bytes_equal(words x, uint64_t byte) {
  return (words)_mm256_cmpeq_epi8((PACKED_VECTOR)x,
                                  _mm256_set1_epi8((char)byte)) &
         EACH(0x80);
}
#else
// t is 0 in equal bytes. Adding 0x7f to its lower bits sets the highest one of
// all others, and no byte carries into the next.
TL_INLINE words bytes_equal(words x, uint64_t byte) {
  const words t = x ^ EACH(byte);
  return ~(((t & EACH(0x7f)) + EACH(0x7f)) | t) & EACH(0x80);
}
#endif

// The highest bit of each byte of x above 9.
TL_INLINE words bytes_above_9(words x) {
  return (((x & EACH(0x7f)) + EACH(0x76)) | x) & EACH(0x80);
}

#if defined(__AVX2__)
// Bytes above 9 where one of x or one seen before is.
TL_INLINE words note_bytes(words seen, words x) {
  return (words)PACKED(max_epu8)((PACKED_VECTOR)seen, (PACKED_VECTOR)x);
}

// All bits of the last [length] bytes of eight.
TL_INLINE words last_bytes(words length) {
  const PACKED_VECTOR before = PACKED(subs_epu16)(
      (PACKED_VECTOR)((words){0} + 64), (PACKED_VECTOR)(length << 3));
  return (words)PACKED(sllv_epi64)((PACKED_VECTOR) ~(words){0}, before);
}

// The same of the eight before them: none, where there are at most eight.
TL_INLINE words bytes_before(words length) {
  const PACKED_VECTOR before = (PACKED_VECTOR)(128 - (length << 3));
  return (words)PACKED(sllv_epi64)((PACKED_VECTOR) ~(words){0}, before);
}
#else
// Their highest bits alone: no instruction takes the larger bytes of two.
TL_INLINE words note_bytes(words seen, words x) {
  return seen | bytes_above_9(x);
}

// All bits of the last [length] bytes of eight.
TL_INLINE words last_bytes(words length) {
  return ~(uint64_t)0 << ((64 - 8 * length) & 63) | WHERE(length > 7);
}

// The same of the eight before them: none, where there are at most eight.
TL_INLINE words bytes_before(words length) {
  return ~(uint64_t)0 << ((64 - 8 * length) & 63) & WHERE(length > 8);
}
#endif

#if defined(__AVX2__)
// The number that sixteen digits make, eight in each word, the first in the
// lowest byte: neighbours are joined, then pairs, then fours, then eights.
TL_INLINE words join_digits(words early, words late) {
  const PACKED_VECTOR tens = PACKED(set1_epi16)(0x010a);
  const PACKED_VECTOR hundreds = PACKED(set1_epi32)(0x00010064);
  const PACKED_VECTOR thousands = PACKED(set1_epi32)(0x00012710);
  const PACKED_VECTOR first = PACKED(madd_epi16)(
      PACKED(maddubs_epi16)((PACKED_VECTOR)early, tens), hundreds);
  const PACKED_VECTOR second = PACKED(madd_epi16)(
      PACKED(maddubs_epi16)((PACKED_VECTOR)late, tens), hundreds);
  // In each 16 bytes: eights of two early words, then of the two late ones.
  const PACKED_VECTOR eights =
      PACKED(madd_epi16)(PACKED(packus_epi32)(first, second), thousands);
  const words high = (words)PACKED(shuffle_epi32)(eights, 0x10);
  const words low = (words)PACKED(shuffle_epi32)(eights, 0x32);
  return (words)PACKED(mul_epu32)((PACKED_VECTOR)high,
                                  (PACKED_VECTOR)((words){0} + 100000000)) +
         (low & 0xffffffffu);
}

// How many bytes of a mask of whole bytes are set.
TL_INLINE words count_bytes(words mask) {
  return (words)PACKED(sad_epu8)((PACKED_VECTOR)(mask & EACH(1)),
                                 (PACKED_VECTOR)(words){0});
}
#else
// The number that eight digits in a word make.
TL_INLINE words join_eight(words x) {
  x = (x << 3) + (x << 1) + (x >> 8);
  x &= 0x00ff00ff00ff00ffu;
  x = x * 100 + (x >> 16);
  x &= 0x0000ffff0000ffffu;
  return (x & 0xffffu) * 10000 + (x >> 32);
}

// The number that sixteen digits make, eight in each word, the first in the
// lowest byte: neighbours are joined, then pairs, then fours, then eights.
TL_INLINE words join_digits(words early, words late) {
  return join_eight(early) * 100000000 + join_eight(late);
}

// How many bytes of a mask of whole bytes are set: bytes, pairs, fours.
TL_INLINE words count_bytes(words mask) {
  mask &= EACH(1);
  mask += mask >> 32;
  mask += mask >> 16;
  return (mask + (mask >> 8)) & 15;
}
#endif

// Exactly x, which is at most 2^53.
TL_INLINE doubles exact(words x) {
  const uint64_t base = 0x4330000000000000u;  // 2^52, and an integer below it
  const doubles low = (doubles)(base | (x & 0xffffffffu));
  const doubles high = (doubles)(base | x >> 32);
  return (high - 0x1p52) * 0x1p32 + (low - 0x1p52);
}

// The cells of one call: their last 16 bytes, at places from which a vector of
// the first and one of the last eight are taken at once; how many bytes they
// have, and the first of these.
typedef struct cells {
  char text[TL_DECIMALS][2 * sizeof(uint64_t)];
  uint64_t length[TL_DECIMALS];
  uint64_t first[TL_DECIMALS];
} cells;

// Copies cell k of the LANES ones from i on.
TL_INLINE void gather_cell(cells *c, size_t i, size_t k, const char *text,
                           const uint16_t *begin, size_t behind) {
  const char *at = text + begin[0], *end = text + begin[1] - behind;
  // Even cells first, then odd ones: split_cells takes one of each alternately.
  memcpy(c->text[i + k / 2 + k % 2 * LANES / 2], end - 16, 16);
  c->length[i + k] = (uint64_t)(end - at);
  c->first[i + k] = (unsigned char)*at;
}

// The highest bit of a word.
#define SIGN ((uint64_t)1 << 63)

// Copies all cells, up to whole vectors, which zeros fill.
TL_INLINE void gather_cells(cells *c, const char *text, const uint16_t *begin,
                            size_t step, size_t behind, size_t n) {
  static const char zero[] = "0000000000000000";
  static const uint16_t one[2] = {15, 16};
  size_t i = 0;
  for (; i + LANES <= n; i += LANES) {
#pragma GCC unroll 8
    for (size_t k = 0; k < LANES; k++, begin += step)
      gather_cell(c, i, k, text, begin, behind);
  }
  for (size_t k = 0; i < n && k < LANES; k++, begin += step)
    if (i + k < n)
      gather_cell(c, i, k, text, begin, behind);
    else
      gather_cell(c, i, k, zero, one, 0);
}

// The first and the last eight bytes of LANES cells.
TL_INLINE void split_cells(const cells *c, size_t i, words *early,
                           words *late) {
#if defined(__AVX2__)
  PACKED_VECTOR a, b;
  memcpy(&a, c->text[i], sizeof a);
  memcpy(&b, c->text[i + LANES / 2], sizeof b);
  *early = (words)PACKED(unpacklo_epi64)(a, b);
  *late = (words)PACKED(unpackhi_epi64)(a, b);
#else
  uint64_t word[2];
  for (int k = 0; k < LANES; k++) {
    memcpy(word, c->text[i + (size_t)(k / 2 + k % 2 * LANES / 2)], 16);
    (*early)[k] = word[0];
    (*late)[k] = word[1];
  }
#endif
}

// A decimal as its digits and the place of its point.
typedef struct parts {
  words digits;  // as an integer
  words behind;  // how many of them stand behind the point
} parts;

// The properties of all cells seen so far, joined by or.
typedef struct seen {
  words points;  // not 0 where there was one
  words bytes;   // above 9 where a digit was none
  words faults;  // the highest bit where a number was too long or had no digit
} seen;

// Reads LANES cells: removes the point and joins the digits; notes in [seen]
// what the cells have besides digits.
TL_INLINE parts take_apart(words early, words late, words length, seen *seen) {
  // Bytes before the cell become zeros, which count as nothing. Lengths above
  // 16 are refused below.
  late = (late ^ EACH('0')) & last_bytes(length);
  early = (early ^ EACH('0')) & bytes_before(length);
  // The point is found as the byte that it is after the exclusive or.
  const words late_point = bytes_equal(late, '.' ^ '0');
  const words early_point = bytes_equal(early, '.' ^ '0');
  // The point, if there is one, is in either word. Where it is in the later
  // one, the last byte of the earlier one moves over into that.
  const words in_late = WHERE(late_point != 0);
  const words in_early = WHERE(early_point != 0);
  const words has_point = in_late | in_early;
  // What stands before the point goes one byte on, over it. A second point is
  // then no digit.
  const words late_before = (late_point | (late_point - 1)) & in_late;
  const words early_before =
      in_late | ((early_point | (early_point - 1)) & in_early);
  const words late_digits =
      ((late << 8 | early >> 56) & late_before) | (late & ~late_before);
  const words early_digits =
      (early << 8 & early_before) | (early & ~early_before);
  parts p;
  p.digits = join_digits(early_digits, late_digits);
  p.behind = (count_bytes(~late_before) & has_point) +
             (count_bytes(~early_before) & in_early);
  seen->points |= has_point;
  seen->bytes = note_bytes(note_bytes(seen->bytes, late_digits), early_digits);
  // Each difference is below 0 where it must not be.
  seen->faults |= (length - 1 + has_point) | (16 - length) |
                  (((uint64_t)1 << 53) - p.digits);
  return p;
}

// Ten to the powers 0 to 15.
TL_INLINE doubles power_of_ten(words exponent) {
  static const double powers[16] = {1e0,  1e1,  1e2,  1e3, 1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9, 1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15};
  return look_up(powers, exponent);
}

// Stores the lanes of a vector, of which [n] are wanted.
TL_INLINE void put_lanes(void *out, words lanes, size_t n) {
  if (n >= LANES)
    memcpy(out, &lanes, sizeof lanes);
  else
    memcpy(out, &lanes, n * sizeof(uint64_t));
}

// The quotient is computed for every cell; what is no plain decimal gives some
// number, and TL_DECIMAL_OTHER says that none of them counts.
unsigned TL_K(decimals)(double *values, int64_t *integers, const char *text,
                        const uint16_t *begin, size_t step, size_t behind,
                        size_t n) {
  cells c;
  seen seen = {.points = {0}};
  gather_cells(&c, text, begin, step, behind, n);
  for (size_t i = 0; i < n; i += LANES) {
    words early, late, length, first;
    split_cells(&c, i, &early, &late);
    memcpy(&length, c.length + i, sizeof length);
    memcpy(&first, c.first + i, sizeof first);
    // A minus is no digit: the length is one less, and the bytes before a cell
    // become zeros.
    const words minus = WHERE(first == '-');
    const parts p = take_apart(early, late, length + minus, &seen);
    put_lanes(values + i,
              (words)(exact(p.digits) / power_of_ten(p.behind)) | minus << 63,
              n - i);
    if (integers != NULL)
      put_lanes(integers + i, (p.digits ^ minus) - minus, n - i);
  }
  const words others = bytes_above_9(seen.bytes) | (seen.faults & SIGN);
  unsigned all = LITTLE_ENDIAN_BYTES ? 0 : TL_DECIMAL_OTHER;
  for (int k = 0; k < LANES; k++) {
    all |= (unsigned)seen.points[k] & TL_DECIMAL_POINT;
    all |= others[k] != 0 ? TL_DECIMAL_OTHER : 0;
  }
  return all;
}
