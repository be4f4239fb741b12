// The dispatch loop. Scalars are computed here; everything else is called.
//
// A handler reads its fields from memory (ins->a …), which are slot numbers
// times 16. A destination is dead when it is written. Before anything that may
// fail, SAVE stores what the unwinder and nested calls need. What the loop
// keeps in registers (ins, R, K, F) never has its address taken.

#include "vm/interp/interp.h"

#include <math.h>
#include <string.h>

#include "vm/array/element.h"
#include "vm/interp/handlers.h"
#include "vm/interp/promise.h"
#include "vm/poll.h"
#include "vm/region/region.h"
#include "vm/engine/short.h"
#include "vm/interp/slots.h"

#include "vm/interp/interp_forms.h"

bool TL_INTERPRET(tl_vm *vm) {
#if TL_THREADED
  static const void *const labels[] = {
#define OP_(NAME, d, r0, r1, r2, rest, fails, format) __extension__ &&L_##NAME,
      TL_OPCODES(OP_)
#undef OP_
  };
  // Kept in a register: else each dispatch finds out where the table lies.
  const void *const *ways = labels;
  __asm__("" : "+r"(ways));
#endif
  tl_frame *F = vm->frame;
  tl_slot *R = F->base;
  const tl_slot *K = F->function->constants;
  const tl_ins *ins = F->pc;
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
        TRY(tl_fail_unassigned(vm, module->variable_names[index]));
      }
      tl_slot *a = RA;
      uint64_t tag = b->tag & ~TL_OWNED, payload = b->u;
      a->tag = tag;
      a->u = payload;
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
    OP(CHECKSET) {
      if (UNLIKELY(tl_is_unset(*RA))) {
        const uint32_t name = tl_ins_extra(*ins);
        TRY(tl_fail_unassigned(vm, F->function->unit->names[name]));
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
    OP(INHERIT) {
      tl_do_inherit(vm, RA, RB);
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
    OP(OWN) {
      tl_do_own(vm, RA);
      NEXT;
    }
    OP(KEEPALL) {
      tl_do_keepall(vm, RA);
      NEXT;
    }
    OP(KEEPOF) {
      tl_do_keepof(vm, RA, RB);
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

    // --- building
    OP(PUSH) {
      TRY(tl_do_push(vm, RA, RB, ins->modes));
      NEXT;
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
    OP(TAKEEL) {
      if (LIKELY(tl_element_peek(RA, RB, RC)))
        NEXT2;
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      TRY(tl_do_take(vm, RB, MODE_B, path, RC, RA));
      NEXT2;
    }
    OP(SETEL) {
      if (LIKELY(tl_element_set(RA, RB, RC)))
        NEXT;
      TRY(tl_exec_setel(vm, RA, RB, 1, RC, RC, ins->modes & 0x3fu));
      NEXT;
    }
    OP(REPLACE) {
      tl_slot *heir = SLOT(ins[1].a);
      TRY(tl_exec_replace(vm, RA, RB, RC, heir, ins->modes & 0x3fu));
      NEXT2;
    }
    OP(SETEL2) {
      const tl_slot *d = SLOT(ins[1].a);
      if (LIKELY(tl_element_set2(RA, RB, RC, d)))
        NEXT2;
      TRY(tl_exec_setel(vm, RA, RB, 2, RC, d, ins->modes));
      NEXT2;
    }

    // --- calls
    OP(CALLK) {
      tl_prototype *callee = K[EXTRA()].pointer;
      if (UNLIKELY(callee->joins >= TL_JOINS) && ins->b > 0 &&
          F->function->region_count > 0)
        ASK_REGION(large_argument(RA + 1, ins->b));
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
      if (UNLIKELY((builtin->flags & TL_HOST) != 0)) {
        const tl_ins *next;
        tl_region_status status =
            tl_do_host_loop(vm, F->function, R, ins, &next);
        if (UNLIKELY(status == TL_REGION_FAILED))
          FAIL();
        if (status == TL_REGION_DONE) {
          ins = next;
          DISPATCH;
        }
      }
      tl_slot result = tl_none();
      bool keeps = ins->c != 0;
      unsigned how = TL_MAY_BORROW;
      if (keeps)
        how |= tl_keeps_how(F->function, builtin,
                            (uint32_t)(ins - F->function->code));
      if (UNLIKELY(!tl_do_builtin(vm, builtin, how, ins->b, a + 1, &result))) {
        if (keeps)
          tl_copy_slot(SLOT(ins[1].a), a + 1);
        FAIL();
      }
      tl_copy_slot(a, &result);
      NEXT2;
    }
    OP(CALL) {
      tl_slot *a = RA;
      tl_slot callee = *RB;
      uint32_t shape = EXTRA();
      if (ins->c > 0 && F->function->region_count > 0)
        ASK_REGION(large_argument(a + 1, ins->c));
      if (UNLIKELY(--vm->fuel == 0)) {
        SAVE();
        if (!tl_refuel(vm)) {
          for (uint32_t i = 0; i < ins->c; i++) tl_drop(vm, a[1 + i]);
          FAIL();
        }
      }
      SAVE();
      bool pushed = false;
      tl_slot result = tl_none();
      if (UNLIKELY(!tl_do_call(
              vm, callee, shape == 0 ? NULL : &F->function->unit->shapes[shape],
              ins->c, a + 1, &pushed, &result))) {
        FAIL();
      }
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
    OP(IMPORT) {
      const tl_string *spec = F->function->unit->names[tl_ins_extra(*ins)];
      SAVE();
      tl_slot module;
      if (!tl_module_import(vm, F->function->unit->module, spec, &module)) {
        FAIL();
      }
      tl_copy_slot(RA, &module);
      NEXT;
    }

    // --- what is called
    TL_CALLED_OPCODES(CALLED)

    // --- ends of blocks
    OP(JMP) {
      JUMP_LONG();
    }
    OP(LOOP) {
      POLL();
      JUMP_LONG();
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
      if (LIKELY(--a[1].u != 0)) {
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
        if (UNLIKELY((F->flags & TL_FRAME_HELD) != 0) &&
            !tl_promise_returns(vm, F->function->name->text, result)) {
          F--;  // the call fails
          R = F->base;
          K = F->function->constants;
          ins = F->pc;
          vm->frame = F;
          FAIL();
        }
      }
      R[-1].tag = tag;
      R[-1].u = payload;
      if (UNLIKELY((F->flags & TL_FRAME_ENTRY) != 0)) {
        vm->frame = F - 1;
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
    if (MAY_FUSE(slow_b, slow_c))
      goto elementwise;
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
    if (MAY_FUSE(slow_b, slow_c))
      goto elementwise;
    if (tl_short_binary(vm, slow_op, RA, slow_b, slow_c, ins->modes)) {
      ins += ins->op == TL_BC_ELEM2;
      NEXT;
    }
    goto elementwise;
  }
  WAY(short_unary) {
    if (MAY_FUSE(slow_b, slow_b))
      goto elementwise;
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
    tl_drop_window(vm, R, ins);
  }
  for (;;) {
    tl_prototype *function = F->function;
    uint32_t at = (uint32_t)(ins - function->code);
    // An argument of the wrong type is the call's fault.
    bool is_callers =
        ins->op == TL_BC_CHECKTYPES && (F->flags & TL_FRAME_ENTRY) == 0;
    if (!is_callers)
      tl_error_place(vm, function, R, at);
    vm->frame = F;
    const tl_handler *handler = tl_unwind(vm, function, R, at);
    if (handler != NULL) {
      ins = function->code + handler->handler;
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
      tl_error_trace(vm, F->function, R, (uint32_t)(ins - F->function->code));
    }
  }
}
