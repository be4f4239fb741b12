// The library's functions for lists, records and strings: what they change in
// place, and what they refuse. The scripts in tests/lang cover the rest.
#include "tests/unit/fixture.h"

#include <math.h>

#include "vm/array/array.h"
#include "stdlib/families.h"
#include "vm/builtin.h"
#include "vm/text/format.h"

enum { MOST = 4 };

// Calls a built-in as the VM does: what the slots still own is dropped after.
// "json.parse" is a module's.
static bool call(tl_vm *vm, const char *name, const tl_slot *args,
                 tl_slot *out) {
  tl_param params[TL_MAX_PARAMS];
  const char *module = NULL;
  if (strncmp(name, "json.", 5) == 0 || strncmp(name, "strings.", 8) == 0) {
    module = name[0] == 'j' ? "json" : "strings";
    name = strchr(name, '.') + 1;
  }
  const tl_builtin *builtin =
      tl_builtin_find(&tl_standard_library, module, name, strlen(name));
  assert_non_null(builtin);
  int count = tl_params_parse(builtin->params, params);
  tl_slot slots[TL_MAX_PARAMS];
  for (int i = 0; i < count; i++) {
    bool given = i < MOST && !tl_is_unset(args[i]);
    slots[i] = given ? args[i] : params[i].value;
  }
  bool ok = tl_builtin_run(vm, builtin, slots, out);
  for (int i = 0; i < count; i++) tl_drop(vm, slots[i]);
  return ok;
}

// The arguments of a call; those left out take their defaults.
typedef struct arguments {
  tl_slot slots[MOST];
} arguments;

static arguments args2(tl_slot a, tl_slot b) {
  return (arguments){{a, b, tl_unset(), tl_unset()}};
}

static arguments args1(tl_slot a) {
  return args2(a, tl_unset());
}

static arguments args3(tl_slot a, tl_slot b, tl_slot c) {
  return (arguments){{a, b, c, tl_unset()}};
}

static tl_slot result(tl_vm *vm, const char *name, arguments args) {
  tl_slot out;
  bool ok = call(vm, name, args.slots, &out);
  if (!ok)
    print_message("%s: %s\n", name, vm->error.message);
  assert_true(ok);
  return out;
}

static void shows(tl_vm *vm, tl_slot value, const char *expected) {
  tl_text text;
  tl_text_open(&text, vm);
  assert_true(tl_format_value(vm, &text, value, true, 0));
  tl_text_putc(&text, 0);
  assert_string_equal(text.bytes, expected);
  tl_text_close(&text);
  tl_drop(vm, value);
}

static void gives(tl_vm *vm, const char *name, arguments args,
                  const char *expected) {
  shows(vm, result(vm, name, args), expected);
}

static void refuses(tl_vm *vm, const char *name, arguments args,
                    tally_status kind, const char *message) {
  tl_slot out;
  assert_false(call(vm, name, args.slots, &out));
  assert_string_equal(failure(vm, kind), message);
  tl_error_clear(vm);
}

// (0, 1, 2, …)
static tl_slot counting(tl_vm *vm, int count) {
  tl_list *list = tl_list_new(vm, count);
  assert_non_null(list);
  for (int i = 0; i < count; i++) {
    tl_slot item = tl_int(i);
    assert_true(tl_list_push(vm, &list, &item));
  }
  return tl_own_list(list);
}

// --- Lists ------------------------------------------------------------------

static void a_dying_list_is_changed_in_place(void **state) {
  tl_vm *vm = *state;
  tl_slot list = counting(vm, 0);
  for (int i = 0; i < 1000; i++)
    list = result(vm, "append", args2(list, tl_int(i)));
  assert_int_equal(list.list->length, 1000);
  assert_int_equal(vm->stats.live, 1);
  tl_list *before = list.list;
  list = result(vm, "reverse", args1(list));
  list = result(vm, "sort", args1(list));
  assert_ptr_equal(list.list, before);
  assert_int_equal(list.list->items[999].i, 999);
  assert_int_equal(vm->stats.rc_inc, 0);
  tl_drop(vm, list);
}

