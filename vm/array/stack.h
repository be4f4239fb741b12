// Array literals and comprehensions: items stacked to one more dimension.
#pragma once

#include "vm/array/array.h"

// Stacks [count] values: scalars to rank 1, arrays of one shape to one rank
// more, strings to a string array; dtypes are promoted (weak scalars as
// always). Borrows the items; *out is owned.
//
//   (1, 2.5)          2 * float64
//   ([1, 2], [3])     false, kind shape, naming the two items
//   (1, "a")          false, kind type, proposing a list
bool tl_stack(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out);
