// tally.h: arrays over the host's memory, and the memory of Tally's arrays.

#include "tests/unit/host.h"

typedef struct owner {
  int count;         // how often release ran
  const void *data;  // what it was given
} owner;

static void let_go(void *context, void *data) {
  owner *o = context;
  o->count++;
  o->data = data;
}

#define BUFFER(memory, datashape, who)      \
  ((tally_buffer){.data = (memory),         \
                  .type = (datashape),      \
                  .nbytes = sizeof(memory), \
                  .release = let_go,        \
                  .context = (who)})

static tally_value from_buffer(host *h, const tally_buffer *buffer) {
  tally_value v = {0, 0};
  if (tally_from_buffer(h->vm, buffer, &v) != TALLY_OK) {
    fail_msg("%s", tally_error(h->vm)->report);
  }
  return v;
}

// Makes [name] the only owner of an array over the buffer.
static void move_in(host *h, const char *name, const tally_buffer *buffer) {
  tally_value v = from_buffer(h, buffer);
  assert_int_equal(tally_move_global(h->vm, name, v), TALLY_OK);
}

// --- The release hook -------------------------------------------------------

static void test_released_with_the_handle(void **state) {
  host *h = *state;
  double data[6] = {1, 2, 3, 4, 5, 6};
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(data, "2 * 3 * float64", &o);
  tally_value v = from_buffer(h, &buffer);
  assert_string_equal(tally_type(h->vm, v), "2 * 3 * float64");
  assert_int_equal(o.count, 0);
  tally_release(h->vm, v);
  assert_int_equal(o.count, 1);
  assert_ptr_equal(o.data, data);
}

static void test_released_at_the_last_use(void **state) {
  host *h = *state;
  double data[4] = {1, 2, 3, 4};
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(data, "4 * float64", &o);
  move_in(h, "x", &buffer);
  run_ok(h, "y = x[1:3]\nx = 0");
  assert_int_equal(o.count, 0);  // a view holds it
  check_value(h, "y", "[2.0, 3.0]");
  run_ok(h, "l = (y, 1)\ny = 0");
  assert_int_equal(o.count, 0);
  run_ok(h, "l = 0");
  assert_int_equal(o.count, 1);
}

static void test_released_by_close(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  int32_t data[3] = {1, 2, 3};
  owner held = {0, NULL}, kept = {0, NULL};
  host_open(&h, &options);
  tally_buffer buffer = BUFFER(data, "3 * int32", &held);
  from_buffer(&h, &buffer);
  buffer.context = &kept;
  move_in(&h, "x", &buffer);
  run_ok(&h, "f = () => x\nl = (x, x, x[::-1])");
  assert_int_equal(held.count + kept.count, 0);
  assert_int_equal(tally_close(h.vm), 1);
  assert_int_equal(held.count, 1);
  assert_int_equal(kept.count, 1);
  assert_int_equal(h.blocks, 0);
}

static void test_released_when_an_error_unwinds(void **state) {
  host *h = *state;
  double data[4] = {1, 2, 3, 4};
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(data, "4 * float64", &o);
  move_in(h, "x", &buffer);
  run_ok(h, "fn f() {\n  global x\n  y = x\n  x = none\n  y[9]\n}");
  CHECK_ERROR(h, tally_eval(h->vm, "f()", NULL), TALLY_ERR_INDEX, "9");
  assert_int_equal(o.count, 1);
}

static void test_without_a_hook(void **state) {
  host *h = *state;
  uint8_t data[3] = {1, 2, 255};
  tally_buffer buffer = {.data = data, .type = "3 * uint8", .nbytes = 3};
  move_in(h, "x", &buffer);
  check_value(h, "sum(x)", "258");
}

