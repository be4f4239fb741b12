// Shapes: sizes checked against overflow, strides, broadcasting, axes.
#include <inttypes.h>

#include "vm/array/array.h"
#include "vm/error.h"

bool tl_shape_size(tl_vm *vm, int ndim, const int64_t *shape, size_t itemsize,
                   int64_t *size, size_t *nbytes) {
  if (ndim > TL_MAX_DIMS) {
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "an array has at most %d dimensions, not %d", TL_MAX_DIMS,
                   ndim);
  }
  // Dimensions of 0 are left out of the product that must not overflow, so
  // that the strides of an empty array do not either.
  int64_t count = 1, total = (int64_t)itemsize;
  bool empty = false;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 0) {
      return tl_fail(vm, TALLY_ERR_SHAPE,
                     "axis %d would have %" PRId64
                     " items: a dimension is 0 or more",
                     i, shape[i]);
    }
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

void tl_shape_strides(int ndim, const int64_t *shape, size_t itemsize,
                      int64_t *strides) {
  int64_t stride = (int64_t)itemsize;
  for (int i = ndim - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i] > 0 ? shape[i] : 1;
  }
}

bool tl_is_contiguous(const tl_array *a) {
  if (a->size <= 1)
    return true;
  const int64_t *shape = tl_shape(a), *strides = tl_strides(a);
  int64_t stride = (int64_t)tl_itemsize(tl_array_dtype(a));
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    if (shape[i] == 1)
      continue;
    if (strides[i] != stride)
      return false;
    stride *= shape[i];
  }
  return true;
}

static bool fail_broadcast(tl_vm *vm, const tl_array *a, const tl_array *b,
                           int ndim, int axis) {
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
  tl_slot s = {.tag = tl_array_tag(a), .array = (tl_array *)a};
  tl_slot t = {.tag = tl_array_tag(b), .array = (tl_array *)b};
  return tl_fail(
      vm, TALLY_ERR_SHAPE,
      "%s and %s do not broadcast: axis %d is %" PRId64 " against %" PRId64,
      tl_describe(s, left, sizeof left), tl_describe(t, right, sizeof right),
      axis, tl_shape(a)[axis - ndim + tl_ndim(a)],
      tl_shape(b)[axis - ndim + tl_ndim(b)]);
}

bool tl_broadcast(tl_vm *vm, int n, const tl_array *const *arrays, int *ndim,
                  int64_t *shape) {
  int dims = 0;
  for (int k = 0; k < n; k++) {
    if (tl_ndim(arrays[k]) > dims)
      dims = tl_ndim(arrays[k]);
  }
  for (int axis = 0; axis < dims; axis++) {
    int decided = -1;  // the operand that gives this dimension
    shape[axis] = 1;
    for (int k = 0; k < n; k++) {
      int own = axis - dims + tl_ndim(arrays[k]);
      if (own < 0)
        continue;
      int64_t dim = tl_shape(arrays[k])[own];
      if (dim == 1 || dim == shape[axis])
        continue;
      if (decided >= 0) {
        return fail_broadcast(vm, arrays[decided], arrays[k], dims, axis);
      }
      shape[axis] = dim;
      decided = k;
    }
  }
  *ndim = dims;
  return true;
}

void tl_broadcast_strides(const tl_array *a, int ndim, const int64_t *shape,
                          int64_t *strides) {
  int shift = ndim - tl_ndim(a);
  for (int i = 0; i < ndim; i++) {
    int own = i - shift;
    bool repeats = own < 0 || (tl_shape(a)[own] == 1 && shape[i] != 1);
    strides[i] = repeats ? 0 : tl_strides(a)[own];
  }
}

bool tl_axes_by_stride(int count, const int64_t *strides, int *axes) {
  bool moved = false;
  for (int i = 1; i < count; i++) {
    int axis = axes[i], at = i;
    int64_t apart = tl_distance(strides[axis]);
    for (; at > 0 && tl_distance(strides[axes[at - 1]]) < apart; at--) {
      axes[at] = axes[at - 1];
      moved = true;
    }
    axes[at] = axis;
  }
  return moved;
}

bool tl_axis(tl_vm *vm, const char *function, int64_t axis, int ndim,
             int *out) {
  if (axis < -ndim || axis >= ndim) {
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "%s: axis %" PRId64 " is out of range for %d %s", function,
                   axis, ndim, ndim == 1 ? "dimension" : "dimensions");
  }
  *out = (int)(axis < 0 ? axis + ndim : axis);
  return true;
}
