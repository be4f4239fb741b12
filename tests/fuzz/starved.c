// Runs scripts once for each of their requests, which is refused, and asks that
// each run ends as it would have, or with an error, holds nothing afterwards
// and leaves the VM usable (E5).
//
//   starved [--calls | --places] [--onwards] POINTS FIRST FILE ...
//   starved cap FILE ...       runs each part under a memory limit of the peak
//                              that it reports, which has to suffice, and of
//                              one byte less, which has not
//
//   POINTS     of a part with more requests than these as many of them, spread
//              evenly; which ones is FIRST's to say
//   --calls    requests are calls of the system (open, read, mmap, …) instead
//              of allocations; no file may stay open, no temporary one lie
//              about, and where a script asserts that a file is whole it is
//   --places   of allocations those that come from where none came from before,
//              in any of the files: each way to an allocation is refused once,
//              in the compiler too, whose arenas give out pieces of blocks
//   --onwards  and all that follow are refused too
//   --sites    with --calls: prints the places that calls were refused from
//
// Files are cut into parts at lines that begin with "### ", as golden tests
// are, and run in a folder of their own, in a child: where it dies, the part
// and the request are reported, and the next part is taken. In a build with
// TALLY_AUDIT every count is recounted all the while. The last line is the sum,
// of runs, and the exit status 1 if anything failed.
#define _DEFAULT_SOURCE 1  // for anonymous mappings and mkdtemp
#define _DARWIN_C_SOURCE 1

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally.h"
#include "tests/fuzz/refuse.h"

static bool of_calls, onwards, show_sites;
static refused_places *places;  // shared with the parent; NULL: by number

typedef struct memory {
  int64_t bytes;  // allocated and not given back
  refusals refused;
} memory;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  memory *m = context;
  if (new_size == 0) {
    m->bytes -= (int64_t)old_size;
    free(block);
    return NULL;
  }
  if (!of_calls && refuse_block())
    return NULL;
  void *moved = realloc(block, new_size);
  if (moved != NULL)
    m->bytes += (int64_t)new_size - (int64_t)old_size;
  return moved;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// A part of a script, and what is shared about it with the parent.
typedef struct part {
  const char *path, *source;
  size_t nbytes;
  int line;
} part;

typedef struct progress {
  uint64_t at;  // the request that is refused; 0: none
  uint64_t next, passed, failed;
} progress;

// [at]: the request that was refused, or the peak.
static bool report(const part *p, uint64_t at, const char *what,
                   const char *more) {
  printf("FAILED: %s:%d, %llu: %s%s\n", p->path, p->line,
         (unsigned long long)at, what, more);
  return false;
}

// How many of the first descriptors are open.
static int count_open(void) {
  int count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) != -1;
  return count;
}

// Whether a writer's temporary file lies here or in a folder that a script has
// made. Removes it.
static bool has_temporary(const char *path) {
  char name[512];
  bool found = false;
  DIR *folder = opendir(path);
  if (folder == NULL)
    return false;
  for (struct dirent *e; (e = readdir(folder)) != NULL;) {
    snprintf(name, sizeof name, "%s/%s", path, e->d_name);
    if (strncmp(e->d_name, ".tally-", 7) == 0)
      found |= unlink(name) == 0;
    else if (e->d_type == DT_DIR && e->d_name[0] != '.')
      found |= has_temporary(name);
  }
  closedir(folder);
  return found;
}

static tally_options options_for(memory *m) {
  tally_options options = tally_default_options();
  // Pages come from the system where the host has no allocator of its own.
  if (!of_calls)
    options.resize = resize;
  options.write = write_nothing;
  options.context = m;
  options.time_limit = 60;
  options.threads = of_calls ? 2 : 1;
  options.no_blas = !of_calls;  // which allocates for itself
  return options;
}

// What must hold after each run of a script, whatever its end.
static bool check_end(const part *p, uint64_t at, tally_vm *vm,
                      tally_status status) {
  if (status == TALLY_ERR_HOST ||
      (status == TALLY_ERR_ASSERT &&
       strstr(tally_error(vm)->message, "torn") != NULL))
    return report(p, at, "ended with ", tally_error(vm)->report);
  if (tally_eval(vm, "assert(sum(arange(100) * 2) == 9900)", NULL) != TALLY_OK)
    return report(p, at, "the VM is not usable: ", tally_error(vm)->report);
  return true;
}

