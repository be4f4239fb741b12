// The layout of results. A result of transposed arrays lies in memory as those
// do, so that both are walked in the order of memory:
//
//   a = zeros((3, 4)).T     4 * 3, strides 8 32
//   b = a + 1               4 * 3, strides 8 32 too, not 24 8
//
// An owning array of such an order has no gaps; its slot has TL_DIRECT but not
// TL_DENSE. Small results are always in rows.
//
// Built for size.

#include "vm/array/array.h"
#include "vm/events.h"

// Smaller results are in row-major order: they stay in the nearest cache.
enum { LEAST_ITEMS = 257 };

// Whether [a] has this shape itself, without broadcasting: no item is walked
// twice.
static bool is_whole(const tl_array *a, int ndim, const int64_t *shape) {
  if (tl_ndim(a) != ndim)
    return false;
  for (int i = 0; i < ndim; i++)
    if (tl_shape(a)[i] != shape[i] || (shape[i] > 1 && tl_strides(a)[i] == 0))
      return false;
  return true;
}

// Writes the axes of [a] by their strides, the largest first; equal ones stay
// in their order, and those of length 1 come first. Whether that is another
// order than rows.
static bool sort_axes(const tl_array *a, int *order) {
  int count = 0, ndim = tl_ndim(a);
  for (int i = 0; i < ndim; i++)
    if (tl_shape(a)[i] == 1)
      order[count++] = i;
  int ones = count;
  for (int i = 0; i < ndim; i++)
    if (tl_shape(a)[i] != 1)
      order[count++] = i;
  return tl_axes_by_stride(count - ones, tl_strides(a), order + ones);
}

// Whether the axes of [a], taken in [order], have falling distances.
static bool has_order(const tl_array *a, const int *order) {
  int64_t outer = INT64_MAX;
  for (int i = 0; i < tl_ndim(a); i++) {
    if (tl_shape(a)[order[i]] == 1)
      continue;
    int64_t disjoint = tl_distance(tl_strides(a)[order[i]]);
    if (disjoint > outer)
      return false;
    outer = disjoint;
  }
  return true;
}

// Finds the axis order that those of the arrays share which have this shape;
// false where it is row-major or they differ.
static bool find_order(const tl_vm *vm, int ndim, const int64_t *shape, int n,
                       const tl_array *const *arrays, int *order) {
  bool found = false;
  // Most functions of the library work in place on rows alone, and the
  // in-place contract needs them to.
  if (tl_has_contracts(vm))
    return false;
  for (int k = 0; k < n; k++) {
    const tl_array *a = arrays[k];
    // Operands that are broadcast have no say: their items are read several
    // times anyway.
    if (a->size < LEAST_ITEMS || !is_whole(a, ndim, shape))
      continue;
    if (found ? !has_order(a, order) : !sort_axes(a, order))
      return false;
    found = true;
  }
  return found;
}

// Gives the dense array strides with the axes in [order], the last one
// innermost.
static void set_order(tl_array *a, const int *order) {
  int64_t stride = (int64_t)tl_itemsize(tl_array_dtype(a));
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    tl_strides(a)[order[i]] = stride;
    stride *= tl_shape(a)[order[i]];
  }
}

// The array is new and its items are not set, so its strides may still be
// chosen. Strings are walked in rows.
tl_array *tl_array_ordered(const tl_vm *vm, tl_array *made, int n,
                           const tl_array *const *arrays) {
  int order[TL_MAX_DIMS];
  if (made != NULL && tl_array_dtype(made) != TL_STRING &&
      find_order(vm, tl_ndim(made), tl_shape(made), n, arrays, order))
    set_order(made, order);
  return made;
}

// For callers that decide how to compute before they make the array.
bool tl_has_other_order(const tl_vm *vm, int ndim, const int64_t *shape, int n,
                        const tl_array *const *arrays) {
  int order[TL_MAX_DIMS];
  return find_order(vm, ndim, shape, n, arrays, order);
}

// --- Copies -----------------------------------------------------------------

// A header on the stack for [a] with its axes in another order.
typedef union header {
  tl_array array;
  char bytes[sizeof(tl_array) + 2 * TL_MAX_DIMS * sizeof(int64_t)];
} header;

// Writes a header for the items of [a] with the axes in [order], so that code
// which walks rows walks memory in order.
static void permute(const tl_array *a, const int *order, header *out) {
  int ndim = tl_ndim(a);
  out->array = *a;
  for (int i = 0; i < ndim; i++) {
    tl_shape(&out->array)[i] = tl_shape(a)[order[i]];
    tl_strides(&out->array)[i] = tl_strides(a)[order[i]];
  }
}

// The cast runs over a header with the axes in the order of memory, and the
// result gets the axes back.
tl_array *tl_array_cast_kept(tl_vm *vm, const tl_array *a, tl_dtype dtype) {
  int order[TL_MAX_DIMS];
  if (dtype == TL_STRING || tl_array_dtype(a) == TL_STRING ||
      !find_order(vm, tl_ndim(a), tl_shape(a), 1, &a, order))
    return tl_array_cast(vm, a, dtype);
  header permuted;
  permute(a, order, &permuted);
  tl_array *made = tl_array_cast(vm, &permuted.array, dtype);
  if (made == NULL) {
    // The permuted walk came to another item first than rows would: the cast
    // again in rows names the item that a script expects.
    if (vm->error.status != TALLY_ERR_VALUE)
      return NULL;
    tl_error_clear(vm);
    return tl_array_cast(vm, a, dtype);
  }
  memcpy(tl_shape(made), tl_shape(a), (size_t)tl_ndim(a) * sizeof(int64_t));
  set_order(made, order);
  return made;
}
