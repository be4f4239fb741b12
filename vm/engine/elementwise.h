// The elementwise operations, written once: opcodes, operators, built-in
// functions, documentation, kernels and their tests follow from this table.
#ifndef TALLY_VM_ELEMENTWISE_H
#define TALLY_VM_ELEMENTWISE_H

#include "vm/types/dtype.h"

// How operand dtypes decide the dtype computed in and the result's.
typedef enum tl_rule {
  TL_RULE_ARITH,    // promoted dtype; bool only for add (or) and multiply (and)
  TL_RULE_NUMERIC,  // promoted dtype, bool refused
  TL_RULE_REAL,     // promoted dtype, complex refused; bool allowed
  TL_RULE_DIVIDE,   // promoted, integers and bool become float64
  TL_RULE_FLOAT,    // real or complex; integers and bool become float64
  TL_RULE_FLOATR,   // real only; integers and bool become float64
  TL_RULE_COMPARE,  // promoted to compute, bool result; complex: == != only
  TL_RULE_LOGICAL,  // bool operands, bool result
  TL_RULE_BITWISE,  // integers or bool, promoted
  TL_RULE_SHIFT,    // integers, promoted
  TL_RULE_TEST,     // any numeric operand, bool result (isnan …)
  TL_RULE_ROUND,    // integers unchanged, reals rounded
  TL_RULE_PART,     // complex gives its real dtype, reals unchanged (abs, real)
  TL_RULE_SELECT,   // bool, then two promoted operands (where)
} tl_rule;

