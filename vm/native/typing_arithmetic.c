// Typing of what computes: operators, comparisons and conditions of scalars.
// The cases are those of the interpreter's fast ways, since these are what has
// no errors: everything else leaves.
#include "vm/native/typing.h"

#include <string.h>

#include "vm/engine/elementwise.h"

// Constants of floats stand in operations as their bits.
static int64_t float_bits(double f) {
  int64_t bits;
  memcpy(&bits, &f, sizeof bits);
  return bits;
}

// Kinds of operands. A bool is no number: arithmetic on bools has rules of its
// own.
static bool is_int(const tl_typing_operand *o) {
  return tl_jit_is_int(o->type);
}
static bool is_float(const tl_typing_operand *o) {
  return tl_jit_is_float(o->type);
}
static bool is_number(const tl_typing_operand *o) {
  return is_int(o) || is_float(o);
}

// A result is weak where all operands are.
static tl_jit_type weak_as(tl_jit_type type, const tl_typing_operand *b,
                           const tl_typing_operand *c) {
  return (tl_jit_type)(type | (b->type & c->type & TL_TYPE_WEAK));
}

// The register of an operand, or none for a constant. A slot whose value is
// known has its register all the same: it was set when the constant was.
static int register_of(const tl_typing_operand *o) {
  return o->slot < 0 ? TL_JIT_NONE
                     : tl_jit_register((uint32_t)o->slot, o->type);
}

// Of integers a value that is known stands in the operation. Amounts and
// divisors that are known have been tested by put_integer, so only those in
// registers need an exit.
static void put_int(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                    tl_jit_type type, const tl_typing_operand *b,
                    const tl_typing_operand *c) {
  bool leaves = op == TL_TYPED_SHL || op == TL_TYPED_SAR ||
                op == TL_TYPED_FLOORDIV || op == TL_TYPED_MOD;
  int32_t exit = leaves && !c->is_known ? tl_typing_exit(x) : -1;
  tl_typed *t = tl_typing_set(x, op, a, type, b->slot,
                              c->is_known ? TL_JIT_NONE : c->slot);
  t->imm = c->is_known ? c->value.i : 0;
  t->exit = exit;
}

// Of floats only a constant of the bytecode stands in the operation: what is
// known of a slot is in a register already.
static void put_float(tl_typing_pass *x, tl_typed_op op, uint32_t a,
                      tl_jit_type type, const tl_typing_operand *b,
                      const tl_typing_operand *c) {
  double f = c->slot >= 0 ? 0 : is_float(c) ? c->value.f : (double)c->value.i;
  tl_typed *t = tl_typing_set(x, op, a, type, register_of(b), register_of(c));
  t->imm = float_bits(f);
}

// Squares, which the interpreter multiplies, too. A float to the power of a
// weak 2 keeps its own weakness; other powers, and squares of bools, leave.
static bool put_square(tl_typing_pass *x, uint32_t a,
                       const tl_typing_operand *b, const tl_typing_operand *c) {
  bool by_int = c->is_known && is_int(c) && c->value.i == 2;
  bool by_float = c->is_known && is_float(c) && c->value.f == 2.0;
  if (is_float(b) && by_int && (c->type & TL_TYPE_WEAK) != 0)
    put_float(x, TL_TYPED_FMUL, a, b->type, b, b);
  else if (is_float(b) && by_float)
    put_float(x, TL_TYPED_FMUL, a, weak_as(TL_TYPE_FLOAT, b, c), b, b);
  else if (is_int(b) && by_int) {
    tl_typing_operand self = *b;
    self.is_known = false;
    put_int(x, TL_TYPED_MUL, a, weak_as(TL_TYPE_INT, b, c), &self, &self);
  } else {
    return false;
  }
  return true;
}

// Sums, differences, products and quotients of numbers. One float makes floats
// of both, and a quotient always is one. Integers wrap, so sums and products of
// them never fail.
static bool put_arithmetic(tl_typing_pass *x, int op, uint32_t a,
                           const tl_typing_operand *b,
                           const tl_typing_operand *c) {
  if (!is_number(b) || !is_number(c))
    return false;
  bool floats = is_float(b) || is_float(c) || op == TL_BC_DIV;
  if (floats)
    put_float(x,
              op == TL_BC_ADD   ? TL_TYPED_FADD
              : op == TL_BC_SUB ? TL_TYPED_FSUB
              : op == TL_BC_MUL ? TL_TYPED_FMUL
                                : TL_TYPED_FDIV,
              a, weak_as(TL_TYPE_FLOAT, b, c), b, c);
  else
    put_int(x,
            op == TL_BC_ADD   ? TL_TYPED_ADD
            : op == TL_BC_SUB ? TL_TYPED_SUB
                              : TL_TYPED_MUL,
            a, weak_as(TL_TYPE_INT, b, c), b, c);
  return true;
}

