// Reading a built-in's arguments.

#include "stdlib/arguments.h"

#include <stdio.h>

#include "vm/engine/engine.h"
#include "vm/nested/nested.h"
#include "vm/io.h"
#include "vm/values/list.h"
#include "vm/values/range.h"
#include "vm/types/type.h"
#include "vm/vm.h"
#include "vm/api/watch.h"

bool tl_arg_field_fail(tl_vm *vm, const char *function, const char *name,
                       const tl_string *field, const char *expected,
                       tl_slot s) {
  enum { LONG = 60 };
  char what[LONG + 40];
  snprintf(what, sizeof what, "field %s of %s",
           field->length > LONG ? "…" : field->text, name);
  return tl_arg_fail(vm, function, what, expected, s);
}

bool tl_arg_int(tl_vm *vm, const char *function, const char *name, tl_slot s,
                int64_t *out) {
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return tl_arg_fail(vm, function, name, "an integer", s);
  if (tl_dtype_of(s) == TL_UINT64 && s.u > INT64_MAX)
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s is too large", function, name);
  *out = s.i;
  return true;
}

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

bool tl_arg_float(tl_vm *vm, const char *function, const char *name, tl_slot s,
                  double *out) {
  int dtype = tl_dtype_of(s);
  if (!tl_is_scalar(s) || dtype == TL_BOOL || dtype >= TL_COMPLEX64)
    return tl_arg_fail(vm, function, name, "a real number", s);
  *out = dtype == TL_FLOAT64   ? s.f
         : dtype == TL_FLOAT32 ? (double)s.f32
         : dtype == TL_UINT64  ? (double)s.u
                               : (double)s.i;
  return true;
}

bool tl_arg_bool(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 bool *out) {
  if (!tl_is_bool(s))
    return tl_arg_fail(vm, function, name, "a bool", s);
  *out = s.i != 0;
  return true;
}

bool tl_arg_string(tl_vm *vm, const char *function, const char *name, tl_slot s,
                   tl_string **out) {
  if (!tl_is_string(s))
    return tl_arg_fail(vm, function, name, "a string", s);
  *out = s.string;
  return true;
}

bool tl_arg_path(tl_vm *vm, const char *function, tl_slot s,
                 const char **path) {
  tl_string *name;
  if (!tl_arg_string(vm, function, "path", s, &name))
    return false;
  *path = tl_io_path(vm, function, name);
  return *path != NULL;
}

bool tl_arg_dtype(tl_vm *vm, const char *function, tl_slot s,
                  tl_dtype otherwise, tl_dtype *out) {
  *out = otherwise;
  return tl_is_none(s) || tl_dtype_argument(vm, function, s, out);
}

// --- Several integers -------------------------------------------------------

static bool too_many(tl_vm *vm, const char *function, const char *name,
                     int64_t count, int max) {
  return tl_fail(vm, TALLY_ERR_VALUE,
                 "%s: %s has %lld items, at most %d are "
                 "allowed",
                 function, name, (long long)count, max);
}

static bool ints_of_list(tl_vm *vm, const char *function, const char *name,
                         const tl_list *list, int max, int *count,
                         int64_t *out) {
  if (list->length > max)
    return too_many(vm, function, name, list->length, max);
  for (int64_t i = 0; i < list->length; i++)
    if (!tl_arg_int(vm, function, name, list->items[i], &out[i]))
      return false;
  *count = (int)list->length;
  return true;
}

static bool ints_of_array(tl_vm *vm, const char *function, const char *name,
                          tl_slot s, int max, int *count, int64_t *out) {
  const tl_array *a = s.array;
  if (tl_ndim(a) != 1 || !tl_dtype_is_integer(tl_array_dtype(a)))
    return tl_arg_fail(vm, function, name, "integers", s);
  if (a->size > max)
    return too_many(vm, function, name, a->size, max);
  for (int64_t i = 0; i < a->size; i++) {
    const char *item = a->data + i * tl_strides(a)[0];
    tl_slot value = tl_scalar_load(tl_array_dtype(a), item);
    if (!tl_arg_int(vm, function, name, value, &out[i]))
      return false;
  }
  *count = (int)a->size;
  return true;
}

bool tl_arg_ints(tl_vm *vm, const char *function, const char *name, tl_slot s,
                 int max, int *count, int64_t *out) {
  if (tl_is_list(s) || tl_is_array(s)) {
    bool ok = tl_is_list(s)
                  ? ints_of_list(vm, function, name, s.list, max, count, out)
                  : ints_of_array(vm, function, name, s, max, count, out);
    if (!ok)
      vm->error.refused = s;  // and not the item
    return ok;
  }
  if (tl_is_range(s)) {
    if (s.range->length > max)
      return too_many(vm, function, name, s.range->length, max);
    for (int64_t i = 0; i < s.range->length; i++)
      out[i] = tl_range_item(s.range, i);
    *count = (int)s.range->length;
    return true;
  }
  if (!tl_is_scalar(s) || !tl_dtype_is_integer((tl_dtype)tl_dtype_of(s)))
    return tl_arg_fail(vm, function, name, "an integer or a list of integers",
                       s);
  if (max < 1)
    return too_many(vm, function, name, 1, max);
  *count = 1;
  return tl_arg_int(vm, function, name, s, out);
}

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

