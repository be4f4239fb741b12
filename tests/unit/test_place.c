// Reading and writing places: errors, lists, records, strings, ranges,
// attributes, nests.
#include "tests/unit/numbered.h"
#include "vm/nested/nested.h"

// --- Errors -----------------------------------------------------------------

static void test_read_errors(void **state) {
  tl_vm *vm = *state;
  tl_slot x = dense_array(vm, TL_INT64, 1, SHAPE(3)), out;
  tl_slot y = dense_array(vm, TL_FLOAT64, 1, SHAPE(3));
  check_message(vm, get1(vm, x, tl_int(5), &out), TALLY_ERR_INDEX,
                "index 5 is out of range for axis 0 with size 3");
  check_message(vm, get1(vm, x, tl_int(-4), &out), TALLY_ERR_INDEX,
                "index -4 is out of range for axis 0 with size 3");
  check_message(vm, get1(vm, y, x, &out), TALLY_ERR_INDEX,
                "index 3 is out of range for axis 0 with size 3");
  check_message(vm, get1(vm, x, tl_float(1), &out), TALLY_ERR_TYPE,
                "an array is indexed by integers, slices, ranges, none, and "
                "arrays of integers or bools: got float64");
  check_message(vm, get1(vm, x, y, &out), TALLY_ERR_TYPE,
                "an array is indexed by integers, slices, ranges, none, and "
                "arrays of integers or bools: got 3 * float64");
  check_message(vm, get_slice(vm, x, 0, 1, 0, &out), TALLY_ERR_VALUE,
                "the step of a slice is 0");
  check_message(vm, get1(vm, tl_int(1), tl_int(0), &out), TALLY_ERR_TYPE,
                "int64 cannot be indexed: a number has no axes, so 1 index is "
                "too many");
  tl_array *mask = tl_array_zeros(vm, TL_BOOL, 1, SHAPE(4));
  check_message(vm, get1(vm, x, tl_own_array(mask), &out), TALLY_ERR_INDEX,
                "the mask's axis 0 has size 4, but axis 0 of the array has 3");
  tl_drop(vm, tl_own_array(mask));
  tl_index_item items[] = {{TL_ITEM_VALUE, 0}, {TL_ITEM_VALUE, 0}};
  tl_step step = {.item_count = 2, .items = items};
  tl_slot parts[] = {tl_int(0), tl_int(0)}, borrowed = tl_borrow(x);
  check_message(vm, tl_index_get(vm, &borrowed, &step, parts, &out),
                TALLY_ERR_INDEX,
                "2 indices are too many for 1 dimension: 3 * int64");
  tl_drop(vm, x);
  tl_drop(vm, y);
}

static void test_write_errors(void **state) {
  tl_vm *vm = *state;
  tl_slot x = dense_array(vm, TL_INT8, 2, SHAPE(3, 4)), out;
  tl_slot y = dense_array(vm, TL_FLOAT64, 1, SHAPE(4));
  tl_slot z = dense_array(vm, TL_INT8, 1, SHAPE(3));
  tl_slot far = dense_array(vm, TL_INT64, 1, SHAPE(3));  // 1, 2, 3
  check_message(vm, set1(vm, &x, tl_int(0), y, &out), TALLY_ERR_TYPE,
                "cannot store float64 into int8 items: convert with int8(x)");
  check_message(vm, set1(vm, &x, tl_int(0), tl_float(1), &out), TALLY_ERR_TYPE,
                "cannot store float64 into int8 items");
  check_message(vm, set1(vm, &x, tl_int(0), tl_weak_int(300), &out),
                TALLY_ERR_VALUE, "300 does not fit int8");
  check_message(vm, set1(vm, &x, tl_int(0), z, &out), TALLY_ERR_SHAPE,
                "cannot store 3 * int8 into a place of shape 4: axis 0 is 3 "
                "against 4");
  check_message(vm, set1(vm, &x, tl_int(0), x, &out), TALLY_ERR_SHAPE,
                "cannot store 3 * 4 * int8 into a place of shape 4: 2 "
                "dimensions against 1");
  check_message(vm, set1(vm, &x, far, tl_weak_int(0), &out), TALLY_ERR_INDEX,
                "index 3 is out of range for axis 0 with size 3");
  assert_true(tl_is_owned(x));
  for (int64_t i = 0; i < 12; i++) {
    assert_int_equal(number_at(vm, x.array, SHAPE(i / 4, i % 4)), i + 1);
  }
  tl_slot text = text_slot(vm, "abc");
  check_message(vm, set1(vm, &text, tl_int(0), tl_int(1), &out), TALLY_ERR_TYPE,
                "the characters of a string cannot be set: build a new string");
  tl_slot number = tl_int(1);
  check_message(vm, set1(vm, &number, tl_int(0), tl_int(1), &out),
                TALLY_ERR_TYPE,
                "int64 cannot be indexed: a number has no axes, so 1 index is "
                "too many");
  tl_drop(vm, text);
  tl_drop(vm, x);
  tl_drop(vm, y);
  tl_drop(vm, z);
  tl_drop(vm, far);
}

