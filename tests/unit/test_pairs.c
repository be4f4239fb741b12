// Kernels of two or three operations (vm/kernels/pair.h): each has the bits of
// its operations one after the other, by the baseline's kernels, whatever the
// instruction set and the length; into a memory of its own and into an
// operand's.
#include "tests/unit/kernel_items.h"

enum { MOST = 150, GUARD = 16, OPERANDS = 6 };

typedef struct operation {
  tl_op op;
  bool left, right;  // these are n items; else one
  bool turned;       // z - t, not t - z
} operation;

static const operation firsts[TL_FIRST_COUNT] = {
    [TL_FIRST_ADD_VV] = {TL_OP_ADD, true, true, false},
    [TL_FIRST_ADD_VS] = {TL_OP_ADD, true, false, false},
    [TL_FIRST_SUBTRACT_VV] = {TL_OP_SUBTRACT, true, true, false},
    [TL_FIRST_SUBTRACT_VS] = {TL_OP_SUBTRACT, true, false, false},
    [TL_FIRST_SUBTRACT_SV] = {TL_OP_SUBTRACT, false, true, false},
    [TL_FIRST_MULTIPLY_VV] = {TL_OP_MULTIPLY, true, true, false},
    [TL_FIRST_MULTIPLY_VS] = {TL_OP_MULTIPLY, true, false, false},
    [TL_FIRST_DIVIDE_VV] = {TL_OP_DIVIDE, true, true, false},
    [TL_FIRST_DIVIDE_VS] = {TL_OP_DIVIDE, true, false, false},
};

static const operation seconds[TL_SECOND_COUNT] = {
    [TL_SECOND_ADD_V] = {TL_OP_ADD, true, true, false},
    [TL_SECOND_ADD_S] = {TL_OP_ADD, true, false, false},
    [TL_SECOND_SUBTRACT_V] = {TL_OP_SUBTRACT, true, true, false},
    [TL_SECOND_SUBTRACT_S] = {TL_OP_SUBTRACT, true, false, false},
    [TL_SECOND_FROM_V] = {TL_OP_SUBTRACT, true, true, true},
    [TL_SECOND_FROM_S] = {TL_OP_SUBTRACT, true, false, true},
    [TL_SECOND_MULTIPLY_V] = {TL_OP_MULTIPLY, true, true, false},
    [TL_SECOND_MULTIPLY_S] = {TL_OP_MULTIPLY, true, false, false},
    [TL_SECOND_DIVIDE_V] = {TL_OP_DIVIDE, true, true, false},
    [TL_SECOND_DIVIDE_S] = {TL_OP_DIVIDE, true, false, false},
    [TL_SECOND_MINIMUM_V] = {TL_OP_MINIMUM, true, true, false},
    [TL_SECOND_MINIMUM_S] = {TL_OP_MINIMUM, true, false, false},
    [TL_SECOND_MAXIMUM_V] = {TL_OP_MAXIMUM, true, true, false},
    [TL_SECOND_MAXIMUM_S] = {TL_OP_MAXIMUM, true, false, false},
    [TL_SECOND_SQUARE] = {TL_OP_SQUARE, true, true, false},
    [TL_SECOND_ABS] = {TL_OP_ABS, true, true, false},
    [TL_SECOND_SQRT] = {TL_OP_SQRT, true, true, false},
};

static const operation questions[TL_QUESTION_COUNT] = {
    [TL_QUESTION_LESS_VV] = {TL_OP_LESS, true, true, false},
    [TL_QUESTION_LESS_VS] = {TL_OP_LESS, true, false, false},
    [TL_QUESTION_LESS_SV] = {TL_OP_LESS, false, true, false},
    [TL_QUESTION_LESS_EQUAL_VV] = {TL_OP_LESS_EQUAL, true, true, false},
    [TL_QUESTION_LESS_EQUAL_VS] = {TL_OP_LESS_EQUAL, true, false, false},
    [TL_QUESTION_LESS_EQUAL_SV] = {TL_OP_LESS_EQUAL, false, true, false},
    [TL_QUESTION_EQUAL_VV] = {TL_OP_EQUAL, true, true, false},
    [TL_QUESTION_EQUAL_VS] = {TL_OP_EQUAL, true, false, false},
    [TL_QUESTION_NOT_EQUAL_VV] = {TL_OP_NOT_EQUAL, true, true, false},
    [TL_QUESTION_NOT_EQUAL_VS] = {TL_OP_NOT_EQUAL, true, false, false},
};

