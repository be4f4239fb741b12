// The rule of reuse: whether a result may take the memory of an operand that
// ends with the operation. Everything that makes an array of operands asks
// here: the short way, the engine, casts, scans, loops of the host's and
// regions.
//
// An operand gives its memory if
//
//   it ends          the instruction owns it and nobody else has it: count 1
//   it is its own    no view, not read-only, no host's memory (TL_DIRECT); or
//                    a view of the place that the result goes to (TL_TAKEN)
//   it fits          items of the result's size, and the result's shape
//   no one sees it   what is read while it is written lies elsewhere, or is
//                    read item by item where it is written
//
// and scripts have not switched reuse off.
#pragma once

#include "vm/array/array.h"
#include "vm/events.h"

// Notes that the result [array] was written into an operand's memory.
static inline void tl_written_in_place(tl_vm *vm, tl_array *array) {
  vm->stats.inplace++;
  if (vm->watch != NULL)
    vm->observer->inplace(vm, tl_own_array(array));
}

// Notes that the result [array] is in memory of its own.
static inline void tl_made_fresh(tl_vm *vm, tl_array *array) {
  vm->stats.allocs++;
  vm->stats.alloc_bytes += array->head.nbytes;
  if (vm->watch != NULL)
    vm->observer->fresh(vm, tl_own_array(array));
}

// Whether an array ends here and its memory is its own: the first two.
static inline __attribute__((always_inline)) bool tl_is_dying(const tl_vm *vm,
                                                              tl_slot s) {
  const uint64_t needed = TL_OWNED | TL_DIRECT;
  return (s.tag & needed) == needed && s.array->head.count == 1 &&
         !vm->no_reuse;
}

// Whether memory counts more than time, however small arrays are: under a
// promise of peak memory, or in a place that is to make no array.
bool tl_saves_memory(const tl_vm *vm);
// Whether so many bytes of items are moved where they are before an operation
// that may then leave its result there. A smaller array is sooner made anew.
bool tl_is_worth_moving(const tl_vm *vm, size_t nbytes);

// Whether it shows a place that is about to be set to what is made of it:
// p.x += 1. One that was stored has a hold and is as any other view.
static inline bool tl_is_place(const tl_array *a) {
  const unsigned all = TL_VIEW | TL_HOLD | TL_TAKEN;
  return (a->head.flags & all) == (TL_VIEW | TL_TAKEN);
}

// Tells of a refusal those who asked: a contract, and whoever watches. What is
// read in another order (TL_REFUSED_READ) is told alone, and not counted.
void tl_refusal_seen(tl_vm *vm, tl_rejection why, tl_slot operand);
// Why an array whose shape and item size fit does not give its memory, in the
// order in which a script can do something about it. TL_REFUSED_SHAPE is what
// is left: its items are not dense.
static inline tl_rejection tl_rejection_of(tl_slot s) {
  if (!tl_is_owned(s))
    return TL_REFUSED_LIVE;
  if ((s.tag & TL_DIRECT) == 0 || (s.array->head.flags & TL_EXTERNAL) != 0)
    return TL_REFUSED_EXTERNAL;
  return s.object->count != 1 ? TL_REFUSED_SHARED : TL_REFUSED_SHAPE;
}
// Notes that [operand]'s memory could not take a result, unless scripts have
// switched reuse off.
static inline __attribute__((always_inline)) void tl_refused(tl_vm *vm,
                                                             tl_rejection why,
                                                             tl_slot operand) {
  if (vm->no_reuse)
    return;
  (&vm->stats.inplace_refused_live)[why]++;
  if (vm->has_contracts || vm->watch != NULL)
    tl_refusal_seen(vm, why, operand);
}

// Whether a slot that owns an array of that dtype shows a place that is taken,
// or a whole block alone, and holds it alone: a part that was copied out before
// its array was written.
bool tl_view_has_own_block(const tl_vm *vm, tl_slot s, tl_dtype dtype);
static inline __attribute__((always_inline)) bool tl_has_own_block(
    const tl_vm *vm, tl_slot s, tl_dtype dtype) {
  return (s.tag & (TL_OWNED | TL_DIRECT)) == TL_OWNED &&
         tl_view_has_own_block(vm, s, dtype);
}

