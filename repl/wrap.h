// Reports on a terminal: long lines go on in the next, between words. Written
// to a file, or where the width is not known, nothing is changed.
#pragma once

#include <stdbool.h>
#include <stdio.h>

// Writes lines of at most [width] characters, where their words are no longer;
// those of a source line and its caret stay whole. width 0: no lines are cut.
// Where [has_colours], what kind of error it is and the caret stand out.
void tl_write_wrapped(FILE *to, const char *text, int width, bool has_colours);
