// tally.h as a host uses it: running, values both ways, errors, arrays.

#include <signal.h>
#include <sys/time.h>

#include "tests/unit/host.h"

static void test_eval_gives_the_last_value(void **state) {
  host *h = *state;
  int64_t i;
  double f;
  int b;
  tally_value v = eval(h, "x = 40\nx + 2");
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
  assert_int_equal(i, 42);
  assert_string_equal(tally_type(h->vm, v), "int64");
  tally_release(h->vm, v);
  v = eval(h, "x / 16");
  assert_int_equal(tally_to_float(h->vm, v, &f), TALLY_OK);
  assert_true(f == 2.5);
  tally_release(h->vm, v);
  v = eval(h, "x > 1");
  assert_int_equal(tally_to_bool(h->vm, v, &b), TALLY_OK);
  assert_true(b);
  tally_release(h->vm, v);
  assert_int_equal(tally_eval(h->vm, "print(x, [1, 2])", NULL), TALLY_OK);
  assert_string_equal(h->output, "40 [1, 2]\n");
}

static void test_values_go_in_and_come_out(void **state) {
  host *h = *state;
  tally_value items[2], list, record, out;
  const char *keys[2] = {"a", "b c"};
  const char *text;
  size_t n;
  double re, im;
  assert_int_equal(tally_from_int(h->vm, -7, &items[0]), TALLY_OK);
  assert_int_equal(tally_from_string(h->vm, "\xcf\x80", 2, &items[1]),
                   TALLY_OK);
  assert_int_equal(tally_from_list(h->vm, 2, items, &list), TALLY_OK);
  assert_int_equal(tally_from_record(h->vm, 2, keys, items, &record), TALLY_OK);
  assert_int_equal(tally_length(h->vm, list), 2);
  assert_string_equal(tally_type(h->vm, list), "list");
  assert_int_equal(tally_item(h->vm, list, 1, &out), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, out, &text, &n), TALLY_OK);
  assert_string_equal(text, "\xcf\x80");
  assert_int_equal(n, 2);
  tally_release(h->vm, out);
  assert_int_equal(tally_field(h->vm, record, "b c", &out), TALLY_OK);
  tally_release(h->vm, out);
  assert_int_equal(tally_field(h->vm, record, "nosuch", &out), TALLY_ERR_INDEX);
  assert_int_equal(tally_item(h->vm, list, 2, &out), TALLY_ERR_INDEX);
  assert_int_equal(tally_item(h->vm, list, SIZE_MAX, &out), TALLY_ERR_INDEX);
  assert_int_equal(tally_format(h->vm, record, &out), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, out, &text, &n), TALLY_OK);
  assert_string_equal(text, "(a: -7, \"b c\": \"\xcf\x80\")");
  tally_release(h->vm, out);
  tally_release(h->vm, list);
  tally_release(h->vm, record);
  tally_release(h->vm, items[0]);
  tally_release(h->vm, items[1]);
  assert_int_equal(tally_from_complex(h->vm, 1, -2, &out), TALLY_OK);
  assert_int_equal(tally_to_complex(h->vm, out, &re, &im), TALLY_OK);
  assert_true(re == 1 && im == -2);
  tally_release(h->vm, out);
  assert_int_equal(tally_from_string(h->vm, "\xff", 1, &out), TALLY_ERR_VALUE);
}

