// Operations on scalars of any dtype: see scalars.h.
//
//   two integers       in 64 bits, cut to the width of the dtype they meet in
//   with a real        in float32 or float64
//   all other pairs    of one dtype by its kernel with n = 1, if there is one
//
// Whatever may fail stays with the general way: a divisor of 0, a literal that
// does not fit, a shift as far as the width.
//
// Machine code calls these functions, too (vm/native), with slots that no frame
// has. So nothing here may ask for memory, poll, or touch a VM; and a result is
// the same bits as an array's item would be, which is why C's operators stand
// only where a kernel computes as they do, and all else is the kernel itself.
//
// A payload of fewer than 8 bytes is extended, or has 0 above it: whoever moves
// a slot moves 8 bytes, and compares them.
//
// Built for size.

#include "vm/engine/scalars.h"

#include "vm/kernels/kernels.h"
#include "vm/half.h"

// What the computations below need to know of a dtype: one load.
typedef struct scalar_info {
  uint8_t kind;   // as in tl_dtypes; 0: it is not unboxed, or no number
  uint8_t shift;  // 64 less the bits of an item
  uint8_t dtype;
  bool is_integer;
  uint64_t tag;  // class and dtype, as tl_scalar_class has them
} scalar_info;

// Not to be inlined where it would cost a frequent path its registers.
#define APART __attribute__((noinline))

#define KIND_B 'B'
#define KIND_I 'I'
#define KIND_U 'U'
#define KIND_F 'F'
#define KIND_C 'C'
#define KIND_S 'S'
#define CLASS_OF(D)                    \
  ((D) == TL_INT64     ? TL_CLASS_I64  \
   : (D) == TL_FLOAT64 ? TL_CLASS_F64  \
   : (D) == TL_BOOL    ? TL_CLASS_BOOL \
                       : TL_CLASS_SMALL)
#define INFO(D, T, kind)                                              \
  {                                                                   \
    (D) < TL_COMPLEX128 ? (kind) : 0, (64 - 8 * sizeof(T)) & 63, (D), \
        (kind) == 'I' || (kind) == 'U', TL_TAG(CLASS_OF(D), (D))      \
  }

// By the tag's dtype byte, which for none and unset is their kind.
static const scalar_info infos[TL_KIND_COUNT] = {
#define X(ENUM, name, T, kind) [TL_##ENUM] = INFO(TL_##ENUM, T, KIND_##kind),
    TL_DTYPES(X)
#undef X
};

// Of a slot whose payload is no pointer.
static inline const scalar_info *info_of(const tl_slot *s) {
  return &infos[s->tag >> 8 & 0xff];
}

// The dtype that both meet in, as promote in promote.c says; here by the
// shortest way for the frequent cases. Of two integers of which one is weak it
// is the other's, whether the weak one fits or not: `holds` asks that.
static inline const scalar_info *meet(const tl_slot *b, const scalar_info *x,
                                      const tl_slot *c, const scalar_info *y) {
  if (x == y)
    return x;
  bool b_weak = tl_is_weak(*b), c_weak = tl_is_weak(*c);
  // Of one kind the wider one holds both.
  if (b_weak == c_weak && x->kind == y->kind)
    return x->shift < y->shift ? x : y;
  if (b_weak == c_weak)
    return &infos[tl_dtype_promote(x->dtype, y->dtype)];
  if (x->is_integer && y->is_integer)
    return b_weak ? y : x;
  return &infos[b_weak ? tl_dtype_promote_weak(x->dtype, y->dtype)
                       : tl_dtype_promote_weak(y->dtype, x->dtype)];
}

// The lowest bits of [v] as an item of the dtype has them.
//
//   200 as int8     200 << 56, and >> 56 with its sign: -56
static inline uint64_t cut(const scalar_info *dtype, uint64_t v) {
  v <<= dtype->shift;
  return dtype->kind == 'I' ? (uint64_t)((int64_t)v >> dtype->shift)
                            : v >> dtype->shift;
}

// Whether an integer is one of [dtype], too. Weak ones are int64, and typed
// ones meet in a dtype that holds them. A negative one may look as if it were a
// uint64, whose cut changes nothing; hence the sign.
static inline bool holds(const scalar_info *dtype, const tl_slot *s) {
  return !tl_is_weak(*s) ||
         (cut(dtype, s->u) == s->u && (dtype->kind == 'I' || s->i >= 0));
}

