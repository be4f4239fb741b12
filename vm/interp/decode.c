// Instructions taken apart: what the listing, the verifier and the auditor
// know of encodings, and the table that everything about opcodes follows from.
#include "vm/interp/function.h"

const tl_opcode_info tl_opcodes[TL_OPCODE_COUNT] = {
#define OP(NAME, d, r0, r1, r2, rest, fails, format)                       \
  [TL_BC_##                                                                \
      NAME] = {#NAME,                                                      \
               TL_DEF_##d,                                                 \
               {TL_ROLE_##r0, TL_ROLE_##r1, TL_ROLE_##r2, TL_ROLE_##rest}, \
               TL_##fails,                                                 \
               TL_FORMAT_##format},
    TL_OPCODES(OP)
#undef OP
};

const tl_op_pair tl_op_pairs[TL_OP_PAIRS] = {
    {TL_BC_MUL, TL_BC_ADD}, {TL_BC_MUL, TL_BC_SUB}, {TL_BC_MUL, TL_BC_MUL},
    {TL_BC_ADD, TL_BC_ADD}, {TL_BC_ADD, TL_BC_SUB}, {TL_BC_ADD, TL_BC_MUL},
    {TL_BC_SUB, TL_BC_ADD}, {TL_BC_SUB, TL_BC_SUB}, {TL_BC_SUB, TL_BC_MUL},
};

// The places of the two-bit modes in tl_ins.modes.
enum { MODE_B = 0, MODE_C = 2, MODE_A = 4, MODE_FOURTH = 6 };

// What is no slot's offset is beyond any frame, and any table of constants.
static uint16_t slot_at(uint16_t field) {
  return (uint16_t)(field >> 4 | field << 12);
}

static void add_operand(tl_decoded *out, const tl_ins *ins, uint16_t field,
                        int mode_at) {
  out->operands[out->operand_count] = slot_at(field);
  out->modes[out->operand_count++] = ins->modes >> mode_at & 3;
}

// The target of an update is the result's slot.
static bool is_update(int op) {
  return tl_opcodes[op].roles[0] == TL_ROLE_TARGET;
}

static void decode_two(const tl_ins *ins, tl_decoded *out) {
  out->result = slot_at(ins->a);
  if (is_update(ins->op))
    add_operand(out, ins, ins->a, MODE_A);
  add_operand(out, ins, ins->b, MODE_B);
  if (ins->op != TL_BC_PUSH)  // which has no index
    add_operand(out, ins, ins->c, MODE_C);
}

static void decode_window(uint32_t base, uint32_t count, tl_decoded *out) {
  out->window = base;
  out->window_count = count;
}

static void decode_jump(int64_t next, int32_t offset, tl_decoded *out) {
  out->target = next + offset;
  out->falls_through = out->op != TL_BC_JMP && out->op != TL_BC_LOOP;
}

// The hidden slots of a loop stand side by side from a on: next, limit and
// step of a range, or a container and the position in it. A range's loop also
// writes the visible variable.
static void decode_loop(const tl_ins *ins, int64_t next, tl_decoded *out) {
  decode_jump(next, (int16_t)ins->c, out);
  add_operand(out, ins, ins->a, MODE_A);
  if (ins->op != TL_BC_MORE)
    out->result = slot_at(ins->b);
  if (ins->op != TL_BC_FORPREP)
    return;
  for (uint16_t i = 1; i < 3; i++)
    add_operand(out, ins, (uint16_t)(ins->a + 16 * i), MODE_A);
  for (int i = 0; i < 3; i++) out->modes[i] = TL_MODE_EITHER;
}

static void decode_jumps(const tl_ins *ins, int64_t next, tl_decoded *out) {
  int32_t far = (int32_t)tl_ins_extra(*ins);
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_JUMP:
      decode_jump(next, far, out);
      break;
    case TL_FORMAT_AJUMP:
      add_operand(out, ins, ins->a, MODE_A);
      decode_jump(next, far, out);
      break;
    case TL_FORMAT_ABJUMP:
      add_operand(out, ins, ins->a, MODE_A);
      add_operand(out, ins, ins->b, MODE_B);
      decode_jump(next, (int16_t)ins->c, out);
      break;
    case TL_FORMAT_AKJUMP:
      add_operand(out, ins, ins->a, MODE_A);
      out->extra = slot_at(ins->b);
      decode_jump(next, (int16_t)ins->c, out);
      break;
    default:
      decode_loop(ins, next, out);
      break;
  }
}

// A call names its function by a constant; the prototype's index is what it
// means. UINT32_MAX: no such thing.
static uint32_t callee_index(const tl_prototype *function, uint32_t k) {
  if (k >= function->constant_count ||
      !tl_is_kind(function->constants[k], TL_KIND_FUNCTION))
    return UINT32_MAX;
  const tl_prototype *callee = function->constants[k].pointer;
  return callee->unit == function->unit ? callee->index : UINT32_MAX;
}

void tl_decode(const tl_prototype *function, uint32_t pc, tl_decoded *out) {
  const tl_ins *ins = &function->code[pc];
  // Code is cut off nowhere else than at its end: emission and the verifier
  // see to it that a second word is there.
  const tl_ins *second = pc + 1 < function->code_count ? ins + 1 : ins;
  *out = (tl_decoded){
      .op = ins->op,
      .words = 1,
      .result = -1,
      .back = -1,
      .target = -1,
      .falls_through = ins->op != TL_BC_RET && ins->op != TL_BC_RAISE,
  };
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_NONE:
      break;
    case TL_FORMAT_A:
      add_operand(out, ins, ins->a, MODE_A);
      out->extra = ins->b;
      break;
    case TL_FORMAT_AB:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, MODE_B);
      break;
    case TL_FORMAT_ABC:
      decode_two(ins, out);
      break;
    case TL_FORMAT_ABI:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, MODE_B);
      out->extra = (uint32_t)(int32_t)(int16_t)ins->c;
      break;
    case TL_FORMAT_ABK:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, MODE_B);
      out->extra = slot_at(ins->c);
      break;
    case TL_FORMAT_ABX:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, MODE_B);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_ABCX:
      out->words = 2;
      decode_two(ins, out);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_ABCD:
      out->words = 2;
      decode_two(ins, out);
      add_operand(out, ins, second->a, MODE_FOURTH);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_AX:
      out->result = slot_at(ins->a);
      out->extra = tl_ins_extra(*ins);
      break;
    case TL_FORMAT_XA:
      add_operand(out, ins, ins->a, MODE_A);
      out->extra = tl_ins_extra(*ins);
      break;
    case TL_FORMAT_AA:
      add_operand(out, ins, ins->a, MODE_A);
      add_operand(out, ins, ins->b, MODE_B);
      break;
    case TL_FORMAT_W:
      out->words = 2;
      out->result = slot_at(ins->a);
      decode_window(slot_at(ins->a) + 1u, ins->b, out);
      out->extra = tl_ins_extra(*second);
      if (ins->op == TL_BC_CALLB && ins->c != 0)
        out->back = slot_at(second->a);
      if (ins->op == TL_BC_CALLK)
        out->extra = callee_index(function, out->extra);
      break;
    case TL_FORMAT_BW:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, MODE_B);
      decode_window(slot_at(ins->a) + 1u, ins->c, out);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_TVW:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->a, MODE_A);
      add_operand(out, ins, ins->b, MODE_B);
      decode_window(slot_at(ins->c), second->a, out);
      out->extra = tl_ins_extra(*second);
      break;
    default:
      decode_jumps(ins, (int64_t)pc + 1, out);
      break;
  }
}
