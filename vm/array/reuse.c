// Whether a dying operand's memory may take the result.
#include "vm/array/reuse.h"
#include "vm/memory/reserve.h"

bool tl_has_shape(const tl_array *a, int ndim, const int64_t *shape) {
  if (a->head.ndim != ndim)
    return false;
  for (int i = 0; i < ndim; i++)
    if (tl_shape(a)[i] != shape[i])
      return false;
  return true;
}

bool tl_saves_memory(const tl_vm *vm) {
  return tl_has_promises(vm) || tl_is_under_contract(vm);
}

bool tl_is_worth_moving(const tl_vm *vm, size_t nbytes) {
  enum { WORTH_MOVING = 1 << 20 };  // bytes: below it a copy is as fast
  return nbytes >= WORTH_MOVING || tl_saves_memory(vm);
}

bool tl_view_has_own_block(const tl_vm *vm, tl_slot s, tl_dtype dtype) {
  const unsigned flags = TL_VIEW | TL_HOLD | TL_READONLY;
  const tl_array *a = s.array, *block = tl_array_owner(a);
  if (a->head.count != 1 || tl_array_dtype(a) != dtype || vm->no_reuse)
    return false;
  return (tl_is_place(a) && block->head.count == 1) ||
         ((a->head.flags & flags) == (TL_VIEW | TL_HOLD) &&
          tl_is_dying(vm, tl_own_array(tl_array_owner(a))) &&
          (block->head.flags & TL_EXTERNAL) == 0 &&
          tl_arrays_coincide(a, block));
}

// Three comparisons, cheapest first; the shape last, as it is a loop.
bool tl_can_reuse(const tl_vm *vm, tl_slot s, tl_dtype dtype, int ndim,
                  const int64_t *shape) {
  return tl_is_array(s) && tl_is_owned(s) &&
         (tl_is_dying(vm, s) || tl_has_own_block(vm, s, dtype)) &&
         tl_itemsize(tl_array_dtype(s.array)) == tl_itemsize(dtype) &&
         tl_has_shape(s.array, ndim, shape);
}

void tl_refusal_seen(tl_vm *vm, tl_rejection why, tl_slot operand) {
  if (vm->has_contracts)
    vm->observer->contract_refused(vm, why, operand);
  if (vm->watch != NULL)
    vm->observer->refused(vm, why, operand);
}

void tl_count_rejection(tl_vm *vm, tl_slot s, tl_dtype dtype, int ndim,
                        const int64_t *shape) {
  if (!tl_is_array(s))
    return;
  const bool fits = tl_itemsize(tl_array_dtype(s.array)) == tl_itemsize(dtype);
  tl_refused(vm,
             !tl_has_shape(s.array, ndim, shape) ? TL_REFUSED_SHAPE
             : !fits                             ? TL_REFUSED_DTYPE
                                                 : tl_rejection_of(s),
             s);
}

// Only the dtype changes: the shape is the same and so are the strides.
tl_array *tl_reuse(tl_vm *vm, tl_slot *slot, tl_dtype dtype, int ndim,
                   const int64_t *shape) {
  if (!tl_can_reuse(vm, *slot, dtype, ndim, shape)) {
    tl_count_rejection(vm, *slot, dtype, ndim, shape);
    return NULL;
  }
  tl_array *array = slot->array;
  array->head.dtype = (uint8_t)dtype;
  tl_take_over(vm, slot);
  return array;
}

// Strings never: their items count texts, which would be lost. What is not
// contiguous is not offered, since x is to be written from front to back.
tl_array *tl_array_over(tl_vm *vm, tl_slot *x, tl_dtype dtype) {
  tl_array *a = x->array;
  bool strings = tl_array_dtype(a) == TL_STRING || dtype == TL_STRING;
  bool fits = !strings && tl_is_contiguous(a);
  tl_array *over =
      fits ? tl_reuse(vm, x, dtype, tl_ndim(a), tl_shape(a)) : NULL;
  if (!strings && !fits)
    tl_count_rejection(vm, *x, dtype, tl_ndim(a), tl_shape(a));
  return over ? over : tl_array_new(vm, dtype, tl_ndim(a), tl_shape(a));
}

// Then a write of item i can destroy item i of the other alone, which has been
// read.
bool tl_arrays_coincide(const tl_array *a, const tl_array *b) {
  return a->data == b->data &&
         tl_itemsize(tl_array_dtype(a)) == tl_itemsize(tl_array_dtype(b)) &&
         tl_arrays_walk_alike(a, b);
}
