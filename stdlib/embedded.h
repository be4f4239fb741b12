// The library's modules that are written in Tally, built into the program.
#ifndef TALLY_STDLIB_EMBEDDED_H
#define TALLY_STDLIB_EMBEDDED_H

#include <stddef.h>

struct tl_embedded {
  const char *name;  // as in `import name`
  const char *text;  // UTF-8, ended by a zero byte that nbytes leaves out
  size_t nbytes;
};

// Ended by an entry whose name is NULL. Written by tools/embed.
extern const struct tl_embedded tl_embedded_modules[];

#endif
