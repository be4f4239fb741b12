// Elementwise operations on what is no number: strings and arrays of them are
// joined, ordered and selected, and == answers for every value.
#include "vm/engine/engine_internal.h"
#include "vm/error.h"
#include "vm/api/host.h"
#include "vm/nested/nested_elementwise.h"
#include "vm/values/string_item.h"

// A string, or an array of strings.
static bool is_text(tl_slot s) {
  return tl_is_string(s) ||
         (tl_is_array(s) && tl_dtype_of(s) == (int)TL_STRING);
}

static bool compare_items(tl_op op, const tl_string_item *a,
                          const tl_string_item *b) {
  if (op == TL_OP_EQUAL)
    return tl_string_item_equal(a, b);
  if (op == TL_OP_NOT_EQUAL)
    return !tl_string_item_equal(a, b);
  int order = tl_string_item_compare(a, b);
  switch (op) {
    case TL_OP_LESS:
      return order < 0;
    case TL_OP_LESS_EQUAL:
      return order <= 0;
    case TL_OP_GREATER:
      return order > 0;
    default:
      return order >= 0;
  }
}

static bool is_comparison(tl_op op) {
  return tl_ops[op].rule == TL_RULE_COMPARE;
}

// A walk over operands of which some are scalars: their item is given with
// strides of 0.
typedef struct text_walk {
  tl_walk walk;
  tl_string_item single[TL_MAX_OPERANDS];
  uint8_t condition;
  int64_t strides[TL_MAX_OPERANDS][TL_MAX_DIMS];
} text_walk;

static void text_operand(text_walk *w, int index, tl_slot s, int ndim,
                         const int64_t *shape, char **data) {
  for (int i = 0; i < ndim; i++) w->strides[index][i] = 0;
  if (tl_is_array(s)) {
    *data = s.array->data;
    tl_broadcast_strides(s.array, ndim, shape, w->strides[index]);
  } else if (tl_is_string(s)) {
    w->single[index] = tl_string_item_of(s.string);
    *data = (char *)&w->single[index];
  } else {
    w->condition = (uint8_t)s.i;
    *data = (char *)&w->condition;
  }
}

// One item of the result at [out]; false after tl_fail.
static bool compute_item(tl_vm *vm, tl_op op, char *out, char *const *in) {
  if (is_comparison(op)) {
    *(uint8_t *)out =
        compare_items(op, tl_string_item_at(in[0]), tl_string_item_at(in[1]));
    return true;
  }
  tl_string_item *item = tl_string_item_at(out);
  if (op == TL_OP_WHERE) {
    const char *chosen = *(const uint8_t *)in[0] != 0 ? in[1] : in[2];
    tl_string_item_copy(vm, item, tl_string_item_at(chosen));
    return true;
  }
  return tl_string_item_join(vm, item, tl_string_item_at(in[0]),
                             tl_string_item_at(in[1]));
}

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
  for (; !w.walk.done; tl_walk_next(&w.walk)) {
    char *at[TL_MAX_OPERANDS + 1];
    for (int i = 0; i <= arity; i++) at[i] = w.walk.data[i];
    for (int64_t k = 0; k < w.walk.length; k++) {
      if (!compute_item(vm, op, at[0], at + 1))
        return false;
      for (int i = 0; i <= arity; i++) at[i] += w.walk.step[i];
    }
    if (!tl_poll(vm, 1 + (uint64_t)w.walk.length / 1024))
      return false;
  }
  return true;
}

static bool text_arrays(tl_vm *vm, tl_op op, const tl_slot *slots,
                        tl_slot *out) {
  const tl_array *arrays[TL_MAX_OPERANDS] = {NULL};
  int count = 0, ndim;
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < tl_ops[op].arity; i++) {
    if (tl_is_array(slots[i]))
      arrays[count++] = slots[i].array;
  }
  if (!tl_broadcast(vm, count, arrays, &ndim, shape)) {
    if (tl_ops[op].arity == 2)
      tl_fail_operands(vm, slots[0], slots[1]);
    return false;
  }
  tl_dtype dtype = is_comparison(op) ? TL_BOOL : TL_STRING;
  tl_array *array = tl_array_new(vm, dtype, ndim, shape);
  if (array == NULL)
    return false;
  tl_slot result = tl_own_array(array);
  if (!compute_items(vm, op, slots, array)) {
    tl_drop(vm, result);
    return false;
  }
  *out = result;
  return true;
}

// Two strings joined, in the memory of the first where that dies here.
static bool join(tl_vm *vm, tl_slot *a, tl_slot b, tl_slot *out) {
  bool over = tl_is_unique(*a) && a->string != b.string && !vm->no_reuse;
  tl_string *joined = over ? tl_string_append(vm, a->string, b.string)
                           : tl_string_concat(vm, a->string, b.string);
  if (joined == NULL)
    return false;
  if (over) {
    a->tag &= ~TL_OWNED;
    vm->stats.temps_ended++;
  }
  *out = tl_own_string(joined);
  return true;
}

static bool text_scalars(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out) {
  if (is_comparison(op)) {
    tl_string_item a = tl_string_item_of(slots[0].string);
    tl_string_item b = tl_string_item_of(slots[1].string);
    *out = tl_bool(compare_items(op, &a, &b));
    return true;
  }
  if (op == TL_OP_WHERE) {
    tl_slot chosen = slots[0].i != 0 ? slots[1] : slots[2];
    *out = tl_retain(vm, tl_borrow(chosen));
    return true;
  }
  return join(vm, &slots[0], slots[1], out);
}

bool tl_elementwise_other(tl_vm *vm, tl_op op, tl_slot *slots, tl_slot *out) {
  bool texts = false;
  for (int i = 0; i < tl_ops[op].arity; i++) {
    if (tl_is_nested(slots[i]))
      return tl_nested_elementwise(vm, op, slots, out);
  }
  if (op == TL_OP_WHERE) {
    bool condition = tl_is_bool(slots[0]) || (tl_is_array(slots[0]) &&
                                              tl_dtype_of(slots[0]) == TL_BOOL);
    texts = condition && is_text(slots[1]) && is_text(slots[2]);
  } else if (op == TL_OP_ADD || is_comparison(op)) {
    texts = is_text(slots[0]) && is_text(slots[1]);
  }
  if (texts) {
    for (int i = 0; i < tl_ops[op].arity; i++) {
      if (tl_is_array(slots[i]))
        return text_arrays(vm, op, slots, out);
    }
    return text_scalars(vm, op, slots, out);
  }
  bool known;
  if (!tl_resource_operate(vm, op, slots, out, &known))
    return false;
  if (known)
    return true;
  if (op != TL_OP_EQUAL && op != TL_OP_NOT_EQUAL) {
    return tl_op_refuse(vm, op, slots);
  }
  bool equal = tl_equal(vm, slots[0], slots[1]);
  if (tl_failed(vm))
    return false;
  *out = tl_bool(equal == (op == TL_OP_EQUAL));
  return true;
}
