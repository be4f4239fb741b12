// That every function of the library in C looks for interrupts as it goes.
//
// Each is called in the ways of tests/bench/interrupts (some of them, or
// all: test_polls 1) on values of a few items and of some 100,000, in two VMs
// whose polls are counted: of more items there are more, unless polls.txt says
// that the function looks at few (*), or does in this way. So a poll that is
// taken away is missed, and a new function is there without a line of its own.
//
// The same calls are then stopped at their polls, after which nothing may be
// alive that was not before.
//
// In a library that counts its work (tests/work.sh) what lies between two polls
// is compared instead, of these calls and of tests/bench/interrupts/statements:
// where nothing polls, it is eight times as much of eight times the items. In
// polls.txt functions with `work` go in pieces that these values do not fill.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stdlib/families.h"
#include "tally.h"
#include "vm/builtin.h"

enum {
  MOST_WAYS = 200,
  LINE = 200,
  TEXT = 1 << 14,
#ifdef COUNTS_WORK
  SMALL = 1 << 17,
#else
  SMALL = 256,
#endif
#ifdef TALLY_AUDIT
  LARGE = 1 << 11,  // all values are looked at after each instruction
#elif defined COUNTS_WORK
  LARGE = 1 << 20,
#else
  LARGE = 1 << 18,
#endif
#ifdef COUNTS_WORK
  ENOUGH = 20000,
#else
  ENOUGH = 200,  // polls after which a call is ended
#endif
};

static char ways[MOST_WAYS][LINE], setup[TEXT], excepted[TEXT];
static char statements[MOST_WAYS][LINE];
static int way_count, statement_count, every = 40;

// Basic blocks that were run, and one for 4 bytes that the C library moved or
// looked at.
static uint64_t work;

#ifdef COUNTS_WORK  // the attribute of what is not counted
// Every block calls this.
void __sanitizer_cov_trace_pc(void);
__attribute__((COUNTS_WORK)) void __sanitizer_cov_trace_pc(void) {
  work++;
}

// The linker lets calls of the C library's functions go by way of these.
#define COUNTED(type, name, parameters, ...)                   \
  type __real_##name parameters;                               \
  type __wrap_##name parameters;                               \
  __attribute__((COUNTS_WORK)) type __wrap_##name parameters { \
    work += n / 4;                                             \
    return __real_##name(__VA_ARGS__);                         \
  }
COUNTED(void *, memcpy, (void *to, const void *from, size_t n), to, from, n)
COUNTED(void *, memmove, (void *to, const void *from, size_t n), to, from, n)
COUNTED(void *, memset, (void *to, int byte, size_t n), to, byte, n)
COUNTED(void *, memchr, (const void *at, int byte, size_t n), at, byte, n)
COUNTED(int, memcmp, (const void *a, const void *b, size_t n), a, b, n)
#endif

// A VM, and how often it has asked what the time is.
typedef struct polled {
  tally_vm *vm;
  uint64_t polls;                // in a call
  uint64_t interrupt_at;         // the poll that interrupts; 0: none
  bool counts;                   // a poll is a second
  uint64_t began, worked, most;  // work: before the call, up to its last poll,
                                 // and the most between two of its polls
} polled;

static polled small, large;

static void note_work(polled *p) {
  if (work - p->worked > p->most)
    p->most = work - p->worked;
  p->worked = work;
}

