// The table of elementwise operations and what their rules mean.
#include "vm/elementwise.h"

const tl_op_info tl_ops[TL_OP_COUNT] = {
#define X(ENUM, name, arity, rule, sign) \
  [TL_OP_##ENUM] = {#name, sign, arity, TL_RULE_##rule},
#include "vm/elementwise_list.h"
#undef X
};

// Operations on reals compute whole numbers in float64; reals and, unless
// [reals_only], complex numbers in their own dtype.
static tl_dtype as_float(tl_dtype dtype, bool reals_only) {
  if (tl_dtype_is_complex(dtype))
    return reals_only ? TL_DTYPE_COUNT : dtype;
  return tl_dtype_is_real(dtype) ? dtype : TL_FLOAT64;
}

// The dtype where it is allowed, or TL_DTYPE_COUNT, which refuses the operands.
static tl_dtype if_so(bool allowed, tl_dtype dtype) {
  return allowed ? dtype : TL_DTYPE_COUNT;
}

// Bools divide as the integers 0 and 1.
static tl_dtype for_real(tl_op op, tl_dtype dtype) {
  bool divides = op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER;
  if (dtype == TL_BOOL && divides)
    return TL_INT8;
  return if_so(!tl_dtype_is_complex(dtype), dtype);
}

// One case for each rule of the table; operations that differ from their rule
// are named in its case.
tl_dtype tl_op_compute_dtype(tl_op op, tl_dtype promoted) {
  const bool is_bool = promoted == TL_BOOL;
  const bool is_complex = promoted < TL_STRING && tl_dtype_is_complex(promoted);
  if (promoted >= TL_STRING)
    return TL_DTYPE_COUNT;
  switch ((tl_rule)tl_ops[op].rule) {
    case TL_RULE_ARITH:
    case TL_RULE_PART:
    case TL_RULE_SELECT:
      return promoted;
    case TL_RULE_NUMERIC:
      return if_so(!is_bool, promoted);
    case TL_RULE_REAL:
      return for_real(op, promoted);
    case TL_RULE_DIVIDE:
    case TL_RULE_FLOAT:
      return as_float(promoted, false);
    case TL_RULE_FLOATR:
      return as_float(promoted, true);
    case TL_RULE_COMPARE:
      return if_so(!is_complex || op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL,
                   promoted);
    case TL_RULE_LOGICAL:
      return if_so(is_bool, promoted);
    case TL_RULE_BITWISE:
      return if_so(is_bool || tl_dtype_is_integer(promoted), promoted);
    case TL_RULE_SHIFT:
    case TL_RULE_BITCOUNT:
      return if_so(tl_dtype_is_integer(promoted), promoted);
    case TL_RULE_TEST:
      return if_so(!is_complex || op != TL_OP_SIGNBIT, promoted);
    case TL_RULE_ROUND:
      return if_so(!is_bool && (!is_complex || op == TL_OP_ROUND), promoted);
  }
  return TL_DTYPE_COUNT;
}

// Only comparisons, tests, counts and the parts of complex numbers give another
// dtype than they compute in.
tl_dtype tl_op_result(tl_op op, tl_dtype computed) {
  switch ((tl_rule)tl_ops[op].rule) {
    case TL_RULE_COMPARE:
    case TL_RULE_LOGICAL:
    case TL_RULE_TEST:
      return TL_BOOL;
    case TL_RULE_BITCOUNT:
      return TL_INT64;
    case TL_RULE_PART:
      if (computed == TL_COMPLEX64)
        return TL_FLOAT32;
      if (computed == TL_COMPLEX128)
        return TL_FLOAT64;
      return computed;
    default:
      return computed;
  }
}
