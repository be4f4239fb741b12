// Where control goes: labels of blocks, with the types of what lives there, and
// the jumps that lead to them.
//
//     pc 8     label 8    t9 float64        jump with t9 float64 ─▶ 8
//              label 8b   t9 int64          jump with t9 int64   ─▶ 8b
//              …                            jump with t9 a text  ─▶ a new one,
//                                           or an exit before pc 8
//
// Types of slots that are dead there are not compared, so what a path has left
// in them makes no versions. Owned and borrowed are two types, as are weak and
// not weak.
#include "vm/native/typing.h"

void tl_typing_poll(tl_typing_pass *x) {
  tl_typing_put_plain(x, TL_TYPED_POLL);
}

// Notes that a block of [pc] is to be typed. Blocks are taken in the order of
// the code, so that what comes next in the bytecode mostly comes next in the
// machine code, and needs no jump; one that lies before the word looked at
// moves that back.
void tl_typing_mark(tl_typing_pass *x, uint32_t pc) {
  x->pending[pc / 64] |= UINT64_C(1) << pc % 64;
  if (pc / 64 < x->first)
    x->first = pc / 64;
}

// The body of a loop over a range that only its step jumps to begins with the
// move into the variable, so that an iteration needs one jump. Returns the
// step's instruction; NULL: the block begins otherwise.
const tl_ins *tl_typing_round(const tl_typing_pass *x, uint32_t pc,
                              const tl_jit_type *types) {
  int32_t at = x->flow->rounds[pc];
  const tl_ins *ins = at < 0 ? NULL : &x->p->code[at];
  // The step may then go one too far at the end, so nobody may read that.
  return ins != NULL && ins->b != ins->a &&
                 (x->flow->live[at + 1] & tl_jit_bit(ins->a >> 4)) == 0 &&
                 types[ins->a >> 4] == (TL_TYPE_INT | TL_TYPE_WEAK)
             ? ins
             : NULL;
}

// A new label of [pc] gets the types of what lives there. Returns its number.
// Versions of a block are chained from the newest to the first by [next].
int32_t tl_typing_label(tl_typing_pass *x, uint32_t pc) {
  tl_jit_code *code = x->code;
  if (code->label_count == code->label_capacity) {
    x->is_full = true;
    return 0;
  }
  int32_t number = (int32_t)code->label_count++, other = code->label_at[pc];
  tl_jit_label *label = &code->labels[number];
  *label =
      (tl_jit_label){.pc = pc, .next = other, .is_pending = true, .loop = -1};
  if (other >= 0)
    label->version = (uint8_t)(code->labels[other].version + 1);
  code->label_at[pc] = number;
  for (uint32_t s = 0; s < x->p->slot_count; s++)
    if ((x->flow->live[pc] & tl_jit_bit(s)) != 0)
      label->types[s] = x->now[s];
  const tl_ins *round = tl_typing_round(x, pc, x->now);
  if (round != NULL)
    label->types[round->b >> 4] = TL_TYPE_UNKNOWN;
  tl_typing_mark(x, pc);
  return number;
}

// Whether the types of all that lives at the label are those of now. A block
// that begins with round_at's move writes the variable itself, so whatever the
// variable has on the way there fits.
static bool has_types_of(const tl_typing_pass *x, const tl_jit_label *label) {
  const tl_ins *round = tl_typing_round(x, label->pc, label->types);
  uint64_t compared = x->flow->live[label->pc];
  if (round != NULL)
    compared &= ~tl_jit_bit(round->b >> 4);
  for (uint32_t s = 0; s < x->p->slot_count; s++)
    if ((compared & tl_jit_bit(s)) != 0 && label->types[s] != x->now[s]) {
      if ((label->types[s] ^ x->now[s]) == TL_TYPE_WEAK &&
          tl_jit_is_float(x->now[s]))
        *x->flow->strong |= tl_jit_bit(s) & ~x->flow->asked[label->pc];
      return false;
    }
  return true;
}

// Since types are compared with those of now, it is asked for where all
// operations before the jump have been appended. A label that is new is typed
// later, so this never types anything by itself. Where all versions are taken
// the exit leaves at [pc], with what lives there, not at the jump.
int32_t tl_typing_edge(tl_typing_pass *x, uint32_t pc) {
  const tl_jit_code *code = x->code;
  int versions = 0;
  for (int32_t i = code->label_at[pc]; i >= 0; i = code->labels[i].next) {
    if (code->labels[i].is_detour)
      continue;
    if (has_types_of(x, &code->labels[i]))
      return i;
    versions++;
  }
  if (versions < TL_JIT_VERSIONS)
    return tl_typing_label(x, pc);
  if (x->flow->detours[pc] == TL_DETOUR_NONE)
    x->flow->detours[pc] = TL_DETOUR_NEVER;
  return -1 - tl_typing_exit_with(x, pc, x->flow->live[pc]);
}

// The edge first: making it may make an exit, which has to have the types of
// what comes before the jump.
int32_t tl_typing_jump(tl_typing_pass *x, uint32_t pc) {
  int32_t to = tl_typing_edge(x, pc);
  tl_typing_put_plain(x, TL_TYPED_JUMP)->to = to;
  return to;
}

tl_typing_step tl_typing_branch(tl_typing_pass *x, tl_typed *t,
                                int64_t target) {
  bool back = target <= x->pc;
  t->to = tl_typing_edge(x, back ? x->then : (uint32_t)target);
  if (!back)
    return TL_TYPING_GOES_ON;
  tl_typing_poll(x);
  tl_typing_jump(x, (uint32_t)target);
  return TL_TYPING_ENDS;
}
