// What is done with nested arrays: making, fields, indexing. The trees
// themselves, and what only reads them, are in vm/array/nested.h.
//
// An operation of a lower layer that meets a nested array (an index, an update,
// x + y, concat, print) comes here through tl_nested_ops. Files stand one above
// the other, and each calls those below it; where an operation on parts may
// meet a nested array again, it goes through tl_nested_ops too:
//
//   forms.c          one table of functions for each form, and the drivers
//   lift.c           functions of the library that know plain arrays alone
//   option.c struct_items.c rows_*.c indexed.c raw_bytes.c     what forms do
//   stack.c          what literals hold, side by side
//   ragged.c         rows: opened, gathered, of one length
//   axes.c           shapes and orders of axes
//   parts.c          trees built from their parts, loops over rows
//   nested.c         making
//
// So rows of structs that may be missing need no code of their own: rows hand
// over their items, what may be missing its values, structs their fields.
#pragma once

#include "vm/index/index.h"
#include "vm/vm.h"

// What the layers below call of all this (objects.h).
extern const struct tl_nested_ops tl_nested_ops;

// --- field.c ---------------------------------------------------------------

// .name on any value: record key, array attribute (shape ndim size dtype
// nbytes T mT real imag), a type's itemsize, module member, handle attribute.
// *out is owned.
bool tl_field_get(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out);
// The same of a plain array's shape, ndim, size, dtype and nbytes, of which
// nothing is borrowed. False, without an error, for all else and where there is
// no memory: tl_field_get says so.
bool tl_outline(tl_vm *vm, tl_slot array, const tl_string *name, tl_slot *out);
// The same of an attribute alone, which a field of that name does not hide.
// For a nested array the name must be that of an attribute: false without an
// error for any other.
bool tl_attribute_get(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out);

// The array that a borrowed array's attribute shows, to be written through;
// fails (kind type) where the attribute cannot be set or does not exist.
bool tl_attribute_place(tl_vm *vm, tl_slot *base, const tl_string *name,
                        tl_slot *out);
// The names of attributes, in the order in which they are shown; NULL behind
// the last one. Nested arrays lack real and imag.
const char *tl_attribute_at(int at);
// Whether arrays have an attribute of that name.
bool tl_is_attribute(const tl_string *name);
// Whether the value has all of them.
static inline bool tl_has_attributes(tl_slot s) {
  return tl_is_array(s) || tl_is_scalar(s) || tl_is_range(s);
}
// Fails: the value has no such field; a near one is proposed.
bool tl_fail_no_field(tl_vm *vm, tl_slot base, const tl_string *name);
// The same where [key] may be any key of a record.
bool tl_fail_no_key(tl_vm *vm, tl_slot base, tl_slot key);

// --- Making -----------------------------------------------------------------

// Slots that own what is made for a while, each none at first. NULL after
// tl_fail. [count] may be 0.
tl_slot *tl_slots_new(tl_vm *vm, int64_t count);
// Frees them, and what the first [made] of them own: what failed to be made is
// no slot's. Takes NULL too.
void tl_slots_free(tl_vm *vm, tl_slot *slots, int64_t made);
// The same, and returns [ok]: the end of what worked with them.
static inline bool tl_slots_free_after(tl_vm *vm, bool ok, tl_slot *slots,
                                       int64_t made) {
  tl_slots_free(vm, slots, made);
  return ok;
}
// For loops that fill an array, whose iterations [i] counts from 0: as
// tl_poll_at, and takes the array where that fails: then *a is NULL. False
// where it is.
bool tl_array_polled(tl_vm *vm, tl_array **a, int64_t i);

// first, first + step, … in row-major order, as int64. NULL after tl_fail.
tl_array *tl_numbers_new(tl_vm *vm, int ndim, const int64_t *shape,
                         int64_t first, int64_t step);
// The same from [first] on in the fixed shape of any value.
tl_array *tl_number_items(tl_vm *vm, tl_slot s, int64_t first);

// An array of n positions, to be filled in; read with tl_offsets_data.
tl_array *tl_positions_new(tl_vm *vm, int64_t n);

// New offsets for [rows] rows, the first 0, the rest to be filled in.
tl_array *tl_offsets_new(tl_vm *vm, int64_t rows);
// Offsets, or positions. Those that another array has too are only read.
static inline int64_t *tl_offsets_data(tl_array *offsets) {
  return (int64_t *)(void *)offsets->data;
}

