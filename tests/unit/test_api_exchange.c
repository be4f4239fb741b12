// tally.h: DLPack and Arrow, in and out, whole and hostile.

#include <stdio.h>

#include "tests/unit/arrow.h"
#include "tests/unit/host.h"

// --- DLPack, as its header lays it out --------------------------------------

typedef struct {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;

struct DLManagedTensor {
  dl_tensor tensor;
  void *context;
  void (*deleter)(struct DLManagedTensor *);
};

struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void *context;
  void (*deleter)(struct DLManagedTensorVersioned *);
  uint64_t flags;
  dl_tensor tensor;
};

static int deleted;
static void count_legacy(struct DLManagedTensor *self) {
  (void)self;
  deleted++;
}
static void count_versioned(struct DLManagedTensorVersioned *self) {
  (void)self;
  deleted++;
}

static double items[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
static int64_t shape[] = {3, 4}, strides[] = {1, 3};

static dl_tensor tensor_of(int64_t *steps) {
  return (dl_tensor){.data = items,
                     .device = {1, 0},
                     .ndim = 2,
                     .dtype = {2, 64, 1},
                     .shape = shape,
                     .strides = steps};
}

static void test_dlpack_in(void **state) {
  host *h = *state;
  tally_value v;
  deleted = 0;
  struct DLManagedTensor t = {tensor_of(NULL), NULL, count_legacy};
  assert_int_equal(tally_from_dlpack(h->vm, &t, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "3 * 4 * float64");
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x[1]", "[4.0, 5.0, 6.0, 7.0]");
  // The producer still has it: never written.
  run_ok(h, "x[0, 0] = 99");
  assert_true(items[0] == 0);
  assert_int_equal(deleted, 1);  // the array was copied, and the tensor let go
  struct DLManagedTensorVersioned n = {
      1, 3, NULL, count_versioned, 0, tensor_of(strides)};
  assert_int_equal(tally_from_dlpack_versioned(h->vm, &n, &v), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x[1]", "[1.0, 4.0, 7.0, 10.0]");
  run_ok(h, "x = none");
  assert_int_equal(deleted, 2);
  // A copy made for us is ours to write.
  n.flags = 2;
  n.tensor.strides = NULL;
  assert_int_equal(tally_from_dlpack_versioned(h->vm, &n, &v), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  run_ok(h, "x[0, 0] = 99");
  assert_true(items[0] == 99);
  items[0] = 0;
  run_ok(h, "x = none");
  assert_int_equal(deleted, 3);
  // A number is copied out at once.
  n.tensor.ndim = 0;
  n.tensor.byte_offset = 16;
  assert_int_equal(tally_from_dlpack_versioned(h->vm, &n, &v), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "float64");
  tally_release(h->vm, v);
  assert_int_equal(deleted, 4);
}

static void test_dlpack_in_refuses(void **state) {
  host *h = *state;
  tally_value v = {1, 2};
  deleted = 0;
  struct DLManagedTensor t = {tensor_of(NULL), NULL, count_legacy};
#define REFUSED(field, value, status, part)                           \
  do {                                                                \
    struct DLManagedTensor bad = t;                                   \
    bad.tensor.field = value;                                         \
    CHECK_ERROR(h, tally_from_dlpack(h->vm, &bad, &v), status, part); \
  } while (0)
  REFUSED(device.type, 2, TALLY_ERR_TYPE, "device 2");
  REFUSED(dtype.code, 9, TALLY_ERR_TYPE, "code 9");
  REFUSED(dtype.bits, 4, TALLY_ERR_TYPE, "4 bits");
  REFUSED(dtype.lanes, 4, TALLY_ERR_TYPE, "4 lanes");
  REFUSED(ndim, -1, TALLY_ERR_SHAPE, "");
  REFUSED(ndim, 33, TALLY_ERR_SHAPE, "33");
  REFUSED(shape, NULL, TALLY_ERR_HOST, "NULL");
  REFUSED(data, NULL, TALLY_ERR_HOST, "NULL");
  REFUSED(data, (char *)items + 1, TALLY_ERR_VALUE, "aligned");
  int64_t huge[] = {INT64_MAX, 4}, negative[] = {-1, 4};
  int64_t far[] = {INT64_MAX / 4, 1};
  REFUSED(shape, huge, TALLY_ERR_SHAPE, "");
  REFUSED(shape, negative, TALLY_ERR_SHAPE, "");
  REFUSED(strides, far, TALLY_ERR_SHAPE, "overflow");
  struct DLManagedTensorVersioned n = {
      2, 0, NULL, count_versioned, 0, tensor_of(NULL)};
  CHECK_ERROR(h, tally_from_dlpack_versioned(h->vm, &n, &v), TALLY_ERR_TYPE,
              "version 2");
  CHECK_ERROR(h, tally_from_dlpack(h->vm, NULL, &v), TALLY_ERR_HOST, "NULL");
  CHECK_ERROR(h, tally_from_dlpack_versioned(h->vm, NULL, &v), TALLY_ERR_HOST,
              "NULL");
  CHECK_ERROR(h, tally_from_dlpack(h->vm, &t, NULL), TALLY_ERR_HOST, "NULL");
  assert_int_equal(deleted, 0);  // still the host's
}

static void test_dlpack_out(void **state) {
  host *h = *state;
  static const struct {
    const char *source;
    int code, bits, ndim;
  } cases[] = {
      {"[true, false]", 6, 8, 1},
      {"int8([1])", 0, 8, 1},
      {"int16([1])", 0, 16, 1},
      {"int32([1])", 0, 32, 1},
      {"[[1, 2]]", 0, 64, 2},
      {"uint8([1])", 1, 8, 1},
      {"uint16([1])", 1, 16, 1},
      {"uint32([1])", 1, 32, 1},
      {"uint64([1])", 1, 64, 1},
      {"float32([1])", 2, 32, 1},
      {"float16([1])", 2, 16, 1},
      {"[1.5]", 2, 64, 1},
      {"complex64([1i])", 5, 64, 1},
      {"[1i]", 5, 128, 1},
      {"2.5", 2, 64, 0},
      {"true", 6, 8, 0},
      {"1i", 5, 128, 0},
      {"zeros((0, 3))", 2, 64, 2},
      {"[1i, 2i].imag", 2, 64, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tally_value v = eval(h, cases[i].source), back;
    struct DLManagedTensor *t;
    struct DLManagedTensorVersioned *n;
    assert_int_equal(tally_to_dlpack(h->vm, v, &t), TALLY_OK);
    assert_int_equal(t->tensor.dtype.code, cases[i].code);
    assert_int_equal(t->tensor.dtype.bits, cases[i].bits);
    assert_int_equal(t->tensor.ndim, cases[i].ndim);
    assert_int_equal(tally_to_dlpack_versioned(h->vm, v, &n), TALLY_OK);
    assert_int_equal(n->flags, 1);
    // There and back, and the values are the same.
    assert_int_equal(tally_from_dlpack_versioned(h->vm, n, &back), TALLY_OK);
    tally_value both[] = {tally_take(v), tally_take(back)}, same;
    int equal;
    assert_int_equal(tally_call(h->vm, "same", 2, both, &same), TALLY_OK);
    assert_int_equal(tally_to_bool(h->vm, same, &equal), TALLY_OK);
    assert_true(equal);
    t->deleter(t);
  }
  tally_value v = eval(h, "x = [[1, 2, 3], [4, 5, 6]]\nx[:, ::2].T");
  struct DLManagedTensor *t;
  assert_int_equal(tally_to_dlpack(h->vm, v, &t), TALLY_OK);
  assert_int_equal(t->tensor.strides[0], 2);
  assert_int_equal(t->tensor.strides[1], 3);
  tally_release(h->vm, v);
  run_ok(h, "x = none");
  assert_int_equal(((int64_t *)t->tensor.data)[5], 6);  // still there
  t->deleter(t);
  v = eval(h, "(1, 2)");
  CHECK_ERROR(h, tally_to_dlpack(h->vm, v, &t), TALLY_ERR_TYPE, "list");
  CHECK_ERROR(h, tally_to_dlpack(h->vm, v, NULL), TALLY_ERR_HOST, "NULL");
  CHECK_ERROR(h, tally_to_dlpack_versioned(h->vm, v, NULL), TALLY_ERR_HOST,
              "NULL");
  tally_release(h->vm, v);
}

static void test_a_tensor_may_outlive_its_vm(void **state) {
  host *h = *state;
  tally_value v = eval(h, "arange(10)");
  struct DLManagedTensor *t;
  assert_int_equal(tally_to_dlpack(h->vm, v, &t), TALLY_OK);
  tally_release(h->vm, v);
  assert_int_equal(tally_close(h->vm), 1);
  t->deleter(t);
  assert_int_equal(h->blocks, 0);
  tally_options options = host_options(h);
  host_open(h, &options);
}

// --- Arrow ------------------------------------------------------------------

static int released_arrays, released_schemas;
static void release_array(struct ArrowArray *a) {
  for (int64_t i = 0; i < a->n_children; i++) {
    if (a->children[i]->release != NULL)
      a->children[i]->release(a->children[i]);
  }
  a->release = NULL;
  released_arrays++;
}
static void release_schema(struct ArrowSchema *s) {
  for (int64_t i = 0; i < s->n_children; i++) {
    if (s->children[i]->release != NULL)
      s->children[i]->release(s->children[i]);
  }
  s->release = NULL;
  released_schemas++;
}

static struct ArrowSchema schema_of(const char *format, const char *name) {
  return (struct ArrowSchema){
      .format = format, .name = name, .release = release_schema};
}

static struct ArrowArray array_of(int64_t length, int64_t count,
                                  const void **buffers) {
  return (struct ArrowArray){.length = length,
                             .n_buffers = count,
                             .buffers = buffers,
                             .release = release_array};
}

static void take_global(host *h, const char *name, struct ArrowSchema *s,
                        struct ArrowArray *a) {
  tally_value v;
  if (tally_from_arrow(h->vm, s, a, &v) != TALLY_OK)
    fail_msg("%s", tally_error(h->vm)->report);
  assert_int_equal(tally_move_global(h->vm, name, v), TALLY_OK);
}

static void test_arrow_columns_in(void **state) {
  host *h = *state;
  released_arrays = released_schemas = 0;
  static const int32_t numbers[] = {1, 2, 3, 4, 5, 6};
  static const uint8_t bits[] = {0x35}, valid[] = {0xff};
  static const int32_t offsets[] = {0, 1, 3, 3, 6};
  const void *buffers[] = {valid, numbers};
  struct ArrowSchema s = schema_of("i", "n");
  struct ArrowArray a = array_of(6, 2, buffers);
  a.null_count = -1;  // unknown: the bits say none
  take_global(h, "x", &s, &a);
  assert_int_equal(released_schemas, 1);
  assert_int_equal(released_arrays, 0);
  check_value(h, "x", "[1, 2, 3, 4, 5, 6]");
  run_ok(h, "x = none");
  assert_int_equal(released_arrays, 1);
  // A slice.
  s = schema_of("i", "n");
  a = array_of(2, 2, buffers);
  a.offset = 3;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[4, 5]");
  const void *bool_buffers[] = {NULL, bits};
  s = schema_of("b", NULL);
  a = array_of(5, 2, bool_buffers);
  a.offset = 1;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[false, true, false, true, true]");
  const void *text_buffers[] = {NULL, offsets, "a\xc3\xa4xyz"};
  s = schema_of("u", "t");
  a = array_of(4, 3, text_buffers);
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[\"a\", \"ä\", \"\", \"xyz\"]");
  // Missing values, of each kind.
  static const uint8_t holes[] = {0x0b};
  buffers[0] = text_buffers[0] = bool_buffers[0] = holes;
  s = schema_of("i", "n");
  a = array_of(4, 2, buffers);
  a.null_count = 1;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[1, 2, none, 4]");
  s = schema_of("u", "t");
  a = array_of(4, 3, text_buffers);
  a.null_count = -1;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[\"a\", \"ä\", none, \"xyz\"]");
  s = schema_of("b", "b");
  a = array_of(3, 2, bool_buffers);
  a.null_count = -1;
  a.offset = 1;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[false, none, false]");
  buffers[0] = valid;
  text_buffers[0] = bool_buffers[0] = NULL;
  // Lists, and rows of two.
  struct ArrowSchema child = schema_of("i", "item"), *children[] = {&child};
  struct ArrowArray of = array_of(6, 2, buffers), *arrays[] = {&of};
  const void *list_buffers[] = {NULL, offsets};
  s = schema_of("+l", "l");
  a = array_of(4, 2, list_buffers);
  s.n_children = a.n_children = 1;
  s.children = children;
  a.children = arrays;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[[1], [2, 3], [], [4, 5, 6]]");
  run_ok(h, "y = x[3]\nx = none");
  check_value(h, "y", "[4, 5, 6]");
  const void *none[] = {NULL};
  child = schema_of("i", "item");
  of = array_of(6, 2, buffers);
  s = schema_of("+w:2", "w");
  a = array_of(2, 1, none);
  a.offset = 1;
  s.n_children = a.n_children = 1;
  s.children = children;
  a.children = arrays;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[[3, 4], [5, 6]]");
  // A struct, sliced.
  child = schema_of("i", "n");
  of = array_of(6, 2, buffers);
  struct ArrowSchema text = schema_of("u", "t"), *two[] = {&child, &text};
  struct ArrowArray texts = array_of(4, 3, text_buffers),
                    *both[] = {&of, &texts};
  s = schema_of("+s", "s");
  a = array_of(2, 1, none);
  a.offset = 2;
  s.n_children = a.n_children = 2;
  s.children = two;
  a.children = both;
  take_global(h, "x", &s, &a);
  check_value(h, "x", "(n: [3, 4], t: [\"\", \"xyz\"])");
  run_ok(h, "x = none\ny = none");
}

static void test_arrow_in_refuses(void **state) {
  host *h = *state;
  static const int32_t numbers[] = {1, 2, 3, 4}, back[] = {0, 3, 2, 4};
  const void *buffers[] = {NULL, numbers};
  const void *no_data[] = {NULL, NULL, NULL},
             *bad[] = {NULL, back, "\xff\xff\xff\xff"};
  tally_value v;
  const struct {
    const char *format;
    int64_t length, nulls, count;
    const void **buffers;
    tally_status status;
    const char *part;
  } cases[] = {
      {"i", 4, 0, 2, no_data, TALLY_ERR_TYPE, "no data"},
      {"i", 4, 0, 1, buffers, TALLY_ERR_TYPE, "laid out"},
      {"i", -1, 0, 2, buffers, TALLY_ERR_TYPE, "laid out"},
      {"i", INT64_MAX, 0, 2, buffers, TALLY_ERR_TYPE, "laid out"},
      {"b", 4, 0, 2, no_data, TALLY_ERR_TYPE, "no data"},
      {"u", 3, 0, 3, bad, TALLY_ERR_TYPE, "go back"},
      {"u", 1, 0, 3, bad, TALLY_ERR_VALUE, "UTF-8"},
      {"u", 1, 0, 2, bad, TALLY_ERR_TYPE, "laid out"},
      {"z", 3, 0, 3, bad, TALLY_ERR_TYPE, "go back"},
      {"w:x", 3, 0, 2, buffers, TALLY_ERR_TYPE, "no format"},
      {"w:", 3, 0, 2, buffers, TALLY_ERR_TYPE, "no format"},
      {"w:2", 3, 0, 2, no_data, TALLY_ERR_TYPE, "no data"},
      {"vu", 3, 0, 2, buffers, TALLY_ERR_TYPE, "laid out"},
      {"vz", 3, 0, 3, no_data, TALLY_ERR_TYPE, "no views"},
      {"n", -1, 0, 0, NULL, TALLY_ERR_TYPE, "laid out"},
      {"tdx", 4, 0, 2, buffers, TALLY_ERR_TYPE, "no type here"},
      {"", 4, 0, 2, buffers, TALLY_ERR_TYPE, "no type here"},
      {"+w:x", 4, 0, 1, buffers, TALLY_ERR_TYPE, "no format"},
      {"+w:2", 4, 0, 1, buffers, TALLY_ERR_TYPE, "laid out"},
      {"+l", 4, 0, 2, buffers, TALLY_ERR_TYPE, "laid out"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    released_arrays = released_schemas = 0;
    struct ArrowSchema s = schema_of(cases[i].format, "c");
    struct ArrowArray a =
        array_of(cases[i].length, cases[i].count, cases[i].buffers);
    a.null_count = cases[i].nulls;
    tally_status status = tally_from_arrow(h->vm, &s, &a, &v);
    if (status != cases[i].status ||
        strstr(tally_error(h->vm)->message, cases[i].part) == NULL)
      fail_msg("%s: %s", cases[i].format, tally_error(h->vm)->message);
    assert_int_equal(released_arrays, 1);  // taken, on failure too
    assert_int_equal(released_schemas, 1);
    CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_HOST,
                "released");
  }
  struct ArrowSchema s = schema_of("i", "c");
  struct ArrowArray a = array_of(4, 2, buffers);
  CHECK_ERROR(h, tally_from_arrow(h->vm, &s, NULL, &v), TALLY_ERR_HOST, "NULL");
  CHECK_ERROR(h, tally_from_arrow(h->vm, NULL, &a, &v), TALLY_ERR_HOST, "NULL");
}

// Offsets and lengths of which no sum fits an int64, of the column and of a
// child: refused before any bit is looked for.
static void test_arrow_in_has_an_extent(void **state) {
  host *h = *state;
  static const int32_t numbers[] = {1, 2, 3, 4};
  static const uint8_t bits[] = {0xff};
  const void *buffers[] = {bits, numbers}, *none[] = {NULL};
  static const int64_t extents[][2] = {
      {4, INT64_MAX}, {4, INT64_MAX - 3}, {INT64_MIN, 0}, {4, INT64_MIN},
      {-1, 1},        {INT64_MAX, 1},
  };
  tally_value v;
  for (size_t i = 0; i < sizeof extents / sizeof *extents; i++) {
    struct ArrowSchema s = schema_of("i", "c"), of = s, *schemas[] = {&of};
    struct ArrowArray a = array_of(extents[i][0], 2, buffers);
    a.offset = extents[i][1];
    a.null_count = -1;
    struct ArrowArray child = a, *arrays[] = {&child};
    CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_TYPE,
                "column \"c\" of format i is not laid out");
    s = schema_of("+s", "s");
    a = array_of(1, 1, none);
    a.offset = 2;
    s.n_children = a.n_children = 1;
    s.children = schemas;
    a.children = arrays;
    CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_TYPE,
                "column \"c\" of format i is not laid out");
  }
}

// Codes among [words], of which item 2 is missing if [holes].
static tally_status take_words(host *h, const char *format, const void *codes,
                               int64_t count, const uint8_t *holes,
                               const char *words, const int32_t *offsets,
                               int64_t word_count, tally_value *out) {
  const void *buffers[] = {holes, codes}, *texts[] = {NULL, offsets, words};
  struct ArrowSchema s = schema_of(format, "d"), of = schema_of("u", "");
  struct ArrowArray a = array_of(count, 2, buffers),
                    values = array_of(word_count, 3, texts);
  a.null_count = holes == NULL ? 0 : -1;
  s.dictionary = &of;
  a.dictionary = &values;
  return tally_from_arrow(h->vm, &s, &a, out);
}

static void test_arrow_dictionaries(void **state) {
  host *h = *state;
  static const int32_t offsets[] = {0, 3, 7, 7}, twice[] = {0, 1, 2};
  static const int8_t codes[] = {1, 0, 1, 2}, wrong[] = {0, 3}, less[] = {-1};
  static const uint64_t wide[] = {2, 2, 0};
  static const uint8_t holes[] = {0x0b};
  tally_value v;
#define WORDS(format, codes, count, holes) \
  take_words(h, format, codes, count, holes, "lowhigh", offsets, 3, &v)
  assert_int_equal(WORDS("c", codes, 4, NULL), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v),
                      "4 * categorical[string, [\"low\", \"high\", \"\"]]");
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x", "[\"high\", \"low\", \"high\", \"\"]");
  assert_int_equal(WORDS("L", wide, 3, NULL), TALLY_OK);
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x", "[\"\", \"\", \"low\"]");
  // Categories are there once and not missing: else the values themselves.
  assert_int_equal(WORDS("c", codes, 4, holes), TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "4 * ?string");
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x", "[\"high\", \"low\", none, \"\"]");
  assert_int_equal(take_words(h, "c", codes, 3, NULL, "aa", twice, 2, &v),
                   TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "3 * string");
  tally_release(h->vm, v);
  CHECK_ERROR(h, WORDS("c", wrong, 2, NULL), TALLY_ERR_TYPE, "outside");
  CHECK_ERROR(h, WORDS("c", less, 1, NULL), TALLY_ERR_TYPE, "outside");
  CHECK_ERROR(h, WORDS("f", codes, 1, NULL), TALLY_ERR_TYPE, "dictionary");
  CHECK_ERROR(h, WORDS("i", codes + 1, 1, NULL), TALLY_ERR_TYPE, "misaligned");
  CHECK_ERROR(h, WORDS("c", NULL, 1, NULL), TALLY_ERR_TYPE, "no codes");
#undef WORDS
  // All are missing, and there is nothing that could be there.
  static const uint8_t none_there[] = {0};
  assert_int_equal(take_words(h, "c", codes, 2, none_there, "", offsets, 0, &v),
                   TALLY_OK);
  assert_string_equal(tally_type(h->vm, v), "2 * ?string");
  assert_int_equal(tally_move_global(h->vm, "x", v), TALLY_OK);
  check_value(h, "x", "[none, none]");
  // Numbers, which are copied: the dictionary is never kept.
  static const double numbers[] = {1.5, 2.5};
  const void *buffers[] = {NULL, codes}, *of_numbers[] = {NULL, numbers};
  struct ArrowSchema s = schema_of("c", "d"), of = schema_of("g", "");
  struct ArrowArray a = array_of(3, 2, buffers),
                    values = array_of(2, 2, of_numbers);
  s.dictionary = &of;
  a.dictionary = &values;
  released_arrays = 0;
  take_global(h, "x", &s, &a);
  assert_int_equal(released_arrays, 1);
  check_value(h, "x", "[2.5, 1.5, 2.5]");
  s = schema_of("c", "d");
  a = array_of(3, 2, buffers);
  s.dictionary = &of;
  CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_TYPE,
              "dictionary");
}

static void test_arrow_formats(void **state) {
  host *h = *state;
  static const int64_t ticks[] = {0, 86400};
  const void *buffers[] = {NULL, ticks};
  static const struct {
    const char *format, *type;
  } taken[] = {
      {"tdD", "2 * int32"}, {"tdm", "2 * int64"},     {"tts", "2 * int32"},
      {"ttn", "2 * int64"}, {"tss:UTC", "2 * int64"}, {"tDu", "2 * int64"},
      {"tiM", "2 * int32"},
  };
  tally_value v;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    struct ArrowSchema s = schema_of(taken[i].format, "t");
    struct ArrowArray a = array_of(2, 2, buffers);
    assert_int_equal(tally_from_arrow(h->vm, &s, &a, &v), TALLY_OK);
    assert_string_equal(tally_type(h->vm, v), taken[i].type);
    tally_release(h->vm, v);
  }
  struct ArrowSchema s = schema_of("n", "n");
  struct ArrowArray a = array_of(2, 0, NULL);
  take_global(h, "x", &s, &a);
  check_value(h, "x", "[none, none]");
  static const char *const refused[][2] = {
      {"d:12,3", "decimals"}, {"+m", "maps"},    {"+us:0", "union"},
      {"+r", "run-end"},      {"+vl", "views"},  {"?", "no type"},
      {"tin", "no type"},     {"vx", "no type"},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    s = schema_of(refused[i][0], "t");
    a = array_of(2, 2, buffers);
    CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_TYPE,
                refused[i][1]);
  }
}

