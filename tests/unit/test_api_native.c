// tally.h: functions of the host's and modules of them.

#include <math.h>
#include <stdio.h>

#include "tests/unit/host.h"

// --- Functions --------------------------------------------------------------

typedef struct tapped {
  int calls;
  tally_value kept;
} tapped;

// The sum of two numbers, and how often it was asked for.
static tally_status add(tally_vm *vm, void *context, size_t count,
                        const tally_value *args, tally_value *out) {
  tapped *t = context;
  double x, y;
  assert_int_equal(count, 2);
  t->calls++;
  tally_status status = tally_to_float(vm, args[0], &x);
  if (status == TALLY_OK)
    status = tally_to_float(vm, args[1], &y);
  return status != TALLY_OK ? status : tally_from_float(vm, x + y, out);
}

static tally_status add_to_all(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  (void)context;
  assert_int_equal(count, 2);
  tally_value fixed[] = {args[0], args[1]};
  return tally_call(vm, "each", 2, fixed, out);
}

static tally_status keep(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  tapped *t = context;
  (void)count;
  (void)out;
  t->kept = tally_retain(vm, args[0]);
  return TALLY_OK;
}

static tally_status same(tally_vm *vm, void *context, size_t count,
                         const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  *out = tally_retain(vm, args[0]);
  return TALLY_OK;
}

static tally_status fail_with(tally_vm *vm, void *context, size_t count,
                              const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  (void)out;
  int64_t kind;
  tally_status status = tally_to_int(vm, args[0], &kind);
  if (status != TALLY_OK)
    return status;
  if (kind < 0)
    return (tally_status)kind;  // an error that says nothing
  return tally_raise(vm, (tally_status)kind, "made with %d", (int)kind);
}

// Calls its argument with no arguments, and ignores what happens.
static tally_status try_call(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  tally_status status = tally_apply(vm, args[0], 0, NULL, NULL);
  return tally_from_int(vm, status, out);
}

static tally_status rebind(tally_vm *vm, void *context, size_t count,
                           const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  (void)args;
  (void)out;
  return tally_eval(vm, "x = none", NULL);
}

static tally_status count_args(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  (void)context;
  assert_int_equal(count, 3);
  return tally_from_list(vm, count, args, out);
}

// What was taken is released while the script goes on.
static tally_status end(tally_vm *vm, void *context, size_t count,
                        const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  tally_stats before, after;
  tally_get_stats(vm, &before);
  tally_release(vm, args[0]);
  tally_get_stats(vm, &after);
  assert_false(tally_is_live(vm, args[0]));
  return tally_from_int(vm, (int64_t)(before.live_bytes - after.live_bytes),
                        out);
}

static tally_status move_on(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  (void)out;
  return tally_move_global(vm, "kept", args[0]);
}

static tally_status give_released(tally_vm *vm, void *context, size_t count,
                                  const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  (void)args;
  tally_from_string(vm, "gone", 4, out);
  tally_release(vm, *out);
  return TALLY_OK;
}

static tally_status recurse(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  (void)context;
  return tally_call(vm, "again", (int)count, args, out);
}

static void mean_of(void *context, size_t n, const void *const *inputs,
                    const ptrdiff_t *steps, void *output) {
  const char *a = inputs[0], *b = inputs[1];
  double *to = output, scale = *(double *)context;
  for (size_t i = 0; i < n; i++, a += steps[0], b += steps[1]) {
    to[i] = scale * (*(const double *)(const void *)a +
                     *(const double *)(const void *)b);
  }
}

static void is_even(void *context, size_t n, const void *const *inputs,
                    const ptrdiff_t *steps, void *output) {
  (void)context;
  const char *a = inputs[0];
  unsigned char *to = output;
  for (size_t i = 0; i < n; i++, a += steps[0])
    to[i] = *(const int64_t *)(const void *)a % 2 == 0;
}

