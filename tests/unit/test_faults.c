// No memory, everywhere: each script runs again and again, and the first, the
// second, … allocation fails, until none does. Whatever fails must end in an
// error of kind memory, and give everything back.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "tally.h"

typedef struct host {
  size_t live;
  long left;  // allocations until one fails; that one only
  int failed;
} host;

static void *resize(void *context, void *block, size_t old_size,
                    size_t new_size) {
  host *h = context;
  if (new_size == 0) {
    free(block);
    h->live -= old_size;
    return NULL;
  }
  if (new_size > old_size && h->left-- == 0) {
    h->failed = 1;
    return NULL;
  }
  void *moved = realloc(block, new_size);
  if (moved)
    h->live += new_size - old_size;
  return moved;
}

static int ignore(void *context, const char *text, size_t nbytes) {
  (void)context, (void)text, (void)nbytes;
  return 0;
}

static tally_status run(host *h, const char *source) {
  tally_options options = tally_default_options();
  tally_vm *vm;
  options.resize = resize;
  options.write = ignore;
  options.context = h;
  options.threads = 1;
  tally_status status = tally_open(&options, &vm);
  if (status == TALLY_OK) {
    status = tally_run_source(vm, "fault.tly", source, strlen(source), 0, NULL);
    if (status != TALLY_OK)
      assert_non_null(tally_error(vm)->report);
  } else {
    assert_null(vm);
  }
  tally_close(vm);
  return status;
}

static void fail_each_allocation(const char *source) {
  for (long n = 0;; n++) {
    host h = {.left = n};
    tally_status status = run(&h, source);
    if (h.live != 0)
      fail_msg("allocation %ld fails: %zu bytes left", n, h.live);
    if (!h.failed) {
      assert_int_equal(status, TALLY_OK);
      return;
    }
    // Where memory is only wanted to do better, its lack is no error.
    if (status != TALLY_OK && status != TALLY_ERR_MEMORY) {
      fail_msg("allocation %ld fails: status %d", n, (int)status);
    }
  }
}

static void test_values(void **state) {
  (void)state;
  fail_each_allocation(
      "x = [[1.5, 2], [3, 4]]\n"
      "l = (1, \"a\", x, (p: x, q: \"text\"))\n"
      "l[3].p[0, 1] = 7\n"
      "r = (:)\n"
      "for k in \"abcdefghijklm\" { r[k + k] = x }\n"
      "print(l, r, keys(r), typeof(x))\n");
}

static void test_arrays(void **state) {
  (void)state;
  fail_each_allocation(
      "x = reshape(arange(600), (20, 30)) / 7\n"
      "y = x + (x * 2 - sqrt(x)) + x[:, none, 0][:, 0][:, none]\n"
      "z = y[x > 3]\n"
      "w = x @ x.T\n"
      "x[:, 1:5] += 1\n"
      "x[[1, 2], [3, 4]] = 0\n"
      "print(sum(y), sum(z), sum(w, axis: 0), sort(z)[:3], x[0, :2])\n"
      "print([i * i for i in 0..40 if i % 3 == 0])\n");
}

// What grows or moves down in a dying operand's memory, and what a handler then
// finds of it.
static void test_in_place(void **state) {
  (void)state;
  fail_each_allocation(
      "fn kept(f, x) {\n"
      "  old = copy(x)\n"
      "  try { x = f(x) } catch e {\n"
      "    if e.kind != \"memory\" or x.shape != old.shape or any(x != old) {\n"
      "      error(\"it has changed\", kind: \"value\")\n"
      "    }\n"
      "    error(e)\n"
      "  }\n"
      "  x\n"
      "}\n"
      "a = float64(arange(1300)) % 50\n"
      "b = reshape(a + 0.0, (130, 10))\n"
      "a = append(a, 1.0); b = append(b, ones(10))\n"
      "for i in 0..700 { a = append(a, i) }\n"
      "for f in (x => concat((x, x[:3])), x => x[x > 3], x => roll(x, 3, axis: "
      "0),\n"
      "          x => diff(x, axis: 0), unique, x => argsort(x, axis: 0),\n"
      "          x => partition(x, 5, axis: 0), x => x[[1, 5, 7]],\n"
      "          x => searchsorted([1.0, 5.0], x), x => digitize(x, [1.0, "
      "2.0])) {\n"
      "  print(sum(kept(f, a + 1.0)), sum(kept(f, b * 2.0)))\n"
      "}\n");
}

