// Proves typed operations before they become machine code, in every build: the
// typing pass is long, and what it gets wrong would be memory written wrongly.
// Nothing is taken from the pass but what it says: the labels' types are
// checked at each jump there, and what lives comes from the flow.
#include "vm/array/element.h"
#include "vm/engine/elementwise.h"
#include "vm/native/typed.h"

#include <string.h>

// The walk over the operations, with the types of slots there. At a label they
// are the label's; behind an operation they are what it has made of them. A
// type here is what the slot's register has, not what its tag in memory says.
typedef struct checking {
  const tl_jit_code *code;
  const tl_jit_unit *unit;
  const tl_jit_flow *flow;
  tl_jit_type now[TL_JIT_SLOTS];
} checking;

// What registers for integers hold: all but floats. What it is in particular
// [from] says, which is compared with what is there.
static bool is_whole(tl_jit_type t) {
  return tl_jit_is_scalar(t) && !tl_jit_is_float(t);
}

// A register beside an array that the unit uses: its address or a length.
static bool is_fact(const checking *c, int r) {
  return r >= TL_JIT_FACTS &&
         r < TL_JIT_FACTS + TL_JIT_FACTS_EACH * (int)c->unit->array_count;
}

// Whether the register may be read as an integer, or as a float.
static bool has_whole(const checking *c, int r) {
  return (r >= 0 && r < TL_JIT_FLOAT && is_whole(c->now[r])) || is_fact(c, r);
}
// The same for a float: it has a register of its own, and never a fact.
static bool has_float(const checking *c, int r) {
  return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS &&
         tl_jit_is_float(c->now[r - TL_JIT_FLOAT]);
}

// An array of the rank and dtype that the operation says, whose items lie in
// rows and which nothing has touched since the entry. What is stored into has
// to be owned by its slot alone; that the count is 1 is tested at the entry.
static bool is_array(const checking *c, int k, const tl_typed *t) {
  if (k < 0 || k >= (int)c->unit->array_count)
    return false;
  const tl_jit_array *array = &c->unit->arrays[k];
  uint64_t tag = array->tag;
  bool stores = t->op == TL_TYPED_STORE || t->op == TL_TYPED_FSTORE;
  bool floats = t->op == TL_TYPED_FLOAD || t->op == TL_TYPED_FSTORE;
  return c->now[array->slot] == TL_TYPE_ENTRY && t->dtype < TL_COMPLEX128 &&
         floats == tl_dtype_is_real((tl_dtype)t->dtype) &&
         c->unit->tags[array->slot] == tag && (tag & TL_DENSE) != 0 &&
         tl_is_of_rank(tag, t->d < 0   ? 1
                            : t->e < 0 ? 2
                                       : 3) &&
         (t->d < 0 || has_whole(c, t->d)) && (t->e < 0 || has_whole(c, t->e)) &&
         t->dtype == (uint8_t)(tag >> 8) &&
         (!stores || (array->is_written && (tag & TL_OWNED) != 0 &&
                      (tag & TL_DIRECT) != 0));
}

// Whether the operation says of a register that it reads what is there.
static bool is_from(const checking *c, int r, tl_jit_type from) {
  return r < 0 ||
         from == (r < TL_JIT_FACTS ? c->now[r % TL_JIT_SLOTS] : TL_TYPE_INT);
}

// One operand by what the table says of it.
static bool is_operand(const checking *c, const tl_typed *t, int kind, int r) {
  bool none = r == TL_JIT_NONE;
  switch ((tl_typed_kind)kind) {
    case TL_OPERAND_I:
      return has_whole(c, r);
    case TL_OPERAND_F:
      return has_float(c, r);
    case TL_OPERAND_N:
      return none || has_whole(c, r) || has_float(c, r);
    case TL_OPERAND_K:
      return none || has_whole(c, r);
    case TL_OPERAND_S:
      return none || (r < TL_JIT_FACTS && (has_whole(c, r) || has_float(c, r)));
    case TL_OPERAND_A:
      return is_array(c, r, t);
    case TL_OPERAND_ID:
      return r >= 0 && r < TL_JIT_FLOAT && is_whole(t->type);
    case TL_OPERAND_FD:
      return r >= TL_JIT_FLOAT && r < TL_JIT_FACTS && tl_jit_is_float(t->type);
    default:
      return none;
  }
}

