// Writes a random Tally program for a seed, to standard output.
//
//   programs SEED [STATEMENTS]
//
// The programs are about ownership: names, aliases, views, updates in place,
// lists and records that share items, module variables, closures, calls,
// loops, branches and errors in all of them. They terminate, print what they
// computed, and mean the same however values are counted: run one with the
// auditor, and compare its output with that of a build that shares nothing.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 3, FUNCTIONS = 4 };

typedef struct writer {
  uint64_t state;   // of the random numbers
  int indent;
  int function;     // the one being written; FUNCTIONS: the main script
  int loops;        // around this place, within the function
  int budget;       // statements left
} writer;

static unsigned next(writer *w, unsigned below) {
  w->state = w->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (unsigned)(w->state >> 33) % below;
}

static void put(const char *text) {
  fputs(text, stdout);
}

static const char *pick(writer *w, const char *const *names, unsigned count) {
  return names[next(w, count)];
}

static const char *array_name(writer *w) {
  static const char *const names[] = {"a", "b", "c", "m", "g", "h"};
  return pick(w, names, 6);
}

// g and h are module variables: functions assign to them by `global`.
static const char *list_name(writer *w) {
  static const char *const names[] = {"p", "q", "gl"};
  return pick(w, names, 3);
}

static void array(writer *w, int depth);
static void list(writer *w, int depth);
static void block(writer *w, int depth);

static void condition(writer *w) {
  static const char *const conditions[] = {
      "tick() % 2 == 0", "tick() % 3 == 0", "len(p) > 2", "n % 2 == 0",
      "sum(a) > 3", "any(b > 1)", "len(q) < 3 and tick() % 2 == 0",
  };
  put(pick(w, conditions, 7));
}

static void record(writer *w, int depth) {
  switch (next(w, depth > 0 ? 4 : 1)) {
    case 0:
      put("r");
      break;
    case 1:
      put("(x: ");
      array(w, depth - 1);
      put(", y: ");
      list(w, depth - 1);
      put(")");
      break;
    case 2:
      put("put(r, \"x\", ");
      array(w, depth - 1);
      put(")");
      break;
    default:
      put("put(r, \"y\", ");
      list(w, depth - 1);
      put(")");
      break;
  }
}

static void call(writer *w, int depth) {
  int callee = w->function == 0 ? -1 : (int)next(w, (unsigned)w->function);
  if (callee < 0) {
    put("risky(");
    array(w, depth - 1);
    put(")");
    return;
  }
  printf("f%d(", callee);
  array(w, depth - 1);
  put(", ");
  list(w, depth - 1);
  put(")");
}

static void choice(writer *w, int depth) {
  put("(if ");
  condition(w);
  put(" { ");
  array(w, depth - 1);
  put(" } else { ");
  array(w, depth - 1);
  put(" })");
}

static void attempt(writer *w, int depth) {
  put("(try { ");
  array(w, depth - 1);
  put(" } catch e { ");
  array(w, depth - 1);
  put(" })");
}

static void binary(writer *w, int depth) {
  static const char *const ops[] = {" + ", " - ", " * "};
  put("(");
  array(w, depth - 1);
  put(pick(w, ops, 3));
  array(w, depth - 1);
  put(")");
}

static void array(writer *w, int depth) {
  if (depth <= 0) {
    put(array_name(w));
    return;
  }
  switch (next(w, 20)) {
    case 0:
    case 1:
    case 2:
      binary(w, depth);
      break;
    case 3:
      printf("%s[1:3]", array_name(w));
      break;
    case 4:
      printf("%s[::-1]", array_name(w));
      break;
    case 5:
      printf("m[%u]", next(w, 4));
      break;
    case 6:
      printf("m[:, %u]", next(w, 3));
      break;
    case 7:
      printf("%s[%u]", list_name(w), next(w, 3));
      break;
    case 8:
      put("r.x");
      break;
    case 9:
    case 10:
      call(w, depth);
      break;
    case 11:
      choice(w, depth);
      break;
    case 12:
      attempt(w, depth);
      break;
    case 13:
      put("risky(");
      array(w, depth - 1);
      put(")");
      break;
    case 14:
      put("k(");
      array(w, depth - 1);
      put(")");
      break;
    case 15:
      printf("reverse(%s)", array_name(w));
      break;
    case 16:
      printf("(%s * 2.0 + %s)[0:2]", array_name(w), array_name(w));
      break;
    case 17:
      put("reset(");
      array(w, depth - 1);
      put(")");
      break;
    case 18:
      put("[v + 1 for v in ");
      array(w, depth - 1);
      put("]");
      break;
    default:
      put(array_name(w));
      break;
  }
}

