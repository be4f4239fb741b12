// The instructions that move ownership between slots: settling, keeping,
// leaving, holding, detaching, owning. The compiler puts them in
// (compiler/settle.c), the verifier proves them (verify_state.c).
#include <string.h>

#include "vm/array/array.h"
#include "vm/interp/interp.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Each tests x's bit first: x may be dangling when it is not set.

void tl_do_settle(tl_slot *x, tl_slot *y) {
  if (!tl_is_owned(*x) || tl_is_owned(*y) || !tl_is_heap(*y))
    return;
  if (x->pointer != y->pointer)
    return;
  y->tag |= TL_OWNED;
  x->tag &= ~TL_OWNED;
}

static void promote(tl_vm *vm, tl_slot *s) {
  if (tl_is_owned(*s))
    return;
  *s = tl_retain(vm, *s);
  vm->stats.promotions_keep += tl_is_owned(*s);
}

// The items of a list or record; none of anything else.
static int64_t item_count(const tl_slot *x) {
  return tl_is_list(*x)     ? x->list->length
         : tl_is_record(*x) ? x->record->length
                            : 0;
}

static tl_slot *item_at(const tl_slot *x, int64_t i) {
  return tl_is_list(*x) ? &x->list->items[i] : &x->record->fields[i].value;
}

static bool has_items(tl_slot s) {
  return tl_is_heap(s) && !tl_is_string(s) &&
         !(tl_is_array(s) && !tl_is_view(s.array) &&
           tl_array_dtype(s.array) < TL_STRING);
}

// Whether y may be owned by what is in x. What is lent to x is lent by others,
// who lend it to y, too.
static bool may_keep_within(const tl_slot *x, const tl_slot *y, int *left) {
  if (!(tl_is_list(*x) || tl_is_record(*x)))
    return has_items(*x);
  bool lends = (x->object->flags & (TL_LENT | TL_KEEPING)) == TL_LENT;
  int64_t count = item_count(x);
  for (int64_t i = 0; i < count; i++) {
    const tl_slot *item = item_at(x, i);
    if (--*left < 0 ||
        (tl_is_record(*x) && y->pointer == x->record->fields[i].key))
      return true;
    if (!tl_is_heap(*item) || (lends && !tl_is_owned(*item)))
      continue;
    if (item->pointer == y->pointer || may_keep_within(item, y, left))
      return true;
  }
  return false;
}

// Whether y may be x, or owned by x or what is in it: where x has few items in
// all, that is known.
static bool may_keep(const tl_slot *x, const tl_slot *y) {
  enum { FEW = 16 };
  int left = FEW;
  return x->pointer == y->pointer || may_keep_within(x, y, &left);
}

void tl_do_keep(tl_vm *vm, const tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) && may_keep(x, y))
    promote(vm, y);
}

// Whether y is an item of x, which ends, or of what only x has: y becomes its
// owner, without a count. Of many items the last are not looked at. A container
// within x whose item is gone only borrows that from now on, and so do those
// that it is in: others may take them out of x. x itself is marked so that
// others who borrow that item do not take it for one that is lent to x.
static bool inherit_within(const tl_slot *x, tl_slot *y, int *left) {
  if (x->object->count != 1)
    return false;
  int64_t count = item_count(x);
  for (int64_t i = 0; i < count && --*left >= 0; i++) {
    tl_slot *item = item_at(x, i);
    if (!tl_is_owned(*item))
      continue;
    bool is_y = item->pointer == y->pointer;
    if (is_y) {
      item->tag &= ~TL_OWNED;
      y->tag |= TL_OWNED;
    }
    if (is_y || inherit_within(item, y, left)) {
      x->object->flags |= TL_LENT | TL_KEEPING;
      return true;
    }
  }
  return false;
}

static bool inherit(tl_vm *vm, const tl_slot *x, tl_slot *y) {
  enum { FEW = 64 };
  int left = FEW;
  if (!inherit_within(x, y, &left))
    return false;
  // What others have taken out of it before.
  const unsigned given = TL_LENT | TL_KEEPING;
  if (tl_is_counted(*y) && (y->object->flags & given) == given)
    tl_keep_items(vm, y->object);
  return true;
}

// x itself is what the container borrows: that becomes its owner.
static bool inherit_whole(tl_vm *vm, tl_slot *item, tl_cause cause,
                          void *context) {
  tl_slot *x = context;
  (void)vm;
  (void)cause;
  if (tl_is_owned(*x) && tl_is_heap(*item) && item->pointer == x->pointer) {
    item->tag |= TL_OWNED;
    x->tag &= ~TL_OWNED;
  }
  return true;
}

