// What the handlers of the dispatch loop are made of: the fields of an
// instruction, how each goes on to the next one, and the forms that families of
// scalar instructions share. For interp.c alone.
//
// A handler reads like this when its macros are expanded:
//
//     L_ADD:                                       OP(ADD)
//       b = slot at ins->b, c = slot at ins->c     RB, RC
//       both are int64: write a, go on             PUT_I64, NEXT
//       otherwise go to a shared path              SLOW

// Which way a branch usually goes, for the compiler's layout.
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// Threaded dispatch where the compiler has it, `switch` from the same source
// elsewhere.
#if defined(__GNUC__) && !defined(TALLY_SWITCH)
#define TL_THREADED 1
#else
#define TL_THREADED 0
#endif

// Fields of the instruction at ins as slots and constants (handlers.h has
// more): they are byte offsets already, so that no shift is needed.
#define SLOT(offset) tl_slot_at(base, offset)
#define KC ((const tl_slot *)(const void *)((const char *)K + ins->c))
#define KB ((const tl_slot *)(const void *)((const char *)K + ins->b))

// The classes of two slots at once: equal to one class if both have that class,
// since each class is a bit or'ed with itself; anything else falls through to a
// slower case.
#define BOTH(b, c) ((unsigned)((b)->tag | (c)->tag) & 0xffu)
// An int64 with a float64: the float's dtype, weak if both are.
#define MIXED ((unsigned)TL_CLASS_F64 | (unsigned)TL_CLASS_I64)
#define AS_F64(s) ((uint8_t)(s)->tag == TL_CLASS_F64 ? (s)->f : (double)(s)->i)
#define MIXED_TAG(b, c) (TL_TAG_F64 | ((b)->tag & (c)->tag & TL_WEAK))
// Writes a scalar. The value is computed into a local first, as a may be b or
// c.
#define PUT_AS(type, member, a, value, mark) \
  do {                                       \
    type v_ = (type)(value);                 \
    uint64_t t_ = (mark);                    \
    (a)->tag = t_;                           \
    (a)->member = v_;                        \
  } while (0)
#define PUT_F64(a, value, mark) PUT_AS(double, f, a, value, mark)
#define PUT_I64(a, value, mark) PUT_AS(int64_t, i, a, value, mark)
#define PUT_BOOL(a, value) PUT_AS(bool, i, a, value, TL_TAG_BOOL)

// Copies a slot as a borrow: the same object, without the bit that says that
// the slot owns it. The source may be the target.
#define PUT_BORROWED(a, from)                                      \
  do {                                                             \
    uint64_t tag_ = (from)->tag & ~TL_OWNED, payload_ = (from)->u; \
    tl_slot *a_ = (a);                                             \
    a_->tag = tag_;                                                \
    a_->u = payload_;                                              \
  } while (0)

// Goes on in the frame F, from where it was saved.
#define LOAD_FRAME() (base = F->base, K = F->function->constants, ins = F->pc)

// Stores where the loop is, for whoever may fail, call back or read the frame.
#define SAVE() (F->pc = ins, vm->frame = F)
// Leaves a handler after tl_fail; TRY does so if the call returns false.
#define FAIL() goto fail
#define TRY(call)          \
  do {                     \
    SAVE();                \
    if (UNLIKELY(!(call))) \
      FAIL();              \
  } while (0)

// Whether what the instruction of two words makes is what the function returns.
#define IS_LAST() (ins[2].op == TL_BC_RET || ins[2].op == TL_BC_OWN)

// Polls count down the fuel, and ask for interrupts, deadline and budget when
// it is used up (poll.h). Where they do, machine code may be entered, too.

// Goes on at [target] after a poll refilled the fuel: perhaps as machine code.
#define ENTER(target) \
  do {                \
    ins = (target);   \
    goto enter;       \
  } while (0)

// The poll of a jump back to [target].
#define POLL_TO(target)              \
  do {                               \
    if (UNLIKELY(--vm->fuel == 0)) { \
      TRY(tl_refuel(vm));            \
      ENTER(target);                 \
    }                                \
  } while (0)

// The poll of an instruction that machine code may begin with: it is done from
// the start, as is the poll, which therefore counts once.
#define POLL_HERE()                  \
  do {                               \
    if (UNLIKELY(--vm->fuel == 0)) { \
      TRY(tl_refuel(vm));            \
      vm->fuel++;                    \
      ENTER(ins);                    \
    }                                \
  } while (0)

