// What is kept of regions that have run (vm/region/region_cache.c): when it is
// used again, what goes to make room, and that nothing of it is counted or lost
// where an allocation is refused.
#include "tests/unit/host.h"
#include "vm/region/region_internal.h"
#include "vm/vm.h"

#include <stdio.h>

enum { MOST = 128, MOST_OF_A_REGION = 4 };

static int kept_of(const tl_region *where) {
  int count = 0;
  for (const tl_region_cached *k = where->cached; k != NULL; k = k->next) count++;
  return count;
}

// The list of a VM has both directions, and as many as it says.
static void check_list(const tl_vm *vm) {
  int count = 0;
  const tl_region_cached *newer = NULL;
  for (const tl_region_cached *k = vm->regions; k != NULL; k = k->older) {
    assert_ptr_equal(k->newer, newer);
    newer = k;
    count++;
  }
  assert_ptr_equal(vm->oldest_region, newer);
  assert_int_equal(vm->region_count, count);
}

// As if all code had ended.
static void forget_all(tl_vm *vm) {
  while (vm->regions != NULL) {
    assert_false(vm->regions->is_busy);
    tl_region_drop_cached(vm, vm->regions);
  }
}

static void test_used_again(void **state) {
  host *h = *state;
  run_ok(h,
         "fn f(x, y) = where(x > 1, x * y, x)\n"
         "x = sqrt(arange(64.0))\n"
         "a = f(x, x)\na = f(x, x)\na = f(x, x)");
  assert_int_equal(h->vm->region_count, 1);
  const tl_region_cached *kept = h->vm->regions;
  assert_true(kept->planned.is_ready);
  // Other items, and a name that is bound to others: the same plan.
  run_ok(h, "for i in 0..4 { b = f(x + i, x - i) }");
  check_value(h, "all(b == where(x + 3 > 1, copy((x + 3) * (x - 3)), x + 3))",
              "true");
  assert_int_equal(h->vm->region_count, 1);
  assert_ptr_equal(h->vm->regions, kept);
}

static void test_kinds_at_one_instruction(void **state) {
  host *h = *state;
  static const char *const operands[] = {
      "sqrt(arange(64.0))",                   // rank 1
      "reshape(sqrt(arange(64.0)), (8, 8))",  // rank 2: merged, another shape
      "float32(arange(64.0))",
      "arange(64)",
      "reshape(sqrt(arange(64.0)), (8, 8)).T",
      "int16(arange(64))",
      "reshape(sqrt(arange(64.0)), (4, 4, 4))"};
  enum { KINDS = sizeof operands / sizeof operands[0] };
  char text[400];
  run_ok(h, "fn f(x, y) = where(x > 2, x * y + x, y)");
  const tl_region *where = NULL;
  for (int i = 0; i < KINDS; i++) {
    snprintf(text, sizeof text,
             "x = %s\n"
             "for i in 0..2100 { a = f(x, x) }\n",
             operands[i]);
    run_ok(h, text);
    check_value(h, "all(a == where(x > 2, copy(x * x) + x, x))", "true");
    check_list(h->vm);
    where = h->vm->regions->where;
    int count = kept_of(where);
    assert_int_equal(count, i < MOST_OF_A_REGION ? i + 1 : MOST_OF_A_REGION);
  }
  // The ones used last are there, each with a graph of its own; the one that
  // was just used comes first.
  const tl_region_cached *last = where->cached;
  run_ok(h,
         "x = arange(64)\n"
         "for i in 0..4 { a = f(x, x) }");
  assert_int_equal(kept_of(where), MOST_OF_A_REGION);
  assert_ptr_not_equal(where->cached, last);
  assert_ptr_equal(where->cached->next, last);
}

