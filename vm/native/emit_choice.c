// Choices: branches that need no jump.
//
// A branch over a few operations on one integer becomes a choice: both sides
// are computed, and one is taken. Where nobody could foretell the branch, as in
// a checksum, that is several times as fast.
//
//     if t != 1 -> 17          x0 = crc >> 1 ^ 33800
//        crc = crc >> 1 ^ 33800       x2 = crc >> 1
//     17 crc = crc >> 1        cmp t, 1;  csel crc, x2, x0, ne
//
// Beside it one float may become what it was compared with, where that is less,
// or where it is more: the smallest so far is one instruction.
//
//     fif d not < best -> 81
//        best = fmove d               at = k, if d < best
//        at = move k                  best = the smaller of d and best
//     81
#include "vm/native/emit.h"

#if TL_HAS_JIT

// Operations of one side: computing both has to cost less than a branch that is
// foretold wrongly half of the time.
enum { MOST_IN_SIDE = 4 };

// One side of a branch: operations from [at] on, the integer and the float that
// they leave (TL_JIT_NONE: no such one), and the label behind. The float is
// that in the register [value], or the constant [imm] where that is NONE.
// [written] are all slots that it sets on the way.
typedef struct side {
  uint32_t at, count;
  int result, number;
  int value;
  int64_t imm;
  int32_t to;
  uint64_t written;
} side;

// Whether the operation computes one integer of others, in one instruction, and
// never leaves. Both sides are computed whatever the branch, so what could trap
// or takes long is not among them.
static bool is_simple(const tl_typed *t) {
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_MOVE:
    case TL_TYPED_CONST:
    case TL_TYPED_ADD:
    case TL_TYPED_SUB:
    case TL_TYPED_AND:
    case TL_TYPED_OR:
    case TL_TYPED_XOR:
      return true;
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
      return t->c < 0;
    default:
      return false;
  }
}

// Whether a register may be read in the side: it is no slot that the side has
// written.
static bool is_old(const side *s, int r) {
  return r < 0 || r >= TL_JIT_FACTS ||
         (s->written >> r % TL_JIT_SLOTS & 1) == 0;
}

// A float's copy, or a constant, becomes the side's. False: it is computed.
static bool read_number(side *s, const tl_typed *t) {
  bool follows = t->b >= 0 && t->b == s->number;
  if ((t->op != TL_TYPED_FCONST && t->op != TL_TYPED_FMOVE) ||
      (t->b >= 0 && (tl_jit_dtype(t->from[1]) != t->dtype ||
                     (!follows && !is_old(s, t->b)))))
    return false;
  if (!follows) {
    s->value = t->b;
    s->imm = t->imm;
  }
  s->number = t->a;
  return true;
}

// Reads a side that begins at [at] and ends with a jump. Each operation uses
// what the one before it of its kind has made, or nothing that the side has
// made.
static bool read_side(const emitter *e, uint32_t at, side *s) {
  const tl_jit_code *code = e->code;
  *s = (side){.at = at, .result = TL_JIT_NONE, .number = TL_JIT_NONE};
  for (uint32_t i = at; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_JUMP) {
      s->to = t->to;
      return t->to >= 0;
    }
    if (s->count++ == MOST_IN_SIDE)
      return false;
    if (is_simple(t)) {
      bool follows = t->b >= 0 && t->b == s->result;
      if ((!follows && !is_old(s, t->b)) || !is_old(s, t->c))
        return false;
      s->result = t->a;
    } else if (!read_number(s, t)) {
      return false;
    }
    s->written |= tl_jit_bit((uint32_t)t->a % TL_JIT_SLOTS);
  }
  return false;
}

// Whether nobody behind the label reads what a side has written but its
// results. The label says UNKNOWN of what is dead there, and the check lets
// nobody read that.
static bool is_dead_behind(const emitter *e, const side *s) {
  const tl_jit_label *label = &e->code->labels[s->to];
  for (int slot = 0; slot < TL_JIT_SLOTS; slot++)
    if ((s->written >> slot & 1) != 0 && slot != s->result &&
        slot != s->number - TL_JIT_FLOAT &&
        label->types[slot] != TL_TYPE_UNKNOWN)
      return false;
  return true;
}

// Whether one operation alone has the label as its target: it goes with the
// branch, and nobody may want to come there in another way.
static bool is_single(const emitter *e, int32_t label) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < e->code->op_count && count < 2; i++) {
    const tl_typed *t = &e->code->ops[i];
    count += t->op != TL_TYPED_LABEL && t->to == label;
  }
  return count == 1;
}

