// Functions of reals that call the C library item by item. float32 computes in
// double: rounded once, the result is better than the library's own float.
#include "vm/kernels/list.h"

// POSIX has no such function, but all C libraries have. lgamma itself writes
// the sign to a variable of the whole process, which two threads must not. The
// attribute says that it is no function of ours, which are hidden.
__attribute__((visibility("default"))) double lgamma_r(double x, int *sign);
double tl_lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

#define UNARY(name, call)                                                \
  void tl_rare_##name##_float64(void *out, const void *a, size_t n) {    \
    double *to = out;                                                    \
    const double *from = a;                                              \
    for (size_t i = 0; i < n; i++) to[i] = call(from[i]);                \
  }                                                                      \
  void tl_rare_##name##_float32(void *out, const void *a, size_t n) {    \
    float *to = out;                                                     \
    const float *from = a;                                               \
    for (size_t i = 0; i < n; i++) to[i] = (float)call((double)from[i]); \
  }

UNARY(erfc, erfc)
UNARY(gamma, tgamma)
UNARY(lgamma, tl_lgamma)
