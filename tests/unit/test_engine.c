// Elementwise operations: promotion, any layout against a naive reference,
// reuse of dying operands, and errors that leave operands as they were.
#include "tests/unit/fixture.h"

#include <math.h>
#include <stdio.h>

#include "vm/engine/engine.h"
#include "vm/kernels/kernels.h"
#include "vm/array/range.h"

// --- Helpers ----------------------------------------------------------------

static tl_slot vector(tl_vm *vm, tl_dtype dtype, int64_t n,
                      const double *values) {
  tl_array *a = tl_array_new(vm, dtype, 1, &n);
  assert_non_null(a);
  for (int64_t i = 0; i < n; i++) {
    tl_kernels()->cast[TL_FLOAT64][dtype](
        a->data + (size_t)i * tl_itemsize(dtype), &values[i], 1);
  }
  return tl_own_array(a);
}

static const double small[] = {1, 2, 3, 4, 5, 6, 7, 8};

static double real_item(tl_dtype dtype, const char *item) {
  tl_c128 value;
  tl_kernels()->cast[dtype][TL_COMPLEX128](&value, item, 1);
  return value.re;
}

// The item at a row-major position.
static double item_at(const tl_array *a, int64_t position) {
  const char *item = a->data;
  for (int i = tl_ndim(a) - 1; i >= 0; i--) {
    item += tl_strides(a)[i] * (position % tl_shape(a)[i]);
    position /= tl_shape(a)[i];
  }
  return real_item(tl_array_dtype(a), item);
}

static tl_slot borrowed(tl_slot s) {
  return tl_borrow(s);
}

static tl_slot apply2(tl_vm *vm, tl_op op, tl_slot a, tl_slot b) {
  tl_slot operands[] = {a, b}, out = tl_none();
  if (!tl_elementwise(vm, op, operands, &out)) {
    printf("%s\n", vm->error.message);
    fail();
  }
  if (tl_is_owned(operands[0]))
    tl_drop(vm, operands[0]);
  if (tl_is_owned(operands[1]))
    tl_drop(vm, operands[1]);
  return out;
}

static bool fails2(tl_vm *vm, tl_op op, tl_slot a, tl_slot b) {
  tl_slot operands[] = {a, b}, out = tl_none();
  bool failed = !tl_elementwise(vm, op, operands, &out);
  assert_int_equal(operands[0].tag, a.tag);
  assert_int_equal(operands[1].tag, b.tag);
  return failed;
}

// --- Promotion --------------------------------------------------------------

// NumPy 2's table, rows and columns in the order of the enum; b is bool, then
// i I l q: int8 … int64, u U L Q: uint8 …, e f d: floats, F D: complex.
static const char letters[] = "biIlquULQefdFD";
static const char *const promotions[] = {
    "biIlquULQefdFD", "iiIlqIlqdefdFD", "IIIlqIlqdffdFD", "llllqllqddddDD",
    "qqqqqqqqddddDD", "uIIlquULQefdFD", "UlllqUULQffdFD", "LqqqqLLLQdddDD",
    "QddddQQQQdddDD", "eefddefddefdFD", "fffddffddffdFD", "ddddddddddddDD",
    "FFFDDFFDDFFDFD", "DDDDDDDDDDDDDD",
};

static tl_dtype expected_promotion(int a, int b) {
  return (tl_dtype)(strchr(letters, promotions[a][b]) - letters);
}

static void typed_dtypes_promote_as_in_numpy(void **state) {
  tl_vm *vm = *state;
  for (int a = TL_INT8; a < TL_STRING; a++) {
    for (int b = TL_BOOL; b < TL_STRING; b++) {
      tl_slot out = apply2(vm, TL_OP_ADD, vector(vm, (tl_dtype)a, 3, small),
                           vector(vm, (tl_dtype)b, 3, small));
      if (tl_dtype_of(out) != (int)expected_promotion(a, b)) {
        printf("%s + %s gave %s\n", tl_dtypes[a].name, tl_dtypes[b].name,
               tl_dtypes[tl_dtype_of(out)].name);
        fail();
      }
      double second = b == TL_BOOL ? 1 : 2;
      assert_true(item_at(out.array, 1) == 2 + second);
      tl_drop(vm, out);
    }
  }
}

