// Numbers as text, the same in every locale.
//
// The shortest digits of a float are found beside the way back (vm/number.c).
// With so many decimals, numbers that are neither very large nor very small are
// whole numbers of units of 10^-places, which two floats have exactly; for
// others printf writes the digits.
//
// Built for speed.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "vm/text/format_internal.h"
#include "vm/number.h"
#include "vm/array/string_item.h"

// --- Digits -----------------------------------------------------------------

// Takes zeros at the end away; one digit stays.
static void strip_zeros(tl_digits *digits) {
  while (digits->count > 1 && digits->digits[digits->count - 1] == '0')
    digits->count--;
}

// Powers of ten that are exact floats.
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Sets *whole to a size in units of 10^-places, rounded, and *over to how many
// of them that is too much. False where it is too near to a half to tell. The
// size has less than 10^18 units.
static bool count_units(double size, int places, int64_t *whole, double *over) {
  double product = size * powers[places];
  double lost = fma(size, powers[places], -product), below = floor(product);
  // Both differences are exact, and the sum is small.
  double rest = product - below + lost, up = floor(rest + 0.5);
  *whole = (int64_t)below + (int64_t)up;
  *over = up - rest;
  return fabs(fabs(*over) - 0.5) > 1e-6;
}

// Writes a whole number so that it ends before [end], with [least] digits or
// more. Returns where it begins.
static char *put_whole(char *end, uint64_t whole, int least) {
  char *at = end;
  do *--at = (char)('0' + whole % 10);
  while ((whole /= 10) != 0 || end - at < least);
  return at;
}

// The fewest digits that read back as [value], a number of a real dtype.
static void find_shortest(double value, tl_dtype dtype, tl_digits *out) {
  // The bits of the mantissa, and the power of two of the least number.
  const bool half = dtype == TL_FLOAT16, single = dtype == TL_FLOAT32;
  const int bits = half ? 11 : single ? 24 : 53;
  const int least = half ? -24 : single ? -149 : -1074;
  int exponent = 0;
  uint64_t digits =
      value == 0 ? 0 : tl_number_shortest(fabs(value), bits, least, &exponent);
  char text[24], *end = text + sizeof text, *at = put_whole(end, digits, 1);
  *out = (tl_digits){.negative = signbit(value), .count = (int)(end - at)};
  memcpy(out->digits, at, (size_t)out->count);
  out->exponent = exponent + out->count - 1;
  strip_zeros(out);
}

// How many digits follow the point when the number is written without an
// exponent.
// 1.25 is 125 with exponent 0: two of its three digits are decimals.
static int count_decimals(const tl_digits *digits) {
  int decimals = digits->count - 1 - digits->exponent;
  return decimals > 0 ? decimals : 0;
}

// --- Shortest text ----------------------------------------------------------

// Writes digits [from, from + count), zeros where there are none.
static char *put_digits(char *at, const tl_digits *d, int from, int count) {
  for (int i = from; i < from + count; i++)
    *at++ = i >= 0 && i < d->count ? d->digits[i] : '0';
  return at;
}

