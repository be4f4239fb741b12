// Python's format language:
// [[fill]align][sign][z][#][0][width][,][.precision][type], for every kind of
// value.
//
//     "{x:>10.2f}"     read_spec   ─▶ spec: align >, width 10, .2, type f
//                      add_scalar  ─▶ parts {sign, prefix, digits}
//                      add_padded  ─▶ "      3.14"
//
// Specifications that do not suit a value are errors which say what does.

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <utf8proc.h>

#include "vm/text/format_internal.h"
#include "vm/array/string_item.h"
#include "vm/number.h"

// A width beyond this is a slip rather than a wish, and would fill memory.
enum { LARGEST_WIDTH = 1000000 };

// A specification, read.
typedef struct spec {
  const char *text;  // the whole, for messages
  size_t nbytes;
  const char *fill;  // one cluster
  size_t fill_bytes;
  char align;     // < > = ^, 0: the kind's own
  char sign;      // + - blank, 0: as -
  bool positive;  // z: no negative zero
  bool alternate;
  int width;
  char group;     // , or _, 0: none
  int precision;  // -1: not given
  char type;      // 0: none
} spec;

// --- Reading ----------------------------------------------------------------

// Whether an alignment stands here.
static bool is_align(const char *at, const char *end) {
  return at < end && ((*at >= '<' && *at <= '>') || *at == '^');
}

// Reads fill and alignment; a fill is any character in front of an alignment.
static const char *read_align(const char *at, const char *end, spec *out) {
  if (at < end) {
    // The fill is a whole character, which may take several bytes.
    size_t fill = tl_grapheme_end(at, (size_t)(end - at), 0);
    if (is_align(at + fill, end)) {
      out->fill = at;
      out->fill_bytes = fill;
      out->align = at[fill];
      return at + fill + 1;
    }
  }
  if (is_align(at, end))
    out->align = *at++;
  return at;
}

// A number up to a million; -1 if there is none, -2 if it is larger.
static int read_number(const char **at, const char *end) {
  int number = -1;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
    number = (number < 0 ? 0 : number) * 10 + (**at - '0');
    // Larger widths would only fill memory.
    if (number > LARGEST_WIDTH)
      return -2;
  }
  return number;
}

// Reads the text as a spec; false where it is not one.
static bool read_spec(const char *text, size_t nbytes, spec *out) {
  const char *at = text, *end = text + nbytes;
  *out = (spec){.text = text, .nbytes = nbytes, .fill_bytes = 1};
  at = read_align(at, end, out);
  if (at < end && (*at == '+' || *at == '-' || *at == ' '))
    out->sign = *at++;
  out->positive = tl_accept(&at, end, 'z');
  out->alternate = tl_accept(&at, end, '#');
  // A zero before the width fills numbers behind their sign: it stands for `=`
  // there, while strings take it as `<`.
  const bool zero = out->fill == NULL && tl_accept(&at, end, '0');
  if (zero && out->align == 0)
    out->align = '0';
  if (out->fill == NULL)
    out->fill = zero ? "0" : " ";
  out->width = read_number(&at, end);
  if (at < end && (*at == ',' || *at == '_'))
    out->group = *at++;
  out->precision = -1;
  if (tl_accept(&at, end, '.')) {
    out->precision = read_number(&at, end);
    // More digits would not fit the buffers, and say nothing.
    if (out->precision < 0 || out->precision > TL_PRECISION)
      return false;
  }
  if (at < end)
    out->type = *at++;
  return at == end && out->width != -2;
}

// The error of a spec, with why.
static bool fail_spec(tl_vm *vm, const spec *s, const char *why) {
  return tl_fail(vm, TALLY_ERR_VALUE, "format \"%.*s\": %s",
                 s->nbytes > 100 ? 100 : (int)s->nbytes, s->text, why);
}

// The error of a type letter that the value does not take.
static bool fail_type(tl_vm *vm, const spec *s, const char *what,
                      const char *types) {
  return tl_fail(
      vm, TALLY_ERR_VALUE, "format \"%.*s\": %s takes %s as the type, not %c",
      s->nbytes > 100 ? 100 : (int)s->nbytes, s->text, what, types, s->type);
}

