// A random Tally program for a seed. The programs are about ownership: names,
// aliases, views, updates in place and of nested places, lists and records that
// share items, arrays of structs, ragged and optional ones, strings, module
// variables of this and of an imported module, closures, groups of local
// functions, calls, library and host functions that call back, values that the
// host keeps, fused regions, more aliases than a set of lenders holds, loops,
// branches and errors in all of them. They terminate, print what they computed,
// and mean the same however values are counted.
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

// One of several texts, each %s of which becomes an array's name.
static void pattern(writer *w, const char *const *texts, unsigned count) {
  for (const char *at = pick(w, texts, count); *at != 0; at++) {
    if (at[0] != '%' || at[1] != 's') {
      fputc(*at, w->to);
      continue;
    }
    put(w, array_name(w));
    at++;
  }
}

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
  switch (next(w, 37)) {
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

static void list(writer *w, int depth) {
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

// Arrays of structs, of rows and of values that may be missing; strings; what
// the host keeps.
static void other_value(writer *w) {
  pattern(w,
          (const char *const[]){
              "s.x[1] = n",
              "s.x += 1.0",
              "s[0] = (x: n, y: 0.5)",
              "s.y = s.x",
              "s = s[::-1]",
              "s[1].x = %s[0]",
              "s = [(x: v, y: v * 2.0) for v in %s[0:3]]",
              "s = append(s, s[0])",
              "s, w = s, w * 2.0",
              "w[0] = %s[0:3]",
              "w[0, 0] = n",
              "w[1] = append(w[1], 1.0)",
              "w = [%s[0:2], %s[0:3]]",
              "w += 1.0",
              "o[1] = n",
              "o[0] = none",
              "o = o + 1.0",
              "o = o + %s[0:3]",
              "t = \"{t}{n}\"[0:9]",
              "t += \"x\"; t = t[1:]",
              "t = t[::-1]; print(t)",
              "for ch in t[0:2] { t = ch + t[0:3] }",
              "z = token(%s)",
              "z = same_of(z)",
              "z = merge(z, token(%s))",
              "p[0] = z.held",
              "r = put(r, t[0:1], %s)",
              "k = v => v + z.held",
              "fs = (fs[0], v => v + s.x[0])",
              "a, b = (b, %s)",
              "_, a = (a, %s)",
              "a, p = pop(p)",
              "for k3, v3 in (x: %s, y: %s) { a = v3 }",
              "show(s.x); show(s.y)",
              "show(flatten(w)); show(fill_missing(o, 0.0)); print(t)",
          },
          35);
}

// Places that name themselves, places behind computed indices, names that may
// be unset, and operators on all kinds of operands.
static void other_place(writer *w) {
  pattern(w,
          (const char *const[]){
              "p[0:2] = (%s, %s)",
              "p[0:2][1] = %s",
              "m.T[0] = %s[0:3]",
              "m.T[0][1] = n",
              "s.x[0:2] += 1.0",
              "p[0] = p",
              "a[:] = a",
              "a[a > 1.0] = 0.5",
              "p = append(p, p[0])",
              "r = put(r, \"y\", (r.x, %s))",
              "r[\"x\"] = r[\"x\"] * 2.0",
              "p[n % 2] = k(p[n % 2])",
              "p[n - n + 1] += %s",
              "r.y[n % 2] = r.y[n % 2] - 1.0",
              "m[0..2] = m[0..2] * 2.0",
              "m[..., 0] = m[..., 1]",
              "m[n % 3, 1] += m[0, 0]",
              "a[n % 3] = a[n % 3] + b[0]",
              "r.x[1:] = r.x[1:] + 1.0",
              "r.x = r.x + (if %s[0] > 1.0 and n > 1 { 1.0 } else { 2.0 })",
              "i9 = 0..5; i9[1] = 7; show(i9 + 1)",
              "if tick() % 2 == 0 { u9 = %s }; u9 = u9 + 1.0; show(u9)",
              "n = (n << 1 | 1) & 255 ^ 3; n = n >> 1",
              "n = n ** 2 % 97 // 2",
              "if 2 in a or not (n <= 3) { show(%s) }",
              "if n >= 2 and n != 4 { a = %s } else { b = a }",
              "while n % 5 <= 1 { n = n + 1; a = a + %s }",
              "m = m @ m.T",
              "c = m @ m[0]",
              "a = -sqrt(abs(%s)) / 2.0 - 1",
              "show(s.{x}.x); show(s == s[0])",
              "show(typed(%s, n)); show(unread(p, %s))",
              "g = 2.0 * g - %s; h = g",
              "gl = (gl[0], %s, gl[1]); gr.x = gl[0]",
              "t = \"{sum(a):.2f} {len(p)} {t}\"[0:12]",
              "k = (v, w = %s) => v + w",
              "b = a <= b; b = float64(b) + c",
              "a, b, c = b, c, a",
              "p, a = (a, b), p[0]",
              "y8 = %s; del(y8)",
              "show(x8 + %s)",
          },
          41);
}

// More names than a set of lenders holds for one value.
static void many_lenders(writer *w) {
  for (int i = 0; i < 10; i++) {
    print(w, "d%d = ", i);
    array(w, 1);
    put(w, "\n");
    margin(w);
  }
  unsigned way = next(w, 3);
  print(w, "x9 = %s\n",
        way == 0 ? "pick10(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9)" : "d0");
  for (int i = 1; i < 10 && way != 0; i++) {
    margin(w);
    print(w, "if tick() %% 3 == 0 { x9 = d%d%s }\n", i, way == 2 ? "[1:]" : "");
  }
  margin(w);
  print(w, "y9 = %s\n",
        pick(w, (const char *const[]){"x9[1:]", "x9", "(x9,)"}, 3));
  margin(w);
  print(w, "d%u[0] = n\n", next(w, 10));
  margin(w);
  print(w, "d%u = d%u + 1.0\n", next(w, 10), next(w, 10));
  margin(w);
  put(w, "x9[1] = n\n");
  margin(w);
  print(w, "show(x9); show(y9); show(d%u); show(d%u)", next(w, 10),
        next(w, 10));
}

static void update(writer *w) {
  switch (next(w, 30)) {
    case 26:
    case 27:
    case 28:
    case 29:
      other_place(w);
      break;
    case 21:
    case 22:
    case 23:
    case 24:
      other_value(w);
      break;
    case 25:
      pattern(w,
              (const char *const[]){
                  "a[1:3] = b[1:3] * 2.0 + a[1:3]", "m[1] = m[0] * 2.0 + m[2]",
                  "m[:, 1:] = m[:, :-1] + m[:, 1:]",
                  "a[1:] = (%s * 2.0 + 1.0)[:-1]", "%s[:2] = %s[1:3] * %s[:2]",
                  "m[n % 3, 1] = 4.0", "m[m > 3.0] = 0.5",
                  "a[[0, 2]] = b[[1, 0]]", "c = c + 1.0 * c - a"},
              9);
      break;
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
      "for i in 0..3",
      "for v in p",
      "for v in a[0:4]",
      "for v in m",
      "for a in (b, c)",
      "for k2, v in r",
      "for b in gl[0:2]",
      "for q in (p,)",
      "for v in collect(a, b)",
      "while tick() % 3 != 0",
      "for v in taken(p)",
      "for a in w",
      "for s2 in s",
      "for v in pop(q)[1]",
  };
  w->loops++;
  put(w, pick(w, heads, 14));
  in_block(w, depth + 1);
  w->loops--;
}

static void statement(writer *w, int depth) {
  unsigned kind = next(w, depth < MAX_DEPTH ? 29 : 15);
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
  } else if (kind == 28) {
    if (depth == 0 && next(w, 3) == 0)
      many_lenders(w);
    else
      put(w, "show(a)");
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

static void others(writer *w) {
  static const char *const lines[] = {
      "s = [(x: 1.0, y: 2.0), (x: 3.0, y: 4.0)]\n",
      "w = [[1.0, 2.0, 3.0], [4.0]]\n",
      "o = [1.0, none, 3.0]\n",
      "t = \"text\"\n",
      "z = token(a)\n",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    margin(w);
    put(w, lines[i]);
  }
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
  others(w);
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
  others(w);
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
      "fn mix(v, w = 1.0, ...rest, scale: 2.0) {\n"
      "  if len(rest) > 0 { return rest[0] * scale }\n"
      "  v * scale + w\n"
      "}\n"
      "fn typed(v :: `N * float64`, i) = v + i\n"
      "fn unread(v, w) = 1.0\n"
      "x8 = 1.0\n"
      "fn both(p, q) { if tick() % 2 == 0 { return p }; q }\n"
      "fn pick10(a, b, c, d, e, f, g, h, i, j) {\n"
      "  if tick() % 3 == 0 { return a }\n"
      "  if tick() % 3 == 0 { return b }\n"
      "  if tick() % 3 == 0 { return c }\n"
      "  if tick() % 3 == 0 { return d }\n"
      "  if tick() % 3 == 0 { return e }\n"
      "  x = if tick() % 2 == 0 { f } else { g }\n"
      "  if tick() % 3 == 0 { x = h }\n"
      "  if tick() % 3 == 0 { return i[1:] }\n"
      "  if tick() % 3 == 0 { return j }\n"
      "  x\n"
      "}\n"
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

// For the `tally` command, which has no host: the same in Tally.
static const char stand_ins[] =
    "calls = 0\n"
    "had = 0\n"
    "fn same_of(x) = x\n"
    "fn taken(x) = x\n"
    "fn maybe(x) {\n"
    "  global calls\n"
    "  calls = calls + 1\n"
    "  if calls % 5 == 0 { error(\"maybe\") }\n"
    "  x\n"
    "}\n"
    "fn kept(x) {\n"
    "  global had\n"
    "  before = had\n"
    "  had = x\n"
    "  if same(before, 0) { x } else { before }\n"
    "}\n"
    "fn twice_over(f, x) = f(f(x))\n"
    "fn blend(x, y) = x * 0.5 + y\n"
    "fn set_g(x) { global g; g = x; x }\n"
    "fn token(x) = (held: x)\n"
    "fn merge(x, y) = (held: x.held)\n";

const char tl_aside_module[] =
    "base = ones(4)\n"
    "count = 0\n"
    "fn shift(v) {\n"
    "  global base\n"
    "  base = base + 1.0\n"
    "  v + base[0]\n"
    "}\n"
    "fn current() = base\n"
    "fn third(v) {\n"
    "  global count\n"
    "  count = count + 1\n"
    "  if count % 3 == 0 { error(\"third\") }\n"
    "  v\n"
    "}\n";

void tl_write_program(uint64_t seed, int statements, bool hosted, FILE *to) {
  writer w = {.to = to, .state = seed * 2654435761u + 1};
  for (int i = 0; i < 8; i++) next(&w, 2);
  prelude(&w);
  if (!hosted)
    put(&w, stand_ins);
  put(&w, "import \"aside.tly\" as aside\n");
  for (int i = 0; i < FUNCTIONS; i++) function(&w, i, statements / 2 + 1);
  main_script(&w, statements);
}
