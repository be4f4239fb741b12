// Indexing: reading, views, assignment, and updates through nested places.
//
// What stands behind a variable is a path of steps, as the compiler saw it; its
// values (the parts) are slots that the instruction takes along:
//
//     r.rows[i, 1:].name = v        path
//       step .rows                    field
//       step [i, 1:]                  items: VALUE, SLICE (start given)
//       step .name                    field          parts: i, 1
//
// Reading, one step at a time (tl_index_get), by what the base is:
//
//     array    integers ─ a typed scalar         slices ─ a view, no copy
//              masks, index arrays ─ a copy      select.h works all of it out
//     list     item, slice, choice               record   value of a key
//     string   characters                        range    number, or a range
//     others   through tables: nested arrays, the host's values
//
// Writing (tl_path_set) goes down the path without writing. A container with
// one owner is changed in place once what lies below it has succeeded, any
// other is copied from there on: a failure leaves everything as it was.
//
// For `r.x[i] += 1` the item is taken out first (tl_path_take), so that it has
// one owner and can be computed with in place, and stored back by tl_path_set;
// if the operation fails tl_path_give_back puts it back.
#pragma once

#include "vm/array/array.h"
#include "vm/array/nested.h"

// One item between the brackets, as the compiler saw it. Its values follow in
// the parts, in order: one for an expression, one for each given part of a
// slice.
typedef enum tl_item_kind {
  TL_ITEM_VALUE,     // i, a mask, an index array, none, a range, a key
  TL_ITEM_SLICE,     // start:stop:step, each part may be missing
  TL_ITEM_ELLIPSIS,  // ...
  TL_ITEM_SPREAD,    // ...x: as many values as x has items (spread.c)
} tl_item_kind;

// Which parts of a slice start:stop:step are written.
enum { TL_SLICE_START = 1, TL_SLICE_STOP = 2, TL_SLICE_STEP = 4 };

// An item of an index without its values.
typedef struct tl_index_item {
  uint8_t kind;   // tl_item_kind
  uint8_t given;  // of a slice: which parts are there; of an expression:
                  // whether it is known to be an array
} tl_index_item;

// One step of a path: .field or [items].
typedef struct tl_step {
  tl_string *field;  // .field, or NULL: an index
  uint16_t item_count;
  uint16_t hint;               // where the field was found the last time
  const tl_index_item *items;  // of an index
} tl_step;

// The step of one value, [x].
extern const tl_step tl_index_one;

// Where a step remembers the position of its field: a hint, which is tested
// before it is believed, so that any value is right.
static inline uint16_t *tl_step_hint(const tl_step *step) {
  return (uint16_t *)&step->hint;
}

// A place below a variable: r.a[3].b. A plain index is a path of one step.
typedef struct tl_path {
  uint16_t step_count;
  uint16_t part_count;  // values that the indices take, over all steps
  const tl_step *steps;
  bool spreads;  // has a TL_ITEM_SPREAD: to be opened by tl_path_open
  bool lends;    // the statement that takes the item out puts it back
} tl_path;

// A path in which spread values are written out, each item as a value of its
// own, and its parts, which all borrow from those that it was made of.
typedef struct tl_open_path {
  tl_path path;
  tl_slot *parts;
  size_t nbytes;  // of the memory, which begins with the parts
} tl_open_path;
// Writes out the spread values of a path. Fails (kind type, index) where a
// value cannot be spread, or has too many items. tl_path_close ends it once it
// has returned true.
bool tl_path_open(tl_vm *vm, const tl_path *path, const tl_slot *parts,
                  tl_open_path *out);
// Drops the parts of an opened path and frees its memory.
void tl_path_close(tl_vm *vm, tl_open_path *spread);

// Computes base[step] into *out, for a step with the values [parts]:
//   a view of an array for slices and integers (borrowing the block if base
//   does not own, see tl_view_new), a copy for masks and index arrays
//   a typed scalar where every axis is indexed
//   an item of a list or a field of a record, borrowed while the container
//   lives if base does not own (*out has no OWNED bit then)
//   characters of a string
// A base that owns is consumed where that helps; otherwise its slot still owns
// and the caller drops it. Ranges as indices are slices, whose ends clip; lists
// take index arrays and masks of one axis too. A number is indexed as an array
// without axes: by (), ..., none and bools. False after tl_fail.
bool tl_index_get(tl_vm *vm, tl_slot *base, const tl_step *step, tl_slot *parts,
                  tl_slot *out);

