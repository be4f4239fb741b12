// How work that runs long is told to end: kernels know no VM, so they are given
// a function to ask.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// A long kernel asks this now and then; true stops it, and [stopped] stays
// true.
typedef struct tl_stop {
  bool (*ask)(void *context);
  void *context;
  bool stopped;
} tl_stop;

// Asks whether a kernel is to go on; false for ever once it is stopped.
static inline bool tl_goes_on(tl_stop *stop) {
  if (stop && !stop->stopped)
    stop->stopped = stop->ask(stop->context);
  return !(stop && stop->stopped);
}
