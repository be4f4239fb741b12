// Typing of what computes: operators, comparisons and conditions of scalars.
// The cases are those of the interpreter's fast ways, since these are what has
// no errors: everything else leaves.
//
//     x op y     put_operator     one operation, where the processor has it:
//                                 sums, quotients, bits, squares, of numbers
//                compute_two      else COMPUTE, a call of tl_scalar_binary;
//                                 the result's type is foretold, and tested
//                neither          the unit leaves: strings, arrays, errors
//
// The types of results are those of vm/engine/promote.c, weak numbers and all:
// a unit that guessed one dtype wrong would print another number.
#include "vm/native/typing.h"

#include <stdlib.h>

#include "vm/engine/operand.h"
#include "vm/engine/scalars.h"
#include "vm/region/region.h"

// Kinds of operands. A bool is no number: arithmetic on bools has rules of its
// own. Complex numbers are left to tl_scalar_binary.
static bool is_number(const tl_typing_operand *o) {
  return tl_jit_is_integer(o->type) || tl_jit_is_float(o->type);
}
// Whether its dtype gives way to the other operand's, as a literal's does.
static bool is_weak(const tl_typing_operand *o) {
  return (o->type & TL_TYPE_WEAK) != 0;
}

// The type of what two scalars meet in, which is what vm/engine/promote.c says
// of them; weak where both are. Two of one weakness are promoted; else the weak
// one adapts to the other: int8 and 3 meet in int8, int8 and 3.5 in float64.
static tl_jit_type meet(const tl_typing_operand *b,
                        const tl_typing_operand *c) {
  tl_dtype x = tl_jit_dtype(b->type), y = tl_jit_dtype(c->type);
  tl_dtype both = is_weak(b) == is_weak(c) ? tl_dtype_promote(x, y)
                  : is_weak(b)             ? tl_dtype_promote_weak(x, y)
                                           : tl_dtype_promote_weak(y, x);
  return (tl_jit_type)(tl_jit_of_dtype(both) |
                       (b->type & c->type & TL_TYPE_WEAK));
}

// Whether an operand is an integer of the dtype as it is. A weak one need not
// fit, which only of a constant is known here: int8(5) + n of a weak n is an
// error for an n of 300, and is computed by the function, which declines then.
static bool is_held(const tl_typing_operand *o, tl_dtype dtype) {
  return !is_weak(o) || dtype == TL_INT64 ||
         (o->is_known && tl_int_fits(o->value.i, dtype));
}

// Of integers a value that is known stands in the operation. Amounts and
// divisors that are known have been tested by put_integer, so only those in
// registers have an exit.
static void put_int(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                    tl_jit_type type, const tl_typing_operand *b,
                    const tl_typing_operand *c) {
  tl_typed *t = tl_typing_set(x, op, a, type, b->slot,
                              c->is_known ? TL_JIT_NONE : c->slot);
  t->imm = c->is_known ? c->value.i : 0;
}

// The emitter writes the bits behind the code, where instructions read them. A
// float32 has its bits at the lower end and 0 above.
int64_t tl_typing_bits(const tl_typing_operand *o, tl_dtype dtype) {
  tl_slot made = tl_none();
  tl_scalar_cast(&o->value, dtype, &made);
  return made.i;
}

// Whether the float64 is a power of two whose inverse is one that is no less
// exact; then *bits become the inverse's. A product with that has the bits of
// the quotient, and takes a third of its time.
static bool has_inverse(int64_t *bits) {
  int64_t exponent = *bits >> 52;
  if ((*bits & 0xfffffffffffff) != 0 || exponent < 1 || exponent > 2045)
    return false;
  *bits = (2046 - exponent) << 52;
  return true;
}

