// The native module python: Python inside Tally. Its library is loaded when a
// script calls the first function, so that nobody needs it who does not.
//
//     import python
//     np = python.import("numpy")
//     print(np.linalg.norm(x), python.value(np.cumsum(x)))
//
// The interpreter is started once in a process and stays; where Tally itself
// runs inside of Python, it is that one. Python's lock is held while a function
// of it runs, and not while Tally runs:
//
//     script   ──┐            ┌── f(x) ──┐              ┌── goes on
//     Python     └─ lock ─ g()           └─ lock ─ g … ─┘
//
// g is Python's and calls f, a function of the script's that it was given. So
// threads of Python's run while a script computes, and each function here takes
// the lock when it begins and gives it back on every path.
//
// A VM has one py_link, made when it imports the module. The context of each
// function is that link; python_values.c does what goes between the languages.

#define _GNU_SOURCE 1

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stdlib/native/python_values.h"

// --- The interpreter --------------------------------------------------------

// VMs of several threads may call the first function at once. Nobody who has
// Python's lock waits for this mutex, so that start may take the lock with it.
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

// Opens the first library of Python's that is there, newest first; NULL.
// $TALLY_PYTHON names another.
// RTLD_GLOBAL, for modules of Python's in C (NumPy) look for its functions
// among the process's names. The library is never closed.
static void *open_library(void) {
  const char *wish = getenv("TALLY_PYTHON");
  char name[64];
  if (wish != NULL && *wish != 0)
    return dlopen(wish, RTLD_NOW | RTLD_GLOBAL);
  // The names that Linux gives them, without the free-threaded ones (3.13t),
  // whose objects begin otherwise.
  for (int minor = 14; minor >= 9; minor--) {
    snprintf(name, sizeof name, "libpython3.%d.so.1.0", minor);
    void *library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (library != NULL)
      return library;
  }
  return NULL;
}

// Runs in the child.
static void forked(void) {
  py_owner = PY_PARENT_PROCESS;
}

// Finds Python's functions and starts it, unless this process has it already.
// Called with the mutex. Leaves Python without its lock taken by this thread,
// in which Py_InitializeEx has it first. An error leaves py_owner as it is,
// so that the next call tries again; a Python that was started stays.
static tally_status start(tally_vm *vm) {
  void *library = NULL;
  // Whoever has Python in the process (its own program, a host that links it)
  // has its names there: a second interpreter beside it would crash both.
  if (dlsym(RTLD_DEFAULT, "Py_IsInitialized") == NULL) {
    library = open_library();
    if (library == NULL)
      return tally_raise(vm, TALLY_ERR_IO,
                         "python: needs libpython3, 3.9 or later (Debian: "
                         "libpython3.11), which is not installed");
  }
  const char *missing = py_find(library);
  if (missing != NULL)
    return tally_raise(vm, TALLY_ERR_IO, "python: its library has no %s",
                       missing);
  // Its objects begin otherwise: see python_api.h.
  if (strstr(py.Py_GetVersion(), "free-threading") != NULL)
    return tally_raise(
        vm, TALLY_ERR_IO,
        "python: needs one with a lock, not a free-threaded one");
  // Another module or the host may have started it; then its lock is anybody's.
  int was_running = py.Py_IsInitialized();
  if (!was_running)
    py.Py_InitializeEx(0);  // signals stay with whoever has them
  int lock = was_running ? py.PyGILState_Ensure() : 0;
  int ok = py_values_open();
  if (!ok)
    py.PyErr_Clear();
  if (was_running)
    py.PyGILState_Release(lock);
  else
    py.PyEval_SaveThread();
  if (!ok)
    return tally_raise(vm, TALLY_ERR_HOST, "python: its types cannot be made");
  if (pthread_atfork(NULL, NULL, forked) != 0)
    return tally_raise(vm, TALLY_ERR_MEMORY, "python: no memory");
  py_owner = PY_THIS_PROCESS;
  return TALLY_OK;
}

// Sees to it that Python runs, and that it is this process's.
static tally_status need_python(tally_vm *vm) {
  pthread_mutex_lock(&opening);
  tally_status status = py_owner == PY_ANY_PROCESS ? start(vm) : TALLY_OK;
  pthread_mutex_unlock(&opening);
  return status == TALLY_OK ? py_need(vm) : status;
}

// --- Functions --------------------------------------------------------------

// py_lock for a call of the link's VM, before which Python is started. What
// other threads gave up in the meantime is released first.
static tally_status enter(py_link *link, int *lock) {
  tally_status status = need_python(link->vm);
  if (status == TALLY_OK)
    status = py_lock(link->vm, lock);
  if (status == TALLY_OK)
    py_link_sweep(link);
  return status;
}

// python.import(name), with points in it: "os.path".
// The module is a handle, like all that Python has.
static tally_status import_module(tally_vm *vm, void *context, size_t count,
                                  const tally_value *args, tally_value *out) {
  const char *name;
  int lock;
  tally_status status = tally_to_string(vm, args[0], &name, NULL);
  if (status == TALLY_OK)
    status = enter(context, &lock);
  if (status != TALLY_OK)
    return status;
  return py_give(context, lock, py.PyImport_ImportModule(name), out);
}