// A scalar as a real, in either precision.
static inline double as_double(const tl_slot *s, const scalar_info *from) {
  return from->dtype == TL_FLOAT64  ? s->f
         : from->kind == KIND_F     ? (double)s->f32
         : from->dtype == TL_UINT64 ? (double)s->u
                                    : (double)s->i;
}
// The float16 next to it.
static APART float rounded(float f) {
  return tl_half_widen(tl_half_round(f));
}
// Straight to float32: by way of a double an integer would be rounded twice.
static inline float as_float(const tl_slot *s, const scalar_info *from) {
  return from->dtype == TL_FLOAT64  ? (float)s->f
         : from->kind == KIND_F     ? s->f32
         : from->dtype == TL_UINT64 ? (float)s->u
                                    : (float)s->i;
}

// A number in the precision of float16.
static inline float as_half(const tl_slot *s, const scalar_info *from) {
  return rounded(from->dtype == TL_FLOAT64 ? tl_half_of_double(s->f)
                                           : as_float(s, from));
}

// --- Comparisons ------------------------------------------------------------

#define COMPARE(T)                                     \
  static inline bool compare_##T(tl_op op, T x, T y) { \
    return op == TL_OP_EQUAL        ? x == y           \
           : op == TL_OP_NOT_EQUAL  ? x != y           \
           : op == TL_OP_LESS       ? x < y            \
           : op == TL_OP_LESS_EQUAL ? x <= y           \
           : op == TL_OP_GREATER    ? x > y            \
                                    : x >= y;             \
  }
COMPARE(int64_t)
COMPARE(uint64_t)
COMPARE(float)
COMPARE(double)
#undef COMPARE

// Integers and bools compare by value, whatever their widths; a negative one
// with a uint64 does not do so in 64 bits.
static inline bool compare_integers(tl_op op, const tl_slot *b,
                                    const scalar_info *x, const tl_slot *c,
                                    const scalar_info *y, bool *truth) {
  if (x->dtype != TL_UINT64 && y->dtype != TL_UINT64) {
    *truth = compare_int64_t(op, b->i, c->i);
    return true;
  }
  if ((x->dtype != TL_UINT64 && b->i < 0) ||
      (y->dtype != TL_UINT64 && c->i < 0))
    return false;
  *truth = compare_uint64_t(op, b->u, c->u);
  return true;
}

// Complex numbers have no order: to ask for it is an error, by the general way.
static inline bool compare_complex(tl_op op, tl_c64 x, tl_c64 y, bool *truth) {
  *truth = (x.re == y.re && x.im == y.im) == (op == TL_OP_EQUAL);
  return op == TL_OP_EQUAL || op == TL_OP_NOT_EQUAL;
}

// NaN compares as C does: it is equal to nothing, and != to itself. *truth
// means something only where the answer is true.
bool tl_scalar_compare(tl_op op, const tl_slot *b, const tl_slot *c,
                       bool *truth) {
  const scalar_info *x = info_of(b), *y = info_of(c);
  if (x->kind == 0 || y->kind == 0)
    return false;
  if (x->dtype <= TL_UINT64 && y->dtype <= TL_UINT64)
    return compare_integers(op, b, x, c, y, truth);
  switch (meet(b, x, c, y)->dtype) {
    case TL_FLOAT16:
      *truth = compare_float(op, as_half(b, x), as_half(c, y));
      return true;
    case TL_FLOAT32:
      *truth = compare_float(op, as_float(b, x), as_float(c, y));
      return true;
    case TL_FLOAT64:
      *truth = compare_double(op, as_double(b, x), as_double(c, y));
      return true;
    default:
      return x == y && compare_complex(op, b->c64, c->c64, truth);
  }
}

// --- Reals ------------------------------------------------------------------

#define REALS(T)                                            \
  static inline bool real_##T(tl_op op, T x, T y, T *out) { \
    switch (op) {                                           \
      case TL_OP_ADD:                                       \
        *out = x + y;                                       \
        return true;                                        \
      case TL_OP_SUBTRACT:                                  \
        *out = x - y;                                       \
        return true;                                        \
      case TL_OP_MULTIPLY:                                  \
        *out = x * y;                                       \
        return true;                                        \
      case TL_OP_DIVIDE:                                    \
        *out = x / y;                                       \
        return true;                                        \
      default:                                              \
        return false;                                       \
    }                                                       \
  }