// Whether leaving by the exit leaves each slot of [live] as the interpreter has
// it: written back with its type, or never touched.
static bool is_exit_of(const checking *c, int32_t number, uint64_t live) {
  if (number < 0 || (uint32_t)number >= c->code->exit_count)
    return false;
  const tl_jit_exit *e = &c->code->exits[number];
  for (uint32_t s = 0; s < TL_JIT_SLOTS; s++) {
    bool written = (e->slots >> s & 1) != 0, lives = (live >> s & 1) != 0;
    if (written &&
        (!lives || e->types[s] != c->now[s] || !tl_jit_is_scalar(c->now[s])))
      return false;
    if (lives && !written && c->now[s] != TL_TYPE_ENTRY &&
        c->now[s] != TL_TYPE_PLACED)
      return false;
  }
  return true;
}

// Leaving before the exit's own instruction: all that lives there is right.
// What lives is the flow's word, not the exit's: an exit that forgets a slot
// does not pass.
static bool is_exit(const checking *c, int32_t number) {
  if (number < 0 || (uint32_t)number >= c->code->exit_count)
    return false;
  uint32_t pc = c->code->exits[number].pc;
  return pc < c->flow->count && is_exit_of(c, number, c->flow->live[pc]);
}

// Whether control may go to [to] from here: all that the label says is so.
// UNKNOWN in a label asks for nothing, and nothing may be read of it behind the
// label without being written first.
static bool is_target(const checking *c, int32_t to) {
  if (to < 0)
    return is_exit(c, -1 - to);
  if ((uint32_t)to >= c->code->label_count)
    return false;
  const tl_jit_label *label = &c->code->labels[to];
  for (uint32_t s = 0; s < TL_JIT_SLOTS; s++)
    if (label->types[s] != TL_TYPE_UNKNOWN && label->types[s] != c->now[s])
      return false;
  return true;
}

// The callee finds its arguments behind the result's slot, of its types. What
// lives below the result's slot has to be written back by the exit [imm], since
// the callee may leave; from that slot on all belongs to the callee and is
// unknown afterwards.
static bool is_call(checking *c, const tl_typed *t) {
  const tl_jit_unit *callee = t->callee;
  int a = t->a - (t->op == TL_TYPED_FCALL ? TL_JIT_FLOAT : 0);
  if (callee == NULL || !callee->is_function || t->type != callee->result ||
      callee->function->param_count != (uint32_t)t->d || t->exit < 0 ||
      (uint32_t)t->exit >= c->code->exit_count)
    return false;
  for (int i = 0; i < t->d; i++)
    if (a + 1 + i >= TL_JIT_SLOTS ||
        c->now[a + 1 + i] != tl_jit_type_of(callee->tags[i]))
      return false;
  uint32_t pc = c->code->exits[t->exit].pc;
  uint64_t below = (UINT64_C(1) << a) - 1;
  if (!is_exit_of(c, (int32_t)t->imm, c->flow->live[pc] & below))
    return false;
  // The callee's slots are those behind.
  for (int s = a; s < TL_JIT_SLOTS; s++) c->now[s] = TL_TYPE_UNKNOWN;
  return true;
}

// An operation by a function of C: its operands have to be in their slots, and
// so has all that is read behind it.
static bool is_computed(checking *c, const tl_typed *t) {
  uint64_t kept = c->code->exits[t->exit].slots;
  bool one = t->from[2] == TL_TYPE_UNKNOWN;
  if (t->b < 0 || (kept >> t->b % TL_JIT_SLOTS & 1) == 0 ||
      (t->c >= 0 && (kept >> t->c % TL_JIT_SLOTS & 1) == 0) ||
      (t->c < 0 && !one && !tl_jit_is_scalar(t->from[2])) ||
      t->condition >= (one ? TL_OP_COUNT : TL_BINARY_OPS))
    return false;
  for (int s = 0; s < TL_JIT_SLOTS; s++)
    if (tl_jit_is_scalar(c->now[s]) && (kept >> s & 1) == 0)
      c->now[s] = TL_TYPE_UNKNOWN;
  return true;
}

// Whether a constant goes into the memory of a slot, where no scalar is to be
// that is not overwritten.
static bool is_placed(checking *c, const tl_typed *t) {
  if (t->d < 0 || t->d >= (int)c->unit->function->slot_count || t->imm < 0 ||
      t->imm >= c->unit->function->constant_count ||
      tl_is_owned(c->unit->function->constants[t->imm]))
    return false;
  c->now[t->d] = TL_TYPE_PLACED;
  return true;
}

