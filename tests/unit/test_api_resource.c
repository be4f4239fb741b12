// tally.h: values of the host's own types, and when they end (case L15
// of tests/counting).

#include <stdio.h>

#include "tests/unit/host.h"

// A token: its name, and a log of who was made and released in which order.
typedef struct tokens {
  host *h;
  char log[512];
  int made, released;
  size_t nbytes;  // of each
  bool deny;      // the next release hook tries to use the VM
} tokens;

typedef struct token {
  char name[16];
  tally_value held;  // released with it
} token;

static void let_go(void *context, void *object) {
  tokens *all = context;
  token *t = object;
  all->released++;
  if (t->name[0] != 0)
    strcat(strcat(all->log, t->name), " ");
  if (all->deny) {
    tally_value out;
    assert_int_equal(tally_eval(all->h->vm, "1", NULL), TALLY_ERR_HOST);
    assert_int_equal(tally_from_int(all->h->vm, 1, &out), TALLY_ERR_HOST);
    assert_int_equal(tally_close(all->h->vm), 0);
  }
  tally_release(all->h->vm, t->held);
  free(t);
}

static size_t nbytes_of(void *context, void *object) {
  (void)object;
  return ((tokens *)context)->nbytes;
}

static tally_status repr(tally_vm *vm, void *context, void *object,
                         tally_value *out) {
  (void)context;
  token *t = object;
  return tally_from_string(vm, t->name, strlen(t->name), out);
}

static tally_status attribute(tally_vm *vm, void *context, void *object,
                              const char *name, tally_value *out) {
  tokens *all = context;
  token *t = object;
  if (strcmp(name, "name") == 0)
    return tally_from_string(vm, t->name, strlen(t->name), out);
  if (strcmp(name, "bad") == 0)
    return tally_raise(vm, TALLY_ERR_DOMAIN, "%s is bad", t->name);
  if (strcmp(name, "runs") == 0)
    return tally_eval(all->h->vm, "x = 1", NULL);
  if (strcmp(name, "sets") == 0) {
    tally_value v;
    tally_from_int(vm, 1, &v);
    return tally_move_global(vm, "x", v);
  }
  return TALLY_OK;  // declines
}

static tally_status item(tally_vm *vm, void *context, void *object,
                         size_t count, const tally_value *indices,
                         tally_value *out) {
  (void)context;
  token *t = object;
  int64_t i;
  // A slice is shown as the hook gets it, and so is an ellipsis in front.
  if (strcmp(tally_type(vm, indices[count - 1]), "record") == 0)
    return count == 1 ? tally_format(vm, indices[0], out)
                      : tally_from_list(vm, count, indices, out);
  tally_status status = tally_to_int(vm, indices[count - 1], &i);
  if (status != TALLY_OK)
    return status;
  if (i < 0 || i >= (int64_t)strlen(t->name))
    return tally_raise(vm, TALLY_ERR_INDEX, "letter %d", (int)i);
  return tally_from_string(vm, t->name + i, 1, out);
}

// for letter in t: an exclamation mark is refused, in more or as an item.
static tally_status has_letter(tally_vm *vm, void *context, void *object,
                               size_t at, int *more) {
  (void)context;
  token *t = object;
  *more = at < strlen(t->name);
  return *more && t->name[at] == '!' ? tally_raise(vm, TALLY_ERR_DOMAIN, "loud")
                                     : TALLY_OK;
}

static tally_status letter(tally_vm *vm, void *context, void *object, size_t at,
                           tally_value *out) {
  (void)context;
  token *t = object;
  return t->name[at] == '?' ? tally_raise(vm, TALLY_ERR_DOMAIN, "unsure")
                            : tally_from_string(vm, t->name + at, 1, out);
}

static tally_status copy_of(tally_vm *vm, const token *t, tally_value *out);

// t[i] = "x": a letter of the name, in place or in a copy.
static tally_status put(tally_vm *vm, void *context, void *object, int alone,
                        size_t count, const tally_value *indices,
                        tally_value value, tally_value *out) {
  (void)context;
  token *t = object;
  int64_t i;
  const char *letter;
  tally_status status = tally_to_int(vm, indices[count - 1], &i);
  if (status == TALLY_OK)
    status = tally_to_string(vm, value, &letter, NULL);
  if (status != TALLY_OK)
    return status;
  if (i < 0 || i >= (int64_t)strlen(t->name))
    return tally_raise(vm, TALLY_ERR_INDEX, "letter %d", (int)i);
  char before = t->name[i];
  t->name[i] = letter[0];
  if (alone)
    return TALLY_OK;
  status = copy_of(vm, t, out);
  t->name[i] = before;
  return status;
}

static tally_status call(tally_vm *vm, void *context, void *object,
                         size_t count, const tally_value *args,
                         tally_value *out) {
  (void)context;
  (void)object;
  return tally_call(vm, "add", (int)count, args, out);
}