static void test_eviction(void **state) {
  host *h = *state;
  enum { FUNCTIONS = MOST + 40 };
  char *text = malloc(FUNCTIONS * 100 + 200);
  assert_non_null(text);
  size_t n = (size_t)sprintf(text, "x = sqrt(arange(64.0))\nok = true\n");
  for (int i = 0; i < FUNCTIONS; i++) {
    n += (size_t)sprintf(text + n, "fn f%d(x) = where(x > %d, x * x + x, x)\n",
                         i, i % 7);
  }
  run_ok(h, text);
  for (int i = 0; i < FUNCTIONS; i++) {
    sprintf(text, "for i in 0..3 { a = f%d(x) }\n", i);
    run_ok(h, text);
    check_list(h->vm);
    assert_int_equal(h->vm->region_count, i < MOST ? i + 1 : MOST);
  }
  // The first ones have gone; they are kept again when they are called.
  run_ok(h, "for i in 0..3 { a = f0(x) }");
  assert_int_equal(h->vm->region_count, MOST);
  // What is asked here is kept in place of another until its code ends.
  check_value(h, "all(a == where(x > 0, copy(x * x) + x, x))", "true");
  // Nothing of it is live memory, and it can be given back.
  tally_stats before, after;
  tally_get_stats(h->vm, &before);
  forget_all(h->vm);
  tally_get_stats(h->vm, &after);
  assert_int_equal(before.live_bytes, after.live_bytes);
  assert_int_equal(h->vm->region_count, 0);
  assert_null(h->vm->regions);
  check_value(h, "all(f1(x) == where(x > 1, copy(x * x) + x, x))", "true");
  free(text);
}

// An array of one block is made without asking where else it might go, unless
// an operand ends; what is a part, or has more than a block, is not.
static void test_short(void **state) {
  host *h = *state;
  static const struct {
    const char *code;
    bool is_short;
  } runs[] = {
      {"for i in 0..9 { r = (a * x + b) * x + c }", true},
      {"for i in 0..9 { r = (a * x + i) * x + c }", true},
      {"for i in 0..9 { r = (a * m + b) * m + c }", true},
      {"for i in 0..9 { r = (a * m.T + b) * m.T + c }", false},
      {"for i in 0..9 { x = (a * x + b) * x + c }", true},  // not run so
      {"for i in 0..9 { y[:] = (a * x + b) * x + c }", false},
      {"for i in 0..9 { r = sum((a * x + b) * x + c) }", false},
      {"for i in 0..9 { r = (a * long + b) * long + c }", false},
  };
  char text[300];
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    forget_all(h->vm);
    snprintf(text, sizeof text,
             "fn f(a, b, c, x, y, m, long) {\n  r = 0\n  %s\n"
             "  (r, x, y)\n}\n"
             "x = arange(900.0) / 8\n"
             "m = reshape(x, (30, 30))\n"
             "long = arange(9000.0)\n"
             "f(0.5, 2.0, 4, copy(x), copy(x), m, long)\n",
             runs[i].code);
    tally_release(h->vm, eval(h, text));
    assert_non_null(h->vm->regions);
    assert_int_equal(h->vm->regions->is_short, runs[i].is_short);
  }
}

// Its numbers may change, it counts as what it does in one pass, and memory
// that is refused fails the statement alone.
static void test_short_again(void **state) {
  host *h = *state;
  run_ok(h,
         "fn f(x, a, b) = (x * a + b) * x - a\n"
         "fn apart(x, a, b) { y = x * a\n y = copy(y) + b\n"
         "  y = copy(y) * x\n copy(y) - a }\n"
         "x = sqrt(arange(700.0))\n"
         "for i in 0..3 { y = f(x, 2.0, 1) }");
  assert_true(h->vm->regions->is_short);
  tally_stats before, after;
  tally_get_stats(h->vm, &before);
  run_ok(h, "y = f(x + 0, 3.0, 4)");
  tally_get_stats(h->vm, &after);
  assert_int_equal(after.fused_ops - before.fused_ops, 3);
  check_value(h, "all(y == apart(x, 3.0, 4))", "true");
  check_value(h, "all(f(x, 0.5, -7) == apart(x, 0.5, -7))", "true");
  check_value(h, "all(f(x[::-1], 0.5, 7) == apart(x[::-1], 0.5, 7))", "true");
  for (int n = 1; n < 4; n++) {
    tally_value got = {0, 0};
    run_ok(h, "import memory\nmemory.trim()\ny = 0");
    h->refused = false;
    h->fail_at = h->requests + (uint64_t)n;
    tally_status status = tally_eval(h->vm, "y = f(x, 2.0, 1)\n0", &got);
    h->fail_at = 0;
    assert_int_equal(status, h->refused ? TALLY_ERR_MEMORY : TALLY_OK);
    if (status == TALLY_OK)
      tally_release(h->vm, got);
    check_list(h->vm);
    check_value(h, "all(f(x, 2.0, 1) == apart(x, 2.0, 1))", "true");
  }
  // Where an operand ends, in its memory.
  run_ok(h,
         "fn own(x) { for i in 0..3 { x = (x * 0.5 + 1) * x - 2 }\n x }\n"
         "y = own(copy(x))\nz = copy(x)");
  tally_get_stats(h->vm, &before);
  run_ok(h, "z = own(z)");
  tally_get_stats(h->vm, &after);
  assert_in_range(after.allocs - before.allocs, 0, 1);  // of three turns
  check_value(h, "all(z == y)", "true");
}

