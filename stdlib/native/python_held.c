// Arrays and functions of Tally's in Python: see python_held.h.

#include "stdlib/native/python_held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const py_format py_formats[] = {
    {"bool", "?", 1},       {"int8", "b", 1},         {"int16", "h", 2},
    {"int32", "i", 4},      {"int64", "q", 8},        {"uint8", "B", 1},
    {"uint16", "H", 2},     {"uint32", "I", 4},       {"uint64", "Q", 8},
    {"float16", "e", 2},    {"float32", "f", 4},      {"float64", "d", 8},
    {"complex64", "Zf", 8}, {"complex128", "Zd", 16}, {NULL, NULL, 0}};

const py_format *py_format_of(const char *dtype) {
  const py_format *f = py_formats;
  while (f->dtype != NULL && strcmp(f->dtype, dtype) != 0) f++;
  return f->dtype == NULL ? NULL : f;
}

// Made once, by py_held_open; each instance has a reference to its type.
static py_object *array_type, *function_type;

// Called by Python when the last reference is gone, in any thread. The keeper
// goes last, for its end may close the VM and needs the value given back; the
// type, as for every type made from a spec, is counted by its objects.
static void end_held(py_object *self) {
  py_held *h = (py_held *)(void *)self;
  py_object *type = self->type, *keeper = h->link->keeper;
  // Nothing of h is read behind this: it may run code of Python's that ends
  // others.
  py_give_back(h->link, h->value);
  py.PyObject_Free(self);
  py.Py_DecRef(type);
  py_drop(keeper);
}

// A new object of the type that holds the value; NULL with an exception.
// The VM has one more owner of v until end_held; the keeper one more reference.
static py_held *hold(py_link *link, py_object *type, tally_value v) {
  py_held *h = (py_held *)(void *)py.PyType_GenericAlloc(type, 0);
  if (h == NULL)
    return NULL;
  h->link = link;
  h->value = tally_retain(link->vm, v);
  if (link->keeper != NULL)
    py.Py_IncRef(link->keeper);
  return h;
}

// Whether the items lie one behind the other, the last axis the fastest, or the
// first where [by_columns].
static int is_dense(const py_held *h, int by_columns) {
  size_t step = h->item->size;
  for (int i = 0; i < h->of.ndim; i++) {
    int axis = by_columns ? i : h->of.ndim - 1 - i;
    if (h->shape[axis] != 1 && h->strides[axis] != (intptr_t)step)
      return h->of.size == 0;
    step *= (size_t)h->shape[axis];
  }
  return 1;
}

// Whether the array lies as the flags of a buffer's user want it: who asks for
// no strides gets items row by row.
static int is_as_wanted(const py_held *h, int flags) {
  int is_by_rows = is_dense(h, 0);
  if ((flags & PY_STRIDES) == 0 || (flags & PY_C_CONTIGUOUS) != 0)
    return is_by_rows;
  if ((flags & PY_F_CONTIGUOUS) != 0)
    return is_dense(h, 1);
  return (flags & PY_ANY_CONTIGUOUS) == 0 || is_by_rows || is_dense(h, 1);
}

// Whether the array's memory is still there; else an exception.
static int is_open(const py_held *h) {
  if (h->link->vm == NULL)
    py_fail(*py.PyExc_BufferError, "the VM was closed");
  return h->link->vm != NULL;
}

int py_is_callable(const py_held *h) {
  return h->link->vm != NULL && pthread_equal(h->link->thread, pthread_self());
}

// The array's memory, for reading. The buffer has a reference to the array,
// which keeps the value, its shape and its strides in place.
// Needs no thread of the VM's: the value is kept, and its memory not written
// while it has two owners.
static int get_buffer(py_object *self, py_buffer *out, int flags) {
  py_held *h = (py_held *)(void *)self;
  out->obj = NULL;
  const char *why = (flags & PY_WRITABLE) != 0 ? "arrays of Tally are read only"
                    : !is_as_wanted(h, flags)  ? "the array is not contiguous"
                                               : NULL;
  if (!is_open(h))
    return -1;
  if (why != NULL) {
    py_fail(*py.PyExc_BufferError, why);
    return -1;
  }
  // PyBuffer_Release gives this back; there is nothing else to do at its end.
  py.Py_IncRef(self);
  *out = (py_buffer){.buf = h->of.data,
                     .obj = self,
                     .len = (intptr_t)(h->of.size * h->item->size),
                     .itemsize = (intptr_t)h->item->size,
                     .readonly = 1,
                     .ndim = (flags & PY_SHAPE) != 0 ? h->of.ndim : 1,
                     .format = (flags & PY_FORMAT) != 0
                                   ? (char *)(uintptr_t)h->item->format
                                   : NULL,
                     .shape = (flags & PY_SHAPE) != 0 ? h->shape : NULL,
                     .strides = (flags & PY_STRIDES) != 0 ? h->strides : NULL};
  return 0;
}

