// The table of kernels of one instruction set, from the lists.
#include "vm/kernels/cast_list.h"
#include "vm/kernels/decimal.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/move.h"
#include "vm/kernels/rotate.h"
#include "vm/kernels/search.h"

#define TL_ON_HALF(X, OP, function, computed) X(OP, FLOAT16, function)

#define TABLE_(isa) tl_kernels_##isa
#define TABLE(isa) TABLE_(isa)
extern const tl_kernel_table TABLE(TL_ISA);

#define MIXED(name)           \
  tl_kernel2 TL_K(name##_iu); \
  tl_kernel2 TL_K(name##_ui);
MIXED(equal)
MIXED(not_equal)
MIXED(less)
MIXED(less_equal)
MIXED(greater)
MIXED(greater_equal)

#define PREDICATE(D, sfx, T, W) tl_check TL_K(any_zero_##sfx);
TL_UNSIGNED(PREDICATE)
TL_FLOATS(PREDICATE)
TL_COMPLEXES(PREDICATE)
#undef PREDICATE
#define PREDICATE(D, sfx, T, W) tl_check TL_K(any_negative_##sfx);
TL_SIGNED(PREDICATE)
TL_FLOATS(PREDICATE)
#undef PREDICATE

// The kernels of one name by dtype: for all integers, or with those of unsigned
// ones for signed ones, too, and for bools; for reals and complex items.
#define AT(OP, DTYPE, function) [TL_##DTYPE] = function,
#define BY_SIGNED(name) TL_ON_SIGNED(AT, , name)
#define BY_UNSIGNED(name) TL_ON_UNSIGNED(AT, , name)
#define BY_BITS(name) TL_ON_BITS(AT, , name)
#define BY_BOOL(name) TL_ON_BOOL(AT, , name)
#define BY_FLOATS(name) TL_ON_COMPUTED(AT, , name)
#define BY_COMPLEX(name) TL_ON_COMPLEX(AT, , name)
// Those of which one asks whether they are zero.
#define BY_TRUTH(name) \
  BY_BOOL(name) BY_BITS(name) BY_FLOATS(name) BY_COMPLEX(name)
#define BY_PARTS(name) BY_FLOATS(name) BY_COMPLEX(name)
// The same item, as a word of its size.
#define BY_WORD(name) \
  BY_BOOL(name)       \
  BY_BITS(name)       \
  [TL_FLOAT32] = TL_K(name##_uint32), [TL_FLOAT64] = TL_K(name##_uint64),
// Those that have an order.
#define BY_ORDERED(name) \
  BY_BOOL(name) BY_SIGNED(name) BY_UNSIGNED(name) BY_FLOATS(name)
// Those that rows of have places.
#define BY_PLACES(name) [TL_INT64] = TL_K(name##_int64), BY_FLOATS(name)
// By the size of items (tl_move_size).
#define BY_SIZE(name)                                             \
  TL_K(name##_1), TL_K(name##_2), TL_K(name##_4), TL_K(name##_8), \
      TL_K(name##_16)

#define BY_OP(OP, DTYPE, function) [TL_OP_##OP][TL_##DTYPE] = function,
// Casts, but for those to bools and between floats.
#define FROM_INTEGER(from)                    \
  BY_BITS(cast_##from)                        \
  [TL_FLOAT16] = TL_K(cast_##from##_float16), \
  BY_FLOATS(cast_##from) BY_COMPLEX(cast_##from)
#define FROM_FLOAT(from)                \
  [TL_BOOL] = TL_K(cast_##from##_bool), \
  BY_SIGNED(cast_##from) BY_UNSIGNED(cast_##from) BY_COMPLEX(cast_##from)

// One kernel for all dtypes of a kind.
#define ON_WHOLE(function) TL_SAME_ANSWER(AT, , function)
#define ON_ALL(function)                                        \
  ON_WHOLE(function)                                            \
  [TL_FLOAT32] = TL_K(function), [TL_FLOAT64] = TL_K(function), \
  [TL_COMPLEX64] = TL_K(function), [TL_COMPLEX128] = TL_K(function),

const tl_kernel_table TABLE(TL_ISA) = {
    .name = TL_TEXT(TL_ISA),
    .unary = {TL_UNARY_KERNELS(BY_OP) TL_HALF_MOVES(BY_OP)},
    .binary = {TL_BINARY_KERNELS(BY_OP)},
    .binary_vs =
        {
#if !TL_SMALL
            TL_INVARIANT_KERNELS(BY_OP)
#endif
                TL_SCALAR_KERNELS(BY_OP, vs)},
    .binary_sv = {TL_SCALAR_KERNELS(BY_OP, sv)},
    .select = {BY_SIZE(select)},
#define ORDER(name)                                              \
  TL_K(equal_##name), TL_K(not_equal_##name), TL_K(less_##name), \
      TL_K(less_equal_##name), TL_K(greater_##name),             \
      TL_K(greater_equal_##name)
    .compare_iu = {ORDER(iu)},
    .compare_ui = {ORDER(ui)},
    // Those of a dtype to itself are copies by item size.
    .cast =
        {[TL_BOOL] = {[TL_BOOL] = TL_K(copy_1), FROM_INTEGER(uint8)},
#define X(D, sfx, T, W) \
  [TL_##D] = {[TL_BOOL] = TL_K(cast_##sfx##_bool), FROM_INTEGER(sfx)},
         TL_INTEGERS(X)
#undef X
             [TL_FLOAT16] = {FROM_FLOAT(float16)[TL_FLOAT16] = TL_K(copy_2),
                             BY_FLOATS(cast_float16)},
         [TL_FLOAT32] = {FROM_FLOAT(float32)[TL_FLOAT16] =
                             TL_K(cast_float32_float16),
                         [TL_FLOAT32] = TL_K(copy_4),
                         [TL_FLOAT64] = TL_K(cast_float32_float64)},
         [TL_FLOAT64] = {FROM_FLOAT(float64)[TL_FLOAT16] =
                             TL_K(cast_float64_float16),
                         [TL_FLOAT32] = TL_K(cast_float64_float32),
                         [TL_FLOAT64] = TL_K(copy_8)},
         [TL_COMPLEX64] = {[TL_COMPLEX64] = TL_K(copy_8),
                           [TL_COMPLEX128] = TL_K(cast_complex64_complex128)},
         [TL_COMPLEX128] = {[TL_COMPLEX64] = TL_K(cast_complex128_complex64),
                            [TL_COMPLEX128] = TL_K(copy_16)}},
    .within = {[TL_FLOAT16] = TL_K(within_float16),
               BY_SIGNED(within) BY_UNSIGNED(within) BY_FLOATS(within)},
    .any_zero = {BY_TRUTH(any_zero)},
    .any_negative = {BY_SIGNED(any_negative) BY_FLOATS(any_negative)},
    .fill = {BY_SIZE(fill)},
    .pack = {BY_SIZE(pack)},
    .unpack = {BY_SIZE(unpack)},
    .pack_tile = {BY_SIZE(pack_tile)},
    .spread = {BY_SIZE(spread)},
    .compress = {BY_SIZE(compress)},
    .expand = {BY_SIZE(expand)},
    .take = {BY_SIZE(take)},
    .take_far = {BY_SIZE(take_far)},
    .put = {BY_SIZE(put)},
    .true_indices = TL_K(true_indices),
    .indices_within = TL_K(indices_within),
    .wrap_indices = TL_K(wrap_indices),
    .iota = TL_K(iota),
    .spaced = TL_K(spaced),
    .even_bins = TL_K(even_bins),
    .bincount = TL_K(bincount),
    .bincount_weighted = TL_K(bincount_weighted),
    .text_places = TL_K(text_places),
    .decimals = TL_K(decimals),
    // By tl_fold, in its order.
    .fold_feed = {{[TL_BOOL] = TL_K(feed_count_uint8),
                   BY_SIGNED(feed_sum) BY_UNSIGNED(feed_sum)
                       BY_PARTS(feed_sum)},
                  {BY_ORDERED(feed_prod) BY_COMPLEX(feed_prod)},
                  {BY_ORDERED(feed_min)},
                  {BY_ORDERED(feed_max)},
                  {BY_TRUTH(feed_any)},
                  {BY_TRUTH(feed_all)},
                  {BY_TRUTH(feed_count)}},
    .fold_end = {{ON_WHOLE(end_total) BY_PARTS(end_sum)},
                 {ON_WHOLE(end_product) BY_PARTS(end_prod)},
                 {BY_WORD(end_item)},
                 {BY_WORD(end_item)},
                 {ON_ALL(end_seen)},
                 {ON_ALL(end_not_seen)},
                 {ON_ALL(end_total)}},
    .fold_merge = {{ON_WHOLE(merge_total) BY_PARTS(merge_sum)},
                   {ON_WHOLE(merge_product) BY_PARTS(merge_prod)},
                   {BY_ORDERED(merge_min)},
                   {BY_ORDERED(merge_max)},
                   {ON_ALL(merge_seen)},
                   {ON_ALL(merge_seen)},
                   {ON_ALL(merge_total)}},
    .sum_rows = {BY_FLOATS(sum_rows)},
#define X(FOLD, DTYPE, function) [TL_FOLD_##FOLD][TL_##DTYPE] = function,
    .fold_segments = {TL_SEGMENTS(X)},
#undef X
    .argmin_segments = {BY_PLACES(argmin_segments)},
    .argmax_segments = {BY_PLACES(argmax_segments)},
    .fold_outer = {{BY_ORDERED(outer_sum) BY_COMPLEX(outer_sum)},
                   {BY_ORDERED(outer_prod) BY_COMPLEX(outer_prod)},
                   {BY_ORDERED(outer_min)},
                   {BY_ORDERED(outer_max)},
                   {BY_TRUTH(outer_any)},
                   {BY_TRUTH(outer_all)},
                   {BY_TRUTH(outer_count)}},
    .scan = {{BY_ORDERED(scan_sum) BY_COMPLEX(scan_sum)},
             {BY_ORDERED(scan_prod) BY_COMPLEX(scan_prod)},
             {BY_ORDERED(scan_min)},
             {BY_ORDERED(scan_max)}},
    .argmin = {BY_ORDERED(argmin)},
    .argmax = {BY_ORDERED(argmax)},
    .argmin_outer = {BY_ORDERED(argmin_outer)},
    .argmax_outer = {BY_ORDERED(argmax_outer)},
    .square_deviation = {BY_PARTS(square_deviation)},
    .outer_squares = {BY_PARTS(outer_squares)},
    .search = {[TL_FLOAT16] = TL_K(search_float16),
               BY_ORDERED(search) BY_COMPLEX(search)},
    .sort_converts = TL_K(sort_converts),
#if !TL_SMALL
    .sort_columns = {TL_K(sort_columns_1), TL_K(sort_columns_2),
                     TL_K(sort_columns_4), TL_K(sort_columns_8)},
    .sort_lane = {[2] = TL_K(sort_lane_4), TL_K(sort_lane_8)},
    .sort_lane_bytes = 256 * TL_LANES(char),
#endif
    .convolve = {[TL_INT64] = TL_K(convolve_uint64),
                 [TL_UINT64] = TL_K(convolve_uint64),
                 [TL_FLOAT64] = TL_K(convolve_float64)},
    .turn_rows = TL_K(turn_rows),
    .add_row = TL_K(add_row),
    .row_product = TL_K(row_product),
    .gemm = {BY_BITS(gemm) BY_PARTS(gemm)},
    .gemv = {BY_BITS(gemv) BY_PARTS(gemv)},
};