static void turn(void *context, size_t n, const void *const *inputs,
                 const ptrdiff_t *steps, void *output) {
  (void)context;
  const char *a = inputs[0];
  double *to = output;
  for (size_t i = 0; i < n; i++, a += steps[0]) {
    const double *z = (const double *)(const void *)a;
    double re = -z[1], im = z[0];
    to[2 * i] = re;
    to[2 * i + 1] = im;
  }
}

static tapped state_of_add;
static double half = 0.5;

static const tally_native functions[] = {
    {"plus", "x, y = 10", add, NULL,
     "The sum of x and y, which the host computes.\n"
     "    plus(1, 2)    # 3.0\n",
     0, &state_of_add, 0, NULL},
    {.name = "map", .params = "list, f", .call = add_to_all},
    {.name = "keep", .params = "x", .call = keep, .context = &state_of_add},
    {.name = "same_value", .params = "x", .call = same},
    {.name = "fail_with", .params = "kind", .call = fail_with},
    {.name = "try_call", .params = "f", .call = try_call},
    {.name = "rebind", .call = rebind},
    {.name = "all3",
     .params = "x, y: true, ...rest",
     .call = count_args,
     .doc = "All."},
    {.name = "end", .params = "x", .call = end, .takes = 1},
    {.name = "move_on", .params = "x", .call = move_on, .takes = 1},
    {.name = "give_released", .call = give_released},
    {.name = "recurse", .params = "n", .call = recurse},
    {.name = "norm1",
     .params = "x, y",
     .call = same,
     .signature = "(N * float64, N * float64) -> N * float64"},
    {.name = "wrong_result",
     .params = "x, y",
     .call = same,
     .signature = "(_, _) -> string"},
    {.name = "mean_of",
     .params = "x, y",
     .loop = mean_of,
     .context = &half,
     .signature = "(float64, float64) -> float64"},
    {.name = "is_even",
     .params = "x",
     .loop = is_even,
     .signature = "(int64) -> bool"},
    {.name = "turn",
     .params = "z",
     .loop = turn,
     .signature = "(complex128) -> complex128"},
    {.name = "reads", .call = rebind, .needs = TALLY_MAY_FILES},
};

static const tally_module globals = {sizeof globals,
                                     NULL,
                                     NULL,
                                     functions,
                                     sizeof functions / sizeof *functions,
                                     sizeof *functions};
static const tally_module as_module = {
    sizeof as_module, "sheet", "Cells.", functions, 3, sizeof *functions};

static void add_all(host *h) {
  state_of_add = (tapped){0};
  assert_int_equal(tally_add_module(h->vm, &globals), TALLY_OK);
}

static void test_scripts_call_the_host(void **state) {
  host *h = *state;
  add_all(h);
  check_value(h, "plus(1, 2)", "3.0");
  check_value(h, "plus(1)", "11.0");
  check_value(h, "plus(y: 1, x: 5)", "6.0");
  check_value(h, "each([1, 2], plus)", "[11.0, 12.0]");
  check_value(h, "all3(1)", "(1, true, ())");
  check_value(h, "all3(1, 2, 3, y: false)", "(1, false, (2, 3))");
  check_value(h, "f = plus\nf(...(2, 3))", "5.0");
  check_value(h, "map([1, 2, 3], x => x * 2)", "[2, 4, 6]");
  check_value(h, "keep(1)", "none");
  tally_release(h->vm, state_of_add.kept);
  check_value(h, "x = [1, 2]\nsame_value(x)", "[1, 2]");
  check_value(h, "same_value(\"a\" + \"b\")", "ab");
  assert_int_equal(state_of_add.calls, 6);
}

