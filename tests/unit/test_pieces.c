// Pieces (vm/native/pieces.h): random ones of each form have the bits of their
// operations, one after the other by the baseline's kernels, whatever the
// number of items; into memory of their own and into an operand's.
#include "tests/unit/fixture.h"
#include "tests/unit/kernel_items.h"
#include "vm/native/pieces.h"

#if TL_JIT_X64

enum { PIECES = 3000, MOST = 150, GUARD = 16 };
enum { INPUTS = 4, SINGLES = 2, GIVEN = INPUTS + SINGLES, VALUES = 20 };

typedef unsigned char memory[MOST * sizeof(double) + GUARD];

// A piece and its values: INPUTS of items, the last of them bools, SINGLES of
// one, and what is made. Of each its dtype, and what it is to be.
typedef struct subject {
  tl_vector_piece piece;
  tl_dtype dtype[VALUES];
  int count;          // of the values
  int8_t at[VALUES];  // the value in whose memory a made one is written
} subject;

static memory given[GIVEN], expected[VALUES], rooms[VALUES];

// --- Random pieces ----------------------------------------------------------

// A value of a dtype, items or one item; an input of bools, or numbers of the
// piece's dtype, if nothing else is found.
static int pick(const subject *s, tl_dtype dtype, bool *is_single) {
  for (int tries = 0; tries < 50; tries++) {
    int value = (int)(random_bits() % (uint64_t)s->count);
    bool single = value >= INPUTS && value < GIVEN;
    if (s->dtype[value] != dtype || (single && dtype == TL_BOOL))
      continue;
    *is_single = single;
    return value;
  }
  *is_single = false;
  return dtype == TL_BOOL ? INPUTS - 1 : 0;
}

static bool gives_bools(int op, tl_dtype dtype) {
  return dtype == TL_BOOL || (op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL);
}

// One operation on values that are there, bools or of the inputs' dtype. Not
// all operands are one item.
static void add_operation(subject *s) {
  tl_dtype dtype = random_bits() % 4 == 0 ? TL_BOOL : s->dtype[0];
  int op;
  do {
    op = (int)(random_bits() % TL_OP_COUNT);
  } while (!tl_piece_knows((tl_op)op, dtype));
  tl_piece_operation *o = &s->piece.operations[s->piece.count++];
  *o = (tl_piece_operation){.op = (uint8_t)op, .dtype = (uint8_t)dtype};
  int singles = 0;
  for (int k = 0; k < tl_ops[op].arity; k++) {
    bool is_choice = op == TL_OP_WHERE && k == 0, single;
    o->in[k] = (uint8_t)pick(s, is_choice ? TL_BOOL : dtype, &single);
    if (single && ++singles == tl_ops[op].arity) {
      o->in[k] = 0;
      single = false;
    }
    o->singles |= (uint8_t)(single << k);
  }
  o->out = (uint8_t)s->count;
  o->is_stored = random_bits() % 4 == 0;
  s->dtype[s->count++] = gives_bools(op, dtype) ? TL_BOOL : dtype;
}

// What is stored goes to memory of its own, or over an input that is as wide
// and that no other value has.
static void place(subject *s) {
  uint32_t taken = 0;
  for (int i = 0; i < s->piece.count; i++) {
    int out = s->piece.operations[i].out;
    int input = (int)(random_bits() % INPUTS);
    bool is_alias = random_bits() % 2 == 0 && (taken >> input & 1) == 0 &&
                    tl_itemsize(s->dtype[input]) == tl_itemsize(s->dtype[out]);
    s->at[out] = (int8_t)(is_alias ? input : out);
    if (is_alias && s->piece.operations[i].is_stored)
      taken |= 1u << input;
  }
}

static void make(subject *s, tl_dtype dtype) {
  memset(s, 0, sizeof *s);
  s->count = GIVEN;
  for (int v = 0; v < GIVEN; v++)
    s->dtype[v] = v == INPUTS - 1 ? TL_BOOL : dtype;
  int operations = 2 + (int)(random_bits() % 10);
  for (int i = 0; i < operations; i++) add_operation(s);
  s->piece.operations[operations - 1].is_stored = true;
  place(s);
  for (int v = 0; v < GIVEN; v++) fill_random(s->dtype[v], given[v], MOST);
}

// --- Against the kernels ----------------------------------------------------

