// Random expressions: arrays, lists, records, and calls that give them.
#include "tests/fuzz/writer_internal.h"

void condition(writer *w) {
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

void record(writer *w, int depth) {
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

void array(writer *w, int depth) {
  if (depth <= 0) {
    put(w, array_name(w));
    return;
  }
  switch (next(w, 40)) {
    case 37:
      // What moves within a dying operand's memory.
      PATTERN(w, "(%s + 1.0)[%s > 1.0]", "%s[%s > 1.0]", "roll(%s + %s, 1)",
              "roll(%s, n)", "diff(%s * 2.0)", "concat((%s + 1.0, %s))[0:6]",
              "concat((%s, %s))[0:6]", "append(%s * 2.0, 1.0)", "append(%s, n)",
              "unique(%s - %s)", "unique(%s)", "partition(%s + 1.0, 1)",
              "float64(argsort(-%s))", "(%s + %s)[[0, 2]]",
              "m[[true, false, true]][0]", "interp(%s, a, b)",
              "float64(searchsorted(sort(%s), %s * 1.0))",
              "concat((m, m + 1.0))[n % 5]", "append(m, %s[0:4])[-1]");
      break;
    case 38:
      // Functions and lists made for one call, of what is there already.
      PATTERN(w, "each((%s, %s), v => v * %s)[0]",
              "fold(p, (x, y) => x + y * %s)", "twice(v => v + %s, %s)",
              "sum(stack((%s, %s)), axis: 0)", "(even2 => even2 + %s)(%s)",
              "twice(v => even(v, 1) - %s, %s)", "both((%s, %s), (b, %s))[0]",
              "each(p, v => risky(v) + %s)[1]", "mix(...(%s, %s, b))",
              "sort((%s, b), key: v => sum(v * %s))[0]", "maximum(...(%s, %s))",
              "twice_over(v => v - %s, %s)", "collect(%s, ...p)[n % 2]",
              "around(v => v * %s, %s)",
              "around(v => around(k => k - v, %s), b)",
              "(aside.plain(%s) * 2.0 - aside.plain(%s))",
              "around(aside.plain, %s)", "fold((%s, %s, b), maximum)");
      break;
    case 39:
      // Items of containers that end at once: of what lives on, and of what
      // ends with them.
      PATTERN(w, "(%s, %s)[0]", "(x: %s, y: %s).x", "(%s, b, a)[n % 3]",
              "(%s, %s)[1:][0]", "(p, q)[n % 2][0]", "(x: p, y: %s).x[0]",
              "((%s, b), q)[0][1]", "((a, %s)[0] + (b, a)[1])", "values(r)[0]",
              "(x: (x: %s, y: p)).x.x", "same_of((%s, b))[0]",
              "(x: %s * 2.0, y: r).y.x", "(%s + 1.0, b)[n % 2]",
              "both((x: a, y: %s).y, p)[0]", "(%s, q)[1][0]",
              "(a[1:], %s[::-1])[n % 2]", "first_of((%s, b))",
              "field_of((x: %s, y: p))", "first_of((a, %s)[1:])",
              "first_of((%s + 1.0, a))", "first_of(p[n % 2:])",
              "values((x: %s, y: b))[1]", "first_of(values((x: a, y: %s)))",
              "r.{x, y}.x", "(x: %s, y: p).{y, x, y}.x", "p[[n % 2, 0]][0]",
              "(%s, b, a + 1.0)[[1, 0, 1]][n % 3]", "(q, p)[[1, 0]][1][:][0]",
              "(%s, b)[:][n % 2]", "first_of((%s, a)[[1, 0]])",
              "[(v)[0] for k3, v in (x: %s, y: p)]", "{ t = t[:]; a }");
      break;
    case 30:
    case 31:
      pattern(w,
              (const char *const[]){
                  "(sum(%s * %s + 1.0) + %s)", "(%s[1:] * 2.0 - %s[:-1])",
                  "(sqrt(abs(%s)) * %s + %s)", "(max(%s * %s) - %s)",
                  "minimum(%s * 0.5, %s + 1.0)", "(%s[::2] * %s[::2] + 1.0)",
                  "(-(%s > 1.0) * %s)"},
              7);
      break;
    case 32:
      put(w, pick(w,
                  (const char *const[]){"s.x", "s[::-1].y", "(s.x + s.y)",
                                        "w[0]", "w[1]", "sum(w, axis: -1)",
                                        "flatten(w)", "fill_missing(o, 0.5)",
                                        "drop_missing(o)", "sort(s.y)"},
                  10));
      break;
    case 33:
    case 34:
      put(w, pick(w,
                  (const char *const[]){"same_of(", "taken(", "maybe(", "kept(",
                                        "twice_over(k, ", "blend(b, ", "set_g(",
                                        "aside.shift(", "aside.third("},
                  9));
      array(w, depth - 1);
      put(w, ")");
      break;
    case 35:
      pattern(w,
              (const char *const[]){
                  "z.held", "token(%s).held", "aside.current()",
                  "pick10(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", "mix(%s)",
                  "mix(%s, scale: %s)", "mix(...p)", "mix(%s, %s, ...q)",
                  "(fn(x) { x + %s })(%s)", "pop(p)[0]",
                  "[v * 2.0 for v in %s if v > 1.0]"},
              11);
      break;
    case 36:
      put(w, pick(w,
                  (const char *const[]){
                      "fold(p, (x, y) => x + y)", "map_axis(m, sum, axis: 1)",
                      "fold(q, (+), a)", "r[\"x\"]", "sum(each(q, sum))",
                      "m.T[1]", "p[-1]", "broadcast_to(a[0:1], (3,))"},
                  8));
      break;
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

void list(writer *w, int depth) {
  if (depth <= 0) {
    put(w, list_name(w));
    return;
  }
  switch (next(w, 15)) {
    case 12:
      put(w,
          pick(w,
               (const char *const[]){
                   "each(p, risky)", "each(q, v => v + a)", "collect(...p, a)",
                   "pop(p)[1]", "(same_of(p))", "taken(q)", "kept(p)",
                   "(v for v in q if len(p) > 1)", "values((x: a, y: b))"},
               9));
      break;
    case 13:
      print(w, "both(%s, ", list_name(w));
      list(w, depth - 1);
      put(w, ")");
      break;
    case 14:
      print(w, "(w[0], s.x, %s)", array_name(w));
      break;
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
