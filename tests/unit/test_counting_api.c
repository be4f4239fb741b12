// Cases of counting that a host sees: values moved in, the prompt, variables
// that the host keeps, and errors at every allocation. The other cases are the
// scripts in tests/counting.

#include "tests/unit/host.h"

#include <stdio.h>

#include "vm/api/api.h"
#include "vm/array/array.h"
#include "vm/vm.h"

// --- What the host moves in -------------------------------------------------

// An array of one item, [x], as a value of the host's.
static tally_value one_item(host *h, double x) {
  char source[64];
  snprintf(source, sizeof source, "zeros(1) + %g", x);
  return eval(h, source);
}

typedef struct counted {
  tally_stats before, after;
} counted;

static void begin(host *h, counted *c) {
  tally_count(h->vm, 1);
  tally_reset_stats(h->vm);
  tally_get_stats(h->vm, &c->before);
}

static void end(host *h, counted *c) {
  tally_get_stats(h->vm, &c->after);
}

#define GAIN(c, field) ((c).after.field - (c).before.field)

// Moves [1.0] in as x and runs [body], whose value is shown as [expected].
static counted run_moved(host *h, const char *body, const char *expected) {
  counted c;
  tally_value x = one_item(h, 1), out, shown;
  const char *text;
  begin(h, &c);
  assert_int_equal(tally_move_global(h->vm, "x", x), TALLY_OK);
  assert_int_equal(tally_eval(h->vm, body, &out), TALLY_OK);
  end(h, &c);
  assert_int_equal(tally_format(h->vm, out, &shown), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, shown, &text, NULL), TALLY_OK);
  assert_string_equal(text, expected);
  tally_release(h->vm, shown);
  tally_release(h->vm, out);
  return c;
}

static void l3_moved_in(void **state) {
  counted c = run_moved(*state, "x", "[1.0]");
  assert_int_equal(GAIN(c, allocs), 0);
  assert_int_equal(GAIN(c, frees), 0);
  assert_int_equal(GAIN(c, copies), 0);
}

static void l4_moved_in_thrice(void **state) {
  counted c = run_moved(*state, "(x, x, x)", "([1.0], [1.0], [1.0])");
  assert_int_equal(GAIN(c, promotions_item), 3);
  assert_int_equal(GAIN(c, allocs), 0);
  assert_int_equal(GAIN(c, frees), 0);
}

static void l9_moved_in_and_used(void **state) {
  counted c = run_moved(*state, "x + x", "[2.0]");
  assert_int_equal(GAIN(c, rc_inc), 0);
  // x is a variable of the prompt, which a later input may read.
  assert_int_equal(GAIN(c, allocs), 1);
}

// --- Variables that other code assigns ---------------------------------------

static double number_of(host *h, const char *source) {
  double number;
  tally_value value = eval(h, source);
  assert_int_equal(tally_to_float(h->vm, value, &number), TALLY_OK);
  tally_release(h->vm, value);
  return number;
}

static tally_status assign_x(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)args;
  tally_value x;
  tally_status status = tally_eval(vm, "zeros(1000) + 3", &x);
  if (status == TALLY_OK)
    status = tally_move_global(vm, "x", x);
  return status == TALLY_OK ? tally_from_int(vm, 0, out) : status;
}

static const tally_native assigning_functions[] = {
    {.name = "assign_x", .call = assign_x},
};
static const tally_module assigning = {.size = sizeof assigning,
                                       .functions = assigning_functions,
                                       .function_count = 1,
                                       .function_size = sizeof(tally_native)};

