// Elementwise operations on any operands, by a plan; the short path comes
// first. See engine.h for the order of the steps.
#include "vm/engine/engine_internal.h"

#include "vm/engine/short.h"
#include "vm/kernels/overflow.h"

// --- The general path -------------------------------------------------------

// Only where int64 meets uint64 do the dtypes of two operands differ; there are
// no scalar forms of these.
int tl_plan_operation(tl_plan *plan, tl_op op, const tl_typing *typing,
                      const int *in) {
  const tl_kernel_table *kernels = tl_kernels();
  const tl_dtype dtype = typing->computed;
  const size_t itemsize = tl_itemsize(typing->result);
  if (tl_ops[op].arity == 1)
    return tl_plan_unary(plan, kernels->unary[op][dtype], in[0], itemsize);
  if (tl_ops[op].arity == 3)
    return tl_plan_select(plan, kernels->select[tl_move_size(itemsize)], in[0],
                          in[1], in[2], itemsize);
  const bool alike = typing->operands[0] == typing->operands[1];
  return tl_plan_binary(plan, tl_binary_kernel(op, typing),
                        alike ? kernels->binary_vs[op][dtype] : NULL,
                        alike ? kernels->binary_sv[op][dtype] : NULL, in[0],
                        in[1], itemsize);
}

// Adds the operation's steps over the operands' streams; returns the number of
// the result's value in the plan.
static int plan_steps(tl_plan *plan, tl_op op, const tl_operand *x,
                      const tl_typing *typing) {
  // The numbers of the operands' streams in the plan, after their casts.
  int values[TL_MAX_OPERANDS] = {0, 0, 0};
  for (int i = 0; i < tl_ops[op].arity; i++)
    values[i] = tl_plan_cast(plan, i, x[i].dtype, typing->operands[i]);
  return tl_plan_operation(plan, op, typing, values);
}

// Runs the operation into [target], whose dtype is the result's or one that it
// is cast to. [may_stop]: nobody has seen the target, so the VM may be stopped
// halfway.
//
//  operand 0 ──cast──┐
//  operand 1 ──cast──┴─▶ kernel ──cast──▶ target      block by block, each as
//                                                      large as the caches like
//
static bool run_into(tl_vm *vm, tl_op op, const tl_operand *x,
                     const tl_typing *typing, tl_array *target, bool may_stop) {
  tl_plan plan;
  tl_plan_room room;  // large: not cleared
  int ndim = tl_ndim(target), arity = tl_ops[op].arity;
  tl_plan_open(&plan, &room, ndim, tl_shape(target));
  for (int i = 0; i < arity; i++) {
    int64_t strides[TL_MAX_DIMS];
    if (x[i].array != NULL)
      tl_broadcast_strides(x[i].array, ndim, tl_shape(target), strides);
    tl_plan_stream(&plan, x[i].data, tl_itemsize(x[i].dtype),
                   x[i].array != NULL ? strides : NULL);
  }
  tl_dtype dtype = tl_array_dtype(target);
  int output = tl_plan_stream(&plan, target->data, tl_itemsize(dtype),
                              tl_strides(target));
  // The axes are ordered and merged once all streams are known.
  tl_plan_arrange(&plan, output);
  int value = plan_steps(&plan, op, x, typing);
  tl_plan_finish_one(&plan, tl_plan_cast(&plan, value, typing->result, dtype));
  return tl_plan_run(vm, &plan, may_stop);
}

// --- Small results ----------------------------------------------------------

// Whether the result is one for tl_run_small.
static bool is_small(const tl_array *target) {
  return target->size <= TL_SMALL_ITEMS && (unsigned)tl_ndim(target) - 1 < 2 &&
         tl_is_contiguous(target);
}

// --- Arrays of any size -----------------------------------------------------

// Broadcasts the operands that are arrays; false (kind shape) with the
// operands' types below the message.
static bool result_shape(tl_vm *vm, tl_op op, const tl_operand *x,
                         const tl_slot *slots, int *ndim, int64_t *shape) {
  const tl_array *arrays[TL_MAX_OPERANDS];
  for (int i = 0; i < tl_ops[op].arity; i++) arrays[i] = x[i].array;
  if (tl_broadcast(vm, tl_ops[op].arity, arrays, ndim, shape))
    return true;
  if (tl_ops[op].arity == 2)
    tl_fail_operands(vm, slots[0], slots[1]);
  return false;
}

