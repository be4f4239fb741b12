// One instruction by itself, for machine code: what the dispatch loop does for
// it, where that is longer than a few operations on scalars.
//
//     unit's code ─▶ tl_jit_one ─▶ tl_do_one ─▶ tl_exec_…, tl_do_…
//
// The loop's short ways for numbers are left out: machine code has these
// itself. Where a region begins it runs, and the frame stands behind it.
// What would call a script or wait for a host is declined before anything has
// happened, and the loop does it.

#include "vm/interp/handlers.h"

#include "vm/array/element.h"
#include "vm/engine/short.h"
#include "vm/events.h"
#include "vm/index/select.h"
#include "vm/interp/interp.h"
#include "vm/native/jit.h"
#include "vm/values/record.h"

// Whether nothing is to be dropped where the operand was read.
static bool stays(const tl_slot *s, unsigned mode) {
  return mode == TL_MODE_BORROW || !tl_is_owned(*s);
}

// Whether a region may begin with the instruction, by an operand's items.
static bool may_begin(const tl_vm *vm, const tl_ins *ins, const tl_slot *s) {
  return tl_is_nested(*s) ||
         tl_may_fuse(vm->frame->function, ins, tl_items_of(s));
}

static tl_one done(bool ok) {
  return ok ? TL_ONE_DONE : TL_ONE_FAILED;
}

// Behind what was done up to [next], which is the next instruction where no
// region did more.
static tl_one went_to(tl_vm *vm, const tl_ins *ins, const tl_ins *next) {
  if (next == NULL)
    return TL_ONE_FAILED;
  if (next == ins + (ins[1].op == TL_BC_EXTRA ? 2 : 1))
    return TL_ONE_DONE;
  tl_jit_goes_on(vm, ins);
  vm->frame->pc = next;
  return TL_ONE_WENT;
}

// The same where it may begin a region.
__attribute__((noinline)) static bool began_region(tl_vm *vm, tl_slot *base,
                                                   const tl_ins *ins,
                                                   const tl_slot *s,
                                                   tl_one *how) {
  const tl_prototype *function = vm->frame->function;
  const tl_ins *next;
  *how = TL_ONE_LEFT;
  if (tl_is_nested(*s))
    return true;
  tl_region_status status =
      tl_region_run(vm, function, base, ins, tl_items_of(s), &next);
  if (status == TL_REGION_FAILED)
    tl_drop_call(vm, base, ins);
  if (status != TL_REGION_DECLINED)
    *how = went_to(vm, ins, status == TL_REGION_DONE ? next : NULL);
  return status != TL_REGION_DECLINED;
}

// Whether the instruction is no longer to be done by itself, since a region has
// begun with the items of [s], and *how it went. Ragged rows are the loop's.
// Where it takes [one] item of the array it is no part of a region.
static bool began(tl_vm *vm, tl_slot *base, const tl_ins *ins, const tl_slot *s,
                  bool one, tl_one *how) {
  return !one && may_begin(vm, ins, s) && began_region(vm, base, ins, s, how);
}

// Whether the slot is an array of the rank.
static bool has_rank(const tl_slot *s, uint32_t rank) {
  return tl_is_array(*s) && TL_RANK(s->tag) == rank;
}

// Whether an index takes one item of its axis.
static bool is_single(const tl_slot *s) {
  return tl_is_scalar(*s) && !tl_is_bool(*s);
}

// --- Reading ----------------------------------------------------------------

static tl_one get_item(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_slot *b = RB, *c = RC;
  tl_one how;
  if (stays(b, MODE_B) && tl_get_rare(vm, RA, b, c, ins))
    return TL_ONE_DONE;
  if (began(vm, base, ins, b, has_rank(b, 1) && is_single(c), &how))
    return how;
  return done(tl_do_getel(vm, RA, b, c, ins->modes));
}

static tl_one get_item2(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_one how;
  return began(vm, base, ins, RB,
               has_rank(RB, 2) && is_single(RC) && is_single(RD), &how)
             ? how
             : done(tl_do_getel2(vm, RA, RB, RC, RD, ins->modes));
}

