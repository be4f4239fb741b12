// tally.h used wrongly: every function with NULL, released handles and hooks
// that misbehave. Each gives an error status, and the VM goes on.

#include <pthread.h>
#include <stdio.h>

#include "tests/unit/host.h"

static const tally_value gone = {0, 0};
static tally_value v;
static tally_vm *const no_vm;

// X(call): with no VM, TALLY_ERR_HOST.
#define CALLS(X, vm)                                \
  X(tally_eval(vm, "1", NULL))                      \
  X(tally_run(vm, "x.tly", 0, NULL))                \
  X(tally_run_source(vm, "x", "1", 1, 0, NULL))     \
  X(tally_compile(vm, "1", &v))                     \
  X(tally_apply(vm, gone, 0, NULL, &v))             \
  X(tally_call(vm, "sum", 0, NULL, &v))             \
  X(tally_get_global(vm, "x", &v))                  \
  X(tally_set_global(vm, "x", gone))                \
  X(tally_move_global(vm, "x", gone))               \
  X(tally_add_module(vm, NULL))                     \
  X(tally_raise(vm, TALLY_ERR_HOST, "x"))           \
  X(tally_from_resource(vm, NULL, NULL, &v))        \
  X(tally_to_resource(vm, gone, NULL, NULL))        \
  X(tally_interact(vm, "1", 80))                    \
  X(tally_complete(vm, "a", &v))                    \
  X(tally_from_none(vm, &v))                        \
  X(tally_from_bool(vm, 1, &v))                     \
  X(tally_from_int(vm, 1, &v))                      \
  X(tally_from_float(vm, 1, &v))                    \
  X(tally_from_complex(vm, 1, 1, &v))               \
  X(tally_from_string(vm, "a", 1, &v))              \
  X(tally_from_list(vm, 0, NULL, &v))               \
  X(tally_from_record(vm, 0, NULL, NULL, &v))       \
  X(tally_to_bool(vm, gone, NULL))                  \
  X(tally_to_int(vm, gone, NULL))                   \
  X(tally_to_float(vm, gone, NULL))                 \
  X(tally_to_complex(vm, gone, NULL, NULL))         \
  X(tally_to_string(vm, gone, NULL, NULL))          \
  X(tally_format(vm, gone, NULL))                   \
  X(tally_item(vm, gone, 0, NULL))                  \
  X(tally_field(vm, gone, NULL, NULL))              \
  X(tally_from_buffer(vm, NULL, NULL))              \
  X(tally_to_buffer(vm, gone, NULL))                \
  X(tally_from_dlpack(vm, NULL, NULL))              \
  X(tally_from_dlpack_versioned(vm, NULL, NULL))    \
  X(tally_to_dlpack(vm, gone, NULL))                \
  X(tally_to_dlpack_versioned(vm, gone, NULL))      \
  X(tally_from_arrow(vm, NULL, NULL, NULL))         \
  X(tally_to_arrow(vm, gone, NULL, NULL))           \
  X(tally_send(vm, gone, NULL))                     \
  X(tally_receive(vm, NULL, NULL))                  \
  X(tally_watch(vm, 0))                             \
  X(tally_plot_memory(vm, TALLY_PLOT_TEXT, 80, &v)) \
  X(tally_plot_time(vm, TALLY_PLOT_TEXT, 80, &v))   \
  X(tally_explain(vm, "x", 0, NULL, 0, &v))         \
  X(tally_explain_source(vm, "x", 0, &v))           \
  X(tally_check_source(vm, "x", "1", 1, &v))        \
  X(tally_describe(vm, "x", &v))                    \
  X(tally_describe_source(vm, "x", "1", 1, &v))     \
  X(tally_resolve_source(vm, "x", "1", 1, &v))      \
  X(tally_format_source(vm, "x", "1", 1, &v))       \
  X(tally_disassemble_function(vm, gone))           \
  X(tally_disassemble(vm, "x", "1", 1))

