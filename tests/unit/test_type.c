// Datashapes: text to type and back, errors, matching, near names.
#include "tests/unit/fixture.h"

#include <stdio.h>

#include "vm/array/array.h"
#include "vm/suggest.h"
#include "vm/types/type.h"
#include "vm/values/list.h"

static int type_teardown(void **state) {
  tl_types_close(*state);
  return fixture_teardown(state);
}
#define TYPE_TEST(name) \
  cmocka_unit_test_setup_teardown(name, fixture_setup, type_teardown)

static tl_type *parse(tl_vm *vm, const char *text) {
  tl_type *type = tl_type_parse(vm, text, strlen(text));
  if (type == NULL)
    fail_msg("%s: %s", text, vm->error.message);
  return type;
}

static void check_text(tl_vm *vm, const char *text, const char *wanted) {
  tl_type *type = parse(vm, text);
  tl_string *printed = tl_type_text(vm, type);
  assert_string_equal(printed->text, wanted);
  // What is printed is the same type again.
  assert_ptr_equal(parse(vm, printed->text), type);
  tl_drop(vm, tl_own_string(printed));
}

static void check_same(tl_vm *vm, const char *text) {
  check_text(vm, text, text);
}

static void test_print(void **state) {
  tl_vm *vm = *state;
  for (int i = 0; i < TL_DTYPE_COUNT; i++) check_same(vm, tl_dtypes[i].name);
  check_same(vm, "3 * 4 * float64");
  check_same(vm, "N * M * Scalar");
  check_same(vm, "Dims... * 3 * float32");
  check_same(vm, "... * float32");
  check_same(vm, "10 * {name: string, path: var * {t: int64, v: float32}}");
  check_same(vm, "{x: float64, \"two words\": ?int32}");
  check_same(vm, "{\"a \\\"b\\\" \\\\\": int8}");
  check_same(vm, "3 * ?{x: float64}");
  check_same(vm, "list");
  check_same(vm, "Größe * float64");
  check_same(vm, "{name: fixed_string[16], c: char, raw: bytes}");
  check_same(vm, "3 * pointer[var * {x: int8}]");
  check_same(vm, "categorical[string, [\"a\", \"b \\\"c\\\"\"]]");
  check_same(vm, "categorical[int64, []]");
  check_same(vm, "(int64, 3 * float64)");
  check_same(vm, "(int64,)");
  check_same(vm, "() -> int64");
  check_same(vm, "(float64, (int8) -> bool) -> () -> none");
  check_same(vm, "fixed * N * var * float64");
  check_text(vm, "3 ** 2 * N ** 2 * int", "3 * 3 * N * N * int64");
  check_text(vm, "(double)", "float64");
  check_text(vm, "{'a b': size_t, x: intptr}", "{\"a b\": uint64, x: int64}");
  check_text(vm, " 3*4 * # rows\n int ", "3 * 4 * int64");
  check_text(vm, "{a:real,b:complex,c:float,}",
             "{a: float64, b: complex128, c: float64}");
}

static void test_interned(void **state) {
  tl_vm *vm = *state;
  assert_ptr_equal(parse(vm, "3*float64"), parse(vm, " 3 * float64"));
  assert_ptr_equal(parse(vm, "{x: int8}"), parse(vm, "{ x : int8 }"));
  assert_true(parse(vm, "{x: int8}") != parse(vm, "{y: int8}"));
  assert_true(parse(vm, "N * int8") != parse(vm, "M * int8"));
  char text[40];
  for (int i = 0; i < 500; i++) {
    snprintf(text, sizeof text, "%d * float64", i);
    tl_type *type = parse(vm, text);
    assert_int_equal(type->size, i);
    assert_ptr_equal(parse(vm, text), type);
  }
}

static void check_wrong(tl_vm *vm, const char *text, const char *message) {
  assert_null(tl_type_parse(vm, text, strlen(text)));
  assert_string_equal(failure(vm, TALLY_ERR_TYPE), message);
  tl_error_clear(vm);
}

