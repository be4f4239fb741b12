// Making and freeing arrays, the slots that refer to them, and their items as
// values. An array is freed by tl_drop alone, which comes here through
// tl_array_ops; the four cases of tl_array_free are a plain block, a view,
// strings, and a host's block.

#include "vm/array/array.h"
#include "vm/array/reuse.h"
#include "vm/array/string_item.h"
#include "vm/memory/mapping.h"
#include "vm/objects.h"

// --- Making and freeing -----------------------------------------------------

// The bytes before the data, a multiple of 64. Larger arrays have room for six
// dimensions, so that a reshape that adds axes can write its shape into the
// header that is there (see may_relabel in view.c).
size_t tl_array_header(int ndim, size_t nbytes) {
  if (nbytes >= 1024 && ndim < 6)
    ndim = 6;
  size_t size = sizeof(tl_array) + 2 * (size_t)ndim * sizeof(int64_t);
  return (size + 63) & ~(size_t)63;
}

// As tl_object_new, but the data behind the header are zeros: fresh pages are
// that already.
static tl_array *zeroed_object(tl_vm *vm, size_t nbytes) {
  tl_array *a = tl_alloc_zeroed(vm, nbytes, "an array");
  if (a == NULL)
    return NULL;
  a->head = (tl_object){.count = 1, .kind = TL_KIND_ARRAY, .nbytes = nbytes};
  vm->stats.live++;
  return a;
}

// What an array says of its items; without strides they lie in rows.
static void set_header(tl_array *a, tl_dtype dtype, int ndim, void *data,
                       int64_t size, const int64_t *shape,
                       const int64_t *strides) {
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  a->data = data;
  a->size = size;
  if (ndim == 0)
    return;
  // Loops, since a call for one or two numbers takes longer.
  for (int i = 0; i < ndim; i++) tl_shape(a)[i] = shape[i];
  if (strides == NULL)
    tl_shape_strides(ndim, shape, tl_itemsize(dtype), tl_strides(a));
  for (int i = 0; strides != NULL && i < ndim; i++)
    tl_strides(a)[i] = strides[i];
}

// Makes header and block in one allocation. The in-place contract is asked
// first: where a function with such a contract must not allocate, this fails
// before any work is done.
// Fails (kind shape) for a shape that does not fit, (kind memory) where memory
// is short or the contract forbids it.
static tl_array *make_array(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, bool zeros) {
  TL_CHECK(dtype < TL_DTYPE_COUNT);
  TL_CHECK(ndim >= 0);
  TL_CHECK(ndim == 0 || shape != NULL);
  int64_t size;
  size_t nbytes, total;
  size_t itemsize = tl_itemsize(dtype);
  if (vm->has_contracts && !vm->observer->contract_keeps(vm))
    return NULL;
  if (!tl_shape_size(vm, ndim, shape, itemsize, &size, &nbytes))
    return NULL;
  // Header and items are one allocation, so an array is made, moved and freed
  // by one call.
  size_t header = tl_array_header(ndim, nbytes);
  if (tl_add_overflows(header, nbytes, &total)) {
    tl_fail_memory(vm, nbytes, "an array");
    return NULL;
  }
  // A string item is freed with the array, so it must be valid from the
  // beginning: zeros are the empty text.
  tl_array *a = zeros || dtype == TL_STRING
                    ? zeroed_object(vm, total)
                    : tl_object_new(vm, TL_KIND_ARRAY, total, "an array");
  if (a == NULL)
    return NULL;
  set_header(a, dtype, ndim, (char *)a + header, size, shape, NULL);
  // Observers of memory count it from here on.
  tl_made_fresh(vm, a);
  return a;
}

// Whether an array of that shape is one for make_few.
static inline bool is_few(const tl_vm *vm, tl_dtype dtype, int ndim,
                          const int64_t *shape) {
  return (unsigned)ndim - 1 < 2 && dtype != TL_STRING &&
         (uint64_t)(shape[0] | shape[ndim - 1]) >> 24 == 0 &&
         !tl_has_contracts(vm);
}

