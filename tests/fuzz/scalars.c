// Runs random programs of scalars, loops, items of arrays, lists and records,
// and calls, and asks that machine code does as the interpreter does: the same
// output, the same errors at the same places, under the same budget.
//
//   scalars COUNT [FIRST]    COUNT programs, those of seeds FIRST, FIRST + 1 …
//   scalars --print SEED     the program of a seed
//
// Each runs without machine code, with every poll an entry, and both again with
// a budget that ends on the way, or every second one with less memory, in which
// code is refused now and then. Where the outputs differ both are printed; the
// last line is the sum, and the exit status 1 if any differed.
//
//     G = 1                       g, h, count, weight, moved, shifted: calls,
//     fn f0(k, x) { … }           with numbers, references, and several results
//     fn f1(k, x) { … }           the random parts: blocks of statements
//     for a in (2, -7, 2.5) …     each is called with arguments of both types
//
// Variables have one kind each, so most expressions have no error; now and then
// one changes its type, an index is not cut to the length, or a value has
// another type than its place. What is compared is the output alone: it does
// not show whether an update was in place, or how much memory there was.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

// --- Writing ----------------------------------------------------------------

// The kinds of expressions, and the variables of each that all functions have.
// Those of loops come with the loops. NARROW is an integer of the dtype that
// the program has chosen, SINGLE a float32.
typedef enum kind { INT, FLOAT, BOOL, NARROW, SINGLE, KINDS } kind;

// At most so many variables are in reach at once; a text of ROOM bytes, behind
// whose end nothing is written (such a program is refused by both, alike);
// blocks in blocks of a function; and the variables that may be assigned.
enum { NAMES = 24, ROOM = 1 << 16, DEEPEST = 3, VARIABLES = 7 };

// The program so far, and what may be named at its end. What does not fit into
// the text is left out.
typedef struct writer {
  uint64_t seed;
  char text[ROOM];
  size_t length;
  int indent, loops;
  const char *narrow;  // the dtype of NARROW
  char names[NAMES][8];
  kind kinds[NAMES];
  int name_count;
} writer;

// A number from 0 to n - 1, of a linear congruential generator (Knuth's MMIX):
// the same on every machine, so that a seed names a program. The high bits are
// taken, since the low ones have short periods.
static uint32_t below(writer *w, uint32_t n) {
  w->seed = w->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return (uint32_t)((w->seed >> 33) % n);
}
// True in so many of 100 cases.
static bool chance(writer *w, uint32_t percent) {
  return below(w, 100) < percent;
}
static void say(writer *w, const char *text) {
  size_t n = strlen(text);
  if (w->length + n + 1 < sizeof w->text) {
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
  }
}
static void say_number(writer *w, int n) {
  char text[16];
  snprintf(text, sizeof text, "%d", n);
  say(w, text);
}
// Two spaces for each block around.
static void begin_line(writer *w) {
  for (int i = 0; i < w->indent; i++) say(w, "  ");
}
#define ONE_OF(w, list) \
  say(w, list[below(w, (uint32_t)(sizeof list / sizeof *list))])

// The name of a variable of the kind, from a random one on; a constant of the
// kind where none is in reach, as in the functions around.
static void say_name(writer *w, kind k) {
  int from = (int)below(w, (uint32_t)w->name_count);
  for (int i = 0; i < w->name_count; i++) {
    int at = (from + i) % w->name_count;
    if (w->kinds[at] == k) {
      say(w, w->names[at]);
      return;
    }
  }
  static const char *const others[] = {"1", "1.0", "true", "c", "z"};
  say(w, others[k]);
}

static void expression(writer *w, kind k, int depth);
static void statement(writer *w, int depth);

// (left operator right), in brackets, so that no precedence is asked for.
static void binary(writer *w, kind left, const char *operator, kind right,
                   int depth) {
  say(w, "(");
  expression(w, left, depth - 1);
  say(w, operator);
  expression(w, right, depth - 1);
  say(w, ")");
}

// name(x) or name(x, y), of operands of one kind. A minus counts as a name:
// -(x).
static void call(writer *w, const char *name, kind k, int count, int depth) {
  say(w, name);
  say(w, "(");
  expression(w, k, depth - 1);
  if (count == 2) {
    say(w, ", ");
    expression(w, k, depth - 1);
  }
  say(w, ")");
}

// The larger or the smaller of two, or the largest of a few that are written as
// a list or as an array: of which some are of another kind.
static void few(writer *w, kind k, int depth) {
  static const char *const calls[] = {"maximum(", "minimum(", "max((",
                                      "min((",    "max([",    "min(["};
  uint32_t which = below(w, 6);
  uint32_t count = which < 2 ? 2 : 2 + below(w, 4);
  say(w, calls[which]);
  for (uint32_t i = 0; i < count; i++) {
    say(w, i == 0 ? "" : ", ");
    expression(w, chance(w, 85) ? k : (kind)below(w, KINDS), depth - 1);
  }
  say(w, which < 2 ? ")" : which < 4 ? "))" : "])");
}