// Of floats only a constant of the bytecode stands in the operation: what is
// known of a slot is in a register already. The registers are converted to the
// width of the type, if need be.
static void put_float(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                      tl_jit_type type, const tl_typing_operand *b,
                      const tl_typing_operand *c) {
  tl_dtype dtype = tl_jit_dtype(type);
  int64_t imm = c->slot >= 0 ? 0 : tl_typing_bits(c, dtype);
  bool halves = op == TL_TYPED_FDIV && c->slot < 0 && dtype == TL_FLOAT64 &&
                has_inverse(&imm);
  tl_typed *t = tl_typing_set(x, halves ? TL_TYPED_FMUL : op, a, type,
                              tl_typing_register(b), tl_typing_register(c));
  t->imm = imm;
}

// Whatever else the interpreter computes of two scalars, or of one ([c] is
// NULL), by the function that it calls for that; [op] is one of tl_op. The
// result has to have the type, else the unit leaves: what it is need only be
// likely. The first operand is in a register, as the function reads its slot; a
// constant second one gets a slot on the stack.
static void put_computed(tl_typing_pass *x, int op, uint32_t a,
                         tl_jit_type type, const tl_typing_operand *b,
                         const tl_typing_operand *c) {
  tl_typed *t =
      tl_typing_set(x, TL_TYPED_COMPUTE, a, type, tl_typing_register(b),
                    c == NULL ? TL_JIT_NONE : tl_typing_register(c));
  if (c != NULL && c->slot < 0) {
    t->from[2] = c->type;
    t->imm = c->value.i;
  }
  t->condition = (uint8_t)op;
}

// The type that an operation of one scalar gives, or of two that meet in
// [both]; UNKNOWN: it is refused, or no scalar. Weakness passes to a result of
// 8 bytes that is no bool, as tl_scalar_unary does it.
static tl_jit_type result_of(int op, tl_jit_type both) {
  tl_dtype computed = tl_op_compute_dtype((tl_op)op, tl_jit_dtype(both));
  if (!tl_jit_has_dtype((int)computed))
    return TL_TYPE_UNKNOWN;
  tl_dtype result = tl_op_result((tl_op)op, computed);
  int weak =
      result != TL_BOOL && tl_itemsize(result) == 8 ? both & TL_TYPE_WEAK : 0;
  return !tl_jit_has_dtype((int)result)
             ? TL_TYPE_UNKNOWN
             : (tl_jit_type)(tl_jit_of_dtype(result) | weak);
}

// Any elementwise operation of two scalars, by the interpreter's function.
// False: they are none, or the first is a constant; nothing was appended.
static bool compute_two(tl_typing_pass *x, int op, uint32_t a,
                        const tl_typing_operand *b,
                        const tl_typing_operand *c) {
  if (!tl_jit_is_scalar(b->type) || !tl_jit_is_scalar(c->type) || b->slot < 0)
    return false;
  tl_jit_type type = result_of(op, meet(b, c));
  if (type == TL_TYPE_UNKNOWN)
    return false;
  put_computed(x, op, a, type, b, c);
  return true;
}

// Squares, which the interpreter multiplies, too. A float64 to the power of a
// weak 2 keeps its own weakness; other powers are computed by the function. The
// square of an integer wraps as its product does, so it has no error either.
static bool put_square(tl_typing_pass *x, uint32_t a,
                       const tl_typing_operand *b, const tl_typing_operand *c) {
  bool by_int = tl_jit_is_int(c->type) && c->value.i == 2 && is_weak(c);
  bool by_float = tl_jit_dtype(c->type) == TL_FLOAT64 && c->value.f == 2.0;
  if (c->is_known && tl_jit_dtype(b->type) == TL_FLOAT64 &&
      (by_int || by_float)) {
    put_float(x, TL_TYPED_FMUL, a, by_int ? b->type : meet(b, c), b, b);
  } else if (c->is_known && tl_jit_is_int(b->type) && by_int) {
    tl_typing_operand self = *b;
    self.is_known = false;
    put_int(x, TL_TYPED_MUL, a, meet(b, c), &self, &self);
  } else {
    return false;
  }
  return true;
}

