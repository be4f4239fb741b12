// How long it takes from an interrupt to the host's having control again, in
// every function of the library:
//
//   interrupts SETUP.tly WAYS.txt [MILLISECONDS [LONGEST [polls]]] <NAMES
//
// Calls each function that is a line of standard input in each way of WAYS.txt,
// where F stands for its name, after SETUP.tly. Expressions will do as well, in
// the way that is F alone. What takes more than a moment is interrupted after
// 2, 10, 30 … milliseconds of processor time, LONGEST (3000) at most. Prints
// each way that answered later than MILLISECONDS (50) of processor time, then
// for each function how often it was interrupted, the median and the maximum,
// then the median, 99.9 % and the maximum of all. Exit status 1 if any was
// late. The functions run in a child process each, on one thread, so that one
// that never answers is left after 10 seconds.
//
// With `polls` each way is called once, for LONGEST at most, and what counts is
// how long it is from one poll to the next, of all that there are: the VM has a
// limit of time, for which polls ask this program's clock. Median and 99.9 %
// are then what somebody waits who interrupts at any moment. Memory that is
// freed stays the process's, as far as the C library can: to clear a page of
// 2 MiB that a virtual machine has not had yet takes its host up to 18 ms.

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tally.h"

enum { MOST_WAYS = 200, MOST_NAMES = 2000, MOST_TIMES = 200000, LINE = 200 };

// Seconds from an interrupt to control, in a function.
typedef struct answered {
  int name;
  double seconds;
} answered;

// Distances between polls, in classes of which each is a tenth longer than the
// one before, from a microsecond on.
enum { CLASSES = 200 };

typedef struct distances {
  double count[CLASSES], sum[CLASSES], longest;
} distances;

// What the children leave for their parent.
typedef struct shared {
  int way;       // under way
  size_t count;  // of times
  answered times[MOST_TIMES];
  distances polls[MOST_NAMES + 1];  // the last: of all
} shared;

static tally_vm *vm;
static volatile sig_atomic_t fired;
static double asked;  // when the interrupt came
static shared *all;
static char ways[MOST_WAYS][LINE], names[MOST_NAMES][LINE];
static int way_count, name_count;
static const double delays[] = {0.002, 0.01, 0.03, 0.1, 0.3, 1, 3};
static double longest = 3;
static double polled;      // when the last poll was
static double worst_poll;  // in this call
static int current = -1;   // name; below 0: the values are made
static bool by_polls;

// The process's clock goes by ticks of 4 ms while a timer waits for it.
static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The second time 10 seconds after the first: nobody answers.
static void interrupt(int signal) {
  (void)signal;
  if (fired++)
    _exit(3);
  asked = used();
  tally_interrupt(vm);
}

static void arm(double seconds, double then) {
  struct itimerval t = {.it_value = {.tv_usec = 0}};
  t.it_value.tv_sec = (time_t)seconds;
  t.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds));
  t.it_interval.tv_sec = (time_t)then;
  setitimer(ITIMER_PROF, &t, NULL);
}

// Runs the call with an interrupt after so many seconds; returns the seconds
// until it answered, or -1: it had ended before.
static double answer(const char *source, double seconds) {
  fired = 0;
  arm(seconds, 10);
  tally_eval(vm, source, NULL);
  double end = used();
  arm(0, 0);
  if (!fired)
    return -1;
  tally_eval(vm, "none", NULL);  // an interrupt that came at the very end
  return end - asked;
}

// The way with the function's name where F stands.
static void write_call(const char *way, const char *name, char *source) {
  for (const char *f; (f = strchr(way, 'F')) != NULL; way = f + 1) {
    source += sprintf(source, "%.*s%s", (int)(f - way), way, name);
  }
  strcpy(source, way);
}

static void record(int name, double seconds) {
  if (all->count < MOST_TIMES)
    all->times[all->count++] = (answered){name, seconds};
}

static void add(distances *d, double seconds) {
  double at = seconds < 1e-6 ? 0 : log(1e6 * seconds) / log(1.1);
  int class = at < CLASSES - 1 ? (int)at : CLASSES - 1;
  d->count[class] += 1;
  d->sum[class] += seconds;
  if (seconds > d->longest)
    d->longest = seconds;
}

// The VM's clock: asked where a call begins, and at each poll.
static double poll_clock(void *context) {
  (void)context;
  const double now = used(), since = now - polled;
  if (current < 0)
    return 0;
  if (polled > 0) {
    add(&all->polls[current], since);
    add(&all->polls[MOST_NAMES], since);
    if (since > worst_poll)
      worst_poll = since;
  }
  return polled = used();
}

// The longest distance between two polls of a call.
static double distance(const char *source) {
  polled = worst_poll = 0;
  arm(longest + 20, 0);
  fired = 1;
  tally_eval(vm, source, NULL);
  poll_clock(NULL);
  arm(0, 0);
  return worst_poll;
}

// What is waited at most in such a part of moments: who comes within a distance
// d waits for less than d, each time as likely.
static double waited(const distances *d, double part) {
  double sum = 0, above_sum = 0, above_count = 0;
  for (int i = 0; i < CLASSES; i++) sum += d->sum[i];
  for (int i = CLASSES - 1; i > 0; i--) {
    const double t = 1e-6 * pow(1.1, i);
    above_sum += d->sum[i], above_count += d->count[i];
    if (above_sum - t * above_count > (1 - part) * sum)
      return t;
  }
  return 0;
}