// base[step], where base is of a host's type; with a value, what base is after
// base[step] = value: itself or a changed copy, written where [alone] says that
// nobody else has it. Borrows all; *out is owned. False after tl_fail.
bool tl_index_host(tl_vm *vm, tl_slot base, bool alone, const tl_step *step,
                   const tl_slot *parts, const tl_slot *value, tl_slot *out);

// Whether a step takes one item of an array: it has a number for each axis.
// Whether they lie within the axes is not looked at.
bool tl_index_is_item(const tl_array *a, const tl_step *step,
                      const tl_slot *parts);

// Whether the first step takes several items for certain, and how. The number
// says which relations (tl_relation) the result may have to x: that one and
// further ones.
typedef enum tl_portion {
  TL_PORTION_ANY,
  TL_PORTION_ALL,     // x[:], which may be x itself, if that is a string
  TL_PORTION_SLICE,   // a view, or a list or string: new
  TL_PORTION_CHOICE,  // an index array's: new, and no view
} tl_portion;
// Which of them the path's first step is.
static inline tl_portion tl_path_portion(const tl_path *path) {
  const tl_step *step = path->steps;
  if (path->step_count == 0 || step->field != NULL || step->item_count != 1)
    return TL_PORTION_ANY;
  bool given = step->items[0].given != 0;
  switch (step->items[0].kind) {
    case TL_ITEM_VALUE:
      return given ? TL_PORTION_CHOICE : TL_PORTION_ANY;
    case TL_ITEM_SLICE:
      return given ? TL_PORTION_SLICE : TL_PORTION_ALL;
    default:
      return TL_PORTION_ANY;
  }
}
// As tl_index_get, for such a step: *out owns, unless it is all of a string. A
// list of items that base goes on having borrows them (TL_BORROWED).
bool tl_index_take(tl_vm *vm, tl_slot *base, const tl_step *step,
                   tl_slot *parts, tl_slot *out);

// Whether base[step] is a part of a string by int64 alone: an index within it,
// or a slice without a step that is not all of it. Then bytes [begin, end) are
// the part. True also after tl_fail, where counting the characters was
// interrupted. False, with nothing failed: the general way.
bool tl_index_part(tl_vm *vm, tl_slot base, const tl_step *step,
                   const tl_slot *parts, size_t *begin, size_t *end);

// Whether a value is a mask of bools that may be missing, as the comparison of
// a column with missing values gives; whether a step is one such mask.
static inline bool tl_is_open_mask(tl_slot s) {
  return tl_is_form(s, TL_FORM_OPTION) && tl_is_array(s.nested->parts[1]) &&
         tl_dtype_of(s.nested->parts[1]) == TL_BOOL;
}
static inline bool tl_is_option_mask(const tl_step *step,
                                     const tl_slot *parts) {
  return step->item_count == 1 && step->items[0].kind == TL_ITEM_VALUE &&
         tl_is_open_mask(parts[0]);
}

// target.path = value. Consumes target (in place if it has one owner, else on a
// copy from the first shared container down) and value if they own; *out is the
// new target, owned. Everything is checked before the first write: on failure
// target and value are as they were, still owned by their slots.
bool tl_path_set(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *value, tl_slot *out);

// Takes the item at target.path out, if target owns and no other owner has it
// or a container on the way: *out owns the item, and its place is unset until
// an update of the path, which cannot fail, or tl_path_give_back. For any other
// target or item this is tl_path_get: *out is borrowed or owned as tl_index_get
// says.
bool tl_path_take(tl_vm *vm, tl_slot target, const tl_path *path,
                  tl_slot *parts, tl_slot *out);

// Puts the item back if its place is unset; *item owns nothing then.
void tl_path_give_back(tl_vm *vm, tl_slot target, const tl_path *path,
                       const tl_slot *parts, tl_slot *item);

// The value at target.path, borrowed or owned as tl_index_get says.
bool tl_path_get(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *out);