// Whether the widths of what is read and of the result fit. Integers are cut by
// the emitter to whatever the result is, so of these only kinds have to be
// right; bools come of bools alone.
static bool has_widths(const tl_typed *t) {
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_MOVE:
      return tl_jit_dtype(t->type) == tl_jit_dtype(t->from[1]);
    case TL_TYPED_AND:
    case TL_TYPED_OR:
    case TL_TYPED_XOR:
      return t->type == TL_TYPE_BOOL
                 ? t->from[1] == TL_TYPE_BOOL &&
                       (t->c < 0 || t->from[2] == TL_TYPE_BOOL)
                 : tl_jit_is_integer(t->type);
    case TL_TYPED_ADD:
    case TL_TYPED_SUB:
    case TL_TYPED_MUL:
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
    case TL_TYPED_FLOORDIV:
    case TL_TYPED_MOD:
    case TL_TYPED_MIN:
    case TL_TYPED_MAX:
    case TL_TYPED_NEG:
    case TL_TYPED_FIT:
      return tl_jit_is_integer(t->type) && tl_jit_is_integer(t->from[1]);
    case TL_TYPED_TRUNC:
      return t->type == TL_TYPE_INT && tl_jit_dtype(t->from[1]) == TL_FLOAT64;
    case TL_TYPED_FNEG:
    case TL_TYPED_FABS:
      return tl_jit_dtype(t->from[1]) == t->dtype;
    case TL_TYPED_FIF:
    case TL_TYPED_FSET:
      return t->b >= 0 && (t->dtype == TL_FLOAT32 || t->dtype == TL_FLOAT64);
    default:
      return tl_typed_ops[t->op].kinds[0] != TL_OPERAND_FD ||
             t->op == TL_TYPED_FLOAD || t->dtype == tl_jit_dtype(t->type);
  }
}

// What the table does not say of an operation; NULL: all is well. Called before
// the result is written. Constants that would be wrong for the processor (a
// shift of 64, a divisor of 0) are refused here, since the emitter tests only
// operands in registers.
static const char *check_rest(checking *c, const tl_typed *t) {
  switch ((tl_typed_op)t->op) {
    case TL_TYPED_POLL:
    case TL_TYPED_EXIT:
    case TL_TYPED_LOAD:
    case TL_TYPED_FLOAD:
    case TL_TYPED_STORE:
    case TL_TYPED_FSTORE:
    case TL_TYPED_GET:
    case TL_TYPED_FGET:
    case TL_TYPED_PUT:
    case TL_TYPED_FPUT:
    case TL_TYPED_FIT:
    case TL_TYPED_TRUNC:
      return is_exit(c, t->exit) ? NULL : "its exit forgets a slot";
    case TL_TYPED_SHL:
    case TL_TYPED_SAR:
      if (t->c == TL_JIT_NONE)
        return t->imm >= 0 &&
                       t->imm < 8 * (int)tl_itemsize(tl_jit_dtype(t->type))
                   ? NULL
                   : "it shifts too far";
      return is_exit(c, t->exit) ? NULL : "its exit forgets a slot";
    case TL_TYPED_FLOORDIV:
    case TL_TYPED_MOD:
      if (t->c == TL_JIT_NONE)
        return t->imm != 0 && t->imm != -1 ? NULL : "its divisor is not plain";
      return is_exit(c, t->exit) ? NULL : "its exit forgets a slot";
    case TL_TYPED_COUNT:
      if (!has_whole(c, t->a) ||
          (t->c == TL_JIT_NONE && (t->imm == 0 || t->imm == INT64_MIN)))
        return "it counts what is no range";
      return is_exit(c, t->exit) ? NULL : "its exit forgets a slot";
    case TL_TYPED_STEP:
      return has_whole(c, t->a) && has_whole(c, t->b) && t->b < TL_JIT_FLOAT &&
                     t->d < TL_JIT_SLOTS
                 ? NULL
                 : "it steps what is no range";
    case TL_TYPED_NOT:
      return !is_fact(c, t->b) && c->now[t->b] == TL_TYPE_BOOL
                 ? NULL
                 : "not of no bool";
    case TL_TYPED_CAPTURED:
    case TL_TYPED_FCAPTURED:
      return is_exit(c, t->exit) && !c->unit->is_function && t->imm >= 0 &&
                     t->imm < TL_JIT_CAPTURES &&
                     c->unit->captures[t->imm] == t->type
                 ? NULL
                 : "a captured value that is not there";
    case TL_TYPED_COMPUTE:
    case TL_TYPED_FCOMPUTE:
      return is_exit(c, t->exit) && is_computed(c, t) ? NULL
                                                      : "a wrong operation";
    case TL_TYPED_PLACE:
      return is_placed(c, t) ? NULL : "a constant in no slot";
    case TL_TYPED_CALL:
    case TL_TYPED_FCALL:
      return is_exit(c, t->exit) && is_call(c, t) ? NULL : "a wrong call";
    case TL_TYPED_RETURN:
    case TL_TYPED_FRETURN:
      return c->unit->is_function && !is_fact(c, t->a) &&
                     c->now[t->a -
                            (t->op == TL_TYPED_FRETURN ? TL_JIT_FLOAT : 0)] ==
                         c->unit->result
                 ? NULL
                 : "a result of another type";
    default:
      return NULL;
  }
}