static void test_modules_of_the_host(void **state) {
  host *h = *state;
  assert_int_equal(tally_add_module(h->vm, &as_module), TALLY_OK);
  check_value(h, "import sheet\nsheet.plus(1, 2)", "3.0");
  check_value(h, "import sheet as s\ns.plus(1)", "11.0");
  CHECK_ERROR(h, tally_eval(h->vm, "import sheet\nsheet.pluss(1)", NULL),
              TALLY_ERR_NAME, "plus");
  CHECK_ERROR(h, tally_eval(h->vm, "plus2(1)", NULL), TALLY_ERR_NAME, "");
  CHECK_ERROR(h, tally_add_module(h->vm, &as_module), TALLY_ERR_NAME, "sheet");
  tally_module bad = as_module;
  bad.name = "linalg";
  CHECK_ERROR(h, tally_add_module(h->vm, &bad), TALLY_ERR_NAME, "linalg");
}

// A name that is an operation of the language everywhere else.
static void test_a_module_has_names_of_its_own(void **state) {
  host *h = *state;
  static const tally_native own[] = {
      {.name = "abs", .params = "x", .call = same}};
  const tally_module mine = {sizeof mine, "mine", NULL, own, 1, sizeof *own};
  assert_int_equal(tally_add_module(h->vm, &mine), TALLY_OK);
  check_value(h, "import mine\nmine.abs(-3)", "-3");
  check_value(h, "abs(-3)", "3");
}

static tally_status raise_bytes(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  (void)context;
  (void)count;
  (void)args;
  (void)out;
  return tally_raise(vm, TALLY_ERR_VALUE, "%s", "caf\xe9 \x80\x80\xc3");
}

// Scripts see text alone, whatever bytes a host puts into an error.
static void test_an_error_is_text(void **state) {
  host *h = *state;
  const tally_native own[] = {{.name = "bytes_raised", .call = raise_bytes}};
  const tally_module mine = {sizeof mine, NULL, NULL, own, 1, sizeof *own};
  assert_int_equal(tally_add_module(h->vm, &mine), TALLY_OK);
  run_ok(h, "try { bytes_raised() } catch e { m = e.message }");
  check_value(h, "m", "caf? ???");
  check_value(h, "codepoints(m).shape", "(8,)");
  check_value(h, "codepoints(m)[-1]", "63");
  // A file's name, which the system has not checked, either.
  static const char source[] =
      "fn f() = codepoints(file)\n"
      "try { [1][2] } catch e { file = e.file }";
  assert_int_equal(tally_run_source(h->vm, "\x80\x80.tly", source,
                                    sizeof source - 1, 0, NULL),
                   TALLY_OK);
  check_value(h, "codepoints(file)", "[63, 63, 46, 116, 108, 121]");
}

static void test_functions_are_documented(void **state) {
  host *h = *state;
  add_all(h);
  assert_non_null(strstr(tally_documentation(h->vm, "plus"), "the host"));
  assert_string_equal(tally_signature(h->vm, "plus"), "x, y = 10");
  assert_null(tally_signature(h->vm, "os.args"));  // no function: a value
  assert_null(tally_topic(h->vm, "plus"));
  assert_null(tally_topic(h->vm, "nosuch"));
  assert_string_equal(tally_topic(h->vm, "zeros"), "creating arrays");
  assert_string_equal(tally_topic(h->vm, "stats.mode"), "statistics");
  assert_int_equal(tally_add_module(h->vm, &as_module), TALLY_OK);
  assert_non_null(tally_documentation(h->vm, "sheet.plus"));
  bool seen = false;
  const char *name;
  for (size_t i = 0; (name = tally_documented(h->vm, i)) != NULL; i++)
    seen = seen || strcmp(name, "sheet.plus") == 0;
  assert_true(seen);
}