// What is more than one plain index; a number of an array of three axes is the
// loop's.
static tl_one get_part(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot *a = RA;
  const tl_path *path = tl_path_of(vm, ins);
  tl_one how;
  if (began(vm, base, ins, RB,
            tl_is_array(*RB) && TL_RANK(RB->tag) > 2 &&
                tl_index_is_item(RB->array, path->steps, a + 1),
            &how))
    return how;
  return done(tl_do_index(vm, RB, MODE_B, path, a + 1, a));
}

static tl_one get_field(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_slot *b = RB;
  tl_one how;
  tl_string *name = vm->frame->function->unit->names[EXTRA()];
  if (stays(b, MODE_B) && tl_is_record(*b)) {
    const tl_slot *field =
        tl_record_get_hinted(b->record, name, tl_ins_hint(ins));
    if (field != NULL) {
      tl_operand_put(RA, tl_borrow(*field));
      return TL_ONE_DONE;
    }
  }
  if (began(vm, base, ins, b, false, &how))
    return how;
  return done(tl_do_getf(vm, RA, b, MODE_B, name));
}

// The item of b[c] for an update; a number is read, other items may move out.
static tl_one take_item(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_slot *b = RB;
  tl_one how;
  if (tl_element_peek(RA, b, RC) || tl_peek_rare(RA, b, RC, MODE_C))
    return TL_ONE_DONE;
  if (began(vm, base, ins, b, has_rank(b, 1) && is_single(RC), &how))
    return how;
  return done(tl_do_take(vm, b, MODE_B, tl_path_of(vm, ins), RC, RA));
}

// The same of a path. What is a scalar is read.
static tl_one take_place(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_path *path = tl_path_of(vm, ins);
  const tl_slot *place = tl_place_scalar(RB, path, RA + 1);
  if (place == NULL)
    return done(tl_exec_take(vm, base, ins));
  tl_copy_slot(RA, place);
  return TL_ONE_DONE;
}

// --- Storing ----------------------------------------------------------------

// A scalar takes the place of another; all else may have to be copied.
static tl_one set_place(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_path *path = tl_path_of(vm, ins);
  const tl_slot *b = RB;
  tl_slot *place = MODE_A == TL_MODE_BORROW || tl_is_heap(*b) || vm->no_reuse
                       ? NULL
                       : tl_place_scalar(RA, path, RC);
  if (place == NULL)
    return done(tl_exec_setpath(vm, base, ins));
  tl_changed_in_place(vm, *RA);
  tl_copy_slot(place, b);
  return TL_ONE_DONE;
}

// --- Calls and operators ----------------------------------------------------

// A call of the library that calls nothing itself, and with it the instruction
// that takes its pair apart, which the unit takes for one with it.
static tl_one call(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_slot *a = RA, result = tl_none();
  tl_frame *frame = vm->frame;
  const tl_builtin *builtin = frame->function->constants[EXTRA()].pointer;
  tl_one how;
  if (tl_builtin_is_host(builtin))
    return TL_ONE_LEFT;
  if (builtin->at_once != NULL &&
      tl_call_at_once(vm, builtin, base, ins) != NULL)
    return TL_ONE_DONE;
  if (began(vm, base, ins, a + 1, !tl_builtin_begins(builtin), &how))
    return how;
  bool keeps = ins->c != 0;
  tl_call_mode mode =
      keeps ? tl_call_restores(frame->function, builtin, ins) : TL_CALL_BORROWS;
  if (!tl_do_builtin(vm, builtin, mode, ins->b, a + 1, &result)) {
    if (keeps)
      tl_copy_slot(RD, a + 1);
    return TL_ONE_FAILED;
  }
  tl_copy_slot(a, &result);
  if (builtin->result != TL_PAIR || !tl_jit_is_pair(builtin, ins))
    return TL_ONE_DONE;
  frame->pc = ins += 2;
  return done(tl_do_unpack(vm, RA, RB, MODE_B, EXTRA()));
}

