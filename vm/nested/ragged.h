// Rows of different lengths: building and gathering them.
#ifndef TALLY_VM_RAGGED_H
#define TALLY_VM_RAGGED_H

#include "vm/nested/nested.h"

// The offsets of a ragged array, one more than there are rows.
static inline const int64_t *tl_ragged_offsets(const tl_nested *n) {
  return (const int64_t *)(const void *)n->parts[0].array->data;
}
static inline int64_t tl_ragged_rows(const tl_nested *n) {
  return tl_shape(n->parts[0].array)[0] - 1;
}

// New offsets for [rows] rows, the first 0, the rest to be filled in.
tl_array *tl_offsets_new(tl_vm *vm, int64_t rows);
static inline int64_t *tl_offsets_data(tl_array *offsets) {
  return (int64_t *)(void *)offsets->data;
}

// A ragged array; takes the offsets and what [items] owns on every path.
bool tl_ragged_new(tl_vm *vm, tl_array *offsets, tl_slot *items, tl_slot *out);

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
bool tl_gather_runs(tl_vm *vm, tl_slot content, int64_t count,
                    const int64_t *starts, const int64_t *stops, tl_slot *out);

// An array of n positions, to be filled in; read with tl_offsets_data.
tl_array *tl_positions_new(tl_vm *vm, int64_t n);

// Rows made of [count] values of one axis or more: their items one behind the
// other. Borrows; *out is owned.
bool tl_ragged_of_rows(tl_vm *vm, int64_t count, const tl_slot *rows,
                       tl_slot *out);

// The rows of a value of two axes or more, all of one length. Borrows.
bool tl_ragged_of_regular(tl_vm *vm, tl_slot regular, tl_slot *out);

// [items] as so many rows of [width] items each. Takes them on every path.
bool tl_ragged_of_width(tl_vm *vm, int64_t rows, int64_t width, tl_slot *items,
                        tl_slot *out);

// Whether two ragged arrays have rows of the same lengths; else *row is the
// first that differs, or -1 where their number does.
bool tl_ragged_agree(const tl_nested *a, const tl_nested *b, int64_t *row);

// An index beyond the items of a row (kind index).
bool tl_fail_in_row(tl_vm *vm, int64_t index, int64_t row, int64_t length);

#endif