// As Python's repr: with an exponent from 1e16 on and below 1e-4.
void tl_format_real(double value, tl_dtype dtype, char *buffer) {
  if (!isfinite(value)) {
    strcpy(buffer, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    return;
  }
  tl_digits d;
  find_shortest(value, dtype, &d);
  char *at = buffer;
  if (signbit(value))
    *at++ = '-';
  // With an exponent: one digit before the point.
  if (d.exponent >= 16 || d.exponent < -4) {
    *at++ = d.digits[0];
    if (d.count > 1)
      *at++ = '.';
    at = put_digits(at, &d, 1, d.count - 1);
    sprintf(at, "e%c%02d", d.exponent < 0 ? '-' : '+', abs(d.exponent));
    return;
  }
  int before = d.exponent >= 0 ? d.exponent + 1 : 1;
  at = put_digits(at, &d, d.exponent >= 0 ? 0 : -1, before);
  *at++ = '.';
  int decimals = count_decimals(&d);
  // A float shows at least one digit behind the point.
  if (decimals == 0)
    decimals = 1;
  at = put_digits(at, &d, d.exponent + 1, decimals);
  *at = 0;
}

// --- printf's texts ---------------------------------------------------------

// Puts a point in the place of the locale's.
static int fix_point(char *buffer, int length) {
  int at = buffer[0] == '-';
  while (tl_is_digit(buffer[at])) at++;
  int end = at;
  while (buffer[end] && !tl_is_digit(buffer[end]) && buffer[end] != 'e' &&
         buffer[end] != 'E')
    end++;
  if (end == at)
    return length;
  buffer[at] = '.';
  memmove(buffer + at + 1, buffer + end, (size_t)(length - end) + 1);
  return length - (end - at) + 1;
}

// The text of "%.*f" of a number of up to 15 digits; 0: printf has to do it.
static int print_fixed(char *buffer, double value, int precision) {
  int64_t units;
  double over, size = fabs(value);
  if (precision > 15 || !(size < 1e15 && size * powers[precision] < 1e15) ||
      !count_units(size, precision, &units, &over))
    return 0;
  char text[40], *end = text + sizeof text;
  char *at = put_whole(end, (uint64_t)units, precision + 1), *to = buffer;
  if (signbit(value))
    *to++ = '-';
  for (; at < end - precision; at++) *to++ = *at;
  if (precision > 0)
    *to++ = '.';
  for (; at < end; at++) *to++ = *at;
  *to = 0;
  return (int)(to - buffer);
}

// inf and nan are written alike everywhere, which printf does not promise.
int tl_print_float(char *buffer, double value, int precision, char conversion,
                   bool alternate) {
  if (!isfinite(value)) {
    const char *name = isnan(value) ? "nan" : "inf";
    bool upper = conversion < 'a';
    if (upper)
      name = isnan(value) ? "NAN" : "INF";
    return sprintf(buffer, "%s%s", !isnan(value) && value < 0 ? "-" : "", name);
  }
  int printed = conversion == 'f' && !alternate
                    ? print_fixed(buffer, value, precision)
                    : 0;
  if (printed > 0)
    return printed;
  char format[8];
  snprintf(format, sizeof format, "%%%s.*%c", alternate ? "#" : "", conversion);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#endif
  int length = snprintf(buffer, TL_PRINTED, format, precision, value);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
  return fix_point(buffer, length);
}

// --- Items ------------------------------------------------------------------

// The shortest text of a float.
static void add_float(tl_text *text, double value, tl_dtype dtype) {
  char buffer[32];
  tl_format_real(value, dtype, buffer);
  tl_text_puts(text, buffer);
}

// "1.0 - 2.0i"
static void add_complex(tl_text *text, double re, double im, tl_dtype dtype) {
  add_float(text, re, dtype);
  bool minus = signbit(im) && !isnan(im);
  tl_text_puts(text, minus ? " - " : " + ");
  add_float(text, minus ? -im : im, dtype);
  tl_text_putc(text, 'i');
}

// Writes from the last digit to the first.
static void add_whole(tl_text *text, bool negative, uint64_t size) {
  char buffer[24], *end = buffer + sizeof buffer;
  char *at = put_whole(end, size, 1);
  if (negative)
    *--at = '-';
  tl_text_add(text, at, (size_t)(end - at));
}

// By way of the slot that has the item, but for complex128, which has none.
int tl_float_parts(tl_dtype dtype, const void *item, double parts[2],
                   tl_dtype *real) {
  *real = dtype == TL_COMPLEX64    ? TL_FLOAT32
          : dtype == TL_COMPLEX128 ? TL_FLOAT64
                                   : dtype;
  if (dtype == TL_COMPLEX128) {
    memcpy(parts, item, sizeof(tl_c128));
    return 2;
  }
  if (dtype < TL_FLOAT16 || dtype >= TL_STRING)
    return 0;
  tl_slot s = tl_scalar_load(dtype, item);
  parts[0] = dtype == TL_COMPLEX64 ? (double)s.c64.re
             : dtype == TL_FLOAT64 ? s.f
                                   : (double)s.f32;
  parts[1] = dtype == TL_COMPLEX64 ? (double)s.c64.im : 0;
  return 1 + (dtype == TL_COMPLEX64);
}

// Narrow integers are widened in the slot, so all are written as int64.
void tl_format_scalar(tl_text *text, tl_slot s) {
  tl_c128 item;
  switch (tl_dtype_of(s)) {
    case TL_BOOL:
      tl_text_puts(text, s.i ? "true" : "false");
      break;
    case TL_FLOAT16:
    case TL_FLOAT32:
    case TL_FLOAT64:
    case TL_COMPLEX64:
      tl_scalar_store(s, &item);
      tl_format_item(text, (tl_dtype)tl_dtype_of(s), &item);
      break;
    case TL_UINT64:
      add_whole(text, false, s.u);
      break;
    default:
      // The magnitude of the smallest int64 fits uint64.
      add_whole(text, s.i < 0, s.i < 0 ? -s.u : s.u);
      break;
  }
}

// The escape of a character that has one of its own, such as \n; NULL.
static const char *short_escape(utf8proc_int32_t point) {
  static const char points[] = "\"\\\n\t\r";  // and 0, which ends it
  static const char *const escapes[] = {"\\\"", "\\\\", "\\n",
                                        "\\t",  "\\r",  "\\0"};
  const char *at = point < 128 ? strchr(points, (int)point) : NULL;
  return at == NULL ? NULL : escapes[at - points];
}

// Whether a character prints by itself.
static bool is_printing(utf8proc_int32_t point) {
  utf8proc_category_t category = utf8proc_category(point);
  return category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_ZL &&
         category != UTF8PROC_CATEGORY_ZP && category != UTF8PROC_CATEGORY_CN;
}

// Runs of plain characters are copied at once; others are escaped where they do
// not print.
// Bytes that are no UTF-8 are escaped one by one, so that the text shows what
// is there.
void tl_format_quoted(tl_text *text, const char *string, size_t nbytes) {
  tl_text_putc(text, '"');
  for (size_t at = 0; at < nbytes && !text->failed;) {
    utf8proc_int32_t point = 0;
    size_t plain = at;
    while (plain < nbytes && (unsigned char)string[plain] >= 32 &&
           (unsigned char)string[plain] < 127 && string[plain] != '"' &&
           string[plain] != '\\')
      plain++;
    tl_text_add(text, string + at, plain - at);
    at = plain;
    if (at == nbytes)
      break;
    utf8proc_ssize_t step =
        utf8proc_iterate((const utf8proc_uint8_t *)string + at,
                         (utf8proc_ssize_t)(nbytes - at), &point);
    if (step <= 0)
      step = 1;
    if (short_escape(point))
      tl_text_puts(text, short_escape(point));
    else if (is_printing(point))
      tl_text_add(text, string + at, (size_t)step);
    else
      tl_text_printf(text, point < 128 ? "\\x%02x" : "\\u{%x}",
                     (unsigned)point);
    at += (size_t)step;
  }
  tl_text_putc(text, '"');
}

void tl_format_item(tl_text *text, tl_dtype dtype, const void *item) {
  double parts[2];
  tl_dtype real;
  int count = tl_float_parts(dtype, item, parts, &real);
  if (dtype == TL_STRING)
    tl_format_quoted(text, tl_string_item_text(item),
                     tl_string_item_length(item));
  else if (count == 1)
    add_float(text, parts[0], real);
  else if (count == 2)
    add_complex(text, parts[0], parts[1], real);
  else
    tl_format_scalar(text, tl_scalar_load(dtype, item));
}
