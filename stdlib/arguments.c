// Reading a built-in's arguments. See arguments.h for the order in which these
// functions are called.
//
// The messages have one form, so that a user learns to read them: the
// function, the argument as the signature names it, the rule, and the value
// that broke it:
//
//   roll: shift must be an integer, not string
//   sum: axis 2 is out of range for 2 dimensions

#include "stdlib/arguments.h"

#include <stdio.h>

#include "stdlib/shared.h"
#include "vm/nested/nested.h"
#include "vm/index/select.h"
#include "vm/values/key.h"

// A field's name may be as long as a script likes, a message may not.
bool tl_arg_field_fail(tl_vm *vm, const char *function, const char *name,
                       const tl_string *field, const char *expected,
                       tl_slot s) {
  enum { LONG = 60 };
  char what[LONG + 40];
  snprintf(what, sizeof what, "field %s of %s",
           field->length > LONG ? "…" : field->text, name);
  return tl_arg_fail(vm, function, what, expected, s);
}

// Bools are integers in some languages, here they are not: flags and counts
// must not be confused.
bool tl_arg_int(tl_vm *vm, const char *function, const char *name, tl_slot s,
                int64_t *out) {
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return tl_arg_fail(vm, function, name, "an integer", s);
  // The bits would read as a negative number.
  if (tl_dtype_of(s) == TL_UINT64 && s.u > INT64_MAX)
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is too large", function, name);
  *out = s.i;
  return true;
}

// For counts of items and lengths, whose message says more than "out of
// range".
bool tl_arg_count(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int64_t *out) {
  if (!tl_arg_int(vm, function, name, s, out))
    return false;
  if (*out >= 0)
    return true;
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: %s is %lld, but must not be "
                 "negative",
                 function, name, (long long)*out);
}

// Integers are real numbers too; an int64 above 2^53 is rounded.
// NaN and infinities pass: where a function wants none it says so itself.
bool tl_arg_float(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  double *out) {
  int dtype = tl_dtype_of(s);
  if (!tl_is_scalar(s) || dtype == TL_BOOL || dtype >= TL_COMPLEX64)
    return tl_arg_fail(vm, function, name, "a real number", s);
  *out = dtype == TL_FLOAT64                          ? s.f
         : dtype == TL_FLOAT16 || dtype == TL_FLOAT32 ? (double)s.f32
         : dtype == TL_UINT64                         ? (double)s.u
                                                      : (double)s.i;
  return true;
}

// Neither numbers nor arrays have a truth of their own.
// Written where a flag is meant: 1 and 0 are no truth in this language.
bool tl_arg_bool(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 bool *out) {
  if (!tl_is_bool(s))
    return tl_arg_fail(vm, function, name, "a bool", s);
  *out = s.i != 0;
  return true;
}

// By name, as all choices of the library.
// *out is UNSAID for none, which differs from "wrap": a cast without the
// argument fails on what does not fit.
bool tl_arg_overflow(tl_vm *vm, const char *function, tl_slot s,
                     tl_overflow *out) {
  static const char *const names[] = {"wrap", "error", "saturate", NULL};
  int which;
  *out = TL_OVERFLOW_UNSAID;
  if (tl_is_none(s))
    return true;
  bool ok = tl_arg_choice(vm, function, "overflow", s, names, &which);
  *out = (tl_overflow)(TL_OVERFLOW_WRAP + which);
  return ok;
}

// The message lists them all, as in: "a", "b" or "c".
bool tl_arg_choice(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   const char *const *names, int *out) {
  tl_string *text;
  *out = 0;
  if (tl_is_none(s))
    return true;
  if (!tl_arg_string(vm, function, name, s, &text))
    return false;
  for (; names[*out] != NULL; ++*out)
    if (strcmp(text->text, names[*out]) == 0)
      return true;
  char all[128];
  size_t at = 0;
  for (int i = 0; names[i] != NULL && at < sizeof all; i++) {
    const char *before = i == 0 ? "" : names[i + 1] != NULL ? ", " : " or ";
    at += (size_t)snprintf(all + at, sizeof all - at, "%s\"%s\"", before,
                           names[i]);
  }
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s must be %s, not \"%s\"", function,
                 name, all, text->text);
}

// A string of length 0 is a string, too: functions that want a text check that
// themselves.
bool tl_arg_string(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   tl_string **out) {
  if (!tl_is_string(s))
    return tl_arg_fail(vm, function, name, "a string", s);
  *out = s.string;
  return true;
}

// Which kinds may be keys is a rule of records (vm/values/key.h); here is the
// message.
bool tl_arg_key(tl_vm *vm, const char *function, const char *name, tl_slot s) {
  tl_slot wrong;
  if (!tl_key_is_plain(s) && tl_key_fault_of(s, &wrong) == TL_KEY_OTHER)
    return tl_arg_fail(vm, function, name,
                       "a string, an integer, a bool or a list of such", wrong);
  return tl_key_is_plain(s) || tl_key_check(vm, s);
}

