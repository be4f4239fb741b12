// Typed operations: what bytecode becomes before it is machine code.
//
//     bytecode, tags at an entry ─▶ typing*.c ─▶ operations, labels, exits
//                                                    │
//                           hoist.c gives loops second forms
//                            check.c proves them
//                                                    │
//                                                    ▼
//                                        emit.c ─▶ code memory (code.c)
//
// A *unit* is the code from one entry on: a place in a running frame, or a
// function that other units call. In it each slot that is touched has one type
// at each place. Where paths come together, each combination of types has a
// *version* of the block, up to TL_JIT_VERSIONS; a path that arrives with yet
// another leaves the unit. So nothing is iterated and nothing is merged.
//
// An *exit* leaves before an instruction: it writes payloads and tags of what
// lives on and was touched back to its slots, and the interpreter goes on
// there, error and all. So there are no edges for errors; operations count and
// allocate nothing (what a slot owns may move to another one), drop nothing but
// arrays (END), and no tag in memory is right until the unit leaves. What they
// cannot do C does, one instruction at a time (typing_one.c), with what that
// touches in memory.
//
//     for i in 0..n { s += x[i] }      x, s float64; label 7 is the body
//
//     7  label
//        i = move t4                   t4 is the hidden next value
//        t5 = load x[i]     exit 0     leaves before `getel`: out of range
//        s = fadd s, t5
//        poll               exit 1     leaves before `forr` where it is refused
//        step t4, t5, t6 -> 7
//        exit 2
#pragma once

#include "vm/array/element.h"
#include "vm/bytecode/function.h"

enum {
  // A frame with more slots is not compiled: sets of slots are 64 bits.
  TL_JIT_SLOTS = 64,
  // Nor is a function with more words of code: the tables of operations and
  // exits have some 800 bytes for each word while it is compiled.
  TL_JIT_WORDS = 16384,
  // Versions of a block: weak and not weak, of two types of an item, and some
  // more; a path with a seventh combination leaves.
  TL_JIT_VERSIONS = 6,
  // Arrays whose items a unit reads or writes.
  TL_JIT_ARRAYS = 8,
  // Tags of references that a unit tells apart, known units that it calls, and
  // results that a function of it hands over side by side.
  TL_JIT_TAGS = 32,
  TL_JIT_CALLEES = 8,
  // The functions that one place calls as values: as many as learn.c keeps.
  TL_JIT_CALLED = 3,
  TL_JIT_RESULTS = 4,
  // Steps of a place that is reached without leaving, and the position of a
  // field that is looked for.
  TL_JIT_STEPS = 3,
  TL_JIT_FIELDS = 1024,

  // Registers, of which there are as many as anybody wants. Slot s is register
  // s for all that is no float, and TL_JIT_FLOAT + s as a float of either
  // width: both are at home in the slot's payload. Behind them, for each array,
  // the address of its items and the lengths of three axes.
  TL_JIT_FLOAT = TL_JIT_SLOTS,
  TL_JIT_FACTS = 2 * TL_JIT_SLOTS,
  TL_JIT_FACTS_EACH = 4,
  // Behind the facts of the unit's arrays the addresses of rows that a loop
  // reads from or writes to: tl_jit_first_row and so on.
  TL_JIT_ROWS = 8,
  TL_JIT_REGISTERS =
      TL_JIT_FACTS + TL_JIT_FACTS_EACH * TL_JIT_ARRAYS + TL_JIT_ROWS,
  // What a constant may add to an index that a loop's guards have tested.
  TL_JIT_OFFSET = 1 << 20,
  TL_JIT_NONE = -1,

  // A function's one result varies, so that it goes to its slot with its tag.
  TL_JIT_SINGLE = 0x80,

  // No tag: a result has had more than are told apart.
  TL_JIT_MANY = 1,
};

// The type of a slot at a place: how its tag is known.
//
//   TL_TYPE_UNKNOWN        nobody reads it, or it holds what was there before
//   TL_TYPE_ENTRY          as at the entry of the unit: not touched, and no
//                          scalar that units compute with; its tag is the
//                          unit's
//   TL_TYPE_MEMORY         the slot's memory is right, tag and all, and the tag
//                          is not known
//   TL_TYPE_SCALAR + d     a scalar of dtype d, with TL_TYPE_WEAK if it is weak
//   TL_TYPE_REFERENCE + k  anything else, whose tag is the unit's
//   references[k];
//                          whether the slot owns it is part of that
//   TL_TYPE_ROW            as a function's result alone: several side by side
typedef uint8_t tl_jit_type;
enum {
  TL_TYPE_UNKNOWN = 0,
  TL_TYPE_ENTRY = 1,
  TL_TYPE_MEMORY = 2,
  TL_TYPE_SCALAR = 0x20,
  TL_TYPE_REFERENCE = 0x40,
  TL_TYPE_ROW = 0x60,
  TL_TYPE_WEAK = 0x80,

  TL_TYPE_INT = TL_TYPE_SCALAR + TL_INT64,
  TL_TYPE_FLOAT = TL_TYPE_SCALAR + TL_FLOAT64,
  TL_TYPE_BOOL = TL_TYPE_SCALAR + TL_BOOL,
};