static void check_arrow(host *h, const char *format, struct ArrowArray *a,
                        const char *text) {
  struct ArrowSchema s = schema_of(format, "c");
  take_global(h, "x", &s, a);
  check_value(h, "x", text);
}

// Bytes in each of Arrow's layouts, and views of texts.
static void test_arrow_bytes_in(void **state) {
  host *h = *state;
  static const int32_t small[] = {0, 2, 2, 5};
  static const int64_t large[] = {0, 1, 4, 5};
  static const uint8_t valid[] = {0x05};
  const void *of_small[] = {NULL, small, "ab\xff\0c"};
  const void *of_large[] = {valid, large, "ab\xff\0c"};
  const void *fixed[] = {NULL, "??abcdef"};
  struct ArrowArray a = array_of(3, 3, of_small);
  check_arrow(h, "z", &a, "[b\"ab\", b\"\", b\"\\xff\\x00c\"]");
  a = array_of(3, 3, of_large);
  a.null_count = 1;
  check_arrow(h, "Z", &a, "[b\"a\", none, b\"c\"]");
  a = array_of(3, 2, fixed);
  a.offset = 1;
  check_arrow(h, "w:2", &a, "[b\"ab\", b\"cd\", b\"ef\"]");

  static const char far[] = "..a longer text of views";
  const int64_t sizes[] = {24};
  // The second is missing and says nothing.
  struct view {
    int32_t length;
    char text[4];
    int32_t buffer, at;
  } views[] = {{3, "on\0", 0, 0}, {99, "", 7, 7}, {22, "a lo", 0, 2}};
  memcpy(views[0].text, "one", 3);
  const void *viewed[] = {valid, views, far, sizes};
  a = array_of(3, 4, viewed);
  a.null_count = 1;
  check_arrow(h, "vu", &a, "[\"one\", none, \"a longer text of views\"]");
  a = array_of(1, 4, viewed);
  a.offset = 2;
  check_arrow(h, "vz", &a, "[b\"a longer text of views\"]");
  tally_value v;
  const struct {
    int32_t length, buffer, at;
  } bad[] = {{-1, 0, 0},
             {23, 0, 2},
             {22, 1, 0},
             {22, -1, 0},
             {22, 0, -1},
             {13, 2, 0},
             {INT32_MAX, 0, INT32_MAX}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    views[2] = (struct view){bad[i].length, "", bad[i].buffer, bad[i].at};
    struct ArrowSchema s = schema_of("vu", "c");
    a = array_of(1, 4, viewed);
    a.offset = 2;
    CHECK_ERROR(h, tally_from_arrow(h->vm, &s, &a, &v), TALLY_ERR_TYPE,
                "not there");
  }
}

