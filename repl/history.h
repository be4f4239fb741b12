// Inputs of this prompt and of earlier ones: each once, the newest last. The
// file has a line for each, where `\n` is an end of line within an input and
// `\\` a backslash. Each input is added to it at once, so that prompts that run
// at a time lose nothing of each other.
#ifndef TALLY_REPL_HISTORY_H
#define TALLY_REPL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

// At most so many are read and kept.
enum { TL_HISTORY_MOST = 1000 };

typedef struct tl_entry {
  char *text;  // ends with a zero byte
  size_t nbytes;
} tl_entry;

typedef struct tl_history {
  tl_entry entries[TL_HISTORY_MOST];
  size_t count;
  char *file;  // NULL: it is not kept
} tl_history;

// Reads ~/.tally_history, or what TALLY_HISTORY names, with [behind] behind the
// name; where that is empty, nothing is kept. A file that cannot be read or
// written is none. [history] is zero.
void tl_history_open(tl_history *history, const char *behind);
void tl_history_close(tl_history *history);

// Adds an input, and drops an equal one that is older. Blanks at its end are
// left out, as is an input of blanks alone. Borrows the text, which need not
// end with a zero byte. Writes to the file at once; without memory nothing
// happens.
void tl_history_add(tl_history *history, const char *text, size_t nbytes);

// The nearest entry before [from] (step -1) or behind it (step 1) that begins
// with the text, or holds it anywhere; count where there is none. [from] is an
// index, or count.
size_t tl_history_find(const tl_history *history, size_t from, int step,
                       const char *text, size_t nbytes, bool anywhere);

#endif