// The container borrows an item of x.
static bool inherit_item(tl_vm *vm, tl_slot *item, tl_cause cause,
                         void *context) {
  (void)cause;
  if (tl_is_counted(*item))
    inherit(vm, context, item);
  return true;
}

// What may go with x, or with an item that has just taken it over.
static bool keep_item(tl_vm *vm, tl_slot *item, tl_cause cause, void *context) {
  const tl_slot *x = context;
  if (tl_is_counted(*item) && may_keep(x, item))
    *item = tl_escape(vm, item, cause);
  return true;
}

static void keep_items_of(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (tl_lends_few(y->object)) {
    tl_each_lent(vm, y->object, keep_item, x);
    tl_note_kept(y->object);
  } else {
    tl_keep_items(vm, y->object);
  }
}

// What the container in y borrows from x, which ends, becomes its own; what
// others lend it goes on borrowing. Items are taken out of x only if that goes.
static void inherit_items(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (!tl_is_counted(*y) || !tl_is_owned(*x))
    return;
  tl_each_lent(vm, y->object, inherit_whole, x);
  if (tl_is_owned(*x))
    tl_each_lent(vm, y->object, inherit_item, x);
  keep_items_of(vm, x, y);
}

void tl_do_inherit(tl_vm *vm, const tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) &&
      (!tl_is_heap(*y) || tl_is_owned(*y) || !inherit(vm, x, y)))
    tl_do_keep(vm, x, y);
}

static bool borrows_block(tl_slot y) {
  return tl_is_array(y) && tl_is_view(y.array) &&
         (y.array->head.flags & TL_HOLD) == 0;
}

void tl_do_hold(tl_vm *vm, tl_slot *y, tl_slot *x) {
  if (!tl_is_owned(*x) || !borrows_block(*y))
    return;
  if (x->pointer == tl_array_owner(y->array)) {
    y->array->head.flags |= TL_HOLD;  // x's count becomes the view's
    x->tag &= ~TL_OWNED;
    return;
  }
  tl_hold(vm, *y, TL_CAUSE_VIEW);
}

// The same where x ends: a view that only its slot has gives its hold away.
static void inherit_hold(tl_vm *vm, tl_slot *y, tl_slot *x) {
  bool gives = borrows_block(*y) && tl_is_array(*x) && tl_is_owned(*x) &&
               tl_is_view(x->array) && x->object->count == 1 &&
               (x->object->flags & TL_HOLD) != 0 &&
               tl_array_owner(x->array) == tl_array_owner(y->array);
  if (!gives) {
    tl_do_hold(vm, y, x);
    return;
  }
  y->array->head.flags |= TL_HOLD;
  x->array->head.flags &= (uint8_t)~TL_HOLD;
}

void tl_do_leave(tl_vm *vm, tl_slot *x, tl_slot *y) {
  inherit_items(vm, x, y);
  inherit_hold(vm, y, x);
  tl_do_settle(x, y);  // what came out of a container may be x itself
  tl_do_inherit(vm, x, y);
  if (tl_is_owned(*x))
    tl_drop(vm, *x);
}

// Before x is written in place: a view of it keeps what it shows. The view
// object itself changes, so that its aliases see the copy too; x keeps what it
// owns in any case.
bool tl_do_detach(tl_vm *vm, tl_slot *y, tl_slot *x) {
  if (!tl_is_owned(*x) || !borrows_block(*y))
    return true;
  tl_array *view = y->array;
  if (x->pointer != tl_array_owner(view) || x->object->count != 1) {
    tl_hold(vm, *y, TL_CAUSE_VIEW);
    return true;
  }
  tl_array *copy = tl_array_copy(vm, view);
  if (copy == NULL)
    return false;
  view->data = copy->data;
  memcpy(tl_strides(view), tl_strides(copy),
         (size_t)tl_ndim(view) * sizeof(int64_t));
  tl_array_more(view)->owner = copy;
  view->head.flags |= TL_HOLD;
  return true;
}

void tl_do_keepall(tl_vm *vm, tl_slot *x) {
  if (tl_is_counted(*x))
    tl_keep_items(vm, x->object);
}

void tl_do_keepof(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) && tl_is_counted(*y) && (y->object->flags & TL_LENT) != 0)
    keep_items_of(vm, x, y);
}

void tl_do_own(tl_vm *vm, tl_slot *x) {
  promote(vm, x);
  tl_hold(vm, *x, TL_CAUSE_VIEW);
}
