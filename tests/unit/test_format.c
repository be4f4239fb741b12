// Values as text: shortest floats, layouts, Python's format language.
#include "tests/unit/fixture.h"

#include <math.h>

#include "vm/array/array.h"
#include "vm/text/format.h"
#include "vm/array/range.h"

static void shows(tl_vm *vm, tl_slot value, const char *expected) {
  tl_text text;
  tl_text_open(&text, vm);
  assert_true(tl_format_value(vm, &text, value, false, 0));
  tl_text_putc(&text, 0);
  assert_string_equal(text.bytes, expected);
  tl_text_close(&text);
  tl_drop(vm, value);
}

static void formats(tl_vm *vm, tl_slot value, const char *spec,
                    const char *expected) {
  tl_text text;
  tl_text_open(&text, vm);
  bool ok = tl_format_spec(vm, &text, value, spec, strlen(spec));
  if (!ok)
    print_message("%s: %s\n", spec, vm->error.message);
  assert_true(ok);
  tl_text_putc(&text, 0);
  assert_string_equal(text.bytes, expected);
  tl_text_close(&text);
  tl_drop(vm, value);
}

static void refuses(tl_vm *vm, tl_slot value, const char *spec) {
  tl_text text;
  tl_text_open(&text, vm);
  assert_false(tl_format_spec(vm, &text, value, spec, strlen(spec)));
  failure(vm, TALLY_ERR_VALUE);
  tl_error_clear(vm);
  tl_text_close(&text);
  tl_drop(vm, value);
}

// --- Shortest text ----------------------------------------------------------