static void test_no_vm(void **state) {
  (void)state;
#define X(call) assert_int_equal(call, TALLY_ERR_HOST);
  CALLS(X, no_vm)
#undef X
  assert_int_equal(tally_open(NULL, NULL), TALLY_ERR_HOST);
  assert_int_equal(tally_close(NULL), 0);
  tally_interrupt(NULL);
  tally_ask_progress(NULL);
  tally_release(NULL, gone);
  tally_retain(NULL, gone);
  assert_false(tally_is_live(NULL, gone));
  assert_int_equal(tally_length(NULL, gone), 0);
  assert_string_equal(tally_type(NULL, gone), "released");
  assert_int_equal(tally_check_input(NULL, "("), TALLY_INPUT_COMPLETE);
  assert_int_equal(tally_tokens(NULL, "(", 1, NULL, 0), 0);
  assert_string_equal(tally_error(NULL)->kind, "");
  tally_stats stats;
  tally_get_stats(NULL, &stats);
  assert_int_equal(stats.live, 0);
  tally_get_stats(NULL, NULL);
  tally_reset_stats(NULL);
  tally_count(NULL, 1);
  assert_int_equal(tally_trim(NULL), 0);
  assert_null(tally_documentation(NULL, "sum"));
  assert_null(tally_signature(NULL, "sum"));
  assert_null(tally_topic(NULL, "sum"));
  assert_null(tally_documented(NULL, 0));
  tally_free_parcel(NULL);
  assert_string_equal(tally_version(), TALLY_VERSION);
}

static void check_alive(host *h) {
  check_value(h, "sum([1, 2, 3])", "6");
}