// --- Padding ----------------------------------------------------------------

// Fills so many cells; a wide fill takes two of them. One byte, as a fill is
// mostly, is written in runs.
static void add_fill(tl_text *text, const spec *s, int cells) {
  char run[64];
  if (s->fill_bytes == 1 && cells > 0) {
    memset(run, s->fill[0], sizeof run);
    for (; cells > (int)sizeof run; cells -= (int)sizeof run)
      tl_text_add(text, run, sizeof run);
    tl_text_add(text, run, (size_t)cells);
    return;
  }
  int width = tl_display_width(s->fill, s->fill_bytes);
  if (width < 1)
    width = 1;
  for (; cells >= width; cells -= width)
    tl_text_add(text, s->fill, s->fill_bytes);
}

// Appends a text in its width. With alignment = the first [head] bytes, sign
// and prefix, stay in front of the fill.
static bool add_padded(tl_text *text, const spec *s, char align,
                       const char *bytes, size_t nbytes, size_t head) {
  const int64_t width =
      s->width > 0 ? tl_text_width(text->vm, bytes, nbytes) : INT_MAX;
  const int room = width < s->width ? s->width - (int)width : 0;
  if (width < 0) {
    text->failed = true;
    return false;
  }
  if (room == 0) {
    tl_text_add(text, bytes, nbytes);
    return !text->failed;
  }
  int before = align == '>' ? room : align == '^' ? room / 2 : 0;
  bool inside = align == '=' || align == '0';
  add_fill(text, s, before);
  head = inside ? head : 0;
  tl_text_add(text, bytes, head);
  if (inside)
    add_fill(text, s, room);
  tl_text_add(text, bytes + head, nbytes - head);
  if (!inside)
    add_fill(text, s, room - before);
  return !text->failed;
}

// --- Numbers ----------------------------------------------------------------

// A number's text in its parts: -0x 1234 .5e+10%
typedef struct parts {
  char sign;           // 0: none
  const char *prefix;  // 0x
  char room[4];        // for both in front of the digits
  char digits[TL_PRINTED];
  int whole;  // digits before the point
  int count;  // bytes in digits: whole, then the rest
} parts;

// The sign to write, 0: none.
static char sign_of(const spec *s, bool negative) {
  return negative ? '-' : s->sign == '+' || s->sign == ' ' ? s->sign : 0;
}

// Appends digits with [zeros] in front of them and a mark between groups.
static void add_grouped(tl_text *text, const char *digits, int n, int zeros,
                        char mark, int size) {
  for (int i = 0, all = n + zeros; i < all; i++) {
    tl_text_putc(text, i < zeros ? '0' : digits[i - zeros]);
    int left = all - 1 - i;
    if (left > 0 && left % size == 0)
      tl_text_putc(text, mark);
  }
}

// How many zeros fill the width from inside, separators included.
static int inner_zeros(const spec *s, const parts *p, int size) {
  if ((s->align != '0' && s->align != '=') || *s->fill != '0')
    return 0;
  // Counted up, since each zero may bring a separator with it: "{x:010,}" of
  // 1234 is 00,001,234.
  int fixed = (p->sign != 0) + (int)strlen(p->prefix) + p->count - p->whole;
  int zeros = 0;
  while (fixed + p->whole + zeros + (p->whole + zeros - 1) / size < s->width)
    zeros++;
  return zeros;
}

// Appends a number's parts, padded. Only digits in groups are written anew.
static bool add_number(tl_text *text, const spec *s, parts *p, int group_size) {
  const char align = s->align ? s->align : '>';
  const size_t sign = p->sign != 0, prefix = strlen(p->prefix);
  char *front = (char *)p + offsetof(parts, digits) - sign - prefix;
  if (sign > 0)
    front[0] = p->sign;
  memcpy(front + sign, p->prefix, prefix);
  if (s->group == 0 || p->whole == 0)  // inf has no digits
    return add_padded(text, s, align, front, sign + prefix + (size_t)p->count,
                      sign + prefix);
  tl_text built;
  tl_text_open(&built, text->vm);
  tl_text_add(&built, front, sign + prefix);
  add_grouped(&built, p->digits, p->whole, inner_zeros(s, p, group_size),
              s->group, group_size);
  tl_text_add(&built, p->digits + p->whole, (size_t)(p->count - p->whole));
  bool ok = !built.failed && add_padded(text, s, align, built.bytes,
                                        built.length, sign + prefix);
  tl_text_close(&built);
  return ok;
}

