// Dying arrays that become longer or shorter where they are: append and concat
// go on behind the items, a selection moves down over them.
#include <string.h>

#include "vm/array/array.h"
#include "vm/values/string_item.h"
#include "vm/vm.h"
#include "vm/api/watch.h"

static tl_refusal refusal_of(tl_slot s) {
  if (!tl_is_owned(s))
    return TL_REFUSED_LIVE;
  if ((s.tag & TL_DIRECT) == 0 || (s.array->head.flags & TL_EXTERNAL) != 0)
    return TL_REFUSED_EXTERNAL;
  return s.object->count != 1 ? TL_REFUSED_SHARED : TL_REFUSED_SHAPE;
}

bool tl_array_resizes(tl_vm *vm, tl_slot s) {
  if (vm->no_reuse || !tl_is_array(s))
    return false;
  if (tl_array_is_reusable(s) && (s.array->head.flags & TL_EXTERNAL) == 0)
    return true;
  tl_refused(vm, refusal_of(s), s);
  return false;
}

bool tl_array_widen(tl_vm *vm, tl_slot *s, int64_t length, int64_t more) {
  tl_array *a = s->array;
  int64_t shape[TL_MAX_DIMS], size, unused, old_size = a->size;
  size_t need, room, front = (size_t)(a->data - (char *)a);
  size_t itemsize = tl_itemsize(tl_array_dtype(a));
  memcpy(shape, tl_shape(a), (size_t)tl_ndim(a) * sizeof *shape);
  shape[0] = length;
  if (!tl_shape_size(vm, tl_ndim(a), shape, itemsize, &size, &need))
    return false;
  shape[0] = length + more;
  if (!tl_shape_size(vm, tl_ndim(a), shape, itemsize, &unused, &room))
    return false;
  if (tl_add_overflows(room, front, &room))
    return tl_fail_memory(vm, room, "an array");
  if (front + need > a->head.nbytes) {
    a = tl_realloc(vm, a, a->head.nbytes, room, "an array");
    if (a == NULL)
      return false;
    a->head.nbytes = room;
    a->data = (char *)a + front;
    s->array = a;
  }
  a->size = size;
  tl_shape(a)[0] = length;
  if (a->head.dtype == TL_STRING && size > old_size)
    tl_string_items_clear(tl_string_items(a) + old_size, size - old_size);
  return true;
}

void tl_array_cut(tl_vm *vm, tl_slot *s, int64_t length) {
  tl_array *a = s->array;
  size_t front = (size_t)(a->data - (char *)a), nbytes = a->head.nbytes;
  size_t row = (size_t)tl_strides(a)[0];
  a = tl_shrink(vm, a, &nbytes, front + (size_t)length * row);
  a->head.nbytes = nbytes;
  a->data = (char *)a + front;
  a->size = length * (int64_t)(row / tl_itemsize(tl_array_dtype(a)));
  tl_shape(a)[0] = length;
  s->array = a;
}

tl_array *tl_array_narrow(tl_vm *vm, tl_slot *s, tl_dtype dtype, int ndim,
                          const int64_t *shape) {
  tl_array *a = s->array;
  size_t itemsize = tl_itemsize(dtype), nbytes = a->head.nbytes;
  size_t front = (size_t)(a->data - (char *)a);
  int64_t dims[TL_MAX_DIMS], size = 1;
  for (int i = 0; i < ndim; i++) size *= dims[i] = shape[i];
  a = tl_shrink(vm, a, &nbytes, front + (size_t)size * itemsize);
  a->head.nbytes = nbytes;
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  a->data = (char *)a + front;
  a->size = size;
  memcpy(tl_shape(a), dims, (size_t)ndim * sizeof *dims);
  tl_shape_strides(ndim, dims, itemsize, tl_strides(a));
  *s = tl_none();
  tl_written_in_place(vm, a);
  vm->stats.temps_ended++;
  return a;
}
