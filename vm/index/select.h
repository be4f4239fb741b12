// Inside indexing: what an index of an array selects, worked out once for
// reading and for writing (numpy's basic and advanced indexing).
//
//     x[i, a:b, none, idx]       x: 4 axes
//       basic part    data + i * stride; shape, strides of a:b and the new axis
//       fancy part    idx: positions, times the stride of its axis
//       fancy_at      before which of the basic dimensions those of idx stand
//
// Order of calls: tl_select, then either a view of the basic part, or
// tl_gather_items / tl_positions_check and tl_scatter_items;
// tl_selection_close.
#pragma once

#include "vm/index/index.h"
#include "vm/vm.h"

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

// The basic part (integers, slices, new axes) as a view's geometry. If the
// index has arrays or masks (is_fancy), their dimensions are held separately:
// they stand before dimension [fancy_at] of the others.
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

// The number of values that an item of an index takes from the parts: a slice
// one for each bit of what is given, counted here since processors without an
// instruction for it would call a function.
static inline int tl_item_parts(tl_index_item item) {
  return item.kind == TL_ITEM_VALUE || item.kind == TL_ITEM_SPREAD ? 1
         : item.kind == TL_ITEM_SLICE
             ? (item.given & 1) + (item.given >> 1 & 1) + (item.given >> 2 & 1)
             : 0;
}
// How many axes an item takes up, whose value is *part: as many as a mask has,
// none for a new axis, else one.
int tl_item_axes(tl_index_item item, const tl_slot *part);
// The values of all items of a step.
int tl_step_parts(const tl_step *step);

// Works out an index of int64 within their axes, and slices of step 1 with such
// bounds: a place, of which no more is set than data, ndim, shape, strides and
// is_fancy. False, with nothing failed, where anything else stands there.
bool tl_select_plain(const tl_array *base, const tl_step *step,
                     const tl_slot *parts, tl_selection *out);

// Works out base[step]; false after tl_fail. tl_selection_close ends it when it
// is true.
//
//   base of no axes   takes (), ..., none and bools: it stands for a number
//   true, false       a mask of no axes: one place or none, as a new axis
//   () alone          leaves every axis whole
bool tl_select(tl_vm *vm, const tl_array *base, const tl_step *step,
               const tl_slot *parts, tl_selection *out);
// Gives up what the positions lie in.
void tl_selection_close(tl_vm *vm, tl_selection *selection);

// The shape of the whole selection; false after tl_fail (kind shape): too many
// dimensions.
bool tl_selection_shape(tl_vm *vm, const tl_selection *selection, int *ndim,
                        int64_t *shape);

// An integer as an index or a slice's part: false if it is no integer scalar.
// uint64 beyond int64 saturates.
bool tl_index_integer(tl_slot s, int64_t *out);
// Fails (kind index) as tl_fail_range does, of an integer scalar.
bool tl_fail_index(tl_vm *vm, tl_slot s, int axis, int64_t length);

// A slice of an axis: where it starts, its step, and how many items that gives.
typedef struct tl_slice {
  int64_t start, step, length;
} tl_slice;
// Works out a slice of an axis of [length] items; *parts is moved past its
// values. False after tl_fail.
bool tl_slice_resolve(tl_vm *vm, tl_index_item item, const tl_slot **parts,
                      int64_t length, tl_slice *out);
// The slice that a range value stands for as an index.
tl_slice tl_slice_of_range(const tl_range *range, int64_t length);

// --- Places: index.c --------------------------------------------------------

// Sets *item to the item's address where every axis has an integer within its
// range; else false, without an error.
bool tl_index_item_at(const tl_array *a, const tl_step *step,
                      const tl_slot *parts, char **item);
// What the array of tl_number_box holds, weak if [number] was: an index or an
// update leaves the dtype, and a literal a literal. Returns owned; unset after
// tl_fail.
tl_slot tl_number_unbox(tl_vm *vm, const tl_array *box, tl_slot number);
// The items of a list that an index to be written names: one, or a slice.
bool tl_list_place(tl_vm *vm, const tl_list *list, const tl_step *step,
                   const tl_slot *parts, bool *is_item, tl_slice *out);
// Whether [s] may be a key of a record; else fails (kind type, or limit where a
// list nests too deeply or has too many items).
bool tl_key_check(tl_vm *vm, tl_slot s);
// The key that a step names, borrowed; fails (kind type) where it may be none.
bool tl_record_key(tl_vm *vm, const tl_step *step, const tl_slot *parts,
                   tl_slot *key);
// The value at a key, as tl_index_get gives it; fails (kind index) if it is not
// there.
bool tl_record_value(tl_vm *vm, tl_slot *base, tl_slot key, tl_slot *out);

// --- Places that need no copy: place.c ---------------------------------------

// The steps of a path at most: path.c takes some of the C stack for each.
enum { TL_PATH_STEPS = 1000 };
// Whether a path has few enough steps; else fails (kind limit).
bool tl_path_check_length(tl_vm *vm, const tl_path *path);

