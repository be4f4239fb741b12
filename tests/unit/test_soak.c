// One VM for a long time: mixed work, of which much ends with an error, an
// interrupt or without memory. What is alive in the end is what was alive in
// the beginning, to the byte and the object.
//
//   test_soak [RUNS [FIRST]]     FIRST: where the random numbers begin

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tally.h"

// The work. Variables end as they begin when all of it is run in order.
static const char *const works[] = {
    "x = arange(5000) * 1.5\nx = sqrt(x + 1)\ny = sum(x * x)",
    "x[10:20] += 3\nx = x[x > 4]\nx = none",
    "t = [string(v) for v in 0..300]\nt = sort(t)\nu = unique(t)\nt = none",
    "l = ((i, (i, \"a{i}\")) for i in 0..200)\nl = none",
    "r = (a: [1, 2, 3], b: (c: \"d\"))\nr.a[1] += 5\nr.b.c += \"e\"\nr = none",
    "fn f(n) = if n == 0 { 0 } else { 1 + f(n - 1) }\nf(500)",
    "k = 3\ng = x => x * k\ny = [g(i) for i in 0..100]\ng = none",
    "try { [1, 2][5] } catch e { y = e.message }",
    "error(\"of its own\")",
    "[1, 2] + [1, 2, 3]",
    "y = unknown_name",
    "this is no code",
    "import strings\ny = strings.match(\"a{y}b\", \"a(.*)b\")\ny = none",
    "import json\ny = json.parse(json.format((a: [1, 2], b: (1, \"x\"))))",
    "import linalg\ny = linalg.solve(eye(20) * 3, ones(20))",
    "import linalg\nlinalg.inv(zeros((3, 3)))",
    "import stats_of_nobody",
    "import memory\ny = memory.timeline(() => sum(ones(100)))\ny = none",
    "import memory\ny = memory.measure(() => ones(100) + 1)\ny = none",
    "y = group_by([1, 2, 1, 2], [1.0, 2.0, 3.0, 4.0])\ny = none",
    "y = ragged([1, 2, 3, 4], [1, 3])\nz = y * 2\ny = none\nz = none",
    "y = rows((a: [1, 2], b: [\"x\", \"y\"]))\nz = y.a + 1\ny = none\nz = none",
    "y = ones((60, 60)) @ ones((60, 60))\ny = none",
    "s = \"\"\nfor i in 0..200 { s += \"é{i}\" }\nn = len(s)\ns = none",
    "import random\ny = random.normal(1000)\ny = y[argsort(y)]\ny = none",
    "l = 1\nfor i in 0..60 { l = (l, l) }\ns = l == l\nl = none",
    "while true { y = ones(10) }",
    "y = zeros(100_000_000_000)",
    "for i in 0..3000 { y = (i, [i]) }\ny = none",
    "y = 0.0\nfor i in 0..20000 { y += i * 0.5 % 3 }",
    "y = zeros(50)\nfor i in 0..60 { y[i] = i }",  // past the end
    "y = [(k: \"a\", v: 1.0), (k: \"b\", v: 2.0)]\ny.v += 1\ny = none",
    "y = categorical([\"b\", \"a\", \"b\"])\nz = string(y)\ny = none\nz = none",
    "y = [1, none, 3]\nz = fill_missing(y * 2, 0)\ny = none\nz = none",
    "y = \"{[1.5, 2]:8.3f} {(a: 1)} {1 / 3:.{2 + 1}f}\"",
    "import io\nimport json\ny = json.parse(\"[1, {{\\\"a\\\": \")",
    "import io\ny = io.decode_npy(io.encode_npy(ones((3, 4))))\ny = none",
    "import fft\ny = abs(fft.fft(arange(1000) / 7))\ny = none",
    "import plot\ny = plot.svg(plot.line([1, 2, 3]))\ny = none",
    "y = map_axis(ones((6, 7)), v => sum(v), axis: 0)\ny = none",
    "y = ((((((((((((1 +)))))))))))",
    "fn g(n) = { y = ones(n)\n error(\"{sum(y)}\") }\ntry { g(9) } catch { }\ng(3)",
    "show([(a: 1.5, b: \"x\")])\nprint((1, [2, none]), [[1], []])",
    "y = `{a: 3 * ?int8, b: var * string}`\nz = zeros(2, dtype: y)\ny = none\nz = none",
    "del(y)\ny = x\nx[0] = 1",
    "y = 0\ns = none\nn = none\nu = none\nz = none\ne = none\nk = none",
};
enum { WORKS = sizeof works / sizeof *works, ENDLESS = 26 };