// Integers of one width, some mixed with others: with literals, which are weak
// and may not fit, and with int64, so that the result has another dtype.
static void narrow(writer *w, int depth) {
  static const char *const operators[] = {" + ",  " - ",  " * ",  " & ",
                                          " | ",  " ^ ",  " // ", " % ",
                                          " << ", " >> ", " ** "};
  static const char *const literals[] = {"1", "2", "3", "7", "100"};
  static const char *const functions[] = {"-", "abs", "bitwise_invert",
                                          "square"};
  uint32_t t = below(w, 100);
  if (t < 45) {
    binary(w, NARROW, operators[below(w, chance(w, 8) ? 11 : 8)], NARROW,
           depth);
  } else if (t < 60) {
    say(w, "(");
    expression(w, NARROW, depth - 1);
    say(w, operators[below(w, 10)]);
    ONE_OF(w, literals);
    say(w, ")");
  } else if (t < 66) {
    binary(w, NARROW, operators[below(w, 3)], INT, depth);
  } else if (t < 78) {
    say(w, "d[");
    expression(w, INT, depth - 1);
    say(w, " % 8]");
  } else if (t < 84) {
    call(w, functions[below(w, 4)], NARROW, 1, depth);
  } else if (t < 90) {
    call(w, chance(w, 50) ? "minimum" : "maximum", NARROW, 2, depth);
  } else {
    say(w, w->narrow);
    say(w, "(");
    expression(w, chance(w, 80) ? INT : NARROW, depth - 1);
    say(w, chance(w, 90) ? " & 63)" : ")");
  }
}

// Those with instructions of their own, those by a kernel, and those that have
// none for integers; then functions of two numbers.
static const char *const maths[] = {"exp",  "sin",  "floor", "sqrt",  "abs",
                                    "tanh", "ceil", "trunc", "log",   "round",
                                    "-",    "sign", "cbrt",  "log1p", "erf"};
static const char *const maths_of_two[] = {"maximum", "minimum", "hypot",
                                           "atan2", "copysign"};

// Floats of 32 bits, some mixed with others, and the items of the array with
// three axes, which is of float32. Functions come from both tables below.
static void single(writer *w, int depth) {
  static const char *const operators[] = {" + ",  " - ", " * ", " / ",
                                          " // ", " % ", " ** "};
  uint32_t t = below(w, 100);
  if (t < 45) {
    binary(w, SINGLE, operators[below(w, chance(w, 15) ? 7 : 4)], SINGLE,
           depth);
  } else if (t < 55) {
    binary(w, SINGLE, operators[below(w, 4)], chance(w, 50) ? INT : NARROW,
           depth);
  } else if (t < 65) {
    say(w, "float32(");
    expression(w, chance(w, 60) ? FLOAT : INT, depth - 1);
    say(w, ")");
  } else if (t < 80) {
    say(w, "t[");
    expression(w, INT, depth - 1);
    say(w, " % 2, ");
    expression(w, INT, 0);
    say(w, " % 3, ");
    expression(w, INT, 0);
    say(w, chance(w, 95) ? " % 4]" : "]");
  } else if (t < 90) {
    call(w, maths[below(w, 15)], SINGLE, 1, depth);
  } else {
    call(w, maths_of_two[below(w, 5)], SINGLE, 2, depth);
  }
}

// A number below a list or a record: what is at the places differs now and then
// in its type, and some of it is shared with another variable, as `store_below`
// has stored it. A record's `next` may be none, whose fields are an error.
static void reference(writer *w, kind k, int depth) {
  static const char *const ints[] = {"r.n",          "len(l)", "count(r.next)",
                                     "weight(r, 2)", "r.a[2]", "l[1].n"};
  static const char *const floats[] = {"r.x", "l[0].x", "l[2].w[3]", "q[1]"};
  static const char *const truths[] = {"r.next == none", "r.p",
                                       "s[k % 5] == \"c\"", "r.next != none"};
  if (k == FLOAT) {
    ONE_OF(w, floats);
  } else if (k == BOOL) {
    ONE_OF(w, truths);
  } else if (chance(w, 50)) {
    ONE_OF(w, ints);
  } else {
    bool list = chance(w, 50);
    say(w, list ? "l[" : "q[");
    expression(w, INT, depth - 1);
    say(w, chance(w, 98) ? " % 3" : "");
    say(w, chance(w, 90) ? "]" : " - 3]");
    say(w, list ? ".n" : "");
  }
}

// A store below one of them, or what makes the next one leave: a second owner,
// a move through a function with two results, another record in its place.
static void store_below(writer *w) {
  static const char *const places[] = {"r.n",    "r.x",        "l[1].n",
                                       "l[2].x", "r.a[k % 4]", "l[k % 3].w[1]",
                                       "q[2]",   "q[k % 3]",   "l[k % 3].n"};
  static const char *const others[] = {"other = r",
                                       "other = l",
                                       "r, k = moved(r, k)",
                                       "l, k = shifted(l, k)",
                                       "r = r.next",
                                       "q[0], q[2] = q[2], q[0]",
                                       "for o in l { m += o.n }",
                                       "q = append(q, k)",
                                       "q = append(q, x)",
                                       "q = append(q, s[k % 5])",
                                       "if len(q) > 40 { q = q[:3] }",
                                       "if len(q) > 3 { m, q = pop(q) }",
                                       "if len(q) > 3 { y, q = pop(q) }",
                                       "r.next = none",
                                       "other = stored((1, other), v, k)",
                                       "other = stored((2, w), w, m)",
                                       "r = (n: k, x: x, p: p, a: v, next: r)"};
  if (chance(w, 35)) {
    ONE_OF(w, others);
    return;
  }
  ONE_OF(w, places);
  say(w, chance(w, 60) ? " += " : " = ");
  expression(w, chance(w, 70) ? INT : FLOAT, 2);
}

