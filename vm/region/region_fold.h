// Shared by the files of the regions that end in a reduction.
#ifndef TALLY_VM_REGION_FOLD_H
#define TALLY_VM_REGION_FOLD_H

#include "vm/region/region_internal.h"

typedef struct tl_region_folder {
  tl_region_graph *g;
  tl_reducer r;
  tl_reduction reduction;
  double correction;  // of variances
  tl_dtype dtype;     // that the plan hands out
  int ndim;           // of what is reduced
  const int64_t *lengths;
  int axes[TL_MAX_DIMS];  // those kept, then those reduced
  int kept;               // how many
  bool has_seam;          // an operand is rolled
  int column;             // the last kept one of any length
  int64_t count, length;  // results, and items of each
} tl_region_folder;

static inline bool tl_region_is_variance(const tl_region_folder *f) {
  return f->reduction == TL_REDUCE_VAR || f->reduction == TL_REDUCE_STD;
}

// Results that lie side by side, into f->r.out (region_columns.c).
tl_region_status tl_region_fold_columns(tl_region_folder *f);

#endif