// The operand becomes a copy of itself, which is dropped when it is closed.
// What a range was made into has no other use.
static bool copy_operand(tl_vm *vm, tl_operand *x) {
  tl_array *copy = tl_array_copy(vm, x->array);
  if (copy == NULL)
    return false;
  tl_replace(vm, &x->made, tl_own_array(copy));
  x->owner = &x->made;
  x->array = copy;
  x->data = copy->data;
  return true;
}

// Copies what shows a small part of operand [at] otherwise than item on item,
// so that it may be read while that is written: m[0] of m - m[0]. False: the
// part is not small, or there is no memory, which is no error then. What was
// copied until then is in x[i].made, which owns it.
static bool copy_parts(tl_vm *vm, tl_operand *x, int arity, int at) {
  enum { PART_OF = 8 };
  const tl_array *target = x[at].array;
  for (int i = 0; i < arity; i++) {
    const tl_array *part = x[i].array;
    if (i == at || part == NULL || !tl_arrays_collide(part, target))
      continue;
    if (part->size > target->size / PART_OF || !copy_operand(vm, &x[i])) {
      tl_error_clear(vm);
      return false;
    }
  }
  return true;
}

// The dying operand that takes the result; NULL with *failed where the VM was
// stopped. A pass over it must finish, so its work is charged before it
// starts.
//
//  y = 2 * x + 1      2 * x is dying when 1 is added: the sum is its memory
//  y = x + 1          x lives on: a new array
//
static tl_array *find_target(tl_vm *vm, tl_op op, tl_operand *x,
                             const tl_typing *typing, int ndim,
                             const int64_t *shape, bool keeps, bool *failed) {
  // All operands are offered; the first that is dying and fits is taken.
  tl_reusable operands[TL_MAX_OPERANDS];
  int arity = tl_ops[op].arity, first = -1;
  for (int i = 0; i < arity; i++) {
    operands[i] = (tl_reusable){x[i].owner, x[i].array};
    if (x[i].array != NULL && first < 0)
      first = i;
  }
  int found = tl_find_reusable(vm, operands, arity, typing->result, ndim, shape,
                               keeps ? TL_REUSE_ANY : TL_REUSE_ROW_MAJOR);
  for (int i = 0; i < arity && found < 0; i++)
    if (x[i].array != NULL &&
        tl_can_reuse(vm, *x[i].owner, typing->result, ndim, shape) &&
        (keeps || tl_is_contiguous(x[i].array)) && copy_parts(vm, x, arity, i))
      found = i;
  if (found >= 0) {
    *failed = !tl_poll_items(vm, x[found].array->size);
    return *failed ? NULL
                   : tl_reuse(vm, x[found].owner, typing->result, ndim, shape);
  }
  // Counts why not, for the first array.
  if (first >= 0 &&
      tl_can_reuse(vm, *x[first].owner, typing->result, ndim, shape))
    tl_refusal_seen(vm, TL_REFUSED_READ, *x[first].owner);
  else if (first >= 0)
    tl_reuse(vm, x[first].owner, typing->result, ndim, shape);
  return NULL;
}

// The operand that was the target owns its array again.
static void give_back(tl_operand *x, int arity, const tl_array *target) {
  for (int i = 0; i < arity; i++)
    if (x[i].array == target)
      x[i].owner->tag |= TL_OWNED;
}

// A new array for the result, ordered in memory like the operands if [keeps].
static tl_array *new_result(tl_vm *vm, tl_op op, const tl_operand *x,
                            tl_dtype dtype, int ndim, const int64_t *shape,
                            bool keeps) {
  const tl_array *arrays[TL_MAX_OPERANDS];
  int count = 0;
  for (int i = 0; keeps && i < tl_ops[op].arity; i++)
    if (x[i].array != NULL)
      arrays[count++] = x[i].array;
  return tl_array_ordered(vm, tl_array_new(vm, dtype, ndim, shape), count,
                          arrays);
}

// Whether results have to fit, and are of a dtype where they may not.
// Asked after typing, as only then the dtype is known. Floats and operations
// that always fit go the usual way under any rule.
static bool must_fit(const tl_vm *vm, tl_op op, const tl_typing *typing) {
  return vm->overflow >= TL_OVERFLOW_ERROR &&
         tl_saturate_kernel(op, typing->computed) != NULL;
}