// The arguments by position, and behind them those by name as text.
static tally_status call_named(tally_vm *vm, void *context, void *object,
                               size_t count, const tally_value *args,
                               tally_value named, tally_value *out) {
  tally_value all[5];
  (void)context;
  (void)object;
  for (size_t i = 0; i < count && i < 4; i++) all[i] = args[i];
  tally_status status = tally_format(vm, named, &all[count]);
  if (status != TALLY_OK)
    return status;
  status = tally_from_list(vm, count + 1, all, out);
  tally_release(vm, all[count]);
  return status;
}

static tally_status operate(tally_vm *vm, void *context, const char *op,
                            size_t count, const tally_value *operands,
                            tally_value *out);

static tokens all;
static const tally_resource type = {.size = sizeof type,
                                    .name = "token",
                                    .doc = "A token.",
                                    .context = &all,
                                    .release = let_go,
                                    .nbytes = nbytes_of,
                                    .repr = repr,
                                    .attribute = attribute,
                                    .index = item,
                                    .call = call,
                                    .operate = operate,
                                    .put = put,
                                    .call_named = call_named,
                                    .more = has_letter,
                                    .next = letter};
// Of a host that was compiled before there were calls by name.
static const tally_resource old = {.size = offsetof(tally_resource, call_named),
                                   .name = "old",
                                   .context = &all,
                                   .release = let_go,
                                   .call = call,
                                   .call_named = call_named};
static const tally_resource bare = {
    .size = sizeof bare, .name = "bare", .context = &all, .release = let_go};

static tally_status make(tally_vm *vm, const tally_resource *of,
                         const char *name, tally_value *out) {
  token *t = calloc(1, sizeof *t);
  if (t == NULL)
    return TALLY_ERR_MEMORY;
  snprintf(t->name, sizeof t->name, "%s", name);
  tally_status status = tally_from_resource(vm, of, t, out);
  if (status != TALLY_OK)
    free(t);
  else
    all.made++;
  return status;
}

static tally_status copy_of(tally_vm *vm, const token *t, tally_value *out) {
  return make(vm, &type, t->name, out);
}

static tally_status operate(tally_vm *vm, void *context, const char *op,
                            size_t count, const tally_value *operands,
                            tally_value *out) {
  (void)context;
  char name[16] = "";
  if (strcmp(op, "+") != 0 && strcmp(op, "-") != 0 &&
      (strcmp(op, "@") != 0 || strcmp(tally_type(vm, operands[1]), "token")))
    return TALLY_OK;
  for (size_t i = 0; i < count; i++) {
    void *object;
    tally_status status = tally_to_resource(vm, operands[i], &type, &object);
    if (status != TALLY_OK)
      return status;
    strcat(name, ((token *)object)->name);
  }
  if (count == 1)
    strcat(name, "-");
  return make(vm, &type, name, out);
}

static tally_status make_token(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  (void)count;
  const char *name;
  tally_status status = tally_to_string(vm, args[0], &name, NULL);
  return status != TALLY_OK ? status : make(vm, context, name, out);
}

static const tally_native functions[] = {
    {.name = "T",
     .params = "name",
     .call = make_token,
     .context = (void *)(uintptr_t)&type},
    {.name = "B",
     .params = "name",
     .call = make_token,
     .context = (void *)(uintptr_t)&bare},
    {.name = "O",
     .params = "name",
     .call = make_token,
     .context = (void *)(uintptr_t)&old},
};

static int set_up(void **state) {
  if (host_set_up(state) != 0)
    return 1;
  host *h = *state;
  all = (tokens){.h = h};
  tally_module module = {sizeof module, NULL, NULL,
                         functions,     3,    sizeof *functions};
  return tally_add_module(h->vm, &module) != TALLY_OK;
}

static int tear_down(void **state) {
  int failed = host_tear_down(state);
  return failed || all.made != all.released;
}

#define TOKEN_TEST(name)                                    \
  cmocka_unit_test_setup_teardown(name, set_up, tear_down), \
      REFUSED_TEST(name, set_up, tear_down)

static void check_log(const char *expected) {
  assert_string_equal(all.log, expected);
  all.log[0] = 0;
}

// --- The end ----------------------------------------------------------------

static void test_l15_left_then_right_before_the_next_statement(void **state) {
  host *h = *state;
  run_ok(h, "z = T(\"x\") + T(\"y\")");
  assert_int_equal(all.made, 3);
  assert_int_equal(all.released, 2);
  check_log("x y ");
  run_ok(h, "z = none");
  check_log("xy ");
  static const char function[] =
      "fn f() {\n"
      "  z = T(\"x\") + T(\"y\")\n"
      "  print(z)\n"
      "  T(\"later\")\n"
      "  1\n"
      "}\n"
      "f()";
  run_ok(h, function);
  check_log("x y xy later ");
}

