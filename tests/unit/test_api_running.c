// tally.h: running code, hooks, errors, prompts and what can be seen of it.

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/host.h"

static void check_output(host *h, const char *expected) {
  assert_string_equal(h->output, expected);
  h->length = 0;
  h->output[0] = 0;
}

// --- Running ----------------------------------------------------------------

static void test_eval_goes_on_where_it_was(void **state) {
  host *h = *state;
  run_ok(h, "x = 1");
  run_ok(h, "fn add(y) = x + y");
  run_ok(h, "x = 10");
  check_value(h, "add(5)", "15");
  check_value(h, "", "none");
  check_value(h, "# a comment", "none");
  check_value(h, "y = x\ny * 2", "20");
}

static void test_a_failed_eval_keeps_what_was_done(void **state) {
  host *h = *state;
  CHECK_ERROR(h, tally_eval(h->vm, "a = 1\nb = [1][5]\nc = 3", NULL),
              TALLY_ERR_INDEX, "5");
  check_value(h, "a", "1");
  assert_int_equal(tally_eval(h->vm, "c", NULL), TALLY_ERR_NAME);
  CHECK_ERROR(h, tally_eval(h->vm, "a = 2\nb = = 3", NULL), TALLY_ERR_SYNTAX,
              "");
  check_value(h, "a", "1");  // nothing of a wrong text runs
}

static void test_scripts_have_arguments(void **state) {
  host *h = *state;
  static const char source[] = "import os\nprint(os.args, len(os.args))";
  const char *arguments[] = {"one", "größe", ""};
  assert_int_equal(
      tally_run_source(h->vm, "s.tly", source, strlen(source), 3, arguments),
      TALLY_OK);
  check_output(h, "(\"one\", \"größe\", \"\") 3\n");
  const char *malformed[] = {"a\xff"};
  CHECK_ERROR(
      h, tally_run_source(h->vm, "s.tly", source, strlen(source), 1, malformed),
      TALLY_ERR_VALUE, "argument 1");
}

static void test_source_is_nbytes_long(void **state) {
  host *h = *state;
  assert_int_equal(tally_run_source(h->vm, "s", "print(1)garbage", 8, 0, NULL),
                   TALLY_OK);
  check_output(h, "1\n");
  assert_int_equal(tally_run_source(h->vm, "s", "x = 1\0", 6, 0, NULL),
                   TALLY_ERR_SYNTAX);
}