// The operations on integers and on floats; LABEL: there is none.
static const struct {
  uint8_t ints, floats;
} operations[TL_BINARY_OPS] = {
    [TL_OP_ADD] = {TL_TYPED_ADD, TL_TYPED_FADD},
    [TL_OP_SUBTRACT] = {TL_TYPED_SUB, TL_TYPED_FSUB},
    [TL_OP_MULTIPLY] = {TL_TYPED_MUL, TL_TYPED_FMUL},
    [TL_OP_DIVIDE] = {TL_TYPED_LABEL, TL_TYPED_FDIV},
    [TL_OP_FLOOR_DIVIDE] = {TL_TYPED_FLOORDIV, TL_TYPED_LABEL},
    [TL_OP_REMAINDER] = {TL_TYPED_MOD, TL_TYPED_LABEL},
    [TL_OP_BITWISE_AND] = {TL_TYPED_AND, TL_TYPED_LABEL},
    [TL_OP_BITWISE_OR] = {TL_TYPED_OR, TL_TYPED_LABEL},
    [TL_OP_BITWISE_XOR] = {TL_TYPED_XOR, TL_TYPED_LABEL},
    [TL_OP_LEFT_SHIFT] = {TL_TYPED_SHL, TL_TYPED_LABEL},
    [TL_OP_RIGHT_SHIFT] = {TL_TYPED_SAR, TL_TYPED_LABEL},
    [TL_OP_MINIMUM] = {TL_TYPED_MIN, TL_TYPED_FMIN},
    [TL_OP_MAXIMUM] = {TL_TYPED_MAX, TL_TYPED_FMAX}};

// An operation [op] of integers of the type, or of bools, by a known c: a
// divisor or an amount that is out of the way is not plain, and one of -1 is
// left to the interpreter, since the processor traps on the one quotient that
// does not fit. By a power of two both divisions round to minus infinity: an
// arithmetic shift is the quotient and the low bits are the rest, for negative
// numbers too. False: it is not plain.
static bool put_known(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                      tl_jit_type type, const tl_typing_operand *b,
                      const tl_typing_operand *c) {
  tl_typing_operand by = *c;
  int64_t n = c->value.i;
  bool divides = op == TL_TYPED_FLOORDIV || op == TL_TYPED_MOD;
  if ((op == TL_TYPED_SHL || op == TL_TYPED_SAR) &&
      c->value.u >= 8 * tl_itemsize(tl_jit_dtype(type)))
    return false;
  if (divides && (n == 0 || n == -1))
    return false;
  if (divides && n > 0 && (n & (n - 1)) == 0) {
    by.value.i = op == TL_TYPED_MOD ? n - 1 : __builtin_ctzll(c->value.u);
    op = op == TL_TYPED_MOD ? TL_TYPED_AND : TL_TYPED_SAR;
  }
  put_int(x, op, a, type, b, &by);
  return true;
}

// Any operator with two operands, in the ways that need no call. One float
// makes floats of both, and a quotient always is one. Integers wrap, so sums
// and products of them never fail; the smaller and the larger compare with a
// sign, which for a uint64 is wrong. Bits may be of bools. False: nothing was
// appended, and compute_two may try.
//
//     int64 + int64      ADD      int64       uint8 + int16    ADD    int16
//     int64 / int64      FDIV     float64     float32 + 1      FADD   float32
//     float32 + float64  FADD     float64     bool + …         compute_two
static bool put_operator(tl_typing_pass *x, tl_op op, uint32_t a,
                         const tl_typing_operand *b,
                         const tl_typing_operand *c) {
  tl_jit_type type = meet(b, c);
  tl_typed_op ints = operations[op].ints, floats = operations[op].floats;
  bool bools = ints >= TL_TYPED_AND && ints <= TL_TYPED_XOR &&
               b->type == TL_TYPE_BOOL && c->type == TL_TYPE_BOOL;
  if (op == TL_OP_POW)
    return put_square(x, a, b, c);
  if (!bools && (!is_number(b) || !is_number(c)))
    return false;
  if (op == TL_OP_DIVIDE && !tl_jit_is_float(type))
    type = (tl_jit_type)(TL_TYPE_FLOAT | (type & TL_TYPE_WEAK));
  if (tl_jit_is_float(type)) {
    if (floats != TL_TYPED_LABEL)
      put_float(x, floats, a, type, b, c);
    return floats != TL_TYPED_LABEL;
  }
  bool extreme = ints == TL_TYPED_MIN || ints == TL_TYPED_MAX;
  tl_dtype dtype = tl_jit_dtype(type);
  if (ints == TL_TYPED_LABEL || (extreme && dtype == TL_UINT64) ||
      (!bools && (!is_held(b, dtype) || !is_held(c, dtype))))
    return false;
  if (c->is_known)
    return put_known(x, ints, a, bools ? TL_TYPE_BOOL : type, b, c);
  put_int(x, ints, a, bools ? TL_TYPE_BOOL : type, b, c);
  return true;
}

