// Random changes: names and places are written, taken from, put back, grown and
// swapped.
#include <string.h>

#include "tests/fuzz/writer_internal.h"

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
              "a, p = two(%s, p)",
              "a, q = two(%s, append(q, a))",
              "p, c = two(%s, p)[::-1]",
              "p[0], q = two(p[0], q)",
              "b, p[1] = parts(p[1])[0:2]",
              "a, r.y = two(%s, r.y)",
              "r.y, n = (v => (append(v, %s), len(p)))(r.y)",
              "a, b = twins(%s)",
              "b, a, q = parts(%s)",
              "gl[0], a = twins(%s)",
              "try { a, p = two(%s, p) } catch e { a, _, p = parts(a) }",
              "a, b = twice_over(v => (v[0], %s), (a, b))",
              "a, p = (v => (v + c, (v, b, %s)))(a)",
              "_, a = (a, %s)",
              "a, p = pop(p)",
              "for k3, v3 in (x: %s, y: %s) { a = v3 }",
              "show(s.x); show(s.y)",
              "show(flatten(w)); show(fill_missing(o, 0.0)); print(t)",
          },
          48);
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
void many_borrow_owners(writer *w) {
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

// Parts of containers, in containers of their own.
static void chosen(writer *w) {
  PATTERN(w, "for k3, v3 in r { y3 = v3; r.x = %s; t = k3 + t[0:3] }",
          "r = r.{x, y}", "r = (x: %s, y: p, z: b).{y, x}", "q = p[[1, 0]]",
          "p = p[[1, 1]]; p[0] = %s", "q = p[:]; p[1] = %s",
          "t = t[:] + t[0:9]", "x3 = r.{y, x}; r.y = q; p = x3.y",
          "x3 = gl[:]; a = x3[0]");
}

// What becomes longer, shorter or another order where it is.
static void resized(writer *w) {
  PATTERN(w, "a = a[a > 1.0]", "a = append(a, n); a = append(a, b[0])",
          "b = concat((b, %s[0:2]))", "g = concat((g, g[0:2]))",
          "c = roll(c, 1)", "m = append(m, m[0]); m = m[0:3]",
          "m = concat((m, m))[1:4]", "m = m[[true, false, true]]; m = matrix()",
          "h = h[[0, 2, 3]]", "b = diff(b, append: 1.0)", "a = sort(a)[::-1]",
          "c = unique(c)",
          "try { a = append(a, risky(b)[0]) } catch e { show(a) }",
          "try { b = concat((b[0:3], risky(%s))) } catch e { show(b) }",
          "try { c = c[risky(c) > 1.0] } catch e { show(c) }",
          "try { a, p = pop(p) } catch e { show(p) }",
          "try { gl = sort(gl, key: v => risky(v)[0]) } catch e { show(gl) }",
          "a, gl = pop(gl); gl = append(gl, a)", "r.x = r.x[r.x > 0.5]",
          "try { a = sort(a); b = concat((b, a)) } catch e { show(b) }",
          "try { a = clip(a, 1, risky(b)[0]) } catch e { show(a) }",
          "try { b = clip(b, n, 4.5); c = clip(c, c) } catch e { show(b) }",
          "try { a = cumulative_sum(a, axis: n - 3) } catch e { show(a) }",
          "try { c = cumulative_max(c); b = copy(c) } catch e { show(c) }",
          "try { b = full_like(b, n); a = ones_like(a) } catch e { show(b) }",
          "try { a = interp(a, b, c) } catch e { show(a) }",
          "try { a = roll(a, n, axis: n - 3) } catch e { show(a) }",
          "try { b = roll(diff(b, n: n), 2); c = diff(c) } catch e { show(b) }",
          "try { c = diff(c, prepend: risky(a)[0]) } catch e { show(c) }",
          "try { c = float(digitize(c, b)) } catch e { show(c) }",
          "try { c = float(int(c * 3.5)) } catch e { show(c) }",
          "try { p = concat((p, (risky(a), %s))) } catch e { show(p) }",
          "try { p = concat((p, n)) } catch e { show(p) }",
          "try { gl = concat((gl, n)) } catch e { show(gl) }",
          "gl = concat((gl, (b, %s)))[1:4]", "g = sort(g)",
          "try { g = concat((g, risky(b), b)) } catch e { show(g) }",
          "try { g = sort(g, axis: n - 1) } catch e { show(g) }",
          "gr.x = sort(gr.x); r.x = sort(r.x)",
          "try { r.x = concat((r.x, risky(%s))) } catch e { show(r) }",
          "try { gr.x = concat((gr.x, m)) } catch e { show(gr.x) }",
          "try { a, r.y = pop(r.y, n - 4) } catch e { show(r.y) }",
          "a, gr.y = pop(gr.y); gr.y = append(gr.y, a)",
          "try { p = sort(p, key: v => risky(v)[0]) } catch e { show(p) }",
          "try { a, (b, c) = pop((p, (a, b))) } catch e { show(p) }",
          "try { x9, p = pop(p); p = append(p, x9) } catch e { show(p) }",
          "r.y = append(r.y, r.x); r.x = roll(r.x, 1)",
          "gr.x = concat((gr.x, %s[0:2]))", "p[0] = append(p[0], n)",
          "q[1] = q[1][q[1] > 1.0]", "w = append(w, %s[0:2])",
          "w = concat((w, w))[0:2]", "w = w[[1, 0]]", "o = append(o, none)",
          "o = concat((o, o))[0:3]", "s = concat((s, s))[0:2]",
          "s = s[s.x > 0.5]; s = append(s, (x: n, y: 1.0))", "s = reverse(s)",
          "for k3, v3 in r { y3 = v3 }", "k = fs[0] ∘ k",
          "k = (f => v => f(v) + %s)(fs[0])", "x3 = each((%s, b), k); p = x3",
          "while a.size < 9 and n < 99 { a = append(a, n); n = n + 1 }");
}

// An item that is got, changed and put back by way of a variable, perhaps over
// branches or with somebody looking meanwhile; what is appended to its own
// container; what goes from the front.
static void followed(writer *w) {
  PATTERN(
      w, "p = append(p[-4:], p[-1]); show(p)", "p = append(p[-4:], (p[0], %s))",
      "gl = append(gl[-4:], gl[-1])",
      "q = append(q[-4:], (x: q[0], y: %s)); q = (q[0], q[1])",
      "r.y = append(r.y[-3:], r.y[0])", "gr.y = append(gr.y[-3:], gr.y[-1])",
      "r.x = r.x + r.x[0]", "gr.x = (gr.x - gr.x[1]) * %s[0]",
      "x7 = p[0]; p = append(p[-4:], x7); show(x7)",
      "x7 = r.y; x7 = append(x7[-3:], %s); r.y = x7",
      "x7 = r.x; x7[1] = n; r.x = x7",
      "x7 = r.x; if n > 2 { x7[0] = n; r.x = x7 } else { show(x7) }",
      "x7 = r.y; y7 = r.x; x7[0] = y7; y7[1] = n; r.x = y7; r.y = x7",
      "x7 = r.y; x7[0] = %s; r.x = r.x + 1.0; r.y = x7; show(r.x)",
      "x7 = r.y; x7[0] = risky(%s); r.y = x7",
      "try { x7 = r.y; x7[0] = risky(%s); r.y = x7 } catch e { show(r.y) }",
      "x7 = r.x; x7[0] = n; show(r.x); r.x = x7",
      "x7 = p[0]; x7[1] = n; p[0] = x7",
      "j7 = n % 2; x7 = p[j7]; x7[1] = n; p[j7] = x7",
      "j7 = n % 2; x7 = p[j7]; x7[1] = n; j7 = 0; p[j7] = x7; show(p)",
      "z7 = r; x7 = r.x; x7[0] = n; r.x = x7; show(z7.x)",
      "x7 = r.x; z7 = r; x7[0] = n; r.x = x7; show(z7.x)",
      "for j7 in 0..3 { x7 = r.x; x7[j7] = n; if tick() % 3 == 0 { break }; "
      "r.x = x7 }",
      "r.x = k(if n > 2 { r.x } else { %s })",
      "r.y = append(if n > 1 { r.y[-3:] } else { () }, %s)",
      "r.y[0] = append(if n > 1 { r.y[0] } else { %s }, n)",
      "k7 = (1: (%s,)); k7[n] = append(if n in k7 { k7[n] } else { () }, %s)"
      "; show(k7[n])",
      "k7 = (1: (%s,)); for j7 in 0..3 { k7[j7] = append(get(k7, j7, ()), "
      "%s) }; show(k7[1])",
      "p = concat((p, p))[1:]; p = p[1:]; p = p[:-1]; p = (p[0], p[1])",
      "p = append(p, %s); x7, p = pop(p, 0); p = p[-2:]; show(x7)",
      "x7, gl = pop(gl, 0); gl = append(gl, x7)");
}

void update(writer *w) {
  switch (next(w, 39)) {
    case 35:
    case 36:
    case 37:
    case 38:
      followed(w);
      break;
    case 34:
      chosen(w);
      break;
    case 26:
    case 27:
    case 28:
    case 29:
      other_place(w);
      break;
    case 30:
    case 31:
    case 32:
      resized(w);
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

void swap(writer *w) {
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
