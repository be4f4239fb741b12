// Watching runs: live bytes over time, as text and as a picture.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tally.h"

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

static tally_vm *open_vm(void) {
  tally_options options = tally_default_options();
  options.write = write_nothing;
  tally_vm *vm;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  return vm;
}

static void run(tally_vm *vm, const char *source) {
  tally_status status =
      tally_run_source(vm, "dir/script.tly", source, strlen(source), 0, NULL);
  if (status != TALLY_OK)
    fail_msg("%s", tally_error(vm)->report);
}

// What is recorded as text or SVG; the caller releases *value.
static const char *plot(tally_vm *vm, tally_plot_form form,
                        tally_value *value) {
  const char *text;
  size_t nbytes;
  assert_int_equal(tally_plot_memory(vm, form, 80, value), TALLY_OK);
  assert_int_equal(tally_to_string(vm, *value, &text, &nbytes), TALLY_OK);
  return text;
}

static void assert_has(const char *text, const char *part) {
  if (strstr(text, part) == NULL)
    fail_msg("no '%s' in:\n%s", part, text);
}

static void a_peak_without_a_line_is_of_code(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY), TALLY_OK);
  run(vm, "x = 1\n");
  tally_value text, picture;
  assert_has(plot(vm, TALLY_PLOT_TEXT, &text), "peak while code is compiled");
  assert_has(plot(vm, TALLY_PLOT_SVG, &picture), ", while code is compiled<");
  tally_release(vm, text);
  tally_release(vm, picture);
  assert_int_equal(tally_close(vm), 0);
}

static void the_peak_has_its_line(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY), TALLY_OK);
  run(vm,
      "x = ones(1000000)\n"
      "y = x + 1  # both are alive\n"
      "print(sum(x), sum(y))\n");
  tally_value text, picture;
  const char *shown = plot(vm, TALLY_PLOT_TEXT, &text);
  assert_has(shown, "peak at script.tly:2: y = x + 1");
  assert_has(shown, "8.00 MB  ");
  assert_has(shown, "━");
  assert_has(shown, "1: x = ones(1000000)\n");
  shown = plot(vm, TALLY_PLOT_SVG, &picture);
  assert_has(shown, "code, and blocks below ");
  assert_has(shown, "<svg xmlns=");
  assert_has(shown, ", line 2: ");
  assert_has(shown, ">line 1: 8.00 MB<");
  assert_string_equal(shown + strlen(shown) - 7, "</svg>\n");
  tally_release(vm, text);
  tally_release(vm, picture);
  assert_int_equal(tally_close(vm), 0);
}

static int count_of(const char *text, const char *part) {
  int n = 0;
  while ((text = strstr(text, part)) != NULL) n++, text++;
  return n;
}

// Blocks born in one line are one line of the text, and all of many blocks are
// seen in the picture: none falls out of a column where others die.
static void many_blocks_are_one_line(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  tally_watch(vm, TALLY_WATCH_MEMORY);
  run(vm,
      "l = ()\n"
      "for i in 0..40 { l = append(l, ones(100000)) }\n"
      "for i in 0..400 { l[i % 40][0] = sum(l[i % 40]) }\n"
      "print(len(l))\n");
  tally_value value;
  const char *text = plot(vm, TALLY_PLOT_TEXT, &value);
  assert_in_range(count_of(text, "append("), 1, 2);  // the peak's may be it
  assert_has(text, "          2, 40 blocks: for i in 0..40 {");
  tally_release(vm, value);
  assert_int_equal(tally_close(vm), 0);
}

// Each < opens a tag that > closes; source lines are escaped.
static void a_picture_is_well_formed(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  tally_watch(vm, TALLY_WATCH_MEMORY);
  run(vm, "x = ones(100000) * 2 < 3 & true\nprint(any(x), \"<&>\")\n");
  tally_value value;
  const char *at = plot(vm, TALLY_PLOT_SVG, &value);
  int depth = 0;
  for (; *at != 0; at++) {
    depth += (*at == '<') - (*at == '>');
    assert_in_range(depth, 0, 1);
    if (*at == '&')
      assert_true(strncmp(at, "&lt;", 4) == 0 || strncmp(at, "&gt;", 4) == 0 ||
                  strncmp(at, "&amp;", 5) == 0 ||
                  strncmp(at, "&quot;", 6) == 0);
  }
  assert_int_equal(depth, 0);
  tally_release(vm, value);
  tally_close(vm);
}