// Any elementwise operation of one scalar. Signs, roots and absolute values are
// the processor's: roots of floats below 0 are NaN, as in the kernels. What
// gives integers floats converts them first.
static bool put_unary(tl_typing_pass *x, uint32_t a, uint32_t slot,
                      uint32_t op) {
  tl_typing_operand b = tl_typing_slot(x, slot);
  if (!tl_jit_is_scalar(b.type))
    return false;
  if (tl_jit_is_integer(b.type) && op == TL_OP_NEGATIVE)
    tl_typing_set(x, TL_TYPED_NEG, a, b.type, b.slot, TL_JIT_NONE);
  else if (tl_jit_is_float(b.type) && (op == TL_OP_NEGATIVE || op == TL_OP_ABS))
    tl_typing_set(x, op == TL_OP_NEGATIVE ? TL_TYPED_FNEG : TL_TYPED_FABS, a,
                  b.type, tl_typing_register(&b), TL_JIT_NONE);
  else if (is_number(&b) && op == TL_OP_SQRT)
    tl_typing_set(x, TL_TYPED_FSQRT, a, result_of((int)op, b.type),
                  tl_typing_register(&b), TL_JIT_NONE);
  else {
    tl_jit_type type = result_of((int)op, b.type);
    if (type == TL_TYPE_UNKNOWN)
      return false;
    put_computed(x, (int)op, a, type, &b, NULL);
  }
  return true;
}

// --- Comparisons ------------------------------------------------------------

tl_typed_condition tl_typing_total(tl_typed_condition condition) {
  static const uint8_t opposite[] = {TL_IF_GE, TL_IF_GT, TL_IF_LE, TL_IF_LT};
  return condition >= TL_IF_NLT
             ? (tl_typed_condition)opposite[condition - TL_IF_NLT]
             : condition;
}

// Whether two integers or bools compare in 64 bits: all but a uint64 with what
// may be below 0. Registers have all widths extended, so no dtype is needed for
// it: values are compared, as the language says.
static bool compare_in_64_bits(const tl_typing_operand *b,
                               const tl_typing_operand *c) {
  const tl_typing_operand *both[] = {b, c};
  bool is_signed = false, is_wide = false;
  for (int i = 0; i < 2; i++) {
    tl_dtype dtype = tl_jit_dtype(both[i]->type);
    is_wide |= dtype == TL_UINT64;
    is_signed |= tl_dtypes[dtype].kind == 'I' &&
                 !(both[i]->is_known && both[i]->value.i >= 0);
  }
  return !is_wide || !is_signed;
}

