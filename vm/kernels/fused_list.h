// The ledger of fused kernels: the terms (fused.h) that have one. A term is
// here if two programs or a benchmark row need it, or if it is an expression
// that users write and its kernel takes less than about 0.87 of the time that
// the kernels of its parts take over blocks: docs/fast-paths.md has the
// figures. All others are computed by parts.
//
//   X(term, forms of the six operands, the result of a to f, …)
//
// The forms are v, s and b as in the term, and n where it has no operand. Y is
// for sums of neighbours (window.h); it also has what follows the sum.
#ifndef TALLY_VM_KERNELS_FUSED_LIST_H
#define TALLY_VM_KERNELS_FUSED_LIST_H

// The dtypes of operands that have kernels. Those of uint8 serve int8 and bools
// where no order is asked for.
#define TL_FUSED_DTYPES(X) \
  X(UINT8, uint8)          \
  X(INT32, int32)          \
  X(INT64, int64)          \
  X(FLOAT32, float32)      \
  X(FLOAT64, float64)

// float32 and float64: two operations.
#define TL_FUSED_PAIRS(X, Y, ...)                                         \
  X(add_mul_vvv, v, v, v, n, n, n, a *b + c, __VA_ARGS__)                 \
  X(add_mul_vsv, v, s, v, n, n, n, a *b + c, __VA_ARGS__)                 \
  X(add_mul_vvs, v, v, s, n, n, n, a *b + c, __VA_ARGS__)                 \
  X(add_mul_vss, v, s, s, n, n, n, a *b + c, __VA_ARGS__)                 \
  Y(add_add_vvv, v, v, v, n, n, n, a + b + c, NOTHING, __VA_ARGS__)       \
  X(add_add_vvs, v, v, s, n, n, n, a + b + c, __VA_ARGS__)                \
  X(sub_mul_vvv, v, v, v, n, n, n, a *b - c, __VA_ARGS__)                 \
  X(sub_mul_vvs, v, v, s, n, n, n, a *b - c, __VA_ARGS__)                 \
  X(sub_mul_vsv, v, s, v, n, n, n, a *b - c, __VA_ARGS__)                 \
  X(sub_mul_vss, v, s, s, n, n, n, a *b - c, __VA_ARGS__)                 \
  X(sub_v_mul_vv, v, v, v, n, n, n, a - b * c, __VA_ARGS__)               \
  X(sub_s_mul_vv, s, v, v, n, n, n, a - b * c, __VA_ARGS__)               \
  X(sub_v_mul_vs, v, v, s, n, n, n, a - b * c, __VA_ARGS__)               \
  X(sub_s_mul_vs, s, v, s, n, n, n, a - b * c, __VA_ARGS__)               \
  X(sub_add_vvv, v, v, v, n, n, n, a + b - c, __VA_ARGS__)                \
  X(sub_add_vvs, v, v, s, n, n, n, a + b - c, __VA_ARGS__)                \
  X(add_sub_vvv, v, v, v, n, n, n, a - b + c, __VA_ARGS__)                \
  X(mul_add_vvv, v, v, v, n, n, n, (a + b) * c, __VA_ARGS__)              \
  X(mul_add_vvs, v, v, s, n, n, n, (a + b) * c, __VA_ARGS__)              \
  X(mul_add_vsv, v, s, v, n, n, n, (a + b) * c, __VA_ARGS__)              \
  X(mul_add_vss, v, s, s, n, n, n, (a + b) * c, __VA_ARGS__)              \
  X(mul_sub_vvv, v, v, v, n, n, n, (a - b) * c, __VA_ARGS__)              \
  X(mul_sub_vvs, v, v, s, n, n, n, (a - b) * c, __VA_ARGS__)              \
  X(mul_sub_vsv, v, s, v, n, n, n, (a - b) * c, __VA_ARGS__)              \
  X(mul_sub_vss, v, s, s, n, n, n, (a - b) * c, __VA_ARGS__)              \
  X(mul_sub_svv, s, v, v, n, n, n, (a - b) * c, __VA_ARGS__)              \
  X(mul_mul_vvv, v, v, v, n, n, n, a *b *c, __VA_ARGS__)                  \
  X(mul_mul_vvs, v, v, s, n, n, n, a *b *c, __VA_ARGS__)                  \
  X(mul_mul_vsv, v, s, v, n, n, n, a *b *c, __VA_ARGS__)                  \
  X(div_sub_vvs, v, v, s, n, n, n, (a - b) / c, __VA_ARGS__)              \
  X(div_sub_vss, v, s, s, n, n, n, (a - b) / c, __VA_ARGS__)              \
  X(div_add_vss, v, s, s, n, n, n, (a + b) / c, __VA_ARGS__)              \
  X(square_sub_vv, v, v, n, n, n, n, SQUARE(a - b), __VA_ARGS__)          \
  X(square_sub_vs, v, s, n, n, n, n, SQUARE(a - b), __VA_ARGS__)          \
  X(abs_sub_vv, v, v, n, n, n, n, MAGNITUDE(a - b), __VA_ARGS__)          \
  X(max_sub_vvs, v, v, s, n, n, n, GREATEST(a - b, c), __VA_ARGS__)       \
  X(max_add_vvs, v, v, s, n, n, n, GREATEST(a + b, c), __VA_ARGS__)       \
  X(max_add_vss, v, s, s, n, n, n, GREATEST(a + b, c), __VA_ARGS__)       \
  X(min_max_vss, v, s, s, n, n, n, LEAST(GREATEST(a, b), c), __VA_ARGS__) \
  X(sqrt_mul_vv, v, v, n, n, n, n, ROOT(a *b), __VA_ARGS__)               \
  X(sqrt_add_vs, v, s, n, n, n, n, ROOT(a + b), __VA_ARGS__)

