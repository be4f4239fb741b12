// Emission: which blocks there are, in what order, and what a survey of them
// finds.
//
// The order of lowering puts a loop's test behind its body and the error paths
// behind what they belong to; all that is left to do is to drop what cannot be
// reached and to let jumps to jumps go straight to the end.

#include "compiler/emit_internal.h"

// Code longer than this has two jumps at a loop's end instead of one with an
// offset of 16 bits, and compares and branches in two words.
enum { FUSE_MAX = 30000 };

// --- Jumps to jumps ---------------------------------------------------------

// The block that a jump to [block] ends up in: blocks that only jump on are
// left out. A jump back that polls is none of these: who owns what is known
// for it alone.
static int32_t thread(const tl_cfg_function *f, int32_t block) {
  // Bounded, since an endless loop without a body is a ring of such blocks.
  for (int32_t left = f->block_count; block >= 0 && left > 0; left--) {
    const tl_cfg_block *b = &f->blocks[block];
    if (b->count != 1 || b->ins[0].op != TL_BC_JMP ||
        b->ins[0].fails != TL_NEVER || b->is_handler)
      break;
    block = b->targets[0];
  }
  return block;
}

// Makes every target the block where control ends up. A block that jumps to a
// RET alone returns itself.
static void thread_jumps(tl_cfg_function *f) {
  for (int32_t i = 0; i < f->block_count; i++) {
    tl_cfg_block *b = &f->blocks[i];
    for (int t = 0; t < 2; t++) b->targets[t] = thread(f, b->targets[t]);
    tl_cfg_ins *end = b->count > 0 ? &b->ins[b->count - 1] : NULL;
    if (end == NULL || end->op != TL_BC_JMP)
      continue;
    const tl_cfg_block *to = &f->blocks[b->targets[0]];
    if (to->count != 1 || to->ins[0].op != TL_BC_RET)
      continue;
    tl_span span = end->span;
    *end = to->ins[0];
    end->span = span;
    b->targets[0] = -1;
  }
}

// --- Order ------------------------------------------------------------------

// The reachable blocks, handlers among them, in the order in which lowering
// entered them; one that splits an edge is behind its source. Ownership has
// numbered all blocks, those that it has made as well, with gaps between them.
// False: no memory.
static bool find_sequence(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  int32_t end = 0;
  for (int32_t i = 0; i < f->block_count; i++)
    end = f->blocks[i].order >= end ? f->blocks[i].order + 1 : end;
  // The block of each number and 1; 0: none.
  int32_t *at_order = TL_ARENA_ARRAY(e->arena, int32_t, (size_t)end);
  e->sequence = TL_ARENA_ARRAY(e->arena, int32_t, (size_t)f->block_count);
  if (e->arena->failed)
    return false;
  for (int32_t i = 0; i < e->flow.sequence_count; i++) {
    int32_t block = e->flow.sequence[i];
    at_order[f->blocks[block].order] = block + 1;
  }
  for (int32_t i = 0; i < end; i++)
    if (at_order[i] > 0)
      e->sequence[e->sequence_count++] = at_order[i] - 1;
  return true;
}

// --- Survey -----------------------------------------------------------------

// A block's last instruction, NULL if it has none.
static const tl_cfg_ins *last_of(const tl_cfg_block *block) {
  return block->count > 0 ? &block->ins[block->count - 1] : NULL;
}

// The variables that FORPREP and FORR write themselves: those that an
// iteration begins by defining, if nothing else leads to its block.
// What the variable held before is not owned there, else a drop would come
// first.
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
      // Target 0 of the loop's own end, and the block begins with the variable
      // of these hidden slots.
      bool is_iteration = t == 0 && is_loop && to->count > 0 &&
                          to->ins[0].op == TL_BC_FORVAR &&
                          to->ins[0].extra == end->extra;
      entered[target] = entered[target] || !is_iteration;
    }
  }
  for (int32_t i = 0; i < f->block_count; i++) {
    const tl_cfg_block *block = &f->blocks[i];
    // Block 0 is entered by the call, which gives parameters their values.
    bool found = i > 0 && block->count > 0 && !entered[i] &&
                 block->ins[0].op == TL_BC_FORVAR &&
                 block->ins[0].result >= f->param_count;
    e->written[i] = found ? block->ins[0].result : -1;
  }
  return true;
}

// Whether the code is short enough for short jumps. A block has at most so many
// words: each instruction, its extra, and a move for each operand.
static bool has_short_jumps(const tl_cfg_function *f) {
  uint32_t words = 0;
  for (int32_t b = 0; b < f->block_count; b++)
    for (int32_t i = 0; i < f->blocks[b].count; i++)
      words += 2 + (uint32_t)f->blocks[b].ins[i].operand_count;
  return words < FUSE_MAX;
}

// Threads jumps, finds what is live and the order, then surveys the blocks.
// Which slots live on is asked so that no literal is folded away from under
// them.
bool tl_emit_order(tl_emitter *e) {
  thread_jumps(e->f);
  e->flow.cfg = e->f;
  e->fuse = has_short_jumps(e->f);
  if (!tl_liveness(e->arena, &e->flow))
    return false;
  e->rows =
      TL_ARENA_ARRAY(e->arena, uint64_t,
                     (size_t)e->flow.words * (size_t)(e->flow.longest + 1));
  return find_sequence(e) && find_written(e);
}
