// Higher-order functions: the data first, then the function.
//
// All of them walk items, call f and collect the results in a list, which
// becomes an array where the results stack; filter, scan and map_axis do so in
// Tally (inner/arrays.tly), as do fold and each of many items. Two cases are
// faster and give the same bits: an operation of the engine in place of f, and
// kernels for fold and scan of vectors: by blocks where the order of items does
// not count (& of integers), else one item after the other (+ of floats).

#include "stdlib/families.h"
#include "vm/bytecode/function.h"
#include "vm/array/stack.h"
#include "vm/engine/consumer.h"
#include "vm/nested/nested_join.h"

// --- Calling ----------------------------------------------------------------

// The elementwise operation that a function value is, or TL_OP_COUNT. The
// table of built-ins has the order of tl_op.
static tl_op known_op(tl_slot f) {
  if (!tl_is_kind(f, TL_KIND_BUILTIN))
    return TL_OP_COUNT;
  // As a number, since a difference of pointers is only defined within a table.
  const uintptr_t first = (uintptr_t)tl_elementwise_builtins;
  const uintptr_t index = ((uintptr_t)f.pointer - first) / sizeof(tl_builtin);
  return index < TL_OP_COUNT ? (tl_op)index : TL_OP_COUNT;
}

// The function that is called for items. An operation such as (+) or sqrt is
// run by the engine, without a call.
typedef struct callee {
  tl_vm *vm;
  tl_slot f;
  tl_op op;  // TL_OP_COUNT: called as any function
  // Of operations, which poll now and then.
  int64_t calls;
} callee;

// Checks that [f] can be called. It stays borrowed: args own it for the whole
// call.
static bool open_callee(tl_vm *vm, const char *function, tl_slot f,
                        callee *out) {
  if (!tl_is_callable(f))
    return tl_arg_fail(vm, function, "f", "a function", f);
  // Types can be called too: float32(x).
  *out = (callee){.vm = vm, .f = tl_borrow(f), .op = known_op(f)};
  return true;
}

// Calls with [count] arguments and takes what they own, as tl_call does.
// Operations poll here every 1024 calls, because the engine does not count a
// call of one number.
static bool call(callee *c, int count, tl_slot *args, tl_slot *out) {
  if (c->op == TL_OP_COUNT || tl_ops[c->op].arity != count)
    return tl_call(c->vm, c->f, count, args, out);
  tl_slot result;
  bool ok = tl_elementwise(c->vm, c->op, args, &result);
  for (int i = 0; i < count; i++) {
    tl_drop(c->vm, args[i]);
  }
  // A loop over many scalars must notice an interrupt.
  if (ok && (++c->calls & 1023) == 0 && !tl_poll(c->vm, 1)) {
    tl_clear(c->vm, &result);
    ok = false;
  }
  if (ok)
    *out = result;
  return ok;
}

// --- Items ------------------------------------------------------------------

// The items that a for loop would walk. A dying list gives its items away, so
// that the function may write them in place. Borrows the source, which the
// arguments own for the whole call.
typedef struct items {
  tl_vm *vm;
  tl_slot *source;
  int64_t count;
  size_t at;  // of a string
  bool gives;
} items;

// Opens both: args[0] has the items, which begin with the first, args[1] is
// called. False (kind type) for a value without items.
static bool open_both(tl_vm *vm, const char *function, tl_slot *args, callee *c,
                      items *xs) {
  *xs = (items){.vm = vm, .source = &args[0]};
  if (!open_callee(vm, function, args[1], c) ||
      !tl_items_count(vm, function, args[0], &xs->count))
    return false;
  bool ends = tl_is_list(args[0]) && tl_is_unique(args[0]);
  bool ok = true;
  for (int64_t i = 0;
       ends && !xs->gives && i < xs->count && tl_poll_ok(vm, i, &ok); i++)
    xs->gives = tl_is_heap(args[0].list->items[i]);
  return ok;
}

