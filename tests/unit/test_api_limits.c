// tally.h: what a host forbids: memory, time, instructions, doors; and the
// interrupt. Whatever stops a script, the VM goes on.

#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/host.h"
#include "vm/vm.h"

static void open_limited(host *h, size_t memory, uint64_t instructions) {
  tally_options options = host_options(h);
  options.memory_limit = memory;
  options.instruction_limit = instructions;
  host_open(h, &options);
}

// --- Interrupt --------------------------------------------------------------

// A VM whose polls are counted, and of which one may interrupt.
static void open_polled(host *h) {
  host_close(h);
  tally_options options = host_options(h);
  options.clock = host_clock;
  options.time_limit = HOST_LONG;
  host_open(h, &options);
}

// [source] runs for ever, and is stopped at the poll after the one during which
// the interrupt comes.
static void check_interrupted(host *h, const char *source) {
  static const uint64_t times[] = {3, 20};
  for (int i = 0; i < refused_times(2, 1); i++) {
    h->polls = 0;
    h->interrupt_at = times[i];
    CHECK_ERROR(h, tally_eval(h->vm, source, NULL), TALLY_ERR_INTERRUPT,
                "interrupted");
    h->interrupt_at = 0;
    assert_true(h->polls >= times[i] && h->polls <= times[i] + 1);
    check_value(h, "1 + 1", "2");
  }
}