// An int64 expression: sums mostly, then items, calls, and choices of which one
// side is now and then a float. Products and shifts wrap alike on both sides.
static void integer(writer *w, int depth) {
  static const char *const sums[] = {" + ", " - ", " * "};
  static const char *const quotients[] = {" // ", " % "};
  static const char *const bits[] = {" & ",      " | ",      " ^ ",
                                     " << 7 & ", " >> 7 & ", " << "};
  uint32_t t = below(w, 100);
  if (t < 40) {
    binary(w, INT, sums[below(w, 3)], INT, depth);
  } else if (t < 52) {
    say(w, "(");
    expression(w, INT, depth - 1);
    say(w, quotients[below(w, 2)]);
    if (chance(w, 60))
      say(w, chance(w, 50) ? "7)" : "-5)");
    else
      binary(w, INT, " | ", INT, 1), say(w, ")");
  } else if (t < 66) {
    binary(w, INT, bits[below(w, chance(w, 5) ? 6 : 5)], INT, depth);
  } else if (t < 76) {
    say(w, "v[");
    expression(w, INT, depth - 1);
    say(w, chance(w, 98) ? " % 8]" : "]");
  } else if (t < 80) {
    say(w, "u[");
    expression(w, INT, depth - 1);
    say(w, " % 3, ");
    expression(w, INT, depth - 1);
    say(w, " % 4]");
  } else if (t < 88) {
    say(w, "g(");
    expression(w, INT, depth - 1);
    say(w, ", ");
    expression(w, INT, depth - 1);
    say(w, ")");
  } else if (t < 90) {
    say(w, "(-");
    expression(w, INT, depth - 1);
    say(w, ")");
  } else if (t < 91) {
    binary(w, INT, " ** ", INT, 1);
  } else if (t < 93) {
    reference(w, INT, depth);
  } else if (t < 94) {
    few(w, INT, depth);
  } else if (t < 96) {
    call(w, "int",
         chance(w, 50)   ? NARROW
         : chance(w, 70) ? FLOAT
                         : SINGLE,
         1, depth);
  } else {
    say(w, "(if ");
    expression(w, BOOL, depth - 1);
    say(w, " { ");
    expression(w, INT, depth - 1);
    say(w, " } else { ");
    expression(w, chance(w, 90) ? INT : FLOAT, depth - 1);
    say(w, " })");
  }
}

// A float64 expression, in part of integers, narrow ones and float32.
static void floating(writer *w, int depth) {
  static const char *const sums[] = {" + ", " - ", " * ", " / "};
  uint32_t t = below(w, 100);
  if (t < 45) {
    binary(w, FLOAT, sums[below(w, 4)], FLOAT, depth);
  } else if (t < 57) {
    binary(w, FLOAT, sums[below(w, 4)], INT, depth);
  } else if (t < 65) {
    binary(w, INT, " / ", INT, depth);
  } else if (t < 71) {
    say(w, "(");
    expression(w, FLOAT, depth - 1);
    say(w, " ** 2)");
  } else if (t < 80) {
    call(w, maths[below(w, 15)], chance(w, 85) ? FLOAT : INT, 1, depth);
  } else if (t < 82) {
    call(w, maths_of_two[below(w, 5)], FLOAT, 2, depth);
  } else if (t < 84) {
    few(w, FLOAT, depth);
  } else if (t < 86) {
    binary(w, FLOAT, chance(w, 50) ? " ** " : " % ", FLOAT, depth);
  } else if (t < 88) {
    binary(w, FLOAT, sums[below(w, 4)], chance(w, 50) ? NARROW : SINGLE, depth);
  } else if (t < 92) {
    say(w, "w[");
    expression(w, INT, depth - 1);
    say(w, " % 8]");
  } else if (t < 93) {
    reference(w, FLOAT, depth);
  } else {
    say(w, "h(");
    expression(w, FLOAT, depth - 1);
    say(w, ", ");
    expression(w, INT, depth - 1);
    say(w, ")");
  }
}

// A bool: comparisons, some of two kinds, items, and logic.
static void truth(writer *w, int depth) {
  static const char *const compare[] = {" < ",  " <= ", " > ",
                                        " >= ", " == ", " != "};
  uint32_t t = below(w, 100);
  if (t < 65) {
    static const kind kinds[] = {INT, INT, INT, FLOAT, FLOAT, NARROW, SINGLE};
    kind k = kinds[below(w, 7)];
    binary(w, k, compare[below(w, 6)], chance(w, 90) ? k : INT, depth);
  } else if (t < 75) {
    say(w, "(not ");
    expression(w, BOOL, depth - 1);
    say(w, ")");
  } else if (t < 80) {
    say(w, "b[");
    expression(w, INT, depth - 1);
    say(w, " % 5]");
  } else if (t < 86) {
    reference(w, BOOL, depth);
  } else {
    binary(w, BOOL, chance(w, 50) ? " and " : " or ", BOOL, depth);
  }
}

