// Element kernels: loops over pointers and counts, and nothing else. No VM, no
// allocation, no errors; the caller has checked shapes, bounds and divisors.
//
// One table per instruction set holds every loop:
//
//   kernel files  --compiled once per set-->  tl_k_add_float64_base
//   (TL_K(name) in loop.h names them)         tl_k_add_float64_avx2 …
//                                                   |
//   table.c gathers them                            v
//                       tl_kernels_base, _avx2, _avx512
//   isa.c chooses                                   |
//                                                   v
//   tl_kernels()->binary[TL_OP_ADD][TL_FLOAT64](out, a, b, n)
//
// All tables give the same bits (NaNs aside, whose payload is unspecified),
// matrix products of floats excepted. That is why no kernel but those may fuse
// a multiplication with an addition unless the product is exact, and why sums
// have an order of their own (tl_fold_state).
//
// A caller takes the table once, asks a check where the operation can fail
// (any_zero, within), packs operands that are not contiguous into a buffer
// of a few hundred items, and calls the loop for a block that stays in the
// cache; the vector engine's plans (vm/engine/plan.h) do just that.
//
// Items are contiguous unless a stride (in bytes, may be 0 or negative) is
// passed, and aligned to their size. bool items are bytes of 0 or 1. [out] may
// be exactly an input if their items have the same size; it never overlaps an
// input in another place. n may be 0 everywhere unless a comment says
// otherwise.
#pragma once

#include "vm/elementwise.h"
#include "vm/stop.h"

// Elementwise loops: out[i] of a[i]; of a[i] and b[i]; of a[i], b[i] and c[i].
typedef void tl_kernel1(void *out, const void *a, size_t n);
typedef void tl_kernel2(void *out, const void *a, const void *b, size_t n);
typedef void tl_kernel3(void *out, const void *a, const void *b, const void *c,
                        size_t n);

// A predicate over n items, asked before the first write.
typedef bool tl_check(const void *a, size_t n);

// The items of one dtype that another one has. Of integers those that are not
// above [least] by more than [span], as unsigned numbers; of floats, cut to
// integers, those between two numbers that are not.
//
//   int16 to uint8       least 0, span 255
//   float64 to uint8     above -1, below 256
typedef struct tl_bounds {
  uint64_t least, span;
  double above, below;
} tl_bounds;
typedef bool tl_within(const void *a, size_t n, const tl_bounds *bounds);

// Kernels exist for the dtypes below TL_STRING.
enum { TL_KERNEL_DTYPES = TL_STRING };

// Kernels that only move items are indexed by the logarithm of the item size:
// 1, 2, 4, 8 and 16 bytes are 0 to 4.
enum { TL_MOVE_SIZES = 5 };

// The next multiple of a cache line: buffers that start on one are read with
// aligned vectors, and threads share none.
static inline size_t tl_align_64(size_t nbytes) {
  return (nbytes + 63) / 64 * 64;
}

// The index of an item size; sizes between two are rounded up.
static inline unsigned tl_move_size(size_t itemsize) {
  return itemsize > 8   ? 4
         : itemsize > 4 ? 3
         : itemsize > 2 ? 2
         : itemsize > 1 ? 1
                        : 0;
}

// The kinds of reductions. Results have the dtype that tl_fold_result() gives.
typedef enum tl_fold {
  TL_FOLD_SUM,
  TL_FOLD_PROD,
  TL_FOLD_MIN,    // real dtypes; NaN where any item is; n > 0
  TL_FOLD_MAX,    // the same
  TL_FOLD_ANY,    // whether any item is not zero (NaN is not zero)
  TL_FOLD_ALL,    // whether no item is zero
  TL_FOLD_COUNT,  // how many items are not zero
  TL_FOLD_KINDS
} tl_fold;