static void test_an_interrupt_stops_at_the_next_poll(void **state) {
  host *h = *state;
  open_polled(h);
  static const char *const sources[] = {
      "while true { }",
      "fn f(n) = if n == 0 { 0 } else { f(n - 1) }\nwhile true { f(100) }",
      "while true { try { [1][2] } catch { } }",
      "try { while true { } } catch { }",
      "x = zeros(100000)\nwhile true { x = sqrt(x + 1) }",
      "for i in 0..9223372036854775807 { y = i }",
      "fn g(a, b) {\n  while true { }\n}\nfold([1, 2], g)",
      "y = fold(0..9000000000000000000, (a, b) => b)",
      "s = 1\nwhile true { t = \"{s}\" + \"a\" }",
      "m = ones((100, 100))\nwhile true { p = m @ m }",
      "x = arange(9000) * 7919 % 10007\nwhile true { y = sort(x) }",
      "x = arange(9000) * 7919 % 10007\nwhile true { y = argsort(x) }",
      "x = zeros(100000)\nwhile true { y = flip(x) }",
      // A text of 2^100 parts.
      "l = 1\nfor i in 0..100 { l = (l, l) }\ny = string(l)",
      "import json\nl = 1\nfor i in 0..99 { l = (l, l) }\ny = json.format(l)",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    check_interrupted(h, sources[i]);
}

// --- Progress ---------------------------------------------------------------

// What a run was at: asked at each poll, and told at the next.
static struct {
  host *h;
  int count, known, line;  // answers, those with a part, and the last line
  double first, last;      // parts
  bool falls;              // a part was less than the one before
  char text[64];
} told;

static double ask_and_count(void *context) {
  tally_ask_progress(told.h->vm);
  return host_clock(context);
}

static void hear(void *context, const tally_progress *at) {
  assert_ptr_equal(context, told.h);
  told.count++;
  told.line = at->line;
  snprintf(told.text, sizeof told.text, "%.*s", (int)at->nbytes, at->text);
  if (at->part < 0)
    return;
  assert_true(at->part <= 1);
  told.falls = told.falls || (told.known > 0 && at->part < told.last);
  if (told.known++ == 0)
    told.first = at->part;
  told.last = at->part;
}

// Runs the source and gathers what is heard.
static void follow(host *h, const char *source) {
  memset(&told, 0, sizeof told);
  told.h = h;
  run_ok(h, source);
  assert_true(told.count > 2);
}

// The parts rise from near 0 to near 1, of a loop on that line.
static void check_follows(host *h, int line, const char *text,
                          const char *source) {
  follow(h, source);
  assert_true(told.known > 2 && !told.falls);
  assert_true(told.first < 0.3 && told.last > 0.7);
  assert_int_equal(told.line, line);
  assert_string_equal(told.text, text);
}

static void test_a_run_says_what_it_is_at(void **state) {
  host *h = *state;
  host_close(h);
  tally_options options = host_options(h);
  options.clock = ask_and_count;
  options.time_limit = HOST_LONG;
  options.progress = hear;
  told.h = h;
  host_open(h, &options);
  check_follows(h, 1, "for i in 0..9000 { }", "for i in 0..9000 { }");
  check_follows(h, 2, "for i in 100..-9000 by -1 {",
                "s = 0\n  for i in 100..-9000 by -1 { \n s += i\n}");
  // A turn of the outer loop has parts, of loops in other functions too.
  check_follows(h, 5, "for k in 0..2 {",
                "fn f(xs) {\n s = 0\n for x in xs { for j in 0..90 { s += x } }"
                "\n s }\nfor k in 0..2 {\n f(0..100) \n }");
  // A break's own path is not within the loop, whose list may be gone there.
  follow(h,
         "n = 0\nfor x in [[1], [2]] { if x[0] == 1 { \n"
         "while n < 9000 { n += 1 }\nbreak } }");
  assert_int_equal(told.known, 0);
  // How often a function is called from C nobody knows.
  follow(h,
         "t = fold(0..9, (a, x) => { s = 0\n for i in 0..3000 { s += i }\n s },"
         " 0..9)");
  assert_int_equal(told.known, 0);
  assert_int_equal(told.line, 1);
  follow(h, "i = 0\nwhile i < 9000 { i += 1 }");
  assert_int_equal(told.known, 0);
  follow(h, "x = sum(sin(arange(3000000.0)) + cos(arange(3000000.0)))");
  assert_true(told.known > 0 && told.last > 0.7);
  // Nobody is asked where nobody hears it.
  host_close(h);
  options.progress = NULL;
  host_open(h, &options);
  run_ok(h, "for i in 0..9000 { }");
}

// Between two polls are at most so many items.
static void check_polls(host *h, const char *source, int n) {
  h->polls = 0;
  run_ok(h, source);
  if ((uint64_t)n / h->polls > 1 << 17)
    fail_msg("%s: %d items, %d polls", source, n, (int)h->polls);
}

// One long operation after the other.
static void test_long_operations_poll(void **state) {
  host *h = *state;
  open_polled(h);
  // The auditor looks at each item of a list at each step.
  const int n = refused_is_slow() ? 4000 : refused_times(4000000, 200000);
  static const char *const sources[] = {
      "y = sort(x)",
      "y = argsort(x)",
      "y = unique(x)",
      "y = x + 0",
      "y = sqrt(x) * 2 + x",
      "y = x[::-1] + 0",
      "y = scan(x, (+))",
      "y = sum(x)",
      "y = x[x > 3]",
      "y = float32(x)",
      "y = arange(n)",
      "y = zeros(n)",

      "y = x[k]",
      "y = sort(-x)",
      "y = bincount(k)",
      "y = each(x, v => v)",
      "y = [v for v in x]",

      "y = searchsorted(sort(x), x)",
      "y = interp(x, [1.0, 9.0], [2.0, 3.0])",
  };
  char source[200];
  snprintf(source, sizeof source,
           "n = %d\nk = arange(n) * 7919 %% 997\nx = k / 7", n);
  run_ok(h, source);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    check_polls(h, sources[i], n);
}

// What makes as many objects as there are items is refused too often to be
// tried at each allocation.
static void test_long_lists_and_texts_poll(void **state) {
  host *h = *state;
  open_polled(h);
  const int n = refused_is_slow() ? 4000 : 4000000;
  static const char *const sources[] = {
      "y = string(k)",
      "y = string(reshape(k, (2, n // 2)))",
      "y = len(strings.repeat(\"é\", n) + \"\\u{301}\")",
      "y = enumerate(k)",
      "y = zip(k, k)",
      "y = split(strings.repeat(\"a,\", n // 2), \",\")",
      "y = replace(strings.repeat(\"ab\", n // 2), \"b\", \"bb\")",
      "y = same(k, k + 0)",
      "l = ((v,) for v in k)",
      "y = memory.held(l)",
      "y = memory.held(r)",
      "y = memory.graph(r)",
      "y = strings.normalize(marks, \"NFC\")",
      "y = memory.by_type()",
      "y = memory.backrefs(l)",
      "y = 0..n == k",
  };
  char source[200];
  snprintf(
      source, sizeof source,
      "import memory\nimport strings\nn = %d\nk = arange(n) * 7919 %% 997\n"
      "one = (1, 2)\nr = (one for v in k)\n"
      "marks = \"a\" + strings.repeat(\"\\u{301}\", n)",
      n);
  run_ok(h, source);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
    check_polls(h, sources[i], n);
}

// A statement that is stopped leaves its variable as it was: it is finished if
// that is soon done, else sorts a copy.
static void test_a_stopped_sort_leaves_its_variable(void **state) {
  host *h = *state;
  open_polled(h);
  const char *const sizes[] = {"(9000,)", "(30, 300)",
                               refused_is_slow()              ? "(5, 5)"
                               : refused_times(400000, 0) > 0 ? "(400000,)"
                                                              : "(140000,)"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char source[200];
    snprintf(
        source, sizeof source,
        "s = %s\nold = reshape(arange(prod(asarray(s))) * 7919 %% 997 / 7, s)\n"
        "fn keep() = x\nx = old + 0",
        sizes[i]);
    run_ok(h, source);
    for (uint64_t at = 1; at < 30; at += 3) {
      run_ok(h, "x = old + 0");
      h->polls = 0;
      h->interrupt_at = at;
      tally_status status = tally_eval(h->vm, "x = sort(x)", NULL);
      h->interrupt_at = 0;
      // What came up while it was finished stops the next.
      tally_eval(h->vm, "y = sort(old)", NULL);
      if (status == TALLY_OK)
        check_value(h, "all(x == sort(old))", "true");
      else
        check_value(h, "all(x == old)", "true");
    }
  }
}

// An operation in the memory of an operand that ends is stopped, too: the
// operand ends once, so that as many bytes live as before.
static void test_a_stopped_pass_over_an_operand(void **state) {
  host *h = *state;
  open_polled(h);
  run_ok(h,
         "k = arange(400000)\n"
         "fn made(v) = if v.dtype == float64 { v } else { v + 0.5 }");
  static const char *const sources[] = {
      "y = 1.01 ** made(k)", "y = made(k) + 1", "y = atan2(made(k), 2.0)",
      "y = exp(made(k)) * made(k)"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    run_ok(h, "y = 0");
    tally_stats before, after;
    tally_get_stats(h->vm, &before);
    int stopped = 0;
    for (uint64_t at = 1; at < 60; at++) {
      h->polls = 0;
      h->interrupt_at = at;
      stopped += tally_eval(h->vm, sources[i], NULL) == TALLY_ERR_INTERRUPT;
      h->interrupt_at = 0;
      run_ok(h, "y = 0");
      tally_get_stats(h->vm, &after);
      assert_true(after.live_bytes < before.live_bytes + 100000);
    }
    assert_true(stopped > 0);
  }
}

// --- Within a call of a function --------------------------------------------

// Gives a new array or text, and comes too late with it.
typedef struct late {
  host *h;
  int calls, stop_at;  // the call that stops, from 1
  // What it meets: an interrupt, an error, or an error because of an interrupt.
  enum { INTERRUPTED, FAILED, BOTH } meets;
} late;

static tally_status be_late(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  late *l = context;
  (void)args;
  const char *source = count == 0 ? "\"a text of some length\"" : "[2, 1] + 0";
  tally_status status = tally_eval(vm, source, out);
  if (status != TALLY_OK || ++l->calls != l->stop_at)
    return status;
  if (l->meets != FAILED)
    tally_interrupt(vm);
  if (l->meets == INTERRUPTED)
    return TALLY_OK;
  tally_release(vm, *out);
  *out = (tally_value){0, 0};
  return tally_raise(vm, TALLY_ERR_VALUE, "too late");
}

// Everything that calls a function that it is given.
static const char *const callers[] = {
    "fold(x, late2)",
    "fold((\"a\", \"b\", \"c\"), late2)",
    "fold(x, late2, \"a start of some length\")",
    "scan(x, late2)",
    "scan((x, x, x), late2, x)",
    "outer(x, x, late2)",
    "each(x, late1)",
    "each((x, \"a text of some length\", x), late1)",
    "each(x, late2, x)",
    "filter(x, late1)",
    "map_axis(m, late1)",
    "map_axis(m, late1, axis: 1)",
    "map_axis(r, late1, axis: -1)",
    "compose(late1, late1)(x)",
    "compose(late1, late2)(x, x)",
    "sort((x, x + 1, x + 2), key: late1)",
    "sort([\"b\", none, \"a\"], key: late1)",
    "sort([3, 1, 2], key: late1)",
    "update((a: x, b: 2), \"a\", late1)",
    "update((x, x), 0, late2, x)",
    "leaf_map((x, (a: x, b: \"t\")), late1)",
    "update_at((x, (a: x, b: x)), (1, \"a\"), late2, x)",
    "strings.substitute(\"abc\", \"[a-z]\", late1)",
    "memory.measure(late0)",
    "memory.timeline(late0)",
    "memory.chain(x, test: late1)",
    "[late1(v) for v in x]",
    "late1(late1(late1(x)))",
    // The same by a built-in, and by a script's function.
    "each(m, v => late1(v))",
    "fold(x, (a, b) => late2(a, b))",
};

static void open_late(host *h, late *l, const tally_options *options) {
  const tally_native rows[] = {
      {.name = "late0", .call = be_late, .context = l},
      {.name = "late1", .params = "x", .call = be_late, .context = l},
      {.name = "late2", .params = "x, y", .call = be_late, .context = l},
  };
  const tally_module module = {sizeof module, NULL, NULL,
                               rows,          3,    sizeof *rows};
  host_close(h);
  host_open(h, options);
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  static const char *const lines[] = {
      "import memory", "import strings", "x = [3, 1, 2]",
      "m = reshape(arange(6), (2, 3))", "r = [[1, 2], [3], [5, 4]]"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) run_ok(h, lines[i]);
}

// A result that nobody waits for any more has one owner: the auditor and the
// sanitizer see a second drop, and closing the VM sees one that is missing.
static void test_a_late_result_has_one_owner(void **state) {
  host *h = *state;
  late l = {.h = h};
  tally_options options = host_options(h);
  open_late(h, &l, &options);
  for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
    for (int at = 1; at <= refused_times(4, 2); at++) {
      for (int meets = INTERRUPTED; meets <= BOTH; meets++) {
        l = (late){h, 0, at, meets};
        tally_status status = tally_eval(h->vm, callers[i], NULL);
        if (l.calls < at)
          continue;
        tally_status expected =
            meets == FAILED ? TALLY_ERR_VALUE : TALLY_ERR_INTERRUPT;
        if (status != expected)
          fail_msg("%s: %s", callers[i], tally_error(h->vm)->report);
        check_value(h, "x", "[3, 1, 2]");
      }
    }
    if (l.calls == 0)
      fail_msg("%s calls nothing: %s", callers[i], tally_error(h->vm)->report);
  }
}