// An expression of the kind, at most so many operators deep: a quarter of those
// that could be deeper end early. Constants have the ends of ranges among them,
// infinities and -0.0, where machine code and C could differ.
static void expression(writer *w, kind k, int depth) {
  static const char *const ints[] = {"0",
                                     "1",
                                     "2",
                                     "3",
                                     "5",
                                     "7",
                                     "-1",
                                     "-4",
                                     "16",
                                     "100",
                                     "63",
                                     "1099511627776",
                                     "9223372036854775807"};
  static const char *const floats[] = {"0.5", "1.25", "-2.0", "1e300",
                                       "0.1", "3.0",  "-0.0", "inf"};
  if (depth > 0 && !chance(w, 25)) {
    if (k == INT)
      integer(w, depth);
    else if (k == FLOAT)
      floating(w, depth);
    else if (k == NARROW)
      narrow(w, depth);
    else if (k == SINGLE)
      single(w, depth);
    else
      truth(w, depth);
  } else if (chance(w, 70) || k >= NARROW) {
    say_name(w, k);
  } else if (k == INT) {
    ONE_OF(w, ints);
  } else if (k == FLOAT) {
    ONE_OF(w, floats);
  } else {
    say(w, chance(w, 50) ? "true" : "false");
  }
}

// Two to five statements, each on a line of its own.
static void block(writer *w, int depth);

// A block in braces. Loops in it bring variables, which end with it.
static void braces(writer *w, int depth) {
  int names = w->name_count;
  say(w, " {\n");
  w->indent++;
  block(w, depth);
  w->indent--;
  begin_line(w);
  say(w, "}");
  w->name_count = names;
}

// A variable more in reach; nothing where there are NAMES.
static void add_name(writer *w, const char *name, kind k) {
  if (w->name_count == NAMES)
    return;
  snprintf(w->names[w->name_count], sizeof *w->names, "%s", name);
  w->kinds[w->name_count++] = k;
}

// A loop: over a range, up or down, with bounds of which some give no
// iteration; over an array; or while a counter is below a number, so that it
// ends. The variable has a name of its own, as nobody else may assign it.
static void write_loop(writer *w, int depth) {
  static const char *const starts[] = {"0..", "-2..", "1..", "11.."};
  static const char *const ends[] = {"4", "9", "k % 6", "12"};
  static const char *const steps[] = {"",      "",       " by 2",
                                      " by 3", " by -1", " by -2"};
  char name[8];
  snprintf(name, sizeof name, "L%d", w->loops++);
  int names = w->name_count;
  if (chance(w, 70)) {
    say(w, "for ");
    say(w, name);
    say(w, " in ");
    ONE_OF(w, starts);
    ONE_OF(w, ends);
    ONE_OF(w, steps);
    add_name(w, name, INT);
    braces(w, depth - 1);
  } else if (chance(w, 30)) {
    say(w, "for ");
    say(w, name);
    say(w, chance(w, 50) ? " in v" : chance(w, 50) ? " in w" : " in d");
    braces(w, depth - 1);
  } else {
    say(w, name);
    say(w, " = 0\n");
    begin_line(w);
    say(w, "while ");
    say(w, name);
    say(w, " < ");
    say_number(w, 2 + (int)below(w, 8));
    say(w, " {\n");
    begin_line(w);
    say(w, "  ");
    say(w, name);
    say(w, " += 1\n");
    add_name(w, name, INT);
    w->indent++;
    block(w, depth - 1);
    w->indent--;
    begin_line(w);
    say(w, "}");
  }
  w->name_count = names;
}

// A store into an array of one, two or three axes, most indices cut to the
// length, most values of the array's dtype. Half of them read the item first.
static void store(writer *w) {
  if (chance(w, 15)) {
    say(w, "d[");
    expression(w, INT, 1);
    say(w, chance(w, 70) ? " % 8] = " : " % 8] += ");
    expression(w, chance(w, 70) ? NARROW : INT, 2);
    return;
  }
  if (chance(w, 15)) {
    say(w, "t[");
    expression(w, INT, 1);
    say(w, " % 2, k % 3, m % 4]");
    say(w, chance(w, 70) ? " = " : " += ");
    expression(w, chance(w, 50) ? SINGLE : chance(w, 50) ? FLOAT : NARROW, 2);
    return;
  }
  bool ints = chance(w, 40);
  if (!ints && chance(w, 15)) {
    say(w, "b[");
    expression(w, INT, 1);
    say(w, " % 5] = ");
    expression(w, BOOL, 2);
    return;
  }
  if (ints && chance(w, 30)) {
    say(w, "u[");
    expression(w, INT, 1);
    say(w, " % 3, ");
    expression(w, INT, 1);
    say(w, " % 4] = ");
    expression(w, INT, 2);
    return;
  }
  say(w, ints ? "v[" : "w[");
  expression(w, INT, 1);
  say(w, chance(w, 98) ? " % 8]" : "]");
  say(w, chance(w, 50) ? " = " : " += ");
  expression(w, ints || chance(w, 15) ? INT : FLOAT, 2);
}

