// The shortest way to a kernel: see short.h.

#include "vm/engine/short.h"

#include "vm/engine/engine_internal.h"

#define INLINE static inline __attribute__((always_inline))

enum { ITEMS = 16384 };  // above, blocks and polls

// What two operands must have in common: class, dtype, rank, and that their
// items are dense.
#define TAG_NDIM (UINT64_C(7) << 24)
#define TAG_TYPE (UINT64_C(0xffff) | TAG_NDIM | TL_DENSE)

// A dense array of numbers of rank 1 or 2, told by its tag.
INLINE bool is_plain(uint64_t tag) {
  return (tag & (0xff | TL_DENSE)) == (TL_CLASS_ARRAY | TL_DENSE) &&
         ((tag & TAG_NDIM) >> 24) - 1 < 2 && (tag >> 8 & 0xff) < TL_STRING;
}

// Of arrays of one rank, which is 1 or 2.
INLINE bool same_shape(const tl_array *a, const tl_array *b) {
  return a->dims[0] == b->dims[0] &&
         (a->head.ndim == 1 || a->dims[1] == b->dims[1]);
}

// Whether [other] may be read while [target] is written: another block, or the
// very same items.
INLINE bool is_disjoint(tl_slot target, tl_slot other) {
  return (other.tag & TL_DIRECT) != 0 ||
         tl_array_owner(other.array) != target.array;
}

// A new array of the model's shape. Without memory the general way says so.
INLINE bool fresh_like(tl_vm *vm, tl_slot model, tl_dtype dtype, tl_slot *out) {
  if ((int)dtype == tl_dtype_of(model) && tl_array_has_twin(model)) {
    if (tl_array_twin(vm, model, out))
      return true;
  } else {
    const tl_array *like = model.array;
    tl_array *array = tl_array_new(vm, dtype, tl_ndim(like), tl_shape(like));
    if (array != NULL) {
      *out = tl_own_array(array);
      return true;
    }
  }
  tl_error_clear(vm);
  return false;
}

// A new array for a result of the operand's own dtype; false also where the
// operand's block could be had, which is left to the general way.
INLINE bool fresh_beside(tl_vm *vm, tl_slot x, tl_dtype dtype, tl_slot *out) {
  return !tl_has_own_block(vm, x, dtype) && fresh_like(vm, x, dtype, out);
}

// The memory of the one array that is read, where it ends here and the result
// has its dtype, else new memory; false where the general way may find better.
INLINE bool take_or_make(tl_vm *vm, tl_slot *x, tl_dtype result, tl_slot *out) {
  if ((int)result != tl_dtype_of(*x))
    return fresh_like(vm, *x, result, out);
  if (tl_is_dying(vm, *x)) {
    *out = tl_take_over(vm, x);
    return true;
  }
  if (!fresh_beside(vm, *x, result, out))
    return false;
  tl_refused(vm, tl_rejection_of(*x), *x);
  return true;
}

// Two plain arrays of one type.
INLINE bool two_arrays(tl_vm *vm, tl_op op, tl_slot *x, int64_t limit,
                       tl_slot *out) {
  const tl_array *a = x[0].array, *b = x[1].array;
  tl_dtype dtype = (tl_dtype)tl_dtype_of(x[0]);
  tl_kernel2 *kernel = tl_kernels()->binary[op][dtype];
  if (kernel == NULL || a->size > limit || !same_shape(a, b))
    return false;
  if (tl_short_kinds[op] == TL_SHORT_BOOL) {
    if (tl_itemsize(dtype) == 1 || !fresh_like(vm, x[0], TL_BOOL, out))
      return false;
  } else if (tl_is_dying(vm, x[0]) && is_disjoint(x[0], x[1])) {
    *out = tl_take_over(vm, &x[0]);
  } else if (tl_is_dying(vm, x[1]) && is_disjoint(x[1], x[0])) {
    *out = tl_take_over(vm, &x[1]);
  } else {
    if (tl_has_own_block(vm, x[1], dtype) ||
        !fresh_beside(vm, x[0], dtype, out))
      return false;
    tl_refused(vm, tl_rejection_of(x[0]), x[0]);
  }
  kernel(out->array->data, a->data, b->data, (size_t)a->size);
  return true;
}