static void test_arrow_there_and_back(void **state) {
  host *h = *state;
  static const char *const sources[] = {
      "arange(10)",
      "float16([1.5, nan, -inf])",
      "float32([1.5, 2.5])",
      "uint8([1, 2, 3])",
      "[true, false, true, true, false, false, true, true, true]",
      "[\"a\", \"\", \"größe\"]",
      "reshape(arange(6), (3, 2))",
      "arange(10)[::-2]",
      "zeros(0)",
      "[1, none, 3]",
      "[none, \"a\"]",
      "[true, none, none, true, false, true, none, true, none]",
      "[[1, 2], [], [3]]",
      "`bytes`([\"ab\", \"\", \"a longer text of bytes\"])",
      "[`bytes`(uint8([255, 0])), none]",
      "[[`bytes`(\"a\"), none], [], [`bytes`(\"b\")]]",
      "(a: `bytes`([\"a\", \"b\"]), b: [1, 2])",
      "(a: [1.5, none], b: [[1], [2, 3]])",
      "categorical([\"b\", \"a\", \"b\"])",
      "categorical([3, 1, 3, 3])[::-1]",
      "(c: categorical([true, true]), n: [1, 2])",
      "(n: [1, 2], t: [\"a\", \"b\"], b: [true, false], m: [[1.5], [2.5]])",
  };
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    tally_value v = eval(h, sources[i]), back, same;
    struct ArrowSchema s;
    struct ArrowArray a;
    if (tally_to_arrow(h->vm, v, &s, &a) != TALLY_OK)
      fail_msg("%s: %s", sources[i], tally_error(h->vm)->message);
    if (tally_from_arrow(h->vm, &s, &a, &back) != TALLY_OK)
      fail_msg("%s: %s", sources[i], tally_error(h->vm)->message);
    tally_value both[] = {tally_take(v), tally_take(back)};
    int equal;
    assert_int_equal(tally_call(h->vm, "same", 2, both, &same), TALLY_OK);
    assert_int_equal(tally_to_bool(h->vm, same, &equal), TALLY_OK);
    if (!equal)
      fail_msg("%s", sources[i]);
  }
  static const struct {
    const char *source;
    tally_status status;
  } refused[] = {
      {"1", TALLY_ERR_TYPE},
      {"(1, 2)", TALLY_ERR_TYPE},
      {"[1i]", TALLY_ERR_TYPE},
      {"zeros((2, 2, 2))", TALLY_ERR_TYPE},
      {"(a: 1)", TALLY_ERR_TYPE},
      {"(1: [1])", TALLY_ERR_TYPE},
      {"(a: [1], b: [1, 2])", TALLY_ERR_SHAPE},
      {"(a: [1], b: [1i])", TALLY_ERR_TYPE},
      {"[[true]]", TALLY_ERR_TYPE},
      {"`bytes`(\"a\")", TALLY_ERR_TYPE},
  };
  struct ArrowSchema s;
  struct ArrowArray a;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    tally_value v = eval(h, refused[i].source);
    assert_int_equal(tally_to_arrow(h->vm, v, &s, &a), refused[i].status);
    tally_release(h->vm, v);
  }
  tally_value v = eval(h, "[1]");
  CHECK_ERROR(h, tally_to_arrow(h->vm, v, NULL, &a), TALLY_ERR_HOST, "NULL");
  CHECK_ERROR(h, tally_to_arrow(h->vm, v, &s, NULL), TALLY_ERR_HOST, "NULL");
  tally_release(h->vm, v);
}

