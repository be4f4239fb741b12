// The dispatch loop. Scalars are computed here; everything else is called.
//
// A handler reads its fields from memory (ins->a …), which are slot numbers
// times 16. A destination is dead when it is written, so nothing has to be
// dropped for it. Before anything that may fail, SAVE stores what the unwinder
// and nested calls need. What the loop keeps in registers (ins, base, K, F)
// never has its address taken.
//
//   F    the running call record       base  its slots
//   K    its constants                 ins   the instruction under way
//
// The file reads as a table: values and moves, ownership, operators, building,
// places, calls, jumps; then the shared paths for operands that are no plain
// scalars, and at the end what happens on failure. interp_forms.h has the
// macros of which families of handlers are made.
//
// These passes would merge its jumps back into one, and pair up slot words that
// are cheaper apart. Its handlers are jumped to, so they are aligned.
//
// Flags: -fno-gcse -fno-crossjumping -fno-tree-slp-vectorize
// Flags: -fno-slp-vectorize -falign-jumps -falign-labels

#include "vm/interp/interp.h"

#include <math.h>

#include "vm/array/element.h"
#include "vm/array/range.h"
#include "vm/interp/handlers.h"
#include "vm/events.h"
#include "vm/index/select.h"
#include "vm/native/jit.h"
#include "vm/poll.h"
#include "vm/engine/scalars.h"
#include "vm/engine/short.h"
#include "vm/bytecode/slots.h"
#include "vm/values/record.h"

#include "vm/interp/interp_forms.h"

