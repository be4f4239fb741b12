// Differences between neighbours, and the areas below them.
//
// Built for speed.
//
//
//   x              3 1 4 1 5
//   x[1:]            1 4 1 5
//   x[:-1]         3 1 4 1
//   diff          -2 3 -3 4       one elementwise operation on two views
//
// Where x ends here, the differences go into its own memory in pieces: a piece
// of results is computed on the stack and then moved over items that no later
// piece reads.

#include "stdlib/families.h"
#include "vm/bytecode/module.h"
#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/nested/lift.h"
#include "vm/nested/ragged.h"

// Booleans have no difference; that they differ is one.
static tl_op op_of(tl_dtype dtype) {
  return dtype == TL_BOOL ? TL_OP_NOT_EQUAL : TL_OP_SUBTRACT;
}

// x without its first or last item along an axis.
static bool without_end(tl_vm *vm, tl_slot x, int axis, bool first,
                        tl_slot *out) {
  const tl_array *a = x.array;
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(a), sizeof(int64_t) * (size_t)tl_ndim(a));
  if (shape[axis] > 0)
    shape[axis]--;
  tl_slot base = tl_borrow(x);
  char *data = a->data;
  if (first && shape[axis] > 0)
    data += tl_strides(a)[axis];
  return tl_view(vm, &base, data, tl_ndim(a), shape, tl_strides(a), out);
}

// op(x[1:], x[:-1]) along an axis.
static bool neighbours(tl_vm *vm, tl_op op, tl_slot x, int axis, tl_slot *out) {
  tl_slot operands[2];
  if (!without_end(vm, x, axis, true, &operands[0]))
    return false;
  bool ok = without_end(vm, x, axis, false, &operands[1]);
  if (ok) {
    ok = tl_elementwise(vm, op, operands, out);
    tl_drop(vm, operands[1]);
  }
  tl_drop(vm, operands[0]);
  return ok;
}

// Results that are computed at a time: they and the operands stay in the
// nearest cache.
enum { PIECE = 4096 };  // bytes

// Differences of items that lie [apart] bytes from each other: [n] of them.
static void subtract(tl_op op, tl_dtype dtype, void *out, const char *items,
                     size_t apart, int64_t n) {
  tl_kernels()->binary[op][dtype](out, items + apart, items, (size_t)n);
}

// neighbours where x is dying: the result lies in its memory. Each piece moves
// down over items that no later one reads.
static bool neighbours_in_place(tl_vm *vm, tl_op op, tl_slot *x, int axis,
                                tl_slot *out) {
  _Alignas(64) char piece[PIECE];
  tl_array *a = x->array;
  const tl_dtype dtype = tl_array_dtype(a);
  const size_t size = tl_itemsize(dtype);
  int64_t shape[TL_MAX_DIMS], inner = 1, n = tl_shape(a)[axis];
  // Neighbours along the axis are [inner] items away from each other.
  for (int k = axis + 1; k < tl_ndim(a); k++) inner *= tl_shape(a)[k];
  const int64_t length = (n - 1) * inner, most = (int64_t)(PIECE / size);
  char *to = a->data;
  for (int64_t begin = 0; begin < a->size; begin += n * inner) {
    for (int64_t at = 0, count; at < length; at += count) {
      count = length - at < most ? length - at : most;
      subtract(op, dtype, piece, a->data + (size_t)(begin + at) * size,
               (size_t)inner * size, count);
      to = (char *)memcpy(to, piece, (size_t)count * size) +
           (size_t)count * size;
      if (!tl_poll(vm, 1))
        return false;
    }
  }
  memcpy(shape, tl_shape(a), sizeof(int64_t) * (size_t)tl_ndim(a));
  shape[axis]--;
  *out = tl_own_array(tl_array_narrow(vm, x, dtype, tl_ndim(a), shape));
  return true;
}

// x between its two ends, in place of x: in Tally.
static bool join_ends(tl_vm *vm, tl_slot *args, int axis) {
  tl_slot joined, given[] = {tl_borrow(args[0]), tl_borrow(args[3]),
                             tl_borrow(args[4]), tl_weak_int(axis)};
  if (!tl_in_tally(vm, "with_ends", 4, given, &joined))
    return false;
  return tl_replace(vm, &args[0], joined);
}