// As make_array, of rows and columns whose product cannot overflow, which most
// arrays have; a vector is one row. What it does by itself takes longer than
// the memory does.
static tl_array *make_few(tl_vm *vm, tl_dtype dtype, int ndim, int64_t rows,
                          int64_t columns) {
  const int64_t itemsize = (int64_t)tl_itemsize(dtype), size = rows * columns;
  const size_t nbytes = (size_t)(size * itemsize);
  const size_t header = tl_array_header(ndim, nbytes);
  tl_array *a = tl_object_new(vm, TL_KIND_ARRAY, header + nbytes, "an array");
  if (a == NULL)
    return NULL;
  a->head.dtype = (uint8_t)dtype;
  a->head.ndim = (uint8_t)ndim;
  a->data = (char *)a + header;
  a->size = size;
  int64_t *dim = a->dims;
  if (ndim == 2)
    *dim++ = rows;
  *dim++ = columns;
  if (ndim == 2)
    *dim++ = columns > 0 ? columns * itemsize : itemsize;
  *dim = itemsize;
  tl_made_fresh(vm, a);
  return a;
}

tl_array *tl_array_new(tl_vm *vm, tl_dtype dtype, int ndim,
                       const int64_t *shape) {
  TL_CHECK(dtype < TL_DTYPE_COUNT);
  if (is_few(vm, dtype, ndim, shape))
    return make_few(vm, dtype, ndim, ndim == 2 ? shape[0] : 1, shape[ndim - 1]);
  return make_array(vm, dtype, ndim, shape, false);
}

tl_array *tl_array_zeros(tl_vm *vm, tl_dtype dtype, int ndim,
                         const int64_t *shape) {
  enum { AT_ONCE = 256 };  // items that are cleared without a thought
  if (!is_few(vm, dtype, ndim, shape) || tl_shape_count(ndim, shape) > AT_ONCE)
    return make_array(vm, dtype, ndim, shape, true);
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  if (a != NULL)
    memset(a->data, 0, (size_t)a->size * tl_itemsize(dtype));
  return a;
}

// The header has room for tl_array_extra behind the dimensions; the items stay
// where the host has them.
tl_array *tl_array_external(tl_vm *vm, tl_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides,
                            void *data, size_t nbytes, bool read_only,
                            void (*release)(void *context, void *data),
                            void *context) {
  TL_CHECK(dtype < TL_DTYPE_COUNT);
  TL_CHECK(ndim >= 0 && ndim <= TL_MAX_DIMS);
  TL_CHECK(nbytes == 0 || data != NULL);
  int64_t size;
  size_t unused, dims = (size_t)ndim * sizeof(int64_t);
  size_t itemsize = tl_itemsize(dtype);
  // External bytes count against the memory limit before the header is made.
  if (!tl_shape_size(vm, ndim, shape, itemsize, &size, &unused) ||
      !tl_account_on(vm, &vm->untyped[0], data, nbytes)) {
    return NULL;
  }
  size_t total = sizeof(tl_array) + 2 * dims + sizeof(tl_array_extra);
  tl_array *a = tl_object_new(vm, TL_KIND_ARRAY, total, "an array");
  if (a == NULL) {
    tl_unaccount_on(vm, &vm->untyped[0], data, nbytes);
    return NULL;
  }
  // A read-only block is never written in place: writes copy the array.
  a->head.flags = read_only ? TL_EXTERNAL | TL_READONLY : TL_EXTERNAL;
  set_header(a, dtype, ndim, data, size, shape, strides);
  *tl_array_more(a) = (tl_array_extra){
      .release = release, .context = context, .nbytes = nbytes};
  return a;
}

// Drops the items from the last on, of which [size] are left. False where
// somebody waits for control: the array is freed later (tl_free_rest).
static bool drop_strings(tl_vm *vm, tl_array *a) {
  enum { AT_ONCE = 1 << 16 };
  while (a->size > 0) {
    const int64_t n = a->size < AT_ONCE ? a->size : AT_ONCE;
    a->size -= n;
    tl_string_items_drop(vm, tl_string_items(a) + a->size, n);
    if (a->size > 0 && tl_free_later(vm, &a->head))
      return false;
  }
  return true;
}

// The release function tells a mapping from a host's buffer.
const char *tl_external_owner(const tl_array *a) {
  const tl_array_extra *more = tl_array_more(a);
  if (more->release != tl_mapping_release)
    return "the host";
  return tl_mapping_is_own(more->context) ? "a mapped file, copy-on-write"
                                          : "a mapped file, read-only";
}