// Appends the comparison of b and c; [a] is the slot that gets the truth, or
// TL_JIT_NONE for a jump. NULL: no two numbers or bools that compare at once,
// and nothing was appended. Floats compare in the dtype that both meet in; a
// bool with a float is left to the function.
static tl_typed *put_compare(tl_typing_pass *x, tl_typed_condition condition,
                             int a, const tl_typing_operand *b,
                             const tl_typing_operand *c) {
  if (!tl_jit_is_scalar(b->type) || !tl_jit_is_scalar(c->type))
    return NULL;
  bool ints = !tl_jit_is_float(b->type) && !tl_jit_is_float(c->type);
  tl_dtype dtype = tl_jit_dtype(meet(b, c));
  if (tl_dtype_is_complex(tl_jit_dtype(b->type)) ||
      tl_dtype_is_complex(tl_jit_dtype(c->type)) ||
      (ints && !compare_in_64_bits(b, c)) || (!ints && !is_number(b)) ||
      (!ints && !is_number(c)))
    return NULL;
  bool imm = ints ? c->is_known : c->slot < 0;
  int right = imm ? TL_JIT_NONE : tl_typing_register(c);
  tl_typed *t =
      a >= 0
          ? tl_typing_set(x, ints ? TL_TYPED_SET : TL_TYPED_FSET, (uint32_t)a,
                          TL_TYPE_BOOL, tl_typing_register(b), right)
          : tl_typing_put(x, ints ? TL_TYPED_IF : TL_TYPED_FIF, TL_JIT_NONE,
                          tl_typing_register(b), right);
  t->condition = (uint8_t)(ints ? tl_typing_total(condition) : condition);
  if (ints) {
    t->imm = imm ? c->value.i : 0;
  } else {
    t->dtype = (uint8_t)dtype;
    t->imm = imm ? tl_typing_bits(c, dtype) : 0;
  }
  return t;
}

// What holds where the condition does not, for NaN too. The table is in the
// order of tl_typed_condition, and its own inverse: of "not <" it is "<", while
// ">=" would differ for NaN, of which neither < nor >= holds.
static tl_typed_condition negation(tl_typed_condition condition) {
  static const uint8_t other[] = {TL_IF_NLT, TL_IF_NLE, TL_IF_NGT, TL_IF_NGE,
                                  TL_IF_NE,  TL_IF_EQ,  TL_IF_LT,  TL_IF_LE,
                                  TL_IF_GT,  TL_IF_GE};
  return (tl_typed_condition)other[condition];
}

tl_typed_condition tl_typing_condition(int op, bool negated) {
  static const uint8_t jumps[] = {TL_IF_LT,  TL_IF_LE,  TL_IF_EQ,  TL_IF_NE,
                                  TL_IF_NLT, TL_IF_NLE, TL_IF_LT,  TL_IF_GT,
                                  TL_IF_EQ,  TL_IF_NE,  TL_IF_NLT, TL_IF_NGT};
  static const uint8_t truths[] = {TL_IF_EQ, TL_IF_NE, TL_IF_LT,
                                   TL_IF_LE, TL_IF_GT, TL_IF_GE};
  tl_typed_condition condition =
      (tl_typed_condition)(op >= TL_BC_EQ && op <= TL_BC_GE
                               ? truths[op - TL_BC_EQ]
                               : jumps[op - TL_BC_JLT]);
  return negated ? negation(condition) : condition;
}

// The right operand is a slot or, in opcodes that end in K, a constant, which
// has its float beside it for a float64 on the left. A float32 compares with an
// integer in float32, so it takes the integer, which is rounded once.
bool tl_typing_condition_of(tl_typing_pass *x, const tl_ins *ins, bool negated,
                            tl_typed **jump) {
  tl_typing_operand b = tl_typing_slot(x, ins->a >> 4);
  tl_typing_operand c =
      tl_opcodes[ins->op].format == TL_FORMAT_AKJUMP
          ? tl_typing_constant(x, ins->b >> 4,
                               tl_jit_dtype(b.type) == TL_FLOAT64)
          : tl_typing_slot(x, ins->b >> 4);
  *jump = put_compare(x, tl_typing_condition(ins->op, negated), TL_JIT_NONE, &b,
                      &c);
  return *jump != NULL;
}

// --- All of them ------------------------------------------------------------