// The operations with a target, and those that control does not go on behind.
static bool jumps(int op) {
  return op == TL_TYPED_JUMP || op == TL_TYPED_IF || op == TL_TYPED_FIF ||
         op == TL_TYPED_STEP;
}

// Behind these a label has to follow, or the end.
static bool ends(int op) {
  return op == TL_TYPED_JUMP || op == TL_TYPED_EXIT || op == TL_TYPED_RETURN ||
         op == TL_TYPED_FRETURN;
}

// One operation: its operands, what is particular to it, and then what it
// writes and where it jumps. NULL: all is well.
static const char *check_one(checking *c, const tl_typed *t) {
  const tl_typed_info *info = &tl_typed_ops[t->op];
  const int16_t operands[] = {t->a, t->b, t->c};
  for (int i = 0; i < 3; i++)
    if (!is_operand(c, t, info->kinds[i], operands[i]))
      return "an operand of another kind";
  for (int i = 0; i < 3; i++)
    if (info->kinds[i] >= TL_OPERAND_I && info->kinds[i] <= TL_OPERAND_S &&
        !is_from(c, operands[i], t->from[i]))
      return "an operand of another type";
  if (!has_widths(t))
    return "a result of another width";
  const char *why = check_rest(c, t);
  if (why != NULL)
    return why;
  if (info->kinds[0] == TL_OPERAND_ID)
    c->now[t->a] = t->type;
  if (info->kinds[0] == TL_OPERAND_FD)
    c->now[t->a - TL_JIT_FLOAT] = t->type;
  if (!jumps(t->op))
    return NULL;
  // A step writes the loop's variable on the way back alone.
  tl_jit_type before = TL_TYPE_UNKNOWN;
  bool moves = t->op == TL_TYPED_STEP && t->d >= 0;
  if (moves) {
    before = c->now[t->d];
    c->now[t->d] = t->type;
  }
  bool fits = is_target(c, t->to);
  if (moves)
    c->now[t->d] = before;
  return fits ? NULL : "a jump to where other types are";
}

// One pass suffices, as labels carry their types: what a jump brings is
// compared with the label, wherever that stands, and what follows a label
// starts from these types alone. No type is inferred from the operations before
// it.
const char *tl_jit_check(tl_jit_code *code, uint32_t *at) {
  checking c = {.code = code, .unit = code->unit, .flow = code->flow};
  bool ended = true;
  for (*at = 0; *at < code->op_count; ++*at) {
    const tl_typed *t = &code->ops[*at];
    if (t->op >= TL_TYPED_COUNT_OF_OPS)
      return "no operation";
    if (t->op == TL_TYPED_LABEL) {
      if (!ended || t->to < 0 || (uint32_t)t->to >= code->label_count)
        return "no label";
      tl_jit_label *label = &code->labels[t->to];
      if (label->is_placed)
        return "a label twice";
      label->is_placed = true;
      memcpy(c.now, label->types, sizeof c.now);
      ended = false;
      continue;
    }
    if (ended)
      return "nothing leads here";
    const char *why = check_one(&c, t);
    if (why != NULL)
      return why;
    ended = ends(t->op);
  }
  for (uint32_t i = 0; i < code->label_count; i++)
    if (!code->labels[i].is_placed)
      return "a label nowhere";
  return ended ? NULL : "the end is open";
}
