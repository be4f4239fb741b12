// Emission: a function's graph, its ownership settled, becomes bytecode.
#ifndef TALLY_COMPILER_EMIT_H
#define TALLY_COMPILER_EMIT_H

#include "compiler/lower.h"

// Fills the prototype's code and side tables, in memory of the unit; [arena] is
// for what emission alone needs. False: a diagnostic (too many slots) or no
// memory.
bool tl_emit_function(tl_builder *b, tl_cfg_function *f, tl_arena *arena);

#endif
