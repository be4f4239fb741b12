// Everything of the library that calls a function it is given: stopped at each
// call by an interrupt, a deadline, a budget, an error, and by memory that is
// refused, once or from there on. Whatever stops it,
// what the function gave has one owner and the variables are as they were: the
// auditor and the sanitizer see a second drop, the number of objects one that
// is missing.
//
// What calls is not listed here but found: each function that is documented is
// tried with the host's function in the place of each of its parameters, and of
// the others values of each kind. So a new one is covered by itself, and a row
// of the table that says TL_CALLS and is never seen to call fails the test.

#include <stdio.h>

#include "stdlib/families.h"
#include "tests/unit/host.h"
#include "vm/builtin.h"
#include "vm/vm.h"

// --- The function that is given ---------------------------------------------

typedef enum stop {
  NOT_AT_ALL,
  BY_INTERRUPT,
  BY_DEADLINE,
  BY_BUDGET,
  BY_ERROR,
  BY_REFUSAL,   // of the next block
  BY_REFUSALS,  // of all that follow
  STOP_COUNT,
} stop;

// What the run ends with in any case. A deadline is seen at the next poll,
// which another error may forestall; an error may be caught.
static const tally_status stopped_by[STOP_COUNT] = {
    [BY_INTERRUPT] = TALLY_ERR_INTERRUPT, [BY_BUDGET] = TALLY_ERR_LIMIT};

typedef struct callee {
  host h;
  int calls, stop_at;  // the call that stops, from 1
  stop by;
  int gives;   // which kind of value
  bool late;   // the clock is past the deadline
  double now;  // seconds
} callee;

// What it gives is new each time, so that it is lost or dropped twice where
// anything is.
static const char *const given[] = {"[2, 1] + 0", "\"a text \" + \"of length\"",
                                    "([1.5] + 1, (k: [2] + 1))", "1 == 1"};
enum { GIVEN = sizeof given / sizeof *given };

static double clock_of(void *context) {
  callee *c = context;
  c->now += c->late ? 1e6 : 1e-9;
  return c->now;
}

static tally_status be_called(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  callee *c = context;
  (void)count, (void)args;
  tally_status status = tally_eval(vm, given[c->gives], out);
  if (status != TALLY_OK || ++c->calls != c->stop_at)
    return status;
  if (c->by == BY_INTERRUPT)
    tally_interrupt(vm);
  else if (c->by == BY_DEADLINE)
    c->late = true;
  else if (c->by == BY_BUDGET)
    tally_eval(vm, "while true { }", NULL);  // what it gives comes too late
  else if (c->by == BY_REFUSAL || c->by == BY_REFUSALS)
    c->h.fail_at = c->h.requests + 1;
  if (c->by != BY_ERROR)
    return TALLY_OK;
  tally_release(vm, *out);
  *out = (tally_value){0, 0};
  return tally_raise(vm, TALLY_ERR_VALUE, "stopped");
}

// Without files, so that nothing can be written. The clock is the test's.
static void open_vm(callee *c) {
  tally_options options = host_options(&c->h);
  options.context = c;
  options.clock = clock_of;
  options.time_limit = 1000;
  options.instruction_limit = 200000;
  options.capabilities = TALLY_MAY_CLOCK;
  host_open(&c->h, &options);
  static const tally_native rows[] = {
      {.name = "called", .params = "...rest", .call = be_called}};
  tally_native row = rows[0];
  row.context = c;
  const tally_module module = {sizeof module, NULL, NULL, &row, 1, sizeof row};
  assert_int_equal(tally_add_module(c->h.vm, &module), TALLY_OK);
  run_ok(&c->h,
         "import binary\nimport fft\nimport io\nimport json\nimport linalg\n"
         "import memory\nimport os\nimport plot\nimport random\n"
         "import stats\nimport strings\nimport tables\nimport time");
  run_ok(&c->h,
         "x = [3, 1, 2]\nm = reshape(arange(6), (2, 3))\n"
         "l = ([3, 1] + 0, \"a text \" + \"of length\", [1] + 0)\n"
         "r = (a: [1, 2] + 0, b: \"another \" + \"text\")\n"
         "g = [[1, 2], [3], [5, 4]]\nt = [\"b\", none, \"a\"]\n"
         "w = (a: [1, 2, 2], b: [3, 4, 5])");
}