REALS(float)
REALS(double)
#undef REALS

// The powers for which tl_power_form has a cheaper operation. Arrays take these
// ways, too, so that x ** 2 has the same bits with one item as with many.
#define POWERS(T)                                            \
  static inline bool power_##T(tl_op op, T x, T y, T *out) { \
    *out = y == 2 ? x * x : y == -1 ? 1 / x : x;             \
    return op == TL_OP_POW && (y == 2 || y == -1 || y == 1); \
  }
POWERS(float)
POWERS(double)
#undef POWERS

// Whether an operation on two reals has a kernel that cannot fail. The range is
// that of tl_op from maximum to logaddexp, all of which are defined for every
// pair, NaN and infinities among them.
static bool has_real_kernel(tl_op op) {
  return op == TL_OP_FLOOR_DIVIDE || op == TL_OP_REMAINDER || op == TL_OP_POW ||
         (op >= TL_OP_MAXIMUM && op <= TL_OP_LOGADDEXP);
}

// By C's operator, or else the kernel of arrays, which gives the same bits.
// False: *out means nothing then.
static APART bool floats(tl_op op, float x, float y, tl_slot *out) {
  *out = (tl_slot){.tag = infos[TL_FLOAT32].tag, .u = 0};
  if (real_float(op, x, y, &out->f32) || power_float(op, x, y, &out->f32))
    return true;
  if (!has_real_kernel(op))
    return false;
  tl_kernels()->binary[op][TL_FLOAT32](&out->f32, &x, &y, 1);
  return true;
}

// The same of two numbers of float16: in float32, then rounded. Only the
// neighbour of a number is one of float16 itself; as items they fit exactly.
static bool halves(tl_op op, float x, float y, tl_slot *out) {
  float result;
  if (op == TL_OP_NEXTAFTER) {
    uint16_t a = tl_half_round(x), b = tl_half_round(y), item;
    tl_kernels()->binary[op][TL_FLOAT16](&item, &a, &b, 1);
    result = tl_half_widen(item);
  } else if (floats(op, x, y, out)) {
    result = rounded(out->f32);
  } else {
    return false;
  }
  *out = (tl_slot){.tag = infos[TL_FLOAT16].tag, .u = 0};
  out->f32 = result;
  return true;
}

// The same of float64.
static bool doubles(tl_op op, double x, double y, tl_slot *out) {
  *out = (tl_slot){.tag = TL_TAG_F64, .u = 0};
  if (real_double(op, x, y, &out->f) || power_double(op, x, y, &out->f))
    return true;
  if (!has_real_kernel(op))
    return false;
  tl_kernels()->binary[op][TL_FLOAT64](&out->f, &x, &y, 1);
  return true;
}

// --- Integers ---------------------------------------------------------------

// Floor division or remainder of signed integers; [c] is not 0 or -1. C cuts
// towards 0, so where the signs differ and something is left over, the quotient
// is one less and the rest one divisor more: -7 // 2 is -4, -7 % 2 is 1.
static inline int64_t floored(tl_op op, int64_t b, int64_t c) {
  int64_t q = b / c, r = b % c;
  if (r != 0 && (r < 0) != (c < 0)) {
    q--;
    r += c;
  }
  return op == TL_OP_REMAINDER ? r : q;
}

// Sets a bool; true, so that it ends a case.
static inline bool put_bool(tl_slot *a, bool value) {
  a->tag = TL_TAG_BOOL;
  a->i = value;
  return true;
}

// A power of two integers of one dtype, by its kernel; [tag] is the result's.
// False: the exponent is below 0, which may be an error. The kernel wants items
// of the dtype's width, hence the way through bytes and back.
static bool powers(const scalar_info *dtype, uint64_t x, uint64_t y,
                   uint64_t tag, tl_slot *a) {
  const tl_slot b = {.tag = dtype->tag, .u = x},
                c = {.tag = dtype->tag, .u = y};
  uint64_t base = 0, exponent = 0, item = 0;
  if (dtype->kind == 'I' && (int64_t)y < 0)
    return false;
  tl_scalar_store(b, &base);
  tl_scalar_store(c, &exponent);
  tl_kernels()->binary[TL_OP_POW][dtype->dtype](&item, &base, &exponent, 1);
  *a = tl_scalar_load((tl_dtype)dtype->dtype, &item);
  a->tag = tag;
  return true;
}