// An operator on what is no number. Ragged rows are the loop's.
static tl_one operate(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_prototype *function = vm->frame->function;
  const tl_format format = (tl_format)tl_opcodes[ins->op].format;
  const tl_slot *b = RB, *c = b, *d = b;
  tl_slot literal;
  if (format == TL_FORMAT_ABI) {
    literal = tl_weak_int((int16_t)ins->c);
    c = &literal;
  } else if (format == TL_FORMAT_ABK) {
    c = tl_slot_at(function->constants, ins->c);
  } else if (format != TL_FORMAT_ABX) {
    c = RC;
  }
  if (format == TL_FORMAT_ABCD)
    d = RD;
  if (ins->op == TL_BC_ADD && tl_is_string(*b) && tl_is_string(*c))
    return done(tl_do_concat(vm, RA, b, c, ins->modes));
  if (tl_is_nested(*b) || tl_is_nested(*c) || tl_is_nested(*d))
    return TL_ONE_LEFT;
  if (format != TL_FORMAT_ABCD && !function->has_contracts &&
      !tl_may_fuse(function, ins, tl_items_of(b) | tl_items_of(c))) {
    const tl_op op = tl_region_op(ins->op, EXTRA());
    if (format == TL_FORMAT_ABX ? tl_short_unary(vm, op, RA, b, MODE_B)
                                : tl_short_binary(vm, op, RA, b, c, ins->modes))
      return TL_ONE_DONE;
  }
  return went_to(vm, ins, tl_do_elementwise(vm, function, base, ins));
}

// Two operations that may be joined, which a unit takes for one; where they
// cannot be, one after the other. After the first one the frame stands at the
// second, where the unit then leaves should that fail or be the loop's.
static tl_one operate_two(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const tl_slot *b = RB, *c = RC;
  if (!vm->counting && ((b->tag | c->tag) & TL_CLASS_ARRAY) != 0 &&
      !vm->frame->function->has_contracts && !may_begin(vm, ins, b) &&
      !may_begin(vm, ins, c) &&
      tl_short_two(vm, tl_region_op(ins->op, 0), b, c, ins, base))
    return TL_ONE_DONE;
  tl_one how = operate(vm, base, ins);
  if (how != TL_ONE_DONE)
    return how;
  vm->frame->pc = ++ins;
  return operate(vm, base, ins);
}

// A jump on a comparison; polls are the caller's.
static tl_one compare(tl_vm *vm, tl_slot *base, const tl_ins *ins, tl_op op,
                      bool negate) {
  const tl_slot *c = RB;
  bool truth;
  if (tl_opcodes[ins->op].format == TL_FORMAT_AKJUMP)
    c = tl_slot_at(vm->frame->function->constants, ins->b);
  if (may_begin(vm, ins, RA) || may_begin(vm, ins, c))
    return TL_ONE_LEFT;
  if (!tl_do_compare(vm, op, RA, MODE_A, c, MODE_B, &truth))
    return TL_ONE_FAILED;
  return truth != negate ? TL_ONE_JUMPS : TL_ONE_DONE;
}

// --- All of them ------------------------------------------------------------

// Those whose work is one expression, do_NAME, which fails where it is false.
#define TRIED_OPCODES(OP)                                                \
  OP(NEXT, tl_do_next(vm, RA, RB, RB + 1, MODE_B, EXTRA()))              \
  OP(DETACH,                                                             \
     !tl_is_owned(*RB) || !tl_is_array(*RA) || tl_do_detach(vm, RA, RB)) \
  OP(LIST, tl_do_list(vm, ins->b, RA + 1, RA))                           \
  OP(PUSH, tl_do_push(vm, RA, RB, ins->modes))                           \
  OP(UNPACK, tl_do_unpack(vm, RA, RB, MODE_B, EXTRA()))                  \
  OP(SETEL, tl_exec_setel(vm, RA, RB, 1, RC, RC, ins->modes & 0x3fu))    \
  OP(SETEL2, tl_exec_setel(vm, RA, RB, 2, RC, RD, ins->modes))           \
  OP(REPLACE, tl_exec_replace(vm, RA, RB, RC, RD, ins->modes & 0x3fu))
