// Fused regions against the same operations one by one: random elementwise
// programs, run by a VM that fuses and by one with no_reuse, give the same
// types and bits (of numbers) or the same error, on one thread and on two, and
// so does every instruction set. The seed is fixed; a failure prints the
// program.
#include "tests/unit/host.h"
#include "vm/vm.h"

#include <stdio.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROGRAMS = 500, TEXT = 8192 };  // programs for each shape

static const char *self;  // this program's path, to run it again

static const struct {
  int rows, columns;
} shapes[] = {{32, 63},  {32, 64}, {33, 63},  {7, 601},  {601, 7},
              {1, 2500}, {80, 50}, {300, 40}, {12, 700}, {5, 3000}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const char *const dtypes[] = {
    "bool",   "int8",   "int16",  "int32",   "int64",   "uint8",
    "uint16", "uint32", "uint64", "float32", "float64", "complex128"};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

// --- Writing programs -------------------------------------------------------

typedef struct writer {
  uint64_t state;
  char text[TEXT];
  size_t length;
  int locals;  // v0 … have a value
  int rows, columns;
  bool inner;  // operands are parts of rows - 2 by columns - 2
  bool typed;  // any dtype; else float64 mostly
} writer;

static unsigned next(writer *w, unsigned below) {
  w->state = w->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (unsigned)(w->state >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static void put(writer *w,
                                                      const char *format, ...) {
  va_list args;
  va_start(args, format);
  int n = vsnprintf(w->text + w->length, TEXT - w->length, format, args);
  va_end(args);
  assert_true(n >= 0 && (size_t)n < TEXT - w->length);
  w->length += (size_t)n;
}

// A part of rows - 2 by columns - 2 items, some of them backward.
static void part(writer *w) {
  unsigned i = next(w, 3), j = next(w, 3);
  if (next(w, 6) == 0) {
    put(w, "[::-1, ::-1]");
  }
  if (next(w, 3) == 0) {
    put(w, "[%u:%d][:, %u:%d]", i, w->rows - 2 + (int)i, j,
        w->columns - 2 + (int)j);
  } else {
    put(w, "[%u:%d, %u:%d]", i, w->rows - 2 + (int)i, j,
        w->columns - 2 + (int)j);
  }
}

static void inner_leaf(writer *w, const char *dtype) {
  switch (next(w, 10)) {
    case 0:
      put(w, "x_%s[%u, 2:]", dtype, next(w, 3));
      break;
    case 1:
      put(w, "x_%s[2:, %u, none]", dtype, next(w, 3));
      break;
    case 2:
      put(w, "x_%s[0, -1]", dtype);
      break;
    case 3:
      put(w, "turned_%s.T[2:, 2:]", dtype);
      break;
    case 4:
      put(w, "wide_%s[2:, ::2][:, 2:]", dtype);
      break;
    case 5:
    case 6:
      if (w->locals > 0) {
        put(w, "v%u", next(w, (unsigned)w->locals));
        part(w);
        break;
      }
      // fall through
    default:
      put(w, "x_%s", dtype);
      part(w);
  }
}

static void leaf(writer *w);

// Operands with a seam.
static void rolled(writer *w) {
  put(w, "roll(");
  leaf(w);
  switch (next(w, 3)) {
    case 0:
      put(w, ", %d, axis: -1)", (int)next(w, 9) - 4);
      break;
    case 1:
      put(w, ", [%d, %d], axis: [-1, -2])", (int)next(w, 5) - 2,
          (int)next(w, 100) - 50);
      break;
    default:
      put(w, ", %d, axis: -2)", (int)next(w, 9) - 4);
  }
}

static void leaf(writer *w) {
  static const char *const scalars[] = {
      "1",   "2.5", "-3",           "0",        "0.5",
      "nan", "inf", "float32(1.5)", "int16(3)", "float64(-0.0)"};
  const char *dtype =
      w->typed || next(w, 6) == 0 ? dtypes[next(w, DTYPES)] : "float64";
  if (w->inner && next(w, 8) > 0) {
    inner_leaf(w, dtype);
    return;
  }
  if (next(w, 12) == 0) {
    rolled(w);
    return;
  }
  switch (next(w, 12)) {
    case 0:
      put(w, "%s", scalars[next(w, 10)]);
      break;
    case 1:
      put(w, "row_%s", dtype);
      break;
    case 2:
      put(w, "column_%s", dtype);
      break;
    case 3:
      put(w, "x_%s[::-1, ::-1]", dtype);
      break;
    case 4:
      put(w, "wide_%s[:, ::2]", dtype);
      break;
    case 5:
      put(w, "(turned_%s).T", dtype);
      break;
    case 6:
      if (w->locals > 0) {  // a row or a column of what may die
        const char *parts[] = {"0", ":, 1, none", "none, 2, :", "-1:"};
        put(w, "v%u[%s]", next(w, (unsigned)w->locals), parts[next(w, 4)]);
        break;
      }
      // fall through
    case 7:
    case 8:
      if (w->locals > 0) {
        put(w, "v%u", next(w, (unsigned)w->locals));
        break;
      }
      // fall through
    default:
      put(w, "x_%s", dtype);
  }
}

// Calls of the functions that stand before the program.
static void expression(writer *w, int depth);
static void call(writer *w, int depth) {
  static const char *const names[] = {"bent", "cut", "less", "pick", "stated"};
  unsigned i = next(w, 10) == 0 ? 4 : next(w, 4);
  put(w, "%s(", names[i]);
  expression(w, depth - 1);
  if (i == 2) {
    put(w, ", ");
    expression(w, depth - 1);
  }
  if (i == 3)
    put(w, ", %u", next(w, 4));
  put(w, ")");
}

// Comparisons that are joined; with numbers too, whose dtype is the other's.
static void mask(writer *w, int depth) {
  static const char *const asked[] = {"<", "<=", ">", ">=", "==", "!="};
  static const char *const numbers[] = {"0", "1", "3"};
  put(w, "((");
  expression(w, depth - 1);
  put(w, " %s ", asked[next(w, 6)]);
  if (next(w, 3) == 0) {
    expression(w, depth - 1);
  } else {
    put(w, "%s", numbers[next(w, 3)]);
  }
  put(w, ") %s ", next(w, 2) == 0 ? "&" : "|");
  if (depth > 1 && next(w, 3) == 0) {
    mask(w, depth - 1);
  } else {
    put(w, "(");
    expression(w, depth - 1);
    put(w, " %s %s)", asked[next(w, 6)], numbers[next(w, 3)]);
  }
  put(w, ")");
}

// Between numbers, of a dtype now and then, arrays or nothing.
static void clipped(writer *w, int depth) {
  static const char *const bounds[] = {"0", "-1", "1.5", "none", "3"};
  put(w, "clip(");
  expression(w, depth - 1);
  for (int i = 0; i < 2; i++) {
    unsigned kind = next(w, 7);
    put(w, ", ");
    if (kind < 5)
      put(w, "%s", bounds[kind]);
    else if (kind == 5)
      put(w, "%s(%u)", dtypes[next(w, DTYPES)], next(w, 4));
    else
      expression(w, depth - 1);
  }
  put(w, ")");
}

static void expression(writer *w, int depth) {
  static const char *const operators[] = {
      "+",  "-", "*",  "/",  "+", "*", "-",  "<",
      "<=", ">", "==", "!=", "*", "/", "//", "+"};
  static const char *const one[] = {"sqrt", "exp",   "sin",    "abs",   "-",
                                    "tanh", "floor", "square", "isnan", "sign"};
  static const char *const two[] = {"maximum", "minimum", "atan2",
                                    "hypot",   "maximum", "minimum"};
  if (depth == 0 || next(w, 8) == 0) {
    leaf(w);
    return;
  }
  if (next(w, 12) == 0) {
    static const char *const functions[] = {"float", "bool", "int"};
    unsigned i = next(w, DTYPES + 3);
    put(w, "%s(", i < DTYPES ? dtypes[i] : functions[i - DTYPES]);
    expression(w, depth - 1);
    put(w, ")");
    return;
  }
  if (next(w, 12) == 0) {
    call(w, depth);
    return;
  }
  if (next(w, 10) == 0) {
    mask(w, depth);
    return;
  }
  if (next(w, 14) == 0) {
    clipped(w, depth);
    return;
  }
  unsigned kind = next(w, 10);
  if (kind < 6) {
    put(w, "(");
    expression(w, depth - 1);
    put(w, " %s ", operators[next(w, 16)]);
    expression(w, depth - 1);
    put(w, ")");
  } else if (kind < 8) {
    put(w, "%s(", one[next(w, 10)]);
    expression(w, depth - 1);
    put(w, ")");
  } else if (kind == 8) {
    put(w, "%s(", two[next(w, 6)]);
    expression(w, depth - 1);
    put(w, ", ");
    expression(w, depth - 1);
    put(w, ")");
  } else {
    put(w, "where((");
    expression(w, depth - 1);
    put(w, " > ");
    expression(w, depth - 1);
    put(w, "), ");
    expression(w, depth - 1);
    put(w, ", ");
    expression(w, depth - 1);
    put(w, ")");
  }
}

// v[…] = an expression of parts, or of a smaller shape.
static void assign_part(writer *w, const char *indent) {
  static const char *const signs[] = {"=", "+=", "-=", "*="};
  put(w, "%sv%u", indent, next(w, (unsigned)w->locals));
  part(w);
  put(w, " %s ", signs[next(w, 4)]);
  w->inner = true;
  expression(w, 3);
  w->inner = false;
}

static void running(writer *w) {
  static const char *const names[] = {"sum", "prod", "max", "min"};
  w->inner = next(w, 2);
  put(w, "cumulative_%s(", names[next(w, 4)]);
  expression(w, 3);
  w->inner = false;
  put(w, ", axis: %d)", (int)next(w, 2) - 1);
}

// What a mask takes; now and then the mask is none, or of another shape.
static void selection(writer *w) {
  static const char *const signs[] = {">", "<=", "!=", "&", "|"};
  bool plain = next(w, 3) == 0;
  w->inner = next(w, 4) == 0;
  put(w, "(");
  if (plain && w->locals > 0 && !w->inner) {
    put(w, "v%u", next(w, (unsigned)w->locals));
  } else {
    expression(w, 3);
  }
  put(w, ")[(");
  expression(w, 2);
  unsigned sign = next(w, 8);
  put(w, " %s ", sign < 5 ? signs[sign] : ">");
  expression(w, sign == 3 || sign == 4 ? 2 : 1);
  put(w, ")]");
  w->inner = false;
}

// What takes the items as they are computed and is no fold of them alone.
static void intake(writer *w) {
  static const char *const ends[] = {
      "histogram", ", 5)",
      "histogram", ", 4, range: (-2, 9))",
      "histogram", ", [-1.0, 0.5, 3.0], density: true)"};
  static const char *const norms[] = {")",           ", ord: 1)",
                                      ", ord: inf)", ", ord: 3, axis: -1)",
                                      ", axis: 0)",  ", ord: 0, axis: 1)"};
  unsigned i = next(w, 5);
  w->inner = next(w, 2);
  if (i < 3) {
    put(w, "%s(", ends[2 * i]);
    expression(w, 3);
    put(w, "%s", ends[2 * i + 1]);
  } else {
    put(w, "linalg.%s(", i == 3 ? "norm" : "vector_norm");
    expression(w, 3);
    put(w, "%s", norms[next(w, 6)]);
  }
  w->inner = false;
}

// Of three axes, several of them reduced.
static void cube(writer *w) {
  static const char *const names[] = {"sum", "mean",          "max", "min",
                                      "any", "count_nonzero", "prod"};
  static const char *const ends[] = {"(0, 1)",    "(1, 0), keepdims: true",
                                     "(0, 2)",    "(1, 2)",
                                     "(0, 1, 2)", "(-3, -2)",
                                     "(1,)",      "[0, 1]",
                                     "(-2, -3)"};
  static const char *const signs[] = {"*", "-", "+", ">"};
  put(w, "%s((cube_%s %s row_%s) %s cube_%s, axis: %s)", names[next(w, 7)],
      dtypes[next(w, DTYPES)], signs[next(w, 3)], dtypes[next(w, DTYPES)],
      signs[next(w, 4)], dtypes[next(w, DTYPES)], ends[next(w, 9)]);
}

static void reduction(writer *w) {
  if (next(w, 3) == 0) {
    running(w);
    return;
  }
  if (next(w, 6) == 0) {
    cube(w);
    return;
  }
  if (next(w, 4) == 0) {
    intake(w);
    return;
  }
  static const char *const names[] = {
      "sum", "sum", "mean", "max",    "min",    "prod", "any",
      "all", "var", "std",  "argmax", "argmin", "sum",  "count_nonzero"};
  w->inner = next(w, 2);
  put(w, "%s(", names[next(w, 14)]);
  expression(w, 3);
  w->inner = false;
  switch (next(w, 5)) {
    case 0:
      put(w, ", axis: 0");
      break;
    case 1:
      put(w, ", axis: -1, keepdims: true");
      break;
    case 2:
      put(w, ", axis: 0, keepdims: true");
      break;
    case 3:
      put(w, ", axis: %s", next(w, 2) ? "(1, 0)" : "[-2]");
      break;
    default:
      break;
  }
  put(w, ")");
}

// Several results of one array, some of them reductions, and all of them
// returned.
static void several(writer *w, const char *indent) {
  static const char *const folds[] = {"sum", "mean", "max", "argmin", "any"};
  static const char *const ends[] = {"", ", axis: -1", ", axis: 0",
                                     ", axis: -1, keepdims: true"};
  unsigned count = 2 + next(w, 3);
  int first = w->locals;
  put(w, "%sv%d = ", indent, w->locals++);
  expression(w, 2);
  put(w, "\n");
  for (unsigned i = 1; i < count; i++) {
    int of = first + (int)next(w, (unsigned)(w->locals - first));
    put(w, "%sv%d = ", indent, w->locals);
    unsigned kind = next(w, 6);
    if (kind < 2) {
      put(w, "%s(v%d%s)", folds[next(w, 5)], first, ends[next(w, 4)]);
    } else if (kind == 2) {
      put(w, "cumulative_%s(v%d, axis: %d)", next(w, 2) ? "sum" : "max", first,
          (int)next(w, 2) - 1);
    } else if (kind == 3) {
      put(w, "linalg.vector_norm(v%d%s)", first, ends[next(w, 4)]);
    } else {
      expression(w, 1);
      put(w, " %s v%d", next(w, 2) ? "*" : "-", of);
    }
    put(w, "\n");
    w->locals++;
  }
  put(w, "%s(", indent);
  // The first one may end here, or be a result.
  for (int i = first + (int)next(w, 2); i < w->locals; i++) put(w, "v%d, ", i);
  put(w, "1)\n");
}

// Parts of several arrays, of operands that they may share, and a result of the
// last one's.
static void places(writer *w, const char *indent) {
  unsigned row = next(w, 3), column = next(w, 3);
  unsigned first = next(w, (unsigned)w->locals);
  for (unsigned i = 0; i < 2; i++) {
    put(w, "%sv%u[%u:%d, %u:%d] = (x_float64[1:%d, 1:%d] %s ", indent,
        (first + i) % (unsigned)w->locals, row, w->rows - 2 + (int)row, column,
        w->columns - 2 + (int)column, w->rows - 1, w->columns - 1,
        next(w, 2) ? "*" : "-");
    w->inner = true;
    expression(w, 2);
    w->inner = false;
    put(w, ")\n");
  }
  put(w, "%s(v0, v%d, 1)\n", indent, w->locals - 1);
}

static void statements(writer *w, const char *indent) {
  unsigned count = next(w, 4);
  for (unsigned i = 0; i < count; i++) {
    if (w->locals > 0 && next(w, 3) == 0) {
      assign_part(w, indent);
    } else if (w->locals > 0 && next(w, 4) == 0) {
      put(w, "%sv%u %s= ", indent, next(w, (unsigned)w->locals),
          next(w, 2) ? "+" : "*");
      expression(w, 2);
    } else {
      put(w, "%sv%d = ", indent, w->locals);
      expression(w, 3);
      w->locals++;
    }
    put(w, "\n");
  }
  if (next(w, 4) == 0) {
    several(w, indent);
    return;
  }
  if (w->locals > 0 && next(w, 6) == 0) {
    places(w, indent);
    return;
  }
  put(w, "%s", indent);
  unsigned last = next(w, 4);
  if (last == 0) {
    reduction(w);
  } else if (last == 3) {
    selection(w);
  } else if (last == 1 && w->locals > 0) {
    put(w, "v%u", next(w, (unsigned)w->locals));
  } else {
    expression(w, 4);
  }
  put(w, "\n");
}

static void program(writer *w, int shape, uint64_t seed) {
  *w = (writer){.state = seed,
                .rows = shapes[shape].rows,
                .columns = shapes[shape].columns};
  w->typed = next(w, 2);
  put(w,
      "import linalg\n"
      "fn bent(a) = a * a + 1\n"
      "fn cut(a) {\n  b = a - 2\n  where(b > 1, b, 1)\n}\n"
      "fn less(a, b) = bent(a) - b * 0.5\n"
      "fn stated(a :: `M * N * float64`) = a * 2 + 1\n"
      "fn pick(a, n) {\n"
      "  if n > 2 { bent(a) } else if n == 1 { a - n } else { a * 2 + n }\n"
      "}\n");
  if (next(w, 3) == 0) {
    statements(w, "");
    return;
  }
  put(w, "fn f(v0, v1) {\n");  // arguments may die in it
  w->locals = 2;
  statements(w, "  ");
  put(w, "}\n");
  const char *dtype = dtypes[next(w, DTYPES)];
  if (next(w, 2) == 0)
    put(w, "first = f(x_%s, row_float64)\n", dtypes[next(w, DTYPES)]);
  unsigned add = next(w, 3);
  const char *other = next(w, 2)        ? "x_float64"
                      : dtype[0] == 'b' ? "x_int8"
                                        : "row_float64";
  if (next(w, 2) == 0)  // by plans that are kept
    put(w, "for i in 0..4 { last = f(x_float64 + i, %s) }\n", other);
  put(w, "f(x_float64 + %u, %s)\n", add, other);
}

// --- Running them -----------------------------------------------------------

// With two threads no run is too small to be shared.
// The type of what a program gives and a sum of its bits, of a list those of
// its items. Every NaN counts as one: of two NaNs in one operation the kernels'
// code keeps either's sign and payload.
static const char digest[] =
    "import binary\n"
    "fn digest(v) {\n"
    "  if typeof(v) == typeof(()) { return \"{[digest(x) for x in v]}\" }\n"
    "  x = asarray(v)\n"
    "  if isdtype(x.dtype, \"complex floating\") {\n"
    "    return \"{typeof(v)}: {digest(real(x))}, {digest(imag(x))}\"\n"
    "  }\n"
    "  if isdtype(x.dtype, \"real floating\") { x = where(isnan(x), nan, x) }\n"
    "  \"{typeof(v)}: {binary.crc32(binary.encode(x))}\"\n"
    "}";

static void set_up(host *h, bool plain, int threads, int rows, int columns) {
  tally_options options = host_options(h);
  options.no_reuse = plain;
  options.threads = threads;
  host_open(h, &options);
  h->vm->pool.eager = threads > 1;
  run_ok(h, digest);
  char text[2048];
  for (int i = 0; i < DTYPES; i++) {
    const char *d = dtypes[i];
    const char *back = d[0] == 'u' ? "+ 0" : "- 5";
    // No zeros or negative numbers for unsigned ones; halves for floats.
    snprintf(
        text, sizeof text,
        "n_ = reshape(arange(%d) * 7 %% 23 %s, (%d, %d)) / 2 + 1\n"
        "x_%s = astype(n_, %s)\n"
        "wide_%s = astype(repeat(n_, 2, axis: 1), %s)\n"
        "turned_%s = astype(n_.T, %s) + %s(0)\n"
        "row_%s = astype(n_[0, :], %s)\ncolumn_%s = astype(n_[:, :1], %s)\n"
        "cube_%s = astype(n_[:, none, :] + reshape(arange(3), (3, 1)), %s)",
        rows * columns, back, rows, columns, d, d, d, d, d, d, d, d, d, d, d, d,
        d);
    run_ok(h, text);
  }
}

static uint64_t mix(uint64_t hash, const void *data, size_t nbytes) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < nbytes; i++) {
    hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
  }
  return hash;
}

// What the program gives, as a number; for an error, its report.
static uint64_t outcome(host *h, const char *text, bool *failed) {
  tally_value value, digested;
  const char *s = NULL;
  size_t n = 0;
  *failed = tally_eval(h->vm, text, &value) != TALLY_OK;
  if (*failed) {
    s = tally_error(h->vm)->report;
    return mix(1, s, strlen(s));
  }
  assert_int_equal(tally_call(h->vm, "digest", 1, &value, &digested), TALLY_OK);
  assert_int_equal(tally_to_string(h->vm, digested, &s, &n), TALLY_OK);
  const uint64_t hash = mix(2, s, n);
  tally_release(h->vm, value);
  tally_release(h->vm, digested);
  return hash;
}

static uint64_t seed_of(int shape, int i) {
  return (uint64_t)shape * 100003 + (uint64_t)i * 7919 + 1;
}

static void test_as_one_by_one(void **state) {
  (void)state;
  writer *w = malloc(sizeof *w);
  int good = 0, bad = 0, wrong = 0;
  uint64_t fused_ops = 0;
  assert_non_null(w);
  for (int s = 0; s < SHAPES; s++) {
    static host fused, plain;
    fused = plain = (host){0};
    set_up(&fused, false, 1 + s % 2, shapes[s].rows, shapes[s].columns);
    set_up(&plain, true, 1, shapes[s].rows, shapes[s].columns);
    for (int i = 0; i < PROGRAMS; i++) {
      program(w, s, seed_of(s, i));
      bool a_failed, b_failed;
      uint64_t a = outcome(&fused, w->text, &a_failed);
      uint64_t b = outcome(&plain, w->text, &b_failed);
      good += !b_failed;
      bad += b_failed;
      if (a == b && a_failed == b_failed)
        continue;
      wrong++;
      print_error("%d * %d, program %d: fused %s\n%s\n", shapes[s].rows,
                  shapes[s].columns, i,
                  a_failed ? tally_error(fused.vm)->report : "differs",
                  w->text);
    }
    tally_stats stats;
    tally_get_stats(fused.vm, &stats);
    fused_ops += stats.fused_ops;
    host_close(&fused);
    host_close(&plain);
  }
  free(w);
  assert_int_equal(wrong, 0);
  // The programs are about something: most run, and some fail.
  assert_true(fused_ops > 10000);
  assert_true(good > SHAPES * PROGRAMS / 4 && bad > 0);
}

// --- The instruction sets ---------------------------------------------------

static uint64_t digest_all(void) {
  writer *w = malloc(sizeof *w);
  uint64_t hash = 1;
  assert_non_null(w);
  for (int s = 0; s < SHAPES; s++) {
    static host fused;
    fused = (host){0};
    set_up(&fused, false, 2 - s % 2, shapes[s].rows, shapes[s].columns);
    for (int i = 0; i < PROGRAMS / 2; i++) {
      program(w, s, seed_of(s, i));
      bool failed;
      uint64_t one = outcome(&fused, w->text, &failed);
      hash = mix(hash, &one, sizeof one);
    }
    host_close(&fused);
  }
  free(w);
  return hash;
}

// Runs this program again with another instruction set: a process has one.
static uint64_t digest_by(const char *isa) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setenv("TALLY_ISA", isa, 1);
    dup2(ends[1], STDOUT_FILENO);
    execl(self, self, "--digest", (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  uint64_t hash = 0;
  ssize_t got = read(ends[0], &hash, sizeof hash);
  close(ends[0]);
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  assert_int_equal(got, sizeof hash);
  return hash;
}

static void test_same_for_every_isa(void **state) {
  (void)state;
  uint64_t base = digest_by("base");
  assert_true(digest_by("avx2") == base);
  assert_true(digest_by("avx512") == base);
}

int main(int argc, char **argv) {
  self = argv[0];
  if (argc > 1 && strcmp(argv[1], "--digest") == 0) {
    uint64_t hash = digest_all();
    return write(STDOUT_FILENO, &hash, sizeof hash) != sizeof hash;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_one_by_one),
      cmocka_unit_test(test_same_for_every_isa),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
