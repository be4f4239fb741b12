// Reductions of nested arrays.
#pragma once

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"

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

// Whether results are positions, which count within a row and are not of the
// items' dtype.
static inline bool tl_reduces_to_place(tl_reduction reduction) {
  return reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX;
}

// Calls a function of inner/reductions with the built-in of that name, x, an
// axis (none, an integer or a list) of [ndim], and what other arguments the
// built-in is to get, a record that is taken or NULL after tl_fail. *out is
// owned.
bool tl_reduce_in_tally(tl_vm *vm, const char *entry, const char *name,
                        const tl_slot *x, const tl_slot *axis, int ndim,
                        bool keepdims, tl_record *more, tl_slot *out);

// Of an array with missing values, the vectors along an axis as rows, in the
// order of the other axes. *out is a ragged array, owned.
bool tl_rows_along(tl_vm *vm, const tl_nested *n, int along, tl_slot *out);

// The items at place 0 of all rows that have one, those at place 1, and so on:
// what is across the rows of a ragged array, args[0], as rows. *out is owned.
bool tl_rows_across(tl_vm *vm, tl_slot *args, tl_slot *out);