// A set of slots with one of them, as all sets of slots here are 64 bits.
static inline uint64_t tl_jit_bit(uint32_t slot) {
  return UINT64_C(1) << slot;
}

// Whether units compute with items and scalars of the dtype: float16 is left to
// the interpreter, as are complex128 and texts, which have no slot of their
// own.
static inline bool tl_jit_has_dtype(int dtype) {
  return dtype >= 0 && dtype < TL_COMPLEX128 && dtype != TL_FLOAT16;
}

// What a type is, weak or not. A scalar is what lies in its slot: all numbers
// but complex128 and float16, and bools. Only items of 8 bytes are ever weak.
bool tl_jit_is_scalar(tl_jit_type t);
// The dtype of a scalar's type.
static inline tl_dtype tl_jit_dtype(tl_jit_type t) {
  return (tl_dtype)((t & ~TL_TYPE_WEAK) - TL_TYPE_SCALAR);
}
// The type of a scalar of the dtype, which is not weak.
static inline tl_jit_type tl_jit_of_dtype(tl_dtype dtype) {
  return (tl_jit_type)(TL_TYPE_SCALAR + dtype);
}
// A float of either width, which registers for floats hold; all other scalars
// are in those for integers, of any width extended to 64 bits as slots have
// them.
bool tl_jit_is_float(tl_jit_type t);
// An integer of any width, signed or not; a bool is none.
bool tl_jit_is_integer(tl_jit_type t);
// An int64, as ranges have them.
static inline bool tl_jit_is_int(tl_jit_type t) {
  return (t & ~TL_TYPE_WEAK) == TL_TYPE_INT;
}
// The type of a tag; of what is no scalar that units compute with, ENTRY.
tl_jit_type tl_jit_type_of(uint64_t tag);
// Whether the slot has an object that the unit knows by its tag.
static inline bool tl_jit_is_reference(tl_jit_type t) {
  return t >= TL_TYPE_REFERENCE && t < TL_TYPE_REFERENCE + TL_JIT_TAGS;
}
// The tag of a scalar's type.
static inline uint64_t tl_jit_tag(tl_jit_type t) {
  tl_dtype dtype = tl_jit_dtype(t);
  return TL_TAG(tl_scalar_class(dtype), dtype) |
         ((t & TL_TYPE_WEAK) != 0 ? TL_WEAK : 0);
}
// What a tag says; one of 0 is not known, and neither owns nor is of any kind.
// A list has a class of its own; whether the slot owns makes no difference to
// the kind.
static inline bool tl_tag_owns(uint64_t tag) {
  return (tag & TL_OWNED) != 0;
}
static inline bool tl_tag_is_kind(uint64_t tag, int kind) {
  return (tag & ~TL_OWNED) ==
         (kind == TL_KIND_LIST ? TL_TAG_LIST : TL_TAG(TL_CLASS_OBJ, kind));
}
// A function of a script, the first of its group.
static inline bool tl_tag_is_function(uint64_t tag) {
  return (tag & ~TL_OWNED) == TL_TAG_FUNCTION ||
         (tag & ~TL_OWNED) == TL_TAG_CLOSURE;
}
// Whether an owned value may give its count to a container, as it is: of a view
// the block would have to be counted. That it borrows nothing itself is tested
// each time.
static inline bool tl_tag_moves_in(uint64_t tag) {
  return tl_tag_owns(tag) && (tl_tag_is_kind(tag, TL_KIND_LIST) ||
                              tl_tag_is_kind(tag, TL_KIND_RECORD) ||
                              tl_tag_is_kind(tag, TL_KIND_STRING));
}
// Whether a result with that tag is owned as a caller wants it that knows
// nothing of the function. What a container borrows, and the block of a view,
// C has to count; and of what has the tag 0 nothing is known.
static inline bool tl_tag_owns_all(uint64_t tag) {
  bool direct = (tag & TL_CLASS_ARRAY) != 0 && (tag & TL_DIRECT) != 0;
  return tag != 0 && ((tag & TL_CLASS_HEAP) == 0 ||
                      (tl_tag_owns(tag) &&
                       (direct || tl_tag_is_kind(tag, TL_KIND_STRING))));
}
// An array of so many axes, from 1 to 3, whose items are scalars that units
// compute with, wherever they lie; and one of one axis, without gaps.
static inline bool tl_tag_is_grid(uint64_t tag, uint32_t rank) {
  return tl_is_of_rank(tag, rank) && tl_jit_has_dtype((int)(tag >> 8 & 0xff));
}
static inline bool tl_tag_is_row(uint64_t tag) {
  return tl_tag_is_grid(tag, 1) && (tag & TL_DENSE) != 0;
}
// Whether a value of the type may be stored in items of the dtype, where the
// interpreter has no error for it: numbers in floats, integers in integers that
// have them, which the code tests, and what has the dtype itself.
static inline bool tl_jit_may_store(tl_jit_type t, int dtype) {
  if (!tl_jit_is_scalar(t))
    return false;
  if (tl_dtype_is_real((tl_dtype)dtype))
    return tl_jit_is_float(t) || tl_jit_is_integer(t);
  return (int)tl_jit_dtype(t) == dtype ||
         (tl_dtype_is_integer((tl_dtype)dtype) && tl_jit_is_integer(t));
}
// An array whose items SHORT reads and writes: floats of one axis in a block of
// their own, which no other array shows a part of.
static inline bool tl_tag_is_short(uint64_t tag) {
  uint8_t dtype = (uint8_t)(tag >> 8);
  return tl_is_of_rank(tag, 1) &&
         (tag & (TL_DENSE | TL_DIRECT | TL_WEAK)) == (TL_DENSE | TL_DIRECT) &&
         (dtype == TL_FLOAT64 || dtype == TL_FLOAT32);
}
// What has a length, by the kind that operations have of it: of all arrays
// ARRAY; -1: it has none.
int tl_tag_length_kind(uint64_t tag);
// The register of a slot that has a scalar of the type.
static inline int tl_jit_register(uint32_t slot, tl_jit_type t) {
  return (int)slot + (tl_jit_is_float(t) ? TL_JIT_FLOAT : 0);
}