// Regions that run together, with each allocation of the run refused: it fails
// with a memory error, or runs apart; the operands are what they were, and what
// could not be kept is made anew.
// An array that is in a slot, and once more in the closure, is walked once.
static void test_one_stream(void **state) {
  host *h = *state;
  run_ok(h,
         "fn over(x) = fn () = (x - 1.0) * 2.0 + x\n"
         "f = over(sqrt(arange(900.0)))\n"
         "for _ in 0..4 { y = f() }");
  enum { STREAMS = 4 };  // x, 1, 2 and the result
  assert_int_equal(h->vm->regions->planned.plan.stream_count, STREAMS);
  check_value(h, "y[400]", "58.0");
}

static void test_refused_in_a_group(void **state) {
  host *h = *state;
  run_ok(
      h,
      "import linalg\n"
      "fn group(x, y) {\n"
      "  e = x * y\n"
      "  s = cumulative_sum(e, axis: 1)\n"
      "  low = min(e, axis: 0)\n"
      "  r = linalg.vector_norm(e, axis: 1)\n"
      "  (e, s, low, r)\n"
      "}\n"
      "fn parts(a, b, x) {\n"
      "  a[1:-1] = x[2:] * x[:-2]\n"
      "  b[1:-1] = x[2:] - x[:-2]\n"
      "  (a, b)\n"
      "}\n"
      "fn chosen(x) = (x * 2)[x > 1]\n"
      "x = reshape(sqrt(arange(6000.0)), (60, 100))\n"
      "y = x + 1\n"
      "d = reshape(x, (6000,))\n"
      "e = copy(x * y)\n"
      "fn run() {\n"
      "  (e, s, low, r) = group(x, y)\n"
      "  (a, b) = parts(d + 0, d + 1, d)\n"
      "  (sum(e), sum(s), sum(low), sum(r), sum(a), sum(b), sum(chosen(d)))\n"
      "}\n");
  tally_value expected = eval(h, "wanted = run()\nwanted");
  bool passed = false;
  int failed = 0, runs = 0;
  for (uint64_t n = 1; !passed && n < 2000; n++) {
    tally_value got = {0, 0};
    run_ok(h, "import memory\nmemory.trim()");
    h->refused = false;
    h->fail_at = h->requests + n;
    tally_status status = tally_eval(h->vm, "run()", &got);
    h->fail_at = 0;
    passed = !h->refused;
    runs++;
    if (status == TALLY_OK) {
      tally_release(h->vm, got);
    } else {
      assert_int_equal(status, TALLY_ERR_MEMORY);
      failed++;
    }
    check_list(h->vm);
    if (n % 2 == 0)  // from the start, and by what is kept
      forget_all(h->vm);
    check_value(h, "all(e == x * y) and all(run() == wanted)", "true");
  }
  tally_release(h->vm, expected);
  assert_true(passed && failed > 0 && runs > failed);
}

