// The cases of counting by their ids: each is in tests/counting/ids.txt and
// asserted where that says, and each that is a function of
// tests/counting/cases.tly runs in all modes: as it is, with --no-reuse, with
// an error at each of its operations, and with each of its allocations refused.
// In a build with TALLY_AUDIT every count is recounted meanwhile.

#include "tests/unit/host.h"

#include <ctype.h>
#include <stdio.h>

#include "vm/vm.h"

enum { ID = 16, PATH = 96, MOST = 80, CALL = 24, TEXT = 160 };

typedef struct entry {
  char id[ID], where[PATH], mark[PATH];
  bool is_case;
} entry;

static entry entries[MOST];
static int entry_count;

// --- The list ---------------------------------------------------------------

static char *read_whole(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL)
    fail_msg("%s: run from the repository's root", path);
  size_t room = 1 << 20;
  char *text = malloc(room);
  assert_non_null(text);
  text[fread(text, 1, room - 1, f)] = 0;
  fclose(f);
  return text;
}

static int read_list(void **state) {
  (void)state;
  char *text = read_whole("tests/counting/ids.txt");
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    if (*line == '#')
      continue;
    assert_true(entry_count < MOST);
    entry *e = &entries[entry_count++];
    int n = sscanf(line, "%15s %95s %95s", e->id, e->where, e->mark);
    e->is_case = n == 2;
    assert_true(n == 2 || n == 3);
  }
  free(text);
  return 0;
}

static void the_list_is_whole(void **state) {
  (void)state;
  static const struct {
    char letter;
    int count;
  } all[] = {{'T', 10}, {'L', 18}, {'P', 10}, {'R', 10},
             {'E', 5},  {'C', 12}, {'O', 10}};
  int at = 0;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    for (int i = 1; i <= all[k].count; i++, at++) {
      char id[ID];
      snprintf(id, sizeof id, "%c%d", all[k].letter, i);
      assert_true(at < entry_count);
      assert_string_equal(entries[at].id, id);
    }
  }
  assert_int_equal(at, entry_count);
}

// Whether a line of [text] begins with the id as a word.
static bool has_line(const char *text, const char *id) {
  size_t n = strlen(id);
  for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, id, n) == 0 && !isdigit((unsigned char)at[n]))
      return true;
  }
  return false;
}

static void each_is_asserted(void **state) {
  (void)state;
  for (int i = 0; i < entry_count; i++) {
    const entry *e = &entries[i];
    char path[2 * PATH];
    for (int k = 0; k < (e->is_case ? 2 : 1); k++) {
      snprintf(path, sizeof path, e->is_case ? "tests/counting/%s.%s" : "%s",
               e->where, k == 0 ? "out" : "plain");
      char *text = read_whole(path);
      bool ok =
          e->is_case ? has_line(text, e->id) : strstr(text, e->mark) != NULL;
      free(text);
      if (!ok)
        fail_msg("%s: nothing in %s asserts it", e->id, path);
    }
  }
}

// --- The modes --------------------------------------------------------------

static void open_cases(host *h, bool no_reuse) {
  tally_options options = host_options(h);
  options.no_reuse = no_reuse;
  host_open(h, &options);
  char *source = read_whole("tests/counting/cases.tly");
  run_ok(h, source);
  free(source);
  tally_count(h->vm, 1);
}

// The call of a case, "t1()".
static void name_call(const entry *e, char call[CALL]) {
  snprintf(call, CALL, "%.15s()", e->id);
  call[0] = (char)tolower((unsigned char)call[0]);
}

static void show(host *h, const char *call, char text[TEXT]) {
  tally_value out = eval(h, call), shown;
  const char *bytes;
  assert_int_equal(tally_format(h->vm, out, &shown), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, shown, &bytes, NULL), TALLY_OK);
  snprintf(text, TEXT, "%s", bytes);
  tally_release(h->vm, shown);
  tally_release(h->vm, out);
}

// What is alive once the last error has given way to always the same one, and
// without what p5 and p9 left behind.
static tally_stats rest(host *h) {
  tally_stats s;
  h->fail_at = 0;
  h->vm->fail_in = 0;
  tally_value none;
  assert_int_equal(tally_eval(h->vm, "error(\"end\")", &none), TALLY_ERR_VALUE);
  run_ok(h, "kept = none\nglobal_ = none");
  tally_get_stats(h->vm, &s);
  return s;
}