static void test_nothing_given(void **state) {
  host *h = *state;
  tally_vm *vm = h->vm;
  tally_value list = eval(h, "(1, 2)"), out;
  const tally_value items[] = {list};
  const char *const keys[] = {NULL};
#define REFUSED(call) CHECK_ERROR(h, call, TALLY_ERR_HOST, "NULL")
  REFUSED(tally_eval(vm, NULL, &out));
  REFUSED(tally_run(vm, NULL, 0, NULL));
  REFUSED(tally_run_source(vm, NULL, "1", 1, 0, NULL));
  REFUSED(tally_run_source(vm, "x", NULL, 1, 0, NULL));
  REFUSED(tally_run_source(vm, "x", "1", 1, 1, NULL));
  REFUSED(tally_run_source(vm, "x", "1", 1, 1, keys));
  REFUSED(tally_compile(vm, NULL, &out));
  REFUSED(tally_compile(vm, "1", NULL));
  REFUSED(tally_apply(vm, list, 1, NULL, &out));
  REFUSED(tally_call(vm, NULL, 0, NULL, &out));
  REFUSED(tally_call(vm, "sum", 1, NULL, &out));
  REFUSED(tally_get_global(vm, NULL, &out));
  REFUSED(tally_get_global(vm, "x", NULL));
  REFUSED(tally_set_global(vm, NULL, list));
  REFUSED(tally_interact(vm, NULL, 80));
  REFUSED(tally_from_none(vm, NULL));
  REFUSED(tally_from_bool(vm, 1, NULL));
  REFUSED(tally_from_int(vm, 1, NULL));
  REFUSED(tally_from_float(vm, 1, NULL));
  REFUSED(tally_from_complex(vm, 1, 1, NULL));
  REFUSED(tally_from_string(vm, NULL, 1, &out));
  REFUSED(tally_from_string(vm, "a", 1, NULL));
  REFUSED(tally_from_list(vm, 1, NULL, &out));
  REFUSED(tally_from_list(vm, 1, items, NULL));
  REFUSED(tally_from_record(vm, 1, NULL, items, &out));
  REFUSED(tally_from_record(vm, 1, keys, NULL, &out));
  REFUSED(tally_from_record(vm, 1, keys, items, &out));
  REFUSED(tally_to_bool(vm, list, NULL));
  REFUSED(tally_to_int(vm, list, NULL));
  REFUSED(tally_to_float(vm, list, NULL));
  REFUSED(tally_to_complex(vm, list, NULL, NULL));
  REFUSED(tally_to_string(vm, list, NULL, NULL));
  REFUSED(tally_format(vm, list, NULL));
  REFUSED(tally_item(vm, list, 0, NULL));
  REFUSED(tally_field(vm, list, "a", NULL));
  REFUSED(tally_field(vm, list, NULL, &out));
  REFUSED(tally_from_buffer(vm, NULL, &out));
  REFUSED(tally_from_buffer(vm, &(tally_buffer){.type = NULL}, &out));
  REFUSED(tally_from_buffer(vm, &(tally_buffer){.type = "1 * int8"}, NULL));
  REFUSED(tally_from_buffer(
      vm, &(tally_buffer){.type = "1 * int8", .nbytes = 1}, &out));
  REFUSED(tally_to_buffer(vm, list, NULL));
  REFUSED(tally_raise(vm, TALLY_ERR_VALUE, NULL) == TALLY_ERR_HOST
              ? TALLY_ERR_HOST
              : TALLY_OK);
  REFUSED(tally_disassemble(vm, NULL, "1", 1));
  REFUSED(tally_describe(vm, NULL, &out));
  REFUSED(tally_describe(vm, "f", NULL));
  REFUSED(tally_describe_source(vm, NULL, "1", 1, &out));
  REFUSED(tally_describe_source(vm, "s", "1", 1, NULL));
  REFUSED(tally_resolve_source(vm, NULL, "1", 1, &out));
  REFUSED(tally_resolve_source(vm, "s", "1", 1, NULL));
  REFUSED(tally_check_source(vm, NULL, "1", 1, &out));
  REFUSED(tally_check_source(vm, "s", "1", 1, NULL));
  REFUSED(tally_format_source(vm, NULL, "1", 1, &out));
  REFUSED(tally_format_source(vm, "s", "1", 1, NULL));
  REFUSED(tally_explain(vm, NULL, 0, NULL, 0, &out));
  REFUSED(tally_explain_source(vm, NULL, 0, &out));
  REFUSED(tally_explain_source(vm, "1", 0, NULL));
  CHECK_ERROR(h, tally_from_list(vm, SIZE_MAX, items, &out), TALLY_ERR_MEMORY,
              "");
  CHECK_ERROR(h, tally_from_record(vm, SIZE_MAX, keys, items, &out),
              TALLY_ERR_MEMORY, "");
  CHECK_ERROR(h, tally_call(vm, "sum", -1, items, &out), TALLY_ERR_HOST, "-1");
  // What is taken is taken on every path.
  tally_value given = eval(h, "[1]");
  const tally_value taken[] = {tally_take(given)};
  REFUSED(tally_from_record(vm, 1, NULL, taken, &out));
  assert_false(tally_is_live(vm, given));
  check_alive(h);
  tally_release(vm, list);
}