// A reduction in progress over a sequence of items that is fed in pieces. The
// result depends on the sequence alone, not on the pieces (but which of -0.0
// and 0.0 is the smaller is open). Start with tl_fold_begin().
//
// Sums and products have one order for every machine: item i belongs to lane
// i mod 32 of its leaf of 1024 items, lanes fold by halves, leaves merge like a
// binary counter.
enum { TL_FOLD_LANES = 32, TL_FOLD_LEAF = 1024, TL_FOLD_DEPTH = 56 };

// Whole leaves are in [partial], the sum of as many as a power of two each, and
// the items behind them in [lanes]:
//
//   3 leaves and 40 items fed     partial: 2 leaves, 1 leaf; lanes: 40 items
typedef struct tl_fold_state {
  uint64_t count;  // items fed
  union {
    float f32[2 * TL_FOLD_LANES];  // twice for the two parts of complex items
    double f64[2 * TL_FOLD_LANES];
    uint64_t u64;                  // integers need no order; any, all, count
    unsigned char item[16];        // so far: min, max
  } lanes;                         // of the leaf in work
  tl_c128 partial[TL_FOLD_DEPTH];  // of whole leaves, by falling size
} tl_fold_state;

// Starts a reduction over an empty sequence.
static inline void tl_fold_begin(tl_fold_state *state) {
  state->count = 0;
  state->lanes.u64 = 0;
}

// Appends n items to the sequence.
typedef void tl_fold_feed(tl_fold_state *state, const void *a, size_t n);
// Writes one item of the result's dtype. min and max need count > 0. The state
// is used up.
typedef void tl_fold_end(tl_fold_state *state, void *out);
// Appends the items that [next] was fed to those that [state] was fed
// (threads). For sums and products state->count has to be a multiple of the
// smallest power of two, at least TL_FOLD_LEAF, that is not below next->count:
// then the tree is that of one sequence.
typedef void tl_fold_merge(tl_fold_state *state, const tl_fold_state *next);

// Sums of [nrows] rows of n items each, 1 to TL_SHORT_ROW, in contiguous
// memory: out[i] has the bits that row i alone gives.
enum { TL_SHORT_ROW = 16 };
typedef void tl_sum_rows(void *out, const void *a, size_t nrows, size_t n);
// Reductions of rows of any lengths, for extremes and their places none empty:
// row i is items [at[i], at[i + 1]) of an array of which [a] holds, and may be
// read, those from [first] on and below [end].
//
//   a 1 2 3 4 5, first 0, at 0 2 5     sums 3 12
typedef void tl_fold_segments(void *out, const void *a, int64_t first,
                              int64_t end, const int64_t *at, size_t nrows);

// out[i] = 0 + a[i] b[0] + a[i - 1] b[1] + ... + a[i - m + 1] b[m - 1], in
// this order, for i in [0, n). The m - 1 items before a are read. out is
// disjoint from both.
//
//   a 1 2 3 behind a 0, b 1 10     out 1 12 23
typedef void tl_convolve_kernel(void *out, const void *a, const void *b,
                                size_t n, size_t m);

// Folds nrows rows of ncols contiguous items, row_stride bytes apart, into one
// row of ncols results. min and max need nrows > 0. Sums take 8 rows by a fixed
// tree and a binary counter of such; the others go row by row. [scratch] has
// tl_fold_outer_scratch() bytes, aligned to 64; it may be NULL if that is 0.
//
//   rows 1 2 and 3 4     sums 4 6
typedef void tl_fold_outer(void *out, const void *a, ptrdiff_t row_stride,
                           size_t nrows, size_t ncols, void *scratch);
// The sums of |item - mean of its column|^2 in the order of tl_fold_outer;
// those of complex items are reals of their width. [scratch] is that of a sum
// of the results' dtype. nrows > 0.
typedef void tl_outer_squares(void *out, const void *means, const void *a,
                              ptrdiff_t row_stride, size_t nrows, size_t ncols,
                              void *scratch);

