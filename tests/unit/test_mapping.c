// Mapped files that become shorter, and hosts that allow no signal handler.

#include "tests/unit/host.h"
#include "vm/vm.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct mapped {
  char path[256];
  char source[1024];
} mapped;

static void name_file(mapped *m) {
  const char *folder = getenv("TMPDIR");
  snprintf(m->path, sizeof m->path, "%s/tally_mapping_%ld.npy",
           folder ? folder : "/tmp", (long)getpid());
}

// A file of [count] ones, and a script that maps it as m.
static void map(host *h, mapped *m, const char *count, const char *mode) {
  name_file(m);
  snprintf(m->source, sizeof m->source,
           "import io\nio.write_npy(\"%s\", ones(%s))\n"
           "m = io.map_npy(\"%s\", mode: \"%s\")\n",
           m->path, count, m->path, mode);
  run_ok(h, m->source);
}

static void cut(const mapped *m, long nbytes) {
  assert_int_equal(truncate(m->path, nbytes), 0);
}

static void file_that_shrinks(void **state) {
  host *h = *state;
  mapped m;
  map(h, &m, "100_000", "r");
  check_value(h, "sum(m)", "100000.0");
  cut(&m, 128 + 4096 * 8);
  // Reductions, elementwise operations, indices: each time anew.
  for (int i = 0; i < 2; i++) {
    CHECK_ERROR(h, tally_eval(h->vm, "sum(m)", NULL), TALLY_ERR_IO, m.path);
    CHECK_ERROR(h, tally_eval(h->vm, "x = m * 2.0 + 1.0", NULL), TALLY_ERR_IO,
                "has become shorter");
    CHECK_ERROR(h, tally_eval(h->vm, "x = m[99_999]", NULL), TALLY_ERR_IO,
                "has become shorter");
    CHECK_ERROR(h, tally_eval(h->vm, "print(m[99_999])", NULL), TALLY_ERR_IO,
                "has become shorter");
    CHECK_ERROR(h, tally_eval(h->vm, "t = 0.0\nfor v in m { t += v }", NULL),
                TALLY_ERR_IO, "has become shorter");
  }
  assert_string_equal(h->output, "");
  // What is still there can be read; a script may catch the error.
  check_value(h, "sum(m[:4000])", "4000.0");
  check_value(h, "fn f() { try { sum(m) } catch e { e.kind } }\nf()", "io");
  check_value(h, "f() + f()", "ioio");
  // A small product says so itself, not what comes after it.
  check_value(h,
              "s = none\n"
              "try {\n  p = m[99_990:] @ m[99_990:]\n  s = 1\n"
              "} catch e { s = e.line }\ns",
              "3");
  // The file grows again: what was lost is read as the file has it now.
  cut(&m, 128 + 100000 * 8);
  check_value(h, "sum(m)", "4096.0");
  run_ok(h, "m = none");
  remove(m.path);
}

// Zeros in its place may be what a function refuses: that is not the cause.
static void refused_where_it_is_gone(void **state) {
  host *h = *state;
  mapped m;
  map(h, &m, "100_000", "r");
  cut(&m, 4096 * 8);
  check_value(h,
              "fn f() { try { interp([1.0], m, m) } catch e { e.kind } }\nf()",
              "io");
  CHECK_ERROR(h, tally_eval(h->vm, "x = interp([1.0], m, m)", NULL),
              TALLY_ERR_IO, m.path);
  run_ok(h, "m = none");
  remove(m.path);
}

static void shrinks_under_a_copy(void **state) {
  host *h = *state;
  mapped m;
  map(h, &m, "100_000", "c");
  run_ok(h, "m[0] = 5.0");
  cut(&m, 128 + 4096 * 8);
  CHECK_ERROR(h, tally_eval(h->vm, "sum(m)", NULL), TALLY_ERR_IO, m.path);
  CHECK_ERROR(h, tally_eval(h->vm, "m[99_999] = 1.0\nm[99_998]", NULL),
              TALLY_ERR_IO, m.path);
  check_value(h, "m[0] + m[1]", "6.0");
  run_ok(h, "m = none");
  remove(m.path);
}

