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
#pragma once

#include "stdlib/native/python_link.h"

// Makes the types tally.Array and tally.Function, once in a process and
// library. Needs a filled table. 0 with an exception of Python's; it may be
// tried again.
int py_values_open(void);

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
// The items of a list as a list of values that are not deep.
tally_status py_to_list(py_link *link, py_object *o, tally_value *out);
// Ends what py_lock began: *out is what [o] is, not deep, or the error of the
// exception where that is NULL. Takes o, and gives the lock back.
tally_status py_give(py_link *link, int lock, py_object *o, tally_value *out);
// A handle of an object, a python.object, which counts it. Borrows o.
tally_status py_wrap(py_link *link, py_object *o, tally_value *out);
// The object of a python.object; returns borrowed: valid while v is. NULL: the
// value is another (the VM's last error is set then, and no exception).
py_object *py_object_of(py_link *link, tally_value v);
// Calls f; args are count values, [named] a dict or NULL. Its result, a new
// reference; NULL with an exception. Borrows all. While f runs, other threads
// of Python's may; a function of the VM that it calls runs in this VM, nested
// in the call.
py_object *py_call(py_link *link, py_object *f, size_t count,
                   const tally_value *args, py_object *named);
