// Small helpers on text for commands: spans of someone else's characters, and
// text that grows. They end the process where memory is short: a command that
// reads files has nothing better to do.
#ifndef TALLY_REPL_SPAN_H
#define TALLY_REPL_SPAN_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Characters that somebody else owns.
typedef struct span {
  const char *at;
  size_t n;
} span;

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

// The text as a span, valid until it grows.
static inline span text_span(const text *from) {
  return (span){from->data ? from->data : "", from->n};
}

// Reads a stream to its end, appending to [out]; false with errno set where
// that fails.
static inline bool read_stream(FILE *from, text *out) {
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, from)) > 0;) {
    text_add(out, block, n);
  }
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

// Takes the first line off [rest], without its end; false when none is left.
static inline bool next_line(span *rest, span *line) {
  if (rest->n == 0)
    return false;
  const char *end = memchr(rest->at, '\n', rest->n);
  line->at = rest->at;
  line->n = end ? (size_t)(end - rest->at) : rest->n;
  size_t step = line->n + (end != NULL);
  rest->at += step;
  rest->n -= step;
  return true;
}

// Without the first [n] characters.
static inline span skip(span from, size_t n) {
  return (span){from.at + n, from.n - n};
}

// Blanks and tabs: the span is one line.
static inline span trim_left(span from) {
  while (from.n > 0 && (*from.at == ' ' || *from.at == '\t')) {
    from = skip(from, 1);
  }
  return from;
}

// Also the end of the line, which a file from Windows may have in two bytes.
static inline span trim_right(span from) {
  while (from.n > 0 && strchr(" \t\r\n", from.at[from.n - 1])) from.n--;
  return from;
}

// Whether the span begins with that text.
static inline bool starts(span with, const char *what) {
  size_t n = strlen(what);
  return with.n >= n && memcmp(with.at, what, n) == 0;
}

// Whether both spans have the same characters.
static inline bool same(span a, span b) {
  return a.n == b.n && (a.n == 0 || memcmp(a.at, b.at, a.n) == 0);
}

// Where [what] stands in [in]; in.n where it does not.
static inline size_t find(span in, span what) {
  for (size_t i = 0; i + what.n <= in.n; i++) {
    if (what.n == 0 || memcmp(in.at + i, what.at, what.n) == 0)
      return i;
  }
  return in.n;
}

// A string as a span.
static inline span spell(const char *what) {
  return (span){what, strlen(what)};
}

// Whether [from] begins with [pattern], in which … stands for anything.
static inline bool matches(span from, span pattern) {
  const span gap = spell("…");
  bool first = true;
  for (;;) {
    size_t n = find(pattern, gap);
    span piece = {pattern.at, n};
    size_t at = find(from, piece);
    if (at == from.n && piece.n > 0)
      return false;
    if (first && at > 0)
      return false;
    if (n == pattern.n)
      return true;
    from = skip(from, at + piece.n);
    pattern = skip(pattern, n + gap.n);
    first = false;
  }
}

// The arguments for "%.*s".
#define SPAN(s) (int)(s).n, (s).at

#endif
