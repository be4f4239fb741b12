// The types tally.Array and tally.Function, whose objects hold a value of a
// VM's. An array shows its memory by the buffer protocol, __array_interface__
// and __dlpack__; what a function does when it is called is python_values.c's.
#pragma once

#include "stdlib/native/python_link.h"

// How the buffer protocol calls a dtype: as the module struct writes an item.
// NumPy's letter of the kind is the first one of our name: b, i, u, f or c.
typedef struct py_format {
  const char *dtype, *format;
  size_t size;
} py_format;
extern const py_format py_formats[];  // ended by dtype NULL
// Of an array's dtype; NULL where the buffer protocol has no name for it, as of
// strings, structs and decimals.
const py_format *py_format_of(const char *dtype);

// tally.Array and tally.Function: a value of a VM's. The shape and strides are
// what a buffer of it refers to.
// The head has to be first: Python knows the object by it. Objects are made
// zeroed by their type, and changed by nobody once py_from_array has filled
// them; so that their getters need no thread of the VM's.
typedef struct py_held {
  py_object head;
  // Never NULL: its type refuses to be called, and is made by none else.
  py_link *link;
  tally_value value;
  // What value's memory is: valid as long as value, which is released last. Its
  // dtype is not, for the text is the VM's: see item.
  tally_array of;
  intptr_t shape[TALLY_MAX_DIMS], strides[TALLY_MAX_DIMS];
  const py_format *item;  // what its items are
} py_held;

// Makes both types, once in a process and library; [call] is what a function
// does. 0 with an exception; it may be tried again.
int py_held_open(py_object *(*call)(py_object *, py_object *, py_object *));
// An array as an object, and as one of NumPy's where that is wanted and there.
// A new reference, or NULL with an exception.
py_object *py_from_array(py_link *link, tally_value v, const tally_array *a);
// A function as an object, likewise.
py_object *py_from_function(py_link *link, tally_value v);
// What an object of these types holds; NULL: it is of another.
const py_held *py_held_of(py_object *o);
// Whether the caller may use the VM: it is open, and this its thread.
int py_is_callable(const py_held *h);