// The item at [index]: borrowed from a list that lives on, else owned.
static bool get_item(items *x, int64_t index, tl_slot *out) {
  if (tl_is_list(*x->source)) {
    tl_slot *item = &x->source->list->items[index];
    *out = *item;
    if (x->gives) {
      *item = tl_none();
    } else {
      // The item is borrowed from the list, which the arguments own.
      out->tag &= ~TL_OWNED;
    }
    return true;
  }
  return tl_items_get(x->vm, *x->source, index, &x->at, out);
}

// Makes a result that may be a borrowed item or a view independent of its
// owner.
static void keep(tl_vm *vm, tl_slot *s) {
  if (!tl_is_heap(*s))
    return;
  *s = tl_escape(vm, s, TL_CAUSE_CALL);
}

// --- Results ---------------------------------------------------------------

// Of these the results are an array, too.
static bool is_array(tl_slot source) {
  return tl_is_array(source) || tl_is_range(source) || tl_is_nested(source);
}

// The results of a function in the form of the source: a list stays a list; of
// an array or a range, an array of the items where they stack: scalars to one
// dimension, arrays of one shape to one more, strings to a string array; of
// nested ones also rows of different lengths, records and none. Else the list
// itself:
//
//   1, 2, 3             [1, 2, 3]
//   [1, 2], [3, 4]      2 * 2
//   [1, 2], [3]         rows of nested ones, else the list of both
//   1, "a"              the list of both
//
// Takes the list; *out is owned. Results that do not stack are no error: the
// list is the result then. An error of another kind, such as lack of memory,
// remains one.
static bool finish(tl_vm *vm, tl_slot source, tl_list *list, tl_slot *out) {
  tl_slot owned = tl_own_list(list);
  *out = owned;
  if (!is_array(source))
    return true;
  bool ok = (tl_is_nested(source) ? tl_stack_any : tl_stack)(vm, list->length,
                                                             list->items, out);
  if (!ok && (vm->error.status == TALLY_ERR_TYPE ||
              vm->error.status == TALLY_ERR_SHAPE)) {
    tl_error_clear(vm);
    *out = owned;
    return true;
  }
  tl_drop(vm, owned);
  return ok;
}

// --- fold and scan ----------------------------------------------------------

// The reduction whose running values are those of scan with [op], and whose
// kernel may fold an array: the same operations in the same order as one by
// one, without a wider dtype. Else TL_REDUCTION_COUNT.
static tl_reduction find_running(tl_slot x, tl_op op) {
  tl_reduction r = TL_REDUCE_SUM;
  while (r <= TL_REDUCE_MAX && tl_fold_op(tl_reduction_fold(r)) != op) r++;
  if (r > TL_REDUCE_MAX || !tl_is_array(x) ||
      tl_array_dtype(x.array) >= TL_STRING)
    return TL_REDUCTION_COUNT;
  // A sum of int8 widens in the kernel, while one by one it wraps: only folds
  // that keep the dtype are the same.
  const tl_dtype dtype = tl_array_dtype(x.array);
  const tl_fold fold = tl_reduction_fold(r);
  bool same = dtype != TL_BOOL && tl_fold_result(fold, dtype) == dtype &&
              tl_kernels()->scan[fold][dtype] != NULL;
  return same ? r : TL_REDUCTION_COUNT;
}

// Whether folding by [op] gives the same value in any order and grouping, and
// each of its results has the dtype of the items.
static bool is_exact(tl_op op, tl_dtype dtype) {
  switch (op) {
    case TL_OP_ADD:
    case TL_OP_MULTIPLY:
      return tl_dtype_is_integer(dtype);
    case TL_OP_MAXIMUM:
    case TL_OP_MINIMUM:
      return tl_dtype_is_integer(dtype) || tl_dtype_is_real(dtype);
    case TL_OP_BITWISE_AND:
    case TL_OP_BITWISE_OR:
    case TL_OP_BITWISE_XOR:
      return tl_dtype_is_integer(dtype) || dtype == TL_BOOL;
    case TL_OP_LOGICAL_AND:
    case TL_OP_LOGICAL_OR:
    case TL_OP_LOGICAL_XOR:
      return dtype == TL_BOOL;
    default:
      return false;
  }
}

