// Ranges: start..stop by step, int64, the end not included. A range is a value
// of its own that loops and indices read without its items ever being stored;
// where an array is needed, tl_range_to_array makes one.
#pragma once

#include "vm/memory/memory.h"

// A range value; immutable.
struct tl_range {
  tl_object head;
  int64_t start, stop, step;
  int64_t length;
};

// Returns owned. Fails (kind value) for a step of 0 or a length above the
// largest int64. A range whose step leads away from stop is empty.
//
//   0..10 by 3      0 3 6 9
//   3..0 by -1      3 2 1
//   3..0 by 1       empty
tl_range *tl_range_new(tl_vm *vm, int64_t start, int64_t stop, int64_t step);
// The item at [index], which the caller has checked. Computed without a sign:
// the distance from start to an item may be larger than the largest int64.
static inline int64_t tl_range_item(const tl_range *range, int64_t index) {
  return (int64_t)((uint64_t)range->start +
                   (uint64_t)index * (uint64_t)range->step);
}
// A new int64 array of the items; returns owned, NULL where memory is short.
tl_array *tl_range_to_array(tl_vm *vm, const tl_range *range);