// Type c: the character of a code point.
static bool add_character(tl_text *text, const spec *s, bool negative,
                          uint64_t value) {
  utf8proc_uint8_t bytes[4];
  if (negative || value > 0x10ffff ||
      !utf8proc_codepoint_valid((utf8proc_int32_t)value))
    return fail_spec(text->vm, s, "the number is no character's code point");
  size_t n = (size_t)utf8proc_encode_char((utf8proc_int32_t)value, bytes);
  return add_padded(text, s, s->align ? s->align : '<', (const char *)bytes, n,
                    0);
}

// The digits of a whole number in a base up to 16.
static void write_digits(parts *p, uint64_t value, unsigned base, bool upper) {
  const char *names = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  char buffer[64], *at = buffer + sizeof buffer;
  do *--at = names[value % base];
  while ((value /= base) != 0);
  p->whole = p->count = (int)(buffer + sizeof buffer - at);
  memcpy(p->digits, at, (size_t)p->count);
}

// An integer under its types.
static bool add_integer(tl_text *text, const spec *s, bool negative,
                        uint64_t value) {
  static const struct {
    char type;
    uint8_t base;
    char prefix[3];
  } bases[] = {{'b', 2, "0b"}, {'o', 8, "0o"}, {'x', 16, "0x"}, {'X', 16, "0X"},
               {'d', 10, ""},  {'n', 10, ""},  {0, 10, ""}};
  if (s->precision >= 0)
    return fail_spec(text->vm, s, "an integer takes no precision");
  parts p;  // its digits, over a kilobyte, are not cleared
  size_t at = 0;
  p.sign = sign_of(s, negative);
  if (s->type == 'c')
    return add_character(text, s, negative, value);
  while (at < sizeof bases / sizeof *bases && bases[at].type != s->type) at++;
  if (at == sizeof bases / sizeof *bases)
    return fail_type(text->vm, s, "an integer", "b c d e f g n o x or %");
  const unsigned base = bases[at].base;
  p.prefix = s->alternate ? bases[at].prefix : "";
  // As in Python, other bases are grouped by underscores, in fours.
  if (s->group == ',' && base != 10)
    return fail_spec(text->vm, s, "a comma groups decimal digits alone");
  write_digits(&p, value, base, s->type == 'X');
  return add_number(text, s, &p, base == 10 ? 3 : 4);
}

// --- Floats -----------------------------------------------------------------

// Takes zeros at the end of the decimals away, and a point without decimals.
static void strip_zeros(char *digits) {
  char *mark = strchr(digits, 'e'), *end = mark ? mark : strchr(digits, 0);
  if (strchr(digits, '.') == NULL)
    return;
  char *last = end;
  while (last[-1] == '0') last--;
  if (last[-1] == '.')
    last--;
  memmove(last, end, strlen(end) + 1);
}

// No type, but a precision: as g, with a digit behind the point, and with an
// exponent where all the digits would stand before the point.
static void print_general(const spec *s, double value, char *out) {
  int precision = s->precision > 0 ? s->precision : 1;
  tl_print_float(out, value, precision - 1, 'e', s->alternate);
  const char *mark = strchr(out, 'e');
  if (mark == NULL)
    return;
  const int exponent = atoi(mark + 1);
  const bool fixed = exponent >= -4 && exponent < precision - 1;
  if (fixed)
    tl_print_float(out, value, precision - 1 - exponent, 'f', true);
  if (!s->alternate)
    strip_zeros(out);
  if (fixed && strchr(out, '.') == NULL)
    strcat(out, ".0");
}

