// Python's C interface as far as Tally uses it, found when it is needed:
// nothing here is linked, and Python.h is not read. It is the stable part,
// which is the same from 3.9 on; Py_buffer, which joined it with 3.11, has been
// so since 3.0.
//
//     py.PyLong_FromLongLong(1)      a function of the table
//     py_is(o, PyFloat_Type)         whether o is of a type of Python's
#pragma once

#include <stddef.h>
#include <stdint.h>

// Functions that Python or the VM calls have all parameters of their types,
// whether they need them or not.
#pragma GCC diagnostic ignored "-Wunused-parameter"

// How objects begin, from 3.0 to 3.14: eight bytes of counts (later ones have
// flags in them), then the type. Only the type is read here, references are
// counted by Py_IncRef and Py_DecRef. Where threads run without a lock (3.13t)
// it is otherwise, and nothing here works.
typedef struct py_object {
  intptr_t refs;
  struct py_object *type;
} py_object;

// Py_buffer: memory that an object shows. PyObject_GetBuffer fills it and takes
// a reference to obj; PyBuffer_Release gives that back, and is called once for
// each buffer that was filled. Until then the memory stays where it is (an
// array that shows some refuses to be resized).
typedef struct py_buffer {
  // The first item, which is not the lowest address where a stride is negative.
  void *buf;
  py_object *obj;
  intptr_t len, itemsize;
  // ndim 0: one item, without shape and strides.
  int readonly, ndim;
  // As the module struct writes an item; NULL: bytes. Of the exporter's.
  char *format;
  // Strides in bytes. Some exporters point these at fields of the buffer
  // itself, so that a copy of the struct is for PyBuffer_Release alone.
  intptr_t *shape, *strides, *suboffsets;
  void *internal;
} py_buffer;

// PyType_Slot: one of a type's functions or tables; {0, NULL} ends them.
typedef struct py_slot {
  int slot;
  void *pointer;
} py_slot;

// PyType_Spec, from which PyType_FromSpec makes a type. The name has to stay
// where it is: the type refers to it. Objects made from it hold a reference to
// the type, which their deallocator gives back.
typedef struct py_spec {
  const char *name;
  int basicsize, itemsize;
  unsigned flags;
  py_slot *slots;
} py_spec;

// PyMethodDef, of a table that a NULL name ends. call has the parameters that
// the flags say: (self, args, named) or (self, NULL). The type refers to the
// table.
typedef struct py_method {
  const char *name;
  void (*call)(void);
  int flags;
  const char *doc;
} py_method;

// PyGetSetDef: an attribute that a function computes. set NULL: it cannot be
// assigned to.
typedef struct py_getter {
  const char *name;
  void (*get)(void);
  void (*set)(void);
  const char *doc;
  void *closure;
} py_getter;

// Values of Python's headers that are part of its stable interface. Flags of
// buffers say what their user understands: who does not ask for strides gets an
// array only if its items lie one behind the other.
enum {
  PY_READ_ONLY_STRIDED = 0x1C,  // PyBUF_RECORDS_RO
  PY_WRITABLE = 1,
  PY_FORMAT = 4,             // without it the user takes items for bytes
  PY_SHAPE = 8,              // PyBUF_ND
  PY_STRIDES = 0x10,         // each of the next three implies it, and PY_SHAPE
  PY_C_CONTIGUOUS = 0x20,    // row by row
  PY_F_CONTIGUOUS = 0x40,    // column by column
  PY_ANY_CONTIGUOUS = 0x80,  // either
  // Slots of types, as in typeslots.h.
  PY_BF_GETBUFFER = 1,
  PY_MP_LENGTH = 4,
  PY_TP_CALL = 50,
  PY_TP_DEALLOC = 52,
  PY_TP_DOC = 56,
  PY_TP_METHODS = 64,
  PY_TP_NEW = 65,
  PY_TP_REPR = 66,
  PY_TP_GETSET = 73,
  PY_VARARGS_KEYWORDS = 3,
  PY_NO_ARGUMENTS = 4,
};

