// Values as text: print, string(x), the prompt's display, format holes.
#ifndef TALLY_VM_FORMAT_H
#define TALLY_VM_FORMAT_H

#include "vm/values/string.h"

// The text of a value: what print and string(x) give. Strings plain at the top
// ([quoted] false), quoted inside containers. On one line, but that a matrix
// wider than 80 columns at the top has its rows on lines of their own. Arrays,
// lists and records of more than [limit] items are elided with "…" (0: never).
bool tl_format_value(tl_vm *vm, tl_text *text, tl_slot value, bool quoted,
                     int64_t limit);

// What the prompt shows: the type, then aligned columns; large arrays elided.
// width is the terminal's columns. Ends with a newline.
bool tl_format_display(tl_vm *vm, tl_text *text, tl_slot value, int width);

// A value under a format specification of Python's format language
// ([[fill]align][sign][#][0][width][,][.precision][type]); arrays item by
// item. An unknown specification fails (kind value).
bool tl_format_spec(tl_vm *vm, tl_text *text, tl_slot value, const char *spec,
                    size_t nbytes);

// The shortest digits that read back as the same float: 0.1, 1.0, 1e+300.
void tl_format_double(double value, char buffer[32]);
void tl_format_float(float value, char buffer[32]);

#endif
