// Fused regions: a run of instructions around elementwise operations, each of
// whose results but the last is used up inside, computed in one pass over
// blocks. Slices are read where they are; the last result may go to a slice of
// an array, or into a reduction, and is no array of its own then.
//
//   bytecode    s = sum((x[1:] - x[:-1]) ** 2)
//      |
//    read       instructions become a graph: nodes are operations, uses are
//      |        values from outside, each with a guard that says whence
//    shape      shapes and dtypes of all nodes; what does not fit declines
//      |
//    plan       streams (operands, with strides) and steps (kernels), of which
//      |        runs become machine code
//    run        block by block, into memory, or to a consumer: a fold, a
//      |        scan, a selection, several of these at a time
//      |
//    cache      graph and plan are cached; in the next run the guards are
//               checked again, in order, and the plan runs if all hold
//
// region_internal.h says which files are which stage.
//
// Bytecode stays as it is. Where one of a region's instructions meets an array
// it asks here first, and the rest of the region, from that instruction on, is
// done at once; scalars never come here. What a region cannot do (strings, a
// shape that does not fit) is left to the instructions one by one, which also
// raise the errors.
#pragma once

#include "vm/elementwise.h"
#include "vm/bytecode/function.h"
#include "vm/objects.h"

// Results that regions which run together may have.
enum { TL_REGION_RESULTS = 4 };

typedef enum tl_region_status {
  TL_REGION_DONE,      // results written, *next is where to go on
  TL_REGION_DECLINED,  // nothing has changed: go on one by one
  TL_REGION_FAILED,    // after tl_fail: interrupted, or no memory
} tl_region_status;

// The items of an array; 0 of what is none.
static inline int64_t tl_items_of(const tl_slot *s) {
  return tl_is_array(*s) ? s->array->size : 0;
}

// The region that an instruction is part of; NULL.
tl_region *tl_region_at(const tl_prototype *f, uint32_t pc);

// [at] is the instruction under way, [base] the frame's slots; [items]: of the
// operand that has most. Under a promise of peak memory none is too few.
// Called where an instruction meets an array. *next is set where the region is
// done; where it is declined no error is pending.
tl_region_status tl_region_run(tl_vm *vm, const tl_prototype *function,
                               tl_slot *base, const tl_ins *at, int64_t items,
                               const tl_ins **next);
// The same of the region [where] where all is as the last run has found it, and
// that one made a short array; declined otherwise. Who knows that a region
// begins at [at] asks this first, as it costs less.
tl_region_status tl_region_run_again(tl_region *where, tl_slot *base,
                                     const tl_ins *at, const tl_ins **next);

// What the layers below call of all this (objects.h).
extern const struct tl_fusion_ops tl_fusion_ops;

// Forgets the cached graphs and plans for the code of a unit that ends, but for
// those in use.
void tl_region_forget(tl_vm *vm, const tl_unit *unit);

// The operation of an instruction that may stand in a region; TL_OP_COUNT for
// all others. [extra] is its second word's.
tl_op tl_region_op(uint8_t opcode, uint32_t extra);

// What a jump that compares asks for; [negated]: it goes where that is false.
// False: the instruction is no such jump.
bool tl_region_comparison(uint8_t opcode, tl_op *op, bool *negated);

// Whether an attribute of an array is an array that a region can read.
bool tl_region_transposes(const tl_string *name);

// What an instruction is to a region.
typedef enum tl_region_step {
  TL_STEP_NONE,  // it cannot stand in one
  TL_STEP_LOAD,  // of a literal, a capture or a module's variable
  TL_STEP_MOVE,
  TL_STEP_DROP,
  TL_STEP_HOLD,      // a view's hold on its block
  TL_STEP_TRANSFER,  // of one variable's ownership into another's
  TL_STEP_VIEW,      // a slice, an item, a transpose
  TL_STEP_OPERATION,
  TL_STEP_PLACE,   // the result goes to a part of an array: the last step
  TL_STEP_CAST,    // a call of astype, int, float or bool
  TL_STEP_CLIP,    // a call of clip
  TL_STEP_HOST,    // a call of an elementwise function of the host's
  TL_STEP_INLINE,  // of a script function, where its joins says so; or of
                   // what only a run knows
  TL_STEP_ROLL,    // a call of roll
  TL_STEP_LENGTH,  // a call of len
  TL_STEP_CALL,    // of a reduction, if it is one: the last step
  TL_STEP_SELECT,  // a view that is no view: the items of a mask, the last step
} tl_region_step;
// Of a built-in's call, tl_region_call says which one it is.
tl_region_step tl_region_step_of(uint8_t opcode, uint32_t extra);
// [builtin] is borrowed. What the region does not know is TL_STEP_NONE.
tl_region_step tl_region_call(const tl_builtin *builtin);

// Which instructions write each slot of a function: the code around a call
// tells by them what it calls.
typedef struct tl_writers {
  const tl_prototype *p;
  uint32_t *first;  // for each slot, where its pcs begin; NULL: not indexed
  uint32_t *pcs;    // of all slots, in the order of the text
} tl_writers;

// The items of memory that an index of the function takes.
size_t tl_writers_size(const tl_prototype *p);

// An index in [memory], of tl_writers_size items of 0. Without one, as {.p =
// function}, each search goes over the whole code: of short functions.
// Borrows [memory] as long as the index is used. Pcs of a slot are in rising
// order, so that a search halves them.
void tl_writers_index(tl_writers *w, const tl_prototype *p, uint32_t *memory);

// The last instruction before [pc] in the text that writes a slot.
bool tl_writers_find(const tl_writers *w, uint32_t pc, uint32_t slot,
                     uint32_t *at, tl_decoded *writer);

// The script function that a call at [pc] goes to, as far as the code around it
// tells; NULL: only a run knows.
tl_prototype *tl_region_find_callee(const tl_writers *w, uint32_t pc,
                                    const tl_decoded *call);
// Whether a region may take in that [slot] is made an owner at [pc]: of a view
// of its own.
bool tl_region_may_own(const tl_writers *w, uint32_t pc, uint32_t slot);
