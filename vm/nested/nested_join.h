// Joining and stacking values that may be nested.
#ifndef TALLY_VM_NESTED_JOIN_H
#define TALLY_VM_NESTED_JOIN_H

#include "vm/nested/nested.h"

// Joins arrays or nested arrays along their leading axis: dtypes promote,
// struct arrays need the same fields, values that may be missing take plain
// ones. Fails (kind type) where items differ. Borrows; *out is owned.
bool tl_value_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                     tl_slot *out);

// As tl_stack, and: records give a struct array, rows of different lengths a
// ragged one, none among scalars or strings one with missing values.
bool tl_stack_any(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out);

#endif
