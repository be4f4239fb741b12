// The instruction table, written once. The compiler's control-flow graph and
// the bytecode share it: enum, listing, ownership analysis, verifier and
// dispatch labels all follow from a line here.
//
//     OP(SETEL,  TARGET,  TARGET, VALUE, USE, NONE,  EARLY,  ABC)  a[c] = b
//        │       │        └ roles of the operands ┘  │       └ encoding
//        │       └ what the result slot holds        └ when it can fail
//        └ TL_BC_SETEL, label L_SETEL, "setel" in `tally dis`
//
// From that line follows, without further code about SETEL:
//
//     compiler/cfg.h        an instruction with three operands and a result
//     compiler/ownership.c  what becomes of each operand: TARGET is updated in
//                           place, VALUE is stored, USE ends or is borrowed
//     compiler/emit.c       one word: fields a, b, c and two bits of mode for
//                           each
//     bytecode/decode.c     the fields back as operands, for listing and
//                           verifier
//     verify/verify.c       which states of a slot the instruction accepts
//
// A new opcode is one more line here and its handler in vm/interp/interp.c, or
// a line in vm/interp/handlers.h and its handler there.
//
// In the graph an instruction has a result and any number of operands. In
// bytecode (function.h) operands are fields of a 64-bit word, or stand side by
// side in a window of slots, which the instruction then takes over as a whole.
// Some instructions have a second word of the same size, whose opcode is EXTRA.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// What becomes of an operand. The ownership analysis decides from it whether an
// operand that ends here is consumed, and what the result may borrow from it.
typedef enum tl_role {
  TL_ROLE_NONE,
  // Read. Where it ends here its memory may be reused, else it is dropped.
  TL_ROLE_USE,
  // Put into a list, record, capture or module variable.
  TL_ROLE_STORE,
  // Passed to a function, whose slot it is from entry on.
  TL_ROLE_ARG,
  // The result may be a view of it, or the same object.
  TL_ROLE_SOURCE,
  // An item is loaded from it, or it is viewed: the result may borrow from it.
  TL_ROLE_CONTAINER,
  // Updated in place where it has one owner: operand and result are one slot.
  TL_ROLE_TARGET,
  // Stored into the target (of a list) or copied into it (of an array).
  TL_ROLE_VALUE,
  // Iterated over: it stays in its slot, but items may move out of it.
  TL_ROLE_DRAIN,
  // The closure that is called: it stays, and is always borrowed.
  TL_ROLE_CALLEE,
  // Stays in its slot. It is perhaps the item that the update displaces: then
  // it takes over the count that the target had of it, else it gets one of its
  // own.
  TL_ROLE_SUCCESSOR,
} tl_role;

// What the result slot holds after the instruction, from which the analysis
// knows whether it owns, borrows, and from which operand.
typedef enum tl_result_kind {
  TL_DEF_NONE,
  // A new object, or a scalar.
  TL_DEF_OWNED,
  // A constant, function, type, scalar or unset: no count is ever needed.
  TL_DEF_IMMORTAL,
  // The operand's state: it is moved, or aliased as a borrow.
  TL_DEF_COPY,
  // An item of operand 0 (a borrowed part), or a view of it (owned, but its
  // block is borrowed). Which of the two only the run knows.
  TL_DEF_ITEM,
  // Operand 0 itself, or a new object.
  TL_DEF_SAME,
  // An item of the drained operand 0.
  TL_DEF_NEXT,
  // The items of operand 0, in as many slots side by side as extra says
  // (tl_unpack_count), the first of which is the result.
  TL_DEF_ITEMS,
  // Borrowed from a module variable.
  TL_DEF_GLOBAL,
  // Borrowed from the running closure.
  TL_DEF_CAPTURE,
  // The running closure itself, without a count: its caller keeps it.
  TL_DEF_SELF,
  // What the summary of the known callee says (tl_summary).
  TL_DEF_CALL,
  // Operand 0 after its update.
  TL_DEF_TARGET,
} tl_result_kind;

