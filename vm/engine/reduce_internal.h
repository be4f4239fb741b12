// Shared by the files of the reductions.
//
// A reduction keeps some axes of an array and folds the others. Which way it
// goes depends on how both groups of axes lie (tl_split), never what the result
// is: a result depends on the shape and the items in logical order alone.
//
//   tl_reduce ─ dtypes, shape ─ tl_reducer ─┬─ tl_reduce_along    (last axis
//                                           │    folded: rows, lanes, parts)
//                                           ├─ tl_reduce_across   (last axis
//                                           │    kept: blocks of columns)
//                                           └─ tl_reduce_interleaved  (folded,
//                                           but
//                                                results lie side by side)
//
// All of them hand items to consumers (consumer.h), as fused regions do.
#pragma once

#include "vm/engine/consumer.h"
#include "vm/engine/lane.h"

// One reduction of an array, its results going to [out] in row-major order.
typedef struct tl_reducer {
  tl_vm *vm;
  const char *name;
  tl_split split;
  tl_dtype from;     // the array's
  tl_dtype dtype;    // folded in
  tl_dtype result;   // of the items at out
  tl_method method;  // of a mean or variance that of its sum
  // Of variances: the second pass, and what becomes of its sums. Of lengths the
  // second pass alone, with means of 0 and without a division.
  bool varies, root, about_zero;
  double correction;
  tl_method squares;
  char *out;
} tl_reducer;

// The dtype to fold in, the results' and the methods; r->from, r->name and
// r->vm are set. [dtype] is what was asked for, or TL_DTYPE_COUNT. Fails (kind
// type) naming [x].
bool tl_reduce_dtypes(tl_reducer *r, tl_reduction reduction, tl_dtype dtype,
                      tl_slot x);
// sum, max … as messages call it.
const char *tl_reduction_name(tl_reduction reduction);
// The shape of the results: returns how many axes.
//
//   2 * 3 * 4, axes 0b10              2 * 4, returns 2
//   2 * 3 * 4, axes 0b10, keepdims    2 * 1 * 4, returns 3
int tl_reduce_shape(int ndim, const int64_t *lengths, uint32_t axes,
                    bool keepdims, int64_t *shape);
// A single result as a scalar; fails for want of memory.
// [item] is one of r->result. Only a complex128 needs memory, since it is
// boxed.
bool tl_reduce_scalar(tl_reducer *r, const tl_c128 *item, tl_slot *out);
// Sums that were asked for in a narrow integer are made in 64 bits, then cut.
// *out is taken and replaced, by none on failure. Sums and products alone; what
// was asked for in another dtype stays as it is. What is of float16, by [from]
// where nothing was asked for, and made in float32, is rounded.
//
//   a sum of 200, asked for as int8     -56, an int8
bool tl_reduce_narrow(tl_vm *vm, tl_reduction reduction, tl_dtype from,
                      tl_dtype dtype, tl_slot *out);

// A dense array's items in a narrower integer, cut to its bits; NULL: no
// memory.
// [a] is borrowed; returns owned.
tl_array *tl_reduce_cut(tl_vm *vm, const tl_array *a, tl_dtype dtype);

// The three ways. False: the VM was stopped, or there is no memory. r->split
// has at least one result; across it has a kept axis and items to fold.
bool tl_reduce_along(tl_reducer *r);
bool tl_reduce_across(tl_reducer *r);
// Sums and real products whose lanes lie side by side.
bool tl_reduce_is_interleaved(const tl_reducer *r);
// True of the first is needed for the second; false of the second is as for the
// ways above.
bool tl_reduce_interleaved(tl_reducer *r);

// Results of rows one behind the other, of r->dtype, of equal lengths; of a
// mean their sums.
void tl_reduce_rows(const tl_reducer *r, const tl_rows *rows, char *out);

// Results of columns that lie side by side: [a] is nrows > 0 rows of ncols
// contiguous items of r->dtype; of a mean their sums.
void tl_reduce_columns(const tl_reducer *r, char *out, const char *a,
                       ptrdiff_t row_stride, size_t nrows, size_t ncols,
                       char *scratch);
// The bytes of scratch, aligned to 64, that it needs.
size_t tl_reduce_columns_scratch(const tl_reducer *r, size_t nrows,
                                 size_t ncols);

// Whether it is long enough for several threads, and there are some.
bool tl_reduce_may_spread(const tl_reducer *r);

// Sums become means: n items at [items] divided by the number of items folded.
void tl_reduce_divide(tl_dtype dtype, char *items, int64_t n, double by);
// Sums of squared deviations at [items] become what is asked for.
// Divided by [divisor], and with [root] the roots of that, in place. [real] is
// the dtype of the sums.
void tl_reduce_end_squares(tl_dtype real, char *items, int64_t n,
                           double divisor, bool root);
// The divisor of so many items: NaN where it is not above 0, as the standard
// has it, so that the results are.
//
//   5 items, correction 1     4
//   1 item, correction 1      NaN
double tl_reduce_divisor(int64_t length, double correction);
// That of the reducer's sums of squares of so many items.
double tl_reducer_divisor(const tl_reducer *r, int64_t length);