static void test_released_handles(void **state) {
  host *h = *state;
  tally_vm *vm = h->vm;
  tally_value list = eval(h, "(1, 2)"), function = eval(h, "x => x"), out;
  tally_release(vm, list);
  tally_release(vm, list);
  const char *const keys[] = {"a"};
  const tally_value items[] = {list};
  const tally_value taken[] = {tally_take(list)};
  int b;
  int64_t i;
  double re, im;
  const char *text;
  tally_array array;
  tally_parcel *parcel;
  struct DLManagedTensor *tensor;
  struct DLManagedTensorVersioned *versioned;
  char place[200];
#undef REFUSED
#define REFUSED(call) CHECK_ERROR(h, call, TALLY_ERR_HOST, "released")
  REFUSED(tally_apply(vm, list, 0, NULL, &out));
  REFUSED(tally_disassemble_function(vm, list));
  REFUSED(tally_apply(vm, function, 1, items, &out));
  REFUSED(tally_apply(vm, function, 1, taken, &out));
  REFUSED(tally_call(vm, "sum", 1, items, &out));
  REFUSED(tally_set_global(vm, "x", list));
  REFUSED(tally_set_global(vm, "x", tally_take(list)));
  REFUSED(tally_move_global(vm, "x", list));
  REFUSED(tally_from_list(vm, 1, items, &out));
  REFUSED(tally_from_list(vm, 1, taken, &out));
  REFUSED(tally_from_record(vm, 1, keys, items, &out));
  REFUSED(tally_to_bool(vm, list, &b));
  REFUSED(tally_to_int(vm, list, &i));
  REFUSED(tally_to_float(vm, list, &re));
  REFUSED(tally_to_complex(vm, list, &re, &im));
  REFUSED(tally_to_string(vm, list, &text, NULL));
  REFUSED(tally_format(vm, list, &out));
  REFUSED(tally_item(vm, list, 0, &out));
  REFUSED(tally_field(vm, list, "a", &out));
  REFUSED(tally_to_buffer(vm, list, &array));
  REFUSED(tally_send(vm, list, &parcel));
  REFUSED(tally_to_dlpack(vm, list, &tensor));
  REFUSED(tally_to_dlpack_versioned(vm, list, &versioned));
  REFUSED(tally_to_arrow(vm, list, (struct ArrowSchema *)(void *)place,
                         (struct ArrowArray *)(void *)place));
  tally_release(vm, function);
  check_alive(h);
}

static void test_taken_values_are_gone(void **state) {
  host *h = *state;
  tally_vm *vm = h->vm;
  run_ok(h, "fn f(x, y) = y\nfn bad(x) = x[9]");
  tally_value x = eval(h, "arange(10) * 2"), y = eval(h, "\"y\""), out;
  tally_value args[] = {tally_take(x), y};
  assert_int_equal(tally_call(vm, "f", 2, args, &out), TALLY_OK);
  tally_release(vm, out);
  assert_false(tally_is_live(vm, x));
  assert_true(tally_is_live(vm, y));
  CHECK_ERROR(h, tally_call(vm, "f", 2, args, &out), TALLY_ERR_HOST,
              "released");
  // On every path: the call that fails, does not start, or finds no function.
  x = eval(h, "[1, 2]");
  args[0] = tally_take(x);
  CHECK_ERROR(h, tally_call(vm, "bad", 1, args, &out), TALLY_ERR_INDEX, "");
  assert_false(tally_is_live(vm, x));
  x = eval(h, "[1, 2]");
  args[0] = tally_take(x);
  CHECK_ERROR(h, tally_call(vm, "bad", 2, args, &out), TALLY_ERR_TYPE, "");
  assert_false(tally_is_live(vm, x));
  x = eval(h, "[1, 2]");
  args[0] = tally_take(x);
  CHECK_ERROR(h, tally_call(vm, "nosuch", 2, args, &out), TALLY_ERR_NAME, "");
  assert_false(tally_is_live(vm, x));
  x = eval(h, "[1, 2]");
  args[0] = tally_take(x);
  args[1] = gone;
  CHECK_ERROR(h, tally_from_list(vm, 2, args, &out), TALLY_ERR_HOST, "");
  assert_false(tally_is_live(vm, x));
  // Marked where nothing is taken.
  CHECK_ERROR(h, tally_format(vm, tally_take(y), &out), TALLY_ERR_HOST,
              "tally_take");
  assert_true(tally_is_live(vm, y));
  // Given twice at once: the second is an error, and nothing leaks.
  x = eval(h, "[1, 2]");
  tally_value twice[] = {tally_take(x), tally_take(x)};
  CHECK_ERROR(h, tally_call(vm, "f", 2, twice, &out), TALLY_ERR_HOST, "");
  // Retained: the other owner still has it.
  x = tally_retain(vm, eval(h, "[1, 2]"));
  assert_int_equal(tally_set_global(vm, "x", tally_take(x)), TALLY_OK);
  assert_int_equal(tally_length(vm, x), 2);
  tally_release(vm, x);
  tally_release(vm, y);
}

