// Which kernel serves which operation and dtype, written once: declarations and
// the table of each instruction set follow from these lists.
//
// X(OP, DTYPE, function). Kernels of loop files are TL_K(...), one for each
// instruction set; those named tl_rare_ call the C library item by item and
// exist once.
//
// Signed integers share the kernels of unsigned ones where the bits are the
// same, and bools those of uint8.
#pragma once

#include "vm/kernels/loop.h"

#define TL_ON_UNSIGNED(X, OP, name)  \
  X(OP, UINT8, TL_K(name##_uint8))   \
  X(OP, UINT16, TL_K(name##_uint16)) \
  X(OP, UINT32, TL_K(name##_uint32)) \
  X(OP, UINT64, TL_K(name##_uint64))
#define TL_ON_SIGNED(X, OP, name)  \
  X(OP, INT8, TL_K(name##_int8))   \
  X(OP, INT16, TL_K(name##_int16)) \
  X(OP, INT32, TL_K(name##_int32)) \
  X(OP, INT64, TL_K(name##_int64))
#define TL_ON_INTEGERS(X, OP, name) \
  TL_ON_SIGNED(X, OP, name) TL_ON_UNSIGNED(X, OP, name)
// One kernel for both signednesses.
#define TL_ON_BITS(X, OP, name)     \
  X(OP, INT8, TL_K(name##_uint8))   \
  X(OP, INT16, TL_K(name##_uint16)) \
  X(OP, INT32, TL_K(name##_uint32)) \
  X(OP, INT64, TL_K(name##_uint64)) \
  TL_ON_UNSIGNED(X, OP, name)
#define TL_ON_BOOL(X, OP, name) X(OP, BOOL, TL_K(name##_uint8))
// Of float16, where [computed] is what float32 has: TL_ON_HALF(X, OP, function,
// computed), which each reader of the lists defines. half.c makes a function of
// the other, elsewhere it is a line like others.
#define TL_ON_FLOATS(X, OP, name)                               \
  TL_ON_HALF(X, OP, TL_K(name##_float16), TL_K(name##_float32)) \
  TL_ON_COMPUTED(X, OP, name)
// Not of float16, which is converted first.
#define TL_ON_COMPUTED(X, OP, name)    \
  X(OP, FLOAT32, TL_K(name##_float32)) \
  X(OP, FLOAT64, TL_K(name##_float64))
#define TL_ON_COMPLEX(X, OP, name)         \
  X(OP, COMPLEX64, TL_K(name##_complex64)) \
  X(OP, COMPLEX128, TL_K(name##_complex128))
#define TL_ON_RARE(X, OP, name)                                     \
  TL_ON_HALF(X, OP, TL_K(name##_float16), tl_rare_##name##_float32) \
  X(OP, FLOAT32, tl_rare_##name##_float32)                          \
  X(OP, FLOAT64, tl_rare_##name##_float64)
#define TL_ON_RARE_COMPLEX(X, OP, name)        \
  X(OP, COMPLEX64, tl_rare_##name##_complex64) \
  X(OP, COMPLEX128, tl_rare_##name##_complex128)
// Those that go together: equality, order, arithmetic, what is no integer, what
// is real, and what complex numbers have from the C library.
#define TL_ON_VALUES(X, OP, name) \
  TL_ON_BOOL(X, OP, name) TL_ON_NUMBERS(X, OP, name)
#define TL_ON_ORDERED(X, OP, name) \
  TL_ON_BOOL(X, OP, name) TL_ON_REALS(X, OP, name)
#define TL_ON_NUMBERS(X, OP, name) \
  TL_ON_BITS(X, OP, name) TL_ON_PARTS(X, OP, name)
#define TL_ON_PARTS(X, OP, name) \
  TL_ON_FLOATS(X, OP, name) TL_ON_COMPLEX(X, OP, name)
#define TL_ON_REALS(X, OP, name) \
  TL_ON_INTEGERS(X, OP, name) TL_ON_FLOATS(X, OP, name)
#define TL_ON_MATHS(X, OP, name) \
  TL_ON_FLOATS(X, OP, name) TL_ON_RARE_COMPLEX(X, OP, name)
// Kernels that depend on the item size alone (copy, zeros).
#define TL_BY_SIZE_INTEGERS(X, OP, name) \
  X(OP, INT8, TL_K(name##_1))            \
  X(OP, INT16, TL_K(name##_2))           \
  X(OP, INT32, TL_K(name##_4))           \
  X(OP, INT64, TL_K(name##_8))           \
  TL_BY_SIZE_UNSIGNED(X, OP, name)
#define TL_BY_SIZE_UNSIGNED(X, OP, name) \
  X(OP, UINT8, TL_K(name##_1))           \
  X(OP, UINT16, TL_K(name##_2))          \
  X(OP, UINT32, TL_K(name##_4))          \
  X(OP, UINT64, TL_K(name##_8))
#define TL_BY_SIZE_FLOATS(X, OP, name) \
  X(OP, FLOAT32, TL_K(name##_4))       \
  X(OP, FLOAT64, TL_K(name##_8))
#define TL_BY_SIZE_REALS(X, OP, name) \
  TL_BY_SIZE_INTEGERS(X, OP, name) TL_BY_SIZE_FLOATS(X, OP, name)
// The same answer for every item: bytes of 0 or 1, whatever the operand.
#define TL_SAME_ANSWER(X, OP, name) \
  X(OP, BOOL, TL_K(name))           \
  X(OP, INT8, TL_K(name))           \
  X(OP, INT16, TL_K(name))          \
  X(OP, INT32, TL_K(name))          \
  X(OP, INT64, TL_K(name))          \
  TL_SAME_ANSWER_UNSIGNED(X, OP, name)
#define TL_SAME_ANSWER_UNSIGNED(X, OP, name) \
  X(OP, UINT8, TL_K(name))                   \
  X(OP, UINT16, TL_K(name))                  \
  X(OP, UINT32, TL_K(name))                  \
  X(OP, UINT64, TL_K(name))

#define TL_BINARY_KERNELS(X)                     \
  TL_ON_BOOL(X, ADD, bitwise_or)                 \
  TL_ON_NUMBERS(X, ADD, add)                     \
  TL_ON_NUMBERS(X, SUBTRACT, subtract)           \
  TL_ON_BOOL(X, MULTIPLY, bitwise_and)           \
  TL_ON_NUMBERS(X, MULTIPLY, multiply)           \
  TL_ON_PARTS(X, DIVIDE, divide)                 \
  TL_ON_REALS(X, FLOOR_DIVIDE, floor_divide)     \
  TL_ON_REALS(X, REMAINDER, remainder)           \
  TL_ON_BITS(X, POW, pow)                        \
  TL_ON_MATHS(X, POW, pow)                       \
  TL_ON_BOOL(X, MAXIMUM, bitwise_or)             \
  TL_ON_REALS(X, MAXIMUM, maximum)               \
  TL_ON_BOOL(X, MINIMUM, bitwise_and)            \
  TL_ON_REALS(X, MINIMUM, minimum)               \
  TL_ON_FLOATS(X, ATAN2, atan2)                  \
  TL_ON_FLOATS(X, HYPOT, hypot)                  \
  TL_ON_FLOATS(X, COPYSIGN, copysign)            \
  TL_ON_FLOATS(X, NEXTAFTER, nextafter)          \
  TL_ON_FLOATS(X, LOGADDEXP, logaddexp)          \
  TL_ON_VALUES(X, EQUAL, equal)                  \
  TL_ON_VALUES(X, NOT_EQUAL, not_equal)          \
  TL_ON_ORDERED(X, LESS, less)                   \
  TL_ON_ORDERED(X, LESS_EQUAL, less_equal)       \
  TL_ON_ORDERED(X, GREATER, greater)             \
  TL_ON_ORDERED(X, GREATER_EQUAL, greater_equal) \
  TL_ON_BOOL(X, LOGICAL_AND, bitwise_and)        \
  TL_ON_BOOL(X, LOGICAL_OR, bitwise_or)          \
  TL_ON_BOOL(X, LOGICAL_XOR, bitwise_xor)        \
  TL_ON_BOOL(X, BITWISE_AND, bitwise_and)        \
  TL_ON_BITS(X, BITWISE_AND, bitwise_and)        \
  TL_ON_BOOL(X, BITWISE_OR, bitwise_or)          \
  TL_ON_BITS(X, BITWISE_OR, bitwise_or)          \
  TL_ON_BOOL(X, BITWISE_XOR, bitwise_xor)        \
  TL_ON_BITS(X, BITWISE_XOR, bitwise_xor)        \
  TL_ON_BITS(X, LEFT_SHIFT, left_shift)          \
  TL_ON_INTEGERS(X, RIGHT_SHIFT, right_shift)

// One operand an item: F is vs or sv.
#define TL_ON_SCALAR_FORM(X, OP, name) \
  X(OP, INT64, TL_K(name##_int64))     \
  X(OP, FLOAT32, TL_K(name##_float32)) \
  X(OP, FLOAT64, TL_K(name##_float64))
#define TL_SCALAR_KERNELS(X, F)                    \
  TL_ON_SCALAR_FORM(X, ADD, add_##F)               \
  TL_ON_SCALAR_FORM(X, SUBTRACT, subtract_##F)     \
  TL_ON_SCALAR_FORM(X, MULTIPLY, multiply_##F)     \
  TL_ON_COMPUTED(X, DIVIDE, divide_##F)            \
  TL_ON_SCALAR_FORM(X, MAXIMUM, maximum_##F)       \
  TL_ON_SCALAR_FORM(X, MINIMUM, minimum_##F)       \
  TL_ON_SCALAR_FORM(X, EQUAL, equal_##F)           \
  TL_ON_SCALAR_FORM(X, NOT_EQUAL, not_equal_##F)   \
  TL_ON_SCALAR_FORM(X, LESS, less_##F)             \
  TL_ON_SCALAR_FORM(X, LESS_EQUAL, less_equal_##F) \
  TL_ON_SCALAR_FORM(X, GREATER, greater_##F)       \
  TL_ON_SCALAR_FORM(X, GREATER_EQUAL, greater_equal_##F)

// The right operand an item, and the left one no such form.
#define TL_INVARIANT_KERNELS(X)                    \
  TL_ON_INTEGERS(X, FLOOR_DIVIDE, floor_divide_vs) \
  TL_ON_INTEGERS(X, REMAINDER, remainder_vs)

#define TL_UNARY_KERNELS(X)                      \
  TL_ON_NUMBERS(X, NEGATIVE, negative)           \
  TL_BY_SIZE_REALS(X, POSITIVE, copy)            \
  X(POSITIVE, COMPLEX64, TL_K(copy_8))           \
  X(POSITIVE, COMPLEX128, TL_K(copy_16))         \
  X(BITWISE_INVERT, BOOL, TL_K(logical_not))     \
  TL_ON_BITS(X, BITWISE_INVERT, bitwise_invert)  \
  TL_ON_BITS(X, POPCOUNT, popcount)              \
  X(LOGICAL_NOT, BOOL, TL_K(logical_not))        \
  X(ABS, BOOL, TL_K(copy_1))                     \
  TL_ON_SIGNED(X, ABS, abs)                      \
  TL_BY_SIZE_UNSIGNED(X, ABS, copy)              \
  TL_ON_PARTS(X, ABS, abs)                       \
  TL_ON_REALS(X, SIGN, sign)                     \
  TL_ON_RARE_COMPLEX(X, SIGN, sign)              \
  TL_ON_NUMBERS(X, SQUARE, square)               \
  TL_ON_PARTS(X, RECIPROCAL, reciprocal)         \
  TL_ON_MATHS(X, SQRT, sqrt)                     \
  TL_ON_FLOATS(X, CBRT, cbrt)                    \
  TL_ON_MATHS(X, EXP, exp)                       \
  TL_ON_FLOATS(X, EXP2, exp2)                    \
  TL_ON_MATHS(X, EXPM1, expm1)                   \
  TL_ON_MATHS(X, LOG, log)                       \
  TL_ON_MATHS(X, LOG1P, log1p)                   \
  TL_ON_MATHS(X, LOG2, log2)                     \
  TL_ON_MATHS(X, LOG10, log10)                   \
  TL_ON_MATHS(X, SIN, sin)                       \
  TL_ON_MATHS(X, COS, cos)                       \
  TL_ON_MATHS(X, TAN, tan)                       \
  TL_ON_MATHS(X, ASIN, asin)                     \
  TL_ON_MATHS(X, ACOS, acos)                     \
  TL_ON_MATHS(X, ATAN, atan)                     \
  TL_ON_MATHS(X, SINH, sinh)                     \
  TL_ON_MATHS(X, COSH, cosh)                     \
  TL_ON_MATHS(X, TANH, tanh)                     \
  TL_ON_MATHS(X, ASINH, asinh)                   \
  TL_ON_MATHS(X, ACOSH, acosh)                   \
  TL_ON_MATHS(X, ATANH, atanh)                   \
  TL_ON_FLOATS(X, ERF, erf)                      \
  TL_ON_RARE(X, ERFC, erfc)                      \
  TL_ON_RARE(X, GAMMA, gamma)                    \
  TL_ON_RARE(X, LGAMMA, lgamma)                  \
  TL_BY_SIZE_INTEGERS(X, FLOOR, copy)            \
  TL_ON_FLOATS(X, FLOOR, floor)                  \
  TL_BY_SIZE_INTEGERS(X, CEIL, copy)             \
  TL_ON_FLOATS(X, CEIL, ceil)                    \
  TL_BY_SIZE_INTEGERS(X, TRUNC, copy)            \
  TL_ON_FLOATS(X, TRUNC, trunc)                  \
  TL_BY_SIZE_INTEGERS(X, ROUND, copy)            \
  TL_ON_PARTS(X, ROUND, round)                   \
  TL_SAME_ANSWER(X, ISNAN, all_false)            \
  TL_ON_PARTS(X, ISNAN, isnan)                   \
  TL_SAME_ANSWER(X, ISINF, all_false)            \
  TL_ON_PARTS(X, ISINF, isinf)                   \
  TL_SAME_ANSWER(X, ISFINITE, all_true)          \
  TL_ON_PARTS(X, ISFINITE, isfinite)             \
  X(SIGNBIT, BOOL, TL_K(all_false))              \
  TL_ON_SIGNED(X, SIGNBIT, signbit)              \
  TL_SAME_ANSWER_UNSIGNED(X, SIGNBIT, all_false) \
  TL_ON_FLOATS(X, SIGNBIT, signbit)              \
  X(REAL, BOOL, TL_K(copy_1))                    \
  TL_BY_SIZE_REALS(X, REAL, copy)                \
  TL_ON_COMPLEX(X, REAL, real)                   \
  X(IMAG, BOOL, TL_K(zeros_1))                   \
  TL_BY_SIZE_REALS(X, IMAG, zeros)               \
  TL_ON_COMPLEX(X, IMAG, imag)                   \
  TL_BY_SIZE_REALS(X, CONJ, copy)                \
  TL_ON_COMPLEX(X, CONJ, conj)

// Of float16, what only moves items: the same for all of one size. They stand
// apart, so that half.c makes none.
#define TL_HALF_MOVES(X)             \
  X(POSITIVE, FLOAT16, TL_K(copy_2)) \
  X(REAL, FLOAT16, TL_K(copy_2))     \
  X(IMAG, FLOAT16, TL_K(zeros_2))    \
  X(CONJ, FLOAT16, TL_K(copy_2))

#define TL_ON_HALF(X, OP, function, computed) X(OP, FLOAT16, function)
#define X(OP, DTYPE, function) tl_kernel2 function;
TL_BINARY_KERNELS(X)
TL_SCALAR_KERNELS(X, vs)
TL_SCALAR_KERNELS(X, sv)
TL_INVARIANT_KERNELS(X)
#undef X
#define X(OP, DTYPE, function) tl_kernel1 function;
TL_UNARY_KERNELS(X)
#undef X
#undef TL_ON_HALF
// int64 shares the kernel of uint64: sums and products wrap alike.
tl_convolve_kernel TL_K(convolve_uint64), TL_K(convolve_float64);
