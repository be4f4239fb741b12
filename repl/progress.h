// A line on the terminal for runs of more than a second: which part is done,
// what is left, and the line of the script that is under way.
//
//     42 %, 17 s left  train.tly:12  for epoch in 0..epochs {
//     66 % after 40 s  for x in files {      nothing to estimate from yet
//     12 s  y = linalg.solve(a, b)           the end is not known
#pragma once

#include <stdbool.h>

#include "tally.h"

// A run begins: from its second second on the VM is asked four times a second,
// by SIGALRM. Its hook is tl_progress_draw.
void tl_progress_begin(tally_vm *vm);
// It is over: the line is gone, and nobody is asked.
void tl_progress_end(void);
// tally_options.progress: draws the line.
void tl_progress_draw(void *context, const tally_progress *at);
// Something else is about to be written: takes the line off. [ends]: that ends
// its line, so that another progress line may be drawn below.
void tl_progress_hide(bool ends);
// Seconds of a clock that nobody sets.
double tl_seconds_now(void);