// The text of a magnitude; false if the type is none for floats.
static bool print_magnitude(const spec *s, double value, tl_dtype dtype,
                            char *out) {
  const bool percent = s->type == '%';
  const char type = percent ? 'f' : s->type == 'n' ? 'g' : s->type;
  if (type == 0 && s->precision < 0)
    tl_format_real(value, dtype, out);
  else if (type == 0)
    print_general(s, value, out);
  else if (strchr("eEfFgG", type) != NULL)
    tl_print_float(out, percent ? value * 100 : value,
                   s->precision < 0 ? 6 : s->precision, type, s->alternate);
  else
    return false;
  if (percent)
    strcat(out, "%");
  return true;
}

// Whether all digits of the text are 0: for z, which gives zero no sign.
static bool is_zero_text(const char *digits) {
  const char next = digits[strspn(digits, "0.")];
  return next < '1' || next > '9';
}

// The parts of a float's text; false after tl_fail.
static bool float_parts(tl_vm *vm, const spec *s, double value, tl_dtype dtype,
                        const char *what, parts *p) {
  bool negative = signbit(value) && !isnan(value);
  p->prefix = "";
  if (!print_magnitude(s, negative ? -value : value, dtype, p->digits))
    return fail_type(vm, s, what, "e f g n or %");
  // What was rounded to zero counts as zero.
  if (s->positive && is_zero_text(p->digits) && isfinite(value))
    negative = false;
  p->sign = sign_of(s, negative);
  p->count = (int)strlen(p->digits);
  p->whole = (int)strspn(p->digits, "0123456789");
  return true;
}

// Groups of three digits, where the spec wants them.
static bool add_float(tl_text *text, const spec *s, double value,
                      tl_dtype dtype) {
  parts p;
  return float_parts(text->vm, s, value, dtype, "a float", &p) &&
         add_number(text, s, &p, 3);
}

// Both parts under the spec, then padded as one.
static bool add_complex(tl_text *text, const spec *s, tl_c128 value,
                        tl_dtype dtype) {
  tl_vm *vm = text->vm;
  // The fill would stand between the parts' signs and digits.
  if (s->align == '=' || s->align == '0')
    return fail_spec(vm, s, "a complex number is not filled inside");
  if (strchr("efgnEFG", s->type) == NULL)
    return fail_type(vm, s, "a complex number", "e f g or n");
  spec part = *s;
  part.width = 0;
  tl_text built;
  tl_text_open(&built, vm);
  bool minus = signbit(value.im) && !isnan(value.im);
  bool ok = add_float(&built, &part, value.re, dtype);
  part.sign = 0;
  if (ok) {
    tl_text_puts(&built, minus ? " - " : " + ");
    ok = add_float(&built, &part, minus ? -value.im : value.im, dtype);
    tl_text_putc(&built, 'i');
  }
  ok = ok && !built.failed &&
       add_padded(text, s, s->align ? s->align : '>', built.bytes, built.length,
                  0);
  tl_text_close(&built);
  return ok;
}

// --- Texts ------------------------------------------------------------------

// A text under a spec: precision cuts characters.
static bool add_string(tl_text *text, const spec *s, const char *what,
                       const char *bytes, size_t nbytes) {
  tl_vm *vm = text->vm;
  if (s->type != 0 && s->type != 's')
    return fail_type(vm, s, what, "s");
  if (s->sign != 0 || s->alternate || s->positive || s->group != 0 ||
      s->align == '=')
    return fail_spec(vm, s, "sign, =, #, z and grouping are for numbers");
  if (s->precision >= 0) {
    // Precision counts characters, not bytes.
    size_t end = 0;
    for (int i = 0; i < s->precision && end < nbytes; i++)
      end = tl_grapheme_end(bytes, nbytes, end);
    nbytes = end;
  }
  char align = s->align == 0 || s->align == '0' ? '<' : s->align;
  return add_padded(text, s, align, bytes, nbytes, 0);
}

// --- Values -----------------------------------------------------------------

// Whether the type makes a float of any number.
static bool is_float_type(char type) {
  return type != 0 && strchr("eEfFgG%", type) != NULL;
}