// A call ends after so many polls, or so much work.
static double poll_clock(void *context) {
  enum { MOST_WORK = 40000000 };
  polled *p = context;
  note_work(p);
  if (p->counts && work - p->began > MOST_WORK)
    return 2 * ENOUGH;
  if (++p->polls == p->interrupt_at)
    tally_interrupt(p->vm);
  return p->counts ? (double)p->polls : 0;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// The lines of a file that are no comments; how many there are.
static int read_lines(const char *path, char lines[MOST_WAYS][LINE]) {
  FILE *file = fopen(path, "r");
  int count = 0;
  assert_non_null(file);
  while (count < MOST_WAYS && fgets(lines[count], LINE, file) != NULL) {
    lines[count][strcspn(lines[count], "\n")] = '\0';
    count += lines[count][0] != '#';
  }
  fclose(file);
  return count;
}

// A file's text, which fits.
static void read_text(const char *path, char text[TEXT]) {
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t nbytes = fread(text, 1, TEXT, file);
  assert_true(nbytes < TEXT);
  text[nbytes] = '\0';
  fclose(file);
}

// A VM with values of so many items.
static void open_polled(polled *p, int n) {
  char source[TEXT + LINE];
  tally_options options = tally_default_options();
  const char *size = strstr(setup, "n = 1000");
  assert_non_null(size);
  snprintf(source, sizeof source, "%.*sn = %d%s", (int)(size - setup), setup, n,
           size + strlen("n = 1000"));
  *p = (polled){.counts = false};
  options.threads = 1;
  options.capabilities = TALLY_MAY_FILES | TALLY_MAY_ENVIRONMENT;
  options.write = write_nothing;
  options.seeded = 1;
  options.context = p;
  options.memory_limit = (size_t)1 << 30;
  options.clock = poll_clock;
  options.time_limit = ENOUGH;
  assert_int_equal(tally_open(&options, &p->vm), TALLY_OK);
  if (tally_eval(p->vm, source, NULL) != TALLY_OK)
    fail_msg("%s", tally_error(p->vm)->message);
  p->counts = true;
}

// Whether the call succeeds, or its time is over; *polls is how often it
// looked.
static bool call(polled *p, const char *source, uint64_t *polls) {
  p->polls = p->most = 0;
  p->began = p->worked = work;
  tally_status status = tally_eval(p->vm, source, NULL);
  note_work(p);
  *polls = p->polls;
  return status == TALLY_OK || status == TALLY_ERR_LIMIT;
}

// The way with the function's name where F stands.
static void write_call(const char *way, const char *name, char *source) {
  for (const char *f; (f = strchr(way, 'F')) != NULL; way = f + 1)
    source += sprintf(source, "%.*s%s", (int)(f - way), way, name);
  strcpy(source, way);
}

// Whether the function waits, ends the script, asks the system or is told what
// is to be done later.
static bool is_no_work(const char *name) {
  static const char *const names[] = {
      "input", "fft.use", "os.", "time.", "io.std", "memory.", "random.seed"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(name, names[i], strlen(names[i])) == 0)
      return true;
  return false;
}

// Whether a line of polls.txt is the function's, and has the way or *.
static bool looks_at_few(const char *name, const char *way) {
  const size_t nbytes = strlen(name);
  char part[LINE + 8];
  for (const char *line = excepted; line != NULL && *line != '\0';
       line = strchr(line, '\n') + 1) {
    if (strncmp(line, name, nbytes) != 0 || line[nbytes] != ' ')
      continue;
    snprintf(part, sizeof part, " %s ", way);
    const char *found = strstr(line, part), *end = strchr(line, '\n');
    return line[nbytes + 1] == '*' || (found != NULL && found < end);
  }
  return false;
}

// What is done with each call of a way.
typedef void each_call(const char *name, const char *way, const char *source);

// Calls in ways without values of many items say nothing.
static void for_each_call(each_call *each) {
  int at = 0;
  for (const tl_family *f = tl_standard_library.families; f->rows; f++)
    for (const tl_builtin *row = f->rows; row->name != NULL; row++, at++) {
      char name[LINE], source[4 * LINE];
      snprintf(name, sizeof name, "%s%s%s", f->module ? f->module : "",
               f->module ? "." : "", row->name);
#ifdef COUNTS_WORK  // the same ways when a function is added
      at = (int)strlen(name);
#endif
      for (int way = at % every; way < way_count; way += every) {
        write_call(ways[way], name, source);
        if (!is_no_work(name))
          each(name, ways[way], source);
      }
    }
}

static int wrong;

#ifdef COUNTS_WORK
// Less than so much is done in a millisecond or two.
enum { LEAST_WORK = 1200000 };

static void compare_work(const char *name, const char *way,
                         const char *source) {
  uint64_t few, many;
  (void)way;
  if (!call(&small, source, &few) || !call(&large, source, &many) ||
      large.most < LEAST_WORK || large.most < 3 * small.most ||
      looks_at_few(name, "work"))
    return;
  print_message("%s: %lld between two polls, %lld of an eighth of the items\n",
                source, (long long)large.most, (long long)small.most);
  wrong++;
}

static void test_no_more_work_between_polls(void **state) {
  (void)state;
  wrong = 0;
  for_each_call(compare_work);
  for (int i = 0; i < statement_count; i++) compare_work("", "", statements[i]);
  assert_int_equal(wrong, 0);
}
#else
static void compare(const char *name, const char *way, const char *source) {
  uint64_t few, many;
  if (!call(&small, source, &few) || !call(&large, source, &many) ||
      many > few || many > ENOUGH || looks_at_few(name, way))
    return;
  print_message("%s %s : %d polls, of many items as of few\n", name, way,
                (int)few);
  wrong++;
}

static void test_more_items_more_polls(void **state) {
  (void)state;
  if (LARGE < 1 << 18)
    skip();
  wrong = 0;
  for_each_call(compare);
  assert_int_equal(wrong, 0);
}

// Stops the call at a poll. What is alive then, when what was put off is freed,
// too.
static tally_stats stopped_at(const char *source, uint64_t at) {
  uint64_t polls;
  tally_stats stats;
  large.interrupt_at = at;
  call(&large, source, &polls);
  large.interrupt_at = 0;
  assert_int_equal(tally_eval(large.vm, "none", NULL), TALLY_OK);
  tally_get_stats(large.vm, &stats);
  return stats;
}

// The first stop may leave a message, a count of characters or code that is
// kept. So may one more: pieces go by the time they take, so a stop at the same
// poll may come further. What each stop leaves is lost.
static void stop(const char *name, const char *way, const char *source) {
  uint64_t polls;
  (void)name, (void)way;
  // Code with functions in it is kept as long as its module.
  if (strstr(source, "=>") != NULL || !call(&large, source, &polls))
    return;
  for (uint64_t at = 1; at <= polls; at *= 3) {
    tally_stats a = stopped_at(source, at), b = stopped_at(source, at);
    for (int more = 0; more < 2 && a.live_bytes != b.live_bytes; more++) {
      a = b;
      b = stopped_at(source, at);
    }
    if (a.live == b.live && a.live_bytes == b.live_bytes)
      continue;
    print_message("%s, stopped at poll %d of %d: %lld objects, %lld bytes\n",
                  source, (int)at, (int)polls, (long long)(b.live - a.live),
                  (long long)(b.live_bytes - a.live_bytes));
    wrong++;
    return;
  }
}

static void test_a_stop_leaves_nothing(void **state) {
  (void)state;
  wrong = 0;
  for_each_call(stop);
  assert_int_equal(wrong, 0);
}
#endif

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
#ifdef COUNTS_WORK
      cmocka_unit_test(test_no_more_work_between_polls),
#else
      cmocka_unit_test(test_more_items_more_polls),
      cmocka_unit_test(test_a_stop_leaves_nothing),
#endif
  };
  if (argc > 1)
    every = atoi(argv[1]);
  read_text("tests/bench/interrupts/setup.tly", setup);
  read_text("tests/unit/polls.txt", excepted);
  way_count = read_lines("tests/bench/interrupts/ways.txt", ways);
  statement_count =
      read_lines("tests/bench/interrupts/statements.txt", statements);
  // Functions of files write where they stand.
  char folder[] = "/tmp/tally-polls-XXXXXX", remove[LINE];
  if (mkdtemp(folder) == NULL || chdir(folder) != 0)
    return 2;
  open_polled(&small, SMALL);
  open_polled(&large, LARGE);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tally_close(small.vm);
  tally_close(large.vm);
  snprintf(remove, sizeof remove, "rm -r %s", folder);
  return system(remove) != 0 ? 2 : failed;
}