// Keys that are no strings: by position, or through the function keys.
static void test_other_keys_are_seen_by_position(void **state) {
  host *h = *state;
  tally_value record, out;
  int64_t i;
  assert_int_equal(
      tally_eval(h->vm, "r = (1: 10, (2, 3): 20, \"1\": 30); r", &record),
      TALLY_OK);
  assert_int_equal(tally_length(h->vm, record), 3);
  assert_int_equal(tally_item(h->vm, record, 1, &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 20);
  assert_int_equal(tally_field(h->vm, record, "1", &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 30);
  assert_int_equal(tally_field(h->vm, record, "(2, 3)", &out), TALLY_ERR_INDEX);
  assert_string_equal(tally_error(h->vm)->message,
                      "no field \"(2, 3)\" in record; keys: 1, (2, 3), \"1\"");
  tally_release(h->vm, record);
  assert_int_equal(tally_eval(h->vm, "keys(r)[1][0]", &out), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, out, &i), TALLY_OK);
  assert_int_equal(i, 2);
}

static void test_wrong_kinds_are_type_errors(void **state) {
  host *h = *state;
  int64_t i;
  const char *text;
  size_t n;
  tally_value v = eval(h, "\"text\"");
  assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_ERR_TYPE);
  assert_string_equal(tally_error(h->vm)->kind, "type");
  tally_release(h->vm, v);
  v = eval(h, "1.5");
  assert_int_equal(tally_to_string(h->vm, v, &text, &n), TALLY_ERR_TYPE);
  tally_release(h->vm, v);
}

static void test_globals_and_calls(void **state) {
  host *h = *state;
  tally_value x, y;
  int64_t i;
  assert_int_equal(tally_from_int(h->vm, 20, &x), TALLY_OK);
  assert_int_equal(tally_set_global(h->vm, "n", x), TALLY_OK);
  assert_int_equal(tally_eval(h->vm, "fn add(a, b = 1) = a + b + n", NULL),
                   TALLY_OK);
  assert_int_equal(tally_call(h->vm, "add", 1, &x, &y), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, y, &i), TALLY_OK);
  assert_int_equal(i, 41);
  assert_int_equal(tally_move_global(h->vm, "n", y), TALLY_OK);
  assert_int_equal(tally_get_global(h->vm, "n", &y), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, y, &i), TALLY_OK);
  assert_int_equal(i, 41);
  tally_release(h->vm, y);
  assert_int_equal(tally_eval(h->vm, "fn max(x) = 0", NULL), TALLY_OK);
  assert_int_equal(tally_call(h->vm, "max", 1, &x, &y), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, y, &i), TALLY_OK);
  assert_int_equal(i, 0);
  assert_int_equal(tally_call(h->vm, ".max", 1, &x, &y), TALLY_OK);
  assert_int_equal(tally_to_int(h->vm, y, &i), TALLY_OK);
  assert_int_equal(i, 20);
  assert_int_equal(tally_call(h->vm, ".add", 1, &x, &y), TALLY_ERR_TYPE);
  assert_int_equal(tally_call(h->vm, ".", 1, &x, &y), TALLY_ERR_NAME);
  assert_int_equal(tally_call(h->vm, "nosuch", 1, &x, &y), TALLY_ERR_NAME);
  assert_int_equal(tally_call(h->vm, "add", 0, NULL, &y), TALLY_ERR_TYPE);
  assert_int_equal(tally_get_global(h->vm, "nosuch", &y), TALLY_ERR_NAME);
  tally_release(h->vm, x);
}

static void test_functions_are_compiled_once(void **state) {
  host *h = *state;
  tally_value f, v;
  int64_t i;
  assert_int_equal(tally_eval(h->vm, "k = 0", NULL), TALLY_OK);
  assert_int_equal(tally_compile(h->vm, "k * 2", &f), TALLY_OK);
  for (int64_t k = 1; k < 4; k++) {
    assert_int_equal(tally_from_int(h->vm, k, &v), TALLY_OK);
    assert_int_equal(tally_move_global(h->vm, "k", v), TALLY_OK);
    assert_int_equal(tally_apply(h->vm, f, 0, NULL, &v), TALLY_OK);
    assert_int_equal(tally_to_int(h->vm, v, &i), TALLY_OK);
    assert_int_equal(i, 2 * k);
    tally_release(h->vm, v);
  }
  tally_release(h->vm, f);
}