static void test_not_released_on_failure(void **state) {
  host *h = *state;
  double data[6] = {0};
  owner o = {0, NULL};
  static const struct {
    const char *type;
    tally_status status;
  } rows[] = {
      {"7 * float64", TALLY_ERR_SHAPE},
      {"4611686018427387904 * 4 * float64", TALLY_ERR_SHAPE},
      {"9223372036854775807 * float64", TALLY_ERR_SHAPE},
      {"var * float64", TALLY_ERR_TYPE},
      {"N * float64", TALLY_ERR_TYPE},
      {"6 * string", TALLY_ERR_TYPE},
      {"float64", TALLY_ERR_TYPE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tally_buffer buffer = BUFFER(data, rows[i].type, &o);
    tally_value out = {1, 2};
    tally_status status = tally_from_buffer(h->vm, &buffer, &out);
    if (status != rows[i].status) {
      fail_msg("%s: status %d", rows[i].type, (int)status);
    }
    assert_true(out.handle == 1 && out.check == 2);
  }
  tally_value out;
  static const char *const no_types[] = {
      "", "float65", "3 *", "-1 * int8", "3 * 4", "3 * \xff", "((("};
  for (size_t i = 0; i < sizeof no_types / sizeof *no_types; i++) {
    tally_buffer buffer = BUFFER(data, no_types[i], &o);
    if (tally_from_buffer(h->vm, &buffer, &out) == TALLY_OK) {
      fail_msg("%s is a type", no_types[i]);
    }
  }
  assert_int_equal(o.count, 0);
}

// --- Sizes and strides ------------------------------------------------------

static void test_strides_stay_inside_the_block(void **state) {
  host *h = *state;
  int32_t data[12];
  owner o = {0, NULL};
  tally_value out;
  for (int i = 0; i < 12; i++) data[i] = i;
  tally_buffer buffer = BUFFER(data, "2 * 3 * int32", &o);
  static const int64_t good[][2] = {{12, 4}, {4, 8}, {24, 8}, {0, 0}, {32, 4}};
  static const int64_t wrong[][2] = {
      {-12, 4},       {12, -4},       {40, 4},        {4, 22},
      {INT64_MAX, 4}, {INT64_MIN, 4}, {4, INT64_MIN}, {INT64_MAX, INT64_MAX}};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    buffer.strides = good[i];
    tally_release(h->vm, from_buffer(h, &buffer));
  }
  assert_int_equal(o.count, 5);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    buffer.strides = wrong[i];
    CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &out), TALLY_ERR_SHAPE,
                "48 bytes");
  }
  assert_int_equal(o.count, 5);
}

static void test_strides_say_where_items_lie(void **state) {
  host *h = *state;
  int16_t pixels[2][3][4];  // rows, columns, channels
  for (int i = 0; i < 24; i++) (&pixels[0][0][0])[i] = (int16_t)i;
  static const int64_t strides[] = {2, 24, 8};  // channels first
  tally_buffer buffer = {.data = pixels,
                         .type = "4 * 2 * 3 * int16",
                         .strides = strides,
                         .nbytes = sizeof pixels};
  move_in(h, "x", &buffer);
  check_value(h, "x[1]", "[[1, 5, 9], [13, 17, 21]]");
  check_value(h, "sum(x, axis: (1, 2))", "[60, 66, 72, 78]");
  check_value(h, "(x + x[::-1])[0, 0]", "[3, 11, 19]");
}

static void test_unaligned_memory_is_refused(void **state) {
  host *h = *state;
  static double block[5];
  owner o = {0, NULL};
  tally_value out;
  char *bytes = (char *)block;
  static const struct {
    const char *type;
    int good, wrong;
  } rows[] = {{"4 * float64", 8, 4},   {"4 * float32", 4, 2},
              {"4 * int16", 2, 1},     {"2 * complex128", 8, 4},
              {"4 * complex64", 4, 2}, {"4 * uint64", 8, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tally_buffer buffer = {
        .type = rows[i].type, .nbytes = 32, .release = let_go, .context = &o};
    buffer.data = bytes + rows[i].wrong;
    CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &out), TALLY_ERR_VALUE,
                "alignment");
    buffer.data = bytes + rows[i].good;
    move_in(h, "x", &buffer);
    check_value(h, "sum(x) == 0", "true");
  }
  tally_buffer bytewise = {
      .data = bytes + 1, .type = "31 * uint8", .nbytes = 31};
  move_in(h, "x", &bytewise);
  static const int64_t odd[] = {9};
  tally_buffer buffer = {.data = block,
                         .type = "4 * float64",
                         .strides = odd,
                         .nbytes = sizeof block};
  CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &out), TALLY_ERR_VALUE,
              "alignment");
  assert_int_equal(o.count, (int)(sizeof rows / sizeof *rows));
}

