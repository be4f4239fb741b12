// Shared by the files that explain where results live:
//
//   explain.c       all functions of a unit, as text and as JSON
//   explain_code.c  what the compiled code says ("may")
//   explain_apart.c … why it computes operations separately
//   explain_ran.c   what a run did ("ran")
#ifndef TALLY_VM_EXPLAIN_INTERNAL_H
#define TALLY_VM_EXPLAIN_INTERNAL_H

#include "vm/observe/explain.h"
#include "vm/region/region.h"

// One function being explained, and where the words go.
typedef struct tl_explainer {
  tl_text *out;
  const tl_unit *unit;
  const tl_notes *notes;
  const tl_prototype *p;
  tl_writers writers;
  size_t writers_size;  // in bytes
  // For each pc: a jump may lead there.
  bool *leads;
} tl_explainer;

// An instruction that has an array as its result, or may have.
typedef struct tl_explained {
  uint32_t pc;
  tl_decoded d;
  const tl_place_entry *place;
  uint32_t line;
  // What was seen of it in a run; NULL: nothing.
  const tl_note *note;
  // The region that it may run in; NULL: it runs alone.
  const tl_region *region;
} tl_explained;

// What a run did at an operation: the sum of the notes that speak of it.
typedef struct tl_observed {
  uint64_t fused, inplace, fresh, copies, nbytes, largest;
  uint64_t changed, made, made_bytes;
  uint64_t refused[TL_REJECTION_COUNT];
  const struct tl_rejection_words *words[TL_REJECTION_COUNT];
  uint32_t words_pc[TL_REJECTION_COUNT];
  // Where an operand's memory was taken, and which operands.
  uint32_t taken_pc;
  uint8_t taken;
} tl_observed;

// What an instruction is to a region; of a built-in's call, what that is.
tl_region_step tl_explain_step(const tl_explainer *e, uint32_t pc,
                               const tl_decoded *d);
// Whether it computes item by item.
bool tl_explain_is_elementwise(const tl_decoded *d);
// The tl_mode in which an instruction reads a slot, -1: it does not.
int tl_explain_mode(const tl_decoded *d, uint32_t slot);
// The instruction that wrote the slot last before [pc] in the text; false: a
// parameter.
bool tl_explain_definition(const tl_explainer *e, uint32_t pc, uint32_t slot,
                           uint32_t *found);
// Whether it computes something where it may stand in a region.
bool tl_explain_joins(const tl_explainer *e, uint32_t pc, const tl_decoded *d);
// Whether an instruction of that opcode writes to a part of its result.
bool tl_explain_is_update(int op);
// Whether an instruction of a region only says where a view is: [j - 1].
bool tl_explain_says_where(const tl_explainer *e, const tl_region *region,
                           uint32_t pc, const tl_decoded *d);
// Whether it ends its region by taking the items of a mask.
bool tl_explain_selects(const tl_region *region, uint32_t pc,
                        const tl_decoded *d);
// The instruction of a region whose result stays.
uint32_t tl_explain_result(const tl_explainer *e, const tl_region *r);

// Appends the source of a place, on one line and not too long.
void tl_explain_source(tl_text *out, const tl_unit *unit,
                       const tl_place_entry *place);
// Appends the source of the instruction at [pc], quoted.
void tl_explain_place(const tl_explainer *e, uint32_t pc);
// Appends a variable's name, or where a temporary comes from.
void tl_explain_operand(const tl_explainer *e, uint32_t pc, uint32_t slot);
// Appends why an operand that does not end with the instruction at [last] lives
// on.
void tl_explain_keeper(const tl_explainer *e, uint32_t pc, uint32_t last,
                       uint32_t slot);
// Appends what else refers to what an update at [pc] would write to: "l holds
// it, too".
void tl_explain_holder(const tl_explainer *e, uint32_t pc, uint32_t slot);
// The region that an instruction is part of; NULL.
const tl_region *tl_explain_region(const tl_prototype *p, uint32_t pc);

// Appends the words behind "may:".
void tl_explain_code(const tl_explainer *e, const tl_explained *o);
// Where another elementwise operation uses the result and is not in the same
// region: appends why not. False: there is none.
bool tl_explain_apart(const tl_explainer *e, const tl_explained *o);

// Appends a text as a JSON string.
void tl_explain_quoted(tl_text *out, const char *from, size_t nbytes);

// What a run noted of the instruction; NULL.
const tl_note *tl_explain_note(const tl_explainer *e, uint32_t pc);
// What a run did at an operation. The memory of a region's result is noted
// where its run began.
tl_observed tl_explain_observe(const tl_explainer *e, const tl_explained *o);
// Appends the words behind "ran:".
void tl_explain_ran(const tl_explainer *e, const tl_explained *o);

#endif