// --- Lists, records, strings, ranges ----------------------------------------

static tl_slot numbers_list(tl_vm *vm, int count) {
  tl_list *list = tl_list_new(vm, count);
  for (int i = 0; i < count; i++) {
    tl_slot item = tl_weak_int(i);
    assert_true(tl_list_push(vm, &list, &item));
  }
  return tl_own_list(list);
}

static void test_lists(void **state) {
  tl_vm *vm = *state;
  tl_slot items[] = {text_slot(vm, "a"), tl_int(1), text_slot(vm, "c")};
  tl_slot list = list_slot(vm, 3, items), out;
  assert_true(get1(vm, list, tl_int(-1), &out));
  assert_false(tl_is_owned(out));
  assert_string_equal(out.string->text, "c");
  assert_true(get_slice(vm, list, 2, -9, -1, &out));
  assert_int_equal(out.list->length, 3);
  assert_string_equal(out.list->items[0].string->text, "c");
  tl_drop(vm, out);
  tl_slot chosen = dense_array(vm, TL_INT64, 1, SHAPE(2));  // 1, 2
  assert_true(get1(vm, list, chosen, &out));
  assert_int_equal(out.list->length, 2);
  tl_drop(vm, out);
  tl_drop(vm, chosen);
  check_message(vm, get1(vm, list, tl_int(3), &out), TALLY_ERR_INDEX,
                "index 3 is out of range for a list of 3 items");
  // The item of a dying list moves out.
  uint64_t raised = vm->stats.rc_inc;
  tl_index_item item = {TL_ITEM_VALUE, 0};
  tl_step step = {.item_count = 1, .items = &item};
  tl_slot part = tl_int(0);
  assert_true(tl_index_get(vm, &list, &step, &part, &out));
  tl_drop(vm, list);
  assert_string_equal(out.string->text, "a");
  assert_int_equal(vm->stats.rc_inc, raised);
  tl_drop(vm, out);
}

static void test_list_slices_set(void **state) {
  tl_vm *vm = *state;
  tl_slot list = numbers_list(vm, 5), out;
  tl_slot range = tl_own_range(tl_range_new(vm, 0, 5, 2));
  assert_true(set1(vm, &list, range, numbers_list(vm, 3), &out));
  assert_int_equal(out.list->items[4].i, 2);
  assert_int_equal(out.list->items[3].i, 3);
  tl_slot wrong = numbers_list(vm, 2);
  check_message(vm, set1(vm, &out, range, wrong, &list), TALLY_ERR_SHAPE,
                "cannot store 2 items into a slice of 3");
  tl_drop(vm, wrong);
  tl_drop(vm, range);
  tl_drop(vm, out);
}

// l[0] = l stores what l was.
static void test_storing_into_itself(void **state) {
  tl_vm *vm = *state;
  tl_slot list = numbers_list(vm, 2), borrowed = tl_borrow(list), out;
  assert_true(set1(vm, &list, tl_int(0), borrowed, &out));
  assert_true(out.list != borrowed.list);
  assert_true(tl_is_list(out.list->items[0]));
  assert_int_equal(out.list->items[0].list->items[0].i, 0);
  tl_drop(vm, out);
}

static tl_slot string_at(tl_vm *vm, tl_slot s, int64_t at) {
  tl_slot out;
  assert_true(get1(vm, s, tl_int(at), &out));
  return out;
}

