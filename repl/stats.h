// The counters of a VM, as --stats shows them at the end of a run: how many
// references were counted where, what was allocated, reused and fused.
#pragma once

#include <stdio.h>

#include "repl/options.h"

// Writes all counters and the share of references that wrote a heap count.
void tl_stats_write(const tally_stats *stats, tl_stats_form form, FILE *to);
