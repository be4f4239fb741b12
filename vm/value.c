// Counting: who owns an object, and what happens when nobody does any more.
//
// The parts are scalars in memory (tl_scalar_load), counts (retain, escape),
// the end of an object (tl_drop), and containers that borrow their items
// (tl_borrow_item).

#include "vm/value.h"

#include "vm/bytecode/function.h"
#include "vm/host.h"
#include "vm/values/list.h"
#include "vm/objects.h"
#include "vm/half.h"
#include "vm/values/record.h"

// --- Scalars ----------------------------------------------------------------

// An item's bytes as a number.
static uint64_t bits_of(const void *item, size_t nbytes) {
  uint64_t bits = 0;
  memcpy(&bits, item, nbytes);
  return bits;
}

// What a slot has for an item. Narrow integers are widened, so that every
// integer can be read as int64 or uint64.
static uint64_t payload(tl_dtype dtype, const void *item) {
  switch (dtype) {
    case TL_INT8:
      return (uint64_t)*(const int8_t *)item;
    case TL_INT16:
      return (uint64_t)*(const int16_t *)item;
    case TL_INT32:
      return (uint64_t)*(const int32_t *)item;
    case TL_BOOL:
      return *(const uint8_t *)item != 0;
    case TL_UINT8:
      return *(const uint8_t *)item;
    case TL_UINT16:
      return *(const uint16_t *)item;
    case TL_UINT32:
      return *(const uint32_t *)item;
    case TL_FLOAT32:
      return bits_of(item, sizeof(float));
    case TL_FLOAT16: {
      const float wide = tl_half_widen(*(const uint16_t *)item);
      return bits_of(&wide, sizeof wide);
    }
    default:
      return bits_of(item, sizeof(uint64_t));
  }
}

tl_slot tl_scalar_load(tl_dtype dtype, const void *item) {
  return (tl_slot){.tag = TL_TAG(tl_scalar_class(dtype), dtype),
                   .u = payload(dtype, item)};
}

// Writes as many bytes as the dtype's item has.
void tl_scalar_store(tl_slot s, void *item) {
  switch (tl_dtype_of(s)) {
    case TL_BOOL:
      *(uint8_t *)item = s.i != 0;
      break;
    case TL_INT8:
      *(int8_t *)item = (int8_t)s.i;
      break;
    case TL_INT16:
      *(int16_t *)item = (int16_t)s.i;
      break;
    case TL_INT32:
      *(int32_t *)item = (int32_t)s.i;
      break;
    case TL_UINT8:
      *(uint8_t *)item = (uint8_t)s.u;
      break;
    case TL_UINT16:
      *(uint16_t *)item = (uint16_t)s.u;
      break;
    case TL_UINT32:
      *(uint32_t *)item = (uint32_t)s.u;
      break;
    case TL_FLOAT16:
      *(uint16_t *)item = tl_half_round(s.f32);
      break;
    case TL_FLOAT32:
      *(float *)item = s.f32;
      break;
    default:
      memcpy(item, &s.u, sizeof s.u);
      break;
  }
}

// --- Counts -----------------------------------------------------------------

// Whether the slot refers to something whose count is kept at all. The kinds
// tested first have no object header, or one that lives as long as its unit.
bool tl_is_counted(tl_slot s) {
  if (!tl_is_heap(s))
    return false;
  if (!tl_is_array(s)) {
    switch (tl_dtype_of(s)) {
      case TL_KIND_BUILTIN:
      case TL_KIND_FUNCTION:
      case TL_KIND_TYPE:
      case TL_KIND_MODULE:
        return false;
      default:
        break;
    }
  }
  return (s.object->flags & TL_IMMORTAL) == 0;
}

// Who stores a value calls tl_escape, which needs this only for what was
// borrowed.
tl_slot tl_retain(tl_vm *vm, tl_slot s) {
  TL_CHECK(!tl_is_counted(s) || s.object->count > 0);
  if (!tl_is_counted(s))
    return tl_borrow(s);
  // A count that is full stays full, and the object is never freed.
  if (s.object->count != UINT32_MAX)
    s.object->count++;
  vm->stats.rc_inc++;
  vm->stats.refs_immediate++;
  s.tag |= TL_OWNED;
  // With two owners nobody knows for how long the container lives, so it needs
  // counts of its items.
  if ((s.object->flags & TL_BORROWED) != 0)
    tl_keep_items(vm, s.object);
  return s;
}

