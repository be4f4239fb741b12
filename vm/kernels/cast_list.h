// The kernels of casts, and those that ask first whether items fit.
#pragma once

#include "vm/kernels/list.h"

// Targets of one width share a function where the source is an integer: the
// bits are the same.
#define X(D, from, T, W)                                          \
  tl_kernel1 TL_K(cast_##from##_bool), TL_K(cast_##from##_uint8), \
      TL_K(cast_##from##_uint16), TL_K(cast_##from##_uint32),     \
      TL_K(cast_##from##_uint64), TL_K(cast_##from##_float16),    \
      TL_K(cast_##from##_float32), TL_K(cast_##from##_float64),   \
      TL_K(cast_##from##_complex64), TL_K(cast_##from##_complex128);
TL_INTEGERS(X)
TL_FLOATS(X)
X(FLOAT16, float16, , )
X(COMPLEX64, complex64, , )
X(COMPLEX128, complex128, , )
#undef X
#define X(D, from, T, W)                                          \
  tl_kernel1 TL_K(cast_##from##_int8), TL_K(cast_##from##_int16), \
      TL_K(cast_##from##_int32), TL_K(cast_##from##_int64);
TL_FLOATS(X)
X(FLOAT16, float16, , )
#undef X

// X(TO, to, to type, smallest value, largest value): floats to integers.
#define TL_FLOAT_TO_NARROW(X, FROM, from, F)                    \
  X(FROM, INT8, from, int8, F, int8_t, INT8_MIN, INT8_MAX)      \
  X(FROM, INT16, from, int16, F, int16_t, INT16_MIN, INT16_MAX) \
  X(FROM, UINT8, from, uint8, F, uint8_t, 0, UINT8_MAX)         \
  X(FROM, UINT16, from, uint16, F, uint16_t, 0, UINT16_MAX)
#define TL_FLOAT_TO_WIDE(X, FROM, from, F)                      \
  X(FROM, INT32, from, int32, F, int32_t, INT32_MIN, INT32_MAX) \
  X(FROM, INT64, from, int64, F, int64_t, INT64_MIN, INT64_MAX) \
  X(FROM, UINT32, from, uint32, F, uint32_t, 0, UINT32_MAX)     \
  X(FROM, UINT64, from, uint64, F, uint64_t, 0, UINT64_MAX)
#define X(D, sfx, T, W) tl_within TL_K(within_##sfx);
TL_INTEGERS(X)
TL_FLOATS(X)
#undef X
tl_within TL_K(within_float16);