// The table. A function belongs here if it is of the stable interface of 3.9,
// or has been exported unchanged since then. Whether it returns a new
// reference, a borrowed one, or takes its argument's is Python's convention for
// the name:
//
//     PyTuple_SetItem, PyList_SetItem         take the item, on failure too
//     PyImport_AddModule, PyModule_GetDict    return borrowed
//     PyDict_Next                             gives borrowed key and value
//     PyErr_Fetch                             returns owned, each may be NULL
//     PyErr_Occurred                          returns borrowed
//     PyObject_CallFunctionObjArgs            arguments, then NULL
//     Py_BuildValue, PyObject_CallMethod      take what the format has N for
//     all others                              return owned, take nothing
//
// Each needs the lock, except Py_InitializeEx, Py_IsInitialized, Py_GetVersion,
// PyGILState_Ensure and PyEval_RestoreThread, which take it.
// X(result, name, parameters): functions.
#define PY_FUNCTIONS(X)                                                        \
  X(void, Py_InitializeEx, (int))                                              \
  X(int, Py_IsInitialized, (void))                                             \
  X(const char *, Py_GetVersion, (void))                                       \
  X(void *, PyEval_SaveThread, (void))                                         \
  X(void, PyEval_RestoreThread, (void *))                                      \
  X(int, PyGILState_Ensure, (void))                                            \
  X(void, PyGILState_Release, (int))                                           \
  X(void, Py_IncRef, (py_object *))                                            \
  X(void, Py_DecRef, (py_object *))                                            \
  X(py_object *, PyErr_Occurred, (void))                                       \
  X(void, PyErr_Fetch, (py_object **, py_object **, py_object **))             \
  X(void, PyErr_NormalizeException,                                            \
    (py_object **, py_object **, py_object **))                                \
  X(void, PyErr_Clear, (void))                                                 \
  X(void, PyErr_SetString, (py_object *, const char *))                        \
  X(void, PyErr_SetObject, (py_object *, py_object *))                         \
  X(py_object *, PyImport_ImportModule, (const char *))                        \
  X(py_object *, PyImport_AddModule, (const char *))                           \
  X(py_object *, PyModule_GetDict, (py_object *))                              \
  X(py_object *, PyObject_GetAttrString, (py_object *, const char *))          \
  X(py_object *, PyObject_GetItem, (py_object *, py_object *))                 \
  X(py_object *, PyObject_GetIter, (py_object *))                              \
  X(py_object *, PyIter_Next, (py_object *))                                   \
  X(int, PyObject_SetItem, (py_object *, py_object *, py_object *))            \
  X(py_object *, PyObject_Call, (py_object *, py_object *, py_object *))       \
  X(py_object *, PyObject_CallFunctionObjArgs, (py_object *, ...))             \
  X(py_object *, PyObject_CallMethod,                                          \
    (py_object *, const char *, const char *, ...))                            \
  X(py_object *, Py_BuildValue, (const char *, ...))                           \
  X(py_object *, PyObject_Str, (py_object *))                                  \
  X(int, PyType_IsSubtype, (py_object *, py_object *))                         \
  X(py_object *, PyLong_FromLongLong, (long long))                             \
  X(py_object *, PyLong_FromVoidPtr, (void *))                                 \
  X(long long, PyLong_AsLongLong, (py_object *))                               \
  X(py_object *, PyFloat_FromDouble, (double))                                 \
  X(double, PyFloat_AsDouble, (py_object *))                                   \
  X(py_object *, PyComplex_FromDoubles, (double, double))                      \
  X(double, PyComplex_RealAsDouble, (py_object *))                             \
  X(double, PyComplex_ImagAsDouble, (py_object *))                             \
  X(py_object *, PyBool_FromLong, (long))                                      \
  X(py_object *, PyUnicode_FromStringAndSize, (const char *, intptr_t))        \
  X(const char *, PyUnicode_AsUTF8AndSize, (py_object *, intptr_t *))          \
  X(py_object *, PyList_New, (intptr_t))                                       \
  X(int, PyList_SetItem, (py_object *, intptr_t, py_object *))                 \
  X(py_object *, PyTuple_New, (intptr_t))                                      \
  X(int, PyTuple_SetItem, (py_object *, intptr_t, py_object *))                \
  X(py_object *, PySlice_New, (py_object *, py_object *, py_object *))         \
  X(intptr_t, PyObject_Size, (py_object *))                                    \
  X(py_object *, PySequence_GetItem, (py_object *, intptr_t))                  \
  X(py_object *, PySequence_List, (py_object *))                               \
  X(intptr_t, PyDict_Size, (py_object *))                                      \
  X(py_object *, PyDict_New, (void))                                           \
  X(int, PyDict_SetItemString, (py_object *, const char *, py_object *))       \
  X(int, PyDict_Next, (py_object *, intptr_t *, py_object **, py_object **))   \
  X(int, PyObject_GetBuffer, (py_object *, py_buffer *, int))                  \
  X(void, PyBuffer_Release, (py_buffer *))                                     \
  X(py_object *, PyCapsule_New, (void *, const char *, void (*)(py_object *))) \
  X(void *, PyCapsule_GetPointer, (py_object *, const char *))                 \
  X(int, PyCapsule_IsValid, (py_object *, const char *))                       \
  X(py_object *, PyType_FromSpec, (py_spec *))                                 \
  X(py_object *, PyType_GenericAlloc, (py_object *, intptr_t))                 \
  X(void, PyObject_Free, (void *))