// Three and more, each on the one before.
#define TL_FUSED_CHAINS(X, Y, ...)                                             \
  Y(add_add_add_vvvv, v, v, v, v, n, n, a + b + c + d, ADD_V, __VA_ARGS__)     \
  Y(sub_add_add_vvvv, v, v, v, v, n, n, a + b + c - d, SUBTRACT_V,             \
    __VA_ARGS__)                                                               \
  Y(mul_add_add_vvvs, v, v, v, s, n, n, (a + b + c) * d, MULTIPLY_S,           \
    __VA_ARGS__)                                                               \
  X(add_add_mul_vvvv, v, v, v, v, n, n, a *b + c + d, __VA_ARGS__)             \
  X(add_mul_sub_vvvv, v, v, v, v, n, n, (a - b) * c + d, __VA_ARGS__)          \
  X(add_mul_sub_vvsv, v, v, s, v, n, n, (a - b) * c + d, __VA_ARGS__)          \
  X(add_mul_mul_vvsv, v, v, s, v, n, n, a *b *c + d, __VA_ARGS__)              \
  X(sub_v_mul_sub_vvs, v, v, v, s, n, n, a - (b - c) * d, __VA_ARGS__)         \
  X(sub_v_mul_add_vvs, v, v, v, s, n, n, a - (b + c) * d, __VA_ARGS__)         \
  X(mul_add_sub_vvvs, v, v, v, s, n, n, (a - b + c) * d, __VA_ARGS__)          \
  X(mul_add_add_add_vvvvs, v, v, v, v, s, n, (a + b + c + d) * e, __VA_ARGS__) \
  X(add_mul_add_mul_vvsvs, v, v, s, v, s, n, (a * b + c) * d + e, __VA_ARGS__) \
  X(add_mul_add_mul_vssvs, v, s, s, v, s, n, (a * b + c) * d + e, __VA_ARGS__)