// P5 across inputs: code of the first takes x for steady, since no function
// there assigns it. What a later one or the host assigns meanwhile waits.
static void p5_other_code_assigns(void **state) {
  host *h = *state;
  counted c;
  tally_release(h->vm, eval(h,
                            "x = zeros(1000) + 1\n"
                            "fn during(f) { y = x; f(); sum(y) }\n"
                            "fn nothing() = 0"));
  tally_release(h->vm,
                eval(h, "fn other() { global x; x = x + 1; x = x + 1 }"));
  begin(h, &c);
  assert_true(number_of(h, "during(nothing)") == 1000);
  end(h, &c);
  assert_int_equal(GAIN(c, rc_inc), 0);
  begin(h, &c);
  assert_true(number_of(h, "during(other)") == 1000);
  end(h, &c);
  assert_int_equal(GAIN(c, live_bytes), 0);
  assert_true(number_of(h, "sum(x)") == 3000);
  // A call across which nothing is borrowed keeps nothing.
  tally_release(h->vm, eval(h,
                            "import memory\n"
                            "fn held(f) { b = memory.stats().live_bytes; f()\n"
                            "  memory.stats().live_bytes - b }\n"
                            "fn held_of(y, f) = held(f) + 0 * sum(y)\n"
                            "fn held_across(f) = held_of(x, f)\n"
                            "fn replace() { global x; x = zeros(1000) + 3 }"));
  assert_true(number_of(h, "held(replace)") == 0);
  assert_true(number_of(h, "held_across(replace)") >= 8000);
  // Where no such code is under way, it is changed in place.
  begin(h, &c);
  tally_release(h->vm, eval(h, "other()"));
  end(h, &c);
  assert_int_equal(GAIN(c, allocs), 0);
  assert_int_equal(tally_add_module(h->vm, &assigning), TALLY_OK);
  begin(h, &c);
  assert_true(number_of(h, "during(assign_x)") == 5000);
  end(h, &c);
  assert_true(GAIN(c, live_bytes) < 8000);  // code, but no array
  assert_true(number_of(h, "sum(x)") == 3000);
}

// --- Code that the verifier refuses ------------------------------------------

// It is compiled again, and then lends nothing but to slots: that costs counts.
static void refused_code_is_compiled_again(void **state) {
  host *h = *state;
  counted c;
  for (int i = 0; i < 2; i++) {
    h->vm->conservative = i == 1;
    tally_release(h->vm, eval(h,
                              "x = zeros(1000) + 1\n"
                              "fn both(y) = fold((x, y), (+))\n"
                              "fn lends() { y = x * 2; sum(both(y)) + y[0] }"));
    begin(h, &c);
    assert_true(number_of(h, "lends()") == 3002);
    end(h, &c);
    assert_true(i == 0 ? GAIN(c, rc_inc) == 0 : GAIN(c, rc_inc) > 0);
    assert_int_equal(GAIN(c, live), 0);
  }
  h->vm->conservative = false;
}

// --- The prompt -------------------------------------------------------------

static void l1_prompt(void **state) {
  host *h = *state;
  counted c;
  run_ok(h, "one = zeros(1) + 1.0\ntwo = one + 1.0\nthree = two + 1.0");
  // What lays values out is read with the first one, or the next where there
  // was no memory.
  for (int i = 0; i < 2; i++)
    assert_int_equal(tally_interact(h->vm, "one", 80), TALLY_OK);
  begin(h, &c);
  assert_int_equal(tally_interact(h->vm, "one + (two + three)", 80), TALLY_OK);
  end(h, &c);
  assert_non_null(strstr(h->output, "6"));
  // The 5 was written into, the 6 freed once it was shown.
  assert_int_equal(GAIN(c, allocs), 1);
  assert_int_equal(GAIN(c, inplace), 1);
  assert_int_equal(GAIN(c, frees), 1);
  assert_int_equal(GAIN(c, live_bytes), 0);
}

// --- What the host keeps ----------------------------------------------------

static void p9_host_handle(void **state) {
  host *h = *state;
  counted c;
  tally_value x;
  run_ok(h, "x = zeros(10) + 1.0");
  begin(h, &c);
  assert_int_equal(tally_get_global(h->vm, "x", &x), TALLY_OK);
  end(h, &c);
  assert_int_equal(GAIN(c, rc_inc), 1);
  assert_int_equal(GAIN(c, promotions_host), 1);
  assert_int_equal(GAIN(c, copies), 0);
  // What the host holds is never written into.
  run_ok(h, "x[0] = 5.0");
  tally_array a;
  assert_int_equal(tally_to_buffer(h->vm, x, &a), TALLY_OK);
  assert_true(((double *)a.data)[0] == 1.0);
  tally_release(h->vm, x);
}

