// The instructions that move ownership between slots. The compiler puts them in
// (compiler/resolve_borrows.c), the verifier proves them
// (verify/verify_state.c).
//
// Each is about two slots: x, the owner of a borrow, is about to end or change,
// and y borrows from it. What relation they have decides which instruction:
//
//     y is x itself        SETTLE         x's owned bit moves to y
//     y is an item of x    KEEP, INHERIT  y gets a count, or x's own count of
//                                         it
//     y views x's block    HOLD, DETACH   the view counts the block, or gets a
//                                         copy
//     y borrows items      KEEPOF         its container gets counts of them
//     not known            LEAVE          finds out which of these it is
//
// Only one bit says at run time whether x owns at all. Each function tests it
// first, because x may be dangling when the bit is not set: then some other
// slot owns the object, and nothing has to be done.

#include "vm/interp/interp.h"
#include "vm/values/list.h"
#include "vm/values/record.h"

// Each tests x's bit first: x may be dangling when it is not set.

// Only a pointer comparison says whether y is x on this path.
void tl_do_settle(tl_slot *x, tl_slot *y) {
  if (!tl_is_owned(*x) || tl_is_owned(*y) || !tl_is_heap(*y))
    return;
  if (x->pointer != y->pointer)
    return;
  // The object's count does not change: it has another owner.
  y->tag |= TL_OWNED;
  x->tag &= ~TL_OWNED;
}

// Makes a slot an owner with a count of its own.
static void promote(tl_vm *vm, tl_slot *s) {
  if (tl_is_owned(*s))
    return;
  *s = tl_retain(vm, *s);
  vm->stats.promotions_keep += tl_is_owned(*s);
}

// The number of items of a list, or fields of a record; 0 of anything else.
static int64_t item_count(const tl_slot *x) {
  return tl_is_list(*x)     ? x->list->length
         : tl_is_record(*x) ? x->record->length
                            : 0;
}

// An item of a list, or the value of a record's field.
static tl_slot *item_at(const tl_slot *x, int64_t i) {
  return tl_is_list(*x) ? &x->list->items[i] : &x->record->fields[i].value;
}

// Whether the object may own other objects: strings and arrays of numbers that
// own their block do not.
static bool has_items(tl_slot s) {
  return tl_is_heap(s) && !tl_is_string(s) &&
         !(tl_is_array(s) && !tl_is_view(s.array) &&
           tl_array_dtype(s.array) < TL_STRING);
}

static bool may_keep_within(const tl_slot *x, const tl_slot *y, int *left);

// Whether y may be the record's key itself, or lie in a list that is the key.
static bool key_may_keep(tl_key key, const tl_slot *y, int *left) {
  tl_slot own = tl_key_counted(key);
  return !tl_is_none(own) &&
         (own.pointer == y->pointer || may_keep_within(&own, y, left));
}

// Whether y may be owned by something inside x. What x itself borrows counts
// not: y borrows from its owner, too. *left is the budget of items to look at;
// when it is used up the answer is yes.
static bool may_keep_within(const tl_slot *x, const tl_slot *y, int *left) {
  if (!(tl_is_list(*x) || tl_is_record(*x)))
    return has_items(*x);
  bool lends = (x->object->flags & (TL_BORROWED | TL_KEEPING)) == TL_BORROWED;
  int64_t count = item_count(x);
  // Of more items than may be looked at the answer is yes, whatever they are.
  if (count > *left)
    return true;
  for (int64_t i = 0; i < count; i++) {
    const tl_slot *item = item_at(x, i);
    if (--*left < 0 ||
        (tl_is_record(*x) && key_may_keep(x->record->fields[i].key, y, left)))
      return true;
    if (!tl_is_heap(*item) || (lends && !tl_is_owned(*item)))
      continue;
    if (item->pointer == y->pointer ||
        (has_items(*item) && may_keep_within(item, y, left)))
      return true;
  }
  return false;
}

enum { FEW = 16 };  // items that are looked at

// Whether y may be x, or owned by x or by what is in it. Exact where x has few
// items in all, else true.
static bool may_keep(const tl_slot *x, const tl_slot *y) {
  int left = FEW;
  return x->pointer == y->pointer || may_keep_within(x, y, &left);
}