static const operation choices[TL_CHOICE_COUNT] = {
    [TL_CHOICE_VV] = {TL_OP_WHERE, true, true, false},
    [TL_CHOICE_VS] = {TL_OP_WHERE, true, false, false},
    [TL_CHOICE_SV] = {TL_OP_WHERE, false, true, false},
};

typedef unsigned char memory[(MOST + 4) * sizeof(double) + GUARD];
static _Alignas(64) memory in[OPERANDS], expected, out;

// --- One after the other ----------------------------------------------------

static item apply(tl_op op, tl_dtype dtype, item x, item y) {
  const tl_kernel_table *base = tl_kernels_named("base");
  item result = {{0}};
  if (tl_ops[op].arity == 1) {
    base->unary[op][dtype](&result, &x, 1);
  } else {
    base->binary[op][dtype](&result, &x, &y, 1);
  }
  return result;
}

static item operand(tl_dtype dtype, int at, bool many, size_t i) {
  return load_item(dtype, in[at] + tl_itemsize(dtype), many ? i : 0);
}

static item first_of(const operation *o, tl_dtype dtype, int at, size_t i) {
  return apply(o->op, dtype, operand(dtype, at, o->left, i),
               operand(dtype, at + 1, o->right, i));
}

static item then(const operation *o, tl_dtype dtype, item t, int at, size_t i) {
  item z = operand(dtype, at, o->right, i);
  return o->turned ? apply(o->op, dtype, z, t) : apply(o->op, dtype, t, z);
}

// --- Kernels against that ---------------------------------------------------

typedef struct kernel {
  tl_kernel3 *k3;
  tl_kernel4 *k4;
  tl_kernel6 *k6;
} kernel;

static void call(kernel k, void *to, void *const *from, size_t n) {
  if (k.k6 != NULL) {
    k.k6(to, from[0], from[1], from[2], from[3], from[4], from[5], n);
  } else if (k.k3 != NULL) {
    k.k3(to, from[0], from[1], from[2], n);
  } else {
    k.k4(to, from[0], from[1], from[2], from[3], n);
  }
}

static void compare(tl_dtype dtype, const void *to, size_t n, const char *what,
                    const char *isa) {
  for (size_t i = 0; i < n; i++) {
    if (!same_items(dtype, load_item(dtype, to, i),
                    load_item(dtype, expected, i), 0)) {
      fail_msg("%s of %s, %s: item %zu of %zu", what, tl_dtypes[dtype].name,
               isa, i, n);
    }
  }
}

// [many]: which operands are n items, of those that are read.
static void check(kernel kernel, tl_dtype dtype, size_t n, const bool *many,
                  const char *what, const char *isa) {
  size_t itemsize = tl_itemsize(dtype), nbytes = n * itemsize;
  void *from[OPERANDS];
  int count = kernel.k6 != NULL ? 6 : kernel.k3 != NULL ? 3 : 4;
  for (int k = 0; k < OPERANDS; k++) from[k] = in[k] + itemsize;
  memset(out, 0xA5, sizeof out);
  call(kernel, out, from, n);
  compare(dtype, out, n, what, isa);
  for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[nbytes + i], 0xA5);
  for (int k = 0; k < count; k++) {
    if (!many[k])
      continue;
    memcpy(out, from[k], nbytes);
    void *kept = from[k];
    from[k] = out;
    call(kernel, out, from, n);
    compare(dtype, out, n, what, isa);
    from[k] = kept;
  }
}

static void make_operands(tl_dtype dtype) {
  for (int k = 0; k < OPERANDS; k++) fill_random(dtype, in[k], MOST + 2);
}

static const tl_kernel_table *tables[3];
static int table_count;

static tl_pairs *pairs_of(const tl_pair_table *t, tl_dtype dtype) {
  return (tl_pairs *)(dtype == TL_UINT8     ? &t->uint8
                      : dtype == TL_INT32   ? &t->int32
                      : dtype == TL_INT64   ? &t->int64
                      : dtype == TL_FLOAT32 ? &t->float32
                                            : &t->float64);
}

