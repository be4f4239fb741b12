// What the typing pass appends to: operations, exits, and the room for them.
//
//     block ─▶ │ operations │ exits │ labels │ newest label of each pc │
//               8 n + 32      4 n + 16  2 n + 8 n + 1      n words of code
//
// None of the tables grows: a unit with more of anything is not made.
#include "vm/native/typing.h"

// --- Appending --------------------------------------------------------------

const tl_typed_info tl_typed_ops[TL_TYPED_COUNT_OF_OPS] = {
#define OP(NAME, a, b, c, goes, gen) \
  {#NAME, {TL_OPERAND_##a, TL_OPERAND_##b, TL_OPERAND_##c}, TL_GOES_##goes},
    TL_TYPED_OPS(OP)
#undef OP
};

// The type of what a register holds where the pass stands. Facts are addresses
// and lengths. An array's number is no register, and has none.
static tl_jit_type type_in(const tl_typing_pass *x, int kind, int r) {
  if (kind == TL_OPERAND__ || kind == TL_OPERAND_A || r < 0)
    return TL_TYPE_UNKNOWN;
  return r < TL_JIT_FACTS ? x->now[r % TL_JIT_SLOTS] : TL_TYPE_INT;
}

// Without room the last operation is overwritten, so that callers can go on
// writing to what they get. The capacity is never 0. Types of operands are
// noted here, before a result of the same slot takes their place, and so are
// those of the exit.
tl_typed *tl_typing_put(tl_typing_pass *x, tl_typed_op op, int a, int b,
                        int c) {
  tl_jit_code *code = x->code;
  int32_t exit = tl_typed_leaves((int)op, c) ? tl_typing_exit(x) : -1;
  if (code->op_count == code->op_capacity) {
    x->is_full = true;
    code->op_count--;
  }
  tl_typed *t = &code->ops[code->op_count++];
  *t = tl_typed_of((int)op, a, b, c);
  t->exit = exit;
  const tl_typed_info *info = &tl_typed_ops[op];
  const int operands[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    t->from[i] = type_in(x, info->kinds[i], operands[i]);
  }
  return t;
}

tl_typed *tl_typing_put_plain(tl_typing_pass *x, tl_typed_op op) {
  return tl_typing_put(x, op, TL_JIT_NONE, TL_JIT_NONE, TL_JIT_NONE);
}

// The order counts: the operands' types are read by tl_typing_put while the
// slot still has its old one, so that x = x + 1.5 of an integer x converts it.
tl_typed *tl_typing_set(tl_typing_pass *x, tl_typed_op op, uint32_t slot,
                        tl_jit_type type, int b, int c) {
  tl_typed *t = tl_typing_put(x, op, tl_jit_register(slot, type), b, c);
  t->type = type;
  if (tl_jit_is_float(type))
    t->dtype = (uint8_t)tl_jit_dtype(type);
  x->now[slot] = type;
  x->known &= ~tl_jit_bit(slot);
  return t;
}

// The operation is there although the value is known: an exit, or a version of
// a block that does not know it, finds it in the register.
void tl_typing_set_constant(tl_typing_pass *x, uint32_t slot, tl_slot value) {
  value = tl_jit_settle(x->flow, x->then, slot, value);
  tl_jit_type type = tl_jit_type_of(value.tag);
  tl_typing_set(x, tl_jit_is_float(type) ? TL_TYPED_FCONST : TL_TYPED_CONST,
                slot, type, TL_JIT_NONE, TL_JIT_NONE)
      ->imm = value.i;
  x->known |= tl_jit_bit(slot);
  x->values[slot] = value;
}

// What the unit has touched of [live] is written back: scalars always, since it
// is not known whether one of the entry was written since, and references that
// the unit made or moved. What is as at the entry, or UNKNOWN, is not. Without
// room it is exit 0, which nobody will emit.
int32_t tl_typing_exit_with(tl_typing_pass *x, uint32_t pc, uint64_t live) {
  tl_jit_code *code = x->code;
  if (code->exit_count == code->exit_capacity) {
    x->is_full = true;
    return 0;
  }
  tl_jit_exit *e = &code->exits[code->exit_count];
  *e = (tl_jit_exit){.pc = pc, .did = -1};
  for (uint32_t s = 0; s < x->p->slot_count; s++)
    if ((live & tl_jit_bit(s)) != 0 &&
        (tl_jit_is_scalar(x->now[s]) || tl_jit_is_reference(x->now[s]))) {
      e->slots |= tl_jit_bit(s);
      e->types[s] = x->now[s];
    }
  return (int32_t)code->exit_count++;
}

// The instruction is done anew by the interpreter, from its first effect on. So
// an operation with such an exit is the first effect of its instruction.
int32_t tl_typing_exit(tl_typing_pass *x) {
  return tl_typing_exit_with(x, x->pc, x->flow->live[x->pc]);
}

// --- Operands and room ------------------------------------------------------

// Its type may be ENTRY or UNKNOWN: whoever computes asks for a scalar first.
tl_typing_operand tl_typing_slot(const tl_typing_pass *x, uint32_t slot) {
  bool known = (x->known & tl_jit_bit(slot)) != 0;
  return (tl_typing_operand){.slot = (int)slot,
                             .type = x->now[slot],
                             .is_known = known,
                             .value = known ? x->values[slot] : tl_none()};
}

// Asking is what pins: from then on an entry compares the whole tag, and the
// prologue loads the reference. A slot that is asked for in vain stays pinned,
// which costs a unit more where its tags vary.
uint64_t tl_typing_tag(tl_typing_pass *x, uint32_t slot) {
  if (x->now[slot] == TL_TYPE_ENTRY)
    x->unit->pinned |= tl_jit_bit(slot);
  return tl_jit_tag_of(x->unit, slot, x->now[slot]);
}

// Tags fit the 32 bits that instructions extend by their sign, but those of
// functions of a group, which have no type. One tag has one type in a unit,
// numbered in the order in which they come up; with the owned bit it is another
// tag, so that the type alone says whether a slot owns.
tl_jit_type tl_typing_type(tl_typing_pass *x, uint64_t tag) {
  tl_jit_unit *u = x->unit;
  tl_jit_type type = tl_jit_type_of(tag);
  uint32_t i = 0;
  if (tl_jit_is_scalar(type))
    return type;
  while (i < u->reference_count && u->references[i] != tag) i++;
  if (tag == 0 || tag > INT32_MAX || i == TL_JIT_TAGS)
    return TL_TYPE_UNKNOWN;
  if (i == u->reference_count)
    u->references[u->reference_count++] = tag;
  return (tl_jit_type)(TL_TYPE_REFERENCE + i);
}

// The compiler puts the float of an integer's value behind it (c[1] in the
// interpreter), so no conversion is left for run time.
tl_typing_operand tl_typing_constant(const tl_typing_pass *x, uint32_t k,
                                     bool with_float) {
  tl_slot value = x->p->constants[k];
  tl_jit_type type = tl_jit_type_of(value.tag);
  if (with_float && tl_jit_is_int(type)) {
    value = x->p->constants[k + 1];
    type = tl_jit_type_of(value.tag);
  }
  return (tl_typing_operand){
      .slot = -1, .type = type, .is_known = true, .value = value};
}

// Most instructions have one operation and few blocks several versions, so what
// is too little here is too much to be worth it. The tables are in one block,
// in the order of their alignment, and are not cleared: each entry is set whole
// when it is appended. Only the weights, in the code itself, and label_at begin
// with a value.
bool tl_jit_code_open(tl_jit_code *code, tl_vm *vm, tl_jit_unit *unit,
                      const tl_jit_flow *flow) {
  uint32_t n = flow->count;
  *code = (tl_jit_code){.vm = vm,
                        .unit = unit,
                        .flow = flow,
                        .op_capacity = 8 * n + 32,
                        .exit_capacity = 4 * n + 16,
                        .label_capacity = 2 * n + 8};
  code->nbytes = code->op_capacity * sizeof(tl_typed) +
                 code->exit_capacity * sizeof(tl_jit_exit) +
                 code->label_capacity * sizeof(tl_jit_label) +
                 (n + 1) * sizeof(int32_t);
  code->block = tl_spare_alloc(vm, code->nbytes);
  if (code->block == NULL)
    return false;
  code->ops = code->block;
  code->exits = (tl_jit_exit *)(void *)(code->ops + code->op_capacity);
  code->labels = (tl_jit_label *)(void *)(code->exits + code->exit_capacity);
  code->label_at = (int32_t *)(void *)(code->labels + code->label_capacity);
  memset(code->label_at, -1, (n + 1) * sizeof(int32_t));
  return true;
}

// It may be called twice, or behind a tl_jit_code_open that failed.
void tl_jit_code_close(tl_jit_code *code) {
  if (code->block != NULL)
    tl_spare_free(code->vm, code->block, code->nbytes);
  code->block = NULL;
}
