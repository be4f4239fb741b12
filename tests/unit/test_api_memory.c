// tally.h when memory runs out: each sequence of calls runs with its first,
// second, … allocation refused, alone or with all behind it, until none is.
// Every failure is of kind memory, the VM goes on, and nothing leaks.

#include "tests/unit/host.h"

typedef struct sequence {
  const char *name;
  // Returns the first status that is not TALLY_OK.
  tally_status (*run)(host *h);
} sequence;

#define TRY(call)                  \
  do {                             \
    tally_status status_ = (call); \
    if (status_ != TALLY_OK) {     \
      status = status_;            \
      goto done;                   \
    }                              \
  } while (0)

// --- Sequences --------------------------------------------------------------

static tally_status make_values(host *h) {
  tally_status status = TALLY_OK;
  tally_value v[6] = {{0, 0}}, list = {0, 0}, record = {0, 0}, text = {0, 0};
  static const char *const keys[] = {"a", "b", "c", "d", "e", "f"};
  TRY(tally_from_none(h->vm, &v[0]));
  TRY(tally_from_bool(h->vm, 1, &v[1]));
  TRY(tally_from_int(h->vm, 1, &v[2]));
  TRY(tally_from_float(h->vm, 1, &v[3]));
  TRY(tally_from_complex(h->vm, 1, 2, &v[4]));
  TRY(tally_from_string(h->vm, "text", 4, &v[5]));
  TRY(tally_from_list(h->vm, 6, v, &list));
  TRY(tally_from_record(h->vm, 6, keys, v, &record));
  TRY(tally_format(h->vm, record, &text));
  TRY(tally_set_global(h->vm, "list", list));
done:
  for (int i = 0; i < 6; i++) tally_release(h->vm, v[i]);
  tally_release(h->vm, list);
  tally_release(h->vm, record);
  tally_release(h->vm, text);
  return status;
}

static tally_status read_values(host *h) {
  tally_status status = TALLY_OK;
  tally_value v = {0, 0}, item = {0, 0}, field = {0, 0};
  double re, im;
  TRY(tally_eval(h->vm, "(k: [[1, 2], [3, 4]], z: 2i)", &v));
  TRY(tally_field(h->vm, v, "k", &field));
  TRY(tally_item(h->vm, field, 1, &item));
  tally_release(h->vm, item);
  TRY(tally_item(h->vm, v, 1, &item));
  TRY(tally_to_complex(h->vm, item, &re, &im));
done:
  tally_release(h->vm, v);
  tally_release(h->vm, item);
  tally_release(h->vm, field);
  return status;
}

static int shared, released;  // buffers

static void let_go(void *context, void *data) {
  (void)context, (void)data;
  released++;
}

static tally_status share_buffer(host *h) {
  tally_status status = TALLY_OK;
  static double data[6];
  tally_value v = {0, 0};
  tally_buffer buffer = {.data = data,
                         .type = "2 * 3 * float64",
                         .nbytes = sizeof data,
                         .release = let_go};
  TRY(tally_from_buffer(h->vm, &buffer, &v));
  shared++;
  tally_value moved = v;
  v = (tally_value){0, 0};
  TRY(tally_move_global(h->vm, "x", moved));  // takes, also when it fails
  TRY(tally_eval(h->vm, "x[0, 0] = 1\ny = x[:, 1] + 1\nx = 0", NULL));
done:
  tally_release(h->vm, v);
  return status;
}

static tally_status call_functions(host *h) {
  tally_status status = TALLY_OK;
  tally_value f = {0, 0}, x = {0, 0}, y = {0, 0};
  TRY(tally_eval(h->vm, "fn scale(x, k = 2, ...rest) = x * k", NULL));
  TRY(tally_eval(h->vm, "[1.5, 2, 3]", &x));
  TRY(tally_call(h->vm, "scale", 1, &x, &y));
  tally_release(h->vm, y);
  y = (tally_value){0, 0};
  TRY(tally_compile(h->vm, "(\"text\", [1, 2] + 1)", &f));
  TRY(tally_apply(h->vm, f, 0, NULL, &y));
done:
  tally_release(h->vm, f);
  tally_release(h->vm, x);
  tally_release(h->vm, y);
  return status;
}

static tally_status run_scripts(host *h) {
  static const char source[] =
      "import os\n"
      "import linalg\n"
      "fn f(x) {\n  try { x[9] } catch { return () }\n}\n"
      "l = [f([1, 2]) == () for i in 0..3]\n"
      "s = \"{l} {linalg.norm([3.0, 4.0]):.2f} {os.args}\"\n"
      "r = (a: (1, \"b\"), s: s)\n"
      "r.a[1] = \"c\"\n"
      "print(r, sort([3, 1, 2]), [1, 2, 3][[0, 2]])\n";
  static const char *const arguments[] = {"one", "two"};
  return tally_run_source(h->vm, "s.tly", source, strlen(source), 2, arguments);
}

