// Runs random expressions that only look at values, and asks that none writes a
// heap count: their operands are variables of the module, or of a function, and
// what is computed on the way.
//
//   pure COUNT [FIRST]    COUNT scripts, those of seeds FIRST, FIRST + 1 …
//   pure --print SEED     the script of a seed
//
// Each script has four of them: of variables of the module, of a function's
// own, of its parameters, and of what a closure has captured. Those that failed
// are printed; the last line is the sum, and the exit status 1 if any did.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

// --- What is written --------------------------------------------------------

// Ways to say a value of a kind. $A is an array of eight numbers, $L a list of
// two such, $R a record with fields a, b (arrays) and s (a string), $S a
// string, $T a list of two strings, $N a number, $B a bool. The first four of
// each are plain, which ends the recursion.
static const char *const arrays[] = {
    "X",
    "Y",
    "P.a",
    "Q[1]",
    "($A + $A)",
    "($A * 2.0 - $A)",
    "sqrt(abs($A))",
    "where($A > 0.5, $A, $A)",
    "(if $B { $A } else { $A })",
    "same_of($A)",
    "either_of($A, $A)",
    "twice($A)",
    "fold($L, (+))",
    "fold($L, (p, q) => p + q)",
    "scan($A, (+))",
    "cumulative_sum($A)",
    "$A[::-1]",
    "$A[0:8][::-1]",
    "sort($A)",
    "roll($A, 2)",
    "($A |> twice |> abs)",
    "{ t# = $A; t# + t# }",
    "(v => v + 1.0)($A)",
    "{ f# = v => v + X; f#($A) }",
    "{ f# = (v, w) => v * Y + w; f#($A, $A) }",
    "{ f# = (twice, abs); f#[0]($A) }",
    "{ t# = 0.0; for v# in $L { t# = t# + v# }; t# }",
    "(try { $A } catch e { $A })",
    "each($L, twice)[1]",
    "each($L, v => v + Y)[0]",
    "float64($A)",
    "float64(float32($A))",
    "maximum($A, $A)",
    "$L[0]",
    "$L[1]",
    "$R.a",
    "(Y, $S)[0]",
    "first_of($L)",
    "$L[1:][0]",
    "values((a: X, b: Y))[0]",
    "$R.{a, b}.b",
    "$L[[0, 1]][0]",
    "{ t# = X; for k#, v# in $R.{a, b} { t# = t# * v# + len(k#) }; t# }",
    "Q[I]",
    "((X, Y), $S)[0][I]",
    "(((Y, X), $S), $R)[0][0][1]",
    "(a: $L, b: $S).a[I]",
    "(a: (b: $R, c: $S), d: $L).a.b.b",
    "($L, $R)[1].a",
    "{ t# = $L; u# = (t#, $R); u#[0][0] + t#[1] }",
    "{ t#, u# = ($L, $R); t#[0] + u#.b }",
    "{ t# = X; for k#, v# in (a: $L, b: (X, Y)) { t# = t# + v#[0] }; t# }",
    "(v# for k#, v# in (a: X, b: Y))[1]",
    "first_of(first_of(($L, $R)))",
    "pair_of(Q, $R)[0][1]",
    "(try { ($L, P) } catch e { (Q, P) })[0][I]",
};
static const char *const lists[] = {
    "Q",
    "(X, Y)",
    "(X, P.b)",
    "(P.a, Y)",
    "each($L, twice)",
    "(v + 1.0 for v in $L)",
    "(if $B { $L } else { $L })",
    "same_of($L)",
    "$L[:]",
    "$L[[1, 0]]",
    "($L, P)[0]",
    "(a: $L, b: S).a",
    "(v# for v# in (X, Y))",
    "(v# for k#, v# in (a: P.a, b: Y))",
    "(v# for l# in (Q, (X, Y)) for v# in l#)",
    "{ t# = $L; u# = (t#, X); u#[0] }",
    "((v#, Y) for v# in $L)[I]",
};
static const char *const records[] = {
    "P",
    "(a: X, b: Y, s: S)",
    "(a: Q[0], b: Y, s: W)",
    "(a: P.b, b: P.a, s: P.s)",
    "same_of($R)",
    "$R.{a, b, s}",
    "(Q, $R)[1]",
    "(a: $R, b: S).a",
    "{ t# = $R; u# = (Q, t#); u#[1] }",
};
static const char *const strings[] = {
    "S",
    "W",
    "P.s",
    "V[0]",
    "($S + $S)",
    "($S + W)[0:7]",
    "$S[:]",
    "$S[0:]",
    "(S[0] + W[1] + $S)",
    "\"{($S)} and {($N):.2f}\"",
    "join($T, \", \")",
    "split($S, \"zz\")[0]",
    "$T[0]",
    "(a: $S, b: X).a",
    "(if $B { $S } else { $S })",
    "same_of($S)",
    "fold($T, (+))",
    "fold($T, (v, w) => v + w)",
    "(S, ($T, W))[1][0][I]",
    "(k# for k#, v# in (a: X, b: Y))[I]",
};
static const char *const texts[] = {
    "V",
    "(S, W)",
    "(P.s, S)",
    "(W, W)",
    "(v + \"!\" for v in $T)",
    "each($T, v => v + S)",
    "($T, Q)[0]",
    "(v# for k#, v# in (a: S, b: W))",
};
static const char *const numbers[] = {
    "3.5",
    "X[2]",
    "len(S)",
    "len(Q)",
    "sum($A)",
    "$A[3]",
    "max($A)",
    "len($S)",
    "len($L)",
    "len($R)",
    "fold($A, (+))",
    "sum($A @ $A)",
    "{ t# = 0.0; for v# in $L { t# += sum(v#) }; t# }",
    "{ t# = 0; for k#, v# in $R { t# += len(k#) + len(v#) }; t# }",
    "fold(each($L, sum), (+))",
    "each($L, sum)[0]",
    "Q[I][I]",
    "len(($L, ($R, X)))",
    "len([v# for v# in (X, Y)])",
    "{ t# = 0.0; for p# in (Q, (X, Y)) { t# += sum(p#[0]) }; t# }",
    "sum(((X, Y), $L) |> first_of |> first_of)",
};
static const char *const bools[] = {
    "true",       "X[0] < Y[0]",   "S == W",        "len(S) > 3",   "($N > $N)",
    "($S == $S)", "any($A > 0.5)", "(\"a\" in $R)", "same($A, $A)",
};