static void test_errors_tell_kind_place_and_trace(void **state) {
  host *h = *state;
  const char *source = "fn f(x) = x[9]\n\nf([1, 2])";
  assert_int_equal(tally_eval(h->vm, source, NULL), TALLY_ERR_INDEX);
  const tally_error_info *error = tally_error(h->vm);
  assert_int_equal(error->status, TALLY_ERR_INDEX);
  assert_string_equal(error->kind, "index");
  assert_int_equal(error->line, 1);
  assert_non_null(strstr(error->message, "9"));
  assert_int_equal(error->trace_count, 1);
  assert_non_null(strstr(error->report, error->message));
  assert_int_equal(tally_eval(h->vm, "x = (1,", NULL), TALLY_ERR_SYNTAX);
  assert_int_equal(tally_eval(h->vm, "1 // 0", NULL), TALLY_ERR_DOMAIN);
  assert_int_equal(tally_eval(h->vm, "2 + 2", NULL), TALLY_OK);
}

static void test_limits(void **state) {
  host *h = *state;
  (void)h;
  tally_options options = tally_default_options();
  options.memory_limit = 8u << 20;
  options.instruction_limit = 1000000;
  options.capabilities = 0;
  tally_vm *vm;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  assert_int_equal(tally_eval(vm, "sum(zeros(2000000))", NULL),
                   TALLY_ERR_MEMORY);
  assert_int_equal(tally_eval(vm, "while true { }", NULL), TALLY_ERR_LIMIT);
  assert_int_equal(tally_eval(vm, "try { while true { } } catch { }", NULL),
                   TALLY_ERR_LIMIT);
  assert_int_not_equal(
      tally_eval(vm, "import io\nio.read_text(\"README.md\")", NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "sum(zeros(1000))", NULL), TALLY_OK);
  assert_int_equal(tally_close(vm), 0);
}

static tally_vm *running;

static void interrupt(int signal) {
  (void)signal;
  tally_interrupt(running);
}

static void test_interrupt_stops_a_loop(void **state) {
  host *h = *state;
  const struct itimerval soon = {.it_value = {0, 2000}};
  running = h->vm;
  struct sigaction action = {.sa_handler = interrupt};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  assert_int_equal(
      tally_eval(h->vm, "while true { try { assert(false) } catch { } }", NULL),
      TALLY_ERR_INTERRUPT);
  setitimer(ITIMER_REAL, &soon, NULL);
  assert_int_equal(tally_eval(h->vm, "while true { }", NULL),
                   TALLY_ERR_INTERRUPT);
  assert_int_equal(tally_eval(h->vm, "1", NULL), TALLY_OK);
}

static void test_arrays_are_described(void **state) {
  host *h = *state;
  tally_array a;
  tally_value v = eval(h, "float32([[1, 2, 3], [4, 5, 6]]).T");
  assert_string_equal(tally_type(h->vm, v), "3 * 2 * float32");
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_OK);
  assert_string_equal(a.dtype, "float32");
  assert_int_equal(a.ndim, 2);
  assert_int_equal(a.size, 6);
  assert_int_equal(a.shape[0], 3);
  assert_int_equal(a.shape[1], 2);
  float item;
  memcpy(&item, (char *)a.data + a.strides[0] * 2 + a.strides[1], sizeof item);
  assert_true(item == 6);
  tally_release(h->vm, v);
  v = eval(h, "(1, 2)");
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_ERR_TYPE);
  tally_release(h->vm, v);
}

static int released;

static void release(void *context, void *data) {
  (void)data;
  assert_ptr_equal(context, &released);
  released++;
}

static void test_buffers_are_borrowed_until_released(void **state) {
  host *h = *state;
  double data[6] = {1, 2, 3, 4, 5, 6};
  tally_buffer buffer = {.data = data,
                         .type = "2 * 3 * float64",
                         .nbytes = sizeof data,
                         .release = release,
                         .context = &released};
  tally_value v, total;
  double f;
  released = 0;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &v), TALLY_OK);
  assert_int_equal(tally_set_global(h->vm, "x", v), TALLY_OK);
  tally_release(h->vm, v);
  total = eval(h, "sum(x[:, 1])");
  assert_int_equal(tally_to_float(h->vm, total, &f), TALLY_OK);
  assert_true(f == 7);
  tally_release(h->vm, total);
  assert_int_equal(released, 0);
  assert_int_equal(tally_eval(h->vm, "x = 0", NULL), TALLY_OK);
  assert_int_equal(released, 1);
  buffer.nbytes = 8;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &v), TALLY_ERR_SHAPE);
  buffer.type = "var * float64";
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &v), TALLY_ERR_TYPE);
  assert_int_equal(released, 1);
}