// Codes that may be missing: bits say which are there.
static void test_arrow_categories_may_be_missing(void **state) {
  host *h = *state;
  static const struct {
    const char *source, *shown;
    int64_t length, missing;
    uint8_t bits;
  } cases[] = {
      {"categorical([\"a\", none, \"b\"])", "[\"a\", none, \"b\"]", 3, 1, 5},
      {"categorical([\"a\", none, \"b\"])[::-2]", "[\"b\", \"a\"]", 2, 0, 3},
      {"categorical([none, 7, none, 3])[1:]", "[7, none, 3]", 3, 1, 5},
      {"categorical([none, \"a\"])[:1]", "[none]", 1, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tally_value v = eval(h, cases[i].source);
    struct ArrowSchema s;
    struct ArrowArray a;
    if (tally_to_arrow(h->vm, v, &s, &a) != TALLY_OK)
      fail_msg("%s: %s", cases[i].source, tally_error(h->vm)->message);
    tally_release(h->vm, v);
    assert_non_null(s.dictionary);
    assert_int_equal(a.length, cases[i].length);
    assert_int_equal(a.null_count, cases[i].missing);
    assert_int_equal(*(const uint8_t *)a.buffers[0], cases[i].bits);
    take_global(h, "x", &s, &a);
    check_value(h, "x", cases[i].shown);
  }
}

// --- Parcels ----------------------------------------------------------------

static void test_parcels_change_vms(void **state) {
  host *h = *state;
  static const char *const sources[] = {
      "1",
      "none",
      "2.5",
      "1i",
      "\"text\"",
      "arange(5)",
      "1..9",
      "arange(100000)[::2]",
      "float16([0.1, nan, -inf])",
      "[\"a\", \"b\"]",
      "(1, (\"a\", [1, 2]), (k: [1.5], l: ()))",
      "(1: 2, (1, (\"a\", true)): [3], false: (-5: 0), x: 4)",
      "(9223372036854775807: 1, -9223372036854775808: 2)",
      "zeros((0, 3))",
      "[[1, 2], [], [3]]",
      "[[1, 2], [], [3]][1:]",
      "[1, none, 3]",
      "[\"a\", none]",
      "[[\"a longer text than fits\", none], [\"c\"]]",
      "[(x: 1.5, y: 2), (x: 2.5, y: 3)]",
      "[(x: 1.5, y: 2), (x: 2.5, y: 3)].{y}",
      "[(x: 1.5, t: \"a\", r: [1]), (x: 2.5, t: \"b\", r: [1, 2])]",
      "zeros(`2 * {a: 3 * float64, b: {u: int8, v: fixed_string[4]}, c: char}`)",
      "relayout([(u: int8(1), x: 2.0)], packed: true)",
      "categorical([\"low\", none, \"low\"], [\"low\", \"high\"])",
      "pointers([[1, 2], [3]], [1, 0, 1])",
      "zeros(`2 * {p: pointer[float64]}`)",
      "pointers([[1, 2], [3]], 1)",
      "pointers(reshape(arange(9), (3, 3)), [2, 0])[:, -2:]",
      "[[[1], [2, 3]], [[4, 5, 6], []]][:, 0]",
      "`bytes`([\"a\", \"b\"])",
      "`bytes`(\"one value of bytes\")",
      "`(int64, float64)`(((3, 0.5), (1, 1.5)))",
      "(k: [(x: [1, none])], t: `N * {x: ?float64, ...}`)",
      "float64",
      "type(\"(N * categorical[string, ['a']]) -> pointer[?bytes]\")",
  };
  tally_options options = host_options(h);
  host_close(h);
  host_open(h, &options);
  tally_vm *second;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    tally_value v = eval(h, sources[i]), there, shown[2];
    tally_parcel *p;
    const char *text[2];
    assert_int_equal(tally_format(h->vm, v, &shown[0]), TALLY_OK);
    assert_int_equal(tally_send(h->vm, v, &p), TALLY_OK);
    assert_int_equal(tally_receive(second, p, &there), TALLY_OK);
    assert_int_equal(tally_format(second, there, &shown[1]), TALLY_OK);
    assert_int_equal(tally_to_string(h->vm, shown[0], &text[0], NULL),
                     TALLY_OK);
    assert_int_equal(tally_to_string(second, shown[1], &text[1], NULL),
                     TALLY_OK);
    assert_string_equal(text[0], text[1]);
    // The type's text may be long, and is read back as the same type.
    v = eval(h, sources[i]);
    assert_string_equal(tally_type(h->vm, v), tally_type(second, there));
    assert_int_equal(tally_length(h->vm, v), tally_length(second, there));
    tally_release(h->vm, v);
    tally_release(second, there);
    tally_release(h->vm, shown[0]);
    tally_release(second, shown[1]);
  }
  assert_int_equal(tally_close(second), 0);
}