// A kept graph is good for the code that was called, with other captures.
static void test_callees(void **state) {
  host *h = *state;
  run_ok(h,
         "fn apply(f, x) = f(x) * 2 + f(x + 1)\n"
         "fn make(k, y) = fn(x) = x * k + y\n"
         "x = sqrt(arange(200.0))\n"
         "for i in 0..3 { a = apply(make(2.0, x), x) }");
  const tl_region_cached *kept = h->vm->regions;
  const tl_region *where = kept->where;
  assert_int_equal(kept_of(where), 1);
  assert_int_equal(kept->graph.callee_count, 1);
  run_ok(h, "for i in 0..4 { b = apply(make(i, x + i), x) }");
  check_value(h, "all(b == (x * 3 + (x + 3)) * 2 + ((x + 1) * 3 + (x + 3)))",
              "true");
  assert_int_equal(kept_of(where), 2);  // a float, an integer
  run_ok(h, "for i in 0..40 { c = apply(fn(v) = v - 1, x) }");
  check_value(h, "all(c == (x - 1) * 2 + ((x + 1) - 1))", "true");
  assert_int_equal(kept_of(where), 3);
  check_value(h, "all(apply(make(2.0, x), x) == a)", "true");
  check_value(h, "apply(make(2.0, 1), 3.0)", "23.0");
  check_list(h->vm);
}

// A module's code that has gone takes the graphs with it that read it.
static void test_callee_has_gone(void **state) {
  host *h = *state;
  run_ok(h,
         "fn apply(f, x) = f(x) * 2 + f(x + 1)\n"
         "x = sqrt(arange(200.0))");
  int before = h->vm->region_count;
  run_ok(h, "for i in 0..3 { a = apply(fn(v) = v * v, x) }");
  assert_int_equal(h->vm->region_count, before + 1);
  const tl_region_cached *kept = h->vm->regions;
  const tl_unit *unit = kept->graph.callees[0].function->unit;
  assert_ptr_not_equal(unit, kept->unit);
  tl_region_forget(h->vm, unit);
  assert_int_equal(h->vm->region_count, before);
}

// No memory for the result of a region that begins with a call: the arguments,
// which end with the call, are not lost.
static void test_no_memory_in_a_call(void **state) {
  (void)state;
  tally_vm *vm;
  tally_value lost;
  int64_t bytes = -1;
  tally_options options = tally_default_options();
  options.memory_limit = 36 << 20;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  static const char text[] =
      "import memory\n"
      "x = sqrt(arange(600000.0))\n"
      "h = float32(x)\n"
      "fn apply(f, x) = f(sort(h)) * 2 + 1\n"
      "fn run(y) = apply(fn(v) = v * y + 1, x)\n"
      "for i in 0..3 { a = run(x) }\n"
      "a = 0\n"
      "filler = zeros(5_000_000, dtype: float32)\n"
      "failed = 0\n"
      "before = memory.live()\n"
      "for i in 0..4 {\n"
      "  try { a = run(x) } catch e { failed += 1 }\n"
      "}\n"
      "a = 0\n"
      "if failed > 1 { memory.live() - before } else { -1 }";
  assert_int_equal(tally_eval(vm, text, &lost), TALLY_OK);
  assert_int_equal(tally_to_int(vm, lost, &bytes), TALLY_OK);
  assert_in_range(bytes, 0, 1000);
  tally_close(vm);
}

// A slot that an earlier instruction of a pass settled is bound anew in it, to
// a function: nobody owns that.
static void test_settled_and_bound(void **state) {
  host *h = *state;
  h->vm->conservative = true;
  run_ok(h,
         "g = ones(2100) * 3.0\n"
         "fn show(v) {}\n"
         "fn f(a) {\n"
         "  b = a\n"
         "  c = b + 1.0\n"
         "  try {\n"
         "    a, c = c, b + 1\n"
         "    show((g * 2.0 + b)[0:2])\n"
         "  } catch e {}\n"
         "  c.T\n"
         "}\n"
         "fn next(c) { c + 1 }\n"
         "a = ones(2100)\n"
         "b = a * 2.0\n"
         "c = f(if any(b > 1) { next(a) } else { a })");
  check_value(h, "c[:2]", "[3.0, 3.0]");
}

