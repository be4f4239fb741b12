// What a terminal shows of a text: graphemes, which take the cells that
// utf8proc says.
#pragma once

#include <stddef.h>

// Writes to the terminal, also where it takes the bytes in parts.
void tl_screen_write(const char *text, size_t nbytes);

// The end of the grapheme that begins at [at], at most nbytes; what is no UTF-8
// goes by bytes.
size_t tl_sign_end(const char *text, size_t nbytes, size_t at);
// Cells that the text takes; ends of lines take none.
int tl_cells(const char *text, size_t nbytes);