static tally_status fail_on_purpose(host *h) {
  tally_status status =
      tally_eval(h->vm, "fn g(x) = x + [1, 2]\ng([1, 2, 3])", NULL);
  const tally_error_info *error = tally_error(h->vm);
  assert_int_equal(error->status, status);
  assert_non_null(error->report);
  if (status != TALLY_ERR_SHAPE)
    return status;
  status = tally_eval(h->vm, "x = (1,\ny = 2 +\n", NULL);
  return status == TALLY_ERR_SYNTAX ? TALLY_OK : status;
}

// What a prompt does, in parts, since the n-th refusal is of a run from the
// start.
static tally_status show_values(host *h) {
  tally_status status = TALLY_OK;
  tally_check_input(h->vm, "fn f() {");
  tally_token tokens[8];
  tally_tokens(h->vm, "fn f() { 1 }", 12, tokens, 8);
  TRY(tally_interact(h->vm, "x = reshape(arange(100) / 7, (10, 10))", 40));
  TRY(tally_interact(h->vm, "x", 40));
done:
  return status;
}

static tally_status show_a_record(host *h) {
  return tally_interact(h->vm, "(x: \"text\", y: (1, 2))", 40);
}

static tally_status loop_at_the_prompt(host *h) {
  return tally_interact(h->vm, "s = 0\nfor i in 0..3000 { s += i }", 31);
}

static tally_status list_a_source(host *h) {
  return tally_disassemble(h->vm, "s", "x = ones(3)\nprint(x + x)", 24);
}

static tally_status list_a_function(host *h) {
  tally_value listed = {0, 0};
  tally_status status = tally_compile(h->vm, "sum(1..3)", &listed);
  if (status == TALLY_OK)
    status = tally_disassemble_function(h->vm, listed);
  tally_release(h->vm, listed);
  return status;
}

static tally_status describe_names(host *h) {
  tally_status status = TALLY_OK;
  tally_value said;
  TRY(tally_interact(h->vm, "## says\nfn f(a, b: 1) = a", 40));
  TRY(tally_complete(h->vm, "f", &said));
  tally_release(h->vm, said);
  TRY(tally_describe(h->vm, "f", &said));
  tally_release(h->vm, said);
done:
  return status;
}

static tally_status look_into_a_source(host *h) {
  tally_status status = TALLY_OK;
  tally_value said;
  TRY(tally_describe_source(h->vm, "s", "## y\nx = 1", 10, &said));
  tally_release(h->vm, said);
  TRY(tally_resolve_source(h->vm, "s", "fn f(n) = n\nf(n: 1)", 19, &said));
  tally_release(h->vm, said);
  TRY(tally_format_source(h->vm, "s", "x=[1,\n2]#z", 10, &said));
  tally_release(h->vm, said);
done:
  return status;
}

// Functions, resources and what a script does with them.
static void let_go_resource(void *context, void *object) {
  (void)context;
  (void)object;
  released++;
}

static tally_status join(tally_vm *vm, void *context, const char *op,
                         size_t count, const tally_value *operands,
                         tally_value *out);
static tally_status show(tally_vm *vm, void *context, void *object,
                         tally_value *out) {
  (void)context;
  (void)object;
  return tally_from_string(vm, "shown", 5, out);
}
static tally_status read_name(tally_vm *vm, void *context, void *object,
                              const char *name, tally_value *out) {
  (void)context;
  (void)object;
  return tally_from_string(vm, name, strlen(name), out);
}

static const tally_resource thing = {.size = sizeof thing,
                                     .name = "thing",
                                     .release = let_go_resource,
                                     .repr = show,
                                     .attribute = read_name,
                                     .operate = join};

static tally_status make_thing(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  static int object;
  (void)context, (void)count, (void)args;
  tally_status status = tally_from_resource(vm, &thing, &object, out);
  shared += status == TALLY_OK;
  return status;
}

static tally_status join(tally_vm *vm, void *context, const char *op,
                         size_t count, const tally_value *operands,
                         tally_value *out) {
  (void)op;
  return make_thing(vm, context, count, operands, out);
}

static tally_status apply_twice(tally_vm *vm, void *context, size_t count,
                                const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  tally_value once = {0, 0};
  tally_status status = tally_apply(vm, args[0], 1, &args[1], &once);
  if (status == TALLY_OK) {
    once = tally_take(once);
    status = tally_apply(vm, args[0], 1, &once, out);
  }
  return status;
}

static void add_one(void *context, size_t n, const void *const *inputs,
                    const ptrdiff_t *steps, void *output) {
  (void)context;
  const char *from = inputs[0];
  double *to = output;
  for (size_t i = 0; i < n; i++)
    to[i] = 1 + *(const double *)(const void *)(from + (ptrdiff_t)i * steps[0]);
}

