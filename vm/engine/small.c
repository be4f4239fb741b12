// Operations on up to TL_SMALL_ITEMS items of one or two axes, without a plan:
// operands that are no plain run of items go through buffers on the stack.
//
//   strided     x[::2], m.T       packed
//   broadcast   c of m + c        repeated
//   converted   i of i + f        cast, in the general way alone
//

#include "vm/engine/engine_internal.h"

// By name, two in a line; what is not here has TL_SHORT_NONE.
#define SAME TL_SHORT_SAME
#define BOOL TL_SHORT_BOOL
#define TEST TL_SHORT_CHECKED
const uint8_t tl_short_kinds[TL_OP_COUNT] = {
    [TL_OP_ADD] = SAME,          [TL_OP_SUBTRACT] = SAME,
    [TL_OP_MULTIPLY] = SAME,     [TL_OP_DIVIDE] = SAME,
    [TL_OP_MAXIMUM] = SAME,      [TL_OP_MINIMUM] = SAME,
    [TL_OP_BITWISE_AND] = SAME,  [TL_OP_BITWISE_OR] = SAME,
    [TL_OP_BITWISE_XOR] = SAME,  [TL_OP_LOGICAL_AND] = SAME,
    [TL_OP_LOGICAL_OR] = SAME,   [TL_OP_LOGICAL_XOR] = SAME,
    [TL_OP_ATAN2] = SAME,        [TL_OP_HYPOT] = SAME,
    [TL_OP_COPYSIGN] = SAME,     [TL_OP_NEXTAFTER] = SAME,
    [TL_OP_LOGADDEXP] = SAME,    [TL_OP_WHERE] = SAME,
    [TL_OP_EQUAL] = BOOL,        [TL_OP_NOT_EQUAL] = BOOL,
    [TL_OP_LESS] = BOOL,         [TL_OP_LESS_EQUAL] = BOOL,
    [TL_OP_GREATER] = BOOL,      [TL_OP_GREATER_EQUAL] = BOOL,
    [TL_OP_FLOOR_DIVIDE] = TEST, [TL_OP_REMAINDER] = TEST,
    [TL_OP_LEFT_SHIFT] = TEST,   [TL_OP_RIGHT_SHIFT] = TEST,
    [TL_OP_POW] = TEST,
};
#undef SAME
#undef BOOL
#undef TEST

// Of integers those that fit are items of the array's dtype; a strong scalar
// has to have that dtype, as it may change the result's otherwise.
bool tl_scalar_item(tl_slot s, tl_dtype dtype, uint64_t *item) {
  int from = tl_dtype_of(s);
  if ((s.tag & (TL_CLASS_I64 | TL_CLASS_F64)) == 0)
    return false;
  if ((int)dtype == from) {
    *item = s.u;
    return true;
  }
  if (!tl_is_weak(s))
    return false;
  if (dtype == TL_FLOAT64) {
    double value = from == TL_FLOAT64 ? s.f : (double)s.i;
    memcpy(item, &value, sizeof value);
    return true;
  }
  if (dtype == TL_FLOAT32) {
    float value = from == TL_FLOAT64 ? (float)s.f : (float)s.i;
    memcpy(item, &value, sizeof value);
    return true;
  }
  if (from != TL_INT64 || !tl_dtype_is_integer(dtype) ||
      !tl_int_fits(s.i, dtype))
    return false;
  tl_kernels()->cast[TL_INT64][dtype](item, &s.i, 1);
  return true;
}

const char *tl_small_items(const tl_array *a, const int64_t *dims,
                           tl_small_buffer buffer) {
  const int last = tl_ndim(a) - 1;
  const int64_t *strides = tl_strides(a);
  const int64_t itemsize = (int64_t)tl_itemsize(tl_array_dtype(a));
  const unsigned size = tl_move_size((size_t)itemsize);
  const tl_kernel_table *kernels = tl_kernels();
  // An axis of one item is read again for each place of the result's.
  const int64_t column = a->dims[last] == dims[1] ? strides[last] : 0;
  const int64_t row = last > 0 && a->dims[0] == dims[0] ? strides[0] : 0;
  if ((dims[1] == 1 || column == itemsize) &&
      (dims[0] == 1 || row == dims[1] * itemsize))
    return a->data;
  if (dims[0] == 1)
    kernels->pack[size](buffer, a->data, column, (size_t)dims[1]);
  else if (dims[1] == 1)
    kernels->pack[size](buffer, a->data, row, (size_t)dims[0]);
  else
    kernels->pack_tile[size](buffer, dims[1] * itemsize, a->data, row, column,
                             (size_t)dims[0], (size_t)dims[1]);
  return buffer;
}