// x, an array of numbers of which some may be missing, or a failure that says
// what it is instead.
static bool need_numbers(tl_vm *vm, const char *function, tl_slot *x) {
  if (!tl_is_form(*x, TL_FORM_OPTION))
    return tl_arg_numeric(vm, function, x);
  tl_slot values = tl_borrow(x->nested->parts[1]);
  return tl_arg_numeric(vm, function, &values);
}

// --- Rows of different lengths ----------------------------------------------

// The differences of all items in pieces, and of each piece those within rows:
// all but the one behind a row's last item.
static bool keep_within_rows(tl_vm *vm, tl_op op, const tl_array *x,
                             const int64_t *at, int64_t rows, tl_array *out) {
  _Alignas(64) char piece[PIECE];
  const size_t size = tl_itemsize(tl_array_dtype(x));
  tl_compress_kernel *keep = tl_kernels()->compress[tl_move_size(size)];
  const int64_t last = x->size - 1, most = (int64_t)(PIECE / size);
  char *to = out->data;
  for (int64_t begin = 0, row = 1, count; begin < last; begin += count) {
    uint8_t within[PIECE];
    count = last - begin < most ? last - begin : most;
    subtract(op, tl_array_dtype(x), piece, x->data + (size_t)begin * size, size,
             count);
    memset(within, 1, (size_t)count);
    for (; row <= rows && at[row] <= begin + count; row++)
      if (at[row] > begin)
        within[at[row] - 1 - begin] = 0;
    to += size * keep(to, piece, within, (size_t)count);
    if (!tl_poll(vm, 1))
      return false;
  }
  return true;
}

// How long rows are without the last item of each.
static tl_array *offsets_without_last(tl_vm *vm, const tl_array *offsets) {
  tl_array *to = tl_offsets_new(vm, offsets->size - 1);
  const int64_t *at = tl_offsets_data((tl_array *)offsets);
  int64_t taken = 0;
  for (int64_t i = 1; to != NULL && i < offsets->size; i++) {
    taken += at[i] > at[i - 1];
    tl_offsets_data(to)[i] = at[i] - taken;
  }
  return to;
}

// The differences within rows of plain items, all rows at once.
static bool diff_of_rows(tl_vm *vm, tl_slot x, tl_slot *out) {
  tl_slot at, borrowed, items = tl_none(), made = tl_none();
  if (!tl_ragged_borrow(vm, x, &at, &borrowed))
    return false;
  bool ok = tl_array_contiguous(vm, &borrowed, &items);
  tl_array *offsets = ok ? offsets_without_last(vm, at.array) : NULL;
  if (offsets != NULL) {
    int64_t rows = offsets->size - 1;
    tl_dtype dtype = tl_array_dtype(items.array);
    tl_array *to = tl_array_new(vm, dtype, 1, &tl_offsets_data(offsets)[rows]);
    ok = to != NULL && keep_within_rows(vm, op_of(dtype), items.array,
                                        tl_offsets_data(at.array), rows, to);
    if (to != NULL)
      made = tl_own_array(to);
  }
  tl_clear(vm, &items);
  tl_clear(vm, &borrowed);
  tl_clear(vm, &at);
  if (offsets != NULL && ok)
    return tl_ragged_new(vm, offsets, &made, out);
  tl_clear(vm, &made);
  tl_array_drop(vm, offsets);
  return false;
}

// diff within rows: one difference of plain items in one pass over all rows;
// other axes, orders and ends row by row.
static bool diff_ragged(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot items = args[0].nested->parts[1], axis = args[1];
  // The fast way: one difference along the rows, nothing joined to them.
  bool last = tl_class(axis) == TL_CLASS_I64 && (axis.i == 1 || axis.i == -1);
  bool once = tl_class(args[2]) == TL_CLASS_I64 && args[2].i == 1;
  if (!last || !once || !tl_is_none(args[3]) || !tl_is_none(args[4]) ||
      !tl_is_array(items) || tl_ndim(items.array) != 1 ||
      tl_array_dtype(items.array) >= TL_STRING)
    return tl_lift_rows(vm, tl_builtin_find(vm->library, NULL, "diff", 4), 5,
                        args, out);
  return diff_of_rows(vm, args[0], out);
}

