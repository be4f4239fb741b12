// Selections of an array that ends here which keep its order, x[x > 0], x[mask]
// and x[[0, 2, 5]]: the chosen items move down over those that are left out, so
// that the result lies in the array's own memory. Once an item has moved, only
// a stop that ends the run fails.
//
//     x      │ a │ b │ c │ d │ e │      mask  1 0 1 1 0
//     result │ a │ c │ d │              the rest of the block is given back
//
// Built for size.

#include "vm/kernels/kernels.h"
#include "vm/index/select.h"
#include "vm/poll.h"

// As in index_fancy.c: items by way of a block, and looks for an interrupt.
enum { BLOCK = 512, POLL_EACH = 64 * 1024 };

// Not if the mask lies in the same block: it would be overwritten while it is
// read.
bool tl_compress_in_place(tl_vm *vm, tl_slot *base, const tl_array *mask,
                          tl_slot *out) {
  tl_array *a = base->array;
  if (!tl_is_contiguous(a) || tl_arrays_overlap(a, mask) ||
      !tl_array_resizes(vm, *base) ||
      (a->size >= POLL_EACH && !tl_poll(vm, (uint64_t)a->size / 1024)))
    return false;
  tl_dtype dtype = tl_array_dtype(a);
  const size_t itemsize = tl_itemsize(dtype);
  const uint8_t *chosen = (const uint8_t *)mask->data;
  int64_t count = 0;
  for (int64_t at = 0; at < a->size; at += POLL_EACH) {
    const int64_t rest = a->size - at;
    if (at > 0 && !tl_poll_over(vm))
      return false;
    count += (int64_t)tl_kernels()->compress[tl_move_size(itemsize)](
        a->data + (size_t)count * itemsize, a->data + (size_t)at * itemsize,
        chosen + at, (size_t)(rest < POLL_EACH ? rest : POLL_EACH));
  }
  *out = tl_own_array(tl_array_narrow(vm, base, dtype, 1, &count));
  return true;
}

// Whether the selection takes whole rows along the array's first axis, or items
// of a vector, at rising positions, so that each moves down or stays.
// What is sorted but has one place twice does not keep order here: the second
// would be read after the first has been written over it.
// False also after tl_fail.
static bool keeps_order(tl_vm *vm, const tl_array *a, const tl_selection *s) {
  size_t row = tl_itemsize(tl_array_dtype(a));
  if (s->fancy_at != 0 || s->fancy_ndim != 1 || s->data != a->data ||
      s->ndim != tl_ndim(a) - 1 || !tl_is_contiguous(a))
    return false;
  for (int k = s->ndim - 1; k >= 0; k--) {
    if (s->shape[k] != tl_shape(a)[k + 1] ||
        s->strides[k] != tl_strides(a)[k + 1])
      return false;
    row *= (size_t)s->shape[k];
  }
  const tl_positions *p = &s->positions;
  if (row == 0 || p->stride != (int64_t)row)
    return false;
  int64_t before = -1, end = tl_shape(a)[0];
  for (int64_t i = 0; i < s->fancy_size; before = p->index[i++])
    if (p->index[i] <= before || p->index[i] >= end ||
        ((i + 1) % POLL_EACH == 0 && !tl_poll(vm, 0)))
      return false;
  return true;
}

// Moves items of a vector by way of a block, since the kernel does not look for
// overlap. False after tl_fail.
static bool move_items(tl_vm *vm, char *data, size_t itemsize,
                       const int64_t *index, int64_t count) {
  _Alignas(64) char block[BLOCK * sizeof(tl_c128)];
  for (int64_t i = 0; i < count; i += BLOCK) {
    size_t n = (size_t)(count - i < BLOCK ? count - i : BLOCK);
    if ((i + BLOCK) % POLL_EACH == 0 && !tl_poll_over(vm))
      return false;
    tl_kernels()->take[tl_move_size(itemsize)](block, data, (ptrdiff_t)itemsize,
                                               index + i, n);
    memcpy(data + (size_t)i * itemsize, block, n * itemsize);
  }
  return true;
}

// Moves whole rows, which may be long.
static bool move_rows(tl_vm *vm, char *data, size_t row, const int64_t *index,
                      int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (!tl_move_bytes(vm, data + (size_t)i * row,
                       data + (size_t)index[i] * row, row) ||
        ((row >= 1 << 14 || i % 64 == 0) && !tl_poll_over(vm)))
      return false;
  return true;
}

// The same for the index array.
bool tl_gather_in_place(tl_vm *vm, tl_slot *base, const tl_selection *s,
                        tl_slot *out) {
  tl_array *a = base->array;
  tl_dtype dtype = tl_array_dtype(a);
  if (dtype == TL_STRING || !keeps_order(vm, a, s) ||
      (tl_is_array(s->keep) && tl_arrays_overlap(a, s->keep.array)) ||
      !tl_array_resizes(vm, *base) ||
      (a->size >= POLL_EACH && !tl_poll(vm, (uint64_t)a->size / 1024)))
    return false;
  const int64_t *index = s->positions.index;
  int64_t shape[TL_MAX_DIMS];
  size_t row = (size_t)s->positions.stride;
  if (!(s->ndim == 0 ? move_items(vm, a->data, row, index, s->fancy_size)
                     : move_rows(vm, a->data, row, index, s->fancy_size)))
    return false;
  shape[0] = s->fancy_size;
  memcpy(shape + 1, s->shape, (size_t)s->ndim * sizeof *shape);
  *out = tl_own_array(tl_array_narrow(vm, base, dtype, s->ndim + 1, shape));
  return true;
}