// An index that is a loop's variable and a constant, a variable that the loop
// may write, or a constant: those that units test before loops.
static void plain_index(writer *w, const char *variable) {
  static const char *const offsets[] = {"", "", "", " + 1", " - 1", " + 2"};
  static const char *const others[] = {"0", "1", "2", "m", "at"};
  if (chance(w, 30)) {
    ONE_OF(w, others);
    return;
  }
  say(w, variable);
  ONE_OF(w, offsets);
}

// An item by such indices, of the kind.
static void plain_item(writer *w, bool floats, const char *i, const char *j) {
  bool deep = chance(w, 60);
  say(w, deep            ? (floats ? "e[" : "u[")
         : floats        ? "w["
         : chance(w, 70) ? "v["
                         : "d[");
  plain_index(w, i);
  if (deep) {
    say(w, ", ");
    plain_index(w, j);
  }
  say(w, "]");
}

// What is done in the loops of `nest`: items are read and written, and sums
// change their types in the first iteration.
static void plain_statement(writer *w, const char *i, const char *j) {
  bool floats = chance(w, 60);
  uint32_t t = below(w, 100);
  if (t < 30) {
    say(w, floats ? "x += " : "k += ");
    plain_item(w, floats, i, j);
  } else if (t < 65) {
    plain_item(w, floats, i, j);
    say(w, chance(w, 50) ? " = " : " += ");
    plain_item(w, floats && chance(w, 80), j, i);
    say(w, floats ? " * 0.5" : " & 7");
  } else if (t < 80) {
    say(w, "if ");
    plain_item(w, floats, i, j);
    say(w, floats ? " > x { best, at = " : " > m { m, at = ");
    plain_item(w, floats, i, j);
    say(w, ", ");
    say(w, chance(w, 50) ? i : "k % 4");
    say(w, " }");
  } else if (t < 85) {
    say(w, "if k > 90 { break }");
  } else {
    statement(w, 0);
  }
}

// Loops as plain code over rows and columns has them, some of a few iterations
// that are known. Half of them catch errors, so that what was done before is
// seen.
static void nest(writer *w) {
  static const char *const rows[] = {"0..3", "1..3",      "3..0 by -1", "0..4",
                                     "0..m", "0..8 by 2", "k % 3..5"};
  static const char *const columns[] = {"0..2",       "0..3", "1..4 by 2",
                                        "3..0 by -1", "0..6", "0..k % 6"};
  char i[8], j[8];
  snprintf(i, sizeof i, "L%d", w->loops++);
  snprintf(j, sizeof j, "L%d", w->loops++);
  bool catches = chance(w, 50);
  say(w, "at, best = 0, 1e9\n");
  begin_line(w);
  say(w, catches ? "try {\n" : "if true {\n");
  w->indent++;
  begin_line(w);
  say(w, "for ");
  say(w, i);
  say(w, " in ");
  ONE_OF(w, rows);
  say(w, " {\n");
  for (int n = chance(w, 70) ? 0 : 2; n < 3; n++) {
    const char *second = n == 1 ? j : i;
    if (n == 1) {
      say(w, "for ");
      say(w, j);
      say(w, " in ");
      ONE_OF(w, columns);
      say(w, " {\n");
    }
    plain_statement(w, i, second);
    say(w, "\n");
    if (n == 1 && chance(w, 50)) {
      plain_statement(w, second, i);
      say(w, "\n");
    }
    say(w, n == 1 ? "}\n" : "");
  }
  say(w, "}\n");
  w->indent--;
  begin_line(w);
  say(w, catches ? "} catch f { print(f.message, k, x) }\n" : "}\n");
  begin_line(w);
  say(w, "print(at, best)");
}

// Those that can be assigned come first. A sum or difference keeps its kind;
// what else is assigned may not, so that versions of blocks are made.
static void assign(writer *w) {
  int at = (int)below(w, VARIABLES);
  say(w, w->names[at]);
  if (w->kinds[at] != BOOL && chance(w, 40)) {
    say(w, chance(w, 50) ? " += " : " -= ");
    expression(w, w->kinds[at], 2);
    return;
  }
  say(w, " = ");
  // Now and then the variable changes its type.
  expression(w, w->kinds[at] == INT && chance(w, 2) ? FLOAT : w->kinds[at], 3);
}

