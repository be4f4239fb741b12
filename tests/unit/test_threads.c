// Array functions on several threads have the bits of one, whatever the shape,
// the dtype and the layout; with eager threads no work is too small for them.
#include <stdio.h>

#include "tests/unit/host.h"
#include "vm/vm.h"

enum { THREADS = 3, TEXT = 200 };

static const char *const makers[] = {
    "import random",
    "a = reshape(random.normal(120_000), (40, 3000))",
    "b = a.T",
    "c = reshape(random.normal(77_001), (77_001,))",
    "d = reshape(random.normal(90_000), (3000, 30))[::2, 1:-1]",
    "e = reshape(astype(1000 * random.normal(96_000), int32), (60, 1600))",
    "f = a > 0.5",
    "g = astype(a, float32)",
    "h = a * (1 + 2i)",
    "i = astype(c * 20, int8)",
    "k = reshape(random.normal(100_000), (50_000, 2))",
};

static const char *const arrays = "abcdefghik";

static void open_with(host *one, host *many, int threads) {
  tally_options options = host_options(one);
  options.seeded = 1;
  host_open(one, &options);
  options = host_options(many);
  options.seeded = 1;
  options.threads = threads;
  host_open(many, &options);
  many->vm->pool.eager = true;
}

static void open_both(host *one, host *many) {
  open_with(one, many, THREADS);
}

static void run_both(host *one, host *many, const char *text) {
  tally_value value;
  if (tally_eval(one->vm, text, &value) != TALLY_OK)
    fail_msg("%s", tally_error(one->vm)->report);
  tally_release(one->vm, value);
  assert_int_equal(tally_eval(many->vm, text, &value), TALLY_OK);
  tally_release(many->vm, value);
}

// The items of both must be the same bytes, or the errors the same text.
static void compare(host *one, host *many, const char *call) {
  char text[TEXT];
  snprintf(text, sizeof text, "[%s]", call);
  tally_value x = {0, 0}, y = {0, 0};
  tally_status status = tally_eval(one->vm, text, &x);
  assert_int_equal(tally_eval(many->vm, text, &y), status);
  if (status != TALLY_OK) {
    assert_string_equal(tally_error(one->vm)->message,
                        tally_error(many->vm)->message);
    return;
  }
  tally_array p, q;
  assert_int_equal(tally_to_buffer(one->vm, x, &p), TALLY_OK);
  assert_int_equal(tally_to_buffer(many->vm, y, &q), TALLY_OK);
  assert_string_equal(p.dtype, q.dtype);
  assert_int_equal(p.size, q.size);
  // A new array: its items lie side by side.
  if (memcmp(p.data, q.data, p.size * (size_t)p.strides[p.ndim - 1]) != 0)
    fail_msg("%s differs on %d threads", call, THREADS);
  tally_release(one->vm, x);
  tally_release(many->vm, y);
}

static void test_reductions(void **state) {
  (void)state;
  static host one, many;
  open_both(&one, &many);
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
    run_both(&one, &many, makers[i]);
  const char *const names[] = {"sum",    "mean", "prod", "min",
                               "max",    "any",  "all",  "argmin",
                               "argmax", "var",  "std",  "count_nonzero"};
  const char *const axes[] = {"", ", axis: 0", ", axis: -1"};
  char call[TEXT];
  for (const char *x = arrays; *x != 0; x++) {
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      for (size_t axis = 0; axis < 3; axis++) {
        snprintf(call, sizeof call, "%s(%c%s)", names[n], *x, axes[axis]);
        compare(&one, &many, call);
      }
    }
  }
  assert_int_equal(many.vm->pool.workers, THREADS - 1);
  host_close(&one);
  host_close(&many);
}

// Sorts in parts of 2, 4 and 8: of NaNs, both zeros, few and many values, one
// item more than parts can share.
static void test_sorting(void **state) {
  (void)state;
  const char *const items[] = {
      "random.normal(%d)",
      "astype(random.normal(%d), float32)",
      "random.integers(%d, -5, 6)",
      "random.integers(%d, 0, 1_000_000_000_000)",
      "astype(random.integers(%d, 0, 300_000), int32)",
      "random.bits(%d)",
      "astype(random.integers(%d, -1, 2), float64) * 0.0",
      "1.0 / (random.integers(%d, -2, 3) * random.integers(1, 0, 2))",
      "arange(%d)",
      "astype(random.integers(%d, 0, 9), int8)",
      "random.normal(%d) * 1i",
  };
  const int sizes[] = {255, 256, 257, 1000, 4099, 70001};
  const int threads[] = {2, 5, 8};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
    static host one, many;
    open_with(&one, &many, threads[t]);
    run_both(&one, &many, "import random");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
      for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        char made[TEXT] = "x = ";
        snprintf(made + 4, sizeof made - 4, items[i], sizes[n]);
        run_both(&one, &many, made);
        compare(&one, &many, "sort(x)");
        compare(&one, &many, "sort(x, descending: true)");
        compare(&one, &many, "argsort(x)");
        compare(&one, &many, "argsort(x, descending: true)");
      }
    }
    assert_int_equal(many.vm->pool.workers, threads[t] - 1);
    host_close(&one);
    host_close(&many);
  }
}

