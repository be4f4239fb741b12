// Arrays: making and freeing them, the slots that refer to them, their items.
#include <string.h>

#include "vm/array/array.h"
#include "vm/engine/engine.h"
#include "vm/nested/nested.h"
#include "vm/api/host.h"
#include "vm/interp/promise.h"
#include "vm/values/range.h"
#include "vm/values/string_item.h"
#include "vm/vm.h"
#include "vm/api/watch.h"

// --- Strings in arrays ------------------------------------------------------

tl_string *tl_empty_string(void) {
  // The layout of a tl_string, whose text is a flexible member that standard C
  // cannot initialise.
  static struct {
    tl_object head;
    size_t length;
    uint64_t hash;
    char text[8];
  } empty = {.head = {.count = 1,
                      .kind = TL_KIND_STRING,
                      .flags = TL_IMMORTAL | TL_BYTEWISE,
                      .nbytes = sizeof empty}};
  return (tl_string *)(void *)&empty;
}

// --- Making and freeing -----------------------------------------------------

// Larger arrays have room for six dimensions, so that they can be reshaped
// where they are.
static size_t header_size(int ndim, size_t nbytes) {
  if (nbytes >= 1024 && ndim < 6) {
    ndim = 6;
  }
  size_t size = sizeof(tl_array) + 2 * (size_t)ndim * sizeof(int64_t);
  return (size + 63) & ~(size_t)63;
}

// As tl_object_new, but the data behind the header are zeros: fresh pages are
// that already.
static tl_array *zeroed_object(tl_vm *vm, size_t nbytes) {
  tl_array *a = tl_alloc_zeroed(vm, nbytes, "an array");
  if (a == NULL) {
    return NULL;
  }
  a->head = (tl_object){.count = 1, .kind = TL_KIND_ARRAY, .nbytes = nbytes};
  vm->stats.live++;
  return a;
}

static tl_array *make_array(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, bool zeros) {
  int64_t size;
  size_t nbytes, total;
  size_t itemsize = tl_itemsize(dtype);
  if (vm->has_promises && !tl_promise_keeps(vm))
    return NULL;
  if (!tl_shape_size(vm, ndim, shape, itemsize, &size, &nbytes)) {
    return NULL;
  }
  size_t header = header_size(ndim, nbytes);
  if (tl_add_overflows(header, nbytes, &total)) {
    tl_fail_memory(vm, nbytes, "an array");
    return NULL;
  }
  tl_array *a = zeros ? zeroed_object(vm, total)
                      : tl_object_new(vm, TL_KIND_ARRAY, total, "an array");
  if (a == NULL) {
    return NULL;
  }
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  a->data = (char *)a + header;
  a->size = size;
  if (ndim > 0) {
    memcpy(tl_shape(a), shape, (size_t)ndim * sizeof(int64_t));
    tl_shape_strides(ndim, shape, itemsize, tl_strides(a));
  }
  if (dtype == TL_STRING)
    tl_string_items_clear(tl_string_items(a), size);
  tl_made_fresh(vm, a);
  return a;
}

tl_array *tl_array_new(tl_vm *vm, tl_dtype dtype, int ndim,
                       const int64_t *shape) {
  return make_array(vm, dtype, ndim, shape, false);
}

tl_array *tl_array_zeros(tl_vm *vm, tl_dtype dtype, int ndim,
                         const int64_t *shape) {
  return make_array(vm, dtype, ndim, shape, true);
}

tl_array *tl_array_external(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides,
                            void *data, size_t nbytes, bool read_only,
                            void (*release)(void *context, void *data),
                            void *context) {
  int64_t size;
  size_t unused, dims = (size_t)ndim * sizeof(int64_t);
  size_t itemsize = tl_itemsize(dtype);
  if (!tl_shape_size(vm, ndim, shape, itemsize, &size, &unused) ||
      !tl_account_external(vm, nbytes)) {
    return NULL;
  }
  size_t total = sizeof(tl_array) + 2 * dims + sizeof(tl_array_extra);
  tl_array *a = tl_object_new(vm, TL_KIND_ARRAY, total, "an array");
  if (a == NULL) {
    tl_unaccount_external(vm, nbytes);
    return NULL;
  }
  a->head.flags = read_only ? TL_EXTERNAL | TL_READONLY : TL_EXTERNAL;
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  a->data = data;
  a->size = size;
  if (ndim > 0) {
    memcpy(tl_shape(a), shape, dims);
    if (strides != NULL)
      memcpy(tl_strides(a), strides, dims);
    else
      tl_shape_strides(ndim, shape, itemsize, tl_strides(a));
  }
  *tl_array_more(a) = (tl_array_extra){
      .release = release, .context = context, .nbytes = nbytes};
  return a;
}

