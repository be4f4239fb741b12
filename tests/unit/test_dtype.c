// Promotion is NumPy 2's; rules give the dtype computed in.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "vm/elementwise.h"

// NumPy 2's table (NEP 50), by short names: rows and columns in the order of
// TL_DTYPES. ? is bool; i, u, f, c are followed by bytes, g being 16.
static const char *const promotions[14] = {
    "?  i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cg",
    "i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 f4 f8 c8 cg",
    "i2 i2 i2 i4 i8 i2 i4 i8 f8 f4 f4 f8 c8 cg",
    "i4 i4 i4 i4 i8 i4 i4 i8 f8 f8 f8 f8 cg cg",
    "i8 i8 i8 i8 i8 i8 i8 i8 f8 f8 f8 f8 cg cg",
    "u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cg",
    "u2 i4 i4 i4 i8 u2 u2 u4 u8 f4 f4 f8 c8 cg",
    "u4 i8 i8 i8 i8 u4 u4 u4 u8 f8 f8 f8 cg cg",
    "u8 f8 f8 f8 f8 u8 u8 u8 u8 f8 f8 f8 cg cg",
    "f2 f2 f4 f8 f8 f2 f4 f8 f8 f2 f4 f8 c8 cg",
    "f4 f4 f4 f8 f8 f4 f4 f8 f8 f4 f4 f8 c8 cg",
    "f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 cg cg",
    "c8 c8 c8 cg cg c8 c8 cg cg c8 c8 cg c8 cg",
    "cg cg cg cg cg cg cg cg cg cg cg cg cg cg",
};
static const char short_names[] = "?  i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cg";

static tl_dtype dtype_called(const char *short_name) {
  for (tl_dtype dtype = 0; dtype < TL_STRING; dtype++)
    if (memcmp(short_names + 3 * dtype, short_name, 2) == 0)
      return dtype;
  return TL_DTYPE_COUNT;
}

static void promotion(void **state) {
  (void)state;
  for (tl_dtype a = 0; a < TL_STRING; a++) {
    for (tl_dtype b = 0; b < TL_STRING; b++) {
      tl_dtype expected = dtype_called(promotions[a] + 3 * b);
      tl_dtype got = tl_dtype_promote(a, b);
      if (got != expected)
        fail_msg("%s with %s gave %s", tl_dtypes[a].name, tl_dtypes[b].name,
                 tl_dtypes[got].name);
    }
  }
}

// What a weak int, float and complex become beside each dtype.
static void weak_promotion(void **state) {
  (void)state;
  static const char ints[] = "i8 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 cg";
  static const char floats[] = "f8 f8 f8 f8 f8 f8 f8 f8 f8 f2 f4 f8 c8 cg";
  static const char complexes[] = "cg cg cg cg cg cg cg cg cg c8 c8 cg c8 cg";
  for (tl_dtype other = 0; other < TL_STRING; other++) {
    assert_int_equal(tl_dtype_promote_weak(TL_INT64, other),
                     dtype_called(ints + 3 * other));
    assert_int_equal(tl_dtype_promote_weak(TL_FLOAT64, other),
                     dtype_called(floats + 3 * other));
    assert_int_equal(tl_dtype_promote_weak(TL_COMPLEX128, other),
                     dtype_called(complexes + 3 * other));
  }
}

static void names_and_sizes(void **state) {
  (void)state;
  static const unsigned char sizes[] = {1, 1, 2, 4, 8, 1,  2, 4,
                                        8, 2, 4, 8, 8, 16, 16};
  for (tl_dtype dtype = 0; dtype < TL_DTYPE_COUNT; dtype++) {
    const char *name = tl_dtypes[dtype].name;
    assert_int_equal(tl_itemsize(dtype), sizes[dtype]);
    assert_int_equal(tl_dtype_find(name, strlen(name)), dtype);
  }
  assert_string_equal(tl_dtypes[TL_BOOL].name, "bool");
  assert_int_equal(tl_dtypes[TL_BOOL].kind, 'B');
  assert_int_equal(tl_dtypes[TL_STRING].kind, 'S');
  assert_int_equal(tl_dtype_find("float", 5), TL_DTYPE_COUNT);
  assert_int_equal(tl_dtype_find("int81", 4), TL_INT8);
  assert_true(tl_dtype_is_numeric(TL_INT8));
  assert_false(tl_dtype_is_numeric(TL_BOOL));
  assert_false(tl_dtype_is_numeric(TL_STRING));
}

