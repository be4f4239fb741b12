// Picking items: by position, by truth.
//
//
// Indices are checked and made positive in one pass (wrap_indices) before
// anything is taken; a wrong one fails with the value that the script gave.
//
//   take(x, [2, 0], axis: 0)          whole rows of x
//   take_along_axis(x, i, axis: 0)    an item for each of i's, i like x
//   nonzero(x)                        an array of indices for each axis

#include "stdlib/families.h"
#include "vm/engine/engine.h"
#include "vm/index/select.h"
#include "vm/kernels/kernels.h"
#include "vm/array/string_item.h"

// --- take -------------------------------------------------------------------

// Bytes that are moved between two polls.
enum { POLL_BYTES = 1 << 20 };

// Of a contiguous array, whole rows of the axes behind [axis] move at once.
// (Its strides say nothing of an axis of length 1.)
static bool take_rows(tl_vm *vm, tl_array *to, tl_array *from,
                      const int64_t *index, int64_t n, int axis, size_t row) {
  char *place = to->data;
  int64_t outer = 1;
  for (int k = 0; k < axis; k++) outer *= tl_shape(to)[k];
  int64_t block = tl_shape(from)[axis] * (int64_t)row;
  // A row may be far from the last one.
  const int64_t piece = 1 + (int64_t)(POLL_BYTES / (row + 64));
  for (int64_t o = 0; o < outer; o++) {
    const char *base = from->data + o * block;
    for (int64_t i = 0, end; i < n; i = end) {
      end = n - i < piece ? n : i + piece;
      if (piece > 1)
        for (; i < end; i++, place += row)
          memcpy(place, base + index[i] * (int64_t)row, row);
      else if (tl_copy_bytes(vm, place, base + index[i] * (int64_t)row, row))
        place += row;
      else
        return false;
      if (end < n && !tl_poll(vm, 0))
        return false;
    }
    if (!tl_poll(vm, (uint64_t)n * row >> 13))
      return false;
  }
  return true;
}

// Items between two looks at whether the host wants the call to end.
enum { POLL_ITEMS = 1 << 17 };

// One lane of strings, each of which counts its text. False after tl_fail.
static bool take_strings(tl_vm *vm, const tl_lanes *lanes, const char *index,
                         int64_t step, int64_t n) {
  bool ok = true;
  for (int64_t i = 0; i < n && tl_poll_ok(vm, i, &ok); i++) {
    int64_t at = *(const int64_t *)(const void *)(index + i * step);
    tl_string_item_copy(
        vm, tl_string_item_at(lanes->data[0] + i * lanes->step[0]),
        tl_string_item_at(lanes->data[1] + at * lanes->step[1]));
  }
  return ok;
}

// One lane of others: some at a time, through dense memory where it has gaps.
// False after tl_fail.
static bool take_bytes(tl_vm *vm, const tl_lanes *lanes, const char *index,
                       int64_t step, int64_t n, size_t size) {
  enum { SOME = 512 };
  const tl_kernel_table *kernels = tl_kernels();
  const unsigned move = tl_move_size(size);
  int64_t places[SOME];
  tl_c128 items[SOME];
  for (int64_t at = 0; at < n; at += SOME) {
    size_t count = (size_t)(n - at < SOME ? n - at : SOME);
    if ((at + SOME) % POLL_ITEMS == 0 && !tl_poll(vm, 0))
      return false;
    const int64_t *from = (const int64_t *)(const void *)(index + at * step);
    char *put = lanes->data[0] + at * lanes->step[0];
    if (step != sizeof *places) {
      kernels->pack[tl_move_size(sizeof *places)](places, from, step, count);
      from = places;
    }
    const bool dense = lanes->step[0] == (int64_t)size;
    kernels->take[move](dense ? (void *)put : items, lanes->data[1],
                        lanes->step[1], from, count);
    if (!dense)
      kernels->unpack[move](put, lanes->step[0], items, count);
  }
  return true;
}

// Takes lane by lane, by the lanes of [indices], which x is broadcast to
// already, or where that is NULL by the same dense ones for all. Many short
// lanes share one look at the host.
static bool take_lanes(tl_vm *vm, tl_array *to, tl_array *x, tl_array *indices,
                       const int64_t *same, int axis) {
  tl_lanes lanes;
  const int64_t n = tl_shape(to)[axis];
  tl_dtype dtype = tl_array_dtype(x);
  tl_lanes_begin(&lanes, indices ? 3 : 2, (tl_array *[]){to, x, indices}, axis);
  for (; !lanes.done; tl_lanes_next(&lanes)) {
    const char *index = indices ? lanes.data[2] : (const char *)same;
    int64_t step = indices ? lanes.step[2] : (int64_t)sizeof *same;
    if (!(dtype == TL_STRING
              ? take_strings(vm, &lanes, index, step, n)
              : take_bytes(vm, &lanes, index, step, n, tl_itemsize(dtype))) ||
        !tl_poll_items(vm, n))
      return false;
  }
  return true;
}