// Sizes as a tuple.
// A new reference, or NULL with an exception.
static py_object *sizes(const intptr_t *from, int n) {
  py_object *out = py.PyTuple_New(n);
  for (int i = 0; out != NULL && i < n; i++)
    py.PyTuple_SetItem(out, i, py.PyLong_FromLongLong(from[i]));
  return out;
}

// array.shape, as NumPy's: a tuple.
static py_object *get_shape(py_object *self, void *closure) {
  py_held *h = (py_held *)(void *)self;
  return sizes(h->shape, h->of.ndim);
}

// array.dtype: a name of Tally's and NumPy's, not NumPy's object, so that it is
// there without NumPy.
static py_object *get_dtype(py_object *self, void *closure) {
  return py_text(((py_held *)(void *)self)->item->dtype);
}

// NumPy's own description: {"shape": …, "typestr": "<f8", "data": (place,
// True)}.
// For what knows neither the buffer protocol's Zd nor DLPack. The reader keeps
// the array itself, and with it the memory. The kind's letter has the size
// behind it; bytes have no order, which the bar says.
static py_object *get_interface(py_object *self, void *closure) {
  py_held *h = (py_held *)(void *)self;
  char type[16];
  if (!is_open(h))
    return NULL;
  snprintf(type, sizeof type, "%c%c%zu", h->item->size == 1 ? '|' : '<',
           h->item->dtype[0], h->item->size);
  return py.Py_BuildValue(
      "{s:N,s:N,s:s,s:(NN),s:i}", "shape", sizes(h->shape, h->of.ndim),
      "strides", sizes(h->strides, h->of.ndim), "typestr", type, "data",
      py.PyLong_FromVoidPtr(h->of.data), py.PyBool_FromLong(1), "version", 3);
}

// A DLManagedTensor (dlpack.h) of an array. It has a reference to the array
// instead of a value of the VM's (tally_to_dlpack), for it may outlive all that
// a program sees of the VM, and may be deleted by any thread.
typedef struct tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;  // of a dtype: see code_of
  uint16_t lanes;
  int64_t *shape, *strides;  // strides in items
  uint64_t offset;
  py_object *array;
  void (*deleter)(struct tensor *);
  int64_t sizes[];  // shape, then strides
} tensor;

// Called by whoever took the tensor.
static void end_tensor(tensor *t) {
  py_drop_anywhere(t->array);
  free(t);
}

// A tensor that nobody took ends with its capsule: who takes one renames it.
static void end_capsule(py_object *capsule) {
  if (py.PyCapsule_IsValid(capsule, "dltensor"))
    end_tensor(py.PyCapsule_GetPointer(capsule, "dltensor"));
}

// The kind of a dtype in dlpack.h:
// kDLInt 0, kDLUInt 1, kDLFloat 2, kDLComplex 5, kDLBool 6.
static uint8_t code_of(const py_format *item) {
  static const char kinds[] = "iuf--cb";
  return (uint8_t)(strchr(kinds, item->dtype[0]) - kinds);
}

// array.__dlpack__(): arguments, as of a stream, say nothing to a processor.
static py_object *to_dlpack(py_object *self, py_object *args,
                            py_object *named) {
  py_held *h = (py_held *)(void *)self;
  int ndim = h->of.ndim;
  if (!is_open(h))
    return NULL;
  tensor *t = calloc(1, sizeof *t + 2 * (size_t)ndim * sizeof *t->sizes);
  if (t == NULL)
    return py_fail(*py.PyExc_BufferError, "no memory for a tensor");
  *t = (tensor){.data = h->of.data,
                .device_type = 1,  // kDLCPU
                .ndim = ndim,
                .code = code_of(h->item),
                .bits = (uint8_t)(h->item->size * 8),
                .lanes = 1,
                .shape = t->sizes,
                .strides = t->sizes + ndim,
                .array = self,
                .deleter = end_tensor};
  for (int i = 0; i < ndim; i++) {
    t->shape[i] = h->shape[i];
    t->strides[i] = h->strides[i] / (intptr_t)h->item->size;
    if (h->strides[i] % (intptr_t)h->item->size != 0) {
      free(t);
      return py_fail(*py.PyExc_BufferError, "strides of no whole items");
    }
  }
  py_object *capsule = py.PyCapsule_New(t, "dltensor", end_capsule);
  if (capsule == NULL)
    free(t);
  else
    py.Py_IncRef(self);
  return capsule;
}

// The processor's memory: kDLCPU, 0.
// A method without arguments: nothing is NULL.
static py_object *get_device(py_object *self, py_object *nothing) {
  static const intptr_t cpu[] = {1, 0};
  return sizes(cpu, 2);
}

// len(array): items of the leading axis.
static intptr_t length(py_object *self) {
  py_held *h = (py_held *)(void *)self;
  return h->of.ndim == 0 ? 0 : h->shape[0];
}

