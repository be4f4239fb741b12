// tally.h: debugging. The hook writes down what it is told, and looks at the
// frames where a line of the script asks for it.

#include <stdio.h>

#include "tests/unit/host.h"

// What the hook has heard, and what it does at a line.
typedef struct heard {
  host *h;
  char text[2048];
  size_t length;
  int at;            // the line at which it evaluates, sets or ends
  const char *eval;  // NULL: nothing
  const char *set;
  bool ends;
} heard;

static void note(heard *d, const char *text) {
  d->length += (size_t)snprintf(d->text + d->length, sizeof d->text - d->length,
                                "%s ", text);
}

// The value of an expression in a frame, or the error's kind; "names" are those
// of its variables.
static void note_value(heard *d, size_t frame, const char *expression) {
  tally_value value, shown;
  const char *text;
  size_t nbytes;
  tally_vm *vm = d->h->vm;
  if ((strcmp(expression, "names") == 0
           ? tally_debug_names(vm, frame, &value)
           : tally_debug_eval(vm, frame, expression, &value)) != TALLY_OK) {
    note(d, tally_error(vm)->kind);
    return;
  }
  if (tally_format(vm, value, &shown) == TALLY_OK) {
    if (tally_to_string(vm, shown, &text, &nbytes) == TALLY_OK)
      note(d, text);
    tally_release(vm, shown);
  }
  tally_release(vm, value);
}

static int hook(tally_vm *vm, void *context, const tally_debug_info *info) {
  static const char *const names[] = {"",     "pause",  "resume",
                                      "call", "return", "raise"};
  heard *d = context;
  char text[64];
  snprintf(text, sizeof text, "%s%d", names[info->event], info->line);
  note(d, text);
  if (info->event == TALLY_DEBUG_RAISE)
    note(d, info->caught ? "caught" : info->kind);
  if (info->line != d->at || info->event > TALLY_DEBUG_PAUSE)
    return 0;
  if (d->eval != NULL)
    note_value(d, 0, d->eval);
  tally_value value;
  if (d->set != NULL && tally_from_int(vm, 40, &value) == TALLY_OK &&
      tally_debug_set(vm, 0, d->set, value) != TALLY_OK)
    note(d, tally_error(vm)->kind);
  return d->ends;
}

static tally_status debugged(heard *d, const char *source) {
  tally_vm *vm = d->h->vm;
  tally_status status = tally_debug(vm, hook, d);
  if (status == TALLY_OK)
    status = tally_run_source(vm, "s.tly", source, strlen(source), 0, NULL);
  tally_debug(vm, NULL, NULL);
  return status;
}

static const char source[] =
    "fn f(x) {\n"
    "  y = x + 1\n"
    "  y * 2\n"
    "}\n"
    "a = [1, 2]\n"
    "b = f(a)\n"
    "print(b)\n";

static void test_lines_calls_and_returns_are_told(void **state) {
  heard d = {.h = *state};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_string_equal(d.text, "1 5 6 call2 2 3 4 return4 resume6 7 ");
  assert_string_equal(d.h->output, "[4, 6]\n");
}

static void test_expressions_see_the_frame(void **state) {
  heard d = {.h = *state, .at = 3, .eval = "(x, y, sum(a))"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, " 3 ([1, 2], [2, 3], 3) 4 "));
  // A variable without a value is told, and hides nothing else of its name.
  d = (heard){.h = *state, .at = 2, .eval = "y"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, " 2 name 3 "));
  // Which have one, the list of names says.
  d = (heard){.h = *state, .at = 3, .eval = "names"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, "\"y\""));
  d = (heard){.h = *state, .at = 3, .eval = "[...x, ...y]"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, " 3 [1, 2, 2, 3] 4 "));
  // A name behind the last token that is read would mean another variable.
  char many[400] = "x";
  while (strlen(many) < 390) strcat(many, "+x");
  d = (heard){.h = *state, .at = 3, .eval = many};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, " 3 limit 4 "));
}