// The slot of target.path, where that is a scalar in a list or a record, and
// each list and record on the way has one owner and counts all its items: then
// another scalar may be put into it. NULL: anything else.
tl_slot *tl_place_scalar(tl_slot *target, const tl_path *path,
                         const tl_slot *parts);

// Whether the target's object may be changed in place.
static inline bool tl_may_write(tl_vm *vm, tl_slot target) {
  return tl_may_change(vm, target) && !vm->no_reuse;
}

// target.path = value, where every container on the way has one owner and the
// place is an item, a field that is there or a key, and the value needs no
// count: it moves in, or *value owned nothing. A new key moves in, too. The
// target's slot must be its last use. False: nothing has changed, and
// tl_path_set goes on in the general way, unless there was no memory for a key.
bool tl_place_store(tl_vm *vm, tl_slot *target, const tl_path *path,
                    tl_slot *parts, tl_slot *value);

// --- Positions: index_fancy.c ------------------------------------------------

// One index array or mask of an index, and the axes that it stands for.
typedef struct tl_fancy {
  const tl_array *array;  // NULL: a bool alone, a mask of no axes
  int axis;               // the first of its axes
  bool is_true;           // of a bool alone
} tl_fancy;
// Fills in the fancy part of the selection but for fancy_at, from [count]
// arrays in order. False after tl_fail.
bool tl_positions_make(tl_vm *vm, const tl_array *base, int count,
                       const tl_fancy *fancy, tl_selection *out);

// The selected items as a new array, owned; NULL after tl_fail.
tl_array *tl_gather_items(tl_vm *vm, tl_selection *selection, tl_dtype dtype);
// Checks all positions, so that scattering fails only where it is stopped.
bool tl_positions_check(tl_vm *vm, const tl_selection *selection);
// Writes value's items (of equal dtype) over the selected ones, whose positions
// have been checked. [value] is dense and has the selection's shape, or is one
// item for all. False after tl_fail: the VM was stopped where nobody will see
// the items again.
bool tl_scatter_items(tl_vm *vm, const tl_selection *selection,
                      tl_array *value);

// x[mask] where mask covers x and both are dense: a new array; NULL after
// tl_fail.
tl_array *tl_compress_items(tl_vm *vm, const tl_array *a, const tl_array *mask);
// x[mask] = value likewise; value has as many items as are chosen, or one.
// False where it was stopped halfway, which nobody will see.
bool tl_expand_items(tl_vm *vm, tl_array *a, const tl_array *mask,
                     const tl_array *value);
// How many items of a dense mask are true; -1 after tl_fail.
int64_t tl_count_true(tl_vm *vm, const tl_array *dense_mask);
// Their positions in row-major order, for which [out] has room; false after
// tl_fail.
bool tl_true_positions(tl_vm *vm, const tl_array *dense_mask, int64_t *out);
// The same of [n] bools.
int64_t tl_count_bools(const void *items, int64_t n);
// Whether there are at least so many.
bool tl_has_true(const tl_array *dense_mask, int64_t least);

// The mask of an index that is one mask over all of [base], both dense and no
// strings; else NULL.
const tl_array *tl_whole_mask(const tl_array *base, const tl_step *step,
                              const tl_slot *parts);

// x[index] for a few indices in range, of one axis and an x that does not end
// here, into *out, which owns. False: it is not that, or after tl_fail.
bool tl_gather_few(tl_vm *vm, tl_slot base, const tl_step *step,
                   const tl_slot *parts, tl_slot *out);

// --- In the array's own memory: index_down.c ---------------------------------

// x[mask] in x's own memory, where *base ends here and may give it. False: it
// may not, or after tl_fail; nothing has changed then.
bool tl_compress_in_place(tl_vm *vm, tl_slot *base, const tl_array *mask,
                          tl_slot *out);
// The same for index arrays whose positions rise.
bool tl_gather_in_place(tl_vm *vm, tl_slot *base, const tl_selection *s,
                        tl_slot *out);

// --- Writing: index_set.c ----------------------------------------------------

// target[step] = value for an array whose items may be written: unique, or a
// view of such. All checks come before the first write; value is borrowed.
// False after tl_fail.
bool tl_array_store(tl_vm *vm, tl_array *target, const tl_step *step,
                    const tl_slot *parts, tl_slot value);
// The same where target itself is the place, as in x.real = v.
bool tl_array_store_all(tl_vm *vm, tl_array *target, tl_slot value);

// The steps of a place that are left, and the values that they take: not NULL,
// also where they take none.
typedef struct tl_nested_path {
  const tl_step *steps;
  int count;
  tl_slot *parts;
} tl_nested_path;

// What is left behind the first step.
static inline tl_nested_path tl_nested_path_below(tl_nested_path w) {
  return (tl_nested_path){w.steps + 1, w.count - 1,
                          w.parts + tl_step_parts(w.steps)};
}

// array.way = value through views (path.c).
bool tl_array_store_below(tl_vm *vm, tl_nested_path w, tl_array *a,
                          tl_slot value);
