// The opcode table as data, and instructions decoded: what the listing, the
// verifier and the auditor know of encodings. The interpreter has its own
// macros for the fields (interp_forms.h); vm/bytecode/opcodes.h has the
// formats.
//
// Built for speed.
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

const tl_format_info tl_formats[TL_FORMAT_COUNT] = {
#define FORMAT(NAME, ...) [TL_FORMAT_##NAME] = {__VA_ARGS__},
    TL_FORMATS(FORMAT)
#undef FORMAT
};

// The slot (or constant) that a field names, which is 16 times its number. A
// field that is no multiple of 16 becomes a number beyond any frame and any
// table of constants, so that the verifier rejects it without a test of its
// own.
static uint16_t slot_at(uint16_t field) {
  return (uint16_t)(field >> 4 | field << 12);
}

// Adds an operand outside the window, with its mode; [fields] are a to d.
static void add_operand(tl_decoded *out, const tl_ins *ins,
                        const uint16_t fields[4], char field) {
  out->operands[out->operand_count] = slot_at(fields[field - 'a']);
  out->modes[out->operand_count++] = ins->modes >> tl_mode_shift(field) & 3;
}

// The extra of an instruction, which stands where [from] says.
static uint32_t extra_of(const tl_ins *ins, const tl_ins *second, char from) {
  if (from == 0 || from == 'b')
    return from == 0 ? 0 : ins->b;
  if (from == 'w' || from == 'x')
    return tl_ins_extra(from == 'w' ? *ins : *second);
  if (from == 'i')
    return (uint32_t)(int32_t)(int16_t)ins->c;
  return slot_at(from == 'B' ? ins->b : ins->c);
}

// The hidden slots of a loop over a range stand side by side: next, iterations
// left and step.
static void decode_loop(tl_decoded *out) {
  if (out->op != TL_BC_FORPREP)
    return;
  for (uint16_t i = 0; i < 3; i++) {
    out->operands[i] = (uint16_t)(out->operands[0] + i);
    out->modes[i] = TL_MODE_EITHER;
  }
  out->operand_count = 3;
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

// MORE, a loop over a container, writes no variable.
int32_t tl_decode_result(const tl_prototype *function, uint32_t pc,
                         uint32_t *count) {
  const tl_ins *ins = &function->code[pc];
  char field = tl_formats[tl_opcodes[ins->op].format].result;
  *count = field != 0 && ins->op != TL_BC_MORE;
  if (ins->op == TL_BC_UNPACK)
    *count = tl_unpack_count(tl_ins_extra(ins[pc + 1 < function->code_count]));
  return *count == 0 ? -1 : slot_at(field == 'a' ? ins->a : ins->b);
}

// By the tables of opcodes and formats; what they do not say is that a call may
// give its first argument back on failure, to a slot in the second word.
void tl_decode(const tl_prototype *function, uint32_t pc, tl_decoded *out) {
  const tl_ins *ins = &function->code[pc];
  const tl_opcode_info *info = &tl_opcodes[ins->op];
  const tl_format_info *f = &tl_formats[info->format];
  // Code is complete: emission and the verifier see to it that a second word is
  // there where the opcode has one. Until the verifier has said so, a missing
  // one is read as the first word again.
  const tl_ins *second = pc + 1 < function->code_count ? ins + 1 : ins;
  const uint16_t fields[4] = {ins->a, ins->b, ins->c, second->a};
  *out = (tl_decoded){
      .op = ins->op,
      .words = f->extra == 'x' ? 2 : 1,
      .back = -1,
      .extra = extra_of(ins, second, f->extra),
      .target = -1,
      .falls_through = ins->op != TL_BC_RET && ins->op != TL_BC_RAISE,
  };
  if (info->roles[0] == TL_ROLE_TARGET)
    add_operand(out, ins, fields, 'a');
  for (const char *field = f->operands; *field != 0; field++)
    add_operand(out, ins, fields, *field);
  if (f->window != 0) {
    out->window = slot_at(fields[f->window - 'a']);
    out->window += f->window == 'a';
    out->window_count = fields[f->count - 'a'];
    if (ins->op == TL_BC_CALLB && ins->c != 0)
      out->back = slot_at(second->a);
    if (ins->op == TL_BC_CALLK)
      out->extra = callee_index(function, out->extra);
  }
  if (f->jump != 0) {
    int32_t far = (int32_t)tl_ins_extra(*ins);
    out->target = (int64_t)pc + 1 + (f->jump == 'c' ? (int16_t)ins->c : far);
    out->falls_through = ins->op != TL_BC_JMP && ins->op != TL_BC_LOOP;
    if (info->format == TL_FORMAT_LOOP)
      decode_loop(out);
  }
  out->result = tl_decode_result(function, pc, &out->result_count);
}
