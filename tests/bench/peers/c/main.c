/* The general workloads in C, fused by hand: what the machine can do.
   usage: peer DATA GROUP …
          peer --start COMMAND …   (times another program's start and end)
   Outputs go to memory that was made and touched beforehand. */
#define _GNU_SOURCE
#include "peer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *directory;
volatile double check;

// --- Timing -----------------------------------------------------------------

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void bench_per(const char *name, void (*f)(void), double per) {
  f();
  double result = check, start = now();
  f();
  double once = now() - start, samples[11];
  int turns = once < 0.004 ? (int)(0.004 / (once + 1e-9)) + 1 : 1;
  int runs = once * turns > 0.5 ? 3 : 9;
  for (int r = 0; r < runs; r++) {
    start = now();
    for (int i = 0; i < turns; i++) f();
    samples[r] = (now() - start) / turns / per;
  }
  qsort(samples, (size_t)runs, sizeof *samples, by_value);
  printf("%s\t%.9g\t%.9g\t\t%.17g\n", name, samples[runs / 2], samples[0],
         result);
  fflush(stdout);
}

void bench(const char *name, void (*f)(void)) {
  bench_per(name, f, 1);
}

// --- Inputs -----------------------------------------------------------------

void *room(size_t nbytes) {
  size_t whole = (nbytes + (1u << 21) - 1) >> 21 << 21;
  char *p = aligned_alloc(1u << 21, whole);
  if (!p)
    abort();
  madvise(p, whole, MADV_HUGEPAGE);
  memset(p, 1, whole);
  return p;
}

void *read_file(const char *name, size_t *nbytes) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *f = fopen(path, "rb");
  if (!f) {
    perror(path);
    exit(1);
  }
  fseek(f, 0, SEEK_END);
  *nbytes = (size_t)ftell(f);
  rewind(f);
  char *p = room(*nbytes + 64);
  if (fread(p, 1, *nbytes, f) != *nbytes)
    exit(1);
  fclose(f);
  p[*nbytes] = 0;
  return p;
}

enum { NPY_HEADER = 128 };

void *read_array(const char *name) {
  size_t nbytes;
  char *p = read_file(name, &nbytes);
  memmove(p, p + NPY_HEADER, nbytes - NPY_HEADER);
  return p;
}

double *X, *Y, *out, *out2;

void read_reals(void) {
  if (X)
    return;
  X = read_array("x.npy");
  Y = read_array("y.npy");
  out = room(8 * 10000064);
  out2 = room(8 * 10000064);
}

// --- Starting another program -----------------------------------------------

// Prints the median seconds by the wall and the most bytes that were resident.
// From a small process, because a child begins with what its parent has.
static int start(char **command) {
  enum { TURNS = 15 };
  double samples[TURNS];
  long resident = 0;
  for (int i = 0; i < TURNS; i++) {
    struct timespec from, to;
    struct rusage usage;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t child = fork();
    if (child == 0) {
      int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      dup2(null, 2);
      execvp(command[0], command);
      _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
      return 1;
    clock_gettime(CLOCK_MONOTONIC, &to);
    samples[i] = (double)(to.tv_sec - from.tv_sec) +
                 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    resident = usage.ru_maxrss * 1024;
  }
  qsort(samples, TURNS, sizeof *samples, by_value);
  printf("%.9g\t%ld\n", samples[TURNS / 2], resident);
  return 0;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } groups[] = {
      {"nest", nest},       {"chain", chain},
      {"maths", maths},     {"reductions", reductions},
      {"options", options}, {"products", products},
      {"sorting", sorting}, {"programs", programs},
      {"small", small},     {"scalars", scalars},
      {"words", words},
  };
  if (argc < 2)
    return 2;
  if (strcmp(argv[1], "--start") == 0)
    return argc < 3 ? 0 : start(argv + 2);
  directory = argv[1];
  for (int i = 2; i < argc; i++)
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++)
      if (strcmp(argv[i], groups[k].name) == 0)
        groups[k].run();
  return 0;
}