#ifdef TALLY_AUDIT
// In audit builds everything is recounted before each instruction.
#define AUDIT()        \
  do {                 \
    SAVE();            \
    tl_audit(vm, ins); \
  } while (0)
#else
#define AUDIT() (void)0
#endif

#if TL_THREADED
// An instruction's label, and going on to the next one: by a computed jump
// where the compiler has that, so that each handler has a jump of its own to be
// predicted; else through one switch.
#define OP(name) L_##name:
#define DISPATCH                             \
  do {                                       \
    AUDIT();                                 \
    __extension__({ goto *ways[ins->op]; }); \
  } while (0)
#else
#define OP(name) case TL_BC_##name:
#define DISPATCH goto dispatch
#endif

// An instruction that makes a slot independent (TL_SETTLING_OPCODES).
#define SETTLING(name, when, settle) \
  OP(name) {                         \
    if (when)                        \
      settle;                        \
    NEXT;                            \
  }

// A path that several instructions share.
#define WAY(name) \
  name:  // shared by instructions

// On to another instruction, or to the next one, after one of one word (NEXT)
// or of two (NEXT2).
#define GO_TO(target) \
  do {                \
    ins = (target);   \
    DISPATCH;         \
  } while (0)
#define NEXT GO_TO(ins + 1)
#define NEXT2 GO_TO(ins + 2)

// An instruction that handlers.c has: OP name, handler, words.
#define CALLED(name, handler, words)       \
  OP(name) {                               \
    TRY(tl_exec_##handler(vm, base, ins)); \
    GO_TO(ins + (words));                  \
  }

// Goes to the shared path for operands that are no two plain scalars: [op] is
// the elementwise operation that computes the same.
#define SLOW_BY(way, b, c, op) \
  do {                         \
    slow_b = (b);              \
    slow_c = (c);              \
    slow_op = (op);            \
    goto way;                  \
  } while (0)
#define SLOW(b, c, op) SLOW_BY(short_binary, b, c, op)

// Returns the argument with the most items: it decides whether a region is
// worth its set-up.
static const tl_slot *large_argument(const tl_slot *window, uint32_t count) {
  const tl_slot *most = window;
  for (uint32_t i = 1; i < count; i++)
    if (tl_items_of(&window[i]) > tl_items_of(most))
      most = &window[i];
  return most;
}

// Likewise of a call that may be in a region: the arguments, or what a function
// that can be read through has captured, if that is large, as a call is faster.
static const tl_slot *large_operand(const tl_slot *callee,
                                    const tl_slot *window, uint32_t count) {
  const tl_slot *most = count > 0 ? large_argument(window, count) : callee;
  if (!tl_is_kind(*callee, TL_KIND_CLOSURE) ||
      tl_function_prototype(*callee)->joins < TL_JOINS)
    return most;
  const tl_closure *closure = callee->pointer;
  for (uint32_t i = 0; i < closure->capture_count; i++)
    if (tl_items_of(&closure->captures[i]) >= TL_REGION_LARGE)
      most = &closure->captures[i];
  return most;
}

// Whether an operation on b and c goes the general way: it may be part of a
// region, or has a contract, which the short ways do not ask.
#define IS_GENERAL(b, c)         \
  (F->function->has_contracts || \
   tl_may_fuse(F->function, ins, tl_items_of(b) | tl_items_of(c)))

// Whether nothing is to be dropped where an operand of that mode was read.
#define STAYS(s, mode) ((mode) == TL_MODE_BORROW || !tl_is_owned(*(s)))

// A comparison that makes nothing and drops nothing: of scalars, of strings,
// and with none. Returns whether it was one of these.
static __attribute__((noinline)) bool compare_at_once(
    tl_op op, const tl_slot *b, unsigned b_mode, const tl_slot *c,
    unsigned c_mode, bool *truth) {
  if (((b->tag | c->tag) & TL_CLASS_HEAP) == 0 &&
      tl_scalar_compare(op, b, c, truth))
    return true;
  return STAYS(b, b_mode) && STAYS(c, c_mode) &&
         tl_compare_at_once(op, *b, *c, truth);
}

// target[index] = value of numbers: an item of an array, or one of a list that
// needs no count, nor did the old one. Part of the loop for SETEL alone.
__attribute__((always_inline)) static inline bool set_at_once(
    const tl_vm *vm, const tl_slot *target, const tl_slot *value,
    const tl_slot *index) {
  return tl_element_set(target, value, index) ||
         ((uint8_t)target->tag == TL_CLASS_LIST && !vm->no_reuse &&
          tl_item_set(target, value, index));
}
static __attribute__((noinline)) bool set_apart(const tl_vm *vm,
                                                const tl_slot *target,
                                                const tl_slot *value,
                                                const tl_slot *index) {
  return set_at_once(vm, target, value, index);
}

// a = b[…] where b is an array of numbers that has an integer for each axis;
// false also where b ends here and is to be dropped.
static bool get_item(tl_slot *a, const tl_slot *b, unsigned mode,
                     const tl_step *step, const tl_slot *parts) {
  char *item;
  return (mode == TL_MODE_BORROW || !tl_is_owned(*b)) &&
         tl_index_item_at(b->array, step, parts, &item) &&
         tl_element_load(a, tl_dtype_of(*b), item);
}

// Whether an index takes one item of its axis.
static inline bool takes_one(const tl_slot *s) {
  return tl_is_scalar(*s) && !tl_is_bool(*s);
}

// Where a region may begin with this instruction: tries it for the array s, and
// goes on behind the region if that ran. If it declined, nothing has changed
// and the instruction runs by itself.
#define ASK_REGION(s) ASK_REGION_UNLESS(s, false)

// The same but for where the instruction takes [one] item of the array: that is
// a number, however many there are.
#define ASK_REGION_UNLESS(s, one)                                              \
  do {                                                                         \
    SAVE();                                                                    \
    if (tl_may_fuse(F->function, ins, tl_items_of(s)) && !(one)) {             \
      const tl_ins *next_;                                                     \
      tl_region_status status_ =                                               \
          tl_region_run(vm, F->function, base, ins, (s)->array->size, &next_); \
      if (status_ == TL_REGION_DONE)                                           \
        GO_TO(next_);                                                          \
      if (UNLIKELY(status_ == TL_REGION_FAILED)) {                             \
        tl_drop_call(vm, base, ins);                                           \
        FAIL();                                                                \
      }                                                                        \
    }                                                                          \
  } while (0)

// Scalar arithmetic: floats first, then integers, which wrap. What is neither
// is perhaps arrays, and to be done with the next instruction.
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
    SLOW_BY(short_joined, b, c, slow);                      \
  }

