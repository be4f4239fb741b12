// Inside emission: what its three files share.
//
//   emit_flow.c    which blocks, in what order; what a survey of them finds
//   emit.c         instructions to words
//   emit_tables.c  jump offsets and side tables of the finished code
#pragma once

#include "compiler/stages.h"
#include "compiler/ownership_internal.h"

// A jump whose target is not emitted yet, or not known to be: its offset is
// filled in at the end.
typedef struct tl_fixup {
  uint32_t pc;
  int32_t block;
  bool is_short;  // the offset is c, else b:c
} tl_fixup;

// An instruction that can fail: it has a place, and who owns there.
typedef struct tl_point {
  uint32_t pc;
  const tl_cfg_ins *ins;
} tl_point;

// Entries of the table of pairs; two texts that fall together are written
// twice.
enum { PAIRS = 64 };

// One function being emitted.
typedef struct tl_emitter {
  tl_builder *b;
  tl_arena *arena;
  tl_cfg_function *f;
  tl_prototype *p;
  tl_ins *code;
  uint32_t count, capacity;
  tl_fixup *fixups;  // jumps, patched when all blocks have a pc
  uint32_t fixup_count, fixup_capacity;
  tl_point *points;  // sorted by pc: the side tables are made from them
  uint32_t point_count, point_capacity;
  tl_point *begins;  // of code that is debugged: every instruction
  uint32_t begin_count, begin_capacity;
  uint32_t *block_pc;    // where each block begins; UINT32_MAX: not yet
  uint32_t block_start;  // of the block being emitted
  int32_t *sequence;     // the reachable blocks in the order of the code
  int32_t sequence_count;
  uint32_t frame;  // slots, windows included
  // For each block that begins an iteration: the variable that the loop's own
  // instruction writes, or -1. FORVAR is left out there.
  int32_t *written;
  tl_owned_function flow;  // what is live where (liveness.c)
  uint64_t *rows;          // behind each instruction of the current block
  bool fuse;  // offsets of 16 bits reach: compare and branch are one word
  int32_t pair_table[PAIRS];  // literal pairs already in the constants
  int32_t callee_table[64];   // known functions that are, by their index
} tl_emitter;

// Decides which blocks are emitted and in what order, and surveys them
// (emit_flow.c). False: no memory.
bool tl_emit_order(tl_emitter *e);

// Fills in the jumps' offsets, and writes places, unwind ranges, handlers and
// the summary into memory of the unit.
void tl_emit_tables(tl_emitter *e);