// The operation where an operand is an array: typing, shape, checks, target,
// loop.
static bool compute_arrays(tl_vm *vm, tl_op op, tl_operand *x,
                           const tl_slot *slots, bool keeps, tl_slot *out) {
  tl_typing typing;
  int ndim;
  int64_t shape[TL_MAX_DIMS];
  if (!tl_operands_resolve(vm, op, x, slots, &typing) ||
      !result_shape(vm, op, x, slots, &ndim, shape))
    return false;
  if (must_fit(vm, op, &typing))
    return tl_compute_fitting(vm, op, x, &typing, ndim, shape, out);
  if (!tl_operands_check(vm, op, x, &typing))
    return false;
  bool failed = false;
  tl_array *target =
      find_target(vm, op, x, &typing, ndim, shape, keeps, &failed);
  // A reused operand holds values until its last item is written: such a pass
  // stops halfway only where nobody sees them, and the operand ends with its
  // slot.
  bool reused = target != NULL;
  if (failed)
    return false;
  if (target == NULL)
    target = new_result(vm, op, x, typing.result, ndim, shape, keeps);
  if (target == NULL)
    return false;
  // From here on the exponent may be left out.
  if (op == TL_OP_POW)
    op = tl_power_form(&x[1], typing.computed);
  bool ok = true;
  if (is_small(target)) {
    tl_run_small(op, x, &typing, target);
  } else {
    ok = run_into(vm, op, x, &typing, target, !reused);
  }
  tl_slot result = tl_own_array(target);
  if (!ok && reused)
    give_back(x, tl_ops[op].arity, target);
  else if (!ok)
    tl_drop(vm, result);
  else
    tl_copy_slot(out, &result);
  return ok;
}

// The operation on opened operands, of arrays or of scalars.
static bool compute(tl_vm *vm, tl_op op, tl_operand *x, const tl_slot *slots,
                    bool keeps, tl_slot *out) {
  for (int i = 0; i < tl_ops[op].arity; i++)
    if (x[i].array != NULL)
      return compute_arrays(vm, op, x, slots, keeps, out);
  tl_typing typing;
  if (!tl_operands_resolve(vm, op, x, slots, &typing))
    return false;
  return must_fit(vm, op, &typing)
             ? tl_compute_fitting(vm, op, x, &typing, 0, NULL, out)
             : tl_scalar_compute(vm, op, x, &typing, out);
}

// The operands of an operation, as far as they are opened.
typedef struct opened {
  tl_operand x[TL_MAX_OPERANDS];
  int count;
  bool all_numbers;
} opened;

// Opens the operands, up to the first that is no number; close them also where
// it fails.
// Ranges become arrays here, and scalars items of their dtype.
static bool open_operands(tl_vm *vm, tl_op op, tl_slot *operands, opened *o) {
  o->count = 0;
  o->all_numbers = true;
  // The first operand that is no number decides: the operation is another one
  // then.
  while (o->all_numbers && o->count < tl_ops[op].arity) {
    if (!tl_operand_open(vm, &operands[o->count], &o->x[o->count],
                         &o->all_numbers))
      return false;
    o->count++;
  }
  return true;
}

// Drops what opening made: arrays of ranges alone, for others belong to the
// slot.
static void close_operands(tl_vm *vm, opened *o) {
  while (o->count > 0) tl_clear(vm, &o->x[--o->count].made);
}

// The entry of both forms; the short path first, because most operations of
// scripts are over short arrays.
static bool elementwise(tl_vm *vm, tl_op op, tl_slot *operands, bool keeps,
                        tl_slot *out) {
  if (vm->overflow < TL_OVERFLOW_ERROR && tl_short(vm, op, operands, out))
    return true;
  opened o;
  bool ok = open_operands(vm, op, operands, &o);
  if (ok)
    ok = o.all_numbers ? compute(vm, op, o.x, operands, keeps, out)
                       : tl_elementwise_other(vm, op, operands, out);
  close_operands(vm, &o);
  return ok;
}

// Results that the engine itself uses: row-major, so that kernels that follow
// find plain runs.
bool tl_elementwise(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out) {
  return elementwise(vm, op, operands, false, out);
}

// Results of scripts: an operation on transposed arrays gives a transposed one,
// which is written and later read along its memory.
bool tl_elementwise_kept(tl_vm *vm, tl_op op, tl_slot *operands, tl_slot *out) {
  return elementwise(vm, op, operands, true, out);
}