// A bool or an integer.
static bool add_whole(tl_text *text, const spec *s, tl_slot v) {
  int dtype = tl_dtype_of(v);
  // A bool is text, unless the type asks for a number.
  if (dtype == TL_BOOL && (s->type == 0 || s->type == 's'))
    return add_string(text, s, "a bool", v.i ? "true" : "false", v.i ? 4 : 5);
  const bool negative = dtype != TL_UINT64 && v.i < 0;
  if (is_float_type(s->type))
    return add_float(text, s, negative ? (double)v.i : (double)v.u, TL_FLOAT64);
  return add_integer(text, s, negative, negative ? -v.u : v.u);
}

// An item of an array, under the spec in [context].
static bool add_item(tl_text *text, tl_dtype dtype, const void *item,
                     const void *context) {
  const spec *s = context;
  double parts[2];
  tl_dtype real;
  if (dtype == TL_STRING)
    return add_string(text, s, "a string", tl_string_item_text(item),
                      tl_string_item_length(item));
  switch (tl_float_parts(dtype, item, parts, &real)) {
    case 0:
      return add_whole(text, s, tl_scalar_load(dtype, item));
    case 1:
      return add_float(text, s, parts[0], real);
    default:
      return add_complex(text, s, (tl_c128){parts[0], parts[1]}, real);
  }
}

// Lists, records and the rest: their text, padded.
static bool add_other(tl_text *text, const spec *s, tl_slot value) {
  char what[TL_DESCRIBE + 4];
  snprintf(what, sizeof what, "a %s", tl_described(text->vm, value));
  tl_text shown;
  tl_text_open(&shown, text->vm);
  bool ok =
      tl_format_value(text->vm, &shown, value, false, 0) &&
      add_string(text, s, what, shown.bytes ? shown.bytes : "", shown.length);
  tl_text_close(&shown);
  return ok;
}

// A hole in a specification: a width or a precision, or text of any part of it.
static bool add_count(tl_vm *vm, tl_text *text, tl_slot value, const char *what,
                      int most) {
  if (tl_is_string(value)) {
    tl_text_add(text, value.string->text, value.string->length);
    return !text->failed;
  }
  if (!tl_is_scalar(value) ||
      !tl_dtype_is_integer((tl_dtype)tl_dtype_of(value)))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "the %s in a format is an integer: got %s", what,
                   tl_described(vm, value));
  if (tl_dtypes[tl_dtype_of(value)].kind != 'U' && value.i < 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "the %s in a format is not negative: got %" PRId64, what,
                   value.i);
  if (value.u > (uint64_t)most)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "the %s in a format is at most %d: got %" PRIu64, what, most,
                   value.u);
  tl_format_scalar(text, value);
  return !text->failed;
}

// The compiler's own specifications come first; a spec for an array goes to
// each item.
bool tl_format_spec(tl_vm *vm, tl_text *text, tl_slot value, const char *spec_,
                    size_t nbytes) {
  spec s;
  if (nbytes == 0)
    return tl_format_value(vm, text, value, false, 0);
  const char own = nbytes == 2 && spec_[0] == '!' ? spec_[1] : 0;
  // As {x = } has it: strings in quotes.
  if (own == 'r')
    return tl_format_value(vm, text, value, true, 0);
  if (own == 'w' || own == 'p')
    return add_count(vm, text, value, own == 'w' ? "width" : "precision",
                     own == 'w' ? LARGEST_WIDTH : TL_PRECISION);
  if (!read_spec(spec_, nbytes, &s))
    return fail_spec(vm, &s,
                     "it is not [[fill]align][sign][#][0][width][,]"
                     "[.precision][type], width to 1000000, precision to 1100");
  if (tl_is_scalar(value)) {
    tl_c128 item;
    tl_scalar_store(value, &item);
    return add_item(text, (tl_dtype)tl_dtype_of(value), &item, &s);
  }
  if (tl_is_string(value))
    return add_string(text, &s, "a string", value.string->text,
                      value.string->length);
  if (tl_is_array(value))
    return tl_format_array(text, value.array, add_item, &s);
  return add_other(text, &s, value);
}