// X(ENUM, name, arity, rule, operator or "", documentation)
//
// The documentation's first line is a sentence; an indented line is an example
// that `tally test` runs against the comment at its end.
#define TL_ELEMENTWISE(X)                                                      \
  X(ADD, add, 2, ARITH, "+",                                                   \
    "The sum of x and y, item by item. Integers wrap.\n"                       \
    "    add([1, 2], 3)    # [4, 5]\n")                                        \
  X(SUBTRACT, subtract, 2, NUMERIC, "-",                                       \
    "The difference x - y, item by item. Integers wrap.\n"                     \
    "    subtract([4, 5], 3)    # [1, 2]\n")                                   \
  X(MULTIPLY, multiply, 2, ARITH, "*",                                         \
    "The product of x and y, item by item. Integers wrap.\n"                   \
    "    multiply([1, 2], 3)    # [3, 6]\n")                                   \
  X(DIVIDE, divide, 2, DIVIDE, "/",                                            \
    "The quotient x / y as a float, item by item.\n"                           \
    "    divide([1, 2], 2)    # [0.5, 1.0]\n")                                 \
  X(FLOOR_DIVIDE, floor_divide, 2, REAL, "//",                                 \
    "The quotient x / y rounded to minus infinity. An integer zero divisor\n"  \
    "is an error (kind domain).\n"                                             \
    "    floor_divide([7, -7], 2)    # [3, -4]\n")                             \
  X(REMAINDER, remainder, 2, REAL, "%",                                        \
    "The remainder of x // y; it has the sign of y.\n"                         \
    "    remainder([7, -7], 3)    # [1, 2]\n")                                 \
  X(POW, pow, 2, NUMERIC, "**",                                                \
    "x to the power y, item by item. A negative power of an integer array "    \
    "is\n"                                                                     \
    "an error (kind domain).\n"                                                \
    "    pow([1, 2, 3], 2)    # [1, 4, 9]\n")                                  \
  X(MAXIMUM, maximum, 2, REAL, "",                                             \
    "The larger of x and y, item by item; NaN where either is NaN.\n"          \
    "    maximum([1, 5], [4, 2])    # [4, 5]\n")                               \
  X(MINIMUM, minimum, 2, REAL, "",                                             \
    "The smaller of x and y, item by item; NaN where either is NaN.\n"         \
    "    minimum([1, 5], [4, 2])    # [1, 2]\n")                               \
  X(ATAN2, atan2, 2, FLOATR, "",                                               \
    "The angle of the point y to the right and x up, in radians from -pi to "  \
    "pi.\n"                                                                    \
    "    atan2([0.0, 1.0], [1.0, 0.0])    # [0.0, 1.5707963267948966]\n")      \
  X(HYPOT, hypot, 2, FLOATR, "",                                               \
    "sqrt(x**2 + y**2) without overflow in between.\n"                         \
    "    hypot([3.0], [4.0])    # [5.0]\n")                                    \
  X(COPYSIGN, copysign, 2, FLOATR, "",                                         \
    "The magnitude of x with the sign of y.\n"                                 \
    "    copysign([1.0, 2.0], -1.0)    # [-1.0, -2.0]\n")                      \
  X(NEXTAFTER, nextafter, 2, FLOATR, "",                                       \
    "The next float after x in the direction of y.\n"                          \
    "    nextafter([0.0], 1.0)    # [5e-324]\n")                               \
  X(LOGADDEXP, logaddexp, 2, FLOATR, "",                                       \
    "log(exp(x) + exp(y)) without overflow in between (array API standard,\n"  \
    "2024).\n"                                                                 \
    "    logaddexp([1000.0], 1000.0)    # [1000.6931471805599]\n")             \
  X(EQUAL, equal, 2, COMPARE, "==",                                            \
    "Whether x == y, item by item.\n"                                          \
    "    equal([1, 2], 2)    # [false, true]\n")                               \
  X(NOT_EQUAL, not_equal, 2, COMPARE, "!=",                                    \
    "Whether x != y, item by item.\n"                                          \
    "    not_equal([1, 2], 2)    # [true, false]\n")                           \
  X(LESS, less, 2, COMPARE, "<",                                               \
    "Whether x < y, item by item.\n"                                           \
    "    less([1, 2], 2)    # [true, false]\n")                                \
  X(LESS_EQUAL, less_equal, 2, COMPARE, "<=",                                  \
    "Whether x <= y, item by item.\n"                                          \
    "    less_equal([1, 3], 2)    # [true, false]\n")                          \
  X(GREATER, greater, 2, COMPARE, ">",                                         \
    "Whether x > y, item by item.\n"                                           \
    "    greater([1, 3], 2)    # [false, true]\n")                             \
  X(GREATER_EQUAL, greater_equal, 2, COMPARE, ">=",                            \
    "Whether x >= y, item by item.\n"                                          \
    "    greater_equal([1, 2], 2)    # [false, true]\n")                       \
  X(LOGICAL_AND, logical_and, 2, LOGICAL, "",                                  \
    "Whether both bools are true, item by item.\n"                             \
    "    logical_and([true, false], true)    # [true, false]\n")               \
  X(LOGICAL_OR, logical_or, 2, LOGICAL, "",                                    \
    "Whether either bool is true, item by item.\n"                             \
    "    logical_or([true, false], false)    # [true, false]\n")               \
  X(LOGICAL_XOR, logical_xor, 2, LOGICAL, "",                                  \
    "Whether just one of the bools is true, item by item.\n"                   \
    "    logical_xor([true, false], true)    # [false, true]\n")               \
  X(BITWISE_AND, bitwise_and, 2, BITWISE, "&",                                 \
    "The bits set in both x and y; for bools, and.\n"                          \
    "    bitwise_and([6, 3], 2)    # [2, 2]\n")                                \
  X(BITWISE_OR, bitwise_or, 2, BITWISE, "|",                                   \
    "The bits set in x or y; for bools, or.\n"                                 \
    "    bitwise_or([4, 1], 2)    # [6, 3]\n")                                 \
  X(BITWISE_XOR, bitwise_xor, 2, BITWISE, "^",                                 \
    "The bits set in just one of x and y.\n"                                   \
    "    bitwise_xor([6, 3], 2)    # [4, 1]\n")                                \
  X(LEFT_SHIFT, bitwise_left_shift, 2, SHIFT, "<<",                            \
    "The bits of x moved up by y; 0 where y reaches the width. A negative y\n" \
    "is an error (kind domain).\n"                                             \
    "    bitwise_left_shift([1, 3], 2)    # [4, 12]\n")                        \
  X(RIGHT_SHIFT, bitwise_right_shift, 2, SHIFT, ">>",                          \
    "The bits of x moved down by y, signed x keeping its sign. A negative y\n" \
    "is an error (kind domain).\n"                                             \
    "    bitwise_right_shift([4, -4], 1)    # [2, -2]\n")                      \
  X(NEGATIVE, negative, 1, NUMERIC, "-",                                       \
    "-x, item by item. Integers wrap.\n"                                       \
    "    negative([1, -2])    # [-1, 2]\n")                                    \
  X(POSITIVE, positive, 1, NUMERIC, "+",                                       \
    "x itself.\n"                                                              \
    "    positive([1, -2])    # [1, -2]\n")                                    \
  X(BITWISE_INVERT, bitwise_invert, 1, BITWISE, "~",                           \
    "Every bit of x turned over; for bools, not.\n"                            \
    "    bitwise_invert([0, 1])    # [-1, -2]\n")                              \
  X(LOGICAL_NOT, logical_not, 1, LOGICAL, "",                                  \
    "Whether each bool is false.\n"                                            \
    "    logical_not([true, false])    # [false, true]\n")                     \
  X(ABS, abs, 1, PART, "",                                                     \
    "The magnitude of each item; of complex items, a real.\n"                  \
    "    abs([-1.5, 2.0])    # [1.5, 2.0]\n")                                  \
  X(SIGN, sign, 1, NUMERIC, "",                                                \
    "-1, 0 or 1 by the sign of each item; of complex items, x / abs(x).\n"     \
    "    sign([-3, 0, 5])    # [-1, 0, 1]\n")                                  \
  X(SQUARE, square, 1, NUMERIC, "",                                            \
    "x * x, item by item.\n"                                                   \
    "    square([2, 3])    # [4, 9]\n")                                        \
  X(RECIPROCAL, reciprocal, 1, FLOAT, "",                                      \
    "1 / x, item by item.\n"                                                   \
    "    reciprocal([2.0, 4.0])    # [0.5, 0.25]\n")                           \
  X(SQRT, sqrt, 1, FLOAT, "√",                                                 \
    "The square root of each item; NaN for a negative real.\n"                 \
    "    sqrt([4.0, 9.0])    # [2.0, 3.0]\n")                                  \
  X(CBRT, cbrt, 1, FLOATR, "",                                                 \
    "The cube root of each item.\n"                                            \
    "    cbrt([8.0, -27.0])    # [2.0, -3.0]\n")                               \
  X(EXP, exp, 1, FLOAT, "",                                                    \
    "e to the power of each item.\n"                                           \
    "    exp([0.0, 1.0])    # [1.0, 2.718281828459045]\n")                     \
  X(EXP2, exp2, 1, FLOATR, "",                                                 \
    "2 to the power of each item.\n"                                           \
    "    exp2([3.0])    # [8.0]\n")                                            \
  X(EXPM1, expm1, 1, FLOAT, "",                                                \
    "exp(x) - 1, exact near 0 (expm1 of IEEE 754, 2019).\n"                    \
    "    expm1([0.0])    # [0.0]\n")                                           \
  X(LOG, log, 1, FLOAT, "",                                                    \
    "The natural logarithm of each item.\n"                                    \
    "    log([1.0, e])    # [0.0, 1.0]\n")                                     \
  X(LOG1P, log1p, 1, FLOAT, "",                                                \
    "log(1 + x), exact near 0 (logp1 of IEEE 754, 2019).\n"                    \
    "    log1p([0.0])    # [0.0]\n")                                           \
  X(LOG2, log2, 1, FLOAT, "",                                                  \
    "The logarithm to base 2 of each item.\n"                                  \
    "    log2([8.0])    # [3.0]\n")                                            \
  X(LOG10, log10, 1, FLOAT, "",                                                \
    "The logarithm to base 10 of each item.\n"                                 \
    "    log10([1000.0])    # [3.0]\n")                                        \
  X(SIN, sin, 1, FLOAT, "",                                                    \
    "The sine of each item, in radians.\n"                                     \
    "    sin([0.0])    # [0.0]\n")                                             \
  X(COS, cos, 1, FLOAT, "",                                                    \
    "The cosine of each item, in radians.\n"                                   \
    "    cos([0.0])    # [1.0]\n")                                             \
  X(TAN, tan, 1, FLOAT, "",                                                    \
    "The tangent of each item, in radians.\n"                                  \
    "    tan([0.0])    # [0.0]\n")                                             \
  X(ASIN, asin, 1, FLOAT, "",                                                  \
    "The arc sine of each item, in radians.\n"                                 \
    "    asin([1.0])    # [1.5707963267948966]\n")                             \
  X(ACOS, acos, 1, FLOAT, "",                                                  \
    "The arc cosine of each item, in radians.\n"                               \
    "    acos([1.0])    # [0.0]\n")                                            \
  X(ATAN, atan, 1, FLOAT, "",                                                  \
    "The arc tangent of each item, in radians.\n"                              \
    "    atan([0.0])    # [0.0]\n")                                            \
  X(SINH, sinh, 1, FLOAT, "",                                                  \
    "The hyperbolic sine of each item.\n"                                      \
    "    sinh([0.0])    # [0.0]\n")                                            \
  X(COSH, cosh, 1, FLOAT, "",                                                  \
    "The hyperbolic cosine of each item.\n"                                    \
    "    cosh([0.0])    # [1.0]\n")                                            \
  X(TANH, tanh, 1, FLOAT, "",                                                  \
    "The hyperbolic tangent of each item.\n"                                   \
    "    tanh([0.0])    # [0.0]\n")                                            \
  X(ASINH, asinh, 1, FLOAT, "",                                                \
    "The inverse hyperbolic sine of each item.\n"                              \
    "    asinh([0.0])    # [0.0]\n")                                           \
  X(ACOSH, acosh, 1, FLOAT, "",                                                \
    "The inverse hyperbolic cosine of each item.\n"                            \
    "    acosh([1.0])    # [0.0]\n")                                           \
  X(ATANH, atanh, 1, FLOAT, "",                                                \
    "The inverse hyperbolic tangent of each item.\n"                           \
    "    atanh([0.0])    # [0.0]\n")                                           \
  X(ERF, erf, 1, FLOATR, "",                                                   \
    "The error function of each item.\n"                                       \
    "    erf([0.0])    # [0.0]\n")                                             \
  X(ERFC, erfc, 1, FLOATR, "",                                                 \
    "1 - erf(x), exact for large x.\n"                                         \
    "    erfc([0.0])    # [1.0]\n")                                            \
  X(GAMMA, gamma, 1, FLOATR, "",                                               \
    "The gamma function of each item (DLMF 5.2).\n"                            \
    "    gamma([5.0])    # [24.0]\n")                                          \
  X(LGAMMA, lgamma, 1, FLOATR, "",                                             \
    "The logarithm of the gamma function's magnitude (DLMF 5.2).\n"            \
    "    lgamma([1.0])    # [0.0]\n")                                          \
  X(FLOOR, floor, 1, ROUND, "",                                                \
    "The largest whole number not above each item; the dtype stays.\n"         \
    "    floor([1.5, -1.5])    # [1.0, -2.0]\n")                               \
  X(CEIL, ceil, 1, ROUND, "",                                                  \
    "The smallest whole number not below each item; the dtype stays.\n"        \
    "    ceil([1.5, -1.5])    # [2.0, -1.0]\n")                                \
  X(TRUNC, trunc, 1, ROUND, "",                                                \
    "Each item without its fraction; the dtype stays.\n"                       \
    "    trunc([1.5, -1.5])    # [1.0, -1.0]\n")                               \
  X(ROUND, round, 1, ROUND, "",                                                \
    "Each item rounded to so many decimals, halves to even; keeps dtypes.\n"   \
    "As NumPy: times 10^decimals, rounded, divided by it again, so what\n"     \
    "looks like a half may be a little more or less. Below 0 tens and so\n"    \
    "on are rounded, of integers by way of float64; what then does not\n"      \
    "fit the dtype is an error (kind value).\n"                                \
    "    round([0.5, 1.5, 2.5])      # [0.0, 2.0, 2.0]\n"                      \
    "    round([3.14159, 2.5], 2)    # [3.14, 2.5]\n"                          \
    "    round([1234, 1250], -2)     # [1200, 1200]\n")                        \
  X(ISNAN, isnan, 1, TEST, "",                                                 \
    "Whether each item is not a number.\n"                                     \
    "    isnan([1.0, nan])    # [false, true]\n")                              \
  X(ISINF, isinf, 1, TEST, "",                                                 \
    "Whether each item is infinite.\n"                                         \
    "    isinf([1.0, -inf])    # [false, true]\n")                             \
  X(ISFINITE, isfinite, 1, TEST, "",                                           \
    "Whether each item is neither infinite nor NaN.\n"                         \
    "    isfinite([1.0, nan])    # [true, false]\n")                           \
  X(SIGNBIT, signbit, 1, TEST, "",                                             \
    "Whether each item's sign bit is set, as in -0.0.\n"                       \
    "    signbit([1.0, -0.0])    # [false, true]\n")                           \
  X(REAL, real, 1, PART, "",                                                   \
    "The real part of each item.\n"                                            \
    "    real([1 + 2i])    # [1.0]\n")                                         \
  X(IMAG, imag, 1, PART, "",                                                   \
    "The imaginary part of each item; 0 for reals.\n"                          \
    "    imag([1 + 2i])    # [2.0]\n")                                         \
  X(CONJ, conj, 1, NUMERIC, "",                                                \
    "Each item with the sign of its imaginary part turned.\n"                  \
    "    conj([1 + 2i])    # [1.0 - 2.0i]\n")                                  \
  X(WHERE, where, 3, SELECT, "",                                               \
    "x where the condition is true, else y, item by item.\n"                   \
    "    where([true, false], 1, [7, 8])    # [1, 8]\n")

typedef enum tl_op {
#define X(ENUM, name, arity, rule, sign, doc) TL_OP_##ENUM,
  TL_ELEMENTWISE(X)
#undef X
      TL_OP_COUNT
} tl_op;

// Those of two operands come first: so many.
enum { TL_BINARY_OPS = TL_OP_NEGATIVE };

typedef struct tl_op_info {
  const char *name;  // of the built-in function
  const char *sign;  // of the operator, "" where there is none
  uint8_t arity;     // 1, 2 or 3
  uint8_t rule;      // tl_rule
} tl_op_info;

extern const tl_op_info tl_ops[TL_OP_COUNT];

// The dtype [op] computes in when its operands promote to [promoted] (for
// where: those it selects from), or TL_DTYPE_COUNT if it refuses that dtype.
// Strings are always refused: what applies to them is no kernel's business.
tl_dtype tl_op_compute_dtype(tl_op op, tl_dtype promoted);

// The dtype of the result of computing [op] in [computed].
tl_dtype tl_op_result(tl_op op, tl_dtype computed);

#endif