// diff without care for x where it fails. n differences are n passes, each in
// the memory of the one before where that may change its size.
static bool differences(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  int64_t n = args[2].i;
  if (tl_is_form(args[0], TL_FORM_RAGGED))
    return diff_ragged(vm, args, out);
  if (!need_numbers(vm, "diff", &args[0]) ||
      !tl_arg_axis(vm, "diff", args[1], tl_value_ndim(args[0]), -1, &axis))
    return false;
  if (tl_is_form(args[0], TL_FORM_OPTION) ||
      tl_is_form(args[3], TL_FORM_OPTION) ||
      tl_is_form(args[4], TL_FORM_OPTION)) {
    bool option = tl_is_form(args[0], TL_FORM_OPTION);
    const tl_slot *parts = option ? args[0].nested->parts : NULL;
    tl_slot given[] = {option ? tl_borrow(parts[0]) : tl_none(),
                       tl_borrow(option ? parts[1] : args[0]),
                       tl_weak_int(axis),
                       tl_weak_int(n),
                       tl_borrow(args[3]),
                       tl_borrow(args[4])};
    return tl_call_embedded(vm, "inner/arrays", "differences", 6, given, out);
  }
  // No differences leave x as it is, without its ends, as NumPy has it.
  if (n > 0 && (!tl_is_none(args[3]) || !tl_is_none(args[4])) &&
      !join_ends(vm, args, axis))
    return false;
  const tl_op op = op_of(tl_array_dtype(args[0].array));
  // Differences of more steps than there are items are none at all.
  if (n > tl_shape(args[0].array)[axis])
    n = tl_shape(args[0].array)[axis];
  for (; n > 0; n--) {
    tl_slot next;
    bool ok = args[0].array->size > 0 && tl_array_resizes(vm, args[0])
                  ? neighbours_in_place(vm, op, &args[0], axis, &next)
                  : neighbours(vm, op, args[0], axis, &next);
    if (!ok)
      return false;
    tl_replace(vm, &args[0], next);
  }
  *out = tl_take(vm, &args[0]);
  return true;
}

// One difference of x alone needs no memory once it writes; else x is lent
// where it must come back.
static bool diff(tl_vm *vm, tl_slot *args, tl_slot *out) {
  bool once = tl_class(args[2]) == TL_CLASS_I64 && args[2].i == 1;
  bool alone =
      tl_is_array(args[0]) && tl_is_none(args[3]) && tl_is_none(args[4]);
  if (!vm->keeping || (once && alone))
    return differences(vm, args, out);
  tl_slot own = args[0];
  args[0] = tl_borrow(own);
  bool ok = differences(vm, args, out);
  tl_replace(vm, &args[0], own);
  return ok;
}

// In Tally: 0.6 of the time in C for 100,000 items, 1.4 times it for 1,000.
static bool trapezoid(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  if (!need_numbers(vm, "trapezoid", &args[0]) ||
      !tl_arg_axis(vm, "trapezoid", args[3], tl_value_ndim(args[0]), -1, &axis))
    return false;
  if (tl_is_none(args[1]) && !tl_is_scalar(args[2]))
    return tl_arg_fail(vm, "trapezoid", "dx", "a number", args[2]);
  args[3] = tl_weak_int(axis);
  return tl_in_tally(vm, "area", 4, args, out);
}

// --- The table --------------------------------------------------------------

const tl_builtin tl_neighbour_builtins[] = {
    /// The differences between neighbours along an axis, taken n times; prepend
    /// and append are joined to x first: arrays of x's other lengths, or numbers
    /// for one item each. Any numeric dtype stays; bools give whether neighbours
    /// differ. An axis that x lacks is an error (kind index), lengths that do
    /// not fit another (shape).
    ///     diff([1, 4, 9, 16])    # [3, 5, 7]
    ///     diff([1, 4, 9], prepend: 0)    # [1, 3, 5]
    {"diff", "x, axis: -1, n: 1, prepend: none, append: none", diff, TL_STOPS,
     .restores = TL_ARRAYS, .lifts = TL_OF_ROWS, .types = "wIn"},
    /// The area below points joined by lines; they stand at x, or dx apart.
    /// Along an axis of an array of any numeric dtype. Lengths that do not fit
    /// are an error (kind shape), an axis that y lacks another (index).
    ///     trapezoid([0.0, 1.0, 2.0])    # 2.0
    {"trapezoid", "y, x: none, dx: 1.0, axis: -1", trapezoid,
     .lifts = TL_EACH_ROW},
    {.name = NULL},
};
