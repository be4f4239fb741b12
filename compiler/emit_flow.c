// Emission: which blocks there are, in what order, and what a survey of them
// finds.
//
// The order of lowering puts a loop's test behind its body and the error paths
// behind what they belong to; all that is left to do is to drop what cannot be
// reached and to let jumps to jumps go straight to the end.

#include <string.h>

#include "compiler/bits.h"
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

// Makes every target the block where control ends up.
static void thread_jumps(tl_cfg_function *f) {
  for (int32_t i = 0; i < f->block_count; i++) {
    tl_cfg_block *b = &f->blocks[i];
    for (int t = 0; t < 2; t++) b->targets[t] = thread(f, b->targets[t]);
  }
}

// --- Order ------------------------------------------------------------------

// The reachable blocks, handlers among them, in the order in which lowering
// entered them; one that splits an edge is behind its source. False: no memory.
static bool find_sequence(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  size_t n = (size_t)f->block_count;
  bool *reached = TL_ARENA_ARRAY(e->arena, bool, n);
  int32_t *stack = TL_ARENA_ARRAY(e->arena, int32_t, n + 1);
  e->sequence = TL_ARENA_ARRAY(e->arena, int32_t, n);
  int32_t *at_order = TL_ARENA_ARRAY(e->arena, int32_t, n);
  if (e->arena->failed)
    return false;
  // Depth first, over error edges and jumps. A block whose jump becomes a RET
  // does not reach its target.
  int32_t depth = 0;
  stack[depth++] = 0;
  reached[0] = true;
  while (depth > 0) {
    const tl_cfg_block *block = &f->blocks[stack[--depth]];
    for (int32_t i = 0; i < block->count; i++) {
      int32_t h = block->ins[i].handler;
      // An instruction that cannot fail has a handler in name only.
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
  // Ownership has numbered all blocks, those that it has made as well.
  for (int32_t i = 0; i < f->block_count; i++) at_order[f->blocks[i].order] = i;
  for (int32_t i = 0; i < f->block_count; i++) {
    if (reached[at_order[i]])
      e->sequence[e->sequence_count++] = at_order[i];
  }
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

// Sets [reads] to the slots that a block reads before it sets them, and
// [writes] to those that it sets. Returns how many words it has at most: each
// instruction, its extra, and a move for each operand.
static uint32_t survey_block(const tl_cfg_block *block, uint64_t *reads,
                             uint64_t *writes) {
  uint32_t words = 0;
  for (int32_t i = 0; i < block->count; i++) {
    const tl_cfg_ins *ins = &block->ins[i];
    words += 2 + (uint32_t)ins->operand_count;
    for (int32_t k = 0; k < ins->operand_count; k++)
      if (!tl_bit(writes, ins->operands[k]))
        tl_bit_set(reads, ins->operands[k]);
    for (int32_t k = 0; k < tl_result_count(ins); k++)
      tl_bit_set(writes, ins->result + k);
  }
  return words;
}

// to |= what is live at the start of [block]; none: -1.
static void unite(const tl_emitter *e, uint64_t *to, int32_t block) {
  for (int32_t w = 0; block >= 0 && w < e->words; w++)
    to[w] |= e->live[block * e->words + w];
}

// A handler is reached from the middle of the block, so what it reads is as if
// it were read behind it, whatever the block sets.
void tl_emit_behind(tl_emitter *e, const tl_cfg_block *block) {
  memset(e->behind, 0, (size_t)e->words * sizeof(uint64_t));
  for (int i = 0; i < 2; i++) unite(e, e->behind, block->targets[i]);
  int32_t last = -1;
  for (int32_t i = 0; i < block->count; i++) {
    int32_t handler = block->ins[i].handler;
    if (handler != last && block->ins[i].fails != TL_NEVER)
      unite(e, e->behind, last = handler);
  }
}

// Adds to what is live at the start of a block what is live behind it and not
// set in it; returns whether there was more.
//
//     live(b) = reads(b) ∪ (behind(b) − writes(b))
static bool add_behind(tl_emitter *e, int32_t block, const uint64_t *writes) {
  uint64_t *live = e->live + block * e->words;
  bool more = false;
  tl_emit_behind(e, &e->f->blocks[block]);
  for (int32_t w = 0; w < e->words; w++) {
    uint64_t now = live[w] | (e->behind[w] & ~writes[w]);
    more |= now != live[w];
    live[w] = now;
  }
  return more;
}

// Which slots live from one block to another, so that no literal is folded away
// from under them: backward until nothing changes. And whether the code is
// short enough for short jumps.
static bool survey(tl_emitter *e) {
  tl_cfg_function *f = e->f;
  e->words = (f->slot_count + 8 + 63) / 64;
  size_t words = (size_t)e->words, n = (size_t)f->block_count;
  e->live = TL_ARENA_ARRAY(e->arena, uint64_t, n * words);
  e->behind = TL_ARENA_ARRAY(e->arena, uint64_t, words);
  uint64_t *writes = TL_ARENA_ARRAY(e->arena, uint64_t, n * words);
  if (e->arena->failed)
    return false;
  uint32_t total = 0;
  for (size_t b = 0; b < n; b++)
    total +=
        survey_block(&f->blocks[b], e->live + b * words, writes + b * words);
  bool more = true;
  while (more) {
    more = false;
    for (size_t b = n; b-- > 0;)
      more |= add_behind(e, (int32_t)b, writes + b * words);
  }
  e->fuse = total < FUSE_MAX;
  return true;
}

// Threads jumps, finds the order, then surveys the blocks in it.
bool tl_emit_order(tl_emitter *e) {
  thread_jumps(e->f);
  return find_sequence(e) && survey(e) && find_written(e);
}
