// The discrete Fourier transform of one length: what is computed once for it,
// and the transform itself.
//
//   tl_fft fft;
//   tl_fft_open(vm, n, &fft)          tables of roots, the passes
//   result = tl_fft_run(vm, &fft, a, b)   for each lane
//   tl_fft_close(vm, &fft)
#pragma once

#include "vm/poll.h"

// What is computed once for a length. Either [passes] or [inner] or [foreign]
// does the work; [roots] belong to the passes, [chirp] and [spectrum] to the
// inner transform.
typedef struct tl_fft tl_fft;
struct tl_fft {
  int64_t n;     // 1 or more
  int64_t size;  // items that both buffers of tl_fft_run need
  int count;     // of passes; 0 where [inner] does the work
  // 40 are enough: n is at most 2^40, and each pass divides it by 2 or more.
  struct {
    int64_t radix, rest, stride;
  } passes[64];
  void *foreign;      // FFTW's plan, which does all the work, or NULL
  tl_c128 *roots;     // exp(-2πi k / n)
  tl_fft *inner;      // of a convenient length; [size] is that
  tl_c128 *chirp;     // exp(-πi k² / n)
  tl_c128 *spectrum;  // of the chirp, conjugate, around 0
};

// A complex number as one vector.
typedef double tl_pair __attribute__((vector_size(16), aligned(8), may_alias));

// A product with a root of unity.
static inline tl_pair tl_pair_times(tl_pair a, tl_c128 w) {
  return a * (tl_pair){w.re, w.re} +
         (tl_pair){a[1], a[0]} * (tl_pair){-w.im, w.im};
}

enum { TL_FFT_PIECE = 1 << 16 };  // items between two looks for an interrupt

// Looks for an interrupt in a loop that has come to item k. The items are paid
// for elsewhere: tl_poll is given no work, since the passes have said already
// what all of it is.
static inline bool tl_fft_goes_on(tl_vm *vm, int64_t k) {
  return (k & (TL_FFT_PIECE - 1)) != TL_FFT_PIECE - 1 || tl_poll(vm, 0);
}
// Sets n items to 0, looking as well: fresh memory takes its time.
bool tl_fft_clear(tl_vm *vm, tl_c128 *items, int64_t n);

// Opens a transform of n items, 1 or more. False after tl_fail. Close what was
// opened; closing a zeroed one does nothing.
bool tl_fft_open(tl_vm *vm, int64_t n, tl_fft *out);
// Sets all of it to zeros.
void tl_fft_close(tl_vm *vm, tl_fft *fft);

// Whether tl_fft_run() leaves its result in b, which the length alone decides.
bool tl_fft_ends_in_second(const tl_fft *fft);  // where the result is: in b
// Transforms a[0 .. n), forward and unscaled. Both buffers have [size] items,
// both are overwritten, and one of them holds the result, which is returned;
// NULL where the VM was stopped. The inverse is this with re and im exchanged
// before and after.
tl_c128 *tl_fft_run(tl_vm *vm, const tl_fft *fft, tl_c128 *a, tl_c128 *b);

// Sets *out to a new table of exp(-2πi k / n) for k from 0 on and below count,
// 1 to n; the caller frees it.
bool tl_fft_roots(tl_vm *vm, int64_t n, int64_t count, tl_c128 **out);
