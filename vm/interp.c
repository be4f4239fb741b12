// The dispatch loop. Scalars are computed here; everything else is called.
//
// A handler reads its fields from memory (ins->a …), which are slot numbers
// times 16. A destination is dead when it is written. Before anything that may
// fail, SAVE stores what the unwinder and nested calls need. What the loop
// keeps in registers (ins, R, K, F, fuel) never has its address taken.

#include "vm/interp.h"

#include <math.h>
#include <string.h>

#include "vm/element.h"
#include "vm/poll.h"
#include "vm/record.h"
#include "vm/region.h"
#include "vm/short.h"
#include "vm/slots.h"

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
// elsewhere.
#if defined(__GNUC__) && !defined(TALLY_SWITCH)
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

#define POLL()                   \
  do {                           \
    if (UNLIKELY(--fuel <= 0)) { \
      SAVE();                    \
      if (!tl_refuel(vm))        \
        FAIL();                  \
      fuel = vm->fuel;           \
    }                            \
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

#ifdef TL_COUNTING
static void count_operand(tl_vm *vm, const tl_slot *s, unsigned mode) {
  if (!tl_is_heap(*s))
    return;
  bool moves =
      mode == TL_MODE_CONSUME || (mode == TL_MODE_EITHER && tl_is_owned(*s));
  vm->stats.refs_virtual += mode != TL_MODE_EITHER;
  vm->stats.refs_embedded += mode == TL_MODE_EITHER;
  vm->stats.moves += moves;
  vm->stats.borrows += !moves;
}

// The operands in the instruction's own fields; those of a window are counted
// where they are moved there.
static void count_ins(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  vm->stats.instructions++;
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_A:
    case TL_FORMAT_XA:
    case TL_FORMAT_AJUMP:
    case TL_FORMAT_AKJUMP:
      count_operand(vm, RA, MODE_A);
      break;
    case TL_FORMAT_ABC:
    case TL_FORMAT_ABCX:
    case TL_FORMAT_ABCD:
      if (ins->op != TL_BC_PUSH)
        count_operand(vm, RC, MODE_C);
      count_operand(vm, RB, MODE_B);
      break;
    case TL_FORMAT_AB:
    case TL_FORMAT_ABI:
    case TL_FORMAT_ABK:
    case TL_FORMAT_ABX:
    case TL_FORMAT_BW:
    case TL_FORMAT_TVW:
      count_operand(vm, RB, MODE_B);
      break;
    case TL_FORMAT_ABJUMP:
      count_operand(vm, RA, MODE_A);
      count_operand(vm, RB, MODE_B);
      break;
    default:
      break;
  }
}

// A test wants this instruction to fail. Calls that give their window back
// themselves have not run yet.
static bool is_told(tl_vm *vm, tl_slot *R, const tl_ins *ins) {
  if (tl_opcodes[ins->op].fails == TL_NEVER || --vm->fail_in != 0)
    return false;
  tl_slot *window = RA + 1;
  uint32_t count = ins->op == TL_BC_CALLB  ? ins->b
                   : ins->op == TL_BC_CALL ? ins->c
                                           : 0;
  bool keeps = ins->op == TL_BC_CALLB && ins->c != 0;
  if (keeps)
    tl_copy_slot(SLOT(ins[1].a), window);
  for (uint32_t i = keeps; i < count; i++) tl_drop(vm, window[i]);
  tl_fail(vm, TALLY_ERR_ASSERT, "told to fail");
  return true;
}
#endif

