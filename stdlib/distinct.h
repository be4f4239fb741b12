// The distinct items of an array, in order.
#pragma once

#include "vm/array/array.h"

// All that can be asked about them; what nobody asked for is NULL.
//
//   x          30 10 30 20
//   values     10 20 30         indices  1 3 0
//   inverse    2 0 2 1          counts   1 1 2
//
// The members are owned by whoever closes it; whoever takes one sets it to
// NULL.
typedef struct tl_distinct {
  tl_array *values;
  tl_array *indices;  // where each value occurs first
  tl_array *inverse;  // in x's shape: which value each item is
  tl_array *counts;
} tl_distinct;

// Finds them in an array, or what can be one; [function] is for the error where
// it cannot. [positions] asks for the inverse, with [counts] for the indices
// too. Takes what *x owns, where no positions are asked for. On failure nothing
// is open: *d is then all NULL or dropped already.
bool tl_distinct_find(tl_vm *vm, const char *function, tl_slot *x,
                      bool positions, bool counts, tl_distinct *d);
// Drops the parts that nobody took.
void tl_distinct_close(tl_vm *vm, tl_distinct *d);
