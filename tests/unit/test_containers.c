// Lists, records, ranges, and comparing whole values.
#include "tests/unit/fixture.h"

#include <math.h>
#include <stdio.h>

#include "vm/array/array.h"
#include "vm/array/range.h"

// --- Lists ------------------------------------------------------------------

static void pushing_grows_in_place(void **state) {
  tl_vm *vm = *state;
  tl_list *list = tl_list_new(vm, 0);
  for (int i = 0; i < 10000; i++) {
    tl_slot item = tl_int(i);
    assert_true(tl_list_push(vm, &list, &item));
  }
  assert_int_equal(list->length, 10000);
  for (int i = 0; i < 10000; i++) assert_int_equal(list->items[i].i, i);
  tl_drop(vm, tl_own_list(list));
}

static void a_shared_list_is_copied(void **state) {
  tl_vm *vm = *state;
  tl_slot items[] = {text_slot(vm, "a"), tl_int(1)};
  tl_slot one = list_slot(vm, 2, items), two = tl_retain(vm, one);
  tl_list *list;
  assert_true(tl_list_unique(vm, &two, 1, &list));
  assert_ptr_not_equal(list, one.list);
  assert_int_equal(one.list->head.count, 1);
  assert_int_equal(list->items[0].string->head.count, 2);
  assert_false(tl_is_owned(two));
  tl_drop(vm, tl_own_list(list));
  tl_slot dying = one;
  assert_true(tl_list_unique(vm, &dying, 0, &list));
  assert_ptr_equal(list, one.list);
  tl_drop(vm, tl_own_list(list));
}

static void a_borrowed_list_is_copied(void **state) {
  tl_vm *vm = *state;
  tl_slot items[] = {tl_int(1)}, one = list_slot(vm, 1, items);
  tl_slot borrowed = tl_borrow(one);
  tl_list *list;
  assert_true(tl_list_unique(vm, &borrowed, 0, &list));
  assert_ptr_not_equal(list, one.list);
  tl_drop(vm, tl_own_list(list));
  tl_drop(vm, one);
}

// --- Records ----------------------------------------------------------------

static tl_slot numbered_record(tl_vm *vm, int count) {
  tl_record *record = tl_record_new(vm, 0);
  assert_non_null(record);
  for (int i = 0; i < count; i++) {
    char key[16];
    snprintf(key, sizeof key, "key %d", i);
    tl_slot value = tl_int(i);
    assert_true(tl_record_set_name(vm, &record, key, &value));
  }
  return tl_own_record(record);
}

static void fields_are_found_at_every_size(void **state) {
  tl_vm *vm = *state;
  for (int count = 0; count < 40; count += 3) {
    tl_slot r = numbered_record(vm, count);
    for (int i = 0; i < 45; i++) {
      char key[16];
      snprintf(key, sizeof key, "key %d", i);
      tl_slot name = text_slot(vm, key);
      int64_t at = tl_record_find(r.record, name.string);
      assert_int_equal(at, i < count ? i : -1);
      tl_drop(vm, name);
    }
    tl_drop(vm, r);
  }
}

static void setting_keeps_the_order(void **state) {
  tl_vm *vm = *state;
  tl_slot r = numbered_record(vm, 12), value = text_slot(vm, "new");
  tl_record *record = r.record;
  assert_true(tl_record_set_name(vm, &record, "key 3", &value));
  assert_int_equal(record->length, 12);
  assert_string_equal(record->fields[3].value.string->text, "new");
  tl_drop(vm, tl_own_record(record));
}

static void removing_keeps_the_rest(void **state) {
  tl_vm *vm = *state;
  tl_slot r = numbered_record(vm, 20), taken;
  for (int i = 0; i < 20; i += 2) {
    tl_record_remove(vm, &r.record, i / 2, &taken);
    assert_int_equal(taken.i, i);
  }
  assert_int_equal(r.record->length, 10);
  tl_slot name = text_slot(vm, "key 13");
  assert_int_equal(tl_record_find(r.record, name.string), 6);
  tl_drop(vm, name);
  tl_drop(vm, r);
}

static void a_shared_record_is_copied(void **state) {
  tl_vm *vm = *state;
  tl_slot one = numbered_record(vm, 15), two = tl_retain(vm, one);
  tl_record *record;
  assert_true(tl_record_unique(vm, &two, 1, &record));
  assert_ptr_not_equal(record, one.record);
  tl_slot name = text_slot(vm, "key 14");
  assert_int_equal(tl_record_find(record, name.string), 14);
  tl_drop(vm, name);
  tl_drop(vm, tl_own_record(record));
  tl_drop(vm, one);
}

static void records_survive_each_failure(void **state) {
  tl_vm *vm = *state;
  for (uint64_t n = 1;; n++) {
    tl_memory_fail_at(vm, n);
    tl_record *record = tl_record_new(vm, 0);
    bool ok = record != NULL;
    for (int i = 0; ok && i < 20; i++) {
      char key[16];
      snprintf(key, sizeof key, "key %d", i);
      tl_slot value = tl_int(i);
      ok = tl_record_set_name(vm, &record, key, &value);
    }
    tl_memory_fail_at(vm, 0);
    if (record != NULL)
      tl_drop(vm, tl_own_record(record));
    assert_int_equal(vm->error.set, !ok);
    tl_error_clear(vm);
    assert_int_equal(vm->stats.live_bytes, 0);
    if (ok)
      return;
  }
}

