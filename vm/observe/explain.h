// What each operation's result lives in, and why: `tally explain`.
//
//     y = √(y × x + 1)
//          `y × x`
//            may: in one pass with …; no array of its own     from the bytecode
//            ran: fused 12 times                              from the notes
#pragma once

#include "vm/observe/watch.h"

// Writes a unit's code as JSON for stdlib/inner/explain.tly and, where [notes]
// is not NULL, what a run did. [error]: how that run ended, or NULL. Only
// memory can be missing, which out->failed tells.
void tl_explain_code(tl_text *out, const tl_unit *unit, const tl_notes *notes,
                     const char *error);

// Appends as fields of JSON where an instruction stands: line, is_placed and
// source, which is on one line and not too long.
void tl_explain_place(tl_text *out, const tl_prototype *p, uint32_t pc);
