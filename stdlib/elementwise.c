// The elementwise functions: a built-in for every row of the table in
// vm/elementwise_list.h, and those made of several.

#include <math.h>

#include "stdlib/families.h"
#include "vm/engine/engine.h"

// The operands, and for those that may overflow what is to happen then.
// [op] is a constant of each caller, so that those that cannot overflow have no
// test left. "wrap" is what happens anyway.
static inline bool call(tl_vm *vm, tl_op op, tl_slot *args, tl_slot *out) {
  tl_overflow how;
  if (!TL_OP_MAY_OVERFLOW(op))
    return tl_elementwise_kept(vm, op, args, out);
  return tl_arg_overflow(vm, tl_ops[op].name, args[tl_ops[op].arity], &how) &&
         (how < TL_OVERFLOW_ERROR
              ? tl_elementwise_kept(vm, op, args, out)
              : tl_elementwise_fitting(vm, op, how, args, out));
}

#define X(ENUM, name, arity, rule, sign)                            \
  static bool call_##name(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    return call(vm, TL_OP_##ENUM, args, out);                       \
  }
#include "vm/elementwise_list.h"
#undef X

// *a = op(*a, b): a is a temporary, b is left alone.
//
//  clip: t = max(x, low), then t = min(t, high) in t's own memory
//
static bool update(tl_vm *vm, tl_op op, tl_slot *a, tl_slot b) {
  tl_slot operands[] = {*a, tl_borrow(b)}, result;
  bool ok = tl_elementwise_kept(vm, op, operands, &result);
  a->tag = operands[0].tag;
  if (!ok)
    return false;
  return tl_replace(vm, a, result);
}

// What has numbers, in one piece: nested forms are divided before.
static bool is_numeric(tl_slot s) {
  return tl_is_number(s) || tl_is_range(s) ||
         (tl_is_array(s) && tl_array_dtype(s.array) < TL_STRING);
}

// Whether both bounds leave a dying array its dtype and memory, so that the
// second cannot fail when the first has written.
// A bound of a higher dtype would make the result another array, with the first
// one already written.
static bool clips_in_place(const tl_vm *vm, const tl_slot *args) {
  if (vm->no_reuse || !tl_is_array(args[0]) || !tl_array_is_reusable(args[0]))
    return false;
  tl_dtype dtype = tl_array_dtype(args[0].array);
  for (int i = 1; i < 3; i++) {
    uint64_t tag = args[i].tag;
    bool is_int = (tag & TL_CLASS_I64) != 0;
    bool is_float = (tag & TL_CLASS_F64) != 0;
    if (!(dtype == TL_FLOAT64 && (is_int || is_float)) &&
        !(dtype == TL_INT64 && is_int) &&
        !(dtype == TL_FLOAT32 && (is_int || is_float) && (tag & TL_WEAK) != 0))
      return false;
  }
  return true;
}

// max(x, min) first and min(…, max) second, so that the upper bound wins where
// the bounds cross, as in NumPy.
//
//  clip([1, 5, 9], 2, 8)     [2, 5, 8]
//  clip(5, 8, 2)             2
//  clip(x, none, none)       x, as +x
//
static bool clip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!is_numeric(args[0]))
    return tl_arg_fail(vm, "clip", "x", "a number or an array of numbers",
                       args[0]);
  if (tl_is_none(args[1]) && tl_is_none(args[2])) {
    tl_slot operand[] = {args[0]};
    bool ok = tl_elementwise_kept(vm, TL_OP_POSITIVE, operand, out);
    args[0].tag = operand[0].tag;
    return ok;
  }
  // The argument is dying where it owns: then it is the temporary.
  tl_slot x = args[0];
  bool both = !tl_is_none(args[1]) && !tl_is_none(args[2]);
  if (vm->keeping && both && !clips_in_place(vm, args))
    x = tl_borrow(x);
  else
    args[0].tag &= ~TL_OWNED;
  bool ok = true;
  if (!tl_is_none(args[1]))
    ok = update(vm, TL_OP_MAXIMUM, &x, args[1]);
  if (ok && !tl_is_none(args[2]))
    ok = update(vm, TL_OP_MINIMUM, &x, args[2]);
  if (ok)
    *out = x;
  else if (tl_is_owned(x))
    tl_put_back(vm, &args[0], x);
  return ok;
}

