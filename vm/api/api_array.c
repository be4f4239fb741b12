// tally.h: arrays over the host's memory (tally_from_buffer), arrays shown to
// the host (tally_to_buffer), and pointers both ways. What the host says of its
// memory is checked before anything is made: every item inside the block,
// aligned, and not written twice.
//
//   type      "3 * 4 * float32"    shape 3 4, strides 16 4, or as given
//             "5 * {a: int8, b: float64}"   a block, 5 * 16 * uint8
//   fits      low and high end of all items within [0, nbytes)
//   aligned   data and strides are multiples of the item's alignment
//   injective else read-only: a write to one item would change another

#include "vm/api/exports.h"
#include "vm/types/layout.h"
#include "vm/nested/nested.h"

// An array as the host sees it.
// Everything borrowed: the data and the dtype's name, of shape and strides
// copies. Strides are in bytes, and may be negative.
static void describe(const tl_array *a, tally_array *out) {
  *out = (tally_array){.data = a->data,
                       .dtype = tl_dtypes[a->head.dtype].name,
                       .ndim = tl_ndim(a),
                       .size = (size_t)a->size};
  for (int i = 0; i < out->ndim; i++) {
    out->shape[i] = tl_shape(a)[i];
    out->strides[i] = tl_strides(a)[i];
  }
}

// The host gets pointers into the array, which stay good as long as it holds
// the value.
// Fails (kind type) for what is no plain array. Items of string arrays are the
// VM's own structs: their dtype says so.
tally_status tally_to_buffer(tally_vm *vm, tally_value v, tally_array *out) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_asked(vm, v, out, &s))
    return tl_report(vm);
  // A complex128 is boxed in an array of rank 0, which no one sees.
  if (!tl_is_array(s) || tl_is_number(s))
    return tl_report_wrong_type(vm, "an array", s);
  describe(s.array, out);
  return TALLY_OK;
}

// --- Pointers ---------------------------------------------------------------

// The array that has a target's items along its first axis: itself, or a block
// of structs. NULL after tl_fail (kind type).
// A block's first axis is that of the structs, its last their bytes. Strings
// have no address that a host could know.
static const tl_array *items_of_target(tl_vm *vm, tl_slot target) {
  bool block = tl_is_form(target, TL_FORM_STRUCT);
  if (block)
    return target.nested->parts[0].array;
  if (tl_is_array(target) && tl_ndim(target.array) > 0 &&
      tl_array_dtype(target.array) != TL_STRING)
    return target.array;
  tl_fail(vm, TALLY_ERR_TYPE,
          "pointers point into an array of numbers or structs, not into %s",
          tl_described(vm, target));
  return NULL;
}

// The item along the first axis that is at an address; -1: none.
//
//  int32 [7, 8, 9] at 0x100, stride 4      0x104 is place 1, 0x105 is none
//  the same reversed, at 0x108, stride -4  0x104 is place 1 again
//  one item repeated, stride 0             its address is place 0, no other
//
// In whole items from the data on, in the direction of the stride. An address
// is compared as a number, as it need not lie in the same block.
static int64_t place_of(const tl_array *a, const void *address) {
  int64_t stride = tl_strides(a)[0], length = tl_shape(a)[0], from;
  // The least distance has no quotient by a stride of -1.
  if (__builtin_sub_overflow((intptr_t)address, (intptr_t)a->data, &from) ||
      from == INT64_MIN)
    return -1;
  if (stride == 0)
    return from == 0 && length > 0 ? 0 : -1;
  int64_t place = from / stride;
  return from % stride == 0 && place >= 0 && place < length ? place : -1;
}

// The places of the addresses, in their shape; one of no axes is a number.
// False after tl_fail.
// An address that is none's is counted from 0 in row-major order in the
// message. Nothing is left over then.
static bool places_of(tl_vm *vm, const tl_array *target, int ndim,
                      const int64_t *shape, const void *const *addresses,
                      tl_slot *out) {
  int64_t size, *at = NULL, one;
  size_t nbytes;
  if (!tl_shape_size(vm, ndim, shape, sizeof(int64_t), &size, &nbytes))
    return false;
  tl_array *a = ndim > 0 ? tl_array_new(vm, TL_INT64, ndim, shape) : NULL;
  if (ndim > 0 && a == NULL)
    return false;
  at = a != NULL ? (int64_t *)(void *)a->data : &one;
  for (int64_t i = 0; i < size; i++) {
    at[i] = place_of(target, addresses[i]);
    if (at[i] >= 0)
      continue;
    tl_array_drop(vm, a);
    return tl_fail(vm, TALLY_ERR_INDEX,
                   "pointer %lld, %p, is the address of no item of its target",
                   (long long)i, addresses[i]);
  }
  *out = a != NULL ? tl_own_array(a) : tl_weak_int(one);
  return true;
}