// Both operands of the last one are computed.
#define TL_FUSED_JOINS(X, Y, ...)                                              \
  X(add_mul_vv_mul_vv, v, v, v, v, n, n, a *b + c * d, __VA_ARGS__)            \
  X(sub_mul_vv_mul_vv, v, v, v, v, n, n, a *b - c * d, __VA_ARGS__)            \
  X(add_mul_vs_mul_vs, v, s, v, s, n, n, a *b + c * d, __VA_ARGS__)            \
  X(add_mul_vv_mul_vs, v, v, v, s, n, n, a *b + c * d, __VA_ARGS__)            \
  X(sub_mul_vs_mul_vs, v, s, v, s, n, n, a *b - c * d, __VA_ARGS__)            \
  X(sub_div_vs_mul_vs, v, s, v, s, n, n, a / b - c * d, __VA_ARGS__)           \
  X(mul_sub_vv_sub_vv, v, v, v, v, n, n, (a - b) * (c - d), __VA_ARGS__)       \
  X(mul_add_vv_add_vv, v, v, v, v, n, n, (a + b) * (c + d), __VA_ARGS__)       \
  X(mul_sub_vv_add_vv, v, v, v, v, n, n, (a - b) * (c + d), __VA_ARGS__)       \
  X(add_add_vv_add_vv, v, v, v, v, n, n, a + b + (c + d), __VA_ARGS__)         \
  X(add_sub_vv_sub_vv, v, v, v, v, n, n, a - b + (c - d), __VA_ARGS__)         \
  X(sqrt_add_mul_vv_mul_vv, v, v, v, v, n, n, ROOT(a *b + c * d), __VA_ARGS__) \
  X(add_mul_sub_vvs_mul_sub_vvs, v, v, s, v, v, s, (a - b) * c + (d - e) * f,  \
    __VA_ARGS__)                                                               \
  X(add_mul_add_vvs_mul_add_vvs, v, v, s, v, v, s, (a + b) * c + (d + e) * f,  \
    __VA_ARGS__)

// Choices by a comparison.
#define TL_FUSED_CHOICES(X, Y, ...)                                     \
  X(where_lt_vvvv, v, v, v, v, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_vvvs, v, v, v, s, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_vsvv, v, s, v, v, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_vsvs, v, s, v, s, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_vssv, v, s, s, v, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_svvv, s, v, v, v, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_svvs, s, v, v, s, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_lt_svsv, s, v, s, v, n, n, a < b ? c : d, __VA_ARGS__)        \
  X(where_eq_vsvv, v, s, v, v, n, n, a == b ? c : d, __VA_ARGS__)       \
  X(where_eq_vssv, v, s, s, v, n, n, a == b ? c : d, __VA_ARGS__)       \
  X(where_lt_sv_mul_vv_sub_vv, s, v, v, v, v, v, a < b ? c * d : e - f, \
    __VA_ARGS__)                                                        \
  X(where_lt_sv_mul_vv_add_vv, s, v, v, v, v, v, a < b ? c * d : e + f, \
    __VA_ARGS__)                                                        \
  X(where_lt_sv_add_vv_sub_vv, s, v, v, v, v, v, a < b ? c + d : e - f, \
    __VA_ARGS__)                                                        \
  X(where_lt_sv_mul_vs_mul_vs, s, v, v, s, v, s, a < b ? c * d : e * f, \
    __VA_ARGS__)                                                        \
  X(where_lt_vs_mul_vs_mul_vs, v, s, v, s, v, s, a < b ? c * d : e * f, \
    __VA_ARGS__)

#define TL_FUSED_OF_FLOATS(X, Y, ...) \
  TL_FUSED_PAIRS(X, Y, __VA_ARGS__)   \
  TL_FUSED_CHAINS(X, Y, __VA_ARGS__)  \
  TL_FUSED_JOINS(X, Y, __VA_ARGS__)   \
  TL_FUSED_CHOICES(X, Y, __VA_ARGS__)