static void test_signatures_are_checked(void **state) {
  host *h = *state;
  add_all(h);
  check_value(h, "norm1([1.0], [2.0])", "[1.0]");
  CHECK_ERROR(h, tally_eval(h->vm, "norm1([1.0], [2.0, 3.0])", NULL),
              TALLY_ERR_TYPE, "N is 1");
  CHECK_ERROR(h, tally_eval(h->vm, "norm1([1], [2.0])", NULL), TALLY_ERR_TYPE,
              "x");
  CHECK_ERROR(h, tally_eval(h->vm, "wrong_result(1, 2)", NULL), TALLY_ERR_TYPE,
              "result");
  check_value(h, "wrong_result(\"a\", 2)", "a");
  CHECK_ERROR(h, tally_eval(h->vm, "plus()", NULL), TALLY_ERR_TYPE, "x");
  CHECK_ERROR(h, tally_eval(h->vm, "plus(1, 2, 3)", NULL), TALLY_ERR_TYPE, "2");
  CHECK_ERROR(h, tally_eval(h->vm, "plus(1, z: 3)", NULL), TALLY_ERR_TYPE, "z");
}

// --- Errors -----------------------------------------------------------------

static void test_errors_of_the_host_are_errors(void **state) {
  host *h = *state;
  add_all(h);
  for (int kind = TALLY_ERR_SYNTAX; kind < TALLY_STATUS_COUNT; kind++) {
    char source[80];
    snprintf(source, sizeof source, "y = 1\n\nfail_with(%d)", kind);
    CHECK_ERROR(h, tally_eval(h->vm, source, NULL), (tally_status)kind, "made");
    assert_int_equal(tally_error(h->vm)->line, 3);
  }
  CHECK_ERROR(h, tally_eval(h->vm, "fail_with(-1)", NULL), TALLY_ERR_HOST,
              "fail_with failed");
  CHECK_ERROR(h, tally_eval(h->vm, "fail_with(\"a\")", NULL), TALLY_ERR_TYPE,
              "integer");
  CHECK_ERROR(h, tally_eval(h->vm, "norm1([1.0], \"a\")", NULL), TALLY_ERR_TYPE,
              "norm1: y: expected N * float64, got string");
  check_value(h, "try { fail_with(6) } catch e { (e.kind, e.message) }",
              "(\"value\", \"made with 6\")");
  CHECK_ERROR(h, tally_eval(h->vm, "give_released()", NULL), TALLY_ERR_HOST,
              "released");
  // An error below is passed on with its own place and trace.
  CHECK_ERROR(h, tally_eval(h->vm, "fn g(x) = x[9]\nmap(([1], [2]), g)", NULL),
              TALLY_ERR_INDEX, "9");
  assert_int_equal(tally_error(h->vm)->line, 1);
  check_value(h, "try_call(() => [1][5])", "5");
  check_value(h, "try { map(1..3, x => fail_with(7)) } catch e { e.kind }",
              "domain");
}

static void test_final_errors_cannot_be_swallowed(void **state) {
  host *h = *state;
  host_close(h);
  tally_options options = host_options(h);
  options.instruction_limit = 10000;
  host_open(h, &options);
  add_all(h);
  assert_int_equal(
      tally_eval(h->vm, "try_call(() => { while true { } })", NULL),
      TALLY_ERR_LIMIT);
  check_value(h, "try_call(() => 1)", "0");
}

static void test_depth_is_bounded(void **state) {
  host *h = *state;
  add_all(h);
  run_ok(h, "fn again(n) = if n == 0 { 0 } else { 1 + recurse(n - 1) }");
  check_value(h, "again(60)", "60");
  CHECK_ERROR(h, tally_eval(h->vm, "again(100)", NULL), TALLY_ERR_LIMIT,
              "too deeply");
  check_value(h, "again(60)", "60");
}

static void test_capabilities_are_needed(void **state) {
  host *h = *state;
  host_close(h);
  tally_options options = host_options(h);
  options.capabilities = 0;
  host_open(h, &options);
  add_all(h);
  CHECK_ERROR(h, tally_eval(h->vm, "reads()", NULL), TALLY_ERR_IO, "files");
}

