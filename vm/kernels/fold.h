// The kernels of reductions and scans; table.c says which dtype has which.
//
// Sums and products of reals have a state of their own for each dtype, because
// of their order. Integers, counts, any and all have one number, so that their
// end and merge serve all dtypes; whether items are zero the loops of unsigned
// ones say for signed ones, too.
#pragma once

#include "vm/kernels/loop.h"

#define X(D, sfx, T, W)                                        \
  tl_fold_feed TL_K(feed_sum_##sfx), TL_K(feed_prod_##sfx);    \
  tl_fold_outer TL_K(outer_sum_##sfx), TL_K(outer_prod_##sfx); \
  tl_scan TL_K(scan_sum_##sfx), TL_K(scan_prod_##sfx);
TL_INTEGERS(X)
TL_FLOATS(X)
TL_COMPLEXES(X)
#undef X
#define X(D, sfx, T, W)                                        \
  tl_fold_end TL_K(end_sum_##sfx), TL_K(end_prod_##sfx);       \
  tl_fold_merge TL_K(merge_sum_##sfx), TL_K(merge_prod_##sfx); \
  tl_kernel2 TL_K(square_deviation_##sfx);                     \
  tl_outer_squares TL_K(outer_squares_##sfx);
TL_FLOATS(X)
TL_COMPLEXES(X)
#undef X
#define X(D, sfx, T, W)                                       \
  tl_fold_feed TL_K(feed_min_##sfx), TL_K(feed_max_##sfx);    \
  tl_fold_merge TL_K(merge_min_##sfx), TL_K(merge_max_##sfx); \
  tl_fold_outer TL_K(outer_min_##sfx), TL_K(outer_max_##sfx); \
  tl_scan TL_K(scan_min_##sfx), TL_K(scan_max_##sfx);         \
  tl_arg_fold TL_K(argmin_##sfx), TL_K(argmax_##sfx);         \
  tl_arg_outer TL_K(argmin_outer_##sfx), TL_K(argmax_outer_##sfx);
TL_INTEGERS(X)
TL_FLOATS(X)
#undef X
#define X(D, sfx, T, W)                                       \
  tl_fold_feed TL_K(feed_any_##sfx), TL_K(feed_all_##sfx);    \
  tl_fold_feed TL_K(feed_count_##sfx);                        \
  tl_fold_outer TL_K(outer_any_##sfx), TL_K(outer_all_##sfx); \
  tl_fold_outer TL_K(outer_count_##sfx);
TL_UNSIGNED(X)
TL_FLOATS(X)
TL_COMPLEXES(X)
#undef X
#define X(D, sfx, T, W) tl_fold_end TL_K(end_item_##sfx);
TL_UNSIGNED(X)
#undef X
tl_fold_end TL_K(end_total), TL_K(end_product), TL_K(end_seen),
    TL_K(end_not_seen);
tl_fold_merge TL_K(merge_total), TL_K(merge_product), TL_K(merge_seen);

// Of rows of up to TL_SHORT_ROW items, with the bits of feed and end.
tl_sum_rows TL_K(sum_rows_float32), TL_K(sum_rows_float64);

// X(FOLD, DTYPE, function): reductions of many rows at a time.
#define TL_SEGMENTS(X)                          \
  X(SUM, BOOL, TL_K(count_segments_uint8))      \
  X(ANY, BOOL, TL_K(any_segments_uint8))        \
  X(ALL, BOOL, TL_K(all_segments_uint8))        \
  X(COUNT, BOOL, TL_K(count_segments_uint8))    \
  X(SUM, INT64, TL_K(sum_segments_uint64))      \
  X(SUM, UINT64, TL_K(sum_segments_uint64))     \
  X(MIN, INT64, TL_K(min_segments_int64))       \
  X(MAX, INT64, TL_K(max_segments_int64))       \
  X(SUM, FLOAT32, TL_K(sum_segments_float32))   \
  X(PROD, FLOAT32, TL_K(prod_segments_float32)) \
  X(MIN, FLOAT32, TL_K(min_segments_float32))   \
  X(MAX, FLOAT32, TL_K(max_segments_float32))   \
  X(SUM, FLOAT64, TL_K(sum_segments_float64))   \
  X(PROD, FLOAT64, TL_K(prod_segments_float64)) \
  X(MIN, FLOAT64, TL_K(min_segments_float64))   \
  X(MAX, FLOAT64, TL_K(max_segments_float64))
#define X(FOLD, DTYPE, function) tl_fold_segments function;
TL_SEGMENTS(X)
#undef X
// X(DTYPE, suffix): the dtypes whose places are found so.
#define TL_PLACE_SEGMENTS(X) \
  X(INT64, int64)            \
  X(FLOAT32, float32)        \
  X(FLOAT64, float64)
#define X(DTYPE, sfx)                           \
  tl_fold_segments TL_K(argmin_segments_##sfx); \
  tl_fold_segments TL_K(argmax_segments_##sfx);
TL_PLACE_SEGMENTS(X)
#undef X

// Sums down columns take strips of so many reals, whose counters fit a cache.
// A group is TL_OUTER_GROUP rows, which are added by a fixed tree.
enum { TL_OUTER_STRIP = 4096, TL_OUTER_GROUP = 8 };

// Rows lie at any distance, forward or backward.
TL_INLINE const void *row_of(const void *a, ptrdiff_t row_stride, size_t row) {
  return (const char *)a + (ptrdiff_t)row * row_stride;
}