// The same where the time or the instructions end at any place.
static void test_a_limit_within_a_call_leaves_one_owner(void **state) {
  host *h = *state;
  late l = {.h = h};
  tally_options options = host_options(h);
  for (int limit = 1; limit < refused_times(12, 2); limit++) {
    for (int timed = 0; timed < 2; timed++) {
      options.instruction_limit = timed ? 0 : (uint64_t)(20 + 3 * limit);
      options.clock = timed ? host_clock : NULL;
      options.time_limit = timed ? 1e-3 * limit : 0;
      open_late(h, &l, &options);
      for (size_t i = 0; i < sizeof callers / sizeof *callers; i++)
        tally_eval(h->vm, callers[i], NULL);
    }
  }
}

typedef struct ringing {
  tally_vm *vm;
  atomic_int has_ended;
} ringing;

// Until the run has ended, as it may not have begun.
static void *ring(void *context) {
  ringing *r = context;
  while (atomic_load(&r->has_ended) == 0) tally_interrupt(r->vm);
  return NULL;
}

static void test_interrupt_from_another_thread(void **state) {
  host *h = *state;
  for (int i = 0; i < refused_times(20, 1); i++) {
    pthread_t thread;
    ringing r = {.vm = h->vm};
    assert_int_equal(pthread_create(&thread, NULL, ring, &r), 0);
    // A refusal ends the test when the thread is done with the VM.
    tally_status status = (tally_eval)(h->vm, "while true { }", NULL);
    atomic_store(&r.has_ended, 1);
    pthread_join(thread, NULL);
    status = refused_after((refused_before(false), status), h->vm);
    assert_int_equal(status, TALLY_ERR_INTERRUPT);
  }
}

