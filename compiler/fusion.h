// Fusion: which elementwise instructions may run as one region.
#ifndef TALLY_COMPILER_FUSION_H
#define TALLY_COMPILER_FUSION_H

#include "compiler/lower.h"

// Finds the regions of finished bytecode; [temporaries] is the first slot that
// is no variable. Fills function->regions in the unit's memory.
bool tl_find_regions(tl_builder *b, tl_prototype *function,
                     int32_t temporaries);

#endif
