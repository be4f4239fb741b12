// Counting: who owns an object, and what happens when nobody does any more.

#include "vm/value.h"

#include <stdio.h>
#include <string.h>

#include "vm/array/array.h"
#include "vm/interp/function.h"
#include "vm/api/host.h"
#include "vm/values/list.h"
#include "vm/nested/nested.h"
#include "vm/values/record.h"
#include "vm/vm.h"

// --- Scalars ----------------------------------------------------------------

static uint64_t bits_of(const void *item, size_t nbytes) {
  uint64_t bits = 0;
  memcpy(&bits, item, nbytes);
  return bits;
}

tl_slot tl_scalar_load(tl_dtype dtype, const void *item) {
  tl_slot s = {.tag = TL_TAG(tl_scalar_class(dtype), dtype), .u = 0};
  switch (dtype) {
    case TL_INT8:
      s.i = *(const int8_t *)item;
      break;
    case TL_INT16:
      s.i = *(const int16_t *)item;
      break;
    case TL_INT32:
      s.i = *(const int32_t *)item;
      break;
    case TL_BOOL:
      s.i = *(const uint8_t *)item != 0;
      break;
    case TL_UINT8:
      s.u = *(const uint8_t *)item;
      break;
    case TL_UINT16:
      s.u = *(const uint16_t *)item;
      break;
    case TL_UINT32:
      s.u = *(const uint32_t *)item;
      break;
    case TL_FLOAT32:
      s.f32 = *(const float *)item;
      break;
    case TL_COMPLEX64:
      s.c64 = *(const tl_c64 *)item;
      break;
    default:
      s.u = bits_of(item, sizeof s.u);
      break;
  }
  return s;
}

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
    case TL_FLOAT32:
      *(float *)item = s.f32;
      break;
    case TL_COMPLEX64:
      *(tl_c64 *)item = s.c64;
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

tl_slot tl_retain(tl_vm *vm, tl_slot s) {
  if (!tl_is_counted(s))
    return tl_borrow(s);
  // A count that is full stays so, and the object is never freed.
  if (s.object->count != UINT32_MAX)
    s.object->count++;
  vm->stats.rc_inc++;
  vm->stats.refs_immediate++;
  s.tag |= TL_OWNED;
  // What has two owners borrows nothing.
  if ((s.object->flags & TL_LENT) != 0)
    tl_keep_items(vm, s.object);
  return s;
}

static uint64_t *promotions(tl_vm *vm, tl_cause cause) {
  tally_stats *stats = &vm->stats;
  switch (cause) {
    case TL_CAUSE_ITEM:
      return &stats->promotions_item;
    case TL_CAUSE_FIELD:
      return &stats->promotions_field;
    case TL_CAUSE_CAPTURE:
      return &stats->promotions_capture;
    case TL_CAUSE_GLOBAL:
      return &stats->promotions_global;
    case TL_CAUSE_HOST:
      return &stats->promotions_host;
    case TL_CAUSE_VIEW:
      return &stats->promotions_view;
    case TL_CAUSE_KEEP:
      return &stats->promotions_keep;
    case TL_CAUSE_UNWIND:
      return &stats->promotions_unwind;
    default:
      return &stats->promotions_call;
  }
}

// Whether [s] is a view of less than an eighth of a block of some size that
// nothing else keeps: then a copy lets the block go.
static bool hoards(tl_slot s) {
  enum { SMALL = 4096 };
  const tl_array *a = s.array;
  if (a->head.count != 1 || (a->head.flags & TL_HOLD) == 0)
    return false;
  const tl_array *owner = tl_array_owner(a);
  if (owner->head.count != 1 || owner->head.flags & TL_IMMORTAL)
    return false;
  size_t all = (size_t)owner->size * tl_itemsize(tl_array_dtype(owner));
  size_t part = (size_t)a->size * tl_itemsize(tl_array_dtype(a));
  return all >= SMALL && part < all / 8;
}

// The same of a nested array.
static bool nest_hoards(tl_slot s) {
  enum { SMALL = 4096 };
  if (s.object->count != 1)
    return false;
  int64_t held = tl_value_held(s);
  return held >= SMALL && tl_value_shown(s) < held / 8 &&
         tl_nested_keeps_alone(s.nested);
}

// Copies the view out and lets go of it; without memory it stays as it is.
static tl_slot copy_out(tl_vm *vm, tl_slot s) {
  bool failed = tl_failed(vm);
  tl_slot copy = tl_none();
  bool ok;
  if (tl_is_nested(s)) {
    ok = tl_nested_copy(vm, s, &copy);
  } else {
    tl_array *a = tl_array_copy(vm, s.array);
    ok = a != NULL;
    if (ok)
      copy = tl_own_array(a);
  }
  if (!ok) {
    if (!failed)
      tl_error_clear(vm);
    return s;
  }
  tl_drop(vm, s);
  return copy;
}

void tl_let_go(tl_vm *vm, tl_slot *s) {
  if (tl_is_array(*s) ? tl_is_view(s->array) && hoards(*s)
                      : tl_is_nested(*s) && nest_hoards(*s))
    *s = copy_out(vm, *s);
}