// The index of the first item that is the smallest or largest; NaN is both.
// [best] is an item that came before, or NULL: n where none is better. n > 0.
// Real dtypes and bool.
typedef size_t tl_arg_fold(const void *a, size_t n, const void *best);
// The same down the columns, with an index for each. nrows > 0. [best] is
// scratch for ncols items.
//
//   rows 1 5 and 3 2     largest at 1 0
typedef void tl_arg_outer(int64_t *out, void *best, const void *a,
                          ptrdiff_t row_stride, size_t nrows, size_t ncols);

// Sequential scans: out[i] is the fold of all items up to i. [carry] holds one
// item of the result's dtype, as [out] does; it goes in and comes out, so that
// a scan may be fed in pieces. Begin sums at 0, products at 1, min and max at
// the first item. TL_FOLD_SUM to TL_FOLD_MAX.
//
//   a 1 2 3, carry 10     out 11 13 16, carry 16
typedef void tl_scan(void *out, const void *a, void *carry, size_t n);

// Copies n strided items to contiguous ones; stride 0 repeats one item.
typedef void tl_pack(void *out, const void *a, ptrdiff_t stride, size_t n);
// Copies n contiguous items to strided ones; stride 0 leaves the last.
typedef void tl_unpack(void *out, ptrdiff_t stride, const void *a, size_t n);
// Copies a tile of nrows by ncols items from any strides; rows of the target
// are contiguous and out_row bytes from one to the next. a_row or a_column of
// 0 repeats; with the source's column stride larger than its row stride the
// tile is transposed in passing.
//
//   rows 1 2 3 and 4 5 6 of int64; nrows 3, ncols 2, a_row 8, a_column 24
//   out 1 4, 2 5, 3 6
typedef void tl_pack_tile(void *out, ptrdiff_t out_row, const void *a,
                          ptrdiff_t a_row, ptrdiff_t a_column, size_t nrows,
                          size_t ncols);

// Repeats a value for each item of its row: row r is items [offsets[r],
// offsets[r + 1]) of all, and its value lies at values + r * step. Writes the
// items [first, first + n), where [offsets] and [values] begin at the row of
// [first]; returns how many rows end there.
//
//   values 7 8, offsets 0 2 5, first 0, n 4     out 7 7 8 8, returns 1
typedef size_t tl_spread(void *out, const void *values, ptrdiff_t step,
                         const int64_t *offsets, int64_t first, size_t n);

// out[k++] = a[i] for every true mask[i]; returns k. [out] has room for k
// items and is disjoint from a, or is a, or begins before it.
//
//   a 1 2 3 4, mask 1 0 0 1     out 1 4, returns 2
typedef size_t tl_compress_kernel(void *out, const void *a, const uint8_t *mask,
                                  size_t n);
// out[i] = a[k++] for every true mask[i]; other items stay. Returns k.
//
//   a 8 9, mask 1 0 0 1         out 8 . . 9, returns 2
typedef size_t tl_expand_kernel(void *out, const uint8_t *mask, const void *a,
                                size_t n);
// out[i] = a[index[i]], items of a being [stride] bytes from one to the next.
// 0 <= index; the caller has checked them.
typedef void tl_gather(void *out, const void *a, ptrdiff_t stride,
                       const int64_t *index, size_t n);
// The same where the items are too scattered for the caches: items of the
// following indices are prefetched. [known] indices may be read in all, at
// least n; those behind n may be out of range.
// A caller that goes block by block passes what is left of all indices, so that
// the first items of the next block are on their way.
typedef void tl_gather_far(void *out, const void *a, ptrdiff_t stride,
                           const int64_t *index, size_t n, size_t known);
// out[index[i]] = a[i], in order: the last of equal indices wins. Indices are
// in range; [stride] in bytes.
//
//   index 2 0 2, a 7 8 9     out 8 . 9
typedef void tl_put_kernel(void *out, ptrdiff_t stride, const int64_t *index,
                           const void *a, size_t n);

