// Machine code (vm/native): that it runs, under which limits, in which memory,
// and that it goes with the code it was made of.
#include "tests/unit/host.h"

#include <pthread.h>
#include <stdio.h>

#include "vm/engine/plan.h"
#include "vm/memory/memory_internal.h"
#include "vm/native/jit_internal.h"
#include "vm/region/region_internal.h"

// A loop whose output says how far it came; one that calls itself.
static const char *const loop =
    "fn f(x, n) {\n"
    "  s = 0.0\n"
    "  for i in 0..n { s += x[i] * 2; x[i] = s }\n"
    "  s\n"
    "}\n"
    "fn fib(n) = if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n"
    "fn go() = (f(ones(3000), 3000), fib(18))\n";

static tally_vm *open_with(host *h, tally_native_code native, size_t memory,
                           uint64_t budget) {
  tally_options options = tally_default_options();
  options.native = native;
  options.memory_limit = memory;
  options.instruction_limit = budget;
  options.write = host_write;
  options.context = h;
  options.resize = host_resize;
  options.threads = 1;
  tally_vm *vm = NULL;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  return vm;
}

static uint32_t units_of(const tally_vm *vm) {
  return vm->jit == NULL ? 0 : vm->jit->unit_count;
}

static void what_runs_long_is_compiled(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_USUAL, 0, 0);
  assert_int_equal(tally_eval(vm, loop, NULL), TALLY_OK);
  assert_int_equal(units_of(vm), 0);
  assert_int_equal(tally_eval(vm, "print(go())", NULL), TALLY_OK);
  assert_string_equal(h.output, "(6000.0, 2584)\n");
  if (tally_has_native_code())
    assert_true(units_of(vm) > 0 && !vm->jit->is_off);
  assert_int_equal(tally_close(vm), 0);
  assert_int_equal(h.blocks, 0);
}

static void off_is_off(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
  assert_null(vm->jit);
  assert_int_equal(tally_eval(vm, loop, NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "print(go())", NULL), TALLY_OK);
  assert_string_equal(h.output, "(6000.0, 2584)\n");
  tally_close(vm);
}

// Chunks take 64 KiB, for which there is no room: nobody is told.
static void refused_memory_is_no_error(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  assert_int_equal(tally_eval(vm, loop, NULL), TALLY_OK);
  tally_stats stats;
  tally_get_stats(vm, &stats);
  tally_close(vm);
  memset(&h, 0, sizeof h);
  vm = open_with(&h, TALLY_NATIVE_ALWAYS, (size_t)stats.live_bytes + 60000, 0);
  assert_int_equal(tally_eval(vm, loop, NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "print(go())", NULL), TALLY_OK);
  assert_string_equal(h.output, "(6000.0, 2584)\n");
  if (vm->jit != NULL) {
    assert_true(vm->jit->is_off);
    assert_int_equal(vm->memory->code_bytes, 0);
  }
  tally_close(vm);
}

// A value takes the memory of the code that a cached region is about to run.
static void pieces_give_way_to_values(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_USUAL, 0, 0);
  static const char regions[] =
      "x = arange(3000) - 7.5\n"
      "fn f(x) = where(sqrt(x * x + 1) > 9, -x, abs(x) * 3) / 7\n"
      "fn g(x, y) = (x > y) & (x * 2 < y + 40) | (x == 3.5)\n"
      "for i in 0..4 { y = f(x); z = g(x, y) }\n";
  assert_int_equal(tally_eval(vm, regions, NULL), TALLY_OK);
  static const char again[] =
      "y2 = f(x); z2 = g(x, y2)\n"
      "print(all(y == y2), all(z == z2), sum(z2))";
  size_t code = vm->memory->code_bytes;
  if (vm->pieces == NULL || strcmp(tl_kernels()->name, "base") == 0) {
    tally_close(vm);
    skip();
  }
  assert_true(code > 0);
  vm->options.memory_limit = (size_t)vm->stats.live_bytes + code + 40000;
  assert_int_equal(tally_eval(vm, again, NULL), TALLY_OK);
  assert_int_equal(vm->memory->code_bytes, code);
  vm->options.memory_limit = (size_t)vm->stats.live_bytes + code + 10000;
  assert_int_equal(tally_eval(vm, again, NULL), TALLY_OK);
  assert_int_equal(vm->memory->code_bytes, 0);
  assert_string_equal(h.output, "true true 19\ntrue true 19\n");
  tally_close(vm);
}