static void test_strings(void **state) {
  tl_vm *vm = *state;
  tl_slot s = text_slot(vm, "añe\xcc\x81🇩🇪z"), out;
  const char *const clusters[] = {"a", "ñ", "e\xcc\x81", "🇩🇪", "z"};
  for (int i = 0; i < 5; i++) {
    out = string_at(vm, s, i);
    assert_string_equal(out.string->text, clusters[i]);
    tl_drop(vm, out);
    out = string_at(vm, s, i - 5);
    assert_string_equal(out.string->text, clusters[i]);
    tl_drop(vm, out);
  }
  assert_true(get_slice(vm, s, 4, -9, -2, &out));
  assert_string_equal(out.string->text,
                      "ze\xcc\x81"
                      "a");
  tl_drop(vm, out);
  assert_true(get_slice(vm, s, 1, 3, 1, &out));
  assert_string_equal(out.string->text, "ñe\xcc\x81");
  tl_drop(vm, out);
  assert_true(get_slice(vm, s, 3, 3, 1, &out));
  assert_int_equal(out.string->length, 0);
  tl_drop(vm, out);
  check_message(vm, get1(vm, s, tl_int(5), &out), TALLY_ERR_INDEX,
                "index 5 is out of range for a string of 5 characters");
  tl_drop(vm, s);
}

static void test_ranges(void **state) {
  tl_vm *vm = *state;
  tl_slot r = tl_own_range(tl_range_new(vm, 10, 0, -3)), out;  // 10 7 4 1
  assert_true(get1(vm, r, tl_int(-1), &out));
  assert_true(tl_is_weak(out) && out.i == 1);
  assert_true(get_slice(vm, r, 3, -9, -2, &out));
  assert_true(tl_is_range(out) && out.range->length == 2);
  assert_int_equal(tl_range_item(out.range, 0), 1);
  assert_int_equal(tl_range_item(out.range, 1), 7);
  tl_drop(vm, out);
  tl_slot chosen = dense_array(vm, TL_INT64, 1, SHAPE(2));
  assert_true(get1(vm, r, chosen, &out));
  assert_int_equal(number_at(vm, out.array, SHAPE(1)), 4);
  tl_drop(vm, out);
  tl_drop(vm, chosen);
  // The items of a range are set on the array that it stands for.
  assert_true(set1(vm, &r, tl_int(0), tl_weak_int(99), &out));
  assert_int_equal(number_at(vm, out.array, SHAPE(0)), 99);
  tl_drop(vm, out);
  // A reversed range runs down to 0.
  tl_slot x = dense_array(vm, TL_INT64, 1, SHAPE(3));
  r = tl_own_range(tl_range_new(vm, 2, -1, -1));
  assert_true(get1(vm, x, r, &out));
  assert_int_equal(out.array->size, 3);
  assert_int_equal(number_at(vm, out.array, SHAPE(0)), 3);
  tl_drop(vm, out);
  tl_drop(vm, r);
  tl_drop(vm, x);
}

// --- Fields -----------------------------------------------------------------

static bool field(tl_vm *vm, tl_slot base, const char *name, tl_slot *out) {
  tl_slot key = text_slot(vm, name), borrowed = tl_borrow(base);
  bool ok = tl_field_get(vm, &borrowed, key.string, out);
  tl_drop(vm, key);
  return ok;
}

static void test_attributes(void **state) {
  tl_vm *vm = *state;
  tl_slot x = dense_array(vm, TL_COMPLEX64, 2, SHAPE(2, 3)), out;
  assert_true(field(vm, x, "shape", &out));
  assert_int_equal(out.list->length, 2);
  assert_true(tl_is_weak(out.list->items[1]) && out.list->items[1].i == 3);
  tl_drop(vm, out);
  assert_true(field(vm, x, "nbytes", &out) && out.i == 48);
  assert_true(field(vm, x, "ndim", &out) && out.i == 2);
  assert_true(field(vm, x, "size", &out) && out.i == 6);
  assert_true(field(vm, x, "dtype", &out));
  assert_int_equal(out.type->dtype, TL_COMPLEX64);
  assert_true(field(vm, x, "T", &out));
  assert_int_equal(number_at(vm, out.array, SHAPE(2, 1)), 6);
  tl_drop(vm, out);
  assert_true(field(vm, x, "real", &out));
  assert_int_equal(tl_array_dtype(out.array), TL_FLOAT32);
  assert_true(tl_is_view(out.array));
  tl_drop(vm, out);
  assert_true(field(vm, tl_float(2), "shape", &out));
  assert_int_equal(out.list->length, 0);
  tl_drop(vm, out);
  assert_true(field(vm, tl_float(2), "imag", &out) && out.f == 0);
  check_message(vm, field(vm, x, "mean", &out), TALLY_ERR_NAME,
                "arrays have no field mean: write mean(x)");
  check_message(vm, field(vm, x, "shpae", &out), TALLY_ERR_NAME,
                "arrays have no field shpae; did you mean shape?");
  tl_drop(vm, x);
}