static void list(writer *w, int depth) {
  if (depth <= 0) {
    put(list_name(w));
    return;
  }
  switch (next(w, 9)) {
    case 0:
    case 1:
      put("(");
      array(w, depth - 1);
      put(", ");
      array(w, depth - 1);
      put(")");
      break;
    case 2:
      printf("append(%s[0:2], ", list_name(w));
      array(w, depth - 1);
      put(")");
      break;
    case 3:
      printf("%s[%u:]", list_name(w), next(w, 2));
      break;
    case 4:
      put("r.y");
      break;
    case 5:
      printf("(v for v in %s)", list_name(w));
      break;
    case 6:
      printf("(risky(v) for v in %s)", list_name(w));
      break;
    case 7:
      put("each((a, b), k)");
      break;
    default:
      put(list_name(w));
      break;
  }
}

// --- Statements -------------------------------------------------------------

static void margin(const writer *w) {
  for (int i = 0; i < w->indent; i++) put("  ");
}

static void in_block(writer *w, int depth) {
  put(" {\n");
  w->indent++;
  block(w, depth);
  w->indent--;
  margin(w);
  put("}");
}

static void update(writer *w) {
  switch (next(w, 9)) {
    case 0:
      printf("%s[%u] = ", array_name(w), next(w, 4));
      put(next(w, 2) == 0 ? "n" : "a[0]");
      break;
    case 1:
      printf("%s[1:3] = ", array_name(w));
      array(w, 1);
      break;
    case 2:
      printf("m[%u] = ", next(w, 3));
      array(w, 1);
      break;
    case 3:
      printf("%s[%u] = ", list_name(w), next(w, 2));
      array(w, 2);
      break;
    case 4:
      put("r.x = ");
      array(w, 2);
      break;
    case 5:
      put("r.y[0] = ");
      array(w, 2);
      break;
    case 6:
      put("r.x[1] = n");
      break;
    case 7:
      printf("p[0][%u] = n", next(w, 3));
      break;
    default:
      printf("%s += ", array_name(w));
      array(w, 1);
      break;
  }
}

static void swap(writer *w) {
  static const char *const swaps[] = {
      "a, b = b, a", "p, q = q, p", "m[0], m[1] = m[1], m[0]",
      "a[0], a[1] = a[1], a[0]", "p[0], p[1] = p[1], p[0]",
      "a, c = c, b + 1",
  };
  put(pick(w, swaps, 6));
}

static void loop(writer *w, int depth) {
  static const char *const heads[] = {
      "for i in 0..3", "for v in p", "for v in a", "for v in m",
      "for a in (b, c)", "for k2, v in r", "for b in gl[0:2]", "for q in (p,)",
  };
  w->loops++;
  put(pick(w, heads, 8));
  in_block(w, depth + 1);
  w->loops--;
}

static void statement(writer *w, int depth) {
  unsigned kind = next(w, depth < MAX_DEPTH ? 26 : 15);
  margin(w);
  if (kind < 5) {
    printf("%s = ", array_name(w));
    array(w, 3);
  } else if (kind < 7) {
    printf("%s = ", list_name(w));
    list(w, 2);
  } else if (kind < 8) {
    put("r = ");
    record(w, 2);
  } else if (kind < 11) {
    update(w);
  } else if (kind < 12) {
    swap(w);
  } else if (kind < 13) {
    printf("k = v => v + %s", next(w, 2) == 0 ? "b" : "c[0]");
  } else if (kind < 14) {
    put("n = n + 1");
  } else if (kind < 15) {
    put("show(");
    array(w, 2);
    put(")");
  } else if (kind < 18) {
    put("if ");
    condition(w);
    in_block(w, depth + 1);
    if (next(w, 2) == 0) {
      put(" else");
      in_block(w, depth + 1);
    }
  } else if (kind < 21) {
    loop(w, depth);
  } else if (kind < 24) {
    put("try");
    in_block(w, depth + 1);
    put(" catch e");
    in_block(w, depth + 1);
  } else if (kind == 24 && w->loops > 0) {
    put("if tick() % 3 == 0 { ");
    put(next(w, 2) == 0 ? "break }" : "continue }");
  } else if (w->function < FUNCTIONS) {
    put("if tick() % 4 == 0 { return ");
    array(w, 2);
    put(" }");
  } else {
    put("show(a)");
  }
  put("\n");
}

