// Arrow's C data interface, as tally_from_arrow (api_arrow.c) and
// tally_to_arrow (api_arrow_out.c) see it. A column is a schema (what it is)
// and an array (its buffers); each has a release function that its owner calls
// once.
#pragma once

#include "vm/dtype.h"

// The type of a column: its format string, and those of its children.
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

// The data of a column: buffers as its format lays them out, from item [offset]
// on.
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

// The format of plain numbers of a dtype, one letter; 0: none.
char tl_arrow_format(tl_dtype dtype);

// Releases both; either may be NULL, or have nothing that is to be released.
void tl_arrow_release(struct ArrowSchema *s, struct ArrowArray *a);