typedef struct kind {
  char mark;
  const char *const *ways;
  uint32_t count;
} kind;
#define KIND(mark, ways) \
  { mark, ways, sizeof(ways) / sizeof *(ways) }
static const kind kinds[] = {
    KIND('A', arrays),  KIND('L', lists),   KIND('R', records),
    KIND('S', strings), KIND('N', numbers), KIND('B', bools),
    KIND('T', texts),
};
enum { KINDS = sizeof kinds / sizeof *kinds, PLAIN = 4, DEPTH = 3 };

typedef struct writer {
  uint64_t seed;
  char text[1 << 16];
  size_t length;
  int names;
} writer;

static uint32_t below(writer *w, uint32_t n) {
  w->seed ^= w->seed << 13;
  w->seed ^= w->seed >> 7;
  w->seed ^= w->seed << 17;
  return (uint32_t)((w->seed >> 16) % n);
}

static void put(writer *w, const char *text, size_t nbytes) {
  if (w->length + nbytes < sizeof w->text) {
    memcpy(w->text + w->length, text, nbytes);
    w->length += nbytes;
  }
  w->text[w->length] = 0;
}

static void say(writer *w, const char *text) {
  put(w, text, strlen(text));
}

// An expression of a kind.
static void write_value(writer *w, char mark, int depth) {
  const kind *k = kinds;
  while (k->mark != mark) k++;
  const char *way = k->ways[below(w, depth == 0 ? PLAIN : k->count)];
  char name[16];
  snprintf(name, sizeof name, "%d", w->names++);
  for (; *way != 0; way++) {
    if (*way == '$')
      write_value(w, *++way, depth - 1);
    else if (*way == '#')
      say(w, name);
    else
      put(w, way, 1);
  }
}

static const char variables[] =
    "X = linspace(0.0, 1.0, 8)\n"
    "Y = X + 1.0\n"
    "S = \"a text of {len(X)} words, longer than what lies in an item\"\n"
    "W = S + \" and more of it\"\n"
    "P = (a: X * 2.0, b: Y, s: S)\n"
    "Q = (X + 3.0, Y)\n"
    "V = (W, S)\n"
    "I = 1\n";
