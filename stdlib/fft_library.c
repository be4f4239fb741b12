// FFTW, loaded at run time and only where a script asks for it: its licence
// (GPL) binds who ships a program with it, so nothing here is linked with it.
//
// Transforms stay those of fft.c: this computes the complex one of one length.
// Plans are estimated, not measured: the same script gives the same bits.

#include "stdlib/fft_library.h"

#include <limits.h>

#include "stdlib/shared_library.h"

typedef void *make_plan(int n, tl_c128 *from, tl_c128 *to, int sign,
                        unsigned flags);
typedef void run_plan(const void *plan, tl_c128 *from, tl_c128 *to);
typedef void destroy_plan(void *plan);

// As fftw3.h has them; its interface is the same in all of version 3.
enum { FORWARD = -1, UNALIGNED = 1 << 1, ESTIMATE = 1 << 6 };

enum { PLAN, EXECUTE, DESTROY, FUNCTIONS };
// In the order of the enum and of [symbols]; set once the library is loaded.
static void (*functions[FUNCTIONS])(void);

// FFTW 3 in double precision.
static tl_shared_library library = {
    .names = (const char *const[]){"libfftw3.so.3", "libfftw3.so",
                                   "libfftw3.3.dylib", "libfftw3.dylib", NULL},
    .symbols = (const char *const[]){"fftw_plan_dft_1d", "fftw_execute_dft",
                                     "fftw_destroy_plan", NULL},
    .functions = functions,
    .about = "FFTW 3 (Debian: libfftw3-double3)",
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

// Its planner is for one thread at a time.
static pthread_mutex_t planning = PTHREAD_MUTEX_INITIALIZER;

// The VM's flag is set by the caller, after this succeeded.
bool tl_fftw_need(tl_vm *vm, const char *function) {
  return tl_shared_library_need(vm, function, &library);
}

// Estimated plans need no buffers of the right size, and take no time.
void *tl_fftw_plan(int64_t n) {
  // An estimate looks at the places of the buffers alone: that they differ.
  static tl_c128 from[2], to[2];
  // FFTW's basic interface has int lengths; Tally's own code takes the longer
  // ones.
  if (n > INT_MAX)
    return NULL;
  pthread_mutex_lock(&planning);
  void *plan = ((make_plan *)functions[PLAN])((int)n, from, to, FORWARD,
                                              ESTIMATE | UNALIGNED);
  pthread_mutex_unlock(&planning);
  return plan;
}

// Destroying a plan changes what FFTW shares among plans, like making one.
void tl_fftw_close(void *plan) {
  pthread_mutex_lock(&planning);
  ((destroy_plan *)functions[DESTROY])(plan);
  pthread_mutex_unlock(&planning);
}

// Executing a plan is safe from several threads; making one is not.
void tl_fftw_run(void *plan, tl_c128 *from, tl_c128 *to) {
  ((run_plan *)functions[EXECUTE])(plan, from, to);
}
