// The Python package tally, in C: a VM as an object. What it shares with the
// module python of Tally's is in stdlib/native. Only the limited interface of
// Python 3.9 is used, so that one build serves all later versions.
//
//     vm = tally.VM(memory=1 << 30)
//     vm.eval("sum(x)", x=numpy.arange(10))
//
// Whatever Python gets of a VM has a reference to the VM's object, which closes
// the VM when it ends itself:
//
//     y = vm.eval("x")      tally.Array ─▶ tally.VM ─▶ VM ─▶ Py_buffer ─▶ x
//     del vm                the VM stays, for y
//     del y                 Array, VM and buffer end, in this order
//
// A VM belongs to the thread that made it, and Python's lock is given back
// while it runs. Two VMs in two threads so run at the same time.

#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE 1
#include <Python.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stdlib/native/python_values.h"

// head first, as Python's PyObject. vm and link are NULL until init has
// succeeded, and never NULL behind it.
typedef struct vm_object {
  py_object head;
  tally_vm *vm;
  py_link *link;
  PyObject *print;  // gets what scripts print; NULL: sys.stdout's file
} vm_object;

// One object, as Python.h and as python_api.h call it; no reference is taken.
static py_object *own(PyObject *o) {
  return (py_object *)(void *)o;
}

static PyObject *theirs(py_object *o) {
  return (PyObject *)(void *)o;
}

// --- Interrupts -------------------------------------------------------------

// Ctrl-C while a script runs in the main thread: Python's own handler notes it,
// and the script is asked to stop.
// The VM that a signal stops, and what handled SIGINT before. Both are changed
// with Python's lock alone, and read by the handler: before is complete when
// the handler is installed, and stays until it is not.
static tally_vm *volatile interruptible;
static struct sigaction before;