static tl_slot record_of(tl_vm *vm, const char *key, tl_slot value) {
  tl_record *record = tl_record_new(vm, 2);
  assert_true(tl_record_set_name(vm, &record, key, &value));
  return tl_own_record(record);
}

static void test_records(void **state) {
  tl_vm *vm = *state;
  tl_slot one = tl_int(1), r = record_of(vm, "width", one), out;
  assert_true(tl_record_set_name(vm, &r.record, "y", &one));
  assert_true(field(vm, r, "width", &out) && out.i == 1);
  check_message(vm, field(vm, r, "wdith", &out), TALLY_ERR_INDEX,
                "no field \"wdith\" in record; fields: width, y; did you mean "
                "width?");
  check_message(vm, get1(vm, r, tl_int(0), &out), TALLY_ERR_INDEX,
                "no key 0 in record; keys: \"width\", \"y\"");
  check_message(vm, get1(vm, r, tl_none(), &out), TALLY_ERR_TYPE,
                "a key of a record is a string, an integer, a bool or a list "
                "of such: got none");
  tl_drop(vm, r);
}

// --- Nested places ----------------------------------------------------------

// r.a[1][2] = v with r.a a list of arrays.
typedef struct nest {
  tl_slot key;
  tl_index_item item;
  tl_step steps[3];
  tl_slot parts[2];
  tl_path path;
} nest;

static void make_nest(tl_vm *vm, nest *n, int64_t i, int64_t j) {
  n->key = text_slot(vm, "a");
  n->item = (tl_index_item){TL_ITEM_VALUE, 0};
  n->steps[0] = (tl_step){.field = n->key.string};
  n->steps[1] = (tl_step){.item_count = 1, .items = &n->item};
  n->steps[2] = n->steps[1];
  n->parts[0] = tl_weak_int(i);
  n->parts[1] = tl_weak_int(j);
  n->path = (tl_path){3, 2, n->steps, false};
}

static tl_slot nested_record(tl_vm *vm) {
  tl_slot items[] = {dense_array(vm, TL_INT64, 1, SHAPE(3)),
                     dense_array(vm, TL_INT64, 1, SHAPE(3))};
  return record_of(vm, "a", list_slot(vm, 2, items));
}

static int64_t nested_number(tl_vm *vm, nest *n, tl_slot r) {
  tl_slot borrowed = tl_borrow(r), out;
  assert_true(tl_path_get(vm, &borrowed, &n->path, n->parts, &out));
  return number_of(vm, out);
}

static void test_nested_set(void **state) {
  tl_vm *vm = *state;
  nest n;
  make_nest(vm, &n, 1, 2);
  tl_slot r = nested_record(vm), out, value = tl_weak_int(50);
  uint64_t allocs = vm->stats.allocs;
  assert_true(tl_path_set(vm, &r, &n.path, n.parts, &value, &out));
  assert_int_equal(vm->stats.allocs, allocs);  // all in place
  assert_int_equal(nested_number(vm, &n, out), 50);
  // Shared at the top: containers are copied, and the one array on the way.
  tl_slot other = tl_retain(vm, out), again;
  value = tl_weak_int(60);
  assert_true(tl_path_set(vm, &out, &n.path, n.parts, &value, &again));
  assert_int_equal(vm->stats.allocs, allocs + 1);
  assert_int_equal(nested_number(vm, &n, other), 50);
  assert_int_equal(nested_number(vm, &n, again), 60);
  tl_drop(vm, other);
  tl_drop(vm, again);
  tl_drop(vm, n.key);
}

