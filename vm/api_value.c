// tally.h: values and arrays in and out.

#include <string.h>

#include "vm/api.h"
#include "vm/array.h"
#include "vm/engine.h"
#include "vm/format.h"
#include "vm/index.h"
#include "vm/list.h"
#include "vm/range.h"
#include "vm/record.h"
#include "vm/type.h"

// --- Handles ----------------------------------------------------------------
// A handle is an index, and a check made of its place's generation and its VM:
// one that was released or is another VM's is recognised, whatever stands there
// now.

typedef struct place {
  tl_slot value;
  uint32_t generation;  // odd: in use
  uint32_t owners;
  uint32_t next_free;
} place;

struct tl_handles {
  place *places;
  uint32_t count, capacity, first_free;
  char type[TL_DESCRIBE * 2];  // what tally_type returned last
};

static const uint32_t NO_PLACE = UINT32_MAX;

bool tl_handles_open(tl_vm *vm) {
  vm->handles = tl_alloc_zeroed(vm, sizeof *vm->handles, "handles");
  if (vm->handles == NULL)
    return false;
  vm->handles->first_free = NO_PLACE;
  return true;
}

size_t tl_handles_close(tl_vm *vm) {
  struct tl_handles *h = vm->handles;
  if (h == NULL)
    return 0;
  size_t held = 0;
  for (uint32_t i = 0; i < h->count; i++) {
    if ((h->places[i].generation & 1) == 0)
      continue;
    held++;
    tl_drop(vm, h->places[i].value);
  }
  if (h->places != NULL) {
    tl_free(vm, h->places, h->capacity * sizeof *h->places);
  }
  tl_free(vm, h, sizeof *h);
  vm->handles = NULL;
  return held;
}

void tl_handles_each(const tl_vm *vm,
                     void (*each)(void *context, tl_slot value),
                     void *context) {
  const struct tl_handles *h = vm->handles;
  for (uint32_t i = 0; h != NULL && i < h->count; i++) {
    if ((h->places[i].generation & 1) != 0)
      each(context, h->places[i].value);
  }
}

static bool new_place(tl_vm *vm, uint32_t *out) {
  struct tl_handles *h = vm->handles;
  if (h->first_free != NO_PLACE) {
    *out = h->first_free;
    h->first_free = h->places[*out].next_free;
    return true;
  }
  if (h->count == h->capacity) {
    uint32_t capacity = h->capacity * 2 + 16;
    place *places = tl_realloc(vm, h->places, h->capacity * sizeof *places,
                               capacity * sizeof *places, "handles");
    if (places == NULL)
      return false;
    h->places = places;
    h->capacity = capacity;
  }
  *out = h->count++;
  h->places[*out].generation = 0;
  return true;
}

static uint64_t check_of(const tl_vm *vm, const place *p) {
  return ((uint64_t)(uintptr_t)vm << 28) + p->generation;
}

bool tl_handle_new(tl_vm *vm, tl_slot *value, tally_value *out) {
  uint32_t index;
  if (!new_place(vm, &index))
    return false;
  place *p = &vm->handles->places[index];
  p->value = tl_escape(vm, value, TL_CAUSE_HOST);
  p->generation++;
  p->owners = 1;
  *out = (tally_value){index, check_of(vm, p)};
  return true;
}

static place *find(tl_vm *vm, tally_value handle) {
  struct tl_handles *h = vm->handles;
  if (handle.handle >= h->count)
    return NULL;
  place *p = &h->places[handle.handle];
  return check_of(vm, p) == handle.check && (p->generation & 1) != 0 ? p : NULL;
}

bool tl_handle_get(tl_vm *vm, tally_value handle, tl_slot *out) {
  place *p = find(vm, handle);
  if (p == NULL) {
    return tl_fail(vm, TALLY_ERR_HOST,
                   "the value was released already, or is of another VM");
  }
  *out = tl_borrow(p->value);
  return true;
}

static void free_place(tl_vm *vm, place *p) {
  struct tl_handles *h = vm->handles;
  p->generation++;
  p->next_free = h->first_free;
  h->first_free = (uint32_t)(p - h->places);
}

