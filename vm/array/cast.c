// Conversions: whole values (float32(x)) and single items for assignment.
#include <string.h>

#include "vm/engine/engine_internal.h"
#include "vm/error.h"
#include "vm/values/range.h"

static bool refuse(tl_vm *vm, tl_slot s, tl_dtype dtype) {
  char text[TL_DESCRIBE];
  tl_describe(s, text, sizeof text);
  const char *name = tl_dtypes[dtype].name;
  if (dtype == TL_STRING) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "string: no conversion of %s to an array of strings", text);
  }
  if (tl_is_string(s)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s converts numbers and arrays: got string; int(s) and "
                   "float(s) read a number",
                   name);
  }
  if (tl_is_array(s) && tl_array_dtype(s.array) == TL_STRING) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: no conversion of %s; int(x) and float(x) read the "
                   "numbers in an array of strings",
                   name, text);
  }
  if (tl_is_number(s) || tl_is_array(s)) {
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: no conversion of %s; take real(x), imag(x) or abs(x)",
                   name, text);
  }
  return tl_fail(vm, TALLY_ERR_TYPE, "%s converts numbers and arrays: got %s",
                 name, text);
}

static bool fail_fit(tl_vm *vm, tl_slot s, tl_dtype dtype) {
  const char *name = tl_dtypes[dtype].name;
  switch (tl_dtypes[tl_dtype_of(s)].kind) {
    case 'F': {
      double value = tl_dtype_of(s) == TL_FLOAT32 ? (double)s.f32 : s.f;
      return tl_fail(vm, TALLY_ERR_VALUE, "%.17g does not fit %s", value, name);
    }
    case 'U':
      return tl_fail(vm, TALLY_ERR_VALUE, "%llu does not fit %s",
                     (unsigned long long)s.u, name);
    default:
      return tl_fail(vm, TALLY_ERR_VALUE, "%lld does not fit %s",
                     (long long)s.i, name);
  }
}

// Converts one scalar's item; the kinds must be convertible.
static bool convert_item(tl_vm *vm, tl_slot s, tl_dtype from, const void *item,
                         tl_dtype dtype, void *out) {
  const tl_kernel_table *kernels = tl_kernels();
  tl_check *fits = kernels->cast_check[from][dtype];
  if (fits != NULL && !fits(item, 1))
    return fail_fit(vm, s, dtype);
  kernels->cast[from][dtype](out, item, 1);
  return true;
}

static bool cast_scalar(tl_vm *vm, tl_slot s, tl_dtype dtype, tl_slot *out) {
  tl_c128 item = {0, 0}, to = {0, 0};
  tl_dtype from = (tl_dtype)tl_dtype_of(s);
  if (tl_is_array(s)) {
    memcpy(&item, s.array->data, tl_itemsize(from));
  } else {
    tl_scalar_store(s, &item);
  }
  if (dtype >= TL_STRING || tl_kernels()->cast[from][dtype] == NULL) {
    return refuse(vm, s, dtype);
  }
  if (!convert_item(vm, s, from, &item, dtype, &to))
    return false;
  *out = dtype == TL_COMPLEX128 ? tl_new_complex(vm, to.re, to.im, false)
                                : tl_scalar_load(dtype, &to);
  return !tl_is_unset(*out);
}

// A dying array whose items have the size: converted where they are.
static bool cast_in_place(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out,
                          bool *done) {
  tl_array *array = s->array;
  tl_dtype from = tl_array_dtype(array);
  const tl_kernel_table *kernels = tl_kernels();
  tl_check *fits = kernels->cast_check[from][dtype];
  size_t n = (size_t)array->size;
  // What does not fit is found again, with its value, by the copying way.
  if (fits != NULL && !fits(array->data, n))
    return true;
  if (n >= 64 * 1024 && !tl_poll(vm, n / 1024))
    return false;
  tl_array *target = tl_reuse(vm, s, dtype, tl_ndim(array), tl_shape(array));
  kernels->cast[from][dtype](target->data, target->data, n);
  *out = tl_own_array(target);
  *done = true;
  return true;
}

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
  if (tl_can_reuse(vm, *s, dtype, tl_ndim(array), tl_shape(array))) {
    bool done = false;
    if (!cast_in_place(vm, s, dtype, out, &done))
      return false;
    if (done)
      return true;
  }
  tl_array *made = tl_array_cast_kept(vm, array, dtype);
  if (made == NULL)
    return false;
  *out = tl_own_array(made);
  return true;
}

bool tl_cast(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_slot *out) {
  if (tl_is_range(*s)) {
    tl_array *array = tl_range_to_array(vm, s->range);
    if (array == NULL)
      return false;
    tl_slot made = tl_own_array(array);
    bool ok = cast_array(vm, &made, dtype, out);
    if (tl_is_owned(made))
      tl_drop(vm, made);
    return ok;
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

bool tl_scalar_convert(tl_vm *vm, tl_slot s, tl_dtype dtype, void *item) {
  if (!tl_is_number(s) || dtype >= TL_STRING) {
    char text[TL_DESCRIBE];
    return tl_fail(vm, TALLY_ERR_TYPE, "an array of %s cannot hold %s",
                   tl_dtypes[dtype].name, tl_describe(s, text, sizeof text));
  }
  tl_dtype from = (tl_dtype)tl_dtype_of(s);
  if (tl_kind_rank(from) > tl_kind_rank(dtype)) {
    const char *name = tl_dtypes[dtype].name;
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "an array of %s cannot hold %s: convert with %s(x)", name,
                   tl_dtypes[from].name, name);
  }
  tl_c128 value = {0, 0};
  if (tl_is_array(s)) {
    memcpy(&value, s.array->data, tl_itemsize(from));
  } else {
    tl_scalar_store(s, &value);
  }
  return convert_item(vm, s, from, &value, dtype, item);
}