// A plain array with a scalar; [at] is the array's position.
INLINE bool with_scalar(tl_vm *vm, tl_op op, tl_slot *x, int at, int64_t limit,
                        tl_slot *out) {
  const tl_array *a = x[at].array;
  tl_dtype dtype = (tl_dtype)tl_dtype_of(x[at]);
  const tl_kernel_table *kernels = tl_kernels();
  tl_kernel2 *kernel =
      at == 0 ? kernels->binary_vs[op][dtype] : kernels->binary_sv[op][dtype];
  uint64_t item;
  const bool tests = tl_short_kinds[op] == TL_SHORT_BOOL;
  if (kernel == NULL || a->size > limit ||
      !tl_scalar_item(x[1 - at], dtype, &item) ||
      (tests && tl_itemsize(dtype) == 1) ||
      !take_or_make(vm, &x[at], tests ? TL_BOOL : dtype, out))
    return false;
  if (at == 0)
    kernel(out->array->data, a->data, &item, (size_t)a->size);
  else
    kernel(out->array->data, &item, a->data, (size_t)a->size);
  return true;
}

// Two arrays of one type, or an array and a scalar on either side.
INLINE bool binary(tl_vm *vm, tl_op op, tl_slot *x, int64_t limit,
                   tl_slot *out) {
  uint64_t a = x[0].tag, b = x[1].tag;
  if (tl_short_kinds[op] == TL_SHORT_NONE ||
      tl_short_kinds[op] == TL_SHORT_CHECKED)
    return false;
  if (is_plain(a)) {
    if (((a ^ b) & TAG_TYPE) == 0)
      return two_arrays(vm, op, x, limit, out);
    return with_scalar(vm, op, x, 0, limit, out);
  }
  return is_plain(b) && with_scalar(vm, op, x, 1, limit, out);
}

// One array, written over where it dies and the result has its dtype.
INLINE bool unary(tl_vm *vm, tl_op op, tl_slot *x, int64_t limit,
                  tl_slot *out) {
  if (!is_plain(x->tag))
    return false;
  const tl_array *a = x->array;
  tl_dtype dtype = (tl_dtype)tl_dtype_of(*x);
  tl_kernel1 *kernel = tl_kernels()->unary[op][dtype];
  if (kernel == NULL || a->size > limit ||
      !take_or_make(vm, x, tl_op_result(op, dtype), out))
    return false;
  kernel(out->array->data, a->data, (size_t)a->size);
  return true;
}

// where(x[0], x[1], x[2]) of a mask and two arrays of one type, all of one
// shape, in the memory of one of the two where it dies.
INLINE bool choice(tl_vm *vm, tl_slot *x, int64_t limit, tl_slot *out) {
  const uint64_t mask = x[0].tag, model = x[1].tag;
  if (tl_dtype_of(x[0]) != TL_BOOL || !is_plain(mask) || !is_plain(model) ||
      ((model ^ x[2].tag) & TAG_TYPE) != 0 || ((model ^ mask) & TAG_NDIM) != 0)
    return false;
  const tl_array *a = x[0].array, *b = x[1].array, *c = x[2].array;
  const tl_dtype dtype = (tl_dtype)tl_dtype_of(x[1]);
  if (b->size > limit || !same_shape(a, b) || !same_shape(b, c))
    return false;
  int dying = 1;
  while (dying < 3 &&
         !(tl_is_dying(vm, x[dying]) && is_disjoint(x[dying], x[0]) &&
           is_disjoint(x[dying], x[3 - dying])))
    dying++;
  if (dying < 3) {
    *out = tl_take_over(vm, &x[dying]);
  } else {
    if (!fresh_like(vm, x[1], dtype, out))
      return false;
    tl_refused(vm, tl_rejection_of(x[1]), x[1]);
  }
  tl_kernels()->select[tl_move_size(tl_itemsize(dtype))](
      out->array->data, a->data, b->data, c->data, (size_t)b->size);
  return true;
}

// --- Complex scalars --------------------------------------------------------

// They do not fit a slot, so that they are arrays of rank 0.
INLINE bool is_complex(uint64_t tag) {
  return (tag & (0xffff | TAG_NDIM)) == TL_TAG(TL_CLASS_ARRAY, TL_COMPLEX128);
}