// A file that is no library is not even looked at where the host forbids them.
static void test_native_modules_need_a_capability(void **state) {
  host *h = *state;
  const char *folder = getenv("TMPDIR");
  char path[600], source[700];
  snprintf(path, sizeof path, "%.500s/no_library_%ld.so",
           folder == NULL ? "/tmp" : folder, (long)getpid());
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("no library", file);
  fclose(file);
  snprintf(source, sizeof source, "import \"%.*s\" as m",
           (int)(strlen(path) - 3), path);
  CHECK_ERROR(h, tally_eval(h->vm, source, NULL), TALLY_ERR_IO,
              "does not load");
  host_close(h);
  tally_options options = host_options(h);
  options.capabilities = TALLY_MAY_ALL & ~(unsigned)TALLY_MAY_LIBRARIES;
  host_open(h, &options);
  CHECK_ERROR(h, tally_eval(h->vm, source, NULL), TALLY_ERR_IO,
              "may not use native modules");
  remove(path);
}

// --- Ownership --------------------------------------------------------------

static void test_arguments_are_lent_without_a_count(void **state) {
  host *h = *state;
  add_all(h);
  tally_stats stats;
  run_ok(h, "fn f() {\n  x = arange(1000) + 1\n  try_call(x)\n  sum(x)\n}");
  tally_count(h->vm, 1);
  tally_reset_stats(h->vm);
  run_ok(h, "f()");
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.rc_inc, 0);
  tally_count(h->vm, 0);
}

static void test_a_kept_argument_lives_on(void **state) {
  host *h = *state;
  add_all(h);
  tally_array array;
  run_ok(h, "keep(arange(1000) * 2)");
  assert_int_equal(tally_to_buffer(h->vm, state_of_add.kept, &array), TALLY_OK);
  assert_int_equal(((int64_t *)array.data)[999], 1998);
  tally_release(h->vm, state_of_add.kept);
  // A view holds its block too.
  run_ok(h, "y = arange(1000)\nkeep(y[1:])\ny[1] = 7");
  assert_int_equal(tally_to_buffer(h->vm, state_of_add.kept, &array), TALLY_OK);
  assert_int_equal(((int64_t *)array.data)[0], 1);
  tally_release(h->vm, state_of_add.kept);
}

static void test_taken_arguments_end_where_the_host_says(void **state) {
  host *h = *state;
  add_all(h);
  tally_value out = eval(h, "end(arange(1000) * 1.5)");
  int64_t freed;
  assert_int_equal(tally_to_int(h->vm, out, &freed), TALLY_OK);
  assert_true(freed >= 8000);
  tally_release(h->vm, out);
  // One that the script uses again is counted instead.
  check_value(h, "x = arange(1000)\n(end(x), sum(x))", "(0, 499500)");
  run_ok(h, "move_on(arange(1000) + 1)");
  check_value(h, "sum(kept)", "500500");
  run_ok(h, "fn f() {\n  z = arange(10)\n  move_on(z)\n  z\n}");
  check_value(h, "sum(f()) + sum(kept)", "90");
}

static void test_the_host_may_rebind_what_a_script_reads(void **state) {
  host *h = *state;
  add_all(h);
  run_ok(h, "x = [1, 2, 3]");
  check_value(h, "fn g(a, b) = a\ng(x, rebind())", "[1, 2, 3]");
  check_value(h, "x", "none");
}

// --- Elementwise ------------------------------------------------------------