// Takes the memory of one for which that holds: *slot no longer owns. The
// result owns it in the slot's place.
static inline __attribute__((always_inline)) tl_slot tl_take_over(
    tl_vm *vm, tl_slot *slot) {
  tl_slot taken = *slot;
  slot->tag &= ~TL_OWNED;
  tl_written_in_place(vm, taken.array);
  vm->stats.temps_ended++;
  return taken;
}

// Whether the array's items lie in its own block, behind the header: not those
// of views and of memory that a host owns.
static inline bool tl_array_has_twin(tl_slot s) {
  const tl_array *like = s.array;
  return (s.tag & TL_DIRECT) != 0 &&
         (size_t)(like->data - (const char *)like) < like->head.nbytes;
}
// An array of rank 1 or 2 as the model is, which has a twin or is a copy of the
// header of one that has: made without measuring its shape again, which is half
// of what a small operation costs.
// *out owns it; its items are undefined. False after tl_fail (kind memory).
// Contracts are the caller's to ask.
static inline __attribute__((always_inline)) bool tl_array_twin(tl_vm *vm,
                                                                tl_slot model,
                                                                tl_slot *out) {
  const tl_array *like = model.array;
  tl_array *array =
      tl_object_new(vm, TL_KIND_ARRAY, like->head.nbytes, "an array");
  if (array == NULL)
    return false;
  array->head.dtype = like->head.dtype;
  array->head.ndim = like->head.ndim;
  array->data = (char *)array + (like->data - (const char *)like);
  array->size = like->size;
  for (int i = 0; i < 4; i++) array->dims[i] = like->dims[i];
  tl_made_fresh(vm, array);
  *out = (tl_slot){.tag = (model.tag & ~TL_WEAK) | TL_OWNED, .array = array};
  return true;
}

// A dying array of this dtype's size and this shape, its memory to be written
// as [dtype]: *slot no longer owns. NULL where it cannot be (counted, where
// [slot] is an array). Where the slot has no TL_DENSE, nor has the result.
tl_array *tl_reuse(tl_vm *vm, tl_slot *slot, tl_dtype dtype, int ndim,
                   const int64_t *shape);
// Counts the nearest reason why tl_reuse would not, of an array.
void tl_count_rejection(tl_vm *vm, tl_slot s, tl_dtype dtype, int ndim,
                        const int64_t *shape);
// Whether tl_reuse would, the first three; counts nothing.
bool tl_can_reuse(const tl_vm *vm, tl_slot s, tl_dtype dtype, int ndim,
                  const int64_t *shape);

// Whether two arrays are walked alike, and item i of both is at one address.
bool tl_arrays_coincide(const tl_array *a, const tl_array *b);
// Whether one must not be read while the other is written, item by item.
static inline bool tl_arrays_collide(const tl_array *a, const tl_array *b) {
  return tl_arrays_overlap(a, b) && !tl_arrays_coincide(a, b);
}

// Operands of an operation that is computed item by item.
typedef struct tl_reusable {
  const tl_slot *owner;   // the slot that may own it
  const tl_array *array;  // NULL: a scalar
} tl_reusable;

typedef enum tl_reuse_how {
  TL_REUSE_ANY,
  TL_REUSE_ROW_MAJOR,  // the result's items lie in a row
  TL_REUSE_DISJOINT,   // nothing else that is read may lie there
} tl_reuse_how;

// Whether all other operands may be read while operand [at] is written.
static inline bool tl_is_unseen(const tl_reusable *operands, int count, int at,
                                tl_reuse_how how) {
  const tl_array *target = operands[at].array;
  for (int i = 0; i < count; i++) {
    const tl_array *other = operands[i].array;
    if (i == at || other == NULL)
      continue;
    if (how == TL_REUSE_DISJOINT ? tl_arrays_overlap(other, target)
                                 : tl_arrays_collide(other, target))
      return false;
  }
  return true;
}

// The first of [count] operands that may take a result of [dtype] and [shape],
// by all of the rule; -1: none. tl_reuse then takes it.
static inline int tl_find_reusable(const tl_vm *vm, const tl_reusable *operands,
                                   int count, tl_dtype dtype, int ndim,
                                   const int64_t *shape, tl_reuse_how how) {
  for (int i = 0; i < count; i++) {
    const tl_array *a = operands[i].array;
    if (a != NULL && tl_can_reuse(vm, *operands[i].owner, dtype, ndim, shape) &&
        (how != TL_REUSE_ROW_MAJOR || tl_is_contiguous(a)) &&
        tl_is_unseen(operands, count, i, how))
      return i;
  }
  return -1;
}