static void test_a_statement_that_is_stopped_changes_nothing(void **state) {
  host *h = *state;
  open_polled(h);
  run_ok(h, "done = 0\nr = (a: [1, 2])");
  check_interrupted(h, "r.a[0] = {\n  while true { }\n  5\n}\ndone = 1");
  check_value(h, "(done, r)", "(0, (a: [1, 2]))");
}

// A pass over an operand's own memory is stopped at its next poll where that
// operand ends with the run, and goes on where it would be put back.
static void test_a_pass_over_an_operand_stops_unseen(void **state) {
  host *h = *state;
  open_polled(h);
  run_ok(h,
         "x = full(700000, 2.5)\n"
         "fn f(a) {\n  for _ in 0..3 { a = floor(a) + a }\n  a\n}");
  // Each pass takes 11 polls, and those of f come after that of x + 1.
  static const uint64_t times[] = {3, 15, 25};
  static const char *const sources[] = {"y = f(x + 1)", "x[:] += f(x + 1) * 2"};
  for (int i = 0; i < 6; i++) {
    h->polls = 0;
    h->interrupt_at = times[i % 3];
    CHECK_ERROR(h, tally_eval(h->vm, sources[i / 3], NULL), TALLY_ERR_INTERRUPT,
                "interrupted");
    assert_true(i >= 3 || h->polls <= times[i % 3] + 1);
    h->interrupt_at = 0;
    check_value(h, "all(x == 2.5)", "true");
  }
}

// Large blocks that die while somebody waits are given back by the next call.
static void test_large_blocks_of_a_stopped_run(void **state) {
  host *h = *state;
  if (refused_is_slow())  // blocks are the allocator's
    return;
  host_close(h);
  tally_options options = host_options(h);
  options.clock = host_clock;
  options.time_limit = HOST_LONG;
  options.memory_limit = (size_t)128 << 20;  // of which 16 MiB may be cached
  host_open(h, &options);
  run_ok(h, "import random\nn = 3_000_000");
  const size_t before = h->nbytes;
  h->polls = 0;
  h->interrupt_at = 20;
  CHECK_ERROR(h, tally_eval(h->vm, "x = random.uniform(n)", NULL),
              TALLY_ERR_INTERRUPT, "interrupted");
  h->interrupt_at = 0;
  assert_true(h->nbytes > before + (20 << 20));
  run_ok(h, "none");
  assert_true(h->nbytes < before + (20 << 20));
}

static void test_interrupt_of_none(void **state) {
  host *h = *state;
  tally_interrupt(NULL);
  // One that comes when nothing runs stops nothing later.
  tally_interrupt(h->vm);
  check_value(h, "sum([i for i in 0..10000])", "49995000");
}

// What an interrupted run leaves to be freed is freed when the next begins, or
// when somebody asks what lives.
static void test_a_large_nest_is_freed_in_parts(void **state) {
  host *h = *state;
  open_polled(h);
  tally_stats before = {0}, after;
  run_ok(h,
         "fn f0() { t = [v for v in ((i, i) for i in 0..9000000000)] }\n"
         "fn f1() { t = ((i, (i, i)) for i in 0..9000000000) }\n"
         "fn f2() {\n  t = 1\n  while true { t = (t, 2) }\n}\n"
         "fn f3() {\n  t = (:)\n  for i in 0..9000000000 { t[i] = (i, i) }\n}");
  for (int i = 0; i < 4; i++) {
    char source[16];
    snprintf(source, sizeof source, "f%d()", i);
    h->polls = 0;
    h->interrupt_at = refused_is_slow() ? 20 : 400;
    CHECK_ERROR(h, tally_eval(h->vm, source, NULL), TALLY_ERR_INTERRUPT,
                "interrupted");
    assert_true(refused_is_slow() || h->vm->unfreed_count > 0);
    h->interrupt_at = 0;
    check_value(h, "1 + 1", "2");
    assert_int_equal(h->vm->unfreed_count, 0);
    tally_get_stats(h->vm, &after);
    if (i > 0)
      assert_int_equal(after.live, before.live);
    before = after;  // the first error leaves what reports it
  }
}

// --- Memory -----------------------------------------------------------------

static void test_memory_is_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  open_limited(&h, 8u << 20, 0);
  CHECK_ERROR(&h, tally_eval(h.vm, "zeros(2000000)", NULL), TALLY_ERR_MEMORY,
              "limit");
  CHECK_ERROR(&h, tally_eval(h.vm, "zeros((100000, 100000, 100000))", NULL),
              TALLY_ERR_MEMORY, "");
  run_ok(&h, "l = ()\nk = none");
  CHECK_ERROR(
      &h, tally_eval(h.vm, "while true { l = append(l, zeros(1000)) }", NULL),
      TALLY_ERR_MEMORY, "");
  // Too little is left to compile a text; the host helps.
  tally_value none;
  assert_int_equal(tally_from_none(h.vm, &none), TALLY_OK);
  assert_int_equal(tally_move_global(h.vm, "l", none), TALLY_OK);
  run_ok(&h, "try { zeros(2000000) } catch e { k = e.kind }");
  check_value(&h, "k", "memory");
  CHECK_ERROR(
      &h, tally_eval(h.vm, "s = \"abcdefgh\"\nwhile true { s = s + s }", NULL),
      TALLY_ERR_MEMORY, "");
  run_ok(&h, "s = none");
  check_value(&h, "sum(zeros(500000))", "0.0");
  tally_stats stats;
  tally_get_stats(h.vm, &stats);
  assert_true(stats.peak_bytes <= 8u << 20);
  tally_trim(h.vm);
  assert_true(h.nbytes <= (8u << 20) + (1u << 16));
  host_close(&h);
}