static void test_errors(void **state) {
  tl_vm *vm = *state;
  check_wrong(vm, "",
              "expected a dimension, a dtype or \"{\", but the type `` ends "
              "there");
  check_wrong(vm, "3 *",
              "expected a dimension, a dtype or \"{\", but the type `3 *` "
              "ends there");
  check_wrong(
      vm, "3 float64",
      "expected \"*\" after a dimension, got \"float64\" at column 3 of "
      "the type `3 float64`");
  check_wrong(vm, "2 * flaot64",
              "unknown type flaot64 at column 5 of `2 * flaot64`; did you mean "
              "float64?");
  check_wrong(
      vm, "n * float64",
      "expected a dimension (a number, var, Fixed, Dims..., or a name of "
      "its own that begins with a capital), got \"n\" at column 1 of the "
      "type `n * float64`");
  check_wrong(vm, "float64 }",
              "expected the end of the type, got \"}\" at column 9 of the type "
              "`float64 }`");
  check_wrong(vm, "{x: int8, x: int8}",
              "the struct type has a second field x at column 11 of the type "
              "`{x: int8, x: int8}`");
  check_wrong(
      vm, "{x int8}",
      "expected \":\" after a field's name, got \"int8\" at column 4 of "
      "the type `{x int8}`");
  check_wrong(vm, "{\"x",
              "expected \" after a field's name, but the type `{\"x` ends "
              "there");
  check_wrong(vm, "A... * B... * int8",
              "a type has at most one \"...\" among its dimensions at column 2 "
              "of the type `A... * B... * int8`");
  check_wrong(vm, "?3 * int8",
              "\"?\" stands before an item's type, as in 3 * ?float64: none at "
              "column 2 of the type `?3 * int8`");
  assert_null(tl_type_parse(vm, "99999999999999999999 * int8", 27));
  failure(vm, TALLY_ERR_TYPE);
}

static void test_hostile(void **state) {
  tl_vm *vm = *state;
  enum { N = 100000 };
  char *text = malloc(N);
  memset(text, '{', N);
  assert_null(tl_type_parse(vm, text, N));
  failure(vm, TALLY_ERR_TYPE);
  tl_error_clear(vm);
  memset(text, '?', N);
  assert_null(tl_type_parse(vm, text, N));
  tl_error_clear(vm);
  for (int i = 0; i < N; i += 2) memcpy(text + i, "2*", 2);
  assert_null(tl_type_parse(vm, text, N));
  free(text);
}

// Random words: each is a type that prints as itself, or an error.
static void test_random_texts(void **state) {
  tl_vm *vm = *state;
  static const char *const words[] = {
      "3",    "*", "var", "N",      "...",       "{",  "}",   "x",
      ":",    ",", "?",   "#",      "\n",        "\"", "int", "int8",
      "list", "é", "* ",  "* int8", "{x: int8}", "999"};
  uint64_t seed = 7;
  int parsed = 0;
  for (int turn = 0; turn < 30000; turn++) {
    char text[200] = "";
    int count = 1 + turn % 8;
    for (int i = 0; i < count; i++) {
      seed = seed * UINT64_C(6364136223846793005) + 1;
      strcat(text, words[(seed >> 33) % (sizeof words / sizeof *words)]);
    }
    tl_type *type = tl_type_parse(vm, text, strlen(text));
    if (type == NULL) {
      failure(vm, TALLY_ERR_TYPE);
      tl_error_clear(vm);
      continue;
    }
    tl_string *printed = tl_type_text(vm, type);
    assert_ptr_equal(tl_type_parse(vm, printed->text, printed->length), type);
    tl_drop(vm, tl_own_string(printed));
    parsed++;
  }
  assert_true(parsed > 1000);
}

// --- Matching ---------------------------------------------------------------

static tl_slot array_of(tl_vm *vm, tl_dtype dtype, int ndim,
                        const int64_t *shape) {
  return tl_own_array(tl_array_zeros(vm, dtype, ndim, shape));
}
#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

static void test_typeof(void **state) {
  tl_vm *vm = *state;
  tl_slot a = array_of(vm, TL_FLOAT32, 2, SHAPE(3, 4));
  assert_ptr_equal(tl_type_of(vm, a), parse(vm, "3 * 4 * float32"));
  assert_ptr_equal(tl_type_of(vm, tl_weak_int(1)), parse(vm, "int64"));
  assert_ptr_equal(tl_type_of(vm, tl_none()), parse(vm, "none"));
  tl_slot s = text_slot(vm, "x");
  assert_ptr_equal(tl_type_of(vm, s), parse(vm, "string"));
  tl_drop(vm, s);
  tl_drop(vm, a);
}

