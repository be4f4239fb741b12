// The elementwise functions: a built-in for every row of the table in
// vm/engine/elementwise.h, and those made of several.

#include "stdlib/arguments.h"
#include "stdlib/arrays.h"
#include "stdlib/families.h"
#include "stdlib/nested_reduce.h"
#include "vm/engine/engine.h"
#include "vm/vm.h"

#define X(ENUM, name, arity, rule, sign, doc)                       \
  static bool call_##name(tl_vm *vm, tl_slot *args, tl_slot *out) { \
    return tl_elementwise_kept(vm, TL_OP_##ENUM, args, out);        \
  }
TL_ELEMENTWISE(X)
#undef X

// *a = op(*a, b): a is a temporary, b is left alone.
static bool update(tl_vm *vm, tl_op op, tl_slot *a, tl_slot b) {
  tl_slot operands[] = {*a, tl_borrow(b)}, result;
  bool ok = tl_elementwise_kept(vm, op, operands, &result);
  a->tag = operands[0].tag;
  if (!ok)
    return false;
  if (tl_is_owned(*a))
    tl_drop(vm, *a);
  *a = result;
  return true;
}

// *out = op(a, b), both left alone.
static bool combine(tl_vm *vm, tl_op op, tl_slot a, tl_slot b, tl_slot *out) {
  tl_slot operands[] = {tl_borrow(a), tl_borrow(b)};
  return tl_elementwise(vm, op, operands, out);
}

static bool is_numeric(tl_slot s) {
  return tl_is_number(s) || tl_is_range(s) ||
         (tl_is_array(s) && tl_array_dtype(s.array) < TL_STRING);
}

// Whether both bounds leave a dying array its dtype and memory, so that the
// second cannot fail when the first has written.
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

static bool clip(tl_vm *vm, tl_slot *args, tl_slot *out) {
  if (!is_numeric(args[0])) {
    return tl_arg_fail(vm, "clip", "x", "a number or an array of numbers",
                       args[0]);
  }
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
  if (ok) {
    *out = x;
  } else if (tl_is_owned(x)) {
    tl_put_back(vm, &args[0], x);
  }
  return ok;
}

bool tl_builtin_is_clip(const tl_builtin *builtin) {
  return builtin->call == clip;
}

// --- Nearness ---------------------------------------------------------------

typedef struct nearness {
  tl_slot rtol, atol;
  bool equal_nan;
} nearness;

// |x - y| <= atol + rtol * |y|, for finite y.
static bool within(tl_vm *vm, tl_slot x, tl_slot y, const nearness *near,
                   tl_slot *out) {
  tl_slot slack = tl_none(), finite = tl_none();
  tl_slot operand[] = {tl_borrow(y)};
  *out = tl_none();
  bool ok = tl_elementwise(vm, TL_OP_ABS, operand, &slack) &&
            update(vm, TL_OP_MULTIPLY, &slack, near->rtol) &&
            update(vm, TL_OP_ADD, &slack, near->atol) &&
            combine(vm, TL_OP_SUBTRACT, x, y, out);
  if (ok) {
    tl_slot distance[] = {*out};
    ok = tl_elementwise(vm, TL_OP_ABS, distance, out);
    if (!ok)
      *out = distance[0];
    else if (tl_is_owned(distance[0]))
      tl_drop(vm, distance[0]);
  }
  operand[0] = tl_borrow(y);
  ok = ok && update(vm, TL_OP_LESS_EQUAL, out, slack) &&
       tl_elementwise(vm, TL_OP_ISFINITE, operand, &finite) &&
       update(vm, TL_OP_LOGICAL_AND, out, finite);
  tl_clear(vm, &slack);
  tl_clear(vm, &finite);
  if (!ok)
    tl_clear(vm, out);
  return ok;
}

// Where the condition [op] (equal, or both NaN) makes items near anyway.
static bool or_where(tl_vm *vm, tl_slot *near, tl_slot x, tl_slot y, bool nan) {
  tl_slot also = tl_none(), other = tl_none();
  tl_slot a[] = {tl_borrow(x)}, b[] = {tl_borrow(y)};
  bool ok;
  if (nan) {
    ok = tl_elementwise(vm, TL_OP_ISNAN, a, &also) &&
         tl_elementwise(vm, TL_OP_ISNAN, b, &other) &&
         update(vm, TL_OP_LOGICAL_AND, &also, other);
  } else {
    ok = combine(vm, TL_OP_EQUAL, x, y, &also);
  }
  ok = ok && update(vm, TL_OP_LOGICAL_OR, near, also);
  tl_clear(vm, &also);
  tl_clear(vm, &other);
  return ok;
}

