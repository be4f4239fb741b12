// Which function casts which dtype to which, and which ones ask first whether
// items fit.
//
// X(FROM, TO, function). Targets of one width share a function where the
// source is an integer: the bits are the same.
#ifndef TALLY_VM_KERNELS_CAST_LIST_H
#define TALLY_VM_KERNELS_CAST_LIST_H

#include "vm/kernels/list.h"

// From integers and bools to integers.
#define TL_CAST_TO_BITS(X, FROM, from)        \
  X(FROM, INT8, TL_K(cast_##from##_uint8))    \
  X(FROM, INT16, TL_K(cast_##from##_uint16))  \
  X(FROM, INT32, TL_K(cast_##from##_uint32))  \
  X(FROM, INT64, TL_K(cast_##from##_uint64))  \
  X(FROM, UINT8, TL_K(cast_##from##_uint8))   \
  X(FROM, UINT16, TL_K(cast_##from##_uint16)) \
  X(FROM, UINT32, TL_K(cast_##from##_uint32)) \
  X(FROM, UINT64, TL_K(cast_##from##_uint64))
// From floats to integers.
#define TL_CAST_TO_INTEGERS(X, FROM, from)    \
  X(FROM, INT8, TL_K(cast_##from##_int8))     \
  X(FROM, INT16, TL_K(cast_##from##_int16))   \
  X(FROM, INT32, TL_K(cast_##from##_int32))   \
  X(FROM, INT64, TL_K(cast_##from##_int64))   \
  X(FROM, UINT8, TL_K(cast_##from##_uint8))   \
  X(FROM, UINT16, TL_K(cast_##from##_uint16)) \
  X(FROM, UINT32, TL_K(cast_##from##_uint32)) \
  X(FROM, UINT64, TL_K(cast_##from##_uint64))
// To complex dtypes, with imaginary parts of 0.
#define TL_CAST_TO_COMPLEX(X, FROM, from)           \
  X(FROM, COMPLEX64, TL_K(cast_##from##_complex64)) \
  X(FROM, COMPLEX128, TL_K(cast_##from##_complex128))
// To real floats, rounded.
#define TL_CAST_TO_FLOATS(X, FROM, from)        \
  X(FROM, FLOAT16, TL_K(cast_##from##_float16)) \
  X(FROM, FLOAT32, TL_K(cast_##from##_float32)) \
  X(FROM, FLOAT64, TL_K(cast_##from##_float64))
// All casts from an integer dtype.
#define TL_CAST_INTEGER(X, FROM, from)    \
  X(FROM, BOOL, TL_K(cast_##from##_bool)) \
  TL_CAST_TO_BITS(X, FROM, from)          \
  TL_CAST_TO_FLOATS(X, FROM, from) TL_CAST_TO_COMPLEX(X, FROM, from)

// All casts; those of a dtype to itself are copies by item size.
#define TL_CASTS(X)                                         \
  X(BOOL, BOOL, TL_K(copy_1))                               \
  TL_CAST_TO_BITS(X, BOOL, uint8)                           \
  TL_CAST_TO_FLOATS(X, BOOL, uint8)                         \
  TL_CAST_TO_COMPLEX(X, BOOL, uint8)                        \
  TL_CAST_INTEGER(X, INT8, int8)                            \
  TL_CAST_INTEGER(X, INT16, int16)                          \
  TL_CAST_INTEGER(X, INT32, int32)                          \
  TL_CAST_INTEGER(X, INT64, int64)                          \
  TL_CAST_INTEGER(X, UINT8, uint8)                          \
  TL_CAST_INTEGER(X, UINT16, uint16)                        \
  TL_CAST_INTEGER(X, UINT32, uint32)                        \
  TL_CAST_INTEGER(X, UINT64, uint64)                        \
  X(FLOAT16, BOOL, TL_K(cast_float16_bool))                 \
  TL_CAST_TO_INTEGERS(X, FLOAT16, float16)                  \
  X(FLOAT16, FLOAT16, TL_K(copy_2))                         \
  X(FLOAT16, FLOAT32, TL_K(cast_float16_float32))           \
  X(FLOAT16, FLOAT64, TL_K(cast_float16_float64))           \
  TL_CAST_TO_COMPLEX(X, FLOAT16, float16)                   \
  X(FLOAT32, BOOL, TL_K(cast_float32_bool))                 \
  TL_CAST_TO_INTEGERS(X, FLOAT32, float32)                  \
  X(FLOAT32, FLOAT16, TL_K(cast_float32_float16))           \
  X(FLOAT32, FLOAT32, TL_K(copy_4))                         \
  X(FLOAT32, FLOAT64, TL_K(cast_float32_float64))           \
  TL_CAST_TO_COMPLEX(X, FLOAT32, float32)                   \
  X(FLOAT64, BOOL, TL_K(cast_float64_bool))                 \
  TL_CAST_TO_INTEGERS(X, FLOAT64, float64)                  \
  X(FLOAT64, FLOAT16, TL_K(cast_float64_float16))           \
  X(FLOAT64, FLOAT32, TL_K(cast_float64_float32))           \
  X(FLOAT64, FLOAT64, TL_K(copy_8))                         \
  TL_CAST_TO_COMPLEX(X, FLOAT64, float64)                   \
  X(COMPLEX64, COMPLEX64, TL_K(copy_8))                     \
  X(COMPLEX64, COMPLEX128, TL_K(cast_complex64_complex128)) \
  X(COMPLEX128, COMPLEX64, TL_K(cast_complex128_complex64)) \
  X(COMPLEX128, COMPLEX128, TL_K(copy_16))

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
#define X(FROM, TO, function) tl_kernel1 function;
TL_CASTS(X)
#undef X
#define X(D, sfx, T, W) tl_within TL_K(within_##sfx);
TL_INTEGERS(X)
TL_FLOATS(X)
#undef X
tl_within TL_K(within_float16);

#endif