// An operand as a complex number; false: the general way converts it.
INLINE bool complex_item(tl_slot s, tl_c128 *item) {
  *item = (tl_c128){0, 0};
  if (is_complex(s.tag))
    memcpy(item, s.array->data, sizeof *item);
  else if ((s.tag & TL_CLASS_F64) != 0)
    item->re = s.f;
  else if ((s.tag & TL_CLASS_I64) != 0)
    item->re = (double)s.i;
  else
    return false;
  return true;
}

// A number in the memory of an operand that ends here, or in new memory; unset
// where there is none.
INLINE tl_slot put_complex(tl_vm *vm, tl_slot *x, tl_c128 item) {
  uint64_t weak = x[0].tag & x[1].tag & TL_WEAK;
  for (int i = 0; i < 2; i++)
    if (is_complex(x[i].tag) && tl_is_dying(vm, x[i])) {
      tl_slot out = tl_take_over(vm, &x[i]);
      memcpy(out.array->data, &item, sizeof item);
      out.tag = (out.tag & ~TL_WEAK) | weak;
      return out;
    }
  tl_slot out = tl_new_complex(vm, item.re, item.im, weak != 0);
  if (tl_is_unset(out))
    tl_error_clear(vm);
  return out;
}

// Two numbers, at least one of which is complex, by the kernel of arrays.
static bool complex_scalars(tl_vm *vm, tl_op op, tl_slot *x, tl_slot *out) {
  tl_c128 a, b, item;
  tl_kernel2 *kernel = tl_kernels()->binary[op][TL_COMPLEX128];
  if (kernel == NULL ||
      (tl_short_kinds[op] != TL_SHORT_SAME &&
       tl_short_kinds[op] != TL_SHORT_BOOL) ||
      !complex_item(x[0], &a) || !complex_item(x[1], &b))
    return false;
  kernel(&item, &a, &b, 1);
  if (tl_short_kinds[op] == TL_SHORT_BOOL) {
    bool truth;
    memcpy(&truth, &item, sizeof truth);
    *out = tl_bool(truth);
  } else {
    *out = put_complex(vm, x, item);
  }
  return !tl_is_unset(*out);
}

// One such number. Most operations on it, such as its absolute value and its
// parts, give a number that a slot holds.
static bool complex_scalar(tl_vm *vm, tl_op op, tl_slot *x, tl_slot *out) {
  tl_kernel1 *kernel = tl_kernels()->unary[op][TL_COMPLEX128];
  tl_c128 item;
  if (kernel == NULL || !is_complex(x->tag))
    return false;
  const tl_dtype to = tl_op_result(op, TL_COMPLEX128);
  kernel(&item, x->array->data, 1);
  if (to < TL_COMPLEX128) {
    *out = tl_scalar_load(to, &item);
    out->tag |= to == TL_FLOAT64 ? x->tag & TL_WEAK : 0;
  } else {
    tl_slot both[2] = {*x, *x};
    *out = put_complex(vm, both, item);
    *x = both[0];
  }
  return !tl_is_unset(*out);
}

// --- Entrances --------------------------------------------------------------

// An operand as its mode says: a borrowed one shows no owned bit.
INLINE tl_slot read(const tl_slot *s, unsigned mode) {
  bool ends = (mode & 3u) == TL_MODE_CONSUME || (mode & 3u) == TL_MODE_EITHER;
  return (tl_slot){.tag = ends ? s->tag : s->tag & ~TL_OWNED, .u = s->u};
}

// Operands are read with their modes before [a] is written, which may be one of
// them.
bool tl_short_binary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                     const tl_slot *c, unsigned modes) {
  tl_slot x[2] = {read(b, modes), read(c, modes >> 2)}, result;
  bool truth;
  if (((x[0].tag | x[1].tag) & TL_CLASS_ARRAY) == 0 &&
      tl_ops[op].rule == TL_RULE_COMPARE &&
      tl_compare_at_once(op, x[0], x[1], &truth))
    result = tl_bool(truth);
  else if (!binary(vm, op, x, ITEMS, &result) &&
           !(is_complex(x[0].tag) || is_complex(x[1].tag)
                 ? complex_scalars(vm, op, x, &result)
                 : tl_small(vm, op, x, &result)))
    return false;
  tl_operand_end(vm, x[0]);
  tl_operand_end(vm, x[1]);
  tl_copy_slot(a, &result);
  return true;
}

