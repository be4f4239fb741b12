// Ragged rows in a regular order: 3 * 4 * var * float64.
//
// A nested array of TL_FORM_GRID: int64 places of two axes or more, each the
// number of a row of a ragged array. So slices, transposes and masks of the
// fixed axes are those of the places, and the rows stay where they are. What
// does not know the form gets rows of rows instead (3 * var * var * float64).
#ifndef TALLY_VM_GRID_H
#define TALLY_VM_GRID_H

#include "vm/engine/elementwise.h"
#include "vm/nested/nested.h"
#include "vm/nested/nested_set.h"
#include "vm/nested/parts.h"

// Rows of those places: of one axis a ragged array, of none the row. Borrows;
// *out is owned or borrows from the rows.
bool tl_grid_of_places(tl_vm *vm, tl_slot places, tl_slot rows, tl_slot *out);
// Rows in row-major order as an array of that shape. Takes the rows on every
// path.
bool tl_grid_of_shape(tl_vm *vm, int ndim, const int64_t *shape, tl_slot *rows,
                      tl_slot *out);
// All its rows in row-major order, a ragged array. *out is owned.
bool tl_grid_rows(tl_vm *vm, const tl_nested *n, tl_slot *out);
// The same as rows of rows. *out is owned.
bool tl_grid_as_vars(tl_vm *vm, const tl_nested *n, tl_slot *out);

// A value of fixed axes alone whose axes from [first] to [last] become var; 1
// is the first that can. Borrows; *out is owned.
bool tl_value_as_vars(tl_vm *vm, tl_slot s, int first, int last, tl_slot *out);

// base[step] of a ragged array as of a grid of one fixed axis.
bool tl_grid_get_rows(tl_vm *vm, tl_slot ragged, const tl_step *step,
                      tl_slot *parts, tl_slot *out);
// Ragged arrays and grids of one shape, along a new first axis. False without
// an error where [fits] comes back false: they differ in shape.
bool tl_grid_stack(tl_vm *vm, int64_t count, const tl_slot *items, bool *fits,
                   tl_slot *out);

#endif
