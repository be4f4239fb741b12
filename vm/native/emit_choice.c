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
#include "vm/native/emit.h"

#if TL_HAS_JIT

// Operations of one side: computing both has to cost less than a branch that is
// foretold wrongly half of the time.
enum { MOST_IN_SIDE = 4 };

// One side of a branch: operations from [at] on, what they leave in [result]
// (-1: nothing), and the label behind. [written] are all slots that it sets on
// the way.
typedef struct side {
  uint32_t at, count;
  int result;
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
  return r < 0 || r >= TL_JIT_FLOAT || (s->written >> r & 1) == 0;
}

// Reads a side that begins at [at] and ends with a jump. Each operation uses
// what the one before it has made, or nothing that the side has made.
static bool read_side(const emitter *e, uint32_t at, side *s) {
  const tl_jit_code *code = e->code;
  *s = (side){.at = at, .result = -1};
  for (uint32_t i = at; i < code->op_count; i++) {
    const tl_typed *t = &code->ops[i];
    if (t->op == TL_TYPED_JUMP) {
      s->to = t->to;
      return t->to >= 0;
    }
    bool follows = t->b >= 0 && t->b == s->result;
    if (!is_simple(t) || s->count == MOST_IN_SIDE ||
        (!follows && !is_old(s, t->b)) || !is_old(s, t->c))
      return false;
    s->written |= UINT64_C(1) << t->a;
    s->result = t->a;
    s->count++;
  }
  return false;
}

// Whether nobody behind the label reads what a side has written but its result.
// The label says UNKNOWN of what is dead there, and the check lets nobody read
// that.
static bool is_dead_behind(const emitter *e, const side *s) {
  const tl_jit_label *label = &e->code->labels[s->to];
  for (uint32_t slot = 0; slot < TL_JIT_SLOTS; slot++)
    if ((s->written >> slot & 1) != 0 && (int)slot != s->result &&
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
      taken->result < 0 || !is_dead_behind(e, taken))
    return 0;
  uint32_t end = taken->at + taken->count;
  *other = (side){.result = -1, .to = t->to};
  if (taken->to != t->to) {
    if (end + 2 >= e->code->op_count || ops[end + 1].op != TL_TYPED_LABEL ||
        ops[end + 1].to != t->to || !read_side(e, end + 2, other) ||
        other->to != taken->to || other->result != taken->result ||
        !is_dead_behind(e, other) || !is_single(e, t->to))
      return 0;
    end = other->at + other->count;
  }
  return is_single(e, ops[at + 1].to) ? end + 1 - at : 0;
}

// Computes the side in a register, which is T0 or T2; constants may take T1. No
// slot is written, so the other side finds them all as they were.
static void compute_side(emitter *e, const side *s, int in) {
  int has = -1;
  for (uint32_t i = 0; i < s->count; i++) {
    const tl_typed *t = &e->code->ops[s->at + i];
    if (t->op == TL_TYPED_CONST)
      set_constant(e, in, t->imm);
    else if (t->b != has)
      move_int(e, in, get(e, t->b, in));
    if (t->op != TL_TYPED_MOVE && t->op != TL_TYPED_CONST)
      tl_jit_combine(e, t, in);
    cut(e, tl_jit_dtype(t->type), in, in);
    has = t->a;
  }
}

// The comparison comes last, as sides change the flags; so its operands are in
// registers of their own.
uint32_t tl_jit_emit_choice(emitter *e, uint32_t at) {
  const tl_typed *t = &e->code->ops[at];
  side taken, other;
  if (t->op != TL_TYPED_IF || e->reg[t->b] < 0 ||
      (t->c >= 0 ? e->reg[t->c] < 0 : !is_immediate(t->imm)))
    return 0;
  uint32_t count = read_choice(e, at, &taken, &other);
  if (count == 0)
    return 0;
  int r = taken.result, result = into(e, r, T0);
  compute_side(e, &taken, T0);
  if (other.count > 0)
    compute_side(e, &other, T2);
  int otherwise = other.count > 0 ? T2 : get(e, r, T2);
  move_if(e, tl_jit_compare_ints(e, t), T0, otherwise);
  move_int(e, result, T0);
  put(e, r, result);
  return count - 1;
}

#endif
