// One plan in several iterations of a loop, each on other columns of the same
// arrays:
//
//   for j in 2..n { f[:, j] = a * x[:, j] + b * f[:, j - 1] }
//
// Iteration by iteration, each item of a column lies on a cache line of its
// own, of which the next iteration takes the next item. So all iterations are
// run for some rows, then for the next ones: the rows' items are turned into
// columns that lie side by side, and what was written is turned back after the
// last iteration.
#ifndef TALLY_VM_PLAN_ITERATIONS_H
#define TALLY_VM_PLAN_ITERATIONS_H

#include "vm/engine/plan.h"

enum {
  TL_ITERATIONS = 64,              // at a time
  TL_ITERATION_COLUMNS = 48,       // that lie apart
  TL_ITERATION_STREAMS = 12,       // that move
  TL_ITERATION_ITEMS = 32 * 1024,  // of a column: more are shared among threads
};

// A column of an array that at least one iteration reads (loads) or writes
// (stores), found by its first item's address.
typedef struct tl_iteration_column {
  char *at;
  int8_t stream;  // that first showed it
  bool loads, stores;
} tl_iteration_column;

typedef struct tl_plan_iterations {
  tl_plan *plan;
  int count, column_count;
  char *begin, *end;         // of the array that is written
  const char *first, *last;  // where columns of that array begin
  tl_iteration_column columns[TL_ITERATION_COLUMNS];
  // Of each iteration, what each stream that moves shows: a column, or items
  // that are used where they are.
  struct {
    int8_t column;  // -1: none
    char *at;
  } shown[TL_ITERATIONS][TL_ITERATION_STREAMS];
} tl_plan_iterations;

// Begins with the iteration that [plan] is ready to run, its output a part of
// [array], which has no gaps. False: its iterations are to run one by one.
// Only plans of one axis whose output has gaps of a cache line or more:
// otherwise iterations one by one already use what they load.
bool tl_iterations_open(tl_plan_iterations *iterations, tl_plan *plan,
                        const tl_array *array);

// Adds the iteration that the plan is ready to run now. False, and not added:
// it would see rows that other iterations write, or there are enough.
// The plan's streams show what this iteration reads and writes; the plan itself
// stays the same for all.
bool tl_iterations_add(tl_plan_iterations *iterations);

// Runs them all.
// Items are read and written as by the iterations in order. Cannot fail, and
// polls nothing: the caller has paid for the work.
void tl_iterations_run(tl_plan_iterations *iterations);

#endif