// The operand on the right: a number in the instruction, which is weak, a
// constant, or a slot. A power's exponent stays the integer that it is:
// put_square distinguishes a 2 from a 2.0.
tl_typing_operand tl_typing_right(const tl_typing_pass *x, const tl_ins *ins,
                                  bool with_float) {
  tl_format format = (tl_format)tl_opcodes[ins->op].format;
  if (format == TL_FORMAT_ABI)
    return (tl_typing_operand){.slot = -1,
                               .type = TL_TYPE_INT | TL_TYPE_WEAK,
                               .is_known = true,
                               .value = tl_weak_int((int16_t)ins->c)};
  return format == TL_FORMAT_ABK
             ? tl_typing_constant(x, ins->c >> 4, with_float)
             : tl_typing_slot(x, ins->c >> 4);
}

// not, of a bool; anything else is an error that the interpreter raises.
static bool put_not(tl_typing_pass *x, const tl_ins *ins) {
  if (x->now[ins->b >> 4] != TL_TYPE_BOOL)
    return false;
  tl_typing_set(x, TL_TYPED_NOT, ins->a >> 4, TL_TYPE_BOOL, ins->b >> 4,
                TL_JIT_NONE);
  return true;
}

// Of operations that have no opcode of their own the smaller and the larger are
// operators as well.
tl_typing_step tl_typing_compute(tl_typing_pass *x, const tl_ins *ins,
                                 const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  tl_op op = tl_region_op(ins->op, d->extra);
  bool done = false;
  if (ins->op == TL_BC_NOT) {
    done = put_not(x, ins);
  } else if (ins->op == TL_BC_ELEM1) {
    done = put_unary(x, a, ins->b >> 4, op);
  } else if ((int)op < TL_BINARY_OPS && ins->op != TL_BC_ELEM3) {
    tl_typing_operand b = tl_typing_slot(x, ins->b >> 4);
    bool is_double = tl_jit_dtype(b.type) == TL_FLOAT64;
    tl_typing_operand c = tl_typing_right(x, ins, is_double && op != TL_OP_POW);
    bool extreme = op == TL_OP_MINIMUM || op == TL_OP_MAXIMUM;
    if (!tl_jit_is_scalar(b.type) || !tl_jit_is_scalar(c.type))
      return TL_TYPING_LEAVES;
    if (ins->op >= TL_BC_EQ && ins->op <= TL_BC_GE)
      done = put_compare(x, tl_typing_condition(ins->op, false), (int)a, &b,
                         &c) != NULL;
    else if (ins->op != TL_BC_ELEM2 || extreme)
      done = put_operator(x, op, a, &b, &c);
    done = done || compute_two(x, (int)op, a, &b, &c);
  }
  return done ? TL_TYPING_GOES_ON : TL_TYPING_LEAVES;
}

// The largest or the smallest of a few numbers, one after the other; the last
// argument, which is known, says how many. The result is never weak.
static tl_typing_step few(tl_typing_pass *x, const tl_ins *ins, tl_op op) {
  uint32_t a = ins->a >> 4, last = a + 1 + TL_FEW;
  if ((x->known >> last & 1) == 0)
    return TL_TYPING_LEAVES;
  uint32_t count = (uint32_t)llabs(x->values[last].i);
  tl_jit_type type = x->now[a + 1] & (tl_jit_type)~TL_TYPE_WEAK;
  for (uint32_t i = 2; i <= count; i++) {
    tl_jit_type has = x->now[a + i] & (tl_jit_type)~TL_TYPE_WEAK;
    bool mixed = (has == TL_TYPE_INT && type == TL_TYPE_FLOAT) ||
                 (has == TL_TYPE_FLOAT && type == TL_TYPE_INT);
    if (has != type && !mixed)
      return TL_TYPING_LEAVES;
    type = mixed ? TL_TYPE_FLOAT : type;
  }
  bool floats = tl_jit_is_float(type);
  if (!floats && (!tl_jit_is_integer(type) || tl_jit_dtype(type) == TL_UINT64))
    return TL_TYPING_LEAVES;
  for (uint32_t i = 2; i <= count; i++) {
    tl_typing_operand b = tl_typing_slot(x, i == 2 ? a + 1 : a);
    tl_typing_operand c = tl_typing_slot(x, a + i);
    if (floats)
      put_float(x, (tl_typed_op)operations[op].floats, a, type, &b, &c);
    else
      put_int(x, (tl_typed_op)operations[op].ints, a, type, &b, &c);
  }
  return TL_TYPING_GOES_ON;
}