// Offsets for as many items of each row as are true: [at] are the rows' own, of
// the dense [flags]. NULL after tl_fail.
tl_array *tl_true_offsets(tl_vm *vm, const int64_t *at, int64_t rows,
                          const tl_array *flags);

// A nested array without its parts, which tl_nested_put fills in order.
tl_nested *tl_nested_new(tl_vm *vm, tl_form form, int ndim, int64_t count,
                         tl_type *layout);
// Takes what [part] owns, or retains it; views come to hold their block.
void tl_nested_put(tl_vm *vm, tl_nested *n, int64_t i, tl_slot *part);
// As tl_array_finish: *out owns [n], or it is dropped, if it is there.
bool tl_nested_finish(tl_vm *vm, bool ok, tl_nested *n, tl_slot *out);
// All of it as one step: takes both parts on every path; *out is owned.
// For TL_FORM_STRUCT and TL_FORM_BYTES, which have one part, [second] is NULL.
bool tl_nested_pair(tl_vm *vm, tl_form form, int ndim, tl_slot *first,
                    tl_slot *second, tl_slot *out);

// An array of a form of two parts whose axes are those of the first part.
static inline bool tl_indexed_new(tl_vm *vm, tl_form form, tl_slot *places,
                                  tl_slot *target, tl_slot *out) {
  return tl_nested_pair(vm, form, tl_value_ndim(*places), places, target, out);
}

// The same of a new array; NULL, where it could not be made: false.
bool tl_places_pair(tl_vm *vm, tl_form form, tl_array *places, tl_slot *second,
                    tl_slot *out);

// A ragged array; takes the offsets and what [items] owns on every path.
bool tl_ragged_new(tl_vm *vm, tl_array *offsets, tl_slot *items, tl_slot *out);

// Rows of [items] where [ok]; else there are no items, and the offsets, which
// may be NULL, are given up. Takes both on every path.
bool tl_ragged_close(tl_vm *vm, bool ok, tl_array *offsets, tl_slot *items,
                     tl_slot *out);
// The same with the offsets of other rows, owned or borrowed.
bool tl_rows_close(tl_vm *vm, bool ok, tl_slot *offsets, tl_slot *items,
                   tl_slot *out);

// An array of structs over a block, of which it takes what the slot owns. *out
// is owned.
bool tl_struct_of_block(tl_vm *vm, tl_type *layout, tl_slot *bytes,
                        tl_slot *out);
// An array of structs with all bytes 0.
bool tl_struct_zeros(tl_vm *vm, tl_type *layout, int ndim, const int64_t *shape,
                     tl_slot *out);
// Zeros of a type below fixed dimensions, [ndim] of a shape and its own:
// numbers, strings, structs of any fields, ?T (all missing), categories (the
// first), rows (without items). Fails (kind type) for others.
bool tl_zeros_of_type(tl_vm *vm, const char *function, tl_type *type, int ndim,
                      const int64_t *shape, tl_slot *out);

// A copy of all that the array shows, and of no more.
// Rows that a slice leaves out, and columns that a selection does, are not in
// it. Borrows; *out is owned.
bool tl_nested_copy(tl_vm *vm, tl_slot s, tl_slot *out);

// The type of an array or nested array without its first [skip] dimensions.
tl_type *tl_type_below(tl_vm *vm, tl_slot s, int skip);
// The type of columns whose names are in the model's fields, which get theirs.
// [skip] is how many leading dimensions of each column it lacks. Interned, so
// that it is the VM's; NULL after tl_fail.
tl_type *tl_type_columns(tl_vm *vm, const tl_type *model,
                         const tl_slot *columns, int skip);

// --- Fields -----------------------------------------------------------------

// Memory that is laid out as [type] says, for each item of a block of bytes:
// a plain view for a dtype, a nested one for a struct. Fixed dimensions of the
// type become axes. Items that are not aligned for their dtype are copied out.
// Where no axis is left the value itself: a number, or a record. *out is owned,
// but a plain view borrows the block.
//
//   5 items {x: int8, p: 3 * float32}, p     5 * 3 * float32, strides 16 4
bool tl_struct_show(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot *out);
// Writes a value over all items of such memory: numbers and arrays broadcast,
// records and struct arrays go field by field. Checked before the first write.
bool tl_struct_fill(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot value);