static void a_borrowed_list_stays_as_it_is(void **state) {
  tl_vm *vm = *state;
  tl_slot list = counting(vm, 3), borrowed = tl_borrow(list);
  gives(vm, "append", args2(borrowed, text_slot(vm, "x")), "(0, 1, 2, \"x\")");
  gives(vm, "insert", args3(borrowed, tl_int(1), tl_int(9)), "(0, 9, 1, 2)");
  gives(vm, "insert", args3(borrowed, tl_int(-1), tl_int(9)), "(0, 1, 9, 2)");
  gives(vm, "pop", args1(borrowed), "(2, (0, 1))");
  gives(vm, "pop", args2(borrowed, tl_int(0)), "(0, (1, 2))");
  gives(vm, "reverse", args1(borrowed), "(2, 1, 0)");
  gives(vm, "put", args3(borrowed, tl_int(1), tl_float(0.5)), "(0, 0.5, 2)");
  gives(vm, "enumerate", args1(borrowed), "((0, 0), (1, 1), (2, 2))");
  assert_int_equal(list.list->head.count, 1);
  shows(vm, list, "(0, 1, 2)");
}

static void wrong_lists_are_refused(void **state) {
  tl_vm *vm = *state;
  refuses(vm, "append", args2(tl_int(1), tl_int(2)), TALLY_ERR_TYPE,
          "append: xs must be a list or an array, not int64");
  refuses(vm, "pop", args1(counting(vm, 0)), TALLY_ERR_INDEX,
          "pop: xs is empty");
  refuses(vm, "insert", args3(counting(vm, 2), tl_int(3), tl_int(1)),
          TALLY_ERR_INDEX, "insert: index 3 is outside a list of 2");
  tl_slot mixed[] = {tl_int(1), text_slot(vm, "a")};
  refuses(vm, "sort", args1(list_slot(vm, 2, mixed)), TALLY_ERR_TYPE,
          "no order between string and int64");
}

static void sorting_is_stable_and_by_value(void **state) {
  tl_vm *vm = *state;
  tl_slot items[] = {tl_float(2.5), tl_int(3), tl_int(-1), tl_bool(true),
                     tl_float(1)};
  gives(vm, "sort", args1(list_slot(vm, 5, items)), "(-1, true, 1.0, 2.5, 3)");
  tl_slot texts[] = {text_slot(vm, "b"), text_slot(vm, "ab"),
                     text_slot(vm, "a")};
  gives(vm, "sort", args1(list_slot(vm, 3, texts)), "(\"a\", \"ab\", \"b\")");
  tl_slot pairs[] = {counting(vm, 3), counting(vm, 2), counting(vm, 0)};
  gives(vm, "sort", args1(list_slot(vm, 3, pairs)), "((), (0, 1), (0, 1, 2))");
}

// --- Arrays -----------------------------------------------------------------

static void a_dying_vector_grows_in_place(void **state) {
  tl_vm *vm = *state;
  int64_t none = 0;
  tl_slot x = tl_own_array(tl_array_new(vm, TL_FLOAT64, 1, &none));
  for (int i = 0; i < 1000; i++)
    x = result(vm, "append", args2(x, tl_weak_int(i)));
  assert_int_equal(x.array->size, 1000);
  assert_int_equal(tl_array_dtype(x.array), TL_FLOAT64);
  for (int i = 0; i < 1000; i++)
    assert_true(((double *)(void *)x.array->data)[i] == i);
  gives(vm, "len", args1(tl_borrow(x)), "1000");
  tl_drop(vm, x);
  assert_int_equal(vm->stats.live_bytes, 0);
}

// --- Records ----------------------------------------------------------------

static tl_slot small_record(tl_vm *vm) {
  tl_record *record = tl_record_new(vm, 2);
  tl_slot a = tl_int(1), b = text_slot(vm, "two");
  assert_true(tl_record_set_name(vm, &record, "a", &a));
  assert_true(tl_record_set_name(vm, &record, "b", &b));
  return tl_own_record(record);
}

static void records_are_read_and_changed(void **state) {
  tl_vm *vm = *state;
  tl_slot r = small_record(vm), borrowed = tl_borrow(r);
  gives(vm, "keys", args1(borrowed), "(\"a\", \"b\")");
  gives(vm, "values", args1(borrowed), "(1, \"two\")");
  gives(vm, "has", args2(borrowed, text_slot(vm, "b")), "true");
  gives(vm, "has", args2(borrowed, text_slot(vm, "c")), "false");
  gives(vm, "put", args3(borrowed, text_slot(vm, "c"), tl_int(3)),
        "(a: 1, b: \"two\", c: 3)");
  gives(vm, "pop", args2(borrowed, text_slot(vm, "a")), "(1, (b: \"two\"))");
  refuses(vm, "pop", args2(borrowed, text_slot(vm, "q")), TALLY_ERR_INDEX,
          "pop: the record has no key \"q\"");
  tl_record *before = r.record;
  r = result(vm, "put", args3(r, text_slot(vm, "a"), tl_int(7)));
  assert_ptr_equal(r.record, before);
  shows(vm, r, "(a: 7, b: \"two\")");
}