// A part of an array from other parts of it: the target stays as it was.
static void test_overlap(void **state) {
  (void)state;
  fail_each_allocation(
      "fn smooth(a, old) {\n"
      "  try { a[1:-1] = (a[:-2] + a[2:]) / 2 } catch e {\n"
      "    if any(a != old) { error(\"it has changed\", kind: \"value\") }\n"
      "    error(e)\n"
      "  }\n"
      "  a\n"
      "}\n"
      "x = reshape(float64(arange(6000)), (60, 100))\n"
      "print(sum(smooth(x + 0, x)), sum(smooth(x[0] + 0, x[0])))\n"
      "y = float64(arange(5000))\n"
      "print(sum(smooth(y + 0, y)), sum(float32(y * y) + 1))\n");
}

static void test_functions(void **state) {
  (void)state;
  fail_each_allocation(
      "fn make(n) {\n"
      "  fn even(k) = if k == 0 { n } else { odd(k - 1) }\n"
      "  fn odd(k) = if k == 0 { -n } else { even(k - 1) }\n"
      "  (even, odd, x => x + n)\n"
      "}\n"
      "fs = make([1, 2, 3])\n"
      "print(fs[0](4), fs[1](3), [1, 2, 3] |> fs[2])\n"
      "fn many(a, ...rest, k: 1) = (a, rest, k)\n"
      "print(many(...(1, 2, 3), k: \"named\"))\n"
      "print(fold((1, 2, 3), (+)), scan([1, 2], (+)))\n");
}

static void test_errors(void **state) {
  (void)state;
  fail_each_allocation(
      "fn fails(x) {\n"
      "  y = x + 1\n"
      "  y[9]\n"
      "}\n"
      "for i in 0..3 {\n"
      "  try { fails([1, 2]) } catch e {\n"
      "    if e.kind == \"memory\" { error(e) }\n"
      "    print(e.kind, e.message, e.trace)\n"
      "  }\n"
      "}\n");
}

static void test_strings(void **state) {
  (void)state;
  fail_each_allocation(
      "s = \"\"\n"
      "for i in 0..20 { s += \"{i:03d} {pi:.2f} {[i, i]};\" }\n"
      "print(s, len(s), s[::-1], \"é{s[3:5]}\" in s)\n");
}

static void test_structs(void **state) {
  (void)state;
  fail_each_allocation(
      "p = [(x: 1.0, y: 2), (x: 3.0, y: 4)]\n"
      "p.x += 1\n"
      "p[0] = (x: 5.0, y: 6)\n"
      "q = relayout(p, packed: true)\n"
      "q.x[0] = 2.5\n"
      "c = rows((n: (\"a\", \"b\"), v: p.x))\n"
      "c[1].n = \"z\"\n"
      "print(p == q, p[::-1], q.{y}, c, sort_by(c, (\"v\", \"n\")), "
      "typeof(c))\n"
      "print(same(p, q), columns(p), concat((p, q)), append(p, (x: 1.0, y: "
      "1)))\n"
      "z = zeros(`3 * {a: 2 * float64, b: {u: int8}}`)\n"
      "z[1].b.u = 3\n"
      "print(z, z[1])\n");
}

static void test_missing(void **state) {
  (void)state;
  fail_each_allocation(
      "o = [3, none, 1]\n"
      "o[0] = none\n"
      "o[[1, 2]] = [4, none]\n"
      "a = [true, false, none]\n"
      "print(o + 1, o // [1, none, 2], o > 2, a & a, a | [true, none, none])\n"
      "print(where(a, o, 9), sort(o), sum(o, skip_missing: true), coalesce(o, "
      "0))\n"
      "m = zeros(`2 * 3 * ?float64`)\n"
      "m[0, 1] = 2.0\n"
      "print(sum(m, axis: 0), mean(m, axis: 1, skip_missing: true), m.T)\n"
      "print(drop_missing(o), is_missing(o), append(o, none), same(o, o))\n");
}