// Operations of integers alone; a divisor or a shift that is known to be out of
// the way is not plain. A divisor of -1 is left to the interpreter, since the
// processor traps on the one quotient that does not fit.
static bool put_integer(tl_typing_pass *x, int op, uint32_t a,
                        const tl_typing_operand *b,
                        const tl_typing_operand *c) {
  bool bits = op == TL_BC_BITAND || op == TL_BC_BITOR || op == TL_BC_BITXOR;
  bool shift = op == TL_BC_SHL || op == TL_BC_SHR;
  bool bools = bits && b->type == TL_TYPE_BOOL && c->type == TL_TYPE_BOOL;
  if (!bools && (!is_int(b) || !is_int(c)))
    return false;
  if (shift && c->is_known && c->value.u > 63)
    return false;
  if (!bits && !shift && c->is_known && (c->value.i == 0 || c->value.i == -1))
    return false;
  put_int(x,
          op == TL_BC_BITAND     ? TL_TYPED_AND
          : op == TL_BC_BITOR    ? TL_TYPED_OR
          : op == TL_BC_BITXOR   ? TL_TYPED_XOR
          : op == TL_BC_SHL      ? TL_TYPED_SHL
          : op == TL_BC_SHR      ? TL_TYPED_SAR
          : op == TL_BC_FLOORDIV ? TL_TYPED_FLOORDIV
                                 : TL_TYPED_MOD,
          a, bools ? TL_TYPE_BOOL : weak_as(TL_TYPE_INT, b, c), b, c);
  return true;
}

// Any operator with two operands.
static bool put_binary(tl_typing_pass *x, int op, uint32_t a,
                       const tl_typing_operand *b, const tl_typing_operand *c) {
  switch (op) {
    case TL_BC_ADD:
    case TL_BC_SUB:
    case TL_BC_MUL:
    case TL_BC_DIV:
      return put_arithmetic(x, op, a, b, c);
    case TL_BC_POW:
      return put_square(x, a, b, c);
    default:
      return put_integer(x, op, a, b, c);
  }
}

// x + 3: the number stands in the instruction, and the result is as weak as x.
static bool put_immediate(tl_typing_pass *x, const tl_ins *ins) {
  tl_typing_operand b = tl_typing_slot(x, ins->b >> 4);
  tl_typing_operand c = {.slot = -1,
                         .type = TL_TYPE_INT | TL_TYPE_WEAK,
                         .is_known = true,
                         .value = tl_weak_int((int16_t)ins->c)};
  return put_arithmetic(x, ins->op == TL_BC_ADDI ? TL_BC_ADD : TL_BC_SUB,
                        ins->a >> 4, &b, &c);
}

// Signs, roots and absolute values. Roots of floats below 0 are NaN, as in the
// kernels; of integers only the sign is plain.
static bool put_unary(tl_typing_pass *x, uint32_t a, uint32_t slot,
                      uint32_t op) {
  tl_typing_operand b = tl_typing_slot(x, slot);
  if (is_int(&b) && op == TL_OP_NEGATIVE)
    tl_typing_set(x, TL_TYPED_NEG, a, b.type, b.slot, TL_JIT_NONE);
  else if (is_float(&b) &&
           (op == TL_OP_NEGATIVE || op == TL_OP_SQRT || op == TL_OP_ABS))
    tl_typing_set(x,
                  op == TL_OP_NEGATIVE ? TL_TYPED_FNEG
                  : op == TL_OP_SQRT   ? TL_TYPED_FSQRT
                                       : TL_TYPED_FABS,
                  a, b.type, register_of(&b), TL_JIT_NONE);
  else
    return false;
  return true;
}

// --- Comparisons ------------------------------------------------------------

// Of integers, "not a < b" is a >= b.
static tl_typed_condition for_ints(tl_typed_condition condition) {
  static const uint8_t opposite[] = {TL_IF_GE, TL_IF_GT, TL_IF_LE, TL_IF_LT};
  return condition >= TL_IF_NLT
             ? (tl_typed_condition)opposite[condition - TL_IF_NLT]
             : condition;
}

// Appends the comparison of b and c; [a] is the slot that gets the truth, or
// TL_JIT_NONE for a jump. NULL: not two integers and not two floats. The
// interpreter's fast ways have no comparison of an integer with a float either.
static tl_typed *put_compare(tl_typing_pass *x, tl_typed_condition condition,
                             int a, const tl_typing_operand *b,
                             const tl_typing_operand *c) {
  bool ints = is_int(b) && is_int(c), floats = is_float(b) && is_float(c);
  if (!ints && !floats)
    return NULL;
  bool imm = ints ? c->is_known : c->slot < 0;
  int right = imm ? TL_JIT_NONE : register_of(c);
  tl_typed *t =
      a >= 0 ? tl_typing_set(x, ints ? TL_TYPED_SET : TL_TYPED_FSET,
                             (uint32_t)a, TL_TYPE_BOOL, register_of(b), right)
             : tl_typing_put(x, ints ? TL_TYPED_IF : TL_TYPED_FIF, TL_JIT_NONE,
                             register_of(b), right);
  t->condition = (uint8_t)(ints ? for_ints(condition) : condition);
  t->imm = !imm ? 0 : c->value.i;
  return t;
}