// Axes behind [axis] that are contiguous move as whole rows, but for strings,
// which have counts; all else goes by lanes.
bool tl_take_axis(tl_vm *vm, tl_array *x, const int64_t *index, int64_t n,
                  int axis, tl_slot *out) {
  int ndim = tl_ndim(x);
  tl_dtype dtype = tl_array_dtype(x);
  int64_t shape[TL_MAX_DIMS];
  memcpy(shape, tl_shape(x), sizeof(int64_t) * (size_t)ndim);
  shape[axis] = n;
  tl_array *to = tl_array_new(vm, dtype, ndim, shape);
  if (!to)
    return false;
  // The bytes of all axes behind the one taken along.
  size_t row = tl_itemsize(dtype);
  for (int k = axis + 1; k < ndim; k++) row *= (size_t)shape[k];
  bool rows = dtype != TL_STRING && axis < ndim - 1 && tl_is_contiguous(x);
  bool ok = to->size == 0 || (rows ? take_rows(vm, to, x, index, n, axis, row)
                                   : take_lanes(vm, to, x, NULL, index, axis));
  return tl_array_finish(vm, ok, to, out);
}

// In blocks, so that the wrong index is still there to be named.
bool tl_wrap_indices(tl_vm *vm, const char *function, const char *name,
                     tl_slot s, int64_t length, tl_slot *out) {
  if (!tl_arg_numeric(vm, function, &s))
    return false;
  if (!tl_dtype_is_integer(tl_array_dtype(s.array)))
    return tl_arg_fail(vm, function, name, "integers", s);
  tl_slot index = tl_borrow(s);
  bool ok = true, given = tl_array_dtype(s.array) == TL_INT64;
  if (!given || !tl_is_contiguous(s.array))
    ok = tl_array_give(given ? tl_array_copy(vm, s.array)
                             : tl_array_cast(vm, s.array, TL_INT64),
                       &index);
  size_t n = (size_t)s.array->size;
  for (size_t at = 0, count; ok && at < n; at += count) {
    int64_t wrapped[512], *items = (int64_t *)index.array->data + at;
    count = n - at < 512 ? n - at : 512;
    if (at % POLL_ITEMS == 0 && !tl_poll(vm, 0)) {
      ok = false;
      break;
    }
    if (tl_kernels()->indices_within(items, length, count))
      continue;
    size_t bad = tl_kernels()->wrap_indices(wrapped, items, length, count);
    if (bad < count) {
      ok = tl_fail(vm, TALLY_ERR_INDEX,
                   "%s: index %lld is outside an axis of "
                   "length %lld",
                   function, (long long)items[bad], (long long)length);
      break;
    }
    ok = tl_is_owned(index) ||
         tl_array_give(tl_array_copy(vm, index.array), &index);
    if (ok)
      memcpy((int64_t *)index.array->data + at, wrapped,
             count * sizeof *wrapped);
  }
  if (ok)
    *out = index;
  else
    tl_clear(vm, &index);
  return ok;
}

// The result of taking by a 1-d index, in the shape that indices of several
// axes give: theirs in place of the axis.
static bool take_shape(tl_vm *vm, const tl_array *index, int axis,
                       tl_slot *taken, tl_slot *out) {
  const tl_array *a = taken->array;
  int inner = tl_ndim(index), ndim = tl_ndim(a) - 1 + inner, at = 0;
  int64_t shape[TL_MAX_DIMS];
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "take: more than %d axes", TL_MAX_DIMS);
  for (int k = 0; k < axis; k++) shape[at++] = tl_shape(a)[k];
  for (int k = 0; k < inner; k++) shape[at++] = tl_shape(index)[k];
  for (int k = axis + 1; k < tl_ndim(a); k++) shape[at++] = tl_shape(a)[k];
  return tl_reshape(vm, taken, ndim, shape, out);
}