// repr of both types: what print shows of the value. Another thread gets a text
// all the same, for a debugger shows what it can reach.
static py_object *show(py_object *self) {
  py_held *h = (py_held *)(void *)self;
  tally_value shown;
  const char *from;
  size_t n;
  py_object *out = NULL;
  if (!py_is_callable(h))
    return py_text("<a value of a closed VM, or of another thread's>");
  if (tally_format(h->link->vm, h->value, &shown) != TALLY_OK)
    return py_set_error(h->link, NULL);
  if (tally_to_string(h->link->vm, shown, &from, &n) == TALLY_OK)
    out = py.PyUnicode_FromStringAndSize(from, (intptr_t)n);
  tally_release(h->link->vm, shown);
  return out;
}

// type(f)(): a slot of its own, for else the types inherit object's, and what
// that makes has no link. A flag that forbids it is there only from 3.10 on.
static py_object *refuse_new(py_object *type, py_object *args,
                             py_object *named) {
  return py_fail(*py.PyExc_TypeError,
                 "arrays and functions of Tally's are made by scripts");
}

// C keeps functions apart from objects; Python's tables do not.
#define SLOT(function) ((void *)(uintptr_t)(function))
#define METHOD(function) ((void (*)(void))(function))

// The tables are static, for types refer to them for ever. A type that could
// not be made is tried again by the next call.
int py_held_open(py_object *(*call)(py_object *, py_object *, py_object *)) {
  static py_method methods[] = {
      {"__dlpack__", METHOD(to_dlpack), PY_VARARGS_KEYWORDS, NULL},
      {"__dlpack_device__", METHOD(get_device), PY_NO_ARGUMENTS, NULL},
      {NULL, NULL, 0, NULL}};
  static py_getter getters[] = {
      {"shape", METHOD(get_shape), NULL, "its sizes", NULL},
      {"dtype", METHOD(get_dtype), NULL, "the name of its dtype", NULL},
      {"__array_interface__", METHOD(get_interface), NULL, NULL, NULL},
      {NULL, NULL, NULL, NULL, NULL}};
  static py_slot array_slots[] = {
      {PY_TP_DEALLOC, SLOT(end_held)},
      {PY_BF_GETBUFFER, SLOT(get_buffer)},
      {PY_MP_LENGTH, SLOT(length)},
      {PY_TP_REPR, SLOT(show)},
      {PY_TP_METHODS, methods},
      {PY_TP_GETSET, getters},
      {PY_TP_NEW, SLOT(refuse_new)},
      {PY_TP_DOC, "An array of Tally's, to be read by the buffer protocol."},
      {0, NULL}};
  static py_slot function_slots[] = {{PY_TP_DEALLOC, SLOT(end_held)},
                                     {PY_TP_CALL, NULL},
                                     {PY_TP_REPR, SLOT(show)},
                                     {PY_TP_NEW, SLOT(refuse_new)},
                                     {PY_TP_DOC, "A function of Tally's."},
                                     {0, NULL}};
  static py_spec array_spec = {"tally.Array", sizeof(py_held), 0, 0,
                               array_slots};
  static py_spec function_spec = {"tally.Function", sizeof(py_held), 0, 0,
                                  function_slots};
  function_slots[1].pointer = SLOT(call);
  // The exception of the first that fails is the caller's.
  if (array_type == NULL)
    array_type = py.PyType_FromSpec(&array_spec);
  if (function_type == NULL)
    function_type = py.PyType_FromSpec(&function_spec);
  return array_type != NULL && function_type != NULL;
}

// NumPy's function, borrowed from the link, which keeps it: an import takes as
// long as all else of an array. NULL, with no exception: arrays stay Tally's.
// Where NumPy is not installed, each array has Python search its folders again.
static py_object *find_asarray(py_link *link) {
  if (!link->numpy || link->asarray != NULL)
    return link->asarray;
  py_object *numpy = py.PyImport_ImportModule("numpy");
  if (numpy != NULL)
    link->asarray = py.PyObject_GetAttrString(numpy, "asarray");
  py.PyErr_Clear();
  py_drop(numpy);
  return link->asarray;
}

// Takes nothing; h owns one handle more of v. Where NumPy is asked, the array
// that it makes keeps h by the buffer protocol, and h is seen by nobody else.
py_object *py_from_array(py_link *link, tally_value v, const tally_array *a) {
  py_held *h = hold(link, array_type, v);
  if (h == NULL)
    return NULL;
  h->of = *a;
  h->item = py_format_of(a->dtype);
  for (int i = 0; i < a->ndim; i++) {
    h->shape[i] = (intptr_t)a->shape[i];
    h->strides[i] = (intptr_t)a->strides[i];
  }
  py_object *made = &h->head, *convert = find_asarray(link);
  if (convert == NULL)
    return made;
  py_object *out = py.PyObject_CallFunctionObjArgs(convert, made, NULL);
  py_drop(made);
  return out;
}

py_object *py_from_function(py_link *link, tally_value v) {
  py_held *h = hold(link, function_type, v);
  return h == NULL ? NULL : &h->head;
}

const py_held *py_held_of(py_object *o) {
  return o->type == array_type || o->type == function_type
             ? (const py_held *)(const void *)o
             : NULL;
}