static void test_too_little_to_open(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.memory_limit = 1000;
  assert_int_equal(tally_open(&options, &h.vm), TALLY_ERR_MEMORY);
  assert_null(h.vm);
  assert_int_equal(h.blocks, 0);
}

// --- Instructions and time --------------------------------------------------

// Its text is compiled when it is first named: where memory lacks for that, the
// next call tries again.
static void test_a_function_in_tally_outlives_a_refusal(void **state) {
  (void)state;
  host h = {.vm = NULL};
  open_limited(&h, 0, 0);
  run_ok(&h, "x = [1.0, nan, 2.0]");
  tally_status status = TALLY_ERR_MEMORY;
  for (uint64_t at = 1; status != TALLY_OK; at++) {
    h.fail_at = h.requests + at;
    status = (tally_eval)(h.vm, "s = nansum(x)", NULL);
    assert_true(status == TALLY_OK || status == TALLY_ERR_MEMORY);
    h.fail_at = 0;
  }
  check_value(&h, "s", "3.0");
  host_close(&h);
}

static void test_instructions_are_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  open_limited(&h, 0, 20000);
  static const char *const sources[] = {
      "while true { }",
      "try { while true { } } catch { }",
      "while true { try { while true { } } catch { } }",
      "fn f(n) = if n == 0 { 0 } else { f(n - 1) }\nwhile true { f(9) }",
      "x = ones(100000)\nwhile true { y = sqrt(x) }",
      "y = each(arange(100000), x => x)",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    CHECK_ERROR(&h, tally_eval(h.vm, sources[i], NULL), TALLY_ERR_LIMIT,
                "budget");
  }
  // Each call has a budget of its own.
  for (int i = 0; i < refused_times(20, 2); i++)
    run_ok(&h, "for i in 0..10000 { }");
  run_ok(&h, "fn spin(n) {\n  for i in 0..n { }\n}");
  tally_value few, many;
  assert_int_equal(tally_from_int(h.vm, 5000, &few), TALLY_OK);
  assert_int_equal(tally_from_int(h.vm, 5000000, &many), TALLY_OK);
  for (int i = 0; i < refused_times(50, 3); i++) {
    assert_int_equal(tally_call(h.vm, "spin", 1, &few, NULL), TALLY_OK);
  }
  assert_int_equal(tally_call(h.vm, "spin", 1, &many, NULL), TALLY_ERR_LIMIT);
  tally_release(h.vm, few);
  tally_release(h.vm, many);
  host_close(&h);
}

static void open_timed(host *h, double seconds) {
  tally_options options = host_options(h);
  options.clock = host_clock;
  options.time_limit = seconds;
  host_open(h, &options);
}

static void test_time_is_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  open_timed(&h, 0.05);
  static const char *const sources[] = {
      "while true { }",
      "while true { try { while true { } } catch { } }",
      "x = ones(100000)\nwhile true { x = sqrt(x) }",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    uint64_t begin = h.polls;
    CHECK_ERROR(&h, tally_eval(h.vm, sources[i], NULL), TALLY_ERR_LIMIT,
                "time");
    uint64_t passed = h.polls - begin;  // the first asks when it begins
    assert_true(passed >= 50 && passed <= 53);
  }
  // A deadline that is over does not stop what comes later.
  h.polls += 1000;
  tally_value v = eval(&h, "reshape(arange(1000), (10, 100))"), shown;
  h.polls += 1000;
  assert_int_equal(tally_format(h.vm, v, &shown), TALLY_OK);
  tally_release(h.vm, shown);
  tally_release(h.vm, v);
  h.polls += 1000;
  CHECK_ERROR(&h, tally_run(h.vm, "/nosuch", 0, NULL), TALLY_ERR_IO, "nosuch");
  check_value(&h, "import time\nt = time.now()\ntime.clock() - t < 1", "true");
  check_value(&h, "t < 100", "true");  // it is the host's clock
  host_close(&h);
}

// Pipes that nobody is at the other end of, and input that does not come.
static void test_waiting_is_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  static const char *const calls[] = {
      "io.write_text(p, \"x\")", "io.append_text(p, \"x\")",
#ifdef __linux__
      "io.read_text(p)",
#endif
      "io.read_text(\"/dev/stdin\")", "input()"};
  char folder[] = "/tmp/tally-limits-XXXXXX", path[64], text[200];
  int ends[2], input = dup(STDIN_FILENO);
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/pipe", folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(pipe(ends), 0);
  assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
  open_timed(&h, 0.005);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    snprintf(text, sizeof text, "import io\np = \"%s\"\ny = %s", path,
             calls[i]);
    CHECK_ERROR(&h, tally_eval(h.vm, text, NULL), TALLY_ERR_LIMIT, "time");
  }
  host_close(&h);
  dup2(input, STDIN_FILENO);
  close(input);
  close(ends[0]);
  close(ends[1]);
  unlink(path);
  rmdir(folder);
}

// The read end of a full pipe, of which a clock now and then takes some.
static int full_pipe = -1, looks;

static double emptying_clock(void *context) {
  char bytes[1 << 12];
  (void)context;
  if (++looks % 3 == 0 && read(full_pipe, bytes, sizeof bytes) < 0)
    looks = 0;
  errno = 0;
  return 0;
}

// What a host's clock leaves in errno is no failure of the write.
static void test_a_wait_to_write_goes_on(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  char folder[] = "/tmp/tally-limits-XXXXXX", path[64], text[200];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/pipe", folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  full_pipe = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(full_pipe >= 0);
  options.clock = emptying_clock;
  options.time_limit = 1;
  host_open(&h, &options);
  snprintf(text, sizeof text,
           "import io\nimport strings\n"
           "io.append_text(\"%s\", strings.repeat(\"x\", 80000))",
           path);
  run_ok(&h, text);
  host_close(&h);
  close(full_pipe);
  unlink(path);
  rmdir(folder);
}

