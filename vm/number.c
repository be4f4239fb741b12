// Numbers in source text and in data files.
//
// Nearly all have so few digits that one multiplication or division of exact
// floats rounds correctly (Clinger 1990), or one of 128 bits (Lemire 2021); the
// rest go to strtod.
//
// Built for speed.

#include "vm/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm/generated/powers_of_five.h"

#define INLINE static inline __attribute__((always_inline))
#define LITTLE_ENDIAN_BYTES (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

__extension__ typedef unsigned __int128 wide;

// The powers of ten that are exact as float64: 5^22 is below 2^53, 5^23 is not.
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The parts of a decimal: [digits, digits_end) has at most one point.
typedef struct decimal {
  bool negative, has_point, has_exponent;
  const char *digits, *digits_end;
  uint64_t mantissa;    // of the significant digits, if there are at most 19
  int64_t significant;  // digits, zeros in front perhaps among them
  int64_t exponent;     // of ten, for the mantissa
} decimal;

// The exponent behind an e; where the e is if there is none.
static const char *read_exponent(const char *at, const char *end, decimal *d) {
  const char *e = at++;
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (at == end || !tl_is_digit(*at))
    return e;
  int64_t exponent = 0;
  // Far beyond any float, so that more digits make no difference.
  for (; at < end && tl_is_digit(*at); at++)
    if (exponent < 1000000000)
      exponent = exponent * 10 + (*at - '0');
  d->exponent += negative ? -exponent : exponent;
  d->has_exponent = true;
  return at;
}

// Splits the decimal that the text begins with into its parts; returns where
// it ends, NULL if there is none.
static const char *split(const char *at, const char *end, decimal *d) {
  *d = (decimal){.negative = at < end && *at == '-'};
  at += at < end && (*at == '-' || *at == '+');
  d->digits = at;
  for (; at < end && (tl_is_digit(*at) || (*at == '.' && !d->has_point));
       at++) {
    d->exponent -= d->has_point;
    if (*at == '.') {
      d->has_point = true;
    } else if (d->significant > 0 || *at != '0') {
      d->significant++;
      d->mantissa = d->mantissa * 10 + (uint64_t)(*at - '0');
    }
  }
  d->digits_end = at;
  if (at - d->digits == d->has_point)
    return NULL;
  if (at < end && (*at == 'e' || *at == 'E'))
    at = read_exponent(at, end, d);
  return at;
}

const char *tl_digits_read(const char *at, const char *end, unsigned base,
                           bool *fits, uint64_t *out) {
  *fits = true;
  *out = 0;
  for (unsigned digit; at < end && (digit = tl_digit_value(*at)) < base; at++) {
    // Before it overflows; the value is of no use then.
    *fits = *fits && *out <= (UINT64_MAX - digit) / base;
    *out = *out * base + digit;
  }
  return at;
}

// --- Eight digits at once ---------------------------------------------------

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