// Of more pieces than a VM has, those go that no plan has; what is still in use
// stays, and what comes last is a piece as well.
static void oldest_pieces_make_room(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_USUAL, 0, 0);
  static const char kept[] =
      "x = arange(300) - 7.5\n"
      "fn f(x) = where(sqrt(x * x + 1) > 9, -x, abs(x) * 3) / 7\n"
      "for i in 0..4 { y = f(x) }\n";
  assert_int_equal(tally_eval(vm, kept, NULL), TALLY_OK);
  size_t most = 0;
  for (int i = 0; i < 1500; i++) {
    char text[200];
    int n = snprintf(text, sizeof text, "for i in 0..4 { z = x");
    for (int k = 0; k < 11; k++)
      n += snprintf(text + n, sizeof text - (size_t)n,
                    i >> k & 1 ? " - %d" : " + %d", k + 2);
    snprintf(text + n, sizeof text - (size_t)n, " }");
    assert_int_equal(tally_eval(vm, text, NULL), TALLY_OK);
    if (i == 1000)
      most = vm->memory->code_bytes;
  }
  assert_int_equal(tally_eval(vm, "print(all(y == f(x)))", NULL), TALLY_OK);
  assert_string_equal(h.output, "true\n");
  static const char last[] =
      "fn g(x) = (x - 3) * (x - 4) - (x - 5) * x\n"
      "for i in 0..4 { y = g(x) }";
  assert_int_equal(tally_eval(vm, last, NULL), TALLY_OK);
  if (most > 0) {
    assert_int_equal(vm->regions->planned.plan.steps[0].arity, TL_PLAN_PIECE);
    assert_true(vm->memory->code_bytes <= most + 65536);
  }
  tally_close(vm);
}

// What units have done by C: building, keys, texts, results that vary; and what
// they do: items of two types, and a text that ends behind a call.
static const char *const building =
    "fn found(r, k) = if k in r { r[k] } else { none }\n"
    "fn built(n, most) {\n"
    "  r, l, s = (:), (), 0\n"
    "  for i in 0..n {\n"
    "    k = \"k{i % 70}\"\n"
    "    if i % 70 < 50 { r[k] = i }\n"
    "    v = found(r, k)\n"
    "    l = append(l, (i: i, v: v))\n"
    "    if len(l) > most { l = l[most // 2:] }\n"
    "    if v != none { s += v }\n"
    "  }\n"
    "  s, len(l)\n"
    "}\n"
    "fn total(v) {\n  if typeof(v) != `list` { return v }\n  n = 0\n"
    "  for x in v { n += total(x) }\n  n\n}\n"
    "fn visit(g, u, l) {\n  for v in g[u] { l, n = visit(g, v, l) }\n"
    "  append(l, u), len(l)\n}\n"
    "fn first(t) = t[0]\n"
    "fn sorted(n) {\n  s = \"\"\n"
    "  for i in 0..n {\n    for t in split(\"a bc ( + de f\") {\n"
    "      if t != \"(\" and first(t) >= first(\"b\") { s = t }\n    }\n"
    "  }\n  s\n}\n"
    "fn walked(g, v, n) {\n  t = 0\n"
    "  for i in 0..n { l, m = visit(g, \"a\", ()); t += total(v) + m }\n  t\n}\n";

static void sum_runs(void *context, const tl_jit_report *report) {
  *(uint64_t *)context += report->is_given_up ? 1000 : report->runs;
}

// How often machine code was entered while the source ran.
static uint64_t runs_of(const char *source, const char *output) {
  host h = {0};
  uint64_t runs = 0;
  tally_vm *vm = open_with(&h, TALLY_NATIVE_USUAL, 0, 0);
  assert_int_equal(
      tally_run_source(vm, "runs", source, strlen(source), 0, NULL), TALLY_OK);
  assert_string_equal(h.output, output);
  tl_jit_each(vm, sum_runs, &runs);
  assert_true((runs > 0) == (tally_has_native_code() != 0));
  tally_close(vm);
  return runs;
}

// A loop of 20,000 iterations is left a few times while its types are learned,
// which forgets how often units ran, and at its end then.
static void what_c_does_stays_within(void **state) {
  (void)state;
  char text[1600];
  snprintf(text, sizeof text, "%s%s", building,
           "for _ in 0..6 { r = built(20000, 20) }\nprint(r)\n");
  assert_true(runs_of(text, "(142992850, 20)\n") < 30);
  snprintf(text, sizeof text, "%s%s", building,
           "g = (a: (\"b\", \"c\", \"d\"), b: (\"d\",), c: (\"d\",), d: ())\n"
           "print(walked(g, (1, (2, (3,)), 4), 9000))\n");
  assert_true(runs_of(text, "135000\n") < 30);
  // Texts of a letter have no owner, others do; both move out of the list.
  snprintf(text, sizeof text, "%sprint(sorted(9000))\n", building);
  assert_true(runs_of(text, "f\n") < 30);
}

