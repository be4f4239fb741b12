// python.object: an object of Python's in Tally, whose attributes, items, calls
// and operators are Python's own. Each hook takes Python's lock, for a script
// runs without it.

#include <stdlib.h>
#include <string.h>

#include "stdlib/native/python_values.h"

// An object in Tally.
// The object has one reference for it, given back by end_handle.
typedef struct handle {
  py_link *link;
  py_object *object;
  // Of a loop over it: Python's iterator (NULL: none runs), the item that was
  // found (NULL: not yet), and which step that is.
  py_object *iterator, *ahead;
  size_t at;
} handle;

// May run __del__. A function of this VM that it calls fails there, for the end
// of a value runs no code (tally_resource.release); Python prints that and goes
// on.
static void end_handle(void *context, void *object) {
  handle *h = object;
  py_drop_anywhere(h->ahead);
  py_drop_anywhere(h->iterator);
  py_drop_anywhere(h->object);
  free(h);
}

tally_status py_give(py_link *link, int lock, py_object *o, tally_value *out) {
  tally_status status =
      o == NULL ? py_raise(link) : py_to_value(link, o, 0, out);
  py_drop(o);
  py.PyGILState_Release(lock);
  return status;
}

// print(object): Python's str.
static tally_status show_handle(tally_vm *vm, void *context, void *object,
                                tally_value *out) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  return py_give(h->link, lock, py.PyObject_Str(h->object), out);
}

// object.name: numbers and texts become values, all else handles.
static tally_status get_attribute(tally_vm *vm, void *context, void *object,
                                  const char *name, tally_value *out) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  return py_give(h->link, lock, py.PyObject_GetAttrString(h->object, name),
                 out);
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

// Values as a tuple, each by [convert]; NULL with an exception. Returns owned.
static py_object *tuple_of(py_link *link, size_t count,
                           const tally_value *values,
                           py_object *(*convert)(py_link *, tally_value)) {
  py_object *tuple = py.PyTuple_New((intptr_t)count);
  for (size_t i = 0; tuple != NULL && i < count; i++) {
    py_object *item = convert(link, values[i]);
    if (item == NULL) {
      py_drop(tuple);
      return NULL;
    }
    py.PyTuple_SetItem(tuple, (intptr_t)i, item);
  }
  return tuple;
}

// What x[i], x[a:b] and x[i, ..., j] are indexed by: one index is itself,
// several are a tuple. NULL with an error of Python's. Returns owned. A record
// or text as an index, which looks like a slice or an ellipsis, is one: no dict
// has such a record as a key, and for the text "..." there is
// python.call(x.__getitem__, "...").
static py_object *key_of(py_link *link, size_t count,
                         const tally_value *indices) {
  return count == 1 ? index_of(link, indices[0])
                    : tuple_of(link, count, indices, index_of);
}

// Items are as attributes are: numbers and texts, or handles.
static tally_status get_item(tally_vm *vm, void *context, void *object,
                             size_t count, const tally_value *indices,
                             tally_value *out) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  py_object *key = key_of(h->link, count, indices);
  py_object *found = key == NULL ? NULL : py.PyObject_GetItem(h->object, key);
  py_drop(key);
  return py_give(h->link, lock, found, out);
}

// Begins an iteration at a step. Where a loop over the same object lay within
// this one, what was passed is passed again; a generator, which is its own
// iterator, goes on where it is.
static void iterate(handle *h, size_t at) {
  py_drop(h->iterator);
  h->iterator = py.PyObject_GetIter(h->object);
  if (h->iterator == NULL || h->iterator == h->object)
    return;
  for (size_t i = 0; i < at; i++) {
    py_object *passed = py.PyIter_Next(h->iterator);
    py_drop(passed);
    if (passed == NULL)
      return;
  }
}