// Python's handler only notes the signal, so that the exception is raised when
// C is left; hence both. Who ignores the signal keeps on ignoring it. Only
// functions that a signal handler may call.
static void on_interrupt(int signal, siginfo_t *info, void *context) {
  int is_ignored =
      (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN;
  if (interruptible != NULL && !is_ignored)
    tally_interrupt(interruptible);
  if ((before.sa_flags & SA_SIGINFO) != 0)
    before.sa_sigaction(signal, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(signal);
}

// Runs within runs leave the handler as it is; so do other threads, which get
// no signals of Python's.
// Whether it did, for give_interrupts. The main thread is the one whose id is
// the process's: Python raises KeyboardInterrupt there alone.
static int take_interrupts(tally_vm *vm) {
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
  if (interruptible != NULL || syscall(SYS_gettid) != getpid())
    return 0;
  interruptible = vm;
  action.sa_sigaction = on_interrupt;
  sigemptyset(&action.sa_mask);
  // SA_ONSTACK, as Python's own: threads of other languages have small stacks.
  // No SA_RESTART: a read that a script waits in ends.
  if (sigaction(SIGINT, &action, &before) == 0)
    return 1;
  interruptible = NULL;
  return 0;
}

// The handler goes first: it must not find a VM that is gone.
static void give_interrupts(int taken) {
  if (!taken)
    return;
  sigaction(SIGINT, &before, NULL);
  interruptible = NULL;
}

// --- Running ----------------------------------------------------------------

// What scripts print goes to a Python function, or to standard output.
// By the VM, without Python's lock. Not 0: the script gets an error of kind io;
// the exception itself is lost, but an interrupt has stopped the VM as well.
// Bytes that are no UTF-8, which a script may write to /dev/stdout, are
// refused.
static int write_text(void *context, const char *text, size_t nbytes) {
  vm_object *self = context;
  int lock = py.PyGILState_Ensure(), failed = 1;
  // Borrowed, asked for each time: a notebook puts another file there for each
  // cell.
  PyObject *out = self->print != NULL ? self->print : PySys_GetObject("stdout");
  if (out != NULL) {
    PyObject *made =
        self->print != NULL
            ? PyObject_CallFunction(out, "s#", text, (Py_ssize_t)nbytes)
            : PyObject_CallMethod(out, "write", "s#", text, (Py_ssize_t)nbytes);
    failed = made == NULL;
    Py_XDECREF(made);
    PyErr_Clear();
  }
  py.PyGILState_Release(lock);
  return failed;
}

// Whether the VM may be used here and now; an exception where not.
// Before each use of the VM, and of its last error. What threads gave up is
// released here.
static int is_open(vm_object *self) {
  if (self->vm == NULL) {
    PyErr_SetString(PyExc_ValueError, "the VM is closed");
    return 0;
  }
  if (!pthread_equal(self->link->thread, pthread_self())) {
    PyErr_SetString(PyExc_RuntimeError,
                    "a VM is used by the thread that made it");
    return 0;
  }
  py_link_sweep(self->link);
  return 1;
}

// What is to be run: a text, a script, or a call.
typedef struct work {
  const char *source, *path, *name;
  int count;
  const char *const *arguments;
  const tally_value *values;
} work;

// Runs without Python's lock, which the hooks take again. NULL with an
// exception.
// Owns nothing of w. An exit is SystemExit, as a script's sys.exit in Python;
// an interrupt is what Python's own handler makes of the signal, which need not
// be KeyboardInterrupt.
static PyObject *run(vm_object *self, const work *w) {
  // {0, 0}: tally_run has no value, and tally_release leaves it alone.
  tally_value result = {0, 0};
  int taken = take_interrupts(self->vm);
  // From here to RestoreThread no object of Python's is touched: w's texts are
  // bytes of strings that the caller's arguments keep.
  PyThreadState *state = PyEval_SaveThread();
  tally_status status =
      w->path != NULL ? tally_run(self->vm, w->path, w->count, w->arguments)
      : w->name != NULL
          ? tally_call(self->vm, w->name, w->count, w->values, &result)
          : tally_eval(self->vm, w->source, &result);
  PyEval_RestoreThread(state);
  give_interrupts(taken);
  PyObject *out = NULL;
  if (status == TALLY_OK) {
    if (result.handle == 0 && result.check == 0) {
      Py_INCREF(Py_None);
      out = Py_None;
    } else {
      out = theirs(py_from_value(self->link, result));
    }
    // os.exit(3): Python ends with status 3 unless somebody catches it.
  } else if (status == TALLY_ERR_EXIT) {
    PyObject *code = PyLong_FromLong(tally_error(self->vm)->exit_status);
    PyErr_SetObject(PyExc_SystemExit, code);
    Py_XDECREF(code);
  } else if (status != TALLY_ERR_INTERRUPT || PyErr_CheckSignals() == 0) {
    py_set_error(self->link, NULL);
  }
  tally_release(self->vm, result);
  return out;
}

// Sets a variable of the script's from a Python object; 0 with an exception.
// The VM takes the value, which a script then may reuse in place; a buffer of
// Python's is never written. An error in the middle leaves the variables before
// it set.
static int set_variable(vm_object *self, PyObject *key, PyObject *value) {
  tally_value made;
  const char *name = py.PyUnicode_AsUTF8AndSize(own(key), NULL);
  if (name == NULL)
    return 0;
  tally_status status = py_to_value(self->link, own(value), 1, &made);
  if (status == TALLY_OK)
    status = tally_move_global(self->vm, name, made);
  if (status != TALLY_OK)
    py_set_error(self->link, NULL);
  return status == TALLY_OK;
}

// vm.eval(source, **variables)
// The variables stay for later texts, as in vm[name] = value.
static PyObject *eval(PyObject *o, PyObject *args, PyObject *named) {
  vm_object *self = (vm_object *)(void *)o;
  work w = {NULL, NULL, NULL, 0, NULL, NULL};
  PyObject *key, *value;
  Py_ssize_t at = 0;
  if (!PyArg_ParseTuple(args, "s:eval", &w.source) || !is_open(self))
    return NULL;
  // The dict is this call's own, which nobody changes.
  while (named != NULL && PyDict_Next(named, &at, &key, &value))
    if (!set_variable(self, key, value))
      return NULL;
  return run(self, &w);
}

// vm.run(path, *arguments)
static PyObject *run_file(PyObject *o, PyObject *args) {
  vm_object *self = (vm_object *)(void *)o;
  Py_ssize_t n = PyTuple_Size(args);
  // UTF-8 of the tuple's own strings, which outlive the run.
  const char *texts[64];
  work w = {NULL, NULL, NULL, 0, NULL, NULL};
  if (!is_open(self))
    return NULL;
  // The path and 63 arguments: texts has room for 64.
  if (n < 1 || n > 64) {
    PyErr_SetString(PyExc_TypeError,
                    "run takes a path and the script's "
                    "arguments, which are texts");
    return NULL;
  }
  for (Py_ssize_t i = 0; i < n; i++) {
    texts[i] = py.PyUnicode_AsUTF8AndSize(own(PyTuple_GetItem(args, i)), NULL);
    if (texts[i] == NULL)
      return NULL;
  }
  w.path = texts[0];
  w.count = (int)n - 1;
  w.arguments = texts + 1;
  return run(self, &w);
}

// vm.call(name, *arguments)
// values are released here whether the run succeeds or not: a call borrows.
static PyObject *call(PyObject *o, PyObject *args) {
  vm_object *self = (vm_object *)(void *)o;
  Py_ssize_t n = PyTuple_Size(args), made = 0;
  tally_value values[64];
  PyObject *out = NULL;
  if (!is_open(self))
    return NULL;
  if (n < 1 || n > 65) {
    PyErr_SetString(PyExc_TypeError, "call takes a name and 64 arguments");
    return NULL;
  }
  // The name is the first argument, the values are the others.
  work w = {NULL, NULL, NULL, (int)n - 1, NULL, values};
  w.name = py.PyUnicode_AsUTF8AndSize(own(PyTuple_GetItem(args, 0)), NULL);
  if (w.name == NULL)
    return NULL;
  tally_status status = TALLY_OK;
  for (; made < n - 1 && status == TALLY_OK; made += status == TALLY_OK)
    status = py_to_value(self->link, own(PyTuple_GetItem(args, made + 1)), 1,
                         &values[made]);
  if (status == TALLY_OK)
    out = run(self, &w);
  else
    py_set_error(self->link, NULL);
  // The VM is open still: the caller has a reference to self.
  for (Py_ssize_t i = 0; i < made; i++) tally_release(self->vm, values[i]);
  return out;
}

// vm[name], vm[name] = value
static PyObject *get(PyObject *o, PyObject *key) {
  vm_object *self = (vm_object *)(void *)o;
  tally_value v;
  const char *name = py.PyUnicode_AsUTF8AndSize(own(key), NULL);
  if (name == NULL || !is_open(self))
    return NULL;
  if (tally_get_global(self->vm, name, &v) != TALLY_OK) {
    py_set_error(self->link, NULL);
    return NULL;
  }
  PyObject *out = theirs(py_from_value(self->link, v));
  tally_release(self->vm, v);
  return out;
}

// NULL is del vm[name].
static int set(PyObject *o, PyObject *key, PyObject *value) {
  vm_object *self = (vm_object *)(void *)o;
  if (!is_open(self))
    return -1;
  if (value == NULL) {
    PyErr_SetString(PyExc_TypeError, "a variable is deleted by the script");
    return -1;
  }
  return set_variable(self, key, value) ? 0 : -1;
}

// The counts of tally_get_stats.
// A new dict of ints, with the names of the header.
static PyObject *stats(PyObject *o, PyObject *nothing) {
  vm_object *self = (vm_object *)(void *)o;
  tally_stats now;
  (void)nothing;
  if (!is_open(self))
    return NULL;
  PyObject *out = PyDict_New();
  if (out == NULL)
    return NULL;
  tally_get_stats(self->vm, &now);
#define X(field, what)                                         \
  {                                                            \
    PyObject *number = PyLong_FromUnsignedLongLong(now.field); \
    if (number != NULL)                                        \
      PyDict_SetItemString(out, #field, number);               \
    Py_XDECREF(number);                                        \
  }
  TALLY_STATS(X)
#undef X
  return out;
}

// --- Life -------------------------------------------------------------------

// VM(*, memory=0, time=0, instructions=0, print=None, sandbox=False); 0 is no
// limit. sandbox: no files, network, libraries or machine code. On failure the
// object stays as one without a VM, whose methods say that it is closed.
static int init(PyObject *o, PyObject *args, PyObject *named) {
  static char *const words[] = {"memory", "time",    "instructions",
                                "print",  "sandbox", NULL};
  vm_object *self = (vm_object *)(void *)o;
  // K takes any int, the low 64 bits of it.
  unsigned long long memory = 0, instructions = 0;
  double seconds = 0;
  int sandbox = 0;
  PyObject *print = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, named, "|$KdKOp:VM", (char **)words,
                                   &memory, &seconds, &instructions, &print,
                                   &sandbox))
    return -1;
  if (self->vm != NULL) {
    PyErr_SetString(PyExc_TypeError, "a VM is opened once");
    return -1;
  }
  tally_options options = tally_default_options();
  options.memory_limit = (size_t)memory;
  options.time_limit = seconds;
  options.instruction_limit = instructions;
  options.write = write_text;
  // Borrowed: the VM ends before its object does.
  options.context = self;
  options.capabilities = sandbox ? 0 : TALLY_MAY_ALL;
  // Machine code is no right of a script's, but more to go wrong with.
  if (sandbox)
    options.native = TALLY_NATIVE_OFF;
  if (print != Py_None) {
    Py_INCREF(print);
    self->print = print;
  }
  if (tally_open(&options, &self->vm) != TALLY_OK) {
    PyErr_SetString(PyExc_MemoryError, "no memory for a VM");
    return -1;
  }
  // Borrowed by the link, without a reference: the object would keep itself.
  self->link = py_link_new(self->vm, &self->head);
  if (self->link != NULL)
    return 0;
  tally_close(self->vm);
  self->vm = NULL;
  PyErr_NoMemory();
  return -1;
}

// Objects of Python's that show the VM's memory keep the VM open, so that this
// is its end. In another thread than its own it cannot be closed.
static void end(PyObject *o) {
  vm_object *self = (vm_object *)(void *)o;
  // Read before the object is freed, and given back last.
  PyTypeObject *type = Py_TYPE(o);
  // A VM left by another thread stays until the process ends: nothing may be
  // released there, and the thread that could do it may be gone.
  if (self->vm != NULL && pthread_equal(self->link->thread, pthread_self())) {
    tally_vm *vm = self->vm;
    PyObject *type_then, *value, *trace;
    // What is on its way through Python's frames stays: what the VM still
    // prints, and the ends of its objects, clear exceptions.
    PyErr_Fetch(&type_then, &value, &trace);
    py_link_close(self->link);
    tally_close(vm);
    PyErr_Restore(type_then, value, trace);
  }
  Py_XDECREF(self->print);
  PyObject_Free(o);
  Py_DECREF((PyObject *)type);
}

#define SLOT(function) ((void *)(uintptr_t)(function))

// What help(tally.VM) shows.
static PyMethodDef methods[] = {
    {"eval", (PyCFunction)(void (*)(void))eval, METH_VARARGS | METH_KEYWORDS,
     "eval(source, **variables): runs a text, which may use the variables, and "
     "gives its last expression's value."},
    {"run", run_file, METH_VARARGS, "run(path, *arguments): runs a script."},
    {"call", call, METH_VARARGS,
     "call(name, *arguments): calls a function of the script's or library's."},
    {"stats", stats, METH_NOARGS, "The VM's counters, by name."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_init, SLOT(init)},
                              {Py_tp_dealloc, SLOT(end)},
                              {Py_tp_methods, methods},
                              {Py_mp_subscript, SLOT(get)},
                              {Py_mp_ass_subscript, SLOT(set)},
                              {Py_tp_doc,
                               "An instance of Tally: its variables "
                               "by vm[name], limits by memory "
                               "(bytes), time (seconds) and "
                               "instructions."},
                              {0, NULL}};

// Not for the collector of circles: a VM whose print refers to the VM is never
// freed.
static PyType_Spec spec = {"tally.VM", sizeof(vm_object), 0, Py_TPFLAGS_DEFAULT,
                           slots};

// set_error_class(class), by the package when it is imported.
// A reference for ever; the class is needed while any VM is.
static PyObject *set_error_class(PyObject *module, PyObject *class) {
  (void)module;
  Py_INCREF(class);
  py_error_class = own(class);
  Py_INCREF(Py_None);
  return Py_None;
}

// Of the module itself; the package hides them behind its own names.
static PyMethodDef functions[] = {
    {"set_error_class", set_error_class, METH_O, NULL}, {NULL, NULL, 0, NULL}};

// -1: one state for the process; subinterpreters share no VM.
static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "tally._tally",
                                        .m_doc = "Tally in Python.",
                                        .m_size = -1,
                                        .m_methods = functions};

// Native modules that scripts import see tally.h's functions in this library,
// which Python loads without offering its names.
static void offer_names(void) {
  Dl_info self;
  if (dladdr((void *)&definition, &self) != 0)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

// By Python, once, with its lock. PyModule_AddObject takes the reference where
// it succeeds.
PyMODINIT_FUNC PyInit__tally(void) {
  const char *missing = py_find(NULL);
  if (missing != NULL) {
    PyErr_Format(PyExc_ImportError, "this Python has no %s", missing);
    return NULL;
  }
  if (!py_values_open())
    return NULL;
  offer_names();
  PyObject *module = PyModule_Create(&definition);
  PyObject *type = PyType_FromSpec(&spec);
  PyObject *version = PyUnicode_FromString(tally_version());
  if (module != NULL && type != NULL && version != NULL &&
      PyModule_AddObject(module, "VM", type) == 0 &&
      PyModule_AddObject(module, "version", version) == 0)
    return module;
  Py_XDECREF(module);
  return NULL;
}
