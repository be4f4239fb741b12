// What the handlers of the dispatch loop are made of: the fields of an
// instruction, the ways on from it, and the forms that families of scalar
// instructions share. For interp.c alone, which is compiled twice: so there is
// no guard.

// This source is compiled twice: interp_counting.c makes the twin that counts
// references, so that counting costs nothing where it is off.
#ifdef TL_COUNTING
#define TL_INTERPRET tl_interpret_counting
#define COUNT()                                            \
  do {                                                     \
    SAVE();                                                \
    count_ins(vm, R, ins);                                 \
    if (UNLIKELY(vm->fail_in != 0 && is_told(vm, R, ins))) \
      goto fail;                                           \
  } while (0)
#else
#define TL_INTERPRET tl_interpret
#define COUNT() (void)0
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// Threaded dispatch where the compiler has it, `switch` from the same source
// elsewhere; and where each instruction is counted, which needs one place then.
#if defined(__GNUC__) && !defined(TALLY_SWITCH) && !defined(TL_COUNTING)
#define TL_THREADED 1
#else
#define TL_THREADED 0
#endif

#define SLOT(offset) ((tl_slot *)(void *)((char *)R + (offset)))
#define RA SLOT(ins->a)
#define RB SLOT(ins->b)
#define RC SLOT(ins->c)
#define KC ((const tl_slot *)(const void *)((const char *)K + ins->c))
#define KB ((const tl_slot *)(const void *)((const char *)K + ins->b))
#define EXTRA() tl_ins_extra(ins[1])
#define MODE_B (ins->modes & 3u)
#define MODE_C (ins->modes >> 2 & 3u)
#define MODE_A (ins->modes >> 4 & 3u)

#define BOTH(b, c) ((unsigned)((b)->tag | (c)->tag) & 0xffu)
// An int64 with a float64: the float's dtype, weak if both are.
#define MIXED ((unsigned)TL_CLASS_F64 | (unsigned)TL_CLASS_I64)
#define AS_F64(s) ((uint8_t)(s)->tag == TL_CLASS_F64 ? (s)->f : (double)(s)->i)
#define MIXED_TAG(b, c) (TL_TAG_F64 | ((b)->tag & (c)->tag & TL_WEAK))
#define PUT_F64(a, value, mark) \
  do {                          \
    double v_ = (value);        \
    uint64_t t_ = (mark);       \
    (a)->tag = t_;              \
    (a)->f = v_;                \
  } while (0)
#define PUT_I64(a, value, mark)    \
  do {                             \
    int64_t v_ = (int64_t)(value); \
    uint64_t t_ = (mark);          \
    (a)->tag = t_;                 \
    (a)->i = v_;                   \
  } while (0)
#define PUT_BOOL(a, value)  \
  do {                      \
    bool v_ = (value);      \
    (a)->tag = TL_TAG_BOOL; \
    (a)->i = v_;            \
  } while (0)

#define SAVE() (F->pc = ins, vm->frame = F)
#define FAIL() goto fail
#define TRY(call)          \
  do {                     \
    SAVE();                \
    if (UNLIKELY(!(call))) \
      FAIL();              \
  } while (0)

#define POLL()                     \
  do {                             \
    if (UNLIKELY(--vm->fuel == 0)) \
      TRY(tl_refuel(vm));          \
  } while (0)

#ifdef TALLY_AUDIT
#define AUDIT()        \
  do {                 \
    SAVE();            \
    tl_audit(vm, ins); \
  } while (0)
#else
#define AUDIT() (void)0
#endif

#if TL_THREADED
#define OP(name) L_##name:  // an instruction
#define DISPATCH                             \
  do {                                       \
    AUDIT();                                 \
    COUNT();                                 \
    __extension__({ goto *ways[ins->op]; }); \
  } while (0)
#else
#define OP(name) case TL_BC_##name:
#define DISPATCH goto dispatch
#endif

#define WAY(name) \
  name:  // shared by instructions