static void test_files_run(void **state) {
  host *h = *state;
  const char *temporary = getenv("TMPDIR");
  char folder[256], path[300], other[300];
  snprintf(folder, sizeof folder, "%s/tally-test-XXXXXX",
           temporary ? temporary : "/tmp");
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/main.tly", folder);
  snprintf(other, sizeof other, "%s/other.tly", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("import other\nprint(other.f(2))\n[][1]\n", file);
  fclose(file);
  file = fopen(other, "w");
  assert_non_null(file);
  fputs("fn f(x) = x * 21\n", file);
  fclose(file);
  assert_int_equal(tally_run(h->vm, path, 0, NULL), TALLY_ERR_INDEX);
  check_output(h, "42\n");
  const tally_error_info *error = tally_error(h->vm);
  assert_string_equal(error->file, path);
  assert_int_equal(error->line, 3);
  CHECK_ERROR(h, tally_run(h->vm, folder, 0, NULL), TALLY_ERR_IO, folder);
  remove(path);
  remove(other);
  CHECK_ERROR(h, tally_run(h->vm, path, 0, NULL), TALLY_ERR_IO, path);
  assert_int_equal(rmdir(folder), 0);
}

// --- Functions --------------------------------------------------------------

static void test_calls_by_name(void **state) {
  host *h = *state;
  tally_value args[65], out;
  int64_t i;
  for (int k = 0; k < 65; k++) {
    assert_int_equal(tally_from_int(h->vm, k, &args[k]), TALLY_OK);
  }
  run_ok(h, "fn all(...rest) = fold(rest, (+))");
  assert_int_equal(tally_call(h->vm, "all", 64, args, &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 2016);
  tally_release(h->vm, out);
  CHECK_ERROR(h, tally_call(h->vm, "all", 65, args, &out), TALLY_ERR_HOST,
              "64");
  assert_int_equal(tally_call(h->vm, "all", 2, args, NULL), TALLY_OK);
  assert_int_equal(tally_call(h->vm, "maximum", 2, args, &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 1);
  tally_release(h->vm, out);
  run_ok(h, "number = 5");
  CHECK_ERROR(h, tally_call(h->vm, "number", 1, args, &out), TALLY_ERR_TYPE,
              "");
  CHECK_ERROR(h, tally_call(h->vm, "nosuch", 1, args, &out), TALLY_ERR_NAME,
              "nosuch");
  for (int k = 0; k < 65; k++) tally_release(h->vm, args[k]);
}

// Whether the library has a function in C, in Tally or its module in both: its
// name alone finds it, and no import.
static void test_names_of_the_library(void **state) {
  host *h = *state;
  static const char *const names[] = {
      "max",         ".max",       "leaves",        ".leaves",
      "linalg.norm", "time.parse", "io.write_image"};
  static const char *const none[] = {"",
                                     ".",
                                     "leaves.",
                                     "time.nosuch",
                                     "x.y.z",
                                     "inner/memory.graph",
                                     "global/leaves"};
  tally_value x[1] = {eval(h, "[3, 4]")}, out;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tally_status status = tally_call(h->vm, names[i], 1, x, &out);
    assert_int_equal(status, i < 5 ? TALLY_OK : TALLY_ERR_TYPE);
    if (status == TALLY_OK)
      tally_release(h->vm, out);
  }
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    CHECK_ERROR(h, tally_call(h->vm, none[i], 1, x, &out), TALLY_ERR_NAME,
                "not defined");
  tally_release(h->vm, x[0]);
}

static void test_calls_do_not_change_arguments(void **state) {
  host *h = *state;
  tally_value x = eval(h, "[1, 2, 3]"), y;
  run_ok(h, "fn change(a) {\n  a[0] = 9\n  a\n}");
  assert_int_equal(tally_call(h->vm, "change", 1, &x, &y), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", x), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "y", y), TALLY_OK);
  check_value(h, "(x, y)", "([1, 2, 3], [9, 2, 3])");
}

static void test_a_call_may_rebind_its_own_name(void **state) {
  host *h = *state;
  tally_value out;
  int64_t i;
  run_ok(h,
         "k = 5\nf = x => x + k\n"
         "fn g() {\n  global f\n  f = none\n  7\n}\nf = g");
  assert_int_equal(tally_call(h->vm, "f", 0, NULL, &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 7);
  tally_release(h->vm, out);
}

static void test_closures_are_values(void **state) {
  host *h = *state;
  tally_value f = eval(h, "n = 3\n[1, 2] |> (v => (() => v * n))"), out;
  run_ok(h, "n = 10");
  assert_string_equal(tally_type(h->vm, f), "function");
  assert_int_equal(tally_apply(h->vm, f, 0, NULL, &out), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "r", out), TALLY_OK);
  check_value(h, "r", "[10, 20]");
  tally_release(h->vm, f);
}

static void test_compiled_once_called_often(void **state) {
  host *h = *state;
  tally_value f, out;
  int64_t i;
  run_ok(h, "total = 0");
  assert_int_equal(tally_compile(h->vm, "total = total + 1\ntotal", &f),
                   TALLY_OK);
  for (int64_t k = 1; k <= 1000; k++) {
    assert_int_equal(tally_apply(h->vm, f, 0, NULL, &out), TALLY_OK);
    assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
    assert_int_equal(i, k);
    tally_release(h->vm, out);
  }
  assert_int_not_equal(tally_apply(h->vm, f, 1, &f, &out), TALLY_OK);
  tally_release(h->vm, f);
  CHECK_ERROR(h, tally_compile(h->vm, "1 +", &f), TALLY_ERR_SYNTAX, "");
}

// --- Hooks ------------------------------------------------------------------

static void test_output_that_is_refused(void **state) {
  host *h = *state;
  h->deaf = true;
  CHECK_ERROR(h, tally_eval(h->vm, "x = 1\nprint(x)\nx = 2", NULL),
              TALLY_ERR_IO, "print");
  check_value(h, "x", "1");
  CHECK_ERROR(h, tally_interact(h->vm, "x", 80), TALLY_ERR_IO, "");
  run_ok(h, "try { print(1) } catch e { k = e.kind }");
  check_value(h, "k", "io");
  h->deaf = false;
  run_ok(h, "print(\"a\", 1, sep: \"-\", end: \"!\")");
  check_output(h, "a-1!");
}

static int load(void *context, const char *name, char **text, size_t *nbytes) {
  host *h = context;
  const char *source = strcmp(name, "geo") == 0
                           ? "fn area(w, h) = w * h\nside = 3\nprint(\"ran\")"
                       : strcmp(name, "broken") == 0  ? "x = ("
                       : strcmp(name, "circle") == 0  ? "import circle"
                       : strcmp(name, "failing") == 0 ? "[1][2]"
                                                      : NULL;
  if (source == NULL)
    return 1;
  *nbytes = strlen(source);
  *text = host_block(h, *nbytes);
  if (*text == NULL)
    return 1;
  memcpy(*text, source, *nbytes);
  return 0;
}

static void test_modules_of_the_host(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.load = load;
  options.capabilities = 0;
  host_open(&h, &options);
  run_ok(&h, "import geo\nimport geo as g\nprint(geo.area(2, g.side))");
  check_output(&h, "ran\n6\n");
  CHECK_ERROR(&h, tally_eval(h.vm, "import broken", NULL), TALLY_ERR_SYNTAX,
              "");
  CHECK_ERROR(&h, tally_eval(h.vm, "import circle", NULL), TALLY_ERR_NAME,
              "circle");
  CHECK_ERROR(&h, tally_eval(h.vm, "import failing", NULL), TALLY_ERR_INDEX,
              "2");
  assert_string_equal(tally_error(h.vm)->file, "failing");
  assert_int_not_equal(tally_eval(h.vm, "import nosuch", NULL), TALLY_OK);
  run_ok(&h, "import linalg");
  host_close(&h);
}

// --- Errors -----------------------------------------------------------------

static void test_an_error_says_all_of_it(void **state) {
  host *h = *state;
  static const char source[] =
      "fn step(g) {\n"
      "  größe = g + [1, 2]\n"
      "  größe\n"
      "}\n"
      "fn main(n) = step(n)\n"
      "print(main([1, 2, 3]))\n";
  assert_int_equal(
      tally_run_source(h->vm, "life.tly", source, strlen(source), 0, NULL),
      TALLY_ERR_SHAPE);
  const tally_error_info *error = tally_error(h->vm);
  assert_int_equal(error->status, TALLY_ERR_SHAPE);
  assert_string_equal(error->kind, "shape");
  assert_string_equal(error->file, "life.tly");
  assert_int_equal(error->line, 2);
  assert_int_equal(error->column, 13);
  assert_non_null(strstr(error->message, "3 * int64 and 2 * int64"));
  assert_non_null(strstr(error->report, "life.tly:2:13: shape error: 3 * "));
  assert_non_null(strstr(error->report,
                         "    2 |   größe = g + [1, 2]\n"
                         "      |             ^"));
  assert_int_equal(error->trace_count, 2);
  assert_string_equal(error->trace[0], "called from life.tly:5:14 in main");
  assert_non_null(strstr(error->trace[1], "called from life.tly:6:7"));
  assert_non_null(strstr(error->report, error->trace[0]));
}

static void test_errors_stay_until_the_next(void **state) {
  host *h = *state;
  const tally_error_info *error = tally_error(h->vm);
  assert_int_equal(error->status, TALLY_OK);
  assert_string_equal(error->report, "");
  assert_string_equal(tally_error(NULL)->message, "");
  tally_eval(h->vm, "first", NULL);
  tally_eval(h->vm, "second", NULL);
  error = tally_error(h->vm);
  assert_non_null(strstr(error->message, "second"));
}

static void test_each_kind_has_its_status(void **state) {
  host *h = *state;
  static const struct {
    const char *source;
    tally_status status;
    const char *kind;
  } rows[] = {
      {"1 +* 2", TALLY_ERR_SYNTAX, "syntax"},
      {"nosuch", TALLY_ERR_NAME, "name"},
      {"1 + \"a\"", TALLY_ERR_TYPE, "type"},
      {"[1, 2] + [1, 2, 3]", TALLY_ERR_SHAPE, "shape"},
      {"[1, 2][2]", TALLY_ERR_INDEX, "index"},
      {"int(\"x\")", TALLY_ERR_VALUE, "value"},
      {"1 // 0", TALLY_ERR_DOMAIN, "domain"},
      {"import io\nio.read_text(\"/nosuch\")", TALLY_ERR_IO, "io"},
      {"fn f(n) = 1 + f(n + 1)\nf(0)", TALLY_ERR_LIMIT, "limit"},
      {"assert(1 > 2, \"no\")", TALLY_ERR_ASSERT, "assert"},
      {"error(\"no\", kind: \"unit\")", TALLY_ERR_USER, "unit"},
      {"error(\"text\", kind: \"domain\")", TALLY_ERR_DOMAIN, "domain"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tally_status status = tally_eval(h->vm, rows[i].source, NULL);
    if (status != rows[i].status) {
      fail_msg("%s: status %d: %s", rows[i].source, (int)status,
               tally_error(h->vm)->report);
    }
    assert_string_equal(tally_error(h->vm)->kind, rows[i].kind);
  }
}

static void test_a_script_ends_itself_and_nothing_else(void **state) {
  host *h = *state;
  run_ok(h,
         "import os\nfn leave(n) { try { x = ones(9) * n; os.exit(n) } "
         "catch { print(\"caught\") } }");
  CHECK_ERROR(h, tally_eval(h->vm, "leave(3)\nprint(\"on\")", NULL),
              TALLY_ERR_EXIT, "ended itself with status 3");
  assert_int_equal(tally_error(h->vm)->exit_status, 3);
  assert_string_equal(tally_error(h->vm)->kind, "exit");
  check_output(h, "");
  CHECK_ERROR(h, tally_eval(h->vm, "leave(0)", NULL), TALLY_ERR_EXIT, "");
  assert_int_equal(tally_error(h->vm)->exit_status, 0);
  // The VM is as good as before.
  check_value(h, "1 + 1", "2");
  CHECK_ERROR(h, tally_eval(h->vm, "[1][2]", NULL), TALLY_ERR_INDEX, "2");
  assert_int_equal(tally_error(h->vm)->exit_status, 0);
}

static tally_status swallow(tally_vm *vm, void *context, size_t count,
                            const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)out;
  tally_apply(vm, args[0], 0, NULL, NULL);
  return TALLY_OK;
}

static void test_no_function_of_the_host_keeps_a_script_from_ending(
    void **state) {
  host *h = *state;
  const tally_native function = {
      .name = "swallow", .params = "f", .call = swallow};
  const tally_module module = {.size = sizeof module,
                               .functions = &function,
                               .function_count = 1,
                               .function_size = sizeof function};
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  CHECK_ERROR(h,
              tally_eval(h->vm,
                         "import os\ntry { swallow(() => os.exit(7)) } "
                         "catch { }\nprint(1)",
                         NULL),
              TALLY_ERR_EXIT, "7");
  assert_int_equal(tally_error(h->vm)->exit_status, 7);
  check_output(h, "");
}

static void test_standard_output_is_the_write_hook(void **state) {
  host *h = *state;
  run_ok(h,
         "import io\nprint(1)\nio.write_text(\"/dev/stdout\", \"2\\n\")\n"
         "io.append_text(\"/dev/fd/1\", \"3\\n\")\nprint(4)");
  check_output(h, "1\n2\n3\n4\n");
}

static void test_without_files_there_is_no_standard_input(void **state) {
  tally_options options = tally_default_options();
  tally_vm *vm;
  (void)state;
  options.capabilities = 0;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  static const char *const refused[] = {
      "input(\"\")", "import io\nfor l in io.stdin { }",
      "import io\nio.write_text(io.stdout, \"\")",
      "import os\nos.script_folder()"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_int_equal(tally_eval(vm, refused[i], NULL), TALLY_ERR_IO);
    assert_non_null(strstr(tally_error(vm)->message, "may not use files"));
  }
  assert_int_equal(tally_eval(vm, "import os\nos.exit(4)", NULL),
                   TALLY_ERR_EXIT);
  assert_int_equal(tally_close(vm), 0);
}

static void test_up_to_twenty_syntax_errors(void **state) {
  host *h = *state;
  char source[30 * 8];
  for (int i = 0; i < 30; i++) memcpy(source + 8 * i, "x = (]\n\n", 8);
  source[sizeof source - 1] = 0;
  assert_int_equal(tally_eval(h->vm, source, NULL), TALLY_ERR_SYNTAX);
  int count = 0;
  const char *at = tally_error(h->vm)->report;
  for (; (at = strstr(at, "syntax error")) != NULL; at++) count++;
  assert_int_equal(count, 20);
}

// --- Prompts ----------------------------------------------------------------

static void test_a_prompt_shows_values(void **state) {
  host *h = *state;
  assert_int_equal(tally_interact(h->vm, "x = [1, 20]", 80), TALLY_OK);
  check_output(h, "");
  assert_int_equal(tally_interact(h->vm, "x", 80), TALLY_OK);
  // On one line where its layout got no memory.
  if (refused.refused && strcmp(h->output, "[1, 20]\n") == 0)
    check_output(h, "[1, 20]\n");
  else
    check_output(h, "2 * int64\n  1  20\n");
  assert_int_equal(tally_interact(h->vm, "x[0]\n\"a\"", 80), TALLY_OK);
  check_output(h, "1\n\"a\"\n");
  assert_int_equal(tally_interact(h->vm, "none", 0), TALLY_OK);
  assert_int_equal(tally_interact(h->vm, "nosuch", 80), TALLY_ERR_NAME);
}

static void test_input_is_whole_or_not(void **state) {
  host *h = *state;
  static const char *const whole[] = {
      "",    "1",     "x = )", "f(1)", "\"a\"", "if x { 1 }",
      "# (", "\"(\"", "x\\",   "\xff", "1 2 3",
  };
  static const char *const open[] = {
      "f(", "[1,", "{", "fn f() {\n  1\n", "1 +", "\"\"\"text", "x = ", "(a,\n",
  };
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
    if (tally_check_input(h->vm, whole[i]) != TALLY_INPUT_COMPLETE) {
      fail_msg("more is wanted: %s", whole[i]);
    }
  }
  for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
    if (tally_check_input(h->vm, open[i]) != TALLY_INPUT_INCOMPLETE) {
      fail_msg("no more is wanted: %s", open[i]);
    }
  }
}

static void expect_names(host *h, const char *text, const char *expected) {
  tally_value list, shown;
  const char *names;
  assert_int_equal(tally_complete(h->vm, text, &list), TALLY_OK);
  assert_int_equal(tally_format(h->vm, list, &shown), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, shown, &names, NULL), TALLY_OK);
  assert_string_equal(names, expected);
  tally_release(h->vm, shown);
  tally_release(h->vm, list);
}