bool tl_handle_take(tl_vm *vm, tally_value handle, tl_slot *out) {
  if (!tl_handle_get(vm, handle, out))
    return false;
  place *p = find(vm, handle);
  if (p->owners > 1) {
    p->owners--;
    *out = tl_retain(vm, p->value);
    return true;
  }
  *out = p->value;
  free_place(vm, p);
  return true;
}

tally_value tally_retain(tally_vm *vm, tally_value v) {
  place *p = find(vm, v);
  if (p != NULL)
    p->owners++;
  return v;
}

void tally_release(tally_vm *vm, tally_value v) {
  place *p = find(vm, v);
  if (p == NULL || --p->owners > 0)
    return;
  tl_slot value = p->value;
  free_place(vm, p);
  tl_drop(vm, value);
}

// --- From C -----------------------------------------------------------------

static tally_status give(tl_vm *vm, tl_slot value, tally_value *out) {
  if (tl_handle_new(vm, &value, out))
    return TALLY_OK;
  tl_drop(vm, value);
  return tl_report(vm);
}

tally_status tally_from_none(tally_vm *vm, tally_value *out) {
  return give(vm, tl_none(), out);
}

tally_status tally_from_bool(tally_vm *vm, int b, tally_value *out) {
  return give(vm, tl_bool(b != 0), out);
}

tally_status tally_from_int(tally_vm *vm, int64_t i, tally_value *out) {
  return give(vm, tl_weak_int(i), out);
}

tally_status tally_from_float(tally_vm *vm, double f, tally_value *out) {
  return give(vm, tl_weak_float(f), out);
}

tally_status tally_from_complex(tally_vm *vm, double re, double im,
                                tally_value *out) {
  tl_slot value = tl_new_complex(vm, re, im, true);
  return tl_is_unset(value) ? tl_report(vm) : give(vm, value, out);
}

bool tl_check_host_text(tl_vm *vm, const char *text, size_t nbytes) {
  size_t at;
  if (tl_utf8_check(text, nbytes, &at))
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "text from the host is not UTF-8: the byte at offset %zu is "
                 "wrong",
                 at);
}

tally_status tally_from_string(tally_vm *vm, const char *text, size_t nbytes,
                               tally_value *out) {
  if (!tl_check_host_text(vm, text, nbytes))
    return tl_report(vm);
  tl_string *string = tl_string_new(vm, text, nbytes);
  return string == NULL ? tl_report(vm) : give(vm, tl_own_string(string), out);
}

tally_status tally_from_list(tally_vm *vm, size_t count,
                             const tally_value *items, tally_value *out) {
  tl_list *list = tl_list_new(vm, (int64_t)count);
  if (list == NULL)
    return tl_report(vm);
  for (size_t i = 0; i < count; i++) {
    tl_slot item;
    if (!tl_handle_get(vm, items[i], &item)) {
      tl_drop(vm, tl_own_list(list));
      return tl_report(vm);
    }
    list->items[list->length++] = tl_escape(vm, &item, TL_CAUSE_ITEM);
  }
  return give(vm, tl_own_list(list), out);
}

tally_status tally_from_record(tally_vm *vm, size_t count,
                               const char *const *keys,
                               const tally_value *values, tally_value *out) {
  tl_record *record = tl_record_new(vm, (int64_t)count);
  if (record == NULL)
    return tl_report(vm);
  for (size_t i = 0; i < count; i++) {
    tl_slot value;
    if (!tl_check_host_text(vm, keys[i], strlen(keys[i])) ||
        !tl_handle_get(vm, values[i], &value) ||
        !tl_record_set_name(vm, &record, keys[i], &value)) {
      tl_drop(vm, tl_own_record(record));
      return tl_report(vm);
    }
  }
  return give(vm, tl_own_record(record), out);
}

// --- To C -------------------------------------------------------------------

static tally_status refuse(tl_vm *vm, const char *wanted, tl_slot got) {
  char text[TL_DESCRIBE];
  tl_fail(vm, TALLY_ERR_TYPE, "the host asks for %s, and the value is %s",
          wanted, tl_describe(got, text, sizeof text));
  return tl_report(vm);
}

tally_status tally_to_bool(tally_vm *vm, tally_value v, int *out) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_bool(s))
    return refuse(vm, "a bool", s);
  *out = (int)s.i;
  return TALLY_OK;
}