static void block(writer *w, int depth) {
  unsigned count = 1 + next(w, 4);
  for (unsigned i = 0; i < count && w->budget > 0; i++) {
    w->budget--;
    statement(w, depth);
  }
  margin(w);
  put("n = n + 1\n");
}

static void function(writer *w, int index, int statements) {
  w->function = index;
  w->budget = statements;
  printf("fn f%d(a, p) {\n", index);
  w->indent = 1;
  put("  global g\n  global h\n  global gl\n");
  put("  b = a\n  c = b + 1.0\n  m = reshape(float64(0..12), (3, 4))\n");
  put("  q = (a, b)\n  r = (x: a, y: p)\n  n = 0\n  k = v => v * 2\n");
  while (w->budget > 0) block(w, 0);
  put("  ");
  array(w, 2);
  put("\n}\n");
}

static void main_script(writer *w, int statements) {
  w->function = FUNCTIONS;
  w->budget = statements;
  w->indent = 0;
  put("a = ones(4)\nb = a * 2.0\nc = zeros(4) + b\n");
  put("m = reshape(float64(0..12), (3, 4))\n");
  put("p = (a, b)\nq = (b, c)\nr = (x: a, y: p)\nn = 0\nk = v => v + 1\n");
  while (w->budget > 0) {
    put("try {\n");
    w->indent = 1;
    block(w, 0);
    put("} catch e { print(e.kind) }\n");
    w->indent = 0;
  }
  put("show(a)\nshow(b)\nshow(c)\nshow(m)\nshow(p)\nshow(q)\nshow(r.x)\n");
  put("show(g)\nshow(h)\nshow(gl)\nprint(n)\n");
}

static void prelude(void) {
  put("seed = 7\n"
      "g = ones(4) * 3.0\n"
      "h = g + 1.0\n"
      "gl = (g, h, g)\n"
      "turns = 0\n"
      "fn tick() {\n"
      "  global seed\n"
      "  global turns\n"
      "  turns = turns + 1\n"
      "  if turns > 3000 { error(\"enough\") }\n"
      "  seed = (seed * 1103515245 + 12345) % 2147483648\n"
      "  seed // 65536\n"
      "}\n"
      "fn risky(v) {\n"
      "  if tick() % 6 == 0 { error(\"boom\") }\n"
      "  v\n"
      "}\n"
      "fn reset(v) {\n"
      "  global g\n"
      "  g = g + 1.0\n"
      "  if tick() % 5 == 0 { error(\"reset\") }\n"
      "  v\n"
      "}\n"
      "fn show(v) {\n"
      "  if turns > 2900 { return 0 }\n"
      "  if typeof(v) == typeof((1, \"a\")) {\n"
      "    for i in v { print(try { i + 0 } catch e { \"?\" }) }\n"
      "    return 0\n"
      "  }\n"
      "  print(v)\n"
      "}\n");
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: programs SEED [STATEMENTS]\n", stderr);
    return 2;
  }
  writer w = {.state = strtoull(argv[1], NULL, 10) * 2654435761u + 1};
  int statements = argc > 2 ? atoi(argv[2]) : 12;
  for (int i = 0; i < 8; i++) next(&w, 2);
  prelude();
  for (int i = 0; i < FUNCTIONS; i++) function(&w, i, statements / 2 + 1);
  main_script(&w, statements);
  return 0;
}
