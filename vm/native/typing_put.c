// What the typing pass appends to: operations, exits, and the room for them.
#include "vm/native/typing.h"

#include <string.h>

#include "vm/memory/memory.h"

// A set of slots with one of them.
static uint64_t bit(uint32_t slot) {
  return UINT64_C(1) << slot;
}

// --- Appending --------------------------------------------------------------

const tl_typed_info tl_typed_ops[TL_TYPED_COUNT_OF_OPS] = {
#define OP(NAME, a, b, c) \
  {#NAME, {TL_OPERAND_##a, TL_OPERAND_##b, TL_OPERAND_##c}},
    TL_TYPED_OPS(OP)
#undef OP
};

// Counts the uses of a register, or of an array's facts. An array weighs on its
// address and its first length, which every access of an item reads.
static void weigh(tl_typing_pass *x, int kind, int operand) {
  float *weights = x->code->weights;
  if (kind == TL_OPERAND__ || operand < 0)
    return;
  if (kind != TL_OPERAND_A) {
    weights[operand] += x->weight;
    return;
  }
  int facts = TL_JIT_FACTS + TL_JIT_FACTS_EACH * operand;
  for (int i = 0; i < 2; i++) weights[facts + i] += x->weight;
}

// The type of what a register holds where the pass stands. Facts are addresses
// and lengths.
static tl_jit_type type_in(const tl_typing_pass *x, int kind, int r) {
  if (kind == TL_OPERAND__ || kind == TL_OPERAND_A || r < 0)
    return TL_TYPE_UNKNOWN;
  return r < TL_JIT_FACTS ? x->now[r % TL_JIT_SLOTS] : TL_TYPE_INT;
}

// Without room the last operation is overwritten, so that callers can go on
// writing to what they get.
tl_typed *tl_typing_put(tl_typing_pass *x, tl_typed_op op, int a, int b,
                        int c) {
  tl_jit_code *code = x->code;
  if (code->op_count == code->op_capacity) {
    x->is_full = true;
    code->op_count--;
  }
  tl_typed *t = &code->ops[code->op_count++];
  *t = (tl_typed){.op = (uint8_t)op,
                  .a = (int16_t)a,
                  .b = (int16_t)b,
                  .c = (int16_t)c,
                  .d = TL_JIT_NONE,
                  .e = TL_JIT_NONE,
                  .dtype = TL_FLOAT64,
                  .to = -1,
                  .exit = -1};
  const tl_typed_info *info = &tl_typed_ops[op];
  const int operands[] = {a, b, c};
  for (int i = 0; i < 3; i++) {
    weigh(x, info->kinds[i], operands[i]);
    t->from[i] = type_in(x, info->kinds[i], operands[i]);
  }
  return t;
}

tl_typed *tl_typing_set(tl_typing_pass *x, tl_typed_op op, uint32_t slot,
                        tl_jit_type type, int b, int c) {
  tl_typed *t = tl_typing_put(x, op, tl_jit_register(slot, type), b, c);
  t->type = type;
  if (tl_jit_is_float(type))
    t->dtype = (uint8_t)tl_jit_dtype(type);
  x->now[slot] = type;
  x->known &= ~bit(slot);
  return t;
}

void tl_typing_set_constant(tl_typing_pass *x, uint32_t slot, tl_slot value) {
  tl_jit_type type = tl_jit_type_of(value.tag);
  tl_typing_set(x, tl_jit_is_float(type) ? TL_TYPED_FCONST : TL_TYPED_CONST,
                slot, type, TL_JIT_NONE, TL_JIT_NONE)
      ->imm = value.i;
  x->known |= bit(slot);
  x->values[slot] = value;
}

// The scalars among [live] are written back. Without room it is exit 0, which
// nobody will emit.
int32_t tl_typing_exit_with(tl_typing_pass *x, uint32_t pc, uint64_t live) {
  tl_jit_code *code = x->code;
  if (code->exit_count == code->exit_capacity) {
    x->is_full = true;
    return 0;
  }
  tl_jit_exit *e = &code->exits[code->exit_count];
  *e = (tl_jit_exit){.pc = pc};
  for (uint32_t s = 0; s < x->p->slot_count; s++)
    if ((live & bit(s)) != 0 && tl_jit_is_scalar(x->now[s])) {
      e->slots |= bit(s);
      e->types[s] = x->now[s];
    }
  return (int32_t)code->exit_count++;
}

int32_t tl_typing_exit(tl_typing_pass *x) {
  return tl_typing_exit_with(x, x->pc, x->flow->live[x->pc]);
}

// --- Operands and room ------------------------------------------------------

tl_typing_operand tl_typing_slot(const tl_typing_pass *x, uint32_t slot) {
  bool known = (x->known & bit(slot)) != 0;
  return (tl_typing_operand){.slot = (int)slot,
                             .type = x->now[slot],
                             .is_known = known,
                             .value = known ? x->values[slot] : tl_none()};
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
                        .label_capacity = n + 8};
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
