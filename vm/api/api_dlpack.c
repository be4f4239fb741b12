// tally.h: DLPack tensors in and out (dmlc/dlpack, version 1.0 and the one
// before it).
//
// Both directions share memory: a tensor that came in is released when our
// array's last owner is gone; one that went out holds a handle until its
// deleter is called. A tensor may be written by us only if its producer says
// that it was copied for us.

#include "vm/array/array.h"
#include "vm/api/exports.h"

// --- The exchange format, as dlpack.h lays it out ---------------------------

// Where a tensor's memory is.
typedef struct dl_device {
  int32_t type, id;
} dl_device;
// The devices whose memory the host can read.
enum { DL_CPU = 1, DL_CUDA_HOST = 3 };

// The type of items: kind, bits, and lanes of a vector type.
typedef struct dl_dtype {
  uint8_t code, bits;
  uint16_t lanes;
} dl_dtype;
enum { DL_INT, DL_UINT, DL_FLOAT, DL_COMPLEX = 5, DL_BOOL };

// A tensor: data, shape, and strides counted in items.
typedef struct dl_tensor {
  void *data;
  dl_device device;
  int32_t ndim;
  dl_dtype dtype;
  int64_t *shape;
  int64_t *strides;  // in items; NULL: row-major
  uint64_t byte_offset;
} dl_tensor;

// A tensor with its deleter: the form before version 1.0.
typedef struct DLManagedTensor {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct DLManagedTensor *self);
} legacy;

// The form from version 1.0 on, which says whether the tensor may be written.
typedef struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct DLManagedTensorVersioned *self);
  uint64_t flags;
  dl_tensor tensor;
} versioned;
enum { DL_READ_ONLY = 1, DL_IS_COPIED = 2 };

static const struct {
  uint8_t dtype;
  uint8_t code, bits;
} dtypes[] = {
    {TL_BOOL, DL_BOOL, 8},          {TL_INT8, DL_INT, 8},
    {TL_INT16, DL_INT, 16},         {TL_INT32, DL_INT, 32},
    {TL_INT64, DL_INT, 64},         {TL_UINT8, DL_UINT, 8},
    {TL_UINT16, DL_UINT, 16},       {TL_UINT32, DL_UINT, 32},
    {TL_UINT64, DL_UINT, 64},       {TL_FLOAT16, DL_FLOAT, 16},
    {TL_FLOAT32, DL_FLOAT, 32},     {TL_FLOAT64, DL_FLOAT, 64},
    {TL_COMPLEX64, DL_COMPLEX, 64}, {TL_COMPLEX128, DL_COMPLEX, 128},
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

// --- In ---------------------------------------------------------------------

// The dtype of a tensor's items; false after tl_fail.
static bool find_dtype(tl_vm *vm, dl_dtype from, tl_dtype *out) {
  for (int i = 0; i < DTYPES && from.lanes == 1; i++)
    if (dtypes[i].code == from.code && dtypes[i].bits == from.bits) {
      *out = (tl_dtype)dtypes[i].dtype;
      return true;
    }
  return tl_fail(vm, TALLY_ERR_TYPE,
                 "a DLPack tensor of code %d, %d bits and %d lanes has no "
                 "dtype here",
                 from.code, from.bits, from.lanes);
}

// Strides in bytes, the number of items, and the bytes from the first item's
// begin to the last one's end.
//
//   shape 3 4, strides 4 1 in items of 8     strides 32 8, extent 96
//   shape 3, stride -1                       strides -8, extent 24
static bool measure(tl_vm *vm, const dl_tensor *t, tl_dtype dtype,
                    int64_t *strides, int64_t *size, size_t *extent) {
  int64_t itemsize = (int64_t)tl_itemsize(dtype), low, high, span;
  size_t nbytes;
  if (!tl_shape_size(vm, t->ndim, t->shape, (size_t)itemsize, size, &nbytes))
    return false;
  tl_shape_strides(t->ndim, t->shape, (size_t)itemsize, strides);
  bool ok = true;
  for (int i = 0; i < t->ndim && t->strides != NULL; i++)
    ok = !__builtin_mul_overflow(t->strides[i], itemsize, &strides[i]) && ok;
  ok = ok &&
       tl_items_span(t->ndim, t->shape, strides, (size_t)itemsize, &low,
                     &high) &&
       !__builtin_sub_overflow(high, low, &span);
  *extent = ok ? (size_t)span : 0;
  return ok || tl_fail(vm, TALLY_ERR_SHAPE,
                       "the strides of a DLPack tensor overflow");
}

// Whether the tensor is in memory that we can read, of a rank and dtype that we
// have.
static bool check_tensor(tl_vm *vm, const dl_tensor *t, tl_dtype *dtype) {
  if (t->device.type != DL_CPU && t->device.type != DL_CUDA_HOST)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "a DLPack tensor on device %d is not in the host's memory",
                   (int)t->device.type);
  if (t->ndim < 0 || t->ndim > TL_MAX_DIMS)
    return tl_fail(vm, TALLY_ERR_SHAPE,
                   "an array has at most %d dimensions: the tensor has %d",
                   TL_MAX_DIMS, (int)t->ndim);
  return (t->ndim == 0 || tl_given(vm, t->shape, "the tensor's shape")) &&
         find_dtype(vm, t->dtype, dtype);
}

