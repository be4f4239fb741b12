// Where random numbers come from: generators, and the VM's own.
#ifndef TALLY_STDLIB_GENERATOR_H
#define TALLY_STDLIB_GENERATOR_H

#include "stdlib/philox.h"
#include "vm/value.h"

// Each function's place in the streams: never change one.
typedef enum tl_draw_purpose {
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
// generator: none, what random.generator made, a seed, or a seed and a stream
// from 0 on.
bool tl_stream_open(tl_vm *vm, const char *function, tl_slot source,
                    tl_draw_purpose purpose, tl_stream *out);

// Integers from 0 on and below [range] (0: of all 64 bits).
bool tl_draw_below(tl_vm *vm, const tl_stream *stream, uint64_t range,
                   size_t count, int64_t *out);

// About the arguments of every function that draws.
#define TL_DRAWN                                                             \
  "shape is a length, a list of them, or none for one number. generator is " \
  "a\n"                                                                      \
  "seed, or a list of a seed and a stream: then the same call gives the "    \
  "same\n"                                                                   \
  "numbers; what random.generator made, which goes on with each draw; or "   \
  "none\n"                                                                   \
  "for the VM's own (random.seed).\n"

#endif
