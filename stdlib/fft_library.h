// Fourier transforms by FFTW, for VMs that asked for it: see fft_library.c.
#pragma once

#include "vm/value.h"

// Loads FFTW. Fails (kind io) where it is not installed; [function] is for the
// message.
bool tl_fftw_need(tl_vm *vm, const char *function);

// A plan for forward transforms of n items from one buffer to another; NULL
// where FFTW makes none. Only after tl_fftw_need. From any thread. Returns
// owned, to be freed by tl_fftw_close. n may be more than FFTW takes: NULL.
void *tl_fftw_plan(int64_t n);
// Frees a plan. From any thread, but not while the plan runs in another.
void tl_fftw_close(void *plan);
// Transforms from[0 .. n) into to[0 .. n), unscaled; [from] may be overwritten.
// Is not interrupted. [from] and [to] must not overlap; they need no alignment
// but that of their items.
void tl_fftw_run(void *plan, tl_c128 *from, tl_c128 *to);