static void test_arrays_of_no_items(void **state) {
  host *h = *state;
  owner o = {0, NULL};
  tally_buffer buffer = {.data = NULL,
                         .type = "3 * 0 * float64",
                         .release = let_go,
                         .context = &o};
  move_in(h, "x", &buffer);
  check_value(h, "(x.shape, sum(x))", "((3, 0), 0.0)");
  run_ok(h, "x = 0");
  assert_int_equal(o.count, 1);
}

// --- Read-only memory -------------------------------------------------------

static void test_read_only_memory_is_never_written(void **state) {
  host *h = *state;
  static const double data[4] = {4, 3, 2, 1};  // const: a write would crash
  tally_buffer buffer = {.data = (void *)(uintptr_t)data,
                         .type = "4 * float64",
                         .read_only = 1,
                         .nbytes = sizeof data};
  static const char *const updates[] = {
      "x[0] = 9",
      "x[1:3] = 0",
      "x[x > 2] += 1",
      "x = x * 2 + 1",
      "x = sort(x)",
      "x = reverse(x)\nx[0] = 5",
      "l = (x, 1)\nx = none\nl[0][0] = 7",
      "fn f(a) {\n  a[0] = 1\n  a\n}\nx = f(x)",
      "v = x[::2]\nx = none\nv[0] = 3",
      "x[:] = x + x",
      "x[1:-1] = x[:-2] + x[2:]",
      "x[[1, 1]] += 1",
      "x = append(x, 1.0)\nx[0] = 3",
      "x = cumulative_sum(x)",
      "x = x[x > 2]",
      "m = reshape(x, (2, 2)).T\nx = none\nm[0, 0] = 9",
      "r = ragged(x, [1, 3])\nx = none\nr[0, 0] = 9\nr[1] = append(r[1], 3)",
      "r = sort(ragged(x, [1, 3]))",
      "o = astype(x, `?float64`)\nx = none\no[0] = none\no[1] = 5",
      "import random\nx = random.shuffle(x)",
      "x[0], x[1] = x[1], x[0]",
  };
  for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
    move_in(h, "x", &buffer);
    run_ok(h, updates[i]);
    assert_true(data[0] == 4 && data[1] == 3 && data[2] == 2 && data[3] == 1);
  }
}

static void test_values_of_the_host_do_not_change(void **state) {
  host *h = *state;
  double data[3] = {1, 2, 3};
  tally_buffer buffer = {
      .data = data, .type = "3 * float64", .nbytes = sizeof data};
  tally_value v = from_buffer(h, &buffer);
  assert_int_equal(tally_set_global(h->vm, "x", v), TALLY_OK);
  run_ok(h, "x[0] = 9\nx *= 2");
  assert_true(data[0] == 1);  // the host's handle still means [1, 2, 3]
  tally_release(h->vm, v);
}

// --- Out --------------------------------------------------------------------

static void test_arrays_come_out_as_they_lie(void **state) {
  host *h = *state;
  tally_array a;
  tally_value v = eval(h, "reshape(arange(24), (2, 3, 4))[:, ::-1, 1]");
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_OK);
  assert_string_equal(a.dtype, "int64");
  assert_int_equal(a.ndim, 2);
  assert_int_equal(a.size, 6);
  for (int64_t i = 0; i < 2; i++) {
    for (int64_t j = 0; j < 3; j++) {
      int64_t item;
      memcpy(&item, (char *)a.data + i * a.strides[0] + j * a.strides[1], 8);
      assert_int_equal(item, 12 * i + 4 * (2 - j) + 1);
    }
  }
  tally_release(h->vm, v);
}

