// The vector engine: elementwise operations, casts and reductions over arrays
// of any layout, in blocks that stay in cache.
//
// An elementwise operation takes one of four paths, the first that fits:
//
//   tl_short       one short dense operation, checked by the tags (short.h)
//   scalars        at once in the dispatch loop (scalars.h), else kernels with
//                  n = 1 (scalar_ops.c)
//   small arrays   up to a few hundred items, through buffers on the stack
//   a plan         streams of operands, casts and the operation as steps, run
//                  block by block (plan.h)
//   other values   strings, lists, nested arrays, host's values (string_ops.c)
//
// The steps of the general path, and who does them:
//
//   operands   tl_operand_open      slot -> data, dtype, weak (promote.c)
//   typing     tl_operands_resolve  the dtype computed in, the result's
//   shape      tl_broadcast         (vm/array)
//   checks     tl_operands_check    zero divisors: all that may fail
//   (promote.c) target     tl_find_reusable     a dying operand, or a new array
//   loop       tl_plan_run          kernels over blocks, polling
//
// So an operation that fails has written nothing. Reductions are in reduce*.c
// and scan.c, products of matrices in matmul.h, the host's own loops in
// host_loop.c, arithmetic that may not wrap in overflow.c.
#pragma once

#include "vm/array/array.h"
#include "vm/elementwise.h"
#include "vm/vm.h"

// Applies [op] to as many operands as it has, with promotion (weak scalars
// included) and broadcasting; ranges count as int64 arrays. Operands that own
// are dying: the result may take over an array's memory, whose slot then no
// longer owns. Otherwise operands stay as they are, on failure always. *out is
// owned. All checks come before the first write.
//
// == and != of anything but numbers and arrays of them give one bool; + joins
// strings (and string arrays, elementwise).
bool tl_elementwise(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

// The same for results that scripts see: the axes of an array lie in memory as
// those of the operands do. Otherwise they are in row-major order.
bool tl_elementwise_kept(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out);

// Whether the function of the operation has the argument overflow: those of one
// and of two operands whose integer results may not fit.
#define TL_OP_MAY_OVERFLOW(op)                                              \
  ((op) == TL_OP_ADD || (op) == TL_OP_SUBTRACT || (op) == TL_OP_MULTIPLY || \
   (op) == TL_OP_POW || (op) == TL_OP_NEGATIVE || (op) == TL_OP_ABS ||      \
   (op) == TL_OP_SQUARE)

// tl_elementwise_kept of operations that may overflow, the result always a new
// array in rows where [how] is ERROR or SATURATE and it is of integers.
bool tl_elementwise_fitting(tl_vm *vm, tl_op op, tl_overflow how,
                            tl_slot *operands, tl_slot *out);

// The value converted to [dtype]: float32(x), astype. Takes over an owned
// array's memory where the item sizes agree. Scalars too. *out is owned, or
// still borrowed where it is the value itself.
bool tl_cast(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out);

// The same with integers that do not fit dealt with as [how] says. Floats are
// truncated and saturate in both WRAP and SATURATE, NaN becoming 0. *s may be
// replaced by another value, as an argument may.
bool tl_cast_fitting(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_overflow how,
                     tl_slot *out);

// Writes a scalar, converted for storing into an array of [dtype], to [item]
// (assignment rule: a value of a higher kind is kind type; one that does not
// fit is kind value).
bool tl_scalar_convert(tl_vm *vm, tl_slot s, tl_dtype dtype, void *item);

// The reductions of a script. The kernels know folds (tl_fold), of which these
// are made.
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
  // From here on results are floats; tl_reduce_dtypes compares by this order.
  TL_REDUCE_MEAN,
  TL_REDUCE_VAR,  // correction in [parameter]
  TL_REDUCE_STD,
  TL_REDUCE_LENGTH,  // of vectors of reals: the root of the sum of squares
  TL_REDUCTION_COUNT
} tl_reduction;