static void pairs_in(tl_dtype dtype, size_t n) {
  for (int f = 0; f < TL_FIRST_COUNT; f++) {
    for (int s = 0; s < TL_SECOND_COUNT; s++) {
      const operation *x = &firsts[f], *y = &seconds[s];
      if ((*pairs_of(tables[0]->pairs, dtype))[f][s] == NULL) {
        assert_true(tl_dtype_is_integer(dtype) || x->op == TL_OP_DIVIDE);
        assert_true(x->op == TL_OP_DIVIDE || y->op == TL_OP_DIVIDE ||
                    y->op == TL_OP_ABS || y->op == TL_OP_SQRT ||
                    dtype == TL_UINT8);
        continue;
      }
      make_operands(dtype);
      for (size_t i = 0; i < n; i++) {
        item t = first_of(x, dtype, 0, i);
        store_item(dtype, expected, i, then(y, dtype, t, 2, i));
      }
      bool many[] = {x->left, x->right, y->right && tl_ops[y->op].arity == 2};
      for (int t = 0; t < table_count; t++) {
        tl_kernel3 *kernel = (*pairs_of(tables[t]->pairs, dtype))[f][s];
        check((struct kernel){.k3 = kernel}, dtype, n, many, tl_ops[y->op].name,
              tables[t]->name);
      }
    }
  }
}

static void choices_in(tl_dtype dtype, size_t n) {
  for (int q = 0; q < TL_QUESTION_COUNT; q++) {
    for (int c = 0; c < TL_CHOICE_COUNT; c++) {
      const operation *x = &questions[q], *y = &choices[c];
      make_operands(dtype);
      for (size_t i = 0; i < n; i++) {
        bool yes = first_of(x, dtype, 0, i).u8 != 0;
        store_item(dtype, expected, i,
                   yes ? operand(dtype, 2, y->left, i)
                       : operand(dtype, 3, y->right, i));
      }
      bool many[] = {x->left, x->right, y->left, y->right};
      for (int t = 0; t < table_count; t++) {
        const tl_pair_table *table = tables[t]->pairs;
        tl_kernel4 *kernel = dtype == TL_FLOAT32 ? table->choose_float32[q][c]
                                                 : table->choose_float64[q][c];
        check((struct kernel){.k4 = kernel}, dtype, n, many, "where",
              tables[t]->name);
      }
    }
  }
}

#define X(NAME) TL_FIRST_##NAME,
static const tl_first triple_firsts[] = {TL_TRIPLE_FIRSTS(X)};
static const tl_first sides[] = {TL_JOIN_SIDES(X)};
#undef X
#define X(NAME) TL_SECOND_##NAME,
static const tl_second triple_seconds[] = {TL_TRIPLE_SECONDS(X)};
static const tl_second triple_thirds[] = {TL_TRIPLE_THIRDS(X)};
#undef X

static void triple_in(tl_dtype dtype, size_t n, int f, int s, int w) {
  const operation *x = &firsts[triple_firsts[f]];
  const operation *y = &seconds[triple_seconds[s]];
  const operation *z = &seconds[triple_thirds[w]];
  if (dtype == TL_UINT8 && tables[0]->pairs->triples_uint8[f][s][w] == NULL) {
    assert_true(x->op == TL_OP_MULTIPLY || y->op == TL_OP_MULTIPLY ||
                z->op == TL_OP_MULTIPLY);
    return;
  }
  make_operands(dtype);
  for (size_t i = 0; i < n; i++) {
    item t = then(y, dtype, first_of(x, dtype, 0, i), 2, i);
    store_item(dtype, expected, i, then(z, dtype, t, 3, i));
  }
  bool many[] = {x->left, x->right, y->right, z->right};
  for (int t = 0; t < table_count; t++) {
    const tl_pair_table *table = tables[t]->pairs;
    check(
        (kernel){.k4 = dtype == TL_UINT8     ? table->triples_uint8[f][s][w]
                       : dtype == TL_FLOAT32 ? table->triples_float32[f][s][w]
                                             : table->triples_float64[f][s][w]},
        dtype, n, many, "three operations", tables[t]->name);
  }
}

static void triples_in(tl_dtype dtype, size_t n) {
  for (int f = 0; f < TL_TRIPLE_FIRST_COUNT; f++) {
    for (int s = 0; s < TL_TRIPLE_SECOND_COUNT; s++) {
      for (int w = 0; w < TL_TRIPLE_THIRD_COUNT; w++)
        triple_in(dtype, n, f, s, w);
    }
  }
}