// Joins the digits that the next eight bytes begin with to the mantissa;
// returns how many. No branches: digits and signs are what they are at random,
// and so are a processor's guesses at them.
INLINE int join_digits(const char *at, uint64_t *mantissa) {
  static const uint64_t tens[] = {1,      10,      100,      1000,     10000,
                                  100000, 1000000, 10000000, 100000000};
  const uint64_t mask = UINT64_C(0x000000ff000000ff);
  uint64_t x;
  memcpy(&x, at, 8);
  x ^= EACH('0');
  // The highest bit of each byte above 9. A sum may carry into the next byte,
  // but only out of one that is marked.
  uint64_t others = ((x + EACH(0x76)) | x) & EACH(0x80);
  int count = others ? __builtin_ctzll(others) >> 3 : 8;
  // The digits, behind zeros; then neighbours are joined, then pairs, fours.
  x = x << (8 * (8 - count) >> 1) << (8 * (8 - count) >> 1);
  x = x * 10 + (x >> 8);
  x = ((x & mask) * (100 + (UINT64_C(1000000) << 32)) +
       (x >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
      32;
  *mantissa = *mantissa * tens[count] + x;
  return count;
}

enum { PLAIN_BYTES = 48 };  // more than split_plain looks at

// As split, for the decimals that most are, of at most 19 digits, with more
// bytes behind them; NULL for others.
INLINE const char *split_plain(const char *at, const char *end, decimal *d) {
  uint64_t mantissa = 0;
  *d = (decimal){.negative = *at == '-'};
  at += d->negative;
  d->digits = at;
  int64_t whole = 0, part = 0;
  int count;
  do {
    count = join_digits(at, &mantissa);
    at += count;
    whole += count;
  } while (count == 8 && whole <= 16);
  d->has_point = *at == '.';
  if (d->has_point) {
    at++;
    do {
      count = join_digits(at, &mantissa);
      at += count;
      part += count;
    } while (count == 8 && part <= 16);
  }
  d->significant = whole + part;
  if (count == 8 || d->significant == 0 || d->significant > 19)
    return NULL;
  d->digits_end = at;
  d->mantissa = mantissa;
  d->exponent = -part;
  return (*at | 0x20) == 'e' ? read_exponent(at, end, d) : at;
}

// --- The value --------------------------------------------------------------

enum { MOST_DIGITS = 800 };  // more never decide how a double is rounded

// Digits without a point and an exponent: strtod reads that in every locale.
static double slow_value(const decimal *d) {
  int64_t exponent = d->exponent;
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

// Of more digits, or of a power of ten that is no exact float.
static double long_value(decimal d) {
  double value;
  if (d.significant > 19 || d.mantissa == 0 ||
      !rounded_value(d.mantissa, d.exponent, &value))
    return slow_value(&d);
  return value;
}

// The value, most often of two exact floats: a mantissa up to 2^53 times or by
// a power of ten up to 10^22, whose one rounding is the right one.
INLINE double value_of(const decimal *d) {
  double value;
  if (d->significant <= 19 && d->mantissa <= UINT64_C(1) << 53 &&
      d->exponent >= -22 && d->exponent <= 22)
    value = d->exponent < 0
                ? (double)(int64_t)d->mantissa / powers[-d->exponent]
                : (double)(int64_t)d->mantissa * powers[d->exponent];
  else
    value = long_value(*d);
  return copysign(value, d->negative ? -1 : 1);
}

// Whether the text is the word, in any case.
static bool is_word(const char *at, const char *end, const char *word) {
  for (; at < end && *word; at++, word++)
    if ((*at | 0x20) != *word)
      return false;
  return at == end && *word == 0;
}

// nan, inf and infinity, with a sign; TL_NUMBER_NONE for other words.
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

// split_plain reads beyond the number, so it needs PLAIN_BYTES in front of the
// end; numbers near the end of a text go the general way.
const char *tl_number_scan(const char *text, const char *end, tl_number *out) {
  decimal d;
  const char *at = NULL;
  if (LITTLE_ENDIAN_BYTES && end - text >= PLAIN_BYTES)
    at = split_plain(text, end, &d);
  if (!at)
    at = split(text, end, &d);
  out->kind = TL_NUMBER_NONE;
  if (!at)
    return text;
  uint64_t limit = (uint64_t)INT64_MAX + (d.negative ? 1 : 0);
  bool whole = !d.has_point && !d.has_exponent && d.significant <= 19 &&
               d.mantissa <= limit;
  out->kind = whole ? TL_NUMBER_INT : TL_NUMBER_FLOAT;
  out->i = (int64_t)(d.negative ? 0 - d.mantissa : d.mantissa);
  out->f = value_of(&d);
  return at;
}

// Blanks at both ends are no part; whatever else stands behind makes the text
// no number.
tl_number tl_number_read(const char *text, size_t nbytes) {
  const char *at = text, *end = text + nbytes;
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
  tl_number out = {.kind = TL_NUMBER_NONE};
  if (at < end && tl_number_scan(at, end, &out) != end)
    out.kind = read_word(at, end, &out.f);
  return out;
}

// --- The fewest digits -------------------------------------------------------

// The higher half of the power times [factor], with a last bit that is set
// where anything is cut off.
static uint64_t times_power(const uint64_t *power, uint64_t last,
                            uint64_t factor) {
  wide low = (wide)last * factor >> 64, high = (wide)power[0] * factor + low;
  return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

// Giulietti: "The Schubfach way to render doubles", 2020. The value is c * 2^q,
// and the numbers that round to it lie between (4c - 2) and (4c + 2) quarters
// of 2^q; below a power of two floats lie closer. In units of a power of ten
// just below that width there are few candidates: one with a digit less if it
// lies within, else the nearest.
uint64_t tl_number_shortest(double value, int bits, int least, int *exponent) {
  int q;
  frexp(value, &q);
  q = q - bits > least ? q - bits : least;
  const uint64_t c = (uint64_t)ldexp(value, -q), odd = c & 1;
  const bool is_power = c == UINT64_C(1) << (bits - 1) && q > least;
  // floor(log10(2^q)), or of three quarters of that; floor(log2(10^-k)).
  const int k = (q * 1262611 - (is_power ? 524031 : 0)) >> 22;
  const int shift = q + (-k * 1741647 >> 19) + 1;
  const uint64_t *power = tl_powers_of_five[-k - TL_LEAST_POWER];
  // What the table cuts off is rounded up.
  const uint64_t last = power[1] + (-k > 55 || -k < -27);
  const uint64_t middle = times_power(power, last, 4 * c << shift);
  const uint64_t lower =
      times_power(power, last, (4 * c - 2 + is_power) << shift) + odd;
  const uint64_t upper = times_power(power, last, (4 * c + 2) << shift) - odd;
  const uint64_t whole = middle / 4, tens = whole / 10;
  *exponent = k + 1;
  if (whole >= 10 && (lower <= 40 * tens) != (40 * tens + 40 <= upper))
    return tens + (40 * tens + 40 <= upper);
  *exponent = k;
  if ((lower <= 4 * whole) != (4 * whole + 4 <= upper))
    return whole + (4 * whole + 4 <= upper);
  return whole + (middle > 4 * whole + 2 - (whole & 1));
}
