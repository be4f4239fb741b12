// Arrays: views over views, broadcasting, sizes that overflow, walks, copies.
#include "tests/unit/fixture.h"

#include "vm/array/array.h"
#include "vm/array/range.h"

// 0, 1, 2, … in the given shape.
static tl_slot counting_array(tl_vm *vm, tl_dtype dtype, int ndim,
                              const int64_t *shape) {
  tl_array *a = tl_array_new(vm, dtype, ndim, shape);
  assert_non_null(a);
  for (int64_t i = 0; i < a->size; i++) {
    char *item = a->data + (size_t)i * tl_itemsize(dtype);
    assert_true(tl_item_store(vm, a, item, tl_weak_int(i)));
  }
  return tl_own_array(a);
}

static int64_t item_at(tl_vm *vm, const tl_array *a, const int64_t *index) {
  const char *item = a->data;
  for (int i = 0; i < tl_ndim(a); i++) item += index[i] * tl_strides(a)[i];
  return tl_item(vm, a, item).i;
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

// --- Making -----------------------------------------------------------------

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

// Rows without items have none, however many rows are left.
static void test_cut(void **state) {
  tl_vm *vm = *state;
  tl_slot rows = counting_array(vm, TL_INT16, 2, SHAPE(4, 3));
  tl_slot empty = counting_array(vm, TL_INT16, 3, SHAPE(4, 3, 0));
  tl_array_cut(vm, &rows, 2);
  tl_array_cut(vm, &empty, 2);
  assert_int_equal(rows.array->size, 6);
  assert_int_equal(empty.array->size, 0);
  assert_int_equal(tl_shape(empty.array)[0], 2);
  tl_drop(vm, rows);
  tl_drop(vm, empty);
}

static void test_many_dimensions(void **state) {
  tl_vm *vm = *state;
  int64_t shape[TL_MAX_DIMS + 1];
  for (int i = 0; i <= TL_MAX_DIMS; i++) shape[i] = 1;
  tl_array *a = tl_array_new(vm, TL_INT8, TL_MAX_DIMS, shape);
  assert_non_null(a);
  assert_int_equal(tl_own_array(a).tag >> 24 & 7, 7);
  tl_drop(vm, tl_own_array(a));
  assert_null(tl_array_new(vm, TL_INT8, TL_MAX_DIMS + 1, shape));
  assert_string_equal(failure(vm, TALLY_ERR_SHAPE),
                      "an array has at most 32 dimensions, not 33");
}

static void test_size_overflow(void **state) {
  tl_vm *vm = *state;
  const int64_t half = INT64_C(1) << 31, huge = INT64_C(1) << 62;
  assert_null(tl_array_new(vm, TL_INT8, 3, SHAPE(half, half, 2)));
  failure(vm, TALLY_ERR_SHAPE);
  tl_error_clear(vm);
  assert_null(tl_array_new(vm, TL_FLOAT64, 1, SHAPE(huge)));
  failure(vm, TALLY_ERR_SHAPE);
  tl_error_clear(vm);
  // The empty product hides nothing: its strides would overflow.
  assert_null(tl_array_new(vm, TL_INT8, 3, SHAPE(0, huge, huge)));
  failure(vm, TALLY_ERR_SHAPE);
  tl_error_clear(vm);
  assert_null(tl_array_new(vm, TL_INT8, 2, SHAPE(3, -2)));
  assert_string_equal(failure(vm, TALLY_ERR_SHAPE),
                      "axis 1 would have -2 items: a dimension is 0 or more");
}

static void test_empty(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_FLOAT64, 3, SHAPE(2, 0, 3));
  assert_int_equal(s.array->size, 0);
  assert_true((s.tag & TL_DENSE) != 0);
  tl_array *copy = tl_array_copy(vm, s.array);
  assert_int_equal(copy->size, 0);
  tl_drop(vm, tl_own_array(copy));
  tl_drop(vm, s);
}

static void test_rank_0_results(void **state) {
  tl_vm *vm = *state;
  tl_array *a = tl_array_zeros(vm, TL_INT16, 0, NULL);
  tl_slot s = tl_result(vm, a);
  assert_true(tl_is_scalar(s) && tl_dtype_of(s) == TL_INT16);
  s = tl_result(vm, tl_array_zeros(vm, TL_COMPLEX128, 0, NULL));
  assert_true(tl_is_array(s) && tl_is_number(s));
  tl_drop(vm, s);
  s = tl_result(vm, tl_array_zeros(vm, TL_STRING, 0, NULL));
  assert_true(tl_is_string(s) && !tl_is_owned(s));
  assert_int_equal(s.string->length, 0);
}