// Where x does not own, its end frees nothing, so y needs no count; and where y
// owns already it has one.
void tl_do_keep(tl_vm *vm, const tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) && !tl_is_owned(*y) && tl_is_heap(*y) && may_keep(x, y))
    promote(vm, y);
}

// If y is an item of x, which ends, or of a container that only x owns: y
// becomes the owner in the item's place, so that no count is written. Only the
// first items are looked at, as [left] says.
//
// The container from which the count was taken only borrows the item from now
// on, and so do those that it is in, as others may take them out of x: they are
// marked TL_BORROWED. TL_KEEPING tells others who borrow that item not to take
// it for one that x borrows.
//
// The search begins at item *from, and leaves there the place behind the one
// where it was found: a slice borrows one item behind the other.
static bool inherit_within(const tl_slot *x, tl_slot *y, int64_t *from,
                           int *left) {
  if (x->object->count != 1)
    return false;
  int64_t count = item_count(x);
  for (int64_t k = 0, i = *from; k < count && --*left >= 0; k++, i++) {
    if (i >= count)
      i = 0;
    tl_slot *item = item_at(x, i);
    if (!tl_is_owned(*item))
      continue;
    bool is_y = item->pointer == y->pointer;
    if (is_y) {
      item->tag &= ~TL_OWNED;
      y->tag |= TL_OWNED;
    }
    if (is_y || inherit_within(item, y, &(int64_t){0}, left)) {
      x->object->flags |= TL_BORROWED | TL_KEEPING;
      *from = i + 1;
      return true;
    }
  }
  return false;
}

// Whether y took over a count from x or from within it; *from as above.
static __attribute__((noinline)) bool inherit(tl_vm *vm, const tl_slot *x,
                                              tl_slot *y, int64_t *from) {
  int left = 4 * FEW;
  if (!inherit_within(x, y, from, &left))
    return false;
  // If counts of y's own items were given away earlier, y may not go on
  // borrowing them: it gets its own.
  const unsigned given = TL_BORROWED | TL_KEEPING;
  if (tl_is_counted(*y) && (y->object->flags & given) == given)
    tl_keep_items(vm, y->object);
  return true;
}

// Visitor: the container borrows x itself, so it becomes the owner of x.
static bool inherit_whole(tl_vm *vm, tl_slot *item, tl_cause cause,
                          void *context) {
  (void)vm;
  (void)cause;
  tl_do_settle(context, item);
  return true;
}

// What ends, where in it the next item is looked for first, and how many items
// were not found in it.
typedef struct {
  const tl_slot *x;
  int64_t next;
  int misses;
} search;

// Visitor: the container borrows an item of x, so it takes that item's count;
// of items that are somewhere else only a few are looked for.
static bool inherit_item(tl_vm *vm, tl_slot *item, tl_cause cause,
                         void *context) {
  enum { MOST_MISSES = 16 };
  search *s = context;
  (void)cause;
  if (tl_is_counted(*item) && s->misses < MOST_MISSES &&
      !inherit(vm, s->x, item, &s->next))
    s->misses++;
  return true;
}

// Visitor: the item may end with x, or with an item that took x over, so the
// container gets a count of it.
static bool keep_item(tl_vm *vm, tl_slot *item, tl_cause cause, void *context) {
  const tl_slot *x = context;
  if (tl_is_counted(*item) && may_keep(x, item))
    *item = tl_escape(vm, item, cause);
  return true;
}

// Makes the container in y own whatever it borrows from x; a container with
// many items gets counts of them all, which is cheaper than looking at each.
static void keep_items_of(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (tl_lends_few(y->object)) {
    tl_each_borrowed(vm, y->object, keep_item, x);
    tl_note_kept(y->object);
  } else {
    tl_keep_items(vm, y->object);
  }
}

// The same of a list of few numbers and strings, as a pair that is a key: where
// it borrows them all from x, which is the usual case, it owns them afterwards.
static bool inherit_few(tl_vm *vm, const tl_slot *x, tl_list *y) {
  int64_t i = 0, from = 0;
  while (i < y->length && i < FEW &&
         (!tl_is_heap(y->items[i]) || tl_is_string(y->items[i])))
    i++;
  if (i < y->length)
    return false;
  for (i = 0; i < y->length; i++)
    if (tl_is_counted(y->items[i]) && !tl_is_owned(y->items[i]) &&
        !inherit(vm, x, &y->items[i], &from))
      return false;
  y->head.flags &= (uint8_t)~TL_BORROWED;
  return true;
}