static void rules(void **state) {
  (void)state;
  static const struct {
    tl_op op;
    tl_dtype operand, computed, result;
  } cases[] = {
      {TL_OP_ADD, TL_BOOL, TL_BOOL, TL_BOOL},
      {TL_OP_ADD, TL_INT8, TL_INT8, TL_INT8},
      {TL_OP_SUBTRACT, TL_BOOL, TL_DTYPE_COUNT, 0},
      {TL_OP_DIVIDE, TL_INT8, TL_FLOAT64, TL_FLOAT64},
      {TL_OP_DIVIDE, TL_BOOL, TL_FLOAT64, TL_FLOAT64},
      {TL_OP_DIVIDE, TL_FLOAT32, TL_FLOAT32, TL_FLOAT32},
      {TL_OP_FLOOR_DIVIDE, TL_BOOL, TL_INT8, TL_INT8},
      {TL_OP_FLOOR_DIVIDE, TL_COMPLEX64, TL_DTYPE_COUNT, 0},
      {TL_OP_POW, TL_BOOL, TL_DTYPE_COUNT, 0},
      {TL_OP_MAXIMUM, TL_BOOL, TL_BOOL, TL_BOOL},
      {TL_OP_MAXIMUM, TL_COMPLEX128, TL_DTYPE_COUNT, 0},
      {TL_OP_EQUAL, TL_COMPLEX128, TL_COMPLEX128, TL_BOOL},
      {TL_OP_LESS, TL_COMPLEX128, TL_DTYPE_COUNT, 0},
      {TL_OP_LESS, TL_UINT8, TL_UINT8, TL_BOOL},
      {TL_OP_LOGICAL_AND, TL_BOOL, TL_BOOL, TL_BOOL},
      {TL_OP_LOGICAL_AND, TL_INT64, TL_DTYPE_COUNT, 0},
      {TL_OP_BITWISE_AND, TL_BOOL, TL_BOOL, TL_BOOL},
      {TL_OP_BITWISE_AND, TL_FLOAT64, TL_DTYPE_COUNT, 0},
      {TL_OP_LEFT_SHIFT, TL_BOOL, TL_DTYPE_COUNT, 0},
      {TL_OP_LEFT_SHIFT, TL_UINT16, TL_UINT16, TL_UINT16},
      {TL_OP_SQRT, TL_INT32, TL_FLOAT64, TL_FLOAT64},
      {TL_OP_SQRT, TL_COMPLEX64, TL_COMPLEX64, TL_COMPLEX64},
      {TL_OP_CBRT, TL_COMPLEX64, TL_DTYPE_COUNT, 0},
      {TL_OP_ABS, TL_COMPLEX64, TL_COMPLEX64, TL_FLOAT32},
      {TL_OP_ABS, TL_INT8, TL_INT8, TL_INT8},
      {TL_OP_REAL, TL_COMPLEX128, TL_COMPLEX128, TL_FLOAT64},
      {TL_OP_ISNAN, TL_INT8, TL_INT8, TL_BOOL},
      {TL_OP_POPCOUNT, TL_UINT8, TL_UINT8, TL_INT64},
      {TL_OP_POPCOUNT, TL_BOOL, TL_DTYPE_COUNT, 0},
      {TL_OP_SIGNBIT, TL_COMPLEX64, TL_DTYPE_COUNT, 0},
      {TL_OP_FLOOR, TL_INT8, TL_INT8, TL_INT8},
      {TL_OP_FLOOR, TL_COMPLEX64, TL_DTYPE_COUNT, 0},
      {TL_OP_ROUND, TL_COMPLEX64, TL_COMPLEX64, TL_COMPLEX64},
      {TL_OP_WHERE, TL_COMPLEX64, TL_COMPLEX64, TL_COMPLEX64},
      {TL_OP_EQUAL, TL_STRING, TL_DTYPE_COUNT, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tl_dtype computed = tl_op_compute_dtype(cases[i].op, cases[i].operand);
    if (computed != cases[i].computed)
      fail_msg("%s of %s", tl_ops[cases[i].op].name,
               tl_dtypes[cases[i].operand].name);
    if (computed != TL_DTYPE_COUNT)
      assert_int_equal(tl_op_result(cases[i].op, computed), cases[i].result);
  }
}

static void operations_are_listed(void **state) {
  (void)state;
  assert_string_equal(tl_ops[TL_OP_ADD].name, "add");
  assert_string_equal(tl_ops[TL_OP_ADD].sign, "+");
  assert_int_equal(tl_ops[TL_OP_WHERE].arity, 3);
  for (tl_op op = 0; op < TL_OP_COUNT; op++)
    assert_in_range(tl_ops[op].arity, 1, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(promotion),
      cmocka_unit_test(weak_promotion),
      cmocka_unit_test(names_and_sizes),
      cmocka_unit_test(rules),
      cmocka_unit_test(operations_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
