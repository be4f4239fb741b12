// Arrays whose items are more than a number or a string: structs, values that
// may be missing, rows of different lengths.
//
// Such an array is a small tree over plain arrays, which stay what they are,
// with their engine, their views and their counts:
//
//   STRUCT   parts[0]  the block: uint8, with a last axis of an item's bytes;
//                      layout says where the fields begin
//   COLUMNS  parts[i]  field i by itself, for structs that are no plain bytes:
//                      a field is a string, may be missing or is ragged
//   OPTION   parts[0]  bool: true where the item is missing
//            parts[1]  the values; anything where one is missing
//   RAGGED   parts[0]  int64 offsets, one more than there are rows
//            parts[1]  the rows' items, one row behind the other: row i is
//                      [offsets[i], offsets[i + 1])
//
//   GRID     parts[0]  int64, two axes or more: the number of each row in
//            parts[1]  a ragged array (grid.h)
//   CATEGORY parts[0]  int32: the place of each value in
//            parts[1]  the categories, one axis (category.h)
//   POINTER  parts[0]  int64: the place of each value in
//            parts[1]  the target, any value of axes (pointer.h)
//   BYTES    parts[0]  the bytes as if they were text: a string (then there is
//                      no axis), or any array of strings (octets.h)
//
// ndim counts the fixed leading dimensions: the axes that all parts share.
// RAGGED has one, its rows.
#ifndef TALLY_VM_NESTED_H
#define TALLY_VM_NESTED_H

#include "vm/array/array.h"
#include "vm/index/index.h"
#include "vm/values/string.h"
#include "vm/types/type.h"

typedef enum tl_form {
  TL_FORM_STRUCT,
  TL_FORM_COLUMNS,
  TL_FORM_OPTION,
  TL_FORM_RAGGED,
  TL_FORM_CATEGORY,
  TL_FORM_GRID,
  TL_FORM_POINTER,
  TL_FORM_BYTES,
} tl_form;

struct tl_nested {
  tl_object head;   // head.dtype: the form, head.ndim
  tl_type *layout;  // STRUCT: with offsets; COLUMNS: the fields' names
  int64_t count;    // of parts
  tl_slot parts[];  // heap slots: arrays, or nested again
};

static inline tl_form tl_nested_form(const tl_nested *n) {
  return (tl_form)n->head.dtype;
}
static inline bool tl_is_form(tl_slot s, tl_form form) {
  return tl_is_nested(s) && tl_nested_form(s.nested) == form;
}
// Whether its items are places in another part, which stays whole: what does
// not know the form gets the values (tl_spell_out).
static inline bool tl_is_spelled(tl_slot s) {
  return tl_is_form(s, TL_FORM_CATEGORY) || tl_is_form(s, TL_FORM_POINTER);
}
static inline tl_slot tl_own_nested(tl_nested *n) {
  return (tl_slot){.tag = TL_TAG_NESTED | TL_OWNED, .nested = n};
}
static inline int tl_nested_ndim(const tl_nested *n) {
  return n->head.ndim;
}

// --- Making -----------------------------------------------------------------

// A nested array without its parts, which tl_nested_put fills in order.
tl_nested *tl_nested_new(tl_vm *vm, tl_form form, int ndim, int64_t count,
                         tl_type *layout);
// Takes what [part] owns, or retains it; views come to hold their block.
void tl_nested_put(tl_vm *vm, tl_nested *n, int64_t i, tl_slot *part);
// The same as one step: takes both parts on every path; *out is owned.
bool tl_nested_pair(tl_vm *vm, tl_form form, int ndim, tl_slot *first,
                    tl_slot *second, tl_slot *out);

// An array of structs with all bytes 0.
bool tl_struct_zeros(tl_vm *vm, tl_type *layout, int ndim, const int64_t *shape,
                     tl_slot *out);
// Zeros of a type below fixed dimensions, [ndim] of a shape and its own:
// numbers, strings, structs of any fields, ?T (all missing), categories (the
// first), rows (without items). Fails (kind type) for others.
bool tl_zeros_of_type(tl_vm *vm, const char *function, tl_type *type, int ndim,
                      const int64_t *shape, tl_slot *out);

// A copy of all that the array shows, and of no more.
bool tl_nested_copy(tl_vm *vm, tl_slot s, tl_slot *out);

// --- Asking -----------------------------------------------------------------