// Functions that are called as values, with what they have captured: numbers,
// lists, arrays and records, owned and borrowed results, several, and by turns.
static const char *const calling =
    "fn made(k) {\n"
    "  l, r, v = (1, 2, 3), (n: 4), [0.5, 1.5]\n"
    "  fn (i) = i % k + l[i % 3], fn (i) = r, fn (i) = v * k,\n"
    "  fn (i) { i, k }\n}\n"
    "fn power(k) { fn p(n) = if n == 0 { 1 } else { k * p(n - 1) }; p }\n"
    "fn total(f, g, h, p, n) {\n"
    "  s = 0\n"
    "  for i in 0..n {\n"
    "    a, b = p(i)\n"
    "    s += f(i) + g(i).n + h(i)[1] + a * b % 7\n"
    "  }\n  s\n"
    "}\n"
    "fn turns(f, n) { s = 0; for i in 0..n { s = f[i % 3](s) }; s }\n"
    "fn norm(x) = x[0] * x[0] + x[1] * x[1]\n"
    "fn norms(x, n) {\n"
    "  s = 0.0\n"
    "  for i in 0..n { s += norm(x) + norm(x * 0.5) }\n"
    "  s\n"
    "}\n";

static void values_are_called_within(void **state) {
  (void)state;
  char text[1000];
  snprintf(text, sizeof text, "%s%s", calling,
           "for k in 3..6 {\n  f, g, h, p = made(k)\n"
           "  print(total(f, g, h, p, 60000), norms([3.0, k], 30000))\n}\n"
           "print(turns((x => x + 1, x => x * 2, x => x % 99), 30000),\n"
           "  turns((power(3), x => x % 17, x => x % 9), 30000))\n");
  assert_true(runs_of(text,
                      "870000.0 675000.0\n989996.0 937500.0\n"
                      "1109999.0 1275000.0\n66 3\n") < 60);
}

// Points to the nearest of 4 centres: `best` is a literal's number first, and
// arrays are made anew in each round, so that the inner loop has more versions
// than a unit may have. What leaves for that is no reason to go around an item.
static const char *const nearest =
    "fn nearest(n, rounds) {\n"
    "  p, c = reshape(arange(n * 3.0), (n, 3)), ones((4, 3))\n"
    "  for _ in 0..rounds {\n"
    "    s, count = zeros((4, 3)), zeros(4)\n"
    "    for i in 0..n {\n"
    "      best, at = 1e9, 0\n"
    "      for k in 0..4 {\n"
    "        d = 0.0\n"
    "        for a in 0..3 { t = p[i, a] - c[k, a]; d += t * t }\n"
    "        if d < best { best, at = d, k }\n"
    "      }\n"
    "      for a in 0..3 { s[at, a] += p[i, a] }\n"
    "      count[at] += 1\n"
    "    }\n"
    "    for k in 0..4 { for a in 0..3 { c[k, a] += s[k, a] / (count[k] + 1) } "
    "}\n"
    "  }\n"
    "  c[0, 0]\n"
    "}\n"
    "for _ in 0..12 { r = nearest(1000, 3) }\nprint(r > 0)\n";

static void versions_are_no_detours(void **state) {
  (void)state;
  assert_true(runs_of(nearest, "true\n") < 150);
}

// Recursion that few slots are enough for, below a call that takes many: units
// reckon with the most, so they need room that the interpreter never asks for.
static void recursion_makes_room(void **state) {
  (void)state;
  assert_true(
      runs_of("fn fib(n) = if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n"
              "fn wide(f, a, b, c, d, e, g, h, i, j) =\n"
              "  f() + a + b + c + d + e + g + h + i + j\n"
              "t = 0\n"
              "for k in 0..40 {\n"
              "  t += wide(fn() = fib(16), k, 1, 2, 3, 4, 5, 6, 7, 8)\n"
              "}\n"
              "print(t)\n",
              "41700\n") < 100);
}