// take(x, indices, axis): indices are checked and wrapped before anything is
// copied. Indices of several axes are taken flat, and their shape stands in
// place of the axis afterwards.
static bool take(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  tl_array *x = args[0].array;
  // Of several axes one must be named: leaving it out could mean all items.
  if (tl_is_none(args[2]) && tl_ndim(x) != 1)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "take: x has %d axes, so it needs to "
                   "be told the axis",
                   tl_ndim(x));
  if (!tl_arg_axis(vm, "take", args[2], tl_ndim(x), 0, &axis))
    return false;
  tl_slot index, taken;
  if (!tl_wrap_indices(vm, "take", "the indices", args[1], tl_shape(x)[axis],
                       &index))
    return false;
  bool ok = tl_take_axis(vm, x, (const int64_t *)index.array->data,
                         index.array->size, axis, &taken);
  if (ok && tl_ndim(index.array) != 1) {
    tl_slot flat = taken;
    ok = take_shape(vm, index.array, axis, &flat, &taken);
    tl_drop(vm, flat);
  }
  if (ok)
    *out = taken;
  tl_clear(vm, &index);
  return ok;
}

// Both arrays broadcast to each other along all axes but one.
static bool align_axis(tl_vm *vm, tl_slot *x, tl_slot *index, int axis) {
  const tl_array *a = x->array, *b = index->array;
  int ndim = tl_ndim(a);
  int64_t shapes[2][TL_MAX_DIMS], strides[2][TL_MAX_DIMS];
  for (int k = 0; k < ndim; k++) {
    int64_t m = tl_shape(a)[k], n = tl_shape(b)[k];
    const bool joins = k != axis && m == 1, meets = k != axis && n == 1;
    shapes[0][k] = joins ? n : m;
    shapes[1][k] = meets ? m : n;
    if (k != axis && shapes[0][k] != shapes[1][k])
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "take_along_axis: axis %d is %lld "
                     "against %lld",
                     k, (long long)m, (long long)n);
  }
  tl_broadcast_strides(a, ndim, shapes[0], strides[0]);
  tl_broadcast_strides(b, ndim, shapes[1], strides[1]);
  tl_slot bases[2] = {tl_borrow(*x), tl_borrow(*index)};
  tl_slot *slots[2] = {x, index};
  for (int i = 0; i < 2; i++) {
    const tl_array *from = slots[i]->array;
    tl_array *view = tl_view_new(vm, &bases[i], tl_array_dtype(from),
                                 from->data, ndim, shapes[i], strides[i]);
    if (!view) {
      if (i == 1)
        tl_drop(vm, *x);
      return false;
    }
    *slots[i] = tl_own_array(view);
  }
  return true;
}

// In C: taking from the flat array in Tally takes 5 times as long for 4 rows
// and 1.6 times for 30, though less (0.6) for 300.
static bool take_along_axis(tl_vm *vm, tl_slot *args, tl_slot *out) {
  int axis;
  tl_array *x = args[0].array;
  int ndim = tl_ndim(x);
  if (tl_ndim(args[1].array) != ndim || ndim == 0)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "take_along_axis: x has %d axes and "
                   "indices %d; they need as many",
                   ndim, tl_ndim(args[1].array));
  if (!tl_arg_axis(vm, "take_along_axis", args[2], ndim, -1, &axis))
    return false;
  tl_slot index;
  if (!tl_wrap_indices(vm, "take_along_axis", "the indices", args[1],
                       tl_shape(x)[axis], &index))
    return false;
  // Views with strides of 0 stand for the broadcast arrays; nothing is copied.
  tl_slot from = tl_borrow(args[0]), by = index;
  tl_array *to = NULL;
  bool ok = false;
  if (align_axis(vm, &from, &by, axis)) {
    to = tl_array_new(vm, tl_array_dtype(x), ndim, tl_shape(by.array));
    ok = to && (to->size == 0 ||
                take_lanes(vm, to, from.array, by.array, NULL, axis));
    tl_drop(vm, from);
    tl_drop(vm, by);
  }
  tl_clear(vm, &index);
  return tl_array_finish(vm, ok, to, out);
}

// --- nonzero ----------------------------------------------------------------

// Where x is not zero, as a dense array of bools. *out borrows or owns.
static bool truth(tl_vm *vm, const char *function, tl_slot *x, tl_slot *out) {
  if (!tl_arg_numeric(vm, function, x))
    return false;
  if (tl_array_dtype(x->array) == TL_BOOL) {
    tl_slot s = tl_borrow(*x);
    return tl_array_contiguous(vm, &s, out);
  }
  tl_slot operands[2] = {tl_borrow(*x), tl_weak_int(0)}, mask;
  if (!tl_elementwise(vm, TL_OP_NOT_EQUAL, operands, &mask))
    return false;
  if (tl_is_array(mask)) {
    *out = mask;
    return true;
  }
  return tl_as_array(vm, function, mask, out);
}

