// Where random numbers come from: generators, and the VM's own.
//
// A function that draws opens a stream with tl_stream_open() and asks it for
// words (philox.h). One call uses one stream, so calls with the same seed and
// purpose give the same numbers, and calls without a seed never share words.
#pragma once

#include "stdlib/philox.h"
#include "vm/value.h"

// Each function's place in the streams: two functions with one seed give
// different numbers. Numbers must never change, or scripts with a seed give
// others. A purpose is part of the counter and not of the key. PCG64 has none:
// its words come in sequence, whatever they are for.
typedef enum tl_draw_purpose {
  // The words as they are.
  TL_DRAW_RAW,
  TL_DRAW_UNIFORM,
  TL_DRAW_INTEGERS,
  TL_DRAW_NORMAL,
  TL_DRAW_EXPONENTIAL,
  TL_DRAW_GAMMA,
  TL_DRAW_BETA,
  TL_DRAW_BINOMIAL,
  TL_DRAW_POISSON,
  TL_DRAW_PERMUTATION,
  TL_DRAW_CHOICE,
} tl_draw_purpose;

// Opens the source that a function draws from. [source] is its argument
// generator: none, an object of random.generator, a seed, or a seed and a
// stream from 0 on. The stream borrows the generator. False after tl_fail.
//
//   none              the VM's own state, which moves on
//   42                seed 42, stream 0: the same words at each call
//   (42, 3)           seed 42, stream 3
//   random.generator  its state, which moves on
//
// Anything else fails (kind type), a negative stream or an empty list with kind
// value.
bool tl_stream_open(tl_vm *vm, const char *function, tl_slot source,
                    tl_draw_purpose purpose, tl_stream *out);

// Writes [count] integers from 0 on and below [range] (0: of all 64 bits).
// False where the VM was stopped. Every integer of the range is equally likely:
// words that would favour some are rejected.
bool tl_draw_below(tl_vm *vm, const tl_stream *stream, uint64_t range,
                   size_t count, int64_t *out);
