// The operator @: its operands as stacks of matrices.
//
//   a  5 * 1 * 3 * 4     stack 5 * 1, matrices 3 * 4
//   b      2 * 4 * 6     stack     2, matrices 4 * 6
//   a @ b                stack 5 * 2, matrices 3 * 6
//
// Stacks broadcast, matrices must fit; a vector is a matrix of one row or
// column whose axis is dropped from the result.
//
// Built for size.

#include "vm/engine/matmul.h"

#include <stdio.h>

#include "vm/array/describe.h"
#include "vm/array/nested.h"

// Fails (kind shape) with both types and the reason.
static bool wrong_shapes(tl_vm *vm, const tl_slot *operands,
                         const char *reason) {
  tl_fail(vm, TALLY_ERR_SHAPE, "@ of %s and %s: %s",
          tl_described(vm, operands[0]), tl_described(vm, operands[1]), reason);
  tl_fail_operands(vm, operands[0], operands[1]);
  return false;
}

// Fails (kind type): an operand is no array of numbers.
static bool wrong_kinds(tl_vm *vm, const tl_slot *operands) {
  const char *hint = tl_plain_hint(operands[0]);
  tl_fail(vm, TALLY_ERR_TYPE, "@ needs numbers: got %s and %s%s",
          tl_described(vm, operands[0]), tl_described(vm, operands[1]),
          hint[0] != 0 ? hint : tl_plain_hint(operands[1]));
  tl_fail_operands(vm, operands[0], operands[1]);
  return false;
}

// The geometry of a product of two arrays.
typedef struct product {
  int ndim;                    // of the stack
  int64_t shape[TL_MAX_DIMS];  // of the stack, then of the result
  tl_matrices a, b;
  int64_t m, n, k;
  int out_ndim;
} product;

// An array's matrices, their strides and shape: a vector is one row (left) or
// one column.
static void matrices_of(const tl_array *x, bool left, tl_matrices *out,
                        int64_t *rows, int64_t *columns) {
  int ndim = tl_ndim(x);
  const int64_t *shape = tl_shape(x), *strides = tl_strides(x);
  memset(out, 0, sizeof *out);
  out->data = x->data;
  // A vector has one row on the left and one column on the right.
  *rows = *columns = 1;
  if (ndim > 1) {
    *rows = shape[ndim - 2];
    *columns = shape[ndim - 1];
    out->row = strides[ndim - 2];
    out->column = strides[ndim - 1];
  } else if (left) {
    *columns = shape[0];
    out->column = strides[0];
  } else {
    *rows = shape[0];
    out->row = strides[0];
  }
}

// Broadcasts the axes before the matrices, and sets the strides of each
// operand's stack.
static bool stack_shape(tl_vm *vm, const tl_slot *operands, product *p) {
  const tl_array *x[2] = {operands[0].array, operands[1].array};
  tl_matrices *matrices[2] = {&p->a, &p->b};
  // The axes before the last two; a vector has none.
  int own[2];
  for (int i = 0; i < 2; i++)
    own[i] = tl_ndim(x[i]) > 2 ? tl_ndim(x[i]) - 2 : 0;
  p->ndim = own[0] > own[1] ? own[0] : own[1];
  for (int k = 0; k < p->ndim; k++) {
    p->shape[k] = 1;
    for (int i = 0; i < 2; i++) {
      // Aligned at the right, as shapes are. An operand without the axis has a
      // stride of 0.
      int axis = k - (p->ndim - own[i]);
      if (axis < 0 || tl_shape(x[i])[axis] == 1)
        continue;
      if (p->shape[k] != 1 && p->shape[k] != tl_shape(x[i])[axis])
        return wrong_shapes(vm, operands, "their stacks do not broadcast");
      p->shape[k] = tl_shape(x[i])[axis];
      matrices[i]->strides[k] = tl_strides(x[i])[axis];
    }
  }
  return true;
}

// The geometry of the product; false (kind shape) where the operands do not
// fit.
static bool plan(tl_vm *vm, const tl_slot *operands, product *p) {
  const tl_array *a = operands[0].array, *b = operands[1].array;
  int64_t k_of_b;
  if (tl_ndim(a) == 0 || tl_ndim(b) == 0)
    return wrong_shapes(vm, operands, "a scalar is no matrix; use *");
  matrices_of(a, true, &p->a, &p->m, &p->k);
  matrices_of(b, false, &p->b, &k_of_b, &p->n);
  if (p->k != k_of_b) {
    char reason[80];
    // The message speaks of items where there are no rows and columns.
    bool vectors = tl_ndim(a) == 1 && tl_ndim(b) == 1;
    snprintf(
        reason, sizeof reason,
        vectors ? "%lld items against %lld" : "%lld columns against %lld rows",
        (long long)p->k, (long long)k_of_b);
    return wrong_shapes(vm, operands, reason);
  }
  if (!stack_shape(vm, operands, p))
    return false;
  p->out_ndim = p->ndim;
  if (tl_ndim(a) > 1)
    p->shape[p->out_ndim++] = p->m;
  if (tl_ndim(b) > 1)
    p->shape[p->out_ndim++] = p->n;
  return true;
}