static void weak_scalars_take_the_other_dtype(void **state) {
  tl_vm *vm = *state;
  for (int a = TL_BOOL; a < TL_STRING; a++) {
    tl_slot out = apply2(vm, TL_OP_ADD, vector(vm, (tl_dtype)a, 3, small),
                         tl_weak_int(3));
    int want = a == TL_BOOL ? (int)TL_INT64 : a;
    assert_int_equal(tl_dtype_of(out), want);
    assert_true(item_at(out.array, 0) == 4);
    tl_drop(vm, out);
    out = apply2(vm, TL_OP_MULTIPLY, tl_weak_float(0.5),
                 vector(vm, (tl_dtype)a, 3, small));
    want = a < TL_FLOAT16 ? (int)TL_FLOAT64 : a;
    assert_int_equal(tl_dtype_of(out), want);
    assert_true(item_at(out.array, 0) == 0.5);
    tl_drop(vm, out);
  }
}

static void typed_scalars_promote_like_arrays(void **state) {
  tl_vm *vm = *state;
  tl_slot out =
      apply2(vm, TL_OP_ADD, vector(vm, TL_FLOAT32, 3, small), tl_float(1));
  assert_int_equal(tl_dtype_of(out), TL_FLOAT64);
  tl_drop(vm, out);
  out = apply2(vm, TL_OP_ADD, vector(vm, TL_INT8, 3, small), tl_int(300));
  assert_int_equal(tl_dtype_of(out), TL_INT64);
  assert_true(item_at(out.array, 0) == 301);
  tl_drop(vm, out);
}

static void weak_scalars_stay_weak_together(void **state) {
  tl_vm *vm = *state;
  tl_slot out = apply2(vm, TL_OP_ADD, tl_weak_int(1), tl_weak_float(0.5));
  assert_true(tl_is_weak(out) && out.f == 1.5);
  out = apply2(vm, TL_OP_ADD, tl_weak_int(1), tl_int(2));
  assert_true(!tl_is_weak(out) && out.i == 3);
  out = apply2(vm, TL_OP_LESS, tl_weak_int(1), tl_weak_int(2));
  assert_true(!tl_is_weak(out) && tl_is_bool(out) && out.i == 1);
  out = apply2(vm, TL_OP_POW, tl_weak_int(10), tl_weak_int(-3));
  assert_true(tl_is_weak(out) && fabs(out.f - 1e-3) < 1e-18);
  out = apply2(vm, TL_OP_DIVIDE, tl_weak_int(1), tl_weak_int(2));
  assert_true(tl_is_weak(out) && out.f == 0.5);
}

static void simple_powers_are_exact(void **state) {
  tl_vm *vm = *state;
  static const double powers[] = {1, 2, -1, 0.5, 3};
  for (int n = 2; n <= 8; n += 6) {
    for (int i = 0; i < 5; i++) {
      tl_slot x = vector(vm, TL_FLOAT64, n, small);
      tl_slot out =
          apply2(vm, TL_OP_POW, borrowed(x), tl_weak_float(powers[i]));
      tl_slot one =
          apply2(vm, TL_OP_POW, tl_float(2), tl_weak_float(powers[i]));
      assert_true(item_at(out.array, 1) == pow(2, powers[i]));
      assert_true(one.f == pow(2, powers[i]));
      tl_drop(vm, out);
      out = apply2(vm, TL_OP_POW, x, tl_weak_float(powers[i]));
      assert_true(item_at(out.array, 1) == pow(2, powers[i]));
      tl_drop(vm, out);
    }
  }
  tl_slot out = apply2(vm, TL_OP_POW, tl_weak_int(7), tl_weak_int(2));
  assert_true(out.i == 49 && tl_is_weak(out));
  out = apply2(vm, TL_OP_POW, vector(vm, TL_INT8, 8, small), tl_weak_int(2));
  assert_int_equal(tl_dtype_of(out), TL_INT8);
  assert_true(item_at(out.array, 7) == 64);
  tl_drop(vm, out);
}

static void a_weak_integer_must_fit(void **state) {
  tl_vm *vm = *state;
  tl_slot x = vector(vm, TL_INT8, 3, small);
  assert_true(fails2(vm, TL_OP_ADD, x, tl_weak_int(300)));
  assert_string_equal(failure(vm, TALLY_ERR_VALUE), "300 does not fit int8");
  tl_error_clear(vm);
  tl_slot out = apply2(vm, TL_OP_LESS, x, tl_weak_int(300));
  assert_true(item_at(out.array, 0) == 1);
  tl_drop(vm, out);
}