static void test_match(void **state) {
  tl_vm *vm = *state;
  tl_slot a = array_of(vm, TL_FLOAT64, 2, SHAPE(3, 4));
  tl_slot b = array_of(vm, TL_INT8, 1, SHAPE(4));
  tl_bindings bindings = {0};
  assert_true(
      tl_type_match(vm, parse(vm, "N * M * float64"), a, &bindings, "x"));
  assert_true(tl_type_match(vm, parse(vm, "M * T"), b, &bindings, "y"));
  assert_true(tl_type_match(vm, parse(vm, "... * int8"), b, &bindings, "y"));
  assert_true(
      tl_type_match(vm, parse(vm, "D... * 4 * float64"), a, &bindings, "x"));
  assert_true(tl_type_match(vm, parse(vm, "D... * int64"), tl_int(1),
                            &(tl_bindings){0}, "x"));
  assert_false(tl_type_match(vm, parse(vm, "N * T"), b, &bindings, "y"));
  assert_string_equal(failure(vm, TALLY_ERR_TYPE),
                      "y: expected N * T, got 4 * int8 (N is 3 from before, "
                      "here axis 0 is 4)");
  tl_error_clear(vm);
  // What the first part of a list or record has bound goes with the whole.
  tl_list *pair = tl_list_new(vm, 2);
  assert_true(tl_list_push_own(vm, &pair, tl_int(1)));
  assert_true(tl_list_push_own(vm, &pair, tl_int(2)));
  int seen = bindings.count;
  assert_false(tl_type_match(vm, parse(vm, "(A, string)"), tl_own_list(pair),
                             &bindings, "z"));
  assert_int_equal(bindings.count, seen);
  tl_drop(vm, tl_own_list(pair));
  tl_drop(vm, a);
  tl_drop(vm, b);
}

static void check_mismatch(tl_vm *vm, const char *pattern, tl_slot value,
                           const char *message) {
  tl_bindings bindings = {0};
  assert_false(tl_type_match(vm, parse(vm, pattern), value, &bindings, "x"));
  assert_string_equal(failure(vm, TALLY_ERR_TYPE), message);
  tl_error_clear(vm);
}

static void test_mismatch(void **state) {
  tl_vm *vm = *state;
  tl_slot a = array_of(vm, TL_FLOAT64, 2, SHAPE(3, 4));
  check_mismatch(vm, "N * float64", a,
                 "x: expected N * float64, got 3 * 4 * float64 (2 dimensions "
                 "against 1)");
  check_mismatch(
      vm, "N * N * float64", a,
      "x: expected N * N * float64, got 3 * 4 * float64 (N is 3 from "
      "before, here axis 1 is 4)");
  check_mismatch(
      vm, "3 * 5 * float64", a,
      "x: expected 3 * 5 * float64, got 3 * 4 * float64 (axis 1 is 4 "
      "against 5)");
  check_mismatch(vm, "N * M * int8", a,
                 "x: expected N * M * int8, got 3 * 4 * float64 (the items are "
                 "float64)");
  check_mismatch(vm, "float64", tl_int(1), "x: expected float64, got int64");
  check_mismatch(vm, "list", tl_none(), "x: expected list, got none");
  tl_drop(vm, a);
}

static void test_dtype_argument(void **state) {
  tl_vm *vm = *state;
  tl_dtype dtype;
  tl_slot type = tl_type_slot(parse(vm, "float32"));
  assert_true(tl_dtype_argument(vm, "zeros", type, &dtype));
  assert_int_equal(dtype, TL_FLOAT32);
  assert_false(tl_dtype_argument(vm, "zeros", tl_int(3), &dtype));
  assert_string_equal(failure(vm, TALLY_ERR_TYPE),
                      "zeros: dtype must be a type such as float64, not int64");
}

// --- Near names -------------------------------------------------------------

static const char *nearest(const char *name, const char *const *candidates) {
  tl_suggestion near;
  tl_suggest_begin(&near, name, strlen(name));
  for (; *candidates != NULL; candidates++) {
    tl_suggest_offer(&near, *candidates, strlen(*candidates));
  }
  return near.best;
}

static void test_near_names(void **state) {
  (void)state;
  const char *const names[] = {"concat", "mean",  "median",
                               "sum",    "größe", NULL};
  assert_string_equal(nearest("conact", names), "concat");
  assert_string_equal(nearest("maen", names), "mean");
  assert_string_equal(nearest("Sum", names), "sum");
  assert_string_equal(nearest("grösse", names), "größe");
  assert_null(nearest("reshape", names));
  assert_null(nearest("x", names));
  assert_null(nearest("", names));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TYPE_TEST(test_print),          TYPE_TEST(test_interned),
      TYPE_TEST(test_errors),         TYPE_TEST(test_random_texts),
      TYPE_TEST(test_hostile),        TYPE_TEST(test_typeof),
      TYPE_TEST(test_match),          TYPE_TEST(test_mismatch),
      TYPE_TEST(test_dtype_argument), TYPE_TEST(test_near_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
