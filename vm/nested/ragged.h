// Rows of different lengths: building and gathering them.
#pragma once

#include "vm/nested/nested.h"

// The offsets of a ragged array, one more than there are rows.
static inline const int64_t *tl_ragged_offsets(const tl_nested *n) {
  return (const int64_t *)(const void *)n->parts[0].array->data;
}
static inline int64_t tl_ragged_rows(const tl_nested *n) {
  return tl_shape(n->parts[0].array)[0] - 1;
}

// The items of all rows, as a view of the content, and offsets from 0 on for
// them: those that the array has, or a copy where its rows begin later. What
// the array has is lent, good while it lives; what is made here is owned.
bool tl_ragged_borrow(tl_vm *vm, tl_slot ragged, tl_slot *offsets,
                      tl_slot *items);
// The same, both owned by the caller.
bool tl_ragged_flat(tl_vm *vm, tl_slot ragged, tl_slot *offsets,
                    tl_slot *items);

// The items alone, owned.
bool tl_ragged_items(tl_vm *vm, tl_slot ragged, tl_slot *items);

// The items [starts[i], stops[i]) for each i, one run behind the other.
// Runs lie within the content's leading axis; they may overlap, come in any
// order and be empty. Borrows; *out is owned.
bool tl_gather_runs(tl_vm *vm, tl_slot content, int64_t count,
                    const int64_t *starts, const int64_t *stops, tl_slot *out);

// Rows places[0 .. n), of dense int64 within the array. Borrows; *out is owned.
bool tl_ragged_take(tl_vm *vm, const tl_nested *n, const tl_array *places,
                    tl_slot *out);

// Rows made of [count] values of one axis or more: their items one behind the
// other. Borrows; *out is owned.
// Fails (kind type) for rows that cannot be joined. count > 0.
bool tl_ragged_of_rows(tl_vm *vm, int64_t count, const tl_slot *rows,
                       tl_slot *out);

// The rows of a value of two axes or more, all of one length. Borrows.
bool tl_ragged_of_regular(tl_vm *vm, tl_slot regular, tl_slot *out);

// [items] as so many rows of [width] items each. Takes them on every path.
bool tl_ragged_of_width(tl_vm *vm, int64_t rows, int64_t width, tl_slot *items,
                        tl_slot *out);

// Whether two ragged arrays have rows of the same lengths; else *row is the
// first that differs, or -1 where their number does.
// Where their items begin does not count.
bool tl_ragged_agree(const tl_nested *a, const tl_nested *b, int64_t *row);

// An index beyond the items of a row (kind index).
// [index] is shown as it was written, negative or not. Returns false.
bool tl_fail_in_row(tl_vm *vm, int64_t index, int64_t row, int64_t length);

// The items of a value that broadcasts with rows, as many for each row as
// [model], a ragged array, has. *out is owned.
// [s] may have an item or a column for each row, or rows of the same lengths,
// or be one value, which stays as it is. Fails (kind shape) for others.
bool tl_ragged_spread(tl_vm *vm, tl_slot s, tl_slot model, tl_slot *out);

// Fails (kind shape): rows at one place differ in length. [rows] are those of
// the operands [a] and [b], [place] is what row [row] is called.
bool tl_fail_row(tl_vm *vm, tl_slot a, tl_slot b, const tl_slot rows[2],
                 int64_t row, const char *place);

// --- Rows in a regular order: 3 * 4 * var * float64 -------------------------
// A nested array of TL_FORM_GRID: int64 places of two axes or more, each the
// number of a row of a ragged array. So slices, transposes and masks of the
// fixed axes are those of the places, and the rows stay where they are. What
// does not know the form gets rows of rows instead (3 * var * var * float64).

// Whether the places are those of all rows, in order.
bool tl_is_in_order(const tl_array *places, const tl_nested *rows);
// The rows at places of one axis or more, in row-major order. *out is owned.
// Rows may occur at several places; they are copied then.
bool tl_rows_at(tl_vm *vm, const tl_array *places, tl_slot rows, tl_slot *out);
// Rows of those places: of one axis a ragged array, of none the row. Borrows;
// *out is owned or borrows from the rows.
bool tl_grid_of_places(tl_vm *vm, tl_slot places, tl_slot rows, tl_slot *out);
// Rows in row-major order as an array of that shape. Takes the rows on every
// path.
bool tl_grid_of_shape(tl_vm *vm, int ndim, const int64_t *shape, tl_slot *rows,
                      tl_slot *out);
// All rows of a grid in row-major order, a ragged array, owned. Others are
// themselves, borrowed.
bool tl_grid_rows(tl_vm *vm, tl_slot s, tl_slot *out);
// The same as rows of rows.
bool tl_grid_as_vars(tl_vm *vm, tl_slot s, tl_slot *out);

// base[step] of a ragged array as of rows in a regular order of one axis.
bool tl_grid_get_rows(tl_vm *vm, tl_slot ragged, const tl_step *step,
                      tl_slot *parts, tl_slot *out);

// A value of fixed axes alone whose axes from [first] to [last] become var; 1
// is the first that can. Borrows; *out is owned.
bool tl_value_as_vars(tl_vm *vm, tl_slot s, int first, int last, tl_slot *out);

// Fails: "3 * var * int64 is [ways]", the indices or places that there are.
bool tl_fail_rows(tl_vm *vm, tally_status kind, const tl_nested *n,
                  const char *ways);