// Integers are compared as float64: their differences may wrap.
static bool as_inexact(tl_vm *vm, tl_slot x, tl_slot *out) {
  tl_slot borrowed = tl_borrow(x);
  if (tl_is_nested(x)) {
    tl_slot product[] = {borrowed, tl_weak_float(1)};
    return tl_elementwise(vm, TL_OP_MULTIPLY, product, out);
  }
  int dtype = tl_is_range(x) ? (int)TL_INT64 : tl_dtype_of(x);
  if (dtype < TL_FLOAT32)
    return tl_cast(vm, &borrowed, TL_FLOAT64, out);
  *out = borrowed;
  return true;
}

static bool near_items(tl_vm *vm, const char *function, tl_slot *args,
                       tl_slot *out) {
  nearness near = {.rtol = tl_borrow(args[2]), .atol = tl_borrow(args[3])};
  double value;
  for (int i = 0; i < 2; i++) {
    if (!is_numeric(args[i]) && !tl_is_nested(args[i])) {
      return tl_arg_fail(vm, function, i == 0 ? "x" : "y",
                         "a number or an array of numbers", args[i]);
    }
  }
  if (!tl_arg_float(vm, function, "rtol", args[2], &value) ||
      !tl_arg_float(vm, function, "atol", args[3], &value) ||
      !tl_arg_bool(vm, function, "equal_nan", args[4], &near.equal_nan)) {
    return false;
  }
  tl_slot x = tl_none(), y = tl_none(), result = tl_none();
  bool ok = as_inexact(vm, args[0], &x) && as_inexact(vm, args[1], &y) &&
            within(vm, x, y, &near, &result) &&
            or_where(vm, &result, x, y, false) &&
            (!near.equal_nan || or_where(vm, &result, x, y, true));
  tl_clear(vm, &x);
  tl_clear(vm, &y);
  if (!ok)
    tl_clear(vm, &result);
  if (ok)
    *out = result;
  return ok;
}

static bool isclose(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return near_items(vm, "isclose", args, out);
}

static bool allclose(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot near;
  if (!near_items(vm, "allclose", args, &near))
    return false;
  uint32_t axes = UINT32_MAX;
  const tl_reduce_call all = {.name = "allclose",
                              .reduction = TL_REDUCE_ALL,
                              .axis = tl_none(),
                              .dtype = TL_DTYPE_COUNT};
  bool ok = tl_is_nested(near) ? tl_nested_reduce(vm, &all, &near, out)
                               : tl_reduce(vm, TL_REDUCE_ALL, &near, axes,
                                           false, TL_DTYPE_COUNT, 0, out);
  tl_clear(vm, &near);
  return ok;
}

// --- where ------------------------------------------------------------------

// Without x and y, the places: what the condition alone can tell.
static bool places_or_where(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool has_x = !tl_is_none(args[1]), has_y = !tl_is_none(args[2]);
  if (!has_x && !has_y)
    return tl_nonzero(vm, "where", &args[0], out);
  return has_x && has_y
             ? call_where(vm, args, out)
             : tl_fail(vm, TALLY_ERR_TYPE,
                       "where: x and y are given both or neither of them");
}

// --- The table --------------------------------------------------------------

// What a rule says of operands, results and errors, below each documentation,
// for one operand or two.
#define OPERANDS_1 "an array of any shape or a scalar"
#define OPERANDS_2 "arrays or scalars, which broadcast"
#define OPERANDS_3 ""
#define SHAPES_1 ".\n"
#define SHAPES_2 ",\nshapes that do not broadcast another (shape).\n"
#define SHAPES_3 ""
#define NOTE_ARITH(operands, shapes)                                   \
  "Takes and gives any numeric dtype, promoted, and bools:\n" operands \
  ".\nStrings are an error (kind type)" shapes
#define NOTE_NUMERIC(operands, shapes)                      \
  "Takes and gives any numeric dtype, promoted:\n" operands \
  ".\nBools and strings are an error (kind type)" shapes
#define NOTE_REAL(operands, shapes)                      \
  "Takes and gives any real dtype, promoted:\n" operands \
  ".\nComplex items and strings are an error (kind type)" shapes
#define NOTE_DIVIDE(operands, shapes)                                   \
  "Takes any numeric dtypes, promoted, integers as float64:\n" operands \
  ".\nStrings are an error (kind type)" shapes