static tally_status use_the_host(host *h) {
  tally_status status = TALLY_OK;
  static const tally_native rows[] = {
      {.name = "thing", .call = make_thing, .doc = "A thing."},
      {.name = "twice",
       .params = "f, x",
       .call = apply_twice,
       .signature = "(_, N * float64) -> N * float64",
       .takes = 2},
      {.name = "add_one",
       .params = "x",
       .loop = add_one,
       .signature = "(float64) -> float64"},
  };
  tally_module module = {sizeof module, "host", "", rows, 3, sizeof *rows};
  if (tally_documentation(h->vm, "host.thing") == NULL)
    TRY(tally_add_module(h->vm, &module));
  TRY(tally_eval(h->vm,
                 "import host\n"
                 "z = host.thing() + host.thing()\n"
                 "s = \"{z} {z.name}\"\n"
                 "z = host.twice(x => host.add_one(x) * 2, arange(50) * 1.0)\n"
                 "z = try { host.twice(x => 1, [1.0]) } catch { none }",
                 NULL));
  TRY(tally_eval(h->vm, "z = none", NULL));
done:
  return status;
}

static tally_status exchange(host *h) {
  tally_status status = TALLY_OK;
  struct {
    int64_t words[10];
    void (*release)(void *);
    void *more[2];
  } schema = {.release = NULL}, array = {.release = NULL};
  // The structs' own layout is the business of test_api_exchange.c.
  struct ArrowSchema *s = (struct ArrowSchema *)(void *)&schema;
  struct ArrowArray *a = (struct ArrowArray *)(void *)&array;
  struct DLManagedTensor *tensor = NULL;
  tally_value v = {0, 0}, w = {0, 0};
  tally_parcel *parcel = NULL;
  TRY(tally_eval(h->vm, "(n: arange(1000)[::2], b: ones(500) > 0)", &v));
  TRY(tally_to_arrow(h->vm, v, s, a));
  TRY(tally_from_arrow(h->vm, s, a, &w));  // takes
  tally_value sent = w;
  w = (tally_value){0, 0};
  TRY(tally_send(h->vm, sent, &parcel));
  TRY(tally_receive(h->vm, parcel, &w));  // takes
  tally_value item = {0, 0};
  TRY(tally_field(h->vm, w, "n", &item));
  status = tally_to_dlpack(h->vm, item, &tensor);
  tally_release(h->vm, item);
  TRY(status);
  TRY(tally_from_dlpack(h->vm, tensor, &item));
  tally_release(h->vm, item);
  tensor = NULL;
done:
  if (tensor != NULL) {  // not taken: the deleter is its last word
    void (*deleter)(struct DLManagedTensor *);
    memcpy(&deleter, (char *)tensor + 56, sizeof deleter);
    deleter(tensor);
  }
  tally_release(h->vm, v);
  tally_release(h->vm, w);
  return status;
}

static tally_status exchange_versioned(host *h) {
  tally_status status = TALLY_OK;
  struct DLManagedTensorVersioned *tensor = NULL;
  tally_value v = {0, 0}, w = {0, 0};
  TRY(tally_eval(h->vm, "reshape(arange(6) * 0.5, (2, 3))", &v));
  TRY(tally_to_dlpack_versioned(h->vm, v, &tensor));
  TRY(tally_from_dlpack_versioned(h->vm, tensor, &w));  // takes
  tensor = NULL;
done:
  if (tensor != NULL) {
    void (*deleter)(struct DLManagedTensorVersioned *);
    memcpy(&deleter, (char *)tensor + 16, sizeof deleter);
    deleter(tensor);
  }
  tally_release(h->vm, v);
  tally_release(h->vm, w);
  return status;
}

static tally_status look_into_values(host *h) {
  tally_status status = TALLY_OK;
  static int object;
  tally_value v = {0, 0};
  int64_t i;
  double f;
  int b;
  const char *text;
  tally_array array;
  void *found;
  TRY(tally_eval(h->vm, "look = 3; name = \"a name\"", NULL));
  TRY(tally_get_global(h->vm, "look", &v));
  TRY(tally_to_int(h->vm, v, &i));
  TRY(tally_to_float(h->vm, v, &f));
  TRY(tally_eval(h->vm, "look == 3", &v));
  TRY(tally_to_bool(h->vm, v, &b));
  TRY(tally_get_global(h->vm, "name", &v));
  TRY(tally_to_string(h->vm, v, &text, NULL));
  tally_release(h->vm, v);
  TRY(tally_eval(h->vm, "[1.5, 2.5]", &v));
  TRY(tally_to_buffer(h->vm, v, &array));
  tally_release(h->vm, v);
  TRY(tally_from_resource(h->vm, &thing, &object, &v));
  shared++;
  TRY(tally_to_resource(h->vm, v, &thing, &found));
  status = tally_raise(h->vm, TALLY_ERR_VALUE, "item %d", 3);
  if (status == TALLY_ERR_VALUE)
    status = TALLY_OK;
done:
  tally_release(h->vm, v);
  return status;
}

