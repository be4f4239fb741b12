// Runs random programs about ownership (writer.h), each in several ways, and
// compares what they print:
//
//   programs COUNT [FIRST [STATEMENTS]]   those of seeds FIRST, FIRST + 1 …
//   programs --print SEED [STATEMENTS]    the program of a seed, for `tally`:
//                                         the host's functions in Tally
//
//   as it is    results are written in place, moved and fused
//   copying     --no-reuse: every update copies, nothing is fused
//   counting    by the loop while it counts references
//   distrusted  as if the verifier had refused all of it at first
//   starved     an allocation in the middle fails; only its end counts
//   cut         the budget of instructions ends in the middle; likewise
//
// A program that does not end within the budget counts for its end alone, too.
//
// No run may crash, leave memory or a value of the host's behind or be refused
// by the verifier, and the first four must print the same. In a build with
// TALLY_AUDIT every count is recounted all the while. The programs run in a
// child: where it dies, the seed is reported and the next one is taken. The
// last line is the sum, and the exit status 1 if anything failed.
#define _DEFAULT_SOURCE 1  // for anonymous mappings
#define _DARWIN_C_SOURCE 1

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally.h"
#include "tests/fuzz/host.h"
#include "tests/fuzz/writer.h"
#include "vm/vm.h"

typedef enum way {
  AS_IT_IS,
  COPYING,
  COUNTING,
  DISTRUSTED,
  STARVED,
  CUT,
  WAYS
} way;
static const char *const way_names[] = {"as it is",   "copying", "counting",
                                        "distrusted", "starved", "cut"};

typedef struct run {
  char *text;  // what it printed
  size_t length, room;
  int64_t bytes;  // allocated and not given back
  uint64_t allocations, fail_at, instructions;
  tally_status status;
  char message[1024];
} run;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  run *r = context;
  if (new_size == 0) {
    r->bytes -= (int64_t)old_size;
    free(block);
    return NULL;
  }
  if (++r->allocations == r->fail_at)
    return NULL;
  void *moved = realloc(block, new_size);
  if (moved != NULL)
    r->bytes += (int64_t)new_size - (int64_t)old_size;
  return moved;
}

static int load(void *context, const char *name, char **text, size_t *nbytes) {
  return fuzz_host_load(resize, context, name, text, nbytes);
}

static int write_text(void *context, const char *text, size_t nbytes) {
  run *r = context;
  if (r->length + nbytes > r->room) {
    r->room = 2 * (r->room + nbytes) + 4096;
    r->text = realloc(r->text, r->room);
    if (r->text == NULL)
      abort();
  }
  memcpy(r->text + r->length, text, nbytes);
  r->length += nbytes;
  return 0;
}

// Runs the program; false after a message where it ended as none may.
static bool perform(const char *source, size_t nbytes, uint64_t seed, way how,
                    run *r) {
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = write_text;
  options.load = load;
  options.context = r;
  options.no_reuse = how == COPYING;
  options.instruction_limit = how == CUT ? r->fail_at : 200000;
  options.capabilities = 0;
  options.threads = 1;
  tally_vm *vm = NULL;
  fuzz_host host;
  size_t held = 0;
  r->status = tally_open(&options, &vm);
  if (vm != NULL && fuzz_host_open(&host, vm)) {
    tally_count(vm, how == COUNTING);
    vm->conservative = how == DISTRUSTED;
    r->status = tally_run_source(vm, "program", source, nbytes, 0, NULL);
    if (r->status != TALLY_OK)
      snprintf(r->message, sizeof r->message, "%s", tally_error(vm)->report);
    tally_stats stats;
    tally_get_stats(vm, &stats);
    r->instructions = stats.instructions;
    fuzz_host_close(&host);
    held = tally_close(vm) + (size_t)host.tokens;
  } else {
    tally_close(vm);
  }
  bool cut_short = how == STARVED || how == CUT || r->status == TALLY_ERR_LIMIT;
  bool refused =
      r->status == TALLY_ERR_HOST || (r->status != TALLY_OK && !cut_short);
  if (refused || r->bytes != 0 || held != 0) {
    printf("FAILED: seed %llu, %s: %s, %lld bytes and %zu values left\n",
           (unsigned long long)seed, way_names[how],
           refused ? r->message : "ended", (long long)r->bytes, held);
    return false;
  }
  return true;
}

static bool same(const run *a, const run *b) {
  if (a->status == TALLY_ERR_LIMIT || b->status == TALLY_ERR_LIMIT)
    return true;
  return a->status == b->status && a->length == b->length &&
         (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

static bool try_program(uint64_t seed, int statements, volatile int *how) {
  char *source = NULL;
  size_t nbytes = 0;
  FILE *to = open_memstream(&source, &nbytes);
  tl_write_program(seed, statements, true, to);
  fclose(to);
  run runs[WAYS];
  memset(runs, 0, sizeof runs);
  bool ok = true;
  for (int i = 0; i < WAYS && ok; i++) {
    *how = i;
    // Anywhere, from the opening of the VM to its last allocation; from the
    // first instruction to the last.
    uint64_t x = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    if (i == STARVED)
      runs[i].fail_at = 1 + x % runs[AS_IT_IS].allocations;
    if (i == CUT)
      runs[i].fail_at = 1 + x % (runs[COUNTING].instructions + 1);
    ok = perform(source, nbytes, seed, (way)i, &runs[i]);
  }
  for (int i = COPYING; i <= DISTRUSTED && ok; i++) {
    ok = same(&runs[AS_IT_IS], &runs[i]);
    if (!ok)
      printf("FAILED: seed %llu: the %s run prints something else\n",
             (unsigned long long)seed, way_names[i]);
  }
  for (int i = 0; i < WAYS; i++) free(runs[i].text);
  free(source);
  return ok;
}

typedef struct progress {
  uint64_t seed, passed, failed;
  int how;
} progress;

static void work(progress *p, uint64_t end, int statements) {
  for (; p->seed < end; p->seed++) {
    if (try_program(p->seed, statements, &p->how))
      p->passed++;
    else
      p->failed++;
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: programs COUNT [FIRST [STATEMENTS]] | --print SEED\n",
          stderr);
    return 2;
  }
  int statements = argc > 3 ? atoi(argv[3]) : 12;
  if (strcmp(argv[1], "--print") == 0) {
    tl_write_program(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, statements,
                     false, stdout);
    return 0;
  }
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 2;
  p->seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t end = p->seed + strtoull(argv[1], NULL, 10);
  while (p->seed < end) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      work(p, end, statements);
      exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      return 2;
    if (p->seed < end) {
      printf("FAILED: seed %llu, %s: the process died (status %d)\n",
             (unsigned long long)p->seed, way_names[p->how], status);
      p->failed++;
      p->seed++;
    }
  }
  printf("%llu passed, %llu failed\n", (unsigned long long)p->passed,
         (unsigned long long)p->failed);
  return p->failed == 0 ? 0 : 1;
}
