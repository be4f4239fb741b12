// Fused kernels (vm/kernels/fused.h): each has the bits of the operations that
// its term names, one after the other by the baseline's kernels, whatever the
// instruction set and the length; into memory of its own and into an operand's.
#include "tests/unit/kernel_items.h"

enum { MOST = 150, GUARD = 16 };

static const tl_kernel_table *tables[3];
static int table_count;

// Items before, as a run of neighbours begins there, and behind.
typedef unsigned char memory[(MOST + 4) * sizeof(double) + GUARD];
static _Alignas(64) memory in[TL_TERM_OPERANDS], expected, out;

// --- Terms ------------------------------------------------------------------

static const struct {
  const char *name;
  tl_op op;
} operations[] = {
    {"add", TL_OP_ADD},       {"sub", TL_OP_SUBTRACT},
    {"mul", TL_OP_MULTIPLY},  {"div", TL_OP_DIVIDE},
    {"min", TL_OP_MINIMUM},   {"max", TL_OP_MAXIMUM},
    {"sqrt", TL_OP_SQRT},     {"abs", TL_OP_ABS},
    {"square", TL_OP_SQUARE}, {"lt", TL_OP_LESS},
    {"le", TL_OP_LESS_EQUAL}, {"eq", TL_OP_EQUAL},
    {"ne", TL_OP_NOT_EQUAL},  {"and", TL_OP_LOGICAL_AND},
    {"or", TL_OP_LOGICAL_OR}, {"where", TL_OP_WHERE},
};

// What a term's text says, read from the front.
typedef struct reader {
  const char *at;
  tl_dtype dtype;
  int operand;        // the next one
  void *const *from;  // the operands' items
  size_t item;        // which of them is computed
} reader;

// The operation that the text begins with; false: an operand.
static bool read_operation(reader *r, tl_op *op) {
  size_t count = sizeof operations / sizeof operations[0];
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(operations[i].name);
    if (strncmp(r->at, operations[i].name, length) == 0 &&
        r->at[length] == '_') {
      r->at += length + 1;
      *op = operations[i].op;
      return true;
    }
  }
  return false;
}

static item apply(tl_op op, tl_dtype dtype, const item *x) {
  const tl_kernel_table *base = tl_kernels_named("base");
  item result = {{0}};
  if (tl_ops[op].arity == 1)
    base->unary[op][dtype](&result, &x[0], 1);
  else if (tl_ops[op].arity == 2)
    base->binary[op][dtype](&result, &x[0], &x[1], 1);
  else
    base->select[dtype](&result, &x[0], &x[1], &x[2], 1);
  return result;
}

// The value of the term that the text begins with, for one item.
static item value_of(reader *r) {
  tl_op op;
  if (*r->at == '_')
    r->at++;
  if (!read_operation(r, &op)) {
    char form = *r->at++;
    assert_true(strchr("vsb", form) != NULL);
    tl_dtype dtype = form == 'b' ? TL_BOOL : r->dtype;
    const void *from = r->from[r->operand++];
    return load_item(dtype, from, form == 's' ? 0 : r->item);
  }
  item x[3];
  for (int k = 0; k < tl_ops[op].arity; k++) x[k] = value_of(r);
  bool is_logic = op == TL_OP_LOGICAL_AND || op == TL_OP_LOGICAL_OR;
  return apply(op, is_logic ? TL_BOOL : r->dtype, x);
}

// The forms of the operands, one after the other.
static int read_forms(const char *term, char *forms) {
  reader r = {.at = term};
  tl_op op;
  int count = 0;
  while (*r.at != 0) {
    if (*r.at == '_')
      r.at++;
    else if (!read_operation(&r, &op))
      forms[count++] = *r.at++;
  }
  return count;
}

static bool gives_bools(const char *term) {
  return strncmp(term, "and_", 4) == 0 || strncmp(term, "or_", 3) == 0;
}

// --- Kernels against that ---------------------------------------------------

static void compare(tl_dtype dtype, size_t n, const char *term,
                    const char *isa) {
  for (size_t i = 0; i < n; i++) {
    if (!same_items(dtype, load_item(dtype, out, i),
                    load_item(dtype, expected, i), 0)) {
      fail_msg("%s of %s, %s: item %zu of %zu", term, tl_dtypes[dtype].name,
               isa, i, n);
    }
  }
  size_t nbytes = n * tl_itemsize(dtype);
  for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[nbytes + i], 0xA5);
}

static void find_expected(const char *term, tl_dtype dtype, void *const *from,
                          size_t n) {
  tl_dtype result = gives_bools(term) ? TL_BOOL : dtype;
  for (size_t i = 0; i < n; i++) {
    reader r = {.at = term, .dtype = dtype, .from = from, .item = i};
    store_item(result, expected, i, value_of(&r));
    assert_int_equal(*r.at, 0);
  }
}