// What the container in y borrows from x, which ends, becomes its own; what it
// borrows from others it goes on borrowing. Items are taken out of x only if x
// itself is not borrowed.
static void inherit_items(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (!tl_is_owned(*x) || !tl_is_counted(*y) ||
      (y->object->flags & TL_BORROWED) == 0)
    return;
  if (tl_is_list(*y) && x->pointer != y->pointer && inherit_few(vm, x, y->list))
    return;
  tl_each_borrowed(vm, y->object, inherit_whole, x);
  if (tl_is_owned(*x))
    tl_each_borrowed(vm, y->object, inherit_item, &(search){.x = x});
  keep_items_of(vm, x, y);
}

// First tries to move the count that x has of the item; where that is not
// found, y gets one of its own.
void tl_do_inherit(tl_vm *vm, const tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) &&
      (!tl_is_heap(*y) || tl_is_owned(*y) || !inherit(vm, x, y, &(int64_t){0})))
    tl_do_keep(vm, x, y);
}

// Whether the slot is a view that does not count the block it shows.
static bool borrows_block(tl_slot y) {
  return tl_is_array(y) && tl_is_view(y.array) &&
         (y.array->head.flags & TL_HOLD) == 0;
}

// If x is the very block that the view shows, its count can move; else the view
// counts the block by itself.
void tl_do_hold(tl_vm *vm, tl_slot *y, tl_slot *x) {
  if (!tl_is_owned(*x) || !borrows_block(*y))
    return;
  // x owns the very block that y shows, and ends or changes: its count moves to
  // y.
  if (x->pointer == tl_array_owner(y->array)) {
    y->array->head.flags |= TL_HOLD;  // x's count becomes the view's
    x->tag &= ~TL_OWNED;
    return;
  }
  tl_hold(vm, *y, TL_CAUSE_VIEW);
}

// As HOLD, where x ends: if x is a view of the same block with no other owner,
// its count of the block goes to y.
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

// The order matters: items and blocks are taken over while x still owns them,
// then x itself if y is x, and at last what is left of x is dropped.
void tl_do_leave(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (tl_is_heap(*y)) {
    inherit_items(vm, x, y);
    inherit_hold(vm, y, x);
    tl_do_settle(x, y);  // what came out of a container may be x itself
    tl_do_inherit(vm, x, y);
  }
  if (tl_is_owned(*x))
    tl_drop(vm, *x);
}

// The view object itself changes, so that its other borrowers see the copy,
// too. x keeps what it owns in any case.
bool tl_do_detach(tl_vm *vm, tl_slot *y, tl_slot *x) {
  if (!tl_is_owned(*x) || !borrows_block(*y))
    return true;
  tl_array *view = y->array;
  // Another object has the block, or others refer to it, too: then a count is
  // enough, since x will be copied before it is written.
  if (x->pointer != tl_array_owner(view) || x->object->count != 1) {
    tl_hold(vm, *y, TL_CAUSE_VIEW);
    return true;
  }
  tl_array *copy = tl_array_copy(vm, view);
  if (copy == NULL)
    return false;
  // The view now shows the copy, which it owns.
  view->data = copy->data;
  memcpy(tl_strides(view), tl_strides(copy),
         (size_t)tl_ndim(view) * sizeof(int64_t));
  tl_array_more(view)->owner = copy;
  view->head.flags |= TL_HOLD;
  return true;
}

// After this the owners of the items may end in any order.
void tl_do_keepall(tl_vm *vm, tl_slot *x) {
  if (tl_is_counted(*x))
    tl_keep_items(vm, x->object);
}

// A container without borrowed items has nothing to count.
void tl_do_keepof(tl_vm *vm, tl_slot *x, tl_slot *y) {
  if (tl_is_owned(*x) && tl_is_counted(*y) &&
      (y->object->flags & TL_BORROWED) != 0)
    keep_items_of(vm, x, y);
}

// Both halves of owning: the object, and the block of a view.
void tl_do_own(tl_vm *vm, tl_slot *x) {
  promote(vm, x);
  tl_hold(vm, *x, TL_CAUSE_VIEW);
}