// A long run takes no more room than a short one, and keeps its peak.
static void a_long_run_is_coalesced(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  tally_watch(vm, TALLY_WATCH_MEMORY);
  run(vm,
      "x = ones(3000)\n"
      "s = 0.0\n"
      "for i in 0..100000 { y = x + i; s += y[0] }\n"
      "z = (ones(100000), ones(100000))\n"
      "for i in 0..50000 { y = (x, x * i); s += y[1][0] }\n"
      "print(s, len(z))\n");
  tally_value text, picture;
  const char *shown = plot(vm, TALLY_PLOT_TEXT, &text);
  assert_has(shown, "peak at script.tly:5");
  for (int column = 0; *shown != 0; shown++) {
    column =
        *shown == '\n' ? 0 : column + (((unsigned char)*shown & 0xc0) != 0x80);
    assert_true(column <= 80);
  }
  shown = plot(vm, TALLY_PLOT_SVG, &picture);
  assert_true(strlen(shown) < 100000);
  tally_release(vm, text);
  tally_release(vm, picture);
  tally_close(vm);
}

// Also where a module is the first to ask for memory.
static void a_picture_is_named_for_its_script(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  tally_watch(vm, TALLY_WATCH_MEMORY);
  run(vm,
      "import stats\n"
      "print(stats.kurtosis(float64(0..100000)))\n");
  tally_value picture;
  assert_has(plot(vm, TALLY_PLOT_SVG, &picture), ">script.tly: live bytes");
  tally_release(vm, picture);
  tally_close(vm);
}

// The limits are the script's: a picture of a run that met one is drawn whole.
static void a_picture_has_no_limits(void **state) {
  (void)state;
  tally_options options = tally_default_options();
  options.memory_limit = 200000;
  options.instruction_limit = 100000;
  tally_vm *vm;
  assert_int_equal(tally_open(&options, &vm), TALLY_OK);
  assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY), TALLY_OK);
  assert_int_equal(tally_eval(vm, "a = ones(10000)", NULL), TALLY_OK);
  assert_int_equal(tally_eval(vm, "ones(100000)", NULL), TALLY_ERR_MEMORY);
  assert_int_equal(tally_eval(vm, "while true { a[0] = 1 }", NULL),
                   TALLY_ERR_LIMIT);
  tally_value text, picture;
  assert_has(plot(vm, TALLY_PLOT_TEXT, &text), "1: a = ones(10000)");
  assert_has(plot(vm, TALLY_PLOT_SVG, &picture), "</svg>");
  tally_release(vm, text);
  tally_release(vm, picture);
  assert_int_equal(tally_close(vm), 0);
}

// Where time passes, each look takes twenty seconds; an interrupt comes at the
// second.
typedef struct looks {
  tally_vm *vm;
  int count;
  bool pass, interrupt;
} looks;

static double look(void *context) {
  looks *l = context;
  if (l->interrupt && ++l->count == 2)
    tally_interrupt(l->vm);
  return l->pass ? 20.0 * ++l->count : 0;
}

static void who_watches_ends_a_picture(void **state) {
  (void)state;
  looks l = {0};
  tally_options options = tally_default_options();
  options.clock = look;
  options.context = &l;
  options.write = write_nothing;
  options.time_limit = 12;
  assert_int_equal(tally_open(&options, &l.vm), TALLY_OK);
  assert_int_equal(tally_watch(l.vm, TALLY_WATCH_MEMORY), TALLY_OK);
  run(l.vm, "for i in 0..2000 { a = ones(i % 7 * 1000) }\n");
  tally_value text;
  for (int form = TALLY_PLOT_TEXT; form <= TALLY_PLOT_JSON; form++) {
    l.pass = true;
    assert_int_equal(tally_plot_memory(l.vm, (tally_plot_form)form, 80, &text),
                     TALLY_ERR_LIMIT);
    l = (looks){.vm = l.vm, .interrupt = true};
    assert_int_equal(tally_plot_memory(l.vm, (tally_plot_form)form, 80, &text),
                     TALLY_ERR_INTERRUPT);
    l = (looks){.vm = l.vm};
    plot(l.vm, (tally_plot_form)form, &text);
    tally_release(l.vm, text);
  }
  // A run that its time has ended is drawn in a time of its own.
  assert_int_equal(tally_watch(l.vm, TALLY_WATCH_MEMORY), TALLY_OK);
  l.pass = true;
  assert_int_equal(tally_eval(l.vm, "while true { a = ones(9) }", NULL),
                   TALLY_ERR_LIMIT);
  l.pass = false;
  l.count = 0;
  assert_has(plot(l.vm, TALLY_PLOT_TEXT, &text), "peak");
  tally_release(l.vm, text);
  assert_int_equal(tally_close(l.vm), 0);
}

static void a_call_is_recorded_beside_the_run(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY | TALLY_WATCH_OPERATIONS),
                   TALLY_OK);
  run(vm,
      "import memory\n"
      "t = memory.timeline(() => sum(zeros(100000) + 1.0))\n"
      "assert(t.peak - t.before > 800000 and t.after < 800000)\n"
      "x = ones(1000000)\n"
      "print(sum(x))\n");
  tally_value text;
  assert_has(plot(vm, TALLY_PLOT_TEXT, &text),
             "peak at script.tly:4: x = ones");
  tally_release(vm, text);
  assert_int_equal(tally_close(vm), 0);
}

