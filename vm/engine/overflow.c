// Integer arithmetic whose results have to fit: overflow: "error" and
// "saturate". Elementwise operations come here after typing (engine.c), so that
// broadcasting, promotion, rows and missing values are as everywhere:
//
//   operands --packed, cast--> blocks --saturating kernel--> a new array
//                                          |
//                                          +--> the first item that does not
//                                               fit, which "error" names
//
// Sums and products are folded exactly (tl_exact_fold), so that it does not
// matter whether something in between fits.
#include "vm/kernels/overflow.h"

#include <stdio.h>

#include "vm/engine/engine_internal.h"
#include "vm/engine/reduce_internal.h"
#include "vm/error.h"

// --- Elementwise operations --------------------------------------------------

enum { BLOCK = 256 };  // items that are computed at a time

// An operand's items of a block, in its own dtype and in that computed in.
typedef struct block_items {
  _Alignas(64) char packed[BLOCK * sizeof(uint64_t)];
  char converted[BLOCK * sizeof(uint64_t)];
} block_items;

// [n] items from [at], [step] bytes apart, as the dtype wanted: in their own
// memory or in [room].
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
static const char *spell(tl_dtype dtype, const char *item, char text[SPELLED]) {
  uint64_t word;
  bool is_unsigned = tl_dtypes[dtype].kind == 'U';
  tl_kernels()->cast[dtype][TL_UINT64](&word, item, 1);
  snprintf(text, SPELLED, is_unsigned ? "%llu" : "%lld",
           (unsigned long long)word);
  return text;
}

// Where in an array of that shape item number [index] in rows is: " at [1, 2]".
// Nothing for a scalar.
static void spell_place(int ndim, const int64_t *shape, int64_t index,
                        char *text, size_t nbytes) {
  int64_t place[TL_MAX_DIMS];
  int length = 0;
  for (int i = ndim; i-- > 0;) {
    place[i] = index % shape[i];
    index /= shape[i];
  }
  text[0] = '\0';
  for (int i = 0; i < ndim && length < (int)nbytes; i++)
    length += snprintf(text + length, nbytes - (size_t)length, "%s%lld%s",
                       i == 0 ? " at [" : ", ", (long long)place[i],
                       i + 1 == ndim ? "]" : "");
}

// Room for the indices of as many axes as an array can have.
typedef char place_text[TL_MAX_DIMS * SPELLED];