static void floats_have_the_fewest_digits(void **state) {
  (void)state;
  static const struct {
    double value;
    const char *text;
  } cases[] = {
      {1, "1.0"},
      {0.1, "0.1"},
      {-0.0, "-0.0"},
      {1e300, "1e+300"},
      {1e-5, "1e-05"},
      {0.0001, "0.0001"},
      {1e15, "1000000000000000.0"},
      {1e16, "1e+16"},
      {123456789.125, "123456789.125"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {9007199254740993.0, "9007199254740992.0"},
      {0.30000000000000004, "0.30000000000000004"},
      {(double)INFINITY, "inf"},
      {-(double)INFINITY, "-inf"},
      {(double)NAN, "nan"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[32];
    tl_format_real(cases[i].value, TL_FLOAT64, text);
    assert_string_equal(text, cases[i].text);
  }
}

static void float32_has_digits_of_its_own(void **state) {
  (void)state;
  char text[32];
  tl_format_real((double)0.1f, TL_FLOAT32, text);
  assert_string_equal(text, "0.1");
  tl_format_real((double)16777216.0f, TL_FLOAT32, text);
  assert_string_equal(text, "16777216.0");
  tl_format_real((double)1e-45f, TL_FLOAT32, text);
  assert_string_equal(text, "1e-45");
  tl_format_real((double)3.4028235e38f, TL_FLOAT32, text);
  assert_string_equal(text, "3.4028235e+38");
}

static void powers_of_two_read_back(void **state) {
  (void)state;
  for (int e = -1074; e < 1024; e++) {
    char text[32];
    double value = ldexp(1, e);
    tl_format_real(value, TL_FLOAT64, text);
    assert_true(strtod(text, NULL) == value);
  }
}

// --- Layouts ----------------------------------------------------------------

static tl_array *matrix(tl_vm *vm, int64_t rows, int64_t columns) {
  int64_t shape[] = {rows, columns};
  tl_array *a = tl_array_new(vm, TL_INT64, 2, shape);
  assert_non_null(a);
  for (int64_t i = 0; i < rows * columns; i++)
    ((int64_t *)(void *)a->data)[i] = i;
  return a;
}

static void values_have_one_text(void **state) {
  tl_vm *vm = *state;
  shows(vm, tl_int(-7), "-7");
  shows(vm, tl_bool(true), "true");
  shows(vm, tl_none(), "none");
  shows(vm, text_slot(vm, "a\"b"), "a\"b");
  shows(vm, tl_own_array(matrix(vm, 2, 2)), "[[0, 1], [2, 3]]");
  shows(vm, tl_own_array(matrix(vm, 2, 0)), "[[], []]");
  shows(vm, tl_own_range(tl_range_new(vm, 0, 5, 1)), "0..5");
  shows(vm, tl_own_range(tl_range_new(vm, 10, 0, -2)), "10..0 by -2");
  shows(vm, tl_new_complex(vm, 1, -2, false), "1.0 - 2.0i");
  tl_slot items[] = {text_slot(vm, "say \"hi\"\n"), tl_int(1)};
  shows(vm, list_slot(vm, 2, items), "(\"say \\\"hi\\\"\\n\", 1)");
  tl_slot one[] = {tl_int(1)};
  shows(vm, list_slot(vm, 1, one), "(1,)");
  shows(vm, list_slot(vm, 0, one), "()");
}

static void keys_that_are_no_names_are_quoted(void **state) {
  tl_vm *vm = *state;
  static const char *const keys[] = {"x", "a b", "größe", "for", "x₁", "1st"};
  tl_record *record = tl_record_new(vm, 0);
  for (int i = 0; i < 6; i++) {
    tl_slot value = tl_int(i);
    assert_true(tl_record_set_name(vm, &record, keys[i], &value));
  }
  shows(vm, tl_own_record(record),
        "(x: 0, \"a b\": 1, größe: 2, \"for\": 3, x₁: 4, \"1st\": 5)");
  shows(vm, tl_own_record(tl_record_new(vm, 0)), "(:)");
}

static void wide_matrices_take_a_line_a_row(void **state) {
  tl_vm *vm = *state;
  shows(vm, tl_own_array(matrix(vm, 2, 20)),
        "[[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, "
        "19],\n"
        " [20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, "
        "37, 38, 39]]");
}

static void a_deep_nest_is_written(void **state) {
  tl_vm *vm = *state;
  enum { DEPTH = 100000 };
  tl_slot nest = tl_int(1);
  for (int i = 0; i < DEPTH; i++) nest = list_slot(vm, 1, &nest);
  tl_text text;
  tl_text_open(&text, vm);
  assert_true(tl_format_value(vm, &text, nest, false, 0));
  assert_int_equal(text.length, 3 * DEPTH + 1);
  tl_text_close(&text);
  tl_drop(vm, nest);
}

// --- Python's format language -----------------------------------------------

static void floats_follow_the_specification(void **state) {
  tl_vm *vm = *state;
  static const struct {
    double value;
    const char *spec, *text;
  } cases[] = {
      {-0.0, ".3f", "-0.000"},
      {99999.5, ".3f", "99999.500"},
      {(double)INFINITY, ".3f", "inf"},
      {-(double)INFINITY, ".3f", "-inf"},
      {1.2345678901234568e+17, ".3f", "123456789012345680.000"},
      {3.141592653589793, "8.2f", "    3.14"},
      {-0.04, "8.2f", "   -0.04"},
      {1234567.891, "8.2f", "1234567.89"},
      {10000000000.0, "8.2f", "10000000000.00"},
      {100.0, "8.2f", "  100.00"},
      {1.2345678901234568e+17, "8.2f", "123456789012345680.00"},
      {-0.04, "<8.2f", "-0.04   "},
      {0.0, "<8.2f", "0.00    "},
      {-0.0, "<8.2f", "-0.00   "},
      {100.0, "<8.2f", "100.00  "},
      {3.141592653589793, "^8.2f", "  3.14  "},
      {0.0, "^8.2f", "  0.00  "},
      {99999.5, "^8.2f", "99999.50"},
      {1e+22, "^8.2f", "10000000000000000000000.00"},
      {1234567.891, "08.2f", "1234567.89"},
      {1234567.891, "+.1f", "+1234567.9"},
      {1e-7, "+.1f", "+0.0"},
      {3.141592653589793, ".2e", "3.14e+00"},
      {-0.0, ".2e", "-0.00e+00"},
      {99999.5, ".2e", "1.00e+05"},
      {(double)INFINITY, ".2e", "inf"},
      {0.0, "g", "0"},
      {1e+22, ".0%", "999999999999999983222784%"},
      {100.0, ".1%", "10000.0%"},
      {-(double)INFINITY, ".1%", "-inf%"},
      {3.141592653589793, ",.2f", "3.14"},
      {100.0, "_.3f", "100.000"},
      {-(double)INFINITY, "_.3f", "-inf"},
      {100.0, ".3", "1e+02"},
      {99999.5, ".3", "1e+05"},
      {-0.0, ".10", "-0.0"},
      {100.0, ".10", "100.0"},
      {99999.5, ".10", "99999.5"},
      {0.5, ".10", "0.5"},
      {100.0, "10", "     100.0"},
      {1e+22, "10", "     1e+22"},
      {1.2345678901234568e+17, "010,.1f", "123,456,789,012,345,680.0"},
      {-0.0, "+e", "-0.000000e+00"},
      {1234567.891, " .2g", " 1.2e+06"},
      {-0.0, " .2g", "-0"},
      {1e-7, " .2g", " 1e-07"},
      {-(double)INFINITY, " .2g", "-inf"},
      {0.5, " .2g", " 0.5"},
      {3.141592653589793, "#.0f", "3."},
      {-0.04, "#.0f", "-0."},
      {0.0, "#.0f", "0."},
      {-0.0, "#.0f", "-0."},
      {100.0, "#.0f", "100."},
      {-(double)INFINITY, "#.0f", "-inf"},
      {0.5, "#.0f", "0."},
      {1e+22, "#.0f", "10000000000000000000000."},
      {1.2345678901234568e+17, "#.0f", "123456789012345680."},
      {-0.04, "E", "-4.000000E-02"},
      {1e-7, "E", "1.000000E-07"},
      {100.0, "E", "1.000000E+02"},
      {0.5, "E", "5.000000E-01"},
      {0.0, ".3G", "0"},
      {0.0, "%", "0.000000%"},
      {-0.0, "%", "-0.000000%"},
      {-0.0, "n", "-0"},
      {100.0, "=+9.1f", "+   100.0"},
      {0.5, ".0f", "0"},
      {3.141592653589793, "012,", "3.141592653589793"},
      {0.0, "012,", "00,000,000.0"},
      {-0.0, "<05.1f", "-0.00"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    formats(vm, tl_float(cases[i].value), cases[i].spec, cases[i].text);
}

static void integers_follow_the_specification(void **state) {
  tl_vm *vm = *state;
  static const struct {
    int64_t value;
    const char *spec, *text;
  } cases[] = {
      {0, "5d", "    0"},
      {65, "5d", "   65"},
      {42, "<5d", "42   "},
      {-42, "<5d", "-42  "},
      {0, "<5d", "0    "},
      {255, "<5d", "255  "},
      {1234567, "<5d", "1234567"},
      {65, "<5d", "65   "},
      {9223372036854775807, "05d", "9223372036854775807"},
      {9223372036854775807, "x", "7fffffffffffffff"},
      {0, "X", "0"},
      {9223372036854775807, "X", "7FFFFFFFFFFFFFFF"},
      {9223372036854775807, "#X", "0X7FFFFFFFFFFFFFFF"},
      {65, "#X", "0X41"},
      {INT64_MIN, "b",
       "-1000000000000000000000000000000000000000000000000000000000000000"},
      {42, "#b", "0b101010"},
      {-42, "#b", "-0b101010"},
      {1234567, "#b", "0b100101101011010000111"},
      {65, "#b", "0b1000001"},
      {42, "o", "52"},
      {65, "o", "101"},
      {-42, "#o", "-0o52"},
      {1234567, "#o", "0o4553207"},
      {255, "010,", "00,000,255"},
      {0, ",", "0"},
      {1234567, ",", "1,234,567"},
      {-42, "_", "-42"},
      {INT64_MIN, "_", "-9_223_372_036_854_775_808"},
      {9223372036854775807, "_", "9_223_372_036_854_775_807"},
      {65, "_", "65"},
      {255, "_x", "ff"},
      {9223372036854775807, "_x", "7fff_ffff_ffff_ffff"},
      {9223372036854775807, "+d", "+9223372036854775807"},
      {0, " d", " 0"},
      {255, " d", " 255"},
      {1234567, " d", " 1234567"},
      {42, "e", "4.200000e+01"},
      {255, "e", "2.550000e+02"},
      {INT64_MIN, ".1f", "-9223372036854775808.0"},
      {0, "%", "0.000000%"},
      {255, "%", "25500.000000%"},
      {9223372036854775807, "%", "922337203685477580800.000000%"},
      {-42, "*^9", "***-42***"},
      {0, "*^9", "****0****"},
      {255, "*^9", "***255***"},
      {0, "=+8", "+      0"},
      {255, "=+8", "+    255"},
      {-42, ">8", "     -42"},
      {255, ">8", "     255"},
      {65, ">8", "      65"},
      {0, "n", "0"},
      {255, "n", "255"},
      {9223372036854775807, "g", "9.22337e+18"},
      {-42, "012_b", "-0_0010_1010"},
      {65, "012_b", "00_0100_0001"},
      {42, "<05", "42000"},
      {-42, "<05", "-4200"},
      {9223372036854775807, "<05", "9223372036854775807"},
      {0, "#_b", "0b0"},
      {9223372036854775807, "#_b",
       "0b111_1111_1111_1111_1111_1111_1111_1111_1111_1111_1111_1111_1111_1111_"
       "1111_1111"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    formats(vm, tl_int(cases[i].value), cases[i].spec, cases[i].text);
}

static void strings_follow_the_specification(void **state) {
  tl_vm *vm = *state;
  static const struct {
    const char *value, *spec, *text;
  } cases[] = {
      {"abcdef", "5", "abcdef"},  {"", "5", "     "},
      {"ä€", "5", "ä€   "},       {"ab", ">5", "   ab"},
      {"abcdef", ">5", "abcdef"}, {"", ">5", "     "},
      {"ä€", ">5", "   ä€"},      {"abcdef", "*^6", "abcdef"},
      {"ab", ".3", "ab"},         {"ä€", ".3", "ä€"},
      {"ä€", "05", "ä€000"},      {"ab", "<7.2", "ab     "},
      {"", "<7.2", "       "},    {"ab", "s", "ab"},
      {"ä€", "s", "ä€"},          {"abcdef", "^7s", "abcdef "},
      {"", "^7s", "       "},     {"abcdef", "é>6", "abcdef"},
      {"", "é>6", "éééééé"},      {"ä€", "é>6", "ééééä€"},
      {"速度", "6", "速度  "},    {"速度", ">6", "  速度"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    formats(vm, text_slot(vm, cases[i].value), cases[i].spec, cases[i].text);
}

static void other_values_follow_it_too(void **state) {
  tl_vm *vm = *state;
  formats(vm, tl_own_array(matrix(vm, 2, 2)), ".1f",
          "[[0.0, 1.0], [2.0, 3.0]]");
  formats(vm, tl_own_array(matrix(vm, 1, 3)), "03d", "[[000, 001, 002]]");
  formats(vm, tl_new_complex(vm, 1, -2, false), ".1f", "1.0 - 2.0i");
  formats(vm, tl_new_complex(vm, 1, 2, false), ">14.2f", "  1.00 + 2.00i");
  formats(vm, tl_bool(true), ">6", "  true");
  formats(vm, tl_bool(true), "d", "1");
  formats(vm, tl_int(0x1F600), "c", "😀");
}

static void wrong_specifications_are_refused(void **state) {
  tl_vm *vm = *state;
  refuses(vm, tl_int(1), "q");
  refuses(vm, tl_int(1), ".2d");
  refuses(vm, tl_int(1), "5.d");
  refuses(vm, tl_int(1), "99999999999d");
  refuses(vm, tl_int(-1), "c");
  refuses(vm, tl_int(255), ",x");
  refuses(vm, tl_float(1), "d");
  refuses(vm, tl_float(1), ".99999f");
  refuses(vm, text_slot(vm, "a"), "d");
  refuses(vm, text_slot(vm, "a"), "=5");
  refuses(vm, text_slot(vm, "a"), "+");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats_have_the_fewest_digits),
      cmocka_unit_test(float32_has_digits_of_its_own),
      cmocka_unit_test(powers_of_two_read_back),
      FIXTURE_TEST(values_have_one_text),
      FIXTURE_TEST(keys_that_are_no_names_are_quoted),
      FIXTURE_TEST(wide_matrices_take_a_line_a_row),
      FIXTURE_TEST(a_deep_nest_is_written),
      FIXTURE_TEST(floats_follow_the_specification),
      FIXTURE_TEST(integers_follow_the_specification),
      FIXTURE_TEST(strings_follow_the_specification),
      FIXTURE_TEST(other_values_follow_it_too),
      FIXTURE_TEST(wrong_specifications_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
