// Consumers: what takes items in logical order, in pieces, and makes them into
// results. Reductions of arrays, of fused regions and of rows of any lengths
// all end in one, so that a sum has the same bits wherever its items come from.
//
//   items ──▶ begin ─▶ take … take ─▶ end ─▶ result
//                        ▲
//       other threads:  merge (a consumer of the items behind)
//
// Which kernels they call is a method, chosen once for a reduction of one
// dtype. The same method makes results in three layouts:
//
//   along     one result of items that come one after the other: tl_consumer
//   segments  many such results at a time: tl_rows_fold, and tl_row_stream
//             for items that come in blocks
//   across    results side by side, of whole rows: tl_columns_fold, and
//             tl_column_stream for rows that come in chunks
#pragma once

#include "vm/engine/engine.h"
#include "vm/engine/plan.h"

// --- Methods ----------------------------------------------------------------

// How a reduction takes items of one dtype: a fold of them, a fold of their
// squared deviations from a mean, or a search for the first best one.
typedef struct tl_method {
  tl_fold fold;
  tl_dtype dtype;   // of the items taken
  tl_dtype folded;  // of what the fold takes: of squares a real dtype
  size_t in, folded_size, out;  // of an item, of what is folded, of a result
  // Of a fold; for a search feed is NULL.
  tl_fold_feed *feed;
  tl_fold_end *end;
  tl_fold_merge *merge;
  tl_arg_fold *find;
  tl_kernel2 *squares;  // NULL: items are folded as they are
  // Rows at a time. NULL: no kernel does that.
  tl_sum_rows *sum_rows;       // of up to TL_SHORT_ROW items
  tl_fold_segments *segments;  // of any lengths
  // Columns. Runs of rows join their results by [join]; NULL: the order of all
  // rows counts, so that they have to stay together.
  tl_fold_outer *outer;
  tl_arg_outer *find_outer;
  tl_kernel2 *join;
} tl_method;

// The method of a reduction that is no variance; of a mean that of its sum.
// dtype: what the reduction folds in, which tl_reduce_dtypes says.
void tl_method_choose(tl_method *m, tl_reduction reduction, tl_dtype dtype);
// The method that sums squared deviations of items of a float or complex dtype
// from their means.
void tl_method_of_squares(tl_method *m, tl_dtype dtype);

// Whether it compares items: there is no result of complex numbers, and none of
// no items.
static inline bool tl_reduction_orders(tl_reduction reduction) {
  return reduction == TL_REDUCE_MIN || reduction == TL_REDUCE_MAX ||
         reduction == TL_REDUCE_ARGMIN || reduction == TL_REDUCE_ARGMAX;
}

// The fold that a reduction is, or begins with.
tl_fold tl_reduction_fold(tl_reduction reduction);
// What makes one of two results of the fold.
tl_op tl_fold_op(tl_fold fold);

// --- Along: one result ------------------------------------------------------

// The search for the first smallest or largest item.
typedef struct tl_arg_search {
  int64_t at;                               // items seen
  int64_t best;                             // -1: none yet
  _Alignas(16) char item[sizeof(tl_c128)];  // the best
} tl_arg_search;

typedef struct tl_consumer {
  const tl_method *method;
  const void *mean;  // where squares are folded
  union {
    tl_fold_state state;
    tl_arg_search search;
  };
} tl_consumer;

// [mean]: an item of method->dtype where its squares are folded, else NULL; it
// stays where it is.
void tl_consumer_begin(tl_consumer *c, const tl_method *method,
                       const void *mean);
// [items]: n contiguous ones of method->dtype, aligned as items are; n may be
// 0. How items are cut into pieces does not change the result's bits.
void tl_consumer_take(tl_consumer *c, const void *items, size_t n);
// Whether what is still to come changes nothing: one item may settle any and
// all.
bool tl_consumer_is_settled(const tl_consumer *c);
// Writes the result; the consumer is used up. Smallest and largest items, and
// their places, need at least one.
void tl_consumer_end(tl_consumer *c, void *out);

// --- Segments: many results at a time ---------------------------------------

// Rows one behind the other: row i is items [at[i], at[i + 1]), or, where [at]
// is NULL, has [length] of them. Items below [end] may be read.
//
//   items a b c d e, at 0 2 2 5       rows a b, none, c d e
//   items a b c d, length 2, n 2      rows a b, c d
typedef struct tl_rows {
  const char *items;  // the one at [first]
  const int64_t *at;
  int64_t length, n, end;
  int64_t first;  // 0 where [at] is NULL
} tl_rows;

// One result for each row, to [out]: each has the bits of a consumer that takes
// the row alone. [means]: one for each row where squares are folded.
void tl_rows_fold(const tl_method *m, const tl_rows *rows, const char *means,
                  char *out);

// Whether short rows of [length] items are transposed some at a time, so that
// the kernels of columns take them: [n] such rows that lie anywhere, their
// items and first items so many bytes apart, one result for each to [out].
bool tl_rows_transpose(const tl_method *m, int64_t length);
// Only where tl_rows_transpose is true of [length]. The steps may be of either
// sign.
// Results are dense and in the order of the rows.
void tl_rows_fold_transposed(const tl_method *m, const char *items,
                             int64_t length, int64_t item_step, int64_t n,
                             int64_t row_step, char *out);

