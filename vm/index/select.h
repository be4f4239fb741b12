// Inside indexing: what an index of an array selects, worked out once for
// reading and for writing.
#ifndef TALLY_VM_SELECT_H
#define TALLY_VM_SELECT_H

#include "vm/index/index.h"

// What the index arrays and masks of an index come to: one row of positions.
// Item i of the selection lies at [position i] * stride from the data.
typedef struct tl_positions {
  int64_t *index;  // dense; negative ones count from the end, see length
  int64_t length;  // of the axis, to be checked and wrapped; -1: they are
                   // settled, all within
  int64_t stride;  // bytes
  int64_t reach;   // bytes that they may jump; 0: they rise
  int axis;        // for messages
} tl_positions;

// The basic part (integers, slices, new axes) as a view's geometry. Where the
// index has arrays or masks (is_fancy), their dimensions are apart: they stand
// before dimension [fancy_at] of the others.
typedef struct tl_selection {
  char *data;
  int ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  bool is_fancy;
  int fancy_at;
  int fancy_ndim;
  int64_t fancy_shape[TL_MAX_DIMS];
  int64_t fancy_size;
  tl_positions positions;
  tl_slot keep;  // owns what positions.index points into, or none
} tl_selection;

// The values that an item of an index, and a step, take from the parts.
static inline int tl_item_parts(tl_index_item item) {
  return item.kind == TL_ITEM_VALUE   ? 1
         : item.kind == TL_ITEM_SLICE ? __builtin_popcount(item.given)
                                      : 0;
}
int tl_step_parts(const tl_step *step);

// Works out base[…]; false after tl_fail. tl_selection_close when it is true.
bool tl_select(tl_vm *vm, const tl_array *base, const tl_step *step,
               const tl_slot *parts, tl_selection *out);
void tl_selection_close(tl_vm *vm, tl_selection *selection);

// The shape of the whole selection; false (kind shape): too many dimensions.
bool tl_selection_shape(tl_vm *vm, const tl_selection *selection, int *ndim,
                        int64_t *shape);

// An integer as an index or a slice's part: false if it is no integer scalar.
// uint64 beyond int64 saturates.
bool tl_index_integer(tl_slot s, int64_t *out);
bool tl_fail_range(tl_vm *vm, int64_t index, int axis, int64_t length);

// A slice of [length] items: what start, stop and step come to.
typedef struct tl_slice {
  int64_t start, step, length;
} tl_slice;
// [item] is a slice; parts are moved past its own.
bool tl_slice_resolve(tl_vm *vm, tl_index_item item, const tl_slot **parts,
                      int64_t length, tl_slice *out);
// A range value used as an index.
tl_slice tl_slice_of_range(const tl_range *range, int64_t length);

// --- Places: index.c --------------------------------------------------------

// The item where every axis has an integer within its range; else false.
bool tl_index_item_at(const tl_array *a, const tl_step *step,
                      const tl_slot *parts, char **item);
// The items of a list that an index to be written names: one, or a slice.
bool tl_list_place(tl_vm *vm, const tl_list *list, const tl_step *step,
                   const tl_slot *parts, bool *is_item, tl_slice *out);
// The key that a step names; fails (kind type) where it is no string.
bool tl_record_key(tl_vm *vm, const tl_step *step, const tl_slot *parts,
                   tl_string **key);
// A field's value as tl_index_get gives it; fails (kind index).
bool tl_record_value(tl_vm *vm, tl_slot *base, tl_string *key, tl_slot *out);

// --- Positions: index_fancy.c ------------------------------------------------

// Index arrays and masks, in order, with the axes that they stand for.
typedef struct tl_fancy {
  const tl_array *array;
  int axis;  // the first of its axes
} tl_fancy;
// Fills in the fancy part of the selection but for fancy_at.
bool tl_positions_make(tl_vm *vm, const tl_array *base, int count,
                       const tl_fancy *fancy, tl_selection *out);

// The selected items as a new array; NULL after tl_fail.
tl_array *tl_gather_items(tl_vm *vm, tl_selection *selection, tl_dtype dtype);
// Checks all positions, so that scattering cannot fail.
bool tl_positions_check(tl_vm *vm, const tl_selection *selection);
// Writes value's items (equal dtype) over the selected ones, whose positions
// have been checked. [value] is dense and has the selection's shape, or is one
// item for all.
void tl_scatter_items(tl_vm *vm, const tl_selection *selection,
                      tl_array *value);

// x[mask] where mask covers x and both are dense.
tl_array *tl_compress_items(tl_vm *vm, const tl_array *a, const tl_array *mask);
// x[mask] = value likewise; value has as many items as are selected, or one.
void tl_expand_items(tl_array *a, const tl_array *mask, const tl_array *value);
int64_t tl_count_true(const tl_array *dense_mask);

// The mask of an index that is one mask over all of [base], both dense and no
// strings; else NULL.
const tl_array *tl_whole_mask(const tl_array *base, const tl_step *step,
                              const tl_slot *parts);

// --- In the array's own memory: index_down.c ---------------------------------

// The same where *base is dying and may give its memory, its items' order being
// kept. False: it may not, or after tl_fail; then nothing has changed.
bool tl_compress_in_place(tl_vm *vm, tl_slot *base, const tl_array *mask,
                          tl_slot *out);
bool tl_gather_in_place(tl_vm *vm, tl_slot *base, const tl_selection *s,
                        tl_slot *out);

// --- Writing: index_set.c ----------------------------------------------------

// target[…] = value for an array whose items may be written: unique, or a view
// of such. All checks come before the first write; value is borrowed.
bool tl_array_store(tl_vm *vm, tl_array *target, const tl_step *step,
                    const tl_slot *parts, tl_slot value);
// The same where target itself is the place, as x.real = v.
bool tl_array_store_all(tl_vm *vm, tl_array *target, tl_slot value);

// --- Fields: field.c ---------------------------------------------------------

// The array that a borrowed array's attribute shows, to be written through;
// fails (kind type) where the attribute cannot be set or does not exist.
bool tl_attribute_place(tl_vm *vm, tl_slot *base, const tl_string *name,
                        tl_slot *out);
// Fails: the value has no such field; a near one is proposed.
bool tl_fail_no_field(tl_vm *vm, tl_slot base, const tl_string *name);

#endif