// The counter of a cause.
static uint64_t *promotions(tl_vm *vm, tl_cause cause) {
  static const size_t at[TL_CAUSE_COUNT] = {
      [TL_CAUSE_ITEM] = offsetof(tally_stats, promotions_item),
      [TL_CAUSE_FIELD] = offsetof(tally_stats, promotions_field),
      [TL_CAUSE_CAPTURE] = offsetof(tally_stats, promotions_capture),
      [TL_CAUSE_GLOBAL] = offsetof(tally_stats, promotions_global),
      [TL_CAUSE_HOST] = offsetof(tally_stats, promotions_host),
      [TL_CAUSE_VIEW] = offsetof(tally_stats, promotions_view),
      [TL_CAUSE_CALL] = offsetof(tally_stats, promotions_call),
      [TL_CAUSE_KEEP] = offsetof(tally_stats, promotions_keep),
      [TL_CAUSE_UNWIND] = offsetof(tally_stats, promotions_unwind)};
  return (uint64_t *)(void *)((char *)&vm->stats + at[cause]);
}

// Three tests, one after the other:
//
//   does the slot own?          then its count moves, and nothing is written
//   a container that borrows?   it gets counts of its items
//   a view or nested array?     it gets a count of its block, or is copied
tl_slot tl_escape(tl_vm *vm, tl_slot *s, tl_cause cause) {
  TL_CHECK(!tl_is_owned(*s) || s->object->count > 0);
  tl_slot out = *s;
  if (tl_is_owned(out)) {
    s->tag &= ~TL_OWNED;
    if (vm->counting)
      vm->stats.moves++;
  } else {
    out = tl_retain(vm, out);
    if (!tl_is_owned(out))
      return out;
    if (vm->counting)
      ++*promotions(vm, cause);
  }
  if ((out.object->flags & TL_BORROWED) != 0) {
    tl_keep_items(vm, out.object);
  } else if (tl_is_nested(out) ||
             (tl_is_array(out) && (out.object->flags & TL_VIEW) != 0)) {
    // Stored views count their block; a small view of a large block may come
    // back as a copy.
    tl_slot kept = vm->arrays->keep(vm, out);
    if (kept.object != out.object) {
      out = kept;
      // The slot may be read again as long as it does not own.
      *s = tl_borrow(out);
    }
  }
  return out;
}

// --- Death ------------------------------------------------------------------
//
// What dies may refer to what dies with it, a million deep. The walk needs no
// C stack and no memory: a container that is left for one of its items keeps,
// in the place of its first item, who it was entered from and where to go on.
// That place is free by then: items are taken out in order.

// The slots of a container, [step] bytes apart: of records they are the values
// between the keys.
typedef struct items {
  char *first;
  size_t step;
  uint64_t count;
} items;

#define ITEMS(array, count) \
  ((items){(char *)(array), sizeof(*(array)), (uint64_t)(count)})

// The slots that the object refers to others with; none for arrays and strings.
static items items_of(tl_object *object) {
  switch (object->kind) {
    case TL_KIND_LIST: {
      tl_list *list = (tl_list *)object;
      return ITEMS(list->items, list->length);
    }
    case TL_KIND_RECORD: {
      tl_record *record = (tl_record *)object;
      items fields = ITEMS(record->fields, record->length);
      fields.first += offsetof(tl_field, value);
      return fields;
    }
    case TL_KIND_CLOSURE: {
      tl_closure *closure = (tl_closure *)object;
      return ITEMS(closure->captures, closure->capture_count);
    }
    case TL_KIND_NESTED: {
      tl_nested *nested = (tl_nested *)object;
      return ITEMS(nested->parts, nested->count);
    }
    default:
      return (items){NULL, 0, 0};
  }
}

// The slot at that index.
static tl_slot *item_at(items list, uint64_t index) {
  TL_CHECK(index < list.count);
  return (tl_slot *)(void *)(list.first + index * list.step);
}