// On to the next instruction, after one of one word or of two.
#define NEXT  \
  do {        \
    ins++;    \
    DISPATCH; \
  } while (0)
#define NEXT2 \
  do {        \
    ins += 2; \
    DISPATCH; \
  } while (0)

// An instruction of so many words that handlers.c has.
#define CALLED(name, handler, words)    \
  OP(name) {                            \
    TRY(tl_exec_##handler(vm, R, ins)); \
    ins += (words);                     \
    DISPATCH;                           \
  }

// Not plain scalars: to the shared ways at the loop's end.
#define SLOW(b, c, op) \
  do {                 \
    slow_b = (b);      \
    slow_c = (c);      \
    slow_op = (op);    \
    goto short_binary; \
  } while (0)

// The argument with the most items.
static const tl_slot *large_argument(const tl_slot *window, uint32_t count) {
  const tl_slot *most = window;
  for (uint32_t i = 1; i < count; i++) {
    if (tl_items_of(&window[i]) > tl_items_of(most))
      most = &window[i];
  }
  return most;
}

// Whether an operation is to be run as part of a region.
#define MAY_FUSE(b, c) \
  tl_may_fuse(F->function, ins, tl_items_of(b) | tl_items_of(c))

// Perhaps the begin of a region that runs as one.
#define ASK_REGION(s)                                             \
  do {                                                            \
    SAVE();                                                       \
    if (tl_may_fuse(F->function, ins, tl_items_of(s))) {          \
      const tl_ins *next_;                                        \
      bool large_ = (s)->array->size >= TL_REGION_LARGE;          \
      tl_region_status status_ =                                  \
          tl_region_run(vm, F->function, R, ins, large_, &next_); \
      if (status_ == TL_REGION_DONE) {                            \
        ins = next_;                                              \
        DISPATCH;                                                 \
      }                                                           \
      if (UNLIKELY(status_ == TL_REGION_FAILED)) {                \
        tl_drop_call(vm, R, ins);                                 \
        FAIL();                                                   \
      }                                                           \
    }                                                             \
  } while (0)

// Scalar arithmetic: floats first, then integers, which wrap.
#define ARITH(name, op, slow)                               \
  OP(name) {                                                \
    const tl_slot *b = RB, *c = RC;                         \
    unsigned both = BOTH(b, c);                             \
    if (both == TL_CLASS_F64) {                             \
      PUT_F64(RA, b->f op c->f, b->tag & c->tag);           \
      NEXT;                                                 \
    }                                                       \
    if (LIKELY(both == TL_CLASS_I64)) {                     \
      PUT_I64(RA, b->u op c->u, b->tag & c->tag);           \
      NEXT;                                                 \
    }                                                       \
    if (LIKELY(both == MIXED)) {                            \
      PUT_F64(RA, AS_F64(b) op AS_F64(c), MIXED_TAG(b, c)); \
      NEXT;                                                 \
    }                                                       \
    SLOW(b, c, slow);                                       \
  }

// Two at once: the first's result is an operand of the next instruction and
// not seen again. Anything but three floats or three integers goes one by one.
#ifdef TL_COUNTING
#define PAIR(name, op, slow, D, at, then_op, second) ARITH(name, op, slow)
#else
#define PAIR(name, op, slow, D, at, then_op, second)             \
  OP(name) {                                                     \
    const tl_slot *b = RB, *c = RC, *d = SLOT(ins[1].D);         \
    unsigned all = (unsigned)(b->tag | c->tag | d->tag) & 0xffu; \
    if (all == TL_CLASS_F64) {                                   \
      double x = b->f op c->f, y = d->f;                         \
      PUT_F64(SLOT(ins[1].a), second, b->tag & c->tag & d->tag); \
      NEXT2;                                                     \
    }                                                            \
    if (LIKELY(all == TL_CLASS_I64)) {                           \
      uint64_t x = b->u op c->u, y = d->u;                       \
      PUT_I64(SLOT(ins[1].a), second, b->tag & c->tag & d->tag); \
      NEXT2;                                                     \
    }                                                            \
    unsigned both = BOTH(b, c);                                  \
    if (both == TL_CLASS_F64) {                                  \
      PUT_F64(RA, b->f op c->f, b->tag & c->tag);                \
      NEXT;                                                      \
    }                                                            \
    if (both == TL_CLASS_I64) {                                  \
      PUT_I64(RA, b->u op c->u, b->tag & c->tag);                \
      NEXT;                                                      \
    }                                                            \
    if (both == MIXED) {                                         \
      PUT_F64(RA, AS_F64(b) op AS_F64(c), MIXED_TAG(b, c));      \
      NEXT;                                                      \
    }                                                            \
    slow_b = b;                                                  \
    slow_c = c;                                                  \
    slow_op = (slow);                                            \
    slow_d = d;                                                  \
    slow_then = (then_op);                                       \
    slow_side = (at);                                            \
    goto short_pair;                                             \
  }
#endif
#define PAIRS(name, op, slow)                               \
  PAIR(name##_ADD_L, op, slow, c, 0, TL_OP_ADD, x + y)      \
  PAIR(name##_SUB_L, op, slow, c, 0, TL_OP_SUBTRACT, x - y) \
  PAIR(name##_MUL_L, op, slow, c, 0, TL_OP_MULTIPLY, x *y)  \
  PAIR(name##_ADD_R, op, slow, b, 1, TL_OP_ADD, y + x)      \
  PAIR(name##_SUB_R, op, slow, b, 1, TL_OP_SUBTRACT, y - x) \
  PAIR(name##_MUL_R, op, slow, b, 1, TL_OP_MULTIPLY, y *x)

// With a literal: an int64 and its float stand side by side.
#define ARITH_K(name, op, slow)                             \
  OP(name) {                                                \
    const tl_slot *b = RB, *c = KC;                         \
    if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) {          \
      PUT_F64(RA, b->f op c[1].f, b->tag &c[1].tag);        \
      NEXT;                                                 \
    }                                                       \
    if (LIKELY(BOTH(b, c) == TL_CLASS_I64)) {               \
      PUT_I64(RA, b->u op c->u, b->tag & c->tag);           \
      NEXT;                                                 \
    }                                                       \
    if (LIKELY(BOTH(b, c) == MIXED)) {                      \
      PUT_F64(RA, AS_F64(b) op AS_F64(c), MIXED_TAG(b, c)); \
      NEXT;                                                 \
    }                                                       \
    SLOW(b, c, slow);                                       \
  }

#define COMPARE(name, op, slow)         \
  OP(name) {                            \
    const tl_slot *b = RB, *c = RC;     \
    unsigned both = BOTH(b, c);         \
    if (LIKELY(both == TL_CLASS_I64)) { \
      PUT_BOOL(RA, b->i op c->i);       \
      NEXT;                             \
    }                                   \
    if (LIKELY(both == TL_CLASS_F64)) { \
      PUT_BOOL(RA, b->f op c->f);       \
      NEXT;                             \
    }                                   \
    SLOW(b, c, slow);                   \
  }

#define BITS(name, op, slow)                      \
  OP(name) {                                      \
    const tl_slot *b = RB, *c = RC;               \
    unsigned both = BOTH(b, c);                   \
    if (LIKELY(both == TL_CLASS_I64)) {           \
      PUT_I64(RA, b->i op c->i, b->tag & c->tag); \
      NEXT;                                       \
    }                                             \
    if (LIKELY(both == TL_CLASS_BOOL)) {          \
      PUT_BOOL(RA, (b->i op c->i) != 0);          \
      NEXT;                                       \
    }                                             \
    SLOW(b, c, slow);                             \
  }

#define SHIFT(name, C, shifted, slow)                      \
  OP(name) {                                               \
    const tl_slot *b = RB, *c = (C);                       \
    if (LIKELY(BOTH(b, c) == TL_CLASS_I64 && c->u < 64)) { \
      PUT_I64(RA, shifted, b->tag & c->tag);               \
      NEXT;                                                \
    }                                                      \
    SLOW(b, c, slow);                                      \
  }

#define BITS_K(name, op, slow)                                \
  OP(name) {                                                  \
    const tl_slot *b = RB, *c = KC;                           \
    if (LIKELY((uint8_t)(b->tag & c->tag) == TL_CLASS_I64)) { \
      PUT_I64(RA, b->i op c->i, b->tag & c->tag);             \
      NEXT;                                                   \
    }                                                         \
    SLOW(b, c, slow);                                         \
  }

#define JUMP_SHORT()                       \
  do {                                     \
    ins += (ptrdiff_t)(int16_t)ins->c + 1; \
    DISPATCH;                              \
  } while (0)
#define JUMP_LONG()                                    \
  do {                                                 \
    ins += (ptrdiff_t)(int32_t)tl_ins_extra(*ins) + 1; \
    DISPATCH;                                          \
  } while (0)

#define JUMP_WHEN(condition)   \
  do {                         \
    if (condition) {           \
      if ((int16_t)ins->c < 0) \
        POLL();                \
      JUMP_SHORT();            \
    }                          \
    NEXT;                      \
  } while (0)

// Compare and jump; (negate) is the jump on `not (a op b)`, which for NaN
// differs from the opposite comparison. Backward ones poll.
#define JUMP_IF(name, op, slow, negate, right) \
  OP(name) {                                   \
    const tl_slot *b = RA, *c = (right);       \
    unsigned both = BOTH(b, c);                \
    if (LIKELY(both == TL_CLASS_I64))          \
      JUMP_WHEN((b->i op c->i) != (negate));   \
    if (LIKELY(both == TL_CLASS_F64))          \
      JUMP_WHEN((b->f op c->f) != (negate));   \
    slow_b = b;                                \
    slow_c = c;                                \
    slow_op = (slow);                          \
    slow_negate = (negate);                    \
    goto compare;                              \
  }

// With a literal: an int64 and its float stand side by side.
#define JUMP_IF_K(name, op, slow, negate)        \
  OP(name) {                                     \
    const tl_slot *b = RA, *c = KB;              \
    if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) \
      JUMP_WHEN((b->f op c[1].f) != (negate));   \
    if (LIKELY(BOTH(b, c) == TL_CLASS_I64))      \
      JUMP_WHEN((b->i op c->i) != (negate));     \
    slow_b = b;                                  \
    slow_c = c;                                  \
    slow_op = (slow);                            \
    slow_negate = (negate);                      \
    goto compare;                                \
  }

static inline bool pow_fast(tl_slot *a, const tl_slot *b, const tl_slot *c) {
  unsigned both = BOTH(b, c);
  if (both == TL_CLASS_F64 && c->f == 2.0) {
    PUT_F64(a, b->f * b->f, b->tag & c->tag);
    return true;
  }
  if ((uint8_t)c->tag == TL_CLASS_I64 && c->i == 2) {
    if ((uint8_t)b->tag == TL_CLASS_F64 && tl_is_weak(*c)) {
      PUT_F64(a, b->f * b->f, b->tag);
      return true;
    }
    if ((uint8_t)b->tag == TL_CLASS_I64) {
      PUT_I64(a, b->u * b->u, b->tag & c->tag);
      return true;
    }
  }
  return false;
}

static inline bool divide_ints(tl_slot *a, const tl_slot *b, const tl_slot *c,
                               bool remainder) {
  if (BOTH(b, c) != TL_CLASS_I64 || c->i == 0 || c->i == -1)
    return false;
  int64_t q = b->i / c->i, r = b->i % c->i;
  if (r != 0 && (r < 0) != (c->i < 0)) {
    q--;
    r += c->i;
  }
  PUT_I64(a, remainder ? r : q, b->tag & c->tag);
  return true;
}