// Runs the part without its request number [at]; allocations count from the
// time when the VM has opened. *count: how many requests it has made.
static bool perform(const part *p, uint64_t at, uint64_t *count) {
  memory m = {0};
  tally_options options = options_for(&m);
  tally_vm *vm = NULL;
  int open_before = count_open();
  m.refused.onwards = onwards;
  m.refused.fail_at = of_calls ? at : 0;
  refused_calls = of_calls ? &m.refused : NULL;
  refused_blocks = of_calls ? NULL : &m.refused;
  if (tally_open(&options, &vm) != TALLY_OK) {
    refused_calls = refused_blocks = NULL;
    return (of_calls && at != 0 && count_open() == open_before) ||
           report(p, at, "the VM did not open", "");
  }
  if (!of_calls)
    m.refused.requests = 0;
  m.refused.fail_at = at;
  new_places = at == 0 ? places : NULL;
  tally_status status =
      tally_run_source(vm, p->path, p->source, p->nbytes, 0, NULL);
  *count = m.refused.requests;
  m.refused.fail_at = 0;
  refused_calls = refused_blocks = NULL;
  new_places = NULL;
  bool ok = check_end(p, at, vm, status);
  char message[128];
  size_t held = tally_close(vm);
  if (held != 0 || (!of_calls && m.bytes != 0)) {
    snprintf(message, sizeof message, "%lld bytes and %zu values",
             (long long)m.bytes, held);
    ok = report(p, at, "left behind ", message);
  }
  // Two descriptors may stay: of a library that was loaded, of what it reads.
  if (of_calls && count_open() > open_before + 2)
    ok = report(p, at, "files are open", "");
  bool temporary = of_calls && has_temporary(".");
  if (temporary && !onwards)
    ok = report(p, at, "a temporary file is left", "");
  return ok;
}

// --- Limits -----------------------------------------------------------------

// How a part ended under a limit: a digest of what it wrote, and its peak.
typedef struct outcome {
  tally_status status;
  uint64_t written;
  size_t peak, outside;  // bytes; outside: of the host's
  char report[512];
} outcome;