static void join_in(tl_dtype dtype, size_t n, int j, int f, int s) {
  static const tl_op ops[] = {
      [TL_JOIN_ADD] = TL_OP_ADD,
      [TL_JOIN_SUBTRACT] = TL_OP_SUBTRACT,
      [TL_JOIN_MULTIPLY] = TL_OP_MULTIPLY,
      [TL_JOIN_NORM] = TL_OP_ADD,
  };
  const operation *x = &firsts[sides[f]];
  const operation *y = &firsts[sides[s]];
  make_operands(dtype);
  for (size_t i = 0; i < n; i++) {
    item t = apply(ops[j], dtype, first_of(x, dtype, 0, i),
                   first_of(y, dtype, 2, i));
    if (j == TL_JOIN_NORM)
      t = apply(TL_OP_SQRT, dtype, t, t);
    store_item(dtype, expected, i, t);
  }
  bool many[] = {x->left, x->right, y->left, y->right};
  for (int t = 0; t < table_count; t++) {
    const tl_pair_table *table = tables[t]->pairs;
    check((kernel){.k4 = dtype == TL_FLOAT32 ? table->joins_float32[j][f][s]
                                             : table->joins_float64[j][f][s]},
          dtype, n, many, "two and two", tables[t]->name);
  }
}

static void joins_in(tl_dtype dtype, size_t n) {
  for (int j = 0; j < TL_JOIN_COUNT; j++) {
    for (int f = 0; f < TL_JOIN_SIDE_COUNT; f++) {
      for (int s = 0; s < TL_JOIN_SIDE_COUNT; s++) join_in(dtype, n, j, f, s);
    }
  }
}

static void scaled_in(tl_dtype dtype, size_t n, int j, int f, int s) {
  static const tl_op ops[] = {
      [TL_SCALED_ADD] = TL_OP_ADD, [TL_SCALED_SUBTRACT] = TL_OP_SUBTRACT};
  const operation times = {TL_OP_MULTIPLY, true, false, false};
  const operation x = {ops[f], true, true, false};
  const operation y = {ops[s], true, true, false};
  make_operands(dtype);
  for (size_t i = 0; i < n; i++) {
    item t = then(&times, dtype, first_of(&x, dtype, 0, i), 2, i);
    item u = then(&times, dtype, first_of(&y, dtype, 3, i), 5, i);
    store_item(dtype, expected, i, apply(ops[j], dtype, t, u));
  }
  bool many[] = {true, true, false, true, true, false};
  for (int t = 0; t < table_count; t++) {
    const tl_pair_table *table = tables[t]->pairs;
    check((kernel){.k6 = dtype == TL_FLOAT32 ? table->scaled_float32[j][f][s]
                                             : table->scaled_float64[j][f][s]},
          dtype, n, many, "sums times items", tables[t]->name);
  }
}

static void all_scaled_in(tl_dtype dtype, size_t n) {
  for (int j = 0; j < TL_SCALED_COUNT; j++) {
    for (int f = 0; f < TL_SCALED_COUNT; f++) {
      for (int s = 0; s < TL_SCALED_COUNT; s++) scaled_in(dtype, n, j, f, s);
    }
  }
}

// How many of the thirds there are after two sums.
static int triple_thirds_of(tl_dtype dtype) {
  return dtype == TL_UINT8                        ? 4
         : dtype == TL_INT32 || dtype == TL_INT64 ? 0
                                                  : TL_TRIPLE_THIRD_COUNT;
}

static tl_kernel4 *triple_of(const tl_pair_table *table, tl_dtype dtype,
                             int third) {
  const tl_triples *triples = dtype == TL_UINT8     ? &table->triples_uint8
                              : dtype == TL_FLOAT32 ? &table->triples_float32
                                                    : &table->triples_float64;
  return (*triples)[TL_TRIPLE_FIRST_ADD_VV][TL_TRIPLE_SECOND_ADD_V][third];
}

static void sums_in(tl_dtype dtype, size_t n, const operation *z,
                    tl_kernel4 *k4, void *const *of, const char *name) {
  void *from[OPERANDS];
  memcpy(from, of, sizeof from);
  call((kernel){.k4 = k4}, out, from, n);
  compare(dtype, out, n, "neighbours", name);
  for (size_t i = 0; i < GUARD; i++)
    assert_int_equal(out[n * tl_itemsize(dtype) + i], 0xA5);
  if (!z->right)
    return;
  memcpy(out, from[3], n * tl_itemsize(dtype));
  from[3] = out;
  call((kernel){.k4 = k4}, out, from, n);
  compare(dtype, out, n, "neighbours", name);
}