// As tally.h says.
static void test_rows_can_be_asked_for(void **state) {
  host *h = *state;
  tally_array a;
  run_ok(h, "x = reshape(arange(600), (20, 30))\ny = x.T * 2");
  tally_value v = eval(h, "y"), rows = eval(h, "reshape(flatten(y), y.shape)");
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_OK);
  assert_int_equal(a.strides[0], 8);
  assert_int_equal(a.strides[1], 30 * 8);
  assert_int_equal(tally_to_buffer(h->vm, rows, &a), TALLY_OK);
  assert_int_equal(a.strides[0], 20 * 8);
  assert_int_equal(a.strides[1], 8);
  assert_int_equal(((const int64_t *)a.data)[1], 60);
  tally_release(h->vm, v);
  tally_release(h->vm, rows);
}

static void test_ranges_and_scalars_are_no_arrays(void **state) {
  host *h = *state;
  tally_array a;
  static const char *const sources[] = {"3",      "2i",   "\"text\"",
                                        "(1, 2)", "none", "sum"};
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    tally_value v = eval(h, sources[i]);
    CHECK_ERROR(h, tally_to_buffer(h->vm, v, &a), TALLY_ERR_TYPE, "an array");
    tally_release(h->vm, v);
  }
}

static void test_memory_goes_in_and_comes_out(void **state) {
  host *h = *state;
  float data[4] = {1, 2, 3, 4};
  tally_array a;
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(data, "2 * 2 * float32", &o);
  tally_value v = from_buffer(h, &buffer);
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_OK);
  assert_ptr_equal(a.data, data);  // the same memory, nothing copied
  tally_release(h->vm, v);
  assert_int_equal(o.count, 1);
}

// --- Accounting -------------------------------------------------------------

static void test_the_hosts_memory_is_counted(void **state) {
  host *h = *state;
  static double data[1000];
  tally_stats before, during, after;
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(data, "10 * float64", &o);
  tally_get_stats(h->vm, &before);
  tally_value v = from_buffer(h, &buffer);
  tally_get_stats(h->vm, &during);
  assert_int_equal(during.ext_bytes - before.ext_bytes, sizeof data);
  tally_release(h->vm, v);
  tally_get_stats(h->vm, &after);
  assert_int_equal(after.ext_bytes, before.ext_bytes);
}

static void test_the_hosts_memory_counts_for_the_limit(void **state) {
  (void)state;
  host h = {.vm = NULL};
  tally_options options = host_options(&h);
  options.memory_limit = 16u << 20;
  host_open(&h, &options);
  owner o = {0, NULL};
  static double data[1572864];
  tally_buffer buffer = {.data = data,
                         .type = "1572864 * float64",
                         .nbytes = sizeof data,
                         .release = let_go,
                         .context = &o};
  tally_value first = from_buffer(&h, &buffer), second;
  CHECK_ERROR(&h, tally_from_buffer(h.vm, &buffer, &second), TALLY_ERR_MEMORY,
              "limit");
  assert_int_equal(o.count, 0);
  tally_release(h.vm, first);
  assert_int_equal(o.count, 1);
  tally_release(h.vm, from_buffer(&h, &buffer));
  assert_int_equal(o.count, 2);
  host_close(&h);
}

typedef struct particle {
  double x, y;
  int32_t tag;
  struct {
    float v[3];
    uint8_t on;
  } state;
} particle;

#define PARTICLE                                                          \
  "3 * {x: float64, y: float64, tag: int32, state: {v: 3 * float32, on: " \
  "bool}}"

