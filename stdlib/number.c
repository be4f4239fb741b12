// Numbers in data files.
//
// Nearly all have so few digits that one multiplication or division of exact
// floats rounds correctly (Clinger 1990), or one of 128 bits (Lemire 2021); the
// rest go to strtod.

#include "stdlib/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stdlib/powers_of_five.h"

__extension__ typedef unsigned __int128 wide;

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The parts of a decimal: [digits, digits_end) has at most one point.
typedef struct decimal {
  bool negative;
  const char *digits, *digits_end;
  const char *point;  // NULL: none
  uint64_t mantissa;  // of the first 19 significant digits
  int significant;    // digits from the first that is not 0
  int64_t exponent;   // as written behind the e
  bool has_exponent;
} decimal;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Splits text into its parts; false if it is no decimal.
static bool split(const char *at, const char *end, decimal *d) {
  *d = (decimal){.negative = at < end && *at == '-'};
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  d->digits = at;
  int count = 0;
  for (; at < end; at++) {
    if (*at == '.' && !d->point) {
      d->point = at;
      continue;
    }
    if (!is_digit(*at))
      break;
    count++;
    if (d->significant == 0 && *at == '0')
      continue;
    if (++d->significant <= 19)
      d->mantissa = d->mantissa * 10 + (uint64_t)(*at - '0');
  }
  d->digits_end = at;
  if (count == 0)
    return false;
  if (at == end)
    return true;
  if (*at != 'e' && *at != 'E')
    return false;
  d->has_exponent = true;
  at++;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (at == end)
    return false;
  for (; at < end; at++) {
    if (!is_digit(*at))
      return false;
    // Far beyond any float, so that more digits make no difference.
    if (d->exponent < 1000000000)
      d->exponent = d->exponent * 10 + (*at - '0');
  }
  if (negative)
    d->exponent = -d->exponent;
  return true;
}

enum { MOST_DIGITS = 800 };  // more never decide how a double is rounded

// Digits without a point and an exponent: strtod reads that in every locale.
static double slow_value(const decimal *d, int64_t exponent) {
  char buffer[MOST_DIGITS + 32];
  int n = 0, seen = 0;
  bool rest = false;
  for (const char *at = d->digits; at < d->digits_end; at++) {
    if (*at == '.' || (n == 0 && *at == '0'))
      continue;
    seen++;
    if (n < MOST_DIGITS)
      buffer[n++] = *at;
    else if (*at != '0')
      rest = true;
  }
  if (n == 0)
    return 0;
  exponent += seen - n;
  // A digit that stands for all that were cut off.
  if (rest) {
    buffer[n++] = '1';
    exponent--;
  }
  if (exponent > 100000)
    exponent = 100000;
  if (exponent < -100000)
    exponent = -100000;
  snprintf(buffer + n, 32, "e%d", (int)exponent);
  return strtod(buffer, NULL);
}

// mantissa * 10^exponent, correctly rounded; false where 128 bits of the power
// do not decide it. Lemire: "Number parsing at a gigabyte per second", 2021.
static bool rounded_value(uint64_t mantissa, int64_t exponent, double *out) {
  if (exponent < TL_LEAST_POWER || exponent > TL_GREATEST_POWER)
    return false;
  int zeros = __builtin_clzll(mantissa);
  mantissa <<= zeros;
  const uint64_t *power = tl_powers_of_five[exponent - TL_LEAST_POWER];
  wide product = (wide)mantissa * power[0];
  uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
  if ((high & 0x1ff) == 0x1ff) {
    // The bits that follow may carry.
    uint64_t carry = (uint64_t)((wide)mantissa * power[1] >> 64);
    low += carry;
    high += low < carry;
    if (low == UINT64_MAX && (exponent < -27 || exponent > 55))
      return false;
  }
  int upper = (int)(high >> 63);
  uint64_t bits = high >> (upper + 9);
  // 152170 / 2^16 is log2(10): where the power's highest bit stands.
  int binary = (int)((152170 + 65536) * exponent >> 16) + 63 + upper - zeros;
  if (binary <= -1022 || binary >= 1023)
    return false;  // subnormal or infinite: the slow way
  // Exactly between two floats: to even.
  if (low <= 1 && exponent >= -4 && exponent <= 23 && (bits & 3) == 1 &&
      bits << (upper + 9) == high)
    bits &= ~UINT64_C(1);
  bits = (bits + (bits & 1)) >> 1;
  if (bits >= UINT64_C(2) << 52) {
    bits = UINT64_C(1) << 52;
    binary++;
  }
  bits = (bits & ~(UINT64_C(1) << 52)) | (uint64_t)(binary + 1023) << 52;
  memcpy(out, &bits, sizeof bits);
  return true;
}

static double value_of(const decimal *d) {
  int64_t exponent = d->exponent;
  if (d->point)
    exponent -= d->digits_end - d->point - 1;
  double value;
  if (d->significant <= 19 && d->mantissa <= UINT64_C(1) << 53 &&
      exponent >= -22 && exponent <= 22)
    value = exponent < 0 ? (double)d->mantissa / powers[-exponent]
                         : (double)d->mantissa * powers[exponent];
  else if (d->significant > 19 || d->mantissa == 0 ||
           !rounded_value(d->mantissa, exponent, &value))
    value = slow_value(d, exponent);
  return d->negative ? -value : value;
}

// Whether the text is the word, in any case.
static bool is_word(const char *at, const char *end, const char *word) {
  for (; at < end && *word; at++, word++)
    if ((*at | 0x20) != *word)
      return false;
  return at == end && *word == 0;
}

static tl_number_kind read_word(const char *at, const char *end, double *f) {
  bool negative = *at == '-';
  if (*at == '-' || *at == '+')
    at++;
  if (is_word(at, end, "nan"))
    *f = (double)NAN;
  else if (is_word(at, end, "inf") || is_word(at, end, "infinity"))
    *f = negative ? -(double)INFINITY : (double)INFINITY;
  else
    return TL_NUMBER_NONE;
  return TL_NUMBER_FLOAT;
}

tl_number_kind tl_number_read(const char *text, size_t nbytes, int64_t *i,
                              double *f) {
  const char *at = text, *end = text + nbytes;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
  if (at == end)
    return TL_NUMBER_NONE;
  decimal d;
  if (!split(at, end, &d))
    return read_word(at, end, f);
  *f = value_of(&d);
  uint64_t limit = (uint64_t)INT64_MAX + (d.negative ? 1 : 0);
  if (d.point || d.has_exponent || d.significant > 19 || d.mantissa > limit)
    return TL_NUMBER_FLOAT;
  *i = d.negative ? (int64_t)(0 - d.mantissa) : (int64_t)d.mantissa;
  return TL_NUMBER_INT;
}