// With a literal: in the constants an int64 is followed by the same number as a
// float (c[1]), so that a float needs no conversion.
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

// With a small integer in the instruction.
#define ARITH_I(name, op, slow)                                       \
  OP(name) {                                                          \
    const tl_slot *b = RB;                                            \
    if (LIKELY((uint8_t)b->tag == TL_CLASS_I64)) {                    \
      PUT_I64(RA, b->u op(uint64_t)(int64_t)(int16_t)ins->c, b->tag); \
      NEXT;                                                           \
    }                                                                 \
    if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) {                    \
      PUT_F64(RA, b->f op(int16_t) ins->c, b->tag);                   \
      NEXT;                                                           \
    }                                                                 \
    literal = tl_weak_int((int16_t)ins->c);                           \
    SLOW(b, &literal, slow);                                          \
  }

// A comparison of scalars that gives a bool. NaN compares as C does.
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

// Bitwise operators, of integers and of bools; the right operand is in C.
#define BITS(name, C, op, slow)                   \
  OP(name) {                                      \
    const tl_slot *b = RB, *c = (C);              \
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

// Shifts by 0 to 63; other amounts are defined by the elementwise operation.
#define SHIFT(name, C, shifted, slow)                      \
  OP(name) {                                               \
    const tl_slot *b = RB, *c = (C);                       \
    if (LIKELY(BOTH(b, c) == TL_CLASS_I64 && c->u < 64)) { \
      PUT_I64(RA, shifted, b->tag & c->tag);               \
      NEXT;                                                \
    }                                                      \
    SLOW(b, c, slow);                                      \
  }

// What a function does at once for most scalars b and c, and then returns true.
#define AT_ONCE(name, C, done, slow) \
  OP(name) {                         \
    const tl_slot *b = RB, *c = (C); \
    if (LIKELY(done))                \
      NEXT;                          \
    SLOW(b, c, slow);                \
  }

// Jumps by the 16 bits of c, or by the 32 bits of b and c, counted from the
// next word.
#define SHORT_TARGET (ins + (ptrdiff_t)(int16_t)ins->c + 1)
#define LONG_TARGET (ins + (ptrdiff_t)(int32_t)tl_ins_extra(*ins) + 1)
#define JUMP_SHORT() GO_TO(SHORT_TARGET)
#define JUMP_LONG() GO_TO(LONG_TARGET)

// Jumps if the condition holds, else goes on. Backward jumps close loops, so
// they poll.
#define JUMP_WHEN(condition)   \
  do {                         \
    if (condition) {           \
      if ((int16_t)ins->c < 0) \
        POLL_TO(SHORT_TARGET); \
      JUMP_SHORT();            \
    }                          \
    NEXT;                      \
  } while (0)

// Jumps where the bool in a is [wanted]; what is no bool fails.
#define JUMP_ON(name, wanted)                       \
  OP(name) {                                        \
    const tl_slot *a = RA;                          \
    bool truth = a->i != 0;                         \
    if (UNLIKELY((uint8_t)a->tag != TL_CLASS_BOOL)) \
      TRY(tl_do_truth(vm, *a, &truth));             \
    if (truth == (wanted)) {                        \
      if ((int32_t)tl_ins_extra(*ins) < 0)          \
        POLL_TO(LONG_TARGET);                       \
      JUMP_LONG();                                  \
    }                                               \
    NEXT;                                           \
  }

// Compare and jump; [negate] is the jump on `not (a op b)`, which for NaN
// differs from the opposite comparison. Backward ones poll.
#define JUMP_IF(name, op, slow, negate, right) \
  OP(name) {                                   \
    const tl_slot *b = RA, *c = (right);       \
    unsigned both = BOTH(b, c);                \
    if (LIKELY(both == TL_CLASS_I64))          \
      JUMP_WHEN((b->i op c->i) != (negate));   \
    if (LIKELY(both == TL_CLASS_F64))          \
      JUMP_WHEN((b->f op c->f) != (negate));   \
    slow_negate = (negate);                    \
    SLOW_BY(compare, b, c, slow);              \
  }

// The same with a literal: in the constants an int64 and its float stand side
// by side, as do a string or none and NaN, which no float equals either.
#define JUMP_IF_K(name, op, slow, negate)        \
  OP(name) {                                     \
    const tl_slot *b = RA, *c = KB;              \
    if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) \
      JUMP_WHEN((b->f op c[1].f) != (negate));   \
    if (LIKELY(BOTH(b, c) == TL_CLASS_I64))      \
      JUMP_WHEN((b->i op c->i) != (negate));     \
    slow_negate = (negate);                      \
    SLOW_BY(compare, b, c, slow);                \
  }

