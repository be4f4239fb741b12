// Views: arrays over another array's block, and who keeps the block.
#include <string.h>

#include "vm/array/array.h"
#include "vm/vm.h"

tl_array *tl_array_owner(const tl_array *a) {
  return tl_is_view(a) ? tl_array_more(a)->owner : (tl_array *)a;
}

static int64_t count_items(int ndim, const int64_t *shape) {
  int64_t size = 1;
  for (int i = 0; i < ndim; i++) size *= shape[i];
  return size;
}

// Takes base's share of the block over into [view]; base no longer owns.
static void take_hold(tl_vm *vm, tl_slot *base, tl_array *view) {
  tl_array *from = base->array;
  base->tag &= ~TL_OWNED;
  if (!tl_is_view(from)) {
    view->head.flags |= TL_HOLD;  // the count that base owned
    return;
  }
  if (from->head.count == 1) {
    view->head.flags |= from->head.flags & TL_HOLD;
    from->head.flags &= (uint8_t)~TL_HOLD;
  } else if ((from->head.flags & TL_HOLD) != 0) {
    tl_slot s = {.tag = tl_array_tag(view), .array = view};
    tl_hold(vm, s, TL_CAUSE_VIEW);
  }
  tl_drop(vm, (tl_slot){.tag = base->tag | TL_OWNED, .array = from});
}

// Whether the geometry is all of the block in order, and the block this slot's
// alone: then the array itself can take the geometry on, and stays one that may
// be written in place. reshape(temporary, …) is such a case.
static bool may_relabel(const tl_vm *vm, tl_slot base, tl_dtype dtype,
                        const char *data, int ndim, const int64_t *shape,
                        const int64_t *strides) {
  const tl_array *a = base.array;
  const int64_t *end = a->dims + 2 * ndim;
  if (!tl_array_is_reusable(base) || vm->no_reuse || data != a->data ||
      (a->head.flags & TL_EXTERNAL) != 0 || dtype != tl_array_dtype(a) ||
      (const char *)end > data || count_items(ndim, shape) != a->size) {
    return false;
  }
  int64_t stride = (int64_t)tl_itemsize(dtype);
  for (int i = ndim - 1; i >= 0; i--) {
    if (strides[i] != stride && shape[i] != 1) {
      return false;
    }
    stride *= shape[i];
  }
  return a->size > 0;
}

static tl_array *relabel(tl_slot *base, int ndim, const int64_t *shape) {
  tl_array *a = base->array;
  // [shape] may point into the array's own dimensions.
  memmove(a->dims, shape, (size_t)ndim * sizeof *shape);
  a->head.ndim = (uint8_t)ndim;
  tl_shape_strides(ndim, a->dims, tl_itemsize(tl_array_dtype(a)),
                   tl_strides(a));
  base->tag &= ~TL_OWNED;
  return a;
}

tl_array *tl_view_new(tl_vm *vm, tl_slot *base, tl_dtype dtype, char *data,
                      int ndim, const int64_t *shape, const int64_t *strides) {
  if (may_relabel(vm, *base, dtype, data, ndim, shape, strides)) {
    return relabel(base, ndim, shape);
  }
  // A view has the owner alone of tl_array_extra.
  size_t dims = (size_t)ndim * sizeof(int64_t);
  size_t nbytes = sizeof(tl_array) + 2 * dims + sizeof(tl_array *);
  tl_array *view = tl_object_new(vm, TL_KIND_ARRAY, nbytes, "a view");
  if (view == NULL)
    return NULL;
  const tl_array *from = base->array;
  view->head.flags = (uint8_t)(TL_VIEW | (from->head.flags & TL_READONLY));
  view->head.dtype = (uint8_t)dtype;
  view->head.ndim = (uint8_t)ndim;
  view->data = data;
  view->size = count_items(ndim, shape);
  if (ndim > 0) {  // shape may be NULL where there are no axes
    memcpy(tl_shape(view), shape, dims);
    memcpy(tl_strides(view), strides, dims);
  }
  tl_array_more(view)->owner = tl_array_owner(from);
  if (tl_is_owned(*base))
    take_hold(vm, base, view);
  return view;
}

void tl_hold(tl_vm *vm, tl_slot s, tl_cause cause) {
  if (!tl_is_array(s)) {
    if (tl_is_counted(s))
      tl_keep_items(vm, s.object);
    return;
  }
  tl_array *a = s.array;
  if (!tl_is_view(a) || (a->head.flags & TL_HOLD) != 0)
    return;
  tl_array *owner = tl_array_more(a)->owner;
  a->head.flags |= TL_HOLD;
  if ((owner->head.flags & TL_IMMORTAL) != 0)
    return;
  tl_slot block = {.tag = tl_array_tag(owner), .array = owner};
  tl_retain(vm, block);
  if (vm->counting)
    (&vm->stats.promotions_item)[cause]++;
}