static void test_taken_memory_is_used_again(void **state) {
  host *h = *state;
  tally_vm *vm = h->vm;
  tally_stats stats;
  run_ok(h, "fn f(x) = x * 2 + 1");
  tally_value x = eval(h, "arange(1000) * 1.0"), out;
  tally_array before, after;
  assert_int_equal(tally_to_buffer(vm, x, &before), TALLY_OK);
  tally_reset_stats(vm);
  x = tally_take(x);
  assert_int_equal(tally_call(vm, "f", 1, &x, &out), TALLY_OK);
  tally_get_stats(vm, &stats);
  assert_int_equal(stats.allocs, 0);
  assert_int_equal(tally_to_buffer(vm, out, &after), TALLY_OK);
  assert_ptr_equal(before.data, after.data);
  tally_release(vm, out);
}

// --- Buffers ----------------------------------------------------------------

static int released;
static void let_go(void *context, void *data) {
  (void)context;
  (void)data;
  released++;
}

static void test_buffers_are_written_in_place(void **state) {
  host *h = *state;
  double items[6] = {1, 2, 3, 4, 5, 6};
  tally_buffer buffer = {.size = sizeof buffer,
                         .data = items,
                         .type = "2 * 3 * float64",
                         .nbytes = sizeof items,
                         .release = let_go};
  tally_value x, out;
  tally_array array;
  released = 0;
  run_ok(h, "fn f(x) = x * 10\nfn g(x) {\n  x[0, 1] = -1\n  x\n}");
  // Lent: the host's items stay.
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &x), TALLY_OK);
  assert_int_equal(tally_call(h->vm, "f", 1, &x, &out), TALLY_OK);
  tally_release(h->vm, out);
  assert_int_equal(tally_call(h->vm, "g", 1, &x, &out), TALLY_OK);
  tally_release(h->vm, out);
  assert_true(items[0] == 1 && items[1] == 2);
  // Taken: they are written.
  x = tally_take(x);
  assert_int_equal(tally_call(h->vm, "f", 1, &x, &out), TALLY_OK);
  assert_int_equal(tally_to_buffer(h->vm, out, &array), TALLY_OK);
  assert_ptr_equal(array.data, items);
  assert_true(items[0] == 10 && items[5] == 60);
  x = tally_take(out);
  assert_int_equal(tally_call(h->vm, "g", 1, &x, &out), TALLY_OK);
  assert_true(items[1] == -1);
  assert_int_equal(released, 0);
  tally_release(h->vm, out);
  assert_int_equal(released, 1);
  // Read-only, or with gaps, or with items that share memory.
  buffer.read_only = 1;
  items[0] = 1;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &x), TALLY_OK);
  x = tally_take(x);
  assert_int_equal(tally_call(h->vm, "f", 1, &x, &out), TALLY_OK);
  assert_true(items[0] == 1);
  tally_release(h->vm, out);
  buffer.read_only = 0;
  int64_t columns[] = {8, 16}, repeated[] = {0, 8};
  buffer.strides = columns;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &x), TALLY_OK);
  x = tally_take(x);
  assert_int_equal(tally_call(h->vm, "g", 1, &x, &out), TALLY_OK);
  assert_true(items[2] == -1);
  tally_release(h->vm, out);
  buffer.strides = repeated;
  items[1] = 5;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &x), TALLY_OK);
  x = tally_take(x);
  assert_int_equal(tally_call(h->vm, "g", 1, &x, &out), TALLY_OK);
  assert_true(items[1] == 5);
  tally_release(h->vm, out);
  assert_int_equal(released, 4);
  // Views of one that the script has alone.
  buffer.strides = NULL;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &x), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", x), TALLY_OK);
  run_ok(h,
         "y = reshape(x, 6)\nx = none\ny[0] = 7\ny = reshape(y, (3, 2))\n"
         "y = y.T\ny[1, 1] = 9\nz = sort(reshape(y, 6))\ny = none");
  check_value(h, "len(z)", "6");
  run_ok(h, "z = none");
  assert_int_equal(released, 5);
}

