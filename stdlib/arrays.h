// Array operations that several families of the library share.
#pragma once

#include "vm/array/array.h"

// A new vector of uint8 with these bytes.
bool tl_bytes_give(tl_vm *vm, const void *data, size_t nbytes, tl_slot *out);

// As tl_view, or for ndim 0 the item at [data], which takes nothing over.
bool tl_view_or_item(tl_vm *vm, tl_slot *s, char *data, int ndim,
                     const int64_t *shape, const int64_t *strides,
                     tl_slot *out);

// The array in [s] in a shape that has as many items: a view where that can
// be, which takes over what s owns; else a copy. Scalars for ndim 0.
bool tl_reshape(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                tl_slot *out);

// The view of an array with its axes in another order.
bool tl_permute(tl_vm *vm, tl_slot *s, const int *axes, tl_slot *out);

// x at the positions index[0 .. n) along an axis; all are within its length.
bool tl_take_axis(tl_vm *vm, tl_array *x, const int64_t *index, int64_t n,
                  int axis, tl_slot *out);

// Indices, the argument [name], as dense int64 from 0 on, checked against the
// length (kind index): the given ones where none is counted from the end. *out
// is owned or borrowed.
bool tl_wrap_indices(tl_vm *vm, const char *function, const char *name,
                     tl_slot s, int64_t length, tl_slot *out);

// The positions where x is not zero: an int64 array for each axis, in a list.
bool tl_nonzero(tl_vm *vm, const char *function, tl_slot *x, tl_slot *out);

// Lanes of up to so many items are sorted side by side, by exchanges whose
// number an item grows with the square of the length's logarithm.
enum { TL_SORT_BESIDE = 512 };
// Sorts n items of any dtype in place, or writes their order, which may go over
// items of 8 bytes; stable.
bool tl_sort_items(tl_vm *vm, tl_dtype dtype, void *items, int64_t n,
                   bool descending);
// The order of n items: out[i] is the place of the one that comes i-th. [items]
// are only read, unless [out] lies over them.
//
//   items   30 10 20     sorted   10 20 30     order   1 2 0
//
// [out] has n int64. NaN comes last in ascending order.
bool tl_argsort_items(tl_vm *vm, tl_dtype dtype, int64_t *out,
                      const void *items, int64_t n, bool descending);
// The same of strings, in code-point order; items are only read.
bool tl_argsort_strings(tl_vm *vm, int64_t *order, const tl_string_item *items,
                        int64_t n, bool descending);
// Sorts every lane of a dense array in place; on failure each has its items
// still, in some order.
bool tl_sort_lanes(tl_vm *vm, tl_array *a, int axis, bool descending);
// Writes a 0 into each page of a block whose bytes are 0 or mean nothing yet,
// and polls as it goes: who then writes here and there gets all of it from the
// system at once. False after tl_fail.
bool tl_touch(tl_vm *vm, void *block, size_t nbytes);
// Writes the order of every lane of [a], whose items have [dtype]. [order] is
// of int64; it may be a itself, where that has items of 8 bytes.
bool tl_argsort_lanes(tl_vm *vm, tl_array *order, tl_array *a, tl_dtype dtype,
                      int axis, bool descending);
// Where each run of equal items begins in n sorted ones; returns how many, or
// -1 after tl_fail.
//
//   sorted  1 1 4 5 5     out  0 2 3     returns 3
//
// [out] has room for n. Items that are not sorted have runs, too: each begins
// where an item differs from the one before.
int64_t tl_run_positions(tl_vm *vm, tl_dtype dtype, int64_t *out,
                         const void *sorted, int64_t n);

// Where each of the dense queries goes in a dense sorted array of their dtype:
// before equal items, or with [right] behind them. [out] may be where the
// queries are.
//
//   sorted 1 3 3 5, query 3:    1, with [right] 3
bool tl_search_sorted(tl_vm *vm, const tl_array *sorted,
                      const tl_array *queries, bool right, int64_t *out);

// Walks the lanes of up to 3 arrays along one axis: all other indices, in
// row-major order. The other axes' lengths are those of the first array.
typedef struct tl_lanes {
  int n, ndim;
  int64_t shape[TL_MAX_DIMS];
  int64_t strides[3][TL_MAX_DIMS];
  int64_t index[TL_MAX_DIMS];
  char *data[3];    // of the lanes' first items
  int64_t step[3];  // bytes between a lane's items
  bool done;
} tl_lanes;
// The first lane is ready after this, unless [done]: where another axis has
// length 0 there are no lanes.
void tl_lanes_begin(tl_lanes *lanes, int n, tl_array *const *arrays, int axis);
// Goes to the next lane, or sets [done]. Not to be called after that.
void tl_lanes_next(tl_lanes *lanes);