// A function that makes an array and goes over it is left at a long loop, which
// is entered with the array's facts in registers; short ones are called.
static void loops_over_new_arrays_have_doors(void **state) {
  (void)state;
  const char *source =
      "fn filled(n) {\n"
      "  a = zeros((n, n))\n"
      "  for i in 0..n { for j in 0..n { a[i, j] = i + j } }\n"
      "  a[n - 1, n - 1]\n"
      "}\n"
      "fn all(n, turns) {\n"
      "  t = 0\n"
      "  for _ in 0..turns { t += filled(n) }\n"
      "  t\n"
      "}\n"
      "print(all(%d, %d))\n";
  char text[1000];
  snprintf(text, sizeof text, source, 100, 40);
  uint64_t runs = runs_of(text, "7920.0\n");
  assert_true(runs == 0 || (runs >= 40 && runs < 400));
  snprintf(text, sizeof text, source, 8, 4000);
  assert_true(runs_of(text, "56000.0\n") < 40);
}

// What the library gives items to is called within machine code, as the loop
// around it stands in Tally.
static void the_library_calls_within(void **state) {
  (void)state;
  uint64_t runs = runs_of(
      "x, t, k = arange(4000), 0, 31\n"
      "for i in 0..20 {\n"
      "  t += fold(x, (a, b) => (a * k + b) % 10007)\n"
      "  t += each(x, v => (v * k + i) % 1009)[7]\n"
      "}\n"
      "print(t)\n",
      "113110\n");
  assert_true(runs < 200);
}

// A value that a unit asks for takes the room of the unit's own code, which
// goes when it has left, whether there is room enough by then or not.
static void running_code_gives_way(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  assert_int_equal(tally_eval(vm, building, NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "print(built(400, 20))", NULL), TALLY_OK);
  size_t code = vm->memory->code_bytes;
  size_t limit = (size_t)vm->stats.live_bytes + code;
  do {
    vm->options.memory_limit = limit += 20000;
  } while (tally_eval(vm, "print(built(2000, 2000))", NULL) != TALLY_OK);
  if (vm->jit != NULL) {
    assert_true(code > 0 && vm->jit->is_off && vm->jit->chunks == NULL);
    assert_int_equal(vm->memory->code_bytes, 0);
  }
  tally_close(vm);
  assert_int_equal(h.blocks, 0);
}

// Every budget ends at the same poll with and without, also in loops that were
// written out.
static void budgets_are_exact(void **state) {
  (void)state;
  for (uint64_t budget = 100; budget < 4000; budget += 433) {
    host plain = {0}, native = {0};
    host *hosts[] = {&plain, &native};
    for (int i = 0; i < 2; i++) {
      tally_vm *vm = open_with(
          hosts[i], i == 0 ? TALLY_NATIVE_OFF : TALLY_NATIVE_ALWAYS, 0, budget);
      static const char text[] =
          "n = 0\nx = zeros((9, 3))\nx[0] = 1\n"
          "fn g(k) {\n  global x\n  y = x\n  x = none\n"
          "  for i in 1..9 {\n"
          "    for a in 0..3 { y[i, a] = y[i - 1, a] * 0.5 + k }\n  }\n"
          "  x = y\n  y\n}\n"
          "fn f(k) = if k == 0 { 0 } else { f(k - 1) }\n"
          "for i in 0..3000 { n += 1; if n % 64 == 0 { print(n, f(n % 50)) }\n"
          "  if n % 7 == 0 { print(g(n)) } }";
      tally_status status = tally_eval(vm, text, NULL);
      assert_int_equal(status, TALLY_ERR_LIMIT);
      host_write(hosts[i], tally_error(vm)->report,
                 strlen(tally_error(vm)->report));
      tally_close(vm);
    }
    assert_string_equal(plain.output, native.output);
  }
}

// The units of functions that are reclaimed go, and their memory is used again.
static void code_goes_with_its_function(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  for (int i = 0; i < 400; i++) {
    char text[200];
    snprintf(
        text, sizeof text,
        "fn f(n) {\n  s = %d\n  for i in 0..n { s += i }\n  s\n}\nr = f(9)", i);
    assert_int_equal(tally_eval(vm, text, NULL), TALLY_OK);
  }
  assert_true(units_of(vm) < 300);
  assert_true(vm->memory->code_bytes <= 4 << 16);
  assert_int_equal(tally_eval(vm, "print(r)", NULL), TALLY_OK);
  assert_string_equal(h.output, "435\n");
  tally_close(vm);
  assert_int_equal(h.blocks, 0);
}

