// Values of Tally to Python and back, for `import python` (python.c) and for
// the Python package (stdlib/python): numbers and texts are copied, arrays go
// either way without a copy, functions become callables, and whatever else
// Python has is a handle in Tally.
//
//     Tally             Python
//     none bool int …   the same
//     array         ─▶  tally.Array: the buffer protocol, __dlpack__, …
//                   ◀─  whatever has the buffer protocol (NumPy's arrays)
//     list, record  ─▶  list, dict
//                   ◀─  list and tuple, dict
//     function      ─▶  tally.Function
//     python.object ◀─  all else
//
// Everything here is called with Python's lock held.
#ifndef TALLY_STDLIB_PYTHON_VALUES_H
#define TALLY_STDLIB_PYTHON_VALUES_H

#include <pthread.h>

#include "stdlib/native/python_api.h"
#include "tally.h"

// A VM as Python's objects see it. It outlives both the VM and them.
typedef struct py_link {
  tally_vm *vm;       // NULL: closed
  pthread_t thread;   // which alone may use the VM
  py_object *keeper;  // an object that keeps the VM open; NULL: none does
  int numpy;          // arrays become NumPy's, where that is installed
  // Values that other threads gave up, released by the next call of the VM's.
  pthread_mutex_t lock;
  tally_value *left;
  size_t left_count, left_capacity;
  struct py_link *next;  // all of them, so that they are found when VMs end
} py_link;

// Makes the types once. False with an exception of Python's.
int py_values_open(void);

py_link *py_link_new(tally_vm *vm, py_object *keeper);
// The VM is about to close: what Python still has is of no VM then.
void py_link_close(py_link *link);
// Releases what other threads gave up.
void py_link_sweep(py_link *link);

// The value as a Python object, a new reference; NULL with an exception.
// Borrows v.
py_object *py_from_value(py_link *link, tally_value v);
// A Python object as a value; *out returns owned. Borrows o. [deep]: lists,
// dicts and arrays are converted; else they are handles, too.
tally_status py_to_value(py_link *link, py_object *o, int deep,
                         tally_value *out);
// Raises Python's exception, which is cleared, as an error of kind host.
tally_status py_raise(py_link *link);
// Sets Python's exception from the VM's last error: [class], or RuntimeError.
void py_set_error(py_link *link, py_object *class);

// The object of a python.object; NULL: the value is none.
py_object *py_object_of(py_link *link, tally_value v);
// Calls f; args are count values, [named] a dict or NULL. *out as by
// py_to_value.
tally_status py_call(py_link *link, py_object *f, size_t count,
                     const tally_value *args, py_object *named,
                     tally_value *out);

// The class of errors that py_set_error uses; NULL: RuntimeError.
extern py_object *py_error_class;

#endif
