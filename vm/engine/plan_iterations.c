// Several iterations of a loop at a time: see plan_iterations.h.
#include "vm/engine/plan_iterations.h"

#include "vm/kernels/prefetch.h"

enum { LINE_BYTES = 64, LEAST_ITEMS = 64 };

// --- Which iterations
// ------------------------------------------------------------

// The column that an iteration writes.
static const tl_plan_stream_state *output_of(const tl_plan *plan) {
  return &plan->streams[plan->output];
}

// Whether a stream shows a part of the array that is written.
static bool is_within(const tl_plan_iterations *iterations, int s) {
  const tl_plan *plan = iterations->plan;
  const tl_plan_stream_state *stream = &plan->streams[s];
  const char *begin = stream->base, *end = stream->base;
  int64_t along = (plan->shape[0] - 1) * stream->strides[0];
  if (along < 0) {
    begin += along;
  } else {
    end += along;
  }
  return begin < iterations->end &&
         end + plan->values[s].itemsize > iterations->begin;
}

// An iteration sees what an earlier one has written in the same row alone, if
// all columns of the array begin within one row of it.
static bool is_disjoint(tl_plan_iterations *iterations, int s) {
  const tl_plan *plan = iterations->plan;
  const char *at = plan->streams[s].base;
  int64_t row = output_of(plan)->strides[0];
  size_t itemsize = plan->values[plan->output].itemsize;
  if (!is_within(iterations, s))
    return true;
  if (plan->streams[s].strides[0] != row ||
      plan->values[s].itemsize != itemsize) {
    return false;
  }
  const char *first = at < iterations->first ? at : iterations->first;
  const char *last = at > iterations->last ? at : iterations->last;
  if (last - first + (int64_t)itemsize > (row < 0 ? -row : row))
    return false;
  iterations->first = first;
  iterations->last = last;
  return true;
}

// Whether two streams step alike, so that columns of both can be moved
// together.
static bool is_like(const tl_plan *plan, int s, int t) {
  return plan->streams[s].strides[0] == plan->streams[t].strides[0] &&
         plan->values[s].itemsize == plan->values[t].itemsize;
}

// The column that stream [s] shows, the youngest ones first.
static int find_column(tl_plan_iterations *iterations, int s) {
  const tl_plan *plan = iterations->plan;
  char *at = plan->streams[s].base;
  bool is_output = s == plan->output;
  int i = iterations->column_count;
  while (--i >= 0) {
    tl_iteration_column *c = &iterations->columns[i];
    if (c->at == at && is_like(plan, c->stream, s)) {
      c->stores |= is_output;
      return i;
    }
  }
  iterations->columns[iterations->column_count] =
      (tl_iteration_column){at, (int8_t)s, !is_output, is_output};
  return iterations->column_count++;
}

// Room for the columns that the iteration may add, no overlap beyond its own
// row, and the same constants: their steps run once for all iterations.
static bool fits(tl_plan_iterations *iterations) {
  const tl_plan *plan = iterations->plan;
  if (iterations->count == TL_ITERATIONS ||
      iterations->column_count + plan->moving_count > TL_ITERATION_COLUMNS) {
    return false;
  }
  for (int s = 0; s < plan->stream_count; s++) {
    const tl_plan_value *value = &plan->values[s];
    if (!is_disjoint(iterations, s) ||
        (value->constant && iterations->count > 0 &&
         plan->streams[s].base != value->at)) {
      return false;
    }
  }
  return true;
}

// What is read of a column before it is written is found before what is
// written, so that it is loaded.
static void show(tl_plan_iterations *iterations, bool output) {
  const tl_plan *plan = iterations->plan;
  for (int i = 0; i < plan->moving_count; i++) {
    int s = plan->moving[i];
    if ((s == plan->output) != output)
      continue;
    iterations->shown[iterations->count][i].at = plan->streams[s].base;
    iterations->shown[iterations->count][i].column =
        (int8_t)(plan->streams[s].packed ? find_column(iterations, s) : -1);
  }
}

// Inputs first: a column that is read and written must be loaded before it is
// stored, see show.
bool tl_iterations_add(tl_plan_iterations *iterations) {
  tl_plan *plan = iterations->plan;
  if (!fits(iterations))
    return false;
  for (int s = 0; s < plan->stream_count; s++) {
    if (plan->values[s].constant)
      plan->values[s].at = plan->streams[s].base;
  }
  show(iterations, false);
  show(iterations, true);
  iterations->count++;
  return true;
}