typedef struct soak {
  tally_vm *vm;
  uint64_t random;
  uint64_t polls, interrupt_at;   // 0: never
  uint64_t requests, refused_at;  // allocations
  int64_t bytes;
} soak;

// Marsaglia's xorshift; below n.
static uint64_t draw(soak *s, uint64_t n) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return s->random % n;
}

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  soak *s = context;
  if (new_size == 0) {
    s->bytes -= (int64_t)old_size;
    free(block);
    return NULL;
  }
  if (++s->requests == s->refused_at)
    return NULL;
  void *moved = realloc(block, new_size);
  if (moved != NULL)
    s->bytes += (int64_t)new_size - (int64_t)old_size;
  return moved;
}

static double tick(void *context) {
  soak *s = context;
  if (++s->polls == s->interrupt_at)
    tally_interrupt(s->vm);
  return (double)s->polls;
}

static int write_nothing(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

// Runs all of the work in order, undisturbed, and says what is alive then.
static tally_stats settle(soak *s) {
  tally_stats stats;
  s->refused_at = 0;
  for (int i = 0; i < WORKS; i++) {
    s->polls = 0;
    s->interrupt_at = i == ENDLESS ? 20 : 0;
    tally_eval(s->vm, works[i], NULL);
  }
  s->interrupt_at = 0;
  // Code of functions that have gone is freed when there is much of it, or
  // here.
  tally_eval(s->vm, "import memory\nmemory.reclaim()", NULL);
  tally_eval(s->vm, "none", NULL);
  tally_get_stats(s->vm, &stats);
  return stats;
}

// One piece of work, disturbed at random.
static void disturb(soak *s) {
  const int i = (int)draw(s, WORKS);
  s->polls = 0;
  s->requests = 0;
  s->interrupt_at = draw(s, 3) == 0 || i == ENDLESS ? 1 + draw(s, 12) : 0;
  s->refused_at = draw(s, 3) == 0 ? 1 + draw(s, 60) : 0;
  tally_eval(s->vm, works[i], NULL);
}

int main(int argc, char **argv) {
  const long runs = argc > 1 ? atol(argv[1]) : 2000;
  soak s = {.random =
                88172645463325252u + (argc > 2 ? (uint64_t)atol(argv[2]) : 0)};
  tally_options options = tally_default_options();
  options.resize = resize;
  options.write = write_nothing;
  options.clock = tick;
  options.context = &s;
  options.memory_limit = 32u << 20;
  options.time_limit = 1e9;
  options.threads = 1;
  options.no_blas = 1;
  options.capabilities = TALLY_MAY_FILES;
  if (tally_open(&options, &s.vm) != TALLY_OK)
    return 2;
  // What is loaded once, and what is cached, is there after some work. A table
  // may double once more; what grows with the work would do so each time.
  bool returned = false;
  for (int i = 0; i < 1000; i++) disturb(&s);
  tally_stats begin = settle(&s);
  for (int attempt = 0; attempt < 3 && !returned; attempt++) {
    for (long i = 0; i < runs; i++) disturb(&s);
    const tally_stats end = settle(&s);
    printf("%ld runs: live bytes %llu, then %llu; objects %llu, then %llu\n",
           runs, (unsigned long long)begin.live_bytes,
           (unsigned long long)end.live_bytes, (unsigned long long)begin.live,
           (unsigned long long)end.live);
    returned = end.live_bytes == begin.live_bytes && end.live == begin.live;
    begin = end;
  }
  const size_t held = tally_close(s.vm);
  const bool ok = returned && held == 0 && s.bytes == 0;
  printf("[  %s  ] 1 test(s).\n", ok ? "PASSED" : "FAILED");
  return !ok;
}
