// tally.h: what a host forbids: memory, time, instructions, doors. Whatever
// stops a script, the VM goes on.

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

// Loops of every form: each jump back polls, whatever it compares.
static void test_each_loop_ends_at_its_budget(void **state) {
  (void)state;
  static const char *const conditions[] = {
      "a < b",        "a <= b",        "a != b",
      "a == a",       "b > a",         "b >= a",
      "a < 3",        "a <= 3",        "a != 3",
      "b > -1",       "b >= -1",       "b == b",
      "not (b < a)",  "not (b <= a)",  "not (a == b)",
      "not (a != a)", "not (a > b)",   "not (a >= b)",
      "not (b < -1)", "not (b <= -1)", "not (a == 3)",
      "not (a > 3)",  "not (a >= 3)",  "a in (a, b)",
      "a < b and t",  "u or a < b",    "t",
      "not u",
  };
  static const char *const values[] = {"1, 2",          "1.5, 2.5",
                                       "int8(1), 2.5",  "\"a\", \"b\"",
                                       "uint8(1), 1e9", "none, none"};
  host h = {.vm = NULL};
  open_limited(&h, 0, 200);
  for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++) {
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      char source[200];
      snprintf(source, sizeof source,
               "fn f(a, b, t, u) { while %s { } }\nf(%s, true, false)",
               conditions[i], values[k]);
      tally_status status = tally_eval(h.vm, source, NULL);
      // Not all of them hold of all values, or can be asked of them.
      if (status != TALLY_OK && status != TALLY_ERR_TYPE)
        CHECK_ERROR(&h, status, TALLY_ERR_LIMIT, "budget");
      else
        assert_true(k >= 3 && i < 26);
    }
  }
  host_close(&h);
}

// A text goes on for a while after its budget has ended: what it makes of rows
// until it notices is not lost.
static void test_a_budget_ends_within_a_text(void **state) {
  (void)state;
  uint64_t live = 0;
  for (uint64_t budget = 20; budget < 80; budget += 46) {
    host h = {.vm = NULL};
    open_limited(&h, 0, budget);
    run_ok(&h, "rows = zeros(`3*3*330*3*6*1*var**3*float`)");
    tally_status status = tally_eval(h.vm, "n = len(string(rows))", NULL);
    assert_int_equal(status, TALLY_ERR_LIMIT);
    if (live == 0)
      live = h.vm->stats.live;
    assert_int_equal(h.vm->stats.live, live);
    host_close(&h);
  }
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

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// Variables that fill the limit can be let go of.
static void test_a_full_vm_lets_go(void **state) {
  (void)state;
  tally_options options = tally_default_options();
  options.memory_limit = 2 << 20;
  options.write = write_nothing;
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
  // A prompt may ask for names and documentation meanwhile.
  tally_value names;
  assert_int_equal(tally_complete(vm, "", &names), TALLY_OK);
  assert_true(tally_length(vm, names) > 100);
  tally_release(vm, names);
  assert_non_null(tally_documentation(vm, "sum"));
  // The host gets handles, of whatever it lets go.
  tally_value many[100];
  for (int i = 0; i < 100; i++)
    assert_int_equal(tally_get_global(vm, "l", &many[i]), TALLY_OK);
  for (int i = 0; i < 100; i++) tally_release(vm, many[i]);
  // It may be told of runs and code, and what they cost.
  tally_value f, told;
  assert_int_equal(tally_compile(vm, "1 + 1", &f), TALLY_OK);
  assert_int_equal(tally_disassemble_function(vm, f), TALLY_OK);
  assert_int_equal(tally_explain_source(vm, "len(l)", 0, &told), TALLY_OK);
  assert_true(tally_length(vm, told) > 80);
  tally_release(vm, told);
  assert_int_equal(tally_call(vm, "memory.measure", 1, &f, &told), TALLY_OK);
  assert_true(tally_length(vm, told) > 30);
  tally_release(vm, told);
  tally_release(vm, f);
  assert_int_equal(tally_eval(vm, "l = none", NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "m = none\nn = none\nk = none", NULL),
                   TALLY_OK);
  tally_get_stats(vm, &stats);
  assert_true(stats.live_bytes < 1 << 20);
  assert_true(stats.peak_bytes < (2 << 20) + (256 << 10));
  assert_int_equal(tally_close(vm), 0);
}

static double count_calls(void *context) {
  int *calls = context;
  return (double)++*calls;
}

// What tells of code runs in a VM of its own, and stops at the deadline of the
// one that it tells of.
static void test_listings_have_a_deadline(void **state) {
  (void)state;
  int calls = 0;
  tally_options options = tally_default_options();
  options.clock = count_calls;
  options.context = &calls;
  options.write = write_nothing;
  tally_vm *vm;
  char source[24 * 400], *to = source;
  for (int i = 0; i < 400; i++)
    to += sprintf(to, "x%d = %d + len(\"\")\n", i, i);
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  assert_int_equal(tally_disassemble(vm, "many.tly", source, strlen(source)),
                   TALLY_OK);
  assert_int_equal(tally_close(vm), 0);
  options.time_limit = 5;  // readings of the clock
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  assert_int_equal(tally_disassemble(vm, "many.tly", source, strlen(source)),
                   TALLY_ERR_LIMIT);
  assert_non_null(strstr(tally_error(vm)->message, "time limit"));
  assert_int_equal(tally_disassemble(vm, "few.tly", "x = 1", 5), TALLY_OK);
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

// So has the next listing.
static void test_listings_count_as_output(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.output_limit = 150;
  host_open(&h, &options);
  tally_value f = eval(&h, "x => x + 1");
  for (int i = 0; i < 3; i++) {
    h.length = 0;
    assert_int_equal(tally_disassemble_function(h.vm, f), TALLY_OK);
    assert_in_range(h.length, 76, 150);
  }
  tally_release(h.vm, f);
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
      PLAIN_TEST(test_memory_is_limited),
      PLAIN_TEST(test_too_little_to_open),
      PLAIN_TEST(test_a_function_in_tally_outlives_a_refusal),
      PLAIN_TEST(test_instructions_are_limited),
      ONCE_TEST(test_each_loop_ends_at_its_budget, NULL, NULL,
                "its loops ask for nothing"),
      PLAIN_TEST(test_a_budget_ends_within_a_text),
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
      PLAIN_TEST(test_listings_have_a_deadline),
      PLAIN_TEST(test_output_is_limited),
      PLAIN_TEST(test_listings_count_as_output),
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