// By the system's clock, too.
static void test_real_time_is_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.time_limit = 0.002;
  host_open(&h, &options);
  CHECK_ERROR(&h, tally_eval(h.vm, "while true { }", NULL), TALLY_ERR_LIMIT,
              "time");
  host_close(&h);
}

// The text of a resource, whose object says whether that interrupts.
static tally_status tell_late(tally_vm *vm, void *context, void *object,
                              tally_value *out) {
  (void)context;
  if (*(bool *)object)
    tally_interrupt(vm);
  return tally_from_string(vm, "late", 4, out);
}

// The host's functions within a call that runs no script do not end its own
// limits, and an interrupt before its first poll is for it.
static void check_late(host *h) {
  static bool interrupts;
  static const tally_resource type = {
      .size = sizeof type, .name = "late", .repr = tell_late};
  tally_value late, all, beside = eval(h, "r => (r, l, l, l, l)"), text;
  interrupts = false;
  assert_int_equal(tally_from_resource(h->vm, &type, &interrupts, &late),
                   TALLY_OK);
  assert_int_equal(tally_apply(h->vm, beside, 1, &late, &all), TALLY_OK);
  CHECK_ERROR(h, tally_eval(h->vm, "while true { }", NULL), TALLY_ERR_LIMIT,
              "the time limit");
  assert_int_equal(tally_format(h->vm, all, &text), TALLY_OK);
  tally_release(h->vm, text);
  interrupts = true;
  CHECK_ERROR(h, tally_format(h->vm, all, &text), TALLY_ERR_INTERRUPT,
              "interrupted");
  tally_release(h->vm, late);
  tally_release(h->vm, all);
  tally_release(h->vm, beside);
}

// A call that runs no script has limits of its own: what a run has used up, and
// an interrupt that came when none was under way, are not for it.
static void test_calls_without_a_script_are_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.clock = host_clock;
  options.time_limit = 0.05;
  host_open(&h, &options);
  run_ok(&h,
         "l = (i for i in 0..9000)\n"
         "twice = 1\nfor i in 0..60 { twice = (twice, twice) }");
  tally_value l = eval(&h, "l"), twice = eval(&h, "twice"), text, got;
  tally_parcel *parcel;
  CHECK_ERROR(&h, tally_eval(h.vm, "while true { }", NULL), TALLY_ERR_LIMIT,
              "the time limit");
  assert_int_equal(tally_format(h.vm, l, &text), TALLY_OK);
  tally_release(h.vm, text);
  tally_interrupt(h.vm);
  assert_int_equal(tally_send(h.vm, tally_retain(h.vm, l), &parcel), TALLY_OK);
  assert_int_equal(tally_receive(h.vm, parcel, &got), TALLY_OK);
  tally_release(h.vm, got);
  check_late(&h);
  // A text or a parcel of 2^60 parts.
  CHECK_ERROR(&h, tally_format(h.vm, twice, &text), TALLY_ERR_LIMIT,
              "the time limit");
  CHECK_ERROR(&h, tally_send(h.vm, tally_retain(h.vm, twice), &parcel),
              TALLY_ERR_LIMIT, "the time limit");
  tally_release(h.vm, l);
  tally_release(h.vm, twice);
  host_close(&h);
  open_limited(&h, 1 << 20, 0);
  run_ok(&h, "twice = 1\nfor i in 0..60 { twice = (twice, twice) }");
  twice = eval(&h, "twice");
  CHECK_ERROR(&h, tally_send(h.vm, twice, &parcel), TALLY_ERR_MEMORY,
              "a value for another VM");
  host_close(&h);
  // Blocks that are copied count as well.
  open_limited(&h, 1 << 22, 0);
  run_ok(&h, "x = zeros(100000)\nl = (x, x, x, x, x, x)");
  l = eval(&h, "l");
  CHECK_ERROR(&h, tally_send(h.vm, l, &parcel), TALLY_ERR_MEMORY,
              "a value for another VM");
  host_close(&h);
}

static void test_depth_is_limited(void **state) {
  host *h = *state;
  CHECK_ERROR(h, tally_eval(h->vm, "fn f(n) = 1 + f(n + 1)\nf(0)", NULL),
              TALLY_ERR_LIMIT, "deep");
  assert_int_equal(tally_error(h->vm)->trace_count, 2);  // deep in one line
  CHECK_ERROR(
      h,
      tally_eval(h->vm, "fn g(x) = fold([1, 2], (a, b) => g(a))\ng(1)", NULL),
      TALLY_ERR_LIMIT, "deep");
  check_value(h, "1", "1");
}

// --- Capabilities -----------------------------------------------------------

static const char *const by_files[] = {
    "import io\nio.read_text(\"README.md\")",
    "import io\nio.write_text(\"/tmp/tally-not-to-be\", \"x\")",
    "import io\nio.read_csv(\"x.csv\")",
    "import io\nio.read_npy(\"x.npy\")",
    "import io\nio.write_npy(\"/tmp/tally-not-to-be\", [1])",
    "import io\nio.lines(\"README.md\")",
};

static void test_files_are_forbidden(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.capabilities = TALLY_MAY_ALL & ~(unsigned)TALLY_MAY_FILES;
  host_open(&h, &options);
  for (size_t i = 0; i < sizeof by_files / sizeof *by_files; i++) {
    CHECK_ERROR(&h, tally_eval(h.vm, by_files[i], NULL), TALLY_ERR_IO,
                "may not use files");
  }
  run_ok(&h, "import time\nt = time.now()");
  host_close(&h);
}