// Results that go to the front of what they are computed of: what a part writes
// the parts before it may still read.
static void test_fronts(void **state) {
  (void)state;
  static host one, many;
  open_both(&one, &many);
  run_both(&one, &many, makers[0]);
  const char *const fronts[] = {
      "x = x[1:] - x[:-1]",
      "x = exp(x[700:]) - x[:-700] / 3",
      "x = x[30_000:] * 2 - x[:-30_000]",
      "x = x[::2] + 1",
      "x = x[::7] * x[1::7]",
      "x = x[5:] * 2",
      "m = reshape(x, (-1, 50)); x = 0; x = m[:, 1:] - m[:, :-1]",
      "m = reshape(x, (10, -1)); x = 0; x = m[1:, 1:] * m[:-1, :-1]",
      "m = reshape(x, (-1, 10, 10)); x = 0; x = m[:, 1:, 1:] - m[:, :-1, :-1]",
  };
  const int sizes[] = {7000, 70000, 210000};
  char text[2 * TEXT];
  for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++) {
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      snprintf(text, sizeof text, "fn f() { x = random.normal(%d); %s; x }",
               sizes[n], fronts[i]);
      run_both(&one, &many, text);
      run_both(&one, &many, "random.seed(1)");
      compare(&one, &many, "f()");
    }
  }
  assert_int_equal(many.vm->pool.workers, THREADS - 1);
  host_close(&one);
  host_close(&many);
}

// A number depends on its place alone: the last of a chunk and the first of the
// next are what one thread draws there.
static void test_draws(void **state) {
  (void)state;
  const char *const draws[] = {
      "random.uniform(%d)",
      "random.normal(%d)",
      "random.integers(%d, -5, 1_000_000)",
      "random.exponential(%d)",
      "random.gamma(%d, 2.5)",
      "random.poisson(%d, 30)",
      "random.bits(%d)",
      "random.uniform(%d, generator: 7)",
      "random.uniform(%d, generator: random.generator(1, kind: \"pcg64\"))",
  };
  const int sizes[] = {0, 1, 7, 16384, 16385, 70001};
  static host one, many;
  open_both(&one, &many);
  run_both(&one, &many, "import random");
  for (size_t i = 0; i < sizeof draws / sizeof *draws; i++) {
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
      char call[TEXT];
      snprintf(call, sizeof call, draws[i], sizes[n]);
      compare(&one, &many, call);
    }
  }
  assert_int_equal(many.vm->pool.workers, THREADS - 1);
  host_close(&one);
  host_close(&many);
}

// Where there is no memory for the threads' parts, or none at all, there is an
// error or the result, and nothing is left behind.
static void test_no_memory(void **state) {
  (void)state;
  const char *const calls[] = {
      "[var(a, axis: 0)]", "[max(a, axis: 0)]", "[argmax(a, axis: 0)]",
      "[sum(a, axis: 0)]", "[var(c)]",          "[argmin(c)]",
      "[sort(c)]",         "[argsort(c)]"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    static host one, many;
    open_both(&one, &many);
    for (int k = 0; k < 4; k++) run_both(&one, &many, makers[k]);
    bool failed = true;
    for (uint64_t n = 1; failed && n < 1000; n++) {
      tally_value value = {0, 0};
      many.refused = false;
      many.fail_at = many.requests + n;
      tally_status status = tally_eval(many.vm, calls[i], &value);
      many.fail_at = 0;
      assert_true(status == TALLY_OK || status == TALLY_ERR_MEMORY);
      if (status == TALLY_OK)
        tally_release(many.vm, value);
      failed = many.refused;
    }
    assert_false(failed);
    compare(&one, &many, calls[i]);
    host_close(&one);
    host_close(&many);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reductions), cmocka_unit_test(test_fronts),
      cmocka_unit_test(test_sorting),    cmocka_unit_test(test_draws),
      cmocka_unit_test(test_no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
