// tally.h: the interrupt, and polls, at which a script is stopped. Whatever it
// was at, nothing is half done or left, and the VM goes on.

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/unit/host.h"
#include "vm/vm.h"

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
      "y = digitize(0, sort(x))",

      "z[:] = k",
      "z[1:] = z[:-1]",
      "w[::2] = w[1::2]",  // of 2n items
      "z[k] = 5",
      "z[k, none] = [1]",
  };
  char source[200];
  snprintf(source, sizeof source,
           "n = %d\nk = arange(n) * 7919 %% 997\nx = k / 7\nz = k + 0\n"
           "w = arange(2 * n)",
           n);
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
      "y = memory.reclaim()",
      "y = memory.retained()",
      "y = 0..n == k",
      "y = reverse(r)",
      "y = ts[k]",
      "y = lengths(g)",
      "y = reverse(g)",
      "m = r\nm[0] = 1",
  };
  char source[300];
  snprintf(
      source, sizeof source,
      "import memory\nimport strings\nn = %d\nk = arange(n) * 7919 %% 997\n"
      "one = (1, 2)\nr = (one for v in k)\n"
      "marks = \"a\" + strings.repeat(\"\\u{301}\", n)\n"
      "ts = [string(v) for v in 0..1000]\n"
      "g = ragged(k, full(n, 1))",
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

// A store into a variable of the host's session is finished or not begun; one
// into what ends with the run stops at the next poll.
static void test_a_store_stops_unseen(void **state) {
  host *h = *state;
  open_polled(h);
  run_ok(
      h,
      "n = 700000\nold = arange(n)\nk = old[::-1] + 0\ntexts = [string(v) for v in k]\n"
      "rows = reshape(old, (7000, 100)) + 0\nitems = (v for v in 0..200000)\n"
      "fn f(a, i) { a[i] = a[::-1]; a }");
  static const char *const sources[] = {
      "x[:] = k",          "x[1:] = x[:-1]",
      "x[::2] = x[1::2]",  "x[k] = old",
      "x[old] = 5",        "t[:] = texts[::-1]",
      "y = f(old + 0, k)", "m = roll(m, 3, axis: 1)",
      "m = triu(m)",       "m = tril(m)",
      "m = zeros_like(m)", "l = insert(l, 1, 0)"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    run_ok(
        h,
        "x = old + 0\nt = texts + \"\"\nm = rows + 0\nl = concat((items, ()))");
    run_ok(h, sources[i]);
    run_ok(h, "done = (x, t, m, l)");
    for (uint64_t at = 1; at < 12; at++) {
      run_ok(
          h,
          "x = old + 0\nt = texts + \"\"\nm = rows + 0\nl = concat((items, ()))");
      h->polls = 0;
      h->interrupt_at = at;
      tally_eval(h->vm, sources[i], NULL);
      h->interrupt_at = 0;
      check_value(
          h,
          "same((x, t, m, l), done) or same((x, t, m, l), (old, texts, rows, items))",
          "true");
    }
  }
}

// Code that nobody reaches is looked for at the beginning of a call, too: an
// interrupt that comes meanwhile stops that call, and none is lost.
static void test_an_interrupt_of_a_reclaim(void **state) {
  host *h = *state;
  open_polled(h);
  run_ok(h,
         "import memory\nl = ((i,) for i in 0..20000)\n"
         "fn f() = memory.reclaim()");
  static const char *const sources[] = {
      "x = memory.reclaim()\nfor i in 0..9000 { }", "for i in 0..9000 { }"};
  for (uint64_t at = 1; at < 16; at++) {
    // From within a call the reclaim is put off to the next.
    run_ok(h, "each([1], v => f())");
    h->polls = 0;
    h->interrupt_at = at;
    tally_status status = tally_eval(h->vm, sources[at % 2], NULL);
    h->interrupt_at = 0;
    if (h->polls >= at)
      assert_int_equal(status, TALLY_ERR_INTERRUPT);
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
      ONCE_TEST(test_an_interrupt_of_a_reclaim, host_set_up, host_tear_down,
                "it runs many times itself"),
      ONCE_TEST(test_a_store_stops_unseen, host_set_up, host_tear_down,
                "it runs many times itself"),
      ONCE_TEST(test_a_pass_over_an_operand_stops_unseen, host_set_up,
                host_tear_down, "it runs many times itself"),
      ONCE_TEST(test_large_blocks_of_a_stopped_run, host_set_up, host_tear_down,
                "it runs many times itself"),
      HOST_TEST(test_interrupt_of_none),
      ONCE_TEST(test_long_lists_and_texts_poll, host_set_up, host_tear_down,
                "it makes millions of objects"),
      ONCE_TEST(test_a_large_nest_is_freed_in_parts, host_set_up,
                host_tear_down, "it makes millions of objects"),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
