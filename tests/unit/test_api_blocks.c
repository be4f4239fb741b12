// A host's block through the language: views, fields, rows, packing, and what
// is written where.

#include "tests/unit/host.h"

typedef struct block {
  int released;
  struct item {
    double x, y;
    int32_t tag;
    float v[3];
  } items[64];
} block;

#define ITEMS "64 * {x: float64, y: float64, tag: int32, v: 3 * float32}"

static void let_go(void *context, void *data) {
  (void)data;
  ((block *)context)->released++;
}

// Item i is (x: i, y: 100 + i, tag: i % 3, v: [i, 0, -i]).
static void fill(block *b) {
  b->released = 0;
  for (int i = 0; i < 64; i++) {
    b->items[i] = (struct item){i, 100 + i, i % 3, {(float)i, 0, (float)-i}};
  }
}

// [name] is the only owner of the block.
static void move_in(host *h, const char *name, block *b, int read_only) {
  tally_value v = {0, 0};
  fill(b);
  tally_buffer buffer = {.data = b->items,
                         .type = ITEMS,
                         .nbytes = sizeof b->items,
                         .read_only = read_only,
                         .release = let_go,
                         .context = b};
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &v), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, name, v), TALLY_OK);
}

static bool is_untouched(const block *b) {
  block fresh;
  fill(&fresh);
  return memcmp(fresh.items, b->items, sizeof fresh.items) == 0;
}

typedef struct reading {
  const char *source, *expected;
} reading;

static void test_views_show_the_hosts_memory(void **state) {
  host *h = *state;
  static const reading readings[] = {
      {"p[::-1].x[:2]", "[63.0, 62.0]"},
      {"p.{tag, x}[4]", "(tag: 1, x: 4.0)"},
      {"p.v[2:4]", "[[2.0, 0.0, -2.0], [3.0, 0.0, -3.0]]"},
      {"p.v.T[2, :3]", "[0.0, -1.0, -2.0]"},
      {"p[p.x > 61].y", "[162.0, 163.0]"},
      {"p[[3, 1]].tag", "[0, 1]"},
      {"reshape(p, (8, 8))[1, 2].x", "10.0"},
      {"reshape(p, (8, 8)).T[1, 2].x", "17.0"},
      {"sum(p.x), max(p.y)", "(2016.0, 163.0)"},
      {"sort_by(p, (\"tag\", \"x\"))[22].x", "1.0"},
      {"unique_counts(p.tag).counts", "[22, 21, 21]"},
      {"lengths(group_by(p.tag, p).values)", "[22, 21, 21]"},
      {"group_by(p.tag, p).values[2, 0].y", "102.0"},
      {"where(p.x > 62, p, p[0])[62:].y", "[100.0, 163.0]"},
      {"concat((p[:1], p[-1:])).x", "[0.0, 63.0]"},
      {"columns(p[1:3]).y", "[101.0, 102.0]"},
      {"p[5] in p, (p == p[5])[4:7]", "(true, [false, true, false])"},
      {"len(ragged(p, [60, 0, 4])[2]), ragged(p.x, [60, 0, 4])[2]",
       "(4, [60.0, 61.0, 62.0, 63.0])"},
      {"sum(ragged(p.x, [60, 0, 4]), axis: 1)", "[1770.0, 0.0, 246.0]"},
      {"ragged(p, [1, 63])[0].tag, ragged(p, [1, 63]).y[0]", "([0], [100.0])"},
      {"relayout(p, packed: true).nbytes", "2048"},
      {"astype(p.x, `?float64`)[:2]", "[0.0, 1.0]"},
      {"p.x.nbytes, pack(p.x).nbytes", "(512, 512)"},
  };
  block b;
  for (int read_only = 0; read_only < 2; read_only++) {
    move_in(h, "p", &b, read_only);
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
      check_value(h, readings[i].source, readings[i].expected);
      assert_true(is_untouched(&b));
    }
    assert_int_equal(b.released, 0);
    run_ok(h, "p = 0");
    assert_int_equal(b.released, 1);
  }
}

