// Elementwise operations on values that are no numbers: strings and arrays of
// them are joined, ordered and selected; nested arrays, the host's values and
// lists go to their own code; and == answers for every value.
//
//   ["a", "b"] + "x"       ["ax", "bx"]
//   ["a", "b"] < "b"       [true, false]
//   (1, 2) == (1, 2)       true, one bool for the lists
//   [1, 2] == none         kind type: is_missing or same says what is meant
//
// Built for size.
#include "vm/engine/engine_internal.h"
#include "vm/engine/short.h"
#include "vm/objects.h"
#include "vm/array/string_item.h"
#include "vm/values/list.h"

// Whether the value is a string, or an array of strings.
static bool is_text(tl_slot s) {
  return tl_is_string(s) ||
         (tl_is_array(s) && tl_dtype_of(s) == (int)TL_STRING);
}

// The orders, -1, 0 and 1, of which a comparison is true: a bit for each.
// It is bit order + 1, as tl_string_item_compare gives no other numbers.
static unsigned orders_of(tl_op op) {
  enum { LESS = 1, SAME = 2, GREATER = 4 };
  static const uint8_t orders[] = {SAME,        LESS | GREATER, LESS,
                                   LESS | SAME, GREATER,        GREATER | SAME};
  return orders[op - TL_OP_EQUAL];
}

// Whether equal or not is all that the comparison asks.
static bool is_equality(tl_op op) {
  return op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL;
}

// Whether a comparison is true of an order below, at or above 0.
static bool holds(tl_op op, int order) {
  return (orders_of(op) >> ((order > 0) - (order < 0) + 1) & 1) != 0;
}

// Equality is asked in its own way, which need not find the first difference.
bool tl_strings_hold(tl_vm *vm, tl_op op, const tl_string *a,
                     const tl_string *b) {
  if (is_equality(op))
    return tl_string_same(vm, a, b) == (op == TL_OP_EQUAL);
  return holds(op, tl_string_compare(vm, a, b));
}

// Whether the result is a bool for each pair.
static bool is_comparison(tl_op op) {
  return tl_ops[op].rule == TL_RULE_COMPARE;
}

// A walk over operands of which some are scalars: they become one item with
// strides of 0.
// The walk points into the struct, which must stay where it is.
typedef struct text_walk {
  tl_walk walk;
  tl_string_item single[TL_MAX_OPERANDS];
  uint8_t condition;
  int64_t strides[TL_MAX_OPERANDS][TL_MAX_DIMS];
} text_walk;

// Adds an operand to the walk: a string, an array, or the bool of where.
static void text_operand(text_walk *w, int index, tl_slot s, int ndim,
                         const int64_t *shape, char **data) {
  const tl_array *a = tl_is_array(s) ? s.array : NULL;
  tl_broadcast_strides(a, ndim, shape, w->strides[index]);
  if (a != NULL) {
    *data = a->data;
  } else if (tl_is_string(s)) {
    w->single[index] = tl_string_item_of(s.string);
    *data = (char *)&w->single[index];
  } else {
    w->condition = (uint8_t)s.i;
    *data = (char *)&w->condition;
  }
}

// Writes one item of a result that is text; false after tl_fail.
static bool compute_item(tl_vm *vm, tl_op op, char *out, char *const *in) {
  tl_string_item *item = tl_string_item_at(out);
  if (op == TL_OP_WHERE) {
    const char *chosen = *(const uint8_t *)in[0] != 0 ? in[1] : in[2];
    tl_string_item_copy(vm, item, tl_string_item_at(chosen));
    return true;
  }
  return tl_string_item_join(vm, item, tl_string_item_at(in[0]),
                             tl_string_item_at(in[1]));
}

// A run of comparisons: the bools first, then the operands. What the operation
// asks is found out once for all items. False after tl_fail.
static bool compare_run(tl_vm *vm, tl_op op, const tl_walk *w) {
  char *out = w->data[0];
  const char *a = w->data[1], *b = w->data[2];
  const bool equality = is_equality(op), equal = op == TL_OP_EQUAL;
  const unsigned orders = orders_of(op);
  for (int64_t k = 0; k < w->length; k++) {
    const tl_string_item *x = tl_string_item_at(a), *y = tl_string_item_at(b);
    *out = equality
               ? tl_string_item_equal(vm, x, y) == equal
               : (orders >> (tl_string_item_compare(vm, x, y) + 1) & 1) != 0;
    if (!tl_poll_text(vm, tl_string_item_length(x)))
      return false;
    out += w->step[0], a += w->step[1], b += w->step[2];
  }
  return true;
}