bool tl_interpret(tl_vm *vm) {
#if TL_THREADED
  static const void *const labels[] = {
#define OP_(NAME, d, r0, r1, r2, rest, fails, format) __extension__ &&L_##NAME,
      TL_OPCODES(OP_)
#undef OP_
  };
  // While instructions are counted all of them lead to one place, which goes on
  // to each one's own: so counting costs nothing where it is off.
  static const void *const counted_labels[] = {
#define OP_(...) __extension__ &&counted,
      TL_OPCODES(OP_)
#undef OP_
  };
  // The table's address stays in a register; otherwise each dispatch would load
  // it again. The empty asm keeps the compiler from seeing through it. One more
  // call or inlined access in a handler may cost that register all the same:
  // then every program takes an instruction more for each (tests/bench/counts).
  const void *const *ways = vm->counting ? counted_labels : labels;
  __asm__("" : "+r"(ways));
#endif
  tl_frame *F = vm->frame;
  tl_slot *base = F->base;
  const tl_slot *K = F->function->constants;
  const tl_ins *ins = F->pc;
  // What an instruction hands over to a shared slow path below. They are set
  // before any jump there, which not every compiler sees.
  const tl_slot *slow_b = NULL, *slow_c = NULL;
  tl_op slow_op = TL_OP_COUNT;
  bool slow_negate;
  tl_slot literal;

#if TL_THREADED
  DISPATCH;
counted:
  if (UNLIKELY(!tl_count_instruction(vm, F, ins)))
    FAIL();
  __extension__({ goto *labels[ins->op]; });
#else
dispatch:
  AUDIT();
  if (UNLIKELY(vm->counting) && !tl_count_instruction(vm, F, ins))
    FAIL();
  switch ((tl_opcode)ins->op)
#endif
  {
    OP(MOV) {
      tl_copy_slot(RA, RB);
      NEXT;
    }
    // a = b as a borrow: the owned bit is not copied.
    OP(MOVB) {
      PUT_BORROWED(RA, RB);
      NEXT;
    }
    OP(LOADK) {
      tl_copy_slot(RA, &K[tl_ins_extra(*ins)]);
      NEXT;
    }
    // An int that takes its dtype from what it meets, without a constant in
    // memory.
    OP(LOADI) {
      PUT_I64(RA, (int32_t)tl_ins_extra(*ins), TL_TAG_I64 | TL_WEAK);
      NEXT;
    }
    // A module variable is borrowed. Its value outlives the borrow by the
    // compiler's proof, or, where other code assigns it, by tl_module_assign.
    OP(GETG) {
      uint32_t index = tl_ins_extra(*ins);
      const tl_module *module = F->function->unit->module;
      const tl_slot *b = &module->variables[index];
      if (UNLIKELY(tl_is_unset(*b)))
        TRY(tl_fail_unassigned(vm, module->variable_names[index]));
      PUT_BORROWED(RA, b);
      NEXT;
    }
    // A captured value is borrowed from the running closure, which lives as
    // long as its frame.
    OP(GETC) {
      uint32_t extra = tl_ins_extra(*ins), index = extra & 0x7fffffffu;
      const tl_slot *b = &F->closure->captures[index];
      // Bit 31 is set where the compiler wants no check, since the code that
      // follows tests for unset itself.
      if (UNLIKELY(tl_is_unset(*b)) && (extra >> 31) == 0) {
        SAVE();
        tl_fail(vm, TALLY_ERR_NAME,
                "%s was not assigned yet when this function was made",
                F->function->capture_names[index]->text);
        FAIL();
      }
      PUT_BORROWED(RA, b);
      NEXT;
    }
    // The running function as a value: uncounted, as its caller keeps it.
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
    // A local variable that some path may not have assigned.
    OP(CHECKSET) {
      if (UNLIKELY(tl_is_unset(*RA))) {
        const uint32_t name = tl_ins_extra(*ins);
        TRY(tl_fail_unassigned(vm, F->function->unit->names[name]));
      }
      NEXT;
    }

    // This path has no other use of the value.
    OP(DROP) {
      tl_slot *a = RA;
      if (tl_is_owned(*a)) {
        SAVE();
        tl_drop(vm, *a);
        a->tag &= ~TL_OWNED;
      }
      NEXT;
    }
    TL_SETTLING_OPCODES(SETTLING)
    OP(DETACH) {
      if (tl_is_owned(*RB) && tl_is_array(*RA))
        TRY(tl_do_detach(vm, RA, RB));
      NEXT;
    }

    // --- operators
    ARITH(ADD, +, TL_OP_ADD)
    ARITH(SUB, -, TL_OP_SUBTRACT)
    ARITH(MUL, *, TL_OP_MULTIPLY)
    // Division gives a float, of integers too.
    OP(DIV) {
      const tl_slot *b = RB, *c = RC;
      if (LIKELY(BOTH(b, c) == TL_CLASS_F64)) {
        PUT_F64(RA, b->f / c->f, b->tag & c->tag);
        NEXT;
      }
      // Division of two integers, or of an integer and a float: always a float.
      if (LIKELY((BOTH(b, c) & ~MIXED) == 0)) {
        PUT_F64(RA, AS_F64(b) / AS_F64(c), MIXED_TAG(b, c));
        NEXT;
      }
      SLOW(b, c, TL_OP_DIVIDE);
    }
    // Division by 0 and by -1 and all floats take the slow path.
    AT_ONCE(FLOORDIV, RC, divide_ints(RA, b, c, false), TL_OP_FLOOR_DIVIDE)
    AT_ONCE(MOD, RC, divide_ints(RA, b, c, true), TL_OP_REMAINDER)
    // Squares are most powers; others go through the elementwise operation.
    AT_ONCE(POW, RC, pow_fast(RA, b, c), TL_OP_POW)
    BITS(BITAND, RC, &, TL_OP_BITWISE_AND)
    BITS(BITOR, RC, |, TL_OP_BITWISE_OR)
    BITS(BITXOR, RC, ^, TL_OP_BITWISE_XOR)
    SHIFT(SHL, RC, b->u << c->i, TL_OP_LEFT_SHIFT)
    SHIFT(SHR, RC, b->i >> c->i, TL_OP_RIGHT_SHIFT)
    COMPARE(EQ, ==, TL_OP_EQUAL)
    COMPARE(NE, !=, TL_OP_NOT_EQUAL)
    COMPARE(LT, <, TL_OP_LESS)
    COMPARE(LE, <=, TL_OP_LESS_EQUAL)
    COMPARE(GT, >, TL_OP_GREATER)
    COMPARE(GE, >=, TL_OP_GREATER_EQUAL)
    // Unary operations. Negation and square root of scalars are common enough
    // to be here; [extra] names the operation.
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
    // Binary operations without an operator of their own, such as maximum(x,
    // y).
    OP(ELEM2) {
      SLOW(RB, RC, (tl_op)EXTRA());
    }
    // where(c, x, y) and clip(x, low, high): always elementwise.
    OP(ELEM3) {
      goto elementwise;
    }
    // not of a bool; anything else is an error that says what to write.
    OP(NOT) {
      const tl_slot *b = RB;
      bool truth = b->i != 0;
      if (UNLIKELY((uint8_t)b->tag != TL_CLASS_BOOL))
        TRY(tl_do_truth(vm, *b, &truth));
      PUT_BOOL(RA, !truth);
      NEXT;
    }
    // x + 3: the number stands in the instruction. SUBI is not an ADDI of the
    // negated literal: for other operands the error names the operation.
    ARITH_I(ADDI, +, TL_OP_ADD)
    ARITH_I(SUBI, -, TL_OP_SUBTRACT)
    ARITH_K(MULK, *, TL_OP_MULTIPLY)
    // The constant's float stands beside it (c[1]).
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
    AT_ONCE(MODK, KC, divide_ints(RA, b, c, true), TL_OP_REMAINDER)
    AT_ONCE(POWK, KC, pow_fast(RA, b, c), TL_OP_POW)
    BITS(BITANDK, KC, &, TL_OP_BITWISE_AND)
    SHIFT(SHRK, KC, b->i >> c->i, TL_OP_RIGHT_SHIFT)

    // A list whose items stand in the window. Where the function returns it to
    // a caller that takes it apart, the items go there and no list is made.
    OP(LIST) {
      const tl_ins *next = IS_LAST() ? tl_hand_over(vm, F, ins) : NULL;
      if (next != NULL) {
        F--;
        LOAD_FRAME();
        GO_TO(next);
      }
      TRY(tl_do_list(vm, ins->b, RA + 1, RA));
      NEXT2;
    }
    // list += item
    OP(PUSH) {
      TRY(tl_do_push(vm, RA, RB, ins->modes));
      NEXT;
    }

    // b[c]. Reading an element of an array or list in range needs no call, nor
    // does a record's value; anything else may begin a region, or takes the
    // general path.
    OP(GETEL) {
      if (STAYS(RB, MODE_B) && LIKELY(tl_item_get(RA, RB, RC)))
        NEXT;
      if (STAYS(RB, MODE_B) && tl_get_rare(vm, RA, RB, RC, ins))
        NEXT;
      ASK_REGION_UNLESS(RB, TL_RANK(RB->tag) == 1 && takes_one(RC));
      TRY(tl_do_getel(vm, RA, RB, RC, ins->modes));
      NEXT;
    }
    // b[c, d] likewise.
    OP(GETEL2) {
      const tl_slot *d = SLOT(ins[1].a);
      if (MODE_B == TL_MODE_BORROW && LIKELY(tl_element_get2(RA, RB, RC, d)))
        NEXT2;
      if (STAYS(RB, MODE_B) && tl_get_rare2(RA, RB, RC, d))
        NEXT2;
      ASK_REGION_UNLESS(RB,
                        TL_RANK(RB->tag) == 2 && takes_one(RC) && takes_one(d));
      TRY(tl_do_getel2(vm, RA, RB, RC, d, ins->modes));
      NEXT2;
    }
    // b[…] with slices, masks or more than two indices; its values are a
    // window.
    OP(INDEX) {
      tl_slot *a = RA;
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      // Up to two numbers are GETEL's.
      bool deep = TL_RANK(RB->tag) > 2 && tl_is_array(*RB);
      if (deep && get_item(a, RB, MODE_B, path->steps, a + 1))
        NEXT2;
      ASK_REGION_UNLESS(
          RB, deep && tl_index_is_item(RB->array, path->steps, a + 1));
      TRY(tl_do_index(vm, RB, MODE_B, path, a + 1, a));
      NEXT2;
    }
    // b.name. A field of a record that stays is borrowed, and looked for where
    // this instruction found it the last time, which its second word remembers.
    OP(GETF) {
      tl_string *name = F->function->unit->names[EXTRA()];
      if ((MODE_B == TL_MODE_BORROW || !tl_is_owned(*RB)) &&
          LIKELY(tl_is_record(*RB))) {
        const tl_slot *field =
            tl_record_get_hinted(RB->record, name, tl_ins_hint(ins));
        if (LIKELY(field != NULL)) {
          PUT_BORROWED(RA, field);
          NEXT2;
        }
      }
      ASK_REGION(RB);
      TRY(tl_do_getf(vm, RA, RB, MODE_B, name));
      NEXT2;
    }
    // The item of b[c] for an update: a number of an array is only read, other
    // items may move out.
    OP(TAKEEL) {
      if (LIKELY(tl_element_peek(RA, RB, RC)) ||
          tl_peek_rare(RA, RB, RC, MODE_C))
        NEXT2;
      ASK_REGION_UNLESS(RB, TL_RANK(RB->tag) == 1 && takes_one(RC));
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      TRY(tl_do_take(vm, RB, MODE_B, path, RC, RA));
      NEXT2;
    }
    // The same of a path. What is a scalar is read, and its indices are
    // scalars, too.
    OP(TAKE) {
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      const tl_slot *place = tl_place_scalar(RB, path, RA + 1);
      if (LIKELY(place != NULL))
        tl_copy_slot(RA, place);
      else
        TRY(tl_exec_take(vm, base, ins));
      NEXT2;
    }
    // A scalar takes the place of another; all else may have to be copied.
    OP(SETPATH) {
      const tl_path *path = &F->function->unit->paths[EXTRA()];
      const tl_slot *b = RB;
      tl_slot *place =
          MODE_A == TL_MODE_BORROW || tl_is_heap(*b) || vm->no_reuse
              ? NULL
              : tl_place_scalar(RA, path, RC);
      if (LIKELY(place != NULL)) {
        SAVE();
        tl_changed_in_place(vm, *RA);
        tl_copy_slot(place, b);
      } else {
        TRY(tl_exec_setpath(vm, base, ins));
      }
      NEXT2;
    }
    // a, … = b. A list that goes on lends its items.
    OP(UNPACK) {
      const tl_slot *b = RB;
      if ((uint8_t)b->tag == TL_CLASS_LIST && STAYS(b, MODE_B) &&
          EXTRA() <= UINT16_MAX && b->list->length == (int64_t)EXTRA()) {
        const tl_slot *item = b->list->items;
        tl_slot *a = RA;
        for (uint32_t i = 0, n = EXTRA(); i < n; i++)
          PUT_BORROWED(&a[i], &item[i]);
        NEXT2;
      }
      TRY(tl_do_unpack(vm, RA, RB, MODE_B, EXTRA()));
      NEXT2;
    }
    // a[c] = b. Storing a number of the array's dtype in range needs no call.
    OP(SETEL) {
      if (LIKELY(set_at_once(vm, RA, RB, RC)))
        NEXT;
      TRY(tl_exec_setel(vm, RA, RB, 1, RC, RC, ins->modes & 0x3fu));
      NEXT;
    }
    // a[c] = b, where another variable may still need the item that goes; a
    // number depends on nothing.
    OP(REPLACE) {
      tl_slot *successor = SLOT(ins[1].a);
      if (!tl_is_heap(*successor) && set_apart(vm, RA, RB, RC))
        NEXT2;
      TRY(tl_exec_replace(vm, RA, RB, RC, successor, ins->modes & 0x3fu));
      NEXT2;
    }
    // a[c, d] = b.
    OP(SETEL2) {
      const tl_slot *d = SLOT(ins[1].a);
      if (LIKELY(tl_element_set2(RA, RB, RC, d)))
        NEXT2;
      TRY(tl_exec_setel(vm, RA, RB, 2, RC, d, ins->modes));
      NEXT2;
    }

    // A script function that the compiler knows: the arguments stand in its
    // slots already, and its summary says what becomes of them. So the call is
    // a new record and a jump.
    OP(CALLK) {
      tl_prototype *callee = K[EXTRA()].pointer;
      if (UNLIKELY(callee->joins >= TL_JOINS) && ins->b > 0 &&
          F->function->region_count > 0)
        ASK_REGION(large_argument(RA + 1, ins->b));
      // Not POLL_HERE, as a region is asked only once.
      if (UNLIKELY(--vm->fuel == 0)) {
        TRY(tl_refuel(vm));
        if (!push_call(vm, F, RA + 1, callee, ins->b))
          FAIL();
        F++;
        base = F->base;
        K = callee->constants;
        ENTER(callee->code);
      }
      F->pc = ins;
      // The arguments are the callee's first slots, where they are.
      tl_slot *first = RA + 1;
      if (UNLIKELY(!tl_slots_reserve(vm, first + callee->slot_count, F + 1))) {
        vm->frame = F;
        FAIL();
      }
      F++;
      F->base = base = first;
      F->function = callee;
      F->closure = NULL;
      F->flags = 0;
      K = callee->constants;
#ifdef TALLY_AUDIT
      for (uint32_t i = ins->b; i < callee->slot_count; i++)
        base[i] = tl_unset();
#endif
      GO_TO(callee->code);
    }
    // A built-in: all of its parameters stand in the window, given or not.
    OP(CALLB) {
      tl_slot *a = RA;
      const tl_builtin *builtin = K[EXTRA()].pointer;
      if (UNLIKELY(builtin->at_once != NULL)) {
        SAVE();
        const tl_ins *next = tl_call_at_once(vm, builtin, base, ins);
        if (LIKELY(next != NULL))
          GO_TO(next);
      }
      // The call may be the begin of a region over large arrays.
      if (tl_builtin_begins(builtin))
        ASK_REGION(a + 1);
      SAVE();
      if (UNLIKELY(tl_builtin_is_host(builtin))) {
        const tl_ins *next;
        tl_region_status status =
            tl_do_host_loop(vm, F->function, base, ins, &next);
        if (UNLIKELY(status == TL_REGION_FAILED))
          FAIL();
        // The region computed this call and what follows it.
        if (status == TL_REGION_DONE)
          GO_TO(next);
      }
      tl_slot result = tl_none();
      bool keeps = ins->c != 0;
      // A call in an update such as x = push(x, 1) gives its first argument
      // back if it fails.
      tl_call_mode mode =
          keeps ? tl_call_restores(F->function, builtin, ins) : TL_CALL_BORROWS;
      if (UNLIKELY(!tl_do_builtin(vm, builtin, mode, ins->b, a + 1, &result))) {
        if (keeps)
          tl_copy_slot(SLOT(ins[1].a), a + 1);
        FAIL();
      }
      tl_copy_slot(a, &result);
      NEXT2;
    }
    // Any callee. What it is, and whether arguments have to be bound, is found
    // out in call.c.
    OP(CALL) {
      tl_slot *a = RA;
      tl_slot callee = *RB;
      uint32_t shape = EXTRA();
      if (F->function->region_count > 0 &&
          F->function->region_items[ins - F->function->code] != TL_NO_REGION)
        ASK_REGION(large_operand(RB, a + 1, ins->c));
      // The callee may be no script function, so this call polls by itself.
      if (UNLIKELY(--vm->fuel == 0)) {
        SAVE();
        if (!tl_refuel(vm)) {
          tl_drop_all(vm, a + 1, ins->c);
          FAIL();
        }
        if (vm->jit != NULL && shape == 0 && tl_is_script(callee)) {
          bool enters;
          if (!tl_do_call(vm, callee, NULL, ins->c, a + 1, &enters, &literal))
            FAIL();
          F = vm->frame;
          LOAD_FRAME();
          ENTER(ins);
        }
      }
      SAVE();
      if (UNLIKELY(tl_is_kind(callee, TL_KIND_MODULE)) &&
          !tl_module_callee(vm, &callee)) {
        tl_drop_all(vm, a + 1, ins->c);
        FAIL();
      }
      bool pushed = false;
      tl_slot result = tl_none();
      if (UNLIKELY(!tl_do_call(
              vm, callee, shape == 0 ? NULL : &F->function->unit->shapes[shape],
              ins->c, a + 1, &pushed, &result))) {
        FAIL();
      }
      // A script function: go on in the frame that was pushed.
      if (pushed) {
        F = vm->frame;
        LOAD_FRAME();
        DISPATCH;
      }
      tl_copy_slot(a, &result);
      NEXT2;
    }
    // A module, or a global function that the library has in Tally.
    OP(IMPORT) {
      const tl_string *spec = F->function->unit->names[tl_ins_extra(*ins)];
      SAVE();
      tl_slot module;
      if (!tl_module_import(vm, F->function->unit->module, spec, &module))
        FAIL();
      tl_copy_slot(RA, &module);
      NEXT;
    }

    // --- what is called
    TL_CALLED_OPCODES(CALLED)

    // Forward: no poll is needed.
    OP(JMP) {
      JUMP_LONG();
    }
    // Backward: each iteration polls, so that every loop can be interrupted.
    OP(LOOP) {
      POLL_TO(LONG_TARGET);
      JUMP_LONG();
    }
    // Jumps if the condition is true, or false. It has to be one bool.
    JUMP_ON(JT, true)
    JUMP_ON(JF, false)
    // Jumps if the slot is set: whether an optional parameter was given.
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
    JUMP_IF_K(JGTK, >, TL_OP_GREATER, false)
    JUMP_IF_K(JEQK, ==, TL_OP_EQUAL, false)
    JUMP_IF_K(JNEK, !=, TL_OP_NOT_EQUAL, false)
    JUMP_IF_K(JNLTK, <, TL_OP_LESS, true)
    JUMP_IF_K(JNGTK, >, TL_OP_GREATER, true)
    // Jumps behind the loop if it has no iteration; else the variable gets the
    // first value.
    OP(FORPREP) {
      tl_slot *a = RA;
      bool any;
      TRY(tl_do_forprep(vm, a, &any));
      if (!any)
        JUMP_SHORT();
      PUT_I64(RB, a->i, TL_TAG_I64 | TL_WEAK);
      NEXT;
    }
    OP(FORR) {
      tl_slot *a = RA;
      // Where the loop ends there is a door behind it: polls may meet no other
      // place of a program for long.
      if (UNLIKELY(--vm->fuel == 0)) {
        TRY(tl_refuel(vm));
        ENTER(next_in_range(a, RB) ? SHORT_TARGET : ins + 1);
      }
      if (LIKELY(next_in_range(a, RB)))
        JUMP_SHORT();
      NEXT;
    }
    // The loop's variable, where the body assigns it: the hidden counter is not
    // touched.
    OP(FORVAR) {
      tl_copy_slot(RA, SLOT(ins->b));
      NEXT;
    }
    // Jumps into the body while the container has an item at the position.
    OP(MORE) {
      tl_slot *a = RA;
      bool more;
      POLL_HERE();
      if ((uint8_t)a->tag == TL_CLASS_ARRAY && TL_RANK(a->tag) != 0) {
        more = a[1].i < a->array->dims[0];
      } else if ((uint8_t)a->tag == TL_CLASS_LIST) {
        more = a[1].i < a->list->length;
      } else if (tl_is_range(*a)) {
        more = a[1].i < a->range->length;
      } else if (tl_is_record(*a)) {
        more = a[1].i < a->record->length;
      } else if (tl_is_string(*a)) {
        more = a[1].i < (int64_t)a->string->length;
      } else {
        TRY(tl_do_more(vm, a, a + 1, &more));
      }
      if (more)
        JUMP_SHORT();
      NEXT;
    }
    // The item at the position, which moves on.
    OP(NEXT) {
      tl_slot *b = RB;
      uint64_t at = b[1].u;
      // A list that ends with the loop and has no other owner gives its items
      // away.
      if ((uint8_t)b->tag == TL_CLASS_LIST) {
        if (LIKELY(at < (uint64_t)b->list->length)) {
          tl_slot *item = &b->list->items[at];
          uint64_t tag = item->tag, payload = item->u;
          if (MODE_B != TL_MODE_BORROW && tl_is_owned(*b) &&
              b->object->count == 1)
            *item = tl_none();
          else
            tag &= ~TL_OWNED;
          b[1].u = at + 1;
          tl_slot *a = RA;
          a->tag = tag;
          a->u = payload;
          NEXT2;
        }
      } else if (tl_is_range(*b)) {
        if (LIKELY(at < (uint64_t)b->range->length)) {
          int64_t number = tl_range_item(b->range, (int64_t)at);
          b[1].u = at + 1;
          PUT_I64(RA, number, TL_TAG_I64 | TL_WEAK);
          NEXT2;
        }
      } else if (tl_element_get(RA, b, b + 1)) {
        b[1].u = at + 1;
        NEXT2;
      }
      TRY(tl_do_next(vm, RA, b, b + 1, MODE_B, EXTRA()));
      NEXT2;
    }
    // The result goes to the slot below the frame, where the caller's
    // instruction has its result; then the caller goes on behind its call.
    OP(RET) {
      const tl_slot *a = RA;
      uint64_t tag = a->tag, payload = a->u;
      if (MODE_A == TL_MODE_BORROW)
        tag &= ~TL_OWNED;
      if (UNLIKELY(F->flags != 0)) {
        // The caller is C, or called an unknown function, and so has no summary
        // that says what the result borrows from: it becomes an owner here. An
        // array with a block of its own, and owned, is one.
        tl_slot result = {.tag = tag, .u = payload};
        const uint64_t whole = TL_OWNED | TL_DIRECT;
        if (tl_is_heap(result) && (tag & whole) != whole)
          tl_do_own(vm, &result);
        tag = result.tag;
        payload = result.u;
        if (UNLIKELY((F->flags & TL_FRAME_HELD) != 0) &&
            !vm->observer->contract_returns(vm, F->function->name->text,
                                            result)) {
          // The result breaks the caller's in-place contract, so the call
          // itself fails.
          vm->frame = --F;
          LOAD_FRAME();
          FAIL();
        }
      }
      // The slot below the frame's first is where the call's result belongs.
      base[-1].tag = tag;
      base[-1].u = payload;
      if (UNLIKELY((F->flags & TL_FRAME_ENTRY) != 0)) {
        vm->frame = F - 1;
        return true;
      }
      F--;
      LOAD_FRAME();
      NEXT2;  // a call takes two words
    }
    // The error is pending already.
    OP(RAISE) {
      SAVE();
      FAIL();
    }
    // A second word is never reached by itself.
    OP(EXTRA) {
      NEXT;
    }

#if !TL_THREADED
    default:
      break;
#endif
  }

  // --- Operands that are no plain scalars

  // Two operations on small arrays, or on these and scalars, computed at once.
  WAY(short_joined) {
    if ((ins->modes & TL_WITH_NEXT) != 0 &&
        ((slow_b->tag | slow_c->tag) & TL_CLASS_ARRAY) != 0 &&
        !IS_GENERAL(slow_b, slow_c) && !vm->counting &&
        tl_short_two(vm, slow_op, slow_b, slow_c, ins, base))
      NEXT2;
    goto short_binary;
  }
  // Scalars of all other dtypes. Small arrays, and an array with a scalar, are
  // computed without a plan; large ones go on to where a region may take them.
  WAY(short_binary) {
    if (((slow_b->tag | slow_c->tag) & TL_CLASS_HEAP) == 0) {
      if (!tl_scalar_binary(slow_op, slow_b, slow_c, RA))
        goto elementwise;
      ins += ins->op == TL_BC_ELEM2;
      NEXT;
    }
    if (slow_op == TL_OP_ADD && tl_is_string(*slow_b) &&
        tl_is_string(*slow_c)) {
      TRY(tl_do_concat(vm, RA, slow_b, slow_c, ins->modes));
      NEXT;
    }
    if (IS_GENERAL(slow_b, slow_c))
      goto elementwise;
    if (tl_short_binary(vm, slow_op, RA, slow_b, slow_c, ins->modes)) {
      ins += ins->op == TL_BC_ELEM2;
      NEXT;
    }
    goto elementwise;
  }
  // The same for one operand; falls through to the general path.
  WAY(short_unary) {
    if (!tl_is_heap(*slow_b)) {
      if (!tl_scalar_unary(slow_op, slow_b, RA))
        goto elementwise;
      NEXT2;
    }
    if (IS_GENERAL(slow_b, slow_b))
      goto elementwise;
    if (tl_short_unary(vm, slow_op, RA, slow_b, MODE_B))
      NEXT2;
  }
  // Any elementwise instruction: it may run as the begin of a region, which
  // then continues behind all of it.
  WAY(elementwise) {
    SAVE();
    const tl_ins *next = tl_do_elementwise(vm, F->function, base, ins);
    if (UNLIKELY(next == NULL))
      FAIL();
    GO_TO(next);
  }
  // A branch on a comparison of what is no two plain scalars: its result has to
  // be one bool.
  WAY(compare) {
    bool truth;
    if (!compare_at_once(slow_op, slow_b, MODE_A, slow_c, MODE_B, &truth))
      TRY(tl_do_compare(vm, slow_op, slow_b, MODE_A, slow_c, MODE_B, &truth));
    JUMP_WHEN(truth != slow_negate);
  }
  // On behind a poll that refilled the fuel: that one in many asks for machine
  // code.
  WAY(enter) {
    if (vm->jit != NULL) {
      SAVE();
      tl_jit_status status = tl_jit_enter(vm, F);
      if (status != TL_JIT_NOT) {
        F = vm->frame;
        LOAD_FRAME();
      }
      if (UNLIKELY(status == TL_JIT_FAILED)) {
        // It has taken its arguments, as where this loop's poll fails.
        if (ins->op == TL_BC_CALL)
          tl_drop_call(vm, base, ins);
        FAIL();
      }
    }
    DISPATCH;
  }

  WAY(fail) {
    // From here on the error unwinds, frame by frame: place the error, drop
    // what the frame owns, go to its handler or leave it for its caller.
    tl_drop_window(vm, base, ins);
  }
  for (;;) {
    tl_prototype *function = F->function;
    uint32_t at = (uint32_t)(ins - function->code);
    // An argument of the wrong type is the call's fault.
    bool is_callers =
        ins->op == TL_BC_CHECKTYPES && (F->flags & TL_FRAME_ENTRY) == 0;
    vm->frame = F;
    if (!is_callers)
      tl_error_place(vm, function, base, at);
    const tl_handler *handler = tl_unwind(vm, function, base, at);
    if (handler != NULL)
      GO_TO(function->code + handler->handler);
    vm->frame = F - 1;
    if ((F->flags & TL_FRAME_ENTRY) != 0)
      return false;
    F--;
    LOAD_FRAME();
    if (!is_callers)
      tl_error_trace(vm, F->function, base,
                     (uint32_t)(ins - F->function->code));
  }
}