static void test_the_end_is_the_last_use(void **state) {
  host *h = *state;
  run_ok(h,
         "fn f(c) {\n"
         "  a = T(\"a\")\n"
         "  b = T(\"b\")\n"
         "  n = len(a.name) + len(b.name)\n"
         "  T(\"c\")\n"
         "  if c { n = n + len(T(\"d\").name) }\n"
         "  n\n"
         "}");
  run_ok(h, "f(true)");
  check_log("a b c d ");
  run_ok(h, "f(false)");
  check_log("a b c ");
  run_ok(h, "for i in 0..3 { t = T(\"t{i}\") }");
  check_log("t0 t1 ");
  run_ok(h, "t = 1");
  check_log("t2 ");
  run_ok(h, "l = (T(\"p\"), T(\"q\"), T(\"r\"))\nl[1] = 5");
  check_log("q ");
  run_ok(h, "l = none");
  check_log("p r ");
  run_ok(h, "k = T(\"k\")\ng = () => k\nk = none");
  check_log("k ");
}

static void test_errors_release_too(void **state) {
  host *h = *state;
  run_ok(h, "fn f() {\n  a = T(\"a\")\n  b = a + T(\"b\")\n  [1][9]\n  b\n}");
  CHECK_ERROR(h, tally_eval(h->vm, "f()", NULL), TALLY_ERR_INDEX, "9");
  assert_int_equal(all.made, all.released);
  all.log[0] = 0;
  run_ok(h, "try { f() } catch { 0 }");
  assert_int_equal(all.made, all.released);
  CHECK_ERROR(h, tally_eval(h->vm, "T(\"x\").bad", NULL), TALLY_ERR_DOMAIN,
              "x is bad");
  CHECK_ERROR(h, tally_eval(h->vm, "T(\"x\") + 1", NULL), TALLY_ERR_TYPE,
              "token");
  CHECK_ERROR(h, tally_eval(h->vm, "(T(\"x\"), [1][2])", NULL), TALLY_ERR_INDEX,
              "");
  assert_int_equal(all.made, all.released);
}

static void test_closing_releases_the_rest(void **state) {
  host *h = *state;
  run_ok(h, "x = T(\"x\")\ny = (T(\"y\"), T(\"z\"))");
  tally_value v;
  assert_int_equal(make(h->vm, &type, "held", &v), TALLY_OK);
  assert_int_equal(tally_close(h->vm), 1);
  assert_int_equal(all.made, all.released);
  host_open(h, &(tally_options){0});
  tally_close(h->vm);
  tally_options options = host_options(h);
  host_open(h, &options);
}

// A token that has a handle to another.
static tally_value make_nested(host *h) {
  tally_value inner, outer;
  void *object;
  assert_int_equal(make(h->vm, &type, "in", &inner), TALLY_OK);
  assert_int_equal(make(h->vm, &type, "out", &outer), TALLY_OK);
  assert_int_equal(tally_to_resource(h->vm, outer, &type, &object), TALLY_OK);
  ((token *)object)->held = inner;
  return outer;
}

static void test_a_release_may_release_values(void **state) {
  host *h = *state;
  tally_value outer = make_nested(h);
  void *object;
  all.deny = true;
  tally_release(h->vm, outer);
  check_log("out in ");
  // A chain of many takes no stack.
  tally_value last = {0, 0};
  all.deny = false;
  for (int i = 0; i < 100000; i++) {
    assert_int_equal(make(h->vm, &bare, "", &outer), TALLY_OK);
    assert_int_equal(tally_to_resource(h->vm, outer, &bare, &object), TALLY_OK);
    ((token *)object)->held = last;
    last = outer;
  }
  tally_release(h->vm, last);
  assert_int_equal(all.made, all.released);
}

// A variable of the script's has a token that has a handle: the host forgot
// none.
static void test_closing_counts_what_the_host_forgot(void **state) {
  host *h = *state;
  tally_value outer = make_nested(h);
  assert_int_equal(tally_move_global(h->vm, "x", outer), TALLY_OK);
  assert_int_equal(tally_close(h->vm), 0);
  check_log("out in ");
  tally_options options = host_options(h);
  host_open(h, &options);
}

// Handles that the host forgot, of which one is released by the other's end.
static void test_closing_ends_each_once(void **state) {
  host *h = *state;
  make_nested(h);
  assert_int_equal(tally_close(h->vm), 2);
  check_log("in out ");
  tally_options options = host_options(h);
  host_open(h, &options);
}

// --- Hooks ------------------------------------------------------------------

static void test_hooks_answer(void **state) {
  host *h = *state;
  check_value(h, "T(\"abc\")", "abc");
  check_value(h, "(T(\"abc\"), 1)", "(abc, 1)");
  check_value(h, "B(\"abc\")", "<bare>");
  check_value(h, "T(\"abc\").name", "abc");
  check_value(h, "T(\"abc\")[1]", "b");
  check_value(h, "T(\"abc\")[0, 2]", "c");
  check_value(h, "T(\"abc\")[1:]", "(start: 1, stop: none, step: none)");
  check_value(h, "T(\"abc\")[:2:3]", "(start: none, stop: 2, step: 3)");
  check_value(h, "T(\"abc\")[..., 1, 2:3]",
              "(\"...\", 1, (start: 2, stop: 3, step: none))");
  check_value(h, "T(\"a\") @ T(\"b\")", "ab");
  run_ok(h, "fn add(x, y) = x + y");
  check_value(h, "t = T(\"abc\")\nt(1, 2)", "3");
  check_value(h, "t = O(\"abc\")\nt(1, ...(2,))", "3");
  check_value(h, "t = T(\"abc\")\nt(1, x: 2, ...(3, 4), ...(y: 5))",
              "(1, 3, 4, \"(x: 2, y: 5)\")");
  check_value(h, "t = T(\"a\")\n-t", "a-");
  check_value(h, "t = T(\"a\")\nt + T(\"b\") + t", "aba");
  check_value(h, "t = T(\"a\")\n(t == t, t == T(\"a\"), t != 1)",
              "(true, false, true)");
  check_value(h, "each((T(\"a\"), T(\"b\")), x => x.name)", "(\"a\", \"b\")");
  check_value(h, "t = none", "none");
}

