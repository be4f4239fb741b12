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
// the VM's (py_give_back leaves it for the next call), an object of Python's is
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

#include "stdlib/native/python_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stdlib/native/python_held.h"

// Lists in lists, at most; Python's may contain themselves.
// 100 calls of to_value are some 50 KiB of a stack that Python's own calls
// share.
enum { DEEPEST = 100 };

// --- Functions in Python ----------------------------------------------------

// tally.Function(…): its arguments become values, its result an object.
static py_object *call_function(py_object *self, py_object *args,
                                py_object *named) {
  py_held *h = (py_held *)(void *)self;
  // 64, as for python.call (python.c).
  tally_value values[64], result = {0, 0};
  // args is a tuple of Python's own making, whose size and items cannot fail.
  intptr_t count = py.PyObject_Size(args), made = 0;
  py_object *out = NULL;
  if (!py_is_callable(h))
    return py_fail(*py.PyExc_RuntimeError,
                   "the VM is closed, or of another thread");
  // Tally's functions have names for their parameters, but a function value
  // takes them by position.
  if (count > 64 || (named != NULL && py.PyObject_Size(named) > 0))
    return py_fail(*py.PyExc_TypeError,
                   "a function of Tally takes at most 64 arguments, by "
                   "position");
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
  out = status == TALLY_OK ? py_from_value(h->link, result)
                           : py_set_error(h->link, NULL);
  for (intptr_t i = 0; i < made; i++) tally_release(h->link->vm, values[i]);
  tally_release(h->link->vm, result);
  return out;
}

int py_values_open(void) {
  return py_held_open(call_function);
}

// --- To Python --------------------------------------------------------------

// Item i of a list, an array or a record; NULL with an exception.
static py_object *from_item(py_link *link, tally_value v, size_t i) {
  tally_value item;
  if (tally_item(link->vm, v, i, &item) != TALLY_OK)
    return py_set_error(link, NULL);
  py_object *made = py_from_value(link, item);
  tally_release(link->vm, item);
  return made;
}

// A list, or an array of strings, item by item.
// Stops at the first item that Python has nothing for; what was made before
// goes with the list. Borrows v.
static py_object *from_items(py_link *link, tally_value v) {
  size_t n = tally_length(link->vm, v);
  py_object *out = py.PyList_New((intptr_t)n);
  for (size_t i = 0; out != NULL && i < n; i++) {
    py_object *made = from_item(link, v, i);
    if (made == NULL) {
      py_drop(out);
      return NULL;
    }
    py.PyList_SetItem(out, (intptr_t)i, made);
  }
  return out;
}

// Sets the key of a dict that the record has at that place; 0 with an
// exception.
static int set_key(py_link *link, py_object *out, tally_value v,
                   tally_value keys, size_t at) {
  tally_value key;
  const char *name;
  py_object *made;
  if (tally_item(link->vm, keys, at, &key) != TALLY_OK) {
    py_set_error(link, NULL);
    return 0;
  }
  made = tally_to_string(link->vm, key, &name, NULL) == TALLY_OK
             ? from_item(link, v, at)
             : py_set_error(link, NULL);
  int ok = made != NULL && py.PyDict_SetItemString(out, name, made) == 0;
  py_drop(made);
  tally_release(link->vm, key);
  return ok;
}

// A dict in the record's order. Keys that are no strings are an error of the
// VM's.
static py_object *from_record(py_link *link, tally_value v) {
  // By the library's keys, for the header has no other way to a record's keys.
  // A hook that may run no code (x[i], operators) cannot do this: a record
  // there is an error.
  tally_value keys;
  if (tally_call(link->vm, ".keys", 1, &v, &keys) != TALLY_OK)
    return py_set_error(link, NULL);
  py_object *out = py.PyDict_New();
  size_t n = tally_length(link->vm, keys);
  for (size_t i = 0; out != NULL && i < n; i++) {
    if (set_key(link, out, v, keys, i))
      continue;
    py_drop(out);
    out = NULL;
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
  return py_set_error(link, NULL);
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
    return py_from_function(link, v);
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
    if (tally_to_buffer(link->vm, v, &a) == TALLY_OK &&
        py_format_of(a.dtype) != NULL)
      return py_from_array(link, v, &a);
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
  return py_fail(*py.PyExc_TypeError, message);
}

// --- To Tally ---------------------------------------------------------------

// At the array's last use, or when the VM closes, on its thread, which may have
// Python's lock or not: PyGILState_Ensure nests. After Python's end its memory
// is nobody's, and only the record is freed.
static void end_seen(void *context, void *data) {
  py_buffer *buffer = context;
  if (py_is_usable()) {
    int lock = py.PyGILState_Ensure();
    py.PyBuffer_Release(buffer);
    py.PyGILState_Release(lock);
  }
  free(buffer);
}

// The dtype of a format; NULL: there is none.
// The letters l, n and q differ in size from system to system, so that kind and
// itemsize decide together. Big-endian items, structs and text have none.
static const char *dtype_of(const py_buffer *b) {
  const char *format = b->format == NULL ? "B" : b->format;
  format += *format != 0 && strchr("@=<|", *format) != NULL;
  const int is_complex = strcmp(format, "Zf") == 0 || strcmp(format, "Zd") == 0;
  if (*format == 0 || (format[1] != 0 && !is_complex))
    return NULL;
  const char kind = is_complex                          ? 'c'
                    : *format == '?'                    ? 'b'
                    : strchr("efd", *format) != NULL    ? 'f'
                    : strchr("bhilqn", *format) != NULL ? 'i'
                    : strchr("BHILQN", *format) != NULL ? 'u'
                                                        : 0;
  const py_format *f = py_formats;
  while (f->dtype != NULL &&
         (f->dtype[0] != kind || f->size != (size_t)b->itemsize))
    f++;
  return f->dtype;
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
  py_buffer *seen = malloc(sizeof *seen);
  if (seen == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for an array");
  // The struct moves here from the caller's stack; see py_buffer's strides.
  *seen = *b;
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = b->buf,
                         .type = type,
                         .strides = strides,
                         .read_only = 1,
                         .nbytes = (size_t)(end - first),
                         .release = end_seen,
                         .context = seen};
  tally_status status = tally_from_buffer(link->vm, &buffer, out);
  if (status != TALLY_OK)
    free(seen);
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
    keys[made] = py_text_of(key, &nbytes);
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
    const char *from = py_text_of(o, &n);
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
  const py_held *h = py_held_of(o);
  if (h != NULL) {
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
  return py_wrap(link, o, out);
}

tally_status py_to_value(py_link *link, py_object *o, int deep,
                         tally_value *out) {
  return to_value(link, o, deep ? 1 : 0, out);
}

tally_status py_to_list(py_link *link, py_object *o, tally_value *out) {
  return from_sequence(link, o, -1, out);
}