// Packs what UNPACK needs to know into its extra: [count] names, of which the
// one at index [rest] takes the rest; rest == count: none does.
//
//     a, b = v          tl_unpack_extra(2, 2)    2
//     a, ...r, b = v    tl_unpack_extra(3, 1)    3 | 2 << 16
static inline uint32_t tl_unpack_extra(uint32_t count, uint32_t rest) {
  return count | (rest < count ? rest + 1 : 0) << 16;
}
static inline uint32_t tl_unpack_count(uint32_t extra) {
  return extra & 0xffff;
}

// What NEXT gives, its extra: an item; an item of a container that is known to
// be a list, which is never a view; or, from TL_NEXT_PARTS on, an item of which
// extra - TL_NEXT_PARTS parts will be read and nothing else. So it may come as
// a list of what UNPACK will take out of it: of a record the key and the value,
// of a matrix the numbers in a row.
enum { TL_NEXT_ITEM, TL_NEXT_OF_LIST, TL_NEXT_PARTS };

// When an instruction can fail: never; before its first write, so that all
// operands are as they were; or late, when operands may be consumed already.
typedef enum tl_fails { TL_NEVER, TL_EARLY, TL_LATE } tl_fails;

// How an instruction is encoded: which of the fields a, b, c hold what.
// Emission, listing and decoding read this alone. Several opcodes share a
// format, so a new one mostly needs none. Offsets of jumps count words from the
// next instruction and may be negative. Operands in a window have no modes:
// what owns is taken over.
//
//     word     │ op 8 │ modes 8 │  a 16  │  b 16  │  c 16  │
//                                        └ extra or far jump ┘   (AX, JUMP …)
//     second   │EXTRA │         │  a 16  │  b:c extra      │
//
//     FORMAT(NAME, operands, result, extra, window, count, jump)
//
//   operands  fields of the operands outside the window, in order; d is a of
//             the second word. An update has its target, a, before these.
//   result    the field of the slot that is written
//   extra     b; w: b and c together; i: c as a signed number; B, C: the index
//             of a constant in that field, times 16; x: w of the second word
//   window    a: it begins behind the result in a; c: with the slot in c
//   count     how many slots it has
//   jump      c or w: the offset
//
// 0: none. A loop's operand is the first of its hidden slots, and its result
// the visible variable.
#define TL_FORMATS(FORMAT)                \
  FORMAT(NONE, "", 0, 0, 0, 0, 0)         \
  FORMAT(A, "a", 0, 'b', 0, 0, 0)         \
  FORMAT(AB, "b", 'a', 0, 0, 0, 0)        \
  FORMAT(ABC, "bc", 'a', 0, 0, 0, 0)      \
  FORMAT(ABI, "b", 'a', 'i', 0, 0, 0)     \
  FORMAT(ABK, "b", 'a', 'C', 0, 0, 0)     \
  FORMAT(ABX, "b", 'a', 'x', 0, 0, 0)     \
  FORMAT(ABCX, "bc", 'a', 'x', 0, 0, 0)   \
  FORMAT(ABCD, "bcd", 'a', 'x', 0, 0, 0)  \
  FORMAT(AX, "", 'a', 'w', 0, 0, 0)       \
  FORMAT(XA, "a", 0, 'w', 0, 0, 0)        \
  FORMAT(AA, "ab", 0, 0, 0, 0, 0)         \
  FORMAT(W, "", 'a', 'x', 'a', 'b', 0)    \
  FORMAT(BW, "b", 'a', 'x', 'a', 'c', 0)  \
  FORMAT(TVW, "b", 'a', 'x', 'c', 'd', 0) \
  FORMAT(JUMP, "", 0, 0, 0, 0, 'w')       \
  FORMAT(AJUMP, "a", 0, 0, 0, 0, 'w')     \
  FORMAT(ABJUMP, "ab", 0, 0, 0, 0, 'c')   \
  FORMAT(AKJUMP, "a", 0, 'B', 0, 0, 'c')  \
  FORMAT(LOOP, "a", 'b', 0, 0, 0, 'c')

