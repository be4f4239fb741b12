// A host and a script that share an array of C structs: the script sees the
// host's own memory as `4 * {name: fixed_string[8], ...}`, moves the particles
// in place, and the host reads them where they lie. Nothing is copied.

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "tally.h"

// As a C compiler lays it out; the type below says the same fields.
typedef struct particle {
  char name[8];
  double x, y, vx, vy;
  int32_t bounces;
} particle;

#define PARTICLES                                        \
  "4 * {name: fixed_string[8], x: float64, y: float64, " \
  "vx: float64, vy: float64, bounces: int32}"

static const char script[] =
    "## One step of dt in a box of size 1; walls turn particles back.\n"
    "fn step(p, dt) {\n"
    "  p.x += p.vx * dt\n"
    "  p.y += p.vy * dt\n"
    "  side = (p.x < 0) | (p.x > 1)\n"
    "  floor = (p.y < 0) | (p.y > 1)\n"
    "  p.vx = where(side, -p.vx, p.vx)\n"
    "  p.vy = where(floor, -p.vy, p.vy)\n"
    "  p.bounces += int32(side) + int32(floor)\n"
    "  p\n"
    "}\n"
    "\n"
    "fn run(p, steps, dt) {\n"
    "  for _ in 0..steps { p = step(p, dt) }\n"
    "  p[argmax(p.bounces)].name = \"busiest\"\n"
    "  p\n"
    "}\n"
    "\n"
    "fn report(p) {\n"
    "  q = sort_by(p, (\"bounces\", \"name\"), descending: true)\n"
    "  for i in q { print(\"{i.name:<8} {i.x:6.3f} {i.y:6.3f} "
    "{i.bounces:3d}\") }\n"
    "}\n";

static void show(const particle *p, int count) {
  for (int i = 0; i < count; i++) {
    printf("%-8.8s %6.3f %6.3f %3d\n", p[i].name, p[i].x, p[i].y,
           (int)p[i].bounces);
  }
}

static void let_go(void *context, void *data) {
  (void)context;
  (void)data;  // the host's, which stays
  printf("the script has let go\n");
}

// Lends the particles to the VM, which is given all it holds of them.
static tally_status simulate(tally_vm *vm, particle *p, size_t nbytes) {
  tally_buffer buffer = {
      .data = p, .type = PARTICLES, .nbytes = nbytes, .release = let_go};
  tally_value args[3], moved = {0, 0};
  tally_status status = tally_from_buffer(vm, &buffer, &args[0]);
  if (status != TALLY_OK)
    return status;
  // Given away: nobody else holds them, so updates are in place.
  args[0] = tally_take(args[0]);
  tally_from_int(vm, 100, &args[1]);
  tally_from_float(vm, 0.05, &args[2]);
  status = tally_call(vm, "run", 3, args, &moved);
  tally_release(vm, args[1]);
  tally_release(vm, args[2]);
  if (status != TALLY_OK)
    return status;
  printf("the host sees, in its own array:\n");
  show(p, (int)(nbytes / sizeof *p));
  printf("the script sees, in order:\n");
  status = tally_call(vm, "report", 1, &moved, NULL);
  tally_release(vm, moved);
  return status;
}

int main(void) {
  static particle p[4] = {{"ash", 0.1, 0.2, 0.9, 0.3, 0},
                          {"birch", 0.5, 0.5, -0.4, 0.7, 0},
                          {"cedar", 0.9, 0.1, 0.2, -0.2, 0},
                          {"elm", 0.3, 0.8, -1.1, -0.9, 0}};
  tally_vm *vm;
  if (tally_open(NULL, &vm) != TALLY_OK)
    return 1;
  tally_status status = tally_eval(vm, script, NULL);
  if (status == TALLY_OK)
    status = simulate(vm, p, sizeof p);
  if (status != TALLY_OK)
    fprintf(stderr, "%s\n", tally_error(vm)->report);
  return tally_close(vm) != 0 || status != TALLY_OK;
}