// Reduces [x] over the axes whose bits are set (all of them: over everything).
// dtype TL_DTYPE_COUNT: the standard's choice (narrow integers sum in 64
// bits). [parameter] is the correction of a variance. An empty reduction
// without identity fails (kind value). *out is owned; with keepdims the axes
// stay with length 1.
//
//   2 * 3 * 4, axes 0b10               2 * 4
//   2 * 3 * 4, axes 0b10, keepdims     2 * 1 * 4
//   2 * 3 * 4, axes 0b111              a scalar
//
// Kind type: strings, the order of complex items, or a dtype that items are not
// cast to. On failure *out stays as it was.
bool tl_reduce(tl_vm *vm, tl_reduction reduction, tl_slot *x, uint32_t axes,
               bool keepdims, tl_dtype dtype, double parameter, tl_slot *out);

// The same of the array in [x], over all axes ([axis] -1) or over one of a
// matrix, where it is small and its result needs no look at what could fail.
// False: tl_reduce has to do it, and nothing has happened. Drops nothing.
bool tl_reduce_small(tl_vm *vm, tl_reduction reduction, tl_slot x, int axis,
                     bool keepdims, double correction, tl_slot *out);

// The same of sums and products; those of integers are exact before they are
// fitted into the dtype, so only results can overflow.
//
//   int8 [100, 100, -100], dtype int8     100
bool tl_reduce_fitting(tl_vm *vm, tl_reduction reduction, tl_slot *x,
                       uint32_t axes, bool keepdims, tl_dtype dtype,
                       tl_overflow how, tl_slot *out);

// A norm is a fold of |x|^p and a root. For items of [given]: the floats that
// are folded.
tl_dtype tl_norm_items(tl_dtype given);
// The floats of the norm of items of [given].
tl_dtype tl_norm_result(tl_dtype given);
// A sum of powers to the power of 1/p. Takes [sum]; *out is owned.
bool tl_norm_root(tl_vm *vm, double p, tl_slot sum, tl_slot *out);
// The norm, in floats of [dtype], of a fold's result, which it takes; *out is
// owned.
bool tl_norm_end(tl_vm *vm, double p, tl_dtype dtype, tl_slot folded,
                 tl_slot *out);

// Whether tl_var_rows has a loop for the dtype.
// Asked before tl_var_rows, since that has no way for other dtypes.
bool tl_var_rows_fit(tl_dtype dtype);
// Writes the variances, or their roots, of the rows at[i] to at[i + 1], [rows]
// of them, of a dense vector to [to], which has its dtype. False where the VM
// was stopped.
bool tl_var_rows(tl_vm *vm, const tl_array *items, const int64_t *at,
                 int64_t rows, double correction, bool root, tl_array *to);

// Running sums, products, minima or maxima along one axis, in order: item i is
// the fold of the items up to i. dtype as in tl_reduce. With [initial] the
// result begins with 0 or 1 and is one longer (sums and products). Takes over
// an owned array's memory. *out is owned.
//
//   [1, 2, 3], sum               [1, 3, 6]
//   [1, 2, 3], sum, initial      [0, 1, 3, 6]
bool tl_cumulative(tl_vm *vm, tl_reduction reduction, tl_slot *x, int axis,
                   bool initial, tl_dtype dtype, tl_slot *out);
// The dtype of the running fold of items of [from]; TL_DTYPE_COUNT: there is
// none, or items are cut after they are folded in a wider one.
tl_dtype tl_cumulative_dtype(tl_reduction reduction, tl_dtype from,
                             tl_dtype dtype);
// The same of each of the rows at[i] to at[i + 1], [rows] of them, of a dense
// vector of the dtype that tl_cumulative_dtype gives, into [to], which may be
// x itself. False where the VM was stopped.
bool tl_cumulative_rows(tl_vm *vm, tl_reduction reduction, const tl_array *x,
                        const int64_t *at, int64_t rows, tl_array *to);

struct tl_host_function;
// Applies a host's elementwise function to operands that broadcast (vm/engine).
// What [args] own may be taken, for its memory; *out is owned. Fails with kind
// type for an argument of a higher kind, with kind shape where arguments do not
// broadcast, and where the VM is stopped between two chunks.
bool tl_host_loop(tl_vm *vm, const struct tl_host_function *function,
                  tl_slot *args, tl_slot *out);

// Drops an operand that the operation did not write into, counting arrays that
// ended without being reused.
static inline void tl_operand_end(tl_vm *vm, tl_slot operand) {
  if (!tl_is_owned(operand))
    return;
  vm->stats.temps_ended += tl_is_unique(operand);
  tl_drop(vm, operand);
}
