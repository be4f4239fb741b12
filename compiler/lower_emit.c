// Making the graph: instructions at the end of the current block, new blocks,
// jumps between them, landing pads and temporaries. All parts of lowering use
// these. Between lowering and ownership only definite.c changes the graph
// again.

#include "compiler/lower.h"

// The block that is being filled. Blocks move when there are more of them, so
// the pointer is good only until the next tl_new_block.
static tl_cfg_block *current(tl_lower *l) {
  return &l->f->blocks[l->block];
}

bool tl_ins_room(tl_arena *arena, tl_cfg_ins *ins, size_t count) {
  ins->operands = tl_arena_alloc(arena, count * (sizeof(int32_t) + 1));
  ins->modes = (uint8_t *)(ins->operands + count);
  return ins->operands != NULL;
}

// The handler of the moment is the instruction's error edge.
tl_cfg_ins *tl_emit(tl_lower *l, tl_opcode op, int32_t result,
                    int32_t operand_count, tl_span span) {
  // Callers set operands without a check, so without memory they get a dummy,
  // which is written to and never read.
  static tl_cfg_ins dummy;
  static int32_t dummy_operands[TL_MAX_SLOTS + 1];
  tl_cfg_block *block = current(l);
  tl_arena_more(l->b->arena, &block->ins, &block->capacity,
                (uint32_t)block->count, sizeof *block->ins);
  tl_cfg_ins made = {.op = (uint8_t)op,
                     .fails = tl_opcodes[op].fails,
                     .result = result,
                     .operand_count = operand_count,
                     .window = -1,
                     .handler = l->handler,
                     .span = span};
  if (operand_count > 0)
    tl_ins_room(l->b->arena, &made, (size_t)operand_count);
  // More operands than there are slots cannot be emitted; the limit on slots is
  // reported elsewhere.
  if (l->b->arena->failed || operand_count > TL_MAX_SLOTS) {
    l->b->arena->failed = true;
    dummy.operands = dummy_operands;
    return &dummy;
  }
  tl_cfg_ins *ins = &block->ins[block->count++];
  *ins = made;
  return ins;
}

tl_cfg_ins *tl_emit_operands(tl_lower *l, tl_opcode op, int32_t result,
                             const int32_t *operands, int32_t count,
                             tl_span span) {
  tl_cfg_ins *ins = tl_emit(l, op, result, count, span);
  for (int32_t i = 0; i < count; i++) ins->operands[i] = operands[i];
  return ins;
}

void tl_emit1(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
              tl_span span) {
  tl_emit_operands(l, op, result, &a, 1, span);
}

void tl_emit2(tl_lower *l, tl_opcode op, int32_t result, int32_t a, int32_t b,
              tl_span span) {
  tl_emit_operands(l, op, result, (int32_t[]){a, b}, 2, span);
}

void tl_emit1x(tl_lower *l, tl_opcode op, int32_t result, int32_t a,
               uint32_t extra, tl_span span) {
  tl_emit_operands(l, op, result, &a, 1, span)->extra = extra;
}

// The operands are named one by one all the same: the analysis of ownership may
// give one another slot, and then copies it into the window.
void tl_emit_window(tl_lower *l, tl_opcode op, int32_t base,
                    const int32_t *operands, int32_t count, uint32_t extra,
                    tl_span span) {
  tl_cfg_ins *ins = tl_emit(l, op, base, count, span);
  for (int32_t i = 0; i < count; i++)
    ins->operands[i] = operands != NULL ? operands[i] : base + 1 + i;
  ins->window = base;
  ins->extra = extra;
}

// The copy is a MOV, which ownership makes a move or a borrow.
int32_t tl_lower_into(tl_lower *l, int32_t want, int32_t slot, tl_span span) {
  if (want < 0 || want == slot)
    return slot;
  tl_emit1(l, TL_BC_MOV, want, slot, span);
  return want;
}

void tl_emit_x(tl_lower *l, tl_opcode op, int32_t result, uint32_t extra,
               tl_span span) {
  tl_emit(l, op, result, 0, span)->extra = extra;
}

// The position stands in the slot behind [walked] and is no operand: it is a
// plain number, which ownership need not follow.
void tl_emit_next(tl_lower *l, int32_t result, int32_t walked, uint32_t what,
                  tl_span span) {
  tl_emit1x(l, TL_BC_NEXT, result, walked, what, span);
}