// A run of texts; false after tl_fail.
static bool compute_run(tl_vm *vm, tl_op op, const tl_walk *w) {
  char *at[TL_MAX_OPERANDS + 1];
  for (int i = 0; i < w->n; i++) at[i] = w->data[i];
  for (int64_t k = 0; k < w->length; k++) {
    if (!compute_item(vm, op, at[0], at + 1))
      return false;
    for (int i = 0; i < w->n; i++) at[i] += w->step[i];
  }
  return true;
}

// Computes all items, in order; false after tl_fail.
static bool compute_items(tl_vm *vm, tl_op op, const tl_slot *slots,
                          tl_array *result) {
  text_walk w;
  int arity = tl_ops[op].arity, ndim = tl_ndim(result);
  char *data[TL_MAX_OPERANDS + 1] = {result->data};
  const int64_t *strides[TL_MAX_OPERANDS + 1] = {tl_strides(result)};
  for (int i = 0; i < arity; i++) {
    text_operand(&w, i, slots[i], ndim, tl_shape(result), &data[i + 1]);
    strides[i + 1] = w.strides[i];
  }
  tl_walk_begin(&w.walk, arity + 1, ndim, tl_shape(result), data, strides);
  tl_walk_by_pieces(&w.walk);
  for (; !w.walk.done; tl_walk_next(&w.walk)) {
    if (!(is_comparison(op) ? compare_run(vm, op, &w.walk)
                            : compute_run(vm, op, &w.walk)) ||
        !tl_poll(vm, 1 + (uint64_t)w.walk.length / 1024))
      return false;
  }
  return true;
}

// The operation where an operand is an array.
static bool text_arrays(tl_vm *vm, tl_op op, const tl_slot *slots,
                        tl_slot *out) {
  const tl_array *arrays[TL_MAX_OPERANDS];
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < tl_ops[op].arity; i++)
    arrays[i] = tl_is_array(slots[i]) ? slots[i].array : NULL;
  if (!tl_broadcast(vm, tl_ops[op].arity, arrays, &ndim, shape)) {
    if (tl_ops[op].arity == 2)
      tl_fail_operands(vm, slots[0], slots[1]);
    return false;
  }
  // String items of a new array are empty, so a stop halfway leaves it valid.
  tl_dtype dtype = is_comparison(op) ? TL_BOOL : TL_STRING;
  tl_array *array = tl_array_new(vm, dtype, ndim, shape);
  bool ok = array != NULL && compute_items(vm, op, slots, array);
  return tl_array_finish(vm, ok, array, out);
}

// A loop of s += part is linear by this.
bool tl_strings_join(tl_vm *vm, tl_slot *a, tl_slot b, tl_slot *out) {
  // s + s cannot grow in place: the second operand would move.
  bool over = tl_is_unique(*a) && a->string != b.string && !vm->no_reuse;
  if (over)
    tl_changed_in_place(vm, *a);
  else if (!tl_may_copy(vm, *a))
    return false;
  tl_string *joined = over ? tl_string_append(vm, a->string, b.string)
                           : tl_string_concat(vm, a->string, b.string);
  if (joined == NULL)
    return false;
  if (over) {
    a->tag &= ~TL_OWNED;
    vm->stats.temps_ended++;
  } else if (vm->watch != NULL) {
    vm->observer->fresh(vm, tl_own_string(joined));
  }
  *out = tl_own_string(joined);
  return true;
}

// The operation on strings.
static bool text_scalars(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out) {
  if (is_comparison(op)) {
    *out = tl_bool(tl_strings_hold(vm, op, slots[0].string, slots[1].string));
    return tl_poll_text(vm, slots[0].string->length);
  }
  if (op == TL_OP_WHERE) {
    tl_slot chosen = slots[0].i != 0 ? slots[1] : slots[2];
    *out = tl_retain(vm, tl_borrow(chosen));
    return true;
  }
  return tl_strings_join(vm, &slots[0], slots[1], out);
}