static void run(host *h, const char *source) {
  assert_int_equal(tally_eval(h->vm, source, NULL), TALLY_OK);
}

static void test_words_are_completed(void **state) {
  host *h = *state;
  run(h,
      "mean_height = 3\nαβ = 2\n_private = 1\ngone = 1\ndel(gone)\n"
      "r = (north: 1, next: (name: \"a\", nodes: 2))\n"
      "p = zeros(`3 * {x: float64, y: float64}`)");
  expect_names(h, "2 * mean", "(\"mean\", \"mean_height\")");
  expect_names(h, "mean_heights", "()");
  expect_names(h, "x = α", "(\"αβ\",)");
  expect_names(h, "whi", "(\"while\",)");
  expect_names(h, "float3", "(\"float32\",)");
  expect_names(h, "gon", "()");
  expect_names(h, "_p", "(\"_private\",)");
  expect_names(h, "r.n", "(\"next\", \"north\")");
  expect_names(h, "print(r.next.", "(\"name\", \"nodes\")");
  expect_names(h, "r.x", "()");
  expect_names(h, "r.next.no", "(\"nodes\",)");
  // However many points there are, the stack suffices.
  static char points[1 << 21];
  for (size_t i = 0; i + 1 < sizeof points; i++) points[i] = "r."[i % 2];
  expect_names(h, points, "()");
  expect_names(h, "p.",
               "(\"T\", \"dtype\", \"imag\", \"mT\", \"nbytes\", \"ndim\", "
               "\"real\", \"shape\", \"size\", \"x\", \"y\")");
  expect_names(h, "nothing.x", "()");
  expect_names(h, "import stri", "(\"strings\",)");
  expect_names(h, "linalg.sl", "()");
  run(h, "import linalg\nimport stats as s");
  expect_names(h, "linalg.sl", "(\"slogdet\",)");
  expect_names(h, "s.var", "(\"variance\",)");
  expect_names(h, "s.need", "()");  // a helper of the module's own
  run(h, "v = zeros(3)\nfn f(x, other_one) = x");
  expect_names(h, "v.s", "(\"shape\", \"size\")");
  expect_names(h, "f(1, oth", "(\"other_one:\",)");
  expect_names(h, "sum(f([1], 2), keep", "(\"keepdims:\",)");
  expect_names(h, "linalg.norm(v, ord", "(\"ord:\",)");
  expect_names(h, "sum(v)[keep", "()");
  expect_names(h, "(keep", "()");
}