// Those that cannot fail. RET is the half of a function's end that is left to
// C: its result becomes an owner, as a caller wants it that knows nothing of
// the function.
#define SURE_OPCODES(OP)                                             \
  TL_SETTLING_OPCODES(OP)                                            \
  OP(MOV, true, tl_copy_slot(RA, RB))                                \
  OP(MOVB, true, tl_operand_put(RA, tl_borrow(*RB)))                 \
  OP(DROP, tl_is_owned(*RA), tl_drop(vm, *RA); RA->tag &= ~TL_OWNED) \
  OP(RET, tl_is_heap(*RA), tl_do_own(vm, RA))

#define TRY(NAME, expression)                                            \
  static tl_one do_##NAME(tl_vm *vm, tl_slot *base, const tl_ins *ins) { \
    return done(expression);                                             \
  }
#define SURE(NAME, when, work)                                           \
  static tl_one do_##NAME(tl_vm *vm, tl_slot *base, const tl_ins *ins) { \
    (void)vm;                                                            \
    if (when) {                                                          \
      work;                                                              \
    }                                                                    \
    return TL_ONE_DONE;                                                  \
  }
#define CALLED(name, handler, words) TRY(name, tl_exec_##handler(vm, base, ins))
TRIED_OPCODES(TRY)
SURE_OPCODES(SURE)
TL_CALLED_OPCODES(CALLED)
#undef CALLED

// Comparisons and operators, which have no function of their own. It is not
// part of what asks for it, which then saves no registers on the way to others.
__attribute__((noinline)) static tl_one do_operator(tl_vm *vm, tl_slot *base,
                                                    const tl_ins *ins) {
  tl_op op;
  bool negate;
  if (tl_region_comparison(ins->op, &op, &negate))
    return compare(vm, base, ins, op, negate);
  if (tl_jit_is_joined(ins))
    return operate_two(vm, base, ins);
  return tl_region_op(ins->op, EXTRA()) != TL_OP_COUNT ? operate(vm, base, ins)
                                                       : TL_ONE_LEFT;
}

// Texts are joined without a look at what else the operator does.
static tl_one add(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  const bool are_texts = tl_is_string(*RB) && tl_is_string(*RC);
  return are_texts && (ins->modes & TL_WITH_NEXT) == 0
             ? done(tl_do_concat(vm, RA, RB, RC, ins->modes))
             : do_operator(vm, base, ins);
}

// A function for each, so that none saves more registers than it needs.
// Operators that are neither comparisons nor joined need no look at which.
static tl_one_fn *const ones[TL_OPCODE_COUNT] = {
    [TL_BC_ELEM1] = operate,
    [TL_BC_ELEM2] = operate,
    [TL_BC_ELEM3] = operate,
    [TL_BC_DIV] = operate,
    [TL_BC_DIVK] = operate,
    [TL_BC_MULK] = operate,
    [TL_BC_ADD] = add,
    [TL_BC_GETEL] = get_item,
    [TL_BC_GETEL2] = get_item2,
    [TL_BC_INDEX] = get_part,
    [TL_BC_GETF] = get_field,
    [TL_BC_TAKEEL] = take_item,
    [TL_BC_TAKE] = take_place,
    [TL_BC_SETPATH] = set_place,
    [TL_BC_CALLB] = call,
#define ROW(name, ...) [TL_BC_##name] = do_##name,
    TRIED_OPCODES(ROW) SURE_OPCODES(ROW) TL_CALLED_OPCODES(ROW)
#undef ROW
};

tl_one tl_do_one(tl_vm *vm, tl_slot *base, const tl_ins *ins) {
  tl_one_fn *one = ones[ins->op];
  return one != NULL ? one(vm, base, ins) : do_operator(vm, base, ins);
}
