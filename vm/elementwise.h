// The elementwise operations of elementwise_list.h, by number, and what the
// rule of each says of dtypes.
#pragma once

#include "vm/dtype.h"

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
  TL_RULE_BITCOUNT,  // integers, int64 result (popcount)
  TL_RULE_TEST,      // any numeric operand, bool result (isnan …)
  TL_RULE_ROUND,     // integers unchanged, reals rounded
  TL_RULE_PART,    // complex gives its real dtype, reals unchanged (abs, real)
  TL_RULE_SELECT,  // bool, then two promoted operands (where)
} tl_rule;

typedef enum tl_op {
#define X(ENUM, name, arity, rule, sign) TL_OP_##ENUM,
#include "vm/elementwise_list.h"
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
//
//   add of bool              bool, which is or
//   divide of int32          float64
//   floor_divide of bool     int8
//   less of complex64        TL_DTYPE_COUNT
tl_dtype tl_op_compute_dtype(tl_op op, tl_dtype promoted);

// Whether it looks at the values of its second operand where both are integers:
// a divisor of 0, a negative exponent or shift is an error.
static inline bool tl_op_looks(tl_op op) {
  return op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER || op == TL_OP_POW ||
         op == TL_OP_LEFT_SHIFT || op == TL_OP_RIGHT_SHIFT;
}

// The dtype of the result of computing [op] in [computed].
//
//   less in float64          bool
//   abs in complex64         float32
tl_dtype tl_op_result(tl_op op, tl_dtype computed);