// The index along an axis of each of some positions, which go up: [below] are
// the items of a step along it. Only a position in another step needs division.
static bool split_axis(tl_vm *vm, const int64_t *at, int64_t n, int64_t below,
                       int64_t length, int64_t *to) {
  // Along the last axis positions in one row differ; along others all of a
  // step's items have the same index.
  const int64_t span = below == 1 ? length : below;
  int64_t begin = 0, index = 0;  // of the span that positions are in
  for (int64_t i = 0; i < n && tl_poll_at(vm, i); i++) {
    if (at[i] - begin >= span) {
      begin = at[i] / span * span;
      index = begin / span % length;
    }
    to[i] = below == 1 ? at[i] - begin : index;
  }
  return !tl_failed(vm);
}

// Positions in row-major order, split into an index for each axis.
static bool unravel(tl_vm *vm, tl_array *flat, const tl_array *shape_of,
                    tl_list **list) {
  int ndim = tl_ndim(shape_of);
  const int64_t *shape = tl_shape(shape_of), *at = (int64_t *)flat->data;
  // Positions are divided by what lies below each axis, outermost first. An
  // axis without items has no positions; 1 in its place avoids a division by 0.
  int64_t below = 1;  // items of one step along the axis
  for (int k = 1; k < ndim; k++) below *= shape[k] > 0 ? shape[k] : 1;
  for (int k = 0; k < ndim; k++) {
    tl_array *index = tl_array_new(vm, TL_INT64, 1, &flat->size);
    if (!index)
      return false;
    tl_slot item = tl_own_array(index);
    if (!split_axis(vm, at, flat->size, below, shape[k],
                    (int64_t *)index->data) ||
        !tl_list_push(vm, list, &item)) {
      tl_drop(vm, item);
      return false;
    }
    if (k + 1 < ndim)
      below /= shape[k + 1] > 0 ? shape[k + 1] : 1;
  }
  return true;
}

// Positions come flat from a kernel, and are split into one index for each axis
// only if there are several. *x is replaced where it becomes an array.
bool tl_nonzero(tl_vm *vm, const char *function, tl_slot *x, tl_slot *out) {
  tl_slot mask;
  if (!truth(vm, function, x, &mask))
    return false;
  const tl_array *m = mask.array;
  int64_t count = tl_count_true(vm, m);
  tl_array *flat = NULL;
  tl_list *list = NULL;
  bool ok = false;
  if (tl_ndim(m) == 0)
    tl_fail(vm, TALLY_ERR_SHAPE, "%s: a scalar has no positions", function);
  else if (count >= 0 && (flat = tl_array_new(vm, TL_INT64, 1, &count)) != NULL)
    list = tl_list_new(vm, tl_ndim(m));
  if (list && tl_true_positions(vm, m, (int64_t *)flat->data)) {
    if (tl_ndim(m) == 1) {
      ok = tl_list_push_own(vm, &list, tl_own_array(flat));
      flat = NULL;
    } else {
      ok = unravel(vm, flat, m, &list);
    }
  }
  tl_array_drop(vm, flat);
  tl_drop(vm, mask);
  return tl_list_give(vm, list, ok, out);
}

static bool nonzero(tl_vm *vm, tl_slot *args, tl_slot *out) {
  return tl_nonzero(vm, "nonzero", &args[0], out);
}
// --- The table --------------------------------------------------------------

const tl_builtin tl_search_builtins[] = {
    /// The items of x at the positions in indices, along an axis; only a
    /// one-dimensional x may do without axis.
    /// Any dtype, which stays; the indices are integers. An index out of range
    /// is an error (kind index).
    ///     take([10, 20, 30], [2, 0])    # [30, 10]
    {"take", "x, indices, axis: none", take, .lifts = TL_MOVES, .types = "aa"},
    /// For each lane of x along the axis, its items at the positions in the
    /// same lane of indices, as argsort gives them.
    /// Any dtype, which stays; the indices are integers. An index out of range
    /// is an error (kind index).
    ///     take_along_axis([[3, 1], [2, 4]], [[1], [0]])    # [[1], [2]]
    {"take_along_axis", "x, indices, axis: -1", take_along_axis,
     .lifts = TL_OF_MASKS, .takes = TL_BYTES, .types = "aa"},
    /// The positions of the items that are not zero: a list with an index
    /// array for each axis.
    /// A scalar has no axes: an error (kind shape).
    ///     nonzero([0, 5, 0, 7])[0]    # [1, 3]
    ///     i, j = nonzero([[0, 5], [7, 0]])
    ///     j    # [1, 0]
    {"nonzero", "x", nonzero},
    {.name = NULL},
};