// FNV-1a.
static int write_digest(void *context, const char *text, size_t nbytes) {
  uint64_t *digest = context;
  for (size_t i = 0; i < nbytes; i++)
    *digest = (*digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return 0;
}

// Runs the part under the limit (0: none). False: the VM did not open.
static bool run_under(const part *p, size_t limit, outcome *o) {
  *o = (outcome){.written = UINT64_C(0xcbf29ce484222325)};
  tally_options options = tally_default_options();
  options.write = write_digest;
  options.context = &o->written;
  options.memory_limit = limit;
  options.threads = 1;
  options.time_limit = 60;
  options.no_blas = 1;
  options.seeded = 1;
  tally_vm *vm = NULL;
  if (tally_open(&options, &vm) != TALLY_OK)
    return false;
  o->status = tally_run_source(vm, p->path, p->source, p->nbytes, 0, NULL);
  if (o->status != TALLY_OK)
    snprintf(o->report, sizeof o->report, "%s", tally_error(vm)->report);
  tally_stats stats;
  tally_get_stats(vm, &stats);
  o->peak = (size_t)stats.peak_bytes;
  o->outside = (size_t)stats.ext_peak_bytes;
  tally_close(vm);
  return true;
}

static bool is_same(const outcome *a, const outcome *b) {
  return a->status == b->status && a->written == b->written;
}

// Whether the part's peak is the limit that it needs. What compiles and what
// tells of an error may take 256 KiB more than the limit (tally.h): a peak
// there is needed but for that. Parts that measure memory or run out of it, or
// of which two runs differ, say nothing.
static bool is_capped(const part *p) {
  enum { RESERVE = 256 << 10 };
  outcome loose, again, at, below;
  if (!run_under(p, 0, &loose) || !run_under(p, 0, &again) ||
      !is_same(&loose, &again) || loose.peak != again.peak ||
      loose.outside != 0 || loose.status == TALLY_ERR_MEMORY ||
      strstr(p->source, "memory.") != NULL)
    return true;
  if (!run_under(p, loose.peak, &at) || !is_same(&loose, &at))
    return report(p, loose.peak,
                  "a limit of the peak is too little: ", at.report);
  if (run_under(p, loose.peak - 1, &below) && is_same(&loose, &below) &&
      loose.peak > 2 * RESERVE &&
      run_under(p, loose.peak - 1 - RESERVE, &below) && is_same(&loose, &below))
    return report(p, loose.peak, "less than the peak suffices", "");
  return true;
}

// Number [i] of at most [points] of [count] allocations, from 1 on.
static uint64_t choose(uint64_t i, uint64_t points, uint64_t count,
                       uint64_t first) {
  if (count <= points)
    return i + 1;
  uint64_t step = count / points;
  uint64_t x = (first + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ i * 0x2545f491;
  return 1 + i * step + (x >> 20) % step;
}

static void work(const part *p, progress *shared, uint64_t points,
                 uint64_t first) {
  uint64_t count = 0, unused;
  if (points == 0) {
    bool ok = is_capped(p);
    shared->passed += ok;
    shared->failed += !ok;
    return;
  }
  if (!perform(p, 0, &count)) {
    shared->failed++;
    return;
  }
  if (places != NULL)
    count = places->count;
  uint64_t runs = count < points ? count : points;
  while (shared->next < runs) {
    shared->at = choose(shared->next++, points, count, first);
    if (places != NULL)
      shared->at = places->requests[shared->at - 1];
    if (perform(p, shared->at, &unused))
      shared->passed++;
    else
      shared->failed++;
    fflush(stdout);
  }
  shared->next = UINT64_MAX;
}

static bool run_part(const part *p, progress *shared, uint64_t points,
                     uint64_t first) {
  shared->next = shared->at = 0;
  if (places != NULL)
    places->count = 0;
  for (;;) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      work(p, shared, points, first);
      exit(0);  // not _exit: what a build with --coverage counted is written
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      return true;
    char how[32];
    snprintf(how, sizeof how, "(status %d)", status);
    report(p, shared->at, "the process died ", how);
    shared->failed++;
    if (shared->at == 0)  // without a failure, too: that is another test's
      return true;
  }
}

static char *read_file(const char *path, size_t *nbytes) {
  FILE *from = fopen(path, "rb");
  if (from == NULL || fseek(from, 0, SEEK_END) != 0) {
    fprintf(stderr, "starved: %s cannot be read\n", path);
    exit(2);
  }
  long size = ftell(from);
  rewind(from);
  char *text = malloc((size_t)size + 1);
  if (text == NULL || fread(text, 1, (size_t)size, from) != (size_t)size)
    exit(2);
  fclose(from);
  text[size] = '\0';
  *nbytes = (size_t)size;
  return text;
}

static bool run_file(const char *path, progress *shared, uint64_t points,
                     uint64_t first) {
  size_t nbytes;
  char *text = read_file(path, &nbytes);
  part p = {path, text, 0, 1};
  int line = 1;
  bool ok = true;
  for (char *at = text; ok && at <= text + nbytes;) {
    char *end = strchr(at, '\n');
    end = end == NULL ? text + nbytes : end + 1;
    bool is_last = *end == '\0';
    if (strncmp(at, "### ", 4) == 0 || is_last) {
      p.nbytes = (size_t)((is_last ? end : at) - p.source);
      ok = run_part(&p, shared, points, first);
      p.source = end;
      p.line = line + 1;
    }
    if (is_last)
      break;
    at = end;
    line++;
  }
  free(text);
  return ok;
}

// Scripts read files of the tests and examples by names from the root.
static bool link_data(const char *here, const char *folder) {
  static const char *const names[] = {"tests", "examples"};
  char from[8192], to[160];
  for (int i = 0; i < 2; i++) {
    snprintf(from, sizeof from, "%s/%s", here, names[i]);
    snprintf(to, sizeof to, "%s/%s", folder, names[i]);
    if (symlink(from, to) != 0)
      return false;
  }
  return true;
}

// Memory that children and the parent see, zeroed; NULL where there is none.
static void *share(size_t nbytes) {
  void *at = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

// As addresses from the program's beginning, which the system chooses.
static void print_sites(void) {
  extern char __executable_start;
  for (int i = 0; show_sites && i < refused_from->count; i++)
    printf("site %lx\n", (unsigned long)((char *)refused_from->sites[i] -
                                         &__executable_start));
}

int main(int argc, char **argv) {
  bool by_place = false;
  for (; argc > 1 && strncmp(argv[1], "--", 2) == 0; argc--, argv++) {
    of_calls |= strcmp(argv[1], "--calls") == 0;
    onwards |= strcmp(argv[1], "--onwards") == 0;
    show_sites |= strcmp(argv[1], "--sites") == 0;
    by_place |= strcmp(argv[1], "--places") == 0;
  }
  refuses_arenas = by_place;
  const bool caps = argc > 2 && strcmp(argv[1], "cap") == 0;
  if (argc < 4 && !caps) {
    fputs(
        "usage: starved [--calls [--sites] | --places] [--onwards] POINTS FIRST "
        "FILE ...\n"
        "       starved cap FILE ...\n",
        stderr);
    return 2;
  }
  char here[4096], folder[64];
  // In memory, where syncing costs nothing.
  snprintf(folder, sizeof folder, "%s/tally-starved-XXXXXX",
           access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  progress *shared = share(sizeof *shared);
  refused_from = show_sites ? share(sizeof *refused_from) : NULL;
  places = by_place ? share(sizeof *places) : NULL;
  if (shared == NULL || show_sites != (refused_from != NULL) ||
      by_place != (places != NULL) || getcwd(here, sizeof here) == NULL ||
      mkdtemp(folder) == NULL || setenv("TMPDIR", folder, 1) != 0 ||
      !link_data(here, folder)) {
    return 2;
  }
  uint64_t points = caps ? 0 : strtoull(argv[1], NULL, 10);
  uint64_t first = caps ? 0 : strtoull(argv[2], NULL, 10);
  for (int i = caps ? 2 : 3; i < argc; i++) {
    char path[8192];
    snprintf(path, sizeof path, "%s%s%s", argv[i][0] == '/' ? "" : here,
             argv[i][0] == '/' ? "" : "/", argv[i]);
    if (chdir(folder) != 0 || !run_file(path, shared, points, first))
      return 2;
  }
  char clear[80];
  snprintf(clear, sizeof clear, "rm -rf %s", folder);
  if (chdir(here) != 0 || system(clear) != 0)
    return 2;
  print_sites();
  printf("%llu passed, %llu failed\n", (unsigned long long)shared->passed,
         (unsigned long long)shared->failed);
  return shared->failed == 0 ? 0 : 1;
}
