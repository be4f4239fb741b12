// A random Tally program for a seed. The programs are about ownership: names,
// aliases, views, updates in place and of nested places, lists and records that
// share items, module variables, closures, groups of local functions, calls,
// library functions that call back, loops, branches and errors in all of them.
// They terminate, print what they computed, and mean the same however values
// are counted.
#include "tests/fuzz/writer.h"

#include <stdarg.h>
#include <string.h>

enum { MAX_DEPTH = 3, FUNCTIONS = 4 };

typedef struct writer {
  FILE *to;
  uint64_t state;  // of the random numbers
  int indent;
  int function;  // the one being written; FUNCTIONS: the main script
  int loops;     // around this place, within the function
  int budget;    // statements left
} writer;

static unsigned next(writer *w, unsigned below) {
  w->state = w->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (unsigned)(w->state >> 33) % below;
}

static void put(writer *w, const char *text) {
  fputs(text, w->to);
}

__attribute__((format(printf, 2, 3))) static void print(writer *w,
                                                        const char *format,
                                                        ...) {
  va_list args;
  va_start(args, format);
  vfprintf(w->to, format, args);
  va_end(args);
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
      "tick() % 2 == 0",
      "tick() % 3 == 0",
      "len(p) > 2",
      "n % 2 == 0",
      "sum(a) > 3",
      "any(b > 1)",
      "len(q) < 3 and tick() % 2 == 0",
  };
  put(w, pick(w, conditions, 7));
}

static void record(writer *w, int depth) {
  switch (next(w, depth > 0 ? 4 : 1)) {
    case 0:
      put(w, "r");
      break;
    case 1:
      put(w, "(x: ");
      array(w, depth - 1);
      put(w, ", y: ");
      list(w, depth - 1);
      put(w, ")");
      break;
    case 2:
      put(w, "put(r, \"x\", ");
      array(w, depth - 1);
      put(w, ")");
      break;
    default:
      put(w, "put(r, \"y\", ");
      list(w, depth - 1);
      put(w, ")");
      break;
  }
}

static void call(writer *w, int depth) {
  int callee = w->function == 0 ? -1 : (int)next(w, (unsigned)w->function);
  if (callee < 0) {
    put(w, "risky(");
    array(w, depth - 1);
    put(w, ")");
    return;
  }
  print(w, "f%d(", callee);
  array(w, depth - 1);
  put(w, ", ");
  list(w, depth - 1);
  put(w, ")");
}

static void choice(writer *w, int depth) {
  put(w, "(if ");
  condition(w);
  put(w, " { ");
  array(w, depth - 1);
  put(w, " } else { ");
  array(w, depth - 1);
  put(w, " })");
}

static void attempt(writer *w, int depth) {
  put(w, "(try { ");
  array(w, depth - 1);
  put(w, " } catch e { ");
  array(w, depth - 1);
  put(w, " })");
}

static void binary(writer *w, int depth) {
  static const char *const ops[] = {" + ", " - ", " * "};
  put(w, "(");
  array(w, depth - 1);
  put(w, pick(w, ops, 3));
  array(w, depth - 1);
  put(w, ")");
}

static void array(writer *w, int depth) {
  if (depth <= 0) {
    put(w, array_name(w));
    return;
  }
  switch (next(w, 30)) {
    case 0:
    case 1:
    case 2:
      binary(w, depth);
      break;
    case 3:
      print(w, "%s[1:3]", array_name(w));
      break;
    case 4:
      print(w, "%s[::-1]", array_name(w));
      break;
    case 5:
      print(w, "m[%u]", next(w, 4));
      break;
    case 6:
      print(w, "m[:, %u]", next(w, 3));
      break;
    case 7:
      print(w, "%s[%u]", list_name(w), next(w, 3));
      break;
    case 8:
      put(w, "r.x");
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
      put(w, "risky(");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 14:
      put(w, "k(");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 15:
      print(w,
            pick(w,
                 (const char *const[]){"reverse(%s)", "flip(%s)",
                                       "flip(%s[1:])", "squeeze(%s[none])"},
                 4),
            array_name(w));
      break;
    case 16:
      print(w, "(%s * 2.0 + %s)[0:2]", array_name(w), array_name(w));
      break;
    case 19:
      print(w, "(%s * %s - %s / 4.0)", array_name(w), array_name(w),
            array_name(w));
      break;
    case 20:
      print(w, "where(%s > %s, %s, 0.5)", array_name(w), array_name(w),
            array_name(w));
      break;
    case 21:
      put(w, "even(");
      array(w, depth - 1);
      print(w, ", %u)", next(w, 4));
      break;
    case 22:
      put(w, next(w, 2) == 0 ? "fs[0](" : "fs[1](");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 23:
      put(w, pick(w,
                  (const char *const[]){"sort(", "cumulative_sum(", "abs(",
                                        "copy(", "float64("},
                  5));
      array(w, depth - 1);
      put(w, ")");
      break;
    case 24:
      print(w, "fold((%s, %s), (+))", array_name(w), array_name(w));
      break;
    case 25:
      print(w, "(k ∘ fs[0])(%s)", array_name(w));
      break;
    case 26:
      print(w, "%s.T", array_name(w));
      break;
    case 27:
      put(w, "twice(k, ");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 28:
      print(w, "(a * a + %u.0 |> sqrt)", next(w, 3));
      break;
    case 17:
      put(w, "reset(");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 18:
      put(w, "[v + 1 for v in (");
      array(w, depth - 1);
      put(w, ")[0:4]]");
      break;
    default:
      put(w, array_name(w));
      break;
  }
}

