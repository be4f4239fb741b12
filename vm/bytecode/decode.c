// The opcode table as data, and instructions decoded: what the listing, the
// verifier and the auditor know of encodings. The interpreter has its own
// macros for the fields (interp_forms.h); vm/bytecode/opcodes.h has the
// formats.
//
// Built for size.
#include "vm/bytecode/function.h"

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

// The places of the two-bit modes in tl_ins.modes.
enum { B_MODE = 0, C_MODE = 2, A_MODE = 4, FOURTH_MODE = 6 };

// The slot (or constant) that a field names, which is 16 times its number. A
// field that is no multiple of 16 becomes a number beyond any frame and any
// table of constants, so that the verifier rejects it without a test of its
// own.
static uint16_t slot_at(uint16_t field) {
  return (uint16_t)(field >> 4 | field << 12);
}

// Adds an operand outside the window, with its mode.
static void add_operand(tl_decoded *out, const tl_ins *ins, uint16_t field,
                        int mode_at) {
  out->operands[out->operand_count] = slot_at(field);
  out->modes[out->operand_count++] = ins->modes >> mode_at & 3;
}

// Whether operand 0 is the slot of the result: an update in place.
static bool is_update(int op) {
  return tl_opcodes[op].roles[0] == TL_ROLE_TARGET;
}

// The formats with fields a, b, c: a result and two operands, or an update with
// two operands.
static void decode_two(const tl_ins *ins, tl_decoded *out) {
  out->result = slot_at(ins->a);
  if (is_update(ins->op))
    add_operand(out, ins, ins->a, A_MODE);
  add_operand(out, ins, ins->b, B_MODE);
  if (ins->op != TL_BC_PUSH)  // which has no index
    add_operand(out, ins, ins->c, C_MODE);
}

// A window of [count] slots from [base] on, which the instruction takes over.
static void decode_window(uint32_t base, uint32_t count, tl_decoded *out) {
  out->window = base;
  out->window_count = count;
}

// The jump goes to [offset] words behind the next instruction at [next].
static void decode_jump(int64_t next, int32_t offset, tl_decoded *out) {
  out->target = next + offset;
  out->falls_through = out->op != TL_BC_JMP && out->op != TL_BC_LOOP;
}

// The hidden slots of a loop stand side by side from a on: next, iterations
// left and step of a range, or a container and the position in it. A range's
// loop also writes the visible variable.
static void decode_loop(const tl_ins *ins, int64_t next, tl_decoded *out) {
  decode_jump(next, (int16_t)ins->c, out);
  add_operand(out, ins, ins->a, A_MODE);
  if (ins->op != TL_BC_MORE)
    out->result = slot_at(ins->b);
  if (ins->op != TL_BC_FORPREP)
    return;
  for (uint16_t i = 1; i < 3; i++)
    add_operand(out, ins, (uint16_t)(ins->a + 16 * i), A_MODE);
  for (int i = 0; i < 3; i++) out->modes[i] = TL_MODE_EITHER;
}

// The formats of jumps.
static void decode_jumps(const tl_ins *ins, int64_t next, tl_decoded *out) {
  int32_t far = (int32_t)tl_ins_extra(*ins);
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_JUMP:
      decode_jump(next, far, out);
      break;
    case TL_FORMAT_AJUMP:
      add_operand(out, ins, ins->a, A_MODE);
      decode_jump(next, far, out);
      break;
    case TL_FORMAT_ABJUMP:
      add_operand(out, ins, ins->a, A_MODE);
      add_operand(out, ins, ins->b, B_MODE);
      decode_jump(next, (int16_t)ins->c, out);
      break;
    case TL_FORMAT_AKJUMP:
      add_operand(out, ins, ins->a, A_MODE);
      out->extra = slot_at(ins->b);
      decode_jump(next, (int16_t)ins->c, out);
      break;
    default:
      decode_loop(ins, next, out);
      break;
  }
}

// A call names its function by a constant; what it means is the prototype's
// index in the unit. UINT32_MAX: the constant is no function of the unit.
static uint32_t callee_index(const tl_prototype *function, uint32_t k) {
  if (k >= function->constant_count ||
      !tl_is_kind(function->constants[k], TL_KIND_FUNCTION))
    return UINT32_MAX;
  const tl_prototype *callee = function->constants[k].pointer;
  return callee->unit == function->unit ? callee->index : UINT32_MAX;
}

// One case for each format, in the order of opcodes.h; jumps are decoded in
// decode_jumps.
void tl_decode(const tl_prototype *function, uint32_t pc, tl_decoded *out) {
  const tl_ins *ins = &function->code[pc];
  // Code is complete: emission and the verifier see to it that a second word is
  // there where the opcode has one. Until the verifier has said so, a missing
  // one is read as the first word again.
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
      add_operand(out, ins, ins->a, A_MODE);
      out->extra = ins->b;
      break;
    case TL_FORMAT_AB:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, B_MODE);
      break;
    case TL_FORMAT_ABC:
      decode_two(ins, out);
      break;
    case TL_FORMAT_ABI:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, B_MODE);
      // The immediate is signed.
      out->extra = (uint32_t)(int32_t)(int16_t)ins->c;
      break;
    case TL_FORMAT_ABK:
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, B_MODE);
      out->extra = slot_at(ins->c);
      break;
    case TL_FORMAT_ABX:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, B_MODE);
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
      add_operand(out, ins, second->a, FOURTH_MODE);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_AX:
      out->result = slot_at(ins->a);
      out->extra = tl_ins_extra(*ins);
      break;
    case TL_FORMAT_XA:
      add_operand(out, ins, ins->a, A_MODE);
      out->extra = tl_ins_extra(*ins);
      break;
    case TL_FORMAT_AA:
      add_operand(out, ins, ins->a, A_MODE);
      add_operand(out, ins, ins->b, B_MODE);
      break;
    case TL_FORMAT_W:
      out->words = 2;
      out->result = slot_at(ins->a);
      decode_window(slot_at(ins->a) + 1u, ins->b, out);
      out->extra = tl_ins_extra(*second);
      // c says that the call gives its first argument back on failure, to the
      // slot in the second word.
      if (ins->op == TL_BC_CALLB && ins->c != 0)
        out->back = slot_at(second->a);
      if (ins->op == TL_BC_CALLK)
        out->extra = callee_index(function, out->extra);
      break;
    case TL_FORMAT_BW:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->b, B_MODE);
      decode_window(slot_at(ins->a) + 1u, ins->c, out);
      out->extra = tl_ins_extra(*second);
      break;
    case TL_FORMAT_TVW:
      out->words = 2;
      out->result = slot_at(ins->a);
      add_operand(out, ins, ins->a, A_MODE);
      add_operand(out, ins, ins->b, B_MODE);
      decode_window(slot_at(ins->c), second->a, out);
      out->extra = tl_ins_extra(*second);
      break;
    default:
      decode_jumps(ins, (int64_t)pc + 1, out);
      break;
  }
  out->result_count = out->result < 0           ? 0
                      : ins->op == TL_BC_UNPACK ? tl_unpack_count(out->extra)
                                                : 1;
}