static void test_hostile_buffers(void **state) {
  host *h = *state;
  static double items[8];
  const struct {
    const char *type;
    int64_t strides[2];
    size_t nbytes;
  } cases[] = {
      {"2 * 3 * float64", {24, 8}, 40},
      {"2 * 3 * float64", {-24, 8}, 64},
      {"2 * 3 * float64", {INT64_MIN, 8}, 64},
      {"2 * 3 * float64", {INT64_MAX - 7, 8}, 64},
      {"2 * 3 * float64", {32, 16}, 64},
      {"4611686018427387904 * 4 * float64", {0, 0}, 64},
      {"9223372036854775807 * 2 * int8", {1, 1}, 64},
      {"2 * 3 * float64", {24, 8}, 0},
  };
  tally_value out;
  released = 0;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tally_buffer b = {.data = items,
                      .type = cases[i].type,
                      .strides = cases[i].strides,
                      .nbytes = cases[i].nbytes,
                      .release = let_go};
    if (tally_from_buffer(h->vm, &b, &out) == TALLY_OK)
      fail_msg("case %zu was taken", i);
  }
  const char *const types[] = {
      "",         "float64", "3 * ",      "3 * string", "N * float64",
      "3 * {x: ", "\xff",    "var * int8"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tally_buffer b = {.data = items, .type = types[i], .nbytes = sizeof items};
    if (tally_from_buffer(h->vm, &b, &out) == TALLY_OK)
      fail_msg("%s was taken", types[i]);
  }
  assert_int_equal(released, 0);
  // No items need no memory.
  tally_buffer none = {.type = "0 * 3 * float64", .release = let_go};
  assert_int_equal(tally_from_buffer(h->vm, &none, &out), TALLY_OK);
  assert_int_equal(tally_length(h->vm, out), 0);
  tally_release(h->vm, out);
  assert_int_equal(released, 1);
  check_alive(h);
}

typedef struct point {
  float x;
  double y;
  int8_t id;
} point;

static void test_structs_of_the_host(void **state) {
  host *h = *state;
  point points[3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  tally_buffer buffer = {.data = points,
                         .type = "3 * {x: float32, y: float64, id: int8}",
                         .nbytes = sizeof points,
                         .release = let_go};
  tally_value p;
  released = 0;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &p), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "p", p), TALLY_OK);
  check_value(h, "(p.x, p.y, p.id, p[1].y)",
              "([1.0, 4.0, 7.0], [2.0, 5.0, 8.0], [3, 6, 9], 5.0)");
  run_ok(h, "p = none");
  assert_int_equal(released, 1);
  buffer.nbytes--;
  CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &p), TALLY_ERR_SHAPE, "");
  buffer.type = "3 * {x: string}";
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &p), TALLY_ERR_TYPE);
  assert_int_equal(released, 1);
}

// --- Hooks ------------------------------------------------------------------

static int write_and_use(void *context, const char *text, size_t nbytes) {
  host *h = context;
  (void)text;
  (void)nbytes;
  // The write hook has no business in the VM.
  return tally_eval(h->vm, "x = 1", NULL) == TALLY_ERR_HOST ? 0 : 1;
}

// Nor has the clock.
static double clock_and_use(void *context) {
  host *h = context;
  return tally_eval(h->vm, "x = 1", NULL) == TALLY_ERR_HOST ? 0 : 1e18;
}

static int load_itself(void *context, const char *name, char **text,
                       size_t *nbytes) {
  char source[400];
  int length = snprintf(source, sizeof source, "import %sa\n", name);
  *text = host_block(context, (size_t)length);
  if (*text == NULL)
    return 1;
  memcpy(*text, source, (size_t)length);
  *nbytes = (size_t)length;
  return 0;
}

static int load_again(void *context, const char *name, char **text,
                      size_t *nbytes) {
  (void)name;
  static const char source[] = "import one\n";
  *nbytes = sizeof source - 1;
  *text = host_block(context, *nbytes);
  if (*text == NULL)
    return 1;
  memcpy(*text, source, *nbytes);
  return 0;
}