bool tl_arg_axes(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int *count, int axes[TL_MAX_DIMS]) {
  int64_t given[TL_MAX_DIMS];
  if (!tl_arg_ints(vm, function, "axis", s, TL_MAX_DIMS, count, given))
    return false;
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

bool tl_arg_axis(tl_vm *vm, const char *function, tl_slot s, int ndim,
                 int otherwise, int *out) {
  int64_t axis = otherwise;
  if (!tl_is_none(s) && !tl_arg_int(vm, function, "axis", s, &axis))
    return false;
  return tl_axis(vm, function, axis, ndim, out);
}

// --- Arrays -----------------------------------------------------------------

bool tl_arg_array(tl_vm *vm, const char *function, tl_slot *s) {
  if (tl_is_array(*s))
    return true;
  tl_slot made;
  if (!tl_as_array(vm, function, *s, &made))
    return false;
  tl_clear(vm, s);
  *s = made;
  return true;
}

bool tl_arg_array_or_string(tl_vm *vm, const char *function, tl_slot *s) {
  if (!tl_is_string(*s))
    return tl_arg_array(vm, function, s);
  tl_array *one = tl_array_new(vm, TL_STRING, 0, NULL);
  if (!one)
    return false;
  bool ok = tl_item_store(vm, one, one->data, *s);
  tl_clear(vm, s);
  *s = tl_own_array(one);
  return ok;
}

bool tl_arg_numeric(tl_vm *vm, const char *function, tl_slot *s) {
  if (!tl_arg_array(vm, function, s))
    return false;
  if (tl_array_dtype(s->array) < TL_STRING)
    return true;
  return tl_arg_fail(vm, function, NULL, "numbers or bools", *s);
}

static tl_slot row_view(tl_vm *vm, tl_slot whole, int64_t i) {
  const tl_array *a = whole.array;
  tl_slot base = tl_borrow(whole);
  tl_array *row =
      tl_view_new(vm, &base, tl_array_dtype(a), a->data + i * tl_strides(a)[0],
                  tl_ndim(a) - 1, tl_shape(a) + 1, tl_strides(a) + 1);
  return row ? tl_own_array(row) : tl_unset();
}

// Weak scalars stay weak in the slot's tag until promotion has looked at them:
// an array's tag has no such bit, so it can carry this one here.
static bool one_array(tl_vm *vm, const char *function, tl_slot s, int64_t i,
                      tl_slot *out) {
  char what[TL_DESCRIBE];
  if (!tl_is_array(s) && !tl_is_scalar(s) && !tl_is_range(s))
    return tl_fail(vm, TALLY_ERR_TYPE,
                   "%s: item %lld of the arrays must be an array or a number, "
                   "not %s%s",
                   function, (long long)i, tl_describe(s, what, sizeof what),
                   tl_plain_hint(s));
  if (!tl_as_array(vm, function, s, out))
    return false;
  if (tl_is_scalar(s) && tl_is_weak(s))
    out->tag |= TL_WEAK;
  return true;
}

bool tl_arg_arrays(tl_vm *vm, const char *function, tl_slot s, tl_arrays *out) {
  bool is_list = tl_is_list(s);
  if (!is_list && !(tl_is_array(s) && tl_ndim(s.array) > 0))
    return tl_arg_fail(vm, function, "arrays", "a list of arrays", s);
  out->count = is_list ? s.list->length : tl_shape(s.array)[0];
  // 16 bytes for nothing: tl_alloc is not asked for 0 bytes.
  out->items =
      tl_alloc(vm, ((size_t)out->count + 1) * sizeof *out->items, function);
  if (!out->items)
    return false;
  for (int64_t i = 0; i < out->count; i++) {
    bool ok = true;
    if (is_list)
      ok = one_array(vm, function, s.list->items[i], i, &out->items[i]);
    else
      out->items[i] = row_view(vm, s, i);
    if (ok && !tl_is_unset(out->items[i]))
      continue;
    size_t nbytes = ((size_t)out->count + 1) * sizeof *out->items;
    while (i-- > 0) tl_drop(vm, out->items[i]);
    tl_free(vm, out->items, nbytes);
    return false;
  }
  return true;
}

void tl_arrays_close(tl_vm *vm, tl_arrays *arrays) {
  for (int64_t i = 0; i < arrays->count; i++) tl_drop(vm, arrays->items[i]);
  tl_free(vm, arrays->items,
          ((size_t)arrays->count + 1) * sizeof *arrays->items);
}

// --- Promotion --------------------------------------------------------------

static bool mixed(tl_vm *vm, const char *function, tl_slot a, tl_slot b) {
  char left[TL_DESCRIBE], right[TL_DESCRIBE];
  return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s and %s have no common type",
                 function, tl_describe(a, left, sizeof left),
                 tl_describe(b, right, sizeof right));
}