// The operations, written once:
//
//     OP(NAME, a, b, c, goes, gen)   what the operands are, where it goes, and
//                                    tl_gen_, the function that emits it
//
//   I  a register for integers               ID  the same, written
//   F  a float's                             FD  the same, written
//   R  the register of a reference           RD  the same, written
//   V  that of a value, by its type          VD  the same, written
//   N  a number's, which is converted to a float of [dtype] where it is none,
//      or TL_JIT_NONE: imm is it
//   K  an integer's, or TL_JIT_NONE: imm is it
//   S  any scalar's, or TL_JIT_NONE: imm is it
//   W  a value's by its type, or TL_JIT_NONE: imm is it, a float
//   A  the number of an array                _   nothing
//   T  a text's register, or TL_JIT_NONE: imm is its address
//   C  a function's register, or TL_JIT_NONE: it is known
//
//   E  it may leave by [exit], which is before the instruction under way
//   C  the same, unless c is a constant      J   it may jump to [to]
//   X  it may leave by another exit          Z   nothing comes behind it
//
// Further field: [imm]. Integers are computed in 64 bits and cut to the width
// of the result's type, as the interpreter does; quotients, shifts to the right
// and comparisons of uint64 are those of unsigned numbers.

// Those on references, emitted by emit_places.c. [dtype] is that of an array's
// items, or the kind of what is no array. Where an item has the type [other],
// control goes on at [to] instead; UNKNOWN: it leaves.
#define TL_TYPED_PLACE_OPS(OP)                                             \
  /* a = b, moved where its type owns */                                   \
  OP(LEND, RD, R, _, _, lend)                                              \
  /* imm: the address */                                                   \
  OP(RCONST, RD, _, _, _, constant)                                        \
  /* a = the running closure */                                            \
  OP(SELF, RD, _, _, _, self)                                              \
  /* a = field imm of record b, which was found at d */                    \
  OP(FIELD, VD, R, _, E, field)                                            \
  /* a = b[c]; of an array of more axes b[c, d] and b[c, d, e]; imm 1: */  \
  /* c goes up by 1 on the way to the version of the other type */         \
  OP(ITEM, VD, R, I, E, item)                                              \
  /* b[c] = a, and so on; exit: b is shared, its item counted, or the */   \
  /* dtype has no such integer */                                          \
  OP(SETITEM, V, R, I, E, setitem)                                         \
  /* list b gets a at its end; exit: b is shared or full, or a has a */    \
  /* count */                                                              \
  OP(APPEND, V, R, _, E, append)                                           \
  /* a = the last item of list b, which loses it; exit: b is shared or */  \
  /* empty, or a has another type */                                       \
  OP(POP, VD, R, _, E, pop)                                                \
  OP(LENGTH, ID, R, _, E, length)                                          \
  /* to: where b is below the length of c */                               \
  OP(MORE, _, I, R, J, more)                                               \
  /* cond: to; of two texts */                                             \
  OP(RIF, _, R, T, J, on_texts)                                            \
  /* a = b cond c */                                                       \
  OP(RSET, ID, R, T, _, on_texts)                                          \
  /* a = the place imm below b; d: its first index */                      \
  OP(PEEK, VD, R, _, E, place)                                             \
  /* the place imm below b = a, which has no count */                      \
  OP(POKE, V, R, _, E, place)                                              \
  /* a = b op c of short arrays and a number, in the memory of array e; */ \
  /* where d is there, that and array d: typing_short.c */                 \
  OP(SHORT, RD, V, W, E, short)                                            \
  /* array b ends, which its slot owns; exit: what lives behind it */      \
  OP(END, _, R, _, X, end)                                                 \
  /* the exit's instruction, by vm->one; imm: the pc behind */             \
  OP(DO, _, _, _, E, do)                                                   \
  /* the same of a jump; cond NE: to where it is taken, EQ: where it is */ \
  /* not */                                                                \
  OP(DOIF, _, _, _, EJ, do)                                                \
  /* a = what its slot has in memory */                                    \
  OP(FETCH, VD, _, _, X, fetch)                                            \
  /* slots from d's first argument on = results */                         \
  OP(ROWCALL, _, C, _, X, call)                                            \
  /* imm results, from slot d on */                                        \
  OP(ROWRETURN, _, _, _, Z, result)

