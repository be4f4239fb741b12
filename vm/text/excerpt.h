// The line of a source that an error is about, with a caret below the place.
#pragma once

#include "vm/string.h"

// Appends the line of [text] whose bytes are [begin, end), with its number, and
// below it a caret under the byte [at]. A long line is cut around the caret.
//
//     12 |   x = 2.
//        |        ^
void tl_text_excerpt(tl_text *out, const char *text, int line, size_t begin,
                     size_t end, size_t at);