static void test_loops_broadcast_and_convert(void **state) {
  host *h = *state;
  add_all(h);
  check_value(h, "mean_of(1, 4)", "2.5");
  check_value(h, "mean_of([1.0, 3.0], 5)", "[3.0, 4.0]");
  check_value(h, "mean_of([1, 3], [5, 7])", "[3.0, 5.0]");
  check_value(h, "mean_of([[1.0], [2.0]], [0.0, 10.0])",
              "[[0.5, 5.5], [1.0, 6.0]]");
  check_value(h, "mean_of(0..3, 2)", "[1.0, 1.5, 2.0]");
  check_value(h, "x = reshape(1.0 * (0..6), (2, 3))\nmean_of(x.T, x.T[::-1])",
              "[[1.0, 4.0], [1.0, 4.0], [1.0, 4.0]]");
  check_value(h, "is_even([1, 2, 4])", "[false, true, true]");
  check_value(h, "is_even(int8([1, 2, 4]))", "[false, true, true]");
  check_value(h, "is_even(zeros((0, 3), dtype: int64)).shape", "(0, 3)");
  check_value(h, "turn(1 + 2i)", "-2.0 + 1.0i");
  check_value(h, "turn([1 + 2i, 3i])", "[-2.0 + 1.0i, -3.0 + 0.0i]");
  check_value(h, "sum(mean_of(arange(100000) * 1.0, 0))", "2499975000.0");
  CHECK_ERROR(h, tally_eval(h->vm, "is_even([1.5])", NULL), TALLY_ERR_TYPE,
              "x is of int64");
  CHECK_ERROR(h, tally_eval(h->vm, "is_even(\"a\")", NULL), TALLY_ERR_TYPE,
              "is_even");
  CHECK_ERROR(h, tally_eval(h->vm, "mean_of([1, 2], [1, 2, 3])", NULL),
              TALLY_ERR_SHAPE, "");
}

static void test_loops_write_over_what_dies(void **state) {
  host *h = *state;
  add_all(h);
  tally_stats stats;
  run_ok(h, "x = arange(1000) * 1.0");
  tally_reset_stats(h->vm);
  run_ok(h, "y = mean_of(x + 1, x)");
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.allocs, 1);
  assert_int_equal(stats.inplace, 1);
  check_value(h, "(sum(x), sum(y))", "(499500.0, 500000.0)");
}

// --- Tables that are wrong --------------------------------------------------

static void check_table(host *h, tally_native row, tally_status status,
                        const char *part) {
  tally_native rows[] = {{.name = "first", .call = same, .params = "x"}, row};
  tally_module module = {sizeof module, NULL, NULL, rows, 2, sizeof *rows};
  CHECK_ERROR(h, tally_add_module(h->vm, &module), status, part);
  // None of the table was added.
  assert_null(tally_documentation(h->vm, "first"));
}

// --- Loops in regions -------------------------------------------------------

typedef struct scaler {
  double factor;
  size_t items, largest;  // seen in all, and at once
} scaler;

static void scale_by(void *context, size_t n, const void *const *inputs,
                     const ptrdiff_t *steps, void *output) {
  scaler *s = context;
  const char *a = inputs[0], *b = inputs[1];
  double *to = output;
  s->items += n;
  s->largest = n > s->largest ? n : s->largest;
  for (size_t i = 0; i < n; i++, a += steps[0], b += steps[1]) {
    to[i] = s->factor * *(const double *)(const void *)a +
            *(const double *)(const void *)b;
  }
}

static scaler of_scale;
static const tally_native scales[] = {
    {.name = "scale",
     .params = "x, y",
     .loop = scale_by,
     .context = &of_scale,
     .signature = "(float64, float64) -> float64"},
};
static const tally_module scale_module = {.size = sizeof scale_module,
                                          .functions = scales,
                                          .function_count = 1,
                                          .function_size = sizeof *scales};

static uint64_t fused_by(host *h, const char *source) {
  tally_stats before, after;
  tally_get_stats(h->vm, &before);
  run_ok(h, source);
  tally_get_stats(h->vm, &after);
  return after.fused_ops - before.fused_ops;
}

