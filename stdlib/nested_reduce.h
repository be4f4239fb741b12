// Reductions of nested arrays.
#ifndef TALLY_STDLIB_NESTED_REDUCE_H
#define TALLY_STDLIB_NESTED_REDUCE_H

#include "vm/builtin.h"
#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested.h"

// A reduction with its arguments, read but for the axis.
typedef struct tl_reduce_call {
  const char *name;
  tl_reduction reduction;
  tl_slot axis;  // none: everything
  bool keepdims;
  tl_dtype dtype;  // TL_DTYPE_COUNT: the standard's choice
  double correction;
  bool skip;  // missing values are left out; else the result is missing
} tl_reduce_call;

// As tl_reduce, of a ragged array (over all items, or within the rows) or of
// one with missing values (over all, or one axis). *out is owned.
bool tl_nested_reduce(tl_vm *vm, const tl_reduce_call *call, tl_slot *x,
                      tl_slot *out);

// One result for each of the rows [at] 0 to [rows] of plain items. *out is
// owned.
// at[0 .. rows] are offsets into the items: row i has those from at[i] up to
// at[i + 1]. Fails (kind value) where a row is empty and the reduction has no
// result for no items, as min has none. The dtypes are those of tl_reduce.
bool tl_reduce_each_row(tl_vm *vm, const tl_reduce_call *call, tl_slot items,
                        const int64_t *at, int64_t rows, tl_slot *out);

// The fold of a reduction; false: it is none.
// The kernels of vm/kernels go by folds.
bool tl_reduce_fold_of(tl_reduction reduction, tl_fold *out);

// Whether results are positions, which count within a row and are not of the
// items' dtype.
static inline bool tl_reduces_to_place(tl_reduction reduction) {
  return reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX;
}

// A function of one vector, applied to an array with missing values (to those
// that are there, if skip is true; none if one is missing else) or to each row
// of a ragged one (axis: -1; to all items without). With [keepdims] the axes
// stay, with length 1.
typedef bool tl_of_vector(tl_vm *vm, const void *context, tl_slot *vector,
                          tl_slot *out);
// [each] borrows *vector, may replace it, and writes an owned *out; false after
// tl_fail. It is called once for each row or lane:
//
//   x [[1, none], [3]], axis -1    each([1]), each([3])    with [skip]
//                                  none,      each([3])    without
//
// Fails (kind type) where x has no vectors along that axis.
bool tl_nested_apply(tl_vm *vm, const char *function, tl_slot x, tl_slot axis,
                     bool keepdims, bool skip, tl_of_vector *each,
                     const void *context, tl_slot *out);

// What a function of one axis (-1: of all) left of an array of [ndim], with
// that axis again, of length 1. Takes what *flat owns on every path.
bool tl_keep_axis(tl_vm *vm, int axis, int ndim, tl_slot *flat, tl_slot *out);

// The values that are there of an array with missing ones, as one axis; how
// many are not. Any other array but a ragged one is given as it is.
bool tl_present(tl_vm *vm, tl_slot x, tl_slot *out, int64_t *missing);

// Calls a built-in of [count] arguments with the values behind the masks of
// those that [which] names (bit i: argument i), where they have missing ones.
bool tl_call_beneath(tl_vm *vm, tl_builtin_fn *call, const tl_slot *args,
                     int count, unsigned which, tl_slot *out);

// Of an array with missing values, the vectors along an axis as rows, in the
// order of the other axes. *out is a ragged array, owned.
bool tl_rows_along(tl_vm *vm, const tl_nested *n, int along, tl_slot *out);

#endif
