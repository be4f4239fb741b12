// The elementwise operations, written once: opcodes, operators, built-in
// functions, documentation, kernels and their tests follow from this list.
//
// X(ENUM, name, arity, rule, operator or "") is defined by who includes it. The
// documentation above a row is that of the function, as in any table of the
// library (vm/builtin.h); below it comes the note of the row's rule, where
// {operands} and {shapes} stand for what depends on the arity.

/// ARITH:
/// Takes and gives any numeric dtype, promoted, and bools:
/// {operands}.
/// Strings are an error (kind type){shapes}

/// NUMERIC:
/// Takes and gives any numeric dtype, promoted:
/// {operands}.
/// Bools and strings are an error (kind type){shapes}

/// REAL:
/// Takes and gives any real dtype, promoted:
/// {operands}.
/// Complex items and strings are an error (kind type){shapes}

/// DIVIDE:
/// Takes any numeric dtypes, promoted, integers as float64:
/// {operands}.
/// Strings are an error (kind type){shapes}

/// FLOAT:
/// Floats and complex items keep their dtype, integers give float64:
/// {operands}.
/// Strings are an error (kind type){shapes}

/// FLOATR:
/// Floats keep their dtype, integers give float64:
/// {operands}.
/// Complex items and strings are an error (kind type){shapes}

/// COMPARE:
/// Takes any dtypes that promote, also strings with strings:
/// {operands}; gives bools.
/// Values of other kinds are never equal, and have no order: asking for it
/// is an error (kind type), of complex items too{shapes}

/// LOGICAL:
/// Takes and gives bools: {operands}.
/// Other dtypes are an error (kind type){shapes}

/// BITWISE:
/// Takes and gives integers, promoted, or bools:
/// {operands}.
/// Floats are an error (kind type){shapes}

/// SHIFT:
/// Takes and gives integers, promoted:
/// {operands}.
/// Other dtypes are an error (kind type){shapes}

/// BITCOUNT:
/// Takes integers, and gives int64:
/// {operands}.
/// Other dtypes are an error (kind type){shapes}

/// TEST:
/// Takes any numeric dtype (signbit a real one):
/// {operands}; gives bools.
/// Strings are an error (kind type){shapes}

/// ROUND:
/// Takes any real dtype (round a complex one, too):
/// {operands}.
/// Strings are an error (kind type){shapes}

/// PART:
/// Takes any numeric dtype, complex items give floats of their
/// precision: {operands}.
/// Strings are an error (kind type){shapes}

/// SELECT:
/// The condition is bool, x and y of any dtypes that promote: arrays or
/// scalars, which broadcast. Another condition is an error (kind type),
/// shapes that do not broadcast another (shape).
/// Without x and y, the places of what is true or not zero, as nonzero has
/// them: a list with an index array for each axis.
///     where([false, true, true])[0]    # [1, 2]