static void check_output(host *h, const char *expected) {
  assert_string_equal(h->output, expected);
  h->output[h->length = 0] = 0;
}

// An item is set in place at the only owner's, else in a copy; no failure
// changes the value.
static void test_items_are_set(void **state) {
  host *h = *state;
  run_ok(h, "t = T(\"ab\")\nt[1] = \"x\"\nt[0] = \"y\"");
  assert_int_equal(all.made, 1);
  run_ok(h, "u = t\nu[0] = \"z\"\nprint(t, u)");
  check_output(h, "yx zx\n");
  assert_int_equal(all.made, 2);
  run_ok(h, "r = (a: (t, u))\nr.a[1][0] = \"q\"\nprint(r, u)");
  check_output(h, "(a: (yx, qx)) zx\n");
  run_ok(h, "fn f(x) { x[0] = x[1]; x }\nprint(f(u), u, f(T(\"cd\")))");
  check_output(h, "xx zx dd\n");
  CHECK_ERROR(h, tally_eval(h->vm, "u[5] = \"q\"", NULL), TALLY_ERR_INDEX,
              "letter 5");
  CHECK_ERROR(h, tally_eval(h->vm, "r.a[1][0] = 1", NULL), TALLY_ERR_TYPE,
              "string");
  CHECK_ERROR(h, tally_eval(h->vm, "u.name = \"q\"", NULL), TALLY_ERR_TYPE,
              "token has no fields to set");
  CHECK_ERROR(h, tally_eval(h->vm, "u[0][0] = \"q\"", NULL), TALLY_ERR_TYPE,
              "the characters of a string cannot be set");
  CHECK_ERROR(h, tally_eval(h->vm, "b = B(\"b\")\nb[0] = 1", NULL),
              TALLY_ERR_TYPE, "bare has no items to set");
  run_ok(h, "print(r, u)");
  check_output(h, "(a: (yx, qx)) zx\n");
}

static void test_items_are_walked(void **state) {
  host *h = *state;
  run_ok(h, "t = T(\"ab\")\nfor a in t { for b in t { print(a, b) } }");
  check_output(h, "a a\na b\nb a\nb b\n");
  run_ok(h,
         "print((a for a in T(\"xyz\") if a != \"y\"), [a for a in T(\"\")])");
  check_output(h, "(\"x\", \"z\") []\n");
  check_value(h, "try { for a in T(\"a!\") { } } catch e { e.message }",
              "loud");
  check_value(h, "try { (a for a in T(\"a?\")) } catch e { e.kind }", "domain");
}