// python.value(x): what x is in Tally, items and all.
// A value of Tally's is what it is already. Arrays share their memory, and keep
// the object's buffer until their last use.
static tally_status deep_value(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  PY_LOCK_OR_RETURN(enter(context, &lock));
  py_object *o = py_object_of(context, args[0]);
  if (o == NULL)
    *out = tally_retain(vm, args[0]);
  else
    status = py_to_value(context, o, 1, out);
  py.PyGILState_Release(lock);
  return status;
}

// python.object(x): a value of Tally's as one of Python's, so that it has
// Python's attributes and operators.
// Numbers and texts come back as values, for those are never handles.
static tally_status as_object(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  PY_LOCK_OR_RETURN(enter(context, &lock));
  return py_give(context, lock, py_from_value(context, args[0]), out);
}

// The arguments behind the first as an array; their number is at most 64.
// *count is how many are the caller's to release, on failure too.
static tally_status spread(tally_vm *vm, tally_value rest, tally_value *items,
                           size_t *count) {
  size_t n = tally_length(vm, rest);
  tally_status status = TALLY_OK;
  if (n > 64)
    return tally_raise(vm, TALLY_ERR_TYPE, "python.call takes 64 arguments");
  for (*count = 0; status == TALLY_OK && *count < n;
       *count += status == TALLY_OK)
    status = tally_item(vm, rest, *count, &items[*count]);
  return status;
}

// python.call(f, ...args, named: none): named is a record.
// The values of the rest are released behind the lock, with which Tally need
// not be left waiting; a dict of the names lives for the call alone.
static tally_status call(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  tally_value items[64];
  size_t n = 0;
  PY_LOCK_OR_RETURN(enter(context, &lock));
  py_object *f = py_object_of(context, args[0]), *named = NULL, *result = NULL;
  int has_names = strcmp(tally_type(vm, args[2]), "none") != 0;
  status = f == NULL
               ? tally_raise(vm, TALLY_ERR_TYPE,
                             "python.call: f must be an object of Python's, "
                             "not %s",
                             tally_type(vm, args[0]))
               : spread(vm, args[1], items, &n);
  if (status == TALLY_OK && has_names &&
      strcmp(tally_type(vm, args[2]), "record") != 0)
    status = tally_raise(vm, TALLY_ERR_TYPE,
                         "python.call: named must be a record, not %s",
                         tally_type(vm, args[2]));
  if (status == TALLY_OK) {
    if (has_names)
      named = py_from_value(context, args[2]);
    if (!has_names || named != NULL)
      result = py_call(context, f, n, items, named);
    // A record of Tally's has become a dict, which f's **named copied.
    py_drop(named);
    status = py_give(context, lock, result, out);
  } else {
    py.PyGILState_Release(lock);
  }
  for (size_t i = 0; i < n; i++) tally_release(vm, items[i]);
  return status;
}

// python.items(x): what an iteration over x gives, as a list.
// An iteration without an end ends with the memory, or never. Items are not
// deep.
static tally_status items(tally_vm *vm, void *context, size_t count,
                          const tally_value *args, tally_value *out) {
  PY_LOCK_OR_RETURN(enter(context, &lock));
  py_object *o = py_from_value(context, args[0]);
  py_object *all = o == NULL ? NULL : py.PySequence_List(o);
  status = all == NULL ? py_raise(context) : py_to_list(context, all, out);
  py_drop(all);
  py_drop(o);
  py.PyGILState_Release(lock);
  return status;
}

// Calls builtins.eval or exec with the names of Python's main module.
// args[0] is the text, how: "eval" or "exec". What one text defines the next
// one finds, from whichever VM: Python is one for all of the process's.
static tally_status evaluate(py_link *link, const char *how,
                             const tally_value *args, tally_value *out) {
  const char *text;
  int lock;
  tally_status status = tally_to_string(link->vm, args[0], &text, NULL);
  if (status == TALLY_OK)
    status = enter(link, &lock);
  if (status != TALLY_OK)
    return status;
  // The exception of the first that fails is the one told.
  py_object *builtins = py.PyImport_ImportModule("builtins"), *result = NULL;
  py_object *main =
      builtins == NULL ? NULL : py.PyImport_AddModule("__main__");  // borrowed
  if (main != NULL)
    result = py.PyObject_CallMethod(builtins, how, "sO", text,
                                    py.PyModule_GetDict(main));
  py_drop(builtins);
  return py_give(link, lock, result, out);
}

// python.eval(text): an expression's value.
// The last expression alone: "x = 1" is a syntax error of Python's.
static tally_status eval(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  return evaluate(context, "eval", args, out);
}

// python.run(text): statements.
static tally_status run(tally_vm *vm, void *context, size_t count,
                        const tally_value *args, tally_value *out) {
  return evaluate(context, "exec", args, out);
}

