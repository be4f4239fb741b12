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
  int32_t *sequence;  // blocks in order
  int32_t sequence_count;
  uint32_t frame;       // slots, windows included
  int32_t *visible;     // for hidden loop slots: the variable written
                        // with them, or -1
  uint8_t *defined_by;  // for slots: 0 nothing, 1 one FORVAR, 2 others
  bool *crosses;        // temporaries used in a block that does not set
                        // them
  bool **again;         // for each instruction of the current block and
                        // operand: used later in the block
  bool fuse;
  int32_t pair_table[64];  // literal pairs already in the constants
} tl_emitter;

// Makes room for one more item; false: no memory.
bool tl_emit_grow(tl_arena *arena, void **items, uint32_t *capacity,
                  uint32_t count, size_t size);

// Fills in the jumps' offsets, and writes the places, the unwind map and the
// handlers of the finished code into memory of the unit.
void tl_emit_tables(tl_emitter *e);
// A copy of [nbytes] in the unit's memory.
void *tl_emit_keep(tl_emitter *e, const void *items, size_t nbytes);

#endif