static void test_hooks_refuse(void **state) {
  host *h = *state;
  static const struct {
    const char *source, *part;
    tally_status status;
  } cases[] = {
      {"T(\"a\").nosuch", "token has no field nosuch", TALLY_ERR_NAME},
      {"B(\"a\").name", "bare has no field name", TALLY_ERR_NAME},
      {"B(\"a\")[0]", "bare cannot be indexed", TALLY_ERR_TYPE},
      {"B(\"a\")(0)", "bare", TALLY_ERR_TYPE},
      {"B(\"a\") + 1", "bare", TALLY_ERR_TYPE},
      {"1 + B(\"a\")", "bare", TALLY_ERR_TYPE},
      {"-B(\"a\")", "bare", TALLY_ERR_TYPE},
      {"T(\"a\") * T(\"b\")", "token", TALLY_ERR_TYPE},
      {"T(\"a\") < 1", "token", TALLY_ERR_TYPE},
      {"T(\"a\")[5]", "letter 5", TALLY_ERR_INDEX},
      {"T(\"a\")[\"x\"]", "integer", TALLY_ERR_TYPE},
      {"T(\"a\") @ 1", "token", TALLY_ERR_TYPE},
      {"O(\"a\")(x: 1)", "by position", TALLY_ERR_TYPE},
      {"T(\"a\")(x: 1, ...(x: 2))", "given twice", TALLY_ERR_TYPE},
      {"T(\"a\").runs", "may not run", TALLY_ERR_HOST},
      {"T(\"a\").sets", "may not run", TALLY_ERR_HOST},
      {"t = T(\"a\")\nt.name = 1", "", TALLY_ERR_NAME},
      {"t = T(\"a\")\nt[0] = 1", "", TALLY_ERR_TYPE},
      {"if T(\"a\") { 1 }", "token", TALLY_ERR_TYPE},
      {"for x in B(\"a\") { }", "bare", TALLY_ERR_TYPE},
      {"[T(\"a\")]", "token", TALLY_ERR_TYPE},
      {"zeros(T(\"a\"))", "token", TALLY_ERR_TYPE},
      {"sum(T(\"a\"))", "token", TALLY_ERR_TYPE},
      {"sort((T(\"b\"), T(\"a\")))", "token", TALLY_ERR_TYPE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tally_status status = tally_eval(h->vm, cases[i].source, NULL);
    if (status == TALLY_OK ||
        strstr(tally_error(h->vm)->message, cases[i].part) == NULL)
      fail_msg("%s: %s", cases[i].source, tally_error(h->vm)->report);
  }
  run_ok(h, "t = none");
  assert_int_equal(all.made, all.released);
}

static void test_types_are_told_apart(void **state) {
  host *h = *state;
  tally_value t, b, n;
  void *object = NULL;
  assert_int_equal(make(h->vm, &type, "t", &t), TALLY_OK);
  assert_int_equal(make(h->vm, &bare, "b", &b), TALLY_OK);
  assert_int_equal(tally_from_int(h->vm, 1, &n), TALLY_OK);
  assert_string_equal(tally_type(h->vm, t), "token");
  assert_int_equal(tally_to_resource(h->vm, t, &type, &object), TALLY_OK);
  assert_string_equal(((token *)object)->name, "t");
  CHECK_ERROR(h, tally_to_resource(h->vm, b, &type, &object), TALLY_ERR_TYPE,
              "bare");
  CHECK_ERROR(h, tally_to_resource(h->vm, n, &type, &object), TALLY_ERR_TYPE,
              "int64");
  CHECK_ERROR(h, tally_to_resource(h->vm, t, NULL, &object), TALLY_ERR_HOST,
              "NULL");
  CHECK_ERROR(h, tally_to_resource(h->vm, t, &type, NULL), TALLY_ERR_HOST,
              "NULL");
  CHECK_ERROR(h, tally_from_resource(h->vm, NULL, NULL, &n), TALLY_ERR_HOST,
              "NULL");
  tally_resource nameless = {.size = sizeof nameless};
  CHECK_ERROR(h, tally_from_resource(h->vm, &nameless, NULL, &n),
              TALLY_ERR_HOST, "name");
  tally_release(h->vm, t);
  tally_release(h->vm, b);
  tally_release(h->vm, n);
  CHECK_ERROR(h, tally_to_resource(h->vm, t, &type, &object), TALLY_ERR_HOST,
              "released");
}

// --- Accounting -------------------------------------------------------------

static void test_their_bytes_count(void **state) {
  host *h = *state;
  tally_stats stats;
  all.nbytes = 1000000;
  run_ok(h, "t = T(\"t\")");
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.ext_bytes, 1000000);
  run_ok(h, "t = none");
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.ext_bytes, 0);
  assert_int_equal(stats.ext_peak_bytes, 1000000);
  // They are in the recording of a run.
  run_ok(h, "import memory\nt = memory.timeline(() => T(\"t\").name)");
  run_ok(h, "assert(t.peak - t.before >= 1000000 and t.after < 1000000)");
  run_ok(h, "m = memory.measure(() => T(\"t\").name)");
  run_ok(h, "assert(m.ext_peak_bytes == 1000000 and m.ext_bytes == 0)");
  tally_reset_stats(h->vm);
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.ext_peak_bytes, 0);
  host_close(h);
  tally_options options = host_options(h);
  options.memory_limit = 4200000;
  host_open(h, &options);
  tally_value v[8];
  int count = 0;
  tally_status status = TALLY_OK;
  while (count < 8 && status == TALLY_OK) {
    status = make(h->vm, &type, "big", &v[count]);
    count += status == TALLY_OK;
  }
  assert_int_equal(status, TALLY_ERR_MEMORY);
  assert_int_equal(count, 4);
  while (count > 0) tally_release(h->vm, v[--count]);
}

static void test_many_are_flat(void **state) {
  host *h = *state;
  tally_stats before, after;
  tally_get_stats(h->vm, &before);
  for (int i = 0; i < 100; i++) {
    run_ok(h, "fn f(a) = a.name\nx = f(T(\"a\") + T(\"b\"))");
    all.log[0] = 0;
  }
  run_ok(h, "x = none\nf = none");
  tally_get_stats(h->vm, &after);
  assert_int_equal(all.made, all.released);
  assert_int_equal(after.ext_bytes, before.ext_bytes);
}

// --- What resources hold ----------------------------------------------------

// An object that keeps up to two values, and whose end may fail.
typedef struct keeper {
  tally_value held[2];
  size_t count, device, nbytes;
  const char *failure;
} keeper;

static tally_vm *keepers_vm;
static char reported[200];

static void show_held(void *context, void *object, tally_see *see, void *to) {
  (void)context;
  keeper *k = object;
  for (size_t i = 0; i < k->count; i++) see(to, k->held[i]);
}

static const char *finish(void *context, void *object) {
  (void)context;
  return ((keeper *)object)->failure;
}

static size_t device_of(void *context, void *object) {
  (void)context;
  return ((keeper *)object)->device;
}