static void test_c_structs_are_shared(void **state) {
  host *h = *state;
  particle p[3] = {{.x = 1, .y = 2, .tag = 7},
                   {.x = 3, .y = 4, .tag = 8},
                   {.x = 5, .y = 6, .tag = 9, .state = {{0, 0, 2.5f}, 1}}};
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(p, PARTICLE, &o);
  assert_int_equal(sizeof(particle), 40);
  move_in(h, "p", &buffer);
  check_value(h, "p.nbytes", "120");
  check_value(h, "p.x + p.tag", "[8.0, 11.0, 14.0]");
  check_value(h, "p.state.v[2]", "[0.0, 0.0, 2.5]");
  // Nobody else has it: written where it lies.
  run_ok(h, "p.x *= 2.0\np[1].state.v[0] = 1.5\np[0].tag = 70");
  assert_true(p[0].x == 2 && p[1].x == 6 && p[2].x == 10);
  assert_true(p[1].state.v[0] == 1.5f);
  assert_int_equal(p[0].tag, 70);
  // Another name has it too: the host's memory stays.
  run_ok(h, "q = p\nq.y = 0.0\nx = p.x");
  assert_true(p[1].y == 4);
  assert_int_equal(o.count, 0);
  run_ok(h, "p = 0\nx = 0");
  assert_int_equal(o.count, 1);
}

static void test_structs_that_do_not_fit(void **state) {
  host *h = *state;
  particle p[3] = {{0}};
  owner o = {0, NULL};
  tally_value v;
  tally_buffer buffer = BUFFER(p, "4 * {a: 40 * int8}", &o);
  CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &v), TALLY_ERR_SHAPE,
              "does not lie");
  buffer.type = "3 * {a: string}";
  CHECK_ERROR(h, tally_from_buffer(h->vm, &buffer, &v), TALLY_ERR_TYPE,
              "fixed size");
  buffer.type = "3 * {x: float64}";
  buffer.strides = (const int64_t[]){sizeof(particle)};
  v = from_buffer(h, &buffer);
  assert_string_equal(tally_type(h->vm, v), "3 * {x: float64}");
  tally_release(h->vm, v);
  assert_int_equal(o.count, 1);
}

// Items of 16 bits are as the host's compiler stores them, if it knows any.
static void test_halves_are_read_where_they_lie(void **state) {
  host *h = *state;
  static uint16_t halves[] = {0x3c00, 0xc100, 0x7c00, 0x0001};
  owner o = {0, NULL};
  tally_buffer buffer = BUFFER(halves, "4 * float16", &o);
  move_in(h, "x", &buffer);
  check_value(h, "(x, x[1:3] * 2)", "([1.0, -2.5, inf, 6e-08], [-5.0, inf])");
  check_value(h, "typeof(x)", "4 * float16");
  run_ok(h, "x = 0");
  assert_int_equal(o.count, 1);
}

// --- Pointers ---------------------------------------------------------------

