// The cases of counting by their ids: each is in tests/counting/ids.txt and
// asserted where that says, and each that is a function of
// tests/counting/cases.tly or, with a host's functions, of hosted.txt runs in
// all modes: as it is, with --no-reuse (whose peak is never the lower: R6),
// with an error at each of its operations, and with each of its allocations
// refused (E5). What explains (R10) does so in each mode, too. In a build with
// TALLY_AUDIT every count is recounted meanwhile.

#include "tests/unit/counting_host.h"
#include "tests/unit/host.h"

#include <ctype.h>
#include <stdio.h>

#include "vm/vm.h"

enum { ID = 16, PATH = 96, MOST = 120, CALL = 24, TEXT = 160 };

// Where an id is asserted.
typedef enum home {
  A_SCRIPT,  // of tests/counting, and as a function of cases.tly
  HOSTED,    // a function of hosted.txt, with what it gives above it
  EVERY,     // of every case, here
  EXPLAIN,   // of explained.tly, here
} home;

typedef struct entry {
  char id[ID], where[PATH];
  home home;
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
    assert_int_equal(sscanf(line, "%15s %95s", e->id, e->where), 2);
    e->home = strcmp(e->where, "hosted") == 0    ? HOSTED
              : strcmp(e->where, "every") == 0   ? EVERY
              : strcmp(e->where, "explain") == 0 ? EXPLAIN
                                                 : A_SCRIPT;
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
             {'E', 5},  {'C', 12}, {'H', 24}, {'O', 10}};
  int at = 0;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    for (int i = 1; i <= all[k].count; i++, at++) {
      char id[ID];
      snprintf(id, sizeof id, "%c%d", all[k].letter, i);
      assert_true(at < entry_count);
      assert_string_equal(entries[at].id, id);
      while (at + 1 < entry_count && strcmp(entries[at + 1].id, id) == 0) at++;
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
    for (int k = 0; k < 2 && e->home == A_SCRIPT; k++) {
      char path[2 * PATH];
      snprintf(path, sizeof path, "tests/counting/%s.%s", e->where,
               k == 0 ? "out" : "plain");
      char *text = read_whole(path);
      bool ok = has_line(text, e->id);
      free(text);
      if (!ok)
        fail_msg("%s: nothing in %s asserts it", e->id, path);
    }
  }
}

// What hosted.txt says that a case gives.
static void expected_of(const entry *e, char text[TEXT]) {
  char mark[2 * ID];
  snprintf(mark, sizeof mark, "# %.15s gives ", e->id);
  char *source = read_whole("tests/counting/hosted.txt");
  const char *at = strstr(source, mark);
  if (at == NULL)
    fail_msg("%s: tests/counting/hosted.txt does not say what it gives", e->id);
  at += strlen(mark);
  snprintf(text, TEXT, "%.*s", (int)strcspn(at, "\n"), at);
  free(source);
}

// --- The modes --------------------------------------------------------------

static void open_cases(host *h, bool no_reuse) {
  tally_options options = host_options(h);
  options.no_reuse = no_reuse;
  host_open(h, &options);
  counting_host_open(h);
  run_ok(h, "import memory");
  static const char *const scripts[] = {"tests/counting/cases.tly",
                                        "tests/counting/hosted.txt"};
  for (int i = 0; i < 2; i++) {
    char *source = read_whole(scripts[i]);
    run_ok(h, source);
    free(source);
  }
  tally_count(h->vm, 1);
}

static void close_cases(host *h) {
  counting_host_rest(h);
  host_close(h);
  assert_int_equal(counting_host.things, 0);
}

static bool is_case(const entry *e) {
  return e->home == A_SCRIPT || e->home == HOSTED;
}

// The call of a case, "t1()" or "hosted_l7()".
static void name_call(const entry *e, char call[CALL]) {
  const char *home = e->home == HOSTED ? "hosted_" : "";
  snprintf(call, CALL, "%s%c%.7s()", home, tolower((unsigned char)e->id[0]),
           e->id + 1);
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
  counting_host_rest(h);
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
    if (!is_case(&entries[i]))
      continue;
    name_call(&entries[i], call);
    show(h, call, text);
    show(&plain, call, same);
    if (strcmp(text, same) != 0)
      fail_msg("%s is %s, with --no-reuse %s", call, text, same);
    if (entries[i].home == HOSTED) {
      expected_of(&entries[i], same);
      assert_string_equal(text, same);
    }
  }
  close_cases(&plain);
  close_cases(h);
}

static int64_t peak_of(host *h, const char *call) {
  char source[2 * CALL + TEXT];
  int64_t peak;
  snprintf(source, sizeof source, "memory.measure(() => %s).peak_bytes", call);
  tally_value value = eval(h, source);
  assert_int_equal(tally_to_int(h->vm, value, &peak), TALLY_OK);
  tally_release(h->vm, value);
  return peak;
}

