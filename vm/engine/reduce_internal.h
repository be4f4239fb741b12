// Shared by the files of the reductions.
#ifndef TALLY_VM_REDUCE_INTERNAL_H
#define TALLY_VM_REDUCE_INTERNAL_H

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/engine/lane.h"

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

// The dtype to fold in, and the results', into r->dtype and r->result; r->from,
// r->name and r->vm are set. [dtype] is what was asked for, or TL_DTYPE_COUNT.
// Fails (kind type) naming [x].
bool tl_reduce_dtypes(tl_reducer *r, tl_reduction reduction, tl_dtype dtype,
                      tl_slot x);
// sum, max … as messages call it.
const char *tl_reduction_name(tl_reduction reduction);
// The fold that a reduction is, or begins with.
tl_fold tl_reduction_fold(tl_reduction reduction);
// The shape of the results: returns how many axes.
int tl_reduce_shape(int ndim, const int64_t *lengths, uint32_t axes,
                    bool keepdims, int64_t *shape);
// Sums become means: n items at [items] divided by the number of items folded.
void tl_reduce_divide(tl_dtype dtype, char *items, int64_t n, double by);
// A single result as a scalar; fails for want of memory.
bool tl_reduce_scalar(tl_reducer *r, const tl_c128 *item, tl_slot *out);
// Sums that were asked for in a narrow integer are made in 64 bits, then cut.
bool tl_reduce_narrow(tl_vm *vm, tl_reduction reduction, tl_dtype dtype,
                      tl_slot *out);

// Looks for the first smallest or largest item, fed in pieces.
typedef struct tl_arg_search {
  tl_arg_fold *find;
  size_t itemsize;
  int64_t at;                                   // items seen
  int64_t best;                                 // -1: none yet
  _Alignas(16) char pair[2 * sizeof(tl_c128)];  // the best item, the piece's
} tl_arg_search;
void tl_arg_begin(tl_arg_search *s, tl_dtype dtype, bool largest);
void tl_arg_feed(tl_arg_search *s, const void *items, size_t n);

// Folds every lane. Sums and products of outer axes go down strips of columns.
bool tl_reduce_fold(tl_reducer *r, tl_fold fold);

// --- Rows, many at a time (reduce_rows.c)

// Whether there are at least so many results, each of so many items at most
// along one axis, not complex, which kernels of rows may fold.
bool tl_reduce_has_rows(const tl_reducer *r, int64_t least, int64_t most);
enum { TL_SIDE_BY_SIDE = 8 };  // rows, at least, for kernels of several to pay
// Folds the rows [from, from + n).
typedef void tl_rows_fold(const tl_reducer *r, const void *context,
                          int64_t from, int64_t n);
bool tl_reduce_rows(tl_reducer *r, tl_rows_fold *fold, const void *context);
// Gives these rows one behind the other and as r->dtype, all or some at a time;
// their results belong at [out]. Items of [readable] rows are memory.
typedef void tl_dense_fold(const tl_reducer *r, const void *context,
                           const char *items, int64_t n, int64_t readable,
                           char *out);
void tl_reduce_dense(const tl_reducer *r, tl_dense_fold *fold,
                     const void *context, int64_t from, int64_t n);
// Turns these rows over, some at a time, so that they stand side by side as the
// columns of a tile of r->dtype, which [fold] may write over; their results
// belong at [out]. They have at most TL_SHORT_ROW items.
enum { TL_TURNED_ROWS = 128 };
typedef void tl_tile_fold(const tl_reducer *r, const void *context, char *out,
                          char *tile, size_t rows);
void tl_reduce_turned(const tl_reducer *r, tl_tile_fold *fold,
                      const void *context, int64_t from, int64_t n);
// [n] rows of one length that lie one behind the other, by a kernel of rows of
// any lengths; itemsize is that of the items, step the results'.
void tl_reduce_even(tl_fold_spans *spans, const char *items, int64_t length,
                    int64_t n, int64_t readable, size_t itemsize, char *out,
                    size_t step);

// Sums and real products whose lanes lie side by side (reduce_upright.c).
bool tl_reduce_is_upright(const tl_reducer *r, tl_fold fold);
bool tl_reduce_upright(tl_reducer *r, tl_fold fold);

// Whether it is long enough for several threads, and there are some.
bool tl_reduce_may_spread(const tl_reducer *r);

// Folds one lane into the result at [out]. A worker's has no VM (NULL), and
// then it cannot fail.
typedef bool tl_lane_fold(const tl_reducer *r, tl_vm *vm, int64_t *unpolled,
                          const void *context, const tl_lane *lane, void *out);
bool tl_reduce_lanes(tl_reducer *r, tl_lane_fold *fold, const void *context);

// The only lane in parts, each but the last of a power of two of items. False:
// it is left whole.
enum { TL_REDUCE_PARTS = 16 };
typedef struct tl_parts {
  int64_t count, length;  // count is at most TL_REDUCE_PARTS
} tl_parts;
bool tl_reduce_in_parts(const tl_reducer *r, tl_parts *parts);
// Feeds part i to [piece] with the i-th of the contexts, [size] bytes each.
bool tl_reduce_feed_parts(tl_reducer *r, const tl_parts *parts,
                          tl_lane_fn *piece, void *contexts, size_t size);

// The first position of each lane's smallest or largest item.
bool tl_reduce_arg(tl_reducer *r, bool largest);

// Sums of squared deviations at [items] become what is asked for.
void tl_reduce_end_squares(tl_dtype real, char *items, int64_t n,
                           double divisor, bool root);
// The divisor of so many items: NaN where it is not above 0, as the
// standard has it, so that the results are.
double tl_reduce_divisor(int64_t length, double correction);

// The mean squared deviation of each lane, or its root.
bool tl_reduce_variance(tl_reducer *r, double correction, bool root);

// How columns that lie side by side are folded: [a] is nrows rows of ncols
// contiguous items, row_stride bytes apart; results belong at [out]. Plain
// memory alone, with as much scratch as `scratch` says, aligned to 64.
typedef struct tl_strip {
  void (*fold)(const tl_reducer *r, const void *context, void *out,
               const void *a, ptrdiff_t row_stride, size_t nrows, size_t ncols,
               void *scratch);
  size_t (*scratch)(const tl_reducer *r, const void *context, size_t nrows,
                    size_t ncols);  // grows with ncols
  const void *context;
  // Joins the results of rows with those of the next ones, in the binary tree
  // of a sum (tl_fold_join); NULL: rows stay together.
  tl_kernel2 *join;
} tl_strip;
// What joins the results of two runs of rows, items of [dtype], into those of
// all: NULL where the order of all rows counts.
tl_kernel2 *tl_fold_join(tl_fold fold, tl_dtype dtype);
// Folds the columns of an outer reduction; its length is not 0.
bool tl_reduce_strips(tl_reducer *r, const tl_strip *strip);

#endif