static void list(writer *w, int depth) {
  if (depth <= 0) {
    put(w, list_name(w));
    return;
  }
  switch (next(w, 12)) {
    case 0:
    case 1:
      put(w, "(");
      array(w, depth - 1);
      put(w, ", ");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 2:
      print(w, "append(%s[0:2], ", list_name(w));
      array(w, depth - 1);
      put(w, ")");
      break;
    case 3:
      print(w, "%s[%u:]", list_name(w), next(w, 2));
      break;
    case 4:
      put(w, "r.y");
      break;
    case 5:
      print(w, "(v for v in %s)", list_name(w));
      break;
    case 6:
      print(w, "(risky(v) for v in %s)", list_name(w));
      break;
    case 7:
      put(w, "each((a, b), k)");
      break;
    case 8:
      print(w, "reverse(%s)", list_name(w));
      break;
    case 9:
      put(w, "collect(");
      array(w, depth - 1);
      put(w, ", ");
      array(w, depth - 1);
      put(w, ")");
      break;
    case 10:
      put(w, "insert(p, 0, ");
      array(w, depth - 1);
      put(w, ")");
      break;
    default:
      put(w, list_name(w));
      break;
  }
}

// --- Statements -------------------------------------------------------------

static void margin(writer *w) {
  for (int i = 0; i < w->indent; i++) put(w, "  ");
}

static void in_block(writer *w, int depth) {
  put(w, " {\n");
  w->indent++;
  block(w, depth);
  w->indent--;
  margin(w);
  put(w, "}");
}

// The old value of a place makes its new one: it is taken out and put back.
static void nested(writer *w) {
  static const char *const places[] = {
      "p[0]",    "q[1]", "gl[0]",   "r.x",     "r.y[0]",
      "p[0][1]", "gr.x", "gr.y[1]", "r.y[-1]", "gl[1][2]",
  };
  static const char *const forms[] = {
      "= %s * 2.0 + ",
      "= (%s - n) * ",
      "= k(%s + r.x) + ",
      "= -%s + ",
  };
  const char *place = pick(w, places, 10);
  print(w, "%s ", place);
  unsigned form = next(w, 8);
  if (form < 3) {
    put(w, "+= ");
  } else if (form < 7) {
    const char *text = forms[form - 3], *at = strchr(text, '%');
    print(w, "%.*s%s%s", (int)(at - text), text, place, at + 2);
  } else {
    print(w, "= concat((%s, a)) + ", place);
  }
  array(w, 1);
}

static void grow(writer *w) {
  static const char *const whole[] = {
      "p = append(p, ",        "gl = append(gl, ", "gl = put(gl, n, ",
      "q = insert(q, n - 3, ", "g = append(g, ",   "r = put(r, \"x\", ",
  };
  if (next(w, 2) == 0) {
    put(w, pick(w, whole, 6));
    array(w, 1);
    put(w, ")");
    return;
  }
  static const char *const places[] = {"r.y", "gr.y", "gr.z", "r.x"};
  const char *place = pick(w, places, 4);
  print(w, "%s = append(%s, ", place, place);
  put(w, next(w, 3) == 0 ? "risky(a)" : array_name(w));
  put(w, ")");
}