static tally_status run_and_watch(host *h) {
  tally_status status = TALLY_OK;
  tally_value text = {0, 0};
  TRY(tally_watch(h->vm, TALLY_WATCH_MEMORY | TALLY_WATCH_OPERATIONS));
  TRY(tally_run(h->vm, "docs/geometry.tly", 0, NULL));
  TRY(tally_explain(h->vm, "docs/geometry.tly", 0, NULL, TALLY_EXPLAIN_JSON,
                    &text));
  tally_release(h->vm, text);
  text = (tally_value){0, 0};
  TRY(tally_explain_source(h->vm, "q = ones(9); q = q + (q + 1)", 0, &text));
done:
  tally_release(h->vm, text);
  return status;
}

// A picture is drawn by a script in a VM of its own, and a report is written by
// one: thousands of allocations.
static tally_status draw_memory(host *h) {
  tally_status status = TALLY_OK;
  tally_value text = {0, 0};
  TRY(tally_watch(h->vm, TALLY_WATCH_MEMORY));
  TRY(tally_run(h->vm, "docs/geometry.tly", 0, NULL));
  TRY(tally_plot_memory(h->vm, TALLY_PLOT_TEXT, 60, &text));
done:
  tally_release(h->vm, text);
  return status;
}

// Another VM with the same allocator.
static tally_status open_another(host *h) {
  tally_vm *vm;
  tally_options options = host_options(h);
  tally_status status = tally_open(&options, &vm);
  if (status == TALLY_OK)
    tally_close(vm);
  return status;
}

// --- The runner -------------------------------------------------------------

// Runs [s] with the n-th allocation refused; false when none was.
static bool run_refused(const sequence *s, uint64_t n, bool all) {
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  host_open(&h, &options);
  h.fail_at = h.requests + n;
  h.fail_from = all;
  tally_status status = s->run(&h);
  if (status != TALLY_OK && status != TALLY_ERR_MEMORY) {
    fail_msg("%s, allocation %llu%s: status %d: %s", s->name,
             (unsigned long long)n, all ? " and on" : "", (int)status,
             tally_error(h.vm)->report);
  }
  if (!h.refused)
    assert_int_equal(status, TALLY_OK);
  bool refused = h.refused;
  // It goes on as if nothing had been.
  h.fail_at = 0;
  status = s->run(&h);
  if (status != TALLY_OK) {
    fail_msg("%s again, after %llu%s: %s", s->name, (unsigned long long)n,
             all ? " and on" : "", tally_error(h.vm)->report);
  }
  size_t held = tally_close(h.vm);
  assert_int_equal(released, shared);
  if (held != 0 || h.blocks != 0 || h.nbytes != 0) {
    fail_msg("%s, allocation %llu%s: %zu values, %zu blocks left", s->name,
             (unsigned long long)n, all ? " and on" : "", held, h.blocks);
  }
  return refused;
}

static void test_every_allocation_fails(void **state) {
  (void)state;
  static const sequence all[] = {
      {"values in", make_values},      {"values out", read_values},
      {"buffers", share_buffer},       {"calls", call_functions},
      {"scripts", run_scripts},        {"errors", fail_on_purpose},
      {"showing", show_values},        {"records", show_a_record},
      {"loops", loop_at_the_prompt},   {"listings", list_a_source},
      {"functions", list_a_function},  {"names", describe_names},
      {"sources", look_into_a_source}, {"the host", use_the_host},
      {"exchange", exchange},          {"tensors", exchange_versioned},
      {"views", look_into_values},     {"opening", open_another},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (uint64_t n = 1; run_refused(&all[i], n, false); n++) continue;
    for (uint64_t n = 1; run_refused(&all[i], n, true); n++) continue;
  }
  // Under the sanitizers and the auditor one of these takes a tenth of a
  // second: there it is each 17th or 101st allocation, elsewhere every one.
#ifdef TALLY_AUDIT
  static const uint64_t steps[] = {17, 101};
#else
  static const uint64_t steps[] = {1, 1};
#endif
  static const sequence drawn[] = {{"pictures", draw_memory},
                                   {"watching", run_and_watch}};
  for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
    for (uint64_t n = 1; run_refused(&drawn[i], n, false); n += steps[i])
      continue;
    for (uint64_t n = 1; run_refused(&drawn[i], n, true); n += steps[i])
      continue;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_allocation_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