// Two integers of one dtype, whose result is cut to it; [tag] is the result's.
// False: another operation, or one that may fail or overflow the 64 bits.
static APART bool integers(tl_op op, const scalar_info *dtype, uint64_t x,
                           uint64_t y, uint64_t tag, tl_slot *a) {
  const bool is_signed = dtype->kind == 'I';
  const bool less = is_signed ? (int64_t)x < (int64_t)y : x < y;
  uint64_t out;
  switch (op) {
    case TL_OP_ADD:
      out = x + y;
      break;
    case TL_OP_SUBTRACT:
      out = x - y;
      break;
    case TL_OP_MULTIPLY:
      out = x * y;
      break;
    case TL_OP_FLOOR_DIVIDE:
    case TL_OP_REMAINDER:
      // 0 is an error to be raised, and the least integer by -1 overflows in C.
      if (y == 0 || (is_signed && y == UINT64_MAX))
        return false;
      out = is_signed ? (uint64_t)floored(op, (int64_t)x, (int64_t)y)
            : op == TL_OP_REMAINDER ? x % y
                                    : x / y;
      break;
    case TL_OP_POW:
      return powers(dtype, x, y, tag, a);
    case TL_OP_BITWISE_AND:
      out = x & y;
      break;
    case TL_OP_BITWISE_OR:
      out = x | y;
      break;
    case TL_OP_BITWISE_XOR:
      out = x ^ y;
      break;
    case TL_OP_LEFT_SHIFT:
      // Negative counts too: as unsigned numbers they are large.
      if (y >= 64u - dtype->shift)
        return false;
      out = x << y;
      break;
    case TL_OP_RIGHT_SHIFT:
      if (y >= 64u - dtype->shift)
        return false;
      out = is_signed ? (uint64_t)((int64_t)x >> y) : x >> y;
      break;
    case TL_OP_MAXIMUM:
      out = less ? y : x;
      break;
    case TL_OP_MINIMUM:
      out = less ? x : y;
      break;
    default:
      return op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL &&
             put_bool(a, is_signed ? compare_int64_t(op, (int64_t)x, (int64_t)y)
                                   : compare_uint64_t(op, x, y));
  }
  a->tag = tag;
  a->u = cut(dtype, out);
  return true;
}

// --- Any two ----------------------------------------------------------------

// Two bools or two complex64, by their kernel. Other operations
// on them are left to the general way, which knows their rules and errors.
static bool by_kernel(tl_op op, tl_dtype dtype, tl_slot b, tl_slot c,
                      tl_slot *out) {
  bool is_bits = op >= TL_OP_LOGICAL_AND && op <= TL_OP_BITWISE_XOR;
  bool is_sum = op == TL_OP_ADD || op == TL_OP_SUBTRACT ||
                op == TL_OP_MULTIPLY || op == TL_OP_DIVIDE;
  tl_kernel2 *kernel = tl_kernels()->binary[op][dtype];
  if (kernel == NULL || !(is_bits || is_sum))
    return false;
  uint64_t x, y, item = 0;
  tl_scalar_store(b, &x);
  tl_scalar_store(c, &y);
  kernel(&item, &x, &y, 1);
  *out = tl_scalar_load(dtype, &item);
  return true;
}

// All pairs but two integers that meet in one. Integers divide as float64, so
// it does not matter what they meet in. A result is weak where both operands
// are; comparisons have bools, which never are. [a] is written last, as it may
// be one of the operands.
static APART bool others(tl_op op, const tl_slot *b, const scalar_info *x,
                         const tl_slot *c, const scalar_info *y, tl_slot *a) {
  const uint64_t weak = b->tag & c->tag & TL_WEAK;
  if (x->kind == 0 || y->kind == 0)
    return false;
  if (op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL) {
    bool truth;
    return tl_scalar_compare(op, b, c, &truth) && put_bool(a, truth);
  }
  const scalar_info *dtype = meet(b, x, c, y);
  tl_slot out;
  bool ok = false;
  if (dtype->dtype == TL_FLOAT16)
    ok = halves(op, as_half(b, x), as_half(c, y), &out);
  else if (dtype->dtype == TL_FLOAT32)
    ok = floats(op, as_float(b, x), as_float(c, y), &out);
  else if (dtype->dtype == TL_FLOAT64 ||
           (dtype->is_integer && op == TL_OP_DIVIDE))
    ok = doubles(op, as_double(b, x), as_double(c, y), &out);
  else if (x == y)
    ok = by_kernel(op, dtype->dtype, *b, *c, &out);
  if (!ok)
    return false;
  a->tag = out.tag | weak;
  a->u = out.u;
  return true;
}