// Three operands that are one run of items, in all orders.
static void window_in(tl_dtype dtype, size_t n, const int *order, int third) {
  const operation *add = &firsts[TL_FIRST_ADD_VV];
  const operation *z = &seconds[triple_thirds[third]];
  size_t itemsize = tl_itemsize(dtype);
  make_operands(dtype);
  for (int k = 1; k < 3; k++) {
    memcpy(in[order[k]], in[order[0]] + (size_t)k * itemsize,
           (MOST + 3 - (size_t)k) * itemsize);
  }
  static memory pair;
  for (size_t i = 0; i < n; i++) {
    item t = apply(add->op, dtype, first_of(add, dtype, 0, i),
                   operand(dtype, 2, true, i));
    store_item(dtype, pair, i, t);
    store_item(dtype, expected, i, then(z, dtype, t, 3, i));
  }
  void *from[OPERANDS];
  for (int k = 0; k < OPERANDS; k++) from[k] = in[k] + itemsize;
  for (int k = 1; k < 3; k++)
    from[order[k]] = in[order[0]] + (size_t)(k + 1) * itemsize;
  for (int t = 0; t < table_count; t++) {
    const tl_pair_table *table = tables[t]->pairs;
    memset(out, 0xA5, sizeof out);
    if (third < triple_thirds_of(dtype))
      sums_in(dtype, n, z, triple_of(table, dtype, third), from,
              tables[t]->name);
    memcpy(expected, pair, n * itemsize);
    call((kernel){.k3 = (*pairs_of(table,
                                   dtype))[TL_FIRST_ADD_VV][TL_SECOND_ADD_V]},
         out, from, n);
    compare(dtype, out, n, "neighbours", tables[t]->name);
    for (size_t i = 0; i < GUARD; i++)
      assert_int_equal(out[n * itemsize + i], 0xA5);
    for (size_t i = 0; i < n; i++) {
      store_item(dtype, expected, i,
                 then(z, dtype, load_item(dtype, pair, i), 3, i));
    }
  }
}

static void windows_in(tl_dtype dtype, size_t n) {
  static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1},
                                  {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int o = 0; o < 6; o++) {
    int thirds = triple_thirds_of(dtype);
    for (int third = 0; third < (thirds > 0 ? thirds : 1); third++)
      window_in(dtype, n, orders[o], third);
  }
}

static void branch_in(size_t n, int q, int f, int s) {
  const operation *x = &firsts[triple_firsts[f]];
  const operation *y = &firsts[triple_firsts[s]];
  make_operands(TL_FLOAT64);
  for (size_t i = 0; i < n; i++) {
    bool yes = first_of(&questions[q], TL_FLOAT64, 0, i).u8 != 0;
    store_item(
        TL_FLOAT64, expected, i,
        yes ? first_of(x, TL_FLOAT64, 2, i) : first_of(y, TL_FLOAT64, 4, i));
  }
  bool many[] = {questions[q].left, questions[q].right,
                 x->left,           x->right,
                 y->left,           y->right};
  for (int t = 0; t < table_count; t++) {
    check((kernel){.k6 = tables[t]->pairs->branches_float64[q][f][s]},
          TL_FLOAT64, n, many, "where of two", tables[t]->name);
  }
}

static void branches_in(size_t n) {
  for (int q = 0; q < TL_BRANCH_QUESTIONS; q++) {
    for (int f = 0; f < TL_TRIPLE_FIRST_COUNT; f++) {
      for (int s = 0; s < TL_TRIPLE_FIRST_COUNT; s++) branch_in(n, q, f, s);
    }
  }
}

// --- Masks ------------------------------------------------------------------

static const tl_op logics[TL_LOGIC_COUNT] = {
    [TL_LOGIC_AND] = TL_OP_LOGICAL_AND,
    [TL_LOGIC_OR] = TL_OP_LOGICAL_OR,
};

static const tl_asked *asked_of(int t, tl_dtype dtype) {
  const tl_question_table *table = tables[t]->questions;
  return dtype == TL_UINT8     ? &table->of_uint8
         : dtype == TL_INT64   ? &table->of_int64
         : dtype == TL_FLOAT32 ? &table->of_float32
                               : &table->of_float64;
}

