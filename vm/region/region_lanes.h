// Reductions whose items come one lane after the other, as a plan computes
// them: the sinks of regions that end in one (region_fold.c) or in several
// results (region_several.c). The order of each fold is the one of
// vm/engine/reduce.c, so the bits are the same.
#ifndef TALLY_VM_REGION_LANES_H
#define TALLY_VM_REGION_LANES_H

#include "vm/engine/plan.h"
#include "vm/engine/reduce_internal.h"

typedef struct tl_lane_feeder {
  tl_fold_feed *feed;
  tl_fold_end *end;
  // Kernels of several results whose items are few: of sums, of others; NULL:
  // none, items are fed as they come.
  tl_sum_rows *rows;
  tl_fold_spans *spans;
  size_t in, out;                // item sizes
  int64_t length, left;          // items of this result to come
  char *to, *from;               // where results go, and the first one
  struct tl_lane_feeder *parts;  // of a single result, for threads
  int64_t part_items;
  // Of variances: the mean of this result's items and the first one's, and how
  // deviations from it are squared; else NULL.
  const char *mean, *means;
  tl_kernel2 *squares;
  union {
    tl_fold_state state;
    char cut[1792];  // items of a result to come, for kernels
  };
} tl_lane_feeder;

// Looks for places instead.
typedef struct tl_lane_searcher {
  tl_dtype dtype;
  bool largest;
  int64_t length;
  int64_t *to, *from;
  tl_arg_search search;
} tl_lane_searcher;

enum { TL_LANE_PARTS = 16 };

// One reduction of [count] lanes of [length] items each.
typedef struct tl_laned {
  tl_vm *vm;
  int64_t count, length;
  tl_fold fold;
  tl_dtype dtype;     // folded in
  bool searches;      // argmin, argmax
  size_t part_count;  // on threads, of a single lane; 0: it is not cut
  tl_plan_split split;
  tl_lane_feeder feeder;
  tl_lane_searcher searcher;
} tl_laned;

// Results go to r->out. With [means], one for each lane, the sums of squared
// deviations from them.
void tl_laned_open(tl_laned *lanes, const tl_reducer *r, tl_reduction reduction,
                   int64_t count, int64_t length, const char *means);

// The plan's sink and its context.
tl_plan_sink *tl_laned_sink(const tl_laned *lanes);
void *tl_laned_context(tl_laned *lanes);

// How threads may share it; NULL: they may not. [parts] has room for
// TL_LANE_PARTS of them while the plan runs; NULL: there is none.
const tl_plan_split *tl_laned_split(tl_laned *lanes, tl_lane_feeder *parts);

// After a plan has run to its end.
void tl_laned_close(tl_laned *lanes);

#endif