// So do those of functions that units of other code call, which find it out
// before they call another one that has come to the same place.
static void called_values_may_go(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  static const char caller[] =
      "fn each_of(f, n) {\n  s = 0\n  for i in 0..n { s += f(i) }\n  s\n}";
  assert_int_equal(tally_eval(vm, caller, NULL), TALLY_OK);
  for (int i = 0; i < 400; i++) {
    char text[200], expected[40];
    snprintf(text, sizeof text,
             "k = %d\nprint(each_of(if k %% 3 == 0 { fn (x) = x + %d } else {"
             " fn (x) = x * 2 + k }, 5))",
             i, i);
    int expects = i % 3 == 0 ? 10 + 5 * i : 20 + 5 * i;
    snprintf(expected, sizeof expected, "%d\n", expects);
    h.output[0] = 0;
    h.length = 0;
    assert_int_equal(tally_eval(vm, text, NULL), TALLY_OK);
    assert_string_equal(h.output, expected);
  }
  assert_true(units_of(vm) < 300);
  tally_close(vm);
  assert_int_equal(h.blocks, 0);
}

#if defined(__linux__)
// No page of the process can be written and executed.
static void no_page_is_both(void **state) {
  (void)state;
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  assert_int_equal(tally_eval(vm, loop, NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "print(go())", NULL), TALLY_OK);
  FILE *maps = fopen("/proc/self/maps", "r");
  char line[500];
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    assert_null(strstr(line, " rwx"));
  if (maps != NULL)
    fclose(maps);
  tally_close(vm);
}
#endif

static void *run_in_thread(void *out) {
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_ALWAYS, 0, 0);
  for (int i = 0; i < 5; i++) {
    tally_eval(vm, loop, NULL);
    tally_eval(vm, "print(go())", NULL);
  }
  tally_close(vm);
  memcpy(out, h.output, sizeof h.output);
  return NULL;
}

static void each_thread_has_its_own(void **state) {
  (void)state;
  enum { THREADS = 4 };
  static char outputs[THREADS][sizeof((host *)0)->output];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(
        pthread_create(&threads[i], NULL, run_in_thread, outputs[i]), 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_string_equal(outputs[i], outputs[0]);
  }
  assert_non_null(strstr(outputs[0], "(6000.0, 2584)\n"));
}

// --- The check --------------------------------------------------------------

// A unit of one loop, as the pass makes it, for arguments with those tags. All
// items that it reads are integers.
static void type_loop(tally_vm *vm, const char *source, const uint64_t *tags,
                      tl_jit_code *code, tl_jit_unit *unit) {
  assert_int_equal(tally_eval(vm, source, NULL), TALLY_OK);
  tl_unit *u = vm->main->units;
  tl_prototype *p = u->prototypes[1];
  tl_jit_flow *flow = tl_jit_read_flow(vm, p);
  assert_non_null(flow);
  for (uint32_t pc = 0; pc < p->code_count; pc++)
    flow->seen[2 * pc] = TL_TAG_I64;
  *unit = (tl_jit_unit){.function = p, .live = flow->live[0]};
  memcpy(unit->tags, tags, p->param_count * sizeof *tags);
  assert_true(tl_jit_code_open(code, vm, unit, flow));
  assert_true(tl_jit_type_unit(code, NULL));
}

static void unplace(tl_jit_code *code) {
  for (uint32_t i = 0; i < code->label_count; i++)
    code->labels[i].is_placed = false;
}

// Whatever is wrong with one operation is found.
static void damage_each(tl_jit_code *code) {
  uint32_t at;
  assert_null(tl_jit_check(code, &at));
  for (uint32_t i = 0; i < code->op_count; i++) {
    tl_typed before = code->ops[i];
    const tl_typed_info *info = &tl_typed_ops[before.op];
    bool written = info->kinds[0] >= TL_OPERAND_ID;
    bool floats = written && tl_jit_is_float(before.type);
    bool refers = info->kinds[1] == TL_OPERAND_R;
    for (int what = 0; what < 10; what++) {
      tl_typed *t = &code->ops[i];
      if (what == 0 && (refers || info->kinds[1] == TL_OPERAND_I))
        t->b = 60;  // a slot that nothing is in
      else if (what == 1 && written && !floats)
        t->a = TL_JIT_FLOAT;
      else if (what == 2 && t->exit >= 0)
        t->exit = 1000;
      else if (what == 3 && (t->op == TL_TYPED_JUMP || t->op == TL_TYPED_MORE))
        t->to = 1000;  // no label is there
      else if (what == 4 && refers && t->op == TL_TYPED_LEND)
        t->type = TL_TYPE_REFERENCE + TL_JIT_TAGS - 1;  // it has no such tag
      else if (what == 5 && refers && t->op == TL_TYPED_POKE)
        t->type = TL_TYPE_BOOL;  // the value is an integer
      else if (what == 6 && refers && t->op == TL_TYPED_ITEM)
        t->dtype = TL_KIND_STRING;  // it is a list
      else if (what == 7 && t->b >= 0 && info->kinds[1] <= TL_OPERAND_S)
        t->from[1] = tl_jit_of_dtype(TL_COMPLEX64);  // what nothing here is
      else if (what == 8 && floats && t->op < TL_TYPED_RETURN)
        t->dtype = TL_INT8;  // no width of floats
      else if (what == 9 && t->op == TL_TYPED_GET)
        t->other = TL_TYPE_INT;  // it goes nowhere else
      else
        continue;
      unplace(code);
      assert_non_null(tl_jit_check(code, &at));
      *t = before;
    }
  }
}

