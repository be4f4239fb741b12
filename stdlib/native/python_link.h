// Python's table, process and lock, the VMs that Python knows, and errors
// between the two: what python_values.h and the package stand on.
#pragma once

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

// The same for what is only released: in the child it is lost.
int py_is_usable(void);
// Takes Python's lock; an error of py_need. *lock is for PyGILState_Release or
// py_give, one of which the caller owes behind TALLY_OK. The lock may be held
// already.
tally_status py_lock(tally_vm *vm, int *lock);
// What a function begins with that needs the lock: [taking] is py_lock of
// &lock, or what does more, and its error is the function's. From there on it
// has [lock] and a [status], TALLY_OK.
#define PY_LOCK_OR_RETURN(taking) \
  int lock;                       \
  tally_status status = (taking); \
  if (status != TALLY_OK)         \
  return status
// One reference less, with Python's lock or without, which nests. After
// Python's end the object is gone with all others.
void py_drop_anywhere(py_object *o);

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

// Gives a value back, from any thread and after the VM, too. Where there is no
// memory to remember it, it lives until the VM closes.
void py_give_back(py_link *link, tally_value v);

// Raises Python's exception, which is cleared, as an error of kind host: first
// "python: ValueError: no", then the traceback's first 2,000 bytes. Where none
// is set the message is "python: an error". Returns TALLY_ERR_HOST or, where
// even that fails, what tally_raise returned.
tally_status py_raise(py_link *link);
// Sets Python's exception from the VM's last error: [class], which gets the
// report as its text. Where class is NULL an interrupt is KeyboardInterrupt,
// and everything else py_error_class with what it knows, or RuntimeError.
// Returns NULL, so that it can end a function.
py_object *py_set_error(py_link *link, py_object *class);

// Sets an exception of the class with that text. Returns NULL.
py_object *py_fail(py_object *class, const char *text);

// The class of errors that py_set_error uses, called with six arguments
// (report, kind, message, file, line, column); NULL: RuntimeError. Set once by
// the package.
extern py_object *py_error_class;

// A text of Python's; NULL where it is none. Borrowed from the object.
const char *py_text_of(py_object *o, size_t *nbytes);
// A new reference, NULL with an exception: from is not UTF-8.
py_object *py_text(const char *from);