static int released;
static void release(void *context, void *data) {
  assert_ptr_equal(context, data);
  released++;
}

static void test_external(void **state) {
  tl_vm *vm = *state;
  static int32_t data[6] = {0, 1, 2, 3, 4, 5};
  released = 0;
  tl_array *a = tl_array_external(vm, TL_INT32, 2, SHAPE(2, 3), NULL, data,
                                  sizeof data, true, release, data);
  tl_slot s = tl_own_array(a);
  assert_false(tl_array_is_reusable(s));
  assert_int_equal(vm->stats.ext_bytes, sizeof data);
  tl_array *view =
      tl_view_new(vm, &s, TL_INT32, a->data + 4, 1, SHAPE(2), SHAPE(12));
  assert_false(tl_is_owned(s));
  assert_int_equal(item_at(vm, view, SHAPE(1)), 4);
  assert_int_equal(released, 0);
  tl_drop(vm, tl_own_array(view));
  assert_int_equal(released, 1);
  assert_int_equal(vm->stats.ext_bytes, 0);
}

// --- Views ------------------------------------------------------------------

static tl_slot every_second(tl_vm *vm, tl_slot *base) {
  const tl_array *a = base->array;
  int64_t shape[] = {(tl_shape(a)[0] + 1) / 2};
  int64_t strides[] = {tl_strides(a)[0] * 2};
  tl_array *view =
      tl_view_new(vm, base, tl_array_dtype(a), a->data, 1, shape, strides);
  assert_non_null(view);
  return tl_own_array(view);
}

// However often it is repeated, a view refers to the owner itself, and holds
// its block once.
static void test_views_are_closed(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 1, SHAPE(1000));
  tl_array *owner = s.array;
  int64_t factor = 1;
  while (s.array->size > 1) {
    s = every_second(vm, &s);
    factor *= 2;
    assert_ptr_equal(tl_array_owner(s.array), owner);
    assert_int_equal(owner->head.count, 1);
    assert_int_equal(vm->stats.live, 2);
    if (s.array->size > 1) {
      assert_int_equal(item_at(vm, s.array, SHAPE(1)), factor);
    }
  }
  assert_int_equal(vm->stats.allocs, 1);
  tl_drop(vm, s);
}

static void test_borrowing_view(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 1, SHAPE(8)),
          borrowed = tl_borrow(s);
  tl_slot view = every_second(vm, &borrowed);
  assert_int_equal(s.array->head.count, 1);
  assert_int_equal(view.array->head.flags & TL_HOLD, 0);
  assert_true((view.tag & TL_DIRECT) == 0);
  tl_hold(vm, view, TL_CAUSE_VIEW);
  tl_hold(vm, view, TL_CAUSE_VIEW);
  assert_int_equal(s.array->head.count, 2);
  tl_drop(vm, s);
  assert_int_equal(item_at(vm, view.array, SHAPE(3)), 6);
  tl_drop(vm, view);
}

// A dying array is reshaped where it is.
static void test_relabelling(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 1, SHAPE(600));
  tl_array *a = s.array;
  const int64_t shapes[][3] = {{600, 1, 1}, {20, 30, 1}, {4, 5, 30}};
  for (int ndim = 3; ndim >= 1; ndim--) {
    const int64_t *shape = shapes[ndim - 1];
    int64_t strides[3];
    tl_shape_strides(ndim, shape, 8, strides);
    tl_array *b = tl_view_new(vm, &s, TL_INT64, a->data, ndim, shape, strides);
    assert_ptr_equal(a, b);
    assert_false(tl_is_owned(s));
    s = tl_own_array(b);
    assert_true((s.tag & TL_DIRECT) != 0);
    assert_int_equal(s.tag >> 24 & 7, ndim);
    assert_int_equal(item_at(vm, a, SHAPE(3, 0, 0)), 3 * strides[0] / 8);
  }
  // Not where somebody else sees it.
  tl_slot other = tl_retain(vm, s);
  tl_array *b =
      tl_view_new(vm, &other, TL_INT64, a->data, 1, SHAPE(600), SHAPE(8));
  assert_true(tl_is_view(b));
  tl_drop(vm, tl_own_array(b));
  // A run of most items is the array itself. What is only lent is a view, with
  // gaps or without, and so is a run of a few.
  b = tl_view_new(vm, &s, TL_INT64, a->data + 8, 1, SHAPE(598), SHAPE(8));
  assert_ptr_equal(a, b);
  assert_int_equal(item_at(vm, a, SHAPE(597)), 598);
  s = tl_own_array(b);
  assert_true((s.tag & TL_DIRECT) != 0);
  tl_slot gaps = tl_borrow(s), lent = tl_borrow(s);
  b = tl_view_new(vm, &gaps, TL_INT64, a->data, 1, SHAPE(299), SHAPE(16));
  assert_true(tl_is_view(b));
  tl_drop(vm, tl_own_array(b));
  b = tl_view_new(vm, &lent, TL_INT64, a->data, 1, SHAPE(598), SHAPE(8));
  assert_true(tl_is_view(b));
  tl_drop(vm, tl_own_array(b));
  b = tl_view_new(vm, &s, TL_INT64, a->data, 1, SHAPE(200), SHAPE(8));
  assert_true(tl_is_view(b));
  tl_drop(vm, tl_own_array(b));
}