tl_slot tl_escape(tl_vm *vm, tl_slot *s, tl_cause cause) {
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
  if ((out.object->flags & TL_LENT) != 0) {
    tl_keep_items(vm, out.object);
  } else if (tl_is_array(out) && tl_is_view(out.array)) {
    tl_hold(vm, out, TL_CAUSE_VIEW);
    if (hoards(out)) {
      out = copy_out(vm, out);
      // The slot may be read again as long as it does not own.
      s->tag = tl_borrow(out).tag;
      s->array = out.array;
    }
  } else if (tl_is_nested(out) && nest_hoards(out)) {
    out = copy_out(vm, out);
    *s = tl_borrow(out);
  }
  return out;
}

// --- Death ------------------------------------------------------------------
//
// What dies may refer to what dies with it, a million deep. The walk needs no
// C stack and no memory: a container that is left for one of its items keeps,
// in the place of its first item, who it was entered from and where to go on.
// That place is free by then: items are taken out in order.

// The slots of a container, [step] bytes apart.
typedef struct items {
  char *first;
  size_t step;
  uint64_t count;
} items;

#define ITEMS(array, count) \
  ((items){(char *)(array), sizeof(*(array)), (uint64_t)(count)})

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
    case TL_KIND_NATIVE: {
      tl_native *native = (tl_native *)object;
      return ITEMS(native->values, native->count);
    }
    case TL_KIND_NESTED: {
      tl_nested *nested = (tl_nested *)object;
      return ITEMS(nested->parts, nested->count);
    }
    default:
      return (items){NULL, 0, 0};
  }
}

static tl_slot *item_at(items list, uint64_t index) {
  return (tl_slot *)(void *)(list.first + index * list.step);
}

// Takes one count away; true if it was the last.
static bool release(tl_vm *vm, tl_object *object) {
  if (object->count == 1)
    return true;
  if (object->count != UINT32_MAX)
    object->count--;
  vm->stats.rc_dec++;
  vm->stats.rc_immortal_touched += (object->flags & TL_IMMORTAL) != 0;
  return false;
}

static void drop_key(tl_vm *vm, tl_object *object, uint64_t index) {
  if (object->kind != TL_KIND_RECORD)
    return;
  tl_string *key = ((tl_record *)object)->fields[index].key;
  if ((key->head.flags & TL_IMMORTAL) == 0 && release(vm, &key->head))
    tl_object_free(vm, &key->head);
}

// Frees what holds no items itself.
static void free_leaf(tl_vm *vm, tl_object *object) {
  if (object->kind == TL_KIND_ARRAY)
    tl_array_free(vm, (tl_array *)object);
  else if (object->kind == TL_KIND_HANDLE)
    tl_resource_free(vm, (tl_resource *)object);
  else
    tl_object_free(vm, object);
}

static void free_nest(tl_vm *vm, tl_object *object) {
  tl_object *parent = NULL;
  uint64_t index = 0;
  for (;;) {
    items list = items_of(object);
    if (index < list.count) {
      drop_key(vm, object, index);
      tl_slot item = *item_at(list, index++);
      if (!tl_is_owned(item) || !release(vm, item.object))
        continue;
      if (items_of(item.object).count == 0) {
        free_leaf(vm, item.object);
        continue;
      }
      *item_at(list, 0) = (tl_slot){.tag = index, .object = parent};
      parent = object;
      object = item.object;
      index = 0;
    } else {
      free_leaf(vm, object);
      if (parent == NULL)
        return;
      object = parent;
      const tl_slot *note = item_at(items_of(object), 0);
      index = note->tag;
      parent = note->object;
    }
  }
}

void tl_drop(tl_vm *vm, tl_slot s) {
  if (!tl_is_owned(s) || !release(vm, s.object))
    return;
  if (tl_is_array(s))
    tl_array_free(vm, s.array);
  else
    free_nest(vm, s.object);
}

// --- Names ------------------------------------------------------------------

const char *tl_kind_name(int kind) {
  switch (kind) {
    case TL_KIND_NONE:
      return "none";
    case TL_KIND_UNSET:
      return "unset";
    case TL_KIND_STRING:
      return "string";
    case TL_KIND_LIST:
      return "list";
    case TL_KIND_RECORD:
      return "record";
    case TL_KIND_RANGE:
      return "range";
    case TL_KIND_TYPE:
      return "type";
    case TL_KIND_MODULE:
      return "module";
    case TL_KIND_HANDLE:
      return "handle";
    default:
      return "function";
  }
}

const char *tl_describe(tl_slot s, char *buffer, size_t size) {
  if (tl_is_nested(s)) {
    tl_nested_describe(s.nested, buffer, size);
    return buffer;
  }
  if (!tl_is_array(s)) {
    const char *name = tl_is_scalar(s) ? tl_dtypes[tl_dtype_of(s)].name
                       : tl_is_resource(s)
                           ? ((const tl_resource *)s.pointer)->type->name
                           : tl_kind_name(tl_dtype_of(s));
    snprintf(buffer, size, "%s", name);
    return buffer;
  }
  const tl_array *a = s.array;
  const char *name = tl_dtypes[a->head.dtype].name;
  size_t at = 0;
  buffer[0] = 0;
  for (int i = 0; i < tl_ndim(a); i++) {
    // Room for a dimension, the mark of omission and the longest dtype.
    if (at + 24 + 8 + strlen(name) >= size) {
      at += (size_t)snprintf(buffer + at, size - at, "... * ");
      break;
    }
    at += (size_t)snprintf(buffer + at, size - at, "%lld * ",
                           (long long)tl_shape(a)[i]);
  }
  snprintf(buffer + at, size - at, "%s", name);
  return buffer;
}
