// Items by place: sums at indices that may repeat, windows that overlap.

#include "stdlib/families.h"
#include "vm/index/select.h"
#include "vm/kernels/kernels.h"

// --- add_at -----------------------------------------------------------------

enum { BLOCK = 512 };  // indices between two polls

// A row of items, added to another; complex items are rows of two floats.
// [step] is a row's length, or 0 to add one row everywhere.
typedef void add_rows(char *to, const char *from, size_t step,
                      const int64_t *index, size_t n, size_t row);

#define DEFINE_ADD(T)                                                        \
  static void add_##T(char *to, const char *from, size_t step,               \
                      const int64_t *index, size_t n, size_t row) {          \
    T *items = (T *)(void *)to;                                              \
    const T *values = (const T *)(const void *)from;                         \
    for (size_t i = 0; i < n; i++, values += step) {                         \
      T *place = items + (size_t)index[i] * row;                             \
      for (size_t k = 0; k < row; k++) place[k] = (T)(place[k] + values[k]); \
    }                                                                        \
  }
DEFINE_ADD(uint8_t)
DEFINE_ADD(uint16_t)
DEFINE_ADD(uint32_t)
DEFINE_ADD(uint64_t)
DEFINE_ADD(float)
DEFINE_ADD(double)

// Each sum is rounded, as those of an array are. One row at a time: a place may
// come again.
static void add_float16(char *to, const char *from, size_t step,
                        const int64_t *index, size_t n, size_t row) {
  tl_kernel2 *add = tl_kernels()->binary[TL_OP_ADD][TL_FLOAT16];
  for (size_t i = 0; i < n; i++, from += step * sizeof(uint16_t)) {
    char *place = to + (size_t)index[i] * row * sizeof(uint16_t);
    add(place, place, from, row);
  }
}

// Integers wrap, and those with a sign have the same bits.
static add_rows *const adders[TL_DTYPE_COUNT] = {
    [TL_INT8] = add_uint8_t,     [TL_UINT8] = add_uint8_t,
    [TL_INT16] = add_uint16_t,   [TL_UINT16] = add_uint16_t,
    [TL_INT32] = add_uint32_t,   [TL_UINT32] = add_uint32_t,
    [TL_INT64] = add_uint64_t,   [TL_UINT64] = add_uint64_t,
    [TL_FLOAT16] = add_float16,  [TL_FLOAT32] = add_float,
    [TL_FLOAT64] = add_double,   [TL_COMPLEX64] = add_float,
    [TL_COMPLEX128] = add_double};

// The rows that are added to: places among the first [axes] axes of x, which
// have [length] rows.
typedef struct target {
  tl_slot index;  // dense int64
  int axes;
  int64_t length;
} target;

// The values, converted, in the shape of the places that they go to; or one
// number for all items of a vector.
static bool spread_values(tl_vm *vm, tl_slot *values, const tl_array *x,
                          const target *t, tl_slot *out) {
  const tl_array *index = t->index.array;
  int rest = tl_ndim(x) - t->axes, ndim = tl_ndim(index) + rest;
  int64_t shape[2 * TL_MAX_DIMS];
  tl_dtype dtype = tl_array_dtype(x);
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "add_at: more than %d axes",
                   TL_MAX_DIMS);
  memcpy(shape, tl_shape(index), sizeof *shape * (size_t)tl_ndim(index));
  memcpy(shape + tl_ndim(index), tl_shape(x) + t->axes,
         sizeof *shape * (size_t)rest);
  tl_array *from = values->array;
  // No copy where the shape is that of the places, or one number serves all.
  if ((rest == 0 && tl_ndim(from) == 0) ||
      (tl_ndim(from) == ndim &&
       memcmp(tl_shape(from), shape, sizeof *shape * (size_t)ndim) == 0))
    return tl_as_contiguous(vm, "add_at", *values, dtype, out);
  for (int k = 0; k < tl_ndim(from); k++) {
    int axis = ndim - tl_ndim(from) + k;
    int64_t length = tl_shape(from)[k];
    if (axis < 0 || (length != 1 && length != shape[axis]))
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "add_at: values do not broadcast to the rows that %lld "
                     "indices name: their axis %d has %lld items",
                     (long long)index->size, k, (long long)length);
  }
  tl_array *spread = tl_array_new(vm, dtype, ndim, shape);
  if (!spread)
    return false;
  *out = tl_own_array(spread);
  return spread->size == 0 || tl_assign_part(vm, spread, spread->data, ndim,
                                             shape, tl_strides(spread), from);
}