// A view that somebody else has too keeps its own hold.
static void test_consuming_a_shared_view(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 1, SHAPE(8));
  tl_slot view = every_second(vm, &s), again = tl_retain(vm, view);
  tl_slot inner = every_second(vm, &again);
  assert_false(tl_is_owned(again));
  tl_array *owner = tl_array_owner(inner.array);
  assert_int_equal(owner->head.count, 2);
  tl_drop(vm, view);
  assert_int_equal(owner->head.count, 1);
  assert_int_equal(item_at(vm, inner.array, SHAPE(1)), 4);
  tl_drop(vm, inner);
}

// --- Copies -----------------------------------------------------------------

static tl_slot transposed(tl_vm *vm, tl_slot base) {
  const tl_array *a = base.array;
  tl_slot borrowed = tl_borrow(base);
  tl_array *view = tl_view_new(vm, &borrowed, tl_array_dtype(a), a->data, 2,
                               SHAPE(tl_shape(a)[1], tl_shape(a)[0]),
                               SHAPE(tl_strides(a)[1], tl_strides(a)[0]));
  return tl_own_array(view);
}

static void test_copy_transposed(void **state) {
  tl_vm *vm = *state;
  for (int dtype = TL_INT8; dtype < TL_STRING; dtype++) {
    int64_t rows = 37, columns = dtype == TL_INT8 ? 3 : 300;
    if (dtype == TL_UINT8)
      columns = 5;
    tl_slot s =
        counting_array(vm, dtype > TL_FLOAT64 ? TL_INT32 : (tl_dtype)dtype, 2,
                       SHAPE(rows, columns));
    tl_slot t = transposed(vm, s);
    assert_false(tl_is_contiguous(t.array));
    tl_array *copy = tl_array_copy(vm, t.array);
    assert_true(tl_is_contiguous(copy));
    for (int64_t i = 0; i < columns; i++) {
      for (int64_t j = 0; j < rows; j++) {
        assert_int_equal(item_at(vm, copy, SHAPE(i, j)),
                         item_at(vm, s.array, SHAPE(j, i)));
      }
    }
    tl_drop(vm, tl_own_array(copy));
    tl_drop(vm, t);
    tl_drop(vm, s);
  }
}

static void test_assign_overlapping(void **state) {
  tl_vm *vm = *state;
  for (int shift = -3; shift <= 3; shift++) {
    for (int reversed = 0; reversed < 2; reversed++) {
      tl_slot s = counting_array(vm, TL_INT64, 1, SHAPE(20));
      tl_slot borrowed = tl_borrow(s);
      char *data = s.array->data;
      tl_array *to = tl_view_new(vm, &borrowed, TL_INT64, data + 40, 1,
                                 SHAPE(8), SHAPE(8));
      char *first = data + 40 + shift * 8 + (reversed ? 56 : 0);
      tl_array *from = tl_view_new(vm, &borrowed, TL_INT64, first, 1, SHAPE(8),
                                   SHAPE(reversed ? -8 : 8));
      int64_t wanted[8];
      for (int i = 0; i < 8; i++) wanted[i] = item_at(vm, from, SHAPE(i));
      assert_true(tl_array_assign(vm, to, from));
      for (int i = 0; i < 8; i++) {
        assert_int_equal(item_at(vm, to, SHAPE(i)), wanted[i]);
      }
      tl_drop(vm, tl_own_array(to));
      tl_drop(vm, tl_own_array(from));
      tl_drop(vm, s);
    }
  }
}