static void close_loop(tl_jit_code *code) {
  tl_spare_free(code->vm, (void *)(uintptr_t)code->flow, code->flow->nbytes);
  tl_jit_code_close(code);
}

static void the_check_finds_what_is_wrong(void **state) {
  (void)state;
  static const uint64_t tags[] = {TL_TAG_I64};
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
  tl_jit_code code;
  tl_jit_unit unit;
  uint32_t at;
  type_loop(vm, "fn g(n) {\n  s = 0\n  for i in 0..n { s += i }\n  s\n}", tags,
            &code, &unit);
  damage_each(&code);
  // An exit that forgets a slot.
  for (uint32_t i = 0; i < code.exit_count; i++)
    code.exits[i].slots &= code.exits[i].slots - 1;
  unplace(&code);
  assert_non_null(tl_jit_check(&code, &at));
  close_loop(&code);
  tally_close(vm);
}

// The number of operations of a kind.
static uint32_t count_of(const tl_jit_code *code, tl_typed_op op) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < code->op_count; i++) count += code->ops[i].op == op;
  return count;
}

static void the_check_knows_owners(void **state) {
  (void)state;
  static const uint64_t tags[] = {TL_TAG_RECORD | TL_OWNED, TL_TAG_LIST};
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
  tl_jit_code code;
  tl_jit_unit unit;
  uint32_t at;
  type_loop(vm,
            "fn g(r, l) {\n  for i in 0..9 {\n    r.n += l[i]\n    t = r\n"
            "    r = t\n  }\n  for x in l { r.n = x }\n  r\n}",
            tags, &code, &unit);
  assert_true(count_of(&code, TL_TYPED_PEEK) > 0);
  assert_true(count_of(&code, TL_TYPED_POKE) > 0);
  assert_true(count_of(&code, TL_TYPED_ITEM) > 0);
  damage_each(&code);
  // What is stored into has to be owned by its slot.
  unit.tags[0] &= ~TL_OWNED;
  unplace(&code);
  assert_non_null(tl_jit_check(&code, &at));
  unit.tags[0] |= TL_OWNED;
  // A slot whose tag nobody compares at the entry is no reference.
  unit.pinned = 0;
  unplace(&code);
  assert_non_null(tl_jit_check(&code, &at));
  close_loop(&code);
  // A variable's list has one type alone.
  type_loop(vm,
            "l = (1, 2)\nfn h(n) {\n  s = 0\n"
            "  for i in 0..n { s += l[0] }\n  s\n}",
            (const uint64_t[]){TL_TAG_I64}, &code, &unit);
  assert_true(count_of(&code, TL_TYPED_GET) > 0);
  damage_each(&code);
  close_loop(&code);
  tally_close(vm);
}

// An array that is owned ends with the last read of an item, or at the end of
// the function, and nobody reads what was not kept in its slot across that.
static void the_check_knows_ends(void **state) {
  (void)state;
  static const char *const sources[] = {
      "fn g(n, a) {\n  s = 0.0\n  for i in 0..n { s += a[i] }\n  s + a[0]\n}",
      "fn g(n, a) {\n  s = 0.0\n  for i in 0..n { s += a[i] }\n  s\n}"};
  uint64_t tags[] = {TL_TAG_I64, TL_CLASS_ARRAY | TL_FLOAT64 << 8 |
                                     UINT64_C(1) << 24 | TL_DENSE | TL_DIRECT |
                                     TL_OWNED};
  for (int s = 0; s < 2; s++) {
    host h = {0};
    tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
    tl_jit_code code;
    tl_jit_unit unit;
    uint32_t at;
    type_loop(vm, sources[s], tags, &code, &unit);
    assert_true(count_of(&code, TL_TYPED_END) > 0);
    assert_int_equal(count_of(&code, TL_TYPED_DO), 0);
    damage_each(&code);
    // It has to be owned, and what lives behind it to be kept.
    unit.tags[1] &= ~TL_OWNED;
    unplace(&code);
    assert_non_null(tl_jit_check(&code, &at));
    unit.tags[1] |= TL_OWNED;
    for (uint32_t i = 0; i < code.op_count; i++)
      if (code.ops[i].op == TL_TYPED_END)
        code.exits[code.ops[i].exit].slots = 0;
    unplace(&code);
    assert_non_null(tl_jit_check(&code, &at));
    close_loop(&code);
    tally_close(vm);
  }
}