static item apply(const tl_piece_operation *o, const item *x) {
  const tl_kernel_table *base = tl_kernels_named("base");
  item result = {{0}};
  if (tl_ops[o->op].arity == 1)
    base->unary[o->op][o->dtype](&result, &x[0], 1);
  else if (tl_ops[o->op].arity == 2)
    base->binary[o->op][o->dtype](&result, &x[0], &x[1], 1);
  else
    base->select[tl_move_size(tl_itemsize(o->dtype))](&result, &x[0], &x[1],
                                                      &x[2], 1);
  return result;
}

static void find_expected(const subject *s) {
  memcpy(expected, given, sizeof given);
  for (size_t i = 0; i < MOST; i++) {
    for (int k = 0; k < s->piece.count; k++) {
      const tl_piece_operation *o = &s->piece.operations[k];
      item x[3];
      for (int j = 0; j < tl_ops[o->op].arity; j++) {
        bool single = (o->singles >> j & 1) != 0;
        x[j] =
            load_item(s->dtype[o->in[j]], expected[o->in[j]], single ? 0 : i);
      }
      store_item(s->dtype[o->out], expected[o->out], i, apply(o, x));
    }
  }
}

// Runs the code on [n] items of the given values.
static void check(const subject *s, const tl_plan_piece *code, size_t n) {
  static tl_plan_value values[TL_PLAN_VALUES];
  memset(rooms, 0xA5, sizeof rooms);
  for (int v = 0; v < s->count; v++) {
    size_t nbytes = (v < INPUTS ? n : 1) * tl_itemsize(s->dtype[v]);
    if (v < GIVEN)
      memcpy(rooms[v], given[v], nbytes);
    values[v].at = (char *)rooms[v < GIVEN ? v : s->at[v]];
  }
  code->run(values, n, code);
  for (int k = 0; k < s->piece.count; k++) {
    const tl_piece_operation *o = &s->piece.operations[k];
    tl_dtype dtype = s->dtype[o->out];
    if (!o->is_stored)
      continue;
    const unsigned char *out = rooms[s->at[o->out]];
    for (size_t i = 0; i < n; i++) {
      if (!same_items(dtype, load_item(dtype, out, i),
                      load_item(dtype, expected[o->out], i), 0))
        fail_msg("%s of %s: item %zu of %zu", tl_ops[o->op].name,
                 tl_dtypes[o->dtype].name, i, n);
    }
    size_t nbytes = n * tl_itemsize(dtype);
    for (size_t i = 0; i < GUARD; i++) assert_int_equal(out[nbytes + i], 0xA5);
  }
}

static void check_form(tl_vm *vm, const tl_vector_form *form) {
  static const size_t lengths[] = {1, 7, 8, 31, 33, 64, MOST};
  tl_code_chunk *chunks = NULL;
  int made = 0;
  for (int i = 0; i < PIECES; i++) {
    static subject s;
    tl_dtype dtype = (tl_dtype)(i % (TL_FLOAT64 + 1));
    tl_assembler as = {.vm = vm};
    if (!tl_piece_knows(TL_OP_ADD, dtype))
      continue;
    make(&s, dtype);
    find_expected(&s);
    if (tl_piece_emit(&s.piece, form, &as)) {
      void *code = tl_code_put(vm, &chunks, as.bytes, as.size);
      tl_plan_piece piece;
      assert_non_null(code);
      memcpy(&piece.run, &code, sizeof code);
      for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        check(&s, &piece, lengths[l]);
      tl_code_drop(chunks, code);
      made++;
    }
    tl_as_close(&as);
  }
  tl_code_close(vm, chunks);
  // Few need more registers than there are.
  assert_true(made > PIECES / 2);
}

static void pieces_of_avx512(void **state) {
  if (!tl_code_may_run() || tl_kernels_named("avx512") == NULL)
    skip();
  check_form(*state, &tl_vector_512);
}

static void pieces_of_avx2(void **state) {
  if (!tl_code_may_run() || tl_kernels_named("avx2") == NULL)
    skip();
  check_form(*state, &tl_vector_256);
}

#else

static void pieces_of_avx512(void **state) {
  (void)state;
  skip();
}

static void pieces_of_avx2(void **state) {
  pieces_of_avx512(state);
}

#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(pieces_of_avx512),
      FIXTURE_TEST(pieces_of_avx2),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