// Parts of nested arrays change VMs as other arrays do.
static void test_large_parts_are_not_copied(void **state) {
  host *h = *state;
  tally_options options = host_options(h);
  tally_vm *second;
  tally_stats before, after;
  tally_parcel *p;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  tally_value there, v = eval(h, "ragged(arange(100000) * 2, [99999, 1])");
  tally_get_stats(h->vm, &before);
  assert_int_equal(tally_send(h->vm, v, &p), TALLY_OK);
  tally_get_stats(h->vm, &after);
  assert_true(before.live_bytes - after.live_bytes >= 800000);
  assert_int_equal(after.copies, before.copies + 1);  // the offsets
  assert_int_equal(tally_receive(second, p, &there), TALLY_OK);
  tally_release(second, there);
  assert_int_equal(tally_close(second), 0);
}

static void test_large_arrays_are_not_copied(void **state) {
  host *h = *state;
  tally_options options = host_options(h);
  tally_vm *second;
  tally_stats before, after;
  tally_array a, b;
  tally_parcel *p;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  tally_value v = eval(h, "arange(1000000) * 2"), there;
  assert_int_equal(tally_to_buffer(h->vm, v, &a), TALLY_OK);
  tally_get_stats(h->vm, &before);
  assert_int_equal(tally_send(h->vm, v, &p), TALLY_OK);
  tally_get_stats(h->vm, &after);
  assert_true(before.live_bytes - after.live_bytes >= 8000000);
  assert_int_equal(before.live - after.live, 1);
  assert_int_equal(tally_receive(second, p, &there), TALLY_OK);
  assert_int_equal(tally_to_buffer(second, there, &b), TALLY_OK);
  assert_ptr_equal(a.data, b.data);
  tally_get_stats(second, &after);
  assert_true(after.live_bytes >= 8000000);
  // Still no copy when it is an item of a list, and it may be freed in between.
  assert_int_equal(tally_move_global(second, "x", there), TALLY_OK);
  assert_int_equal(tally_eval(second, "(1, x = none)", NULL), TALLY_ERR_SYNTAX);
  assert_int_equal(tally_eval(second, "l = (1, x)\nx = none", NULL), TALLY_OK);
  assert_int_equal(tally_get_global(second, "l", &there), TALLY_OK);
  assert_int_equal(tally_eval(second, "l = none", NULL), TALLY_OK);
  assert_int_equal(tally_send(second, there, &p), TALLY_OK);
  assert_int_equal(tally_close(second), 0);
  tally_free_parcel(p);
  tally_free_parcel(NULL);
}