// Takes blocks of items of [count] results one after the other, as a plan hands
// them out.
//
//   open ─ take … take ─ close       [to] is whole after the close alone
typedef struct tl_row_stream {
  const tl_method *method;
  bool multi;          // kernels of several rows take them
  const int64_t *at;   // offsets of the next row on; NULL: all have [length]
  int64_t length;      // items of each result
  int64_t count, row;  // results, and the one in work
  int64_t left;        // items of it to come
  char *to, *first;    // where results go on, and where they begin
  const char *mean, *means;  // likewise, where squares are folded
  // Threads share a stream: how, and the parts of a single result.
  tl_plan_split split;
  tl_consumer *parts;
  int64_t part_count;
  tl_consumer *single;  // that takes the items of a single result
  tl_consumer one;      // the result in work
} tl_row_stream;

// At most so many parts of a single result, for several threads. The number of
// threads does not count, so that the parts are the same on any machine.
enum { TL_STREAM_PARTS = 16 };

// [to] has room for [count] results, dense. [means] is as in tl_rows_fold and
// is borrowed until the close, like [method] and [to].
void tl_row_stream_open(tl_row_stream *s, const tl_method *method,
                        int64_t count, int64_t length, const char *means,
                        void *to);
// The same for rows of any lengths: row i has items [at[i], at[i + 1]), and the
// first item that comes is the one at[0]. Not of squares; threads may not share
// it.
void tl_row_stream_open_rows(tl_row_stream *s, const tl_method *method,
                             int64_t count, const int64_t *at, void *to);
// A tl_plan_consume.
void tl_row_stream_take(void *stream, const void *const *blocks, size_t n);
// How threads may share it; NULL: they may not. [parts] has room for
// TL_STREAM_PARTS consumers until the stream is closed; NULL: there is none.
const tl_plan_split *tl_row_stream_split(tl_row_stream *s, tl_vm *vm,
                                         tl_consumer *parts);
// After all items have come.
// Ends what the last block left open: the single result, or rows at the end
// without items. The parts of other threads are joined here, in order.
void tl_row_stream_close(tl_row_stream *s);

// --- Across: columns --------------------------------------------------------

// Memory that columns are folded with, to be aligned to 64; grows with ncols.
size_t tl_columns_scratch(const tl_method *m, size_t nrows, size_t ncols);
// nrows > 0 rows of ncols contiguous items, row_stride bytes apart, into as
// many results. Not of squares.
void tl_columns_fold(const tl_method *m, void *out, const void *a,
                     ptrdiff_t row_stride, size_t nrows, size_t ncols,
                     void *scratch);

// Joins the results of runs of rows, each run but the last of as many rows, in
// the binary tree of a sum: equal subtrees at once, the rest from the right.
typedef struct tl_column_join {
  const tl_method *method;
  size_t ncols;
  int64_t runs;
  int count;
  // One for each subtree that waits, of which no two have one size.
  char *waiting[64];
} tl_column_join;
// The results of the next run, which are written over.
void tl_column_join_push(tl_column_join *j, char *results);
// Where the results of all runs are.
char *tl_column_join_end(tl_column_join *j);

// Takes rows of columns in chunks of 8 * 2^n rows, which are whole subtrees of
// the tree that folds all of them (tl_fold_outer), the last chunk perhaps of
// fewer. Of places the best of the chunks are compared.
//
//   open ─ alloc ─┬─ begin ─ take … take ─ end ─┬─ free
//                 └◀─ each group of columns ────┘
typedef struct tl_column_stream {
  const tl_method *method;
  int64_t rows;   // of a chunk
  int64_t width;  // the most columns
  char *items;    // memory for the rows of a chunk
  // For tl_columns_fold, and rows in which the results of chunks wait.
  char *scratch, *waiting;
  void *block;
  size_t nbytes;  // of all memory
  char *to;       // results of the columns under way
  int64_t at;     // rows so far
  tl_column_join join;
} tl_column_stream;

// Whether the method's rows may come in chunks.
bool tl_column_stream_fits(const tl_method *m);
// Chunks of as many rows as fit [nbytes] with [width] columns, of [length].
void tl_column_stream_open(tl_column_stream *s, const tl_method *method,
                           int64_t width, int64_t length, size_t nbytes);
// The memory of s->nbytes; false: there is none, after tl_fail.
bool tl_column_stream_alloc(tl_column_stream *s, tl_vm *vm);
// Also after tl_column_stream_alloc gave true and nothing was taken.
void tl_column_stream_free(tl_column_stream *s, tl_vm *vm);
// All rows of [width] columns: a chunk at a time, dense.
// [to] gets the results, dense, and may be written from the first chunk on.
// Begin, take … and end are called again for each group of columns; the memory
// is made once.
void tl_column_stream_begin(tl_column_stream *s, void *to);
// [count] is s->rows, but for the last chunk, which may have fewer; [width] is
// the same for all chunks and at most the stream's. [rows] may be s->items and
// is not read afterwards.
void tl_column_stream_take(tl_column_stream *s, const void *rows, int64_t count,
                           int64_t width);
// After all chunks, of which there is at least one. Writes the results to [to],
// where those of a search are already.
void tl_column_stream_end(tl_column_stream *s, int64_t width);