// --- Two operations ---------------------------------------------------------

enum { PAIR_ITEMS = 256 };  // of an intermediate result, on the stack

// A dying array among the three: the intermediate result has memory of its own,
// so that only the last operand is read while it is written.
INLINE bool take_one(tl_vm *vm, tl_slot *x, tl_slot *out) {
  if (tl_is_dying(vm, x[2])) {
    *out = tl_take_over(vm, &x[2]);
    return true;
  }
  for (int i = 0; i < 2; i++)
    if (tl_is_dying(vm, x[i]) && is_disjoint(x[i], x[2])) {
      *out = tl_take_over(vm, &x[i]);
      return true;
    }
  return false;
}

// Instructions name slots by their bytes from the frame's first one.
INLINE tl_slot *slot_of(tl_slot *base, uint16_t offset) {
  return (tl_slot *)(void *)((char *)base + offset);
}

// Of three arrays of one type. The second instruction's other operand, d, is in
// the slot that its encoding names; on which side the first result stands is
// seen by comparing slots.
bool tl_short_two(tl_vm *vm, tl_op op, const tl_slot *b, const tl_slot *c,
                  const tl_ins *ins, tl_slot *base) {
  const tl_ins *next = ins + 1;
  const bool left = next->b == ins->a;
  const tl_op then = next->op == TL_BC_ADD   ? TL_OP_ADD
                     : next->op == TL_BC_SUB ? TL_OP_SUBTRACT
                                             : TL_OP_MULTIPLY;
  const tl_slot *d = slot_of(base, left ? next->c : next->b), model = *b;
  const uint64_t others = (model.tag ^ c->tag) | (model.tag ^ d->tag);
  if ((others & TAG_TYPE) != 0 || !is_plain(model.tag))
    return false;
  const char *third = d->array->data;
  const tl_array *first = model.array, *second = c->array;
  const tl_dtype dtype = (tl_dtype)tl_dtype_of(model);
  tl_kernel2 *kernel = tl_kernels()->binary[op][dtype];
  tl_kernel2 *last = tl_kernels()->binary[then][dtype];
  if (first->size > PAIR_ITEMS || kernel == NULL || last == NULL ||
      vm->no_reuse || !same_shape(first, second) ||
      !same_shape(first, d->array))
    return false;
  tl_slot x[3] = {read(b, ins->modes), read(c, ins->modes >> 2),
                  read(d, left ? next->modes >> 2 : next->modes)};
  tl_slot result;
  if (!take_one(vm, x, &result) && !fresh_like(vm, model, dtype, &result))
    return false;
  // The first result is read by the second kernel only, from the nearest cache.
  _Alignas(64) char between[PAIR_ITEMS * sizeof(tl_c128)];
  const size_t n = (size_t)first->size;
  kernel(between, first->data, second->data, n);
  last(result.array->data, left ? between : third, left ? third : between, n);
  for (int i = 0; i < 3; i++) tl_operand_end(vm, x[i]);
  vm->stats.fused_ops++;
  vm->stats.temps_ended++;
  tl_copy_slot(slot_of(base, next->a), &result);
  return true;
}

bool tl_short_unary(tl_vm *vm, tl_op op, tl_slot *a, const tl_slot *b,
                    unsigned mode) {
  tl_slot x = read(b, mode), result;
  if (!unary(vm, op, &x, ITEMS, &result) &&
      !complex_scalar(vm, op, &x, &result) && !tl_small(vm, op, &x, &result))
    return false;
  tl_operand_end(vm, x);
  tl_copy_slot(a, &result);
  return true;
}

// No operand is dropped: x[i] no longer owns where its memory is the result's.
bool tl_short(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out) {
  if (tl_has_contracts(vm))  // a refusal must come before the new array
    return false;
  const int arity = tl_ops[op].arity;
  return (arity == 1 ? unary(vm, op, operands, ITEMS, out)
          : arity == 2
              ? binary(vm, op, operands, ITEMS, out)
              : op == TL_OP_WHERE && choice(vm, operands, ITEMS, out)) ||
         tl_small(vm, op, operands, out);
}
