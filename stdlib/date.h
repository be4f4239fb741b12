// Dates in data files: 2024-05-31, 2024-05-31T12:00:00.25Z.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Sets *microseconds since 1970 (UTC) of a date of the years 0000 to 9999 in
// the Gregorian calendar, with a time behind a T or a blank or without one;
// blanks around it are allowed. False: the text is no date. [text] need not
// end with a NUL.
//
//   2024-05-31                   1717113600000000
//   2024-05-31 12:30             + 45000000000
//   2024-02-30, 24-5-31          false
//
// On failure *microseconds may have been written.
bool tl_date_read(const char *text, size_t nbytes, int64_t *microseconds);