// Even bins: item v is about (v - low) * scale bins from the first one's edge,
// and truly in the bin that this gives unless it is within margin of another.
// The quotient is rounded, so that an item next to an edge is not decided here:
// TL_BIN_UNSURE, and the caller compares it with the edges.
//
//   low 0, high 1, scale 2; items 0.2 0.7 0.5 3.0     0 1 unsure none
typedef struct tl_even_bins {
  double low, high, scale, margin;
} tl_even_bins;

// Of an item that is outside of the bins, and of one that is next to an edge.
// Both are negative, as no bin is: one test of a sign finds them.
enum { TL_BIN_NONE = -2, TL_BIN_UNSURE = -1 };

// Where each of n queries would go in m sorted items (NaN last): the first
// position whose item is not less, or with [right] the first that is greater.
//
//   sorted 1 3 3 5, query 3     1, right 3
typedef void tl_search(int64_t *out, const void *sorted, size_t m,
                       const void *queries, size_t n, bool right);

typedef struct tl_sort_convert tl_sort_convert;  // in sort.h

// The bytes of a row that a sort of columns goes through, whatever its keys.
enum { TL_SORT_ROW = 64 };

// Sorts each column of n rows of TL_SORT_ROW bytes of unsigned keys.
//
//   rows 3 1 .., 2 5 ..     2 1 .., 3 5 ..
typedef void tl_sort_columns(void *rows, size_t n);
// Sorts n unsigned keys by way of [rows], aligned to 64, with room for the next
// power of two of them, or TL_SORT_ROWS bytes.
enum { TL_SORT_ROWS = 8 * TL_SORT_ROW };
typedef void tl_sort_lane(void *keys, size_t n, void *rows);

// c = a @ b: c is m rows of n contiguous items, c_row bytes from one to the
// next; a is m by k and b is k by n with any strides in bytes. [scratch] has
// tl_gemm_scratch() bytes, aligned to 64. c overlaps neither. k may be 0: c is
// zeros. Where [stop], which may be NULL, ends it, the items of c are lost.
typedef void tl_gemm(void *c, ptrdiff_t c_row, const void *a, ptrdiff_t a_row,
                     ptrdiff_t a_column, const void *b, ptrdiff_t b_row,
                     ptrdiff_t b_column, size_t m, size_t n, size_t k,
                     void *scratch, tl_stop *stop);

// out += a @ x: out is m contiguous items; a is m by k, and x k items, with any
// strides in bytes. out overlaps neither. The result has the same bits whether
// k goes at once or in pieces that are multiples of TL_GEMV_LEAF, whatever the
// instruction set, but not whatever the strides.
enum { TL_GEMV_LEAF = 1024 };
typedef void tl_gemv(void *out, const void *a, ptrdiff_t a_row,
                     ptrdiff_t a_column, const void *x, ptrdiff_t x_stride,
                     size_t m, size_t k);

// Few enough that places are numbers of 16 bits, and that the text and its
// three lists stay in the nearer caches while its cells are read.
enum { TL_TEXT_BYTES = 1 << 13 };  // of a table, at once

// Places in a table of text, each behind the byte that it is about: cell[0] is
// 0, cell[i + 1] is behind the separator or '\n' that ends cell i, line[i]
// behind '\n' number i, back[i] behind '\r' number i. The arrays have room for
// 64 more, since kernels write whole vectors.
//
//   "a,b\nc" by ','     cell 0 2 4, line 4; cells 2, lines 1, backs 0
typedef struct tl_text_places {
  size_t cells, lines, backs;
  uint16_t cell[TL_TEXT_BYTES + 64];
  uint16_t line[TL_TEXT_BYTES + 64];
  uint16_t back[TL_TEXT_BYTES + 64];
} tl_text_places;

// Plain decimals: perhaps a minus, 1 to 16 digits, perhaps a point among them
// (16 bytes in all), a number of at most 2^53. All others are for the caller
// to read.
enum { TL_DECIMALS = 256 };  // cells at once
// What one cell is, and of several the or of all: 0 where all are whole
// numbers, without TL_DECIMAL_OTHER where none is for the caller.
enum { TL_DECIMAL_INTEGER, TL_DECIMAL_POINT, TL_DECIMAL_OTHER };