static void test_input_is_complete_or_not(void **state) {
  host *h = *state;
  assert_int_equal(tally_check_input(h->vm, "1 + 1"), TALLY_INPUT_COMPLETE);
  assert_int_equal(tally_check_input(h->vm, "f(1,"), TALLY_INPUT_INCOMPLETE);
  assert_int_equal(tally_check_input(h->vm, "if x {"), TALLY_INPUT_INCOMPLETE);
  assert_int_equal(tally_check_input(h->vm, "1 +"), TALLY_INPUT_INCOMPLETE);
  assert_int_equal(tally_check_input(h->vm, "x = )"), TALLY_INPUT_COMPLETE);
  assert_int_equal(tally_check_input(h->vm, "## f\n"), TALLY_INPUT_INCOMPLETE);
  assert_int_equal(tally_check_input(h->vm, "## f\n\n"), TALLY_INPUT_COMPLETE);
  assert_int_equal(tally_check_input(h->vm, "# f\n"), TALLY_INPUT_COMPLETE);
}

// The text with a letter of each token's kind below its bytes.
static void check_tokens(host *h, const char *text, const char *expected) {
  static const char letters[] = ".knc0stoO)#!";
  tally_token tokens[32];
  char shown[64];
  size_t nbytes = strlen(text);
  size_t count = tally_tokens(h->vm, text, nbytes, tokens, 32);
  assert_int_equal(tally_tokens(h->vm, text, nbytes, NULL, 0), count);
  memset(shown, ' ', nbytes);
  shown[nbytes] = 0;
  for (size_t i = 0; i < count; i++) {
    assert_true(tokens[i].begin < tokens[i].end && tokens[i].end <= nbytes);
    memset(shown + tokens[i].begin, letters[tokens[i].kind],
           tokens[i].end - tokens[i].begin);
  }
  assert_string_equal(shown, expected);
}

static void test_tokens_of_a_text(void **state) {
  host *h = *state;
  check_tokens(h, "if f(x[1]) { 2.5 }  # a", "kk cOnO0)) O 000 )  ###");
  check_tokens(h, "\"a{b}c\" + `int64` # d", "sssnsss o ttttttt ###");
  check_tokens(h, "a.b, c = d; not true", "n.n. n o n. kkk kkkk");
  // What is not whole yet is no error, other than what can never be.
  check_tokens(h, "(\"ab", "Osss");
  check_tokens(h, "(\"ab\n1", "O!!! 0");
  check_tokens(h, "1 ) $", "0 ! !");
  check_tokens(h, "", "");
  tally_token t[3];
  assert_int_equal(tally_tokens(h->vm, "a(b[1])", 7, t, 3), 7);
  assert_int_equal(t[1].match, 6);
  assert_int_equal(tally_tokens(h->vm, "(a", 2, t, 3), 2);
  assert_int_equal(t[0].match, 0);
  assert_int_equal(tally_tokens(h->vm, "a\xff", 2, t, 3), 0);
  assert_int_equal(tally_tokens(h->vm, NULL, 2, t, 3), 0);
  assert_int_equal(tally_tokens(h->vm, "a", 1, NULL, 3), 0);
}

static void check_description(host *h, const char *name, const char *expected) {
  tally_value v;
  const char *text;
  size_t nbytes;
  assert_int_equal(tally_describe(h->vm, name, &v), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, v, &text, &nbytes), TALLY_OK);
  assert_int_equal(nbytes, strlen(expected));
  assert_memory_equal(text, expected, nbytes);
  tally_release(h->vm, v);
}

