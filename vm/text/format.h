// Values as text: print, string(x), format holes. What the prompt shows is in
// vm/interp/display.h.
//
//     tl_format_value    print(x), string(x), "{x}"     format.c
//     tl_format_spec     "{x:8.2f}"                     format_spec.c
//     tl_format_real     one number                     format_number.c
//
// All append to a tl_text (vm/string.h), which remembers lack of memory; nested
// arrays and the host's values come in through tables (vm/objects.h). Numbers
// are written the same in every locale.
#pragma once

#include "vm/string.h"

// Appends the text of a value: what print and string(x) give. Strings stand
// plain at the top ([quoted] false) and quoted inside containers. All on one
// line, but that a matrix wider than 80 columns at the top has its rows on
// lines of their own. Arrays, lists and records of more than [limit] items are
// elided with "…" (0: never). False after tl_fail.
bool tl_format_value(tl_vm *vm, tl_text *text, tl_slot value, bool quoted,
                     int64_t limit);

// Appends a value under a format specification of Python's format language
// ([[fill]align][sign][z][#][0][width][,][.precision][type]); arrays item by
// item. An unknown specification fails (kind value). The compiler's own are:
//
//   !r       strings in quotes, as {x = } has it
//   !w, !p   a hole of a specification, where a width or a precision is due: an
//            integer in its range, or text; anything else fails
bool tl_format_spec(tl_vm *vm, tl_text *text, tl_slot value, const char *spec,
                    size_t nbytes);

// Writes the shortest digits that read back as the same number of a real dtype:
// 0.1, 1.0, 1e+300, nan, inf. [buffer] has room for 32 bytes.
void tl_format_real(double value, tl_dtype dtype, char *buffer);