// The same bits as one by one, and the loop saw blocks that stay in the cache.
static void test_loops_join_regions(void **state) {
  host *h = *state;
  static const struct {
    const char *source;
    int fused;  // operations
  } cases[] = {
      {"scale(x, 1) * 2 + x", 2},
      {"(x - 3) * 2 + scale(x, x * 5)", 4},
      {"scale(scale(x, 1), 2)", 1},
      {"sum(scale(x, 1) * 2)", 2},
      {"sum(scale(m + 1, 2), axis: 0)", 2},
      {"scale(m, m[0]) * 2", 1},
      {"scale(m[:, 0][:, none], m) + 1", 1},
      {"scale(k, 2.5) + 1", 1},
      {"scale(x[::-1], x) / 7", 1},
      {"sqrt(scale(1, x)) + 0.5", 2},
      {"scale(x, 1) > scale(x, 1)", 2},
      {"a = zeros(n)\na[:] = scale(x, 1) * 2\na", 2},
      {"x[5:9] + scale(x[1:5], 1) * 2", 0},  // too few to be worth it
  };
  static const char common[] =
      "n = 6000\nx = arange(n) / 7\nm = reshape(x, (60, 100))\n"
      "k = arange(n) * 3\n";
  const int count = refused_times(sizeof cases / sizeof *cases, 1);
  for (int i = 0; i < count; i++) {
    char source[400], texts[2][200];
    for (int alone = 0; alone < 2; alone++) {
      host_close(h);
      tally_options options = host_options(h);
      options.no_reuse = alone;
      options.threads = 4;
      host_open(h, &options);
      of_scale = (scaler){.factor = 1.5};
      assert_int_equal(tally_add_module(h->vm, &scale_module), TALLY_OK);
      snprintf(source, sizeof source, "%sfn f() {\n%s\n}\n", common,
               cases[i].source);
      run_ok(h, source);
      uint64_t fused = fused_by(h, "r = f()");
      if (fused != (alone ? 0 : (uint64_t)cases[i].fused))
        fail_msg("%s: %d fused", cases[i].source, (int)fused);
      if (cases[i].fused > 0 && !alone)
        assert_true(of_scale.largest < 6000);
      // Once more, with the plan that was kept.
      check_value(h, "all(f() == r)", "true");
      const char *text;
      tally_value sums = eval(h, "string((sum(r), min(r), max(r)))");
      assert_int_equal(tally_to_string(h->vm, sums, &text, NULL), TALLY_OK);
      snprintf(texts[alone], sizeof texts[alone], "%s", text);
      tally_release(h->vm, sums);
    }
    assert_string_equal(texts[0], texts[1]);
  }
}

// A number is converted for the loop anew where arrays of other lengths come by
// the graph that is cached.
static void test_loops_in_regions_convert_numbers(void **state) {
  host *h = *state;
  of_scale = (scaler){.factor = 1};
  assert_int_equal(tally_add_module(h->vm, &scale_module), TALLY_OK);
  run_ok(h,
         "fn f(x, k) {\n  r = scale(x + 1.0, k) + 1.0\n  r\n}\n"
         "wrong = 0\n"
         "for i in 0..40 {\n"
         "  r = f(ones(if i % 2 == 0 { 3000 } else { 4000 }), 2)\n"
         "  if r[0] != 5.0 { wrong += 1 }\n"
         "}");
  check_value(h, "wrong", "0");
}

static void test_loops_in_regions_fail_as_alone(void **state) {
  host *h = *state;
  of_scale = (scaler){.factor = 1};
  assert_int_equal(tally_add_module(h->vm, &scale_module), TALLY_OK);
  run_ok(h, "x = arange(5000) / 7\nfn f(x, y) = scale(x + 1, y) * 2");
  CHECK_ERROR(h, tally_eval(h->vm, "f(x, ones(7))", NULL), TALLY_ERR_SHAPE,
              "broadcast");
  CHECK_ERROR(h, tally_eval(h->vm, "f(x, x * 1i)", NULL), TALLY_ERR_TYPE,
              "float64");
  CHECK_ERROR(h, tally_eval(h->vm, "f(x, \"a\")", NULL), TALLY_ERR_TYPE, "y");
  check_value(h, "f(x, 1)[7]", "6.0");
}