// The order matters in each case: what a view or an external block leads to is
// released after the header.
static __attribute__((noinline)) void free_leading(tl_vm *vm, tl_array *a) {
  if (tl_is_view(a)) {
    tl_array *owner = tl_array_more(a)->owner;
    // The block is dropped after the view, whose fields say which one it is.
    bool counts = (a->head.flags & TL_HOLD) != 0 &&
                  (owner->head.flags & TL_IMMORTAL) == 0;
    tl_object_free(vm, &a->head);
    if (counts)
      tl_drop(vm, tl_own_array(owner));
    return;
  }
  if (a->head.dtype == TL_STRING && !drop_strings(vm, a))
    return;
  if ((a->head.flags & TL_EXTERNAL) != 0) {
    tl_array_extra *more = tl_array_more(a);
    void *data = a->data;
    tl_unaccount_on(vm, &vm->untyped[0], data, more->nbytes);
    // The host's function runs last and with copies: it may call into the VM,
    // and the header must be gone by then.
    tl_array_extra extra = *more;
    tl_object_free(vm, &a->head);
    vm->host->release(vm, extra.release, extra.context, data);
    return;
  }
  vm->stats.frees++;
  tl_object_free(vm, &a->head);
}

// Of most arrays there is nothing but the allocation.
void tl_array_free(tl_vm *vm, tl_array *a) {
  TL_CHECK(a->head.kind == TL_KIND_ARRAY);
  if (a->head.flags != 0 || a->head.dtype == TL_STRING) {
    free_leading(vm, a);
    return;
  }
  vm->stats.frees++;
  tl_object_free(vm, &a->head);
}

// --- Slots ------------------------------------------------------------------

tl_slot tl_own_array(tl_array *a) {
  return (tl_slot){.tag = tl_array_tag(a) | TL_OWNED, .array = a};
}

tl_slot tl_lend_object(const tl_object *object) {
  if (object->kind == TL_KIND_ARRAY)
    return tl_lend_array((const tl_array *)object);
  const uint64_t class = object->kind == TL_KIND_LIST      ? TL_CLASS_LIST
                         : object->kind == TL_KIND_CLOSURE ? TL_CLASS_FUNC
                                                           : TL_CLASS_OBJ;
  return (tl_slot){.tag = TL_TAG(class, object->kind),
                   .object = (tl_object *)(uintptr_t)object};
}

// The tag says all but the count: other slots may own the array too.
bool tl_array_is_reusable(tl_slot s) {
  const uint64_t needed = TL_CLASS_ARRAY | TL_OWNED | TL_DENSE | TL_DIRECT;
  return (s.tag & needed) == needed && s.object->count == 1;
}

bool tl_array_finish(tl_vm *vm, bool ok, tl_array *a, tl_slot *out) {
  if (ok && a != NULL)
    *out = tl_own_array(a);
  else
    tl_array_drop(vm, a);
  return ok && a != NULL;
}

// An item of rank 0 may lack memory.
bool tl_result_finish(tl_vm *vm, bool ok, tl_array *a, tl_slot *out) {
  if (ok && a != NULL)
    *out = tl_result(vm, a);
  else
    tl_array_drop(vm, a);
  return ok && a != NULL && !tl_is_unset(*out);
}

// Scripts have no arrays of rank 0 but complex128: a reduction over all axes,
// say, gives a typed scalar.
tl_slot tl_result(tl_vm *vm, tl_array *a) {
  TL_CHECK(a->head.count > 0);
  tl_slot owned = tl_own_array(a);
  // A complex128 does not fit a slot, so that it stays an array of rank 0.
  if (a->head.ndim > 0 || a->head.dtype == TL_COMPLEX128)
    return owned;
  tl_slot item = tl_item(vm, a, a->data);
  tl_drop(vm, owned);
  return item;
}

// A weak one is a literal: it takes the precision of the other operand.
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

// Complex128 makes an array of rank 0; strings a string, or a count of the one
// that is there.
tl_slot tl_item(tl_vm *vm, const tl_array *a, const char *item) {
  TL_CHECK(item != NULL);
  if (a->head.dtype == TL_COMPLEX128) {
    const tl_c128 *c = (const void *)item;
    return tl_new_complex(vm, c->re, c->im, false);
  }
  if (a->head.dtype != TL_STRING)
    return tl_scalar_load(tl_array_dtype(a), item);
  return tl_string_item_value(vm, tl_string_item_at(item));
}