#if TL_THREADED
#define OP(name) L_##name:  // an instruction
#define DISPATCH                               \
  do {                                         \
    AUDIT();                                   \
    COUNT();                                   \
    __extension__({ goto *labels[ins->op]; }); \
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

// Not plain scalars: to the shared ways at the loop's end.
#define SLOW(b, c, op) \
  do {                 \
    slow_b = (b);      \
    slow_c = (c);      \
    slow_op = (op);    \
    goto short_binary; \
  } while (0)

// A view of a large array: perhaps the begin of a region that runs as one.
#define ASK_REGION(s)                                               \
  do {                                                              \
    SAVE();                                                         \
    if (tl_is_array(*(s)) && (s)->array->size >= TL_REGION_ITEMS && \
        F->function->region_count > 0) {                            \
      const tl_ins *next_;                                          \
      tl_region_status status_ =                                    \
          tl_region_run(vm, F->function, R, ins, &next_);           \
      if (status_ == TL_REGION_DONE) {                              \
        ins = next_;                                                \
        DISPATCH;                                                   \
      }                                                             \
      if (UNLIKELY(status_ == TL_REGION_FAILED))                    \
        FAIL();                                                     \
    }                                                               \
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

#define JUMP_SHORT() (ins += (int16_t)ins->c)
#define JUMP_LONG() (ins += (int32_t)tl_ins_extra(*ins))

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

static const tl_index_item value_items[2] = {{TL_ITEM_VALUE, 0},
                                             {TL_ITEM_VALUE, 0}};

// record[key] = value where the slot is the record's only owner and the value
// need not be kept first: the key is found once and nothing is built.
static inline bool is_plain_put(const tl_vm *vm, const tl_slot *target,
                                const tl_slot *value, const tl_slot *key,
                                unsigned modes) {
  return tl_is_record(*target) && tl_is_string(*key) &&
         (modes >> 4 & 3u) != TL_MODE_BORROW && tl_is_unique(*target) &&
         !vm->no_reuse &&
         (!tl_is_heap(*value) ||
          (tl_is_owned(*value) && (modes & 3u) != TL_MODE_BORROW));
}

static bool set_slow(tl_vm *vm, tl_slot *target, const tl_slot *value,
                     uint16_t count, const tl_slot *i, const tl_slot *j,
                     unsigned modes) {
  if (count == 1 && !vm->no_reuse && tl_item_set(target, value, i))
    return true;
  if (count == 1 && is_plain_put(vm, target, value, i, modes)) {
    tl_slot item = *value, key = *i;
    if ((modes >> 2 & 3u) == TL_MODE_BORROW)
      key = tl_borrow(key);
    if (!tl_record_set_key(vm, &target->record, &key, &item))
      return false;
    tl_drop(vm, key);
    return true;
  }
  tl_step step = {.item_count = count, .items = value_items};
  tl_path path = {.step_count = 1, .part_count = count, .steps = &step};
  tl_slot parts[2] = {*i, *j};
  if ((modes >> 2 & 3u) == TL_MODE_BORROW)
    parts[0] = tl_borrow(parts[0]);
  if ((modes >> 6 & 3u) == TL_MODE_BORROW)
    parts[1] = tl_borrow(parts[1]);
  if (!tl_do_setpath(vm, target, value, &path, parts, modes))
    return false;
  tl_drop(vm, parts[0]);
  if (count > 1)
    tl_drop(vm, parts[1]);
  return true;
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

// An instruction that takes its window over gives it back where it fails.
// Calls of what may be no script function have done so themselves.
static void drop_window(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  if (ins->op == TL_BC_CALL || ins->op == TL_BC_CALLB)
    return;
  tl_slot *window = base + ins->a / 16u + 1;
  uint32_t count = 0;
  switch ((tl_format)tl_opcodes[ins->op].format) {
    case TL_FORMAT_W:
      count = ins->b;
      break;
    case TL_FORMAT_BW:
      count = ins->c;
      break;
    case TL_FORMAT_TVW:
      window = base + ins->c / 16u;
      count = ins[1].a;
      break;
    default:
      break;
  }
  for (uint32_t i = 0; i < count; i++) tl_drop(vm, window[i]);
}

bool TL_INTERPRET(tl_vm *vm) {
#if TL_THREADED
  static const void *const labels[] = {
#define OP_(NAME, d, r0, r1, r2, rest, fails, format) __extension__ &&L_##NAME,
      TL_OPCODES(OP_)
#undef OP_
  };
#endif
  tl_frame *F = vm->frame;
  tl_slot *R = F->base;
  const tl_slot *K = F->function->constants;
  const tl_ins *ins = F->pc;
  int32_t fuel = vm->fuel;
  // Of an instruction on its way to a shared slow way.
  const tl_slot *slow_b, *slow_c;
  tl_op slow_op;
  bool slow_negate;
#ifndef TL_COUNTING
  const tl_slot *slow_d;
  tl_op slow_then;
  int slow_side;
#endif
  tl_slot literal;

#if TL_THREADED
  DISPATCH;
#else
dispatch:
  AUDIT();
  COUNT();
  switch ((tl_opcode)ins->op)
#endif
  {
    OP(COPY)
    OP(MOV) {
      tl_copy_slot(RA, RB);
      NEXT;
    }
    OP(MOVB) {
      const tl_slot *b = RB;
      tl_slot *a = RA;
      uint64_t tag = b->tag & ~TL_OWNED, payload = b->u;
      a->tag = tag;
      a->u = payload;
      NEXT;
    }
    OP(LOADK) {
      tl_copy_slot(RA, &K[tl_ins_extra(*ins)]);
      NEXT;
    }
    OP(LOADI) {
      PUT_I64(RA, (int32_t)tl_ins_extra(*ins), TL_TAG_I64 | TL_WEAK);
      NEXT;
    }
    OP(GETG) {
      uint32_t index = tl_ins_extra(*ins);
      const tl_module *module = F->function->unit->module;
      const tl_slot *b = &module->variables[index];
      if (UNLIKELY(tl_is_unset(*b))) {
        SAVE();
        tl_fail(vm, TALLY_ERR_NAME, "%s is not assigned yet",
                module->variable_names[index]->text);
        FAIL();
      }
      tl_slot *a = RA;
      uint64_t tag = b->tag & ~TL_OWNED, payload = b->u;
      a->tag = tag;
      a->u = payload;
      NEXT;
    }
    OP(SETG) {
      tl_slot *g = &F->function->unit->module->variables[tl_ins_extra(*ins)];
      SAVE();
      tl_slot value = *RA;
      if (MODE_A == TL_MODE_BORROW)
        value = tl_borrow(value);
      value = tl_escape(vm, &value, TL_CAUSE_GLOBAL);
      tl_slot old = *g;
      tl_copy_slot(g, &value);
      if (tl_is_owned(old))
        tl_drop(vm, old);
      NEXT;
    }
    OP(TAKEG) {
      uint32_t index = tl_ins_extra(*ins);
      const tl_module *module = F->function->unit->module;
      tl_slot *g = &module->variables[index];
      if (UNLIKELY(tl_is_unset(*g))) {
        SAVE();
        tl_fail(vm, TALLY_ERR_NAME, "%s is not assigned yet",
                module->variable_names[index]->text);
        FAIL();
      }
      tl_copy_slot(RA, g);
      *g = tl_unset();
      NEXT;
    }
    OP(GETC) {
      uint32_t extra = tl_ins_extra(*ins), index = extra & 0x7fffffffu;
      const tl_slot *b = &F->closure->captures[index];
      if (UNLIKELY(tl_is_unset(*b)) && (extra >> 31) == 0) {
        SAVE();
        tl_fail(vm, TALLY_ERR_NAME,
                "%s was not assigned yet when this function was made",
                F->function->capture_names[index]->text);
        FAIL();
      }
      tl_slot *a = RA;
      uint64_t tag = b->tag & ~TL_OWNED, payload = b->u;
      a->tag = tag;
      a->u = payload;
      NEXT;
    }
    OP(SELF) {
      tl_slot *a = RA;
      if (F->closure == NULL) {
        a->pointer = F->function;
        a->tag = TL_TAG_FUNCTION;
      } else {
        a->pointer = F->closure;
        a->tag = TL_TAG_CLOSURE | (uint64_t)tl_ins_extra(*ins) << 32;
      }
      NEXT;
    }
    OP(MEMBER) {
      tl_slot member = *RB;
      if (MODE_B == TL_MODE_BORROW)
        member = tl_borrow(member);
      member.tag &= ~(UINT64_C(0xffff) << 32);
      member.tag |= (uint64_t)EXTRA() << 32;
      tl_copy_slot(RA, &member);
      NEXT2;
    }
    OP(CHECKSET) {
      if (UNLIKELY(tl_is_unset(*RA))) {
        SAVE();
        tl_fail(vm, TALLY_ERR_NAME, "%s is not assigned yet",
                F->function->unit->names[tl_ins_extra(*ins)]->text);
        FAIL();
      }
      NEXT;
    }

    // --- ownership
    OP(DROP) {
      tl_slot *a = RA;
      if (tl_is_owned(*a)) {
        SAVE();
        tl_drop(vm, *a);
        a->tag &= ~TL_OWNED;
      }
      NEXT;
    }
    OP(SETTLE) {
      tl_do_settle(RA, RB);
      NEXT;
    }
    OP(KEEP) {
      tl_do_keep(vm, RA, RB);
      NEXT;
    }
    OP(LEAVE) {
      tl_do_leave(vm, RA, RB);
      NEXT;
    }
    OP(HOLD) {
      tl_do_hold(vm, RA, RB);
      NEXT;
    }
    OP(DETACH) {
      TRY(tl_do_detach(vm, RA, RB));
      NEXT;
    }
    OP(OWN) {
      tl_do_own(vm, RA);
      NEXT;
    }

    // --- operators
    ARITH(ADD, +, TL_OP_ADD)
    ARITH(SUB, -, TL_OP_SUBTRACT)
    ARITH(MUL, *, TL_OP_MULTIPLY)
    OP(DIV) {
      const tl_slot *b = RB, *c = RC;
      if (LIKELY(BOTH(b, c) == TL_CLASS_F64)) {
        PUT_F64(RA, b->f / c->f, b->tag & c->tag);
        NEXT;
      }
      if (LIKELY((BOTH(b, c) & ~MIXED) == 0)) {
        PUT_F64(RA, AS_F64(b) / AS_F64(c), MIXED_TAG(b, c));
        NEXT;
      }
      SLOW(b, c, TL_OP_DIVIDE);
    }
    OP(FLOORDIV) {
      if (LIKELY(divide_ints(RA, RB, RC, false)))
        NEXT;
      SLOW(RB, RC, TL_OP_FLOOR_DIVIDE);
    }
    OP(MOD) {
      if (LIKELY(divide_ints(RA, RB, RC, true)))
        NEXT;
      SLOW(RB, RC, TL_OP_REMAINDER);
    }
    OP(POW) {
      if (pow_fast(RA, RB, RC))
        NEXT;
      SLOW(RB, RC, TL_OP_POW);
    }
    BITS(BITAND, &, TL_OP_BITWISE_AND)
    BITS(BITOR, |, TL_OP_BITWISE_OR)
    BITS(BITXOR, ^, TL_OP_BITWISE_XOR)
    SHIFT(SHL, RC, b->u << c->i, TL_OP_LEFT_SHIFT)
    SHIFT(SHR, RC, b->i >> c->i, TL_OP_RIGHT_SHIFT)
    COMPARE(EQ, ==, TL_OP_EQUAL)
    COMPARE(NE, !=, TL_OP_NOT_EQUAL)
    COMPARE(LT, <, TL_OP_LESS)
    COMPARE(LE, <=, TL_OP_LESS_EQUAL)
    COMPARE(GT, >, TL_OP_GREATER)
    COMPARE(GE, >=, TL_OP_GREATER_EQUAL)
    OP(MATMUL) {
      TRY(tl_do_matmul(vm, RA, RB, RC, ins->modes));
      NEXT;
    }
    OP(IN) {
      bool found;
      TRY(tl_do_in(vm, RB, RC, ins->modes, &found));
      PUT_BOOL(RA, found);
      NEXT;
    }
    OP(NOTIN) {
      bool found;
      TRY(tl_do_in(vm, RB, RC, ins->modes, &found));
      PUT_BOOL(RA, !found);
      NEXT;
    }
    OP(ELEM1) {
      uint32_t op = EXTRA();
      const tl_slot *b = RB;
      if ((uint8_t)b->tag == TL_CLASS_F64) {
        if (op == TL_OP_NEGATIVE) {
          PUT_F64(RA, -b->f, b->tag);
          NEXT2;
        }
        if (op == TL_OP_SQRT) {
          PUT_F64(RA, sqrt(b->f), b->tag);
          NEXT2;
        }
      } else if ((uint8_t)b->tag == TL_CLASS_I64 && op == TL_OP_NEGATIVE) {
        PUT_I64(RA, 0 - b->u, b->tag);
        NEXT2;
      }
      slow_b = b;
      slow_op = (tl_op)op;
      goto short_unary;
    }
    OP(ELEM2) {
      SLOW(RB, RC, (tl_op)EXTRA());
    }
    OP(ELEM3) {
      goto elementwise;
    }
    OP(NOT) {
      const tl_slot *b = RB;
      if (LIKELY((uint8_t)b->tag == TL_CLASS_BOOL)) {
        PUT_BOOL(RA, b->i == 0);
        NEXT;
      }
      bool truth;
      TRY(tl_do_truth(vm, *b, MODE_B, &truth));
      PUT_BOOL(RA, !truth);
      NEXT;
    }
    OP(ASBOOL) {
      bool truth;
      TRY(tl_do_truth(vm, *RB, MODE_B, &truth));
      PUT_BOOL(RA, truth);
      NEXT;
    }
    OP(ADDI) {
      const tl_slot *b = RB;
      if (LIKELY((uint8_t)b->tag == TL_CLASS_I64)) {
        PUT_I64(RA, b->u + (uint64_t)(int64_t)(int16_t)ins->c, b->tag);
        NEXT;
      }
      if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) {
        PUT_F64(RA, b->f + (int16_t)ins->c, b->tag);
        NEXT;
      }
      literal = tl_weak_int((int16_t)ins->c);
      SLOW(b, &literal, TL_OP_ADD);
    }
    OP(SUBI) {
      const tl_slot *b = RB;
      if (LIKELY((uint8_t)b->tag == TL_CLASS_I64)) {
        PUT_I64(RA, b->u - (uint64_t)(int64_t)(int16_t)ins->c, b->tag);
        NEXT;
      }
      if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) {
        PUT_F64(RA, b->f - (int16_t)ins->c, b->tag);
        NEXT;
      }
      literal = tl_weak_int((int16_t)ins->c);
      SLOW(b, &literal, TL_OP_SUBTRACT);
    }
    ARITH_K(ADDK, +, TL_OP_ADD)
    ARITH_K(SUBK, -, TL_OP_SUBTRACT)
    ARITH_K(MULK, *, TL_OP_MULTIPLY)
    OP(DIVK) {
      const tl_slot *b = RB, *c = KC;
      if (LIKELY((uint8_t)b->tag == TL_CLASS_F64)) {
        PUT_F64(RA, b->f / c[1].f, b->tag & c[1].tag);
        NEXT;
      }
      if (LIKELY((uint8_t)b->tag == TL_CLASS_I64)) {
        PUT_F64(RA, (double)b->i / c[1].f, MIXED_TAG(b, c));
        NEXT;
      }
      SLOW(b, c, TL_OP_DIVIDE);
    }
    OP(FLOORDIVK) {
      if (LIKELY(divide_ints(RA, RB, KC, false)))
        NEXT;
      SLOW(RB, KC, TL_OP_FLOOR_DIVIDE);
    }
    OP(MODK) {
      if (LIKELY(divide_ints(RA, RB, KC, true)))
        NEXT;
      SLOW(RB, KC, TL_OP_REMAINDER);
    }
    OP(POWK) {
      if (pow_fast(RA, RB, KC))
        NEXT;
      SLOW(RB, KC, TL_OP_POW);
    }
    BITS_K(BITANDK, &, TL_OP_BITWISE_AND)
    BITS_K(BITORK, |, TL_OP_BITWISE_OR)
    BITS_K(BITXORK, ^, TL_OP_BITWISE_XOR)
    SHIFT(SHLK, KC, b->u << c->i, TL_OP_LEFT_SHIFT)
    SHIFT(SHRK, KC, b->i >> c->i, TL_OP_RIGHT_SHIFT)
    PAIRS(ADD, +, TL_OP_ADD)
    PAIRS(SUB, -, TL_OP_SUBTRACT)
    PAIRS(MUL, *, TL_OP_MULTIPLY)
    OP(RANGE) {
      const tl_slot *d = SLOT(ins[1].a);
      TRY(tl_do_range(vm, RA, RB, RC, d));
      NEXT2;
    }

    // --- building
    OP(LIST) {
      tl_slot *a = RA;
      TRY(tl_do_list(vm, ins->b, a + 1, a));
      NEXT2;
    }
    OP(RECORD) {
      tl_slot *a = RA;
      const struct tl_keys *keys = &F->function->unit->keys[EXTRA()];
      TRY(tl_do_record(vm, keys, a + 1, a));
      NEXT2;
    }
    OP(STACK) {
      tl_slot *a = RA;
      TRY(tl_do_stack(vm, ins->b, a + 1, a));
      NEXT2;
    }
    OP(STACKLIST) {
      tl_slot list = *RB, result;
      TRY(tl_do_stack(vm, (uint32_t)list.list->length, list.list->items,
                      &result));
      if (MODE_B == TL_MODE_BORROW)
        list = tl_borrow(list);
      tl_drop(vm, list);
      tl_copy_slot(RA, &result);
      NEXT;
    }
    OP(PUSH) {
      TRY(tl_do_push(vm, RA, RB, ins->modes));
      NEXT;
    }
    OP(FORMAT) {
      const tl_string *spec = F->function->unit->names[EXTRA()];
      TRY(tl_do_format(vm, RA, RB, MODE_B, spec));
      NEXT2;
    }
    OP(JOIN) {
      tl_slot *a = RA;
      TRY(tl_do_join(vm, ins->b, a + 1, a));
      NEXT2;
    }
    OP(CLOSURE) {
      tl_slot *a = RA;
      const tl_group *group = &F->function->unit->groups[EXTRA()];
      TRY(tl_do_closure(vm, group, ins->b, a + 1, a));
      NEXT2;
    }

    // --- places
    OP(GETEL) {
      if (MODE_B == TL_MODE_BORROW && LIKELY(tl_element_get(RA, RB, RC)))
        NEXT;
      ASK_REGION(RB);
      TRY(tl_do_getel(vm, RA, RB, RC, ins->modes));
      NEXT;
    }
    OP(GETEL2) {
      const tl_slot *d = SLOT(ins[1].a);
      if (MODE_B == TL_MODE_BORROW && LIKELY(tl_element_get2(RA, RB, RC, d))) {
        NEXT2;
      }
      ASK_REGION(RB);
      TRY(tl_do_getel2(vm, RA, RB, RC, d, ins->modes));
      NEXT2;
    }
    OP(INDEX) {
      tl_slot *a = RA;
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      ASK_REGION(RB);
      TRY(tl_do_index(vm, RB, MODE_B, path, a + 1, a));
      NEXT2;
    }
    OP(GETF) {
      tl_string *name = F->function->unit->names[EXTRA()];
      ASK_REGION(RB);
      TRY(tl_do_getf(vm, RA, RB, MODE_B, name));
      NEXT2;
    }
    OP(FIELDS) {
      const struct tl_keys *keys = &F->function->unit->keys[EXTRA()];
      TRY(tl_do_fields(vm, RA, RB, MODE_B, keys));
      NEXT2;
    }
    OP(TAKEEL) {
      if (LIKELY(tl_element_peek(RA, RB, RC)))
        NEXT2;
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      TRY(tl_do_take(vm, RB, MODE_B, path, RC, RA));
      NEXT2;
    }
    OP(TAKE) {
      tl_slot *a = RA;
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      uint32_t count = ins->c;
      TRY(tl_do_take(vm, RB, MODE_B, path, a + 1, a));
      for (uint32_t i = 0; i < count; i++) tl_drop(vm, a[1 + i]);
      NEXT2;
    }
    OP(UNTAKE) {
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      tl_slot *parts = RC;
      uint32_t count = ins[1].a;
      SAVE();
      tl_do_untake(vm, RA, RB, path, parts, ins->modes);
      for (uint32_t i = 0; i < count; i++) tl_drop(vm, parts[i]);
      NEXT2;
    }
    OP(SETEL) {
      if (LIKELY(tl_element_set(RA, RB, RC)))
        NEXT;
      TRY(set_slow(vm, RA, RB, 1, RC, RC, ins->modes & 0x3fu));
      NEXT;
    }
    OP(SETEL2) {
      const tl_slot *d = SLOT(ins[1].a);
      if (LIKELY(tl_element_set2(RA, RB, RC, d)))
        NEXT2;
      TRY(set_slow(vm, RA, RB, 2, RC, d, ins->modes));
      NEXT2;
    }
    OP(SETPATH) {
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      tl_slot *parts = RC;
      uint32_t count = ins[1].a;
      TRY(tl_do_setpath(vm, RA, RB, path, parts, ins->modes));
      for (uint32_t i = 0; i < count; i++) tl_drop(vm, parts[i]);
      NEXT2;
    }
    OP(UNPACK) {
      uint32_t count = EXTRA();
      TRY(tl_do_unpack(vm, RA, RB, MODE_B, count));
      NEXT2;
    }

    // --- calls
    OP(CALLK) {
      tl_prototype *callee = K[EXTRA()].pointer;
      POLL();
      F->pc = ins;
      tl_slot *base = RA + 1;
      if (UNLIKELY(!tl_slots_reserve(vm, base + callee->slot_count, F + 1))) {
        vm->frame = F;
        FAIL();
      }
      F++;
      F->base = R = base;
      F->function = callee;
      F->closure = NULL;
      F->flags = 0;
      K = callee->constants;
#ifdef TALLY_AUDIT
      for (uint32_t i = ins->b; i < callee->slot_count; i++) R[i] = tl_unset();
#endif
      ins = callee->code;
      DISPATCH;
    }
    OP(CALLB) {
      tl_slot *a = RA;
      const tl_builtin *builtin = K[EXTRA()].pointer;
      if (builtin->flags & TL_BEGINS)
        ASK_REGION(a + 1);
      SAVE();
      vm->fuel = fuel;
      tl_slot result = tl_none();
      bool keeps = ins->c != 0;
      if (UNLIKELY(!tl_do_builtin(
              vm, builtin, TL_VIEWS | TL_RETURNS | (keeps ? TL_KEEPS : 0),
              ins->b, a + 1, &result))) {
        if (keeps)
          tl_copy_slot(SLOT(ins[1].a), a + 1);
        FAIL();
      }
      fuel = vm->fuel;
      tl_copy_slot(a, &result);
      NEXT2;
    }
    OP(CALL) {
      tl_slot *a = RA;
      tl_slot callee = *RB;
      uint32_t shape = EXTRA();
      if (UNLIKELY(--fuel <= 0)) {
        SAVE();
        if (!tl_refuel(vm)) {
          for (uint32_t i = 0; i < ins->c; i++) tl_drop(vm, a[1 + i]);
          FAIL();
        }
        fuel = vm->fuel;
      }
      SAVE();
      vm->fuel = fuel;
      bool pushed = false;
      tl_slot result = tl_none();
      if (UNLIKELY(!tl_do_call(
              vm, callee, shape == 0 ? NULL : &F->function->unit->shapes[shape],
              ins->c, a + 1, &pushed, &result))) {
        FAIL();
      }
      fuel = vm->fuel;
      if (pushed) {
        F = vm->frame;
        R = F->base;
        K = F->function->constants;
        ins = F->pc;
        DISPATCH;
      }
      tl_copy_slot(a, &result);
      NEXT2;
    }
    OP(CHECKTYPES) {
      TRY(tl_do_check_types(vm, F->function, R));
      NEXT;
    }
    OP(IMPORT) {
      const tl_string *spec = F->function->unit->names[tl_ins_extra(*ins)];
      SAVE();
      vm->fuel = fuel;
      tl_slot module;
      if (!tl_module_import(vm, F->function->unit->module, spec, &module)) {
        FAIL();
      }
      fuel = vm->fuel;
      tl_copy_slot(RA, &module);
      NEXT;
    }
    OP(SHOW) {
      tl_slot value = *RA;
      if (MODE_A == TL_MODE_BORROW)
        value = tl_borrow(value);
      TRY(tl_do_show(vm, value));
      tl_drop(vm, value);
      NEXT;
    }
    OP(CATCH) {
      tl_slot *a = RA;
      *a = tl_none();
      if (tl_ins_extra(*ins) == 0) {
        tl_copy_slot(a, &vm->caught);  // made while unwinding
        vm->caught = tl_none();
      }
      NEXT;
    }

    // --- ends of blocks
    OP(JMP) {
      JUMP_LONG();
      NEXT;
    }
    OP(LOOP) {
      POLL();
      JUMP_LONG();
      NEXT;
    }
    OP(JT) {
      const tl_slot *a = RA;
      bool truth;
      if (LIKELY((uint8_t)a->tag == TL_CLASS_BOOL)) {
        truth = a->i != 0;
      } else {
        TRY(tl_do_truth(vm, *a, MODE_A, &truth));
      }
      if (truth) {
        if ((int32_t)tl_ins_extra(*ins) < 0)
          POLL();
        JUMP_LONG();
      }
      NEXT;
    }
    OP(JF) {
      const tl_slot *a = RA;
      bool truth;
      if (LIKELY((uint8_t)a->tag == TL_CLASS_BOOL)) {
        truth = a->i != 0;
      } else {
        TRY(tl_do_truth(vm, *a, MODE_A, &truth));
      }
      if (!truth) {
        if ((int32_t)tl_ins_extra(*ins) < 0)
          POLL();
        JUMP_LONG();
      }
      NEXT;
    }
    OP(JSET) {
      if (!tl_is_unset(*RA))
        JUMP_LONG();
      NEXT;
    }
    JUMP_IF(JLT, <, TL_OP_LESS, false, RB)
    JUMP_IF(JLE, <=, TL_OP_LESS_EQUAL, false, RB)
    JUMP_IF(JEQ, ==, TL_OP_EQUAL, false, RB)
    JUMP_IF(JNE, !=, TL_OP_NOT_EQUAL, false, RB)
    JUMP_IF(JNLT, <, TL_OP_LESS, true, RB)
    JUMP_IF(JNLE, <=, TL_OP_LESS_EQUAL, true, RB)
    JUMP_IF_K(JLTK, <, TL_OP_LESS, false)
    JUMP_IF_K(JLEK, <=, TL_OP_LESS_EQUAL, false)
    JUMP_IF_K(JGTK, >, TL_OP_GREATER, false)
    JUMP_IF_K(JGEK, >=, TL_OP_GREATER_EQUAL, false)
    JUMP_IF_K(JEQK, ==, TL_OP_EQUAL, false)
    JUMP_IF_K(JNEK, !=, TL_OP_NOT_EQUAL, false)
    JUMP_IF_K(JNLTK, <, TL_OP_LESS, true)
    JUMP_IF_K(JNLEK, <=, TL_OP_LESS_EQUAL, true)
    JUMP_IF_K(JNGTK, >, TL_OP_GREATER, true)
    JUMP_IF_K(JNGEK, >=, TL_OP_GREATER_EQUAL, true)
    OP(FORPREP) {
      tl_slot *a = RA;
      bool any;
      TRY(tl_do_forprep(vm, a, &any));
      if (any) {
        PUT_I64(RB, a->i, TL_TAG_I64 | TL_WEAK);
      } else {
        JUMP_SHORT();
      }
      NEXT;
    }
    OP(FORR) {
      // next, turns left, step: counting down cannot overflow.
      tl_slot *a = RA;
      POLL();
      if (LIKELY(--a[1].i > 0)) {
        int64_t i = (int64_t)(a->u + a[2].u);
        a->i = i;
        PUT_I64(RB, i, TL_TAG_I64 | TL_WEAK);
        JUMP_SHORT();
      }
      NEXT;
    }
    OP(FORVAR) {
      tl_copy_slot(RA, SLOT(ins->b));
      NEXT;
    }
    OP(MORE) {
      tl_slot *a = RA;
      bool more;
      POLL();
      if ((uint8_t)a->tag == TL_CLASS_ARRAY && TL_RANK(a->tag) == 1) {
        more = a[1].i < a->array->dims[0];
      } else {
        TRY(tl_do_more(vm, a, a + 1, &more));
      }
      if (more)
        JUMP_SHORT();
      NEXT;
    }
    OP(NEXT) {
      tl_slot *b = RB;
      uint32_t what = EXTRA();
      // Only a list's items are taken out of a container that dies.
      if (what != TL_NEXT_PAIR &&
          ((uint8_t)b->tag == TL_CLASS_ARRAY || MODE_B == TL_MODE_BORROW ||
           !tl_is_owned(*b)) &&
          tl_element_get(RA, b, b + 1)) {
        b[1].i++;
        NEXT2;
      }
      TRY(tl_do_next(vm, RA, b, b + 1, MODE_B, what));
      NEXT2;
    }
    OP(RET) {
      const tl_slot *a = RA;
      uint64_t tag = a->tag, payload = a->u;
      if (MODE_A == TL_MODE_BORROW)
        tag &= ~TL_OWNED;
      if (UNLIKELY(F->flags != 0)) {
        // Who called does not know what may lend the result.
        tl_slot result = {.tag = tag, .u = payload};
        if (tl_is_heap(result))
          tl_do_own(vm, &result);
        tag = result.tag;
        payload = result.u;
      }
      R[-1].tag = tag;
      R[-1].u = payload;
      if (UNLIKELY((F->flags & TL_FRAME_ENTRY) != 0)) {
        vm->frame = F - 1;
        vm->fuel = fuel;
        return true;
      }
      F--;
      R = F->base;
      K = F->function->constants;
      ins = F->pc;
      NEXT2;  // a call takes two words
    }
    OP(RAISE) {
      SAVE();
      FAIL();
    }
    OP(EXTRA) {
      NEXT;
    }

#if !TL_THREADED
    default:
      break;
#endif
  }

    // --- What is no plain scalar

    // Small arrays, and these with scalars.
#ifndef TL_COUNTING
  WAY(short_pair) {
    if (((slow_b->tag | slow_c->tag) & TL_CLASS_ARRAY) == 0)
      goto short_binary;
    tl_short_pair pair = {.op = slow_op,
                          .then = slow_then,
                          .side = slow_side,
                          .b = slow_b,
                          .c = slow_c,
                          .d = slow_d,
                          .modes = ins->modes,
                          .then_modes = ins[1].modes};
    if (tl_short_two(vm, &pair, SLOT(ins[1].a)))
      NEXT2;
  }
#endif
  WAY(short_binary) {
    if (tl_short_binary(vm, slow_op, RA, slow_b, slow_c, ins->modes)) {
      ins += ins->op == TL_BC_ELEM2;
      NEXT;
    }
    goto elementwise;
  }
  WAY(short_unary) {
    if (tl_short_unary(vm, slow_op, RA, slow_b, MODE_B))
      NEXT2;
  }
  // Anything elementwise.
  WAY(elementwise) {
    SAVE();
    const tl_ins *next = tl_do_elementwise(vm, F->function, R, ins);
    if (UNLIKELY(next == NULL))
      FAIL();
    ins = next;
    DISPATCH;
  }
  WAY(compare) {
    bool truth;
    if ((uint8_t)slow_b->tag == TL_CLASS_F64 &&
        (uint8_t)slow_c->tag == TL_CLASS_I64 && tl_is_weak(*slow_c)) {
      literal = tl_weak_float((double)slow_c->i);
      slow_c = &literal;
    }
    TRY(tl_do_compare(vm, slow_op, slow_b, MODE_A, slow_c, MODE_B, &truth));
    if (truth != slow_negate) {
      if ((int16_t)ins->c < 0)
        POLL();
      JUMP_SHORT();
    }
    NEXT;
  }

  WAY(fail) {
    vm->fuel = fuel;
    drop_window(vm, R, ins);
  }
  for (;;) {
    tl_prototype *function = F->function;
    uint32_t at = (uint32_t)(ins - function->code);
    // An argument of the wrong type is the call's fault.
    bool is_callers =
        ins->op == TL_BC_CHECKTYPES && (F->flags & TL_FRAME_ENTRY) == 0;
    if (!is_callers)
      tl_error_place(vm, function, at);
    vm->frame = F;
    const tl_handler *handler = tl_unwind(vm, function, R, at);
    if (handler != NULL) {
      ins = function->code + handler->handler;
      fuel = vm->fuel;
      DISPATCH;
    }
    vm->frame = F - 1;
    if ((F->flags & TL_FRAME_ENTRY) != 0)
      return false;
    F--;
    R = F->base;
    K = F->function->constants;
    ins = F->pc;
    if (!is_callers) {
      tl_error_trace(vm, F->function, (uint32_t)(ins - F->function->code));
    }
  }
}
