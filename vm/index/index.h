// Indexing: reading, views, assignment, and updates through nested places.
#ifndef TALLY_VM_INDEX_H
#define TALLY_VM_INDEX_H

#include "vm/array/array.h"

// One item between the brackets, as the compiler saw it. Its values follow in
// the parts, in order: one for an expression, one for each given slice part.
typedef enum tl_item_kind {
  TL_ITEM_VALUE,     // i, a mask, an index array, none, a range, a key
  TL_ITEM_SLICE,     // start:stop:step, each part may be missing
  TL_ITEM_ELLIPSIS,  // ...
} tl_item_kind;

enum { TL_SLICE_START = 1, TL_SLICE_STOP = 2, TL_SLICE_STEP = 4 };

typedef struct tl_index_item {
  uint8_t kind;   // tl_item_kind
  uint8_t given;  // of a slice: which parts are there; of an expression:
                  // whether it is known to be an array
} tl_index_item;

typedef struct tl_step {
  tl_string *field;  // .field, or NULL: an index
  uint16_t item_count;
  const tl_index_item *items;  // of an index
} tl_step;

// A place below a variable: r.a[3].b. A plain index is a path of one step.
typedef struct tl_path {
  uint16_t step_count;
  uint16_t part_count;  // values that the indices take, over all steps
  const tl_step *steps;
  bool is_column;  // read many times: better side by side
} tl_path;

// base[…]: a view of an array for slices and integers (borrowing the block if
// base does not own, see tl_view_new), a copy for masks and index arrays, a
// typed scalar where every axis is indexed, an item of a list (borrowed while
// the list lives if base does not own: *out has no OWNED bit then), a field of
// a record, characters of a string. base that owns is consumed when it helps;
// otherwise its slot still owns and the caller drops it. Ranges as indices are
// slices, whose ends clip; lists take index arrays and masks of one axis too.
bool tl_index_get(tl_vm *vm, tl_slot *base, const tl_step *step, tl_slot *parts,
                  tl_slot *out);

// Whether the first step takes several items for certain, and how: the result
// may stand to x in the tl_relation of that number and in further ones.
typedef enum tl_portion {
  TL_PORTION_ANY,
  TL_PORTION_ALL,     // x[:], which may be x itself, if that is a string
  TL_PORTION_SLICE,   // a view, or a list or string: new
  TL_PORTION_CHOICE,  // an index array's: new, and no view
} tl_portion;
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
// base[…] where it does: *out owns, unless it is all of a string. A list of
// what base goes on having borrows its items (TL_LENT).
bool tl_index_take(tl_vm *vm, tl_slot *base, const tl_step *step,
                   tl_slot *parts, tl_slot *out);

// .name on any value: record key, array attribute (shape ndim size dtype
// nbytes T mT real imag), module member, handle attribute. *out as above.
bool tl_field_get(tl_vm *vm, tl_slot *base, tl_string *name, tl_slot *out);

// target.path = value. Consumes target (in place if unique, on a copy from the
// first shared node down else) and value if they own; *out is the new target,
// owned. Everything is checked before the first write: on failure target and
// value are as they were and still owned by their slots.
bool tl_path_set(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *value, tl_slot *out);

// Takes the item at target.path out, if target owns and nobody else has it or
// what lies on the way: *out owns it, and its place is unset until an update of
// the path, which cannot fail, or tl_path_give_back. Of any other target or
// item this is tl_path_get: *out is borrowed or owned as tl_index_get says.
bool tl_path_take(tl_vm *vm, tl_slot target, const tl_path *path,
                  tl_slot *parts, tl_slot *out);

// Puts the item back if its place is unset, which empties *item.
void tl_path_give_back(tl_vm *vm, tl_slot target, const tl_path *path,
                       const tl_slot *parts, tl_slot *item);

// The value at target.path, borrowed or owned as tl_index_get says.
bool tl_path_get(tl_vm *vm, tl_slot *target, const tl_path *path,
                 tl_slot *parts, tl_slot *out);

#endif