// --- Strings ----------------------------------------------------------------

static void strings_are_taken_apart(void **state) {
  tl_vm *vm = *state;
  gives(vm, "split", args2(text_slot(vm, "a,,b,"), text_slot(vm, ",")),
        "(\"a\", \"\", \"b\", \"\")");
  gives(vm, "split", args1(text_slot(vm, " \ta  b\n")), "(\"a\", \"b\")");
  gives(vm, "split", args1(text_slot(vm, "")), "()");
  gives(vm, "find", args2(text_slot(vm, "größe"), text_slot(vm, "e")), "4");
  gives(vm, "find", args2(text_slot(vm, "e\u0301e"), text_slot(vm, "e")), "0");
  gives(vm, "find", args2(text_slot(vm, "abc"), text_slot(vm, "cd")), "-1");
  gives(vm, "replace",
        args3(text_slot(vm, "aaa"), text_slot(vm, "aa"), text_slot(vm, "b")),
        "\"ba\"");
  gives(vm, "strip", args1(text_slot(vm, "\u00a0 x ")), "\"x\"");
  gives(vm, "codepoints", args1(text_slot(vm, "aπ")), "[97, 960]");
  gives(vm, "bytes", args1(text_slot(vm, "")), "[]");
  gives(vm, "reverse", args1(text_slot(vm, "ae\u0301π")), "\"πe\u0301a\"");
}

static void numbers_are_read(void **state) {
  tl_vm *vm = *state;
  gives(vm, "int", args1(text_slot(vm, " 12 ")), "12");
  gives(vm, "int", args1(text_slot(vm, "-0x1f")), "-31");
  gives(vm, "float", args1(text_slot(vm, "1e3")), "1000.0");
  assert_true(tl_is_weak(result(vm, "int", args1(text_slot(vm, "1")))));
  refuses(vm, "int", args1(text_slot(vm, "1.5")), TALLY_ERR_VALUE,
          "int: \"1.5\" is not a whole number that fits int64");
  refuses(vm, "float", args1(text_slot(vm, "")), TALLY_ERR_VALUE,
          "float: \"\" is not a number");
}

static void the_strings_module_knows_unicode(void **state) {
  tl_vm *vm = *state;
  gives(vm, "strings.upper", args1(text_slot(vm, "größe ﬁ")), "\"GRÖSSE FI\"");
  gives(vm, "strings.lower", args1(text_slot(vm, "ΑΣ ΣΑ")), "\"ας σα\"");
  gives(vm, "strings.title", args1(text_slot(vm, "don't panic")),
        "\"Don't Panic\"");
  gives(vm, "strings.casefold", args1(text_slot(vm, "Straße")), "\"strasse\"");
  gives(vm, "strings.normalize",
        args2(text_slot(vm, "e\u0301"), text_slot(vm, "NFC")), "\"é\"");
  gives(vm, "strings.words", args1(text_slot(vm, "a-b, 3.5 don't. x_1")),
        "(\"a\", \"b\", \"3.5\", \"don't\", \"x_1\")");
  gives(vm, "strings.graphemes", args1(text_slot(vm, "e\u0301🇫🇷")),
        "(\"e\u0301\", \"🇫🇷\")");
  gives(vm, "strings.lines", args1(text_slot(vm, "a\r\n\nb")),
        "(\"a\", \"\", \"b\")");
  gives(vm, "strings.repeat", args2(text_slot(vm, ""), tl_int(5)), "\"\"");
  gives(vm, "strings.display_width", args1(text_slot(vm, "速度")), "4");
}

// --- JSON -------------------------------------------------------------------