// for x in object. The item is fetched to know whether there is one, and kept
// for next.
static tally_status has_item(tally_vm *vm, void *context, void *object,
                             size_t at, int *more) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  if (h->ahead == NULL || h->at != at) {
    py_drop(h->ahead);
    h->ahead = NULL;
    if (h->iterator == NULL || at == 0 || h->at != at)
      iterate(h, at);
    h->at = at;
    if (py.PyErr_Occurred() == NULL)
      h->ahead = py.PyIter_Next(h->iterator);
    if (py.PyErr_Occurred() != NULL)
      status = py_raise(h->link);
    if (h->ahead == NULL) {
      py_drop(h->iterator);
      h->iterator = NULL;
    }
  }
  *more = h->ahead != NULL;
  py.PyGILState_Release(lock);
  return status;
}

static tally_status give_item(tally_vm *vm, void *context, void *object,
                              size_t at, tally_value *out) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  py_object *item = h->ahead;
  h->ahead = NULL;
  h->at = at + 1;
  return py_give(h->link, lock, item, out);
}

// x[i] = v as Python does it: the object changes, for whoever has it, as a call
// of one of its methods would change it. Hence never a copy, alone or not.
static tally_status put_item(tally_vm *vm, void *context, void *object,
                             int alone, size_t count,
                             const tally_value *indices, tally_value value,
                             tally_value *out) {
  handle *h = object;
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  py_object *key = key_of(h->link, count, indices);
  py_object *item = key == NULL ? NULL : py_from_value(h->link, value);
  if (item == NULL || py.PyObject_SetItem(h->object, key, item) != 0)
    status = py_raise(h->link);
  py_drop(item);
  py_drop(key);
  py.PyGILState_Release(lock);
  return status;
}

// object(…): by position, and by name. The one hook that may run code of
// Tally's. A record of names becomes a dict, which Python's **named copies.
static tally_status call_with(tally_vm *vm, handle *h, size_t count,
                              const tally_value *args, const tally_value *names,
                              tally_value *out) {
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  // A call may run code, so that what threads left can be released; the other
  // hooks may not.
  py_link_sweep(h->link);
  py_object *named = names == NULL ? NULL : py_from_value(h->link, *names);
  py_object *result = names != NULL && named == NULL
                          ? NULL
                          : py_call(h->link, h->object, count, args, named);
  py_drop(named);
  return py_give(h->link, lock, result, out);
}

static tally_status call_handle(tally_vm *vm, void *context, void *object,
                                size_t count, const tally_value *args,
                                tally_value *out) {
  return call_with(vm, object, count, args, NULL, out);
}

static tally_status call_named(tally_vm *vm, void *context, void *object,
                               size_t count, const tally_value *args,
                               tally_value named, tally_value *out) {
  return call_with(vm, object, count, args, &named, out);
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
  PY_LOCK_OR_RETURN(py_lock(vm, &lock));
  py_link *link = ((handle *)object)->link;
  // Loaded by Python's own start: a look-up in sys.modules.
  py_object *module = py.PyImport_ImportModule("operator"), *result = NULL;
  py_object *f =
      module == NULL ? NULL : py.PyObject_GetAttrString(module, name);
  if (f != NULL)
    result = py_call(link, f, count, operands, NULL);
  py_drop(f);
  py_drop(module);
  return py_give(link, lock, result, out);
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
                                           .put = put_item,
                                           .more = has_item,
                                           .next = give_item,
                                           .call_named = call_named};

tally_status py_wrap(py_link *link, py_object *o, tally_value *out) {
  handle *h = malloc(sizeof *h);
  if (h == NULL)
    return tally_raise(link->vm, TALLY_ERR_MEMORY, "no memory for a handle");
  // The reference is taken once the value is made; o is the caller's until
  // then.
  *h = (handle){.link = link, .object = o};
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

py_object *py_call(py_link *link, py_object *f, size_t count,
                   const tally_value *args, py_object *named) {
  py_object *tuple = tuple_of(link, count, args, py_from_value);
  py_object *result = tuple == NULL ? NULL : py.PyObject_Call(f, tuple, named);
  py_drop(tuple);
  return result;
}