// Takes one count away; true if that was the last one.
static bool release(tl_vm *vm, tl_object *object) {
  TL_CHECK(object->count > 0);
  if (object->count == 1)
    return true;
  if (object->count != UINT32_MAX)
    object->count--;
  vm->stats.rc_dec++;
  vm->stats.rc_immortal_touched += (object->flags & TL_IMMORTAL) != 0;
  return false;
}

// Drops a record's key. A list as a key is not deep (TL_KEY_DEPTH), so it is
// freed within the record and not by the walk.
static inline void drop_key(tl_vm *vm, tl_object *object, uint64_t index) {
  if (object->kind != TL_KIND_RECORD)
    return;
  tl_key key = ((tl_record *)object)->fields[index].key;
  if (!tl_key_is_string(key)) {
    tl_key_drop(vm, key);
    return;
  }
  tl_object *string = &tl_key_string(key)->head;
  if ((string->flags & TL_IMMORTAL) == 0 && release(vm, string))
    tl_string_free(vm, tl_key_string(key));
}

// Frees an object that holds no items itself.
static void free_leaf(tl_vm *vm, tl_object *object) {
  if (object->kind == TL_KIND_ARRAY)
    vm->arrays->free(vm, (tl_array *)object);
  else if (object->kind == TL_KIND_STRING)
    tl_string_free(vm, (tl_string *)object);
  else if (object->kind == TL_KIND_HANDLE)
    vm->host->free_resource(vm, (tl_resource *)object);
  else
    tl_object_free(vm, object);
}

enum { ASK_AFTER = 1 << 14 };  // items that are freed at once

// The index and the parent that are noted in a container's first item.
static uint64_t come_back(tl_object *object, tl_object **parent) {
  const tl_slot *note = item_at(items_of(object), 0);
  *parent = note->object;
  return note->tag;
}

bool tl_free_later(tl_vm *vm, tl_object *object) {
  if (vm->unfreed_count == TL_UNFREED || !tl_is_awaited(vm))
    return false;
  vm->unfreed[vm->unfreed_count++] = object;
  return true;
}

// Notes how far a nest is freed, if somebody waits for control; false: go on.
static bool set_aside(tl_vm *vm, tl_object *object, uint64_t index,
                      tl_object *parent) {
  vm->freed = 0;
  if (!tl_free_later(vm, object))
    return false;
  *item_at(items_of(object), 0) = (tl_slot){.tag = index, .object = parent};
  return true;
}

// Whether a list is short and owns none of its items, such as a shape: there is
// nothing to walk.
static bool is_leaf(const tl_object *object) {
  enum { SHORT = 8 };
  if (object->kind != TL_KIND_LIST || ((const tl_list *)object)->length > SHORT)
    return false;
  const tl_list *list = (const tl_list *)object;
  uint64_t tags = 0;
  for (int64_t i = 0; i < list->length; i++) tags |= list->items[i].tag;
  return (tags & TL_OWNED) == 0;
}

// Frees a container and everything that only it refers to. [object] is the
// container under way and [index] its next item. Going down into an item stores
// the way back in the container's first item, which has been dropped by then.
//
//     down    item 0 of object = (index, parent)
//             parent = object; object = item
//     up      object = parent; (index, parent) = its item 0
static void free_nest(tl_vm *vm, tl_object *object, uint64_t index,
                      tl_object *parent) {
  for (;;) {
    items list = items_of(object);
    tl_slot item = tl_none();
    const uint64_t begin = index;
    const uint64_t stop =
        list.count - index > ASK_AFTER ? index + ASK_AFTER : list.count;
    // The next item of the container under way that ends with it. A leaf needs
    // no place on the way back.
    for (; index < stop; index++) {
      drop_key(vm, object, index);
      item = *item_at(list, index);
      if (!tl_is_owned(item) || !release(vm, item.object))
        continue;
      if (!is_leaf(item.object) && items_of(item.object).count != 0)
        break;
      free_leaf(vm, item.object);
    }
    vm->freed += index - begin + 1;
    if (index < stop) {
      *item_at(list, 0) = (tl_slot){.tag = index + 1, .object = parent};
      parent = object;
      object = item.object;
      index = 0;
    } else if (index == list.count) {
      free_leaf(vm, object);
      if (parent == NULL)
        return;
      object = parent;
      index = come_back(object, &parent);
    }
    if (vm->freed >= ASK_AFTER && index > 0 &&
        set_aside(vm, object, index, parent))
      return;
  }
}