// A fold of a vector by kernels: by an operation in any order, on as many lanes
// as a block has items, or one item after the other.
//
//   items   a b c d | e f g h | i j      blocks of four
//   lanes   a&e&i  b&f&j  c&g  d&h       then folded by halves
typedef struct vector_fold {
  tl_kernel2 *any_order;  // or NULL
  tl_fold in_order;
} vector_fold;

// False where there are no kernels that give the same bits as calls.
static bool find_vector_fold(tl_slot x, tl_op op, vector_fold *out) {
  if (!tl_is_array(x) || tl_ndim(x.array) != 1)
    return false;
  tl_dtype dtype = tl_array_dtype(x.array);
  const tl_reduction running = find_running(x, op);
  const bool runs = running != TL_REDUCTION_COUNT;
  out->in_order = runs ? tl_reduction_fold(running) : TL_FOLD_SUM;
  out->any_order = is_exact(op, dtype) ? tl_kernels()->binary[op][dtype] : NULL;
  return out->any_order != NULL || runs;
}

// The items of a block that a fold goes through at once.
enum { BLOCK = 256 };

// Items in lanes: all blocks so far, one upon the other.
typedef struct lanes_fold {
  _Alignas(64) char bytes[BLOCK * sizeof(tl_c128)];
  size_t count;
} lanes_fold;

// Puts a block upon the lanes; no block after the first is longer. The last one
// may be shorter: the lanes behind it stay as they are.
static void fold_block(lanes_fold *lanes, tl_kernel2 *op, const char *block,
                       size_t n, size_t itemsize) {
  if (lanes->count == 0) {
    memcpy(lanes->bytes, block, n * itemsize);
    lanes->count = n;
  } else {
    op(lanes->bytes, lanes->bytes, block, n);
  }
}

// Folds the lanes by halves and, if there are any, onto the running value.
static void fold_lanes(lanes_fold *lanes, tl_kernel2 *op, size_t itemsize,
                       void *carry) {
  while (lanes->count > 1) {
    const size_t half = (lanes->count + 1) / 2;
    op(lanes->bytes, lanes->bytes, lanes->bytes + half * itemsize,
       lanes->count - half);
    lanes->count = half;
  }
  if (lanes->count > 0)
    op(carry, carry, lanes->bytes, 1);
}

// Folds the items of a vector from [from] on onto [carry], an item of its
// dtype. Kernels read contiguous items: others are packed block by block.
static bool fold_blocks(tl_vm *vm, const tl_array *x, const vector_fold *f,
                        int64_t from, tl_c128 *carry) {
  _Alignas(64) char packed[BLOCK * sizeof(tl_c128)];
  lanes_fold lanes;  // of scans, what they run through
  lanes.count = 0;
  const tl_kernel_table *kernels = tl_kernels();
  tl_dtype dtype = tl_array_dtype(x);
  size_t itemsize = tl_itemsize(dtype);
  int64_t step = tl_strides(x)[0], length = tl_shape(x)[0];
  for (int64_t at = from; at < length; at += BLOCK) {
    size_t n = (size_t)(length - at < BLOCK ? length - at : BLOCK);
    const char *block = x->data + at * step;
    if (step != (int64_t)itemsize) {
      kernels->pack[tl_move_size(itemsize)](packed, block, step, n);
      block = packed;
    }
    if (f->any_order != NULL)
      fold_block(&lanes, f->any_order, block, n, itemsize);
    else
      kernels->scan[f->in_order][dtype](lanes.bytes, block, carry, n);
    if (at > from && ((at - from) / BLOCK & 255) == 0 && !tl_poll(vm, 64))
      return false;
  }
  fold_lanes(&lanes, f->any_order, itemsize, carry);
  return true;
}

// Whether an item is a zero of floats, which has a sign.
static bool is_float_zero(tl_dtype dtype, const tl_c128 *item) {
  tl_c128 value = {1, 0};
  if (tl_dtype_is_real(dtype))
    tl_kernels()->cast[dtype][TL_COMPLEX128](&value, item, 1);
  return value.re == 0;
}

