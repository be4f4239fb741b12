// Unpacks texts that are built in: deflate (Deutsch, RFC 1951, 1996), as gzip
// packs them. They are the library's own, so nothing is checked, and no zlib
// is needed to start a VM. Small rather than fast.

#include "stdlib/families.h"

// The packed bytes. Bits are read from the lowest of each byte on.
typedef struct reader {
  const unsigned char *at;
  uint32_t bits;
  int count;  // of those in [bits]
} reader;

// The next [count] bits as a number, at most 16.
static int take(reader *r, int count) {
  for (; r->count < count; r->count += 8)
    r->bits |= (uint32_t)*r->at++ << r->count;
  int value = (int)(r->bits & ((1u << count) - 1));
  r->bits >>= count;
  r->count -= count;
  return value;
}

// --- Codes ------------------------------------------------------------------

enum { LONGEST = 15, END = 256, LITERALS = 288, DISTANCES = 32 };

// A prefix code in which shorter words are smaller: how many words there are
// of each length, and the symbols that they stand for, in order. That is all
// that canonical Huffman codes need.
typedef struct code {
  uint16_t counts[LONGEST + 1];
  uint16_t symbols[LITERALS];
} code;

// Makes the code in which symbol i has a word of lengths[i] bits, 0 for none.
static void make_code(code *c, const uint8_t *lengths, int n) {
  uint16_t next[LONGEST + 1];
  memset(c->counts, 0, sizeof c->counts);
  for (int i = 0; i < n; i++) c->counts[lengths[i]]++;
  c->counts[0] = 0;
  next[0] = 0;
  for (int k = 1; k <= LONGEST; k++)
    next[k] = (uint16_t)(next[k - 1] + c->counts[k - 1]);
  for (int i = 0; i < n; i++)
    if (lengths[i] != 0)
      c->symbols[next[lengths[i]]++] = (uint16_t)i;
}

// Reads one word, bit by bit. The words of a length are numbers in a row, from
// [first] on.
//
//   lengths a 1, b 2, c 2     words a 0, b 10, c 11
//
// Word - first is the place of a symbol among those of its length.
static int take_symbol(reader *r, const code *c) {
  int word = 0, first = 0, before = 0;
  for (int k = 1;; k++) {
    word = 2 * word + take(r, 1);
    if (word - first < c->counts[k])
      return c->symbols[before + word - first];
    before += c->counts[k];
    first = 2 * (first + c->counts[k]);
  }
}

// The codes of blocks of kind 1, which RFC 1951 fixes.
static void fixed_codes(code *literals, code *distances) {
  // RFC 1951, 3.2.6.
  uint8_t lengths[LITERALS];
  memset(lengths, 8, 144);
  memset(lengths + 144, 9, 112);
  memset(lengths + 256, 7, 24);
  memset(lengths + 280, 8, 8);
  make_code(literals, lengths, LITERALS);
  memset(lengths, 5, DISTANCES);
  make_code(distances, lengths, DISTANCES);
}

// Reads the codes of a block of kind 2. The lengths of both codes' words stand
// there in a code of their own, in which 16 to 18 repeat the last one or 0.
static void read_codes(reader *r, code *literals, code *distances) {
  static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
  uint8_t lengths[LITERALS + DISTANCES] = {0};
  // RFC 1951, 3.2.7: how many lengths there are of each code, and of the code
  // of lengths.
  int literal_count = take(r, 5) + 257, distance_count = take(r, 5) + 1;
  int n = take(r, 4) + 4;
  for (int i = 0; i < n; i++) lengths[order[i]] = (uint8_t)take(r, 3);
  make_code(literals, lengths, 19);
  for (int i = 0; i < literal_count + distance_count;) {
    int symbol = take_symbol(r, literals), repeats = 1;
    uint8_t length = (uint8_t)(symbol < 16 ? symbol : 0);
    if (symbol == 16) {
      length = lengths[i - 1];
      repeats = 3 + take(r, 2);
    } else if (symbol > 16) {
      repeats = symbol == 17 ? 3 + take(r, 3) : 11 + take(r, 7);
    }
    memset(lengths + i, length, (size_t)repeats);
    i += repeats;
  }
  make_code(literals, lengths, literal_count);
  make_code(distances, lengths + literal_count, distance_count);
}

// --- Blocks -----------------------------------------------------------------

// A length or distance: each further [in_a_row] symbols stand for twice as
// many numbers, the low bits of which follow.
static int take_number(reader *r, int symbol, int in_a_row) {
  int bits = symbol / in_a_row - 1;
  return bits < 0 ? symbol
                  : ((in_a_row + symbol % in_a_row) << bits) + take(r, bits);
}

// Unpacks a block of literals and copies. A copy may reach into what it writes
// itself, so it goes byte by byte.
static char *unpack_coded(reader *r, const code *literals,
                          const code *distances, char *to) {
  for (;;) {
    int symbol = take_symbol(r, literals);
    if (symbol == END)
      return to;
    if (symbol < END) {
      *to++ = (char)symbol;
      continue;
    }
    // The longest copy has a symbol of its own.
    int length = symbol == 285 ? 258 : 3 + take_number(r, symbol - END - 1, 4);
    int distance = 1 + take_number(r, take_symbol(r, distances), 2);
    for (; length > 0; length--, to++) *to = to[-distance];
  }
}

// Copies a block that is not packed: it begins at a whole byte, with its
// length twice.
static char *unpack_stored(reader *r, char *to) {
  // Whole bytes that were read ahead are given back.
  r->at -= r->count / 8;
  r->count = 0;
  r->bits = 0;
  size_t nbytes = (size_t)r->at[0] | (size_t)r->at[1] << 8;
  memcpy(to, r->at + 4, nbytes);
  r->at += 4 + nbytes;
  return to + nbytes;
}

// Blocks until the last one: three bits say whether it is the last, and its
// kind.
void tl_inflate(const unsigned char *packed, char *to) {
  reader r = {.at = packed};
  code literals, distances;
  for (bool is_last = false; !is_last;) {
    is_last = take(&r, 1);
    int kind = take(&r, 2);
    if (kind == 0) {
      to = unpack_stored(&r, to);
      continue;
    }
    if (kind == 1)
      fixed_codes(&literals, &distances);
    else
      read_codes(&r, &literals, &distances);
    to = unpack_coded(&r, &literals, &distances, to);
  }
}
