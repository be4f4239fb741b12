// Reading a built-in's arguments: each function checks the kind of one
// argument and fails with a message that names the function, the argument and
// the value that it got.
//
// A built-in gets its arguments as slots in the order of its signature; absent
// ones hold their defaults. The usual order of a built-in of arrays:
//
//   .types of its row           read before it is called (vm/builtin.h)
//   tl_arg_int, tl_arg_axis …   the small arguments first: cheap to check
//   tl_arg_array                an array of whatever was given, in the slot
//   tl_promote_slots            the dtype of the result
//   tl_as_contiguous, tl_take_* items in the layout that the loop wants
//   tl_result, tl_own_array     the result, owned by *out
//
//   args[0] --tl_arg_array--> slot owns or borrows an array
//      |                         |
//      |  tl_as_contiguous       |  tl_take_dense
//      v                         v
//   to read: borrowed or copy  to write: the dying array or a copy
//
// Arguments belong to the VM, which drops what their slots own after the call.
// A function that makes an argument an array (tl_arg_*) leaves the new array
// in the slot, so nothing has to be released on any path; one with *out gives
// the caller something to drop. A function that takes an argument over
// (tl_take_*) clears the slot's ownership.
//
// [function] and [name] are what a user wrote: "roll", "shift". All return
// false, or NULL, after one tl_fail.
#pragma once

#include "vm/array/array.h"
#include "vm/vm.h"

// Checks the arguments of a row with types, and converts those that it says
// (vm/builtin.h).
bool tl_read_arguments(tl_vm *vm, const tl_builtin *builtin, tl_slot *args);

// Fails (kind type): the argument [name] is a record, and its field [field]
// has a wrong value [s].
bool tl_arg_field_fail(tl_vm *vm, const char *function, const char *name,
                       const tl_string *field, const char *expected, tl_slot s);

// An integer of any integer dtype. A uint64 above the largest int64 fails
// (kind value).
bool tl_arg_int(tl_vm *vm, const char *function, const char *name, tl_slot s,
                int64_t *out);
// An integer from 0 on; a negative one fails (kind value).
bool tl_arg_count(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int64_t *out);
// A real number as a double: integers too, but no bools.
bool tl_arg_float(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  double *out);
// A bool and nothing else.
bool tl_arg_bool(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 bool *out);
// What becomes of integers that do not fit: "wrap", "error" or "saturate", or
// none. Another text fails (kind value).
bool tl_arg_overflow(tl_vm *vm, const char *function, tl_slot s,
                     tl_overflow *out);
// One of some names, which end with NULL: its place. none is the first; another
// text fails (kind value).
bool tl_arg_choice(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   const char *const *names, int *out);
// A string; returns borrowed.
bool tl_arg_string(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   tl_string **out);
// Checks that the value may be the key of a record: a string, an integer, a
// bool or a list of such.
bool tl_arg_key(tl_vm *vm, const char *function, const char *name, tl_slot s);
// A file's path as the system wants it, or the path of a standard stream where
// the value is io.stdin and the like. Returns borrowed. A text with a NUL
// fails.
bool tl_arg_path(tl_vm *vm, const char *function, tl_slot s, const char **path);
// The same of an argument that was read as a path (vm/builtin.h, types).
const char *tl_file_path(tl_slot s);
// A dtype, which is a type value such as float64; none gives [otherwise].
bool tl_arg_dtype(tl_vm *vm, const char *function, tl_slot s,
                  tl_dtype otherwise, tl_dtype *out);

// The same of an argument that was read as a dtype.
tl_dtype tl_dtype_given(tl_slot s, tl_dtype otherwise);

// A list, range or vector of integers, or one integer. Sets *count to their
// number, at most [max] (else kind value), and writes them to [out].
//
//   3           1: 3
//   (2, 3)      2: 2 3
//   0..3        3: 0 1 2
//   [1.0]       false, kind type
//
// On failure *count and [out] have no meaning, and the message shows all of
// [s].
bool tl_arg_ints(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 int max, int *count, int64_t *out);
// The same as a shape: a negative dimension fails (kind value).
//
//   zeros(3)            ndim 1, 3
//   zeros((2, -1))      false: "axis 1 of shape is -1, but must not be …"
bool tl_arg_shape(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int *ndim, int64_t shape[TL_MAX_DIMS]);
// The most bytes that a shape takes as text, with the byte at its end.
#define TL_SHAPE_TEXT (TL_MAX_DIMS * 22 + 3)
// A shape for a message, as a script writes it, into [to], which it returns.
//
//   (2, -1)   (4,)   ()
const char *tl_shape_text(int ndim, const int64_t *shape,
                          char to[TL_SHAPE_TEXT]);
