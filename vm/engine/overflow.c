// Integer arithmetic whose results have to fit: overflow: "error" and
// "saturate". Elementwise operations come here after typing (engine.c), so that
// broadcasting, promotion, rows and missing values are as everywhere:
//
//   operands --packed, cast--> blocks --saturating kernel--> a new array
//                                          |
//                                          +--> the first item that does not
//                                               fit, which "error" names
//
// The functions of engine.h that lead here are in fitting.c.
//
// Built for size.
#include "vm/kernels/overflow.h"

#include <stdio.h>

#include "vm/engine/engine_internal.h"
#include "vm/engine/lane.h"
#include "vm/error.h"

// --- Elementwise operations --------------------------------------------------

// Two operands' blocks, packed and cast, take 8 KB of the stack, which stay in
// the first cache.
enum { BLOCK = 256 };  // items that are computed at a time

// An operand's items of a block, in its own dtype and in that computed in.
typedef struct block_items {
  _Alignas(64) char packed[BLOCK * sizeof(uint64_t)];
  char converted[BLOCK * sizeof(uint64_t)];
} block_items;

// [n] items from [at], [step] bytes apart, as the dtype wanted: in their own
// memory or in [room].
//
//  int64, one after the other      in their own memory
//  int64, every other one          packed
//  int8, computed in int64         cast, packed before that if need be
//  one item, step 0                packed: 256 copies of it
//
static const char *read_block(const tl_operand *x, tl_dtype dtype,
                              const char *at, int64_t step, size_t n,
                              block_items *room) {
  const tl_kernel_table *kernels = tl_kernels();
  size_t size = tl_itemsize(x->dtype);
  if (step != (int64_t)size) {
    kernels->pack[tl_move_size(size)](room->packed, at, (ptrdiff_t)step, n);
    at = room->packed;
  }
  if (x->dtype == dtype)
    return at;
  kernels->cast[x->dtype][dtype](room->converted, at, n);
  return room->converted;
}

enum { SPELLED = 24 };  // bytes of an integer's text

// The integer at [item] as text.
// By way of 64 bits, whose sign the cast has extended: "%lld" of it is the
// number.
static const char *spell(tl_dtype dtype, const char *item, char text[SPELLED]) {
  uint64_t word;
  bool is_unsigned = tl_dtypes[dtype].kind == 'U';
  tl_kernels()->cast[dtype][TL_UINT64](&word, item, 1);
  snprintf(text, SPELLED, is_unsigned ? "%llu" : "%lld",
           (unsigned long long)word);
  return text;
}

// Indices come off from the last axis, since rows are in order. What has no
// room any more would be cut, but there always is: 24 bytes are enough for one.
void tl_spell_place(int ndim, const int64_t *shape, int64_t index,
                    tl_place_text text) {
  int64_t place[TL_MAX_DIMS];
  int length = 0;
  for (int i = ndim; i-- > 0;) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  text[0] = '\0';
  for (int i = 0; i < ndim && length < (int)sizeof(tl_place_text); i++)
    length += snprintf(text + length, sizeof(tl_place_text) - (size_t)length,
                       "%s%lld%s", i == 0 ? "[" : ", ", (long long)place[i],
                       i + 1 == ndim ? "]" : "");
}

// Fails (kind value) for the operands' items at a[0] and a[1].
// "add: 100 + 100 does not fit int8 at [3]"; of one operand "negative: the
// result for -128 does not fit int8 at [0]".
static bool fail_item(tl_vm *vm, tl_op op, tl_dtype dtype, const char *const *a,
                      const tl_array *target, int64_t index) {
  char x[SPELLED], y[SPELLED];
  tl_place_text place;
  const char *name = tl_ops[op].name, *type = tl_dtypes[dtype].name;
  // Of rows and of values that may be missing these are the inner places.
  tl_spell_place(vm->overflow_inside ? 0 : tl_ndim(target), tl_shape(target),
                 index, place);
  spell(dtype, a[0], x);
  const char *at = place[0] != '\0' ? " at " : "";
  if (tl_ops[op].arity == 1)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: the result for %s does not fit %s%s%s", name, x, type,
                   at, place);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s %s %s does not fit %s%s%s", name,
                 x, tl_ops[op].sign, spell(dtype, a[1], y), type, at, place);
}

// An operation under way.
typedef struct fitting {
  tl_vm *vm;
  tl_op op;
  const tl_operand *x;
  const tl_typing *typing;
  tl_array *target;
  int64_t done, unpolled;  // items
} fitting;

// Computes the next [n] items, from those at the addresses, into the target.
// The kernel writes the whole block even where one item does not fit: "error"
// drops the target, and "saturate" wants the rest.
static bool compute_block(fitting *f, char *const *data, const int64_t *step,
                          size_t n) {
  block_items room[2];  // large: not cleared
  const char *in[2] = {NULL, NULL};
  tl_dtype dtype = f->typing->computed;
  size_t size = tl_itemsize(dtype);
  int arity = tl_ops[f->op].arity;
  for (int k = 0; k < arity; k++)
    in[k] = read_block(&f->x[k], dtype, data[k], step[k], n, &room[k]);
  char *to = f->target->data + (size_t)f->done * size;
  size_t first = tl_saturate_kernel(f->op, dtype)(to, in[0], in[1], n);
  if (first < n && f->vm->overflow == TL_OVERFLOW_ERROR) {
    for (int k = 0; k < arity; k++) in[k] += first * size;
    return fail_item(f->vm, f->op, dtype, in, f->target,
                     f->done + (int64_t)first);
  }
  f->done += (int64_t)n;
  return tl_lane_poll(f->vm, &f->unpolled, (int64_t)n);
}

// All runs of the operands, broadcast to the shape of the target, in rows.
// A walk joins axes that lie behind each other, so that a run is as long as can
// be. The target is dense and in rows, and needs no walk: f->done is its place.
static bool compute_all(fitting *f) {
  int64_t steps[2][TL_MAX_DIMS];
  const int64_t *strides[2] = {steps[0], steps[1]};
  char *data[2];
  const int arity = tl_ops[f->op].arity, ndim = tl_ndim(f->target);
  const int64_t *shape = tl_shape(f->target);
  for (int k = 0; k < arity; k++) {
    data[k] = f->x[k].data;
    tl_broadcast_strides(f->x[k].array, ndim, shape, steps[k]);
  }
  tl_walk walk;
  tl_walk_begin(&walk, arity, ndim, shape, data, strides);
  for (; !walk.done; tl_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i += BLOCK) {
      int64_t left = walk.length - i, n = left < BLOCK ? left : BLOCK;
      for (int k = 0; k < arity; k++) data[k] = walk.data[k] + i * walk.step[k];
      if (!compute_block(f, data, walk.step, (size_t)n))
        return false;
    }
  }
  return true;
}

// The target is never an operand's memory, even of one that dies: after an
// error the script may catch, all operands have to be as they were. A scalar is
// an array of no axes, of one item, and weak where the operands were.
bool tl_compute_fitting(tl_vm *vm, tl_op op, const tl_operand *x,
                        const tl_typing *typing, int ndim, const int64_t *shape,
                        tl_slot *out) {
  if (!tl_operands_check(vm, op, x, typing))
    return false;
  tl_array *target = tl_array_new(vm, typing->result, ndim, shape);
  fitting f = {.vm = vm, .op = op, .x = x, .typing = typing, .target = target};
  if (!tl_result_finish(vm, target != NULL && compute_all(&f), target, out))
    return false;
  if (ndim == 0 && typing->weak)
    out->tag |= TL_WEAK;
  return true;
}
