// What lies below values that go between the languages: see python_link.h.

#define _GNU_SOURCE 1  // for RTLD_DEFAULT

#include "stdlib/native/python_link.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

py_api py;
py_object *py_error_class;

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

int py_is_usable(void) {
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
  // Each may leave values of its own, which py_give_back releases at once: this
  // is the VM's thread.
  for (size_t i = 0; i < count; i++) tally_release(link->vm, left[i]);
  free(left);
}

// The record stays: objects of Python's may still refer to it.
void py_link_close(py_link *link) {
  py_link_sweep(link);
  link->vm = NULL;
}

// Called with Python's lock, in which link->vm does not change meanwhile. A VM
// that is never called again keeps what was left until it closes.
void py_give_back(py_link *link, tally_value v) {
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

// An exception that the attempt sets is cleared. Valid while the object is, for
// that keeps its UTF-8; NUL-terminated, and may have NULs within.
const char *py_text_of(py_object *o, size_t *nbytes) {
  intptr_t n = 0;
  const char *text = o == NULL ? NULL : py.PyUnicode_AsUTF8AndSize(o, &n);
  *nbytes = (size_t)n;
  if (text == NULL)
    py.PyErr_Clear();
  return text;
}

// Errors of a VM are UTF-8: tally_raise sees to it.
py_object *py_text(const char *from) {
  return py.PyUnicode_FromStringAndSize(from, (intptr_t)strlen(from));
}

// All of an exception as Python prints it, a new reference; NULL.
// By Python's own traceback.format_exception, so that chained exceptions
// ("during the handling of …") are in it. Borrows all three; a value of NULL
// counts as None. What goes wrong here is cleared: the error that is told
// matters more.
static py_object *format_exception(py_object *type, py_object *value,
                                   py_object *trace) {
  py_object *const none = py._Py_NoneStruct, *out = NULL;
  py_object *module = py.PyImport_ImportModule("traceback");
  py_object *lines =
      module == NULL
          ? NULL
          : py.PyObject_CallMethod(module, "format_exception", "OOO", type,
                                   value == NULL ? none : value, trace);
  py_object *empty = lines == NULL ? NULL : py_text("");
  if (empty != NULL)
    out = py.PyObject_CallMethod(empty, "join", "(O)", lines);
  py_drop(empty);
  py_drop(lines);
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
  const char *what = py_text_of(said, &n), *class = py_text_of(name, &m);
  py_object *whole =
      trace == NULL ? NULL : format_exception(type, value, trace);
  const char *text = py_text_of(whole, &n);
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

// The arguments of tally.Error: report, kind, message, file, line, column.
// e is borrowed from the VM, and copied before anything of Python's runs that
// may call into the VM. PyErr_SetObject calls the class with the tuple's items.
static py_object *set_own_error(const tally_error_info *e) {
  py_object *args = py.Py_BuildValue("ssssLL", e->report, e->kind, e->message,
                                     e->file == NULL ? "" : e->file,
                                     (long long)e->line, (long long)e->column);
  if (args != NULL)
    py.PyErr_SetObject(py_error_class, args);
  py_drop(args);
  return NULL;
}

py_object *py_fail(py_object *class, const char *text) {
  py.PyErr_SetString(class, text);
  return NULL;
}

// An interrupt of the VM's is Python's KeyboardInterrupt.
py_object *py_set_error(py_link *link, py_object *class) {
  const tally_error_info *e = tally_error(link->vm);
  // So that Ctrl-C goes through "except Exception" in Python.
  if (class == NULL && e->status == TALLY_ERR_INTERRUPT)
    class = *py.PyExc_KeyboardInterrupt;
  if (class == NULL && py_error_class != NULL)
    return set_own_error(e);
  return py_fail(
      class == NULL ? *py.PyExc_RuntimeError : class,
      e->report != NULL && e->report[0] != 0 ? e->report : e->message);
}

void py_drop_anywhere(py_object *o) {
  if (o == NULL || !py_is_usable())
    return;
  int lock = py.PyGILState_Ensure();
  py.Py_DecRef(o);
  py.PyGILState_Release(lock);
}

tally_status py_lock(tally_vm *vm, int *lock) {
  tally_status status = py_need(vm);
  if (status == TALLY_OK)
    *lock = py.PyGILState_Ensure();
  return status;
}
