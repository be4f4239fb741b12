// A random Tally program for a seed. The programs are about ownership: names,
// aliases, views, updates in place and of nested places, lists and records that
// share items, arrays of structs, ragged and optional ones, strings, module
// variables of this and of an imported module, closures, groups of local
// functions, calls, library and host functions that call back, values that the
// host keeps, fused regions, more aliases than a set of lenders holds, loops,
// branches and errors in all of them. They terminate, print what they computed,
// and mean the same however values are counted.
#include "tests/fuzz/writer_internal.h"

static void block(writer *w, int depth);

static void in_block(writer *w, int depth) {
  put(w, " {\n");
  w->indent++;
  block(w, depth);
  w->indent--;
  margin(w);
  put(w, "}");
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
      "for a, q in ((b, p), (c, q))",
  };
  w->loops++;
  put(w, pick(w, heads, 15));
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
      many_borrow_owners(w);
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

void tl_write_program(uint64_t seed, int statements, bool hosted, FILE *to) {
  writer w = {.to = to, .state = seed * 2654435761u + 1};
  for (int i = 0; i < 8; i++) next(&w, 2);
  prelude(&w, hosted);
  for (int i = 0; i < FUNCTIONS; i++) function(&w, i, statements / 2 + 1);
  main_script(&w, statements);
}