// The conditions of the branches with two operands, in the order of opcodes.
static tl_typed_condition branch_condition(int op) {
  switch (op) {
    case TL_BC_JLT:
    case TL_BC_JLTK:
      return TL_IF_LT;
    case TL_BC_JLE:
      return TL_IF_LE;
    case TL_BC_JGTK:
      return TL_IF_GT;
    case TL_BC_JEQ:
    case TL_BC_JEQK:
      return TL_IF_EQ;
    case TL_BC_JNE:
    case TL_BC_JNEK:
      return TL_IF_NE;
    case TL_BC_JNLT:
    case TL_BC_JNLTK:
      return TL_IF_NLT;
    case TL_BC_JNLE:
      return TL_IF_NLE;
    default:
      return TL_IF_NGT;
  }
}

// What holds where the condition does not, for NaN too. The table is in the
// order of tl_typed_condition, and its own inverse.
static tl_typed_condition negation(tl_typed_condition condition) {
  static const uint8_t other[] = {TL_IF_NLT, TL_IF_NLE, TL_IF_NGT, TL_IF_NGE,
                                  TL_IF_NE,  TL_IF_EQ,  TL_IF_LT,  TL_IF_LE,
                                  TL_IF_GT,  TL_IF_GE};
  return (tl_typed_condition)other[condition];
}

// The right operand is a slot or, in opcodes that end in K, a constant.
bool tl_typing_condition_of(tl_typing_pass *x, const tl_ins *ins, bool negated,
                            tl_typed **jump) {
  tl_typing_operand b = tl_typing_slot(x, ins->a >> 4);
  tl_typing_operand c = tl_opcodes[ins->op].format == TL_FORMAT_AKJUMP
                            ? tl_typing_constant(x, ins->b >> 4, is_float(&b))
                            : tl_typing_slot(x, ins->b >> 4);
  tl_typed_condition condition = branch_condition(ins->op);
  *jump = put_compare(x, negated ? negation(condition) : condition, TL_JIT_NONE,
                      &b, &c);
  return *jump != NULL;
}

// --- All of them ------------------------------------------------------------

// The operator of an opcode with a constant.
static int operator_of(int op) {
  switch (op) {
    case TL_BC_MULK:
      return TL_BC_MUL;
    case TL_BC_DIVK:
      return TL_BC_DIV;
    case TL_BC_MODK:
      return TL_BC_MOD;
    case TL_BC_POWK:
      return TL_BC_POW;
    case TL_BC_BITANDK:
      return TL_BC_BITAND;
    case TL_BC_SHRK:
      return TL_BC_SHR;
    default:
      // The sum that may be done at once follows by itself.
      return tl_first_opcode(op);
  }
}

// A comparison whose result is a bool in a slot.
static bool put_truth(tl_typing_pass *x, const tl_ins *ins) {
  static const uint8_t conditions[] = {TL_IF_EQ, TL_IF_NE, TL_IF_LT,
                                       TL_IF_LE, TL_IF_GT, TL_IF_GE};
  tl_typing_operand b = tl_typing_slot(x, ins->b >> 4);
  tl_typing_operand c = tl_typing_slot(x, ins->c >> 4);
  return put_compare(x, (tl_typed_condition)conditions[ins->op - TL_BC_EQ],
                     ins->a >> 4, &b, &c) != NULL;
}

// not, of a bool; anything else is an error that the interpreter tells.
static bool put_not(tl_typing_pass *x, const tl_ins *ins) {
  if (x->now[ins->b >> 4] != TL_TYPE_BOOL)
    return false;
  tl_typing_set(x, TL_TYPED_NOT, ins->a >> 4, TL_TYPE_BOOL, ins->b >> 4,
                TL_JIT_NONE);
  return true;
}

// A power's exponent stays the integer that it is: put_square distinguishes a 2
// from a 2.0.
tl_typing_step tl_typing_compute(tl_typing_pass *x, const tl_ins *ins,
                                 const tl_decoded *d) {
  uint32_t a = ins->a >> 4;
  int op = operator_of(ins->op);
  bool done = false;
  if (op == TL_BC_NOT) {
    done = put_not(x, ins);
  } else if (op == TL_BC_ELEM1) {
    done = put_unary(x, a, ins->b >> 4, d->extra);
  } else if (op == TL_BC_ADDI || op == TL_BC_SUBI) {
    done = put_immediate(x, ins);
  } else if (op >= TL_BC_EQ && op <= TL_BC_GE) {
    done = put_truth(x, ins);
  } else if (op >= TL_BC_ADD && op <= TL_BC_SHR) {
    tl_typing_operand b = tl_typing_slot(x, ins->b >> 4);
    tl_typing_operand c =
        tl_opcodes[ins->op].format == TL_FORMAT_ABK
            ? tl_typing_constant(x, ins->c >> 4,
                                 is_float(&b) && op != TL_BC_POW)
            : tl_typing_slot(x, ins->c >> 4);
    done = put_binary(x, op, a, &b, &c);
  }
  return done ? TL_TYPING_GOES_ON : TL_TYPING_LEAVES;
}
