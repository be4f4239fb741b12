// Operands of elementwise operations, and the dtypes they are computed in.
#pragma once

#include "vm/array/array.h"
#include "vm/elementwise.h"

enum { TL_MAX_OPERANDS = 3 };

// A number or an array of numbers, taken apart.
//
//   2.5          no array, float64, weak, data -> item
//   int32(7)     no array, int32, data -> item
//   [1, 2]       array, its dtype, data -> its items
//   0..3         made: an int64 array of 3 items, array the same
typedef struct tl_operand {
  tl_array *array;  // NULL: a scalar; its item is at data
  char *data;
  tl_slot *owner;  // the slot that may own the array
  tl_slot made;    // the array that a range was turned into, else none
  tl_dtype dtype;
  bool weak;
  tl_c128 item;  // a scalar's bytes
} tl_operand;

// Takes [slot] apart. Fails (kind memory) only for ranges; *is_number is false
// for what is no number and no array of numbers. Clear out->made of what was
// opened: the array that a range became.
bool tl_operand_open(tl_vm *vm, tl_slot *slot, tl_operand *out,
                     bool *is_number);

// The dtypes of one operation.
//
//   int8 array + 1       operands int8 and int8, computed int8, result int8
//   int8 / int8          operands float64 twice, computed float64
//   int64 < uint64       operands as they are: kernels of their own, exact
//   where(b, float32, 1) operands bool, float32 twice
typedef struct tl_typing {
  tl_dtype operands[TL_MAX_OPERANDS];  // what each operand is cast to
  tl_dtype computed;                   // where the kernel is found
  tl_dtype result;
  bool weak;  // the result is a weak scalar
} tl_typing;

// Decides the dtypes of [op] by NumPy 2's promotion. Fails with kind type
// where the operation refuses them, kind value where a weak integer does not
// fit. Scalar operands are converted to what they are cast to.
bool tl_operands_resolve(tl_vm *vm, tl_op op, tl_operand *operands,
                         const tl_slot *slots, tl_typing *out);

// What must be asked before the first write: zero divisors, negative powers
// and shifts of integers (kind domain). Operands may be broadcast later.
bool tl_operands_check(tl_vm *vm, tl_op op, const tl_operand *operands,
                       const tl_typing *typing);

// What x ** y is for a scalar exponent of 1, 2, -1 or one half, y being
// resolved: a unary operation that is exact where pow is not, and far faster.
// POW where there is none.
tl_op tl_power_form(const tl_operand *exponent, tl_dtype computed);

// Fails (kind type) saying what [op] takes and what it got.
bool tl_op_refuse(tl_vm *vm, tl_op op, const tl_slot *slots);

// How messages call it: "+", "hypot".
const char *tl_op_label(tl_op op);

// Whether an integer is one of [dtype]'s, an integer dtype.
bool tl_int_fits(int64_t value, tl_dtype dtype);
