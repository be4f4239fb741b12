// Shapes: sizes checked against overflow, strides, broadcasting, axes, and the
// tag that mirrors a header. No function here touches items.
#include <inttypes.h>

#include "vm/array/array.h"
#include "vm/check.h"

// Every array's size goes through here, so nothing after it needs to check for
// overflow again.
bool tl_shape_size(tl_vm *vm, int ndim, const int64_t *shape, size_t itemsize,
                   int64_t *size, size_t *nbytes) {
  if (ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "an array has at most %d dimensions, not %d", TL_MAX_DIMS,
                   ndim);
  // Dimensions of 0 are left out of the product that must not overflow, so
  // that the strides of an empty array do not either.
  int64_t count = 1, total = (int64_t)itemsize;
  bool empty = false;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 0)
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "axis %d would have %" PRId64
                     " items: a dimension is 0 or more",
                     i, shape[i]);
    if (shape[i] == 0) {
      empty = true;
      continue;
    }
    if (__builtin_mul_overflow(total, shape[i], &total) ||
        total > PTRDIFF_MAX) {
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "an array of this shape is too large: the dimensions up "
                     "to axis %d, %" PRId64
                     ", exceed what a machine can address",
                     i, shape[i]);
    }
    count *= shape[i];  // at most the bytes
  }
  *size = empty ? 0 : count;
  *nbytes = empty ? 0 : (size_t)total;
  return true;
}

// From the last axis outwards; items of an empty array have no addresses, but
// its strides are reported.
void tl_shape_strides(int ndim, const int64_t *shape, size_t itemsize,
                      int64_t *strides) {
  TL_CHECK(ndim >= 0 && ndim <= TL_MAX_DIMS);
  int64_t stride = (int64_t)itemsize;
  for (int i = ndim - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i] > 0 ? shape[i] : 1;
  }
}

// Axes of length 1 are passed over: their stride is never used.
bool tl_lies_in_rows(const tl_array *a) {
  if (a->size <= 1)
    return true;
  const int64_t *shape = tl_shape(a), *strides = tl_strides(a);
  int64_t stride = (int64_t)tl_itemsize(tl_array_dtype(a));
  if (tl_ndim(a) <= 2) {
    const int last = tl_ndim(a) - 1;
    return (shape[last] == 1 || strides[last] == stride) &&
           (last == 0 || shape[0] == 1 || strides[0] == stride * shape[last]);
  }
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    if (shape[i] == 1)
      continue;
    if (strides[i] != stride)
      return false;
    stride *= shape[i];
  }
  return true;
}

// Fails (kind shape) with both types and the axis of the result at which they
// differ.
static bool fail_broadcast(tl_vm *vm, const tl_array *a, const tl_array *b,
                           int ndim, int axis) {
  return tl_fail(
      vm, TALLY_ERR_SHAPE,
      "%s and %s do not broadcast: axis %d is %" PRId64 " against %" PRId64,
      tl_described(vm, tl_lend_array(a)), tl_described(vm, tl_lend_array(b)),
      axis, tl_shape(a)[axis - ndim + tl_ndim(a)],
      tl_shape(b)[axis - ndim + tl_ndim(b)]);
}

// NULL is one item.
static int axes_of(const tl_array *a) {
  return a == NULL ? 0 : tl_ndim(a);
}

// Axis by axis, so that the message can name the first one that differs and
// the two operands.
bool tl_broadcast(tl_vm *vm, int n, const tl_array *const *arrays, int *ndim,
                  int64_t *shape) {
  TL_CHECK(n > 0);
  int dims = 0;
  for (int k = 0; k < n; k++)
    if (axes_of(arrays[k]) > dims)
      dims = axes_of(arrays[k]);
  for (int axis = 0; axis < dims; axis++) {
    int decided = -1;  // the operand that gives this dimension
    shape[axis] = 1;
    for (int k = 0; k < n; k++) {
      // Shapes are aligned at the right: axis of the result against axis of
      // the operand, negative where it has none.
      int own = axis - dims + axes_of(arrays[k]);
      if (own < 0)
        continue;
      int64_t dim = tl_shape(arrays[k])[own];
      // A dimension of 1 repeats, an equal one agrees.
      if (dim == 1 || dim == shape[axis])
        continue;
      if (decided >= 0)
        return fail_broadcast(vm, arrays[decided], arrays[k], dims, axis);
      shape[axis] = dim;
      decided = k;
    }
  }
  *ndim = dims;
  return true;
}

// Axes that the array lacks, and those of length 1, get a stride of 0: the
// walk reads their items again.
void tl_broadcast_strides(const tl_array *a, int ndim, const int64_t *shape,
                          int64_t *strides) {
  TL_CHECK(ndim >= axes_of(a));
  int shift = ndim - axes_of(a);
  for (int i = 0; i < ndim; i++) {
    int own = i - shift;
    bool repeats = own < 0 || (tl_shape(a)[own] == 1 && shape[i] != 1);
    strides[i] = repeats ? 0 : tl_strides(a)[own];
  }
}

// An insertion sort: there are few axes, mostly in order already, and equal
// strides must not change places.
bool tl_axes_by_stride(int count, const int64_t *strides, int *axes) {
  bool moved = false;
  for (int i = 1; i < count; i++) {
    int axis = axes[i], at = i;
    int64_t disjoint = tl_distance(strides[axis]);
    for (; at > 0 && tl_distance(strides[axes[at - 1]]) < disjoint; at--) {
      axes[at] = axes[at - 1];
      moved = true;
    }
    axes[at] = axis;
  }
  return moved;
}

// The message gives the axis as the script wrote it.
bool tl_axis(tl_vm *vm, const char *function, int64_t axis, int ndim,
             int *out) {
  TL_CHECK(ndim >= 0);
  if (axis < -ndim || axis >= ndim)
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%s: axis %" PRId64 " is out of range for %d %s", function,
                   axis, ndim, ndim == 1 ? "dimension" : "dimensions");
  *out = (int)(axis < 0 ? axis + ndim : axis);
  return true;
}

bool tl_fail_dims(tl_vm *vm, const char *what) {
  return tl_fail(vm, TALLY_ERR_SHAPE, "%s %d dimensions", what, TL_MAX_DIMS);
}

// The index as the script wrote it, negative ones included.
bool tl_fail_range(tl_vm *vm, int64_t index, int axis, int64_t length) {
  return tl_fail(vm, TALLY_ERR_INDEX,
                 "index %" PRId64
                 " is out of range for axis %d with size %" PRId64,
                 index, axis, length);
}

// Everything that the dispatch loop wants to know of an array without reading
// its header.
uint64_t tl_array_tag(const tl_array *a) {
  uint64_t tag = TL_TAG(TL_CLASS_ARRAY, a->head.dtype);
  // Three bits of the tag: 7 stands for 7 and more.
  uint64_t ndim = a->head.ndim < 7 ? a->head.ndim : 7;
  tag |= ndim << 24;
  if (tl_is_contiguous(a))
    tag |= TL_DENSE;
  // An array that owns its data has no gaps, except where a host's memory has
  // some: that one is written by the general paths alone (vm/index/path.c).
  enum { NOT_DIRECT = TL_VIEW | TL_READONLY | TL_IMMORTAL };
  if ((a->head.flags & NOT_DIRECT) == 0 &&
      ((tag & TL_DENSE) != 0 || (a->head.flags & TL_EXTERNAL) == 0))
    tag |= TL_DIRECT;
  return tag;
}