#define NOTE_FLOAT(operands, shapes)                          \
  "Floats and complex items keep their dtype, integers give " \
  "float64:\n" operands ".\nStrings are an error (kind type)" shapes
#define NOTE_FLOATR(operands, shapes)                          \
  "Floats keep their dtype, integers give float64:\n" operands \
  ".\nComplex items and strings are an error (kind type)" shapes
#define NOTE_COMPARE(operands, shapes)                                        \
  "Takes any dtypes that promote, also strings with strings:\n" operands      \
  "; gives bools.\n"                                                          \
  "Values of other kinds are never equal, and have no order: asking for it\n" \
  "is an error (kind type), of complex items too" shapes
#define NOTE_LOGICAL(operands, shapes) \
  "Takes and gives bools: " operands   \
  ".\nOther dtypes are an error (kind type)" shapes
#define NOTE_BITWISE(operands, shapes)                       \
  "Takes and gives integers, promoted, or bools:\n" operands \
  ".\nFloats are an error (kind type)" shapes
#define NOTE_SHIFT(operands, shapes)               \
  "Takes and gives integers, promoted:\n" operands \
  ".\nOther dtypes are an error (kind type)" shapes
#define NOTE_TEST(operands, shapes)                          \
  "Takes any numeric dtype (signbit a real one):\n" operands \
  "; gives bools.\nStrings are an error (kind type)" shapes
#define NOTE_ROUND(operands, shapes)                            \
  "Takes any real dtype (round a complex one, too):\n" operands \
  ".\nStrings are an error (kind type)" shapes
#define NOTE_PART(operands, shapes)                               \
  "Takes any numeric dtype, complex items give floats of their\n" \
  "precision: " operands ".\nStrings are an error (kind type)" shapes
#define NOTE_SELECT(operands, shapes)                                         \
  "The condition is bool, x and y of any dtypes that promote: arrays or\n"    \
  "scalars, which broadcast. Another condition is an error (kind type),\n"    \
  "shapes that do not broadcast another (shape).\n"                           \
  "Without x and y, the places of what is true or not zero, as nonzero has\n" \
  "them: a list with an index array for each axis.\n"                         \
  "    where([false, true, true])[0]    # [1, 2]\n"

// By the number of operands; where is the only one with three.
#define PARAMS_1 "x"
#define PARAMS_2 "x, y"
#define PARAMS_3 "condition, x = none, y = none"
#define CALL_1(name) call_##name
#define CALL_2(name) call_##name
#define CALL_3(name) places_or_##name

const tl_builtin tl_elementwise_builtins[] = {
#define X(ENUM, name, arity, rule, sign, doc)              \
  {#name, PARAMS_##arity, CALL_##arity(name), TL_OF_BYTES, \
   TL_DOC(doc NOTE_##rule(OPERANDS_##arity, SHAPES_##arity))},
    TL_ELEMENTWISE(X)
#undef X
        {"clip", "x, min = none, max = none", clip,
         TL_OF_ITEMS | TL_KEEPS | TL_STOPS | TL_ARRAYS | TL_BEGINS,
         TL_DOC(
             "x with items below min set to min and items above max set to max. Either\n"
             "bound may be none or an array.\n"
             "Takes any real dtype, promoted: arrays or scalars, which broadcast.\n"
             "Complex items and strings are an error (kind type), shapes that do not\n"
             "broadcast another (shape).\n"
             "    clip([1, 5, 9], 2, 8)    # [2, 5, 8]\n")},
    {"isclose", "x, y, rtol: 0.00001, atol: 0.00000001, equal_nan: false",
     isclose, TL_PURE,
     TL_DOC(
         "Whether |x - y| <= atol + rtol * |y|, item by item.\n"
         "Takes any numeric dtypes: arrays or scalars, which broadcast; gives\n"
         "bools. Strings are an error (kind type), shapes that do not broadcast\n"
         "another (shape).\n"
         "    isclose([1.0, 2.0], [1.0 + 1e-9, 2.1])    # [true, false]\n")},
    {"allclose", "x, y, rtol: 0.00001, atol: 0.00000001, equal_nan: false",
     allclose, TL_PURE,
     TL_DOC(
         "Whether isclose(x, y) holds for all items.\n"
         "Takes any numeric dtypes: arrays or scalars, which broadcast; gives a\n"
         "bool. Strings are an error (kind type), shapes that do not broadcast\n"
         "another (shape).\n"
         "    allclose([0.1 + 0.2], [0.3])    # true\n")},
    {NULL, NULL, NULL, TL_PURE, NULL},
};
