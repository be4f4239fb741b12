// What the files of formatting share: digits of floats, texts of single items,
// and the layout of arrays with an item format of one's own.
#pragma once

#include "vm/array/array.h"
#include "vm/text/format.h"
#include "vm/values/key.h"

// A finite number's decimal digits: d.ddd * 10^exponent, without zeros at the
// end.
typedef struct tl_digits {
  bool negative;
  int count;
  int exponent;
  char digits[24];
} tl_digits;

// The largest precision of tl_print_float, and the bytes that a float may take
// with it: 309 digits before the point, sign, point and exponent.
enum { TL_PRECISION = 1100, TL_PRINTED = TL_PRECISION + 330 };
// printf's text of a float under "%.*f", "%.*e" or "%.*g" (conversion f, e, g
// or an upper-case one; alternate: #), with a point whatever the locale. The
// buffer takes TL_PRINTED bytes for precisions up to TL_PRECISION. Returns the
// length.
int tl_print_float(char *buffer, double value, int precision, char conversion,
                   bool alternate);

// The numbers that an item of floats is, of a complex one two, each of the
// dtype *real; returns how many, 0 for other dtypes.
int tl_float_parts(tl_dtype dtype, const void *item, double parts[2],
                   tl_dtype *real);
// Appends the shortest text of one item of an array; strings are quoted.
void tl_format_item(tl_text *text, tl_dtype dtype, const void *item);
// The same of an unboxed scalar.
void tl_format_scalar(tl_text *text, tl_slot scalar);
// Appends a text in double quotes, with characters that do not print escaped.
void tl_format_quoted(tl_text *text, const char *string, size_t nbytes);

// Appends one item of an array. False: stop, an error is pending.
typedef bool tl_item_format(tl_text *text, tl_dtype dtype, const void *item,
                            const void *context);
// Appends an array with [item] for each item: on one line, or, where that is
// too wide, with rows on their own lines.
bool tl_format_array(tl_text *text, const tl_array *a, tl_item_format *item,
                     const void *context);