// Without the lock: the text is static in Python.
static tally_status version(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  tally_status status = need_python(vm);
  if (status != TALLY_OK)
    return status;
  const char *text = py.Py_GetVersion();
  return tally_from_string(vm, text, strcspn(text, " "), out);
}

// --- The module -------------------------------------------------------------

// The VM holds one, whose end says that it closes.
// Python's own end, which would write what is left, never comes where it was
// started here: it stays until the process is gone. An error of flush is
// nobody's. Values that other threads left end with the VM: only their list is
// freed here. It is emptied with the lock, which those who fill it have.
static void end_session(void *context, void *object) {
  py_link *link = object;
  if (py_owner == PY_THIS_PROCESS && py.Py_IsInitialized()) {
    // What Python printed and has not written yet.
    int lock = py.PyGILState_Ensure();
    py_object *sys = py.PyImport_ImportModule("sys");
    py_object *file =
        sys == NULL ? NULL : py.PyObject_GetAttrString(sys, "stdout");
    if (file != NULL)
      py_drop(py.PyObject_CallMethod(file, "flush", NULL));
    py.PyErr_Clear();
    py_drop(file);
    py_drop(sys);
    py_drop(link->asarray);
    link->vm = NULL;  // its values go with it, those that threads left too
    free(link->left);
    link->left = NULL;
    link->left_count = link->left_capacity = 0;
    py.PyGILState_Release(lock);
  }
  link->vm = NULL;
}

// What the VM holds under a name of which scripts know nothing: its release is
// the one call that tells a native module of the VM's end.
static const tally_resource session_type = {.size = sizeof session_type,
                                            .name = "python.session",
                                            .release = end_session};

static const tally_native functions[] = {
    {.name = "import",
     .params = "name",
     .call = import_module,
     .doc =
         "A module of Python's, as Python's import finds it. Its attributes,\n"
         "calls, items and operators are Python's; numbers and texts are\n"
         "Tally's. Errors of Python's have kind host and its traceback.\n"
         "    python.import(\"math\").sqrt(16)    # 4.0\n"},
    {.name = "value",
     .params = "x",
     .call = deep_value,
     .doc =
         "What an object of Python's is in Tally: an array over the memory\n"
         "of one of NumPy's or of any other buffer, which is not copied; a\n"
         "list, a record of a dict. Other objects stay what they are.\n"
         "    python.value(python.eval(\"[1, (2.5, None)]\"))    # (1, (2.5, none))\n"},
    {.name = "object",
     .params = "x",
     .call = as_object,
     .doc =
         "A value as an object of Python's: an array as one of NumPy's that\n"
         "reads the same memory, where NumPy is installed.\n"
         "    python.object((1, 2)).index(2)    # 1\n"},
    {.name = "call",
     .params = "f, ...args, named: none",
     .call = call,
     .doc =
         "Calls an object of Python's with named arguments, too, which are\n"
         "a record.\n"
         "    python.call(python.eval(\"dict\"), named: (a: 1))    # {'a': 1}\n"},
    {.name = "items",
     .params = "x",
     .call = items,
     .doc = "What Python's iteration over x gives, as a list.\n"
            "    python.items(python.eval(\"range(3)\"))    # (0, 1, 2)\n"},
    {.name = "eval",
     .params = "text",
     .call = eval,
     .doc = "The value of an expression of Python's.\n"
            "    python.eval(\"2 ** 10\")    # 1024\n"},
    {.name = "run",
     .params = "text",
     .call = run,
     .doc = "Runs statements of Python's; their names stay for the next ones.\n"
            "    python.run(\"x = 1\")\n"},
    {.name = "version",
     .params = "",
     .call = version,
     .doc =
         "Python's version, such as 3.11.2. An error of kind io where it is\n"
         "not installed.\n"},
};

TALLY_API tally_status tally_open_python(tally_vm *vm);
TALLY_API tally_status tally_open_python(tally_vm *vm) {
  tally_native rows[sizeof functions / sizeof *functions];
  tally_value session;
  py_link *link = py_link_new(vm, NULL);
  if (link == NULL)
    return tally_raise(vm, TALLY_ERR_MEMORY, "no memory for python");
  // In the package an array stays tally.Array, which the caller turns into what
  // it likes; here Python's functions get what they know.
  link->numpy = 1;
  // The table is of all VMs, the context of this one; tally_add_module copies
  // the rows.
  memcpy(rows, functions, sizeof rows);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rows[i].context = link;
    // Python can do whatever the process can: a VM that lacks either of the two
    // is refused each function.
    rows[i].needs = TALLY_MAY_FILES | TALLY_MAY_LIBRARIES;
  }
  tally_status status = tally_from_resource(vm, &session_type, link, &session);
  if (status != TALLY_OK)
    return status;
  status = tally_move_global(vm, "_python", session);
  if (status != TALLY_OK)
    return status;
  tally_module module = {.size = sizeof module,
                         .name = "python",
                         .doc = "Python's modules and objects.",
                         .functions = rows,
                         .function_count = sizeof rows / sizeof *rows,
                         .function_size = sizeof *rows};
  return tally_add_module(vm, &module);
}