static const char functions[] =
    "import memory\n"
    "fn same_of(x) = x\n"
    "fn either_of(x, y) { if sum(x) > 3.0 { return x }; y }\n"
    "fn first_of(l) = l[0]\n"
    "fn pair_of(x, y) = (x, y)\n"
    "fn twice(x) = x * 2.0\n"
    "fn reads() = (X, Y, S, W, P, Q, V, I)\n"
    "fn report(text) {\n"
    "  s = memory.stats()\n"
    "  if s.rc_inc + s.rc_dec != 0 { print(s.rc_inc, s.rc_dec, text) }\n"
    "}\n";

static const char names[] = "X, Y, S, W, P, Q, V, I";

static void write_statement(writer *w, int depth) {
  static writer value;
  value.seed = w->seed;
  value.length = 0;
  value.names = 0;
  write_value(&value, kinds[below(&value, KINDS)].mark, depth);
  w->seed = value.seed;
  say(w, "memory.reset()\nz = same(");
  say(w, value.text);
  say(w, ", none)\nreport(r\"\"\" ");
  say(w, value.text);
  say(w, " \"\"\")\n");
}

static void write_script(writer *w, uint64_t seed) {
  w->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  w->length = 0;
  say(w, functions);
  say(w, variables);
  say(w, "fn of_module() {\n");
  write_statement(w, DEPTH);
  say(w, "}\nfn of_function() {\n");
  say(w, variables);
  write_statement(w, DEPTH);
  say(w, "(X, Y, S, W, P, Q, V, I)\n}\nfn of_parameters(");
  say(w, names);
  say(w, ") {\n");
  // Each is lent twice, by its slot and by the caller: many together would be
  // more lenders than are followed.
  write_statement(w, DEPTH - 1);
  say(w, "(X, Y, S, W, P, Q, V, I)\n}\nfn of_captures(");
  say(w, names);
  say(w, ") {\nf = () => {\n");
  write_statement(w, DEPTH);
  say(w, "0\n}\nf() + len((X, Y, S, W, P, Q, V, I))\n}\n");
  say(w, "of_module()\nz = len(of_function())\nz = len(of_parameters(");
  say(w, names);
  say(w, "))\nz = of_captures(");
  say(w, names);
  say(w, ")\n");
}

// --- Running ----------------------------------------------------------------

typedef struct output {
  char text[1 << 16];
  size_t length;
} output;

static int collect(void *context, const char *text, size_t nbytes) {
  output *out = context;
  if (out->length + nbytes < sizeof out->text) {
    memcpy(out->text + out->length, text, nbytes);
    out->length += nbytes;
  }
  out->text[out->length] = 0;
  return 0;
}

// Whether the script ends without a word.
static bool run(const writer *w, uint64_t seed) {
  static output out;
  out.length = 0;
  out.text[0] = 0;
  tally_options options = tally_default_options();
  options.context = &out;
  options.write = collect;
  tally_vm *vm;
  if (tally_open(&options, &vm) != TALLY_OK)
    return false;
  tally_count(vm, 1);
  // What is typed in, as for tally_eval, may be defined anew later.
  tally_status status =
      tally_run_source(vm, "pure", w->text, w->length, 0, NULL);
  if (status != TALLY_OK)
    printf("seed %llu: %s\n", (unsigned long long)seed,
           tally_error(vm)->report);
  if (out.length > 0)
    printf("seed %llu: counts raised and lowered\n%s", (unsigned long long)seed,
           out.text);
  tally_close(vm);
  return status == TALLY_OK && out.length == 0;
}

int main(int argc, char **argv) {
  static writer w;
  if (argc > 2 && strcmp(argv[1], "--print") == 0) {
    write_script(&w, strtoull(argv[2], NULL, 10));
    fputs(w.text, stdout);
    return 0;
  }
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t failed = 0;
  for (uint64_t i = 0; i < count; i++) {
    write_script(&w, first + i);
    failed += !run(&w, first + i);
  }
  printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed),
         (unsigned long long)failed);
  return failed > 0;
}