// --- Seeing it --------------------------------------------------------------

static void test_listings(void **state) {
  host *h = *state;
  static const char source[] = "x = ones(3)\nprint(x + (x + x))";
  assert_int_equal(tally_disassemble(h->vm, "s.tly", source, strlen(source)),
                   TALLY_OK);
  assert_non_null(strstr(h->output, "s.tly"));
  h->length = 0;
  CHECK_ERROR(h, tally_disassemble(h->vm, "s", "1 +", 3), TALLY_ERR_SYNTAX, "");
  tally_value f;
  run(h, "fn f(a) = a + 1\ng = sum");
  assert_int_equal(tally_get_global(h->vm, "f", &f), TALLY_OK);
  assert_int_equal(tally_disassemble_function(h->vm, f), TALLY_OK);
  assert_int_equal(strncmp(h->output, "fn f(a", 6), 0);
  tally_release(h->vm, f);
  assert_int_equal(tally_get_global(h->vm, "g", &f), TALLY_OK);
  CHECK_ERROR(h, tally_disassemble_function(h->vm, f), TALLY_ERR_TYPE,
              "a listing needs a script's function");
  tally_release(h->vm, f);
  tally_value told;
  const char *text;
  run(h, "x = ones(3)");
  assert_int_equal(tally_explain_source(h->vm, "x = x + (x + x)", 0, &told),
                   TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, told, &text, NULL), TALLY_OK);
  assert_non_null(strstr(text, "`x + (x + x)`"));
  tally_release(h->vm, told);
  CHECK_ERROR(h, tally_explain_source(h->vm, "1 +", 0, &told), TALLY_ERR_SYNTAX,
              "");
  CHECK_ERROR(h, tally_disassemble(h->vm, "/nosuch.tly", NULL, 0), TALLY_ERR_IO,
              "nosuch");
}

