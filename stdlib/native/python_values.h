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
// Which side owns what. Neither copies; each counts what the other has:
//
//     Python                                  Tally
//     memoryview ─▶ tally.Array ─▶ py_link ─▶ VM: handle ─▶ block
//     (buffer)      (held)         (record)
//
//     object ◀───────────────────  handle  ◀─ python.object, of a variable
//     array  ◀─ Py_buffer ◀──────  seen    ◀─ block of the host ◀─ array
//
// Counts alone free both: a circle through both sides (a function of Tally's in
// an attribute of an object that a variable of the same VM has) is never freed
// before the VM is closed, and where the package's VM is kept open by the
// circle, not before the process ends.
//
// Everything here is called with Python's lock held, and by the thread of the
// link's VM, unless it says otherwise. Errors go two ways: what returns a
// py_object says NULL with Python's exception set, what returns a status has
// raised in the VM and cleared the exception.
#ifndef TALLY_STDLIB_PYTHON_VALUES_H
#define TALLY_STDLIB_PYTHON_VALUES_H

#include <pthread.h>

#include "stdlib/native/python_api.h"
#include "tally.h"

// A VM as Python's objects see it. It outlives both the VM and them: it is
// never freed, about a hundred bytes for each VM that had to do with Python, so
// that an object of Python's can always ask whether its VM is there.
typedef struct py_link {
  tally_vm *vm;  // NULL: closed
  // Which alone may use the VM. Any other may give values back and look at
  // memory that an array shows.
  pthread_t thread;
  py_object *keeper;   // an object that keeps the VM open; NULL: none does
  int numpy;           // arrays become NumPy's, where that is installed
  py_object *asarray;  // NumPy's, once it was found; a reference of ours
  // Values that other threads gave up, released by the next call of the VM's.
  pthread_mutex_t lock;
  tally_value *left;
  size_t left_count, left_capacity;
  struct py_link *next;  // all of them, so that they are found when VMs end
} py_link;

// Which process may use Python: any, as Python itself may fork where Tally is
// inside of it; or the one that started it, of which this may be a child.
typedef enum py_process {
  PY_ANY_PROCESS,
  PY_THIS_PROCESS,
  PY_PARENT_PROCESS
} py_process;
extern py_process py_owner;
// Whether Python may be used: an error of kind host after its end, and in the
// child of a fork. Needs no lock of Python's.
tally_status py_need(tally_vm *vm);

// Makes the types tally.Array and tally.Function, once in a process and
// library. Needs a filled table. 0 with an exception of Python's; it may be
// tried again.
int py_values_open(void);

// The record of a VM that was just opened, or imports python. keeper is
// borrowed: each array or function that Python gets holds a reference to it, so
// that the VM's object ends after them. NULL: no memory. Needs no lock of
// Python's.
py_link *py_link_new(tally_vm *vm, py_object *keeper);
// The VM is about to close: what Python still has is of no VM then. Such an
// array refuses to show its memory, and a function to be called; a buffer that
// was taken before must have ended, which the keeper sees to.
void py_link_close(py_link *link);
// Releases what other threads gave up. May run code of Python's. By whatever
// calls into the VM from Python, so that a VM in use keeps little too long.
void py_link_sweep(py_link *link);

// The value as a Python object, a new reference; NULL with an exception, which
// py_set_error makes of an error of the VM's. Borrows v.
//
//   TypeError  Python has nothing like it (a type, a module)
//   errors of the VM: an integer over int64, keys that are no texts
py_object *py_from_value(py_link *link, tally_value v);
// A Python object as a value; *out returns owned. Borrows o. [deep]: lists,
// dicts and arrays are converted; else they are handles, too.
tally_status py_to_value(py_link *link, py_object *o, int deep,
                         tally_value *out);
// Takes Python's lock; an error of py_need. *lock is for PyGILState_Release or
// py_give, one of which the caller owes behind TALLY_OK. The lock may be held
// already.
tally_status py_lock(tally_vm *vm, int *lock);
// Ends what py_lock began: *out is what [o] is, not deep, or the error of the
// exception where that is NULL. Takes o, and gives the lock back.
tally_status py_give(py_link *link, int lock, py_object *o, tally_value *out);
// Raises Python's exception, which is cleared, as an error of kind host: first
// "python: ValueError: no", then the traceback's first 2,000 bytes. Where none
// is set the message is "python: an error". Returns TALLY_ERR_HOST or, where
// even that fails, what tally_raise returned.
tally_status py_raise(py_link *link);
// Sets Python's exception from the VM's last error: [class], which gets the
// report as its text. Where class is NULL an interrupt is KeyboardInterrupt,
// and everything else py_error_class with what it knows, or RuntimeError.
void py_set_error(py_link *link, py_object *class);

// The object of a python.object; returns borrowed: valid while v is. NULL: the
// value is another (the VM's last error is set then, and no exception).
py_object *py_object_of(py_link *link, tally_value v);
// Calls f; args are count values, [named] a dict or NULL. Its result, a new
// reference; NULL with an exception. Borrows all. While f runs, other threads
// of Python's may; a function of the VM that it calls runs in this VM, nested
// in the call.
py_object *py_call(py_link *link, py_object *f, size_t count,
                   const tally_value *args, py_object *named);

// The class of errors that py_set_error uses, called with six arguments
// (report, kind, message, file, line, column); NULL: RuntimeError. Set once by
// the package.
extern py_object *py_error_class;

#endif
