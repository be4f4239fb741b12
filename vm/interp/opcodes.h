// The instruction table, written once. The compiler's control-flow graph and
// the bytecode share it: enum, disassembly, ownership analysis, verifier and
// dispatch labels all follow from a line here.
//
// In the graph an instruction has a result and any number of operands. In
// bytecode (function.h) operands are fields of a 64-bit word, or stand side by
// side in a window of slots, which the instruction then takes over whole.
#ifndef TALLY_VM_OPCODES_H
#define TALLY_VM_OPCODES_H

// What becomes of an operand.
typedef enum tl_role {
  TL_ROLE_NONE,
  TL_ROLE_USE,        // read; its memory may be reused, else it is dropped
  TL_ROLE_STORE,      // put into a list, record, capture or module variable
  TL_ROLE_ARG,        // passed to a function: the callee's from entry on
  TL_ROLE_SOURCE,     // viewed
  TL_ROLE_CONTAINER,  // an item is loaded from it, or it is viewed
  TL_ROLE_TARGET,     // updated: operand and result are one slot
  TL_ROLE_VALUE,      // stored into the target (lists) or copied (arrays)
  TL_ROLE_DRAIN,      // iterated: stays, items may move out of it
  TL_ROLE_CALLEE,     // the closure called: stays, always borrowed
  TL_ROLE_HEIR,       // stays: perhaps the item that the update takes out, it
                      // gets the target's count of that, else one of its own
} tl_role;

// What the result slot holds.
typedef enum tl_result_kind {
  TL_DEF_NONE,
  TL_DEF_OWNED,     // a new object
  TL_DEF_IMMORTAL,  // a constant, function, type, scalar, unset
  TL_DEF_COPY,      // the operand's state: a move, or an alias that borrows
  TL_DEF_ITEM,      // an item of operand 0 (borrowed part), or a view of it
                    // (owned, its block borrowed): only the run knows
  TL_DEF_VIEW,      // a view of operand 0, or a new object
  TL_DEF_SAME,      // operand 0 itself, or a new object
  TL_DEF_NEXT,      // an item of the drained operand 0
  TL_DEF_GLOBAL,    // borrowed from a module variable
  TL_DEF_CAPTURE,   // borrowed from the running closure
  TL_DEF_SELF,      // the running closure itself, uncounted
  TL_DEF_CALL,      // what the known callee's summary says
  TL_DEF_TARGET,    // operand 0, updated
} tl_result_kind;

// What NEXT gives, its extra: an item; of a record a (key, value); an item of
// what is known to be a list, and so never a view.
enum { TL_NEXT_ITEM, TL_NEXT_PAIR, TL_NEXT_OF_LIST };

// When an instruction can fail: before its first write, or after it.
typedef enum tl_fails { TL_NEVER, TL_EARLY, TL_LATE } tl_fails;

// The bytecode's fields, for emission, listing and decoding.
typedef enum tl_format {
  TL_FORMAT_NONE,    //
  TL_FORMAT_A,       // a: operand 0
  TL_FORMAT_AB,      // a: result, b: operand 0
  TL_FORMAT_ABC,     // a: result, b, c: operands 0 and 1
  TL_FORMAT_ABI,     // a: result, b: operand 0, c: immediate
  TL_FORMAT_ABK,     // a: result, b: operand 0, c: constant (times 16)
  TL_FORMAT_ABX,     // a: result, b: operand 0; second word: extra
  TL_FORMAT_ABCX,    // a: result, b, c: operands; second word: extra
  TL_FORMAT_ABCD,    // a: result, b, c: operands; second word: operand 2 in a
  TL_FORMAT_AX,      // a: result, b:c extra (32 bits)
  TL_FORMAT_XA,      // a: operand 0, b:c extra (32 bits)
  TL_FORMAT_AA,      // a, b: operands 0 and 1, no result
  TL_FORMAT_W,       // a: result and window base (operands from a+1), b:
                     //    count; second word: extra
  TL_FORMAT_BW,      // a: result and window base, b: operand 0 (not in the
                     //    window), c: count; second word: extra
  TL_FORMAT_TVW,     // a: target, b: value, c: window base; second word: b:c
                     //    extra, a: count
  TL_FORMAT_JUMP,    // b:c offset
  TL_FORMAT_AJUMP,   // a: operand 0, b:c offset
  TL_FORMAT_ABJUMP,  // a, b: operands 0 and 1, c: offset
  TL_FORMAT_AKJUMP,  // a: operand 0, b: constant (times 16), c: offset
  TL_FORMAT_LOOP,    // a: hidden slots, b: visible variable, c: offset
} tl_format;

