// tally.h: Arrow columns within columns whose parts do not fit each other. Each
// is refused by the name and format of the part that is wrong; both structs are
// released, and nothing is left.

#include "tests/unit/arrow.h"
#include "tests/unit/host.h"

static int released;
static void release_schema(struct ArrowSchema *s) {
  s->release = NULL;
  released++;
}
static void release_array(struct ArrowArray *a) {
  a->release = NULL;
  released++;
}

// A column with one child, or a dictionary in the child's place: valid as
// [open] makes it, and then changed.
typedef struct column {
  struct ArrowSchema s, inner_s, *schemas[1];
  struct ArrowArray a, inner_a, *arrays[1];
  const void *buffers[3], *inner_buffers[3];
} column;

static const int32_t numbers[] = {1, 2, 3, 4, 5, 6}, offsets[] = {0, 2, 6},
                     back[] = {0, 3, 2};
static const uint8_t holes[] = {0x01};

// Two items of the format over six int32.
static void open_column(column *c, const char *format) {
  *c = (column){.buffers = {NULL, offsets},
                .inner_buffers = {NULL, numbers},
                .s = {.format = format, .name = "c", .n_children = 1},
                .inner_s = {.format = "i", .name = "part"},
                .a = {.length = 2, .n_buffers = 2, .n_children = 1},
                .inner_a = {.length = 6, .n_buffers = 2}};
  if (format[1] != 'l')
    c->a.n_buffers = 1;
  c->s.release = release_schema;
  c->a.release = release_array;
  c->schemas[0] = &c->inner_s;
  c->arrays[0] = &c->inner_a;
  c->s.children = c->schemas;
  c->a.children = c->arrays;
  c->a.buffers = c->buffers;
  c->inner_a.buffers = c->inner_buffers;
}

// The same with codes among the child's values.
static void open_codes(column *c) {
  open_column(c, "i");
  c->s.n_children = c->a.n_children = 0;
  c->a.n_buffers = 2;
  c->s.dictionary = &c->inner_s;
  c->a.dictionary = &c->inner_a;
}

static tally_status take(host *h, column *c, tally_value *out) {
  released = 0;
  tally_status status = tally_from_arrow(h->vm, &c->s, &c->a, out);
  if (status != TALLY_OK)
    assert_int_equal(released, 2);
  return status;
}