static void test_hooks_that_misbehave(void **state) {
  host *h = *state;
  host_close(h);
  tally_options options = host_options(h);
  options.write = write_and_use;
  host_open(h, &options);
  run_ok(h, "print(1)");
  host_close(h);
  options = host_options(h);
  options.clock = clock_and_use;
  options.time_limit = 1;
  host_open(h, &options);
  run_ok(h, "for i in 0..5000 { }");
  host_close(h);
  options = host_options(h);
  options.load = load_again;
  host_open(h, &options);
  CHECK_ERROR(h, tally_eval(h->vm, "import one", NULL), TALLY_ERR_NAME,
              "circle");
  check_alive(h);
  host_close(h);
  options.load = load_itself;  // a new module each time
  host_open(h, &options);
  assert_int_equal(tally_eval(h->vm, "import a", NULL), TALLY_ERR_LIMIT);
  check_alive(h);
}

static void test_old_hosts_have_smaller_options(void **state) {
  host *h = *state;
  tally_options options = host_options(h);
  options.size = offsetof(tally_options, threads);
  host_close(h);
  host_open(h, &options);
  check_alive(h);
}

static void test_stacks_grow(void **state) {
  host *h = *state;
  tally_stats before, after;
  tally_get_stats(h->vm, &before);
  assert_true(before.live_bytes < 100 * 1024);
  run_ok(h, "fn f(n) = if n == 0 { 0 } else { 1 + f(n - 1) }\nx = f(5000)");
  tally_get_stats(h->vm, &after);
  assert_true(after.live_bytes > before.live_bytes + 50000);
  host_close(h);
  // Small ones, since an audited run looks at every slot after every step.
  tally_options options = host_options(h);
  options.stack_size = 256 << 10;
  host_open(h, &options);
  run_ok(h, "fn f(n) = if n == 0 { 0 } else { 1 + f(n - 1) }");
  CHECK_ERROR(h, tally_eval(h->vm, "f(5000)", NULL), TALLY_ERR_LIMIT,
              "too deeply");
  check_value(h, "f(500)", "500");
  host_close(h);
  options.stack_size = 1 << 20;
  host_open(h, &options);
  run_ok(h, "fn f(n) = if n == 0 { 0 } else { 1 + f(n - 1) }");
  check_value(h, "f(5000)", "5000");
  host_close(h);
  options.stack_size = 1;
  options.memory_limit = 100000;
  host_open(h, &options);
  check_alive(h);
}

static void read_otherwise(tally_vm *vm, const char *text, size_t nbytes) {
  tally_status (*const readers[])(tally_vm *, const char *, const char *,
                                  size_t, tally_value *) = {
      tally_check_source, tally_format_source, tally_resolve_source,
      tally_describe_source};
  for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
    tally_value found;
    if (readers[i](vm, "deep", text, nbytes, &found) == TALLY_OK)
      tally_release(vm, found);
  }
  tally_disassemble(vm, "deep", text, nbytes);
  tally_tokens(vm, text, nbytes, NULL, 0);
}

