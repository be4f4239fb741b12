// Arrays below the language: where items lie, what a slot's tag says of them,
// and walks. What scripts see of views is in tests/lang/views.tly.
#include "tests/unit/fixture.h"

#include "vm/array/array.h"

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void test_new(void **state) {
  tl_vm *vm = *state;
  for (int dtype = 0; dtype < TL_DTYPE_COUNT; dtype++) {
    tl_array *a = tl_array_new(vm, (tl_dtype)dtype, 3, SHAPE(2, 3, 5));
    int64_t size = (int64_t)tl_itemsize((tl_dtype)dtype);
    assert_non_null(a);
    assert_int_equal(a->size, 30);
    assert_int_equal(tl_strides(a)[2], size);
    assert_int_equal(tl_strides(a)[1], 5 * size);
    assert_int_equal(tl_strides(a)[0], 15 * size);
    assert_int_equal((uintptr_t)a->data % 64, 0);
    tl_slot s = tl_own_array(a);
    assert_true(tl_array_is_reusable(s));
    assert_int_equal(s.tag >> 24 & 7, 3);
    tl_drop(vm, s);
  }
  assert_int_equal(vm->stats.allocs, TL_DTYPE_COUNT);
  assert_int_equal(vm->stats.frees, TL_DTYPE_COUNT);
}

static void test_many_dimensions(void **state) {
  tl_vm *vm = *state;
  int64_t shape[TL_MAX_DIMS];
  for (int i = 0; i < TL_MAX_DIMS; i++) shape[i] = 1;
  tl_slot s = tl_own_array(tl_array_new(vm, TL_INT8, TL_MAX_DIMS, shape));
  assert_int_equal(s.tag >> 24 & 7, 7);
  tl_drop(vm, s);
}

static void test_walk_merges(void **state) {
  tl_vm *vm = *state;
  tl_slot s = tl_own_array(tl_array_zeros(vm, TL_INT64, 4, SHAPE(2, 1, 3, 4)));
  tl_walk walk;
  tl_walk_begin(&walk, 1, 4, tl_shape(s.array), &s.array->data,
                (const int64_t *[]){tl_strides(s.array)});
  assert_int_equal(walk.length, 24);
  assert_int_equal(walk.step[0], 8);
  tl_walk_next(&walk);
  assert_true(walk.done);
  tl_drop(vm, s);
}

static void test_walk_empty(void **state) {
  (void)state;
  tl_walk walk;
  char *data = NULL;
  tl_walk_begin(&walk, 1, 2, SHAPE(3, 0), &data,
                (const int64_t *[]){SHAPE(0, 8)});
  assert_true(walk.done);
  tl_walk_begin(&walk, 1, 0, NULL, &data, (const int64_t *[]){NULL});
  assert_false(walk.done);
  assert_int_equal(walk.length, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_new),
      FIXTURE_TEST(test_many_dimensions),
      FIXTURE_TEST(test_walk_merges),
      FIXTURE_TEST(test_walk_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