// All kernels of one instruction set; NULL where no kernel exists. "By dtype"
// is the dtype computed in: operands are cast to it first
// (tl_op_compute_dtype), results follow from it (tl_op_result).
typedef struct tl_kernel_table {
  const char *name;  // "base", "avx2", "avx512"

  // Elementwise operations by tl_op and the dtype computed in.
  tl_kernel1 *unary[TL_OP_COUNT][TL_KERNEL_DTYPES];
  tl_kernel2 *binary[TL_BINARY_OPS][TL_KERNEL_DTYPES];
  // b (vs) or a (sv) points to one item. float64, float32, int64 of + - * /,
  // comparisons, maximum and minimum, and integers // and % one (vs); callers
  // splat elsewhere.
  tl_kernel2 *binary_vs[TL_BINARY_OPS][TL_KERNEL_DTYPES];
  tl_kernel2 *binary_sv[TL_BINARY_OPS][TL_KERNEL_DTYPES];
  // out = a ? b : c, with a bools (TL_OP_WHERE).
  tl_kernel3 *select[TL_MOVE_SIZES];
  // Comparisons of int64 with uint64, exact (float64 would round), by
  // op - TL_OP_EQUAL: a is int64, b is uint64; and the other way round.
  tl_kernel2 *compare_iu[6];
  tl_kernel2 *compare_ui[6];

  // Casts, from and to the same included; NULL from complex to anything else.
  // Integers wrap; floats are truncated toward zero, saturate at the range's
  // ends, and NaN gives 0; anything but 0 is true.
  tl_kernel1 *cast[TL_KERNEL_DTYPES][TL_KERNEL_DTYPES];
  // Whether all items are within bounds, by their dtype: integers and floats.
  tl_within *within[TL_KERNEL_DTYPES];

  // Predicates of the right operand: any_zero before integer // and %;
  // any_negative before integer ** << >> (NULL for unsigned and bool).
  tl_check *any_zero[TL_KERNEL_DTYPES];
  tl_check *any_negative[TL_KERNEL_DTYPES];

  // Moves, by tl_move_size() of the items.
  tl_kernel1 *fill[TL_MOVE_SIZES];  // a points to one item
  // Between strided and contiguous items.
  tl_pack *pack[TL_MOVE_SIZES];
  tl_unpack *unpack[TL_MOVE_SIZES];
  tl_pack_tile *pack_tile[TL_MOVE_SIZES];
  // By rows, by masks and by indices.
  tl_spread *spread[TL_MOVE_SIZES];
  tl_compress_kernel *compress[TL_MOVE_SIZES];
  tl_expand_kernel *expand[TL_MOVE_SIZES];
  tl_gather *take[TL_MOVE_SIZES];
  tl_gather_far *take_far[TL_MOVE_SIZES];
  tl_put_kernel *put[TL_MOVE_SIZES];
  // base + i for every true mask[i]; returns their count.
  size_t (*true_indices)(int64_t *out, const uint8_t *mask, int64_t base,
                         size_t n);
  // Whether all are in [0, length).
  bool (*indices_within)(const int64_t *index, int64_t length, size_t n);
  // out[i] = index[i], plus length if negative. Returns the position of the
  // first index outside [-length, length), or n; items after it are undefined.
  //
  //   length 4, index -1 0 3     out 3 0 3, returns 3
  //   length 4, index 1 4 0      returns 1
  size_t (*wrap_indices)(int64_t *out, const int64_t *index, int64_t length,
                         size_t n);
  // out[i] = start + i * step.
  void (*iota)(int64_t *out, int64_t start, int64_t step, size_t n);
  // out[i] = start + (first + i) * step; n is below 2^31.
  void (*spaced)(double *out, double start, double step, double first,
                 size_t n);
  // out[index[i]] += 1, or += weight[i]. Indices are in range.
  void (*bincount)(int64_t *out, const int64_t *index, size_t n);
  void (*bincount_weighted)(double *out, const int64_t *index,
                            const double *weight, size_t n);
  // The places in n bytes of text, at most TL_TEXT_BYTES and a multiple of 64,
  // up to the first quote or NUL.
  void (*text_places)(tl_text_places *out, const char *text, char separator,
                      size_t n);
  // n cells, at most TL_DECIMALS: cell i is text[begin[i * step]] up to
  // [behind] bytes before begin[i * step + 1]; 16 bytes before its end may be
  // read. values[i], correctly rounded, and, where there is no point,
  // integers[i], unless that is NULL. Returns what the cells are, joined by or.
  unsigned (*decimals)(double *values, int64_t *integers, const char *text,
                       const uint16_t *begin, size_t step, size_t behind,
                       size_t n);

  // Reductions of sequences, by kind and dtype of the items.
  tl_fold_feed *fold_feed[TL_FOLD_KINDS][TL_KERNEL_DTYPES];
  tl_fold_end *fold_end[TL_FOLD_KINDS][TL_KERNEL_DTYPES];
  tl_fold_merge *fold_merge[TL_FOLD_KINDS][TL_KERNEL_DTYPES];
  // Many short rows, and rows of any lengths, with one call.
  tl_sum_rows *sum_rows[TL_KERNEL_DTYPES];  // float32, float64; else NULL
  tl_fold_segments
      *fold_segments[TL_FOLD_KINDS][TL_KERNEL_DTYPES];  // NULL: none
  tl_fold_segments *argmin_segments[TL_KERNEL_DTYPES];  // to int64; NULL: none
  tl_fold_segments *argmax_segments[TL_KERNEL_DTYPES];
  // Reductions down the columns of rows.
  tl_fold_outer *fold_outer[TL_FOLD_KINDS][TL_KERNEL_DTYPES];
  // Places of extremes: of a sequence, and down the columns.
  tl_arg_fold *argmin[TL_KERNEL_DTYPES];
  tl_arg_fold *argmax[TL_KERNEL_DTYPES];
  tl_arg_outer *argmin_outer[TL_KERNEL_DTYPES];
  tl_arg_outer *argmax_outer[TL_KERNEL_DTYPES];
  tl_scan *scan[TL_FOLD_KINDS][TL_KERNEL_DTYPES];
  // out[i] = |a[i] - *b|^2 for variances: float32, float64; complex items give
  // reals of the same width.
  tl_kernel2 *square_deviation[TL_KERNEL_DTYPES];
  tl_outer_squares *outer_squares[TL_KERNEL_DTYPES];

  // The bin of each item, or TL_BIN_NONE or TL_BIN_UNSURE; whether all are
  // bins.
  bool (*even_bins)(int64_t *out, const tl_even_bins *bins, const double *items,
                    size_t n);
  tl_search *search[TL_KERNEL_DTYPES];
  // Items to keys and back: words of 1, 2, 4 and 8 bytes, three real dtypes.
  const tl_sort_convert *sort_converts;
  // By tl_move_size() of the keys; NULL in a small set.
  tl_sort_columns *sort_columns[4];
  tl_sort_lane *sort_lane[4];  // of keys of 4 and of 8 bytes
  size_t sort_lane_bytes;      // of so many, it is faster than others; 0: none
  tl_convolve_kernel *convolve[TL_KERNEL_DTYPES];  // int64, uint64, float64
  // Rotates rows i and i + 1 of count + 1 rows of n items, [row] items from
  // one to the next, for i from count - 1 down to 0: (x, y) becomes (c x - s
  // y, s x + c y).
  void (*turn_rows)(double *a, size_t row, const double *c, const double *s,
                    size_t count, size_t n);
  // x += f * y, and the sum of x * y: of rows of n items.
  void (*add_row)(double *x, double f, const double *y, size_t n);
  double (*row_product)(const double *x, const double *y, size_t n);
  // Products of matrices, and of a matrix with a vector.
  tl_gemm *gemm[TL_KERNEL_DTYPES];  // not bool
  tl_gemv *gemv[TL_KERNEL_DTYPES];  // the same
} tl_kernel_table;