// Whether an array is compared with none: the script wants to know which items
// are missing, or whether an argument was given, and one bool answers neither
// safely.
static bool is_array_against_none(const tl_slot *slots) {
  for (int i = 0; i < 2; i++)
    if (tl_is_none(slots[i]) && tl_value_ndim(slots[1 - i]) > 0)
      return true;
  return false;
}

// Fails (kind type) and names the functions for both.
static bool fail_against_none(tl_vm *vm, tl_op op, const tl_slot *slots) {
  tl_slot array = slots[tl_is_none(slots[0])];
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "%s %s none: is_missing(x) tells which items are missing, "
                 "same(x, none) whether x itself is none",
                 tl_described(vm, array), tl_op_label(op));
}

// <, <=, > and >= of lists: the first items that differ decide, as in sort.
static bool order_lists(tl_vm *vm, tl_op op, const tl_slot *slots,
                        tl_slot *out) {
  int order;
  if (!tl_compare(vm, slots[0], slots[1], &order))
    return false;
  *out = tl_bool(holds(op, order));
  return true;
}

// where(c, none, x): an item that the condition takes from none is missing. Of
// one item the result is none, or the item itself.
static bool where_none(tl_vm *vm, tl_slot *slots, tl_slot *out) {
  // Exactly one of the choices is none.
  tl_slot given = slots[tl_is_none(slots[1]) ? 2 : 1];
  if (!tl_is_array(given) && !tl_is_scalar(given) && !tl_is_string(given))
    return tl_op_refuse(vm, TL_OP_WHERE, slots);
  if (tl_is_array(slots[0]) || (tl_is_array(given) && tl_is_bool(slots[0])))
    return vm->nested->elementwise(vm, TL_OP_WHERE, slots, out);
  if (!tl_is_bool(slots[0]))
    return tl_op_refuse(vm, TL_OP_WHERE, slots);
  *out = tl_retain(vm, tl_borrow(slots[slots[0].i != 0 ? 1 : 2]));
  return true;
}

// The order of cases: arrays against none fail; nested arrays have their own
// code; then text; then the host's values; lists are ordered; equality answers
// for the rest.
bool tl_elementwise_other(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out) {
  bool texts = false;
  if (is_equality(op) && is_array_against_none(slots))
    return fail_against_none(vm, op, slots);
  for (int i = 0; i < tl_ops[op].arity; i++)
    if (tl_is_nested(slots[i]))
      return vm->nested->elementwise(vm, (int)op, slots, out);
  if (op == TL_OP_WHERE && tl_is_none(slots[1]) != tl_is_none(slots[2]))
    return where_none(vm, slots, out);
  if (op == TL_OP_WHERE) {
    // where of strings needs a bool, or an array of them.
    bool condition = tl_is_bool(slots[0]) || (tl_is_array(slots[0]) &&
                                              tl_dtype_of(slots[0]) == TL_BOOL);
    texts = condition && is_text(slots[1]) && is_text(slots[2]);
  } else if (op == TL_OP_ADD || is_comparison(op)) {
    texts = is_text(slots[0]) && is_text(slots[1]);
  }
  if (texts) {
    for (int i = 0; i < tl_ops[op].arity; i++)
      if (tl_is_array(slots[i]))
        return text_arrays(vm, op, slots, out);
    return text_scalars(vm, op, slots, out);
  }
  // The host is asked before the defaults, so that it can define == of its own
  // values.
  bool known;
  if (!vm->host->operate(vm, tl_op_label(op), (uint32_t)tl_ops[op].arity, slots,
                         out, &known))
    return false;
  if (known)
    return true;
  bool lists = tl_is_list(slots[0]) && tl_is_list(slots[1]);
  const bool equality = is_equality(op);
  if (lists && is_comparison(op) && !equality)
    return order_lists(vm, op, slots, out);
  if (!equality)
    return tl_op_refuse(vm, op, slots);
  // Values of different kinds are not equal, which is no error.
  bool equal = vm->nested->equal(vm, slots[0], slots[1]);
  if (tl_failed(vm))
    return false;
  *out = tl_bool(equal == (op == TL_OP_EQUAL));
  return true;
}