static size_t keeper_nbytes(void *context, void *object) {
  (void)context;
  return ((keeper *)object)->nbytes;
}

static void let_keeper_go(void *context, void *object) {
  (void)context;
  keeper *k = object;
  for (size_t i = 0; i < k->count; i++) tally_release(keepers_vm, k->held[i]);
  free(k);
}

// k(x): the keeper keeps x from now on.
static tally_status keep(tally_vm *vm, void *context, void *object,
                         size_t count, const tally_value *args,
                         tally_value *out) {
  (void)context, (void)out;
  keeper *k = object;
  for (size_t i = 0; i < count && k->count < 2; i++)
    k->held[k->count++] = tally_retain(vm, args[i]);
  return TALLY_OK;
}

static const tally_resource keeper_type = {
    .size = sizeof keeper_type,
    .name = "keeper",
    .release = let_keeper_go,
    .nbytes = keeper_nbytes,
    .call = keep,
    .visit = show_held,
    .finish = finish,
    .device = device_of,
};

// K(nbytes, device, fails)
static tally_status make_keeper(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  int64_t nbytes = 0, device = 0;
  int fails = 0;
  keeper *k = calloc(1, sizeof *k);
  if (k == NULL)
    return TALLY_ERR_MEMORY;
  tally_to_int(vm, args[0], &nbytes);
  tally_to_int(vm, args[1], &device);
  tally_to_bool(vm, args[2], &fails);
  k->nbytes = (size_t)nbytes;
  k->device = (size_t)device;
  k->failure = fails ? "the disk\nis full\xff" : NULL;
  tally_status status = tally_from_resource(vm, &keeper_type, k, out);
  if (status != TALLY_OK)
    free(k);
  return status;
}

static void hear(void *context, const char *text) {
  (void)context;
  snprintf(reported, sizeof reported, "%s", text);
}

// A VM with two devices and K.
static void open_keepers(host *h) {
  static const tally_device devices[] = {{"gpu 0", 1000}, {"gpu 1", 0}};
  static const tally_native k[] = {
      {.name = "K",
       .params = "nbytes = 0, device = 0, fails = false",
       .call = make_keeper}};
  const tally_module module = {sizeof module, NULL, NULL, k, 1, sizeof *k};
  tally_options options = host_options(h);
  options.device_count = 2;
  assert_int_equal(tally_open(&options, &keepers_vm), TALLY_ERR_HOST);
  static const tally_device nameless[] = {{NULL, 0}, {"gpu \xff", 0}};
  options.devices = nameless;
  assert_int_equal(tally_open(&options, &keepers_vm), TALLY_ERR_HOST);
  options.devices = devices;
  options.report = hear;
  host_close(h);
  host_open(h, &options);
  keepers_vm = h->vm;
  reported[0] = 0;
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  run_ok(h, "import memory");
}

static void test_what_a_resource_holds_is_seen(void **state) {
  host *h = *state;
  open_keepers(h);
  run_ok(h, "k = K(500)\nx = ones(1000)\nk(x)\nt = (k, x)");
  check_value(h, "memory.refs(k)[0].{place, type}",
              "(place: \"value 0\", type: \"1000 * float64\")");
  check_value(h, "sort((b.owner for b in memory.backrefs(x)))",
              "(\"[1] of a list\", \"value 0 of a keeper\", "
              "\"x of module main\")");
  run_ok(h, "x = none\nt = none");
  check_value(h, "memory.held(k) > 8500", "true");
  check_value(h, "memory.held(k) < 9000", "true");
  check_value(h, "\"1000 * float64\" in memory.graph(k, form: \"text\")",
              "true");
  check_value(h, "memory.circles()", "()");
  run_ok(h, "k = none");
}

static void test_a_circle_through_a_resource_is_told(void **state) {
  host *h = *state;
  open_keepers(h);
  run_ok(h, "k = K()\nl = (k, ones(100))\nk(l)");
  check_value(h, "memory.circles()", "()");
  run_ok(h, "k = none\nl = none");
  check_value(h, "len(memory.circles())", "1");
  check_value(h, "memory.chain(memory.circles()[0])[-1] != \"\"", "true");
  check_value(h,
              "\"value 0\" in memory.graph(memory.circles()[0], form: \"svg\")",
              "true");
  tally_value left, first, owner;
  const char *text;
  assert_int_equal(tally_left(h->vm, &left), TALLY_OK);
  assert_int_equal(tally_item(h->vm, left, 0, &first), TALLY_OK);
  assert_int_equal(tally_field(h->vm, first, "owner", &owner), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, owner, &text, NULL), TALLY_OK);
  assert_string_equal(text, "a keeper, in a circle");
  tally_release(h->vm, owner);
  tally_release(h->vm, first);
  tally_release(h->vm, left);
  // A circle that the host breaks is gone.
  tally_value k;
  void *object;
  assert_int_equal(tally_eval(h->vm, "memory.circles()[0]", &k), TALLY_OK);
  assert_int_equal(tally_to_resource(h->vm, k, &keeper_type, &object),
                   TALLY_OK);
  ((keeper *)object)->count = 0;
  tally_release(h->vm, ((keeper *)object)->held[0]);
  tally_release(h->vm, k);
  check_value(h, "memory.circles()", "()");
}

