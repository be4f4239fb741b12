// Which dtype an elementwise operation is computed in.
//
// Weak scalars follow NEP 50: they take the other operand's dtype where it has
// the same or a higher kind, and must then fit it. Comparisons are the
// exception: they are exact for any two integers, as in NumPy 2.
//
//   int8 array + 1        int8       1 is weak
//   int8 array + 1000     kind value: 1000 does not fit int8
//   int8 array + 1.5      float64    a higher kind
//   int8 array < 1000     bool       compared as int64
//
// Built for size.

#include "vm/engine/engine_internal.h"
#include "vm/array/range.h"

// Arrays of rank 0 are scalars here, so that they do not take part in
// broadcasting.
bool tl_operand_open(tl_vm *vm, tl_slot *slot, tl_operand *out,
                     bool *is_number) {
  *is_number = true;
  out->array = NULL;
  out->owner = slot;
  out->made = tl_none();
  out->weak = tl_is_weak(*slot);
  if (tl_is_scalar(*slot)) {
    out->dtype = (tl_dtype)tl_dtype_of(*slot);
    out->data = (char *)&out->item;
    tl_scalar_store(*slot, &out->item);
    return true;
  }
  if (tl_is_array(*slot) && tl_dtype_of(*slot) < TL_STRING) {
    tl_array *array = slot->array;
    out->dtype = tl_array_dtype(array);
    out->data = array->data;
    if (array->head.ndim != 0) {
      out->array = array;
    } else {
      memcpy(&out->item, array->data, tl_itemsize(out->dtype));
      out->data = (char *)&out->item;
    }
    return true;
  }
  if (tl_is_range(*slot)) {
    tl_array *array = tl_range_to_array(vm, slot->range);
    if (array == NULL)
      return false;
    out->made = tl_own_array(array);
    out->owner = &out->made;
    out->array = array;
    out->data = array->data;
    out->dtype = TL_INT64;
    out->weak = false;
    return true;
  }
  *is_number = false;
  return true;
}

// The name of an operation in messages.
const char *tl_op_label(tl_op op) {
  const tl_op_info *info = &tl_ops[op];
  // The root sign is not what most people typed.
  return info->sign[0] != '\0' && op != TL_OP_SQRT ? info->sign : info->name;
}

// Whether the integer is in the range of an integer dtype.
bool tl_int_fits(int64_t value, tl_dtype dtype) {
  // Negative numbers shifted right keep their sign, so unsigned dtypes are
  // tested apart from it.
  unsigned bits = 8 * (unsigned)tl_itemsize(dtype);
  if (tl_dtypes[dtype].kind == 'U')
    return value >= 0 && (bits == 64 || value >> bits == 0);
  // 2^(bits - 1) - 1, without a shift by 64.
  int64_t top = (int64_t)(UINT64_MAX >> (65 - bits));
  return value >= -top - 1 && value <= top;
}

// The kinds of operands that an operation takes, for the message.
static const char *needs(tl_op op) {
  static const char *const of_rules[] = {
      [TL_RULE_NUMERIC] = "numbers (bools are converted by int64(x))",
      [TL_RULE_REAL] = "real numbers",
      [TL_RULE_FLOATR] = "real numbers",
      [TL_RULE_COMPARE] = "two real numbers or two strings",
      [TL_RULE_LOGICAL] = "bools (write x != 0)",
      [TL_RULE_BITWISE] = "integers or bools",
      [TL_RULE_SHIFT] = "integers",
      [TL_RULE_BITCOUNT] = "integers",
      [TL_RULE_SELECT] = "bools as the condition, then numbers or strings"};
  const size_t rule = tl_ops[op].rule;
  if (op == TL_OP_ADD)
    return "numbers or strings";
  if (op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL)
    return "two numbers or two strings";
  return rule < sizeof of_rules / sizeof *of_rules && of_rules[rule] != NULL
             ? of_rules[rule]
             : "numbers";
}

