// What the forms share: trees built from their parts, and loops over rows.
//
// An operation on a nested array opens it, works on what is inside and closes
// it again. Which parts it opens depends on what it is about:
//
//   items      tl_nested_map      each part that has the array's axes, in turn;
//                                 the others are shared
//   axes       tl_value_reshape   the same, as deep as the tree goes
//   rows       tl_map_rows        one call for each row, the results joined
//   within     tl_map_items       the items of all rows at once
//
// None of them looks at the form but through tl_form_traits.
#pragma once

#include "vm/elementwise.h"
#include "vm/nested/nested.h"

// --- Elementwise operations on whole operands -------------------------------

// out = op(a), op(a, b), op(a, b, c); the operands are borrowed, *out is owned.
bool tl_compute1(tl_vm *vm, tl_op op, tl_slot a, tl_slot *out);
bool tl_compute2(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot *out);
bool tl_compute3(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot c,
                 tl_slot *out);
// a = a op b; [a] is owned, and stays what it was where that fails.
// The result is a new array, even where [a] is nobody else's.
bool tl_compute_into(tl_vm *vm, tl_op op, tl_slot *a, tl_slot b);

// A part of an operand. Where the operand dies it is moved out, so that the
// result may take its memory; a failure puts it back.
typedef struct tl_borrowed_part {
  tl_slot value;
  tl_slot *home;  // where it was moved from, or NULL
} tl_borrowed_part;
// [operand] may be NULL: its part stays.
// *out is given back in any case, after the operation, with [ok] for whether it
// succeeded. The operation may have consumed the value, so the caller copies
// back into out->value what its slot became.
void tl_part_borrow(tl_vm *vm, tl_slot *operand, tl_slot *part,
                    tl_borrowed_part *out);
void tl_part_return(tl_vm *vm, tl_borrowed_part *b, bool ok);

// --- Several values ---------------------------------------------------------

// What a value is in an operation on several; *out is owned or borrows from it.
typedef bool tl_opener(tl_vm *vm, tl_slot s, tl_slot *out);
typedef bool tl_joiner(tl_vm *vm, int64_t count, const tl_slot *items,
                       tl_slot *out);
// Joins what [open] gives of each. Borrows the items.
bool tl_join_opened(tl_vm *vm, tl_opener *open, tl_joiner *join, int64_t count,
                    const tl_slot *items, tl_slot *out);

// Each value that [open] makes another one of replaced by that: the slot then
// owns it.
bool tl_open_each(tl_vm *vm, tl_opener *open, uint32_t count, tl_slot *args);

// Fails (kind shape): the two do not broadcast.
bool tl_fail_broadcast(tl_vm *vm, tl_slot a, tl_slot b);

// Joins arrays or nested arrays along their leading axis: dtypes promote,
// struct arrays need the same fields, values that may be missing take plain
// ones. Fails (kind type) where items differ. Borrows; *out is owned.
// count > 0.
bool tl_value_concat(tl_vm *vm, int64_t count, const tl_slot *items,
                     tl_slot *out);

// --- Parts ------------------------------------------------------------------

// What becomes of part [i]; *out is owned, or borrows from the part.
typedef bool tl_part_map(tl_vm *vm, void *context, int64_t i, tl_slot part,
                         tl_slot *out);
// An array of the same form, with [ndim] axes: the parts that have the axes, or
// all of them, are what [map] makes of them, the others are shared. *out is
// owned.
bool tl_nested_map(tl_vm *vm, const tl_nested *n, int ndim, bool all,
                   tl_part_map *map, void *context, tl_slot *out);

// An index of the array's leading axes in part [i], which may have more: they
// stay whole. *out as tl_index_get's.
bool tl_part_get(tl_vm *vm, tl_slot base, int64_t i, const tl_step *step,
                 tl_slot *parts, tl_slot *out);
// Whether an index has no more parts than the whole array has axes; else fails
// (kind index) about that, since a part may have other axes. base is borrowed.
bool tl_part_axes(tl_vm *vm, tl_slot base, const tl_step *step,
                  const tl_slot *parts, bool *ellipsis);
// The axes that an index takes up, without the ellipsis.
int tl_step_axes(const tl_step *step, const tl_slot *parts, bool *ellipsis);

// Any value of axes: its [taken] leading ones as the axes of a shape of as many
// items; those behind stay. Views where the items are dense, else copies of
// them in row-major order. Rows become a grid and the other way round. Borrows;
// *out is owned.
bool tl_value_reshape(tl_vm *vm, tl_slot s, int taken, int ndim,
                      const int64_t *shape, tl_slot *out);
// The items of an array broadcast to a shape, along one axis. *out is owned.
// Of a shape of one axis this may be a view that borrows a's block: to be used
// before [a] ends.
bool tl_broadcast_flat(tl_vm *vm, const tl_array *a, int ndim,
                       const int64_t *shape, tl_slot *out);
// The leading axis alone as axes of that shape. Takes [s] on every path.
bool tl_value_split_axis(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                         tl_slot *out);
// Two axes or more: the first two as one, and all as one.
bool tl_value_join_axes(tl_vm *vm, tl_slot s, tl_slot *out);
bool tl_value_flatten(tl_vm *vm, tl_slot s, tl_slot *out);

// Any value whose fixed axes, [ndim] of them, come in another order: views.
// Borrows; *out is owned.
bool tl_value_permute(tl_vm *vm, tl_slot s, const int *axes, int ndim,
                      tl_slot *out);

// --- Rows -------------------------------------------------------------------

// tl_value_take where [ok]; the places, which may be NULL, are given up.
bool tl_take_at(tl_vm *vm, bool ok, tl_slot content, tl_array *places,
                tl_slot *out);

// Rows of what [map] makes of the items of all rows of a ragged array, under
// the same offsets. *out is owned.
typedef bool tl_items_map(tl_vm *vm, void *context, tl_slot items,
                          tl_slot *out);
bool tl_map_items(tl_vm *vm, tl_slot ragged, tl_items_map *map, void *context,
                  tl_slot *out);

// A call for each of [count] rows, whose results are joined. Where there are no
// rows, the result of one call with the number -1, for a row of no items, says
// what they would hold.
typedef struct tl_row_loop {
  const char *name;  // for messages
  int64_t count;
  bool (*each)(tl_vm *vm, void *context, int64_t row, tl_slot *out);
  tl_joiner *join;
  void *context;  // of [each]
} tl_row_loop;
bool tl_map_rows(tl_vm *vm, const tl_row_loop *loop, tl_slot *out);
// The same with the row itself: those of [items] at offsets [at]. It is the
// slot's, owned or borrowed.
typedef bool tl_row_map(tl_vm *vm, void *context, tl_slot *row, tl_slot *out);
// The result of [map] may borrow from the row no longer than the call.
bool tl_each_row(tl_vm *vm, const char *name, tl_slot items, const int64_t *at,
                 int64_t rows, tl_row_map *map, void *context, tl_joiner *join,
                 tl_slot *out);
