// Emission: a function's graph, whose ownership is decided, becomes bytecode
// (vm/bytecode/function.h). It is called with one function at a time, by
// ownership; regions are found later, over the code of the whole unit.
#pragma once

#include "compiler/lower.h"

// Fills the prototype's code and side tables, in memory of the unit; [arena]
// is for what emission alone needs. Changes the targets of jumps in the graph.
// False: a diagnostic (too many slots) or no memory.
bool tl_emit_function(tl_builder *b, tl_cfg_function *f, tl_arena *arena);
