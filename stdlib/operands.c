// Arguments as operands: the dtype that several promote to, parts of a result
// that they are copied into, and items in the layout that a loop wants. The
// second half of arguments.h.

#include "stdlib/arguments.h"
#include "vm/array/reuse.h"

// --- Promotion --------------------------------------------------------------

// Fails (kind type): the two have no common dtype.
static bool mixed(tl_vm *vm, const char *function, tl_slot a, tl_slot b) {
  return tl_fail(vm, TALLY_ERR_TYPE, "%s: %s and %s have no common type",
                 function, tl_described(vm, a), tl_described(vm, b));
}

// The dtype of a value's items; other values than arrays, scalars and ranges
// have none, and give a number of TL_DTYPE_COUNT or more.
static tl_dtype dtype_of_items(tl_slot s) {
  return tl_is_range(s) ? TL_INT64 : (tl_dtype)tl_dtype_of(s);
}

// Weak scalars take the other's dtype where that has their kind; a weak bool
// does not exist.
bool tl_promote_slots(tl_vm *vm, const char *function, tl_slot a, tl_slot b,
                      tl_dtype *out) {
  // Records, functions and the like have no dtype.
  tl_dtype x = dtype_of_items(a), y = dtype_of_items(b);
  if (x >= TL_DTYPE_COUNT || y >= TL_DTYPE_COUNT)
    return mixed(vm, function, a, b);
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

// The dtype so far is carried as a slot without a value, whose tag says dtype
// and weakness.
bool tl_promote_arrays(tl_vm *vm, const char *function, const tl_arrays *arrays,
                       tl_dtype *out) {
  tl_slot sofar = arrays->items[0];
  *out = (tl_dtype)tl_dtype_of(sofar);
  for (int64_t i = 1; i < arrays->count; i++) {
    if (!tl_promote_slots(vm, function, sofar, arrays->items[i], out))
      return false;
    // One typed array makes the result typed.
    bool weak = tl_is_weak(sofar) && tl_is_weak(arrays->items[i]);
    sofar =
        (tl_slot){.tag = TL_TAG(TL_CLASS_SMALL, *out) | (weak ? TL_WEAK : 0)};
  }
  return true;
}

// --- Copying ----------------------------------------------------------------

// The array of [s] to be written by the caller. [kept]: the axes may lie in
// any order. The reason for a copy is told.
static tl_array *take(tl_vm *vm, tl_slot *s, bool kept) {
  // A dying transposed square can be put into rows in its own memory, and then
  // be written.
  tl_array_untranspose(vm, s);
  // Nobody else may see the block, in rows unless any order will do.
  bool fits = kept ? (s->tag & TL_DIRECT) != 0 && tl_is_unique(*s)
                   : tl_array_is_reusable(*s);
  if (vm->no_reuse || !fits) {
    tl_refused(vm, tl_rejection_of(*s), *s);
    return kept ? tl_array_cast_kept(vm, s->array, tl_array_dtype(s->array))
                : tl_array_copy(vm, s->array);
  }
  tl_array *a = s->array;
  tl_written_in_place(vm, a);
  vm->stats.temps_ended++;
  *s = tl_borrow(*s);
  return a;
}

// Row-major, as kernels that walk a pointer want it.
tl_array *tl_take_dense(tl_vm *vm, tl_slot *s) {
  return take(vm, s, false);
}

// In whatever order the axes lie, for results that need no rows.
tl_array *tl_take_kept(tl_vm *vm, tl_slot *s) {
  return take(vm, s, true);
}

// A range or scalar is an array that was made for this call, so it is dropped
// if it was converted once more.
bool tl_as_contiguous(tl_vm *vm, const char *function, tl_slot s,
                      tl_dtype dtype, tl_slot *out) {
  tl_slot a;
  if (!tl_as_array(vm, function, s, &a))
    return false;
  if (tl_array_dtype(a.array) == dtype) {
    bool ok = tl_array_contiguous(vm, &a, out);
    // What is still owned by [a] was not needed.
    tl_drop(vm, a);
    return ok;
  }
  tl_array *cast = tl_array_cast(vm, a.array, dtype);
  tl_drop(vm, a);
  return tl_array_give(cast, out);
}

// The items may be dying: then they are handed over instead of copied, and a
// result may be written over them.
bool tl_take_contiguous(tl_vm *vm, const char *function, tl_slot *s,
                        tl_dtype dtype, tl_slot *out) {
  if (tl_is_array(*s) && tl_array_dtype(s->array) == dtype)
    return tl_array_contiguous(vm, s, out);
  return tl_as_contiguous(vm, function, *s, dtype, out);
}