// Without memory this is block 0 again, which is always there: what is emitted
// into it is never used.
int32_t tl_new_block(tl_lower *l) {
  tl_cfg_function *f = l->f;
  if (!tl_arena_more(l->b->arena, &f->blocks, &f->block_capacity,
                     (uint32_t)f->block_count, sizeof *f->blocks))
    return 0;
  f->blocks[f->block_count] = (tl_cfg_block){.targets = {-1, -1}, .order = -1};
  return f->block_count++;
}

// A block that is never entered keeps the order -1.
void tl_enter_block(tl_lower *l, int32_t block) {
  l->block = block;
  current(l)->order = l->f->order_count++;
}

// The block is complete now; what is emitted next needs a new one.
void tl_jump(tl_lower *l, int32_t target, tl_span span) {
  tl_emit(l, TL_BC_JMP, -1, 0, span);
  current(l)->targets[0] = target;
}

void tl_end_block(tl_lower *l, int32_t target, int32_t next, tl_span span) {
  tl_jump(l, target, span);
  tl_enter_block(l, next);
}

// Reached by error edges only.
void tl_enter_handler(tl_lower *l, int32_t after, int32_t handler,
                      int32_t error, uint32_t catches, tl_span span) {
  tl_end_block(l, after, handler, span);
  l->f->blocks[handler].is_handler = true;
  tl_emit_x(l, TL_BC_CATCH, error, catches, span);
}

// The CATCH of a landing pad leaves the error pending, so that RAISE raises it
// unchanged.
tl_landing tl_landing_begin(tl_lower *l, int32_t pad, tl_span span) {
  tl_landing landing = {tl_temp(l), tl_new_block(l), span};
  tl_enter_handler(l, landing.after, pad, landing.error, TL_CATCHES_PAD, span);
  return landing;
}

// The error goes on to the next handler, or out of the function.
void tl_landing_end(tl_lower *l, const tl_landing *landing) {
  tl_emit1x(l, TL_BC_RAISE, -1, landing->error, 1, landing->span);
  tl_enter_block(l, landing->after);
}

void tl_branch(tl_lower *l, tl_opcode op, int32_t slot, int32_t yes, int32_t no,
               tl_span span) {
  tl_emit1(l, op, -1, slot, span);
  current(l)->targets[0] = yes;
  current(l)->targets[1] = no;
}

// The first of [count] temporaries side by side.
int32_t tl_temps(tl_lower *l, int32_t count) {
  int32_t first = l->top;
  l->top += count;
  // slot_count is the highest top that there was.
  if (l->top > l->f->slot_count)
    l->f->slot_count = l->top;
  return first;
}

int32_t tl_temp(tl_lower *l) {
  return tl_temps(l, 1);
}

// A function that was called to make the value, and ends in a list of so many
// values, writes them here itself (tl_hand_over).
int32_t tl_lower_unpack(tl_lower *l, uint32_t count, uint32_t rest,
                        int32_t value, tl_span span) {
  int32_t first = tl_temps(l, (int32_t)count);
  tl_emit1x(l, TL_BC_UNPACK, first, value, tl_unpack_extra(count, rest), span);
  return first;
}

// Unpacks what a function of TL_PAIR has returned. It cannot fail, so no
// handler need see what the call has consumed.
int32_t tl_unpack_pair(tl_lower *l, int32_t value, tl_span span) {
  int32_t saved = l->handler;
  l->handler = -1;
  int32_t first = tl_lower_unpack(l, 2, 2, value, span);
  l->handler = saved;
  return first;
}

// The operator on two slots.
int32_t tl_lower_binary_op(tl_lower *l, tl_operator op, int32_t a, int32_t b,
                           int32_t want, tl_span span) {
#define X(name, text, opcode, function) TL_BC_##opcode,
  static const uint8_t opcodes[] = {TL_OPERATORS(X)};
#undef X
  want = tl_into(l, want);
  tl_emit2(l, (tl_opcode)opcodes[op], want, a, b, span);
  if (op == TL_OPERATOR_NOT_IN)
    tl_emit1(l, TL_BC_NOT, want, want, span);
  return want;
}