bool tl_promote_slots(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                      tl_dtype *out) {
  tl_dtype x = (tl_dtype)tl_dtype_of(a), y = (tl_dtype)tl_dtype_of(b);
  if ((x >= TL_STRING || y >= TL_STRING) && x != y)
    return mixed(vm, function, a, b);
  if (x == y)
    *out = x;
  else if (tl_is_weak(a) && !tl_is_weak(b) && x != TL_BOOL)
    *out = tl_dtype_promote_weak(x, y);
  else if (tl_is_weak(b) && !tl_is_weak(a) && y != TL_BOOL)
    *out = tl_dtype_promote_weak(y, x);
  else
    *out = tl_dtype_promote(x, y);
  return true;
}

bool tl_promote_arrays(tl_vm *vm, const char *function, const tl_arrays *arrays,
                       tl_dtype *out) {
  tl_slot sofar = arrays->items[0];
  *out = (tl_dtype)tl_dtype_of(sofar);
  for (int64_t i = 1; i < arrays->count; i++) {
    if (!tl_promote_slots(vm, function, sofar, arrays->items[i], out))
      return false;
    bool weak = tl_is_weak(sofar) && tl_is_weak(arrays->items[i]);
    sofar =
        (tl_slot){.tag = TL_TAG(TL_CLASS_SMALL, *out) | (weak ? TL_WEAK : 0)};
  }
  return true;
}

// --- Copying ----------------------------------------------------------------

bool tl_assign_part(tl_vm *vm, tl_array *to, char *data, int ndim,
                    const int64_t *shape, const int64_t *strides,
                    const tl_array *from) {
  tl_dtype dtype = tl_array_dtype(to);
  tl_array *cast = NULL;
  if (tl_array_dtype(from) != dtype) {
    cast = tl_array_cast(vm, from, dtype);
    if (!cast)
      return false;
    from = cast;
  }
  tl_slot base = {.tag = tl_array_tag(to), .array = to};
  tl_array *part = tl_view_new(vm, &base, dtype, data, ndim, shape, strides);
  bool ok = part && tl_array_fill(vm, part, from);
  if (part)
    tl_drop(vm, tl_own_array(part));
  if (cast)
    tl_drop(vm, tl_own_array(cast));
  return ok;
}

// [kept]: in whatever order its axes lie.
static tl_array *take(tl_vm *vm, tl_slot *s, bool kept) {
  tl_array_untranspose(vm, s);
  bool fits = kept ? (s->tag & TL_DIRECT) != 0 && tl_is_unique(*s)
                   : tl_array_is_reusable(*s);
  if (vm->no_reuse || !fits) {
    if (vm->has_promises && !vm->no_reuse)
      tl_promise_refused(vm,
                         !tl_is_owned(*s)            ? TL_REFUSED_LIVE
                         : (s->tag & TL_DIRECT) == 0 ? TL_REFUSED_EXTERNAL
                         : s->object->count != 1     ? TL_REFUSED_SHARED
                                                     : TL_REFUSED_SHAPE,
                         *s);
    return kept ? tl_array_cast_kept(vm, s->array, tl_array_dtype(s->array))
                : tl_array_copy(vm, s->array);
  }
  tl_array *a = s->array;
  tl_written_in_place(vm, a);
  vm->stats.temps_ended++;
  *s = tl_borrow(*s);
  return a;
}

tl_array *tl_take_dense(tl_vm *vm, tl_slot *s) {
  return take(vm, s, false);
}

tl_array *tl_take_kept(tl_vm *vm, tl_slot *s) {
  return take(vm, s, true);
}

bool tl_cast_own(tl_vm *vm, tl_array *a, tl_dtype dtype, tl_slot *out) {
  if (tl_array_dtype(a) != dtype) {
    tl_array *cast = tl_array_cast(vm, a, dtype);
    tl_drop(vm, tl_own_array(a));
    if (!cast)
      return false;
    a = cast;
  }
  *out = tl_result(vm, a);
  return !tl_is_unset(*out);
}

bool tl_as_contiguous(tl_vm *vm, const char *function, tl_slot s,
                      tl_dtype dtype, tl_slot *out) {
  tl_slot a;
  if (!tl_as_array(vm, function, s, &a))
    return false;
  if (tl_array_dtype(a.array) == dtype) {
    bool ok = tl_array_contiguous(vm, &a, out);
    // What is still owned by [a] was not needed.
    if (tl_is_owned(a))
      tl_drop(vm, a);
    return ok;
  }
  tl_array *cast = tl_array_cast(vm, a.array, dtype);
  if (tl_is_owned(a))
    tl_drop(vm, a);
  if (!cast)
    return false;
  *out = tl_own_array(cast);
  return true;
}

bool tl_take_contiguous(tl_vm *vm, const char *function, tl_slot *s,
                        tl_dtype dtype, tl_slot *out) {
  if (tl_is_array(*s) && tl_array_dtype(s->array) == dtype)
    return tl_array_contiguous(vm, s, out);
  return tl_as_contiguous(vm, function, *s, dtype, out);
}
