// Joining and stacking values that may be nested.
#pragma once

#include "vm/nested/parts.h"

// As tl_stack, and: records give a struct array, rows of different lengths a
// ragged one, none among scalars or strings one with missing values.
bool tl_stack_any(tl_vm *vm, int64_t count, const tl_slot *items, tl_slot *out);
// One value, a record or none too, in all places of a shape.
bool tl_value_repeat(tl_vm *vm, tl_slot value, int ndim, const int64_t *shape,
                     tl_slot *out);

// --- For the forms' own functions (forms.h) ---------------------------------

// Plain arrays, by their items.
bool tl_join_arrays(tl_vm *vm, int64_t count, const tl_slot *items,
                    tl_slot *out);
// Arrays of one form, by their parts that have its axes; the others are those
// of the first.
bool tl_join_parts(tl_vm *vm, int64_t count, const tl_slot *items,
                   tl_slot *out);
// Fails (kind type): item [i] cannot be joined with the first one; the first
// that is not of its kind cannot.
bool tl_fail_join(tl_vm *vm, const tl_slot *items, int64_t i);
bool tl_fail_kinds(tl_vm *vm, int64_t count, const tl_slot *items);
// Records or struct arrays with the fields of the first one: each field's
// values are joined, and the columns make the whole.
bool tl_join_fields(tl_vm *vm, tl_joiner *join, int64_t count,
                    const tl_slot *items, tl_slot *out);
// Ragged arrays and grids of one shape, along a new first axis. False without
// an error where [fits] comes back false: they differ in shape.
bool tl_grid_stack(tl_vm *vm, int64_t count, const tl_slot *items, bool *fits,
                   tl_slot *out);
// What is joined of bytes: what they have inside, closed again.
bool tl_join_raw_bytes(tl_vm *vm, tl_joiner *join, int64_t count,
                       const tl_slot *items, tl_slot *out);
