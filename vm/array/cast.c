// Conversions: whole values (float32(x)) and single items for assignment. Two
// rules differ:
//
//   float32(x), tl_cast         any kind but complex into real; values must fit
//   x[i] = v, tl_scalar_convert the kind may not rise (no float into integers)
//
// Both ask the kernels' check of a pair of dtypes before the cast, which
// itself never fails but wraps or saturates.
//
// Built for size.

#include "vm/array/reuse.h"
#include "vm/kernels/kernels.h"
#include "vm/array/range.h"
#include "vm/array/string_item.h"
#include "vm/poll.h"

// Fails (kind type) with a message that says which function does convert the
// value.
static bool refuse(tl_vm *vm, tl_slot s, tl_dtype dtype) {
  const char *text = tl_described(vm, s);
  const char *name = tl_dtypes[dtype].name;
  if (dtype == TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "string: no conversion of %s to an array of strings; "
                   "each(x, string) makes one",
                   text);
  if (tl_is_string(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s converts numbers and arrays: got string; int(s) and "
                   "float(s) read a number",
                   name);
  if (tl_is_array(s) && tl_array_dtype(s.array) == TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: no conversion of %s; int(x) and float(x) read the "
                   "numbers in an array of strings",
                   name, text);
  if (tl_is_number(s) || tl_is_array(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: no conversion of %s; take real(x), imag(x) or abs(x)",
                   name, text);
  return tl_fail(vm, TALLY_ERR_TYPE, "%s converts numbers and arrays: got %s",
                 name, text);
}

// Fails (kind value) because the number is outside of the dtype's range.
static bool fail_fit(tl_vm *vm, tl_slot s, tl_dtype dtype) {
  char text[TL_NUMBER_TEXT];
  return tl_fail(vm, TALLY_ERR_VALUE, "%s does not fit %s",
                 tl_number_text(s, text), tl_dtypes[dtype].name);
}

// Whether the other dtype has all n items.
static bool fits(const void *items, size_t n, tl_dtype from, tl_dtype to) {
  tl_bounds bounds;
  return !tl_cast_bounds(from, to, &bounds) ||
         tl_kernels()->within[from](items, n, &bounds);
}

// Converts one scalar's item; a kernel for the pair of dtypes must exist. [s]
// is the same value, for the message.
static bool convert_item(tl_vm *vm, tl_slot s, tl_dtype from, const void *item,
                         tl_dtype dtype, void *out) {
  const tl_kernel_table *kernels = tl_kernels();
  if (!tl_casts_freely(vm) && !fits(item, 1, from, dtype))
    return fail_fit(vm, s, dtype);
  kernels->cast[from][dtype](out, item, 1);
  return true;
}

// Converts a number, which may be a complex128 in an array of rank 0.
static bool cast_scalar(tl_vm *vm, tl_slot s, tl_dtype dtype, tl_slot *out) {
  // Room for an item of any dtype; complex128 is the largest.
  tl_c128 item = {0, 0}, to = {0, 0};
  tl_dtype from = (tl_dtype)tl_dtype_of(s);
  tl_number_store(s, &item);
  // No kernel: text, or complex to anything but complex.
  if (dtype >= TL_STRING || tl_kernels()->cast[from][dtype] == NULL)
    return refuse(vm, s, dtype);
  if (!convert_item(vm, s, from, &item, dtype, &to))
    return false;
  *out = dtype == TL_COMPLEX128 ? tl_new_complex(vm, to.re, to.im, false)
                                : tl_scalar_load(dtype, &to);
  return !tl_is_unset(*out);
}

// Fails with the first of the n items that the other dtype does not have; there
// is one.
static bool fail_first(tl_vm *vm, const char *item, size_t n, tl_dtype from,
                       tl_dtype to) {
  enum { BLOCK = 256 };
  size_t size = tl_itemsize(from);
  for (; n > BLOCK && fits(item, BLOCK, from, to); n -= BLOCK)
    item += BLOCK * size;
  while (fits(item, 1, from, to)) item += size;
  return tl_fail_item(vm, from, item, to);
}

// Converts a dying array whose items have the new size in its own memory. Where
// a value does not fit nothing is written.
static bool cast_in_place(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out) {
  tl_array *array = s->array;
  tl_dtype from = tl_array_dtype(array);
  const tl_kernel_table *kernels = tl_kernels();
  const size_t n = (size_t)array->size, size = tl_itemsize(from);
  for (size_t at = 0, end = 0; !tl_casts_freely(vm) && at < n; at = end) {
    if (!tl_poll_piece(vm, at, n, &end))
      return false;
    if (!fits(array->data + at * size, end - at, from, dtype))
      return fail_first(vm, array->data, n, from, dtype);
  }
  // The cost is charged before the array's own items are written over: halfway
  // the pass stops only where nobody sees that.
  if (!tl_poll_items(vm, array->size))
    return false;
  // The items have one size, so a kernel may convert each over itself.
  tl_array *target = tl_reuse(vm, s, dtype, tl_ndim(array), tl_shape(array));
  enum { PIECE = 1 << 16 };
  bool ok = true;
  for (size_t at = 0; ok && at < n; at += PIECE) {
    char *items = target->data + at * size;
    kernels->cast[from][dtype](items, items, n - at < PIECE ? n - at : PIECE);
    ok = tl_poll_over(vm);
  }
  return tl_array_finish(vm, ok, target, out);
}

// Converts an array: passed on where the dtype is the same, in place where it
// is dying, else into a new one.
static bool cast_array(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out) {
  tl_array *array = s->array;
  tl_dtype from = tl_array_dtype(array);
  if (from == dtype) {
    *out = tl_pass_on(s);
    return true;
  }
  if (from == TL_STRING || dtype == TL_STRING ||
      tl_kernels()->cast[from][dtype] == NULL) {
    return refuse(vm, *s, dtype);
  }
  // A dying array of items of that size is converted without a copy.
  if (tl_can_reuse(vm, *s, dtype, tl_ndim(array), tl_shape(array)))
    return cast_in_place(vm, s, dtype, out);
  return tl_array_give(tl_array_cast_kept(vm, array, dtype), out);
}

// Ranges become int64 arrays first; a string is passed on where strings are
// wanted; everything else has no conversion.
bool tl_cast(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out) {
  if (tl_is_range(*s)) {
    tl_slot made;
    if (!tl_array_give(tl_range_to_array(vm, s->range), &made))
      return false;
    // The array of the range is dying here, so it may become the result.
    return tl_drop_after(vm, cast_array(vm, &made, dtype, out), &made);
  }
  if (tl_is_string(*s) && dtype == TL_STRING) {
    *out = tl_pass_on(s);
    return true;
  }
  if (tl_is_number(*s))
    return cast_scalar(vm, *s, dtype, out);
  if (tl_is_array(*s))
    return cast_array(vm, s, dtype, out);
  return refuse(vm, *s, dtype);
}

// The rule of assignment: the kind may not rise, and the value must fit.
bool tl_scalar_convert(tl_vm *vm, tl_slot s, tl_dtype dtype, void *item) {
  if (!tl_is_number(s) || dtype >= TL_STRING)
    return tl_fail(vm, TALLY_ERR_TYPE, "an array of %s cannot hold %s",
                   tl_dtypes[dtype].name, tl_described(vm, s));
  tl_dtype from = (tl_dtype)tl_dtype_of(s);
  // Bool, integer, float, complex: a kind never falls by assignment.
  if (tl_kind_rank(from) > tl_kind_rank(dtype)) {
    const char *name = tl_dtypes[dtype].name;
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "an array of %s cannot hold %s: convert with %s(x)", name,
                   tl_dtypes[from].name, name);
  }
  tl_c128 value = {0, 0};
  tl_number_store(s, &value);
  return convert_item(vm, s, from, &value, dtype, item);
}

// Whether it is an integer that its slot has as an int64: all but a uint64
// above the largest one.
static bool is_int64(const tl_slot *s) {
  return tl_is_scalar(*s) && tl_dtype_is_integer((tl_dtype)tl_dtype_of(*s)) &&
         (s->i >= 0 || tl_dtype_of(*s) != TL_UINT64);
}

bool tl_index_widen(const tl_slot *s, tl_slot *out) {
  *out = tl_int(s->i);
  return (uint8_t)s->tag != TL_CLASS_I64 && is_int64(s);
}

// Whether [dtype] has the integer.
static bool has_integer(tl_dtype dtype, int64_t i) {
  int bits = 8 * (int)tl_itemsize(dtype);
  if (tl_dtypes[dtype].kind == 'U')
    return i >= 0 && (bits == 64 || i >> bits == 0);
  return i >> (bits - 1) == (i < 0 ? -1 : 0);
}

// What tl_scalar_convert stores, where that needs no check of the kinds: of
// integers in floats and in integers that have them, of float64 in float32.
bool tl_element_convert(char *item, int dtype, const tl_slot *value) {
  if (!tl_is_scalar(*value) || dtype >= TL_COMPLEX128 || dtype == TL_FLOAT16)
    return false;
  tl_dtype out = (tl_dtype)dtype;
  tl_slot to = {.tag = TL_TAG(tl_scalar_class(out), out), .i = value->i};
  if (dtype == TL_FLOAT32 && tl_dtype_of(*value) == TL_FLOAT64)
    to.f32 = (float)value->f;
  else if (!is_int64(value))
    return false;
  else if (dtype == TL_FLOAT32)
    to.f32 = (float)value->i;
  else if (dtype == TL_FLOAT64)
    to.f = (double)value->i;
  else if (!tl_dtype_is_integer(out) || !has_integer(out, value->i))
    return false;
  tl_scalar_store(to, item);
  return true;
}

// The result of a function of the library, computed in a wide dtype, in the
// dtype that the script expects.
bool tl_cast_own(tl_vm *vm, tl_array *a, tl_dtype dtype, tl_slot *out) {
  if (tl_array_dtype(a) != dtype) {
    tl_array *cast = tl_array_cast(vm, a, dtype);
    tl_drop(vm, tl_own_array(a));
    a = cast;
  }
  return tl_result_finish(vm, true, a, out);
}

bool tl_cast_finish(tl_vm *vm, bool ok, tl_array *a, tl_dtype dtype,
                    tl_slot *out) {
  if (ok && a != NULL)
    return tl_cast_own(vm, a, dtype, out);
  tl_array_drop(vm, a);
  return false;
}

// --- Items and values by conversion ------------------------------------------

// Stores a string into an item of a string array; other values fail (kind
// type), because nothing becomes text by assignment.
static bool store_string(tl_vm *vm, char *item, tl_slot value) {
  if (!tl_is_string(value))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "cannot store %s into an array of strings",
                   tl_described(vm, value));
  tl_string_item_put(vm, tl_string_item_at(item), value.string);
  return true;
}