// What nests at most as deep as the compiler takes: a thread of 256 KiB has the
// stack for it, and more is an error.
static void *run_deep_texts(void *context) {
  host *h = context;
  static const char *const forms[][3] = {
      {"(", "1", ")"},
      {"[", "1", "]"},
      {"(", "1", ",)"},
      {"(a: ", "1", ")"},
      {"abs(", "1", ")"},
      {"x[", "1", "]"},
      {"\"{", "1", "}\""},
      {"\"{x:{", "1", "}}\""},
      {"1 < (", "1", ")"},
      {"{ x => ", "1", " }"},
      {"try { 1 } catch e { ", "1", " }"},
      {"if x { 1 } else if x { ", "1", " }"},
      {"[", "1", " for i in 0..1]"},
      {"[i for i in ", "[1]", "]"},
      {"[i for i in 0..1 if ", "true", "]"},
      {"[...", "[1]", "]"},
      {"-", "1", ""},
      {"not ", "true", ""},
      {"x => ", "1", ""},
      {"2 ** ", "1", ""},
      {"", "x", ".a"},
      {"", "x", "[0]"},
      {"", "1", " + 1"},
      {"", "1", " |> abs"},
      {"", "1", " |> print"},
      {"", "abs", " ∘ abs"},
      {"if true { ", "1", " } else { 2 }"},
      {"while false { ", "1", " }"},
      {"for i in 0..1 { ", "1", " }"},
      {"try { ", "1", " } catch { }"},
      {"fn f() { ", "1", " }"},
      {"{ ", "1", " }"},
      {"if false { 1 } else ", "{ 2 }", ""},
      {"`{a: ", "int64", "}`"},
  };
  static const int counts[] = {80, 160, 240, 330, 490, 980, 2000, 50000};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      char *text = malloc(1u << 21), *at = text;
      if (text == NULL)
        return NULL;
      for (int n = 0; n < counts[k]; n++) at += sprintf(at, "%s", forms[i][0]);
      at += sprintf(at, "%s", forms[i][1]);
      for (int n = 0; n < counts[k]; n++) at += sprintf(at, "%s", forms[i][2]);
      tally_eval(h->vm, text, NULL);
      if (counts[k] < 1000)
        read_otherwise(h->vm, text, (size_t)(at - text));
      free(text);
    }
  }
  // Calls from C into scripts, and what recurses over types, in each other.
  static const char *const calls[] = {
      "each([n], v => f(v - 1))",
      "fold([n, n], (a, v) => f(v - 1))",
      "sort((n, n), key: v => f(v - 1))",
      "map_axis([[n]], v => f(v[0] - 1))",
      "leaf_map((n,), v => f(v - 1))",
      "strings.substitute(\"a\", \"a\", v => string(f(n - 1)))",
      "memory.measure(() => f(n - 1))",
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    char source[600];
    snprintf(source, sizeof source,
             "import memory\nimport strings\nl = [1]\n"
             "for i in 0..60 { l = ragged(l, [len(l)]) }\n"
             "fn g(m) {\n  x = m + 1\n  x = m == m\n  m[0] = m[0]\n"
             "  sum(m, axis: -1)\n}\n"
             "fn f(n) {\n  x = g(l)\n  %s\n}\ny = f(1000)",
             calls[i]);
    if (tally_eval(h->vm, source, NULL) != TALLY_ERR_LIMIT)
      return NULL;
  }
  return h;
}

static void test_deep_texts_need_little_stack(void **state) {
#ifdef __OPTIMIZE__
  enum { STACK = 256 << 10 };
#else
  enum { STACK = 1 << 20 };  // of `make coverage`, which else would end here
#endif
  pthread_t thread;
  pthread_attr_t small;
  void *done;
  if (refused_is_slow())
    skip();  // frames under a sanitizer are larger
  assert_int_equal(pthread_attr_init(&small), 0);
  assert_int_equal(pthread_attr_setstacksize(&small, STACK), 0);
  assert_int_equal(pthread_create(&thread, &small, run_deep_texts, *state), 0);
  assert_int_equal(pthread_join(thread, &done), 0);
  assert_ptr_equal(done, *state);
  check_value(*state, "1 + 1", "2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      PLAIN_TEST(test_no_vm),
      HOST_TEST(test_nothing_given),
      HOST_TEST(test_released_handles),
      HOST_TEST(test_taken_values_are_gone),
      HOST_TEST(test_taken_memory_is_used_again),
      HOST_TEST(test_buffers_are_written_in_place),
      HOST_TEST(test_hostile_buffers),
      HOST_TEST(test_structs_of_the_host),
      HOST_TEST(test_hooks_that_misbehave),
      HOST_TEST(test_old_hosts_have_smaller_options),
      HOST_TEST(test_stacks_grow),
      ONCE_TEST(test_deep_texts_need_little_stack, host_set_up, host_tear_down,
                "its texts are of megabytes"),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
