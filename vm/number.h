// Numbers in source text and in data files: decimal text to int64 and float64,
// in no locale, and the digits of floats.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tl_number_kind {
  TL_NUMBER_NONE,   // no number
  TL_NUMBER_INT,    // fits int64
  TL_NUMBER_FLOAT,  // anything else: 1.5, 1e3, 99999999999999999999, nan, -inf
} tl_number_kind;

typedef struct tl_number {
  tl_number_kind kind;
  int64_t i;  // of TL_NUMBER_INT
  double f;   // of both kinds, correctly rounded
} tl_number;

// An ASCII digit: isdigit would ask the locale.
static inline bool tl_is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The value of a digit, or of a letter as a digit of bases above ten; 36 of all
// else.
static inline unsigned tl_digit_value(char c) {
  const char small = (char)(c | 32);
  return tl_is_digit(c)                 ? (unsigned)(c - '0')
         : small >= 'a' && small <= 'z' ? (unsigned)(small - 'a' + 10)
                                        : 36;
}
// Reads the digits of [base] that [at, end) begins with; returns where they
// end. *fits: their value fits 64 bits, and is in *out.
const char *tl_digits_read(const char *at, const char *end, unsigned base,
                           bool *fits, uint64_t *out);

// Goes past the character [c], if it is the next one.
static inline bool tl_accept(const char **at, const char *end, char c) {
  const bool found = *at < end && **at == c;
  *at += found;
  return found;
}

// Reads the number that [text] is, blanks around it allowed. nan, inf and
// infinity are numbers in any case. [text] need not end with a NUL.
tl_number tl_number_read(const char *text, size_t nbytes);

// Reads the digits, point and exponent that [text, end) begins with; returns
// where they end, which is [text] where it begins with no number.
const char *tl_number_scan(const char *text, const char *end, tl_number *out);

// The fewest digits that read back as a positive float of [bits] bits, whose
// least one is 2^least; of several the nearest: digits * 10^exponent. They may
// end with zeros.
uint64_t tl_number_shortest(double value, int bits, int least, int *exponent);