// --- Conversions ------------------------------------------------------------

// The dtype that a call of astype(x, dtype), int(x) or float(x) converts its
// first argument to, which is in slot [first] of [count] arguments: the one
// that 0 gets by it. All others are known where they are constants.
// TL_DTYPE_COUNT: it is no such call.
static tl_dtype converts_to(const tl_typing_pass *x, const tl_builtin *builtin,
                            uint32_t first, uint32_t count) {
  tl_slot args[4] = {tl_int(0)}, made;
  bool converts =
      (builtin->fused == TL_FUSED_CAST || builtin->fused == TL_FUSED_TO_INT ||
       builtin->fused == TL_FUSED_TO_FLOAT) &&
      count <= 4;
  for (uint32_t i = 1; converts && i < count; i++) {
    converts = (x->known >> (first + i) & 1) != 0;
    args[i] = x->values[first + i];
  }
  return converts && builtin->at_once(x->code->vm, args, &made)
             ? (tl_dtype)(made.tag >> 8 & 0xff)
             : TL_DTYPE_COUNT;
}

// Widths of floats change by rounding once; of float64 what is below 2^62 is
// cut to an int64; of integers those that the dtype has stay. What does not fit
// is an error, or saturates, by the interpreter. The result is never weak, so
// float64(x) of a weak x is an operation, too.
tl_typing_step tl_typing_convert(tl_typing_pass *x, const tl_ins *ins) {
  const tl_builtin *builtin = x->p->constants[tl_ins_extra(ins[1])].pointer;
  uint32_t a = ins->a >> 4;
  if (ins->b == 0 || builtin->name == NULL)
    return TL_TYPING_LEAVES;
  if (ins->b == TL_FEW + 1 && strcmp(builtin->name, "max") == 0)
    return few(x, ins, TL_OP_MAXIMUM);
  if (ins->b == TL_FEW + 1 && strcmp(builtin->name, "min") == 0)
    return few(x, ins, TL_OP_MINIMUM);
  tl_typing_operand b = tl_typing_slot(x, a + 1);
  tl_dtype dtype = converts_to(x, builtin, a + 1, ins->b);
  if (!tl_jit_has_dtype((int)dtype) || !is_number(&b))
    return TL_TYPING_LEAVES;
  tl_jit_type type = tl_jit_of_dtype(dtype);
  tl_slot known;
  if (b.is_known && tl_scalar_cast(&b.value, dtype, &known)) {
    tl_typing_set_constant(x, a, known);
    return TL_TYPING_GOES_ON;
  }
  if (tl_dtype_is_real(dtype)) {
    tl_typing_set(x, TL_TYPED_FMOVE, a, type, tl_typing_register(&b),
                  TL_JIT_NONE);
    return TL_TYPING_GOES_ON;
  }
  bool cuts = dtype == TL_INT64 && tl_jit_dtype(b.type) == TL_FLOAT64;
  if (!cuts && (!tl_dtype_is_integer(dtype) || !tl_jit_is_integer(b.type)))
    return TL_TYPING_LEAVES;
  bool fits = tl_dtype_promote(tl_jit_dtype(b.type), dtype) == dtype;
  tl_typing_set(x,
                cuts   ? TL_TYPED_TRUNC
                : fits ? TL_TYPED_MOVE
                       : TL_TYPED_FIT,
                a, type, tl_typing_register(&b), TL_JIT_NONE);
  return TL_TYPING_GOES_ON;
}