// Into memory of its own, and over each operand that is as wide.
static void check(const tl_fused_kernel *kernel, tl_dtype dtype,
                  void *const *operands, size_t n, const char *isa) {
  char forms[TL_TERM_OPERANDS];
  int count = read_forms(kernel->term, forms);
  tl_dtype result = gives_bools(kernel->term) ? TL_BOOL : dtype;
  const void *from[TL_TERM_OPERANDS];
  memcpy(from, operands, sizeof from);
  memset(out, 0xA5, sizeof out);
  kernel->loop(out, from, n);
  compare(result, n, kernel->term, isa);
  for (int k = 0; k < count; k++) {
    size_t width = forms[k] == 'b' ? 1 : tl_itemsize(dtype);
    if (forms[k] == 's' || width != tl_itemsize(result))
      continue;
    const void *own = from[k];
    memcpy(out, own, n * width);
    from[k] = out;
    kernel->loop(out, from, n);
    compare(result, n, kernel->term, isa);
    from[k] = own;
  }
}

static void make_operands(const char *term, tl_dtype dtype, void **from) {
  char forms[TL_TERM_OPERANDS] = {0};
  read_forms(term, forms);
  for (int k = 0; k < TL_TERM_OPERANDS; k++) {
    tl_dtype item = forms[k] == 'b' ? TL_BOOL : dtype;
    fill_random(item, in[k], MOST + 2);
    from[k] = in[k] + tl_itemsize(item);
  }
}

static const size_t lengths[] = {0,  1,  2,  3,  7,  8,  9,   16,
                                 31, 33, 63, 64, 70, 99, 128, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void check_kernel(tl_dtype dtype, int at) {
  const char *term = tables[0]->fused[dtype][at].term;
  for (int l = 0; l < LENGTHS; l++) {
    void *from[TL_TERM_OPERANDS];
    make_operands(term, dtype, from);
    find_expected(term, dtype, from, lengths[l]);
    for (int t = 0; t < table_count; t++)
      check(&tables[t]->fused[dtype][at], dtype, from, lengths[l],
            tables[t]->name);
  }
}

static void test_terms(void **state) {
  (void)state;
  int total = 0;
  if (table_count == 0)
    skip();
  for (int dtype = 0; dtype < TL_KERNEL_DTYPES; dtype++) {
    const tl_fused_kernel *kernels = tables[0]->fused[dtype];
    for (int i = 0; kernels != NULL && kernels[i].term != NULL; i++, total++) {
      assert_true(strlen(kernels[i].term) <= TL_TERM_LENGTH);
      for (int k = 0; k < i; k++)
        assert_string_not_equal(kernels[i].term, kernels[k].term);
      check_kernel((tl_dtype)dtype, i);
    }
  }
  assert_true(total > 0);
}

// --- Neighbours -------------------------------------------------------------

// The first three operands are one run of items, in an order.
static void check_run(tl_dtype dtype, int at, const int *order, size_t n) {
  const char *term = tables[0]->fused[dtype][at].term;
  size_t itemsize = tl_itemsize(dtype);
  void *from[TL_TERM_OPERANDS];
  make_operands(term, dtype, from);
  for (int k = 0; k < 3; k++) from[order[k]] = in[0] + (size_t)k * itemsize;
  find_expected(term, dtype, from, n);
  for (int t = 0; t < table_count; t++) {
    const void *const *of = (const void *const *)from;
    memset(out, 0xA5, sizeof out);
    tables[t]->fused[dtype][at].loop(out, of, n);
    compare(dtype, n, term, tables[t]->name);
  }
}

static void test_neighbours(void **state) {
  (void)state;
  static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                  {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  int total = 0;
  for (int dtype = 0; dtype < TL_KERNEL_DTYPES; dtype++) {
    const tl_fused_kernel *kernels = tables[0]->fused[dtype];
    for (int i = 0; kernels != NULL && kernels[i].term != NULL; i++) {
      if (strstr(kernels[i].term, "add_add_vvv") == NULL)
        continue;
      for (int o = 0; o < 6; o++) {
        for (int l = 0; l < LENGTHS; l++)
          check_run((tl_dtype)dtype, i, orders[o], lengths[l]);
      }
      total++;
    }
  }
  assert_true(total > 0);
}

int main(void) {
  const int all = kernel_tables(tables);
  for (int t = 0; t < all; t++)
    if (!kernels_are_small(tables[t]))
      tables[table_count++] = tables[t];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_terms),
      cmocka_unit_test(test_neighbours),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