static void test_a_sandbox_has_no_doors(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.capabilities = 0;
  host_open(&h, &options);
  CHECK_ERROR(&h, tally_eval(h.vm, by_files[0], NULL), TALLY_ERR_IO, "files");
  CHECK_ERROR(&h, tally_eval(h.vm, "import time\ntime.now()", NULL),
              TALLY_ERR_IO, "the clock");
  assert_int_not_equal(tally_eval(h.vm, "import \"examples/life.tly\"", NULL),
                       TALLY_OK);
  run_ok(&h, "import linalg\nprint(linalg.norm([3.0, 4.0]))");
  assert_string_equal(h.output, "5.0\n");
  host_close(&h);
}

// --- Threads ----------------------------------------------------------------

static void *run_alone(void *context) {
  atomic_int *failures = context;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  int64_t i = 0;
  tally_value v;
  if (tally_open(&options, &h.vm) != TALLY_OK ||
      tally_eval(h.vm,
                 "fn f(n) = if n < 2 { n } else { f(n - 1) + f(n - 2) }\n"
                 "x = arange(1000)\n"
                 "for k in 0..50 { x = x * 2 // 2 }\n"
                 "f(15) + sum(x)",
                 &v) != TALLY_OK ||
      tally_to_int(h.vm, v, &i) != TALLY_OK || i != 610 + 499500) {
    atomic_fetch_add(failures, 1);
  } else {
    tally_release(h.vm, v);
  }
  if (tally_close(h.vm) != 0 || h.blocks != 0)
    atomic_fetch_add(failures, 1);
  return NULL;
}

static void test_a_vm_in_each_of_eight_threads(void **state) {
  (void)state;
  pthread_t threads[8];
  atomic_int failures = 0;
  for (int i = 0; i < 8; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_alone, &failures),
                     0);
  }
  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
  assert_int_equal(failures, 0);
}

// Variables that fill the limit can be let go of.
static void test_a_full_vm_lets_go(void **state) {
  (void)state;
  tally_options options = tally_default_options();
  options.memory_limit = 2 << 20;
  tally_vm *vm;
  tally_stats stats;
  static const char *const fill[] = {
      "l = ()\nfor i in 0..100000000 { l = append(l, (i, i)) }",
      "m = ()\nfor i in 0..100000000 { m = append(m, 1) }",
      "n = 0\nfor i in 0..100000000 { n = (n, 1) }",
      "k = \"\"\nfor i in 0..100000000 { k = (k,) }",
  };
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  for (size_t i = 0; i < sizeof fill / sizeof *fill; i++) {
    assert_int_equal(tally_eval(vm, fill[i], NULL), TALLY_ERR_MEMORY);
    assert_non_null(strstr(tally_error(vm)->report, "no memory for"));
  }
  assert_int_equal(tally_eval(vm, "l = none", NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "m = none\nn = none\nk = none", NULL),
                   TALLY_OK);
  tally_get_stats(vm, &stats);
  assert_true(stats.live_bytes < 1 << 20);
  assert_true(stats.peak_bytes < (2 << 20) + (256 << 10));
  assert_int_equal(tally_close(vm), 0);
}

// --- Output -----------------------------------------------------------------

// What passes the limit is not written at all, nor what comes after it; the
// next call of the host has the whole limit again.
static void test_output_is_limited(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.output_limit = 8;
  host_open(&h, &options);
  run_ok(&h, "print(1234567)");
  run_ok(&h, "print(\"abc\")\nprint(\"def\")");
  assert_string_equal(h.output, "1234567\nabc\ndef\n");
  h.length = 0;
  static const char *const sources[] = {
      "print(\"abc\")\nprint(\"defgh\")\nprint(1)",
      "print(\"abc\")\ntry { print(0..100) } catch { print(1) }",
      "print(\"abc\")\nwhile true { try { print(\"defgh\") } catch { } }",
      "print(\"abc\")\nimport io\nio.write_text(io.stdout, \"defghijk\")",
      "print(\"abc\")\nx = 1\nx = ones(1000)\nprint(x)",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    h.length = 0;
    CHECK_ERROR(&h, tally_eval(h.vm, sources[i], NULL), TALLY_ERR_LIMIT,
                "the output limit is reached");
    assert_string_equal(h.output, "abc\n");
    check_value(&h, "1 + 1", "2");
  }
  host_close(&h);
}

// Files count, too; one that was to be replaced stays, and so does one to which
// something was to be added.
static void test_files_count_as_output(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  char source[400], path[] = "/tmp/tally-output-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  options.output_limit = 100;
  host_open(&h, &options);
  snprintf(source, sizeof source,
           "import io\nimport strings\nlong = strings.repeat(\"x\", 101)\n"
           "p = \"%s\"\nio.write_text(p, \"old\")",
           path);
  run_ok(&h, source);
  static const char *const sources[] = {
      "io.write_text(p, long)",
      "io.append_text(p, long)",
      "io.write_npy(p, zeros(1000))",
      "io.write_csv(p, (a: [1.5], b: [\"two\"]))\n"
      "io.write_csv(p, (a: zeros(1000)))",
      "for i in 0..1000 { io.append_text(p, \"\")\nprint(\"12345678\") }",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    bool writes_first = strstr(sources[i], "two") != NULL;
    CHECK_ERROR(&h, tally_eval(h.vm, sources[i], NULL), TALLY_ERR_LIMIT,
                "the output limit is reached");
    check_value(&h, "io.read_text(p)", writes_first ? "a,b\n1.5,two\n" : "old");
    if (writes_first)
      run_ok(&h, "io.write_text(p, \"old\")");
  }
  host_close(&h);
  unlink(path);
}

// --- The host's floating-point settings --------------------------------------