// --- where ------------------------------------------------------------------

// Without x and y, the places: what the condition alone can tell.
// A condition with x alone would be a slip of the hand.
static bool places_or_where(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool has_x = !tl_is_none(args[1]), has_y = !tl_is_none(args[2]);
  if (!has_x && !has_y)
    return tl_nonzero(vm, "where", &args[0], out);
  return has_y ? call_where(vm, args, out)
               : tl_fail(vm, TALLY_ERR_TYPE,
                         "where: x and y are given both or neither of them");
}

// --- Decimals ---------------------------------------------------------------

// Whole numbers are rounded by way of float64 and converted back. Where round
// has nothing to scale, or x is none of these, the plain operation answers,
// also with its message.
// Of integers only negative decimals change anything.
static bool round_decimals(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int64_t decimals;
  if (!tl_arg_int(vm, "round", "decimals", args[1], &decimals))
    return false;
  tl_slot x = args[0];
  bool plain = is_numeric(x), up = decimals > 0;
  int dtype = !plain           ? (int)TL_FLOAT64
              : tl_is_range(x) ? (int)TL_INT64
                               : tl_dtype_of(x);
  bool whole = dtype < TL_FLOAT16;
  if (decimals == 0 || dtype == TL_BOOL || (whole && up) ||
      (!plain && !tl_is_nested(x)))
    return call_round(vm, args, out);
  bool single = dtype == TL_FLOAT32 || dtype == TL_COMPLEX64;
  double most = dtype == TL_FLOAT16 ? 4 : single ? 38 : 308;
  double places = fmin(fabs((double)decimals), most);
  tl_slot given[] = {tl_pass_on(&args[0]), tl_weak_float(pow(10, places)),
                     tl_bool(up)};
  tl_slot by;
  if (!whole)
    return tl_in_tally(vm, "rounded", 3, given, out);
  if (!tl_in_tally(vm, "rounded", 3, given, &by))
    return false;
  tl_slot items = tl_borrow(by);
  return tl_drop_after(vm, tl_cast(vm, &items, (tl_dtype)dtype, out), &by);
}

// --- The table --------------------------------------------------------------

// By the number of operands; where is the only one with three.
// Constants of the compiler, so that a table of constant rows can have them.
#define PARAMS_1(op) TL_OP_MAY_OVERFLOW(op) ? "x, overflow: none" : "x"
#define PARAMS_2(op) TL_OP_MAY_OVERFLOW(op) ? "x, y, overflow: none" : "x, y"
#define PARAMS_3(op) "condition, x = none, y = none"
#define CALL_1(name) call_##name
// And round, which may be told how many decimals stay.
#define IS_ROUND(ENUM) (TL_OP_##ENUM == TL_OP_ROUND)
#define CALL_2(name) call_##name
#define CALL_3(name) places_or_##name

const tl_builtin tl_elementwise_builtins[] = {
#define X(ENUM, name, arity, rule, sign)                                     \
  {#name, IS_ROUND(ENUM) ? "x, decimals = 0" : PARAMS_##arity(TL_OP_##ENUM), \
   IS_ROUND(ENUM) ? round_decimals : CALL_##arity(name), .takes = TL_BYTES},
#include "vm/elementwise_list.h"
#undef X
    /// x with items below min set to min and items above max set to max. Either
    /// bound may be none or an array.
    /// Takes any real dtype, promoted: arrays or scalars, which broadcast.
    /// Complex items and strings are an error (kind type), shapes that do not
    /// broadcast another (shape).
    ///     clip([1, 5, 9], 2, 8)    # [2, 5, 8]
    {"clip", "x, min = none, max = none", clip, TL_STOPS, .restores = TL_ARRAYS,
     .lifts = TL_OF_ITEMS, .fused = TL_FUSED_CLIP},
    {.name = NULL},
};
