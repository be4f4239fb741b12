// Text that grows, for commands. Its functions end the process where memory is
// short: a command that reads files has nothing better to do.
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Text that grows; data is NUL-terminated once anything was added. The caller
// frees data.
typedef struct text {
  char *data;
  size_t n, capacity;
} text;

// Returns the block, or ends the process if it is NULL.
static inline void *need(void *block) {
  if (block)
    return block;
  fputs("tally: no memory\n", stderr);
  exit(1);
}

// Appends [n] bytes.
static inline void text_add(text *to, const char *from, size_t n) {
  if (to->capacity - to->n <= n) {
    to->capacity = 2 * (to->n + n + 1);
    to->data = need(realloc(to->data, to->capacity));
  }
  if (n > 0)
    memcpy(to->data + to->n, from, n);
  to->n += n;
  to->data[to->n] = 0;
}

// Whether the path of a file has that ending. One that is nothing else has no
// name, and is none.
static inline bool has_ending(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && strcmp(path + n - m, ending) == 0;
}

// Reads a stream to its end, appending to [out]; false with errno set where
// that fails.
static inline bool read_stream(FILE *from, text *out) {
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;)
    text_add(out, block, n);
  text_add(out, "", 0);
  return !ferror(from);
}

// Reads a whole file, appending to [out]; false with errno set if there is none
// or it cannot be read.
static inline bool read_file(const char *path, text *out) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  bool good = read_stream(file, out);
  int error = errno;
  fclose(file);
  errno = error;
  return good;
}
