// The dtypes' table and how two of them promote.
//
// Built for speed.
#include "vm/dtype.h"

#include <string.h>

#define KIND_LETTER_B 'B'
#define KIND_LETTER_I 'I'
#define KIND_LETTER_U 'U'
#define KIND_LETTER_F 'F'
#define KIND_LETTER_C 'C'
#define KIND_LETTER_S 'S'

// A row for each dtype: its name, the bytes of an item and its kind.
const tl_dtype_info tl_dtypes[TL_DTYPE_COUNT] = {
#define X(ENUM, name, T, kind) \
  [TL_##ENUM] = {#name, sizeof(T), KIND_LETTER_##kind},
    TL_DTYPES(X)
#undef X
};

// The bytes of the float that holds every number of [dtype] exactly; float64 is
// the largest, as in NumPy.
static size_t float_width(tl_dtype dtype) {
  switch (tl_dtypes[dtype].kind) {
    case 'F':
      return tl_itemsize(dtype);
    case 'C':
      return tl_itemsize(dtype) / 2;
    default:
      // int8 has room in 11 bits, int16 in 24.
      return tl_itemsize(dtype) <= 2 ? 2 * tl_itemsize(dtype) : 8;
  }
}

// The wider of two widths in bytes.
static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

// The signed integer of that width.
static tl_dtype signed_of_width(size_t itemsize) {
  switch (itemsize) {
    case 1:
      return TL_INT8;
    case 2:
      return TL_INT16;
    case 4:
      return TL_INT32;
    default:
      return TL_INT64;
  }
}

// A signed and an unsigned integer: a signed one that is wider than the
// unsigned, if there is any, else float64.
static tl_dtype promote_signs(tl_dtype is_signed, tl_dtype is_unsigned) {
  size_t width = larger(tl_itemsize(is_signed), 2 * tl_itemsize(is_unsigned));
  return width > 8 ? TL_FLOAT64 : signed_of_width(width);
}

// In the order of the kinds: bool gives way to all, then complex, real, and
// integers of equal or different sign.
// Widths decide within a kind, and across kinds the width of the float that has
// room for the integer: int16 with float32 is float32, int32 with float32 is
// float64.
tl_dtype tl_dtype_promote(tl_dtype a, tl_dtype b) {
  if (a == b)
    return a;
  if (a == TL_BOOL)
    return b;
  if (b == TL_BOOL)
    return a;
  const char ka = tl_dtypes[a].kind, kb = tl_dtypes[b].kind;
  const size_t width = larger(float_width(a), float_width(b));
  if (ka == 'C' || kb == 'C')
    return width > 4 ? TL_COMPLEX128 : TL_COMPLEX64;
  if (ka == 'F' || kb == 'F')
    return width > 4 ? TL_FLOAT64 : width > 2 ? TL_FLOAT32 : TL_FLOAT16;
  if (ka == kb)
    return tl_itemsize(a) > tl_itemsize(b) ? a : b;
  return ka == 'I' ? promote_signs(a, b) : promote_signs(b, a);
}

// Signed and unsigned integers are of one kind: they convert into each other
// where the value fits.
int tl_kind_rank(tl_dtype dtype) {
  switch (tl_dtypes[dtype].kind) {
    case 'B':
      return 0;
    case 'I':
    case 'U':
      return 1;
    case 'F':
      return 2;
    case 'C':
      return 3;
    default:
      return 4;
  }
}

// Only a weak complex with float32 needs more than the kinds: it takes half its
// width.
tl_dtype tl_dtype_promote_weak(tl_dtype weak, tl_dtype other) {
  if (tl_kind_rank(other) >= tl_kind_rank(weak))
    return other;
  if (weak == TL_COMPLEX128 && (other == TL_FLOAT16 || other == TL_FLOAT32))
    return TL_COMPLEX64;
  return weak;
}

// Linear: there are fifteen, few of which have one first letter.
tl_dtype tl_dtype_find(const char *name, size_t nbytes) {
  for (tl_dtype dtype = 0; dtype < TL_DTYPE_COUNT; dtype++) {
    const char *known = tl_dtypes[dtype].name;
    if (*known == *name && strlen(known) == nbytes &&
        memcmp(known, name, nbytes) == 0)
      return dtype;
  }
  return TL_DTYPE_COUNT;
}