static void test_own_functions_describe_themselves(void **state) {
  host *h = *state;
  const char *source =
      "k = 2\n"
      "## Scales x.\n"
      "fn scale(x,\n"
      "         by: 3) = k * x * by\n"
      "fn bare() = 1\n"
      "r = (f: scale)\n"
      "import time\n"
      "day = time.days(1970, 1, 2)";
  assert_int_equal(tally_interact(h->vm, source, 80), TALLY_OK);
  check_description(h, "scale", "scale(x, by: 3)\n\nScales x.\n");
  check_description(h, "r.f", "scale(x, by: 3)\n\nScales x.\n");
  check_description(h, "bare", "bare()\n");
  check_description(h, "k", "");
  check_description(h, "sum", "");
  check_description(h, "nothing.f", "");
  check_description(h, "time", "");
  check_description(h, "time.days", "");
}

// A picture at the prompt, as a terminal of that kind takes it, with [part] in
// it; as text where librsvg is not installed.
static void check_picture(host *h, int colors, const char *begin,
                          const char *part) {
  tally_options options = host_options(h);
  options.colors = colors;
  host_close(h);
  host_open(h, &options);
  h->length = 0;
  const char *source =
      "import plot\nplot.figure(plot.line([1, 2]), width: 160, height: 120)";
  assert_int_equal(tally_interact(h->vm, source, 80), TALLY_OK);
  if (h->output[0] != '\033') {
    assert_non_null(strstr(h->output, "│"));
    return;
  }
  assert_memory_equal(h->output, begin, strlen(begin));
  assert_non_null(strstr(h->output, part));
}

static void test_pictures_are_images_where_that_is_said(void **state) {
  host *h = *state;
  check_picture(h, 2, "\033_Ga=T,f=100,q=2,m=0;iVBORw0KGgo", "\033\\");
  // The most frequent colour is white; the line's is #0072b2 in 32 steps.
  check_picture(h, 3, "\033P0;1q\"1;1;160;120#0;2;100;100;100#",
                ";2;0;45;71#");
}

static void test_values_left_are_counted(void **state) {
  (void)state;
  tally_vm *vm;
  tally_value v;
  assert_int_equal(tally_open(NULL, &vm), TALLY_OK);
  assert_int_equal(tally_eval(vm, "[1, 2, 3]", &v), TALLY_OK);
  assert_int_equal(tally_close(vm), 1);
  assert_int_equal(tally_close(NULL), 0);
}

// What a variable named _ gets nobody wants to have again.
static void test_underscore_keeps_nothing(void **state) {
  host *h = *state;
  tally_stats before, after;
  run_ok(h, "x = ones(100000)");
  tally_get_stats(h->vm, &before);
  assert_int_equal(tally_interact(h->vm, "_, y = (x, 1)\nx = none", 80),
                   TALLY_OK);
  tally_get_stats(h->vm, &after);
  assert_true(after.live_bytes + 800000 < before.live_bytes + 10000);
  run_ok(h,
         "(_, z) = (ones(100000), 2)\nfor _ in 0..2 { }\nassert(y + z == 3)");
  tally_get_stats(h->vm, &after);
  assert_true(after.live_bytes + 800000 < before.live_bytes + 10000);
  CHECK_ERROR(h, tally_eval(h->vm, "_", NULL), TALLY_ERR_NAME, "_");
}

static void test_values_left_are_named(void **state) {
  host *h = *state;
  tally_value v, small, left;
  assert_int_equal(tally_watch(h->vm, TALLY_WATCH_MEMORY), TALLY_OK);
  v = eval(h, "a = 1\nones(100000)");
  small = eval(h, "(1, \"a\")");
  assert_int_equal(tally_left(h->vm, &left), TALLY_OK);
  assert_int_equal(tally_watch(h->vm, 0), TALLY_OK);
  assert_int_equal(tally_set_global(h->vm, "left", left), TALLY_OK);
  tally_release(h->vm, left);
  run_ok(h,
         "assert(len(left) == 2)\n"
         "assert(left[0].{type, owner, made} == (type: \"100000 * float64\","
         " owner: \"the host\", made: \"<eval>:2\"))\n"
         "assert(left[0].bytes > 800000 and left[1].type == \"list\")\n"
         "assert(left[1].made == none)\n"
         "left = none");
  tally_release(h->vm, v);
  tally_release(h->vm, small);
}