// The same as axes of an array of [ndim] dimensions: negative ones count from
// the end, results are from 0 on; one that is given twice fails (kind value).
//
//   (0, -1) of 3 dimensions    0 2
//   (1, -2) of 3 dimensions    false, kind value: axis 1 is given twice
//   3       of 3 dimensions    false, kind index
bool tl_arg_axes(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int *count, int axes[TL_MAX_DIMS]);
// The same, or for none all axes in order.
bool tl_arg_axes_or_all(tl_vm *vm, const char *function, tl_slot s, int ndim,
                        int *count, int axes[TL_MAX_DIMS]);
// The same as a set, a bit for each axis.
bool tl_arg_axis_set(tl_vm *vm, const char *function, tl_slot s, int ndim,
                     uint32_t *out);
// One axis, from 0 on; none gives [otherwise], which may be negative. An array
// of no dimension has no axis at all, and fails for any (kind index).
bool tl_arg_axis(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int otherwise, int *out);

// Makes the argument an array where it is a scalar, a range or a list of
// numbers: the slot then owns that array, which the VM drops after the call as
// it does arguments.
bool tl_arg_array(tl_vm *vm, const char *function, tl_slot *s);
// The array that asarray makes of a list, of the dtype [wanted] unless that is
// none; *out is owned, and nested where an item is none or [wanted] is ?T.
// Items that do not stack fail (kind shape), others than numbers, bools,
// strings and arrays of such too (type), in the name of asarray.
bool tl_array_of_list(tl_vm *vm, tl_slot list, tl_slot wanted, tl_slot *out);
// Fails as tl_arg_array does for what has no items: neither an array of any
// form nor a list of numbers, which becomes one, nor a range or a number. For
// the first argument of functions that read others before they take it.
bool tl_arg_items(tl_vm *vm, const char *function, tl_slot *s);
// As tl_arg_array; a string becomes an array of rank 0.
bool tl_arg_array_or_string(tl_vm *vm, const char *function, tl_slot *s);
// As tl_arg_array, for numbers and bools alone: strings fail (kind type).
bool tl_arg_numeric(tl_vm *vm, const char *function, tl_slot *s);

// The arrays in a list, or of an array its rows. Scalars become rank 0. The
// slots borrow from [s] or own what was made; tl_arrays_close drops them.
typedef struct tl_arrays {
  int64_t count;
  tl_slot *items;
} tl_arrays;
// Item [i] of a list, [s], as an array, which is borrowed or owned. A weak
// scalar stays weak in the slot's tag.
bool tl_arg_array_at(tl_vm *vm, const char *function, tl_slot s, int64_t i,
                     tl_slot *out);
// Opens *out on success; close it with tl_arrays_close().
bool tl_arg_arrays(tl_vm *vm, const char *function, tl_slot s, tl_arrays *out);
// Drops what the slots own and frees them. Only for what tl_arg_arrays opened.
void tl_arrays_close(tl_vm *vm, tl_arrays *arrays);

// The dtype that holds the items of both values, by promotion; fails (kind
// type) for strings with anything else. Weak scalars follow the other.
//
//   int8 array, float32 array    float32
//   int8 array, 1.5              float64
//   strings, numbers             false, kind type
bool tl_promote_slots(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                      tl_dtype *out);
// The same over all of a list, which has at least one array.
bool tl_promote_arrays(tl_vm *vm, const char *function, const tl_arrays *arrays,
                       tl_dtype *out);

// An array that the caller may read as C-contiguous items of [dtype]: what s
// has, or a converted copy. *out borrows or owns; the caller drops it.
bool tl_as_contiguous(tl_vm *vm, const char *function, tl_slot s,
                      tl_dtype dtype, tl_slot *out);

// The same for code that reads each item once, before a result is written over
// it: *out takes over what *s owns.
bool tl_take_contiguous(tl_vm *vm, const char *function, tl_slot *s,
                        tl_dtype dtype, tl_slot *out);

// The array in [s] in rows, for the caller alone to write: itself where it is
// dying and may be written (s then no longer owns), else a copy. Returns
// owned; NULL after tl_fail.
tl_array *tl_take_dense(tl_vm *vm, tl_slot *s);
// The same without gaps, its axes in memory in the order of those of [s].
tl_array *tl_take_kept(tl_vm *vm, tl_slot *s);