// Reads the two sides of the branch at [at]: over nothing, or over another
// side. Returns how many operations they are; 0: it is no choice.
//
//     if → E    jump → T    T …  jump → J    E …  jump → J    J
//     if → J    jump → T    T …  jump → J    J
static uint32_t read_choice(const emitter *e, uint32_t at, side *taken,
                            side *other) {
  const tl_typed *ops = e->code->ops, *t = &ops[at];
  if (at + 3 >= e->code->op_count || t->to < 0 ||
      ops[at + 1].op != TL_TYPED_JUMP || ops[at + 2].op != TL_TYPED_LABEL ||
      ops[at + 1].to != ops[at + 2].to || !read_side(e, at + 3, taken) ||
      taken->count == 0 || !is_dead_behind(e, taken))
    return 0;
  uint32_t end = taken->at + taken->count;
  *other = (side){.result = TL_JIT_NONE, .to = t->to};
  if (taken->to != t->to) {
    if (end + 2 >= e->code->op_count || ops[end + 1].op != TL_TYPED_LABEL ||
        ops[end + 1].to != t->to || !read_side(e, end + 2, other) ||
        other->to != taken->to || !is_single(e, t->to) ||
        (other->count > 0 &&
         (taken->number >= 0 || other->number >= 0 ||
          other->result != taken->result || !is_dead_behind(e, other))))
      return 0;
    end = other->at + other->count;
  }
  return is_single(e, ops[at + 1].to) ? end + 1 - at : 0;
}

// Whether a choice of the float costs nothing where the branch would have been
// foretold: nothing computes with it, which would have to wait for all choices
// before.
static bool is_only_compared(const emitter *e, int r) {
  for (uint32_t i = 0; i < e->code->op_count; i++) {
    const tl_typed *t = &e->code->ops[i];
    if (t->op >= TL_TYPED_FADD && t->op <= TL_TYPED_COMPUTE &&
        (t->b == r || t->c == r))
      return false;
  }
  return true;
}

// Whether the comparison's operands are in registers, so that sides leave them,
// and of floats nobody asks whether they are equal, for which one flag is not
// enough.
static bool is_compared(const emitter *e, const tl_typed *t) {
  bool floats = t->op == TL_TYPED_FIF;
  if ((!floats && t->op != TL_TYPED_IF) || e->reg[t->b] < 0 ||
      (t->c >= 0 ? e->reg[t->c] < 0 : !floats && !is_immediate(t->imm)))
    return false;
  return !floats || (t->condition != TL_IF_EQ && t->condition != TL_IF_NE &&
                     tl_jit_dtype(t->from[1]) == t->dtype &&
                     (t->c < 0 || tl_jit_dtype(t->from[2]) == t->dtype));
}

// Whether the side makes of one of the two floats that are compared the other,
// in the order in which the operation says that it is less, or more: of equal
// ones and NaN the result is then what the processor gives.
static bool is_extreme(const emitter *e, const tl_typed *t, const side *s) {
  bool first = s->number == t->c && s->value == t->b;
  bool second =
      s->number == t->b && s->value == t->c && (t->c >= 0 || s->imm == t->imm);
  return t->op == TL_TYPED_FIF && (first || second) &&
         (t->condition == TL_IF_NLT || t->condition == TL_IF_NGT) &&
         is_only_compared(e, s->number);
}

// Computes the side's integer, in [in], which is T0 or T2; constants may take
// T1. No slot is written, so the other side finds them all as they were.
// Returns its register, which is another one where nothing was to be computed.
static int compute_side(emitter *e, const side *s, int in) {
  int has = TL_JIT_NONE, from = in;
  for (uint32_t i = 0; i < s->count; i++) {
    const tl_typed *t = &e->code->ops[s->at + i];
    bool moves = t->op == TL_TYPED_MOVE &&
                 tl_jit_dtype(t->type) == tl_jit_dtype(t->from[1]);
    if (!is_simple(t))
      continue;
    if (t->op == TL_TYPED_CONST)
      set_constant(e, from = in, t->imm);
    else if (has < 0 || t->b != has)
      from = tl_jit_get(e, t->b, in);
    has = t->a;
    if (moves || t->op == TL_TYPED_CONST)
      continue;
    move_int(e, in, from);
    from = in;
    if (t->op != TL_TYPED_MOVE)
      tl_jit_combine(e, t, in);
    cut(e, tl_jit_dtype(t->type), in, in);
  }
  return from;
}

// The comparison comes behind the sides, as these change the flags; so its
// operands are in registers of their own.
uint32_t tl_jit_emit_choice(emitter *e, uint32_t at) {
  const tl_typed *t = &e->code->ops[at];
  side taken, other;
  if (!is_compared(e, t))
    return 0;
  uint32_t count = read_choice(e, at, &taken, &other);
  if (count == 0 || (taken.number >= 0 && !is_extreme(e, t, &taken)))
    return 0;
  int r = taken.result, value = compute_side(e, &taken, T0);
  int otherwise = compute_side(e, &other, T2);
  if (other.count == 0 && r >= 0)
    otherwise = tl_jit_get(e, r, T2);
  int condition = t->op == TL_TYPED_FIF ? tl_jit_compare_floats(e, t)
                                        : tl_jit_compare_ints(e, t);
  if (r >= 0 && otherwise == e->reg[r]) {
    move_if(e, condition ^ 1, otherwise, value);
  } else if (r >= 0) {
    move_int(e, T0, value);
    move_if(e, condition, T0, otherwise);
    tl_jit_put_from(e, r, T0);
  }
  if (taken.number >= 0)
    tl_jit_choose(e, t, condition, taken.number == t->b);
  return count - 1;
}

#endif