// What depends on the direction of rounding, on subnormal numbers and on traps:
// arithmetic, texts of numbers and numbers of texts.
static const char *const float_source =
    "x = arange(1.0, 9.0) / 10.0\n"
    "y = (x, sum(x), 0.1 + 0.2, 1 / 3, float32(1) / float32(3),\n"
    "  exp(x[:2]), 1e23, 123456789.123456789e-7, float(\"0.1\"), 5e-324 * 1.0,\n"
    "  2.2250738585072014e-308 / 2, float32(1e-45), 1.0 / [0.0], √[2.0],\n"
    "  \"{2 / 3:.4f} {1e22:e} {0.5:.0f}\", int(\"12\"), [1.0, 2.0] @ [0.1, 0.2])";

typedef char float_text[2000];

// The result with the default settings, as a text.
static void expect_floats(host *h, float_text expected) {
  const char *shown;
  tally_value text, value;
  run_ok(h, float_source);
  value = eval(h, "y");
  assert_int_equal(tally_format(h->vm, value, &text), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, text, &shown, NULL), TALLY_OK);
  snprintf(expected, sizeof(float_text), "%s", shown);
  tally_release(h->vm, text);
  tally_release(h->vm, value);
}

static void check_settings(host *h, const char *expected) {
  run_ok(h, float_source);
  check_value(h, "y", expected);
  tally_value number;
  double back;
  number = eval(h, "1 / 3");
  assert_int_equal(tally_to_float(h->vm, number, &back), TALLY_OK);
  tally_release(h->vm, number);
  const uint64_t third = 0x3fd5555555555555;
  assert_memory_equal(&back, &third, sizeof back);
}

// The results are the same, and the host has its settings afterwards, also
// after an error.
static void test_floats_do_not_depend_on_the_host(void **state) {
  host *h = *state;
  float_text expected;
  expect_floats(h, expected);
  static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
    fesetround(directions[i]);
    check_settings(h, expected);
    assert_int_equal(tally_eval(h->vm, "[1][2]", NULL), TALLY_ERR_INDEX);
    int after = fegetround();
    fesetround(FE_TONEAREST);
    assert_int_equal(after, directions[i]);
  }
}

#ifdef __x86_64__
static uint32_t settings(void) {
  uint32_t sse;
  __asm__ volatile("stmxcsr %0" : "=m"(sse));
  return sse & ~0x3fu;
}

static void set(uint32_t sse) {
  __asm__ volatile("ldmxcsr %0" : : "m"(sse));
}

// Subnormal results and operands as 0, traps, and a direction that the C
// library does not know of, as it is set by the register alone.
static void test_registers_are_the_hosts(void **state) {
  host *h = *state;
  float_text expected;
  expect_floats(h, expected);
  static const uint32_t modes[] = {0x1f80 | 0x8000, 0x1f80 | 0x40,
                                   0x1f80 | 0x8040, 0x1f80 | 0x2000,
                                   0x1f80 | 0x6000, 0x1f80 & ~0x200u};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    set(modes[i]);
    check_settings(h, expected);
    uint32_t after = settings();
    set(0x1f80);
    assert_int_equal(after, modes[i]);
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_a_run_says_what_it_is_at),
      HOST_TEST(test_an_interrupt_stops_at_the_next_poll),
      HOST_TEST(test_long_operations_poll),
      HOST_TEST(test_a_stopped_sort_leaves_its_variable),
      ONCE_TEST(test_a_stopped_pass_over_an_operand, host_set_up,
                host_tear_down, "it runs some two hundred times itself"),
      HOST_TEST(test_a_late_result_has_one_owner),
      HOST_TEST(test_a_limit_within_a_call_leaves_one_owner),
      HOST_TEST(test_interrupt_from_another_thread),
      HOST_TEST(test_a_statement_that_is_stopped_changes_nothing),
      ONCE_TEST(test_a_pass_over_an_operand_stops_unseen, host_set_up,
                host_tear_down, "it runs many times itself"),
      ONCE_TEST(test_large_blocks_of_a_stopped_run, host_set_up, host_tear_down,
                "it runs many times itself"),
      HOST_TEST(test_interrupt_of_none),
      ONCE_TEST(test_long_lists_and_texts_poll, host_set_up, host_tear_down,
                "it makes millions of objects"),
      ONCE_TEST(test_a_large_nest_is_freed_in_parts, host_set_up,
                host_tear_down, "it makes millions of objects"),
      PLAIN_TEST(test_memory_is_limited),
      PLAIN_TEST(test_too_little_to_open),
      PLAIN_TEST(test_a_function_in_tally_outlives_a_refusal),
      PLAIN_TEST(test_instructions_are_limited),
      PLAIN_TEST(test_time_is_limited),
      PLAIN_TEST(test_real_time_is_limited),
      ONCE_TEST(test_waiting_is_limited, NULL, NULL,
                "standard input is another's until its end"),
      ONCE_TEST(test_a_wait_to_write_goes_on, NULL, NULL,
                "its pipe is full until its end"),
      PLAIN_TEST(test_calls_without_a_script_are_limited),
      HOST_TEST(test_depth_is_limited),
      ONCE_TEST(test_a_full_vm_lets_go, NULL, NULL,
                "it is refused memory itself"),
      PLAIN_TEST(test_output_is_limited),
      PLAIN_TEST(test_files_count_as_output),
      HOST_TEST(test_floats_do_not_depend_on_the_host),
#ifdef __x86_64__
      HOST_TEST(test_registers_are_the_hosts),
#endif
      PLAIN_TEST(test_files_are_forbidden),
      PLAIN_TEST(test_a_sandbox_has_no_doors),
      PLAIN_TEST(test_a_vm_in_each_of_eight_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