typedef enum tl_format {
#define FORMAT(NAME, operands, result, extra, window, count, jump) \
  TL_FORMAT_##NAME,
  TL_FORMATS(FORMAT)
#undef FORMAT
      TL_FORMAT_COUNT
} tl_format;

// A line of that table as data; indexed by format.
typedef struct tl_format_info {
  char operands[4];
  char result, extra, window, count, jump;
} tl_format_info;

extern const tl_format_info tl_formats[TL_FORMAT_COUNT];

// The table itself:
//
//     OP(NAME, result, role of operand 0, 1, 2, role of all further ones,
//     fails, format)
//
// Comments at a line's end show what it does with the fields a, b, c; `!` marks
// an operand that always ends there. In groups:
//
//   values and moves
//     MOV moves a slot's value with its ownership, MOVB copies it as a borrow;
//     COPY is what the graph has, until the ownership analysis decides between
//     them. LOADK and LOADI load constants and small ints. GETG, SETG and TAKEG
//     are for module variables, GETC for a captured value, SELF and MEMBER for
//     the running closure and another function of its group.
//   ownership
//     DROP ends a slot. SETTLE, KEEP, INHERIT, LEAVE, HOLD, DETACH, KEEPALL and
//     KEEPOF make y independent of x, which ends or changes
//     (vm/interp/ops_ownership.c). OWN makes a slot an owner. Only the analysis
//     puts these in.
//   operators
//     ADD … GE with two operands; ELEM1 to ELEM3 for all other elementwise
//     operations, which their extra names; …I and …K with an immediate or a
//     constant. Scalars are computed in the loop, arrays by the engine; any of
//     them may be the begin of a fused region.
//   building
//     LIST, RECORD, STACK (an array), JOIN (a string) and CLOSURE take a window
//     of slots over. PUSH appends in place, FORMAT makes one value text.
//   places
//     GETEL, GETEL2, INDEX and GETF read; SETEL, SETEL2, REPLACE and SETPATH
//     update in place where the target has one owner. TAKEEL and TAKE move an
//     item out for an update such as x[i] += 1, UNTAKE puts it back if that
//     fails. UNPACK is the one instruction that writes several slots.
//   calls
//     CALLK calls a script function that the compiler knows, without binding
//     and without counts; CALLB a built-in with all of its parameters; CALL
//     anything else. CHECKTYPES compares arguments with the patterns of
//     parameters. CATCH begins a handler.
//   ends of blocks
//     JMP forward, LOOP backward with a poll, JT and JF on a bool, JSET on a
//     slot that is set, J… on a comparison. FORPREP and FORR run a loop over a
//     range, MORE and NEXT one over a container. RET and RAISE leave the
//     function.
#define TL_OPCODES(OP)                                                         \
  /* --- values and moves */                                                   \
  OP(MOV, COPY, STORE, NONE, NONE, NONE, NEVER, AB) /* a = b!; in the    */    \
  /* graph any copy, which is MOVB where b goes on */                          \
  OP(MOVB, COPY, USE, NONE, NONE, NONE, NEVER, AB)       /* a = b, borrowed */ \
  OP(LOADK, IMMORTAL, NONE, NONE, NONE, NONE, NEVER, AX) /* constant     */    \
  OP(LOADI, IMMORTAL, NONE, NONE, NONE, NONE, NEVER, AX) /* weak int     */    \
  OP(GETG, GLOBAL, NONE, NONE, NONE, NONE, EARLY, AX)    /* module variable */ \
  OP(SETG, NONE, STORE, NONE, NONE, NONE, NEVER, XA)                           \
  OP(TAKEG, OWNED, NONE, NONE, NONE, NONE, EARLY, AX)  /* leaves it unset */   \
  OP(GETC, CAPTURE, NONE, NONE, NONE, NONE, EARLY, AX) /* may be unset   */    \
  OP(SELF, SELF, NONE, NONE, NONE, NONE, NEVER, AX)    /* member of group  */  \
  OP(MEMBER, COPY, SOURCE, NONE, NONE, NONE, NEVER, ABX) /* other member */    \
  OP(CHECKSET, NONE, USE, NONE, NONE, NONE, EARLY, XA)   /* else name error */ \
  /* --- ownership: put in by the analysis */                                  \
  OP(DROP, NONE, USE, NONE, NONE, NONE, NEVER, A)                              \
  OP(SETTLE, NONE, NONE, NONE, NONE, NONE, NEVER, AA)                          \
  OP(KEEP, NONE, NONE, NONE, NONE, NONE, NEVER, AA)                            \
  OP(INHERIT, NONE, NONE, NONE, NONE, NONE, NEVER, AA) /* where a ends   */    \
  OP(LEAVE, NONE, NONE, NONE, NONE, NONE, NEVER, AA) /* HOLD, KEEP, DROP a */  \
  OP(HOLD, NONE, NONE, NONE, NONE, NONE, NEVER, AA)                            \
  OP(DETACH, NONE, NONE, NONE, NONE, NONE, EARLY, AA)                          \
  OP(OWN, NONE, NONE, NONE, NONE, NONE, NEVER, A)                              \
  OP(KEEPALL, NONE, NONE, NONE, NONE, NONE, NEVER,                             \
     A) /* items that a borrows */                                             \
  OP(KEEPOF, NONE, NONE, NONE, NONE, NONE, NEVER,                              \
     AA) /* items of a that b borrows */                                       \
  /* --- operators; extra of ELEM1, ELEM3 is the tl_op */                      \
  OP(ADD, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(SUB, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(MUL, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(DIV, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(FLOORDIV, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                        \
  OP(MOD, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(POW, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(BITAND, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                          \
  OP(BITOR, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                           \
  OP(BITXOR, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                          \
  OP(SHL, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(SHR, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                             \
  OP(EQ, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(NE, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(LT, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(LE, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(GT, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(GE, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                              \
  OP(MATMUL, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                          \
  OP(IN, IMMORTAL, USE, USE, NONE, NONE, EARLY, ABC)                           \
  OP(ELEM1, OWNED, USE, NONE, NONE, NONE, EARLY, ABX)                          \
  OP(ELEM2, OWNED, USE, USE, NONE, NONE, EARLY, ABCX)                          \
  OP(ELEM3, OWNED, USE, USE, USE, NONE, EARLY, ABCD)                           \
  OP(NOT, IMMORTAL, USE, NONE, NONE, NONE, EARLY, AB)                          \
  OP(ADDI, OWNED, USE, NONE, NONE, NONE, EARLY, ABI)                           \
  OP(SUBI, OWNED, USE, NONE, NONE, NONE, EARLY, ABI)                           \
  OP(MULK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(DIVK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(MODK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(POWK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(BITANDK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                        \
  OP(SHRK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(RANGE, OWNED, USE, USE, USE, NONE, EARLY, ABCD)                           \
  /* --- building */                                                           \
  OP(LIST, OWNED, STORE, STORE, STORE, STORE, EARLY, W)                        \
  OP(RECORD, OWNED, STORE, STORE, STORE, STORE, EARLY, W) /* extra: keys */    \
  OP(STACK, OWNED, USE, USE, USE, USE, EARLY, W) /* array of the items */      \
  OP(STACKLIST, OWNED, USE, NONE, NONE, NONE, EARLY, AB)  /* of a list's  */   \
  OP(PUSH, TARGET, TARGET, STORE, NONE, NONE, EARLY, AB) /* list a += b */     \
  OP(FORMAT, SAME, USE, NONE, NONE, NONE, EARLY, ABX)     /* extra: spec    */ \
  OP(JOIN, OWNED, USE, USE, USE, USE, EARLY, W) /* strings           */        \
  OP(CLOSURE, OWNED, STORE, STORE, STORE, STORE, EARLY, W) /* extra: group */  \
  /* --- places; extra: a path or a name */                                    \
  OP(GETEL, ITEM, CONTAINER, USE, NONE, NONE, EARLY, ABC)  /* b[c]    */       \
  OP(GETEL2, ITEM, CONTAINER, USE, USE, NONE, EARLY, ABCD) /* b[c, d] */       \
  OP(INDEX, ITEM, CONTAINER, USE, USE, USE, EARLY, BW)                         \
  OP(GETF, ITEM, CONTAINER, NONE, NONE, NONE, EARLY, ABX)                      \
  OP(FIELDS, ITEM, CONTAINER, NONE, NONE, NONE, EARLY, ABX) /* a record */     \
  /* b[c] and a path: the item is taken out, if this is all that has it, and   \
     comes back with the next update of that place; else it is only read */    \
  OP(TAKEEL, NEXT, DRAIN, USE, NONE, NONE, EARLY, ABCX)                        \
  OP(TAKE, NEXT, DRAIN, USE, USE, USE, EARLY, BW)                              \
  OP(UNTAKE, TARGET, TARGET, VALUE, USE, USE, NEVER, TVW) /* put back: b   */  \
  OP(SETEL, TARGET, TARGET, VALUE, USE, NONE, EARLY, ABC) /* a[c] = b    */    \
  OP(REPLACE, TARGET, TARGET, VALUE, USE, SUCCESSOR, EARLY,                    \
     ABCD)                                                 /* the same   */    \
  OP(SETEL2, TARGET, TARGET, VALUE, USE, USE, EARLY, ABCD) /* a[c, d] = b */   \
  OP(SETPATH, TARGET, TARGET, VALUE, USE, USE, EARLY, TVW)                     \
  OP(UNPACK, ITEMS, USE, NONE, NONE, NONE, EARLY, ABX) /* a, … = b; extra */ \
  /* --- calls; extra: the function, built-in or call shape */                 \
  OP(CALLK, CALL, ARG, ARG, ARG, ARG, LATE, W)  /* known script function */    \
  OP(CALLB, OWNED, ARG, ARG, ARG, ARG, LATE, W) /* built-in, all params  */    \
  OP(CALL, OWNED, CALLEE, ARG, ARG, ARG, LATE,                                 \
     BW) /* extra: call shape or 0 */                                          \
  OP(CHECKTYPES, NONE, NONE, NONE, NONE, NONE, EARLY, NONE) /* parameters  */  \
  OP(IMPORT, IMMORTAL, NONE, NONE, NONE, NONE, LATE, AX)                       \
  OP(SHOW, NONE, USE, NONE, NONE, NONE, LATE, A) /* at the prompt         */   \
  OP(CATCH, OWNED, NONE, NONE, NONE, NONE, NEVER, AX) /* the caught error  */  \
  /* --- ends of blocks */                                                     \
  OP(JMP, NONE, NONE, NONE, NONE, NONE, NEVER, JUMP)                           \
  OP(LOOP, NONE, NONE, NONE, NONE, NONE, EARLY, JUMP) /* backward, polls   */  \
  OP(JT, NONE, USE, NONE, NONE, NONE, EARLY, AJUMP)                            \
  OP(JF, NONE, USE, NONE, NONE, NONE, EARLY, AJUMP)                            \
  OP(JSET, NONE, USE, NONE, NONE, NONE, NEVER, AJUMP) /* if not unset      */  \
  OP(JLT, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                           \
  OP(JLE, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                           \
  OP(JEQ, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                           \
  OP(JNE, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                           \
  OP(JNLT, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                          \
  OP(JNLE, NONE, USE, USE, NONE, NONE, EARLY, ABJUMP)                          \
  OP(JLTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JGTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JEQK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JNEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JNLTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(JNGTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(FORPREP, NONE, USE, USE, USE, NONE, EARLY, LOOP) /* start stop step   */  \
  OP(FORR, NONE, NONE, NONE, NONE, NONE, EARLY, LOOP) /* next turn, polls  */  \
  OP(FORVAR, IMMORTAL, NONE, NONE, NONE, NONE, NEVER, AX) /* its variable  */  \
  OP(MORE, NONE, NONE, NONE, NONE, NONE, EARLY, LOOP) /* of container a    */  \
  OP(NEXT, NEXT, DRAIN, NONE, NONE, NONE, EARLY, ABX) /* the next item     */  \
  OP(RET, NONE, STORE, NONE, NONE, NONE, NEVER, A)                             \
  OP(RAISE, NONE, USE, NONE, NONE, NONE, LATE, A)                              \
  OP(EXTRA, NONE, NONE, NONE, NONE, NONE, NEVER, NONE) /* a second word    */

// The opcodes, in the order of the table.
typedef enum tl_opcode {
#define OP(NAME, d, r0, r1, r2, rest, fails, format) TL_BC_##NAME,
  TL_OPCODES(OP)
#undef OP
      TL_OPCODE_COUNT
} tl_opcode;

// A line of the table as data; indexed by opcode.
typedef struct tl_opcode_info {
  const char *name;
  unsigned char result;    // tl_result_kind
  unsigned char roles[4];  // of operands 0, 1, 2 and all further ones
  unsigned char fails;     // tl_fails
  unsigned char format;    // tl_format
} tl_opcode_info;

extern const tl_opcode_info tl_opcodes[TL_OPCODE_COUNT];

// Set in the modes of an operation whose result is one operand of the next
// instruction, and used up by it: the two may be done at once, of small arrays
// without an array between them.
enum { TL_WITH_NEXT = 1 << 6 };

// The operations that may be the first or the second of such two.
static inline bool tl_may_join(int op) {
  return op == TL_BC_ADD || op == TL_BC_SUB || op == TL_BC_MUL;
}

// The role of operand number [operand]; all from the fourth on share one role.
static inline int tl_opcode_role(int op, int operand) {
  return tl_opcodes[op].roles[operand < 3 ? operand : 3];
}

// The field of operand number [operand]; 0: it stands in the window, or there is
// none. An update has its target first.
static inline char tl_operand_field(int op, int operand) {
  int target = tl_opcodes[op].roles[0] == TL_ROLE_TARGET;
  return operand < target
             ? 'a'
             : tl_formats[tl_opcodes[op].format].operands[operand - target];
}

// Whether it moves an item out of its place, which an update brings back.
static inline bool tl_opcode_takes(int op) {
  return op == TL_BC_TAKE || op == TL_BC_TAKEEL;
}

// Whether it is of the group that moves ownership alone.
static inline bool tl_opcode_moves_ownership(int op) {
  return op >= TL_BC_DROP && op <= TL_BC_KEEPOF;
}

// Whether an operand may end though another borrows from it: all are read before
// one ends, and none is written where another would still be read. Of operations
// whose result may lie in an operand's memory; comparisons give bools.
static inline bool tl_opcode_reads_first(int op) {
  return (op >= TL_BC_ADD && op <= TL_BC_SHR) || op == TL_BC_ELEM2 ||
         op == TL_BC_ELEM3;
}

// Whether the result goes on borrowing what is stored in it without a count (a
// borrowing container, see value.c).
static inline bool tl_opcode_lends(int op) {
  return op == TL_BC_LIST || op == TL_BC_RECORD || op == TL_BC_CLOSURE ||
         op == TL_BC_PUSH;
}