// Integers of two dtypes. int64 and uint64 meet in float64, which is no case of
// integers any more; two that meet in an integer are both held by it.
static APART bool mixed(tl_op op, const tl_slot *b, const scalar_info *x,
                        const tl_slot *c, const scalar_info *y, tl_slot *a) {
  const scalar_info *dtype = meet(b, x, c, y);
  if (op == TL_OP_DIVIDE || (op >= TL_OP_EQUAL && op <= TL_OP_GREATER_EQUAL) ||
      !dtype->is_integer)
    return others(op, b, x, c, y, a);
  return holds(dtype, b) && holds(dtype, c) &&
         integers(op, dtype, b->u, c->u, dtype->tag, a);
}

// Two integers of one dtype first, the most frequent case. What has no
// computation here, such as bits of reals, is refused by the general way.
bool tl_scalar_binary(tl_op op, const tl_slot *b, const tl_slot *c,
                      tl_slot *a) {
  const scalar_info *x = info_of(b), *y = info_of(c);
  if (!x->is_integer || !y->is_integer)
    return others(op, b, x, c, y, a);
  if (x != y || op == TL_OP_DIVIDE)
    return mixed(op, b, x, c, y, a);
  return integers(op, x, b->u, c->u, b->tag & c->tag, a);
}

// A real becomes an int64 if it is within 2^62, which both hold exactly: the
// comparison is then one of floats without rounding, and NaN fails it. The
// result is never weak.
bool tl_scalar_cast(const tl_slot *s, tl_dtype dtype, tl_slot *a) {
  const scalar_info *from = info_of(s), *to = &infos[dtype];
  const double bound = (double)(INT64_C(1) << 62);
  tl_slot made = {.tag = to->tag, .u = s->u};
  if (from->kind == 0 || from->kind == KIND_C)
    return false;
  if (dtype == TL_FLOAT64) {
    made.f = as_double(s, from);
  } else if (dtype == TL_FLOAT32 || dtype == TL_FLOAT16) {
    made.u = 0;
    made.f32 = dtype == TL_FLOAT16 ? as_half(s, from) : as_float(s, from);
  } else if (dtype == TL_INT64 && from->dtype == TL_FLOAT64 && s->f > -bound &&
             s->f < bound) {
    made.i = (int64_t)s->f;
  } else if (!to->is_integer || from->kind == KIND_F || cut(to, s->u) != s->u ||
             (from->kind != to->kind && s->i < 0)) {
    return false;
  }
  tl_copy_slot(a, &made);
  return true;
}

// Only items of 8 bytes are ever weak, and bools never. What has no kernel for
// its dtype, such as the root of an int16, is computed of the float64 that it
// is, where the operation says so; all other refusals are the general way's.
bool tl_scalar_unary(tl_op op, const tl_slot *b, tl_slot *a) {
  const scalar_info *dtype = info_of(b);
  const uint64_t weak = b->tag & TL_WEAK;
  if (dtype->kind == 0)
    return false;
  if (op == TL_OP_NEGATIVE && dtype->is_integer) {
    a->u = cut(dtype, 0 - b->u);
    a->tag = dtype->tag | weak;
    return true;
  }
  tl_kernel1 *kernel = tl_kernels()->unary[op][dtype->dtype];
  if (kernel == NULL) {
    // Of integers and bools floats are computed in float64.
    tl_slot wide = {.tag = TL_TAG_F64 | weak, .f = as_double(b, dtype)};
    return dtype->kind != KIND_F && dtype->kind != KIND_C &&
           tl_op_compute_dtype(op, (tl_dtype)dtype->dtype) == TL_FLOAT64 &&
           tl_scalar_unary(op, &wide, a);
  }
  tl_dtype to = tl_op_result(op, (tl_dtype)dtype->dtype);
  if (to >= TL_COMPLEX128)
    return false;
  uint64_t x, result = 0;
  tl_scalar_store(*b, &x);
  kernel(&result, &x, 1);
  *a = tl_scalar_load(to, &result);
  if (to != TL_BOOL && tl_itemsize(to) == 8)
    a->tag |= weak;
  return true;
}
