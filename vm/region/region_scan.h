// A running fold that is fed block by block, into an array: of regions that end
// in one (region_scan.c) or have one among several results (region_sinks.c).
#ifndef TALLY_VM_REGION_SCAN_H
#define TALLY_VM_REGION_SCAN_H

#include "vm/builtin.h"
#include "vm/engine/reduce_internal.h"

// Where the next block goes on.
typedef struct tl_scanner {
  tl_scan *lane;     // along the last axis
  tl_kernel2 *rows;  // else: a row with the one before
  tl_fold fold;
  tl_dtype dtype;
  size_t itemsize;
  int64_t length, inner;  // items along the axis, and behind each
  int64_t at;             // items of this lane, or these lanes side by side
  char *to;
  tl_c128 carry;
} tl_scanner;

// Into a dense array of such a shape.
void tl_scanner_open(tl_scanner *s, const tl_scan_call *call, tl_dtype dtype,
                     int ndim, const int64_t *shape, void *to);

// The plan's sink.
void tl_scanner_feed(void *scanner, const void *const *blocks, size_t n);

#endif