typedef void release_hook(void *context, void *data);

// Makes a value of a tensor: an array that holds it, or of no axes a copy of
// its item, and it is released at once. On failure it stays the host's.
static bool import(tl_vm *vm, const dl_tensor *t, bool read_only,
                   release_hook *release, void *context, tally_value *out) {
  tl_dtype dtype = TL_DTYPE_COUNT;
  int64_t strides[TL_MAX_DIMS + 1], size = 0;
  size_t extent = 0;
  if (!check_tensor(vm, t, &dtype) ||
      !measure(vm, t, dtype, strides, &size, &extent))
    return false;
  char *data = (char *)t->data + t->byte_offset;
  if (size > 0 && (!tl_given(vm, t->data, "the tensor's data")))
    return false;
  if (size > 0 && !tl_is_aligned(t->ndim, strides, data, dtype))
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "the data at %p of a DLPack tensor of %s are not aligned",
                   (void *)data, tl_dtypes[dtype].name);
  tally_value handle;
  if (!tl_handle_reserve(vm, &handle))
    return false;
  tl_array *array =
      t->ndim == 0
          ? tl_array_new(vm, dtype, 0, t->shape)
          : tl_array_external(vm, dtype, t->ndim, t->shape, strides, data,
                              extent, read_only, release, context);
  if (array == NULL) {
    tally_release(vm, handle);
    return false;
  }
  // A tensor of rank 0 is a number, which is copied.
  if (t->ndim == 0) {
    memcpy(array->data, data, tl_itemsize(dtype));
    tl_slot item = tl_result(vm, array);
    tally_release(vm, handle);
    bool ok = tl_handle_new(vm, &item, out);
    if (ok)
      release(context, t->data);
    else
      tl_drop(vm, item);
    return ok;
  }
  tl_handle_fill(vm, handle, tl_own_array(array));
  *out = handle;
  return true;
}

// The release functions of arrays over tensors.
static void delete_legacy(void *context, void *data) {
  (void)data;
  legacy *t = context;
  if (t->deleter != NULL)
    t->deleter(t);
}

// The tensor's own deleter frees the tensor too, so nothing of it is read
// afterwards.
static void delete_versioned(void *context, void *data) {
  (void)data;
  versioned *t = context;
  if (t->deleter != NULL)
    t->deleter(t);
}

// The older form does not say who else may write to the tensor, so it is
// read-only.
tally_status tally_from_dlpack(tally_vm *vm, struct DLManagedTensor *tensor,
                               tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, tensor, "the tensor") ||
      !tl_given(vm, out, "the place for the result") ||
      !import(vm, &tensor->tensor, true, delete_legacy, tensor, out))
    return tl_report(vm);
  return TALLY_OK;
}

// Another major version may have another layout, so nothing of it is read.
tally_status tally_from_dlpack_versioned(tally_vm *vm,
                                         struct DLManagedTensorVersioned *t,
                                         tally_value *out) {
  TL_ENTER(vm);
  if (!tl_given(vm, t, "the tensor") ||
      !tl_given(vm, out, "the place for the result"))
    return tl_report(vm);
  if (t->major != 1)
    return tl_report_fail(vm, TALLY_ERR_TYPE,
                          "DLPack of version %u is not known here: 1 is",
                          (unsigned)t->major);
  // Only a copy made for us is ours to write.
  bool read_only =
      (t->flags & DL_IS_COPIED) == 0 || (t->flags & DL_READ_ONLY) != 0;
  if (!import(vm, &t->tensor, read_only, delete_versioned, t, out))
    return tl_report(vm);
  return TALLY_OK;
}

// --- Out --------------------------------------------------------------------