// Parts of a matrix that overlap by a constant shift need no copy.
static void test_assign_shifted(void **state) {
  tl_vm *vm = *state;
  for (int turn = 0; turn < 25 * 3; turn++) {
    int rows = turn / 3 / 5 - 2, columns = turn / 3 % 5 - 2, step = turn % 3;
    tl_slot s = counting_array(vm, TL_INT32, 2, SHAPE(8, 12));
    tl_slot borrowed = tl_borrow(s);
    char *data = s.array->data + 2 * 48 + 2 * 4;
    int64_t shape[] = {4, step == 0 ? 8 : 3},
            strides[] = {48, step == 2 ? 8 : 4};
    tl_array *to =
        tl_view_new(vm, &borrowed, TL_INT32, data, 2, shape, strides);
    tl_array *from =
        tl_view_new(vm, &borrowed, TL_INT32, data + rows * 48 + columns * 4, 2,
                    shape, strides);
    tl_array *wanted = tl_array_copy(vm, from);
    uint64_t copies = vm->stats.copies;
    assert_true(tl_array_assign(vm, to, from));
    assert_int_equal(vm->stats.copies, copies);
    for (int64_t i = 0; i < 4; i++) {
      for (int64_t j = 0; j < shape[1]; j++) {
        assert_int_equal(item_at(vm, to, SHAPE(i, j)),
                         item_at(vm, wanted, SHAPE(i, j)));
      }
    }
    tl_drop(vm, tl_own_array(wanted));
    tl_drop(vm, tl_own_array(to));
    tl_drop(vm, tl_own_array(from));
    tl_drop(vm, s);
  }
}

static void test_strings(void **state) {
  tl_vm *vm = *state;
  tl_array *a = tl_array_new(vm, TL_STRING, 1, SHAPE(3));
  for (int i = 0; i < 2; i++) {
    tl_slot text = text_slot(vm, i == 0 ? "one" : "two");
    assert_true(tl_item_store(vm, a, a->data + i * 8, text));
    tl_drop(vm, text);
  }
  tl_array *copy = tl_array_copy(vm, a);
  tl_drop(vm, tl_own_array(a));
  tl_slot item = tl_item(vm, copy, copy->data + 8);
  assert_string_equal(item.string->text, "two");
  tl_drop(vm, item);
  assert_false(tl_item_store(vm, copy, copy->data, tl_weak_int(1)));
  assert_string_equal(failure(vm, TALLY_ERR_TYPE),
                      "cannot store int64 into an array of strings");
  tl_drop(vm, tl_own_array(copy));
}

static void test_cast(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_FLOAT64, 2, SHAPE(600, 2));
  tl_slot t = transposed(vm, s);
  tl_array *cast = tl_array_cast(vm, t.array, TL_INT16);
  assert_int_equal(item_at(vm, cast, SHAPE(1, 599)), 1199);
  tl_drop(vm, tl_own_array(cast));
  assert_null(tl_array_cast(vm, t.array, TL_INT8));
  assert_string_equal(failure(vm, TALLY_ERR_VALUE),
                      "int8(128) is out of range");
  tl_drop(vm, t);
  tl_drop(vm, s);
}

// --- Broadcasting -----------------------------------------------------------

static void test_broadcast(void **state) {
  tl_vm *vm = *state;
  int ndim;
  int64_t shape[TL_MAX_DIMS], strides[TL_MAX_DIMS];
  tl_slot a = counting_array(vm, TL_INT8, 2, SHAPE(2, 1));
  tl_slot b = counting_array(vm, TL_INT8, 1, SHAPE(4));
  tl_slot c = counting_array(vm, TL_INT8, 2, SHAPE(3, 4));
  tl_slot d = counting_array(vm, TL_INT8, 1, SHAPE(5));
  tl_slot e = counting_array(vm, TL_INT8, 2, SHAPE(2, 0));
  const tl_array *two[] = {a.array, b.array};
  assert_true(tl_broadcast(vm, 2, two, &ndim, shape));
  assert_int_equal(ndim, 2);
  assert_int_equal(shape[0], 2);
  assert_int_equal(shape[1], 4);
  tl_broadcast_strides(a.array, ndim, shape, strides);
  assert_int_equal(strides[0], 1);
  assert_int_equal(strides[1], 0);
  tl_broadcast_strides(b.array, ndim, shape, strides);
  assert_int_equal(strides[0], 0);
  const tl_array *none[] = {a.array, e.array};
  assert_true(tl_broadcast(vm, 2, none, &ndim, shape));
  assert_int_equal(shape[1], 0);
  const tl_array *wrong[] = {c.array, d.array};
  assert_false(tl_broadcast(vm, 2, wrong, &ndim, shape));
  assert_string_equal(failure(vm, TALLY_ERR_SHAPE),
                      "3 * 4 * int8 and 5 * int8 do not broadcast: axis 1 is "
                      "4 against 5");
  tl_drop(vm, a);
  tl_drop(vm, b);
  tl_drop(vm, c);
  tl_drop(vm, d);
  tl_drop(vm, e);
}