// What the other parameters are.
static const char *const fills[] = {"x",     "l", "(x, x)", "r", "m", "g",
                                    "\"a\"", "0", "(0,)",   "t", "w", "called"};
enum { FILLS = sizeof fills / sizeof *fills };

// --- The calls that are tried -----------------------------------------------

enum { MOST = 16, NAME = 64, TEXT = 400 };

typedef struct parameter {
  char name[NAME];
  bool required, named;
} parameter;

// Reads "x, f, axis: 0, ...rest": how many there are but the rest.
static int read_parameters(const char *text, parameter out[MOST]) {
  int count = 0;
  while (*text != 0 && count < MOST) {
    parameter *p = &out[count];
    size_t n = strcspn(text, " ,=:.");
    if (n > 0 && n < NAME) {
      memcpy(p->name, text, n);
      p->name[n] = 0;
      text += n;
      text += strspn(text, " ");
      p->required = *text == 0 || *text == ',';
      p->named = *text == ':';
      count++;
    }
    text += strcspn(text, ",");
    text += strspn(text, ", ");
  }
  return count;
}

// Writes a call with the host's function as parameter [at] and [fill] as the
// others that are required, the second of them [second].
static void write_call(const char *name, const parameter *params, int count,
                       int at, const char *fill, const char *second,
                       char out[TEXT]) {
  size_t n = (size_t)snprintf(out, TEXT, "%s(", name);
  const char *gap = "";
  int filled = 0;
  for (int i = 0; i < count && n < TEXT / 2; i++) {
    if (i != at && !params[i].required)
      continue;
    bool by_name = i == at && !params[i].required;
    const char *value = i == at ? "called" : filled++ == 0 ? fill : second;
    n += (size_t)snprintf(out + n, TEXT - n, "%s%s%s%s", gap,
                          by_name ? params[i].name : "", by_name ? ": " : "",
                          value);
    gap = ", ";
  }
  snprintf(out + n, TEXT - n, ")");
}

// Runs it, and what it gives if that is a function. Errors are none of ours:
// most of what is tried is nonsense.
static tally_status run(callee *c, const char *source) {
  tally_vm *vm = c->h.vm;
  tally_value value = {0, 0}, x;
  c->calls = 0;
  c->late = false;
  c->h.length = 0;
  tally_status status = tally_eval(vm, source, &value);
  if (status == TALLY_OK && strcmp(tally_type(vm, value), "function") == 0 &&
      tally_get_global(vm, "x", &x) == TALLY_OK) {
    status = tally_apply(vm, value, 1, &x, NULL);
    tally_release(vm, x);
  }
  c->h.fail_at = 0;
  tally_release(vm, value);
  return status;
}

// --- Stopped at each call ---------------------------------------------------

// Code that nothing leads to any more goes first.
static uint64_t objects_alive(callee *c) {
  tally_stats stats;
  c->by = NOT_AT_ALL;
  run_ok(&c->h, "memory.reclaim()");
  tally_get_stats(c->h.vm, &stats);
  return stats.live;
}

// At the first calls and at the last one. What catches errors may catch ours.
static void stop_at_each(callee *c, const char *source, int calls) {
  const char *unchanged =
      "same(x, [3, 1, 2]) and len(l) == 3 and len(r) == 2 and sum(m) == 15";
  for (int by = BY_INTERRUPT; by < STOP_COUNT; by++) {
    c->h.fail_from = by == BY_REFUSALS;
    for (int at = 1; at <= calls; at = at == 3 && calls > 4 ? calls : at + 1) {
      c->stop_at = at;
      uint64_t before = 0;
      // The first error leaves what reports it.
      for (int i = 0; i < 2; i++) {
        before = objects_alive(c);
        c->by = (stop)by;
        tally_status status = run(c, source);
        c->late = false;
        if (c->calls >= at && stopped_by[by] != TALLY_OK &&
            status != stopped_by[by])
          fail_msg("%s, stopped at call %d by %d: %s", source, at, by,
                   tally_error(c->h.vm)->report);
      }
      if (objects_alive(c) != before)
        fail_msg("%s, stopped at call %d by %d: %d objects more", source, at,
                 by, (int)(objects_alive(c) - before));
      check_value(&c->h, unchanged, "true");
    }
  }
}