static void test_layout(void **state) {
  host *h = *state;
  static const char source[] = "fn f(x){\nx+1 # next\n}";
  tally_value laid;
  const char *text;
  size_t nbytes;
  assert_int_equal(
      tally_format_source(h->vm, "f.tly", source, strlen(source), &laid),
      TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, laid, &text, &nbytes), TALLY_OK);
  assert_string_equal(text, "fn f(x) {\n  x + 1  # next\n}\n");
  assert_int_equal(nbytes, strlen(text));
  tally_release(h->vm, laid);
  // Names are not looked up; texts that do not parse are refused.
  assert_int_equal(tally_format_source(h->vm, "g.tly", "nosuch( 1)", 10, &laid),
                   TALLY_OK);
  tally_release(h->vm, laid);
  CHECK_ERROR(h, tally_format_source(h->vm, "s", "1 +", 3, &laid),
              TALLY_ERR_SYNTAX, "");
  CHECK_ERROR(h, tally_format_source(h->vm, "s", "\xff", 1, &laid),
              TALLY_ERR_SYNTAX, "UTF-8");
  CHECK_ERROR(h, tally_format_source(h->vm, "/nosuch.tly", NULL, 0, &laid),
              TALLY_ERR_IO, "nosuch");
}

// Compares the records of a list, the first [count] of the fields a record, and
// gives the list up.
static void expect_records(host *h, tally_value found,
                           const char *const *fields, size_t count,
                           const char *expected) {
  tally_value shown, item;
  char all[900] = "";
  for (size_t i = 0; i < tally_length(h->vm, found); i++) {
    assert_int_equal(tally_item(h->vm, found, i, &item), TALLY_OK);
    for (size_t k = 0; k < count; k++) {
      tally_value field;
      const char *text;
      assert_int_equal(tally_field(h->vm, item, fields[k], &field), TALLY_OK);
      assert_int_equal(tally_format(h->vm, field, &shown), TALLY_OK);
      assert_int_equal(tally_to_string(h->vm, shown, &text, NULL), TALLY_OK);
      snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", text,
               k + 1 == count ? "; " : " ");
      tally_release(h->vm, shown);
      tally_release(h->vm, field);
    }
    tally_release(h->vm, item);
  }
  tally_release(h->vm, found);
  assert_string_equal(all, expected);
}