#define TL_TYPED_OPS(OP)                                                   \
  /* to: its number */                                                     \
  OP(LABEL, _, _, _, _, label)                                             \
  /* to */                                                                 \
  OP(JUMP, _, _, _, JZ, jump)                                              \
  /* exit: where the VM is to stop */                                      \
  OP(POLL, _, _, _, E, poll)                                               \
  /* exit */                                                               \
  OP(EXIT, _, _, _, EZ, exit)                                              \
  /* cond: to */                                                           \
  OP(IF, _, I, K, J, compare)                                              \
  /* cond: to */                                                           \
  OP(FIF, _, N, N, J, fcompare)                                            \
  /* a = b cond c */                                                       \
  OP(SET, ID, I, K, _, compare)                                            \
  OP(FSET, ID, N, N, _, fcompare)                                          \
  /* imm */                                                                \
  OP(CONST, ID, _, _, _, constant)                                         \
  OP(MOVE, ID, I, _, _, one_int)                                           \
  OP(AND, ID, I, K, _, arithmetic)                                         \
  OP(OR, ID, I, K, _, arithmetic)                                          \
  OP(XOR, ID, I, K, _, arithmetic)                                         \
  OP(ADD, ID, I, K, _, arithmetic)                                         \
  OP(SUB, ID, I, K, _, arithmetic)                                         \
  OP(MUL, ID, I, K, _, arithmetic)                                         \
  /* exit: c is not 0 to 63 */                                             \
  OP(SHL, ID, I, K, C, shift)                                              \
  OP(SAR, ID, I, K, C, shift)                                              \
  /* exit: c is 0 or -1 */                                                 \
  OP(FLOORDIV, ID, I, K, C, divide)                                        \
  OP(MOD, ID, I, K, C, divide)                                             \
  OP(MIN, ID, I, K, _, extreme)                                            \
  OP(MAX, ID, I, K, _, extreme)                                            \
  OP(NEG, ID, I, _, _, one_int)                                            \
  /* exit: the type has no such integer */                                 \
  OP(FIT, ID, I, _, E, fit)                                                \
  /* of a float64; exit: 2^62 and above */                                 \
  OP(TRUNC, ID, F, _, E, truncate)                                         \
  /* of a bool */                                                          \
  OP(NOT, ID, I, _, _, one_int)                                            \
  /* a = iterations from b to a by c; exit: they do not fit, or a */       \
  /* register c is below 1 */                                              \
  OP(COUNT, ID, I, K, E, count)                                            \
  /* --b; if b != 0 a += c and jump to */                                  \
  OP(STEP, ID, ID, K, J, step)                                             \
  /* imm: its bits */                                                      \
  OP(FCONST, FD, _, _, _, fconst)                                          \
  OP(FMOVE, FD, N, _, _, one_float)                                        \
  OP(FADD, FD, N, N, _, two_floats)                                        \
  OP(FSUB, FD, N, N, _, two_floats)                                        \
  OP(FMUL, FD, N, N, _, two_floats)                                        \
  OP(FDIV, FD, N, N, _, two_floats)                                        \
  OP(FNEG, FD, F, _, _, one_float)                                         \
  OP(FSQRT, FD, N, _, _, one_float)                                        \
  OP(FABS, FD, F, _, _, one_float)                                         \
  OP(FMIN, FD, N, N, _, fextreme)                                          \
  OP(FMAX, FD, N, N, _, fextreme)                                          \
  /* a = elementwise of b and c, by the interpreter's function; exit: */   \
  /* it declines */                                                        \
  OP(COMPUTE, VD, S, S, E, compute)                                        \
  /* a = array c [b], [b, d]; exit: out of range */                        \
  OP(LOAD, VD, I, A, E, load)                                              \
  /* array c [b] = a; exit: out of range, or the dtype has no such */      \
  /* integer */                                                            \
  OP(STORE, V, I, A, E, store)                                             \
  /* to, unless b + low to b + high are below c; where d is 0 in all */    \
  /* iterations of b's loop, whose step is 1 where e is */                 \
  OP(GUARD, _, K, I, J, guard)                                             \
  /* takes all polls, imm each, of the next iterations at once, at most */ \
  /* b; d = b - those, b = those; to: no fuel */                           \
  OP(CHUNK, _, I, _, J, chunk)                                             \
  /* a = d, what CHUNK has put aside */                                    \
  OP(REST, ID, _, _, _, rest)                                              \
  /* d = the address of row b + imm of array c */                          \
  OP(ROW, _, K, A, _, row)                                                 \
  /* a = item b + imm of array c, or of its row e */                       \
  OP(READ, VD, K, A, _, read)                                              \
  /* the same item = a; exit as of STORE, or none where all fit */         \
  OP(WRITE, V, K, A, _, write)                                             \
  /* a = variable imm of the module, borrowed; exit: it has another */     \
  /* type */                                                               \
  OP(GET, VD, _, _, E, variable)                                           \
  /* a = captured value imm, borrowed; exit: neither type */               \
  OP(CAPTURED, VD, _, _, E, variable)                                      \
  /* module variable imm = a, a scalar; exit: it owns what it has */       \
  OP(PUT, V, _, _, E, put)                                                 \
  /* a = callee(d slots behind a's); of a value that is one in b, or */    \
  /* NONE; exit: before the call, imm: the callee has left */              \
  OP(CALL, VD, C, _, X, call)                                              \
  OP(RETURN, V, _, _, Z, result)                                           \
  TL_TYPED_PLACE_OPS(OP)

