// Ragged arrays in functions that serve plain ones too.
#ifndef TALLY_STDLIB_RAGGED_H
#define TALLY_STDLIB_RAGGED_H

#include "vm/engine.h"
#include "vm/ragged.h"

// Each row in order, or the order of each row. *out is owned.
bool tl_ragged_sort(tl_vm *vm, tl_slot x, bool descending, bool order,
                    tl_slot *out);
// Running folds of each row.
bool tl_ragged_cumulative(tl_vm *vm, const char *name, tl_reduction reduction,
                          tl_slot x, tl_dtype dtype, tl_slot *out);

// concat of a list whose first item is nested; append to a nested array.
bool tl_nested_concat(tl_vm *vm, const tl_list *list, tl_slot axis,
                      tl_slot *out);
bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out);

#endif