// The fixed leading dimensions of an array or nested array; 0 for others.
int tl_value_ndim(tl_slot s);
// The length of one of them.
int64_t tl_value_length(tl_slot s, int axis);
// All axes: those, and the dimensions of the rows below them.
int tl_value_axes(tl_slot s);
// Items: the product of the fixed leading dimensions.
int64_t tl_nested_size(const tl_nested *n);
// The bytes of all that a value shows (not of what it holds).
int64_t tl_value_nbytes(tl_slot s);
// The bytes of the items that a value shows, rows that it leaves out not
// counted, and those of the blocks that it keeps for them.
int64_t tl_value_shown(tl_slot s);
int64_t tl_value_held(tl_slot s);
// Whether nothing but this value, which is nested, keeps those blocks.
bool tl_nested_keeps_alone(const tl_nested *n);
// The type of an array or nested array without its first [skip] dimensions.
tl_type *tl_type_below(tl_vm *vm, tl_slot s, int skip);
// As tl_describe: into a buffer, cut where it is full.
void tl_nested_describe(const tl_nested *n, char *buffer, size_t size);
// What makes a plain array of such a value, for the end of an error's message;
// "" where it is plain or nothing does.
const char *tl_plain_hint(tl_slot s);
// The position of a field; -1: none, or no struct.
int64_t tl_nested_find(const tl_nested *n, const tl_string *name);
// Row i of a ragged array.
void tl_ragged_row(const tl_nested *n, int64_t i, int64_t *start,
                   int64_t *stop);

// --- Fields -----------------------------------------------------------------

// Memory that is laid out as [type] says, for each item of a block of bytes:
// a plain view for a dtype, a nested one for a struct. Fixed dimensions of the
// type become axes. Items that are not aligned for their dtype are copied out.
// Where no axis is left the value itself: a number, or a record. *out is owned,
// but a plain view borrows the block.
bool tl_struct_show(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot *out);
// Writes a value over all items of such memory: numbers and arrays broadcast,
// records and struct arrays go field by field. Checked before the first write.
bool tl_struct_fill(tl_vm *vm, tl_slot bytes, int64_t offset,
                    const tl_type *type, tl_slot value);

// Field i as a view (of a block), or as it is stored; *out as tl_index_get's.
bool tl_nested_field(tl_vm *vm, tl_slot *base, int64_t i, tl_slot *out);
// .name on a nested array: an attribute, else a field.
bool tl_nested_attribute(tl_vm *vm, tl_slot *base, tl_string *name,
                         tl_slot *out);
// p.{x, y}: a struct array of those fields, over the same memory.
bool tl_nested_select(tl_vm *vm, tl_slot base, uint32_t count,
                      tl_string *const *names, tl_slot *out);

// A struct array of columns, whose leading axes agree: one block where every
// field is of fixed size. Borrows; *out is owned.
bool tl_struct_of_columns(tl_vm *vm, int64_t count, tl_string *const *names,
                          const tl_slot *columns, tl_slot *out);
// The same without names: an array of tuples.
bool tl_tuples_of_columns(tl_vm *vm, int64_t count, const tl_slot *columns,
                          tl_slot *out);
// One item with those fields: a record, or of a tuple a list. Takes what the
// values own where it succeeds; *out is owned.
bool tl_struct_item(tl_vm *vm, const tl_type *type, tl_slot *values,
                    tl_slot *out);
// Structs or tuples of that type (with one fixed dimension before it or none)
// of a list of records or lists, or of other structs.
bool tl_struct_convert(tl_vm *vm, tl_type *type, tl_slot value, tl_slot *out);

// --- Indexing ---------------------------------------------------------------

bool tl_nested_get(tl_vm *vm, tl_slot *base, const tl_step *step,
                   tl_slot *parts, tl_slot *out);
// base[mask] where the mask may have missing values, of a plain array or one
// with missing values: what it leaves open is missing, as in R. base[i, j] = …
// has no such form.
bool tl_option_mask_get(tl_vm *vm, tl_slot base, const tl_nested *mask,
                        tl_slot *out);
// [picked], plain items or ones that may be missing, with those missing as well
// whose flag along the leading axis is set. Takes it on every path.
bool tl_option_add(tl_vm *vm, tl_slot *picked, tl_slot flags, tl_slot *out);
static inline bool tl_is_option_mask(const tl_step *step,
                                     const tl_slot *parts) {
  return step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
         tl_is_form(parts[0], TL_FORM_OPTION) &&
         tl_is_array(parts[0].nested->parts[1]) &&
         tl_dtype_of(parts[0].nested->parts[1]) == TL_BOOL;
}
// base[i], i within the length of the leading axis.
bool tl_nested_at(tl_vm *vm, tl_slot base, int64_t i, tl_slot *out);
// Any value of axes at places[0 .. n) of its leading axis, gathered.
bool tl_value_take(tl_vm *vm, tl_slot s, tl_array *places, tl_slot *out);
// The items [start, stop) of the leading axis, as a view.
bool tl_value_slice(tl_vm *vm, tl_slot s, int64_t start, int64_t stop,
                    tl_slot *out);

// --- Showing ----------------------------------------------------------------

bool tl_nested_format(tl_text *text, tl_slot s, int64_t limit);
bool tl_nested_display(tl_text *text, tl_slot s, int width);
// The tree, a line for each part of it, indented by [depth].
void tl_nested_tree(tl_text *text, const tl_nested *n, int depth);

#endif