// A step's [d] is the loop's variable, which is written where it jumps alone,
// or TL_JIT_NONE. Loads and stores have the second index in [d] and the third
// in [e], or TL_JIT_NONE for arrays of fewer axes. What stands behind a loop's
// guards (hoist.c) is not tested again: a READ's and a WRITE's [e] is the
// register of the row's address, or of the items' where the array has one axis.
typedef enum tl_typed_op {
#define OP(NAME, a, b, c, goes, gen) TL_TYPED_##NAME,
  TL_TYPED_OPS(OP)
#undef OP
      TL_TYPED_COUNT_OF_OPS
} tl_typed_op;

// What an operand of an operation is: the letters above.
typedef enum tl_typed_kind {
  TL_OPERAND__,
  TL_OPERAND_I,
  TL_OPERAND_F,
  TL_OPERAND_N,
  TL_OPERAND_K,
  TL_OPERAND_S,
  TL_OPERAND_W,
  TL_OPERAND_V,
  TL_OPERAND_A,
  TL_OPERAND_R,
  TL_OPERAND_T,
  TL_OPERAND_C,
  TL_OPERAND_ID,
  TL_OPERAND_FD,
  TL_OPERAND_RD,
  TL_OPERAND_VD,
} tl_typed_kind;

// Where control may go from an operation, but to the next one: the last letter.
enum {
  TL_GOES__ = 0,
  TL_GOES_E = 1,
  TL_GOES_C = 2,
  TL_GOES_J = 4,
  TL_GOES_Z = 8,
  TL_GOES_X = 16,
  TL_GOES_EJ = TL_GOES_E | TL_GOES_J,
  TL_GOES_EZ = TL_GOES_E | TL_GOES_Z,
  TL_GOES_JZ = TL_GOES_J | TL_GOES_Z,
};

// What the table says of an operation: it is listed by that, check.c proves its
// operands and its exit by it, and hoist.c weighs its registers.
typedef struct tl_typed_info {
  const char *name;
  uint8_t kinds[3];
  uint8_t goes;
} tl_typed_info;
extern const tl_typed_info tl_typed_ops[TL_TYPED_COUNT_OF_OPS];

// Conditions. The second four are "not a < b" and so on, which for NaN is not
// the opposite comparison; integers never have them.
typedef enum tl_typed_condition {
  TL_IF_LT,
  TL_IF_LE,
  TL_IF_GT,
  TL_IF_GE,
  TL_IF_EQ,
  TL_IF_NE,
  TL_IF_NLT,
  TL_IF_NLE,
  TL_IF_NGT,
  TL_IF_NGE,
} tl_typed_condition;

struct tl_jit_unit;

// One operation. An exit of -2 - n is label n, where C does the instruction.
// Jumps go to the label of that number, or, where [to] is below
// 0, to exit number -1 - to. [imm] is the constant where an operand is
// TL_JIT_NONE, the bits of a float where it is a float's.
typedef struct tl_typed {
  uint8_t op;
  // The condition of IF, FIF, SET, FSET, RIF and RSET; what COMPUTE and SHORT
  // do, a tl_op.
  uint8_t condition;
  tl_jit_type type;   // of what a gets, where that is a slot's register; of a
                      // place, what is stored
  tl_jit_type other;  // of an item that is not of the type
  uint8_t dtype;      // of an array's items; the width that floats have
  int16_t a, b, c, d, e;
  // The types of a, b and c where they are read, and of a constant; UNKNOWN:
  // there is no operand. Of ROWRETURN those of the results.
  tl_jit_type from[4];
  int32_t to, exit;
  int64_t imm;
  // Of calls; of a value the units of all functions that it may be, which give
  // the same. NULL: no further one.
  struct tl_jit_unit *callees[TL_JIT_CALLED];
} tl_typed;

// Leaving at [pc]: the slots in the set are written back with these types.
// Slots that are not in the set are dead at [pc], or have not been touched
// since the entry. Types outside the set mean nothing.
typedef struct tl_jit_exit {
  uint32_t pc;
  // The instruction whose result has another tag, for learn.c; -1: none.
  int32_t did;
  uint64_t slots;
  tl_jit_type types[TL_JIT_SLOTS];
} tl_jit_exit;

