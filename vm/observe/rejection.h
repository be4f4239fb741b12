// Why an operand's memory did not take a result, in words: for `tally explain`
// and in-place contracts.
//
//     TL_REFUSED_LIVE      "x is used later, in line 4"
//     TL_REFUSED_SHARED    "x is shared with [0] of a list (l in the script)"
//     TL_REFUSED_SHAPE     "x has another shape than the result: 3 * int64"
//     TL_REFUSED_EXTERNAL  "x is a view of y"
//     TL_REFUSED_READ      "x is read in another order …"
#pragma once

#include "vm/observe/watch.h"

// The slot of operand [i], counting those of the window behind the others.
static inline uint32_t tl_operand_slot(const tl_decoded *d, uint32_t i) {
  return i < d->operand_count ? (uint32_t)d->operands[i]
                              : d->window + i - d->operand_count;
}

// The slot of the running function that [operand] was read from; NULL: none of
// the instruction's, nor a variable.
const tl_slot *tl_refused_slot(const tl_vm *vm, tl_slot operand);

// Writes what is to be said of the operand after its name: "is shared with [0]
// of a list", "has another shape …". [place]: where it was read from, or NULL.
void tl_spell_rejection(tl_vm *vm, tl_rejection why, tl_slot operand,
                        const tl_slot *place, char *out, size_t size);

// Appends an operand's name or source, of the instruction at [pc].
void tl_spell_operand(tl_text *out, const tl_prototype *p, uint32_t pc,
                      uint32_t slot);
// Appends what keeps an operand beyond the instruction at [pc]: "x is used
// later, in line 4".
void tl_spell_keeper(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);
// Appends what else refers to what an update would write to: "b holds it, too".
void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);
// Appends that items taken from the operand are copied.
void tl_spell_choice(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);