// Few items have no time to gain, many are left to threads, and what a delay or
// the host does needs the order of one iteration after the other.
bool tl_iterations_open(tl_plan_iterations *iterations, tl_plan *plan,
                        const tl_array *array) {
  if (plan->ndim != 1 || plan->rows > 1 || !plan->plain || plan->multi ||
      plan->is_hosts || plan->delay != NULL || plan->output < 0 ||
      plan->size < LEAST_ITEMS || plan->size > TL_ITERATION_ITEMS ||
      plan->moving_count > TL_ITERATION_STREAMS || !output_of(plan)->packed) {
    return false;
  }
  int64_t row = output_of(plan)->strides[0];
  iterations->plan = plan;
  iterations->count = iterations->column_count = 0;
  iterations->first = iterations->last = output_of(plan)->base;
  tl_array_extent(array, &iterations->begin, &iterations->end);
  return (row >= LINE_BYTES || -row >= LINE_BYTES) &&
         tl_iterations_add(iterations);
}

// --- Running ----------------------------------------------------------------

// Columns a power of two apart would share a few places of the nearest cache.
enum { COLUMN_BYTES = TL_BLOCK_BYTES + LINE_BYTES };
typedef char columns_buffer[TL_ITERATION_COLUMNS][COLUMN_BYTES];
typedef char registers[TL_PLAN_REGISTERS + 1][TL_BLOCK_BYTES];

// Where columns go.
typedef struct layout {
  int8_t order[TL_ITERATION_COLUMNS];  // which is at each place of the buffer
  int8_t place[TL_ITERATION_COLUMNS];
  // Stretches of a row that columns lie in.
  int stretch_count;
  struct {
    const char *at;
    int64_t stride, nbytes;
  } stretches[TL_ITERATION_COLUMNS];
} layout;

// Columns side by side in memory to places side by side in the buffer.
static void order_columns(const tl_plan_iterations *iterations, layout *y) {
  const tl_iteration_column *columns = iterations->columns;
  for (int i = 0; i < iterations->column_count; i++) {
    int k = i;
    for (; k > 0 && columns[y->order[k - 1]].at > columns[i].at; k--)
      y->order[k] = y->order[k - 1];
    y->order[k] = (int8_t)i;
  }
  for (int i = 0; i < iterations->column_count; i++)
    y->place[y->order[i]] = (int8_t)i;
}

// Columns within a cache line of each other are one stretch, so that no line is
// asked for twice.
static void find_stretches(const tl_plan_iterations *iterations, layout *y) {
  const tl_iteration_column *before = NULL;
  y->stretch_count = 0;
  for (int i = 0; i < iterations->column_count; i++) {
    const tl_iteration_column *c = &iterations->columns[y->order[i]];
    if (before == NULL || c->at - before->at > LINE_BYTES ||
        !is_like(iterations->plan, before->stream, c->stream)) {
      y->stretches[y->stretch_count].at = c->at;
      y->stretches[y->stretch_count++].stride =
          iterations->plan->streams[c->stream].strides[0];
    }
    // To the line that the last one begins in.
    y->stretches[y->stretch_count - 1].nbytes =
        c->at - y->stretches[y->stretch_count - 1].at + LINE_BYTES;
    before = c;
  }
}

// Whether a column goes into the buffer, or back from it.
static bool is_moved(const tl_iteration_column *c, bool stores) {
  return stores ? c->stores : c->loads;
}

// How many columns from place [from] on can be moved at once.
static int count_run(const tl_plan_iterations *iterations, const layout *y,
                     int from, bool stores) {
  const tl_iteration_column *c = &iterations->columns[y->order[from]];
  int64_t itemsize = iterations->plan->values[c->stream].itemsize;
  int count = 1;
  while (from + count < iterations->column_count) {
    const tl_iteration_column *next =
        &iterations->columns[y->order[from + count]];
    if (!is_moved(next, stores) || next->at != c->at + count * itemsize ||
        !is_like(iterations->plan, c->stream, next->stream)) {
      break;
    }
    count++;
  }
  return count;
}

