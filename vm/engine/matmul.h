// Matrix products: the operator @ and matmul. tl_matmul finds shapes and
// dtypes; tl_matmul_stack chooses for each product between the kernels, a
// loaded BLAS, and the loops with a vector.
#pragma once

#include "vm/array/array.h"

// operands[0] @ operands[1], with promotion. The last two axes are matrices,
// the others broadcast; a vector is a row on the left and a column on the
// right, and that axis is not in the result. Operands stay as they are; *out
// is owned.
//
//   3 * 4  @  4 * 2      3 * 2
//   4      @  4          a scalar
//   5 * 3 * 4  @  4      5 * 3
//   3 * 4  @  3          false, kind shape
bool tl_matmul(tl_vm *vm, tl_slot *operands, tl_slot *out);

// One operand of a stack of products: where its matrices lie. A stride of 0
// repeats a matrix.
//
//   5 * 3 * 4 dense, float64        row 32, column 8, strides 96
//   the same, each transposed       row 8, column 32, strides 96
//   one 3 * 4 for all five          row 32, column 8, strides 0
typedef struct tl_matrices {
  const char *data;
  int64_t row, column;           // bytes between rows, between columns
  int64_t strides[TL_MAX_DIMS];  // between the matrices of the stack
} tl_matrices;

// out = a @ b for every matrix of a stack of this shape: m * k by k * n items
// of [dtype]; out is dense. Polls between blocks of a product; false where the
// VM was stopped or memory is short. A matrix times its own transpose, as
// views of one block, takes half the work and is exactly symmetric.
bool tl_matmul_stack(tl_vm *vm, tl_dtype dtype, char *out, int ndim,
                     const int64_t *shape, const tl_matrices *a,
                     const tl_matrices *b, int64_t m, int64_t n, int64_t k);

// item = sum of a[i] * b[i]: as the product of a row and a column, without an
// array for the result. Vectors of k items, strides in bytes.
// [item] has room for one of [dtype]. False where the VM was stopped.
bool tl_matmul_dot(tl_vm *vm, tl_dtype dtype, char *item, const char *a,
                   int64_t a_stride, const char *b, int64_t b_stride,
                   int64_t k);