// An update of short arrays, in place where they have no second owner: one that
// is done at once, or two. Some operands are views, of another length, or
// integers.
static void sweep(writer *w) {
  static const char *const updates[] = {
      "w = w * o + w",    "w = o - w * o",    "o = w + o",
      "o = o * w - w",    "o = 2 - o",        "o = o / 3",
      "w = x * w",        "w = w + o * 0.5",  "o = o - w",
      "o = k * o + o",    "o = v * o + o",    "o = w[::-1] + o",
      "o = e[1] + o",     "o = m - o",        "o, w = w, o",
      "o = float32(o)",   "o = o * z",        "o = o[:k % 9]",
      "o = w[:] + o * w", "o = maximum(o, w)"};
  // Arrays that a loop makes, transposed, and cut out.
  static const char *const made[] = {
      "u = u + m",      "u = reshape(arange(12), (4, 3)).T",
      "e = e * 0.5",    "e = reshape(arange(24), (6, 4)).T * y",
      "e = e[:, ::-1]", "t = t[::-1] * z",
      "d = d + d",      "v = u[1:, ::2][0] + arange(8)[::4]",
      "b = b[::-1]",    "v = arange(16)[::2]"};
  static const char *const others[] = {"o = w", "o = full(8, 0.25)",
                                       "w = full(8, 0.5)", "other = o"};
  if (chance(w, 25))
    ONE_OF(w, others);
  else if (chance(w, 30))
    ONE_OF(w, made);
  else
    ONE_OF(w, updates);
}

// One statement; at depth 0 none that has a block.
static void statement(writer *w, int depth) {
  uint32_t t = below(w, 100);
  if (t < 6) {
    sweep(w);
  } else if (t < 38 || depth == 0) {
    assign(w);
  } else if (t < 48) {
    store(w);
  } else if (t < 57) {
    store_below(w);
  } else if (t < 68) {
    say(w, "if ");
    expression(w, BOOL, 2);
    braces(w, depth - 1);
    if (chance(w, 50)) {
      say(w, " else");
      braces(w, depth - 1);
    }
  } else if (t < 72) {
    say(w, "G = G + ");
    expression(w, INT, 1);
  } else if (t < 74) {
    say(w, "k = k + G");
  } else if (t < 75) {
    say(w, "try { k = k + v[k] } catch e { k = 3 }");
  } else if (t < 87 && depth >= DEEPEST - 1) {
    nest(w);
  } else {
    write_loop(w, depth);
  }
}

static void block(writer *w, int depth) {
  int count = 2 + (int)below(w, 4);
  for (int i = 0; i < count; i++) {
    begin_line(w);
    statement(w, depth);
    say(w, "\n");
  }
}

// A function that sets all variables, does a random block, prints them all and
// gives k. So whatever went wrong on the way is seen in its output.
static void function(writer *w, int number) {
  static const char *const variables[VARIABLES] = {"k", "m", "x", "y",
                                                   "p", "c", "z"};
  static const kind kinds[VARIABLES] = {INT,  INT,    FLOAT, FLOAT,
                                        BOOL, NARROW, SINGLE};
  say(w, "fn f");
  say_number(w, number);
  say(w,
      "(k, x) {\n  global G\n  m = 3\n  y = 0.25\n  p = true\n"
      "  v = arange(8)\n  w = arange(8) * 0.5\n  o = full(8, 0.25)\n"
      "  u = reshape(arange(12), (3, 4))\n"
      "  e = reshape(arange(24) * 0.25, (4, 6))\n"
      "  b = arange(5) > 2\n  z = float32(0.7)\n"
      "  t = float32(reshape(arange(24), (2, 3, 4)))\n  d = ");
  say(w, w->narrow);
  say(w, "(arange(8))\n  c = ");
  say(w, w->narrow);
  say(w,
      "(5)\n"
      "  s = \"abcde\"\n  q = (1, 2, 3.5)\n"
      "  l = ((n: i, x: 0.5, w: [0.5, 1.5, 2.5, 3.5]) for i in 0..3)\n"
      "  r = (n: 1, x: 0.25, p: true, a: [1, 2, 3, 4], next: none)\n"
      "  r = (n: 2, x: 0.5, p: false, a: [4, 3, 2, 1], next: r)\n"
      "  other = none\n");
  w->name_count = w->loops = 0;
  for (int i = 0; i < VARIABLES; i++) add_name(w, variables[i], kinds[i]);
  w->indent = 1;
  block(w, DEEPEST);
  w->indent = 0;
  say(w,
      "  print(k, m, x, y, p, c, z, v, w, o, u, e, b, d, t, G, q, l, r, other)\n  k\n"
      "}\n");
}