static void test_frames_release_what_was_made(void **state) {
  host *h = *state;
  tally_value before = eval(h, "ones(3)");
  tally_frame outer = tally_begin(h->vm);
  tally_value a = eval(h, "ones(4)"), kept = eval(h, "(1, \"a\")");
  tally_value freed = eval(h, "ones(5)");
  tally_release(h->vm, freed);
  tally_frame inner = tally_begin(h->vm);
  tally_value b = eval(h, "ones(6)"), handed = eval(h, "ones(7)");
  tally_value more = tally_retain(h->vm, eval(h, "ones(8)"));
  tally_end(h->vm, inner, 1, &handed);
  assert_false(tally_is_live(h->vm, b));
  assert_true(tally_is_live(h->vm, handed) && tally_is_live(h->vm, a));
  assert_true(tally_is_live(h->vm, more));
  tally_release(h->vm, more);
  assert_false(tally_is_live(h->vm, more));
  tally_end(h->vm, inner, 0, NULL);
  assert_true(tally_is_live(h->vm, a));
  tally_begin(h->vm);
  b = eval(h, "ones(9)");
  tally_value all[] = {kept, before};
  tally_end(h->vm, outer, 2, all);
  assert_false(tally_is_live(h->vm, a) || tally_is_live(h->vm, b) ||
               tally_is_live(h->vm, handed));
  assert_true(tally_is_live(h->vm, kept) && tally_is_live(h->vm, before));
  tally_release(h->vm, kept);
  tally_release(h->vm, before);
  tally_value left = eval(h, "ones(3)");
  tally_end(h->vm, outer, 0, NULL);
  assert_true(tally_is_live(h->vm, left));
  tally_release(h->vm, left);
}

// What is older than the frame may be handed on, too: a function that gives
// a value which it made or one that it was given need not know which.
static void test_frames_hand_on_what_is_older(void **state) {
  host *h = *state;
  tally_value before = eval(h, "ones(3)");
  tally_frame outer = tally_begin(h->vm);
  tally_value a = eval(h, "ones(4)");
  tally_frame inner = tally_begin(h->vm);
  tally_value all[] = {before, a, eval(h, "ones(5)"), before, a};
  tally_end(h->vm, inner, 5, all);
  assert_true(tally_is_live(h->vm, a) && tally_is_live(h->vm, all[2]));
  tally_end(h->vm, outer, 0, NULL);
  assert_true(tally_is_live(h->vm, before));
  assert_false(tally_is_live(h->vm, a) || tally_is_live(h->vm, all[2]));
  tally_release(h->vm, before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_frames_release_what_was_made),
      HOST_TEST(test_frames_hand_on_what_is_older),
      HOST_TEST(test_eval_gives_the_last_value),
      HOST_TEST(test_values_go_in_and_come_out),
      HOST_TEST(test_other_keys_are_seen_by_position),
      HOST_TEST(test_wrong_kinds_are_type_errors),
      HOST_TEST(test_globals_and_calls),
      HOST_TEST(test_own_functions_describe_themselves),
      HOST_TEST(test_pictures_are_images_where_that_is_said),
      HOST_TEST(test_functions_are_compiled_once),
      HOST_TEST(test_errors_tell_kind_place_and_trace),
      HOST_TEST(test_limits),
      HOST_TEST(test_interrupt_stops_a_loop),
      HOST_TEST(test_arrays_are_described),
      HOST_TEST(test_buffers_are_borrowed_until_released),
      HOST_TEST(test_input_is_complete_or_not),
      HOST_TEST(test_tokens_of_a_text),
      HOST_TEST(test_values_left_are_counted),
      HOST_TEST(test_values_left_are_named),
      HOST_TEST(test_underscore_keeps_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
