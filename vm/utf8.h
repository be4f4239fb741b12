// Checking and mending UTF-8. All text in the VM is valid UTF-8 by
// construction; what comes from a host, a file or the system goes through here,
// and is rejected or mended.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the text is valid UTF-8: no overlong form, no surrogate, nothing
// above U+10FFFF. If it is not, *at (unless NULL) is the offset of the first
// wrong byte.
bool tl_utf8_check(const char *text, size_t nbytes, size_t *at);

// As tl_utf8_decode, which calls it for what takes a call.
size_t tl_utf8_decode_long(const char *text, size_t nbytes, int32_t *point);

// Sets *point to the code point that the text begins with, and returns how many
// bytes it takes; a wrong byte gives U+FFFD and 1. nbytes > 0. Up to two bytes,
// which most letters have, it takes no call.
static inline size_t tl_utf8_decode(const char *text, size_t nbytes,
                                    int32_t *point) {
  unsigned char first = (unsigned char)text[0];
  if (first < 0x80) {
    *point = first;
    return 1;
  }
  if (first < 0xc2 || first >= 0xe0 || nbytes < 2 || (text[1] & 0xc0) != 0x80)
    return tl_utf8_decode_long(text, nbytes, point);
  *point = (first & 31) << 6 | (text[1] & 63);
  return 2;
}

// Whether a code point may begin a name of the language, as letters of any
// script and `_` may, or go on with one: digits of any script, combining marks,
// subscripts and primes, too (x₁, x′).
bool tl_begins_name(int32_t point);
bool tl_continues_name(int32_t point);

// The number of code points of valid UTF-8.
size_t tl_utf8_count(const char *text, size_t nbytes);

// Replaces each byte that is no part of valid UTF-8 by `?`, so that the length
// stays.
void tl_utf8_mend(char *text, size_t nbytes);