// A scalar is repeated, since kernels of two arrays are called; what has
// another dtype is cast behind its packing.
void tl_run_small(tl_op op, const tl_operand *x, const tl_typing *typing,
                  tl_array *target) {
  const tl_kernel_table *kernels = tl_kernels();
  _Alignas(64) tl_small_buffer items[TL_MAX_OPERANDS];
  _Alignas(64) tl_small_buffer converted[TL_MAX_OPERANDS];
  const char *in[TL_MAX_OPERANDS];
  const size_t n = (size_t)target->size;
  const int64_t *shape = tl_shape(target);
  const int64_t dims[2] = {tl_ndim(target) == 2 ? shape[0] : 1,
                           shape[tl_ndim(target) - 1]};
  for (int i = 0; i < tl_ops[op].arity; i++) {
    // Buffers are per operand, since kernels may not overlap their inputs.
    const tl_dtype from = x[i].dtype, to = typing->operands[i];
    if (x[i].array == NULL) {  // converted when dtypes were decided
      in[i] = items[i];
      kernels->fill[tl_move_size(tl_itemsize(to))](items[i], x[i].data, n);
      continue;
    }
    in[i] = tl_small_items(x[i].array, dims, items[i]);
    if (from == to)
      continue;
    kernels->cast[from][to](converted[i], in[i], n);
    in[i] = converted[i];
  }
  tl_call_kernel(op, typing, target->data, in, n);
}

// --- Operands of one dtype --------------------------------------------------

#define INLINE static inline __attribute__((always_inline))

// What an operation on small arrays reads and makes.
typedef struct small {
  tl_op op;
  int arity, ndim;
  tl_slot *x;
  tl_dtype dtype, result;           // of the operands but a mask
  int64_t dims[2], n;               // of the result, 1 in front of a vector's
  int scalar;                       // the operand that is one; -1: none is
  uint64_t item;                    // its value, of the dtype
  const void *in[TL_MAX_OPERANDS];  // the items of all, in rows
} small;

// Joins the length of an axis to the result's; false where they differ.
INLINE bool join_dim(int64_t *dim, int64_t own) {
  if (*dim == 1)
    *dim = own;
  return own == 1 || own == *dim;
}

// Joins an operand's shape to the result's; false where it does not broadcast
// or has other axes than one or two. In front of a vector is one row.
INLINE bool join_shape(small *s, const tl_array *a) {
  const int ndim = tl_ndim(a);
  if ((unsigned)ndim - 1 > 1 || a->size > TL_SMALL_ITEMS)
    return false;
  const int64_t rows = ndim == 2 ? a->dims[0] : 1, columns = a->dims[ndim - 1];
  if (s->ndim == 0) {
    s->dims[0] = rows;
    s->dims[1] = columns;
  } else if (rows != s->dims[0] || columns != s->dims[1]) {
    if (!join_dim(&s->dims[0], rows) || !join_dim(&s->dims[1], columns))
      return false;
  }
  if (ndim > s->ndim)
    s->ndim = ndim;
  return true;
}

// Whether all operands are arrays of one dtype, but for a mask in front and for
// one scalar, which is no mask.
INLINE bool read_operands(small *s) {
  int dtype = -1;
  for (int i = s->arity - 1; i >= 0; i--) {
    const tl_slot x = s->x[i];
    const bool is_mask = s->arity == 3 && i == 0;
    if (!tl_is_array(x)) {
      if (s->scalar >= 0 || s->arity == 1 || is_mask)
        return false;
      s->scalar = i;
      continue;
    }
    if (is_mask ? tl_dtype_of(x) != TL_BOOL
                : dtype >= 0 && tl_dtype_of(x) != dtype)
      return false;
    if (!is_mask)
      dtype = tl_dtype_of(x);
    if (!join_shape(s, x.array))
      return false;
  }
  s->dtype = (tl_dtype)dtype;
  s->n = s->dims[0] * s->dims[1];
  return dtype >= 0 && dtype < TL_STRING && s->n <= TL_SMALL_ITEMS &&
         (s->scalar < 0 || tl_scalar_item(s->x[s->scalar], s->dtype, &s->item));
}

// Whether the items on the right are refused, zeros of divisors and negative
// powers and shifts of integers: the general way says so then. Complex powers
// have a way of their own, and bools are computed as bytes.
static bool is_refused(const small *s) {
  if (tl_short_kinds[s->op] != TL_SHORT_CHECKED)
    return false;
  if (!tl_dtype_is_integer(s->dtype))
    return !tl_dtype_is_real(s->dtype);
  tl_check *check = tl_op_check(s->op, s->dtype);
  return check != NULL &&
         (s->scalar == 1 ? check(&s->item, 1) : check(s->in[1], (size_t)s->n));
}

