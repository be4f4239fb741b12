// What the functions of the module linalg share: stacks of matrices as items
// that a factorisation can take, and its errors.
//
//   tl_matrices_open     the argument, converted and copied where needed
//   s.table->lu(…)       for each tl_matrix(&s, i): dense.h
//   tl_dense_check       its error, with the matrix's number
//   tl_cast_own          back to the argument's precision
#pragma once

#include "stdlib/dense.h"
#include "vm/array/array.h"

// An argument as a stack of dense matrices of the dtype [compute].
typedef struct tl_matrix_stack {
  tl_slot slot;      // the array, contiguous
  tl_dtype compute;  // what [table] takes
  tl_dtype result;   // the argument's precision: what goes back
  int64_t rows, columns, count;
  int ndim;  // axes before the last two, their lengths:
  int64_t shape[TL_MAX_DIMS];
  const tl_dense *table;
} tl_matrix_stack;

// Opens the argument [name] of [function]: a numeric array of two axes or more
// (kind shape), whose last two are equal if [square]. The array is the
// caller's own to write if [own], as every factorisation overwrites its
// matrix. The caller drops out->slot.
//
//   s.slot  5 * 3 * 2    count 5, rows 3, columns 2, shape { 5 }
//
// Items are converted to what the table computes in: integers to float64, and
// float32 to float64 where Tally's own code is chosen. Fails with kind type for
// items that are no numbers; nothing is left to drop then.
// From sides of [least] on a library takes them.
bool tl_matrices_open(tl_vm *vm, const char *function, const char *name,
                      tl_slot *s, bool square, bool own, tl_dense_least least,
                      tl_matrix_stack *out);
// The address of matrix number i, rows * columns items in rows.
void *tl_matrix(const tl_matrix_stack *s, int64_t i);

// Fails (kind domain) where an item is not finite: iterations for eigenvalues
// would not end.
bool tl_matrices_finite(tl_vm *vm, const char *function,
                        const tl_matrix_stack *s);

// True if done; else fails: "inv: the matrix is singular" (kind domain), with
// its number in the stack. [why] says what a singular one is.
// TL_DENSE_STOPPED has its message already, and is passed on.
bool tl_dense_check(tl_vm *vm, const char *function, const tl_matrix_stack *s,
                    int64_t i, tl_dense_result result, const char *why);

// A new array: the stack's axes, then [rows] and [columns] (either -1: no such
// axis). Returns owned; NULL after tl_fail.
// Kind memory, or shape where there would be too many axes.
tl_array *tl_matrices_new(tl_vm *vm, const tl_matrix_stack *s, tl_dtype dtype,
                          int64_t rows, int64_t columns);

// float32 for complex64, float64 for complex128; other dtypes unchanged.
tl_dtype tl_real_dtype(tl_dtype dtype);
// The reverse.
tl_dtype tl_complex_dtype(tl_dtype dtype);

// Ends a function whose matrices were factored by the one of that name in
// inner/factors.tly, which gives the result. Its arguments are [count] arrays,
// taken on every path (NULL: none), and the dtype of the results. [ok] false: a
// failure is passed on. Drops the stack's array first; *out is owned.
bool tl_end_factors(tl_vm *vm, const char *function, const tl_matrix_stack *s,
                    bool ok, int count, tl_array **arrays, tl_dtype dtype,
                    tl_slot *out);