static void test_nested_failure(void **state) {
  tl_vm *vm = *state;
  nest n;
  make_nest(vm, &n, 1, 3);
  tl_slot r = nested_record(vm), out, value = tl_weak_int(50);
  for (int shared = 0; shared < 2; shared++) {
    tl_slot other = shared ? tl_retain(vm, r) : tl_none();
    check_message(vm, tl_path_set(vm, &r, &n.path, n.parts, &value, &out),
                  TALLY_ERR_INDEX,
                  "index 3 is out of range for axis 0 with size 3");
    assert_true(tl_is_owned(r));
    n.parts[1] = tl_weak_int(2);
    assert_int_equal(nested_number(vm, &n, r), 3);
    n.parts[1] = tl_weak_int(3);
    tl_drop(vm, other);
  }
  tl_drop(vm, r);
  tl_drop(vm, n.key);
}

// x[1][2] = v goes through the view; x[mask][0] = v is stored back.
static void test_array_steps(void **state) {
  tl_vm *vm = *state;
  tl_slot x = dense_array(vm, TL_INT64, 2, SHAPE(3, 4)), out;
  tl_index_item item = {TL_ITEM_VALUE, 0};
  tl_step steps[] = {{.item_count = 1, .items = &item},
                     {.item_count = 1, .items = &item}};
  tl_path path = {2, 2, steps, false};
  tl_slot parts[] = {tl_int(1), tl_int(2)}, value = tl_weak_int(70);
  uint64_t copies = vm->stats.copies;
  assert_true(tl_path_set(vm, &x, &path, parts, &value, &out));
  assert_int_equal(number_at(vm, out.array, SHAPE(1, 2)), 70);
  assert_int_equal(vm->stats.copies, copies);
  tl_array *mask = tl_array_zeros(vm, TL_BOOL, 1, SHAPE(3));
  mask->data[2] = 1;
  parts[0] = tl_own_array(mask);
  parts[1] = tl_int(0);
  value = tl_weak_int(80);
  assert_true(tl_path_set(vm, &out, &path, parts, &value, &x));
  for (int64_t j = 0; j < 4; j++) {
    assert_int_equal(number_at(vm, x.array, SHAPE(2, j)), 80);
  }
  assert_int_equal(number_at(vm, x.array, SHAPE(0, 0)), 1);
  tl_drop(vm, parts[0]);
  tl_drop(vm, x);
}

// x.T[0] = v and x.real = v write through the attribute's view.
static void test_attribute_steps(void **state) {
  tl_vm *vm = *state;
  tl_slot x = dense_array(vm, TL_COMPLEX128, 2, SHAPE(2, 3)), out;
  tl_slot name = text_slot(vm, "T");
  tl_index_item item = {TL_ITEM_VALUE, 0};
  tl_step steps[] = {{.field = name.string}, {.item_count = 1, .items = &item}};
  tl_path path = {2, 1, steps, false};
  tl_slot part = tl_int(1), value = tl_weak_int(9);
  assert_true(tl_path_set(vm, &x, &path, &part, &value, &out));
  assert_int_equal(number_at(vm, out.array, SHAPE(0, 1)), 9);
  assert_int_equal(number_at(vm, out.array, SHAPE(1, 1)), 9);
  tl_drop(vm, name);
  name = text_slot(vm, "imag");
  steps[0].field = name.string;
  path = (tl_path){1, 0, steps, false};
  value = tl_weak_float(0.5);
  assert_true(tl_path_set(vm, &out, &path, &part, &value, &x));
  assert_true(((tl_c128 *)(void *)x.array->data)[5].im == 0.5);
  assert_true(((tl_c128 *)(void *)x.array->data)[5].re == 6);
  tl_drop(vm, name);
  tl_drop(vm, x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      INDEX_TEST(test_read_errors),
      INDEX_TEST(test_write_errors),
      INDEX_TEST(test_lists),
      INDEX_TEST(test_list_slices_set),
      INDEX_TEST(test_storing_into_itself),
      INDEX_TEST(test_strings),
      INDEX_TEST(test_ranges),
      INDEX_TEST(test_attributes),
      INDEX_TEST(test_records),
      INDEX_TEST(test_nested_set),
      INDEX_TEST(test_nested_failure),
      INDEX_TEST(test_array_steps),
      INDEX_TEST(test_attribute_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