// "; use concat((a, b))" and the like, for common mistakes.
static const char *proposal(tl_op op, const tl_slot *slots) {
  for (int i = 0; i < tl_ops[op].arity; i++)
    if (tl_is_none(slots[i]))
      return "; none is what is missing: coalesce(x, value) replaces it, "
             "skip_missing: true leaves it out of a sum or mean";
  if (tl_ops[op].arity != 2)
    return "";
  if (op == TL_OP_REMAINDER && tl_is_string(slots[0]))
    return "; \"{x:.2f}\" formats a number in a string";
  bool lists = tl_is_list(slots[0]) || tl_is_list(slots[1]);
  if (op == TL_OP_ADD && tl_is_list(slots[0]) && tl_is_list(slots[1]))
    return "; lists are joined by concat((a, b))";
  if (op == TL_OP_ADD && lists)
    return "; append(list, item) adds an item";
  if (lists)
    return "; each(list, f) applies a function to the items";
  if (op == TL_OP_ADD && (tl_is_string(slots[0]) || tl_is_string(slots[1])))
    return "; string(x) or \"{x}\" makes a string of a number";
  if (op == TL_OP_MULTIPLY &&
      (tl_is_string(slots[0]) || tl_is_string(slots[1]))) {
    return "; strings.repeat(s, count) repeats a string";
  }
  if (op == TL_OP_POW || op == TL_OP_BITWISE_XOR)
    return op == TL_OP_BITWISE_XOR ? "; a power is x ** y" : "";
  return "";
}

// Fails (kind type) with the operands' types, and a proposal.
bool tl_op_refuse(tl_vm *vm, tl_op op, const tl_slot *slots) {
  const char *text[TL_MAX_OPERANDS];
  int arity = tl_ops[op].arity;
  for (int i = 0; i < arity; i++) text[i] = tl_described(vm, slots[i]);
  tl_fail(vm, TALLY_ERR_TYPE, "%s needs %s: got %s%s%s%s%s%s", tl_op_label(op),
          needs(op), text[0], arity == 3 ? ", " : "", arity == 3 ? text[1] : "",
          arity > 1 ? " and " : "", arity > 1 ? text[arity - 1] : "",
          proposal(op, slots));
  if (arity == 2)
    tl_fail_operands(vm, slots[0], slots[1]);
  return false;
}

// The dtype that a scalar or array and another promote to.
static tl_dtype promote(const tl_operand *a, const tl_operand *b) {
  // A weak scalar takes the other's dtype; two weak ones, or none, promote as
  // usual.
  if (a->weak != b->weak)
    return a->weak ? tl_dtype_promote_weak(a->dtype, b->dtype)
                   : tl_dtype_promote_weak(b->dtype, a->dtype);
  return tl_dtype_promote(a->dtype, b->dtype);
}

// The item of a weak integer.
static int64_t int_item(const tl_operand *operand) {
  int64_t value;
  memcpy(&value, &operand->item, sizeof value);
  return value;
}

// Whether the operand is an integer literal or the like.
static bool is_weak_int(const tl_operand *operand) {
  return operand->weak && operand->dtype == TL_INT64;
}

// Makes a weak integer that the other side cannot hold an int64, so that it is
// compared exactly instead of failing.
static void strengthen(tl_operand *a, const tl_operand *other) {
  if (is_weak_int(a) && !other->weak && tl_dtype_is_integer(other->dtype) &&
      !tl_int_fits(int_item(a), other->dtype)) {
    a->weak = false;
  }
}

// Whether the dtype is a signed integer.
static bool is_signed(tl_dtype dtype) {
  return tl_dtypes[dtype].kind == 'I';
}

// Whether uint64 meets a signed integer: compared exactly, not as float64.
static bool is_mixed_compare(const tl_operand *a, const tl_operand *b) {
  return !a->weak && !b->weak &&
         ((a->dtype == TL_UINT64 && is_signed(b->dtype)) ||
          (b->dtype == TL_UINT64 && is_signed(a->dtype)));
}