tally_status tally_to_int(tally_vm *vm, tally_value v, int64_t *out) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s))) {
    return refuse(vm, "an integer", s);
  }
  if (tl_dtype_of(s) == TL_UINT64 && s.u > INT64_MAX) {
    return refuse(vm, "an int64", s);
  }
  *out = s.i;
  return TALLY_OK;
}

tally_status tally_to_complex(tally_vm *vm, tally_value v, double *re,
                              double *im) {
  tl_slot s, wide;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_number(s) || tl_is_bool(s))
    return refuse(vm, "a number", s);
  if (!tl_cast(vm, &s, TL_COMPLEX128, &wide))
    return tl_report(vm);
  const tl_c128 *z = (const tl_c128 *)(const void *)wide.array->data;
  *re = z->re;
  *im = z->im;
  tl_drop(vm, wide);
  return TALLY_OK;
}

tally_status tally_to_float(tally_vm *vm, tally_value v, double *out) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_scalar(s) || tl_is_bool(s) || tl_dtype_of(s) == TL_COMPLEX64) {
    return refuse(vm, "a real number", s);
  }
  double im;
  return tally_to_complex(vm, v, out, &im);
}

tally_status tally_to_string(tally_vm *vm, tally_value v, const char **text,
                             size_t *nbytes) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_string(s))
    return refuse(vm, "a string", s);
  *text = s.string->text;
  if (nbytes != NULL)
    *nbytes = s.string->length;
  return TALLY_OK;
}

const char *tally_type(tally_vm *vm, tally_value v) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s)) {
    tl_error_clear(vm);
    return "released";
  }
  return tl_describe(s, vm->handles->type, sizeof vm->handles->type);
}

tally_status tally_format(tally_vm *vm, tally_value v, tally_value *out) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  tl_text text;
  tl_text_open(&text, vm);
  if (!tl_format_value(vm, &text, s, false, 0)) {
    tl_text_close(&text);
    return tl_report(vm);
  }
  tl_string *string = tl_text_finish(&text);
  return string == NULL ? tl_report(vm) : give(vm, tl_own_string(string), out);
}

size_t tally_length(tally_vm *vm, tally_value v) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s)) {
    tl_error_clear(vm);
    return 0;
  }
  if (tl_is_list(s))
    return (size_t)s.list->length;
  if (tl_is_record(s))
    return (size_t)s.record->length;
  if (tl_is_string(s))
    return s.string->length;
  if (tl_is_range(s))
    return (size_t)s.range->length;
  if (tl_is_array(s) && tl_ndim(s.array) > 0) {
    return (size_t)tl_shape(s.array)[0];
  }
  return 0;
}

tally_status tally_item(tally_vm *vm, tally_value v, size_t index,
                        tally_value *out) {
  static const tl_index_item one = {TL_ITEM_VALUE, 0};
  static const tl_step step = {.item_count = 1, .items = &one};
  tl_slot s, item, at = tl_weak_int((int64_t)index);
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (tl_is_record(s)) {
    if (index >= (size_t)s.record->length) {
      tl_fail(vm, TALLY_ERR_INDEX,
              "field %zu is out of range for a record of %lld", index,
              (long long)s.record->length);
      return tl_report(vm);
    }
    return give(vm, tl_borrow(s.record->fields[index].value), out);
  }
  if (!tl_index_get(vm, &s, &step, &at, &item))
    return tl_report(vm);
  return give(vm, item, out);
}

tally_status tally_field(tally_vm *vm, tally_value v, const char *key,
                         tally_value *out) {
  tl_slot s, item;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_check_host_text(vm, key, strlen(key)))
    return tl_report(vm);
  tl_string *name = tl_string_from(vm, key);
  if (name == NULL)
    return tl_report(vm);
  bool ok = tl_field_get(vm, &s, name, &item);
  tl_drop(vm, tl_own_string(name));
  return ok ? give(vm, item, out) : tl_report(vm);
}

// --- Arrays -----------------------------------------------------------------

tally_status tally_to_buffer(tally_vm *vm, tally_value v, tally_array *out) {
  tl_slot s;
  if (!tl_handle_get(vm, v, &s))
    return tl_report(vm);
  // A complex128 is boxed in an array of rank 0, which no one sees.
  if (!tl_is_array(s) || tl_is_number(s))
    return refuse(vm, "an array", s);
  const tl_array *a = s.array;
  *out = (tally_array){.data = a->data,
                       .dtype = tl_dtypes[a->head.dtype].name,
                       .ndim = tl_ndim(a),
                       .size = (size_t)a->size};
  for (int i = 0; i < out->ndim; i++) {
    out->shape[i] = tl_shape(a)[i];
    out->strides[i] = tl_strides(a)[i];
  }
  return TALLY_OK;
}

