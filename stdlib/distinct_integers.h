// The distinct integers of an array, where they are close together.
#pragma once

#include "stdlib/distinct.h"

// Whether this is for them: bools, and integers other than uint64.
bool tl_integers_counted(tl_dtype dtype);

// The distinct items of a dense array of these along one axis, in ascending
// order, and how often each occurs where [counts] is
// not NULL. Both returns are owned. *values stays NULL, with true, where they
// are fewer than the range from the least to the largest is wide: the items
// are then as they were. May take what *items owns.
//
//   5 3 5 4             values 3 4 5, counts 1 1 2
//   0 10^9              values NULL: the table would be longer than the items
bool tl_distinct_integers(tl_vm *vm, tl_slot *items, tl_array **values,
                          tl_array **counts);

// The same with each item's place among the values, in x's shape, and with
// [all] where each occurs first and how often. [d] stays empty, with true,
// where their range is too wide.
bool tl_integers_placed(tl_vm *vm, const tl_array *flat, const tl_array *x,
                        bool all, tl_distinct *d);

// Whether each query is among the items, of which there is one at least; both
// as above and of one dtype. *fits becomes false, with true, where the items'
// range is too wide for a table: [found] is then as it was.
bool tl_integers_among(tl_vm *vm, const tl_array *queries,
                       const tl_array *items, uint8_t *found, bool *fits);
