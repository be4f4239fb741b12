// Views: arrays over another array's block, and who counts that block.
//
//   borrowed   no TL_HOLD: the compiler has proved that the base outlives it
//   holding    TL_HOLD: the view has a count of the block's owner
//
// A view of a view refers to the owner of the block, never to the view
// between, so that no chain builds up. A view that is stored gets its hold
// (retain_block) and is copied where it would keep a large block alive for a
// few items (tl_let_go).

#include "vm/array/nested.h"
#include "vm/array/reuse.h"
#include "vm/array/string_item.h"
#include "vm/objects.h"

// Moves base's share of the block over to [view]; base no longer owns. Where
// base is a view that others have too, the block gets one more count.
static void take_hold(tl_vm *vm, tl_slot *base, tl_array *view) {
  TL_CHECK(tl_is_owned(*base));
  tl_array *from = base->array;
  base->tag &= ~TL_OWNED;
  if (!tl_is_view(from)) {
    view->head.flags |= TL_HOLD;  // the count that base owned
    return;
  }
  // The base dies here, so its hold moves; nothing is counted.
  if (from->head.count == 1) {
    view->head.flags |= from->head.flags & TL_HOLD;
    from->head.flags &= (uint8_t)~TL_HOLD;
  } else if ((from->head.flags & TL_HOLD) != 0) {
    tl_hold(vm, tl_lend_array(view), TL_CAUSE_VIEW);
  }
  tl_drop(vm, (tl_slot){.tag = base->tag | TL_OWNED, .array = from});
}

// Whether the strides are those of items without gaps, the axes in any order.
// An axis of one item has none; of the others each is longer than the last.
static bool fills_block(int ndim, const int64_t *shape, const int64_t *strides,
                        int64_t itemsize) {
  int64_t stride = itemsize;
  int left = 0, at;
  for (int i = 0; i < ndim; i++) left += shape[i] != 1;
  for (; left > 0; left--, stride *= shape[at]) {
    for (at = 0; at < ndim; at++)
      if (shape[at] != 1 && strides[at] == stride)
        break;
    if (at == ndim)
      return false;
  }
  return true;
}

// Whether so many items take at least half of the array's block: fewer are a
// view, whose block ends when it is stored (tl_let_go).
static bool is_most(const tl_array *a, int64_t size) {
  return (size_t)size * tl_itemsize(tl_array_dtype(a)) >= a->head.nbytes / 2;
}

// Whether the geometry is all of the items or a run of most of them, and the
// block this slot's alone: then the array itself can take on the new shape, and
// may still be written in place and go on behind its items. reshape(temporary,
// …) is such a case, temporary.T, and x = x[1:]. The shape has to fit the
// header.
static bool may_relabel(const tl_vm *vm, tl_slot base, tl_dtype dtype,
                        const char *data, int ndim, const int64_t *shape,
                        const int64_t *strides) {
  // A stop is seen between so many strings that are let go.
  enum { AT_ONCE = 1 << 16 };
  if (!tl_is_dying(vm, base))
    return false;
  const tl_array *a = base.array;
  const int64_t size = tl_shape_count(ndim, shape);
  // The new dimensions must fit before the data.
  const int64_t *end = a->dims + 2 * ndim;
  return (a->head.flags & TL_EXTERNAL) == 0 && dtype == tl_array_dtype(a) &&
         (const char *)end <= data && size > 0 &&
         (size == a->size
              ? data == a->data
              : is_most(a, size) && (base.tag & TL_DENSE) != 0 &&
                    (dtype != TL_STRING || a->size - size <= AT_ONCE)) &&
         fills_block(ndim, shape, strides, (int64_t)tl_itemsize(dtype));
}

// Lets the strings go that lie outside a run of the array's items.
static void drop_outside(tl_vm *vm, tl_array *a, const char *data,
                         int64_t size) {
  tl_string_item *items = tl_string_items(a);
  int64_t before = (tl_string_item *)data - items;
  tl_string_items_drop(vm, items, before);
  tl_string_items_drop(vm, items + before + size, a->size - before - size);
}

// Gives the array the new shape and takes it over from the slot: returns it
// owned, and the slot refers to it without a count then. Strides are in bytes;
// nothing in the block moves.
static tl_array *relabel(tl_vm *vm, tl_slot *base, char *data, int ndim,
                         const int64_t *shape, const int64_t *strides) {
  TL_CHECK(tl_is_owned(*base));
  tl_array *a = base->array;
  const int64_t size = tl_shape_count(ndim, shape);
  if (size < a->size && a->head.dtype == TL_STRING)
    drop_outside(vm, a, data, size);
  a->data = data;
  a->size = size;
  // Both may be the array's own dimensions.
  int64_t dims[2 * TL_MAX_DIMS];
  size_t nbytes = (size_t)ndim * sizeof *shape;
  memcpy(dims, shape, nbytes);
  memcpy(dims + ndim, strides, nbytes);
  memcpy(a->dims, dims, 2 * nbytes);
  a->head.ndim = (uint8_t)ndim;
  base->tag &= ~TL_OWNED;
  return a;
}

