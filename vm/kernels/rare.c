// Functions of reals that call the C library item by item. float32 computes in
// double: rounded once, the result is better than the library's own float.
#include "vm/kernels/list.h"

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
UNARY(lgamma, lgamma)