static void json_is_read(void **state) {
  tl_vm *vm = *state;
  gives(vm, "json.parse",
        args1(text_slot(vm, " {\"a\": [1, -2.5e1, true, null], \"b\": {}} ")),
        "(a: (1, -25.0, true, none), b: (:))");
  gives(vm, "json.parse", args1(text_slot(vm, "\"\\u00e9\\ud83d\\ude00\"")),
        "\"é😀\"");
  gives(vm, "json.parse", args1(text_slot(vm, "[[], [[1]]]")), "((), ((1,),))");
  static const char *const wrong[] = {"",      "[1,]",    "{\"a\" 1}", "01",
                                      "[1 2]", "\"a",     "{a: 1}",    "1 2",
                                      "nul",   "\"\\q\"", "[1}",       "+1"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    arguments args = args1(text_slot(vm, wrong[i]));
    tl_slot out;
    assert_false(call(vm, "json.parse", args.slots, &out));
    failure(vm, TALLY_ERR_VALUE);
    tl_error_clear(vm);
  }
}

static void writes(tl_vm *vm, tl_slot value, int indent, const char *expected) {
  tl_slot text = result(vm, "json.format", args2(value, tl_int(indent)));
  assert_string_equal(text.string->text, expected);
  tl_drop(vm, text);
}

static void json_is_written(void **state) {
  tl_vm *vm = *state;
  tl_slot items[] = {tl_int(1), text_slot(vm, "a\"\n"), small_record(vm)};
  tl_slot list = list_slot(vm, 3, items), borrowed = tl_borrow(list);
  writes(vm, borrowed, 0, "[1,\"a\\\"\\n\",{\"a\":1,\"b\":\"two\"}]");
  writes(vm, borrowed, 1,
         "[\n 1,\n \"a\\\"\\n\",\n {\n  \"a\": 1,\n  \"b\": \"two\"\n }\n]");
  tl_drop(vm, list);
  writes(vm, tl_none(), 0, "null");
  tl_slot out;
  arguments args = args1(tl_float((double)NAN));
  assert_false(call(vm, "json.format", args.slots, &out));
  failure(vm, TALLY_ERR_VALUE);
}

static void json_survives_each_failure(void **state) {
  tl_vm *vm = *state;
  for (uint64_t n = 1;; n++) {
    arguments args = args1(text_slot(vm, "{\"a\": [1, \"two\", {\"b\": 3}]}"));
    tl_slot value, text;
    tl_memory_fail_at(vm, n);
    bool ok = call(vm, "json.parse", args.slots, &value);
    if (ok) {
      args = args1(value);
      ok = call(vm, "json.format", args.slots, &text);
      if (ok)
        tl_drop(vm, text);
    }
    tl_memory_fail_at(vm, 0);
    assert_int_equal(vm->error.set, !ok);
    tl_error_clear(vm);
    assert_int_equal(vm->stats.live_bytes, 0);
    if (ok)
      return;
  }
}

// --- Failures of memory -----------------------------------------------------

static void no_failure_of_memory_loses_anything(void **state) {
  tl_vm *vm = *state;
  static const char *const names[] = {"append", "pop",       "reverse",
                                      "sort",   "enumerate", "string"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    for (uint64_t n = 1;; n++) {
      tl_slot items[] = {text_slot(vm, "b"), text_slot(vm, "a")};
      tl_slot list = list_slot(vm, 2, items), out;
      arguments args = args1(tl_borrow(list));
      if (k == 0)
        args.slots[1] = tl_int(1);
      tl_memory_fail_at(vm, n);
      bool ok = call(vm, names[k], args.slots, &out);
      tl_memory_fail_at(vm, 0);
      tl_drop(vm, list);
      if (ok)
        tl_drop(vm, out);
      assert_int_equal(vm->error.set, !ok);
      tl_error_clear(vm);
      assert_int_equal(vm->stats.live_bytes, 0);
      if (ok)
        break;
    }
  }
}

// An array of [dtype] with [columns] items in each of two rows, or in one.
static tl_array *some_items(tl_vm *vm, tl_dtype dtype, int ndim,
                            int64_t columns) {
  int64_t shape[] = {2, columns};
  tl_array *a = tl_array_zeros(vm, dtype, ndim, ndim == 2 ? shape : shape + 1);
  assert_non_null(a);
  size_t nbytes = tl_itemsize(dtype) * (size_t)a->size;
  for (size_t i = 0; i < nbytes; i += tl_itemsize(dtype))
    a->data[i] = dtype == TL_BOOL ? (char)(i % 3 == 0) : (char)(i % 61);
  return a;
}