// Whichever thread reads what is gone.
static void shrinks_under_threads(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.threads = 4;
  host_open(&h, &options);
  h.vm->pool.eager = true;  // no work is too small
  mapped m;
  map(&h, &m, "100_000", "r");
  cut(&m, 128);
  for (int i = 0; i < 20; i++)
    CHECK_ERROR(&h, tally_eval(h.vm, "x = m[::-1] + 1.0", NULL), TALLY_ERR_IO,
                m.path);
  assert_int_equal(h.vm->pool.workers, 3);
  run_ok(&h, "m = none");
  remove(m.path);
  host_close(&h);
}

// The last reader of a file ends with the array: the error comes all the same.
static void shrinks_at_the_end(void **state) {
  host *h = *state;
  mapped m;
  map(h, &m, "2000", "r");
  cut(&m, 0);
  CHECK_ERROR(h, tally_eval(h->vm, "y = m[1999]\nm = none", NULL), TALLY_ERR_IO,
              "has become shorter");
  remove(m.path);
}

#ifdef REFUSES
static bool refuses;
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);

void *__wrap_mmap(void *at, size_t nbytes, int access, int flags, int fd,
                  off_t offset) {
  if (!refuses || (flags & MAP_FIXED) == 0 || fd < 0)
    return __real_mmap(at, nbytes, access, flags, fd, offset);
  return MAP_FAILED;
}

// The file's own pages are not mapped again: nobody reads zeros instead.
static void shrinks_and_is_not_mapped_again(void **state) {
  host *h = *state;
  mapped m;
  map(h, &m, "100_000", "r");
  cut(&m, 128 + 4096 * 8);
  refuses = true;
  for (int i = 0; i < 3; i++)
    CHECK_ERROR(h, tally_eval(h->vm, "sum(m)", NULL), TALLY_ERR_IO,
                "has become shorter");
  refuses = false;
  cut(&m, 128 + 100000 * 8);
  CHECK_ERROR(h, tally_eval(h->vm, "sum(m)", NULL), TALLY_ERR_IO,
              "has become shorter");
  check_value(h, "sum(m)", "4096.0");
  run_ok(h, "m = none");
  remove(m.path);
}
#endif

static volatile sig_atomic_t foreign;

static void on_bus(int number) {
  (void)number;
  foreign++;
}

// A SIGBUS of the host's own goes to the host's handler.
static void other_signals(void **state) {
  host *h = *state;
  mapped m;
  foreign = 0;
  signal(SIGBUS, on_bus);
  map(h, &m, "10", "r");
  raise(SIGBUS);
  assert_int_equal(foreign, 1);
  check_value(h, "sum(m)", "10.0");
  run_ok(h, "m = none");
  remove(m.path);
}

static void no_signals(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.no_signals = 1;
  host_open(&h, &options);
  mapped m;
  name_file(&m);
  snprintf(m.source, sizeof m.source,
           "import io\nio.write_npy(\"%s\", ones(3))\nx = io.map_npy(\"%s\")",
           m.path, m.path);
  CHECK_ERROR(&h, tally_eval(h.vm, m.source, NULL), TALLY_ERR_IO,
              "allows no signal handler");
  remove(m.path);
  host_close(&h);
}

// A private copy that the limit has no room for: the file is closed and its
// place free again, however often.
static void without_memory(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.memory_limit = 8 << 20;
  host_open(&h, &options);
  mapped m;
  map(&h, &m, "1", "r");
  cut(&m, 0);
  run_ok(
      &h,
      "fn name(s) = s\np = name(\"\")\n"
      "fn once(p) { try { io.map_npy(p, mode: \"c\") } catch e { e.kind } }");
  char source[1024];
  snprintf(source, sizeof source,
           "io.write_npy(\"%s\", zeros(900_000))\n"
           "b = zeros(200_000)\nm = none\n"
           "k = (once(\"%s\") for i in 0..1200)\n(k[0], k[1199], b[0])",
           m.path, m.path);
  check_value(&h, source, "(\"memory\", \"memory\", 0.0)");
  remove(m.path);
  host_close(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(file_that_shrinks),
      HOST_TEST(refused_where_it_is_gone),
      HOST_TEST(shrinks_under_a_copy),
      HOST_TEST(shrinks_at_the_end),
      HOST_TEST(other_signals),
      cmocka_unit_test(no_signals),
      cmocka_unit_test(without_memory),
      cmocka_unit_test(shrinks_under_threads),
#ifdef REFUSES
      HOST_TEST(shrinks_and_is_not_mapped_again),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
