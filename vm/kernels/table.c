// The table of kernels of one instruction set, from the lists.
#include "vm/kernels/cast_list.h"
#include "vm/kernels/decimal.h"
#include "vm/kernels/fold.h"
#include "vm/kernels/list.h"
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

// Signed integers that share what unsigned ones have.
#define AS_BITS(X)        \
  X(BOOL, uint8)          \
  X(INT8, uint8)          \
  X(INT16, uint16)        \
  X(INT32, uint32)        \
  X(INT64, uint64)        \
  X(UINT8, uint8)         \
  X(UINT16, uint16)       \
  X(UINT32, uint32)       \
  X(UINT64, uint64)       \
  X(FLOAT32, float32)     \
  X(FLOAT64, float64)     \
  X(COMPLEX64, complex64) \
  X(COMPLEX128, complex128)

#define BY_OP(OP, DTYPE, function) [TL_OP_##OP][TL_##DTYPE] = function,
#define BY_DTYPE(FROM, TO, function) [TL_##FROM][TL_##TO] = function,
#define CHECK(FROM, TO, from, to, ...) \
  [TL_##FROM][TL_##TO] = TL_K(check_##from##_##to),
#define FEED(FOLD, DTYPE, feed, end, merge) [TL_FOLD_##FOLD][TL_##DTYPE] = feed,
#define END(FOLD, DTYPE, feed, end, merge) [TL_FOLD_##FOLD][TL_##DTYPE] = end,
#define MERGE(FOLD, DTYPE, feed, end, merge) \
  [TL_FOLD_##FOLD][TL_##DTYPE] = merge,
#define OUTER(FOLD, DTYPE, outer, scan) [TL_FOLD_##FOLD][TL_##DTYPE] = outer,
#define SCAN(FOLD, DTYPE, outer, scan) [TL_FOLD_##FOLD][TL_##DTYPE] = scan,

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
    .select =
        {
            [TL_BOOL] = TL_K(select_1),
            [TL_INT8] = TL_K(select_1),
            [TL_INT16] = TL_K(select_2),
            [TL_INT32] = TL_K(select_4),
            [TL_INT64] = TL_K(select_8),
            [TL_UINT8] = TL_K(select_1),
            [TL_UINT16] = TL_K(select_2),
            [TL_UINT32] = TL_K(select_4),
            [TL_UINT64] = TL_K(select_8),
            [TL_FLOAT16] = TL_K(select_2),
            [TL_FLOAT32] = TL_K(select_4),
            [TL_FLOAT64] = TL_K(select_8),
            [TL_COMPLEX64] = TL_K(select_8),
            [TL_COMPLEX128] = TL_K(select_16),
        },
#define ORDER(name)                                                          \
  [TL_OP_EQUAL - TL_OP_EQUAL] = TL_K(equal_##name),                          \
                 [TL_OP_NOT_EQUAL - TL_OP_EQUAL] = TL_K(not_equal_##name),   \
                 [TL_OP_LESS - TL_OP_EQUAL] = TL_K(less_##name),             \
                 [TL_OP_LESS_EQUAL - TL_OP_EQUAL] = TL_K(less_equal_##name), \
                 [TL_OP_GREATER - TL_OP_EQUAL] = TL_K(greater_##name),       \
                 [TL_OP_GREATER_EQUAL - TL_OP_EQUAL] =                       \
                     TL_K(greater_equal_##name)
    .compare_iu = {ORDER(iu)},
    .compare_ui = {ORDER(ui)},
    .cast = {TL_CASTS(BY_DTYPE)},
    .cast_check = {TL_CHECKS_SIGNED(CHECK) TL_CHECKS_SIGN(CHECK)
                       TL_CHECKS_UNSIGNED(CHECK) TL_CHECKS_FLOAT(CHECK)
                           TL_FLOAT_TARGETS(CHECK, FLOAT16, float16, float)},
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(any_zero_##sfx),
    .any_zero = {AS_BITS(X)},
#undef X
#define X(D, sfx, T, W) [TL_##D] = TL_K(any_negative_##sfx),
    .any_negative = {TL_SIGNED(X) TL_FLOATS(X)},
#undef X
#define X(index, size) [index] = TL_K(fill_##size),
    .fill = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(pack_##size),
    .pack = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(unpack_##size),
    .unpack = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(pack_tile_##size),
    .pack_tile = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(spread_##size),
    .spread = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(compress_##size),
    .compress = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(expand_##size),
    .expand = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(take_##size),
    .take = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(take_far_##size),
    .take_far = {TL_MOVES(X)},
#undef X
#define X(index, size) [index] = TL_K(put_##size),
    .put = {TL_MOVES(X)},
#undef X
    .true_indices = TL_K(true_indices),
    .indices_within = TL_K(indices_within),
    .wrap_indices = TL_K(wrap_indices),
    .iota = TL_K(iota),
    .even_bins = TL_K(even_bins),
    .bincount = TL_K(bincount),
    .bincount_weighted = TL_K(bincount_weighted),
    .text_places = TL_K(text_places),
    .decimals = TL_K(decimals),
    .fold_feed = {TL_FOLDS(FEED)},
    .fold_end = {TL_FOLDS(END)},
    .fold_merge = {TL_FOLDS(MERGE)},
#define X(D, sfx, T, W) [TL_##D] = TL_K(sum_rows_##sfx),
    .sum_rows = {TL_FLOATS(X)},
#undef X
#define X(FOLD, DTYPE, function) [TL_FOLD_##FOLD][TL_##DTYPE] = function,
    .fold_segments = {TL_SEGMENTS(X)},
#undef X
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmin_segments_##sfx),
    .argmin_segments = {TL_PLACE_SEGMENTS(X)},
#undef X
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmax_segments_##sfx),
    .argmax_segments = {TL_PLACE_SEGMENTS(X)},
#undef X
    .fold_outer = {TL_ROWS(OUTER)},
    .scan = {TL_ROWS(SCAN)},
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmin_##sfx),
    .argmin = {TL_ORDERED(X)},
#undef X
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmax_##sfx),
    .argmax = {TL_ORDERED(X)},
#undef X
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmin_outer_##sfx),
    .argmin_outer = {TL_ORDERED(X)},
#undef X
#define X(DTYPE, sfx) [TL_##DTYPE] = TL_K(argmax_outer_##sfx),
    .argmax_outer = {TL_ORDERED(X)},
#undef X
#define X(D, sfx, T, W) [TL_##D] = TL_K(square_deviation_##sfx),
    .square_deviation = {TL_FLOATS(X) TL_COMPLEXES(X)},
#undef X
#define X(D, sfx, T, W) [TL_##D] = TL_K(outer_squares_##sfx),
    .outer_squares = {TL_FLOATS(X) TL_COMPLEXES(X)},
#undef X
#define X(D, sfx, T, W) [TL_##D] = TL_K(search_##sfx),
    .search = {[TL_BOOL] = TL_K(search_uint8),
               [TL_FLOAT16] = TL_K(search_float16),
               TL_INTEGERS(X) TL_FLOATS(X) TL_COMPLEXES(X)},
#undef X
    .convolve = {[TL_INT64] = TL_K(convolve_uint64),
                 [TL_UINT64] = TL_K(convolve_uint64),
                 [TL_FLOAT64] = TL_K(convolve_float64)},
#define PRODUCTS(name)                                                      \
  [TL_INT8] = TL_K(name##_uint8), [TL_INT16] = TL_K(name##_uint16),         \
  [TL_INT32] = TL_K(name##_uint32), [TL_INT64] = TL_K(name##_uint64),       \
  [TL_UINT8] = TL_K(name##_uint8), [TL_UINT16] = TL_K(name##_uint16),       \
  [TL_UINT32] = TL_K(name##_uint32), [TL_UINT64] = TL_K(name##_uint64),     \
  [TL_FLOAT32] = TL_K(name##_float32), [TL_FLOAT64] = TL_K(name##_float64), \
  [TL_COMPLEX64] = TL_K(name##_complex64),                                  \
  [TL_COMPLEX128] = TL_K(name##_complex128)
    .turn_rows = TL_K(turn_rows),
    .gemm = {PRODUCTS(gemm)},
    .gemv = {PRODUCTS(gemv)},
};