// Converts a scalar operand's item to [dtype]. False (kind value) where a weak
// integer does not fit.
static bool convert_scalar(tl_vm *vm, tl_operand *operand, tl_dtype dtype) {
  if (operand->array != NULL || operand->dtype == dtype)
    return true;
  if (is_weak_int(operand) && tl_dtype_is_integer(dtype) &&
      !tl_int_fits(int_item(operand), dtype)) {
    return tl_fail(vm, TALLY_ERR_VALUE, "%lld does not fit %s",
                   (long long)int_item(operand), tl_dtypes[dtype].name);
  }
  // Source and target of a cast are disjoint.
  tl_c128 item = operand->item;
  tl_kernels()->cast[operand->dtype][dtype](&operand->item, &item, 1);
  operand->dtype = dtype;
  return true;
}

// The common dtype of the operands of [op], which may strengthen weak ones.
static tl_dtype promote_all(tl_op op, tl_operand *x) {
  if (tl_ops[op].arity == 1)
    return x[0].dtype;
  if (op == TL_OP_WHERE)
    return promote(&x[1], &x[2]);
  // A comparison answers for any two integers; see the head.
  if (tl_ops[op].rule == TL_RULE_COMPARE) {
    strengthen(&x[0], &x[1]);
    strengthen(&x[1], &x[0]);
  }
  // 10 ** -3 of weak integers is a float.
  if (op == TL_OP_POW && is_weak_int(&x[0]) && is_weak_int(&x[1]) &&
      int_item(&x[1]) < 0) {
    return TL_FLOAT64;
  }
  return promote(&x[0], &x[1]);
}

// Decides in which dtype an operation is computed, those of operands and
// result, and converts scalars. False where the operation does not take such
// operands.
bool tl_operands_resolve(tl_vm *vm, tl_op op, tl_operand *x,
                         const tl_slot *slots, tl_typing *out) {
  int arity = tl_ops[op].arity;
  // First the common dtype, then the one that the operation computes it in:
  // integers divide as floats.
  tl_dtype promoted = promote_all(op, x);
  out->computed = tl_op_compute_dtype(op, promoted);
  if (out->computed == TL_DTYPE_COUNT ||
      (op == TL_OP_WHERE && x[0].dtype != TL_BOOL)) {
    return tl_op_refuse(vm, op, slots);
  }
  out->result = tl_op_result(op, out->computed);
  // The result is weak if all operands are; the condition of where does not
  // count.
  out->weak = true;
  for (int i = 0; i < arity; i++) {
    out->operands[i] = out->computed;
    if (!x[i].weak && !(op == TL_OP_WHERE && i == 0))
      out->weak = false;
  }
  if (op == TL_OP_WHERE)
    out->operands[0] = TL_BOOL;
  // They would meet in float64, in which large integers are rounded.
  if (tl_ops[op].rule == TL_RULE_COMPARE && is_mixed_compare(&x[0], &x[1]))
    for (int i = 0; i < 2; i++)
      out->operands[i] = x[i].dtype == TL_UINT64 ? TL_UINT64 : TL_INT64;
  // Bools are never weak.
  if (out->result == TL_BOOL)
    out->weak = false;
  for (int i = 0; i < arity; i++)
    if (!convert_scalar(vm, &x[i], out->operands[i]))
      return false;
  return true;
}

