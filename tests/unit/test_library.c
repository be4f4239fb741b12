// The library's tables: signatures, documentation, names, finding.

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "vm/embedded.h"
#include "tests/unit/fixture.h"
#include "stdlib/families.h"
#include "vm/builtin.h"

// Runs [check] on every row.
typedef void row_check(const tl_family *family, const tl_builtin *row);
static void each_row(row_check *check) {
  int count = 0;
  for (const tl_family *family = tl_standard_library.families; family->rows;
       family++)
    for (const tl_builtin *row = family->rows; row->name; row++, count++)
      check(family, row);
  assert_true(count > 100);
}

static bool is_name(const char *name, size_t nbytes) {
  if (nbytes == 0 || isdigit((unsigned char)name[0]))
    return false;
  for (size_t i = 0; i < nbytes; i++)
    if (!isalnum((unsigned char)name[i]) && name[i] != '_')
      return false;
  return true;
}

// Commas outside quotes, plus one.
static int count_params(const char *params) {
  int count = *params ? 1 : 0;
  bool quoted = false;
  for (; *params; params++) {
    if (*params == '"')
      quoted = !quoted;
    if (*params == ',' && !quoted)
      count++;
  }
  return count;
}

static void check_params(const tl_family *family, const tl_builtin *row) {
  tl_param params[TL_MAX_PARAMS];
  (void)family;
  if (tl_builtin_is_value(row))
    return;
  int count = tl_params_parse(row->params, params);
  if (count != count_params(row->params))
    fail_msg("%s", row->name);
  for (int i = 0; i < count; i++) {
    if (!is_name(params[i].name, params[i].name_length))
      fail_msg("%s: parameter %d of \"%s\"", row->name, i, row->params);
    // Required, optional, rest, named: in this order.
    if (i > 0 && params[i].kind < params[i - 1].kind)
      fail_msg("%s: order of \"%s\"", row->name, row->params);
    for (int k = 0; k < i; k++)
      if (params[k].name_length == params[i].name_length &&
          memcmp(params[k].name, params[i].name, params[i].name_length) == 0)
        fail_msg("%s: two parameters of one name", row->name);
  }
}

static void all_params_parse(void **state) {
  (void)state;
  each_row(check_params);
}

// Letters of vm/builtin.h, each for a parameter whose default it takes.
static void check_types(const tl_family *family, const tl_builtin *row) {
  tl_param params[TL_MAX_PARAMS];
  (void)family;
  int count = tl_params_parse(row->params, params);
  if (memchr(row->types, '\0', sizeof row->types) == NULL ||
      strlen(row->types) > (size_t)count)
    fail_msg("%s: too many types", row->name);
  for (int i = 0; row->types[i] != '\0'; i++) {
    const char type = row->types[i];
    const bool optional = params[i].kind != TL_PARAM_REQUIRED;
    if (strchr(".@abdfgilmnpstvwxy", tolower((unsigned char)type)) == NULL ||
        params[i].kind == TL_PARAM_REST || (type == '@' && i == 0))
      fail_msg("%s: type '%c'", row->name, type);
    if (type != '.' && type != '@' && optional && tl_is_none(params[i].value) &&
        !isupper((unsigned char)type))
      fail_msg("%s: type '%c' does not take the default", row->name, type);
    if (type == 'b' && optional && !tl_is_bool(params[i].value))
      fail_msg("%s: the default is no bool", row->name);
  }
}

static void all_types_fit(void **state) {
  (void)state;
  each_row(check_types);
}

static tally_vm *docs_vm;  // of check_doc

static void check_doc(const tl_family *family, const tl_builtin *row) {
  char name[100];
  snprintf(name, sizeof name, "%s%s%s", family->module ? family->module : "",
           family->module ? "." : "", row->name);
  const char *doc = tally_documentation(docs_vm, name);
  // What the library asks of arguments is for its own functions in Tally.
  if (family->module && family->module[0] == '_') {
    assert_null(doc);
    return;
  }
  if (row->doc)
    fail_msg("%s has its doc in its row, not above it", name);
  if (!doc || !row->call)
    fail_msg("%s lacks its doc", name);
  if (!isupper((unsigned char)doc[0]) && doc[0] == ' ')
    fail_msg("%s: the doc begins with an example", name);
  const char *example = strstr(doc, "\n    ");
  if (!example)
    fail_msg("%s has no example", name);
  // The texts are packed apart from the rows.
  if (!strstr(doc, row->name))
    fail_msg("%s: the doc is another's", name);
  if (doc[strlen(doc) - 1] != '\n')
    fail_msg("%s: the doc does not end its last line", name);
  // Whoever touches no file shows what it gives.
  if (!(row->flags & (TL_FILES | TL_EFFECT)) && !tl_builtin_is_value(row) &&
      !strstr(example, "    # "))
    fail_msg("%s: the example shows no value", name);
  for (const char *line = doc; *line;) {
    const char *end = strchr(line, '\n');
    if (end - line > 80)
      fail_msg("%s: a long line", name);
    line = end + 1;
  }
}