// The loops of functions g(n, a) of one dtype and another.
static void the_check_knows_dtypes(void **state) {
  (void)state;
  static const struct {
    const char *source;
    uint64_t tags[2];
  } loops[] = {
      {"fn g(n, a) {\n  s = a\n"
       "  for i in 0..n { s = minimum(s * a, int8(i & 7)) // 3 << 1 }\n  s\n}",
       {TL_TAG_I64, TL_TAG(TL_CLASS_SMALL, TL_INT8)}},
      {"fn g(n, a) {\n  s = a\n"
       "  for i in 0..n { s = maximum(exp(s), a ** 0.3) - float32(i) }\n"
       "  int(float(s)) > 2.5\n}",
       {TL_TAG_I64, TL_TAG(TL_CLASS_SMALL, TL_FLOAT32)}}};
  for (int i = 0; i < 2; i++) {
    host h = {0};
    tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
    tl_jit_code code;
    tl_jit_unit unit;
    type_loop(vm, loops[i].source, loops[i].tags, &code, &unit);
    assert_true(count_of(&code, TL_TYPED_EXIT) > 0);
    damage_each(&code);
    close_loop(&code);
    tally_close(vm);
  }
}

// A loop behind guards in which a short one was written out: nothing is read or
// written without what proves that it is inside.
static void the_check_knows_guards(void **state) {
  (void)state;
  static const uint64_t tags[] = {TL_TAG_I64, TL_CLASS_ARRAY | TL_FLOAT64 << 8 |
                                                  UINT64_C(2) << 24 | TL_DENSE |
                                                  TL_DIRECT | TL_OWNED};
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
  tl_jit_code code;
  tl_jit_unit unit;
  uint32_t at;
  type_loop(vm,
            "fn g(n, a) {\n  for i in 1..n {\n"
            "    for k in 0..3 { a[i, k] = a[i - 1, k] * 0.5 }\n  }\n  a\n}",
            tags, &code, &unit);
  assert_int_equal(count_of(&code, TL_TYPED_WRITE), 3);
  assert_int_equal(count_of(&code, TL_TYPED_ROW), 2);
  assert_int_equal(count_of(&code, TL_TYPED_CHUNK), 1);
  damage_each(&code);
  for (uint32_t i = 0; i < code.op_count; i++)
    for (int what = 0; what < 4; what++) {
      tl_typed *t = &code.ops[i], before = *t;
      bool guards = t->op == TL_TYPED_GUARD;
      bool items = t->op == TL_TYPED_READ || t->op == TL_TYPED_WRITE;
      if (what == 0 && guards)
        t->c++;  // another length
      else if (what == 1 && guards && tl_jit_high(t) > tl_jit_low(t))
        t->imm--;  // less than what is added
      else if (what == 0 && t->op == TL_TYPED_ROW)
        t->imm += 2;
      else if (what == 1 && t->op == TL_TYPED_ROW)
        t->d = 0;  // no register of a row
      else if (what == 0 && items)
        t->imm += 3;
      else if (what == 1 && items)
        t->e = TL_JIT_FACTS;  // the first item instead of its row
      else if (what == 2 && items)
        t->b = 0;  // a slot that no guard is of
      else if (what == 0 && t->op == TL_TYPED_CHUNK)
        t->imm = 0;
      else if (what == 3 && t->op == TL_TYPED_POLL && i + 1 < code.op_count &&
               t[1].op == TL_TYPED_STEP && t[1].d < 0) {
        // The loop changes what the guards have tested.
        *t = (tl_typed){.op = TL_TYPED_CONST,
                        .type = t[1].type,
                        .a = t[1].a,
                        .b = TL_JIT_NONE,
                        .c = TL_JIT_NONE,
                        .to = -1,
                        .exit = -1};
        unplace(&code);
        bool fast = false;
        for (uint32_t k = 0; k < i; k++)
          if (code.ops[k].op == TL_TYPED_LABEL)
            fast = code.labels[code.ops[k].to].loop >= 0;
        assert_int_equal(tl_jit_check(&code, &at) != NULL, fast);
        *t = before;
        continue;
      } else
        continue;
      unplace(&code);
      assert_non_null(tl_jit_check(&code, &at));
      *t = before;
    }
  // There has to be room for the rows.
  code.row_count = 1;
  unplace(&code);
  assert_non_null(tl_jit_check(&code, &at));
  close_loop(&code);
  tally_close(vm);
}