// Bools, integers, reals, complex numbers.
static int kind_order(tl_dtype dtype) {
  return tl_dtype_is_integer(dtype)   ? 1
         : tl_dtype_is_real(dtype)    ? 2
         : tl_dtype_is_complex(dtype) ? 3
                                      : 0;
}

// x and values must be numbers, and the values of no higher kind than x: a sum
// of floats in an array of integers would be cut. Fails with kind type. Widths
// may differ, as in x[i] += v.
static bool check_kinds(tl_vm *vm, tl_slot *args) {
  tl_dtype to = tl_array_dtype(args[0].array);
  tl_dtype from = tl_array_dtype(args[2].array);
  if (tl_ndim(args[0].array) == 0 || !adders[to])
    return tl_arg_fail(vm, "add_at", "x", "an array of numbers", args[0]);
  if (kind_order(from) > kind_order(to))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "add_at: %s values do not fit into x, whose dtype is %s",
                   tl_dtypes[from].name, tl_dtypes[to].name);
  return true;
}

// Adds all rows at indices from 0 on, in pieces between which it polls.
static bool add_all(tl_vm *vm, tl_array *x, const target *t,
                    const tl_array *index, const tl_array *values) {
  const tl_dtype dtype = tl_array_dtype(x);
  // Items of a row, in floats where items are complex.
  const size_t parts = tl_dtype_is_complex(dtype) ? 2 : 1;
  size_t row = parts;
  for (int k = t->axes; k < tl_ndim(x); k++) row *= (size_t)tl_shape(x)[k];
  const size_t step = values->size == 1 ? 0 : row;
  const size_t nbytes = step * tl_itemsize(dtype) / parts;
  const int64_t *places = (const int64_t *)(const void *)index->data;
  for (int64_t i = 0, n; row > 0 && i < index->size; i += n) {
    n = index->size - i < BLOCK ? index->size - i : BLOCK;
    if (!tl_poll(vm, 1 + ((uint64_t)n * row >> 10)))
      return false;
    adders[dtype](x->data, values->data + (size_t)i * nbytes, step, places + i,
                  (size_t)n, row);
  }
  return true;
}

// An argument of indices as an array of integers, in place of *s. An empty list
// has no integers, and is allowed.
static bool read_indices(tl_vm *vm, tl_slot *s) {
  if (!tl_arg_numeric(vm, "add_at", s))
    return false;
  return s->array->size == 0 || tl_dtype_is_integer(tl_array_dtype(s->array)) ||
         tl_arg_fail(vm, "add_at", "indices", "integers", *s);
}

// Index arrays for the first axes of x become places among their rows: what
// they come to in an array whose strides count rows. That array has the memory
// of x, which is never read through it. The arrays broadcast, and an index out
// of its axis is an error of kind index that names the axis.
static bool join_indices(tl_vm *vm, tl_slot x, const tl_arrays *each,
                         target *t) {
  tl_fancy fancy[TL_MAX_DIMS];
  int64_t strides[TL_MAX_DIMS];
  tl_slot rows;
  for (int k = t->axes - 1; k >= 0; k--) {
    if (!read_indices(vm, &each->items[k]))
      return false;
    fancy[k] = (tl_fancy){each->items[k].array, k, false};
    strides[k] = t->length;
    t->length *= tl_shape(x.array)[k];
  }
  tl_slot borrowed = tl_borrow(x);
  if (!tl_view(vm, &borrowed, x.array->data, t->axes, tl_shape(x.array),
               strides, &rows))
    return false;
  tl_selection s = {.keep = tl_none()};
  bool ok = tl_positions_make(vm, rows.array, t->axes, fancy, &s);
  tl_drop(vm, rows);
  // A single index array is itself, which ends with [each].
  t->index = tl_take(vm, &s.keep);
  return ok;
}

// The argument indices: integers for the first axis, or a list of index arrays
// for as many axes. The index of *t returns owned, to be dropped after a
// failure, too.
static bool read_target(tl_vm *vm, tl_slot x, tl_slot *indices, target *t) {
  const int64_t count = tl_is_list(*indices) ? indices->list->length : 0;
  if (count == 0) {
    t->axes = 1;
    t->length = tl_shape(x.array)[0];
    return read_indices(vm, indices) &&
           tl_as_contiguous(vm, "add_at", *indices, TL_INT64, &t->index);
  }
  tl_arrays each;
  if (count > tl_ndim(x.array))
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "add_at: %lld index arrays for %d axes of x",
                   (long long)count, tl_ndim(x.array));
  if (!tl_arg_arrays(vm, "add_at", *indices, &each))
    return false;
  t->axes = (int)count;
  t->length = 1;
  bool ok = join_indices(vm, x, &each, t);
  tl_arrays_close(vm, &each);
  return ok;
}