static void update(writer *w) {
  switch (next(w, 21)) {
    case 17:
    case 18:
      nested(w);
      break;
    case 19:
    case 20:
      grow(w);
      break;
    case 0:
      print(w, "%s[%u] = ", array_name(w), next(w, 4));
      put(w, next(w, 2) == 0 ? "n" : "a[0]");
      break;
    case 1:
      print(w, "%s[1:3] = ", array_name(w));
      array(w, 1);
      break;
    case 2:
      print(w, "m[%u] = ", next(w, 3));
      array(w, 1);
      break;
    case 3:
      print(w, "%s[%u] = ", list_name(w), next(w, 2));
      array(w, 2);
      break;
    case 4:
      put(w, "r.x = ");
      array(w, 2);
      break;
    case 5:
      put(w, "r.y[0] = ");
      array(w, 2);
      break;
    case 6:
      put(w, "r.x[1] = n");
      break;
    case 7:
      print(w, "p[0][%u] = n", next(w, 3));
      break;
    case 8:
      put(w, pick(w,
                  (const char *const[]){
                      "r.x = k(r.x)", "p[0] = risky(p[0])",
                      "r.y[0] = fs[0](r.y[0])", "q[1] = reset(q[1])",
                      "r.x = even(r.x, 2)", "gl[0] = k(gl[0])"},
                  6));
      break;
    case 9:
      put(w, pick(w,
                  (const char *const[]){"a[1:] = a[:-1]", "m[1:] = m[:-1]",
                                        "a[:2] += b[1:3]", "m[0] = m[1] + m[2]",
                                        "b[:] = b[::-1]", "m[:, 0] = a[0:3]"},
                  6));
      break;
    case 10:
      put(w, "r.x, p[0] = p[0], r.x");
      break;
    case 11:
      put(w, "r.y[0][1] = n");
      break;
    case 12:
      put(w, "r.y = append(r.y, ");
      array(w, 1);
      put(w, ")");
      break;
    case 13:
      put(w, "p = append(p[0:3], p[0])");
      break;
    case 14:
      put(w, "fs[1] = v => v + ");
      put(w, array_name(w));
      break;
    default:
      print(w, "%s += ", array_name(w));
      array(w, 1);
      break;
  }
}

static void swap(writer *w) {
  static const char *const swaps[] = {
      "a, b = b, a",
      "p, q = q, p",
      "m[0], m[1] = m[1], m[0]",
      "a[0], a[1] = a[1], a[0]",
      "p[0], p[1] = p[1], p[0]",
      "a, c = c, b + 1",
      "g, h = h, g",
      "a, p[0] = p[0], a",
  };
  put(w, pick(w, swaps, 8));
}

static void loop(writer *w, int depth) {
  static const char *const heads[] = {
      "for i in 0..3",          "for v in p",
      "for v in a[0:4]",        "for v in m",
      "for a in (b, c)",        "for k2, v in r",
      "for b in gl[0:2]",       "for q in (p,)",
      "for v in collect(a, b)", "while tick() % 3 != 0",
  };
  w->loops++;
  put(w, pick(w, heads, 10));
  in_block(w, depth + 1);
  w->loops--;
}

static void statement(writer *w, int depth) {
  unsigned kind = next(w, depth < MAX_DEPTH ? 28 : 15);
  margin(w);
  if (kind < 5) {
    print(w, "%s = ", array_name(w));
    array(w, 3);
  } else if (kind < 7) {
    print(w, "%s = ", list_name(w));
    list(w, 2);
  } else if (kind < 8) {
    put(w, "r = ");
    record(w, 2);
  } else if (kind < 11) {
    update(w);
  } else if (kind < 12) {
    swap(w);
  } else if (kind < 13) {
    print(w, "k = v => v + %s", next(w, 2) == 0 ? "b" : "c[0]");
  } else if (kind < 14) {
    put(w, next(w, 3) == 0 ? "show(\"{sum(a)} of {len(p)}\")" : "n = n + 1");
  } else if (kind < 15) {
    put(w, "show(");
    array(w, 2);
    put(w, ")");
  } else if (kind < 18) {
    put(w, "if ");
    condition(w);
    in_block(w, depth + 1);
    if (next(w, 2) == 0) {
      put(w, " else");
      in_block(w, depth + 1);
    }
  } else if (kind < 21) {
    loop(w, depth);
  } else if (kind < 24) {
    put(w, "try");
    in_block(w, depth + 1);
    put(w, " catch e");
    in_block(w, depth + 1);
  } else if (kind == 26) {
    put(w, "err = try { ");
    array(w, 2);
    put(w, " } catch e { e.kind }");
  } else if (kind == 27) {
    put(w, "last = a\n");
    loop(w, depth);
    put(w, "\n");
    margin(w);
    put(w, "last = last + 0.0");
  } else if (kind == 24 && w->loops > 0) {
    put(w, "if tick() % 3 == 0 { ");
    put(w, next(w, 2) == 0 ? "break }" : "continue }");
  } else if (w->function < FUNCTIONS) {
    put(w, "if tick() % 4 == 0 { return ");
    array(w, 2);
    put(w, " }");
  } else {
    put(w, "show(a)");
  }
  put(w, "\n");
}

