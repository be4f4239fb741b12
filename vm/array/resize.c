// Dying arrays that become longer or shorter in their own memory: append and
// concat go on behind the items, a selection moves down over them.
//
//   tl_array_resizes   may it?
//   tl_array_widen     longer, with room behind; the caller fills the new items
//   tl_array_cut       shorter, same type
//   tl_array_narrow    shorter, of another shape and dtype: the final result
//
// The allocation is header and block in one, so a resize may move both; data
// and the slot's pointer are set again after it.
//
// Built for size.

#include "vm/array/reuse.h"
#include "vm/array/string_item.h"

// External blocks belong to the host, and their size is fixed.
bool tl_array_resizes(tl_vm *vm, tl_slot s) {
  if (vm->no_reuse || !tl_is_array(s))
    return false;
  if (tl_array_is_reusable(s) && (s.array->head.flags & TL_EXTERNAL) == 0)
    return true;
  tl_refused(vm, tl_rejection_of(s), s);
  return false;
}

// Moves the items down to where those of a new array begin, if so many bytes
// have room there and at least half of that was cut off in front: so the block
// of a queue, which loses an item in front for each that comes behind, does not
// grow for ever. What is too long to move at once gets a longer block, until
// less than half of that is left: then the slice is a view, which concat copies
// in pieces with polls.
static bool moves_down(tl_array *a, size_t need) {
  enum { AT_ONCE = 16 << 20 };
  const size_t front = (size_t)(a->data - (char *)a);
  const size_t first = tl_array_header(tl_ndim(a), need);
  if (front < first || front - first < need / 2 || need > AT_ONCE ||
      first + need > a->head.nbytes)
    return false;
  memmove((char *)a + first, a->data,
          (size_t)a->size * tl_itemsize(tl_array_dtype(a)));
  a->data = (char *)a + first;
  return true;
}

// Both sizes are checked before anything changes: the length itself and with
// the room behind it.
bool tl_array_widen(tl_vm *vm, tl_slot *s, int64_t length, int64_t more) {
  tl_array *a = s->array;
  int64_t shape[TL_MAX_DIMS], size, unused, old_size = a->size;
  size_t need, room, front = (size_t)(a->data - (char *)a);
  size_t itemsize = tl_itemsize(tl_array_dtype(a));
  // A copy, since the header may move.
  memcpy(shape, tl_shape(a), (size_t)tl_ndim(a) * sizeof *shape);
  shape[0] = length;
  if (!tl_shape_size(vm, tl_ndim(a), shape, itemsize, &size, &need))
    return false;
  shape[0] = length + more;
  if (!tl_shape_size(vm, tl_ndim(a), shape, itemsize, &unused, &room))
    return false;
  if (tl_add_overflows(room, front, &room))
    return tl_fail_memory(vm, room, "an array");
  // Room behind the items is used before more is asked for, which makes a loop
  // of appends linear.
  if (front + need > a->head.nbytes && !moves_down(a, need)) {
    a = tl_realloc(vm, a, a->head.nbytes, room, "an array");
    if (a == NULL)
      return false;
    a->head.nbytes = room;
    a->data = (char *)a + front;
    s->array = a;
  }
  // An axis of one item has any stride, as x[none] leaves it.
  if (tl_shape(a)[0] <= 1) {
    int64_t stride = (int64_t)itemsize;
    for (int i = 1; i < tl_ndim(a); i++) stride *= shape[i] > 1 ? shape[i] : 1;
    tl_strides(a)[0] = stride;
  }
  a->size = size;
  tl_shape(a)[0] = length;
  if (a->head.dtype == TL_STRING && size > old_size)
    tl_string_items_clear(tl_string_items(a) + old_size, size - old_size);
  return true;
}

// Gives back what lies behind so many items of a dtype. The array may move.
static tl_array *shrink(tl_vm *vm, tl_array *a, tl_dtype dtype, int64_t size) {
  size_t front = (size_t)(a->data - (char *)a), nbytes = a->head.nbytes;
  a = tl_shrink(vm, a, &nbytes, front + (size_t)size * tl_itemsize(dtype));
  a->head.nbytes = nbytes;
  a->data = (char *)a + front;
  a->size = size;
  return a;
}

// The first axis alone changes, so strides and other dimensions stay.
void tl_array_cut(tl_vm *vm, tl_slot *s, int64_t length) {
  // Of the shape, as the strides of rows without items are those of one.
  int64_t size = length;
  for (int i = 1; i < tl_ndim(s->array); i++) size *= tl_shape(s->array)[i];
  s->array = shrink(vm, s->array, tl_array_dtype(s->array), size);
  tl_shape(s->array)[0] = length;
}

// The header keeps its place in front of the data, so the new shape fits: it
// has at most as many axes.
tl_array *tl_array_narrow(tl_vm *vm, tl_slot *s, tl_dtype dtype, int ndim,
                          const int64_t *shape) {
  int64_t dims[TL_MAX_DIMS], size = 1;
  // [shape] may point into the header, which moves.
  for (int i = 0; i < ndim; i++) size *= dims[i] = shape[i];
  tl_array *a = shrink(vm, s->array, dtype, size);
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  memcpy(tl_shape(a), dims, (size_t)ndim * sizeof *dims);
  tl_shape_strides(ndim, dims, tl_itemsize(dtype), tl_strides(a));
  *s = tl_none();
  tl_written_in_place(vm, a);
  vm->stats.temps_ended++;
  return a;
}