static void test_pointers_go_in_and_come_out(void **state) {
  host *h = *state;
  static double rows[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  const tally_buffer buffer = {.size = sizeof buffer,
                               .data = rows,
                               .type = "3 * 2 * float64",
                               .nbytes = sizeof rows};
  const void *const to[] = {rows[2], rows[0], rows[2], rows[1]};
  const void *const wrong[] = {rows[2], &rows[0][1]};
  const int64_t shape[] = {2, 2};
  tally_value target, p, one, back;
  tally_array places;
  assert_int_equal(tally_from_buffer(h->vm, &buffer, &target), TALLY_OK);
  assert_int_equal(tally_from_pointers(h->vm, target, 2, shape, to, &p),
                   TALLY_OK);
  assert_int_equal(tally_from_pointers(h->vm, target, 0, NULL, to + 3, &one),
                   TALLY_OK);
  assert_int_equal(tally_set_global(h->vm, "p", p), TALLY_OK);
  assert_int_equal(tally_set_global(h->vm, "one", one), TALLY_OK);
  check_value(h, "typeof(p)", "2 * 2 * pointer[2 * float64]");
  check_value(h, "p", "[[[5.0, 6.0], [1.0, 2.0]], [[5.0, 6.0], [3.0, 4.0]]]");
  check_value(h, "(one, typeof(one))", "([3.0, 4.0], `pointer[2 * float64]`)");
  CHECK_ERROR(h, tally_from_pointers(h->vm, target, 1, shape, wrong, &back),
              TALLY_ERR_INDEX, "no item of its target");
  CHECK_ERROR(h, tally_from_pointers(h->vm, p, 1, shape, to, &back),
              TALLY_ERR_TYPE, "point into an array");
  const int64_t none[] = {0}, negative[] = {-1};
  CHECK_ERROR(h, tally_from_pointers(h->vm, target, 1, none, NULL, &back),
              TALLY_ERR_HOST, "the addresses");
  CHECK_ERROR(h, tally_from_pointers(h->vm, target, 1, negative, to, &back),
              TALLY_ERR_SHAPE, "a length of -1");
  CHECK_ERROR(h, tally_to_pointers(h->vm, target, &places, &back),
              TALLY_ERR_TYPE, "pointers");
  assert_int_equal(tally_to_pointers(h->vm, p, &places, &back), TALLY_OK);
  assert_int_equal(places.ndim, 2);
  assert_int_equal(((int64_t *)places.data)[3], 1);
  tally_array items;
  assert_int_equal(tally_to_buffer(h->vm, back, &items), TALLY_OK);
  assert_ptr_equal(items.data, rows);
  tally_release(h->vm, back);
  assert_int_equal(tally_to_pointers(h->vm, one, &places, &back), TALLY_OK);
  assert_int_equal(places.ndim, 0);
  assert_int_equal(*(int64_t *)places.data, 1);
  tally_release(h->vm, back);
  tally_release(h->vm, one);
  // A single one to a number or bool is read as that.
  int64_t i;
  double d, im;
  int truth;
  one = eval(h, "pointers([5, 7], 1)");
  assert_int_equal(tally_to_int(h->vm, one, &i), TALLY_OK);
  assert_int_equal(tally_to_float(h->vm, one, &d), TALLY_OK);
  assert_true(i == 7 && d == 7);
  assert_int_equal(tally_to_complex(h->vm, one, &d, &im), TALLY_OK);
  assert_true(d == 7 && im == 0);
  CHECK_ERROR(h, tally_to_bool(h->vm, one, &truth), TALLY_ERR_TYPE, "a bool");
  tally_release(h->vm, one);
  one = eval(h, "pointers([false, true], 1)");
  assert_int_equal(tally_to_bool(h->vm, one, &truth), TALLY_OK);
  assert_int_equal(truth, 1);
  tally_release(h->vm, one);
  CHECK_ERROR(h, tally_to_float(h->vm, p, &d), TALLY_ERR_TYPE, "pointer");
  tally_release(h->vm, p);
  tally_release(h->vm, target);
  run_ok(h, "p = none\none = none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_released_with_the_handle),
      HOST_TEST(test_released_at_the_last_use),
      PLAIN_TEST(test_released_by_close),
      HOST_TEST(test_released_when_an_error_unwinds),
      HOST_TEST(test_without_a_hook),
      HOST_TEST(test_not_released_on_failure),
      HOST_TEST(test_strides_stay_inside_the_block),
      HOST_TEST(test_strides_say_where_items_lie),
      HOST_TEST(test_unaligned_memory_is_refused),
      HOST_TEST(test_arrays_of_no_items),
      HOST_TEST(test_read_only_memory_is_never_written),
      HOST_TEST(test_values_of_the_host_do_not_change),
      HOST_TEST(test_arrays_come_out_as_they_lie),
      HOST_TEST(test_rows_can_be_asked_for),
      HOST_TEST(test_ranges_and_scalars_are_no_arrays),
      HOST_TEST(test_memory_goes_in_and_comes_out),
      HOST_TEST(test_the_hosts_memory_is_counted),
      HOST_TEST(test_c_structs_are_shared),
      HOST_TEST(test_halves_are_read_where_they_lie),
      HOST_TEST(test_pointers_go_in_and_come_out),
      HOST_TEST(test_structs_that_do_not_fit),
      PLAIN_TEST(test_the_hosts_memory_counts_for_the_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