// The same onto [*result], which has the dtype of the items. Which of 0.0 and
// -0.0 comes first tells the sign of an extreme: then it is folded in order.
static bool fold_vector(tl_vm *vm, const tl_array *x, const vector_fold *f,
                        int64_t from, tl_slot *result) {
  tl_dtype dtype = tl_array_dtype(x);
  tl_c128 carry, start;
  if (tl_is_array(*result))
    memcpy(&start, result->array->data, tl_itemsize(dtype));
  else
    tl_scalar_store(*result, &start);
  carry = start;
  if (!fold_blocks(vm, x, f, from, &carry))
    return false;
  if (f->any_order != NULL && is_float_zero(dtype, &carry)) {
    const vector_fold in_order = {.in_order = f->in_order};
    carry = start;
    if (!fold_blocks(vm, x, &in_order, from, &carry))
      return false;
  }
  tl_clear(vm, result);
  *result = dtype == TL_COMPLEX128
                ? tl_new_complex(vm, carry.re, carry.im, false)
                : tl_scalar_load(dtype, &carry);
  return !tl_is_unset(*result);
}

// The rest of a fold once its first value is in *result. Where *result and the
// items have one dtype kernels give the same bits; a weak start, or one of
// another dtype, is promoted by the first call.
static bool fold_rest(callee *c, items *xs, int64_t from, tl_slot *result) {
  tl_slot source = *xs->source;
  vector_fold f;
  const bool has_kernels = find_vector_fold(source, c->op, &f);
  for (int64_t i = from; i < xs->count; i++) {
    if (has_kernels && !tl_is_weak(*result) && tl_is_number(*result) &&
        tl_dtype_of(*result) == (int)tl_array_dtype(source.array))
      return fold_vector(c->vm, source.array, &f, i, result);
    // The call takes the value so far, which may be written in place by f.
    tl_slot args[2] = {*result, tl_none()};
    *result = tl_none();
    if (!get_item(xs, i, &args[1])) {
      tl_clear(c->vm, &args[0]);
      return false;
    }
    if (!call(c, 2, args, result))
      return false;
    // A borrowed item that came back may be needed after its list.
    if (!tl_is_owned(*result))
      keep(c->vm, result);
  }
  return true;
}

// Whether the calls are made in Tally, where they and the loop around them
// become machine code. It is not worth the way there for fewer items, nor where
// these are given away.
static bool calls_in_tally(const callee *c, const items *xs) {
  enum { FEW = 16 };
  return tl_is_script(c->f) && !xs->gives && xs->count >= FEW;
}

// fold(xs, f, init).
static bool fold(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c;
  items xs;
  if (!open_both(vm, "fold", args, &c, &xs))
    return false;
  // There is no value to begin with.
  if (tl_is_none(args[2]) && xs.count == 0)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "fold of no items needs a start: fold(xs, f, init)");
  if (calls_in_tally(&c, &xs))
    return tl_in_tally(vm, "folded", 3, args, out);
  tl_slot result = tl_none();
  const bool begins = tl_is_none(args[2]);
  if (!begins)
    result = tl_pass_on(&args[2]);
  else if (!get_item(&xs, 0, &result))
    return false;
  if (!fold_rest(&c, &xs, begins, &result)) {
    tl_clear(vm, &result);
    return false;
  }
  keep(vm, &result);
  *out = result;
  return true;
}

// scan(xs, f, init): the values that fold goes through.
static bool scan(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c;
  items xs;
  if (!open_both(vm, "scan", args, &c, &xs))
    return false;
  const tl_reduction running = find_running(args[0], c.op);
  if (tl_is_none(args[2]) && running != TL_REDUCTION_COUNT)
    return tl_cumulative(vm, running, &args[0], 0, false,
                         tl_array_dtype(args[0].array), out);
  tl_slot list, given[3];
  for (int i = 0; i < 3; i++) given[i] = tl_borrow(args[i]);
  return tl_in_tally(vm, "running_values", 3, given, &list) &&
         finish(vm, args[0], list.list, out);
}

