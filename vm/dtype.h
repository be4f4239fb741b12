// The dtypes of array items and typed scalars, written once.
//
// Everything else about a dtype (names, sizes, promotion, kernels, printing)
// follows from this table. The order within a kind is by width; promotion and
// kernels rely on the enum order only through tl_dtype_info.
//
//     kind   B bool   I int8 … int64   U uint8 … uint64   F float16 … float64
//            C complex64, complex128   S string
//
//     promotion    int8 + uint8   ─▶ int16      int64 + float32 ─▶ float64
//     weak scalar  float32 + 2.5  ─▶ float32    int32 + 2.5     ─▶ float64
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Complex items are two adjacent reals; a pair, not C's _Complex, so that the
// loops over them vectorise and special cases are ours to decide.
typedef struct tl_c64 {
  float re, im;
} tl_c64;
typedef struct tl_c128 {
  double re, im;
} tl_c128;

// An item of a string array: see string_item.h.
struct tl_string;
// An item of a string array (string_item.h): short texts lie in the item,
// longer ones are strings that it counts.
typedef struct tl_string_item {
  uint32_t length;  // bytes; UINT32_MAX: that many or more
  char start[4];    // the first ones, zeros behind
  union {
    char rest[8];              // of up to 12 bytes: those behind start
    struct tl_string *string;  // of more: all of them
  };
} tl_string_item;

// The table:
//
//     X(ENUM, name, C type of an item, kind)
//
// kind: B bool, I signed, U unsigned, F real, C complex, S string.
#define TL_DTYPES(X)                    \
  X(BOOL, bool, uint8_t, B)             \
  X(INT8, int8, int8_t, I)              \
  X(INT16, int16, int16_t, I)           \
  X(INT32, int32, int32_t, I)           \
  X(INT64, int64, int64_t, I)           \
  X(UINT8, uint8, uint8_t, U)           \
  X(UINT16, uint16, uint16_t, U)        \
  X(UINT32, uint32, uint32_t, U)        \
  X(UINT64, uint64, uint64_t, U)        \
  X(FLOAT16, float16, uint16_t, F)      \
  X(FLOAT32, float32, float, F)         \
  X(FLOAT64, float64, double, F)        \
  X(COMPLEX64, complex64, tl_c64, C)    \
  X(COMPLEX128, complex128, tl_c128, C) \
  X(STRING, string, tl_string_item, S)

// The dtypes, in the order of the table.
typedef enum tl_dtype {
#define X(ENUM, name, T, kind) TL_##ENUM,
  TL_DTYPES(X)
#undef X
      TL_DTYPE_COUNT
} tl_dtype;

// What the table says of a dtype.
typedef struct tl_dtype_info {
  const char *name;
  uint8_t itemsize;  // bytes of an item in an array
  char kind;         // 'B' 'I' 'U' 'F' 'C' 'S'
} tl_dtype_info;

// Indexed by tl_dtype. TL_DTYPE_COUNT, which stands for "none" in several
// results, is no index of it.
extern const tl_dtype_info tl_dtypes[TL_DTYPE_COUNT];

// Bytes of an item in an array.
static inline size_t tl_itemsize(tl_dtype dtype) {
  return tl_dtypes[dtype].itemsize;
}
// Predicates on kinds.
static inline bool tl_dtype_is_integer(tl_dtype dtype) {
  return tl_dtypes[dtype].kind == 'I' || tl_dtypes[dtype].kind == 'U';
}
// Not of complex numbers, whose parts are real.
static inline bool tl_dtype_is_real(tl_dtype dtype) {
  return tl_dtypes[dtype].kind == 'F';
}
// Pairs of floats, which have no order.
static inline bool tl_dtype_is_complex(tl_dtype dtype) {
  return tl_dtypes[dtype].kind == 'C';
}
// The dtype that kernels compute a dtype in: float32 for float16, which is only
// stored (half.h), else its own.
static inline tl_dtype tl_compute_dtype(tl_dtype dtype) {
  return dtype == TL_FLOAT16 ? TL_FLOAT32 : dtype;
}
// Everything but bools and strings.
// Bool is the first and string the last in the table, which this relies on.
static inline bool tl_dtype_is_numeric(tl_dtype dtype) {
  return dtype > TL_BOOL && dtype < TL_STRING;
}

// The rank of a dtype's kind: bool 0, integers 1, reals 2, complex 3, strings
// 4. An item takes values of its own kind and of lower ones.
int tl_kind_rank(tl_dtype dtype);

// The dtype that holds both by NumPy 2's table (NEP 50), for dtypes below
// TL_STRING: int8 with uint8 gives int16, int64 with uint64 gives float64,
// int32 with float32 gives float64.
// Symmetric, and of two equal dtypes that dtype.
tl_dtype tl_dtype_promote(tl_dtype a, tl_dtype b);

// The dtype of a weak scalar of [weak] (TL_INT64, TL_FLOAT64 or TL_COMPLEX128;
// TL_BOOL is never weak) with a typed [other]: other's own where its kind is
// the same or higher, else the default of the weak kind at other's width
// (float64 weak with float32 gives float32; with int32 gives float64;
// complex128 weak with float32 gives complex64).
tl_dtype tl_dtype_promote_weak(tl_dtype weak, tl_dtype other);

// The dtype called [name] (nbytes long), or TL_DTYPE_COUNT.
// The canonical names alone: aliases such as double are the parser's
// (type_parse.c).
tl_dtype tl_dtype_find(const char *name, size_t nbytes);