// Tries one function in all ways; whether any of them called.
static bool try_function(callee *c, const char *name, const char *signature) {
  parameter params[MOST] = {0};
  int count = read_parameters(signature, params);
  bool called = false;
  for (int at = 0; at < count; at++) {
    for (int i = 0; i < FILLS * 2; i++) {
      char source[TEXT];
      c->gives = i % GIVEN;
      c->by = NOT_AT_ALL;
      write_call(name, params, count, at, fills[i % FILLS],
                 i < FILLS ? fills[i % FILLS] : fills[(i + 7) % FILLS], source);
      run(c, source);
      if (c->calls == 0)
        continue;
      called = true;
      stop_at_each(c, source, c->calls);
    }
  }
  return called;
}

// What takes a function and needs more than one of the values above.
static const char *const others[] = {
    "update(r, \"a\", called)",
    "update(l, 0, called, x)",
    "map_axis(m, called, axis: 1)",
    "map_axis(g, called, axis: -1)",
    "strings.substitute(\"abc\", \"[a-z]\", called)",
    "compose(called, called)",
    "fold(l, called, \"a start\" + \" of it\")",
    "each(l, called, (1, 2, 3))",
    "sort((x + 1, x, x + 2), key: called)",
    "[called(v) for v in l]",
    "fold(l, (a, b) => called(a, b))",
    "update_at((a: (x, x)), (\"a\", 1), called)",
    "each(l, v => each(l, called))",
    "x[0] + called(called(x))[0]",
};

// memory.graph runs a picture's code in the library, and no function of ours.
static bool may_call_ours(const tl_builtin *row, const char *name) {
  return row != NULL && tl_builtin_calls(row) &&
         strcmp(name, "memory.graph") != 0;
}

static void test_whatever_calls_is_stopped_at_each_call(void **state) {
  (void)state;
  callee c = {.by = NOT_AT_ALL};
  open_vm(&c);
  int callers = 0;
  for (size_t i = 0; tally_documented(c.h.vm, i) != NULL; i++) {
    char name[NAME], signature[TEXT];
    snprintf(name, sizeof name, "%s", tally_documented(c.h.vm, i));
    const char *text = tally_signature(c.h.vm, name);
    if (text == NULL)
      continue;
    snprintf(signature, sizeof signature, "%s", text);
    const char *dot = strchr(name, '.');
    char module[NAME];
    snprintf(module, sizeof module, "%.*s", dot == NULL ? 0 : (int)(dot - name),
             name);
    const char *own = dot == NULL ? name : dot + 1;
    const tl_builtin *row = tl_builtin_find(
        &tl_standard_library, dot == NULL ? NULL : module, own, strlen(own));
    bool called = try_function(&c, name, signature);
    callers += called;
    if (may_call_ours(row, name) && !called)
      fail_msg("%s(%s) may call, and nothing that was tried made it", name,
               signature);
  }
  assert_true(callers > 12);
  host_close(&c.h);
}

static void test_calls_within_calls_are_stopped(void **state) {
  (void)state;
  callee c = {.by = NOT_AT_ALL};
  open_vm(&c);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    for (c.gives = 0; c.gives < GIVEN; c.gives++) {
      c.by = NOT_AT_ALL;
      run(&c, others[i]);
      if (c.calls == 0)
        fail_msg("%s calls nothing: %s", others[i],
                 tally_error(c.h.vm)->report);
      stop_at_each(&c, others[i], c.calls);
    }
  }
  host_close(&c.h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_whatever_calls_is_stopped_at_each_call),
      cmocka_unit_test(test_calls_within_calls_are_stopped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
