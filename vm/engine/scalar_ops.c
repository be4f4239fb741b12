// Elementwise operations on scalars: the array kernels with n = 1, so that a
// scalar's result has the bits of an array's.

#include "vm/engine/engine_internal.h"

// Operands differ in dtype only where int64 is compared with uint64.
tl_kernel2 *tl_binary_kernel(tl_op op, const tl_typing *typing) {
  const tl_kernel_table *kernels = tl_kernels();
  if (typing->operands[0] == typing->operands[1])
    return kernels->binary[op][typing->computed];
  return typing->operands[0] == TL_INT64
             ? kernels->compare_iu[op - TL_OP_EQUAL]
             : kernels->compare_ui[op - TL_OP_EQUAL];
}

void tl_call_kernel(tl_op op, const tl_typing *typing, void *out,
                    const char *const *in, size_t n) {
  const tl_kernel_table *kernels = tl_kernels();
  switch (tl_ops[op].arity) {
    case 1:
      kernels->unary[op][typing->computed](out, in[0], n);
      break;
    case 2:
      tl_binary_kernel(op, typing)(out, in[0], in[1], n);
      break;
    default:
      kernels->select[tl_move_size(tl_itemsize(typing->computed))](
          out, in[0], in[1], in[2], n);
      break;
  }
}

// The item as a value of [dtype]; unset where memory is short.
static tl_slot make_result(tl_vm *vm, const tl_c128 *item, tl_dtype dtype,
                           bool weak) {
  if (dtype == TL_COMPLEX128)
    return tl_new_complex(vm, item->re, item->im, weak);
  tl_slot s = tl_scalar_load(dtype, item);
  if (weak)
    s.tag |= TL_WEAK;
  return s;
}

// The same checks and kernels as for arrays, with one item on the stack.
bool tl_scalar_compute(tl_vm *vm, tl_op op, const tl_operand *x,
                       const tl_typing *typing, tl_slot *out) {
  // Room for an item of any dtype.
  tl_c128 item = {0, 0};
  if (!tl_operands_check(vm, op, x, typing))
    return false;
  if (op == TL_OP_POW)
    op = tl_power_form(&x[1], typing->computed);
  const char *in[TL_MAX_OPERANDS];
  for (int i = 0; i < tl_ops[op].arity; i++) in[i] = x[i].data;
  tl_call_kernel(op, typing, &item, in, 1);
  // Narrow weak results (of bools) do not exist.
  bool weak = typing->weak && tl_itemsize(typing->result) >= 8;
  tl_slot result = make_result(vm, &item, typing->result, weak);
  if (tl_is_unset(result))
    return false;
  *out = result;
  return true;
}