/// The sum of x and y, item by item. Integers wrap.
/// overflow: "error" makes one that does not fit an error (kind value),
/// "saturate" the end of the range; both of integers alone.
///     add([1, 2], 3)    # [4, 5]
///     add(int8([100]), 100, overflow: "saturate")    # [127]
X(ADD, add, 2, ARITH, "+")
/// The difference x - y, item by item. Integers wrap.
/// overflow is as in add.
///     subtract([4, 5], 3)    # [1, 2]
X(SUBTRACT, subtract, 2, NUMERIC, "-")
/// The product of x and y, item by item. Integers wrap.
/// overflow is as in add.
///     multiply([1, 2], 3)    # [3, 6]
X(MULTIPLY, multiply, 2, ARITH, "*")
/// The quotient x / y as a float, item by item.
///     divide([1, 2], 2)    # [0.5, 1.0]
X(DIVIDE, divide, 2, DIVIDE, "/")
/// The quotient x / y rounded to minus infinity. An integer zero divisor
/// is an error (kind domain).
///     floor_divide([7, -7], 2)    # [3, -4]
X(FLOOR_DIVIDE, floor_divide, 2, REAL, "//")
/// The remainder of x // y; it has the sign of y.
///     remainder([7, -7], 3)    # [1, 2]
X(REMAINDER, remainder, 2, REAL, "%")
/// x to the power y, item by item. A negative power of an integer array is
/// an error (kind domain).
/// overflow is as in add.
///     pow([1, 2, 3], 2)    # [1, 4, 9]
X(POW, pow, 2, NUMERIC, "**")
/// The larger of x and y, item by item; NaN where either is NaN.
///     maximum([1, 5], [4, 2])    # [4, 5]
X(MAXIMUM, maximum, 2, REAL, "")
/// The smaller of x and y, item by item; NaN where either is NaN.
///     minimum([1, 5], [4, 2])    # [1, 2]
X(MINIMUM, minimum, 2, REAL, "")
/// The angle of the point y to the right and x up, in radians from -pi to pi.
///     atan2([0.0, 1.0], [1.0, 0.0])    # [0.0, 1.5707963267948966]
X(ATAN2, atan2, 2, FLOATR, "")
/// sqrt(x**2 + y**2) without overflow in between.
///     hypot([3.0], [4.0])    # [5.0]
X(HYPOT, hypot, 2, FLOATR, "")
/// The magnitude of x with the sign of y.
///     copysign([1.0, 2.0], -1.0)    # [-1.0, -2.0]
X(COPYSIGN, copysign, 2, FLOATR, "")
/// The next float after x in the direction of y.
///     nextafter([0.0], 1.0)    # [5e-324]
X(NEXTAFTER, nextafter, 2, FLOATR, "")
/// log(exp(x) + exp(y)) without overflow in between (array API standard,
/// 2024).
///     logaddexp([1000.0], 1000.0)    # [1000.6931471805599]
X(LOGADDEXP, logaddexp, 2, FLOATR, "")
/// Whether x == y, item by item.
///     equal([1, 2], 2)    # [false, true]
X(EQUAL, equal, 2, COMPARE, "==")
/// Whether x != y, item by item.
///     not_equal([1, 2], 2)    # [true, false]
X(NOT_EQUAL, not_equal, 2, COMPARE, "!=")
/// Whether x < y, item by item.
///     less([1, 2], 2)    # [true, false]
X(LESS, less, 2, COMPARE, "<")
/// Whether x <= y, item by item.
///     less_equal([1, 3], 2)    # [true, false]
X(LESS_EQUAL, less_equal, 2, COMPARE, "<=")
/// Whether x > y, item by item.
///     greater([1, 3], 2)    # [false, true]
X(GREATER, greater, 2, COMPARE, ">")
/// Whether x >= y, item by item.
///     greater_equal([1, 2], 2)    # [false, true]
X(GREATER_EQUAL, greater_equal, 2, COMPARE, ">=")
/// Whether both bools are true, item by item.
///     logical_and([true, false], true)    # [true, false]
X(LOGICAL_AND, logical_and, 2, LOGICAL, "")
/// Whether either bool is true, item by item.
///     logical_or([true, false], false)    # [true, false]
X(LOGICAL_OR, logical_or, 2, LOGICAL, "")
/// Whether just one of the bools is true, item by item.
///     logical_xor([true, false], true)    # [false, true]
X(LOGICAL_XOR, logical_xor, 2, LOGICAL, "")
/// The bits set in both x and y; for bools, and.
///     bitwise_and([6, 3], 2)    # [2, 2]
X(BITWISE_AND, bitwise_and, 2, BITWISE, "&")
/// The bits set in x or y; for bools, or.
///     bitwise_or([4, 1], 2)    # [6, 3]
X(BITWISE_OR, bitwise_or, 2, BITWISE, "|")
/// The bits set in just one of x and y.
///     bitwise_xor([6, 3], 2)    # [4, 1]
X(BITWISE_XOR, bitwise_xor, 2, BITWISE, "^")
/// The bits of x moved up by y; 0 where y reaches the width. A negative y
/// is an error (kind domain).
///     bitwise_left_shift([1, 3], 2)    # [4, 12]
X(LEFT_SHIFT, bitwise_left_shift, 2, SHIFT, "<<")
/// The bits of x moved down by y, signed x keeping its sign. A negative y
/// is an error (kind domain).
///     bitwise_right_shift([4, -4], 1)    # [2, -2]
X(RIGHT_SHIFT, bitwise_right_shift, 2, SHIFT, ">>")
/// -x, item by item. Integers wrap.
/// overflow is as in add.
///     negative([1, -2])    # [-1, 2]
X(NEGATIVE, negative, 1, NUMERIC, "-")
/// x itself.
///     positive([1, -2])    # [1, -2]
X(POSITIVE, positive, 1, NUMERIC, "+")
/// Every bit of x turned over; for bools, not.
///     bitwise_invert([0, 1])    # [-1, -2]
X(BITWISE_INVERT, bitwise_invert, 1, BITWISE, "~")
/// How many bits of each item are set, as it is stored (two's complement).
///     popcount([0, 7, 255])    # [0, 3, 8]
///     popcount(int8([-1]))    # [8]
X(POPCOUNT, popcount, 1, BITCOUNT, "")
/// Whether each bool is false.
///     logical_not([true, false])    # [false, true]
X(LOGICAL_NOT, logical_not, 1, LOGICAL, "")
/// The magnitude of each item; of complex items, a real.
/// overflow is as in add.
///     abs([-1.5, 2.0])    # [1.5, 2.0]
X(ABS, abs, 1, PART, "")
/// -1, 0 or 1 by the sign of each item; of complex items, x / abs(x).
///     sign([-3, 0, 5])    # [-1, 0, 1]
X(SIGN, sign, 1, NUMERIC, "")
/// x * x, item by item.
/// overflow is as in add.
///     square([2, 3])    # [4, 9]
X(SQUARE, square, 1, NUMERIC, "")
/// 1 / x, item by item.
///     reciprocal([2.0, 4.0])    # [0.5, 0.25]
X(RECIPROCAL, reciprocal, 1, FLOAT, "")
/// The square root of each item; NaN for a negative real.
///     sqrt([4.0, 9.0])    # [2.0, 3.0]
X(SQRT, sqrt, 1, FLOAT, "√")
/// The cube root of each item.
///     cbrt([8.0, -27.0])    # [2.0, -3.0]
X(CBRT, cbrt, 1, FLOATR, "")
/// e to the power of each item.
///     exp([0.0, 1.0])    # [1.0, 2.718281828459045]
X(EXP, exp, 1, FLOAT, "")
/// 2 to the power of each item.
///     exp2([3.0])    # [8.0]
X(EXP2, exp2, 1, FLOATR, "")
/// exp(x) - 1, exact near 0 (expm1 of IEEE 754, 2019).
///     expm1([0.0])    # [0.0]
X(EXPM1, expm1, 1, FLOAT, "")
/// The natural logarithm of each item.
///     log([1.0, e])    # [0.0, 1.0]
X(LOG, log, 1, FLOAT, "")
/// log(1 + x), exact near 0 (logp1 of IEEE 754, 2019).
///     log1p([0.0])    # [0.0]
X(LOG1P, log1p, 1, FLOAT, "")
/// The logarithm to base 2 of each item.
///     log2([8.0])    # [3.0]
X(LOG2, log2, 1, FLOAT, "")
/// The logarithm to base 10 of each item.
///     log10([1000.0])    # [3.0]
X(LOG10, log10, 1, FLOAT, "")
/// The sine of each item, in radians.
///     sin([0.0])    # [0.0]
X(SIN, sin, 1, FLOAT, "")
/// The cosine of each item, in radians.
///     cos([0.0])    # [1.0]
X(COS, cos, 1, FLOAT, "")
/// The tangent of each item, in radians.
///     tan([0.0])    # [0.0]
X(TAN, tan, 1, FLOAT, "")
/// The arc sine of each item, in radians.
///     asin([1.0])    # [1.5707963267948966]
X(ASIN, asin, 1, FLOAT, "")
/// The arc cosine of each item, in radians.
///     acos([1.0])    # [0.0]
X(ACOS, acos, 1, FLOAT, "")
/// The arc tangent of each item, in radians.
///     atan([0.0])    # [0.0]
X(ATAN, atan, 1, FLOAT, "")
/// The hyperbolic sine of each item.
///     sinh([0.0])    # [0.0]
X(SINH, sinh, 1, FLOAT, "")
/// The hyperbolic cosine of each item.
///     cosh([0.0])    # [1.0]
X(COSH, cosh, 1, FLOAT, "")
/// The hyperbolic tangent of each item.
///     tanh([0.0])    # [0.0]
X(TANH, tanh, 1, FLOAT, "")
/// The inverse hyperbolic sine of each item.
///     asinh([0.0])    # [0.0]
X(ASINH, asinh, 1, FLOAT, "")
/// The inverse hyperbolic cosine of each item.
///     acosh([1.0])    # [0.0]
X(ACOSH, acosh, 1, FLOAT, "")
/// The inverse hyperbolic tangent of each item.
///     atanh([0.0])    # [0.0]
X(ATANH, atanh, 1, FLOAT, "")
/// The error function of each item.
///     erf([0.0])    # [0.0]
X(ERF, erf, 1, FLOATR, "")
/// 1 - erf(x), exact for large x.
///     erfc([0.0])    # [1.0]
X(ERFC, erfc, 1, FLOATR, "")
/// The gamma function of each item (DLMF 5.2).
///     gamma([5.0])    # [24.0]
X(GAMMA, gamma, 1, FLOATR, "")
/// The logarithm of the gamma function's magnitude (DLMF 5.2).
///     lgamma([1.0])    # [0.0]
X(LGAMMA, lgamma, 1, FLOATR, "")
/// The largest whole number not above each item; the dtype stays.
///     floor([1.5, -1.5])    # [1.0, -2.0]
X(FLOOR, floor, 1, ROUND, "")
/// The smallest whole number not below each item; the dtype stays.
///     ceil([1.5, -1.5])    # [2.0, -1.0]
X(CEIL, ceil, 1, ROUND, "")
/// Each item without its fraction; the dtype stays.
///     trunc([1.5, -1.5])    # [1.0, -1.0]
X(TRUNC, trunc, 1, ROUND, "")
/// Each item rounded to so many decimals, halves to even; keeps dtypes.
/// As NumPy: times 10^decimals, rounded, divided by it again, so what
/// looks like a half may be a little more or less. Below 0 tens and so
/// on are rounded, of integers by way of float64; what then does not
/// fit the dtype is an error (kind value).
///     round([0.5, 1.5, 2.5])      # [0.0, 2.0, 2.0]
///     round([3.14159, 2.5], 2)    # [3.14, 2.5]
///     round([1234, 1250], -2)     # [1200, 1200]
X(ROUND, round, 1, ROUND, "")
/// Whether each item is not a number.
///     isnan([1.0, nan])    # [false, true]
X(ISNAN, isnan, 1, TEST, "")
/// Whether each item is infinite.
///     isinf([1.0, -inf])    # [false, true]
X(ISINF, isinf, 1, TEST, "")
/// Whether each item is neither infinite nor NaN.
///     isfinite([1.0, nan])    # [true, false]
X(ISFINITE, isfinite, 1, TEST, "")
/// Whether each item's sign bit is set, as in -0.0.
///     signbit([1.0, -0.0])    # [false, true]
X(SIGNBIT, signbit, 1, TEST, "")
/// The real part of each item.
///     real([1 + 2i])    # [1.0]
X(REAL, real, 1, PART, "")
/// The imaginary part of each item; 0 for reals.
///     imag([1 + 2i])    # [2.0]
X(IMAG, imag, 1, PART, "")
/// Each item with the sign of its imaginary part turned.
///     conj([1 + 2i])    # [1.0 - 2.0i]
X(CONJ, conj, 1, NUMERIC, "")
/// x where the condition is true, else y, item by item.
///     where([true, false], 1, [7, 8])    # [1, 8]
X(WHERE, where, 3, SELECT, "")
