// What the files of fusion share (fusion.c has the list): the steps of a run,
// the units that they form, and the predicates about them.
#pragma once

#include "compiler/lower.h"
#include "vm/region/region.h"

// Instructions that are looked at together; longer runs are cut.
// Arrays of this length lie on the C stack (tl_fusion and the units), and the
// search for makers and consumers in a run is quadratic.
enum { TL_FUSED_RUN = 256 };

// One instruction of a run.
typedef struct tl_fused_step {
  uint32_t pc, end;
  tl_decoded d;
  tl_region_step kind;
  bool may_join;     // a consumer that may be one of several
  int32_t consumer;  // the step that uses its result up, -1
  int32_t viewed;    // the first step that takes a view of its result, -1
  bool is_index;     // its result says where a view is
  bool is_inner;     // a reduction within a unit: see find_first
  bool is_taken;     // x[mask] that an update by the mask puts back
} tl_fused_step;

// Steps that are computed together; with [part] only as part of a group.
typedef struct tl_fused_unit {
  int32_t first, last;  // steps
  bool part;
  int32_t group_end;  // the last unit of its group
} tl_fused_unit;

// One function, and the run of it that is looked at.
typedef struct tl_fusion {
  tl_builder *b;
  tl_prototype *p;
  int32_t temporaries;
  tl_writers writers;
  bool *leads;  // a jump or handler may begin at this pc
  tl_fused_step steps[TL_FUSED_RUN];
  int32_t results[TL_FUSED_RUN];  // the steps' again, side by side for searches
  int32_t count;
  tl_region *regions;
  uint32_t region_count, capacity;
} tl_fusion;

// Whether a step computes each item of its result from items of its operands.
static inline bool tl_fused_is_operation(const tl_fused_step *s) {
  return s->kind == TL_STEP_OPERATION || s->kind == TL_STEP_CAST ||
         s->kind == TL_STEP_CLIP || s->kind == TL_STEP_HOST ||
         s->kind == TL_STEP_INLINE;
}

// Whether a step takes the last result, so that it becomes no array: a store
// to a part, a reduction, a selection.
static inline bool tl_fused_is_consumer(const tl_fused_step *s) {
  return s->kind == TL_STEP_PLACE || s->kind == TL_STEP_CALL ||
         s->kind == TL_STEP_SELECT;
}

// Steps before a unit that may stand in its group: what they do is known when
// it is read.
static inline bool tl_fused_is_passive(const tl_fused_step *s) {
  return s->kind == TL_STEP_LOAD || s->kind == TL_STEP_MOVE ||
         s->kind == TL_STEP_DROP || s->kind == TL_STEP_HOLD ||
         s->kind == TL_STEP_TRANSFER;
}

// What a slot holds at step [i]: the step that makes it; or -1, and the slot
// that it comes from in [root].
int32_t tl_fusion_source(const tl_fusion *f, int32_t i, int32_t slot,
                         int32_t *root);

// Joins units that may run together into groups: sets group_end of each of the
// [n] units.
void tl_fusion_find_groups(const tl_fusion *f, tl_fused_unit *units, int32_t n);