// A loop has one form, which the check takes, where no index can be tested
// before it, and where an operation of C is in a short loop of it.
static void some_loops_have_one_form(void **state) {
  (void)state;
  static const uint64_t tags[] = {TL_TAG_I64, TL_CLASS_ARRAY | TL_FLOAT64 << 8 |
                                                  UINT64_C(1) << 24 | TL_DENSE |
                                                  TL_DIRECT | TL_OWNED};
  static const char *const sources[] = {
      "fn g(n, a) {\n  for i in 0..n { a[i % 8] = i }\n  a\n}",
      "fn g(n, a) {\n  for i in 0..n {\n"
      "    for k in 0..3 { a[i] = sin(a[i] + k) }\n  }\n  a\n}"};
  for (int s = 0; s < 2; s++) {
    host h = {0};
    tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
    tl_jit_code code;
    tl_jit_unit unit;
    type_loop(vm, sources[s], tags, &code, &unit);
    assert_true(count_of(&code, TL_TYPED_STORE) > 0);
    assert_int_equal(count_of(&code, TL_TYPED_COMPUTE) > 0, s == 1);
    for (uint32_t i = 0; i < code.label_count; i++)
      assert_int_equal(code.labels[i].loop, -1);
    damage_each(&code);
    close_loop(&code);
    tally_close(vm);
  }
}

// A loop whose polls are taken at once is left nowhere but at its end.
static void the_check_knows_chunks(void **state) {
  (void)state;
  static const uint64_t tags[] = {TL_TAG_I64, TL_TAG_I64};
  host h = {0};
  tally_vm *vm = open_with(&h, TALLY_NATIVE_OFF, 0, 0);
  tl_jit_code code;
  tl_jit_unit unit;
  uint32_t at;
  type_loop(vm, "fn g(n, s) {\n  for i in 0..n { s += i * i }\n  s\n}", tags,
            &code, &unit);
  assert_true(count_of(&code, TL_TYPED_CHUNK) > 0);
  damage_each(&code);
  int32_t loop = -1;
  for (uint32_t i = 0; i < code.op_count; i++) {
    tl_typed *t = &code.ops[i], before = *t;
    if (t->op == TL_TYPED_LABEL)
      loop = code.labels[t->to].loop;
    for (int what = 0; what < 3; what++) {
      if (what == 0 && (t->op == TL_TYPED_CHUNK || t->op == TL_TYPED_REST))
        t->d++;  // another register than the other's
      else if (what == 1 && t->op == TL_TYPED_REST)
        t->op = TL_TYPED_MOVE;
      else if (what == 2 && t->op == TL_TYPED_MUL && loop >= 0)
        t->b = code.ops[i + 2].b;  // what is left is not known in it
      else
        continue;
      unplace(&code);
      assert_non_null(tl_jit_check(&code, &at));
      *t = before;
    }
  }
  close_loop(&code);
  tally_close(vm);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_runs_long_is_compiled),
    cmocka_unit_test(off_is_off),
    cmocka_unit_test(refused_memory_is_no_error),
    cmocka_unit_test(pieces_give_way_to_values),
    cmocka_unit_test(oldest_pieces_make_room),
    cmocka_unit_test(what_c_does_stays_within),
    cmocka_unit_test(values_are_called_within),
    cmocka_unit_test(versions_are_no_detours),
    cmocka_unit_test(recursion_makes_room),
    cmocka_unit_test(loops_over_new_arrays_have_doors),
    cmocka_unit_test(the_library_calls_within),
    cmocka_unit_test(running_code_gives_way),
    cmocka_unit_test(budgets_are_exact),
    cmocka_unit_test(code_goes_with_its_function),
    cmocka_unit_test(called_values_may_go),
#if defined(__linux__)
    cmocka_unit_test(no_page_is_both),
#endif
    cmocka_unit_test(each_thread_has_its_own),
    cmocka_unit_test(the_check_finds_what_is_wrong),
    cmocka_unit_test(the_check_knows_owners),
    cmocka_unit_test(the_check_knows_ends),
    cmocka_unit_test(the_check_knows_dtypes),
    cmocka_unit_test(the_check_knows_guards),
    cmocka_unit_test(some_loops_have_one_form),
    cmocka_unit_test(the_check_knows_chunks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
