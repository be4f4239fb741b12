// Values to Python and back: see python_values.h.
//
// An array of Tally's is, in Python, an object that keeps a handle of it and
// shows its memory by the buffer protocol; one of Python's is, in Tally, a host
// buffer that keeps the Py_buffer. So both sides count what the other holds,
// and neither copies.
//
// One array on its way there and back, with what is counted where:
//
//     x = arange(5)             block 1
//     o = python.object(x)      block 2: a handle in tally.Array, which NumPy's
//                               array has as its base
//     y = python.value(o)       a block of the host over the same bytes; its
//                               Py_buffer keeps NumPy's array
//     x = none, o = none        block 1, through y
//     y = none                  end_seen, NumPy's array ends, end_held: block 0
//
// What must not happen meanwhile: a value is released by a thread that is not
// the VM's (give_back leaves it for the next call), an object of Python's is
// touched without its lock (each hook of the VM's takes it, for a value may end
// while Tally runs), and either side is asked after it has ended (link->vm is
// NULL, Py_IsInitialized is 0).
//
// The conversions, by what is asked first:
//
//     py_from_value  none, string, function, list, record, number,
//                    python.object, array with a format, array item by item
//     to_value       None, bool, int, float, complex, str, tally's own,
//                    buffer, list or tuple, dict, handle

#define _GNU_SOURCE 1  // for RTLD_DEFAULT

#include "stdlib/native/python_values.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

py_api py;
py_object *py_error_class;

// Lists in lists, at most; Python's may contain themselves.
// 100 calls of to_value are some 50 KiB of a stack that Python's own calls
// share.
enum { DEEPEST = 100 };

// --- The table --------------------------------------------------------------