// Two resources keep each other; what one lets go of while the VM closes was
// left, too.
static void test_a_circle_over_two_resources_is_left(void **state) {
  host *h = *state;
  open_keepers(h);
  run_ok(h, "a = K()\nb = K()\na(b)\nb((a, 1))\na = none\nb = none");
  check_value(h, "len(memory.circles())", "1");
  tally_value left;
  assert_int_equal(tally_left(h->vm, &left), TALLY_OK);
  assert_int_equal(tally_length(h->vm, left), 2);
  tally_release(h->vm, left);
  assert_int_equal(tally_close(h->vm), 2);
  assert_int_equal(h->blocks, 0);
  assert_int_equal(tally_open(NULL, &h->vm), TALLY_OK);
}

static void test_an_end_that_fails_is_reported(void **state) {
  host *h = *state;
  open_keepers(h);
  run_ok(h, "k = K(0, 0, true)\nk2 = K()\nk2 = none");
  assert_string_equal(reported, "");
  run_ok(h, "k = none");
  assert_string_equal(reported, "keeper: the disk is full?");
}

static void test_devices_have_counts_and_limits(void **state) {
  host *h = *state;
  open_keepers(h);
  tally_device_stats d;
  run_ok(h, "a = K(600, 1)\nb = K(300, 1)\nc = K(5000, 2)");
  CHECK_ERROR(h, tally_eval(h->vm, "K(200, 1)", NULL), TALLY_ERR_MEMORY,
              "no memory on gpu 0: 200 bytes needed, 900 in use, the limit is "
              "1000");
  CHECK_ERROR(h, tally_eval(h->vm, "K(200, 3)", NULL), TALLY_ERR_HOST,
              "no device 3");
  run_ok(h, "b = none");
  check_value(h, "memory.devices()",
              "(\"gpu 0\": (bytes: 600, peak: 900, limit: 1000), \"gpu 1\": "
              "(bytes: 5000, peak: 5000, limit: none))");
  check_value(h, "memory.stats().ext_bytes", "0");
  assert_int_equal(tally_get_device(h->vm, 1, &d), TALLY_OK);
  assert_string_equal(d.name, "gpu 0");
  assert_int_equal(d.bytes, 600);
  assert_int_equal(d.peak, 900);
  assert_int_equal(d.limit, 1000);
  tally_reset_stats(h->vm);
  assert_int_equal(tally_get_device(h->vm, 1, &d), TALLY_OK);
  assert_int_equal(d.peak, 600);
  CHECK_ERROR(h, tally_get_device(h->vm, 3, &d), TALLY_ERR_HOST, "device 3");
}

static void test_a_library_counts_its_own_blocks(void **state) {
  host *h = *state;
  open_keepers(h);
  tally_device_stats d;
  tally_stats before, stats;
  char block;
  tally_get_stats(h->vm, &before);
  assert_int_equal(tally_account(h->vm, 0, &block, 5000), TALLY_OK);
  assert_int_equal(tally_account(h->vm, 1, &block, 700), TALLY_OK);
  CHECK_ERROR(h, tally_account(h->vm, 1, &block, 400), TALLY_ERR_MEMORY,
              "no memory on gpu 0");
  CHECK_ERROR(h, tally_account(h->vm, 3, &block, 1), TALLY_ERR_HOST,
              "no device 3");
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.ext_bytes, before.ext_bytes + 5000);
  assert_int_equal(tally_get_device(h->vm, 1, &d), TALLY_OK);
  assert_int_equal(d.bytes, 700);
  tally_unaccount(h->vm, 0, &block, 5000);
  tally_unaccount(h->vm, 1, &block, 700);
  // What is not counted, or nowhere, is left alone.
  tally_unaccount(h->vm, 1, &block, 1);
  tally_unaccount(h->vm, SIZE_MAX, &block, 1);
  tally_get_stats(h->vm, &stats);
  assert_int_equal(stats.ext_bytes, before.ext_bytes);
  assert_int_equal(tally_get_device(h->vm, 1, &d), TALLY_OK);
  assert_int_equal(d.bytes, 0);
}

static const tally_resource few = {.size = sizeof few,
                                   .name = "few",
                                   .context = &all,
                                   .release = let_go,
                                   .limit = 2};

static tally_status make_few(tally_vm *vm, void *context, size_t count,
                             const tally_value *args, tally_value *out) {
  (void)context, (void)count, (void)args;
  return make(vm, &few, "f", out);
}

