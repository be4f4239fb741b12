// What messages about unknown names say instead: it runs.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "vm/hints.h"
#include "tests/unit/host.h"

// [code], in a form, at the end of a program that has all it may need.
static char program[1024];
static const char *with(const char *form, const char *code) {
  static const char given[] =
      "import io\nimport fft\nimport linalg\nimport random\nimport strings\n"
      "import binary\nimport time\nimport os\nimport json\nimport plot\n"
      "x = [1.0, 2.0, 3.0]\ny = x + 1\nn = 1\n"
      "fn f(a, b = 0) = a + b\ns = \"[1, 2]\"\n"
      "data = uint8(arange(16))\npath = \"/dev/null\"\n";
  int n = snprintf(program, sizeof program, "%s", given);
  snprintf(program + n, sizeof program - (size_t)n, form, code);
  return program;
}

// Calls that act on files are compiled, not made.
static const char *form_of(const char *code) {
  if (strstr(code, "path") != NULL)
    return "fn unused() = %s\n";
  bool of_matrices = strstr(code, "axis: 1") || strstr(code, "axis: 2") ||
                     strstr(code, "moveaxis");
  return of_matrices ? "x = eye(2)\ny = x\n(%s)\n" : "(%s)\n";
}

// The next hint that is code, from a line of all hints on; false: there is
// none.
typedef struct hint_code {
  const char *line, *code;
  char name[64];
} hint_code;

static bool next_code(hint_code *c) {
  static const char kind[] = "code ";
  const size_t n = sizeof kind - 1;
  do {
    c->line = c->line == NULL ? tl_hint_lines : c->line + strlen(c->line) + 1;
  } while (*c->line != 0 && strncmp(c->line, kind, n) != 0);
  if (*c->line == 0)
    return false;
  const size_t length = strcspn(c->line + n, " ");
  snprintf(c->name, sizeof c->name, "%.*s", (int)length, c->line + n);
  c->code = tl_hint("code", c->name, length);
  assert_non_null(c->code);
  return true;
}

static void test_codes_run(void **state) {
  (void)state;
  for (hint_code c = {.line = NULL}; next_code(&c);) {
    host h = {.vm = NULL};
    tally_options options = host_options(&h);
    host_open(&h, &options);
    run_ok(&h, with(form_of(c.code), c.code));
    host_close(&h);
  }
}

// A name that is there would never be asked for.
static void test_names_are_not_there(void **state) {
  (void)state;
  for (hint_code c = {.line = NULL}; next_code(&c);) {
    char module[32], buffer[160], expected[256];
    const char *point = strchr(c.name, '.');
    snprintf(module, sizeof module, "%.*s",
             point == NULL ? 0 : (int)(point - c.name), c.name);
    const char *name = point == NULL ? c.name : point + 1;
    const char *says = tl_name_hint(point == NULL ? NULL : module, name, buffer,
                                    sizeof buffer);
    assert_non_null(says);
    snprintf(
        expected, sizeof expected,
        point == NULL ? "%s is not defined: %s" : "the module %s has no %s: %s",
        point == NULL ? name : module, point == NULL ? says : name, says);
    host h = {.vm = NULL};
    tally_options options = host_options(&h);
    host_open(&h, &options);
    CHECK_ERROR(&h, tally_eval(h.vm, with("unknown = %s\n", c.name), NULL),
                TALLY_ERR_NAME, expected);
    host_close(&h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_codes_run),
      cmocka_unit_test(test_names_are_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