// In the order of the contract: what is given, the shape, the target, each
// address. The target is borrowed from its handle and counted by the pointers.
tally_status tally_from_pointers(tally_vm *vm, tally_value target, int ndim,
                                 const int64_t *shape,
                                 const void *const *addresses,
                                 tally_value *out) {
  TL_ENTER(vm);
  tl_slot into, places, made;
  if (!tl_given(vm, out, "the place for the result") ||
      !tl_given(vm, addresses, "the addresses") ||
      (ndim > 0 && !tl_given(vm, shape, "the shape")) ||
      !tl_handle_get(vm, target, &into))
    return tl_report(vm);
  if (ndim < 0 || ndim > TL_MAX_DIMS)
    return tl_report_fail(vm, TALLY_ERR_SHAPE,
                          "an array has 0 to %d dimensions, not %d",
                          TL_MAX_DIMS, ndim);
  for (int i = 0; i < ndim; i++) {
    if (shape[i] >= 0)
      continue;
    return tl_report_fail(vm, TALLY_ERR_SHAPE, "a length of %lld",
                          (long long)shape[i]);
  }
  const tl_array *items = items_of_target(vm, into);
  if (items == NULL || !places_of(vm, items, ndim, shape, addresses, &places) ||
      !tl_indexed_new(vm, TL_FORM_POINTER, &places, &into, &made))
    return tl_report(vm);
  return tl_give(vm, made, out);
}

// The one place of a pointer without axes is in the pointer's own object, which
// lives as long as the array would.
tally_status tally_to_pointers(tally_vm *vm, tally_value v, tally_array *places,
                               tally_value *target) {
  TL_ENTER(vm);
  tl_slot s;
  if (!tl_given(vm, places, "the place for the places") ||
      !tl_given(vm, target, "the place for the target") ||
      !tl_handle_get(vm, v, &s))
    return tl_report(vm);
  if (!tl_is_form(s, TL_FORM_POINTER))
    return tl_report_wrong_type(vm, "pointers", s);
  tl_slot *at = &s.nested->parts[0];
  if (tl_is_array(*at))
    describe(at->array, places);
  else
    *places = (tally_array){.data = &at->i, .dtype = "int64", .size = 1};
  return tl_give(vm, tl_retain(vm, s.nested->parts[1]), target);
}

// --- The host's memory ------------------------------------------------------

// Shape and dtype of a fixed-size array type over numbers such as
// 2 * 3 * float32, or over C structs, whose bytes are one axis more; *layout is
// NULL where it is none of structs. [shape] has room for TL_MAX_DIMS; a type of
// more dimensions is refused. False after tl_fail.
static bool fixed_shape(tl_vm *vm, tl_type *type, const char *name, int *ndim,
                        int64_t *shape, tl_dtype *dtype, tl_type **layout) {
  int axes = 0;
  *layout = NULL;
  while (type->kind == TL_TYPE_FIXED && axes < TL_MAX_DIMS) {
    shape[axes++] = type->size;
    type = type->of;
  }
  *ndim = axes;
  *dtype = type->dtype;
  if (axes > 0 && type->kind == TL_TYPE_DTYPE && type->dtype < TL_STRING)
    return true;
  if (axes == 0 || axes == TL_MAX_DIMS || !tl_type_has_fields(type) ||
      !tl_type_is_plain(type))
    return tl_fail(
        vm, TALLY_ERR_TYPE,
        "%s is not a type of fixed size over numbers or structs of them, "
        "such as 1080 * 1920 * float32",
        name);
  *layout = tl_layout_of(vm, type, false);
  if (*layout == NULL)
    return false;
  *dtype = TL_UINT8;
  *ndim = axes + 1;
  shape[axes] = (*layout)->itemsize;
  return true;
}

// A stride of INT64_MIN, which has no magnitude, overflows.
bool tl_items_span(int ndim, const int64_t *shape, const int64_t *strides,
                   size_t itemsize, int64_t *low, int64_t *high) {
  *low = *high = 0;
  for (int i = 0; i < ndim; i++)
    if (shape[i] == 0)
      return true;
  *high = (int64_t)itemsize;
  for (int i = 0; i < ndim; i++) {
    int64_t span;
    if (strides[i] == INT64_MIN ||
        __builtin_mul_overflow(shape[i] - 1, strides[i], &span))
      return false;
    int64_t *end = span < 0 ? low : high;
    if (__builtin_add_overflow(*end, span, end))
      return false;
  }
  return true;
}

// Whether every item lies inside [0, nbytes).
//
//   shape 3 4, strides -16 4, 48 bytes    low -32: does not fit from data on
static bool fits(int ndim, const int64_t *shape, const int64_t *strides,
                 size_t itemsize, size_t nbytes) {
  int64_t low, high;
  return tl_items_span(ndim, shape, strides, itemsize, &low, &high) &&
         low >= 0 && (uint64_t)high <= nbytes;
}

