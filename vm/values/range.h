// Ranges: start..stop by step, int64, the end not included.
#ifndef TALLY_VM_RANGE_H
#define TALLY_VM_RANGE_H

#include "vm/memory/memory.h"

struct tl_range {
  tl_object head;
  int64_t start, stop, step;
  int64_t length;
};

// Fails (kind value) for a step of 0.
tl_range *tl_range_new(tl_vm *vm, int64_t start, int64_t stop, int64_t step);
// Computed without a sign: the way from start to an item may be longer than
// the largest int64.
static inline int64_t tl_range_item(const tl_range *range, int64_t index) {
  return (int64_t)((uint64_t)range->start +
                   (uint64_t)index * (uint64_t)range->step);
}
tl_array *tl_range_to_array(tl_vm *vm, const tl_range *range);

#endif