// x ** 2, which is most powers: sets a to the product, whose bits are those of
// pow. Returns false for everything else.
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

// Floor division of integers, or its remainder, which has the divisor's sign.
// Returns false for other operands, and for divisors 0 (an error) and -1 (whose
// quotient may overflow).
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

// The next iteration of a range: false behind the last. The hidden slots are
// the next value, iterations left, and step. Counting the iterations down
// cannot overflow, which comparing with the end could.
__attribute__((always_inline)) static inline bool next_in_range(
    tl_slot *hidden, tl_slot *variable) {
  if (__builtin_expect(--hidden[1].u == 0, 0))
    return false;
  int64_t i = (int64_t)(hidden->u + hidden[2].u);
  hidden->i = i;
  PUT_I64(variable, i, TL_TAG_I64 | TL_WEAK);
  return true;
}

// Makes the record behind [frame] that of a call of [callee], whose [count]
// arguments are its first slots from [base] on. False after tl_fail: there is
// no room. Apart, for calls that are rare.
static __attribute__((noinline)) bool push_call(tl_vm *vm, tl_frame *frame,
                                                tl_slot *base,
                                                tl_prototype *callee,
                                                uint32_t count) {
  if (!tl_slots_reserve(vm, base + callee->slot_count, frame + 1))
    return false;
  frame[1].base = base;
  frame[1].function = callee;
  frame[1].closure = NULL;
  frame[1].flags = 0;
#ifdef TALLY_AUDIT
  for (uint32_t i = count; i < callee->slot_count; i++) base[i] = tl_unset();
#else
  (void)count;
#endif
  return true;
}