// --- A count that is full ---------------------------------------------------

static void p10_full_count(void **state) {
  host *h = *state;
  tl_vm *vm = h->vm;
  int64_t n = 3;
  tl_array *a = tl_array_new(vm, TL_FLOAT64, 1, &n);
  assert_non_null(a);
  tl_slot slot = tl_own_array(a);
  a->head.count = UINT32_MAX - 1;
  tl_retain(vm, slot);
  tl_retain(vm, slot);
  assert_int_equal(a->head.count, UINT32_MAX);
  // From here on it is kept for good: no drop may lower the count.
  for (int i = 0; i < 5; i++) tl_drop(vm, slot);
  assert_int_equal(a->head.count, UINT32_MAX);
  a->head.count = 1;
  tl_drop(vm, slot);
}

// What is kept for good for that reason is told of where one looks for it.
static void p10_is_reported(void **state) {
  host *h = *state;
  tally_value x, graph;
  tl_slot slot;
  const char *text;
  run_ok(h, "import memory\nx = zeros(10) + 1.0");
  assert_int_equal(tally_get_global(h->vm, "x", &x), TALLY_OK);
  assert_true(tl_handle_get(h->vm, x, &slot));
  uint32_t before = slot.object->count;
  slot.object->count = UINT32_MAX;
  graph = eval(h, "memory.graph(x, form: \"text\")");
  slot.object->count = before;
  assert_int_equal(tally_to_string(h->vm, graph, &text, NULL), TALLY_OK);
  assert_non_null(strstr(text, ", count full: never freed\n"));
  tally_release(h->vm, graph);
  tally_release(h->vm, x);
}

// --- An allocation that fails, each in turn ---------------------------------

static const char *const programs[] = {
    // T1, T2, T3
    "X = zeros(1000) + 1.0\n"
    "r = X+(X+(X+(X+(X+X))))\n"
    "a = X+X; b = X+a; c = X+b; d = X+c; r = X+d\n"
    "for _ in 0..4 { a = X+a }\n",
    // Views, parts, updates
    "x = zeros((10, 10)) + 1.0\n"
    "t = x[3]; x[3] = x[4]; x[4] = t\n"
    "r = (a: (x + 0.0, x[1:]), b: none)\n"
    "r.a[0] = sort(r.a[0]); r.b = r\n"
    "y = copy((x + 1.0).T)\n",
    // C6, C8, C12
    "fn group() {\n"
    "  a = zeros(10) + 1.0\n"
    "  fn even(n) = if n == 0 { a[0] } else { odd(n - 1) }\n"
    "  fn odd(n) = if n == 0 { a[1] } else { even(n - 1) }\n"
    "  even\n"
    "}\n"
    "f = group()\n"
    "v = f(5)\n"
    "err = none\n"
    "try { error(\"no\") } catch e { err = e }\n"
    "l = (v, 2)\n"
    "for i in 0..3 { l = append(l, l) }\n",
};

static void e5_each_allocation(void **state) {
  (void)state;
  for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
    bool done = false;
    uint64_t refused = 0;
    for (uint64_t n = 1; !done; n++) {
      host h = {0};
      tally_options options = host_options(&h);
      host_open(&h, &options);
      h.fail_at = h.requests + n;
      tally_status status = tally_eval(h.vm, programs[p], NULL);
      if (status != TALLY_OK)
        assert_int_equal(status, TALLY_ERR_MEMORY);
      done = !h.refused;
      refused += h.refused;
      h.fail_at = 0;
      if (done)
        assert_int_equal(status, TALLY_OK);
      host_close(&h);
    }
    assert_true(refused > 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(l1_prompt),
      HOST_TEST(l3_moved_in),
      HOST_TEST(l4_moved_in_thrice),
      HOST_TEST(l9_moved_in_and_used),
      HOST_TEST(p5_other_code_assigns),
      HOST_TEST(refused_code_is_compiled_again),
      HOST_TEST(p9_host_handle),
      HOST_TEST(p10_full_count),
      cmocka_unit_test_setup_teardown(p10_is_reported, host_set_up,
                                      host_tear_down),
      cmocka_unit_test(e5_each_allocation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