// x ** 2 and its like as what they are: one operand less.
static void simplify_power(small *s) {
  tl_operand exponent = {.dtype = s->dtype};
  if (s->op != TL_OP_POW || s->scalar != 1)
    return;
  memcpy(&exponent.item, &s->item, sizeof s->item);
  s->op = tl_power_form(&exponent, s->dtype);
  if (s->op == TL_OP_POW)
    return;
  s->arity = 1;
  s->scalar = -1;
}

// The memory of an operand that ends here, else a new array. NULL: the general
// way decides, be it for want of memory, and nothing has happened.
INLINE tl_array *small_target(tl_vm *vm, small *s) {
  const int64_t *shape = s->dims + 2 - s->ndim;
  int first = -1;
  for (int i = s->arity - 1; i >= 0; i--) {
    if (i == s->scalar)
      continue;
    const tl_array *a = s->x[i].array;
    first = i;
    if (!tl_is_owned(s->x[i]) ||
        !tl_can_reuse(vm, s->x[i], s->result, s->ndim, shape))
      continue;
    // What was packed lies elsewhere.
    for (int k = 0; k < s->arity; k++)
      if (k != i && k != s->scalar && s->in[k] == s->x[k].array->data &&
          tl_array_owner(s->x[k].array) == a)
        return NULL;
    return s->in[i] == a->data
               ? tl_reuse(vm, &s->x[i], s->result, s->ndim, shape)
               : NULL;
  }
  tl_array *made = tl_array_new(vm, s->result, s->ndim, shape);
  if (made == NULL)
    tl_error_clear(vm);
  else
    tl_count_rejection(vm, s->x[first], s->result, s->ndim, shape);
  return made;
}

// In this order: what may fail or has no kernel is left to the general way
// before anything is written; items are packed before the target is taken, as
// they may lie in it.
//
//   x - x[::-1]    where x ends here: the reversed items in a buffer, then the
//                  difference over those of x
bool tl_small(tl_vm *vm, tl_op op, tl_slot *x, tl_slot *out) {
  small s;
  s.op = op;
  s.arity = tl_ops[op].arity;
  s.ndim = 0;
  s.dims[0] = s.dims[1] = 1;
  s.x = x;
  s.scalar = -1;
  const tl_short_kind kind = (tl_short_kind)tl_short_kinds[op];
  if ((kind == TL_SHORT_NONE && s.arity > 1) || !read_operands(&s))
    return false;
  // Unary operations say themselves what they give.
  s.result = s.arity == 1            ? tl_op_result(op, s.dtype)
             : kind == TL_SHORT_BOOL ? TL_BOOL
                                     : s.dtype;
  simplify_power(&s);
  _Alignas(64) tl_small_buffer items[TL_MAX_OPERANDS];
  const tl_kernel_table *kernels = tl_kernels();
  const unsigned size = tl_move_size(tl_itemsize(s.dtype));
  tl_kernel1 *one = s.arity == 1 ? kernels->unary[s.op][s.dtype] : NULL;
  tl_kernel2 *two = s.arity != 2    ? NULL
                    : s.scalar < 0  ? kernels->binary[s.op][s.dtype]
                    : s.scalar == 0 ? kernels->binary_sv[s.op][s.dtype]
                                    : kernels->binary_vs[s.op][s.dtype];
  if (s.scalar >= 0)
    s.in[s.scalar] = &s.item;
  if (s.scalar >= 0 && two == NULL) {
    // No kernel takes the scalar: it is repeated for the one of arrays.
    kernels->fill[size](items[s.scalar], &s.item, (size_t)s.n);
    s.in[s.scalar] = items[s.scalar];
    two = s.arity == 2 ? kernels->binary[s.op][s.dtype] : NULL;
  }
  if (s.arity < 3 && one == NULL && two == NULL)
    return false;
  for (int i = 0; i < s.arity; i++)
    if (i != s.scalar)
      s.in[i] = tl_small_items(x[i].array, s.dims, items[i]);
  tl_array *target = is_refused(&s) ? NULL : small_target(vm, &s);
  if (target == NULL)
    return false;
  if (two != NULL)
    two(target->data, s.in[0], s.in[1], (size_t)s.n);
  else if (one != NULL)
    one(target->data, s.in[0], (size_t)s.n);
  else
    kernels->select[size](target->data, s.in[0], s.in[1], s.in[2], (size_t)s.n);
  *out = tl_own_array(target);
  return true;
}