// As host_resize, by another address: its VMs have another allocator.
static void *other_resize(void *context, void *block, size_t old_size,
                          size_t new_size) {
  return host_resize(context, block, old_size, new_size);
}

// A block of another axis order than rows keeps it in its copy.
static void test_parcels_keep_the_order_of_axes(void **state) {
  host *h = *state;
  tally_options options = host_options(h);
  options.resize = other_resize;
  tally_vm *second;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  tally_value v = eval(h, "x = reshape(arange(30000), (300, 100)).T + 1.5\nx"),
              there;
  run_ok(h, "x = none");
  tally_parcel *p;
  tally_array a;
  assert_int_equal(tally_send(h->vm, v, &p), TALLY_OK);
  assert_int_equal(tally_receive(second, p, &there), TALLY_OK);
  assert_int_equal(tally_to_buffer(second, there, &a), TALLY_OK);
  assert_true(*(const double *)((const char *)a.data + a.strides[0]) == 2.5);
  tally_value same[2] = {tally_take(there)}, out;
  assert_int_equal(
      tally_eval(second, "reshape(arange(30000), (300, 100)).T + 1.5",
                 same + 1),
      TALLY_OK);
  same[1] = tally_take(same[1]);
  int equal = 0;
  assert_int_equal(tally_call(second, "same", 2, same, &out), TALLY_OK);
  assert_int_equal(tally_to_bool(second, out, &equal), TALLY_OK);
  assert_true(equal);
  assert_int_equal(tally_close(second), 0);
}