void tl_free_rest(tl_vm *vm, bool all) {
  for (int before; (before = vm->unfreed_count) > 0;) {
    tl_object *parent, *object = vm->unfreed[--vm->unfreed_count];
    if (object->kind == TL_KIND_ARRAY) {
      free_leaf(vm, object);
    } else {
      uint64_t index = come_back(object, &parent);
      free_nest(vm, object, index, parent);
    }
    if (!all && vm->unfreed_count == before)
      return;
  }
}

// Arrays and strings have no items to walk and are by far the most frequent, so
// they are tested first.
void tl_drop(tl_vm *vm, tl_slot s) {
  if (!tl_is_owned(s) || !release(vm, s.object))
    return;
  if (tl_is_array(s)) {
    vm->arrays->free(vm, s.array);
    return;
  }
  if (tl_is_string(s)) {
    tl_string_free(vm, s.string);
    return;
  }
  uint64_t live = vm->stats.live;
  if (is_leaf(s.object))
    free_leaf(vm, s.object);
  else
    free_nest(vm, s.object, 0, NULL);
  if (live - vm->stats.live > vm->stats.longest_free)
    vm->stats.longest_free = live - vm->stats.live;
}

// --- Names ------------------------------------------------------------------

// The words of the language for kinds, as messages and typeof use them.
const char *tl_kind_name(int kind) {
  static const char *const names[TL_KIND_COUNT] = {
      [TL_KIND_NONE] = "none",     [TL_KIND_UNSET] = "unset",
      [TL_KIND_STRING] = "string", [TL_KIND_LIST] = "list",
      [TL_KIND_RECORD] = "record", [TL_KIND_RANGE] = "range",
      [TL_KIND_TYPE] = "type",     [TL_KIND_MODULE] = "module",
      [TL_KIND_HANDLE] = "handle"};
  const bool is_named = kind < TL_KIND_COUNT && names[kind] != NULL;
  return is_named ? names[kind] : "function";
}

// --- Borrowed items ----------------------------------------------------------
//
// Lists, records and closures may hold items that they borrow: the compiler
// knows who owns the items and that they outlive the container, which only
// slots refer to. Before the container is stored by anything else, or an owner
// ends, it takes counts of its own.

// What the promotion of an item of a container that may borrow is counted as.
static tl_cause cause_of(const tl_object *container) {
  if (container->kind == TL_KIND_CLOSURE)
    return TL_CAUSE_CAPTURE;
  return container->kind == TL_KIND_LIST ? TL_CAUSE_ITEM : TL_CAUSE_FIELD;
}

// Whether the item is itself a container that borrows.
static bool is_borrowed(const tl_slot *item) {
  return tl_is_counted(*item) && (item->object->flags & TL_BORROWED) != 0;
}

// Whether the container has at most *left items, counting those of borrowing
// containers in it down to [depth].
static bool is_small(tl_object *container, int depth, int *left) {
  const items all = items_of(container);
  for (uint64_t i = 0; i < all.count; i++) {
    const tl_slot *item = item_at(all, i);
    if (--*left < 0 ||
        (is_borrowed(item) &&
         (depth == 0 || !is_small(item->object, depth - 1, left))))
      return false;
  }
  return true;
}

// Both are small, since the walk is repeated wherever the container is stored
// or an owner of its items ends.
bool tl_lends_few(tl_object *container) {
  enum { FEW = 32, DEPTH = 5 };
  int left = FEW;
  return is_small(container, DEPTH, &left);
}

// The same to a depth of [depth] containers.
static tl_slot *find_sole(tl_slot container, const tl_object *object,
                          int depth) {
  enum { FIRST = 32 };
  if (!tl_is_counted(container) || !tl_is_owned(container) ||
      container.object->count > 1 || container.object->kind == TL_KIND_NESTED)
    return NULL;
  const items all = items_of(container.object);
  for (uint64_t i = 0; i < all.count && i < FIRST; i++) {
    tl_slot *item = item_at(all, i), *found = NULL;
    if (tl_is_counted(*item) && item->object == object)
      return tl_is_owned(*item) && object->count == 1 ? item : NULL;
    if (depth > 0)
      found = find_sole(*item, object, depth - 1);
    if (found != NULL)
      return found;
  }
  return NULL;
}