// The table for this machine; chosen at the first call, any thread. The
// environment variable TALLY_ISA (base, avx2, avx512) lowers the choice.
static inline const tl_kernel_table *tl_kernels(void) {
  extern const tl_kernel_table *tl_kernels_chosen;
  const tl_kernel_table *tl_kernels_choose(void);
  const tl_kernel_table *table =
      __atomic_load_n(&tl_kernels_chosen, __ATOMIC_RELAXED);
  return table != NULL ? table : tl_kernels_choose();
}

// The table called [name], if it was built and this machine can run it; else
// NULL.
// Tests compare the tables of a machine by it. A call may load an object.
const tl_kernel_table *tl_kernels_named(const char *name);

// The dtype of the result of a fold (and scan) over items of [dtype]; sums and
// products of bools and integers widen to int64 or uint64. TL_DTYPE_COUNT
// where there is no such fold (min and max of complex).
// By table, so that it can be asked before any kernel is chosen.
tl_dtype tl_fold_result(tl_fold fold, tl_dtype dtype);

// The items of [from] that neither wrap nor saturate nor are NaN in the cast to
// [to]; a lost fraction or rounding is no matter. False: all of them, or there
// is no such cast.
bool tl_cast_bounds(tl_dtype from, tl_dtype to, tl_bounds *out);
// Whether a cast that exists needs no look at the items.
static inline bool tl_cast_always_fits(tl_dtype from, tl_dtype to) {
  tl_bounds bounds;
  return !tl_cast_bounds(from, to, &bounds);
}

