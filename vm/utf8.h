// Checking and mending UTF-8. All text in the VM is valid UTF-8 by
// construction; what comes from a host, a file or the system goes through here,
// and is rejected or mended.
#ifndef TALLY_VM_UTF8_H
#define TALLY_VM_UTF8_H

#include <stdbool.h>
#include <stddef.h>

// Whether the text is valid UTF-8: no overlong form, no surrogate, nothing
// above U+10FFFF. If it is not, *at (unless NULL) is the offset of the first
// wrong byte.
bool tl_utf8_check(const char *text, size_t nbytes, size_t *at);

// The number of code points of valid UTF-8.
size_t tl_utf8_count(const char *text, size_t nbytes);

// Replaces each byte that is no part of valid UTF-8 by `?`, so that the length
// stays.
void tl_utf8_mend(char *text, size_t nbytes);

#endif
