// Reductions of nested arrays.
#ifndef TALLY_STDLIB_NESTED_REDUCE_H
#define TALLY_STDLIB_NESTED_REDUCE_H

#include "vm/engine.h"
#include "vm/nested.h"

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

// An array, or one with missing values, of one axis in another shape of as many
// items. Takes what [s] owns on every path; *out is owned.
bool tl_reshape_value(tl_vm *vm, tl_slot *s, int ndim, const int64_t *shape,
                      tl_slot *out);

#endif