tl_slot *tl_sole_item(tl_slot container, const tl_object *object) {
  return find_sole(container, object, 2);
}

// Inner containers first, since the outer one borrows as long as one of them
// does.
void tl_note_kept(tl_object *container) {
  const items all = items_of(container);
  bool lends = false;
  for (uint64_t i = 0; i < all.count; i++) {
    const tl_slot *item = item_at(all, i);
    if (is_borrowed(item))
      tl_note_kept(item->object);
    lends |= is_borrowed(item) || (tl_is_counted(*item) && !tl_is_owned(*item));
  }
  if (!lends)
    container->flags &= (uint8_t)~TL_BORROWED;
}

// What happens to the item, by what it is:
//
//   scalar, immortal                 stored as it is (tl_escape)
//   owned, borrows nothing itself    its count moves (tl_escape)
//   borrowed                         stored without a count
//   a container that borrows few     stored as it is, owned or borrowed
//   a container that borrows many    gets counts of its items first
//
// In the third and the fourth case [container] is marked as borrowing.
tl_slot tl_borrow_item(tl_vm *vm, tl_object *container, tl_slot *item,
                       tl_cause cause) {
  if (!tl_is_owned(*item) && !tl_is_counted(*item))
    return *item;
  if ((container->flags & TL_KEEPING) != 0)
    return tl_escape(vm, item, cause);
  bool nests = is_borrowed(item);
  // A container with many borrowed items is not walked again and again: it gets
  // counts.
  if (nests && !tl_lends_few(item->object)) {
    tl_keep_items(vm, item->object);
    nests = false;
  }
  if (tl_is_owned(*item) && !nests)
    return tl_escape(vm, item, cause);
  tl_slot stored = *item;
  if (tl_is_owned(stored))
    vm->stats.moves += vm->counting;
  // A container found inside another has no view that is not counted.
  else if (tl_is_array(stored))
    tl_hold(vm, stored, TL_CAUSE_VIEW);
  item->tag &= ~TL_OWNED;
  container->flags |= TL_BORROWED;
  return stored;
}

// Goes into owned items too, because they may be containers that borrow.
void tl_each_borrowed(tl_vm *vm, tl_object *container, tl_visit_borrowed *visit,
                      void *context) {
  if ((container->flags & TL_BORROWED) == 0)
    return;
  const items all = items_of(container);
  for (uint64_t i = 0; i < all.count; i++) {
    tl_slot *item = item_at(all, i);
    // An item that is owned is alive for certain, and may borrow in turn.
    bool alive =
        tl_is_owned(*item) || visit(vm, item, cause_of(container), context);
    if (alive && is_borrowed(item))
      tl_each_borrowed(vm, item->object, visit, context);
  }
}

// Recursion is bounded: what nests deeper than tl_lends_few looks has got
// counts when it was stored.
void tl_keep_items(tl_vm *vm, tl_object *container) {
  if ((container->flags & TL_BORROWED) == 0)
    return;
  // Marked first: a list that grows later gets counts at once and is never
  // looked through again.
  container->flags =
      (uint8_t)((container->flags & ~(unsigned)TL_BORROWED) | TL_KEEPING);
  const items all = items_of(container);
  for (uint64_t i = 0; i < all.count; i++) {
    tl_slot *item = item_at(all, i);
    if (!tl_is_owned(*item))
      *item = tl_escape(vm, item, cause_of(container));
    else if (is_borrowed(item))
      tl_keep_items(vm, item->object);
  }
}

// Of what was read of a value that ends: nothing is counted twice.
bool tl_keep_made(tl_vm *vm, tl_slot *s) {
  if (!tl_is_owned(*s))
    *s = tl_retain(vm, *s);
  tl_hold(vm, *s, TL_CAUSE_VIEW);
  return true;
}

// What may be borrowed differs by kind: an array's block, a container's items.
void tl_hold(tl_vm *vm, tl_slot s, tl_cause cause) {
  TL_CHECK(!tl_is_counted(s) || s.object->count > 0);
  if (tl_is_array(s))
    vm->arrays->retain_block(vm, s.array, cause);
  else if (tl_is_counted(s))
    tl_keep_items(vm, s.object);
}
