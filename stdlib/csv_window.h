// A file of text a window at a time: whole lines, in memory that the next ones
// are read into, so that it stays in the processor's cache.
//
// A text that cannot be read twice, such as a pipe's, is held whole, as is one
// that had to be expanded; the windows then move over it.
#pragma once

#include "vm/io.h"

// What was read of the file, of which the window shows a part:
//
//   bytes  |.. given back ..|begin .. whole lines .. |end .. part of a line ..|
//                                                     NUL, for [behind]
typedef struct tl_csv_window {
  char *begin, *end;  // the lines; a NUL follows
  bool last;          // no text follows
  int64_t offset;     // of [begin] in the text
  int64_t size;       // of the text in bytes, as far as the system knows
  // Its own.
  tl_reader reader;
  tl_bytes bytes;  // what was read and is not given back yet, or all of it
  bool held;       // all of it
  size_t step;     // bytes that a window should have
  char behind;     // what the NUL stands for
} tl_csv_window;

// Opens the file with its first window, of about [step] bytes. Must be closed,
// also after a failure. Fails where the text of the window is not UTF-8.
bool tl_csv_window_open(tl_vm *vm, const char *what, const char *path,
                        size_t step, tl_csv_window *out);

// Goes on with the lines from [at] on, which lies within the window or is its
// end: more than there were where it is the beginning. False after tl_fail: the
// file cannot be read, has no UTF-8 (kind value), or one line is longer than
// memory.
bool tl_csv_window_next(tl_csv_window *window, const char *at);

// Goes back to a place of the text. [offset] is one that a window began at, or
// the place of a line in it.
bool tl_csv_window_seek(tl_csv_window *window, int64_t offset);

// Closes the file and frees the text.
void tl_csv_window_close(tl_csv_window *window);