// What is known where control comes together; not of slots that are dead. Each
// label is one LABEL among the operations, and all jumps to it come with its
// types; UNKNOWN says that any type may come.
typedef struct tl_jit_label {
  uint32_t pc;
  uint8_t version;   // of the block there, from 0 on
  int32_t next;      // the label of the version before; -1: it is the first
  bool is_pending;   // its block is to be typed,
  bool is_deferred;  // but begins with a call whose result is not known
  bool is_placed;    // its operation was seen by the check
  bool is_detour;    // C does its first instruction; no jump in the bytecode
  // The label of the head of the loop whose guards hold here; -1: there is
  // none.
  int32_t loop;
  // While loops are read: the operation, the loop whose block it begins, or -1,
  // and its other label in the slow form of that, or -1; whether the head of
  // the one under way leads to it, and it to that.
  uint32_t at;
  int32_t member, slow;
  bool is_ahead, leads_back;
  tl_jit_type types[TL_JIT_SLOTS];
} tl_jit_label;

// An array whose items are used: in this slot at the entry, with this tag. The
// tag says its rank and dtype, and that its items lie in rows; an entry with
// another tag needs another unit. Its facts are the registers from TL_JIT_FACTS
// + TL_JIT_FACTS_EACH * its number on.
typedef struct tl_jit_array {
  uint8_t slot;
  bool is_written;
  uint64_t tag;
} tl_jit_array;

// What is known of leaving at an instruction. Where paths leave in front of it,
// as there are too many versions, nothing is gained by a way around.
typedef enum tl_jit_detour {
  TL_DETOUR_NONE,
  TL_DETOUR_MADE,   // a unit has left there, at an operation of its own
  TL_DETOUR_NEVER,  // paths leave there
} tl_jit_detour;

// What a function's bytecode says without types; made once for each. All parts
// are in one block behind this, with an element more than there are words, so
// that "behind the last instruction" has one.
//
//     pc        0  1  2  3  4          rounds[1] = 3: the loop's body begins
//     code      …  ┌▶ …  …  forr ─┐    at 1, and nothing else jumps there
//     depth     0  1  1  1  0     │
//                  └──────────────┘
typedef struct tl_jit_flow {
  uint32_t count;   // words of code
  size_t nbytes;    // of this block
  uint64_t *live;   // slots that live before each instruction, as bits
  uint64_t *asked;  // those of which more counts than how they compare
  // Those whose weak float would make a version of a block of its own, beside
  // the one with a float that is not weak.
  uint64_t *strong;
  uint8_t *depth;    // loops around each instruction
  uint8_t *jumps;    // how many jumps lead there, at most 3
  bool *leads;       // a block begins there
  uint8_t *detours;  // whether C does it once an operation has left there
  uint8_t *spans;    // the words of the region that began there; 0: none did
  // Of each instruction that reads an item two tags that it has had, without
  // the owned bit (learn.c); 0: none. Of one that stores into a place, the tag
  // of the container.
  uint64_t *seen;
  // Of each instruction that vm->one did the tags of what it has made, as many
  // as tl_jit_kept and tl_jit_kept_each say; 0: none, TL_JIT_MANY: too many.
  uint64_t *made;
  // Of results of the function those that vary by their tags, as bits, and
  // TL_JIT_SINGLE; and those that were found to since.
  uint8_t *varies;
  int32_t *rounds;  // the FORR whose loop begins there, or below 0
  bool *by_one;     // the step of the loop whose body begins there is 1
  uint32_t *runs;   // entries there by units that are out of date
} tl_jit_flow;

// One unit. The IR is there while it is compiled or listed; what runs needs the
// first part alone.
typedef struct tl_jit_unit {
  struct tl_jit_unit *next;  // of the same function
  tl_prototype *function;
  uint32_t pc;
  // Called by other units, at pc 0; else entered by frames at pc.
  bool is_function;
  // Called as a value: what it gives is owned, its record has the closure, and
  // units that call it may outlive its function.
  bool owns;
  bool is_open;   // being compiled
  bool is_empty;  // nothing is gained: never entered
  tl_jit_type result;
  uint64_t live;  // slots that live at the entry
  // Tags of the live slots at the entry, and for functions those of the types
  // of the parameters; others are 0.
  uint64_t tags[TL_JIT_SLOTS];
  uint32_t array_count;
  tl_jit_array arrays[TL_JIT_ARRAYS];
  // Slots whose whole tag at the entry counts, as they are read as references;
  // and the tags of TL_TYPE_REFERENCE.
  uint64_t pinned;
  uint32_t reference_count;
  uint64_t references[TL_JIT_TAGS];
  // Of results that are references their tags; 0: it varies, and its slot gets
  // the tag, too. A single one that does is a row that begins at the result's
  // slot.
  bool is_single;
  uint32_t result_count;
  uint64_t result_tags[TL_JIT_RESULTS];
  // Two tags that a result which varies has had at some call of the function;
  // part of its flow, where learn.c keeps them.
  const uint64_t *results;
  // The units that it calls: what they were made for, it was, too.
  struct tl_jit_unit *callees[TL_JIT_CALLEES];
  uint32_t callee_count;
  bool is_curious;  // it leaves where no tag was seen yet
  bool is_stale;    // a tag was seen since
  bool does;        // it has an operation DO
  // It does, or a unit that it calls: call records are then whole.
  bool has_record;
  // Callers of the unit read this field when they call, so that it may be set
  // after they were compiled.
  void *code;     // to be called; NULL: none
  uint32_t size;  // bytes of it
  // Another unit refers to its code, though it is not finished.
  bool is_called;
  // How it went: entries, those that ended soon, and where the last of them
  // left.
  uint64_t runs, short_runs;
  // Entries at the same place by units that are gone, and how often it was
  // asked for since it was given up.
  uint64_t runs_before, doors;
  const tl_prototype *left_in;
  uint32_t left_at;
} tl_jit_unit;

