// Emission: which blocks there are, in what order, and what a survey of them
// finds.

#include "compiler/emit_internal.h"

enum { FUSE_MAX = 30000 };  // code longer than this keeps far jumps apart

// --- Jumps to jumps ---------------------------------------------------------

// A block that only jumps on is left out, but for a jump back, which polls:
// who owns what is known for there alone.
static int32_t thread(const tl_cfg_function *f, int32_t block) {
  for (int32_t left = f->block_count; block >= 0 && left > 0; left--) {
    const tl_cfg_block *b = &f->blocks[block];
    if (b->count != 1 || b->ins[0].op != TL_BC_JMP ||
        b->ins[0].fails != TL_NEVER || b->is_handler)
      break;
    block = b->targets[0];
  }
  return block;
}

static void thread_jumps(tl_cfg_function *f) {
  for (int32_t i = 0; i < f->block_count; i++) {
    tl_cfg_block *b = &f->blocks[i];
    for (int t = 0; t < 2; t++) b->targets[t] = thread(f, b->targets[t]);
  }
}

// --- Order ------------------------------------------------------------------

static bool find_sequence(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  size_t n = (size_t)f->block_count;
  bool *reached = TL_ARENA_ARRAY(e->arena, bool, n);
  int32_t *stack = TL_ARENA_ARRAY(e->arena, int32_t, n + 1);
  e->sequence = TL_ARENA_ARRAY(e->arena, int32_t, n);
  int32_t *at_order =
      TL_ARENA_ARRAY(e->arena, int32_t, (size_t)f->order_count + n + 1);
  if (e->arena->failed)
    return false;
  int32_t depth = 0;
  stack[depth++] = 0;
  reached[0] = true;
  while (depth > 0) {
    const tl_cfg_block *block = &f->blocks[stack[--depth]];
    for (int32_t i = 0; i < block->count; i++) {
      int32_t h = block->ins[i].handler;
      if (h < 0 || block->ins[i].fails == TL_NEVER || reached[h])
        continue;
      reached[h] = true;
      stack[depth++] = h;
    }
    for (int i = 0; i < 2; i++) {
      int32_t t = block->targets[i];
      if (t < 0 || reached[t] || tl_emit_returned(f, block) != NULL)
        continue;
      reached[t] = true;
      stack[depth++] = t;
    }
  }
  // Blocks that split an edge have no order of their own: they come last.
  int32_t orders = f->order_count;
  for (int32_t i = 0; i < orders; i++) at_order[i] = -1;
  for (int32_t i = 0; i < f->block_count; i++) {
    if (f->blocks[i].order >= 0 && f->blocks[i].order < orders) {
      at_order[f->blocks[i].order] = i;
    }
  }
  for (int32_t i = 0; i < orders; i++) {
    if (at_order[i] >= 0 && reached[at_order[i]]) {
      e->sequence[e->sequence_count++] = at_order[i];
    }
  }
  for (int32_t i = 0; i < f->block_count; i++) {
    if (reached[i] &&
        (f->blocks[i].order < 0 || f->blocks[i].order >= orders)) {
      e->sequence[e->sequence_count++] = i;
    }
  }
  return true;
}

// --- Survey -----------------------------------------------------------------

static const tl_cfg_ins *last_of(const tl_cfg_block *block) {
  return block->count > 0 ? &block->ins[block->count - 1] : NULL;
}

// The variables that FORPREP and FORR write themselves: where a turn begins
// with the definition, and can be entered in no other way. What the variable
// held before is not owned by then, else a drop would come first.
static bool find_written(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  size_t n = (size_t)f->block_count;
  bool *entered = TL_ARENA_ARRAY(e->arena, bool, n);
  e->written = TL_ARENA_ARRAY(e->arena, int32_t, n);
  if (e->arena->failed)
    return false;
  for (int32_t s = 0; s < e->sequence_count; s++) {
    const tl_cfg_block *block = &f->blocks[e->sequence[s]];
    const tl_cfg_ins *end = last_of(block);
    bool is_loop =
        end != NULL && (end->op == TL_BC_FORPREP || end->op == TL_BC_FORR);
    for (int t = 0; t < 2; t++) {
      int32_t target = block->targets[t];
      if (target < 0)
        continue;
      const tl_cfg_block *to = &f->blocks[target];
      bool is_turn = t == 0 && is_loop && to->count > 0 &&
                     to->ins[0].op == TL_BC_FORVAR &&
                     to->ins[0].extra == end->extra;
      entered[target] = entered[target] || !is_turn;
    }
  }
  for (int32_t i = 0; i < f->block_count; i++) {
    const tl_cfg_block *block = &f->blocks[i];
    bool found = i > 0 && block->count > 0 && !entered[i] &&
                 block->ins[0].op == TL_BC_FORVAR &&
                 block->ins[0].result >= f->param_count;
    e->written[i] = found ? block->ins[0].result : -1;
  }
  return true;
}

// Temporaries that cross blocks, and the size of it all.
static bool survey(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  size_t slots = (size_t)f->slot_count + 8;
  e->crosses = TL_ARENA_ARRAY(e->arena, bool, slots);
  int32_t *set_in = TL_ARENA_ARRAY(e->arena, int32_t, slots);
  if (e->arena->failed)
    return false;
  for (size_t i = 0; i < slots; i++) set_in[i] = -1;
  uint32_t total = 0;
  for (int32_t s = 0; s < e->sequence_count; s++) {
    const tl_cfg_block *block = &f->blocks[e->sequence[s]];
    for (int32_t i = 0; i < block->count; i++) {
      const tl_cfg_ins *ins = &block->ins[i];
      total += 2 + (uint32_t)ins->operand_count;
      for (int32_t k = 0; k < ins->operand_count; k++) {
        int32_t slot = ins->operands[k];
        if (set_in[slot] != e->sequence[s])
          e->crosses[slot] = true;
      }
      if (ins->result < 0)
        continue;
      set_in[ins->result] = e->sequence[s];
    }
  }
  e->fuse = total < FUSE_MAX;
  return true;
}

bool tl_emit_order(tl_emitter *e) {
  thread_jumps(e->f);
  return find_sequence(e) && survey(e) && find_written(e);
}