// R6; of all scripts in tests/counting.sh.
static void none_needs_more_with_reuse(void **state) {
  host *h = *state, plain = {.vm = NULL};
  open_cases(h, false);
  open_cases(&plain, true);
  for (int i = 0; i < entry_count; i++) {
    char call[CALL], text[TEXT];
    if (!is_case(&entries[i]))
      continue;
    name_call(&entries[i], call);
    show(h, call, text);  // what it loads is there
    show(&plain, call, text);
    int64_t reused = peak_of(h, call), copied = peak_of(&plain, call);
    if (reused > copied)
      fail_msg("%s: peak %d with reuse, %d without", call, (int)reused,
               (int)copied);
  }
  close_cases(&plain);
  close_cases(h);
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
    if (!is_case(&entries[i]))
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
  close_cases(h);
}

static void each_operation(void **state) {
  fail_at_each(*state, OPERATION);
}

// E5, of all the others.
static void each_allocation(void **state) {
  fail_at_each(*state, ALLOCATION);
}

// --- R10 --------------------------------------------------------------------

// Explains a script in a VM of its own, with the [n]-th operation or allocation
// failing (0: none). False where it has no such.
static bool explain(host *h, bool no_reuse, what what, uint64_t n, char *text,
                    size_t size) {
  tally_options options = host_options(h);
  options.no_reuse = no_reuse;
  host_open(h, &options);
  h->refused = false;
  h->fail_at = what == ALLOCATION && n > 0 ? h->requests + n : 0;
  h->vm->fail_in = what == OPERATION ? n : 0;
  tally_value out;
  tally_status status =
      tally_explain(h->vm, "tests/counting/explained.tly", 0, NULL, 0, &out);
  bool failed = what == ALLOCATION ? h->refused : n > 0 && h->vm->fail_in == 0;
  text[0] = 0;
  h->fail_at = 0;
  if (status == TALLY_OK) {
    const char *bytes;
    assert_int_equal(tally_to_string(h->vm, out, &bytes, NULL), TALLY_OK);
    snprintf(text, size, "%s", bytes);
    tally_release(h->vm, out);
  } else {
    assert_true(failed);
    assert_int_equal(status, TALLY_ERR_MEMORY);
  }
  host_close(h);
  return failed;
}

static void says(const char *text, const char *what) {
  if (strstr(text, what) == NULL)
    fail_msg("explain does not say \"%s\":\n%s", what, text);
}

static void r10_explains_in_every_mode(void **state) {
  enum { ROOM = 1 << 16 };
  char *text = malloc(ROOM);
  assert_non_null(text);
  explain(*state, false, OPERATION, 0, text, ROOM);
  says(text, "ran: fused once");
  says(text, "ran: fused once, together once; in place of `zeros(3000)` once");
  says(text, "fresh once, 24128 bytes");
  says(text, "copied once, 24128 bytes: x is shared with [0] of a list");
  explain(*state, true, OPERATION, 0, text, ROOM);
  says(text, "ran: fresh once, 24128 bytes");
  assert_null(strstr(text, "ran: fused"));
  assert_null(strstr(text, "ran: in place"));
  for (uint64_t n = 1; explain(*state, false, OPERATION, n, text, ROOM); n++)
    says(text, "error");
  for (uint64_t n = 1; explain(*state, false, ALLOCATION, n, text, ROOM); n++)
    continue;
  free(text);
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

// Each line of the prompt is a program: the failing one leaves x as it was.
static void r9_at_the_prompt(void **state) {
  host *h = *state;
  for (int i = 0; i < 2; i++) {
    tally_options options = host_options(h);
    options.no_reuse = i == 1;
    host_open(h, &options);
    tally_value none;
    run_ok(h, "x = [1, 2, 3, 4] + 10");
    run_ok(h, "y = [1, 2, 0, 4]");
    tally_stats before, after;
    assert_int_not_equal(tally_eval(h->vm, "x // y", &none), TALLY_OK);
    tally_get_stats(h->vm, &before);
    assert_int_not_equal(tally_eval(h->vm, "x //= y", &none), TALLY_OK);
    assert_int_not_equal(tally_eval(h->vm, "x[:] //= y", &none), TALLY_OK);
    tally_get_stats(h->vm, &after);
    assert_int_equal(after.live, before.live);
    run_ok(h, "if not same(x, [11, 12, 13, 14]) { error(\"x changed\") }");
    host_close(h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_list_is_whole),
      cmocka_unit_test(each_is_asserted),
      CASES(each_gives_the_same_without_reuse),
      CASES(each_operation),
      CASES(each_allocation),
      CASES(none_needs_more_with_reuse),
      CASES(r10_explains_in_every_mode),
      CASES(r9_at_the_prompt),
  };
  return cmocka_run_group_tests(tests, read_list, NULL);
}