// int32 and int64.
#define TL_FUSED_OF_INTEGERS(X, Y, ...)                             \
  X(add_mul_vvv, v, v, v, n, n, n, a *b + c, __VA_ARGS__)           \
  X(add_mul_vsv, v, s, v, n, n, n, a *b + c, __VA_ARGS__)           \
  X(add_mul_vvs, v, v, s, n, n, n, a *b + c, __VA_ARGS__)           \
  X(add_mul_vss, v, s, s, n, n, n, a *b + c, __VA_ARGS__)           \
  Y(add_add_vvv, v, v, v, n, n, n, a + b + c, NOTHING, __VA_ARGS__) \
  X(add_add_vvs, v, v, s, n, n, n, a + b + c, __VA_ARGS__)          \
  X(sub_add_vvv, v, v, v, n, n, n, a + b - c, __VA_ARGS__)          \
  X(sub_mul_vvv, v, v, v, n, n, n, a *b - c, __VA_ARGS__)           \
  X(sub_v_mul_vv, v, v, v, n, n, n, a - b * c, __VA_ARGS__)         \
  X(mul_add_vvv, v, v, v, n, n, n, (a + b) * c, __VA_ARGS__)        \
  X(mul_add_vvs, v, v, s, n, n, n, (a + b) * c, __VA_ARGS__)        \
  X(mul_add_vss, v, s, s, n, n, n, (a + b) * c, __VA_ARGS__)        \
  X(mul_sub_vvv, v, v, v, n, n, n, (a - b) * c, __VA_ARGS__)        \
  X(mul_sub_vss, v, s, s, n, n, n, (a - b) * c, __VA_ARGS__)        \
  X(square_sub_vv, v, v, n, n, n, n, SQUARE(a - b), __VA_ARGS__)    \
  X(min_add_vvv, v, v, v, n, n, n, LEAST(a + b, c), __VA_ARGS__)    \
  X(min_add_vsv, v, s, v, n, n, n, LEAST(a + b, c), __VA_ARGS__)    \
  X(min_max_vss, v, s, s, n, n, n, LEAST(GREATEST(a, b), c), __VA_ARGS__)

// Sums of bytes, as in rules for cells and small images.
#define TL_FUSED_OF_BYTES(X, Y, ...)                                       \
  Y(add_add_vvv, v, v, v, n, n, n, a + b + c, NOTHING, __VA_ARGS__)        \
  X(sub_add_vvv, v, v, v, n, n, n, a + b - c, __VA_ARGS__)                 \
  Y(add_add_add_vvvv, v, v, v, v, n, n, a + b + c + d, ADD_V, __VA_ARGS__) \
  Y(sub_add_add_vvvv, v, v, v, v, n, n, a + b + c - d, SUBTRACT_V, __VA_ARGS__)

// Comparisons of float32, float64 and int64, joined with a mask or with each
// other.
#define TL_FUSED_MASKS(X, ...)                                           \
  X(and_lt_vsb, v, s, b, n, n, n, (a < b) & c, __VA_ARGS__)              \
  X(and_lt_svb, s, v, b, n, n, n, (a < b) & c, __VA_ARGS__)              \
  X(and_le_vsb, v, s, b, n, n, n, (a <= b) & c, __VA_ARGS__)             \
  X(and_le_svb, s, v, b, n, n, n, (a <= b) & c, __VA_ARGS__)             \
  X(and_eq_vsb, v, s, b, n, n, n, (a == b) & c, __VA_ARGS__)             \
  X(or_lt_vsb, v, s, b, n, n, n, (a < b) | c, __VA_ARGS__)               \
  X(or_lt_svb, s, v, b, n, n, n, (a < b) | c, __VA_ARGS__)               \
  X(or_eq_vsb, v, s, b, n, n, n, (a == b) | c, __VA_ARGS__)              \
  X(and_lt_vs_lt_sv, v, s, s, v, n, n, (a < b) & (c < d), __VA_ARGS__)   \
  X(and_lt_sv_le_vs, s, v, v, s, n, n, (a < b) & (c <= d), __VA_ARGS__)  \
  X(and_lt_vs_le_sv, v, s, s, v, n, n, (a < b) & (c <= d), __VA_ARGS__)  \
  X(and_le_vs_le_sv, v, s, s, v, n, n, (a <= b) & (c <= d), __VA_ARGS__) \
  X(or_lt_vs_lt_sv, v, s, s, v, n, n, (a < b) | (c < d), __VA_ARGS__)    \
  X(or_eq_vs_eq_vs, v, s, v, s, n, n, (a == b) | (c == d), __VA_ARGS__)

// The same of bytes.
#define TL_FUSED_BYTE_MASKS(X, ...)                                      \
  X(and_eq_vsb, v, s, b, n, n, n, (a == b) & c, __VA_ARGS__)             \
  X(or_eq_vsb, v, s, b, n, n, n, (a == b) | c, __VA_ARGS__)              \
  X(and_eq_vs_eq_vs, v, s, v, s, n, n, (a == b) & (c == d), __VA_ARGS__) \
  X(or_eq_vs_eq_vs, v, s, v, s, n, n, (a == b) | (c == d), __VA_ARGS__)

#endif
