// The program of all targets (tests/fuzz/search names them):
//
//   targets --target=NAME COUNT FILE ...   each file as it is, and COUNT times
//                                          with some damage
//
// A child does the runs: where it dies, the file and the seed are reported and
// the next one is taken. The last line is the sum, and the exit status 1 if
// anything failed.
//
// With FUZZ_SEARCH defined libFuzzer's main takes its place, and its own
// options and folders follow the target.
#define _DEFAULT_SOURCE 1  // for anonymous mappings
#define _DARWIN_C_SOURCE 1

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/targets/targets.h"

static const fuzz_target *target;

static bool choose_target(int argc, char **argv) {
  static const char option[] = "--target=";
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], option, sizeof option - 1) == 0)
      target = fuzz_find(argv[i] + sizeof option - 1);
  return target != NULL;
}

#ifdef FUZZ_SEARCH

// libFuzzer notes what strings each comparison met, which was a seventh of the
// time of `script`: words come from dictionaries. Its own hooks come second.
void __sanitizer_weak_hook_memcmp(void *, const void *, const void *, size_t,
                                  int);
void __sanitizer_weak_hook_strcmp(void *, const char *, const char *, int);
void __sanitizer_weak_hook_strncmp(void *, const char *, const char *, size_t,
                                   int);

void __sanitizer_weak_hook_memcmp(void *at, const void *a, const void *b,
                                  size_t nbytes, int order) {
  (void)at, (void)a, (void)b, (void)nbytes, (void)order;
}

void __sanitizer_weak_hook_strcmp(void *at, const char *a, const char *b,
                                  int order) {
  (void)at, (void)a, (void)b, (void)order;
}

void __sanitizer_weak_hook_strncmp(void *at, const char *a, const char *b,
                                   size_t nbytes, int order) {
  (void)at, (void)a, (void)b, (void)nbytes, (void)order;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (!choose_target(*argc, *argv))
    fuzz_fail("no target of that name", "");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes) {
  fuzz_one(target, data, nbytes);
  return 0;
}

#else

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, LIMIT_SECONDS = 60, MOST_FAILURES = 10 };

// What is shared with the process that tries: it may die.
typedef struct progress {
  int file;
  uint64_t seed, passed, failed;
} progress;

static size_t load(const char *path, uint8_t *data) {
  FILE *from = fopen(path, "rb");
  if (from == NULL)
    return 0;
  size_t n = fread(data, 1, MOST_BYTES, from);
  fclose(from);
  return n;
}

// Seed 0 leaves a file as it is.
static void work(progress *p, uint64_t count, int argc, char **argv) {
  static uint8_t whole[MOST_BYTES], damaged[MOST_BYTES];
  for (; p->file < argc; p->file++, p->seed = 0) {
    size_t n = load(argv[p->file], whole);
    for (; p->seed <= count; p->seed++) {
      memcpy(damaged, whole, n);
      size_t m =
          p->seed == 0 ? n : fuzz_damage(damaged, n, MOST_BYTES, p->seed);
      alarm(LIMIT_SECONDS);
      fuzz_one(target, damaged, m);
      p->passed++;
    }
  }
  fuzz_end();
}

// What the process died of is on standard error.
static void report(const progress *p, const char *path, int status) {
  printf("FAILED: %s with %s, seed %llu: the process died (%d)\n", target->name,
         path, (unsigned long long)p->seed, status);
}

int main(int argc, char **argv) {
  if (!choose_target(argc, argv) || argc < 4) {
    fputs("usage: targets --target=NAME COUNT FILE ...\n", stderr);
    return 2;
  }
  uint64_t count = strtoull(argv[2], NULL, 10);
  progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return 2;
  p->file = 3;
  for (;;) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      work(p, count, argc, argv);
      exit(0);  // with what was to be done at the end, leaks looked for too
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
      return 2;
    if (status == 0)
      break;
    p->failed++;
    report(p, p->file < argc ? argv[p->file] : "what is left at the end",
           status);
    if (p->file >= argc || p->failed == MOST_FAILURES)
      break;
    p->seed++;
  }
  printf("%llu passed, %llu failed\n", (unsigned long long)p->passed,
         (unsigned long long)p->failed);
  return p->failed == 0 ? 0 : 1;
}

#endif