// The typed operations of a unit.
typedef struct tl_jit_code {
  tl_vm *vm;
  tl_jit_unit *unit;
  const tl_jit_flow *flow;
  tl_typed *ops;
  uint32_t op_count, op_capacity;
  tl_jit_exit *exits;
  uint32_t exit_count, exit_capacity;
  tl_jit_label *labels;
  uint32_t label_count, label_capacity;
  int32_t *label_at;  // of each pc its newest label, or -1
  float weights[TL_JIT_REGISTERS];
  int row_count;  // registers of rows that are used
  void *block;    // all of the above is in it
  size_t nbytes;
} tl_jit_code;

// The tag of a slot that has the type; 0: it is not known.
uint64_t tl_jit_tag_of(const tl_jit_unit *unit, uint32_t slot, tl_jit_type t);

// Whether two units give results of the same types, in the same way.
static inline bool tl_jit_gives_same(const tl_jit_unit *u,
                                     const tl_jit_unit *v) {
  return u->result == v->result && u->is_single == v->is_single &&
         u->result_count == v->result_count &&
         memcmp(u->result_tags, v->result_tags,
                u->result_count * sizeof *u->result_tags) == 0;
}

// Whether the operations before number [at] have had C make an owner of what is
// in the slot, with OWN or the first half of RET.
bool tl_jit_is_made_own(const tl_jit_code *code, uint32_t at, uint32_t slot);

// The slots that an instruction reads and those that it writes.
void tl_jit_read_slots(const tl_decoded *d, uint64_t *reads, uint64_t *writes);

// Reads the function's flow; NULL where it is too large, or without memory. The
// caller frees it with tl_spare_free. Borrows the function, which has to
// outlive it. Nothing fails: no error is set.
tl_jit_flow *tl_jit_read_flow(tl_vm *vm, const tl_prototype *p);
// The value that the slot has before the instruction at [pc], not weak if it is
// a float of which nobody asks more there than how it compares, and floats of
// 32 bits have it, so that nobody sees the difference; and one that is not weak
// comes to the same place. So this loop has one version, not two:
//
//     best = 1e9
//     for x in xs { if x < best { best = x } }
tl_slot tl_jit_settle(const tl_jit_flow *flow, uint32_t pc, uint32_t slot,
                      tl_slot value);

// The slots of an instruction that a unit has done by vm->one: those that it
// reads or writes, those of them that it changes and that live behind it, and
// the pc behind it. False: it has to be done by the interpreter.
typedef struct tl_jit_one_slots {
  uint64_t touched, changed;
  uint64_t live;  // slots that live behind it, wherever it goes
  uint32_t then;
  bool spans;  // a region, which is more than it
} tl_jit_one_slots;
// How many tags of its results an instruction keeps: two for each of the words
// from [pc] to [then] that are its own, which a call has two of.
static inline int tl_jit_kept(uint32_t pc, uint32_t then) {
  return then - pc >= 2 ? 4 : 2;
}
// How many of the [kept] tags are of each of the slots that change, side by
// side in the order of the slots: two where there is room.
static inline int tl_jit_kept_each(int kept, uint64_t changed) {
  return 2 * __builtin_popcountll(changed) <= kept ? 2 : 1;
}

bool tl_jit_read_one(const tl_jit_flow *flow, const tl_prototype *function,
                     uint32_t pc, bool is_function, tl_jit_one_slots *out);
// What it makes of the types, where [kept] are the slots that were written to
// their memory before it.
void tl_jit_types_behind(const tl_jit_one_slots *one, uint64_t kept,
                         tl_jit_type *types);

// The unit of a function that is called with arguments of those tags, [owns] as
// a value, made if need be; NULL: there is none. Its result is UNKNOWN while it
// is not found.
// Returns borrowed: it goes with its function. Where [make] is false only units
// that are there are found, and nothing is compiled.
typedef tl_jit_unit *tl_jit_find_callee(tl_vm *vm, tl_prototype *function,
                                        const uint64_t *tags, bool owns,
                                        bool make);
// The function of that number, which flow->seen has of a value that was called;
// NULL: it is gone. Borrowed.
tl_prototype *tl_jit_find_function(const tl_vm *vm, uint64_t number);