// --- each and filter --------------------------------------------------------

// Calls with the item and the other arguments of each, and appends the result
// to the list.
static bool push_call(callee *c, tl_slot item, const tl_list *more,
                      tl_list **list) {
  tl_slot args[TL_MAX_PARAMS], result = tl_none();
  int count = 1;
  args[0] = item;
  for (int64_t i = 0; more != NULL && i < more->length; i++) {
    // The other arguments are needed for the next item too.
    args[count++] = tl_borrow(more->items[i]);
  }
  bool ok = call(c, count, args, &result) && tl_list_push(c->vm, list, &result);
  tl_drop(c->vm, result);
  return ok;
}

// each(xs, f, …). What is more than the item is borrowed for each call, so that
// f cannot write it.
static bool each(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c;
  items xs;
  const tl_list *more = tl_is_list(args[2]) ? args[2].list : NULL;
  if (!open_both(vm, "each", args, &c, &xs))
    return false;
  int64_t extra = more == NULL ? 0 : more->length;
  if (extra >= TL_MAX_PARAMS) {
    return tl_fail(vm, TALLY_ERR_VALUE, "each: more than %d arguments",
                   TL_MAX_PARAMS);
  }
  // Item by item or all at once is the same for elementwise operations.
  if (c.op != TL_OP_COUNT && tl_ops[c.op].arity == 1 && extra == 0 &&
      tl_is_array(args[0]) && tl_array_dtype(args[0].array) < TL_STRING) {
    return tl_elementwise(vm, c.op, args, out);
  }
  tl_slot results;
  if (extra == 0 && calls_in_tally(&c, &xs)) {
    tl_slot given[2] = {tl_borrow(args[0]), tl_borrow(args[1])};
    return tl_in_tally(vm, "results_of", 2, given, &results) &&
           finish(vm, args[0], results.list, out);
  }
  tl_list *list = tl_list_new(vm, xs.count);
  bool ok = list != NULL;
  for (int64_t i = 0; ok && i < xs.count; i++) {
    tl_slot item;
    ok = get_item(&xs, i, &item) && push_call(&c, item, more, &list);
  }
  return tl_list_give(vm, list, ok, &results) &&
         finish(vm, args[0], results.list, out);
}

// filter(xs, f): in Tally, of arrays by a mask.
static bool filter(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c;
  items xs;
  return open_both(vm, "filter", args, &c, &xs) &&
         tl_in_tally(vm, is_array(args[0]) ? "filtered_array" : "filtered_list",
                     2, args, out);
}

// --- outer ------------------------------------------------------------------

// A view of [a] with axes of length 1 behind, as many as [other] has, so that
// the two broadcast to all pairs.
static bool widen(tl_vm *vm, const tl_array *a, const tl_array *other,
                  tl_slot *out) {
  // Broadcasting a (3, 1) against b (4) gives all pairs, so no pair is made
  // one by one.
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  int ndim = tl_ndim(a) + tl_ndim(other);
  for (int i = 0; i < ndim; i++) {
    shape[i] = i < tl_ndim(a) ? tl_shape(a)[i] : 1;
    strides[i] = i < tl_ndim(a) ? tl_strides(a)[i] : 0;
  }
  tl_slot borrowed = tl_lend_array(a);
  return tl_view(vm, &borrowed, a->data, ndim, shape, strides, out);
}

// An operation on every pair by broadcasting.
//
//   a (2, 3)     (2, 3, 1, 1)
//   b (4, 5)     (      4, 5)     result (2, 3, 4, 5)
static bool outer_op(tl_vm *vm, tl_op op, const tl_array *a, const tl_array *b,
                     tl_slot *out) {
  tl_slot wide;
  if (!widen(vm, a, b, &wide))
    return false;
  tl_slot operands[] = {tl_borrow(wide), tl_lend_array(b)};
  return tl_drop_after(vm, tl_elementwise(vm, op, operands, out), &wide);
}

