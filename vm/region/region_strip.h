// Columns that are folded some rows at a time, in the order of
// vm/engine/reduce_strips.c: of regions that end in a reduction down columns
// (region_columns.c) or have one among several results (region_sinks.c).
#ifndef TALLY_VM_REGION_STRIP_H
#define TALLY_VM_REGION_STRIP_H

#include "vm/engine/reduce_internal.h"

// Rows come in chunks of 8 * 2^n, which are whole subtrees of the tree that
// folds all of them (kernels.h, tl_fold_outer), the last chunk perhaps of
// fewer; a binary counter joins the chunks as that tree does. Of places the
// best of the chunks are compared.
typedef struct tl_strip_fold {
  tl_fold fold;
  tl_dtype dtype;
  tl_fold_outer *kernel;
  tl_kernel2 *join;
  tl_arg_outer *find;  // of places; else NULL
  size_t in, out;      // item sizes
  int64_t rows;        // of a chunk
  int64_t width;       // the most columns
  char *scratch, *waiting;
  char *to;        // results of the columns under way
  int64_t at;      // rows so far
  int64_t chunks;  // whole ones
  int waiting_count;
} tl_strip_fold;

// The kernels for a reduction of [dtype] items; false: there are none.
bool tl_strip_choose(tl_strip_fold *s, tl_reduction reduction, tl_dtype dtype);

// Chunks of as many rows as fit [nbytes] with [width] columns, of [length].
void tl_strip_measure(tl_strip_fold *s, int64_t width, int64_t length,
                      size_t nbytes);
// The memory for all but the rows themselves, and its use; aligned to 64.
size_t tl_strip_nbytes(const tl_strip_fold *s, int64_t length);
void tl_strip_place(tl_strip_fold *s, char *memory);

// All rows of [width] columns: a chunk at a time, dense.
void tl_strip_begin(tl_strip_fold *s, void *to);
void tl_strip_take(tl_strip_fold *s, const void *rows, int64_t count,
                   int64_t width);
void tl_strip_end(tl_strip_fold *s, int64_t width);

static inline size_t tl_strip_round(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

#endif
