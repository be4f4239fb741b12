// tally.h: values from C to Tally and back.

#include <math.h>

#include "tests/unit/host.h"

// Sets a variable and gives the handle up.
static void set(host *h, const char *name, tally_value value) {
  assert_int_equal(tally_set_global(h->vm, name, value), TALLY_OK);
  tally_release(h->vm, value);
}

static void test_scalars_go_in(void **state) {
  host *h = *state;
  tally_value v;
  assert_int_equal(tally_from_none(h->vm, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "none");
  set(h, "n", v);
  assert_int_equal(tally_from_bool(h->vm, 7, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "bool");
  set(h, "b", v);
  assert_int_equal(tally_from_int(h->vm, INT64_MIN, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "int64");
  set(h, "i", v);
  assert_int_equal(tally_from_float(h->vm, -0.0, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "float64");
  set(h, "f", v);
  assert_int_equal(tally_from_complex(h->vm, 1.5, -2, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "complex128");
  set(h, "z", v);
  check_value(h, "(n, b, i, f, z)",
              "(none, true, -9223372036854775808, -0.0, 1.5 - 2.0i)");
}

static void test_scalars_from_c_are_weak(void **state) {
  host *h = *state;
  tally_value v;
  assert_int_equal(tally_from_int(h->vm, 2, &v), TALLY_OK);
  set(h, "two", v);
  assert_int_equal(tally_from_float(h->vm, 0.5, &v), TALLY_OK);
  set(h, "half", v);
  v = eval(h, "int8([1, 2]) * two");
  assert_string_equal(tally_type(h->vm, v), "2 * int8");
  tally_release(h->vm, v);
  v = eval(h, "float32([1, 2]) * half");
  assert_string_equal(tally_type(h->vm, v), "2 * float32");
  tally_release(h->vm, v);
}

static void test_scalars_come_out(void **state) {
  host *h = *state;
  int64_t i = 0;
  double re = 0, im = 0, f = 0;
  int b = 7;
  tally_value v = eval(h, "uint8(255)");
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
  assert_int_equal(i, 255);
  assert_int_equal(tally_to_float(h->vm, v, &f), TALLY_OK);
  assert_true(f == 255);
  assert_int_equal(tally_to_complex(h->vm, v, &re, &im), TALLY_OK);
  assert_true(re == 255 && im == 0);
  tally_release(h->vm, v);
  v = eval(h, "int16(-3)");
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
  assert_int_equal(i, -3);
  tally_release(h->vm, v);
  v = eval(h, "float32(0.1)");
  assert_int_equal(tally_to_float(h->vm, v, &f), TALLY_OK);
  assert_true(f == (double)0.1f);
  tally_release(h->vm, v);
  v = eval(h, "nan");
  assert_int_equal(tally_to_float(h->vm, v, &f), TALLY_OK);
  assert_true(isnan(f));
  tally_release(h->vm, v);
  v = eval(h, "complex64(1 - 2i)");
  assert_int_equal(tally_to_complex(h->vm, v, &re, &im), TALLY_OK);
  assert_true(re == 1 && im == -2);
  tally_release(h->vm, v);
  v = eval(h, "1 > 2");
  assert_int_equal(tally_to_bool(h->vm, v, &b), TALLY_OK);
  assert_int_equal(b, 0);
  tally_release(h->vm, v);
}

static void test_what_does_not_fit_is_a_type_error(void **state) {
  host *h = *state;
  int64_t i = 5;
  double f = 5, im;
  int b = 5;
  const char *text = NULL;
  tally_array array;
  tally_value v = eval(h, "uint64(9223372036854775807) + uint64(9)");
  CHECK_ERROR(h, tally_to_int(h->vm, v, &i), TALLY_ERR_TYPE, "int64");
  tally_release(h->vm, v);
  v = eval(h, "1.5");
  CHECK_ERROR(h, tally_to_int(h->vm, v, &i), TALLY_ERR_TYPE, "float64");
  CHECK_ERROR(h, tally_to_bool(h->vm, v, &b), TALLY_ERR_TYPE, "a bool");
  CHECK_ERROR(h, tally_to_string(h->vm, v, &text, NULL), TALLY_ERR_TYPE,
              "a string");
  CHECK_ERROR(h, tally_to_buffer(h->vm, v, &array), TALLY_ERR_TYPE, "an array");
  tally_release(h->vm, v);
  v = eval(h, "2i");
  CHECK_ERROR(h, tally_to_float(h->vm, v, &f), TALLY_ERR_TYPE, "a real number");
  tally_release(h->vm, v);
  v = eval(h, "[1.0]");
  CHECK_ERROR(h, tally_to_float(h->vm, v, &f), TALLY_ERR_TYPE, "1 * float64");
  tally_release(h->vm, v);
  v = eval(h, "true");
  CHECK_ERROR(h, tally_to_int(h->vm, v, &i), TALLY_ERR_TYPE, "an integer");
  CHECK_ERROR(h, tally_to_complex(h->vm, v, &f, &im), TALLY_ERR_TYPE,
              "a number");
  tally_release(h->vm, v);
  // What is asked for stays as it was.
  assert_true(i == 5 && f == 5 && b == 5 && text == NULL);
}

// --- Text -------------------------------------------------------------------

static void test_text_keeps_all_its_bytes(void **state) {
  host *h = *state;
  tally_value v;
  const char *text;
  size_t nbytes;
  assert_int_equal(tally_from_string(h->vm, "a\0b\xc3\xb6", 5, &v), TALLY_OK);
  assert_int_equal(tally_length(h->vm, v), 5);
  assert_int_equal(tally_to_string(h->vm, v, &text, &nbytes), TALLY_OK);
  assert_int_equal(nbytes, 5);
  assert_memory_equal(text, "a\0b\xc3\xb6", 6);
  set(h, "s", v);
  check_value(h, "len(s)", "4");
  assert_int_equal(tally_from_string(h->vm, "", 0, &v), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, v, &text, &nbytes), TALLY_OK);
  assert_string_equal(text, "");
  tally_release(h->vm, v);
}

static void test_malformed_text_is_refused(void **state) {
  host *h = *state;
  static const char *const wrong[] = {
      "\x80",
      "\xc3",
      "\xc0\xaf",
      "\xed\xa0\x80",
      "\xf4\x90\x80\x80",
      "\xf8\x88\x80\x80\x80",
  };
  tally_value v;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    CHECK_ERROR(h, tally_from_string(h->vm, wrong[i], strlen(wrong[i]), &v),
                TALLY_ERR_VALUE, "UTF-8");
    const char *keys[] = {wrong[i]};
    tally_value one = eval(h, "1");
    CHECK_ERROR(h, tally_from_record(h->vm, 1, keys, &one, &v), TALLY_ERR_VALUE,
                "UTF-8");
    tally_release(h->vm, one);
  }
  CHECK_ERROR(h, tally_from_string(h->vm, "ab\xff", 3, &v), TALLY_ERR_VALUE,
              "2");
  tally_release(h->vm, eval(h, "1"));
}

static void test_sources_of_malformed_text_are_refused(void **state) {
  host *h = *state;
  assert_int_equal(tally_eval(h->vm, "x = \"a\xff\"", NULL), TALLY_ERR_SYNTAX);
  assert_non_null(strstr(tally_error(h->vm)->report, "UTF-8"));
  tally_value one = eval(h, "1");
  CHECK_ERROR(h, tally_move_global(h->vm, "a\xff", one), TALLY_ERR_VALUE,
              "UTF-8");
}

// --- Containers -------------------------------------------------------------

static void test_lists_and_records_nest(void **state) {
  host *h = *state;
  tally_value items[3], list, record, out, inner;
  const char *keys[] = {"list", "a b", "größe"};
  items[0] = eval(h, "[1, 2]");
  items[1] = eval(h, "\"text\"");
  assert_int_equal(tally_from_none(h->vm, &items[2]), TALLY_OK);
  assert_int_equal(tally_from_list(h->vm, 3, items, &list), TALLY_OK);
  tally_release(h->vm, items[0]);
  items[0] = list;
  assert_int_equal(tally_from_record(h->vm, 3, keys, items, &record), TALLY_OK);
  for (int i = 0; i < 3; i++) tally_release(h->vm, items[i]);
  assert_int_equal(tally_length(h->vm, record), 3);
  assert_int_equal(tally_field(h->vm, record, "list", &out), TALLY_OK);
  assert_int_equal(tally_length(h->vm, out), 3);
  assert_int_equal(tally_item(h->vm, out, 0, &inner), TALLY_OK);
  assert_string_equal(tally_type(h->vm, inner), "2 * int64");
  tally_release(h->vm, inner);
  tally_release(h->vm, out);
  assert_int_equal(tally_item(h->vm, record, 1, &out), TALLY_OK);
  assert_string_equal(tally_type(h->vm, out), "string");
  tally_release(h->vm, out);
  set(h, "r", record);
  check_value(h, "r",
              "(list: ([1, 2], \"text\", none), \"a b\": \"text\", "
              "größe: none)");
}

static void test_empty_containers(void **state) {
  host *h = *state;
  tally_value v, out;
  assert_int_equal(tally_from_list(h->vm, 0, NULL, &v), TALLY_OK);
  assert_int_equal(tally_length(h->vm, v), 0);
  CHECK_ERROR(h, tally_item(h->vm, v, 0, &out), TALLY_ERR_INDEX, "0");
  tally_release(h->vm, v);
  assert_int_equal(tally_from_record(h->vm, 0, NULL, NULL, &v), TALLY_OK);
  CHECK_ERROR(h, tally_item(h->vm, v, 0, &out), TALLY_ERR_INDEX, "0");
  CHECK_ERROR(h, tally_field(h->vm, v, "x", &out), TALLY_ERR_INDEX, "x");
  tally_release(h->vm, v);
}

static void test_a_key_given_twice_keeps_the_last(void **state) {
  host *h = *state;
  tally_value items[] = {eval(h, "1"), eval(h, "2")}, v;
  const char *keys[] = {"k", "k"};
  assert_int_equal(tally_from_record(h->vm, 2, keys, items, &v), TALLY_OK);
  assert_int_equal(tally_length(h->vm, v), 1);
  set(h, "r", v);
  check_value(h, "r.k", "2");
  tally_release(h->vm, items[0]);
  tally_release(h->vm, items[1]);
}

static void test_items_of_every_kind(void **state) {
  host *h = *state;
  tally_value v = eval(h, "reshape(arange(6), (3, 2))"), row, item;
  int64_t i;
  assert_int_equal(tally_length(h->vm, v), 3);
  assert_int_equal(tally_item(h->vm, v, 2, &row), TALLY_OK);
  assert_string_equal(tally_type(h->vm, row), "2 * int64");
  tally_release(h->vm, v);  // the row is a view, and outlives it
  assert_int_equal(tally_item(h->vm, row, 1, &item), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, item, &i), TALLY_OK);
  assert_int_equal(i, 5);
  tally_release(h->vm, item);
  CHECK_ERROR(h, tally_item(h->vm, row, 2, &item), TALLY_ERR_INDEX, "2");
  tally_release(h->vm, row);
  v = eval(h, "10..0 by -3");
  assert_int_equal(tally_length(h->vm, v), 4);
  assert_int_equal(tally_item(h->vm, v, 3, &item), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, item, &i), TALLY_OK);
  assert_int_equal(i, 1);
  tally_release(h->vm, item);
  tally_release(h->vm, v);
  static const struct {
    const char *source;
    size_t length;
  } nested[] = {
      {"[[1, 2], [], [3]]", 3},           {"[1, none]", 2},
      {"[(a: 1), (a: 2), (a: 3)]", 3},    {"categorical([\"a\", none])", 2},
      {"`bytes`([\"ab\", \"c\"])", 2},    {"`bytes`(\"abc\")", 3},
      {"categorical([\"a\", \"a\"])", 2},
  };
  for (size_t k = 0; k < sizeof nested / sizeof *nested; k++) {
    v = eval(h, nested[k].source);
    assert_int_equal(tally_length(h->vm, v), nested[k].length);
    tally_release(h->vm, v);
  }
  v = eval(h, "5");
  assert_int_equal(tally_length(h->vm, v), 0);
  assert_int_not_equal(tally_item(h->vm, v, 0, &item), TALLY_OK);
  assert_int_not_equal(tally_item(h->vm, v, SIZE_MAX, &item), TALLY_OK);
  assert_int_not_equal(tally_field(h->vm, v, "x", &item), TALLY_OK);
  tally_release(h->vm, v);
}

static void test_types_and_texts(void **state) {
  host *h = *state;
  static const struct {
    const char *source, *type, *text;
  } rows[] = {
      {"none", "none", "none"},
      {"zeros((2, 0, 3))", "2 * 0 * 3 * float64", NULL},
      {"[true, false]", "2 * bool", "[true, false]"},
      {"(1, \"a\")", "list", "(1, \"a\")"},
      {"(x: 1)", "record", "(x: 1)"},
      {"\"plain\"", "string", "plain"},
      {"x => x", "function", NULL},
      {"sum", "function", NULL},
      {"float32", "type", "float32"},
      {"int8(3)", "int8", "3"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tally_value v = eval(h, rows[i].source);
    assert_string_equal(tally_type(h->vm, v), rows[i].type);
    tally_release(h->vm, v);
    if (rows[i].text != NULL)
      check_value(h, rows[i].source, rows[i].text);
  }
}

static void test_globals_hold_and_give(void **state) {
  host *h = *state;
  tally_value v = eval(h, "[1, 2, 3]"), out;
  assert_int_equal(tally_set_global(h->vm, "größe", v), TALLY_OK);
  run_ok(h, "größe[0] = 10");
  check_value(h, "größe", "[10, 2, 3]");
  assert_int_equal(tally_get_global(h->vm, "größe", &out), TALLY_OK);
  tally_release(h->vm, out);
  assert_int_equal(tally_move_global(h->vm, "y", v), TALLY_OK);
  CHECK_ERROR(h, tally_get_global(h->vm, "nosuch", &out), TALLY_ERR_NAME,
              "nosuch");
  run_ok(h, "del(y)");
  CHECK_ERROR(h, tally_get_global(h->vm, "y", &out), TALLY_ERR_NAME, "y");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_scalars_go_in),
      HOST_TEST(test_scalars_from_c_are_weak),
      HOST_TEST(test_scalars_come_out),
      HOST_TEST(test_what_does_not_fit_is_a_type_error),
      HOST_TEST(test_text_keeps_all_its_bytes),
      HOST_TEST(test_malformed_text_is_refused),
      HOST_TEST(test_sources_of_malformed_text_are_refused),
      HOST_TEST(test_lists_and_records_nest),
      HOST_TEST(test_empty_containers),
      HOST_TEST(test_a_key_given_twice_keeps_the_last),
      HOST_TEST(test_items_of_every_kind),
      HOST_TEST(test_types_and_texts),
      HOST_TEST(test_globals_hold_and_give),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