// The register of the unit's first row. It is behind the facts of its arrays.
static inline int tl_jit_first_row(const tl_jit_unit *unit) {
  return TL_JIT_FACTS + TL_JIT_FACTS_EACH * (int)unit->array_count;
}
// What a guard tests is added to its index: the least and the most.
static inline int32_t tl_jit_low(const tl_typed *guard) {
  return (int32_t)(guard->imm >> 32);
}
static inline int32_t tl_jit_high(const tl_typed *guard) {
  return (int32_t)(uint32_t)guard->imm;
}
// An operation of these registers, or TL_JIT_NONE, with nothing else set:
// floats are float64, and it has neither target nor exit.
static inline tl_typed tl_typed_of(int op, int a, int b, int c) {
  return (tl_typed){.op = (uint8_t)op,
                    .dtype = TL_FLOAT64,
                    .a = (int16_t)a,
                    .b = (int16_t)b,
                    .c = (int16_t)c,
                    .d = TL_JIT_NONE,
                    .e = TL_JIT_NONE,
                    .to = -1,
                    .exit = -1};
}
// Whether control may go on at [to]: all operations that have a target, but
// those on items, which go there where an item has another type.
static inline bool tl_jit_jumps(int op) {
  return (tl_typed_ops[op].goes & TL_GOES_J) != 0;
}
// Whether the operation has an exit before the instruction that it is of.
static inline bool tl_typed_leaves(int op, int c) {
  int goes = tl_typed_ops[op].goes;
  return (goes & TL_GOES_E) != 0 || ((goes & TL_GOES_C) != 0 && c >= 0);
}
// The second operation of a SHORT, which has an array d. It is in imm, with no
// constant beside.
static inline int tl_short_then(const tl_typed *t) {
  return (int)(t->imm & 0xff);
}
// Whether the first one's result stands on its right, which is in imm, too.
static inline bool tl_short_is_right(const tl_typed *t) {
  return t->op == TL_TYPED_SHORT && t->d >= 0 && t->imm >> 8 != 0;
}
// Whether the operation's first operand is its result.
static inline bool tl_typed_has_result(const tl_typed *t) {
  return tl_typed_ops[t->op].kinds[0] >= TL_OPERAND_ID;
}
// Whether it calls, or may go to where C does the instruction, so that
// registers of rows are lost.
static inline bool tl_typed_is_by_c(const tl_typed *t) {
  return t->op == TL_TYPED_CALL || t->op == TL_TYPED_ROWCALL ||
         t->op == TL_TYPED_COMPUTE || t->op == TL_TYPED_END ||
         t->op == TL_TYPED_DO || t->op == TL_TYPED_DOIF ||
         t->exit < TL_JIT_NONE;
}

// Whether it computes with floats: its result is one, or what it stores is, as
// items of an array are all of its dtype.
static inline bool tl_typed_is_of_float(const tl_typed *t) {
  bool items = (t->op >= TL_TYPED_LOAD && t->op <= TL_TYPED_WRITE) ||
               ((t->op == TL_TYPED_SETITEM || t->op == TL_TYPED_POKE) &&
                t->dtype < TL_DTYPE_COUNT);
  return items ? tl_dtype_is_real((tl_dtype)t->dtype)
               : t->a >= TL_JIT_FLOAT && t->a < TL_JIT_FACTS;
}

// Room for the operations of a unit; false: no memory. Borrows unit and flow.
// tl_jit_code_close may be called in either case, and frees the operations, not
// the unit.
bool tl_jit_code_open(tl_jit_code *code, tl_vm *vm, tl_jit_unit *unit,
                      const tl_jit_flow *flow);
void tl_jit_code_close(tl_jit_code *code);

// Types the unit from its entry on: fills code, and the unit's arrays and
// result. False: there is more of it than there is room for. [code] comes from
// tl_jit_code_open. The same entry types give the same operations, as long as
// the types of the module's variables are the same, too.
bool tl_jit_type_unit(tl_jit_code *code, tl_jit_find_callee *find);

// So many items or more, and another way is taken for the instruction at [pc],
// as the interpreter does: a region, or blocks.
int32_t tl_jit_short_limit(const tl_prototype *function, uint32_t pc,
                           bool joined);

// Gives loops over ranges a second form, in which nothing tests the indices
// that guards before the loop have tested, and weighs all registers. Called
// once, for operations that are complete. Where there is no room they stay as
// they are.
void tl_jit_hoist(tl_jit_code *code);

// Adds [weight] to those of all registers that the operation reads or writes,
// an array's address and lengths among them.
void tl_jit_weigh(const tl_typed *t, float weight, float *weights);

// Whether the operations keep to the rules: registers of the right kind, each
// read after it was written with that type, at each label what the label says,
// and at each exit all that lives in its slot or written there. NULL, or what
// is wrong; *at is the operation. It writes nothing but the labels' is_placed,
// so it is run once for each code.
const char *tl_jit_check(tl_jit_code *code, uint32_t *at);

// Makes machine code of the operations and puts it where it can run. False: no
// memory for it. The operations have to be checked: nothing is tested here. On
// success unit->code and unit->size are set; the code is NULL where the unit is
// larger than the processor's jumps reach.
bool tl_jit_emit(tl_jit_code *code);
