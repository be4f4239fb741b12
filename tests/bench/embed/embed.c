// What embedding costs, beside Lua 5.4 and memcpy in the same run, as a table:
//
//   tests/bench/embed/run [build/release]
//
// Each row is the median of rounds that alternate between the two.
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "tally.h"

enum { ROUNDS = 21, CALLS = 20000, VMS = 20, MANY = 1000 };
#define MEGABYTES_100 ((size_t)100 * 1000 * 1000)

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, by_value);
  return times[count / 2];
}

static void fail(tally_vm *vm) {
  fprintf(stderr, "embed: %s\n", tally_error(vm)->message);
  exit(1);
}

// --- A call with two floats
// ---------------------------------------------------

static double call_tally(tally_vm *vm, tally_value f) {
  double sum = 0, x, begin = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < CALLS; i++) {
    tally_value args[2], out;
    tally_from_float(vm, i, &args[0]);
    tally_from_float(vm, 2.5, &args[1]);
    if (tally_apply(vm, f, 2, args, &out) != TALLY_OK)
      fail(vm);
    tally_to_float(vm, out, &x);
    tally_release(vm, out);
    sum += x;
  }
  double time = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / CALLS;
  if (sum < 0)
    puts("");
  return time;
}

static double call_lua(lua_State *lua, int f) {
  double sum = 0, begin = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < CALLS; i++) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, f);
    lua_pushnumber(lua, i);
    lua_pushnumber(lua, 2.5);
    if (lua_pcall(lua, 2, 1, 0) != LUA_OK)
      exit(1);
    sum += lua_tonumber(lua, -1);
    lua_pop(lua, 1);
  }
  double time = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / CALLS;
  if (sum < 0)
    puts("");
  return time;
}

static void measure_calls(void) {
  tally_vm *vm;
  tally_value f;
  if (tally_open(NULL, &vm) != TALLY_OK)
    exit(1);
  if (tally_eval(vm, "fn mix(a, b) = a * b + a", NULL) != TALLY_OK ||
      tally_get_global(vm, "mix", &f) != TALLY_OK)
    fail(vm);
  lua_State *lua = luaL_newstate();
  luaL_openlibs(lua);
  if (luaL_dostring(lua, "return function(a, b) return a * b + a end"))
    exit(1);
  int g = luaL_ref(lua, LUA_REGISTRYINDEX);
  double ours[ROUNDS], theirs[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    ours[i] = call_tally(vm, f);
    theirs[i] = call_lua(lua, g);
  }
  double a = median(ours, ROUNDS), b = median(theirs, ROUNDS);
  printf(
      "| call of a compiled function with two floats | %.0f ns | lua_pcall: "
      "%.0f ns | %.2f |\n",
      a * 1e9, b * 1e9, a / b);
  tally_release(vm, f);
  tally_close(vm);
  lua_close(lua);
}

// --- Opening and closing
// --------------------------------------------------------

static void measure_opening(void) {
  double ours[ROUNDS], theirs[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int k = 0; k < VMS; k++) {
      tally_vm *vm;
      if (tally_open(NULL, &vm) != TALLY_OK)
        exit(1);
      tally_close(vm);
    }
    ours[i] = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / VMS;
    begin = now(CLOCK_PROCESS_CPUTIME_ID);
    for (int k = 0; k < VMS; k++) {
      lua_State *lua = luaL_newstate();
      luaL_openlibs(lua);
      lua_close(lua);
    }
    theirs[i] = (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / VMS;
  }
  double a = median(ours, ROUNDS), b = median(theirs, ROUNDS);
  printf(
      "| open and close a VM | %.1f us | luaL_newstate, luaL_openlibs: "
      "%.1f us | %.2f |\n",
      a * 1e6, b * 1e6, a / b);
}

// --- 100 MB in and out
// ----------------------------------------------------------