// add_at(x, indices, values): unlike x[indices] += values, an index that comes
// twice adds twice. In x's own memory where it ends here.
static bool add_at(tl_vm *vm, tl_slot *args, tl_slot *out) {
  tl_slot values = tl_none(), wrapped = tl_none();
  target t = {.index = tl_none()};
  if (!check_kinds(vm, args))
    return false;
  // Checked before the first write, since x may be written where it is.
  bool ok =
      read_target(vm, args[0], &args[1], &t) &&
      tl_wrap_indices(vm, "add_at", "indices", t.index, t.length, &wrapped) &&
      spread_values(vm, &args[2], args[0].array, &t, &values);
  tl_array *x = ok ? tl_take_dense(vm, &args[0]) : NULL;
  ok = x && add_all(vm, x, &t, wrapped.array, values.array);
  ok = tl_array_finish(vm, ok, x, out);
  tl_drop(vm, wrapped);
  tl_drop(vm, t.index);
  tl_drop(vm, values);
  return ok;
}

// --- sliding_windows --------------------------------------------------------

// sliding_windows(x, size, axis): a view; items stand in as many windows as
// contain them, without being copied.
//
//   x of 5, size 3     3 * 3, strides s and s
//     0 1 2 3 4        0 1 2
//                      1 2 3
//                      2 3 4
static bool sliding_windows(tl_vm *vm, tl_slot *args, tl_slot *out) {
  static const char name[] = "sliding_windows";
  int count, axis_count, axes[TL_MAX_DIMS];
  int64_t size[TL_MAX_DIMS], shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  if (!tl_arg_ints(vm, name, "size", args[1], TL_MAX_DIMS, &count, size))
    return false;
  const tl_array *x = args[0].array;
  int ndim = tl_ndim(x);
  if (!tl_arg_axes_or_all(vm, name, args[2], ndim, &axis_count, axes))
    return false;
  if (axis_count != count)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "%s: size has %d numbers for %d axes: give axis, or one "
                   "number for each",
                   name, count, axis_count);
  if (ndim + count > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE, "%s: more than %d axes", name,
                   TL_MAX_DIMS);
  memcpy(shape, tl_shape(x), sizeof *shape * (size_t)ndim);
  memcpy(strides, tl_strides(x), sizeof *strides * (size_t)ndim);
  for (int i = 0; i < count; i++) {
    int64_t *length = &shape[axes[i]];
    if (size[i] < 1 || size[i] > *length)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: a window of %lld does not fit axis %d of %lld items",
                     name, (long long)size[i], axes[i], (long long)*length);
    // As many windows as there are places where one begins.
    *length -= size[i] - 1;
    shape[ndim + i] = size[i];
    strides[ndim + i] = tl_strides(x)[axes[i]];
  }
  return tl_view(vm, &args[0], x->data, ndim + count, shape, strides, out);
}

const tl_builtin tl_places_builtins[] = {
    /// x with values added to its rows (of a vector, items) at indices, one
    /// after the other: an index that is there twice adds twice, unlike in
    /// x[indices] += values. indices are integers of any shape, negative ones
    /// from the end, or a list of such for several axes, which broadcast; values
    /// broadcast to indices' shape, then x's other axes.
    /// The dtype stays: values of a higher kind are a type error, an index out
    /// of range an index error.
    ///     add_at([0, 0, 0], [2, 0, 2], [1, 5, 3])    # [5, 0, 4]
    ///     add_at([[0, 0], [0, 0]], ([0, 0, 1], [1, 1, 0]), 1)    # [[0, 2], [1, 0]]
    {"add_at", "x, indices, values", add_at, .types = "m.m"},
    /// All windows of a size in x, one behind the other: a view whose last
    /// axes are the window's. size is a number for one axis, or a list for
    /// several, all of x's axes unless given. Any dtype. Windows that are
    /// empty or larger than the axis are a value error.
    ///     sliding_windows([1, 2, 3, 4], 3)    # [[1, 2, 3], [2, 3, 4]]
    {"sliding_windows", "x, size, axis: none", sliding_windows,
     .lifts = TL_OF_MASKS, .types = "t"},
    {.name = NULL},
};