// OP(NAME, result, role of operand 0, 1, 2, role of all further ones, fails,
//    format)
#define TL_OPCODES(OP)                                                         \
  /* --- values and moves */                                                   \
  OP(COPY, COPY, STORE, NONE, NONE, NONE, NEVER, AB) /* becomes MOV, MOVB */   \
  OP(MOV, COPY, STORE, NONE, NONE, NONE, NEVER, AB)  /* a = b!          */     \
  OP(MOVB, COPY, USE, NONE, NONE, NONE, NEVER, AB)   /* a = b, borrowed */     \
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
  OP(NOTIN, IMMORTAL, USE, USE, NONE, NONE, EARLY, ABC)                        \
  OP(ELEM1, OWNED, USE, NONE, NONE, NONE, EARLY, ABX)                          \
  OP(ELEM2, OWNED, USE, USE, NONE, NONE, EARLY, ABCX)                          \
  OP(ELEM3, OWNED, USE, USE, USE, NONE, EARLY, ABCD)                           \
  OP(NOT, IMMORTAL, USE, NONE, NONE, NONE, EARLY, AB)                          \
  OP(ASBOOL, IMMORTAL, USE, NONE, NONE, NONE, EARLY, AB)                       \
  OP(ADDI, OWNED, USE, NONE, NONE, NONE, EARLY, ABI)                           \
  OP(SUBI, OWNED, USE, NONE, NONE, NONE, EARLY, ABI)                           \
  OP(ADDK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(SUBK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(MULK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(DIVK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(FLOORDIVK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                      \
  OP(MODK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(POWK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(BITANDK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                        \
  OP(BITORK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                         \
  OP(BITXORK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                        \
  OP(SHLK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  OP(SHRK, OWNED, USE, NONE, NONE, NONE, EARLY, ABK)                           \
  /* The first of a pair: what the second, the next instruction, makes of */   \
  /* the result as its left operand, or as its right one, is done at once */   \
  /* where all operands are scalars of one class.                         */   \
  OP(MUL_ADD_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(MUL_SUB_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(MUL_MUL_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_ADD_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_SUB_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_MUL_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_ADD_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_SUB_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_MUL_L, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(MUL_ADD_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(MUL_SUB_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(MUL_MUL_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_ADD_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_SUB_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(ADD_MUL_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_ADD_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_SUB_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(SUB_MUL_R, OWNED, USE, USE, NONE, NONE, EARLY, ABC)                       \
  OP(RANGE, OWNED, USE, USE, USE, NONE, EARLY, ABCD)                           \
  /* --- building */                                                           \
  OP(LIST, OWNED, STORE, STORE, STORE, STORE, EARLY, W)                        \
  OP(RECORD, OWNED, STORE, STORE, STORE, STORE, EARLY, W) /* extra: keys */    \
  OP(STACK, OWNED, USE, USE, USE, USE, EARLY, W) /* array of the items */      \
  OP(STACKLIST, OWNED, USE, NONE, NONE, NONE, EARLY, AB)  /* of a list's  */   \
  OP(PUSH, TARGET, TARGET, STORE, NONE, NONE, EARLY, ABC) /* list a += c */    \
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
  OP(REPLACE, TARGET, TARGET, VALUE, USE, HEIR, EARLY, ABCD) /* the same   */  \
  OP(SETEL2, TARGET, TARGET, VALUE, USE, USE, EARLY, ABCD)   /* a[c, d] = b */ \
  OP(SETPATH, TARGET, TARGET, VALUE, USE, USE, EARLY, TVW)                     \
  OP(UNPACK, SAME, USE, NONE, NONE, NONE, EARLY, ABX) /* list of exactly n */  \
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
  OP(JLEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JGTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JGEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JEQK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JNEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                         \
  OP(JNLTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(JNLEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(JNGTK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(JNGEK, NONE, USE, NONE, NONE, NONE, EARLY, AKJUMP)                        \
  OP(FORPREP, NONE, USE, USE, USE, NONE, EARLY, LOOP) /* start stop step   */  \
  OP(FORR, NONE, NONE, NONE, NONE, NONE, EARLY, LOOP) /* next turn, polls  */  \
  OP(FORVAR, IMMORTAL, NONE, NONE, NONE, NONE, NEVER, AX) /* its variable  */  \
  OP(MORE, NONE, NONE, NONE, NONE, NONE, EARLY, LOOP) /* of container a    */  \
  OP(NEXT, NEXT, DRAIN, NONE, NONE, NONE, EARLY, ABX) /* the next item     */  \
  OP(RET, NONE, STORE, NONE, NONE, NONE, NEVER, A)                             \
  OP(RAISE, NONE, USE, NONE, NONE, NONE, LATE, A)                              \
  OP(EXTRA, NONE, NONE, NONE, NONE, NONE, NEVER, NONE) /* a second word    */

typedef enum tl_opcode {
#define OP(NAME, d, r0, r1, r2, rest, fails, format) TL_BC_##NAME,
  TL_OPCODES(OP)
#undef OP
      TL_OPCODE_COUNT
} tl_opcode;

typedef struct tl_opcode_info {
  const char *name;
  unsigned char result;    // tl_result_kind
  unsigned char roles[4];  // of operands 0, 1, 2 and all further ones
  unsigned char fails;     // tl_fails
  unsigned char format;    // tl_format
} tl_opcode_info;

extern const tl_opcode_info tl_opcodes[TL_OPCODE_COUNT];

// Operations that are done at once where one follows the other, in the order of
// the opcodes for that: those whose first result is the second's left operand,
// then those where it is the right one.
typedef struct tl_op_pair {
  unsigned char first, then;
} tl_op_pair;
enum { TL_OP_PAIRS = 9 };
extern const tl_op_pair tl_op_pairs[TL_OP_PAIRS];

// What the first of a pair does; NULL: [op] is none.
static inline const tl_op_pair *tl_pair_of(int op) {
  return op < TL_BC_MUL_ADD_L || op > TL_BC_SUB_MUL_R
             ? NULL
             : &tl_op_pairs[(op - TL_BC_MUL_ADD_L) % TL_OP_PAIRS];
}

static inline int tl_opcode_role(int op, int operand) {
  return tl_opcodes[op].roles[operand < 3 ? operand : 3];
}

// Whether what it stores without owning stays lent to the result (lend.c).
static inline bool tl_opcode_lends(int op) {
  return op == TL_BC_LIST || op == TL_BC_RECORD || op == TL_BC_CLOSURE ||
         op == TL_BC_PUSH;
}

#endif