static void expect_findings(host *h, const char *source, const char *expected) {
  static const char *const fields[] = {"kind",  "line", "column",
                                       "begin", "end",  "message"};
  tally_value found;
  assert_int_equal(
      tally_check_source(h->vm, "w.tly", source, strlen(source), &found),
      TALLY_OK);
  expect_records(h, found, fields, 6, expected);
}

static void expect_places(host *h, const char *source, const char *expected) {
  static const char *const fields[] = {"begin", "end",       "home", "role",
                                       "file",  "is_global", "of"};
  tally_value found;
  assert_int_equal(
      tally_resolve_source(h->vm, "w.tly", source, strlen(source), &found),
      TALLY_OK);
  expect_records(h, found, fields, 7, expected);
}

static void test_places(void **state) {
  host *h = *state;
  tally_value found;
  expect_places(h, "fn f(n: 1) = n\nn = f(n: 2) + sum(nosuch)\n",
                "3 4 3 write  true ; 5 6 5 write  false f; "
                "13 14 5 read  false f; 15 16 15 write  true ; "
                "19 20 3 read  true ; 21 22 5 read  false f; ");
  expect_places(h, "import \"a.tly\" as m\nimport \"b.tly\" (c)\nm.x + c.y",
                "18 19 18 write  true ; 36 37 36 import b.tly true ; "
                "39 40 18 read  true ; 41 42 41 member a.tly false ; "
                "45 46 36 import b.tly true ; ");
  // Which parameter an argument of another file's function is, that says.
  expect_places(h,
                "import \"a.tly\" as m\nimport \"b.tly\" (c)\nm.f(n: c(k: 1))",
                "18 19 18 write  true ; 36 37 36 import b.tly true ; "
                "39 40 18 read  true ; 41 42 41 member a.tly false ; "
                "43 44 43 argument a.tly false f; 46 47 36 import b.tly true ; "
                "48 49 48 argument b.tly false c; ");
  expect_places(h, "import linalg as la\nla.norm",
                "17 19 17 write  true ; 20 22 17 read  true ; ");
  expect_places(h, "", "");
  CHECK_ERROR(h, tally_resolve_source(h->vm, "w", "x =", 3, &found),
              TALLY_ERR_SYNTAX, "");
}