// Field i as a view (of a block), or as it is stored; *out as tl_index_get's.
bool tl_nested_field(tl_vm *vm, tl_slot *base, int64_t i, tl_slot *out);
// Fails (kind name) where the field's name is also that of an attribute.
// True for a name that is not both, whether or not it is a field.
bool tl_field_is_clear(tl_vm *vm, const tl_nested *n, const tl_string *name);
// p.{x, y}: a struct array of those fields, over the same memory.
// Fails (kind name) for a field that there is not, naming one that is near.
bool tl_nested_select(tl_vm *vm, tl_slot base, uint32_t count,
                      tl_string *const *names, tl_slot *out);

// A struct array of columns, whose leading axes agree: one block where every
// field is of fixed size. Borrows; *out is owned.
bool tl_struct_of_columns(tl_vm *vm, int64_t count, tl_string *const *names,
                          const tl_slot *columns, tl_slot *out);
// The same with the fields' names, and the kind, of a layout; with the keys of
// a record.
bool tl_struct_like(tl_vm *vm, const tl_type *layout, const tl_slot *columns,
                    tl_slot *out);
// The caller has checked that the keys are strings (tl_record_check_names).
bool tl_struct_of_record(tl_vm *vm, const tl_record *fields,
                         const tl_slot *columns, tl_slot *out);
// What a script gives as a column: an array as it is, borrowed, of a range or a
// list an array of its items. Where it is none of these, *is_column is false.
bool tl_column_of(tl_vm *vm, tl_slot s, bool *is_column, tl_slot *out);
// The same without names: an array of tuples.
bool tl_tuples_of_columns(tl_vm *vm, int64_t count, const tl_slot *columns,
                          tl_slot *out);
// One item with those fields: a record, or of a tuple a list. Takes what the
// values own where it succeeds; *out is owned.
bool tl_struct_item(tl_vm *vm, const tl_type *type, tl_slot *values,
                    tl_slot *out);
// Structs or tuples of that type (with one fixed dimension before it or none)
// of a list of records or lists, or of other structs.
// Fails as an assignment would: (kind type) for other fields or kinds, (kind
// value) for numbers that do not fit, (kind shape) for another count; the
// message names item and field. Borrows; *out is owned.
bool tl_struct_convert(tl_vm *vm, tl_type *type, tl_slot value, tl_slot *out);

// --- Indexing ---------------------------------------------------------------

// Where items are there, bools of the array's shape, owned.
bool tl_option_there(tl_vm *vm, const tl_nested *n, tl_slot *out);
// The values that are there, along one axis, owned.
bool tl_option_present(tl_vm *vm, const tl_nested *n, tl_slot *out);

// Values that may be missing where [mask] is true; takes both on every path.
// The mask broadcasts to the values' shape.
bool tl_option_of(tl_vm *vm, tl_slot *mask, tl_slot *values, tl_slot *out);
// What a mask that may have missing values chooses: missing counts as false.
// *out is an owned array of bools.
bool tl_option_known(tl_vm *vm, const tl_nested *mask, tl_slot *out);
// base[mask] by such a mask.
bool tl_option_mask_get(tl_vm *vm, tl_slot base, const tl_nested *mask,
                        tl_slot *out);
// base[i], i within the length of the leading axis.
bool tl_nested_at(tl_vm *vm, tl_slot base, int64_t i, tl_slot *out);
// Any value of axes at places[0 .. n) of its leading axis, gathered.
bool tl_value_take(tl_vm *vm, tl_slot s, tl_array *places, tl_slot *out);
// s[parts], as tl_index_get, but nothing is consumed. *out is owned, or borrows
// from s.
bool tl_value_index(tl_vm *vm, tl_slot s, const tl_step *step, tl_slot *parts,
                    tl_slot *out);
// The same by an index of one value, of any kind.
// Fails (kind shape, index, type) as the index does.
bool tl_value_choose(tl_vm *vm, tl_slot s, tl_slot index, tl_slot *out);
// The items [start, stop) of the leading axis, as a view.
bool tl_value_slice(tl_vm *vm, tl_slot s, int64_t start, int64_t stop,
                    tl_slot *out);