static void nothing_recorded_is_an_error(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  tally_value value;
  assert_int_equal(tally_plot_memory(vm, TALLY_PLOT_TEXT, 80, &value),
                   TALLY_ERR_HOST);
  tally_close(vm);
}

// What was alive when watching began may die while it goes on.
static void watching_begins_and_ends_anywhere(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  assert_int_equal(tally_eval(vm, "a = ones(10000); b = 2", NULL), TALLY_OK);
  for (int turn = 0; turn < 3; turn++) {
    assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY), TALLY_OK);
    assert_int_equal(tally_eval(vm, "b = a; a = ones(20000)", NULL), TALLY_OK);
    assert_int_equal(tally_watch(vm, 0), TALLY_OK);
    assert_int_equal(tally_eval(vm, "a = ones(10)", NULL), TALLY_OK);
    tally_value value;
    assert_has(plot(vm, TALLY_PLOT_TEXT, &value), "before");
    tally_release(vm, value);
  }
  tally_close(vm);
}

// A block that goes to another VM ends here and begins there.
static void what_changes_vms_is_seen(void **state) {
  (void)state;
#ifdef TALLY_AUDIT
  skip();  // the auditor looks at each item of the list at each step
#endif
  tally_vm *vm = open_vm(), *second = open_vm();
  assert_int_equal(tally_watch(vm, TALLY_WATCH_MEMORY), TALLY_OK);
  assert_int_equal(tally_watch(second, TALLY_WATCH_MEMORY), TALLY_OK);
  tally_value v, text;
  tally_parcel *p;
  assert_int_equal(tally_eval(vm, "ones(1000000)", &v), TALLY_OK);
  static const char some[] = "\nfor i in 0..1000 { b = ones(10000) }";
  // As much again in blocks that are too small for bars of their own: a picture
  // shows no more than is alive.
  static const char more[] =
      "\n\nl = ()\nfor i in 0..20000 { l = append(l, ones(60)) }\n"
      "for i in 0..8000 { b = ones(10000) }";
  assert_int_equal(tally_eval(vm, some, NULL), TALLY_OK);
  assert_int_equal(tally_send(vm, v, &p), TALLY_OK);
  assert_int_equal(tally_receive(second, p, &v), TALLY_OK);
  // Its bar has ended where that of the last line begins, however long each
  // line took. What stands before a bar is ASCII: a byte for each column.
  assert_int_equal(tally_eval(vm, more, NULL), TALLY_OK);
  const char *shown = strstr(plot(vm, TALLY_PLOT_TEXT, &text), "\n 8.00 MB");
  assert_non_null(shown);
  const char *after = strchr(shown + 1, '\n'), *last = strstr(shown, "\n 80.");
  for (const char *next = last; next != NULL; next = strstr(next + 1, "\n 80."))
    last = next;
  assert_non_null(last);
  size_t cells = (size_t)(count_of(shown, "━") - count_of(after, "━"));
  assert_true(cells > 0);
  assert_true((size_t)(strstr(shown, "━") - shown) + cells <=
              (size_t)(strstr(last, "━") - last) + 1);
  tally_release(vm, text);
  assert_has(plot(second, TALLY_PLOT_TEXT, &text), "8.01 MB");
  tally_release(second, text);
  tally_release(second, v);
  assert_int_equal(tally_close(vm), 0);
  assert_int_equal(tally_close(second), 0);
}

// What a host says of counting while it watches holds when that ends.
static void counting_is_the_hosts_after_a_watch(void **state) {
  (void)state;
  tally_vm *vm = open_vm();
  for (int on = 0; on < 2; on++) {
    tally_stats stats;
    tally_count(vm, !on);
    tally_watch(vm, TALLY_WATCH_MEMORY);
    tally_count(vm, on);
    tally_reset_stats(vm);
    run(vm, "x = ones(4) + 1\nprint(sum(x))\n");
    tally_get_stats(vm, &stats);
    assert_true(stats.instructions > 0);
    tally_watch(vm, 0);
    tally_reset_stats(vm);
    run(vm, "x = ones(4) + 1\nprint(sum(x))\n");
    tally_get_stats(vm, &stats);
    assert_int_equal(stats.instructions > 0, on);
  }
  assert_int_equal(tally_close(vm), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_peak_has_its_line),
      cmocka_unit_test(a_peak_without_a_line_is_of_code),
      cmocka_unit_test(many_blocks_are_one_line),
      cmocka_unit_test(a_picture_is_well_formed),
      cmocka_unit_test(a_long_run_is_coalesced),
      cmocka_unit_test(a_picture_is_named_for_its_script),
      cmocka_unit_test(a_picture_has_no_limits),
      cmocka_unit_test(who_watches_ends_a_picture),
      cmocka_unit_test(nothing_recorded_is_an_error),
      cmocka_unit_test(a_call_is_recorded_beside_the_run),
      cmocka_unit_test(watching_begins_and_ends_anywhere),
      cmocka_unit_test(what_changes_vms_is_seen),
      cmocka_unit_test(counting_is_the_hosts_after_a_watch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