// A tensor that went out, with what it needs.
// The tensor's shape and strides point into it, and for a number its data.
typedef struct exported {
  tl_export head;
  union {
    legacy legacy;
    versioned versioned;
  } as;
  tl_c128 item;    // of a scalar
  int64_t dims[];  // shape, then strides
} exported;

// The deleters of tensors that went out.
static void end_legacy(legacy *t) {
  if (t != NULL)
    tl_export_end(t->context);
}

// Called by the consumer once, on the VM's thread, or after the VM has closed.
static void end_versioned(versioned *t) {
  if (t != NULL)
    tl_export_end(t->context);
}

// DLPack counts strides in items, so each has to be a multiple of the item's
// size.
static bool has_whole_strides(const tl_array *a) {
  int64_t itemsize = (int64_t)tl_itemsize(tl_array_dtype(a));
  for (int i = 0; i < tl_ndim(a); i++)
    if (tl_strides(a)[i] % itemsize != 0)
      return false;
  return true;
}

// Exports a number or an array into *tensor; NULL after tl_fail.
// Arrays of strings and nested ones fail (kind type). The copy of an array
// whose strides are no whole items is the export's own.
static exported *export(tl_vm *vm, tl_slot value, dl_tensor *tensor) {
  bool is_array = tl_is_array(value) && tl_array_dtype(value.array) < TL_STRING;
  if (!is_array && !tl_is_scalar(value)) {
    tl_fail(vm, TALLY_ERR_TYPE,
            "DLPack takes numbers and arrays of them: got %s",
            tl_described(vm, value));
    return NULL;
  }
  // Such strides cannot be said in items, so the array is copied.
  if (is_array && !has_whole_strides(value.array)) {
    tl_array *copy = tl_array_copy(vm, value.array);
    if (copy == NULL)
      return NULL;
    value = tl_own_array(copy);
  }
  tl_dtype dtype = (tl_dtype)tl_dtype_of(value);
  int ndim = is_array ? tl_ndim(value.array) : 0;
  const tl_array *a = is_array ? value.array : NULL;
  exported *e =
      tl_export_new(vm, sizeof *e + 2 * (size_t)ndim * sizeof(int64_t), &value);
  tl_drop(vm, value);
  if (e == NULL)
    return NULL;
  if (is_array) {  // a small view was copied out by escaping
    tl_slot held;
    tl_handle_get(vm, e->head.held, &held);
    a = held.array;
  } else {
    tl_scalar_store(value, &e->item);
  }
  for (int i = 0; i < ndim; i++) {
    e->dims[i] = tl_shape(a)[i];
    e->dims[ndim + i] = tl_strides(a)[i] / (int64_t)tl_itemsize(dtype);
  }
  *tensor = (dl_tensor){.data = is_array ? a->data : (char *)&e->item,
                        .device = {DL_CPU, 0},
                        .ndim = ndim,
                        .shape = e->dims,
                        .strides = e->dims + ndim};
  for (int i = 0; i < DTYPES; i++)
    if (dtypes[i].dtype == dtype)
      tensor->dtype = (dl_dtype){dtypes[i].code, dtypes[i].bits, 1};
  return e;
}

// The same of a handle; [out] is the host's place for the result.
static exported *export_value(tl_vm *vm, tally_value v, const void *out,
                              dl_tensor *tensor) {
  tl_slot value;
  bool ok = tl_given(vm, out, "the place for the tensor") &&
            tl_handle_get(vm, v, &value);
  return ok ? export(vm, value, tensor) : NULL;
}

// The tensor points into the value, which the export holds.
tally_status tally_to_dlpack(tally_vm *vm, tally_value v,
                             struct DLManagedTensor **out) {
  TL_ENTER(vm);
  dl_tensor tensor;
  exported *e = export_value(vm, v, out, &tensor);
  if (e == NULL)
    return tl_report(vm);
  e->as.legacy = (legacy){tensor, e, end_legacy};
  *out = &e->as.legacy;
  return TALLY_OK;
}

// Read-only, since scripts rely on their values not changing.
tally_status tally_to_dlpack_versioned(tally_vm *vm, tally_value v,
                                       struct DLManagedTensorVersioned **out) {
  TL_ENTER(vm);
  dl_tensor tensor;
  exported *e = export_value(vm, v, out, &tensor);
  if (e == NULL)
    return tl_report(vm);
  e->as.versioned = (versioned){1, 0, e, end_versioned, DL_READ_ONLY, tensor};
  *out = &e->as.versioned;
  return TALLY_OK;
}