// Fails (kind value) for the operands' items at a[0] and a[1].
static bool fail_item(tl_vm *vm, tl_op op, tl_dtype dtype, const char *const *a,
                      const tl_array *target, int64_t index) {
  char x[SPELLED], y[SPELLED];
  place_text place;
  const char *name = tl_ops[op].name, *type = tl_dtypes[dtype].name;
  // Of rows and of values that may be missing these are the inner places.
  spell_place(vm->overflow_inside ? 0 : tl_ndim(target), tl_shape(target),
              index, place, sizeof place);
  spell(dtype, a[0], x);
  if (tl_ops[op].arity == 1)
    return tl_fail(vm, TALLY_ERR_VALUE,
                   "%s: the result for %s does not fit %s%s", name, x, type,
                   place);
  return tl_fail(vm, TALLY_ERR_VALUE, "%s: %s %s %s does not fit %s%s", name, x,
                 tl_ops[op].sign, spell(dtype, a[1], y), type, place);
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
static bool compute_all(fitting *f) {
  int64_t steps[2][TL_MAX_DIMS];
  const int64_t *strides[2] = {steps[0], steps[1]};
  char *data[2];
  const int arity = tl_ops[f->op].arity, ndim = tl_ndim(f->target);
  const int64_t *shape = tl_shape(f->target);
  for (int k = 0; k < arity; k++) {
    data[k] = f->x[k].data;
    for (int i = 0; i < ndim; i++) steps[k][i] = 0;
    if (f->x[k].array != NULL)
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

bool tl_compute_fitting(tl_vm *vm, tl_op op, const tl_operand *x,
                        const tl_typing *typing, int ndim, const int64_t *shape,
                        tl_slot *out) {
  if (!tl_operands_check(vm, op, x, typing))
    return false;
  tl_array *target = tl_array_new(vm, typing->result, ndim, shape);
  if (target == NULL)
    return false;
  fitting f = {.vm = vm, .op = op, .x = x, .typing = typing, .target = target};
  if (!compute_all(&f)) {
    tl_array_drop(vm, target);
    return false;
  }
  *out = ndim == 0 ? tl_result(vm, target) : tl_own_array(target);
  if (ndim == 0 && typing->weak)
    out->tag |= TL_WEAK;
  return true;
}

// What has numbers, for which the rule is meant: texts and a host's values have
// their own, and may call scripts.
static bool has_numbers(tl_slot s) {
  return tl_is_number(s) || tl_is_range(s) || tl_is_array(s) || tl_is_nested(s);
}

bool tl_elementwise_fitting(tl_vm *vm, tl_op op, tl_overflow how,
                            tl_slot *operands, tl_slot *out) {
  bool inside = false;
  for (int i = 0; i < tl_ops[op].arity; i++) {
    if (!has_numbers(operands[i]))
      return tl_elementwise_kept(vm, op, operands, out);
    inside |= tl_is_nested(operands[i]);
  }
  vm->overflow = (uint8_t)how;
  vm->overflow_inside = inside;
  bool ok = tl_elementwise_kept(vm, op, operands, out);
  vm->overflow = TL_OVERFLOW_UNSAID;
  return ok;
}

// --- Casts ------------------------------------------------------------------

// The integer as a scalar of the integer dtype, which has it.
static tl_slot integer_of(tl_dtype dtype, int64_t value) {
  uint64_t item;
  tl_kernels()->cast[TL_INT64][dtype](&item, &value, 1);
  return tl_scalar_load(dtype, &item);
}

// *s = op(*s, the end of the dtype's range), unless all of [from] is within it.
// Drops what *s owned where it is replaced.
static bool bound(tl_vm *vm, tl_op op, tl_slot *s, tl_dtype from, int64_t end) {
  tl_slot operands[] = {tl_borrow(*s), integer_of(from, end)}, out;
  if (!tl_elementwise_kept(vm, op, operands, &out))
    return false;
  tl_clear(vm, s);
  *s = out;
  return true;
}

// Integers in another integer dtype: brought into its range while their own
// dtype has them still.
static bool bound_integers(tl_vm *vm, tl_slot *s, tl_dtype from, tl_dtype to) {
  if (tl_least_integer(from) < tl_least_integer(to) &&
      !bound(vm, TL_OP_MAXIMUM, s, from, tl_least_integer(to)))
    return false;
  return tl_largest_integer(from) <= tl_largest_integer(to) ||
         bound(vm, TL_OP_MINIMUM, s, from, (int64_t)tl_largest_integer(to));
}

bool tl_cast_fitting(tl_vm *vm, tl_slot *s, tl_dtype dtype, tl_overflow how,
                     tl_slot *out) {
  if (how == TL_OVERFLOW_UNSAID)
    return tl_cast(vm, s, dtype, out);
  tl_dtype from = tl_is_number(*s) || tl_is_array(*s)
                      ? (tl_dtype)tl_dtype_of(*s)
                      : TL_INT64;
  if (how == TL_OVERFLOW_SATURATE && dtype < TL_STRING && from < TL_STRING &&
      tl_dtype_is_integer(from) && tl_dtype_is_integer(dtype) &&
      !bound_integers(vm, s, from, dtype))
    return false;
  vm->overflow = (uint8_t)how;
  bool ok = tl_cast(vm, s, dtype, out);
  vm->overflow = TL_OVERFLOW_UNSAID;
  return ok;
}

// --- Reductions --------------------------------------------------------------

// A sum or product under way, whose lanes are handed out in 64 bits.
typedef struct exact {
  tl_exact_fold fold;
  bool is_signed;
} exact;

static bool fold_piece(void *context, const void *items, size_t n) {
  exact *e = context;
  tl_exact_fold_items(&e->fold, items, e->is_signed, n);
  return true;
}

// The results of all lanes, in rows, to [out]. [result] has their shape.
static bool fold_lanes(tl_vm *vm, tl_reduction reduction, const tl_split *split,
                       tl_array *result) {
  const tl_dtype from = tl_array_dtype(split->array);
  const tl_dtype dtype = tl_array_dtype(result);
  const bool is_signed = tl_dtypes[from].kind != 'U';
  int64_t unpolled = 0, at = 0;
  tl_counter counter;
  tl_counter_begin(&counter, split->kept, split->kept_shape,
                   split->kept_strides, split->array->data);
  for (; !counter.done; tl_counter_next(&counter), at++) {
    tl_lane lane = {counter.at,
                    split->reduced,
                    split->reduced_shape,
                    split->reduced_strides,
                    from,
                    is_signed ? TL_INT64 : TL_UINT64};
    exact e = {{.is_product = reduction == TL_REDUCE_PROD, .magnitude = 1},
               is_signed};
    if (split->length > 0 &&
        !tl_lane_walk(vm, &lane, &unpolled, fold_piece, &e))
      return false;
    char *to = result->data + (size_t)at * tl_itemsize(dtype);
    if (tl_exact_fold_end(&e.fold, dtype, to) ||
        vm->overflow == TL_OVERFLOW_SATURATE)
      continue;
    place_text place;
    spell_place(tl_ndim(result), tl_shape(result), at, place, sizeof place);
    return tl_fail(vm, TALLY_ERR_VALUE, "%s: the result does not fit %s%s",
                   tl_reduction_name(reduction), tl_dtypes[dtype].name, place);
  }
  return true;
}

// The integer dtype of the results, or TL_DTYPE_COUNT: they are none, or are
// folded of what is none.
static tl_dtype exact_dtype(tl_dtype from, tl_dtype wanted) {
  bool is_integer =
      from == TL_BOOL || (from < TL_STRING && tl_dtype_is_integer(from));
  if (wanted == TL_DTYPE_COUNT)
    wanted = tl_dtypes[from].kind == 'U' ? TL_UINT64 : TL_INT64;
  return is_integer && wanted < TL_STRING && tl_dtype_is_integer(wanted)
             ? wanted
             : TL_DTYPE_COUNT;
}

bool tl_reduce_fitting(tl_vm *vm, tl_reduction reduction, tl_slot *x,
                       uint32_t axes, bool keepdims, tl_dtype dtype,
                       tl_overflow how, tl_slot *out) {
  tl_slot s;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_as_array(vm, tl_reduction_name(reduction), *x, &s))
    return false;
  tl_dtype exactly = exact_dtype(tl_array_dtype(s.array), dtype);
  if (how < TL_OVERFLOW_ERROR || exactly == TL_DTYPE_COUNT) {
    tl_clear(vm, &s);
    return tl_reduce(vm, reduction, x, axes, keepdims, dtype, 0, out);
  }
  tl_split split;
  tl_split_axes(s.array, axes, &split);
  int ndim = tl_reduce_shape(tl_ndim(s.array), tl_shape(s.array), axes,
                             keepdims, shape);
  tl_array *result = tl_array_new(vm, exactly, ndim, shape);
  vm->overflow = (uint8_t)how;
  bool ok = result != NULL &&
            (result->size == 0 || fold_lanes(vm, reduction, &split, result));
  vm->overflow = TL_OVERFLOW_UNSAID;
  tl_clear(vm, &s);
  if (!ok) {
    tl_array_drop(vm, result);
    return false;
  }
  *out = tl_result(vm, result);
  return !tl_is_unset(*out);
}
