// Fusion: which elementwise instructions may run as one region, in one pass
// over their arrays (vm/region/region.h). The compiler only marks candidates;
// the VM decides by the values whether a region runs.
#pragma once

#include "compiler/lower.h"

// Finds the regions of finished bytecode; [temporaries] is the first slot that
// is no variable. Fills function->regions in the unit's memory. False: no
// memory. All functions of the unit must be emitted: a region may take in a
// call.
bool tl_find_regions(tl_builder *b, tl_prototype *function,
                     int32_t temporaries);