static void test_parts_fit(void **state) {
  host *h = *state;
  static const char *const valid[][2] = {
      {"+l", "[[1, 2], [3, 4, 5, 6]]"},
      {"+w:3", "[[1, 2, 3], [4, 5, 6]]"},
      {"+s", "(part: [1, 2])"},
  };
  column c;
  tally_value v;
  for (int i = 0; i < 3; i++) {
    open_column(&c, valid[i][0]);
    assert_int_equal(take(h, &c, &v), TALLY_OK);
    assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
    check_value(h, "x", valid[i][1]);
  }
  open_codes(&c);
  assert_int_equal(take(h, &c, &v), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x + 0", "[1, 3]");
}

// Opens a column, changes it and asks what the refusal says.
#define REFUSED(format, change, status, part) \
  open_column(&c, format);                    \
  change;                                     \
  CHECK_ERROR(h, take(h, &c, &v), status, part)
#define TYPE TALLY_ERR_TYPE

static void test_parts_that_do_not_fit(void **state) {
  host *h = *state;
  column c;
  tally_value v;
  REFUSED("+s", c.a.children = NULL, TYPE,
          "\"c\" of format +s is not laid out");
  REFUSED("+s", c.s.children = NULL, TYPE, "is not laid out");
  REFUSED("+s", c.arrays[0] = NULL, TYPE, "is not laid out");
  REFUSED("+s", c.schemas[0] = NULL, TYPE, "is not laid out");
  REFUSED("+s", c.inner_s.format = NULL, TYPE, "is not laid out");
  REFUSED("+s", c.a.buffers = NULL, TYPE, "is not laid out");
  REFUSED("+s", c.s.n_children = 2, TYPE, "is not laid out");
  REFUSED("+s", c.a.length = 7, TYPE,
          "\"part\" of format i is shorter than its struct");
  REFUSED("+s", c.inner_s.name = "\xff", TALLY_ERR_VALUE, "UTF-8");
  REFUSED("+s", c.inner_s.format = "?", TYPE, "\"part\" of format ?");
  REFUSED("+s", (c.buffers[0] = holes, c.a.null_count = -1), TALLY_ERR_VALUE,
          "\"c\" has 1 missing values");
  REFUSED("+s", (c.buffers[0] = holes, c.a.null_count = 1, c.s.name = NULL),
          TALLY_ERR_VALUE, "\"\" has 1 missing values");
  REFUSED("+w:2", c.inner_s.format = "u", TYPE,
          "\"part\" of format u makes no array of two dimensions");
  REFUSED("+w:4", , TYPE, "has fewer items than its rows need");
  REFUSED("+w:9223372036854775807", , TYPE, "fewer items than its rows");
  REFUSED("+w:-1", , TYPE, "is no format");
  REFUSED("+w:2", (c.buffers[0] = holes, c.a.null_count = 1), TALLY_ERR_VALUE,
          "\"c\" has 1 missing");
  REFUSED("+w:2", (c.inner_buffers[0] = holes, c.inner_a.null_count = 5),
          TALLY_ERR_VALUE, "\"part\" has 5 missing");
  REFUSED("+w:2", c.inner_a.n_buffers = 1, TYPE, "\"part\" of format i is not");
  REFUSED("+l", c.inner_a.length = 5, TYPE,
          "has fewer items than its lists need");
  REFUSED("+l", c.buffers[1] = back, TYPE, "has offsets that go back");
  REFUSED("+l", c.buffers[1] = NULL, TYPE, "has no offsets, or misaligned");
  REFUSED("+l", c.buffers[1] = (const char *)offsets + 1, TYPE, "misaligned");
  REFUSED("w:4611686018427387904",
          (c.a.n_buffers = 2, c.a.n_children = c.s.n_children = 0), TYPE,
          "\"c\" of format w:4611686018427387904 is not laid out");
  REFUSED("+l", (c.buffers[0] = holes, c.a.null_count = 1), TALLY_ERR_VALUE,
          "missing");
  REFUSED("+l", c.inner_s.format = "+x", TYPE, "\"part\" of format +x");
  REFUSED("+l", (c.inner_s.format = "+s", c.inner_a.n_buffers = 1), TYPE,
          "\"part\" of format +s is no format for items of a list");
}

static void test_codes_that_do_not_fit(void **state) {
  host *h = *state;
  column c;
  tally_value v;
#define CODES(change, status, part) \
  open_codes(&c);                   \
  change;                           \
  CHECK_ERROR(h, take(h, &c, &v), status, part)
  CODES(c.s.dictionary = NULL, TYPE, "as one with a dictionary is");
  CODES(c.a.dictionary = NULL, TYPE, "as one with a dictionary is");
  CODES(c.inner_s.format = NULL, TYPE, "as one with a dictionary is");
  CODES(c.s.format = "u", TYPE, "as one with a dictionary is");
  CODES(c.s.format = "g", TYPE, "as one with a dictionary is");
  CODES(c.a.n_buffers = 1, TYPE, "\"c\" of format i is not laid out");
  CODES(c.inner_a.length = 2, TYPE, "a code that is outside its dictionary");
  CODES((c.inner_buffers[0] = holes, c.inner_a.null_count = 5), TYPE,
        "\"part\" of format i is no dictionary here");
  CODES(c.inner_a.n_buffers = 1, TYPE, "\"part\" of format i is not laid out");
  CODES(c.inner_s.format = "?", TYPE, "\"part\" of format ?");
}

// A list of itself, and dictionaries of dictionaries.
static void test_circles_end(void **state) {
  host *h = *state;
  column c;
  tally_value v;
  static const int32_t one[] = {0, 1, 2};
  REFUSED("+l", (c.buffers[1] = one, c.arrays[0] = &c.a, c.schemas[0] = &c.s),
          TYPE, "nests too deeply");
  CODES((c.a.dictionary = &c.a, c.s.dictionary = &c.s), TYPE,
        "nests too deeply");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_parts_fit),
      HOST_TEST(test_parts_that_do_not_fit),
      HOST_TEST(test_codes_that_do_not_fit),
      HOST_TEST(test_circles_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