// Shape and dtype of a fixed-size array type; false: it is no such type.
static bool fixed_shape(const tl_type *type, int *ndim, int64_t *shape,
                        tl_dtype *dtype) {
  *ndim = 0;
  while (type->kind == TL_TYPE_FIXED && *ndim < TL_MAX_DIMS) {
    shape[(*ndim)++] = type->size;
    type = type->of;
  }
  *dtype = type->dtype;
  return *ndim > 0 && type->kind == TL_TYPE_DTYPE && type->dtype < TL_STRING;
}

// Whether every item lies inside [0, nbytes).
static bool fits(int ndim, const int64_t *shape, const int64_t *strides,
                 size_t itemsize, size_t nbytes) {
  int64_t low = 0, high = (int64_t)itemsize;
  for (int i = 0; i < ndim; i++) {
    int64_t span;
    if (shape[i] == 0)
      return true;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span))
      return false;
    int64_t *end = span < 0 ? &low : &high;
    if (__builtin_add_overflow(*end, span, end))
      return false;
  }
  return low >= 0 && (uint64_t)high <= nbytes;
}

// Kernels read whole items. A complex one is aligned as its two parts are.
static bool is_aligned(int ndim, const int64_t *strides, const void *data,
                       tl_dtype dtype) {
  bool is_complex = dtype == TL_COMPLEX64 || dtype == TL_COMPLEX128;
  uint64_t alignment = tl_itemsize(dtype) / (is_complex ? 2 : 1);
  uint64_t bits = (uint64_t)(uintptr_t)data;
  for (int i = 0; i < ndim; i++) bits |= (uint64_t)strides[i];
  return (bits & (alignment - 1)) == 0;
}

tally_status tally_from_buffer(tally_vm *vm, const tally_buffer *buffer,
                               tally_value *out) {
  tl_type *type = tl_type_parse(vm, buffer->type, strlen(buffer->type));
  if (type == NULL)
    return tl_report(vm);
  int ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS], size;
  tl_dtype dtype;
  size_t nbytes;
  if (!fixed_shape(type, &ndim, shape, &dtype)) {
    tl_fail(vm, TALLY_ERR_TYPE,
            "%s is not a type of fixed size over numbers, such as "
            "1080 * 1920 * float32",
            buffer->type);
    return tl_report(vm);
  }
  if (!tl_shape_size(vm, ndim, shape, tl_itemsize(dtype), &size, &nbytes)) {
    return tl_report(vm);
  }
  tl_shape_strides(ndim, shape, tl_itemsize(dtype), strides);
  if (buffer->strides != NULL) {
    memcpy(strides, buffer->strides, (size_t)ndim * sizeof *strides);
  }
  if (!fits(ndim, shape, strides, tl_itemsize(dtype), buffer->nbytes)) {
    tl_fail(vm, TALLY_ERR_SHAPE,
            "%s with these strides does not lie in the "
            "%zu bytes given",
            buffer->type, buffer->nbytes);
    return tl_report(vm);
  }
  if (size > 0 && !is_aligned(ndim, strides, buffer->data, dtype)) {
    tl_fail(vm, TALLY_ERR_VALUE,
            "the data at %p of %s, or a stride, are no multiple of the item's "
            "alignment",
            buffer->data, buffer->type);
    return tl_report(vm);
  }
  // The handle first: when the array is made, nothing may fail any more, since
  // giving the array up would release the data.
  tl_slot value = tl_none();
  tally_value handle;
  if (!tl_handle_new(vm, &value, &handle))
    return tl_report(vm);
  tl_array *array =
      tl_array_external(vm, dtype, ndim, shape, strides, buffer->data,
                        buffer->nbytes, buffer->release, buffer->context);
  if (array == NULL) {
    tally_release(vm, handle);
    return tl_report(vm);
  }
  value = tl_own_array(array);
  find(vm, handle)->value = tl_escape(vm, &value, TL_CAUSE_HOST);
  *out = handle;
  return TALLY_OK;
}