static void test_variables_can_be_set(void **state) {
  heard d = {.h = *state, .at = 3, .set = "y"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_string_equal(d.h->output, "80\n");
  d = (heard){.h = *state, .at = 3, .set = "nosuch"};
  assert_int_equal(debugged(&d, source), TALLY_OK);
  assert_non_null(strstr(d.text, " 3 name 4 "));
}

// Captured variables are read, and belong to the closure; a module's are set
// for all; what others borrow from, or what is itself borrowed, stays.
static void test_variables_of_others(void **state) {
  static const char text[] =
      "a = (7, 8)\n"
      "fn outer(k) {\n"
      "  g = x => {\n"
      "    y = x + k\n"
      "    y * k\n"
      "  }\n"
      "  g(3)\n"
      "}\n"
      "print(outer(2))\n"
      "fn pick(l) {\n"
      "  m = l[0]\n"
      "  m[0] + len(l)\n"
      "}\n"
      "print(pick(([1, 2], 3)), a)\n";
  heard d = {.h = *state, .at = 5, .eval = "(x, y, k)", .set = "k"};
  assert_int_equal(debugged(&d, text), TALLY_OK);
  assert_non_null(strstr(d.text, " 5 (3, 5, 2) value "));
  assert_string_equal(d.h->output, "10\n3 (7, 8)\n");
  d = (heard){.h = *state, .at = 5, .eval = "names", .set = "a"};
  d.h->length = 0;
  assert_int_equal(debugged(&d, text), TALLY_OK);
  assert_non_null(strstr(d.text, "\"k\""));
  assert_string_equal(d.h->output, "10\n3 40\n");
  d = (heard){.h = *state, .at = 12, .set = "l"};
  d.h->length = 0;
  assert_int_equal(debugged(&d, text), TALLY_OK);
  assert_non_null(strstr(d.text, " 12 value "));
  assert_string_equal(d.h->output, "10\n3 (7, 8)\n");
  // An item of another variable's list is borrowed from it.
  d = (heard){.h = *state, .at = 12, .eval = "1 +", .set = "m"};
  d.h->length = 0;
  assert_int_equal(debugged(&d, text), TALLY_OK);
  assert_non_null(strstr(d.text, " 12 syntax value "));
  assert_string_equal(d.h->output, "10\n3 (7, 8)\n");
}

static void test_a_run_can_be_ended(void **state) {
  heard d = {.h = *state, .at = 3, .ends = true};
  assert_int_equal(debugged(&d, source), TALLY_ERR_INTERRUPT);
  assert_string_equal(d.h->output, "");
  assert_string_equal(d.text, "1 5 6 call2 2 3 ");
}

static void test_errors_are_told_where_they_are_raised(void **state) {
  heard d = {.h = *state};
  static const char text[] =
      "fn f(i) = [1, 2][i]\n"
      "try { f(5) } catch e { print(e.kind) }\n"
      "x = [1, 2]\n"
      "try { x[0] = 1.5 } catch { }\n"
      "f(6)\n";
  assert_int_equal(debugged(&d, text), TALLY_ERR_INDEX);
  assert_non_null(strstr(d.text, "raise1 caught "));
  // Behind what undoes the change waits a catch.
  assert_non_null(strstr(d.text, "raise4 caught "));
  assert_non_null(strstr(d.text, "raise1 index "));
  assert_string_equal(d.h->output, "index\n");
}

static void test_nothing_is_stopped_outside_the_hook(void **state) {
  host *h = *state;
  tally_value value;
  tally_debug_place place;
  CHECK_ERROR(h, tally_debug_eval(h->vm, 0, "1", &value), TALLY_ERR_HOST, "");
  CHECK_ERROR(h, tally_debug_frame(h->vm, 0, &place), TALLY_ERR_HOST, "");
  CHECK_ERROR(h, tally_debug_line(h->vm, 0, 1, &place.line), TALLY_ERR_HOST,
              "");
  tally_debug_pause(h->vm);
}

// A hook goes on where an expression of its own found no memory, so these do
// not run again with allocations refused.
#define TEST(name) \
  cmocka_unit_test_setup_teardown(name, host_set_up, host_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_lines_calls_and_returns_are_told),
      TEST(test_expressions_see_the_frame),
      TEST(test_variables_can_be_set),
      TEST(test_variables_of_others),
      TEST(test_a_run_can_be_ended),
      TEST(test_errors_are_told_where_they_are_raised),
      HOST_TEST(test_nothing_is_stopped_outside_the_hook),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