static void each_gives_the_same_without_reuse(void **state) {
  host *h = *state, plain = {.vm = NULL};
  open_cases(h, false);
  open_cases(&plain, true);
  for (int i = 0; i < entry_count; i++) {
    char call[CALL], text[TEXT], same[TEXT];
    if (!entries[i].is_case)
      continue;
    name_call(&entries[i], call);
    show(h, call, text);
    show(&plain, call, same);
    if (strcmp(text, same) != 0)
      fail_msg("%s is %s, with --no-reuse %s", call, text, same);
  }
  host_close(&plain);
  host_close(h);
}

typedef enum what { OPERATION, ALLOCATION } what;

// Runs a case with its [n]-th operation or allocation failing: false where it
// has no such.
static bool run_failing(host *h, const char *call, what what, uint64_t n) {
  tally_value out = {0, 0};
  h->refused = false;
  h->fail_at = what == ALLOCATION ? h->requests + n : 0;
  h->vm->fail_in = what == OPERATION ? n : 0;
  tally_status status = tally_eval(h->vm, call, &out);
  bool failed = what == ALLOCATION ? h->refused : h->vm->fail_in == 0;
  if (status == TALLY_OK)
    tally_release(h->vm, out);
  // Where memory is only wanted to do better, its lack is no error; and some
  // cases catch what fails.
  else if (!failed || (what == ALLOCATION && status != TALLY_ERR_MEMORY) ||
           (what == OPERATION && status != TALLY_ERR_ASSERT))
    fail_msg("%s, failing at %d: %s", call, (int)n, tally_error(h->vm)->report);
  return failed;
}

static void fail_at_each(host *h, what what) {
  open_cases(h, false);
  for (int i = 0; i < entry_count; i++) {
    char call[CALL], text[TEXT];
    if (!entries[i].is_case)
      continue;
    name_call(&entries[i], call);
    show(h, call, text);
    tally_stats before = rest(h);
    for (uint64_t n = 1; run_failing(h, call, what, n); n++) {
      tally_stats after = rest(h);
      if (after.live != before.live || after.live_bytes != before.live_bytes)
        fail_msg("%s, %s %d fails: %d objects and %d bytes left", call,
                 what == OPERATION ? "operation" : "allocation", (int)n,
                 (int)(after.live - before.live),
                 (int)(after.live_bytes - before.live_bytes));
    }
    rest(h);
    char again[TEXT];
    show(h, call, again);
    assert_string_equal(text, again);
  }
  host_close(h);
}

static void each_operation(void **state) {
  fail_at_each(*state, OPERATION);
}

// E5, of all the others.
static void each_allocation(void **state) {
  fail_at_each(*state, ALLOCATION);
}

// --- What needs a host ------------------------------------------------------

static void c4_a_callback_given_to_the_host(void **state) {
  host *h = *state;
  open_cases(h, false);
  run_ok(h,
         "fn give(fails) {\n"
         "  owner = (x: X(), callback: none)\n"
         "  callback = () => sum(owner.x)\n"
         "  owner.callback = callback\n"
         "  if fails { error(\"stop\") }\n"
         "  owner.callback\n"
         "}\n");
  tally_stats before = {0};
  for (int i = 0; i <= 10; i++) {
    tally_value callback = eval(h, "give(false)"), out;
    assert_int_equal(tally_apply(h->vm, callback, 0, NULL, &out), TALLY_OK);
    tally_release(h->vm, out);
    tally_release(h->vm, callback);
    assert_int_equal(tally_eval(h->vm, "give(true)", &out), TALLY_ERR_VALUE);
    if (i == 0)  // the table of handles is there
      before = rest(h);
  }
  tally_stats after = rest(h);
  assert_int_equal(after.live, before.live);
  assert_int_equal(after.live_bytes, before.live_bytes);
  host_close(h);
}

static int new_host(void **state) {
  *state = calloc(1, sizeof(host));
  return *state == NULL;
}

static int free_host(void **state) {
  free(*state);
  return 0;
}

#define CASES(name) cmocka_unit_test_setup_teardown(name, new_host, free_host)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_is_whole),
      cmocka_unit_test(each_is_asserted),
      CASES(each_gives_the_same_without_reuse),
      CASES(each_operation),
      CASES(each_allocation),
      CASES(c4_a_callback_given_to_the_host),
  };
  return cmocka_run_group_tests(tests, read_list, NULL);
}
