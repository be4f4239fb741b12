// tally.h: VMs that come and go, and the values that a host holds.

#include "tests/unit/host.h"

static void test_opens_with_defaults(void **state) {
  (void)state;
  tally_vm *vm = NULL;
  assert_int_equal(tally_open(NULL, &vm), TALLY_OK);
  assert_non_null(vm);
  assert_int_equal(tally_eval(vm, "x = 1", NULL), TALLY_OK);
  assert_int_equal(tally_close(vm), 0);
  assert_int_equal(tally_close(NULL), 0);
  assert_string_equal(tally_version(), TALLY_VERSION);
}

static void test_a_host_with_older_options_is_served(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.size = offsetof(tally_options, memory_limit);
  options.memory_limit = 1;  // behind the end: not looked at
  host_open(&h, &options);
  run_ok(&h, "print(6 * 7)");
  assert_string_equal(h.output, "42\n");
  host_close(&h);
}

static void test_no_memory_to_open(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.native = TALLY_NATIVE_OFF;  // it opens without memory for that, too
  uint64_t needed = 0;
  host_open(&h, &options);
  needed = h.requests;
  host_close(&h);
  for (uint64_t n = 1; n <= needed; n++) {
    h = (host){.fail_at = n, .vm = (tally_vm *)(void *)&h};
    assert_int_equal(tally_open(&options, &h.vm), TALLY_ERR_MEMORY);
    assert_null(h.vm);
    assert_int_equal(h.blocks, 0);
  }
}

static void test_a_thousand_side_by_side(void **state) {
  (void)state;
  static host hosts[1000];
  const int count = refused_times(1000, 3);
  memset(hosts, 0, sizeof hosts);
  for (int i = 0; i < count; i++) {
    tally_options options = host_options(&hosts[i]);
    host_open(&hosts[i], &options);
  }
  for (int i = 0; i < count; i++) {
    tally_value n;
    assert_int_equal(tally_from_int(hosts[i].vm, i, &n), TALLY_OK);
    assert_int_equal(tally_move_global(hosts[i].vm, "n", n), TALLY_OK);
    run_ok(&hosts[i], "x = arange(100) + n");
  }
  for (int i = count - 1; i >= 0; i--) {
    int64_t sum;
    tally_value value = eval(&hosts[i], "sum(x)");
    assert_int_equal(tally_to_int(hosts[i].vm, value, &sum), TALLY_OK);
    assert_int_equal(sum, 4950 + 100 * i);
    tally_release(hosts[i].vm, value);
    host_close(&hosts[i]);
  }
}

// --- Handles ----------------------------------------------------------------

static void test_released_values_are_recognised(void **state) {
  host *h = *state;
  tally_value v = eval(h, "[1, 2, 3]"), other, out;
  int64_t i;
  tally_release(h->vm, v);
  tally_release(h->vm, v);  // harmless
  CHECK_ERROR(h, tally_to_int(h->vm, v, &i), TALLY_ERR_HOST, "released");
  assert_string_equal(tally_error(h->vm)->kind, "host");
  other = eval(h, "7");  // in the same place
  tally_release(h->vm, v);
  CHECK_ERROR(h, tally_item(h->vm, v, 0, &out), TALLY_ERR_HOST, "released");
  CHECK_ERROR(h, tally_set_global(h->vm, "x", v), TALLY_ERR_HOST, "released");
  CHECK_ERROR(h, tally_move_global(h->vm, "x", v), TALLY_ERR_HOST, "released");
  CHECK_ERROR(h, tally_apply(h->vm, v, 0, NULL, &out), TALLY_ERR_HOST,
              "released");
  CHECK_ERROR(h, tally_call(h->vm, "sum", 1, &v, &out), TALLY_ERR_HOST,
              "released");
  CHECK_ERROR(h, tally_from_list(h->vm, 1, &v, &out), TALLY_ERR_HOST,
              "released");
  assert_int_equal(tally_length(h->vm, v), 0);
  assert_string_equal(tally_type(h->vm, v), "released");
  tally_retain(h->vm, v);
  assert_int_equal(tally_to_int(h->vm, other, &i), TALLY_OK);
  assert_int_equal(i, 7);
  tally_release(h->vm, other);
}

static void test_values_of_another_vm_are_refused(void **state) {
  host *h = *state;
  host second = {.vm = NULL};
  tally_options options = host_options(&second);
  host_open(&second, &options);
  tally_value mine = eval(h, "\"a\""), theirs = eval(&second, "\"b\"");
  const char *text;
  CHECK_ERROR(h, tally_to_string(h->vm, theirs, &text, NULL), TALLY_ERR_HOST,
              "another VM");
  tally_release(h->vm, theirs);
  assert_int_equal(tally_to_string(second.vm, theirs, &text, NULL), TALLY_OK);
  assert_string_equal(text, "b");
  tally_release(second.vm, theirs);
  tally_release(h->vm, mine);
  host_close(&second);
}

// Bools, numbers and none are in the handle itself.
static void test_numbers_hold_nothing(void **state) {
  host *h = *state;
  tally_value v;
  int64_t i;
  assert_int_equal(tally_from_int(h->vm, -5, &v), TALLY_OK);
  assert_true(tally_is_live(h->vm, v));
  tally_release(h->vm, v);
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
  assert_int_equal(i, -5);
  assert_int_equal(tally_call(h->vm, "abs", 1, &v, &v), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
  assert_int_equal(i, 5);
  // One that was made up is refused.
  for (int bit = 0; bit < 64; bit++) {
    tally_value bad = {v.handle ^ (uint64_t)1 << bit, 0x1234};
    if (!tally_is_live(h->vm, bad))
      assert_int_equal(tally_length(h->vm, bad), 0);
    assert_non_null(tally_type(h->vm, bad));
  }
}

static void test_a_value_of_zeros_is_no_value(void **state) {
  host *h = *state;
  tally_value nothing = {0, 0};
  int64_t i;
  CHECK_ERROR(h, tally_to_int(h->vm, nothing, &i), TALLY_ERR_HOST, "released");
  tally_release(h->vm, nothing);
}

static void test_retained_values_are_released_as_often(void **state) {
  host *h = *state;
  tally_value v = eval(h, "[1, 2]");
  v = tally_retain(h->vm, tally_retain(h->vm, v));
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tally_length(h->vm, v), 2);
    tally_release(h->vm, v);
  }
  assert_int_equal(tally_length(h->vm, v), 0);
}