// Moves [n] rows of columns into the buffer, or back.
static void move_columns(const tl_plan_iterations *iterations, const layout *y,
                         columns_buffer columns, int64_t row, size_t n,
                         bool stores) {
  const tl_plan *plan = iterations->plan;
  int run = 1;
  for (int i = 0; i < iterations->column_count; i += run) {
    const tl_iteration_column *c = &iterations->columns[y->order[i]];
    run = 1;
    if (!is_moved(c, stores))
      continue;
    run = count_run(iterations, y, i, stores);
    int64_t stride = plan->streams[c->stream].strides[0];
    int64_t itemsize = plan->values[c->stream].itemsize;
    tl_pack_tile *move =
        tl_kernels()->pack_tile[tl_move_size((size_t)itemsize)];
    char *at = c->at + row * stride;
    if (stores) {
      move(at, stride, columns[i], itemsize, COLUMN_BYTES, n, (size_t)run);
    } else {
      move(columns[i], COLUMN_BYTES, at, itemsize, stride, (size_t)run, n);
    }
  }
}

// Asks for the rows from [row] to [end], while others are in work. A call of a
// function that does nothing else is left out by compilers, so it is none.
static inline __attribute__((always_inline)) void prefetch_rows(const layout *y,
                                                                int64_t row,
                                                                int64_t end) {
  for (int i = 0; i < y->stretch_count; i++) {
    const char *at = y->stretches[i].at;
    for (int64_t r = row; r < end; r++) {
      uintptr_t begin = (uintptr_t)(r * y->stretches[i].stride);
      for (int64_t k = 0; k < y->stretches[i].nbytes; k += LINE_BYTES)
        tl_prefetch(at, begin + (uintptr_t)k);
    }
  }
}

// Points the streams at the iteration's columns in the buffer, or at items that
// have no gaps where they are, and runs the steps.
static void run_iteration(const tl_plan_iterations *iterations, int iteration,
                          const layout *y, columns_buffer columns, int64_t row,
                          size_t n) {
  tl_plan *plan = iterations->plan;
  for (int i = 0; i < plan->moving_count; i++) {
    int s = plan->moving[i], column = iterations->shown[iteration][i].column;
    plan->values[s].at = column >= 0 ? columns[y->place[column]]
                                     : iterations->shown[iteration][i].at +
                                           row * plan->streams[s].strides[0];
  }
  tl_plan_steps(plan, plan->once_count, plan->step_count, n);
}

// Asks for what an iteration uses where it is.
static inline __attribute__((always_inline)) void prefetch_shown(
    const tl_plan_iterations *iterations, int iteration, int64_t row,
    size_t n) {
  const tl_plan *plan = iterations->plan;
  for (int i = 0; i < plan->moving_count; i++) {
    size_t itemsize = plan->values[plan->moving[i]].itemsize;
    if (iterations->shown[iteration][i].column >= 0)
      continue;
    for (size_t k = 0; k < n * itemsize; k += LINE_BYTES)
      tl_prefetch(iterations->shown[iteration][i].at,
                  (uintptr_t)row * itemsize + k);
  }
}

// All iterations for the rows from [row] to [end]; after each of them a part of
// the next rows, up to [next], is asked for.
static void run_rows(const tl_plan_iterations *iterations, const layout *y,
                     columns_buffer columns, int64_t row, int64_t end,
                     int64_t next) {
  size_t n = (size_t)(end - row);
  int count = iterations->count;
  move_columns(iterations, y, columns, row, n, false);
  for (int i = 0; i < count; i++) {
    if (i + 1 < count)
      prefetch_shown(iterations, i + 1, row, n);
    run_iteration(iterations, i, y, columns, row, n);
    prefetch_rows(y, end + (next - end) * i / count,
                  end + (next - end) * (i + 1) / count);
  }
  move_columns(iterations, y, columns, row, n, true);
}

// The smaller of two.
static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// A function of its own, so that other runs do not need its stack.
__attribute__((noinline)) void tl_iterations_run(
    tl_plan_iterations *iterations) {
  _Alignas(64) registers room;
  _Alignas(64) columns_buffer columns;
  layout y;
  tl_plan *plan = iterations->plan;
  order_columns(iterations, &y);
  find_stretches(iterations, &y);
  for (int i = plan->stream_count; i < plan->value_count; i++) {
    if (plan->values[i].where >= 0)
      plan->values[i].at = room[plan->values[i].where];
  }
  int64_t rows = TL_BLOCK_BYTES / (int64_t)plan->widest;
  tl_plan_steps(plan, 0, plan->once_count, (size_t)rows);
  for (int64_t row = 0, end; row < plan->size; row = end) {
    end = least(row + rows, plan->size);
    run_rows(iterations, &y, columns, row, end, least(end + rows, plan->size));
  }
}