static void mixed_integers_compare_exactly(void **state) {
  tl_vm *vm = *state;
  uint64_t top = UINT64_MAX;
  tl_slot u = tl_scalar_load(TL_UINT64, &top);
  assert_true(apply2(vm, TL_OP_LESS, tl_int(-1), u).i == 1);
  assert_true(apply2(vm, TL_OP_EQUAL, u, tl_int(-1)).i == 0);
  assert_true(apply2(vm, TL_OP_GREATER, u, tl_weak_int(-1)).i == 1);
  int64_t n = 2;
  tl_array *a = tl_array_new(vm, TL_UINT64, 1, &n);
  ((uint64_t *)(void *)a->data)[0] = (UINT64_C(1) << 63) + 1;
  ((uint64_t *)(void *)a->data)[1] = 5;
  tl_slot out = apply2(vm, TL_OP_GREATER, tl_own_array(a), tl_int(INT64_MAX));
  assert_true(item_at(out.array, 0) == 1 && item_at(out.array, 1) == 0);
  tl_drop(vm, out);
}

static void every_operation_takes_or_refuses_every_dtype(void **state) {
  tl_vm *vm = *state;
  for (int op = 0; op < TL_OP_COUNT; op++) {
    for (int a = TL_BOOL; a < TL_STRING; a++) {
      for (int b = TL_BOOL; b < TL_STRING; b++) {
        for (int scalar = 0; scalar < 2; scalar++) {
          tl_slot x[3] = {vector(vm, (tl_dtype)a, 3, small),
                          vector(vm, (tl_dtype)b, 3, small),
                          vector(vm, (tl_dtype)a, 3, small)};
          tl_slot operands[3], out;
          if (op == TL_OP_WHERE) {
            tl_drop(vm, x[0]);
            x[0] = vector(vm, TL_BOOL, 3, small);
          }
          for (int i = 0; i < 3; i++) {
            operands[i] = tl_borrow(x[i]);
            if (scalar)
              operands[i] = tl_item(vm, x[i].array, x[i].array->data);
          }
          if (tl_elementwise(vm, (tl_op)op, operands, &out)) {
            tl_clear(vm, &out);
          } else {
            assert_int_equal(vm->error.status, TALLY_ERR_TYPE);
            tl_error_clear(vm);
          }
          for (int i = 0; i < 3; i++) {
            if (scalar)
              tl_clear(vm, &operands[i]);
            tl_drop(vm, x[i]);
          }
        }
      }
    }
  }
}

// --- Layouts ----------------------------------------------------------------

static uint32_t seed = 1;
static int64_t chance(int64_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (int64_t)((seed >> 8) % (uint32_t)n);
}

