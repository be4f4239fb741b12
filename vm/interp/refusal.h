// Why an operand's memory did not take a result, in words: for `tally explain`
// and #:inplace.
#ifndef TALLY_VM_REFUSAL_H
#define TALLY_VM_REFUSAL_H

#include "vm/api/watch.h"

// The slot of the running function that [operand] was read from; NULL: none of
// the instruction's, nor a variable.
const tl_slot *tl_refused_slot(const tl_vm *vm, tl_slot operand);

// What is to be said of the operand after its name: "is shared with [0] of a
// list", "has another shape: 3 * int64". place: where it was read from, or
// NULL.
void tl_spell_refusal(tl_vm *vm, tl_refusal why, tl_slot operand,
                      const tl_slot *place, char *out, size_t size);

// Of an operand of the instruction at [pc] in a function's code: its name or
// source; who keeps it beyond that, as "x is used later, in line 4"; who else
// holds what an update would write to, as "b holds it, too".
void tl_spell_operand(tl_text *out, const tl_prototype *p, uint32_t pc,
                      uint32_t slot);
void tl_spell_keeper(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);
void tl_spell_holder(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);
// That items taken from it are copied.
void tl_spell_choice(tl_text *out, const tl_prototype *p, uint32_t pc,
                     uint32_t slot);

#endif