// The array's own dtype needs neither a check nor a kernel.
bool tl_item_store(tl_vm *vm, tl_array *a, char *item, tl_slot value) {
  TL_CHECK(item != NULL);
  if (a->head.dtype == TL_STRING)
    return store_string(vm, item, value);
  if (tl_is_scalar(value) && tl_dtype_of(value) == a->head.dtype) {
    tl_scalar_store(value, item);
    return true;
  }
  return tl_scalar_convert(vm, value, tl_array_dtype(a), item);
}

// A copy: an update of the box must not be seen by whoever has the number.
tl_array *tl_number_box(tl_vm *vm, tl_slot number) {
  tl_array *box = tl_array_new(vm, (tl_dtype)tl_dtype_of(number), 0, NULL);
  if (box == NULL)
    return NULL;
  tl_number_store(number, box->data);
  return box;
}

// A list is not converted silently: a list of lists of numbers could be meant
// in more than one way.
bool tl_as_array(tl_vm *vm, const char *function, tl_slot s, tl_slot *out) {
  if (tl_is_array(s)) {
    *out = tl_borrow(s);
    return true;
  }
  if (tl_is_scalar(s))
    return tl_array_give(tl_number_box(vm, s), out);
  if (tl_is_range(s))
    return tl_array_give(tl_range_to_array(vm, s.range), out);
  return tl_arg_fail(vm, function, NULL,
                     tl_is_list(s) ? "an array or a number (asarray(l) makes "
                                     "an array of a list)"
                                   : "an array or a number",
                     s);
}