// --- Ranges -----------------------------------------------------------------

static int64_t length(tl_vm *vm, int64_t start, int64_t stop, int64_t step) {
  tl_range *range = tl_range_new(vm, start, stop, step);
  assert_non_null(range);
  int64_t n = range->length;
  tl_drop(vm, tl_own_range(range));
  return n;
}

static void ranges_count_their_items(void **state) {
  tl_vm *vm = *state;
  assert_int_equal(length(vm, 0, 5, 1), 5);
  assert_int_equal(length(vm, 5, 0, 1), 0);
  assert_int_equal(length(vm, 10, 0, -2), 5);
  assert_int_equal(length(vm, 0, 10, 3), 4);
  assert_int_equal(length(vm, INT64_MIN, INT64_MAX, INT64_MAX), 3);
  assert_int_equal(length(vm, INT64_MAX, INT64_MIN, INT64_MIN), 2);
  assert_null(tl_range_new(vm, 0, 5, 0));
  failure(vm, TALLY_ERR_VALUE);
  tl_error_clear(vm);
  assert_null(tl_range_new(vm, INT64_MIN, INT64_MAX, 1));
  failure(vm, TALLY_ERR_VALUE);
}

static void a_range_becomes_an_array(void **state) {
  tl_vm *vm = *state;
  tl_range *range = tl_range_new(vm, 10, 0, -3);
  tl_array *a = tl_range_to_array(vm, range);
  assert_int_equal(a->size, 4);
  assert_int_equal(((int64_t *)(void *)a->data)[3], 1);
  tl_drop(vm, tl_own_array(a));
  tl_drop(vm, tl_own_range(range));
}

// --- Comparing --------------------------------------------------------------

static void same_looks_at_dtypes_and_equal_does_not(void **state) {
  tl_vm *vm = *state;
  assert_true(tl_same(vm, tl_int(1), tl_weak_int(1)));
  assert_false(tl_same(vm, tl_int(1), tl_float(1)));
  assert_true(tl_equal(vm, tl_int(1), tl_float(1)));
  assert_true(tl_equal(vm, tl_int(1), tl_bool(true)));
  assert_true(tl_same(vm, tl_float((double)NAN), tl_float((double)NAN)));
  assert_false(tl_equal(vm, tl_float((double)NAN), tl_float((double)NAN)));
  assert_false(
      tl_equal(vm, tl_int(INT64_MAX), tl_float(9223372036854775808.0)));
  assert_false(tl_same(vm, tl_none(), tl_int(0)));
}

static tl_slot deep(tl_vm *vm, int depth, double last) {
  tl_slot nest = tl_float(last);
  for (int i = 0; i < depth; i++) {
    tl_slot items[] = {tl_int(i), nest};
    nest = list_slot(vm, 2, items);
  }
  return nest;
}

static void deep_nests_are_compared(void **state) {
  tl_vm *vm = *state;
  tl_slot a = deep(vm, 100000, 1), b = deep(vm, 100000, 1),
          c = deep(vm, 100000, 2);
  assert_true(tl_same(vm, a, b));
  assert_false(tl_same(vm, a, c));
  assert_false(tl_equal(vm, b, c));
  tl_drop(vm, a);
  tl_drop(vm, b);
  tl_drop(vm, c);
}

static void records_are_compared_by_key(void **state) {
  tl_vm *vm = *state;
  tl_slot a = numbered_record(vm, 10), b = numbered_record(vm, 10);
  assert_true(tl_same(vm, a, b));
  tl_slot taken;
  tl_record_remove(vm, &b.record, 0, &taken);
  assert_false(tl_same(vm, a, b));
  tl_drop(vm, a);
  tl_drop(vm, b);
}

static void arrays_are_compared_with_their_shape(void **state) {
  tl_vm *vm = *state;
  int64_t flat = 6, rows[] = {2, 3};
  tl_array *a = tl_array_zeros(vm, TL_INT64, 1, &flat);
  tl_array *b = tl_array_zeros(vm, TL_INT64, 2, rows);
  tl_array *c = tl_array_zeros(vm, TL_FLOAT64, 1, &flat);
  tl_slot x = tl_own_array(a), y = tl_own_array(b), z = tl_own_array(c);
  assert_false(tl_same(vm, x, y));
  assert_false(tl_same(vm, x, z));
  assert_true(tl_equal(vm, x, z));
  tl_drop(vm, x);
  tl_drop(vm, y);
  tl_drop(vm, z);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(pushing_grows_in_place),
      FIXTURE_TEST(a_shared_list_is_copied),
      FIXTURE_TEST(a_borrowed_list_is_copied),
      FIXTURE_TEST(fields_are_found_at_every_size),
      FIXTURE_TEST(setting_keeps_the_order),
      FIXTURE_TEST(removing_keeps_the_rest),
      FIXTURE_TEST(a_shared_record_is_copied),
      FIXTURE_TEST(records_survive_each_failure),
      FIXTURE_TEST(ranges_count_their_items),
      FIXTURE_TEST(a_range_becomes_an_array),
      FIXTURE_TEST(same_looks_at_dtypes_and_equal_does_not),
      FIXTURE_TEST(deep_nests_are_compared),
      FIXTURE_TEST(records_are_compared_by_key),
      FIXTURE_TEST(arrays_are_compared_with_their_shape),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