static void test_ragged(void **state) {
  (void)state;
  fail_each_allocation(
      "r = [[3, 1, 2], [], [5, 4]]\n"
      "r[0, 0] = 9\n"
      "r[1] = append(r[1], 7)\n"
      "r[r > 4] = 0\n"
      "print(r, r + [1, 2, 3], r * r, r[:, :1], r[[2, 0]], r[r > 1], r[1:])\n"
      "print(sum(r, axis: 1), std(r, axis: 1), sort(r), cumulative_sum(r))\n"
      "n = [[[1], [2, 3]], [[4]], []]\n"
      "print(n, n + [1, 2, 3], sum(n, axis: -1), typeof(n))\n"
      "print(cartesian(r, r), combinations(r), zip_ragged((x: r, y: r)).x)\n"
      "print(group_by([\"b\", \"a\"], [1, 2]), pad_rows(r, 2))\n"
      "print(concat((r, [[7]])), concat((r, r), axis: 1), firsts(r), same(r, "
      "r))\n"
      "e = [(name: \"a\", path: [1.0, 2.0]), (name: \"b\", path: [3.0])]\n"
      "e.path += 1\n"
      "print(e, e[0], [[1, none], [2]] + 1)\n");
}

// Forms within forms: opened, worked on and closed again.
static void test_forms(void **state) {
  (void)state;
  fail_each_allocation(
      "g = ragged(arange(10), [[1, 2], [3, 4]])\n"
      "print(g + [1, 2], g == g, g.T, g[:, 0], where(g > 2, g, [1, 2]))\n"
      "print(concat((g, g), axis: 1), stack((g, g), axis: 1), sum(g, axis: 0))\n"
      "g[0, 0] = [7, 8, 9]\n"
      "g[g > 6] = 1\n"
      "v = [[3, 1, none], [2], []]\n"
      "print(sort(v), argsort(v), mean(v, skip_missing: true), pad(v, 2, 0))\n"
      "q = [[1, none, 3], [none, 5, 6]]\n"
      "print(max(q, axis: 0, skip_missing: true), q.T, q[q > 1])\n"
      "c = categorical([\"b\", none, \"a\"])\n"
      "c[0] = \"a\"\n"
      "p = pointers([[1, 2], [3]], [1, 0, 1])\n"
      "p[0] = [5]\n"
      "b = ragged(bytes([\"ab\", \"c\"]), [1, 1])\n"
      "s = rows(([1, 2], [\"a\", \"b\"]))\n"
      "print(c == \"a\", p + 1, zip_ragged((x: b, y: [[1], [2]])))\n"
      "print(append(s, (3, \"c\")), ragged(s, [1, 1])[:, 0])\n");
}

// A function of the library that met no memory while it was compiled is
// compiled at its next call. What the script catches is no error of the run.
static void test_late_functions(void **state) {
  (void)state;
  static const char source[] =
      "import stats\n"
      "fn f() = stats.variance([1.0, 3.0])\n"
      "assert((try { f() } catch { f() }) == 2)\n";
  for (long at = 0;; at++) {
    host h = {.left = at};
    const tally_status status = run(&h, source);
    assert_true(status == TALLY_OK || status == TALLY_ERR_MEMORY);
    assert_int_equal(h.live, 0);
    if (!h.failed)
      return;
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),    cmocka_unit_test(test_arrays),
      cmocka_unit_test(test_in_place),  cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_functions), cmocka_unit_test(test_errors),
      cmocka_unit_test(test_strings),   cmocka_unit_test(test_structs),
      cmocka_unit_test(test_missing),   cmocka_unit_test(test_ragged),
      cmocka_unit_test(test_forms),     cmocka_unit_test(test_late_functions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