// A function goes as its text; what it names is the receiver's.
static void test_functions_go_as_texts(void **state) {
  host *h = *state;
  static const struct {
    const char *source, *call;
    int64_t result;
  } cases[] = {
      {"x => x * 2", "f(21)", 42},
      {"fn twice(x, by: 2) = x * by\ntwice", "f(7) + f(7, by: 4)", 42},
      {"fn fact(n :: `int64`) {\n  if n == 0 { 1 } else { n * fact(n - 1) }\n}"
       "\nfact",
       "f(5)", 120},
      {"(k: (() => 5), l: (x => y => x + y,))", "f.k() + f.l[0](1)(2)", 8},
      {"fn scaled(x) = x * k\nk = 3\nscaled", "f(2)", 10},  // its own k
  };
  tally_options options = host_options(h);
  tally_vm *second;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  assert_int_equal(tally_eval(second, "k = 5", NULL), TALLY_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tally_parcel *p;
    tally_value f, out;
    int64_t got;
    assert_int_equal(tally_send(h->vm, eval(h, cases[i].source), &p), TALLY_OK);
    assert_int_equal(tally_receive(second, p, &f), TALLY_OK);
    assert_int_equal(tally_move_global(second, "f", f), TALLY_OK);
    assert_int_equal(tally_eval(second, cases[i].call, &out), TALLY_OK);
    assert_int_equal(tally_to_int(second, out, &got), TALLY_OK);
    assert_int_equal(got, cases[i].result);
  }
  tally_parcel *p;
  tally_value f;
  assert_int_equal(tally_eval(h->vm, "far = 1\nfn g() = far\ng", &f), TALLY_OK);
  assert_int_equal(tally_send(h->vm, f, &p), TALLY_OK);
  assert_int_equal(tally_receive(second, p, &f), TALLY_ERR_NAME);
  assert_int_equal(tally_close(second), 0);
}