// What the code tells of a slot is the same with an index and without one.
static void test_writers(void **state) {
  host *h = *state;
  uint32_t memory[400] = {0}, found = 0;
  run_ok(h,
         "fn f(x, g) {\n"
         "  y = g(x)\n"
         "  for i in 0..3 { y = x => g(x + i); x = y(x) }\n"
         "  if x > 1 { y = g } else { g = y }\n"
         "  [g(x), y(x), [i * x for i in 0..4]]\n"
         "}");
  const tl_prototype *p = h->vm->main->units->prototypes[1];
  tl_writers scanned = {.p = p}, indexed;
  assert_in_range(tl_writers_size(p), 1, 400);
  tl_writers_index(&indexed, p, memory);
  for (uint32_t pc = 0; pc <= p->code_count; pc++) {
    for (uint32_t slot = 0; slot < p->slot_count; slot++) {
      uint32_t at = 0, by_index = 0;
      tl_decoded d;
      bool is_written = tl_writers_find(&scanned, pc, slot, &at, &d);
      assert_int_equal(tl_writers_find(&indexed, pc, slot, &by_index, &d),
                       is_written);
      assert_int_equal(by_index, at);
      found += is_written;
    }
  }
  assert_in_range(found, p->code_count, UINT32_MAX);
}

// What is computed with single items of large arrays asks for no region.
static void test_items(void **state) {
  host *h = *state;
  run_ok(h,
         "fn f(x, m, t, z, r, l, p) {\n"
         "  j = uint8(1)\n"
         "  k = 0\n"
         "  for i in 0..4 {\n"
         "    k = x[i] * x[j] + 1\n"
         "    k = m[i, j] * 2 + m[-1, 1]\n"
         "    k = t[i, 1, 2] * 2 + t[i, j, 0]\n"
         "    k = z[i] * 2 + z[i].real\n"
         "    k = r.x[i] * 2 + r.m[i, 1]\n"
         "    k = l[0][i] * 2 + l[1][i, 1]\n"
         "    k = p.x[i] * 2 + p[i].x\n"
         "    k = x.shape[0] * 2 + x.size - 1\n"
         "  }\n"
         "  k\n"
         "}\n"
         "x = sqrt(arange(8400.0))\n"
         "m = reshape(x, (4200, 2))\n"
         "p = repeat([(y: 1)], 8400)\n"
         "p.x = x\n"
         "k = f(x, m, reshape(x, (700, 4, 3)), complex(x, x), (x: x, m: m),\n"
         "      (x, m), p)\n");
  const tl_prototype *f = h->vm->main->units->prototypes[1];
  assert_true(f->region_count > 0);
  for (uint32_t i = 0; i < f->region_count; i++) {
    assert_int_equal(f->regions[i].asked_at, 0);
    assert_int_equal(f->regions[i].runs, 0);
  }
}

// A call that turns out to compute numbers is not read as a region each time,
// however large its argument is; with arrays it runs as one.
static void test_items_in_a_callee(void **state) {
  host *h = *state;
  run_ok(h,
         "fn f(x, i) = x[i] * 2 + 1\n"
         "fn g(x) {\n"
         "  k = 0\n"
         "  for i in 0..100 { k = f(x, i) + k }\n"
         "  k\n"
         "}\n"
         "x = sqrt(arange(8400.0))\n"
         "k = g(x)\n");
  const tl_prototype *g = h->vm->main->units->prototypes[2];
  assert_int_equal(g->region_count, 1);
  assert_true(g->regions[0].refused_numbers);
  assert_in_range(g->regions[0].rejections, 1, 7);
  check_value(h, "k == 2 * sum(x[:100]) + 100", "true");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_used_again, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_kinds_at_one_instruction,
                                      host_set_up, host_tear_down),
      cmocka_unit_test_setup_teardown(test_short, host_set_up, host_tear_down),
      cmocka_unit_test_setup_teardown(test_short_again, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_one_stream, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_eviction, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_refused_in_a_group, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_callees, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_callee_has_gone, host_set_up,
                                      host_tear_down),
      cmocka_unit_test(test_no_memory_in_a_call),
      cmocka_unit_test_setup_teardown(test_settled_and_bound, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_writers, host_set_up,
                                      host_tear_down),
      cmocka_unit_test_setup_teardown(test_items, host_set_up, host_tear_down),
      cmocka_unit_test_setup_teardown(test_items_in_a_callee, host_set_up,
                                      host_tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