// The answers, and in no memory but their own unless they are as wide.
static void check_mask(kernel kernel, tl_dtype dtype, size_t n,
                       const bool *many, const char *isa) {
  size_t itemsize = tl_itemsize(dtype);
  void *from[OPERANDS];
  for (int k = 0; k < OPERANDS; k++) from[k] = in[k] + itemsize;
  if (kernel.k3 != NULL)
    from[2] = in[2] + 1;
  memset(out, 0xA5, sizeof out);
  call(kernel, out, from, n);
  compare(TL_BOOL, out, n, "masks", isa);
  for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[n + i], 0xA5);
  for (int k = 0; k < (kernel.k3 != NULL ? 3 : 4); k++) {
    bool fits = itemsize == 1 || (kernel.k3 != NULL && k == 2);
    if (!many[k] || !fits)
      continue;
    memcpy(out, from[k], n);
    void *kept = from[k];
    from[k] = out;
    call(kernel, out, from, n);
    compare(TL_BOOL, out, n, "masks", isa);
    from[k] = kept;
  }
}

static void mask_in(tl_dtype dtype, size_t n, int q, int l) {
  make_operands(dtype);
  for (size_t i = 0; i < MOST + 2; i++) in[2][i] &= 1;
  for (size_t i = 0; i < n; i++) {
    item z = load_item(TL_BOOL, in[2] + 1, i);
    store_item(
        TL_BOOL, expected, i,
        apply(logics[l], TL_BOOL, first_of(&questions[q], dtype, 0, i), z));
  }
  bool many[] = {questions[q].left, questions[q].right, true};
  for (int t = 0; t < table_count; t++) {
    check_mask((kernel){.k3 = asked_of(t, dtype)->masks[q][l]}, dtype, n, many,
               tables[t]->name);
  }
}

// Each two questions have a kernel, one way round or the other.
static void both_in(tl_dtype dtype, size_t n, int q, int r, int l) {
  const operation *x = &questions[q], *y = &questions[r];
  make_operands(dtype);
  for (size_t i = 0; i < n; i++) {
    store_item(TL_BOOL, expected, i,
               apply(logics[l], TL_BOOL, first_of(x, dtype, 0, i),
                     first_of(y, dtype, 2, i)));
  }
  bool many[] = {x->left, x->right, y->left, y->right};
  for (int t = 0; t < table_count; t++) {
    const tl_asked *asked = asked_of(t, dtype);
    tl_kernel4 *found = asked->both[q][r][l];
    if (found == NULL) {
      assert_true((x->left && x->right) || (y->left && y->right) ||
                  asked->both[r][q][l] != NULL);
    } else {
      check_mask((kernel){.k4 = found}, dtype, n, many, tables[t]->name);
    }
  }
}

static void masks_in(tl_dtype dtype, size_t n) {
  for (int q = 0; q < TL_QUESTION_COUNT; q++) {
    for (int l = 0; l < TL_LOGIC_COUNT; l++) {
      mask_in(dtype, n, q, l);
      for (int r = 0; r < TL_QUESTION_COUNT; r++) both_in(dtype, n, q, r, l);
    }
  }
}

static const size_t lengths[] = {0,  1,  2,  3,  7,  8,  9,   16,
                                 31, 33, 63, 64, 70, 99, 128, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };
static const tl_dtype reals[] = {TL_FLOAT32, TL_FLOAT64};

static void test_two(void **state) {
  (void)state;
  static const tl_dtype dtypes[] = {TL_UINT8, TL_INT32, TL_INT64, TL_FLOAT32,
                                    TL_FLOAT64};
  for (int d = 0; d < 5; d++) {
    for (int i = 0; i < LENGTHS; i++) {
      pairs_in(dtypes[d], lengths[i]);
      windows_in(dtypes[d], lengths[i]);
    }
  }
}

static void test_three(void **state) {
  (void)state;
  for (int i = 0; i < LENGTHS; i++) triples_in(TL_UINT8, lengths[i]);
  for (int d = 0; d < 2; d++) {
    for (int i = 0; i < LENGTHS; i++) {
      triples_in(reals[d], lengths[i]);
      joins_in(reals[d], lengths[i]);
      all_scaled_in(reals[d], lengths[i]);
    }
  }
}

static void test_choices(void **state) {
  (void)state;
  for (int d = 0; d < 2; d++) {
    for (int i = 0; i < LENGTHS; i++) choices_in(reals[d], lengths[i]);
  }
  for (int i = 0; i < LENGTHS; i++) branches_in(lengths[i]);
}

static void test_masks(void **state) {
  (void)state;
  static const tl_dtype dtypes[] = {TL_UINT8, TL_INT64, TL_FLOAT32, TL_FLOAT64};
  for (int d = 0; d < 4; d++) {
    for (int i = 0; i < LENGTHS; i++) masks_in(dtypes[d], lengths[i]);
  }
}

int main(void) {
  table_count = kernel_tables(tables);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two),
      cmocka_unit_test(test_three),
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_masks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
