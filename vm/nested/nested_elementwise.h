// Elementwise operations where an operand is nested.
#ifndef TALLY_VM_NESTED_ELEMENTWISE_H
#define TALLY_VM_NESTED_ELEMENTWISE_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"

// As tl_elementwise, which comes here where an operand is nested.
bool tl_nested_elementwise(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out);

// The items of a value that broadcasts with rows, as many for each row as
// [model], a ragged array, has. *out is owned.
bool tl_ragged_spread(tl_vm *vm, tl_slot s, tl_slot model, tl_slot *out);

// For each item of all rows the number of its row.
bool tl_ragged_parents(tl_vm *vm, const tl_nested *n, tl_array **out);

// Values that may be missing where [mask] is true; takes both on every path.
// The mask broadcasts to the values' shape.
bool tl_option_of(tl_vm *vm, tl_slot *mask, tl_slot *values, tl_slot *out);

#endif
