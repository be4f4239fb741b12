// The file of inputs of earlier prompts: a line for each, the newest last.
// `\n` stands for an end of line within an input and `\\` for a backslash.
// Blanks at an input's end are not kept.
//
//     x = [1, 2]
//     fn f(x) {\n  "a\\tb"\n}
//
// Each input is added at once, so that prompts that run at a time lose nothing
// of each other; the same one may be there often.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// With more lines than that a file is to be written anew: most are of no use.
enum { TL_HISTORY_LINES = 2000 };

// Gets a line, which may be of any bytes.
typedef void tl_history_hook(void *context, const char *text, size_t nbytes);

// Reads ~/.tally_history, or what TALLY_HISTORY names, with [behind] behind the
// name, and calls [recall] with each line. Returns the file's name, for the
// caller to free; NULL: inputs are not kept, as that is empty or there is no
// memory. A file that cannot be read has none. [is_old]: it should be written
// anew, being long, or libedit's.
char *tl_history_read(const char *behind, tl_history_hook *recall,
                      void *context, bool *is_old);
// Adds a line; false: the file does not take it.
bool tl_history_append(const char *file, const char *line, size_t nbytes);