static void test_findings(void **state) {
  host *h = *state;
  expect_findings(
      h,
      "import linalg\nfn f(x) {\n  y = 3\n  return x\n  print(x)\n}\n"
      "fn g(a) {\n  _b = 1\n  c = 2\n  () => c\n}\nz = 1\n",
      "warning 1 8 7 13 linalg is never read; "
      "warning 3 3 26 27 y is never read; "
      "warning 5 3 45 53 this is never reached; ");
  expect_findings(h, "print(1)", "");
  expect_findings(h,
                  "for i, x in (\"a\", ()) { print(i, x) }\n"
                  "for i, x in ((1, 2), \"a\") { print(i, x) }\n"
                  "for x in (1, \"a\") { print(x, typeof(x) == \"list\") }\n"
                  "print(\"int8\" != typeof(1), typeof(1) == `int8`)",
                  "warning 1 14 13 16 2 names take an item apart, and this is "
                  "one value; enumerate(xs) counts items; "
                  "warning 2 22 59 62 2 names take an item apart, and this is "
                  "one value; enumerate(xs) counts items; "
                  "warning 3 43 122 128 a type never equals a text: write "
                  "`list`, in backquotes; "
                  "warning 4 7 138 144 a type never equals a text: write "
                  "`int8`, in backquotes; ");
  // A function of the script's own, called so; kinds of items that fit.
  expect_findings(h,
                  "fn typeof(x) = \"a\"\nprint(typeof(1) == \"a\")\n"
                  "for a, b in ((1, 2), [3, 4]) { print(a, b) }",
                  "");
  expect_findings(h, "x = nosuch\ny = sin(1, 2)\n",
                  "name 1 5 4 10 nosuch is not defined; "
                  "type 2 12 22 23 sin takes 1 argument by position (x); ");
  expect_findings(h, "x = (1", "syntax 1 5 4 5 this `(` is never closed; ");
  // Names of other texts do not count.
  run(h, "other = 1");
  expect_findings(h, "wholly = 1", "");
  expect_findings(h, "x = wholly + other",
                  "name 1 5 4 10 wholly is not defined; "
                  "name 1 14 13 18 other is not defined; ");
  tally_value found;
  CHECK_ERROR(h, tally_check_source(h->vm, "w", "\xff", 1, &found),
              TALLY_ERR_SYNTAX, "UTF-8");
}

static void negate(void *context, size_t n, const void *const *inputs,
                   const ptrdiff_t *steps, void *output) {
  (void)context;
  for (size_t i = 0; i < n; i++)
    ((double *)output)[i] =
        -*(const double *)((const char *)inputs[0] + (ptrdiff_t)i * steps[0]);
}

// Of what is made of literals, functions that only compute, and variables with
// one such value: the innermost part that fails.
static void test_certain_errors(void **state) {
  host *h = *state;
  expect_findings(h,
                  "x = [1, 2, 3]\nfn f(y) = y + (x * sum([1, 2]) + [1, 2])\n",
                  "shape 2 32 28 54 3 * int64 and 2 * int64 do not broadcast: "
                  "axis 0 is 3 against 2; ");
  expect_findings(h, "n = 2\nm = n * 2\nprint([1, 2] |> reshape((m,)))",
                  "shape 3 17 22 45 reshape: 2 * int64 has 2 items, which do "
                  "not fill (4,); ");
  expect_findings(h, "print(sqrt(\"a\"))",
                  "type 1 7 6 15 sqrt needs numbers: got string; ");
  expect_findings(h, "print([(k[0], zeros(3)[3]) for k in ([1],)])",
                  "index 1 23 14 25 index 3 is out of range for axis 0 with "
                  "size 3; ");
  // Its value is another later, it depends on the run, or it is meant to fail;
  // and nothing that acts is computed.
  expect_findings(h,
                  "x = [1, 2]\nx[0] = 1\nprint(x + [1, 2, 3])\n"
                  "y = [1, 2]\ny = append(y, 3)\nprint(y + [1, 2, 3])\n"
                  "fn f(z) = z + [1, 2, 3]\nz = [1, 2]\nprint(f([1, 2, 3]))",
                  "");
  expect_findings(h,
                  "try { print(1 + \"a\") } catch { print(2) }\n"
                  "error(\"stop\", kind: \"type\")\nassert(1 == [1, 2])",
                  "");
  // It is asked before whether it would fail, and what a call is given may be
  // meant to.
  expect_findings(h,
                  "x = []\nn = len(x)\nif n > 0 { print(x[0]) }\n"
                  "y = []\nprint(len(y) > 0 and y[0] > 1)\n"
                  "z = []\nfor a in z { print(a, z[0]) }\n"
                  "fails = test => 1\nprint(fails(() => [1, 2][5]))",
                  "");
  // What the host has added is not known where expressions are computed.
  tally_native function = {.name = "negated_by_host",
                           .params = "x",
                           .signature = "(float64) -> float64",
                           .loop = negate};
  tally_module module = {.size = sizeof module,
                         .functions = &function,
                         .function_count = 1,
                         .function_size = sizeof function};
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  expect_findings(h, "print(negated_by_host(1.5))", "");
  // What is too large here may fit elsewhere.
  expect_findings(h, "print(zeros(100000000).nosuch)", "");
}

