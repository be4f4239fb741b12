// Numbers in data files: decimal text to int64 and float64, in no locale.
#ifndef TALLY_STDLIB_NUMBER_H
#define TALLY_STDLIB_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum tl_number_kind {
  TL_NUMBER_NONE,   // no number
  TL_NUMBER_INT,    // fits int64
  TL_NUMBER_FLOAT,  // anything else: 1.5, 1e3, 99999999999999999999, nan, -inf
} tl_number_kind;

// Reads the number that [text] is, blanks around it allowed. *i is set for
// TL_NUMBER_INT; *f for both kinds, correctly rounded. nan, inf and infinity
// are numbers in any case. [text] need not end with a NUL.
tl_number_kind tl_number_read(const char *text, size_t nbytes, int64_t *i,
                              double *f);

#endif
