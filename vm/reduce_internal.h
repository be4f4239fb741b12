// Shared by the files of the reductions.
#ifndef TALLY_VM_REDUCE_INTERNAL_H
#define TALLY_VM_REDUCE_INTERNAL_H

#include "vm/engine.h"
#include "vm/lane.h"

// One reduction of an array, its results going to [out] in row-major order.
typedef struct tl_reducer {
  tl_vm *vm;
  const char *name;
  tl_split split;
  tl_dtype from;    // the array's
  tl_dtype dtype;   // folded in
  tl_dtype result;  // of the items at out
  char *out;
  int64_t unpolled;
} tl_reducer;

// Folds every lane. Sums and products of outer axes go down strips of columns.
bool tl_reduce_fold(tl_reducer *r, tl_fold fold);

// The first position of each lane's smallest or largest item.
bool tl_reduce_arg(tl_reducer *r, bool largest);

// The mean squared deviation of each lane, or its root.
bool tl_reduce_variance(tl_reducer *r, double correction, bool root);

// Calls [strip] with pieces of the columns of an outer reduction as contiguous
// rows: a is nrows rows of ncols items, row_stride bytes apart; results belong
// at [out].
typedef bool tl_strip_fn(tl_reducer *r, void *context, char *out,
                         const char *a, ptrdiff_t row_stride, size_t nrows,
                         size_t ncols);
bool tl_reduce_strips(tl_reducer *r, tl_strip_fn *strip, void *context);

#endif
