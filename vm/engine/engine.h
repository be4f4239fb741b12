// The vector engine: elementwise operations, casts and reductions over arrays
// of any layout, in blocks that stay in cache.
#ifndef TALLY_VM_ENGINE_H
#define TALLY_VM_ENGINE_H

#include "vm/array/array.h"
#include "vm/engine/elementwise.h"

// Applies [op] to as many operands as it has, with promotion (weak scalars
// included) and broadcasting; ranges count as int64 arrays. Operands that own
// are dying: the result may take over an array's memory, whose slot then no
// longer owns. Otherwise operands stay as they are, on failure always.
// *out is owned. All checks come before the first write.
//
// == and != on anything but numbers and arrays of them give one bool; + joins
// strings (and string arrays, elementwise).
bool tl_elementwise(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

// The same for results that scripts see: the axes of an array lie in memory as
// those of the operands do. Else they are in row-major order.
bool tl_elementwise_kept(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

// a[...] = op(a, value) in place where that is safe, for `x[i] += v` on views:
// [target] is a writable array view of the block, value broadcasts to it.
bool tl_elementwise_into(tl_vm *vm, tl_op op, tl_slot *operands,
                         tl_array *target);

// The value converted to [dtype]: float32(x), astype. Takes over an owned
// array's memory where the item sizes agree. Scalars too. *out is owned, or
// still borrowed where it is the value itself.
bool tl_cast(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out);

// A scalar converted for storing into an array of [dtype] (assignment rule:
// a value of a higher kind is kind type; a weak one that does not fit too).
bool tl_scalar_convert(tl_vm *vm, tl_slot s, tl_dtype dtype, void *item);

// Reductions.
typedef enum tl_reduction {
  TL_REDUCE_SUM,
  TL_REDUCE_PROD,
  TL_REDUCE_MIN,
  TL_REDUCE_MAX,
  TL_REDUCE_ANY,
  TL_REDUCE_ALL,
  TL_REDUCE_COUNT_NONZERO,
  TL_REDUCE_ARGMIN,
  TL_REDUCE_ARGMAX,
  TL_REDUCE_MEAN,
  TL_REDUCE_VAR,  // correction in [parameter]
  TL_REDUCE_STD,
  TL_REDUCTION_COUNT
} tl_reduction;

// Reduces [x] over the axes whose bits are set (all of them: over everything).
// dtype TL_DTYPE_COUNT: the standard's choice (narrow integers sum in 64
// bits). An empty reduction without identity fails (kind value). *out is
// owned; with keepdims the axes stay with length 1.
bool tl_reduce(tl_vm *vm, tl_reduction reduction, tl_slot *x, uint32_t axes,
               bool keepdims, tl_dtype dtype, double parameter, tl_slot *out);

// Variances, or their roots, of the rows [at] 0 to [rows] of a dense vector, of
// whose dtype [to] is; for dtypes that fit.
bool tl_var_rows_fit(tl_dtype dtype);
bool tl_var_rows(tl_vm *vm, const tl_array *items, const int64_t *at,
                 int64_t rows, double correction, bool root, tl_array *to);

// Running sums, products, minima or maxima along one axis, in order: item i is
// the fold of the items up to i. dtype as in tl_reduce. With [initial] the
// result begins with 0 or 1 and is one longer (sums and products). Takes over
// an owned array's memory. *out is owned.
bool tl_cumulative(tl_vm *vm, tl_reduction reduction, tl_slot *x, int axis,
                   bool initial, tl_dtype dtype, tl_slot *out);
// The dtype of the running fold of items of [from]; TL_DTYPE_COUNT: they are
// refused, or are cut after they are folded in a wider one.
tl_dtype tl_cumulative_dtype(tl_reduction reduction, tl_dtype from,
                             tl_dtype dtype);
// The same of each of the rows [at] 0 to [rows] of a dense vector of the dtype
// that tl_cumulative_dtype says, into another or into x itself.
bool tl_cumulative_rows(tl_vm *vm, tl_reduction reduction, const tl_array *x,
                        const int64_t *at, int64_t rows, tl_array *to);

#endif