// The dtype computed in, and the result's: bools count in int64, and a result
// other than 0 is true.
static bool product_dtypes(tl_vm *vm, const tl_slot *operands,
                           tl_dtype *compute, tl_dtype *result) {
  tl_dtype dtypes[2];
  for (int i = 0; i < 2; i++) {
    // Strings are no numbers, whatever their shape.
    dtypes[i] = tl_array_dtype(operands[i].array);
    if (dtypes[i] >= TL_STRING)
      return wrong_kinds(vm, operands);
  }
  *result = tl_dtype_promote(dtypes[0], dtypes[1]);
  *compute = *result == TL_BOOL ? TL_INT64 : tl_compute_dtype(*result);
  return true;
}

// Converts an operand if need be; what it owned is dropped.
static bool converted(tl_vm *vm, tl_slot *s, tl_dtype dtype) {
  if (tl_array_dtype(s->array) == dtype)
    return true;
  tl_array *cast = tl_array_cast(vm, s->array, dtype);
  if (!cast)
    return false;
  return tl_replace(vm, s, tl_own_array(cast));
}

// The product of two arrays. The plan is made twice: before the conversion, so
// that shapes that do not fit fail first, and after it, for the addresses.
static bool multiply(tl_vm *vm, tl_slot *operands, tl_slot *out) {
  product p;
  tl_dtype compute = TL_FLOAT64, result = TL_FLOAT64;
  if (!product_dtypes(vm, operands, &compute, &result) ||
      !plan(vm, operands, &p) || !converted(vm, &operands[0], compute) ||
      !converted(vm, &operands[1], compute) || !plan(vm, operands, &p))
    return false;
  // The shape of the stack, followed by the axes of the matrices that are
  // left.
  tl_array *c = tl_array_new(vm, compute, p.out_ndim, p.shape);
  if (!c)
    return false;
  bool ok = tl_matmul_stack(vm, compute, c->data, p.ndim, p.shape, &p.a, &p.b,
                            p.m, p.n, p.k);
  if (ok && result != compute) {
    tl_array *cast = tl_array_cast(vm, c, result);
    tl_drop(vm, tl_own_array(c));
    c = cast;
  }
  return tl_result_finish(vm, ok, c, out);
}

// Whether the operands are two vectors of one dtype of numbers, whose product
// needs no array.
static bool is_dot(const tl_slot *operands) {
  if (!tl_is_array(operands[0]) || !tl_is_array(operands[1]))
    return false;
  const tl_array *a = operands[0].array, *b = operands[1].array;
  return tl_ndim(a) == 1 && tl_ndim(b) == 1 && a->head.dtype == b->head.dtype &&
         a->head.dtype != TL_BOOL && a->head.dtype != TL_FLOAT16 &&
         a->head.dtype < TL_COMPLEX128 && tl_shape(a)[0] == tl_shape(b)[0];
}

// The product of two vectors as a scalar.
static bool dot(tl_vm *vm, const tl_slot *operands, tl_slot *out) {
  const tl_array *a = operands[0].array, *b = operands[1].array;
  const tl_dtype dtype = tl_array_dtype(a);
  // The largest dtype has 16 bytes.
  _Alignas(16) char item[16];
  if (!tl_matmul_dot(vm, dtype, item, a->data, tl_strides(a)[0], b->data,
                     tl_strides(b)[0], tl_shape(a)[0]))
    return false;
  *out = tl_scalar_load(dtype, item);
  return true;
}

// Two vectors first, which need no arrays for operands or result; ranges and
// scalars become arrays for the others.
bool tl_matmul(tl_vm *vm, tl_slot *operands, tl_slot *out) {
  if (is_dot(operands))
    return dot(vm, operands, out);
  tl_slot arrays[2];
  // Only what was made is dropped: arrays themselves are borrowed.
  int made = 0;
  for (int i = 0; i < 2; i++)
    if (!tl_is_array(operands[i]) && !tl_is_scalar(operands[i]) &&
        !tl_is_range(operands[i]))
      return wrong_kinds(vm, operands);
  while (made < 2 && tl_as_array(vm, "@", operands[made], &arrays[made]))
    made++;
  bool ok = made == 2 && multiply(vm, arrays, out);
  while (made > 0) tl_drop(vm, arrays[--made]);
  return ok;
}
