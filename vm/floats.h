// The processor's floating-point settings, which belong to the host's thread:
// it may round in another direction, take subnormal numbers for 0 or trap what
// is not exact. Tally's results must not depend on that, nor must the host's
// settings on Tally.
//
//     tally_eval ──▶ tl_floats_enter: the default, if it is not that already
//       … code runs, texts become numbers and numbers texts …
//     return     ──▶ tl_floats_leave: as the host had them
//
// A host's function that a script calls finds the default.
#pragma once

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>

// What the host had, where that was another setting.
typedef struct tl_floats {
  bool is_changed;
  fenv_t host;
} tl_floats;

// Whether the settings are the default: to nearest, subnormal numbers are
// numbers, nothing traps. Read from the registers, as the C library knows of
// the direction alone.
static inline bool tl_floats_are_default(void) {
#if defined(__x86_64__)
  uint32_t sse;
  uint16_t x87;
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(x87));
  // But for the flags of what has happened.
  return (sse & ~0x3fu) == 0x1f80 && x87 == 0x37f;
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  return control == 0;
#else
  return fegetround() == FE_TONEAREST;
#endif
}

// Call leave after it, in the same thread.
static inline void tl_floats_enter(tl_floats *floats) {
  floats->is_changed = !tl_floats_are_default();
  if (floats->is_changed) {
    fegetenv(&floats->host);
    fesetenv(FE_DFL_ENV);
  }
}

static inline void tl_floats_leave(tl_floats *floats) {
  if (floats->is_changed)
    fesetenv(&floats->host);
}

// The rest of the block has the default settings.
#define TL_FLOATS_HERE                                             \
  tl_floats floats_here __attribute__((cleanup(tl_floats_leave))); \
  tl_floats_enter(&floats_here)