static void test_axis(void **state) {
  tl_vm *vm = *state;
  int axis;
  assert_true(tl_axis(vm, "sum", -1, 3, &axis));
  assert_int_equal(axis, 2);
  assert_false(tl_axis(vm, "sum", 3, 3, &axis));
  assert_string_equal(failure(vm, TALLY_ERR_INDEX),
                      "sum: axis 3 is out of range for 3 dimensions");
}

// --- Walks ------------------------------------------------------------------

static void test_walk_merges(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 4, SHAPE(2, 1, 3, 4));
  tl_walk walk;
  tl_walk_begin(&walk, 1, 4, tl_shape(s.array), &s.array->data,
                (const int64_t *[]){tl_strides(s.array)});
  assert_int_equal(walk.length, 24);
  assert_int_equal(walk.step[0], 8);
  tl_walk_next(&walk);
  assert_true(walk.done);
  tl_drop(vm, s);
}

static void test_walk_order(void **state) {
  tl_vm *vm = *state;
  tl_slot s = counting_array(vm, TL_INT64, 2, SHAPE(3, 4));
  tl_slot t = transposed(vm, s);
  int64_t zeros[] = {0, 0}, seen = 0;
  tl_walk walk;
  tl_walk_begin(&walk, 2, 2, tl_shape(t.array),
                (char *[]){t.array->data, s.array->data},
                (const int64_t *[]){tl_strides(t.array), zeros});
  for (; !walk.done; tl_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++, seen++) {
      int64_t item = *(int64_t *)(void *)(walk.data[0] + i * walk.step[0]);
      assert_int_equal(item, seen % 3 * 4 + seen / 3);
      assert_ptr_equal(walk.data[1] + i * walk.step[1], s.array->data);
    }
  }
  assert_int_equal(seen, 12);
  tl_drop(vm, t);
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

// --- Arguments --------------------------------------------------------------

static void test_as_array(void **state) {
  tl_vm *vm = *state;
  tl_slot out;
  assert_true(tl_as_array(vm, "sum", tl_float(2.5), &out));
  assert_int_equal(tl_ndim(out.array), 0);
  tl_drop(vm, out);
  tl_slot range = tl_own_range(tl_range_new(vm, 0, 4, 1));
  assert_true(tl_as_array(vm, "sum", range, &out));
  assert_int_equal(out.array->size, 4);
  tl_drop(vm, out);
  tl_drop(vm, range);
  tl_slot text = text_slot(vm, "x");
  assert_false(tl_as_array(vm, "sum", text, &out));
  assert_string_equal(
      failure(vm, TALLY_ERR_TYPE),
      "sum: an argument must be an array or a number, not string");
  tl_drop(vm, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_new),
      FIXTURE_TEST(test_many_dimensions),
      FIXTURE_TEST(test_size_overflow),
      FIXTURE_TEST(test_empty),
      FIXTURE_TEST(test_rank_0_results),
      FIXTURE_TEST(test_external),
      FIXTURE_TEST(test_views_are_closed),
      FIXTURE_TEST(test_borrowing_view),
      FIXTURE_TEST(test_relabelling),
      FIXTURE_TEST(test_consuming_a_shared_view),
      FIXTURE_TEST(test_copy_transposed),
      FIXTURE_TEST(test_assign_overlapping),
      FIXTURE_TEST(test_assign_shifted),
      FIXTURE_TEST(test_strings),
      FIXTURE_TEST(test_cast),
      FIXTURE_TEST(test_broadcast),
      FIXTURE_TEST(test_cut),
      FIXTURE_TEST(test_axis),
      FIXTURE_TEST(test_walk_merges),
      FIXTURE_TEST(test_walk_order),
      FIXTURE_TEST(test_walk_empty),
      FIXTURE_TEST(test_as_array),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
