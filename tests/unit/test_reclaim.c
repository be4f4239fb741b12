// Code that nothing refers to is given back, and no other (reclaim.c).
#include "tests/unit/host.h"

#include <stdio.h>

#include "vm/bytecode/module.h"

static uint64_t live(host *h) {
  tally_stats stats;
  tally_get_stats(h->vm, &stats);
  return stats.live_bytes;
}

static int64_t number(host *h, const char *source) {
  int64_t n;
  tally_value value = eval(h, source);
  assert_int_equal(tally_to_int(h->vm, value, &n), TALLY_OK);
  tally_release(h->vm, value);
  return n;
}

// A function defined again and again, with constants and names of its own.
static void define(host *h, int i) {
  char source[200];
  snprintf(source, sizeof source,
           "fn f(x) {\n  r = (name%d: [%d, 2], y: \"text %d\")\n"
           "  x + r.name%d[0]\n}\ng = (v => v + f(%d))\n",
           i, i, i, i, i);
  run_ok(h, source);
}

static void functions_defined_for_ever_take_no_more(void **state) {
  host *h = *state;
  for (int i = 0; i < 300; i++) define(h, i);
  size_t units = h->vm->unit_count;
  uint64_t before = live(h);
  for (int i = 300; i < 1500; i++) define(h, i);
  assert_true(h->vm->unit_count < units + 300);
  assert_true(live(h) < 2 * before);
  assert_int_equal(number(h, "f(1)"), 1500);
  assert_int_equal(number(h, "g(1)"), 1 + 1499 + 1499);
}

// Everything that may lead to a unit, each the only way to its own.
static void what_leads_to_code_keeps_it(void **state) {
  host *h = *state;
  run_ok(h, "import memory");
  tally_value held = eval(h, "x => x + 1");
  tally_value word = eval(h, "(() => \"a constant\")()");
  run_ok(h, "plain = x => x + 2");
  run_ok(h, "fn maker(n) = x => x + n\ncaptured = maker(3)\nmaker = none");
  run_ok(h, "listed = ((x => x + 4), 1)");
  run_ok(h, "fielded = (call: x => x + 5)");
  run_ok(h, "made = (() => (deep: (key: 6)))()");
  run_ok(h, "text = (() => \"seven\")()");
  run_ok(h, "words = asarray((() => (\"eight\", \"nine\"))())");
  run_ok(h, "view = (() => [1, 2, 3][1:])()");
  run_ok(h, "composed = compose(x => x + 7, x => x * 2)");
  run_ok(h,
         "fn group() {\n"
         "  fn even(n) = if n == 0 { 8 } else { odd(n - 1) }\n"
         "  fn odd(n) = if n == 0 { 9 } else { even(n - 1) }\n"
         "  odd\n"
         "}\n"
         "member = group()\ngroup = none");
  run_ok(h, "fn called(x) = x + 10");
  run_ok(h, "fn caller(x) = called(x)");
  for (int i = 0; i < 200; i++) define(h, i);
  assert_true(number(h, "memory.reclaim()") > 0);
  for (int i = 200; i < 300; i++) define(h, i);  // over what was given back
  tally_value one, out;
  int64_t n;
  assert_int_equal(tally_from_int(h->vm, 1, &one), TALLY_OK);
  assert_int_equal(tally_apply(h->vm, held, 1, &one, &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &n), TALLY_OK);
  assert_int_equal(n, 2);
  const char *text;
  assert_int_equal(tally_to_string(h->vm, word, &text, NULL), TALLY_OK);
  assert_string_equal(text, "a constant");
  tally_release(h->vm, held);
  tally_release(h->vm, word);
  assert_int_equal(number(h, "plain(1)"), 3);
  assert_int_equal(number(h, "captured(1)"), 4);
  assert_int_equal(number(h, "listed[0](1)"), 5);
  assert_int_equal(number(h, "fielded.call(1)"), 6);
  assert_int_equal(number(h, "made.deep.key"), 6);
  assert_int_equal(number(h, "len(text + words[1])"), 9);
  assert_int_equal(number(h, "sum(view)"), 5);
  assert_int_equal(number(h, "composed(1)"), 9);
  assert_int_equal(number(h, "member(2)"), 9);
  assert_int_equal(number(h, "caller(1)"), 11);
}

// [source] asks for it where it cannot be done at once.
static void waits(host *h, const char *source) {
  for (int i = 0; i < 40; i++) define(h, i);
  size_t units = h->vm->unit_count;
  assert_int_equal(number(h, source), 0);
  assert_true(h->vm->unit_count >= units);
  run_ok(h, "1");
  assert_true(h->vm->unit_count < units - 30);
}

static void inside_a_function_it_waits(void **state) {
  host *h = *state;
  run_ok(h, "import memory\nfn now() = memory.reclaim()");
  waits(h, "now()");
  waits(h, "each((1,), v => memory.reclaim())[0]");
}

static void without_memory_nothing_is_lost(void **state) {
  host *h = *state;
  run_ok(h, "import memory");
  for (int i = 0; i < 50; i++) define(h, i);
  size_t units = h->vm->unit_count;
  h->fail_at = h->requests + 1;
  h->fail_from = true;
  assert_int_equal(tl_reclaim(h->vm), 0);
  h->fail_at = 0;
  assert_int_equal(h->vm->unit_count, units);
  assert_int_equal(number(h, "f(1)"), 50);
  assert_true(tl_reclaim(h->vm) > 0);
  assert_int_equal(number(h, "f(1)"), 50);
}

// Nothing is freed where memory is short: no test but the last is run so.
#define ALONE(name) \
  cmocka_unit_test_setup_teardown(name, host_set_up, host_tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      ALONE(functions_defined_for_ever_take_no_more),
      ALONE(what_leads_to_code_keeps_it),
      ALONE(inside_a_function_it_waits),
      ALONE(without_memory_nothing_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