// The bytes of scratch for tl_fold_outer, which may be 0.
size_t tl_fold_outer_scratch(tl_fold fold, tl_dtype dtype, size_t nrows,
                             size_t ncols);
// The logarithm of the gamma function's magnitude, in any number of threads.
double tl_lgamma(double x);
// The bytes of scratch for tl_gemm of such a product.
// It has the packed panels of both operands; of complex products their parts
// too.
size_t tl_gemm_scratch(tl_dtype dtype, size_t m, size_t n, size_t k);

// Sorts n items in place, or writes the order (the positions of the items from
// first to last). Stable, ascending or descending, NaN last in both; complex
// by real part, then imaginary. tl_sort gives NaNs one payload and puts -0.0
// before 0.0 (descending: after); tl_argsort takes these as equal. The order
// may go [over] items of 8 bytes. [scratch] has tl_sort_scratch() or
// tl_argsort_scratch() bytes, aligned to 64. False where [stop] (may be NULL)
// said so; the items or positions are lost then.
bool tl_sort(tl_dtype dtype, void *a, size_t n, bool descending, void *scratch,
             tl_stop *stop);
// The position of the item that comes first is the first one:
//
//   items 3 1 2     out 1 2 0
bool tl_argsort(tl_dtype dtype, int64_t *out, const void *a, size_t n,
                bool descending, void *scratch, tl_stop *stop);
// Sorts the columns of n rows of TL_SORT_ROW bytes of real items or bools, each
// as tl_sort would.
void tl_sort_side_by_side(tl_dtype dtype, void *rows, size_t n,
                          bool descending);
// The bytes of scratch for sorting n items.
size_t tl_sort_scratch(tl_dtype dtype, size_t n);
// The same for an order; [over]: with room for items that were moved along.
size_t tl_argsort_scratch(tl_dtype dtype, size_t n, bool over);

// The position where each run of equal items begins; returns how many runs.
// NaNs differ from one another. [out] has room for n. The items at these
// positions are the distinct ones, differences of positions their counts.
//
//   sorted 1 1 3 5 5     0 2 3
// [sorted] as tl_sort leaves it: equal items stand together, and NaN last.
size_t tl_run_starts(tl_dtype dtype, int64_t *out, const void *sorted,
                     size_t n);
