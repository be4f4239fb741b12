// Shared by the files that explain where results live:
//
//   explain.c        the code of a unit, and what a run did, for a program
//   explain_words.c  what operands are called, and why they live on
//   peak_bound.c     the code for another program, of bounds
#pragma once

#include "vm/observe/explain.h"
#include "vm/region/region.h"

// The function being explained, and where the words go.
typedef struct tl_explainer {
  tl_text *out;
  const tl_unit *unit;
  const tl_notes *notes;  // of a run; NULL: there was none
  const tl_prototype *p;
  tl_writers writers;
} tl_explainer;

// The instruction that wrote the slot last before [pc] in the text; false: a
// parameter.
bool tl_explain_definition(const tl_explainer *e, uint32_t pc, uint32_t slot,
                           uint32_t *found);
// Whether the slot certainly holds no array: a literal or a loop's counter.
bool tl_explain_is_plain_scalar(const tl_explainer *e, uint32_t pc,
                                uint32_t slot);

// Appends as fields of JSON where an instruction stands: line, is_placed and
// source, which is on one line and not too long.
void tl_explain_place(tl_text *out, const tl_prototype *p, uint32_t pc);
// Appends a variable's name, or where a temporary comes from.
void tl_explain_operand(const tl_explainer *e, uint32_t pc, uint32_t slot);
// Appends why an operand that does not end with the region [r], or else (NULL)
// with the instruction, lives on.
void tl_explain_keeper(const tl_explainer *e, uint32_t pc, const tl_region *r,
                       uint32_t slot);
// Appends what else refers to what an update at [pc] would write to: "l holds
// it, too".
void tl_explain_holder(const tl_explainer *e, uint32_t pc, uint32_t slot);