static void print_distances(const char *name, const distances *d) {
  double count = 0;
  for (int i = 0; i < CLASSES; i++) count += d->count[i];
  if (count > 0)
    printf("%-36s %9.0f %9.2f ms %9.2f ms %9.2f ms\n", name, count,
           1e3 * waited(d, 0.5), 1e3 * waited(d, 0.999), 1e3 * d->longest);
}

// All ways from [first] on to call one function.
static void call(int name, int first, double late) {
  for (int way = first; way < way_count; way++) {
    char source[4 * LINE] = "";
    double worst = 0;
    all->way = way;
    current = name;
    write_call(ways[way], names[name], source);
    // Once is the system's: a huge page to clear takes it up to 6 ms.
    if (by_polls)
      worst = distance(source);
    for (int again = 0; by_polls && again < 2 && worst > late; again++)
      worst = fmin(worst, distance(source));
    for (size_t i = 0; !by_polls && i < sizeof delays / sizeof *delays &&
                       delays[i] <= longest;
         i++) {
      double took = answer(source, delays[i]);
      if (took < 0)
        break;
      if (took > worst)
        worst = took;
      record(name, took);
    }
    if (worst > late)
      printf("%8.1f ms  %s\n", 1e3 * worst, source), fflush(stdout);
  }
}

static void read_names(void) {
  while (name_count < MOST_NAMES &&
         fgets(names[name_count], LINE, stdin) != NULL) {
    names[name_count][strcspn(names[name_count], "\n")] = '\0';
    name_count += names[name_count][0] != '\0';
  }
}

static void read_ways(const char *path) {
  FILE *file = fopen(path, "r");
  while (file != NULL && way_count < MOST_WAYS &&
         fgets(ways[way_count], LINE, file) != NULL) {
    ways[way_count][strcspn(ways[way_count], "\n")] = '\0';
    way_count += ways[way_count][0] != '\0' && ways[way_count][0] != '#';
  }
  if (file != NULL)
    fclose(file);
}

static int by_value(const void *a, const void *b) {
  const double x = ((const answered *)a)->seconds;
  const double y = ((const answered *)b)->seconds;
  return (x > y) - (x < y);
}

// Of each function, one line.
static void print_functions(void) {
  static double times[MOST_TIMES];
  for (int name = 0; name < name_count; name++) {
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++)
      if (all->times[i].name == name)
        times[n++] = all->times[i].seconds;
    if (n > 0)
      printf("%-36s %5zu %9.2f ms %9.2f ms\n", names[name], n,
             1e3 * times[n / 2], 1e3 * times[n - 1]);
  }
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// A VM with the values of the set-up; false: it says why.
static bool open_vm(const char *path) {
  char source[8192] = "";
  tally_options options = tally_default_options();
  options.threads = 1;  // those of a pool would be missing in a child
  options.capabilities = TALLY_MAY_FILES;
  options.write = write_nothing;
  options.seeded = 1;
  options.memory_limit = (size_t)6 << 30;
  if (by_polls) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    options.clock = poll_clock;
    options.time_limit = longest;
  }
  FILE *file = fopen(path, "r");
  if (file != NULL) {
    source[fread(source, 1, sizeof source - 1, file)] = '\0';
    fclose(file);
  }
  if (tally_open(&options, &vm) == TALLY_OK &&
      tally_eval(vm, source, NULL) == TALLY_OK)
    return true;
  fprintf(stderr, "%s: %s\n", path, tally_error(vm)->message);
  return false;
}

// One function, in as many children as never answer.
static void measure(int name, double late) {
  for (int way = 0, status; way < way_count; way = all->way + 1) {
    pid_t child = fork();
    if (child == 0) {
      call(name, way, late);
      _exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      return;
    printf("   never     %s with %s (status %d)\n", names[name], ways[all->way],
           status);
    fflush(stdout);
    record(name, 10);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr,
            "usage: interrupts SETUP.tly WAYS.txt [MILLISECONDS [LONGEST]]\n");
    return 2;
  }
  const double late = argc > 3 ? 1e-3 * atof(argv[3]) : 0.05;
  if (argc > 4)
    longest = 1e-3 * atof(argv[4]);
  by_polls = argc > 5;
  all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_handler = interrupt};
  sigaction(SIGPROF, &action, NULL);
  read_names();
  read_ways(argv[2]);
  if (all == MAP_FAILED || way_count == 0 || !open_vm(argv[1]))
    return 2;
  for (int i = 0; i < name_count; i++) measure(i, late);
  if (by_polls) {
    for (int i = 0; i < name_count; i++)
      print_distances(names[i], &all->polls[i]);
    print_distances("all", &all->polls[MOST_NAMES]);
    return all->polls[MOST_NAMES].longest > late;
  }
  qsort(all->times, all->count, sizeof *all->times, by_value);
  if (all->count == 0)
    return 2;
  print_functions();
  const double most = all->times[all->count - 1].seconds;
  printf(
      "%zu interrupts of %d functions: median %.2f ms, 99.9 %% %.1f ms, "
      "maximum %.1f ms\n",
      all->count, name_count, 1e3 * all->times[all->count / 2].seconds,
      1e3 * all->times[all->count - 1 - all->count / 1000].seconds, 1e3 * most);
  return most > late;
}