// outer(a, b, f).
// In C: reshape(a, (-1, 1)) * b in Tally takes 1.6 times as long for 4 items
// each, and Tally cannot know which functions are operations that broadcast.
static bool outer(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c = {.vm = vm, .op = TL_OP_MULTIPLY};
  if (!tl_is_none(args[2]) && !open_callee(vm, "outer", args[2], &c))
    return false;
  const tl_array *a = args[0].array, *b = args[1].array;
  if (tl_ndim(a) + tl_ndim(b) > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "outer: more than %d axes",
                   TL_MAX_DIMS);
  if (c.op != TL_OP_COUNT && tl_ops[c.op].arity == 2)
    return outer_op(vm, c.op, a, b, out);
  return tl_in_tally(vm, "of_pairs", 3, args, out);
}

// --- map_axis ---------------------------------------------------------------

// map_axis(x, f, axis): in Tally, of each on the vectors as rows.
static bool map_axis(tl_vm *vm, tl_slot *args, tl_slot *out) {
  callee c;
  int axis;
  if (!open_callee(vm, "map_axis", args[1], &c) ||
      !tl_arg_axis(vm, "map_axis", args[2], tl_value_axes(args[0]), 0, &axis))
    return false;
  const bool nested = tl_is_nested(args[0]);
  args[2] = tl_weak_int(nested ? axis - tl_value_axes(args[0]) : axis);
  return tl_in_tally(vm, nested ? "map_rows" : "map_lanes", 3, args, out);
}

// --- The table --------------------------------------------------------------

// All call functions that they are given (TL_CALLS).
const tl_builtin tl_functional_builtins[] = {
    /// f(f(f(init, x0), x1), x2) …, from left to right; without init it starts
    /// with the first item. xs is an array (its rows), a list, a range …
    /// A value that is no function is an error (kind type); errors of the
    /// function pass through.
    ///     fold([1, 2, 3, 4], (a, b) => 10 * a + b)    # 1234
    ///     fold(("a", "b"), (+), "")                  # "ab"
    {"fold", "xs, f, init = none", fold, TL_CALLS},
    /// All values that fold goes through: an array of them where they stack, of
    /// a list a list.
    /// A value that is no function is an error (kind type); errors of the
    /// function pass through.
    ///     scan([1, 2, 3, 4], (+))    # [1, 3, 6, 10]
    {"scan", "xs, f, init = none", scan, TL_CALLS},
    /// f of every item of a with every item of b: the shape is a's, then b's.
    /// Without f, the product.
    /// Takes any dtypes. A value that is no function is an error (kind type);
    /// errors of the function pass through.
    ///     outer([1, 2], [10, 20, 30], (+))    # [[11, 21, 31], [12, 22, 32]]
    {"outer", "a, b, f = none", outer, TL_CALLS, .types = "aa"},
    /// f of each item (of an array, each row), with what else is given. Of an
    /// array the results are an array where they stack; of a list, a list.
    /// A value that is no function is an error (kind type); errors of the
    /// function pass through.
    ///     each([1, 2, 3], x => x * x)    # [1, 4, 9]
    ///     each((1, "a"), typeof)         # (int64, string)
    {"each", "xs, f, ...more", each, TL_CALLS},
    /// The items (of an array, the rows) for which f gives true.
    /// Takes any dtype. A value that is no function is an error (kind type), as
    /// is a result that is no bool.
    ///     filter([5, 2, 7], x => x > 4)    # [5, 7]
    {"filter", "xs, f", filter, TL_CALLS},
    /// f of every vector along an axis, with its result where the axis was; of
    /// rows of different lengths, of each row (axis: -1).
    /// Takes any dtype. A value that is no function is an error (kind type), an
    /// axis that x lacks another (index).
    ///     map_axis([[1, 2], [3, 5]], v => v[-1] - v[0])    # [2, 3]
    {"map_axis", "x, f, axis: 0", map_axis, TL_CALLS, .lifts = TL_INNERMOST,
     .types = "v"},
    {.name = NULL},
};