static void test_everything_is_documented(void **state) {
  host *h = *state;
  char name[256];
  size_t count = 0;
  for (const char *each; (each = tally_documented(h->vm, count)) != NULL;) {
    snprintf(name, sizeof name, "%s", each);
    const char *text = tally_documentation(h->vm, name);
    if (text == NULL || *text == 0)
      fail_msg("%s", name);
    count++;
  }
  assert_true(count > 150);
  assert_null(tally_documented(h->vm, SIZE_MAX));
  assert_null(tally_documentation(h->vm, "nosuch"));
}

static void test_counters_are_set_back(void **state) {
  host *h = *state;
  tally_stats s;
  tally_count(h->vm, 1);
  run_ok(h, "x = zeros(1000)\ny = x + 1\ny = none");
  tally_get_stats(h->vm, &s);
  assert_true(s.allocs >= 2 && s.frees >= 1);
  assert_true(s.peak_bytes >= s.live_bytes && s.live_bytes > 8000);
  assert_int_equal(s.rc_immortal_touched, 0);
  uint64_t live = s.live, live_bytes = s.live_bytes;
  tally_reset_stats(h->vm);
  tally_get_stats(h->vm, &s);
  assert_int_equal(s.allocs, 0);
  assert_int_equal(s.live, live);
  assert_int_equal(s.live_bytes, live_bytes);
  assert_int_equal(s.peak_bytes, live_bytes);
}

static void test_trim_gives_memory_back(void **state) {
  host *h = *state;
  run_ok(h, "for i in 1..20 { x = zeros(1000 * i) + 1 }\nx = none");
  tally_trim(h->vm);
  assert_int_equal(tally_trim(h->vm), 0);
  check_value(h, "sum(zeros(5000) + 1)", "5000.0");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_eval_goes_on_where_it_was),
      HOST_TEST(test_a_failed_eval_keeps_what_was_done),
      HOST_TEST(test_scripts_have_arguments),
      HOST_TEST(test_source_is_nbytes_long),
      HOST_TEST(test_files_run),
      HOST_TEST(test_calls_by_name),
      HOST_TEST(test_names_of_the_library),
      HOST_TEST(test_calls_do_not_change_arguments),
      HOST_TEST(test_a_call_may_rebind_its_own_name),
      HOST_TEST(test_closures_are_values),
      HOST_TEST(test_compiled_once_called_often),
      HOST_TEST(test_output_that_is_refused),
      PLAIN_TEST(test_modules_of_the_host),
      HOST_TEST(test_an_error_says_all_of_it),
      HOST_TEST(test_errors_stay_until_the_next),
      HOST_TEST(test_each_kind_has_its_status),
      HOST_TEST(test_a_script_ends_itself_and_nothing_else),
      HOST_TEST(test_no_function_of_the_host_keeps_a_script_from_ending),
      HOST_TEST(test_standard_output_is_the_write_hook),
      PLAIN_TEST(test_without_files_there_is_no_standard_input),
      HOST_TEST(test_up_to_twenty_syntax_errors),
      HOST_TEST(test_a_prompt_shows_values),
      HOST_TEST(test_input_is_whole_or_not),
      HOST_TEST(test_words_are_completed),
      HOST_TEST(test_listings),
      HOST_TEST(test_layout),
      HOST_TEST(test_findings),
      HOST_TEST(test_certain_errors),
      HOST_TEST(test_places),
      HOST_TEST(test_everything_is_documented),
      HOST_TEST(test_counters_are_set_back),
      HOST_TEST(test_trim_gives_memory_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