// A random view of [shape] in a random layout: transposed, reversed, stepped,
// with axes repeated or left out for broadcasting.
static tl_slot random_view(tl_vm *vm, tl_dtype dtype, int ndim,
                           const int64_t *shape, tl_slot *base) {
  int64_t full[TL_MAX_DIMS], strides[TL_MAX_DIMS], lengths[TL_MAX_DIMS];
  int order[TL_MAX_DIMS], dropped = (int)chance(4) == 0 ? (int)chance(ndim) : 0;
  int kept = ndim - dropped;
  for (int i = 0; i < kept; i++) order[i] = i;
  for (int i = kept - 1; i > 0 && chance(2); i--) {
    int j = (int)chance(i + 1), swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  int64_t steps[TL_MAX_DIMS];
  for (int i = 0; i < kept; i++) {
    int64_t length = shape[dropped + i];
    if (chance(6) == 0)
      length = 1;
    lengths[i] = length;
    steps[i] = chance(3) == 0 ? 1 + chance(3) : 1;
  }
  for (int i = 0; i < kept; i++) full[i] = lengths[order[i]] * steps[order[i]];
  tl_array *a = tl_array_new(vm, dtype, kept, full);
  for (int64_t i = 0; i < a->size; i++) {
    double value = (double)(1 + chance(50));
    tl_kernels()->cast[TL_FLOAT64][dtype](
        a->data + (size_t)i * tl_itemsize(dtype), &value, 1);
  }
  char *data = a->data;
  for (int i = 0; i < kept; i++) {
    int axis = order[i];
    strides[axis] = tl_strides(a)[i] * steps[axis];
    if (chance(3) == 0) {
      data += (lengths[axis] - 1) * strides[axis];
      strides[axis] = -strides[axis];
    } else if (chance(8) == 0) {
      strides[axis] = 0;
    }
  }
  *base = tl_own_array(a);
  tl_slot lent = tl_borrow(*base);
  tl_array *view = tl_view_new(vm, &lent, dtype, data, kept, lengths, strides);
  assert_non_null(view);
  return tl_own_array(view);
}

static double reference(tl_op op, double a, double b) {
  switch (op) {
    case TL_OP_ADD:
      return a + b;
    case TL_OP_SUBTRACT:
      return a - b;
    case TL_OP_MULTIPLY:
      return a * b;
    case TL_OP_MAXIMUM:
      return a > b ? a : b;
    case TL_OP_LESS:
      return a < b;
    case TL_OP_FLOOR_DIVIDE:
      return floor(a / b);
    default:
      return a / b;
  }
}

static double broadcast_item(const tl_array *a, int ndim, const int64_t *shape,
                             int64_t position) {
  const char *item = a->data;
  int64_t strides[TL_MAX_DIMS];
  tl_broadcast_strides(a, ndim, shape, strides);
  for (int i = ndim - 1; i >= 0; i--) {
    item += strides[i] * (position % shape[i]);
    position /= shape[i];
  }
  return real_item(tl_array_dtype(a), item);
}

static void any_layout_gives_the_reference(void **state) {
  tl_vm *vm = *state;
  static const tl_op ops[] = {TL_OP_ADD,         TL_OP_SUBTRACT, TL_OP_MULTIPLY,
                              TL_OP_MAXIMUM,     TL_OP_LESS,     TL_OP_DIVIDE,
                              TL_OP_FLOOR_DIVIDE};
  static const tl_dtype dtypes[] = {TL_FLOAT64, TL_FLOAT32, TL_INT64, TL_INT32,
                                    TL_FLOAT64};
  static const int64_t sizes[] = {1, 2, 3, 5, 8, 70, 300};
  for (int round = 0; round < 3000; round++) {
    int ndim = 1 + (int)chance(4);
    int64_t shape[TL_MAX_DIMS], size = 1;
    for (int i = 0; i < ndim; i++) {
      shape[i] = sizes[chance(7)];
      while (size * shape[i] > 20000) shape[i] = 1 + chance(3);
      size *= shape[i];
    }
    tl_slot base[2], x[2], out;
    for (int i = 0; i < 2; i++) {
      x[i] = random_view(vm, dtypes[chance(5)], ndim, shape, &base[i]);
    }
    tl_op op = ops[chance(7)];
    tl_slot operands[2] = {tl_borrow(x[0]), tl_borrow(x[1])};
    assert_true(tl_elementwise(vm, op, operands, &out));
    tl_array *result = out.array;
    assert_true(tl_is_array(out));
    bool exact = op != TL_OP_DIVIDE;
    for (int64_t k = 0; k < result->size; k++) {
      double want = reference(
          op, broadcast_item(x[0].array, tl_ndim(result), tl_shape(result), k),
          broadcast_item(x[1].array, tl_ndim(result), tl_shape(result), k));
      double got = item_at(result, k);
      if (exact ? want != got : fabs(want - got) > 1e-6 * fabs(want)) {
        printf("round %d, op %s, item %ld: %g for %g\n", round, tl_ops[op].name,
               (long)k, got, want);
        fail();
      }
    }
    tl_drop(vm, out);
    for (int i = 0; i < 2; i++) {
      tl_drop(vm, x[i]);
      tl_drop(vm, base[i]);
    }
  }
}

static void where_selects_in_any_layout(void **state) {
  tl_vm *vm = *state;
  for (int round = 0; round < 500; round++) {
    int ndim = 1 + (int)chance(3);
    int64_t shape[TL_MAX_DIMS];
    for (int i = 0; i < ndim; i++) shape[i] = 1 + chance(20);
    tl_slot base[3], x[3], out;
    for (int i = 0; i < 3; i++) {
      tl_dtype dtype = i == 0 ? TL_INT32 : i == 1 ? TL_FLOAT32 : TL_INT16;
      x[i] = random_view(vm, dtype, ndim, shape, &base[i]);
    }
    tl_slot mask = apply2(vm, TL_OP_LESS, borrowed(x[0]), tl_weak_int(25));
    tl_slot operands[] = {tl_borrow(mask), tl_borrow(x[1]), tl_borrow(x[2])};
    assert_true(tl_elementwise(vm, TL_OP_WHERE, operands, &out));
    tl_array *result = out.array;
    assert_int_equal(tl_dtype_of(out), TL_FLOAT32);
    for (int64_t k = 0; k < result->size; k++) {
      int chosen =
          broadcast_item(mask.array, tl_ndim(result), tl_shape(result), k) != 0
              ? 1
              : 2;
      double want =
          broadcast_item(x[chosen].array, tl_ndim(result), tl_shape(result), k);
      assert_true(item_at(result, k) == want);
    }
    tl_drop(vm, out);
    tl_drop(vm, mask);
    for (int i = 0; i < 3; i++) {
      tl_drop(vm, x[i]);
      tl_drop(vm, base[i]);
    }
  }
}

static void ranges_are_arrays(void **state) {
  tl_vm *vm = *state;
  tl_slot out = apply2(vm, TL_OP_MULTIPLY,
                       tl_own_range(tl_range_new(vm, 0, 5, 1)), tl_weak_int(2));
  assert_int_equal(out.array->size, 5);
  assert_true(item_at(out.array, 4) == 8);
  tl_drop(vm, out);
}

static void empty_arrays_broadcast(void **state) {
  tl_vm *vm = *state;
  tl_slot out = apply2(vm, TL_OP_ADD, vector(vm, TL_FLOAT64, 0, small),
                       vector(vm, TL_INT8, 1, small));
  assert_int_equal(out.array->size, 0);
  tl_drop(vm, out);
}

// --- Reuse ------------------------------------------------------------------

static void a_dying_operand_takes_the_result(void **state) {
  tl_vm *vm = *state;
  tl_slot x = vector(vm, TL_FLOAT64, 8, small);
  uint64_t allocs = vm->stats.allocs;
  tl_slot t = apply2(vm, TL_OP_ADD, borrowed(x), borrowed(x));
  for (int i = 0; i < 4; i++) t = apply2(vm, TL_OP_ADD, borrowed(x), t);
  assert_int_equal(vm->stats.allocs - allocs, 1);
  assert_int_equal(vm->stats.inplace, 4);
  assert_int_equal(vm->stats.temps_ended, 4);
  assert_true(item_at(t.array, 7) == 48 && item_at(x.array, 7) == 8);
  tl_drop(vm, t);
  tl_drop(vm, x);
}

static void conversions_reuse_the_item_size(void **state) {
  tl_vm *vm = *state;
  tl_slot x = vector(vm, TL_INT32, 8, small), out;
  uint64_t allocs = vm->stats.allocs;
  assert_true(tl_cast(vm, &x, TL_FLOAT32, &out));
  assert_false(tl_is_owned(x));
  assert_int_equal(vm->stats.allocs, allocs);
  assert_int_equal(tl_dtype_of(out), TL_FLOAT32);
  assert_true(item_at(out.array, 2) == 3);
  // float32 temp with an int32 array of the same size: no, float64.
  out = apply2(vm, TL_OP_ADD, out, tl_weak_int(1));
  assert_int_equal(vm->stats.allocs, allocs);
  // int64 + float64: the integers' memory would serve too.
  tl_slot wide = vector(vm, TL_INT64, 8, small);
  tl_slot other = vector(vm, TL_FLOAT64, 8, small);
  allocs = vm->stats.allocs;
  tl_slot sum = apply2(vm, TL_OP_ADD, wide, borrowed(other));
  assert_int_equal(vm->stats.allocs, allocs);
  assert_int_equal(tl_dtype_of(sum), TL_FLOAT64);
  assert_true(item_at(sum.array, 7) == 16);
  tl_drop(vm, sum);
  tl_drop(vm, other);
  tl_drop(vm, out);
}

static void the_larger_operand_takes_a_broadcast(void **state) {
  tl_vm *vm = *state;
  int64_t shape[] = {3, 8};
  tl_array *a = tl_array_zeros(vm, TL_FLOAT64, 2, shape);
  uint64_t allocs = vm->stats.allocs;
  tl_slot out =
      apply2(vm, TL_OP_ADD, vector(vm, TL_FLOAT64, 8, small), tl_own_array(a));
  assert_int_equal(vm->stats.allocs - allocs, 1);
  assert_int_equal(vm->stats.inplace, 1);
  assert_true(item_at(out.array, 23) == 8);
  tl_drop(vm, out);
}

static void live_operands_are_left_alone(void **state) {
  tl_vm *vm = *state;
  tl_slot x = vector(vm, TL_FLOAT64, 8, small);
  tl_slot out = apply2(vm, TL_OP_MULTIPLY, borrowed(x), tl_weak_int(2));
  assert_int_equal(vm->stats.inplace_refused_live, 1);
  tl_drop(vm, out);
  tl_slot shared = tl_retain(vm, tl_borrow(x));
  out = apply2(vm, TL_OP_MULTIPLY, shared, tl_weak_int(2));
  assert_int_equal(vm->stats.inplace_refused_shared, 1);
  assert_true(item_at(x.array, 7) == 8);
  tl_drop(vm, out);
  vm->no_reuse = true;
  out = apply2(vm, TL_OP_MULTIPLY, x, tl_weak_int(2));
  assert_int_equal(vm->stats.inplace, 0);
  tl_drop(vm, out);
}

// Few items are packed before the target is taken, so it may be the view's.
static void a_view_of_the_target_is_read_first(void **state) {
  tl_vm *vm = *state;
  tl_slot x = vector(vm, TL_FLOAT64, 8, small), lent = tl_borrow(x);
  int64_t n = 8, back = -8;
  tl_array *reversed =
      tl_view_new(vm, &lent, TL_FLOAT64, x.array->data + 56, 1, &n, &back);
  tl_slot operands[] = {x, tl_own_array(reversed)}, out;
  assert_true(tl_elementwise(vm, TL_OP_SUBTRACT, operands, &out));
  for (int i = 0; i < 8; i++) {
    assert_true(item_at(out.array, i) == 2.0 * i - 7);
  }
  tl_drop(vm, out);
  tl_drop(vm, operands[1]);
  tl_drop(vm, operands[0]);
}

static void stopping_leaves_operands(void **state) {
  tl_vm *vm = *state;
  int64_t n = 1 << 20;
  tl_slot x = tl_own_array(tl_array_zeros(vm, TL_FLOAT64, 1, &n));
  vm->budget = 200;  // blocks of 1,024 items
  assert_true(fails2(vm, TL_OP_ADD, borrowed(x), borrowed(x)));
  failure(vm, TALLY_ERR_LIMIT);
  tl_error_clear(vm);
  vm->budget = UINT64_MAX;
  vm->interrupted = 1;  // in place: stopped before the first write
  assert_true(fails2(vm, TL_OP_ADD, x, tl_weak_int(1)));
  failure(vm, TALLY_ERR_INTERRUPT);
  assert_true(item_at(x.array, 0) == 0);
  tl_error_clear(vm);
  tl_drop(vm, x);
}

// --- Errors -----------------------------------------------------------------

static void shapes_that_differ_name_the_axis(void **state) {
  tl_vm *vm = *state;
  int64_t shape[] = {3, 4};
  tl_slot a = tl_own_array(tl_array_zeros(vm, TL_INT8, 2, shape));
  tl_slot b = vector(vm, TL_INT8, 5, small);
  assert_true(fails2(vm, TL_OP_ADD, a, b));
  assert_string_equal(
      failure(vm, TALLY_ERR_SHAPE),
      "3 * 4 * int8 and 5 * int8 do not broadcast: axis 1 is 4 against 5");
  assert_string_equal(vm->error.left, "3 * 4 * int8");
  assert_string_equal(vm->error.right, "5 * int8");
  tl_error_clear(vm);
  tl_drop(vm, a);
  tl_drop(vm, b);
}

static void integer_division_by_zero_writes_nothing(void **state) {
  tl_vm *vm = *state;
  static const double holes[] = {1, 2, 0, 4};
  tl_slot a = vector(vm, TL_INT64, 4, small),
          b = vector(vm, TL_INT64, 4, holes);
  assert_true(fails2(vm, TL_OP_FLOOR_DIVIDE, a, b));
  failure(vm, TALLY_ERR_DOMAIN);
  assert_true(item_at(a.array, 0) == 1 && item_at(a.array, 3) == 4);
  tl_error_clear(vm);
  assert_true(fails2(vm, TL_OP_REMAINDER, tl_weak_int(3), tl_weak_int(0)));
  failure(vm, TALLY_ERR_DOMAIN);
  tl_error_clear(vm);
  assert_true(fails2(vm, TL_OP_POW, a, tl_weak_int(-1)));
  failure(vm, TALLY_ERR_DOMAIN);
  tl_error_clear(vm);
  tl_drop(vm, a);
  tl_drop(vm, b);
}

static void unsupported_types_are_named(void **state) {
  tl_vm *vm = *state;
  tl_slot list = list_slot(vm, 0, NULL);
  assert_true(fails2(vm, TL_OP_ADD, list, tl_int(1)));
  const char *message = failure(vm, TALLY_ERR_TYPE);
  assert_non_null(
      strstr(message, "+ needs numbers or strings: got list and int64"));
  tl_error_clear(vm);
  assert_true(fails2(vm, TL_OP_ADD, list, list));
  assert_non_null(strstr(failure(vm, TALLY_ERR_TYPE), "concat((a, b))"));
  tl_error_clear(vm);
  assert_true(fails2(vm, TL_OP_SUBTRACT, tl_bool(true), tl_bool(true)));
  failure(vm, TALLY_ERR_TYPE);
  tl_error_clear(vm);
  assert_true(fails2(vm, TL_OP_BITWISE_AND, tl_float(1), tl_int(1)));
  failure(vm, TALLY_ERR_TYPE);
  tl_error_clear(vm);
  tl_drop(vm, list);
}

// --- Strings and equality ---------------------------------------------------

static void strings_join_and_order(void **state) {
  tl_vm *vm = *state;
  tl_slot out = apply2(vm, TL_OP_ADD, text_slot(vm, "ab"), text_slot(vm, "c"));
  assert_string_equal(out.string->text, "abc");
  tl_slot less = apply2(vm, TL_OP_LESS, borrowed(out), text_slot(vm, "abd"));
  assert_true(tl_is_bool(less) && less.i == 1);
  int64_t n = 2;
  tl_array *a = tl_array_new(vm, TL_STRING, 1, &n);
  assert_true(tl_item_store(vm, a, a->data, out));
  tl_slot words = tl_own_array(a);
  tl_slot equal = apply2(vm, TL_OP_EQUAL, borrowed(words), borrowed(out));
  assert_true(item_at(equal.array, 0) == 1 && item_at(equal.array, 1) == 0);
  tl_slot joined = apply2(vm, TL_OP_ADD, borrowed(words), borrowed(out));
  tl_slot item = tl_item(vm, joined.array, joined.array->data);
  assert_string_equal(item.string->text, "abcabc");
  tl_drop(vm, item);
  tl_drop(vm, joined);
  tl_drop(vm, equal);
  tl_drop(vm, words);
  tl_drop(vm, out);
}

static void equality_is_one_bool_elsewhere(void **state) {
  tl_vm *vm = *state;
  tl_slot ints[] = {tl_weak_int(1), tl_weak_int(2)};
  tl_slot floats[] = {tl_weak_float(1), tl_weak_float(2)};
  tl_slot a = list_slot(vm, 2, ints), b = list_slot(vm, 2, floats);
  assert_true(apply2(vm, TL_OP_EQUAL, borrowed(a), borrowed(b)).i == 1);
  assert_true(apply2(vm, TL_OP_NOT_EQUAL, a, tl_none()).i == 1);
  assert_true(apply2(vm, TL_OP_EQUAL, tl_none(), tl_none()).i == 1);
  assert_true(apply2(vm, TL_OP_EQUAL, tl_int(1), text_slot(vm, "1")).i == 0);
  tl_drop(vm, b);
}

static void scalars_are_checked_when_stored(void **state) {
  tl_vm *vm = *state;
  int8_t item;
  assert_true(tl_scalar_convert(vm, tl_weak_int(100), TL_INT8, &item));
  assert_int_equal(item, 100);
  assert_false(tl_scalar_convert(vm, tl_weak_int(300), TL_INT8, &item));
  tl_error_clear(vm);
  assert_false(tl_scalar_convert(vm, tl_weak_float(1), TL_INT8, &item));
  failure(vm, TALLY_ERR_TYPE);
  tl_error_clear(vm);
  tl_slot nan = tl_float(NAN), out;
  assert_false(tl_cast(vm, &nan, TL_INT32, &out));
  failure(vm, TALLY_ERR_VALUE);
  tl_error_clear(vm);
}

// One operation of each way through the engine; false where memory failed.
static bool operate(tl_vm *vm, int way, tl_slot x, tl_slot m, tl_slot text) {
  tl_slot operands[3] = {tl_borrow(x), tl_borrow(m), tl_none()}, out;
  bool ok;
  switch (way) {
    case 0:
      operands[1] = tl_weak_int(1);
      ok = tl_elementwise(vm, TL_OP_ADD, operands, &out);
      break;
    case 1:
      ok = tl_elementwise(vm, TL_OP_ADD, operands, &out);
      break;
    case 2: {
      tl_range *range = tl_range_new(vm, 0, 8, 1);
      if (range == NULL)
        return false;
      operands[1] = tl_own_range(range);
      ok = tl_elementwise(vm, TL_OP_MULTIPLY, operands, &out);
      tl_drop(vm, operands[1]);
      break;
    }
    case 3:
      operands[0] = operands[1] = tl_borrow(text);
      ok = tl_elementwise(vm, TL_OP_ADD, operands, &out);
      break;
    case 4:
      ok = tl_cast(vm, &operands[0], TL_COMPLEX128, &out);
      break;
    case 5:
      ok = tl_cumulative(vm, TL_REDUCE_SUM, &operands[1], 0, true,
                         TL_DTYPE_COUNT, &out);
      break;
    case 6:
      ok = tl_reduce(vm, TL_REDUCE_VAR, &operands[1], 1, false, TL_DTYPE_COUNT,
                     0, &out);
      break;
    default:
      ok = tl_reduce(vm, TL_REDUCE_ARGMAX, &operands[1], 1, false,
                     TL_DTYPE_COUNT, 0, &out);
      break;
  }
  if (ok)
    tl_clear(vm, &out);
  return ok;
}

static void no_memory_leaves_nothing_behind(void **state) {
  tl_vm *vm = *state;
  int64_t shape[] = {3, 8}, n = 2;
  tl_slot x = vector(vm, TL_FLOAT64, 8, small);
  tl_slot m = tl_own_array(tl_array_zeros(vm, TL_INT32, 2, shape));
  tl_slot text = tl_own_array(tl_array_new(vm, TL_STRING, 1, &n));
  uint64_t live = vm->stats.live, bytes = vm->stats.live_bytes;
  for (int way = 0; way < 8; way++) {
    bool done = false;
    for (uint64_t at = 1; !done; at++) {
      assert_true(at < 20);
      tl_memory_fail_at(vm, at);
      done = operate(vm, way, x, m, text);
      tl_memory_fail_at(vm, 0);
      if (!done)
        failure(vm, TALLY_ERR_MEMORY);
      tl_error_clear(vm);
      assert_int_equal(vm->stats.live, live);
      assert_int_equal(vm->stats.live_bytes, bytes);
    }
  }
  tl_drop(vm, x);
  tl_drop(vm, m);
  tl_drop(vm, text);
}

static void complex_scalars_work(void **state) {
  tl_vm *vm = *state;
  tl_slot i = tl_new_complex(vm, 0, 1, true);
  tl_slot out = apply2(vm, TL_OP_MULTIPLY, borrowed(i), borrowed(i));
  assert_true(tl_is_number(out) && tl_is_weak(out));
  assert_true(((tl_c128 *)(void *)out.array->data)->re == -1);
  tl_drop(vm, out);
  out = apply2(vm, TL_OP_ADD, vector(vm, TL_FLOAT32, 3, small), i);
  assert_int_equal(tl_dtype_of(out), TL_COMPLEX64);
  tl_drop(vm, out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(typed_dtypes_promote_as_in_numpy),
      FIXTURE_TEST(weak_scalars_take_the_other_dtype),
      FIXTURE_TEST(typed_scalars_promote_like_arrays),
      FIXTURE_TEST(weak_scalars_stay_weak_together),
      FIXTURE_TEST(simple_powers_are_exact),
      FIXTURE_TEST(a_weak_integer_must_fit),
      FIXTURE_TEST(mixed_integers_compare_exactly),
      FIXTURE_TEST(every_operation_takes_or_refuses_every_dtype),
      FIXTURE_TEST(any_layout_gives_the_reference),
      FIXTURE_TEST(where_selects_in_any_layout),
      FIXTURE_TEST(ranges_are_arrays),
      FIXTURE_TEST(empty_arrays_broadcast),
      FIXTURE_TEST(a_dying_operand_takes_the_result),
      FIXTURE_TEST(conversions_reuse_the_item_size),
      FIXTURE_TEST(the_larger_operand_takes_a_broadcast),
      FIXTURE_TEST(live_operands_are_left_alone),
      FIXTURE_TEST(a_view_of_the_target_is_read_first),
      FIXTURE_TEST(stopping_leaves_operands),
      FIXTURE_TEST(shapes_that_differ_name_the_axis),
      FIXTURE_TEST(integer_division_by_zero_writes_nothing),
      FIXTURE_TEST(unsupported_types_are_named),
      FIXTURE_TEST(strings_join_and_order),
      FIXTURE_TEST(equality_is_one_bool_elsewhere),
      FIXTURE_TEST(scalars_are_checked_when_stored),
      FIXTURE_TEST(complex_scalars_work),
      FIXTURE_TEST(no_memory_leaves_nothing_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