// The header of a view is small: the block's owner is all that it has besides
// the geometry.
tl_array *tl_view_new(tl_vm *vm, tl_slot *base, tl_dtype dtype, char *data,
                      int ndim, const int64_t *shape, const int64_t *strides) {
  TL_CHECK(tl_is_array(*base));
  TL_CHECK(ndim >= 0 && ndim <= TL_MAX_DIMS);
  TL_CHECK(dtype < TL_DTYPE_COUNT);
  if (may_relabel(vm, *base, dtype, data, ndim, shape, strides))
    return relabel(vm, base, data, ndim, shape, strides);
  // A view has the owner alone of tl_array_extra.
  size_t nbytes =
      sizeof(tl_array) + 2 * (size_t)ndim * sizeof *shape + sizeof(tl_array *);
  tl_array *view = tl_object_new(vm, TL_KIND_ARRAY, nbytes, "a view");
  if (view == NULL)
    return NULL;
  // A view of a read-only array is read-only too.
  const tl_array *from = base->array;
  view->head.flags = (uint8_t)(TL_VIEW | (from->head.flags & TL_READONLY));
  view->head.dtype = (uint8_t)dtype;
  view->head.ndim = (uint8_t)ndim;
  view->data = data;
  tl_set_dims(view, ndim, shape, strides);
  tl_array_more(view)->owner = tl_array_owner(from);
  if (tl_is_owned(*base))
    take_hold(vm, base, view);
  return view;
}

bool tl_view(tl_vm *vm, tl_slot *base, char *data, int ndim,
             const int64_t *shape, const int64_t *strides, tl_slot *out) {
  return tl_array_give(tl_view_new(vm, base, tl_array_dtype(base->array), data,
                                   ndim, shape, strides),
                       out);
}

// The part is a view that borrows the new array, which the caller owns
// throughout.
bool tl_assign_part(tl_vm *vm, tl_array *to, char *data, int ndim,
                    const int64_t *shape, const int64_t *strides,
                    const tl_array *from) {
  tl_array *cast = NULL;
  if (tl_array_dtype(from) != tl_array_dtype(to)) {
    from = cast = tl_array_cast(vm, from, tl_array_dtype(to));
    if (cast == NULL)
      return false;
  }
  tl_slot base = tl_lend_array(to), part;
  bool ok = tl_view(vm, &base, data, ndim, shape, strides, &part) &&
            tl_drop_after(vm, tl_array_fill(vm, part.array, from), &part);
  tl_array_drop(vm, cast);
  return ok;
}

// Counts the block of a view that is stored somewhere, once. [cause] is for
// the statistics of counted values.
static void retain_block(tl_vm *vm, tl_array *view, tl_cause cause) {
  if (!tl_is_view(view) || (view->head.flags & TL_HOLD) != 0)
    return;
  tl_array *owner = tl_array_more(view)->owner;
  view->head.flags |= TL_HOLD;
  // Constants live as long as their module: nothing to count.
  if ((owner->head.flags & TL_IMMORTAL) != 0)
    return;
  tl_retain(vm, tl_lend_array(owner));
  if (vm->counting)
    (&vm->stats.promotions_item)[cause]++;
}

// Whether [s] shows less than an eighth of a large block that nothing else
// needs: then a copy of the part lets the block go. Of nested arrays the blocks
// of all parts count.
static bool wastes_its_block(tl_slot s) {
  enum { SMALL = 4096 };  // below it blocks are not worth a copy
  if (s.object->count != 1)
    return false;
  if (tl_is_array(s)) {
    const tl_object *owner = &tl_array_owner(s.array)->head;
    if ((s.array->head.flags & TL_HOLD) == 0 || owner->count != 1 ||
        (owner->flags & TL_IMMORTAL) != 0)
      return false;
  }
  int64_t held = tl_value_held(s);
  return held >= SMALL && tl_value_shown(s) < held / 8 &&
         (tl_is_array(s) || tl_nested_keeps_alone(s.nested));
}

// Replaces the view by a copy of its items, so that its block ends. Where
// memory is short the view stays, without an error: it is as good a value.
static tl_slot copy_out(tl_vm *vm, tl_slot s) {
  TL_CHECK(tl_is_owned(s));
  // An error that is pending already stays.
  bool failed = tl_failed(vm);
  tl_slot copy;
  if (!(tl_is_nested(s) ? vm->nested->copy(vm, s, &copy)
                        : tl_array_give(tl_array_copy(vm, s.array), &copy))) {
    if (!failed)
      tl_error_clear(vm);
    return s;
  }
  tl_drop(vm, s);
  return copy;
}

// Called where a value is stored for longer than the call that made it.
void tl_let_go(tl_vm *vm, tl_slot *s) {
  if ((tl_is_array(*s) ? tl_is_view(s->array) : tl_is_nested(*s)) &&
      wastes_its_block(*s))
    *s = copy_out(vm, *s);
}

// What happens to a value that is stored in a container or a global: its block
// is counted, or copied out of where it would hoard memory.
static tl_slot keep(tl_vm *vm, tl_slot s) {
  if (tl_is_array(s))
    retain_block(vm, s.array, TL_CAUSE_VIEW);
  tl_let_go(vm, &s);
  return s;
}

const struct tl_array_ops tl_array_ops = {
    .free = tl_array_free,
    .retain_block = retain_block,
    .keep = keep,
};
