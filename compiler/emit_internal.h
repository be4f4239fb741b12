// Inside emission: what emit.c and emit_tables.c share.
#ifndef TALLY_COMPILER_EMIT_INTERNAL_H
#define TALLY_COMPILER_EMIT_INTERNAL_H

#include "compiler/emit.h"

typedef struct tl_fixup {
  uint32_t pc;
  int32_t block;
  bool is_short;  // the offset is c, else b:c
} tl_fixup;

// A point that can fail: who owns there.
typedef struct tl_point {
  uint32_t pc;
  const tl_cfg_ins *ins;
} tl_point;

typedef struct tl_emitter {
  tl_builder *b;
  tl_arena *arena;
  tl_cfg_function *f;
  tl_prototype *p;
  tl_ins *code;
  uint32_t count, capacity;
  tl_fixup *fixups;
  uint32_t fixup_count, fixup_capacity;
  tl_point *points;
  uint32_t point_count, point_capacity;
  uint32_t *block_pc;
  uint32_t block_start;  // of the block under way
  int32_t *sequence;     // blocks in order
  int32_t sequence_count;
  uint32_t frame;    // slots, windows included
  int32_t *written;  // for blocks that are a loop's turn: the variable that
                     // the loop writes itself, or -1
  bool *crosses;     // temporaries used in a block that does not set
                     // them
  bool **again;      // for each instruction of the current block and
                     // operand: used later in the block
  bool fuse;
  int32_t pair_table[64];    // literal pairs already in the constants
  int32_t callee_table[64];  // known functions that are, by their index
} tl_emitter;

// The RET that a block's last JMP leads to at once, or NULL: it returns itself.
static inline const tl_cfg_ins *tl_emit_returned(const tl_cfg_function *f,
                                                 const tl_cfg_block *block) {
  if (block->count == 0 || block->ins[block->count - 1].op != TL_BC_JMP)
    return NULL;
  const tl_cfg_block *to = &f->blocks[block->targets[0]];
  return to->count == 1 && to->ins[0].op == TL_BC_RET ? &to->ins[0] : NULL;
}

// Decides which blocks are emitted and in what order, and surveys them.
bool tl_emit_order(tl_emitter *e);

// Makes room for one more item; false: no memory.
bool tl_emit_grow(tl_arena *arena, void **items, uint32_t *capacity,
                  uint32_t count, size_t size);

// Fills in the jumps' offsets, and writes the places, the unwind map and the
// handlers of the finished code into memory of the unit.
void tl_emit_tables(tl_emitter *e);
// A copy of [nbytes] in the unit's memory.
void *tl_emit_keep(tl_emitter *e, const void *items, size_t nbytes);

#endif