const char *py_find(void *library) {
  // dlsym gives objects where the table has functions: memcpy, for ISO C has no
  // cast from one to the other.
  void *from = library == NULL ? RTLD_DEFAULT : library, *found;
#define X(result, name, params)             \
  if ((found = dlsym(from, #name)) == NULL) \
    return #name;                           \
  memcpy(&py.name, &found, sizeof found);
  PY_FUNCTIONS(X)
#undef X
#define X(name)                             \
  if ((found = dlsym(from, #name)) == NULL) \
    return #name;                           \
  py.name = found;
  PY_OBJECTS(X)
  PY_EXCEPTIONS(X)
#undef X
  return NULL;
}

py_process py_owner = PY_ANY_PROCESS;

// A fork copies the one thread that calls it: a lock that another thread had is
// held for ever then, so that Python is refused in the child.
static int is_forked(void) {
  return py_owner == PY_PARENT_PROCESS;
}

// For what is released, in the child it is lost.
static int is_usable(void) {
  return !is_forked() && py.Py_IsInitialized();
}

tally_status py_need(tally_vm *vm) {
  if (is_forked())
    return tally_raise(vm, TALLY_ERR_HOST,
                       "python: it was started before this process forked, "
                       "and cannot be used after");
  // Where Tally is inside of Python, VMs may be closed behind Py_Finalize.
  if (!py.Py_IsInitialized())
    return tally_raise(vm, TALLY_ERR_HOST, "python: the interpreter has ended");
  return TALLY_OK;
}

// --- VMs that Python knows --------------------------------------------------

// Records are never freed; the list is there so that they do not count as lost
// memory. VMs of several threads may import python at once.
static py_link *links;
static pthread_mutex_t linking = PTHREAD_MUTEX_INITIALIZER;

py_link *py_link_new(tally_vm *vm, py_object *keeper) {
  py_link *link = calloc(1, sizeof *link);
  if (link == NULL)
    return NULL;
  link->vm = vm;
  link->thread = pthread_self();
  link->keeper = keeper;
  pthread_mutex_init(&link->lock, NULL);
  pthread_mutex_lock(&linking);
  link->next = links;
  links = link;
  pthread_mutex_unlock(&linking);
  return link;
}

void py_link_sweep(py_link *link) {
  // The end of a value may run Python, which may let a thread go on that waits
  // for the mutex with Python's lock: nothing is released with the mutex held.
  pthread_mutex_lock(&link->lock);
  tally_value *left = link->left;
  size_t count = link->left_count;
  link->left = NULL;
  link->left_count = link->left_capacity = 0;
  pthread_mutex_unlock(&link->lock);
  // Each may leave values of its own, which give_back releases at once: this is
  // the VM's thread.
  for (size_t i = 0; i < count; i++) tally_release(link->vm, left[i]);
  free(left);
}

// The record stays: objects of Python's may still refer to it.
void py_link_close(py_link *link) {
  py_link_sweep(link);
  link->vm = NULL;
}

// Gives a value back, from any thread and after the VM, too. Where there is no
// memory to remember it, it lives until the VM closes.
// Called with Python's lock, in which link->vm does not change meanwhile. A VM
// that is never called again keeps what was left until it closes.
static void give_back(py_link *link, tally_value v) {
  if (link->vm == NULL)
    return;
  // In the VM's own thread it runs at most up the stack, in a call to Python,
  // where tally_release is allowed.
  if (pthread_equal(link->thread, pthread_self())) {
    tally_release(link->vm, v);
    return;
  }
  pthread_mutex_lock(&link->lock);
  if (link->left_count == link->left_capacity) {
    size_t more = link->left_capacity * 2 + 16;
    tally_value *block = realloc(link->left, more * sizeof *block);
    if (block != NULL) {
      link->left = block;
      link->left_capacity = more;
    }
  }
  // Python's lock and then this mutex: nobody takes them the other way round.
  if (link->left_count < link->left_capacity)
    link->left[link->left_count++] = v;
  pthread_mutex_unlock(&link->lock);
}

// --- Errors -----------------------------------------------------------------

// A text of Python's; NULL where it is none. Borrowed from the object.
// An exception that the attempt sets is cleared. Valid while the object is, for
// that keeps its UTF-8; NUL-terminated, and may have NULs within.
static const char *text_of(py_object *o, size_t *nbytes) {
  intptr_t n = 0;
  const char *text = o == NULL ? NULL : py.PyUnicode_AsUTF8AndSize(o, &n);
  *nbytes = (size_t)n;
  if (text == NULL)
    py.PyErr_Clear();
  return text;
}

// All of an exception as Python prints it, a new reference; NULL.
// By Python's own traceback.format_exception, so that chained exceptions
// ("during the handling of …") are in it. Borrows all three; NULL ones count as
// None. What goes wrong here is cleared: the error that is told matters more.
static py_object *format_exception(py_object *type, py_object *value,
                                   py_object *trace) {
  py_object *module = py.PyImport_ImportModule("traceback"), *out = NULL;
  py_object *format =
      module == NULL ? NULL
                     : py.PyObject_GetAttrString(module, "format_exception");
  py_object *args = py.PyTuple_New(3), *lines = NULL, *empty, *join;
  py_object *const items[] = {type, value, trace};
  for (int i = 0; args != NULL && i < 3; i++) {
    py_object *item = items[i] == NULL ? py._Py_NoneStruct : items[i];
    py.Py_IncRef(item);
    py.PyTuple_SetItem(args, i, item);
  }
  if (format != NULL && args != NULL)
    lines = py.PyObject_Call(format, args, NULL);
  py_drop(args);
  // "".join(lines)
  empty = py.PyUnicode_FromStringAndSize("", 0);
  join = empty == NULL ? NULL : py.PyObject_GetAttrString(empty, "join");
  args = py.PyTuple_New(1);
  if (lines != NULL && join != NULL && args != NULL) {
    py.Py_IncRef(lines);
    py.PyTuple_SetItem(args, 0, lines);
    out = py.PyObject_Call(join, args, NULL);
  }
  py_drop(args);
  py_drop(join);
  py_drop(empty);
  py_drop(lines);
  py_drop(format);
  py_drop(module);
  py.PyErr_Clear();
  return out;
}

// "ValueError: no" first, then where it came from.
tally_status py_raise(py_link *link) {
  py_object *type = NULL, *value = NULL, *trace = NULL;
  // Fetch and Normalize, for 3.12's PyErr_GetRaisedException is not in 3.9.
  // Fetch clears, and what follows may set others, which the last clear is for.
  size_t n, m;
  py.PyErr_Fetch(&type, &value, &trace);
  py.PyErr_NormalizeException(&type, &value, &trace);
  // str(value) may run Python and fail; then only the class is told.
  py_object *said = value == NULL ? NULL : py.PyObject_Str(value);
  py_object *name =
      type == NULL ? NULL : py.PyObject_GetAttrString(type, "__name__");
  py.PyErr_Clear();
  const char *what = text_of(said, &n), *class = text_of(name, &m);
  py_object *whole =
      trace == NULL ? NULL : format_exception(type, value, trace);
  const char *text = text_of(whole, &n);
  tally_status status = tally_raise(
      link->vm, TALLY_ERR_HOST, "python: %s%s%s%s%.2000s",
      class == NULL ? "an error" : class,
      what == NULL || *what == 0 ? "" : ": ", what == NULL ? "" : what,
      text == NULL ? "" : "\n", text == NULL ? "" : text);
  py_drop(whole);
  py_drop(said);
  py_drop(name);
  py_drop(type);
  py_drop(value);
  py_drop(trace);
  return status;
}

// A new reference, NULL with an exception: from is not UTF-8. Errors of a VM
// are (tally_raise sees to it).
static py_object *text(const char *from) {
  return py.PyUnicode_FromStringAndSize(from, (intptr_t)strlen(from));
}

// The arguments of tally.Error: report, kind, message, file, line, column.
// e is borrowed from the VM, and copied before anything of Python's runs that
// may call into the VM. PyErr_SetObject calls the class with the tuple's items.
static void set_own_error(const tally_error_info *e) {
  py_object *args = py.PyTuple_New(6);
  py_object *items[] = {text(e->report),
                        text(e->kind),
                        text(e->message),
                        text(e->file == NULL ? "" : e->file),
                        py.PyLong_FromLongLong(e->line),
                        py.PyLong_FromLongLong(e->column)};
  // PyTuple_SetItem takes each. One is NULL only where there is no memory.
  for (int i = 0; args != NULL && i < 6; i++)
    py.PyTuple_SetItem(args, i, items[i]);
  if (args != NULL)
    py.PyErr_SetObject(py_error_class, args);
  py_drop(args);
}

// An interrupt of the VM's is Python's KeyboardInterrupt.
void py_set_error(py_link *link, py_object *class) {
  const tally_error_info *e = tally_error(link->vm);
  // So that Ctrl-C goes through "except Exception" in Python.
  if (class == NULL && e->status == TALLY_ERR_INTERRUPT)
    class = *py.PyExc_KeyboardInterrupt;
  if (class == NULL && py_error_class != NULL) {
    set_own_error(e);
    return;
  }
  py.PyErr_SetString(
      class == NULL ? *py.PyExc_RuntimeError : class,
      e->report != NULL && e->report[0] != 0 ? e->report : e->message);
}

// --- Arrays and functions in Python -----------------------------------------

// tally.Array and tally.Function: a value of a VM's. The shape and strides are
// what a buffer of it refers to.
// The head has to be first: Python knows the object by it. Objects are made
// zeroed by their type, and changed by nobody once from_array has filled them;
// so that their getters need no thread of the VM's.
typedef struct held {
  py_object head;
  // Never NULL: refuse_new sees to it that only hold makes one.
  py_link *link;
  tally_value value;
  // What value's memory is: valid as long as value, which is released last. Its
  // dtype is not, for the text is the VM's: see format.
  tally_array of;
  intptr_t shape[TALLY_MAX_DIMS], strides[TALLY_MAX_DIMS];
  // As the module struct writes an item: "d", "Zd"; NUL-terminated.
  char format[3];
  size_t itemsize;
} held;

// Made once, by py_values_open; each instance has a reference to its type.
static py_object *array_type, *function_type;

// How the buffer protocol calls a dtype; "" where it has no name for it.
static const struct {
  const char *dtype, *format;
  size_t size;
} formats[] = {
    {"bool", "?", 1},       {"int8", "b", 1},         {"int16", "h", 2},
    {"int32", "i", 4},      {"int64", "q", 8},        {"uint8", "B", 1},
    {"uint16", "H", 2},     {"uint32", "I", 4},       {"uint64", "Q", 8},
    {"float16", "e", 2},    {"float32", "f", 4},      {"float64", "d", 8},
    {"complex64", "Zf", 8}, {"complex128", "Zd", 16}, {NULL, NULL, 0}};

// Called by Python when the last reference is gone, in any thread. The keeper
// goes last, for its end may close the VM and needs the value given back; the
// type, as for every type made from a spec, is counted by its objects.
static void end_held(py_object *self) {
  held *h = (held *)(void *)self;
  py_object *type = self->type, *keeper = h->link->keeper;
  // Nothing of h is read behind this: it may run code of Python's that ends
  // others.
  give_back(h->link, h->value);
  py.PyObject_Free(self);
  py.Py_DecRef(type);
  py_drop(keeper);
}

// A new object of the type that holds the value; NULL with an exception.
// The VM has one more owner of v until end_held; the keeper one more reference.
static held *hold(py_link *link, py_object *type, tally_value v) {
  held *h = (held *)(void *)py.PyType_GenericAlloc(type, 0);
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
static int is_dense(const held *h, int by_columns) {
  size_t step = h->itemsize;
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
static int is_as_wanted(const held *h, int flags) {
  int is_by_rows = is_dense(h, 0);
  if ((flags & PY_STRIDES) == 0 || (flags & PY_C_CONTIGUOUS) != 0)
    return is_by_rows;
  if ((flags & PY_F_CONTIGUOUS) != 0)
    return is_dense(h, 1);
  return (flags & PY_ANY_CONTIGUOUS) == 0 || is_by_rows || is_dense(h, 1);
}

// The array's memory, for reading. The buffer has a reference to the array,
// which keeps the value, its shape and its strides in place.
// Needs no thread of the VM's: the value is kept, and its memory not written
// while it has two owners.
static int get_buffer(py_object *self, py_buffer *out, int flags) {
  held *h = (held *)(void *)self;
  out->obj = NULL;
  if (h->link->vm == NULL) {
    py.PyErr_SetString(*py.PyExc_BufferError, "the VM was closed");
    return -1;
  }
  if ((flags & PY_WRITABLE) != 0) {
    py.PyErr_SetString(*py.PyExc_BufferError, "arrays of Tally are read only");
    return -1;
  }
  if (!is_as_wanted(h, flags)) {
    py.PyErr_SetString(*py.PyExc_BufferError, "the array is not contiguous");
    return -1;
  }
  // PyBuffer_Release gives this back; there is nothing else to do at its end.
  py.Py_IncRef(self);
  *out = (py_buffer){.buf = h->of.data,
                     .obj = self,
                     .len = (intptr_t)(h->of.size * h->itemsize),
                     .itemsize = (intptr_t)h->itemsize,
                     .readonly = 1,
                     .ndim = (flags & PY_SHAPE) != 0 ? h->of.ndim : 1,
                     .format = (flags & PY_FORMAT) != 0 ? h->format : NULL,
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
  held *h = (held *)(void *)self;
  (void)closure;
  return sizes(h->shape, h->of.ndim);
}

// array.dtype: a name of Tally's and NumPy's, not NumPy's object, so that it is
// there without NumPy.
static py_object *get_dtype(py_object *self, void *closure) {
  (void)closure;
  for (int i = 0; formats[i].dtype != NULL; i++)
    if (strcmp(formats[i].format, ((held *)(void *)self)->format) == 0)
      return text(formats[i].dtype);
  return text("?");
}

// NumPy's own description: {"shape": …, "typestr": "<f8", "data": (place,
// True)}.
// For what knows neither the buffer protocol's Zd nor DLPack. The reader keeps
// the array itself, and with it the memory. Integers have the size behind the
// kind's letter; bytes have no order, which the bar says.
static py_object *get_interface(py_object *self, void *closure) {
  held *h = (held *)(void *)self;
  // Kinds of NumPy's: b bool, i and u integers, f floats, c complex ones.
  char type[16], letter = h->format[0] == 'Z' ? 'c' : h->format[0];
  (void)closure;
  if (h->link->vm == NULL) {
    py.PyErr_SetString(*py.PyExc_BufferError, "the VM was closed");
    return NULL;
  }
  letter = strchr("bhiq", letter) != NULL   ? 'i'
           : strchr("BHIQ", letter) != NULL ? 'u'
           : letter == '?'                  ? 'b'
           : letter == 'c'                  ? 'c'
                                            : 'f';
  snprintf(type, sizeof type, "%c%c%zu", h->itemsize == 1 ? '|' : '<', letter,
           h->itemsize);
  py_object *out = py.PyDict_New(), *data = py.PyTuple_New(2);
  py_object *values[] = {sizes(h->shape, h->of.ndim),
                         sizes(h->strides, h->of.ndim), text(type), data,
                         py.PyLong_FromLongLong(3)};
  static const char *const names[] = {"shape", "strides", "typestr", "data",
                                      "version"};
  if (data != NULL) {
    py.PyTuple_SetItem(data, 0, py.PyLong_FromVoidPtr(h->of.data));
    py.PyTuple_SetItem(data, 1, py.PyBool_FromLong(1));
  }
  for (int i = 0; i < 5; i++) {
    if (out != NULL && values[i] != NULL)
      py.PyDict_SetItemString(out, names[i], values[i]);
    py_drop(values[i]);
  }
  return out;
}

// A DLManagedTensor (dlpack.h) of an array. It has a reference to the array
// instead of a value of the VM's (tally_to_dlpack), for it may outlive all that
// a program sees of the VM, and may be deleted by any thread.
typedef struct tensor {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t code, bits;  // of a dtype: see to_dlpack
  uint16_t lanes;
  int64_t *shape, *strides;  // strides in items
  uint64_t offset;
  py_object *array;
  void (*deleter)(struct tensor *);
  int64_t sizes[];  // shape, then strides
} tensor;

// Called by whoever took the tensor, with Python's lock or without.
static void end_tensor(tensor *t) {
  if (is_usable()) {
    int lock = py.PyGILState_Ensure();
    py.Py_DecRef(t->array);
    py.PyGILState_Release(lock);
  }
  free(t);
}

// A tensor that nobody took ends with its capsule: who takes one renames it.
static void end_capsule(py_object *capsule) {
  if (py.PyCapsule_IsValid(capsule, "dltensor"))
    end_tensor(py.PyCapsule_GetPointer(capsule, "dltensor"));
}

// array.__dlpack__(): arguments, as of a stream, say nothing to a processor.
static py_object *to_dlpack(py_object *self, py_object *args,
                            py_object *named) {
  held *h = (held *)(void *)self;
  int ndim = h->of.ndim;
  (void)args, (void)named;
  if (h->link->vm == NULL) {
    py.PyErr_SetString(*py.PyExc_BufferError, "the VM was closed");
    return NULL;
  }
  tensor *t = calloc(1, sizeof *t + 2 * (size_t)ndim * sizeof *t->sizes);
  if (t == NULL) {
    py.PyErr_SetString(*py.PyExc_BufferError, "no memory for a tensor");
    return NULL;
  }
  // What the letters of the buffer protocol are in dlpack.h:
  // kDLInt 0, kDLUInt 1, kDLFloat 2, kDLComplex 5, kDLBool 6.
  char kind = *h->format;
  t->code = strchr("bhiq", kind) != NULL   ? 0
            : strchr("BHIQ", kind) != NULL ? 1
            : kind == 'Z'                  ? 5
            : kind == '?'                  ? 6
                                           : 2;
  t->bits = (uint8_t)(h->itemsize * 8);
  t->lanes = 1;
  t->device_type = 1;  // kDLCPU
  t->data = h->of.data;
  t->ndim = ndim;
  t->shape = t->sizes;
  t->strides = t->sizes + ndim;
  for (int i = 0; i < ndim; i++) {
    t->shape[i] = h->shape[i];
    t->strides[i] = h->strides[i] / (intptr_t)h->itemsize;
    if (h->strides[i] % (intptr_t)h->itemsize != 0) {
      py.PyErr_SetString(*py.PyExc_BufferError, "strides of no whole items");
      free(t);
      return NULL;
    }
  }
  t->array = self;
  t->deleter = end_tensor;
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
  (void)self, (void)nothing;
  return sizes(cpu, 2);
}

// len(array): items of the leading axis.
static intptr_t length(py_object *self) {
  held *h = (held *)(void *)self;
  return h->of.ndim == 0 ? 0 : h->shape[0];
}

// repr of both types: what print shows of the value. Another thread gets a text
// all the same, for a debugger shows what it can reach.
static py_object *show(py_object *self) {
  held *h = (held *)(void *)self;
  tally_value shown;
  const char *from;
  size_t n;
  py_object *out = NULL;
  if (h->link->vm == NULL || !pthread_equal(h->link->thread, pthread_self()))
    return text("<a value of a closed VM, or of another thread's>");
  if (tally_format(h->link->vm, h->value, &shown) != TALLY_OK) {
    py_set_error(h->link, NULL);
    return NULL;
  }
  if (tally_to_string(h->link->vm, shown, &from, &n) == TALLY_OK)
    out = py.PyUnicode_FromStringAndSize(from, (intptr_t)n);
  tally_release(h->link->vm, shown);
  return out;
}

// tally.Function(…): its arguments become values, its result an object.
static py_object *call_function(py_object *self, py_object *args,
                                py_object *named) {
  held *h = (held *)(void *)self;
  // 64, as for python.call (python.c).
  tally_value values[64], result = {0, 0};
  // args is a tuple of Python's own making, whose size and items cannot fail.
  intptr_t count = py.PyObject_Size(args), made = 0;
  py_object *out = NULL;
  if (h->link->vm == NULL || !pthread_equal(h->link->thread, pthread_self())) {
    py.PyErr_SetString(*py.PyExc_RuntimeError,
                       "the VM is closed, or of another thread");
    return NULL;
  }
  // Tally's functions have names for their parameters, but a function value
  // takes them by position.
  if (count > 64 || (named != NULL && py.PyObject_Size(named) > 0)) {
    py.PyErr_SetString(*py.PyExc_TypeError,
                       "a function of Tally takes at most 64 arguments, by "
                       "position");
    return NULL;
  }
  tally_status status = TALLY_OK;
  for (; made < count && status == TALLY_OK; made += status == TALLY_OK) {
    py_object *item = py.PySequence_GetItem(args, made);
    status = py_to_value(h->link, item, 1, &values[made]);
    py_drop(item);
  }
  if (status == TALLY_OK) {
    // The result is read with the lock again; the function may call Python
    // itself, which takes it on its own. Others may use Python meanwhile.
    void *state = py.PyEval_SaveThread();
    status = tally_apply(h->link->vm, h->value, (int)count, values, &result);
    py.PyEval_RestoreThread(state);
  }
  // An os.exit of the function's is an ordinary error here: it ends no Python
  // that has called it.
  if (status == TALLY_OK)
    out = py_from_value(h->link, result);
  else
    py_set_error(h->link, NULL);
  for (intptr_t i = 0; i < made; i++) tally_release(h->link->vm, values[i]);
  tally_release(h->link->vm, result);
  return out;
}

// type(f)(): a slot of its own, for else the types inherit object's, and what
// that makes has no link. A flag that forbids it is there only from 3.10 on.
static py_object *refuse_new(py_object *type, py_object *args,
                             py_object *named) {
  (void)type, (void)args, (void)named;
  py.PyErr_SetString(*py.PyExc_TypeError,
                     "arrays and functions of Tally's are made by scripts");
  return NULL;
}

// C keeps functions apart from objects; Python's tables do not.
#define SLOT(function) ((void *)(uintptr_t)(function))
#define METHOD(function) ((void (*)(void))(function))

// The tables are static, for types refer to them for ever. A type that could
// not be made is tried again by the next call.
int py_values_open(void) {
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
                                     {PY_TP_CALL, SLOT(call_function)},
                                     {PY_TP_REPR, SLOT(show)},
                                     {PY_TP_NEW, SLOT(refuse_new)},
                                     {PY_TP_DOC, "A function of Tally's."},
                                     {0, NULL}};
  static py_spec array_spec = {"tally.Array", sizeof(held), 0, 0, array_slots};
  static py_spec function_spec = {"tally.Function", sizeof(held), 0, 0,
                                  function_slots};
  // The exception of the first that fails is the caller's.
  if (array_type == NULL)
    array_type = py.PyType_FromSpec(&array_spec);
  if (function_type == NULL)
    function_type = py.PyType_FromSpec(&function_spec);
  return array_type != NULL && function_type != NULL;
}

// --- To Python --------------------------------------------------------------

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

// An array as an object, and as one of NumPy's where that is wanted and there.
// Takes nothing; h owns one handle more of v. Where NumPy is asked, the array
// that it makes keeps h by the buffer protocol, and h is seen by nobody else.
static py_object *from_array(py_link *link, tally_value v,
                             const tally_array *a) {
  held *h = hold(link, array_type, v);
  if (h == NULL)
    return NULL;
  h->of = *a;
  for (int i = 0; formats[i].dtype != NULL; i++) {
    if (strcmp(formats[i].dtype, a->dtype) != 0)
      continue;
    // At most two letters and the NUL.
    memcpy(h->format, formats[i].format, strlen(formats[i].format) + 1);
    h->itemsize = formats[i].size;
  }
  for (int i = 0; i < a->ndim; i++) {
    h->shape[i] = (intptr_t)a->shape[i];
    h->strides[i] = (intptr_t)a->strides[i];
  }
  py_object *made = &h->head, *convert = find_asarray(link);
  if (convert == NULL)
    return made;
  py_object *args = py.PyTuple_New(1), *out = NULL;
  if (args != NULL)
    py.PyTuple_SetItem(args, 0, made);
  else
    py_drop(made);
  if (args != NULL)
    out = py.PyObject_Call(convert, args, NULL);
  py_drop(args);
  return out;
}

// Whether the buffer protocol has a format for the array.
// Others (strings, structs, decimals) go item by item, or not at all.
static int is_plain(const tally_array *a) {
  for (int i = 0; formats[i].dtype != NULL; i++)
    if (strcmp(formats[i].dtype, a->dtype) == 0)
      return 1;
  return 0;
}

// A list, or an array of strings, item by item.
// Stops at the first item that Python has nothing for; what was made before
// goes with the list. Borrows v.
static py_object *from_items(py_link *link, tally_value v) {
  size_t n = tally_length(link->vm, v);
  py_object *out = py.PyList_New((intptr_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    tally_value item;
    py_object *made = NULL;
    if (tally_item(link->vm, v, i, &item) == TALLY_OK) {
      made = py_from_value(link, item);
      tally_release(link->vm, item);
    } else {
      py_set_error(link, NULL);
    }
    if (made != NULL) {
      py.PyList_SetItem(out, (intptr_t)i, made);
      continue;
    }
    py_drop(out);
    return NULL;
  }
  return out;
}

// Sets one key of a dict from a record; 0 with an exception.
// The item is found by its place, which is that of its key in keys(v).
static int set_key(py_link *link, py_object *out, tally_value v,
                   tally_value key, size_t at) {
  const char *name;
  size_t n;
  tally_value item;
  if (tally_to_string(link->vm, key, &name, &n) != TALLY_OK ||
      tally_item(link->vm, v, at, &item) != TALLY_OK) {
    py_set_error(link, NULL);
    return 0;
  }
  py_object *made = py_from_value(link, item);
  tally_release(link->vm, item);
  int ok = made != NULL && py.PyDict_SetItemString(out, name, made) == 0;
  py_drop(made);
  return ok;
}

// A dict in the record's order. Keys that are no strings are an error of the
// VM's.
static py_object *from_record(py_link *link, tally_value v) {
  // By the library's keys, for the header has no other way to a record's keys.
  // A hook that may run no code (x[i], operators) cannot do this: a record
  // there is an error.
  tally_value keys, key;
  if (tally_call(link->vm, ".keys", 1, &v, &keys) != TALLY_OK) {
    py_set_error(link, NULL);
    return NULL;
  }
  py_object *out = py.PyDict_New();
  size_t n = tally_length(link->vm, keys);
  for (size_t i = 0; out != NULL && i < n; i++) {
    int ok = tally_item(link->vm, keys, i, &key) == TALLY_OK;
    if (ok) {
      ok = set_key(link, out, v, key, i);
      tally_release(link->vm, key);
    } else {
      py_set_error(link, NULL);
    }
    if (!ok) {
      py_drop(out);
      out = NULL;
    }
  }
  tally_release(link->vm, keys);
  return out;
}

// A number or bool, by its type's name.
// An integer over int64 is an error of the VM's, not a float.
static py_object *from_number(py_link *link, tally_value v, const char *type) {
  // float32 and complex64 are widened, as NumPy's are by float().
  double re = 0, im = 0;
  int64_t i;
  int b;
  if (strcmp(type, "bool") == 0 && tally_to_bool(link->vm, v, &b) == TALLY_OK)
    return py.PyBool_FromLong(b);
  if (*type == 'c' && tally_to_complex(link->vm, v, &re, &im) == TALLY_OK)
    return py.PyComplex_FromDoubles(re, im);
  if (*type == 'f' && tally_to_float(link->vm, v, &re) == TALLY_OK)
    return py.PyFloat_FromDouble(re);
  if (tally_to_int(link->vm, v, &i) == TALLY_OK)
    return py.PyLong_FromLongLong(i);
  py_set_error(link, NULL);
  return NULL;
}

// "int64" and "int8" are told by their beginning: sizes do not matter to
// Python.
static int starts_with(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// tally_type's text lives until its next call, which the items of a list make:
// hence the copy. Arrays without a format go item by item.
py_object *py_from_value(py_link *link, tally_value v) {
  char type[32];
  const char *from;
  size_t n;
  tally_array a;
  snprintf(type, sizeof type, "%s", tally_type(link->vm, v));
  if (strcmp(type, "none") == 0) {
    py.Py_IncRef(py._Py_NoneStruct);
    return py._Py_NoneStruct;
  }
  if (strcmp(type, "string") == 0) {
    if (tally_to_string(link->vm, v, &from, &n) == TALLY_OK)
      return py.PyUnicode_FromStringAndSize(from, (intptr_t)n);
  } else if (strcmp(type, "function") == 0) {
    held *h = hold(link, function_type, v);
    return h == NULL ? NULL : &h->head;
  } else if (strcmp(type, "list") == 0) {
    return from_items(link, v);
  } else if (strcmp(type, "record") == 0) {
    return from_record(link, v);
  } else if (starts_with(type, "bool") || starts_with(type, "int") ||
             starts_with(type, "uint") || starts_with(type, "float") ||
             starts_with(type, "complex")) {
    return from_number(link, v, type);
  }
  // A datashape begins with its first size: "3 * string".
  if (*type >= '0' && *type <= '9') {
    if (tally_to_buffer(link->vm, v, &a) == TALLY_OK && is_plain(&a))
      return from_array(link, v, &a);
    return from_items(link, v);
  }
  py_object *object = py_object_of(link, v);
  if (object != NULL) {
    py.Py_IncRef(object);
    return object;
  }
  // Again, for the attempts above have set errors of the VM's, and texts of
  // its.
  snprintf(type, sizeof type, "%.31s", tally_type(link->vm, v));
  char message[96];
  snprintf(message, sizeof message, "Python has nothing like a %s", type);
  py.PyErr_SetString(*py.PyExc_TypeError, message);
  return NULL;
}

// --- To Tally ---------------------------------------------------------------

// A handle of an object: what is neither number, text nor container.
static tally_status wrap(py_link *link, py_object *o, tally_value *out);

// A Py_buffer that an array of Tally's lies over.
typedef struct seen {
  py_buffer buffer;
} seen;

// At the array's last use, or when the VM closes, on its thread, which may have
// Python's lock or not: PyGILState_Ensure nests. After Python's end its memory
// is nobody's, and only the record is freed.
static void end_seen(void *context, void *data) {
  seen *s = context;
  (void)data;
  if (is_usable()) {
    int lock = py.PyGILState_Ensure();
    py.PyBuffer_Release(&s->buffer);
    py.PyGILState_Release(lock);
  }
  free(s);
}

// The dtype of a format; NULL: there is none.
// The letters l, n and q differ in size from system to system, so that kind and
// itemsize decide together. Big-endian items, structs and text have none.
static const char *dtype_of(const py_buffer *b) {
  const char *format = b->format == NULL ? "B" : b->format;
  format += *format != 0 && strchr("@=<|", *format) != NULL;
  if (strcmp(format, "Zf") == 0 && b->itemsize == 8)
    return "complex64";
  if (strcmp(format, "Zd") == 0 && b->itemsize == 16)
    return "complex128";
  if (*format == 0 || format[1] != 0)
    return NULL;
  int is_signed = strchr("bhilqn", *format) != NULL;
  int is_unsigned = strchr("BHILQN", *format) != NULL;
  for (int i = 0; formats[i].dtype != NULL; i++) {
    char kind = formats[i].dtype[0];
    if (formats[i].size == (size_t)b->itemsize &&
        ((is_signed && kind == 'i') || (is_unsigned && kind == 'u') ||
         (*format == '?' && kind == 'b') ||
         (strchr("efd", *format) != NULL && kind == 'f')))
      return formats[i].dtype;
  }
  return NULL;
}

// A number of no dimension, as NumPy's scalars are.
// Of the item a copy is made, so that the buffer may end at once.
static tally_status from_scalar(py_link *link, const py_buffer *b,
                                const char *dtype, tally_value *out) {
  // As an array of one item: a buffer of no dimension is refused by the VM.
  int64_t strides = b->itemsize;
  char type[32];
  snprintf(type, sizeof type, "1 * %s", dtype);
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = b->buf,
                         .type = type,
                         .strides = &strides,
                         .read_only = 1,
                         .nbytes = (size_t)b->itemsize};
  tally_value array;
  tally_status status = tally_from_buffer(link->vm, &buffer, &array);
  if (status != TALLY_OK)
    return status;
  status = tally_item(link->vm, array, 0, out);
  tally_release(link->vm, array);
  return status;
}

// The other end of from_copy's malloc.
static void end_copy(void *context, void *data) {
  (void)context;
  free(data);
}

// Copies the items in their order, to where *to moves behind them.
// One axis for each level, at most TALLY_MAX_DIMS; strides of any sign.
static void copy_items(const py_buffer *b, int axis, const char *from,
                       char **to) {
  if (axis == b->ndim) {
    memcpy(*to, from, (size_t)b->itemsize);
    *to += b->itemsize;
    return;
  }
  for (intptr_t i = 0; i < b->shape[axis]; i++)
    copy_items(b, axis + 1, from + i * b->strides[axis], to);
}

// An array of copied items.
// The buffer ends here on success, like one that an array keeps; on failure it
// is the caller's still.
static tally_status from_copy(py_link *link, py_buffer *b, const char *type,
                              tally_value *out) {
  size_t nbytes = (size_t)b->len;
  char *data = malloc(nbytes + 1), *to = data;
  if (data == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for an array");
  copy_items(b, 0, b->buf, &to);
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = data,
                         .type = type,
                         .nbytes = nbytes,
                         .release = end_copy};
  tally_status status = tally_from_buffer(link->vm, &buffer, out);
  if (status == TALLY_OK)
    py.PyBuffer_Release(b);
  else
    free(data);
  return status;
}

// Writes "n * " and returns what is behind it. Without printf, which takes
// longer than all else of an array does.
static char *write_size(char *to, uint64_t n) {
  uint64_t unit = 1;
  while (n / unit >= 10) unit *= 10;
  for (; unit > 0; unit /= 10) *to++ = (char)('0' + n / unit % 10);
  memcpy(to, " * ", 3);
  return to + 3;
}

// An array over a buffer, which it keeps.
static tally_status from_buffer(py_link *link, py_buffer *b, const char *dtype,
                                tally_value *out) {
  // A size has at most 20 characters, " * " three; a dtype at most ten.
  char type[TALLY_MAX_DIMS * 24 + 32], *to = type;
  int64_t strides[TALLY_MAX_DIMS];
  const char *first = b->buf, *end = first + b->itemsize;
  for (int i = 0; i < b->ndim; i++) {
    to = write_size(to, (uint64_t)b->shape[i]);
    strides[i] = b->strides[i];
    int64_t reach = b->shape[i] > 0 ? (b->shape[i] - 1) * strides[i] : 0;
    if (reach < 0)
      first += reach;
    else
      end += reach;
  }
  strcpy(to, dtype);
  // first .. end is what the items cover:
  //
  //     x[::2]    ■ □ ■ □ ■        first = buf, end behind the last ■
  //     x[::-1]   □ □ □ □ ■ = buf  first lies before buf
  // The block of a host begins with the first item, which is not so where a
  // stride is negative.
  if (first != b->buf)
    return from_copy(link, b, type, out);
  seen *s = malloc(sizeof *s);
  if (s == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for an array");
  // The struct moves here from the caller's stack; see py_buffer's strides.
  s->buffer = *b;
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = b->buf,
                         .type = type,
                         .strides = strides,
                         .read_only = 1,
                         .nbytes = (size_t)(end - first),
                         .release = end_seen,
                         .context = s};
  tally_status status = tally_from_buffer(link->vm, &buffer, out);
  if (status != TALLY_OK)
    free(s);
  return status;
}

// Whether the object has a buffer; *status is how making a value of it went.
// 1: *status and *out are set. 0: the object has none, or one that is not for
// an array; no exception is set. The buffer is released on each path but where
// an array has it. Without [deep] only a number is taken (NumPy's scalars have
// buffers without a dimension).
static int try_buffer(py_link *link, py_object *o, int deep,
                      tally_status *status, tally_value *out) {
  py_buffer b;
  if (py.PyObject_GetBuffer(o, &b, PY_READ_ONLY_STRIDED) != 0) {
    py.PyErr_Clear();
    return 0;
  }
  // A format is in the buffer, for it was asked for; so are shape and strides,
  // but for NumPy's dates: their bytes are not for an array.
  int is_whole = b.ndim == 0 || (b.shape != NULL && b.strides != NULL);
  const char *dtype = is_whole ? dtype_of(&b) : NULL;
  // A number, in and out of containers: np.float64(1) is a float of Tally's,
  // whatever its class.
  if (b.ndim == 0 && dtype != NULL) {
    *status = from_scalar(link, &b, dtype, out);
  } else if (!deep || dtype == NULL || b.ndim > TALLY_MAX_DIMS) {
    py.PyBuffer_Release(&b);
    return 0;
  } else {
    *status = from_buffer(link, &b, dtype, out);
    if (*status == TALLY_OK)
      return 1;  // the array has it now
  }
  py.PyBuffer_Release(&b);
  return 1;
}

static tally_status to_value(py_link *link, py_object *o, int depth,
                             tally_value *out);

// A list or tuple.
// By Python's protocol, so that what a derived class gives as its items counts.
// A list that gets shorter on the way is an IndexError.
static tally_status from_sequence(py_link *link, py_object *o, int depth,
                                  tally_value *out) {
  // A derived class's __len__ may say anything, so that each item is checked.
  intptr_t n = py.PyObject_Size(o), made = 0;
  if (n < 0)
    return py_raise(link);
  tally_value *items = calloc((size_t)n + 1, sizeof *items);
  tally_status status = TALLY_OK;
  if (items == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for a list");
  for (; made < n && status == TALLY_OK; made += status == TALLY_OK) {
    py_object *item = py.PySequence_GetItem(o, made);
    status = item == NULL ? py_raise(link)
                          : to_value(link, item, depth + 1, &items[made]);
    py_drop(item);
  }
  if (status == TALLY_OK)
    status = tally_from_list(link->vm, (size_t)n, items, out);
  for (intptr_t i = 0; i < made; i++) tally_release(link->vm, items[i]);
  free(items);
  return status;
}

// A dict whose keys are texts. What turns a value into one of Tally's may run
// Python, which may change the dict: each key and value has a reference of ours
// while it is used.
static tally_status from_dict(py_link *link, py_object *o, int depth,
                              tally_value *out) {
  size_t n = (size_t)py.PyDict_Size(o), made = 0, taken = 0, nbytes;
  const char **keys = calloc(n + 1, sizeof *keys);
  py_object **owners = calloc(n + 1, sizeof *owners);  // of the keys
  tally_value *values = calloc(n + 1, sizeof *values);
  py_object *key, *value;
  intptr_t at = 0;
  tally_status status =
      keys != NULL && owners != NULL && values != NULL
          ? TALLY_OK
          : tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for a record");
  while (status == TALLY_OK && made < n &&
         py.PyDict_Next(o, &at, &key, &value)) {
    py.Py_IncRef(key);
    py.Py_IncRef(value);
    owners[taken++] = key;
    keys[made] = text_of(key, &nbytes);
    status = keys[made] == NULL
                 ? tally_raise(link->vm, TALLY_ERR_TYPE,
                               "python: the keys of a dict must be texts")
                 : to_value(link, value, depth + 1, &values[made]);
    made += status == TALLY_OK;
    py_drop(value);
  }
  if (status == TALLY_OK)
    status = tally_from_record(link->vm, made, keys, values, out);
  for (size_t i = 0; i < made; i++) tally_release(link->vm, values[i]);
  for (size_t i = 0; i < taken; i++) py_drop(owners[i]);
  free(keys);
  free(owners);
  free(values);
  return status;
}

// A number or text; 0: it is something else.
// bool before int, from which it is derived. An int over int64 is an error of
// kind host, OverflowError: nothing is rounded.
static int try_simple(py_link *link, py_object *o, tally_status *status,
                      tally_value *out) {
  size_t n;
  if (o == py._Py_NoneStruct) {
    *status = tally_from_none(link->vm, out);
  } else if (o->type == py.PyBool_Type) {
    *status = tally_from_bool(link->vm, o == py._Py_TrueStruct, out);
  } else if (py_is(o, py.PyLong_Type)) {
    // -1 is a number as well as the sign of an exception.
    long long i = py.PyLong_AsLongLong(o);
    if (i == -1 && py.PyErr_Occurred() != NULL)
      *status = py_raise(link);
    else
      *status = tally_from_int(link->vm, i, out);
  } else if (py_is(o, py.PyFloat_Type)) {
    *status = tally_from_float(link->vm, py.PyFloat_AsDouble(o), out);
  } else if (py_is(o, py.PyComplex_Type)) {
    *status = tally_from_complex(link->vm, py.PyComplex_RealAsDouble(o),
                                 py.PyComplex_ImagAsDouble(o), out);
  } else if (py_is(o, py.PyUnicode_Type)) {
    const char *from = text_of(o, &n);
    *status = from == NULL ? tally_raise(link->vm, TALLY_ERR_VALUE,
                                         "python: a text that is no UTF-8")
                           : tally_from_string(link->vm, from, n, out);
  } else {
    return 0;
  }
  return 1;
}

// depth 0: containers and arrays are handles, too.
static tally_status to_value(py_link *link, py_object *o, int depth,
                             tally_value *out) {
  tally_status status;
  if (try_simple(link, o, &status, out))
    return status;
  if (o->type == array_type || o->type == function_type) {
    held *h = (held *)(void *)o;
    // An array of another VM could be read as a buffer; a function could not be
    // called, and a handle's number would mean another value.
    if (h->link != link)
      return tally_raise(link->vm, TALLY_ERR_HOST,
                         "python: a value of another VM");
    *out = tally_retain(link->vm, h->value);
    return TALLY_OK;
  }
  // After numbers and texts, so that the deepest list may have items.
  if (depth > DEEPEST)
    return tally_raise(link->vm, TALLY_ERR_LIMIT,
                       "python: lists in lists, more than %d deep", DEEPEST);
  // Lists and dicts have no buffers, and are asked for most.
  int is_array = o->type != py.PyList_Type && o->type != py.PyDict_Type;
  if (is_array && try_buffer(link, o, depth > 0, &status, out))
    return status;
  if (depth > 0 && (py_is(o, py.PyList_Type) || py_is(o, py.PyTuple_Type)))
    return from_sequence(link, o, depth, out);
  if (depth > 0 && py_is(o, py.PyDict_Type))
    return from_dict(link, o, depth, out);
  return wrap(link, o, out);
}

tally_status py_to_value(py_link *link, py_object *o, int deep,
                         tally_value *out) {
  return to_value(link, o, deep ? 1 : 0, out);
}

// --- python.object ----------------------------------------------------------

// An object in Tally.
// The object has one reference for it, given back by end_handle.
typedef struct handle {
  py_link *link;
  py_object *object;
} handle;

// The lock is taken also where it is held already.
// May run __del__. A function of this VM that it calls fails there, for the end
// of a value runs no code (tally_resource.release); Python prints that and goes
// on.
static void end_handle(void *context, void *object) {
  handle *h = object;
  (void)context;
  // After Python's end the object is gone with all others.
  if (is_usable()) {
    int lock = py.PyGILState_Ensure();
    py.Py_DecRef(h->object);
    py.PyGILState_Release(lock);
  }
  free(h);
}

// False after an error of py_need.
static int is_there(tally_vm *vm, tally_status *status) {
  *status = py_need(vm);
  return *status == TALLY_OK;
}

// print(object): Python's str.
static tally_status show_handle(tally_vm *vm, void *context, void *object,
                                tally_value *out) {
  handle *h = object;
  tally_status status;
  size_t n;
  (void)context;
  if (!is_there(vm, &status))
    return status;
  int lock = py.PyGILState_Ensure();
  py_object *shown = py.PyObject_Str(h->object);
  const char *from = text_of(shown, &n);
  status =
      from == NULL ? py_raise(h->link) : tally_from_string(vm, from, n, out);
  py_drop(shown);
  py.PyGILState_Release(lock);
  return status;
}

// object.name: numbers and texts become values, all else handles.
static tally_status get_attribute(tally_vm *vm, void *context, void *object,
                                  const char *name, tally_value *out) {
  handle *h = object;
  tally_status status;
  (void)context;
  if (!is_there(vm, &status))
    return status;
  int lock = py.PyGILState_Ensure();
  py_object *found = py.PyObject_GetAttrString(h->object, name);
  if (found == NULL)
    status = py_raise(h->link);
  else
    status = py_to_value(h->link, found, 0, out);
  py_drop(found);
  py.PyGILState_Release(lock);
  return status;
}

// A slice of the language's, which is a record of its own keys; NULL: it is a
// record like any other, with or without an error. Returns owned.
static py_object *slice_of(py_link *link, tally_value v) {
  static const char *const keys[] = {"start", "stop", "step"};
  py_object *parts[3] = {NULL}, *slice = NULL;
  for (int k = 0; k < 3; k++) {
    tally_value part;
    if (tally_field(link->vm, v, keys[k], &part) != TALLY_OK)
      break;
    parts[k] = py_from_value(link, part);
    tally_release(link->vm, part);
    if (parts[k] == NULL)
      break;
  }
  if (parts[2] != NULL)
    slice = py.PySlice_New(parts[0], parts[1], parts[2]);
  for (int k = 0; k < 3; k++) py_drop(parts[k]);
  return slice;
}

// What an index is to Python: a slice, an ellipsis, or its value. NULL with an
// error of Python's. Returns owned.
static py_object *index_of(py_link *link, tally_value v) {
  const char *type = tally_type(link->vm, v), *text;
  py_object *slice = NULL;
  if (strcmp(type, "record") == 0 && tally_length(link->vm, v) == 3)
    slice = slice_of(link, v);
  if (strcmp(type, "string") == 0 &&
      tally_to_string(link->vm, v, &text, NULL) == TALLY_OK &&
      strcmp(text, "...") == 0) {
    slice = py._Py_EllipsisObject;
    py.Py_IncRef(slice);
  }
  return slice != NULL ? slice : py_from_value(link, v);
}

// What x[i], x[a:b] and x[i, ..., j] are indexed by: one index is itself,
// several are a tuple. NULL with an error of Python's. Returns owned. A record
// or text as an index, which looks like a slice or an ellipsis, is one: no dict
// has such a record as a key, and for the text "..." there is
// python.call(x.__getitem__, "...").
static py_object *key_of(py_link *link, size_t count,
                         const tally_value *indices) {
  if (count == 1)
    return index_of(link, indices[0]);
  py_object *key = py.PyTuple_New((intptr_t)count);
  for (size_t i = 0; key != NULL && i < count; i++) {
    py_object *part = index_of(link, indices[i]);
    if (part == NULL) {
      py_drop(key);
      return NULL;
    }
    py.PyTuple_SetItem(key, (intptr_t)i, part);
  }
  return key;
}

// Items are as attributes are: numbers and texts, or handles.
static tally_status get_item(tally_vm *vm, void *context, void *object,
                             size_t count, const tally_value *indices,
                             tally_value *out) {
  handle *h = object;
  tally_status status;
  (void)context;
  if (!is_there(vm, &status))
    return status;
  int lock = py.PyGILState_Ensure();
  py_object *key = key_of(h->link, count, indices);
  py_object *found = key == NULL ? NULL : py.PyObject_GetItem(h->object, key);
  status =
      found == NULL ? py_raise(h->link) : py_to_value(h->link, found, 0, out);
  py_drop(key);
  py_drop(found);
  py.PyGILState_Release(lock);
  return status;
}

// x[i] = v as Python does it: the object changes, for whoever has it, as a call
// of one of its methods would change it. Hence never a copy, alone or not.
static tally_status put_item(tally_vm *vm, void *context, void *object,
                             int alone, size_t count,
                             const tally_value *indices, tally_value value,
                             tally_value *out) {
  handle *h = object;
  tally_status status;
  (void)context, (void)alone, (void)out;
  if (!is_there(vm, &status))
    return status;
  int lock = py.PyGILState_Ensure();
  py_object *key = key_of(h->link, count, indices);
  py_object *item = key == NULL ? NULL : py_from_value(h->link, value);
  if (item == NULL || py.PyObject_SetItem(h->object, key, item) != 0)
    status = py_raise(h->link);
  py_drop(item);
  py_drop(key);
  py.PyGILState_Release(lock);
  return status;
}

// object(…): by position; python.call has names, too. The one hook that may run
// code of Tally's.
static tally_status call_handle(tally_vm *vm, void *context, void *object,
                                size_t count, const tally_value *args,
                                tally_value *out) {
  handle *h = object;
  tally_status status;
  (void)context;
  if (!is_there(vm, &status))
    return status;
  // A call may run code, so that what threads left can be released; the other
  // hooks may not.
  int lock = py.PyGILState_Ensure();
  py_link_sweep(h->link);
  status = py_call(h->link, h->object, count, args, NULL, out);
  py.PyGILState_Release(lock);
  return status;
}

// Operators by the functions of Python's module operator.
// NULL: Tally has no such operator with that many operands, or Python none.
// What is not here is declined, so that the script gets the VM's own error.
static const struct {
  const char *op, *unary, *binary;
} operators[] = {
    {"+", "pos", "add"},    {"-", "neg", "sub"},      {"*", NULL, "mul"},
    {"/", NULL, "truediv"}, {"//", NULL, "floordiv"}, {"%", NULL, "mod"},
    {"**", NULL, "pow"},    {"@", NULL, "matmul"},    {"<", NULL, "lt"},
    {"<=", NULL, "le"},     {">", NULL, "gt"},        {">=", NULL, "ge"},
    {"==", NULL, "eq"},     {"!=", NULL, "ne"},       {"abs", "abs", NULL},
    {NULL, NULL, NULL}};

static const tally_resource object_type;

// The first operand that is an object names the link; Python's own rules
// (__add__, then __radd__) decide who computes.
static tally_status operate(tally_vm *vm, void *context, const char *op,
                            size_t count, const tally_value *operands,
                            tally_value *out) {
  const char *name = NULL;
  void *object = NULL;
  tally_status status;
  (void)context;
  for (int i = 0; operators[i].op != NULL && name == NULL; i++)
    if (strcmp(operators[i].op, op) == 0)
      name = count == 1 ? operators[i].unary : operators[i].binary;
  for (size_t i = 0; i < count && object == NULL; i++)
    if (tally_to_resource(vm, operands[i], &object_type, &object) != TALLY_OK)
      object = NULL;
  // No status of tally_to_resource's is an error here: the other operand may be
  // the object.
  if (name == NULL || object == NULL)
    return TALLY_OK;  // declined
  if (!is_there(vm, &status))
    return status;
  py_link *link = ((handle *)object)->link;
  int lock = py.PyGILState_Ensure();
  // Loaded by Python's own start: a look-up in sys.modules.
  py_object *module = py.PyImport_ImportModule("operator");
  py_object *f =
      module == NULL ? NULL : py.PyObject_GetAttrString(module, name);
  status =
      f == NULL ? py_raise(link) : py_call(link, f, count, operands, NULL, out);
  py_drop(f);
  py_drop(module);
  py.PyGILState_Release(lock);
  return status;
}

static const tally_resource object_type = {.size = sizeof object_type,
                                           .name = "python.object",
                                           .doc = "An object of Python's.",
                                           .release = end_handle,
                                           .repr = show_handle,
                                           .attribute = get_attribute,
                                           .index = get_item,
                                           .call = call_handle,
                                           .operate = operate,
                                           .put = put_item};

static tally_status wrap(py_link *link, py_object *o, tally_value *out) {
  handle *h = malloc(sizeof *h);
  if (h == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for a handle");
  // The reference is taken once the value is made; o is the caller's until
  // then.
  *h = (handle){link, o};
  tally_status status = tally_from_resource(link->vm, &object_type, h, out);
  if (status == TALLY_OK)
    py.Py_IncRef(o);
  else
    free(h);
  return status;
}

// The VM's last error is set where v is another, which nobody then reads.
py_object *py_object_of(py_link *link, tally_value v) {
  void *object;
  if (tally_to_resource(link->vm, v, &object_type, &object) != TALLY_OK)
    return NULL;
  return ((handle *)object)->object;
}

// PyTuple_SetItem takes the item also where it fails. Places that were not
// filled are NULL, which the tuple's end allows.
tally_status py_call(py_link *link, py_object *f, size_t count,
                     const tally_value *args, py_object *named,
                     tally_value *out) {
  py_object *tuple = py.PyTuple_New((intptr_t)count), *result = NULL;
  int ok = tuple != NULL;
  for (size_t i = 0; ok && i < count; i++) {
    py_object *item = py_from_value(link, args[i]);
    ok = item != NULL && py.PyTuple_SetItem(tuple, (intptr_t)i, item) == 0;
  }
  if (ok)
    result = py.PyObject_Call(f, tuple, named);
  py_drop(tuple);
  tally_status status =
      result == NULL ? py_raise(link) : py_to_value(link, result, 0, out);
  py_drop(result);
  return status;
}