// Fails each request for memory in turn: a dying array must come back as it
// was from a function that restores it, where the VM asked for that.
static void gives_back(tl_vm *vm, const char *name, const arguments *more,
                       tl_dtype dtype, int ndim, int64_t columns) {
  for (uint64_t n = 1;; n++) {
    tl_array *a = some_items(vm, dtype, ndim, columns);
    tl_array *same = some_items(vm, dtype, ndim, columns);
    const tl_builtin *builtin =
        tl_builtin_find(&tl_standard_library, NULL, name, strlen(name));
    tl_param params[TL_MAX_PARAMS];
    int count = tl_params_parse(builtin->params, params);
    tl_slot slots[TL_MAX_PARAMS] = {tl_own_array(a)}, out;
    for (int i = 1; i < count; i++) {
      bool given = i < MOST && !tl_is_unset(more->slots[i]);
      slots[i] = given ? more->slots[i] : params[i].value;
    }
    assert_true(tl_builtin_restores(builtin));
    vm->keeping = true;
    tl_memory_fail_at(vm, n);
    bool ok = tl_builtin_run(vm, builtin, slots, &out);
    tl_memory_fail_at(vm, 0);
    vm->keeping = false;
    bool refused = !ok && vm->error.status != TALLY_ERR_MEMORY;
    assert_int_equal(vm->error.set, !ok);
    tl_error_clear(vm);
    if (!ok) {
      assert_true(tl_is_unique(slots[0]));
      assert_ptr_equal(slots[0].array, a);
      assert_int_equal(tl_array_dtype(a), dtype);
      assert_int_equal(tl_ndim(a), ndim);
      assert_int_equal(a->size, same->size);
      assert_memory_equal(a->data, same->data,
                          tl_itemsize(dtype) * (size_t)a->size);
    }
    for (int i = 0; i < count; i++) tl_drop(vm, slots[i]);
    if (ok)
      tl_drop(vm, out);
    tl_drop(vm, tl_own_array(same));
    assert_int_equal(vm->stats.live_bytes, 0);
    if (ok || refused)
      return;
  }
}

static void what_lacks_memory_gives_a_dying_array_back(void **state) {
  tl_vm *vm = *state;
  const tl_slot none = tl_unset(), one = tl_weak_int(1), two = tl_weak_int(2);
  const struct {
    const char *name;
    arguments more;
  } calls[] = {
      {"roll", args3(none, one, none)},
      {"roll", args3(none, one, tl_weak_int(0))},
      {"diff", args1(none)},
      {"diff", args2(none, tl_weak_int(0))},
      {"diff", args3(none, tl_weak_int(-1), two)},
      {"clip", args3(none, one, two)},
      {"clip", args3(none, tl_none(), one)},
      {"copy", args1(none)},
      {"int", args1(none)},
      {"float", args1(none)},
      {"cumulative_sum", args2(none, tl_weak_int(0))},
      {"cumulative_max", args2(none, tl_weak_int(0))},
      {"tril", args1(none)},
      {"triu", args2(none, one)},
      {"zeros_like", args1(none)},
      {"full_like", args2(none, one)},
      {"digitize", args2(none, two)},
      {"interp", args3(none, two, one)},
  };
  static const tl_dtype dtypes[] = {TL_BOOL,    TL_INT8,    TL_INT64,
                                    TL_FLOAT32, TL_FLOAT64, TL_COMPLEX128};
  for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++)
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++)
      for (int ndim = 1; ndim <= 2; ndim++)
        for (int64_t columns = 3; columns < 10000; columns *= 50)
          gives_back(vm, calls[k].name, &calls[k].more, dtypes[d], ndim,
                     columns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(a_dying_list_is_changed_in_place),
      FIXTURE_TEST(a_borrowed_list_stays_as_it_is),
      FIXTURE_TEST(wrong_lists_are_refused),
      FIXTURE_TEST(sorting_is_stable_and_by_value),
      FIXTURE_TEST(a_dying_vector_grows_in_place),
      FIXTURE_TEST(records_are_read_and_changed),
      FIXTURE_TEST(strings_are_taken_apart),
      FIXTURE_TEST(numbers_are_read),
      FIXTURE_TEST(the_strings_module_knows_unicode),
      FIXTURE_TEST(json_is_read),
      FIXTURE_TEST(json_is_written),
      FIXTURE_TEST(json_survives_each_failure),
      FIXTURE_TEST(no_failure_of_memory_loses_anything),
      FIXTURE_TEST(what_lacks_memory_gives_a_dying_array_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