static void block(writer *w, int depth) {
  unsigned count = 1 + next(w, 4);
  for (unsigned i = 0; i < count && w->budget > 0; i++) {
    w->budget--;
    statement(w, depth);
  }
  margin(w);
  put(w, "n = n + 1\n");
}

// Two that call each other and capture: one group.
static void local_functions(writer *w) {
  margin(w);
  print(w, "fn even(v, i) { if i == 0 { return %s }; odd(v + 1, i - 1) }\n",
        next(w, 2) == 0 ? "v" : "v + b");
  margin(w);
  print(w, "fn odd(v, i) { if i == 0 { return %s }; even(risky(v), i - 1) }\n",
        next(w, 2) == 0 ? "q[0]" : "v");
  margin(w);
  put(w, "fs = (k, even2 => even(even2, 1))\n");
}

static void function(writer *w, int index, int statements) {
  w->function = index;
  w->budget = statements;
  print(w, "fn f%d(a, p) {\n", index);
  w->indent = 1;
  put(w, "  global g\n  global h\n  global gl\n  global gr\n");
  put(w, "  b = a\n  c = b + 1.0\n  m = matrix()\n");
  put(w, "  q = (a, b)\n  r = (x: a, y: p)\n  n = 0\n  k = v => v * 2\n");
  local_functions(w);
  while (w->budget > 0) block(w, 0);
  put(w, "  ");
  array(w, 2);
  put(w, "\n}\n");
}

static void main_script(writer *w, int statements) {
  w->function = FUNCTIONS;
  w->budget = statements;
  w->indent = 0;
  put(w, "a = ones(size)\nb = a * 2.0\nc = zeros(size) + b\nm = matrix()\n");
  put(w, "p = (a, b)\nq = (b, c)\nr = (x: a, y: p)\nn = 0\nk = v => v + 1\n");
  local_functions(w);
  while (w->budget > 0) {
    put(w, "try {\n");
    w->indent = 1;
    block(w, 0);
    put(w, "} catch e { print(e.kind) }\n");
    w->indent = 0;
  }
  put(w, "show(a)\nshow(b)\nshow(c)\nshow(m)\nshow(p)\nshow(q)\nshow(r.x)\n");
  put(w, "show(g)\nshow(h)\nshow(gl)\nshow(gr.x)\nshow(gr.y)\nprint(n)\n");
}

static void prelude(writer *w) {
  // Large ones run as fused regions.
  print(w, "size = %s\n", next(w, 4) == 0 ? "2100" : "4");
  put(w,
      "seed = 7\n"
      "g = ones(size) * 3.0\n"
      "h = g + 1.0\n"
      "gl = (g, h, g)\n"
      "gr = (x: g, y: (g, h + 1.0), z: ())\n"
      "turns = 0\n"
      "fn tick() {\n"
      "  global seed\n"
      "  global turns\n"
      "  turns = turns + 1\n"
      "  if turns > 3000 { error(\"enough\") }\n"
      "  seed = (seed * 1103515245 + 12345) % 2147483648\n"
      "  seed // 65536\n"
      "}\n"
      "fn matrix() = reshape(float64(0..3 * size), (3, size))\n"
      "fn twice(f, v) = f(f(v))\n"
      "fn collect(...vs) = vs\n"
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
      "  try { if v.size > 100 { print(sum(v), v.shape); return 0 } }\n"
      "  catch e { }\n"
      "  print(v)\n"
      "}\n");
}

void tl_write_program(uint64_t seed, int statements, FILE *to) {
  writer w = {.to = to, .state = seed * 2654435761u + 1};
  for (int i = 0; i < 8; i++) next(&w, 2);
  prelude(&w);
  for (int i = 0; i < FUNCTIONS; i++) function(&w, i, statements / 2 + 1);
  main_script(&w, statements);
}