// A closure that computes an array at each step, of arrays and a number that it
// has captured; and a loop that does the same by itself. Arrays are long enough
// to be computed in one pass. What was kept of one step is good for the next
// until another closure of the same code, another length or a number comes.
static void chain(writer *w) {
  static const char *const steps[] = {"(c * x + 0.5) * x + y",
                                      "where(x > c, x * y, x - y)",
                                      "x[1:] * c - x[:-1] * c",
                                      "sqrt(x * x + y * y) * c",
                                      "x[i % 3:16 + i % 3] * c + 1.5",
                                      "(x * y + M) * c",
                                      "x * (c + 1) - y * (c + 1)",
                                      "float32(x) * c + x * 2",
                                      "-x * c + x[::-1]",
                                      "x * i + y * c",
                                      "(x > c) & (y < c * 2)",
                                      "x * y + x[i]"};
  static const char *const numbers[] = {"2", "0.5", "-0.0", "float32(3)",
                                        "int16(2)"};
  static const char *const lengths[] = {"19", "24", "200"};
  say(w, "M = arange(24) * 1.0\nfn kept(x, y, c) {\n  fn step(i) {\n    r = ");
  ONE_OF(w, steps);
  if (chance(w, 40)) {
    say(w, "\n    z = y * 2.0\n    r = r[:16] * c + z[:16]");
  } else if (chance(w, 30)) {
    say(w, "\n    d = if i % 5 == 4 { c + 1 } else { c }\n    r = r * d + r");
  }
  say(w, "\n    r[i]\n  }\n  step\n}\nfor n in (24, 24, ");
  ONE_OF(w, lengths);
  say(w, ") {\n  x = arange(n) * 0.5\n  y = x + 1.0\n  c = ");
  ONE_OF(w, numbers);
  say(w, "\n  f, g = kept(x, y, c), kept(y, x, ");
  ONE_OF(w, numbers);
  say(w,
      ")\n  print(try {\n    s = 0.0\n    for i in 0..12 {\n      s += f(i)\n"
      "      if i % 4 == 3 { s = s * 0.5 + g(i) }\n      z = ");
  ONE_OF(w, steps);
  say(w, "\n      s += z[i]\n");
  if (chance(w, 40))
    say(w, "      if i == 7 { M = M + 1.0 }\n");
  if (chance(w, 40))
    say(w, "      if i == 5 { x, y = x[1:] * 1.0, y[1:] * 2.0 }\n");
  say(w, "    }\n    s\n  } catch e { e.message })\n}\n");
}

// Functions that are called as values: of captured values of all kinds, which
// give numbers, what they have captured, what they have made, several results,
// and what they were given; by loops that are given one after the other.
static void values(writer *w) {
  static const char *const bodies[] = {
      "= i * 2 + c",
      "= l[i % 3]",
      "= v[i % 2:4]",
      "= v",
      "= r.x",
      "= r",
      "= (i, c)",
      "= \"t{i}{s}\"",
      "= s",
      "= v * 2 + i",
      "= o(i)",
      "= (i: c, l: l)",
      "= l[1:]",
      "{ i, c }",
      "{ l, i }",
      "{ v, s }",
      "= small(v, i)",
      "= large(v, i)",
      "= deep(i, 3)",
      "= v[i % 7]",
      "{ c = c + i\n    c }",
      "{ if i % 5 == 3 { return none }\n    v }",
      "{ t = 0\n    for j in 0..i % 6 { t = (t + j) * c }\n    t }"};
  static const char *const steps[] = {"t = f(i)",
                                      "t = f(i) + t",
                                      "a, b = f(i)\n    t = (b, a)",
                                      "t = g(f(i))",
                                      "f, g = g, f\n    t = f(i)",
                                      "r.n = f(i)\n    t = r.n",
                                      "r.f = f\n    t = r.f(i)",
                                      "t = append((g(i), 1), f(i))",
                                      "t = fs[i % 3](i)",
                                      "M = f(i)\n    t = M"};
  static const char *const numbers[] = {"2",          "0.5",        "true",
                                        "uint8(200)", "float32(2)", "\"x\""};
  say(w,
      "M = 0\nfn small(x, k) = x * k + 1\nfn large(x, k) {\n  y = zeros(40)\n"
      "  y[3] = k\n  small(y, 2)\n}\nfn make(c, o) {\n  l = (1, 2.5, c)\n"
      "  v, s = arange(5) * 0.5, \"abc\"\n  r = (n: 1, x: c, f: none)\n"
      "  fn deep(i, d) = if d < 1 { c } else { deep(i + 1, d - 1) }\n  fn f(i) ");
  ONE_OF(w, bodies);
  say(w, "\n  fn g(i) ");
  ONE_OF(w, bodies);
  say(w,
      "\n  f, g\n}\nfn apply(f, g, n) {\n  global M\n  t = none\n"
      "  r, fs = (n: 0, f: none), (f, g, fn (i) = i)\n  for i in 0..n {\n    ");
  ONE_OF(w, steps);
  say(w, "\n    ");
  ONE_OF(w, steps);
  say(w,
      "\n  }\n  t, r.n\n}\nfor n in (3, 30, 9) {\n  o = fn (i) = i + 1\n"
      "  for c in (-1, 0.5, ");
  ONE_OF(w, numbers);
  say(w,
      ") {\n    f, g = make(c, o)\n"
      "    print(try { apply(f, g, n) } catch e { e.message })\n"
      "    print(try { apply(g, f, n) } catch e { e.message })\n"
      "    o = f\n  }\n}\n");
}

