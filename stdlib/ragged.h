// Ragged arrays in functions that serve plain ones too.
#pragma once

#include "vm/engine/engine.h"
#include "vm/nested/ragged.h"

// An array of two axes or more is taken as rows: the slot then owns them.
// Fails (kind type) for values of one axis or none.
bool tl_arg_ragged(tl_vm *vm, const char *function, tl_slot *s);
// Two ragged arrays whose rows do not agree, from [row] on.
// Where the numbers of rows differ, [row] is not looked at. Always false.
bool tl_fail_ragged_rows(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                         int64_t row);

// Each row of a ragged array from its end, their items gathered at once. *out
// is owned.
bool tl_ragged_flip(tl_vm *vm, tl_slot x, tl_slot *out);

// Each row in order, or the order of each row. *out is owned.
// Missing items come last in their row. Fails (kind type) for rows of more than
// plain items.
bool tl_ragged_sort(tl_vm *vm, tl_slot x, bool descending, bool order,
                    tl_slot *out);
// Running folds of each row.
// [dtype] TL_DTYPE_COUNT: the standard's choice, as for whole arrays.
bool tl_ragged_cumulative(tl_vm *vm, const char *name, tl_reduction reduction,
                          tl_slot x, tl_dtype dtype, tl_slot *out);

// A value, or one per row, in rows as [model] has them.
// *out is owned, and has the model's offsets, not a copy of them.
bool tl_ragged_broadcast(tl_vm *vm, tl_slot x, tl_slot model, tl_slot *out);

// concat and stack of a list with nested items; append to a nested array.
// All borrow their operands and give an owned *out. Items that do not fit each
// other fail with kind shape, naming both types.
bool tl_nested_concat(tl_vm *vm, const tl_list *list, tl_slot axis,
                      tl_slot *out);
bool tl_nested_stack(tl_vm *vm, const tl_list *list, tl_slot axis,
                     tl_slot *out);
bool tl_nested_append(tl_vm *vm, tl_slot x, tl_slot item, tl_slot *out);