static void test_tables_are_checked(void **state) {
  host *h = *state;
  check_table(h, (tally_native){.name = NULL, .call = same}, TALLY_ERR_NAME,
              "NULL");
  check_table(h, (tally_native){.name = "", .call = same}, TALLY_ERR_NAME, "");
  check_table(h, (tally_native){.name = "a b", .call = same}, TALLY_ERR_NAME,
              "a b");
  check_table(h, (tally_native){.name = "sum", .call = same}, TALLY_ERR_NAME,
              "sum");
  check_table(h, (tally_native){.name = "first", .call = same}, TALLY_ERR_NAME,
              "first");
  check_table(h, (tally_native){.name = "f"}, TALLY_ERR_HOST, "either");
  check_table(h, (tally_native){.name = "f", .call = same, .loop = is_even},
              TALLY_ERR_HOST, "either");
  check_table(h, (tally_native){.name = "f\xff", .call = same}, TALLY_ERR_VALUE,
              "UTF-8");
  check_table(h, (tally_native){.name = "f", .call = same, .params = ",,"},
              TALLY_ERR_NAME, "parameters");
  static const char *const signatures[] = {
      "float64", "(float64",          "()", "(float64, float64) -> int64",
      "(,)",     "(float64) => int64"};
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
    tally_native row = {
        .name = "f", .call = same, .params = "x", .signature = signatures[i]};
    check_table(h, row, TALLY_ERR_TYPE, "");
  }
  check_table(h,
              (tally_native){.name = "f",
                             .params = "x",
                             .loop = is_even,
                             .signature = "(N * int64) -> bool"},
              TALLY_ERR_TYPE, "dtypes alone");
  check_table(h,
              (tally_native){.name = "f",
                             .params = "x = 1",
                             .loop = is_even,
                             .signature = "(int64) -> bool"},
              TALLY_ERR_HOST, "required");
  CHECK_ERROR(h, tally_add_module(h->vm, NULL), TALLY_ERR_HOST, "NULL");
  tally_module empty = {sizeof empty, "empty", NULL, NULL, 0, 0};
  assert_int_equal(tally_add_module(h->vm, &empty), TALLY_OK);
  run_ok(h, "import empty");
  empty.function_count = 1;
  empty.name = "other";
  CHECK_ERROR(h, tally_add_module(h->vm, &empty), TALLY_ERR_HOST, "NULL");
  empty.functions = functions;
  CHECK_ERROR(h, tally_add_module(h->vm, &empty), TALLY_ERR_HOST,
              "function_size");
  assert_int_equal(tally_add_module(NULL, &empty), TALLY_ERR_HOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_scripts_call_the_host),
      HOST_TEST(test_modules_of_the_host),
      HOST_TEST(test_a_module_has_names_of_its_own),
      HOST_TEST(test_an_error_is_text),
      HOST_TEST(test_functions_are_documented),
      HOST_TEST(test_signatures_are_checked),
      HOST_TEST(test_errors_of_the_host_are_errors),
      HOST_TEST(test_final_errors_cannot_be_swallowed),
      HOST_TEST(test_depth_is_bounded),
      HOST_TEST(test_capabilities_are_needed),
      HOST_TEST(test_native_modules_need_a_capability),
      HOST_TEST(test_arguments_are_lent_without_a_count),
      HOST_TEST(test_a_kept_argument_lives_on),
      HOST_TEST(test_taken_arguments_end_where_the_host_says),
      HOST_TEST(test_the_host_may_rebind_what_a_script_reads),
      HOST_TEST(test_loops_broadcast_and_convert),
      HOST_TEST(test_loops_write_over_what_dies),
      HOST_TEST(test_loops_join_regions),
      HOST_TEST(test_loops_in_regions_convert_numbers),
      HOST_TEST(test_loops_in_regions_fail_as_alone),
      HOST_TEST(test_tables_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