// What is no dtype fails in tl_dtype_argument, whose message is the same for
// all functions that take one.
bool tl_arg_dtype(tl_vm *vm, const char *function, tl_slot s,
                  tl_dtype otherwise, tl_dtype *out) {
  *out = otherwise;
  return tl_is_none(s) || tl_dtype_argument(vm, function, s, out);
}

tl_dtype tl_dtype_given(tl_slot s, tl_dtype otherwise) {
  return tl_is_none(s) ? otherwise : s.type->dtype;
}

// --- Several integers -------------------------------------------------------

// Fails (kind value) because more than [max] integers were given.
// Where the list is refused, nothing of it was written.
static bool too_many(tl_vm *vm, const char *function, const char *name,
                     int64_t count, int max) {
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: %s has %lld items, at most %d are "
                 "allowed",
                 function, name, (long long)count, max);
}

// The items of a list, of a vector of any integer dtype, or of a range.
static bool ints_of_items(tl_vm *vm, const char *function, const char *name,
                          tl_slot s, int max, int *count, int64_t *out) {
  int64_t length;
  size_t at = 0;
  if (tl_is_array(s) &&
      (tl_ndim(s.array) != 1 || !tl_dtype_is_integer(tl_array_dtype(s.array))))
    return tl_arg_fail(vm, function, name, "integers", s);
  if (!tl_items_count(vm, function, s, &length))
    return false;
  if (length > max)
    return too_many(vm, function, name, length, max);
  for (int64_t i = 0; i < length; i++) {
    tl_slot value;
    if (!tl_items_get(vm, s, i, &at, &value) ||
        !tl_drop_after(vm, tl_arg_int(vm, function, name, value, &out[i]),
                       &value))
      return false;
  }
  *count = (int)length;
  return true;
}

// One integer counts as a list of one, as in zeros(3).
//
//  (2, 3)   [2, 3]   2..4   int8([2, 3])      2 3
//  2                                          2
//  (2, "a")                                   an error that names (2, "a")
//
bool tl_arg_ints(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 int max, int *count, int64_t *out) {
  if (tl_is_list(s) || tl_is_array(s) || tl_is_range(s)) {
    bool ok = ints_of_items(vm, function, name, s, max, count, out);
    if (!ok)
      // The message names the whole argument: an item of it is nothing that
      // the script has a name for.
      vm->error.refused = s;  // and not the item
    return ok;
  }
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return tl_arg_fail(vm, function, name, "an integer or a list of integers",
                       s);
  // A list of no integers is wanted, so one is too many.
  if (max < 1)
    return too_many(vm, function, name, 1, max);
  *count = 1;
  return tl_arg_int(vm, function, name, s, out);
}

// More than TL_MAX_DIMS dimensions fail in tl_arg_ints already, before anything
// is written behind the end of [shape].
// Whether so many items fit memory is for whoever makes the array.
bool tl_arg_shape(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  int *ndim, int64_t shape[TL_MAX_DIMS]) {
  if (!tl_arg_ints(vm, function, name, s, TL_MAX_DIMS, ndim, shape))
    return false;
  for (int i = 0; i < *ndim; i++)
    if (shape[i] < 0)
      return tl_fail(vm, TALLY_ERR_VALUE,
                     "%s: axis %d of %s is %lld, but must not be negative",
                     function, i, name, (long long)shape[i]);
  return true;
}

const char *tl_shape_text(int ndim, const int64_t *shape,
                          char to[TL_SHAPE_TEXT]) {
  char *at = to;
  *at++ = '(';
  for (int i = 0; i < ndim; i++)
    at += sprintf(at, i ? ", %lld" : "%lld", (long long)shape[i]);
  strcpy(at, ndim == 1 ? ",)" : ")");
  return to;
}

// Negative axes are resolved before they are compared, so that -1 and the last
// axis are the same.
//
//  ndim 3, axis (0, -1)     0 2
//  ndim 3, axis (2, -1)     an error: twice the same
//
bool tl_arg_axes(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int *count, int axes[TL_MAX_DIMS]) {
  int64_t given[TL_MAX_DIMS];
  if (!tl_arg_ints(vm, function, "axis", s, TL_MAX_DIMS, count, given))
    return false;
  // One bit for each axis: there are at most TL_MAX_DIMS.
  uint32_t seen = 0;
  for (int i = 0; i < *count; i++) {
    if (!tl_axis(vm, function, given[i], ndim, &axes[i]))
      return false;
    if (seen & UINT32_C(1) << axes[i])
      return tl_fail(vm, TALLY_ERR_VALUE, "%s: axis %d is given twice",
                     function, axes[i]);
    seen |= UINT32_C(1) << axes[i];
  }
  return true;
}

// None of an array without axes is an empty list of axes, and no error.
bool tl_arg_axes_or_all(tl_vm *vm, const char *function, tl_slot s, int ndim,
                        int *count, int axes[TL_MAX_DIMS]) {
  if (!tl_is_none(s))
    return tl_arg_axes(vm, function, s, ndim, count, axes);
  *count = ndim;
  for (int k = 0; k < ndim; k++) axes[k] = k;
  return true;
}