static void test_a_type_has_a_limit(void **state) {
  host *h = *state;
  static const tally_native f[] = {
      {.name = "F", .params = "", .call = make_few}};
  const tally_module module = {sizeof module, NULL, NULL, f, 1, sizeof *f};
  static const char refused[] = "few: at most 2 at once";
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  tally_value a, b, c;
  assert_int_equal(make(h->vm, &few, "a", &a), TALLY_OK);
  assert_int_equal(make(h->vm, &few, "b", &b), TALLY_OK);
  CHECK_ERROR(h, make(h->vm, &few, "c", &c), TALLY_ERR_LIMIT, refused);
  CHECK_ERROR(h, tally_eval(h->vm, "F()", NULL), TALLY_ERR_LIMIT, refused);
  tally_release(h->vm, a);
  run_ok(h, "x = F()\nx = none");
  run_ok(h, "for i in 0..9 { x = none\nx = F() }");
  check_value(h, "try { F() } catch e { e.kind }", "limit");
  tally_release(h->vm, b);
  run_ok(h, "y = F()");
  // Another VM counts its own.
  tally_vm *other;
  assert_int_equal(tally_open(NULL, &other), TALLY_OK);
  assert_int_equal(make(other, &few, "a", &a), TALLY_OK);
  tally_release(other, a);
  assert_int_equal(tally_close(other), 0);
}

static void test_foreign_memory_is_told_by_type_and_device(void **state) {
  host *h = *state;
  open_keepers(h);
  char block;
  check_value(h, "memory.foreign()", "()");
  run_ok(h, "a = K(600, 1)\nb = K(300, 1)\nc = K(0)");
  assert_int_equal(tally_account(h->vm, 2, &block, 70), TALLY_OK);
  check_value(h, "memory.foreign()",
              "((type: \"keeper\", device: none, count: 1, bytes: 0), "
              "(type: \"keeper\", device: \"gpu 0\", count: 2, bytes: 900), "
              "(type: none, device: \"gpu 1\", count: none, bytes: 70))");
  run_ok(h, "a = none\nb = none\nc = none");
  tally_unaccount(h->vm, 2, &block, 70);
  check_value(h, "memory.foreign()", "()");
}

// What a plot says of a device, and of types of which one was there before.
static void test_devices_are_in_the_plot(void **state) {
  host *h = *state;
  open_keepers(h);
  static const char *const parts[][3] = {
      {"gpu 0: before 0 B, peak 800 B",
       "foreign keeper: before 500 B, peak 5.50 kB, after 500 B\n",
       "foreign keeper on gpu 0: before 0 B, peak 800 B, after 0 B\n"},
      {">gpu 0: 800 B<",
       ">foreign keeper: before 500 B, peak 5.50 kB, after 500 B<",
       ">foreign keeper on gpu 0: before 0 B, peak 800 B, after 0 B<"},
      {"\"name\":\"gpu 0\"",
       "{\"type\":\"keeper\",\"device\":null,\"before\":500,\"peak\":5500,"
       "\"after\":500}",
       "{\"type\":\"keeper\",\"device\":\"gpu 0\",\"before\":0,\"peak\":800,"
       "\"after\":0}"}};
  run_ok(h, "b = K(500)");
  for (int form = TALLY_PLOT_TEXT; form <= TALLY_PLOT_JSON; form++) {
    tally_value drawn;
    const char *text;
    assert_int_equal(tally_watch(h->vm, TALLY_WATCH_MEMORY), TALLY_OK);
    run_ok(h, "c = K(5000)\nc = none\na = K(800, 1)\na = none");
    run_ok(h, "x = ones(9000)\ny = ones(9000) + x[0]\nx = none\ny = none");
    assert_int_equal(
        tally_plot_memory(h->vm, (tally_plot_form)form, 80, &drawn), TALLY_OK);
    assert_int_equal(tally_to_string(h->vm, drawn, &text, NULL), TALLY_OK);
    for (int i = 0; i < 3; i++)
      if (strstr(text, parts[form][i]) == NULL)
        fail_msg("no %s in %s", parts[form][i], text);
    // Bands lie on each other within the picture.
    assert_null(strstr(text, "V-"));
    tally_release(h->vm, drawn);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TOKEN_TEST(test_l15_left_then_right_before_the_next_statement),
      TOKEN_TEST(test_the_end_is_the_last_use),
      TOKEN_TEST(test_errors_release_too),
      TOKEN_TEST(test_closing_releases_the_rest),
      TOKEN_TEST(test_a_release_may_release_values),
      TOKEN_TEST(test_closing_counts_what_the_host_forgot),
      TOKEN_TEST(test_closing_ends_each_once),
      TOKEN_TEST(test_hooks_answer),
      TOKEN_TEST(test_items_are_set),
      TOKEN_TEST(test_items_are_walked),
      TOKEN_TEST(test_hooks_refuse),
      TOKEN_TEST(test_types_are_told_apart),
      TOKEN_TEST(test_their_bytes_count),
      TOKEN_TEST(test_many_are_flat),
      HOST_TEST(test_what_a_resource_holds_is_seen),
      HOST_TEST(test_a_circle_through_a_resource_is_told),
      HOST_TEST(test_a_circle_over_two_resources_is_left),
      HOST_TEST(test_an_end_that_fails_is_reported),
      HOST_TEST(test_devices_have_counts_and_limits),
      HOST_TEST(test_devices_are_in_the_plot),
      HOST_TEST(test_foreign_memory_is_told_by_type_and_device),
      TOKEN_TEST(test_a_type_has_a_limit),
      HOST_TEST(test_a_library_counts_its_own_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