static void measure_handing_over(void) {
  tally_vm *vm;
  tally_value x, y;
  tally_array out;
  tally_stats before, after;
  double *data = malloc(MEGABYTES_100), *copy = malloc(MEGABYTES_100);
  if (!data || !copy || tally_open(NULL, &vm) != TALLY_OK)
    exit(1);
  for (size_t i = 0; i < MEGABYTES_100 / 8; i++) data[i] = 1;
  memset(copy, 1, MEGABYTES_100);
  double begin = now(CLOCK_MONOTONIC);
  memcpy(copy, data, MEGABYTES_100);
  double copying = now(CLOCK_MONOTONIC) - begin;
  tally_buffer buffer = {
      .data = data, .type = "12500000 * float64", .nbytes = MEGABYTES_100};
  tally_get_stats(vm, &before);
  begin = now(CLOCK_MONOTONIC);
  if (tally_from_buffer(vm, &buffer, &x) != TALLY_OK)
    fail(vm);
  double lending = now(CLOCK_MONOTONIC) - begin;
  if (tally_set_global(vm, "x", x) != TALLY_OK ||
      tally_eval(vm, "x * 2 + 1", &y) != TALLY_OK ||
      tally_to_buffer(vm, y, &out) != TALLY_OK)
    fail(vm);
  tally_get_stats(vm, &after);
  printf("| hand over 100 MB, x * 2 + 1, read back | %" PRIu64
         " block allocated, %" PRIu64
         " copied; handing over %.1f us | memcpy: "
         "%.0f us | %.5f |\n",
         after.allocs - before.allocs, after.copies - before.copies,
         lending * 1e6, copying * 1e6, lending / copying);
  tally_release(vm, x);
  tally_release(vm, y);
  tally_close(vm);
  free(data);
  free(copy);
}

// --- Interrupts
// -------------------------------------------------------------------

// In the processor's time of the thread that is stopped, so that others on a
// busy machine do not count.
typedef struct ring {
  tally_vm *vm;
  clockid_t clock;
  double at;
} ring;

static void *ring_bell(void *context) {
  ring *r = context;
  nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
  r->at = now(r->clock);
  tally_interrupt(r->vm);
  return NULL;
}

static void measure_interrupt(const char *what, const char *source) {
  double worst = 0;
  for (int i = 0; i < 5; i++) {
    ring r;
    pthread_t thread;
    if (pthread_getcpuclockid(pthread_self(), &r.clock) != 0 ||
        tally_open(NULL, &r.vm) != TALLY_OK ||
        pthread_create(&thread, NULL, ring_bell, &r) != 0)
      exit(1);
    if (tally_eval(r.vm, source, NULL) != TALLY_ERR_INTERRUPT)
      fail(r.vm);
    double late = now(r.clock) - r.at;
    worst = late > worst ? late : worst;
    pthread_join(thread, NULL);
    tally_close(r.vm);
  }
  printf("| interrupt, worst of 5: %s | %.2f ms | 10 ms | |\n", what,
         worst * 1e3);
}

// --- Many VMs
// ---------------------------------------------------------------------

static long resident(void) {
  long pages = 0, all;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file)
    return 0;
  if (fscanf(file, "%ld %ld", &all, &pages) != 2)
    pages = 0;
  fclose(file);
  return pages * 4096;
}

static void measure_many(void) {
  static tally_vm *vms[MANY];
  long before = resident();
  for (int i = 0; i < MANY; i++)
    if (tally_open(NULL, &vms[i]) != TALLY_OK)
      exit(1);
  long each = (resident() - before) / MANY;
  for (int i = 0; i < MANY; i++) tally_close(vms[i]);
  printf("| %d idle VMs, resident memory of each | %ld kB | 100 KiB | |\n",
         MANY, each / 1000);
}

int main(void) {
  printf("| what | Tally | against | ratio |\n|---|---|---|---|\n");
  measure_calls();
  measure_opening();
  measure_handing_over();
  measure_interrupt("a loop", "while true { }");
  measure_interrupt("sums of arrays",
                    "a = ones(1_000_000)\nwhile true { b = sum(a * a + 1) }");
  measure_interrupt("a sort of 1e7",
                    "while true { b = sort(arange(10_000_000) % 9973) }");
  measure_many();
}
