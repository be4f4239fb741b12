// What takes the items of several results as one plan computes them: reductions
// of lanes or down columns, and running folds.
#pragma once

#include "vm/engine/scan.h"
#include "vm/region/region_internal.h"

// How the items of one result are taken, and which member of the union is open.
typedef enum tl_consumer_kind {
  TL_CONSUMES_NONE,  // the plan itself writes the items to an array
  TL_CONSUMES_ROWS,
  TL_CONSUMES_COLUMNS,
  TL_CONSUMES_RUNNING,
} tl_consumer_kind;

// Columns: rows are gathered until there are enough of them for a chunk.
typedef struct tl_column_feeder {
  tl_column_stream fold;
  int64_t width, length;  // columns, and rows of each result
  int64_t filled;         // items
  char *to;
} tl_column_feeder;

typedef struct tl_result_consumer {
  tl_consumer_kind kind;
  union {
    tl_row_stream lanes;
    tl_column_feeder columns;
    tl_scanner running;
  };
} tl_result_consumer;

// How [axes] of a shape are reduced: [count] results one after the other, or,
// each of the [count] positions having [width] columns side by side, these.
typedef struct tl_reduced {
  int64_t count, length, width;
} tl_reduced;
// False: neither.
bool tl_measure_reduced(int ndim, const int64_t *shape, uint32_t axes,
                        tl_reduced *out);

// Columns to r->out; without a kernel or much memory for them false.
bool tl_columns_open(tl_column_feeder *c, const tl_reducer *r,
                     const tl_reduced *reduced);
// After tl_columns_open gave true, on every path.
void tl_columns_close(tl_column_feeder *c, tl_vm *vm);

// Runs the plan, whose results go to [count] of these in order; those of lanes
// are open, and end here.
// Columns are the caller's to close, on every path.
bool tl_run_consumers(tl_vm *vm, tl_plan *plan, tl_result_consumer **consumers,
                      int count, bool may_stop);
