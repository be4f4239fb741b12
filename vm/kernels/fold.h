// Which kernels make up each reduction, by dtype.
#ifndef TALLY_VM_KERNELS_FOLD_H
#define TALLY_VM_KERNELS_FOLD_H

#include "vm/kernels/loop.h"

// X(FOLD, DTYPE, feed, end, merge)
// Sums and products of reals have a state of their own for each dtype, because
// of their order. Integers, counts, any and all have one number, so that their
// end and merge serve all dtypes.
#define TL_FOLDS_OF_REALS(X, DTYPE, T)                                      \
  X(SUM, DTYPE, TL_K(feed_sum_##T), TL_K(end_sum_##T), TL_K(merge_sum_##T)) \
  X(PROD, DTYPE, TL_K(feed_prod_##T), TL_K(end_prod_##T), TL_K(merge_prod_##T))
#define TL_FOLDS_OF_INTEGERS(X, DTYPE, T)                               \
  X(SUM, DTYPE, TL_K(feed_sum_##T), TL_K(end_total), TL_K(merge_total)) \
  X(PROD, DTYPE, TL_K(feed_prod_##T), TL_K(end_product), TL_K(merge_product))
#define TL_FOLDS_OF_ORDERED(X, DTYPE, T, size)             \
  X(MIN, DTYPE, TL_K(feed_min_##T), TL_K(end_item_##size), \
    TL_K(merge_min_##T))                                   \
  X(MAX, DTYPE, TL_K(feed_max_##T), TL_K(end_item_##size), TL_K(merge_max_##T))
#define TL_FOLDS_OF_TRUTH(X, DTYPE, T)                                    \
  X(ANY, DTYPE, TL_K(feed_any_##T), TL_K(end_seen), TL_K(merge_seen))     \
  X(ALL, DTYPE, TL_K(feed_all_##T), TL_K(end_not_seen), TL_K(merge_seen)) \
  X(COUNT, DTYPE, TL_K(feed_count_##T), TL_K(end_total), TL_K(merge_total))
// All folds of an integer dtype; U is the unsigned one of its width, whose
// loops say whether items are zero.
#define TL_FOLDS_OF(X, DTYPE, T, U, size) \
  TL_FOLDS_OF_INTEGERS(X, DTYPE, T)       \
  TL_FOLDS_OF_ORDERED(X, DTYPE, T, size)  \
  TL_FOLDS_OF_TRUTH(X, DTYPE, U)

#define TL_FOLDS(X)                                                            \
  X(SUM, BOOL, TL_K(feed_count_uint8), TL_K(end_total), TL_K(merge_total))     \
  X(PROD, BOOL, TL_K(feed_prod_uint8), TL_K(end_product), TL_K(merge_product)) \
  TL_FOLDS_OF_ORDERED(X, BOOL, uint8, 1)                                       \
  TL_FOLDS_OF_TRUTH(X, BOOL, uint8)                                            \
  TL_FOLDS_OF(X, INT8, int8, uint8, 1)                                         \
  TL_FOLDS_OF(X, INT16, int16, uint16, 2)                                      \
  TL_FOLDS_OF(X, INT32, int32, uint32, 4)                                      \
  TL_FOLDS_OF(X, INT64, int64, uint64, 8)                                      \
  TL_FOLDS_OF(X, UINT8, uint8, uint8, 1)                                       \
  TL_FOLDS_OF(X, UINT16, uint16, uint16, 2)                                    \
  TL_FOLDS_OF(X, UINT32, uint32, uint32, 4)                                    \
  TL_FOLDS_OF(X, UINT64, uint64, uint64, 8)                                    \
  TL_FOLDS_OF_REALS(X, FLOAT32, float32)                                       \
  TL_FOLDS_OF_ORDERED(X, FLOAT32, float32, 4)                                  \
  TL_FOLDS_OF_TRUTH(X, FLOAT32, float32)                                       \
  TL_FOLDS_OF_REALS(X, FLOAT64, float64)                                       \
  TL_FOLDS_OF_ORDERED(X, FLOAT64, float64, 8)                                  \
  TL_FOLDS_OF_TRUTH(X, FLOAT64, float64)                                       \
  TL_FOLDS_OF_REALS(X, COMPLEX64, complex64)                                   \
  TL_FOLDS_OF_TRUTH(X, COMPLEX64, complex64)                                   \
  TL_FOLDS_OF_REALS(X, COMPLEX128, complex128)                                 \
  TL_FOLDS_OF_TRUTH(X, COMPLEX128, complex128)

#define X(FOLD, DTYPE, feed, end, merge) \
  tl_fold_feed feed;                     \
  tl_fold_end end;                       \
  tl_fold_merge merge;
TL_FOLDS(X)
#undef X

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

// X(DTYPE, suffix): the dtypes that have an order.
#define TL_ORDERED(X) \
  X(BOOL, uint8)      \
  X(INT8, int8)       \
  X(INT16, int16)     \
  X(INT32, int32)     \
  X(INT64, int64)     \
  X(UINT8, uint8)     \
  X(UINT16, uint16)   \
  X(UINT32, uint32)   \
  X(UINT64, uint64)   \
  X(FLOAT32, float32) \
  X(FLOAT64, float64)

#define X(DTYPE, sfx)                    \
  tl_arg_fold TL_K(argmin_##sfx);        \
  tl_arg_fold TL_K(argmax_##sfx);        \
  tl_arg_outer TL_K(argmin_outer_##sfx); \
  tl_arg_outer TL_K(argmax_outer_##sfx);
TL_ORDERED(X)
#undef X

// X(FOLD, DTYPE, outer, scan); scan is NULL for the folds that have none.
#define TL_ROWS_OF_ORDERED(X, DTYPE, T)                  \
  X(MIN, DTYPE, TL_K(outer_min_##T), TL_K(scan_min_##T)) \
  X(MAX, DTYPE, TL_K(outer_max_##T), TL_K(scan_max_##T))
#define TL_ROWS_OF_SUMS(X, DTYPE, T)                     \
  X(SUM, DTYPE, TL_K(outer_sum_##T), TL_K(scan_sum_##T)) \
  X(PROD, DTYPE, TL_K(outer_prod_##T), TL_K(scan_prod_##T))
#define TL_ROWS_OF_TRUTH(X, DTYPE, T)      \
  X(ANY, DTYPE, TL_K(outer_any_##T), NULL) \
  X(ALL, DTYPE, TL_K(outer_all_##T), NULL) \
  X(COUNT, DTYPE, TL_K(outer_count_##T), NULL)
#define TL_ROWS_OF(X, DTYPE, T, U) \
  TL_ROWS_OF_SUMS(X, DTYPE, T)     \
  TL_ROWS_OF_ORDERED(X, DTYPE, T)  \
  TL_ROWS_OF_TRUTH(X, DTYPE, U)
#define TL_ROWS(X)                           \
  TL_ROWS_OF(X, BOOL, uint8, uint8)          \
  TL_ROWS_OF(X, INT8, int8, uint8)           \
  TL_ROWS_OF(X, INT16, int16, uint16)        \
  TL_ROWS_OF(X, INT32, int32, uint32)        \
  TL_ROWS_OF(X, INT64, int64, uint64)        \
  TL_ROWS_OF(X, UINT8, uint8, uint8)         \
  TL_ROWS_OF(X, UINT16, uint16, uint16)      \
  TL_ROWS_OF(X, UINT32, uint32, uint32)      \
  TL_ROWS_OF(X, UINT64, uint64, uint64)      \
  TL_ROWS_OF(X, FLOAT32, float32, float32)   \
  TL_ROWS_OF(X, FLOAT64, float64, float64)   \
  TL_ROWS_OF_SUMS(X, COMPLEX64, complex64)   \
  TL_ROWS_OF_TRUTH(X, COMPLEX64, complex64)  \
  TL_ROWS_OF_SUMS(X, COMPLEX128, complex128) \
  TL_ROWS_OF_TRUTH(X, COMPLEX128, complex128)

#define X(DTYPE, T)                    \
  tl_fold_outer TL_K(outer_sum_##T);   \
  tl_fold_outer TL_K(outer_prod_##T);  \
  tl_fold_outer TL_K(outer_any_##T);   \
  tl_fold_outer TL_K(outer_all_##T);   \
  tl_fold_outer TL_K(outer_count_##T); \
  tl_scan TL_K(scan_sum_##T);          \
  tl_scan TL_K(scan_prod_##T);
TL_ORDERED(X)
X(COMPLEX64, complex64)
X(COMPLEX128, complex128)
#undef X
#define X(DTYPE, T)                  \
  tl_fold_outer TL_K(outer_min_##T); \
  tl_fold_outer TL_K(outer_max_##T); \
  tl_scan TL_K(scan_min_##T);        \
  tl_scan TL_K(scan_max_##T);
TL_ORDERED(X)
#undef X

#define X(DTYPE, sfx)                      \
  tl_kernel2 TL_K(square_deviation_##sfx); \
  tl_outer_squares TL_K(outer_squares_##sfx);
X(FLOAT32, float32)
X(FLOAT64, float64)
X(COMPLEX64, complex64)
X(COMPLEX128, complex128)
#undef X

// Sums down columns take strips of so many reals, whose counters fit a cache.
// A group is TL_OUTER_GROUP rows, which are added by a fixed tree.
enum { TL_OUTER_STRIP = 4096, TL_OUTER_GROUP = 8 };

#endif