static void test_move_takes_one_of_several_owners(void **state) {
  host *h = *state;
  tally_value v = eval(h, "[1, 2]");
  tally_retain(h->vm, v);
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  run_ok(h, "x[0] = 9");
  tally_value first;
  int64_t i;
  assert_int_equal(tally_item(h->vm, v, 0, &first), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, first, &i), TALLY_OK);
  assert_int_equal(i, 1);  // the value did not change under the host
  tally_release(h->vm, first);
  tally_release(h->vm, v);
}

static void test_close_counts_what_was_kept(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  host_open(&h, &options);
  eval(&h, "[1, 2, 3] * 1.5");
  eval(&h, "(1, \"a\", [2])");
  tally_retain(h.vm, eval(&h, "x => x"));
  run_ok(&h, "kept = zeros(1000)");
  assert_int_equal(tally_close(h.vm), 3);
  assert_int_equal(h.blocks, 0);
  assert_int_equal(h.nbytes, 0);
}

// --- Growth -----------------------------------------------------------------

static uint64_t live_bytes(host *h) {
  tally_stats stats;
  tally_get_stats(h->vm, &stats);
  return stats.live_bytes;
}

// Runs [source] often and says by how many bytes the VM has grown.
static int64_t growth(host *h, const char *source, int count) {
  tally_value out;
  for (int i = 0; i < refused_times(50, 5); i++) {
    if (tally_eval(h->vm, source, &out) == TALLY_OK)
      tally_release(h->vm, out);
  }
  int64_t before = (int64_t)live_bytes(h);
  for (int i = 0; i < count; i++) {
    if (tally_eval(h->vm, source, &out) == TALLY_OK)
      tally_release(h->vm, out);
  }
  return (int64_t)live_bytes(h) - before;
}

static void test_evaluating_for_ever_takes_no_memory(void **state) {
  host *h = *state;
  static const char *const sources[] = {
      "x = 40\nx + 2",
      "y = [1, 2, 3] * 1.5\nsum(y)",
      "z = (1, \"text\", (name: \"b\", other: [1, 2]))\nz[2].name",
      "w = (:)\nw.field = \"value\"\nw[\"key\"] = \"more\"\nkeys(w)",
      "s = \"a{1 + 1:03d}b\"\ns",
      "t = [i * 2i for i in 0..4 if i != 2]\nt",
      "try { error(\"text\", kind: \"value\") } catch e { r = e }\nr.message",
      "nosuch + 1",
      "[1, 2][\"text\"]",
      "[1, 2, 3][7]",
      "x = (1,",
      "import linalg\nlinalg.norm([3.0, 4.0])",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    int64_t grown = growth(h, sources[i], refused_times(800, 5));
    if (grown > 0) {
      fail_msg("800 times %s: %lld bytes", sources[i], (long long)grown);
    }
  }
}

static void test_constants_outlive_their_text(void **state) {
  host *h = *state;
  tally_value text = eval(h, "\"a constant of the text\"");
  run_ok(h, "l = (\"first\", (key: \"second\", number: 2i))");
  run_ok(h, "fn of(x) = (x, x)\nkept = of(\"third\")");
  run_ok(h, "m = l[1]\nm.more = \"fourth\"\nm[\"fifth\"] = 1");
  run_ok(h, "try { error(\"sixth\", kind: \"value\") } catch e { caught = e }");
  run_ok(h, "c = () => \"seventh\"");
  for (int i = 0; i < refused_times(100, 3); i++)
    run_ok(h, "\"other text\" + \"{[1, 2]}\"");
  check_value(h, "l", "(\"first\", (key: \"second\", number: 0.0 + 2.0i))");
  check_value(h, "kept", "(\"third\", \"third\")");
  check_value(h, "m",
              "(key: \"second\", number: 0.0 + 2.0i, "
              "more: \"fourth\", fifth: 1)");
  check_value(h, "(caught.kind, caught.message, caught.line, caught.file)",
              "(\"value\", \"sixth\", 1, \"<eval>\")");
  check_value(h, "c()", "seventh");
  const char *bytes;
  assert_int_equal(tally_to_string(h->vm, text, &bytes, NULL), TALLY_OK);
  assert_string_equal(bytes, "a constant of the text");
  tally_release(h->vm, text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PLAIN_TEST(test_opens_with_defaults),
      PLAIN_TEST(test_a_host_with_older_options_is_served),
      PLAIN_TEST(test_no_memory_to_open),
      PLAIN_TEST(test_a_thousand_side_by_side),
      HOST_TEST(test_released_values_are_recognised),
      HOST_TEST(test_values_of_another_vm_are_refused),
      HOST_TEST(test_numbers_hold_nothing),
      HOST_TEST(test_a_value_of_zeros_is_no_value),
      HOST_TEST(test_retained_values_are_released_as_often),
      HOST_TEST(test_move_takes_one_of_several_owners),
      PLAIN_TEST(test_close_counts_what_was_kept),
      HOST_TEST(test_evaluating_for_ever_takes_no_memory),
      HOST_TEST(test_constants_outlive_their_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