void tl_array_free(tl_vm *vm, tl_array *a) {
  if (a->head.flags == 0 && a->head.dtype != TL_STRING) {
    vm->stats.frees++;
    tl_object_free(vm, &a->head);
    return;
  }
  if (tl_is_view(a)) {
    tl_array *owner = tl_array_more(a)->owner;
    bool counts = (a->head.flags & TL_HOLD) != 0 &&
                  (owner->head.flags & TL_IMMORTAL) == 0;
    tl_object_free(vm, &a->head);
    if (counts)
      tl_drop(vm, tl_own_array(owner));
    return;
  }
  if (a->head.dtype == TL_STRING)
    tl_string_items_drop(vm, tl_string_items(a), a->size);
  if ((a->head.flags & TL_EXTERNAL) != 0) {
    tl_array_extra *more = tl_array_more(a);
    tl_unaccount_external(vm, more->nbytes);
    void *data = a->data;
    tl_array_extra extra = *more;
    tl_object_free(vm, &a->head);
    tl_release_hook(vm, extra.release, extra.context, data);
    return;
  }
  vm->stats.frees++;
  tl_object_free(vm, &a->head);
}

// --- Slots ------------------------------------------------------------------

uint64_t tl_array_tag(const tl_array *a) {
  uint64_t tag = TL_TAG(TL_CLASS_ARRAY, a->head.dtype);
  uint64_t ndim = a->head.ndim < 7 ? a->head.ndim : 7;
  tag |= ndim << 24;
  if (tl_is_contiguous(a))
    tag |= TL_DENSE;
  // What owns its data has no gaps, except where the host's memory has some:
  // that is written through paths alone (path.c).
  enum { NOT_DIRECT = TL_VIEW | TL_READONLY | TL_IMMORTAL };
  if ((a->head.flags & NOT_DIRECT) == 0 &&
      ((tag & TL_DENSE) != 0 || (a->head.flags & TL_EXTERNAL) == 0))
    tag |= TL_DIRECT;
  return tag;
}

tl_slot tl_own_array(tl_array *a) {
  return (tl_slot){.tag = tl_array_tag(a) | TL_OWNED, .array = a};
}

bool tl_array_is_reusable(tl_slot s) {
  const uint64_t needed = TL_CLASS_ARRAY | TL_OWNED | TL_DENSE | TL_DIRECT;
  return (s.tag & needed) == needed && s.object->count == 1;
}

tl_slot tl_result(tl_vm *vm, tl_array *a) {
  tl_slot owned = tl_own_array(a);
  if (a->head.ndim > 0 || a->head.dtype == TL_COMPLEX128)
    return owned;
  tl_slot item = tl_item(vm, a, a->data);
  tl_drop(vm, owned);
  return item;
}

tl_slot tl_new_complex(tl_vm *vm, double re, double im, bool weak) {
  tl_array *a = tl_array_new(vm, TL_COMPLEX128, 0, NULL);
  if (a == NULL)
    return tl_unset();
  *(tl_c128 *)(void *)a->data = (tl_c128){re, im};
  tl_slot s = tl_own_array(a);
  if (weak)
    s.tag |= TL_WEAK;
  return s;
}

// --- Items ------------------------------------------------------------------

tl_slot tl_item(tl_vm *vm, const tl_array *a, const char *item) {
  if (a->head.dtype == TL_COMPLEX128) {
    const tl_c128 *c = (const void *)item;
    return tl_new_complex(vm, c->re, c->im, false);
  }
  if (a->head.dtype != TL_STRING) {
    return tl_scalar_load(tl_array_dtype(a), item);
  }
  return tl_string_item_value(vm, tl_string_item_at(item));
}

static bool store_string(tl_vm *vm, char *item, tl_slot value) {
  if (!tl_is_string(value)) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "cannot store %s into an array of strings",
                   tl_describe(value, text, sizeof text));
  }
  tl_string_item_put(vm, tl_string_item_at(item), value.string);
  return true;
}

bool tl_item_store(tl_vm *vm, tl_array *a, char *item, tl_slot value) {
  if (a->head.dtype == TL_STRING)
    return store_string(vm, item, value);
  if (tl_is_scalar(value) && tl_dtype_of(value) == a->head.dtype) {
    tl_scalar_store(value, item);
    return true;
  }
  return tl_scalar_convert(vm, value, tl_array_dtype(a), item);
}

// --- Values as arrays -------------------------------------------------------

static bool scalar_as_array(tl_vm *vm, tl_slot s, tl_slot *out) {
  tl_array *a = tl_array_new(vm, (tl_dtype)tl_dtype_of(s), 0, NULL);
  if (a == NULL)
    return false;
  tl_scalar_store(s, a->data);
  *out = tl_own_array(a);
  return true;
}

bool tl_as_array(tl_vm *vm, const char *function, tl_slot s, tl_slot *out) {
  if (tl_is_array(s)) {
    *out = tl_borrow(s);
    return true;
  }
  if (tl_is_scalar(s))
    return scalar_as_array(vm, s, out);
  if (tl_is_range(s)) {
    tl_array *a = tl_range_to_array(vm, s.range);
    if (a == NULL)
      return false;
    *out = tl_own_array(a);
    return true;
  }
  return tl_arg_fail(vm, function, NULL,
                     tl_is_list(s) ? "an array or a number (asarray(l) makes "
                                     "an array of a list)"
                                   : "an array or a number",
                     s);
}
