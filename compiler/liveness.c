// Liveness, over normal and error edges, and the order in which the forward
// pass takes the blocks.
//
// A slot is live where some path reads it before writing it. The sets are
// found backward from the ends of blocks until nothing changes (Aho, Lam,
// Sethi, Ullman, 2006). An instruction that can fail also has the edge to its
// handler: what the handler reads is live before the instruction, whichever
// instruction fails.

#include "compiler/ownership_internal.h"

// to |= from, for bit sets of that many words.
static void unite(uint64_t *to, const uint64_t *from, int32_t words) {
  for (int32_t w = 0; w < words; w++) to[w] |= from[w];
}

// What is live before [ins], given what is live after it.
static void step_back(const tl_owned_function *f, const tl_cfg_ins *ins,
                      uint64_t *live) {
  if (tl_is_idle(ins, live))
    return;
  for (int32_t i = 0; i < tl_result_count(ins); i++)
    tl_bit_clear(live, ins->result + i);
  for (int32_t i = 0; i < ins->operand_count; i++)
    tl_bit_set(live, ins->operands[i]);
  if (ins->op == TL_BC_CHECKTYPES)  // reads the parameters without naming them
    for (int32_t i = 0; i < f->cfg->param_count; i++) tl_bit_set(live, i);
  int32_t handler = tl_handler_of(ins);
  if (handler >= 0)
    unite(live, tl_live_at(f, handler), f->words);
}

// What is live behind a block: the union over its targets' entries.
static void live_at_end(const tl_owned_function *f, int32_t block,
                        uint64_t *live) {
  memset(live, 0, (size_t)f->words * sizeof(uint64_t));
  for (int i = 0; i < 2; i++) {
    int32_t target = f->cfg->blocks[block].targets[i];
    if (target >= 0)
      unite(live, tl_live_at(f, target), f->words);
  }
}

// Only blocks' entries are stored; what is live behind each instruction is
// computed again from the end of the block where it is needed.
void tl_live_rows(const tl_owned_function *f, int32_t block, uint64_t *rows) {
  const tl_cfg_block *b = &f->cfg->blocks[block];
  size_t words = (size_t)f->words;
  if (b->count == 0)
    return;
  live_at_end(f, block, rows + (size_t)(b->count - 1) * words);
  for (int32_t i = b->count - 1; i > 0; i--) {
    uint64_t *row = rows + (size_t)(i - 1) * words;
    memcpy(row, row + words, words * sizeof(uint64_t));
    step_back(f, &b->ins[i], row);
  }
}

// Depth first from the entry, without recursion. Reverse postorder: a block is
// numbered, from the end, when all that it leads to have been, so that without
// loops each comes before its successors: two targets, then the handlers of its
// instructions. [next] says for each block on the stack how many of these have
// been followed. Sets [loops] if an edge leads to a block that is on the stack.
static bool order_blocks(tl_arena *arena, tl_owned_function *f, bool *loops) {
  const tl_cfg_function *cfg = f->cfg;
  size_t n = (size_t)cfg->block_count;
  int32_t *stack = TL_ARENA_ARRAY(arena, int32_t, n);
  int32_t *next = TL_ARENA_ARRAY(arena, int32_t, n);
  bool *seen = TL_ARENA_ARRAY(arena, bool, n);
  bool *on_stack = TL_ARENA_ARRAY(arena, bool, n);
  f->sequence = TL_ARENA_ARRAY(arena, int32_t, n);
  if (arena->failed)
    return false;
  int32_t depth = 1, left = (int32_t)n;
  seen[0] = on_stack[0] = true;
  while (depth > 0) {
    int32_t *k = &next[depth - 1], to = -1;
    const tl_cfg_block *block = &cfg->blocks[stack[depth - 1]];
    while (*k < block->count + 2 && (to < 0 || seen[to])) {
      to = *k < 2 ? block->targets[*k] : tl_handler_of(&block->ins[*k - 2]);
      ++*k;
      *loops |= to >= 0 && on_stack[to];
    }
    if (to < 0 || seen[to]) {
      f->sequence[--left] = stack[--depth];
      on_stack[stack[depth]] = false;
      continue;
    }
    seen[to] = on_stack[to] = true;
    stack[depth] = to;
    next[depth++] = 0;
  }
  f->sequence_count = (int32_t)n - left;
  memmove(f->sequence, f->sequence + left,
          (size_t)f->sequence_count * sizeof(int32_t));
  return true;
}

// A jump backward polls, so it may fail whatever the table says.
static void let_back_edges_poll(tl_cfg_function *cfg, tl_cfg_block *block) {
  if (block->count == 0 || block->targets[0] < 0)
    return;
  tl_cfg_ins *end = &block->ins[block->count - 1];
  for (int i = 0; i < 2; i++)
    if (block->targets[i] >= 0 &&
        cfg->blocks[block->targets[i]].order <= block->order &&
        end->fails == TL_NEVER)
      end->fails = TL_EARLY;
}

// Sizes that the forward pass needs: the longest block and the most operands
// of one instruction.
static void measure(tl_owned_function *f) {
  for (int32_t b = 0; b < f->cfg->block_count; b++) {
    tl_cfg_block *block = &f->cfg->blocks[b];
    let_back_edges_poll(f->cfg, block);
    if (block->count > f->longest)
      f->longest = block->count;
    for (int32_t i = 0; i < block->count; i++)
      if (block->ins[i].operand_count > f->most_operands)
        f->most_operands = block->ins[i].operand_count;
  }
}

// The usual backward analysis. Blocks are visited in the opposite of the order
// in which control reaches them, so that code without loops needs one round.
// The slots behind the function's own are one spare and one for each operand,
// for copies that ownership makes.
bool tl_liveness(tl_arena *arena, tl_owned_function *f) {
  measure(f);
  f->spare = f->cfg->slot_count;
  f->slots = f->spare + 1 + f->most_operands;
  f->words = (f->slots + 63) / 64;
  size_t words = (size_t)f->words;
  f->live =
      TL_ARENA_ARRAY(arena, uint64_t, words * (size_t)f->cfg->block_count);
  uint64_t *live = TL_ARENA_ARRAY(arena, uint64_t, words);
  bool loops = false;
  if (arena->failed || !order_blocks(arena, f, &loops))
    return false;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t i = f->sequence_count - 1; i >= 0; i--) {
      int32_t b = f->sequence[i];
      live_at_end(f, b, live);
      for (int32_t k = f->cfg->blocks[b].count - 1; k >= 0; k--)
        step_back(f, &f->cfg->blocks[b].ins[k], live);
      if (memcmp(live, tl_live_at(f, b), words * sizeof(uint64_t)) != 0) {
        memcpy(tl_live_at(f, b), live, words * sizeof(uint64_t));
        changed = loops;
      }
    }
  }
  return true;
}
