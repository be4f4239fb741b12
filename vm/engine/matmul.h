// Matrix products: the operator @ and matmul. Shapes and dtypes are found
// first; then each product is one of the kernels', of a loaded BLAS, or of the
// loops with a vector.
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