// What the language changes is in the block only where nobody else can tell.
static void test_updates_of_what_is_read_only(void **state) {
  host *h = *state;
  static const reading updates[] = {
      {
          "p[3].x = 9",
          "p[3]",
      },
      {"p.x[3] = 9", "p[3]"},
      {"p.x += 6", "p[3]"},
      {"p[3] = p[9]", "p[3]"},
      {"p[2:5] = p[9]", "p[3]"},
      {"p.v[3, 0] = 9\np.x[3] = 9", "p[3]"},
      {"p.v.T[1][3] = 1\np[3].x = 9", "p[3]"},
      {"p[p.x == 3] = p[9]", "p[3]"},
      {"x = p.x\np = none\nx[3] = 9\np = rows((x: x))", "p[3]"},
      {"q = p[3:]\np = none\nq[0].x = 9\np = rows((x: q.x))", "p[0]"},
      {"r = ragged(p, [3, 61])\np = none\nr[1] = r[1][6:]\np = r[1]", "p[0]"},
      {"r = ragged(p.x, [3, 61])\np = none\nr[1, 0] = 9\np = rows((x: r[1]))",
       "p[0]"},
      {"l = (p, 1)\np = none\nl[0][3].x = 9\np = l[0]", "p[3]"},
      {"fn f(a) {\n  a[3].x = 9\n  a\n}\np = f(p)", "p[3]"},
      {"p = sort_by(p, \"x\", descending: true)[51:]", "p[3]"},
  };
  block b;
  for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
    move_in(h, "p", &b, 1);
    tally_status status = tally_eval(h->vm, updates[i].source, NULL);
    if (status != TALLY_OK)
      fail_msg("%s\n%s", updates[i].source, tally_error(h->vm)->report);
    assert_true(is_untouched(&b));
    char x[32];
    strcpy(x, updates[i].expected);
    strcat(x, ".x");
    check_value(h, x, "9.0");
    run_ok(h, "p = 0\nq = 0\nr = 0\nl = 0\nx = 0");
    assert_int_equal(b.released, 1);
  }
}

static void test_updates_write_where_the_items_lie(void **state) {
  host *h = *state;
  static const char *const updates[] = {
      "p[3].x = 9",        "p.x[3] = 9",           "p.x += 6",
      "p[3] = p[9]",       "p[2:5] = p[9]",        "p[p.x == 3] = p[9]",
      "p.x[p.x == 3] = 9", "p.x[1:4] = [9, 9, 9]", "p.x = full(64, 9)",
      "p[[3, 3]] = p[9]",  "p.x[2:5] *= 3",        "p[3].x *= 3",
  };
  block b;
  for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
    move_in(h, "p", &b, 0);
    tally_status status = tally_eval(h->vm, updates[i], NULL);
    if (status != TALLY_OK)
      fail_msg("%s\n%s", updates[i], tally_error(h->vm)->report);
    if (b.items[3].x != 9)
      fail_msg("%s", updates[i]);
    run_ok(h, "p = 0");
    assert_int_equal(b.released, 1);
    // Another name has the value too: the block stays as it was.
    move_in(h, "p", &b, 0);
    run_ok(h, "q = p");
    run_ok(h, updates[i]);
    assert_true(is_untouched(&b));
    check_value(h, "q[3].x", "3.0");
    check_value(h, "p[3].x", "9.0");
    run_ok(h, "p = 0\nq = 0");
    assert_int_equal(b.released, 1);
  }
}

static void test_packing_lets_the_block_go(void **state) {
  host *h = *state;
  block b;
  run_ok(h, "import memory");
  move_in(h, "p", &b, 0);
  run_ok(h, "x = p.x\np = 0");  // shows a fifth of the block: it holds it
  assert_int_equal(b.released, 0);
  check_value(h, "len(memory.retained())", "1");
  check_value(h, "memory.retained()[0].{shows, holds}",
              "(shows: 512, holds: 2048)");
  run_ok(h, "x = pack(x)");
  assert_int_equal(b.released, 1);
  check_value(h, "len(memory.retained())", "0");
  check_value(h, "x[63]", "63.0");
}

static void test_a_refused_reuse_says_why(void **state) {
  host *h = *state;
  block b;
  move_in(h, "p", &b, 1);
  CHECK_ERROR(h, tally_eval(h->vm, "#:inplace\np.x[3] = 9", NULL),
              TALLY_ERR_MEMORY, "read-only");
  assert_true(is_untouched(&b));
  run_ok(h, "p = 0");
  assert_int_equal(b.released, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_views_show_the_hosts_memory),
      HOST_TEST(test_updates_of_what_is_read_only),
      HOST_TEST(test_updates_write_where_the_items_lie),
      HOST_TEST(test_packing_lets_the_block_go),
      HOST_TEST(test_a_refused_reuse_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