// X(name): objects that Python has for ever.
#define PY_OBJECTS(X)   \
  X(_Py_NoneStruct)     \
  X(_Py_TrueStruct)     \
  X(_Py_EllipsisObject) \
  X(PyBool_Type)        \
  X(PyLong_Type)        \
  X(PyFloat_Type)       \
  X(PyComplex_Type)     \
  X(PyUnicode_Type)     \
  X(PyList_Type)        \
  X(PyTuple_Type)       \
  X(PyDict_Type)

// X(name): variables that point at one.
#define PY_EXCEPTIONS(X) \
  X(PyExc_RuntimeError)  \
  X(PyExc_TypeError)     \
  X(PyExc_BufferError)   \
  X(PyExc_KeyboardInterrupt)

// One pointer for each name. Those to exceptions are to variables, for the
// libraries export PyExc_TypeError as a pointer: *py.PyExc_TypeError.
typedef struct py_api {
#define X(result, name, params) result(*name) params;
  PY_FUNCTIONS(X)
#undef X
#define X(name) py_object *name;
  PY_OBJECTS(X)
#undef X
#define X(name) py_object **name;
  PY_EXCEPTIONS(X)
#undef X
} py_api;

// Filled by py_find before anything else here is called, and the same ever
// after. The package and the native module each have one of their own, of one
// Python.
extern py_api py;

// Fills the table from a library of dlopen's, or where [library] is NULL from
// what the process has: Tally inside of Python, or a host that links it. NULL,
// or the first name that is missing, which means a Python older than 3.9; the
// table may not be used then.
const char *py_find(void *library);

// Whether the object is of that type or one derived from it: in memory, not by
// what its __class__ says, which may lie, or fail with an exception.
static inline int py_is(py_object *o, py_object *type) {
  return o->type == type || py.PyType_IsSubtype(o->type, type);
}

// One reference less; NULL is allowed. This may run code of Python's (__del__,
// a callback of a weak reference), and so let other threads go on: nothing that
// they could change is relied on after it.
static inline void py_drop(py_object *o) {
  if (o != NULL)
    py.Py_DecRef(o);
}
