// Reading a built-in's arguments: each checks the kind of one argument and
// fails with a message that names the function, the argument and what it got.
//
// [function] and [name] are what a user wrote: "roll", "shift".
#ifndef TALLY_STDLIB_ARGUMENTS_H
#define TALLY_STDLIB_ARGUMENTS_H

#include "vm/array/array.h"
#include "vm/error.h"
#include "vm/values/string.h"

// Fails (kind type): the argument is a record, and one of its fields is wrong.
bool tl_arg_field_fail(tl_vm *vm, const char *function, const char *name,
                       const tl_string *field, const char *expected, tl_slot s);

bool tl_arg_int(tl_vm *vm, const char *function, const char *name, tl_slot s,
                int64_t *out);
// An integer from 0 on (kind value otherwise).
bool tl_arg_count(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int64_t *out);
bool tl_arg_float(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  double *out);
bool tl_arg_bool(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 bool *out);
// Returns borrowed.
bool tl_arg_string(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   tl_string **out);
// A file's path, as the system wants it; returns borrowed.
bool tl_arg_path(tl_vm *vm, const char *function, tl_slot s, const char **path);
// A dtype; none gives [otherwise].
bool tl_arg_dtype(tl_vm *vm, const char *function, tl_slot s,
                  tl_dtype otherwise, tl_dtype *out);

// A list, range or int64 array of integers, or one integer: their number, at
// most [max], and the integers.
bool tl_arg_ints(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 int max, int *count, int64_t *out);
// The same as a shape: no dimension is negative.
bool tl_arg_shape(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int *ndim, int64_t shape[TL_MAX_DIMS]);
// The same as axes of an array of [ndim]: each from 0 on, none twice.
bool tl_arg_axes(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int *count, int axes[TL_MAX_DIMS]);
// One axis; none gives [otherwise], which may be negative.
bool tl_arg_axis(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int otherwise, int *out);

// Makes the argument an array where it is a scalar or a range: the slot then
// owns that array, which the VM drops after the call as it does arguments.
bool tl_arg_array(tl_vm *vm, const char *function, tl_slot *s);
// As tl_arg_array; a string becomes an array of rank 0.
bool tl_arg_array_or_string(tl_vm *vm, const char *function, tl_slot *s);
// As tl_arg_array, for numbers and bools alone: strings are refused.
bool tl_arg_numeric(tl_vm *vm, const char *function, tl_slot *s);

// The arrays in a list, or of an array its rows. Scalars become rank 0. The
// slots borrow from [s] or own what was made; tl_arrays_close drops them.
typedef struct tl_arrays {
  int64_t count;
  tl_slot *items;
} tl_arrays;
bool tl_arg_arrays(tl_vm *vm, const char *function, tl_slot s, tl_arrays *out);
void tl_arrays_close(tl_vm *vm, tl_arrays *arrays);

// The dtype that holds all items of two arrays, by promotion; fails (kind
// type) for strings with anything else. Weak scalars follow the other.
bool tl_promote_slots(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                      tl_dtype *out);
bool tl_promote_arrays(tl_vm *vm, const char *function, const tl_arrays *arrays,
                       tl_dtype *out);

// Copies [from], converted and broadcast, into the part of the new array [to]
// at [data] with this geometry. It polls.
bool tl_assign_part(tl_vm *vm, tl_array *to, char *data, int ndim,
                    const int64_t *shape, const int64_t *strides,
                    const tl_array *from);

// An array that the caller may read as C-contiguous items of [dtype]: what s
// has, or a converted copy. *out borrows or owns; the caller drops it.
bool tl_as_contiguous(tl_vm *vm, const char *function, tl_slot s,
                      tl_dtype dtype, tl_slot *out);

// The same, for what reads each item once, before a result is written over it:
// takes what *s owns over.
bool tl_take_contiguous(tl_vm *vm, const char *function, tl_slot *s,
                        tl_dtype dtype, tl_slot *out);

// The array in [s], dense and the caller's alone to write: itself where it is
// dying and may be written (s then no longer owns), else a copy.
tl_array *tl_take_dense(tl_vm *vm, tl_slot *s);
// The same without gaps, its axes in memory in the order of those of [s].
tl_array *tl_take_kept(tl_vm *vm, tl_slot *s);

// Takes [a]; *out is what a script sees of it, converted to [dtype].
bool tl_cast_own(tl_vm *vm, tl_array *a, tl_dtype dtype, tl_slot *out);

#endif