// Kernels read whole items, so data and strides have to be multiples of the
// alignment. That of a complex item is its parts'.
//
//  float64 at 0x1004          no: 4 bytes off
//  float64, strides 12        no: the second item is off
//  complex128 at 0x1008       yes: its parts are of 8 bytes
//
bool tl_is_aligned(int ndim, const int64_t *strides, const void *data,
                   tl_dtype dtype) {
  bool is_complex = dtype == TL_COMPLEX64 || dtype == TL_COMPLEX128;
  uint64_t alignment = tl_itemsize(dtype) / (is_complex ? 2 : 1);
  uint64_t bits = (uint64_t)(uintptr_t)data;
  for (int i = 0; i < ndim; i++) bits |= (uint64_t)strides[i];
  return (bits & (alignment - 1)) == 0;
}

// INT64_MIN, which has none, was refused by fits().
static int64_t magnitude(int64_t i) {
  return i < 0 ? -i : i;
}

// Whether no two items share memory, so that the array may be written: each
// axis, from the shortest stride to the longest, has to step over all that the
// ones before it cover.
//
//  shape 3 4, strides 16 4, items of 4    4 covers 16, 16 steps over it: yes
//  shape 3 4, strides 8 4                 rows overlap: read-only
//
static bool is_injective(int ndim, const int64_t *shape, const int64_t *strides,
                         size_t itemsize) {
  int order[TL_MAX_DIMS], count = 0;
  for (int i = 0; i < ndim; i++) {
    if (shape[i] < 2)
      continue;
    int at = count++;
    for (; at > 0 && magnitude(strides[order[at - 1]]) > magnitude(strides[i]);
         at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  int64_t covered = (int64_t)itemsize;
  for (int i = 0; i < count; i++) {
    int64_t stride = magnitude(strides[order[i]]);
    if (stride < covered)
      return false;
    covered += stride * (shape[order[i]] - 1);
  }
  return true;
}

// Checks in the order of the contract in tally.h: type, shape, alignment; then
// makes the array, read-only where items may share memory.
tally_status tally_from_buffer(tally_vm *vm, const tally_buffer *buffer,
                               tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, buffer, "the buffer") ||
      !tl_given(vm, buffer->type, "the buffer's type") ||
      !tl_given(vm, out, "the place for the result") ||
      !tl_check_host_text(vm, buffer->type, strlen(buffer->type)))
    return tl_report(vm);
  tl_type *type = tl_type_parse(vm, buffer->type, strlen(buffer->type));
  if (type == NULL)
    return tl_report(vm);
  int ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS], size;
  tl_dtype dtype;
  size_t nbytes;
  tl_type *layout;
  if (!fixed_shape(vm, type, buffer->type, &ndim, shape, &dtype, &layout) ||
      !tl_shape_size(vm, ndim, shape, tl_itemsize(dtype), &size, &nbytes))
    return tl_report(vm);
  tl_shape_strides(ndim, shape, tl_itemsize(dtype), strides);
  if (buffer->strides != NULL) {
    size_t given = (size_t)ndim - (layout != NULL);  // a struct's bytes: 1
    // A struct's bytes are an axis of their own, whose stride is 1.
    memcpy(strides, buffer->strides, given * sizeof *strides);
  }
  if (!fits(ndim, shape, strides, tl_itemsize(dtype), buffer->nbytes))
    return tl_report_fail(vm, TALLY_ERR_SHAPE,
                          "%s with these strides does not lie in the "
                          "%zu bytes given",
                          buffer->type, buffer->nbytes);
  if (size > 0 && !tl_given(vm, buffer->data, "the buffer's data"))
    return tl_report(vm);
  if (size > 0 && !tl_is_aligned(ndim, strides, buffer->data, dtype))
    return tl_report_fail(
        vm, TALLY_ERR_VALUE,
        "the data at %p of %s, or a stride, are no multiple of the item's "
        "alignment",
        buffer->data, buffer->type);
  bool read_only = buffer->read_only != 0 || size == 0 ||
                   !is_injective(ndim, shape, strides, tl_itemsize(dtype));
  // The handle is reserved first: once the array is made nothing may fail any
  // more, since giving the array up would release the host's data.
  tally_value handle;
  if (!tl_handle_reserve(vm, &handle))
    return tl_report(vm);
  tl_nested *nested = NULL;
  if (layout != NULL) {
    nested = tl_nested_new(vm, TL_FORM_STRUCT, ndim - 1, 1, layout);
    if (nested == NULL) {
      tally_release(vm, handle);
      return tl_report(vm);
    }
  }
  tl_array *array = tl_array_external(vm, dtype, ndim, shape, strides,
                                      buffer->data, buffer->nbytes, read_only,
                                      buffer->release, buffer->context);
  if (array == NULL) {
    if (nested != NULL)
      tl_drop(vm, tl_own_nested(nested));
    tally_release(vm, handle);
    return tl_report(vm);
  }
  tl_slot value = tl_own_array(array);
  if (nested != NULL) {
    nested->parts[0] = value;
    value = tl_own_nested(nested);
  }
  tl_handle_fill(vm, handle, value);
  *out = handle;
  return TALLY_OK;
}