// The cheaper operation for an exponent that is one number: x ** 2 is square,
// x ** 1 the value itself, x ** -1 of floats the reciprocal.
tl_op tl_power_form(const tl_operand *exponent, tl_dtype computed) {
  if (exponent->array != NULL || exponent->dtype != computed)
    return TL_OP_POW;
  tl_c128 power;
  tl_kernels()->cast[computed][TL_COMPLEX128](&power, &exponent->item, 1);
  // A complex exponent has no cheaper form.
  if (power.im != 0)
    return TL_OP_POW;
  if (power.re == 1)
    return TL_OP_POSITIVE;
  if (power.re == 2)
    return TL_OP_SQUARE;
  // Integers have no roots and no reciprocals; complex ones differ in signs.
  if (!tl_dtype_is_real(computed))
    return TL_OP_POW;
  // The kernels of pow take roots; theirs of -0.0 and -inf differ from sqrt's.
  return power.re == -1 ? TL_OP_RECIPROCAL : TL_OP_POW;
}

// --- Checks
// -------------------------------------------------------------------

// Asks the predicate [check] about all items of an operand, whatever its
// layout: strided ones are packed block by block. False also
// after tl_fail.
static bool any_item(tl_vm *vm, const tl_operand *x, tl_check *check) {
  if (x->array == NULL)
    return check(x->data, 1);
  const tl_array *a = x->array;
  if (tl_is_contiguous(a)) {
    const size_t n = (size_t)a->size;
    for (size_t at = 0, end = 0; at < n && tl_poll_piece(vm, at, n, &end);
         at = end)
      if (check(a->data + at * tl_itemsize(x->dtype), end - at))
        return true;
    return false;
  }
  // A block on the stack, so that a check of strided items allocates nothing.
  enum { ITEMS = 256 };
  _Alignas(64) char buffer[ITEMS * sizeof(tl_c128)];
  const int64_t *strides = tl_strides(a);
  size_t itemsize = tl_itemsize(x->dtype);
  tl_pack *pack = tl_kernels()->pack[tl_move_size(itemsize)];
  tl_walk walk;
  tl_walk_begin(&walk, 1, tl_ndim(a), tl_shape(a), (char *const[]){a->data},
                &strides);
  for (; !walk.done; tl_walk_next(&walk))
    for (int64_t at = 0; at < walk.length; at += ITEMS) {
      int64_t left = walk.length - at;
      size_t n = (size_t)(left < ITEMS ? left : ITEMS);
      pack(buffer, walk.data[0] + at * walk.step[0], walk.step[0], n);
      if (check(buffer, n) || !tl_poll_items(vm, (int64_t)n))
        return !tl_failed(vm);
    }
  return false;
}

// Bools divide as bytes.
tl_check *tl_op_check(tl_op op, tl_dtype dtype) {
  switch (op) {
    case TL_OP_FLOOR_DIVIDE:
    case TL_OP_REMAINDER:
      return tl_kernels()->any_zero[dtype == TL_BOOL ? TL_UINT8 : dtype];
    case TL_OP_POW:
    case TL_OP_LEFT_SHIFT:
    case TL_OP_RIGHT_SHIFT:
      return tl_kernels()->any_negative[dtype];
    default:
      return NULL;
  }
}

// Integers alone can fail: a zero divisor, a negative power or shift.
bool tl_operands_check(tl_vm *vm, tl_op op, const tl_operand *x,
                       const tl_typing *typing) {
  // Floats never fail, and where there are no items nothing is divided.
  if (!tl_dtype_is_integer(typing->computed) ||
      (x[0].array != NULL && x[0].array->size == 0))
    return true;
  tl_check *check = tl_op_check(op, x[1].dtype);
  if (check == NULL || !any_item(vm, &x[1], check))
    return !tl_failed(vm);
  if (op == TL_OP_POW)
    return tl_fail(vm, TALLY_ERR_DOMAIN,
                   "%s integers ** a negative power; float64(x) ** p is a "
                   "float",
                   tl_dtypes[typing->computed].name);
  return tl_fail(vm, TALLY_ERR_DOMAIN,
                 tl_ops[op].rule == TL_RULE_SHIFT ? "%s by a negative count"
                                                  : "integer %s by zero",
                 tl_op_label(op));
}