bool tl_arg_axis_set(tl_vm *vm, const char *function, tl_slot s, int ndim,
                     uint32_t *out) {
  int count, axes[TL_MAX_DIMS];
  if (!tl_arg_axes_or_all(vm, function, s, ndim, &count, axes))
    return false;
  *out = 0;
  for (int i = 0; i < count; i++) *out |= UINT32_C(1) << axes[i];
  return true;
}

// The default goes through the same check as an argument: an array without
// axes has no last one.
bool tl_arg_axis(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int otherwise, int *out) {
  int64_t axis = otherwise;
  if (!tl_is_none(s) && !tl_arg_int(vm, function, "axis", s, &axis))
    return false;
  return tl_axis(vm, function, axis, ndim, out);
}

// --- Arrays -----------------------------------------------------------------

// Whether the value is a list of scalars alone.
static bool is_numbers(tl_slot s) {
  if (!tl_is_list(s))
    return false;
  for (int64_t i = 0; i < s.list->length; i++) {
    if (!tl_is_scalar(s.list->items[i]))
      return false;
  }
  return true;
}

// Makes a list of numbers an array, as tl_arg_array does; other values stay.
// Lists with anything but scalars stay, so that the function's own message
// names them.
static bool open_numbers(tl_vm *vm, tl_slot *s) {
  tl_slot made;
  if (!is_numbers(*s))
    return true;
  if (!tl_array_of_list(vm, *s, tl_none(), &made))
    return false;
  return tl_replace(vm, s, made);
}

// The slot is cleared only after the array was made: on failure it still has
// the argument.
bool tl_arg_array(tl_vm *vm, const char *function, tl_slot *s) {
  tl_slot made;
  if (!open_numbers(vm, s))
    return false;
  if (tl_is_array(*s))
    return true;
  if (!tl_as_array(vm, function, *s, &made))
    return false;
  return tl_replace(vm, s, made);
}

// A scalar or a range stays what it is: the function may look at its other
// arguments before an array is made of it.
bool tl_arg_items(tl_vm *vm, const char *function, tl_slot *s) {
  if (!open_numbers(vm, s))
    return false;
  return tl_is_array(*s) || tl_is_scalar(*s) || tl_is_range(*s) ||
         tl_is_nested(*s) || tl_arg_array(vm, function, s);
}

// A string as an item of rank 0, for functions that work item by item.
bool tl_arg_array_or_string(tl_vm *vm, const char *function, tl_slot *s) {
  if (!tl_is_string(*s))
    return tl_arg_array(vm, function, s);
  tl_array *one = tl_array_new(vm, TL_STRING, 0, NULL);
  if (!one)
    return false;
  bool ok = tl_item_store(vm, one, one->data, *s);
  tl_replace(vm, s, tl_own_array(one));
  return ok;
}

// Lists and scalars become arrays first, so that the message shows the dtype
// that the items have together.
bool tl_arg_numeric(tl_vm *vm, const char *function, tl_slot *s) {
  if (!tl_arg_array(vm, function, s))
    return false;
  if (tl_array_dtype(s->array) < TL_STRING)
    return true;
  return tl_arg_fail(vm, function, NULL, "numbers or bools", *s);
}

// Weak scalars stay weak in the slot's tag
// until promotion has looked at them: an array's tag has no such bit, so it
// can carry this one here.
bool tl_arg_array_at(tl_vm *vm, const char *function, tl_slot s, int64_t i,
                     tl_slot *out) {
  if (!tl_is_array(s) && !tl_is_scalar(s) && !tl_is_range(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: item %lld of the arrays must be an array or a number, "
                   "not %s%s",
                   function, (long long)i, tl_described(vm, s),
                   tl_plain_hint(s));
  if (!tl_as_array(vm, function, s, out))
    return false;
  if (tl_is_scalar(s) && tl_is_weak(s))
    out->tag |= TL_WEAK;
  return true;
}

// On failure everything that was made so far is dropped here; the caller
// closes only what it got.
bool tl_arg_arrays(tl_vm *vm, const char *function, tl_slot s, tl_arrays *out) {
  bool is_list = tl_is_list(s);
  if (!is_list && !(tl_is_array(s) && tl_ndim(s.array) > 0))
    return tl_arg_fail(vm, function, "arrays", "a list of arrays", s);
  out->count = is_list ? s.list->length : tl_shape(s.array)[0];
  out->items = tl_slots_new(vm, out->count);
  if (!out->items)
    return false;
  for (int64_t i = 0; i < out->count; i++) {
    tl_slot rows = tl_borrow(s);
    if (tl_poll_at(vm, i) &&
        (is_list
             ? tl_arg_array_at(vm, function, s.list->items[i], i,
                               &out->items[i])
             : tl_view(vm, &rows, s.array->data + i * tl_strides(s.array)[0],
                       tl_ndim(s.array) - 1, tl_shape(s.array) + 1,
                       tl_strides(s.array) + 1, &out->items[i])))
      continue;
    tl_slots_free(vm, out->items, i);
    return false;
  }
  return true;
}

// Views and converted scalars are owned by the slots; borrowed items are not
// touched.
void tl_arrays_close(tl_vm *vm, tl_arrays *arrays) {
  tl_slots_free(vm, arrays->items, arrays->count);
}