static void all_have_examples(void **state) {
  (void)state;
  assert_int_equal(tally_open(NULL, &docs_vm), TALLY_OK);
  each_row(check_doc);
  assert_int_equal(tally_close(docs_vm), 0);
}

static void check_found(const tl_family *family, const tl_builtin *row) {
  if (!is_name(row->name, strlen(row->name)))
    fail_msg("%s", row->name);
  // A second row of the name would never be found.
  const tl_builtin *found = tl_builtin_find(
      &tl_standard_library, family->module, row->name, strlen(row->name));
  if (found != row)
    fail_msg("%s is there twice", row->name);
}

static void names_are_unique(void **state) {
  (void)state;
  each_row(check_found);
}

static void constants_have_examples(void **state) {
  (void)state;
  int count = 0;
  for (const tl_constant *c = tl_standard_library.constants; c->name;
       c++, count++) {
    assert_non_null(strstr(c->doc, "\n    "));
    assert_null(tl_builtin_find(&tl_standard_library, c->module, c->name,
                                strlen(c->name)));
  }
  assert_int_equal(count, 5);
}

static void finding(void **state) {
  (void)state;
  assert_string_equal(
      tl_builtin_find(&tl_standard_library, NULL, "zeros", 5)->name, "zeros");
  assert_string_equal(
      tl_builtin_find(&tl_standard_library, NULL, "zeros_like", 5)->name,
      "zeros");
  assert_null(tl_builtin_find(&tl_standard_library, NULL, "zero", 4));
  assert_null(tl_builtin_find(&tl_standard_library, NULL, "read_csv", 8));
  assert_null(tl_builtin_find(&tl_standard_library, NULL, "", 0));
  assert_non_null(tl_builtin_find(&tl_standard_library, "io", "read_csv", 8));
  assert_null(tl_builtin_find(&tl_standard_library, "io", "zeros", 5));
}

static void defaults(void **state) {
  (void)state;
  tl_param p[TL_MAX_PARAMS];
  assert_int_equal(tl_params_parse("", p), 0);
  int n = tl_params_parse(
      "x, n = -2, ...rest, a: true, b: 0.5, c: \",\", d: none, e: inf", p);
  assert_int_equal(n, 8);
  assert_int_equal(p[0].kind, TL_PARAM_REQUIRED);
  assert_int_equal(p[1].kind, TL_PARAM_OPTIONAL);
  assert_true(p[1].value.i == -2 && tl_is_weak(p[1].value));
  assert_int_equal(p[2].kind, TL_PARAM_REST);
  assert_memory_equal(p[2].name, "rest", 4);
  assert_int_equal(p[2].name_length, 4);
  assert_int_equal(p[3].kind, TL_PARAM_NAMED);
  assert_true(tl_is_bool(p[3].value) && p[3].value.i == 1);
  assert_true(p[4].value.f == 0.5);
  assert_true(tl_is_none(p[5].value) && p[5].name[0] == 'c');
  assert_true(tl_is_none(p[6].value) && p[6].name[0] == 'd');
  assert_true(isinf(p[7].value.f));
}

static void texts_unpack(void **state) {
  (void)state;
  // A block as it is, one in the fixed code, with a match that overlaps itself.
  static const unsigned char packed[] = {0,  3,  0,  252, 255, 'x', 'y', 'z',
                                         75, 76, 74, 78,  68,  160, 20,  0};
  char text[32];
  memset(text, '?', sizeof text);
  tl_inflate(packed, text);
  assert_memory_equal(text, "xyzabcabcabcabcabd?", 19);
  char *module = test_malloc(100000);
  for (const struct tl_embedded *e = tl_embedded.modules; e->name; e++) {
    memset(module, '?', 100000);
    assert_in_range(e->nbytes, 1, 99999);
    tl_inflate(e->packed, module);
    assert_int_equal(module[e->nbytes - 1], '\n');
    assert_int_equal(module[e->nbytes], '?');
  }
  test_free(module);
}

// A default of 1.5 is 1.5 also where a host has commas in numbers. Machines
// without such a locale have nothing to compare.
static void defaults_need_no_locale(void **state) {
  (void)state;
  if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL &&
      setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL)
    skip();
  tl_param params[TL_MAX_PARAMS];
  assert_int_equal(tl_params_parse("x, dx: 1.5", params), 2);
  setlocale(LC_NUMERIC, "C");
  assert_true(params[1].value.f == 1.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_params_parse),
      cmocka_unit_test(all_types_fit),
      cmocka_unit_test(all_have_examples),
      cmocka_unit_test(names_are_unique),
      cmocka_unit_test(constants_have_examples),
      cmocka_unit_test(finding),
      cmocka_unit_test(defaults),
      cmocka_unit_test(defaults_need_no_locale),
      cmocka_unit_test(texts_unpack),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