// The whole program of a seed into w->text. Functions are called several times
// with different types, so that units of one place are made for each, and one
// is called outside of `try`, so that its error ends the program.
static void write_program(writer *w, uint64_t seed) {
  static const char *const dtypes[] = {"int8",   "int16",  "int32", "uint8",
                                       "uint16", "uint32", "uint64"};
  w->seed = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  w->length = 0;
  w->narrow = dtypes[below(w, 7)];
  say(w, "G = 1\n");
  say(w, chance(w, 70)
             ? "fn g(a, b) {\n  if a < b { return a - b }\n  t = a % 3\n"
               "  if t == 1 { g(b, a - 1 - (a // 2)) } else { t + (b >> 1) }\n"
               "}\n"
             : "fn g(a, b) = a + b\n");
  say(w,
      "fn h(x, n) {\n  y = x\n  for q in 0..n % 4 { y = y * 0.5 + q }\n"
      "  y\n}\n");
  if (chance(w, 30))
    chain(w);
  if (chance(w, 50))
    values(w);

  say(w,
      "fn count(r) {\n  n = 0\n  while r != none {\n    n += r.n\n"
      "    r = r.next\n  }\n  n\n}\n"
      "fn weight(r, d) {\n  if r == none or d == 0 { return 0 }\n"
      "  r.n % 7 + len(r.a) + weight(r.next, d - 1)\n}\n"
      "fn moved(r, k) {\n  r.n += k % 3\n  r.a[1] = k % 5\n"
      "  if k % 11 == 3 { return r, 2.5 }\n  r, k + 1\n}\n"
      "fn stored(l, x, k) = if k % 3 < 2 { append(l[:1], x) } else { l }\n"
      "fn shifted(l, k) {\n  for i in 0..len(l) {\n    l[i].n += i\n"
      "    l[i].x -= 0.25\n    l[i].w[i] = l[i].x + k\n  }\n  l, k - 1\n}\n");
  function(w, 0);
  function(w, 1);
  say(w,
      "for i in 0..2 {\n"
      "  for a in (2, -7, 2.5) {\n"
      "    print(try { f0(a, 0.5) } catch e { e.message })\n"
      "    print(try { f1(3, a) } catch e { e.message })\n"
      "  }\n}\nf0(1, 2.0)\nf1(4, 1)\nprint(G)\n");
}

// --- Running ----------------------------------------------------------------

typedef struct output {
  char text[1 << 18];
  size_t length;
} output;

// The VM's output, appended; what is too much is left out on both sides. Always
// 0, for "it was written".
static int collect(void *context, const char *text, size_t nbytes) {
  output *out = context;
  if (out->length + nbytes >= sizeof out->text)
    return 0;
  memcpy(out->text + out->length, text, nbytes);
  out->length += nbytes;
  return 0;
}

// One run in a VM of its own, with one thread, since the arrays are small. What
// it printed, and the report of its error, if any, is in *out. Returns the most
// bytes that were live at once. [memory] 0: no limit.
static size_t run(const writer *w, tally_native_code native, uint64_t budget,
                  size_t memory, output *out) {
  out->length = 0;
  tally_options options = tally_default_options();
  options.context = out;
  options.write = collect;
  options.native = native;
  options.instruction_limit = budget;
  options.memory_limit = memory;
  options.threads = 1;
  tally_vm *vm;
  if (tally_open(&options, &vm) != TALLY_OK)
    return 0;
  if (tally_run_source(vm, "scalars", w->text, w->length, 0, NULL) !=
      TALLY_OK) {
    const char *report = tally_error(vm)->report;
    collect(out, report, strlen(report));
  }
  tally_stats stats;
  tally_get_stats(vm, &stats);
  tally_close(vm);
  out->text[out->length] = 0;
  return (size_t)stats.peak_bytes;
}

// Whether both ways print the same; else both outputs are printed. The budget
// counts polls, so the two have to stop at the same one. Where the interpreter
// has enough memory, so has machine code, which gives way: what the interpreter
// runs out of is not compared. *peak is what that took.
static bool is_same(const writer *w, uint64_t seed, uint64_t budget,
                    size_t memory, size_t *peak) {
  static output plain, native;
  *peak = run(w, TALLY_NATIVE_OFF, budget, memory, &plain);
  if (memory != 0 && strstr(plain.text, "memory") != NULL)
    return true;
  run(w, TALLY_NATIVE_ALWAYS, budget, memory, &native);
  if (plain.length == native.length &&
      memcmp(plain.text, native.text, plain.length) == 0)
    return true;
  printf(
      "FAILED: seed %llu, budget %llu, %zu bytes: the interpreter\n%s\n"
      "machine code\n%s\n",
      (unsigned long long)seed, (unsigned long long)budget, memory, plain.text,
      native.text);
  return false;
}

// Each program runs under a budget that few use up, and where both agree under
// one so small that it ends somewhere on the way, or in a part of the memory
// that it took: at another place each time.
int main(int argc, char **argv) {
  static writer w;
  if (argc > 2 && strcmp(argv[1], "--print") == 0) {
    write_program(&w, strtoull(argv[2], NULL, 10));
    fputs(w.text, stdout);
    return 0;
  }
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 100;
  uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t failed = 0;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t seed = first + i, some = seed * 7919 % 997;
    size_t peak;
    write_program(&w, seed);
    bool ok = is_same(&w, seed, 30000, 0, &peak);
    if (ok && seed % 2 == 0)
      ok = is_same(&w, seed, 1 + some, 0, &peak);
    else if (ok)
      ok = is_same(&w, seed, 30000, peak / 4 + peak * some / 1500, &peak);
    failed += !ok;
    fflush(stdout);
  }
  printf("%llu passed, %llu failed\n", (unsigned long long)(count - failed),
         (unsigned long long)failed);
  return failed > 0;
}