static tally_status give_first(tally_vm *vm, void *context, size_t count,
                               const tally_value *args, tally_value *out) {
  (void)context, (void)count;
  *out = tally_retain(vm, args[0]);
  return TALLY_OK;
}

// Those of the library, in C and in Tally, and of the host go by their names,
// which mean the same whatever the receiver's variables are called.
static void test_named_functions_go(void **state) {
  host *h = *state;
  static const struct {
    const char *source, *call;
    int64_t result;
  } cases[] = {
      {"sum", "f([40, 2])", 42},
      {"(k: (leaves, sum))", "f.k[1](asarray(f.k[0]((40, (2,)))))", 42},
      {"import linalg\nlinalg.det", "int64(f([[6.0, 0.0], [0.0, 7.0]]))", 42},
      {"import time\ntime.parse", "int64(f(\"1970-01-01T00:00:42Z\"))", 42},
      {"ours", "f(42)", 42},
  };
  const tally_native native = {
      .name = "ours", .params = "x", .call = give_first};
  const tally_module module = {.size = sizeof module,
                               .functions = &native,
                               .function_count = 1,
                               .function_size = sizeof native};
  tally_options options = host_options(h);
  tally_vm *second;
  tally_parcel *p;
  tally_value f, out;
  assert_int_equal(tally_add_module(h->vm, &module), TALLY_OK);
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  assert_int_equal(tally_send(h->vm, eval(h, "ours"), &p), TALLY_OK);
  assert_int_equal(tally_receive(second, p, &f), TALLY_ERR_NAME);
  assert_non_null(strstr(tally_error(second)->message, "ours"));
  assert_int_equal(tally_add_module(second, &module), TALLY_OK);
  assert_int_equal(tally_eval(second, "leaves = 0\nlinalg = 0", NULL),
                   TALLY_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    int64_t got;
    assert_int_equal(tally_send(h->vm, eval(h, cases[i].source), &p), TALLY_OK);
    assert_int_equal(tally_receive(second, p, &f), TALLY_OK);
    assert_int_equal(tally_move_global(second, "f", f), TALLY_OK);
    assert_int_equal(tally_eval(second, cases[i].call, &out), TALLY_OK);
    assert_int_equal(tally_to_int(second, out, &got), TALLY_OK);
    assert_int_equal(got, cases[i].result);
  }
  assert_int_equal(tally_close(second), 0);
}

static void test_parcels_refuse(void **state) {
  host *h = *state;
  tally_parcel *p = NULL;
  static const char *const sources[] = {"compose(sqrt, abs)", "time",
                                        "(k: (y => x => x + y)(1))"};
  run_ok(h, "import time");
  for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
    tally_value v = eval(h, sources[i]);
    CHECK_ERROR(h, tally_send(h->vm, v, &p), TALLY_ERR_TYPE, "another VM");
    assert_false(tally_is_live(h->vm, v));  // taken
  }
  tally_value v = eval(h, "l = ()\nfor i in 0..1000 { l = (l, 1) }\nl");
  CHECK_ERROR(h, tally_send(h->vm, v, &p), TALLY_ERR_LIMIT, "200");
  v = eval(h, "[1]");
  CHECK_ERROR(h, tally_send(h->vm, v, NULL), TALLY_ERR_HOST, "NULL");
  CHECK_ERROR(h, tally_send(h->vm, v, &p), TALLY_ERR_HOST, "released");
  CHECK_ERROR(h, tally_receive(h->vm, NULL, &v), TALLY_ERR_HOST, "NULL");
  // Past the receiver's limit.
  v = eval(h, "arange(1000000) * 2");
  assert_int_equal(tally_send(h->vm, v, &p), TALLY_OK);
  tally_options options = host_options(h);
  options.memory_limit = 1 << 20;
  tally_vm *second;
  assert_int_equal(tally_open(&options, &second), TALLY_OK);
  assert_int_equal(tally_receive(second, p, &v), TALLY_ERR_MEMORY);
  assert_int_equal(tally_close(second), 0);
  assert_int_equal(tally_send(NULL, v, &p), TALLY_ERR_HOST);
  run_ok(h, "l = none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      HOST_TEST(test_dlpack_in),
      HOST_TEST(test_dlpack_in_refuses),
      HOST_TEST(test_dlpack_out),
      HOST_TEST(test_a_tensor_may_outlive_its_vm),
      HOST_TEST(test_arrow_columns_in),
      HOST_TEST(test_arrow_in_refuses),
      HOST_TEST(test_arrow_in_has_an_extent),
      HOST_TEST(test_arrow_dictionaries),
      HOST_TEST(test_arrow_formats),
      HOST_TEST(test_arrow_bytes_in),
      HOST_TEST(test_arrow_there_and_back),
      HOST_TEST(test_arrow_categories_may_be_missing),
      HOST_TEST(test_parcels_change_vms),
      HOST_TEST(test_large_parts_are_not_copied),
      HOST_TEST(test_large_arrays_are_not_copied),
      // By itself: where memory is refused, all VMs have one allocator.
      ONCE_TEST(test_parcels_keep_the_order_of_axes, host_set_up,
                host_tear_down, "its VMs have two allocators"),
      ONCE_TEST(test_functions_go_as_texts, host_set_up, host_tear_down,
                "its calls have calls as arguments"),
      ONCE_TEST(test_named_functions_go, host_set_up, host_tear_down,
                "its calls have calls as arguments"),
      HOST_TEST(test_parcels_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
